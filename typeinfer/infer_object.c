/* infer_object.c - objects of classes: their methods and operators, which are functions of quern/library under the names
 * "<class>.<method>", and the primitives that those are written with. */
#include "typeinfer/infer_variant.h"

bool is_object(const Val *v) {
    return is_kind(v, TY_CLASS);
}

/* -- methods ------------------------------------------------------------------------------------- */

static Str object_method(Infer *in, const Val *object, Str name) {
    return variant_method(in, object->f.type, name);
}

bool v_method(Infer *in, const char *name, const Val *args, int32_t n, bool *found, Val *out) {
    if (type_is_instance(args[0].f.type))
        return v_instance_method(in, str_from(name), args, n, found, out);
    Str full = object_method(in, &args[0], str_from(name));
    CallArgs call = {args, n, 0, NULL};
    *found = library_has(in, full);
    return *found && v_library(in, full.bytes, &call, out);
}

/* The length of a list needs no type of its elements. */
bool v_object_len(Infer *in, Val object, Val *out) {
    const Type *cls = object.f.type;
    bool found;
    if (type_is_instance(cls) && (v_method(in, "__len__", &object, 1, &found, out) || found))
        return !in->stop;
    int32_t field = type_is_instance(cls) ? -1 : type_field(cls, STR("length"));
    if (field < 0) return v_refuse(in, REFUSE_CALL, "len", &object, 1);
    *out = val_of(fact_of(ti_wint(in)));
    if (!in->emit) return true;
    out->ref = emit1(in->emit, OP_field, i64_type(in->types), v_ref(in, object));
    ir_inst(in->emit->out, out->ref)->imm = field;
    emitted_nonnegative(in->emit, out->ref);
    return true;
}

/* Lists are indexed by positions, dicts by keys. */
static bool may_index(const Val *object, const Val *index) {
    if (type_is_of(object->f.type, CLS_dict) || type_is_instance(object->f.type)) return true;
    return type_is_int(index->f.type) || index->f.type->kind == TY_bool;
}

/* Positions are i64: a uint64, which meets lengths as a float under strong numbers, is one. */
static bool as_position(Infer *in, const Val *object, Val *index) {
    const Type *i64 = i64_type(in->types);
    if ((!type_is_list(object->f.type) && !type_is_octets(object->f.type)) ||
        index->f.type->kind != TY_u64)
        return true;
    return v_cast(in, *index, i64, false, index);
}

/* Of a container of nobody knows what yet only that is known which is a container. */
static bool stored_in_open(Infer *in, Val self, const Val *index, Val *out) {
    const Type *object = self.f.type, *stored = object->params[object->nparams - 1];
    Val args[2] = {self, *index};
    CallArgs call = {args, 2, 0, NULL};
    bool missing = type_is_variant(object, VARIANT_defaultdict);
    if (is_kind(index, TY_SLICE)) stored = object;
    if (missing && !container_taught(in, STR("defaultdict.__getitem__"), &call)) return false;
    if (object->variant && !stored->open) return *out = val_of(fact_of(stored)), true;
    if (stored->kind == TY_UNKNOWN) return in->stop = STOP_UNKNOWN, false;
    return *out = val_of(fact_of(stored)), true;
}

bool v_object_getitem(Infer *in, Val object, Val index, Val *out) {
    bool found;
    Val args[4] = {object, index};
    if (object.f.type->open) return stored_in_open(in, object, &index, out);
    if (!is_kind(&index, TY_SLICE) || type_is_instance(object.f.type)) {
        if (!may_index(&object, &index)) return v_refuse(in, REFUSE_INDEX, NULL, args, 2);
        if (!as_position(in, &object, &args[1])) return false;
        if (v_method(in, "__getitem__", args, 2, &found, out) || found) return !in->stop;
        return v_refuse(in, REFUSE_INDEX, NULL, args, 2);
    }
    for (int32_t k = 0; k < 3; k++)
        args[1 + k] = v_item(in, index, k);
    if (v_method(in, "__getslice__", args, 4, &found, out) || found) return !in->stop;
    return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){object, index}, 2);
}

