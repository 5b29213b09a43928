/* test_codegen.c - the way from typed IR to a call, end to end: entries, calls, errors, polling, recursion,
 * dropping code, and what happens when LLVM gives up. */
#include "codegen/opt/pass.h"
#include "codegen/support.h"
#include "codegen/llvm_start.h"
#include "codegen/target.h"
#include "frontend/base/os.h"
#include "tests/unit/cg_test.h"

#include <time.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_add(void) {
    for (int level = 0; level <= 3; level++)
        check_add(level);
}

/* -- control flow ----------------------------------------------------------------------------- */

/* sum of i*i for i < n, with a poll at the latch */
static const char loop_text[] = "func @f(n: i64) -> i64 typed {\n"
                                "b0:\n"
                                "  %1: i64 = param 0\n"
                                "  %2: i64 = const 0\n"
                                "  %3: i64 = const 1\n"
                                "  jump b1\n"
                                "b1:\n"
                                "  %4: i64 = phi [%2, b0], [%8, b2]\n"
                                "  %5: i64 = phi [%2, b0], [%9, b2]\n"
                                "  %6: bool = lt %4, %1\n"
                                "  branch %6, b2, b3\n"
                                "b2:\n"
                                "  %7: i64 = mul %4, %4\n"
                                "  %8: i64 = add nowrap %4, %3\n"
                                "  %9: i64 = add %5, %7\n"
                                "  poll\n"
                                "  jump b1\n"
                                "b3:\n"
                                "  return %5\n"
                                "}\n";

static int64_t polls;
static int32_t count_polls(CallContext *ctx) {
    polls++;
    return ctx->user != NULL; /* a user asks to stop */
}

static void test_loop_and_poll(void) {
    for (int level = 0; level <= 3; level += 3) {
        CompileOptions options = {.opt_level = level};
        Artifact *artifact = cg_compile(loop_text, &options);
        CHECK(artifact != NULL);
        int64_t n = 1000000, r = 0, want = 0;
        for (int64_t i = 0; i < n; i++)
            want += i * i;
        CallContext ctx = {.poll = count_polls};
        HostEntry entry;
        memcpy(&entry, &artifact->entry, sizeof entry);
        polls = 0;
        CHECK_INT(entry(&ctx, (void *[]){&n}, &r), CALL_OK);
        CHECK_INT(r, want);
        CHECK(polls >= 10 && polls <= 20); /* about every 2^16 iterations */
        ctx.user = &ctx;
        polls = 0;
        CHECK_INT(entry(&ctx, (void *[]){&n}, &r), CALL_PENDING);
        CHECK_INT(polls, 1);
        ctx.poll = NULL;
        CHECK_INT(entry(&ctx, (void *[]){&n}, &r), CALL_OK);
        artifact_release(artifact);
    }
}

/* A branch with equal targets: phi operands tell its edges apart. */
static void test_parallel_edges(void) {
    Artifact *artifact = cg_host("func @f(c: bool, a: i64, b: i64) -> i64 typed {\n"
                                 "b0:\n"
                                 "  %1: bool = param 0\n"
                                 "  %2: i64 = param 1\n"
                                 "  %3: i64 = param 2\n"
                                 "  branch %1, b1, b1\n"
                                 "b1: preds(b0, b0)\n"
                                 "  %4: i64 = phi [%2, b0], [%3, b0]\n"
                                 "  return %4\n"
                                 "}\n",
                                 0);
    CHECK(artifact != NULL);
    for (uint8_t c = 0; artifact && c < 2; c++) {
        int64_t a = 7, b = 9, r;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&c, &a, &b}, &r), CALL_OK);
        CHECK_INT(r, c ? 7 : 9);
    }
    artifact_release(artifact);
}

/* -- values at the boundary ------------------------------------------------------------------- */

static void test_tuples_travel_as_structs(void) {
    typedef struct In {
        uint8_t flag;
        float x;
        struct {
            int16_t n;
            double re, im;
        } inner;
    } In;
    typedef struct Out {
        double re, im;
        int16_t n;
        uint8_t flag;
        float x;
    } Out;
    Artifact *artifact = cg_host(
        "func @f(t: tuple(bool, f32, tuple(i16, c128))) -> tuple(c128, i16, bool, f32) typed {\n"
        "b0:\n"
        "  %1: tuple(bool, f32, tuple(i16, c128)) = param 0\n"
        "  %2: tuple(i16, c128) = item %1 at 2\n"
        "  %3: c128 = item %2 at 1\n"
        "  %4: i16 = item %2 at 0\n"
        "  %5: bool = item %1 at 0\n"
        "  %6: f32 = item %1 at 1\n"
        "  %7: tuple(c128, i16, bool, f32) = tuple %3, %4, %5, %6\n"
        "  return %7\n"
        "}\n",
        3);
    CHECK(artifact != NULL);
    In in = {1, 2.5f, {-3, 4.0, 5.0}};
    Out out = {0};
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&in}, &out), CALL_OK);
    CHECK(out.re == 4.0 && out.im == 5.0 && out.n == -3 && out.flag == 1 && out.x == 2.5f);
    CHECK_INT(artifact->result.size, (int)sizeof(Out));
    CHECK_INT(artifact->params[0].items[2].offset, (int)offsetof(In, inner));
    CHECK_INT(artifact->params[0].items[2].items[1].offset, 8);
    artifact_release(artifact);
}

