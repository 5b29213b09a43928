/* test_codegen_array.c - arrays in compiled code: every layout and element type, views, allocation and
 * ownership, frozen arrays, atomics, ufunc loops, kernels on the cpu device, usage of arguments. */
#include "codegen/support.h"
#include "tests/unit/cg_test.h"
#include <math.h>

typedef struct Arr3 { /* room for three axes */
    void *data;
    Owner *owner;
    int64_t dims[6];
} Arr3;

static Arr3 array1(void *data, int64_t n, int64_t stride) {
    return (Arr3){.data = data, .dims = {n, stride}};
}
static Arr3 array2(void *data, int64_t n, int64_t m, int64_t s, int64_t t) {
    return (Arr3){.data = data, .dims = {n, m, s, t}};
}

/* -- loads and stores ------------------------------------------------------------------------- */

/* out[j, i] = in[i, j] for all layouts; n, m <= 4 */
static void check_layouts(char from, char to, int level) {
    char text[2048];
    snprintf(text, sizeof text,
             "func @f(x: array(i32, 2, %c), y: array(i32, 2, %c), i: i64, j: i64) -> i32 typed {\n"
             "b0:\n"
             "  %%1: array(i32, 2, %c) = param 0\n"
             "  %%2: array(i32, 2, %c) = param 1\n"
             "  %%3: i64 = param 2\n"
             "  %%4: i64 = param 3\n"
             "  %%5: i32 = load %%1, %%3, %%4\n"
             "  store %%2, %%4, %%3, %%5\n"
             "  %%6: i64 = stride %%1 axis 0\n"
             "  %%7: i64 = shape %%1 axis 1\n"
             "  %%8: i64 = add %%6, %%7\n"
             "  %%9: i32 = cast %%8\n"
             "  return %%9\n"
             "}\n",
             from, to, from, to);
    Artifact *artifact = cg_host(text, level);
    CHECK(artifact != NULL);
    int32_t x[64], y[64];
    for (int k = 0; k < 64; k++)
        x[k] = 100 + k, y[k] = 0;
    int64_t n = 3, m = 4;
    /* 'A': every second element of rows of twelve, upside down */
    Arr3 ax = from == 'C'   ? array2(x, n, m, 4 * m, 4)
              : from == 'F' ? array2(x, n, m, 4, 4 * n)
                            : array2(x + 24, n, m, -48, 8);
    Arr3 ay = to == 'C'   ? array2(y, m, n, 4 * n, 4)
              : to == 'F' ? array2(y, m, n, 4, 4 * m)
                          : array2(y + 36, m, n, -48, 12);
    for (int64_t i = 0; artifact && i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            int32_t r = 0;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&ax, &ay, &i, &j}, &r), CALL_OK);
            CHECK_INT(r, ax.dims[2] + m);
            int32_t *in = (int32_t *)((char *)ax.data + i * ax.dims[2] + j * ax.dims[3]);
            int32_t *out = (int32_t *)((char *)ay.data + j * ay.dims[2] + i * ay.dims[3]);
            CHECK_INT(*out, *in);
        }
    CHECK(artifact && artifact->usage[0] == ARG_READ && artifact->usage[1] == ARG_WRITTEN);
    artifact_release(artifact);
}

static void test_layouts(void) {
    for (int level = 0; level <= 3; level += 3)
        for (const char *a = "CFA"; *a; a++)
            for (const char *b = "CFA"; *b; b++)
                check_layouts(*a, *b, level);
}

static void test_element_types(void) {
    static const struct {
        const char *name;
        int size;
    } types[] = {{"bool", 1}, {"i8", 1},  {"u16", 2}, {"i32", 4},  {"u64", 8},
                 {"f32", 4},  {"f64", 8}, {"c64", 8}, {"c128", 16}};
    for (int t = 0; t < countof(types); t++)
        for (int unaligned = 0; unaligned < 2; unaligned++) {
            char text[1024], type[64];
            snprintf(type, sizeof type, "array(%s, 1, A%s)", types[t].name,
                     unaligned ? ", unaligned" : "");
            snprintf(text, sizeof text,
                     "func @f(x: %s, i: i64, j: i64) -> none typed {\nb0:\n  %%1: %s = param 0\n"
                     "  %%2: i64 = param 1\n  %%3: i64 = param 2\n  %%4: %s = load %%1, %%2\n"
                     "  store %%1, %%3, %%4\n  %%5: none = const none\n  return %%5\n}\n",
                     type, type, types[t].name);
            Artifact *artifact = cg_host(text, 3);
            CHECK(artifact != NULL);
            _Alignas(16) char bytes[256];
            int size = types[t].size, shift = unaligned;
            for (int k = 0; k < 256; k++)
                bytes[k] = (char)(t == 0 ? k % 2 : k * 7 + 3);
            char want[256];
            memcpy(want, bytes, sizeof want);
            int64_t i = 5, j = 2, step = size + unaligned;
            memmove(want + shift + j * step, want + shift + i * step, (size_t)size);
            Arr3 x = array1(bytes + shift, 8, step);
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &i, &j}, NULL), CALL_OK);
            CHECK(memcmp(bytes, want, sizeof want) == 0);
            artifact_release(artifact);
        }
}

