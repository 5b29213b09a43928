/* argtype.c - the type of a Python argument, as a small integer (see "type keys" in state.h).
 *
 * Only what cannot be mistaken has a type: exact Python numbers and their subclasses, NumPy scalars of
 * known width, ndarrays and memory maps in native byte order, None, tuples of these. Everything else is refused
 * with a sentence that says what to pass instead. */
#include "pymodule/device.h"
#include "pymodule/shared.h"

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

/* -- the types of arrays and scalars ------------------------------------------------------------ */

bool py_is_taken_subclass(const ModState *state, PyObject *object) {
    if (!state->takes_subclasses || !PyArray_Check(object)) return false;
    PyObject *name = PyUnicode_FromString("numpy.ma");
    PyObject *module =
        name ? PyImport_GetModule(name) : NULL; /* loaded where one of its arrays is */
    PyObject *masked = module ? PyObject_GetAttrString(module, "MaskedArray") : NULL;
    bool taken =
        !masked || !PyType_Check(masked) || !PyObject_TypeCheck(object, (PyTypeObject *)masked);
    Py_XDECREF(masked);
    Py_XDECREF(module);
    Py_XDECREF(name);
    PyErr_Clear();
    return taken;
}

int py_argtype_init(ModState *state) {
    PyObject *memmap = PyObject_GetAttrString(state->np, "memmap");
    if (!memmap) return -1;
    if (!PyType_Check(memmap))
        return PyErr_SetString(PyExc_TypeError, "numpy.memmap is no type"), -1;
    state->memmap_type = (PyTypeObject *)memmap;
    PyObject *recarray = PyObject_GetAttrString(state->np, "recarray");
    if (!recarray) return -1;
    if (!PyType_Check(recarray))
        return PyErr_SetString(PyExc_TypeError, "numpy.recarray is no type"), -1;
    state->recarray_type = (PyTypeObject *)recarray;
    for (int kind = TY_bool; kind <= TY_c128; kind++) {
        if (kind == TY_bf16) continue; /* not of NumPy: py_descr_of_kind */
        PyArray_Descr *descr = PyArray_DescrFromType(py_typenum_of_kind((TypeKind)kind));
        if (!descr) return -1;
        state->descrs[kind] = descr;
        state->scalar_types[kind] = descr->typeobj;
    }
    return py_compounds_init(state);
}

void py_argtype_clear(ModState *state) {
    Py_CLEAR(state->memmap_type);
    Py_CLEAR(state->recarray_type);
    for (int kind = 0; kind < MOST_ELEMENTS; kind++)
        Py_CLEAR(state->descrs[kind]);
    py_compounds_clear(state);
}

