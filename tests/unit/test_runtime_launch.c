/* test_runtime_launch.c - launches with host arrays: shared ranges, views, failures, and which variant a
 * launch needs. The "kernels" are C functions that the null device calls with the packed parameters. */
#include "tests/unit/test_runtime.h"

#include <math.h>

static RtError err;

typedef struct Probe {
    Artifact artifact;
    ValueLayout params[30];
    uint8_t usage[30];
    KernelParam kernel_params[30];
} Probe;

static void add_param(Probe *p, ValueLayout layout, uint8_t usage) {
    int i = p->artifact.nparams++;
    p->params[i] = layout;
    p->params[i].usage = usage;
    p->usage[i] = usage;
    bool array = layout.kind == TY_ARRAY;
    KernelParam *k = &p->kernel_params[p->artifact.nkernel_params++];
    *k = (KernelParam){(uint16_t)i, array ? 8 : (uint16_t)layout.size, 0, 0, array, false};
    k->offset = (uint32_t)(i * 8);
    p->artifact.param_bytes = (i + 1) * 8;
}

static void probe_init(Probe *p) {
    memset(p, 0, sizeof *p);
    p->artifact.target = TARGET_NVPTX;
    p->artifact.entry_kind = ENTRY_KERNEL;
    p->artifact.name = STR("probe");
    p->artifact.params = p->params;
    p->artifact.usage = p->usage;
    p->artifact.kernel_params = p->kernel_params;
}

#define F64(ndim) ((ValueLayout)ARRAY_LAYOUT(f64, ndim))
#define I32(ndim) ((ValueLayout)ARRAY_LAYOUT(i32, ndim))
#define IN        ARG_READ
#define OUT       ARG_WRITTEN

static RtDevice *null_device(void) {
    RtDevice *d;
    CHECK_OK(d = rt_device(RT_NULL, 0, &err));
    return d;
}

static void end_of_test(void) {
    rt_null_kernel(NULL);
    rt_null_fail(NULL, 0, RT_OK);
    rt_shutdown();
    CHECK(rt_null_handles() == 0 && rt_null_used() == 0 && rt_host_bytes() == 0);
    rt_null_reset();
}

/* Parameter i of the packed buffer as a host pointer to device memory. */
static char *device_data(const char *params, int i) {
    uint64_t address;
    memcpy(&address, params + i * 8, 8);
    CHECK(address == 0 || address >> 60 == 1); /* never a host pointer */
    return address ? rt_null_pointer(address) : NULL;
}

static int64_t expect_n;
static int ran;

/* out[i] = a[i] + 1 for x[1:] = f(x[:-1]) */
static bool shift_kernel(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    double *out = (double *)device_data(params, 0), *a = (double *)device_data(params, 1);
    ran++;
    CHECK(out == a + 1); /* they share memory there, too */
    for (int64_t i = 0; i < expect_n; i++)
        out[i] = a[i] + 1;
    return true;
}

static bool launch_host(RtKernel *k, void **args, const uint32_t *host) {
    RtLaunch l = launch_of(k, 4, 32, args);
    l.host = host;
    rt_error_init(&err);
    return rt_launch(&l, &err);
}

static const uint32_t all_host[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void test_ALS_06_overlapping_views_are_one_range(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, F64(1), OUT);
    add_param(&p, F64(1), IN);
    RtKernel *k;
    CHECK_OK(k = rt_kernel(null_device(), &p.artifact, &err));
    double x[10] = {0};
    Packed out = packed_1d(x + 1, 9, 8), a = packed_1d(x, 9, 8);
    void *args[] = {&out, &a};
    expect_n = 9;
    rt_null_kernel(shift_kernel);
    CHECK(launch_host(k, args, all_host));
    for (int i = 0; i < 10; i++)
        CHECK(x[i] == i);
    CHECK(rt_null_calls("to_device") == 1 && rt_null_calls("to_host") == 1);
    CHECK(out.data == x + 1 && a.data == x); /* the packed arguments are as before */
    rt_kernel_release(k);
    end_of_test();
}

/* Sets every element of a 2-d int32 view, and scribbles over everything between. */
static int64_t scribble_shape[2], scribble_strides[2];
static bool scribble(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    char *data = device_data(params, 0);
    int64_t lo, hi;
    rt_extent(2, 4, scribble_shape, scribble_strides, &lo, &hi);
    memset(data + lo, 0x77, (size_t)(hi - lo));
    for (int64_t i = 0; i < scribble_shape[0]; i++)
        for (int64_t j = 0; j < scribble_shape[1]; j++)
            *(int32_t *)(data + i * scribble_strides[0] + j * scribble_strides[1]) =
                (int32_t)(i * 100 + j);
    ran++;
    return true;
}

