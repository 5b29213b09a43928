/* The mathematics of libdevice, run by the interpreter and compared with the host's libm.
 *
 *   fakecuda_test_libdevice kernels.ptx [all of libdevice.ptx]
 */
#define _GNU_SOURCE
#include "testing.h"

enum { N = 2000 };

typedef struct Row {
    const char *name;
    int arguments;
    long double (*one)(long double);
    long double (*two)(long double, long double);
    double lo, hi, ulp32, ulp64;
} Row;

static const Row rows[] = {
#define LD1(name, lo, hi, u32, u64) {#name, 1, name##l, NULL, lo, hi, u32, u64},
#define LD2(name, lo, hi, u32, u64) {#name, 2, NULL, name##l, lo, hi, u32, u64},
#include "libdevice.def"
};

/* Distance between two values in units of the last place of the reference. */
static double ulps(long double got, long double want, bool single) {
    if (got == want || (isnan(got) && isnan(want))) return 0;
    if (!isfinite(got) || !isfinite(want)) return INFINITY;
    int e = 0, low = single ? -148 : -1073;
    frexpl(want, &e);
    e -= single ? 24 : 53;
    return (double)(fabsl(got - want) / ldexpl(1, e < low ? low : e));
}

static double sample(const Row *row, int i, int salt) {
    double unit = fmod((i + 1) * 0.6180339887498949 * salt, 1.0);
    return row->lo + (row->hi - row->lo) * unit;
}

static long double reference(const Row *row, long double x, long double y, bool single) {
    /* nextafter is about the type itself, not about the value. */
    if (strcmp(row->name, "nextafter") == 0)
        return single ? nextafterf((float)x, (float)y) : nextafter((double)x, (double)y);
    return row->arguments == 1 ? row->one(x) : row->two(x, y);
}

/* Runs one kernel over N samples; `values` are x, y and the results. */
static void run_kernel(Tally *tally, CUmodule module, const Row *row, bool single) {
    char name[64];
    static double x[3][N];
    static float f[3][N];
    size_t size = single ? sizeof f[0] : sizeof x[0];
    for (int i = 0; i < N; i++) {
        x[0][i] = sample(row, i, 1), x[1][i] = sample(row, i, 7);
        f[0][i] = (float)x[0][i], f[1][i] = (float)x[1][i];
    }
    int n = N;
    CUdeviceptr dx = upload(tally, single ? (void *)f[0] : x[0], size),
                dy = upload(tally, single ? (void *)f[1] : x[1], size);
    CUdeviceptr out = upload(tally, NULL, size);
    snprintf(name, sizeof name, "k_%s_%s", single ? "f32" : "f64", row->name);
    LAUNCH(function(tally, module, name), (N + 127) / 128, 128, 0, &dx, &dy, &out, &n);
    OK(cuMemcpyDtoH_v2(single ? (void *)f[2] : x[2], out, size));
    double worst = 0;
    int where = 0;
    for (int i = 0; i < N; i++) {
        long double a = single ? f[0][i] : x[0][i], b = single ? f[1][i] : x[1][i],
                    got = single ? f[2][i] : x[2][i];
        long double want = reference(row, a, b, single);
        double distance = ulps(got, want, single);
        if (distance > worst) worst = distance, where = i;
    }
    /* The reference itself is not rounded to the type: half a unit is its own. */
    if (!CHECK(worst <= (single ? row->ulp32 : row->ulp64) + 0.5))
        printf("    %s: off by %g ulp at x = %a, y = %a\n", name, worst, x[0][where], x[1][where]);
    OK(cuMemFree_v2(dx)), OK(cuMemFree_v2(dy)), OK(cuMemFree_v2(out));
}

int main(int argc, char **argv) {
    Tally counts = {0}, *tally = &counts;
    if (argc < 2) return 2;
    open_device(tally);
    CUmodule module = load_text(tally, read_text(argv[1]));
    for (unsigned i = 0; module && i < sizeof rows / sizeof *rows; i++) {
        run_kernel(tally, module, &rows[i], true);
        run_kernel(tally, module, &rows[i], false);
    }
    if (argc > 2) load_text(tally, read_text(argv[2]));
    return report(tally, "libdevice");
}
