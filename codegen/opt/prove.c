/* prove.c - removes index checks that cannot fail, wraparounds that do nothing, tests for zero divisors, negative shifts and powers, where loops
 * and the tests on the way show it (inductive.c); on hosts also ints that are read twice, whose checks as indices are one then. What
 * is left of checks, the pass `bounds` asks in front of the loop. Integer divisions are told what is known of their operands: rounding
 * down costs more than the rest of a division by a constant. */
#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

typedef struct Proving {
    Func *func;
    Cfg cfg;
    Ref *map;        /* what stands for a removed value */
    Bits needless;   /* guards */
    Vec(Ref) checks; /* those seen, which stay */
    Vec(Ref) guards; /* likewise, against zero divisors */
    Vec(Ref) loads;  /* those seen, which stay */
    Vec(Ref) wraps;  /* likewise, in functions without checks */
    bool unchecked;
    Arena *arena;
    bool any;
    bool stops; /* a guard that fails is the end: work-items of GPUs go on, and divide by zero */
} Proving;

static bool is_op(const Func *func, Ref ref, Op op) {
    return ir_inst(func, ref)->op == op;
}

/* -length <= index: then the wraparound hits an element. For indices a little below zero, as in a[i - 1]. */
static bool wraps_inside(const Proving *p, Ref index, Ref length, int32_t block) {
    enum { DEEPEST = 4 };
    for (int64_t d = 1; d <= DEEPEST; d++)
        if (opt_at_least(p->func, &p->cfg, index, -d, block))
            return opt_at_least(p->func, &p->cfg, length, d, block);
    return false;
}

/* What a check gives when it cannot fail; NO_REF: it may. */
static Ref checked(const Proving *p, Ref check) {
    const Func *func = p->func;
    Ref value = ir_arg(func, check, 0), length = ir_arg(func, check, 1);
    bool wraps = is_op(func, value, OP_wrap_index);
    Ref index = wraps ? ir_arg(func, value, 0) : value;
    int32_t block = ir_inst(func, check)->block;
    if (wraps && ir_arg(func, value, 1) != length) return NO_REF;
    if (!opt_below(func, &p->cfg, index, length, block)) return NO_REF;
    if (opt_at_least(func, &p->cfg, index, 0, block)) return index;
    return wraps && wraps_inside(p, index, length, block) ? value : NO_REF;
}

/* What stands for a value so far. */
static Ref now(const Proving *p, Ref ref) {
    while (p->map[ref])
        ref = p->map[ref];
    return ref;
}

/* Does nothing write on the only way from one instruction to another? */
static bool unchanged(const Proving *p, Ref from, Ref to) {
    enum { MOST_BLOCKS = 4 };
    const Func *func = p->func;
    int32_t block = ir_inst(func, to)->block, at = opt_position(func, to);
    for (int n = 0; n < MOST_BLOCKS; n++) {
        const Block *b = &func->blocks.items[block];
        while (--at >= 0) {
            if (b->insts.items[at] == from) return true;
            if (ir_op_info[ir_inst(func, b->insts.items[at])->op].flags & OPF_WRITE) return false;
        }
        if (b->preds.len != 1) return false;
        block = b->preds.items[0];
        at = func->blocks.items[block].insts.len;
    }
    return false;
}

/* An element that was read already, on the way here; NO_REF: none. LLVM would find it, but not what its value was checked for. */
static Ref read_before(Proving *p, Ref load) {
    enum { LOOK_BACK = 16 };
    const Func *func = p->func;
    for (int32_t i = p->loads.len - 1; i >= 0 && i >= p->loads.len - LOOK_BACK; i--) {
        Ref other = p->loads.items[i];
        int32_t k = 1, n = ir_inst(func, load)->nargs;
        if (ir_arg(func, load, 0) != ir_arg(func, other, 0)) continue;
        while (k < n &&
               opt_same(func, now(p, ir_arg(func, load, k)), now(p, ir_arg(func, other, k))))
            k++;
        if (k == n && unchanged(p, other, load)) return other;
    }
    vec_push(p->arena, &p->loads, load);
    return NO_REF;
}

