/* infer_const.c - facts: what is known of a value, where constants come from, and folding.
 *
 * Folding covers what types and shapes depend on: Python ints and bools, and comparisons of them. All
 * other arithmetic on constants is left to the passes, which fold with the meaning of the target. */
#include "typeinfer/infer_made.h"

/* -- simple facts ------------------------------------------------------------------------------ */

Fact fact_of(const Type *type) {
    return (Fact){.type = type};
}

const Type *ti_wint(Infer *in) {
    return type_scalar(in->types, in->strong ? TY_i64 : TY_wint);
}

const Type *ti_wflt(Infer *in) {
    return type_scalar(in->types, in->strong ? TY_f64 : TY_wflt);
}

Fact fact_int(Infer *in, int64_t value) {
    return (Fact){.type = ti_wint(in), .value = const_int(in->arena, value)};
}

Fact fact_bool(Infer *in, bool value) {
    return (Fact){.type = bool_type(in->types), .value = const_bool(in->arena, value)};
}

bool fact_none(const Fact *f) {
    return f->type && f->type->kind == TY_none;
}

const Binding *fact_object(const Fact *f) {
    return f->type && f->type->kind == TY_OBJECT ? f->type->binding : NULL;
}

const Str *fact_str(const Fact *f) {
    const Binding *b = fact_object(f);
    bool text = b && b->kind == BIND_CONST && b->value && b->value->kind == CONST_STR;
    return text ? &b->value->str : NULL;
}

bool fact_ellipsis(const Fact *f) {
    const Binding *b = fact_object(f);
    return b && b->kind == BIND_CONST && b->value && b->value->kind == CONST_ELLIPSIS;
}

bool fact_negative_literal(const Fact *f) {
    int64_t value;
    return f->type->kind == TY_wint && fact_int_value(f, &value) && value < 0;
}

/* A constant survives a cast to a type that holds it. */
const ConstVal *fact_cast_int(const Fact *f, const Type *to) {
    int64_t v;
    if (!fact_int_value(f, &v) || f->value->kind != CONST_INT || !type_is_int(to)) return NULL;
    int bits = type_bits(to);
    bool is_signed = type_class(to) == CLASS_SINT;
    if (bits == 64) return is_signed || v >= 0 ? f->value : NULL;
    int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    return v >= low && v <= high ? f->value : NULL;
}

bool fact_int_value(const Fact *f, int64_t *value) {
    if (!f->value || f->unbound) return false;
    if (f->type && f->type->kind == TY_MEMBER && !f->type->binding->enumeration->ints) return false;
    if (f->value->kind == CONST_BOOL) return *value = f->value->i, true;
    if (f->value->kind != CONST_INT || (f->value->is_unsigned && f->value->i < 0)) return false;
    return *value = f->value->i, true;
}

bool fact_float_value(const Fact *f, double *value) {
    if (!f->value || f->unbound || f->value->kind != CONST_FLOAT || !f->type) return false;
    if (f->type->kind != TY_wflt && f->type->kind != TY_f64) return false;
    return *value = f->value->re, true;
}

bool fact_is_const(const Fact *f) {
    if (!f->type || f->unbound || f->conflict) return false;
    if (f->value || f->array) return true;
    if (f->type->kind == TY_none || f->type->kind == TY_OBJECT) return true;
    if (f->type->kind != TY_TUPLE && f->type->kind != TY_SLICE && f->type->kind != TY_CLOSURE)
        return false;
    int32_t n = f->type->kind == TY_SLICE ? 3 : f->type->nitems;
    if (n && !f->items) return false;
    for (int32_t i = 0; i < n; i++)
        if (!fact_is_const(&f->items[i])) return false;
    return true;
}

/* -- comparing and joining --------------------------------------------------------------------- */

static int32_t fact_nitems(const Fact *f) {
    if (!f->type) return 0;
    switch (f->type->kind) {
    case TY_CLOSURE:
    case TY_TUPLE: return f->type->nitems;
    case TY_SLICE:
    case TY_RANGE: return 3;
    case TY_ARRAY: return f->type->ndim;
    default: return 0;
    }
}

