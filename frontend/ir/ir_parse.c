/* ir_parse.c - reads the text form of ir_print.c back. See IR.md for the grammar.
 *
 * An instruction written %n becomes instruction n; those without a value get the numbers behind the
 * largest one written, so that printing again gives the same text. Two conveniences for tests written
 * by hand: a block without `preds(...)` gets its predecessors from the edges, and phi operands may stand
 * in any order of their blocks. */
#include "frontend/ir/ir_lex.h"

#include <stdlib.h>

/* What can only be settled when all blocks of the function are read. */
typedef struct PhiText {
    Ref phi;
    int32_t line;
    Vec(int32_t) labels; /* NO_BLOCK where none was written */
} PhiText;

typedef struct CallText {
    Func *func;
    Ref call;
    int32_t line;
    Str callee;
} CallText;

typedef struct Parser {
    Lexer x;
    Arena *arena;
    Func *func;
    int32_t block;
    Vec(PhiText) phis;
    Vec(CallText) calls;
    Vec(int32_t) ref_line;   /* where an instruction is used first */
    Vec(int32_t) block_line; /* where a block is used first */
    Vec(bool) has_preds;
} Parser;

/* -- references ------------------------------------------------------------------------------ */

static bool parse_ref(Parser *p, Ref *out) {
    if (!lex_accept(&p->x, '%')) return lex_fail(&p->x, "a value is expected");
    if (!lex_number(&p->x, 1, out)) return false;
    if (*out >= p->ref_line.len) vec_resize(p->arena, &p->ref_line, *out + 1);
    if (p->ref_line.items[*out] == 0) p->ref_line.items[*out] = p->x.line;
    return true;
}

static bool parse_block_name(Parser *p, int32_t *out) {
    if (!lex_accept(&p->x, 'b') || *p->x.p < '0' || *p->x.p > '9')
        return lex_fail(&p->x, "a block is expected");
    if (!lex_number(&p->x, 0, out)) return false;
    while (p->func->blocks.len <= *out) {
        int32_t block = ir_block_new(p->func);
        p->func->blocks.items[block].removed = true; /* until its label comes */
        vec_resize(p->arena, &p->block_line, block + 1);
        vec_resize(p->arena, &p->has_preds, block + 1);
    }
    if (p->block_line.items[*out] == 0) p->block_line.items[*out] = p->x.line;
    return true;
}

static bool parse_refs(Parser *p, Ref ref) {
    do {
        Ref arg = NO_REF;
        if (!parse_ref(p, &arg)) return false;
        ir_add_arg(p->func, ref, arg);
    } while (lex_accept(&p->x, ','));
    return true;
}

static bool parse_paren_refs(Parser *p, Ref ref) {
    if (!lex_expect(&p->x, '(')) return false;
    if (lex_accept(&p->x, ')')) return true;
    return parse_refs(p, ref) && lex_expect(&p->x, ')');
}

/* -- attributes ------------------------------------------------------------------------------ */

static int find_word(Str word, const char *const *table, int n) {
    for (int i = 0; i < n; i++)
        if (str_is(word, table[i])) return i;
    return -1;
}

/* In the order of the bits, each once. */
static void parse_words(Parser *p, Ref ref, const char *words) {
    for (unsigned bit = 1; *words; bit <<= 1) {
        size_t n = strcspn(words, " ");
        Str next = lex_peek_word(&p->x);
        if ((size_t)next.len == n && !memcmp(next.bytes, words, n)) {
            ir_inst(p->func, ref)->sub |= (uint16_t)bit;
            p->x.p += n;
        }
        words += n + (words[n] == ' ');
    }
}

static bool parse_sub(Parser *p, Ref ref, const OpText *text) {
    int sub = 0;
    if (text->sub == SUB_NONE) return true;
    if (text->sub == SUB_WORD) {
        ir_inst(p->func, ref)->sub = lex_accept_word(&p->x, text->sub_word);
        return true;
    }
    if (text->sub == SUB_WORDS) {
        parse_words(p, ref, text->sub_word);
        return true;
    }
    if (!lex_expect(&p->x, '.')) return false;
    Str word = lex_peek_word(&p->x);
    if (text->sub == SUB_OPERATOR) sub = find_word(word, ir_operator_names, OPR_COUNT);
    if (text->sub == SUB_GUARD) sub = find_word(word, ir_guard_names, GUARD_COUNT);
    if (text->sub == SUB_ATOMIC) sub = find_word(word, ir_atomic_names, ATOMIC_COUNT);
    if (sub < 0 || word.len == 0)
        return lex_fail(&p->x, "unknown kind '" STR_FMT "'", STR_ARG(word));
    p->x.p += word.len;
    ir_inst(p->func, ref)->sub = (uint16_t)sub;
    return true;
}

