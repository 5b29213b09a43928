/* gpu_kernel.h - private to target/: what kernels of all GPUs have in common. */
#ifndef QUERN_GPU_KERNEL_H
#define QUERN_GPU_KERNEL_H

#include "codegen/llvm/cg.h"

/* Hooks of struct Target that are the same everywhere. */
bool gpu_raises(const CompileOptions *options);
void gpu_record(Cg *cg, int32_t exception, int32_t site, const TgValue *args, int nargs);
TgValue gpu_shared_static(Cg *cg, int64_t bytes, int64_t align);
TgValue gpu_shared_dynamic(Cg *cg);

/* A global of the module that begins as zero and that the runtime finds by its name; made once. */
Value gpu_zeroed_global(Cg *cg, const char *name, LType type, unsigned align);

/* The attribute of a parameter: the first element of an array whose elements stand in order behind it. */
#define GPU_IN_ORDER "quern-in-order"

/* GEN_grid_barrier, of GEN_barrier and GEN_fence_device of the target. */
bool gpu_grid_barrier(Cg *cg, struct LibCall *call);

/* The kernel round the lowered funcs[0], with this calling convention; NULL after a diagnostic. */
Value gpu_kernel(Cg *cg, unsigned convention);
/* ENTRY_DEVICE: the function round the lowered funcs[0]. Parameters are those of a kernel, results of several parts a struct;
 * NULL after a diagnostic. */
Value gpu_device_function(Cg *cg);
/* After optimisation: shapes and strides that nobody looks at are not passed. Fails where the rest is too much. */
void gpu_drop_unused_params(Cg *cg);
/* After optimisation: choices between a value and zero keep the sign of zero that the program says. */
void gpu_keep_zeros(Cg *cg);

/* Refuses kernels whose static shared arrays are larger together. */
bool gpu_shared_fits(Cg *cg, int32_t most, const char *remedy);

#endif