int py_wide_int(PyObject *o, uint64_t *out) {
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (value == -1 && !overflow && PyErr_Occurred()) return -1;
    if (overflow <= 0) return 0;
    unsigned long long wide = PyLong_AsUnsignedLongLong(o);
    if (wide == (unsigned long long)-1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
        PyErr_Clear();
        return 0;
    }
    *out = wide;
    return 1;
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

static TypeKey refuse_long(const Where *w) {
    char text[80];
    snprintf(text, sizeof text, "the tuple has more than %d items; pass an array instead",
             MAX_TUPLE);
    return refuse(w, text);
}

/* What to pass instead of an array of that dtype. */
static const char *dtype_hint(PyArray_Descr *descr) {
    switch (descr->kind) {
    case 'O': return ": convert it with a.astype(float); None becomes nan";
    case 'V': return ": the fields of records are numbers, records, and arrays of these";
    case 'M':
    case 'm': return ": convert it with a.astype(a.dtype.newbyteorder('='))";
    case 'U': return ": convert it with a.astype(a.dtype.newbyteorder('='))";
    case 'f': return ": convert it with a.astype(np.float64)";
    case 'c': return ": convert it with a.astype(np.complex128)";
    default: return "";
    }
}

/* A Python int is weak, above int64 a uint64. Beyond uint64 nothing takes it: unboxing says so. */
static TypeKey int_key(PyObject *arg) {
    int64_t value;
    uint64_t wide;
    if (py_small_int(arg, &value)) return KEY_SCALAR(TY_wint);
    int fits = py_wide_int(arg, &wide);
    return fits < 0 ? 0 : KEY_SCALAR(fits ? TY_u64 : TY_wint);
}

static TypeKey array_key(const Where *w, PyArrayObject *array) {
    PyArray_Descr *descr = PyArray_DESCR(array);
    bool numbered = PyTypeNum_ISFLEXIBLE(descr->type_num) || py_is_time(descr) ||
                    PyTypeNum_ISUSERDEF(descr->type_num);
    int kind = numbered ? py_kind_of_descr(w->state, descr) : py_kind_of_typenum(descr->type_num);
    if (kind < 0) {
        PyObject *text = PyObject_Str((PyObject *)descr);
        if (text) {
            PyObject *message = PyUnicode_FromFormat(
                "arrays of dtype %U cannot be passed to a compiled function; supported are bool, "
                "integers, floats and complex numbers up to 64 bits a component, times and text%s",
                text, dtype_hint(descr));
            if (message) refuse(w, PyUnicode_AsUTF8(message));
            Py_XDECREF(message);
        }
        Py_XDECREF(text);
        return 0;
    }
    if (kind < FIRST_RECORD && !PyArray_ISNBO(descr->byteorder))
        return refuse(w, "the array is not in this machine's byte order; convert it with "
                         "a.astype(a.dtype.newbyteorder('='))");
    if (PyArray_NDIM(array) > 32) return refuse(w, "the array has more than 32 dimensions");
    int flags = PyArray_FLAGS(array);
    Layout layout = flags & NPY_ARRAY_C_CONTIGUOUS   ? LAYOUT_C
                    : flags & NPY_ARRAY_F_CONTIGUOUS ? LAYOUT_F
                                                     : LAYOUT_A;
    bool aligned = kind < FIRST_RECORD
                       ? (flags & NPY_ARRAY_ALIGNED) != 0
                       : py_is_aligned(descr, PyArray_DATA(array), PyArray_NDIM(array),
                                       PyArray_DIMS(array), PyArray_STRIDES(array));
    return key_array(kind, PyArray_NDIM(array), layout,
                     (flags & NPY_ARRAY_WRITEABLE ? 0 : KEY_READONLY) |
                         (aligned ? 0 : KEY_UNALIGNED));
}

/* A record is an array without axes. */
static TypeKey record_key(const Where *w, PyObject *arg) {
    const PyVoidScalarObject *record = (PyVoidScalarObject *)arg;
    int kind = py_kind_of_descr(w->state, record->descr);
    if (kind < 0)
        return refuse(w, "records have fields of numbers, records, and arrays of these, in this "
                         "machine's byte order");
    bool aligned = py_is_aligned(record->descr, record->obval, 0, NULL, NULL);
    return key_array(kind, 0, LAYOUT_C,
                     (record->flags & NPY_ARRAY_WRITEABLE ? 0 : KEY_READONLY) |
                         (aligned ? 0 : KEY_UNALIGNED));
}

/* A data frame, or what else has an array inside. Asked of the type: nothing of the object itself runs. */
static const char *object_hint(PyObject *arg) {
    PyObject *type = (PyObject *)Py_TYPE(arg);
    if (PyObject_HasAttrString(type, "to_numpy"))
        return "pass x.to_numpy(), or each of its columns that way";
    if (strcmp(Py_TYPE(arg)->tp_name, "ml_dtypes.bfloat16") == 0)
        return "pass float(x), or an array of it";
    if (PyObject_HasAttrString(type, "__array__")) return "convert it with np.asarray(x)";
    if (PyObject_HasAttrString(type, "__dataclass_params__"))
        return "a dataclass is passed where it is made with @dataclass(frozen=True) and its fields "
               "are "
               "stored as they are; instances that change are those of a @jitclass";
    return "pass numbers, NumPy arrays, None or tuples of these";
}

static TypeKey any_key(const Where *w, PyObject *arg, int depth);

ClassId py_container_class(PyObject *cls) {
    if (cls == (PyObject *)&PyList_Type) return CLS_list;
    if (cls == (PyObject *)&PyDict_Type) return CLS_dict;
    if (cls == (PyObject *)&PySet_Type) return CLS_set;
    Variant variant = py_variant_of(cls);
    if (variant) return type_variant_class(variant);
    return cls && PyType_Check(cls) && py_is_deque_type((PyTypeObject *)cls) ? CLS_deque
                                                                             : CLS_COUNT;
}

/* Classes of Python that are copied as what they are. */
static ClassId text_class(PyObject *cls) {
    if (cls == (PyObject *)&PyUnicode_Type) return CLS_str;
    if (cls == (PyObject *)&PyBytes_Type) return CLS_bytes;
    return cls == (PyObject *)&PyByteArray_Type ? CLS_bytearray : CLS_COUNT;
}

/* np.str_ and np.bytes_, which elements of arrays are in Python, are plain text. */
PyObject *py_plain_text(PyTypeObject *type) {
    if (type == &PyUnicodeArrType_Type) return (PyObject *)&PyUnicode_Type;
    return type == &PyStringArrType_Type ? (PyObject *)&PyBytes_Type : (PyObject *)type;
}

/* What a list, and a dict as values, may hold: see is_element of infer_container.c. */
static bool is_element_key(ModState *state, TypeKey key) {
    if (key_is_scalar(key)) return key_scalar_kind(key) != TY_none;
    if (key_is_array(key)) return true;
    const Compound *c = key_is_compound(key) ? py_compound(state, key) : NULL;
    if (!c || c->nitems == KEY_OBJECT) return false;
    if (c->nitems == KEY_TIME) return true;
    if (c->nitems == 0) return text_class(c->cls) != CLS_COUNT;
    if (c->cls == (PyObject *)&PySlice_Type) return false;
    if (c->cls == (PyObject *)&PyFunction_Type) return true;
    int32_t n = py_variant_of(c->cls) == VARIANT_defaultdict ? 2 : c->nitems;
    for (int32_t i = 0; i < n; i++)
        if (!is_element_key(state, c->items[i])) return false;
    return true;
}

static TypeKey tuple_key(const Where *w, PyObject *arg, PyObject *cls, int depth) {
    Py_ssize_t n = PyTuple_GET_SIZE(arg);
    if (depth >= MAX_NESTING) return refuse(w, "tuples are nested too deeply");
    if (n > MAX_TUPLE) return refuse_long(w);
    TypeKey few[16], *items = few;
    if (n > countof(few) && !(items = PyMem_Malloc(sizeof *items * (size_t)n)))
        return PyErr_NoMemory(), 0;
    TypeKey key = 1;
    for (Py_ssize_t i = 0; i < n && key; i++)
        items[i] = key = any_key(w, PyTuple_GET_ITEM(arg, i), depth + 1);
    if (key) key = py_compound_key(w->state, cls, items, (int32_t)n);
    if (items != few) PyMem_Free(items);
    return key;
}

/* Takes over the reference to the names of its fields. */
static TypeKey value_key(const Where *w, PyObject *arg, PyObject *names, int depth) {
    PyObject *items = py_value_items(arg, names);
    TypeKey key = items ? tuple_key(w, items, (PyObject *)Py_TYPE(arg), depth) : 0;
    Py_XDECREF(items);
    Py_DECREF(names);
    return key;
}

/* A container that says nothing of its elements. */
static bool is_empty(PyObject *o) {
    if (PyList_CheckExact(o)) return PyList_GET_SIZE(o) == 0;
    if (PyDict_CheckExact(o)) return PyDict_GET_SIZE(o) == 0;
    return (PyObject *)Py_TYPE(o) == (PyObject *)&PySet_Type && PySet_GET_SIZE(o) == 0;
}

/* Of a list that holds NumPy's numbers and Python's of the same kind: NumPy's. 0: they are of different types. */
static TypeKey mixed_key(TypeKey a, TypeKey b) {
    static const TypeKind pairs[][2] = {{TY_wint, TY_i64}, {TY_wflt, TY_f64}, {TY_wcpx, TY_c128}};
    for (int i = 0; i < countof(pairs); i++) {
        TypeKey weak = KEY_SCALAR(pairs[i][0]), strong = KEY_SCALAR(pairs[i][1]);
        if ((a == weak && b == strong) || (a == strong && b == weak)) return strong;
    }
    return 0;
}

/* -- functions as elements: one of several -- */

enum { MAX_JOINED = 16 };

/* What is called by name in compiled code, too. */
static bool is_function(ModState *state, PyObject *arg) {
    return py_function_of(state, arg) || PyFunction_Check(arg) || PyCFunction_Check(arg) ||
           Py_TYPE(arg) == &PyUFunc_Type || py_is_partial(arg);
}

bool py_is_function(ModState *state, PyObject *object) {
    return is_function(state, object) || py_is_of_c(object);
}

static const Compound *compound_of(ModState *state, TypeKey key) {
    return key_is_compound(key) ? py_compound(state, key) : NULL;
}

static bool is_choice_key(const Compound *c) {
    return c && c->nitems > 0 && c->cls == (PyObject *)&PyFunction_Type;
}

static bool is_tuple_key(const Compound *c) {
    return c && c->nitems > 0 &&
           (!c->cls || PyType_IsSubtype((PyTypeObject *)c->cls, &PyTuple_Type));
}

/* Of what stands in a list or a dict: functions may be joined by others. */
static TypeKey kept_key(ModState *state, TypeKey key) {
    const Compound *c = compound_of(state, key);
    if (c && c->nitems == KEY_OBJECT && py_is_function(state, c->cls) && !py_is_partial(c->cls))
        return py_compound_key(state, (PyObject *)&PyFunction_Type, &key, 1);
    if (!is_tuple_key(c) || c->nitems > MAX_JOINED) return key;
    TypeKey items[MAX_JOINED];
    for (int32_t i = 0; i < c->nitems; i++)
        if (!(items[i] = kept_key(state, c->items[i]))) return 0;
    return py_compound_key(state, c->cls, items, c->nitems);
}

/* The functions of both, in the order of their keys. 0: too many. */
static TypeKey joined_choice(ModState *state, const Compound *a, const Compound *b) {
    TypeKey items[2 * MOST_CHOICES];
    int32_t n = 0;
    for (int32_t i = 0, k = 0; i < a->nitems || k < b->nitems;) {
        TypeKey x = i < a->nitems ? a->items[i] : UINT32_MAX;
        TypeKey y = k < b->nitems ? b->items[k] : UINT32_MAX;
        items[n++] = QN_MIN(x, y);
        i += x <= y, k += y <= x;
    }
    return n <= MOST_CHOICES ? py_compound_key(state, a->cls, items, n) : 0;
}

/* 0: they have no common type. */
static TypeKey joined_key(ModState *state, TypeKey a, TypeKey b) {
    const Compound *x = compound_of(state, a), *y = compound_of(state, b);
    if (a == b) return a;
    if (is_choice_key(x) && is_choice_key(y)) return joined_choice(state, x, y);
    if (!is_tuple_key(x) || !is_tuple_key(y) || x->cls != y->cls || x->nitems != y->nitems ||
        x->nitems > MAX_JOINED)
        return 0;
    TypeKey items[MAX_JOINED];
    for (int32_t i = 0; i < x->nitems; i++)
        if (!(items[i] = joined_key(state, x->items[i], y->items[i]))) return 0;
    return py_compound_key(state, x->cls, items, x->nitems);
}

/* One more element, key or value; *key is the type of those before, 0: there are none. What is empty is of the type of the others. */
static bool same_key(const Where *w, PyObject *part, const char *different, bool mix, TypeKey *key,
                     bool *empty, int depth) {
    bool fits_any = is_empty(part) && (*key || *empty);
    TypeKey here = fits_any ? *key : kept_key(w->state, any_key(w, part, depth + 1)), both = here;
    if (here && *key && here != *key && !*empty) {
        both = mix ? mixed_key(here, *key) : 0;
        if (!both) both = joined_key(w->state, here, *key);
        if (!both && PyErr_Occurred()) return false;
    }
    if (here && !both) return refuse(w, different);
    here = both;
    *empty = is_empty(part) && (*empty || !*key);
    *key = here;
    return here != 0;
}

/* The elements beside None are of a type that a place holds of which it is told whether something is there. 0: exception. */
static TypeKey optional_key(const Where *w, TypeKey key, const char *refusal) {
    const Compound *c = compound_of(w->state, key);
    bool text = c && c->nitems == 0 && text_class(c->cls) != CLS_COUNT &&
                text_class(c->cls) != CLS_bytearray;
    bool plain = c ? text || c->nitems == KEY_TIME : key_is_scalar(key) || key_is_array(key);
    return key && plain ? py_compound_key(w->state, Py_None, &key, 1) : refuse(w, refusal);
}

static const char mixed_list[] =
    "the elements of a list are of different types: make them one, as in "
    "[float(x) for x in xs], or pass a tuple";

/* The elements are of one type. One of no elements is one of Python ints. */
static TypeKey list_key(const Where *w, PyObject *arg, const char *different, int depth) {
    TypeKey key = 0;
    bool empty = false, none = false;
    if (depth >= MAX_NESTING) return refuse(w, "lists are nested too deeply");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arg); i++)
        if (PyList_GET_ITEM(arg, i) == Py_None)
            none = true;
        else if (!same_key(w, PyList_GET_ITEM(arg, i), different, true, &key, &empty, depth))
            return 0;
    if (none && !(key = optional_key(w, key,
                                     "beside None a list holds numbers of one type, text, times "
                                     "or arrays, at least one of them")))
        return 0;
    if (!key) key = KEY_SCALAR(TY_wint);
    if (!is_element_key(w->state, key))
        return refuse(w, "lists hold numbers, arrays, strings, functions, lists, dicts, sets, and "
                         "tuples of these");
    return py_compound_key(w->state, (PyObject *)&PyList_Type, &key, 1);
}

