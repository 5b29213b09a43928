/* The driver's functions: what they answer, what they refuse, and what the environment asks of them. */
#include "testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kernel_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry put(.param .u64 p, .param .u32 v, .param .align 8 .b8 s[16])\n"
    ".maxntid 256, 1, 1\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; ld.param.u32 %r2, [s+8];\n"
    "add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".global .align 4 .u32 word = 7;\n";

/* -- Before there is a driver, and devices ---------------------------------------------------- */

static void test_init(Tally *tally) {
    int count = -1, version = 0, value = 0;
    char name[64];
    size_t bytes = 0;
    fakecuda_reset();
    FAILS(cuDeviceGetCount(&count), ERROR_NOT_INITIALIZED);
    OK(cuDriverGetVersion(&version));
    CHECK(version == 12040);
    FAILS(cuInit(1), ERROR_INVALID_VALUE);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    CHECK(count == 1);
    FAILS(cuDeviceGet(&count, 1), ERROR_INVALID_DEVICE);
    OK(cuDeviceGetName(name, sizeof name, 0));
    CHECK(strstr(name, "sm_90") != NULL);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    CHECK(bytes == (size_t)4 << 30);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    CHECK(value == 9);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CHECK(value == 32);
    FAILS(cuDeviceGetAttribute(&value, 100000, 0), ERROR_INVALID_VALUE);
    CHECK(fakecuda_call_count("cuDeviceGetCount") == 2);
}

static void test_environment(Tally *tally) {
    int count = 0, value = 0;
    setenv("FAKECUDA_DEVICES", "0", 1);
    fakecuda_reset();
    FAILS(cuInit(0), ERROR_NO_DEVICE);
    setenv("FAKECUDA_DEVICES", "8", 1);
    setenv("FAKECUDA_CC", "75", 1);
    fakecuda_reset();
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 7));
    CHECK(count == 8 && value == 5);
    unsetenv("FAKECUDA_DEVICES");
    unsetenv("FAKECUDA_CC");
    fakecuda_reset();
}

static void test_proc_address(Tally *tally) {
    void *address = NULL;
    int status = -1;
    setenv("FAKECUDA_MISSING", "cuMemFree", 1);
    fakecuda_reset();
    OK(cuGetProcAddress_v2("cuMemAlloc", &address, 12000, 0, &status));
    CHECK(address == (void *)(uintptr_t)cuMemAlloc_v2 && status == CU_GET_PROC_ADDRESS_SUCCESS);
    FAILS(cuGetProcAddress_v2("cuMemAlloc", &address, 2000, 0, &status), ERROR_NOT_FOUND);
    CHECK(!address && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    FAILS(cuGetProcAddress_v2("cuMemAlloc_v2", &address, 12000, 0, &status), ERROR_NOT_FOUND);
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    FAILS(cuGetProcAddress_v2("cuMemFree", &address, 12000, 0, &status), ERROR_NOT_FOUND);
    OK(cuGetProcAddress("cuGetProcAddress", &address, 11030, 0));
    CHECK(address == (void *)(uintptr_t)cuGetProcAddress);
    OK(cuGetProcAddress("cuGetProcAddress", &address, 12000, 0));
    CHECK(address == (void *)(uintptr_t)cuGetProcAddress_v2);
    unsetenv("FAKECUDA_MISSING");
}

static void test_failures(Tally *tally) {
    CUdeviceptr d;
    open_device(tally);
    CHECK(fakecuda_set_fail("cuMemAlloc:2:2,cuMemFree_v2:1+:700") == 0);
    OK(cuMemAlloc_v2(&d, 16));
    FAILS(cuMemAlloc_v2(&d, 16), ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc_v2(&d, 16));
    FAILS(cuMemFree_v2(d), ERROR_ILLEGAL_ADDRESS);
    FAILS(cuMemFree_v2(d), ERROR_ILLEGAL_ADDRESS);
    CHECK(fakecuda_set_fail("any:3:999") == 0);
    OK(cuMemFree_v2(d));
    OK(cuCtxSynchronize());
    FAILS(cuCtxSynchronize(), ERROR_UNKNOWN);
    OK(cuCtxSynchronize());
    CHECK(fakecuda_set_fail("cuNoSuchThing:1:2") != 0);
    CHECK(fakecuda_set_fail("") == 0);
}

/* -- Contexts --------------------------------------------------------------------------------- */

static void test_contexts(Tally *tally) {
    CUcontext primary = NULL, other = NULL, current = NULL;
    CUdeviceptr d;
    CUstream stream = NULL;
    unsigned flags;
    int active = -1;
    fakecuda_reset();
    OK(cuInit(0));
    FAILS(cuMemAlloc_v2(&d, 16), ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuDevicePrimaryCtxRetain(&other, 0));
    CHECK(primary == other);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 1);
    OK(cuCtxPushCurrent_v2(primary));
    OK(cuMemAlloc_v2(&d, 16));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuCtxGetCurrent(&current));
    CHECK(current == other);
    OK(cuStreamCreate(&stream, 0));
    OK(cuCtxPopCurrent_v2(&current));
    CHECK(current == other);
    FAILS(cuStreamSynchronize(stream), ERROR_INVALID_HANDLE);
    OK(cuCtxDestroy_v2(other));
    FAILS(cuStreamDestroy_v2(stream), ERROR_INVALID_HANDLE);
    FAILS(cuCtxPushCurrent_v2(other), ERROR_INVALID_CONTEXT);
    FAILS(cuCtxDestroy_v2(primary), ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    FAILS(cuMemFree_v2(d), ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuDevicePrimaryCtxRelease_v2(0), ERROR_INVALID_CONTEXT);
    CHECK(fakecuda_live_handles() == 0);
    OK(cuCtxSetCurrent(NULL));
}

