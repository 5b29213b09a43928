/* test_runtime_hip.c - the hip device against the stand-in runtime, which checks everything and executes no kernel. Every
 * call of a whole scenario is made to fail once; afterwards no handle is left and the next call works.
 * Runs only with QUERN_HIP_LIBRARY naming the stand-in (CTest sets it). */
#include "codegen/codegen.h"
#include "tests/unit/test_runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/wait.h>

static RtError err;

/* -- the stand-in's own interface -------------------------------------------------------------- */

static void *library;
static char folder[900];
static long (*call_count)(const char *name);
static void (*reset)(void);
static long (*live)(const char *what);
static long (*live_handles)(void);
static int (*set_fail)(const char *spec);
static const char *(*last_fault)(void);
static int (*last_error)(void);
static int (*current_device)(int *device);
static int (*set_device)(int device);

static void *symbol(const char *name) {
    void *s = dlsym(library, name);
    if (!s) fprintf(stderr, "the stand-in has no %s\n", name), exit(1);
    return s;
}

/* The stand-in in the shape of one ROCm: "7", "5", or "7.lacks". */
static void use_stand_in(const char *soversion) {
    char path[1000];
    snprintf(path, sizeof path, "%s/libamdhip64.so.%s", folder, soversion);
    setenv("QUERN_HIP_LIBRARY", path, 1);
    /* What is launched is looked at, and need not be good for anything. */
    setenv("FAKEHIP_NOEXEC", "1", 1);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror()), exit(1);
    *(void **)&call_count = symbol("fakehip_call_count");
    *(void **)&reset = symbol("fakehip_reset");
    *(void **)&live = symbol("fakehip_live");
    *(void **)&live_handles = symbol("fakehip_live_handles");
    *(void **)&set_fail = symbol("fakehip_set_fail");
    *(void **)&last_fault = symbol("fakehip_last_fault");
    *(void **)&last_error = symbol("hipPeekAtLastError");
    *(void **)&current_device = symbol("hipGetDevice");
    *(void **)&set_device = symbol("hipSetDevice");
}

static void open_stand_in(void) {
    const char *path = getenv("QUERN_HIP_LIBRARY"), *name = path ? strrchr(path, '/') : NULL;
    if (!name) printf("skipped: QUERN_HIP_LIBRARY is not set\n"), exit(77);
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    use_stand_in("7");
}

