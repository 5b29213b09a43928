/* infer_array.c - indexing: what an index selects, elements, views, and assignment to either.
 *
 * An index is read into a plan: one item for each axis or new axis, in the letters of OP_view:
 *   i  an int: the axis goes       s  a slice: start, step and length, clamped as Python does
 *   f  the full axis               n  a new axis of length 1
 * All ints and no ellipsis select an element; anything else is a view that shares memory. Arrays as indices are
 * functions of quern/library (indexing.py). */
#include "typeinfer/infer.h"

enum { MAX_ITEMS = 32 };

typedef struct Plan {
    int32_t n;
    char letter[MAX_ITEMS];
    Val part[MAX_ITEMS];
    bool element;
} Plan;

/* -- the plan ---------------------------------------------------------------------------------------- */

static char letter_of(const Val *v) {
    if (fact_none(&v->f)) return 'n';
    if (fact_ellipsis(&v->f)) return '.';
    if (is_kind(v, TY_SLICE)) return v->f.type->bits ? 's' : 'f';
    return type_is_int(v->f.type) ? 'i' : 0;
}

static bool plan_add(Plan *plan, char letter, Val part) {
    if (plan->n == MAX_ITEMS) return false;
    plan->letter[plan->n] = letter;
    plan->part[plan->n++] = part;
    return true;
}

/* An int may be the element of an array without axes; a bool there would be a mask. */
static Val index_part(Infer *in, Val index, int32_t i) {
    Val part = v_number(in, is_kind(&index, TY_TUPLE) ? v_item(in, index, i) : index);
    bool number = is_kind(&part, TY_ARRAY) && type_is_int(part.f.type->element);
    return number ? v_scalar(in, part) : part;
}

/* false: not an index of this kind (an array, a float ...); `*error` when it is reported. */
static bool make_plan(Infer *in, Val array, Val index, Plan *plan, bool *error) {
    int32_t given = is_kind(&index, TY_TUPLE) ? index.f.type->nitems : 1;
    int32_t axes = 0, ndim = array.f.type->ndim;
    bool ellipsis = false, fits = true;
    *error = false;
    *plan = (Plan){.element = true};
    for (int32_t i = 0; i < given; i++) {
        Val part = index_part(in, index, i);
        char letter = letter_of(&part);
        if (!letter) return false;
        axes += letter == 'i' || letter == 's' || letter == 'f';
    }
    if (axes > ndim) {
        *error = true;
        return ti_fail(in, in->at, E0302, ti_text(in, array.f.type), (int)axes);
    }
    for (int32_t i = 0; i < given; i++) {
        Val part = index_part(in, index, i);
        char letter = letter_of(&part);
        plan->element &= letter == 'i';
        if (letter == '.' && !ellipsis)
            for (ellipsis = true; axes < ndim; axes++)
                fits &= plan_add(plan, 'f', (Val){0});
        else if (letter != '.')
            fits &= plan_add(plan, letter, part);
    }
    plan->element &= axes == ndim;
    for (; axes < ndim; axes++)
        fits &= plan_add(plan, 'f', (Val){0});
    if (!fits) *error = true, ti_fail(in, in->at, E0302, ti_text(in, array.f.type), (int)given);
    return fits;
}

/* -- element access ------------------------------------------------------------------------------------ */

static Ref emit_index(Infer *in, Ref array, int32_t axis, Val index) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    Ref i = v_as(in, index, i64);
    bool wrap = type_class(index.f.type) != CLASS_UINT && emitted_bits(e, i) < 0;
    if (!wrap && !in->bounds) return i;
    Ref n = emit_length(e, array, axis);
    if (wrap) i = emit2(e, OP_wrap_index, i64, i, n);
    if (!in->bounds) return i;
    i = emit2(e, OP_check_index, i64, i, n);
    ir_inst(e->out, i)->imm = axis;
    return i;
}

bool v_element_indices(Infer *in, Val array, Val index, Ref *out) {
    Plan plan;
    bool error;
    if (!make_plan(in, array, index, &plan, &error) || !plan.element) {
        return error ? false : v_refuse(in, REFUSE_INDEX, NULL, (Val[]){array, index}, 2);
    }
    if (!in->emit) return true;
    Ref base = v_ref(in, array);
    for (int32_t i = 0; i < plan.n; i++)
        out[i] = emit_index(in, base, i, plan.part[i]);
    return true;
}

