/* ir.c - the op table, and the construction and surgery of functions.
 *
 * Instructions, operands and blocks live in growing arrays of the module's arena. Operands of one
 * instruction stand together; when they grow, they move to the end of the operand array and the old
 * place is left. */
#include "frontend/ir/ir.h"

#define VAR(n) (-1 - (n))
#define U      OPS_UNTYPED
#define T      OPS_TYPED
#define B      OPS_BOTH
#define PURE   OPF_PURE
#define READ   OPF_READ
#define WRITE  OPF_WRITE
#define RAISES OPF_RAISES
#define TERM   OPF_TERM
#define COMM   OPF_COMM
#define PINNED OPF_PINNED
#define IDX    OPF_IDX
#define DROPS  OPF_DROPS
const OpInfo ir_op_info[OP_COUNT] = {
    [OP_removed] = {"removed", OPS_BOTH, RES_VOID, VAR(0), 0, OP_SHARES, OP_TAKES_NONE},
#define OP(name, state, result, operands, flags, owns, takes)                                      \
    [OP_##name] = {#name, state, RES_##result, operands, flags, OP_##owns, OP_TAKES_##takes},
#include "frontend/ir/ir_ops.def"
#undef OP
};
#undef VAR
#undef U
#undef T
#undef B
#undef PURE
#undef READ
#undef WRITE
#undef RAISES
#undef TERM
#undef COMM
#undef PINNED
#undef IDX
#undef DROPS

static_assert(OP_COUNT <= UINT16_MAX, "Inst.op holds every op");

/* -- modules, functions, blocks -------------------------------------------------------------- */

Module *ir_module_new(Arena *arena, DiagList *diags) {
    Module *module = arena_new(arena, Module);
    module->arena = arena;
    module->types = type_table_new(arena);
    module->strings = str_table_new(arena);
    module->diags = diags;
    return module;
}

Func *ir_func_new(Module *module, Str name, bool typed) {
    Arena *arena = module->arena;
    Func *func = arena_new(arena, Func);
    func->module = module;
    func->name = str_intern(module->strings, name.bytes, (size_t)name.len);
    func->user_name = func->name;
    func->file = STR("");
    func->typed = typed;
    vec_resize(arena, &func->insts, 1);
    vec_resize(arena, &func->spans, 1);
    vec_reserve(arena, &func->operands, 16); /* ir_args of no operands is still a pointer */
    vec_push(arena, &module->funcs, func);
    return func;
}

Func *ir_func_part(const Func *whole, Str name) {
    Func *func = ir_func_new(whole->module, name, true);
    func->user_name = whole->user_name;
    func->file = whole->file;
    func->part = true;
    func->unchecked = whole->unchecked;
    func->own_math = whole->own_math, func->fastmath = whole->fastmath;
    return func;
}

int32_t ir_block_new(Func *func) {
    vec_push(func->module->arena, &func->blocks, (Block){0});
    return func->blocks.len - 1;
}

static Block *block_of(const Func *func, int32_t block) {
    return &func->blocks.items[block];
}

/* -- instructions ---------------------------------------------------------------------------- */

/* The arena keeps the old array when the operands move, so `args` may point into it. */
static int32_t push_operands(Func *func, const Ref *args, int32_t nargs) {
    Arena *arena = func->module->arena;
    int32_t at = func->operands.len;
    if (nargs > INT32_MAX - 1 - at) arena_oom(arena);
    vec_reserve(arena, &func->operands, at + nargs);
    if (nargs) memcpy(func->operands.items + at, args, sizeof *args * (size_t)nargs);
    func->operands.len += nargs;
    return at;
}

static Ref new_inst(Func *func, int32_t block, Op op, const Ref *args, int32_t nargs) {
    Inst inst = {.op = (uint16_t)op, .block = block, .nargs = nargs, .error = NO_BLOCK};
    inst.target[0] = inst.target[1] = NO_BLOCK;
    inst.args = push_operands(func, args, nargs);
    vec_push(func->module->arena, &func->insts, inst);
    return func->insts.len - 1;
}

Ref ir_append(Func *func, int32_t block, Op op, const Ref *args, int32_t nargs) {
    Ref ref = new_inst(func, block, op, args, nargs);
    vec_push(func->module->arena, &block_of(func, block)->insts, ref);
    return ref;
}

Ref ir_insert(Func *func, int32_t block, int32_t at, Op op, const Ref *args, int32_t nargs) {
    Ref ref = ir_append(func, block, op, args, nargs);
    Block *b = block_of(func, block);
    Ref *list = b->insts.items;
    memmove(list + at + 1, list + at, sizeof *list * (size_t)(b->insts.len - 1 - at));
    list[at] = ref;
    return ref;
}

void ir_set_args(Func *func, Ref ref, const Ref *args, int32_t nargs) {
    Inst *inst = ir_inst(func, ref);
    if (nargs == 0) {
        inst->nargs = 0;
        return;
    }
    if (nargs <= inst->nargs)
        memmove(func->operands.items + inst->args, args, sizeof *args * (size_t)nargs);
    else
        inst->args = push_operands(func, args, nargs);
    inst->nargs = nargs;
}

void ir_add_arg(Func *func, Ref ref, Ref arg) {
    Inst *inst = ir_inst(func, ref);
    if (inst->args + inst->nargs != func->operands.len)
        inst->args = push_operands(func, ir_args(func, ref), inst->nargs);
    vec_push(func->module->arena, &func->operands, arg);
    inst->nargs++;
}

static void remove_arg(Func *func, Ref ref, int32_t k) {
    Inst *inst = ir_inst(func, ref);
    Ref *args = ir_args(func, ref);
    memmove(args + k, args + k + 1, sizeof *args * (size_t)(inst->nargs - 1 - k));
    inst->nargs--;
}

void ir_remove(Func *func, Ref ref) {
    Inst *inst = ir_inst(func, ref);
    Block *b = block_of(func, inst->block);
    for (int32_t i = b->insts.len - 1; i >= 0; i--) { /* most have just been added */
        if (b->insts.items[i] != ref) continue;
        memmove(b->insts.items + i, b->insts.items + i + 1,
                sizeof(Ref) * (size_t)(b->insts.len - 1 - i));
        b->insts.len--;
        break;
    }
    *inst = (Inst){.op = OP_removed, .block = NO_BLOCK, .error = NO_BLOCK};
}

void ir_replace_uses(Func *func, Ref old, Ref by) {
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        Ref *args = ir_args(func, ref);
        for (int32_t k = 0; k < inst->nargs; k++)
            if (args[k] == old) args[k] = by;
    }
}

