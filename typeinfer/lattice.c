/* lattice.c - joins, promotion and conversions of types: the arithmetic of DESIGN 4.
 *
 * Everything about scalars follows from promote.def. Each type has three sets of types above it, made
 * by the preprocessor: UP_t where paths meet, WEAK_t where a weak number takes part in arithmetic (or meets
 * another in a kernel), ANY_t for arithmetic of two strong numbers. The common type of a and b is the lowest row in
 * the intersection of their sets. */
#include "frontend/resolver.h"
#include "typeinfer/infer.h"

enum Above {
#define UP(t)                            UP_##t
#define ORDER(name, above, weak, strong) UP_##name = 1 << TY_##name | (above),
#include "typeinfer/promote.def"
#undef ORDER
#undef UP
#define UP(t)                            WEAK_##t
#define ORDER(name, above, weak, strong) WEAK_##name = 1 << TY_##name | (above) | (weak),
#include "typeinfer/promote.def"
#undef ORDER
#undef UP
#define UP(t)                            ANY_##t
#define ORDER(name, above, weak, strong) ANY_##name = 1 << TY_##name | (above) | (weak) | (strong),
#include "typeinfer/promote.def"
#undef ORDER
#undef UP
};

static const struct Order {
    uint8_t kind;
    int32_t up, weak, any;
} order[] = {
#define ORDER(name, above, weak, strong) {TY_##name, UP_##name, WEAK_##name, ANY_##name},
#include "typeinfer/promote.def"
#undef ORDER
};

static const struct Order *order_of(const Type *type) {
    for (int i = 0; i < countof(order); i++)
        if (order[i].kind == type->kind) return &order[i];
    return NULL;
}

/* The lowest type of `set`. */
static const Type *lowest(TypeTable *types, int32_t set) {
    for (int i = countof(order); i-- > 0;)
        if (set >> order[i].kind & 1) return type_scalar(types, (TypeKind)order[i].kind);
    return NULL;
}

/* -- joins ------------------------------------------------------------------------------------- */

static const Type *join_scalars(TypeTable *types, JoinRule rule, const struct Order *a,
                                const struct Order *b) {
    switch (rule) {
    case JOIN_KERNEL: return lowest(types, a->weak & b->weak);
    case JOIN_NUMBA: return lowest(types, a->any & b->any);
    default: return lowest(types, a->up & b->up);
    }
}

static bool same_names(const Type *a, const Type *b) {
    for (int32_t i = 0; i < a->nitems; i++)
        if (!str_equal(a->fields[i], b->fields[i])) return false;
    return true;
}

static bool same_keys(const Type *a, const Type *b) {
    return a->bits == b->bits && same_names(a, b);
}

/* Of tuples: the same names, or none. */
static bool same_fields(const Type *a, const Type *b) {
    if (!a->fields || !b->fields || a->kind != b->kind || a->nitems != b->nitems)
        return a->fields == b->fields;
    return same_names(a, b);
}

static const Type *join_tuples(TypeTable *types, JoinRule rule, const Type *a, const Type *b) {
    if (a->nitems != b->nitems || a->nitems == 0) return NULL;
    bool same_class = a->cls == b->cls && (a->fields != NULL) == (b->fields != NULL);
    const Type *items[a->nitems];
    for (int32_t i = 0; i < a->nitems; i++)
        if (!(items[i] = ti_join(types, rule, a->items[i], b->items[i]))) return NULL;
    if (a->kind == TY_CLOSURE && a->fields) return NULL; /* two of partial() */
    if (a->kind == TY_CLOSURE)
        return type_closure(types, a->binding, a->cls, items, a->nitems, a->bits | b->bits);
    if (type_is_value(a) != type_is_value(b) || (type_is_value(a) && !same_class)) return NULL;
    if ((type_is_keyed(a) || type_is_keyed(b)) && !same_keys(a, b)) return NULL;
    if (a->fields && same_class) return type_tuple_like(types, a, items);
    return type_tuple(types, items, a->nitems);
}

/* The weaker promise of both: layout A, read-only, unaligned. Memory in two address spaces has no
 * common pointer type that every target could use. */
