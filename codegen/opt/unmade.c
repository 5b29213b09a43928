/* unmade.c - arrays that a kernel names and never makes.
 *
 *   d = x[i] - y[i]                            nothing
 *   out[i] = math.sqrt(np.sum(d * d))          a loop over (x[i, j] - y[i, j]) ** 2
 *   best = np.argmax(d); s = d[0]              an element is computed where it is read
 *
 * Kernels have no heap. The result of a map of a length that only the launch knows is computed wherever its elements are read, as often as
 * they are; who reads it whole has a map of its own, which `fuse` takes in. That is what the program says as long as nothing is written
 * between the map and those who read it. Everything else would need memory, and is told. */
#include "codegen/opt/expand.h"
#include "frontend/base/bits.h"
#include "frontend/base/map.h"
#include "frontend/ir/ir_text.h"

typedef struct Unmade {
    PassContext *ctx;
    Func *func;
    Ref map;
    Bits behind; /* blocks that can be reached from the map without another round of it */
} Unmade;

static const Inst *inst_of(const Unmade *u, Ref ref) {
    return ir_inst(u->func, ref);
}

static bool is_whole(int op) {
    return op == OP_map || op == OP_map_into || op == OP_reduce;
}

/* -- who reads it ------------------------------------------------------------------------------------------- */

static bool reads(const Unmade *u, Ref ref) {
    for (int32_t k = 0; k < inst_of(u, ref)->nargs; k++)
        if (ir_arg(u->func, ref, k) == u->map) return true;
    return false;
}

static bool is_used(const Func *func, Ref value) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
            if (ir_arg(func, ref, k) == value) return true;
    return false;
}

/* Who reads it; tuples that nobody reads go. */
static int32_t find_readers(const Unmade *u, Ref **readers) {
    int32_t n = 0;
    *readers = arena_array(u->ctx->arena, Ref, u->func->insts.len);
    for (Ref ref = 1; ref < u->func->insts.len; ref++) {
        if (!reads(u, ref)) continue;
        if (inst_of(u, ref)->op == OP_tuple && !is_used(u->func, ref))
            ir_remove(u->func, ref);
        else
            (*readers)[n++] = ref;
    }
    return n;
}

/* Can it do without the array? */
static bool can_do_without(const Unmade *u, Ref ref) {
    const Inst *inst = inst_of(u, ref);
    for (int32_t k = 0; k < inst->nargs; k++) {
        if (ir_arg(u->func, ref, k) != u->map) continue;
        bool element = (inst->op == OP_load || inst->op == OP_shape) && k == 0;
        if (!element && (!is_whole(inst->op) || (inst->op == OP_map_into && k == 0))) return false;
    }
    return true;
}

/* -- is what it reads still there? ------------------------------------------------------------------------------ */

static bool writes(const Func *func, Ref ref, int depth);

static bool func_writes(const Func *func, int depth) {
    if (depth == 0) return true;
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op != OP_removed && writes(func, ref, depth - 1)) return true;
    return false;
}

static bool writes(const Func *func, Ref ref, int depth) {
    const Inst *inst = ir_inst(func, ref);
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    switch ((int)inst->op) {
    case OP_lib:
        return !(row && (row->flags & LIB_PURE)) &&
               (!row || (row->flags & LIB_WRITES) || !(row->flags & LIB_READS));
    case OP_call:
    case OP_map:
    case OP_reduce: return func_writes(inst->u.func, depth);
    case OP_static_array:
    case OP_poll: return false; /* of kernels it runs nothing */
    default: return (ir_op_info[inst->op].flags & OPF_WRITE) != 0;
    }
}

/* Memory of the kernel's own is not that of its arguments, nor of another array of its own. */
static bool known_apart(const Unmade *u, Ref written) {
    Ref root = em_root(u->func, written);
    if (inst_of(u, root)->op != OP_static_array) return false;
    for (int32_t k = 0; k < inst_of(u, u->map)->nargs; k++) {
        Ref operand = ir_arg(u->func, u->map, k);
        if (ir_type(u->func, operand)->kind != TY_ARRAY) continue;
        Ref from = em_root(u->func, operand);
        int op = inst_of(u, from)->op;
        if (from == root || (op != OP_param && op != OP_static_array)) return false;
    }
    return true;
}

static bool changes(const Unmade *u, Ref ref) {
    const Inst *inst = inst_of(u, ref);
    if (inst->op == OP_store) return !known_apart(u, ir_arg(u->func, ref, 0));
    if (inst->op == OP_map_into && !func_writes(inst->u.func, 3))
        return !known_apart(u, ir_arg(u->func, ref, 0));
    return writes(u->func, ref, 4);
}

