/* inductive.c - bounds of integers, proven from loops and from the tests that lie on the way.
 *
 *     j = phi(start, j + step)           at the use: start <= j <= n - 1,
 *     if j < n: ... use(j) ...           when start and step are >= 0
 *
 * A question is a goal, `value >= k` or `value <= symbol + k` (of mathematical integers), asked at a block. It is
 * taken apart along the operands of the value; a branch that dominates the block may answer it; at a phi it is
 * asked of each operand at the end of its predecessor, and the goal itself is the hypothesis for what the phi was
 * in earlier rounds: induction over time. Hypotheses of several phis stand side by side, since all of them speak
 * of values computed earlier. After Bodik, Gupta and Sarkar, "ABCD: eliminating array bounds checks on demand".
 *
 * int64 wraps, so each step over a sum owes a proof that this sum does not; flags `nowrap` are such proofs.
 * Nothing is remembered between goals, and fuel bounds the work: running out means "not proven". */
#include "codegen/opt/pass.h"

enum {
    FUEL = 600,
    MAX_GOALS = 12,
    MAX_DEPTH = 24,
    MAX_FACTS = 40,
    SAME_DEPTH = 3,
    DEEPEST_CHOICE = 6,
    SMALL = 1 << 20
};

typedef struct Goal {
    bool upper; /* value <= symbol + k; else value >= k */
    Ref value;
    Ref symbol; /* NO_REF: 0 */
    int64_t k;
} Goal;

typedef struct Proof {
    const Func *func;
    const Cfg *cfg;
    int fuel, depth, n;
    Goal hypotheses[MAX_GOALS]; /* of phis */
} Proof;

static bool prove(Proof *p, Goal goal, int32_t block);

static bool is_i64(const Func *func, Ref ref) {
    const Type *type = ir_type(func, ref);
    return type && type->kind == TY_i64;
}

/* -- equal values ---------------------------------------------------------------------------------- */

/* What `ref` is a copy of: an index that passed its check, an axis of a new array. */
static Ref original(const Func *func, Ref ref) {
    for (;;) {
        const Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_check_index) {
            ref = ir_arg(func, ref, 0);
        } else if (inst->op == OP_shape && ir_inst(func, ir_arg(func, ref, 0))->op == OP_alloc) {
            ref = ir_arg(func, ir_arg(func, ref, 0), (int32_t)inst->imm);
        } else {
            return ref;
        }
    }
}

static bool same(const Func *func, Ref a, Ref b, int depth) {
    a = original(func, a), b = original(func, b);
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    int64_t i, k;
    if (a == b) return true;
    if (x->op != y->op || x->type != y->type) return false;
    if (opt_const_int(func, a, &i) && opt_const_int(func, b, &k)) return i == k;
    if (x->op == OP_shape) return x->imm == y->imm && ir_arg(func, a, 0) == ir_arg(func, b, 0);
    if (depth == 0 || !is_i64(func, a) || (x->op != OP_add && x->op != OP_sub && x->op != OP_mul))
        return false;
    return same(func, ir_arg(func, a, 0), ir_arg(func, b, 0), depth - 1) &&
           same(func, ir_arg(func, a, 1), ir_arg(func, b, 1), depth - 1);
}

bool opt_same(const Func *func, Ref a, Ref b) {
    return same(func, a, b, SAME_DEPTH);
}

/* The number `ref` always is: a literal, an axis of a constant array. */
static bool number(const Func *func, Ref ref, int64_t *value) {
    ref = original(func, ref);
    const Inst *inst = ir_inst(func, ref);
    if (inst->op == OP_shape && ir_inst(func, ir_arg(func, ref, 0))->op == OP_frozen) {
        *value = ir_inst(func, ir_arg(func, ref, 0))->u.frozen->shape[inst->imm];
        return true;
    }
    return is_i64(func, ref) && opt_const_int(func, ref, value);
}

/* -- items of ranges -------------------------------------------------------------------------------- */

static bool is_const(const Func *func, Ref ref, int64_t value) {
    int64_t k;
    return opt_const_int(func, ref, &k) && k == value;
}

/* Which way does a range go? 0: that is not known. A step of 0 raises before. */
static int direction(const Func *func, Ref step) {
    int64_t by;
    if (opt_const_int(func, step, &by)) return by > 0 ? 1 : -1;
    return opt_nonnegative(func, step, false) ? 1 : 0;
}

/* The loop whose counter `phi` is, where `block` lies in its body. */
static bool counter_in_body(const Func *func, const Cfg *cfg, Ref phi, int32_t block,
                            CountedLoop *out) {
    const Inst *inst = ir_inst(func, phi);
    if (inst->op != OP_phi || inst->block >= cfg->n) return false;
    int32_t l = cfg->loop_of[inst->block];
    if (l < 0 || cfg->loops.items[l].header != inst->block) return false;
    if (!opt_counted_loop(func, cfg, l, out) || out->counter != phi) return false;
    return func->blocks.items[out->body].preds.len == 1 && cfg_dominates(cfg, out->body, block);
}

/* The ends of an op range_len or range_item. */
static bool range_ends(const Func *func, Ref range, RangeItem *out) {
    int way = direction(func, ir_arg(func, range, 2));
    *out = (RangeItem){ir_arg(func, range, 0), ir_arg(func, range, 1), way < 0};
    return way != 0 && is_i64(func, out->start);
}

bool opt_range_item(const Func *func, const Cfg *cfg, Ref ref, int32_t block, RangeItem *out) {
    const Inst *inst = ir_inst(func, ref);
    CountedLoop loop;
    if (inst->op == OP_range_item) return range_ends(func, ref, out);
    if (!is_i64(func, ref) || !counter_in_body(func, cfg, ref, block, &loop)) return false;
    *out = (RangeItem){NO_REF, loop.limit, false};
    if (ir_inst(func, loop.limit)->op == OP_range_len &&
        is_const(func, ir_arg(func, loop.limit, 0), 0) &&
        is_const(func, ir_arg(func, loop.limit, 2), 1))
        out->stop = ir_arg(func, loop.limit, 1);
    return true;
}

/* -- goals ------------------------------------------------------------------------------------------ */

static bool at_least(Proof *p, Ref value, int64_t k, int32_t block) {
    return prove(p, (Goal){false, value, NO_REF, k}, block);
}

/* value <= symbol + k */
static bool at_most(Proof *p, Ref value, Ref symbol, int64_t k, int32_t block) {
    return prove(p, (Goal){true, value, symbol, k}, block);
}

