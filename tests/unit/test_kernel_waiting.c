/* test_kernel_waiting.c - kernels on the cpu device whose work-items wait for each other: barriers, operations
 * of warps, and what happens when a block cannot go on. Every launch counts the memory of frames. */
#include "codegen/support.h"
#include "codegen/workitem.h"
#include "tests/unit/cg_test.h"

#include <math.h>

/* -- launching -------------------------------------------------------------------------------- */

static int64_t live_frames,
    frames_left; /* frames_left: how many more are granted; -1: any number */

static void *take_frame(KernelGrid *grid, int64_t size) {
    (void)grid;
    if (frames_left == 0) return NULL;
    frames_left -= frames_left > 0;
    void *p = aligned_alloc(64, (size_t)(size + 63) / 64 * 64);
    memset(p, 0xCB, (size_t)size);
    live_frames++;
    return p;
}

static void give_frame(KernelGrid *grid, void *frame) {
    (void)grid;
    free(frame);
    live_frames--;
}

typedef struct Shape {
    uint32_t grid[3], block[3], dynamic;
} Shape;

static Artifact *kernel(const char *text, int level) {
    CompileOptions options = {.opt_level = level, .entry = ENTRY_KERNEL};
    options.infer.debug = true;
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    return artifact;
}

static int launch(const Artifact *artifact, CallContext *ctx, Shape shape, void **args) {
    KernelEntry entry;
    KernelGrid grid = {.frame_alloc = take_frame, .frame_free = give_frame};
    memcpy(&entry, &artifact->entry, sizeof entry);
    memcpy(grid.grid, shape.grid, sizeof grid.grid);
    memcpy(grid.block, shape.block, sizeof grid.block);
    grid.dynamic_shared = shape.dynamic;
    grid.last = (uint64_t)shape.grid[0] * shape.grid[1] * shape.grid[2];
    grid.shared =
        aligned_alloc(128, ((size_t)artifact->shared_bytes + shape.dynamic + 128) / 128 * 128);
    memset(grid.shared, 0xCB, (size_t)artifact->shared_bytes + shape.dynamic);
    frames_left = -1;
    int status = entry(ctx, args, &grid);
    free(grid.shared);
    CHECK_INT(live_frames, 0);
    return status;
}

static Shape line(uint32_t blocks, uint32_t threads) {
    return (Shape){{blocks, 1, 1}, {threads, 1, 1}, 0};
}

typedef struct Array1 {
    void *data;
    Owner *owner;
    int64_t shape, stride;
} Array1;

#define ARRAY1(items)                                                                              \
    { items, NULL, countof(items), sizeof(items)[0] }

/* A kernel over `out`, of `type`, and `in`, i64: `body` gives %9, which goes to out[thread]. */
static Artifact *lane_kernel(const char *type, const char *body, int level) {
    char text[4096];
    snprintf(text, sizeof text,
             "func @f(out: array(%s, 1, C), a: array(i64, 1, C)) -> none typed {\n"
             "b0:\n"
             "  %%1: array(%s, 1, C) = param 0\n"
             "  %%2: array(i64, 1, C) = param 1\n"
             "  %%3: i64 = lib \"cuda.threadIdx.x\" ()\n"
             "  %%4: i64 = load %%2, %%3\n"
             "  %%5: i32 = cast %%4\n"
             "  %%6: u32 = const 4294967295\n"
             "  %%7: i64 = const 0\n"
             "  %%8: bool = ne %%4, %%7\n"
             "%s"
             "  store %%1, %%3, %%9\n"
             "  %%99: none = const none\n"
             "  return %%99\n"
             "}\n",
             type, type, body);
    return kernel(text, level);
}

/* Runs such a kernel with one block of up to 64 threads; the results go to `out`. */
static int run_lanes(const char *type, const char *body, int level, uint32_t threads, int64_t *in,
                     void *out) {
    Artifact *artifact = lane_kernel(type, body, level);
    if (!artifact) return -1;
    Array1 a = {in, NULL, 64, 8}, r = {out, NULL, 64, 8};
    CallContext ctx = {0};
    int status = launch(artifact, &ctx, line(1, threads), (void *[]){&r, &a});
    CHECK(artifact->uses_barriers);
    artifact_release(artifact);
    return status;
}

static const int levels[] = {0, 1, 3};
#define EACH_LEVEL(level)                                                                          \
    for (int k_ = 0, level = levels[0]; k_ < countof(levels);                                      \
         k_++, level = levels[k_ % countof(levels)])

/* -- barriers --------------------------------------------------------------------------------- */

