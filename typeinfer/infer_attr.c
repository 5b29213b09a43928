/* infer_attr.c - attributes, and the array makers: numpy.empty, zeros, ones, full, array. */
#include "typeinfer/infer_local.h"
#include "typeinfer/infer_variant.h"

/* -- attributes of arrays ------------------------------------------------------------------------ */

Val v_shape(Infer *in, Val array, int32_t axis) {
    Emit *e = in->emit;
    int64_t known;
    if (array.f.items && fact_int_value(&array.f.items[axis], &known))
        return val_of(fact_int(in, known));
    Val out = val_of(fact_of(ti_wint(in)));
    if (!e) return out;
    out.ref = emit1(e, OP_shape, i64_type(in->types), v_ref(in, array));
    ir_inst(e->out, out.ref)->imm = axis;
    return out;
}

static Val v_shape_tuple(Infer *in, Val array) {
    Val items[UINT8_MAX];
    for (int k = 0; k < array.f.type->ndim; k++)
        items[k] = v_shape(in, array, k);
    return v_tuple(in, items, array.f.type->ndim);
}

static Val v_strides(Infer *in, Val array) {
    Emit *e = in->emit;
    Val items[UINT8_MAX];
    for (int k = 0; k < array.f.type->ndim; k++) {
        items[k] = val_of(fact_of(ti_wint(in)));
        if (!e) continue;
        items[k].ref = emit1(e, OP_stride, i64_type(in->types), v_ref(in, array));
        ir_inst(e->out, items[k].ref)->imm = k;
    }
    return v_tuple(in, items, array.f.type->ndim);
}

static Val v_size(Infer *in, Val array, int64_t times) {
    Val out = val_of(fact_int(in, times));
    int64_t known = times, length;
    bool constant = array.f.items != NULL;
    for (int k = 0; k < array.f.type->ndim && constant; k++)
        constant = fact_int_value(&array.f.items[k], &length) &&
                   !__builtin_mul_overflow(known, length, &known);
    if (constant) return val_of(fact_int(in, known));
    for (int k = 0; k < array.f.type->ndim; k++) {
        Val n = v_shape(in, array, k);
        n.f = fact_of(ti_wint(in));
        if (in->emit && (k || times != 1))
            n.ref = emit2(in->emit, OP_mul, i64_type(in->types), v_ref(in, out), v_ref(in, n));
        out = n;
    }
    return out;
}

static Val v_transpose(Infer *in, Val array) {
    const Type *t = array.f.type;
    if (t->ndim < 2) return array;
    Layout layout = t->layout == LAYOUT_C ? LAYOUT_F : t->layout == LAYOUT_F ? LAYOUT_C : LAYOUT_A;
    Val out = val_of(fact_of(type_array_like(in->types, t, t->ndim, layout)));
    if (in->emit) out.ref = emit1(in->emit, OP_transpose, out.f.type, v_ref(in, array));
    return out;
}

Val v_dtype(Infer *in, const Type *element) {
    const Binding *b = ti_object(in->ti, BIND_TYPE, STR(""), element);
    return val_of(fact_of(type_object(in->types, b)));
}

static Val all_elements(Infer *in, Val array) {
    return v_size(in, array, 1);
}
static Val all_bytes(Infer *in, Val array) {
    return v_size(in, array, type_size(array.f.type->element));
}
static Val axes(Infer *in, Val array) {
    return val_of(fact_int(in, array.f.type->ndim));
}
static Val element_bytes(Infer *in, Val array) {
    return val_of(fact_int(in, type_size(array.f.type->element)));
}
static Val element_dtype(Infer *in, Val array) {
    return v_dtype(in, array.f.type->element);
}

static const struct {
    const char *name; /* of the row */
    Val (*get)(Infer *in, Val array);
} array_attrs[] = {
    {"ndarray.T", v_transpose},
    {"ndarray.dtype", element_dtype},
    {"ndarray.itemsize", element_bytes},
    {"ndarray.nbytes", all_bytes},
    {"ndarray.ndim", axes},
    {"ndarray.shape", v_shape_tuple},
    {"ndarray.size", all_elements},
    {"ndarray.strides", v_strides},
};

const char *array_attr_name(int32_t index) {
    return index < countof(array_attrs) ? array_attrs[index].name : NULL;
}