static bool parse_raise(Parser *p, Ref ref) {
    RaiseSite *site = arena_new(p->arena, RaiseSite);
    ir_inst(p->func, ref)->u.exception = site;
    if (!lex_string(&p->x, &site->class_name)) return false;
    site->has_message = lex_peek(&p->x, '"');
    return !site->has_message || lex_string(&p->x, &site->message);
}

/* What the handler asks for is not in the text. */
static bool parse_classes(Parser *p, Ref ref) {
    Vec(ExceptionClass) classes = {0};
    while (lex_peek(&p->x, '"')) {
        ExceptionClass cls = {0};
        if (!lex_string(&p->x, &cls.name)) return false;
        vec_push(p->arena, &classes, cls);
        if (!lex_accept(&p->x, '|')) break;
    }
    ClassSet *set = arena_new(p->arena, ClassSet);
    *set = (ClassSet){.n = classes.len, .classes = classes.items};
    ir_inst(p->func, ref)->u.classes = set;
    return true;
}

static bool parse_callee(Parser *p, Ref ref) {
    CallText call = {.func = p->func, .call = ref, .line = p->x.line};
    if (!lex_expect(&p->x, '@') || !lex_name(&p->x, &call.callee)) return false;
    vec_push(p->arena, &p->calls, call);
    return true;
}

static bool parse_name(Parser *p, Ref ref) {
    Str *name = arena_new(p->arena, Str);
    ir_inst(p->func, ref)->u.name = name;
    return lex_string(&p->x, name);
}

/* `?` stands where the printer found nothing: kept, so that the verifier can be shown broken code. */
static bool parse_object(Parser *p, Ref ref, const OpText *text) {
    if (text->u == U_NONE || text->u == U_KEYWORDS) return true;
    if (lex_accept(&p->x, '?')) return true;
    Inst *inst = ir_inst(p->func, ref);
    switch ((UForm)text->u) {
    case U_NAME_OPT: return !lex_peek(&p->x, '"') || parse_name(p, ref);
    case U_NAME: return parse_name(p, ref);
    case U_CONST: return lex_const(&p->x, &inst->u.value);
    case U_FROZEN: return lex_frozen(&p->x, inst->type, &inst->u.frozen);
    case U_FUNC: return parse_callee(p, ref);
    case U_RAISE: return parse_raise(p, ref);
    case U_CLASSES: return parse_classes(p, ref);
    default: return true;
    }
}

static bool parse_phi(Parser *p, Ref ref) {
    PhiText phi = {.phi = ref, .line = p->x.line};
    if (!lex_peek(&p->x, '[')) return true;
    do {
        Ref arg = NO_REF;
        int32_t label = NO_BLOCK;
        if (!lex_expect(&p->x, '[') || !parse_ref(p, &arg)) return false;
        if (lex_accept(&p->x, ',') && !parse_block_name(p, &label)) return false;
        if (!lex_expect(&p->x, ']')) return false;
        ir_add_arg(p->func, ref, arg);
        vec_push(p->arena, &phi.labels, label);
    } while (lex_accept(&p->x, ','));
    vec_push(p->arena, &p->phis, phi);
    return true;
}

static bool parse_call_py(Parser *p, Ref ref) {
    Ref callee = NO_REF;
    if (!parse_ref(p, &callee)) return false;
    ir_add_arg(p->func, ref, callee);
    return parse_paren_refs(p, ref);
}

static bool parse_keywords(Parser *p, Ref ref) {
    if (!lex_accept_word(&p->x, "names")) return true;
    Vec(Str) names = {0};
    if (!lex_expect(&p->x, '(')) return false;
    do {
        Str name = {0};
        if (!lex_string(&p->x, &name)) return false;
        vec_push(p->arena, &names, name);
    } while (lex_accept(&p->x, ','));
    ir_inst(p->func, ref)->u.names = names.items;
    ir_inst(p->func, ref)->imm = names.len;
    return lex_expect(&p->x, ')');
}

static bool parse_operands(Parser *p, Ref ref, const OpText *text) {
    uint16_t op = ir_inst(p->func, ref)->op;
    if (op == OP_phi) return parse_phi(p, ref);
    if (op == OP_call_py) return parse_call_py(p, ref);
    if (text->parens) return parse_paren_refs(p, ref);
    if (op == OP_branch) { /* its list of operands goes on with blocks */
        Ref cond = NO_REF;
        if (!parse_ref(p, &cond)) return false;
        ir_add_arg(p->func, ref, cond);
        return lex_expect(&p->x, ',');
    }
    return !lex_peek(&p->x, '%') || parse_refs(p, ref);
}

