/* bounds_interval.c - [low, high] of an index over all rounds of a nest, as values of its preheader (bounds.c). */
#include "codegen/opt/bounds.h"

enum {
    MAX_LEAVES = 16,
    MAX_CHOICES = 16,
    PRODUCT_BITS = 27,
    MAX_ADVANCE = 1 << 11,
    MAX_APART = 1 << 20
};

bool bounds_invariant(const Bounds *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    return inst->op == OP_const || inst->op == OP_param ||
           !opt_in_loop(s->cfg, s->loop, inst->block);
}

/* -- arithmetic in the preheader ------------------------------------------------------------------- */

static bool fold(Op op, int64_t a, int64_t c, int64_t *out) {
    switch ((int)op) {
    case OP_add: return !__builtin_add_overflow(a, c, out);
    case OP_sub: return !__builtin_sub_overflow(a, c, out);
    case OP_mul: return !__builtin_mul_overflow(a, c, out);
    default: return false;
    }
}

/* What the preheader already computes. */
static Ref find(const Bounds *s, Op op, Ref a, Ref c, Ref d, int64_t imm) {
    const Block *block = &s->func->blocks.items[s->b.block];
    Ref wanted[] = {a, c, d};
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref ref = block->insts.items[i];
        const Inst *inst = ir_inst(s->func, ref);
        bool equal = inst->op == op && inst->imm == imm;
        for (int32_t k = 0; equal && k < inst->nargs; k++)
            equal = ir_arg(s->func, ref, k) == wanted[k];
        if (equal) return ref;
    }
    return NO_REF;
}

Ref bounds_number(Bounds *s, int64_t value) {
    return ir_const_int(s->func, s->i64, value);
}

Ref bounds_compute(Bounds *s, Op op, Ref a, Ref c) {
    int64_t x, y;
    bool right = opt_const_int(s->func, c, &y);
    if (right && opt_const_int(s->func, a, &x) && fold(op, x, y, &x)) return bounds_number(s, x);
    if (right && y == 0 && (op == OP_add || op == OP_sub)) return a;
    Ref old = find(s, op, a, c, NO_REF, 0);
    return old ? old : b_op2(&s->b, op, s->i64, a, c);
}

Ref bounds_compare(Bounds *s, Op op, Ref a, Ref c) {
    Ref old = find(s, op, a, c, NO_REF, 0);
    return old ? old : b_op2(&s->b, op, s->boolean, a, c);
}

static Ref choice(Bounds *s, Ref test, Ref a, Ref c) {
    Ref old = find(s, OP_select, test, a, c, 0);
    return old ? old : b_op3(&s->b, OP_select, s->i64, test, a, c);
}

Ref bounds_shape_of(Bounds *s, Ref array, int64_t axis) {
    Ref ref = find(s, OP_shape, array, NO_REF, NO_REF, axis);
    if (ref) return ref;
    ref = b_op1(&s->b, OP_shape, s->i64, array);
    ir_inst(s->func, ref)->imm = axis;
    return ref;
}

/* The length of an axis and a small number: length + *more. NO_REF: it is something else. */
static Ref length_in(const Bounds *s, Ref ref, int64_t *more) {
    enum { MOST = 1 << 20 };
    int64_t k;
    for (*more = 0; *more > -MOST && *more < MOST; ref = ir_arg(s->func, ref, 0)) {
        const Inst *inst = ir_inst(s->func, ref);
        if (inst->op == OP_shape) return ref;
        if ((inst->op != OP_add && inst->op != OP_sub) ||
            !opt_const_int(s->func, ir_arg(s->func, ref, 1), &k) || k < -MOST || k > MOST)
            return NO_REF;
        *more += inst->op == OP_add ? k : -k;
    }
    return NO_REF;
}

bool bounds_require(Bounds *s, Op op, Ref a, Ref c) {
    int64_t x, y;
    if (opt_const_int(s->func, a, &x) && opt_const_int(s->func, c, &y))
        return op == OP_lt ? x < y : x <= y;
    Ref length = length_in(s, a, &x), other = length_in(s, c, &y);
    if (length && other && opt_same(s->func, length, other)) return op == OP_lt ? x < y : x <= y;
    Ref condition = bounds_compare(s, op, a, c);
    for (int32_t i = 0; i < s->conditions.len; i++)
        if (s->conditions.items[i] == condition) return true;
    vec_push(s->arena, &s->conditions, condition);
    return true;
}

/* Is a value of the preheader, or of what lies before it, never negative? */
static bool never_negative(const Bounds *s, Ref ref) {
    int32_t block = ir_inst(s->func, ref)->block;
    if (ir_inst(s->func, ref)->op == OP_shape) return true;
    return block != s->b.block && opt_at_least(s->func, s->cfg, ref, 0, block);
}

bool bounds_require_nonnegative(Bounds *s, Ref ref) {
    return never_negative(s, ref) || bounds_require(s, OP_le, bounds_number(s, 0), ref);
}