/* The goal with another value and its bound moved by `by`; false: the bound leaves int64. A bound that no value can
 * break is the caller's MIN or MAX. */
static bool moved(Goal goal, Ref value, int64_t by, Goal *out) {
    *out = goal;
    out->value = value;
    if (!__builtin_add_overflow(goal.k, by, &out->k)) return true;
    if (goal.symbol) return false;
    out->k = goal.upper ? INT64_MAX : INT64_MIN;
    return goal.upper == (by > 0);
}

static bool prove_moved(Proof *p, Goal goal, Ref value, int64_t by, int32_t block) {
    Goal next;
    return moved(goal, value, by, &next) && prove(p, next, block);
}

/* -- facts: tests that dominate --------------------------------------------------------------------- */

/* Operands of comparisons, which are exact. */
static bool is_compared(const Func *func, Ref ref) {
    return is_i64(func, ref) || opt_is_narrow(func, ref);
}

static bool same_int(const Func *func, Ref a, Ref b) {
    return same(func, opt_uncast(func, a), opt_uncast(func, b), SAME_DEPTH);
}

/* a <= b + d holds. */
static bool by_order(Proof *p, Goal goal, Ref a, Ref b, int64_t d, int32_t at) {
    int64_t x, y;
    if (!is_compared(p->func, a) || !is_compared(p->func, b)) return false;
    if (goal.upper && number(p->func, a, &x) && number(p->func, goal.value, &y))
        return x > -SMALL && x < SMALL && y > -SMALL && y < SMALL &&
               prove_moved(p, goal, b, x - y - d, at);
    if (goal.upper && same_int(p->func, a, goal.value)) return prove_moved(p, goal, b, -d, at);
    if (!goal.upper && same_int(p->func, b, goal.value)) return prove_moved(p, goal, a, d, at);
    return false;
}

/* a != b, a number: when the goal's value is a and may be b but not pass it, it holds. */
static bool by_difference(Proof *p, Goal goal, Ref a, Ref b, int32_t at) {
    int64_t c;
    if (goal.symbol || !is_compared(p->func, a) || !number(p->func, b, &c)) return false;
    if (!same_int(p->func, a, goal.value)) return false;
    Goal weaker = goal;
    weaker.k = c;
    if (goal.upper ? c == INT64_MIN || goal.k != c - 1 : c == INT64_MAX || goal.k != c + 1)
        return false;
    return prove(p, weaker, at);
}

/* counter < range_len ...: a loop over a range runs, so that its ends lie apart. */
static bool by_length(Proof *p, Goal goal, Ref counter, Ref length, int32_t at) {
    RangeItem ends;
    if (ir_inst(p->func, length)->op != OP_range_len || !range_ends(p->func, length, &ends))
        return false;
    Ref low = ends.down ? ends.stop : ends.start, high = ends.down ? ends.start : ends.stop;
    return by_order(p, goal, low, high, -1, at) && at_least(p, counter, 0, at);
}

/* Does `condition`, which is known to be `truth`, prove the goal? */
static bool by_condition(Proof *p, Goal goal, Ref condition, bool truth, int32_t at, int depth) {
    const Func *func = p->func;
    const Inst *inst = ir_inst(func, condition);
    if (depth > 3 || inst->nargs == 0) return false;
    Ref a = ir_arg(func, condition, 0), b = inst->nargs > 1 ? ir_arg(func, condition, 1) : NO_REF;
    switch ((int)inst->op) {
    case OP_not: return by_condition(p, goal, a, !truth, at, depth + 1);
    case OP_and:
    case OP_or:
        return truth == (inst->op == OP_and) && type_class(inst->type) == CLASS_BOOL &&
               (by_condition(p, goal, a, truth, at, depth + 1) ||
                by_condition(p, goal, b, truth, at, depth + 1));
    case OP_lt:
        if (truth && by_length(p, goal, a, b, at)) return true;
        return truth ? by_order(p, goal, a, b, -1, at) : by_order(p, goal, b, a, 0, at);
    case OP_le: return truth ? by_order(p, goal, a, b, 0, at) : by_order(p, goal, b, a, -1, at);
    case OP_eq:
    case OP_ne:
        if (truth != (inst->op == OP_eq))
            return by_difference(p, goal, a, b, at) || by_difference(p, goal, b, a, at);
        return by_order(p, goal, a, b, 0, at) || by_order(p, goal, b, a, 0, at);
    default: return false;
    }
}

/* The test at the end of `from`, on the edge to `to`. */
static bool by_edge(Proof *p, Goal goal, int32_t from, int32_t to, int32_t at) {
    Ref last = ir_terminator(p->func, from);
    const Inst *branch = ir_inst(p->func, last);
    if (branch->op != OP_branch || branch->target[0] == branch->target[1]) return false;
    return by_condition(p, goal, ir_arg(p->func, last, 0), branch->target[0] == to, at, 0);
}

static bool by_facts(Proof *p, Goal goal, int32_t block) {
    int32_t at = block;
    for (int n = 0; n < MAX_FACTS && p->cfg->idom[block] != NO_BLOCK; n++) {
        int32_t above = p->cfg->idom[block];
        if (p->func->blocks.items[block].preds.len == 1 && by_edge(p, goal, above, block, at))
            return true;
        block = above;
    }
    return false;
}

/* -- operations ------------------------------------------------------------------------------------- */

/* x + c does not wrap. */
static bool exact_sum(Proof *p, Ref sum, Ref x, int64_t c, int32_t block) {
    if (ir_inst(p->func, sum)->sub == FLAG_NOWRAP) return true;
    return c >= 0 ? at_most(p, x, NO_REF, INT64_MAX - c, block)
                  : at_least(p, x, INT64_MIN - c, block);
}

static bool of_offset(Proof *p, Goal goal, Ref x, int64_t c, int32_t block) {
    if (c == INT64_MIN || !prove_moved(p, goal, x, -c, block)) return false;
    bool toward = goal.upper ? c > 0 && (!goal.symbol || goal.k <= 0) : c < 0;
    return toward || exact_sum(p, goal.value, x, c, block); /* the bound itself keeps it inside */
}

/* A small bound of y; most values have none. */
static bool small_high(Proof *p, Ref y, int64_t *high, int32_t block) {
    static const int64_t tries[] = {-1, 0, 1, 2, 3, 4, 7, 8, 15, 31, 63, 255};
    if (!at_most(p, y, NO_REF, 255, block)) return false;
    for (size_t i = 0; i < countof(tries); i++)
        if (at_most(p, y, NO_REF, *high = tries[i], block)) return true;
    return false;
}

