/* nvptx_convert.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_CONVERT_H
#define QUERN_NVPTX_CONVERT_H

#include "codegen/llvm/cg.h"

/* One instruction for each conversion of a float32 or float64 to an int of 32 or 64 bits. */
void nvptx_convert(Cg *cg);
/* For LLVM, which gets the signed conversion of one bit wrong. */
void nvptx_convert_bits(Cg *cg);

#endif
