/* divisors.c - looks for zero divisors, and for floats that are no int64, a strip ahead of the division or of int(x).
 *
 * A guard in each round is an exit in each round, and LLVM vectorises no such loop. Where the divisors and the floats can be
 * computed ahead, a strip of the loop becomes three:
 *
 *   strip: i0, stop, apart = disjoint out, b; branch apart, test, guarded
 *   test:  t = phi(i0, t+1), bad = phi(false, bad | divisor(t) == 0 | not |x(t)| < 2^63); if t < stop: test
 *          branch bad, guarded, header
 *   header:  the loop without guards                 guarded:  a copy with them
 *
 * The guarded copy raises in the round and at the place where Python would, with all stores of earlier rounds done.
 *
 * What must hold, so that testing early is testing at all:
 *  - a divisor, or such a float, is arithmetic on the counter, on what does not change in the loop, and on elements of arrays;
 *  - every round computes it, and nothing but a guard leaves the loop early: no element is read that the loop itself would
 *    not read, were it not for a zero before it. Where checks are off, such a zero may be what keeps the
 *    indices inside, and the strip's first and last index of each such access are tested first;
 *  - no store changes an element before its round reads it: the arrays share no byte, or it is the very element that
 *    was read earlier in the same round (`b[i] = 1 / b[i]`).
 *
 * Of a float that becomes an int no round computes anything ahead where its magnitude is below 2^62 by what stands still in the loop (magnitude.c): that
 * is one test for the strip. Where it is divided, or one of several, its elements alone are looked at in each round: they are below 2^31, or the guarded copy runs.
 *
 * Only float divisors: integers are divided one by one on the CPUs we know, so that a loop gains nothing. */
#include "codegen/opt/divisors.h"
#include "codegen/opt/magnitude.h"

enum { MAX_VALUES = 32, MAX_PAIRS = 8, FEW_ROUNDS = 16 };

typedef struct Pair {
    Ref load, store;
    bool same_element; /* of one array, it would be the same element of it */
} Pair;

/* What the loop is left for. */
typedef struct Hazard {
    Ref guard; /* of a zero divisor; NO_REF: of int(x) */
    Ref branch; /* to the block that raises where |x| < 2^63 does not hold, or makes the int of what is more */
    Magnitudes *small; /* what tells that |x| < 2^62 without computing x; NULL: nothing does */
} Hazard;

struct Divisors {
    PassContext *ctx;
    Func *func;
    const Cfg *cfg;
    int32_t loop;
    const CountedLoop *counted;
    Vec(Hazard) hazards;
    Vec(Ref) stores;
    Vec(Ref) loads;           /* of divisors and floats, and of what these are made of */
    Magnitudes still, moving; /* by what stands still in the loop; by elements of arrays, too */
    bool exact;               /* no hazard needs the latter */
    Pair pairs[MAX_PAIRS];
    int npairs;
    Bits needed; /* values of these, made in the loop */
    int nneeded;
};

static bool inside(const Divisors *d, Ref ref) {
    return opt_in_loop(d->cfg, d->loop, ir_inst(d->func, ref)->block);
}

/* -- what the loop does ---------------------------------------------------------------------------- */

static bool constant(const Func *func, Ref ref) {
    return ir_inst(func, ref)->op == OP_const;
}

static bool is_float(const Func *func, Ref ref) {
    return ir_type(func, ref) && type_is_float(ir_type(func, ref));
}

static bool pure_row(const Inst *inst) {
    const LibRow *row = lib_row_of(inst);
    return row && (row->flags & LIB_PURE) && !(row->flags & LIB_CONVERGENT);
}

/* Exact, and zero only for zero. */
static bool is_root_or_magnitude(const Func *func, Ref ref) {
    return opt_is_magnitude(func, ref) || !strcmp(opt_intrinsic_of(func, ref), "llvm.sqrt");
}

static bool is_zero(const Func *func, Ref ref) {
    return constant(func, ref) && ir_inst(func, ref)->u.value->kind == CONST_FLOAT &&
           ir_inst(func, ref)->u.value->re == 0.0;
}

