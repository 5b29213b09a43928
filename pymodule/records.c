/* records.c - structured dtypes: their numbers in type keys, and their types.
 *
 * NumPy makes a dtype anew wherever one is written; equal ones have one number and one dtype that stands for all. They are kept
 * as long as the module: there are as many as a program has kinds of records. */
#include "pymodule/state.h"

/* -- which dtypes there are -------------------------------------------------------------------------- */

/* (dtype, offset) of a field; borrowed. NULL: the dtype has no field of that name. */
static PyArray_Descr *field_of(PyArray_Descr *record, PyObject *name, int64_t *offset) {
    PyObject *row = PyDict_GetItemWithError(PyDataType_FIELDS(record), name);
    if (!row || !PyTuple_Check(row) || PyTuple_GET_SIZE(row) < 2) return NULL;
    *offset = PyLong_AsLongLong(PyTuple_GET_ITEM(row, 1));
    return (PyArray_Descr *)PyTuple_GET_ITEM(row, 0);
}

static bool is_record(PyArray_Descr *descr) {
    PyObject *names = PyDataType_NAMES(descr);
    return descr->type_num == NPY_VOID && names && PyTuple_GET_SIZE(names) > 0 &&
           PyDataType_ELSIZE(descr) > 0;
}

/* U5, S3: text of so many characters at most. */
static bool is_characters(PyArray_Descr *descr) {
    bool text = descr->type_num == NPY_STRING || descr->type_num == NPY_UNICODE;
    return text && PyArray_ISNBO(descr->byteorder) && PyDataType_ELSIZE(descr) > 0;
}

/* What compiled code carries in records, and does not look at: text and numbers in another byte order. */
static bool is_bytes(PyArray_Descr *descr) {
    bool number = py_kind_of_typenum(descr->type_num) >= 0 && PyArray_ISNBO(descr->byteorder);
    return !number && !py_is_time(descr) && !is_record(descr) && !is_characters(descr) &&
           !PyDataType_SUBARRAY(descr) && PyDataType_ELSIZE(descr) > 0 && !PyDataType_REFCHK(descr);
}

/* Numbers, records and arrays of these, in this machine's byte order, and bytes. */
static bool is_supported(PyArray_Descr *descr, int depth) {
    if (depth > MAX_NESTING) return false;
    if (PyDataType_SUBARRAY(descr)) {
        PyObject *shape = PyDataType_SUBARRAY(descr)->shape;
        return PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) <= MAX_DIMS &&
               is_supported(PyDataType_SUBARRAY(descr)->base, depth + 1);
    }
    if (!is_record(descr))
        return py_is_time(descr) || is_characters(descr) ||
               (PyArray_ISNBO(descr->byteorder) && py_kind_of_typenum(descr->type_num) >= 0);
    PyObject *names = PyDataType_NAMES(descr);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        int64_t offset;
        PyArray_Descr *field = field_of(descr, PyTuple_GET_ITEM(names, i), &offset);
        if (!field || !(is_bytes(field) || is_supported(field, depth + 1))) return false;
    }
    return true;
}

/* With the lock held. -1: there is no room. */
static int number_of(ModState *state, PyArray_Descr *descr) {
    int n = FIRST_RECORD;
    while (n < MOST_ELEMENTS && state->descrs[n]) {
        if (PyArray_EquivTypes(state->descrs[n], descr)) return n;
        n++;
    }
    if (n == MOST_ELEMENTS) return -1;
    Py_INCREF(descr);
    state->descrs[n] = descr;
    return n;
}

/* The bfloat16 of ml_dtypes, which is no dtype of NumPy's. Whoever has an array of it has the package. */
static int kind_of_foreign(ModState *state, PyArray_Descr *descr) {
    if (strcmp(descr->typeobj->tp_name, "ml_dtypes.bfloat16") != 0 || PyDataType_ELSIZE(descr) != 2)
        return -1;
    QN_LOCK(&state->lock);
    if (!state->descrs[TY_bf16]) {
        Py_INCREF(descr);
        state->descrs[TY_bf16] = descr;
    }
    QN_UNLOCK(&state->lock);
    return TY_bf16;
}