/* x + y <= symbol + k, where y is small and neither can be so low that the sum wraps. */
static bool sum_below(Proof *p, Goal goal, Ref x, Ref y, int32_t block) {
    int64_t high;
    if (!small_high(p, y, &high, block) || !prove_moved(p, goal, x, -high, block)) return false;
    if (ir_inst(p->func, goal.value)->sub == FLAG_NOWRAP) return true;
    return (!goal.symbol || goal.k <= 0) && at_least(p, x, INT64_MIN / 2, block) &&
           at_least(p, y, INT64_MIN / 2, block);
}

/* Likewise from below; most values have none that is above -255. */
static bool small_low(Proof *p, Ref y, int64_t *low, int32_t block) {
    static const int64_t tries[] = {1, 0, -1, -2, -3, -4, -7, -8, -15, -31, -63, -255};
    if (!at_least(p, y, -255, block)) return false;
    for (size_t i = 0; i < countof(tries); i++)
        if (at_least(p, y, *low = tries[i], block)) return true;
    return false;
}

/* x + y >= k, where y lies between small numbers and x is not so high that the sum wraps. */
static bool sum_above(Proof *p, Goal goal, Ref x, Ref y, int32_t block) {
    int64_t low, high;
    if (!small_low(p, y, &low, block) || !prove_moved(p, goal, x, -low, block)) return false;
    return ir_inst(p->func, goal.value)->sub == FLAG_NOWRAP ||
           (small_high(p, y, &high, block) &&
            at_most(p, x, NO_REF, INT64_MAX - QN_MAX(high, 0), block));
}

static bool of_add(Proof *p, Goal goal, int32_t block) {
    Ref x = ir_arg(p->func, goal.value, 0), y = ir_arg(p->func, goal.value, 1);
    int64_t c, half = INT64_MAX / 2;
    if (number(p->func, y, &c)) return of_offset(p, goal, x, c, block);
    if (number(p->func, x, &c)) return of_offset(p, goal, y, c, block);
    if (goal.upper) return sum_below(p, goal, x, y, block) || sum_below(p, goal, y, x, block);
    if (goal.k <= 0 && at_least(p, x, 0, block) && at_least(p, y, 0, block))
        return ir_inst(p->func, goal.value)->sub == FLAG_NOWRAP ||
               (at_most(p, x, NO_REF, half, block) && at_most(p, y, NO_REF, half, block));
    return sum_above(p, goal, x, y, block) || sum_above(p, goal, y, x, block);
}

static bool of_sub(Proof *p, Goal goal, int32_t block) {
    Ref x = ir_arg(p->func, goal.value, 0), y = ir_arg(p->func, goal.value, 1), base;
    int64_t c, d;
    if (number(p->func, y, &c)) return c != INT64_MIN && of_offset(p, goal, x, -c, block);
    if (!at_least(p, y, 0, block)) return false;
    if (goal.upper) /* x >= -1, so that x - y does not wrap below */
        return at_least(p, x, -1, block) && prove_moved(p, goal, x, 0, block);
    if (goal.k == INT64_MIN) return at_least(p, x, -1, block);
    if (at_most(p, y, x, -goal.k, block)) return true;
    const Inst *inst = ir_inst(p->func, x);
    if ((inst->op != OP_add && inst->op != OP_sub) || !number(p->func, ir_arg(p->func, x, 1), &d))
        return false;
    if (d == INT64_MIN) return false;
    base = ir_arg(p->func, x, 0), d = inst->op == OP_add ? d : -d;
    return !__builtin_sub_overflow(d, goal.k, &c) && at_most(p, y, base, c, block) &&
           exact_sum(p, x, base, d, block);
}

/* A product by a positive number, or of what is not negative. */
static bool of_mul(Proof *p, Goal goal, int32_t block) {
    Ref x = ir_arg(p->func, goal.value, 0), y = ir_arg(p->func, goal.value, 1);
    bool exact = ir_inst(p->func, goal.value)->sub == FLAG_NOWRAP;
    int64_t c, wide = INT64_C(1) << 31;
    if (number(p->func, x, &c)) {
        Ref swap = x;
        x = y, y = swap;
    }
    if (number(p->func, y, &c) && c > 0) {
        if (!exact && !at_most(p, x, NO_REF, INT64_MAX / c, block)) return false;
        if (goal.upper)
            return !goal.symbol && goal.k >= 0 && at_most(p, x, NO_REF, goal.k / c, block) &&
                   (exact || at_least(p, x, 0, block) || at_least(p, x, INT64_MIN / c, block));
        return goal.k <= 0 && at_least(p, x, goal.k / c, block);
    }
    if (goal.upper || goal.k > 0 || !at_least(p, x, 0, block) || !at_least(p, y, 0, block))
        return false;
    return exact || (at_most(p, x, NO_REF, wide, block) && at_most(p, y, NO_REF, wide, block));
}

/* x // c, x % c, x >> c, x & c: rounded down, toward zero where x is not negative. */
static bool of_part(Proof *p, Goal goal, int32_t block) {
    Op op = (Op)ir_inst(p->func, goal.value)->op;
    Ref x = ir_arg(p->func, goal.value, 0), y = ir_arg(p->func, goal.value, 1);
    int64_t c = 0;
    bool known = number(p->func, y, &c), literal = goal.symbol == NO_REF;
    if (op == OP_and) {
        if (!goal.upper)
            return goal.k <= 0 && (at_least(p, x, 0, block) || at_least(p, y, 0, block));
        return (at_least(p, y, 0, block) && prove_moved(p, goal, y, 0, block)) ||
               (at_least(p, x, 0, block) && prove_moved(p, goal, x, 0, block));
    }
    if (op == OP_mod) {
        if (!goal.upper) return goal.k <= 0 && at_least(p, y, 0, block);
        if (known && c > 0 && literal) return c - 1 <= goal.k;
        return at_least(p, y, 1, block) && prove_moved(p, goal, y, 1, block);
    }
    if (op == OP_floordiv && (!known || c <= 0)) return false;
    if (!goal.upper) return goal.k <= 0 && at_least(p, x, 0, block);
    return at_least(p, x, 0, block) && prove_moved(p, goal, x, 0, block);
}

