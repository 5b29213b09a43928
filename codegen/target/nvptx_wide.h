/* nvptx_wide.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_WIDE_H
#define QUERN_NVPTX_WIDE_H

#include "codegen/llvm/cg.h"

/* Offsets of elements are one multiplication wherever they are used, and numbers stand outside of it. */
void nvptx_simplify_addresses(Cg *cg);

#endif
