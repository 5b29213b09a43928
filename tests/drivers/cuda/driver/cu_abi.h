/* The part of the driver's binary interface that the stand-in offers: our own declarations, so that no
 * toolkit is needed to build. The numbers are in cu_lists.h.
 */
#ifndef FAKECUDA_CU_ABI_H
#define FAKECUDA_CU_ABI_H

#include "cu_lists.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct FcHandle *CUcontext;
typedef struct FcHandle *CUmodule;
typedef struct FcHandle *CUfunction;
typedef struct FcHandle *CUstream;
typedef struct FcHandle *CUevent;
typedef struct FcHandle *CUgraph;
typedef struct FcHandle *CUgraphExec;
typedef struct FcHandle *CUgraphNode;
typedef struct CUkernelNode { /* CUDA_KERNEL_NODE_PARAMS_v1 */
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
} CUkernelNode;
typedef void (*CUhostFn)(void *data);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *data);
typedef size_t (*CUoccupancyB2DSize)(int block);
typedef struct CUuuid {
    char bytes[16];
} CUuuid;
typedef struct CUipcMemHandle {
    char reserved[64];
} CUipcMemHandle;

enum {
#define CU_ERROR_ENUM(name, code, text) CUDA_##name = code,
    CU_ERRORS(CU_ERROR_ENUM)
#undef CU_ERROR_ENUM
};

enum {
#define CU_ATTRIBUTE_ENUM(name, number, value) CU_DEVICE_ATTRIBUTE_##name = number,
    CU_ATTRIBUTES(CU_ATTRIBUTE_ENUM)
#undef CU_ATTRIBUTE_ENUM
};

enum {
#define CU_CONSTANT_ENUM(name, number) name = number,
    CU_CONSTANTS(CU_CONSTANT_ENUM)
#undef CU_CONSTANT_ENUM
};

#endif
