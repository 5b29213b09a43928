/* Devices, streams, events and host functions. */
#define _GNU_SOURCE
#include "fh.h"

#include <stdlib.h>
#include <time.h>

/* -- Devices ---------------------------------------------------------------------------------- */

FH_API HipResult hipGetDeviceCount(int *count) {
    FH_ENTER(hipGetDeviceCount, FH_INIT, "%p", (void *)count);
    FH_REQUIRE(count, InvalidValue);
    *count = fh_runtime()->ndevices;
    return fh_leave(HIP_Success);
}

FH_API HipResult hipGetDevice(int *device) {
    FH_ENTER(hipGetDevice, FH_INIT, "%p", (void *)device);
    FH_REQUIRE(device, InvalidValue);
    *device = fh_current();
    return fh_leave(HIP_Success);
}

static bool exists(int device) {
    return device >= 0 && device < fh_runtime()->ndevices;
}

FH_API HipResult hipSetDevice(int device) {
    FH_ENTER(hipSetDevice, FH_INIT, "%d", device);
    FH_REQUIRE(exists(device), InvalidDevice);
    fh_set_current(device);
    return fh_leave(HIP_Success);
}

/* The fields that both layouts have. */
#define FILL(p, d)                                                                                 \
    do {                                                                                           \
        snprintf((p)->name, sizeof(p)->name, "Stand-in %s", fh_runtime()->devices[d].arch);        \
        snprintf((p)->gcn_name, sizeof(p)->gcn_name, "%s", fh_runtime()->devices[d].arch);         \
        int digits_ = (int)strcspn((p)->gcn_name + 3, ":");                                        \
        (p)->memory = fh_runtime()->memory;                                                        \
        (p)->lds = (p)->lds_per_processor = FH_LDS;                                                \
        (p)->registers = 65536;                                                                    \
        (p)->wave = digits_ > 3 ? 32 : 64;                                                         \
        (p)->max_threads = (p)->max_block[0] = (p)->max_block[1] = (p)->max_block[2] = 1024;       \
        (p)->max_grid[0] = 2147483647;                                                             \
        (p)->max_grid[1] = (p)->max_grid[2] = 65536;                                               \
        (p)->clock = 2500000;                                                                      \
        (p)->major = digits_ > 3 ? atoi((p)->gcn_name + 3) / 100 : 9;                              \
        (p)->minor = (p)->gcn_name[1 + digits_] - '0';                                             \
        (p)->processors = FH_PROCESSORS;                                                           \
        (p)->threads_per_processor = 2048;                                                         \
        (p)->pci_domain = 0, (p)->pci_bus = 3 + (d), (p)->pci_device = 5;                          \
        (p)->map_host = (p)->cooperative = (p)->managed = 1;                                       \
    } while (0)

FH_API HipResult hipGetDeviceProperties(OlderProperties *p, int device) {
    FH_ENTER(hipGetDeviceProperties, FH_INIT, "%p, %d", (void *)p, device);
    FH_REQUIRE(p, InvalidValue);
    FH_REQUIRE(exists(device), InvalidDevice);
    memset(p, 0, sizeof *p);
    FILL(p, device);
    return fh_leave(HIP_Success);
}

FH_API HipResult hipGetDevicePropertiesR0600(NewerProperties *p, int device) {
    FH_ENTER(hipGetDevicePropertiesR0600, FH_INIT, "%p, %d", (void *)p, device);
    FH_REQUIRE(p, InvalidValue);
    FH_REQUIRE(exists(device), InvalidDevice);
    memset(p, 0, sizeof *p);
    FILL(p, device);
    memset(p->uuid, 0x10 + device, sizeof p->uuid);
    p->unified = 1;
    p->async_engines = 2;
    return fh_leave(HIP_Success);
}

FH_API HipResult hipDeviceGetUuid(char *uuid, int device) {
    FH_ENTER(hipDeviceGetUuid, FH_INIT, "%p, %d", (void *)uuid, device);
    FH_REQUIRE(uuid && exists(device), InvalidValue);
    memset(uuid, 0x10 + device, 16);
    return fh_leave(HIP_Success);
}