static bool bits_equal(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0; /* 0.0 and -0.0 differ, a NaN equals itself */
}

static bool const_equal(const ConstVal *a, const ConstVal *b) {
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind) return false;
    switch (a->kind) {
    case CONST_BOOL:
    case CONST_INT: return a->i == b->i && a->is_unsigned == b->is_unsigned;
    case CONST_FLOAT: return bits_equal(a->re, b->re);
    case CONST_COMPLEX: return bits_equal(a->re, b->re) && bits_equal(a->im, b->im);
    case CONST_BYTES:
    case CONST_STR: return str_equal(a->str, b->str);
    case CONST_NONE:
    case CONST_ELLIPSIS: return true;
    default: return false;
    }
}

bool fact_equal(const Fact *a, const Fact *b) {
    if (a->type != b->type || a->unbound != b->unbound || a->conflict != b->conflict ||
        a->python != b->python || a->reported != b->reported || a->array != b->array ||
        !const_equal(a->value, b->value) || !a->items != !b->items)
        return false;
    if (a->items == b->items) return true;
    for (int32_t i = 0, n = fact_nitems(a); i < n; i++)
        if (!fact_equal(&a->items[i], &b->items[i])) return false;
    return true;
}

/* Types that a run-time value can have. */
static bool is_storable(const Type *type) {
    bool iterator = type->kind == TY_ITER && !type_is_generator(type);
    return type->kind != TY_OBJECT && !iterator && type->kind != TY_SLICE;
}

/* A function may be absent, as any value. */
static bool is_kept(Infer *in, const Type *type) {
    return ti_kept_function(in->types, type) != type;
}

static Meet meet_of(const Fact *f) {
    int64_t v;
    uint8_t python = f->python;
    if (f->type->kind == TY_wint && fact_int_value(f, &v) && v < 0) python |= MET_NEGATIVE;
    return (Meet){f->type, python};
}

static bool join_types(Infer *in, const Fact *x, const Fact *y, Meet *out) {
    const Type *a = x->type, *b = y->type;
    *out = (Meet){a, x->python};
    if (type_is_number(a) && type_is_number(b))
        return ti_meet(in->types, in->join, meet_of(x), meet_of(y), out);
    if (a == b) return true;
    bool none = a->kind == TY_none || b->kind == TY_none;
    bool texts = type_is_text(a) || type_is_text(b);
    if (none && !texts &&
        ((!is_storable(a) && !is_kept(in, a)) || (!is_storable(b) && !is_kept(in, b))))
        return false;
    *out = (Meet){ti_join(in->types, in->join, a, b), 0};
    return out->type && (ti_has_objects(in) || !out->type->counted || a->counted || b->counted);
}

static bool has_items(const Type *type) {
    return type->kind == TY_TUPLE || type->kind == TY_CLOSURE;
}

/* Each item is joined once: types may be nested deeply. false: an item is a constant that no common type would hold.
 * Items are kept where both sides know them and the joined type has the same shape. */
static bool join_items(Infer *in, const Fact *a, const Fact *b, const Type *type,
                       const Fact **out) {
    if (!a->items || !b->items) return true;
    Fact whole = fact_of(type);
    int32_t n = QN_MIN(fact_nitems(a), fact_nitems(b));
    bool tuples = has_items(a->type) && has_items(b->type) && type->kind != TY_CHOICE;
    bool keep = type->kind != TY_OPTIONAL && fact_nitems(&whole) == fact_nitems(a) &&
                fact_nitems(&whole) == fact_nitems(b);
    Fact *items = arena_array(in->arena, Fact, n);
    for (int32_t i = 0; i < n && (keep || tuples); i++) {
        bool fits = fact_join(in, &a->items[i], &b->items[i], &items[i]);
        if (!fits && tuples && a->items[i].type && b->items[i].type) return false;
        keep = keep && fits && !items[i].conflict &&
               (!has_items(type) || items[i].type == type->items[i]);
    }
    *out = keep ? items : NULL;
    return true;
}