static bool is_zero_test(const Divisors *d, Ref guard) {
    const Inst *inst = ir_inst(d->func, guard);
    if (inst->sub != GUARD_zero_division || inst->error != NO_BLOCK) return false;
    Ref test = ir_arg(d->func, guard, 0);
    return ir_inst(d->func, test)->op == OP_eq && is_float(d->func, ir_arg(d->func, test, 0)) &&
           is_zero(d->func, ir_arg(d->func, test, 1)) &&
           opt_every_round(d->func, d->cfg, d->loop, inst->block);
}

/* The branch that leads to what int(x) does with a float outside of int64, as inference writes it; NO_REF: the block does something else. */
static Ref branch_of_odd(const Divisors *d, int32_t block) {
    const Block *odd = &d->func->blocks.items[block];
    if (!odd->cold || odd->preds.len != 1 || block == d->counted->header) return NO_REF;
    Ref branch = ir_terminator(d->func, odd->preds.items[0]);
    const Inst *inst = ir_inst(d->func, branch);
    if (inst->op != OP_branch || inst->target[0] != block || inst->target[1] == block)
        return NO_REF;
    const Inst *test = ir_inst(d->func, ir_arg(d->func, branch, 0));
    if (test->op != OP_not) return NO_REF;
    Ref fits = ir_arg(d->func, ir_arg(d->func, branch, 0), 0);
    bool magnitude =
        ir_inst(d->func, fits)->op == OP_lt && opt_is_magnitude(d->func, ir_arg(d->func, fits, 0));
    return magnitude && opt_every_round(d->func, d->cfg, d->loop, inst->block) ? branch : NO_REF;
}

static bool is_odd_test(Divisors *d, Ref guard) {
    const Inst *inst = ir_inst(d->func, guard);
    if ((inst->sub != GUARD_nan_to_int && inst->sub != GUARD_inf_to_int) || inst->error != NO_BLOCK)
        return false;
    Ref branch = branch_of_odd(d, inst->block);
    if (branch && inst->sub == GUARD_nan_to_int)
        vec_push(d->ctx->arena, &d->hazards, ((Hazard){NO_REF, branch, NULL}));
    return branch != NO_REF;
}

static bool is_known_test(Divisors *d, Ref guard) {
    if (!is_zero_test(d, guard)) return is_odd_test(d, guard);
    vec_push(d->ctx->arena, &d->hazards, ((Hazard){guard, NO_REF, NULL}));
    return true;
}

/* Notes what matters of one instruction; false: the loop stays as it is. */
static bool look_at(Divisors *d, Ref ref) {
    const Inst *inst = ir_inst(d->func, ref);
    switch ((int)inst->op) {
    case OP_poll: return true; /* it leaves the loop before anything here matters */
    case OP_guard: return is_known_test(d, ref);
    case OP_store: vec_push(d->ctx->arena, &d->stores, ref); return true;
    case OP_lib: return pure_row(inst);
    case OP_phi: /* sums of floats have an order, which keeps them from being vectorised */
        return inst->block != d->counted->header || type_is_int(inst->type) ||
               inst->type->kind == TY_bool || (cg_fastmath(d->ctx->options, d->func) & FM_REASSOC);
    case OP_floordiv:
    case OP_mod: return constant(d->func, ir_arg(d->func, ref, 1));
    case OP_pow: return false;
    default: return !(ir_op_info[inst->op].flags & (OPF_WRITE | OPF_RAISES));
    }
}

static bool only_exit_is_header(const Divisors *d, int32_t block) {
    int32_t to[3];
    int n = ir_successors(d->func, block, to);
    for (int i = 0; i < n && block != d->counted->header; i++)
        if (!opt_in_loop(d->cfg, d->loop, to[i])) return false;
    return true;
}

static bool look(Divisors *d) {
    const Loop *loop = &d->cfg->loops.items[d->loop];
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        const Block *block = &d->func->blocks.items[loop->blocks.items[i]];
        if (!only_exit_is_header(d, loop->blocks.items[i])) return false;
        for (int32_t k = 0; k < block->insts.len; k++)
            if (!look_at(d, block->insts.items[k])) return false;
    }
    return d->hazards.len > 0;
}

