/* box.c - results of compiled code become Python objects.
 *
 * Numbers become Python numbers (as Numba's do). An array that is an argument is that object again; a
 * view of an argument has it as its base; memory that compiled code allocated belongs to a capsule
 * which is the base of the array. */
#include "codegen/support.h"
#include "pymodule/state.h"

static void drop_owner(PyObject *capsule) {
    Owner *owner = PyCapsule_GetPointer(capsule, "quern.owner");
    if (owner && atomic_fetch_sub(&owner->refs, 1) == 1) owner->destroy(owner);
}

static bool same_array(PyArrayObject *array, const ArrayValue *value, int ndim) {
    if (PyArray_DATA(array) != value->data || PyArray_NDIM(array) != ndim) return false;
    for (int i = 0; i < ndim; i++)
        if (PyArray_DIM(array, i) != value->dims[i]) return false;
    for (int i = 0; i < ndim;
         i++) /* strides of an axis of length 1 or of an empty array mean nothing */
        if (PyArray_STRIDE(array, i) != value->dims[ndim + i] && PyArray_DIM(array, i) > 1 &&
            PyArray_SIZE(array) > 0)
            return false;
    return true;
}

static PyArray_Descr *element_descr(ModState *state, const ValueLayout *layout) {
    if (layout->element == TY_RECORD) return layout->cls;
    return py_descr_of_kind(state, py_kind_of_layout(state, layout));
}

/* One without axes is the record that it looks at. */
static PyObject *as_record(const ValueLayout *layout, PyObject *array) {
    if (!array || layout->element != TY_RECORD || layout->ndim) return array;
    PyArrayObject *a = (PyArrayObject *)array;
    PyObject *record = PyArray_ToScalar(PyArray_DATA(a), a);
    Py_DECREF(array);
    return record;
}

/* Is it that very record? */
static bool same_record(const ValueLayout *layout, PyObject *base, const ArrayValue *value) {
    const PyVoidScalarObject *record = (PyVoidScalarObject *)base;
    return layout->element == TY_RECORD && layout->ndim == 0 && py_is_record(base) &&
           record->obval == value->data && PyArray_EquivTypes(record->descr, layout->cls);
}

static PyObject *new_array(ModState *state, const ValueLayout *layout, const ArrayValue *value,
                           void *data, bool writable) {
    npy_intp shape[MAX_DIMS], strides[MAX_DIMS];
    int ndim = layout->ndim;
    for (int i = 0; i < ndim; i++) {
        shape[i] = value->dims[i];
        strides[i] = value->dims[ndim + i];
    }
    PyArray_Descr *descr = element_descr(state, layout);
    if (!descr) return NULL;
    Py_INCREF(descr);
    return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, data ? strides : NULL, data,
                                writable ? NPY_ARRAY_WRITEABLE : 0, NULL);
}

/* The object under a borrowed owner: an ndarray, or what keeps its memory alive. */
static PyObject *box_view(ModState *state, const ValueLayout *layout, const ArrayValue *value) {
    PyObject *base = value->owner->object;
    bool is_array = py_is_array(state, base);
    PyArray_Descr *descr = element_descr(state, layout);
    if (!descr) return NULL;
    if (is_array && same_array((PyArrayObject *)base, value, layout->ndim) &&
        PyArray_EquivTypes(PyArray_DESCR((PyArrayObject *)base), descr))
        return Py_NewRef(base);
    if (same_record(layout, base, value)) return Py_NewRef(base);
    bool writable = !layout->readonly && (!is_array || PyArray_ISWRITEABLE((PyArrayObject *)base));
    PyObject *array = new_array(state, layout, value, value->data, writable);
    if (array && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(base)) < 0)
        Py_CLEAR(array);
    return as_record(layout, array);
}