static void test_CUH_10_views_leave_the_bytes_between_alone(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(2), OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    rt_null_kernel(scribble);
    /* {rows, columns, row step, column step, first}, in elements of a 20 x 20 matrix */
    int64_t views[][5] = {{20, 20, 20, 1, 0},   {10, 10, 40, 2, 0},    {5, 7, 20, 1, 42},
                          {7, 5, 1, 20, 42},    {20, 20, -20, 1, 380}, {20, 20, 20, -1, 19},
                          {3, 4, -41, -3, 150}, {1, 20, 999, 1, 7},    {20, 1, 20, 999, 7},
                          {20, 20, 1, 20, 0},   {2, 3, -20, -1, 60}};
    for (int v = 0; v < countof(views); v++) {
        static int32_t m[400];
        memset(m, 0, sizeof m);
        int64_t *w = views[v];
        Packed a = {m + w[4], NULL, {w[0], w[1], w[2] * 4, w[3] * 4}};
        memcpy(scribble_shape, a.dims, sizeof scribble_shape);
        memcpy(scribble_strides, a.dims + 2, sizeof scribble_strides);
        void *args[] = {&a};
        CHECK(launch_host(k, args, all_host));
        int32_t want[400] = {0};
        for (int64_t i = 0; i < w[0]; i++)
            for (int64_t j = 0; j < w[1]; j++)
                want[w[4] + i * w[2] + j * w[3]] = (int32_t)(i * 100 + j);
        CHECK(memcmp(m, want, sizeof m) == 0);
    }
    rt_kernel_release(k);
    end_of_test();
}

/* Writes 5 into the first element of each written parameter (0, 2), -1 into the read one. */
static bool write_both(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    *(int32_t *)device_data(params, 0) = 5;
    *(int32_t *)device_data(params, 1) = -1;
    *(int32_t *)device_data(params, 2) = 5;
    ran++;
    return true;
}

static void test_only_written_arrays_come_back(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), OUT);
    add_param(&p, I32(1), IN);
    add_param(&p, I32(1), IN | OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    rt_null_kernel(write_both);
    int32_t x[30] = {0}, y[10] = {0};
    /* x[0:10] written, x[5:15] only read (same range), y apart */
    Packed a = packed_1d(x, 10, 4), b = packed_1d(x + 12, 10, 4), c = packed_1d(y, 10, 4);
    void *args[] = {&a, &b, &c};
    CHECK(launch_host(k, args, all_host));
    CHECK(x[0] == 5 && x[12] == 0 && y[0] == 5);
    CHECK(rt_null_calls("to_device") == 3 && rt_null_calls("to_host") == 2);
    b = packed_1d(x + 5, 10, 4);
    CHECK(launch_host(k, args, all_host));
    CHECK(rt_null_calls("to_device") == 5 && rt_null_calls("to_host") == 4);
    CHECK(x[0] == 5 && x[5] == -1 && x[12] == 0); /* x[5] belongs to a, which is written */
    rt_kernel_release(k);
    end_of_test();
}

/* More than 4 MiB: with and without gaps, forwards and backwards. */
static bool fill_large(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    int64_t step = scribble_strides[0];
    char *data = device_data(params, 0);
    for (int64_t i = 0; i < scribble_shape[0]; i++)
        *(int32_t *)(data + i * step) = (int32_t)(i + 1);
    if (step == 8)
        for (int64_t i = 0; i < scribble_shape[0] - 1; i++)
            *(int32_t *)(data + i * step + 4) = -1;
    return true;
}

static void test_large_arrays(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    rt_null_kernel(fill_large);
    enum { LARGE = 3 << 20 };
    int64_t steps[] = {4, -4, 8};
    for (int s = 0; s < countof(steps); s++) {
        int32_t *m = calloc(LARGE, 4);
        int64_t n = steps[s] == 8 ? LARGE / 2 : LARGE, first = steps[s] < 0 ? LARGE - 1 : 0;
        Packed a = packed_1d(m + first, n, steps[s]);
        scribble_shape[0] = n;
        scribble_strides[0] = steps[s];
        void *args[] = {&a};
        CHECK(launch_host(k, args, all_host));
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; i++)
            wrong += m[first + i * steps[s] / 4] != (int32_t)(i + 1);
        for (int64_t i = 1; i < LARGE && steps[s] == 8; i += 2)
            wrong += m[i] != 0;
        CHECK(wrong == 0);
        free(m);
    }
    rt_kernel_release(k);
    end_of_test();
}

