/* test_codegen_ptx.c - PTX text for NVIDIA GPUs: parameters, spaces, contraction, barriers. Where ptxas is
 * installed it assembles every text made here. */
#include "tests/unit/cg_test.h"
#include <unistd.h>

static bool has(const Artifact *artifact, const char *needle) {
    return artifact && strstr(artifact->code, needle) != NULL;
}

static int assembled;

/* true when there is no ptxas */
static bool ptxas_accepts(const Artifact *artifact, const char *arch) {
    const char *ptxas = access("/usr/local/cuda/bin/ptxas", X_OK) == 0 ? "/usr/local/cuda/bin/ptxas"
                                                                       : getenv("PTXAS");
    char path[64] = "/tmp/quern_ptx_XXXXXX", command[256];
    if (!ptxas) return true;
    int fd = mkstemp(path);
    if (fd < 0) return false;
    ssize_t written = write(fd, artifact->code, (size_t)artifact->ncode - 1);
    close(fd);
    snprintf(command, sizeof command, "%s -arch=%s -o /dev/null %s", ptxas, arch, path);
    bool ok = written == artifact->ncode - 1 && system(command) == 0;
    if (!ok) puts(artifact->code);
    unlink(path);
    assembled++;
    return ok;
}

static Artifact *kernel(const char *text, CompileOptions options) {
    options.entry = ENTRY_KERNEL;
    options.infer.target = TARGET_NVPTX;
    options.infer.kernel = true;
    options.opt_level = 3;
    options.arch = options.arch ? options.arch : "sm_80";
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    CHECK(artifact && ptxas_accepts(artifact, options.arch));
    return artifact;
}

/* y[i] = a * x[i] + y[i] for a grid-stride loop */
static const char saxpy_text[] = "func @saxpy(a: f32, x: array(f32, 1, C), y: array(f32, 1, C)) -> "
                                 "none typed user \"saxpy<1>\" {\n"
                                 "b0:\n"
                                 "  %1: f32 = param 0\n"
                                 "  %2: array(f32, 1, C) = param 1\n"
                                 "  %3: array(f32, 1, C) = param 2\n"
                                 "  %4: i64 = lib \"cuda.threadIdx.x\" ()\n"
                                 "  %5: i64 = lib \"cuda.blockIdx.x\" ()\n"
                                 "  %6: i64 = lib \"cuda.blockDim.x\" ()\n"
                                 "  %7: i64 = lib \"cuda.gridDim.x\" ()\n"
                                 "  %8: i64 = mul %5, %6\n"
                                 "  %9: i64 = add %8, %4\n"
                                 "  %10: i64 = mul %7, %6\n"
                                 "  %11: i64 = shape %2 axis 0\n"
                                 "  %18: none = const none\n"
                                 "  jump b1\n"
                                 "b1:\n"
                                 "  %12: i64 = phi [%9, b0], [%17, b2]\n"
                                 "  %13: bool = lt %12, %11\n"
                                 "  branch %13, b2, b3\n"
                                 "b2:\n"
                                 "  %14: f32 = load %2, %12\n"
                                 "  %15: f32 = mul %1, %14\n"
                                 "  %16: f32 = load %3, %12\n"
                                 "  %19: f32 = add %15, %16\n"
                                 "  store %3, %12, %19\n"
                                 "  %17: i64 = add nowrap %12, %10\n"
                                 "  poll\n"
                                 "  jump b1\n"
                                 "b3:\n"
                                 "  return %18\n"
                                 "}\n";

static void test_saxpy(void) {
    Artifact *artifact = kernel(saxpy_text, (CompileOptions){.max_threads = 256});
    CHECK(has(artifact, ".entry quern_saxpy_1_"));
    CHECK(has(artifact, ".maxntid 256"));
    CHECK(has(artifact, "ld.global.nc.f32")); /* x is only read */
    CHECK(has(artifact, "st.global.f32"));
    CHECK(has(artifact, "fma.rn.f32"));
    CHECK(!has(artifact, "cvta"));
    CHECK_INT(artifact->usage[1], ARG_READ);
    CHECK_INT(artifact->usage[2], ARG_READ | ARG_WRITTEN);
    bool fast = artifact->fast_variant;
    CHECK(fast);
    for (int32_t i = 0; i < artifact->nkernel_params; i++) {
        const KernelParam *p = &artifact->kernel_params[i];
        CHECK(p->offset % p->size == 0 && (int32_t)(p->offset + p->size) <= artifact->param_bytes);
        CHECK(p->pointer == (p->arg > 0 && p->source == 0));
    }
    /* the length of y is never used, so it is not passed: a, x, len(x), y */
    CHECK_INT(artifact->nkernel_params, 4);
    artifact_release(artifact);
}

static void test_FLT_16_contraction_can_be_turned_off(void) {
    Artifact *artifact = kernel(saxpy_text, (CompileOptions){.no_fma = true});
    CHECK(!has(artifact, "fma.rn.f32"));
    CHECK(has(artifact, "mul.rn.f32") || has(artifact, "mul.f32"));
    artifact_release(artifact);
}

