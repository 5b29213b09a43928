/* saturate.c - for the pass `narrow`: ints that are made of floats are made as int32 where nobody sees the difference.
 *
 * int(x) is an int64, which no GPU makes of a float, nor compares, in one instruction. An int32 saturates instead: where they differ
 * both are 2^31 - 1 or more, or both -2^31 or less. So do minima, maxima and choices of such values. Nobody can tell them apart
 *   who compares with a number of less than 31 bits,
 *   who indexes an array with one, and is out of bounds either way (the fast variant has no longer arrays),
 *   who stands behind tests that leave int32 alone.
 *
 *     k = int(x * scale)                       k = int32(x * scale)
 *     if 0 <= k < n:                     =>    if 0 <= k < n:
 *         total += table[k] * k                    total += table[k] * k
 */
#include "codegen/opt/saturate.h"

typedef struct Use {
    Ref user;
    int32_t operand, next; /* the next one of the same value; 0: none */
} Use;

typedef struct Saturate {
    Func *func;
    GpuInts *ints;
    const Type *i64;
    Ref n;
    int32_t *first; /* use of each value; 0: none */
    Use *uses;
    Bits touched; /* may differ from what they were, beyond int32 */
    Bits indices; /* sums of such, and what is wrapped of them: anything that is no index */
    Ref *work;
    int32_t n_work;
    uint64_t params; /* that the proofs ask for */
} Saturate;

static void find_uses(Arena *arena, Saturate *s) {
    int32_t n = 1;
    for (Ref ref = 1; ref < s->n; ref++)
        n += ir_inst(s->func, ref)->nargs;
    s->first = arena_array(arena, int32_t, s->n);
    s->uses = arena_array(arena, Use, n);
    for (Ref ref = s->n - 1; ref > 0; ref--) {
        if (ir_inst(s->func, ref)->op == OP_removed) continue;
        for (int32_t k = 0; k < ir_inst(s->func, ref)->nargs; k++) {
            Ref arg = ir_arg(s->func, ref, k);
            s->uses[--n] = (Use){ref, k, s->first[arg]};
            s->first[arg] = n;
        }
    }
}

/* -- what a user sees -------------------------------------------------------------------------------- */

/* Is the value an int32 wherever the use reads it? */
static bool is_within(Saturate *s, Ref value, const Use *use) {
    const Inst *inst = ir_inst(s->func, use->user);
    int32_t from = inst->block, to = NO_BLOCK;
    if (inst->op == OP_phi) to = from, from = s->func->blocks.items[to].preds.items[use->operand];
    IntRange r = gpu_int_range_at(s->ints, value, from, to);
    if (!gpu_int_fits(r)) return false;
    s->params |= r.params;
    return true;
}

static bool is_between(Saturate *s, Ref value, int64_t lo, int64_t hi) {
    IntRange r = gpu_int_range(s->ints, value);
    if (!r.known || r.lo < lo || r.hi > hi) return false;
    s->params |= r.params;
    return true;
}

/* One of several ints. */
static bool is_choice(const Saturate *s, const Inst *inst) {
    GenId which = gpu_generator(inst);
    return inst->type == s->i64 &&
           (inst->op == OP_phi || inst->op == OP_select || which == GEN_min || which == GEN_max);
}

static bool is_index(const Saturate *s, const Use *use) {
    const Inst *inst = ir_inst(s->func, use->user);
    if (inst->op != OP_load && inst->op != OP_store && inst->op != OP_atomic) return false;
    const Type *array = ir_type(s->func, ir_arg(s->func, use->user, 0));
    return array->kind == TY_ARRAY && use->operand >= 1 && use->operand <= array->ndim;
}

/* -- how far a difference goes ------------------------------------------------------------------------- */

static bool reach(Saturate *s, Bits *set, Ref user) {
    if (bits_get(&s->touched, user) || bits_get(&s->indices, user)) return bits_get(set, user);
    bits_set(set, user);
    s->work[s->n_work++] = user;
    return true;
}