static bool parse_targets(Parser *p, Ref ref) {
    int32_t target = NO_BLOCK;
    Op op = (Op)ir_inst(p->func, ref)->op;
    int n = op == OP_jump ? 1 : op == OP_branch ? 2 : 0;
    for (int i = 0; i < n; i++) {
        if (i && !lex_expect(&p->x, ',')) return false;
        if (!parse_block_name(p, &target)) return false;
        ir_inst(p->func, ref)->target[i] = target;
    }
    return true;
}

/* Error successor, span and debug name. */
static bool parse_tail(Parser *p, Ref ref) {
    if (lex_accept(&p->x, '!')) {
        int32_t error = NO_BLOCK;
        if (!parse_block_name(p, &error)) return false;
        ir_inst(p->func, ref)->error = error;
    }
    if (lex_accept(&p->x, '@')) {
        int64_t n[4];
        for (int i = 0; i < 4; i++) {
            if (i && !lex_expect(&p->x, i == 2 ? '-' : ':')) return false;
            if (!lex_int(&p->x, &n[i])) return false;
        }
        IrSpan span = {(int32_t)n[0], (int32_t)n[2], (int32_t)n[1], (int32_t)n[3]};
        int32_t index = ir_span_add(p->func, span);
        ir_inst(p->func, ref)->span = index;
    }
    if (lex_accept_word(&p->x, "as")) {
        Str name = {0};
        if (!lex_string(&p->x, &name)) return false;
        if (ref >= p->func->var_names.len) vec_resize(p->arena, &p->func->var_names, ref + 1);
        p->func->var_names.items[ref] = name;
    }
    return lex_end_line(&p->x);
}

/* -- instructions ---------------------------------------------------------------------------- */

static Op find_op(Str word) {
    for (int op = 1; op < OP_COUNT; op++)
        if (str_is(word, ir_op_info[op].name)) return (Op)op;
    return OP_removed;
}

/* Puts the instruction where its number says, or behind all numbers. */
static bool place_inst(Parser *p, Ref *ref, Op op) {
    Func *func = p->func;
    Inst inst = {
        .op = (uint16_t)op, .block = p->block, .error = NO_BLOCK, .args = func->operands.len};
    inst.target[0] = inst.target[1] = NO_BLOCK;
    if (op == OP_lib) inst.imm = -1; /* its row of the library is found by name and types */
    if (*ref == NO_REF) {
        vec_push(p->arena, &func->insts, inst);
        *ref = func->insts.len - 1;
    } else {
        if (func->insts.items[*ref].op != OP_removed)
            return lex_fail(&p->x, "%%%d is defined twice", (int)*ref);
        func->insts.items[*ref] = inst;
    }
    vec_push(p->arena, &func->blocks.items[p->block].insts, *ref);
    return true;
}

static bool parse_inst(Parser *p) {
    Ref ref = NO_REF;
    const Type *type = NULL;
    if (lex_peek(&p->x, '%')) {
        if (!parse_ref(p, &ref)) return false;
        if (lex_accept(&p->x, ':') && !lex_type(&p->x, &type)) return false;
        if (!lex_expect(&p->x, '=')) return false;
    }
    Str word = lex_peek_word(&p->x);
    Op op = find_op(word);
    if (op == OP_removed) return lex_fail(&p->x, "unknown operation '" STR_FMT "'", STR_ARG(word));
    p->x.p += word.len;
    if (!place_inst(p, &ref, op)) return false;
    ir_inst(p->func, ref)->type = type;
    const OpText *text = &ir_op_text[op];
    if (!parse_sub(p, ref, text)) return false;
    if (text->imm == IMM_FLAG) ir_inst(p->func, ref)->imm = lex_accept_word(&p->x, text->imm_word);
    if (!parse_object(p, ref, text) || !parse_operands(p, ref, text)) return false;
    if (text->u == U_KEYWORDS && !parse_keywords(p, ref)) return false;
    if (text->imm == IMM_WORD && !lex_accept_word(&p->x, text->imm_word))
        return lex_fail(&p->x, "'%s' expected", text->imm_word);
    int64_t imm = 0;
    bool there = text->imm == IMM_MAYBE && lex_accept_word(&p->x, text->imm_word);
    if (text->imm == IMM_PLAIN || text->imm == IMM_WORD || there) {
        if (!lex_int(&p->x, &imm)) return false;
        ir_inst(p->func, ref)->imm = imm;
    }
    return parse_targets(p, ref) && parse_tail(p, ref);
}

