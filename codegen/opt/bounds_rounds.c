/* bounds_rounds.c - inner loops that are short enough to do without strips (bounds.c, loops.c).
 *
 *   for i in range(m):                      n <= 2^20, asked in front of the nest:
 *       for j in range(n): s += a[i, j]     the loop over j does not ask for interruption, that over i does
 *
 * A loop in strips asks once in 65,536 rounds, but cuts itself up first: an end of a strip to compute, a way back and two ways
 * out. Where all rounds together take a few milliseconds, it is enough that the loop around asks, which counts them. Where
 * the loop turns out to be longer, the copy with checks runs, which asks for all but this again (Func.again): such loops are
 * as fast as ever, in strips. Loops inside whose rounds are a number do not ask (loops.c): they are a part of the round, as in `for x in range(w)`
 * with `for dx in range(-1, 2)` in it. Strips would hide from LLVM that x < w there. */
#include "codegen/opt/bounds.h"
#include "typeinfer/lowering.h"

enum {
    MOST_ROUNDS = 1 << 20, /* of a loop of the cost of ROUND */
    ROUND = 32,
    ELEMENT = 4,
    FAR_ELEMENT =
        64, /* of an index out of memory or of what went before: the processor waits for it */
    MAX_COST = 2048,
    MAX_LOOPS = 8,
    MAX_OTHERS = 2,
    LARGEST_STEP = 1024
};

/* Rounds of a loop inside that are a number: it does not ask, and is a part of the round; 0: it may ask, or run for long. */
static int64_t rounds_inside(const Bounds *s, int32_t loop, CountedLoop *counted) {
    int64_t trips;
    if (!opt_counted_loop(s->func, s->cfg, loop, counted)) return 0;
    bool few = opt_const_int(s->func, counted->limit, &trips) && trips > 0 && trips <= MAX_COST;
    return few ? trips : 0;
}

static bool is_counter_inside(const Bounds *s, int32_t loop, Ref ref) {
    int32_t own = s->cfg->loop_of[ir_inst(s->func, ref)->block];
    CountedLoop counted;
    return ir_inst(s->func, ref)->op == OP_phi && own != loop && rounds_inside(s, own, &counted) &&
           counted.counter == ref;
}

/* Does the index go evenly from round to round? */
static bool is_even(const Bounds *s, int32_t loop, const CountedLoop *counted, Ref ref, int depth) {
    const Inst *inst = ir_inst(s->func, ref);
    if (ref == counted->counter || !opt_in_loop(s->cfg, loop, inst->block)) return true;
    if (depth == 0) return false;
    if (is_counter_inside(s, loop, ref)) return true;
    switch ((int)inst->op) {
    case OP_check_index:
    case OP_wrap_index:
    case OP_cast:
    case OP_neg: return is_even(s, loop, counted, ir_arg(s->func, ref, 0), depth - 1);
    case OP_range_item: return is_even(s, loop, counted, ir_arg(s->func, ref, 3), depth - 1);
    case OP_add:
    case OP_sub:
    case OP_mul:
        return is_even(s, loop, counted, ir_arg(s->func, ref, 0), depth - 1) &&
               is_even(s, loop, counted, ir_arg(s->func, ref, 1), depth - 1);
    default: return false;
    }
}

static int cost_of_element(const Bounds *s, int32_t loop, const CountedLoop *counted, Ref ref) {
    const Type *array = ir_type(s->func, ir_arg(s->func, ref, 0));
    if (!type_is_scalar(array->element)) return 0;
    for (int32_t k = 1; k <= array->ndim; k++)
        if (!is_even(s, loop, counted, ir_arg(s->func, ref, k), MAX_DEPTH)) return FAR_ELEMENT;
    return ELEMENT;
}

/* What an instruction may cost, in simple ones; 0: nobody knows. */
static int cost_of(const Bounds *s, int32_t loop, const CountedLoop *counted, Ref ref) {
    const Func *func = s->func;
    const Inst *inst = ir_inst(func, ref);
    if (inst->error != NO_BLOCK) return 0;
    switch ((int)inst->op) {
    case OP_jump:
    case OP_branch:
    case OP_poll:
    case OP_guard:
    case OP_check_index: return 1;
    case OP_load:
    case OP_store: return cost_of_element(s, loop, counted, ref);
    case OP_div:
    case OP_floordiv:
    case OP_mod: return 8;
    case OP_pow: return 32;
    case OP_lib: {
        const LibRow *row = lib_row_of(inst);
        return row && (row->flags & LIB_PURE) && type_is_scalar(inst->type) ? 32 : 0;
    }
    case OP_call: return 0;
    default: return ir_op_info[inst->op].flags & OPF_PURE ? 1 : 0;
    }
}

/* How often a round of the loop comes to the block. */
static int64_t times(const Bounds *s, int32_t loop, int32_t block) {
    CountedLoop counted;
    int64_t all = 1;
    for (int32_t l = s->cfg->loop_of[block]; l != loop && all <= MAX_COST;
         l = s->cfg->loops.items[l].parent)
        all *= rounds_inside(s, l, &counted);
    return all;
}

