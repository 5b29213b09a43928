/* Instructions: from text to operands and modifiers, and the helpers that all decoders use.
 *
 *   @!%p1  setp.lt.and.s32   %p2|%p3,  %r1,  -7,  !%p4;
 *   guard  name.modifiers    pair      slot  int  negated slot
 *
 * One instruction of PTX may become several PtxIns (a guard, a packed half, a vector access).
 */
#include "ptx_parse.h"
#include "ptx_num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Modifiers -------------------------------------------------------------------------------- */

bool ptx_dec_fail(Dec *d, const char *what) {
    return ptx_fail(d->p, d->line, "%s in '%s'", what, d->text);
}

bool ptx_take(Dec *d, const char *mod) {
    for (uint32_t i = 0; i < d->nmods; i++) {
        if (d->taken[i] || strcmp(d->mods[i], mod) != 0) continue;
        return d->taken[i] = true;
    }
    return false;
}

int ptx_take_one(Dec *d, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (ptx_take(d, words[i])) return i;
    return -1;
}

void ptx_take_rest(Dec *d, const char *const *words) {
    while (ptx_take_one(d, words) >= 0) {
    }
}

PtxRnd ptx_take_rnd(Dec *d, bool *integral) {
    static const char *const plain[] = {"rn", "rz", "rm", "rp", "rna", NULL};
    static const char *const whole[] = {"rni", "rzi", "rmi", "rpi", NULL};
    int which = ptx_take_one(d, plain);
    *integral = false;
    if (which >= 0) return (PtxRnd)(RND_n + which);
    which = ptx_take_one(d, whole);
    *integral = which >= 0;
    return which >= 0 ? (PtxRnd)(RND_n + which) : RND_none;
}

/* Cuts the mnemonic at its dots and sets the types apart. */
static bool split(Dec *d, char *copy) {
    d->name = copy;
    for (char *at = strchr(copy, '.'); at; at = strchr(at, '.')) {
        *at++ = 0;
        PtxType type;
        char *dot = strchr(at, '.');
        if (dot) *dot = 0;
        type = ptx_type_find(at);
        if (type != PT_none) {
            if (d->ntypes == 4) return ptx_dec_fail(d, "Too many types");
            d->types[d->ntypes++] = type;
        } else {
            if (d->nmods == MAX_MODS) return ptx_dec_fail(d, "Too many modifiers");
            d->mods[d->nmods++] = at;
        }
        if (dot) *dot = '.';
        if (!dot) break;
    }
    for (uint32_t i = 0; i < d->nmods; i++) {
        char *dot = strchr((char *)(uintptr_t)d->mods[i], '.');
        if (dot) *dot = 0;
    }
    return true;
}

/* -- Operands --------------------------------------------------------------------------------- */

static bool literal(Dec *d, Operand *o) {
    Lexer *lex = &d->p->lex;
    bool minus = ptx_accept(d->p, '-');
    const Token *t = &lex->token;
    if (t->kind != TK_int && t->kind != TK_f32 && t->kind != TK_f64)
        return ptx_dec_fail(d, "Operand expected");
    o->kind = t->kind == TK_int ? OK_int : OK_float;
    o->type = t->kind == TK_int ? PT_s64 : t->kind == TK_f32 ? PT_f32 : PT_f64;
    o->value = t->value;
    if (minus && t->kind == TK_int) o->value = 0 - t->value;
    if (minus && t->kind == TK_f32) o->value ^= UINT64_C(0x80000000);
    if (minus && t->kind == TK_f64) o->value ^= UINT64_C(0x8000000000000000);
    ptx_lex_next(lex);
    return true;
}

/* A word: a register, a special register, a symbol, `_`, or a label. */
static bool named(Dec *d, Operand *o) {
    Parser *p = d->p;
    char *name = ptx_copy(p, &p->lex.token);
    ptx_lex_next(&p->lex);
    o->name = name;
    if (strcmp(name, "_") == 0) {
        o->kind = OK_sink;
        o->slot = SLOT_SINK;
        return true;
    }
    const Sym *sym = ptx_find(p, name);
    if (!sym) {
        o->kind = OK_slot;
        o->type = PT_none;
        o->slot = ptx_special(p, name);
        if (o->slot == 0) o->kind = OK_symbol;
        return true;
    }
    o->kind = sym->kind == SYM_reg ? OK_slot : OK_symbol;
    o->slot = sym->at;
    o->type = sym->type;
    o->sym = *sym;
    o->has_sym = o->kind == OK_symbol;
    return true;
}