/* -- blocks and functions -------------------------------------------------------------------- */

static bool parse_label(Parser *p) {
    if (!parse_block_name(p, &p->block)) return false;
    Block *block = &p->func->blocks.items[p->block];
    if (!block->removed) return lex_fail(&p->x, "b%d is defined twice", (int)p->block);
    block->removed = false;
    if (!lex_expect(&p->x, ':')) return false;
    if (!lex_accept_word(&p->x, "preds")) {
        block->cold = lex_accept_word(&p->x, "cold");
        return lex_end_line(&p->x);
    }
    p->has_preds.items[p->block] = true;
    if (!lex_expect(&p->x, '(')) return false;
    for (bool first = true; !lex_accept(&p->x, ')'); first = false) {
        int32_t pred = NO_BLOCK;
        if (!first && !lex_expect(&p->x, ',')) return false;
        if (!parse_block_name(p, &pred)) return false;
        ir_edge_add(p->func, pred, p->block);
    }
    p->func->blocks.items[p->block].cold = lex_accept_word(&p->x, "cold");
    return lex_end_line(&p->x);
}

/* The largest number after a % up to the end of the function. */
static Ref largest_ref(const Parser *p) {
    int64_t largest = 0;
    for (const char *s = p->x.p; *s && !(s[0] == '\n' && s[1] == '}'); s++) {
        if (*s != '%') continue;
        long long n = strtoll(s + 1, NULL, 10);
        if (n > largest && n <= p->x.limit) largest = n;
    }
    return (Ref)largest;
}

static void fill_preds(Parser *p) {
    for (int32_t from = 0; from < p->func->blocks.len; from++) {
        int32_t out[3];
        int n = ir_successors(p->func, from, out);
        for (int i = 0; i < n; i++)
            if (!p->has_preds.items[out[i]]) ir_edge_add(p->func, from, out[i]);
    }
}

/* Operands into the order of the block's predecessors, by the labels written beside them. A phi with
 * another number of operands stays as it is: the verifier will say so. */
static bool order_phi(Parser *p, const PhiText *text) {
    const Block *block = &p->func->blocks.items[ir_inst(p->func, text->phi)->block];
    int32_t n = block->preds.len;
    if (text->labels.len != n) return true;
    Ref *sorted = arena_array(p->arena, Ref, n);
    int32_t *labels = arena_copy(p->arena, text->labels.items, sizeof(int32_t) * (size_t)n);
    for (int32_t k = 0; k < n; k++) {
        int32_t i = 0;
        while (i < n && labels[i] != block->preds.items[k])
            i++;
        if (i == n) {
            p->x.line = text->line;
            return lex_fail(&p->x, "the phi has no operand for b%d", (int)block->preds.items[k]);
        }
        sorted[k] = ir_arg(p->func, text->phi, i);
        labels[i] = NO_BLOCK - 1;
    }
    ir_set_args(p->func, text->phi, sorted, n);
    return true;
}

/* All blocks are read: nothing undefined may have been used. */
static bool finish_func(Parser *p) {
    for (int32_t block = 0; block < p->func->blocks.len; block++) {
        if (!p->block_line.items[block] || !p->func->blocks.items[block].removed) continue;
        p->x.line = p->block_line.items[block];
        return lex_fail(&p->x, "b%d is not defined", (int)block);
    }
    for (Ref ref = 1; ref < p->ref_line.len; ref++) {
        if (!p->ref_line.items[ref] || ir_inst(p->func, ref)->op != OP_removed) continue;
        p->x.line = p->ref_line.items[ref];
        return lex_fail(&p->x, "%%%d is not defined", (int)ref);
    }
    fill_preds(p);
    for (int32_t i = 0; i < p->phis.len; i++)
        if (!order_phi(p, &p->phis.items[i])) return false;
    return true;
}

static bool parse_params(Parser *p) {
    Vec(Str) names = {0};
    Vec(const Type *) types = {0};
    bool typed = false;
    if (!lex_expect(&p->x, '(')) return false;
    while (!lex_accept(&p->x, ')')) {
        Str name = {0};
        const Type *type = NULL;
        if (names.len && !lex_expect(&p->x, ',')) return false;
        if (!lex_name(&p->x, &name)) return false;
        if (lex_accept(&p->x, ':') && !lex_type(&p->x, &type)) return false;
        vec_push(p->arena, &names, name);
        vec_push(p->arena, &types, type);
        typed |= type != NULL;
    }
    p->func->nparams = names.len;
    p->func->param_names = names.items;
    p->func->param_types = typed ? types.items : NULL;
    return true;
}

