/* test_stand_in.c - what the stand-in refuses: copies out of bounds, memory that was freed, stale handles, wrong devices,
 * damaged code objects. The runtime's tests show what it takes. */
#include "../driver/hip_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HipResult hipInit(unsigned flags);
HipResult hipGetLastError(void);
HipResult hipSetDevice(int device);
HipResult hipMalloc(void **out, size_t size);
HipResult hipFree(void *memory);
HipResult hipHostMalloc(void **out, size_t size, unsigned flags);
HipResult hipHostFree(void *memory);
HipResult hipMemcpyHtoDAsync(void *to, const void *from, size_t size, void *stream);
HipResult hipMemcpyDtoHAsync(void *to, const void *from, size_t size, void *stream);
HipResult hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
HipResult hipMemsetD8Async(void *to, unsigned char value, size_t count, void *stream);
HipResult hipModuleLoadDataEx(void **out, const void *image, unsigned n, int *options,
                              void **values);
HipResult hipStreamCreateWithFlags(void **out, unsigned flags);
HipResult hipStreamDestroy(void *stream);
HipResult hipStreamSynchronize(void *stream);
HipResult hipEventCreateWithFlags(void **out, unsigned flags);
HipResult hipEventRecord(void *event, void *stream);
HipResult hipEventElapsedTime(float *ms, void *start, void *stop);
HipResult hipEventDestroy(void *event);
HipResult hipEventQuery(void *event);
HipResult hipEventSynchronize(void *event);
HipResult hipStreamQuery(void *stream);
HipResult hipStreamWaitEvent(void *stream, void *event, unsigned flags);
HipResult hipLaunchHostFunc(void *stream, void (*fn)(void *), void *user);
HipResult hipMemGetInfo(size_t *left, size_t *total);
void fakehip_reset(void);
int fakehip_set_fail(const char *spec);
long fakehip_live(const char *what);
long fakehip_live_handles(void);
long fakehip_call_count(const char *name);

static int failures;

