/* args.c - the arrays among the arguments of one launch: who overlaps whom, and the journey of host arrays.
 *
 * Host arrays that share memory must share it on the device too, so that k(x[1:], x[:-1]) means the same
 * everywhere. The byte spans of all host arrays are sorted and overlapping ones united; each union (a
 * "range") is one device buffer, and every array keeps its place inside it. Ranges are always copied in: a
 * kernel may leave elements alone. Back go only elements of arrays that the kernel writes, one by one where
 * an array has gaps, because the bytes between its elements are somebody else's. Everything that comes back
 * first lands in a staging buffer; only when all of it is there does host memory change. (One exception: a
 * single array without gaps of more than 4 MiB comes back directly.) */
#include "runtime/device.h"

#include <string.h>

struct ArgRange {
    uintptr_t lo, hi;
    RtBuffer *buffer;
    uint64_t address; /* of lo, on the device */
    bool written;
    char *staging;
};

enum { ALIGN_KEPT = 16 }; /* addresses on the device are the host's modulo this */
enum { DIRECT_BYTES = 4 << 20 };

static int64_t rt_kind_size(uint8_t type_kind) {
    static const int16_t bits[TY_SCALARS] = {
#define CLASS_FACTOR_NONE                           1
#define CLASS_FACTOR_BOOL                           1
#define CLASS_FACTOR_SINT                           1
#define CLASS_FACTOR_UINT                           1
#define CLASS_FACTOR_FLT                            1
#define CLASS_FACTOR_CPX                            2
#define TYPE(name, numba, bits, cls, numpy, strong) [TY_##name] = (bits)*CLASS_FACTOR_##cls,
#include "frontend/ir/ir_types.def"
#undef TYPE
    };
    return type_kind < TY_SCALARS ? bits[type_kind] / 8 : 0;
}

static int64_t item_size(const ValueLayout *array) {
    return array->item_size ? array->item_size : rt_kind_size(array->element);
}

/* -- collecting -------------------------------------------------------------------------------- */

static ArgArray *add_array(RtArgs *args) {
    if (args->narrays == args->cap) {
        int32_t cap = args->cap * 2;
        ArgArray *grown = rt_alloc(sizeof *grown * (size_t)cap);
        if (!grown) return NULL;
        memcpy(grown, args->arrays, sizeof *grown * (size_t)args->narrays);
        if (args->arrays != args->inline_arrays)
            rt_dealloc(args->arrays, sizeof *grown * (size_t)args->cap);
        args->arrays = grown;
        args->cap = cap;
    }
    return &args->arrays[args->narrays++];
}

typedef struct Walk {
    RtArgs *args;
    bool unknown; /* what the code does with its arrays */
    uint32_t host;
    int32_t param, leaf;
    RtError *err;
} Walk;

static bool collect_array(Walk *w, const ValueLayout *layout, ArrayValue *value) {
    ArgArray *a = add_array(w->args);
    if (!a) return rt_fail_memory(w->err, "launch arguments", sizeof *a * (size_t)w->args->cap);
    uint32_t bit = w->leaf < 32 ? UINT32_C(1) << w->leaf : 0;
    w->leaf++;
    int64_t lo, hi;
    if (layout->ndim > RT_MAX_DIMS)
        return rt_fail(w->err, RT_VALUE_ERROR, "Argument %d has more than %d dimensions.",
                       w->param + 1, RT_MAX_DIMS);
    if (!rt_extent(layout->ndim, item_size(layout), value->dims, value->dims + layout->ndim, &lo,
                   &hi))
        return rt_fail(w->err, RT_VALUE_ERROR,
                       "Argument %d is an array that spans more than 2^63 bytes.", w->param + 1);
    a->value = value;
    a->layout = layout;
    a->data = value->data;
    a->lo = (uintptr_t)value->data + (uintptr_t)lo;
    a->hi = (uintptr_t)value->data + (uintptr_t)hi;
    a->param = w->param;
    a->range = -1;
    a->written = w->unknown || (layout->usage & ARG_WRITTEN);
    a->host = (w->host & bit) != 0;
    a->readonly = layout->readonly;
    w->args->any_host |= a->host;
    return true;
}

static bool collect_value(Walk *w, const ValueLayout *layout, char *value) {
    if (layout->kind == TY_ARRAY) return collect_array(w, layout, (ArrayValue *)value);
    if (layout->kind == TY_OPTIONAL && !*(bool *)value) return true;
    if (layout->kind != TY_TUPLE && layout->kind != TY_OPTIONAL) return true;
    for (int i = 0; i < layout->nitems; i++)
        if (!collect_value(w, &layout->items[i], value + layout->items[i].offset)) return false;
    return true;
}

