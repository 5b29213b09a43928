/* magnitude.c - how far from zero a number can be, by what it is computed of: int(x) raises for none below 2^63.
 *
 *   int(0.25 * (float(raw[y, x - 1]) + float(raw[y, x + 1])) * gain)       raw: uint16
 *   |x| <= 0.25 * (65535 + 65535) * |gain| =: M                            M < 2^62, asked once in front of the loop
 *
 * M is computed as x is, in the same type, of magnitudes: of a sum the sum, of a product the product, of what is one or the
 * other both together. Rounding is monotone: where |a| <= A and |c| <= C hold of the operands, |a + c| <= A + C
 * holds of what comes out, an overflow included. A NaN among the operands, and what becomes one (inf - inf, 0 * inf, 0 / 0), leaves
 * M infinite or a NaN, and M < 2^62 is false. Where all of M are numbers and bounds of types, it is a number itself, and
 * nothing is asked.
 *
 * Ints: what wraps is nearer to zero than the number it stands for, where the type has a sign. Their M is a float64, which is rounded: where an int
 * becomes a float it grows by more than all the rounding may have taken away. 2^62 instead of 2^63 is for sums of what is one or the other. */
#include "codegen/opt/magnitude.h"

#include <math.h>

#include "typeinfer/lowering.h"

enum { MOST_NODES = 64 };

static const double SMALL = 0x1p62, FAR = 0x1p31, GROWN = 1.000001;
/* What is taken for usual: of a value that stands still, of a counter. Only whether to test hangs on it. */
static const double USUAL = 0x1p20, USUAL_ROUNDS = 0x1p31;

/* A magnitude: `most`, which is sure, or a guess; then it is `value` while the test is made. */
typedef struct Size {
    double most;
    bool sure;
    Ref value;
} Size;

static const Size UNKNOWN = {-1, false, NO_REF};

static Size size_of(Magnitudes *m, Ref ref);

const char *opt_intrinsic_of(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    bool is = row && row->cpu.kind == LOWER_INTR && inst->nargs == 1 &&
              type_is_float(ir_type(func, ref)) &&
              type_is_float(ir_type(func, ir_arg(func, ref, 0)));
    return is ? row->cpu.symbol : "";
}

bool opt_is_magnitude(const Func *func, Ref ref) {
    return !strcmp(opt_intrinsic_of(func, ref), "llvm.fabs");
}

bool opt_is_rounding(const Func *func, Ref ref) {
    static const char *const names[] = {"llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.roundeven"};
    for (size_t i = 0; i < countof(names); i++)
        if (!strcmp(opt_intrinsic_of(func, ref), names[i])) return true;
    return false;
}

/* -- magnitudes ------------------------------------------------------------------------------------------- */

static const Type *wide(const Magnitudes *m) {
    return type_scalar(m->func->module->types, TY_f64);
}

/* As the type rounds: a float32 of what was computed in float64 of two float32 is what float32 computes. */
static double rounded(const Type *type, double x) {
    return type->kind == TY_f32 ? (double)(float)x : x;
}

static Size sure(double most) {
    return (Size){most, true, NO_REF};
}

static bool known(Size a) {
    return a.most >= 0; /* no NaN either */
}

/* A guess is no bound: where nothing says how large it is, it may be infinite, and the test does not hold. */
static Ref value_of(const Magnitudes *m, const Type *type, Size a) {
    return a.value ? a.value : ir_const_float(m->func, type, a.sure ? a.most : INFINITY);
}

static Ref magnitude_of(Magnitudes *m, Ref x) {
    const Type *type = ir_type(m->func, x), *b = type_scalar(m->func->module->types, TY_bool);
    Ref below = b_op2(m->b, OP_lt, b, x, ir_const_float(m->func, type, 0.0));
    return b_op3(m->b, OP_select, type, below, b_op1(m->b, OP_neg, type, x), x);
}

static Ref as_wide(Magnitudes *m, Ref x) {
    return ir_type(m->func, x) == wide(m) ? x : b_op1(m->b, OP_cast, wide(m), x);
}

