/* infer_record.c - records, the elements of structured arrays, and their fields.
 *
 * As in NumPy a record is a look at memory: an array without axes, whose element is a record. A field of an array of records is a
 * view of it, with more axes where the field is an array itself; of one record a number is read. What a record is assigned is copied. */
#include "typeinfer/infer.h"

bool type_is_records(const Type *type) {
    return type && type->kind == TY_ARRAY && type->element->kind == TY_RECORD;
}

/* Characters have no fields. */
static bool has_fields(const Type *type) {
    return type_is_records(type) && !type_is_characters(type->element);
}

static bool is_record(const Val *v) {
    return has_fields(v->f.type) && v->f.type->ndim == 0;
}

static bool is_characters(Val v) {
    return type_is_records(v.f.type) && type_is_characters(v.f.type->element);
}

/* -- which field --------------------------------------------------------------------------------- */

void v_advise_fields(Infer *in, const Type *records) {
    StrBuf text;
    buf_init(&text, in->arena);
    buf_str(&text, "the fields are");
    const Type *record = records->element;
    for (int32_t i = 0; i < record->nitems; i++)
        buf_printf(&text, "%s'" STR_FMT "'", i ? ", " : " ", STR_ARG(record->fields[i]));
    ti_advise(in, ti_c_text(in, buf_take(&text)));
}

static bool no_field(Infer *in, Val a, Str name) {
    v_refuse(in, REFUSE_ATTRIBUTE, ti_c_text(in, name), &a, 1);
    return v_advise_fields(in, a.f.type), false;
}

/* a['x'], and of one record r[0]; -1: the index is of another kind. */
static int32_t field_of_index(Val a, Val index) {
    const Type *record = a.f.type->element;
    const Str *name = fact_str(&index.f);
    int64_t k;
    if (name) return type_field(record, *name);
    if (!is_record(&a) || !fact_int_value(&index.f, &k)) return -1;
    if (k < 0) k += record->nitems;
    return k >= 0 && k < record->nitems ? (int32_t)k : -1;
}

/* -- views ----------------------------------------------------------------------------------------- */

static const Type *field_view_type(Infer *in, const Type *records, int32_t field) {
    const Type *item = records->element->items[field];
    Type key = *records;
    bool block = item->kind == TY_BLOCK;
    key.element = block ? item->element : item;
    int ndim = records->ndim + (block ? item->ndim : 0);
    const Type *view = type_array_like(in->types, &key, ndim, LAYOUT_A);
    bool aligned = records->aligned && type_field_aligned(records->element, field);
    return type_array_aligned(in->types, view, aligned);
}

static Ref emit_axis(Emit *e, Op op, Ref array, int32_t axis) {
    Ref n = emit1(e, op, i64_type(e->types), array);
    ir_inst(e->out, n)->imm = axis;
    return n;
}

/* The shape and the strides of the records, then those of the field itself, and where it starts. */
static Ref emit_field_view(Infer *in, Ref records, const Type *view, const Type *record,
                           int32_t field) {
    enum { MOST_AXES = 64 };
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *item = record->items[field];
    int32_t n = view->ndim, outer = ir_type(e->out, records)->ndim;
    Ref args[2 + 2 * MOST_AXES] = {records};
    for (int32_t k = 0; k < outer; k++) {
        args[1 + k] = emit_axis(e, OP_shape, records, k);
        args[1 + n + k] = emit_axis(e, OP_stride, records, k);
    }
    int64_t step = type_size(view->element);
    for (int32_t k = n; k-- > outer; step *= item->offsets[k - outer]) {
        args[1 + k] = emit_int(e, i64, item->offsets[k - outer]);
        args[1 + n + k] = emit_int(e, i64, step);
    }
    args[1 + 2 * n] = emit_int(e, i64, type_offset(record, field));
    return emit(e, OP_restride, view, args, 2 + 2 * n);
}

/* Numbers and text in another byte order are carried, no more. */
static bool is_read(Infer *in, Val a, int32_t field) {
    const Type *record = a.f.type->element;
    if (!type_is_bytes(record->items[field])) return true;
    const char *what =
        str_printf(in->arena, "the field '" STR_FMT "', which is not in this machine's byte order,",
                   STR_ARG(record->fields[field]))
            .bytes;
    return v_refuse(in, REFUSE_FORM, what, &a, 1);
}