static void test_general_variant(void) {
    Artifact *artifact = kernel(saxpy_text, (CompileOptions){.general_variant = true});
    CHECK(!has(artifact, "ld.global.nc"));
    CHECK(!artifact->fast_variant);
    artifact_release(artifact);
}

static void test_shared_memory_and_barriers(void) {
    Artifact *artifact = kernel("func @k(x: array(f64, 2, A), flag: bool) -> none typed {\n"
                                "b0:\n"
                                "  %1: array(f64, 2, A) = param 0\n"
                                "  %2: bool = param 1\n"
                                "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
                                "  %4: array(f64, 1, C, shared) = static_array tuple(64)\n"
                                "  %5: array(f64, 1, C, shared) = dynamic_shared\n"
                                "  %6: array(f64, 1, C, local) = static_array tuple(4)\n"
                                "  %7: f64 = load %1, %3, %3\n"
                                "  store %4, %3, %7\n"
                                "  %8: none = lib \"cuda.syncthreads\" ()\n"
                                "  %9: i64 = lib \"cuda.syncthreads_count\" (%2)\n"
                                "  %10: f64 = load %4, %9\n"
                                "  store %5, %3, %10\n"
                                "  %11: i64 = const 3\n"
                                "  %12: i64 = and %3, %11\n"
                                "  store %6, %12, %10\n"
                                "  %13: i64 = and %9, %11\n"
                                "  %14: f64 = load %6, %13\n"
                                "  %15: f64 = atomic.add %1, %3, %9, %14\n"
                                "  %16: none = const none\n"
                                "  %17: i64 = shape %5 axis 0\n"
                                "  %18: f64 = cast %17\n"
                                "  store %5, %9, %18\n"
                                "  return %16\n"
                                "}\n",
                                (CompileOptions){0});
    CHECK(has(artifact, ".shared"));
    CHECK(has(artifact, ".extern .shared"));
    CHECK(has(artifact, "bar.sync"));
    CHECK(has(artifact, "st.shared.f64"));
    CHECK(has(artifact, "%dynamic_smem_size"));
    CHECK(has(artifact, "atom.global.add.f64"));
    CHECK_INT(artifact->shared_bytes, 512);
    CHECK(artifact->uses_barriers && artifact->uses_dynamic_shared);
    artifact_release(artifact);
}

static void test_warp_operations(void) {
    Artifact *artifact = kernel("func @k(x: array(f64, 1, C)) -> none typed {\n"
                                "b0:\n"
                                "  %1: array(f64, 1, C) = param 0\n"
                                "  %2: i64 = lib \"cuda.laneid\" ()\n"
                                "  %3: u32 = const 4294967295u\n"
                                "  %4: i32 = const 1\n"
                                "  %5: f64 = load %1, %2\n"
                                "  %6: f64 = lib \"cuda.shfl_down_sync\" (%3, %5, %4)\n"
                                "  %7: f64 = lib \"cuda.shfl_up_sync\" (%3, %6, %4)\n"
                                "  %8: bool = lt %5, %7\n"
                                "  %9: u32 = lib \"cuda.ballot_sync\" (%3, %8)\n"
                                "  %10: bool = lib \"cuda.any_sync\" (%3, %8)\n"
                                "  %11: u32 = lib \"cuda.match_any_sync\" (%3, %7)\n"
                                "  %12: u32 = lib \"cuda.activemask\" ()\n"
                                "  %13: u32 = xor %9, %11\n"
                                "  %14: u32 = xor %12, %13\n"
                                "  %15: u32 = select %10, %14, %9\n"
                                "  %16: i64 = lib \"cuda.popc\" (%15)\n"
                                "  %17: f64 = cast %16\n"
                                "  store %1, %2, %17\n"
                                "  %18: none = lib \"cuda.syncwarp\" (%3)\n"
                                "  %19: none = lib \"cuda.threadfence\" ()\n"
                                "  return %19\n"
                                "}\n",
                                (CompileOptions){0});
    CHECK(has(artifact, "shfl.sync.down.b32"));
    CHECK(has(artifact, "vote.sync.ballot.b32"));
    CHECK(has(artifact, "match.any.sync.b64"));
    CHECK(has(artifact, "bar.warp.sync"));
    artifact_release(artifact);
}

/* A kernel that can raise has a mailbox; without debug and boundscheck there is none. */
static void test_mailbox(void) {
    static const char text[] = "func @k(x: array(f32, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(f32, 1, C) = param 0\n"
                               "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %3: i64 = shape %1 axis 0\n"
                               "  %4: i64 = check_index %2, %3 axis 0\n"
                               "  %5: f32 = load %1, %4\n"
                               "  %6: f32 = call @g (%5)\n"
                               "  store %1, %4, %6\n"
                               "  %7: none = lib \"cuda.syncthreads\" ()\n"
                               "  return %7\n"
                               "}\n"
                               "func @g(x: f32) -> f32 typed {\n"
                               "b0:\n"
                               "  %1: f32 = param 0\n"
                               "  %2: f32 = const 0.0\n"
                               "  %3: bool = eq %1, %2\n"
                               "  guard.zero_division %3\n"
                               "  %4: f32 = div %1, %1\n"
                               "  return %4\n"
                               "}\n";
    Artifact *artifact = kernel(text, (CompileOptions){.infer = {.debug = true}});
    CHECK(has(artifact, ".visible .global .align 8 .b8 quern_mailbox[104]"));
    CHECK(has(artifact, "atom.global.exch.b32"));
    CHECK(!has(artifact, "trap"));
    CHECK_INT(artifact->nsites, 2);
    artifact_release(artifact);
    artifact = kernel(text, (CompileOptions){.infer = {.no_boundscheck = true}});
    CHECK(!has(artifact, "quern_mailbox"));
    CHECK(!has(artifact, "exch"));
    artifact_release(artifact);
}