void ir_replace_many(Func *func, const Ref *map) {
    int32_t known = func->insts.len;
    for (Ref ref = 1; ref < known; ref++) {
        const Inst *inst = ir_inst(func, ref);
        Ref *args = ir_args(func, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            Ref to = args[k];
            /* A cycle in the map would be a pass's mistake; the bound turns it into a wrong answer
             * that the verifier or a test sees, not into a hang. */
            for (int32_t steps = 0; map[to] != NO_REF && steps < known; steps++)
                to = map[to];
            args[k] = to;
        }
    }
}

const OpInfo *ir_info(Op op) {
    return &ir_op_info[op];
}

bool ir_op_is(const Func *func, Ref ref, uint16_t flags) {
    return (ir_op_info[ir_inst(func, ref)->op].flags & flags) != 0;
}

/* -- places ---------------------------------------------------------------------------------- */

int32_t ir_span_add(Func *func, IrSpan span) {
    const IrSpan *last = &vec_last(&func->spans);
    if (func->spans.len > 1 && last->line == span.line && last->end_line == span.end_line &&
        last->column == span.column && last->end_column == span.end_column)
        return func->spans.len - 1;
    vec_push(func->module->arena, &func->spans, span);
    return func->spans.len - 1;
}

Span ir_span_of(const Func *func, Ref ref) {
    const IrSpan *s = &func->spans.items[ir_inst(func, ref)->span];
    bool known = ir_inst(func, ref)->span != 0;
    return (Span){func->file, s->line, s->end_line, known ? s->column : -1,
                  known ? s->end_column : -1};
}

/* -- edges ----------------------------------------------------------------------------------- */

Ref ir_terminator(const Func *func, int32_t block) {
    const Block *b = block_of(func, block);
    if (b->insts.len == 0) return NO_REF;
    Ref last = vec_last(&b->insts);
    return ir_op_is(func, last, OPF_TERM) ? last : NO_REF;
}

/* Where the successors of a block are stored: the targets of its terminator, then the error
 * successor of the terminator or of the instruction before it. */
static int successor_slots(const Func *func, int32_t block, int32_t *out[3]) {
    Ref term = ir_terminator(func, block);
    if (term == NO_REF) return 0;
    Inst *inst = ir_inst(func, term);
    int n = 0;
    if (inst->op == OP_jump || inst->op == OP_branch) out[n++] = &inst->target[0];
    if (inst->op == OP_branch) out[n++] = &inst->target[1];
    const Block *b = block_of(func, block);
    if (inst->error == NO_BLOCK && b->insts.len > 1)
        inst = ir_inst(func, b->insts.items[b->insts.len - 2]);
    if (inst->error != NO_BLOCK) out[n++] = &inst->error;
    return n;
}

