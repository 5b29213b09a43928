/* cuda_api.h - our own declarations of the little of the CUDA driver API that is used: no toolkit needed.
 *
 * The driver's ABI is documented and stable: a symbol of a given version never changes. Handles are
 * pointers, device addresses 64-bit integers, devices and results ints. */
#ifndef QUERN_RUNTIME_CUDA_API_H
#define QUERN_RUNTIME_CUDA_API_H

#include "runtime/driver/driver.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle;

typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUkernelNode { /* CUDA_KERNEL_NODE_PARAMS, as before CUDA 12 */
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
} CUkernelNode;

enum { /* CUresult: the ones that are treated specially */
       CUDA_SUCCESS = 0,
       CUDA_ERROR_NO_DEVICE = 100
};

enum { /* CUdevice_attribute */
       CU_ATTR_MAX_THREADS_PER_BLOCK = 1,
       CU_ATTR_MAX_BLOCK_DIM_X = 2,
       CU_ATTR_MAX_GRID_DIM_X = 5,
       CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK = 8,
       CU_ATTR_WARP_SIZE = 10,
       CU_ATTR_MAX_REGISTERS_PER_BLOCK = 12,
       CU_ATTR_CLOCK_RATE = 13,
       CU_ATTR_MULTIPROCESSOR_COUNT = 16,
       CU_ATTR_INTEGRATED = 18,
       CU_ATTR_CAN_MAP_HOST_MEMORY = 19,
       CU_ATTR_PCI_BUS_ID = 33,
       CU_ATTR_PCI_DEVICE_ID = 34,
       CU_ATTR_ASYNC_ENGINE_COUNT = 40,
       CU_ATTR_UNIFIED_ADDRESSING = 41,
       CU_ATTR_PCI_DOMAIN_ID = 50,
       CU_ATTR_COMPUTE_CAPABILITY_MAJOR = 75,
       CU_ATTR_COMPUTE_CAPABILITY_MINOR = 76,
       CU_ATTR_MANAGED_MEMORY = 83,
       CU_ATTR_COOPERATIVE_LAUNCH = 95,
       CU_ATTR_MAX_SHARED_MEMORY_OPTIN = 97
};

enum { CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 }; /* CUfunction_attribute */

enum { /* CUjit_option */
       CU_JIT_INFO_LOG_BUFFER = 3,
       CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
       CU_JIT_ERROR_LOG_BUFFER = 5,
       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

/* -- the loaded driver (cuda_load.c) ----------------------------------------------------------- */

typedef struct CudaApi {
    DrvApi shared;
#define SHARED(required, call, name, version, suffix)
#define SYM(required, name, version, suffix, args) CUresult(*name) args;
#include "runtime/cuda/cuda_syms.def"
#undef SHARED
#undef SYM
} CudaApi;

/* The library's names of the shared functions. */
extern const char *const cu_names[DRV_CALLS];
/* Loads the driver and calls cuInit, once; NULL: `err` says what was looked for and what was answered, the
 * same each time. Called under the registry's lock. */
const DrvApi *cu_open(RtError *err);
/* The functions after a successful cu_open. */
extern CudaApi cu_functions;
static inline const CudaApi *cu_api(void) {
    return &cu_functions;
}
void cu_shutdown(void);
int32_t cu_version(void); /* 12040 */

/* -- graphs (cuda_graph.c) ----------------------------------------------------------------------- */

static inline bool cu_has_graphs(void) { /* all of them came before the last */
    return cu_functions.cuGraphInstantiateWithFlags && cu_functions.cuGraphExecKernelNodeSetParams;
}
bool cu_graph_make(RtGraph *graph, RtError *err);
bool cu_graph_update(RtGraph *graph, RtError *err);
bool cu_graph_launch(RtGraph *graph, RtStream *stream, RtError *err);
void cu_graph_free(RtGraph *graph);

#endif
