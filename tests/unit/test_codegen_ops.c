/* test_codegen_ops.c - every scalar op of typed IR on every type, compiled and run, against plain C.
 *
 * The reference works on 128-bit integers and on long double (which holds every 64-bit integer and every
 * double exactly), so it shares no code and no tricks with the compiler. Everything runs at O0 and O3. */
#include "tests/unit/cg_test.h"
#include <math.h>

typedef __int128 Wide;

typedef struct IntType {
    const char *name;
    int bits;
    bool is_signed;
} IntType;

static const IntType ints[] = {{"i8", 8, true},    {"i16", 16, true}, {"i32", 32, true},
                               {"i64", 64, true},  {"u8", 8, false},  {"u16", 16, false},
                               {"u32", 32, false}, {"u64", 64, false}};
static const int levels[] = {0, 3};

/* -- integers --------------------------------------------------------------------------------- */

static Wide wrap(Wide v, const IntType *t) {
    unsigned __int128 mask = ((unsigned __int128)1 << t->bits) - 1;
    unsigned __int128 u = (unsigned __int128)v & mask;
    if (t->is_signed && u >> (t->bits - 1)) return (Wide)(u | ~mask);
    return (Wide)u;
}

static Wide floor_div(Wide a, Wide b) {
    if (b == 0) return 0;
    Wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static Wide power(Wide a, Wide n, const IntType *t) {
    if (n < 0) return 0;
    Wide r = 1;
    a = wrap(a, t);
    for (; n; n >>= 1) {
        if (n & 1) r = wrap((Wide)((unsigned __int128)r * (unsigned __int128)a), t);
        a = wrap((Wide)((unsigned __int128)a * (unsigned __int128)a), t);
    }
    return r;
}

static Wide int_reference(const char *op, Wide a, Wide b, const IntType *t) {
    bool outside = b < 0 || b >= t->bits;
    if (strcmp(op, "add") == 0) return a + b;
    if (strcmp(op, "sub") == 0) return a - b;
    if (strcmp(op, "mul") == 0) return (Wide)((unsigned __int128)a * (unsigned __int128)b);
    if (strcmp(op, "floordiv") == 0) return floor_div(a, b);
    if (strcmp(op, "mod") == 0) return b == 0 ? 0 : a - b * floor_div(a, b);
    if (strcmp(op, "pow") == 0) return power(a, b, t);
    if (strcmp(op, "and") == 0) return a & b;
    if (strcmp(op, "or") == 0) return a | b;
    if (strcmp(op, "xor") == 0) return a ^ b;
    if (strcmp(op, "shl") == 0) return outside ? 0 : (Wide)((unsigned __int128)a << (int)b);
    if (strcmp(op, "shr") == 0) return b < 0 ? 0 : outside ? (a < 0 ? -1 : 0) : a >> (int)b;
    if (strcmp(op, "neg") == 0) return -a;
    return ~a;
}

static int int_operands(const IntType *t, Wide *out) {
    Wide min = t->is_signed ? -((Wide)1 << (t->bits - 1)) : 0;
    Wide max = ((Wide)1 << (t->bits - t->is_signed)) - 1;
    const Wide all[] = {0,
                        1,
                        2,
                        3,
                        5,
                        7,
                        10,
                        63,
                        64,
                        65,
                        100,
                        t->bits - 1,
                        t->bits,
                        t->bits + 1,
                        (Wide)1 << (t->bits / 2),
                        ((Wide)1 << 31) % (max + 1),
                        max,
                        max - 1,
                        max / 3,
                        -1,
                        -2,
                        -3,
                        -7,
                        -64,
                        -100,
                        min,
                        min + 1,
                        min / 2};
    int n = 0;
    for (int i = 0; i < countof(all); i++)
        if (all[i] >= min && all[i] <= max) out[n++] = all[i];
    return n;
}

static void put(void *at, Wide v) {
    int64_t bits = (int64_t)v;
    memcpy(at, &bits, 8); /* little-endian: the low bytes are the narrow value */
}

static Wide get(const void *at, const IntType *t) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)t->bits / 8);
    return wrap((Wide)bits, t);
}

