/* The state of a launch: what ptx_exec.c, ptx_mem.c and ptx_warp.c share. */
#ifndef FAKECUDA_PTX_RUN_H
#define FAKECUDA_PTX_RUN_H

#include "ptx_interp.h"

#include <time.h>

typedef enum ThreadStatus {
    TS_ready,
    TS_barrier, /* at a barrier of the block */
    TS_warp,    /* at an operation of the warp */
    TS_exited,
    TS_fault
} ThreadStatus;

typedef struct Frame {
    const PtxFunc *fn;
    const PtxIns *resume; /* the call */
    uint64_t *R;
} Frame;

typedef struct Thread {
    const PtxIns *pc;
    uint64_t *R; /* the slots of the running function */
    const PtxFunc *fn;
    Frame *frames; /* of the callers */
    uint32_t depth;
    uint32_t local_top; /* first free byte of local */
    uint64_t *slots;
    uint8_t *local;
    ThreadStatus status;
    uint32_t tid[3];
    uint32_t lane, warp;
    uint32_t barrier, expected; /* while TS_barrier */
} Thread;

/* Threads that arrived without waiting, per barrier. */
typedef struct Arrivals {
    uint32_t count;
    uint32_t expected;
} Arrivals;

enum { WARP = 32, BARRIERS = 16, CACHE = 64 };

typedef struct Run Run;

typedef struct Block {
    Run *run;
    uint32_t ctaid[3];
    Thread *threads;
    uint32_t nthreads;
    uint8_t *shared;
    Arrivals arrivals[BARRIERS];
    bool busy;
    void *memory; /* everything above */
} Block;

struct Run {
    const PtxLaunch *launch;
    uint32_t nthreads;     /* of a block */
    uint32_t shared_size;  /* of the window, from PTX_SHARED_BASE */
    uint32_t dynamic_base; /* shared address */
    uint32_t max_depth;
    uint32_t max_slots;
    uint32_t local_size;
    PtxRange cache[CACHE]; /* the range that an instruction hit last */
    struct timespec deadline;
    PtxFault fault;
    char *message;
    size_t message_size;
};

/* ptx_exec.c: runs a thread until it blocks, ends, faults or has used its slice. */
ThreadStatus ptx_exec(Block *b, Thread *t);

/* ptx_frame.c */
uint32_t ptx_frame_bytes(const PtxFunc *fn);
bool ptx_enter(Block *b, Thread *t, const PtxFunc *fn);
bool ptx_call(Block *b, Thread *t, const PtxIns *in);
void ptx_return(Thread *t);
uint64_t ptx_clock(void);
/* The first fault of a launch is the one that is told. Always false. */
bool ptx_fault(Block *b, Thread *t, PtxFault fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ptx_mem.c: host address of device bytes, or NULL after a fault. */
void *ptx_mem_slow(Block *b, Thread *t, PtxSpace space, uint64_t address, unsigned size,
                   bool write);
uint64_t ptx_atom(Block *b, Thread *t, const PtxIns *in);
bool ptx_copy_async(Block *b, Thread *t, const PtxIns *in);
bool ptx_isspacep(const Block *b, const Thread *t, PtxSpace space, uint64_t address);

/* ptx_warp.c: lets waiting threads of a warp, of a block, go on. True where one did. */
bool ptx_warp_step(Block *b, uint32_t warp);
bool ptx_block_step(Block *b);

/* -- Fast paths of memory --------------------------------------------------------------------- */

static inline bool mem_in(uint64_t address, uint64_t lo, uint64_t length, unsigned size) {
    return address - lo < length && length - (address - lo) >= size;
}

static inline void *mem_global(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    const PtxRange *c = &b->run->cache[(uintptr_t)t->pc / sizeof(PtxIns) % CACHE];
    if (mem_in(address, c->lo, c->hi - c->lo, size) && !(address & (size - 1)) &&
        (c->writable || !write))
        return (void *)(uintptr_t)(address + c->delta);
    return ptx_mem_slow(b, t, PS_global, address, size, write);
}

static inline void *mem_shared(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    if (mem_in(address, PTX_SHARED_BASE, b->run->shared_size, size) && !(address & (size - 1)))
        return b->shared + (address - PTX_SHARED_BASE);
    return ptx_mem_slow(b, t, PS_shared, address, size, write);
}

static inline void *mem_local(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    if (mem_in(address, PTX_LOCAL_BASE, b->run->local_size, size) && !(address & (size - 1)))
        return t->local + (address - PTX_LOCAL_BASE);
    return ptx_mem_slow(b, t, PS_local, address, size, write);
}

static inline void *mem_generic(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    if (!(address & (size - 1))) {
        if (mem_in(address, (uintptr_t)t->local, b->run->local_size, size) ||
            mem_in(address, (uintptr_t)b->shared, b->run->shared_size, size))
            return (void *)(uintptr_t)address;
    }
    const PtxRange *c = &b->run->cache[(uintptr_t)t->pc / sizeof(PtxIns) % CACHE];
    if (mem_in(address, c->lo, c->hi - c->lo, size) && !(address & (size - 1)) &&
        (c->writable || !write))
        return (void *)(uintptr_t)(address + c->delta);
    return ptx_mem_slow(b, t, PS_generic, address, size, write);
}

static inline void *mem_param(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    return ptx_mem_slow(b, t, PS_param, address, size, write);
}

static inline void *mem_pslot(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    (void)b, (void)t, (void)size, (void)write;
    return (void *)(uintptr_t)address;
}

#endif
