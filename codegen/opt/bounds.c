/* bounds.c - versions each loop nest once, outside its outermost loop, so that the copy that runs in practice
 * has no index checks, no wraparound and no exits, and LLVM can vectorise it.
 *
 * For every check in the nest (and, where checks are off, every wraparound) whose index is built from loop counters,
 * other variables that only grow or only shrink, constants and values that do not change in the nest, an interval
 * [low, high] over all iterations is computed *in the preheader*, by interval arithmetic on the index expression. If
 * all intervals lie inside their axes the fast copy runs, otherwise the checked one, with full messages. Interval
 * arithmetic must not wrap, so every invariant leaf is tested to be small first (2^57, or 2^27 below a product of two
 * variables; at most 16 leaves an index), and so is a product that is a factor of another: larger numbers simply take
 * the checked copy. Guards against zero divisors that do not change in the nest are asked in front of it as well, and
 * divisions by such ints take the fast copy where the divisor is above zero. Checks that the intervals cannot describe (a gather), or would never let pass (an index that
 * starts at -1), stay in both copies. */
#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

enum {
    MAX_NEST = 600,
    MAX_CHECKS = 64,
    MAX_LEAVES = 16,
    MAX_DEPTH = 12,
    SUM_BITS = 57,
    PRODUCT_BITS = 27,
    MAX_STEP = 16
};

typedef struct Interval {
    bool ok;
    Ref low, high; /* i64 values in the preheader */
} Interval;

/* Where an expression is looked at: how exact leaves must be, how deep it is, and the block it is used in. */
typedef struct Place {
    int bits, depth;
    int32_t block;
} Place;

typedef Vec(Ref) RefList;

typedef struct Bounds {
    Func *func;
    Arena *arena;
    Cfg *cfg;
    int32_t loop; /* the outermost */
    Builder b;    /* at the end of the preheader */
    Vec(Ref) conditions;
    const Type *i64, *boolean;
    int leaves;
    RefList natural;  /* divisions whose dividend is not negative */
    RefList from_end; /* checks of indices that are always negative */
    RefList wrapping; /* checks whose wraparound stays: of indices that begin a little below zero */
} Bounds;

static bool invariant(const Bounds *s, Ref ref) {
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

static Ref number(Bounds *s, int64_t value) {
    return ir_const_int(s->func, s->i64, value);
}

static Ref compute(Bounds *s, Op op, Ref a, Ref c) {
    int64_t x, y;
    bool right = opt_const_int(s->func, c, &y);
    if (right && opt_const_int(s->func, a, &x) && fold(op, x, y, &x)) return number(s, x);
    if (right && y == 0 && (op == OP_add || op == OP_sub)) return a;
    Ref old = find(s, op, a, c, NO_REF, 0);
    return old ? old : b_op2(&s->b, op, s->i64, a, c);
}

static Ref compare(Bounds *s, Op op, Ref a, Ref c) {
    Ref old = find(s, op, a, c, NO_REF, 0);
    return old ? old : b_op2(&s->b, op, s->boolean, a, c);
}

static Ref choice(Bounds *s, Ref test, Ref a, Ref c) {
    Ref old = find(s, OP_select, test, a, c, 0);
    return old ? old : b_op3(&s->b, OP_select, s->i64, test, a, c);
}

static Ref shape_of(Bounds *s, Ref array, int64_t axis) {
    Ref ref = find(s, OP_shape, array, NO_REF, NO_REF, axis);
    if (ref) return ref;
    ref = b_op1(&s->b, OP_shape, s->i64, array);
    ir_inst(s->func, ref)->imm = axis;
    return ref;
}

/* a < c or a <= c must hold for the fast copy; false: it never does. */
static bool require(Bounds *s, Op op, Ref a, Ref c) {
    int64_t x, y;
    if (opt_const_int(s->func, a, &x) && opt_const_int(s->func, c, &y))
        return op == OP_lt ? x < y : x <= y;
    Ref condition = compare(s, op, a, c);
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

static bool require_nonnegative(Bounds *s, Ref ref) {
    return never_negative(s, ref) || require(s, OP_le, number(s, 0), ref);
}

/* -bound < v < bound */
static bool require_small(Bounds *s, Ref ref, int bits) {
    int64_t bound = INT64_C(1) << bits;
    return require(s, OP_lt, ref, number(s, bound)) &&
           (never_negative(s, ref) || require(s, OP_lt, number(s, -bound), ref));
}

/* -- intervals -------------------------------------------------------------------------------------- */

static Interval none(void) {
    return (Interval){false, NO_REF, NO_REF};
}

static Interval leaf(Bounds *s, Ref ref, int bits) {
    if (++s->leaves > MAX_LEAVES || ir_type(s->func, ref) != s->i64) return none();
    return require_small(s, ref, bits) ? (Interval){true, ref, ref} : none();
}

static Ref lesser(Bounds *s, Ref a, Ref c) {
    int64_t x, y;
    if (a == c) return a;
    if (opt_const_int(s->func, a, &x) && opt_const_int(s->func, c, &y)) return x < y ? a : c;
    return choice(s, compare(s, OP_lt, a, c), a, c);
}

static Ref greater(Bounds *s, Ref a, Ref c) {
    int64_t x, y;
    if (a == c) return a;
    if (opt_const_int(s->func, a, &x) && opt_const_int(s->func, c, &y)) return x < y ? c : a;
    return choice(s, compare(s, OP_lt, a, c), c, a);
}

static Interval interval(Bounds *s, Ref ref, Place at);

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

/* start, ..., stop - 1, or downwards start, ..., stop + 1 */
static Interval of_range(Bounds *s, const RangeItem *item, Place at) {
    Ref zero = number(s, 0), one = number(s, 1);
    Interval start = {true, zero, zero}, stop = interval(s, item->stop, below(at));
    if (item->start) start = interval(s, item->start, below(at));
    if (!start.ok || !stop.ok) return none();
    if (item->down) return (Interval){true, compute(s, OP_add, stop.low, one), start.high};
    return (Interval){true, start.low, compute(s, OP_sub, stop.high, one)};
}

/* A bound of `value` from the branches that lead to `block`, or along the edge block -> to. What a bound that
 * cannot be described has required is taken back. */
static Ref tested(Bounds *s, Ref value, bool upper, int32_t block, int32_t to, Place at) {
    FactList facts = {.value = value, .upper = upper};
    if (at.depth >= MAX_DEPTH) return NO_REF;
    opt_facts(s->func, s->cfg, block, to, &facts);
    for (int i = 0; i < facts.n; i++) {
        int32_t before = s->conditions.len;
        int leaves = s->leaves;
        Interval bound = interval(s, facts.items[i].bound, inside(at, block));
        if (bound.ok)
            return compute(s, OP_add, upper ? bound.high : bound.low, number(s, facts.items[i].by));
        s->conditions.len = before;
        s->leaves = leaves;
    }
    return NO_REF;
}

/* The bound of a phi of a loop on the side where it is tested: where it is used, or (a loop that tests at its
 * end) on every edge into its header. */
static Ref tested_phi(Bounds *s, Ref phi, bool upper, int32_t block, Place at) {
    Ref bound = tested(s, phi, upper, block, NO_BLOCK, at);
    int32_t header = ir_inst(s->func, phi)->block, loop = s->cfg->loop_of[header];
    if (bound) return bound;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        Ref operand = ir_arg(s->func, phi, i);
        int32_t from = s->func->blocks.items[header].preds.items[i];
        Ref one = tested(s, operand, upper, from, header, at);
        if (!one && !opt_in_loop(s->cfg, loop, from)) {
            Interval start = interval(s, operand, inside(at, from));
            if (start.ok) one = upper ? start.high : start.low;
        }
        if (!one) return NO_REF;
        bound = !bound ? one : upper ? greater(s, bound, one) : lesser(s, bound, one);
    }
    return bound;
}

/* Is `ref` the sum of `phi` and `*step`, where `*sign` says whether the step is added? */
static bool is_step(const Func *func, Ref ref, Ref phi, Ref *step, bool *plus) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_add && inst->op != OP_sub) return false;
    *plus = inst->op == OP_add;
    *step = ir_arg(func, ref, 1);
    if (ir_arg(func, ref, 0) == phi) return true;
    *step = ir_arg(func, ref, 0);
    return *plus && ir_arg(func, ref, 1) == phi;
}

