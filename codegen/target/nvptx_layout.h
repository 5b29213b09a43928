/* nvptx_layout.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_LAYOUT_H
#define QUERN_NVPTX_LAYOUT_H

#include "codegen/llvm/cg.h"

/* Puts the blocks of each function in order. */
void nvptx_lay_out(Cg *cg);

#endif