static bool array_attr(Infer *in, Val a, Str name, Val *out) {
    for (int i = 0; i < countof(array_attrs); i++)
        if (str_is(name, array_attrs[i].name + strlen("ndarray.")))
            return *out = array_attrs[i].get(in, a), true;
    return false;
}

/* -- attributes --------------------------------------------------------------------------------------- */

static bool no_attribute(Infer *in, const Val *v, Str name) {
    const char *text = ti_c_text(in, name);
    v_refuse(in, REFUSE_ATTRIBUTE, text, v, 1);
    if (fact_str(&v->f)) ti_advise(in, bc_advice("formatting text"));
    if (type_is_records(v->f.type)) v_advise_fields(in, v->f.type);
    if (type_is_list(v->f.type)) ti_advise(in, "a list is no array: convert it with np.array(...)");
    return false;
}

static bool is_value_row(Str name) {
    int32_t row = lib_find(name);
    return row >= 0 && (lib_row(row)->flags & LIB_VALUE);
}

static bool member_called(Infer *in, Val a, Str full, Str name, Val *out) {
    bool matched;
    if (is_value_row(full)) {
        if (v_row(in, full, &a, 1, &matched, out)) return true;
        if (matched || in->stop) return false;
    }
    if (!library_has(in, full)) return no_attribute(in, &a, name);
    const Binding *b = ti_object(in->ti, BIND_LIBRARY, full, NULL);
    return *out = (Val){.f = fact_of(type_object(in->types, b)), .src = in->at}, true;
}

/* Attributes of numbers, and methods of both: rows, or functions of our library. */
static bool member(Infer *in, Val a, const char *kind, Str name, Val *out) {
    Str full = str_printf(in->arena, "%s." STR_FMT, kind, STR_ARG(name));
    return member_called(in, a, full, name, out);
}

static bool object_member(Infer *in, Val a, Str name, Val *out) {
    Str full = variant_method(in, a.f.type, name);
    if (variant_hides(in, a.f.type, full)) return no_attribute(in, &a, name);
    return member_called(in, a, full, name, out);
}

static Val text_val(Infer *in, Str text) {
    Val out = {0};
    fact_of_const(in, const_str(in->arena, text), &out.f);
    return out;
}

/* What a dtype says of itself in text; false: no such attribute. */
static bool dtype_text(Infer *in, const Type *type, Str name, Val *out) {
    const Type *strong = type_strong(in->types, type);
    char kind = ti_dtype_kind(strong);
    if (str_is(name, "kind")) return *out = text_val(in, str_printf(in->arena, "%c", kind)), true;
    if (str_is(name, "str")) return *out = text_val(in, ti_dtype_str(in->arena, strong)), true;
    if (str_is(name, "name")) return *out = text_val(in, ti_dtype_name(in->arena, strong)), true;
    if (str_is(name, "_text") && kind == 'V') /* the library asks */
        return *out = text_val(in, ti_dtype_text(in->arena, strong)), true;
    return false;
}

static bool object_attr(Infer *in, Val a, const Binding *object, Str name, Val *out) {
    if (object->kind == BIND_TYPE && object->type &&
        (object->type->kind < TY_SCALARS || object->type->kind == TY_TIME ||
         object->type->kind == TY_RECORD)) {
        if (str_is(name, "itemsize"))
            return *out = val_of(fact_int(in, type_size(object->type))), true;
        if (dtype_text(in, object->type, name, out)) return true;
        if (str_is(name, "type") && !object->handle) return *out = a, true;
    }
    if (v_ufunc_attr(in, object, name, out)) return true;
    if (object->kind == BIND_CONST || !in->ti->resolver->attr ||
        (!object->handle && object->kind == BIND_TYPE))
        return no_attribute(in, &a, name);
    const Binding *b = in->ti->resolver->attr(in->ti->resolver->user, object, name);
    if (!b) return in->stop = STOP_ABORT, false;
    if (b->kind == BIND_MISSING) return no_attribute(in, &a, name);
    if (b->kind != BIND_LIBRARY || !is_value_row(b->name))
        return fact_of_binding(in, b, name, &out->f);
    bool matched;
    if (v_row(in, b->name, NULL, 0, &matched, out)) return true;
    if (matched || in->stop) return false;
    return ti_fail(in, in->at, E0404, ti_c_text(in, b->name), "outside a kernel");
}