bool v_object_setitem(Infer *in, Val object, Val index, Val value) {
    bool found;
    Val args[5] = {object, index, value}, ignored;
    if (!is_kind(&index, TY_SLICE) || type_is_instance(object.f.type)) {
        if (!may_index(&object, &index)) return v_refuse(in, REFUSE_INDEX, NULL, args, 2);
        if (!as_position(in, &object, &args[1])) return false;
        if (v_method(in, "__setitem__", args, 3, &found, &ignored) || found) return !in->stop;
        return v_refuse(in, REFUSE_INDEX, NULL, args, 2);
    }
    for (int32_t k = 0; k < 3; k++)
        args[1 + k] = v_item(in, index, k);
    args[4] = value;
    if (v_method(in, "__setslice__", args, 5, &found, &ignored) || found) return !in->stop;
    return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){object, index}, 2);
}

bool v_object_delitem(Infer *in, Val object, Val index) {
    bool found;
    Val args[4] = {object, index}, ignored;
    if (!is_object(&object))
        return v_refuse(in, REFUSE_FORM, "del of an item of something that is no list or dict",
                        &object, 1);
    if (!is_kind(&index, TY_SLICE) || type_is_instance(object.f.type)) {
        if (v_method(in, "__delitem__", args, 2, &found, &ignored) || found) return !in->stop;
        return v_refuse(in, REFUSE_INDEX, NULL, args, 2);
    }
    for (int32_t k = 0; k < 3; k++)
        args[1 + k] = v_item(in, index, k);
    if (v_method(in, "__delslice__", args, 4, &found, &ignored) || found) return !in->stop;
    return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){object, index}, 2);
}

/* -- operators ------------------------------------------------------------------------------------- */

/* The methods that stand for operators; the right operand's is asked where the left one is no object. */
static const struct {
    Operator op;
    const char *name, *in_place, *reflected;
} operators[] = {
    {OPR_add, "__add__", "__iadd__", NULL}, {OPR_mul, "__mul__", "__imul__", "__mul__"},
    {OPR_eq, "__eq__", NULL, NULL},         {OPR_ne, "__ne__", NULL, NULL},
    {OPR_lt, "__lt__", NULL, NULL},         {OPR_le, "__le__", NULL, NULL},
    {OPR_gt, "__gt__", NULL, NULL},         {OPR_ge, "__ge__", NULL, NULL},
    {OPR_or, "__or__", "__ior__", NULL},    {OPR_and, "__and__", "__iand__", NULL},
    {OPR_sub, "__sub__", "__isub__", NULL}, {OPR_xor, "__xor__", "__ixor__", NULL},
    {OPR_mod, "__mod__", NULL, NULL},
};

/* Methods of sets take anything with items; operators take sets (and views of keys, which are such) alone. */
static bool misses_set(Infer *in, Operator op, const Val *a, const Val *b) {
    bool of_sets = op == OPR_or || op == OPR_and || op == OPR_sub || op == OPR_xor ||
                   op == OPR_lt || op == OPR_le || op == OPR_gt || op == OPR_ge;
    if (!of_sets || !type_is_of(a->f.type, CLS_set) || type_is_of(b->f.type, CLS_set) ||
        is_kind(b, TY_ITER))
        return false;
    v_refuse(in, REFUSE_BINARY, operator_verbs[op], (Val[]){*a, *b}, 2);
    ti_advise(in, "both sides of an operator of sets are sets: set(...) makes one of something "
                  "else, and methods such as "
                  "s.union(...) and s.issubset(...) take it as it is");
    return true;
}

/* Python asks the right operand first where it is of a derived class that has the operator the other way round: dict | defaultdict. */
static bool is_reflected(Infer *in, Operator op, const Val *a, const Val *b) {
    return op == OPR_or && is_object(a) && is_object(b) && !a->f.type->variant &&
           b->f.type->variant && library_has(in, object_method(in, b, STR("__ror__")));
}

