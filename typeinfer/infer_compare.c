/* infer_compare.c - identity, comparisons and membership. They have no rows, because they do not convert: numbers of
 * different types are compared exactly, tuples item by item. */
#include "typeinfer/infer.h"

/* -- identity ---------------------------------------------------------------------------------------- */

static bool negate(Infer *in, bool is_not, Val *out) {
    if (!is_not) return true;
    if (out->f.value) return out->f = fact_bool(in, !out->f.value->i), true;
    if (in->emit) out->ref = emit1(in->emit, OP_not, bool_type(in->types), out->ref);
    return true;
}

static bool compare_numbers(Infer *in, Operator op, Val a, Val b, Val *out);
static bool equal_items(Infer *in, Val a, Val b, bool identity, Val *out);

/* Members of one enumeration are their numbers; nothing else is one. */
static bool same_member(Infer *in, bool is_not, Val a, Val b, Val *out) {
    const ConstVal *x = a.f.value, *y = b.f.value;
    bool same = a.f.type == b.f.type;
    if (!same || (x && y)) {
        *out = val_of(fact_bool(in, same && x->i == y->i));
        return negate(in, is_not, out);
    }
    *out = val_of(fact_of(bool_type(in->types)));
    if (in->emit)
        out->ref = emit2(in->emit, OP_eq, bool_type(in->types), v_ref(in, a), v_ref(in, b));
    return negate(in, is_not, out);
}

/* Objects of the compiler: a class of Python has as many names as there are ways to it. */
static bool same_object(const Type *s, const Type *t) {
    if (s->kind != TY_OBJECT || t->kind != TY_OBJECT) return false;
    const Binding *x = s->binding, *y = t->binding;
    bool names = x->kind == BIND_LIBRARY && y->kind == BIND_LIBRARY;
    return s == t || (names && str_equal(x->name, y->name));
}

/* Values have no identity: two are one where they have one type and the same contents. A float is no int, and a nan is itself. */
static bool same_numbers(Infer *in, Val a, Val b, Val *out) {
    const Type *s = a.f.type, *t = b.f.type, *truth = bool_type(in->types);
    bool floats = type_class(s) >= CLASS_FLT;
    if (floats != (type_class(t) >= CLASS_FLT) || type_is_complex(s) != type_is_complex(t))
        return *out = val_of(fact_bool(in, false)), true;
    if (!compare_numbers(in, OPR_eq, a, b, out) || !floats || (out->f.value && out->f.value->i))
        return !in->stop;
    Val x = {0}, y = {0};
    if (!compare_numbers(in, OPR_ne, a, a, &x) || !compare_numbers(in, OPR_ne, b, b, &y))
        return false;
    Val equal = *out;
    *out = val_of(fact_of(truth));
    if (!in->emit) return true;
    Ref both = emit2(in->emit, OP_and, truth, v_as(in, x, truth), v_as(in, y, truth));
    out->ref = emit2(in->emit, OP_or, truth, v_as(in, equal, truth), both);
    return true;
}

/* Tuples and frozen dataclasses of one class, item by item; text, byte by byte. */
static bool same_values(Infer *in, Val a, Val b, bool *handled, Val *out) {
    const Type *s = a.f.type, *t = b.f.type;
    *handled = true;
    if (type_is_text(s) && type_is_text(t)) return v_binary(in, OPR_eq, false, a, b, out);
    *handled = s->kind == TY_TUPLE && t->kind == TY_TUPLE && s->bits == t->bits &&
               s->cls == t->cls && s->nitems == t->nitems;
    return !*handled || equal_items(in, a, b, true, out);
}

static bool compare_dtypes(const Fact *a, const Fact *b, bool equal, Infer *in, Val *out);
static bool compare_optionals(Infer *in, Val a, Val b, bool plain, bool identity, Val *out);

