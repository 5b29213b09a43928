/* gpu_ints.h - intervals of the ints of a GPU kernel, for the passes `exact` and `narrow`. */
#ifndef QUERN_GPU_INTS_H
#define QUERN_GPU_INTS_H

#include "codegen/opt/pass.h"

typedef struct IntRange {
    bool known;
    int64_t lo, hi;
    uint64_t params; /* it was computed from the promised limits of these parameters */
} IntRange;

typedef struct GpuInts GpuInts;

/* NULL: the function is not of a kernel's fast variant for a GPU. */
GpuInts *gpu_ints(PassContext *ctx, Func *func);
IntRange gpu_int_range(GpuInts *s, Ref ref);
/* Parameters that something is divided by: they are asked for to be above zero, too. */
uint64_t gpu_int_divisors(const GpuInts *s);
bool gpu_int_fits(IntRange range); /* into an int32 */

#endif
