/* test_kernel_ptx.c - every operation of kernels as PTX for every architecture we name: atomics on all types and
 * in all spaces, everything of warps. Where ptxas is installed it assembles each text; otherwise only the text
 * is looked at. */
#include "tests/unit/cg_test.h"

#include <unistd.h>

static int assembled;

static const char *ptxas(void) {
    static const char usual[] = "/usr/local/cuda/bin/ptxas";
    const char *named = getenv("PTXAS");
    return named ? named : access(usual, X_OK) == 0 ? usual : NULL;
}

static bool assembles(const Artifact *artifact, const char *arch) {
    char path[64] = "/tmp/quern_ptx_XXXXXX", command[256];
    if (!ptxas()) return true;
    int fd = mkstemp(path);
    if (fd < 0) return false;
    ssize_t written = write(fd, artifact->code, (size_t)artifact->ncode - 1);
    close(fd);
    snprintf(command, sizeof command, "%s -arch=%s -o /dev/null %s", ptxas(), arch, path);
    bool ok = written == artifact->ncode - 1 && system(command) == 0;
    if (!ok) puts(artifact->code);
    unlink(path);
    assembled++;
    return ok;
}

static const char *const arches[] = {"sm_75", "sm_80", "sm_89", "sm_90"};

/* Compiles for one architecture; the caller releases. NULL after a failed check. */
static Artifact *compile(const char *text, const char *arch, int32_t max_threads) {
    CompileOptions options = {
        .opt_level = 3, .entry = ENTRY_KERNEL, .arch = arch, .max_threads = max_threads};
    options.infer.target = TARGET_NVPTX;
    options.infer.kernel = true;
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    CHECK(artifact && assembles(artifact, arch));
    return artifact;
}

static void compile_everywhere(const char *text) {
    for (int i = 0; i < countof(arches); i++)
        artifact_release(compile(text, arches[i], 0));
}

static bool has(const Artifact *artifact, const char *needle) {
    return artifact && strstr(artifact->code, needle) != NULL;
}

/* -- atomics ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int operands;
    const char *classes;
} atomics[] = {
#define ATOMIC(name, operands, classes) {#name, operands, classes},
#include "frontend/ir/ir_atomics.def"
#undef ATOMIC
};

/* All operations that the type admits, on global and shared memory. */
static void write_atomics(StrBuf *out, const char *type, char cls) {
    buf_printf(out,
               "func @k(x: array(%s, 1, C), old: array(%s, 1, C), v: %s, w: %s) -> none typed {\n"
               "b0:\n  %%1: array(%s, 1, C) = param 0\n  %%2: array(%s, 1, C) = param 1\n"
               "  %%3: %s = param 2\n  %%4: %s = param 3\n  %%5: array(%s, 1, C, shared) = "
               "static_array tuple(8)\n"
               "  %%6: i64 = lib \"cuda.threadIdx.x\" ()\n",
               type, type, type, type, type, type, type, type, type);
    int n = 10;
    for (int i = 0; i < countof(atomics); i++) {
        if (!strchr(atomics[i].classes, cls)) continue;
        for (int space = 0; space < 2; space++, n++)
            buf_printf(out, "  %%%d: %s = atomic.%s %s, %%6, %%3%s\n  store %%2, %%6, %%%d\n", n,
                       type, atomics[i].name, space ? "%5" : "%1",
                       atomics[i].operands == 2 ? ", %4" : "", n);
    }
    buf_printf(out, "  %%9: none = const none\n  return %%9\n}\n");
}

static void test_GPU_05_atomics_on_all_types(void) {
    static const struct {
        const char *type;
        char cls;
    } types[] = {{"i8", 'i'},  {"u8", 'u'},  {"i16", 'i'}, {"u16", 'u'}, {"i32", 'i'},
                 {"u32", 'u'}, {"i64", 'i'}, {"u64", 'u'}, {"f32", 'f'}, {"f64", 'f'}};
    for (int i = 0; i < countof(types); i++) {
        Arena arena;
        StrBuf text;
        arena_init(&arena, &qn_default_allocator);
        buf_init(&text, &arena);
        write_atomics(&text, types[i].type, types[i].cls);
        compile_everywhere(buf_take(&text).bytes);
        arena_free(&arena);
    }
}

