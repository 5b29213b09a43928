/* bounds_sum.c - sums of several variables (bounds.c).
 *
 * Intervals forget how variables depend on each other: of j = i + length - 1, where i < n - length + 1, they know no more than
 * j <= largest i + largest length - 1. A Sum keeps j as terms, in which loop variables are replaced by their ends, the innermost
 * first: i + length - 1 <= (n - length) + length - 1 = n - 1. It is asked for where there is an interval, which shows that no
 * part of it wraps. */
#include "codegen/opt/bounds.h"

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
    } else if (bounds_invariant(s, ref)) {
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
    if (!bounds_counts_along(s, term.value, block, &start, &step, &rounds)) return false;
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
        if (bounds_invariant(s, sum->terms[i].value)) continue;
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
    if (bounds_step(s, term.value) == 1 &&
        opt_range_item(s->func, s->cfg, term.value, block, &item)) {
        bool start = high == item.down;
        if (!start) add_number(sum, high ? -1 : 1, term.times);
        if (!start || item.start) add_value(s, sum, start ? item.start : item.stop, term.times, 0);
        return;
    }
    Interval all = bounds_interval(s, term.value, (Place){SUM_BITS, 0, block});
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
        if (times > MAX_TIMES || !bounds_leaf(s, term.value, SUM_BITS).ok) return NO_REF;
        int64_t size = term.times < 0 ? -term.times : term.times;
        Ref part =
            size == 1 ? term.value : bounds_compute(s, OP_mul, term.value, bounds_number(s, size));
        if (!value && term.times > 0)
            value = part;
        else
            value = bounds_compute(s, term.times < 0 ? OP_sub : OP_add,
                                   value ? value : bounds_number(s, 0), part);
    }
    int64_t bound = INT64_C(1) << SUM_BITS;
    if (sum->k <= -bound || sum->k >= bound) return NO_REF;
    if (!value) return bounds_number(s, sum->k);
    return sum->k < 0 ? bounds_compute(s, OP_sub, value, bounds_number(s, -sum->k))
                      : bounds_compute(s, OP_add, value, bounds_number(s, sum->k));
}

/* A bound of `ref` where it is used, which may be closer than that of its interval; NO_REF: none. */
static Ref bound_of_sum(Bounds *s, Ref ref, bool upper, int32_t block) {
    Sum sum = {.ok = true};
    RangeItem item;
    int32_t before = s->conditions.len;
    add_value(s, &sum, ref, 1, 0);
    if (sum.n == 1 && (bounds_invariant(s, sum.terms[0].value) ||
                       !opt_range_item(s->func, s->cfg, sum.terms[0].value, block, &item)))
        return NO_REF; /* its interval says as much */
    for (int step = 0; sum.ok && step < MAX_STEPS; step++) {
        int i = innermost_term(s, &sum);
        if (i < 0) {
            s->leaves = s->choices = 0;
            Ref value = value_of_sum(s, &sum);
            if (!value) s->conditions.len = before;
            return value;
        }
        if (!spread_term(s, &sum, i, block)) replace_term(s, &sum, i, upper, block);
    }
    s->conditions.len = before;
    return NO_REF;
}

Interval bounds_closer(Bounds *s, Ref index, Interval all, int32_t block) {
    Ref low = bound_of_sum(s, index, false, block), high = bound_of_sum(s, index, true, block);
    Interval closer = {true, low ? low : all.low, high ? high : all.high};
    return s->guards ? bounds_within(s, all, closer) : closer; /* sums know of no guards */
}
