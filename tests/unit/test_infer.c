/* test_infer.c - inference over every bytecode fixture, with arguments of many types: whatever comes
 * out, it does not crash, typed IR verifies, a failure has a diagnostic, and two runs give one text. */
#include "frontend/base/os.h"
#include "tests/tools/text_resolver.c" /* a unit is linked to the libraries only */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int failures, typed, refused;

static const char *const signatures[] = {
    "i64", "wint", "f32", "array(f64, 1, C)", "u8", "none", "tuple(i64, f64)", "c128", "bool"};

/* The text between --CODE-- and --EXPECT--. */
static Str code_section(Arena *arena, Str text) {
    const char *from = strstr(text.bytes, "--CODE--\n"), *to = strstr(text.bytes, "--EXPECT--");
    if (!from || !to) return STR("");
    from += strlen("--CODE--\n");
    return str_copy(arena, from, (size_t)(to - from));
}

static int count_args(Str code) {
    const char *args = strstr(code.bytes, "\nargs "), *kwonly = strstr(code.bytes, "\nkwonly ");
    return (args ? atoi(args + 6) : 0) + (kwonly ? atoi(kwonly + 8) : 0);
}

/* Types of the entry's arguments: the same for all, or rotated. */
static void put_args(StrBuf *out, int n, int variant) {
    int kinds = countof(signatures);
    for (int k = 0; k < n; k++)
        buf_printf(out, "%s%s", k ? ", " : "args ",
                   signatures[variant < kinds ? variant : (variant + k) % kinds]);
    buf_str(out, n ? "\n" : "");
}

static Str program_text(Arena *arena, Str code, int variant, const char *options) {
    StrBuf text;
    buf_init(&text, arena);
    put_args(&text, count_args(code), variant);
    buf_printf(&text, "%s", options);
    buf_str(&text, "global math = module math\nglobal np = module numpy\n"
                   "global COUNT = const 10\nfunction entry\n");
    buf_bytes(&text, code.bytes, (size_t)code.len);
    return buf_take(&text);
}

static void wrong(const char *path, int variant, const char *why, Str text) {
    printf("%s, variant %d: %s\n" STR_FMT "\n", path, variant, why, STR_ARG(text));
    failures++;
}

/* The typed module as text, or its first diagnostic. */
static Str infer_text(Arena *arena, const char *path, Str program, int variant) {
    DiagList diags;
    diag_init(&diags, arena);
    Module *module = ir_module_new(arena, &diags);
    TextProgram *p = text_program(module, program.bytes, &diags);
    StrBuf out;
    buf_init(&out, arena);
    bool ok = p && ti_run(module, &p->resolver, &p->request, NULL);
    if (ok) ir_print_module(&out, module);
    if (ok && !ir_verify_module(module, "test", &diags)) ok = false;
    for (int32_t i = 0; i < diags.items.len; i++) {
        diag_render(&out, &diags.items.items[i], NULL, NULL);
        if (diags.items.items[i].code == E0004) wrong(path, variant, "bad IR", buf_take(&out));
    }
    if (!ok && !diags.failed) wrong(path, variant, "failed without a diagnostic", program);
    typed += ok, refused += !ok;
    return buf_take(&out);
}

static void run_file(const char *path) {
    static const char *const options[] = {"", "option kernel\n", "option strong_numbers\n",
                                          "option kernel debug target=cuda\n"};
    Arena arena;
    char error[256];
    Str text;
    arena_init(&arena, NULL);
    if (!os_read_file(&arena, path, &text, error, sizeof error)) {
        wrong(path, 0, error, STR(""));
    } else {
        Str code = code_section(&arena, text);
        for (int variant = 0; variant < 2 * countof(signatures); variant++) {
            Str program = program_text(&arena, code, variant, options[variant % 4]);
            Str first = infer_text(&arena, path, program, variant);
            if (!str_equal(first, infer_text(&arena, path, program, variant)))
                wrong(path, variant, "two runs differ", first);
        }
    }
    arena_free(&arena);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_folder(const char *folder) {
    char *names[1024];
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strstr(e->d_name, ".golden") && n < countof(names)) names[n++] = strdup(e->d_name);
    if (dir) closedir(dir);
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        run_file(path);
        free(names[i]);
    }
    if (n == 0) wrong(folder, 0, "no fixtures", STR(""));
}

/* Time of one inference of a small function, front end included: printed, not tested. */
static void measure(void) {
    Arena arena;
    char error[256];
    Str text;
    arena_init(&arena, NULL);
    if (os_read_file(&arena, "tests/golden/infer/enumerate_zip.golden", &text, error,
                     sizeof error)) {
        Str code = code_section(&arena, text);
        enum { RUNS = 200 };
        int64_t best = INT64_MAX;
        for (int i = 0; i < RUNS; i++) {
            ArenaMark mark = arena_mark(&arena);
            DiagList diags;
            diag_init(&diags, &arena);
            Module *module = ir_module_new(&arena, &diags);
            TextProgram *p = text_program(module, code.bytes, &diags);
            int64_t start = os_now_ns();
            if (!p || !ti_run(module, &p->resolver, &p->request, NULL))
                wrong("enumerate_zip", 0, "does not compile", code);
            best = QN_MIN(best, os_now_ns() - start);
            arena_release(&arena, mark);
        }
        printf("bytecode to typed IR of a loop with enumerate and zip: %.1f us\n",
               (double)best / 1e3);
    }
    arena_free(&arena);
}

int main(void) {
    static const char *const versions[] = {"311", "312", "313", "314"};
    for (int i = 0; i < countof(versions); i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "tests/golden/bytecode/%s", versions[i]);
        run_folder(folder);
    }
    measure();
    printf("%d typed, %d refused, %d failures\n", typed, refused, failures);
    return failures != 0 || typed < 1000;
}
