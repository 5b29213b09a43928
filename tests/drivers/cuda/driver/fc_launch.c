/* Launches and occupancy. */
#include "fc.h"

#include <stdlib.h>

typedef struct Config {
    unsigned grid[3], block[3], shared;
    CUstream stream;
    void **params, **extra;
    bool cooperative;
} Config;

/* -- Checks ----------------------------------------------------------------------------------- */

static CUresult check_shape(const Config *c, const PtxFunc *entry) {
    static const unsigned grid_limits[] = {2147483647u, 65535, 65535},
                          block_limits[] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++) {
        if (c->grid[i] == 0 || c->grid[i] > grid_limits[i]) return CUDA_ERROR_INVALID_VALUE;
        if (c->block[i] == 0 || c->block[i] > block_limits[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned threads = c->block[0] * c->block[1] * c->block[2];
    unsigned most = entry->max_threads ? entry->max_threads : FC_THREADS_BLOCK;
    return threads > most || threads > FC_THREADS_BLOCK ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult check_shared(const Config *c, const FcObject *fn) {
    unsigned fixed = fn->fn.static_shared;
    unsigned limit =
        fn->fn.max_dynamic_shared ? (unsigned)fn->fn.max_dynamic_shared + fixed : FC_SHARED_DEFAULT;
    return fixed > FC_SHARED_OPTIN || c->shared + (uint64_t)fixed > limit ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
}

static int blocks_per_sm(const FcObject *fn, int threads, size_t dynamic) {
    size_t shared = fn->fn.static_shared + dynamic + FC_SHARED_RESERVED;
    int by_threads = FC_THREADS_SM / ((threads + 31) / 32 * 32),
        by_shared = (int)(FC_SHARED_SM / shared);
    int blocks = by_threads < by_shared ? by_threads : by_shared;
    return blocks < FC_BLOCKS_SM ? blocks : FC_BLOCKS_SM;
}

static CUresult check_cooperative(const Config *c, const FcObject *fn) {
    int threads = (int)(c->block[0] * c->block[1] * c->block[2]);
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    uint64_t room = (uint64_t)blocks_per_sm(fn, threads, c->shared) * FC_SMS;
    return c->cooperative && blocks > room ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

/* -- Parameters ------------------------------------------------------------------------------- */

/* One pointer per parameter, to a value of the size that the PTX declares. */
static CUresult from_pointers(const PtxFunc *entry, void **params, char *out) {
    if (entry->nparams && !params) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < entry->nparams; i++) {
        if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
        memcpy(out + entry->params[i].offset, params[i], entry->params[i].size);
    }
    return CUDA_SUCCESS;
}

/* All parameters in one buffer, laid out as in the PTX. */
static CUresult from_buffer(const PtxFunc *entry, void **extra, char *out) {
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; *extra != (void *)FC_LAUNCH_END; extra += 2) {
        if (*extra == (void *)FC_LAUNCH_BUFFER)
            buffer = extra[1];
        else if (*extra == (void *)FC_LAUNCH_BUFFER_SIZE)
            size = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer || !size || *size < entry->param_size) return CUDA_ERROR_INVALID_VALUE;
    memcpy(out, buffer, entry->param_size);
    return CUDA_SUCCESS;
}

static CUresult gather_params(const Config *c, const PtxFunc *entry, char *out) {
    if (c->params && c->extra) return CUDA_ERROR_INVALID_VALUE;
    return c->extra ? from_buffer(entry, c->extra, out) : from_pointers(entry, c->params, out);
}

/* -- Running ---------------------------------------------------------------------------------- */

static bool find_memory(void *user, uint64_t address, PtxRange *out) {
    const FcObject *context = user;
    const FcAlloc *a = fc_alloc_find(address);
    /* A device sees its own memory and the host's pinned one, not another device's. */
    if (!a || (a->kind <= FM_module && a->device != context->ctx.device)) return false;
    *out = (PtxRange){a->lo, a->lo + a->size, (uintptr_t)a->host - a->lo, true};
    return true;
}

static CUresult fault_error(PtxFault fault) {
    switch (fault) {
    case FAULT_none: return CUDA_SUCCESS;
    case FAULT_address: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FAULT_misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FAULT_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FAULT_assert: return CUDA_ERROR_ASSERT;
    case FAULT_timeout: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FAULT_stack: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case FAULT_memory: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* A kernel's fault is found while it runs: the launch itself succeeds (unless CUDA_LAUNCH_BLOCKING is
 * set), and from then on every call in the context answers with the error. */
static CUresult run(const Config *c, const FcObject *fn, const void *params) {
    FcDriver *d = fc_driver();
    FcObject *context = fc_current();
    PtxLaunch launch = {.module = fn->fn.module->mod.ptx,
                        .entry = fn->fn.entry,
                        .grid = {c->grid[0], c->grid[1], c->grid[2]},
                        .block = {c->block[0], c->block[1], c->block[2]},
                        .dynamic_shared = c->shared,
                        .params = params,
                        .cooperative = c->cooperative,
                        .reverse = d->config.reverse,
                        .slice = d->config.slice,
                        .seconds = d->config.seconds,
                        .find = find_memory,
                        .user = context};
    PtxFault fault = ptx_launch(&launch, d->fault, sizeof d->fault);
    if (fault == FAULT_memory) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!fault) return CUDA_SUCCESS;
    context->ctx.sticky = fault_error(fault);
    if (d->log) fprintf(d->log, "fault %d: %s\n", context->ctx.sticky, d->fault);
    return d->config.blocking ? context->ctx.sticky : CUDA_SUCCESS;
}

static CUresult launch(CUfunction handle, const Config *c) {
    const FcObject *fn = fc_object(handle, FK_function);
    if (!fn || fn->context != fc_current() || !fc_stream_ok(c->stream))
        return CUDA_ERROR_INVALID_HANDLE;
    const PtxFunc *entry = fn->fn.entry;
    CUresult result = check_shape(c, entry);
    if (!result) result = check_shared(c, fn);
    if (!result) result = check_cooperative(c, fn);
    if (result) return result;
    /* No allocation for the usual ones: launches are timed against this driver. */
    _Alignas(64) char small[1024];
    char *params = small;
    if (entry->param_size > sizeof small)
        params = aligned_alloc(64, (entry->param_size + 64) & ~(size_t)63);
    if (!params) return CUDA_ERROR_OUT_OF_MEMORY;
    result = gather_params(c, entry, params);
    if (!result && !fc_driver()->config.noexec) result = run(c, fn, params);
    if (params != small) free(params);
    return result;
}

CUresult fc_gather(CUfunction handle, void **params, void **extra, void **out, size_t *size) {
    const FcObject *fn = fc_object(handle, FK_function);
    if (!fn || fn->context != fc_current()) return CUDA_ERROR_INVALID_VALUE;
    const Config c = {.params = params, .extra = extra};
    *size = fn->fn.entry->param_size;
    *out = malloc(*size + 1);
    if (!*out) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = gather_params(&c, fn->fn.entry, *out);
    if (result) free(*out);
    return result;
}

CUresult fc_launch_node(const FcNode *node, CUstream stream) {
    size_t size = node->size;
    void *extra[] = {(void *)FC_LAUNCH_BUFFER, node->params, (void *)FC_LAUNCH_BUFFER_SIZE, &size,
                     (void *)FC_LAUNCH_END};
    Config c = {.shared = node->shared, .stream = stream, .extra = extra};
    memcpy(c.grid, node->grid, sizeof c.grid);
    memcpy(c.block, node->block, sizeof c.block);
    return launch(node->function, &c);
}

FC_API CUresult cuLaunchKernel(CUfunction fn, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream stream,
                               void **params, void **extra) {
    FC_ENTER(cuLaunchKernel, FC_CONTEXT, "%p, grid %u,%u,%u, block %u,%u,%u, shared %u, %p",
             (void *)fn, gx, gy, gz, bx, by, bz, shared, (void *)stream);
    Config c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, params, extra, false};
    return fc_leave(launch(fn, &c));
}

FC_API CUresult cuLaunchCooperativeKernel(CUfunction fn, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                          CUstream stream, void **params) {
    FC_ENTER(cuLaunchCooperativeKernel, FC_CONTEXT,
             "%p, grid %u,%u,%u, block %u,%u,%u, shared %u, %p", (void *)fn, gx, gy, gz, bx, by, bz,
             shared, (void *)stream);
    Config c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, params, NULL, true};
    return fc_leave(launch(fn, &c));
}