int ir_successors(const Func *func, int32_t block, int32_t out[3]) {
    int32_t *slots[3];
    int n = successor_slots(func, block, slots);
    for (int i = 0; i < n; i++)
        out[i] = *slots[i];
    return n;
}

void ir_edge_add(Func *func, int32_t from, int32_t to) {
    vec_push(func->module->arena, &block_of(func, to)->preds, from);
}

static int32_t nth_pred(const Block *b, int32_t from, int32_t nth) {
    for (int32_t k = 0; k < b->preds.len; k++)
        if (b->preds.items[k] == from && nth-- == 0) return k;
    return -1;
}

void ir_edge_remove_nth(Func *func, int32_t from, int32_t to, int32_t nth) {
    Block *b = block_of(func, to);
    int32_t k = nth_pred(b, from, nth);
    if (k < 0) return;
    memmove(b->preds.items + k, b->preds.items + k + 1,
            sizeof(int32_t) * (size_t)(b->preds.len - 1 - k));
    b->preds.len--;
    for (int32_t i = 0; i < b->insts.len && ir_inst(func, b->insts.items[i])->op == OP_phi; i++)
        if (k < ir_inst(func, b->insts.items[i])->nargs) remove_arg(func, b->insts.items[i], k);
}

void ir_edge_remove(Func *func, int32_t from, int32_t to) {
    ir_edge_remove_nth(func, from, to, 0);
}

int32_t ir_edge_split(Func *func, int32_t from, int32_t to) {
    int32_t middle = ir_block_new(func);
    int32_t *slots[3];
    int n = successor_slots(func, from, slots);
    for (int i = 0; i < n; i++) {
        if (*slots[i] != to) continue;
        *slots[i] = middle;
        break;
    }
    Ref jump = ir_append(func, middle, OP_jump, NULL, 0);
    ir_inst(func, jump)->target[0] = to;
    ir_edge_add(func, from, middle);
    Block *b = block_of(func, to);
    int32_t k = nth_pred(b, from, 0);
    if (k >= 0) b->preds.items[k] = middle;
    return middle;
}

/* -- cloning --------------------------------------------------------------------------------- */

typedef struct Clone {
    Func *func;
    const int32_t *blocks;
    int32_t n;
    Ref *ref_map;
    int32_t *block_map;
    int32_t nrefs, nblocks; /* of the original */
} Clone;

static Ref mapped_ref(const Clone *c, Ref ref) {
    return ref < c->nrefs && c->ref_map[ref] ? c->ref_map[ref] : ref;
}

static int32_t mapped_block(const Clone *c, int32_t block) {
    return block >= 0 && block < c->nblocks && c->block_map[block] != NO_BLOCK ? c->block_map[block]
                                                                               : block;
}

/* Copies of all instructions, still with the old operands: a use may come before its definition. */
static void clone_insts(Clone *c, int32_t from) {
    Func *func = c->func;
    int32_t to = c->block_map[from];
    for (int32_t i = 0; i < block_of(func, from)->insts.len; i++) {
        Ref old = block_of(func, from)->insts.items[i];
        Inst inst = *ir_inst(func, old);
        Ref copy = ir_append(func, to, (Op)inst.op, ir_args(func, old), inst.nargs);
        inst.args = ir_inst(func, copy)->args;
        inst.block = to;
        inst.error = mapped_block(c, inst.error);
        for (int t = 0; t < 2; t++)
            inst.target[t] = mapped_block(c, inst.target[t]);
        *ir_inst(func, copy) = inst;
        c->ref_map[old] = copy;
        if (old < func->var_names.len && func->var_names.items[old].len) {
            vec_resize(func->module->arena, &func->var_names, copy + 1);
            func->var_names.items[copy] = func->var_names.items[old];
        }
    }
}

/* Predecessors from inside the set, and of each phi the operands that belong to them. */
static void clone_preds(Clone *c, int32_t from) {
    Func *func = c->func;
    int32_t to = c->block_map[from];
    for (int32_t k = 0, kept = 0; k < block_of(func, from)->preds.len; k++) {
        int32_t pred = block_of(func, from)->preds.items[k];
        const Block *b = block_of(func, to);
        if (c->block_map[pred] != NO_BLOCK) {
            ir_edge_add(func, c->block_map[pred], to);
            kept++;
            continue;
        }
        for (int32_t i = 0; i < b->insts.len && ir_inst(func, b->insts.items[i])->op == OP_phi; i++)
            if (kept < ir_inst(func, b->insts.items[i])->nargs)
                remove_arg(func, b->insts.items[i], kept);
    }
}