static bool field_view(Infer *in, Val a, int32_t field, Val *out) {
    if (!is_read(in, a, field)) return false;
    const Type *type = field_view_type(in, a.f.type, field);
    if (type->ndim > 32) return v_refuse(in, REFUSE_FORM, "an array with more than 32 axes", &a, 1);
    *out = val_of(fact_of(type));
    if (in->emit) out->ref = emit_field_view(in, v_ref(in, a), type, a.f.type->element, field);
    return true;
}

static bool get_field(Infer *in, Val a, int32_t field, Val *out) {
    if (!field_view(in, a, field, out)) return false;
    if (out->f.type->ndim) return true;
    if (is_characters(*out)) return v_text_of(in, *out, out);
    return *out = v_scalar(in, *out), true; /* a record stays what it is */
}

bool v_record_attr(Infer *in, Val a, Str name, bool *found, Val *out) {
    int32_t field = has_fields(a.f.type) ? type_field(a.f.type->element, name) : -1;
    *found = field >= 0;
    return *found && get_field(in, a, field, out);
}

bool v_record_getitem(Infer *in, Val a, Val index, bool *found, Val *out) {
    int32_t field = has_fields(a.f.type) ? field_of_index(a, index) : -1;
    const Str *name = fact_str(&index.f);
    *found = field >= 0 || (has_fields(a.f.type) && name);
    if (field < 0) return *found && no_field(in, a, *name);
    return get_field(in, a, field, out);
}

/* -- characters --------------------------------------------------------------------------------------- */

/* The code points, along an axis more. */
static Val code_points(Infer *in, Val a) {
    Val out = val_of(fact_of(field_view_type(in, a.f.type, 0)));
    if (in->emit) out.ref = emit_field_view(in, v_ref(in, a), out.f.type, a.f.type->element, 0);
    return out;
}

bool v_is_characters(Val v) {
    return is_kind(&v, TY_ARRAY) && is_characters(v);
}

bool v_text_of(Infer *in, Val element, Val *out) {
    if (!ti_may_allocate(in, "text")) return false;
    Val points = code_points(in, element);
    return v_library(in, "characters.text", &(CallArgs){&points, 1, 0, NULL}, out);
}

/* Text, of characters of the same kind: U is text, S is bytes. */
static bool fits_characters(const Type *element, Val value) {
    bool bytes = element->items[0]->element->kind == TY_u8;
    return bytes ? type_is_of(value.f.type, CLS_bytes) : type_is_text(value.f.type);
}

/* a[i] = "text"; what is longer than the elements is cut, as NumPy does. *known false: it is characters of the same type. */
static bool fill_characters(Infer *in, Val a, Val value, bool *known) {
    const Type *element = a.f.type->element;
    Val args[2] = {code_points(in, a), value}, nothing;
    CallArgs call = {args, 2, 0, NULL};
    if (is_characters(value) && value.f.type->element == element) return *known = false;
    if (is_characters(value) &&
        value.f.type->element->items[0]->element == element->items[0]->element) {
        args[1] = code_points(in, value);
        return v_library(in, "characters.put_array", &call, &nothing);
    }
    if (!fits_characters(element, value))
        return v_refuse(in, REFUSE_ELEMENT, ti_text(in, a.f.type), &value, 1);
    if (!v_text(in, &args[1])) return false;
    return v_library(in, "characters.put", &call, &nothing);
}

/* An element that was loaded, in memory again. */
static Val in_memory(Infer *in, Val v) {
    Emit *e = in->emit;
    if (!is_kind(&v, TY_RECORD)) return v;
    Val out = val_of(fact_of(type_array(in->types, v.f.type, 0, LAYOUT_A)));
    if (!e) return out;
    const Type *i64 = i64_type(in->types), *line = type_array(in->types, v.f.type, 1, LAYOUT_C);
    const ConstVal **size = arena_array(in->arena, const ConstVal *, 1);
    size[0] = const_int(in->arena, 1);
    Ref place = emit(e, OP_static_array, line, NULL, 0);
    ir_inst(e->out, place)->u.value = const_tuple(in->arena, size, 1);
    emit3(e, OP_store, NULL, place, emit_int(e, i64, 0), v_ref(in, v));
    Ref view[2] = {place, emit_int(e, i64, 0)};
    return out.ref = emit(e, OP_restride, out.f.type, view, 2), out;
}

static bool is_loaded(Val v) {
    return is_kind(&v, TY_RECORD) && type_is_characters(v.f.type);
}