static void end_with(long most_handles) {
    set_fail("");
    rt_shutdown();
    CHECK(live_handles() <= most_handles);
    CHECK(rt_host_bytes() == 0);
    reset();
}
static void end_of_test(void) {
    end_with(0);
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

static RtDevice *hip(void) {
    RtDevice *d;
    CHECK_OK(d = rt_device(RT_HIP, 0, &err));
    return d;
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* out[i] = x[i] + y[i], i the number of the work-item in its block */
static const char vadd_text[] =
    "func @vadd(x: array(f32, 1, C), y: array(f32, 1, C), out: array(f32, 1, C), n: i32) "
    "-> none typed {\n"
    "b0:\n"
    "  %1: array(f32, 1, C) = param 0\n"
    "  %2: array(f32, 1, C) = param 1\n"
    "  %3: array(f32, 1, C) = param 2\n"
    "  %4: i64 = lib \"cuda.threadIdx.x\" ()\n"
    "  %5: f32 = load %1, %4\n"
    "  %6: f32 = load %2, %4\n"
    "  %7: f32 = add %5, %6\n"
    "  store %3, %4, %7\n"
    "  %8: none = const none\n"
    "  return %8\n"
    "}\n";

/* Raises where an index leaves the array. */
static const char raise_text[] = "func @raise(x: array(f32, 1, C), n: i64) -> none typed {\n"
                                 "b0:\n"
                                 "  %1: array(f32, 1, C) = param 0\n"
                                 "  %2: i64 = param 1\n"
                                 "  %5: i64 = shape %1 axis 0\n"
                                 "  %6: i64 = check_index %2, %5 axis 0\n"
                                 "  %7: f32 = load %1, %6\n"
                                 "  store %1, %6, %7\n"
                                 "  %3: none = const none\n"
                                 "  return %3\n"
                                 "}\n";

/* 40000 bytes of static LDS */
static const char shared_text[] = "func @shared(x: array(f32, 1, C)) -> none typed {\n"
                                  "b0:\n"
                                  "  %1: array(f32, 1, C) = param 0\n"
                                  "  %2: array(f32, 1, C, shared) = static_array tuple(10000)\n"
                                  "  %4: i64 = lib \"cuda.threadIdx.x\" ()\n"
                                  "  %5: f32 = load %1, %4\n"
                                  "  store %2, %4, %5\n"
                                  "  %8: none = lib \"cuda.syncthreads\" ()\n"
                                  "  %9: i64 = const 9999\n"
                                  "  %6: i64 = sub %9, %4\n"
                                  "  %7: f32 = load %2, %6\n"
                                  "  store %1, %4, %7\n"
                                  "  %3: none = const none\n"
                                  "  return %3\n"
                                  "}\n";

static Artifact *compile(const char *text, const char *arch, bool debug) {
    CompileOptions options = {
        .entry = ENTRY_KERNEL,
        .opt_level = 3,
        .arch = arch,
        .infer = {.target = TARGET_AMDGPU, .kernel = true, .debug = debug},
    };
    Compilation *c = cg_begin(&options, NULL);
    Module *module = ir_parse_module(cg_arena(c), text, cg_diags(c));
    Artifact *artifact = NULL;
    if (module && ir_verify_module(module, "test", cg_diags(c)) && cg_front_module(c, module))
        artifact = cg_back(c);
    CHECK(artifact != NULL);
    cg_end(c);
    if (!artifact) exit(1);
    return artifact;
}

/* Compiled once. */
static Artifact *vadd;

/* -- the scenario ------------------------------------------------------------------------------ */

enum { N = 100 };

/* Nothing runs, so what comes back is what was sent. */
static bool device_round_trip(RtDevice *d, RtKernel *k, RtStream *s, RtError *e) {
    float x[N], out[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        out[i] = -1;
    }
    RtBuffer *b[3] = {NULL, NULL, NULL};
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++)
        ok = (b[i] = rt_buffer_new(d, RT_MEM_DEVICE, sizeof x, s, e)) != NULL;
    ok = ok && rt_copy_to_device(d, s, b[2]->address, x, sizeof x, true, e);
    if (ok) {
        Packed p[3];
        for (int i = 0; i < 3; i++)
            p[i] = packed_1d((void *)(uintptr_t)b[i]->address, N, 4);
        int32_t n = N;
        void *args[] = {&p[0], &p[1], &p[2], &n};
        RtLaunch l = launch_of(k, 4, 32, args);
        l.stream = s;
        ok = rt_launch(&l, e) && rt_copy_to_host(d, s, out, b[2]->address, sizeof out, true, e);
    }
    if (ok) CHECK(memcmp(x, out, sizeof x) == 0);
    for (int i = 0; i < 3; i++)
        rt_buffer_release(b[i]);
    return ok;
}

static bool host_round_trip(RtKernel *k, RtError *e) {
    float buffer[N + 10], y[N], before[N + 10];
    for (int i = 0; i < N + 10; i++)
        before[i] = buffer[i] = (float)(1000 + i);
    for (int i = 0; i < N; i++)
        y[i] = (float)i;
    Packed px = packed_1d(buffer, N, 4), py = packed_1d(y, N, 4), po = packed_1d(buffer + 10, N, 4);
    int32_t n = 5;
    void *args[] = {&px, &py, &po, &n};
    uint32_t host[] = {1, 1, 1, 0};
    RtLaunch l = launch_of(k, 1, 32, args);
    l.host = host;
    bool ok = rt_launch(&l, e);
    CHECK(memcmp(buffer, before, sizeof before) == 0);
    return ok;
}

/* Touches every function of the runtime that we use. */
static bool scenario(RtError *e) {
    RtDevice *d = rt_device(RT_HIP, 0, e);
    RtStream *s = NULL;
    RtEvent *e1 = NULL, *e2 = NULL;
    RtKernel *k = NULL;
    RtBuffer *pinned = NULL, *managed = NULL;
    float ms = -1;
    bool done = false;
    int32_t blocks = 0;
    bool ok = d && (s = rt_stream_new(d, e)) && (e1 = rt_event_new(d, true, e)) &&
              (e2 = rt_event_new(d, true, e)) && (k = rt_kernel(d, vadd, e)) &&
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

static void test_scenario(void) {
    const char *shapes[] = {"5", "7"};
    for (int i = 0; i < countof(shapes); i++) {
        use_stand_in(shapes[i]);
        CHECK_OK(scenario(&err));
        CHECK(call_count("any") > 60);
        CHECK(last_error() == 0); /* of a mailbox that was not there, say */
        CHECK_OK(scenario(&err));
        CHECK(last_fault()[0] == 0);
        end_of_test();
    }
}

static void fail_one(long n, int code, bool sticky) {
    char spec[128];
    snprintf(spec, sizeof spec, "any:%ld:%d", n, code);
    set_fail(spec);
    rt_error_init(&err);
    bool ok = scenario(&err);
    CHECK(ok == !rt_failed(&err));
    if (!ok && err.code) {
        /* The caller can name the failure and the call, and the text says both. */
        CHECK(err.code == code || err.cls == RT_MEMORY_ERROR);
        CHECK(strncmp(err.name, "hipError", 8) == 0 && strncmp(err.call, "hip", 3) == 0);
        CHECK(strstr(err.text, err.call) && strstr(err.text, err.name));
    }
    CHECK(err.cls != RT_OK || ok);
    set_fail("");
    RtError again;
    rt_error_init(&again);
    RtDevice *d = rt_device(RT_HIP, 0, &again);
    bool works = scenario(&again);
    if (d && rt_device_dead(d)) {
        CHECK(sticky && !works && again.cls == RT_DEVICE_ERROR);
    } else if (d) {
        CHECK(works);
        if (!works) fprintf(stderr, "after %s: %s\n", spec, again.text);
    }
    /* When nobody was told, it was a release that failed: it leaves its one object behind. */
    end_with(ok || sticky ? 1 : 0);
}

static void test_HIP_each_call_fails_once(void) {
    static const struct {
        int code;
        bool sticky;
    } codes[] = {{1, false}, {2, false}, {700, true}, {201, false}, {999, false}};
    const char *shapes[] = {"5", "7"};
    int injected = 0;
    for (int i = 0; i < countof(shapes); i++) {
        use_stand_in(shapes[i]);
        CHECK_OK(scenario(&err));
        long calls = call_count("any");
        end_of_test();
        for (int c = 0; c < countof(codes); c++)
            for (long n = 1; n <= calls + 1; n++, injected++)
                fail_one(n, codes[c].code, codes[c].sticky);
    }
    printf("     %d failures injected\n", injected);
}

/* -- the driver -------------------------------------------------------------------------------- */

/* Both layouts of hipDeviceProp_t give the same facts. */
static void test_HIP_device_info_of_both_layouts(void) {
    static const struct {
        const char *shape;
        int32_t version;
    } rows[] = {{"5", 5020}, {"7", 7000}};
    for (int i = 0; i < countof(rows); i++) {
        use_stand_in(rows[i].shape);
        with_env("FAKEHIP_ARCH", "gfx90a:sramecc+:xnack-");
        RtDevice *d = hip();
        const RtDeviceInfo *info = rt_info(d);
        CHECK(info->kind == RT_HIP && info->ordinal == 0);
        CHECK(strcmp(info->name, "Stand-in gfx90a:sramecc+:xnack-") == 0);
        CHECK(strcmp(info->arch, "gfx90a:sramecc+:xnack-") == 0);
        CHECK(info->warp_size == 64 && info->driver_version == rows[i].version);
        CHECK(info->cc_major == 9 && info->cc_minor == 0);
        CHECK(info->max_threads == 1024 && info->max_block[0] == 1024 &&
              info->max_block[2] == 1024);
        CHECK(info->max_grid[0] == INT32_MAX && info->max_grid[1] == 65536 &&
              info->max_grid[2] == 65536 && info->max_items == UINT32_MAX);
        CHECK(info->max_shared == 65536 && info->max_shared_optin == 65536);
        CHECK(info->memory == INT64_C(4) << 30 && info->multiprocessors == 8);
        CHECK(info->clock_khz == 2500000 && info->max_registers == 65536);
        CHECK(strcmp(info->pci_id, "0000:03:05.0") == 0 && info->uuid[3] == 0x10);
        CHECK(info->can_map_host && info->cooperative && info->managed_memory && !info->integrated);
        CHECK(rt_device_context(d) == NULL);
        end_of_test();
        with_env("FAKEHIP_ARCH", "gfx1201");
        CHECK(rt_info(hip())->warp_size == 32);
        end_of_test();
    }
    without_env("FAKEHIP_ARCH");
}

static void test_HIP_missing_functions(void) {
    use_stand_in("7.lacks");
    rt_error_init(&err);
    CHECK(rt_device_count(RT_HIP, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR,
                "lacks hipModuleLaunchKernel, which came with ROCm 4.2. Install a newer ROCm.");
    end_of_test();
    use_stand_in("5");
    RtDevice *d = hip();
    rt_error_init(&err);
    CHECK(!rt_stream_callback(rt_stream_default(d), NULL, NULL, &err));
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "The HIP driver 5.2 lacks hipLaunchHostFunc");
    end_of_test();
    use_stand_in("7");
    setenv("QUERN_HIP_LIBRARY", "/lib/x86_64-linux-gnu/libm.so.6", 1);
    rt_error_init(&err);
    CHECK(rt_device_count(RT_HIP, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "has no hipInit: it is another library");
    rt_shutdown();
    setenv("QUERN_HIP_LIBRARY", "libamdhip64.so.7", 1);
    rt_error_init(&err);
    CHECK(rt_device_count(RT_HIP, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "QUERN_HIP_LIBRARY must be an absolute path");
    rt_shutdown();
    use_stand_in("7");
}

static void test_HIP_driver_too_old(void) {
    with_env("FAKEHIP_VERSION", "40321100");
    CHECK(rt_device_count(RT_HIP, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "too old: it reports version 40321100, ROCm 5.0 is needed");
    without_env("FAKEHIP_VERSION");
}

static void test_HIP_no_device(void) {
    static const struct {
        const char *shape, *answer;
    } rows[] = {{"5", "hipInit answered hipErrorInvalidDevice (101)"},
                {"7", "hipInit answered hipErrorNoDevice (100)"}};
    for (int i = 0; i < countof(rows); i++) {
        use_stand_in(rows[i].shape);
        with_env("FAKEHIP_DEVICES", "0");
        CHECK(rt_device_count(RT_HIP, &err) == -1);
        CHECK_ERROR(&err, RT_SUPPORT_ERROR, rows[i].answer);
        CHECK_ERROR(&err, RT_SUPPORT_ERROR, "HIP_VISIBLE_DEVICES");
        RtDeviceKind kind = RT_KINDS;
        rt_error_init(&err);
        CHECK(rt_choose(RT_HIP, &kind, &err) == RT_CHOICE_FALLBACK && kind == RT_CPU);
        CHECK(last_error() == 0);
        without_env("FAKEHIP_DEVICES");
    }
}

/* -- code objects ------------------------------------------------------------------------------ */

static bool loads(const Artifact *a) {
    rt_error_init(&err);
    RtKernel *k = rt_kernel(hip(), a, &err);
    rt_kernel_release(k);
    return k != NULL;
}

static void test_AMD_01_code_for_another_chip_never_reaches_the_driver(void) {
    static const struct {
        const char *device, *code, *words; /* NULL: it loads */
    } rows[] = {
        {"gfx1100", "gfx1101", "is for gfx1101"},
        {"gfx1100", "gfx942", "is for gfx942"},
        {"gfx90a:sramecc+:xnack-", "gfx90a:xnack+", "another setting of XNACK"},
        {"gfx90a:sramecc+:xnack-", "gfx90a:sramecc-", "another setting of SRAMECC"},
        {"gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", NULL},
        {"gfx90a:sramecc+:xnack-", "gfx90a", NULL},
        {"gfx1103", "gfx11-generic", NULL},
        {"gfx1103", "gfx10-3-generic", "is for gfx10-3-generic"},
        {"gfx9999", "gfx1100", "is for gfx1100"},
    };
    for (int i = 0; i < countof(rows); i++) {
        with_env("FAKEHIP_ARCH", rows[i].device);
        Artifact *a = compile(vadd_text, rows[i].code, false);
        if (rows[i].words) {
            CHECK(!loads(a) && call_count("hipModuleLoadDataEx") == 0);
            CHECK_ERROR(&err, RT_API_ERROR, rows[i].words);
            CHECK_ERROR(&err, RT_API_ERROR, rows[i].device);
        } else {
            CHECK(loads(a));
            if (rt_failed(&err)) fprintf(stderr, "%s: %s\n", rows[i].code, err.text);
        }
        end_of_test();
        artifact_release(a);
    }
    without_env("FAKEHIP_ARCH");
}

static void test_AMD_03_versions_of_code_objects(void) {
    Artifact *a = compile(vadd_text, "gfx11-generic", false);
    with_env("FAKEHIP_VERSION", "60300000");
    CHECK(!loads(a) && call_count("hipModuleLoadDataEx") == 0);
    CHECK_ERROR(&err, RT_API_ERROR, "which ROCm reads since 6.4");
    end_of_test();
    with_env("FAKEHIP_VERSION", "60400000");
    CHECK(loads(a));
    end_of_test();
    without_env("FAKEHIP_VERSION");
    artifact_release(a);
}

/* A copy of the code with one byte changed, or cut. */
static bool loads_damaged(int64_t at, int value, int64_t length) {
    Artifact damaged = *vadd;
    char *copy = malloc((size_t)vadd->ncode);
    memcpy(copy, vadd->code, (size_t)vadd->ncode);
    if (at >= 0) copy[at] = (char)value;
    damaged.code = copy;
    damaged.ncode = length ? length : vadd->ncode;
    bool ok = loads(&damaged);
    rt_shutdown();
    free(copy);
    return ok;
}

static void test_HIP_damaged_code_objects(void) {
    CHECK(loads_damaged(-1, 0, 0));
    CHECK(!loads_damaged(-1, 0, 63) && call_count("hipModuleLoadDataEx") == 1);
    CHECK_ERROR(&err, RT_API_ERROR, "is no ELF file");
    CHECK(!loads_damaged(0, 1, sizeof(Elf64_Ehdr))); /* just long enough to be looked at */
    CHECK_ERROR(&err, RT_API_ERROR, "is no shared ELF file for AMD GPUs");
    static const int places[] = {0, EI_CLASS, EI_OSABI, offsetof(Elf64_Ehdr, e_machine),
                                 offsetof(Elf64_Ehdr, e_type)};
    for (int i = 0; i < countof(places); i++) {
        CHECK(!loads_damaged(places[i], 1, 0));
        CHECK_ERROR(&err, RT_API_ERROR, "is no shared ELF file for AMD GPUs");
    }
    CHECK(call_count("hipModuleLoadDataEx") == 1);
    /* What only the driver sees comes with its name: a descriptor that differs from the metadata. */
    static const char zeros[8];
    const char *code = vadd->code;
    int64_t at = 0; /* of the descriptor: no LDS, no scratch, then the size of the arguments */
    while (at + 64 < vadd->ncode && !(memcmp(code + at, zeros, 8) == 0 && code[at + 8] &&
                                      memcmp(code + at + 9, zeros, 7) == 0 && code[at + 17]))
        at += 64;
    CHECK(!loads_damaged(at + 8, 1, 0));
    CHECK_ERROR(&err, RT_API_ERROR, "hipModuleLoadDataEx failed with hipErrorInvalidImage (200)");
    CHECK_ERROR(&err, RT_API_ERROR, "loading kernel vadd for gfx1100");
    CHECK(strstr(last_fault(), "descriptor and metadata disagree"));
    Artifact other = *vadd;
    other.entry_name = STR("subtract");
    CHECK(!loads(&other));
    CHECK_ERROR(&err, RT_API_ERROR, "asked for 'subtract'");
    CHECK(live("module") == 0);
    end_of_test();
}

static void test_HIP_too_many_parameters(void) {
    Artifact a = *vadd;
    a.param_bytes = 5000;
    CHECK(!loads(&a));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "5000 bytes of arguments");
    end_of_test();
}

/* -- several devices --------------------------------------------------------------------------- */

static void test_HIP_two_devices(void) {
    with_env("FAKEHIP_DEVICES", "2");
    RtDevice *d[2];
    RtKernel *k[2];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(d[i] = rt_device(RT_HIP, i, &err));
        CHECK_OK(k[i] = rt_kernel(d[i], vadd, &err));
        CHECK_OK(device_round_trip(d[i], k[i], NULL, &err));
    }
    CHECK(k[0] != k[1] && call_count("hipModuleLoadDataEx") == 2);
    int now = -1;
    CHECK(current_device(&now) == 0 && now == 0); /* the thread has its own back */
    CHECK(set_device(1) == 0);
    CHECK_OK(device_round_trip(d[0], k[0], NULL, &err));
    CHECK(current_device(&now) == 0 && now == 1);
    RtBuffer *b0 = rt_buffer_new(d[0], RT_MEM_DEVICE, 64, NULL, &err);
    RtBuffer *b1 = rt_buffer_new(d[1], RT_MEM_DEVICE, 64, NULL, &err);
    char bytes[64] = "from one to the other", back[64] = "";
    bool can = false;
    CHECK_OK(rt_device_peer(d[0], d[1], &can, &err));
    CHECK(can);
    CHECK_OK(rt_copy_to_device(d[0], NULL, b0->address, bytes, 64, true, &err));
    CHECK_OK(rt_copy_between(d[1], b1->address, d[0], b0->address, 64, &err));
    CHECK_OK(rt_copy_to_host(d[1], NULL, back, b1->address, 64, true, &err));
    CHECK(memcmp(bytes, back, 64) == 0 && call_count("hipMemcpyPeer") == 1);
    rt_buffer_release(b0);
    rt_buffer_release(b1);
    rt_kernel_release(k[0]);
    rt_kernel_release(k[1]);
    end_of_test();
    without_env("FAKEHIP_DEVICES");
}

/* -- launches ---------------------------------------------------------------------------------- */

static bool launches(RtKernel *k, int64_t gx, int64_t gy, int64_t bx, int64_t shared) {
    static float x[4];
    Packed p = packed_1d(x, 4, 4);
    int32_t n = 4;
    void *args[] = {&p, &p, &p, &n};
    uint32_t host[] = {1, 1, 1, 0};
    RtLaunch l = launch_of(k, gx, bx, args);
    l.grid[1] = gy;
    l.host = host;
    l.dynamic_shared = shared;
    rt_error_init(&err);
    return rt_launch(&l, &err);
}

static void test_HIP_launches_out_of_range(void) {
    RtDevice *d = hip();
    Artifact *a = compile(shared_text, "gfx1100", false);
    RtKernel *k = rt_kernel(d, vadd, &err), *s = rt_kernel(d, a, &err);
    CHECK(k && s && rt_kernel_info(s)->shared_bytes == 40000);
    CHECK(launches(k, 1, 1, 1024, 65536));
    CHECK(!launches(k, 0, 1, 32, 0));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "its x dimension must be at least 1");
    CHECK(!launches(k, 1, 65537, 32, 0));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "allows at most 65536 in dimension y");
    CHECK(!launches(k, 1, 1, 1025, 0));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "1024");
    CHECK(launches(k, INT32_MAX, 1, 2, 0));
    CHECK(!launches(k, INT32_MAX, 1, 3, 0));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "more than 4294967295 threads along x");
    CHECK(!launches(k, 1, 1, 32, 65537));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "allows 0 to 65536 in a block");
    CHECK(launches(s, 1, 1, 32, 65536 - 40000));
    CHECK(!launches(s, 1, 1, 32, 65536 - 40000 + 1));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "has 40000 bytes of static");
    CHECK(call_count("hipModuleLaunchKernel") == 3); /* the others were refused before */
    CHECK(launches(k, 1, 1, 32, 0));
    rt_kernel_release(k);
    rt_kernel_release(s);
    end_of_test();
    artifact_release(a);
}

