/* Whole kernels, as LLVM compiles them without and with optimisation. */
#include "testing.h"

#include <float.h>

enum { N = 1000 };

static void test_vadd(Tally *tally, CUmodule module) {
    float x[N], y[N], out[N];
    int n = N;
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = 0.5f * (float)i;
    CUdeviceptr dx = upload(tally, x, sizeof x), dy = upload(tally, y, sizeof y),
                d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "vadd"), 3, 128, 0, &dx, &dy, &d, &n);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (int i = 0; i < N; i++)
        if (!CHECK(out[i] == x[i] + y[i])) break;
    OK(cuMemFree_v2(dx)), OK(cuMemFree_v2(dy)), OK(cuMemFree_v2(d));
}

static void test_increment(Tally *tally, CUmodule module) {
    int a[30][50], rows = 30, cols = 50;
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 50; j++)
            a[i][j] = i * 100 + j;
    CUdeviceptr d = upload(tally, a, sizeof a);
    void *args[] = {&d, &rows, &cols};
    OK(cuLaunchKernel(function(tally, module, "increment_2d"), 4, 2, 1, 16, 16, 1, 0, NULL, args,
                      NULL));
    OK(cuMemcpyDtoH_v2(a, d, sizeof a));
    int bad = 0;
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 50; j++)
            bad += a[i][j] != i * 100 + j + 1;
    CHECK(bad == 0);
    OK(cuMemFree_v2(d));
}

static void test_matmul(Tally *tally, CUmodule module) {
    enum { M = 32 };
    static float a[M][M], b[M][M], c[M][M];
    int n = M, bad = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            a[i][j] = (float)(i - j), b[i][j] = (float)(i * j % 7);
    CUdeviceptr da = upload(tally, a, sizeof a), db = upload(tally, b, sizeof b),
                dc = upload(tally, NULL, sizeof c);
    void *args[] = {&da, &db, &dc, &n};
    OK(cuLaunchKernel(function(tally, module, "matmul"), M / 8, M / 8, 1, 8, 8, 1, 0, NULL, args,
                      NULL));
    OK(cuMemcpyDtoH_v2(c, dc, sizeof c));
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < M; j++) {
            float sum = 0;
            for (int k = 0; k < M; k++)
                sum += a[i][k] * b[k][j];
            bad += c[i][j] != sum;
        }
    }
    CHECK(bad == 0);
    OK(cuMemFree_v2(da)), OK(cuMemFree_v2(db)), OK(cuMemFree_v2(dc));
}

static void test_histogram(Tally *tally, CUmodule module) {
    static unsigned char data[20000];
    unsigned bins[256] = {0}, want[256] = {0};
    int n = sizeof data;
    for (int i = 0; i < n; i++)
        data[i] = (unsigned char)(i * i % 251), want[data[i]]++;
    CUdeviceptr dd = upload(tally, data, sizeof data), db = upload(tally, bins, sizeof bins);
    LAUNCH(function(tally, module, "histogram"), 5, 96, 0, &dd, &n, &db);
    OK(cuMemcpyDtoH_v2(bins, db, sizeof bins));
    CHECK(memcmp(bins, want, sizeof bins) == 0);
    OK(cuMemFree_v2(dd)), OK(cuMemFree_v2(db));
}

static void test_atomics(Tally *tally, CUmodule module) {
    int x[512], out[4] = {0, 1 << 30, -(1 << 30), 0}, want[4] = {0, 1 << 30, -(1 << 30), 0};
    float most = -FLT_MAX, want_most = -FLT_MAX;
    double sum = 0;
    for (int i = 0; i < 512; i++) {
        x[i] = (i * 7919) % 1013 - 500;
        want[0] += x[i];
        if (x[i] < want[1]) want[1] = x[i];
        if (x[i] > want[2]) want[2] = x[i];
        want[3] ^= x[i];
        if ((float)x[i] * 0.5f > want_most) want_most = (float)x[i] * 0.5f;
    }
    CUdeviceptr dx = upload(tally, x, sizeof x), d = upload(tally, out, sizeof out);
    CUdeviceptr dm = upload(tally, &most, sizeof most), ds = upload(tally, &sum, sizeof sum);
    LAUNCH(function(tally, module, "atomics"), 4, 128, 0, &dx, &d, &dm, &ds);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    OK(cuMemcpyDtoH_v2(&most, dm, sizeof most));
    OK(cuMemcpyDtoH_v2(&sum, ds, sizeof sum));
    CHECK(memcmp(out, want, sizeof out) == 0);
    CHECK(most == want_most);
    CHECK(sum == want[0]);
    OK(cuMemFree_v2(dx)), OK(cuMemFree_v2(d)), OK(cuMemFree_v2(dm)), OK(cuMemFree_v2(ds));
}

