/* host_code.h - machine code in this process, to those who do not know LLVM. */
#ifndef QUERN_HOST_CODE_H
#define QUERN_HOST_CODE_H

/* Frees the machine code behind Artifact.host_code. No call may be inside it. */
void host_code_drop(void *handle);

#endif
