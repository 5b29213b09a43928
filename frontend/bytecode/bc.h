/* bc.h - what the files of this folder share: code object -> abstract operations -> blocks -> SSA.
 *
 * The stages, in order:
 *   decode.c         bytes -> a flat list of abstract operations (pyop.def); versions end here
 *   exctab.c         the exception table -> which code units a handler covers
 *   cfg.c            operations -> reachable blocks, and which locals may be unassigned where
 *   ssa.c            blocks -> IR, each translated once in isolation, then joined by phis
 *   handlers*.c      one handler per abstract operation; handlers_try.c: where exceptions lead
 *   closures.c       functions that are made, and what they take along
 *   refusals.c       going on behind what is refused, for f.explain() */
#ifndef QUERN_BC_H
#define QUERN_BC_H

#include "frontend/base/bits.h"
#include "frontend/bytecode/code.h"

/* -- abstract operations ---------------------------------------------------------------------- */

typedef enum PyOp {
#define PYOP(name, pops, pops_each, pushes, pushes_each, argument, ends) PY_##name,
#include "frontend/bytecode/pyop.def"
#undef PYOP
    PY_COUNT
} PyOp;

typedef enum PyArg {
    ARG_NONE,
    ARG_LOCAL,
    ARG_CONST,
    ARG_NAME,
    ARG_INT,
    ARG_DEPTH,
    ARG_COUNT,
    ARG_BITS,
    ARG_STARRED,
    ARG_FLAG,
    ARG_OPERATOR,
    ARG_TARGET,
    ARG_OTHER
} PyArg;

typedef enum PyEnd { END_FALLS, END_JUMPS, END_BRANCHES, END_LEAVES } PyEnd;

typedef struct PyOpInfo {
    const char *name;
    int8_t pops, pops_each, pushes, pushes_each;
    uint8_t argument; /* PyArg */
    uint8_t ends;     /* PyEnd */
} PyOpInfo;
extern const PyOpInfo bc_op_info[PY_COUNT];

enum { IN_PLACE = 256 }; /* added to the operator in the argument of PY_binary */

typedef struct PyInst {
    int32_t op;   /* PyOp */
    int32_t arg;  /* TARGET: index of a PyInst, or -1 for a jump to nowhere */
    int32_t unit; /* code unit of the instruction it comes from */
} PyInst;

/* A range of code units and its handler, from co_exceptiontable. */
typedef struct PyHandler {
    int32_t start, end, target; /* code units */
    int32_t depth;
    bool lasti;
} PyHandler;

typedef struct Decoded {
    const CodeUnit *code;
    bool all; /* every refusal is wanted: instructions go on behind one where that is known */
    int32_t nunits;
    Vec(PyInst) insts;
    int32_t *inst_of_unit; /* nunits + 1 entries; -1 where no instruction starts */
    Vec(PyHandler) handlers;
} Decoded;

/* -- decode.c --------------------------------------------------------------------------------- */

enum { VERSION_FIRST = 311, VERSION_LAST = 314 };
/* CPython's name of an opcode of that version; NULL when it has none. */
const char *bc_opcode_name(int32_t version, int opcode);
/* 0: no such instruction, 1: mapped, 2: known and refused, 3: known, and nothing to do. */
int bc_opcode_status(int32_t version, int opcode);
int bc_opcode_caches(int32_t version, int opcode);
/* EXTENDED_ARG of that version, or -1. */
int bc_opcode_extended_arg(int32_t version);
/* The phrase of a refused instruction: `arg` of PY_refused. */
const char *bc_refused_phrase(int32_t version, int32_t arg);
/* What the argument of an instruction counts (pops_each, pushes_each). */
int32_t bc_values_each(const PyInst *inst);
/* The builtin that load_common pushes; NULL when there is none. */
const char *bc_common_name(int32_t version, int32_t arg);

/* Reports E0103 or E0104 and returns false on what cannot be a code object. */
bool bc_decode(Decoded *out, Arena *arena, const CodeUnit *code, bool all, DiagList *diags);

/* -- exctab.c --------------------------------------------------------------------------------- */

/* Fills handlers: in order, without overlap, as CPython writes them. */
bool bc_exception_table(Decoded *decoded, Arena *arena, DiagList *diags);
/* The handler of an instruction, or NULL. */
const PyHandler *bc_handler_of(const Decoded *decoded, int32_t unit);

/* -- cfg.c ------------------------------------------------------------------------------------ */

/* One place of the operand stack at a block's start. */
typedef enum SlotKind {
    SLOT_VALUE,
    SLOT_NULL, /* CPython's NULL, or the marker of an exhausted loop: has no value */
    SLOT_ITER, /* made by get_iter: three variables, see STACK_VARS */
    SLOT_DICT  /* a dict display: keywords of a call, or a value for who takes it as one */
} SlotKind;