static void test_CUH_failures_leave_host_memory_alone(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), OUT);
    add_param(&p, I32(1), IN);
    add_param(&p, I32(1), OUT);
    for (int n = 1; n < 60; n++) {
        RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
        CHECK(k != NULL);
        rt_null_kernel(write_both);
        int before = rt_null_calls(NULL);
        rt_null_fail(NULL, before + n, RT_API_ERROR);
        int32_t x[10] = {0}, y[10] = {0}, z[10] = {0};
        Packed a = packed_1d(x, 10, 4), b = packed_1d(y, 10, 4), c = packed_1d(z, 5, 8);
        void *args[] = {&a, &b, &c};
        bool ok = launch_host(k, args, all_host);
        CHECK(ok == !rt_failed(&err));
        CHECK(a.data == x && b.data == y && c.data == z);
        if (ok)
            CHECK(x[0] == 5 && z[0] == 5);
        else
            CHECK(x[0] == 0 && y[0] == 0 && z[0] == 0);
        bool over = rt_null_calls(NULL) < before + n;
        rt_null_fail(NULL, 0, RT_OK);
        CHECK(launch_host(k, args, all_host) && x[0] == 5); /* the next call works */
        rt_kernel_release(k);
        end_of_test();
        if (over) {
            CHECK(n > 10);
            return;
        }
    }
    CHECK(!"the failures never ended");
}

static void test_read_only_arrays(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), IN);
    add_param(&p, I32(1), OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    int32_t x[4] = {0};
    Packed a = packed_1d(x, 2, 4), b = packed_1d(x + 2, 2, 4);
    void *args[] = {&a, &b};
    p.params[0].readonly = true;
    CHECK(launch_host(k, args, all_host));
    int launches = rt_null_calls("launch");
    p.params[1].readonly = true;
    CHECK(!launch_host(k, args, all_host));
    CHECK_ERROR(&err, RT_TYPE_ERROR, "probe writes to argument 2, but that array is read-only");
    CHECK(rt_null_calls("launch") == launches && rt_null_calls("to_device") == 2);
    CHECK(err.cls == RT_TYPE_ERROR);
    rt_kernel_release(k);
    end_of_test();
}

static bool see_null(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    CHECK(device_data(params, 0) == NULL && device_data(params, 1) != NULL);
    ran++;
    return true;
}

static void test_CUH_10_empty_arrays(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(2), OUT);
    add_param(&p, I32(1), OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    rt_null_kernel(see_null);
    int32_t x[4] = {1, 2, 3, 4};
    Packed a = {x, NULL, {0, 5, 20, 4}}, b = packed_1d(x, 4, 4);
    void *args[] = {&a, &b};
    ran = 0;
    CHECK(launch_host(k, args, all_host));
    CHECK(ran == 1 && rt_null_calls("to_device") == 1 && x[3] == 4 && a.data == x);
    rt_kernel_release(k);
    end_of_test();
}

static int64_t alignment_of_range;
static bool see_alignment(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    CHECK((int64_t)((uintptr_t)device_data(params, 1) % 16) == alignment_of_range);
    return true;
}

static void test_alignment_survives(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), IN);
    add_param(&p, F64(1), OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    rt_null_kernel(see_alignment);
    _Alignas(16) char bytes[256] = {0};
    /* The range begins with an int32 array at 4 modulo 8; the doubles in it must stay at 0 modulo 8. */
    for (int shift = 4; shift < 64; shift += 8) {
        Packed a = packed_1d(bytes + shift, 4, 4), b = packed_1d(bytes + shift + 4, 4, 8);
        void *args[] = {&a, &b};
        alignment_of_range = (shift + 4) % 16;
        CHECK(launch_host(k, args, all_host));
    }
    rt_kernel_release(k);
    end_of_test();
}

static bool see_mixed(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    int32_t *host = (int32_t *)device_data(params, 0), *device = (int32_t *)device_data(params, 1);
    int32_t factor;
    memcpy(&factor, params + 16, 4);
    for (int i = 0; i < 4; i++)
        host[i] = device[i] * factor;
    return true;
}

static void test_host_and_device_arrays_together(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), OUT);
    add_param(&p, I32(1), IN);
    add_param(&p, (ValueLayout)SCALAR_LAYOUT(i32, 4), 0);
    RtDevice *d = null_device();
    RtKernel *k = rt_kernel(d, &p.artifact, &err);
    rt_null_kernel(see_mixed);
    int32_t x[4] = {1, 2, 3, 4}, out[4] = {0}, factor = -3;
    RtBuffer *buffer = rt_buffer_new(d, RT_MEM_DEVICE, 16, NULL, &err);
    CHECK_OK(rt_copy_to_device(d, NULL, buffer->address, x, 16, true, &err));
    Packed a = packed_1d(out, 4, 4), b = packed_1d((void *)(uintptr_t)buffer->address, 4, 4);
    void *args[] = {&a, &b, &factor};
    uint32_t host[] = {1, 0, 0};
    CHECK(launch_host(k, args, host));
    CHECK(out[0] == -3 && out[3] == -12 && b.data == (void *)(uintptr_t)buffer->address);
    rt_buffer_release(buffer);
    rt_kernel_release(k);
    end_of_test();
}