/* -- views ----------------------------------------------------------------------------------------------- */

static bool unit_step(const Val *slice) {
    int64_t step;
    if (!(slice->f.type->bits & 4)) return true;
    return slice->f.items && fact_int_value(&slice->f.items[2], &step) && step == 1;
}

/* C order survives ints and one plain slice in front of full axes, F order the mirror image. */
static Layout view_layout(const Plan *plan, const Type *array) {
    if (array->layout == LAYOUT_A) return LAYOUT_A;
    int step = array->layout == LAYOUT_C ? 1 : -1;
    int state = 0; /* 0: ints, 1: after the slice or a full axis */
    for (int32_t k = step > 0 ? 0 : plan->n - 1; k >= 0 && k < plan->n; k += step) {
        char c = plan->letter[k];
        if (c == 'n') continue;
        if (c == 'i' && state != 0) return LAYOUT_A;
        if (c == 's' && (state != 0 || !unit_step(&plan->part[k]))) return LAYOUT_A;
        if (c != 'i') state = 1;
    }
    return (Layout)array->layout;
}

static const Type *view_type(Infer *in, const Plan *plan, const Type *array) {
    int ndim = 0;
    for (int32_t k = 0; k < plan->n; k++)
        ndim += plan->letter[k] != 'i';
    return type_array_like(in->types, array, ndim, view_layout(plan, array));
}

/* One bound of a slice, clamped to [low, high]; n: the length of the axis. */
static Ref emit_bound_of(Emit *e, Ref v, Ref n, Ref low, Ref high) {
    const Type *i64 = i64_type(e->types), *b = bool_type(e->types);
    int64_t known, zero;
    bool is_const = emitted_int(e, v, &known);
    if (!is_const || known < 0) v = emit2(e, OP_wrap_index, i64, v, n);
    bool above = is_const && known >= 0 && emitted_int(e, low, &zero) && zero <= known;
    if (above && known == 0 && zero == 0) return low;
    if (!above) v = emit3(e, OP_select, i64, emit2(e, OP_lt, b, v, low), low, v);
    return emit3(e, OP_select, i64, emit2(e, OP_lt, b, high, v), high, v);
}

static Ref pick(Emit *e, int sign, Ref down, Ref up, Ref if_down) {
    if (sign > 0) return up;
    if (sign < 0) return if_down;
    return emit3(e, OP_select, i64_type(e->types), down, if_down, up);
}

/* Has the slice one element at most, wherever it lies? `k : k + 1`, `:1`, `-1:`. */
static bool is_one_at_most(Emit *e, uint32_t bits, Ref start, Ref stop) {
    int64_t low = 0, high = 0, one;
    bool known_low = !(bits & 1) || emitted_int(e, start, &low);
    bool known_high = bits & 2 ? emitted_int(e, stop, &high) : true;
    if (!(bits & 2)) return known_low && low == -1;
    if (known_low && known_high) return (low < 0) == (high < 0) && high - low == 1;
    const Inst *inst = ir_inst(e->out, stop);
    return bits & 1 && inst->op == OP_add && ir_arg(e->out, stop, 0) == start &&
           emitted_int(e, ir_arg(e->out, stop, 1), &one) && one == 1;
}

/* Python's slice.indices: start, step and length along an axis of length n. */
static void emit_slice(Infer *in, Val slice, Ref n, Ref out[3]) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *b = bool_type(in->types);
    uint32_t bits = slice.f.type->bits;
    Ref zero = emit_int(e, i64, 0), one = emit_int(e, i64, 1), minus = emit_int(e, i64, -1);
    Ref step = bits & 4 ? v_as(in, v_item(in, slice, 2), i64) : one;
    int64_t known;
    int sign = 0;
    if (emitted_int(e, step, &known) && known != 0) sign = known > 0 ? 1 : -1;
    if (sign == 0) emit_guard(e, GUARD_zero_slice_step, emit2(e, OP_eq, b, step, zero), NULL, 0);
    Ref down = sign ? 0 : emit2(e, OP_lt, b, step, zero);
    Ref low = pick(e, sign, down, zero, minus);
    Ref high = sign > 0 ? n : pick(e, sign, down, n, emit2(e, OP_sub, i64, n, one));
    Ref start = pick(e, sign, down, low, high), stop = pick(e, sign, down, high, low);
    Ref given[2] = {bits & 1 ? v_as(in, v_item(in, slice, 0), i64) : NO_REF,
                    bits & 2 ? v_as(in, v_item(in, slice, 1), i64) : NO_REF};
    if (bits & 1) start = emit_bound_of(e, given[0], n, low, high);
    if (bits & 2) stop = emit_bound_of(e, given[1], n, low, high);
    out[0] = start;
    out[1] = step;
    if (emitted_int(e, step, &known) && known == 1 && is_one_at_most(e, bits, given[0], given[1]))
        out[2] = emit3(e, OP_select, i64, emit2(e, OP_lt, b, start, stop), one, zero);
    else
        out[2] = emit_slice_len(e, start, stop, step);
}

