/* What the stand-in's tests share: checks that count, and the driver's functions as a program sees them. */
#ifndef FAKECUDA_TESTING_H
#define FAKECUDA_TESTING_H

#include "../driver/cu_abi.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult error, const char **text);
CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                             int *status);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *out);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *out);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxSynchronize(void);
CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size);
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream);
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemGetInfo_v2(size_t *left, size_t *total);
CUresult cuMemAllocHost_v2(void **out, size_t size);
CUresult cuMemFreeHost(void *host);
CUresult cuMemHostRegister_v2(void *host, size_t size, unsigned flags);
CUresult cuMemHostUnregister(void *host);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuMemcpy2D_v2(const CuMemcpy2D *copy);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address);
CUresult cuStreamCreate(CUstream *out, unsigned flags);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data, unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data);
CUresult cuEventCreate(CUevent *out, unsigned flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuModuleLoadData(CUmodule *out, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, int *options,
                            void **values);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module,
                              const char *name);
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction fn);
CUresult cuFuncSetAttribute(CUfunction fn, int attribute, int value);
CUresult cuLaunchKernel(CUfunction fn, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                        void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction fn, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                   CUstream stream, void **params);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction fn, int threads,
                                                     size_t dynamic);
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction fn,
                                          CUoccupancyB2DSize sizes, size_t dynamic, int limit);
long fakecuda_call_count(const char *name);
void fakecuda_reset(void);
long fakecuda_live_handles(void);
long fakecuda_live(const char *what);
int fakecuda_set_fail(const char *spec);
const char *fakecuda_last_fault(void);

/* -- Checks ----------------------------------------------------------------------------------- */

typedef struct Tally {
    int checks, failures;
} Tally;

static inline bool check_at(Tally *tally, bool ok, const char *text, const char *file, int line) {
    tally->checks++;
    if (ok) return true;
    tally->failures++;
    if (tally->failures <= 40) printf("%s:%d: failed: %s\n", file, line, text);
    return false;
}

#define CHECK(condition) check_at(tally, (condition), #condition, __FILE__, __LINE__)
#define OK(call)         check_code(tally, (call), 0, #call, __LINE__)
#define FAILS(call, e)   check_code(tally, (call), CUDA_##e, #call, __LINE__)

static inline bool check_code(Tally *tally, CUresult got, CUresult want, const char *text,
                              int line) {
    tally->checks++;
    if (got == want) return true;
    tally->failures++;
    const char *name = NULL;
    cuGetErrorName(got, &name);
    if (tally->failures <= 40)
        printf("line %d: %s answered %d (%s) instead of %d: %s\n", line, text, got,
               name ? name : "?", want, fakecuda_last_fault());
    return false;
}

static inline int report(const Tally *tally, const char *name) {
    printf("%s: %d checks, %d failures\n", name, tally->checks, tally->failures);
    return tally->failures != 0;
}

/* -- Devices ---------------------------------------------------------------------------------- */

/* A fresh driver with a current context on device 0. */
static inline CUcontext open_device(Tally *tally) {
    CUcontext context = NULL;
    fakecuda_reset();
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return context;
}

static inline char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = 0;
    fclose(file);
    return text;
}

static inline CUmodule load_text(Tally *tally, const char *text) {
    char log[1024] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUmodule module = NULL;
    if (!text || !OK(cuModuleLoadDataEx(&module, text, 2, options, values))) printf("%s\n", log);
    return module;
}

static inline CUfunction function(Tally *tally, CUmodule module, const char *name) {
    CUfunction fn = NULL;
    OK(cuModuleGetFunction(&fn, module, name));
    return fn;
}

static inline CUdeviceptr upload(Tally *tally, const void *data, size_t size) {
    CUdeviceptr address = 0;
    OK(cuMemAlloc_v2(&address, size));
    if (data) OK(cuMemcpyHtoD_v2(address, data, size));
    return address;
}

/* launch(fn, grid, block, shared, pointers to the arguments...) and wait */
#define LAUNCH(fn, g, b, shared, ...)                                                              \
    (OK(cuLaunchKernel(fn, g, 1, 1, b, 1, 1, shared, NULL, (void *[]){__VA_ARGS__}, NULL)),        \
     OK(cuCtxSynchronize()))

#endif
