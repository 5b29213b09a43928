/* test_runtime_cuda.c - the cuda device against the stand-in driver, which executes the PTX below. Every
 * driver call of a whole scenario is made to fail once; afterwards no handle is left and the next call works.
 * Runs only with QUERN_CUDA_LIBRARY naming the stand-in (CTest sets it). */
#include "tests/unit/test_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

static RtError err;

/* -- the stand-in's own interface -------------------------------------------------------------- */

static void *library;
static long (*call_count)(const char *name);
static void (*reset)(void);
static long (*live)(const char *what);
static long (*live_handles)(void);
static int (*set_fail)(const char *spec);

static void *symbol(const char *name) {
    void *s = dlsym(library, name);
    if (!s) fprintf(stderr, "the stand-in has no %s\n", name), exit(1);
    return s;
}

static void open_stand_in(void) {
    const char *path = getenv("QUERN_CUDA_LIBRARY");
    if (!path) printf("skipped: QUERN_CUDA_LIBRARY is not set\n"), exit(77);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror()), exit(1);
    *(void **)&call_count = symbol("fakecuda_call_count");
    *(void **)&reset = symbol("fakecuda_reset");
    *(void **)&live = symbol("fakecuda_live");
    *(void **)&live_handles = symbol("fakecuda_live_handles");
    *(void **)&set_fail = symbol("fakecuda_set_fail");
}

static void end_of_test(void) {
    set_fail("");
    rt_shutdown();
    CHECK(live_handles() == 0);
    CHECK(live("context") == 0);
    CHECK(rt_host_bytes() == 0);
    reset();
}

static RtDevice *cuda(void) {
    RtDevice *d;
    CHECK_OK(d = rt_device(RT_CUDA, 0, &err));
    return d;
}

/* -- kernels ----------------------------------------------------------------------------------- */

#define PTX_HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"

/* out[i] = x[i] + y[i] for i < n */
static const char vadd_ptx[] =
    PTX_HEAD ".visible .entry vadd(.param .u64 vadd_x, .param .u64 vadd_y, .param .u64 vadd_out, "
             ".param .u32 vadd_n)\n"
             "{\n"
             "  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<11>;\n"
             "  ld.param.u64 %rd1, [vadd_x];\n"
             "  ld.param.u64 %rd2, [vadd_y];\n"
             "  ld.param.u64 %rd3, [vadd_out];\n"
             "  ld.param.u32 %r1, [vadd_n];\n"
             "  mov.u32 %r2, %ctaid.x;\n"
             "  mov.u32 %r3, %ntid.x;\n"
             "  mov.u32 %r4, %tid.x;\n"
             "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
             "  setp.ge.u32 %p1, %r5, %r1;\n"
             "  @%p1 bra DONE;\n"
             "  cvta.to.global.u64 %rd4, %rd1;\n"
             "  cvta.to.global.u64 %rd5, %rd2;\n"
             "  cvta.to.global.u64 %rd6, %rd3;\n"
             "  mul.wide.u32 %rd7, %r5, 4;\n"
             "  add.s64 %rd8, %rd4, %rd7;\n"
             "  add.s64 %rd9, %rd5, %rd7;\n"
             "  add.s64 %rd10, %rd6, %rd7;\n"
             "  ld.global.f32 %f1, [%rd8];\n"
             "  ld.global.f32 %f2, [%rd9];\n"
             "  add.rn.f32 %f3, %f1, %f2;\n"
             "  st.global.f32 [%rd10], %f3;\n"
             "DONE:\n"
             "  ret;\n"
             "}\n";

/* Writes to address 8. */
static const char fault_ptx[] = PTX_HEAD ".visible .entry fault()\n"
                                         "{\n"
                                         "  .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                                         "  mov.u64 %rd1, 8;\n"
                                         "  mov.u32 %r1, 1;\n"
                                         "  st.global.u32 [%rd1], %r1;\n"
                                         "  ret;\n"
                                         "}\n";