static bool fact_has_zero(const Type *type) {
    switch (type->kind) {
    case TY_ARRAY:
    case TY_RANGE:
    case TY_SLICE:
    case TY_ITER:
    case TY_OBJECT:
    case TY_CLOSURE:
    case TY_CELL:
    case TY_UNKNOWN: return false;
    case TY_TUPLE:
        for (int32_t i = 0; i < type->nitems; i++)
            if (!fact_has_zero(type->items[i])) return false;
        return true;
    default: return true; /* an optional: None */
    }
}

/* Kernels do not test whether a variable has a value: without one it holds zero, so that it is no
 * constant any more. */
static void unbound_is_zero(Infer *in, Fact *f) {
    if (in->guards || !f->unbound || !f->type || f->conflict || !fact_has_zero(f->type)) return;
    *f = (Fact){.type = f->type, .python = type_is_number(f->type) ? meet_of(f).python : 0};
}

/* A negative constant and uint64 are no error where a float meets them. */
static bool heals(const Fact *conflict, const Fact *other) {
    return conflict->python && type_is_number(other->type);
}

bool fact_join(Infer *in, const Fact *a, const Fact *b, Fact *out) {
    bool unbound = a->unbound || b->unbound;
    if (a->reported || b->reported)
        return *out = (Fact){.reported = true, .unbound = unbound}, true;
    if (!a->type || !b->type) {
        *out = a->type ? *a : *b;
        out->conflict = a->conflict || b->conflict;
        out->unbound = unbound;
        unbound_is_zero(in, out);
        return !out->conflict;
    }
    *out = (Fact){.unbound = unbound, .type = a->type, .conflict = true};
    if ((a->conflict && !heals(a, b)) || (b->conflict && !heals(b, a))) return false;
    Meet both;
    const Fact *items = NULL;
    assumed_meets(in, a->type, b->type);
    if (!join_types(in, a, b, &both) || !join_items(in, a, b, both.type, &items)) {
        out->python = both.type && both.type->kind == TY_u64 ? both.python : 0;
        if (out->python) out->type = both.type;
        return false;
    }
    const Type *type = both.type;
    *out = (Fact){.unbound = unbound, .type = type, .python = both.python};
    if (a->type == b->type) {
        if (a->value && const_equal(a->value, b->value)) out->value = a->value;
        if (a->array == b->array) out->array = a->array;
    }
    if (out->value) out->python = 0; /* the value tells it */
    out->items = items;
    unbound_is_zero(in, out);
    return true;
}

/* -- constants ---------------------------------------------------------------------------------- */

const Binding *ti_object(Ti *ti, BindKind kind, Str name, const Type *type) {
    Str key = str_printf(ti->arena, "%d:%d:" STR_FMT, kind, type ? type->id : -1, STR_ARG(name));
    MapValue *slot = map_put_str(&ti->objects, key);
    if (slot->ptr) return slot->ptr;
    Binding *b = arena_new(ti->arena, Binding);
    *b = (Binding){.kind = kind, .name = str_copy(ti->arena, name.bytes, (size_t)name.len)};
    b->type = type;
    map_put_str(&ti->objects, key)->ptr = b;
    return b;
}

/* Strings and Ellipsis: objects whose binding carries the constant. */
static const Type *const_object(Infer *in, const ConstVal *value) {
    Str name = value->kind == CONST_STR ? str_printf(in->arena, "s" STR_FMT, STR_ARG(value->str))
                                        : STR("...");
    Binding *b = (Binding *)ti_object(in->ti, BIND_CONST, name, NULL);
    if (!b->value) b->value = value;
    return type_object(in->types, b);
}

static bool fact_of_items(Infer *in, const ConstVal *value, Fact *out) {
    int32_t n = value->nitems;
    Fact *items = arena_array(in->arena, Fact, n);
    const Type **types = arena_array(in->arena, const Type *, n);
    uint32_t bits = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!fact_of_const(in, value->items[i], &items[i])) return false;
        types[i] = items[i].type;
        if (types[i]->kind != TY_none && i < 3) bits |= 1u << i;
    }
    *out = fact_of(value->kind == CONST_SLICE ? type_slice(in->types, bits)
                                              : type_tuple(in->types, types, n));
    out->items = items;
    return true;
}