PyArray_Descr *py_descr_of_kind(ModState *state, int kind) {
    if (state->descrs[kind] || kind != TY_bf16) return state->descrs[kind];
    PyObject *module = PyImport_ImportModule("quern.numpy_support");
    PyObject *dtype = module ? PyObject_CallMethod(module, "bfloat16_dtype", NULL) : NULL;
    Py_XDECREF(module);
    if (!dtype) return NULL;
    bool known = PyArray_DescrCheck(dtype) && kind_of_foreign(state, (PyArray_Descr *)dtype) >= 0;
    Py_DECREF(dtype);
    if (!known) PyErr_SetString(PyExc_TypeError, "ml_dtypes.bfloat16 is no dtype of two bytes");
    return known ? state->descrs[TY_bf16] : NULL;
}

int py_kind_of_descr(ModState *state, PyArray_Descr *descr) {
    if (PyTypeNum_ISUSERDEF(descr->type_num)) return kind_of_foreign(state, descr);
    if (!is_record(descr) && !py_is_time(descr) && !is_characters(descr))
        return PyArray_ISNBO(descr->byteorder) ? py_kind_of_typenum(descr->type_num) : -1;
    if (!is_supported(descr, 0)) {
        PyErr_Clear();
        return -1;
    }
    QN_LOCK(&state->lock);
    int n = number_of(state, descr);
    QN_UNLOCK(&state->lock);
    return n;
}

/* -- types ---------------------------------------------------------------------------------------------- */