static Ref emit_view(Infer *in, Val array, const Plan *plan, const Type *type) {
    Emit *e = in->emit;
    Ref args[1 + 3 * MAX_ITEMS];
    int32_t n = 0, axis = 0;
    Ref base = v_ref(in, array);
    args[n++] = base;
    for (int32_t k = 0; k < plan->n; k++) {
        char c = plan->letter[k];
        if (c == 'i') args[n++] = emit_index(in, base, axis, plan->part[k]);
        if (c == 's') {
            emit_slice(in, plan->part[k], emit_length(e, base, axis), &args[n]);
            n += 3;
        }
        axis += c != 'n';
    }
    Str *letters = arena_new(in->arena, Str);
    *letters = str_copy(in->arena, plan->letter, (size_t)plan->n);
    Ref view = emit(e, OP_view, type, args, n);
    ir_inst(e->out, view)->u.name = letters;
    return view;
}

static bool is_none_const(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_const && inst->u.value->kind == CONST_NONE;
}

/* `a[i:j] += x`: the value is the very view that is assigned to, changed in place. CPython 3.12 and later make the slice
 * twice, with an absent step each. */
static bool same_index(Infer *in, Ref a, Ref b) {
    if (a == b) return true;
    const Inst *x = ir_inst(in->f, a), *y = ir_inst(in->f, b);
    if (x->op != OP_build_slice || y->op != OP_build_slice) return false;
    for (int32_t k = 0; k < 3; k++) {
        Ref p = ir_arg(in->f, a, k), q = ir_arg(in->f, b, k);
        if (p != q && !(is_none_const(in->f, p) && is_none_const(in->f, q))) return false;
    }
    return true;
}

static bool is_in_place(Infer *in, Ref set) {
    if (ir_inst(in->f, set)->op != OP_setitem) return false;
    Ref value = ir_arg(in->f, set, 2);
    const Inst *binary = ir_inst(in->f, value);
    if (binary->op != OP_binary || !binary->imm) return false;
    Ref get = ir_arg(in->f, value, 0);
    return ir_inst(in->f, get)->op == OP_getitem &&
           ir_arg(in->f, get, 0) == ir_arg(in->f, set, 0) &&
           same_index(in, ir_arg(in->f, get, 1), ir_arg(in->f, set, 1));
}

static Val v_view(Infer *in, Val array, const Plan *plan) {
    Val out = val_of(fact_of(view_type(in, plan, array.f.type)));
    if (in->emit) out.ref = emit_view(in, array, plan, out.f.type);
    return out;
}

/* -- arrays as indices -------------------------------------------------------------------------------------- */

static bool is_advanced_index(const Val *v) {
    if (is_kind(v, TY_TUPLE)) {
        for (int32_t i = 0; i < v->f.type->nitems; i++) {
            Val item = val_of(fact_of(v->f.type->items[i]));
            if (item.f.type->kind != TY_bool && !type_is_int(item.f.type) &&
                !(is_kind(&item, TY_TUPLE) && is_advanced_index(&item)))
                return false;
        }
        return true;
    }
    if (!is_kind(v, TY_ARRAY)) return false;
    const Type *element = v->f.type->element;
    return type_is_int(element) || (element->kind == TY_bool && v->f.type->ndim > 0);
}