/* An item of a dict display. Never changed: a display that grows has a new newest item. */
typedef struct DictItem {
    const struct DictItem *before;
    int32_t n; /* this and those before */
    Str name;  /* of a constant string */
    Ref key, value;
} DictItem;

typedef struct Slot {
    int32_t kind;             /* SlotKind */
    int32_t origin;           /* SLOT_DICT: code unit of the display */
    const ConstVal *constant; /* SLOT_VALUE: the constant string it is, where that is known */
    Ref list;                 /* SLOT_VALUE: the list display it is so far, where that is known */
    Ref tail;                 /* SLOT_VALUE: the tuple of its last items, which it alone has */
    int32_t pieces; /* SLOT_VALUE: full pieces of its items, before the tail: see append_piece */
    /* SLOT_DICT: all its keys are constant strings, so that a call can take it; its newest item. */
    bool named;
    bool grown;  /* SLOT_DICT: its variable lacks the last items */
    bool merged; /* SLOT_DICT: only its variable has all of it */
    const DictItem *items;
    bool reported; /* SLOT_VALUE: the result of something refused, where that is known */
    bool unbound;  /* SLOT_VALUE: it may be that of a local without value: load_and_clear */
    bool function; /* SLOT_VALUE: of a comprehension, which has read its closure variables */
} Slot;

typedef struct PyBlock {
    int32_t first, end; /* instructions first .. end - 1 */
    bool reachable, known, done;
    int32_t npreds;  /* edges from reachable blocks */
    bool is_handler; /* only exceptions lead here */
    bool lasti;      /* of a handler: the place of the instruction lies below the exception */
    const PyHandler *protected_by; /* NULL: nothing */
    int32_t handler;               /* block that an exception leads to, or -1 */
    int32_t ir_block;              /* NO_BLOCK while not reachable */
    int32_t depth;                 /* of the stack at its start, once `known` */
    Slot *stack;
    Bits unbound; /* locals that may be unassigned at its start */
} PyBlock;

typedef struct PyCfg {
    PyBlock *blocks; /* in the order of the bytecode */
    int32_t nblocks;
    int32_t *block_of_inst; /* at a block's first instruction its index, elsewhere -1 */
    bool has_handlers;
} PyCfg;

/* The successors of a block but its handler: as many as returned, at most 2. The last instruction's target is first. */
int bc_successors(const PyCfg *cfg, const Decoded *decoded, const PyBlock *block, int32_t out[2]);
bool bc_cfg(PyCfg *cfg, Arena *arena, const Decoded *decoded, DiagList *diags);

/* -- ssa.c ------------------------------------------------------------------------------------ */

/* A value read before the block assigned it, or the last value the block assigned. */
typedef struct Access {
    int32_t var, block; /* block of the IR */
    Ref ref;
} Access;
typedef Vec(Access) AccessList;

/* A stack slot is three SSA variables: the value (or iteration), and of an iteration whether there is
 * another item, and the counter. Locals are variables 0 .. nlocals - 1, the slots follow. */
enum { STACK_VARS = 3, VAR_VALUE = 0, VAR_MORE = 1, VAR_COUNTER = 2 };

typedef struct Closures Closures; /* closures.c */

typedef struct SsaBuild {
    Module *module;
    Func *func;
    Arena *arena;
    const CodeUnit *code;
    const Decoded *decoded;
    PyCfg *cfg;
    Builder ir;
    int32_t inst; /* being translated */
    /* the stack */
    Slot *stack;
    int32_t depth, limit;
    bool lost;          /* a value lost by this instruction has been refused */
    bool malformed;     /* said so: nothing goes on behind that */
    int32_t first_diag; /* of this function */
    const PyHandler
        *handler; /* of the block being translated; NULL: an exception leaves the function */
    const ConstVal *kw_names;            /* of a kw_names whose call has not come yet */
    int32_t conversion;                  /* for the format_value that follows */
    bool displays_used, displays_unsure; /* what slots know of displays: see merge_slot in ssa.c */
    /* variables */
    int32_t nvars, nfree;
    Ref *current; /* a variable's value now, when current_in == block + 1 */
    int32_t *current_in;
    int32_t *written_in;  /* block + 1 of the last assignment */
    Vec(int32_t) written; /* in this block */
    Bits unbound;         /* locals that may be unassigned now */
    AccessList reads, writes;
    Ref unbound_ref;     /* `unbound`, made on first need */
    Closures *closures;  /* made on first need */
    int32_t *cells;      /* by local: 0, or the code unit + 1 for whose sake it is a cell */
    bool kept;           /* functions may be kept while variables of theirs are assigned */
    bool again;          /* one more local became a cell: all from the start */
    int32_t handled_var; /* variable: the exception that is being handled, or none */
    Vec(Ref) phis;
    Bits ready;        /* blocks whose stack is known and which are not translated */
    int32_t span_unit; /* the unit that span `ir.span` was made for, -1: none */
} SsaBuild;