/* Is `ref`, which comes round the loop, `phi` or further `up` (or down)? Its sum must not wrap: where it is formed, the
 * phi has been tested on that side, against something small. */
static bool moves(Bounds *s, Ref ref, Ref phi, bool up, Place at) {
    const Inst *inst = ir_inst(s->func, ref);
    int32_t block = inst->block, loop = s->cfg->loop_of[block];
    Ref step;
    bool plus;
    int64_t k;
    if (ref == phi) return true;
    if (at.depth >= MAX_DEPTH) return false;
    if (invariant(s, ref)) return false;
    if (inst->op == OP_phi && s->cfg->loops.items[loop].header != block) {
        for (int32_t i = 0; i < ir_inst(s->func, ref)->nargs; i++)
            if (!moves(s, ir_arg(s->func, ref, i), phi, up, below(at))) return false;
        return true;
    }
    if (!is_step(s->func, ref, phi, &step, &plus)) return false;
    if (!tested_phi(s, phi, up, block, below(at))) return false;
    if (opt_const_int(s->func, step, &k))
        return k > -(INT64_C(1) << at.bits) && k < (INT64_C(1) << at.bits) &&
               (plus == up ? k >= 0 : k <= 0);
    if (plus != up) return false;
    Interval by = interval(s, step, inside(at, block));
    return by.ok &&
           (opt_at_least(s->func, s->cfg, step, 0, block) || require_nonnegative(s, by.low));
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
        Interval first = interval(s, operand, inside(at, from));
        if (!first.ok) return none();
        Ref one = up ? first.low : first.high;
        start = !start ? one : up ? lesser(s, start, one) : greater(s, start, one);
    }
    if (!start || !end) return none();
    return up ? (Interval){true, start, end} : (Interval){true, end, start};
}

/* A variable to which every round of a counted loop adds the same number: `*rounds` is the loop's counter. */
static bool counts_along(const Bounds *s, Ref phi, int32_t block, Ref *start, int64_t *step,
                         Ref *rounds) {
    int32_t header = ir_inst(s->func, phi)->block, loop = s->cfg->loop_of[header];
    CountedLoop counted;
    bool plus, found = false;
    Ref by;
    if (!opt_counted_loop(s->func, s->cfg, loop, &counted) || counted.header != header)
        return false;
    if (counted.counter == phi || !cfg_dominates(s->cfg, counted.body, block)) return false;
    if (s->func->blocks.items[counted.body].preds.len != 1) return false;
    *start = NO_REF;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        Ref operand = ir_arg(s->func, phi, i);
        if (!opt_in_loop(s->cfg, loop, s->func->blocks.items[header].preds.items[i])) {
            *start = operand;
            continue;
        }
        if (found || !is_step(s->func, operand, phi, &by, &plus)) return false;
        if (!opt_const_int(s->func, by, step) || *step < -MAX_STEP || *step > MAX_STEP)
            return false;
        *step = plus ? *step : -*step;
        found = true;
    }
    *rounds = counted.counter;
    return found && *start;
}