static bool part_attr(Infer *in, Val a, Str name, Val *out) {
    static const char *const parts[] = {"start", "stop", "step"};
    for (int k = 0; k < 3; k++)
        if (str_is(name, parts[k])) return *out = v_item(in, a, k), true;
    if (is_kind(&a, TY_SLICE)) return member(in, a, "slice", name, out);
    return no_attribute(in, &a, name);
}

static bool attr_of_member(Infer *in, Val a, int32_t k, Str name, Val *out) {
    const Binding *cls = a.f.type->binding;
    Resolver *r = in->ti->resolver;
    const Binding *member = r->attr(r->user, cls, cls->enumeration->names[k]);
    if (!member) return in->stop = STOP_ABORT, false;
    return object_attr(in, a, member, name, out);
}

bool v_as_members(Infer *in, Val *a) {
    const Binding *b = a->f.type ? fact_object(&a->f) : NULL;
    const EnumClass *cls = b && b->kind == BIND_MODULE ? b->enumeration : NULL;
    if (!cls) return false;
    Val *all = arena_array(in->arena, Val, cls->norder);
    for (int32_t k = 0; k < cls->norder; k++)
        if (!v_attr(in, *a, cls->names[cls->order[k]], &all[k])) return false;
    return *a = v_tuple(in, all, cls->norder), true;
}

bool v_member_of_value(Infer *in, Val cls, const CallArgs *args, Val *out) {
    const Binding *b = fact_object(&cls.f);
    const EnumClass *enumeration = b && b->kind == BIND_MODULE ? b->enumeration : NULL;
    if (!enumeration || !enumeration->by_value || args->nargs != 1 || args->nkeywords) {
        v_refuse(in, REFUSE_CALLEE, NULL, &cls, 1);
        if (enumeration)
            ti_advise(in, "of an enumeration without a _missing_ of its own, as flags have one, "
                          "Color(value) gives the member; name the members of others");
        return false;
    }
    if (is_kind(&args->args[0], TY_MEMBER) && args->args[0].f.type->binding == b)
        return *out = args->args[0], true;
    Val all = cls, of[4] = {0};
    if (!v_as_members(in, &all)) return false;
    int32_t n = all.f.type->nitems;
    Val *values = arena_array(in->arena, Val, n);
    for (int32_t k = 0; k < n; k++)
        if (!attr_of_member(in, v_item(in, all, k), enumeration->order[k], STR("value"),
                            &values[k]))
            return false;
    of[0] = all, of[1] = v_tuple(in, values, n), of[2] = args->args[0];
    if (!fact_of_const(in, const_str(in->arena, enumeration->qualified), &of[3].f)) return false;
    return v_library(in, "primitive.member_of", &(CallArgs){of, 4, 0, NULL}, out);
}

/* Where the member that it is at run time stands among the names; one that is an int is looked for. */
static bool position_of_member(Infer *in, Val a, const EnumClass *cls, Val *out) {
    Val *numbers = arena_array(in->arena, Val, cls->n), of[2] = {a, v_number(in, a)};
    *out = (Val){.f = fact_of(ti_wint(in)), .ref = a.ref};
    if (!cls->ints) return true;
    for (int32_t k = 0; k < cls->n; k++)
        numbers[k] = val_of(fact_int(in, cls->numbers[k]));
    of[0] = v_tuple(in, numbers, cls->n);
    return v_library(in, "tuple.index", &(CallArgs){of, 2, 0, NULL}, out);
}

/* The attribute of the member that it is at run time: a tuple of those of all members, indexed by its position. Flags are members
 * that have no name, too. */
static bool attr_of_some(Infer *in, Val a, Str name, Val *out) {
    const EnumClass *cls = a.f.type->binding->enumeration;
    Val *all = arena_array(in->arena, Val, cls->n);
    bool number = cls->n > 0 && (!cls->ints || cls->by_value), text = number && ti_has_objects(in);
    for (int32_t k = 0; k < cls->n; k++) {
        if (!attr_of_member(in, a, k, name, &all[k])) return false;
        number = number && type_is_number(all[k].f.type);
        text = text && type_is_text(all[k].f.type);
        if (text && !v_text(in, &all[k])) return false;
    }
    Val position;
    if (number || text)
        return position_of_member(in, a, cls, &position) &&
               v_tuple_get(in, v_tuple(in, all, cls->n), position, out);
    no_attribute(in, &a, name);
    ti_advise(
        in, "which member it is, is known only at run time: text and other objects cannot be told "
            "apart by then");
    return false;
}