static bool admits_index(Saturate *s, const Use *use) {
    if (is_index(s, use)) return true;
    bool wraps = ir_inst(s->func, use->user)->op == OP_wrap_index && use->operand == 0;
    return wraps && reach(s, &s->indices, use->user);
}

/* A sum with less than 2^30 is out of bounds, too, if the one that it stands for was: that may have wrapped. */
static bool admits_sum(Saturate *s, const Use *use) {
    const Inst *inst = ir_inst(s->func, use->user);
    bool sum = inst->op == OP_add || (inst->op == OP_sub && use->operand == 0);
    return sum && inst->type == s->i64 &&
           is_between(s, ir_arg(s->func, use->user, !use->operand), -FAST_LIMIT, FAST_LIMIT) &&
           reach(s, &s->indices, use->user);
}

static bool admits_comparison(Saturate *s, const Use *use) {
    const Inst *inst = ir_inst(s->func, use->user);
    if (inst->op != OP_lt && inst->op != OP_le && inst->op != OP_eq && inst->op != OP_ne)
        return false;
    return is_between(s, ir_arg(s->func, use->user, !use->operand), INT32_MIN + 1, INT32_MAX - 1);
}

static bool admits(Saturate *s, Ref value, const Use *use) {
    if (bits_get(&s->indices, value)) return admits_index(s, use);
    if (is_within(s, value, use) || admits_comparison(s, use) || admits_index(s, use)) return true;
    const Inst *inst = ir_inst(s->func, use->user);
    return is_choice(s, inst) ? reach(s, &s->touched, use->user) : admits_sum(s, use);
}

/* Of an int made of a float that has no interval: an int32 would do, for all that its users see. */
static bool may_saturate(PassContext *ctx, Saturate *s, Ref made) {
    s->touched = bits_new(ctx->arena, s->n);
    s->indices = bits_new(ctx->arena, s->n);
    s->n_work = 0;
    s->params = 0;
    reach(s, &s->touched, made);
    for (int32_t done = 0; done < s->n_work; done++)
        for (int32_t u = s->first[s->work[done]]; u; u = s->uses[u].next)
            if (!admits(s, s->work[done], &s->uses[u])) return false;
    return true;
}

static bool is_made_of_float(const Saturate *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    GenId which = gpu_generator(inst);
    bool makes = inst->op == OP_cast || which == GEN_floor_to_int || which == GEN_ceil_to_int ||
                 which == GEN_round_to_int;
    return makes && inst->type == s->i64 &&
           type_is_float(ir_type(s->func, ir_arg(s->func, ref, 0)));
}

static void make_short(PassContext *ctx, Saturate *s, Ref made) {
    Func *f = s->func;
    int32_t at = opt_position(f, made) + 1;
    Ref wide = ir_insert(f, ir_inst(f, made)->block, at, OP_cast, &made, 1);
    ir_inst(f, wide)->type = s->i64;
    ir_inst(f, wide)->span = ir_inst(f, made)->span;
    ir_replace_uses(f, made, wide);
    ir_args(f, wide)[0] = made;
    ir_inst(f, made)->type = type_scalar(ctx->module->types, TY_i32);
}

bool opt_saturate(PassContext *ctx, Func *func, GpuInts *ints, uint64_t *params) {
    Saturate s = {.func = func,
                  .ints = ints,
                  .i64 = type_scalar(ctx->module->types, TY_i64),
                  .n = func->insts.len};
    RefList made = {0};
    if (ctx->options->pointers) return false; /* arrays without a length have any index */
    for (Ref ref = 1; ref < s.n; ref++) {
        if (!is_made_of_float(&s, ref) || gpu_int_fits(gpu_int_range(ints, ref))) continue;
        if (!s.uses) {
            find_uses(ctx->arena, &s);
            s.work = arena_array(ctx->arena, Ref, s.n);
        }
        if (!may_saturate(ctx, &s, ref)) continue;
        *params |= s.params;
        vec_push(ctx->arena, &made, ref);
    }
    for (int32_t i = 0; i < made.len; i++)
        make_short(ctx, &s, made.items[i]);
    return made.len > 0;
}