/* Any byte but 0 is true when a bool is loaded. */
static void test_bool_bytes(void) {
    Artifact *artifact = cg_host("func @f(x: array(bool, 1, C)) -> i64 typed {\nb0:\n"
                                 "  %1: array(bool, 1, C) = param 0\n  %2: i64 = const 0\n"
                                 "  %3: bool = load %1, %2\n  %4: i64 = cast %3\n  return %4\n}\n",
                                 3);
    CHECK(artifact != NULL);
    static const uint8_t bytes[] = {0, 1, 2, 255};
    for (int k = 0; k < 4; k++) {
        uint8_t b = bytes[k];
        Arr3 x = array1(&b, 1, 1);
        int64_t r;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x}, &r), CALL_OK);
        CHECK_INT(r, b != 0);
    }
    artifact_release(artifact);
}

/* -- views ------------------------------------------------------------------------------------ */

/* x[i, start::step, newaxis, :] as result: a view that carries the owner of x */
static void test_views(void) {
    static const char text[] = "func @f(x: array(f64, 3, C), i: i64, start: i64, step: i64, count: "
                               "i64) -> array(f64, 3, A) typed {\n"
                               "b0:\n"
                               "  %1: array(f64, 3, C) = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = param 2\n"
                               "  %4: i64 = param 3\n"
                               "  %5: i64 = param 4\n"
                               "  %6: array(f64, 3, A) = view \"isnf\" %1, %2, %3, %4, %5\n"
                               "  %7: array(f64, 3, A) = transpose %6\n"
                               "  retain %7\n"
                               "  return %7\n"
                               "}\n";
    for (int level = 0; level <= 3; level += 3) {
        Artifact *artifact = cg_host(text, level);
        CHECK(artifact != NULL);
        double data[2 * 5 * 3];
        Owner owner = {.refs = 10};
        Arr3 x = {data, &owner, {2, 5, 3, 120, 24, 8}}, r;
        int64_t i = 1, start = 4, step = -2, count = 3;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &i, &start, &step, &count}, &r), CALL_OK);
        CHECK(r.data == (char *)data + 120 + 4 * 24);
        CHECK(r.owner == &owner);
        CHECK_INT(r.dims[0], 3);
        CHECK_INT(r.dims[1], 1);
        CHECK_INT(r.dims[2], 3);
        CHECK_INT(r.dims[3], 8);
        CHECK_INT(r.dims[5], -48);
        CHECK(atomic_load(&owner.refs) > 10); /* the pass and the text both count */
        CHECK(artifact->usage[0] == (ARG_READ | ARG_WRITTEN)); /* it escapes */
        artifact_release(artifact);
    }
}

static void test_same_array(void) {
    Artifact *artifact =
        cg_host("func @f(x: array(f32, 1, C), y: array(f32, 1, A)) -> bool typed {\nb0:\n"
                "  %1: array(f32, 1, C) = param 0\n  %2: array(f32, 1, A) = param 1\n"
                "  %3: bool = same_array %1, %2\n  return %3\n}\n",
                3);
    CHECK(artifact != NULL);
    float data[8];
    Owner o1, o2;
    Arr3 x = {data, &o1, {4, 4}}, rows[] = {{data, &o1, {4, 4}},
                                            {data, &o2, {4, 4}},
                                            {data, &o1, {3, 4}},
                                            {data, &o1, {4, 8}},
                                            {data + 1, &o1, {4, 4}}};
    for (int k = 0; k < countof(rows); k++) {
        uint8_t r = 9;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &rows[k]}, &r), CALL_OK);
        CHECK_INT(
            r,
            k <=
                1); /* each argument has an owner of its own, also where one array is passed twice */
    }
    CHECK_INT(artifact->usage[0], 0);
    artifact_release(artifact);
}