/* Masks, arrays and sequences of ints: functions of the library. */
static bool index_by_arrays(Infer *in, Str function, const Val *args, int32_t n, Val *out) {
    Val index = args[1];
    bool tuple = is_kind(&index, TY_TUPLE), found, fits = true;
    for (int32_t i = 0; i < (tuple ? index.f.type->nitems : 1); i++) {
        Val part = tuple ? v_item(in, index, i) : index;
        fits &= letter_of(&part) || is_advanced_index(&part);
    }
    CallArgs call = {args, n, 0, NULL};
    if (fits && v_library_function(in, function, &call, &found, out)) return true;
    if (fits && (found || in->stop)) return false;
    return v_refuse(in, REFUSE_INDEX, NULL, args, 2);
}

/* -- getitem ------------------------------------------------------------------------------------------------ */

static bool array_getitem(Infer *in, Val a, Val index, Val *out) {
    Plan plan;
    bool error;
    if (!make_plan(in, a, index, &plan, &error)) {
        Val args[2] = {a, index};
        return !error && index_by_arrays(in, STR("operator.getitem"), args, 2, out);
    }
    bool record = type_is_records(a.f.type);
    if (!plan.element || record) {
        *out = record && plan.n == 0 ? a : v_view(in, a, &plan);
        return !plan.element || !v_is_characters(*out) || v_text_of(in, *out, out);
    }
    *out = val_of(fact_of(a.f.type->element));
    if (!in->emit) return true;
    Ref args[1 + MAX_ITEMS] = {v_ref(in, a)};
    for (int32_t k = 0; k < plan.n; k++)
        args[k + 1] = emit_index(in, args[0], k, plan.part[k]);
    out->ref = emit(in->emit, OP_load, a.f.type->element, args, plan.n + 1);
    return true;
}

static bool range_getitem(Infer *in, Val a, Val index, Val *out) {
    Emit *e = in->emit;
    Val n, wrapped = val_of(fact_of(ti_wint(in)));
    if (!type_is_int(index.f.type)) return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){a, index}, 2);
    if (!v_iter_len(in, a, &n)) return false;
    if (e) {
        const Type *i64 = i64_type(in->types), *b = bool_type(in->types);
        Ref i = v_as(in, index, i64), length = v_as(in, n, i64);
        i = emit2(e, OP_wrap_index, i64, i, length);
        Ref low = emit2(e, OP_lt, b, i, emit_int(e, i64, 0)), high = emit2(e, OP_le, b, length, i);
        bool flat = is_kind(&a, TY_ITER);
        Ref numbers[2] = {v_as(in, index, i64), length};
        emit_guard(e, flat ? GUARD_flat_index : GUARD_range_index, emit2(e, OP_or, b, low, high),
                   numbers, flat ? 2 : 0);
        wrapped.ref = i;
    }
    if (!is_kind(&a, TY_RANGE)) return v_iter_get(in, a, wrapped, out);
    *out = val_of(fact_of(a.f.type->element));
    if (e) out->ref = emit_range_at(e, v_ref(in, a), wrapped.ref);
    return true;
}

/* The array that a.flat goes over. */
static Val flat_array(Infer *in, Val it) {
    Val parts = {.f = fact_of(it.f.type->element), .ref = it.ref};
    return v_item(in, parts, 2);
}

static bool is_flat_part(const Val *index) {
    return is_kind(index, TY_SLICE) || is_kind(index, TY_ARRAY);
}

/* a.flat[1:3], a.flat[mask] */
static bool flat_part(Infer *in, Val it, Val index, Val *out) {
    Val args[2] = {flat_array(in, it), index};
    if (!is_kind(&args[0], TY_ARRAY) || !is_flat_part(&index))
        return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){it, index}, 2);
    return v_library(in, "flatiter.getitem", &(CallArgs){args, 2, 0, NULL}, out);
}

/* np.mgrid[0:3, 0:4] */
static bool library_getitem(Infer *in, Str name, Val index, bool *known, Val *out) {
    Str full = str_printf(in->arena, STR_FMT ".getitem", STR_ARG(name));
    CallArgs call = {&index, 1, 0, NULL};
    *known = library_has(in, full);
    return *known && v_library_function(in, full, &call, known, out);
}

