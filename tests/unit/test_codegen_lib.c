/* test_codegen_lib.c - rows of the library in compiled host code: every function of libm that the tables
 * name, the generators, intrinsics, and fast-math flags that must not reach isnan. */
#include "tests/unit/cg_test.h"
#include "typeinfer/lowering.h"

#include <dlfcn.h>
#include <math.h>

static const double points[] = {0.0,      -0.0,      0.5, -0.5,   1.0,   -1.0, 1.5,
                                2.5,      -2.5,      3.7, 10.0,   0.1,   1e10, -7.0,
                                INFINITY, -INFINITY, NAN, 5e-324, 1e300, 0.999};

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* func @f(a: T, b: T, ...) -> R: one library call */
static Artifact *function_of(const char *name, const char *type, int nargs, const char *result,
                             const CompileOptions *options) {
    char text[1024], params[256] = "", body[256] = "", call[128] = "";
    for (int i = 0; i < nargs; i++) {
        size_t p = strlen(params), b = strlen(body), c = strlen(call);
        snprintf(params + p, sizeof params - p, "%sp%d: %s", i ? ", " : "", i, type);
        snprintf(body + b, sizeof body - b, "  %%%d: %s = param %d\n", i + 1, type, i);
        snprintf(call + c, sizeof call - c, "%s%%%d", i ? ", " : "", i + 1);
    }
    snprintf(text, sizeof text,
             "func @f(%s) -> %s typed {\nb0:\n%s  %%9: %s = lib \"%s\" (%s)\n  return %%9\n}\n",
             params, result, body, result, name, call);
    return cg_compile(text, options);
}

static Artifact *host_function(const char *name, const char *type, int nargs, const char *result) {
    CompileOptions options = {.opt_level = 3};
    return function_of(name, type, nargs, result, &options);
}

/* -- every row that is a symbol of libm ------------------------------------------------------- */

typedef double (*F1)(double);
typedef double (*F2)(double, double);
typedef float (*G1)(float);
typedef float (*G2)(float, float);

static void check_double(const LibRow *row, int nargs, void *symbol) {
    Artifact *artifact = host_function(row->name, "f64", nargs, "f64");
    CHECK(artifact != NULL);
    F1 f1;
    F2 f2;
    memcpy(&f1, &symbol, sizeof symbol), memcpy(&f2, &symbol, sizeof symbol);
    for (int i = 0; artifact && i < countof(points); i++)
        for (int k = 0; k < (nargs == 2 ? countof(points) : 1); k++) {
            double a = points[i], b = points[k], r;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
            double want = nargs == 2 ? f2(a, b) : f1(a);
            if (!same(r, want)) printf("%s(%g, %g) = %g, not %g\n", row->name, a, b, r, want);
            CHECK(same(r, want));
        }
    artifact_release(artifact);
}

static void check_single(const LibRow *row, int nargs, void *symbol) {
    Artifact *artifact = host_function(row->name, "f32", nargs, "f32");
    CHECK(artifact != NULL);
    G1 f1;
    G2 f2;
    memcpy(&f1, &symbol, sizeof symbol), memcpy(&f2, &symbol, sizeof symbol);
    for (int i = 0; artifact && i < countof(points); i++)
        for (int k = 0; k < (nargs == 2 ? countof(points) : 1); k++) {
            float a = (float)points[i], b = (float)points[k], r;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
            float want = nargs == 2 ? f2(a, b) : f1(a);
            if (!same(r, want)) printf("%sf(%g, %g) = %g, not %g\n", row->name, a, b, r, want);
            CHECK(same(r, want));
        }
    artifact_release(artifact);
}

static void test_every_function_of_libm(void) {
    int tested = 0;
    for (int32_t i = 0; i < lib_count(); i++) {
        const LibRow *row = lib_row(i);
        int nargs = strncmp(row->signature, "(F)->F", 6) == 0     ? 1
                    : strncmp(row->signature, "(F,F)->F", 8) == 0 ? 2
                                                                  : 0;
        if (row->cpu.kind != LOWER_LIB || nargs == 0 || strncmp(row->name, "math.", 5) != 0)
            continue;
        char single[64];
        snprintf(single, sizeof single, "%sf", row->cpu.symbol);
        void *f = dlsym(RTLD_DEFAULT, row->cpu.symbol), *g = dlsym(RTLD_DEFAULT, single);
        CHECK(f && g);
        if (!f || !g) continue;
        check_double(row, nargs, f);
        check_single(row, nargs, g);
        tested++;
    }
    CHECK(tested > 20);
}

/* -- generators ------------------------------------------------------------------------------- */

static double call1(const Artifact *artifact, double a) {
    double r = -99;
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a}, &r), CALL_OK);
    return r;
}

static double call2(const Artifact *artifact, double a, double b) {
    double r = -99;
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
    return r;
}