/* out[tid] = shared[size - 4], which thread 0 has set to 77: needs the whole dynamic shared memory */
static const char dynamic_ptx[] =
    PTX_HEAD ".extern .shared .align 16 .b8 dyn[];\n"
             ".visible .entry dynamic(.param .u64 dynamic_out, .param .u32 dynamic_last)\n"
             "{\n"
             "  .reg .pred %p<2>; .reg .b32 %r<7>; .reg .b64 %rd<5>;\n"
             "  ld.param.u64 %rd1, [dynamic_out];\n"
             "  ld.param.u32 %r1, [dynamic_last];\n"
             "  mov.u32 %r2, %tid.x;\n"
             "  mov.u32 %r3, dyn;\n"
             "  add.u32 %r4, %r3, %r1;\n"
             "  setp.ne.u32 %p1, %r2, 0;\n"
             "  @%p1 bra JOIN;\n"
             "  mov.u32 %r5, 77;\n"
             "  st.shared.u32 [%r4], %r5;\n"
             "JOIN:\n"
             "  bar.sync 0;\n"
             "  ld.shared.u32 %r6, [%r4];\n"
             "  cvta.to.global.u64 %rd2, %rd1;\n"
             "  mul.wide.u32 %rd3, %r2, 4;\n"
             "  add.s64 %rd4, %rd2, %rd3;\n"
             "  st.global.u32 [%rd4], %r6;\n"
             "  ret;\n"
             "}\n";

/* Raises exception -7, site 3, argument 42, from whoever claims the mailbox first. */
static const char mailbox_ptx[] =
    PTX_HEAD ".visible .global .align 8 .b8 quern_mailbox[104];\n"
             ".visible .entry raise()\n"
             "{\n"
             "  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
             "  mov.u64 %rd1, quern_mailbox;\n"
             "  mov.u32 %r1, 1;\n"
             "  atom.global.exch.b32 %r2, [%rd1], %r1;\n"
             "  setp.ne.u32 %p1, %r2, 0;\n"
             "  @%p1 bra DONE;\n"
             "  mov.u32 %r3, -7;\n"
             "  st.global.u32 [%rd1+4], %r3;\n"
             "  mov.u32 %r3, 3;\n"
             "  st.global.u32 [%rd1+8], %r3;\n"
             "  mov.u32 %r4, %ctaid.x;\n"
             "  st.global.u32 [%rd1+16], %r4;\n"
             "  mov.u32 %r5, %tid.x;\n"
             "  st.global.u32 [%rd1+28], %r5;\n"
             "  mov.u64 %rd2, 42;\n"
             "  st.global.u64 [%rd1+40], %rd2;\n"
             "DONE:\n"
             "  ret;\n"
             "}\n";

static const ValueLayout vadd_params[] = {USED_ARRAY(f32, 1, ARG_READ),
                                          USED_ARRAY(f32, 1, ARG_READ),
                                          USED_ARRAY(f32, 1, ARG_WRITTEN), SCALAR_LAYOUT(i32, 4)};
static const uint8_t vadd_usage[] = {ARG_READ, ARG_READ, ARG_WRITTEN, 0};
static const KernelParam vadd_plan[] = {{0, 8, 0, 0, true, false},
                                        {1, 8, 0, 8, true, false},
                                        {2, 8, 0, 16, true, false},
                                        {3, 4, 0, 24, false, false}};

static Artifact artifact_of(const char *name, const char *ptx) {
    Artifact a;
    memset(&a, 0, sizeof a);
    a.target = TARGET_NVPTX;
    a.entry_kind = ENTRY_KERNEL;
    a.name = a.entry_name = str_from(name);
    a.code = ptx;
    a.ncode = (int64_t)strlen(ptx);
    return a;
}

static Artifact vadd_artifact(void) {
    Artifact a = artifact_of("vadd", vadd_ptx);
    a.nparams = a.nkernel_params = 4;
    a.params = vadd_params;
    a.usage = vadd_usage;
    a.kernel_params = vadd_plan;
    a.param_bytes = 28;
    return a;
}

/* -- the scenario ------------------------------------------------------------------------------ */

enum { N = 100 };

static bool device_round_trip(RtDevice *d, RtKernel *k, RtStream *s, RtError *e) {
    float x[N], y[N], out[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(i * i);
        out[i] = -1;
    }
    RtBuffer *b[3] = {NULL, NULL, NULL};
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++)
        ok = (b[i] = rt_buffer_new(d, RT_MEM_DEVICE, sizeof x, s, e)) != NULL;
    ok = ok && rt_copy_to_device(d, s, b[0]->address, x, sizeof x, false, e) &&
         rt_copy_to_device(d, s, b[1]->address, y, sizeof y, true, e);
    if (ok) {
        Packed px = packed_1d((void *)(uintptr_t)b[0]->address, N, 4);
        Packed py = packed_1d((void *)(uintptr_t)b[1]->address, N, 4);
        Packed po = packed_1d((void *)(uintptr_t)b[2]->address, N, 4);
        int32_t n = N;
        void *args[] = {&px, &py, &po, &n};
        RtLaunch l = launch_of(k, 4, 32, args);
        l.stream = s;
        ok = rt_launch(&l, e) && rt_copy_to_host(d, s, out, b[2]->address, sizeof out, true, e);
    }
    for (int i = 0; i < N && ok; i++)
        CHECK(out[i] == (float)(i + i * i));
    for (int i = 0; i < 3; i++)
        rt_buffer_release(b[i]);
    return ok;
}