bool v_getitem(Infer *in, Val a, Val index, Val *out) {
    bool found;
    a = v_unwrap(in, a);
    bool known = false;
    const Binding *object = fact_object(&a.f);
    if (object && object->kind == BIND_LIBRARY &&
        library_getitem(in, object->name, index, &known, out))
        return true;
    if (known || in->stop) return false;
    const Str *name = object && object->enumeration ? fact_str(&index.f) : NULL;
    if (name) return v_attr(in, a, *name, out); /* Color["red"] */
    if (v_record_getitem(in, a, index, &found, out) || found) return !in->stop;
    if (fact_str(&a.f) && !v_text(in, &a)) return false;
    bool key = type_is_of(a.f.type, CLS_dict) && is_kind(&index, TY_OPTIONAL); /* None is none */
    if (!key) index = is_kind(&a, TY_ARRAY) ? v_unwrap(in, index) : v_scalar(in, index);
    switch (a.f.type->kind) {
    case TY_ARRAY: return array_getitem(in, a, index, out);
    case TY_TUPLE:
        if (type_is_keyed(a.f.type)) return v_keyed_getitem(in, a, index, out);
        if (type_is_value(a.f.type)) return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){a, index}, 2);
        return v_tuple_get(in, a, index, out);
    case TY_RANGE: return range_getitem(in, a, index, out);
    case TY_CLASS: return v_object_getitem(in, a, index, out);
    default:
        a = v_indexed_iterator(in, a);
        if (is_kind(&a, TY_ITER) && a.f.type->bits == ITER_CALL) /* a.flat[i] */
            return type_is_int(index.f.type) ? range_getitem(in, a, index, out)
                                             : flat_part(in, a, index, out);
        return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){a, index}, 2);
    }
}

/* The first axis at a position that is inside: an element, or a view. */
static Val part_at(Infer *in, Val array, Val index) {
    Emit *e = in->emit;
    const Type *t = array.f.type;
    if (t->ndim > 1 || type_is_records(t)) {
        Plan plan = {0};
        plan_add(&plan, 'i', index);
        for (int k = 1; k < t->ndim; k++)
            plan_add(&plan, 'f', (Val){0});
        Val out = val_of(fact_of(view_type(in, &plan, t)));
        if (!e) return out;
        Ref args[2] = {v_ref(in, array), v_as(in, index, i64_type(in->types))};
        Str *letters = arena_new(in->arena, Str);
        *letters = str_copy(in->arena, plan.letter, (size_t)plan.n);
        out.ref = emit(e, OP_view, out.f.type, args, 2);
        ir_inst(e->out, out.ref)->u.name = letters;
        return out;
    }
    Val out = val_of(fact_of(t->element));
    if (e)
        out.ref =
            emit2(e, OP_load, t->element, v_ref(in, array), v_as(in, index, i64_type(in->types)));
    return out;
}

bool v_element(Infer *in, Val array, Val index, Val *out) {
    *out = part_at(in, array, index);
    bool text = v_is_characters(*out) && out->f.type->ndim == 0;
    return !text || v_text_of(in, *out, out);
}

/* -- setitem --------------------------------------------------------------------------------------------- */

static bool fits_element(const Type *from, const Type *element) {
    if (element->kind == TY_RECORD) return from == element;
    if (element->kind == TY_TIME) return can_be_time(from, element);
    return type_is_number(from) && (!type_is_complex(from) || type_is_complex(element));
}

/* A Python int must fit, and times get the unit of the element. */
static bool as_element(Infer *in, Val *value, const Type *element) {
    if (element->kind != TY_TIME) return v_fits(in, value, element);
    return v_cast(in, *value, element, false, value);
}

/* Its only row: an array that is assigned may have more axes than the target, if they have the length 1. */
static Val only_row(Infer *in, Val src) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    if (e) {
        Ref one = emit_int(e, i64, 1), length = emit1(e, OP_shape, i64, v_ref(in, src));
        Ref args[] = {length, one};
        emit_guard(e, GUARD_broadcast_axis, emit2(e, OP_ne, bool_type(in->types), length, one),
                   args, 2);
    }
    return part_at(in, src, val_of(fact_int(in, 0)));
}