bool v_characters_truth(Infer *in, Val a, bool *known, Val *out) {
    *known = is_loaded(a);
    if (!*known) return false;
    Val points = code_points(in, in_memory(in, a));
    return v_library(in, "characters.truth", &(CallArgs){&points, 1, 0, NULL}, out);
}

/* Single elements. */
static bool compare_points(Infer *in, Operator op, const Val *points, Val *out) {
    Val order = {0};
    CallArgs both = {(Val *)points, 2, 0, NULL};
    return v_library(in, "characters.order", &both, &order) &&
           v_binary(in, op, false, order, val_of(fact_int(in, 0)), out);
}

/* a == "x", a < b: as elements of text. *handled false: other operands, or another operator. */
bool v_compare_characters(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out) {
    static const char *const names[OPR_COUNT] = {
        [OPR_eq] = "characters.eq", [OPR_ne] = "characters.ne", [OPR_lt] = "characters.lt",
        [OPR_le] = "characters.le", [OPR_gt] = "characters.gt", [OPR_ge] = "characters.ge"};
    Val args[2] = {a, b};
    *handled =
        names[op] && (v_is_characters(a) || v_is_characters(b) || is_loaded(a) || is_loaded(b));
    for (int k = 0; *handled && k < 2; k++)
        args[k] = is_loaded(args[k]) ? in_memory(in, args[k]) : args[k];
    const Val before[2] = {args[0], args[1]};
    for (int k = 0; *handled && k < 2; k++) {
        const Val *other = &before[1 - k];
        if (v_is_characters(args[k]))
            args[k] = code_points(in, args[k]);
        else if (!fits_characters(other->f.type->element, args[k]))
            return *handled = false;
        else if (!v_text(in, &args[k]) ||
                 !v_library(in, "characters.points", &(CallArgs){&args[k], 1, 0, NULL}, &args[k]))
            return false;
    }
    if (!*handled) return false;
    if (args[0].f.type->ndim == 1 && args[1].f.type->ndim == 1)
        return compare_points(in, op, args, out);
    return v_library(in, names[op], &(CallArgs){args, 2, 0, NULL}, out);
}

/* -- assignment -------------------------------------------------------------------------------------- */

bool v_record_set(Infer *in, Val a, Val index, Val value, bool *found) {
    Val view = {0};
    int32_t field = has_fields(a.f.type) ? field_of_index(a, index) : -1;
    const Str *name = fact_str(&index.f);
    *found = field >= 0 || (has_fields(a.f.type) && name);
    if (field < 0) return *found && no_field(in, a, *name);
    return field_view(in, a, field, &view) && v_fill(in, view, value);
}

/* a[i] = b[j] and a[i] = (1, 2.5), of an array of records each of them. *known false: it is no such value. */
bool v_record_fill(Infer *in, Val records, Val value, bool *known) {
    const Type *record = records.f.type->element;
    *known = true;
    if (is_characters(records)) return fill_characters(in, records, value, known);
    if (is_kind(&value, TY_TUPLE) && value.f.type->nitems == record->nitems) {
        for (int32_t k = 0; k < record->nitems; k++) {
            Val view = {0};
            if (!field_view(in, records, k, &view) || !v_fill(in, view, v_item(in, value, k)))
                return false;
        }
        return true;
    }
    if (!is_record(&value) || value.f.type->element != record) return *known = false;
    Emit *e = in->emit;
    if (e) emit_fill(e, v_ref(in, records), emit1(e, OP_load, record, v_ref(in, value)));
    return true;
}

/* -- comparison ---------------------------------------------------------------------------------------- */

/* Two records of one dtype are equal when their fields are. *handled false: they are not, or a field is an array. */
bool v_equal_records(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out) {
    bool equality = op == OPR_eq || op == OPR_ne;
    *handled = equality && is_record(&a) && is_record(&b) && a.f.type->element == b.f.type->element;
    const Type *record = *handled ? a.f.type->element : NULL;
    for (int32_t k = 0; *handled && k < record->nitems; k++)
        *handled = record->items[k]->kind != TY_BLOCK;
    if (!*handled) return false;
    Val *x = arena_array(in->arena, Val, record->nitems);
    Val *y = arena_array(in->arena, Val, record->nitems);
    for (int32_t k = 0; k < record->nitems; k++)
        if (!get_field(in, a, k, &x[k]) || !get_field(in, b, k, &y[k])) return false;
    return v_equal_tuples(in, op, v_tuple(in, x, record->nitems), v_tuple(in, y, record->nitems),
                          out);
}