/* What hardware has is one instruction, in the array's own space. */
static void test_atomics_are_native(void) {
    Artifact *artifact = compile(
        "func @k(x: array(f32, 1, C), n: array(u32, 1, C), m: array(i64, 1, C)) -> none typed {\n"
        "b0:\n"
        "  %1: array(f32, 1, C) = param 0\n"
        "  %2: array(u32, 1, C) = param 1\n"
        "  %3: array(i64, 1, C) = param 2\n"
        "  %4: i64 = lib \"cuda.threadIdx.x\" ()\n"
        "  %5: f32 = load %1, %4\n"
        "  %6: f32 = atomic.add %1, %4, %5\n"
        "  %7: u32 = load %2, %4\n"
        "  %8: u32 = atomic.inc %2, %4, %7\n"
        "  %9: i64 = load %3, %4\n"
        "  %10: i64 = atomic.max %3, %4, %9\n"
        "  %11: array(i64, 1, C, shared) = static_array tuple(8)\n"
        "  %12: i64 = atomic.cas %11, %4, %9, %10\n"
        "  store %3, %4, %12\n"
        "  %13: none = const none\n"
        "  return %13\n"
        "}\n",
        "sm_80", 0);
    CHECK(has(artifact, "atom.global.add.f32"));
    CHECK(has(artifact, "atom.global.inc.u32"));
    CHECK(has(artifact, "atom.global.max.s64"));
    CHECK(has(artifact, "atom.shared.cas.b64"));
    CHECK(!has(artifact, "bra"));
    artifact_release(artifact);
}

/* -- warps and barriers ----------------------------------------------------------------------- */

static void test_warp_operations_everywhere(void) {
    static const char *const types[] = {"i8", "u16", "i32", "u64", "f32", "f64", "c64"};
    for (int i = 0; i < countof(types); i++) {
        char text[4096];
        const char *t = types[i];
        snprintf(
            text, sizeof text,
            "func @k(x: array(%s, 1, C), y: array(u32, 1, C), by: i32, mask: u32) -> none typed {\n"
            "b0:\n"
            "  %%1: array(%s, 1, C) = param 0\n"
            "  %%2: array(u32, 1, C) = param 1\n"
            "  %%3: i32 = param 2\n"
            "  %%4: u32 = param 3\n"
            "  %%5: i64 = lib \"cuda.laneid\" ()\n"
            "  %%6: %s = load %%1, %%5\n"
            "  %%7: %s = lib \"cuda.shfl_sync\" (%%4, %%6, %%3)\n"
            "  %%8: %s = lib \"cuda.shfl_up_sync\" (%%4, %%7, %%3)\n"
            "  %%9: %s = lib \"cuda.shfl_down_sync\" (%%4, %%8, %%3)\n"
            "  %%10: %s = lib \"cuda.shfl_xor_sync\" (%%4, %%9, %%3)\n"
            "  store %%1, %%5, %%10\n"
            "  %%11: u32 = lib \"cuda.match_any_sync\" (%%4, %%10)\n"
            "  %%12: tuple(u32, bool) = lib \"cuda.match_all_sync\" (%%4, %%10)\n"
            "  %%13: u32 = item %%12 at 0\n"
            "  %%14: bool = item %%12 at 1\n"
            "  %%15: bool = lib \"cuda.all_sync\" (%%4, %%14)\n"
            "  %%16: bool = lib \"cuda.any_sync\" (%%4, %%15)\n"
            "  %%17: bool = lib \"cuda.eq_sync\" (%%4, %%16)\n"
            "  %%18: u32 = lib \"cuda.ballot_sync\" (%%4, %%17)\n"
            "  %%19: u32 = lib \"cuda.activemask\" ()\n"
            "  %%20: u32 = lib \"cuda.lanemask_lt\" ()\n"
            "  %%21: none = lib \"cuda.syncwarp\" (%%4)\n"
            "  %%22: u32 = xor %%11, %%13\n"
            "  %%23: u32 = xor %%18, %%19\n"
            "  %%24: u32 = xor %%20, %%22\n"
            "  %%25: u32 = xor %%23, %%24\n"
            "  store %%2, %%5, %%25\n"
            "  %%26: i64 = lib \"cuda.syncthreads_and\" (%%14)\n"
            "  %%27: i64 = lib \"cuda.syncthreads_or\" (%%15)\n"
            "  %%28: i64 = lib \"cuda.syncthreads_count\" (%%16)\n"
            "  %%29: i64 = add %%26, %%27\n"
            "  %%30: i64 = add %%28, %%29\n"
            "  %%31: u32 = cast %%30\n"
            "  %%32: none = lib \"cuda.syncwarp\" ()\n"
            "  %%33: none = lib \"cuda.threadfence\" ()\n"
            "  %%34: none = lib \"cuda.threadfence_block\" ()\n"
            "  %%35: none = lib \"cuda.threadfence_system\" ()\n"
            "  %%36: none = lib \"cuda.nanosleep\" (%%4)\n"
            "  store %%2, %%5, %%31\n"
            "  return %%36\n"
            "}\n",
            t, t, t, t, t, t, t);
        compile_everywhere(text);
    }
}

