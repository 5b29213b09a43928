/* trace.c - a ring of the newest launches and copies of the process, for people who ask where time goes.
 *
 * Process-wide like the devices it watches. When it is off, a call pays one relaxed load. */
#include "runtime/device.h"

enum { RING = 4096 };

static struct Trace {
    _Atomic bool on;
    pthread_mutex_t lock;
    RtTraceEvent *ring; /* kept until rt_trace(false) */
    int64_t written, read;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rt_trace(bool on) {
    pthread_mutex_lock(&trace.lock);
    if (on && !trace.ring) trace.ring = rt_alloc(sizeof *trace.ring * RING);
    if (!on) {
        rt_dealloc(trace.ring, sizeof *trace.ring * RING);
        trace.ring = NULL;
        trace.written = trace.read = 0;
    }
    atomic_store(&trace.on, on && trace.ring);
    pthread_mutex_unlock(&trace.lock);
}

int64_t rt_trace_begin(void) {
    return QN_UNLIKELY(atomic_load_explicit(&trace.on, memory_order_relaxed)) ? os_now_ns() : 0;
}

void rt_trace_end(int64_t start, const RtDevice *device, RtTraceKind kind, int64_t bytes,
                  const RtLaunchSite *launch, bool ok) {
    RtTraceEvent event = {.kind = kind,
                          .device = device->info.kind,
                          .ordinal = device->info.ordinal,
                          .start_ns = start,
                          .host_ns = os_now_ns() - start,
                          .bytes = bytes,
                          .failed = !ok};
    if (launch) event.launch = *launch;
    pthread_mutex_lock(&trace.lock);
    if (trace.ring) trace.ring[trace.written++ % RING] = event;
    pthread_mutex_unlock(&trace.lock);
}

int32_t rt_trace_read(RtTraceEvent *events, int32_t n, int64_t *lost) {
    pthread_mutex_lock(&trace.lock);
    int64_t first = QN_MAX(trace.read, trace.written - RING);
    if (lost) *lost = first - trace.read;
    int32_t taken = 0;
    while (trace.ring && taken < n && first < trace.written)
        events[taken++] = trace.ring[first++ % RING];
    trace.read = first;
    pthread_mutex_unlock(&trace.lock);
    return taken;
}