/* -- Memory ----------------------------------------------------------------------------------- */

static void test_memory(Tally *tally) {
    unsigned char bytes[64] = {0};
    CUdeviceptr a = 0, b = 0;
    size_t left = 0, total = 0;
    open_device(tally);
    FAILS(cuMemAlloc_v2(&a, 0), ERROR_INVALID_VALUE);
    FAILS(cuMemAlloc_v2(&a, (size_t)1 << 40), ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc_v2(&a, 64));
    OK(cuMemAllocAsync(&b, 64, NULL));
    CHECK(a % 256 == 0 && b % 256 == 0 && b >= a + 64);
    OK(cuMemGetInfo_v2(&left, &total));
    CHECK(total - left == 128);
    OK(cuMemcpyDtoH_v2(bytes, a, 64));
    CHECK(bytes[0] == 0xcb && bytes[63] == 0xcb);
    OK(cuMemsetD32_v2(a, 0x01020304, 16));
    OK(cuMemcpyDtoD_v2(b, a, 64));
    OK(cuMemcpyDtoH_v2(bytes, b, 64));
    CHECK(bytes[60] == 4 && bytes[63] == 1);
    FAILS(cuMemcpyDtoH_v2(bytes, a, 65), ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD_v2(a + 32, bytes, 33), ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD_v2((uintptr_t)bytes, bytes, 8), ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD_v2(a, (void *)(uintptr_t)b, 8), ERROR_INVALID_VALUE);
    FAILS(cuMemFree_v2(a + 8), ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(a));
    FAILS(cuMemFree_v2(a), ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoH_v2(bytes, a, 4), ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(0));
    OK(cuMemFreeAsync(b, NULL));
    CHECK(fakecuda_live("memory") == 0);
}

static void test_host_memory(Tally *tally) {
    static char plain[8192];
    int device = -1;
    unsigned type = 0;
    void *pinned = NULL;
    CUdeviceptr d;
    open_device(tally);
    OK(cuMemAllocHost_v2(&pinned, 100));
    memset(pinned, 1, 100);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)pinned));
    CHECK(type == CU_MEMORYTYPE_HOST);
    OK(cuMemFreeHost(pinned));
    FAILS(cuMemFreeHost(pinned), ERROR_INVALID_VALUE);
    OK(cuMemHostRegister_v2(plain, sizeof plain, 0));
    FAILS(cuMemHostRegister_v2(plain + 100, 10, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(plain));
    FAILS(cuMemHostUnregister(plain), ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemAlloc_v2(&d, 8));
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, d + 7));
    CHECK(device == 0);
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&type),
          ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(d));
}

