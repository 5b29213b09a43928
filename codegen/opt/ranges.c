/* ranges.c - lengths and items of ranges become arithmetic, when nobody needs to recognise them any more.
 *
 *     n = range_len start, stop, step          n = start < stop ? stop - start : 0              for a step of 1
 *     i = range_item start, stop, step, k      i = start + k * step
 *
 * Sums and products are marked nowrap where the item's lying between start and stop shows that they stay in the range.
 *
 * A loop that runs in one piece (bounds_rounds.c, and all loops of GPUs) and starts where only the program knows counts in items:
 *
 *     header: k = phi(0, k + 1)                                           header: i = phi(start, i + 1)
 *             if k < range_len(start, stop, 1): ...             =>                if i < stop: ...
 *             i = range_item start, stop, 1, k
 *
 * which is the loop that C has: one variable instead of two, and no length in front. */
#include "codegen/opt/pass.h"

typedef struct Ranges {
    PassContext *ctx;
    Func *func;
    Cfg cfg; /* made when it is asked for */
    bool has_cfg;
    bool strips; /* loops are cut into these, but for brief ones */
    Ref ref;     /* being written */
    Ref span;    /* of a length: what it is the greater of, beside zero */
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

static void with_cfg(Ranges *r) {
    if (!r->has_cfg) cfg_compute(&r->cfg, r->ctx->arena, r->func);
    r->has_cfg = true;
}

static bool at_least(Ranges *r, Ref ref, int64_t k) {
    int64_t value;
    if (opt_const_int(r->func, ref, &value)) return value >= k;
    if (k == 0 && opt_nonnegative(r->func, ref, false)) return true;
    with_cfg(r);
    return opt_at_least(r->func, &r->cfg, ref, k, ir_inst(r->func, r->ref)->block);
}

/* -- lengths ----------------------------------------------------------------------------------- */

/* min(u64, INT64_MAX) as i64: a longer loop never ends anyway. */
static Ref clamped(Ranges *r, Ref n) {
    Ref limit = number(r, r->u64, INT64_MAX);
    Ref fits = op2(r, OP_le, r->boolean, n, limit);
    return convert(r, choose(r, fits, n, limit), r->i64);
}

/* Does high - low stay in 64 bits even where nothing lies between them? */
static bool differs_exactly(Ranges *r, Ref low, Ref high) {
    enum { SMALL = 1 << 30 };
    int64_t first;
    return opt_const_int(r->func, low, &first) && first >= 0 && first <= SMALL &&
           ir_type(r->func, low)->kind == TY_i64 && at_least(r, high, -SMALL);
}

/* Step 1: max(high - low, 0), where the difference may be 2**64 - 1. */
static Ref unit_length(Ranges *r, Ref low, Ref high, bool small) {
    const Type *t = ir_type(r->func, low);
    int64_t first;
    bool known = opt_const_int(r->func, low, &first);
    bool exact = small || (t->kind == TY_i64 && at_least(r, low, 0)); /* where low < high */
    Ref zero = number(r, r->i64, 0), some = op2(r, OP_lt, r->boolean, low, high), n = high;
    if (!known || first != 0) n = op2(r, OP_sub, t, high, low);
    if (differs_exactly(r, low, high)) r->span = n;
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

/* -- loops that count in items ----------------------------------------------------------------- */

/* Is it the loop's item? */
static bool is_own_item(const Func *func, const CountedLoop *loop, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_range_item || ir_arg(func, ref, 3) != loop->counter) return false;
    for (int k = 0; k < 3; k++)
        if (ir_arg(func, ref, k) != ir_arg(func, loop->limit, k)) return false;
    return true;
}

/* The items of the loop, where its counter is used for nothing else. */
static bool own_items(Ranges *r, const CountedLoop *loop, RefList *items) {
    for (Ref ref = 1; ref < r->func->insts.len; ref++) {
        if (ir_inst(r->func, ref)->op == OP_removed || ref == loop->next || ref == loop->test)
            continue;
        for (int32_t k = 0; k < ir_inst(r->func, ref)->nargs; k++) {
            if (ir_arg(r->func, ref, k) != loop->counter) continue;
            if (!is_own_item(r->func, loop, ref)) return false;
            vec_push(r->ctx->arena, items, ref);
        }
    }
    return items->len > 0;
}

/* From a start that is no number, by one, in one piece. */
static bool counts_in_items(const Ranges *r, int32_t loop, CountedLoop *out) {
    int64_t step, first;
    if ((r->strips && !opt_is_brief(r->func, &r->cfg, loop)) ||
        !opt_counted_loop(r->func, &r->cfg, loop, out) || out->first)
        return false;
    if (ir_inst(r->func, out->limit)->op != OP_range_len) return false;
    Ref start = ir_arg(r->func, out->limit, 0);
    return opt_const_int(r->func, ir_arg(r->func, out->limit, 2), &step) && step == 1 &&
           !opt_const_int(r->func, start, &first) && ir_type(r->func, start) == r->i64;
}

/* The start lies in front of the loop, since the length does. */
static void count_in_items(Ranges *r, const CountedLoop *loop, const RefList *items) {
    Func *func = r->func;
    Ref start = ir_arg(func, loop->limit, 0), stop = ir_arg(func, loop->limit, 1);
    const Block *header = &func->blocks.items[loop->header];
    Ref *from = arena_array(r->ctx->arena, Ref, header->preds.len);
    for (int32_t i = 0; i < header->preds.len; i++)
        from[i] = header->preds.items[i] == loop->entry_pred ? start : loop->next;
    Ref item = ir_insert(func, loop->header, opt_position(func, loop->counter), OP_phi, from,
                         header->preds.len);
    ir_inst(func, item)->type = r->i64;
    Ref *map = arena_array(r->ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < items->len; i++)
        map[items->items[i]] = item;
    ir_replace_many(func, map);
    for (int32_t i = 0; i < items->len; i++)
        ir_remove(func, items->items[i]);
    ir_args(func, loop->test)[0] = item, ir_args(func, loop->test)[1] = stop;
    ir_args(func, loop->next)[0] = item;
    ir_remove(func, loop->counter);
}

static void visit_loops(Ranges *r) {
    bool any = !r->strips;
    for (Ref ref = 1; ref < r->func->insts.len && !any; ref++)
        any = ir_inst(r->func, ref)->op == OP_poll && ir_inst(r->func, ref)->sub == FLAG_SHORT;
    if (!any) return;
    with_cfg(r);
    for (int32_t l = 0; l < r->cfg.loops.len; l++) {
        CountedLoop loop;
        RefList items = {0};
        if (counts_in_items(r, l, &loop) && own_items(r, &loop, &items))
            count_in_items(r, &loop, &items);
    }
}

/* -- tests of loops ---------------------------------------------------------------------------- */

static bool same_indices(const Func *func, Ref load, Ref store) {
    for (int32_t k = 1; k < ir_inst(func, load)->nargs; k++)
        if (ir_arg(func, load, k) != ir_arg(func, store, k)) return false;
    return true;
}

/* Does the loop load an element of an array with several axes into which it stores another? */
static bool carries_in_rows(const Ranges *r, int32_t loop) {
    const Func *func = r->func;
    for (Ref store = 1; store < func->insts.len; store++) {
        const Inst *inst = ir_inst(func, store);
        if (inst->op != OP_store || r->cfg.loop_of[inst->block] != loop) continue;
        Ref array = ir_arg(func, store, 0);
        if (ir_type(func, array)->ndim < 2) continue;
        for (Ref load = 1; load < func->insts.len; load++)
            if (ir_inst(func, load)->op == OP_load && ir_arg(func, load, 0) == array &&
                r->cfg.loop_of[ir_inst(func, load)->block] == loop &&
                !same_indices(func, load, store))
                return true;
    }
    return false;
}

/* k < max(n, 0) is k < n where k is not negative. LLVM then sees that a loop that is entered has n rounds, and that an element a row
 * further on is none of this row's: `a[y, x + 1] += a[y, x]` beside `a[y + 1, x] += ...` is carried in a register. It lengthens the code of
 * loops that need none of this. spans: n of each length. */
static void bare_tests(Ranges *r, const Ref *spans, Ref end) {
    for (Ref ref = 1; ref < end; ref++) {
        if (ir_inst(r->func, ref)->op != OP_lt) continue;
        Ref span = spans[ir_arg(r->func, ref, 1)];
        if (!span) continue;
        r->ref = ref;
        with_cfg(r);
        int32_t loop = r->cfg.loop_of[ir_inst(r->func, ref)->block];
        if (loop >= 0 && opt_is_innermost(&r->cfg, loop) && carries_in_rows(r, loop) &&
            at_least(r, ir_arg(r->func, ref, 0), 0))
            ir_args(r->func, ref)[1] = span;
    }
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
    r.strips = ctx->options->entry != ENTRY_KERNEL || target_is_host(ctx->options->infer.target);
    visit_loops(&r);
    Vec(Ref) found = {0};
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_range_len || ir_inst(func, ref)->op == OP_range_item)
            vec_push(ctx->arena, &found, ref);
    if (!found.len) return;
    Ref before = func->insts.len;
    Ref *values = arena_array(ctx->arena, Ref, found.len),
        *spans = arena_array(ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < found.len; i++) {
        r.span = NO_REF;
        values[i] = written(&r, found.items[i]);
        spans[found.items[i]] = r.span;
    }
    bare_tests(&r, spans, before);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < found.len; i++)
        map[found.items[i]] = values[i];
    ir_replace_many(func, map);
    for (int32_t i = 0; i < found.len; i++)
        ir_remove(func, found.items[i]);
}
