/* lowering.h - one row for each callable of the library, as data: typing needs no LLVM, and yet the row
 * tells the whole story. The rows are the .def files of tables/; library.c reads them.
 *
 * Signature language (sig.c): "(F,F)->F". Upper-case letters are classes bound to one type each:
 *   I signed or unsigned int   F float   C complex   N int, float or complex   R int or float   B bool
 *   Z int; a signed and an unsigned one meet in i64 (bit operations)   U unsigned int, no other
 *   S any scalar number or bool            A array                    X anything
 * the same letter is one type (after promotion of its arguments; ints widen to 64 bits where the row says so), a
 * digit makes another one of the class (S, S1). In I Z R N a bool counts as an int; F takes ints: int64 -> float64,
 * C takes all numbers. Lower-case words are types: i64, f32, bool, none, wint, u64; `mask` is
 * that of the lanes of a warp (u32; u64 where a wave has 64 lanes); `any` as parameter takes
 * anything as it is, as result it means that inference finds it (LOWER_TYPED, LOWER_PY; LibMatch.result is NULL).
 *   elem(A) element type of A;  arr(S,1) an array;  tuple(I,I) a tuple;  wide(I)  I widened to 64 bits
 *   comp(C) component of a complex, other numbers as they are;  strong(S)
 *   int(S)  a Python int, of uint64 itself;  float(S) cpx(S)  the float, complex type of a number, weak where S is weak
 *   like(I)  as a parameter: converted to I, without a say in what I is;  weak(I)  the same, only for weak numbers
 *   a trailing * repeats the last parameter (one or more);  ? makes it optional;  lit before a parameter asks for a
 *   compile-time constant. */
#ifndef QUERN_LOWERING_H
#define QUERN_LOWERING_H

#include "frontend/frontend.h"

typedef enum LowerKind {
    LOWER_NONE, /* not available on this target */
    LOWER_OP,   /* an IR op: `op` */
    LOWER_INTR, /* an LLVM intrinsic, overloaded on the result type: "llvm.sqrt" */
    LOWER_LIB, /* a library symbol; the target appends its suffix: sin -> sinf, __nv_sin -> __nv_sinf */
    LOWER_GEN, /* a generator of codegen/llvm/cg_gen.c, by name */
    LOWER_PY, /* a function of quern/library written in the subset; `symbol` is its canonical name */
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
    LIB_PURE = 1, /* no effect, no memory */
    LIB_READS = 2,
    LIB_WRITES = 4,
    LIB_CONVERGENT =
        8, /* barriers, votes, shuffles: not to be moved or duplicated across control flow */
    LIB_GPU_ONLY = 16, /* only in kernels and device functions */
    LIB_WIDEN = 32,    /* narrow int arguments widen to 64 bits */
    LIB_NONZERO = 64,  /* last argument is tested for zero first: ZeroDivisionError */
    LIB_FINITE = 128,  /* float argument is tested for NaN and infinity first (int(), floor()) */
    LIB_COMMUTATIVE = 256,
    LIB_SHARED_CALL = 512,  /* barrier: the cpu device suspends the work-item here */
    LIB_NONNEGATIVE = 1024, /* the result is a count or a number of a thread: never negative */
    LIB_COUNT =
        2048, /* last argument, before its conversion, is tested for being negative: ValueError */
    LIB_POWER = 4096, /* 0 to a negative power: ZeroDivisionError */
    LIB_SWAP = 8192,  /* the operation takes the two operands exchanged: a > b is b < a */
    LIB_VALUE =
        16384, /* the name is the value itself, not a function: cuda.threadIdx.x, ndarray.shape */
    LIB_CHOICE =
        32768, /* the result is one of the arguments: their type holds Python ints of any value */
    LIB_CONTEXT = 65536, /* asks the context of the call; may raise */
    LIB_WHOLE =
        131072, /* of arrays it is a function of quern/library, not this row for each element */
    LIB_NO_BOOLS = 262144, /* NumPy refuses arrays of bools */
    LIB_DOUBLE =
        524288, /* of arrays of narrow ints NumPy makes float64, not the smallest float that holds them */
    LIB_LONG =
        1048576 /* without a loop of ours it takes as long as its arrays are; without arrays nobody knows how long */
};

typedef struct LibRow {
    const char *name; /* canonical: "math.sin", "operator.add", "cuda.syncthreads" */
    const char *signature;
    Lowering cpu, nvptx, amdgpu;
    uint32_t flags;
    const char *doc; /* one line for the reference page */
} LibRow;

/* -- library.c -------------------------------------------------------------------------------- */

int32_t lib_count(void);
const LibRow *lib_row(int32_t index);
/* The tables are sorted by name; rows with one name stand together, best first: first index, or -1. */
int32_t lib_find(Str name);
int32_t lib_next(int32_t index); /* the next row of the same name, or -1 */
const Lowering *lib_lowering(const LibRow *row, TargetKind target);
/* Of an OP_lib instruction, also after parsing from text (then found by name and types). */
const LibRow *lib_row_of(const Inst *inst);

enum { LIB_MAX_ARGS = 16 };
typedef struct LibMatch {
    int32_t row;
    const Type *params[LIB_MAX_ARGS]; /* what each argument is converted to */
    const Type *result;               /* may be weak; NULL: `any` */
} LibMatch;

/* Parameter `index` of a row must be a compile-time constant. */
bool lib_is_literal(const LibRow *row, int32_t index);
/* The row of an OP_lib instruction by its name and the types of its operands. */
const LibRow *lib_row_for(const Func *func, Ref ref);
/* Everything the tables offer, as Markdown: docs/reference.md. */
void lib_print_reference(StrBuf *out);

/* The best row of `name` for these argument types on `target` (-1: on any). Unsafe conversions count last, then
 * safe ones, then promotions; of equal rows the first wins. false: no row fits (no diagnostic). */
bool lib_match(TypeTable *types, Str name, const Type *const *args, int32_t nargs, int target,
               bool strong_numbers, LibMatch *out);

#endif