/* -- Occupancy -------------------------------------------------------------------------------- */

FC_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle,
                                                            int threads, size_t dynamic) {
    FC_ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor, FC_CONTEXT, "%p, %p, %d, %zu",
             (void *)blocks, (void *)handle, threads, dynamic);
    const FcObject *fn = fc_object(handle, FK_function);
    FC_REQUIRE(blocks && threads > 0, ERROR_INVALID_VALUE);
    FC_REQUIRE(fn, ERROR_INVALID_HANDLE);
    *blocks = threads > FC_THREADS_BLOCK ? 0 : blocks_per_sm(fn, threads, dynamic);
    return fc_leave(CUDA_SUCCESS);
}

/* The largest block among those that keep most threads busy. */
FC_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle,
                                                 CUoccupancyB2DSize sizes, size_t dynamic,
                                                 int limit) {
    FC_ENTER(cuOccupancyMaxPotentialBlockSize, FC_CONTEXT, "%p, %p, %p, %zu, %d", (void *)grid,
             (void *)block, (void *)handle, dynamic, limit);
    const FcObject *fn = fc_object(handle, FK_function);
    FC_REQUIRE(grid && block, ERROR_INVALID_VALUE);
    FC_REQUIRE(fn, ERROR_INVALID_HANDLE);
    int most = fn->fn.entry->max_threads ? (int)fn->fn.entry->max_threads : FC_THREADS_BLOCK;
    if (limit > 0 && limit < most) most = limit;
    int best = 0, best_active = 0;
    for (int threads = most; threads > 0; threads -= threads % 32 ? threads % 32 : 32) {
        int blocks = blocks_per_sm(fn, threads, sizes ? sizes(threads) : dynamic);
        if (blocks * threads > best_active) best = threads, best_active = blocks * threads;
    }
    FC_REQUIRE(best, ERROR_INVALID_VALUE);
    *block = best;
    *grid = best_active / best * FC_SMS;
    return fc_leave(CUDA_SUCCESS);
}