bool v_is(Infer *in, bool is_not, Val a, Val b, Val *out) {
    Emit *e = in->emit;
    bool classes;
    if (!v_compare_caught_class(in, is_not, a, b, &classes, out) || classes) return !in->stop;
    bool none_a = fact_none(&a.f), none_b = fact_none(&b.f);
    const Type *s = a.f.type, *t = b.f.type;
    *out = val_of(fact_of(bool_type(in->types)));
    if (fact_ellipsis(&a.f) || fact_ellipsis(&b.f)) { /* there is one Ellipsis, by whatever name */
        out->f = fact_bool(in, fact_ellipsis(&a.f) && fact_ellipsis(&b.f));
        return negate(in, is_not, out);
    }
    if (none_a || none_b) {
        const Val *other = none_a ? &b : &a;
        if (!is_kind(other, TY_OPTIONAL)) {
            out->f = fact_bool(in, none_a && none_b);
            return negate(in, is_not, out);
        }
        if (e)
            out->ref = emit1(e, OP_not, bool_type(in->types), emit_item(e, v_ref(in, *other), 0));
        return negate(in, is_not, out);
    }
    if (s->kind == TY_OPTIONAL || t->kind == TY_OPTIONAL)
        return compare_optionals(in, a, b, false, true, out) && negate(in, is_not, out);
    if (s->kind == TY_MEMBER || t->kind == TY_MEMBER) return same_member(in, is_not, a, b, out);
    if (type_is_exception(s) && type_is_exception(t))
        return v_same_exception(in, a, b, out) && negate(in, is_not, out);
    if (s->kind == TY_ARRAY && t->kind == TY_ARRAY && s->element == t->element &&
        s->ndim == t->ndim) {
        if (e) out->ref = emit2(e, OP_same_array, bool_type(in->types), v_ref(in, a), v_ref(in, b));
        return negate(in, is_not, out);
    }
    if (s->kind == TY_CLASS && t->kind == TY_CLASS && can_convert(s, t)) {
        if (e) out->ref = emit2(e, OP_same_array, bool_type(in->types), v_ref(in, a), v_ref(in, b));
        return negate(in, is_not, out);
    }
    if (v_is_choice(in, a, b, out)) return negate(in, is_not, out);
    if (v_callable(&a) && v_callable(&b) && s->kind != TY_OBJECT && t->kind != TY_OBJECT)
        return v_refuse(in, REFUSE_BINARY, "compare", (Val[]){a, b}, 2);
    if (type_is_scalar(s) && type_is_scalar(t) && (s->kind == TY_bool) == (t->kind == TY_bool))
        return same_numbers(in, a, b, out) && negate(in, is_not, out);
    bool handled, done = same_values(in, a, b, &handled, out);
    if (!done || handled) return done && negate(in, is_not, out);
    if (compare_dtypes(&a.f, &b.f, !is_not, in, out)) return true; /* type(x) is float */
    out->f = fact_bool(in, same_object(s, t));
    return negate(in, is_not, out);
}

/* -- comparisons ---------------------------------------------------------------------------------- */

/* A weak number meets a strong float: it is compared as that float (float32(0.1) == 0.1). Ints of
 * different types are compared exactly, whatever their signs. */
static const Type *compared_as(Infer *in, const Type *self, const Type *other) {
    if (type_is_weak(self) && !type_is_weak(other) && type_class(other) >= CLASS_FLT &&
        type_class(other) >= type_class(self))
        return other;
    return type_strong(in->types, self);
}

static bool compare_numbers(Infer *in, Operator op, Val a, Val b, Val *out) {
    static const uint16_t ops[OPR_COUNT] = {[OPR_eq] = OP_eq, [OPR_ne] = OP_ne, [OPR_lt] = OP_lt,
                                            [OPR_le] = OP_le, [OPR_gt] = OP_lt, [OPR_ge] = OP_le};
    bool result, swap = op == OPR_gt || op == OPR_ge;
    bool ordered = op != OPR_eq && op != OPR_ne;
    if (ordered && (type_is_complex(a.f.type) || type_is_complex(b.f.type))) {
        return v_refuse(in, REFUSE_ORDER, operator_verbs[op], (Val[]){a, b}, 2);
    }
    if (fold_compare(op, &a.f, &b.f, &result)) return *out = val_of(fact_bool(in, result)), true;
    *out = val_of(fact_of(bool_type(in->types)));
    if (!in->emit) return true;
    Ref x = v_as(in, a, compared_as(in, a.f.type, b.f.type));
    Ref y = v_as(in, b, compared_as(in, b.f.type, a.f.type));
    out->ref = emit2(in->emit, (Op)ops[op], bool_type(in->types), swap ? y : x, swap ? x : y);
    return true;
}

static bool equal_items(Infer *in, Val a, Val b, bool identity, Val *out) {
    Val all = val_of(fact_bool(in, true));
    for (int32_t i = 0; i < a.f.type->nitems; i++) {
        Val one = {0}, x = v_item(in, a, i), y = v_item(in, b, i);
        if (!(identity ? v_is(in, false, x, y, &one) : v_binary(in, OPR_eq, false, x, y, &one)))
            return false;
        if (!v_truth(in, one, &one)) return false;
        bool known = one.f.value != NULL;
        if (known && !one.f.value->i) return *out = one, true;
        if (known) continue;
        if (all.f.value)
            all = one;
        else if (in->emit)
            all.ref = emit2(in->emit, OP_and, bool_type(in->types), all.ref, one.ref);
    }
    return *out = all, true;
}