static bool member_attr(Infer *in, Val a, Str name, Val *out) {
    const EnumClass *cls = a.f.type->binding->enumeration;
    for (int32_t k = 0; a.f.value && k < cls->n; k++)
        if (cls->numbers[k] == a.f.value->i) return attr_of_member(in, a, k, name, out);
    if (cls->plain && (str_is(name, "value") || str_is(name, "_value_")))
        return *out = v_number(in, a), true;
    return attr_of_some(in, a, name, out);
}

/* p.norm, of a function that its class has, is called with p; a property is called at once; a constant of the class is one. *found false:
 * there is none. */
static bool instance_attr(Infer *in, Val a, Str name, bool *found, Val *out) {
    Resolver *r = in->ti->resolver;
    MemberKind kind = MEMBER_METHOD;
    *found = is_kind(&a, TY_TUPLE) && a.f.type->cls && r->member;
    if (!*found) return false;
    const Binding *b = r->member(r->user, a.f.type->cls, name, false, &kind);
    if (!b) return in->stop = STOP_ABORT, false;
    bool constant = kind == MEMBER_OTHER &&
                    (b->kind == BIND_CONST || b->kind == BIND_NUMPY || b->kind == BIND_ARRAY ||
                     b->kind == BIND_INSTANCE || b->kind == BIND_MEMBER);
    constant |= kind == MEMBER_OTHER && b->kind == BIND_PARTIAL; /* a class method */
    *found = constant || (b->kind == BIND_FUNCTION && kind != MEMBER_OTHER);
    if (!*found) return false;
    if (constant) return *out = (Val){.src = in->at}, fact_of_binding(in, b, name, &out->f);
    CallArgs self = {&a, 1, 0, NULL};
    if (kind == MEMBER_PROPERTY) return call_function(in, b, &self, in->inst->library, out);
    *out = (Val){.src = in->at};
    return fact_of_binding(in, b, name, &out->f);
}

/* rng.normal: a function of our library, to which rng._bits is known. */
static bool random_attr(Infer *in, Val a, Str name, Val *out) {
    if (in->inst->library && str_equal(name, a.f.type->fields[0]))
        return *out = v_item(in, a, 0), true;
    if (member(in, a, "Generator", name, out)) return true;
    if (!in->stop)
        ti_advise(in, "docs/arrays.md lists the methods of generators that compiled code has");
    return false;
}

/* What the library asks of a tuple to write its text: the names of its items, and of its class. */
static bool tuple_text_attr(Infer *in, const Val *a, Str name, Val *out) {
    const Type *t = a->f.type;
    Resolver *r = in->ti->resolver;
    MemberKind kind;
    if (str_is(name, "_called") && t->fields && r->member) {
        const Binding *b = r->member(r->user, t->cls, STR("__name__"), false, &kind);
        if (!b) return in->stop = STOP_ABORT, false;
        *out = (Val){.src = in->at};
        return fact_of_binding(in, b, name, &out->f);
    }
    if (!str_is(name, "_fields")) return false;
    int32_t n = t->fields ? t->nitems : 0;
    Val *names = arena_array(in->arena, Val, n);
    for (int32_t k = 0; k < n; k++)
        fact_of_const(in, const_str(in->arena, t->fields[k]), &names[k].f);
    return *out = v_tuple(in, names, n), true;
}