static Interval of_phi(Bounds *s, Ref phi, Place at) {
    int32_t block = ir_inst(s->func, phi)->block, before = s->conditions.len;
    int leaves = s->leaves;
    if (s->cfg->loops.items[s->cfg->loop_of[block]].header == block) {
        Ref start, rounds;
        int64_t step;
        if (counts_along(s, phi, at.block, &start, &step, &rounds)) {
            Interval first = interval(s, start, at_most(at, SUM_BITS - 12));
            Interval n = first.ok ? interval(s, rounds, at_most(at, SUM_BITS - 12)) : none();
            if (!n.ok) return none();
            Ref way = compute(s, OP_mul, n.high, number(s, step));
            return (Interval){true, step < 0 ? compute(s, OP_add, first.low, way) : first.low,
                              step < 0 ? first.high : compute(s, OP_add, first.high, way)};
        }
        Interval up = of_variable(s, phi, true, at);
        if (up.ok) return up;
        s->conditions.len = before, s->leaves = leaves;
        return of_variable(s, phi, false, at);
    }
    Interval all = none();
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        int32_t from = s->func->blocks.items[block].preds.items[i];
        Interval one = interval(s, ir_arg(s->func, phi, i), inside(at, from));
        if (!one.ok) return none();
        all = all.ok ? (Interval){true, lesser(s, all.low, one.low), greater(s, all.high, one.high)}
                     : one;
    }
    return all;
}

static Interval of_sum(Bounds *s, Ref ref, Place at) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    Interval a = interval(s, ir_arg(s->func, ref, 0), below(at));
    Interval c = a.ok ? interval(s, ir_arg(s->func, ref, 1), below(at)) : none();
    if (!c.ok) return none();
    bool plus = op == OP_add;
    return (Interval){true, compute(s, op, a.low, plus ? c.low : c.high),
                      compute(s, op, a.high, plus ? c.high : c.low)};
}

/* A factor of another product must be as small as the leaves there, or that product might wrap. */
static Interval as_factor(Bounds *s, Interval all, Place at) {
    bool fits = at.bits == SUM_BITS ||
                (require_small(s, all.low, at.bits) && require_small(s, all.high, at.bits));
    return fits ? all : none();
}

/* A product by a small constant, or of two values that are not negative. */
static Interval of_product(Bounds *s, Ref ref, Place at) {
    Ref x = ir_arg(s->func, ref, 0), y = ir_arg(s->func, ref, 1), zero = number(s, 0);
    int64_t k;
    if (opt_const_int(s->func, x, &k)) {
        Ref swap = x;
        x = y, y = swap;
    }
    if (opt_const_int(s->func, y, &k) && k > -1024 && k < 1024) {
        Interval a = interval(s, x, at_most(at, SUM_BITS - 12));
        if (!a.ok) return none();
        Ref low = compute(s, OP_mul, a.low, y), high = compute(s, OP_mul, a.high, y);
        return as_factor(s, (Interval){true, k >= 0 ? low : high, k >= 0 ? high : low}, at);
    }
    Interval a = interval(s, x, at_most(at, PRODUCT_BITS));
    Interval c = a.ok ? interval(s, y, at_most(at, PRODUCT_BITS)) : none();
    if (!c.ok || !require_nonnegative(s, a.low) || !require_nonnegative(s, c.low)) return none();
    /* An empty loop has high = -1: both factors are clamped, so that the product stays an upper bound. */
    Ref high = compute(s, OP_mul, greater(s, a.high, zero), greater(s, c.high, zero));
    return as_factor(s, (Interval){true, zero, high}, at);
}

static Interval of_select(Bounds *s, Ref ref, Place at) {
    Interval a = interval(s, ir_arg(s->func, ref, 1), below(at));
    Interval c = a.ok ? interval(s, ir_arg(s->func, ref, 2), below(at)) : none();
    if (!c.ok) return none();
    return (Interval){true, lesser(s, a.low, c.low), greater(s, a.high, c.high)};
}

static Interval of_division(Bounds *s, Ref ref, Place at) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    Ref by = ir_arg(s->func, ref, 1);
    int64_t k;
    if (op == OP_mod && invariant(s, by) && !opt_const_int(s->func, by, &k)) {
        Interval all = leaf(s, by, at.bits); /* above zero: else its guard raises, or it is asked */
        if (!all.ok || !require(s, OP_lt, number(s, 0), by)) return none();
        return (Interval){true, number(s, 0), compute(s, OP_sub, by, number(s, 1))};
    }
    if (!opt_const_int(s->func, by, &k) || k <= 0) return none();
    if (op == OP_mod) return (Interval){true, number(s, 0), number(s, k - 1)};
    Interval a = interval(s, ir_arg(s->func, ref, 0), below(at));
    if (!a.ok) return none();
    return (Interval){true, compute(s, OP_floordiv, a.low, by),
                      compute(s, OP_floordiv, a.high, by)};
}

/* Only where the wraparound turns out to do nothing. */
static Interval of_wrap(Bounds *s, Ref ref, Place at) {
    Ref index = ir_arg(s->func, ref, 0);
    Interval a = interval(s, index, below(at));
    if (!a.ok || opt_at_least(s->func, s->cfg, index, 0, at.block)) return a;
    return require_nonnegative(s, a.low) ? a : none();
}