static void check_int_op(const char *op, const IntType *t, int level, bool unary) {
    char text[512];
    snprintf(text, sizeof text,
             "func @f(a: %s, b: %s) -> %s typed {\nb0:\n  %%1: %s = param 0\n  %%2: %s = param 1\n"
             "  %%3: %s = %s %%1%s\n  return %%3\n}\n",
             t->name, t->name, t->name, t->name, t->name, t->name, op, unary ? "" : ", %2");
    Artifact *artifact = cg_host(text, level);
    CHECK(artifact != NULL);
    if (!artifact) return;
    Wide values[64];
    int n = int_operands(t, values);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < (unary ? 1 : n); k++) {
            int64_t a, b, r = 0;
            CallContext ctx;
            put(&a, values[i]), put(&b, values[k]);
            int status = cg_call(artifact, &ctx, (void *[]){&a, &b}, &r);
            Wide want = wrap(int_reference(op, values[i], values[k], t), t);
            bool ok = status == CALL_OK && get(&r, t) == want;
            if (!ok)
                printf("%s.%s O%d (%lld, %lld) gives %lld, not %lld\n", op, t->name, level,
                       (long long)values[i], (long long)values[k], (long long)get(&r, t),
                       (long long)want);
            CHECK(ok);
        }
    artifact_release(artifact);
}

static void test_INT_02_03_04_07_11_12_integer_ops(void) {
    static const char *const binary[] = {"add", "sub", "mul", "floordiv", "mod", "pow",
                                         "and", "or",  "xor", "shl",      "shr"};
    for (int l = 0; l < countof(levels); l++)
        for (int t = 0; t < countof(ints); t++) {
            for (int o = 0; o < countof(binary); o++)
                check_int_op(binary[o], &ints[t], levels[l], false);
            check_int_op("neg", &ints[t], levels[l], true);
            check_int_op("not", &ints[t], levels[l], true);
        }
}

/* Constant divisors and exponents take other paths. */
static void test_INT_02_constant_operands(void) {
    static const int64_t constants[] = {0, 1, 2, 3, 8, 64, -1, -2, -8, 10};
    static const char *const ops[] = {"floordiv", "mod", "pow", "shl", "shr"};
    for (int o = 0; o < countof(ops); o++)
        for (int k = 0; k < countof(constants); k++)
            for (int t = 0; t < countof(ints); t++) {
                if (constants[k] < 0 && !ints[t].is_signed) continue;
                const char *name = ints[t].name;
                char text[512];
                snprintf(text, sizeof text,
                         "func @f(a: %s) -> %s typed {\nb0:\n  %%1: %s = param 0\n  %%2: %s = "
                         "const %lld\n"
                         "  %%3: %s = %s %%1, %%2\n  return %%3\n}\n",
                         name, name, name, name, (long long)constants[k], name, ops[o]);
                Artifact *artifact = cg_host(text, 0);
                Wide values[64];
                int n = int_operands(&ints[t], values);
                for (int i = 0; artifact && i < n; i++) {
                    int64_t a, r = 0;
                    CallContext ctx;
                    put(&a, values[i]);
                    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a}, &r), CALL_OK);
                    CHECK(get(&r, &ints[t]) ==
                          wrap(int_reference(ops[o], values[i], constants[k], &ints[t]), &ints[t]));
                }
                CHECK(artifact != NULL);
                artifact_release(artifact);
            }
}

/* -- floats ----------------------------------------------------------------------------------- */

static const double floats[] = {0.0,      -0.0,      1.0,          -1.0,    0.5,    -0.5,    1.5,
                                2.0,      -2.0,      3.0,          -3.0,    7.5,    -7.5,    0.1,
                                0.01,     -0.1,      100.,         1e308,   -1e308, 5e-324,  1e-310,
                                INFINITY, -INFINITY, NAN,          0x1p53,  0x1p63, -0x1p63, 0x1p64,
                                1e10,     255.0,     2147483648.0, -32768.5};

static bool same_float(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* CPython's float_divmod, written from its documentation. */
static void python_divmod(double a, double b, double *quotient, double *rest) {
    double mod = fmod(a, b), div = (a - mod) / b;
    if (mod != 0.0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1.0;
        }
    } else {
        mod = copysign(0.0, b);
    }
    if (div != 0.0) {
        double down = floor(div);
        div = div - down > 0.5 ? down + 1.0 : down;
    } else {
        div = copysign(0.0, a / b);
    }
    *quotient = b == 0.0 ? a / b : div;
    *rest = mod;
}

static double float_reference(const char *op, double a, double b) {
    double q, r;
    python_divmod(a, b, &q, &r);
    if (strcmp(op, "add") == 0) return a + b;
    if (strcmp(op, "sub") == 0) return a - b;
    if (strcmp(op, "mul") == 0) return a * b;
    if (strcmp(op, "div") == 0) return a / b;
    if (strcmp(op, "floordiv") == 0) return q;
    if (strcmp(op, "mod") == 0) return r;
    if (strcmp(op, "pow") == 0) return pow(a, b);
    return -a;
}