/* Each arm, where the test of the select is a fact for it. */
static bool of_select(Proof *p, Goal goal, int32_t block) {
    Ref condition = ir_arg(p->func, goal.value, 0);
    for (int k = 0; k < 2; k++) {
        Goal arm = goal;
        arm.value = ir_arg(p->func, goal.value, k + 1);
        if (!prove(p, arm, block) && !by_condition(p, arm, condition, k == 0, block, 0))
            return false;
    }
    return true;
}

/* Rows that are never negative; of min and max each argument must be inside, or one has to, as the goal lies. */
static bool of_lib(Proof *p, Goal goal, int32_t block) {
    const Inst *inst = ir_inst(p->func, goal.value);
    const LibRow *row = lib_row_of(inst);
    if (!row) return false;
    bool picks = row->cpu.kind == LOWER_GEN && (row->cpu.id == GEN_min || row->cpu.id == GEN_max);
    if (!picks) return !goal.upper && goal.k <= 0 && (row->flags & LIB_NONNEGATIVE);
    bool one = goal.upper == (row->cpu.id == GEN_min), ok = !one;
    for (int32_t k = 0; k < ir_inst(p->func, goal.value)->nargs && ok != one; k++)
        ok = prove_moved(p, goal, ir_arg(p->func, goal.value, k), 0, block);
    return ok;
}

/* All values of a type of fewer bits. */
static bool of_type(Goal goal, const Type *type) {
    TypeClass class = type_class(type);
    int bits = class == CLASS_BOOL ? 1 : type_bits(type);
    if (bits > 32 || (class != CLASS_BOOL && class != CLASS_UINT && class != CLASS_SINT))
        return false;
    int64_t low = class == CLASS_SINT ? -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = (INT64_C(1) << (class == CLASS_SINT ? bits - 1 : bits)) - 1;
    return goal.upper ? !goal.symbol && high <= goal.k : low >= goal.k;
}

static bool of_cast(Proof *p, Goal goal, int32_t block) {
    Ref from = ir_arg(p->func, goal.value, 0);
    if (opt_is_narrow(p->func, from)) return prove_moved(p, goal, from, 0, block);
    return of_type(goal, ir_type(p->func, from));
}

/* -- phis -------------------------------------------------------------------------------------------- */

/* The symbol is one value while the phi's loop runs. */
static bool symbol_stands(Proof *p, Ref symbol, int32_t header) {
    if (!symbol) return true;
    symbol = original(p->func, symbol);
    const Inst *inst = ir_inst(p->func, symbol);
    Ref from = inst->op == OP_shape ? ir_arg(p->func, symbol, 0) : symbol;
    int32_t block = cfg_def_block(p->cfg, p->func, from);
    return block != NO_BLOCK && block != header && cfg_dominates(p->cfg, block, header);
}

typedef struct Growth { /* of a variable in one round */
    int64_t low, high;
} Growth;

enum { DEEPEST = 8, LARGEST = 1 << 20 };

static bool growth(const Func *func, const Cfg *cfg, int32_t loop, Ref ref, Ref phi, int depth,
                   Growth *out);

/* How many rounds a counted loop has at most, as a number. */
static bool most_rounds(const Func *func, const Cfg *cfg, int32_t loop, int64_t *rounds) {
    CountedLoop counted;
    return opt_counted_loop(func, cfg, loop, &counted) &&
           opt_const_int(func, counted.limit, rounds) && *rounds >= 0 && *rounds <= LARGEST;
}

/* Of a variable of a loop inside that has so many rounds. */
static bool growth_inside(const Func *func, const Cfg *cfg, int32_t loop, Ref ref, Ref phi,
                          int depth, Growth *out) {
    int32_t header = ir_inst(func, ref)->block, inner = cfg->loop_of[header];
    int64_t rounds, each = 0, in_front = 0;
    bool any = false;
    if (inner == loop || !most_rounds(func, cfg, inner, &rounds)) return false;
    for (int32_t i = 0; i < ir_inst(func, ref)->nargs; i++) {
        bool back = opt_in_loop(cfg, inner, func->blocks.items[header].preds.items[i]);
        Growth way;
        if (!growth(func, cfg, back ? inner : loop, ir_arg(func, ref, i), back ? ref : phi,
                    depth + 1, &way))
            return false;
        if (back) {
            each = QN_MAX(each, way.high);
            continue;
        }
        out->low = any ? QN_MIN(out->low, way.low) : way.low;
        in_front = QN_MAX(in_front, way.high), any = true;
    }
    out->high = in_front + rounds * each;
    return any && out->high <= LARGEST;
}

/* How far `ref`, which comes round the loop, lies above what `phi` was in this round; false: that is not known. It is not below it. */
static bool growth(const Func *func, const Cfg *cfg, int32_t loop, Ref ref, Ref phi, int depth,
                   Growth *out) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    *out = (Growth){0, 0};
    if (ref == phi) return true;
    if (depth == DEEPEST || !is_i64(func, ref) || !opt_in_loop(cfg, loop, inst->block))
        return false;
    if (inst->op == OP_add && opt_const_int(func, ir_arg(func, ref, 1), &k) && k >= 0 &&
        k < LARGEST) {
        if (!growth(func, cfg, loop, ir_arg(func, ref, 0), phi, depth + 1, out)) return false;
        *out = (Growth){out->low + k, out->high + k};
        return true;
    }
    bool joins =
        inst->op == OP_phi && cfg->loops.items[cfg->loop_of[inst->block]].header != inst->block;
    int32_t first = inst->op == OP_select ? 1 : 0, n = inst->nargs;
    if (inst->op == OP_phi && !joins) return growth_inside(func, cfg, loop, ref, phi, depth, out);
    if (!joins && first == 0) return false;
    for (int32_t i = first; i < n; i++) {
        Growth way;
        if (!growth(func, cfg, loop, ir_arg(func, ref, i), phi, depth + 1, &way)) return false;
        *out = i == first ? way : (Growth){QN_MIN(out->low, way.low), QN_MAX(out->high, way.high)};
    }
    return true;
}

bool opt_paced(const Func *func, const Cfg *cfg, Ref phi, CountedLoop *loop, int64_t *start) {
    int32_t header = ir_inst(func, phi)->block, l = cfg->loop_of[header];
    Growth by;
    if (l < 0 || cfg->loops.items[l].header != header) return false;
    if (!opt_counted_loop(func, cfg, l, loop) || loop->counter == phi) return false;
    for (int32_t i = 0; i < ir_inst(func, phi)->nargs; i++) {
        Ref operand = ir_arg(func, phi, i);
        if (!opt_in_loop(cfg, l, func->blocks.items[header].preds.items[i])) {
            if (!number(func, operand, start) || *start > loop->first) return false;
        } else if (!growth(func, cfg, l, operand, phi, 0, &by) || by.low < 0 || by.high > 1) {
            return false;
        }
    }
    return true;
}