static bool assign_array(Infer *in, Val dst, Val src) {
    const Type *to = dst.f.type, *from = src.f.type;
    if ((to->ndim == 0 && from->ndim > 0) || !fits_element(from->element, to->element))
        return v_refuse(in, REFUSE_ELEMENT, ti_text(in, to), &src, 1);
    while (src.f.type->ndim > to->ndim)
        src = only_row(in, src);
    bool time = to->element->kind == TY_TIME;
    const Binding *f = time ? time_conversion(in, to->element) : row_function(in, STR(""), 1);
    return v_map_into(in, dst, f, false, &src, 1);
}

/* a[1:3] = (x, y) */
static bool assign_tuple(Infer *in, Val dst, Val src) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    int32_t n = src.f.type->nitems;
    if (dst.f.type->ndim != 1)
        return v_refuse(in, REFUSE_ELEMENT, ti_text(in, dst.f.type), &src, 1);
    if (e) {
        Ref args[2] = {emit_int(e, i64, n), emit_length(e, v_ref(in, dst), 0)};
        Ref differs = emit2(e, OP_ne, bool_type(in->types), args[0], args[1]);
        emit_guard(e, GUARD_broadcast, differs, args, 2);
    }
    for (int32_t k = 0; k < n; k++) {
        Val item = v_item(in, src, k);
        if (!fits_element(item.f.type, dst.f.type->element))
            return v_refuse(in, REFUSE_ELEMENT, ti_text(in, dst.f.type), &item, 1);
        if (!as_element(in, &item, dst.f.type->element)) return false;
        if (!e) continue;
        Ref args[3] = {v_ref(in, dst), emit_int(e, i64, k), v_as(in, item, dst.f.type->element)};
        emit(e, OP_store, NULL, args, 3);
    }
    return true;
}

/* Of numbers only, and more than one: that would be stretched. */
static bool is_flat(const Type *tuple) {
    for (int32_t k = 0; k < tuple->nitems; k++)
        if (!type_is_item(tuple->items[k])) return false;
    return tuple->nitems > 1 && !type_is_value(tuple);
}

static bool assign_view(Infer *in, Val view, Val value) {
    bool known = false;
    if (type_is_records(view.f.type) && (v_record_fill(in, view, value, &known) || known))
        return !in->stop;
    const Type *element = view.f.type->element;
    bool row = is_kind(&value, TY_TUPLE) && view.f.type->ndim == 1 && is_flat(value.f.type);
    if (row) return assign_tuple(in, view, value);
    if (is_sequence(&value) && !v_as_array(in, element, &value)) return false;
    if (is_kind(&value, TY_ARRAY)) return assign_array(in, view, value);
    if (!fits_element(value.f.type, element))
        return v_refuse(in, REFUSE_ELEMENT, ti_text(in, view.f.type), &value, 1);
    if (!as_element(in, &value, element)) return false;
    if (in->emit) emit_fill(in->emit, v_ref(in, view), v_as(in, value, element));
    return true;
}

bool v_fill(Infer *in, Val array, Val value) {
    return assign_view(in, array, value);
}

static bool readonly_error(Infer *in, const Val *a) {
    Str text = str_printf(in->arena, "array %s", ti_text(in, a->f.type));
    const Inst *inst = a->src ? ir_inst(in->f, a->src) : NULL;
    ti_fail(in, in->at, E0303, text.bytes);
    if (in->report && inst && inst->op == OP_global)
        diag_note(in->diags, NULL,
                  "'" STR_FMT "' is a global: its contents are frozen when the "
                  "function is compiled; pass it as an argument",
                  STR_ARG(*inst->u.name));
    if (in->report && inst && inst->op == OP_param && inst->imm < in->f->nparams)
        diag_note(in->diags, NULL,
                  "'" STR_FMT
                  "' is an argument that NumPy holds read-only (flags.writeable): pass a copy",
                  STR_ARG(in->f->param_names[inst->imm]));
    return false;
}

/* a.flat[i] = value; nothing else has a function of its position and could be assigned to. */
static bool set_flat(Infer *in, Val it, Val index, Val value) {
    Val args[3] = {flat_array(in, it), v_scalar(in, index), value}, ignored;
    bool part = is_flat_part(&args[1]);
    if (!is_kind(&args[0], TY_ARRAY) || !(part || type_is_int(args[1].f.type)))
        return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){it, index}, 2);
    if (args[0].f.type->readonly) return readonly_error(in, &args[0]);
    return v_library(in, part ? "flatiter.setpart" : "flatiter.setitem",
                     &(CallArgs){args, 3, 0, NULL}, &ignored);
}

