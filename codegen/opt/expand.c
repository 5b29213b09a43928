/* expand.c - whole-array ops become loops.
 *
 * map: shapes broadcast, a new array, a loop nest. map_into: the same into memory that is there; where an operand may
 * share memory with the target and is not the target itself, the values go into a new array first. reduce is in
 * expand_reduce.c. */
#include "codegen/opt/expand.h"

/* -- shapes ---------------------------------------------------------------------------------------- */

static const Str *message_name(Emit *e, int from, int to, const char *between) {
    StrBuf out;
    buf_init(&out, e->func->module->arena);
    for (int side = 0, at = 0; side < 2; side++) {
        int n = side ? to : from;
        if (side) buf_str(&out, between);
        buf_char(&out, '(');
        for (int k = 0; k < n; k++, at++)
            buf_printf(&out, "%s{%d}", k ? "," : "", at);
        buf_str(&out, n == 1 ? ",)" : ")");
    }
    Str *name = arena_new(e->func->module->arena, Str);
    *name = buf_take(&out);
    return name;
}

/* Raises with both shapes, or where they are too long for a message, with the two lengths `n` and `m`. */
static void refuse(Emit *e, const WholeOp *w, Ref bad, const Ref *from, int nfrom, const Ref *to,
                   int nto) {
    Ref args[MAX_MESSAGE_ARGS + 1] = {bad};
    bool into = w->op == OP_map_into;
    for (int k = 0; k < nfrom; k++)
        args[1 + k] = from[k];
    for (int k = 0; k < nto; k++)
        args[1 + nfrom + k] = to[k];
    Ref guard = b_inst(&e->b, OP_guard, NULL, args, 1 + nfrom + nto);
    Inst *inst = ir_inst(e->func, guard);
    inst->sub = into ? GUARD_broadcast_into : GUARD_broadcast_shapes;
    inst->u.name = message_name(e, nfrom, nto, into ? " into shape " : " ");
    b_continue(&e->b);
}

static void refuse_lengths(Emit *e, Ref bad, Ref n, Ref m) {
    Ref args[] = {bad, n, m};
    Ref guard = b_inst(&e->b, OP_guard, NULL, args, 3);
    ir_inst(e->func, guard)->sub = GUARD_broadcast_lengths;
    b_continue(&e->b);
}

/* `array` joins the shape in dims, whose last `*known` axes are known. A target does not stretch. */
static void join_shape(Emit *e, const WholeOp *w, Ref array, Ref *dims, int *known) {
    int n = ir_type(e->func, array)->ndim, from = w->ndim - *known, skip = w->ndim - n;
    bool into = w->op == OP_map_into, said = n + *known <= MAX_MESSAGE_ARGS;
    Ref lengths[MAX_AXES], joined[MAX_AXES], bad = NO_REF, one = em_int(e, 1);
    for (int a = 0; a < n; a++) {
        lengths[a] = em_length(e, array, a);
        joined[a] = lengths[a];
        if (skip + a < from) continue;
        Ref dim = dims[skip + a];
        Ref wrong = em_and(e, em_op2(e, OP_ne, lengths[a], dim), em_op2(e, OP_ne, lengths[a], one));
        if (!into) wrong = em_and(e, wrong, em_op2(e, OP_ne, dim, one));
        if (!said) refuse_lengths(e, wrong, lengths[a], dim);
        bad = em_or(e, bad, wrong);
        Ref stretched = em_op2(e, OP_eq, dim, one);
        joined[a] = into ? dim : b_op3(&e->b, OP_select, e->i64, stretched, lengths[a], dim);
    }
    if (bad && said && into) refuse(e, w, bad, lengths, n, dims + from, *known);
    if (bad && said && !into) refuse(e, w, bad, dims + from, *known, lengths, n);
    for (int a = 0; a < n; a++)
        dims[skip + a] = joined[a];
    *known = QN_MAX(*known, n);
}

static bool is_array(const Emit *e, Ref ref) {
    return ir_type(e->func, ref)->kind == TY_ARRAY;
}

void em_broadcast(Emit *e, const WholeOp *w, Ref *dims) {
    int known = 0;
    if (w->target) join_shape(e, w, w->target, dims, &known);
    for (int32_t k = 0; k < w->n; k++)
        if (is_array(e, w->operands[k])) join_shape(e, w, w->operands[k], dims, &known);
}

/* An axis of length 1 is read at 0 all along. */
Ref *em_factors(Emit *e, const WholeOp *w) {
    Ref *factors = arena_array(e->ctx->arena, Ref, w->n * MAX_AXES + 1);
    Ref one = em_int(e, 1), zero = em_int(e, 0);
    for (int32_t k = 0; k < w->n; k++) {
        const Type *type = ir_type(e->func, w->operands[k]);
        for (int a = 0; type->kind == TY_ARRAY && a < type->ndim; a++) {
            Ref several = em_op2(e, OP_ne, em_length(e, w->operands[k], a), one);
            factors[k * MAX_AXES + a] = b_op3(&e->b, OP_select, e->i64, several, one, zero);
        }
    }
    return factors;
}

