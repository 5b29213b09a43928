/* nvptx_extremes.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_EXTREMES_H
#define QUERN_NVPTX_EXTREMES_H

#include "codegen/llvm/cg.h"

/* One instruction for each minimum and maximum of float32 numbers that a comparison and a choice make; `nans`: the chip has those that
 * give NaN where either operand is one. */
void nvptx_extremes(Cg *cg, bool nans);

#endif
