/* transfer.c - copies between host and device: flat ones, and strided ones through a staging buffer. */
#include "runtime/device.h"

#include <string.h>

static RtStream *stream_or_default(RtDevice *d, RtStream *s) {
    return s ? s : &d->default_stream;
}

static bool size_ok(int64_t size, RtError *err) {
    return size >= 0 ||
           rt_fail(err, RT_VALUE_ERROR, "A copy of %lld bytes is not possible.", (long long)size);
}

static bool settle(RtDevice *d, RtStream *s, bool wait, RtError *err) {
    return !wait || d->ops->sync(d, s, err);
}

static bool ready(RtDevice *d, const RtStream *s, int64_t size, RtError *err) {
    return size_ok(size, err) && rt_usable(d, err) && rt_not_captured(s, "Copying", err);
}

bool rt_copy_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                       bool wait, RtError *err) {
    if (!ready(d, s, size, err)) return false;
    if (size == 0) return true;
    s = stream_or_default(d, s);
    int64_t start = rt_trace_begin();
    bool ok = d->ops->to_device(d, s, to, from, size, err) && settle(d, s, wait, err);
    if (QN_UNLIKELY(start)) rt_trace_end(start, d, RT_TRACE_TO_DEVICE, size, NULL, ok);
    return ok;
}

bool rt_copy_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size, bool wait,
                     RtError *err) {
    if (!ready(d, s, size, err)) return false;
    if (size == 0) return true;
    s = stream_or_default(d, s);
    int64_t start = rt_trace_begin();
    bool ok = d->ops->to_host(d, s, to, from, size, err) && settle(d, s, wait, err);
    if (QN_UNLIKELY(start)) rt_trace_end(start, d, RT_TRACE_TO_HOST, size, NULL, ok);
    return ok;
}

bool rt_copy_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                       RtError *err) {
    if (!ready(d, s, size, err)) return false;
    return size == 0 || to == from ||
           d->ops->on_device(d, stream_or_default(d, s), to, from, size, err);
}

bool rt_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                  RtError *err) {
    if (!ready(d, s, size, err)) return false;
    return size == 0 || d->ops->set_bytes(d, stream_or_default(d, s), to, value, size, err);
}

bool rt_device_peer(RtDevice *device, RtDevice *peer, bool *can, RtError *err) {
    *can = device == peer;
    if (!rt_usable(device, err) || !rt_usable(peer, err)) return false;
    if (device == peer || device->ops != peer->ops || !device->ops->can_peer) return true;
    return device->ops->can_peer(device, peer, can, err);
}

bool rt_copy_between(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                     int64_t size, RtError *err) {
    if (!size_ok(size, err) || !rt_usable(to_device, err) || !rt_usable(from_device, err))
        return false;
    if (size == 0) return true;
    if (to_device == from_device)
        return rt_copy_on_device(to_device, NULL, to, from, size, err) &&
               to_device->ops->sync(to_device, &to_device->default_stream, err);
    if (from_device->ops->host_memory)
        return rt_copy_to_device(to_device, NULL, to, (void *)(uintptr_t)from, size, true, err);
    if (to_device->ops->host_memory)
        return rt_copy_to_host(from_device, NULL, (void *)(uintptr_t)to, from, size, true, err);
    if (to_device->ops == from_device->ops && to_device->ops->peer_copy)
        return to_device->ops->peer_copy(to_device, to, from_device, from, size, err);
    enum { CHUNK = 16 << 20 };
    size_t chunk = (size_t)QN_MIN(size, (int64_t)CHUNK);
    char *staging = rt_alloc(chunk);
    if (!staging) return rt_fail_memory(err, "a copy between devices", (int64_t)chunk);
    bool ok = true;
    for (int64_t done = 0; ok && done < size; done += (int64_t)chunk) {
        int64_t n = QN_MIN(size - done, (int64_t)chunk);
        ok = rt_copy_to_host(from_device, NULL, staging, from + (uint64_t)done, n, true, err) &&
             rt_copy_to_device(to_device, NULL, to + (uint64_t)done, staging, n, true, err);
    }
    rt_dealloc(staging, chunk);
    return ok;
}

/* -- strided copies ---------------------------------------------------------------------------- */

bool rt_extent(int32_t ndim, int64_t item, const int64_t *shape, const int64_t *strides,
               int64_t *lo, int64_t *hi) {
    int64_t low = 0, high = item;
    *lo = *hi = 0;
    for (int i = 0; i < ndim; i++)
        if (shape[i] <= 0) return shape[i] == 0;
    for (int i = 0; i < ndim; i++) {
        int64_t span;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &span)) return false;
        if (span < 0 ? __builtin_add_overflow(low, span, &low)
                     : __builtin_add_overflow(high, span, &high))
            return false;
    }
    int64_t size;
    if (__builtin_sub_overflow(high, low, &size)) return false;
    *lo = low;
    *hi = high;
    return true;
}

bool rt_dense(int32_t ndim, int64_t item, const int64_t *shape, const int64_t *strides) {
    uint64_t used = 0; /* dimensions already placed */
    for (int placed = 0; placed < ndim; placed++) {
        int i = 0;
        while (i < ndim &&
               ((used >> i & 1) || (shape[i] != 1 && strides[i] != item && strides[i] != -item)))
            i++;
        if (i == ndim) return false;
        used |= UINT64_C(1) << i;
        item *= shape[i];
    }
    return true;
}

