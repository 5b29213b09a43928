/* nvptx_short.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_SHORT_H
#define QUERN_NVPTX_SHORT_H

#include "codegen/llvm/cg.h"

/* Arithmetic of 8 and 16 bits on parts of larger ints is done in 32. */
void nvptx_widen_short_ints(Cg *cg);

#endif