bool v_attr(Infer *in, Val a, Str name, Val *out) {
    bool taken;
    a = v_present(in, a);
    if (is_kind(&a, TY_CAUGHT) || type_is_of(a.f.type, CLS_exception))
        return v_caught_attr(in, a, name, out);
    if (v_overload_attr(in, a, name, &taken, out) || taken) return !in->stop;
    if (is_kind(&a, TY_MEMBER)) return member_attr(in, a, name, out);
    const Type *t = a.f.type;
    const Binding *object = fact_object(&a.f);
    if (t->kind == TY_ITER && type_is_generator(t)) return member(in, a, "generator", name, out);
    if (type_is_text(t)) return member(in, a, "str", name, out);
    if (object) return object_attr(in, a, object, name, out);
    if (t->kind == TY_ARRAY && array_attr(in, a, name, out)) return true;
    if (type_is_random(t)) return random_attr(in, a, name, out);
    bool field = false;
    if (v_record_attr(in, a, name, &field, out) || field) return !in->stop;
    if (t->kind == TY_ARRAY) return member(in, a, "ndarray", name, out);
    if (type_is_item(t)) return member(in, a, "number", name, out);
    if (type_is_instance(t) && (v_instance_attr(in, a, name, &field, out) || field))
        return !in->stop;
    if (type_is_instance(t)) return !in->stop && no_attribute(in, &a, name);
    if (type_is_of(t, CLS_deque) && str_is(name, "maxlen"))
        return v_method(in, "maxlen", &a, 1, &field, out);
    if (t->kind == TY_CLASS) return object_member(in, a, name, out);
    if (t->kind == TY_RANGE || t->kind == TY_SLICE) return part_attr(in, a, name, out);
    if (type_is_keyed(t)) return member(in, a, "dict", name, out);
    if (in->inst->library && t->kind == TY_TUPLE && tuple_text_attr(in, &a, name, out)) return true;
    if (in->stop) return false;
    for (int32_t k = 0; t->kind == TY_TUPLE && t->fields && k < t->nitems; k++)
        if (str_equal(t->fields[k], name)) return *out = v_item(in, a, k), true;
    bool named = t->kind == TY_TUPLE && !type_is_value(t) && t->fields && t->cls;
    if (named && str_is(name, "_fields")) return tuple_text_attr(in, &a, name, out);
    if (named && (str_is(name, "_asdict") || str_is(name, "_replace")))
        return member(in, a, "namedtuple", name, out);
    if (instance_attr(in, a, name, &field, out) || field) return !in->stop;
    if (t->kind == TY_TUPLE && !type_is_value(t)) return member(in, a, "tuple", name, out);
    return no_attribute(in, &a, name);
}

/* -- dtypes ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    TypeKind kind;
} dtype_names[] = {
#define DTYPE(name, kind) {name, TY_##kind},
#include "typeinfer/tables/dtypes.def"
#undef DTYPE
};

static bool named_dtype(Infer *in, Str name, const Type **out) {
    if (name.len > 1 && strchr("<=|", name.bytes[0])) name.bytes++, name.len--;
    if ((*out = type_time_named(in->types, name))) return true;
    for (int i = 0; i < countof(dtype_names); i++)
        if (str_is(name, dtype_names[i].name))
            return *out = type_scalar(in->types, dtype_names[i].kind), true;
    return false;
}

bool fact_dtype(Infer *in, const Fact *f, const Type **out) {
    if (fact_none(f)) return *out = type_scalar(in->types, TY_f64), true;
    const Str *text = fact_str(f);
    if (text) return named_dtype(in, *text, out);
    const Binding *b = fact_object(f);
    if (!b) return false;
    bool element =
        b->kind == BIND_TYPE && b->type && (type_is_item(b->type) || b->type->kind == TY_RECORD);
    if (element) return *out = type_strong(in->types, b->type), true;
    static const struct {
        const char *name;
        TypeKind kind;
    } builtins[] = {{"builtins.bool", TY_bool},
                    {"builtins.complex", TY_c128},
                    {"builtins.float", TY_f64},
                    {"builtins.int", TY_i64}};
    for (int i = 0; b->kind == BIND_LIBRARY && i < countof(builtins); i++)
        if (str_is(b->name, builtins[i].name))
            return *out = type_scalar(in->types, builtins[i].kind), true;
    return false;
}

bool v_element_type(Infer *in, const Val *dtype, const Type **out) {
    if (fact_dtype(in, &dtype->f, out)) return true;
    const Str *text = fact_str(&dtype->f);
    if (text)
        return ti_fail(in, in->at, E0216,
                       str_printf(in->arena, "'" STR_FMT "'", STR_ARG(*text)).bytes);
    if (fact_object(&dtype->f)) return ti_fail(in, in->at, E0216, ti_text(in, dtype->f.type));
    return ti_fail(in, in->at, E0209, "the dtype");
}

/* -- making arrays --------------------------------------------------------------------------------------- */

typedef enum Maker { MAKE_EMPTY, MAKE_ZEROS, MAKE_ONES, MAKE_FULL, MAKE_ARRAY } Maker;