bool bounds_has_required_nonnegative(Bounds *s, Ref ref) {
    if (never_negative(s, ref)) return true;
    Ref condition = bounds_compare(s, OP_le, bounds_number(s, 0), ref);
    for (int32_t i = 0; i < s->conditions.len; i++)
        if (s->conditions.items[i] == condition) return true;
    return false;
}

/* -bound < v < bound */
static bool require_small(Bounds *s, Ref ref, int bits) {
    int64_t bound = INT64_C(1) << bits;
    return bounds_require(s, OP_lt, ref, bounds_number(s, bound)) &&
           (never_negative(s, ref) || bounds_require(s, OP_lt, bounds_number(s, -bound), ref));
}

/* -- intervals -------------------------------------------------------------------------------------- */

static Interval none(void) {
    return (Interval){false, NO_REF, NO_REF};
}

Interval bounds_leaf(Bounds *s, Ref ref, int bits) {
    if (++s->leaves > MAX_LEAVES || ir_type(s->func, ref) != s->i64) return none();
    return require_small(s, ref, bits) ? (Interval){true, ref, ref} : none();
}

/* A value and a small number: the value is returned; NO_REF: it is a number alone. */
static Ref parts(const Bounds *s, Ref ref, int64_t *more) {
    int64_t k;
    for (*more = 0; !opt_const_int(s->func, ref, &k); ref = ir_arg(s->func, ref, 0)) {
        const Inst *inst = ir_inst(s->func, ref);
        bool sum = inst->op == OP_add || inst->op == OP_sub;
        if (!sum || !opt_const_int(s->func, ir_arg(s->func, ref, 1), &k)) return ref;
        if (*more < -MAX_APART || *more > MAX_APART || k < -MAX_APART || k > MAX_APART) return ref;
        *more += inst->op == OP_add ? k : -k;
    }
    *more += k;
    return NO_REF;
}

/* Is a < c known? Nothing of them wraps, since all that they are made of is small. */
static bool is_order_known(const Bounds *s, Ref a, Ref c, bool *less) {
    int64_t x, y;
    bool same = parts(s, a, &x) == parts(s, c, &y);
    *less = x < y;
    return same;
}

static Ref lesser(Bounds *s, Ref a, Ref c) {
    bool less;
    if (a == c) return a;
    if (is_order_known(s, a, c, &less)) return less ? a : c;
    return choice(s, bounds_compare(s, OP_lt, a, c), a, c);
}

static Ref greater(Bounds *s, Ref a, Ref c) {
    bool less;
    if (a == c) return a;
    if (is_order_known(s, a, c, &less)) return less ? c : a;
    return choice(s, bounds_compare(s, OP_lt, a, c), c, a);
}

static Place below(Place at) {
    at.depth++;
    return at;
}

static Place at_most(Place at, int bits) {
    at.bits = QN_MIN(at.bits, bits);
    return below(at);
}

static Place inside(Place at, int32_t block) {
    return (Place){at.bits, at.depth + 1, block};
}

int64_t bounds_step(const Bounds *s, Ref item) {
    enum { MOST = 1 << 12 };
    int64_t step;
    bool known = ir_inst(s->func, item)->op == OP_range_item &&
                 opt_const_int(s->func, ir_arg(s->func, item, 2), &step);
    return known && step >= -MOST && step <= MOST ? step : 1;
}

/* The last of start, start + step ... in front of `stop`, or `start` itself or what lies before where there is none: behind blocks of 8
 * from 0 on that fill an array exactly, nothing is left over. */
static Ref last_item(Bounds *s, Ref start, Ref stop, int64_t step) {
    Ref one = bounds_number(s, 1), by = bounds_number(s, step < 0 ? -step : step);
    Ref far =
        step < 0 ? bounds_compute(s, OP_sub, start, stop) : bounds_compute(s, OP_sub, stop, start);
    Ref rounds = bounds_compute(s, OP_floordiv, bounds_compute(s, OP_sub, far, one), by);
    return bounds_compute(s, step < 0 ? OP_sub : OP_add, start,
                          bounds_compute(s, OP_mul, rounds, by));
}

/* start, ..., stop - 1, or downwards start, ..., stop + 1; by steps from one start alone it may end before. */
static Interval of_range(Bounds *s, Ref ref, const RangeItem *item, Place at) {
    Ref zero = bounds_number(s, 0), one = bounds_number(s, 1);
    int64_t step = bounds_step(s, ref);
    bool strides = step != 1 && step != -1;
    if (strides) at = at_most(at, SUM_BITS - 12);
    Interval start = {true, zero, zero}, stop = bounds_interval(s, item->stop, below(at));
    if (item->start) start = bounds_interval(s, item->start, below(at));
    if (!start.ok || !stop.ok) return none();
    if (strides && start.low == start.high) {
        Ref last = last_item(s, start.low, step < 0 ? stop.low : stop.high, step);
        return step < 0 ? (Interval){true, last, start.high} : (Interval){true, start.low, last};
    }
    if (item->down) return (Interval){true, bounds_compute(s, OP_add, stop.low, one), start.high};
    return (Interval){true, start.low, bounds_compute(s, OP_sub, stop.high, one)};
}

