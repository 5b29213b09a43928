/* Runs a kernel of a PtxModule on host memory. */
#ifndef FAKECUDA_PTX_INTERP_H
#define FAKECUDA_PTX_INTERP_H

#include "ptx.h"

/* Device addresses lo up to hi, and what to add to one to get the host's. */
typedef struct PtxRange {
    uint64_t lo, hi;
    uint64_t delta;
    bool writable;
} PtxRange;

typedef enum PtxFault {
    FAULT_none,
    FAULT_address, /* outside every allocation, or a store where none is allowed */
    FAULT_misaligned,
    FAULT_instruction, /* a thread outside its own mask, a bad barrier or function pointer */
    FAULT_trap,
    FAULT_assert,
    FAULT_deadlock, /* threads wait and nobody is left to come */
    FAULT_timeout,
    FAULT_stack,
    FAULT_memory /* the host's memory is at its end */
} PtxFault;

typedef struct PtxLaunch {
    const PtxModule *module;
    const PtxFunc *entry;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const void *params; /* entry->param_size bytes, laid out by entry->params */
    bool cooperative;   /* all blocks are resident at once */
    bool reverse;       /* run the threads of a warp, and the warps, from the last to the first */
    uint32_t slice;     /* branches that a thread may take before another one gets its turn */
    double seconds;     /* then FAULT_timeout; 0: never */
    bool (*find)(void *user, uint64_t address, PtxRange *out);
    void *user;
} PtxLaunch;

/* message says what went wrong, where in the PTX, and in which thread. */
PtxFault ptx_launch(const PtxLaunch *launch, char *message, size_t size);

/* Bytes per thread and block that a kernel needs, for the driver's attributes. */
uint32_t ptx_shared_static(const PtxModule *module, const PtxFunc *entry);
uint32_t ptx_local_bytes(const PtxFunc *entry);

#endif