/* -- what divisors are made of ------------------------------------------------------------------------ */

/* How an index moves with the counter: by *slope (-1, 0 or 1) a round. */
static bool slope_of(const Divisors *d, Ref ref, int depth, int *slope) {
    const Inst *inst = ir_inst(d->func, ref);
    int a, c;
    *slope = ref == d->counted->counter;
    if (*slope || !inside(d, ref) || constant(d->func, ref)) return true;
    if (depth > 8 || !(ir_op_info[inst->op].flags & OPF_PURE)) return false;
    if (inst->op == OP_add || inst->op == OP_sub) {
        if (!slope_of(d, ir_arg(d->func, ref, 0), depth + 1, &a) ||
            !slope_of(d, ir_arg(d->func, ref, 1), depth + 1, &c))
            return false;
        *slope = inst->op == OP_add ? a + c : a - c;
        return *slope >= -1 && *slope <= 1;
    }
    bool still = inst->op != OP_phi && inst->op != OP_lib;
    for (int32_t k = 0; still && k < inst->nargs; k++)
        still = slope_of(d, ir_arg(d->func, ref, k), depth + 1, &a) && a == 0;
    return still;
}

/* The axis along which the elements of an array lie side by side. */
static int dense_axis(const Type *array) {
    if (array->layout == LAYOUT_A) return -1;
    return array->layout == LAYOUT_F ? 0 : array->ndim - 1;
}

/* Elements that lie side by side, or always one, or in rows of a few: what a test of many at once can read. */
static bool can_load_ahead(const Divisors *d, Ref load) {
    Ref array = ir_arg(d->func, load, 0);
    const Type *type = ir_type(d->func, array);
    int64_t row = ir_inst(d->func, load)->imm, element;
    int slope;
    if (inside(d, array)) return false;
    bool rows = row && opt_const_int(d->func, ir_arg(d->func, load, type->ndim), &element);
    for (int32_t k = 1; k < ir_inst(d->func, load)->nargs; k++) {
        if (!slope_of(d, ir_arg(d->func, load, k), 0, &slope)) return false;
        if (slope && k - 1 != dense_axis(type) && !(rows && k == type->ndim - 1)) return false;
    }
    return true;
}

/* Exact and cheap: both copies must see the same divisor, which fast-math only promises where nothing is computed. */
static bool can_compute_ahead(const Divisors *d, Ref ref) {
    const Inst *inst = ir_inst(d->func, ref);
    bool exact = !cg_fastmath(d->ctx->options, d->func) || !is_float(d->func, ref);
    switch ((int)inst->op) {
    case OP_cast:
    case OP_eq:
    case OP_shape: return true;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_div:
    case OP_neg:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_lt:
    case OP_le:
    case OP_ne:
    case OP_select: return exact;
    case OP_lib:
        return exact && (is_root_or_magnitude(d->func, ref) || opt_is_rounding(d->func, ref));
    default: return false;
    }
}

/* Marks `ref` and what it is made of; *varies: some of it may differ from round to round. */
static bool need(Divisors *d, Ref ref, bool *varies) {
    if (ref == d->counted->counter) return *varies = true;
    if (!inside(d, ref) || constant(d->func, ref)) return true;
    if (bits_get(&d->needed, ref)) return true;
    bits_set(&d->needed, ref);
    if (++d->nneeded > MAX_VALUES) return false;
    if (ir_inst(d->func, ref)->op == OP_load) {
        vec_push(d->ctx->arena, &d->loads, ref);
        *varies = true;
        if (!can_load_ahead(d, ref)) return false;
    } else if (!can_compute_ahead(d, ref)) {
        return false;
    }
    for (int32_t k = 0; k < ir_inst(d->func, ref)->nargs; k++)
        if (!need(d, ir_arg(d->func, ref, k), varies)) return false;
    return true;
}