static const Type *join_arrays(TypeTable *types, const Type *a, const Type *b) {
    if (a->element != b->element || a->ndim != b->ndim || a->space != b->space) return NULL;
    Layout layout = a->layout == b->layout ? (Layout)a->layout : LAYOUT_A;
    const Type *t = type_array_like(types, a, a->ndim, layout);
    t = type_array_readonly(types, t, a->readonly || b->readonly);
    t = type_array_aligned(types, t, a->aligned && b->aligned);
    return type_array_space(types, t, (Space)a->space);
}

bool type_is_text(const Type *type) {
    if (type->kind == TY_CLASS) return type->bits == CLS_str;
    const Binding *b = type->kind == TY_OBJECT ? type->binding : NULL;
    return b && b->kind == BIND_CONST && b->value && b->value->kind == CONST_STR;
}

static bool holds_constant_text(const Type *type) {
    if (type->kind == TY_OPTIONAL) return holds_constant_text(type->element);
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (holds_constant_text(type->items[i])) return true;
    return type->kind == TY_OBJECT && type_is_text(type);
}

const Type *ti_stored(TypeTable *types, const Type *type) {
    if (!holds_constant_text(type)) return type;
    if (type->kind == TY_OBJECT) return type_class_of(types, CLS_str, NULL);
    if (type->kind == TY_OPTIONAL) return type_optional(types, ti_stored(types, type->element));
    const Type **items = arena_array(type_table_arena(types), const Type *, type->nitems);
    for (int32_t i = 0; i < type->nitems; i++)
        items[i] = ti_stored(types, type->items[i]);
    return type_tuple_like(types, type, items);
}

static const Type *join_optional(TypeTable *types, JoinRule rule, const Type *a, const Type *b) {
    if (a->kind == TY_OPTIONAL) a = a->element;
    if (b->kind == TY_OPTIONAL) b = b->element;
    a = ti_kept_function(types, ti_stored(types, a));
    b = ti_kept_function(types, ti_stored(types, b));
    if (a->kind == TY_none) return b->kind == TY_none ? b : type_optional(types, b);
    if (b->kind == TY_none) return type_optional(types, a);
    const Type *both = ti_join(types, rule, a, b);
    return both ? type_optional(types, both) : NULL;
}

/* Lists of Python's numbers and of NumPy's are the same objects: what meets is one of NumPy's. Nothing else that objects hold
 * becomes anything else. */
static const Type *join_held(TypeTable *types, const Type *a, const Type *b) {
    bool cls = a->kind == TY_CLASS, tuple = a->kind == TY_TUPLE && same_fields(a, b);
    if (a == b) return a;
    if (type_is_assumed(a) || type_is_assumed(b)) return type_is_assumed(a) ? b : a;
    if (a->kind < TY_SCALARS && b->kind < TY_SCALARS)
        return type_strong_kind(a->kind) != type_strong_kind(b->kind) ? NULL
               : a->kind == type_strong_kind(a->kind)                 ? a
                                                                      : b;
    if (a->kind != b->kind || (!cls && !tuple) || a->cls != b->cls) return NULL;
    if (cls && (a->bits != b->bits || a->nparams != b->nparams || a->nparams > 2 || a->shared ||
                b->shared || a->variant || b->variant || a->open || b->open ||
                type_is_instance(a) || type_is_exception(a)))
        return NULL;
    if (tuple && (a->nitems != b->nitems || a->bits != b->bits)) return NULL;
    int32_t n = cls ? a->nparams : a->nitems;
    const Type **held = arena_array(type_table_arena(types), const Type *, n);
    for (int32_t k = 0; k < n; k++)
        if (!(held[k] = join_held(types, cls ? a->params[k] : a->items[k],
                                  cls ? b->params[k] : b->items[k])))
            return NULL;
    return cls ? type_class_of(types, (ClassId)a->bits, held) : type_tuple_like(types, a, held);
}

/* A member that is an int counts as one where it meets something else. */
static const Type *plain_number(TypeTable *types, JoinRule rule, const Type *t) {
    if (t->kind != TY_MEMBER || !t->binding->enumeration->ints) return t;
    return type_scalar(types, rule == JOIN_NUMBA ? TY_i64 : TY_wint);
}

