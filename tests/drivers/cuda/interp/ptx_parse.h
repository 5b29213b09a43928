/* What the parser of modules (ptx_parse.c) and the decoders of instructions (ptx_decode*.c) share. */
#ifndef FAKECUDA_PTX_PARSE_H
#define FAKECUDA_PTX_PARSE_H

#include "ptx.h"
#include "ptx_lex.h"

typedef enum SymKind {
    SYM_reg,
    SYM_range,  /* %r<40>: forty registers from one slot on */
    SYM_var,    /* of the module: index in PtxModule.vars */
    SYM_local,  /* offset in the function's local variables */
    SYM_formal, /* offset in the parameter area */
    SYM_call,   /* offset in the call area */
    SYM_func,
    SYM_table /* .branchtargets */
} SymKind;

typedef struct Sym {
    const char *name;
    SymKind kind;
    PtxType type;
    uint32_t at;   /* slot, offset or index */
    uint32_t size; /* bytes; of a range, the count */
    uint32_t align;
    PtxFunc *func;
} Sym;

typedef struct Label {
    const char *name;
    int64_t at; /* index of an instruction, or -1 */
    uint32_t line;
} Label;

/* A place that waits for a label: an instruction's imm, or an entry of a table. */
typedef struct Fixup {
    uint32_t label;
    uint32_t ins;
    int64_t *table;
} Fixup;

typedef struct Parser {
    const char *text; /* the whole, for messages */
    Lexer lex;
    PtxModule *module;
    const PtxLoader *loader;
    PtxLoadStatus status;
    PtxFunc *fn;
    Sym *syms;
    uint32_t nsyms, cap_syms;
    Sym found;
    uint32_t scope[32];
    uint32_t depth;
    uint32_t consts[32]; /* slots of the newest constants of const_fn */
    uint32_t nconsts;
    const PtxFunc *const_fn;
    Label *labels;
    uint32_t nlabels, cap_labels;
    Fixup *fixups;
    uint32_t nfixups, cap_fixups;
} Parser;

/* ptx_parse.c. Functions that return bool have reported when they return false. */
bool ptx_fail(Parser *p, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ptx_expect(Parser *p, char c);
bool ptx_accept(Parser *p, char c);
char *ptx_copy(Parser *p, const Token *token);
bool ptx_int(Parser *p, int64_t *out);
Sym *ptx_find(Parser *p, const char *name);
Sym *ptx_define(Parser *p, Sym sym);
uint32_t ptx_label(Parser *p, const char *name, uint32_t line);
void ptx_fixup(Parser *p, Fixup fixup);

/* -- Decoding --------------------------------------------------------------------------------- */

typedef enum OperandKind {
    OK_slot,
    OK_int,
    OK_float,
    OK_symbol,
    OK_address,
    OK_vector,
    OK_sink
} OperandKind;

typedef struct Operand {
    OperandKind kind;
    uint32_t slot;  /* of a register; of an address: its base */
    PtxType type;   /* of the register or literal */
    uint64_t value; /* literal bits; offset of an address */
    bool negated;   /* !%p */
    Sym sym;        /* OK_symbol; of an address, where base is a symbol */
    bool has_sym;
    uint32_t pair;   /* p|q: q's slot + 1, or 0 */
    uint32_t nlanes; /* of a vector */
    uint32_t lanes[8];
    const char *name; /* a name that is no symbol yet: a label */
} Operand;

enum { MAX_MODS = 16, MAX_OPERANDS = 8 };

/* One instruction on its way from text to PtxIns. Each decoder takes the modifiers it knows; one that
 * stays untaken makes the instruction an error, so nothing is ever silently ignored. */
typedef struct Dec {
    Parser *p;
    uint32_t line;
    char *text; /* mnemonic and modifiers, as written */
    const char *name;
    const char *mods[MAX_MODS];
    bool taken[MAX_MODS];
    uint32_t nmods;
    PtxType types[4];
    uint32_t ntypes;
    Operand ops[MAX_OPERANDS];
    uint32_t nops;
} Dec;

/* ptx_decode.c */
bool ptx_statement(Parser *p);
bool ptx_dec_fail(Dec *d, const char *what);
bool ptx_take(Dec *d, const char *mod);
/* Index of the first of the words that the instruction carries, or -1. */
int ptx_take_one(Dec *d, const char *const *words);
void ptx_take_rest(Dec *d, const char *const *words);
PtxRnd ptx_take_rnd(Dec *d, bool *integral);
PtxIns *ptx_dec_emit(Dec *d, PtxOp op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c);
uint32_t ptx_src(Dec *d, uint32_t index, PtxType type);
uint32_t ptx_dst(Dec *d, uint32_t index);
uint32_t ptx_temp(Dec *d);
/* The opcode of a row of ptx_ops.def at a type, or OP_nop after reporting. */
PtxOp ptx_variant(Dec *d, const char *row, PtxType type);

/* ptx_decode_*.c: rows of decoders, by the first word of the instruction */
typedef struct DecRow {
    const char *name;
    bool (*decode)(Dec *d);
} DecRow;
extern const DecRow ptx_rows_arith[], ptx_rows_memory[], ptx_rows_control[];

/* ptx_slots.c: slots of the current function */
uint32_t ptx_slot(Parser *p, uint64_t initial);
uint32_t ptx_const(Parser *p, uint64_t value);
uint32_t ptx_special(Parser *p, const char *name);
PtxIns *ptx_emit(Parser *p, PtxOp op, uint32_t d, uint32_t a, uint32_t b, uint32_t c);
void ptx_use_shared(Parser *p, uint32_t var);

#endif