static const char matmul_text[] =
    "func @matmul(A: array(f32, 2, C), B: array(f32, 2, C), C: array(f32, 2, C)) -> none typed {\n"
    "b0:\n"
    "  %1: array(f32, 2, C) = param 0\n"
    "  %2: array(f32, 2, C) = param 1\n"
    "  %3: array(f32, 2, C) = param 2\n"
    "  %82: i64 = const 65536\n"
    "  %4: array(f32, 2, C, shared) = static_array tuple(4, 4)\n"
    "  %5: array(f32, 2, C, shared) = static_array tuple(4, 4)\n"
    "  %20: f32 = const 0f00000000\n"
    "  %24: i64 = const 4\n"
    "  %26: i64 = const 0\n"
    "  %27: i64 = const 1\n"
    "  %38: none = const none\n"
    "  %6: i64 = lib \"cuda.blockIdx.x\" ()\n"
    "  %7: i64 = lib \"cuda.blockDim.x\" ()\n"
    "  %8: i64 = lib \"cuda.threadIdx.x\" ()\n"
    "  %9: i64 = mul nowrap %6, %7\n"
    "  %10: i64 = add nowrap %9, %8\n"
    "  %11: i64 = lib \"cuda.blockIdx.y\" ()\n"
    "  %12: i64 = lib \"cuda.blockDim.y\" ()\n"
    "  %13: i64 = lib \"cuda.threadIdx.y\" ()\n"
    "  %14: i64 = mul nowrap %11, %12\n"
    "  %15: i64 = add nowrap %14, %13\n"
    "  %17: i64 = lib \"cuda.threadIdx.x\" ()\n"
    "  %18: i64 = lib \"cuda.threadIdx.y\" ()\n"
    "  %22: i64 = shape %1 axis 1\n"
    "  %25: i64 = floordiv %22, %24\n"
    "  %29: bool = lt %26, %25\n"
    "  %30: i64 = select %29, %25, %26\n"
    "  jump b7\n"
    "b1: preds(b7, b5)\n"
    "  %32: f32 = phi [%20, b7], [%62, b5]\n"
    "  %33: i64 = phi [%26, b7], [%40, b5]\n"
    "  %34: bool = lt %33, %30\n"
    "  branch %34, b3, b2\n"
    "b2: preds(b1)\n"
    "  store %3, %15, %10, %32\n"
    "  return %38\n"
    "b3: preds(b1)\n"
    "  %40: i64 = add nowrap %33, %27\n"
    "  %41: i64 = mul %33, %24\n"
    "  %42: i64 = add %17, %41\n"
    "  %46: f32 = load %1, %15, %42\n"
    "  store %4, %18, %17, %46\n"
    "  %49: i64 = mul %33, %24\n"
    "  %50: i64 = add %18, %49\n"
    "  %54: f32 = load %2, %50, %10\n"
    "  store %5, %18, %17, %54\n"
    "  %57: none = lib \"cuda.syncthreads\" ()\n"
    "  %59: bool = lt %26, %24\n"
    "  %60: i64 = select %59, %24, %26\n"
    "  jump b8\n"
    "b4: preds(b9, b6)\n"
    "  %62: f32 = phi [%80, b9], [%75, b6]\n"
    "  %63: i64 = phi [%81, b9], [%69, b6]\n"
    "  %64: bool = lt %63, %86\n"
    "  branch %64, b6, b10\n"
    "b5: preds(b10)\n"
    "  %66: none = lib \"cuda.syncthreads\" ()\n"
    "  poll\n"
    "  jump b1\n"
    "b6: preds(b4)\n"
    "  %69: i64 = add nowrap %63, %27\n"
    "  %71: f32 = load %4, %18, %63\n"
    "  %73: f32 = load %5, %63, %17\n"
    "  %74: f32 = mul %71, %73\n"
    "  %75: f32 = add %62, %74\n"
    "  jump b4\n"
    "b7: preds(b0)\n"
    "  jump b1\n"
    "b8: preds(b3)\n"
    "  jump b9\n"
    "b9: preds(b8, b10)\n"
    "  %80: f32 = phi [%32, b8], [%62, b10]\n"
    "  %81: i64 = phi [%26, b8], [%63, b10]\n"
    "  %83: i64 = sub %60, %81\n"
    "  %84: bool = lt %82, %83\n"
    "  %85: i64 = select %84, %82, %83\n"
    "  %86: i64 = add %81, %85\n"
    "  jump b4\n"
    "b10: preds(b4)\n"
    "  %88: i64 = sub %63, %81\n"
    "  poll %88\n"
    "  %90: bool = lt %63, %60\n"
    "  branch %90, b9, b5\n"
    "}\n";

