/* host_code.h - machine code in this process, to those who do not know LLVM. */
#ifndef QUERN_HOST_CODE_H
#define QUERN_HOST_CODE_H

/* Frees the machine code behind Artifact.host_code. No call may be inside it. */
void host_code_drop(void *handle);
/* LLVM gave up on this thread: if it was linking, its linker is abandoned. */
void host_code_fatal(void);
/* In the child of a fork. */
void host_code_after_fork(void);

#endif
