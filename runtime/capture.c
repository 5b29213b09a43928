/* capture.c - launches become nodes of a graph instead of running, on one stream or on several.
 *
 * Between rt_capture_begin and rt_capture_end a launch on the stream goes through all its checks and becomes a node of the
 * graph, with a copy of its arguments. A stream has a tail: the nodes that its next one comes behind. An event that is
 * recorded there keeps the tail, and another stream that waits for the event joins the capture with it; one that is captured
 * already adds it to its own. In the end all that was captured must be behind the tail of the stream that began. */
#include "runtime/device.h"

#include <string.h>

/* A capture that is under way, which events may outlive. */
struct RtCapture {
    _Atomic int32_t refs;
    RtGraph *graph; /* NULL: it is over */
    RtStream *origin;
    RtStream *joined; /* the others, by next_joined, each with a reference */
};

bool rt_capturing(const RtStream *stream) {
    return stream && stream->capture;
}

bool rt_not_captured(const RtStream *stream, const char *what, RtError *err) {
    if (QN_LIKELY(!stream || !stream->capture)) return true;
    return rt_fail(err, RT_VALUE_ERROR,
                   "%s on a stream that is being captured: a graph has launches only. End the "
                   "capture first, or use another stream.",
                   what);
}

/* -- tails ----------------------------------------------------------------------------------------- */

static size_t tail_bytes(int32_t n) {
    return (size_t)n * sizeof(int32_t) + 1; /* an empty one has memory, too */
}

void rt_tail_clear(RtTail *tail) {
    rt_dealloc(tail->nodes, tail_bytes(tail->n));
    *tail = (RtTail){0};
}

/* The nodes of both, each once. */
static bool tail_add(RtTail *tail, const RtTail *other, RtError *err) {
    size_t bytes = tail_bytes(tail->n + other->n);
    int32_t *nodes = rt_alloc(bytes), n = tail->n;
    if (!nodes) return rt_fail_memory(err, "a graph", (int64_t)bytes);
    if (n) memcpy(nodes, tail->nodes, (size_t)n * sizeof *nodes);
    for (int32_t i = 0; i < other->n; i++) {
        bool there = false;
        for (int32_t k = 0; k < tail->n && !there; k++)
            there = tail->nodes[k] == other->nodes[i];
        if (!there) nodes[n++] = other->nodes[i];
    }
    int32_t *fit = rt_alloc(tail_bytes(n));
    if (fit && n) memcpy(fit, nodes, (size_t)n * sizeof *fit);
    rt_dealloc(nodes, bytes);
    if (!fit) return rt_fail_memory(err, "a graph", (int64_t)tail_bytes(n));
    rt_tail_clear(tail);
    *tail = (RtTail){fit, n};
    return true;
}

static bool tail_set(RtTail *tail, const RtTail *other, RtError *err) {
    RtTail fresh = {0};
    if (!tail_add(&fresh, other, err)) return false;
    rt_tail_clear(tail);
    *tail = fresh;
    return true;
}

/* -- a capture ---------------------------------------------------------------------------------------- */

static void capture_release(RtCapture *capture) {
    if (capture && atomic_fetch_sub(&capture->refs, 1) == 1) rt_dealloc(capture, sizeof *capture);
}

static bool can_be_captured(const RtStream *stream, RtError *err) {
    if (stream->owned) return true;
    return rt_fail(err, RT_VALUE_ERROR,
                   stream == &stream->device->default_stream
                       ? "The default stream cannot be captured: make one with stream()."
                       : "A stream of somebody else cannot be captured: make one with "
                         "stream().");
}