/* One that has taken variables along which are assigned again later is not kept (v_refuse_fresh). */
static bool is_function(const Type *t) {
    if (t->kind == TY_CLOSURE) return !type_is_fresh(t);
    BindKind kind = t->kind == TY_OBJECT && t->binding ? t->binding->kind : BIND_MISSING;
    return kind == BIND_FUNCTION || kind == BIND_LIBRARY || kind == BIND_FOREIGN ||
           kind == BIND_EXCEPTION || (kind == BIND_OVERLOADED && t->binding->handle);
}

/* The same function with other values is no further one, if there is a type for the values of both. */
static int32_t add_choice(TypeTable *types, JoinRule rule, const Type **all, int32_t n,
                          const Type *t) {
    int32_t at = 0;
    for (int32_t k = 0; t->kind == TY_CLOSURE && k < n; k++) {
        bool same = all[k]->kind == TY_CLOSURE && all[k]->binding == t->binding && all[k] != t;
        const Type *both = same ? join_tuples(types, rule, all[k], t) : NULL;
        if (!both) continue;
        memmove(&all[k], &all[k + 1], sizeof *all * (size_t)(--n - k));
        t = both, k = -1;
    }
    while (at < n && all[at]->id < t->id)
        at++;
    if (at < n && all[at] == t) return n;
    memmove(&all[at + 1], &all[at], sizeof *all * (size_t)(n - at));
    all[at] = t;
    return n + 1;
}

/* Functions that meet: one of them. NULL: something else is among them. */
static const Type *join_functions(TypeTable *types, JoinRule rule, const Type *a, const Type *b) {
    const Type *all[2 * MOST_CHOICES + 1];
    int32_t n = 0;
    for (int side = 0; side < 2; side++) {
        const Type *t = side ? b : a;
        int32_t m = t->kind == TY_CHOICE ? t->nitems : 1;
        if (t->kind != TY_CHOICE && !is_function(t)) return NULL;
        for (int32_t k = 0; k < m; k++)
            n = add_choice(types, rule, all, n, t->kind == TY_CHOICE ? t->items[k] : t);
    }
    if (n == 1 && a->kind != TY_CHOICE && b->kind != TY_CHOICE) return all[0];
    return n <= MOST_CHOICES ? type_choice(types, all, n) : NULL;
}

const Type *ti_kept_function(TypeTable *types, const Type *type) {
    return is_function(type) ? type_choice(types, &type, 1) : type;
}

const Type *ti_join(TypeTable *types, JoinRule rule, const Type *a, const Type *b) {
    if (a == b || b->kind == TY_UNKNOWN) return a;
    if (a->kind == TY_UNKNOWN) return b;
    if (type_is_assumed(a)) return b; /* there is no value of it */
    if (type_is_assumed(b)) return a;
    if (a->kind == TY_CAUGHT || b->kind == TY_CAUGHT) return NULL;
    if (type_is_text(a) && type_is_text(b)) /* kernels have constants only */
        return rule == JOIN_KERNEL ? NULL : type_class_of(types, CLS_str, NULL);
    bool absent = a->kind == TY_none || b->kind == TY_none || a->kind == TY_OPTIONAL ||
                  b->kind == TY_OPTIONAL;
    if (!absent) a = plain_number(types, rule, a), b = plain_number(types, rule, b);
    if (a == b) return a;
    const struct Order *x = order_of(a), *y = order_of(b);
    if (x && y) return join_scalars(types, rule, x, y);
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL || a->kind == TY_none ||
        b->kind == TY_none)
        return join_optional(types, rule, a, b);
    const Type *functions = join_functions(types, rule, a, b);
    if (functions) return functions;
    a = type_raised_class(types, a, b);
    b = type_raised_class(types, b, a);
    if (a->kind != b->kind) return NULL;
    if (type_is_exception(a) && type_is_exception(b)) return type_exceptions_joined(types, a, b);
    switch (a->kind) {
    case TY_CELL: { /* one variable, of which more is known by now */
        const Type *both = a->cls == b->cls ? ti_join(types, rule, a->element, b->element) : NULL;
        return both ? type_cell(types, both, a->cls) : NULL;
    }
    case TY_CLOSURE: return a->binding == b->binding ? join_tuples(types, rule, a, b) : NULL;
    case TY_TUPLE: return join_tuples(types, rule, a, b);
    case TY_ARRAY: return join_arrays(types, a, b);
    case TY_CLASS: return a->nparams ? join_held(types, a, b) : NULL;
    case TY_RANGE: {
        const Type *element = ti_join(types, rule, a->element, b->element);
        return element ? type_range(types, element) : NULL;
    }
    default: return NULL;
    }
}