bool v_equal_tuples(Infer *in, Operator op, Val a, Val b, Val *out) {
    if (a.f.type->nitems != b.f.type->nitems)
        return *out = val_of(fact_bool(in, op == OPR_ne)), true;
    return equal_items(in, a, b, false, out) && negate(in, op == OPR_ne, out);
}

/* Is it there? `content`: what it is then, which nobody may use otherwise. A known presence has no instruction: 0. */
static Ref presence(Infer *in, Val a, Val *content) {
    *content = a;
    if (!is_kind(&a, TY_OPTIONAL)) return 0;
    *content = (Val){.f = fact_of(a.f.type->element), .src = a.src};
    if (!in->emit) return 0;
    Ref whole = v_ref(in, a);
    content->ref = emit_item(in->emit, whole, 1);
    return emit_item(in->emit, whole, 0);
}

static bool same_contents(Infer *in, Val x, Val y, bool identity, Ref *out) {
    Val same = {0};
    bool done = identity ? v_is(in, false, x, y, &same) : v_binary(in, OPR_eq, false, x, y, &same);
    if (!done || !v_truth(in, same, &same)) return false;
    if (in->emit) *out = v_as(in, same, bool_type(in->types));
    return true;
}

/* None is equal to None alone: both are there and equal, or neither is. */
static bool compare_optionals(Infer *in, Val a, Val b, bool plain, bool identity, Val *out) {
    Emit *e = in->emit;
    const Type *t = bool_type(in->types);
    Val x = {0}, y = {0};
    Ref here = presence(in, a, &x), there = presence(in, b, &y), same;
    *out = val_of(fact_of(t));
    if (!e) return same_contents(in, x, y, identity, &same);
    Ref neither = emit_int(e, t, 0), both = here ? here : there;
    if (here && there) {
        neither = emit1(e, OP_not, t, emit2(e, OP_or, t, here, there));
        both = emit2(e, OP_and, t, here, there);
    }
    if (plain) {
        if (!same_contents(in, x, y, identity, &same)) return false;
        return out->ref = emit2(e, OP_or, t, neither, emit2(e, OP_and, t, both, same)), true;
    }
    int32_t compared = emit_block(e), absent = emit_block(e), joined = emit_block(e);
    emit_branch(e, both, compared, absent);
    e->block = compared;
    if (!same_contents(in, x, y, identity, &same)) return false;
    emit_jump(e, joined);
    e->block = absent;
    emit_jump(e, joined);
    e->block = joined;
    return out->ref = emit(e, OP_phi, t, (Ref[]){same, neither}, 2), true;
}

bool v_equal_optionals(Infer *in, Operator op, Val a, Val b, bool plain, Val *out) {
    return compare_optionals(in, a, b, plain, false, out) && negate(in, op == OPR_ne, out);
}

/* Lexicographic order: from the last item to the first, r = a < b or (a == b and r). */
bool v_order_tuples(Infer *in, Operator op, Val a, Val b, Val *out) {
    Emit *e = in->emit;
    int32_t n = QN_MIN(a.f.type->nitems, b.f.type->nitems);
    int32_t extra = a.f.type->nitems - b.f.type->nitems;
    bool strict = op == OPR_lt || op == OPR_gt, less = op == OPR_lt || op == OPR_le;
    bool at_end = extra ? (less ? extra < 0 : extra > 0) : !strict;
    const Type *t = bool_type(in->types);
    *out = val_of(n ? fact_of(t) : fact_bool(in, at_end));
    Ref result = e ? emit_int(e, t, at_end) : 0;
    for (int32_t i = n; i-- > 0;) {
        Val x = v_item(in, a, i), y = v_item(in, b, i), before = {0}, same = {0};
        if (!v_binary(in, less ? OPR_lt : OPR_gt, false, x, y, &before) ||
            !v_binary(in, OPR_eq, false, x, y, &same))
            return false;
        if (!e) continue;
        Ref rest = emit2(e, OP_and, t, v_as(in, same, t), result);
        result = emit2(e, OP_or, t, v_as(in, before, t), rest);
    }
    out->ref = n ? result : 0;
    return true;
}