/* Windows of one buffer: shape and stride of x (any layout), offsets in elements. */
static void test_disjoint(void) {
    Artifact *artifact = cg_host(
        "func @f(x: array(f32, 1, A), y: array(f64, 1, C), z: array(f32, 2, F)) -> i64 typed "
        "{\nb0:\n  %1: array(f32, 1, A) = param 0\n  %2: array(f64, 1, C) = param 1\n"
        "  %3: array(f32, 2, F) = param 2\n  %4: bool = disjoint %1, %2\n"
        "  %5: bool = disjoint %3, %1\n  %6: i64 = const 1\n  %7: i64 = cast %4\n"
        "  %8: i64 = cast %5\n  %9: i64 = shl %8, %6\n  %10: i64 = or %7, %9\n"
        "  return %10\n}\n",
        3);
    CHECK(artifact != NULL);
    float data[64];
    Owner owner;
    /* y: bytes 80 to 112 (elements 20 to 27); z: elements 40 to 51 */
    Arr3 y = {data + 20, &owner, {4}}, z = {data + 40, &owner, {3, 4}};
    static const struct {
        int at;
        int64_t n, stride, answer;
    } rows[] = {{10, 10, 4, 3},  {10, 11, 4, 2},  {28, 12, 4, 3},   {27, 12, 4, 2},
                {28, 13, 4, 1},  {52, 5, 4, 3},   {51, 5, 4, 1},    {39, 12, -4, 3},
                {39, 13, -4, 2}, {40, 12, -4, 1}, {63, 12, -4, 3},  {63, 13, -4, 1},
                {19, 2, 84, 0},  {19, 2, 128, 0}, {30, 100, 0, 3},  {24, 100, 0, 2},
                {24, 0, 4, 3},   {24, 0, -4, 3},  {63, 2, -92, 1},  {0, 2, 160, 0},
                {0, 64, 4, 0},   {63, 64, -4, 0}, {19, 0, 4000, 3}, {23, 1, -4000, 2}};
    for (int k = 0; k < countof(rows); k++) {
        Arr3 x = {data + rows[k].at, &owner, {rows[k].n, rows[k].stride}};
        int64_t r = 9;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &y, &z}, &r), CALL_OK);
        CHECK_INT(r, rows[k].answer);
        Arr3 empty = {data + 22, &owner, {0}}, thin = {data + 41, &owner, {3, 0}};
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &empty, &thin}, &r), CALL_OK);
        CHECK_INT(r, 3);
    }
    for (int k = 0; k < 3; k++)
        CHECK_INT(artifact->usage[k], 0); /* it looks at no element */
    artifact_release(artifact);
}

/* The address sanitizer's malloc ends the program where others say NULL. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

/* -- allocation ------------------------------------------------------------------------------- */

static const char alloc_text[] = "func @f(n: i64, m: i64) -> array(f64, 2, C) typed {\n"
                                 "b0:\n"
                                 "  %1: i64 = param 0\n"
                                 "  %2: i64 = param 1\n"
                                 "  %3: array(f64, 2, C) = alloc zeroed %1, %2\n"
                                 "  return %3\n"
                                 "}\n";

static void test_allocation(void) {
    for (int level = 0; level <= 3; level += 3) {
        Artifact *artifact = cg_host(alloc_text, level);
        CHECK(artifact != NULL);
        int64_t n = 3, m = 5, live = support_live_arrays();
        Arr3 r;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&n, &m}, &r), CALL_OK);
        CHECK_INT(support_live_arrays(), live + 1);
        CHECK((uintptr_t)r.data % SUPPORT_SMALL_ALIGN == 0);
        CHECK_INT(r.dims[0], 3);
        CHECK_INT(r.dims[1], 5);
        CHECK_INT(r.dims[2], 40);
        CHECK_INT(r.dims[3], 8);
        for (int k = 0; k < 15; k++)
            CHECK(((double *)r.data)[k] == 0.0);
        CHECK_INT(r.owner->refs, 1);
        quern_release(r.owner);
        for (n = 1; n <= 40; n += 13) {
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&n, &m}, &r), CALL_OK);
            int align = n * m * 8 > SUPPORT_SMALL_ARRAY ? SUPPORT_ARRAY_ALIGN : SUPPORT_SMALL_ALIGN;
            CHECK((uintptr_t)r.data % (uintptr_t)align == 0);
            CHECK(((double *)r.data)[n * m - 1] == 0.0);
            quern_release(r.owner);
        }
        CHECK_INT(support_live_arrays(), live);
        static const struct {
            int64_t n, m;
            int guard;
        } bad[] = {
            {-1, 5, GUARD_negative_dimension},       {INT64_MAX, 2, GUARD_too_large},
            {1ll << 40, 1ll << 40, GUARD_too_large}, {1ll << 58, 1, GUARD_memory},
            {(1ll << 60), 1, GUARD_too_large},       {3, INT64_MIN, GUARD_negative_dimension}};
        for (int k = 0; k < countof(bad); k++) {
            n = bad[k].n, m = bad[k].m;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&n, &m}, &r), CALL_EXCEPTION);
            CHECK_INT(ctx.exception, -1 - bad[k].guard);
        }
        CHECK_INT(support_live_arrays(), live);
        artifact_release(artifact);
    }
}

