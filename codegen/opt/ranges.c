/* ranges.c - lengths and items of ranges become arithmetic, when nobody needs to recognise them any more.
 *
 *     n = range_len start, stop, step          n = start < stop ? stop - start : 0              for a step of 1
 *     i = range_item start, stop, step, k      i = start + k * step
 *
 * Sums and products are marked nowrap where the item's lying between start and stop shows that they stay in the range. */
#include "codegen/opt/pass.h"

typedef struct Ranges {
    PassContext *ctx;
    Func *func;
    Cfg cfg; /* made when a step is no constant */
    bool has_cfg;
    Ref ref; /* being written */
    Builder b;
    const Type *i64, *u64, *boolean;
} Ranges;

/* -- instructions in front of `ref` ------------------------------------------------------------ */

static Ref number(Ranges *r, const Type *type, int64_t value) {
    return ir_const_int(r->func, type, value);
}

/* Constants may have come before it. */
static Ref op2(Ranges *r, Op op, const Type *type, Ref a, Ref c) {
    r->b.at = opt_position(r->func, r->ref);
    return b_op2(&r->b, op, type, a, c);
}

static Ref choose(Ranges *r, Ref test, Ref a, Ref c) {
    r->b.at = opt_position(r->func, r->ref);
    return b_op3(&r->b, OP_select, ir_type(r->func, a), test, a, c);
}

static Ref convert(Ranges *r, Ref ref, const Type *to) {
    int64_t value;
    if (ir_type(r->func, ref) == to) return ref;
    if (opt_const_int(r->func, ref, &value) && value >= 0) return number(r, to, value);
    r->b.at = opt_position(r->func, r->ref);
    return b_op1(&r->b, OP_cast, to, ref);
}

static bool at_least(Ranges *r, Ref ref, int64_t k) {
    int64_t value;
    if (opt_const_int(r->func, ref, &value)) return value >= k;
    if (k == 0 && opt_nonnegative(r->func, ref, false)) return true;
    if (!r->has_cfg) cfg_compute(&r->cfg, r->ctx->arena, r->func);
    r->has_cfg = true;
    return opt_at_least(r->func, &r->cfg, ref, k, ir_inst(r->func, r->ref)->block);
}

/* -- lengths ----------------------------------------------------------------------------------- */

/* min(u64, INT64_MAX) as i64: a longer loop never ends anyway. */
static Ref clamped(Ranges *r, Ref n) {
    Ref limit = number(r, r->u64, INT64_MAX);
    Ref fits = op2(r, OP_le, r->boolean, n, limit);
    return convert(r, choose(r, fits, n, limit), r->i64);
}

/* Step 1: max(high - low, 0), where the difference may be 2**64 - 1. */
static Ref unit_length(Ranges *r, Ref low, Ref high, bool small) {
    const Type *t = ir_type(r->func, low);
    int64_t first;
    bool known = opt_const_int(r->func, low, &first);
    bool exact = small || (t->kind == TY_i64 && at_least(r, low, 0)); /* where low < high */
    Ref zero = number(r, r->i64, 0), some = op2(r, OP_lt, r->boolean, low, high), n = high;
    if (!known || first != 0) n = op2(r, OP_sub, t, high, low);
    if (!exact) {
        n = convert(r, n, r->i64);
        Ref over = op2(r, OP_lt, r->boolean, n, zero);
        n = choose(r, over, number(r, r->i64, INT64_MAX), n);
    }
    return choose(r, some, n, zero);
}

/* (high - low - 1) // size + 1 in unsigned numbers, which cannot overflow. */
static Ref unsigned_length(Ranges *r, Ref low, Ref high, Ref size, bool small) {
    const Type *u64 = r->u64;
    Ref some = op2(r, OP_lt, r->boolean, low, high), one = number(r, u64, 1);
    Ref to = convert(r, high, u64), span = op2(r, OP_sub, u64, to, convert(r, low, u64));
    Ref n = op2(r, OP_floordiv, u64, op2(r, OP_sub, u64, span, one), size);
    n = choose(r, some, op2(r, OP_add, u64, n, one), number(r, u64, 0));
    return small ? convert(r, n, r->i64) : clamped(r, n);
}