static bool vector(Dec *d, Operand *o) {
    o->kind = OK_vector;
    do {
        Operand lane = {0};
        bool word = d->p->lex.token.kind == TK_word;
        if (o->nlanes == 8) return ptx_dec_fail(d, "Vector too long");
        if (!(word ? named(d, &lane) : literal(d, &lane))) return false;
        if (lane.kind == OK_symbol) return ptx_dec_fail(d, "Register expected");
        bool constant = lane.kind == OK_int || lane.kind == OK_float;
        o->lanes[o->nlanes++] = constant ? ptx_const(d->p, lane.value) : lane.slot;
    } while (ptx_accept(d->p, ','));
    return ptx_expect(d->p, '}');
}

/* [base], [base+8], [base+-8], [symbol+8], [8] */
static bool address(Dec *d, Operand *o) {
    Parser *p = d->p;
    if (p->lex.token.kind == TK_word) {
        if (!named(d, o)) return false;
        if (o->kind == OK_symbol && !o->has_sym)
            return ptx_fail(p, d->line, "Unknown symbol '%s'", o->name);
    } else {
        if (!literal(d, o)) return false;
        o->slot = SLOT_ZERO;
    }
    uint64_t absolute = o->kind == OK_int ? o->value : 0;
    int64_t offset = 0;
    o->kind = OK_address;
    bool plus = ptx_accept(p, '+');
    if (plus || ptx_lex_punct(&p->lex, '-')) {
        if (!ptx_int(p, &offset)) return false;
    }
    o->value = absolute + (uint64_t)offset;
    if (ptx_lex_punct(&p->lex, ',')) return ptx_dec_fail(d, "Textures are not supported");
    return ptx_expect(p, ']');
}

static bool operand(Dec *d, Operand *o) {
    Parser *p = d->p;
    if (ptx_accept(p, '{')) return vector(d, o);
    if (ptx_accept(p, '[')) return address(d, o);
    o->negated = ptx_accept(p, '!');
    if (p->lex.token.kind != TK_word) return literal(d, o);
    if (!named(d, o)) return false;
    if (!ptx_accept(p, '|')) return true;
    Operand second = {0};
    if (p->lex.token.kind != TK_word || !named(d, &second))
        return ptx_dec_fail(d, "Register expected");
    o->pair = second.slot + 1;
    return true;
}

static bool operands(Dec *d) {
    Parser *p = d->p;
    while (!ptx_lex_punct(&p->lex, ';')) {
        if (d->nops == MAX_OPERANDS) return ptx_dec_fail(d, "Too many operands");
        if (!operand(d, &d->ops[d->nops++])) return false;
        if (!ptx_accept(p, ',')) break;
    }
    return ptx_expect(p, ';');
}

/* -- Slots of operands ------------------------------------------------------------------------ */

uint32_t ptx_temp(Dec *d) {
    return ptx_slot(d->p, 0);
}

PtxIns *ptx_dec_emit(Dec *d, PtxOp op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
    PtxIns *ins = ptx_emit(d->p, op, dst, a, b, c);
    ins->line = d->line;
    return ins;
}

/* The address of a symbol as a value: in its own space's terms. */
static uint32_t symbol_slot(Dec *d, const Sym *sym, const char *name) {
    static const uint32_t bases[] = {
        [SYM_local] = SLOT_LOCAL, [SYM_formal] = SLOT_PARAM, [SYM_call] = SLOT_CALL};
    switch (sym->kind) {
    case SYM_func: return ptx_const(d->p, PTX_FUNC_TAG + sym->func->id);
    case SYM_local:
    case SYM_formal:
    case SYM_call: {
        uint32_t slot = ptx_temp(d);
        ptx_dec_emit(d, OP_add_u64, slot, bases[sym->kind], ptx_const(d->p, sym->at), 0);
        return slot;
    }
    case SYM_var: {
        const PtxVar *var = &d->p->module->vars[sym->at];
        if (var->space == PS_shared) ptx_use_shared(d->p, sym->at);
        return var->dynamic ? ptx_special(d->p, "%dynamic_base") : ptx_const(d->p, var->address);
    }
    default: ptx_fail(d->p, d->line, "'%s' is not a value", name); return SLOT_ZERO;
    }
}

/* A literal in the bits of the type that the instruction reads. */
static uint64_t literal_bits(const Operand *o, PtxType type) {
    if (o->kind == OK_float && o->type == PT_f32 && type == PT_f64)
        return ptx_bits64(ptx_f32(o->value));
    if (o->kind == OK_float && o->type == PT_f64 && type == PT_f32)
        return ptx_bits32((float)ptx_f64(o->value));
    return o->value;
}

/* May an instruction of that type read such a register? The same width, as the vendor's assembler has
 * it; only stores and conversions may read the low part of a wider one. */
