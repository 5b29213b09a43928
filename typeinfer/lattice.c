/* lattice.c - joins, promotion and conversions of types: the arithmetic of DESIGN 4.
 *
 * Everything about scalars follows from promote.def. Each type has two sets of types above it, made
 * by the preprocessor: UP_t for phis and weak numbers, ANY_t for arithmetic of two strong numbers.
 * The common type of a and b is the lowest row in the intersection of their sets. */
#include "typeinfer/typeinfer.h"

enum Above {
#define UP(t)                    UP_##t
#define ORDER(name, above, also) UP_##name = 1 << TY_##name | (above),
#include "typeinfer/promote.def"
#undef ORDER
#undef UP
#define UP(t)                    ANY_##t
#define ORDER(name, above, also) ANY_##name = 1 << TY_##name | (above) | (also),
#include "typeinfer/promote.def"
#undef ORDER
#undef UP
};

static const struct Order {
    uint8_t kind;
    int32_t up, any;
} order[] = {
#define ORDER(name, above, also) {TY_##name, UP_##name, ANY_##name},
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

static const Type *join_tuples(TypeTable *types, const Type *a, const Type *b) {
    if (a->nitems != b->nitems || a->nitems == 0) return NULL;
    bool same_class = a->cls == b->cls && (a->fields != NULL) == (b->fields != NULL);
    const Type *items[a->nitems];
    for (int32_t i = 0; i < a->nitems; i++)
        if (!(items[i] = ti_join(types, a->items[i], b->items[i]))) return NULL;
    if (a->fields && same_class)
        return type_named_tuple(types, items, a->nitems, a->fields, a->cls);
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

static const Type *join_optional(TypeTable *types, const Type *a, const Type *b) {
    if (a->kind == TY_OPTIONAL) a = a->element;
    if (b->kind == TY_OPTIONAL) b = b->element;
    if (a->kind == TY_none) return b->kind == TY_none ? b : type_optional(types, b);
    if (b->kind == TY_none) return type_optional(types, a);
    const Type *both = ti_join(types, a, b);
    return both ? type_optional(types, both) : NULL;
}

const Type *ti_join(TypeTable *types, const Type *a, const Type *b) {
    if (a == b || b->kind == TY_UNKNOWN) return a;
    if (a->kind == TY_UNKNOWN) return b;
    const struct Order *x = order_of(a), *y = order_of(b);
    if (x && y) return lowest(types, x->up & y->up);
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL || a->kind == TY_none ||
        b->kind == TY_none)
        return join_optional(types, a, b);
    if (a->kind != b->kind) return NULL;
    switch (a->kind) {
    case TY_TUPLE: return join_tuples(types, a, b);
    case TY_ARRAY: return join_arrays(types, a, b);
    case TY_RANGE: {
        const Type *element = ti_join(types, a->element, b->element);
        return element ? type_range(types, element) : NULL;
    }
    default: return NULL;
    }
}

/* -- arithmetic -------------------------------------------------------------------------------- */

const Type *ti_promote(TypeTable *types, const Type *a, const Type *b, bool wide) {
    const struct Order *x = order_of(a), *y = order_of(b);
    if (!x || !y) return NULL;
    bool weak = type_is_weak(a) || type_is_weak(b);
    const Type *t = lowest(types, weak ? x->up & y->up : x->any & y->any);
    if (!t || !wide) return t;
    switch (type_class(t)) {
    case CLASS_BOOL: return type_scalar(types, TY_wint);
    case CLASS_SINT: return type_is_weak(t) ? t : type_scalar(types, TY_i64);
    case CLASS_UINT: return type_scalar(types, TY_u64);
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
    if (from == to) return CONV_EXACT;
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
