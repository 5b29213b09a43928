/* saturate.h - for the pass `narrow`: ints made of floats, as int32 where nobody sees the difference. */
#ifndef QUERN_SATURATE_H
#define QUERN_SATURATE_H

#include "codegen/opt/gpu_ints.h"

/* false: nothing has changed. Otherwise `ints` knows the function no more; adds to *params what the proofs ask the launch for.
 * Only where accesses out of bounds are undefined: no check_index is in the function. */
bool opt_saturate(PassContext *ctx, Func *func, GpuInts *ints, uint64_t *params);

#endif