static bool fits(const Dec *d, PtxType reg, PtxType type) {
    unsigned have = ptx_type_size(reg), need = ptx_type_size(type);
    bool part = strcmp(d->name, "st") == 0 || strcmp(d->name, "cvt") == 0;
    if (reg == PT_none || type == PT_none) return true; /* special registers */
    if ((reg == PT_pred) != (type == PT_pred)) return false;
    return have == need || (part && have > need);
}

/* The slot to read operand `index` from. Reports and answers SLOT_ZERO where there is none. */
uint32_t ptx_src(Dec *d, uint32_t index, PtxType type) {
    Operand *o = &d->ops[index];
    if (index >= d->nops) {
        ptx_dec_fail(d, "Operand missing");
        return SLOT_ZERO;
    }
    switch (o->kind) {
    case OK_int:
    case OK_float: return ptx_const(d->p, literal_bits(o, type));
    case OK_symbol:
        if (o->has_sym) return symbol_slot(d, &o->sym, o->name);
        ptx_fail(d->p, d->line, "Unknown symbol '%s'", o->name);
        return SLOT_ZERO;
    case OK_slot: break;
    default: ptx_dec_fail(d, "Wrong kind of operand"); return SLOT_ZERO;
    }
    if (!fits(d, o->type, type))
        ptx_fail(d->p, d->line, "Arguments mismatch for instruction '%s': '%s' is .%s", d->text,
                 o->name, ptx_type_name(o->type));
    if (!o->negated) return o->slot;
    uint32_t slot = ptx_temp(d);
    ptx_dec_emit(d, OP_not_b1, slot, o->slot, 0, 0);
    return slot;
}

uint32_t ptx_dst(Dec *d, uint32_t index) {
    const Operand *o = &d->ops[index];
    if (index < d->nops && (o->kind == OK_sink || (o->kind == OK_slot && o->has_sym == false))) {
        if (o->kind == OK_sink || o->type != PT_none) return o->slot;
    }
    ptx_dec_fail(d, "Destination register expected");
    return SLOT_SINK;
}

/* -- Rows of ptx_ops.def ---------------------------------------------------------------------- */

typedef enum OpClass { CLASS_IW, CLASS_IS, CLASS_BW, CLASS_FA, CLASS_FP } OpClass;

#define FIRST_IW(n) OP_##n##_u16
#define FIRST_IS(n) OP_##n##_u16
#define FIRST_BW(n) OP_##n##_b1
#define FIRST_FA(n) OP_##n##_f32
#define FIRST_FP(n) OP_##n##_f32

static const struct {
    const char *name;
    OpClass class;
    PtxOp first;
} op_rows[] = {
#define OP(name, cls, res, expr) {#name, CLASS_##cls, FIRST_##cls(name)},
#include "ptx_ops.def"
#undef OP
};

/* Where a type stands within a class, or -1. */
static int class_index(OpClass class, PtxType type) {
    unsigned size = ptx_type_size(type);
    int width = size == 2 ? 0 : size == 4 ? 1 : size == 8 ? 2 : -1;
    switch (class) {
    case CLASS_IW: return ptx_type_float(type) ? -1 : width;
    case CLASS_IS:
        if (width < 0 || ptx_type_float(type)) return -1;
        return width + (ptx_type_signed(type) ? 3 : 0);
    case CLASS_BW: return type == PT_pred ? 0 : width < 0 ? -1 : width + 1;
    default: break;
    }
    if (type == PT_f32 || type == PT_f64) return type == PT_f64;
    if (class == CLASS_FA && (type == PT_f16 || type == PT_bf16)) return 2 + (type == PT_bf16);
    return -1;
}

PtxOp ptx_variant(Dec *d, const char *row, PtxType type) {
    for (unsigned i = 0; i < sizeof op_rows / sizeof *op_rows; i++) {
        if (strcmp(op_rows[i].name, row) != 0) continue;
        int index = class_index(op_rows[i].class, type);
        if (index >= 0) return (PtxOp)((int)op_rows[i].first + index);
        break;
    }
    ptx_dec_fail(d, "Unexpected instruction types");
    return OP_nop;
}

/* -- Statements ------------------------------------------------------------------------------- */

static const DecRow *find_row(const char *name) {
    const DecRow *const tables[] = {ptx_rows_arith, ptx_rows_memory, ptx_rows_control};
    for (unsigned t = 0; t < 3; t++)
        for (const DecRow *row = tables[t]; row->name; row++)
            if (strcmp(row->name, name) == 0) return row;
    return NULL;
}