static Ref length(Ranges *r, Ref start, Ref stop, Ref step, bool small) {
    int64_t by;
    if (opt_const_int(r->func, step, &by) && by != 0) {
        Ref low = by > 0 ? start : stop, high = by > 0 ? stop : start;
        if (by == 1 || by == -1) return unit_length(r, low, high, small);
        uint64_t size = by > 0 ? (uint64_t)by : 0 - (uint64_t)by;
        return unsigned_length(r, low, high, number(r, r->u64, (int64_t)size), small);
    }
    if (at_least(r, step, 0))
        return unsigned_length(r, start, stop, convert(r, step, r->u64), small);
    Ref zero = number(r, r->i64, 0), up = op2(r, OP_lt, r->boolean, zero, step);
    Ref low = choose(r, up, start, stop), high = choose(r, up, stop, start);
    r->b.at = opt_position(r->func, r->ref);
    Ref size = choose(r, up, step, b_op1(&r->b, OP_neg, r->i64, step));
    return unsigned_length(r, low, high, convert(r, size, r->u64), small);
}

/* -- items ------------------------------------------------------------------------------------- */

static Ref exact(Ranges *r, Op op, Ref a, Ref c, bool proven) {
    Ref ref = op2(r, op, ir_type(r->func, a), a, c);
    ir_inst(r->func, ref)->sub = proven ? FLAG_NOWRAP : 0;
    return ref;
}

static Ref item(Ranges *r, Ref start, Ref step, Ref counter) {
    const Type *t = ir_type(r->func, start);
    int64_t by, first;
    bool unit = opt_const_int(r->func, step, &by) && (by == 1 || by == -1);
    /* the item lies between start and stop; so does start + counter * step when start >= 0 */
    bool proven = t->kind == TY_i64 && (unit || (at_least(r, step, 0) && at_least(r, start, 0)));
    if (!unit) counter = exact(r, OP_mul, counter, step, proven);
    counter = convert(r, counter, t);
    if (unit && by == -1) return exact(r, OP_sub, start, counter, proven);
    if (opt_const_int(r->func, start, &first) && first == 0) return counter;
    return exact(r, OP_add, start, counter, proven);
}

/* -- the pass ---------------------------------------------------------------------------------- */

static Ref written(Ranges *r, Ref ref) {
    const Inst *inst = ir_inst(r->func, ref);
    Ref start = ir_arg(r->func, ref, 0), stop = ir_arg(r->func, ref, 1),
        step = ir_arg(r->func, ref, 2);
    r->ref = ref;
    r->b = (Builder){.func = r->func, .block = inst->block, .span = inst->span, .error = NO_BLOCK};
    if (inst->op == OP_range_len)
        return length(r, start, stop, step, inst->sub == FLAG_NO_OVERFLOW);
    return item(r, start, step, ir_arg(r->func, ref, 3));
}

void opt_ranges(PassContext *ctx, Func *func) {
    TypeTable *types = ctx->module->types;
    Ranges r = {.ctx = ctx, .func = func, .i64 = type_scalar(types, TY_i64)};
    r.u64 = type_scalar(types, TY_u64), r.boolean = type_scalar(types, TY_bool);
    Vec(Ref) found = {0};
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_range_len || ir_inst(func, ref)->op == OP_range_item)
            vec_push(ctx->arena, &found, ref);
    if (!found.len) return;
    Ref *values = arena_array(ctx->arena, Ref, found.len);
    for (int32_t i = 0; i < found.len; i++)
        values[i] = written(&r, found.items[i]);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < found.len; i++)
        map[found.items[i]] = values[i];
    ir_replace_many(func, map);
    for (int32_t i = 0; i < found.len; i++)
        ir_remove(func, found.items[i]);
}