/* An earlier check of the same index on the way here; NO_REF: none. */
static Ref twin(const Proving *p, Ref check) {
    enum { LOOK_BACK = 32 };
    const Func *func = p->func;
    Ref value = ir_arg(func, check, 0), length = ir_arg(func, check, 1);
    for (int32_t i = p->checks.len - 1; i >= 0 && i >= p->checks.len - LOOK_BACK; i--) {
        Ref other = p->checks.items[i], index = ir_arg(func, other, 0);
        bool wraps = is_op(func, value, OP_wrap_index);
        if (wraps != is_op(func, index, OP_wrap_index)) continue;
        if (!opt_same(func, length, ir_arg(func, other, 1))) continue;
        if (!(wraps ? opt_same(func, now(p, ir_arg(func, value, 0)),
                               now(p, ir_arg(func, index, 0))) &&
                          ir_arg(func, value, 1) == length &&
                          ir_arg(func, index, 1) == ir_arg(func, other, 1)
                    : opt_same(func, now(p, value), now(p, index))))
            continue;
        if (cfg_available(&p->cfg, func, other, ir_inst(func, check)->block)) return other;
    }
    return NO_REF;
}

/* An earlier wraparound of the same index on the way here; NO_REF: none. Without checks it is a branch, of which LLVM does not see that
 * it was taken before: `h[i] += x` would have an index to load from and another one to store to. */
static Ref twin_wrap(const Proving *p, Ref wrap) {
    enum { LOOK_BACK = 32 };
    const Func *func = p->func;
    for (int32_t i = p->wraps.len - 1; i >= 0 && i >= p->wraps.len - LOOK_BACK; i--) {
        Ref other = p->wraps.items[i];
        if (opt_same(func, ir_arg(func, wrap, 1), ir_arg(func, other, 1)) &&
            opt_same(func, now(p, ir_arg(func, wrap, 0)), now(p, ir_arg(func, other, 0))) &&
            cfg_available(&p->cfg, func, other, ir_inst(func, wrap)->block))
            return other;
    }
    return NO_REF;
}

/* What an index is made of that only grows: phis, choices and sums, and where all of them begin. */
typedef struct Growing {
    Ref items[16];
    int n;
} Growing;

static bool is_small_step(const Proving *p, Ref step, int32_t block) {
    enum { LARGEST = 1 << 16 };
    int64_t k;
    if (opt_const_int(p->func, step, &k)) return k >= 0 && k <= LARGEST;
    return opt_at_least(p->func, &p->cfg, step, 0, block) &&
           opt_at_most(p->func, &p->cfg, step, NO_REF, LARGEST, block);
}

/* `block`: where the value is looked at. */
static bool grows(const Proving *p, Ref ref, int32_t block, Growing *seen) {
    ref = now(p, ref);
    const Inst *inst = ir_inst(p->func, ref);
    bool phi = inst->op == OP_phi;
    for (int i = 0; i < seen->n; i++)
        if (seen->items[i] == ref) return true;
    if (inst->op == OP_add && inst->type->kind == TY_i64) {
        for (int k = 0; k < 2; k++)
            if (is_small_step(p, ir_arg(p->func, ref, 1 - k), inst->block))
                return grows(p, ir_arg(p->func, ref, k), inst->block, seen);
    }
    if (opt_at_least(p->func, &p->cfg, ref, 0, block)) return true;
    if ((!phi && inst->op != OP_select) || seen->n == countof(seen->items)) return false;
    seen->items[seen->n++] = ref;
    for (int32_t k = phi ? 0 : 1; k < ir_inst(p->func, ref)->nargs; k++) {
        int32_t from = phi ? p->func->blocks.items[inst->block].preds.items[k] : block;
        if (!grows(p, ir_arg(p->func, ref, k), from, seen)) return false;
    }
    return true;
}

/* Is an index never below zero that begins at or above it and only grows? To come from there to where it would hit an element as one
 * from the end it would have to grow by 2^63 less the length, in steps of at most 2^16: more than a machine makes. Anywhere else
 * outside an index without checks means nothing. */
static bool only_grows(const Proving *p, Ref index, Ref where) {
    Growing seen = {.n = 0};
    return grows(p, index, ir_inst(p->func, where)->block, &seen);
}

static bool has_checks(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (is_op(func, ref, OP_check_index)) return true;
    return false;
}

/* Its error successor, if it has one, loses this edge. */
static void remove_check(Func *func, Ref check) {
    Inst *inst = ir_inst(func, check);
    if (inst->error != NO_BLOCK) ir_edge_remove(func, inst->block, inst->error);
    ir_inst(func, check)->error = NO_BLOCK;
    ir_remove(func, check);
}

