/* half.c - what the half in front of LLVM calls of this one. */
#include "codegen/lower.h"
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Config/llvm-config.h>

static const LlvmHalf half = {.hooks = &llvm_hooks,
                              .run = lower_run,
                              .run_lazy = lower_lazy,
                              .version = LLVM_VERSION_STRING,
                              .host_cpu = LLVMGetHostCPUName,
                              .free_text = LLVMDisposeMessage};

const LlvmHalf *llvm_half_find(char *error, size_t error_size) {
    (void)error, (void)error_size;
    return &half;
}
