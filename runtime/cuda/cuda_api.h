/* cuda_api.h - our own declarations of the little of the CUDA driver API that is used: no toolkit needed.
 *
 * The driver's ABI is documented and stable: a symbol of a given version never changes. Handles are
 * pointers, device addresses 64-bit integers, devices and results ints. */
#ifndef QUERN_RUNTIME_CUDA_API_H
#define QUERN_RUNTIME_CUDA_API_H

#include "runtime/device.h"

#define CUDAAPI /* the C calling convention on every system we run on */

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

enum { /* CUresult: the ones that are treated specially */
       CUDA_SUCCESS = 0,
       CUDA_ERROR_OUT_OF_MEMORY = 2,
       CUDA_ERROR_NOT_INITIALIZED = 3,
       CUDA_ERROR_DEINITIALIZED = 4,
       CUDA_ERROR_NO_DEVICE = 100,
       CUDA_ERROR_NOT_FOUND = 500,
       CUDA_ERROR_NOT_READY = 600,
       CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704
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

enum { /* CUfunction_attribute */
       CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
       CU_FUNC_SHARED_SIZE_BYTES = 1,
       CU_FUNC_CONST_SIZE_BYTES = 2,
       CU_FUNC_LOCAL_SIZE_BYTES = 3,
       CU_FUNC_NUM_REGS = 4,
       CU_FUNC_PTX_VERSION = 5,
       CU_FUNC_BINARY_VERSION = 6,
       CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum { /* CUjit_option */
       CU_JIT_INFO_LOG_BUFFER = 3,
       CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
       CU_JIT_ERROR_LOG_BUFFER = 5,
       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

enum { CU_STREAM_DEFAULT = 0, CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEM_ATTACH_GLOBAL = 1 };

/* cuLaunchKernel's `extra` */
#define CU_LAUNCH_PARAM_END            ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)

/* -- the loaded driver (cuda_load.c) ----------------------------------------------------------- */

typedef struct CudaApi {
#define SYM(required, name, abi, suffix, args) CUresult(CUDAAPI *name) args;
#include "runtime/cuda/cuda_syms.def"
#undef SYM
} CudaApi;

/* Loads the driver and calls cuInit, once; NULL: `err` says what was looked for and what was answered, the
 * same each time. Called under the registry's lock. */
const CudaApi *cu_open(RtError *err);
/* The functions after a successful cu_open. */
const CudaApi *cu_api(void);
void cu_shutdown(void);
int32_t cu_version(void); /* 12040 */

#endif