/* value <= bound + by - more, or the other way round. */
static Ref bound_of_fact(Bounds *s, const Fact *fact, bool upper, int32_t block, Place at) {
    Interval bound = bounds_interval(s, fact->bound, inside(at, block));
    if (!bound.ok) return NO_REF;
    Ref end = bounds_compute(s, OP_add, upper ? bound.high : bound.low, bounds_number(s, fact->by));
    if (!fact->more) return end;
    Interval more = bounds_interval(s, fact->more, inside(at, block));
    return more.ok ? bounds_compute(s, OP_sub, end, upper ? more.low : more.high) : NO_REF;
}

/* A bound of `value`, a variable of `loop` or what comes round it, from the branches that lead to `block`, or along the edge block -> to;
 * also from tests of its sum with what does not change in the loop, which does not wrap: the variable was tested before it was moved. What a
 * bound that cannot be described has required is taken back. */
static Ref tested(Bounds *s, Ref value, bool upper, int32_t block, int32_t to, int32_t loop,
                  Place at) {
    FactList facts = {.value = value, .upper = upper, .sums = true};
    if (at.depth >= MAX_DEPTH) return NO_REF;
    opt_facts(s->func, s->cfg, block, to, &facts);
    for (int i = 0; i < facts.n; i++) {
        int32_t before = s->conditions.len;
        int leaves = s->leaves;
        Ref more = facts.items[i].more;
        if (more && opt_in_loop(s->cfg, loop, ir_inst(s->func, more)->block)) continue;
        Ref bound = bound_of_fact(s, &facts.items[i], upper, block, at);
        if (bound) return bound;
        s->conditions.len = before;
        s->leaves = leaves;
    }
    return NO_REF;
}

/* The bound of a phi of a loop on the side where it is tested: where it is used, or (a loop that tests at its
 * end) on every edge into its header. */
static Ref tested_phi(Bounds *s, Ref phi, bool upper, int32_t block, Place at) {
    int32_t header = ir_inst(s->func, phi)->block, loop = s->cfg->loop_of[header];
    Ref bound = tested(s, phi, upper, block, NO_BLOCK, loop, at);
    if (bound) return bound;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        Ref operand = ir_arg(s->func, phi, i);
        int32_t from = s->func->blocks.items[header].preds.items[i];
        Ref one = tested(s, operand, upper, from, header, loop, at);
        if (!one && !opt_in_loop(s->cfg, loop, from)) {
            Interval start = bounds_interval(s, operand, inside(at, from));
            if (start.ok) one = upper ? start.high : start.low;
        }
        if (!one) return NO_REF;
        bound = !bound ? one : upper ? greater(s, bound, one) : lesser(s, bound, one);
    }
    return bound;
}

/* Is `ref` the sum of `*from` and `*step`, where `*plus` says whether the step is added? What is moved is `phi`, or has a number added to it. */
static bool is_step(const Func *func, Ref ref, Ref phi, Ref *from, Ref *step, bool *plus) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    if (inst->op != OP_add && inst->op != OP_sub) return false;
    *plus = inst->op == OP_add;
    *from = ir_arg(func, ref, 0);
    *step = ir_arg(func, ref, 1);
    if (*from == phi || opt_const_int(func, *step, &k)) return true;
    *from = ir_arg(func, ref, 1);
    *step = ir_arg(func, ref, 0);
    return *plus && *from == phi;
}

static bool moves(Bounds *s, Ref ref, Ref phi, bool up, Place at);

/* Is each of what a phi is given `phi` or further? That of a loop inside is given, there, what it is itself or further. */
static bool all_move(Bounds *s, Ref ref, Ref phi, bool up, Place at) {
    int32_t block = ir_inst(s->func, ref)->block, loop = s->cfg->loop_of[block];
    int32_t outside = s->cfg->loop_of[ir_inst(s->func, phi)->block];
    bool starts = s->cfg->loops.items[loop].header == block;
    if (starts && (loop == outside || !opt_in_loop(s->cfg, outside, block))) return false;
    for (int32_t i = 0; i < ir_inst(s->func, ref)->nargs; i++) {
        int32_t from = s->func->blocks.items[block].preds.items[i];
        bool again = starts && opt_in_loop(s->cfg, loop, from);
        if (!moves(s, ir_arg(s->func, ref, i), again ? ref : phi, up, below(at))) return false;
    }
    return true;
}

/* Is `ref`, which comes round the loop, `phi` or further `up` (or down)? Its sum must not wrap: where it is formed, what is moved has been
 * tested on that side, against something small. */