/* -- elements -------------------------------------------------------------------------------------- */

Ref em_operand(Emit *e, const WholeOp *w, const Ref *factors, int32_t k, const Ref *index) {
    Ref operand = w->operands[k], args[MAX_AXES + 1] = {operand};
    const Type *type = ir_type(e->func, operand);
    if (type->kind != TY_ARRAY) return operand;
    for (int a = 0; a < type->ndim; a++) {
        Ref at = index[w->ndim - type->ndim + a];
        if (factors) {
            at = em_op2(e, OP_mul, at, factors[k * MAX_AXES + a]);
            ir_inst(e->func, at)->sub = FLAG_NOWRAP;
        }
        args[1 + a] = at;
    }
    return b_inst(&e->b, OP_load, type->element, args, 1 + type->ndim);
}

void em_elements(Emit *e, const WholeOp *w, const Ref *factors, const Ref *index, Ref *out) {
    for (int32_t k = 0; k < w->n; k++) {
        out[k] = NO_REF;
        for (int32_t j = 0; j < k && !out[k]; j++) /* one array twice is read once */
            if (w->operands[j] == w->operands[k]) out[k] = out[j];
        if (!out[k]) out[k] = em_operand(e, w, factors, k, index);
    }
}

/* -- map ------------------------------------------------------------------------------------------- */

static bool in_fortran_order(const Type *type) {
    return type->layout == LAYOUT_F;
}

/* to[i...] = element(operands...) for all indices. */
static void map_nest(Emit *e, const WholeOp *w, Ref to, const Ref *dims, const Ref *factors) {
    EmitLoop loops[MAX_AXES];
    Ref index[MAX_AXES], store[MAX_AXES + 2] = {to};
    Ref *values = arena_array(e->ctx->arena, Ref, w->n + 1);
    bool fortran = in_fortran_order(ir_type(e->func, to));
    for (int k = 0; k < w->ndim; k++) {
        int axis = fortran ? w->ndim - 1 - k : k;
        em_loop(e, &loops[k], dims[axis], NO_REF);
        index[axis] = store[axis + 1] = loops[k].counter;
    }
    em_elements(e, w, factors, index, values);
    store[w->ndim + 1] = em_apply(e, w->element, values, w->n);
    b_inst(&e->b, OP_store, NULL, store, w->ndim + 2);
    for (int k = w->ndim; k-- > 0;)
        em_loop_end(e, &loops[k], NO_REF);
}

static Ref expand_map(Emit *e, const WholeOp *w) {
    Ref dims[MAX_AXES];
    em_broadcast(e, w, dims);
    Ref *factors = em_factors(e, w);
    Ref to = em_raising(e, OP_alloc, w->type, dims, w->ndim);
    map_nest(e, w, to, dims, factors);
    return to;
}

/* -- map_into -------------------------------------------------------------------------------------- */

/* May writing an element of the target change one that is still to be read? NO_REF: never. */
static Ref overlaps(Emit *e, const WholeOp *w) {
    Ref any = NO_REF;
    if (e->ctx->options->entry == ENTRY_KERNEL || !target_is_host(e->ctx->options->infer.target))
        return NO_REF; /* no memory for a copy */
    for (int32_t k = 0; k < w->n; k++) {
        Ref operand = w->operands[k];
        bool seen = operand == w->target;
        for (int32_t j = 0; j < k; j++)
            seen = seen || w->operands[j] == operand;
        if (seen || !is_array(e, operand)) continue;
        Ref same = b_op2(&e->b, OP_same_array, e->boolean, w->target, operand);
        Ref apart = b_op2(&e->b, OP_disjoint, e->boolean, w->target, operand);
        Ref bad = b_op1(&e->b, OP_not, e->boolean, b_op2(&e->b, OP_or, e->boolean, same, apart));
        any = em_or(e, any, bad);
    }
    return any;
}

static void copy_nest(Emit *e, const WholeOp *w, Ref from, const Ref *dims) {
    EmitLoop loops[MAX_AXES];
    Ref load[MAX_AXES + 1] = {from}, store[MAX_AXES + 2] = {w->target};
    for (int k = 0; k < w->ndim; k++) {
        em_loop(e, &loops[k], dims[k], NO_REF);
        load[k + 1] = store[k + 1] = loops[k].counter;
    }
    const Type *element = ir_type(e->func, from)->element;
    store[w->ndim + 1] = b_inst(&e->b, OP_load, element, load, w->ndim + 1);
    b_inst(&e->b, OP_store, NULL, store, w->ndim + 2);
    for (int k = w->ndim; k-- > 0;)
        em_loop_end(e, &loops[k], NO_REF);
}