static bool host_round_trip(RtKernel *k, RtError *e) {
    /* x and out overlap: out = buffer[10:], x = buffer[:] */
    float buffer[N + 10], y[N], want[N + 10];
    for (int i = 0; i < N + 10; i++)
        want[i] = buffer[i] = (float)(1000 + i);
    for (int i = 0; i < N; i++)
        y[i] = (float)i;
    for (int i = 0; i < 5; i++)
        want[10 + i] = buffer[i] + y[i];
    Packed px = packed_1d(buffer, N, 4), py = packed_1d(y, N, 4), po = packed_1d(buffer + 10, N, 4);
    int32_t n = 5;
    void *args[] = {&px, &py, &po, &n};
    uint32_t host[] = {1, 1, 1, 0};
    RtLaunch l = launch_of(k, 1, 32, args);
    l.host = host;
    bool ok = rt_launch(&l, e);
    for (int i = 0; i < N + 10; i++)
        CHECK(buffer[i] == (ok ? want[i] : (float)(1000 + i)));
    return ok;
}

/* Touches nearly every function of the driver that we use. */
static bool scenario(RtError *e) {
    Artifact a = vadd_artifact();
    RtDevice *d = rt_device(RT_CUDA, 0, e);
    RtStream *s = NULL;
    RtEvent *e1 = NULL, *e2 = NULL;
    RtKernel *k = NULL;
    RtBuffer *pinned = NULL, *managed = NULL;
    float ms = -1;
    bool done = false;
    int32_t blocks = 0;
    bool ok = d && (s = rt_stream_new(d, e)) && (e1 = rt_event_new(d, true, e)) &&
              (e2 = rt_event_new(d, true, e)) && (k = rt_kernel(d, &a, e)) &&
              rt_event_record(e1, s, e) && device_round_trip(d, k, s, e) && host_round_trip(k, e) &&
              rt_event_record(e2, s, e) && rt_stream_wait(rt_stream_default(d), e2, e) &&
              rt_event_synchronize(e2, NULL, e) && rt_event_done(e2, &done, e) &&
              rt_event_elapsed(e1, e2, &ms, e) && rt_stream_done(s, &done, e) &&
              rt_occupancy(k, 128, 0, &blocks, e) &&
              (pinned = rt_buffer_new(d, RT_MEM_PINNED, 100, NULL, e)) &&
              (managed = rt_buffer_new(d, RT_MEM_MANAGED, 100, NULL, e)) &&
              rt_set_bytes(d, s, managed->address, 3, 100, e) &&
              rt_copy_on_device(d, s, managed->address, managed->address + 50, 50, e) &&
              rt_stream_synchronize(s, NULL, e) && rt_memory_trim(d, e) &&
              rt_device_synchronize(d, NULL, e);
    if (ok) CHECK(ms >= 0 && blocks > 0);
    rt_buffer_release(pinned);
    rt_buffer_release(managed);
    rt_kernel_release(k);
    rt_event_release(e1);
    rt_event_release(e2);
    rt_stream_release(s);
    return ok;
}

/* Written out, not taken from the runtime's table: a row of that one must not name another function. */
static const char *const called[] = {"cuDeviceGetCount",
                                     "cuDeviceGet",
                                     "cuDeviceGetName",
                                     "cuDeviceGetAttribute",
                                     "cuDeviceTotalMem",
                                     "cuDeviceGetUuid",
                                     "cuDevicePrimaryCtxRetain",
                                     "cuCtxGetCurrent",
                                     "cuCtxSetCurrent",
                                     "cuCtxSynchronize",
                                     "cuMemAlloc",
                                     "cuMemFree",
                                     "cuMemAllocManaged",
                                     "cuMemHostAlloc",
                                     "cuMemHostGetDevicePointer",
                                     "cuMemFreeHost",
                                     "cuMemcpyHtoDAsync",
                                     "cuMemcpyDtoHAsync",
                                     "cuMemcpyDtoDAsync",
                                     "cuMemsetD8Async",
                                     "cuModuleLoadDataEx",
                                     "cuModuleGetFunction",
                                     "cuModuleGetGlobal",
                                     "cuFuncGetAttribute",
                                     "cuLaunchKernel",
                                     "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                     "cuStreamCreate",
                                     "cuStreamDestroy",
                                     "cuStreamSynchronize",
                                     "cuStreamQuery",
                                     "cuStreamWaitEvent",
                                     "cuEventCreate",
                                     "cuEventDestroy",
                                     "cuEventRecord",
                                     "cuEventQuery",
                                     "cuEventSynchronize",
                                     "cuEventElapsedTime"};