static bool by_pace(Proof *p, Goal goal, int32_t block) {
    CountedLoop loop;
    int64_t start;
    if (!opt_paced(p->func, p->cfg, goal.value, &loop, &start)) return false;
    if (!goal.upper) return start >= goal.k;
    bool inside =
        p->func->blocks.items[loop.body].preds.len == 1 && cfg_dominates(p->cfg, loop.body, block);
    return inside && prove(p, (Goal){true, loop.counter, goal.symbol, goal.k}, block);
}

/* What grows in a loop whose rounds are a number, from a number on (such loops have one way in): pixels that are counted in a window. */
static bool by_rounds(const Proof *p, Goal goal) {
    int32_t header = ir_inst(p->func, goal.value)->block, l = p->cfg->loop_of[header];
    int64_t rounds, start = 0, most = 0;
    Growth by;
    if (!opt_is_header_phi(p->func, p->cfg, goal.value) || goal.symbol ||
        !most_rounds(p->func, p->cfg, l, &rounds))
        return false;
    for (int32_t i = 0; i < ir_inst(p->func, goal.value)->nargs; i++) {
        Ref operand = ir_arg(p->func, goal.value, i);
        if (opt_in_loop(p->cfg, l, p->func->blocks.items[header].preds.items[i])) {
            if (!growth(p->func, p->cfg, l, operand, goal.value, 0, &by)) return false;
            most = QN_MAX(most, by.high);
        } else if (!number(p->func, operand, &start) || start < -LARGEST || start > LARGEST) {
            return false;
        }
    }
    return goal.upper ? start + rounds * most <= goal.k : start >= goal.k;
}

static bool of_phi(Proof *p, Goal goal) {
    const Func *func = p->func;
    int32_t header = ir_inst(func, goal.value)->block;
    for (int i = 0; i < p->n; i++) {
        const Goal *h = &p->hypotheses[i];
        if (h->value != goal.value || h->upper != goal.upper || h->symbol != goal.symbol) continue;
        return goal.upper ? h->k <= goal.k : h->k >= goal.k;
    }
    if (p->n == MAX_GOALS || !symbol_stands(p, goal.symbol, header)) return false;
    p->hypotheses[p->n++] = goal;
    bool ok = true;
    for (int32_t i = 0; ok && i < ir_inst(func, goal.value)->nargs; i++) {
        Goal operand = goal;
        int32_t from = func->blocks.items[header].preds.items[i];
        if (p->cfg->rpo_number[from] < 0) continue;
        operand.value = ir_arg(func, goal.value, i);
        ok = by_edge(p, operand, from, header, from) || prove(p, operand, from);
    }
    p->n--;
    return ok;
}

/* -- variables that keep what they were given ------------------------------------------------------------
 *
 *     best = 0                                all that best ever is: 0 and the items i, none of which is above n - 1;
 *     for i in range(1, n):                   of the 0 the tests at the use may say so: that i is there, n is above 1
 *         if a[i] < a[best]: best = i         */

typedef struct Choice {
    Ref phis[6]; /* of headers of loops: what they were given is looked at */
    int n;
    int32_t block; /* of the use */
    int32_t root;  /* the header of the outermost loop round the first of them */
} Choice;

static bool chosen(Proof *p, Goal goal, Choice *c, int32_t from, int32_t to, int depth);

/* Each operand of a phi, or of a select in the block. */
static bool all_chosen(Proof *p, Goal goal, Choice *c, int depth) {
    const Inst *inst = ir_inst(p->func, goal.value);
    bool joins = inst->op == OP_phi;
    Ref whole = goal.value;
    for (int32_t k = joins ? 0 : 1; k < inst->nargs; k++) {
        int32_t block = ir_inst(p->func, whole)->block;
        int32_t from = joins ? p->func->blocks.items[block].preds.items[k] : block;
        goal.value = ir_arg(p->func, whole, k);
        if (p->cfg->rpo_number[from] < 0) continue;
        if (!chosen(p, goal, c, from, joins ? block : NO_BLOCK, depth + 1)) return false;
    }
    return true;
}

/* What is the same value at the use as when it was given. */
static bool still_stands(const Proof *p, Ref value, const Choice *c) {
    if (ir_inst(p->func, value)->op == OP_const) return true;
    int32_t block = cfg_def_block(p->cfg, p->func, value);
    return block != NO_BLOCK && block != c->root && cfg_dominates(p->cfg, block, c->root);
}

static bool chosen(Proof *p, Goal goal, Choice *c, int32_t from, int32_t to, int depth) {
    const Inst *inst = ir_inst(p->func, goal.value);
    for (int i = 0; i < c->n; i++)
        if (c->phis[i] == goal.value) return true;
    if (to != NO_BLOCK && by_edge(p, goal, from, to, from)) return true;
    if (prove(p, goal, from)) return true;
    if (still_stands(p, goal.value, c)) return prove(p, goal, c->block);
    bool starts = opt_is_header_phi(p->func, p->cfg, goal.value);
    if (depth >= DEEPEST_CHOICE || (inst->op != OP_phi && inst->op != OP_select)) return false;
    if (starts && (c->n == countof(c->phis) || !symbol_stands(p, goal.symbol, inst->block)))
        return false;
    if (starts) c->phis[c->n++] = goal.value;
    return all_chosen(p, goal, c, depth);
}

static bool by_choice(Proof *p, Goal goal, int32_t block) {
    int32_t header = ir_inst(p->func, goal.value)->block;
    if (!opt_is_header_phi(p->func, p->cfg, goal.value) || !symbol_stands(p, goal.symbol, header))
        return false;
    int32_t root = p->cfg->loop_of[header];
    while (p->cfg->loops.items[root].parent >= 0)
        root = p->cfg->loops.items[root].parent;
    Choice c = {{goal.value}, 1, block, p->cfg->loops.items[root].header};
    return all_chosen(p, goal, &c, 0);
}

/* -- binary search --------------------------------------------------------------------------------------
 *
 *     while low < high:                       low and high come nearer to each other, one of them in each round, and the
 *         middle = (low + high) // 2          middle lies between them: low0 <= low <= middle < high <= high0
 *         low = middle + 1 or high = middle   */