/* A temporary array is freed on the normal way out and when something raises (EXC: no leaks). */
static void test_temporaries_are_released(void) {
    static const char text[] = "func @f(n: i64, i: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: array(i64, 1, C) = alloc zeroed %1\n"
                               "  %4: i64 = check_index %2, %1 axis 0\n"
                               "  store %3, %4, %4\n"
                               "  %5: i64 = load %3, %4\n"
                               "  return %5\n"
                               "}\n";
    for (int level = 0; level <= 3; level += 3) {
        Artifact *artifact = cg_host(text, level);
        CHECK(artifact != NULL);
        int64_t live = support_live_arrays();
        for (int64_t n = 8, i = 0; i < 12; i++) {
            int64_t r = -1;
            CallContext ctx;
            int status = cg_call(artifact, &ctx, (void *[]){&n, &i}, &r);
            CHECK_INT(status, i < n ? CALL_OK : CALL_EXCEPTION);
            if (i < n) CHECK_INT(r, i);
        }
        CHECK_INT(support_live_arrays(), live);
        artifact_release(artifact);
    }
}

static void test_frozen(void) {
    Artifact *artifact =
        cg_host("func @f(i: i64) -> i32 typed {\nb0:\n  %1: i64 = param 0\n"
                "  %2: array(i32, 1, C, readonly) = frozen \"table\" shape(3) bytes "
                "\"010000000a000000ffffffff\"\n"
                "  %3: i32 = load %2, %1\n  return %3\n}\n",
                3);
    CHECK(artifact != NULL);
    static const int32_t want[] = {1, 10, -1};
    for (int64_t i = 0; artifact && i < 3; i++) {
        int32_t r;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&i}, &r), CALL_OK);
        CHECK_INT(r, want[i]);
    }
    artifact_release(artifact);
}

/* -- atomics ---------------------------------------------------------------------------------- */

static Artifact *atomic_function(const char *op, const char *type, bool two) {
    char text[1024];
    snprintf(text, sizeof text,
             "func @f(x: array(%s, 1, C), v: %s, w: %s) -> %s typed {\nb0:\n"
             "  %%1: array(%s, 1, C) = param 0\n  %%2: %s = param 1\n  %%3: %s = param 2\n"
             "  %%4: i64 = const 0\n  %%5: %s = atomic.%s %%1, %%4, %%2%s\n  return %%5\n}\n",
             type, type, type, type, type, type, type, type, op, two ? ", %3" : "");
    return cg_host(text, 3);
}

static void check_atomic_int(const char *op, int32_t old, int32_t v, int32_t w, int32_t want) {
    Artifact *artifact = atomic_function(op, "i32", strcmp(op, "cas") == 0);
    CHECK(artifact != NULL);
    int32_t cell = old, r;
    Arr3 x = array1(&cell, 1, 4);
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &v, &w}, &r), CALL_OK);
    CHECK_INT(r, old);
    CHECK_INT(cell, want);
    artifact_release(artifact);
}

static void check_atomic_uint(const char *op, uint32_t old, uint32_t v, uint32_t want) {
    Artifact *artifact = atomic_function(op, "u32", false);
    CHECK(artifact != NULL);
    uint32_t cell = old, r;
    Arr3 x = array1(&cell, 1, 4);
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &v, &v}, &r), CALL_OK);
    CHECK_INT(r, old);
    CHECK_INT(cell, want);
    artifact_release(artifact);
}

static void check_atomic_float(const char *op, double old, double v, double want) {
    Artifact *artifact = atomic_function(op, "f64", false);
    CHECK(artifact != NULL);
    double cell = old, r;
    Arr3 x = array1(&cell, 1, 8);
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &v, &v}, &r), CALL_OK);
    CHECK(r == old || (isnan(r) && isnan(old)));
    CHECK(cell == want || (isnan(cell) && isnan(want)));
    artifact_release(artifact);
}

