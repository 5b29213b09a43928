/* workitem.h - how generated code and the scheduler of work-items speak: kernels with barriers or warp
 * operations on the cpu device.
 *
 * Each work-item is a coroutine. Where it must wait it writes into its WorkItem what it waits for and
 * suspends; the scheduler resumes it when that has come, with the result in `value`. */
#ifndef QUERN_WORKITEM_H
#define QUERN_WORKITEM_H

#include "codegen/artifact.h"

enum { WORK_LANES = 32 };

typedef enum WorkRequest {
    WORK_READY, /* may go on */
    WORK_DONE,  /* has ended with `status` */
    WORK_BARRIER,
    WORK_BARRIER_COUNT,
    WORK_BARRIER_AND,
    WORK_BARRIER_OR,
    WORK_BARRIER_GRID,
    /* From here on: operations of a warp, by the lanes of `mask`. */
    WORK_SYNCWARP,
    WORK_SHFL_IDX,
    WORK_SHFL_UP,
    WORK_SHFL_DOWN,
    WORK_SHFL_XOR,
    WORK_VOTE_ALL,
    WORK_VOTE_ANY,
    WORK_VOTE_EQ,
    WORK_VOTE_BALLOT,
    WORK_MATCH_ANY,
    WORK_MATCH_ALL,
    WORK_ACTIVEMASK,
    WORK_REQUESTS
} WorkRequest;
#define WORK_FIRST_WARP WORK_SYNCWARP

/* One cache line. */
typedef struct WorkItem {
    void *frame;      /* of the coroutine: the functions that resume and destroy it come first */
    uint32_t request; /* WorkRequest */
    int32_t site;     /* of the operation it waits at */
    uint32_t mask;
    int32_t arg;       /* lane or distance of a shuffle */
    uint64_t value[2]; /* the operand, then the result */
    uint32_t thread[3];
    int32_t status;      /* when done */
    uint32_t warp_epoch; /* operations of its warp that it took part in */
    uint32_t unused;
} WorkItem;

/* What all work-items of a block share. */
typedef struct WorkBlock {
    uint32_t block[3], block_dim[3], grid_dim[3];
    uint32_t dynamic_shared;
    char *shared;
} WorkBlock;

/* The generated coroutine: runs until the work-item waits for the first time, or ends. */
typedef void (*WorkStart)(CallContext *ctx, void **args, WorkBlock *block, WorkItem *item);

/* Called by generated code: the body of a KernelEntry. */
int32_t quern_run_blocks(CallContext *ctx, void **args, KernelGrid *grid, WorkStart start);
/* Of a kernel whose blocks are functions: memory for what the work-items of a block keep (`bytes` each) while `blocks` runs. */
typedef int32_t (*WorkBlocks)(CallContext *ctx, void **args, KernelGrid *grid, char *kept);
int32_t quern_run_items(CallContext *ctx, void **args, KernelGrid *grid, int64_t bytes,
                        WorkBlocks blocks);
/* Memory for the frame of an item's coroutine, aligned to 64 bytes; NULL: none, and ctx says so. */
void *quern_item_frame(CallContext *ctx, WorkBlock *block, WorkItem *item, int64_t size);

#endif