/* Which of two comes first? */
typedef enum Order { UNORDERED, IN_ORDER, APART } Order; /* nothing is known; a <= b; a < b */

typedef struct Search {
    Ref low, high; /* phis of a loop's header */
    int32_t loop, header;
    bool by_distance; /* the test is of high - low */
} Search;

static bool is_half(const Func *func, Ref ref, Op whole, Ref *of) {
    const Inst *inst = ir_inst(func, ref);
    bool half = (inst->op == OP_floordiv && is_const(func, ir_arg(func, ref, 1), 2)) ||
                (inst->op == OP_shr && is_const(func, ir_arg(func, ref, 1), 1));
    *of = half ? ir_arg(func, ref, 0) : NO_REF;
    return half && ir_inst(func, *of)->op == whole;
}

/* (low + high) // 2, or low + (high - low) // 2 */
static bool is_middle(const Func *func, Ref ref, Ref *low, Ref *high) {
    Ref of;
    if (is_half(func, ref, OP_add, &of)) {
        *low = ir_arg(func, of, 0), *high = ir_arg(func, of, 1);
        return true;
    }
    if (ir_inst(func, ref)->op != OP_add || !is_half(func, ir_arg(func, ref, 1), OP_sub, &of))
        return false;
    *low = ir_arg(func, of, 1), *high = ir_arg(func, of, 0);
    return *low == ir_arg(func, ref, 0);
}

/* Is what comes round the loop the phi, the middle, or the one beside it? */
static bool narrows(const Func *func, Ref ref, Ref phi, Ref middle, Op beside, int depth) {
    enum { DEEPEST = 4 };
    const Inst *inst = ir_inst(func, ref);
    if (ref == phi || ref == middle) return true;
    if (inst->op == beside)
        return ir_arg(func, ref, 0) == middle && is_const(func, ir_arg(func, ref, 1), 1);
    if (depth == DEEPEST || (inst->op != OP_phi && inst->op != OP_select)) return false;
    for (int32_t k = inst->op == OP_phi ? 0 : 1; k < ir_inst(func, ref)->nargs; k++)
        if (!narrows(func, ir_arg(func, ref, k), phi, middle, beside, depth + 1)) return false;
    return true;
}

static Order order_by_test(const Func *func, Ref test, bool truth, Ref a, Ref b, Search *s) {
    const Inst *inst = ir_inst(func, test);
    if (inst->op == OP_not) return order_by_test(func, ir_arg(func, test, 0), !truth, a, b, s);
    if (inst->op != OP_lt && inst->op != OP_le) return UNORDERED;
    Ref x = ir_arg(func, test, truth ? 0 : 1), y = ir_arg(func, test, truth ? 1 : 0);
    bool strict = (inst->op == OP_lt) == truth;
    if (x == a && y == b) return strict ? APART : IN_ORDER;
    int64_t k; /* k < b - a */
    if (ir_inst(func, y)->op != OP_sub || ir_arg(func, y, 0) != b || ir_arg(func, y, 1) != a)
        return UNORDERED;
    if (!number(func, x, &k) || k < 0) return UNORDERED;
    s->by_distance = true;
    return strict || k > 0 ? APART : IN_ORDER;
}

/* By the tests on the way to the block. */
static Order order_on_way(const Proof *p, int32_t block, Ref a, Ref b, Search *s) {
    enum { FURTHEST = 8 };
    for (int n = 0; n < FURTHEST && p->cfg->idom[block] != NO_BLOCK; n++) {
        int32_t above = p->cfg->idom[block];
        Ref last = ir_terminator(p->func, above);
        const Inst *branch = ir_inst(p->func, last);
        bool one = p->func->blocks.items[block].preds.len == 1 && branch->op == OP_branch &&
                   branch->target[0] != branch->target[1];
        Order order = one ? order_by_test(p->func, ir_arg(p->func, last, 0),
                                          branch->target[0] == block, a, b, s)
                          : UNORDERED;
        if (order != UNORDERED) return order;
        block = above;
    }
    return UNORDERED;
}

/* Where the loop tests in front of its rounds, or on each way to them. */
static Order order_at(Proof *p, Search *s, int32_t block) {
    Order least = order_on_way(p, block, s->low, s->high, s);
    const Block *header = &p->func->blocks.items[s->header];
    if (least != UNORDERED) return least;
    least = APART;
    for (int32_t i = 0; i < header->preds.len && least != UNORDERED; i++) {
        int32_t from = header->preds.items[i];
        Ref a = ir_arg(p->func, s->low, i), b = ir_arg(p->func, s->high, i);
        Ref last = ir_terminator(p->func, from);
        const Inst *branch = ir_inst(p->func, last);
        Order order = order_on_way(p, from, a, b, s);
        if (order == UNORDERED && branch->op == OP_branch && branch->target[0] != branch->target[1])
            order = order_by_test(p->func, ir_arg(p->func, last, 0), branch->target[0] == s->header,
                                  a, b, s);
        if (order == UNORDERED)
            order = at_most(p, a, b, -1, from) ? APART : at_most(p, a, b, 0, from);
        least = QN_MIN(least, order);
    }
    return least;
}

static bool is_search(const Proof *p, Ref middle, Search *out, Ref first[2], int32_t *entry) {
    const Func *func = p->func;
    if (!is_middle(func, middle, &out->low, &out->high)) return false;
    out->header = ir_inst(func, out->low)->block;
    if (ir_inst(func, out->low)->op != OP_phi || ir_inst(func, out->high)->op != OP_phi ||
        ir_inst(func, out->high)->block != out->header || out->header >= p->cfg->n)
        return false;
    out->loop = p->cfg->loop_of[out->header];
    if (out->loop < 0 || p->cfg->loops.items[out->loop].header != out->header) return false;
    const Block *header = &func->blocks.items[out->header];
    *entry = NO_BLOCK;
    for (int32_t i = 0; i < header->preds.len; i++) {
        Ref a = ir_arg(func, out->low, i), b = ir_arg(func, out->high, i);
        if (opt_in_loop(p->cfg, out->loop, header->preds.items[i])) {
            if (!narrows(func, a, out->low, middle, OP_add, 0) ||
                !narrows(func, b, out->high, middle, OP_sub, 0))
                return false;
        } else if (*entry == NO_BLOCK) {
            *entry = header->preds.items[i];
            first[0] = a, first[1] = b;
        } else {
            return false;
        }
    }
    return *entry != NO_BLOCK && opt_in_loop(p->cfg, out->loop, ir_inst(func, middle)->block);
}

