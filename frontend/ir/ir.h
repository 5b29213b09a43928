/* ir.h - the one SSA form: functions, blocks, instructions. IR.md is its specification.
 *
 * Everything is an index into arrays owned by the module's arena: an instruction is a Ref (> 0), a
 * block an int32_t (0 is the entry). A pass may append freely; removed instructions become OP_NOP-like
 * tombstones (op == OP_removed) and are skipped by printers and readers. */
#ifndef QUERN_IR_H
#define QUERN_IR_H

#include "frontend/base/diag.h"
#include "frontend/ir/type.h"

typedef int32_t Ref; /* index of an instruction; 0: none */
enum { NO_REF = 0, NO_BLOCK = -1 };

typedef enum Op {
    OP_removed,
#define OP(name, state, result, operands, flags, owns, takes) OP_##name,
#include "frontend/ir/ir_ops.def"
#undef OP
    OP_COUNT
} Op;

typedef enum Operator {
#define OPERATOR(name, symbol, verb, method) OPR_##name,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
    OPR_COUNT
} Operator;

typedef enum Guard {
#define GUARD(name, exception, message, nargs) GUARD_##name,
#include "frontend/ir/ir_guards.def"
#undef GUARD
    GUARD_COUNT
} Guard;

typedef enum AtomicOp {
#define ATOMIC(name, operands, classes) ATOMIC_##name,
#include "frontend/ir/ir_atomics.def"
#undef ATOMIC
    ATOMIC_COUNT
} AtomicOp;

enum OpFlags {
    OPF_PURE = 1,
    OPF_READ = 2,
    OPF_WRITE = 4,
    OPF_RAISES = 8,
    OPF_TERM = 16,
    OPF_COMM = 32,
    OPF_PINNED = 64,
    OPF_IDX = 128,
    OPF_DROPS = 256
};
typedef enum OpState { OPS_UNTYPED = 1, OPS_TYPED = 2, OPS_BOTH = 3 } OpState;
typedef enum OpOwns { OP_SHARES, OP_OWNS, OP_LOADS } OpOwns;
typedef enum OpTakes { OP_TAKES_NONE, OP_TAKES_LAST, OP_TAKES_ALL } OpTakes;
typedef enum OpResult { RES_VOID, RES_VALUE, RES_SAME, RES_BOOL, RES_I64, RES_ELEM } OpResult;

typedef struct OpInfo {
    const char *name;
    OpState state;
    OpResult result;
    int8_t operands; /* exact number, or -1 - minimum */
    uint16_t flags;
    uint8_t owns, takes;
} OpInfo;
extern const OpInfo ir_op_info[OP_COUNT];
const OpInfo *ir_info(Op op); /* its row, for those in another library */

/* -- constants ------------------------------------------------------------------------------- */

typedef enum ConstKind {
    CONST_NONE,
    CONST_BOOL,
    CONST_INT,    /* fits int64, or uint64 when `is_unsigned` */
    CONST_BIGINT, /* decimal text in `str` */
    CONST_FLOAT,
    CONST_COMPLEX,
    CONST_STR,
    CONST_BYTES, /* `str` has each byte as the code point of that number */
    CONST_TUPLE,
    CONST_ELLIPSIS,
    CONST_SLICE, /* three items: start, stop, step */
    CONST_CODE,  /* a nested code object: `handle`; `i`: the number of its free variables */
    CONST_OTHER  /* anything else: `handle`, with its type's name in `str` */
} ConstKind;

typedef struct ConstVal ConstVal;
struct ConstVal {
    ConstKind kind;
    bool is_unsigned;
    int64_t i;
    double re, im;
    Str str;
    int32_t nitems;
    const ConstVal **items;
    void *handle;                    /* opaque: belongs to the resolver */
    struct NestedFunction *function; /* CONST_CODE of live code: see frontend/bytecode/code.h */
};