static void test_HIP_memory_runs_out(void) {
    with_env("FAKEHIP_MEMORY", "33554432");
    RtDevice *d = hip();
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, 1 << 26, NULL, &err));
    CHECK_ERROR(&err, RT_MEMORY_ERROR, "67108864 bytes were asked for");
    CHECK(err.code == 2 && strcmp(err.name, "hipErrorOutOfMemory") == 0 &&
          strcmp(err.call, "hipMalloc") == 0);
    CHECK(last_error() == 0); /* PyTorch would take it for its own */
    RtBuffer *a;
    CHECK_OK(a = rt_buffer_new(d, RT_MEM_DEVICE, 20 << 20, NULL, &err));
    rt_buffer_release(a);
    CHECK_OK(
        a = rt_buffer_new(d, RT_MEM_DEVICE, 30 << 20, NULL, &err)); /* the cache is given back */
    rt_buffer_release(a);
    end_of_test();
    without_env("FAKEHIP_MEMORY");
}

/* -- what kernels do wrong --------------------------------------------------------------------- */

static void check_dead(RtDevice *d, RtKernel *k) {
    CHECK(err.launch.known && strcmp(err.launch.kernel, "vadd") == 0 && rt_device_dead(d));
    RtError later;
    rt_error_init(&later);
    CHECK(!device_round_trip(d, k, NULL, &later));
    CHECK_ERROR(&later, RT_DEVICE_ERROR, "Restart the process. It was:");
    CHECK_ERROR(&later, RT_DEVICE_ERROR, "kernel vadd");
    rt_kernel_release(k);
    rt_shutdown();
    CHECK(rt_host_bytes() == 0 && live_handles() == 0);
}