/* a.dtype == np.float64: the dtype made here meets what NumPy would convert to a dtype. */
static bool compare_dtypes(const Fact *a, const Fact *b, bool equal, Infer *in, Val *out) {
    const Binding *x = fact_object(a), *y = fact_object(b);
    bool dtype =
        (x && x->kind == BIND_TYPE && !x->handle) || (y && y->kind == BIND_TYPE && !y->handle);
    const Type *s, *t;
    if (!dtype || !fact_dtype(in, a, &s) || !fact_dtype(in, b, &t)) return false;
    return *out = val_of(fact_bool(in, (s == t) == equal)), true;
}

/* A member of an enumeration that is no number: equal to itself only. */
static bool is_symbol(const Val *v) {
    return is_kind(v, TY_MEMBER) && !v->f.type->binding->enumeration->ints;
}

bool v_compare(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out) {
    const Type *s = a.f.type, *t = b.f.type;
    bool result;
    *handled = true;
    if (op == OPR_eq || op == OPR_ne) {
        bool done = v_compare_caught_class(in, op == OPR_ne, a, b, &result, out);
        if (!done || result) return done;
        bool exceptions = type_is_exception(s) && type_is_exception(t);
        if (exceptions || fact_none(&a.f) || fact_none(&b.f) || fact_ellipsis(&a.f) ||
            fact_ellipsis(&b.f))
            return v_is(in, op == OPR_ne, a, b, out);
        if (is_kind(&a, TY_OPTIONAL) && is_symbol(&b)) a = v_present(in, a);
        if (is_kind(&b, TY_OPTIONAL) && is_symbol(&a)) b = v_present(in, b);
        if (is_symbol(&a) || is_symbol(&b)) return same_member(in, op == OPR_ne, a, b, out);
        if (fold_compare(op, &a.f, &b.f, &result))
            return *out = val_of(fact_bool(in, result)), true;
        if (compare_dtypes(&a.f, &b.f, op == OPR_eq, in, out)) return true;
        if (s->kind == TY_OBJECT && t->kind == TY_OBJECT)
            return *out = val_of(fact_bool(in, same_object(s, t) == (op == OPR_eq))), true;
    }
    a = v_unwrap(in, a);
    b = v_unwrap(in, b);
    bool functions = is_kind(&a, TY_CHOICE) || is_kind(&b, TY_CHOICE);
    if (functions && (op == OPR_eq || op == OPR_ne)) return v_is(in, op == OPR_ne, a, b, out);
    if (v_equal_records(in, op, a, b, handled, out) || *handled) return !in->stop;
    *handled = true;
    if (type_is_number(a.f.type) && type_is_number(b.f.type))
        return compare_numbers(in, op, a, b, out);
    return *handled = false;
}

/* -- membership ------------------------------------------------------------------------------------- */

static bool in_tuple(Infer *in, Val item, Val tuple, Val *out) {
    Val any = val_of(fact_bool(in, false));
    for (int32_t i = 0; i < tuple.f.type->nitems; i++) {
        Val one = {0};
        if (!v_binary(in, OPR_eq, false, item, v_item(in, tuple, i), &one)) return false;
        if (!v_truth(in, one, &one)) return false;
        if (one.f.value && one.f.value->i) return *out = one, true;
        if (one.f.value) continue;
        if (any.f.value)
            any = one;
        else if (in->emit)
            any.ref = emit2(in->emit, OP_or, bool_type(in->types), any.ref, one.ref);
    }
    return *out = any, true;
}

/* Between the ends, in the direction of the step, and a multiple of it from the start. */
static Ref emit_in_range(Emit *e, Ref range, Ref x) {
    const Type *b = bool_type(e->types), *i64 = i64_type(e->types);
    const Type *u64 = type_scalar(e->types, TY_u64);
    Ref start = emit_item(e, range, 0), stop = emit_item(e, range, 1),
        step = emit_item(e, range, 2);
    Ref up = emit2(e, OP_lt, b, emit_int(e, i64, 0), step);
    Ref rising = emit2(e, OP_and, b, emit2(e, OP_le, b, start, x), emit2(e, OP_lt, b, x, stop));
    Ref falling = emit2(e, OP_and, b, emit2(e, OP_lt, b, stop, x), emit2(e, OP_le, b, x, start));
    Ref low = emit3(e, OP_select, i64, up, start, x), high = emit3(e, OP_select, i64, up, x, start);
    Ref size = emit3(e, OP_select, i64, up, step, emit1(e, OP_neg, i64, step));
    Ref way =
        emit2(e, OP_sub, u64, emit_convert(e, high, i64, u64), emit_convert(e, low, i64, u64));
    Ref rest = emit2(e, OP_mod, u64, way, emit_convert(e, size, i64, u64));
    Ref hit = emit2(e, OP_eq, b, rest, emit_int(e, u64, 0));
    return emit2(e, OP_and, b, emit3(e, OP_select, b, up, rising, falling), hit);
}