/* The float that becomes an int; the divisor, or what is zero exactly when it is: a square root costs as much as the division. */
static Ref value_of(const Divisors *d, const Hazard *hazard) {
    const Func *func = d->func;
    if (!hazard->guard) { /* branch not |x| < 2^63 */
        Ref fits = ir_arg(func, ir_arg(func, hazard->branch, 0), 0);
        return ir_arg(func, ir_arg(func, fits, 0), 0);
    }
    Ref ref = ir_arg(func, ir_arg(func, hazard->guard, 0), 0);
    while (inside(d, ref) && (ir_inst(func, ref)->op == OP_neg || is_root_or_magnitude(func, ref)))
        ref = ir_arg(func, ref, 0);
    return ref;
}

/* What tells that the float is small, without computing it. Elements are looked at in place of it where it is divided, which takes long, or
 * cannot be computed ahead (`elements`). */
static Magnitudes *smallness(Divisors *d, Ref x, bool elements) {
    if (cg_fastmath(d->ctx->options, d->func)) return NULL;
    if (opt_may_be_small(&d->still, x)) return &d->still;
    bool small = opt_may_be_small(&d->moving, x);
    return small && (elements || d->moving.divides) ? &d->moving : NULL;
}

static bool need_all(Divisors *d, const RefList *loads) {
    bool varies;
    for (int32_t i = 0; i < loads->len; i++)
        if (!need(d, loads->items[i], &varies)) return false;
    return true;
}

/* Where all stay the same, LLVM takes the guards out of the loop by itself. */
static bool known_ahead(Divisors *d, bool elements) {
    bool varies = false;
    d->needed = bits_new(d->ctx->arena, d->func->insts.len);
    d->nneeded = d->loads.len = 0;
    d->exact = true;
    for (int32_t i = 0; i < d->hazards.len; i++) {
        Hazard *hazard = &d->hazards.items[i];
        Ref x = value_of(d, hazard);
        hazard->small = hazard->guard ? NULL : smallness(d, x, elements);
        if (hazard->small == &d->moving) d->exact = false;
        if (hazard->small)
            varies = true;
        else if (!need(d, x, &varies))
            return false;
    }
    if (!need_all(d, &d->still.same)) return false;
    if (!d->exact && (!need_all(d, &d->moving.same) || !need_all(d, &d->moving.tested)))
        return false;
    return varies;
}

/* -- stores that do not change divisors --------------------------------------------------------------- */

/* Whose memory an array value is a part of. */
static Ref root_of(const Func *func, Ref array) {
    while (ir_inst(func, array)->op == OP_view || ir_inst(func, array)->op == OP_transpose ||
           ir_inst(func, array)->op == OP_reshape)
        array = ir_arg(func, array, 0);
    return array;
}

/* Of two arrays that live at once, one was made here and is not the other. */
static bool made_apart(const Func *func, Ref a, Ref b) {
    Op x = (Op)ir_inst(func, a)->op, y = (Op)ir_inst(func, b)->op;
    bool known = (x == OP_alloc || x == OP_param) && (y == OP_alloc || y == OP_param);
    return known && a != b && (x == OP_alloc || y == OP_alloc);
}

static bool precedes(const Divisors *d, Ref a, Ref b) {
    int32_t x = ir_inst(d->func, a)->block, y = ir_inst(d->func, b)->block;
    if (x == y) return opt_position(d->func, a) < opt_position(d->func, b);
    return cfg_dominates(d->cfg, x, y);
}

/* Does the store hit the element that its own round has loaded, and no other round loads? */
static bool same_element(const Divisors *d, Ref load, Ref store) {
    const Type *a = ir_type(d->func, ir_arg(d->func, load, 0)),
               *b = ir_type(d->func, ir_arg(d->func, store, 0));
    int slope, steps = 0;
    if (a->element != b->element || a->ndim != b->ndim || a->layout != b->layout) return false;
    if (dense_axis(a) < 0 || !precedes(d, load, store)) return false;
    for (int32_t k = 1; k < ir_inst(d->func, load)->nargs; k++) {
        if (ir_arg(d->func, load, k) != ir_arg(d->func, store, k)) return false;
        if (!slope_of(d, ir_arg(d->func, load, k), 0, &slope)) return false;
        steps += slope != 0;
    }
    return steps == 1;
}

