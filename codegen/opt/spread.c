/* spread.c - in parallel functions, work on large whole arrays becomes a loop over prange of work on parts of them.
 *
 *     r = map @f (a, b)        if a is large, and all shapes fit: r = alloc; for k in prange(chunks):
 *                                  map_into @f (r[low:high], a[low:high], b[low:high])
 *                              else: r = map @f (a, b)
 *     s = reduce @add (0, a)   likewise: s = reduce @add (s, a[low:high])
 *
 *     s = reduce @add axes 2 (0, a)   r = alloc; and r[low:high] = reduce @add axes 2 (0, a[low:high]), an axis that is left is cut
 *
 * Arrays are cut along the first axis (the last one in F order). The pass `parallel` comes behind this one and makes functions of the
 * loops, with partial results for the sums. What broadcasts along the axis is passed as it is; what does not fit at all, small arrays and
 * targets that overlap operands take the old way, which also tells what is wrong. */
#include "codegen/opt/parallel.h"

enum { LARGE = 1 << 15, LARGE_IF_SLOW = 1 << 12, MAX_OPERANDS = 16, MAX_AXES = 8 };

typedef struct Spread {
    PassContext *ctx;
    Func *func;
    Builder b;
    const Type *i64, *boolean;
    Ref op;    /* the whole-array op */
    Ref whole; /* the array that has the shape of all: the target, or the operand with the most axes */
    Ref target;
    Ref start;              /* reduce */
    int32_t first, n, axis; /* of the operands that are walked over; the axis that is cut */
    int32_t result_axis;    /* a reduction of some axes: where that one is in the result; or -1 */
} Spread;

/* -- what may be spread ------------------------------------------------------------------------- */

static bool is_array(const Spread *s, Ref ref) {
    return ir_type(s->func, ref)->kind == TY_ARRAY && ir_type(s->func, ref)->ndim > 0;
}

/* Some axes are left: the first of them is cut (the last one in F order), so that each part gives elements of the result. */
static bool cut_what_is_left(Spread *s) {
    const Inst *inst = ir_inst(s->func, s->op);
    int axes = ir_type(s->func, s->whole)->ndim, left = 0;
    bool f_order = inst->type->layout == LAYOUT_F;
    for (int k = 0; k < axes; k++) {
        if (inst->imm >> k & 1) continue;
        if (left++ == 0 || f_order) s->axis = k, s->result_axis = left - 1;
    }
    return left == inst->type->ndim && left > 0;
}

/* All axes: the parts are combined. */
static bool may_reduce(Spread *s) {
    const Inst *inst = ir_inst(s->func, s->op);
    int axes = ir_type(s->func, s->whole)->ndim;
    if (inst->type->kind == TY_ARRAY) return cut_what_is_left(s);
    if (!type_is_number(inst->type) || inst->imm != (INT64_C(1) << axes) - 1) return false;
    if (inst->sub & (REDUCE_EARLY | REDUCE_REST)) return false;
    CarriedKind kind = reduction_of(inst->u.func, NULL);
    bool may_repeat = kind == CARRIED_CHOICE || kind == CARRIED_AND || kind == CARRIED_OR;
    return kind != CARRIED_NOT && (!(inst->sub & REDUCE_FIRST) || may_repeat);
}

static bool find_whole(Spread *s) {
    const Inst *inst = ir_inst(s->func, s->op);
    s->first = inst->op == OP_map_into || (inst->op == OP_reduce && !(inst->sub & REDUCE_FIRST));
    s->n = inst->nargs;
    if (inst->error != NO_BLOCK || s->n > MAX_OPERANDS) return false;
    if (inst->op == OP_map_into) s->target = s->whole = ir_arg(s->func, s->op, 0);
    if (inst->op == OP_reduce && s->first) s->start = ir_arg(s->func, s->op, 0);
    for (int32_t k = s->first; k < s->n && !s->target; k++) {
        Ref arg = ir_arg(s->func, s->op, k);
        if (!is_array(s, arg)) continue;
        if (!s->whole || ir_type(s->func, arg)->ndim > ir_type(s->func, s->whole)->ndim)
            s->whole = arg;
    }
    if (!s->whole || !is_array(s, s->whole)) return false;
    const Type *type = ir_type(s->func, s->whole);
    if (type->ndim > MAX_AXES) return false;
    Layout layout = inst->op == OP_map ? inst->type->layout : type->layout;
    s->axis = layout == LAYOUT_F ? type->ndim - 1 : 0;
    s->result_axis = -1;
    return inst->op != OP_reduce || may_reduce(s);
}