static void test_copy_2d(Tally *tally) {
    char from[6][10], to[4][5];
    memset(from, 'x', sizeof from);
    for (int i = 0; i < 4; i++)
        memcpy(&from[i + 1][3], &"abcd"[i % 2], 3);
    open_device(tally);
    CUdeviceptr d = upload(tally, NULL, 64);
    CuMemcpy2D in = {.src_x = 3,
                     .src_y = 1,
                     .src_type = CU_MEMORYTYPE_HOST,
                     .src_host = from,
                     .src_pitch = 10,
                     .dst_type = CU_MEMORYTYPE_DEVICE,
                     .dst_device = d,
                     .dst_pitch = 16,
                     .width = 3,
                     .height = 4};
    CuMemcpy2D out = {.src_type = CU_MEMORYTYPE_DEVICE,
                      .src_device = d,
                      .src_pitch = 16,
                      .dst_type = CU_MEMORYTYPE_HOST,
                      .dst_host = to,
                      .dst_pitch = 5,
                      .width = 3,
                      .height = 4};
    OK(cuMemcpy2D_v2(&in));
    OK(cuMemcpy2D_v2(&out));
    CHECK(memcmp(to[0], "abc", 3) == 0 && memcmp(to[3], "bcd", 3) == 0);
    in.height = 5;
    FAILS(cuMemcpy2D_v2(&in), ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(d));
}

/* A host that looks behind a device pointer is stopped. */
static void test_guard(Tally *tally) {
    int status = 0;
    open_device(tally);
    CUdeviceptr d = upload(tally, NULL, 64);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)(uintptr_t)d == 0 ? 1 : 2);
    }
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    OK(cuMemFree_v2(d));
}

static void test_fork(Tally *tally) {
    int status = 0;
    open_device(tally);
    pid_t child = fork();
    if (child == 0) _exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) ? 0 : 1);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* -- Streams and events ----------------------------------------------------------------------- */

static void note_call(void *data) {
    int *seen = data;
    seen[0]++;
    seen[1] = cuCtxSynchronize();
}

static void note_stream(CUstream stream, CUresult status, void *data) {
    (void)stream;
    ((int *)data)[0] += status == 0;
}

static void test_streams(Tally *tally) {
    CUstream stream = NULL;
    CUevent start = NULL, end = NULL;
    float ms = -1;
    int seen[2] = {0, 0};
    open_device(tally);
    FAILS(cuStreamCreate(&stream, 2), ERROR_INVALID_VALUE);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(start, stream));
    FAILS(cuEventElapsedTime(&ms, start, end), ERROR_INVALID_HANDLE);
    OK(cuEventRecord(end, stream));
    OK(cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 0);
    OK(cuStreamWaitEvent(stream, end, 0));
    OK(cuLaunchHostFunc(stream, note_call, seen));
    CHECK(seen[0] == 1 && seen[1] == CUDA_ERROR_NOT_PERMITTED);
    OK(cuStreamAddCallback(stream, note_stream, seen, 0));
    CHECK(seen[0] == 2);
    FAILS(cuStreamSynchronize((CUstream)start), ERROR_INVALID_HANDLE);
    CHECK(fakecuda_live_handles() == 3);
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(end));
    FAILS(cuEventDestroy_v2(end), ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy_v2(stream));
    FAILS(cuStreamSynchronize(stream), ERROR_INVALID_HANDLE);
    CHECK(fakecuda_live_handles() == 0);
}

/* -- Modules ---------------------------------------------------------------------------------- */

