/* infer_ufunc.c - the loop that NumPy's ufuncs take for arrays, and the attributes of ufuncs.
 *
 * Numbers follow the rules of the rows: a float function of any int is computed in float64. NumPy's ufuncs have loops of
 * smaller floats, too, and arrays take the first one that holds their elements: np.sqrt of uint8 is float16, of int16
 * float32. Arithmetic of bools alone is that of int8 where NumPy has no loop of bools. */
#include "typeinfer/infer.h"

#include <math.h>

typedef struct Loops { /* of the rows with one name and that many arguments */
    bool floats;       /* arguments are floats (or complex): ints are converted */
    bool bools;        /* there is a loop of bools, or one of every number */
    bool double_;      /* LIB_DOUBLE */
    bool no_bools;     /* LIB_NO_BOOLS */
    bool ints;         /* both arguments are ints of one type */
    uint32_t whole;    /* arguments that are ints beside floats: the second of ldexp */
} Loops;

static Loops loops_of(Str name, int32_t n) {
    Loops loops = {.floats = true};
    for (int32_t row = lib_find(name); row >= 0; row = lib_next(row)) {
        const LibRow *r = lib_row(row);
        if (row_arity(r) != n) continue;
        loops.ints |= strncmp(r->signature, "(Z,Z)", strlen("(Z,Z)")) == 0;
        int32_t k = 0;
        for (const char *c = r->signature + 1; *c && *c != ')'; c++) {
            k += *c == ',';
            if (*c == ',' || (*c >= '0' && *c <= '9')) continue;
            if (*c == 'Z' && r->signature[1] == 'F') {
                loops.whole |= UINT32_C(1) << k;
                continue;
            }
            loops.floats &= *c == 'F' || *c == 'C';
            loops.bools |= *c == 'B' || *c == 'S';
        }
        loops.double_ |= (r->flags & LIB_DOUBLE) != 0;
        loops.no_bools |= (r->flags & LIB_NO_BOOLS) != 0;
    }
    return loops;
}

static const Type *element_of(const Val *v) {
    const Type *t = v->f.type;
    return t->kind == TY_ARRAY ? t->element : t;
}

/* How many bits has the smallest float that holds all of that type, which no Python number has? */
static int float_bits(const Type *t) {
    TypeClass cls = type_class(t);
    if (cls == CLASS_FLT || cls == CLASS_CPX) return type_bits(t);
    int bits = cls == CLASS_BOOL ? 8 : type_bits(t);
    return bits == 8 ? 16 : bits == 16 ? 32 : 64;
}

/* The type that ints are converted to; NULL: as they are. */
static const Type *float_loop(Infer *in, const Val *args, int32_t n, uint32_t whole) {
    int bits = in->strong ? 32 : 16; /* Numba knows no loops of float16 */
    bool any_float = false, weak_float = false, weak_int = false, only_bools = true;
    for (int32_t i = 0; i < n; i++) {
        const Type *t = element_of(&args[i]);
        if (whole >> i & 1) continue;
        if (type_is_complex(t)) return NULL;
        bool is_weak = type_is_weak(t), is_float = type_is_float(t);
        weak_float |= is_weak && is_float;
        any_float |= !is_weak && is_float;
        weak_int |= is_weak && type_class(t) == CLASS_SINT;
        only_bools &= is_weak || t->kind == TY_bool;
        if (!is_weak) bits = QN_MAX(bits, float_bits(t));
    }
    if (weak_float && !any_float) return NULL; /* NumPy makes float64 of ints and a Python float */
    if (weak_int && only_bools) return NULL;   /* a Python int beside bools is an int64 */
    return bits == 16   ? type_scalar(in->types, TY_f16)
           : bits == 32 ? type_scalar(in->types, TY_f32)
                        : NULL;
}

static bool convert(Infer *in, const Type *to, Val *v) {
    const Type *from = element_of(v);
    if (type_is_weak(from) || type_is_float(from)) return true;
    Val whole = *v;
    if (v->f.type->kind == TY_ARRAY && v->f.type->ndim > 0)
        return v_map(in, row_function(in, STR(""), 1), to, &whole, 1, v);
    return v_cast(in, v_scalar(in, whole), to, false, v);
}

/* Bits of uint64 and of signed ints: for these arrays NumPy has no loop. A number beside an array may be Python's. */
static bool has_no_loop(const Val *args) {
    if (args[0].f.type->kind != TY_ARRAY || args[1].f.type->kind != TY_ARRAY) return false;
    const Type *a = args[0].f.type->element, *b = args[1].f.type->element;
    return (a->kind == TY_u64 && type_class(b) == CLASS_SINT) ||
           (b->kind == TY_u64 && type_class(a) == CLASS_SINT);
}

/* -- attributes ------------------------------------------------------------------------------------ */

