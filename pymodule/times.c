/* times.c - NumPy's datetime64 and timedelta64: dtypes, scalars and their types.
 *
 * Each dtype has a number, as those of records have (records.c); a scalar has the dtype in its key. In compiled code both are
 * numbers of units, which the type says (type_time). */
#include "pymodule/state.h"

enum { NPY_BUSINESS_DAY = 3 }; /* a unit that NumPy has had: there is a hole in the numbers */

static const PyArray_DatetimeMetaData *unit_of(const PyArray_Descr *descr) {
    return &((PyArray_DatetimeDTypeMetaData *)PyDataType_C_METADATA(descr))->meta;
}

bool py_is_time(const PyArray_Descr *descr) {
    return PyTypeNum_ISDATETIME(descr->type_num) && PyArray_ISNBO(descr->byteorder) &&
           unit_of(descr)->num >= 1 && unit_of(descr)->num <= MAX_TIME_MULTIPLE;
}

static const Type *type_of_unit(TypeTable *types, bool span, const PyArray_DatetimeMetaData *unit) {
    int base = (int)unit->base - ((int)unit->base > NPY_BUSINESS_DAY);
    return type_time(types, span, (TimeUnit)base, unit->num);
}

const Type *py_time_type(TypeTable *types, const PyArray_Descr *descr) {
    return type_of_unit(types, descr->type_num == NPY_TIMEDELTA, unit_of(descr));
}

static bool is_descr_of(const PyArray_Descr *descr, const Type *time) {
    const PyArray_DatetimeMetaData *unit = unit_of(descr);
    int base = (int)unit->base - ((int)unit->base > NPY_BUSINESS_DAY);
    return (descr->type_num == NPY_TIMEDELTA) == type_is_span(time) &&
           base == (int)type_unit(time) && unit->num == type_multiple(time);
}

static int number_of_name(ModState *state, const Type *time) {
    char text[64];
    snprintf(text, sizeof text, "%s[%d%s]", type_is_span(time) ? "m8" : "M8", type_multiple(time),
             type_unit_name(type_unit(time)));
    if (type_unit(time) == UNIT_generic) text[2] = 0;
    PyObject *name = PyUnicode_FromString(text);
    PyArray_Descr *descr = NULL;
    int number = name && PyArray_DescrConverter(name, &descr) ? py_kind_of_descr(state, descr) : -1;
    Py_XDECREF(name);
    Py_XDECREF(descr);
    return number;
}

int py_kind_of_time(ModState *state, const Type *time) {
    for (int n = FIRST_RECORD; n < MOST_ELEMENTS && state->descrs[n]; n++)
        if (PyTypeNum_ISDATETIME(state->descrs[n]->type_num) && is_descr_of(state->descrs[n], time))
            return n;
    return number_of_name(state, time);
}

int py_kind_of_layout(ModState *state, const ValueLayout *layout) {
    bool array = layout->kind == TY_ARRAY;
    if (array && layout->element == TY_RECORD) return py_kind_of_descr(state, layout->cls);
    if (array && layout->element != TY_TIME) return layout->element;
    const Type time = {.kind = TY_TIME, .bits = layout->time};
    return py_kind_of_time(state, &time);
}

/* -- scalars --------------------------------------------------------------------------------------- */

bool py_is_time_scalar(PyObject *object) {
    return Py_TYPE(object) == &PyDatetimeArrType_Type ||
           Py_TYPE(object) == &PyTimedeltaArrType_Type;
}

/* Numbers of dtypes stand for it in keys. -1: exception, or there is no room. */
static int kind_of_scalar(ModState *state, PyObject *scalar) {
    PyArray_Descr *descr = PyArray_DescrFromScalar(scalar);
    int kind = descr && py_is_time(descr) ? py_kind_of_descr(state, descr) : -1;
    Py_XDECREF(descr);
    return kind;
}

TypeKey py_time_key(ModState *state, int kind) {
    return py_compound_key(state, (PyObject *)state->descrs[kind], NULL, KEY_TIME);
}

TypeKey py_time_scalar_key(ModState *state, PyObject *scalar) {
    int kind = kind_of_scalar(state, scalar);
    return kind < 0 ? 0 : py_time_key(state, kind);
}

bool py_unbox_time(const PyArray_Descr *descr, PyObject *object, int64_t *out) {
    const PyDatetimeScalarObject *scalar = (const PyDatetimeScalarObject *)object;
    if (Py_TYPE(object) != descr->typeobj) return false;
    const PyArray_DatetimeMetaData *unit = unit_of(descr);
    if (scalar->obmeta.base != unit->base || scalar->obmeta.num != unit->num) return false;
    *out = scalar->obval;
    return true;
}

PyObject *py_box_time(ModState *state, const ValueLayout *layout, const char *value) {
    int kind = py_kind_of_layout(state, layout);
    if (kind < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "there are too many kinds of times and records");
    return kind < 0 ? NULL : PyArray_Scalar((void *)value, state->descrs[kind], NULL);
}

int64_t py_time_number(PyObject *scalar) {
    return ((PyDatetimeScalarObject *)scalar)->obval;
}

bool py_bind_time(PyResolver *r, Binding *b, PyObject *scalar) {
    PyArray_Descr *descr = PyArray_DescrFromScalar(scalar);
    if (!descr) return false;
    ConstVal *value = arena_new(r->arena, ConstVal);
    *value = (ConstVal){.kind = CONST_INT, .i = ((PyDatetimeScalarObject *)scalar)->obval};
    b->kind = BIND_NUMPY;
    b->type = py_time_type(r->types, descr);
    b->value = value;
    Py_DECREF(descr);
    Str text = py_type_text(r, b->type);
    Hasher h;
    hash_init(&h);
    hash_u64(&h, BIND_NUMPY);
    hash_update(&h, text.bytes, (size_t)text.len);
    py_hash_const(&h, value);
    b->digest = hash_final(&h);
    return true;
}