/* No sum and no difference wraps: 0 <= low0, and high0 is at most half of what there is. */
static bool of_middle(Proof *p, Goal goal) {
    Search s = {0};
    Ref first[2] = {NO_REF, NO_REF};
    int32_t entry;
    if (!is_search(p, goal.value, &s, first, &entry) || !symbol_stands(p, goal.symbol, s.header))
        return false;
    Order order = order_at(p, &s, ir_inst(p->func, goal.value)->block);
    if (order == UNORDERED || !at_least(p, first[0], 0, entry)) return false;
    if (s.by_distance && !at_least(p, first[1], -1, entry)) return false;
    if (!at_most(p, first[1], NO_REF, INT64_MAX / 2, entry)) return false;
    return goal.upper ? prove_moved(p, goal, first[1], order == APART, entry)
                      : prove_moved(p, goal, first[0], 0, entry);
}

/* -- tests of what a variable comes to ---------------------------------------------------------------------
 *
 *     i = start                          a loop that tests at its end: 2 * i + 1 < n has been asked of the i
 *     if 2 * i + 1 < n: loop             that comes round, on each way to the header, and not of the phi
 *     loop: c = 2 * i + 1 ...
 *           i = c, if 2 * i + 1 < n: loop   */

typedef struct Way { /* into a header: its phi is `operand` there */
    Ref phi, operand;
    int32_t header, from;
} Way;

/* The phi of a loop's header that an expression is made of, beside what stands while the loop runs; NO_REF: none, or several. */
static Ref variable_of(Proof *p, Ref ref, int depth) {
    const Inst *inst = ir_inst(p->func, ref);
    int64_t k;
    if (number(p->func, ref, &k)) return NO_REF;
    if (inst->op == OP_phi) return ref;
    if (depth == 0 || !is_i64(p->func, ref) || inst->nargs != 2) return NO_REF;
    Ref a = variable_of(p, ir_arg(p->func, ref, 0), depth - 1);
    return a ? a : variable_of(p, ir_arg(p->func, ref, 1), depth - 1);
}

/* The number that an expression is on the way. */
static bool number_on_way(const Func *func, Ref ref, const Way *way, int depth, int64_t *out) {
    int64_t a, b;
    if (ref == way->phi) return number(func, way->operand, out);
    if (number(func, ref, out)) return true;
    Op op = (Op)ir_inst(func, ref)->op;
    if (depth == 0 || (op != OP_add && op != OP_sub && op != OP_mul)) return false;
    if (!number_on_way(func, ir_arg(func, ref, 0), way, depth - 1, &a) ||
        !number_on_way(func, ir_arg(func, ref, 1), way, depth - 1, &b))
        return false;
    return !(op == OP_add   ? __builtin_add_overflow(a, b, out)
             : op == OP_sub ? __builtin_sub_overflow(a, b, out)
                            : __builtin_mul_overflow(a, b, out));
}

/* Is `there`, computed on the way, what the expression is in the round that follows? */
static bool same_on_way(Proof *p, Ref ref, Ref there, const Way *way, int depth) {
    const Func *func = p->func;
    int64_t a, b;
    if (ref == way->phi) return same(func, way->operand, there, SAME_DEPTH);
    if (number_on_way(func, ref, way, depth, &a)) return number(func, there, &b) && a == b;
    Op op = (Op)ir_inst(func, ref)->op;
    if (op != OP_add && op != OP_sub && op != OP_mul)
        return symbol_stands(p, ref, way->header) && same(func, ref, there, 0);
    return depth > 0 && op == ir_inst(func, there)->op && is_i64(func, there) &&
           same_on_way(p, ir_arg(func, ref, 0), ir_arg(func, there, 0), way, depth - 1) &&
           same_on_way(p, ir_arg(func, ref, 1), ir_arg(func, there, 1), way, depth - 1);
}

static bool by_test_on_way(Proof *p, Goal goal, Ref test, bool truth, const Way *way) {
    const Inst *inst = ir_inst(p->func, test);
    if (inst->op == OP_not) return by_test_on_way(p, goal, ir_arg(p->func, test, 0), !truth, way);
    if (inst->op == OP_and && truth && type_class(inst->type) == CLASS_BOOL)
        return by_test_on_way(p, goal, ir_arg(p->func, test, 0), true, way) ||
               by_test_on_way(p, goal, ir_arg(p->func, test, 1), true, way);
    if (inst->op != OP_lt && inst->op != OP_le) return false;
    Ref a = ir_arg(p->func, test, truth ? 0 : 1), b = ir_arg(p->func, test, truth ? 1 : 0);
    int64_t d = (inst->op == OP_lt) == truth ? -1 : 0; /* a <= b + d */
    if (!is_i64(p->func, a) || !is_i64(p->func, b)) return false;
    if (!same_on_way(p, goal.value, goal.upper ? a : b, way, SAME_DEPTH)) return false;
    return prove_moved(p, goal, goal.upper ? b : a, goal.upper ? -d : d, way->from);
}

/* The test at the end of the way, or one that leads to where it begins. */
static bool by_way(Proof *p, Goal goal, const Way *way) {
    enum { FURTHEST = 6 };
    int32_t to = way->header, from = way->from;
    for (int n = 0; n < FURTHEST && from != NO_BLOCK; n++) {
        Ref last = ir_terminator(p->func, from);
        const Inst *branch = ir_inst(p->func, last);
        bool one = n == 0 || p->func->blocks.items[to].preds.len == 1;
        if (one && branch->op == OP_branch && branch->target[0] != branch->target[1] &&
            by_test_on_way(p, goal, ir_arg(p->func, last, 0), branch->target[0] == to, way))
            return true;
        to = from, from = p->cfg->idom[from];
    }
    return false;
}

static bool by_ways(Proof *p, Goal goal) {
    Ref phi = variable_of(p, goal.value, SAME_DEPTH);
    int32_t header = phi ? ir_inst(p->func, phi)->block : NO_BLOCK;
    if (!phi || phi == goal.value || header >= p->cfg->n || p->cfg->loop_of[header] < 0)
        return false;
    if (p->cfg->loops.items[p->cfg->loop_of[header]].header != header) return false;
    if (!symbol_stands(p, goal.symbol, header)) return false;
    for (int32_t i = 0; i < ir_inst(p->func, phi)->nargs; i++) {
        Way way = {phi, ir_arg(p->func, phi, i), header,
                   p->func->blocks.items[header].preds.items[i]};
        if (p->cfg->rpo_number[way.from] >= 0 && !by_way(p, goal, &way)) return false;
    }
    return true;
}

