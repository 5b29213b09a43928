/* gpu_walk.h - private to target/: addresses that loops walk along. */
#ifndef QUERN_GPU_WALK_H
#define QUERN_GPU_WALK_H

#include "codegen/llvm/cg.h"

/* most: instructions of a loop, which also has to count by a number, and its addresses share no offset; 0: all loops. */
void gpu_walk_addresses(Cg *cg, int32_t most);

#endif