static const char sum_text[] =
    "func @reduce_(a: array(i64, 1, C), out: array(i64, 1, C)) -> none typed {\n"
    "b0:\n"
    "  %1: array(i64, 1, C) = param 0\n"
    "  %2: array(i64, 1, C) = param 1\n"
    "  %3: array(i64, 1, C, shared) = dynamic_shared\n"
    "  %14: i64 = const 2\n"
    "  %16: i64 = const 0\n"
    "  %36: none = const none\n"
    "  %4: i64 = lib \"cuda.threadIdx.x\" ()\n"
    "  %5: i64 = lib \"cuda.blockIdx.x\" ()\n"
    "  %6: i64 = lib \"cuda.blockDim.x\" ()\n"
    "  %7: i64 = lib \"cuda.threadIdx.x\" ()\n"
    "  %8: i64 = mul nowrap %5, %6\n"
    "  %9: i64 = add nowrap %8, %7\n"
    "  %10: i64 = load %1, %9\n"
    "  store %3, %4, %10\n"
    "  %12: none = lib \"cuda.syncthreads\" ()\n"
    "  %13: i64 = lib \"cuda.blockDim.x\" ()\n"
    "  %15: i64 = floordiv %13, %14\n"
    "  %17: bool = lt %16, %15\n"
    "  branch %17, b1, b4\n"
    "b1: preds(b0, b7)\n"
    "  %19: i64 = phi [%15, b0], [%31, b7]\n"
    "  %20: bool = lt %4, %19\n"
    "  branch %20, b2, b3\n"
    "b2: preds(b1)\n"
    "  %22: i64 = load %3, %4\n"
    "  %23: i64 = add %4, %19\n"
    "  %24: i64 = shape %3 axis 0\n"
    "  %25: i64 = wrap_index %23, %24\n"
    "  %26: i64 = load %3, %25\n"
    "  %27: i64 = add %22, %26\n"
    "  store %3, %4, %27\n"
    "  jump b3\n"
    "b3: preds(b1, b2)\n"
    "  %30: none = lib \"cuda.syncthreads\" ()\n"
    "  %31: i64 = floordiv %19, %14\n"
    "  %32: bool = lt %16, %31\n"
    "  branch %32, b7, b4\n"
    "b4: preds(b0, b3)\n"
    "  %34: bool = eq %4, %16\n"
    "  branch %34, b6, b5\n"
    "b5: preds(b4)\n"
    "  return %36\n"
    "b6: preds(b4)\n"
    "  %38: i64 = load %3, %16\n"
    "  %39: i64 = lib \"cuda.blockIdx.x\" ()\n"
    "  store %2, %39, %38\n"
    "  return %36\n"
    "b7: preds(b3)\n"
    "  poll\n"
    "  jump b1\n"
    "}\n";

static void test_tiled_product(void) {
    EACH_LEVEL(level) {
        enum { N = 12, T = 4 };
        typedef struct Array2 {
            float *data;
            Owner *owner;
            int64_t dims[4];
        } Array2;
        static float a[N * N], b[N * N], c[N * N];
        for (int i = 0; i < N * N; i++)
            a[i] = (float)(i % 7) - 3, b[i] = (float)(i % 5) + 0.5f, c[i] = -1;
        Array2 x = {a, NULL, {N, N, 4 * N, 4}}, y = x, z = x;
        y.data = b, z.data = c;
        Artifact *artifact = kernel(matmul_text, level);
        if (!artifact) return;
        CHECK_INT(artifact->shared_bytes, 128);
        CallContext ctx = {0};
        CHECK_INT(launch(artifact, &ctx, (Shape){{N / T, N / T, 1}, {T, T, 1}, 0},
                         (void *[]){&x, &y, &z}),
                  CALL_OK);
        int wrong = 0;
        for (int i = 0; i < N * N; i++) {
            float want = 0;
            for (int k = 0; k < N; k++)
                want += a[i / N * N + k] * b[k * N + i % N];
            wrong += c[i] != want; /* small integers and halves: exact */
        }
        CHECK_INT(wrong, 0);
        artifact_release(artifact);
    }
}

/* A barrier in a while loop, and dynamic shared memory. */
static void test_block_sum(void) {
    EACH_LEVEL(level) {
        int64_t a[4 * 128], out[4] = {0};
        for (int i = 0; i < countof(a); i++)
            a[i] = i * i - 7 * i;
        Array1 x = ARRAY1(a), y = ARRAY1(out);
        Artifact *artifact = kernel(sum_text, level);
        if (!artifact) return;
        CHECK(artifact->uses_dynamic_shared);
        CallContext ctx = {0};
        Shape shape = line(4, 128);
        shape.dynamic = 128 * 8;
        CHECK_INT(launch(artifact, &ctx, shape, (void *[]){&x, &y}), CALL_OK);
        for (int b = 0; b < 4; b++) {
            int64_t want = 0;
            for (int i = 0; i < 128; i++)
                want += a[b * 128 + i];
            CHECK_INT(out[b], want);
        }
        artifact_release(artifact);
    }
}

/* Threads from `n` on leave before the barrier; the others exchange through shared memory. In three
 * dimensions, to see the order of work-items. */
static void test_GPU_01_barrier_after_early_exit(void) {
    static const char text[] = "func @f(out: array(i64, 1, C), n: i64) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %4: i64 = lib \"cuda.threadIdx.y\" ()\n"
                               "  %5: i64 = lib \"cuda.threadIdx.z\" ()\n"
                               "  %6: i64 = lib \"cuda.blockDim.x\" ()\n"
                               "  %7: i64 = lib \"cuda.blockDim.y\" ()\n"
                               "  %8: i64 = mul %5, %7\n"
                               "  %9: i64 = add %8, %4\n"
                               "  %10: i64 = mul %9, %6\n"
                               "  %11: i64 = add %10, %3\n"
                               "  %12: bool = lt %11, %2\n"
                               "  %13: array(i64, 1, C, shared) = static_array tuple(256)\n"
                               "  %14: none = const none\n"
                               "  branch %12, b1, b2\n"
                               "b1:\n"
                               "  %15: i64 = const 1\n"
                               "  store %13, %11, %11\n"
                               "  %16: none = lib \"cuda.syncthreads\" ()\n"
                               "  %17: i64 = sub %2, %15\n"
                               "  %18: i64 = sub %17, %11\n"
                               "  %19: i64 = load %13, %18\n"
                               "  %20: bool = const true\n"
                               "  %21: i64 = lib \"cuda.syncthreads_count\" (%20)\n"
                               "  %22: i64 = const 1000\n"
                               "  %23: i64 = mul %21, %22\n"
                               "  %24: i64 = add %19, %23\n"
                               "  store %1, %11, %24\n"
                               "  return %14\n"
                               "b2:\n"
                               "  return %14\n"
                               "}\n";
    EACH_LEVEL(level) {
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        for (int64_t n = 0; n <= 240; n += 37) {
            int64_t out[240] = {0};
            Array1 x = ARRAY1(out);
            CallContext ctx = {0};
            CHECK_INT(launch(artifact, &ctx, (Shape){{1, 2, 1}, {10, 6, 4}, 0}, (void *[]){&x, &n}),
                      CALL_OK);
            int wrong = 0;
            for (int64_t i = 0; i < 240; i++)
                wrong += out[i] != (i < n ? n - 1 - i + n * 1000 : 0);
            CHECK_INT(wrong, 0);
        }
        artifact_release(artifact);
    }
}