static Size combine(Magnitudes *m, Op op, const Type *type, Size a, Size c) {
    if (!known(a) || !known(c)) return UNKNOWN;
    double most = op == OP_add ? a.most + c.most : op == OP_mul ? a.most * c.most : a.most / c.most;
    Size out = {rounded(type, most), a.sure && c.sure, NO_REF};
    if (m->b && !out.sure)
        out.value = b_op2(m->b, op, type, value_of(m, type, a), value_of(m, type, c));
    return out;
}

/* Of what is one of the two. */
static Size either(Magnitudes *m, const Type *type, Size a, Size c) {
    if (known(a) && known(c) && a.sure && c.sure) return a.most > c.most ? a : c;
    return combine(m, OP_add, type, a, c);
}

static Size one_of(Magnitudes *m, Ref ref, int32_t first) {
    const Type *type = type_is_float(ir_type(m->func, ref)) ? ir_type(m->func, ref) : wide(m);
    Size all = size_of(m, ir_arg(m->func, ref, first));
    for (int32_t k = first + 1; k < ir_inst(m->func, ref)->nargs && known(all); k++)
        if (ir_arg(m->func, ref, k) != ir_arg(m->func, ref, k - 1))
            all = either(m, type, all, size_of(m, ir_arg(m->func, ref, k)));
    return all;
}

static bool inside(const Magnitudes *m, Ref ref) {
    return m->loop < 0 || opt_in_loop(m->cfg, m->loop, ir_inst(m->func, ref)->block);
}

/* A value of the block in front of the loop: an int's is a float64. */
static Size still(Magnitudes *m, Ref ref, double guess) {
    Size out = {guess, false, NO_REF};
    if (!m->b) return out;
    bool is_float = type_is_float(ir_type(m->func, ref));
    out.value = magnitude_of(m, is_float ? ref : as_wide(m, ref));
    return out;
}

static bool stays_same(const Magnitudes *m, Ref load) {
    for (int32_t k = 0; k < ir_inst(m->func, load)->nargs; k++) {
        Ref arg = ir_arg(m->func, load, k);
        if (inside(m, arg) && ir_inst(m->func, arg)->op != OP_const) return false;
    }
    return true;
}

/* What only some rounds read may lie outside of its array in others. */
static Size element(Magnitudes *m, Ref load) {
    if (m->loop < 0 || !opt_every_round(m->func, m->cfg, m->loop, ir_inst(m->func, load)->block))
        return UNKNOWN;
    if (stays_same(m, load)) {
        if (!m->b) vec_push(m->ctx->arena, &m->same, load);
        return still(m, m->b ? m->loaded[load] : load, USUAL);
    }
    if (!m->elements) return UNKNOWN;
    if (!m->b) vec_push(m->ctx->arena, &m->tested, load);
    return (Size){
        FAR, false,
        m->b ? ir_const_float(
                   m->func,
                   type_is_float(ir_type(m->func, load)) ? ir_type(m->func, load) : wide(m), FAR)
             : NO_REF};
}

/* -- ints -------------------------------------------------------------------------------------------------- */

static double most_of_type(const Type *type) {
    if (type->kind == TY_bool) return 1;
    return ldexp(1, type_bits(type) - (type_class(type) == CLASS_SINT));
}

static Size between_ends(Magnitudes *m) {
    Size from = still(m, m->from, USUAL_ROUNDS), to = still(m, m->to, USUAL_ROUNDS);
    return combine(m, OP_add, wide(m), from, to);
}

