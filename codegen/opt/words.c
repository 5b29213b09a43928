/* words.c - in the fast variant of GPU kernels: arithmetic of int64 modulo 2^32 is done in uint32.
 *
 *     state = (state * 1664525 + 1013904223) & 0xFFFFFFFF; x = state >> 16
 *
 * That is how Python writes random number generators, checksums and hashes. A *word* is a value of which the intervals say that it is not
 * negative and below 2^32. Of sums, products, bits and shifts to the left nobody may ask for more than the 32 low bits: then these
 * are computed from the low bits of the operands. A word is also what it is as uint32 to comparisons, shifts to the right and divisions.
 * What fits int32 is left to `narrow`. */
#include "codegen/opt/gpu_ints.h"
#include "codegen/opt/retype.h"

typedef struct Words {
    Func *func;
    GpuInts *ints;
    Retype change;
    Bits low; /* its users ask for the low bits alone */
} Words;

static bool is_word(Words *w, Ref ref) {
    IntRange r = gpu_int_range(w->ints, ref);
    return r.known && !r.params && r.lo >= 0 && r.hi <= UINT32_MAX;
}

static bool fits(Words *w, Ref ref) {
    IntRange r = gpu_int_range(w->ints, ref);
    return !r.params && gpu_int_fits(r);
}

/* Do the low bits of the result follow from those of the operands? */
static bool is_modular(Words *w, Ref ref) {
    int64_t count;
    switch ((int)ir_inst(w->func, ref)->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_phi:
    case OP_select: return true;
    case OP_shl:
        return opt_const_int(w->func, ir_arg(w->func, ref, 1), &count) && count >= 0 && count < 32;
    default: return false;
    }
}

/* Is the result of words, as uint32, what it is as int64? */
static bool is_of_words(Words *w, Ref ref) {
    const Inst *inst = ir_inst(w->func, ref);
    int64_t count;
    if (inst->op == OP_shr)
        return is_word(w, ir_arg(w->func, ref, 0)) &&
               opt_const_int(w->func, ir_arg(w->func, ref, 1), &count) && count >= 0 && count < 32;
    if (inst->op == OP_cast) {
        const Type *from = ir_type(w->func, ir_arg(w->func, ref, 0));
        return type_is_int(from) && type_bits(from) <= 32;
    }
    return (inst->op == OP_floordiv || inst->op == OP_mod) && is_word(w, ir_arg(w->func, ref, 0)) &&
           is_word(w, ir_arg(w->func, ref, 1));
}

/* `narrow` makes an int32 of it. */
static bool is_small(Words *w, Ref ref) {
    const Inst *inst = ir_inst(w->func, ref);
    if (!fits(w, ref)) return false;
    for (int32_t k = inst->op == OP_select; k < inst->nargs; k++) {
        Ref arg = ir_arg(w->func, ref, k);
        if (ir_type(w->func, arg) == w->change.i64 && !fits(w, arg)) return false;
    }
    return true;
}

static bool is_candidate(Words *w, Ref ref) {
    if (ir_inst(w->func, ref)->op == OP_removed || ir_type(w->func, ref) != w->change.i64)
        return false;
    return (is_modular(w, ref) || is_of_words(w, ref)) && !is_small(w, ref);
}

/* Does the user ask for the low bits of the operand alone? */
static bool asks_low_bits(Words *w, Ref user) {
    const Inst *inst = ir_inst(w->func, user);
    if (inst->op == OP_cast) return type_is_int(inst->type) && type_bits(inst->type) <= 32;
    return bits_get(&w->change.values, user) && is_modular(w, user);
}

/* Those that others keep from being words; true: there were some. */
static bool drop(Words *w) {
    Func *f = w->func;
    bool any = false;
    for (Ref ref = 1; ref < w->change.n; ref++)
        if (bits_get(&w->change.values, ref)) bits_set(&w->low, ref);
    for (Ref user = 1; user < w->change.n; user++) {
        if (ir_inst(f, user)->op == OP_removed || asks_low_bits(w, user)) continue;
        for (int32_t k = 0; k < ir_inst(f, user)->nargs; k++)
            bits_clear(&w->low, ir_arg(f, user, k));
    }
    for (Ref ref = 1; ref < w->change.n; ref++) {
        if (!bits_get(&w->change.values, ref) || bits_get(&w->low, ref) || is_word(w, ref))
            continue;
        bits_clear(&w->change.values, ref);
        any = true;
    }
    return any;
}

/* Of words, one of which is computed as one. */
static bool compares_words(Words *w, Ref ref) {
    const Inst *inst = ir_inst(w->func, ref);
    if (inst->op != OP_lt && inst->op != OP_le && inst->op != OP_eq && inst->op != OP_ne)
        return false;
    Ref a = ir_arg(w->func, ref, 0), b = ir_arg(w->func, ref, 1);
    return ir_type(w->func, a) == w->change.i64 && ir_type(w->func, b) == w->change.i64 &&
           (bits_get(&w->change.values, a) || bits_get(&w->change.values, b)) && is_word(w, a) &&
           is_word(w, b);
}

static bool is_of_bits(const Words *w, Ref ref) {
    Op op = (Op)ir_inst(w->func, ref)->op;
    return op == OP_and || op == OP_or || op == OP_xor || op == OP_shl || op == OP_shr ||
           op == OP_floordiv || op == OP_mod;
}

/* Sums that go with no operation on bits are indices: LLVM takes those apart, which it cannot where they may wrap. */
static void drop_indices(Words *w, Arena *arena) {
    Bits wanted = bits_new(arena, w->change.n);
    for (bool changed = true; changed;) {
        changed = false;
        for (Ref ref = 1; ref < w->change.n; ref++) {
            if (!bits_get(&w->change.values, ref)) continue;
            bool want = bits_get(&wanted, ref) || is_of_bits(w, ref);
            for (int32_t k = 0; k < ir_inst(w->func, ref)->nargs && !want; k++)
                want = bits_get(&wanted, ir_arg(w->func, ref, k));
            if (!want) continue;
            changed |= !bits_get(&wanted, ref);
            bits_set(&wanted, ref);
            for (int32_t k = 0; k < ir_inst(w->func, ref)->nargs; k++) {
                Ref arg = ir_arg(w->func, ref, k);
                if (!bits_get(&w->change.values, arg) || bits_get(&wanted, arg)) continue;
                bits_set(&wanted, arg);
                changed = true;
            }
        }
    }
    w->change.values = wanted;
}

void opt_words(PassContext *ctx, Func *func) {
    Words w = {.func = func, .ints = gpu_ints(ctx, func)};
    if (!w.ints) return;
    w.change = (Retype){.func = func, .to = type_scalar(ctx->module->types, TY_u32)};
    opt_retype_init(ctx, &w.change);
    w.low = bits_new(ctx->arena, w.change.n);
    for (Ref ref = 1; ref < w.change.n; ref++)
        if (is_candidate(&w, ref)) bits_set(&w.change.values, ref);
    while (drop(&w)) {
    }
    drop_indices(&w, ctx->arena);
    while (drop(&w)) {
    }
    for (Ref ref = 1; ref < w.change.n; ref++) {
        Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_removed) continue;
        if (compares_words(&w, ref)) bits_set(&w.change.compares, ref);
        if (bits_get(&w.change.values, ref) && (inst->op == OP_floordiv || inst->op == OP_mod))
            inst->sub &= DIV_POSITIVE | DIV_NATURAL;
    }
    opt_retype(&w.change);
}