static void test_HIP_device_lost_in_the_middle(void) {
    with_env("FAKEHIP_FAULT", "2:719");
    RtDevice *d = hip();
    RtKernel *k;
    CHECK_OK(k = rt_kernel(d, vadd, &err));
    CHECK_OK(device_round_trip(d, k, NULL, &err));
    rt_error_init(&err);
    CHECK(!device_round_trip(d, k, NULL, &err));
    CHECK_ERROR(&err, RT_DEVICE_ERROR, "hipErrorLaunchFailure (719)");
    check_dead(d, k);
    without_env("FAKEHIP_FAULT");
}

/* The stand-in knows every allocation: an address that is none is a fault of the kernel that gets it. */
static void test_HIP_stale_pointers(void) {
    RtDevice *d = hip();
    RtKernel *k = rt_kernel(d, vadd, &err);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 400, NULL, &err);
    Packed p = packed_1d((void *)(uintptr_t)b->address, 100, 4);
    rt_buffer_release(b);
    CHECK_OK(rt_memory_trim(d, &err)); /* now it is freed */
    int32_t n = N;
    void *args[] = {&p, &p, &p, &n};
    RtLaunch l = launch_of(k, 1, 32, args);
    CHECK_OK(rt_launch(&l, &err));
    CHECK(!rt_device_synchronize(d, NULL, &err));
    CHECK_ERROR(&err, RT_DEVICE_ERROR, "hipErrorIllegalAddress (700)");
    CHECK(strstr(last_fault(), "where this device has no memory"));
    check_dead(d, k);
    reset();
}