/* All values `ref` takes in the nest, where it is used in `at.block`. */
static Interval interval(Bounds *s, Ref ref, Place at) {
    const Inst *inst = ir_inst(s->func, ref);
    RangeItem item;
    if (at.depth > MAX_DEPTH || inst->type != s->i64) return none();
    if (invariant(s, ref)) return leaf(s, ref, at.bits);
    if (opt_range_item(s->func, s->cfg, ref, at.block, &item)) return of_range(s, &item, at);
    switch (inst->op) {
    case OP_phi: return of_phi(s, ref, at);
    case OP_add:
    case OP_sub: return of_sum(s, ref, at);
    case OP_mul: return of_product(s, ref, at);
    case OP_select: return of_select(s, ref, at);
    case OP_floordiv:
    case OP_mod: return of_division(s, ref, at);
    case OP_check_index: return interval(s, ir_arg(s->func, ref, 0), below(at));
    case OP_wrap_index: return of_wrap(s, ref, at);
    case OP_shape: {
        Ref array = ir_arg(s->func, ref, 0);
        return invariant(s, array) ? leaf(s, shape_of(s, array, inst->imm), at.bits) : none();
    }
    default: return none();
    }
}

/* -- sums of several variables ------------------------------------------------------------------------- */

/* Intervals forget how variables depend on each other: of j = i + length - 1, where i < n - length + 1, they know no more than
 * j <= largest i + largest length - 1. A Sum keeps j as terms, in which loop variables are replaced by their ends, the innermost
 * first: i + length - 1 <= (n - length) + length - 1 = n - 1. It is asked for where there is an interval, which shows that no
 * part of it wraps. */
enum { MAX_TERMS = 8, MAX_TIMES = 16, MAX_STEPS = 16 };

typedef struct Term {
    Ref value;
    int64_t times;
} Term;

typedef struct Sum {
    Term terms[MAX_TERMS];
    int n;
    int64_t k;
    bool ok;
} Sum;

static void add_term(Sum *sum, Ref value, int64_t times) {
    int i = 0;
    while (i < sum->n && sum->terms[i].value != value)
        i++;
    sum->ok = sum->ok && i < MAX_TERMS;
    if (!sum->ok) return;
    if (i == sum->n) sum->terms[sum->n++] = (Term){value, 0};
    sum->terms[i].times += times;
    if (sum->terms[i].times == 0) sum->terms[i] = sum->terms[--sum->n];
}

static void add_number(Sum *sum, int64_t k, int64_t times) {
    sum->ok = sum->ok && !__builtin_mul_overflow(k, times, &k) &&
              !__builtin_add_overflow(sum->k, k, &sum->k);
}

/* `times` times the value is added, as far as it is a sum itself. */
static void add_value(const Bounds *s, Sum *sum, Ref ref, int64_t times, int depth) {
    const Func *func = s->func;
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    sum->ok = sum->ok && depth < MAX_DEPTH && times >= -MAX_TIMES && times <= MAX_TIMES;
    if (!sum->ok) return;
    if (opt_const_int(func, ref, &k)) {
        add_number(sum, k, times);
    } else if (invariant(s, ref)) {
        add_term(sum, ref, times);
    } else if (inst->op == OP_add || inst->op == OP_sub) {
        add_value(s, sum, ir_arg(func, ref, 0), times, depth + 1);
        add_value(s, sum, ir_arg(func, ref, 1), inst->op == OP_add ? times : -times, depth + 1);
    } else if (inst->op == OP_mul && opt_const_int(func, ir_arg(func, ref, 1), &k) &&
               k >= -MAX_TIMES && k <= MAX_TIMES) {
        add_value(s, sum, ir_arg(func, ref, 0), times * k, depth + 1);
    } else if (inst->op == OP_mul && opt_const_int(func, ir_arg(func, ref, 0), &k) &&
               k >= -MAX_TIMES && k <= MAX_TIMES) {
        add_value(s, sum, ir_arg(func, ref, 1), times * k, depth + 1);
    } else if (inst->op == OP_check_index) {
        add_value(s, sum, ir_arg(func, ref, 0), times, depth + 1);
    } else {
        add_term(sum, ref, times);
    }
}

/* A variable that counts along with its loop is its start and so many rounds. */
static bool spread_term(const Bounds *s, Sum *sum, int i, int32_t block) {
    Term term = sum->terms[i];
    Ref start, rounds;
    int64_t step;
    const Inst *inst = ir_inst(s->func, term.value);
    if (inst->op != OP_phi) return false;
    if (s->cfg->loops.items[s->cfg->loop_of[inst->block]].header != inst->block) return false;
    if (!counts_along(s, term.value, block, &start, &step, &rounds)) return false;
    sum->terms[i] = sum->terms[--sum->n];
    add_value(s, sum, start, term.times, 0);
    add_term(sum, rounds, term.times * step);
    return true;
}

/* The term of a variable that is made last, so that the ends of the others do not name it; -1: none varies. */
static int innermost_term(const Bounds *s, const Sum *sum) {
    int found = -1;
    int32_t latest = -1;
    for (int i = 0; i < sum->n; i++) {
        if (invariant(s, sum->terms[i].value)) continue;
        int32_t at = s->cfg->rpo_number[ir_inst(s->func, sum->terms[i].value)->block];
        if (at < latest) continue;
        latest = at;
        found = i;
    }
    return found;
}

