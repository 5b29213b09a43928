/* argtype.c - the type of a Python argument, as a small integer (see "type keys" in state.h).
 *
 * Only what cannot be mistaken has a type: exact Python numbers and their subclasses, NumPy scalars of
 * known width, ndarrays and memory maps in native byte order, None, tuples of these. Everything else is refused
 * with a sentence that says what to pass instead. */
#include "pymodule/device.h"

/* -- NumPy's types and ours ------------------------------------------------------------------- */

int py_kind_of_typenum(int typenum) {
    switch (typenum) {
    case NPY_BOOL: return TY_bool;
    case NPY_BYTE: return TY_i8;
    case NPY_SHORT: return TY_i16;
    case NPY_INT: return TY_i32;
    case NPY_LONG: return sizeof(long) == 8 ? TY_i64 : TY_i32;
    case NPY_LONGLONG: return TY_i64;
    case NPY_UBYTE: return TY_u8;
    case NPY_USHORT: return TY_u16;
    case NPY_UINT: return TY_u32;
    case NPY_ULONG: return sizeof(long) == 8 ? TY_u64 : TY_u32;
    case NPY_ULONGLONG: return TY_u64;
    case NPY_HALF: return TY_f16;
    case NPY_FLOAT: return TY_f32;
    case NPY_DOUBLE: return TY_f64;
    case NPY_CFLOAT: return TY_c64;
    case NPY_CDOUBLE: return TY_c128;
    default: return -1;
    }
}

int py_typenum_of_kind(TypeKind kind) {
    switch (kind) {
    case TY_bool: return NPY_BOOL;
    case TY_i8: return NPY_INT8;
    case TY_i16: return NPY_INT16;
    case TY_i32: return NPY_INT32;
    case TY_i64:
    case TY_wint: return NPY_INT64;
    case TY_u8: return NPY_UINT8;
    case TY_u16: return NPY_UINT16;
    case TY_u32: return NPY_UINT32;
    case TY_u64: return NPY_UINT64;
    case TY_f16: return NPY_FLOAT16;
    case TY_f32: return NPY_FLOAT32;
    case TY_f64:
    case TY_wflt: return NPY_FLOAT64;
    case TY_c64: return NPY_COMPLEX64;
    case TY_c128:
    case TY_wcpx: return NPY_COMPLEX128;
    default: return NPY_NOTYPE;
    }
}

size_t py_scalar_value_offset(TypeKind kind) {
    switch (kind) {
    case TY_bool: return offsetof(PyBoolScalarObject, obval);
    case TY_i8:
    case TY_u8: return offsetof(PyByteScalarObject, obval);
    case TY_i16:
    case TY_u16: return offsetof(PyShortScalarObject, obval);
    case TY_i32:
    case TY_u32: return offsetof(PyIntScalarObject, obval);
    case TY_i64:
    case TY_u64: return offsetof(PyLongLongScalarObject, obval);
    case TY_f16: return offsetof(PyHalfScalarObject, obval);
    case TY_f32: return offsetof(PyFloatScalarObject, obval);
    case TY_f64: return offsetof(PyDoubleScalarObject, obval);
    case TY_c64: return offsetof(PyCFloatScalarObject, obval);
    case TY_c128: return offsetof(PyCDoubleScalarObject, obval);
    default: return 0;
    }
}

int py_kind_of_scalar_type(ModState *state, PyTypeObject *type) {
    for (int kind = TY_bool; kind <= TY_c128; kind++)
        if (state->scalar_types[kind] == type) return kind;
    /* long and long long are both 64 bits wide: one of them is not in the table */
    if (type == &PyLongArrType_Type) return py_kind_of_typenum(NPY_LONG);
    if (type == &PyULongArrType_Type) return py_kind_of_typenum(NPY_ULONG);
    if (type == &PyLongLongArrType_Type) return TY_i64;
    if (type == &PyULongLongArrType_Type) return TY_u64;
    return -1;
}