static TypeKind number_kind(Infer *in, const ConstVal *value) {
    switch (value->kind) {
    case CONST_BOOL: return TY_bool;
    /* 2**63 and above fit only uint64: no weak number holds them */
    case CONST_INT:
        if (value->is_unsigned && value->i < 0) return TY_u64;
        return in->strong ? TY_i64 : TY_wint;
    case CONST_FLOAT: return in->strong ? TY_f64 : TY_wflt;
    case CONST_COMPLEX: return in->strong ? TY_c128 : TY_wcpx;
    default: return TY_none;
    }
}

bool fact_of_const(Infer *in, const ConstVal *value, Fact *out) {
    switch (value->kind) {
    case CONST_BOOL:
    case CONST_INT:
    case CONST_FLOAT:
    case CONST_COMPLEX:
        *out = (Fact){.type = type_scalar(in->types, number_kind(in, value)), .value = value};
        return true;
    case CONST_NONE: return *out = fact_of(type_scalar(in->types, TY_none)), true;
    case CONST_BYTES:
        if (!ti_may_allocate(in, "bytes")) return false;
        *out = (Fact){.type = type_class_of(in->types, CLS_bytes, NULL), .value = value};
        return true;
    case CONST_STR:
    case CONST_ELLIPSIS: return *out = fact_of(const_object(in, value)), true;
    case CONST_TUPLE:
    case CONST_SLICE: return fact_of_items(in, value, out);
    case CONST_BIGINT:
        return ti_fail(in, in->at, E0210, value->str.bytes),
               ti_advise(in,
                         "integers have 64 bits here; written as a float, 1e20, it can be larger"),
               false;
    case CONST_CODE: return fact_of_code(in, value, "a nested function", out);
    case CONST_OTHER: {
        bool set = str_is(value->str, "frozenset"); /* x in {1, 2} */
        const char *what =
            set ? "a set display"
                : str_printf(in->arena, "a constant of type " STR_FMT, STR_ARG(value->str)).bytes;
        ti_fail(in, in->at, E0101, what);
        if (bc_advice(what)) ti_advise(in, bc_advice(what));
        return false;
    }
    }
    return false;
}

static bool fact_of_instance(Infer *in, const Binding *b, Str name, Fact *out) {
    Fact *items = arena_array(in->arena, Fact, b->nitems);
    const Type **types = arena_array(in->arena, const Type *, b->nitems);
    for (int32_t i = 0; i < b->nitems; i++) {
        if (!fact_of_binding(in, b->items[i], name, &items[i])) return false;
        types[i] = items[i].type;
    }
    const Type *like = b->type; /* a named tuple: its class and fields */
    if (like && like->kind == TY_TUPLE && like->fields)
        *out = fact_of(type_tuple_like(in->types, like, types));
    else
        *out = fact_of(type_tuple(in->types, types, b->nitems));
    out->items = items;
    return true;
}

bool fact_of_binding(Infer *in, const Binding *b, Str name, Fact *out) {
    switch (b->kind) {
    case BIND_CONST: return fact_of_const(in, b->value, out);
    case BIND_NUMPY: return *out = (Fact){.type = b->type, .value = b->value}, true;
    case BIND_ARRAY: return *out = (Fact){.type = b->array->type, .array = b->array}, true;
    case BIND_MEMBER:
        *out = (Fact){.type = type_member(in->types, b->cls),
                      .value = const_int(in->arena, b->number)};
        return true;
    case BIND_INSTANCE: return fact_of_instance(in, b, name, out);
    case BIND_PARTIAL: {
        Fact whole;
        if (!fact_of_instance(in, b, name, &whole)) return false;
        *out = fact_of_partial(in, &whole, b->names);
        return true;
    }
    case BIND_MISSING: return ti_fail(in, in->at, E0201, ti_c_text(in, name));
    case BIND_UNBUILT: return ti_fail(in, in->at, E0101, ti_c_text(in, b->name));
    case BIND_OPAQUE: {
        if (str_starts(b->name, "the function ")) { /* of an extension module */
            ti_fail(in, in->at, E0405, ti_c_text(in, b->name));
            int32_t skip = (int32_t)strlen("the function ");
            ti_advise_name(in, (Str){b->name.bytes + skip, b->name.len - skip});
            return false;
        }
        const char *what = ti_c_text(in, name);
        ti_fail(in, in->at, E0202, what, ti_c_text(in, b->name));
        bool of_numpy =
            str_starts(b->name, "numpy."); /* its type: what is known of functions does not fit */
        if (of_numpy || !ti_advise_name(in, b->name))
            ti_advise(in,
                      "compiled code knows numbers, arrays, tuples of these, functions, and the "
                      "modules math, cmath and numpy: give the values it needs names of their own, "
                      "or pass them as arguments");
        return false;
    }
    default: return *out = fact_of(type_object(in->types, b)), true;
    }
}