/* A term becomes the end of its variable, the upper or the lower one. */
static void replace_term(Bounds *s, Sum *sum, int i, bool upper, int32_t block) {
    Term term = sum->terms[i];
    RangeItem item;
    bool high = (term.times > 0) == upper;
    sum->terms[i] = sum->terms[--sum->n];
    if (opt_range_item(s->func, s->cfg, term.value, block, &item)) {
        bool start = high == item.down;
        if (!start) add_number(sum, high ? -1 : 1, term.times);
        if (!start || item.start) add_value(s, sum, start ? item.start : item.stop, term.times, 0);
        return;
    }
    Interval all = interval(s, term.value, (Place){SUM_BITS, 0, block});
    sum->ok = sum->ok && all.ok;
    if (all.ok) add_value(s, sum, high ? all.high : all.low, term.times, 0);
}

/* Its value in the preheader; every term is small. */
static Ref value_of_sum(Bounds *s, const Sum *sum) {
    Ref value = NO_REF;
    int64_t times = 0;
    for (int i = 0; i < sum->n; i++) {
        Term term = sum->terms[i];
        times += term.times < 0 ? -term.times : term.times;
        if (times > MAX_TIMES || !leaf(s, term.value, SUM_BITS).ok) return NO_REF;
        int64_t size = term.times < 0 ? -term.times : term.times;
        Ref part = size == 1 ? term.value : compute(s, OP_mul, term.value, number(s, size));
        if (!value && term.times > 0)
            value = part;
        else
            value =
                compute(s, term.times < 0 ? OP_sub : OP_add, value ? value : number(s, 0), part);
    }
    int64_t bound = INT64_C(1) << SUM_BITS;
    if (sum->k <= -bound || sum->k >= bound) return NO_REF;
    if (!value) return number(s, sum->k);
    return sum->k < 0 ? compute(s, OP_sub, value, number(s, -sum->k))
                      : compute(s, OP_add, value, number(s, sum->k));
}

/* A bound of `ref` where it is used, which may be closer than that of its interval; NO_REF: none. */
static Ref bound_of_sum(Bounds *s, Ref ref, bool upper, int32_t block) {
    Sum sum = {.ok = true};
    RangeItem item;
    int32_t before = s->conditions.len;
    add_value(s, &sum, ref, 1, 0);
    if (sum.n == 1 && (invariant(s, sum.terms[0].value) ||
                       !opt_range_item(s->func, s->cfg, sum.terms[0].value, block, &item)))
        return NO_REF; /* its interval says as much */
    for (int step = 0; sum.ok && step < MAX_STEPS; step++) {
        int i = innermost_term(s, &sum);
        if (i < 0) {
            s->leaves = 0;
            Ref value = value_of_sum(s, &sum);
            if (!value) s->conditions.len = before;
            return value;
        }
        if (!spread_term(s, &sum, i, block)) replace_term(s, &sum, i, upper, block);
    }
    s->conditions.len = before;
    return NO_REF;
}

static Interval closer(Bounds *s, Ref index, Interval all, int32_t block) {
    Ref low = bound_of_sum(s, index, false, block), high = bound_of_sum(s, index, true, block);
    return (Interval){true, low ? low : all.low, high ? high : all.high};
}

/* -- checks ------------------------------------------------------------------------------------------ */

/* A value that does not change, or an axis length, as a value of the preheader. */
static Ref axis_length(Bounds *s, Ref n) {
    if (invariant(s, n)) return n;
    const Inst *inst = ir_inst(s->func, n);
    if (inst->op != OP_shape || !invariant(s, ir_arg(s->func, n, 0))) return NO_REF;
    return shape_of(s, ir_arg(s->func, n, 0), inst->imm);
}

/* Of an index that is always negative: it counts from the end, and must not reach over the start. */
static bool describe_from_end(Bounds *s, Ref ref, Ref index, Ref length) {
    int32_t block = ir_inst(s->func, ref)->block;
    if (ir_inst(s->func, ref)->op == OP_check_index) {
        Ref n = axis_length(s, length);
        Interval all = n ? interval(s, index, (Place){SUM_BITS, 0, block}) : none();
        if (!all.ok || !require_nonnegative(s, compute(s, OP_add, all.low, n))) return false;
    }
    vec_push(s->arena, &s->from_end, ref);
    return true;
}

/* Index = *base + *by, where the base is an item of a range whose ends do not change, or does not change itself. */
static bool is_plain(Bounds *s, Ref index, int32_t block, RangeItem *ends, Ref *base, int64_t *by) {
    enum { FURTHEST = 1 << 20 };
    int64_t k;
    *by = 0;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        const Inst *inst = ir_inst(s->func, index);
        bool sum = inst->op == OP_add || inst->op == OP_sub;
        if (inst->op == OP_check_index) {
            index = ir_arg(s->func, index, 0);
        } else if (sum && opt_const_int(s->func, ir_arg(s->func, index, 1), &k) && k > -FURTHEST &&
                   k < FURTHEST) {
            *by += inst->op == OP_add ? k : -k;
            index = ir_arg(s->func, index, 0);
        } else {
            break;
        }
    }
    *base = index;
    if (ir_type(s->func, index) != s->i64 || invariant(s, index))
        return ir_type(s->func, index) == s->i64 && ir_inst(s->func, index)->op != OP_const;
    if (!opt_range_item(s->func, s->cfg, index, block, ends)) return false;
    bool starts = ends->start != NO_REF;
    ends->stop = axis_length(s, ends->stop);
    if (starts) ends->start = axis_length(s, ends->start);
    return ends->stop && (!starts || ends->start);
}