/* A constant array of the program (a global or closure variable, frozen when first compiled). */
typedef struct FrozenArray {
    const Type *type; /* readonly, unless it is on_device; C layout where the bytes are a copy */
    const int64_t *shape;
    const void *bytes; /* the first element: in the arena, or `in_place` */
    int64_t nbytes;
    bool in_place;  /* in memory that outlives the code, which refers to it */
    bool on_device; /* in_place: in memory of the device that the code is for; it may be written */
    const int64_t *strides; /* in_place: in bytes */
    void *handle;           /* in_place: the resolver's, of the object whose memory it is */
    Str name;
} FrozenArray;

/* An exception that compiled code raises by name: class (a handle of the resolver) and message. */
typedef struct RaiseSite {
    Str class_name;     /* "ValueError", or qualified for a user's class */
    void *class_handle; /* resolver's; NULL for a builtin found by name */
    bool builtin;       /* it is Python's class of that name, with a handle or without */
    bool has_message;
    Str message; /* constant first argument; operands of `raise` follow it */
} RaiseSite;

typedef struct ExceptionClass {
    Str name;
    void *handle; /* as in RaiseSite */
    bool builtin;
} ExceptionClass;

extern const char *const ir_guard_exceptions[]; /* by Guard: the builtin class that it raises */
const char *ir_guard_exception(int32_t guard);  /* the same, for those in another library */

/* Of a handler (`except ValueError, KeyError`). */
typedef struct ClassSet {
    int32_t
        n; /* the classes that are raised in this module and are derived from one of those: no others can match */
    ExceptionClass *classes;
    int32_t nasked; /* what the handler names */
    ExceptionClass *asked;
} ClassSet;

/* -- instructions, blocks, functions --------------------------------------------------------- */

typedef struct Func Func;
typedef struct Module Module;

typedef struct IrSpan {
    int32_t line, end_line, column, end_column;
} IrSpan;

/* In `sub` of static_array and kept_array: the alignment in units of 32 bytes, as one of these words; 0 for up to 16. */
enum { STATIC_ALIGN_UNIT = 32, MAX_STATIC_ALIGN = 1024 };

/* static_array: in imm, another array each time; and how many bytes one that a kernel makes may have (NVIDIA's local memory of a thread). */
enum { STATIC_NEW = 1, MAX_LOCAL_BYTES = 512 * 1024 };
#define STATIC_ALIGNS "align32 align64 align128 align256 align512 align1024"

/* In `imm` of check_index, instead of an axis: of a list; of a list that is assigned to. */
enum { CHECK_LIST = 100, CHECK_LIST_ASSIGNMENT };

/* Flags in `sub`, of ops that have no other use for it (ir_ops.def). */
enum InstFlag {
    FLAG_NOWRAP = 1,   /* add, sub, mul: proven to stay in the signed range */
    FLAG_ZEROED = 1,   /* alloc */
    FLAG_VACANT = 1,   /* store: nothing that is counted lies there */
    FLAG_ANY_ZERO = 1, /* lib, a minimum or maximum of floats: of two zeros either */
    FLAG_ROLLED = 1,   /* jump back to the header of a loop: it is not worth unrolling */
    FLAG_LATER = 1,    /* poll: counts, and leaves it to the next poll to ask */
    FLAG_SHORT = 2,    /* poll: its loop has so few rounds that only the loop around needs to ask */
    FLAG_SQUARED = 1,  /* pow of floats: the exponent is the cast of an int, and products do */
    FLAG_NATURAL = 2,  /* with FLAG_SQUARED: that int is not negative */
    FLAG_INSIDE = 1,   /* cast, float to int: the value is known to fit */
    FLAG_SMALL = 1,    /* param of a kernel: an int that the launch has tested (FAST_LIMIT) */
    FLAG_POSITIVE = 2, /* with FLAG_SMALL: and above zero */
    FLAG_INDEX = 8,    /* with FLAG_SMALL: and not below zero */
    FLAG_ALIKE =
        4, /* param of a kernel: arrays that have it, of one layout and number of axes, have one shape: the launch has compared */
    FLAG_NO_OVERFLOW = 1, /* range_len: stop - start stays in int64 */
    FLAG_STATEMENT = 1,   /* reraise: `raise e`, which is a line of its own in tracebacks */
    FLAG_FRESH = 1,       /* function: a variable of it is assigned again before it is made anew */
    FLAG_SHARED = 1,      /* freevar: the cell, not what is in it */
    FLAG_ITEMS = 1,       /* call: once for each work-item of the block */
    FLAG_FEW = 1,         /* chunks: one for each thread, since each costs memory */
    FLAG_STARRED = 1,     /* unpack: with a starred name (ir_before_star) */
    FLAG_LIST = 1,        /* concat: to a list */
    FLAG_GUARDED = 1      /* yield: of a generator with handlers, which run when it is closed */
};

