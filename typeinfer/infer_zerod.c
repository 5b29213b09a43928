/* infer_zerod.c - arrays without axes as operands: as in NumPy, an operation reads the element, follows the
 * rules of the ufunc that the operator stands for (its dtypes, no exception at a zero divisor), and gives a
 * scalar. `a += 1` writes into the array, and its dtype must be able to take the result. */
#include "typeinfer/infer.h"

static const char *const ufuncs[OPR_COUNT] = {
    [OPR_neg] = "numpy.negative",      [OPR_pos] = "numpy.positive",
    [OPR_invert] = "numpy.invert",     [OPR_add] = "numpy.add",
    [OPR_sub] = "numpy.subtract",      [OPR_mul] = "numpy.multiply",
    [OPR_truediv] = "numpy.divide",    [OPR_floordiv] = "numpy.floor_divide",
    [OPR_mod] = "numpy.remainder",     [OPR_pow] = "numpy.power",
    [OPR_lshift] = "numpy.left_shift", [OPR_rshift] = "numpy.right_shift",
    [OPR_and] = "numpy.bitwise_and",   [OPR_or] = "numpy.bitwise_or",
    [OPR_xor] = "numpy.bitwise_xor",   [OPR_lt] = "numpy.less",
    [OPR_le] = "numpy.less_equal",     [OPR_eq] = "numpy.equal",
    [OPR_ne] = "numpy.not_equal",      [OPR_gt] = "numpy.greater",
    [OPR_ge] = "numpy.greater_equal",
};

/* With an element to be read; a record stays what it is. */
static bool is_zero_dim(const Val *v) {
    return is_kind(v, TY_ARRAY) && v->f.type->ndim == 0 && !type_is_records(v->f.type);
}

Val v_scalar(Infer *in, Val a) {
    a = v_unwrap(in, a);
    if (!is_zero_dim(&a)) return a;
    Val out = {.f = fact_of(a.f.type->element), .src = a.src};
    if (in->emit) out.ref = emit1(in->emit, OP_load, out.f.type, v_ref(in, a));
    return out;
}

bool v_scalars(Infer *in, const Val *args, int32_t n, Val *out) {
    bool any = false;
    for (int32_t i = 0; i < n; i++)
        any |= is_zero_dim(&args[i]);
    for (int32_t i = 0; any && i < n; i++)
        out[i] = is_zero_dim(&args[i]) ? v_scalar(in, args[i]) : args[i];
    return any;
}

bool v_zero_dim(Infer *in, Operator op, bool in_place, const Val *args, int32_t n, bool *handled,
                Val *out) {
    Val scalars[2] = {0};
    *handled = false;
    if (!ufuncs[op] || !v_scalars(in, args, n, scalars)) return false;
    for (int32_t i = 0; i < n; i++)
        if (!type_is_item(scalars[i].f.type)) return false;
    bool matched, ok = v_time_operator(in, op, scalars, n, &matched, out);
    if (!matched) ok = v_row(in, str_from(ufuncs[op]), scalars, n, &matched, out);
    *handled = matched || in->stop;
    if (!ok || !in_place || !is_zero_dim(&args[0])) return ok;
    if (!type_same_kind(out->f.type, args[0].f.type->element)) return *handled = false;
    if (!v_setitem(in, args[0], v_tuple(in, NULL, 0), *out)) return false;
    return *out = args[0], true;
}

const char *operator_ufunc(Operator op) {
    return ufuncs[op];
}