/* As of a list, but there are no containers in it. */
static TypeKey deque_key(const Where *w, PyObject *arg, int depth) {
    PyObject *items = PySequence_List(arg);
    TypeKey list =
        items ? list_key(w, items, "the elements of a deque are of different types", depth) : 0;
    Py_XDECREF(items);
    if (!list) return 0;
    TypeKey element = py_compound(w->state, list)->items[0];
    const Compound *c = compound_of(w->state, element);
    if (c && c->nitems > 0 && py_container_class(c->cls) != CLS_COUNT)
        return refuse_type(w, arg, "a deque that is an argument holds no lists, dicts and sets");
    return py_compound_key(w->state, (PyObject *)Py_TYPE(arg), &element, 1);
}

static const char *text_hint(PyObject *arg, bool kernel) {
    bool text = PyUnicode_Check(arg);
    if (kernel && !text) return "pass np.frombuffer(b, np.uint8), the numbers of its bytes";
    if (kernel) return "kernels have no text: pass numbers";
    if (PyByteArray_Check(arg)) return "pass bytearray(x), which is one of bytes alone";
    return text ? "pass str(x), which is text alone" : "pass bytes(x), which is bytes alone";
}

static bool is_random_key(ModState *state, const Compound *c) {
    return c->nitems == 0 && c->cls && c->cls == (PyObject *)state->random_type;
}