static bool instruction(Parser *p) {
    Dec d = {.p = p, .line = p->lex.token.line};
    if (p->lex.token.kind != TK_word)
        return ptx_fail(p, d.line, "Parsing error near '%.*s': syntax error",
                        (int)p->lex.token.length, p->lex.token.text);
    d.text = ptx_copy(p, &p->lex.token);
    char *copy = ptx_copy(p, &p->lex.token);
    ptx_lex_next(&p->lex);
    if (!split(&d, copy)) return false;
    const DecRow *row = find_row(d.name);
    if (!row) return ptx_fail(p, d.line, "Not a name of any known instruction: '%s'", d.text);
    /* A call's operands are not like the others'. */
    if (strcmp(d.name, "call") != 0 && !operands(&d)) return false;
    if (!row->decode(&d) || p->module->failed) return false;
    for (uint32_t i = 0; i < d.nmods; i++)
        if (!d.taken[i])
            return ptx_fail(p, d.line, "Illegal modifier '.%s' for instruction '%s'", d.mods[i],
                            d.text);
    return true;
}

/* A guarded instruction is skipped over, whatever it expands to. */
static bool guarded(Parser *p) {
    bool negated = ptx_accept(p, '!');
    uint32_t line = p->lex.token.line;
    if (p->lex.token.kind != TK_word) return ptx_fail(p, line, "Predicate expected");
    char *name = ptx_copy(p, &p->lex.token);
    const Sym *sym = ptx_find(p, name);
    if (!sym || sym->kind != SYM_reg || sym->type != PT_pred)
        return ptx_fail(p, line, "'%s' is not a predicate register", name);
    uint32_t slot = sym->at;
    ptx_lex_next(&p->lex);
    uint32_t at = p->fn->ncode;
    PtxIns *skip = ptx_emit(p, OP_skip, 0, slot, 0, 0);
    skip->aux = negated;
    skip->line = line;
    if (!instruction(p)) return false;
    PtxIns *code = p->fn->code;
    code[at].imm = p->fn->ncode - at - 1;
    if (code[at].imm != 1 || code[at + 1].op != OP_bra) return true;
    /* A guarded branch becomes one instruction; its label's fixup moves with it. */
    code[at] = (PtxIns){.op = OP_bra_if, .aux = negated, .s = {slot}, .line = line};
    p->fixups[p->nfixups - 1].ins = at;
    p->fn->ncode = at + 1;
    return true;
}

static bool targets(Parser *p) {
    PtxFunc *fn = p->fn;
    PtxArena **arena = &p->module->arena;
    uint32_t labels[1024], count = 0;
    do {
        if (p->lex.token.kind != TK_word || count == 1024)
            return ptx_fail(p, p->lex.token.line, "Bad .branchtargets");
        labels[count++] = ptx_label(p, ptx_copy(p, &p->lex.token), p->lex.token.line);
        ptx_lex_next(&p->lex);
    } while (ptx_accept(p, ','));
    fn->tables = ptx_grow(arena, fn->tables, fn->ntables, &fn->cap_tables, sizeof *fn->tables);
    PtxTable *table = &fn->tables[fn->ntables++];
    *table = (PtxTable){count, ptx_alloc(arena, count * sizeof(int64_t))};
    for (uint32_t i = 0; i < count; i++)
        ptx_fixup(p, (Fixup){.label = labels[i], .table = &table->targets[i]});
    return ptx_expect(p, ';');
}

/* Behind `name:`; a table of targets and a prototype have names like labels. */
static bool labelled(Parser *p, char *name, uint32_t line) {
    if (ptx_lex_is(&p->lex, ".branchtargets")) {
        ptx_lex_next(&p->lex);
        ptx_define(p, (Sym){.name = name, .kind = SYM_table, .at = p->fn->ntables});
        return targets(p);
    }
    if (ptx_lex_is(&p->lex, ".callprototype")) {
        while (!ptx_lex_punct(&p->lex, ';') && p->lex.token.kind != TK_end)
            ptx_lex_next(&p->lex);
        return ptx_expect(p, ';');
    }
    uint32_t label = ptx_label(p, name, line);
    if (p->labels[label].at >= 0)
        return ptx_fail(p, line, "Duplicate definition of label '%s'", name);
    p->labels[label].at = p->fn->ncode;
    return true;
}

bool ptx_statement(Parser *p) {
    if (ptx_accept(p, ';')) return true;
    if (ptx_accept(p, '@')) return guarded(p);
    if (p->lex.token.kind == TK_word) {
        Lexer saved = p->lex;
        uint32_t line = p->lex.token.line;
        ptx_lex_next(&p->lex);
        if (ptx_lex_punct(&p->lex, ':')) {
            Token word = saved.token;
            ptx_lex_next(&p->lex);
            return labelled(p, ptx_copy(p, &word), line);
        }
        p->lex = saved;
    }
    return instruction(p);
}