/* r.x = value */
static bool set_field(Infer *in, Val a, Str name, Val value, bool *found) {
    Val index = {0};
    *found = type_is_records(a.f.type) && type_field(a.f.type->element, name) >= 0;
    if (!*found) return false;
    if (a.f.type->readonly) return readonly_error(in, &a);
    fact_of_const(in, const_str(in->arena, name), &index.f);
    return v_record_set(in, a, index, value, found);
}

/* a.flat = value, a.real = value, a.imag = value, and fields of records */
bool v_setattr(Infer *in, Val a, Str name, Val value) {
    a = v_present(in, a);
    if (type_is_instance(a.f.type)) return v_set_instance_attr(in, a, name, value);
    a = v_unwrap(in, a), value = v_unwrap(in, value);
    Val part, ignored, args[2] = {a, value};
    bool field;
    if (set_field(in, a, name, value, &field) || field) return !in->stop;
    bool flat = str_is(name, "flat"), imag = str_is(name, "imag");
    if (!is_kind(&a, TY_ARRAY) || !(flat || imag || str_is(name, "real"))) {
        ti_fail(in, in->at, E0101, "assignment to an attribute");
        if (is_kind(&a, TY_ARRAY) && in->report)
            diag_note(in->diags, NULL,
                      "assign what a function gives: a = a.reshape(...), a.astype(...)");
        return false;
    }
    if (a.f.type->readonly) return readonly_error(in, &a);
    if (flat) return v_library(in, "ndarray.flat.set", &(CallArgs){args, 2, 0, NULL}, &ignored);
    if (imag && !type_is_complex(a.f.type->element))
        return v_refuse(in, REFUSE_FORM, "assignment to the imaginary parts of real numbers", &a,
                        1);
    if (!v_attr(in, a, name, &part)) return false;
    return v_fill(in, part, value);
}

bool v_setitem(Infer *in, Val a, Val index, Val value) {
    Plan plan;
    bool error, found;
    a = v_unwrap(in, a), index = v_unwrap(in, index);
    bool holds_none = a.f.type->kind == TY_CLASS && !type_is_instance(a.f.type);
    value = holds_none ? v_number(in, value) : v_unwrap(in, value);
    if (is_object(&a)) return v_object_setitem(in, a, index, value);
    if (!is_kind(&a, TY_ARRAY)) {
        Val of = v_indexed_iterator(in, a);
        if (is_kind(&of, TY_ITER) && of.f.type->bits == ITER_CALL)
            return set_flat(in, of, index, value);
        v_refuse(in, REFUSE_FORM, "assignment to an item of something that is not an array", &a, 1);
        return !type_is_keyed(a.f.type) || v_advise_keyed(in);
    }
    if (a.f.type->readonly) return readonly_error(in, &a);
    if (v_record_set(in, a, index, value, &found) || found) return !in->stop;
    if (!make_plan(in, a, index, &plan, &error)) {
        Val args[3] = {a, index, value}, ignored;
        return !error && index_by_arrays(in, STR("operator.setitem"), args, 3, &ignored);
    }
    bool whole = !plan.element && is_kind(&value, TY_ARRAY) && value.f.type->ndim > 0;
    if (whole && is_in_place(in, in->at)) return true;
    if (type_is_records(a.f.type) && plan.n == 0) return assign_view(in, a, value);
    if (!plan.element || type_is_records(a.f.type))
        return assign_view(in, v_view(in, a, &plan), value);
    const Type *element = a.f.type->element;
    value = v_scalar(in, value);
    if (!fits_element(value.f.type, element))
        return v_refuse(in, REFUSE_ELEMENT, ti_text(in, a.f.type), &value, 1);
    if (element->kind == TY_TIME && !as_element(in, &value, element)) return false;
    if (!in->emit) return true;
    Ref args[2 + MAX_ITEMS] = {v_ref(in, a)};
    for (int32_t k = 0; k < plan.n; k++)
        args[k + 1] = emit_index(in, args[0], k, plan.part[k]);
    args[plan.n + 1] = v_as(in, value, element);
    emit(in->emit, OP_store, NULL, args, plan.n + 2);
    return true;
}

/* -- unpacking --------------------------------------------------------------------------------------------- */