static bool is_hashed_key(ModState *state, TypeKey key);

/* Elements whose hashes are Python's, too: no members and times. */
static bool is_frozen_key(ModState *state, TypeKey key) {
    const Compound *c = compound_of(state, key);
    if (c && (c->nitems == KEY_TIME || c->nitems == KEY_MEMBERS)) return false;
    for (int32_t i = 0; c && i < c->nitems; i++)
        if (!is_frozen_key(state, c->items[i])) return false;
    return is_hashed_key(state, key);
}

/* What is hashed: see is_key of infer_container.c. */
static bool is_hashed_key(ModState *state, TypeKey key) {
    if (key_is_scalar(key)) return key_scalar_kind(key) != TY_none;
    const Compound *c = key_is_compound(key) ? py_compound(state, key) : NULL;
    if (c && c->nitems == KEY_TIME) return true;
    if (c && c->nitems == KEY_MEMBERS) return !py_key_is_int_member(state, key);
    if (c && c->cls == (PyObject *)&PyFrozenSet_Type) return is_frozen_key(state, c->items[0]);
    if (!c || c->nitems < 0 || py_container_class(c->cls) != CLS_COUNT || c->cls == Py_None ||
        c->cls == (PyObject *)&PyByteArray_Type || is_random_key(state, c))
        return false;
    bool tuple = !c->cls || PyType_IsSubtype((PyTypeObject *)c->cls, &PyTuple_Type);
    if (c->nitems > 0 && !tuple && !py_is_value_class(c->cls)) return false;
    for (int32_t i = 0; i < c->nitems; i++)
        if (!is_hashed_key(state, c->items[i])) return false;
    return true;
}

static TypeKey table_key(const Where *w, PyObject *cls, TypeKey key, TypeKey value) {
    TypeKey keys[2] = {key ? key : KEY_SCALAR(TY_wint), value ? value : KEY_SCALAR(TY_wint)};
    bool dict = cls == (PyObject *)&PyDict_Type;
    if (!is_hashed_key(w->state, keys[0]))
        return refuse(
            w, "keys of dicts and elements of sets are numbers, strings, bytes, and tuples and "
               "frozen dataclasses of these");
    if (!is_element_key(w->state, keys[1]))
        return refuse(w, "dicts hold numbers, arrays, strings, functions, lists, dicts, sets, and "
                         "tuples of these");
    return py_compound_key(w->state, cls, keys, dict ? 2 : 1);
}