static bool moves(Bounds *s, Ref ref, Ref phi, bool up, Place at) {
    int32_t block = ir_inst(s->func, ref)->block;
    Ref from, step;
    bool plus;
    int64_t k;
    if (ref == phi) return true;
    if (at.depth >= MAX_DEPTH || bounds_invariant(s, ref)) return false;
    if (ir_inst(s->func, ref)->op == OP_phi) return all_move(s, ref, phi, up, at);
    if (!is_step(s->func, ref, phi, &from, &step, &plus)) return false;
    if (!moves(s, from, phi, up, below(at))) return false;
    bool starts = opt_is_header_phi(s->func, s->cfg, from);
    if (starts ? !tested_phi(s, from, up, block, below(at))
               : !tested(s, from, up, block, NO_BLOCK, s->cfg->loop_of[block], below(at)))
        return false;
    if (opt_const_int(s->func, step, &k))
        return k > -(INT64_C(1) << at.bits) && k < (INT64_C(1) << at.bits) &&
               (plus == up ? k >= 0 : k <= 0);
    if (plus != up) return false;
    Interval by = bounds_interval(s, step, inside(at, block));
    if (!by.ok || opt_at_least(s->func, s->cfg, step, 0, block)) return by.ok;
    s->signs++;
    return bounds_require_nonnegative(s, by.low);
}

/* A variable of a loop that only grows (or only shrinks), from its start to what it is tested against. */
static Interval of_variable(Bounds *s, Ref phi, bool up, Place at) {
    int32_t header = ir_inst(s->func, phi)->block, loop = s->cfg->loop_of[header];
    Ref start = NO_REF, end = tested_phi(s, phi, up, at.block, below(at));
    for (int32_t i = 0; end && i < ir_inst(s->func, phi)->nargs; i++) {
        Ref operand = ir_arg(s->func, phi, i);
        int32_t from = s->func->blocks.items[header].preds.items[i];
        if (opt_in_loop(s->cfg, loop, from)) {
            if (!moves(s, operand, phi, up, below(at))) return none();
            continue;
        }
        Interval first = bounds_interval(s, operand, inside(at, from));
        if (!first.ok) return none();
        Ref one = up ? first.low : first.high;
        start = !start ? one : up ? lesser(s, start, one) : greater(s, start, one);
    }
    if (!start || !end) return none();
    return up ? (Interval){true, start, end} : (Interval){true, end, start};
}

/* How many rounds a loop always runs that nothing leaves but its header. */
static bool constant_rounds(const Bounds *s, int32_t loop, int64_t *rounds) {
    const Loop *info = &s->cfg->loops.items[loop];
    CountedLoop counted;
    int32_t to[3];
    if (!opt_counted_loop(s->func, s->cfg, loop, &counted)) return false;
    for (int32_t i = 0; i < info->blocks.len; i++)
        for (int k = ir_successors(s->func, info->blocks.items[i], to) - 1; k >= 0; k--)
            if (info->blocks.items[i] != info->header && !opt_in_loop(s->cfg, loop, to[k]))
                return false;
    if (!opt_const_int(s->func, counted.limit, rounds)) return false;
    *rounds = QN_MAX(*rounds - counted.first, 0);
    return *rounds <= MAX_ADVANCE;
}

static bool advances(const Bounds *s, int32_t loop, Ref ref, Ref phi, int depth, int64_t *by);

/* A variable of a loop inside, behind it. */
static bool advances_inside(const Bounds *s, int32_t loop, Ref ref, Ref phi, int depth,
                            int64_t *by) {
    int32_t header = ir_inst(s->func, ref)->block, inner = s->cfg->loop_of[header];
    int64_t rounds, in_front = 0, each = 0;
    if (s->cfg->loops.items[inner].parent != loop || !constant_rounds(s, inner, &rounds))
        return false;
    for (int32_t i = 0; i < ir_inst(s->func, ref)->nargs; i++) {
        bool back = opt_in_loop(s->cfg, inner, s->func->blocks.items[header].preds.items[i]);
        if (!advances(s, back ? inner : loop, ir_arg(s->func, ref, i), back ? ref : phi, depth + 1,
                      back ? &each : &in_front))
            return false;
    }
    *by = in_front + rounds * each;
    return true;
}

/* Does `ref` lie the same number above `phi` in every round of the loop? */
static bool advances(const Bounds *s, int32_t loop, Ref ref, Ref phi, int depth, int64_t *by) {
    enum { DEEPEST = 6 };
    const Inst *inst = ir_inst(s->func, ref);
    int32_t in = s->cfg->loop_of[inst->block];
    int64_t k;
    *by = 0;
    if (ref == phi) return true;
    if (depth == DEEPEST || in < 0) return false;
    if (inst->op == OP_phi && s->cfg->loops.items[in].header == inst->block) {
        if (!advances_inside(s, loop, ref, phi, depth, by)) return false;
    } else if (inst->op == OP_phi && in == loop) {
        int64_t first = 0;
        for (int32_t i = 0; i < ir_inst(s->func, ref)->nargs; i++) {
            if (!advances(s, loop, ir_arg(s->func, ref, i), phi, depth + 1, by)) return false;
            if (i > 0 && *by != first) return false;
            first = *by;
        }
    } else if ((inst->op == OP_add || inst->op == OP_sub) && in == loop) {
        if (!opt_const_int(s->func, ir_arg(s->func, ref, 1), &k) || k < -MAX_STEP || k > MAX_STEP)
            return false;
        if (!advances(s, loop, ir_arg(s->func, ref, 0), phi, depth + 1, by)) return false;
        *by += inst->op == OP_add ? k : -k;
    } else {
        return false;
    }
    return *by >= -MAX_ADVANCE && *by <= MAX_ADVANCE;
}

