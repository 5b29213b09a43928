/* graph.c - launches that are captured from a stream, to be replayed as often as one likes.
 *
 * Between rt_capture_begin and rt_capture_end a launch on the stream goes through all its checks and becomes a node of the
 * graph, with a copy of its arguments, instead of running. A device that can (CUDA) makes one thing of all nodes, which it
 * launches with a single call; elsewhere a replay launches the nodes one after the other. */
#include "runtime/device.h"

#include <string.h>

/* -- capture ------------------------------------------------------------------------------------- */

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

bool rt_capture_begin(RtStream *stream, void *owner, void (*drop)(void *owner), RtError *err) {
    if (!rt_usable(stream->device, err)) return false;
    if (!stream->owned)
        return rt_fail(err, RT_VALUE_ERROR,
                       stream == &stream->device->default_stream
                           ? "The default stream cannot be captured: make one with stream()."
                           : "A stream of somebody else cannot be captured: make one with "
                             "stream().");
    if (stream->capture)
        return rt_fail(err, RT_VALUE_ERROR, "The stream is being captured already.");
    RtGraph *graph = rt_alloc(sizeof *graph);
    if (!graph) return rt_fail_memory(err, "a graph", sizeof *graph);
    graph->device = stream->device;
    graph->generation = rt_generation();
    graph->owner = owner;
    graph->drop = drop;
    stream->capture = graph;
    return true;
}

void *rt_capture_owner(const RtStream *stream) {
    return stream->capture ? stream->capture->owner : NULL;
}

RtGraph *rt_capture_end(RtStream *stream, RtError *err) {
    RtGraph *graph = stream->capture;
    if (!graph) {
        rt_fail(err, RT_VALUE_ERROR, "The stream is not being captured.");
        return NULL;
    }
    stream->capture = NULL;
    return graph;
}

static void node_clear(RtNode *node) {
    rt_kernel_release(node->kernel);
    rt_dealloc(node->values, node->bytes);
    memset(node, 0, sizeof *node);
}

static bool grow(RtGraph *graph, RtError *err) {
    if (graph->n < graph->cap) return true;
    int32_t cap = graph->cap ? 2 * graph->cap : 8;
    RtNode *nodes = rt_alloc((size_t)cap * sizeof *nodes);
    if (!nodes) return rt_fail_memory(err, "a graph", cap * (int64_t)sizeof *nodes);
    if (graph->n) memcpy(nodes, graph->nodes, (size_t)graph->n * sizeof *nodes);
    rt_dealloc(graph->nodes, (size_t)graph->cap * sizeof *nodes);
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
    RtGraph *graph = stream->capture;
    if (!grow(graph, err)) return false;
    RtNode *node = &graph->nodes[graph->n];
    *node = (RtNode){.kernel = kernel, .launch = *launch};
    if (!copy_values(node, launch->args, err)) {
        memset(node, 0, sizeof *node);
        return false;
    }
    atomic_fetch_add_explicit(&kernel->refs, 1, memory_order_relaxed);
    node->launch.args = node->values;
    node->launch.ctx = NULL;
    graph->n++;
    return true;
}

/* -- replay -------------------------------------------------------------------------------------- */

int32_t rt_graph_size(const RtGraph *graph) {
    return graph->n;
}

static void note_mail(const RtGraph *graph) {
    for (int32_t i = 0; i < graph->n; i++) {
        RtKernel *kernel = graph->nodes[i].kernel;
        if (!kernel->mailbox) continue;
        atomic_store_explicit(&kernel->mail, true, memory_order_relaxed);
        atomic_store_explicit(&graph->device->mail, true, memory_order_relaxed);
    }
}

static bool launch_nodes(const RtGraph *graph, RtStream *stream, CallContext *ctx, RtError *err) {
    for (int32_t i = 0; i < graph->n; i++) {
        DeviceLaunch launch = graph->nodes[i].launch;
        launch.ctx = ctx;
        if (!rt_submit(graph->nodes[i].kernel, stream, &launch, err)) return false;
    }
    return true;
}

/* Is there something of the device's for all nodes? Made at the first launch. */
static bool as_a_whole(RtGraph *graph, RtError *err) {
    const DeviceOps *ops = graph->device->ops;
    if (!ops->graph_make) return false;
    for (int32_t i = 0; i < graph->n; i++)
        if (graph->nodes[i].launch.together) return false;
    return graph->n && (graph->state || ops->graph_make(graph, err));
}

bool rt_graph_launch(RtGraph *graph, RtStream *stream, CallContext *ctx, RtError *err) {
    RtDevice *device = graph->device;
    if (!stream) stream = &device->default_stream;
    if (!rt_usable(device, err) || !rt_not_captured(stream, "A graph is launched", err))
        return false;
    if (stream->device != device)
        return rt_fail(err, RT_VALUE_ERROR,
                       "The graph is of %s device %d, the stream of %s device %d.",
                       device->ops->name, device->info.ordinal, stream->device->ops->name,
                       stream->device->info.ordinal);
    graph->launched = true;
    if (!as_a_whole(graph, err)) return !rt_failed(err) && launch_nodes(graph, stream, ctx, err);
    note_mail(graph);
    return device->ops->graph_launch(graph, stream, err);
}

/* -- other arguments -------------------------------------------------------------------------------- */

static bool same_kernels(const RtGraph *a, const RtGraph *b) {
    bool same = a->n == b->n;
    for (int32_t i = 0; same && i < a->n; i++)
        same = a->nodes[i].kernel == b->nodes[i].kernel;
    return same;
}

/* What ran before still uses the memory that its owner keeps. */
static void wait_for(RtGraph *graph) {
    RtError ignored;
    rt_error_init(&ignored);
    if (!graph->launched || graph->generation != rt_generation() || graph->device->dead) return;
    graph->device->ops->sync(graph->device, NULL, &ignored);
    graph->launched = false;
}

static void drop_state(RtGraph *graph) {
    bool ours = graph->generation == rt_generation() && !graph->device->dead;
    if (graph->state && ours) graph->device->ops->graph_free(graph);
    graph->state = NULL;
}

bool rt_graph_update(RtGraph *graph, RtGraph *other, RtError *err) {
    if (!rt_usable(graph->device, err)) return false;
    if (graph->device != other->device)
        return rt_fail(err, RT_VALUE_ERROR, "The graphs are of two devices.");
    wait_for(graph);
    RtGraph before = *graph;
    bool same = same_kernels(graph, other);
    graph->nodes = other->nodes, graph->n = other->n, graph->cap = other->cap;
    graph->owner = other->owner, graph->drop = other->drop;
    other->nodes = before.nodes, other->n = before.n, other->cap = before.cap;
    other->owner = before.owner, other->drop = before.drop;
    if (!graph->state) return true;
    if (same && graph->device->ops->graph_update(graph, err)) return true;
    drop_state(graph); /* made anew at the next launch */
    return !rt_failed(err);
}

void rt_graph_release(RtGraph *graph) {
    if (!graph) return;
    wait_for(graph);
    drop_state(graph);
    for (int32_t i = 0; i < graph->n; i++)
        node_clear(&graph->nodes[i]);
    rt_dealloc(graph->nodes, (size_t)graph->cap * sizeof *graph->nodes);
    if (graph->drop) graph->drop(graph->owner);
    rt_dealloc(graph, sizeof *graph);
}
