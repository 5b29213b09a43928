/* stream.c - streams, events, and waiting for them in a way that Ctrl-C can end. */
#include "runtime/device.h"

#include <string.h>

enum { POLL_NS = 50 * 1000 * 1000, LONGEST_PAUSE_NS = 1000 * 1000, SPIN_NS = 20 * 1000 };

/* -- streams ----------------------------------------------------------------------------------- */

static RtStream *stream_make(RtDevice *device, RtError *err) {
    if (!rt_usable(device, err)) return NULL;
    RtStream *stream = rt_alloc(sizeof *stream);
    if (!stream) {
        rt_fail_memory(err, "a stream", sizeof *stream);
        return NULL;
    }
    atomic_init(&stream->refs, 1);
    stream->device = device;
    stream->generation = rt_generation();
    return stream;
}

static RtStream *enlist(RtStream *stream) {
    RtDevice *device = stream->device;
    pthread_mutex_lock(&device->lock);
    stream->next = device->streams;
    device->streams = stream;
    pthread_mutex_unlock(&device->lock);
    return stream;
}

RtStream *rt_stream_new(RtDevice *device, RtError *err) {
    RtStream *stream = stream_make(device, err);
    if (!stream) return NULL;
    if (!device->ops->stream_create(stream, err)) {
        rt_dealloc(stream, sizeof *stream);
        return NULL;
    }
    stream->owned = true;
    return enlist(stream);
}

RtStream *rt_stream_external(RtDevice *device, uint64_t handle, RtError *err) {
    RtStream *stream = stream_make(device, err);
    if (!stream) return NULL;
    stream->handle = handle;
    return enlist(stream);
}

RtStream *rt_stream_default(RtDevice *device) {
    return &device->default_stream;
}
RtDevice *rt_stream_device(const RtStream *stream) {
    return stream->device;
}
bool rt_stream_is_external(const RtStream *stream) {
    return !stream->owned;
}

uint64_t rt_stream_handle(const RtStream *stream) {
    return stream->handle;
}

RtStream *rt_stream_retain(RtStream *stream) {
    atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
    return stream;
}

RtStream *rt_stream_try_retain(RtStream *stream) {
    int32_t refs = atomic_load(&stream->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak(&stream->refs, &refs, refs + 1)) return stream;
    return NULL;
}

static void stream_free(RtStream *stream) {
    rt_capture_drop(stream);
    if (stream->owned) stream->device->ops->stream_destroy(stream);
    rt_dealloc(stream, sizeof *stream);
}

void rt_stream_release(RtStream *stream) {
    if (!stream || atomic_fetch_sub_explicit(&stream->refs, 1, memory_order_acq_rel) != 1) return;
    RtDevice *device = stream->device;
    bool ours = device->ops->host_memory || stream->generation == rt_generation();
    if (!ours) { /* the device's lists are the parent's: nobody walks them here */
        rt_dealloc(stream, sizeof *stream);
        return;
    }
    pthread_mutex_lock(&device->lock);
    for (RtStream **link = &device->streams; *link; link = &(*link)->next)
        if (*link == stream) {
            *link = stream->next;
            break;
        }
    pthread_mutex_unlock(&device->lock);
    rt_pool_stream_gone(device->pool, stream);
    stream_free(stream);
}

void rt_streams_close(RtDevice *device) {
    while (device->streams) {
        RtStream *stream = device->streams;
        device->streams = stream->next;
        stream_free(stream);
    }
}

/* -- waiting ----------------------------------------------------------------------------------- */

/* Asks `query` with pauses that grow with the time waited (at most 6 % late), and the poll every 50 ms. */
bool rt_wait(RtDevice *device, CallContext *poll,
             bool (*query)(void *what, bool *done, RtError *err), void *what, RtError *err) {
    (void)device;
    int64_t start = os_now_ns(), polled = start;
    for (;;) {
        bool done = false;
        if (!query(what, &done, err)) return false;
        if (done) return true;
        int64_t now = os_now_ns(), waited = now - start;
        if (waited > SPIN_NS) os_sleep_ns(QN_MIN(waited / 16, LONGEST_PAUSE_NS));
        if (now - polled < POLL_NS) continue;
        polled = now;
        if (poll->poll(poll))
            return rt_fail(err, RT_PENDING, "interrupted while waiting for the device");
    }
}

static bool query_stream(void *what, bool *done, RtError *err) {
    RtStream *stream = what;
    return stream->device->ops->stream_query(stream, done, err);
}

static bool query_event(void *what, bool *done, RtError *err) {
    RtEvent *event = what;
    return event->device->ops->event_query(event, done, err);
}

static void completed(RtStream *stream, uint64_t issued) {
    uint64_t seen = atomic_load(&stream->completed);
    while (seen < issued && !atomic_compare_exchange_weak(&stream->completed, &seen, issued)) {
    }
}

bool rt_stream_synchronize(RtStream *stream, CallContext *poll, RtError *err) {
    RtDevice *device = stream->device;
    if (!rt_usable(device, err) || !rt_not_captured(stream, "Waiting", err)) return false;
    uint64_t issued = atomic_load(&stream->issued);
    bool ok = true;
    if (poll && poll->poll) ok = rt_wait(device, poll, query_stream, stream, err);
    /* Also after the queries: this is the call that reports asynchronous failures. */
    if (!ok || !device->ops->sync(device, stream, err)) return false;
    completed(stream, issued);
    atomic_store_explicit(&stream->launches, 0, memory_order_relaxed);
    return rt_read_mailboxes(device, err);
}