static const Type *block_type(TypeTable *types, const Type *element, PyObject *shape) {
    int64_t lengths[MAX_DIMS];
    int n = (int)PyTuple_GET_SIZE(shape);
    for (int i = 0; i < n; i++)
        lengths[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
    return type_block(types, element, n, lengths);
}

static const Type *record_type(ModState *state, TypeTable *types, Arena *arena,
                               PyArray_Descr *descr);

/* A sub-array of sub-arrays is one with the axes of both: NumPy has joined them. */
static const Type *field_type(ModState *state, TypeTable *types, Arena *arena,
                              PyArray_Descr *descr) {
    if (PyDataType_SUBARRAY(descr)) {
        const Type *element = field_type(state, types, arena, PyDataType_SUBARRAY(descr)->base);
        return element ? block_type(types, element, PyDataType_SUBARRAY(descr)->shape) : NULL;
    }
    if (is_bytes(descr)) return type_bytes(types, PyDataType_ELSIZE(descr));
    int kind = py_kind_of_descr(state, descr);
    if (kind < 0) return NULL;
    return py_element_type(state, types, arena, kind);
}

static const Type *record_type(ModState *state, TypeTable *types, Arena *arena,
                               PyArray_Descr *descr) {
    PyObject *names = PyDataType_NAMES(descr);
    int32_t n = (int32_t)PyTuple_GET_SIZE(names);
    const Type **items = arena_array(arena, const Type *, n);
    Str *fields = arena_array(arena, Str, n);
    int64_t *offsets = arena_array(arena, int64_t, n);
    for (int32_t i = 0; i < n; i++) {
        PyArray_Descr *field = field_of(descr, PyTuple_GET_ITEM(names, i), &offsets[i]);
        items[i] = field ? field_type(state, types, arena, field) : NULL;
        if (!items[i] || !py_str(arena, PyTuple_GET_ITEM(names, i), &fields[i])) return NULL;
    }
    return type_record(types, items, fields, offsets, n, PyDataType_ELSIZE(descr), descr);
}

const Type *py_element_type(ModState *state, TypeTable *types, Arena *arena, int kind) {
    if (kind < FIRST_RECORD) return type_scalar(types, (TypeKind)kind);
    PyArray_Descr *descr = state->descrs[kind];
    if (py_is_time(descr)) return py_time_type(types, descr);
    if (!is_characters(descr)) return record_type(state, types, arena, descr);
    bool wide = descr->type_num == NPY_UNICODE;
    return type_characters(types, wide, PyDataType_ELSIZE(descr) / (wide ? 4 : 1), descr);
}

int py_kind_of_element(ModState *state, const Type *element) {
    if (element->kind == TY_TIME) return py_kind_of_time(state, element);
    if (element->kind != TY_RECORD) return element->kind < TY_SCALARS ? (int)element->kind : -1;
    return element->cls ? py_kind_of_descr(state, element->cls) : -1;
}

/* -- types that were written ------------------------------------------------------------------------------- */

static PyObject *format_of(ModState *state, const Type *type);

/* {names, formats, offsets, itemsize}, of which NumPy makes the dtype. NULL: exception. */
static PyObject *fields_of(ModState *state, const Type *record) {
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
    bool ok = names && formats && offsets;
    for (int32_t i = 0; ok && i < record->nitems; i++) {
        PyObject *name =
            PyUnicode_FromStringAndSize(record->fields[i].bytes, record->fields[i].len);
        PyObject *format = format_of(state, record->items[i]);
        PyObject *offset = PyLong_FromLongLong(record->offsets[i]);
        ok = name && format && offset && PyList_Append(names, name) == 0 &&
             PyList_Append(formats, format) == 0 && PyList_Append(offsets, offset) == 0;
        Py_XDECREF(name);
        Py_XDECREF(format);
        Py_XDECREF(offset);
    }
    PyObject *out = ok ? Py_BuildValue("{s:O,s:O,s:O,s:L}", "names", names, "formats", formats,
                                       "offsets", offsets, "itemsize", (long long)record->size)
                       : NULL;
    Py_XDECREF(names);
    Py_XDECREF(formats);
    Py_XDECREF(offsets);
    return out;
}

/* What np.dtype takes for a field. */
static PyObject *format_of(ModState *state, const Type *type) {
    if (type->kind < TY_SCALARS) return Py_XNewRef((PyObject *)state->descrs[type->kind]);
    if (type->kind == TY_RECORD && type_is_characters(type)) {
        const Type *points = type->items[0];
        return PyUnicode_FromFormat("%s%lld", points->element->kind == TY_u8 ? "S" : "U",
                                    (long long)points->offsets[0]);
    }
    if (type->kind == TY_RECORD) return fields_of(state, type);
    if (type->kind == TY_TIME) {
        int kind = py_kind_of_time(state, type);
        return kind < 0 ? NULL : Py_NewRef((PyObject *)state->descrs[kind]);
    }
    PyObject *element = format_of(state, type->element), *shape = PyTuple_New(type->ndim);
    for (int i = 0; shape && i < type->ndim; i++)
        PyTuple_SET_ITEM(shape, i, PyLong_FromLongLong(type->offsets[i]));
    PyObject *pair = element && shape ? PyTuple_Pack(2, element, shape) : NULL;
    Py_XDECREF(element);
    Py_XDECREF(shape);
    return pair;
}

/* The record with its dtype. */
static const Type *with_dtype(ModState *state, TypeTable *types, Arena *arena, const Type *record) {
    PyObject *fields = format_of(state, record);
    PyArray_Descr *descr = NULL;
    int kind =
        fields && PyArray_DescrConverter(fields, &descr) ? py_kind_of_descr(state, descr) : -1;
    Py_XDECREF(fields);
    Py_XDECREF(descr);
    if (kind < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "there are too many kinds of records");
    return kind < 0 ? NULL : py_element_type(state, types, arena, kind);
}

/* Of instances the text has a number alone: that of their key. */
static const Type *written_class(ModState *state, TypeTable *types, Arena *arena,
                                 const Type *type) {
    const Type *params[2];
    if (type_is_instance(type)) {
        if ((uintptr_t)type->cls >= KEY_COMPOUND) return type;
        PyObject *cls = py_instance_class(state, (int32_t)(uintptr_t)type->cls);
        if (!cls) PyErr_SetString(PyExc_TypeError, "a type names a @jitclass that there is not");
        const Type *found = cls ? py_instance_type(state, types, arena, cls) : NULL;
        Py_XDECREF(cls);
        return found;
    }
    for (int32_t i = 0; i < type->nparams; i++)
        if (!(params[i] = py_written_type(state, types, arena, type->params[i]))) return NULL;
    return type->nparams ? type_class_like(types, type, params) : type;
}

/* Of named tuples the text has the number of the class in place of names. */
static const Type *written_named(ModState *state, TypeTable *types, Arena *arena,
                                 const Type *const *items, const Type *type) {
    PyObject *cls = py_instance_class(state, (int32_t)((uintptr_t)type->cls - 1));
    PyObject *fields = NULL;
    const Type *found = NULL;
    Str *names = arena_array(arena, Str, type->nitems);
    bool ok = cls && py_get_optional(cls, "_fields", &fields) >= 0 && fields &&
              PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == type->nitems;
    for (int32_t i = 0; ok && i < type->nitems; i++)
        ok = py_str(arena, PyTuple_GET_ITEM(fields, i), &names[i]);
    if (ok) found = type_named_tuple(types, items, type->nitems, names, cls);
    if (!found && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError,
                        "a type names a class of named tuples that there is not, or that has "
                        "another number of fields: pass types.NamedTuple(types, cls)");
    Py_XDECREF(fields);
    Py_XDECREF(cls);
    return found;
}

const Type *py_written_type(ModState *state, TypeTable *types, Arena *arena, const Type *type) {
    const Type *inner = type->kind == TY_ARRAY ? type->element : type;
    if (inner->kind == TY_RECORD && !inner->cls &&
        !(inner = with_dtype(state, types, arena, inner)))
        return NULL;
    if (inner->kind == TY_RECORD) {
        Type key = type->kind == TY_ARRAY ? *type : *type_array(types, inner, 0, LAYOUT_C);
        key.element = inner;
        return type_array_like(types, &key, key.ndim, (Layout)key.layout);
    }
    if (type->kind == TY_CLASS) return written_class(state, types, arena, type);
    if (type->kind == TY_OPTIONAL) {
        const Type *element = py_written_type(state, types, arena, type->element);
        return element ? type_optional(types, element) : NULL;
    }
    if (type->kind != TY_TUPLE || type->fields) return type;
    const Type **items = arena_array(arena, const Type *, type->nitems);
    for (int32_t i = 0; i < type->nitems; i++)
        if (!(items[i] = py_written_type(state, types, arena, type->items[i]))) return NULL;
    if (type->cls) return written_named(state, types, arena, items, type);
    return type_tuple(types, items, type->nitems);
}

bool py_written_signature(ModState *state, TypeTable *types, Arena *arena, Signature *s) {
    for (int32_t i = 0; i < s->nparams; i++)
        if (!(s->params[i] = py_written_type(state, types, arena, s->params[i]))) return false;
    if (s->result) s->result = py_written_type(state, types, arena, s->result);
    return !s->nparams || s->result || !PyErr_Occurred();
}

/* -- where they lie -------------------------------------------------------------------------------------- */

/* The largest power of two that the fields of a dtype want, and its size allows. */
static int64_t align_of(PyArray_Descr *descr) {
    if (PyDataType_SUBARRAY(descr)) return align_of(PyDataType_SUBARRAY(descr)->base);
    if (is_bytes(descr)) return 1;
    if (!is_record(descr)) return PyDataType_ALIGNMENT(descr);
    PyObject *names = PyDataType_NAMES(descr);
    int64_t align = 1, offset;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyArray_Descr *field = field_of(descr, PyTuple_GET_ITEM(names, i), &offset);
        if (field) align = QN_MAX(align, align_of(field));
    }
    while (PyDataType_ELSIZE(descr) % align)
        align /= 2;
    return align;
}

bool py_is_aligned(PyArray_Descr *record, const void *data, int ndim, const npy_intp *shape,
                   const npy_intp *strides) {
    int64_t align = align_of(record);
    bool aligned = (uintptr_t)data % (uintptr_t)align == 0;
    for (int i = 0; i < ndim; i++)
        aligned = aligned && (shape[i] <= 1 || strides[i] % align == 0);
    return aligned;
}

bool py_is_record(PyObject *object) {
    return PyArray_IsScalar(object, Void) && is_record(((PyVoidScalarObject *)object)->descr);
}