static void test_barriers_with_results(void) {
    EACH_LEVEL(level) {
        for (int set = 0; set <= 50; set += 25) {
            int64_t in[64], out[64];
            for (int i = 0; i < 64; i++)
                in[i] = i < set;
            CHECK_INT(run_lanes("i64", "  %9: i64 = lib \"cuda.syncthreads_count\" (%8)\n", level,
                                50, in, out),
                      CALL_OK);
            CHECK(out[0] == set && out[49] == set);
            run_lanes("i64", "  %9: i64 = lib \"cuda.syncthreads_and\" (%8)\n", level, 50, in, out);
            CHECK(out[0] == (set == 50) && out[49] == (set == 50));
            run_lanes("i64", "  %9: i64 = lib \"cuda.syncthreads_or\" (%8)\n", level, 50, in, out);
            CHECK(out[0] == (set > 0) && out[49] == (set > 0));
        }
    }
}

/* A device function with a barrier in a loop, called twice. */
static void test_barrier_in_a_device_function(void) {
    static const char text[] = "func @f(out: array(i64, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %3: i64 = call @g (%2)\n"
                               "  %4: i64 = call @g (%3)\n"
                               "  store %1, %2, %4\n"
                               "  %5: none = const none\n"
                               "  return %5\n"
                               "}\n"
                               "func @g(v: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: array(i64, 1, C, shared) = static_array tuple(64)\n"
                               "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %4: i64 = const 0\n"
                               "  %5: i64 = const 3\n"
                               "  %6: i64 = const 63\n"
                               "  %7: i64 = const 1\n"
                               "  jump b1\n"
                               "b1: preds(b0, b2)\n"
                               "  %8: i64 = phi [%4, b0], [%15, b2]\n"
                               "  %9: i64 = phi [%1, b0], [%14, b2]\n"
                               "  %10: bool = lt %8, %5\n"
                               "  branch %10, b2, b3\n"
                               "b2: preds(b1)\n"
                               "  store %2, %3, %9\n"
                               "  %11: none = lib \"cuda.syncthreads\" ()\n"
                               "  %12: i64 = add %3, %7\n"
                               "  %13: i64 = and %12, %6\n"
                               "  %14: i64 = load %2, %13\n"
                               "  %16: none = lib \"cuda.syncthreads\" ()\n"
                               "  %15: i64 = add nowrap %8, %7\n"
                               "  poll\n"
                               "  jump b1\n"
                               "b3: preds(b1)\n"
                               "  return %9\n"
                               "}\n";
    EACH_LEVEL(level) {
        int64_t out[64] = {0};
        Array1 x = ARRAY1(out);
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        CallContext ctx = {0};
        CHECK_INT(launch(artifact, &ctx, line(1, 64), (void *[]){&x}), CALL_OK);
        CHECK_INT(out[0], 6);
        CHECK_INT(out[60], 2);
        artifact_release(artifact);
    }
}

/* Memory of the work-item outlives barriers: each has its own. */
static void test_GPU_04_local_array_across_barriers(void) {
    static const char text[] = "func @f(out: array(i64, 1, C), n: i64) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %4: array(i64, 1, C, local) = static_array tuple(300)\n"
                               "  %5: i64 = const 0\n"
                               "  %6: i64 = const 1\n"
                               "  %7: i64 = const 7\n"
                               "  jump b1\n"
                               "b1: preds(b0, b2)\n"
                               "  %8: i64 = phi [%5, b0], [%13, b2]\n"
                               "  %9: i64 = phi [%5, b0], [%17, b2]\n"
                               "  %10: bool = lt %8, %2\n"
                               "  branch %10, b2, b3\n"
                               "b2: preds(b1)\n"
                               "  %11: i64 = add %3, %8\n"
                               "  store %4, %8, %11\n"
                               "  %12: none = lib \"cuda.syncthreads\" ()\n"
                               "  %13: i64 = add nowrap %8, %6\n"
                               "  %14: i64 = floordiv %8, %7\n"
                               "  %15: i64 = load %4, %14\n"
                               "  %16: none = lib \"cuda.syncwarp\" ()\n"
                               "  %17: i64 = add %9, %15\n"
                               "  jump b1\n"
                               "b3: preds(b1)\n"
                               "  store %1, %3, %9\n"
                               "  %18: none = const none\n"
                               "  return %18\n"
                               "}\n";
    EACH_LEVEL(level) {
        int64_t out[70] = {0}, n = 300, sum = 0;
        Array1 x = ARRAY1(out);
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        CallContext ctx = {0};
        CHECK_INT(launch(artifact, &ctx, line(1, 70), (void *[]){&x, &n}), CALL_OK);
        for (int64_t i = 0; i < n; i++)
            sum += i / 7;
        for (int i = 0; i < 70; i++)
            CHECK_INT(out[i], sum + 300 * i);
        artifact_release(artifact);
    }
}

