/* What kernels.cu needs of HIP's headers, so that clang -x hip compiles it without a toolkit. */
#define __global__    __attribute__((global))
#define __device__    __attribute__((device))
#define __shared__    __attribute__((shared))
#define __constant_as __attribute__((address_space(4)))

/* threadIdx.x and the like: each member converts to its value. */
#define AXIS(name, axis, value)                                                                    \
    struct name##_##axis {                                                                         \
        __device__ operator int() const { return (int)(value); }                                   \
    };
#define COORDINATE(name, vx, vy, vz)                                                               \
    AXIS(name, x, vx) AXIS(name, y, vy) AXIS(name, z, vz) struct name##_all {                      \
        name##_x x;                                                                                \
        name##_y y;                                                                                \
        name##_z z;                                                                                \
    };                                                                                             \
    extern const __device__ name##_all name;

COORDINATE(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
           __builtin_amdgcn_workitem_id_z())
COORDINATE(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
           __builtin_amdgcn_workgroup_id_z())
COORDINATE(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
           __builtin_amdgcn_workgroup_size_z())
COORDINATE(gridDim, ((const unsigned __constant_as *)__builtin_amdgcn_implicitarg_ptr())[0],
           ((const unsigned __constant_as *)__builtin_amdgcn_implicitarg_ptr())[1],
           ((const unsigned __constant_as *)__builtin_amdgcn_implicitarg_ptr())[2])

__device__ inline void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline int atomicAdd(int *p, int v) {
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline float atomicAdd(float *p, float v) {
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline float sqrtf(float x) {
    return __builtin_sqrtf(x);
}
__device__ inline float floorf(float x) {
    return __builtin_floorf(x);
}
__device__ inline float fmaxf(float a, float b) {
    return __builtin_fmaxf(a, b);
}
__device__ inline int min(int a, int b) {
    return a < b ? a : b;
}
__device__ inline int max(int a, int b) {
    return a > b ? a : b;
}