static bool ask(Divisors *d, Ref load, Ref store, bool same) {
    const Func *func = d->func;
    for (int i = 0; i < d->npairs; i++)
        if (ir_arg(func, d->pairs[i].load, 0) == ir_arg(func, load, 0) &&
            ir_arg(func, d->pairs[i].store, 0) == ir_arg(func, store, 0)) {
            d->pairs[i].same_element &= same; /* one answer for all accesses of these two */
            return true;
        }
    if (d->npairs == MAX_PAIRS) return false;
    d->pairs[d->npairs++] = (Pair){load, store, same};
    return true;
}

static bool stores_apart(Divisors *d) {
    const Func *func = d->func;
    for (int32_t i = 0; i < d->stores.len; i++)
        for (int32_t k = 0; k < d->loads.len; k++) {
            Ref store = d->stores.items[i], load = d->loads.items[k];
            Ref to = ir_arg(func, store, 0), from = ir_arg(func, load, 0);
            bool same = same_element(d, load, store);
            if (made_apart(func, root_of(func, to), root_of(func, from))) continue;
            if (to == from && same) continue;
            if (to == from || inside(d, to) || !ask(d, load, store, same)) return false;
        }
    return true;
}

Divisors *opt_divisors(PassContext *ctx, Func *func, const Cfg *cfg, int32_t loop,
                       const CountedLoop *counted) {
    int64_t trips;
    if (ctx->options->opt_level < 2 || ctx->options->entry == ENTRY_KERNEL) return NULL;
    if (!target_is_host(ctx->options->infer.target) || opt_is_outlined(func)) return NULL;
    if (opt_const_int(func, counted->limit, &trips) && trips < FEW_ROUNDS) return NULL;
    Divisors *d = arena_new(ctx->arena, Divisors);
    *d = (Divisors){.ctx = ctx, .func = func, .cfg = cfg, .loop = loop, .counted = counted};
    d->still = opt_magnitudes(ctx, func, cfg, loop, counted, false);
    d->moving = opt_magnitudes(ctx, func, cfg, loop, counted, true);
    if (!look(d) || (!known_ahead(d, false) && !known_ahead(d, true))) return NULL;
    return stores_apart(d) ? d : NULL;
}

bool opt_tests_rounds(const Divisors *d) {
    bool all = !d->exact;
    for (int32_t i = 0; i < d->hazards.len; i++)
        all |= !d->hazards.items[i].small;
    return all;
}

/* -- the three loops ----------------------------------------------------------------------------------- */

typedef struct Copier {
    const Divisors *d;
    Builder *b;
    Ref *map;
} Copier;

/* The value of `ref` where the counter is map[counter]. Operands first, each once. */
static Ref copy(Copier *c, Ref ref) {
    Func *func = c->d->func;
    if (c->map[ref]) return c->map[ref];
    if (!inside(c->d, ref) || constant(func, ref)) return ref;
    int32_t n = ir_inst(func, ref)->nargs;
    Ref *args = arena_array(c->d->ctx->arena, Ref, n);
    for (int32_t k = 0; k < n; k++)
        args[k] = copy(c, ir_arg(func, ref, k));
    const Inst old = *ir_inst(func, ref);
    Ref made = b_inst(c->b, (Op)old.op, old.type, args, n);
    Inst *inst = ir_inst(func, made);
    inst->sub = old.sub, inst->imm = old.imm, inst->u = old.u, inst->span = old.span;
    return c->map[ref] = made;
}

static Copier copier(const Divisors *d, Builder *b, Ref counter) {
    Copier c = {d, b, arena_array(d->ctx->arena, Ref, d->func->insts.len)};
    c.map[d->counted->counter] = counter;
    return c;
}

static Ref both(Builder *b, Ref a, Ref c) {
    return b_op2(b, OP_and, type_scalar(b->func->module->types, TY_bool), a, c);
}