/* A variable to which every round of its loop adds the same number, whatever ends the loop. */
static bool has_step(const Bounds *s, Ref phi, Ref *start, int32_t *from, int64_t *step) {
    int32_t header = ir_inst(s->func, phi)->block, loop = s->cfg->loop_of[header];
    bool found = false;
    *start = NO_REF;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        int32_t pred = s->func->blocks.items[header].preds.items[i];
        Ref operand = ir_arg(s->func, phi, i);
        if (!opt_in_loop(s->cfg, loop, pred)) {
            *start = operand;
            *from = pred;
            continue;
        }
        if (found || !advances(s, loop, operand, phi, 0, step)) return false;
        found = true;
    }
    return found && *start;
}

bool bounds_counts_along(const Bounds *s, Ref phi, int32_t block, Ref *start, int64_t *step,
                         Ref *rounds) {
    int32_t header = ir_inst(s->func, phi)->block, loop = s->cfg->loop_of[header], from;
    CountedLoop counted;
    if (!opt_counted_loop(s->func, s->cfg, loop, &counted) || counted.header != header)
        return false;
    if (counted.counter == phi || !cfg_dominates(s->cfg, counted.body, block)) return false;
    if (s->func->blocks.items[counted.body].preds.len != 1) return false;
    *rounds = counted.counter;
    return has_step(s, phi, start, &from, step);
}

/* What grows by 0 or 1 in some rounds stays below their number. The array may be long enough for those rounds that there are, and
 * not for all: then the loop takes the copy with checks, so that only innermost loops, which lose little, ask for it. */
static Interval of_paced(Bounds *s, Ref phi, Place at) {
    CountedLoop loop;
    int64_t start;
    if (!opt_is_innermost(s->cfg, s->cfg->loop_of[ir_inst(s->func, phi)->block])) return none();
    if (!opt_paced(s->func, s->cfg, phi, &loop, &start)) return none();
    if (s->func->blocks.items[loop.body].preds.len != 1) return none();
    if (!cfg_dominates(s->cfg, loop.body, at.block)) return none();
    Interval rounds = bounds_interval(s, loop.counter, below(at));
    return (Interval){rounds.ok, bounds_number(s, start), rounds.high};
}

/* A factor of another product must be as small as the leaves there, or that product might wrap. */
static Interval as_factor(Bounds *s, Interval all, Place at) {
    bool fits = at.bits == SUM_BITS ||
                (require_small(s, all.low, at.bits) && require_small(s, all.high, at.bits));
    return fits ? all : none();
}

/* From `first`, so many times `step` at most. */
static Interval of_steps(Bounds *s, Interval first, Ref rounds, int64_t step, Place at) {
    Ref way = bounds_compute(s, OP_mul, rounds, bounds_number(s, step));
    Interval all = {true, step < 0 ? bounds_compute(s, OP_add, first.low, way) : first.low,
                    step < 0 ? first.high : bounds_compute(s, OP_add, first.high, way)};
    return as_factor(s, all, at);
}

/* `while i + 3 <= n: ...; i += 3; k += 4`: k is as many rounds from its start as i, which is tested, is from its own. */
static Interval of_in_step(Bounds *s, Ref phi, Place at) {
    const Block *header = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    Place small = at_most(at, SUM_BITS - 12);
    Interval all = none();
    Ref start, other;
    int32_t from, entry, before = s->conditions.len;
    int64_t step, by;
    int leaves = s->leaves;
    if (s->in_step || !has_step(s, phi, &start, &from, &step)) return none();
    s->in_step = true;
    for (int32_t i = 0; !all.ok && i < header->insts.len; i++) {
        Ref beside = header->insts.items[i];
        if (ir_inst(s->func, beside)->op != OP_phi) break;
        if (beside == phi || ir_type(s->func, beside) != s->i64) continue;
        if (!has_step(s, beside, &other, &entry, &by) || !by) continue;
        Interval way = of_variable(s, beside, by > 0, small);
        Interval first = way.ok ? bounds_interval(s, start, inside(small, from)) : none();
        if (first.ok) {
            Ref rounds =
                bounds_compute(s, OP_floordiv, bounds_compute(s, OP_sub, way.high, way.low),
                               bounds_number(s, by < 0 ? -by : by));
            all = of_steps(s, first, rounds, step, at);
        }
        if (!all.ok) s->conditions.len = before, s->leaves = leaves;
    }
    s->in_step = false;
    return all;
}

