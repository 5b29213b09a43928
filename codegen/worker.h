/* worker.h - the threads LLVM runs on.
 *
 * LLVM recurses deeply (64 MiB of stack are reserved) and ends the process on what it calls fatal errors.
 * Both are kept away from the caller: requests are queued to threads of ours, as many as there are processors, started
 * when they are needed; when LLVM reports a fatal error on one of them, the message goes to whoever waits, that thread sleeps
 * for ever (its LLVM state is unknown), and another takes its place. The other threads go on.
 *
 * fork(), whoever calls it, waits for the jobs at hand to end, but not for long; the child starts workers
 * of its own. Where a job had not ended, the child does without what it was working on. */
#ifndef QUERN_WORKER_H
#define QUERN_WORKER_H

#include "frontend/base/base.h"

typedef struct LlvmState
    LlvmState; /* what jobs keep from one to the next, for one at a time: the hooks make it */
typedef void (*WorkerJob)(LlvmState *llvm, void *user);

/* What the thread needs to know of LLVM: handed in with every request, always the same (llvm_hooks of llvm_start.h). */
typedef struct WorkerHooks {
    /* Once in a process: LLVM's initialisation. `fatal` is to be called on a fatal error; it returns only on threads
     * that are no workers. NULL: no memory, and nothing was done. */
    LlvmState *(*start)(void (*fatal)(const char *reason));
    /* Another state where LLVM is initialised already: for a second job beside the first. */
    LlvmState *(*fresh)(void);
} WorkerHooks;

typedef struct WorkerWait {
    /* Called about every 50 ms on the waiting thread, without a lock: true asks to wait no longer. NULL: never. */
    bool (*look)(void *user);
    /* May a job that runs already be left alone? Then `drop` is called with it when it has ended, by the worker, or at
     * once where it had not begun. NULL: such a job is waited for. */
    void (*drop)(void *job);
    void *user; /* look's */
    const void
        *alone; /* jobs that name the same thing run one after the other. NULL: beside any other */
} WorkerWait;

typedef enum WorkerOutcome {
    WORKER_DONE,
    WORKER_NO_MEMORY, /* nothing ran */
    WORKER_FAILED, /* `error` says why: a fatal error of LLVM (what the job owned is lost), no thread, a fork */
    WORKER_LEFT /* `look` asked for it; the job did not run, or belongs to `drop` */
} WorkerOutcome;

/* Runs the job on a worker and waits. `wait` may be NULL. */
WorkerOutcome worker_run(const WorkerHooks *hooks, WorkerJob job, void *user,
                         const WorkerWait *wait, char *error, size_t error_size);
/* The same in two steps: the job is queued, and may run before it is waited for. WORKER_DONE: `request` is to be given to
 * worker_end, with a `wait` that says the same of `drop` and `alone`. */
typedef struct WorkerRequest WorkerRequest;
WorkerOutcome worker_begin(const WorkerHooks *hooks, WorkerJob job, void *user,
                           const WorkerWait *wait, WorkerRequest **request, char *error,
                           size_t error_size);
WorkerOutcome worker_end(WorkerRequest *request, const WorkerWait *wait, char *error,
                         size_t error_size);
/* Counts the forks between the first use of this function or of a worker and this process: what threads of the parent
 * held is held for ever. */
uint32_t worker_generation(void);

#endif