/* Is the load's index inside its axes where the counter is `at`? */
static Ref inside_axes(const Divisors *d, Builder *b, Ref load, Ref at, Ref all) {
    Func *func = d->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    Copier c = copier(d, b, at);
    for (int32_t k = 1; k < ir_inst(func, load)->nargs; k++) {
        Ref index = copy(&c, ir_arg(func, load, k));
        Ref length = b_op1(b, OP_shape, i64, ir_arg(func, load, 0));
        ir_inst(func, length)->imm = k - 1;
        all = both(b, all, b_op2(b, OP_le, boolean, ir_const_int(func, i64, 0), index));
        all = both(b, all, b_op2(b, OP_lt, boolean, index, length));
    }
    return all;
}

/* Shall this strip be tested ahead? Where each round is looked at, that does not pay for a few; without any there may be no element. Indices move by one a round, so that both ends
 * speak for all. */
static Ref shall_test(const Divisors *d, Builder *b, const Strip *strip) {
    Func *func = d->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    Ref rounds = b_op2(b, OP_sub, i64, strip->stop, strip->start);
    int64_t least = opt_tests_rounds(d) ? FEW_ROUNDS : 1;
    Ref all = b_op2(b, OP_le, boolean, ir_const_int(func, i64, least), rounds);
    for (int i = 0; i < d->npairs; i++) {
        Ref from = ir_arg(func, d->pairs[i].load, 0), to = ir_arg(func, d->pairs[i].store, 0);
        Ref apart = b_op2(b, OP_disjoint, boolean, from, to);
        if (d->pairs[i].same_element)
            apart = b_op2(b, OP_or, boolean, apart, b_op2(b, OP_same_array, boolean, from, to));
        all = both(b, all, apart);
    }
    bool unchecked = func->unchecked || d->ctx->options->infer.no_boundscheck;
    if (!unchecked || !d->loads.len) return all;
    Ref last = b_op2(b, OP_sub, i64, strip->stop, ir_const_int(func, i64, 1));
    for (int32_t i = 0; i < d->loads.len; i++) {
        all = inside_axes(d, b, d->loads.items[i], strip->start, all);
        all = inside_axes(d, b, d->loads.items[i], last, all);
    }
    return all;
}

/* Would the guard leave the loop, where the copier's counter is? */
static Ref leaves(Copier *c, const Hazard *hazard) {
    Func *func = c->d->func;
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    if (!hazard->guard) return copy(c, ir_arg(func, hazard->branch, 0));
    Ref value = copy(c, value_of(c->d, hazard));
    return b_op2(c->b, OP_eq, boolean, value, ir_const_float(func, ir_type(func, value), 0.0));
}

/* Is a float not known to be small by what stands still? NO_REF: there is none to ask for. */
static Ref not_small(Divisors *d, Builder *b, const Strip *strip) {
    Func *func = d->func;
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    Ref all = NO_REF;
    for (int k = 0; k < 2; k++) {
        Magnitudes *m = k == 0 ? &d->still : &d->moving;
        Copier c = copier(d, b, strip->start);
        m->b = b, m->from = strip->start, m->to = strip->stop;
        m->values = arena_array(d->ctx->arena, Ref, func->insts.len);
        m->loaded = c.map;
        for (int32_t i = 0; i < m->same.len && (k == 0 || !d->exact); i++)
            copy(&c, m->same.items[i]);
        for (int32_t i = 0; i < d->hazards.len; i++) {
            if (d->hazards.items[i].small != m) continue;
            Ref small = opt_test_small(m, value_of(d, &d->hazards.items[i]));
            all = all ? both(b, all, small) : small;
        }
    }
    return all ? b_op1(b, OP_not, boolean, all) : NO_REF;
}

/* The test loop behind b's block, which has no terminator yet, and the block b goes on in, which has none either. Its result: would a
 * guard have left the loop, or has one been seen to already? */
