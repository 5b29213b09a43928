/* bounds_bits.c - what the bits of an index say (bounds.c): v >> 18 of three bytes side by side, x & 63, c // 16 of a byte.
 *
 * An element that is an index as it was read says nothing here: a table for text may be shorter than a byte allows, and one that is
 * would send the whole nest to its copy with checks. Who cuts bits off has the length of a table in mind. */
#include "codegen/opt/bounds.h"

enum { MOST_BITS = 62, INDEX_BITS = 27, UNKNOWN = -1 };

static int64_t limited(int64_t most) {
    return most >= INT64_C(1) << MOST_BITS ? UNKNOWN : most;
}

/* 0b111 for 0b101 */
static int64_t all_bits(int64_t most) {
    int64_t bits = 0;
    while (bits < most)
        bits = 2 * bits + 1;
    return bits;
}

static int64_t most_of_two(Op op, int64_t a, int64_t c) {
    int64_t out = UNKNOWN;
    if (op == OP_and) return a < 0 ? c : c < 0 ? a : QN_MIN(a, c);
    if (a < 0 || c < 0) return UNKNOWN;
    switch ((int)op) {
    case OP_or:
    case OP_xor: return all_bits(a | c);
    case OP_add: return limited(a + c);
    case OP_mul: return __builtin_mul_overflow(a, c, &out) ? UNKNOWN : limited(out);
    default: return UNKNOWN;
    }
}

/* By a constant. */
static int64_t most_of_part(Op op, int64_t a, int64_t k) {
    bool shift = op == OP_shl || op == OP_shr;
    if (shift ? k < 0 || k >= MOST_BITS : k <= 0) return UNKNOWN;
    if (op == OP_mod) return a < 0 ? k - 1 : QN_MIN(a, k - 1); /* Python's is not negative */
    if (a < 0) return UNKNOWN;
    if (op == OP_shr) return a >> k;
    if (op == OP_floordiv) return a / k;
    return a > INT64_MAX >> k ? UNKNOWN : limited(a << k);
}

/* The largest value that an int can have whose bits are seen to be zero from some bit on; UNKNOWN: it may be negative, or nothing is
 * seen. */
static int64_t most(const Func *func, Ref ref, int depth) {
    enum { DEEPEST = 8 };
    const Inst *inst = ir_inst(func, ref);
    const Type *type = inst->type;
    int64_t k;
    if (type->kind == TY_bool) return 1;
    if (opt_is_narrow(func, ref) && type_class(type) == CLASS_UINT)
        return (INT64_C(1) << type_bits(type)) - 1;
    if (opt_const_int(func, ref, &k)) return k < 0 ? UNKNOWN : limited(k);
    if (type->kind != TY_i64 || depth == DEEPEST) return UNKNOWN;
    switch (inst->op) {
    case OP_cast: {
        const Type *from = ir_type(func, ir_arg(func, ref, 0));
        return type_is_int(from) ? most(func, ir_arg(func, ref, 0), depth + 1) : UNKNOWN;
    }
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_add:
    case OP_mul:
        return most_of_two((Op)inst->op, most(func, ir_arg(func, ref, 0), depth + 1),
                           most(func, ir_arg(func, ref, 1), depth + 1));
    case OP_shl:
    case OP_shr:
    case OP_floordiv:
    case OP_mod:
        if (!opt_const_int(func, ir_arg(func, ref, 1), &k)) return UNKNOWN;
        return most_of_part((Op)inst->op, most(func, ir_arg(func, ref, 0), depth + 1), k);
    default: return UNKNOWN;
    }
}

Interval bounds_of_bits(Bounds *s, Ref ref) {
    int64_t high = most(s->func, ref, 0);
    if (high < 0 || high >= INT64_C(1) << INDEX_BITS) return (Interval){0};
    return (Interval){true, bounds_number(s, 0), bounds_number(s, high)};
}