static const struct {
    const char *name, *params;
    Maker maker;
    bool like; /* the first argument is an array of the same shape and type */
} makers[] = {
    {"numpy.array", "object, dtype=", MAKE_ARRAY, false},
    {"numpy.asarray", "a, dtype=", MAKE_ARRAY, false},
    {"numpy.empty", "shape, dtype=, order=", MAKE_EMPTY, false},
    {"numpy.empty_like", "prototype, dtype=, order=, subok=, shape=", MAKE_EMPTY, true},
    {"numpy.full", "shape, fill_value, dtype=, order=", MAKE_FULL, false},
    {"numpy.full_like", "a, fill_value, dtype=, order=, subok=, shape=", MAKE_FULL, true},
    {"numpy.ones", "shape, dtype=, order=", MAKE_ONES, false},
    {"numpy.ones_like", "a, dtype=, order=, subok=, shape=", MAKE_ONES, true},
    {"numpy.zeros", "shape, dtype=, order=", MAKE_ZEROS, false},
    {"numpy.zeros_like", "a, dtype=, order=, subok=, shape=", MAKE_ZEROS, true},
};

const char *array_builtin_name(int32_t index) {
    return index < countof(makers) ? makers[index].name : NULL;
}

bool array_builtin_knows(Str name) {
    for (int i = 0; i < countof(makers); i++)
        if (str_is(name, makers[i].name)) return true;
    return false;
}

/* The shape as items: an int, or a tuple of ints. */
static bool shape_items(Infer *in, Val shape, Val *items, int32_t *n) {
    bool tuple = is_kind(&shape, TY_TUPLE);
    *n = tuple ? shape.f.type->nitems : 1;
    if (*n > 32) return false;
    for (int32_t k = 0; k < *n; k++) {
        items[k] = tuple ? v_item(in, shape, k) : shape;
        if (!type_is_int(items[k].f.type)) return false;
    }
    return true;
}

static Ref emit_alloc(Infer *in, const Type *type, const Val *shape, int32_t n, bool zeroed) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *b = bool_type(in->types);
    Ref refs[32];
    for (int32_t k = 0; k < n; k++) {
        int64_t known;
        refs[k] = v_as(in, shape[k], i64);
        if (emitted_int(e, refs[k], &known) && known >= 0) continue;
        if (ir_inst(e->out, refs[k])->op == OP_shape) continue;
        Ref negative = emit2(e, OP_lt, b, refs[k], emit_int(e, i64, 0));
        emit_guard(e, GUARD_negative_dimension, negative, NULL, 0);
    }
    Ref array = emit(e, OP_alloc, type, refs, n);
    ir_inst(e->out, array)->sub = zeroed ? FLAG_ZEROED : 0;
    return array;
}

static bool make_unset(Infer *in, const char *name, const Type *type, const Val *shape, int32_t n,
                       bool zeroed, Val *out) {
    if (!ti_has_heap(in)) return v_local_array(in, name, type, shape, n, out);
    *out = val_of(fact_of(type));
    if (in->emit) out->ref = emit_alloc(in, type, shape, n, zeroed);
    return true;
}

static bool make_filled(Infer *in, const char *name, Maker maker, const Type *type,
                        const Val *shape, int32_t n, Val fill, Val *out) {
    if (!make_unset(in, name, type, shape, n, maker == MAKE_ZEROS, out)) return false;
    if (maker == MAKE_ONES) fill = val_of(fact_int(in, 1));
    if (maker == MAKE_ZEROS) fill = val_of(fact_int(in, 0));
    bool set = maker == MAKE_EMPTY || (maker == MAKE_ZEROS && ti_has_heap(in));
    return set || v_fill(in, *out, fill);
}

bool ti_may_allocate(Infer *in, const char *name) {
    if (ti_has_heap(in)) return true;
    ti_fail(in, in->at, E0404, name, in->kernel ? "in a kernel" : "on a GPU");
    ti_advise(
        in, "a kernel has cuda.local.array and cuda.shared.array; other arrays are made before the "
            "launch and passed as arguments");
    return false;
}