/* -- warps ------------------------------------------------------------------------------------ */

/* 44 threads: the second warp has 12 lanes. */
enum { LANES = 44 };

static void shuffle_row(const char *name, int64_t arg, int level) {
    char body[256];
    int64_t in[64];
    double out[64];
    bool indexed = strcmp(name, "idx") == 0;
    snprintf(body, sizeof body,
             "  %%20: f64 = cast %%4\n"
             "  %%21: i32 = const %d\n"
             "  %%9: f64 = lib \"cuda.shfl_%s%ssync\" (%%6, %%20, %%21)\n",
             (int)arg, indexed ? "" : name, indexed ? "" : "_");
    for (int i = 0; i < 64; i++)
        in[i] = 100 + i * i;
    CHECK_INT(run_lanes("f64", body, level, LANES, in, out), CALL_OK);
    int wrong = 0;
    for (int i = 0; i < LANES; i++) {
        int lane = i % 32, first = i - lane, by = (int)(arg & 31);
        int from = name[0] == 'i'   ? by
                   : name[0] == 'u' ? lane - by
                   : name[0] == 'd' ? lane + by
                                    : lane ^ by;
        if (from < 0 || from > 31 || first + from >= LANES) from = lane;
        wrong += out[i] != (double)in[first + from];
    }
    CHECK_INT(wrong, 0);
}

static void test_GPU_14_shuffles(void) {
    static const int64_t args[] = {0, 1, 5, 16, 31};
    EACH_LEVEL(level) {
        for (int k = 0; k < countof(args); k++) {
            shuffle_row("idx", args[k], level);
            shuffle_row("up", args[k], level);
            shuffle_row("down", args[k], level);
            shuffle_row("xor", args[k], level);
        }
    }
}

static void test_votes_and_matches(void) {
    EACH_LEVEL(level) {
        int64_t in[64], all[64], any[64], eq[64];
        uint32_t ballots[64], same[64];
        for (int i = 0; i < 64; i++)
            in[i] = i < 32 ? i % 3 : 2;
        run_lanes("u32", "  %9: u32 = lib \"cuda.ballot_sync\" (%6, %8)\n", level, LANES, in,
                  ballots);
        run_lanes("u32", "  %9: u32 = lib \"cuda.match_any_sync\" (%6, %4)\n", level, LANES, in,
                  same);
        run_lanes("i64", "  %20: bool = lib \"cuda.all_sync\" (%6, %8)\n  %9: i64 = cast %20\n",
                  level, LANES, in, all);
        run_lanes("i64", "  %20: bool = lib \"cuda.any_sync\" (%6, %8)\n  %9: i64 = cast %20\n",
                  level, LANES, in, any);
        run_lanes("i64", "  %20: bool = lib \"cuda.eq_sync\" (%6, %8)\n  %9: i64 = cast %20\n",
                  level, LANES, in, eq);
        uint32_t set = 0, zeros = 0;
        for (int i = 0; i < 32; i++) {
            set |= (uint32_t)(in[i] != 0) << i;
            zeros |= (uint32_t)(in[i] == 0) << i;
        }
        CHECK_INT(ballots[7], set);
        CHECK_INT(ballots[40], 0xFFF);
        CHECK_INT(same[3], zeros);
        CHECK_INT(same[43], 0xFFF);
        CHECK(all[0] == 0 && all[33] == 1 && any[0] == 1 && eq[0] == 0 && eq[40] == 1);
        static const char match_all[] =
            "  %20: tuple(u32, bool) = lib \"cuda.match_all_sync\" (%6, %4)\n"
            "  %21: u32 = item %20 at 0\n"
            "  %22: bool = item %20 at 1\n"
            "  %23: i64 = cast %21\n"
            "  %24: i64 = cast %22\n"
            "  %9: i64 = add %23, %24\n";
        run_lanes("i64", match_all, level, LANES, in, all);
        CHECK_INT(all[5], 0);
        CHECK_INT(all[35], 0xFFF + 1);
    }
}

