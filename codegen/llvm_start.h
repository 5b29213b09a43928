/* llvm_start.h - LLVM's process-wide initialisation, to the worker that calls it once, and what the worker's jobs
 * keep from one to the next. */
#ifndef QUERN_LLVM_START_H
#define QUERN_LLVM_START_H

typedef struct LlvmState LlvmState; /* facts of the host and target machines (llvm/machine.c) */

/* Targets and the fatal-error handler. NULL: no memory, and nothing was done. */
LlvmState *llvm_start(void);
/* Another state where LLVM is initialised already: in the child of a fork that caught a job half way. */
LlvmState *llvm_fresh(void);
/* Asks LLVM for a fatal error of its own: a test of the handler. */
void llvm_provoke(void);
const char *llvm_version_text(void);
/* The host's CPU name, malloc'ed by LLVM: free with llvm_free_text. */
char *llvm_host_cpu(void);
void llvm_free_text(char *text);

#endif