/* The entries are of one type. One of no entries is one of Python ints. */
static TypeKey dict_key(const Where *w, PyObject *arg, int depth) {
    TypeKey key = 0, value = 0;
    bool no_key = false, no_value = false, none = false;
    PyObject *k, *v;
    Py_ssize_t at = 0;
    if (depth >= MAX_NESTING) return refuse(w, "dicts are nested too deeply");
    while (PyDict_Next(arg, &at, &k, &v))
        if (!same_key(w, k, "the keys of a dict are of different types: make them one", false, &key,
                      &no_key, depth) ||
            (v != Py_None &&
             !same_key(w, v, "the values of a dict are of different types: make them one", false,
                       &value, &no_value, depth)))
            return 0;
        else
            none |= v == Py_None;
    if (none && !(value = optional_key(w, value,
                                       "beside None a dict has values that are numbers of one "
                                       "type, text, times or arrays, at least one of them")))
        return 0;
    return table_key(w, (PyObject *)&PyDict_Type, key, value);
}

static TypeKey set_key(const Where *w, PyObject *arg, int depth) {
    TypeKey key = 0;
    bool empty = false;
    if (depth >= MAX_NESTING) return refuse(w, "sets are nested too deeply");
    PyObject *items = PySequence_List(arg);
    bool ok = items != NULL;
    for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(items); i++)
        ok = same_key(w, PyList_GET_ITEM(items, i),
                      "the elements of a set are of different types: make them one", false, &key,
                      &empty, depth);
    Py_XDECREF(items);
    return ok ? table_key(w, (PyObject *)&PySet_Type, key, 0) : 0;
}

/* What makes the values of a defaultdict: a class, or a function of the program. 0: exception. */
static TypeKey factory_key(const Where *w, PyObject *arg) {
    PyObject *factory = PyObject_GetAttrString(arg, "default_factory");
    TypeKey key = 0;
    if (factory == Py_None)
        key = KEY_SCALAR(TY_none);
    else if (factory && (py_maker_of(factory) || is_function(w->state, factory)))
        key = py_compound_key(w->state, factory, NULL, KEY_OBJECT);
    else if (factory)
        refuse_type(w, arg,
                    "what makes its values is no function and no class such as int or list");
    Py_XDECREF(factory);
    return key;
}

/* As of a dict or a set, and what makes the values of a defaultdict. */
static TypeKey variant_key(const Where *w, PyObject *arg, Variant variant, int depth) {
    bool dict = type_variant_class(variant) == CLS_dict;
    TypeKey plain = dict ? dict_key(w, arg, depth) : set_key(w, arg, depth), items[3];
    if (!plain) return 0;
    int32_t n = 0;
    for (; n < (dict ? 2 : 1); n++)
        items[n] = py_compound(w->state, plain)->items[n];
    if (variant == VARIANT_defaultdict && !(items[n++] = factory_key(w, arg))) return 0;
    return py_compound_key(w->state, (PyObject *)Py_TYPE(arg), items, n);
}

static TypeKey shared_key(const Where *w, PyObject *arg) {
    TypeKey key = ((SharedObject *)arg)->key;
    if (w->kernel) return refuse_type(w, arg, "kernels have no objects: pass arrays");
    PyTypeObject *instances = (PyTypeObject *)w->state->instance_class;
    if (key) return key;
    if (instances && PyObject_TypeCheck(arg, instances))
        return refuse_type(w, arg, "its __init__ has not run, so that it has no fields yet");
    return refuse_type(w, arg,
                       "it is empty, and nobody knows what it will hold: put something in, or make "
                       "it with List.empty_list(item_type) or Dict.empty(key_type, value_type)");
}

/* Of ints; which of its parts are None is part of the type. */
static TypeKey slice_key(const Where *w, PyObject *arg) {
    const PySliceObject *s = (PySliceObject *)arg;
    PyObject *const parts[] = {s->start, s->stop, s->step};
    TypeKey keys[3];
    for (int i = 0; i < 3; i++) {
        if (parts[i] != Py_None && !PyIndex_Check(parts[i]))
            return refuse_type(w, arg, "slices have ints and None");
        keys[i] = KEY_SCALAR(parts[i] == Py_None ? TY_none : TY_wint);
    }
    return py_compound_key(w->state, (PyObject *)&PySlice_Type, keys, 3);
}

/* np.float64, np.dtype("f8"), types.float64, float: what names a type of numbers is a type of its own, as functions are. */
static bool names_type(ModState *state, PyObject *arg) {
    if (PyType_Check(arg))
        return py_kind_of_scalar_type(state, (PyTypeObject *)arg) >= 0 ||
               arg == (PyObject *)&PyLong_Type || arg == (PyObject *)&PyFloat_Type ||
               arg == (PyObject *)&PyBool_Type || arg == (PyObject *)&PyComplex_Type;
    if (PyArray_DescrCheck(arg)) return py_kind_of_descr(state, (PyArray_Descr *)arg) >= 0;
    return state->type_class && PyObject_TypeCheck(arg, (PyTypeObject *)state->type_class);
}

static TypeKey random_key(const Where *w, PyObject *arg) {
    if (w->kernel)
        return refuse_type(w, arg, "kernels draw with cuda.random, or get arrays of numbers");
    if (!py_is_random(w->state, arg))
        return refuse_type(w, arg,
                           "its class is derived from numpy.random.Generator, and its own "
                           "behaviour would be lost: pass np.random.Generator(rng.bit_generator), "
                           "which draws from the same state");
    if (!py_has_bits(arg) && !PyErr_Occurred())
        return refuse_type(w, arg, "its bit generator has no capsule of C functions of its own");
    return PyErr_Occurred() ? 0 : py_compound_key(w->state, (PyObject *)Py_TYPE(arg), NULL, 0);
}