/* -- folding ------------------------------------------------------------------------------------ */

static bool floor_divide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) {
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    int64_t q = a / b, r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) q--, r += b;
    *quotient = q, *remainder = r;
    return true;
}

static bool int_power(int64_t a, int64_t b, int64_t *out) {
    if (b < 0 || b > 64) return false;
    for (*out = 1; b > 0; b--)
        if (__builtin_mul_overflow(*out, a, out)) return false;
    return true;
}

/* Nothing that overflows is folded: the run-time operation wraps, and says so in one place. */
static bool fold_ints(Operator op, int64_t a, int64_t b, int64_t *out) {
    int64_t other;
    switch (op) {
    case OPR_add: return !__builtin_add_overflow(a, b, out);
    case OPR_sub: return !__builtin_sub_overflow(a, b, out);
    case OPR_mul: return !__builtin_mul_overflow(a, b, out);
    case OPR_floordiv: return floor_divide(a, b, out, &other);
    case OPR_mod: return floor_divide(a, b, &other, out);
    case OPR_pow: return int_power(a, b, out);
    case OPR_and: return *out = a & b, true;
    case OPR_or: return *out = a | b, true;
    case OPR_xor: return *out = a ^ b, true;
    case OPR_lshift: return b >= 0 && b < 62 && !__builtin_mul_overflow(a, INT64_C(1) << b, out);
    case OPR_rshift: return b >= 0 && b < 64 && (*out = a >> b, true);
    default: return false;
    }
}

bool fold_binary(Infer *in, Operator op, const Fact *a, const Fact *b, const Type *result,
                 Fact *out) {
    int64_t x, y, z;
    if (!fact_int_value(a, &x) || !fact_int_value(b, &y)) return false;
    if (result->kind != TY_wint && result->kind != TY_i64) return false;
    if (!fold_ints(op, x, y, &z)) return false;
    *out = (Fact){.type = result, .value = const_int(in->arena, z)};
    return true;
}

/* Of an int that a float64 holds exactly, or of a float. */
static bool fact_double_value(const Fact *f, double *value) {
    int64_t i;
    if (fact_int_value(f, &i)) return *value = (double)i, i >= -(1LL << 53) && i <= 1LL << 53;
    return fact_float_value(f, value);
}

/* What is less, equal or greater; of nan, none of them. */
static bool fold_order(Operator op, bool less, bool equal, bool greater, bool *out) {
    switch (op) {
    case OPR_eq: return *out = equal, true;
    case OPR_ne: return *out = !equal, true;
    case OPR_lt: return *out = less, true;
    case OPR_le: return *out = less || equal, true;
    case OPR_gt: return *out = greater, true;
    case OPR_ge: return *out = greater || equal, true;
    default: return false;
    }
}

bool fold_compare(Operator op, const Fact *a, const Fact *b, bool *out) {
    int64_t i, j;
    double x, y;
    if (fact_str(a) && fact_str(b) && (op == OPR_eq || op == OPR_ne))
        return *out = str_equal(*fact_str(a), *fact_str(b)) == (op == OPR_eq), true;
    if (fact_int_value(a, &i) && fact_int_value(b, &j))
        return fold_order(op, i < j, i == j, (i > j), out);
    return fact_double_value(a, &x) && fact_double_value(b, &y) &&
           fold_order(op, x < y, x == y, (x > y), out);
}
