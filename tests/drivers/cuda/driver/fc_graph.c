/* Graphs of kernels. Each node waits for those that it was told to; of those that wait for nothing (more), the one that was
 * added last runs first: whoever forgets to name one finds out. */
#include "fc.h"

#include <stdlib.h>

static CUresult copy_node(FcNode *out, const CUkernelNode *params) {
    *out = (FcNode){.function = params->function, .shared = params->shared};
    memcpy(out->grid, params->grid, sizeof out->grid);
    memcpy(out->block, params->block, sizeof out->block);
    return fc_gather(params->function, params->params, params->extra, &out->params, &out->size);
}

static FcObject *graph_of(CUgraph handle, FcKind kind) {
    FcObject *graph = fc_object(handle, kind);
    return graph && graph->context == fc_current() ? graph : NULL;
}

/* Of node number i: not an address. */
static CUgraphNode node_handle(const FcObject *graph, uint32_t i) {
    return (CUgraphNode)(uintptr_t)((uint64_t)(graph->index + 1) << 32 | (i + 1));
}

static bool node_index(uint32_t graph, uint32_t n, CUgraphNode node, uint32_t *i) {
    uint64_t number = (uintptr_t)node;
    *i = (uint32_t)number - 1;
    return number >> 32 == (uint64_t)graph + 1 && *i < n;
}

void fc_graph_end(FcObject *graph) {
    for (uint32_t i = 0; i < graph->graph.n; i++) {
        free(graph->graph.nodes[i].params);
        free(graph->graph.nodes[i].before);
    }
    free(graph->graph.nodes);
    graph->graph.nodes = NULL;
    graph->graph.n = 0;
}

FC_API CUresult cuGraphCreate(CUgraph *out, unsigned flags) {
    FC_ENTER(cuGraphCreate, FC_CONTEXT, "%p, %u", (void *)out, flags);
    FC_REQUIRE(out && !flags, ERROR_INVALID_VALUE);
    FcObject *graph = fc_object_new(FK_graph, fc_current());
    FC_REQUIRE(graph, ERROR_OUT_OF_MEMORY);
    *out = fc_handle(graph);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuGraphDestroy(CUgraph handle) {
    FC_ENTER(cuGraphDestroy, FC_EVEN_DEAD, "%p", (void *)handle);
    FcObject *graph = fc_object(handle, FK_graph);
    FC_REQUIRE(graph, ERROR_INVALID_VALUE);
    fc_object_end(graph);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph handle, const CUgraphNode *before,
                                     size_t n, const CUkernelNode *params) {
    FC_ENTER(cuGraphAddKernelNode, FC_CONTEXT, "%p, %p, %p, %zu, %p", (void *)out, (void *)handle,
             (const void *)before, n, (const void *)params);
    FcObject *graph = graph_of(handle, FK_graph);
    uint32_t i;
    FC_REQUIRE(out && graph && params, ERROR_INVALID_VALUE);
    FC_REQUIRE(!n || before, ERROR_INVALID_VALUE);
    for (size_t k = 0; k < n; k++)
        FC_REQUIRE(node_index(graph->index, graph->graph.n, before[k], &i), ERROR_INVALID_VALUE);
    FcNode *more = realloc(graph->graph.nodes, (graph->graph.n + 1) * sizeof *more);
    FC_REQUIRE(more, ERROR_OUT_OF_MEMORY);
    graph->graph.nodes = more;
    FcNode *node = &more[graph->graph.n];
    CUresult result = copy_node(node, params);
    if (result) return fc_leave(result);
    node->before = calloc(n + 1, sizeof *node->before);
    for (size_t k = 0; node->before && k < n; k++)
        node_index(graph->index, graph->graph.n, before[k], &node->before[node->nbefore++]);
    *out = node_handle(graph, graph->graph.n++);
    return fc_leave(CUDA_SUCCESS);
}

static CUresult instantiate(FcObject *exec, const FcObject *graph) {
    exec->graph.nodes = calloc(graph->graph.n + 1, sizeof(FcNode));
    if (!exec->graph.nodes) return CUDA_ERROR_OUT_OF_MEMORY;
    exec->graph.origin = graph->index;
    for (; exec->graph.n < graph->graph.n; exec->graph.n++) {
        FcNode *to = &exec->graph.nodes[exec->graph.n];
        *to = graph->graph.nodes[exec->graph.n];
        const FcNode *from = &graph->graph.nodes[exec->graph.n];
        to->params = malloc(to->size + 1);
        to->before = calloc(to->nbefore + 1, sizeof *to->before);
        if (!to->params || !to->before) return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(to->params, from->params, to->size);
        memcpy(to->before, from->before, to->nbefore * sizeof *to->before);
    }
    return CUDA_SUCCESS;
}

FC_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle,
                                            unsigned long long flags) {
    FC_ENTER(cuGraphInstantiateWithFlags, FC_CONTEXT, "%p, %p, %llu", (void *)out, (void *)handle,
             flags);
    const FcObject *graph = graph_of(handle, FK_graph);
    FC_REQUIRE(out && graph && !flags, ERROR_INVALID_VALUE);
    FcObject *exec = fc_object_new(FK_graph_exec, fc_current());
    FC_REQUIRE(exec, ERROR_OUT_OF_MEMORY);
    CUresult result = instantiate(exec, graph);
    if (result)
        fc_object_end(exec);
    else
        *out = fc_handle(exec);
    return fc_leave(result);
}