static PyObject *box_owned(ModState *state, const ValueLayout *layout, const ArrayValue *value) {
    PyObject *capsule = PyCapsule_New(value->owner, "quern.owner", drop_owner);
    if (!capsule) {
        if (atomic_fetch_sub(&value->owner->refs, 1) == 1) value->owner->destroy(value->owner);
        return NULL;
    }
    PyObject *array = new_array(state, layout, value, value->data, !layout->readonly);
    if (!array)
        Py_DECREF(capsule);
    else if (PyArray_SetBaseObject((PyArrayObject *)array, capsule) <
             0) /* steals, also on failure */
        Py_CLEAR(array);
    return as_record(layout, array);
}

bool py_is_array_of(PyObject *object, const ArrayValue *value, int ndim) {
    if (!value->owner || value->owner->object != object) return false;
    if (py_is_record(object)) return ((PyVoidScalarObject *)object)->obval == value->data;
    return same_array((PyArrayObject *)object, value, ndim);
}

static PyObject *box_array(ModState *state, const ValueLayout *layout, const ArrayValue *value) {
    if (py_is_owned(value->owner)) {
        PyObject *view = box_view(state, layout, value);
        quern_release(value->owner);
        return view;
    }
    if (value->owner &&
        atomic_load_explicit(&value->owner->refs, memory_order_relaxed) >= OWNER_BORROWED / 2)
        return box_view(state, layout, value);
    if (value->owner) return box_owned(state, layout, value);
    /* a constant of the program, or an empty array: a copy of its own */
    PyObject *view = new_array(state, layout, value, value->data, false), *copy = NULL;
    if (view) copy = PyArray_NewCopy((PyArrayObject *)view, NPY_KEEPORDER);
    Py_XDECREF(view);
    return as_record(layout, copy);
}

/* The values of a dict of constant keys, which it takes over. */
static PyObject *dict_of(const ValueLayout *layout, PyObject *values) {
    PyObject *dict = PyDict_New();
    for (int32_t i = 0; dict && i < layout->nitems; i++) {
        Str name = layout->fields[i];
        PyObject *key = PyUnicode_DecodeUTF8(name.bytes, name.len, "surrogatepass");
        if (!key || PyDict_SetItem(dict, key, PyTuple_GET_ITEM(values, i)) < 0) Py_CLEAR(dict);
        Py_XDECREF(key);
    }
    Py_DECREF(values);
    return dict;
}

static PyObject *box_tuple(ModState *state, const ValueLayout *layout, const char *value) {
    PyObject *tuple = PyTuple_New(layout->nitems);
    bool ok = tuple != NULL;
    for (int32_t i = 0; tuple && i < layout->nitems; i++) { /* all: each takes over its memory */
        const ValueLayout *item = &layout->items[i];
        PyObject *boxed = py_box(state, item, value + item->offset);
        ok &= boxed != NULL;
        PyTuple_SET_ITEM(tuple, i, boxed);
    }
    if (ok && layout->fields && !layout->cls) return dict_of(layout, tuple);
    if (ok && layout->cls) {
        bool named_tuple = PyType_IsSubtype(layout->cls, &PyTuple_Type);
        PyObject *named = named_tuple ? PyObject_Call(layout->cls, tuple, NULL)
                                      : py_make_value(layout->cls, tuple);
        Py_DECREF(tuple);
        return named;
    }
    if (!ok) Py_CLEAR(tuple);
    return tuple;
}

/* A function that compiled code has made: one of the same code in Python, compiled when it is called. */
static PyObject *box_closure(ModState *state, const ValueLayout *layout, const char *value) {
    ValueLayout plain = *layout;
    plain.cls = NULL, plain.fields = NULL;
    PyObject *values = box_tuple(state, &plain, value), *names = PyTuple_New(layout->nitems);
    for (int32_t i = 0; names && i < layout->nitems; i++) {
        Str name = layout->fields[i];
        PyObject *text = PyUnicode_DecodeUTF8(name.bytes, name.len, "surrogatepass");
        if (!text) Py_CLEAR(names);
        if (names) PyTuple_SET_ITEM(names, i, text);
    }
    PyObject *module = values && names ? PyImport_ImportModule("quern._closures") : NULL;
    PyObject *cls = layout->cls ? layout->cls : Py_None;
    PyObject *made = module ? PyObject_CallMethod(module, "make", "OOO", cls, names, values) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(names);
    Py_XDECREF(values);
    return made;
}