/* The same in two comparisons, of the ends themselves: rows are short. Nothing is added to what may be large, and where 0 <= base +
 * by and base + by < n hold of numbers, the sum does not wrap. */
static bool describe_plain(Bounds *s, Ref index, Ref n, bool low_known, bool high_known,
                           int32_t block) {
    RangeItem ends;
    Ref base;
    int64_t by;
    if (!is_plain(s, index, block, &ends, &base, &by)) return false;
    if (invariant(s, base)) ends = (RangeItem){base, NO_REF, false};
    Ref low = ends.down ? ends.stop : ends.start ? ends.start : number(s, 0);
    Ref high = ends.down || !ends.stop ? ends.start : ends.stop;
    if (!low_known && !require(s, OP_le, number(s, -by - ends.down), low)) return false;
    if (high_known) return true;
    Op op = ends.down || !ends.stop ? OP_lt : OP_le;
    if (by == 0) return require(s, op, high, n);
    return require(s, op, high,
                   compute(s, by < 0 ? OP_add : OP_sub, n, number(s, by < 0 ? -by : by)));
}

/* An index that begins below zero, as in a[i - 1], must not reach over the start; its wraparound stays (pass `peel`). */
static bool describe_around(Bounds *s, Ref ref, Ref low) {
    Ref wrap = ir_arg(s->func, ref, 0), n = axis_length(s, ir_arg(s->func, ref, 1));
    int64_t k;
    if (!opt_const_int(s->func, low, &k) || k >= 0 || k < -MAX_STEP) return false;
    if (ir_inst(s->func, ref)->op != OP_check_index || ir_inst(s->func, wrap)->op != OP_wrap_index)
        return false;
    return n && ir_arg(s->func, wrap, 1) == ir_arg(s->func, ref, 1) &&
           require(s, OP_le, number(s, -k), n);
}

/* Requires that the index of `ref` lies inside its axis; of a wraparound without a check, that it is not negative. */
static bool describe_inside(Bounds *s, Ref ref) {
    bool check = ir_inst(s->func, ref)->op == OP_check_index;
    int32_t block = ir_inst(s->func, ref)->block;
    Ref index = ir_arg(s->func, ref, 0), length = ir_arg(s->func, ref, 1);
    if (check && ir_inst(s->func, index)->op == OP_wrap_index) index = ir_arg(s->func, index, 0);
    bool wraps = ir_inst(s->func, ir_arg(s->func, ref, 0))->op == OP_wrap_index || !check;
    if (wraps && opt_below(s->func, s->cfg, index, number(s, 0), block))
        return describe_from_end(s, ref, index, length);
    bool high_known = !check || opt_below(s->func, s->cfg, index, length, block);
    bool low_known = opt_at_least(s->func, s->cfg, index, 0, block);
    if (high_known && low_known) return true;
    Ref n = high_known ? length : axis_length(s, length);
    int32_t before = s->conditions.len;
    if (n && describe_plain(s, index, n, low_known, high_known, block)) return true;
    s->conditions.len = before;
    Interval all = n ? interval(s, index, (Place){SUM_BITS, 0, block}) : none();
    if (all.ok) all = closer(s, index, all, block);
    if (!all.ok) return false;
    bool natural = low_known || require_nonnegative(s, all.low);
    if (!natural && !describe_around(s, ref, all.low)) return false;
    if (!high_known && !require(s, OP_lt, all.high, n)) return false;
    if (!natural) vec_push(s->arena, &s->wrapping, ref);
    return true;
}

static bool is_division(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    return (inst->op == OP_floordiv || inst->op == OP_mod) && inst->type->kind == TY_i64 &&
           !inst->sub && !opt_const_int(func, ir_arg(func, ref, 1), &k);
}

/* The test of a guard against a zero divisor, which is `divisor == 0`. */
static bool is_zero_guard(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_guard || inst->error != NO_BLOCK) return false;
    if (inst->sub != GUARD_zero_division && inst->sub != GUARD_zero_modulo) return false;
    Ref test = ir_arg(func, ref, 0);
    if (ir_inst(func, test)->op != OP_eq) return false;
    const Type *type = ir_type(func, ir_arg(func, test, 0));
    return (type_is_int(type) || type_is_float(type)) &&
           ir_inst(func, ir_arg(func, test, 1))->op == OP_const;
}

/* Requires that the divisor, which does not change, is not zero; of a division of ints, that it is above. */
static bool describe_divisor(Bounds *s, Ref ref) {
    bool guard = ir_inst(s->func, ref)->op == OP_guard;
    Ref test = guard ? ir_arg(s->func, ref, 0) : NO_REF;
    Ref divisor = ir_arg(s->func, guard ? test : ref, guard ? 0 : 1);
    if (!invariant(s, divisor)) return false;
    if (!guard) {
        if (opt_at_least(s->func, s->cfg, ir_arg(s->func, ref, 0), 0, ir_inst(s->func, ref)->block))
            vec_push(s->arena, &s->natural, ref);
        return require(s, OP_lt, number(s, 0), divisor);
    }
    Ref condition = compare(s, OP_ne, divisor, ir_arg(s->func, test, 1));
    for (int32_t i = 0; i < s->conditions.len; i++)
        if (s->conditions.items[i] == condition) return true;
    vec_push(s->arena, &s->conditions, condition);
    return true;
}

