/* compile_impl.h - the inside of a Compilation, for compile.c and front.c. */
#ifndef QUERN_COMPILE_IMPL_H
#define QUERN_COMPILE_IMPL_H

#include "codegen/codegen.h"
#include "codegen/instance_files.h"
#include "codegen/lower.h"
#include "codegen/memo.h"
#include "codegen/worker.h"

struct Compilation {
    atomic_int refs; /* 2: the worker still runs a job of it that nobody waits for */
    bool left;       /* that is so, or the job never ran: to its owner it is good for cg_end only */
    Arena arena;
    CompileOptions options;
    Resolver *resolver;
    Module *module;
    TypeTable *types;
    DiagList diags;
    const Type *const *arg_types; /* as asked for: weak where Python numbers are passed */
    int32_t nargs;
    const Type *weak_result; /* before specialisation, NULL where unknown */
    Str text_types;
    int64_t ns_infer;
    const char *failure; /* what the worker says, for the message */
    MemoUse memo;
    const InstanceFiles *files; /* NULL: instances are not looked for on disk */
    LowerJob lower;             /* here, because the worker may outlast cg_back */
    bool lowers; /* there is a job: `request` until it was waited for, or `outcome` says why not */
    WorkerRequest *request;
    WorkerOutcome outcome;
    char error[1024];
    bool (*look)(void *user);
    void *look_user;
};

/* What a kernel is compiled for, in messages: "cuda:sm_90"; NULL: it is no kernel. */
const char *cg_device_text(Compilation *c);

#endif