static void find_behind(Unmade *u) {
    int32_t home = inst_of(u, u->map)->block, n = 0;
    int32_t *open = arena_array(u->ctx->arena, int32_t, 2 * u->func->blocks.len + 2);
    u->behind = bits_new(u->ctx->arena, u->func->blocks.len);
    open[n++] = home;
    while (n) {
        Ref last = ir_terminator(u->func, open[--n]);
        for (int t = 0; last && t < 2; t++) {
            int32_t to = inst_of(u, last)->target[t];
            if (to == NO_BLOCK || to == home || bits_get(&u->behind, to)) continue;
            bits_set(&u->behind, to);
            open[n++] = to;
        }
    }
}

/* Does anything write on a way from the map to that place? The ways are followed back. */
static bool written_before(const Unmade *u, Ref reader) {
    int32_t home = inst_of(u, u->map)->block, n = 0;
    int32_t *open = arena_array(u->ctx->arena, int32_t, u->func->blocks.len + 1);
    Bits seen = bits_new(u->ctx->arena, u->func->blocks.len);
    open[n++] = inst_of(u, reader)->block;
    for (bool first = true; n; first = false) {
        int32_t b = open[--n];
        const Block *block = &u->func->blocks.items[b];
        int32_t from = b == home ? opt_position(u->func, u->map) + 1 : 0;
        int32_t to = first ? opt_position(u->func, reader) : block->insts.len;
        for (int32_t i = from; i < to; i++)
            if (changes(u, block->insts.items[i])) return true;
        for (int32_t k = 0; b != home && k < block->preds.len; k++) {
            int32_t p = block->preds.items[k];
            if ((p != home && !bits_get(&u->behind, p)) || bits_get(&seen, p)) continue;
            bits_set(&seen, p);
            open[n++] = p;
        }
    }
    return false;
}

/* -- the edit ------------------------------------------------------------------------------------------------------ */

/* Code in front of `ref`, which then stands in the block that is returned. */
static int32_t open_before(const Unmade *u, Emit *e, Ref ref) {
    int32_t block = inst_of(u, ref)->block, span = inst_of(u, ref)->span;
    int32_t rest = opt_split_block(u->func, block, opt_position(u->func, ref));
    ir_remove(u->func, ir_terminator(u->func, block));
    ir_edge_remove(u->func, block, rest);
    *e = (Emit){.ctx = u->ctx, .func = u->func};
    e->i64 = type_scalar(u->func->module->types, TY_i64);
    e->boolean = type_scalar(u->func->module->types, TY_bool);
    e->b = (Builder){.func = u->func, .block = block, .at = -1, .span = span, .error = NO_BLOCK};
    return rest;
}

static void replace(const Unmade *u, Ref old, Ref value) {
    ir_replace_uses(u->func, old, value);
    ir_remove(u->func, old);
}

static void replace_shapes(const Unmade *u) {
    Vec(Ref) asked = {0};
    for (Ref ref = 1; ref < u->func->insts.len; ref++)
        if (inst_of(u, ref)->op == OP_shape && reads(u, ref)) vec_push(u->ctx->arena, &asked, ref);
    if (!asked.len) return;
    Emit e;
    WholeOp w = em_whole_op(u->ctx, u->func, u->map);
    Ref dims[MAX_AXES];
    int32_t rest = open_before(u, &e, u->map);
    em_broadcast(&e, &w, dims);
    b_jump(&e.b, rest);
    for (int32_t i = 0; i < asked.len; i++)
        replace(u, asked.items[i], dims[inst_of(u, asked.items[i])->imm]);
}

/* The element of an operand that belongs to one of the map: an axis of length 1 is repeated. */
static Ref element_of(const Unmade *u, Emit *e, const WholeOp *w, Ref operand, const Ref *index) {
    if (!em_is_array(e, operand)) return operand;
    const Type *type = ir_type(u->func, operand);
    Ref args[MAX_AXES + 1] = {operand};
    int arrays = 0;
    for (int32_t k = 0; k < w->n; k++)
        arrays += em_is_array(e, w->operands[k]) && w->operands[k] != operand;
    for (int a = 0; a < type->ndim; a++) {
        Ref at = index[w->ndim - type->ndim + a];
        if (arrays) {
            Ref one = em_op2(e, OP_eq, em_length(e, operand, a), em_int(e, 1));
            at = b_op3(&e->b, OP_select, e->i64, one, em_int(e, 0), at);
        }
        args[a + 1] = at;
    }
    return b_inst(&e->b, OP_load, type->element, args, type->ndim + 1);
}

static void compute_there(const Unmade *u, Ref load) {
    Emit e;
    WholeOp w = em_whole_op(u->ctx, u->func, u->map);
    const Ref *index =
        arena_copy(u->ctx->arena, ir_args(u->func, load) + 1, sizeof(Ref) * (size_t)w.ndim);
    int32_t rest = open_before(u, &e, load);
    Ref *args = arena_array(u->ctx->arena, Ref, w.n + 1);
    for (int32_t k = 0; k < w.n; k++)
        args[k] = element_of(u, &e, &w, w.operands[k], index);
    Ref value = em_apply(&e, w.element, args, w.n);
    b_jump(&e.b, rest);
    replace(u, load, value);
}

