/* target.h - what differs between targets, as one struct of facts and hooks for each (in the library of LLVM), and the few facts
 * that are asked for without LLVM (facts.c).
 *
 * Stands left of opt, llvm and target/: the hooks speak of opaque types only, so nobody who reads a
 * fact includes LLVM. A new target is one file in target/ and one row in tg_target. */
#ifndef QUERN_CODEGEN_TARGET_H
#define QUERN_CODEGEN_TARGET_H

#include "codegen/codegen.h"

typedef struct Cg Cg; /* codegen/llvm/cg.h */
struct LibCall;
typedef struct LLVMOpaqueValue *TgValue;
typedef struct LLVMOpaqueType *TgType;
typedef struct LLVMOpaqueTargetMachine *TgMachine;

/* The coordinates of a work-item, in the order of the hidden parameters that carry them on the CPU. */
typedef enum GridValue {
    GRID_THREAD,
    GRID_BLOCK,
    GRID_BLOCK_DIM,
    GRID_GRID_DIM,
    GRID_VALUES
} GridValue;

enum { MAX_BLOCK_THREADS = 1024 }; /* of every GPU there is */

/* Assembly that moves a register: its text, the constraints of result and operand, and those of what is a constant. */
typedef struct MoveText {
    const char *text, *constraints, *constant;
} MoveText;

typedef struct Target {
    TargetKind kind;
    const char *name; /* "nvptx" */
    /* facts */
    bool is_host;      /* its code is called in this process */
    uint8_t spaces[4]; /* LLVM address space of each Space */
    bool has_owner;    /* arrays carry an owner; retain and release count */
    bool lines;        /* its text names lines of the program where that is asked for */
    bool contracts;    /* a * b + c may be one instruction by default */
    bool
        splits_addresses; /* in loops: parts that stand still first (cg_split.c); AMD GPUs have a pass of their own for that */
    bool rounds_bfloat;   /* LLVM has one instruction for it, or else as good a sequence as ours */
    const char *
        passes; /* LLVM's of levels 2 and 3, %s where those for pairs stand; NULL: its default ones (emit.c) */
    /* intrinsics for 32 bits where LLVM does not select the one instruction for its general form; or NULL */
    const char *atomic_inc, *atomic_dec;
    MoveText move[2];       /* of 32 and of 64 bits */
    const char *lib_prefix; /* of math functions: "", "__nv_" or "__ocml_" */
    const char *print; /* i32 f(format, operands side by side in 8 bytes each); NULL: print_line */
    const char *lib_suffixes[2]; /* of library functions of double and of single precision */

    /* -- hooks: called on the code-generation worker -- */

    /* The target machine; NULL after adding a diagnostic. */
    TgMachine (*machine)(Cg *cg);
    /* May compiled code of this compilation raise at all? */
    bool (*raises)(const CompileOptions *options);
    /* Writes an exception down where the next synchronisation reads it; the work-item goes on (see
     * cg_raise.c). NULL: exceptions go into the call context and end the call. */
    void (*record)(Cg *cg, int32_t exception, int32_t site, const TgValue *args, int nargs);
    /* A coordinate of the work-item as i32. */
    TgValue (*grid)(Cg *cg, GridValue which, int axis);
    /* `bytes` of shared memory (data pointer in the space of SPACE_SHARED), static or the dynamic rest. */
    TgValue (*shared_static)(Cg *cg, int64_t bytes, int64_t align);
    TgValue (*shared_dynamic)(Cg *cg);
    /* Size in bytes of the dynamic shared memory, i64. */
    TgValue (*shared_dynamic_size)(Cg *cg);
    /* Generators that only make sense on this target (barriers, votes, shuffles ...): fills call->out,
     * or returns false when the target has no such thing. */
    bool (*generate)(Cg *cg, int gen, struct LibCall *call);
    /* Atomic operations (`op` of LLVM; a cmpxchg gives LLVM's pair) that the whole device sees. NULL: LLVM's plain
     * instructions are. */
    TgValue (*rmw)(Cg *cg, int op, TgValue address, TgValue operand, unsigned align);
    TgValue (*cmpxchg)(Cg *cg, TgValue address, TgValue expected, TgValue desired, unsigned align);
    /* Leaves the operands (i64) of a line with that format where the runtime finds them. NULL: `print` is called. */
    void (*print_line)(Cg *cg, int32_t format, TgValue *operands, int32_t n);
    /* The function the runtime calls or launches, round the lowered funcs[0]. */
    bool (*entry)(Cg *cg);
    /* Corrects what a function of the device library gets wrong. NULL: nothing is. */
    TgValue (*mend)(Cg *cg, const char *symbol, const TgValue *args, TgValue result);
    /* Links device libraries that the module needs; before optimisation. */
    bool (*link)(Cg *cg);
    /* Machine code from the optimised module into the artifact. */
    bool (*emit)(Cg *cg, Artifact *artifact);
} Target;

const Target *tg_target(TargetKind kind);

typedef struct TargetFacts {
    const char *device; /* what messages call it: "cuda" */
    /* Have the waves of this architecture 64 lanes? An unknown one has not. */
    bool (*wide_masks)(const char *arch);
    void (*find_libraries)(const LibrarySearch *search);
} TargetFacts;

/* NULL: there is no such target. */
const TargetFacts *tg_facts(TargetKind kind);

void tg_find_libdevice(const LibrarySearch *search);
/* `file`: "ocml.bc". */
void tg_find_amdgpu_library(const LibrarySearch *search, const char *file);

#endif