/* As many items as there are names, of something that has a length: an array, a list, a range. */
static bool unpack_items(Infer *in, Val a, int32_t count, Val *out) {
    Emit *e = in->emit;
    Val *items = arena_array(in->arena, Val, count), length;
    if (!v_library(in, "builtins.len", &(CallArgs){&a, 1, 0, NULL}, &length)) return false;
    if (e) {
        const Type *i64 = i64_type(in->types), *b = bool_type(in->types);
        Ref n = v_as(in, length, i64), want = emit_int(e, i64, count);
        Ref few[2] = {want, n}, many[1] = {want};
        emit_guard(e, GUARD_unpack_few, emit2(e, OP_lt, b, n, want), few, 2);
        emit_guard(e, GUARD_unpack_many, emit2(e, OP_lt, b, want, n), many, 1);
    }
    for (int32_t k = 0; k < count; k++) {
        Val place = val_of(fact_int(
            in, k)); /* of an array it was asked for just now: nothing else changes its shape */
        bool ok = is_kind(&a, TY_ARRAY) ? v_element(in, a, place, &items[k])
                                        : v_getitem(in, a, place, &items[k]);
        if (!ok) return false;
    }
    return *out = v_tuple(in, items, count), true;
}

/* What has items, but no positions of them, or is text: a list of the items, of which no more are asked for than is needed
 * to know that there are too many. */
static bool has_items(const Type *t) {
    return t->kind == TY_ITER || (t->kind == TY_CLASS && !type_is_instance(t));
}

static bool unpack_iterable(Infer *in, Val a, int32_t count, Val *out) {
    Val args[2] = {a, val_of(fact_int(in, count))}, listed;
    if (!v_library(in, "operator.unpack", &(CallArgs){args, 2, 0, NULL}, &listed)) return false;
    return unpack_items(in, listed, count, out);
}

/* A tuple of so many items never is one of `count` (or, with a star, of that many at least): as a list, it is found out when the program
 * comes there; else the program is wrong. */
static bool never_unpacks(Infer *in, Val a, int32_t count, Guard few) {
    Emit *e = in->emit;
    int32_t n = a.f.type->nitems;
    if (!in->guards || !is_list_display(in, a))
        return ti_fail(in, in->at, E0213, ti_text(in, a.f.type), (int)count);
    if (e) {
        const Type *i64 = i64_type(in->types);
        Ref numbers[2] = {emit_int(e, i64, count), emit_int(e, i64, n)};
        emit_guard(e, n < count ? few : GUARD_unpack_many, emit_int(e, bool_type(in->types), 1),
                   numbers, n < count ? 2 : 1);
    }
    return in->stop = STOP_UNBOUND, false;
}

bool v_unpack(Infer *in, Val a, int32_t count, Val *out) {
    a = v_unwrap(in, a);
    if (fact_str(&a.f) && !v_text(in, &a)) return false;
    if (is_kind(&a, TY_TUPLE)) {
        if (type_is_value(a.f.type))
            return ti_fail(in, in->at, E0213, ti_text(in, a.f.type), (int)count);
        if (a.f.type->nitems != count) return never_unpacks(in, a, count, GUARD_unpack_few);
        return *out = a, true;
    }
    const Type *t = a.f.type;
    if (count <= 64 &&
        (t->kind == TY_RANGE || (t->kind == TY_ARRAY && t->ndim > 0) || type_is_list(t)))
        return unpack_items(in, a, count, out);
    if (count <= 64 && has_items(t)) return unpack_iterable(in, a, count, out);
    return ti_fail(in, in->at, E0213, ti_text(in, t), (int)count);
}

bool v_unpack_starred(Infer *in, Val a, int64_t names, Val *out) {
    Val args[3] = {v_unwrap(in, a), val_of(fact_int(in, ir_before_star(names))),
                   val_of(fact_int(in, ir_behind_star(names)))};
    if (fact_str(&args[0].f) && !v_text(in, &args[0])) return false;
    const Type *t = args[0].f.type;
    int32_t least = ir_before_star(names) + ir_behind_star(names);
    if (t->kind == TY_TUPLE && t->nitems < least)
        return never_unpacks(in, args[0], least, GUARD_unpack_least);
    return v_library(in, "operator.unpack_starred", &(CallArgs){args, 3, 0, NULL}, out);
}