static void test_scenario(void) {
    CHECK_OK(scenario(&err));
    long calls = call_count("any");
    CHECK(calls > 60);
    for (size_t i = 0; i < countof(called); i++)
        if (call_count(called[i]) <= 0) CHECK(strcmp(called[i], "was called") == 0);
    CHECK_OK(scenario(&err));
    end_of_test();
}

static void fail_one(const char *name, long n, int code, bool sticky) {
    char spec[128];
    snprintf(spec, sizeof spec, "%s:%ld:%d", name, n, code);
    set_fail(spec);
    rt_error_init(&err);
    bool ok = scenario(&err);
    CHECK(ok == !rt_failed(&err));
    if (!ok && err.code) {
        /* The caller can name the failure and the call, and the text says both. */
        CHECK(err.code == code || err.cls == RT_MEMORY_ERROR);
        CHECK(strncmp(err.name, "CUDA_ERROR_", 11) == 0 && strncmp(err.call, "cu", 2) == 0);
    }
    CHECK(err.cls != RT_OK || ok);
    set_fail("");
    RtError again;
    rt_error_init(&again);
    RtDevice *d = rt_device(RT_CUDA, 0, &again);
    bool works = scenario(&again);
    if (d && rt_device_dead(d)) {
        CHECK(sticky && !works && again.cls == RT_DEVICE_ERROR);
    } else if (d) {
        /* A failing cuGetProcAddress is a function that the driver does not have: that stays so. */
        CHECK(works || again.cls == RT_SUPPORT_ERROR);
        if (!works && again.cls != RT_SUPPORT_ERROR)
            fprintf(stderr, "after %s: %s\n", spec, again.text);
    }
    end_of_test();
}

static void test_CUH_each_driver_call_fails_once(void) {
    static const struct {
        int code;
        bool sticky;
    } codes[] = {{1, false}, {2, false}, {700, true}, {201, false}, {999, false}};
    CHECK_OK(scenario(&err));
    long calls = call_count("any");
    end_of_test();
    int injected = 0;
    for (int c = 0; c < countof(codes); c++)
        for (long n = 1; n <= calls + 1; n++, injected++)
            fail_one("any", n, codes[c].code, codes[c].sticky);
    printf("     %d failures injected\n", injected);
}

/* -- the driver -------------------------------------------------------------------------------- */

static void test_device_info(void) {
    RtDevice *d = cuda();
    const RtDeviceInfo *i = rt_info(d);
    CHECK(i->kind == RT_CUDA && i->ordinal == 0 && i->name[0] && strcmp(i->arch, "sm_90") == 0);
    CHECK(i->cc_major == 9 && i->cc_minor == 0 && i->driver_version == 12040 && i->warp_size == 32);
    CHECK(i->max_threads == 1024 && i->max_block[2] == 64 && i->max_grid[0] == INT32_MAX &&
          i->max_grid[1] == 65535);
    CHECK(i->max_shared == 48 << 10 && i->max_shared_optin > i->max_shared &&
          i->max_param_bytes == 32764);
    CHECK(i->memory > 0 && i->multiprocessors > 0 && i->unified_addressing);
    CHECK(rt_device_context(d) != NULL);
    end_of_test();
}

static void with_env(const char *name, const char *value) {
    rt_shutdown();
    setenv(name, value, 1);
    reset();
    rt_error_init(&err);
}

static void without_env(const char *name) {
    rt_shutdown();
    unsetenv(name);
    reset();
}

static void test_CUH_12_missing_functions(void) {
    with_env("FAKECUDA_MISSING", "cuLaunchKernel");
    CHECK(rt_device_count(RT_CUDA, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "lacks cuLaunchKernel, which came with CUDA 4.0");
    rt_error_init(&err);
    CHECK(rt_device_count(RT_CUDA, &err) == -1); /* the same again */
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "lacks cuLaunchKernel");
    with_env("FAKECUDA_MISSING", "cuMemHostAlloc,cuFuncSetAttribute,cuDeviceGetUuid");
    Artifact a = vadd_artifact();
    RtDevice *d = cuda();
    RtKernel *k;
    CHECK_OK(k = rt_kernel(d, &a, &err));
    CHECK_OK(device_round_trip(d, k, NULL, &err));
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_PINNED, 10, NULL, &err));
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "lacks cuMemHostAlloc");
    rt_kernel_release(k);
    without_env("FAKECUDA_MISSING");
}

