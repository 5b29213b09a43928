/* pool.h - the thread pool, for the other files of runtime/cpu. */
#ifndef QUERN_RUNTIME_CPU_POOL_H
#define QUERN_RUNTIME_CPU_POOL_H

#include "runtime/device.h"

/* rt_parallel_for with the exception kept apart from the caller's context (NULL: no poll). [pool.c] */
int cpu_parallel(CallContext *client, CallContext *raised, int64_t n, int64_t chunk, RtRange fn,
                 void *user);

/* -- memory that one thread needs while it runs blocks (scratch.c) ----------------------------- */

typedef struct Scratch Scratch;

/* This thread's; made on first need, kept for the next launch. A launch inside a launch (a poll callback may
 * run anything) gets another one. NULL: memory is out. */
Scratch *cpu_scratch_take(size_t shared_bytes);
/* Also drops frames that the kernel left behind when it ended with an exception. */
void cpu_scratch_give(Scratch *scratch);
char *cpu_scratch_shared(Scratch *scratch); /* 128-byte aligned */
/* KernelGrid's: 64-byte aligned; NULL when memory is out. grid->user is the Scratch. */
void *cpu_frame_alloc(KernelGrid *grid, int64_t size);
void cpu_frame_free(KernelGrid *grid, void *frame);
/* Frees what idle threads of this process keep; the calling thread's at least. */
void cpu_scratch_drop(void);

#endif
