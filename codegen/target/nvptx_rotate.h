/* nvptx_rotate.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_ROTATE_H
#define QUERN_NVPTX_ROTATE_H

#include "codegen/llvm/cg.h"

/* Loops that are left at their start and at their end have their tests at the end. */
void nvptx_rotate(Cg *cg);

#endif