/* +c and -c, which collections.Counter has. */
bool v_object_unary(Infer *in, Operator op, Val a, bool *handled, Val *out) {
    const char *name = op == OPR_pos ? "__pos__" : op == OPR_neg ? "__neg__" : NULL;
    *handled = name && is_object(&a) && library_has(in, object_method(in, &a, str_from(name)));
    return *handled && v_method(in, name, &a, 1, handled, out);
}

/* *handled false: no operand is an object, or there is no such operator. */
bool v_object_operator(Infer *in, Operator op, bool in_place, Val a, Val b, bool *handled,
                       Val *out) {
    if (v_instance_operator(in, op, in_place, a, b, handled, out) || *handled) return !in->stop;
    if ((!is_object(&a) && !is_object(&b)) || in->stop) return false;
    if (misses_set(in, op, &a, &b)) return *handled = true, false;
    if (!in_place && is_reflected(in, op, &a, &b))
        return v_method(in, "__ror__", (Val[]){b, a}, 2, handled, out);
    for (int i = 0; i < countof(operators); i++) {
        if (operators[i].op != op) continue;
        const char *name = operators[i].name;
        bool changing = in_place && is_object(&a) && !type_is_frozen(a.f.type);
        const char *changes = changing ? operators[i].in_place : NULL;
        if (changes && library_has(in, object_method(in, &a, str_from(changes)))) name = changes;
        if (!is_object(&a)) name = operators[i].reflected;
        if (!name) return false;
        Val args[2] = {is_object(&a) ? a : b, is_object(&a) ? b : a};
        bool done = v_method(in, name, args, 2, handled, out);
        return done;
    }
    return false;
}

/* -- primitives ------------------------------------------------------------------------------------ */

static bool misfit(Infer *in, const char *name, const Val *args, int32_t n) {
    return ti_fail(in, in->at, E0401, name, ti_arg_texts(in, args, n));
}

static int32_t field_argument(const Val *args, int32_t n) {
    const Str *name = n > 1 ? fact_str(&args[1].f) : NULL;
    return name && is_object(&args[0]) ? type_field(args[0].f.type, *name) : -1;
}

bool primitive_field(Infer *in, const Val *given, int32_t n, Val *out) {
    if (n != 2) return misfit(in, "primitive.field", given, n);
    Val args[2] = {given[0], given[1]};
    if (!v_text(in, &args[0])) return false;
    int32_t field = field_argument(args, n);
    if (field < 0) return misfit(in, "primitive.field", args, n);
    const Type *cls = args[0].f.type;
    bool count = type_field_is_count(cls, field);
    *out = val_of(fact_of(count ? ti_wint(in) : cls->items[field]));
    if (!in->emit) return true;
    out->ref = emit1(in->emit, OP_field, lower_type(in->ti, cls->items[field]), v_ref(in, args[0]));
    ir_inst(in->emit->out, out->ref)->imm = field;
    if (count) emitted_nonnegative(in->emit, out->ref);
    return true;
}

bool primitive_set_field(Infer *in, const Val *args, int32_t n, Val *out) {
    int32_t field = field_argument(args, n);
    if (n != 3 || field < 0 || !can_convert(args[2].f.type, args[0].f.type->items[field]))
        return misfit(in, "primitive.set_field", args, n);
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!in->emit) return true;
    Ref value = v_as(in, args[2], args[0].f.type->items[field]);
    Ref ref = emit2(in->emit, OP_set_field, NULL, v_ref(in, args[0]), value);
    ir_inst(in->emit->out, ref)->imm = field;
    return true;
}