static void python_divmodf(float a, float b, float *quotient, float *rest) {
    float mod = fmodf(a, b), div = (a - mod) / b;
    if (mod != 0.0f) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1.0f;
        }
    } else {
        mod = copysignf(0.0f, b);
    }
    if (div != 0.0f) {
        float down = floorf(div);
        div = div - down > 0.5f ? down + 1.0f : down;
    } else {
        div = copysignf(0.0f, a / b);
    }
    *quotient = b == 0.0f ? a / b : div;
    *rest = mod;
}

static float float_referencef(const char *op, float a, float b) {
    float q, r;
    python_divmodf(a, b, &q, &r);
    if (strcmp(op, "add") == 0) return a + b;
    if (strcmp(op, "sub") == 0) return a - b;
    if (strcmp(op, "mul") == 0) return a * b;
    if (strcmp(op, "div") == 0) return a / b;
    if (strcmp(op, "floordiv") == 0) return q;
    if (strcmp(op, "mod") == 0) return r;
    if (strcmp(op, "pow") == 0) return powf(a, b);
    return -a;
}

static void check_float_op(const char *op, bool single, int level) {
    const char *t = single ? "f32" : "f64";
    char text[512];
    snprintf(text, sizeof text,
             "func @f(a: %s, b: %s) -> %s typed {\nb0:\n  %%1: %s = param 0\n  %%2: %s = param 1\n"
             "  %%3: %s = %s %%1%s\n  return %%3\n}\n",
             t, t, t, t, t, t, op, strcmp(op, "neg") == 0 ? "" : ", %2");
    Artifact *artifact = cg_host(text, level);
    CHECK(artifact != NULL);
    for (int i = 0; artifact && i < countof(floats); i++)
        for (int k = 0; k < countof(floats); k++) {
            double a = floats[i], b = floats[k], r = 0, want, got;
            float fa = (float)a, fb = (float)b, fr = 0;
            CallContext ctx;
            void *args[] = {single ? (void *)&fa : (void *)&a, single ? (void *)&fb : (void *)&b};
            CHECK_INT(cg_call(artifact, &ctx, args, single ? (void *)&fr : (void *)&r), CALL_OK);
            want = single ? float_referencef(op, fa, fb) : float_reference(op, a, b);
            got = single ? fr : r;
            if (!same_float(got, want))
                printf("%s.%s O%d (%a, %a) gives %a, not %a\n", op, t, level, a, b, got, want);
            CHECK(same_float(got, want));
        }
    artifact_release(artifact);
}

static void test_FLT_10_float_ops(void) {
    static const char *const ops[] = {"add", "sub", "mul", "div", "floordiv", "mod", "pow", "neg"};
    for (int l = 0; l < countof(levels); l++)
        for (int o = 0; o < countof(ops); o++)
            for (int single = 0; single < 2; single++)
                check_float_op(ops[o], single, levels[l]);
}

/* -- comparisons ------------------------------------------------------------------------------ */

typedef struct Number { /* a scalar type and a run-time value of it */
    const char *type;
    int index; /* into ints, or -1 bool, -2 f32, -3 f64 */
} Number;

static const Number numbers[] = {{"bool", -1}, {"i8", 0},   {"i16", 1}, {"i32", 2},
                                 {"i64", 3},   {"u8", 4},   {"u16", 5}, {"u32", 6},
                                 {"u64", 7},   {"f32", -2}, {"f64", -3}};

static const int64_t wholes[] = {0,         1,
                                 -1,        2,
                                 127,       -128,
                                 255,       32768,
                                 -7,        INT32_MAX,
                                 INT32_MIN, INT64_MAX,
                                 INT64_MIN, INT64_MAX - 1,
                                 1ll << 53, (1ll << 53) + 1,
                                 16777216,  16777217,
                                 -2,        INT64_MIN + 1};
static const double reals[] = {
    0.0,          -0.0,      1.0,    -1.0,       0.5,        127.0,  255.0,
    2147483647.0, 0x1p53,    0x1p63, -0x1p63,    0x1p64,     0x1p65, -0x1p64,
    INFINITY,     -INFINITY, NAN,    16777216.0, 16777217.0, 1e300,  0x1.fffffffffffffp62,
    -0.5};

