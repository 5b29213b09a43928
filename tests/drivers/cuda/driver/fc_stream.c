/* Streams, events and host callbacks. Work is done when it is enqueued, so nothing ever waits. */
#define _GNU_SOURCE
#include "fc.h"

#include <time.h>

/* -- Streams ---------------------------------------------------------------------------------- */

static FcObject *stream_of(CUstream handle) {
    FcObject *stream = fc_object(handle, FK_stream);
    return stream && stream->context == fc_current() ? stream : NULL;
}

/* NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD exist in every context. */
bool fc_stream_ok(CUstream stream) {
    return (uintptr_t)stream <= 2 || stream_of(stream);
}

static CUresult stream_new(CUstream *out, unsigned flags, int priority) {
    if (!out || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    FcObject *stream = fc_object_new(FK_stream, fc_current());
    if (!stream) return CUDA_ERROR_OUT_OF_MEMORY;
    stream->stream.flags = flags;
    stream->stream.priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    *out = fc_handle(stream);
    return CUDA_SUCCESS;
}

FC_API CUresult cuStreamCreate(CUstream *out, unsigned flags) {
    FC_ENTER(cuStreamCreate, FC_CONTEXT, "%p, %u", (void *)out, flags);
    return fc_leave(stream_new(out, flags, 0));
}

FC_API CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
    FC_ENTER(cuStreamCreateWithPriority, FC_CONTEXT, "%p, %u, %d", (void *)out, flags, priority);
    return fc_leave(stream_new(out, flags, priority));
}

FC_API CUresult cuStreamDestroy_v2(CUstream handle) {
    FC_ENTER(cuStreamDestroy_v2, FC_EVEN_DEAD, "%p", (void *)handle);
    FcObject *stream = fc_object(handle, FK_stream);
    FC_REQUIRE(stream, ERROR_INVALID_HANDLE);
    fc_object_end(stream);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuStreamSynchronize(CUstream stream) {
    FC_ENTER(cuStreamSynchronize, FC_CONTEXT, "%p", (void *)stream);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuStreamQuery(CUstream stream) {
    FC_ENTER(cuStreamQuery, FC_CONTEXT, "%p", (void *)stream);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    return fc_leave(CUDA_SUCCESS);
}

static CUresult stream_context(CUstream stream, CUcontext *out) {
    const FcObject *object = fc_object(stream, FK_stream);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!object && (uintptr_t)stream > 2) return CUDA_ERROR_INVALID_HANDLE;
    *out = fc_handle(object ? object->context : fc_current());
    return CUDA_SUCCESS;
}

FC_API CUresult cuStreamGetCtx(CUstream stream, CUcontext *out) {
    FC_ENTER(cuStreamGetCtx, FC_CONTEXT, "%p, %p", (void *)stream, (void *)out);
    return fc_leave(stream_context(stream, out));
}

FC_API CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *out, void **green) {
    FC_ENTER(cuStreamGetCtx_v2, FC_CONTEXT, "%p, %p, %p", (void *)stream, (void *)out,
             (void *)green);
    if (green) *green = NULL;
    return fc_leave(stream_context(stream, out));
}

FC_API CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    FC_ENTER(cuStreamGetFlags, FC_CONTEXT, "%p, %p", (void *)stream, (void *)flags);
    const FcObject *object = stream_of(stream);
    FC_REQUIRE(flags, ERROR_INVALID_VALUE);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    *flags = object ? object->stream.flags : 0;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    FC_ENTER(cuStreamGetPriority, FC_CONTEXT, "%p, %p", (void *)stream, (void *)priority);
    const FcObject *object = stream_of(stream);
    FC_REQUIRE(priority, ERROR_INVALID_VALUE);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    *priority = object ? object->stream.priority : 0;
    return fc_leave(CUDA_SUCCESS);
}

/* -- Callbacks -------------------------------------------------------------------------------- */

typedef struct Callback {
    CUhostFn host;
    CUstreamCallback stream_fn;
    CUstream stream;
    void *data;
} Callback;

static void *run_callback(void *arg) {
    const Callback *call = arg;
    fc_thread()->in_callback = true;
    if (call->host)
        call->host(call->data);
    else
        call->stream_fn(call->stream, CUDA_SUCCESS, call->data);
    return NULL;
}

/* On a thread of its own, as a driver does, and without the driver's lock; the stream's later work has
 * to come after it, so we wait. In it every call of the driver is refused. */