static void map_into_copy(Emit *e, const WholeOp *w, const Ref *dims, const Ref *factors) {
    TypeTable *types = e->func->module->types;
    const Type *fresh = type_array(types, w->element->result, w->ndim, LAYOUT_C);
    Ref copy = em_raising(e, OP_alloc, fresh, dims, w->ndim);
    map_nest(e, w, copy, dims, factors);
    copy_nest(e, w, copy, dims);
}

static void expand_map_into(Emit *e, const WholeOp *w) {
    Ref dims[MAX_AXES];
    em_broadcast(e, w, dims);
    Ref *factors = em_factors(e, w), shared = overlaps(e, w);
    if (!shared) {
        map_nest(e, w, w->target, dims, factors);
        return;
    }
    int32_t direct = em_block(e), copied = em_block(e), done = em_block(e);
    b_branch(&e->b, shared, copied, direct);
    e->b.block = direct;
    map_nest(e, w, w->target, dims, factors);
    b_jump(&e->b, done);
    e->b.block = copied;
    map_into_copy(e, w, dims, factors);
    b_jump(&e->b, done);
    e->b.block = done;
}

/* -- the pass -------------------------------------------------------------------------------------- */

static WholeOp whole_op(PassContext *ctx, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const Ref *args = arena_copy(ctx->arena, ir_args(func, ref), sizeof(Ref) * (size_t)inst->nargs);
    WholeOp w = {.op = (Op)inst->op,
                 .flags = inst->sub,
                 .element = inst->u.func,
                 .axes = inst->imm,
                 .type = inst->type};
    int32_t skip = 0;
    if (w.op == OP_map_into) w.target = args[skip++];
    if (w.op == OP_reduce && !(w.flags & REDUCE_FIRST)) w.start = args[skip++];
    w.operands = args + skip;
    w.n = inst->nargs - skip;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (ir_type(func, args[k])->kind == TY_ARRAY)
            w.ndim = QN_MAX(w.ndim, ir_type(func, args[k])->ndim);
    return w;
}

/* New edges to an error successor bring what the op's own edge brought, which then goes. */
static void settle_errors(Func *func, int32_t error, int32_t from, int32_t known) {
    if (error == NO_BLOCK) return;
    const Block *block = &func->blocks.items[error];
    int32_t own = 0;
    while (block->preds.items[own] != from)
        own++;
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref phi = block->insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        for (int32_t k = known; k < block->preds.len; k++)
            ir_add_arg(func, phi, ir_arg(func, phi, own));
    }
    ir_edge_remove(func, from, error);
}

static Ref expand_one(PassContext *ctx, Func *func, Ref ref) {
    WholeOp w = whole_op(ctx, func, ref);
    int32_t before = ir_inst(func, ref)->block, error = ir_inst(func, ref)->error;
    int32_t behind = opt_split_block(func, before, opt_position(func, ref));
    ir_remove(func, ir_terminator(func, before));
    ir_edge_remove(func, before, behind);
    Emit e = {.ctx = ctx, .func = func};
    e.i64 = type_scalar(func->module->types, TY_i64);
    e.boolean = type_scalar(func->module->types, TY_bool);
    e.b = (Builder){
        .func = func, .block = before, .at = -1, .span = ir_inst(func, ref)->span, .error = error};
    int32_t known = error == NO_BLOCK ? 0 : func->blocks.items[error].preds.len;
    Ref result = NO_REF;
    if (w.op == OP_map) result = expand_map(&e, &w);
    if (w.op == OP_map_into) expand_map_into(&e, &w);
    if (w.op == OP_reduce) result = expand_reduce(&e, &w);
    b_jump(&e.b, behind);
    ir_inst(func, ref)->error = NO_BLOCK;
    settle_errors(func, error, behind, known);
    return result;
}

void opt_expand(PassContext *ctx, Func *func) {
    Vec(Ref) found = {0};
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++) {
            int op = ir_inst(func, block->insts.items[i])->op;
            if (op == OP_map || op == OP_map_into || op == OP_reduce)
                vec_push(ctx->arena, &found, block->insts.items[i]);
        }
    }
    if (!found.len) return;
    Ref *results = arena_array(ctx->arena, Ref, found.len);
    for (int32_t i = 0; i < found.len; i++)
        results[i] = expand_one(ctx, func, found.items[i]);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < found.len; i++)
        map[found.items[i]] = results[i];
    ir_replace_many(func, map);
    for (int32_t i = 0; i < found.len; i++)
        ir_remove(func, found.items[i]);
}
