/* test_elf_load.c - the loader of host code: good objects run, names that are far away are reached, damaged objects are
 * refused or loaded without touching anything outside. */
#include "codegen/elf_load.h"
#include "codegen/support.h"
#include "tests/unit/cg_test.h"
#include <elf.h>
#include <math.h>
#include <sys/mman.h>

/* A function of libm, a table of constants, a loop that raises. */
static const char text[] = "func @f(x: f64, n: i64) -> f64 typed {\n"
                           "b0:\n"
                           "  %1: f64 = param 0\n"
                           "  %2: i64 = param 1\n"
                           "  %3: array(f64, 1, C, readonly) = frozen \"t\" shape(4) bytes "
                           "\"000000000000f03f00000000000000400000000000000840000000000000104"
                           "0\"\n"
                           "  %4: i64 = shape %3 axis 0\n"
                           "  %5: i64 = check_index %2, %4 axis 0\n"
                           "  %6: f64 = load %3, %5\n"
                           "  %7: f64 = lib \"math.atan2\" (%1, %6)\n"
                           "  return %7\n"
                           "}\n";

static Artifact *compiled(void) {
    CompileOptions options = {.opt_level = 3, .keep_object = true};
    Artifact *a = cg_compile(text, &options);
    CHECK(a && a->object.len > 0);
    return a;
}

typedef struct Names {
    void *far; /* instead of atan2; NULL: the process's */
    bool none;
    int asked;
} Names;

static void *find(const char *name, void *user) {
    Names *names = user;
    names->asked++;
    if (names->none) return NULL;
    if (names->far && strcmp(name, "atan2") == 0) return names->far;
    const SupportFunction *f = support_find(name);
    void *address = NULL;
    if (f) memcpy(&address, &f->address, sizeof address);
    return address;
}

static bool load(const void *object, size_t size, const char *symbol, Names *names, ElfImage *image,
                 void **entry, char error[256]) {
    ElfRequest request = {object, size, find, names, 1, &symbol, entry, 0, NULL};
    error[0] = 0;
    bool ok = elf_load(&request, image, error, 256);
    CHECK(ok ? image->memory != NULL : error[0] != 0 && !image->memory);
    return ok;
}

static double call(void *entry, double x, int64_t n, int status) {
    CallContext ctx;
    double result = -1;
    Artifact shell = {.entry = entry};
    CHECK_INT(cg_call(&shell, &ctx, (void *[]){&x, &n}, &result), status);
    return result;
}

static void test_a_good_object(void) {
    Artifact *a = compiled();
    if (!a) return;
    char error[256], symbol[64];
    snprintf(symbol, sizeof symbol, STR_FMT, STR_ARG(a->entry_name));
    size_t size = (size_t)a->object.len;
    char *shifted = malloc(size + 8);
    for (size_t shift = 0; shift < 2; shift++) { /* at any alignment */
        Names names = {0};
        ElfImage image;
        void *entry;
        memcpy(shifted + shift, a->object.bytes, size);
        if (!load(shifted + shift, size, symbol, &names, &image, &entry, error)) {
            printf("%s\n", error);
            CHECK(false);
            continue;
        }
        CHECK(names.asked > 0);
        CHECK(call(entry, 0.5, 2, CALL_OK) == atan2(0.5, 3.0));
        call(entry, 0.5, 4, CALL_EXCEPTION);
        elf_unload(&image);
        elf_unload(&image); /* nothing is left */
    }
    free(shifted);
    artifact_release(a);
}

/* mov $0x40f0000000000000, %rax; movq %rax, %xmm0; ret: the double 65536 */
static const unsigned char answer[] = {0x48, 0xb8, 0,    0,    0,    0,    0,    0,
                                       0xf0, 0x40, 0x66, 0x48, 0x0f, 0x6e, 0xc0, 0xc3};

static void test_a_name_that_is_far_away(void) {
    Artifact *a = compiled();
    void *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (!a || low == MAP_FAILED) return;
    memcpy(low, answer, sizeof answer);
    CHECK_INT(mprotect(low, 4096, PROT_READ | PROT_EXEC), 0);
    char error[256], symbol[64];
    snprintf(symbol, sizeof symbol, STR_FMT, STR_ARG(a->entry_name));
    Names names = {.far = low};
    ElfImage image;
    void *entry;
    bool ok = load(a->object.bytes, (size_t)a->object.len, symbol, &names, &image, &entry, error);
    CHECK(ok);
    if (ok) CHECK(call(entry, 0.5, 2, CALL_OK) == 65536.0);
    elf_unload(&image);
    munmap(low, 4096);
    artifact_release(a);
}

static void test_what_is_missing_is_named(void) {
    Artifact *a = compiled();
    if (!a) return;
    char error[256], symbol[64];
    snprintf(symbol, sizeof symbol, STR_FMT, STR_ARG(a->entry_name));
    Names names = {.none = true}, all = {0};
    ElfImage image;
    void *entry;
    size_t size = (size_t)a->object.len;
    CHECK(!load(a->object.bytes, size, symbol, &names, &image, &entry, error));
    CHECK(strstr(error, "which is not there"));
    CHECK(!load(a->object.bytes, size, "quern_nobody", &all, &image, &entry, error));
    CHECK(strstr(error, "quern_nobody"));
    artifact_release(a);
}

/* Of damage: `test_elf_load SEED ROUNDS` does other damage, and more of it (make fuzz-cache). */
static uint32_t first_seed = 7;
static int rounds = 20000;

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* No damage makes it read or write outside (the sanitizers see that), and it says why it refuses. What it loads is not run. */
static void test_damaged_objects(void) {
    Artifact *a = compiled();
    if (!a) return;
    char error[256], symbol[64];
    snprintf(symbol, sizeof symbol, STR_FMT, STR_ARG(a->entry_name));
    uint32_t seed = first_seed;
    size_t size = (size_t)a->object.len;
    char *copy = malloc(size);
    int refused = 0;
    for (int round = 0; round < rounds; round++) {
        memcpy(copy, a->object.bytes, size);
        size_t kept = round % 4 ? size : next_random(&seed) % size;
        for (uint32_t k = next_random(&seed) % 4 + 1; k > 0 && kept; k--) {
            size_t at = next_random(&seed) % kept;
            if (next_random(&seed) % 2) at = next_random(&seed) % QN_MIN(kept, 64);
            if (next_random(&seed) % 2 && kept > 1024) at = kept - 1 - next_random(&seed) % 1024;
            copy[at] = (char)next_random(&seed);
        }
        Names names = {0};
        ElfImage image;
        void *entry;
        refused += !load(copy, kept, symbol, &names, &image, &entry, error);
        elf_unload(&image);
    }
    CHECK(refused > rounds / 4);
    CHECK(refused < rounds);
    free(copy);
    artifact_release(a);
}

int main(int argc, char **argv) {
    if (argc > 1) first_seed = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2) rounds = (int)strtol(argv[2], NULL, 10);
    RUN(test_a_good_object);
    RUN(test_a_name_that_is_far_away);
    RUN(test_what_is_missing_is_named);
    RUN(test_damaged_objects);
    return check_report();
}