static bool maker_shape(Infer *in, const char *name, Maker maker, const CallArgs *args,
                        const Val *v, Val *out) {
    bool filled = maker == MAKE_FULL;
    Val items[32], dtype = v[filled ? 2 : 1], order = v[filled ? 3 : 2];
    int32_t n;
    if (!shape_items(in, v_unwrap(in, v[0]), items, &n))
        return v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    const Type *element = type_scalar(in->types, TY_f64);
    if (filled && type_is_item(v[1].f.type)) element = type_strong(in->types, v[1].f.type);
    if (dtype.f.type && !fact_none(&dtype.f) && !v_element_type(in, &dtype, &element)) return false;
    const Str *letter = order.f.type ? fact_str(&order.f) : NULL;
    Layout layout = letter && str_is(*letter, "F") ? LAYOUT_F : LAYOUT_C;
    return make_filled(in, name, maker, type_array(in->types, element, n, layout), items, n, v[1],
                       out);
}

static bool maker_like(Infer *in, const char *name, Maker maker, const CallArgs *args, const Val *v,
                       Val *out) {
    bool filled = maker == MAKE_FULL;
    Val items[32], like = v_unwrap(in, v[0]), dtype = v[filled ? 2 : 1];
    Val order = v[filled ? 3 : 2], shape = v[filled ? 5 : 4];
    bool number = type_is_item(like.f.type); /* as an array without axes */
    if (!number && (!is_kind(&like, TY_ARRAY) || like.f.type->ndim > 32))
        return v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    const Type *element = number ? type_strong(in->types, like.f.type) : like.f.type->element;
    if (dtype.f.type && !fact_none(&dtype.f) && !v_element_type(in, &dtype, &element)) return false;
    int32_t n = number ? 0 : like.f.type->ndim;
    for (int32_t k = 0; k < n; k++)
        items[k] = v_shape(in, like, k);
    bool reshaped = shape.f.type && !fact_none(&shape.f);
    if (reshaped && !shape_items(in, v_unwrap(in, shape), items, &n))
        return v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    const Str *letter = order.f.type ? fact_str(&order.f) : NULL;
    Layout layout = !number && like.f.type->layout == LAYOUT_F ? LAYOUT_F : LAYOUT_C;
    if (letter && str_is(*letter, "C")) layout = LAYOUT_C;
    if (letter && str_is(*letter, "F")) layout = LAYOUT_F;
    return make_filled(in, name, maker, type_array(in->types, element, n, layout), items, n, v[1],
                       out);
}

/* -- numpy.array of arrays, tuples and lists ----------------------------------------------------------------- */

/* A copy, or for asarray the array itself where its elements are right already. */
static bool make_copy(Infer *in, const char *name, bool may_alias, Val array, const Type *element,
                      Val *out) {
    const Type *from = array.f.type;
    Val shape[32];
    if (may_alias && from->element == element) return *out = array, true;
    for (int32_t k = 0; k < from->ndim; k++)
        shape[k] = v_shape(in, array, k);
    Layout layout = from->layout == LAYOUT_F ? LAYOUT_F : LAYOUT_C;
    const Type *type = type_array(in->types, element, from->ndim, layout);
    return make_filled(in, name, MAKE_ARRAY, type, shape, from->ndim, array, out);
}

/* Common type of all items, and whether they are rows of one length. */
static const Type *items_type(Infer *in, const Type *tuple, int32_t *columns) {
    const Type *common = NULL;
    *columns = -1;
    for (int32_t i = 0; i < tuple->nitems; i++) {
        const Type *t = tuple->items[i];
        int32_t width = -1, inner;
        if (t->kind == TY_TUPLE) width = t->nitems, t = items_type(in, t, &inner);
        if (!t || !type_is_item(t) || (i && width != *columns)) return NULL;
        *columns = width;
        bool times = common && (common->kind == TY_TIME || t->kind == TY_TIME);
        common = times    ? time_promote(in->types, common, t)
                 : common ? ti_promote(in->types, ARITH_PLAIN, common, t)
                          : t;
        if (!common) return NULL;
    }
    return common;
}

