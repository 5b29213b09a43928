/* lower.h - from optimised typed IR to machine code, to those who do not know LLVM. */
#ifndef QUERN_LOWER_H
#define QUERN_LOWER_H

#include "codegen/instance_files.h"
#include "codegen/lazy.h"
#include "codegen/llvm_start.h"

typedef struct LowerJob {
    Arena *arena;
    DiagList *diags;
    const CompileOptions *options;
    Module *module;
    Artifact *artifact;         /* described already; gets code, tables and texts */
    const uint8_t *array_usage; /* abi_usage */
    const InstanceFiles *files; /* where instances are looked for; NULL: nowhere */
    Instance *claim; /* what it is making (instances.h): to be given up where the job is lost */
    const Hash128
        *memo_key;      /* what its instances are remembered under (memo.h); NULL: they are not */
    bool provoke;       /* cg_test_fatal_error */
    bool ok, no_memory; /* the outcome */
} LowerJob;

/* The job of the code-generation worker: user is a LowerJob. */
void lower_run(LlvmState *llvm, void *user);
/* Makes code of a module of lazy functions; on a worker, too. */
void lower_lazy(LlvmState *llvm, LazyJob *job);
/* A copy of a text in the artifact's arena; never NULL. */
Str lower_keep(Artifact *artifact, Str text);

/* All of code generation that needs LLVM. With the extension it is in a library of its own (docs/architecture.md), so who is in
 * front of it calls its functions through this. */
typedef struct LlvmHalf {
    const WorkerHooks *hooks;
    void (*run)(LlvmState *llvm, void *job); /* lower_run */
    void (*run_lazy)(LlvmState *llvm, LazyJob *job);
    const char *version;
    char *(*host_cpu)(void); /* the name, malloc'ed by LLVM */
    void (*free_text)(char *text);
} LlvmHalf;

/* Opened by the first call; NULL: `error` says why, and is empty if there was no memory. Any thread. */
const LlvmHalf *llvm_half(char *error, size_t error_size);
/* What a worker is given: opens it where it is not. Where it cannot be opened, jobs run without a state. */
extern const WorkerHooks llvm_half_hooks;

/* For llvm_half: in the extension llvm_open.c opens the library, tools have it inside (llvm/half.c). */
const LlvmHalf *llvm_half_find(char *error, size_t error_size);
/* The one function that the library exports: takes the functions of llvm_needs.def, in their order. NULL: these are not `n`, so the
 * library is of another build. */
typedef void (*LlvmNeed)(void);
typedef const LlvmHalf *(*LlvmOpen)(const LlvmNeed *needs, size_t n);
#define LLVM_OPEN_NAME "quern_llvm_open"

#endif
