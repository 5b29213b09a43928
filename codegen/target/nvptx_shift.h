/* nvptx_shift.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_SHIFT_H
#define QUERN_NVPTX_SHIFT_H

#include "codegen/llvm/cg.h"

/* Shifts of ints below zero that LLVM 19 would select as of those above. Behind all passes. */
void nvptx_keep_signs(Cg *cg);

#endif