/* -- numbers that meet ------------------------------------------------------------------------- */

static bool is_int_or_bool(const Type *type) {
    return type_is_int(type) || type->kind == TY_bool;
}

/* The strong numbers among what met: unsigned ones of some width beside a Python int, or what is not one. */
static bool unsigned_apart(const Meet *m) {
    return type_class(m->type) == CLASS_UINT || (m->python & MET_UNSIGNED) ||
           m->type->kind == TY_bool;
}

static bool has_python_int(const Meet *m) {
    return m->type->kind == TY_wint || m->python;
}

bool ti_meet(TypeTable *types, JoinRule rule, Meet a, Meet b, Meet *out) {
    *out = (Meet){ti_join(types, rule, a.type, b.type), 0};
    if (!out->type || rule == JOIN_NUMBA) return out->type != NULL;
    if (!is_int_or_bool(a.type) || !is_int_or_bool(b.type)) return true;
    if (type_is_assumed(a.type) || type_is_assumed(b.type)) return true;
    if (!has_python_int(&a) && !has_python_int(&b)) return true;
    uint8_t negative = (a.python | b.python) & MET_NEGATIVE;
    bool weak_a = a.type->kind == TY_wint, weak_b = b.type->kind == TY_wint;
    if (out->type->kind == TY_wint) {
        out->python = negative;
    } else if ((weak_a || unsigned_apart(&a)) && (weak_b || unsigned_apart(&b))) {
        bool longest = a.type->kind == TY_u64 || b.type->kind == TY_u64;
        out->type = type_scalar(types, longest ? TY_u64 : TY_i64);
        out->python = negative | (longest ? 0 : MET_UNSIGNED);
    }
    return out->type->kind != TY_u64 || !negative;
}

/* -- arithmetic -------------------------------------------------------------------------------- */

/* Operators on numbers as Numba types them: ints are int64, unsigned ones among themselves uint64; uint16 is not one of
 * the ints that leave float32 as it is. */
static const Type *promote_numba(TypeTable *types, const Type *a, const Type *b) {
    if (a->kind == TY_bool && b->kind == TY_bool) return a;
    if (is_int_or_bool(a) && is_int_or_bool(b)) {
        bool both = type_class(a) == CLASS_UINT && type_class(b) == CLASS_UINT;
        return type_scalar(types, both ? TY_u64 : TY_i64);
    }
    if (a->kind == TY_u16) a = type_scalar(types, TY_u32);
    if (b->kind == TY_u16) b = type_scalar(types, TY_u32);
    return lowest(types, order_of(a)->any & order_of(b)->any);
}

/* Numba's loops for ints and floats among the operands are those of the floats: float32 arrays and an int64 make float32. */
static const Type *float_beside_int(const Type *a, const Type *b) {
    if (type_is_int(b) && (type_is_float(a) || type_is_complex(a))) return a;
    if (type_is_int(a) && (type_is_float(b) || type_is_complex(b))) return b;
    return NULL;
}

const Type *ti_promote(TypeTable *types, Arithmetic rule, const Type *a, const Type *b) {
    const struct Order *x = order_of(a), *y = order_of(b);
    if (!x || !y) return NULL;
    if (rule == ARITH_NUMBA) return promote_numba(types, a, b);
    if (rule == ARITH_NUMBA_UFUNC) {
        const Type *t = float_beside_int(a, b);
        if (t && type_bits(t) >= 32) return t; /* float16 has no loops there */
    }
    if (rule == ARITH_UFUNC && a->kind == TY_wint && type_is_int(b)) return b;
    if (rule == ARITH_UFUNC && b->kind == TY_wint && type_is_int(a)) return a;
    bool weak = type_is_weak(a) || type_is_weak(b);
    const Type *t = lowest(types, weak ? x->weak & y->weak : x->any & y->any);
    if (!t || rule != ARITH_WIDE) return t;
    switch (type_class(t)) {
    case CLASS_BOOL: return type_scalar(types, TY_wint);
    case CLASS_SINT:
    case CLASS_UINT: return type_is_weak(t) || type_bits(t) == 64 ? t : type_scalar(types, TY_i64);
    default: return t;
    }
}