/* In `imm` of a starred unpack: how many names stand in front of the starred one, and behind it. */
static inline int32_t ir_before_star(int64_t arg) {
    return (int32_t)(arg & 255);
}
static inline int32_t ir_behind_star(int64_t arg) {
    return (int32_t)(arg >> 8);
}

/* The frame of a generator begins with its state. Where it must not just be dropped (OP_closing) a word follows that says how it
 * shall go on: whoever resumes it writes that. */
enum { STATE_DONE = 0, STATE_START = 1, STATE_FIRST = 2 };
typedef enum HowOn {
    ON_NEXT,
    ON_CLOSE,
    ON_THROW /* it raises what is pending with the caller; what is larger is the address of an exception that compiled code throws in */
} HowOn;

/* `sub` of floordiv and mod of signed ints: a set, of what a pass has proven. */
enum DivisionFlag {
    DIV_POSITIVE = 1, /* the divisor is above zero */
    DIV_NATURAL = 2,  /* and the dividend is not below it */
    DIV_BELOW =
        4, /* mod by a positive divisor: -divisor <= dividend < 2 * divisor, and it may be negative */
    DIV_ABOVE = 8, /* likewise, and it may reach the divisor */
    DIV_SELDOM =
        16, /* mod: hardly ever has what is left of the division the other sign than the divisor */
    DIV_ZERO = 32 /* mod: all that is asked of it is whether it is zero (code generation alone) */
};

/* `sub` of kept_count: 0 counts, these answer 0 or 1. */
enum KeptQuestion { KEPT_ALL = 1, KEPT_ANY = 2, KEPT_EQ = 4 };
enum KeptLane { KEPT_UP = 1, KEPT_DOWN = 2, KEPT_XOR = 4 };

/* `sub` of reduce: a set. */
enum ReduceFlag {
    REDUCE_FIRST = 1,    /* no start: the first element is the accumulator that the others go to */
    REDUCE_REST = 2,     /* the first element is in the start already */
    REDUCE_PAIRWISE = 4, /* floats or complex numbers are added, in NumPy's order */
    REDUCE_EARLY =
        8 /* the accumulator, or item 0 of it, is a bool: true says that nothing changes any more */
};

typedef struct Inst {
    uint16_t op;   /* Op */
    uint16_t sub;  /* Operator, Guard, AtomicOp or flag of the op */
    int32_t block; /* where it is */
    int32_t args;  /* operands: func->operands[args .. args + nargs) */
    int32_t nargs;
    int32_t span;      /* index into func->spans; 0: none */
    int32_t error;     /* block entered when it raises; NO_BLOCK: leave the function. An instruction
                          with an error successor is followed only by the terminator `jump` */
    int32_t target[2]; /* successors of a terminator */
    int64_t imm;
    const Type *type; /* NULL in untyped IR and for VOID results */
    union {
        const void *ptr;
        const ConstVal *value;
        const Str *name;
        const Str *names; /* call_py: the `imm` keyword names; import */
        Func *func;
        const FrozenArray *frozen;
        const RaiseSite *exception;
        ClassSet *classes;
    } u;
} Inst;

