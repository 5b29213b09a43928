/* emit.c - LLVM once per process, the optimisation pipeline, and machine code or text in memory. */
#include "codegen/llvm/cg.h"
#include "codegen/llvm_start.h"
#include "codegen/worker.h"
#include "frontend/base/os.h"
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

void llvm_start(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInstallFatalErrorHandler(worker_fatal);
}

bool cg_optimise(Cg *cg) {
    static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>", "default<O3>"};
    int level = QN_MAX(0, QN_MIN(cg->options->opt_level, 3));
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, level >= 2 && cg->target->kind == TARGET_CPU);
    LLVMPassBuilderOptionsSetSLPVectorization(options, level >= 2);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, level >= 2);
    LLVMErrorRef error = LLVMRunPasses(cg->mod, pipelines[level], cg->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return !cg->failed;
    char *message = LLVMGetErrorMessage(error);
    cg_error(cg, "%s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

LLVMMemoryBufferRef cg_emit_buffer(Cg *cg, LLVMCodeGenFileType type) {
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(cg->machine, cg->mod, type, &message, &buffer)) {
        cg_error(cg, "%s", message ? message : "no code was made");
        LLVMDisposeMessage(message);
        return NULL;
    }
    if (cg->failed) { /* an error reported through the context's handler */
        LLVMDisposeMemoryBuffer(buffer);
        return NULL;
    }
    return buffer;
}

Str cg_print(Cg *cg) {
    char *text = LLVMPrintModuleToString(cg->mod);
    Str copy = str_copy(cg->arena, text, strlen(text));
    LLVMDisposeMessage(text);
    return copy;
}

/* Data layout text that makes no sense ends in LLVM's report_fatal_error. */
void llvm_provoke(void) {
    LLVMTargetDataRef layout = LLVMCreateTargetData("this is no data layout");
    LLVMDisposeTargetData(layout);
}

const char *llvm_version_text(void) {
    return LLVM_VERSION_STRING;
}

char *llvm_host_cpu(void) { return LLVMGetHostCPUName(); }

void llvm_free_text(char *text) { LLVMDisposeMessage(text); }
