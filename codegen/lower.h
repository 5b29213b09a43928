/* lower.h - from optimised typed IR to machine code, to those who do not know LLVM. */
#ifndef QUERN_LOWER_H
#define QUERN_LOWER_H

#include "codegen/instances.h"
#include "codegen/lazy.h"
#include "codegen/llvm_start.h"

typedef struct LowerJob {
    Arena *arena;
    DiagList *diags;
    const CompileOptions *options;
    Module *module;
    Artifact *artifact;         /* described already; gets code, tables and texts */
    const uint8_t *array_usage; /* abi_usage */
    Instance *claim;    /* what it is making (instances.h): to be given up where the job is lost */
    bool provoke;       /* cg_test_fatal_error */
    bool ok, no_memory; /* the outcome */
} LowerJob;

/* The job of the code-generation worker: user is a LowerJob. */
void lower_run(LlvmState *llvm, void *user);
/* Makes code of a module of lazy functions; on a worker, too. */
void lower_lazy(LlvmState *llvm, LazyJob *job);
/* A copy of a text in the artifact's arena; never NULL. */
Str lower_keep(Artifact *artifact, Str text);

#endif