static TypeKey other_key(const Where *w, PyObject *arg, int depth) {
    if (py_is_shared(w->state, arg)) return shared_key(w, arg);
    if (PySlice_Check(arg) && !w->kernel) return slice_key(w, arg);
    if (py_is_deque(arg) && !w->kernel) return deque_key(w, arg, depth);
    if (arg == Py_Ellipsis && !w->kernel) return py_compound_key(w->state, arg, NULL, KEY_OBJECT);
    if (py_is_array(w->state, arg)) return array_key(w, (PyArrayObject *)arg);
    if (py_is_record(arg)) return record_key(w, arg);
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
    if (PyLong_Check(arg) && py_is_int_member(arg))
        return py_compound_key(w->state, (PyObject *)Py_TYPE(arg), NULL, KEY_MEMBERS);
    if (PyLong_Check(arg)) return int_key(arg);
    if (PyFloat_Check(arg)) return KEY_SCALAR(TY_wflt);
    if (PyComplex_Check(arg)) return KEY_SCALAR(TY_wcpx);
    PyObject *text = py_plain_text(Py_TYPE(arg));
    if (text_class(text) != CLS_COUNT && !w->kernel)
        return py_compound_key(w->state, text, NULL, 0);
    if (PyUnicode_Check(arg) || PyBytes_Check(arg) || PyByteArray_Check(arg))
        return refuse_type(w, arg, text_hint(arg, w->kernel));
    if (PyList_CheckExact(arg) && !w->kernel) return list_key(w, arg, mixed_list, depth);
    if (PyDict_CheckExact(arg) && !w->kernel) return dict_key(w, arg, depth);
    if ((PyObject *)Py_TYPE(arg) == (PyObject *)&PySet_Type && !w->kernel)
        return set_key(w, arg, depth);
    Variant variant = w->kernel ? VARIANT_none : py_variant_of((PyObject *)Py_TYPE(arg));
    if (variant) return variant_key(w, arg, variant, depth);
    if (PyList_Check(arg) || PyAnySet_Check(arg))
        return refuse_type(w, arg, "convert it with np.array(...) or tuple(...)");
    if (PyDict_Check(arg))
        return refuse_type(w, arg, "pass its values as arrays, or as a named tuple");
    if (py_is_random_subclass(arg)) return random_key(w, arg);
    if (is_function(w->state, arg) || names_type(w->state, arg))
        return py_compound_key(w->state, arg, NULL, KEY_OBJECT);
    PyObject *names;
    int value = py_value_fields((PyObject *)Py_TYPE(arg), &names);
    if (value) return value < 0 ? 0 : value_key(w, arg, names, depth);
    int member = py_is_enum_member(arg);
    if (member < 0) return 0;
    if (member && depth)
        return py_compound_key(w->state, (PyObject *)Py_TYPE(arg), NULL, KEY_MEMBERS);
    if (member || (!w->kernel && py_is_of_c(arg)))
        return py_compound_key(w->state, arg, NULL, KEY_OBJECT);
    PyObject *interface;
    if (py_get_optional(arg, "__cuda_array_interface__", &interface) < 0) return 0;
    Py_XDECREF(interface);
    if (interface || Py_TYPE(arg) == w->state->device_array_type)
        return refuse_type(w, arg,
                           "it lies in device memory: pass it to a kernel, or copy it to the "
                           "host first");
    return refuse_type(w, arg, object_hint(arg));
}

static TypeKey any_key(const Where *w, PyObject *arg, int depth) {
    PyTypeObject *type = Py_TYPE(arg);
    if (type == &PyLong_Type) return int_key(arg);
    if (type == &PyFloat_Type) return KEY_SCALAR(TY_wflt);
    if (type == &PyArray_Type) return array_key(w, (PyArrayObject *)arg);
    if (type == &PyBool_Type) return KEY_SCALAR(TY_bool);
    if (type == &PyComplex_Type) return KEY_SCALAR(TY_wcpx);
    if (arg == Py_None) return KEY_SCALAR(TY_none);
    if (type == &PyTuple_Type) return tuple_key(w, arg, NULL, depth);
    int kind = py_kind_of_scalar_type(w->state, type);
    if (kind >= 0) return KEY_SCALAR(kind);
    if (py_is_time_scalar(arg)) {
        TypeKey key = py_time_scalar_key(w->state, arg);
        return key || PyErr_Occurred() ? key : refuse_type(w, arg, "its unit is too large");
    }
    return other_key(w, arg, depth);
}

TypeKey py_arg_key(ModState *state, PyObject *arg, const char *function, int position) {
    return any_key(&(Where){state, function, position, false}, arg, 0);
}

TypeKey py_kernel_arg_key(ModState *state, PyObject *arg, const char *function, int position) {
    return any_key(&(Where){state, function, position, true}, arg, 0);
}

/* -- keys and types ------------------------------------------------------------------------------ */

/* A binding for messages and comparisons. */
static const Binding *shown_enumeration(Arena *arena, PyTypeObject *cls) {
    Binding *b = arena_new(arena, Binding);
    *b = (Binding){.kind = BIND_MODULE, .handle = cls};
    b->name = str_copy(arena, cls->tp_name, strlen(cls->tp_name));
    b->enumeration = py_enum_class(arena, cls);
    return b->enumeration ? b : NULL;
}