static void test_HIP_mailbox(void) {
    RtDevice *d = hip();
    Artifact *a = compile(raise_text, "gfx1100", true);
    RtKernel *k;
    CHECK_OK(k = rt_kernel(d, a, &err));
    uint64_t address = 0;
    int64_t size = 0;
    CHECK_OK(rt_kernel_global(k, KERNEL_MAILBOX_NAME, &address, &size, &err));
    CHECK(size == sizeof(KernelMailbox));
    float x[4] = {0};
    Packed p = packed_1d(x, 4, 4);
    int64_t n = 7;
    void *args[] = {&p, &n};
    uint32_t host[] = {1, 0};
    for (int round = 0; round < 2; round++) {
        /* What the kernel would write. */
        KernelMailbox mail = {
            .state = 1, .exception = -7, .site = 3, .block = {2, 0, 0}, .thread = {5, 0, 0}};
        mail.args[0] = 42;
        RtLaunch l = launch_of(k, 5, 32, args);
        l.host = host;
        CHECK_OK(rt_copy_to_device(d, NULL, address, &mail, sizeof mail, true, &err));
        rt_error_init(&err);
        CHECK(!rt_launch(&l, &err)); /* with host arrays it waits */
        CHECK_ERROR(&err, RT_KERNEL_EXCEPTION, "Kernel raise raised in block (");
        CHECK(err.raised.exception == -7 && err.raised.site == 3 && err.raised.args[0] == 42);
        CHECK(err.artifact == a && err.block_index[0] == 2 && err.thread_index[0] == 5);
        CHECK_OK(rt_device_synchronize(d, NULL, &err)); /* told once */
    }
    rt_kernel_release(k);
    end_of_test();
    artifact_release(a);
}