static void store_items(Infer *in, Ref array, const Type *to, Val tuple, const Ref *index,
                        int32_t depth) {
    Emit *e = in->emit;
    const Type *element = ir_type(e->out, array)->element;
    for (int32_t i = 0; i < tuple.f.type->nitems; i++) {
        Val item = v_item(in, tuple, i);
        Ref args[4] = {array, depth ? index[0] : 0};
        args[1 + depth] = emit_int(e, i64_type(in->types), i);
        if (is_kind(&item, TY_TUPLE)) {
            store_items(in, array, to, item, &args[1], 1);
            continue;
        }
        if (to->kind == TY_TIME && !v_cast(in, item, to, false, &item)) return;
        args[2 + depth] = v_as(in, item, element);
        emit(e, OP_store, NULL, args, 3 + depth);
    }
}

static bool has_sequences(const Type *tuple) {
    for (int32_t i = 0; i < tuple->nitems; i++)
        if (tuple->items[i]->kind == TY_TUPLE || tuple->items[i]->kind == TY_ARRAY ||
            type_is_list(tuple->items[i]))
            return true;
    return false;
}

/* Other arguments than these are the library's. */
static bool only_dtype(const CallArgs *args) {
    for (int32_t k = 0; k < args->nkeywords; k++)
        if (!str_is(args->names[k], "dtype")) return false;
    return args->nargs <= 2;
}

/* *known false: the library makes what is deeper, arrays in sequences and numbers. */
/* Python ints that no element holds are an OverflowError. */
static bool items_fit(Infer *in, Val tuple, const Type *element) {
    for (int32_t i = 0; i < tuple.f.type->nitems; i++) {
        Val item = v_item(in, tuple, i);
        bool row = is_kind(&item, TY_TUPLE);
        if (row ? !items_fit(in, item, element) : !v_fits(in, &item, element)) return false;
    }
    return true;
}

static bool make_array(Infer *in, const char *name, const CallArgs *args, const Val *v, bool *known,
                       Val *out) {
    bool may_alias = strcmp(name, "numpy.asarray") == 0;
    int32_t columns;
    Val from = v_unwrap(in, v[0]);
    if (is_kind(&from, TY_ARRAY) && from.f.type->ndim <= 32) {
        const Type *element = from.f.type->element;
        if (v[1].f.type && !fact_none(&v[1].f) && !v_element_type(in, &v[1], &element))
            return false;
        return make_copy(in, name, may_alias, from, element, out);
    }
    if (is_object(&from)) {
        bool found;
        Val none = val_of(fact_of(type_scalar(in->types, TY_none)));
        Val given[2] = {from, v[1].f.type ? v[1] : none};
        if (v_method(in, "__array__", given, 2, &found, out)) return true;
        return found || in->stop ? false : v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    }
    if (!is_kind(&v[0], TY_TUPLE)) return *known = false;
    const Type *tuple = v[0].f.type, *element = items_type(in, tuple, &columns);
    bool nested = columns >= 0;
    for (int32_t i = 0; nested && element && i < tuple->nitems; i++)
        for (int32_t k = 0; k < columns; k++)
            if (!type_is_item(tuple->items[i]->items[k])) element = NULL;
    if (!element && tuple->nitems == 0) element = type_scalar(in->types, TY_f64);
    if (!element && has_sequences(tuple)) return *known = false;
    if (!element) return v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    element = type_strong(in->types, element);
    if (v[1].f.type && !fact_none(&v[1].f) && !v_element_type(in, &v[1], &element)) return false;
    const Type *type = type_array(in->types, element, nested ? 2 : 1, LAYOUT_C);
    Val shape[2] = {val_of(fact_int(in, tuple->nitems)), val_of(fact_int(in, columns))};
    if (!items_fit(in, v[0], element)) return false;
    if (!make_unset(in, name, type, shape, type->ndim, false, out)) return false;
    if (!in->emit) return true;
    store_items(in, out->ref, element, v[0], NULL, 0);
    return true;
}

bool v_array_builtin(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    for (int i = 0; i < countof(makers); i++) {
        if (!str_is(name, makers[i].name)) continue;
        const char *text = makers[i].name;
        Maker maker = makers[i].maker;
        Val v[MAX_TYPED_PARAMS];
        if (maker == MAKE_ARRAY && !only_dtype(args)) return *known = false;
        if (!v_bind_typed(in, text, makers[i].params, args, v)) return false;
        if (maker == MAKE_ARRAY) return make_array(in, text, args, v, known, out);
        return makers[i].like ? maker_like(in, text, maker, args, v, out)
                              : maker_shape(in, text, maker, args, v, out);
    }
    return *known = false;
}