/* Adds the conditions under which `ref` cannot fail in the nest; false when there are none to add. */
static bool describe(Bounds *s, Ref ref) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    if (op != OP_check_index && op != OP_wrap_index) return describe_divisor(s, ref);
    int32_t before = s->conditions.len;
    s->leaves = 0;
    if (describe_inside(s, ref)) return true;
    s->conditions.len = before; /* what was emitted for nothing, dce removes */
    return false;
}

/* What versioning could remove: checks; on hosts wraparounds that stand alone and what asks for zero divisors, too. */
static void candidates(const PassContext *ctx, const Func *func, const Loop *loop, bool host,
                       RefList *out) {
    Bits checked = bits_new(ctx->arena, func->insts.len);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < loop->blocks.len; i++) {
            const Block *block = &func->blocks.items[loop->blocks.items[i]];
            for (int32_t k = 0; k < block->insts.len && out->len < MAX_CHECKS; k++) {
                Ref ref = block->insts.items[k];
                const Inst *inst = ir_inst(func, ref);
                if (inst->op == OP_check_index && pass == 0)
                    bits_set(&checked, ir_arg(func, ref, 0));
                if (pass == 0) continue;
                if ((host && (is_division(func, ref) || is_zero_guard(func, ref))) ||
                    (inst->op == OP_check_index && (host || inst->error == NO_BLOCK)) ||
                    (inst->op == OP_wrap_index && host && !bits_get(&checked, ref)))
                    vec_push(ctx->arena, out, ref);
            }
        }
}

/* -- the two copies ------------------------------------------------------------------------------------ */

static void choose(Bounds *s, int32_t preheader, int32_t header, int32_t checked) {
    Func *func = s->func;
    Ref all = s->conditions.items[0];
    for (int32_t i = 1; i < s->conditions.len; i++)
        all = b_op2(&s->b, OP_and, s->boolean, all, s->conditions.items[i]);
    ir_edge_add(func, preheader, checked);
    ir_remove(func, ir_terminator(func, preheader));
    Ref branch = ir_append(func, preheader, OP_branch, &all, 1);
    ir_inst(func, branch)->target[0] = header;
    ir_inst(func, branch)->target[1] = checked;
}

/* May the checked copy become a function that is compiled when it is needed? In kernels it would have to
 * find its work-item again. */
static bool outlines(const PassContext *ctx) {
    return target_is_host(ctx->options->infer.target) && ctx->options->entry != ENTRY_KERNEL;
}

/* The checked copy: all blocks of the nest again, entered from the preheader when the condition fails. */
static void make_checked_copy(Bounds *s, int32_t preheader) {
    Func *func = s->func;
    const Loop *loop = &s->cfg->loops.items[s->loop];
    int32_t header = loop->header, entry_at = -1;
    Ref *ref_map = arena_array(s->arena, Ref, func->insts.len);
    int32_t *block_map = arena_array(s->arena, int32_t, func->blocks.len);
    const Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++)
        if (head->preds.items[i] == preheader) entry_at = i;
    ir_clone_blocks(func, loop->blocks.items, loop->blocks.len, ref_map, block_map);
    int32_t copy = block_map[header];
    for (int32_t i = 0; i < loop->blocks.len; i++)
        func->blocks.items[block_map[loop->blocks.items[i]]].cold = true;
    for (int32_t i = 0; i < func->blocks.items[header].insts.len; i++) {
        Ref phi = func->blocks.items[header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        ir_add_arg(func, ref_map[phi], ir_arg(func, phi, entry_at));
    }
    choose(s, preheader, header, copy);
}

/* Index + length of a check or a wraparound, before it. */
static Ref add_length(Func *func, Ref ref) {
    Ref index = ir_arg(func, ref, 0), length = ir_arg(func, ref, 1);
    const Type *type = ir_type(func, ref);
    if (ir_inst(func, ref)->op == OP_check_index) index = ir_arg(func, index, 0);
    int32_t block = ir_inst(func, ref)->block, span = ir_inst(func, ref)->span;
    Ref sum = ir_insert(func, block, opt_position(func, ref), OP_add, (Ref[]){index, length}, 2);
    ir_inst(func, sum)->type = type;
    ir_inst(func, sum)->span = span;
    return sum;
}

/* In the fast copy a described check is its index, and the index needs no wraparound; divisors are above zero. */
static void drop_checks(Func *func, Arena *arena, const RefList *checks, const RefList *from_end,
                        const RefList *wrapping) {
    Ref *map = arena_array(arena, Ref, func->insts.len + from_end->len);
    for (int32_t i = 0; i < checks->len; i++) {
        Ref index = ir_arg(func, checks->items[i], 0);
        if (ir_inst(func, checks->items[i])->op == OP_guard) continue;
        if (is_division(func, checks->items[i])) continue;
        if (ir_inst(func, index)->op == OP_wrap_index) index = ir_arg(func, index, 0);
        map[checks->items[i]] = index;
    }
    for (int32_t i = 0; i < wrapping->len; i++)
        map[wrapping->items[i]] = ir_arg(func, wrapping->items[i], 0);
    for (int32_t i = 0; i < from_end->len; i++)
        map[from_end->items[i]] = add_length(func, from_end->items[i]);
    ir_replace_many(func, map);
    for (int32_t i = 0; i < checks->len; i++) {
        Ref ref = checks->items[i];
        if (is_division(func, ref)) {
            ir_inst(func, ref)->sub = DIV_POSITIVE;
            continue;
        }
        int32_t error = ir_inst(func, ref)->error;
        if (error != NO_BLOCK) ir_edge_remove(func, ir_inst(func, ref)->block, error);
        ir_inst(func, ref)->error = NO_BLOCK;
        ir_remove(func, ref);
    }
}