/* -- streams, fork ----------------------------------------------------------------------------- */

static _Atomic int called_back;
static void on_callback(void *user) {
    called_back += *(int *)user;
}

static void test_HIP_callbacks_and_external_streams(void) {
    RtDevice *d = hip();
    RtStream *s = rt_stream_new(d, &err), *external;
    int one = 1;
    CHECK_OK(rt_stream_callback(s, on_callback, &one, &err) &&
             rt_stream_synchronize(s, NULL, &err));
    CHECK(called_back == 1);
    CHECK_OK(external = rt_stream_external(d, rt_stream_handle(s), &err));
    RtKernel *k = rt_kernel(d, vadd, &err);
    CHECK_OK(device_round_trip(d, k, external, &err));
    rt_stream_release(external);
    CHECK(call_count("hipStreamDestroy") == 0);
    rt_stream_release(s);
    CHECK(call_count("hipStreamDestroy") == 1);
    rt_kernel_release(k);
    end_of_test();
}

static void test_FRK_03_fork(void) {
    RtDevice *d = hip();
    RtKernel *k = rt_kernel(d, vadd, &err);
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
        CHECK(rt_device_count(RT_HIP, &err) == -1 && err.cls == RT_FORK_ERROR);
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

int main(void) {
    open_stand_in();
    vadd = compile(vadd_text, "gfx1100", false);
    RUN(test_scenario);
    RUN(test_HIP_device_info_of_both_layouts);
    RUN(test_HIP_missing_functions);
    RUN(test_HIP_driver_too_old);
    RUN(test_HIP_no_device);
    RUN(test_AMD_01_code_for_another_chip_never_reaches_the_driver);
    RUN(test_AMD_03_versions_of_code_objects);
    RUN(test_HIP_damaged_code_objects);
    RUN(test_HIP_too_many_parameters);
    RUN(test_HIP_two_devices);
    RUN(test_HIP_launches_out_of_range);
    RUN(test_HIP_memory_runs_out);
    RUN(test_HIP_device_lost_in_the_middle);
    RUN(test_HIP_stale_pointers);
    RUN(test_HIP_mailbox);
    RUN(test_HIP_callbacks_and_external_streams);
    RUN(test_FRK_03_fork);
    RUN(test_HIP_each_call_fails_once);
    artifact_release(vadd);
    return finish();
}