/* -- pieces of code ----------------------------------------------------------------------------- */

static Ref number(Spread *s, int64_t value) {
    return ir_const_int(s->func, s->i64, value);
}

static Ref op2(Spread *s, Op op, Ref a, Ref c) {
    bool compares = ir_op_info[op].result == RES_BOOL;
    return b_op2(&s->b, op, compares ? s->boolean : s->i64, a, c);
}

static Ref both(Spread *s, Ref a, Ref c) {
    return a ? b_op2(&s->b, OP_and, s->boolean, a, c) : c;
}

static Ref length(Spread *s, Ref array, int axis) {
    Ref ref = b_op1(&s->b, OP_shape, s->i64, array);
    ir_inst(s->func, ref)->imm = axis;
    return ref;
}

/* The axis of an operand that lies along the one that is cut; below 0: none. */
static int own_axis(const Spread *s, Ref array) {
    return s->axis - (ir_type(s->func, s->whole)->ndim - ir_type(s->func, array)->ndim);
}

static bool is_slow(const Func *func, int depth) {
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
        if (row && lib_lowering(row, TARGET_CPU)->kind == LOWER_LIB) return true;
        if (inst->op == OP_pow || inst->op == OP_floordiv || inst->op == OP_mod) return true;
        if (inst->op == OP_call && (depth == 0 || is_slow(inst->u.func, depth - 1))) return true;
    }
    return false;
}

/* -- the test ----------------------------------------------------------------------------------- */

/* No axis of the whole is stretched, and all others fit. */
static Ref fits(Spread *s, Ref so_far, Ref array) {
    int shift = ir_type(s->func, s->whole)->ndim - ir_type(s->func, array)->ndim;
    for (int k = 0; k < ir_type(s->func, array)->ndim; k++) {
        Ref own = length(s, array, k);
        Ref same = op2(s, OP_eq, own, length(s, s->whole, k + shift));
        Ref one = op2(s, OP_eq, own, number(s, 1));
        so_far = both(s, so_far, b_op2(&s->b, OP_or, s->boolean, same, one));
    }
    return so_far;
}

/* The target is the operand itself, or shares nothing with it. */
static Ref apart(Spread *s, Ref so_far, Ref array) {
    Ref ok = op2(s, OP_disjoint, s->target, array);
    if (ir_type(s->func, array)->ndim == ir_type(s->func, s->target)->ndim)
        ok = b_op2(&s->b, OP_or, s->boolean, ok, op2(s, OP_same_array, s->target, array));
    return both(s, so_far, ok);
}

static void tell(Spread *s, int64_t large) {
    static const char *const what[] = {[OP_map] = "a new array",
                                       [OP_map_into] = "an array is filled",
                                       [OP_reduce] = "a reduction"};
    Arena *arena = s->ctx->module->arena;
    Str text = str_printf(arena, "%s: on several threads from %lld elements on",
                          what[ir_inst(s->func, s->op)->op], (long long)large);
    parallel_remark(s->ctx, s->func, s->op, 2, text);
}

static Ref condition(Spread *s) {
    Ref size = NO_REF, n = length(s, s->whole, s->axis);
    for (int k = 0; k < ir_type(s->func, s->whole)->ndim; k++) {
        Ref axis = length(s, s->whole, k);
        size = size ? op2(s, OP_mul, size, axis) : axis;
    }
    int64_t large = is_slow(ir_inst(s->func, s->op)->u.func, 2) ? LARGE_IF_SLOW : LARGE;
    tell(s, large);
    Ref ok = both(s, op2(s, OP_le, number(s, large), size), op2(s, OP_lt, number(s, 1), n));
    for (int32_t k = s->first; k < s->n; k++) {
        Ref arg = ir_arg(s->func, s->op, k);
        if (ir_type(s->func, arg)->kind != TY_ARRAY || arg == s->whole) continue;
        ok = fits(s, ok, arg);
        if (s->target) ok = apart(s, ok, arg);
    }
    return ok;
}

/* -- the loop ----------------------------------------------------------------------------------- */