bool rt_args_collect(RtArgs *args, const Artifact *artifact, void *const *values,
                     const uint32_t *host, RtError *err) {
    args->arrays = args->inline_arrays;
    args->cap = ARGS_INLINE;
    args->narrays = args->nranges = 0;
    args->ranges = NULL;
    args->any_host = false;
    for (int i = 0; i < artifact->nparams; i++) {
        Walk w = {args, !artifact->usage, host ? host[i] : 0, i, 0, err};
        if (!collect_value(&w, &artifact->params[i], values[i])) return false;
    }
    return true;
}

bool rt_args_check(const RtArgs *args, const Artifact *artifact, RtError *err) {
    for (int i = 0; i < args->narrays; i++) {
        const ArgArray *a = &args->arrays[i];
        if (a->written && a->readonly)
            return rt_fail(
                err, RT_TYPE_ERROR,
                "%.*s writes to argument %d, but that array is read-only. Pass a copy, or make it "
                "writable.",
                STR_ARG(artifact->name), a->param + 1);
    }
    return true;
}

RtSpan rt_span(uint64_t address, int32_t ndim, int64_t item, const int64_t *shape,
               const int64_t *strides, bool written) {
    int64_t lo, hi;
    bool fast = rt_extent(ndim, item, shape, strides, &lo, &hi);
    for (int i = 0; i < ndim; i++)
        fast &= shape[i] <= FAST_LIMIT;
    if (!fast) return (RtSpan){0, UINT64_MAX, written};
    return (RtSpan){address + (uint64_t)lo, address + (uint64_t)hi, written};
}

bool rt_grid_wants_general(const int64_t grid[3], const int64_t block[3]) {
    bool fast = true;
    for (int i = 0; i < 3; i++)
        fast &= (grid[i] <= FAST_BLOCKS) & (grid[i] * block[i] <= FAST_LIMIT);
    return !fast;
}

bool rt_params_want_general(const Artifact *artifact, void *const *values) {
    for (int i = 0; artifact->usage && i < artifact->nparams; i++) {
        if (!(artifact->usage[i] & ARG_SMALL)) continue;
        int64_t value, least = artifact->usage[i] & ARG_POSITIVE ? 1
                               : artifact->usage[i] & ARG_INDEX  ? 0
                                                                 : -FAST_LIMIT;
        memcpy(&value, values[i], sizeof value);
        if (value < least || value > FAST_LIMIT) return true;
    }
    return false;
}

/* The array parameter before this one that it is to be like; -1: it is the first. */
static int like(const Artifact *artifact, int i) {
    const ValueLayout *p = artifact->params;
    int k = i - 1;
    while (k >= 0 && (!(artifact->usage[k] & ARG_ALIKE) || p[k].ndim != p[i].ndim ||
                      p[k].layout != p[i].layout))
        k--;
    return k;
}

bool rt_shapes_differ(const Artifact *artifact, void *const *values) {
    for (int i = 1; artifact->usage && i < artifact->nparams; i++) {
        int k = artifact->usage[i] & ARG_ALIKE ? like(artifact, i) : -1;
        if (k < 0) continue;
        const ArrayValue *a = values[k], *b = values[i];
        if (memcmp(a->dims, b->dims, sizeof *a->dims * artifact->params[i].ndim)) return true;
    }
    return false;
}

bool rt_spans_want_general(const RtSpan *spans, int32_t n) {
    const RtSpan *end = spans + n;
    for (const RtSpan *a = spans; a < end; a++) {
        if (a->hi - a->lo > FAST_SPAN) return true;
        if (!a->written) continue; /* few are */
        for (const RtSpan *b = spans; b < end; b++)
            if (b != a && b->lo < a->hi && a->lo < b->hi) return true;
    }
    return false;
}

bool rt_launch_wants_general(const Artifact *artifact, void *const *values) {
    RtArgs args;
    RtError ignored;
    rt_error_init(&ignored);
    bool general = !rt_args_collect(&args, artifact, values, NULL, &ignored);
    size_t size = sizeof(RtSpan) * (size_t)args.narrays;
    RtSpan few[ARGS_INLINE], *spans = args.narrays <= ARGS_INLINE ? few : rt_alloc(size);
    general |= !spans; /* always right */
    for (int i = 0; i < args.narrays && !general; i++) {
        const ArgArray *a = &args.arrays[i];
        int32_t ndim = a->layout->ndim;
        spans[i] = rt_span((uintptr_t)a->data, ndim, item_size(a->layout), a->value->dims,
                           a->value->dims + ndim, a->written);
    }
    general = general || rt_spans_want_general(spans, args.narrays);
    if (spans != few) rt_dealloc(spans, size);
    rt_args_free(&args);
    return general;
}

/* -- ranges ------------------------------------------------------------------------------------ */

static bool travels(const ArgArray *a) {
    return a->host && a->lo != a->hi;
}

