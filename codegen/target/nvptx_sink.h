/* nvptx_sink.h - for target_nvptx.c. */
#ifndef QUERN_NVPTX_SINK_H
#define QUERN_NVPTX_SINK_H

#include "codegen/llvm/cg.h"

/* Arithmetic that only one side of a branch needs is moved there. */
void nvptx_sink(Cg *cg);

#endif