static void test_atomics(void) {
    check_atomic_int("add", 5, -7, 0, -2);
    check_atomic_int("sub", 5, 7, 0, -2);
    check_atomic_int("and", 12, 10, 0, 8);
    check_atomic_int("or", 12, 10, 0, 14);
    check_atomic_int("xor", 12, 10, 0, 6);
    check_atomic_int("exch", 12, 10, 0, 10);
    check_atomic_int("max", -5, 3, 0, 3);
    check_atomic_int("min", -5, 3, 0, -5);
    check_atomic_int("cas", 4, 4, 9, 9);
    check_atomic_int("cas", 4, 5, 9, 4);
    check_atomic_uint("max", 0x80000000u, 3, 0x80000000u);
    check_atomic_uint("inc", 3, 7, 4);
    check_atomic_uint("inc", 7, 7, 0);
    check_atomic_uint("dec", 0, 7, 7);
    check_atomic_uint("dec", 9, 7, 7);
    check_atomic_uint("dec", 5, 7, 4);
    check_atomic_float("add", 1.5, 2.0, 3.5);
    check_atomic_float("sub", 1.5, 2.0, -0.5);
    check_atomic_float("max", 1.5, 2.0, 2.0);
    check_atomic_float("min", 1.5, 2.0, 1.5);
    check_atomic_float("max", NAN, 2.0, NAN);
    check_atomic_float("max", 2.0, NAN, 2.0);
    check_atomic_float("nanmax", NAN, 2.0, 2.0);
    check_atomic_float("nanmin", 2.0, NAN, 2.0);
    check_atomic_float("nanmin", NAN, NAN, NAN);
}

/* -- ufuncs ----------------------------------------------------------------------------------- */

static void test_ufunc_loops(void) {
    static const char text[] = "func @f(a: f32, b: i32) -> f32 typed {\nb0:\n  %1: f32 = param 0\n"
                               "  %2: i32 = param 1\n  %3: f32 = cast %2\n  %4: f32 = mul %1, %3\n"
                               "  return %4\n}\n";
    CompileOptions options = {.opt_level = 3, .entry = ENTRY_UFUNC};
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    UfuncEntry loop;
    memcpy(&loop, &artifact->entry, sizeof loop);
    static const int64_t steps[][3] = {{4, 4, 4},  {4, 4, 4},  {0, 4, 4}, {4, 0, 4},
                                       {8, 4, 12}, {-4, 4, 4}, {4, 4, 8}};
    for (int s = 0; s < countof(steps); s++) { /* the first one is said by having none */
        float a[300], out[300];
        int32_t b[300];
        int64_t n = 99;
        for (int k = 0; k < 300; k++)
            a[k] = 0.5f * (float)k, b[k] = 3 * k - 50, out[k] = -1;
        char *start = (char *)(a + (steps[s][0] < 0 ? 99 : 0));
        char *args[] = {start, (char *)b, (char *)out};
        CallContext ctx = {0};
        CHECK_INT(loop(&ctx, args, n, s == 0 ? NULL : steps[s]), CALL_OK);
        for (int k = 0; k < n; k++) {
            float x;
            int32_t y;
            float z;
            memcpy(&x, start + k * steps[s][0], 4);
            memcpy(&y, (char *)b + k * steps[s][1], 4);
            memcpy(&z, (char *)out + k * steps[s][2], 4);
            CHECK(z == x * (float)y);
        }
        CHECK(out[steps[s][2] / 4 * (n - 1) + 1] == -1); /* nothing behind the end */
    }
    artifact_release(artifact);
}

/* In place, without steps; and with steps each element is computed behind the one before, which it may read. */
static void test_ufunc_memory(void) {
    static const char text[] = "func @f(a: f64, b: f64) -> f64 typed {\nb0:\n  %1: f64 = param 0\n"
                               "  %2: f64 = param 1\n  %3: f64 = add %1, %2\n  return %3\n}\n";
    CompileOptions options = {.opt_level = 3, .entry = ENTRY_UFUNC};
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    UfuncEntry loop;
    memcpy(&loop, &artifact->entry, sizeof loop);
    enum { N = 1001 };
    static double a[N], sums[N];
    static const int64_t steps[] = {8, 8, 8};
    CallContext ctx = {0};
    for (int k = 0; k < N; k++)
        a[k] = k, sums[k] = 1;
    CHECK_INT(loop(&ctx, (char *[]){(char *)a, (char *)a, (char *)a}, N, NULL), CALL_OK);
    for (int k = 0; k < N; k++)
        CHECK(a[k] == 2.0 * k);
    char *before[] = {(char *)sums, (char *)(a + 1), (char *)(sums + 1)};
    CHECK_INT(loop(&ctx, before, N - 1, steps), CALL_OK);
    for (int k = 0; k < N; k++)
        CHECK(sums[k] == 1 + (double)k * (k + 1));
    artifact_release(artifact);
}