static bool at_least(const Proving *p, Ref value, int64_t k, Ref where) {
    return opt_at_least(p->func, &p->cfg, value, k, ir_inst(p->func, where)->block);
}

/* The divisor that a guard against zero asks about; NO_REF: it is another guard. */
static Ref divisor_of(const Func *func, Ref guard) {
    const Inst *inst = ir_inst(func, guard);
    int64_t zero;
    if (inst->sub != GUARD_zero_division && inst->sub != GUARD_zero_modulo) return NO_REF;
    Ref test = ir_arg(func, guard, 0);
    if (!is_op(func, test, OP_eq)) return NO_REF;
    const Inst *other = ir_inst(func, ir_arg(func, test, 1));
    bool is_float = other->op == OP_const && other->u.value->kind == CONST_FLOAT;
    if (is_float ? other->u.value->re != 0
                 : !opt_const_int(func, ir_arg(func, test, 1), &zero) || zero)
        return NO_REF;
    return ir_arg(func, test, 0);
}

/* Has a guard on the way here refused zero? */
static bool guarded(const Proving *p, Ref divisor, Ref where) {
    enum { LOOK_BACK = 16 };
    for (int32_t i = p->guards.len - 1; i >= 0 && i >= p->guards.len - LOOK_BACK; i--) {
        Ref guard = p->guards.items[i];
        const Inst *inst = ir_inst(p->func, guard);
        if (inst->error == NO_BLOCK && opt_same(p->func, divisor_of(p->func, guard), divisor) &&
            cfg_dominates(&p->cfg, inst->block, ir_inst(p->func, where)->block))
            return true;
    }
    return false;
}

static bool is_same_index(const Proving *p, Ref a, Ref b) {
    const Func *func = p->func;
    a = now(p, a), b = now(p, b);
    if (opt_same(func, a, b)) return true;
    return is_op(func, a, OP_wrap_index) && is_op(func, b, OP_wrap_index) &&
           opt_same(func, ir_arg(func, a, 1), ir_arg(func, b, 1)) &&
           opt_same(func, now(p, ir_arg(func, a, 0)), now(p, ir_arg(func, b, 0)));
}

/* The same float, read twice: LLVM makes one load of both later. */
static bool is_same_float(const Proving *p, Ref before, Ref x) {
    const Func *func = p->func;
    int32_t k = 0, n = ir_inst(func, x)->nargs;
    if (opt_same(func, before, x)) return true;
    if (!is_op(func, before, OP_load) || !is_op(func, x, OP_load)) return false;
    if (ir_inst(func, before)->nargs != n) return false;
    while (k < n && is_same_index(p, ir_arg(func, before, k), ir_arg(func, x, k)))
        k++;
    return k == n && unchanged(p, before, x);
}

static bool is_pair(const Proving *p, Ref a, Ref b, Ref x, Ref y) {
    return (is_same_float(p, a, x) && is_same_float(p, b, y)) ||
           (is_same_float(p, a, y) && is_same_float(p, b, x));
}

/* Are x and y no equal numbers where `test` is `so`? By x < y, by not x <= y, or by what is true of one of them alone, x < z and not y < z. */
static bool tells_apart(const Proving *p, Ref test, bool so, Ref x, Ref y) {
    const Func *func = p->func;
    Op op = (Op)ir_inst(func, test)->op;
    if (op != OP_lt && op != OP_le && op != OP_eq && op != OP_ne) return false;
    Ref a = ir_arg(func, test, 0), b = ir_arg(func, test, 1);
    bool apart = so ? op == OP_lt || op == OP_ne : op == OP_le || op == OP_eq;
    if (apart && is_pair(p, a, b, x, y)) return true;
    Op one = (Op)ir_inst(func, a)->op;
    if (!apart || op == OP_lt || op == OP_le || (one != OP_lt && one != OP_le)) return false;
    if (!is_op(func, b, one)) return false;
    for (int k = 0; k < 2; k++)
        if (opt_same(func, ir_arg(func, a, 1 - k), ir_arg(func, b, 1 - k)) &&
            is_pair(p, ir_arg(func, a, k), ir_arg(func, b, k), x, y))
            return true;
    return false;
}

/* Is a divisor the difference of two floats that a test on the way here has told apart? It is not zero then: what is too small for a float of
 * full precision still is one. */