/* -- conversions ------------------------------------------------------------------------------- */

/* The place of a strong form in the order: weak numbers are stored as 64 bits. */
static Conversion convert_scalar(const Type *from, const Type *to) {
    const struct Order *x = order_of(from), *y = order_of(to);
    if (!x || !y) return CONV_NONE;
    if (type_is_weak(to)) {
        bool below = (x->up >> to->kind & 1) && (type_is_weak(from) || from->kind == TY_bool);
        return below ? CONV_PROMOTE : CONV_NONE;
    }
    if (type_is_complex(from) && !type_is_complex(to)) return CONV_NONE;
    if (type_is_weak(from)) {
        TypeKind stored = type_strong_kind(from->kind);
        if (stored == to->kind) return CONV_PROMOTE;
        for (int i = 0; i < countof(order); i++)
            if (order[i].kind == stored) x = &order[i];
    }
    if (!(x->any >> to->kind & 1)) return CONV_UNSAFE;
    return type_class(from) == type_class(to) ? CONV_PROMOTE : CONV_SAFE;
}

static Conversion convert_array(const Type *from, const Type *to) {
    if (from->element != to->element || from->ndim != to->ndim || from->space != to->space)
        return CONV_NONE;
    if (from->readonly && !to->readonly) return CONV_NONE;
    if (!from->aligned && to->aligned) return CONV_NONE;
    if (from->layout == to->layout) return CONV_PROMOTE;
    return to->layout == LAYOUT_A ? CONV_SAFE : CONV_NONE;
}

Conversion ti_conversion(const Type *from, const Type *to) {
    static const Type python_int = {.kind = TY_wint};
    if (from == to) return CONV_EXACT;
    if (from->kind == TY_MEMBER && from->binding->enumeration->ints && to->kind < TY_SCALARS)
        from = &python_int;
    if (to->kind < TY_SCALARS && from->kind < TY_SCALARS) return convert_scalar(from, to);
    if (to->kind == TY_OPTIONAL) {
        if (from->kind == TY_none) return CONV_SAFE;
        Conversion inner =
            ti_conversion(from->kind == TY_OPTIONAL ? from->element : from, to->element);
        return QN_MAX(inner, CONV_SAFE);
    }
    if (from->kind != to->kind) return CONV_NONE;
    if (to->kind == TY_ARRAY) return convert_array(from, to);
    if (to->kind != TY_TUPLE || from->nitems != to->nitems) return CONV_NONE;
    if (to->cls && from->cls != to->cls) return CONV_NONE;
    Conversion worst = CONV_PROMOTE;
    for (int32_t i = 0; i < to->nitems; i++)
        worst = QN_MAX(worst, ti_conversion(from->items[i], to->items[i]));
    return worst;
}

/* -- candidates ---------------------------------------------------------------------------------- */

bool ti_loses_kind(const Type *from, const Type *to) {
    TypeClass a = type_class(from), b = type_class(to);
    if (b == CLASS_BOOL) return a != CLASS_BOOL && a != CLASS_NONE;
    return a == CLASS_FLT && (b == CLASS_SINT || b == CLASS_UINT);
}

bool ti_fit_add(Fit *fit, Conversion conversion) {
    fit->promote += conversion == CONV_PROMOTE;
    fit->safe += conversion == CONV_SAFE;
    fit->unsafe += conversion == CONV_UNSAFE;
    return conversion != CONV_NONE;
}

bool ti_fit_better(const Fit *a, const Fit *b) {
    if (a->lossy != b->lossy) return a->lossy < b->lossy;
    if (a->unsafe != b->unsafe) return a->unsafe < b->unsafe;
    if (a->safe != b->safe) return a->safe < b->safe;
    if (a->promote != b->promote) return a->promote < b->promote;
    return a->declared < b->declared;
}