static void test_dynamic(Tally *tally, CUmodule module) {
    int a[128];
    for (int i = 0; i < 128; i++)
        a[i] = i;
    CUdeviceptr d = upload(tally, a, sizeof a);
    LAUNCH(function(tally, module, "reverse_dynamic"), 2, 64, 64 * sizeof(int), &d);
    OK(cuMemcpyDtoH_v2(a, d, sizeof a));
    int bad = 0;
    for (int i = 0; i < 128; i++)
        bad += a[i] != i / 64 * 64 + 63 - i % 64;
    CHECK(bad == 0);
    OK(cuMemFree_v2(d));
}

static void test_warps(Tally *tally, CUmodule module) {
    float x[128], sums[4];
    unsigned votes[4];
    int out[32], bad = 0;
    for (int i = 0; i < 128; i++)
        x[i] = (float)i;
    CUdeviceptr dx = upload(tally, x, sizeof x), ds = upload(tally, NULL, sizeof sums);
    CUdeviceptr dv = upload(tally, NULL, sizeof votes), d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "warp_reduce"), 2, 64, 0, &dx, &ds, &dv);
    OK(cuMemcpyDtoH_v2(sums, ds, sizeof sums));
    OK(cuMemcpyDtoH_v2(votes, dv, sizeof votes));
    for (int i = 0; i < 4; i++)
        CHECK(sums[i] == (float)(i * 1024 + 496) && votes[i] == 0xaaaaaaaa);
    LAUNCH(function(tally, module, "warp_divergent"), 1, 32, 0, &d);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (int i = 0; i < 32; i++)
        bad += out[i] != (i < 16 ? (i ^ 1) : 31);
    CHECK(bad == 0);
    OK(cuMemFree_v2(dx)), OK(cuMemFree_v2(ds)), OK(cuMemFree_v2(dv)), OK(cuMemFree_v2(d));
}

static void test_scan(Tally *tally, CUmodule module) {
    int x[200], out[200], n = 200, sum = 0, bad = 0;
    for (int i = 0; i < n; i++)
        x[i] = i % 13;
    CUdeviceptr dx = upload(tally, x, sizeof x), d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "scan"), 1, 256, 0, &dx, &d, &n);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (int i = 0; i < n; i++)
        bad += out[i] != (sum += x[i]);
    CHECK(bad == 0);
    OK(cuMemFree_v2(dx)), OK(cuMemFree_v2(d));
}

static void test_calls(Tally *tally, CUmodule module) {
    struct {
        int a;
        double b;
        char c[5];
    } pair = {7, 0.25, {1, 2, 30, 4, 5}};
    static const double switched[] = {3, 14, 15, 92, 65, 35, 89};
    static const double fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    double out[5];
    CUdeviceptr d = upload(tally, NULL, sizeof out);
    for (int n = 0; n <= 10; n += 5) {
        LAUNCH(function(tally, module, "calls"), 1, 1, 0, &d, &pair, &n);
        OK(cuMemcpyDtoH_v2(out, d, sizeof out));
        CHECK(out[0] == n + n * 0.5 + n + n + 1);
        CHECK(out[1] == 37.25);
        CHECK(out[2] == fibonacci[n]);
        CHECK(out[3] == (n & 1 ? n * n : 2 * n));
        CHECK(out[4] == switched[n < 6 ? n : 6]);
    }
    OK(cuMemFree_v2(d));
}

static void test_globals(Tally *tally, CUmodule module) {
    float out[4];
    int n = 1, counter = 0;
    size_t size = 0;
    CUdeviceptr d = upload(tally, NULL, sizeof out), where = 0;
    LAUNCH(function(tally, module, "globals"), 1, 4, 0, &d, &n);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    CHECK(out[0] == 2.5f && out[3] == 1.5f);
    OK(cuModuleGetGlobal_v2(&where, &size, module, "counter"));
    CHECK(size == 4);
    OK(cuMemcpyDtoH_v2(&counter, where, size));
    CHECK(counter == 42);
    OK(cuMemFree_v2(d));
}