/* Arrays inside a tuple: bits count them depth first. */
static bool see_tuple(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    *(int32_t *)device_data(params, 0) = 9;
    return true;
}

static void test_arrays_in_tuples(void) {
    static const ValueLayout inner[] = {USED_ARRAY(i32, 1, IN), USED_ARRAY(i32, 1, OUT)};
    ValueLayout items[3] = {SCALAR_LAYOUT(i64, 8), inner[0], inner[1]};
    items[1].offset = 8;
    items[2].offset = 8 + ARRAY_VALUE_SIZE(1);
    ValueLayout tuple = {.kind = TY_TUPLE,
                         .nitems = 3,
                         .items = items,
                         .size = 8 + 2 * ARRAY_VALUE_SIZE(1),
                         .align = 8};
    Probe p;
    probe_init(&p);
    p.artifact.nparams = p.artifact.nkernel_params = 1;
    p.params[0] = tuple;
    p.usage[0] = IN | OUT;
    p.kernel_params[0] = (KernelParam){0, 8, (uint32_t)items[2].offset, 0, true, false};
    p.artifact.param_bytes = 8;
    RtDevice *d = null_device();
    RtKernel *k = rt_kernel(d, &p.artifact, &err);
    rt_null_kernel(see_tuple);
    RtBuffer *buffer = rt_buffer_new(d, RT_MEM_DEVICE, 16, NULL, &err);
    int32_t x[4] = {0};
    struct {
        int64_t first;
        void *data1, *owner1;
        int64_t dims1[2];
        void *data2, *owner2;
        int64_t dims2[2];
    } value = {1, (void *)(uintptr_t)buffer->address, NULL, {4, 4}, x, NULL, {4, 4}};
    void *args[] = {&value};
    uint32_t host[] = {2};
    CHECK(launch_host(k, args, host));
    CHECK(x[0] == 9 && value.data2 == x && value.data1 == (void *)(uintptr_t)buffer->address);
    rt_buffer_release(buffer);
    rt_kernel_release(k);
    end_of_test();
}

static void test_many_arrays(void) {
    Probe p;
    probe_init(&p);
    for (int i = 0; i < 20; i++)
        add_param(&p, I32(1), i % 2 ? OUT : IN);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    static int32_t memory[20][50];
    Packed packed[20];
    void *args[20];
    for (int i = 0; i < 20; i++) {
        packed[i] = packed_1d(memory[i * 7 % 20], i % 3 ? 50 : 60,
                              4); /* the longer ones overlap the next */
        if (i * 7 % 20 == 19) packed[i].dims[0] = 50;
        args[i] = &packed[i];
    }
    CHECK(launch_host(k, args, all_host));
    CHECK(rt_null_calls("to_device") > 5 && rt_null_calls("to_device") < 20);
    rt_kernel_release(k);
    end_of_test();
}

/* -- which variant ----------------------------------------------------------------------------- */

static bool general(Probe *p, Packed *a, Packed *b, Packed *c) {
    void *args[] = {a, b, c};
    return rt_launch_wants_general(&p->artifact, args);
}

static void test_ALS_06_variant(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), OUT);
    add_param(&p, I32(1), IN);
    add_param(&p, I32(1), IN);
    static int32_t m[1000];
    Packed a = packed_1d(m, 10, 4), b = packed_1d(m + 10, 10, 4), c = packed_1d(m + 20, 10, 4);
    CHECK(!general(&p, &a, &b, &c));
    c = packed_1d(m + 15, 10, 4);
    CHECK(!general(&p, &a, &b, &c)); /* two that are only read may share */
    b = packed_1d(m + 9, 10, 4);
    CHECK(general(&p, &a, &b, &c));
    b = a;
    CHECK(general(&p, &a, &b, &c)); /* in and out the same */
    b = packed_1d(m + 19, 10, -4);
    CHECK(!general(&p, &a, &b, &c)); /* backwards: 10 .. 19 */
    b = packed_1d(m + 18, 10, -4);
    CHECK(general(&p, &a, &b, &c)); /* backwards: 9 .. 18 */
    b = packed_1d(m, 0, 4);
    CHECK(!general(&p, &a, &b, &c)); /* empty: shares nothing */
    b = packed_1d(m + 100, 1 << 29, 4);
    CHECK(general(&p, &a, &b, &c)); /* 2^31 bytes */
    b = packed_1d(m + 100, FAST_SPAN / 4 + 1, 4);
    CHECK(general(&p, &a, &b, &c));
    b = packed_1d(m + 100, FAST_SPAN / 4, 4);
    CHECK(!general(&p, &a, &b, &c));
    b = packed_1d(m + 100, INT64_MAX / 2, 4);
    CHECK(general(&p, &a, &b, &c)); /* lies about its size: at least not the fast one */
    /* Interleaved views overlap as ranges: the fast variant needs disjoint ranges. */
    a = packed_1d(m, 10, 8), b = packed_1d(m + 1, 10, 8);
    CHECK(general(&p, &a, &b, &c));
    p.params[0].usage = p.usage[0] = IN;
    CHECK(!general(&p, &a, &b, &c));
}

