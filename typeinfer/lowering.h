/* lowering.h - one row for each callable of the library, as data: typing needs no LLVM, and yet the row
 * tells the whole story. The rows are the .def files of tables/; library.c reads them.
 *
 * Signature language (sig.c): "(F,F)->F". Upper-case letters are classes bound to one type each:
 *   I signed or unsigned int   F float   C complex   N int, float or complex   B bool   S any scalar number or bool
 *   A array                    X anything
 * the same letter is one type (after promotion of its arguments; ints widen to 64 bits where the row says so);
 * `f(F)` of an int argument converts it: int64 -> float64. Lower-case words are types: i64, f32, bool, none, wint, u64.
 *   elem(A) element type of A;  arr(S,1) an array;  comp(C) component of a complex;  wide(I)  I widened to 64 bits
 *   strong(S);  a trailing * repeats the last parameter (one or more);  ? makes it optional;  lit before a
 *   parameter asks for a compile-time constant. */
#ifndef QUERN_LOWERING_H
#define QUERN_LOWERING_H

#include "frontend/frontend.h"

typedef enum LowerKind {
    LOWER_NONE, /* not available on this target */
    LOWER_OP,   /* an IR op: `op` */
    LOWER_INTR, /* an LLVM intrinsic, overloaded on the result type: "llvm.sqrt" */
    LOWER_LIB,  /* a library symbol; the target appends its suffix: sin -> sinf, __nv_sin -> __nv_sinf */
    LOWER_GEN,  /* a generator of codegen/llvm/cg_gen.c, by name */
    LOWER_PY,   /* a function of quern/library written in the subset; `symbol` is its canonical name */
    LOWER_TYPED /* typeinfer itself knows what to do, by the row's name (len, range, shape ...) */
} LowerKind;

/* Generators: GEN(name) rows of tables/generators.def */
typedef enum GenId {
    GEN_none,
#define GENERATOR(name, what) GEN_##name,
#include "typeinfer/tables/generators.def"
#undef GENERATOR
    GEN_COUNT
} GenId;

typedef struct Lowering {
    LowerKind kind;
    const char *symbol; /* INTR, LIB, PY */
    int id;             /* OP: Op; GEN: GenId */
} Lowering;

enum LibFlags {
    LIB_PURE = 1,        /* no effect, no memory */
    LIB_READS = 2,
    LIB_WRITES = 4,
    LIB_CONVERGENT = 8,  /* barriers, votes, shuffles: not to be moved or duplicated across control flow */
    LIB_GPU_ONLY = 16,   /* only in kernels and device functions */
    LIB_WIDEN = 32,      /* narrow int arguments widen to 64 bits */
    LIB_NONZERO = 64,    /* last argument is tested for zero first: ZeroDivisionError */
    LIB_FINITE = 128,    /* float argument is tested for NaN and infinity first (int(), floor()) */
    LIB_COMMUTATIVE = 256,
    LIB_SHARED_CALL = 512 /* barrier: the cpu device suspends the work-item here */
};

typedef struct LibRow {
    const char *name;      /* canonical: "math.sin", "operator.add", "cuda.syncthreads" */
    const char *signature;
    Lowering cpu, nvptx, amdgpu;
    uint32_t flags;
    const char *doc;       /* one line for the reference page */
} LibRow;

/* -- library.c -------------------------------------------------------------------------------- */

int32_t lib_count(void);
const LibRow *lib_row(int32_t index);
/* Rows with one name stand together, best first: first index, or -1. */
int32_t lib_find(Str name);
int32_t lib_next(int32_t index); /* the next row of the same name, or -1 */
const Lowering *lib_lowering(const LibRow *row, int target);
/* Of an OP_lib instruction, also after parsing from text (then found by name and types). */
const LibRow *lib_row_of(const Inst *inst);

enum { LIB_MAX_ARGS = 16 };
typedef struct LibMatch {
    int32_t row;
    const Type *params[LIB_MAX_ARGS]; /* what each argument is converted to */
    const Type *result;               /* may be weak */
} LibMatch;

/* The best row of `name` for these argument types on `target`. false: no row fits (no diagnostic). */
bool lib_match(TypeTable *types, Str name, const Type *const *args, int32_t nargs, int target,
               bool strong_numbers, LibMatch *out);

#endif