/* Writes value number k; gives its exact value. */
static bool operand(const Number *n, int k, void *at, long double *value) {
    if (n->index >= 0) {
        const IntType *t = &ints[n->index];
        if (k >= countof(wholes)) return false;
        Wide w = wrap(wholes[k], t);
        put(at, w);
        *value = (long double)w;
        return true;
    }
    if (n->index == -1) {
        if (k >= 2) return false;
        *(uint8_t *)at = (uint8_t)k;
        *value = k;
        return true;
    }
    if (k >= countof(reals)) return false;
    if (n->index == -2) {
        float f = (float)reals[k];
        memcpy(at, &f, 4);
        *value = f;
    } else {
        memcpy(at, &reals[k], 8);
        *value = reals[k];
    }
    return true;
}

static void check_compare(const Number *x, const Number *y, int level) {
    char text[1024];
    snprintf(text, sizeof text,
             "func @f(a: %s, b: %s) -> tuple(bool, bool, bool, bool) typed {\nb0:\n"
             "  %%1: %s = param 0\n  %%2: %s = param 1\n  %%3: bool = eq %%1, %%2\n  %%4: bool = "
             "ne %%1, %%2\n"
             "  %%5: bool = lt %%1, %%2\n  %%6: bool = le %%1, %%2\n"
             "  %%7: tuple(bool, bool, bool, bool) = tuple %%3, %%4, %%5, %%6\n  return %%7\n}\n",
             x->type, y->type, x->type, y->type);
    Artifact *artifact = cg_host(text, level);
    CHECK(artifact != NULL);
    int64_t a = 0, b = 0;
    long double va, vb;
    for (int i = 0; artifact && operand(x, i, &a, &va); i++)
        for (int k = 0; operand(y, k, &b, &vb); k++) {
            uint8_t r[4];
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, r), CALL_OK);
            bool ok =
                r[0] == (va == vb) && r[1] == (va != vb) && r[2] == (va < vb) && r[3] == (va <= vb);
            if (!ok)
                printf("%s %Lg and %s %Lg at O%d: %d %d %d %d\n", x->type, va, y->type, vb, level,
                       r[0], r[1], r[2], r[3]);
            CHECK(ok);
        }
    artifact_release(artifact);
}

static void test_INT_15_compare_all_types(void) {
    for (int l = 0; l < countof(levels); l++)
        for (int x = 0; x < countof(numbers); x++)
            for (int y = 0; y < countof(numbers); y++)
                check_compare(&numbers[x], &numbers[y], levels[l]);
}

/* -- casts ------------------------------------------------------------------------------------ */

static long double cast_reference(const Number *from, long double v, const Number *to) {
    if (to->index == -1) return v != 0;
    if (to->index == -2) /* one rounding: all sources fit long double */
        return from->index == -3 ? (long double)(float)(double)v : (long double)(float)v;
    if (to->index == -3) return (long double)(double)v;
    const IntType *t = &ints[to->index];
    if (from->index > -2) return (long double)wrap((Wide)v, t);
    if (isnan(v)) return 0;
    long double min = t->is_signed ? -ldexpl(1, t->bits - 1) : 0;
    long double max = ldexpl(1, t->bits - t->is_signed) - 1;
    v = truncl(v);
    return v < min ? min : v > max ? max : v;
}

static long double result_of(const Number *n, const void *at) {
    if (n->index >= 0) return (long double)get(at, &ints[n->index]);
    if (n->index == -1) return *(const uint8_t *)at;
    float f;
    double d;
    memcpy(&f, at, 4);
    memcpy(&d, at, 8);
    return n->index == -2 ? (long double)f : (long double)d;
}

static void test_INT_19_FLT_07_casts(void) {
    for (int l = 0; l < countof(levels); l++)
        for (int x = 0; x < countof(numbers); x++)
            for (int y = 0; y < countof(numbers); y++) {
                char text[512];
                const char *from = numbers[x].type, *to = numbers[y].type;
                snprintf(
                    text, sizeof text,
                    "func @f(a: %s) -> %s typed {\nb0:\n  %%1: %s = param 0\n  %%2: %s = cast %%1\n"
                    "  return %%2\n}\n",
                    from, to, from, to);
                Artifact *artifact = cg_host(text, levels[l]);
                CHECK(artifact != NULL);
                int64_t a = 0, r = 0;
                long double v;
                for (int i = 0; artifact && operand(&numbers[x], i, &a, &v); i++) {
                    CallContext ctx;
                    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a}, &r), CALL_OK);
                    long double want = cast_reference(&numbers[x], v, &numbers[y]);
                    long double got = result_of(&numbers[y], &r);
                    bool ok = got == want || (isnan(got) && isnan(want));
                    if (!ok)
                        printf("cast %s -> %s of %Lg gives %Lg, not %Lg\n", from, to, v, got, want);
                    CHECK(ok);
                }
                artifact_release(artifact);
            }
}

