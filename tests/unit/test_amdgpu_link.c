/* test_amdgpu_link.c - the linker for AMD GPUs: what it makes of good objects, and that damaged ones are refused. That
 * its files are those of ld.lld, byte by byte, is tested in tests/py/test_hip_compile.py. */
#include "codegen/target/amdgpu_link.h"
#include "tests/unit/cg_test.h"
#include <elf.h>

/* A table of constants, an address in it, shared memory, an exception: every kind of section and relocation. */
static const char kernel_text[] = "func @k(x: array(f32, 1, A), n: i64) -> none typed {\n"
                                  "b0:\n"
                                  "  %1: array(f32, 1, A) = param 0\n"
                                  "  %2: i64 = param 1\n"
                                  "  %3: none = const none\n"
                                  "  %4: array(f32, 1, C, readonly) = frozen \"t\" shape(4) bytes "
                                  "\"0000803f000000400000404000008040\"\n"
                                  "  %5: i64 = shape %1 axis 0\n"
                                  "  %6: i64 = check_index %2, %5 axis 0\n"
                                  "  %9: i64 = const 3\n"
                                  "  %10: i64 = and %6, %9\n"
                                  "  %7: f32 = load %4, %10\n"
                                  "  store %1, %6, %7\n"
                                  "  return %3\n"
                                  "}\n";

static Artifact *kernel(void) {
    CompileOptions options = {.entry = ENTRY_KERNEL,
                              .opt_level = 3,
                              .keep_text = true,
                              .arch = "gfx1100",
                              .infer = {.target = TARGET_AMDGPU, .kernel = true, .debug = true}};
    return cg_compile(kernel_text, &options);
}

static Str link(Arena *arena, const void *object, size_t size) {
    const char *why = NULL;
    Str linked = amdgpu_link(arena, object, size, &why);
    CHECK((linked.bytes == NULL) == (why != NULL)); /* a file, or a reason */
    return linked;
}

static void test_a_good_object(void) {
    Artifact *a = kernel();
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    CHECK(a && a->object.len > 0);
    if (a) {
        Str linked = link(&arena, a->object.bytes, (size_t)a->object.len);
        CHECK_INT(linked.len, a->ncode);
        CHECK(linked.bytes && memcmp(linked.bytes, a->code, (size_t)linked.len) == 0);
        Elf64_Ehdr head;
        memcpy(&head, linked.bytes, sizeof head);
        CHECK_INT(head.e_type, ET_DYN);
    }
    arena_free(&arena);
    artifact_release(a);
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* No damage makes it read or write outside (the sanitizers see that), and it always says why it refuses. */
static void test_damaged_objects(void) {
    Artifact *a = kernel();
    if (!a) return;
    uint32_t seed = 7;
    size_t size = (size_t)a->object.len;
    char *copy = malloc(size);
    int refused = 0;
    for (int round = 0; round < 20000; round++) {
        Arena arena;
        arena_init(&arena, &qn_default_allocator);
        memcpy(copy, a->object.bytes, size);
        size_t kept = round % 4 ? size : next_random(&seed) % size;
        /* heads, section table and symbols are hit more often than code */
        for (uint32_t k = next_random(&seed) % 4 + 1; k > 0 && kept; k--) {
            size_t at = next_random(&seed) % kept;
            if (next_random(&seed) % 2) at = next_random(&seed) % QN_MIN(kept, 64);
            if (next_random(&seed) % 2 && kept > 1024) at = kept - 1 - next_random(&seed) % 1024;
            copy[at] = (char)next_random(&seed);
        }
        refused += link(&arena, copy, kept).bytes == NULL;
        arena_free(&arena);
    }
    CHECK(refused > 5000);
    free(copy);
    artifact_release(a);
}

/* Whoever runs out of memory jumps to the arena's owner, wherever it happens. */
typedef struct Job {
    Arena *arena;
    const Artifact *artifact;
    Str linked;
} Job;

static void link_job(void *user) {
    Job *job = user;
    const char *why;
    job->linked = amdgpu_link(job->arena, job->artifact->object.bytes,
                              (size_t)job->artifact->object.len, &why);
}

static void test_out_of_memory(void) {
    Artifact *a = kernel();
    if (!a) return;
    for (long fail_at = 1; fail_at < 1000; fail_at++) {
        CheckAllocator failing = {.fail_at = fail_at};
        Allocator allocator = {check_resize, &failing};
        Arena arena;
        arena_init(&arena, &allocator);
        Job job = {&arena, a, {0}};
        bool done = arena_guard(&arena, link_job, &job);
        arena_free(&arena);
        CHECK_INT(failing.live, 0);
        if (done) break;
        CHECK(fail_at < 999);
    }
    artifact_release(a);
}

int main(void) {
    RUN(test_a_good_object);
    RUN(test_damaged_objects);
    RUN(test_out_of_memory);
    return check_report();
}