#define IS(call, want)                                                                             \
    do {                                                                                           \
        int got_ = (int)(call);                                                                    \
        if (got_ == (int)(want)) break;                                                            \
        failures++;                                                                                \
        fprintf(stderr, "%s:%d: %s is %d, not %s\n", __FILE__, __LINE__, #call, got_, #want);      \
    } while (0)

static void begin(const char *devices) {
    setenv("FAKEHIP_DEVICES", devices, 1);
    fakehip_reset();
    IS(hipInit(0), HIP_Success);
}

static void test_memory(void) {
    char host[64] = "bytes", back[64] = "";
    unsigned char *p, *q;
    size_t left, total;
    begin("1");
    IS(hipMalloc((void **)&p, 64), HIP_Success);
    IS(hipMemcpyHtoDAsync(p, host, 64, NULL), HIP_Success);
    IS(hipMemcpyDtoHAsync(back, p, 64, NULL), HIP_Success);
    IS(memcmp(host, back, 64), 0);
    IS(hipMemcpyHtoDAsync(p + 1, host, 64, NULL), HIP_InvalidValue); /* one byte too far */
    IS(hipMemcpyDtoHAsync(back, p + 63, 2, NULL), HIP_InvalidValue);
    IS(hipMemcpyDtoHAsync(back, p + 64, 0, NULL), HIP_Success);
    IS(hipMemcpyHtoDAsync(host, host, 8, NULL), HIP_InvalidValue); /* no memory of a device */
    IS(hipMemcpyDtoHAsync(p, p, 8, NULL), HIP_InvalidValue);       /* no memory of the host */
    IS(hipMemsetD8Async(p, 7, 65, NULL), HIP_InvalidValue);
    IS(hipFree(p + 8), HIP_InvalidValue);
    IS(hipMemGetInfo(&left, &total), HIP_Success);
    IS(total - left, 64);
    IS(hipFree(p), HIP_Success);
    IS(hipFree(p), HIP_InvalidValue); /* twice */
    IS(hipMemcpyHtoDAsync(p, host, 8, NULL), HIP_InvalidValue);
    IS(hipMalloc((void **)&q, 64), HIP_Success);
    IS(q == p, 0); /* no address is given twice */
    IS(hipMemcpyDtoHAsync(back, q, 64, NULL), HIP_Success);
    IS(back[0] == (char)0xcb && back[63] == (char)0xcb, 1); /* new memory is garbage */
    IS(fakehip_live("memory"), 1);
    IS(hipHostMalloc((void **)&p, 10, 3), HIP_Success);
    p[9] = 1;
    IS(hipFree(p), HIP_InvalidValue);
    IS(fakehip_live("pinned"), 1);
    IS(hipHostFree(p), HIP_Success);
    IS(hipGetLastError(), HIP_InvalidValue); /* the last failure, not the last call */
    IS(hipGetLastError(), HIP_Success);
}

static void test_devices(void) {
    char *p, *q, host[8] = "";
    void *stream;
    begin("2");
    IS(hipMalloc((void **)&p, 8), HIP_Success);
    IS(hipSetDevice(2), HIP_InvalidDevice);
    IS(hipSetDevice(1), HIP_Success);
    IS(hipMalloc((void **)&q, 8), HIP_Success);
    IS(hipMemcpyHtoDAsync(p, host, 8, NULL), HIP_InvalidValue); /* the other device's */
    IS(hipMemcpyPeer(q, 1, p, 0, 8), HIP_Success);
    IS(hipMemcpyPeer(q, 0, p, 1, 8), HIP_InvalidValue);
    IS(hipStreamCreateWithFlags(&stream, 0), HIP_Success);
    IS(hipSetDevice(0), HIP_Success);
    IS(hipStreamSynchronize(stream), HIP_InvalidHandle);
    IS(fakehip_live_handles(), 3);
}

static void test_handles(void) {
    void *stream, *a, *b, *quick;
    float ms;
    begin("1");
    IS(hipStreamCreateWithFlags(&stream, 2), HIP_InvalidValue);
    IS(hipStreamCreateWithFlags(&stream, 1), HIP_Success);
    IS(hipEventCreateWithFlags(&a, 0), HIP_Success);
    IS(hipEventCreateWithFlags(&b, 0), HIP_Success);
    IS(hipEventCreateWithFlags(&quick, 2), HIP_Success);
    IS(hipEventElapsedTime(&ms, a, b), HIP_InvalidHandle); /* not recorded */
    IS(hipEventRecord(a, stream) | hipEventRecord(b, stream) | hipEventRecord(quick, NULL),
       HIP_Success);
    IS(hipEventElapsedTime(&ms, a, b), HIP_Success);
    IS(hipEventElapsedTime(&ms, a, quick), HIP_InvalidHandle); /* without timing */
    IS(hipEventRecord(stream, stream), HIP_InvalidHandle);     /* a stream is no event */
    IS(hipStreamDestroy(stream), HIP_Success);
    IS(hipStreamDestroy(stream), HIP_InvalidHandle);
    IS(hipEventRecord(a, stream), HIP_InvalidHandle);
    IS(hipEventDestroy(a) | hipEventDestroy(b) | hipEventDestroy(quick), HIP_Success);
    IS(fakehip_live_handles(), 0);
}

static void test_images(void) {
    static _Alignas(8) char image[4096];
    void *module;
    begin("1");
    IS(hipModuleLoadDataEx(&module, NULL, 0, NULL, NULL), HIP_InvalidValue);
    IS(hipModuleLoadDataEx(&module, image, 1, NULL, NULL), HIP_InvalidValue);
    IS(hipModuleLoadDataEx(&module, image, 0, NULL, NULL), HIP_InvalidImage);
    memcpy(image, "\177ELF\2\1\1", 7);
    IS(hipModuleLoadDataEx(&module, image, 0, NULL, NULL), HIP_InvalidImage);
    IS(fakehip_live("module"), 0);
}

static void test_planned_failures(void) {
    void *p;
    begin("1");
    IS(fakehip_set_fail("hipNothing:1:2"), HIP_InvalidValue);
    IS(fakehip_set_fail("hipMalloc:2:2,hipFree:1+:1"), 0);
    IS(hipMalloc(&p, 8), HIP_Success);
    IS(hipFree(p), 1);
    IS(hipFree(p), 1);
    IS(hipMalloc(&p, 8), HIP_OutOfMemory);
    IS(hipMalloc(&p, 8), HIP_Success);
    IS(fakehip_call_count("hipMalloc"), 3);
    IS(fakehip_call_count("hipNothing"), 0);
}

static void note_order(void *user) {
    **(char **)user = 'h';
    (*(char **)user)++;
}

/* Nothing is done before somebody waits, and then in the order of the stream. */
static void test_late(void) {
    unsigned char *pinned, *other, *p;
    void *streams[2], *event;
    char order[4] = "", *at = order;
    setenv("FAKEHIP_LATE", "1", 1);
    begin("1");
    IS(hipMalloc((void **)&p, 64), HIP_Success);
    IS(hipHostMalloc((void **)&pinned, 64, 0), HIP_Success);
    IS(hipHostMalloc((void **)&other, 64, 0), HIP_Success);
    for (int i = 0; i < 2; i++)
        IS(hipStreamCreateWithFlags(&streams[i], 1), HIP_Success);
    IS(hipEventCreateWithFlags(&event, 0), HIP_Success);
    memset(pinned, 5, 64);
    IS(hipMemcpyHtoDAsync(p, pinned, 64, streams[0]), HIP_Success);
    IS(hipEventRecord(event, streams[0]), HIP_Success);
    IS(hipStreamWaitEvent(streams[1], event, 0), HIP_Success);
    IS(hipMemcpyDtoHAsync(other, p, 64, streams[1]), HIP_Success);
    IS(hipLaunchHostFunc(streams[1], note_order, &at), HIP_Success);
    memset(pinned, 6, 64); /* too early: this is what is copied */
    IS(other[0] == 6, 0);
    IS(order[0], 0);
    IS(hipStreamSynchronize(streams[1]), HIP_Success);
    IS(other[63], 6);
    IS(order[0], 'h');
    IS(hipStreamQuery(streams[0]), HIP_Success);
    /* asked often enough, it is done */
    IS(hipMemsetD8Async(p, 1, 64, streams[0]), HIP_Success);
    IS(hipEventRecord(event, streams[0]), HIP_Success);
    IS(hipEventQuery(event), HIP_NotReady);
    IS(hipEventQuery(event), HIP_Success);
    /* memory that is not pinned has been copied when the call returns */
    IS(hipMemsetD8Async(p, 2, 64, streams[0]), HIP_Success);
    unsigned char back[64];
    IS(hipMemcpyDtoHAsync(back, p, 64, streams[0]), HIP_Success);
    IS(back[0], 2);
    /* the default stream waits for streams, unless they are made not to */
    IS(hipMemsetD8Async(p, 3, 64, streams[0]), HIP_Success);
    IS(hipMemcpyDtoHAsync(other, p, 64, NULL), HIP_Success);
    IS(hipStreamSynchronize(NULL), HIP_Success);
    IS(other[0] == 2 || other[0] == 3, 1);
    IS(hipStreamSynchronize(streams[0]), HIP_Success);
    /* freeing waits */
    IS(hipMemcpyDtoHAsync(other, p, 64, streams[1]), HIP_Success);
    IS(hipFree(p), HIP_Success);
    IS(hipEventSynchronize(event), HIP_Success);
    IS(other[0], 3);
    IS(hipHostFree(pinned), HIP_Success);
    IS(hipHostFree(other), HIP_Success);
    unsetenv("FAKEHIP_LATE");
}

int main(void) {
    test_memory();
    test_late();
    test_devices();
    test_handles();
    test_images();
    test_planned_failures();
    printf("%d failures\n", failures);
    return failures != 0;
}
