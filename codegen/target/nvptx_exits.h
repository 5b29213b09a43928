/* nvptx_exits.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_EXITS_H
#define QUERN_NVPTX_EXITS_H

#include "codegen/llvm/cg.h"

/* Counters leave their loops as what they are, not as the limit that they have reached. */
void nvptx_keep_counters(Cg *cg);

#endif
