/* list_code CHIP WAVE FILES: counts the instructions of code objects, and names those that the interpreter does not know. The
 * answer is 1 if there are such. */
#include "../interp/gcn_inst.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 24, WORD = 4 };

static bool list_segment(const char *arch, uint32_t wave, const uint8_t *bytes, uint64_t size) {
    bool known = true;
    char why[600];
    uint64_t count = 0;
    GcnCode *code = gcn_code_open(arch, wave, bytes, 0, size);
    for (uint64_t at = 0; code && at < size;) {
        const GcnInst *i = gcn_code_at(code, at, why, sizeof why);
        at += i ? i->size : WORD;
        count += i != NULL;
        if (i || !strncmp(why, "these bytes", 11)) continue;
        printf("%s\n", strrchr(why, ':') + 1);
        known = false;
    }
    fprintf(stderr, "%llu instructions\n", (unsigned long long)count);
    gcn_code_close(code);
    return known;
}

static bool list_file(const char *arch, uint32_t wave, const char *path, uint8_t *bytes) {
    FILE *file = fopen(path, "rb");
    bool known = true;
    size_t n = file ? fread(bytes, 1, MAX_FILE, file) : 0;
    if (file) fclose(file);
    if (n < sizeof(Elf64_Ehdr)) return false;
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)bytes;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(const void *)(bytes + h->e_phoff);
    for (int k = 0; k < h->e_phnum; k++)
        if (p[k].p_type == PT_LOAD && p[k].p_flags & PF_X)
            known &= list_segment(arch, wave, bytes + p[k].p_offset, p[k].p_filesz);
    return known;
}

int main(int argc, char **argv) {
    uint8_t *bytes = malloc(MAX_FILE);
    bool known = argc > 3 && bytes;
    for (int k = 3; bytes && k < argc; k++)
        known &= list_file(argv[1], (uint32_t)atoi(argv[2]), argv[k], bytes);
    free(bytes);
    return !known;
}