/* array[low:low + count] along one of its axes. */
static Ref slice_of(Spread *s, Ref array, int own, Ref low, Ref count) {
    const Type *type = ir_type(s->func, array);
    Arena *arena = s->ctx->module->arena;
    char *items = arena_array(arena, char, type->ndim + 1);
    memset(items, 'f', (size_t)type->ndim);
    items[own] = 's';
    Str *name = arena_new(arena, Str);
    *name = str_copy(arena, items, (size_t)type->ndim);
    bool outer = own == (type->layout == LAYOUT_F ? type->ndim - 1 : 0);
    const Type *result =
        outer ? type : type_array_like(s->ctx->module->types, type, type->ndim, LAYOUT_A);
    Ref view = b_inst(&s->b, OP_view, result, (Ref[]){array, low, number(s, 1), count}, 4);
    ir_inst(s->func, view)->u.name = name;
    return view;
}

/* The same along the axis that is cut; where the array is repeated along it, all of it. */
static Ref part_of(Spread *s, Ref array, Ref low, Ref count) {
    const Type *type = ir_type(s->func, array);
    int own = type->kind == TY_ARRAY ? own_axis(s, array) : -1;
    if (own < 0) return array;
    if (array != s->whole && ir_inst(s->func, array)->op != OP_alloc) {
        Ref repeated = op2(s, OP_eq, length(s, array, own), number(s, 1));
        low = b_op3(&s->b, OP_select, s->i64, repeated, number(s, 0), low);
        count = b_op3(&s->b, OP_select, s->i64, repeated, number(s, 1), count);
    }
    return slice_of(s, array, own, low, count);
}

/* The op on the parts [low, low + count); `into`: what a map fills. Gives the accumulator of a reduction. */
static Ref on_parts(Spread *s, Ref into, Ref acc, Ref low, Ref count) {
    Ref args[MAX_OPERANDS + 1];
    int32_t n = 0;
    Op op = (Op)ir_inst(s->func, s->op)->op;
    bool some_axes = s->result_axis >= 0;
    if (some_axes && s->start) args[n++] = s->start;
    if (acc) args[n++] = acc;
    if (into && !some_axes) args[n++] = part_of(s, into, low, count);
    for (int32_t k = s->first; k < s->n; k++)
        args[n++] = part_of(s, ir_arg(s->func, s->op, k), low, count);
    bool reduces = op == OP_reduce;
    Ref made = b_inst(&s->b, reduces ? OP_reduce : OP_map_into,
                      reduces ? ir_type(s->func, s->op) : NULL, args, n);
    const Inst *inst = ir_inst(s->func, s->op);
    ir_inst(s->func, made)->u.func = inst->u.func;
    if (!reduces) return NO_REF;
    ir_inst(s->func, made)->imm = inst->imm;
    ir_inst(s->func, made)->sub = some_axes ? inst->sub : inst->sub & REDUCE_PAIRWISE;
    if (!some_axes) return made;
    Ref part = slice_of(s, into, s->result_axis, low, count);
    Func *copy = copy_function(s->ctx->module, inst->type->element);
    Ref stored = b_inst(&s->b, OP_map_into, NULL, (Ref[]){part, made}, 2);
    ir_inst(s->func, stored)->u.func = copy;
    return NO_REF;
}

/* for k in prange(chunks): [n // chunks * k + min(k, n % chunks), ...). The builder goes on behind it. */
static Ref write_loop(Spread *s, Ref into, Ref start, Ref n, Ref chunks) {
    int32_t header = ir_block_new(s->func), body = ir_block_new(s->func),
            done = ir_block_new(s->func);
    Ref quotient = op2(s, OP_floordiv, n, chunks), rest = op2(s, OP_mod, n, chunks);
    Ref marker = b_op1(&s->b, OP_prange, s->i64, chunks);
    ir_inst(s->func, marker)->imm = PRANGE_OF_ARRAYS;
    b_jump(&s->b, header);
    s->b.block = header;
    Ref k = b_phi(&s->b, s->i64), acc = start ? b_phi(&s->b, ir_type(s->func, start)) : NO_REF;
    ir_add_arg(s->func, k, number(s, 0));
    if (acc) ir_add_arg(s->func, acc, start);
    b_branch(&s->b, op2(s, OP_lt, k, marker), body, done);
    s->b.block = body;
    Ref next = op2(s, OP_add, k, number(s, 1)), before = op2(s, OP_lt, k, rest);
    ir_inst(s->func, next)->sub = FLAG_NOWRAP;
    Ref more = b_op3(&s->b, OP_select, s->i64, before, k, rest);
    Ref low = op2(s, OP_add, op2(s, OP_mul, quotient, k), more);
    Ref one = b_op3(&s->b, OP_select, s->i64, before, number(s, 1), number(s, 0));
    Ref made = on_parts(s, into, acc, low, op2(s, OP_add, quotient, one));
    b_inst(&s->b, OP_poll, NULL, NULL, 0);
    ir_add_arg(s->func, k, next);
    if (acc) ir_add_arg(s->func, acc, made);
    b_jump(&s->b, header);
    s->b.block = done;
    return acc;
}