/* The exits: what an edge from inside brought to a phi outside, the copied edge brings renamed. */
static void clone_exits(Clone *c, int32_t from) {
    Func *func = c->func;
    int32_t copy = c->block_map[from], to[3];
    int32_t seen[3] = {0}; /* how many parallel edges to this target came before */
    int n = ir_successors(func, from, to);
    for (int s = 0; s < n; s++) {
        if (c->block_map[to[s]] != NO_BLOCK) continue;
        for (int t = 0; t < s; t++)
            seen[s] += to[t] == to[s];
        int32_t k = nth_pred(block_of(func, to[s]), from, seen[s]);
        ir_edge_add(func, copy, to[s]);
        for (int32_t i = 0; i < block_of(func, to[s])->insts.len; i++) {
            Ref phi = block_of(func, to[s])->insts.items[i];
            if (ir_inst(func, phi)->op != OP_phi) break;
            if (k >= 0) ir_add_arg(func, phi, mapped_ref(c, ir_arg(func, phi, k)));
        }
    }
}

void ir_clone_blocks(Func *func, const int32_t *blocks, int32_t n, Ref *ref_map,
                     int32_t *block_map) {
    Clone c = {func, blocks, n, ref_map, block_map, func->insts.len, func->blocks.len};
    memset(ref_map, 0, sizeof *ref_map * (size_t)c.nrefs);
    for (int32_t i = 0; i < c.nblocks; i++)
        block_map[i] = NO_BLOCK;
    for (int32_t i = 0; i < n; i++) {
        int32_t copy = block_map[blocks[i]] = ir_block_new(func);
        block_of(func, copy)->cold = block_of(func, blocks[i])->cold;
    }
    for (int32_t i = 0; i < n; i++)
        clone_insts(&c, blocks[i]);
    for (int32_t i = 0; i < n; i++)
        clone_preds(&c, blocks[i]);
    for (int32_t i = 0; i < n; i++)
        clone_exits(&c, blocks[i]);
    for (Ref ref = c.nrefs; ref < func->insts.len; ref++)
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
            ir_args(func, ref)[k] = mapped_ref(&c, ir_arg(func, ref, k));
}

/* -- constants ------------------------------------------------------------------------------- */

static ConstVal *new_const(Arena *arena, ConstKind kind) {
    ConstVal *value = arena_new(arena, ConstVal);
    value->kind = kind;
    return value;
}

const ConstVal *const_int(Arena *arena, int64_t value) {
    ConstVal *c = new_const(arena, CONST_INT);
    c->i = value;
    return c;
}

const ConstVal *const_float(Arena *arena, double value) {
    ConstVal *c = new_const(arena, CONST_FLOAT);
    c->re = value;
    return c;
}

const ConstVal *const_none(Arena *arena) {
    return new_const(arena, CONST_NONE);
}

const ConstVal *const_bool(Arena *arena, bool value) {
    ConstVal *c = new_const(arena, CONST_BOOL);
    c->i = value;
    return c;
}

const ConstVal *const_str(Arena *arena, Str value) {
    ConstVal *c = new_const(arena, CONST_STR);
    c->str = value;
    return c;
}

const ConstVal *const_tuple(Arena *arena, const ConstVal *const *items, int32_t n) {
    ConstVal *c = new_const(arena, CONST_TUPLE);
    c->nitems = n;
    c->items = arena_copy(arena, items, sizeof *items * (size_t)n);
    return c;
}

/* In the entry, behind the parameters; one that is there already is used again. */
static Ref head_const(Func *func, const Type *type, const ConstVal *value) {
    const Block *entry = block_of(func, 0);
    int32_t at = 0;
    for (; at < entry->insts.len; at++) {
        Ref ref = entry->insts.items[at];
        const Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_param) continue;
        if (inst->op != OP_const) break;
        const ConstVal *v = inst->u.value;
        if (inst->type == type && v->kind == value->kind && v->i == value->i &&
            memcmp(&v->re, &value->re, sizeof v->re) == 0 && v->nitems == 0 && v->im == 0)
            return ref;
    }
    Ref ref = ir_insert(func, 0, at, OP_const, NULL, 0);
    ir_inst(func, ref)->type = type;
    ir_inst(func, ref)->u.value = value;
    return ref;
}

Ref ir_const_int(Func *func, const Type *type, int64_t value) {
    Arena *arena = func->module->arena;
    ConstVal key = {.kind = type->kind == TY_bool ? CONST_BOOL : CONST_INT, .i = value};
    key.is_unsigned = type_class(type) == CLASS_UINT && value < 0;
    return head_const(func, type, arena_copy(arena, &key, sizeof key));
}

Ref ir_const_float(Func *func, const Type *type, double value) {
    return head_const(func, type, const_float(func->module->arena, value));
}