bool rt_capture_begin(RtStream *stream, void *owner, void (*drop)(void *owner), RtError *err) {
    if (!rt_usable(stream->device, err) || !can_be_captured(stream, err)) return false;
    if (stream->capture)
        return rt_fail(err, RT_VALUE_ERROR, "The stream is being captured already.");
    RtGraph *graph = rt_alloc(sizeof *graph);
    RtCapture *capture = rt_alloc(sizeof *capture);
    if (!graph || !capture) {
        rt_dealloc(graph, sizeof *graph);
        rt_dealloc(capture, sizeof *capture);
        return rt_fail_memory(err, "a graph", sizeof *graph);
    }
    graph->device = stream->device;
    graph->generation = rt_generation();
    graph->owner = owner;
    graph->drop = drop;
    capture->graph = graph;
    capture->origin = stream;
    atomic_init(&capture->refs, 1);
    stream->capture = capture;
    return true;
}

void *rt_capture_owner(const RtStream *stream) {
    return stream->capture ? stream->capture->graph->owner : NULL;
}

static void leave(RtStream *stream) {
    capture_release(stream->capture);
    stream->capture = NULL;
    rt_tail_clear(&stream->tail);
}

/* Streams run their launches from here on. The graph, which is the caller's. */
static RtGraph *capture_over(RtCapture *capture) {
    RtGraph *graph = capture->graph;
    capture->graph = NULL;
    for (RtStream *s = capture->joined, *next; s; s = next) {
        next = s->next_joined;
        leave(s);
        rt_stream_release(s);
    }
    capture->joined = NULL;
    leave(capture->origin);
    return graph;
}

void rt_capture_drop(RtStream *stream) {
    RtCapture *capture = stream->capture;
    if (!capture) return;
    if (capture->origin == stream) {
        rt_graph_release(capture_over(capture));
        return;
    }
    for (RtStream **link = &capture->joined; *link; link = &(*link)->next_joined)
        if (*link == stream) {
            *link = stream->next_joined;
            break;
        }
    leave(stream);
}

/* Is each node one that the tail comes behind? Nodes come behind earlier ones only. */
static bool all_joined(const RtGraph *graph, const RtTail *tail, bool *all, RtError *err) {
    bool *behind = rt_alloc((size_t)graph->n + 1);
    if (!behind) return rt_fail_memory(err, "a graph", graph->n);
    for (int32_t i = 0; i < tail->n; i++)
        behind[tail->nodes[i]] = true;
    *all = true;
    for (int32_t i = graph->n; i-- > 0;) {
        const RtTail *before = &graph->nodes[i].before;
        *all &= behind[i];
        for (int32_t k = 0; k < before->n && behind[i]; k++)
            behind[before->nodes[k]] = true;
    }
    rt_dealloc(behind, (size_t)graph->n + 1);
    return true;
}

RtGraph *rt_capture_end(RtStream *stream, RtError *err) {
    RtCapture *capture = stream->capture;
    bool all = false;
    if (!capture) {
        rt_fail(err, RT_VALUE_ERROR, "The stream is not being captured.");
        return NULL;
    }
    if (capture->origin != stream) {
        rt_fail(err, RT_VALUE_ERROR,
                "The stream joined the capture of another one by an event: it ends there.");
        return NULL;
    }
    bool ok = all_joined(capture->graph, &stream->tail, &all, err);
    if (ok && !all)
        rt_fail(err, RT_VALUE_ERROR,
                "Launches of a stream that joined the capture are not waited for: record an event "
                "on it behind them, and have the stream that began wait for the event.");
    RtGraph *graph = capture_over(capture);
    if (ok && all) return graph;
    rt_graph_release(graph);
    return NULL;
}

/* -- nodes ---------------------------------------------------------------------------------------------- */

static bool grow(RtGraph *graph, RtError *err) {
    if (graph->n < graph->cap) return true;
    int32_t cap = graph->cap ? 2 * graph->cap : 8;
    RtNode *nodes = rt_alloc((size_t)cap * sizeof *nodes);
    if (!nodes) return rt_fail_memory(err, "a graph", cap * (int64_t)sizeof *nodes);
    if (graph->n) memcpy(nodes, graph->nodes, (size_t)graph->n * sizeof *nodes);
    rt_dealloc(graph->nodes, (size_t)graph->cap * sizeof *graph->nodes);
    graph->nodes = nodes;
    graph->cap = cap;
    return true;
}

