/* host_code.h - machine code in this process, to those who do not know LLVM. */
#ifndef QUERN_HOST_CODE_H
#define QUERN_HOST_CODE_H

#include <stdbool.h>

/* Frees the machine code behind Artifact.host_code. No call may be inside it. */
void host_code_drop(void *handle);
/* LLVM gave up on this thread: if it was linking, its linker is abandoned. */
void host_code_fatal(void);
/* Around a fork. `quiet`: no code is being made, and the linker's lock is waited for. `midway`: the child cannot
 * know what the linker was doing, and goes on with another. */
void host_code_before_fork(bool quiet);
void host_code_after_fork(bool parent, bool midway);

#endif