static bool parse_header(Parser *p) {
    Str name = {0};
    if (!lex_accept_word(&p->x, "func")) return lex_fail(&p->x, "'func' expected");
    if (!lex_expect(&p->x, '@') || !lex_name(&p->x, &name)) return false;
    for (int32_t i = 0; i < p->x.module->funcs.len; i++)
        if (str_equal(p->x.module->funcs.items[i]->name, name))
            return lex_fail(&p->x, "@" STR_FMT " is defined twice", STR_ARG(name));
    p->func = ir_func_new(p->x.module, name, false);
    if (!parse_params(p)) return false;
    if (lex_accept(&p->x, '-')) {
        if (!lex_expect(&p->x, '>') || !lex_type(&p->x, &p->func->result)) return false;
    }
    p->func->typed = lex_accept_word(&p->x, "typed");
    if (!p->func->typed && !lex_accept_word(&p->x, "untyped"))
        return lex_fail(&p->x, "'typed' or 'untyped' expected");
    p->func->part = lex_accept_word(&p->x, "part");
    p->func->parallel = lex_accept_word(&p->x, "parallel");
    p->func->unchecked = lex_accept_word(&p->x, "unchecked");
    if ((p->func->own_math = lex_accept_word(&p->x, "fastmath"))) {
        int64_t flags;
        if (!lex_int(&p->x, &flags)) return false;
        p->func->fastmath = (uint32_t)flags;
    }
    if (p->func->typed && !p->func->param_types)
        p->func->param_types = arena_array(p->arena, const Type *, p->func->nparams);
    if (lex_accept_word(&p->x, "file") && !lex_string(&p->x, &p->func->file)) return false;
    if (lex_accept_word(&p->x, "user") && !lex_string(&p->x, &p->func->user_name)) return false;
    return lex_expect(&p->x, '{') && lex_end_line(&p->x);
}

static bool parse_func(Parser *p) {
    p->phis.len = p->ref_line.len = p->block_line.len = p->has_preds.len = 0;
    p->block = NO_BLOCK;
    if (!parse_header(p)) return false;
    vec_resize(p->arena, &p->func->insts, largest_ref(p) + 1);
    for (Ref ref = 1; ref < p->func->insts.len; ref++)
        *ir_inst(p->func, ref) = (Inst){.op = OP_removed, .block = NO_BLOCK, .error = NO_BLOCK};
    for (lex_skip_lines(&p->x); !lex_accept(&p->x, '}'); lex_skip_lines(&p->x)) {
        if (*p->x.p == 0) return lex_fail(&p->x, "'}' expected");
        bool label = p->x.p[0] == 'b' && p->x.p[1] >= '0' && p->x.p[1] <= '9';
        if (!label && p->block == NO_BLOCK) return lex_fail(&p->x, "a block is expected");
        if (!(label ? parse_label(p) : parse_inst(p))) return false;
    }
    return finish_func(p);
}

static bool resolve_calls(Parser *p) {
    const Module *module = p->x.module;
    for (int32_t i = 0; i < p->calls.len; i++) {
        const CallText *call = &p->calls.items[i];
        Func *callee = NULL;
        for (int32_t k = 0; k < module->funcs.len && !callee; k++)
            if (str_equal(module->funcs.items[k]->name, call->callee))
                callee = module->funcs.items[k];
        p->x.line = call->line;
        if (!callee) return lex_fail(&p->x, "@" STR_FMT " is not defined", STR_ARG(call->callee));
        ir_inst(call->func, call->call)->u.func = callee;
    }
    return true;
}

Module *ir_parse_module(Arena *arena, const char *text, DiagList *diags) {
    Module *module = ir_module_new(arena, diags);
    size_t length = strlen(text);
    Parser p = {.arena = arena};
    p.x = (Lexer){.module = module, .diags = diags, .p = text, .line = 1};
    p.x.limit = (int32_t)QN_MIN(100000 + length, (size_t)INT32_MAX / 2);
    for (lex_skip_lines(&p.x); *p.x.p; lex_skip_lines(&p.x))
        if (!parse_func(&p)) return NULL;
    if (module->funcs.len == 0) return lex_fail(&p.x, "a function is expected"), NULL;
    return resolve_calls(&p) ? module : NULL;
}
