/* expand.c - whole-array ops become loops.
 *
 *   c = map @f (a, b)   =>   alike = lengths are the same, strides are those of C
 *                            branch alike, loops, general
 *                            loops:   x = alloc ...; the nest; jump done
 *                            general: y = call @g.general (a, b); jump done       (cold)
 *                            done:    c = phi [x, y]
 *
 * The nest that stands in line is for operands that do not stretch and lie as their types say, or side by side along
 * the innermost axis; the axes of arrays that all lie in one order become one. What the function itself says of its arrays
 * is taken for granted: `x[:, None]` and `x[:, k:k + 1]` are repeated, `x[:, 0]` has a stride, `x[1:]` may share memory with
 * `x[:-1]`. Everything else is a function of its own, whose first block is cold, so that it is compiled when it is first called:
 * other axes of length 1, other strides, the errors of shapes, and other operands of map_into that share memory with the target.
 * Where memory is shared the values go into a new array first.
 *
 * Where nothing can differ the nest stands alone. Kernels, and level 0, have the general nest alone, in line. */
#include "codegen/opt/expand.h"

/* -- results ---------------------------------------------------------------------------------------- */

/* The new array that the op makes; NO_REF: a reduction to a scalar. */
static Ref make_result(Emit *e, const WholeOp *w, const Ref *dims) {
    Ref lengths[MAX_AXES];
    int n = 0;
    for (int r = 0; r < w->ndim; r++)
        if (w->op == OP_map || !(w->axes >> r & 1)) lengths[n++] = dims[r];
    return n ? em_raising(e, OP_alloc, w->type, lengths, n) : NO_REF;
}

/* The op in a nest; gives its result. map_into writes to `to`. */
static Ref write_nest(Emit *e, const WholeOp *w, const Ref *dims, bool alike, Ref to) {
    Nest nest;
    if (w->op != OP_map_into) to = make_result(e, w, dims);
    em_nest(e, w, dims, alike, to, &nest);
    if (w->op == OP_reduce) {
        Ref acc = em_reduce_nest(e, &nest, w);
        return to ? to : acc;
    }
    em_map_nest(e, &nest, w->element);
    return to;
}

/* -- overlap ---------------------------------------------------------------------------------------- */

/* Nothing else has it. */
static bool is_fresh(const Emit *e, Ref array) {
    return ir_inst(e->func, array)->op == OP_alloc;
}

/* May writing an element of the target change one that is still to be read? NO_REF: never. */
static Ref overlaps(Emit *e, const WholeOp *w) {
    Ref any = NO_REF;
    if (w->op != OP_map_into || em_without_heap(e->ctx))
        return NO_REF; /* kernels have no memory for a copy */
    for (int32_t k = 0; k < w->n; k++) {
        Ref operand = w->operands[k];
        if (!em_is_array(e, operand)) continue;
        bool seen = is_fresh(e, w->target) || is_fresh(e, operand) ||
                    em_is_same(e->func, w->target, operand) ||
                    em_known_apart(e->func, w->target, operand);
        for (int32_t j = 0; j < k; j++)
            seen = seen || em_is_same(e->func, w->operands[j], operand);
        if (seen) continue;
        Ref same = b_op2(&e->b, OP_same_array, e->boolean, w->target, operand);
        Ref apart = b_op2(&e->b, OP_disjoint, e->boolean, w->target, operand);
        Ref bad = b_op1(&e->b, OP_not, e->boolean, b_op2(&e->b, OP_or, e->boolean, same, apart));
        any = em_or(e, any, bad);
    }
    return any;
}

static void open_case(Emit *e, Ref condition, int32_t yes, int32_t no) {
    b_branch(&e->b, condition, yes, no);
    e->b.block = yes;
}

enum { MOST_STILL = 4 };

/* Operands that may have length 1 along the innermost axis, and whether each of them has. */
static int may_be_still(Emit *e, const WholeOp *w, Ref *operands, Ref *is_still) {
    int n = 0;
    for (int32_t k = 0; k < w->n; k++) {
        Ref operand = w->operands[k];
        bool seen = operand == w->like || !em_is_array(e, operand);
        for (int j = 0; j < n; j++)
            seen = seen || operands[j] == operand;
        int axis = seen ? -1 : em_innermost(e, w, operand);
        if (axis < 0 || em_known_one(e->func, operand, axis)) continue;
        if (n == MOST_STILL) return 0;
        operands[n] = operand;
        is_still[n++] = em_op2(e, OP_eq, em_length(e, operand, axis), em_int(e, 1));
    }
    return n;
}

/* The nest, in versions where no operand stands still along the innermost axis, or one of them, which is then read in front of
 * that loop; and one for any number of them. */