static void test_ALS_06_variant_of_many(void) {
    Probe p;
    probe_init(&p);
    static int32_t m[1000];
    static Packed packed[30];
    void *args[30];
    for (int i = 0; i < 30; i++) {
        add_param(&p, I32(1), i == 29 ? OUT : IN);
        packed[i] = packed_1d(m + 10 * i, 10, 4);
        args[i] = &packed[i];
    }
    CHECK(!rt_launch_wants_general(&p.artifact, args));
    packed[0] = packed_1d(m + 299, 1, 4); /* the first shares an element with the last */
    CHECK(rt_launch_wants_general(&p.artifact, args));
    RtSpan spans[] = {{10, 20, false}, {15, 30, false}, {30, 40, true}};
    CHECK(!rt_spans_want_general(spans, 3) && !rt_spans_want_general(spans, 0));
    spans[2].lo = 29;
    CHECK(rt_spans_want_general(spans, 3));
    spans[2] = (RtSpan){0, UINT64_MAX, false}; /* nothing is known of it */
    CHECK(rt_spans_want_general(spans, 3));
}

static void test_fast_variant_limits(void) {
    int32_t item = 0;
    RtSpan small = rt_span(1000, 2, 4, (int64_t[]){3, 4}, (int64_t[]){16, 4}, true);
    CHECK(small.lo == 1000 && small.hi == 1048 && small.written);
    /* one element seen that often, and once more */
    Packed a = packed_1d(&item, FAST_LIMIT, 0), b = packed_1d(&item, FAST_LIMIT + INT64_C(1), 0);
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), IN);
    void *args[] = {&a};
    CHECK(!rt_launch_wants_general(&p.artifact, args));
    args[0] = &b;
    CHECK(rt_launch_wants_general(&p.artifact, args));
    int64_t one[3] = {1, 1, 1}, grid[3] = {FAST_BLOCKS, 65535, 65535}, block[3] = {511, 1, 1};
    CHECK(!rt_grid_wants_general(grid, block) && !rt_grid_wants_general(one, one));
    block[0] = 512;
    CHECK(rt_grid_wants_general(grid, block));
    grid[0] = FAST_BLOCKS + 1, block[0] = 1;
    CHECK(rt_grid_wants_general(grid, block));
    grid[0] = INT32_MAX, block[0] = 1024;
    CHECK(rt_grid_wants_general(grid, block));
}

static void test_small_params(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, (ValueLayout){.kind = TY_i64, .size = 8, .align = 8}, ARG_SMALL);
    add_param(&p, (ValueLayout){.kind = TY_i64, .size = 8, .align = 8}, 0);
    int64_t n = FAST_LIMIT, seed = INT64_MAX;
    void *args[] = {&n, &seed};
    CHECK(!rt_params_want_general(&p.artifact, args));
    n = FAST_LIMIT + INT64_C(1);
    CHECK(rt_params_want_general(&p.artifact, args));
    n = -FAST_LIMIT;
    CHECK(!rt_params_want_general(&p.artifact, args));
    n = INT64_MIN;
    CHECK(rt_params_want_general(&p.artifact, args));
    p.usage[0] |= ARG_POSITIVE;
    n = 0;
    CHECK(rt_params_want_general(&p.artifact, args));
    n = 1;
    CHECK(!rt_params_want_general(&p.artifact, args));
    n = -FAST_LIMIT;
    CHECK(rt_params_want_general(&p.artifact, args));
    p.usage[0] = ARG_SMALL | ARG_INDEX;
    CHECK(rt_params_want_general(&p.artifact, args));
    n = -1;
    CHECK(rt_params_want_general(&p.artifact, args));
    n = 0;
    CHECK(!rt_params_want_general(&p.artifact, args));
    n = FAST_LIMIT + INT64_C(1);
    CHECK(rt_params_want_general(&p.artifact, args));
    p.artifact.usage = NULL;
    CHECK(!rt_params_want_general(&p.artifact, args));
}

/* -- extents and strided copies ---------------------------------------------------------------- */