static bool is_difference(const Proving *p, Ref divisor, Ref where) {
    enum { MOST_BLOCKS = 4 };
    const Func *func = p->func;
    int32_t block = ir_inst(func, where)->block;
    if (!p->stops || !is_op(func, divisor, OP_sub)) return false;
    Ref x = ir_arg(func, divisor, 0), y = ir_arg(func, divisor, 1);
    for (int n = 0; n < MOST_BLOCKS && func->blocks.items[block].preds.len == 1; n++) {
        int32_t from = func->blocks.items[block].preds.items[0];
        const Inst *last = ir_inst(func, ir_terminator(func, from));
        if (last->op == OP_branch && last->target[0] != last->target[1] &&
            tells_apart(p, ir_arg(func, ir_terminator(func, from), 0), last->target[0] == block, x,
                        y))
            return true;
        block = from;
    }
    return false;
}

/* Does this guard ask whether a number is zero that cannot be? */
static bool never_zero(Proving *p, Ref guard) {
    Ref divisor = divisor_of(p->func, guard);
    if (!divisor) return false;
    if (type_is_float(ir_type(p->func, divisor))) return is_difference(p, divisor, guard);
    if (at_least(p, divisor, 1, guard) || guarded(p, divisor, guard)) return true;
    vec_push(p->arena, &p->guards, guard);
    return false;
}

/* Is x of x % y, where y is above zero, less than one y away from what it gives? Then nothing is divided: (i - 1) % n and
 * (i + 1) % n on a ring. 0: it may be further. */
static unsigned near(const Proving *p, Ref x, Ref y, Ref where, bool natural) {
    enum { FURTHEST = 4 };
    const Func *func = p->func;
    int32_t block = ir_inst(func, where)->block;
    unsigned found = 0;
    if (!natural) { /* -d <= x, and d <= y */
        int64_t d = 1;
        while (d <= FURTHEST && !at_least(p, x, -d, where))
            d++;
        if (d > FURTHEST || !at_least(p, y, d, where)) return 0;
        found |= DIV_BELOW;
    }
    if (opt_below(func, &p->cfg, x, y, block)) return found;
    for (int64_t d = 0; d <= FURTHEST; d++) /* x <= y + d, and d < y */
        if (opt_at_most(func, &p->cfg, x, y, d, block))
            return at_least(p, y, d + 1, where) ? found | DIV_ABOVE : 0;
    return 0;
}

static void visit_division(const Proving *p, Ref ref) {
    Ref x = ir_arg(p->func, ref, 0), y = ir_arg(p->func, ref, 1);
    if (ir_type(p->func, ref)->kind != TY_i64) return;
    bool asked = p->stops && guarded(p, y, ref) && at_least(p, y, 0, ref);
    if (!asked && !at_least(p, y, 1, ref)) {
        if (is_op(p->func, ref, OP_mod) && opt_is_euclid(p->func, ref))
            ir_inst(p->func, ref)->sub = DIV_SELDOM;
        return;
    }
    bool natural = at_least(p, x, 0, ref);
    unsigned known = DIV_POSITIVE | (natural ? DIV_NATURAL : 0);
    if (is_op(p->func, ref, OP_mod)) known |= near(p, x, y, ref, natural);
    bool seldom = opt_seldom_negative(p->func, ref) || opt_is_euclid(p->func, ref);
    if (is_op(p->func, ref, OP_mod) && known == DIV_POSITIVE && seldom) known |= DIV_SELDOM;
    ir_inst(p->func, ref)->sub = (uint16_t)known;
}

/* x, where x % y is x: 0 <= x < y. */
static Ref whole(const Proving *p, Ref ref) {
    Ref x = ir_arg(p->func, ref, 0), y = ir_arg(p->func, ref, 1);
    if (!(ir_inst(p->func, ref)->sub & DIV_NATURAL)) return NO_REF;
    return opt_below(p->func, &p->cfg, x, y, ir_inst(p->func, ref)->block) ? x : NO_REF;
}

/* An int that is never negative; one without a sign is none. */
static bool natural(const Proving *p, Ref value, Ref where) {
    return type_class(ir_type(p->func, value)) == CLASS_UINT || at_least(p, value, 0, where);
}