/* The halves of a warp do different operations, each with its own mask; then all meet. */
static void test_GPU_02_partial_masks(void) {
    static const char text[] = "func @f(out: array(i64, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = lib \"cuda.laneid\" ()\n"
                               "  %3: i64 = const 16\n"
                               "  %4: bool = lt %2, %3\n"
                               "  %5: i32 = const 3\n"
                               "  %6: u32 = const 65535\n"
                               "  %7: u32 = const 4294901760\n"
                               "  %8: u32 = const 4294967295\n"
                               "  branch %4, b1, b2\n"
                               "b1: preds(b0)\n"
                               "  %10: i64 = lib \"cuda.shfl_sync\" (%6, %2, %5)\n"
                               "  %11: none = lib \"cuda.syncwarp\" (%6)\n"
                               "  jump b3\n"
                               "b2: preds(b0)\n"
                               "  %12: i64 = const 20\n"
                               "  %13: bool = lt %2, %12\n"
                               "  %14: u32 = lib \"cuda.ballot_sync\" (%7, %13)\n"
                               "  %15: i64 = cast %14\n"
                               "  jump b3\n"
                               "b3: preds(b1, b2)\n"
                               "  %16: i64 = phi [%10, b1], [%15, b2]\n"
                               "  %17: i32 = const 31\n"
                               "  %18: i64 = lib \"cuda.shfl_xor_sync\" (%8, %16, %17)\n"
                               "  %19: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  store %1, %19, %18\n"
                               "  %20: none = const none\n"
                               "  return %20\n"
                               "}\n";
    EACH_LEVEL(level) {
        int64_t out[64] = {0};
        Array1 x = ARRAY1(out);
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        CallContext ctx = {0};
        CHECK_INT(launch(artifact, &ctx, line(1, 64), (void *[]){&x}), CALL_OK);
        int wrong = 0;
        for (int i = 0; i < 64; i++)
            wrong += out[i] != (i % 32 < 16 ? 0xF0000 : 3);
        CHECK_INT(wrong, 0);
        artifact_release(artifact);
    }
}

/* Lanes with a true argument ask who runs with them, and elect one; the others wait at the barrier. */
static void test_GPU_02_activemask_in_a_branch(void) {
    static const char text[] =
        "func @f(out: array(i64, 1, C), a: array(i64, 1, C)) -> none typed {\n"
        "b0:\n"
        "  %1: array(i64, 1, C) = param 0\n"
        "  %2: array(i64, 1, C) = param 1\n"
        "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
        "  %4: i64 = load %2, %3\n"
        "  %5: i64 = const 0\n"
        "  %6: bool = ne %4, %5\n"
        "  branch %6, b1, b2\n"
        "b1: preds(b0)\n"
        "  %7: u32 = lib \"cuda.activemask\" ()\n"
        "  %8: i32 = const 2\n"
        "  %9: i64 = lib \"cuda.shfl_sync\" (%7, %4, %8)\n"
        "  %10: i64 = cast %7\n"
        "  %11: i64 = const 4294967296\n"
        "  %12: i64 = mul %9, %11\n"
        "  %13: i64 = add %12, %10\n"
        "  store %1, %3, %13\n"
        "  jump b2\n"
        "b2: preds(b0, b1)\n"
        "  %14: none = lib \"cuda.syncthreads\" ()\n"
        "  %15: none = const none\n"
        "  return %15\n"
        "}\n";
    EACH_LEVEL(level) {
        int64_t out[32] = {0}, in[32], mask = 0;
        for (int i = 0; i < 32; i++) {
            in[i] = i % 3 == 2 ? 1 + i : 0;
            mask |= (int64_t)(in[i] != 0) << i;
        }
        Array1 x = ARRAY1(out), y = ARRAY1(in);
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        CallContext ctx = {0};
        CHECK_INT(launch(artifact, &ctx, line(1, 32), (void *[]){&x, &y}), CALL_OK);
        for (int i = 0; i < 32; i++)
            CHECK_INT(out[i], in[i] ? in[2] * 4294967296 + mask : 0);
        artifact_release(artifact);
    }
}

/* -- blocks that cannot go on ----------------------------------------------------------------- */

/* Thread `bad` divides by zero between two barriers. */
static void test_exception_between_barriers(void) {
    static const char text[] =
        "func @f(out: array(i64, 1, C), bad: i64) -> none typed file \"k.py\" {\n"
        "b0:\n"
        "  %1: array(i64, 1, C) = param 0\n"
        "  %2: i64 = param 1\n"
        "  %3: i64 = lib \"cuda.threadIdx.x\" ()\n"
        "  %4: none = lib \"cuda.syncthreads\" ()\n"
        "  %5: bool = eq %3, %2\n"
        "  guard.zero_division %5 @9:4-9:10\n"
        "  %6: none = lib \"cuda.syncthreads\" ()\n"
        "  store %1, %3, %3\n"
        "  %7: none = const none\n"
        "  return %7\n"
        "}\n";
    EACH_LEVEL(level) {
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        for (int64_t bad = -1; bad < 100; bad += 33) {
            int64_t out[100] = {0};
            Array1 x = ARRAY1(out);
            CallContext ctx = {0};
            int status = launch(artifact, &ctx, line(3, 100), (void *[]){&x, &bad});
            CHECK_INT(status, bad < 0 ? CALL_OK : CALL_EXCEPTION);
            CHECK_INT(out[99], bad < 0 ? 99 : 0);
            if (bad < 0) continue;
            CHECK_INT(ctx.exception, -1 - GUARD_zero_division);
            CHECK_INT(artifact->sites[ctx.site].line, 9);
        }
        artifact_release(artifact);
    }
}