/* -- failures --------------------------------------------------------------------------------- */

static const char divide_text[] =
    "func @f(a: i64, b: i64) -> i64 typed file \"k.py\" {\n"
    "b0:\n"
    "  %1: i64 = param 0\n"
    "  %2: i64 = param 1\n"
    "  %3: i64 = call @g (%1, %2)\n"
    "  return %3\n"
    "}\n"
    "func @g(a: i64, b: i64) -> i64 typed file \"k.py\" user \"helper\" {\n"
    "b0:\n"
    "  %1: i64 = param 0\n"
    "  %2: i64 = param 1\n"
    "  %3: i64 = const 0\n"
    "  %4: bool = eq %2, %3\n"
    "  guard.zero_division %4 @7:11-7:16\n"
    "  %5: i64 = floordiv %1, %2\n"
    "  return %5\n"
    "}\n";

static void test_INT_05_exception_in_a_callee(void) {
    for (int level = 0; level <= 3; level++) {
        Artifact *artifact = cg_host(divide_text, level);
        CHECK(artifact != NULL);
        int64_t a = -7, b = 2, r = 0;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
        CHECK_INT(r, -4);
        b = 0;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_EXCEPTION);
        CHECK_INT(ctx.exception, -1 - GUARD_zero_division);
        CHECK(ctx.site >= 0 && ctx.site < artifact->nsites);
        const CodeSite *site = &artifact->sites[ctx.site];
        CHECK_INT(site->line, 7);
        CHECK_INT(site->column, 11);
        CHECK_STR(site->file, "k.py");
        CHECK_STR(site->function, "helper");
        artifact_release(artifact);
    }
}

/* try: check_index ... except: return -1 (the error successor clears what was recorded) */
static void test_error_successor(void) {
    static const char text[] = "func @f(i: i64, n: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = const -1\n"
                               "  %4: i64 = const -2\n"
                               "  %5: bool = eq %2, %3\n"
                               "  guard.zero_modulo %5 !b3\n"
                               "  jump b1\n"
                               "b1:\n"
                               "  %6: i64 = check_index %1, %2 axis 0 !b3\n"
                               "  jump b2\n"
                               "b2:\n"
                               "  return %6\n"
                               "b3:\n"
                               "  %7: i64 = phi [%4, b0], [%3, b1]\n"
                               "  return %7\n"
                               "}\n";
    for (int level = 0; level <= 3; level += 3) {
        Artifact *artifact = cg_host(text, level);
        CHECK(artifact != NULL);
        static const int64_t rows[][3] = {{3, 5, 3}, {5, 5, -1}, {-1, 5, -1}, {0, -1, -2}};
        for (int k = 0; k < countof(rows); k++) {
            int64_t i = rows[k][0], n = rows[k][1], r;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&i, &n}, &r), CALL_OK);
            CHECK_INT(r, rows[k][2]);
        }
        artifact_release(artifact);
    }
}

/* The index of the message is the one before the wraparound; the clean-up path keeps the status. */
static void test_index_error_and_propagate(void) {
    static const char text[] = "func @f(i: i64, n: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = wrap_index %1, %2\n"
                               "  %4: i64 = check_index %3, %2 axis 1 !b2\n"
                               "  jump b1\n"
                               "b1:\n"
                               "  return %4\n"
                               "b2:\n"
                               "  propagate\n"
                               "}\n";
    Artifact *artifact = cg_host(text, 3);
    CHECK(artifact != NULL);
    int64_t i = -2, n = 5, r;
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&i, &n}, &r), CALL_OK);
    CHECK_INT(r, 3);
    i = -7;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&i, &n}, &r), CALL_EXCEPTION);
    CHECK_INT(ctx.exception, -1 - GUARD_index_error);
    CHECK_INT(ctx.args[0], -7);
    CHECK_INT(ctx.args[1], 1);
    CHECK_INT(ctx.args[2], 5);
    artifact_release(artifact);
}