static Interval of_both(Bounds *s, Interval a, Interval c) {
    return (Interval){true, lesser(s, a.low, c.low), greater(s, a.high, c.high)};
}

Interval bounds_within(Bounds *s, Interval a, Interval c) {
    return (Interval){true, greater(s, a.low, c.low), lesser(s, a.high, c.high)};
}

/* A variable that counts in some way, from the header of its loop on. */
static Interval of_counter(Bounds *s, Ref phi, Place at) {
    int32_t before = s->conditions.len;
    int leaves = s->leaves;
    Ref start, rounds;
    int64_t step;
    if (bounds_counts_along(s, phi, at.block, &start, &step, &rounds)) {
        Interval first = bounds_interval(s, start, at_most(at, SUM_BITS - 12));
        Interval n = first.ok ? bounds_interval(s, rounds, at_most(at, SUM_BITS - 12)) : none();
        return n.ok ? of_steps(s, first, n.high, step, at) : none();
    }
    Interval all = of_paced(s, phi, at);
    if (!all.ok) all = of_variable(s, phi, true, at);
    if (all.ok) return all;
    s->conditions.len = before, s->leaves = leaves;
    all = of_variable(s, phi, false, at);
    if (all.ok) return all;
    s->conditions.len = before, s->leaves = leaves;
    return of_in_step(s, phi, at);
}

/* All that variables are given which only ever hand on what they got: best = 0 in front of a loop, best = i in some of its rounds. Not sums, nor
 * what a variable is behind its loop: these are the length itself in the end, for which no fast copy would ever be taken. */
typedef struct Hull {
    Ref phis[6]; /* of headers: what they were given is counted in */
    int n;
    Interval all;
} Hull;

static bool hull(Bounds *s, Ref ref, Hull *h, Place at);

/* Each operand of a phi, or of a select. */
static bool hull_of_all(Bounds *s, Ref ref, Hull *h, Place at) {
    int32_t block = ir_inst(s->func, ref)->block, n = ir_inst(s->func, ref)->nargs;
    bool joins = ir_inst(s->func, ref)->op == OP_phi;
    for (int32_t k = joins ? 0 : 1; k < n; k++) {
        int32_t from = joins ? s->func->blocks.items[block].preds.items[k] : block;
        if (!hull(s, ir_arg(s->func, ref, k), h, inside(at, from))) return false;
    }
    return true;
}

static bool hull(Bounds *s, Ref ref, Hull *h, Place at) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    int32_t before = s->conditions.len;
    int leaves = s->leaves;
    RangeItem item;
    for (int i = 0; i < h->n; i++)
        if (h->phis[i] == ref) return true;
    if (at.depth >= MAX_DEPTH) return false;
    bool nest = !bounds_invariant(s, ref), starts = nest && opt_is_header_phi(s->func, s->cfg, ref);
    if (nest && (op == OP_phi || op == OP_select) && !starts) return hull_of_all(s, ref, h, at);
    bool plain = !nest || opt_range_item(s->func, s->cfg, ref, at.block, &item);
    bool counts = starts && !plain;
    bool runs =
        counts && opt_in_loop(s->cfg, s->cfg->loop_of[ir_inst(s->func, ref)->block], at.block);
    Interval one = plain ? bounds_interval(s, ref, at) : runs ? of_counter(s, ref, at) : none();
    if (one.ok) {
        h->all = h->all.ok ? of_both(s, h->all, one) : one;
        return true;
    }
    s->conditions.len = before, s->leaves = leaves;
    if (!counts || h->n == countof(h->phis)) return false;
    h->phis[h->n++] = ref;
    return hull_of_all(s, ref, h, at);
}

static Interval of_chosen(Bounds *s, Ref phi, Place at) {
    Hull h = {{phi}, 1, none()};
    if (++s->choices > MAX_CHOICES) return none();
    return hull_of_all(s, phi, &h, at) ? h.all : none();
}

static Interval of_phi(Bounds *s, Ref phi, Place at) {
    int32_t block = ir_inst(s->func, phi)->block, before = s->conditions.len;
    int leaves = s->leaves;
    if (opt_is_header_phi(s->func, s->cfg, phi)) {
        Interval counter = of_counter(s, phi, at);
        if (counter.ok) return counter;
        s->conditions.len = before, s->leaves = leaves;
        return of_chosen(s, phi, at);
    }
    Interval all = none();
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        int32_t from = s->func->blocks.items[block].preds.items[i];
        Interval one = bounds_interval(s, ir_arg(s->func, phi, i), inside(at, from));
        if (!one.ok) return none();
        all = all.ok ? of_both(s, all, one) : one;
    }
    return all;
}

static Interval of_sum(Bounds *s, Ref ref, Place at) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    Interval a = bounds_interval(s, ir_arg(s->func, ref, 0), below(at));
    Interval c = a.ok ? bounds_interval(s, ir_arg(s->func, ref, 1), below(at)) : none();
    if (!c.ok) return none();
    bool plus = op == OP_add;
    return (Interval){true, bounds_compute(s, op, a.low, plus ? c.low : c.high),
                      bounds_compute(s, op, a.high, plus ? c.high : c.low)};
}