/* -- complex ---------------------------------------------------------------------------------- */

typedef struct Cpx {
    double re, im;
} Cpx;

static Cpx complex_quotient(Cpx a, Cpx b) {
    double re = fabs(b.re), im = fabs(b.im);
    if (re == 0.0 && im == 0.0) return (Cpx){a.re / re, a.im / re};
    if (re >= im) {
        double ratio = b.im / b.re, denom = b.re + b.im * ratio;
        return (Cpx){(a.re + a.im * ratio) / denom, (a.im - a.re * ratio) / denom};
    }
    double ratio = b.re / b.im, denom = b.re * ratio + b.im;
    return (Cpx){(a.re * ratio + a.im) / denom, (a.im * ratio - a.re) / denom};
}

static Cpx complex_reference(const char *op, Cpx a, Cpx b) {
    if (strcmp(op, "add") == 0) return (Cpx){a.re + b.re, a.im + b.im};
    if (strcmp(op, "sub") == 0) return (Cpx){a.re - b.re, a.im - b.im};
    if (strcmp(op, "mul") == 0) return (Cpx){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return complex_quotient(a, b);
}

static void test_FLT_11_complex_ops(void) {
    static const char *const ops[] = {"add", "sub", "mul", "div"};
    static const Cpx values[] = {
        {0, 0},        {1, 0},    {0, 1},      {-2, 3}, {1e308, 1e308}, {1e-308, -1e-300},
        {INFINITY, 1}, {2, -0.5}, {-0.0, 0.0}, {3, 4}};
    for (int l = 0; l < countof(levels); l++)
        for (int o = 0; o < countof(ops); o++) {
            char text[512];
            snprintf(text, sizeof text,
                     "func @f(a: c128, b: c128) -> c128 typed {\nb0:\n  %%1: c128 = param 0\n"
                     "  %%2: c128 = param 1\n  %%3: c128 = %s %%1, %%2\n  return %%3\n}\n",
                     ops[o]);
            Artifact *artifact = cg_host(text, levels[l]);
            CHECK(artifact != NULL);
            for (int i = 0; artifact && i < countof(values); i++)
                for (int k = 0; k < countof(values); k++) {
                    Cpx a = values[i], b = values[k], r, want = complex_reference(ops[o], a, b);
                    CallContext ctx;
                    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
                    bool ok = same_float(r.re, want.re) && same_float(r.im, want.im);
                    if (!ok)
                        printf("%s (%g,%g) (%g,%g): (%g,%g) not (%g,%g)\n", ops[o], a.re, a.im,
                               b.re, b.im, r.re, r.im, want.re, want.im);
                    CHECK(ok);
                }
            artifact_release(artifact);
        }
}

static void test_bool_ops(void) {
    static const char *const ops[] = {"and", "or", "xor"};
    for (int o = 0; o < countof(ops); o++) {
        char text[256];
        snprintf(text, sizeof text,
                 "func @f(a: bool, b: bool) -> bool typed {\nb0:\n  %%1: bool = param 0\n  %%2: "
                 "bool = param 1\n"
                 "  %%3: bool = %s %%1, %%2\n  %%4: bool = not %%3\n  return %%4\n}\n",
                 ops[o]);
        Artifact *artifact = cg_host(text, 3);
        CHECK(artifact != NULL);
        for (int k = 0; artifact && k < 4; k++) {
            uint8_t a = k & 1, b = k >> 1, r = 9;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
            CHECK_INT(r, !(o == 0 ? a & b : o == 1 ? a | b : a ^ b));
        }
        artifact_release(artifact);
    }
}

int main(void) {
    RUN(test_INT_02_03_04_07_11_12_integer_ops);
    RUN(test_INT_02_constant_operands);
    RUN(test_FLT_10_float_ops);
    RUN(test_INT_15_compare_all_types);
    RUN(test_INT_19_FLT_07_casts);
    RUN(test_FLT_11_complex_ops);
    RUN(test_bool_ops);
    return check_report();
}