typedef struct Block {
    Vec(Ref) insts;     /* phis first, the terminator last */
    Vec(int32_t) preds; /* phi operand k comes from preds[k]; a block may appear twice */
    bool removed;
    bool cold; /* runs only where something is about to fail: not worth optimising */
    bool
        strips; /* the header of a loop that a pass has made, over the strips of another (opt/loops.c) */
} Block;

struct Func {
    Module *module;
    Str name;      /* unique in the module */
    Str user_name; /* as the user wrote it, for messages */
    Str file;
    bool typed;
    bool part; /* of its caller, which it was taken out of: tracebacks do not tell it apart */
    bool
        again; /* and such a nest of loops as is versioned once more: all of its checks may hold (opt/bounds.c) */
    bool
        parallel; /* typed: its loops over prange and its whole-array work may use several threads */
    bool
        skipped; /* passes and code generation leave it alone, and nothing is inlined of it: `made` */
    bool
        unchecked; /* typed: nothing tests the indices of its accesses, whatever the entry's option says */
    bool
        own_math; /* typed: float operations follow `fastmath`, not the option of the compilation */
    uint32_t fastmath;
    uint64_t
        kept; /* the same number, the same function, as inference made it: ir_keep.h; 0: none */
    const void *
        made; /* skipped: how compiled code calls it (codegen/memo.h); NULL: nothing that is compiled does */
    int32_t nparams;
    const Str *param_names;
    const Type **param_types; /* typed */
    const Type *result;       /* typed */
    const Type
        *weak_result; /* typed, after inference: the result before weak numbers, optionals and
                                 named tuples were lowered (how Python sees it); or NULL */
    Vec(Inst) insts;  /* [0] unused */
    Vec(Ref) operands;
    Vec(Block) blocks;
    Vec(IrSpan) spans;  /* [0] is "none" */
    Vec(Str) var_names; /* debug names of values: parallel to insts, may be shorter */
};

/* What a pass has to say of a place, for those who ask (parallel_diagnostics). */
typedef struct Remark {
    int level; /* 1: of a loop; 2: of work on whole arrays */
    Span span;
    Str text;
} Remark;

/* A function of C that the program has as an object. */
typedef struct ForeignFunction {
    int64_t address;
    void *handle;
} ForeignFunction;

/* One entry and all its callees: a unit of compilation. */
struct Module {
    Arena *arena;
    TypeTable *types;
    StrTable *strings;
    DiagList *diags;
    Vec(Func *) funcs; /* [0] is the entry */
    Func *resume;      /* the entry makes a generator: this one gives its next item. Or NULL */
    Vec(Remark) remarks;
    Vec(ForeignFunction) foreigns; /* those that code of the host calls */
    uint64_t literals; /* where inference fails: bit k: parameter k of the entry has to be known */
};

/* -- ir.c: construction and edits ------------------------------------------------------------- */

Module *ir_module_new(Arena *arena, DiagList *diags);
Func *ir_func_new(Module *module, Str name, bool typed);
/* A typed function that runs a piece of `whole`, of which it has the file, the names and what float operations may become. */
Func *ir_func_part(const Func *whole, Str name);
int32_t ir_block_new(Func *func);
/* Appends to `block` (before nothing: the caller keeps phis first and the terminator last). The new
 * instruction has no type, span 0, no error successor. The pointer `ir_inst` is invalidated. */
