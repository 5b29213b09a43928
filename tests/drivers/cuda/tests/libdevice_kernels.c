/* One kernel per row of libdevice.def and float type, for clang's NVPTX target; test_libdevice.sh links
 * it with libdevice. */
#define KERNEL __attribute__((nvptx_kernel))
static int index_x(void) {
    return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
           __nvvm_read_ptx_sreg_tid_x();
}
#define MAKE1(kernel, T, fn)                                                                       \
    T fn(T);                                                                                       \
    KERNEL void kernel(const T *x, const T *y, T *out, int n) {                                    \
        int i = index_x();                                                                         \
        if (i < n) out[i] = fn(x[i]);                                                              \
    }
#define MAKE2(kernel, T, fn)                                                                       \
    T fn(T, T);                                                                                    \
    KERNEL void kernel(const T *x, const T *y, T *out, int n) {                                    \
        int i = index_x();                                                                         \
        if (i < n) out[i] = fn(x[i], y[i]);                                                        \
    }
#define LD1(name, lo, hi, u32, u64)                                                                \
    MAKE1(k_f32_##name, float, __nv_##name##f) MAKE1(k_f64_##name, double, __nv_##name)
#define LD2(name, lo, hi, u32, u64)                                                                \
    MAKE2(k_f32_##name, float, __nv_##name##f) MAKE2(k_f64_##name, double, __nv_##name)
#include "libdevice.def"