static PyObject *box_slice(const ValueLayout *layout, const int64_t *value) {
    PyObject *parts[3], *slice = NULL;
    for (int i = 0; i < 3; i++)
        parts[i] = layout->element >> i & 1 ? PyLong_FromLongLong(value[i]) : Py_NewRef(Py_None);
    if (parts[0] && parts[1] && parts[2]) slice = PySlice_New(parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(parts[i]);
    return slice;
}

#define READ(type) (*(const type *)value)
PyObject *py_box(ModState *state, const ValueLayout *layout, const char *value) {
    switch (layout->kind) {
    case TY_none: return Py_NewRef(Py_None);
    case TY_bool: return PyBool_FromLong(READ(uint8_t) & 1);
    case TY_i8: return PyLong_FromLong(READ(int8_t));
    case TY_i16: return PyLong_FromLong(READ(int16_t));
    case TY_i32: return PyLong_FromLong(READ(int32_t));
    case TY_i64:
    case TY_wint: return PyLong_FromLongLong(READ(int64_t));
    case TY_u8: return PyLong_FromUnsignedLong(READ(uint8_t));
    case TY_u16: return PyLong_FromUnsignedLong(READ(uint16_t));
    case TY_u32: return PyLong_FromUnsignedLong(READ(uint32_t));
    case TY_u64: return PyLong_FromUnsignedLongLong(READ(uint64_t));
    case TY_f16: { /* NumPy knows the format */
        PyObject *scalar = PyArray_Scalar((void *)value, state->descrs[TY_f16], NULL);
        PyObject *number = scalar ? PyNumber_Float(scalar) : NULL;
        Py_XDECREF(scalar);
        return number;
    }
    case TY_bf16: { /* the upper half of a float */
        uint32_t bits = (uint32_t)READ(uint16_t) << 16;
        float single;
        memcpy(&single, &bits, sizeof single);
        return PyFloat_FromDouble((double)single);
    }
    case TY_f32: return PyFloat_FromDouble((double)READ(float));
    case TY_f64:
    case TY_wflt: return PyFloat_FromDouble(READ(double));
    case TY_c64:
        return PyComplex_FromDoubles((double)READ(float), (double)((const float *)value)[1]);
    case TY_c128:
    case TY_wcpx: return PyComplex_FromDoubles(READ(double), ((const double *)value)[1]);
    case TY_SLICE: return box_slice(layout, (const int64_t *)value);
    case TY_TIME: return py_box_time(state, layout, value);
    case TY_MEMBER: return py_member_of_number(layout->cls, READ(int64_t));
    case TY_TUPLE:
        if (layout->element) return py_box_random(value);
        return box_tuple(state, layout, value);
    case TY_CLOSURE: return box_closure(state, layout, value);
    case TY_OBJECT: return Py_NewRef(layout->cls);
    case TY_CHOICE: {
        const ValueLayout *chosen = &layout->items[READ(int64_t)];
        return py_box(state, chosen, value + chosen->offset);
    }
    case TY_ARRAY: return box_array(state, layout, (const ArrayValue *)value);
    case TY_CLASS:
        if (layout->shared) return py_box_shared(state, layout, value);
        switch (layout->element) {
        case CLS_str: return py_box_str(value);
        case CLS_bytes: return py_box_bytes(value);
        case CLS_exception: return py_box_exception(state, layout->artifact, value);
        case CLS_bytearray: return py_box_bytearray(value);
        default: return py_box_object(state, layout, value);
        }
    case TY_OPTIONAL:
        if (!READ(uint8_t)) return Py_NewRef(Py_None);
        return py_box(state, &layout->items[0], value + layout->items[0].offset);
    default: break;
    }
    PyErr_Format(PyExc_SystemError, "compiled code returned a value of unknown kind %d",
                 layout->kind);
    return NULL;
}