int py_argtype_init(ModState *state) {
    PyObject *memmap = PyObject_GetAttrString(state->np, "memmap");
    if (!memmap) return -1;
    if (!PyType_Check(memmap))
        return PyErr_SetString(PyExc_TypeError, "numpy.memmap is no type"), -1;
    state->memmap_type = (PyTypeObject *)memmap;
    for (int kind = TY_bool; kind <= TY_c128; kind++) {
        PyArray_Descr *descr = PyArray_DescrFromType(py_typenum_of_kind((TypeKind)kind));
        if (!descr) return -1;
        state->descrs[kind] = descr;
        state->scalar_types[kind] = descr->typeobj;
    }
    return 0;
}

void py_argtype_clear(ModState *state) {
    Py_CLEAR(state->memmap_type);
    for (int kind = 0; kind < TY_SCALARS; kind++)
        Py_CLEAR(state->descrs[kind]);
    for (int32_t i = 0; i < state->ncompounds; i++) {
        Py_XDECREF(state->compounds[i]->cls);
        PyMem_Free(state->compounds[i]);
    }
    PyMem_Free(state->compounds);
    state->compounds = NULL;
    state->ncompounds = state->cap_compounds = 0;
}

/* -- compounds --------------------------------------------------------------------------------- */

static TypeKey compound_key(ModState *state, PyObject *cls, const TypeKey *items, int32_t n) {
    size_t size = n > 0 ? sizeof(TypeKey) * (size_t)n : 0;
    for (int32_t i = 0; i < state->ncompounds; i++) {
        const Compound *c = state->compounds[i];
        if (c->nitems == n && c->cls == cls && (size == 0 || !memcmp(c->items, items, size)))
            return KEY_COMPOUND | (TypeKey)i;
    }
    if (state->ncompounds == state->cap_compounds) {
        int32_t cap = QN_MAX(16, state->cap_compounds * 2);
        Compound **grown = PyMem_Realloc(state->compounds, sizeof *grown * (size_t)cap);
        if (!grown) return PyErr_NoMemory(), 0;
        state->compounds = grown;
        state->cap_compounds = cap;
    }
    Compound *made = PyMem_Calloc(1, sizeof *made + size);
    if (!made) return PyErr_NoMemory(), 0;
    made->nitems = n;
    made->cls = Py_XNewRef(cls);
    if (size) memcpy(made->items, items, size);
    state->compounds[state->ncompounds] = made;
    return KEY_COMPOUND | (TypeKey)state->ncompounds++;
}

/* -- arguments ---------------------------------------------------------------------------------- */

typedef struct Where { /* for messages */
    ModState *state;
    const char *function;
    int position;
    bool kernel; /* device arrays are welcome */
} Where;

static TypeKey refuse(const Where *w, const char *why) {
    if (w->position < 0)
        py_raise_typing(w->state, "%s", why);
    else
        py_raise_typing(w->state, "argument %d of '%s': %s", w->position + 1, w->function, why);
    return 0;
}

static TypeKey refuse_type(const Where *w, PyObject *arg, const char *hint) {
    char text[256];
    snprintf(text, sizeof text,
             "an object of type '%.100s' cannot be passed to a compiled function; %s",
             Py_TYPE(arg)->tp_name, hint);
    return refuse(w, text);
}

static TypeKey array_key(const Where *w, PyArrayObject *array) {
    PyArray_Descr *descr = PyArray_DESCR(array);
    int kind = py_kind_of_typenum(descr->type_num);
    if (kind < 0) {
        PyObject *text = PyObject_Str((PyObject *)descr);
        if (text) {
            PyObject *message = PyUnicode_FromFormat(
                "arrays of dtype %U cannot be passed to a compiled function; supported are bool, "
                "integers, floats and complex numbers up to 64 bits a component",
                text);
            if (message) refuse(w, PyUnicode_AsUTF8(message));
            Py_XDECREF(message);
        }
        Py_XDECREF(text);
        return 0;
    }
    if (!PyArray_ISNBO(descr->byteorder))
        return refuse(w, "the array is not in this machine's byte order; convert it with "
                         "a.astype(a.dtype.newbyteorder('='))");
    if (PyArray_NDIM(array) > 32) return refuse(w, "the array has more than 32 dimensions");
    int flags = PyArray_FLAGS(array);
    Layout layout = flags & NPY_ARRAY_C_CONTIGUOUS   ? LAYOUT_C
                    : flags & NPY_ARRAY_F_CONTIGUOUS ? LAYOUT_F
                                                     : LAYOUT_A;
    return key_array((TypeKind)kind, PyArray_NDIM(array), layout,
                     (flags & NPY_ARRAY_WRITEABLE ? 0 : KEY_READONLY) |
                         (flags & NPY_ARRAY_ALIGNED ? 0 : KEY_UNALIGNED));
}

