/* nvptx_wide.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_WIDE_H
#define QUERN_NVPTX_WIDE_H

#include "codegen/llvm/cg.h"

/* Addresses of elements at an index of 32 bits that was extended in another block: one instruction each. */
void nvptx_widen_products(Cg *cg);

#endif
