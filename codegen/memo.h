/* memo.h - what functions of the library came to that were compiled before in this process.
 *
 * A function that inference has kept (ir_keep.h) is the same function wherever it is called again, and the passes and LLVM make the
 * same instance of it. So its second caller neither optimises, nor lowers, nor hashes it: it needs the key, what a call looks
 * like, and the places and raise statements that get numbers of the caller's artifact. */
#ifndef QUERN_MEMO_H
#define QUERN_MEMO_H

#include "codegen/codegen.h"
#include "codegen/instances.h"

typedef struct Memo Memo;
struct Memo {
    Hash128 key; /* of the instance */
    bool raises, polls;
    bool small; /* loops of the user call no instance of it: its code belongs to theirs */
    int32_t nsites, nraises, nneeds;
    const CodeSite *sites;
    const RaiseInfo *raise_infos;
    const Memo *const *needs; /* of the instances that its module calls, by number */
};

/* Kept for good, as memos that it needs must be; the copy, or NULL: there is no room. */
const Memo *memo_keep(const Memo *memo);
/* That of a function, by Func.kept and a hash of all else that machine code depends on; NULL: there is none. */
const Memo *memo_find(uint64_t kept, Hash128 options);
/* `memo` was kept. */
void memo_add(uint64_t kept, Hash128 options, const Memo *memo);

/* What Func.made points to. */
typedef struct MadeFunc {
    const Memo *memo;
    Instance *instance;
} MadeFunc;

typedef struct MemoUse {
    Module *module;
    const CompileOptions *options;
    bool any; /* memos of what is compiled here are wanted */
    Hash128 key;
    Vec(Instance *) held; /* until memo_end */
} MemoUse;

/* Before the passes: marks the functions that need not be compiled again, and those that only they call, in use->module. */
void memo_begin(MemoUse *use);
/* Behind the passes: lazy functions call no instances, so what they call is compiled with them after all. false: a pass has failed. */
bool memo_settle(MemoUse *use);
void memo_end(MemoUse *use);

#endif