static void test_extents(void) {
    int64_t lo, hi;
    CHECK(rt_extent(0, 8, NULL, NULL, &lo, &hi) && lo == 0 && hi == 8);
    CHECK(rt_extent(2, 4, (int64_t[]){3, 4}, (int64_t[]){16, 4}, &lo, &hi) && lo == 0 && hi == 48);
    CHECK(rt_extent(2, 4, (int64_t[]){3, 4}, (int64_t[]){-16, 4}, &lo, &hi) && lo == -32 &&
          hi == 16);
    CHECK(rt_extent(2, 4, (int64_t[]){3, 4}, (int64_t[]){0, 0}, &lo, &hi) && lo == 0 && hi == 4);
    CHECK(rt_extent(2, 4, (int64_t[]){3, 0}, (int64_t[]){1, 1}, &lo, &hi) && lo == 0 && hi == 0);
    CHECK(!rt_extent(1, 4, (int64_t[]){INT64_MAX}, (int64_t[]){8}, &lo, &hi));
    CHECK(!rt_extent(2, 4, (int64_t[]){3, 3}, (int64_t[]){INT64_MAX / 2, -(INT64_MAX / 2)}, &lo,
                     &hi));
    CHECK(!rt_extent(1, 4, (int64_t[]){-2}, (int64_t[]){8}, &lo, &hi));
    CHECK(rt_dense(2, 4, (int64_t[]){3, 4}, (int64_t[]){4, 12}));
    CHECK(rt_dense(3, 4, (int64_t[]){3, 1, 4}, (int64_t[]){-16, 999, -4}));
    CHECK(!rt_dense(2, 1, (int64_t[]){2, 2}, (int64_t[]){3, 0})); /* 4 elements, 4 bytes, one gap */
    CHECK(!rt_dense(2, 4, (int64_t[]){3, 4}, (int64_t[]){20, 4}));
}

static void strided_round_trip(RtDevice *d, const int64_t *shape, const int64_t *host_steps,
                               int64_t host_first, const int64_t *device_steps,
                               int64_t device_first) {
    enum { BYTES = 40000 };
    static unsigned char host[BYTES], back[BYTES], want[BYTES], want_back[BYTES], seen[BYTES];
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, BYTES, NULL, &err);
    for (int i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 31 + i / 256);
    memset(want, 0xEE, BYTES);
    memset(back, 0xDD, BYTES);
    memset(want_back, 0xDD, BYTES);
    CHECK_OK(rt_set_bytes(d, NULL, b->address, 0xEE, BYTES, &err));
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            for (int64_t k = 0; k < shape[2]; k++) {
                int64_t h = host_first + i * host_steps[0] + j * host_steps[1] + k * host_steps[2];
                int64_t v =
                    device_first + i * device_steps[0] + j * device_steps[1] + k * device_steps[2];
                memcpy(want + v, host + h, 2);
                memcpy(want_back + h, host + h, 2);
            }
    RtStrided c = {host + host_first, b->address + (uint64_t)device_first, 3, 2, shape, host_steps,
                   device_steps};
    CHECK_OK(rt_copy_strided(d, NULL, &c, true, &err));
    CHECK_OK(rt_copy_to_host(d, NULL, seen, b->address, BYTES, true, &err));
    CHECK(memcmp(seen, want, BYTES) == 0);
    c.host = back + host_first;
    CHECK_OK(rt_copy_strided(d, NULL, &c, false, &err));
    CHECK(memcmp(back, want_back, BYTES) == 0);
    rt_buffer_release(b);
}

static void test_CUH_10_strided_copies(void) {
    RtDeviceKind kinds[] = {RT_NULL, RT_CPU};
    for (int i = 0; i < countof(kinds); i++) {
        RtDevice *d = rt_device(kinds[i], 0, &err);
        int64_t shape[] = {5, 6, 7};
        int64_t c_order[] = {84, 14, 2}, f_order[] = {2, 10, 60}, gaps[] = {1000, 100, 6},
                back[] = {-84, 14, -2};
        strided_round_trip(d, shape, c_order, 0, c_order, 0);
        strided_round_trip(d, shape, c_order, 0, f_order, 0);
        strided_round_trip(d, shape, gaps, 10, c_order, 300);
        strided_round_trip(d, shape, c_order, 0, gaps, 10);
        strided_round_trip(d, shape, back, 350, gaps, 0);
        strided_round_trip(d, shape, f_order, 4, back, 400);
        int64_t few[] = {2, 3, 7}, empty[] = {2, 0, 7};
        strided_round_trip(d, few, gaps, 0, gaps, 2);
        strided_round_trip(d, empty, gaps, 0, gaps, 2);
    }
    end_of_test();
}