static void test_FLT_02_03_min_max(void) {
    Artifact *min = host_function("builtins.min", "f64", 2, "f64");
    Artifact *max = host_function("builtins.max", "f64", 2, "f64");
    CHECK(min && max);
    for (int i = 0; i < countof(points); i++)
        for (int k = 0; k < countof(points); k++) {
            double a = points[i], b = points[k];
            CHECK(same(call2(min, a, b), b < a ? b : a));
            CHECK(same(call2(max, a, b), b > a ? b : a));
        }
    CHECK(isnan(call2(min, NAN, 1.0)) && call2(min, 1.0, NAN) == 1.0);
    CHECK(signbit(call2(max, -0.0, 0.0)) && !signbit(call2(min, 0.0, -0.0)));
    artifact_release(min);
    artifact_release(max);
}

static void test_min_of_unsigned_and_bool(void) {
    Artifact *u = host_function("builtins.min", "u64", 3, "u64"),
             *b = host_function("builtins.max", "bool", 2, "bool");
    CHECK(u && b);
    uint64_t x = UINT64_MAX, y = 7, z = 1ull << 63, r;
    CallContext ctx;
    CHECK_INT(cg_call(u, &ctx, (void *[]){&x, &y, &z}, &r), CALL_OK);
    CHECK(r == 7);
    uint8_t t = 1, f = 0, q = 9;
    CHECK_INT(cg_call(b, &ctx, (void *[]){&f, &t}, &q), CALL_OK);
    CHECK_INT(q, 1);
    artifact_release(u);
    artifact_release(b);
}

static void test_maximum_minimum_sign(void) {
    Artifact *max = host_function("numpy.maximum", "f64", 2, "f64");
    Artifact *min = host_function("numpy.minimum", "f64", 2, "f64");
    Artifact *sign = host_function("numpy.sign", "f64", 1, "f64");
    for (int i = 0; i < countof(points); i++) {
        for (int k = 0; k < countof(points); k++) {
            double a = points[i], b = points[k];
            CHECK(same(call2(max, a, b), a >= b || isnan(a) ? a : b));
            CHECK(same(call2(min, a, b), a <= b || isnan(a) ? a : b));
        }
        double x = points[i], want = isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0.0;
        CHECK(same(call1(sign, x), want));
    }
    artifact_release(max);
    artifact_release(min);
    artifact_release(sign);
}

static void test_INT_07_abs(void) {
    Artifact *a64 = host_function("numpy.abs", "i64", 1, "i64"),
             *a8 = host_function("numpy.abs", "i8", 1, "i8");
    static const int64_t rows[][2] = {{5, 5}, {-5, 5}, {INT64_MIN, INT64_MIN}, {0, 0}};
    for (int k = 0; k < countof(rows); k++) {
        int64_t x = rows[k][0], r;
        CallContext ctx;
        CHECK_INT(cg_call(a64, &ctx, (void *[]){&x}, &r), CALL_OK);
        CHECK_INT(r, rows[k][1]);
    }
    int8_t x = -128, r;
    CallContext ctx;
    CHECK_INT(cg_call(a8, &ctx, (void *[]){&x}, &r), CALL_OK);
    CHECK_INT(r, -128);
    artifact_release(a64);
    artifact_release(a8);
}

static void test_FLT_06_FLT_07_rounding_to_int(void) {
    static const struct {
        const char *name;
        double (*round)(double);
    } rows[] = {{"builtins.round", roundeven}, {"math.floor", floor}, {"math.ceil", ceil}};
    for (int f = 0; f < countof(rows); f++) {
        Artifact *artifact = host_function(rows[f].name, "f64", 1, "i64");
        CHECK(artifact != NULL);
        for (int i = 0; i < countof(points); i++) {
            double x = points[i], whole = rows[f].round(x);
            int64_t r = -1, want = isnan(x)          ? 0
                                   : whole >= 0x1p63 ? INT64_MAX
                                   : whole < -0x1p63 ? INT64_MIN
                                                     : (int64_t)whole;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x}, &r), CALL_OK);
            CHECK_INT(r, want);
        }
        artifact_release(artifact);
    }
}

static void test_frexp_ldexp(void) {
    Artifact *split = host_function("math.frexp", "f64", 1, "tuple(f64, i64)");
    CHECK(split != NULL);
    for (int i = 0; i < countof(points); i++) {
        struct {
            double m;
            int64_t e;
        } r;
        int e = 0;
        double x = points[i], m = frexp(x, &e);
        CallContext ctx;
        CHECK_INT(cg_call(split, &ctx, (void *[]){&x}, &r), CALL_OK);
        CHECK(same(r.m, m) && (!isfinite(x) || r.e == e));
    }
    artifact_release(split);
    static const char text[] =
        "func @f(x: f64, n: i64) -> f64 typed {\nb0:\n  %1: f64 = param 0\n"
        "  %2: i64 = param 1\n  %3: f64 = lib \"math.ldexp\" (%1, %2)\n  return %3\n}\n";
    Artifact *join = cg_host(text, 3);
    static const int64_t powers[] = {0,    1,     -1,        1023,      -1074,
                                     5000, -5000, INT64_MAX, INT64_MIN, 1ll << 32};
    for (int i = 0; i < countof(points); i++)
        for (int k = 0; k < countof(powers); k++) {
            double x = points[i], r;
            int64_t n = powers[k];
            int clamped = n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n;
            CallContext ctx;
            CHECK_INT(cg_call(join, &ctx, (void *[]){&x, &n}, &r), CALL_OK);
            CHECK(same(r, ldexp(x, clamped)));
        }
    artifact_release(join);
}