typedef bool (*PyHandlerFn)(SsaBuild *b, int32_t arg);
extern const PyHandlerFn bc_handlers[PY_COUNT]; /* handlers.c */

Ref bc_read(SsaBuild *b, int32_t var);
void bc_write(SsaBuild *b, int32_t var, Ref value);
/* The debug name of a value that goes into local `var`; the first name stays. */
void bc_name_value(SsaBuild *b, Ref value, int32_t var);
/* `value` as local `var` holds it: in its declared type, where it has one. */
Ref bc_declared(SsaBuild *b, Ref value, int32_t var);
/* The value of an unassigned local. */
Ref bc_unbound(SsaBuild *b);
/* The stack as it is now is what block `to` (of the PyCfg) starts with. */
bool bc_flow(SsaBuild *b, int32_t to);
bool bc_flow_raised(SsaBuild *b, int32_t to); /* of a handler */
/* In front of a jump to that block: the display that ends here is a value where other paths lead there, too. */
void bc_end_display(SsaBuild *b, int32_t to);
/* Diagnostics at the current instruction, or at the code unit given. Return false. Where all refusals are
 * wanted, a place has one. */
bool bc_malformed(SsaBuild *b, const char *why);
bool bc_unsupported(SsaBuild *b, const char *what);
Span bc_span(const CodeUnit *code, int32_t unit);

void bc_end_block(SsaBuild *b);

/* -- refusals.c: where all refusals are wanted ------------------------------------------------- */

/* The end of a block behind which control does not come back. */
bool bc_leave_reported(SsaBuild *b);
bool bc_told_here(const SsaBuild *b, const Span *span);
/* The last word: nothing is told twice. */
void bc_end_refusals(SsaBuild *b);

/* -- phis.c ----------------------------------------------------------------------------------- */

/* Joins the translated blocks: phis where values meet, reads replaced by what reaches them, dead
 * values removed. */
bool bc_join(SsaBuild *b);

/* -- handlers_try.c: exceptions and their handlers -------------------------------------------- */

/* `ref`, just emitted, may raise: where a handler protects it, the block ends and its successors are the handler, with
 * the part of the stack that it wants and the variables as they are now, and a new block. */
void bc_may_raise(SsaBuild *b, Ref ref);
bool bc_raise_again(SsaBuild *b, Ref exception);
/* What a handler finds on the stack, made at the start of its block. */
void bc_start_handler(SsaBuild *b, const PyBlock *block);

/* -- closures.c: functions that are made --------------------------------------------------------- */

/* Takes `parts` (a set, one value each) from the stack and pushes the function. */
bool bc_push_function(SsaBuild *b, const ConstVal *code, int32_t parts);
bool bc_push_comprehension(SsaBuild *b, const ConstVal *code, int32_t parts);

/* -- handlers_flow.c: jumps, loops, calls ------------------------------------------------------ */

#define PYOP(name, pops, pops_each, pushes, pushes_each, argument, ends)                           \
    bool bc_h_##name(SsaBuild *b, int32_t arg);
#include "frontend/bytecode/pyop.def"
#undef PYOP

/* -- helpers of the handlers ------------------------------------------------------------------- */

static inline int32_t slot_var(const SsaBuild *b, int32_t slot) {
    return b->code->nlocals + STACK_VARS * slot;
}
void bc_push(SsaBuild *b, Ref value);
/* A dict display as a value. */
Ref bc_dict_value(SsaBuild *b, int32_t place);
void bc_push_kind(SsaBuild *b, SlotKind kind);
/* A value that nothing is known of, because something has been refused (refusals.c). */
void bc_push_reported(SsaBuild *b);
Ref bc_reported(SsaBuild *b);
/* The top value, taken; false when the slot holds none. */
bool bc_pop(SsaBuild *b, Ref *value);
/* The n top values, taken, in the order they were pushed. */
bool bc_pop_many(SsaBuild *b, Ref *values, int32_t n);
Ref bc_emit(SsaBuild *b, Op op, const Ref *args, int32_t nargs);
Ref bc_emit_const(SsaBuild *b, const ConstVal *value);
/* The same; a constant slice becomes the op of a computed one. */
Ref bc_emit_value(SsaBuild *b, const ConstVal *value);
Ref bc_emit_truth(SsaBuild *b, Ref value);
/* What Python calls so, whatever the names of the program mean; and a call of it, or of a primitive, with at most four arguments. */
Ref bc_builtin(SsaBuild *b, const char *name);
Ref bc_call_builtin(SsaBuild *b, const char *name, const Ref *args, int32_t n);
/* What the function has of a variable of one around it: a cell, or a value. */
Ref bc_shared(SsaBuild *b, int32_t local);
/* The local has to be a cell; false always: the function is translated once more. */
bool bc_want_cell(SsaBuild *b, int32_t local);
int32_t bc_span_of(SsaBuild *b, int32_t unit); /* as a span of the function */
const Str *bc_intern(SsaBuild *b, Str name);

#endif