/* Of a round; 0: nobody knows, or the loop has many other ways out, of which each counts. */
static int64_t cost_of_round(const Bounds *s, int32_t loop, const CountedLoop *counted, Ref *poll) {
    const Loop *info = &s->cfg->loops.items[loop];
    int64_t all = 0;
    int others = 0;
    *poll = NO_REF;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &s->func->blocks.items[info->blocks.items[i]];
        int32_t to[3];
        int n = ir_successors(s->func, info->blocks.items[i], to);
        for (int k = 0; k < n; k++)
            others += !opt_in_loop(s->cfg, loop, to[k]) && info->blocks.items[i] != counted->header;
        bool inside = s->cfg->loop_of[info->blocks.items[i]] != loop;
        int64_t often = inside ? times(s, loop, info->blocks.items[i]) : 1;
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            int cost = cost_of(s, loop, counted, ref);
            if (!cost) return 0;
            all += cost * often;
            if (inside || ir_inst(s->func, ref)->op != OP_poll) continue;
            if (*poll || ir_inst(s->func, ref)->nargs || ir_inst(s->func, ref)->sub) return 0;
            *poll = ref;
        }
    }
    return *poll && others <= MAX_OTHERS && all <= MAX_COST ? all : 0;
}

/* stop - start, where the start is required not to be negative: then it wraps for a range without items alone, and in whatever
 * way. NO_REF: it may be negative. */
static Ref difference(Bounds *s, Ref range) {
    const Func *func = s->func;
    Ref start = ir_arg(func, range, 0), stop = ir_arg(func, range, 1);
    int64_t step;
    if (!opt_const_int(func, ir_arg(func, range, 2), &step) || step != 1) return NO_REF;
    if (!bounds_invariant(s, start) || !bounds_invariant(s, stop)) return NO_REF;
    if (ir_type(func, start) != s->i64 || !bounds_has_required_nonnegative(s, start)) return NO_REF;
    return bounds_compute(s, OP_sub, stop, start);
}

/* A value of the preheader that is at least the rounds of the loop times `*step`; NO_REF: none. */
static Ref most_rounds(Bounds *s, Ref limit, int64_t *step) {
    const Inst *inst = ir_inst(s->func, limit);
    *step = 1;
    Ref rounds = inst->op == OP_range_len ? difference(s, limit) : NO_REF;
    if (rounds) return rounds;
    if (bounds_invariant(s, limit)) return limit;
    if (inst->op == OP_shape && bounds_invariant(s, ir_arg(s->func, limit, 0)))
        return bounds_shape_of(s, ir_arg(s->func, limit, 0), inst->imm);
    if (inst->op != OP_range_len || !opt_const_int(s->func, ir_arg(s->func, limit, 2), step))
        return NO_REF;
    if (*step == 0 || *step < -LARGEST_STEP || *step > LARGEST_STEP) return NO_REF;
    Ref start = ir_arg(s->func, limit, 0), stop = ir_arg(s->func, limit, 1);
    if (bounds_invariant(s, start) && bounds_invariant(s, stop)) {
        Ref by = ir_arg(s->func, limit, 2);
        *step = 1;
        return b_op3(&s->b, OP_range_len, s->i64, start, stop, by);
    }
    Place at = {SUM_BITS, 0, inst->block};
    s->leaves = s->choices = 0;
    Interval first = bounds_interval(s, start, at);
    Interval last = first.ok ? bounds_interval(s, stop, at) : first;
    if (!last.ok) return NO_REF;
    bool down = *step < 0;
    *step = down ? -*step : *step;
    return bounds_compute(s, OP_sub, down ? first.high : last.high, down ? last.low : first.low);
}

static void describe_loop(Bounds *s, int32_t loop) {
    CountedLoop counted;
    Ref poll;
    int64_t trips, step, most = MOST_ROUNDS;
    if (!opt_counted_loop(s->func, s->cfg, loop, &counted)) return;
    if (opt_const_int(s->func, counted.limit, &trips)) return;
    int64_t cost = cost_of_round(s, loop, &counted, &poll);
    if (!cost) return;
    for (int64_t unit = ROUND; unit < cost; unit *= 2)
        most /= 2;
    int32_t before = s->conditions.len;
    Ref rounds = most_rounds(s, counted.limit, &step);
    if (rounds && bounds_require(s, OP_le, rounds, bounds_number(s, most * step)))
        vec_push(s->arena, &s->few, poll);
    else
        s->conditions.len = before;
}

/* Is there a loop inside, other than of few rounds that are a number? */
static bool asks_inside(const Bounds *s, int32_t loop) {
    CountedLoop counted;
    for (int32_t k = 0; k < s->cfg->loops.len; k++)
        if (k != loop && opt_in_loop(s->cfg, loop, s->cfg->loops.items[k].header) &&
            !rounds_inside(s, k, &counted))
            return true;
    return false;
}

void bounds_describe_rounds(Bounds *s) {
    for (int32_t l = 0; l < s->cfg->loops.len && s->few.len < MAX_LOOPS; l++) {
        const Loop *info = &s->cfg->loops.items[l];
        if (asks_inside(s, l) || info->parent < 0 || s->func->blocks.items[info->header].cold)
            continue;
        if (opt_in_loop(s->cfg, s->loop, info->header)) describe_loop(s, l);
    }
}
