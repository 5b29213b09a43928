/* Numbers and layouts of the driver's binary interface, as lists: cu_abi.h makes enumerations of them,
 * test_abi.c compares them with cuda.h where that is installed. Nothing here bears one of cuda.h's names.
 */
#ifndef FAKECUDA_CU_LISTS_H
#define FAKECUDA_CU_LISTS_H

#include <stddef.h>
#include <stdint.h>

/* Errors: number and name, and what cuGetErrorString says. */
#define CU_ERRORS(ROW)                                                                             \
    ROW(SUCCESS, 0, "no error")                                                                    \
    ROW(ERROR_INVALID_VALUE, 1, "invalid argument")                                                \
    ROW(ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                   \
    ROW(ERROR_NOT_INITIALIZED, 3, "initialization error")                                          \
    ROW(ERROR_DEINITIALIZED, 4, "driver shutting down")                                            \
    ROW(ERROR_STUB_LIBRARY, 34, "CUDA driver is a stub library")                                   \
    ROW(ERROR_DEVICE_UNAVAILABLE, 46, "CUDA-capable device(s) is/are busy or unavailable")         \
    ROW(ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                                \
    ROW(ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                       \
    ROW(ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                                \
    ROW(ERROR_INVALID_CONTEXT, 201, "invalid device context")                                      \
    ROW(ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")  \
    ROW(ERROR_UNSUPPORTED_LIMIT, 215, "limit is not supported on this architecture")               \
    ROW(ERROR_PEER_ACCESS_UNSUPPORTED, 217,                                                        \
        "peer access is not supported between these two devices")                                  \
    ROW(ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed")                                    \
    ROW(ERROR_JIT_COMPILER_NOT_FOUND, 221, "PTX JIT compiler library not found")                   \
    ROW(ERROR_UNSUPPORTED_PTX_VERSION, 222,                                                        \
        "the provided PTX was compiled with an unsupported toolchain.")                            \
    ROW(ERROR_INVALID_SOURCE, 300, "device kernel image is invalid")                               \
    ROW(ERROR_FILE_NOT_FOUND, 301, "file not found")                                               \
    ROW(ERROR_OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS")       \
    ROW(ERROR_INVALID_HANDLE, 400, "invalid resource handle")                                      \
    ROW(ERROR_NOT_FOUND, 500, "named symbol not found")                                            \
    ROW(ERROR_NOT_READY, 600, "device not ready")                                                  \
    ROW(ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                    \
    ROW(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")             \
    ROW(ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                      \
    ROW(ERROR_PRIMARY_CONTEXT_ACTIVE, 708, "cannot set while device is active in this process")    \
    ROW(ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed")                                   \
    ROW(ERROR_ASSERT, 710, "device-side assert triggered")                                         \
    ROW(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712,                                                 \
        "part or all of the requested memory range is already mapped")                             \
    ROW(ERROR_HOST_MEMORY_NOT_REGISTERED, 713,                                                     \
        "pointer does not correspond to a registered memory region")                               \
    ROW(ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error")                                   \
    ROW(ERROR_ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")                  \
    ROW(ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                       \
    ROW(ERROR_INVALID_ADDRESS_SPACE, 717,                                                          \
        "operation not supported on global/shared address space")                                  \
    ROW(ERROR_INVALID_PC, 718, "invalid program counter")                                          \
    ROW(ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                                    \
    ROW(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch")          \
    ROW(ERROR_NOT_PERMITTED, 800, "operation not permitted")                                       \
    ROW(ERROR_NOT_SUPPORTED, 801, "operation not supported")                                       \
    ROW(ERROR_SYSTEM_DRIVER_MISMATCH, 803,                                                         \
        "system has unsupported display driver / cuda driver combination")                         \
    ROW(ERROR_UNKNOWN, 999, "unknown error")

/* Device attributes: name, number, and this device's answer. SHARED_* are also the launch limits. */
enum {
    FC_SHARED_DEFAULT = 49152,
    FC_SHARED_OPTIN = 232448,
    FC_SHARED_SM = 233472,
    FC_SHARED_RESERVED = 1024,
    FC_SMS = 8,
    FC_THREADS_SM = 2048,
    FC_BLOCKS_SM = 32,
    FC_THREADS_BLOCK = 1024
};

#define CU_ATTRIBUTES(ROW)                                                                         \
    ROW(MAX_THREADS_PER_BLOCK, 1, FC_THREADS_BLOCK)                                                \
    ROW(MAX_BLOCK_DIM_X, 2, 1024)                                                                  \
    ROW(MAX_BLOCK_DIM_Y, 3, 1024)                                                                  \
    ROW(MAX_BLOCK_DIM_Z, 4, 64)                                                                    \
    ROW(MAX_GRID_DIM_X, 5, 2147483647)                                                             \
    ROW(MAX_GRID_DIM_Y, 6, 65535)                                                                  \
    ROW(MAX_GRID_DIM_Z, 7, 65535)                                                                  \
    ROW(MAX_SHARED_MEMORY_PER_BLOCK, 8, FC_SHARED_DEFAULT)                                         \
    ROW(TOTAL_CONSTANT_MEMORY, 9, 65536)                                                           \
    ROW(WARP_SIZE, 10, 32)                                                                         \
    ROW(MAX_PITCH, 11, 2147483647)                                                                 \
    ROW(MAX_REGISTERS_PER_BLOCK, 12, 65536)                                                        \
    ROW(CLOCK_RATE, 13, 1000000)                                                                   \
    ROW(TEXTURE_ALIGNMENT, 14, 512)                                                                \
    ROW(GPU_OVERLAP, 15, 1)                                                                        \
    ROW(MULTIPROCESSOR_COUNT, 16, FC_SMS)                                                          \
    ROW(KERNEL_EXEC_TIMEOUT, 17, 0)                                                                \
    ROW(INTEGRATED, 18, 0)                                                                         \
    ROW(CAN_MAP_HOST_MEMORY, 19, 1)                                                                \
    ROW(COMPUTE_MODE, 20, 0)                                                                       \
    ROW(CONCURRENT_KERNELS, 31, 1)                                                                 \
    ROW(ECC_ENABLED, 32, 0)                                                                        \
    ROW(PCI_BUS_ID, 33, 0)                                                                         \
    ROW(PCI_DEVICE_ID, 34, 0)                                                                      \
    ROW(TCC_DRIVER, 35, 0)                                                                         \
    ROW(MEMORY_CLOCK_RATE, 36, 1000000)                                                            \
    ROW(GLOBAL_MEMORY_BUS_WIDTH, 37, 512)                                                          \
    ROW(L2_CACHE_SIZE, 38, 52428800)                                                               \
    ROW(MAX_THREADS_PER_MULTIPROCESSOR, 39, FC_THREADS_SM)                                         \
    ROW(ASYNC_ENGINE_COUNT, 40, 3)                                                                 \
    ROW(UNIFIED_ADDRESSING, 41, 1)                                                                 \
    ROW(PCI_DOMAIN_ID, 50, 0)                                                                      \
    ROW(COMPUTE_CAPABILITY_MAJOR, 75, -1)                                                          \
    ROW(COMPUTE_CAPABILITY_MINOR, 76, -1)                                                          \
    ROW(STREAM_PRIORITIES_SUPPORTED, 78, 1)                                                        \
    ROW(GLOBAL_L1_CACHE_SUPPORTED, 79, 1)                                                          \
    ROW(LOCAL_L1_CACHE_SUPPORTED, 80, 1)                                                           \
    ROW(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81, FC_SHARED_SM)                                    \
    ROW(MAX_REGISTERS_PER_MULTIPROCESSOR, 82, 65536)                                               \
    ROW(MANAGED_MEMORY, 83, 1)                                                                     \
    ROW(MULTI_GPU_BOARD, 84, 0)                                                                    \
    ROW(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87, 2)                                              \
    ROW(PAGEABLE_MEMORY_ACCESS, 88, 0)                                                             \
    ROW(CONCURRENT_MANAGED_ACCESS, 89, 1)                                                          \
    ROW(COMPUTE_PREEMPTION_SUPPORTED, 90, 1)                                                       \
    ROW(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91, 1)                                            \
    ROW(COOPERATIVE_LAUNCH, 95, 1)                                                                 \
    ROW(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97, FC_SHARED_OPTIN)                                    \
    ROW(HOST_REGISTER_SUPPORTED, 99, 1)                                                            \
    ROW(MAX_BLOCKS_PER_MULTIPROCESSOR, 106, FC_BLOCKS_SM)                                          \
    ROW(RESERVED_SHARED_MEMORY_PER_BLOCK, 111, FC_SHARED_RESERVED)                                 \
    ROW(MEMORY_POOLS_SUPPORTED, 115, 1)                                                            \
    ROW(CLUSTER_LAUNCH, 120, 0)

/* Everything else that has a number. One list, so that the test can compare all of it. */
#define CU_CONSTANTS(ROW)                                                                          \
    ROW(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                \
    ROW(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                    \
    ROW(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2)                                                     \
    ROW(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                     \
    ROW(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                             \
    ROW(CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)                                                          \
    ROW(CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6)                                                       \
    ROW(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, 7)                                                        \
    ROW(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                        \
    ROW(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)                                     \
    ROW(CU_JIT_INFO_LOG_BUFFER, 3)                                                                 \
    ROW(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                                      \
    ROW(CU_JIT_ERROR_LOG_BUFFER, 5)                                                                \
    ROW(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                     \
    ROW(CU_JIT_NUM_OPTIONS, 35)                                                                    \
    ROW(CU_POINTER_ATTRIBUTE_CONTEXT, 1)                                                           \
    ROW(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                                       \
    ROW(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 3)                                                    \
    ROW(CU_POINTER_ATTRIBUTE_HOST_POINTER, 4)                                                      \
    ROW(CU_POINTER_ATTRIBUTE_BUFFER_ID, 7)                                                         \
    ROW(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)                                                        \
    ROW(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                                    \
    ROW(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                                                 \
    ROW(CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                                       \
    ROW(CU_POINTER_ATTRIBUTE_MAPPED, 13)                                                           \
    ROW(CU_MEMORYTYPE_HOST, 1)                                                                     \
    ROW(CU_MEMORYTYPE_DEVICE, 2)                                                                   \
    ROW(CU_MEMORYTYPE_ARRAY, 3)                                                                    \
    ROW(CU_MEMORYTYPE_UNIFIED, 4)                                                                  \
    ROW(CU_STREAM_NON_BLOCKING, 1)                                                                 \
    ROW(CU_EVENT_BLOCKING_SYNC, 1)                                                                 \
    ROW(CU_EVENT_DISABLE_TIMING, 2)                                                                \
    ROW(CU_EVENT_INTERPROCESS, 4)                                                                  \
    ROW(CU_CTX_MAP_HOST, 8)                                                                        \
    ROW(CU_MEMHOSTALLOC_DEVICEMAP, 2)                                                              \
    ROW(CU_GET_PROC_ADDRESS_SUCCESS, 0)                                                            \
    ROW(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1)                                                   \
    ROW(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)                                             \
    ROW(CU_LIMIT_STACK_SIZE, 0)                                                                    \
    ROW(CU_LIMIT_PRINTF_FIFO_SIZE, 1)                                                              \
    ROW(CU_LIMIT_MALLOC_HEAP_SIZE, 2)

enum { FC_LAUNCH_END = 0, FC_LAUNCH_BUFFER = 1, FC_LAUNCH_BUFFER_SIZE = 2 };

/* The parameter block of cuMemcpy2D. */
typedef struct CuMemcpy2D {
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    uint64_t src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    uint64_t dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
} CuMemcpy2D;

#endif