static TypeKey any_key(const Where *w, PyObject *arg, int depth);

static TypeKey tuple_key(const Where *w, PyObject *arg, PyObject *cls, int depth) {
    Py_ssize_t n = PyTuple_GET_SIZE(arg);
    if (depth >= MAX_NESTING) return refuse(w, "tuples are nested too deeply");
    if (n > MAX_TUPLE)
        return refuse(w, "the tuple has more than 1000 items; pass an array instead");
    TypeKey few[16], *items = few;
    if (n > countof(few) && !(items = PyMem_Malloc(sizeof *items * (size_t)n)))
        return PyErr_NoMemory(), 0;
    TypeKey key = 1;
    for (Py_ssize_t i = 0; i < n && key; i++)
        items[i] = key = any_key(w, PyTuple_GET_ITEM(arg, i), depth + 1);
    if (key) key = compound_key(w->state, cls, items, (int32_t)n);
    if (items != few) PyMem_Free(items);
    return key;
}

static TypeKey other_key(const Where *w, PyObject *arg, int depth) {
    if (py_is_array(w->state, arg)) return array_key(w, (PyArrayObject *)arg);
    if (Py_TYPE(arg) == w->state->device_array_type && w->kernel) return ((DeviceArray *)arg)->key;
    if (PyArray_Check(arg))
        return refuse_type(w, arg,
                           "it is a subclass of numpy.ndarray, whose own behaviour would be "
                           "lost: pass np.asarray(a), or a.data and a.mask of a masked array");
    if (PyTuple_Check(arg)) {
        PyObject *fields;
        if (py_get_optional((PyObject *)Py_TYPE(arg), "_fields", &fields) < 0) return 0;
        bool named =
            fields && PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == PyTuple_GET_SIZE(arg);
        Py_XDECREF(fields);
        if (named) return tuple_key(w, arg, (PyObject *)Py_TYPE(arg), depth);
        return refuse_type(w, arg, "pass a plain tuple");
    }
    if (PyLong_Check(arg)) return KEY_SCALAR(TY_wint); /* IntEnum and friends */
    if (PyFloat_Check(arg)) return KEY_SCALAR(TY_wflt);
    if (PyComplex_Check(arg)) return KEY_SCALAR(TY_wcpx);
    if (PyUnicode_Check(arg) || PyBytes_Check(arg) || PyByteArray_Check(arg))
        return refuse_type(w, arg,
                           "text cannot be used in compiled code; pass numbers, or make it a "
                           "constant of the function");
    if (PyList_Check(arg) || PyAnySet_Check(arg))
        return refuse_type(w, arg, "convert it with np.array(...) or tuple(...)");
    if (PyDict_Check(arg))
        return refuse_type(w, arg, "pass its values as arrays, or as a named tuple");
    if (py_function_of(w->state, arg) || PyFunction_Check(arg)) {
        if (depth)
            return refuse(w,
                          "a function cannot be passed in a tuple; pass it as an argument of its "
                          "own, or make the tuple a global or closure variable");
        return compound_key(w->state, arg, NULL, -1);
    }
    PyObject *interface;
    if (py_get_optional(arg, "__cuda_array_interface__", &interface) < 0) return 0;
    Py_XDECREF(interface);
    if (interface || Py_TYPE(arg) == w->state->device_array_type)
        return refuse_type(w, arg,
                           "it lies in device memory: pass it to a kernel, or copy it to the "
                           "host first");
    return refuse_type(w, arg, "pass numbers, NumPy arrays, None or tuples of these");
}