static Interval of_negative(Bounds *s, Ref ref, Place at) {
    Interval a = bounds_interval(s, ir_arg(s->func, ref, 0), below(at));
    if (!a.ok) return none();
    Ref zero = bounds_number(s, 0);
    return (Interval){true, bounds_compute(s, OP_sub, zero, a.high),
                      bounds_compute(s, OP_sub, zero, a.low)};
}

/* A product by a small constant, or of two values that are not negative. */
static Interval of_product(Bounds *s, Ref ref, Place at) {
    Ref x = ir_arg(s->func, ref, 0), y = ir_arg(s->func, ref, 1), zero = bounds_number(s, 0);
    int64_t k;
    if (opt_const_int(s->func, x, &k)) {
        Ref swap = x;
        x = y, y = swap;
    }
    if (opt_const_int(s->func, y, &k) && k > -1024 && k < 1024) {
        Interval a = bounds_interval(s, x, at_most(at, SUM_BITS - 12));
        if (!a.ok) return none();
        Ref low = bounds_compute(s, OP_mul, a.low, y), high = bounds_compute(s, OP_mul, a.high, y);
        return as_factor(s, (Interval){true, k >= 0 ? low : high, k >= 0 ? high : low}, at);
    }
    Interval a = bounds_interval(s, x, at_most(at, PRODUCT_BITS));
    Interval c = a.ok ? bounds_interval(s, y, at_most(at, PRODUCT_BITS)) : none();
    if (!c.ok || !bounds_require_nonnegative(s, a.low) || !bounds_require_nonnegative(s, c.low))
        return none();
    /* An empty loop has high = -1: both factors are clamped, so that the product stays an upper bound. */
    Ref high = bounds_compute(s, OP_mul, greater(s, a.high, zero), greater(s, c.high, zero));
    return as_factor(s, (Interval){true, zero, high}, at);
}

static Interval of_select(Bounds *s, Ref ref, Place at) {
    Interval a = bounds_interval(s, ir_arg(s->func, ref, 1), below(at));
    Interval c = a.ok ? bounds_interval(s, ir_arg(s->func, ref, 2), below(at)) : none();
    return c.ok ? of_both(s, a, c) : none();
}

static Interval of_division(Bounds *s, Ref ref, Place at) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    Ref by = ir_arg(s->func, ref, 1);
    int64_t k;
    if (op == OP_mod && bounds_invariant(s, by) && !opt_const_int(s->func, by, &k)) {
        Interval all =
            bounds_leaf(s, by, at.bits); /* above zero: else its guard raises, or it is asked */
        if (!all.ok || !bounds_require(s, OP_lt, bounds_number(s, 0), by)) return none();
        return (Interval){true, bounds_number(s, 0),
                          bounds_compute(s, OP_sub, by, bounds_number(s, 1))};
    }
    if (!opt_const_int(s->func, by, &k) || k <= 0) return none();
    if (op == OP_mod) return (Interval){true, bounds_number(s, 0), bounds_number(s, k - 1)};
    Interval a = bounds_interval(s, ir_arg(s->func, ref, 0), below(at));
    if (!a.ok) return bounds_of_bits(s, ref);
    return (Interval){true, bounds_compute(s, OP_floordiv, a.low, by),
                      bounds_compute(s, OP_floordiv, a.high, by)};
}

/* Only where the wraparound turns out to do nothing. */
static Interval of_wrap(Bounds *s, Ref ref, Place at) {
    Ref index = ir_arg(s->func, ref, 0);
    Interval a = bounds_interval(s, index, below(at));
    if (!a.ok || opt_at_least(s->func, s->cfg, index, 0, at.block)) return a;
    return bounds_require_nonnegative(s, a.low) ? a : none();
}

/* -- guards: branches on the way to where a value is used, which compare it with what does not change -- */

/* A value that does not change in the nest, or a sum of such with numbers. */
static bool stays(const Bounds *s, Ref ref) {
    int64_t more;
    Ref base = parts(s, ref, &more);
    if (base) base = opt_uncast(s->func, base);
    if (!base || bounds_invariant(s, base)) return true;
    return ir_inst(s->func, base)->op == OP_shape && bounds_invariant(s, ir_arg(s->func, base, 0));
}