static Ref write_versions(Emit *e, const WholeOp *w, const Ref *dims) {
    Ref operands[MOST_STILL], is_still[MOST_STILL], results[MOST_STILL + 2];
    int n = w->op == OP_reduce || em_without_heap(e->ctx) || e->ctx->options->opt_level < 1
                ? 0
                : may_be_still(e, w, operands, is_still);
    if (!n) {
        Ref result = write_nest(e, w, dims, false, w->target);
        return w->type ? result : NO_REF; /* a target is no result */
    }
    int32_t done = em_block(e);
    for (int v = 0; v <= n; v++) { /* version v - 1: that one stands still */
        Ref fits = NO_REF;
        WholeOp known = *w;
        known.one_still = true;
        known.still = v ? operands[v - 1] : NO_REF;
        for (int k = 0; k < n; k++)
            fits = em_and(e, fits,
                          k == v - 1 ? is_still[k] : b_op1(&e->b, OP_not, e->boolean, is_still[k]));
        int32_t yes = em_block(e), no = em_block(e);
        open_case(e, fits, yes, no);
        results[v] = write_nest(e, &known, dims, false, w->target);
        b_jump(&e->b, done);
        e->b.block = no;
    }
    results[n + 1] = write_nest(e, w, dims, false, w->target);
    b_jump(&e->b, done);
    e->b.block = done;
    if (!w->type) return NO_REF;
    Ref result = b_phi(&e->b, w->type);
    for (int v = 0; v <= n + 1; v++)
        ir_add_arg(e->func, result, results[v]);
    return result;
}

/* A new array that is used as the target is. */
static Ref stand_in(Emit *e, const WholeOp *w, const Ref *dims) {
    const Type *type = ir_type(e->func, w->target);
    Layout layout = type->layout == LAYOUT_F ? LAYOUT_F : LAYOUT_C;
    const Type *fresh = type_array(e->func->module->types, type->element, w->ndim, layout);
    Ref array = em_raising(e, OP_alloc, fresh, dims, w->ndim);
    if (fresh == type) return array;
    char letters[MAX_AXES];
    memset(letters, 'f', sizeof letters);
    Str *name = arena_new(e->func->module->arena, Str);
    *name = str_copy(e->func->module->arena, letters, (size_t)w->ndim);
    Ref view = b_inst(&e->b, OP_view, type, &array, 1);
    ir_inst(e->func, view)->u.name = name;
    return view;
}

static void write_back(Emit *e, const WholeOp *w, const Ref *dims, bool alike, Ref from) {
    WholeOp back = *w;
    back.element = NULL, back.fits = true;
    back.n = 1, back.operands = &from;
    write_nest(e, &back, dims, alike, w->target);
}

/* All values go into a new array first. */
static void write_copied(Emit *e, const WholeOp *w, const Ref *dims) {
    WholeOp into = *w;
    into.target = stand_in(e, w, dims);
    write_nest(e, &into, dims, true, into.target);
    write_back(e, w, dims, true, into.target);
}

/* So it is where memory is shared, with one nest for both: its code is long. */
static void write_apart(Emit *e, const WholeOp *w, const Ref *dims, Ref shared) {
    int32_t copied = em_block(e), direct = em_block(e), both = em_block(e);
    int32_t back = em_block(e), done = em_block(e);
    open_case(e, shared, copied, direct);
    Ref fresh = stand_in(e, w, dims);
    b_jump(&e->b, both);
    e->b.block = direct;
    b_jump(&e->b, both);
    e->b.block = both;
    WholeOp into = *w;
    into.target = b_phi(&e->b, ir_type(e->func, w->target));
    ir_add_arg(e->func, into.target, fresh);
    ir_add_arg(e->func, into.target, w->target);
    write_versions(e, &into, dims);
    open_case(e, shared, back, done);
    write_back(e, w, dims, false, into.target);
    b_jump(&e->b, done);
    e->b.block = done;
}

/* For all operands, in line or as the body of a function. */
static Ref write_general(Emit *e, const WholeOp *w) {
    Ref dims[MAX_AXES];
    em_broadcast(e, w, dims);
    Ref shared = overlaps(e, w);
    if (!shared) return write_versions(e, w, dims);
    write_apart(e, w, dims, shared);
    return NO_REF;
}

/* -- the function for the rest ------------------------------------------------------------------------ */

typedef struct Outside {
    Vec(Ref) args; /* of the call; constants are made again */
    Vec(const Type *) types;
    Emit inner;
} Outside;

/* Where `ref` stands among the arguments, or -1. */
static int32_t passed(const Outside *o, Ref ref) {
    for (int32_t k = 0; k < o->args.len; k++)
        if (o->args.items[k] == ref) return k;
    return -1;
}

static void pass_in(Outside *o, Emit *e, Ref ref) {
    if (!ref || ir_inst(e->func, ref)->op == OP_const || passed(o, ref) >= 0) return;
    vec_push(e->ctx->arena, &o->args, ref);
    vec_push(e->ctx->arena, &o->types, ir_type(e->func, ref));
}

static Ref inside(Outside *o, const Emit *e, Ref ref) {
    if (!ref) return NO_REF;
    const Inst *inst = ir_inst(e->func, ref);
    if (inst->op != OP_const) return em_param(&o->inner, passed(o, ref));
    return b_const(&o->inner.b, inst->type, inst->u.value);
}