Ref ir_append(Func *func, int32_t block, Op op, const Ref *args, int32_t nargs);
/* The same, inserted before position `at` of the block's list. */
Ref ir_insert(Func *func, int32_t block, int32_t at, Op op, const Ref *args, int32_t nargs);
static inline Inst *ir_inst(const Func *func, Ref ref) {
    return &func->insts.items[ref];
}
static inline Ref *ir_args(const Func *func, Ref ref) {
    return &func->operands.items[func->insts.items[ref].args];
}
static inline Ref ir_arg(const Func *func, Ref ref, int32_t k) {
    return ir_args(func, ref)[k];
}
static inline const Type *ir_type(const Func *func, Ref ref) {
    return func->insts.items[ref].type;
}
void ir_set_args(Func *func, Ref ref, const Ref *args, int32_t nargs);
void ir_add_arg(Func *func, Ref ref, Ref arg); /* phi under construction */
void ir_remove(Func *func, Ref ref);           /* from its block; becomes OP_removed */
/* Every use of `old` becomes `by` (linear in the function; batch form below). */
void ir_replace_uses(Func *func, Ref old, Ref by);
/* map[ref] != 0: uses of ref become map[ref], followed transitively. */
void ir_replace_many(Func *func, const Ref *map);
int32_t ir_span_add(Func *func, IrSpan span);
Span ir_span_of(const Func *func, Ref ref);
Ref ir_terminator(const Func *func, int32_t block); /* NO_REF when the block has none yet */
/* Successors incl. the error successor of the last raising instruction; at most 3; returns how many. */
int ir_successors(const Func *func, int32_t block, int32_t out[3]);
void ir_edge_add(Func *func, int32_t from, int32_t to); /* adds `from` to preds of `to` */
/* Removes one edge from `preds` and the matching phi operands; the caller changes the terminator.
 * Parallel edges (a branch with equal targets) stand in `preds` in the order of the targets: the first
 * form removes the first of them, the second the nth. */
void ir_edge_remove(Func *func, int32_t from, int32_t to);
void ir_edge_remove_nth(Func *func, int32_t from, int32_t to, int32_t nth);
/* A fresh block on the edge from -> to, the first of parallel ones: the terminator (or the error
 * successor) of `from` leads to it, it jumps to `to`, phi operands there stay as they are. */
int32_t ir_edge_split(Func *func, int32_t from, int32_t to);
/* Copies the blocks listed (each once, the entry not among them), with their instructions; refs defined
 * inside are renamed, others kept. Edges that leave the set lead where they led, and the phis there get
 * new operands. Edges that enter the set are not copied: the copies of their targets have only
 * predecessors inside, and the caller adds what shall enter (ir_edge_add, then ir_add_arg to each phi).
 * Values of the set that are used outside must go through phis at its exits: call ir_make_loop_closed
 * before. ref_map and block_map (indexed by old ref and old block, with room for insts.len and
 * blocks.len at the call; set to 0 and NO_BLOCK by the callee) tell the copies. */
void ir_clone_blocks(Func *func, const int32_t *blocks, int32_t n, Ref *ref_map,
                     int32_t *block_map);
bool ir_op_is(const Func *func, Ref ref, uint16_t flags);

/* Typed constants; placed in the entry block's head. */
Ref ir_const_int(Func *func, const Type *type, int64_t value);
Ref ir_const_float(Func *func, const Type *type, double value);
const ConstVal *const_int(Arena *arena, int64_t value);
const ConstVal *const_float(Arena *arena, double value);
const ConstVal *const_none(Arena *arena);
const ConstVal *const_bool(Arena *arena, bool value);
const ConstVal *const_str(Arena *arena, Str value);
const ConstVal *const_tuple(Arena *arena, const ConstVal *const *items, int32_t n);

/* -- ir_build.c: a builder with an insertion point and a current span ------------------------- */

typedef struct Builder {
    Func *func;
    int32_t block;
    int32_t at; /* position in the block's list; -1: at the end */
    int32_t span;
    int32_t error; /* error successor given to raising instructions */
} Builder;