static CUresult call_back(Callback call) {
    FcDriver *d = fc_driver();
    pthread_t thread;
    pthread_mutex_unlock(&d->lock);
    bool ok = pthread_create(&thread, NULL, run_callback, &call) == 0;
    if (ok) pthread_join(thread, NULL);
    pthread_mutex_lock(&d->lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

FC_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data) {
    FC_ENTER(cuLaunchHostFunc, FC_CONTEXT, "%p, fn, %p", (void *)stream, data);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    FC_REQUIRE(fn, ERROR_INVALID_VALUE);
    return fc_leave(call_back((Callback){.host = fn, .data = data}));
}

FC_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data,
                                    unsigned flags) {
    FC_ENTER(cuStreamAddCallback, FC_CONTEXT, "%p, fn, %p, %u", (void *)stream, data, flags);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    FC_REQUIRE(fn && flags == 0, ERROR_INVALID_VALUE);
    return fc_leave(call_back((Callback){.stream_fn = fn, .stream = stream, .data = data}));
}

/* -- Events ----------------------------------------------------------------------------------- */

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

FC_API CUresult cuEventCreate(CUevent *out, unsigned flags) {
    FC_ENTER(cuEventCreate, FC_CONTEXT, "%p, %u", (void *)out, flags);
    bool interprocess = flags & CU_EVENT_INTERPROCESS;
    FC_REQUIRE(out && flags <= 7 && (!interprocess || (flags & CU_EVENT_DISABLE_TIMING)),
               ERROR_INVALID_VALUE);
    FcObject *event = fc_object_new(FK_event, fc_current());
    FC_REQUIRE(event, ERROR_OUT_OF_MEMORY);
    event->event.flags = flags;
    *out = fc_handle(event);
    return fc_leave(CUDA_SUCCESS);
}

static CUresult record(CUevent handle, CUstream stream) {
    FcObject *event = fc_object(handle, FK_event);
    if (!event || !fc_stream_ok(stream) || event->context != fc_current())
        return CUDA_ERROR_INVALID_HANDLE;
    event->event.recorded = true;
    event->event.time = now();
    return CUDA_SUCCESS;
}

FC_API CUresult cuEventRecord(CUevent event, CUstream stream) {
    FC_ENTER(cuEventRecord, FC_CONTEXT, "%p, %p", (void *)event, (void *)stream);
    return fc_leave(record(event, stream));
}

FC_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    FC_ENTER(cuEventRecordWithFlags, FC_CONTEXT, "%p, %p, %u", (void *)event, (void *)stream,
             flags);
    FC_REQUIRE(flags <= 1, ERROR_INVALID_VALUE);
    return fc_leave(record(event, stream));
}

FC_API CUresult cuEventQuery(CUevent event) {
    FC_ENTER(cuEventQuery, FC_CONTEXT, "%p", (void *)event);
    return fc_leave(fc_object(event, FK_event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

FC_API CUresult cuEventSynchronize(CUevent event) {
    FC_ENTER(cuEventSynchronize, FC_CONTEXT, "%p", (void *)event);
    return fc_leave(fc_object(event, FK_event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

FC_API CUresult cuEventDestroy_v2(CUevent handle) {
    FC_ENTER(cuEventDestroy_v2, FC_EVEN_DEAD, "%p", (void *)handle);
    FcObject *event = fc_object(handle, FK_event);
    FC_REQUIRE(event, ERROR_INVALID_HANDLE);
    fc_object_end(event);
    return fc_leave(CUDA_SUCCESS);
}

static CUresult elapsed(float *ms, CUevent start, CUevent end) {
    const FcObject *a = fc_object(start, FK_event), *b = fc_object(end, FK_event);
    if (!ms) return CUDA_ERROR_INVALID_VALUE;
    if (!a || !b || !a->event.recorded || !b->event.recorded) return CUDA_ERROR_INVALID_HANDLE;
    if ((a->event.flags | b->event.flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    *ms = (float)((double)(int64_t)(b->event.time - a->event.time) * 1e-6);
    return CUDA_SUCCESS;
}

FC_API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    FC_ENTER(cuEventElapsedTime, FC_CONTEXT, "%p, %p, %p", (void *)ms, (void *)start, (void *)end);
    return fc_leave(elapsed(ms, start, end));
}

FC_API CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) {
    FC_ENTER(cuEventElapsedTime_v2, FC_CONTEXT, "%p, %p, %p", (void *)ms, (void *)start,
             (void *)end);
    return fc_leave(elapsed(ms, start, end));
}

FC_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    FC_ENTER(cuStreamWaitEvent, FC_CONTEXT, "%p, %p, %u", (void *)stream, (void *)event, flags);
    FC_REQUIRE(flags <= 1, ERROR_INVALID_VALUE);
    FC_REQUIRE(fc_stream_ok(stream) && fc_object(event, FK_event), ERROR_INVALID_HANDLE);
    return fc_leave(CUDA_SUCCESS);
}