static void test_bad_text(Tally *tally, const char *text, CUresult want, const char *in_log) {
    char log[1024] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
    void *values[] = {(void *)sizeof log, log};
    CUmodule module;
    check_code(tally, cuModuleLoadDataEx(&module, text, 2, options, values), want, in_log,
               __LINE__);
    if (!CHECK(strstr(log, in_log) != NULL)) printf("    log: %s\n", log);
    CHECK((size_t)values[0] == strlen(log));
}

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static void test_modules(Tally *tally) {
    CUmodule module;
    CUfunction fn;
    int value = 0;
    open_device(tally);
    test_bad_text(tally, ".version 8.5\n.target sm_80\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                  "Unsupported .version 8.5");
    test_bad_text(tally, ".version 8.4\n.target sm_100\n", CUDA_ERROR_NO_BINARY_FOR_GPU, "sm_100");
    test_bad_text(tally, HEAD ".visible .entry k()\n{\n  frobnicate.b32 %r1;\n}\n",
                  CUDA_ERROR_INVALID_PTX, "line 6");
    test_bad_text(tally, HEAD ".entry k() { .reg .b32 %r<2>; add.f33 %r0, %r1, 2; }\n",
                  CUDA_ERROR_INVALID_PTX, "add.f33");
    test_bad_text(tally, HEAD ".entry k() { .reg .b32 %r<2>; mov.b32 %r2, 1; }\n",
                  CUDA_ERROR_INVALID_PTX, "Destination");
    test_bad_text(tally, HEAD ".entry k() { bra nowhere; }\n", CUDA_ERROR_INVALID_PTX, "nowhere");
    test_bad_text(tally, HEAD ".extern .func f();\n.entry k() { call f; }\n",
                  CUDA_ERROR_INVALID_PTX, "Unresolved");
    test_bad_text(tally, HEAD ".entry k() { .reg .b32 %r<2>; ld.frozen.u32 %r0, [8]; }\n",
                  CUDA_ERROR_INVALID_PTX, ".frozen");
    test_bad_text(tally, HEAD ".entry k() { .reg .b32 %r<2>; .reg .b64 %d; add.u32 %r0, %d, 1; }",
                  CUDA_ERROR_INVALID_PTX, "Arguments mismatch");
    FAILS(cuModuleLoadData(&module, "hello"), ERROR_INVALID_IMAGE);
    FAILS(cuModuleLoadData(&module, "\177ELF\2\1\1"), ERROR_NO_BINARY_FOR_GPU);
    CHECK(fakecuda_live_handles() == 0);
    OK(cuModuleLoadData(&module, kernel_text));
    FAILS(cuModuleGetFunction(&fn, module, "nothing"), ERROR_NOT_FOUND);
    OK(cuModuleGetFunction(&fn, module, "put"));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, fn));
    CHECK(value == 256);
    OK(cuModuleUnload(module));
    FAILS(cuModuleUnload(module), ERROR_INVALID_HANDLE);
    FAILS(cuFuncGetAttribute(&value, 0, fn), ERROR_INVALID_HANDLE);
    CHECK(fakecuda_live_handles() == 0);
}

static void test_launch(Tally *tally) {
    struct {
        CUdeviceptr p;
        unsigned v, pad;
        unsigned s[4];
    } buffer = {0, 5, 0, {0, 0, 100, 0}};
    size_t size = sizeof buffer;
    unsigned got = 0;
    int blocks = 0, block = 0, grid = 0;
    open_device(tally);
    CUmodule module = load_text(tally, kernel_text);
    CUfunction fn = function(tally, module, "put");
    buffer.p = upload(tally, NULL, 4);
    void *extra[] = {(void *)FC_LAUNCH_BUFFER, &buffer, (void *)FC_LAUNCH_BUFFER_SIZE, &size, NULL};
    void *args[] = {&buffer.p, &buffer.v, buffer.s};
    OK(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH_v2(&got, buffer.p, 4));
    CHECK(got == 105);
    buffer.v = 6;
    OK(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH_v2(&got, buffer.p, 4));
    CHECK(got == 106);
    size = 8;
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, args, extra), ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(fn, 0, 1, 1, 1, 1, 1, 0, NULL, args, NULL), ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 257, 1, 1, 0, NULL, args, NULL), ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(fn, 1, 70000, 1, 1, 1, 1, 0, NULL, args, NULL), ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 50000, NULL, args, NULL), ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(fn, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
    OK(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 50000, NULL, args, NULL));
    FAILS(cuLaunchCooperativeKernel(fn, 100000, 1, 1, 1, 1, 1, 0, NULL, args),
          ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fn, 256, 0));
    CHECK(blocks == 8);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, fn, NULL, 0, 0));
    CHECK(block == 256 && grid == 64);
    CHECK(fakecuda_call_count("cuLaunchKernel") == 10);
    OK(cuMemFree_v2(buffer.p));
}