static void test_local(Tally *tally, CUmodule module) {
    int out[64], n = 5, bad = 0;
    CUdeviceptr d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "local_array"), 1, 64, 0, &d, &n);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (int i = 0; i < 64; i++)
        bad += out[i] != 5 * i;
    CHECK(bad == 0);
    OK(cuMemFree_v2(d));
}

static void test_integers(Tally *tally, CUmodule module) {
    long long x[] = {-7, 2, 1000000007, -3, INT64_MAX, INT64_MAX, -5, 5}, out[16];
    int n = 4;
    CUdeviceptr dx = upload(tally, x, sizeof x), d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "integers"), 1, 32, 0, &dx, &d, &n);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (int i = 0; i < n; i++) {
        long long a = x[2 * i], b = x[2 * i + 1];
        CHECK(out[4 * i] == a / b && out[4 * i + 1] == a % b);
        CHECK(out[4 * i + 2] == (int)a / (int)b);
    }
    CHECK(out[3] == -1 && out[11] == 0x3fffffffffffffff);
    OK(cuMemFree_v2(dx)), OK(cuMemFree_v2(d));
}

/* Threads and blocks that wait for one another through memory must get their turns. */
static void test_spin(Tally *tally, CUmodule module) {
    int zero[9] = {0}, out[64];
    CUdeviceptr flag = upload(tally, zero, sizeof zero), d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "spin"), 1, 64, 0, &flag, &d);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    CHECK(out[0] == 1 && out[63] == 1);
    OK(cuMemsetD8_v2(flag, 0, sizeof zero));
    LAUNCH(function(tally, module, "spin_blocks"), 8, 1, 0, &flag);
    OK(cuMemsetD8_v2(flag, 0, sizeof zero));
    void *args[] = {&flag, &d};
    CUfunction grid = function(tally, module, "grid_sync");
    OK(cuLaunchCooperativeKernel(grid, 8, 1, 1, 32, 1, 1, 0, NULL, args));
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    CHECK(out[0] == 8 && out[7] == 8);
    OK(cuMemFree_v2(flag)), OK(cuMemFree_v2(d));
}

/* A fault kills the context, and says so from the next call on. */
static void test_fault(Tally *tally, const char *text, const char *kernel, int argument,
                       CUresult want) {
    open_device(tally);
    CUmodule module = load_text(tally, text);
    int zero[64] = {1};
    CUdeviceptr d = upload(tally, zero, sizeof zero);
    void *args[] = {&d, &argument};
    CUfunction fn = function(tally, module, kernel);
    OK(cuLaunchKernel(fn, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    if (!check_code(tally, cuCtxSynchronize(), want, kernel, __LINE__)) return;
    check_code(tally, cuMemcpyDtoH_v2(zero, d, 4), want, "copy in a dead context", __LINE__);
    CHECK(strstr(fakecuda_last_fault(), kernel) != NULL);
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

static void run_level(Tally *tally, const char *path) {
    char *text = read_text(path);
    if (!CHECK(text != NULL)) return;
    open_device(tally);
    CUmodule module = load_text(tally, text);
    if (!module) return;
    test_vadd(tally, module);
    test_increment(tally, module);
    test_matmul(tally, module);
    test_histogram(tally, module);
    test_atomics(tally, module);
    test_dynamic(tally, module);
    test_warps(tally, module);
    test_scan(tally, module);
    test_calls(tally, module);
    test_globals(tally, module);
    test_local(tally, module);
    test_integers(tally, module);
    test_spin(tally, module);
    OK(cuModuleUnload(module));
    CHECK(fakecuda_live_handles() == 0);
    test_fault(tally, text, "out_of_bounds", 64, CUDA_ERROR_ILLEGAL_ADDRESS);
    test_fault(tally, text, "out_of_bounds", -1, CUDA_ERROR_ILLEGAL_ADDRESS);
    test_fault(tally, text, "misaligned", 0, CUDA_ERROR_MISALIGNED_ADDRESS);
    test_fault(tally, text, "trapped", 0, CUDA_ERROR_LAUNCH_FAILED);
    test_fault(tally, text, "shared_overrun", 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS);
    test_fault(tally, text, "deadlock", 0, CUDA_ERROR_LAUNCH_FAILED);
    free(text);
}

int main(void) {
    Tally counts = {0}, *tally = &counts;
    run_level(tally, FIXTURES "/kernels_O0.ptx");
    run_level(tally, FIXTURES "/kernels_O3.ptx");
    return report(tally, "kernels");
}