static void test_copies_between_devices(void) {
    RtDevice *d0 = rt_device(RT_NULL, 0, &err), *d1 = rt_device(RT_NULL, 1, &err),
             *c = rt_device(RT_CPU, 0, &err);
    RtBuffer *b0 = rt_buffer_new(d0, RT_MEM_DEVICE, 100, NULL, &err),
             *b1 = rt_buffer_new(d1, RT_MEM_DEVICE, 100, NULL, &err),
             *b2 = rt_buffer_new(c, RT_MEM_DEVICE, 100, NULL, &err);
    CHECK_OK(rt_set_bytes(d0, NULL, b0->address, 33, 100, &err));
    CHECK_OK(rt_copy_between(d1, b1->address, d0, b0->address, 100, &err));
    CHECK_OK(rt_copy_between(c, b2->address, d1, b1->address, 100, &err));
    CHECK(((char *)b2->host)[99] == 33);
    ((char *)b2->host)[50] = 44;
    CHECK_OK(rt_copy_between(d0, b0->address, c, b2->address, 100, &err));
    CHECK(((char *)rt_null_pointer(b0->address))[50] == 44);
    bool can = true;
    CHECK_OK(rt_device_peer(d0, d1, &can, &err) && !can);
    rt_buffer_release(b0);
    rt_buffer_release(b1);
    rt_buffer_release(b2);
    end_of_test();
}

/* -- the plan of parameters -------------------------------------------------------------------- */

static bool see_plan(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l;
    int64_t words[3];
    memcpy(words, params, 24);
    CHECK(words[0] == 64 && words[1] == 10 && words[2] == 4);
    int32_t number;
    memcpy(&number, params + 36, 4);
    CHECK(number == -7 && params[40] == 1);
    float rounded[2];
    memcpy(rounded, params + 44, 8);
    CHECK(rounded[0] == 0.1f && isinf(rounded[1]));
    ran++;
    return true;
}