enum { MAX_STREAMS = 256 };

/* The streams of a device with what each had issued; more than fit are left out, which is only slower. */
static int snapshot(RtDevice *device, RtStream **streams, uint64_t *issued) {
    int n = 0;
    streams[n] = &device->default_stream;
    issued[n++] = atomic_load(&device->default_stream.issued);
    pthread_mutex_lock(&device->lock);
    for (RtStream *s = device->streams; s && n < MAX_STREAMS; s = s->next) {
        if (!rt_stream_try_retain(s)) continue;
        streams[n] = s;
        issued[n++] = atomic_load(&s->issued);
    }
    pthread_mutex_unlock(&device->lock);
    return n;
}

/* Waits for each stream in turn so that the poll runs; then the device as a whole. */
bool rt_device_synchronize(RtDevice *device, CallContext *poll, RtError *err) {
    if (!rt_usable(device, err)) return false;
    RtStream *streams[MAX_STREAMS];
    uint64_t issued[MAX_STREAMS];
    int n = snapshot(device, streams, issued);
    bool ok = true;
    for (int i = 0; i < n && ok && poll && poll->poll; i++)
        ok = rt_wait(device, poll, query_stream, streams[i], err);
    ok = ok && device->ops->sync(device, NULL, err);
    for (int i = 0; i < n; i++) {
        if (ok) completed(streams[i], issued[i]);
        if (ok) atomic_store_explicit(&streams[i]->launches, 0, memory_order_relaxed);
        if (i > 0) rt_stream_release(streams[i]);
    }
    if (ok) rt_kernels_retire(device);
    return ok && rt_read_mailboxes(device, err);
}

bool rt_stream_done(RtStream *stream, bool *done, RtError *err) {
    return rt_usable(stream->device, err) && rt_not_captured(stream, "A question", err) &&
           stream->device->ops->stream_query(stream, done, err);
}

bool rt_stream_callback(RtStream *stream, void (*fn)(void *user), void *user, RtError *err) {
    return rt_usable(stream->device, err) && rt_not_captured(stream, "A callback", err) &&
           stream->device->ops->stream_callback(stream, fn, user, err);
}

bool rt_stream_wait(RtStream *stream, RtEvent *event, RtError *err) {
    if (!rt_usable(stream->device, err)) return false;
    if (QN_UNLIKELY(stream->capture || event->capture)) return rt_capture_wait(stream, event, err);
    if (!event->recorded) return true; /* nothing to wait for */
    return stream->device->ops->stream_wait(stream, event, err);
}

/* -- events ------------------------------------------------------------------------------------ */

RtEvent *rt_event_new(RtDevice *device, bool timing, RtError *err) {
    if (!rt_usable(device, err)) return NULL;
    RtEvent *event = rt_alloc(sizeof *event);
    if (!event) {
        rt_fail_memory(err, "an event", sizeof *event);
        return NULL;
    }
    event->device = device;
    event->timing = timing;
    event->generation = rt_generation();
    if (device->ops->event_create(event, err)) return event;
    rt_dealloc(event, sizeof *event);
    return NULL;
}

void rt_event_release(RtEvent *event) {
    if (!event) return;
    bool ours = event->device->ops->host_memory || event->generation == rt_generation();
    if (ours) event->device->ops->event_destroy(event);
    rt_event_forget(event);
    rt_dealloc(event, sizeof *event);
}

bool rt_event_record(RtEvent *event, RtStream *stream, RtError *err) {
    if (!stream) stream = &event->device->default_stream;
    if (!rt_usable(event->device, err)) return false;
    if (stream->device != event->device)
        return rt_fail(err, RT_VALUE_ERROR,
                       "The event belongs to %s device %d, the stream to %s device %d.",
                       event->device->ops->name, event->device->info.ordinal,
                       stream->device->ops->name, stream->device->info.ordinal);
    if (QN_UNLIKELY(stream->capture)) return rt_capture_record(event, stream, err);
    if (!event->device->ops->event_record(event, stream, err)) return false;
    rt_event_forget(event);
    event->recorded = true;
    return true;
}

bool rt_event_done(RtEvent *event, bool *done, RtError *err) {
    *done = true;
    if (!rt_usable(event->device, err) ||
        !rt_event_not_captured(event, "A question to an event", err))
        return false;
    return !event->recorded || event->device->ops->event_query(event, done, err);
}

bool rt_event_synchronize(RtEvent *event, CallContext *poll, RtError *err) {
    if (!rt_usable(event->device, err) ||
        !rt_event_not_captured(event, "Waiting for an event", err))
        return false;
    if (!event->recorded) return true;
    if (poll && poll->poll && !rt_wait(event->device, poll, query_event, event, err)) return false;
    return event->device->ops->event_sync(event, err);
}

bool rt_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err) {
    if (!rt_usable(start->device, err) ||
        !rt_event_not_captured(start, "The time of an event", err) ||
        !rt_event_not_captured(stop, "The time of an event", err))
        return false;
    if (!start->timing || !stop->timing)
        return rt_fail(err, RT_VALUE_ERROR, "Elapsed time needs two events made with timing=True.");
    if (!start->recorded || !stop->recorded)
        return rt_fail(err, RT_VALUE_ERROR,
                       "Elapsed time needs two recorded events; the %s event is not.",
                       start->recorded ? "stop" : "start");
    if (start->device != stop->device)
        return rt_fail(err, RT_VALUE_ERROR, "Elapsed time needs two events of one device.");
    return start->device->ops->event_elapsed(start, stop, ms, err);
}