/* Insertion sort by lo of the arrays that travel, then union of neighbours. */
static bool make_ranges(RtArgs *args, RtError *err) {
    size_t size = sizeof *args->ranges * (size_t)args->narrays;
    args->ranges = rt_alloc(size);
    if (!args->ranges) return rt_fail_memory(err, "launch arguments", (int64_t)size);
    int32_t n = 0;
    ArgRange *r = args->ranges;
    for (int i = 0; i < args->narrays; i++) {
        const ArgArray *a = &args->arrays[i];
        if (!travels(a)) continue;
        int k = n++;
        for (; k > 0 && r[k - 1].lo > a->lo; k--)
            r[k] = r[k - 1];
        r[k] = (ArgRange){.lo = a->lo, .hi = a->hi};
    }
    for (int i = 0; i < n; i++) {
        ArgRange *last = args->nranges ? &r[args->nranges - 1] : NULL;
        if (last && r[i].lo < last->hi)
            last->hi = QN_MAX(last->hi, r[i].hi);
        else
            r[args->nranges++] = r[i];
    }
    for (int i = 0; i < args->narrays; i++) {
        ArgArray *a = &args->arrays[i];
        if (!travels(a)) continue;
        for (a->range = 0; r[a->range].hi <= a->lo;)
            a->range++;
        r[a->range].written |= a->written;
    }
    return true;
}

bool rt_args_begin(RtArgs *args, RtDevice *device, RtStream *stream, RtError *err) {
    if (!make_ranges(args, err)) return false;
    for (int i = 0; i < args->nranges; i++) {
        ArgRange *r = &args->ranges[i];
        int64_t size = (int64_t)(r->hi - r->lo);
        uint64_t shift = r->lo % ALIGN_KEPT;
        r->buffer = rt_buffer_new(device, RT_MEM_DEVICE, size + (int64_t)shift, stream, err);
        if (!r->buffer) return false;
        r->address = r->buffer->address + shift;
        if (!rt_copy_to_device(device, stream, r->address, (void *)r->lo, size, false, err))
            return false;
    }
    for (int i = 0; i < args->narrays; i++) {
        ArgArray *a = &args->arrays[i];
        if (!a->host) continue;
        const ArgRange *r = a->range >= 0 ? &args->ranges[a->range] : NULL;
        a->value->data = r ? (void *)(uintptr_t)(r->address + ((uintptr_t)a->data - r->lo)) : NULL;
    }
    return true;
}

static bool contiguous(const ArgArray *a) {
    return rt_dense(a->layout->ndim, item_size(a->layout), a->value->dims,
                    a->value->dims + a->layout->ndim);
}

/* All that comes back is one large array without gaps: worth saving a copy. */
static const ArgArray *single_written(const RtArgs *args) {
    const ArgArray *single = NULL;
    for (int i = 0; i < args->narrays; i++) {
        const ArgArray *a = &args->arrays[i];
        if (a->range < 0 || !a->written) continue;
        if (single) return NULL;
        single = a;
    }
    return single && single->hi - single->lo > DIRECT_BYTES && contiguous(single) ? single : NULL;
}

bool rt_args_end(RtArgs *args, RtDevice *device, RtStream *stream, RtError *err) {
    const ArgArray *single = single_written(args);
    if (single) {
        const ArgRange *r = &args->ranges[single->range];
        return rt_copy_to_host(device, stream, (void *)single->lo,
                               r->address + (single->lo - r->lo),
                               (int64_t)(single->hi - single->lo), true, err);
    }
    for (int i = 0; i < args->nranges; i++) {
        ArgRange *r = &args->ranges[i];
        if (!r->written) continue;
        int64_t size = (int64_t)(r->hi - r->lo);
        r->staging = rt_alloc((size_t)size);
        if (!r->staging) return rt_fail_memory(err, "results of a kernel", size);
        if (!rt_copy_to_host(device, stream, r->staging, r->address, size, true, err)) return false;
    }
    for (int i = 0; i < args->narrays; i++) {
        const ArgArray *a = &args->arrays[i];
        if (a->range < 0 || !a->written) continue;
        const ArgRange *r = &args->ranges[a->range];
        const int64_t *shape = a->value->dims, *strides = shape + a->layout->ndim;
        rt_copy_elements(a->data, strides, r->staging + ((uintptr_t)a->data - r->lo), strides,
                         a->layout->ndim, item_size(a->layout), shape);
    }
    return true;
}

void rt_args_free(RtArgs *args) {
    for (int i = 0; i < args->narrays && args->any_host; i++)
        if (args->arrays[i].host) args->arrays[i].value->data = args->arrays[i].data;
    for (int i = 0; i < args->narrays && args->ranges; i++) {
        rt_dealloc(args->ranges[i].staging, args->ranges[i].hi - args->ranges[i].lo);
        rt_buffer_release(args->ranges[i].buffer);
    }
    rt_dealloc(args->ranges, sizeof *args->ranges * (size_t)args->narrays);
    if (args->arrays != args->inline_arrays)
        rt_dealloc(args->arrays, sizeof *args->arrays * (size_t)args->cap);
}