/* What NumPy's ufuncs start reductions with; without a row: with the first element, along one axis. */
static const struct {
    const char *name;
    UfuncIdentity identity;
    double value;
} identities[] = {{"numpy.add", IDENTITY_ZERO, 0},
                  {"numpy.bitwise_and", IDENTITY_ONE, -1},
                  {"numpy.bitwise_or", IDENTITY_ZERO, 0},
                  {"numpy.bitwise_xor", IDENTITY_ZERO, 0},
                  {"numpy.fmax", IDENTITY_ANY_ORDER, 0},
                  {"numpy.fmin", IDENTITY_ANY_ORDER, 0},
                  {"numpy.gcd", IDENTITY_ZERO, 0},
                  {"numpy.hypot", IDENTITY_ZERO, 0},
                  {"numpy.logaddexp", IDENTITY_ONE, -INFINITY},
                  {"numpy.logaddexp2", IDENTITY_ONE, -INFINITY},
                  {"numpy.logical_and", IDENTITY_ONE, 1},
                  {"numpy.logical_or", IDENTITY_ZERO, 0},
                  {"numpy.logical_xor", IDENTITY_ZERO, 0},
                  {"numpy.maximum", IDENTITY_ANY_ORDER, 0},
                  {"numpy.minimum", IDENTITY_ANY_ORDER, 0},
                  {"numpy.multiply", IDENTITY_ONE, 1}};

static UfuncIdentity identity_of(const Binding *ufunc, double *value) {
    *value = ufunc->identity == IDENTITY_ONE;
    if (ufunc->kind == BIND_FUNCTION) return ufunc->identity;
    for (int i = 0; i < countof(identities); i++)
        if (str_is(ufunc->name, identities[i].name))
            return *value = identities[i].value, identities[i].identity;
    return IDENTITY_NONE;
}

/* Is it a function of numbers that NumPy has as a ufunc, and of how many? 0: it is none. */
static int32_t inputs_of(Infer *in, const Binding *f) {
    if (f->kind == BIND_FUNCTION && f->elementwise) {
        const FunctionInfo *info = ti_function_info(in->ti, f);
        return info ? info->code->nargs : 0;
    }
    if (f->kind != BIND_LIBRARY || !str_starts(f->name, "numpy.")) return 0;
    int32_t row = lib_find(f->name);
    if (row < 0 || lib_row(row)->flags & (LIB_WHOLE | LIB_VALUE)) return 0;
    return QN_MAX(row_arity(lib_row(row)), 0);
}

static Val no_value(Infer *in) {
    return val_of(fact_of(type_scalar(in->types, TY_none)));
}

static Val identity_value(Infer *in, const Binding *ufunc) {
    double value;
    if (identity_of(ufunc, &value) < IDENTITY_ZERO) return no_value(in);
    if (!isinf(value)) return val_of(fact_int(in, (int64_t)value));
    return val_of((Fact){.type = ti_wflt(in), .value = const_float(in->arena, value)});
}

bool v_ufunc_attr(Infer *in, const Binding *ufunc, Str name, Val *out) {
    double value;
    int32_t n = inputs_of(in, ufunc);
    if (n == 0) return false;
    if (str_is(name, "nin")) return *out = val_of(fact_int(in, n)), true;
    if (str_is(name, "nout")) return *out = val_of(fact_int(in, 1)), true;
    if (str_is(name, "nargs")) return *out = val_of(fact_int(in, n + 1)), true;
    if (str_is(name, "identity")) return *out = identity_value(in, ufunc), true;
    if (str_is(name, "signature")) return *out = no_value(in), true;
    if (str_is(name, "ntypes") && ufunc->kind == BIND_FUNCTION)
        return *out = val_of(fact_int(in, ufunc->ndeclared)), true;
    if (in->inst->library && str_is(name, "in_any_order")) {
        *out = val_of(fact_bool(in, identity_of(ufunc, &value) != IDENTITY_NONE));
        return true;
    }
    if (in->inst->library && str_is(name, "in_64_bits")) {
        bool sums = str_is(ufunc->name, "numpy.add") || str_is(ufunc->name, "numpy.multiply");
        return *out = val_of(fact_bool(in, ufunc->kind == BIND_LIBRARY && sums)), true;
    }
    Str full = str_printf(in->arena, "ufunc." STR_FMT, STR_ARG(name));
    if (str_is(name, "call") || !library_has(in, full)) return false;
    const Binding *method = ti_object(in->ti, BIND_LIBRARY, full, NULL);
    return *out = (Val){.f = fact_of(type_object(in->types, method)), .src = in->at}, true;
}

/* -- loops ------------------------------------------------------------------------------------------ */

bool v_loop_operands(Infer *in, Str name, Val *args, int32_t n) {
    Loops loops = loops_of(name, n);
    if (loops.ints && !in->strong && has_no_loop(args)) return false;
    for (int32_t i = 0; i < n; i++) /* of times: see infer_time.c */
        if (element_of(&args[i])->kind == TY_TIME) return true;
    bool all_bools = true;
    for (int32_t i = 0; i < n; i++)
        all_bools &= element_of(&args[i])->kind == TY_bool;
    if (all_bools && loops.no_bools) return false;
    const Type *to = NULL;
    if (loops.floats && !loops.double_)
        to = float_loop(in, args, n, loops.whole);
    else if (!loops.floats && all_bools && !loops.bools)
        to = type_scalar(in->types, TY_i8);
    for (int32_t i = 0; to && i < n; i++)
        if (!(loops.whole >> i & 1) && !convert(in, to, &args[i])) return false;
    return true;
}