/* The new array of a map, or of a reduction of some axes. */
static Ref new_array(Spread *s) {
    const Type *type = ir_type(s->func, s->op);
    Ref lengths[MAX_AXES];
    int64_t gone = s->result_axis >= 0 ? ir_inst(s->func, s->op)->imm : 0;
    int n = 0;
    for (int k = 0; n < type->ndim; k++)
        if (!(gone >> k & 1)) lengths[n++] = length(s, s->whole, k);
    return b_inst(&s->b, OP_alloc, type, lengths, type->ndim);
}

static Ref first_element(Spread *s) {
    const Type *type = ir_type(s->func, s->whole);
    Ref args[MAX_AXES + 1] = {s->whole};
    for (int k = 0; k < type->ndim; k++)
        args[k + 1] = number(s, 0);
    return b_inst(&s->b, OP_load, type->element, args, type->ndim + 1);
}

static void spread_one(Spread *s) {
    Func *func = s->func;
    int32_t block = ir_inst(func, s->op)->block, old, behind, ask, many;
    old = opt_split_block(func, block, opt_position(func, s->op));
    behind = opt_split_block(func, old, 1);
    ir_remove(func, ir_terminator(func, block));
    ir_edge_remove(func, block, old);
    ask = ir_block_new(func), many = ir_block_new(func);
    s->b = (Builder){.func = func,
                     .block = block,
                     .at = -1,
                     .span = ir_inst(func, s->op)->span,
                     .error = NO_BLOCK};
    Ref ok = condition(s);
    b_branch(&s->b, ok, ask, old);
    s->b.block = ask;
    Ref n = length(s, s->whole, s->axis), chunks = b_op1(&s->b, OP_chunks, s->i64, n);
    b_branch(&s->b, op2(s, OP_lt, number(s, 1), chunks), many, old);
    s->b.block = many;
    Op op = (Op)ir_inst(func, s->op)->op;
    bool combines = op == OP_reduce && s->result_axis < 0,
         makes = op == OP_map || s->result_axis >= 0;
    Ref into = makes ? new_array(s) : s->target, start = s->start;
    if (combines && !start) start = first_element(s);
    Ref acc = write_loop(s, into, combines ? start : NO_REF, n, chunks);
    b_jump(&s->b, behind);
    if (op == OP_map_into) return;
    Ref phi = ir_insert(func, behind, 0, OP_phi, NULL, 0);
    ir_inst(func, phi)->type = ir_type(func, s->op);
    ir_replace_uses(func, s->op, phi);
    ir_add_arg(func, phi, s->op); /* the edge from `old` came first */
    ir_add_arg(func, phi, makes ? into : acc);
}

void opt_spread(PassContext *ctx, Func *func) {
    Vec(Ref) found = {0};
    for (int32_t b = 0; func->parallel && b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && !block->cold && i < block->insts.len; i++) {
            int op = ir_inst(func, block->insts.items[i])->op;
            if (op == OP_map || op == OP_map_into || op == OP_reduce)
                vec_push(ctx->arena, &found, block->insts.items[i]);
        }
    }
    for (int32_t i = 0; i < found.len; i++) {
        Spread s = {.ctx = ctx, .func = func, .op = found.items[i]};
        s.i64 = type_scalar(ctx->module->types, TY_i64);
        s.boolean = type_scalar(ctx->module->types, TY_bool);
        if (find_whole(&s)) spread_one(&s);
    }
}
