/* typeinfer.h - the public face of typeinfer: from untyped SSA and argument types to typed SSA. */
#ifndef QUERN_TYPEINFER_H
#define QUERN_TYPEINFER_H

#include "frontend/frontend.h"
#include "typeinfer/lowering.h"

typedef struct InferOptions {
    TargetKind target; /* column of the library tables */
    bool kernel;       /* the entry is a kernel: void result, guards only when `debug` */
    bool debug;        /* kernels: keep guards and exceptions */
    bool no_boundscheck;
    bool error_numpy;    /* error_model='numpy': division by zero gives inf, nan or 0 */
    bool fast_division;  /* fastmath in kernels: `/` of floats by zero never raises */
    bool strong_numbers; /* weak_numbers=False: Numba's rules */
    bool cpu_numbers;    /* kernels round a function of vectorize: its numbers meet as on the CPU */
    bool parallel; /* on the host, not in kernels: prange and whole-array work on several threads */
    bool literals; /* the caller can compile it for the value of an argument: literally() */
} InferOptions;

typedef struct InferRequest {
    const Binding *function;
    const Type *const
        *arg_types; /* one for each parameter, *args as one tuple; absent last ones: defaults */
    int32_t nargs;
    const Type *result; /* NULL: inferred */
    InferOptions options;
    const char *device; /* kernels, for messages: "cuda:sm_90"; NULL: not said */
} InferRequest;

/* Adds the typed entry and all its callees to `module` (funcs[0] is the entry). false: diagnostics in
 * module->diags or a Python exception pending with the resolver's owner. If `report` is not NULL, the
 * inference of the entry is described there (inspect_types). */
bool ti_run(Module *module, Resolver *resolver, const InferRequest *request, StrBuf *report);

/* Everything that keeps `function` and what it calls from being compiled, in the order of its places: all errors go
 * to module->diags, one for each cause. Argument types that are NULL are not known: what depends on them is not said.
 * true: there is none. false without a diagnostic: a Python exception is pending. Makes no typed code. */
bool ti_diagnose(Module *module, Resolver *resolver, const InferRequest *request);

/* Is there something behind a canonical name ("numpy.zeros", "math.sin"), be it a row of the tables or
 * known to inference itself? Resolvers ask to tell a library callable from any other object. */
bool ti_is_known(Str name);
/* What inference has a handler for, by number; NULL behind the last: the rows LOWER_TYPED, all of them. */
const char *ti_typed_name(Arena *arena, int32_t index);

/* -- signatures as users write them ----------------------------------------------------------- */

/* "float64(float64[:], int32)", "(i8, f4[:, ::1])", "void(int64)": result is NULL when absent. */
bool ti_parse_signature(TypeTable *types, Arena *arena, const char *text, Signature *out,
                        DiagList *diags);
/* One type: "float32[:, ::1]", "Tuple((int64, float32))", "UniTuple(int64, 2)", "Array(float64, 2, 'C', readonly)". */
const Type *ti_parse_type(TypeTable *types, Arena *arena, const char *text, DiagList *diags);

/* -- lattice.c: joins, promotion, conversions (pure functions of promote.def) ----------------- */

typedef enum JoinRule {
    JOIN_CPU, /* weak numbers count as int64, float64 and complex128; a weak int as uint64 beside uint64 */
    JOIN_KERNEL, /* ... and as float32 and complex64 beside these */
    JOIN_NUMBA   /* weak_numbers=False */
} JoinRule;
/* A string: a constant of the program, which is an object at compile time, or of the class str. */
bool type_is_text(const Type *type);
/* What a value of that type is where it is not known at compile time: constant strings, in tuples too, are of the class str. */
const Type *ti_stored(TypeTable *types, const Type *type);
/* What a container holds of a function: one that may be joined by others. */
const Type *ti_kept_function(TypeTable *types, const Type *type);
enum { MOST_CHOICES = 16 };
/* The type of a phi of both; NULL when there is none. */
const Type *ti_join(TypeTable *types, JoinRule rule, const Type *a, const Type *b);

/* A number at a phi: its type, and what the type does not tell of the Python ints that met in it. With that, the order in
 * which numbers meet does not matter: 0, then uint8, then uint64 make uint64, as 0, then uint64 do. */
enum {
    MET_NEGATIVE =
        1, /* a negative constant is among the Python ints: there is no type with uint64 */
    MET_UNSIGNED = 2 /* an int64 made of Python ints and unsigned narrow ints alone */
};
typedef struct Meet {
    const Type *type;
    uint8_t python;
} Meet;
/* Both as one. false: no type, or (uint64 and MET_NEGATIVE) one that is an error unless more meets in it. */
bool ti_meet(TypeTable *types, JoinRule rule, Meet a, Meet b, Meet *out);

typedef enum Arithmetic {
    ARITH_PLAIN, /* the common type as it is */
    ARITH_WIDE,  /* operators: ints become 64 bits wide, bools weak ints */
    ARITH_UFUNC, /* NumPy's functions: a Python int beside an int takes its type, whether it fits or not */
    ARITH_NUMBA,      /* operators with weak_numbers=False */
    ARITH_NUMBA_UFUNC /* NumPy's functions with weak_numbers=False: no int makes a float wider */
} Arithmetic;
/* The common type of an arithmetic operation; NULL: none. */
const Type *ti_promote(TypeTable *types, Arithmetic rule, const Type *a, const Type *b);
typedef enum Conversion { CONV_EXACT, CONV_PROMOTE, CONV_SAFE, CONV_UNSAFE, CONV_NONE } Conversion;
/* May an argument of type `from` be passed where `to` is declared, and how well does it fit? */
Conversion ti_conversion(const Type *from, const Type *to);

/* How badly arguments fit one of several candidates: rows of a name, declared signatures. Counted by kinds of
 * conversions and compared from the left; of equal ones the first candidate is taken. */
typedef struct Fit {
    int32_t lossy, unsafe, safe, promote;
    int32_t declared; /* parameters that are declared: a shorter signature leaves more defaults */
} Fit;
#define FIT_NONE ((Fit){.lossy = INT32_MAX}) /* anything is better */
/* Floats that become ints, and other numbers that become bools: the last resort. False of what is no scalar. */
bool ti_loses_kind(const Type *from, const Type *to);
bool ti_fit_add(Fit *fit, Conversion conversion); /* false: CONV_NONE */
bool ti_fit_better(const Fit *a, const Fit *b);

#endif