static void test_ufunc_error(void) {
    static const char text[] =
        "func @f(a: i64) -> i64 typed {\nb0:\n  %1: i64 = param 0\n  %2: i64 = const 0\n"
        "  %3: bool = lt %1, %2\n  guard.negative_shift %3\n  return %1\n}\n";
    CompileOptions options = {.opt_level = 3, .entry = ENTRY_UFUNC};
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    UfuncEntry loop;
    memcpy(&loop, &artifact->entry, sizeof loop);
    int64_t in[] = {1, 2, -3, 4}, out[4] = {0}, steps[] = {8, 8};
    CallContext ctx = {0};
    CHECK_INT(loop(&ctx, (char *[]){(char *)in, (char *)out}, 4, steps), CALL_EXCEPTION);
    CHECK_INT(ctx.exception, -1 - GUARD_negative_shift);
    CHECK(out[1] == 2 && out[3] == 0);
    artifact_release(artifact);
}

static double ulps(double got, double want) {
    if (got == want || (isnan(got) && isnan(want))) return 0;
    double unit = nextafter(fabs(want), INFINITY) - fabs(want);
    return fabs(got - want) / unit;
}

/* FLT-17: vector mathematics stays within 4 ULP of libm, ends of loops and special values included. */
static void test_FLT_17_vector_mathematics(void) {
    static const struct {
        const char *name;
        double (*reference)(double);
    } rows[] = {{"math.sin", sin},
                {"math.cos", cos},
                {"math.exp", exp},
                {"math.log", log},
                {"math.tanh", tanh}};
    for (int r = 0; r < countof(rows); r++)
        for (int scalar = 0; scalar < 2; scalar++) {
            char text[256];
            snprintf(text, sizeof text,
                     "func @f(a: f64) -> f64 typed {\nb0:\n  %%1: f64 = param 0\n"
                     "  %%2: f64 = lib \"%s\" (%%1)\n  return %%2\n}\n",
                     rows[r].name);
            CompileOptions options = {
                .opt_level = 3, .entry = ENTRY_UFUNC, .keep_text = true, .no_vector_math = scalar};
            Artifact *artifact = cg_compile(text, &options);
            CHECK(artifact != NULL);
            bool vector = strstr(artifact->text_asm.bytes, "_ZGV") != NULL;
            CHECK(scalar ? !vector : vector || !support_vector_symbol("_ZGVbN2v_sin"));
            enum { N = 1003 };
            static double in[N], out[N];
            for (int k = 0; k < N; k++)
                in[k] = (k - 400) * 0.37 + k * 1e-7;
            in[1] = INFINITY, in[2] = NAN, in[3] = -INFINITY, in[4] = 5e-324, in[5] = 1e300,
            in[1002] = -0.0;
            UfuncEntry loop;
            memcpy(&loop, &artifact->entry, sizeof loop);
            CallContext ctx = {0};
            int64_t steps[] = {8, 8};
            CHECK_INT(loop(&ctx, (char *[]){(char *)in, (char *)out}, N, steps), CALL_OK);
            double worst = 0;
            for (int k = 0; k < N; k++)
                worst = fmax(worst, ulps(out[k], rows[r].reference(in[k])));
            if (worst > (scalar ? 0 : 4)) printf("%s: %g ULP\n", rows[r].name, worst);
            CHECK(worst <= (scalar ? 0 : 4));
            artifact_release(artifact);
        }
}

/* -- kernels on the cpu device ---------------------------------------------------------------- */