/* The packed arguments, as they lie in memory: pointers to them, then they themselves. */
static bool copy_values(RtNode *node, void *const *args, RtError *err) {
    const Artifact *a = node->kernel->artifact;
    size_t at = (size_t)a->nparams * sizeof(void *);
    for (int32_t i = 0; i < a->nparams; i++)
        at = (at + 15) / 16 * 16 + (size_t)a->params[i].size;
    node->bytes = QN_MAX(at, (size_t)1);
    node->values = rt_alloc(node->bytes);
    if (!node->values) return rt_fail_memory(err, "a graph", (int64_t)node->bytes);
    at = (size_t)a->nparams * sizeof(void *);
    for (int32_t i = 0; i < a->nparams; i++) {
        at = (at + 15) / 16 * 16;
        void *value = (char *)node->values + at;
        memcpy(value, args[i], (size_t)a->params[i].size);
        memcpy((char *)node->values + (size_t)i * sizeof value, &value, sizeof value);
        at += (size_t)a->params[i].size;
    }
    return true;
}

bool rt_capture_launch(RtStream *stream, RtKernel *kernel, const DeviceLaunch *launch,
                       RtError *err) {
    RtGraph *graph = stream->capture->graph;
    int32_t number = graph->n;
    if (!grow(graph, err)) return false;
    RtNode *node = &graph->nodes[number];
    *node = (RtNode){.kernel = kernel, .launch = *launch};
    if (!copy_values(node, launch->args, err) || !tail_set(&node->before, &stream->tail, err) ||
        !tail_set(&stream->tail, &(RtTail){&number, 1}, err)) {
        rt_tail_clear(&node->before);
        rt_dealloc(node->values, node->bytes);
        memset(node, 0, sizeof *node);
        return false;
    }
    atomic_fetch_add_explicit(&kernel->refs, 1, memory_order_relaxed);
    node->launch.args = node->values;
    node->launch.ctx = NULL;
    graph->n++;
    return true;
}

/* -- events: how streams fork and join --------------------------------------------------------------------- */

void rt_event_forget(RtEvent *event) {
    capture_release(event->capture);
    event->capture = NULL;
    rt_tail_clear(&event->tail);
}

bool rt_event_not_captured(const RtEvent *event, const char *what, RtError *err) {
    if (QN_LIKELY(!event->capture)) return true;
    return rt_fail(err, RT_VALUE_ERROR,
                   "%s that was recorded on a stream that was being captured: there only streams "
                   "can wait for it, until the capture ends.",
                   what);
}

bool rt_capture_record(RtEvent *event, RtStream *stream, RtError *err) {
    if (!tail_set(&event->tail, &stream->tail, err)) return false;
    atomic_fetch_add(&stream->capture->refs, 1);
    capture_release(event->capture);
    event->capture = stream->capture;
    event->recorded = true;
    return true;
}

static bool join(RtStream *stream, RtCapture *capture, RtError *err) {
    if (!can_be_captured(stream, err)) return false;
    if (stream->device != capture->graph->device)
        return rt_fail(err, RT_VALUE_ERROR, "The stream and the capture are of two devices.");
    atomic_fetch_add(&capture->refs, 1);
    stream->capture = capture;
    stream->next_joined = capture->joined;
    capture->joined = rt_stream_retain(stream);
    return true;
}

bool rt_capture_wait(RtStream *stream, const RtEvent *event, RtError *err) {
    RtCapture *capture = event->capture;
    if (!capture) return rt_not_captured(stream, "Waiting for an event from outside", err);
    if (!capture->graph)
        return rt_fail(err, RT_VALUE_ERROR,
                       "The event was recorded on a stream that was being captured, and that "
                       "capture is over: record it again.");
    if (stream->capture && stream->capture != capture)
        return rt_fail(err, RT_VALUE_ERROR,
                       "The stream and the event are of two captures that have nothing in common.");
    if (!stream->capture && !join(stream, capture, err)) return false;
    return tail_add(&stream->tail, &event->tail, err);
}
