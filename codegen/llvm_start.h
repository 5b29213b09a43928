/* llvm_start.h - LLVM's process-wide initialisation, to the worker that calls it first, and what jobs of workers
 * keep from one to the next. */
#ifndef QUERN_LLVM_START_H
#define QUERN_LLVM_START_H

#include "codegen/worker.h"

/* Its LlvmState: facts of the host and target machines (llvm/machine.c). */
extern const WorkerHooks llvm_hooks;
/* Asks LLVM for a fatal error of its own: a test of the handler. */
void llvm_provoke(void);

#endif