/* out[blockIdx.y * gridDim.x + blockIdx.x, threadIdx.x] = blockDim.x * 1000 + threadIdx.y */
static void test_kernel_loops(void) {
    static const char text[] = "func @k(out: array(i64, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: i64 = lib \"cuda.threadIdx.x\" ()\n"
                               "  %3: i64 = lib \"cuda.threadIdx.y\" ()\n"
                               "  %4: i64 = lib \"cuda.blockDim.x\" ()\n"
                               "  %5: i64 = lib \"cuda.blockDim.y\" ()\n"
                               "  %6: i64 = call @block ()\n"
                               "  %7: i64 = mul %6, %5\n"
                               "  %8: i64 = add %7, %3\n"
                               "  %9: i64 = mul %8, %4\n"
                               "  %10: i64 = add %9, %2\n"
                               "  %11: i64 = atomic.add %1, %10, %10\n"
                               "  %12: none = const none\n"
                               "  return %12\n"
                               "}\n"
                               "func @block() -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = lib \"cuda.blockIdx.x\" ()\n"
                               "  %2: i64 = lib \"cuda.blockIdx.y\" ()\n"
                               "  %3: i64 = lib \"cuda.gridDim.x\" ()\n"
                               "  %4: i64 = mul %2, %3\n"
                               "  %5: i64 = add %4, %1\n"
                               "  return %5\n"
                               "}\n";
    for (int level = 0; level <= 3; level += 3) {
        CompileOptions options = {.opt_level = level, .entry = ENTRY_KERNEL};
        Artifact *artifact = cg_compile(text, &options);
        CHECK(artifact != NULL);
        if (!artifact) return;
        KernelEntry kernel;
        memcpy(&kernel, &artifact->entry, sizeof kernel);
        int64_t out[6 * 12] = {0};
        Arr3 x = array1(out, countof(out), 8);
        KernelGrid grid = {.grid = {3, 2, 1}, .block = {4, 3, 1}};
        CallContext ctx = {0};
        grid.first = 0, grid.last = 4; /* two workers */
        CHECK_INT(kernel(&ctx, (void *[]){&x}, &grid), CALL_OK);
        CHECK_INT(out[4 * 12], 0);
        grid.first = 4, grid.last = 6;
        CHECK_INT(kernel(&ctx, (void *[]){&x}, &grid), CALL_OK);
        for (int k = 0; k < countof(out); k++)
            CHECK_INT(out[k], k);
        CHECK(artifact->usage[0] == (ARG_READ | ARG_WRITTEN));
        artifact_release(artifact);
    }
}

static void test_kernel_shared_memory(void) {
    static const char text[] = "func @k(out: array(i64, 1, C)) -> none typed {\n"
                               "b0:\n"
                               "  %1: array(i64, 1, C) = param 0\n"
                               "  %2: array(i64, 1, C, shared) = static_array tuple(5)\n"
                               "  %3: array(f32, 2, C, shared) = static_array tuple(3, 3)\n"
                               "  %4: array(i16, 1, C, shared) = dynamic_shared\n"
                               "  %5: array(i64, 1, C, local) = static_array tuple(2)\n"
                               "  %6: i64 = const 1\n"
                               "  %7: i64 = const 4\n"
                               "  store %2, %7, %7\n"
                               "  store %5, %6, %7\n"
                               "  %8: f32 = const 2.5\n"
                               "  %9: i64 = const 2\n"
                               "  store %3, %9, %9, %8\n"
                               "  %10: i64 = shape %4 axis 0\n"
                               "  %11: i16 = const 77\n"
                               "  %12: i64 = sub %10, %6\n"
                               "  store %4, %12, %11\n"
                               "  %13: i64 = load %2, %7\n"
                               "  %14: i64 = load %5, %6\n"
                               "  %15: i64 = add %13, %14\n"
                               "  %16: i64 = const 0\n"
                               "  store %1, %16, %15\n"
                               "  store %1, %6, %10\n"
                               "  %17: none = const none\n"
                               "  return %17\n"
                               "}\n";
    CompileOptions options = {.opt_level = 3, .entry = ENTRY_KERNEL};
    Artifact *artifact = cg_compile(text, &options);
    CHECK(artifact != NULL);
    if (!artifact) return;
    KernelEntry kernel;
    memcpy(&kernel, &artifact->entry, sizeof kernel);
    CHECK(artifact->shared_bytes >= 5 * 8 + 36 && artifact->shared_bytes % 64 == 0);
    CHECK(artifact->uses_dynamic_shared);
    _Alignas(64) char shared[512] = {0};
    int64_t out[2] = {0};
    Arr3 x = array1(out, 2, 8);
    KernelGrid grid = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .last = 1, .shared = shared, .dynamic_shared = 20};
    CallContext ctx = {0};
    CHECK_INT(kernel(&ctx, (void *[]){&x}, &grid), CALL_OK);
    CHECK_INT(out[0], 8);
    CHECK_INT(out[1], 10);
    int16_t last;
    memcpy(&last, shared + artifact->shared_bytes + 18, 2);
    CHECK_INT(last, 77);
    artifact_release(artifact);
}

/* -- usage ------------------------------------------------------------------------------------ */