static void test_CUH_12_old_and_new_drivers(void) {
    const char *versions[] = {"11000", "11020", "11040", "12000", "12080", "13000"};
    for (int i = 0; i < countof(versions); i++) {
        with_env("FAKECUDA_DRIVER_VERSION", versions[i]);
        CHECK_OK(scenario(&err));
        CHECK(rt_info(cuda())->driver_version == atoi(versions[i]));
        CHECK(rt_info(cuda())->max_param_bytes == (atoi(versions[i]) >= 12010 ? 32764 : 4096));
    }
    without_env("FAKECUDA_DRIVER_VERSION");
}

static void test_CUH_18_no_device(void) {
    with_env("FAKECUDA_DEVICES", "0");
    CHECK(rt_device_count(RT_CUDA, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "cuInit answered CUDA_ERROR_NO_DEVICE (100)");
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "CUDA_VISIBLE_DEVICES");
    RtDeviceKind kind = RT_KINDS;
    rt_error_init(&err);
    CHECK(rt_choose(RT_CUDA, &kind, &err) == RT_CHOICE_FALLBACK && kind == RT_CPU);
    with_env("FAKECUDA_DEVICES", "-1"); /* well, but without a device */
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    rt_error_init(&err);
    CHECK(!rt_device(RT_CUDA, 0, &err));
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "it reports no device");
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "(CUDA_VISIBLE_DEVICES is set");
    unsetenv("CUDA_VISIBLE_DEVICES");
    rt_error_init(&err);
    CHECK(rt_choose(RT_CUDA, &kind, &err) == RT_CHOICE_FALLBACK && kind == RT_CPU);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "it reports no device");
    CHECK(!strstr(err.text, "VISIBLE"));
    with_env("FAKECUDA_DEVICES", "2");
    CHECK(rt_device_count(RT_CUDA, &err) == 2);
    CHECK(rt_choose(RT_CUDA, &kind, &err) == RT_CHOICE_WANTED && kind == RT_CUDA &&
          !rt_failed(&err));
    without_env("FAKECUDA_DEVICES");
}

static void test_CUH_16_two_devices(void) {
    with_env("FAKECUDA_DEVICES", "2");
    Artifact a = vadd_artifact();
    RtDevice *d[2];
    RtKernel *k[2];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(d[i] = rt_device(RT_CUDA, i, &err));
        CHECK_OK(k[i] = rt_kernel(d[i], &a, &err));
        CHECK_OK(device_round_trip(d[i], k[i], NULL, &err));
    }
    CHECK(k[0] != k[1] && call_count("cuModuleLoadDataEx") == 2);
    RtBuffer *b0 = rt_buffer_new(d[0], RT_MEM_DEVICE, 64, NULL, &err);
    RtBuffer *b1 = rt_buffer_new(d[1], RT_MEM_DEVICE, 64, NULL, &err);
    char bytes[64] = "from one to the other", back[64] = "";
    CHECK_OK(rt_copy_to_device(d[0], NULL, b0->address, bytes, 64, true, &err));
    CHECK_OK(rt_copy_between(d[1], b1->address, d[0], b0->address, 64, &err));
    CHECK_OK(rt_copy_to_host(d[1], NULL, back, b1->address, 64, true, &err));
    CHECK(memcmp(bytes, back, 64) == 0);
    set_fail("cuMemcpyPeer:1:1");
    rt_error_init(&err);
    CHECK(!rt_copy_between(d[1], b1->address, d[0], b0->address, 64, &err));
    CHECK_ERROR(&err, RT_API_ERROR, "cuMemcpyPeer failed with CUDA_ERROR_INVALID_VALUE (1)");
    set_fail("");
    rt_buffer_release(b0);
    rt_buffer_release(b1);
    rt_kernel_release(k[0]);
    rt_kernel_release(k[1]);
    end_of_test();
    without_env("FAKECUDA_DEVICES");
}

static void test_CUH_11_memory_runs_out(void) {
    with_env("FAKECUDA_MEMORY", "33554432");
    RtDevice *d = cuda();
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, 1 << 26, NULL, &err));
    CHECK_ERROR(&err, RT_MEMORY_ERROR, "67108864 bytes were asked for");
    CHECK(err.code == 2 && strcmp(err.name, "CUDA_ERROR_OUT_OF_MEMORY") == 0 &&
          strcmp(err.call, "cuMemAlloc") == 0);
    RtBuffer *a;
    CHECK_OK(a = rt_buffer_new(d, RT_MEM_DEVICE, 20 << 20, NULL, &err));
    rt_buffer_release(a);
    CHECK_OK(a = rt_buffer_new(d, RT_MEM_DEVICE, 30 << 20, NULL,
                               &err)); /* the cached 20 MiB are given back */
    rt_buffer_release(a);
    end_of_test();
    without_env("FAKECUDA_MEMORY");
}

