/* Our declarations against the vendor's header: only built where cuda.h is installed. */
#include <cuda.h>

#include <stddef.h>

#if __has_include(<cudaProfiler.h>)
#include <cudaProfiler.h>
#else
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
#endif

#define CU_ERROR_ENUM(name, code, text) _Static_assert((int)CUDA_##name == (code), "CUDA_" #name);
#define CU_ATTRIBUTE_ENUM(name, number, value)                                                     \
    _Static_assert((int)CU_DEVICE_ATTRIBUTE_##name == (number), "CU_DEVICE_ATTRIBUTE_" #name);
#define CU_CONSTANT_ENUM(name, number) _Static_assert((int)name == (number), #name);

#include "../driver/cu_lists.h"

CU_ERRORS(CU_ERROR_ENUM)
CU_ATTRIBUTES(CU_ATTRIBUTE_ENUM)
CU_CONSTANTS(CU_CONSTANT_ENUM)

_Static_assert(CU_LAUNCH_PARAM_END_AS_INT == FC_LAUNCH_END, "CU_LAUNCH_PARAM_END");
_Static_assert(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT == FC_LAUNCH_BUFFER,
               "CU_LAUNCH_PARAM_BUFFER_POINTER");
_Static_assert(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT == FC_LAUNCH_BUFFER_SIZE,
               "CU_LAUNCH_PARAM_BUFFER_SIZE");

#define SAME(ours, theirs)                                                                         \
    _Static_assert(offsetof(CuMemcpy2D, ours) == offsetof(CUDA_MEMCPY2D, theirs), #theirs);
SAME(src_x, srcXInBytes)
SAME(src_y, srcY)
SAME(src_type, srcMemoryType)
SAME(src_host, srcHost)
SAME(src_device, srcDevice)
SAME(src_array, srcArray)
SAME(src_pitch, srcPitch)
SAME(dst_x, dstXInBytes)
SAME(dst_y, dstY)
SAME(dst_type, dstMemoryType)
SAME(dst_host, dstHost)
SAME(dst_device, dstDevice)
SAME(dst_array, dstArray)
SAME(dst_pitch, dstPitch)
SAME(width, WidthInBytes)
SAME(height, Height)
_Static_assert(sizeof(CuMemcpy2D) == sizeof(CUDA_MEMCPY2D), "CUDA_MEMCPY2D");
_Static_assert(sizeof(CUdeviceptr) == 8 && sizeof(CUresult) == 4 && sizeof(CUdevice) == 4, "sizes");
_Static_assert(sizeof(CUuuid) == 16 && sizeof(CUjit_option) == 4 && sizeof(CUfunction) == 8,
               "sizes");

/* Every exported function exists in the vendor's header, if it is as new as the newest of them. Nothing
 * is linked: the header's newest names may be beyond us. */
#if CUDA_VERSION >= 12080
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define SYM(name, base, version) _Static_assert(sizeof(&base) == sizeof(void *), #base);
#include "../driver/syms.def"
#undef SYM
#endif

int main(void) {
    return 0;
}