/* Wraparounds whose check is gone have no users: they are nothing to ask for in loops inside. */
static void drop_unused_wraps(Func *func, Arena *arena) {
    Bits used = bits_new(arena, func->insts.len);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        if (ir_inst(func, ref)->op == OP_removed) continue;
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
            bits_set(&used, ir_arg(func, ref, k));
    }
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_wrap_index && !bits_get(&used, ref)) ir_remove(func, ref);
}

static int32_t nest_size(const Func *func, const Loop *loop) {
    int32_t n = 0;
    for (int32_t i = 0; i < loop->blocks.len; i++)
        n += func->blocks.items[loop->blocks.items[i]].insts.len;
    return n;
}

/* The block before the one edge into the loop. */
static int32_t entry_block(Func *func, const Cfg *cfg, int32_t loop) {
    int32_t header = cfg->loops.items[loop].header, entry = NO_BLOCK;
    const Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++) {
        if (opt_in_loop(cfg, loop, head->preds.items[i])) continue;
        if (entry != NO_BLOCK) return NO_BLOCK;
        entry = head->preds.items[i];
    }
    return entry;
}

static int32_t loop_of_header(const Cfg *cfg, int32_t header) {
    for (int32_t l = 0; l < cfg->loops.len; l++)
        if (cfg->loops.items[l].header == header) return l;
    return -1;
}

/* Makes the preheader a block of its own: constants go to the head of the entry block, which must not be it. */
static int32_t make_preheader(PassContext *ctx, Func *func, Cfg *cfg, int32_t *loop) {
    int32_t header = cfg->loops.items[*loop].header, entry = entry_block(func, cfg, *loop);
    if (entry == NO_BLOCK) return NO_BLOCK;
    int32_t preheader = ir_edge_split(func, entry, header);
    cfg_compute(cfg, ctx->arena, func);
    *loop = loop_of_header(cfg, header);
    return preheader;
}

static bool version_nest(PassContext *ctx, Func *func, Cfg *cfg, int32_t loop) {
    RefList all = {0}, checks = {0};
    if (nest_size(func, &cfg->loops.items[loop]) > MAX_NEST) return false;
    candidates(ctx, func, &cfg->loops.items[loop], outlines(ctx), &all);
    int32_t preheader = all.len ? make_preheader(ctx, func, cfg, &loop) : NO_BLOCK;
    if (preheader == NO_BLOCK) return false;
    const Loop *info = &cfg->loops.items[loop];
    Bounds s = {.func = func,
                .arena = ctx->arena,
                .cfg = cfg,
                .loop = loop,
                .i64 = type_scalar(ctx->module->types, TY_i64),
                .boolean = type_scalar(ctx->module->types, TY_bool)};
    s.b = (Builder){.func = func, .block = preheader, .error = NO_BLOCK};
    s.b.at = func->blocks.items[preheader].insts.len - 1;
    for (int32_t i = 0; i < all.len; i++)
        if (describe(&s, all.items[i])) vec_push(ctx->arena, &checks, all.items[i]);
    bool copies = checks.len && s.conditions.len;
    if (copies) {
        ir_make_loop_closed(func, cfg, loop);
        int32_t call = outlines(ctx) ? opt_outline_nest(ctx, func, info) : NO_BLOCK;
        if (call == NO_BLOCK)
            make_checked_copy(&s, preheader);
        else
            choose(&s, preheader, info->header, call);
    }
    if (checks.len) {
        drop_checks(func, ctx->arena, &checks, &s.from_end, &s.wrapping);
        drop_unused_wraps(func, ctx->arena);
    }
    for (int32_t i = 0; i < s.natural.len; i++)
        if (ir_inst(func, s.natural.items[i])->sub)
            ir_inst(func, s.natural.items[i])->sub |= DIV_NATURAL;
    return copies;
}

static bool in_versioned(const Cfg *cfg, const Bits *done, int32_t loop) {
    for (int32_t l = loop; l >= 0; l = cfg->loops.items[l].parent) {
        int32_t header = cfg->loops.items[l].header;
        if (header >= done->n || bits_get(done, header)) return true;
    }
    return false;
}

static bool is_innermost(const Cfg *cfg, int32_t loop) {
    for (int32_t l = 0; l < cfg->loops.len; l++)
        if (cfg->loops.items[l].parent == loop) return false;
    return true;
}

/* Outermost loops first; where one cannot be versioned as a whole, the loops inside are tried. Inside of one that was, only
 * innermost loops are: for what changes in the nest but stands still in them, the ends of a row that were read from an array. */
void opt_bounds(PassContext *ctx, Func *func) {
    if (opt_is_outlined(func)) return;
    Bits done = bits_new(ctx->arena, func->blocks.len);
    Cfg cfg;
    cfg_compute(&cfg, ctx->arena, func);
    Vec(int32_t) headers = {0};
    for (int32_t l = 0; l < cfg.loops.len; l++)
        vec_push(ctx->arena, &headers, cfg.loops.items[l].header);
    for (int32_t i = 0; i < headers.len; i++) {
        int32_t loop = loop_of_header(&cfg, headers.items[i]);
        if (loop < 0 || func->blocks.items[headers.items[i]].cold) continue;
        bool again = outlines(ctx) && is_innermost(&cfg, loop);
        if (in_versioned(&cfg, &done, loop) && !again) continue;
        if (!version_nest(ctx, func, &cfg, loop)) continue;
        bits_set(&done, headers.items[i]);
        cfg_compute(&cfg, ctx->arena, func);
    }
}
