/* gpu_loops.h - private to target/: the loops of a function of LLVM's. */
#ifndef QUERN_GPU_LOOPS_H
#define QUERN_GPU_LOOPS_H

#include "codegen/llvm/cg.h"
#include "frontend/base/bits.h"
#include "frontend/base/map.h"

typedef struct CodeLoop {
    int32_t header, latch, outside; /* blocks; outside: where the only way in comes from */
    int32_t size;
    Bits body;
    bool plain;
} CodeLoop;

typedef struct CodeLoops {
    Arena *arena;
    BB *blocks;
    int32_t nblocks;
    Map numbers;
    Vec(CodeLoop) found; /* innermost first */
} CodeLoops;

void loops_find(CodeLoops *loops, Arena *arena, Value fn);
bool loops_has(const CodeLoops *loops, const CodeLoop *loop, Value value);
bool loops_is_always_run(const CodeLoops *loops, const CodeLoop *loop, int32_t block);
/* Erases a computation of ints or addresses that nobody looks at, and what it alone looked at. */
void loops_drop_unused(Value value);

#endif