/* Is `x < k`, of ints, or `x < 0` of an int that became a float, never so where the guard stands? */
static bool never_less(const Proving *p, Ref test, Ref guard) {
    const Func *func = p->func;
    Ref x = ir_arg(func, test, 0), limit = ir_arg(func, test, 1);
    int64_t k;
    if (opt_const_int(func, limit, &k)) return at_least(p, x, k, guard);
    const Inst *zero = ir_inst(func, limit);
    bool is_zero =
        zero->op == OP_const && zero->u.value->kind == CONST_FLOAT && zero->u.value->re == 0;
    return is_zero && is_op(func, x, OP_cast) && type_is_int(ir_type(func, ir_arg(func, x, 0))) &&
           natural(p, ir_arg(func, x, 0), guard);
}

/* Is what the guard asks for never so? */
static bool never(const Proving *p, Ref test, Ref guard, int depth) {
    if (is_op(p->func, test, OP_lt)) return never_less(p, test, guard);
    return depth < 3 && is_op(p->func, test, OP_and) &&
           (never(p, ir_arg(p->func, test, 0), guard, depth + 1) ||
            never(p, ir_arg(p->func, test, 1), guard, depth + 1));
}

/* A power that is made of products asks for no reciprocal where its exponent is not negative. */
static void visit_power(const Proving *p, Ref ref) {
    Ref cast = ir_arg(p->func, ref, 1);
    if (!(ir_inst(p->func, ref)->sub & FLAG_SQUARED) || !is_op(p->func, cast, OP_cast)) return;
    if (natural(p, ir_arg(p->func, cast, 0), ref)) ir_inst(p->func, ref)->sub |= FLAG_NATURAL;
}

static void visit(Proving *p, Ref ref) {
    if (is_op(p->func, ref, OP_floordiv) || is_op(p->func, ref, OP_mod)) visit_division(p, ref);
    if (is_op(p->func, ref, OP_pow)) visit_power(p, ref);
    if (is_op(p->func, ref, OP_guard) &&
        (never_zero(p, ref) || never(p, ir_arg(p->func, ref, 0), ref, 0))) {
        bits_set(&p->needless, ref);
        p->any = true;
    }
    if (is_op(p->func, ref, OP_load) && p->stops && type_is_int(ir_type(p->func, ref)))
        p->map[ref] = read_before(p, ref);
    if (is_op(p->func, ref, OP_check_index)) {
        p->map[ref] = checked(p, ref);
        if (!p->map[ref]) p->map[ref] = twin(p, ref);
        if (!p->map[ref]) vec_push(p->arena, &p->checks, ref);
    } else if (is_op(p->func, ref, OP_mod)) {
        p->map[ref] = whole(p, ref);
    } else if (is_op(p->func, ref, OP_wrap_index)) {
        Ref index = ir_arg(p->func, ref, 0);
        if (opt_at_least(p->func, &p->cfg, index, 0, ir_inst(p->func, ref)->block) ||
            (p->unchecked && only_grows(p, index, ref)))
            p->map[ref] = index;
        if (!p->map[ref] && p->unchecked) p->map[ref] = twin_wrap(p, ref);
        if (!p->map[ref] && p->unchecked) vec_push(p->arena, &p->wraps, ref);
    }
    p->any |= p->map[ref] != NO_REF;
}

void opt_prove(PassContext *ctx, Func *func) {
    Proving p = {.func = func, .arena = ctx->arena};
    p.stops = target_is_host(ctx->options->infer.target);
    p.unchecked = p.stops && !has_checks(func);
    cfg_compute(&p.cfg, ctx->arena, func);
    p.map = arena_array(ctx->arena, Ref, func->insts.len);
    p.needless = bits_new(ctx->arena, func->insts.len);
    for (int32_t b = 0; b < p.cfg.nrpo; b++) {
        const Block *block = &func->blocks.items[p.cfg.rpo[b]];
        for (int32_t i = 0; i < block->insts.len; i++)
            visit(&p, block->insts.items[i]);
    }
    if (!p.any) return;
    ir_replace_many(func, p.map);
    Ref n = func->insts.len;
    for (Ref ref = 1; ref < n; ref++) {
        if (!p.map[ref] && !bits_get(&p.needless, ref)) continue;
        if (is_op(func, ref, OP_check_index) || is_op(func, ref, OP_guard))
            remove_check(func, ref);
        else
            ir_remove(func, ref);
    }
    cfg_remove_unreachable(func);
}