static void test_raise_with_arguments(void) {
    Artifact *artifact = cg_host("func @f(a: i8, x: f32, z: c128) -> none typed {\n"
                                 "b0:\n"
                                 "  %1: i8 = param 0\n"
                                 "  %2: f32 = param 1\n"
                                 "  %3: c128 = param 2\n"
                                 "  raise \"ValueError\" \"bad\" (%1, %2, %3)\n"
                                 "}\n",
                                 3);
    CHECK(artifact != NULL);
    int8_t a = -5;
    float x = 1.5f;
    double z[2] = {2.0, -3.0};
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &x, z}, NULL), CALL_EXCEPTION);
    CHECK(ctx.exception >= 0 && ctx.exception < artifact->nraises);
    const RaiseInfo *info = &artifact->raises[ctx.exception];
    CHECK_STR(info->class_name, "ValueError");
    CHECK_STR(info->message, "bad");
    CHECK_INT(info->nargs, 3);
    CHECK_INT(info->kinds[0], TY_i8);
    CHECK_INT(info->kinds[2], TY_c128);
    uint32_t image;
    memcpy(&image, &x, 4);
    CHECK_INT(ctx.args[0], -5);
    CHECK_INT(ctx.args[1], image);
    CHECK(memcmp(&ctx.args[2], z, 16) == 0);
    artifact_release(artifact);
}

/* -- recursion -------------------------------------------------------------------------------- */

static const char fib_text[] = "func @fib(n: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = const 2\n"
                               "  %3: i64 = const 1\n"
                               "  %4: bool = lt %1, %2\n"
                               "  branch %4, b1, b2\n"
                               "b1:\n"
                               "  return %1\n"
                               "b2:\n"
                               "  %5: i64 = sub %1, %3\n"
                               "  %6: i64 = sub %1, %2\n"
                               "  %7: i64 = call @fib (%5)\n"
                               "  %8: i64 = call @fib (%6)\n"
                               "  %9: i64 = add %7, %8\n"
                               "  return %9\n"
                               "}\n";
static const char deep_text[] = "func @deep(n: i64) -> i64 typed {\n"
                                "b0:\n"
                                "  %1: i64 = param 0\n"
                                "  %2: i64 = const 1\n"
                                "  %3: i64 = add %1, %2\n"
                                "  %4: i64 = call @deep (%3)\n"
                                "  %5: i64 = mul %4, %3\n"
                                "  return %5\n"
                                "}\n";

static void test_recursion(void) {
    char here;
    for (int level = 0; level <= 3; level += 3) {
        Artifact *fib = cg_host(fib_text, level), *deep = cg_host(deep_text, level);
        CHECK(fib && deep);
        int64_t n = 20, r;
        CallContext ctx;
        CHECK_INT(cg_call(fib, &ctx, (void *[]){&n}, &r), CALL_OK);
        CHECK_INT(r, 6765);
        HostEntry entry;
        memcpy(&entry, &deep->entry, sizeof entry);
        memset(&ctx, 0, sizeof ctx);
        ctx.stack_limit = (char *)((uintptr_t)&here - 100000);
        CHECK_INT(entry(&ctx, (void *[]){&n}, &r), CALL_EXCEPTION);
        CHECK_INT(ctx.exception, -1 - GUARD_recursion);
        artifact_release(fib);
        artifact_release(deep);
    }
}

/* -- the process ------------------------------------------------------------------------------ */

static void test_JIT_05_fatal_error_of_LLVM(void) {
    cg_test_fatal_error();
    CompileOptions options = {.opt_level = 1};
    Compilation *c = cg_begin(&options, NULL);
    Module *module = ir_parse_module(cg_arena(c), add_text, cg_diags(c));
    CHECK(cg_front_module(c, module));
    CHECK(cg_back(c) == NULL);
    CHECK_INT(cg_diags(c)->items.len, 1);
    CHECK_INT(cg_diags(c)->items.items[0].code, E0501);
    CHECK(cg_diags(c)->items.items[0].text.len > 30);
    cg_end(c);
    check_add(3); /* a new worker serves the next compilation */
}