/* A new object of the class of the first argument, with all its fields. */
bool primitive_new_like(Infer *in, const Val *args, int32_t n, Val *out) {
    Val like = n ? args[0] : (Val){0};
    if (n && !v_text(in, &like)) return false;
    const Type *cls = like.f.type;
    bool fits = cls && cls->kind == TY_CLASS && n == 1 + cls->nitems;
    for (int32_t i = 0; fits && i < cls->nitems; i++)
        fits = can_convert(args[1 + i].f.type, cls->items[i]);
    if (!fits) return misfit(in, "primitive.new_like", args, n);
    if (!ti_may_allocate(in, "a container")) return false;
    *out = val_of(fact_of(cls));
    if (!in->emit) return true;
    Ref *refs = arena_array(in->arena, Ref, n);
    for (int32_t i = 0; i < cls->nitems; i++)
        refs[i] = v_as(in, args[1 + i], cls->items[i]);
    out->ref = emit(in->emit, OP_new, lower_type(in->ti, cls), refs, cls->nitems);
    return true;
}

static bool is_buffer(const Val *v) {
    return is_kind(v, TY_ARRAY) && v->f.type->ndim == 1 && v->f.type->layout == LAYOUT_C;
}

/* What no memory holds is said as Python says it. */
static void guard_size(Infer *in, const Type *element, Ref size) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    Ref most = emit_int(e, i64, INT64_MAX / 2 / type_size(element));
    emit_guard(e, GUARD_memory, emit2(e, OP_lt, bool_type(in->types), most, size), &size, 1);
}

/* As many empty places with elements of the same type. */
bool primitive_buffer_like(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 2 || !is_buffer(&args[0]) || !type_is_int(args[1].f.type))
        return misfit(in, "primitive.buffer_like", args, n);
    *out = val_of(fact_of(args[0].f.type));
    if (!in->emit) return true;
    Ref size = v_as(in, args[1], i64_type(in->types));
    guard_size(in, out->f.type->element, size);
    out->ref = emit1(in->emit, OP_alloc, lower_type(in->ti, out->f.type), size);
    ir_inst(in->emit->out, out->ref)->sub = out->f.type->element->counted ? FLAG_ZEROED : 0;
    return true;
}

/* grow(object, "items", used, room) */
bool primitive_grow(Infer *in, const Val *args, int32_t n, Val *out) {
    int32_t field = field_argument(args, n);
    bool fits = n == 4 && field >= 0 && type_is_int(args[2].f.type) && type_is_int(args[3].f.type);
    const Type *buffer = fits ? args[0].f.type->items[field] : NULL;
    if (!fits || buffer->kind != TY_ARRAY || buffer->ndim != 1 || buffer->layout != LAYOUT_C)
        return misfit(in, "primitive.grow", args, n);
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!in->emit) return true;
    const Type *i64 = i64_type(in->types);
    Ref refs[3] = {v_ref(in, args[0]), v_as(in, args[2], i64), v_as(in, args[3], i64)};
    guard_size(in, buffer->element, refs[2]);
    Ref ref = emit(in->emit, OP_grow, NULL, refs, 3);
    ir_inst(in->emit->out, ref)->imm = field;
    return true;
}

bool primitive_take(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 2 || !is_buffer(&args[0]) || !type_is_int(args[1].f.type))
        return misfit(in, "primitive.take", args, n);
    *out = val_of(fact_of(args[0].f.type->element));
    if (!in->emit) return true;
    Ref index = v_as(in, args[1], i64_type(in->types));
    out->ref = emit2(in->emit, OP_take, lower_type(in->ti, out->f.type), v_ref(in, args[0]), index);
    return true;
}

bool primitive_move(Infer *in, const Val *args, int32_t n, Val *out) {
    bool fits =
        n == 5 && is_buffer(&args[0]) && is_buffer(&args[2]) && args[0].f.type == args[2].f.type;
    for (int32_t i = 1; fits && i < 5; i += i == 1 ? 2 : 1)
        fits = type_is_int(args[i].f.type);
    if (!fits) return misfit(in, "primitive.move", args, n);
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!in->emit) return true;
    const Type *i64 = i64_type(in->types);
    Ref refs[5] = {v_ref(in, args[0]), v_as(in, args[1], i64), v_ref(in, args[2]),
                   v_as(in, args[3], i64), v_as(in, args[4], i64)};
    emit(in->emit, OP_move, NULL, refs, 5);
    return true;
}
