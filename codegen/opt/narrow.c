/* narrow.c - in the fast variant of GPU kernels: int64 arithmetic that stays in int32 is done in int32.
 *
 * A GPU has no 64-bit integer unit: an addition takes two instructions, a product four to six, a division a hundred.
 * Python's ints are int64, but nearly all of them in a kernel are numbers of threads, lengths and sums of these.
 * gpu_ints.c has an interval for each value of the fast variant.
 * Values that fit int32, as all their operands do, become i32; casts stand where the two worlds meet, most of which
 * cost nothing (the low half of a register, a sign extension inside an address). */
#include "codegen/opt/gpu_ints.h"
#include "codegen/opt/retype.h"
#include "codegen/opt/saturate.h"

typedef struct Narrow {
    Func *func;
    GpuInts *ints;
    uint64_t params; /* asked for by what becomes small */
    uint64_t asked;  /* for what does without a test for negative numbers */
    const Type *i64;
    bool checks; /* indices, with messages that show them as they were written */
} Narrow;

static IntRange range_of(Narrow *s, Ref ref) {
    IntRange range = gpu_int_range(s->ints, ref);
    s->params |= range.params;
    return range;
}

static bool fits(IntRange range) {
    return gpu_int_fits(range);
}

/* -- choosing -------------------------------------------------------------------------------------- */

static bool operands_fit(Narrow *s, Ref ref, int from) {
    for (int32_t k = from; k < ir_inst(s->func, ref)->nargs; k++)
        if (!fits(range_of(s, ir_arg(s->func, ref, k)))) return false;
    return true;
}

/* One of several ints. */
static bool is_choice(Narrow *s, Ref ref) {
    GenId which = gpu_generator(ir_inst(s->func, ref));
    return which == GEN_min || which == GEN_max;
}

static bool becomes_small(Narrow *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    if (inst->type != s->i64) return false;
    switch (inst->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_floordiv:
    case OP_mod:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_shl:
    case OP_shr:
    case OP_neg:
    case OP_phi: return fits(range_of(s, ref)) && operands_fit(s, ref, 0);
    case OP_select: return fits(range_of(s, ref)) && operands_fit(s, ref, 1);
    /* No array is longer: of an index that hits it the low bits say all. */
    case OP_wrap_index: return !s->checks && fits(range_of(s, ir_arg(s->func, ref, 1)));
    case OP_cast:
        return ir_type(s->func, ir_arg(s->func, ref, 0)) != s->i64 && fits(range_of(s, ref));
    case OP_lib: return is_choice(s, ref) && operands_fit(s, ref, 0);
    default: return false;
    }
}

/* Comparisons of what fits are done in 32 bits, whether their operands are small or only lengths and the like. */
static bool compares_small(Narrow *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    if (inst->op != OP_lt && inst->op != OP_le && inst->op != OP_eq && inst->op != OP_ne)
        return false;
    const Type *a = ir_type(s->func, ir_arg(s->func, ref, 0)),
               *b = ir_type(s->func, ir_arg(s->func, ref, 1));
    return (a == s->i64 || b == s->i64) && operands_fit(s, ref, 0);
}

/* A float is made of what fits by one instruction, of 64 bits by several; no parameter is asked for because of it. */
static bool converts_small(Narrow *s, Ref ref, uint64_t promised) {
    const Inst *inst = ir_inst(s->func, ref);
    if (inst->op != OP_cast || !type_is_float(inst->type)) return false;
    Ref from = ir_arg(s->func, ref, 0);
    if (ir_type(s->func, from) != s->i64) return false;
    IntRange r = gpu_int_range(s->ints, from);
    return fits(r) && !(r.params & ~promised);
}

static bool has_checks(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_check_index) return true;
    return false;
}

/* What the tests that `prove` looks at do not say, but the intervals do: indices that do not count from the end, divisions of what is
 * not negative. Of parameters those are asked for whose sign the launch tests. */
static void unwrap(PassContext *ctx, Narrow *s, int32_t n) {
    Func *f = s->func;
    Ref *map = arena_array(ctx->arena, Ref, n);
    bool any = false;
    ParamSigns signs = gpu_int_signs(s->ints);
    uint64_t tested = signs.positive | signs.natural;
    for (Ref ref = 1; ref < n; ref++) {
        Inst *inst = ir_inst(f, ref);
        bool divides = inst->op == OP_floordiv || inst->op == OP_mod;
        if (inst->op != OP_wrap_index && !(divides && inst->type == s->i64)) continue;
        IntRange x = gpu_int_range(s->ints, ir_arg(f, ref, 0));
        if (!x.known || x.lo < 0 || x.params & ~tested) continue;
        if (!divides) {
            map[ref] = ir_arg(f, ref, 0);
            s->asked |= x.params;
            any = true;
            continue;
        }
        IntRange y = gpu_int_range(s->ints, ir_arg(f, ref, 1));
        if (!y.known || y.params & ~tested || y.lo < 1) continue;
        inst->sub |= DIV_POSITIVE | DIV_NATURAL;
        s->asked |= x.params | y.params;
    }
    if (!any) return;
    ir_replace_many(f, map);
    for (Ref ref = 1; ref < n; ref++)
        if (map[ref]) ir_remove(f, ref);
}