static void test_CUH_21_parameters_merge(void) {
    Probe p;
    probe_init(&p);
    static const KernelParam plan[] = {{1, 4, 0, 36, false, false},  {0, 8, 16, 8, false, false},
                                       {0, 8, 0, 0, true, false},    {2, 1, 0, 40, false, false},
                                       {0, 8, 24, 16, false, false}, {3, 4, 0, 44, false, true},
                                       {3, 4, 8, 48, false, true}};
    p.params[0] = I32(1);
    p.params[1] = (ValueLayout)SCALAR_LAYOUT(i32, 4);
    p.params[2] = (ValueLayout)SCALAR_LAYOUT(bool, 1);
    p.params[3] = (ValueLayout)SCALAR_LAYOUT(c128, 16);
    p.artifact.nparams = 4;
    p.artifact.kernel_params = plan;
    p.artifact.nkernel_params = countof(plan);
    p.artifact.param_bytes = 52;
    RtKernel *k;
    CHECK_OK(k = rt_kernel(null_device(), &p.artifact, &err));
    CHECK(k->nmoves == 6); /* pointer | shape and stride | int | bool | two doubles as float32 */
    Packed a = packed_1d((void *)64, 10, 4);
    int32_t number = -7;
    bool flag = true;
    double parts[2] = {0.1, 1e300};
    void *args[] = {&a, &number, &flag, parts};
    rt_null_kernel(see_plan);
    ran = 0;
    CHECK(launch_host(k, args, NULL) && ran == 1);
    rt_kernel_release(k);
    KernelParam damaged = {0, 8, 0, 48, false, false};
    p.artifact.kernel_params = &damaged;
    p.artifact.nkernel_params = 1;
    rt_error_init(&err);
    CHECK(!rt_kernel(null_device(), &p.artifact, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "damaged");
    end_of_test();
}

static void test_occupancy_and_block_size(void) {
    Probe p;
    probe_init(&p);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    int32_t n = 0;
    CHECK_OK(rt_suggest_block(k, 0, &n, &err));
    CHECK(n == 256);
    CHECK_OK(rt_occupancy(k, 128, 0, &n, &err) && n == 16);
    rt_error_init(&err);
    CHECK(!rt_occupancy(k, 0, 0, &n, &err) && err.cls == RT_VALUE_ERROR);
    rt_kernel_release(k);
    end_of_test();
}

static void test_trace(void) {
    Probe p;
    probe_init(&p);
    add_param(&p, I32(1), OUT);
    RtKernel *k = rt_kernel(null_device(), &p.artifact, &err);
    int32_t x[4] = {0};
    Packed a = packed_1d(x, 4, 4);
    void *args[] = {&a};
    static RtTraceEvent e[5000];
    int64_t lost = -1;
    CHECK(launch_host(k, args, all_host));
    CHECK(rt_trace_read(e, 8, &lost) == 0 && lost == 0); /* off */
    rt_trace(true);
    CHECK(launch_host(k, args, all_host));
    CHECK(rt_trace_read(e, 2, &lost) == 2 && rt_trace_read(e + 2, 8, NULL) == 1);
    CHECK(e[0].kind == RT_TRACE_TO_DEVICE && e[0].bytes == 16 && e[0].device == RT_NULL);
    CHECK(e[1].kind == RT_TRACE_LAUNCH && e[1].launch.block[0] == 32 && !e[1].failed);
    CHECK(strcmp(e[1].launch.kernel, "probe") == 0 && e[1].start_ns >= e[0].start_ns);
    CHECK(e[2].kind == RT_TRACE_TO_HOST && e[2].bytes == 16);
    for (int i = 0; i < 2000; i++)
        launch_host(k, args, all_host);
    CHECK(rt_trace_read(e, 5000, &lost) == 4096 && lost == 6000 - 4096);
    CHECK(e[0].start_ns <= e[1].start_ns && e[4094].start_ns <= e[4095].start_ns);
    rt_null_fail("launch", rt_null_calls("launch") + 1, RT_API_ERROR);
    CHECK(!launch_host(k, args, all_host));
    CHECK(rt_trace_read(e, 10, NULL) == 2 && e[1].kind == RT_TRACE_LAUNCH && e[1].failed);
    rt_trace(false);
    rt_kernel_release(k);
    end_of_test();
}

static bool counts_runs(const RtKernel *k, const DeviceLaunch *l, const char *params) {
    (void)k, (void)l, (void)params;
    ran++;
    return true;
}

/* Two launches side by side between one before and one behind: all memory of the graph goes with it. */
static void test_a_capture_over_two_streams(void) {
    Probe p;
    probe_init(&p);
    RtDevice *d = null_device();
    RtKernel *k;
    CHECK_OK(k = rt_kernel(d, &p.artifact, &err));
    RtStream *main_one, *beside;
    RtEvent *fork, *join;
    CHECK_OK(main_one = rt_stream_new(d, &err));
    CHECK_OK(beside = rt_stream_new(d, &err));
    CHECK_OK(fork = rt_event_new(d, false, &err));
    CHECK_OK(join = rt_event_new(d, false, &err));
    rt_null_kernel(counts_runs);
    ran = 0;
    RtLaunch first = launch_of(k, 1, 32, NULL), second = first;
    first.stream = main_one;
    second.stream = beside;
    CHECK_OK(rt_capture_begin(main_one, NULL, NULL, &err));
    CHECK_OK(rt_launch(&first, &err));
    CHECK_OK(rt_event_record(fork, main_one, &err));
    CHECK_OK(rt_stream_wait(beside, fork, &err));
    CHECK_OK(rt_launch(&second, &err));
    CHECK_OK(rt_launch(&first, &err));
    CHECK_OK(rt_event_record(join, beside, &err));
    CHECK_OK(rt_stream_wait(main_one, join, &err));
    CHECK_OK(rt_launch(&first, &err));
    RtGraph *graph;
    CHECK_OK(graph = rt_capture_end(main_one, &err));
    CHECK(ran == 0);
    CHECK_OK(rt_graph_launch(graph, main_one, NULL, &err));
    CHECK_OK(rt_stream_synchronize(main_one, NULL, &err));
    CHECK(ran == 4);
    rt_graph_release(graph);
    rt_event_release(fork);
    rt_event_release(join);
    rt_stream_release(beside);
    rt_stream_release(main_one);
    rt_kernel_release(k);
    end_of_test();
}

int main(void) {
    RUN(test_ALS_06_overlapping_views_are_one_range);
    RUN(test_CUH_10_views_leave_the_bytes_between_alone);
    RUN(test_only_written_arrays_come_back);
    RUN(test_large_arrays);
    RUN(test_CUH_failures_leave_host_memory_alone);
    RUN(test_read_only_arrays);
    RUN(test_CUH_10_empty_arrays);
    RUN(test_alignment_survives);
    RUN(test_host_and_device_arrays_together);
    RUN(test_arrays_in_tuples);
    RUN(test_many_arrays);
    RUN(test_ALS_06_variant);
    RUN(test_ALS_06_variant_of_many);
    RUN(test_fast_variant_limits);
    RUN(test_small_params);
    RUN(test_extents);
    RUN(test_CUH_10_strided_copies);
    RUN(test_copies_between_devices);
    RUN(test_CUH_21_parameters_merge);
    RUN(test_occupancy_and_block_size);
    RUN(test_trace);
    RUN(test_a_capture_over_two_streams);
    return finish();
}
