/* reference.c - writes docs/reference.md from the tables of the library and of the environment, or with --check says whether it
 * is up to date.
 *
 *     reference docs/reference.md           reference --check docs/reference.md */
#include "typeinfer/typeinfer.h"

#include <stdio.h>

int main(int argc, char **argv) {
    bool check = argc > 2 && !strcmp(argv[1], "--check");
    if (argc < 2) {
        fprintf(stderr, "usage: reference [--check] FILE\n");
        return 2;
    }
    const char *path = argv[argc - 1];
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    StrBuf out;
    buf_init(&out, &arena);
    lib_print_reference(&out);
    Str text = buf_take(&out);
    int status = 0;
    if (check) {
        FILE *file = fopen(path, "rb");
        char *old = arena_zalloc(&arena, (size_t)text.len + 2);
        size_t n = file ? fread(old, 1, (size_t)text.len + 1, file) : 0;
        if (file) fclose(file);
        if (n != (size_t)text.len || memcmp(old, text.bytes, n)) {
            fprintf(stderr, "%s is out of date: run build/test/reference %s\n", path, path);
            status = 1;
        }
    } else {
        FILE *file = fopen(path, "wb");
        status = !file || fwrite(text.bytes, 1, (size_t)text.len, file) != (size_t)text.len;
        if (file) status |= fclose(file) != 0;
    }
    arena_free(&arena);
    return status;
}