/* A map for this reader alone, in front of it. */
static void give_own(const Unmade *u, Ref reader) {
    Emit e;
    const Inst map = *inst_of(u, u->map);
    const Ref *given =
        arena_copy(u->ctx->arena, ir_args(u->func, u->map), sizeof(Ref) * (size_t)map.nargs);
    int32_t rest = open_before(u, &e, reader);
    Ref own = b_inst(&e.b, OP_map, map.type, given, map.nargs);
    ir_inst(u->func, own)->u.func = map.u.func;
    ir_inst(u->func, own)->span = map.span;
    b_jump(&e.b, rest);
    int32_t n = inst_of(u, reader)->nargs;
    Ref *args = arena_copy(u->ctx->arena, ir_args(u->func, reader), sizeof(Ref) * (size_t)n);
    for (int32_t k = 0; k < n; k++)
        if (args[k] == u->map) args[k] = own;
    ir_set_args(u->func, reader, args, n);
}

/* -- the pass ----------------------------------------------------------------------------------------------------------- */

static void refuse(const Unmade *u) {
    Span here = ir_span_of(u->func, u->map);
    diag_add(u->ctx->module->diags, E0611, &here);
    diag_note(u->ctx->module->diags, NULL,
              "an expression needs no array where it is stored, summed up or indexed before "
              "anything is written: y[i] = x[i] * 2 + 1, "
              "np.sum(x[i] * w); otherwise write a loop, or make an array with np.empty and a "
              "constant length");
}

/* The only reader stands behind it, and has not taken it in. */
static bool is_own(const Unmade *u, Ref reader) {
    int32_t at = opt_position(u->func, u->map) + 1;
    const Block *block = &u->func->blocks.items[inst_of(u, u->map)->block];
    Ref next = at < block->insts.len ? block->insts.items[at] : NO_REF;
    while (next != reader && next && inst_of(u, next)->op == OP_jump) {
        block = &u->func->blocks.items[inst_of(u, next)->target[0]];
        next = block->preds.len == 1 && block->insts.len ? block->insts.items[0] : NO_REF;
    }
    return next == reader;
}

static bool may_go(Unmade *u, Ref *readers, int32_t n) {
    find_behind(u);
    for (int32_t i = 0; i < n; i++) {
        Ref ref = readers[i];
        if (!can_do_without(u, ref)) return false;
        if (inst_of(u, ref)->op != OP_shape && written_before(u, ref)) return false;
        if (n == 1 && is_whole(inst_of(u, ref)->op) && is_own(u, ref)) return false;
    }
    return true;
}

/* false: it stays, and that was told. */
static bool unmake(Unmade *u) {
    Ref *readers;
    int32_t n = find_readers(u, &readers);
    if (!may_go(u, readers, n)) return refuse(u), false;
    replace_shapes(u);
    for (int32_t i = 0; i < n; i++) {
        if (inst_of(u, readers[i])->op == OP_load)
            compute_there(u, readers[i]);
        else if (is_whole(inst_of(u, readers[i])->op))
            give_own(u, readers[i]);
    }
    return true;
}

static Ref next_map(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_map) return ref;
    return NO_REF;
}

/* What was written into its callers is called by nobody, and has maps still. */
static void drop_unreached(PassContext *ctx) {
    Module *module = ctx->module;
    Map reached;
    Vec(Func *) open = {0};
    map_init(&reached, ctx->arena);
    vec_push(ctx->arena, &open, module->funcs.items[0]);
    map_put(&reached, map_key(module->funcs.items[0]));
    while (open.len) {
        const Func *func = vec_pop(&open);
        for (Ref ref = 1; ref < func->insts.len; ref++) {
            const Inst *inst = ir_inst(func, ref);
            Func *named = ir_op_text[inst->op].u == U_FUNC ? inst->u.func : NULL;
            if (!named || map_find(&reached, map_key(named))) continue;
            map_put(&reached, map_key(named));
            vec_push(ctx->arena, &open, named);
        }
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < module->funcs.len; i++)
        if (map_find(&reached, map_key(module->funcs.items[i])))
            module->funcs.items[kept++] = module->funcs.items[i];
    module->funcs.len = kept;
}

enum { MOST_MAPS = 1000 };

void opt_unmade(PassContext *ctx, Func *func) {
    if (!em_without_heap(ctx)) return;
    if (func == ctx->module->funcs.items[0]) drop_unreached(ctx);
    Unmade u = {.ctx = ctx, .func = func};
    for (int rounds = 0; (u.map = next_map(func)) && rounds < MOST_MAPS; rounds++) {
        if (!unmake(&u)) return;
        ir_remove(func, u.map);
        opt_fuse(ctx, func);
        if (ctx->module->diags->failed) return;
    }
}