/* A work-item that owns an array while it waits gives it back when its block is given up. */
static void test_EXC_dropped_items_release_arrays(void) {
    static const char text[] = "func @f(bad: i64) -> none typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %3: i64 = const 5\n"
                               "  %4: array(i64, 1, C) = alloc %3\n"
                               "  %5: none = lib \"cuda.syncthreads\" () !b4\n"
                               "  jump b1\n"
                               "b1: preds(b0)\n"
                               "  %6: bool = eq %2, %1\n"
                               "  guard.zero_division %6 !b4\n"
                               "  jump b2\n"
                               "b2: preds(b1)\n"
                               "  %7: none = lib \"cuda.syncthreads\" () !b4\n"
                               "  jump b3\n"
                               "b3: preds(b2)\n"
                               "  release %4\n"
                               "  %8: none = const none\n"
                               "  return %8\n"
                               "b4: preds(b0, b1, b2)\n"
                               "  release %4\n"
                               "  propagate\n"
                               "}\n";
    EACH_LEVEL(level) {
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        for (int64_t bad = -1; bad <= 40; bad += 41) {
            CallContext ctx = {0};
            int status = launch(artifact, &ctx, line(2, 64), (void *[]){&bad});
            CHECK_INT(status, bad < 0 ? CALL_OK : CALL_EXCEPTION);
            CHECK_INT(ctx.exception, bad < 0 ? 0 : -1 - GUARD_zero_division);
            CHECK_INT(support_live_arrays(), 0);
        }
        artifact_release(artifact);
    }
}

/* Threads below `n` stand at one operation, the others at another that never comes for them. */
static void deadlock_row(const char *first, const char *second, int level, int64_t at_barrier,
                         int64_t at_warp) {
    char text[2048];
    snprintf(text, sizeof text,
             "func @f(n: i64) -> none typed file \"k.py\" {\n"
             "b0:\n"
             "  %%1: i64 = param 0\n"
             "  %%2: i64 = lib \"cuda.threadIdx.x\" ()\n"
             "  %%3: bool = lt %%2, %%1\n"
             "  %%4: u32 = const 4294967295\n"
             "  branch %%3, b1, b2\n"
             "b1: preds(b0)\n"
             "  %s @3:1-3:9\n"
             "  jump b3\n"
             "b2: preds(b0)\n"
             "  %s @4:1-4:9\n"
             "  jump b3\n"
             "b3: preds(b1, b2)\n"
             "  %%9: none = const none\n"
             "  return %%9\n"
             "}\n",
             first, second);
    Artifact *artifact = kernel(text, level);
    if (!artifact) return;
    int64_t n = 10;
    CallContext ctx = {0};
    CHECK_INT(launch(artifact, &ctx, line(1, 32), (void *[]){&n}), CALL_EXCEPTION);
    CHECK_INT(ctx.exception, -1 - GUARD_deadlock);
    CHECK_INT(ctx.args[0], at_barrier);
    CHECK_INT(ctx.args[1], at_warp);
    CHECK_INT(ctx.args[2], 32 - at_barrier - at_warp);
    CHECK(ctx.site >= 0 && ctx.site < artifact->nsites && artifact->sites[ctx.site].line >= 3);
    n = 32; /* all on one side: fine */
    CHECK_INT(launch(artifact, &ctx, line(1, 32), (void *[]){&n}), CALL_OK);
    artifact_release(artifact);
}

static void test_GPU_01_deadlock(void) {
    EACH_LEVEL(level) {
        deadlock_row("%5: none = lib \"cuda.syncthreads\" ()",
                     "%6: none = lib \"cuda.syncwarp\" (%4)", level, 10, 22);
        deadlock_row("%5: none = lib \"cuda.syncwarp\" (%4)",
                     "%6: bool = lib \"cuda.all_sync\" (%4, %3)", level, 0, 32);
        deadlock_row("%5: none = lib \"cuda.syncthreads\" ()",
                     "%6: i64 = lib \"cuda.syncthreads_count\" (%3)", level, 32, 0);
        /* the same operation with two masks that share lanes */
        deadlock_row("%5: none = lib \"cuda.syncwarp\" (%4)",
                     "%7: u32 = const 4294967294\n  %6: none = lib \"cuda.syncwarp\" (%7)", level,
                     0, 32);
    }
}

/* A lane that is not in its own mask can never be answered; lanes that are gone do not count. */
static void test_masks_that_name_others(void) {
    EACH_LEVEL(level) {
        int64_t in[64] = {0}, out[64];
        static const char body[] = "  %20: u32 = const 6\n"
                                   "  %21: none = lib \"cuda.syncwarp\" (%20)\n"
                                   "  %9: i64 = const 1\n";
        CHECK_INT(run_lanes("i64", body, level, 8, in, out), CALL_EXCEPTION);
        static const char all[] = "  %21: none = lib \"cuda.syncwarp\" (%6)\n"
                                  "  %9: i64 = const 1\n";
        CHECK_INT(run_lanes("i64", all, level, 8, in, out), CALL_OK);
    }
}

static int64_t polls;
static int32_t stop_at_third(CallContext *ctx) {
    (void)ctx;
    return ++polls == 3;
}