/* Functions of libdevice: found where the toolkit is, named in the error where it is not. */
static void test_libdevice(void) {
    static const char text[] = "func @k(x: array(f64, 1, C), y: array(f32, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(f64, 1, C) = param 0\n"
                               "  %2: array(f32, 1, C) = param 1\n"
                               "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %4: f64 = load %1, %3\n"
                               "  %5: f64 = lib \"math.sin\" (%4)\n"
                               "  %6: f64 = mod %5, %4\n"
                               "  %7: f64 = pow %6, %5\n"
                               "  store %1, %3, %7\n"
                               "  %8: f32 = load %2, %3\n"
                               "  %9: f32 = lib \"math.exp\" (%8)\n"
                               "  store %2, %3, %9\n"
                               "  %10: none = const none\n"
                               "  return %10\n"
                               "}\n";
    if (access("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc", R_OK) == 0) {
        Artifact *artifact = kernel(text, (CompileOptions){0});
        CHECK(!has(artifact, ".extern .func"));
        CHECK(!has(artifact, "__nv_lgamma")); /* only what is used */
        CHECK(has(artifact, "ex2.approx"));
        artifact_release(artifact);
    }
    setenv("QUERN_LIBDEVICE", "/nowhere/libdevice.bc", 1);
    setenv("CUDA_HOME", "/nowhere", 1);
    CompileOptions options = {.arch = "sm_80",
                              .entry = ENTRY_KERNEL,
                              .opt_level = 3,
                              .infer = {.target = TARGET_NVPTX, .kernel = true}};
    Compilation *c = cg_begin(&options, NULL);
    Module *module = ir_parse_module(cg_arena(c), text, cg_diags(c));
    CHECK(module && cg_front_module(c, module));
    Artifact *artifact = cg_back(c);
    if (!artifact) { /* a machine without CUDA */
        CHECK_INT(cg_diags(c)->items.items[0].code, E0502);
        CHECK(strstr(cg_diags(c)->items.items[0].text.bytes, "/nowhere/libdevice.bc") != NULL);
    }
    artifact_release(artifact);
    cg_end(c);
    unsetenv("QUERN_LIBDEVICE");
    unsetenv("CUDA_HOME");
}

/* Newer GPUs take sm_90 code; the PTX version is LLVM's own choice for the architecture. */
static void test_architectures(void) {
    CompileOptions options = {.arch = "sm_100",
                              .entry = ENTRY_KERNEL,
                              .opt_level = 3,
                              .infer = {.target = TARGET_NVPTX, .kernel = true}};
    Artifact *artifact = cg_compile(saxpy_text, &options);
    CHECK(has(artifact, ".target sm_90\n"));
    artifact_release(artifact);
    options.arch = "sm_75";
    artifact = cg_compile(saxpy_text, &options);
    CHECK(has(artifact, ".target sm_75"));
    CHECK(has(artifact, ".version 6.3"));
    artifact_release(artifact);
}

/* Memory cannot be allocated in a kernel: a diagnostic, not a crash. */
static void test_alloc_is_refused(void) {
    CompileOptions options = {.arch = "sm_80",
                              .entry = ENTRY_KERNEL,
                              .opt_level = 3,
                              .infer = {.target = TARGET_NVPTX, .kernel = true}};
    Compilation *c = cg_begin(&options, NULL);
    Module *module = ir_parse_module(cg_arena(c),
                                     "func @k(n: i64) -> none typed {\nb0:\n  %1: i64 = param 0\n"
                                     "  %2: array(f32, 1, C) = alloc %1\n  %3: none = const none\n"
                                     "  return %3\n}\n",
                                     cg_diags(c));
    CHECK(module && cg_front_module(c, module));
    CHECK(cg_back(c) == NULL);
    CHECK(cg_diags(c)->items.len == 1 && cg_diags(c)->items.items[0].code == E0501);
    cg_end(c);
}

int main(void) {
    RUN(test_saxpy);
    RUN(test_FLT_16_contraction_can_be_turned_off);
    RUN(test_general_variant);
    RUN(test_shared_memory_and_barriers);
    RUN(test_warp_operations);
    RUN(test_mailbox);
    RUN(test_libdevice);
    RUN(test_architectures);
    RUN(test_alloc_is_refused);
    printf("ptxas assembled %d kernels\n", assembled);
    return check_report();
}