static void test_FRK_compile_in_the_child(void) {
    check_add(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        check_add(2);
        _exit(check_failures ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static long resident_kib(void) {
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void compile_and_drop(int n) {
    for (int i = 0; i < n; i++) {
        Artifact *artifact = cg_host(add_text, 1);
        CHECK(artifact != NULL);
        artifact_release(artifact);
    }
}

static void test_MEM_06_dropped_code_is_freed(void) {
    compile_and_drop(300); /* pools fill */
    long before = resident_kib();
    compile_and_drop(700);
    long grown = resident_kib() - before;
    if (grown >= 1500) printf("700 compilations left %ld KiB behind\n", grown);
#ifndef __SANITIZE_ADDRESS__ /* it keeps freed memory for a while */
    CHECK(grown < 1500);
#endif
}

static void test_no_page_is_writable_and_executable(void) {
    Artifact *artifact = cg_host(loop_text, 3);
    CHECK(artifact != NULL);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool bad = false;
    while (maps && fgets(line, sizeof line, maps))
        bad |= strstr(line, " rwx") != NULL;
    CHECK(!bad);
    fclose(maps);
    artifact_release(artifact);
}

static const char unknown_text[] = "func @f() -> i64 typed {\nb0:\n"
                                   "  %1: i64 = lib \"no.such\" ()\n  return %1\n}\n";

/* A module asks for what the library does not have: a diagnostic, no crash. */
static void test_an_error_is_a_diagnostic(void) {
    CompileOptions options = {.opt_level = 3};
    Compilation *c = cg_begin(&options, NULL);
    Module *module = ir_parse_module(cg_arena(c), unknown_text, cg_diags(c));
    CHECK(module && cg_front_module(c, module));
    CHECK(cg_back(c) == NULL);
    CHECK(cg_diags(c)->items.len == 1 && cg_diags(c)->items.items[0].code == E0501);
    cg_end(c);
}

/* The table of passes: nobody needs what is broken, and every property is there for a reason. */
static void test_passes_stand_in_order(void) {
    unsigned needed = 0, all = 0;
    for (int level = 0; level <= 3; level++) {
        unsigned broken = 0;
        for (const PassInfo *pass = opt_passes; pass->name; pass++) {
            if (level < pass->level) continue;
            CHECK((pass->needs & broken) == 0);
            broken |= pass->breaks, all |= pass->breaks, needed |= pass->needs;
        }
    }
    CHECK_INT(all, IR_COUNTED | IR_WIDE | IR_UNOWNED);
    CHECK_INT(needed, all);
}

/* -- memory that runs out -------------------------------------------------------------------------- */

typedef struct Attempt {
    Compilation *c;
    const char *text;
    size_t used; /* of the arena's first block, so that it ends elsewhere */
    bool ready;
} Attempt;

static void read_text(void *user) {
    Attempt *a = user;
    arena_alloc(cg_arena(a->c), a->used);
    Module *module = ir_parse_module(cg_arena(a->c), a->text, cg_diags(a->c));
    a->ready = module && cg_front_module(a->c, module);
}

typedef struct Failing {
    const char *text;
    long k;      /* the allocation that fails */
    size_t used; /* see Attempt */
    bool keeps;  /* and all after it */
    bool valid;  /* the text */
    TargetKind target;
    const char *arch; /* NULL: host code */
} Failing;

/* One compilation: an artifact, or a diagnostic, and nothing is left behind. Did it come to the k-th allocation? */
static bool attempt(const Failing *f) {
    CheckAllocator state = {.fail_at = f->k, .keeps_failing = f->keeps};
    Allocator allocator = {check_resize, &state};
    CompileOptions options = {.opt_level = 2, .keep_text = true, .allocator = &allocator};
    options.infer.target = f->target;
    options.arch = f->arch;
    if (f->arch) options.entry = ENTRY_KERNEL, options.infer.kernel = true;
    Attempt a = {.c = cg_begin(&options, NULL), .text = f->text, .used = f->used};
    if (a.c && arena_guard(cg_arena(a.c), read_text, &a) && a.ready) {
        Artifact *artifact = cg_back(a.c);
        const DiagList *diags = cg_diags(a.c);
        bool failed = state.calls >= f->k;
        CHECK((artifact != NULL) == (f->valid && !failed));
        if (!artifact) CHECK(diags->items.len > 0 && diags->failed);
        if (!artifact && failed) CHECK(diags->items.items[0].code == E0003);
        artifact_release(artifact);
    }
    cg_end(a.c);
    CHECK_INT(state.live, 0);
    CHECK(!state.mismatch);
    return state.calls >= f->k;
}

/* R6: no jump over LLVM's frames, no lock stays held. */
static void test_R6_memory_runs_out_anywhere(void) {
    static const char *const texts[] = {loop_text, unknown_text};
    for (int t = 0; t < countof(texts); t++)
        for (size_t used = 0; used < 8000; used += 450) {
            Failing f = {.text = texts[t], .used = used, .valid = t == 0};
            for (f.k = 1; f.keeps = f.k & 1, attempt(&f); f.k++)
                continue;
        }
    check_add(3);
}

/* Atomics (text of LLVM's on AMD), mathematics of the device library, shared memory, a barrier. */
#define GPU_TEXT(function)                                                                         \
    "func @f(a: array(f64, 1, C), n: i64) -> none typed {\n"                                       \
    "b0:\n"                                                                                        \
    "  %1: array(f64, 1, C) = param 0\n"                                                           \
    "  %2: i64 = param 1\n"                                                                        \
    "  %3: f64 = load %1, %2\n"                                                                    \
    "  %4: f64 = lib \"" function "\" (%3)\n"                                                      \
    "  %5: f64 = atomic.add %1, %2, %4\n"                                                          \
    "  %6: none = lib \"cuda.syncthreads\" ()\n"                                                   \
    "  store %1, %2, %5\n"                                                                         \
    "  %7: none = const none\n"                                                                    \
    "  return %7\n"                                                                                \
    "}\n"

/* Each allocation of a compilation for a GPU: none jumps over LLVM's frames or with the linker's lock held. */
static void test_R6_memory_runs_out_for_gpus(void) {
    static const Failing kinds[] = {
        {.text = GPU_TEXT("math.sqrt"), .target = TARGET_NVPTX, .arch = "sm_80"},
        {.text = GPU_TEXT("math.sin"), .target = TARGET_AMDGPU, .arch = "gfx1100"}};
    for (int t = 0; t < countof(kinds); t++) {
        long most = 0;
        for (size_t used = 0; used < 8000; used += 900) {
            Failing f = kinds[t];
            f.used = used, f.valid = true;
            for (f.k = 1; f.keeps = f.k & 1, attempt(&f); f.k++)
                continue;
            most = QN_MAX(most, f.k - 1);
        }
        printf("%s: up to %ld allocations\n", kinds[t].arch, most);
        CHECK(most > 2);
    }
    check_add(3);
}

/* Of all threads of the process: what other programs do hardly shows. */
static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What is known of targets without LLVM. */
static void test_facts_of_targets(void) {
    static const struct {
        const char *arch;
        bool wide;
    } chips[] = {{"gfx90a", true},   {"gfx90a:sramecc+:xnack-", true},
                 {"gfx1030", false}, {"gfx90", false},
                 {"gfx90ab", false}, {NULL, false}};
    for (int i = 0; i < countof(chips); i++)
        CHECK(tg_facts(TARGET_AMDGPU)->wide_masks(chips[i].arch) == chips[i].wide);
    CHECK(!tg_facts(TARGET_CPU)->wide_masks("gfx90a"));
    CHECK(strcmp(tg_facts(TARGET_NVPTX)->device, "cuda") == 0);
    CHECK(!tg_facts(TARGET_COUNT));
    char path[64];
    CHECK(!cg_llvm_library(path, sizeof path)); /* a program has LLVM inside */
}

static void test_compile_times(void) {
    static const char *const texts[] = {add_text, loop_text};
    static const double budget_ms[] = {20, 60}; /* ten times the goal */
    for (int t = 0; t < 2; t++) {
        int64_t best = INT64_MAX;
        for (int i = 0; i < 10; i++) {
            int64_t start = cpu_ns();
            Artifact *artifact = cg_host(texts[t], 3);
            best = QN_MIN(best, cpu_ns() - start);
            artifact_release(artifact);
        }
        printf("%s: %.2f ms\n", t ? "one loop" : "tiny function", (double)best / 1e6);
        CHECK((double)best / 1e6 < budget_ms[t]);
    }
}

int main(void) {
    RUN(test_add);
    RUN(test_loop_and_poll);
    RUN(test_parallel_edges);
    RUN(test_tuples_travel_as_structs);
    RUN(test_INT_05_exception_in_a_callee);
    RUN(test_error_successor);
    RUN(test_index_error_and_propagate);
    RUN(test_raise_with_arguments);
    RUN(test_recursion);
    RUN(test_an_error_is_a_diagnostic);
    RUN(test_JIT_05_fatal_error_of_LLVM);
    RUN(test_FRK_compile_in_the_child);
    RUN(test_MEM_06_dropped_code_is_freed);
    RUN(test_no_page_is_writable_and_executable);
    RUN(test_passes_stand_in_order);
    RUN(test_R6_memory_runs_out_anywhere);
    RUN(test_R6_memory_runs_out_for_gpus);
    RUN(test_facts_of_targets);
    RUN(test_compile_times);
    return check_report();
}