/* What guards say of a value: not the test of its own loop, which counts it. */
static void guards_of(const Bounds *s, Ref ref, bool upper, int32_t block, FactList *facts) {
    RangeItem item;
    bool counts = opt_is_header_phi(s->func, s->cfg, ref) ||
                  opt_range_item(s->func, s->cfg, ref, block, &item);
    int32_t loop = s->cfg->loop_of[ir_inst(s->func, ref)->block], n = 0;
    *facts = (FactList){.value = ref, .upper = upper, .narrow = true};
    opt_facts(s->func, s->cfg, block, NO_BLOCK, facts);
    if (facts->n == 0 && opt_uncast(s->func, ref) != ref) {
        facts->value = opt_uncast(s->func, ref);
        opt_facts(s->func, s->cfg, block, NO_BLOCK, facts);
    }
    for (int i = 0; i < facts->n; i++) {
        bool own = counts && facts->items[i].block == s->cfg->loops.items[loop].header;
        if (!own && stays(s, facts->items[i].bound)) facts->items[n++] = facts->items[i];
    }
    facts->n = n;
}

bool bounds_guarded(const Bounds *s, Ref ref, bool upper, int32_t block) {
    FactList facts;
    guards_of(s, ref, upper, block, &facts);
    return facts.n > 0;
}

/* The closest of `bound`, which may be none, and what guards say. */
static Ref guard(Bounds *s, Ref ref, bool upper, Ref bound, Place at) {
    FactList facts;
    guards_of(s, ref, upper, at.block, &facts);
    for (int i = 0; i < facts.n; i++) {
        int32_t before = s->conditions.len;
        int leaves = s->leaves;
        Interval end = bounds_interval(s, facts.items[i].bound, inside(at, at.block));
        if (!end.ok) {
            s->conditions.len = before, s->leaves = leaves;
            continue;
        }
        Ref one = bounds_compute(s, OP_add, upper ? end.high : end.low,
                                 bounds_number(s, facts.items[i].by));
        bound = !bound ? one : upper ? lesser(s, bound, one) : greater(s, bound, one);
        s->guards++;
    }
    return bound;
}

/* An interval of a value anywhere, within what guards say where it is used; nobody else may know anything of it. */
static Interval guarded(Bounds *s, Ref ref, Interval all, Place at) {
    if (!all.ok) all = none();
    all.low = guard(s, ref, false, all.low, at);
    all.high = all.low ? guard(s, ref, true, all.high, at) : NO_REF;
    all.ok = all.low && all.high;
    return all;
}

/* What walks over a board in some direction, `while 0 <= r < 6 ...: r += dr`, and is compared on both sides where it is used: that says
 * all that is needed, and a test of the direction, which the program does not pass half of the time, nothing. */
static bool has_both_guards(const Bounds *s, Ref ref, Place at) {
    return bounds_guarded(s, ref, false, at.block) && bounds_guarded(s, ref, true, at.block);
}

/* An int of another type that does not change, as int64. */
static Interval of_narrow(Bounds *s, Ref ref, Place at) {
    if (!bounds_invariant(s, ref)) return none();
    Ref wide = find(s, OP_cast, ref, NO_REF, NO_REF, 0);
    if (!wide || ir_type(s->func, wide) != s->i64) wide = b_op1(&s->b, OP_cast, s->i64, ref);
    return bounds_leaf(s, wide, at.bits);
}

static Interval of_value(Bounds *s, Ref ref, Place at) {
    const Inst *inst = ir_inst(s->func, ref);
    RangeItem item;
    if (opt_range_item(s->func, s->cfg, ref, at.block, &item)) return of_range(s, ref, &item, at);
    switch (inst->op) {
    case OP_phi: return of_phi(s, ref, at);
    case OP_add:
    case OP_sub: return of_sum(s, ref, at);
    case OP_neg: return of_negative(s, ref, at);
    case OP_cast: {
        Ref narrow = opt_uncast(s->func, ref);
        return narrow != ref ? bounds_interval(s, narrow, below(at)) : none();
    }
    case OP_mul: return of_product(s, ref, at);
    case OP_select: return of_select(s, ref, at);
    case OP_floordiv:
    case OP_mod: return of_division(s, ref, at);
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_shl:
    case OP_shr: return bounds_of_bits(s, ref);
    case OP_check_index: return bounds_interval(s, ir_arg(s->func, ref, 0), below(at));
    case OP_wrap_index: return of_wrap(s, ref, at);
    case OP_shape: {
        Ref array = ir_arg(s->func, ref, 0);
        return bounds_invariant(s, array)
                   ? bounds_leaf(s, bounds_shape_of(s, array, inst->imm), at.bits)
                   : none();
    }
    default: return none();
    }
}

Interval bounds_interval(Bounds *s, Ref ref, Place at) {
    if (at.depth > MAX_DEPTH) return none();
    if (opt_is_narrow(s->func, ref)) return of_narrow(s, ref, at);
    if (ir_type(s->func, ref) != s->i64) return none();
    if (bounds_invariant(s, ref)) return bounds_leaf(s, ref, at.bits);
    int32_t before = s->conditions.len;
    int leaves = s->leaves, signs = s->signs;
    Interval all = of_value(s, ref, at);
    if (all.ok && s->signs > signs && has_both_guards(s, ref, at)) {
        all.ok = false;
        s->walks = true;
    }
    if (!all.ok) s->conditions.len = before, s->leaves = leaves;
    return guarded(s, ref, all, at);
}