static TypeKey any_key(const Where *w, PyObject *arg, int depth) {
    PyTypeObject *type = Py_TYPE(arg);
    if (type == &PyLong_Type) return KEY_SCALAR(TY_wint);
    if (type == &PyFloat_Type) return KEY_SCALAR(TY_wflt);
    if (type == &PyArray_Type) return array_key(w, (PyArrayObject *)arg);
    if (type == &PyBool_Type) return KEY_SCALAR(TY_bool);
    if (type == &PyComplex_Type) return KEY_SCALAR(TY_wcpx);
    if (arg == Py_None) return KEY_SCALAR(TY_none);
    if (type == &PyTuple_Type) return tuple_key(w, arg, NULL, depth);
    int kind = py_kind_of_scalar_type(w->state, type);
    if (kind >= 0) return KEY_SCALAR(kind);
    return other_key(w, arg, depth);
}

TypeKey py_arg_key(ModState *state, PyObject *arg, const char *function, int position) {
    return any_key(&(Where){state, function, position, false}, arg, 0);
}

TypeKey py_kernel_arg_key(ModState *state, PyObject *arg, const char *function, int position) {
    return any_key(&(Where){state, function, position, true}, arg, 0);
}

/* -- keys and types ------------------------------------------------------------------------------ */

static const Type *compound_type(ModState *state, TypeTable *types, Arena *arena, TypeKey key,
                                 bool strong) {
    const Compound *c = state->compounds[key & ~KEY_COMPOUND];
    if (c->nitems < 0) return NULL; /* functions: the dispatcher binds them itself */
    const Type **items = arena_array(arena, const Type *, c->nitems);
    for (int32_t i = 0; i < c->nitems; i++)
        if (!(items[i] = py_key_type(state, types, arena, c->items[i], strong))) return NULL;
    if (!c->cls) return type_tuple(types, items, c->nitems);
    PyObject *fields = PyObject_GetAttrString(c->cls, "_fields");
    if (!fields) return NULL;
    Str *names = arena_array(arena, Str, c->nitems);
    bool ok = PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == c->nitems;
    for (int32_t i = 0; ok && i < c->nitems; i++)
        ok = py_str(arena, PyTuple_GET_ITEM(fields, i), &names[i]);
    Py_DECREF(fields);
    return ok ? type_named_tuple(types, items, c->nitems, names, c->cls) : NULL;
}

const Type *py_key_type(ModState *state, TypeTable *types, Arena *arena, TypeKey key, bool strong) {
    if (key_is_compound(key)) return compound_type(state, types, arena, key, strong);
    if (key_is_array(key)) {
        const Type *type =
            type_array(types, type_scalar(types, key_element(key)), key_ndim(key), key_layout(key));
        if (key & KEY_READONLY) type = type_array_readonly(types, type, true);
        if (key & KEY_UNALIGNED) type = type_array_aligned(types, type, false);
        return type;
    }
    TypeKind kind = key_scalar_kind(key);
    return type_scalar(types, strong ? type_strong_kind(kind) : kind);
}

TypeKey py_type_key(ModState *state, const Type *type) {
    if (type->kind < TY_SCALARS) return KEY_SCALAR(type->kind);
    if (type->kind == TY_ARRAY)
        return key_array(type->element->kind, type->ndim, (Layout)type->layout,
                         (type->readonly ? KEY_READONLY : 0) | (type->aligned ? 0 : KEY_UNALIGNED));
    if (type->kind != TY_TUPLE || type->nitems > MAX_TUPLE) return 0;
    TypeKey *items = PyMem_Malloc(sizeof *items * (size_t)QN_MAX(type->nitems, 1)), key = 1;
    if (!items) return PyErr_NoMemory(), 0;
    for (int32_t i = 0; i < type->nitems && key; i++)
        items[i] = key = py_type_key(state, type->items[i]);
    if (key) key = compound_key(state, type->cls, items, type->nitems);
    PyMem_Free(items);
    return key;
}

PyObject *py_key_text(ModState *state, TypeKey key) {
    if (key_is_compound(key) && state->compounds[key & ~KEY_COMPOUND]->nitems < 0)
        return PyUnicode_FromFormat("function(%R)", state->compounds[key & ~KEY_COMPOUND]->cls);
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    const Type *type = py_key_type(state, type_table_new(&arena), &arena, key, false);
    PyObject *text = NULL;
    if (type) {
        Str described = type_text(&arena, type);
        text = PyUnicode_FromStringAndSize(described.bytes, described.len);
    }
    arena_free(&arena);
    return text;
}