static const Type *members_type(PyResolver *r, TypeTable *types, Arena *arena, const Compound *c) {
    PyTypeObject *cls = (PyTypeObject *)c->cls;
    const Binding *b = r ? py_enumeration(r, cls) : shown_enumeration(arena, cls);
    return b ? type_member(types, b) : NULL;
}

/* Where a member of an enumeration stands, which its class can say. Empty: it is none, or its class cannot. */
static Str member_path(PyResolver *r, PyObject *object) {
    PyObject *name = NULL;
    Str path = {0}, text;
    if (py_is_enum_member(object) > 0 && py_get_optional(object, "_name_", &name) > 0)
        path = py_class_path(r, (PyObject *)Py_TYPE(object));
    if (path.len && py_str(r->arena, name, &text))
        path = str_printf(r->arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(text));
    Py_XDECREF(name);
    py_forget_error();
    return path;
}

const Binding *py_bind_argument(PyResolver *r, PyObject *object) {
    Str path = member_path(r, object);
    if (path.len) return py_bind(r, object, path);
    path = str_printf(r->arena, "a:%d", (int)r->arguments.len);
    const Binding *b = py_bind(r, object, path);
    vec_push(r->arena, &r->arguments, b);
    return b;
}

/* A function, which is a type of its own. */
static const Type *object_type(ModState *state, PyResolver *r, TypeTable *types, TypeKey key) {
    PyObject *function = py_key_function(state, key);
    if (!function)
        PyErr_SetString(PyExc_ReferenceError,
                        "the function that was passed as an argument does not exist any more");
    const Binding *b = function ? py_bind_argument(r, function) : NULL;
    Py_XDECREF(function); /* r->keep has it */
    return b ? type_object(types, b) : NULL;
}

/* The same for messages. */
static const Type *shown_object(ModState *state, TypeTable *types, Arena *arena, TypeKey key) {
    PyObject *function = py_key_function(state, key);
    PyObject *name = function ? PyObject_GetAttrString(function, "__name__") : NULL;
    Binding *b = arena_new(arena, Binding);
    *b = (Binding){.kind = BIND_FUNCTION, .name = STR("?")};
    if (!name || !PyUnicode_Check(name) || !py_str(arena, name, &b->name)) PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(function);
    return type_object(types, b);
}

static const Type *slice_type(TypeTable *types, const Compound *c) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (c->items[i] != KEY_SCALAR(TY_none)) bits |= 1u << i;
    return type_slice(types, bits);
}

static const Type *variant_type(ModState *state, PyResolver *r, TypeTable *types, Arena *arena,
                                const Compound *c, const Type *const *items) {
    Variant variant = py_variant_of(c->cls);
    const Type *plain = type_class_of(types, type_variant_class(variant), items), *function = NULL;
    bool made = variant == VARIANT_defaultdict && key_is_compound(c->items[2]);
    PyObject *factory = made ? py_key_function(state, c->items[2]) : NULL;
    ValueMaker maker = factory ? py_maker_of(factory) : MAKER_none;
    Py_XDECREF(factory);
    if (made && !maker) {
        maker = MAKER_function;
        function = r ? object_type(state, r, types, c->items[2])
                     : shown_object(state, types, arena, c->items[2]);
        if (!function) return NULL;
    }
    return type_variant(types, plain, variant, maker, function);
}

static const Type *compound_type(ModState *state, PyResolver *r, TypeTable *types, Arena *arena,
                                 TypeKey key, bool strong) {
    const Compound *c = py_compound(state, key);
    if (c && c->nitems == KEY_MEMBERS && !c->dead) return members_type(r, types, arena, c);
    if (c && c->nitems == KEY_LITERAL) return py_literal_type(state, r, types, arena, c);
    if (c && c->nitems == KEY_OBJECT)
        return r ? object_type(state, r, types, key) : shown_object(state, types, arena, key);
    if (c && c->nitems == KEY_INSTANCE && !c->dead)
        return py_instance_type(state, types, arena, c->cls);
    if (c && c->nitems == KEY_TIME) return py_time_type(types, (PyArray_Descr *)c->cls);
    if (!c || c->nitems < 0) return NULL;
    if (c->cls == (PyObject *)&PySlice_Type) return slice_type(types, c);
    if (is_random_key(state, c)) return type_random(types);
    Variant variant = py_variant_of(c->cls);
    int32_t n = variant == VARIANT_defaultdict ? 2 : c->nitems;
    const Type **items = arena_array(arena, const Type *, n);
    for (int32_t i = 0; i < n; i++)
        if (!(items[i] = py_key_type(state, r, types, arena, c->items[i], strong))) return NULL;
    if (is_choice_key(c)) return type_choice(types, items, c->nitems);
    ClassId cls = py_container_class(c->cls);
    if (variant) return variant_type(state, r, types, arena, c, items);
    if (cls != CLS_COUNT) return type_class_of(types, cls, items);
    if (c->cls == Py_None) return type_optional(types, items[0]);
    cls = py_shared_class(state, c->cls);
    if (cls != CLS_COUNT) return type_shared(types, type_class_of(types, cls, items));
    cls = text_class(c->cls);
    if (cls != CLS_COUNT) return type_class_of(types, cls, NULL);
    if (!c->cls) return type_tuple(types, items, c->nitems);
    PyObject *fields;
    int value = py_value_fields(c->cls, &fields);
    if (value == 0) fields = PyObject_GetAttrString(c->cls, "_fields");
    if (!fields) return NULL;
    Str *names = arena_array(arena, Str, c->nitems);
    bool ok = PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == c->nitems;
    for (int32_t i = 0; ok && i < c->nitems; i++)
        ok = py_str(arena, PyTuple_GET_ITEM(fields, i), &names[i]);
    Py_DECREF(fields);
    if (!ok) return NULL;
    return value ? type_value(types, items, c->nitems, names, c->cls)
                 : type_named_tuple(types, items, c->nitems, names, c->cls);
}