FC_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                               const CUkernelNode *params) {
    FC_ENTER(cuGraphExecKernelNodeSetParams, FC_CONTEXT, "%p, %p, %p", (void *)handle, (void *)node,
             (const void *)params);
    FcObject *exec = graph_of((CUgraph)handle, FK_graph_exec);
    uint32_t i;
    FcNode fresh;
    FC_REQUIRE(exec && params && node_index(exec->graph.origin, exec->graph.n, node, &i),
               ERROR_INVALID_VALUE);
    CUresult result = copy_node(&fresh, params);
    if (result) return fc_leave(result);
    free(exec->graph.nodes[i].params);
    fresh.before = exec->graph.nodes[i].before;
    fresh.nbefore = exec->graph.nodes[i].nbefore;
    exec->graph.nodes[i] = fresh;
    return fc_leave(CUDA_SUCCESS);
}

static bool is_ready(const FcNode *node, const bool *ran) {
    bool ready = true;
    for (uint32_t k = 0; k < node->nbefore; k++)
        ready &= ran[node->before[k]];
    return ready;
}

static CUresult run_nodes(const FcObject *exec, CUstream stream) {
    uint32_t n = exec->graph.n;
    bool *ran = calloc(n + 1, sizeof *ran);
    CUresult result = ran ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t count = 0; count < n && !result && !fc_current()->ctx.sticky; count++) {
        uint32_t i = n - 1; /* nodes wait for earlier ones, so that one is ready */
        while (ran[i] || !is_ready(&exec->graph.nodes[i], ran))
            i--;
        result = fc_launch_node(&exec->graph.nodes[i], stream);
        ran[i] = true;
    }
    free(ran);
    return result;
}

FC_API CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
    FC_ENTER(cuGraphLaunch, FC_CONTEXT, "%p, %p", (void *)handle, (void *)stream);
    const FcObject *exec = graph_of((CUgraph)handle, FK_graph_exec);
    FC_REQUIRE(exec, ERROR_INVALID_VALUE);
    return fc_leave(run_nodes(exec, stream));
}

FC_API CUresult cuGraphExecDestroy(CUgraphExec handle) {
    FC_ENTER(cuGraphExecDestroy, FC_EVEN_DEAD, "%p", (void *)handle);
    FcObject *exec = fc_object(handle, FK_graph_exec);
    FC_REQUIRE(exec, ERROR_INVALID_VALUE);
    fc_object_end(exec);
    return fc_leave(CUDA_SUCCESS);
}