/* Calls it, from a cold block. */
static Ref call_general(Emit *e, const WholeOp *w) {
    Outside o = {0};
    pass_in(&o, e, w->target);
    pass_in(&o, e, w->start);
    for (int32_t k = 0; k < w->n; k++)
        pass_in(&o, e, w->operands[k]);
    const Type *none = type_scalar(e->func->module->types, TY_none);
    Func *func =
        em_function(&o.inner, e, "general", o.types.items, o.args.len, w->type ? w->type : none);
    func->blocks.items[0].cold = true;
    WholeOp inner = *w;
    Ref *operands = arena_array(e->ctx->arena, Ref, w->n + 1);
    inner.like = inner.target = inside(&o, e, w->target);
    inner.start = inside(&o, e, w->start);
    for (int32_t k = 0; k < w->n; k++)
        operands[k] = inside(&o, e, w->operands[k]);
    inner.operands = operands;
    Ref result = write_general(&o.inner, &inner);
    b_return(&o.inner.b, result ? result : em_none(&o.inner));
    e->func->blocks.items[e->b.block].cold = true;
    return em_call(e, func, o.args.items, o.args.len);
}

/* -- both ---------------------------------------------------------------------------------------------- */

/* In line: no axis is repeated that is not known to be. */
static Ref write_alike(Emit *e, const WholeOp *w, const Ref *dims, Sharing sharing, Ref shared) {
    if (!shared || sharing == APART) return write_nest(e, w, dims, true, w->target);
    if (sharing == SHARED) {
        write_copied(e, w, dims);
        return NO_REF;
    }
    int32_t copied = em_block(e), direct = em_block(e), done = em_block(e);
    open_case(e, shared, copied, direct);
    write_copied(e, w, dims);
    b_jump(&e->b, done);
    e->b.block = direct;
    write_nest(e, w, dims, true, w->target);
    b_jump(&e->b, done);
    e->b.block = done;
    return NO_REF;
}

static Ref write_op(Emit *e, const WholeOp *w) {
    Ref dims[MAX_AXES];
    Ref alike = em_alike(e, w, dims), shared = overlaps(e, w);
    Sharing sharing = shared ? em_sharing(e->func, w) : APART;
    if (shared && sharing == APART) /* the function for the rest sees to it */
        alike = em_and(e, alike, b_op1(&e->b, OP_not, e->boolean, shared));
    if (!alike) return write_alike(e, w, dims, sharing, shared);
    if (em_without_heap(e->ctx) || e->ctx->options->opt_level < 1) return write_general(e, w);
    int32_t fast = em_block(e), general = em_block(e), done = em_block(e);
    open_case(e, alike, fast, general);
    Ref here = write_alike(e, w, dims, sharing, shared);
    b_jump(&e->b, done);
    e->b.block = general;
    Ref there = call_general(e, w);
    b_jump(&e->b, done);
    e->b.block = done;
    if (!w->type) return NO_REF;
    Ref result = b_phi(&e->b, w->type);
    ir_add_arg(e->func, result, here);
    ir_add_arg(e->func, result, there);
    return result;
}

/* -- the pass -------------------------------------------------------------------------------------- */

WholeOp em_whole_op(PassContext *ctx, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const Ref *args = arena_copy(ctx->arena, ir_args(func, ref), sizeof(Ref) * (size_t)inst->nargs);
    WholeOp w = {.op = (Op)inst->op,
                 .flags = inst->sub,
                 .element = inst->u.func,
                 .axes = inst->imm,
                 .type = inst->type};
    int32_t skip = 0;
    if (w.op == OP_map_into) w.like = w.target = args[skip++];
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
    WholeOp w = em_whole_op(ctx, func, ref);
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
    Ref result = write_op(&e, &w);
    b_jump(&e.b, behind);
    ir_inst(func, ref)->error = NO_BLOCK;
    settle_errors(func, error, behind, known);
    return result;
}

static bool expand_all(PassContext *ctx, Func *func) {
    Vec(Ref) found = {0};
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++) {
            int op = ir_inst(func, block->insts.items[i])->op;
            if (op == OP_map || op == OP_map_into || op == OP_reduce)
                vec_push(ctx->arena, &found, block->insts.items[i]);
        }
    }
    if (!found.len) return false;
    Ref *results = arena_array(ctx->arena, Ref, found.len);
    for (int32_t i = 0; i < found.len; i++)
        results[i] = expand_one(ctx, func, found.items[i]);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < found.len; i++)
        map[found.items[i]] = results[i];
    ir_replace_many(func, map);
    for (int32_t i = 0; i < found.len; i++)
        ir_remove(func, found.items[i]);
    return true;
}

/* The function that an op applies to elements may be written with whole arrays of its own: they come into the loops with it. */
void opt_expand(PassContext *ctx, Func *func) {
    while (expand_all(ctx, func))
        continue;
}