static void test_usage_through_calls_views_and_tuples(void) {
    static const char text[] = "func @f(a: array(f64, 1, C), b: array(f64, 1, C), c: array(f64, 1, "
                               "C), d: array(f64, 1, C)) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: array(f64, 1, C) = param 0\n"
                               "  %2: array(f64, 1, C) = param 1\n"
                               "  %3: array(f64, 1, C) = param 2\n"
                               "  %4: array(f64, 1, C) = param 3\n"
                               "  %5: tuple(array(f64, 1, C), array(f64, 1, C)) = tuple %1, %2\n"
                               "  %6: i64 = const 0\n"
                               "  %7: i64 = const 1\n"
                               "  %8: array(f64, 1, A) = view \"s\" %3, %6, %7, %7\n"
                               "  %9: none = call @g (%5, %8)\n"
                               "  %10: i64 = shape %4 axis 0\n"
                               "  return %10\n"
                               "}\n"
                               "func @g(t: tuple(array(f64, 1, C), array(f64, 1, C)), v: "
                               "array(f64, 1, A)) -> none typed {\n"
                               "b0:\n"
                               "  %1: tuple(array(f64, 1, C), array(f64, 1, C)) = param 0\n"
                               "  %2: array(f64, 1, A) = param 1\n"
                               "  %3: array(f64, 1, C) = item %1 at 0\n"
                               "  %4: i64 = const 0\n"
                               "  %5: f64 = load %3, %4\n"
                               "  store %2, %4, %5\n"
                               "  %6: none = const none\n"
                               "  return %6\n"
                               "}\n";
    Artifact *artifact = cg_host(text, 3);
    CHECK(artifact != NULL);
    CHECK_INT(artifact->usage[0], ARG_READ);
    CHECK_INT(artifact->usage[1], 0); /* the other item of the tuple */
    CHECK_INT(artifact->usage[2], ARG_WRITTEN);
    CHECK_INT(artifact->usage[3], 0);
    artifact_release(artifact);
}

/* Of a tuple in a tuple: item 0 is read, item 1 written, one of the inner two is written by way of a phi. */
static void test_usage_of_each_array_of_a_tuple(void) {
    static const char text[] =
        "func @f(t: tuple(array(f64, 1, C), i64, array(f64, 1, C), tuple(array(f64, 1, C), "
        "array(f64, 1, C))), c: bool) -> none typed {\n"
        "b0:\n"
        "  %1: tuple(array(f64, 1, C), i64, array(f64, 1, C), tuple(array(f64, 1, C), "
        "array(f64, 1, C))) = param 0\n"
        "  %2: bool = param 1\n"
        "  %3: array(f64, 1, C) = item %1 at 0\n"
        "  %4: i64 = const 0\n"
        "  %5: f64 = load %3, %4\n"
        "  %6: array(f64, 1, C) = item %1 at 2\n"
        "  %7: tuple(array(f64, 1, C), array(f64, 1, C)) = item %1 at 3\n"
        "  %8: array(f64, 1, C) = item %7 at 1\n"
        "  branch %2, b1, b2\n"
        "b1:\n"
        "  jump b2\n"
        "b2:\n"
        "  %9: array(f64, 1, C) = phi [%6, b0], [%8, b1]\n"
        "  store %9, %4, %5\n"
        "  %10: none = const none\n"
        "  return %10\n"
        "}\n";
    Artifact *artifact = cg_host(text, 3);
    CHECK(artifact != NULL);
    if (!artifact) return;
    const ValueLayout *items = artifact->params[0].items;
    CHECK_INT(items[0].usage, ARG_READ);
    CHECK_INT(items[2].usage, ARG_WRITTEN);
    CHECK_INT(items[3].items[0].usage, 0);
    CHECK_INT(items[3].items[1].usage, ARG_WRITTEN);
    CHECK_INT(artifact->usage[0], ARG_READ | ARG_WRITTEN);
    artifact_release(artifact);
}

int main(void) {
    RUN(test_layouts);
    RUN(test_element_types);
    RUN(test_bool_bytes);
    RUN(test_views);
    RUN(test_same_array);
    RUN(test_disjoint);
    RUN(test_allocation);
    RUN(test_temporaries_are_released);
    RUN(test_frozen);
    RUN(test_atomics);
    RUN(test_ufunc_loops);
    RUN(test_ufunc_memory);
    RUN(test_ufunc_error);
    RUN(test_FLT_17_vector_mathematics);
    RUN(test_kernel_loops);
    RUN(test_kernel_shared_memory);
    RUN(test_usage_through_calls_views_and_tuples);
    RUN(test_usage_of_each_array_of_a_tuple);
    return check_report();
}
