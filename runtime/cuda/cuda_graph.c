/* cuda_graph.c - captured launches as a graph of the driver: nodes behind those that they wait for, launched by one call. */
#include "runtime/cuda/cuda_api.h"

typedef struct CudaGraph {
    CUgraph graph;
    CUgraphExec exec;
    int32_t n;
    const RtNode *from;  /* while it is made */
    CUgraphNode nodes[]; /* n, and room for those that one waits for */
} CudaGraph;

static size_t bytes_of(int32_t n) {
    return sizeof(CudaGraph) + 2 * (size_t)n * sizeof(CUgraphNode);
}

static bool failed(RtGraph *graph, RtStream *stream, CUresult r, const char *call, RtError *err) {
    return drv_fail(drv_state(graph->device)->driver, graph->device, stream, r, call, err);
}

/* -- a node ---------------------------------------------------------------------------------------- */

typedef CUresult (*NodeCall)(CudaGraph *g, int32_t i, const CUkernelNode *node);

static CUresult add_node(CudaGraph *g, int32_t i, const CUkernelNode *node) {
    const RtTail *before = &g->from[i].before;
    CUgraphNode *nodes = &g->nodes[g->n]; /* the other half */
    for (int32_t k = 0; k < before->n; k++)
        nodes[k] = g->nodes[before->nodes[k]];
    return cu_api()->cuGraphAddKernelNode(&g->nodes[i], g->graph, before->n ? nodes : NULL,
                                          (size_t)before->n, node);
}

static CUresult set_node(CudaGraph *g, int32_t i, const CUkernelNode *node) {
    return cu_api()->cuGraphExecKernelNodeSetParams(g->exec, g->nodes[i], node);
}

/* The driver copies the parameters. */
static bool each_node(RtGraph *graph, CudaGraph *g, NodeCall call, const char *name, RtError *err) {
    for (int32_t i = 0; i < graph->n; i++) {
        const RtNode *node = &graph->nodes[i];
        const DeviceLaunch *l = &node->launch;
        size_t size = (size_t)node->kernel->param_bytes;
        char *params = rt_alloc(size + 1);
        if (!params) return rt_fail_memory(err, "kernel arguments", (int64_t)size);
        rt_pack_params(node->kernel, l->args, params);
        void *extra[] = {LAUNCH_BUFFER, params, LAUNCH_BUFFER_SIZE, &size, NULL};
        CUkernelNode made = {.function = node->kernel->function,
                             .grid = {l->grid[0], l->grid[1], l->grid[2]},
                             .block = {l->block[0], l->block[1], l->block[2]},
                             .shared = l->dynamic_shared,
                             .extra = size ? extra : NULL};
        CUresult r = call(g, i, &made);
        rt_dealloc(params, size + 1);
        if (r != CUDA_SUCCESS) return failed(graph, NULL, r, name, err);
    }
    return true;
}

static bool allow_shared(const RtGraph *graph, RtError *err) {
    for (int32_t i = 0; i < graph->n; i++)
        if (!drv_allow_shared(graph->nodes[i].kernel, graph->nodes[i].launch.dynamic_shared, err))
            return false;
    return true;
}

/* -- the graph --------------------------------------------------------------------------------------- */

static void end(CudaGraph *g) {
    const CudaApi *cu = cu_api();
    if (g->exec) cu->cuGraphExecDestroy(g->exec);
    if (g->graph) cu->cuGraphDestroy(g->graph);
    rt_dealloc(g, bytes_of(g->n));
}

static bool fill(RtGraph *graph, CudaGraph *g, RtError *err) {
    const CudaApi *cu = cu_api();
    CUresult r = cu->cuGraphCreate(&g->graph, 0);
    if (r != CUDA_SUCCESS) return failed(graph, NULL, r, "cuGraphCreate", err);
    if (!each_node(graph, g, add_node, "cuGraphAddKernelNode", err)) return false;
    r = cu->cuGraphInstantiateWithFlags(&g->exec, g->graph, 0);
    return r == CUDA_SUCCESS || failed(graph, NULL, r, "cuGraphInstantiateWithFlags", err);
}

bool cu_graph_make(RtGraph *graph, RtError *err) {
    const Driver *driver = drv_state(graph->device)->driver;
    if (!cu_has_graphs()) return false; /* launched one by one */
    CudaGraph *g = rt_alloc(bytes_of(graph->n));
    DrvCurrent c;
    if (!g) return rt_fail_memory(err, "a graph", (int64_t)bytes_of(graph->n));
    g->n = graph->n;
    g->from = graph->nodes;
    bool entered = allow_shared(graph, err) && driver->enter(graph->device, &c, err);
    bool ok = entered && fill(graph, g, err);
    if (ok)
        graph->state = g;
    else
        end(g);
    if (entered) driver->leave(&c);
    return ok;
}

bool cu_graph_update(RtGraph *graph, RtError *err) {
    const Driver *driver = drv_state(graph->device)->driver;
    DrvCurrent c;
    if (!allow_shared(graph, err) || !driver->enter(graph->device, &c, err)) return false;
    bool ok = each_node(graph, graph->state, set_node, "cuGraphExecKernelNodeSetParams", err);
    driver->leave(&c);
    return ok;
}

bool cu_graph_launch(RtGraph *graph, RtStream *stream, RtError *err) {
    const Driver *driver = drv_state(graph->device)->driver;
    const CudaGraph *g = graph->state;
    DrvCurrent c;
    if (!driver->enter(graph->device, &c, err)) return false;
    CUresult r = cu_api()->cuGraphLaunch(g->exec, (void *)(uintptr_t)stream->handle);
    driver->leave(&c);
    return r == CUDA_SUCCESS || failed(graph, stream, r, "cuGraphLaunch", err);
}

void cu_graph_free(RtGraph *graph) {
    const Driver *driver = drv_state(graph->device)->driver;
    RtError ignored;
    DrvCurrent c;
    rt_error_init(&ignored);
    if (rt_leaving() || !driver->enter(graph->device, &c, &ignored)) return;
    end(graph->state);
    driver->leave(&c);
}