FH_API HipResult hipDeviceCanAccessPeer(int *can, int device, int peer) {
    FH_ENTER(hipDeviceCanAccessPeer, FH_INIT, "%p, %d, %d", (void *)can, device, peer);
    FH_REQUIRE(can && exists(device) && exists(peer), InvalidValue);
    *can = device != peer;
    return fh_leave(HIP_Success);
}

FH_API HipResult hipDeviceSynchronize(void) {
    FH_ENTER(hipDeviceSynchronize, FH_DEVICE, "%s", "");
    fh_wait_device(fh_current());
    return fh_leave(fh_device()->sticky);
}

FH_API HipResult hipProfilerStart(void) {
    FH_ENTER(hipProfilerStart, FH_DEVICE, "%s", "");
    return fh_leave(HIP_Success);
}

FH_API HipResult hipProfilerStop(void) {
    FH_ENTER(hipProfilerStop, FH_DEVICE, "%s", "");
    return fh_leave(HIP_Success);
}

/* -- Streams ---------------------------------------------------------------------------------- */

bool fh_stream_ok(void *stream) {
    const FhObject *object = fh_object(stream, FH_stream);
    return (uintptr_t)stream <= 2 || (object && object->device == fh_current());
}

FH_API HipResult hipStreamCreateWithFlags(void **out, unsigned flags) {
    FH_ENTER(hipStreamCreateWithFlags, FH_DEVICE, "%p, %u", (void *)out, flags);
    FH_REQUIRE(out && flags <= 1, InvalidValue);
    FhObject *stream = fh_object_new(FH_stream, fh_current());
    if (!stream) return fh_leave(HIP_OutOfMemory);
    stream->flags = flags;
    *out = fh_handle(stream);
    return fh_leave(HIP_Success);
}

static HipResult destroy(FhSym sym, void *handle, FhKind kind) {
    HipResult early = fh_enter(sym, FH_DEVICE, "%p", handle);
    if (early && early != fh_device()->sticky) return fh_leave(early);
    FhObject *object = fh_object(handle, kind);
    if (!object) return fh_leave(fh_fault(HIP_InvalidHandle, "a stale handle is destroyed"));
    if (kind == FH_stream) fh_wait_stream(handle);
    fh_object_end(object);
    return fh_leave(early);
}
FH_API HipResult hipStreamDestroy(void *stream) {
    return destroy(SYM_hipStreamDestroy, stream, FH_stream);
}
FH_API HipResult hipEventDestroy(void *event) {
    return destroy(SYM_hipEventDestroy, event, FH_event);
}

FH_API HipResult hipStreamSynchronize(void *stream) {
    FH_ENTER(hipStreamSynchronize, FH_DEVICE, "%p", stream);
    FH_REQUIRE(fh_stream_ok(stream), InvalidHandle);
    fh_wait_stream(stream);
    return fh_leave(fh_device()->sticky);
}

FH_API HipResult hipStreamQuery(void *stream) {
    FH_ENTER(hipStreamQuery, FH_DEVICE, "%p", stream);
    FH_REQUIRE(fh_stream_ok(stream), InvalidHandle);
    if (fh_stream_busy(stream)) fh_late_step();
    return fh_leave(fh_stream_busy(stream) ? HIP_NotReady : fh_device()->sticky);
}

static HipResult do_nothing(FhOp *op) {
    (void)op;
    return HIP_Success;
}

FH_API HipResult hipStreamWaitEvent(void *stream, void *handle, unsigned flags) {
    FH_ENTER(hipStreamWaitEvent, FH_DEVICE, "%p, %p, %u", stream, handle, flags);
    const FhObject *event = fh_object(handle, FH_event);
    FH_REQUIRE(flags == 0, InvalidValue);
    FH_REQUIRE(fh_stream_ok(stream) && event, InvalidHandle);
    return fh_leave(fh_do(stream, &(FhOp){.act = do_nothing, .after = event->number}, NULL));
}