/* -- the prover -------------------------------------------------------------------------------------- */

static bool of_range(Proof *p, Goal goal, const RangeItem *item, int32_t block) {
    if (item->down)
        return goal.upper ? prove_moved(p, goal, item->start, 0, block)
                          : prove_moved(p, goal, item->stop, -1, block);
    if (goal.upper) return prove_moved(p, goal, item->stop, 1, block);
    return item->start ? prove_moved(p, goal, item->start, 0, block) : goal.k <= 0;
}

/* Never negative; of range(n), the larger one of n and 0. */
static bool of_length(Proof *p, Goal goal, int32_t block) {
    Ref start = ir_arg(p->func, goal.value, 0), stop = ir_arg(p->func, goal.value, 1);
    if (!goal.upper) return goal.k <= 0;
    return is_const(p->func, start, 0) && direction(p->func, ir_arg(p->func, goal.value, 2)) > 0 &&
           prove_moved(p, goal, stop, 0, block) && prove_moved(p, goal, start, 0, block);
}

/* What lies in memory side by side has no more elements than there are bytes; what is repeated (stride 0) may. */
static bool of_axis(const Proof *p, Goal goal) {
    const Type *type = ir_type(p->func, ir_arg(p->func, goal.value, 0));
    return !goal.symbol && goal.k >= INT64_MAX / 4 && type->kind == TY_ARRAY && type->ndim == 1 &&
           type->layout == LAYOUT_C;
}

static bool by_operation(Proof *p, Goal goal, int32_t block) {
    const Inst *inst = ir_inst(p->func, goal.value);
    RangeItem item;
    bool may_be = inst->op == OP_phi || inst->op == OP_range_item;
    if (may_be && opt_range_item(p->func, p->cfg, goal.value, block, &item) &&
        of_range(p, goal, &item, block))
        return true;
    switch ((int)inst->op) {
    case OP_shape: return goal.upper ? of_axis(p, goal) : goal.k <= 0;
    case OP_range_len: return of_length(p, goal, block);
    case OP_lib: return of_lib(p, goal, block);
    case OP_check_index: /* it has passed */
        if (!goal.upper && goal.k <= 0) return true;
        return prove_moved(p, goal, ir_arg(p->func, goal.value, 0), 0, block) ||
               (goal.upper && prove_moved(p, goal, ir_arg(p->func, goal.value, 1), 1, block));
    case OP_wrap_index:
        return at_least(p, ir_arg(p->func, goal.value, 0), 0, block) &&
               prove_moved(p, goal, ir_arg(p->func, goal.value, 0), 0, block);
    case OP_add: return of_middle(p, goal) || of_add(p, goal, block);
    case OP_sub: return of_sub(p, goal, block);
    case OP_mul: return of_mul(p, goal, block);
    case OP_shr:
    case OP_floordiv: return of_middle(p, goal) || of_part(p, goal, block);
    case OP_mod:
    case OP_and: return of_part(p, goal, block);
    case OP_select: return of_select(p, goal, block);
    case OP_cast: return of_cast(p, goal, block);
    case OP_phi:
        return by_pace(p, goal, block) || by_rounds(p, goal) || of_phi(p, goal) ||
               by_choice(p, goal, block);
    default: return false;
    }
}

/* c <= symbol + k, since something is not above the symbol that is large enough. */
static bool below_symbol(Proof *p, Goal goal, int64_t c, int32_t block) {
    FactList facts = {.value = goal.symbol, .upper = false};
    if (c < -SMALL || c > SMALL || goal.k < -SMALL || goal.k > SMALL) return false;
    opt_facts(p->func, p->cfg, block, NO_BLOCK, &facts);
    for (int i = 0; i < facts.n; i++) {
        int64_t by = facts.items[i].by;
        if (by < -SMALL || by > SMALL) continue;
        if (at_least(p, facts.items[i].bound, c - goal.k - by, block)) return true;
    }
    return false;
}

static bool by_any(Proof *p, Goal goal, int32_t block) {
    bool phi = ir_inst(p->func, goal.value)->op == OP_phi; /* tests are cheaper than induction */
    return (phi ? by_facts(p, goal, block) : by_ways(p, goal)) || by_operation(p, goal, block) ||
           (!phi && by_facts(p, goal, block));
}

static bool prove(Proof *p, Goal goal, int32_t block) {
    int64_t k, c;
    bool narrow = opt_is_narrow(p->func, goal.value);
    if (!is_compared(p->func, goal.value) || p->depth >= MAX_DEPTH || --p->fuel < 0) return false;
    if (goal.symbol && number(p->func, goal.symbol, &k)) {
        if (__builtin_add_overflow(goal.k, k, &goal.k)) return false;
        goal.symbol = NO_REF;
    }
    if (!goal.symbol && goal.k == (goal.upper ? INT64_MAX : INT64_MIN)) return true;
    if (goal.symbol && same(p->func, goal.value, goal.symbol, SAME_DEPTH) && goal.k >= 0)
        return true;
    if (number(p->func, goal.value, &c)) {
        bool zero = !goal.symbol || ir_inst(p->func, goal.symbol)->op == OP_shape;
        if (zero && (goal.upper ? c <= goal.k : c >= goal.k)) return true;
        if (goal.upper && goal.symbol && below_symbol(p, goal, c, block)) return true;
    }
    p->depth++;
    bool ok = narrow ? of_type(goal, ir_type(p->func, goal.value)) || by_facts(p, goal, block)
                     : by_any(p, goal, block);
    p->depth--;
    return ok;
}

bool opt_at_least(const Func *func, const Cfg *cfg, Ref value, int64_t k, int32_t block) {
    Proof p = {.func = func, .cfg = cfg, .fuel = FUEL};
    return block < cfg->n && cfg->rpo_number[block] >= 0 && at_least(&p, value, k, block);
}

bool opt_at_most(const Func *func, const Cfg *cfg, Ref value, Ref symbol, int64_t k,
                 int32_t block) {
    Proof p = {.func = func, .cfg = cfg, .fuel = FUEL};
    return block < cfg->n && cfg->rpo_number[block] >= 0 && at_most(&p, value, symbol, k, block);
}

bool opt_below(const Func *func, const Cfg *cfg, Ref value, Ref limit, int32_t block) {
    return opt_at_most(func, cfg, value, limit, -1, block);
}