static Ref make_test(const Divisors *d, Builder *b, const Strip *strip, Ref seen) {
    Func *func = d->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    int32_t head = ir_block_new(func), body = ir_block_new(func), after = ir_block_new(func);
    Ref first = seen ? seen : ir_const_int(func, boolean, 0);
    b_jump(b, head);
    b->block = head;
    Ref at = b_phi(b, i64), bad = b_phi(b, boolean);
    b_branch(b, b_op2(b, OP_lt, boolean, at, strip->stop), body, after);
    b->block = body;
    Copier c = copier(d, b, at);
    Ref any = bad;
    for (int32_t i = 0; i < d->hazards.len; i++)
        if (!d->hazards.items[i].small)
            any = b_op2(b, OP_or, boolean, any, leaves(&c, &d->hazards.items[i]));
    for (int32_t i = 0; i < d->moving.tested.len && !d->exact; i++)
        any = b_op2(b, OP_or, boolean, any, opt_is_far(b, copy(&c, d->moving.tested.items[i])));
    Ref next = b_op2(b, OP_add, i64, at, ir_const_int(func, i64, 1));
    ir_inst(func, next)->sub = FLAG_NOWRAP;
    b_jump(b, head);
    ir_set_args(func, at, (Ref[]){strip->start, next}, 2);
    ir_set_args(func, bad, (Ref[]){first, any}, 2);
    b->block = after;
    return bad;
}

/* A copy of the loop as it is; nothing leads there yet. Its header. */
static int32_t copy_loop(const Divisors *d, Ref *ref_map) {
    Func *func = d->func;
    const Loop *loop = &d->cfg->loops.items[d->loop];
    int32_t *block_map = arena_array(d->ctx->arena, int32_t, func->blocks.len);
    ir_clone_blocks(func, loop->blocks.items, loop->blocks.len, ref_map, block_map);
    for (int32_t i = 0; i < loop->blocks.len; i++)
        func->blocks.items[block_map[loop->blocks.items[i]]].cold = true;
    return block_map[d->counted->header];
}

/* An edge from -> copy of the header: its phis get what the strip brings to the header's own. */
static void enter_copy(const Divisors *d, const Strip *strip, const Ref *ref_map, int32_t from,
                       int32_t copied) {
    Func *func = d->func;
    const Block *header = &func->blocks.items[d->counted->header];
    int32_t entry_at = 0;
    while (header->preds.items[entry_at] != strip->block)
        entry_at++;
    ir_edge_add(func, from, copied);
    for (int32_t i = 0; i < func->blocks.items[d->counted->header].insts.len; i++) {
        Ref phi = func->blocks.items[d->counted->header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        ir_add_arg(func, ref_map[phi], ir_arg(func, phi, entry_at));
    }
}

void opt_test_ahead(Divisors *d, const Strip *strip) {
    Func *func = d->func;
    int32_t header = d->counted->header;
    ir_make_loop_closed(func, d->cfg, d->loop);
    Ref *ref_map = arena_array(d->ctx->arena, Ref, func->insts.len);
    int32_t guarded = copy_loop(d, ref_map);
    Ref enter = ir_terminator(func, strip->block);
    Builder b = {.func = func,
                 .block = strip->block,
                 .at = -1,
                 .span = ir_inst(func, enter)->span,
                 .error = NO_BLOCK};
    ir_remove(func, enter);
    Ref shall = shall_test(d, &b, strip);
    int32_t test = ir_block_new(func);
    Ref branch = b_inst(&b, OP_branch, NULL, &shall, 1);
    ir_inst(func, branch)->target[0] = test;
    ir_inst(func, branch)->target[1] = guarded;
    ir_edge_add(func, strip->block, test);
    enter_copy(d, strip, ref_map, strip->block, guarded);
    b.block = test;
    Ref bad = not_small(d, &b, strip);
    if (opt_tests_rounds(d)) bad = make_test(d, &b, strip, bad);
    int32_t after = b.block;
    branch = b_inst(&b, OP_branch, NULL, &bad, 1);
    ir_inst(func, branch)->target[0] = guarded;
    ir_inst(func, branch)->target[1] = header;
    enter_copy(d, strip, ref_map, after, guarded);
    Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++)
        if (head->preds.items[i] == strip->block) head->preds.items[i] = after;
    for (int32_t i = 0; i < d->hazards.len; i++) {
        const Hazard *hazard = &d->hazards.items[i];
        if (hazard->guard)
            ir_remove(func, hazard->guard);
        else
            ir_args(func, hazard->branch)[0] =
                ir_const_int(func, type_scalar(func->module->types, TY_bool), 0);
    }
}