static void *run_host(void *user) {
    FhOp *op = user;
    ((void (*)(void *))(uintptr_t)op->to)(op->from);
    return NULL;
}

/* On a thread of its own, as with the real runtime; whoever runs the stream waits for it. */
static HipResult do_host(FhOp *op) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_host, op) != 0) return HIP_OutOfMemory;
    pthread_join(thread, NULL);
    return HIP_Success;
}

FH_API HipResult hipLaunchHostFunc(void *stream, void (*fn)(void *), void *user) {
    FH_ENTER(hipLaunchHostFunc, FH_DEVICE, "%p, %p", stream, user);
    FH_REQUIRE(fn && fh_stream_ok(stream), InvalidValue);
    FhOp op = {.act = do_host, .host = true, .to = (char *)(uintptr_t)fn, .from = user};
    return fh_leave(fh_do(stream, &op, NULL));
}

/* -- Events ----------------------------------------------------------------------------------- */

enum { NO_TIMING = 2 };

FH_API HipResult hipEventCreateWithFlags(void **out, unsigned flags) {
    FH_ENTER(hipEventCreateWithFlags, FH_DEVICE, "%p, %u", (void *)out, flags);
    FH_REQUIRE(out && flags <= 7, InvalidValue);
    FhObject *event = fh_object_new(FH_event, fh_current());
    if (!event) return fh_leave(HIP_OutOfMemory);
    event->flags = flags;
    *out = fh_handle(event);
    return fh_leave(HIP_Success);
}

static HipResult do_record(FhOp *op) {
    struct timespec now;
    if (op->object->number != op->number) return HIP_Success; /* recorded again since */
    clock_gettime(CLOCK_MONOTONIC, &now);
    op->object->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return HIP_Success;
}

FH_API HipResult hipEventRecord(void *handle, void *stream) {
    FH_ENTER(hipEventRecord, FH_DEVICE, "%p, %p", handle, stream);
    FhObject *event = fh_object(handle, FH_event);
    FH_REQUIRE(event && fh_stream_ok(stream), InvalidHandle);
    event->recorded = true;
    return fh_leave(fh_do(stream, &(FhOp){.act = do_record, .object = event}, &event->number));
}

FH_API HipResult hipEventQuery(void *handle) {
    FH_ENTER(hipEventQuery, FH_DEVICE, "%p", handle);
    const FhObject *event = fh_object(handle, FH_event);
    FH_REQUIRE(event, InvalidHandle);
    if (fh_number_busy(event->number)) fh_late_step();
    return fh_leave(fh_number_busy(event->number) ? HIP_NotReady : fh_device()->sticky);
}

FH_API HipResult hipEventSynchronize(void *handle) {
    FH_ENTER(hipEventSynchronize, FH_DEVICE, "%p", handle);
    const FhObject *event = fh_object(handle, FH_event);
    FH_REQUIRE(event, InvalidHandle);
    fh_wait_number(event->number);
    return fh_leave(fh_device()->sticky);
}

FH_API HipResult hipEventElapsedTime(float *ms, void *start, void *stop) {
    FH_ENTER(hipEventElapsedTime, FH_DEVICE, "%p, %p, %p", (void *)ms, start, stop);
    const FhObject *a = fh_object(start, FH_event), *b = fh_object(stop, FH_event);
    FH_REQUIRE(ms, InvalidValue);
    FH_REQUIRE(a && b && a->recorded && b->recorded, InvalidHandle);
    FH_REQUIRE(!((a->flags | b->flags) & NO_TIMING), InvalidHandle);
    if (fh_number_busy(a->number) || fh_number_busy(b->number)) return fh_leave(HIP_NotReady);
    *ms = (float)((double)(int64_t)(b->time - a->time) * 1e-6);
    return fh_leave(HIP_Success);
}