/* The frame of one block is the frame of the next; a poll stops a loop of barriers within a few ms. */
static void test_EXC_03_interrupted_between_barriers(void) {
    static const char text[] = "func @f() -> none typed {\n"
                               "b0:\n"
                               "  jump b1\n"
                               "b1: preds(b0, b1)\n"
                               "  %1: none = lib \"cuda.syncthreads\" ()\n"
                               "  poll\n"
                               "  jump b1\n"
                               "}\n";
    EACH_LEVEL(level) {
        Artifact *artifact = kernel(text, level);
        if (!artifact) return;
        CallContext ctx = {.poll = stop_at_third};
        polls = 0;
        CHECK_INT(launch(artifact, &ctx, line(2, 96), NULL), CALL_PENDING);
        CHECK_INT(polls, 3);
        artifact_release(artifact);
    }
}

static void test_no_memory_for_frames(void) {
    Artifact *artifact = kernel(sum_text, 0); /* coroutines */
    if (!artifact) return;
    int64_t a[64] = {0}, out[1];
    Array1 x = ARRAY1(a), y = ARRAY1(out);
    KernelEntry entry;
    memcpy(&entry, &artifact->entry, sizeof entry);
    for (int grants = 0; grants < 2; grants++) {
        char shared[1024];
        KernelGrid grid = {.grid = {1, 1, 1},
                           .block = {64, 1, 1},
                           .last = 1,
                           .shared = shared,
                           .dynamic_shared = 512,
                           .frame_alloc = take_frame,
                           .frame_free = give_frame};
        CallContext ctx = {0};
        frames_left = grants;
        CHECK_INT(entry(&ctx, (void *[]){&x, &y}, &grid), CALL_EXCEPTION);
        CHECK_INT(ctx.exception, -1 - GUARD_memory);
        CHECK(ctx.args[0] >= 64 * 64);
        CHECK_INT(live_frames, 0);
    }
    artifact_release(artifact);
}

static void test_no_memory_for_what_is_kept(void) {
    Artifact *artifact = kernel("func @k(x: array(i64, 1, C)) -> none typed {\n"
                                "b0:\n"
                                "  %1: array(i64, 1, C) = param 0\n"
                                "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                                "  %3: i64 = load %1, %2\n"
                                "  %4: none = lib \"cuda.syncthreads\" ()\n"
                                "  %5: i64 = add %3, %3\n"
                                "  store %1, %2, %5\n"
                                "  %6: none = const none\n"
                                "  return %6\n"
                                "}\n",
                                3);
    if (!artifact) return;
    int64_t a[64] = {3, 4};
    Array1 x = ARRAY1(a);
    KernelEntry entry;
    memcpy(&entry, &artifact->entry, sizeof entry);
    for (int grants = 0; grants < 2; grants++) {
        KernelGrid grid = {.grid = {1, 1, 1},
                           .block = {64, 1, 1},
                           .last = 1,
                           .frame_alloc = take_frame,
                           .frame_free = give_frame};
        CallContext ctx = {0};
        frames_left = grants;
        CHECK_INT(entry(&ctx, (void *[]){&x}, &grid), grants ? CALL_OK : CALL_EXCEPTION);
        if (!grants) {
            CHECK_INT(ctx.exception, -1 - GUARD_memory);
            CHECK_INT(ctx.args[0], 64 * 8);
        }
        CHECK_INT(a[1], grants ? 8 : 4);
        CHECK_INT(live_frames, 0);
    }
    artifact_release(artifact);
}

static void test_recursion_with_a_barrier_is_refused(void) {
    CompileOptions options = {.entry = ENTRY_KERNEL, .opt_level = 3};
    CHECK(cg_compile("func @f() -> none typed {\n"
                     "b0:\n"
                     "  %1: none = lib \"cuda.syncthreads\" ()\n"
                     "  %2: none = call @f ()\n"
                     "  return %2\n"
                     "}\n",
                     &options) == NULL);
    options.entry = ENTRY_HOST;
    CHECK(cg_compile("func @f() -> none typed {\n"
                     "b0:\n"
                     "  %1: none = lib \"cuda.syncthreads\" ()\n"
                     "  return %1\n"
                     "}\n",
                     &options) == NULL);
}

int main(void) {
    RUN(test_tiled_product);
    RUN(test_block_sum);
    RUN(test_GPU_01_barrier_after_early_exit);
    RUN(test_barriers_with_results);
    RUN(test_barrier_in_a_device_function);
    RUN(test_GPU_04_local_array_across_barriers);
    RUN(test_GPU_14_shuffles);
    RUN(test_votes_and_matches);
    RUN(test_GPU_02_partial_masks);
    RUN(test_GPU_02_activemask_in_a_branch);
    RUN(test_exception_between_barriers);
    RUN(test_EXC_dropped_items_release_arrays);
    RUN(test_GPU_01_deadlock);
    RUN(test_masks_that_name_others);
    RUN(test_EXC_03_interrupted_between_barriers);
    RUN(test_no_memory_for_frames);
    RUN(test_no_memory_for_what_is_kept);
    RUN(test_recursion_with_a_barrier_is_refused);
    return check_report();
}