/* By what it is computed of; unknown: only its type says something. Of int64. */
static Size computed_whole(Magnitudes *m, Ref ref) {
    const Inst *inst = ir_inst(m->func, ref);
    int64_t k;
    if (opt_const_int(m->func, ref, &k)) return sure(fabs((double)k) * GROWN);
    if (m->counted && ref == m->counted->counter) return between_ends(m);
    if (!inside(m, ref)) return still(m, ref, USUAL);
    switch ((int)inst->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
        return combine(m, inst->op == OP_mul ? OP_mul : OP_add, wide(m),
                       size_of(m, ir_arg(m->func, ref, 0)), size_of(m, ir_arg(m->func, ref, 1)));
    case OP_cast: /* of a float: only where that fits, which the flag says */
        if (type_is_float(ir_type(m->func, ir_arg(m->func, ref, 0))) && inst->sub != FLAG_INSIDE)
            return UNKNOWN;
        if (ir_type(m->func, ir_arg(m->func, ref, 0))->kind == TY_f32) return UNKNOWN;
        return size_of(m, ir_arg(m->func, ref, 0));
    case OP_neg:
    case OP_shr:
    case OP_check_index: return size_of(m, ir_arg(m->func, ref, 0));
    case OP_floordiv: /* by what is at least 1; by zero it is zero */
        return size_of(m, ir_arg(m->func, ref, 0));
    case OP_mod:
        return opt_const_int(m->func, ir_arg(m->func, ref, 1), &k) ? sure(fabs((double)k) * GROWN)
                                                                   : UNKNOWN;
    case OP_and:
        return opt_const_int(m->func, ir_arg(m->func, ref, 1), &k) && k >= 0
                   ? sure((double)k * GROWN)
                   : UNKNOWN;
    case OP_select: return one_of(m, ref, 1);
    case OP_phi: return opt_is_header_phi(m->func, m->cfg, ref) ? UNKNOWN : one_of(m, ref, 0);
    case OP_load: return element(m, ref);
    default: return UNKNOWN;
    }
}

static Size whole(Magnitudes *m, Ref ref) {
    const Type *type = ir_type(m->func, ref);
    Size all = sure(most_of_type(type));
    if (type->kind != TY_i64) return all;
    Size out = computed_whole(m, ref);
    return known(out) && (!out.sure || out.most < all.most) ? out : all;
}

/* -- floats ------------------------------------------------------------------------------------------------ */

/* The divisor, which must stand still: how near to zero others come nobody knows. */
static Size divisor(Magnitudes *m, Ref ref) {
    const Inst *inst = ir_inst(m->func, ref);
    bool same = inst->op == OP_load && m->loop >= 0 && stays_same(m, ref);
    if (inst->op == OP_const || same || (m->loop >= 0 && !inside(m, ref))) {
        Size size = size_of(m, ref);
        return size.sure || !known(size) ? size : (Size){1, false, size.value};
    }
    return UNKNOWN;
}

static Size converted(Magnitudes *m, Ref ref, const Type *type) {
    Ref from = ir_arg(m->func, ref, 0);
    const Type *source = ir_type(m->func, from);
    Size a = size_of(m, from);
    if (!known(a)) return a;
    if (!type_is_float(source)) a = combine(m, OP_mul, wide(m), a, sure(GROWN));
    a.most = rounded(type, a.most);
    if (a.value && ir_type(m->func, a.value) != type) a.value = b_op1(m->b, OP_cast, type, a.value);
    return a;
}

static Size floating(Magnitudes *m, Ref ref) {
    const Inst *inst = ir_inst(m->func, ref);
    const Type *type = inst->type;
    if (inst->op == OP_const) return sure(fabs(inst->u.value->re));
    if (!inside(m, ref)) return still(m, ref, USUAL);
    if (opt_is_magnitude(m->func, ref)) return size_of(m, ir_arg(m->func, ref, 0));
    if (opt_is_rounding(m->func, ref))
        return combine(m, OP_add, type, size_of(m, ir_arg(m->func, ref, 0)), sure(1));
    switch ((int)inst->op) {
    case OP_cast: return converted(m, ref, type);
    case OP_add:
    case OP_sub:
    case OP_mul:
        return combine(m, inst->op == OP_mul ? OP_mul : OP_add, type,
                       size_of(m, ir_arg(m->func, ref, 0)), size_of(m, ir_arg(m->func, ref, 1)));
    case OP_div:
        m->divides |= m->elements;
        return combine(m, OP_div, type, size_of(m, ir_arg(m->func, ref, 0)),
                       divisor(m, ir_arg(m->func, ref, 1)));
    case OP_neg: return size_of(m, ir_arg(m->func, ref, 0));
    case OP_select: return one_of(m, ref, 1);
    case OP_phi: return opt_is_header_phi(m->func, m->cfg, ref) ? UNKNOWN : one_of(m, ref, 0);
    case OP_load: return element(m, ref);
    default: return UNKNOWN;
    }
}