const Type *py_key_type(ModState *state, PyResolver *r, TypeTable *types, Arena *arena, TypeKey key,
                        bool strong) {
    if (key_is_compound(key)) return compound_type(state, r, types, arena, key, strong);
    if (key_is_array(key)) {
        const Type *element = py_element_type(state, types, arena, key_element(key));
        if (!element) return NULL;
        const Type *type = type_array(types, element, key_ndim(key), key_layout(key));
        if (key & KEY_READONLY) type = type_array_readonly(types, type, true);
        if (key & KEY_UNALIGNED) type = type_array_aligned(types, type, false);
        return type;
    }
    TypeKind kind = key_scalar_kind(key);
    return type_scalar(types, strong ? type_strong_kind(kind) : kind);
}

/* What a typed container may hold; of others everything. */
static bool are_parts(ModState *state, const Type *type, const TypeKey *items) {
    if (type->kind != TY_CLASS) return true;
    bool list = type->bits == CLS_list;
    return (list || is_hashed_key(state, items[0])) &&
           is_element_key(state, items[type->nparams - 1]);
}

/* The class of Python's own containers that signatures can declare, or NULL. */
static PyObject *plain_class(const Type *type) {
    if (type->variant || type->open) return NULL;
    if (type->bits == CLS_list) return (PyObject *)&PyList_Type;
    return type->bits == CLS_set ? (PyObject *)&PySet_Type : NULL;
}

TypeKey py_type_key(ModState *state, const Type *type) {
    if (type->kind < TY_SCALARS) return KEY_SCALAR(type->kind);
    if (type->kind == TY_ARRAY) {
        int kind = py_kind_of_element(state, type->element);
        return kind < 0 ? 0
                        : key_array(kind, type->ndim, (Layout)type->layout,
                                    (type->readonly ? KEY_READONLY : 0) |
                                        (type->aligned ? 0 : KEY_UNALIGNED));
    }
    if (type->kind == TY_CLASS && type->bits == CLS_str)
        return py_compound_key(state, (PyObject *)&PyUnicode_Type, NULL, 0);
    if (type->kind == TY_CLASS && type->bits == CLS_bytes)
        return py_compound_key(state, (PyObject *)&PyBytes_Type, NULL, 0);
    if (type_is_random(type)) {
        PyObject *cls = py_random_class(state);
        return cls ? py_compound_key(state, cls, NULL, 0) : 0;
    }
    if (type_is_instance(type)) return py_instance_key(state, type->cls);
    if (type->kind == TY_TIME) {
        int kind = py_kind_of_time(state, type);
        return kind < 0 ? 0 : py_time_key(state, kind);
    }
    bool optional = type->kind == TY_OPTIONAL, shared = type->kind == TY_CLASS && type->shared;
    PyObject *plain = type->kind == TY_CLASS && !shared ? plain_class(type) : NULL;
    if ((type->kind != TY_TUPLE && !optional && !shared && !plain) || type->nitems > MAX_TUPLE)
        return 0;
    bool container = shared || plain;
    const Type *const *parts = optional ? &type->element : container ? type->params : type->items;
    int32_t n = optional ? 1 : container ? type->nparams : type->nitems;
    TypeKey *items = PyMem_Malloc(sizeof *items * (size_t)QN_MAX(n, 1)), key = 1;
    if (!items) return PyErr_NoMemory(), 0;
    for (int32_t i = 0; i < n && key; i++)
        items[i] = key = py_type_key(state, parts[i]);
    PyObject *cls = optional ? Py_None
                    : shared ? py_class_of_shared(state, (ClassId)type->bits)
                    : plain  ? plain
                             : type->cls;
    if (shared && !cls) key = 0;
    if (key) key = are_parts(state, type, items) ? py_compound_key(state, cls, items, n) : 0;
    PyMem_Free(items);
    return key;
}

/* Functions and members of enumerations are types of their own. */
static PyObject *object_text(ModState *state, PyObject *object) {
    bool function = py_is_function(state, object);
    return function ? PyUnicode_FromFormat("function(%R)", object) : PyObject_Str(object);
}

PyObject *py_key_text(ModState *state, TypeKey key, bool exact) {
    const Compound *compound = key_is_compound(key) ? py_compound(state, key) : NULL;
    if (compound && compound->nitems == KEY_OBJECT) {
        PyObject *function = py_key_function(state, key);
        PyObject *shown = object_text(state, function ? function : Py_None);
        Py_XDECREF(function);
        return shown;
    }
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    const Type *type = py_key_type(state, NULL, type_table_new(&arena), &arena, key, false);
    PyObject *text = NULL;
    if (type && exact) {
        text = py_exact_text(state, &arena, type);
    } else if (type) {
        Str described = type_text(&arena, type);
        text = PyUnicode_FromStringAndSize(described.bytes, described.len);
    }
    arena_free(&arena);
    return text;
}
