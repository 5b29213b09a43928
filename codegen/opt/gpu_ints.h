/* gpu_ints.h - intervals of the ints of a GPU kernel, for the passes `exact` and `narrow`. */
#ifndef QUERN_GPU_INTS_H
#define QUERN_GPU_INTS_H

#include "codegen/opt/pass.h"

typedef struct IntRange {
    bool known;
    int64_t lo, hi;
    uint64_t params; /* it was computed from the promised limits of these parameters */
} IntRange;

/* Int parameters whose sign the launch is asked for, too: above zero where something is divided by them, not below it where they are indices. */
typedef struct ParamSigns {
    uint64_t positive, natural;
} ParamSigns;

typedef struct GpuInts GpuInts;

/* NULL: the function is not of a kernel's fast variant for a GPU. */
GpuInts *gpu_ints(PassContext *ctx, Func *func);
IntRange gpu_int_range(GpuInts *s, Ref ref);
/* At the start of the block, or (`to` is one) on the edge block -> to: the tests that lead there count. */
IntRange gpu_int_range_at(GpuInts *s, Ref ref, int32_t block, int32_t to);
ParamSigns gpu_int_signs(const GpuInts *s);
bool gpu_int_fits(IntRange range); /* into an int32 */

#endif