/* Thread numbers are known to be small: tests of them fold, and quotients are shifts of 32 bits. */
static void test_ranges_of_thread_numbers(void) {
    static const char text[] = "func @k(x: array(i64, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %3: i64 = const 128\n"
                               "  %4: bool = lt %2, %3\n"
                               "  %5: none = const none\n"
                               "  branch %4, b1, b2\n"
                               "b1: preds(b0)\n"
                               "  %6: i64 = const 32\n"
                               "  %7: i64 = floordiv %2, %6\n"
                               "  store %1, %7, %2\n"
                               "  jump b2\n"
                               "b2: preds(b0, b1)\n"
                               "  return %5\n"
                               "}\n";
    Artifact *bounded = compile(text, "sm_80", 128), *any = compile(text, "sm_80", 0);
    CHECK(!has(bounded, "setp"));
    CHECK(has(any, "setp"));
    CHECK(!has(any, "shr.s64"));
    artifact_release(bounded);
    artifact_release(any);
}

/* llvm#96521: a call of a function with a barrier must not be moved or copied: the function says so. */
static void test_GPU_01_functions_with_barriers_are_convergent(void) {
    static const char text[] = "func @k(x: array(i64, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %3: i64 = call @g (%2)\n"
                               "  store %1, %2, %3\n"
                               "  %4: none = const none\n"
                               "  return %4\n"
                               "}\n"
                               "func @g(v: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: none = lib \"cuda.syncthreads\" ()\n"
                               "  return %1\n"
                               "}\n";
    CompileOptions options = {
        .opt_level = 0, .entry = ENTRY_KERNEL, .arch = "sm_80", .keep_text = true};
    options.infer.target = TARGET_NVPTX;
    options.infer.kernel = true;
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    if (!artifact) return;
    const char *made = strstr(artifact->text_llvm.bytes, "@f.g("),
               *line = made ? strchr(made, '#') : NULL;
    char group[32] = "";
    CHECK(line != NULL);
    if (line) snprintf(group, sizeof group, "attributes #%d = {", atoi(line + 1));
    const char *attributes = strstr(artifact->text_llvm.bytes, group);
    const char *found = attributes ? strstr(attributes, "convergent") : NULL;
    CHECK(found && found < strchr(attributes, '}'));
    artifact_release(artifact);
}

int main(void) {
    if (!ptxas()) puts("ptxas is not installed: texts are not assembled");
    RUN(test_GPU_05_atomics_on_all_types);
    RUN(test_atomics_are_native);
    RUN(test_warp_operations_everywhere);
    RUN(test_ranges_of_thread_numbers);
    RUN(test_GPU_01_functions_with_barriers_are_convergent);
    printf("ptxas assembled %d kernels\n", assembled);
    return check_report();
}
