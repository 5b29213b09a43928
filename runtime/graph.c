/* graph.c - launches that were captured (capture.c), to be replayed as often as one likes.
 *
 * A device that can (CUDA) makes one thing of all nodes, which it launches with a single call; elsewhere a replay launches
 * the nodes one after the other: each was captured behind those that it waits for. */
#include "runtime/device.h"

#include <string.h>

/* -- nodes ----------------------------------------------------------------------------------------- */

static void node_clear(RtNode *node) {
    rt_kernel_release(node->kernel);
    rt_dealloc(node->values, node->bytes);
    rt_tail_clear(&node->before);
    memset(node, 0, sizeof *node);
}

/* -- replay -------------------------------------------------------------------------------------- */

int32_t rt_graph_size(const RtGraph *graph) {
    return graph->n;
}

static void note_mail(const RtGraph *graph) {
    for (int32_t i = 0; i < graph->n; i++) {
        RtKernel *kernel = graph->nodes[i].kernel;
        if (!(kernel->mailbox | kernel->prints)) continue;
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

static bool same_node(const RtNode *a, const RtNode *b) {
    bool same = a->kernel == b->kernel && a->before.n == b->before.n;
    for (int32_t i = 0; same && i < a->before.n; i++)
        same = a->before.nodes[i] == b->before.nodes[i];
    return same;
}

/* With the same nodes to wait for. */
static bool same_kernels(const RtGraph *a, const RtGraph *b) {
    bool same = a->n == b->n;
    for (int32_t i = 0; same && i < a->n; i++)
        same = same_node(&a->nodes[i], &b->nodes[i]);
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