/* With CUDA_LAUNCH_BLOCKING the launch itself reports; a kernel without end is stopped. */
static void test_blocking(Tally *tally) {
    char *text = read_text(FIXTURES "/kernels_O3.ptx");
    int zero = 0, index = 100;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    setenv("FAKECUDA_TIMEOUT", "1", 1);
    open_device(tally);
    CUmodule module = load_text(tally, text);
    CUdeviceptr d = upload(tally, &zero, 4);
    void *args[] = {&d, &index};
    CUfunction fn = function(tally, module, "never_ends");
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), ERROR_LAUNCH_TIMEOUT);
    open_device(tally);
    module = load_text(tally, text);
    d = upload(tally, &zero, 4);
    fn = function(tally, module, "out_of_bounds");
    FAILS(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), ERROR_ILLEGAL_ADDRESS);
    FAILS(cuMemAlloc_v2(&d, 4), ERROR_ILLEGAL_ADDRESS);
    unsetenv("CUDA_LAUNCH_BLOCKING");
    unsetenv("FAKECUDA_TIMEOUT");
    free(text);
}

static void test_log(Tally *tally) {
    char path[] = "/tmp/fakecuda_log_XXXXXX";
    int fd = mkstemp(path);
    setenv("FAKECUDA_LOG", path, 1);
    setenv("FAKECUDA_NOEXEC", "1", 1);
    open_device(tally);
    unsigned v = 1, s[4] = {0}, got = 0;
    CUmodule module = load_text(tally, kernel_text);
    CUdeviceptr d = upload(tally, &v, 4);
    LAUNCH(function(tally, module, "put"), 1, 1, 0, &d, &v, s);
    OK(cuMemcpyDtoH_v2(&got, d, 4));
    CHECK(got == 1); /* not executed */
    unsetenv("FAKECUDA_LOG");
    unsetenv("FAKECUDA_NOEXEC");
    fakecuda_reset();
    char *log = read_text(path);
    CHECK(log && strstr(log, "cuInit(0) = 0\n") && strstr(log, "grid 1,1,1, block 1,1,1"));
    free(log);
    close(fd);
    unlink(path);
}

/* -- Threads ---------------------------------------------------------------------------------- */

static void *worker(void *arg) {
    Tally counts = {0}, *tally = &counts;
    CUdeviceptr d;
    FAILS(cuMemAlloc_v2(&d, 4), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(arg));
    for (int i = 0; i < 200; i++) {
        unsigned v = (unsigned)i, got = 0;
        d = upload(tally, &v, 4);
        OK(cuMemcpyDtoH_v2(&got, d, 4));
        CHECK(got == v);
        OK(cuMemFree_v2(d));
    }
    return (void *)(intptr_t)counts.failures;
}

static void test_threads(Tally *tally) {
    pthread_t threads[4];
    CUcontext context = open_device(tally);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, context) == 0);
    for (int i = 0; i < 4; i++) {
        void *failures;
        pthread_join(threads[i], &failures);
        CHECK(failures == NULL);
    }
    CHECK(fakecuda_live_handles() == 0);
}

int main(void) {
    Tally counts = {0}, *tally = &counts;
    static void (*const tests[])(Tally *) = {
        test_init,     test_environment, test_proc_address, test_failures,
        test_contexts, test_memory,      test_host_memory,  test_copy_2d,
        test_guard,    test_fork,        test_streams,      test_modules,
        test_launch,   test_blocking,    test_log,          test_threads};
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
        tests[i](tally);
    return report(tally, "driver");
}