/* -- modules ----------------------------------------------------------------------------------- */

static void test_CUH_13_bad_ptx_tells_the_log(void) {
    RtDevice *d = cuda();
    Artifact a = artifact_of("broken", PTX_HEAD
                             ".visible .entry broken()\n{\n  frobnicate.u32 %r1;\n  ret;\n}\n");
    rt_error_init(&err);
    CHECK(!rt_kernel(d, &a, &err));
    CHECK_ERROR(&err, RT_API_ERROR, "CUDA_ERROR_INVALID_PTX (218)");
    CHECK_ERROR(&err, RT_API_ERROR, "loading kernel broken for sm_90");
    CHECK_ERROR(&err, RT_API_ERROR, "The driver's log:\n");
    CHECK_ERROR(&err, RT_API_ERROR, "frobnicate");
    CHECK(call_count("cuModuleGetFunction") ==
          0); /* nothing is asked of a module that is not there */
    Artifact b = vadd_artifact();
    b.entry_name = STR("subtract");
    rt_error_init(&err);
    CHECK(!rt_kernel(d, &b, &err));
    CHECK_ERROR(&err, RT_API_ERROR, "asked for 'subtract'");
    CHECK(live("module") == 0);
    end_of_test();
}

static void test_modules_are_unloaded_when_idle(void) {
    RtDevice *d = cuda();
    Artifact a = vadd_artifact();
    RtKernel *k = rt_kernel(d, &a, &err);
    CHECK_OK(device_round_trip(d, k, NULL, &err));
    rt_kernel_release(k);
    CHECK(live("module") == 1); /* it might still run */
    CHECK_OK(rt_device_synchronize(d, NULL, &err));
    CHECK(live("module") == 0);
    end_of_test();
}

