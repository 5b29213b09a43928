/* worker.h - the thread LLVM runs on.
 *
 * LLVM recurses deeply (64 MiB of stack are reserved) and ends the process on what it calls fatal errors.
 * Both are kept away from the caller: requests are queued to one thread; when LLVM reports a fatal error
 * there, the message goes to whoever waits, that thread sleeps for ever (its LLVM state is unknown), and
 * the next request starts a new one. */
#ifndef QUERN_WORKER_H
#define QUERN_WORKER_H

#include "codegen/llvm_start.h"
#include "frontend/base/base.h"

typedef void (*WorkerJob)(LlvmState *llvm, void *user);

/* Runs the job on the worker and waits. false: LLVM reported a fatal error; `error` has the message,
 * what the job owned is lost. */
bool worker_run(WorkerJob job, void *user, char *error, size_t error_size);
/* LLVM's fatal-error handler. Returns only on threads that are no workers. */
void worker_fatal(const char *reason);
/* In the child of a fork: no thread of the parent exists any more. */
void worker_after_fork(void);

#endif