Ref b_inst(Builder *b, Op op, const Type *type, const Ref *args, int32_t nargs);
Ref b_op1(Builder *b, Op op, const Type *type, Ref a);
Ref b_op2(Builder *b, Op op, const Type *type, Ref a, Ref c);
Ref b_op3(Builder *b, Op op, const Type *type, Ref a, Ref c, Ref d);
Ref b_phi(Builder *b, const Type *type);
void b_jump(Builder *b, int32_t to); /* adds the edge */
void b_branch(Builder *b, Ref cond, int32_t yes, int32_t no);
void b_return(Builder *b, Ref value);
Ref b_const(Builder *b, const Type *type, const ConstVal *value);
/* b_inst gives `error` to raising instructions and no more: edges and the end of the block are the
 * caller's. After one with an error successor, b_continue adds the edge to it (its phis' operands are
 * the caller's too), jumps to a fresh block and goes on there. Returns that block; without an error
 * successor, or when the last instruction cannot raise, it does nothing and returns b->block. */
int32_t b_continue(Builder *b);

/* -- ir_cfg.c: order, dominators, loops ------------------------------------------------------- */

typedef struct Loop {
    int32_t header, latch; /* latch: NO_BLOCK when there are several */
    int32_t parent;        /* index of the enclosing loop, -1: none */
    int32_t depth;         /* 1: outermost */
    int32_t
        preheader; /* the only block outside that enters, if it does nothing else; or NO_BLOCK */
    Vec(int32_t) blocks; /* all, those of inner loops included; header first */
} Loop;

typedef struct Cfg {
    int32_t n;    /* blocks of the function when computed */
    int32_t *rpo; /* reachable blocks in reverse postorder */
    int32_t nrpo;
    int32_t *rpo_number;       /* -1: unreachable */
    int32_t *idom;             /* NO_BLOCK for the entry and what is unreachable */
    int32_t *loop_of;          /* innermost loop of a block, -1: none */
    Vec(Loop) loops;           /* outer loops before inner ones */
    bool irreducible;          /* a cycle with two entries exists: it is no loop here */
    int32_t *dom_in, *dom_out; /* numbers of a walk of the dominator tree: a dominates b when
                                  in[a] <= in[b] && out[b] <= out[a] */
} Cfg;

void cfg_compute(Cfg *cfg, Arena *arena,
                 const Func *func);                       /* iterative: no recursion on deep CFGs */
bool cfg_dominates(const Cfg *cfg, int32_t a, int32_t b); /* false when one is unreachable */
/* The block from whose entry on a value is there: its own, or, when it has an error successor, the
 * target of the jump behind it (the error successor does not see the value). NO_BLOCK: only as operand
 * of phis in that target, which other edges enter too. */
int32_t cfg_def_block(const Cfg *cfg, const Func *func, Ref ref);
/* May `ref` be an operand of an instruction in `block`, apart from the order inside its own block? */
bool cfg_available(const Cfg *cfg, const Func *func, Ref ref, int32_t block);
/* May `ref` be a phi operand for the edge from -> to? */
bool cfg_available_on_edge(const Cfg *cfg, const Func *func, Ref ref, int32_t from, int32_t to);
/* Marks unreachable blocks as removed and drops their edges. Block numbers stay. */
void cfg_remove_unreachable(Func *func);
/* Edges that leave the loop get exit blocks of their own (all predecessors inside), and each value
 * defined inside and used outside goes through a phi there: loop-closed SSA, which ir_clone_blocks and
 * loop versioning need. Adds blocks and phis; when it returns true, something changed and `cfg` is out of date. */
bool ir_make_loop_closed(Func *func, const Cfg *cfg, int32_t loop);

/* -- ir_print.c, ir_parse.c, ir_verify.c ------------------------------------------------------ */

void ir_print_func(StrBuf *out, const Func *func);
void ir_print_module(StrBuf *out, const Module *module);
/* Text in; reports E0001 and returns NULL on bad text. */
Module *ir_parse_module(Arena *arena, const char *text, DiagList *diags);
/* Every rule of IR.md; adds E0004 and returns false at the first that is broken. `after` names the pass. */
bool ir_verify_func(const Func *func, const char *after, DiagList *diags);
bool ir_verify_module(const Module *module, const char *after, DiagList *diags);

#endif