/* Calls with each element's offsets would be slow: a line is the innermost run that is dense on both sides. */
typedef struct Lines {
    int32_t ndim; /* of the outer loops */
    int64_t line; /* bytes */
    int64_t shape[RT_MAX_DIMS], a[RT_MAX_DIMS], b[RT_MAX_DIMS];
    int64_t count;
} Lines;

static void find_lines(Lines *l, int32_t ndim, int64_t item, const int64_t *shape, const int64_t *a,
                       const int64_t *b) {
    l->line = item;
    l->count = 1;
    l->ndim = 0;
    int last = ndim;
    while (last > 0 && (shape[last - 1] == 1 || (a[last - 1] == l->line && b[last - 1] == l->line)))
        l->line *= shape[--last];
    for (int i = 0; i < last; i++) {
        if (shape[i] == 1) continue;
        l->shape[l->ndim] = shape[i];
        l->a[l->ndim] = a[i];
        l->b[l->ndim++] = b[i];
        l->count *= shape[i];
    }
}

/* Steps to the next line; false after the last. */
static bool next_line(const Lines *l, int64_t *index, int64_t *at, int64_t *bt) {
    for (int i = l->ndim - 1; i >= 0; i--) {
        *at += l->a[i];
        *bt += l->b[i];
        if (++index[i] < l->shape[i]) return true;
        *at -= l->a[i] * l->shape[i];
        *bt -= l->b[i] * l->shape[i];
        index[i] = 0;
    }
    return false;
}

void rt_copy_elements(char *to, const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, int32_t ndim, int64_t item,
                      const int64_t *shape) {
    for (int i = 0; i < ndim; i++)
        if (shape[i] <= 0) return;
    Lines l;
    find_lines(&l, ndim, item, shape, to_strides, from_strides);
    int64_t index[RT_MAX_DIMS] = {0}, t = 0, f = 0;
    do
        memcpy(to + t, from + f, (size_t)l.line);
    while (next_line(&l, index, &t, &f));
}

/* One driver call for each line. */
static bool copy_lines(RtDevice *d, RtStream *s, const RtStrided *c, const Lines *l, bool to_device,
                       RtError *err) {
    int64_t index[RT_MAX_DIMS] = {0}, h = 0, v = 0;
    bool ok;
    do {
        char *host = (char *)c->host + h;
        uint64_t device = c->device + (uint64_t)v;
        ok = to_device ? d->ops->to_device(d, s, device, host, l->line, err)
                       : d->ops->to_host(d, s, host, device, l->line, err);
    } while (ok && next_line(l, index, &h, &v));
    return ok && d->ops->sync(d, s, err);
}

/* The whole span of the device side through a staging buffer. */
static bool copy_staged(RtDevice *d, RtStream *s, const RtStrided *c, bool to_device,
                        RtError *err) {
    int64_t lo, hi;
    if (!rt_extent(c->ndim, c->item, c->shape, c->device_strides, &lo, &hi))
        return rt_fail(err, RT_VALUE_ERROR,
                       "An array whose elements span more than 2^63 bytes cannot be copied.");
    size_t size = (size_t)(hi - lo);
    char *staging = rt_alloc(size);
    if (!staging) return rt_fail_memory(err, "a strided copy", (int64_t)size);
    uint64_t base = c->device + (uint64_t)lo;
    bool dense = rt_dense(c->ndim, c->item, c->shape, c->device_strides);
    bool ok = (to_device && dense) ||
              (d->ops->to_host(d, s, staging, base, (int64_t)size, err) && d->ops->sync(d, s, err));
    if (ok && to_device)
        rt_copy_elements(staging - lo, c->device_strides, c->host, c->host_strides, c->ndim,
                         c->item, c->shape);
    if (ok && !to_device)
        rt_copy_elements(c->host, c->host_strides, staging - lo, c->device_strides, c->ndim,
                         c->item, c->shape);
    if (ok && to_device)
        ok = d->ops->to_device(d, s, base, staging, (int64_t)size, err) && d->ops->sync(d, s, err);
    rt_dealloc(staging, size);
    return ok;
}

bool rt_copy_strided(RtDevice *d, RtStream *s, const RtStrided *c, bool to_device, RtError *err) {
    if (!rt_usable(d, err)) return false;
    if (c->ndim > RT_MAX_DIMS)
        return rt_fail(err, RT_VALUE_ERROR, "An array of %d dimensions cannot be copied.", c->ndim);
    for (int i = 0; i < c->ndim; i++)
        if (c->shape[i] <= 0) return c->shape[i] == 0 || size_ok(c->shape[i], err);
    s = stream_or_default(d, s);
    if (d->ops->host_memory) {
        char *device = (char *)(uintptr_t)c->device;
        if (to_device)
            rt_copy_elements(device, c->device_strides, c->host, c->host_strides, c->ndim, c->item,
                             c->shape);
        else
            rt_copy_elements(c->host, c->host_strides, device, c->device_strides, c->ndim, c->item,
                             c->shape);
        return true;
    }
    /* Few lines: no staging, and nothing between the lines is touched. */
    enum { FEW_LINES = 32 };
    Lines l;
    find_lines(&l, c->ndim, c->item, c->shape, c->host_strides, c->device_strides);
    if (l.count <= FEW_LINES) return copy_lines(d, s, c, &l, to_device, err);
    return copy_staged(d, s, c, to_device, err);
}