/* -- sums that leave int32 and are cut back ---------------------------------------------------------- */

/* An operand x + number, with number > 0 for a minimum, < 0 for a maximum. */
static bool take_number(const Func *f, Ref sum, Ref *x, int64_t *number) {
    const Inst *inst = ir_inst(f, sum);
    if (inst->op != OP_add && inst->op != OP_sub) return false;
    bool on_left = inst->op == OP_add && opt_const_int(f, ir_arg(f, sum, 0), number);
    if (!on_left && !opt_const_int(f, ir_arg(f, sum, 1), number)) return false;
    if (*number < -INT32_MAX || *number > INT32_MAX) return false;
    if (inst->op == OP_sub) *number = -*number;
    *x = ir_arg(f, sum, on_left);
    return true;
}

/* Of an operand that is an int32 whatever the launch promises. */
static bool is_short(Narrow *s, Ref ref) {
    IntRange r = gpu_int_range(s->ints, ref);
    return fits(r) && r.params == 0;
}

/* min(x + 1, m) => min(x, m - 1) + 1, where x + 1 may be 2^31 and no other part of it. */
static bool cut_first(Narrow *s, Ref ref) {
    Func *f = s->func;
    bool least = lib_row_of(ir_inst(f, ref))->nvptx.id == GEN_min;
    for (int32_t k = 0; k < 2; k++) {
        Ref x, limit = ir_arg(f, ref, 1 - k), sum = ir_arg(f, ref, k);
        int64_t number;
        if (!take_number(f, sum, &x, &number) || (least ? number <= 0 : number >= 0) ||
            is_short(s, sum) || !is_short(s, x) || !is_short(s, limit))
            continue;
        IntRange m = gpu_int_range(s->ints, limit);
        if (m.lo - number < INT32_MIN || m.hi - number > INT32_MAX) continue;
        Ref by = ir_const_int(f, s->i64, number), parts[] = {limit, by};
        int32_t block = ir_inst(f, ref)->block, at = opt_position(f, ref);
        Ref moved = ir_insert(f, block, at, OP_sub, parts, 2);
        Ref back = ir_insert(f, block, at + 2, OP_add, (Ref[]){ref, by}, 2);
        ir_inst(f, moved)->type = ir_inst(f, back)->type = s->i64;
        ir_inst(f, moved)->span = ir_inst(f, back)->span = ir_inst(f, ref)->span;
        ir_replace_uses(f, ref, back);
        ir_args(f, back)[0] = ref;
        ir_args(f, ref)[k] = x;
        ir_args(f, ref)[1 - k] = moved;
        return true;
    }
    return false;
}

/* Of what the last round has built the intervals know nothing: another round asks for it, where a choice is cut of one that was. */
static void cut_sums(PassContext *ctx, Narrow *s) {
    Ref n = s->func->insts.len;
    Bits done = bits_new(ctx->arena, n);
    for (bool any = true; any;) {
        any = false;
        for (Ref ref = 1; ref < n; ref++) {
            const Inst *inst = ir_inst(s->func, ref);
            if (inst->op != OP_lib || inst->type != s->i64 || inst->nargs != 2 ||
                bits_get(&done, ref) || !is_choice(s, ref) || !cut_first(s, ref))
                continue;
            bits_set(&done, ref);
            any = true;
        }
        if (any) s->ints = gpu_ints(ctx, s->func);
    }
}

void opt_narrow(PassContext *ctx, Func *func) {
    Narrow s = {.func = func,
                .ints = gpu_ints(ctx, func),
                .i64 = type_scalar(ctx->module->types, TY_i64),
                .checks = has_checks(func)};
    if (!s.ints) return;
    if (!s.checks && opt_saturate(ctx, func, s.ints, &s.asked)) s.ints = gpu_ints(ctx, func);
    cut_sums(ctx, &s);
    int32_t n = func->insts.len;
    unwrap(ctx, &s, n);
    ParamSigns signs = gpu_int_signs(s.ints);
    Retype change = {.func = func, .to = type_scalar(ctx->module->types, TY_i32), .exact = true};
    opt_retype_init(ctx, &change);
    uint64_t promised = s.asked;
    for (Ref ref = 1; ref < n; ref++) {
        if (ir_inst(func, ref)->op == OP_removed) continue;
        s.params = 0;
        bool small = becomes_small(&s, ref), compare = compares_small(&s, ref);
        if (small) bits_set(&change.values, ref);
        if (compare) bits_set(&change.compares, ref);
        if (small || compare) promised |= s.params;
    }
    for (Ref ref = 1; ref < n; ref++)
        if (converts_small(&s, ref, promised)) bits_set(&change.compares, ref);
    for (Ref ref = 1; ref < n; ref++) {
        Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_param && inst->type == s.i64 && inst->imm < 64)
            inst->sub = !(promised >> inst->imm & 1)      ? 0
                        : signs.positive >> inst->imm & 1 ? FLAG_SMALL | FLAG_POSITIVE
                        : signs.natural >> inst->imm & 1  ? FLAG_SMALL | FLAG_INDEX
                                                          : FLAG_SMALL;
    }
    opt_retype(&change);
}