static bool in_range(Infer *in, Val item, Val range, Val *out) {
    *out = val_of(fact_of(bool_type(in->types)));
    if (!in->emit) return true;
    const Type *i64 = i64_type(in->types);
    out->ref = emit_in_range(in->emit, v_ref(in, range), v_as(in, item, i64));
    return true;
}

static bool contains_present(Infer *in, Val item, Val container, Val *out) {
    const Type *t = container.f.type;
    if (t->kind == TY_RANGE && t->element->kind != TY_u64 && type_is_int(item.f.type) &&
        item.f.type->kind != TY_u64)
        return in_range(in, item, container, out);
    Val args[2] = {container, item};
    bool found;
    CallArgs call = {args, 2, 0, NULL};
    if (t->kind == TY_ARRAY || (t->kind == TY_RANGE && t->element->kind != TY_u64))
        return v_library_function(in, STR("operator.contains"), &call, &found, out);
    if (t->kind == TY_ITER)
        return v_library_function(in, STR("operator.given"), &call, &found, out);
    if (t->kind == TY_CLASS && v_method(in, "__contains__", args, 2, &found, out)) return true;
    if (t->kind == TY_CLASS && found) return false;
    const char *what =
        str_printf(in->arena, "%s in %s", ti_text(in, item.f.type), ti_text(in, t)).bytes;
    return ti_fail(in, in->at, E0206, "look for", what);
}

/* What holds numbers and the like alone does not hold None. */
static bool may_hold_none(const Type *t) {
    if (t->kind != TY_CLASS) return t->kind != TY_ARRAY && t->kind != TY_RANGE;
    if (t->nparams && !type_is_instance(t)) return t->params[0]->kind == TY_OPTIONAL;
    return true;
}

/* An item that may be None, in what does not hold None: it is there, and what it is then is in it. */
static bool contains_optional(Infer *in, Val item, Val container, Val *out) {
    Emit *e = in->emit;
    const Type *t = bool_type(in->types);
    Val content = {0}, inside = {0};
    Ref here = presence(in, item, &content);
    *out = val_of(fact_of(t));
    if (!e) return contains_present(in, v_number(in, content), container, &inside);
    int32_t asked = emit_block(e), absent = emit_block(e), joined = emit_block(e);
    Ref no = emit_int(e, t, 0);
    emit_branch(e, here, asked, absent);
    e->block = asked;
    if (!contains_present(in, v_number(in, content), container, &inside)) return false;
    Ref yes = v_as(in, inside, t);
    emit_jump(e, joined);
    e->block = absent;
    emit_jump(e, joined);
    e->block = joined;
    out->ref = emit(e, OP_phi, t, (Ref[]){yes, no}, 2);
    return true;
}

bool v_contains(Infer *in, bool not_in, Val item, Val container, Val *out) {
    container = v_unwrap(in, container);
    v_as_members(in, &container);
    const Type *t = container.f.type;
    bool optional = is_kind(&item, TY_OPTIONAL), done;
    if (type_is_keyed(t)) return v_contains(in, not_in, item, v_keys(in, t), out);
    if (t->kind == TY_TUPLE && !type_is_value(t)) {
        if (!optional) item = v_scalar(in, item);
        return in_tuple(in, item, container, out) && negate(in, not_in, out);
    }
    if (t->kind == TY_CLASS && t->open) return *out = val_of(fact_of(bool_type(in->types))), true;
    if (t->kind == TY_ITER && t->bits == ITER_KEYS)
        return v_contains(in, not_in, item, v_dict_of_view(container), out);
    if (fact_none(&item.f) && !may_hold_none(t)) {
        *out = val_of(fact_bool(in, false));
        return negate(in, not_in, out);
    }
    if (!optional)
        done = contains_present(in, v_scalar(in, item), container, out);
    else if (may_hold_none(t))
        done = contains_present(in, item, container, out);
    else
        done = contains_optional(in, item, container, out);
    return done && negate(in, not_in, out);
}