static void test_CUH_04_too_many_parameters(void) {
    RtDevice *d = cuda();
    Artifact a = vadd_artifact();
    a.param_bytes = 40000;
    rt_error_init(&err);
    CHECK(!rt_kernel(d, &a, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "40000 bytes of arguments");
    end_of_test();
}

static void test_CUH_03_dynamic_shared_memory(void) {
    static const ValueLayout params[] = {ARRAY_LAYOUT(i32, 1), SCALAR_LAYOUT(i32, 4)};
    static const uint8_t usage[] = {ARG_WRITTEN, 0};
    static const KernelParam plan[] = {{0, 8, 0, 0, true, false}, {1, 4, 0, 8, false, false}};
    Artifact a = artifact_of("dynamic", dynamic_ptx);
    a.nparams = a.nkernel_params = 2;
    a.params = params, a.usage = usage, a.kernel_params = plan;
    a.param_bytes = 12;
    RtDevice *d = cuda();
    RtKernel *k;
    CHECK_OK(k = rt_kernel(d, &a, &err));
    int32_t sizes[] = {1024, 48 << 10, 100000, 64 << 10, rt_info(d)->max_shared_optin};
    for (int i = 0; i < countof(sizes); i++) {
        int32_t out[32] = {0}, last = sizes[i] - 4;
        Packed p = packed_1d(out, 32, 4);
        void *args[] = {&p, &last};
        uint32_t host[] = {1, 0};
        RtLaunch l = launch_of(k, 1, 32, args);
        l.host = host;
        l.dynamic_shared = sizes[i];
        CHECK_OK(rt_launch(&l, &err));
        CHECK(out[0] == 77 && out[31] == 77);
    }
    CHECK(call_count("cuFuncSetAttribute") ==
          2); /* 100000 and the maximum; 64 KiB is covered by then */
    RtLaunch l = launch_of(k, 1, 32, NULL);
    l.dynamic_shared = rt_info(d)->max_shared_optin + 1;
    rt_error_init(&err);
    CHECK(!rt_launch(&l, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "of dynamic shared memory are asked for");
    rt_kernel_release(k);
    end_of_test();
}

/* -- what kernels do wrong --------------------------------------------------------------------- */

static void test_CUH_05_sticky_error(void) {
    RtDevice *d = cuda();
    Artifact good = vadd_artifact(), bad = artifact_of("fault", fault_ptx);
    RtKernel *kg, *kb;
    CHECK_OK(kg = rt_kernel(d, &good, &err));
    CHECK_OK(kb = rt_kernel(d, &bad, &err));
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 100, NULL, &err);
    RtLaunch l = launch_of(kb, 3, 64, NULL);
    rt_error_init(&err);
    bool launched = rt_launch(&l, &err); /* the error may come now or at the synchronisation */
    if (launched) CHECK(!rt_device_synchronize(d, NULL, &err));
    CHECK_ERROR(&err, RT_DEVICE_ERROR, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    CHECK_ERROR(&err, RT_DEVICE_ERROR,
                "kernel fault, launched with grid (3, 1, 1) and block (64, 1, 1)");
    CHECK(err.launch.known && strcmp(err.launch.kernel, "fault") == 0 && rt_device_dead(d));
    RtError later;
    rt_error_init(&later);
    CHECK(!device_round_trip(d, kg, NULL, &later));
    CHECK_ERROR(&later, RT_DEVICE_ERROR, "Restart the process. It was:");
    CHECK_ERROR(&later, RT_DEVICE_ERROR, "kernel fault");
    rt_buffer_release(b);
    rt_kernel_release(kg);
    rt_kernel_release(kb);
    rt_shutdown();
    CHECK(rt_host_bytes() == 0);
    reset();
}

static void test_CUH_06_mailbox(void) {
    RtDevice *d = cuda();
    Artifact a = artifact_of("raise", mailbox_ptx);
    RtKernel *k;
    CHECK_OK(k = rt_kernel(d, &a, &err));
    for (int round = 0; round < 2; round++) {
        RtLaunch l = launch_of(k, 5, 32, NULL);
        CHECK_OK(rt_launch(&l, &err));
        rt_error_init(&err);
        CHECK(!rt_device_synchronize(d, NULL, &err));
        CHECK_ERROR(&err, RT_KERNEL_EXCEPTION, "Kernel raise raised in block (");
        CHECK(err.raised.exception == -7 && err.raised.site == 3 && err.raised.args[0] == 42);
        CHECK(err.artifact == &a && err.has_thread && err.block_index[0] < 5 &&
              err.thread_index[0] < 32);
        CHECK_OK(rt_device_synchronize(d, NULL, &err)); /* told once */
    }
    rt_kernel_release(k);
    end_of_test();
}

/* -- contexts and threads ---------------------------------------------------------------------- */

static void *in_a_foreign_context(void *arg) {
    int (*create)(void **, unsigned, int), (*current)(void **), (*destroy)(void *);
    *(void **)&create = symbol("cuCtxCreate_v2");
    *(void **)&current = symbol("cuCtxGetCurrent");
    *(void **)&destroy = symbol("cuCtxDestroy_v2");
    void *foreign = NULL, *now = NULL;
    CHECK(create(&foreign, 0, 0) == 0);
    RtError e;
    rt_error_init(&e);
    CHECK(scenario(&e));
    current(&now);
    CHECK(now == foreign && now != rt_device_context(arg));
    destroy(foreign);
    return NULL;
}

static void test_CUH_07_foreign_contexts(void) {
    RtDevice *d = cuda();
    pthread_t t;
    pthread_create(&t, NULL, in_a_foreign_context, d);
    pthread_join(t, NULL);
    CHECK_OK(scenario(&err));
    end_of_test();
}

static Artifact shared_artifact;
static void *first_launch(void *arg) {
    (void)arg;
    RtError e;
    rt_error_init(&e);
    RtDevice *d = rt_device(RT_CUDA, 0, &e);
    RtStream *s = d ? rt_stream_new(d, &e) : NULL;
    RtKernel *k = s ? rt_kernel(d, &shared_artifact, &e) : NULL;
    for (int i = 0; i < 20 && k; i++)
        if (!device_round_trip(d, k, s, &e) || !host_round_trip(k, &e)) break;
    /* The kernel stays for the others: released by the last. */
    rt_kernel_release(k);
    rt_stream_release(s);
    return rt_failed(&e) ? strdup(e.text) : NULL;
}

static void test_CUH_19_first_launch_from_many_threads(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    shared_artifact = vadd_artifact();
    RtKernel *keep = rt_kernel(cuda(), &shared_artifact, &err);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, first_launch, NULL);
    for (int i = 0; i < THREADS; i++) {
        char *text = NULL;
        pthread_join(threads[i], (void **)&text);
        if (text) fprintf(stderr, "%s\n", text);
        CHECK(!text);
        free(text);
    }
    CHECK(call_count("cuModuleLoadDataEx") == 1 && call_count("cuDevicePrimaryCtxRetain") == 1);
    rt_kernel_release(keep);
    end_of_test();
}

static _Atomic int called_back;
static void on_callback(void *user) {
    called_back += *(int *)user;
}

static void test_CUH_15_callbacks_and_external_streams(void) {
    RtDevice *d = cuda();
    RtStream *s = rt_stream_new(d, &err), *external;
    int one = 1;
    CHECK_OK(rt_stream_callback(s, on_callback, &one, &err) &&
             rt_stream_synchronize(s, NULL, &err));
    CHECK(called_back == 1);
    CHECK_OK(external = rt_stream_external(d, rt_stream_handle(s), &err));
    Artifact a = vadd_artifact();
    RtKernel *k = rt_kernel(d, &a, &err);
    CHECK_OK(device_round_trip(d, k, external, &err));
    rt_stream_release(external);
    CHECK(call_count("cuStreamDestroy") == 0);
    CHECK_OK(device_round_trip(d, k, s, &err));
    rt_stream_release(s);
    CHECK(call_count("cuStreamDestroy") == 1);
    rt_kernel_release(k);
    end_of_test();
}

static int32_t no_interruption(CallContext *ctx) {
    (void)ctx;
    return 0;
}

static void test_waiting_with_a_poll(void) {
    RtDevice *d = cuda();
    Artifact a = vadd_artifact();
    RtKernel *k = rt_kernel(d, &a, &err);
    CallContext ctx;
    memset(&ctx, 0, sizeof ctx);
    ctx.poll = no_interruption;
    float x[4] = {1, 2, 3, 4}, out[4] = {0};
    Packed px = packed_1d(x, 4, 4), po = packed_1d(out, 4, 4);
    int32_t n = 4;
    void *args[] = {&px, &px, &po, &n};
    uint32_t host[] = {1, 1, 1, 0};
    RtLaunch l = launch_of(k, 1, 4, args);
    l.host = host;
    l.ctx = &ctx;
    CHECK_OK(rt_launch(&l, &err));
    CHECK(out[3] == 8 && call_count("cuStreamQuery") >= 1);
    CHECK_OK(rt_device_synchronize(d, &ctx, &err));
    /* A launch that fails waits for its copies from host memory, which is the caller's again. */
    CHECK(call_count("cuEventSynchronize") == 0);
    set_fail("cuLaunchKernel:1:1");
    rt_error_init(&err);
    CHECK(!rt_launch(&l, &err) && err.cls == RT_API_ERROR);
    CHECK(call_count("cuEventSynchronize") == 1);
    rt_kernel_release(k);
    end_of_test();
}

/* -- fork -------------------------------------------------------------------------------------- */

static void test_FRK_03_fork(void) {
    Artifact a = vadd_artifact();
    RtDevice *d = cuda();
    RtKernel *k = rt_kernel(d, &a, &err);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 100, NULL, &err);
    CHECK_OK(device_round_trip(d, k, NULL, &err));
    long calls = call_count("any");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        failures = 0;
        rt_error_init(&err);
        CHECK(!device_round_trip(d, k, NULL, &err));
        CHECK_ERROR(&err, RT_FORK_ERROR, "spawn");
        rt_error_init(&err);
        CHECK(rt_device_count(RT_CUDA, &err) == -1 && err.cls == RT_FORK_ERROR);
        rt_buffer_release(b);
        rt_kernel_release(k);
        rt_shutdown();
        CHECK(call_count("any") == calls);
        _exit(failures ? 1 : 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(device_round_trip(d, k, NULL, &err));
    rt_buffer_release(b);
    rt_kernel_release(k);
    end_of_test();
}

static void test_FRK_04_child_of_a_parent_without_cuda(void) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        failures = 0;
        reset(); /* the stand-in itself was told of the fork */
        CHECK_OK(scenario(&err));
        _exit(failures ? 1 : 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    open_stand_in();
    RUN(test_FRK_04_child_of_a_parent_without_cuda);
    RUN(test_scenario);
    RUN(test_device_info);
    RUN(test_CUH_12_missing_functions);
    RUN(test_CUH_12_old_and_new_drivers);
    RUN(test_CUH_18_no_device);
    RUN(test_CUH_16_two_devices);
    RUN(test_CUH_11_memory_runs_out);
    RUN(test_CUH_13_bad_ptx_tells_the_log);
    RUN(test_modules_are_unloaded_when_idle);
    RUN(test_CUH_04_too_many_parameters);
    RUN(test_CUH_03_dynamic_shared_memory);
    RUN(test_CUH_05_sticky_error);
    RUN(test_CUH_06_mailbox);
    RUN(test_CUH_07_foreign_contexts);
    RUN(test_CUH_19_first_launch_from_many_threads);
    RUN(test_CUH_15_callbacks_and_external_streams);
    RUN(test_waiting_with_a_poll);
    RUN(test_FRK_03_fork);
    RUN(test_CUH_each_driver_call_fails_once);
    return finish();
}