static Size look(Magnitudes *m, Ref ref) {
    const Type *type = ir_type(m->func, ref);
    if (!type || ir_inst(m->func, ref)->block >= m->cfg->n) return UNKNOWN;
    /* what is made was looked at: for one float or, a part of it, for several */
    if (!m->b && ++m->nodes > MOST_NODES) return UNKNOWN;
    if (type_is_int(type) || type->kind == TY_bool) return whole(m, ref);
    return type_is_machine_float(type) ? floating(m, ref) : UNKNOWN;
}

/* Each value is looked at once, and its magnitude made once. What leads back to itself is not known. */
static Size size_of(Magnitudes *m, Ref ref) {
    if (m->b) {
        bool is_sure = bits_get(&m->sure, ref);
        if (m->most[ref] < 0) return UNKNOWN;
        if (!is_sure && !m->values[ref]) m->values[ref] = look(m, ref).value;
        return (Size){m->most[ref], is_sure, m->values[ref]};
    }
    if (!bits_get(&m->looked, ref)) {
        bits_set(&m->looked, ref);
        m->most[ref] = -1;
        Size size = look(m, ref);
        m->most[ref] = size.most;
        if (size.sure) bits_set(&m->sure, ref);
    }
    return (Size){m->most[ref], bits_get(&m->sure, ref), NO_REF};
}

/* -- what is asked ----------------------------------------------------------------------------------------- */

Magnitudes opt_magnitudes(PassContext *ctx, Func *func, const Cfg *cfg, int32_t loop,
                          const CountedLoop *counted, bool elements) {
    Magnitudes m = {.ctx = ctx,
                    .func = func,
                    .cfg = cfg,
                    .loop = loop,
                    .counted = counted,
                    .elements = elements};
    m.most = arena_array(ctx->arena, double, func->insts.len);
    m.looked = bits_new(ctx->arena, func->insts.len);
    m.sure = bits_new(ctx->arena, func->insts.len);
    return m;
}

bool opt_is_small(Magnitudes *m, Ref x) {
    m->nodes = 0;
    Size size = size_of(m, x);
    return size.sure && known(size) && size.most < SMALL;
}

bool opt_may_be_small(Magnitudes *m, Ref x) {
    m->nodes = 0;
    Size size = size_of(m, x);
    return known(size) && size.most < SMALL;
}

Ref opt_test_small(Magnitudes *m, Ref x) {
    const Type *type = ir_type(m->func, x), *boolean = type_scalar(m->func->module->types, TY_bool);
    m->nodes = 0;
    Ref most = value_of(m, type, size_of(m, x));
    return b_op2(m->b, OP_lt, boolean, most, ir_const_float(m->func, type, SMALL));
}

Ref opt_is_far(Builder *b, Ref value) {
    Func *func = b->func;
    const Type *type = ir_type(func, value), *boolean = type_scalar(func->module->types, TY_bool);
    if (!type_is_float(type)) {
        type = type_scalar(func->module->types, TY_f64);
        value = b_op1(b, OP_cast, type, value);
    }
    Ref above = b_op2(b, OP_lt, boolean, ir_const_float(func, type, -FAR), value);
    Ref below = b_op2(b, OP_lt, boolean, value, ir_const_float(func, type, FAR));
    return b_op1(b, OP_not, boolean, b_op2(b, OP_and, boolean, above, below));
}