/* FLT-05: a flag that says there is no NaN does not reach the tests for it. */
static void test_FLT_05_classes_are_immune_to_fastmath(void) {
    static const char *const names[] = {"math.isnan", "math.isinf", "math.isfinite"};
    for (int f = 0; f < 3; f++)
        for (int single = 0; single < 2; single++) {
            CompileOptions options = {.opt_level = 3, .fastmath = FM_DEFAULT | FM_NNAN | FM_NINF};
            Artifact *artifact = function_of(names[f], single ? "f32" : "f64", 1, "bool", &options);
            CHECK(artifact != NULL);
            for (int i = 0; i < countof(points); i++) {
                double x = points[i];
                float y = (float)x;
                uint8_t r = 9;
                CallContext ctx;
                double v = single ? (double)y : x;
                CHECK_INT(cg_call(artifact, &ctx, (void *[]){single ? (void *)&y : (void *)&x}, &r),
                          CALL_OK);
                CHECK_INT(r, f == 0 ? isnan(v) : f == 1 ? isinf(v) != 0 : isfinite(v) != 0);
            }
            artifact_release(artifact);
        }
}

static void test_bits(void) {
    static const char *const names[] = {"cuda.popc", "cuda.clz", "cuda.ffs"};
    static const uint32_t values[] = {0, 1, 2, 0x80000000u, 0xffffffffu, 0x00f00000u, 12345};
    for (int f = 0; f < 3; f++) {
        Artifact *artifact = host_function(names[f], "u32", 1, "i64");
        CHECK(artifact != NULL);
        for (int i = 0; artifact && i < countof(values); i++) {
            uint32_t x = values[i];
            int64_t r, want = f == 0   ? __builtin_popcount(x)
                              : f == 1 ? (x ? __builtin_clz(x) : 32)
                                       : __builtin_ffs((int)x);
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x}, &r), CALL_OK);
            CHECK_INT(r, want);
        }
        artifact_release(artifact);
    }
}

/* FLT-06: round(x, n) is correctly rounded, ties to even, for any n. */
static void test_FLT_06_round_digits(void) {
    static const struct {
        double x;
        int64_t n;
        double want;
    } rows[] = {
        /* printed by CPython */
        {2.675, 2, 2.67},        {0.5, 0, 0.0},      {1.5, 0, 2.0},           {2.5, 0, 2.0},
        {1e300, 2, 1e300},       {1.25, 1, 1.2},     {1.35, 1, 1.4},          {15.0, -1, 20.0},
        {25.0, -1, 20.0},        {95.0, -2, 100.0},  {50.0, -2, 0.0},         {150.0, -2, 200.0},
        {250.0, -2, 200.0},      {-0.04, 1, -0.0},   {1234.5678, -2, 1200.0}, {1e22, -400, 0.0},
        {1.5, 400, 1.5},         {5e-324, 323, 0.0}, {-4.0, -1, -0.0},        {6.0, -1, 10.0},
        {INFINITY, 2, INFINITY}, {NAN, 1, NAN}};
    static const char text[] =
        "func @f(x: f64, n: i64) -> f64 typed {\nb0:\n  %1: f64 = param 0\n"
        "  %2: i64 = param 1\n  %3: f64 = lib \"builtins.round\" (%1, %2)\n  return %3\n}\n";
    Artifact *artifact = cg_host(text, 3);
    CHECK(artifact != NULL);
    for (int i = 0; artifact && i < countof(rows); i++) {
        double r, x = rows[i].x;
        int64_t n = rows[i].n;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &n}, &r), CALL_OK);
        if (!same(r, rows[i].want))
            printf("round(%g, %lld) = %g, not %g\n", x, (long long)n, r, rows[i].want);
        CHECK(same(r, rows[i].want));
    }
    artifact_release(artifact);
}

int main(void) {
    RUN(test_every_function_of_libm);
    RUN(test_FLT_02_03_min_max);
    RUN(test_min_of_unsigned_and_bool);
    RUN(test_maximum_minimum_sign);
    RUN(test_INT_07_abs);
    RUN(test_FLT_06_FLT_07_rounding_to_int);
    RUN(test_frexp_ldexp);
    RUN(test_FLT_05_classes_are_immune_to_fastmath);
    RUN(test_bits);
    RUN(test_FLT_06_round_digits);
    return check_report();
}
