/* ufunc.c - @vectorize and @guvectorize on the CPU: real objects of numpy.ufunc (how: ufunc.h).
 *
 * Our ufuncs are of a subtype of numpy.ufunc that adds attributes and no memory. NumPy does not let heap
 * types derive from ufunc, so it is a static type in all but storage: its basic size is read from NumPy
 * when the module starts, and it is never freed. */
#include "pymodule/ufunc.h"

/* -- UfuncData ------------------------------------------------------------------------------------------------ */

static int data_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((UfuncData *)self)->make_stand_in);
    Py_VISIT(((UfuncData *)self)->stand_in);
    return py_core_traverse(&((UfuncData *)self)->core, visit, arg);
}

static void data_dealloc(PyObject *self) {
    UfuncData *u = (UfuncData *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (u->weakrefs) PyObject_ClearWeakRefs(self);
    py_core_clear(&u->core);
    Py_CLEAR(u->make_stand_in);
    Py_CLEAR(u->stand_in);
    PyMem_Free(u->types);
    PyMem_Free(u->name);
    PyMem_Free(u->doc);
    PyMem_Free(u->layout);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef data_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(UfuncData, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot data_slots[] = {
    {Py_tp_members, data_members},
    {Py_tp_dealloc, data_dealloc},
    {Py_tp_traverse, data_traverse},
    {0, NULL},
};

PyType_Spec py_ufunc_data_spec = {
    .name = "quern._quern.UfuncData",
    .basicsize = sizeof(UfuncData),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = data_slots,
};

/* -- making one ------------------------------------------------------------------------------------------------- */

static char *copy_text(PyObject *text) {
    Py_ssize_t len;
    const char *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    if (!bytes) bytes = "", len = 0;
    char *copy = PyMem_Malloc((size_t)len + 1);
    if (copy)
        memcpy(copy, bytes, (size_t)len + 1);
    else
        PyErr_NoMemory();
    return copy;
}

static bool takes_positional(const JitCore *core, const char *of, int most) {
    if (core->nparams >= 1 && core->nparams <= most && !core->varargs && !core->nkwonly)
        return true;
    PyErr_Format(PyExc_TypeError,
                 "'%U' cannot become a %s: it must take 1 to %d positional arguments", core->name,
                 of, most);
    return false;
}

static UfuncData *data_new(ModState *state, PyObject *py_func, PyObject *dict, bool parallel,
                           bool generalized) {
    CompileOptions options;
    if (!py_options(dict, &options)) return NULL;
    UfuncData *u = (UfuncData *)state->ufunc_data_type->tp_alloc(state->ufunc_data_type, 0);
    if (!u) return NULL;
    options.entry = ENTRY_UFUNC;
    options.core = generalized ? &u->axes : NULL;
    u->generalized = generalized;
    u->parallel = parallel;
    PyErr_Clear();
    if (!py_core_init(&u->core, state, py_func, &options)) goto fail;
    u->core.locals = Py_XNewRef(PyDict_GetItemString(dict, "locals"));
    if (!takes_positional(&u->core, generalized ? "gufunc" : "ufunc",
                          MAX_UFUNC_ARGS - !generalized))
        goto fail;
    u->nin = u->nkeys = u->core.nparams;
    u->nargs = u->nin + !generalized;
    u->name = copy_text(u->core.name);
    u->doc = copy_text(((PyFunctionObject *)py_func)->func_doc);
    u->types = PyMem_Calloc(MAX_LOOPS, (size_t)u->nargs);
    if (!u->name || !u->doc) goto fail;
    if (u->types) return u;
    PyErr_NoMemory();
fail:
    Py_DECREF(u);
    return NULL;
}

static void seed(UfuncData *u) {
    memset(u->types, NPY_LONGDOUBLE, (size_t)u->nargs);
    u->loops[0] = (UfuncLoop){.owner = u};
    u->data[0] = &u->loops[0];
    u->functions[0] = py_run_refusal;
    u->nloops = 1;
    u->seeded = true;
}

static PyObject *wrap(ModState *state, UfuncData *u, PyObject *identity) {
    int code = PyUFunc_IdentityValue;
    if (identity == Py_None)
        code = PyUFunc_None;
    else if (PyUnicode_Check(identity))
        code = PyUFunc_ReorderableNone;
    PyObject *ufunc = PyUFunc_FromFuncAndDataAndSignatureAndIdentity(
        u->functions, u->data, u->types, u->nloops, u->nin, u->nargs - u->nin, code, u->name,
        u->doc, 0, u->layout, code == PyUFunc_IdentityValue ? identity : NULL);
    if (!ufunc) return NULL;
    PyUFuncObject *object = (PyUFuncObject *)ufunc;
    object->obj = Py_NewRef((PyObject *)u);
    object->type_resolver = py_resolve_types;
    Py_SET_TYPE(ufunc, state->ufunc_type);
    /* NumPy does that with its own `obj` only, and a ufunc is reachable from the globals of its function */
    if (PyObject_IS_GC(ufunc) && !PyObject_GC_IsTracked(ufunc)) PyObject_GC_Track(ufunc);
    return ufunc;
}

/* The ufunc of `u`, which is given up. */
static PyObject *finish(ModState *state, UfuncData *u, PyObject *signatures, PyObject *identity) {
    PyObject *ufunc = NULL;
    u->dynamic = PyList_GET_SIZE(signatures) == 0;
    if (u->dynamic) seed(u);
    if ((u->dynamic || py_core_freeze(&u->core)) && py_compile_declared(u, signatures) == 0)
        ufunc = wrap(state, u, identity);
    Py_DECREF(u);
    return ufunc;
}

/* make_ufunc(py_func, options, signatures, identity, parallel) */
PyObject *py_make_ufunc(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"py_func", "options", "signatures", "identity", "parallel", NULL};
    PyObject *py_func, *dict, *signatures, *identity = Py_None;
    int parallel = 0;
    ModState *state = py_state(module);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!|Op", names, &py_func, &PyDict_Type, &dict,
                                     &PyList_Type, &signatures, &identity, &parallel))
        return NULL;
    UfuncData *u = data_new(state, py_func, dict, parallel, false);
    return u ? finish(state, u, signatures, identity) : NULL;
}

/* The axes of the operands, from a tuple for each with the numbers of its lengths, as NumPy counts them; what is written.
 * false: exception. */
static bool read_axes(UfuncData *u, int nin, PyObject *operands, PyObject *writable) {
    CoreAxes *axes = &u->axes;
    if (PyTuple_GET_SIZE(operands) != u->nargs) {
        PyErr_Format(PyExc_TypeError, "the layout %s is for %zd arguments, '%s' takes %d",
                     u->layout, PyTuple_GET_SIZE(operands), u->name, u->nargs);
        return false;
    }
    u->nin = nin;
    for (int k = 0; k < u->nargs; k++) {
        PyObject *lengths = PyTuple_GET_ITEM(operands, k);
        axes->ndim[k] = (int16_t)PyTuple_GET_SIZE(lengths);
        if (axes->ndim[k] > MAX_CORE_AXES - axes->total) {
            PyErr_Format(PyExc_ValueError, "the layout of '%s' has more than %d core axes", u->name,
                         MAX_CORE_AXES);
            return false;
        }
        for (int d = 0; d < axes->ndim[k]; d++)
            axes->length[axes->total++] = (int16_t)PyLong_AsLong(PyTuple_GET_ITEM(lengths, d));
        if (k >= nin) u->written |= UINT32_C(1) << k;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(writable); i++)
        u->written |= UINT32_C(1) << (PyLong_AsLong(PyTuple_GET_ITEM(writable, i)) & 31);
    return !PyErr_Occurred();
}

/* Tells NumPy of inputs that are written to, and comes in front of its calls. */
static void take_over(UfuncData *u, PyUFuncObject *ufunc) {
    for (int k = 0; k < u->nin; k++)
        if (u->written >> k & 1) ufunc->op_flags[k] = NPY_ITER_READWRITE | NPY_ITER_UPDATEIFCOPY;
    u->numpy_call = ufunc->vectorcall;
    ufunc->vectorcall = py_call_core;
}

/* make_gufunc(py_func, options, signatures, identity, parallel, layout, number of inputs, lengths of each operand's axes by their
 * numbers, numbers of the inputs that are written to, what makes the function that stands for it in
 * compiled code): quern/_guvectorize.py has read the layout. */
PyObject *py_make_gufunc(PyObject *module, PyObject *args) {
    PyObject *py_func, *dict, *signatures, *identity, *layout, *ndims, *writable, *stand_in;
    int parallel, nin;
    ModState *state = py_state(module);
    if (!PyArg_ParseTuple(args, "OO!O!OpO!iO!O!O", &py_func, &PyDict_Type, &dict, &PyList_Type,
                          &signatures, &identity, &parallel, &PyUnicode_Type, &layout, &nin,
                          &PyTuple_Type, &ndims, &PyTuple_Type, &writable, &stand_in))
        return NULL;
    UfuncData *u = data_new(state, py_func, dict, parallel, true);
    if (!u) return NULL;
    u->make_stand_in = Py_NewRef(stand_in);
    if (!(u->layout = copy_text(layout)) || !read_axes(u, nin, ndims, writable)) {
        Py_DECREF(u);
        return NULL;
    }
    PyObject *ufunc = finish(state, u, signatures, identity);
    if (ufunc) take_over(u, (PyUFuncObject *)ufunc);
    return ufunc;
}

/* Of the loops that are declared: the letters of their types, the operands that are arrays. */
static PyObject *declared_loops(const UfuncData *u) {
    PyObject *list = PyList_New(0);
    for (int l = u->seeded; list && !u->dynamic && l < u->nloops; l++) {
        char letters[MAX_UFUNC_ARGS];
        for (int i = 0; i < u->nargs; i++)
            letters[i] = u->core.state->descrs[py_kind_of_typenum(loop_types(u, l)[i])]->type;
        PyObject *item = Py_BuildValue("(s#k)", letters, (Py_ssize_t)u->nargs,
                                       (unsigned long)u->loops[l].arrays);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

PyObject *py_ufunc_stand_in(PyObject *ufunc) {
    UfuncData *u = data_of(ufunc);
    if (!u->generalized) return ufunc;
    if (u->stand_in) return u->stand_in;
    PyObject *loops = declared_loops(u);
    PyObject *made = loops ? PyObject_CallOneArg(u->make_stand_in, loops) : NULL;
    Py_XDECREF(loops);
    if (u->stand_in) /* by another thread */
        Py_XDECREF(made);
    else
        u->stand_in = made;
    return u->stand_in;
}

PyObject *py_declared_of_ufunc(PyObject *ufunc) {
    const UfuncData *u = data_of(ufunc);
    PyObject *list = u->dynamic || u->generalized ? NULL : PyList_New(0);
    for (int l = 0; list && l < u->nloops; l++)
        if (u->loops[l].spec && u->loops[l].spec->declared_text &&
            PyList_Append(list, u->loops[l].spec->declared_text) < 0)
            Py_CLEAR(list);
    return list;
}

/* -- the subtype ---------------------------------------------------------------------------------------------------- */

static PyObject *get_py_func(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(data_of(self)->core.py_func);
}

static PyObject *get_of_function(PyObject *self, void *name) {
    return PyObject_GetAttrString(data_of(self)->core.py_func, name);
}

static PyObject *get_self(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *get_ntypes(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(data_of(self)->nloops - data_of(self)->seeded);
}

static PyObject *get_types(PyObject *self, void *unused) {
    (void)unused;
    const UfuncData *u = data_of(self);
    PyObject *list = PyList_New(0);
    for (int l = u->seeded; list && l < u->nloops; l++) {
        char text[MAX_UFUNC_ARGS + 4];
        int n = 0;
        for (int i = 0; i < u->nargs; i++) {
            PyArray_Descr *descr = PyArray_DescrFromType(loop_types(u, l)[i]);
            if (i == u->nin) n += snprintf(text + n, 3, "->");
            text[n++] = descr ? descr->type : '?';
            Py_XDECREF(descr);
        }
        PyObject *item = PyUnicode_FromStringAndSize(text, n);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static void close_ufunc(UfuncData *u) {
    u->dynamic = u->dynamic && u->nloops == u->seeded;
    Py_CLEAR(u->stand_in);
}

static PyObject *get_is_frozen(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(!data_of(self)->dynamic);
}

static int set_is_frozen(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    int frozen = value ? PyObject_IsTrue(value) : 0;
    if (frozen > 0) close_ufunc(data_of(self));
    return frozen < 0 ? -1 : 0;
}

static PyObject *get_is_dynamic(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(data_of(self)->dynamic);
}

static PyObject *ufunc_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(data_of(self)->core.py_func, "__qualname__");
}

/* add(signature text): one more loop; afterwards no others are made for unseen types. */
static PyObject *ufunc_add(PyObject *self, PyObject *text) {
    UfuncData *u = data_of(self);
    PyObject *list = PyList_New(1);
    if (!list) return NULL;
    PyList_SET_ITEM(list, 0, Py_NewRef(text));
    int status = PyUnicode_Check(text) ? py_compile_declared(u, list) : -1;
    Py_DECREF(list);
    if (status < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a signature as text is expected");
    if (status < 0) return NULL;
    Py_CLEAR(u->stand_in);
    ((PyUFuncObject *)self)->ntypes = u->nloops;
    Py_RETURN_NONE;
}

static PyObject *ufunc_explain(PyObject *self, PyObject *what) {
    JitCore *core = &data_of(self)->core;
    return py_core_explain(core, &core->options, false, what, py_arg_key);
}

static PyObject *surface_explain(PyObject *self, PyObject *args, PyObject *kwargs) {
    return py_surface(self, "explain", args, kwargs);
}

static PyObject *ufunc_cache_log(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_core_cache_log(&data_of(self)->core);
}

static PyObject *get_stats(PyObject *self, void *unused) {
    (void)unused;
    return py_surface(self, "stats", NULL, NULL);
}

static PyObject *surface_add(PyObject *self, PyObject *args, PyObject *kwargs) {
    return py_surface(self, "add_loop", args, kwargs);
}

static PyObject *surface_compile_for(PyObject *self, PyObject *args, PyObject *kwargs) {
    return py_surface(self, "compile_for", args, kwargs);
}

static PyObject *disable_compile(PyObject *self, PyObject *unused) {
    (void)unused;
    close_ufunc(data_of(self));
    Py_RETURN_NONE;
}

static PyObject *build_ufunc(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}

static PyMethodDef ufunc_methods[] = {
    {"_compile_for_argtys", (PyCFunction)(void (*)(void))surface_compile_for,
     METH_VARARGS | METH_KEYWORDS,
     "The name in Numba, which libraries call, of add() with a tuple of types."},
    {"add", (PyCFunction)(void (*)(void))surface_add, METH_VARARGS | METH_KEYWORDS,
     "One more loop, for a signature."},
    {"build_ufunc", build_ufunc, METH_NOARGS, "The ufunc itself."},
    {"disable_compile", disable_compile, METH_NOARGS,
     "From now on there are the loops that were made, and no others."},
    {"_cache_log", ufunc_cache_log, METH_NOARGS, NULL},
    {"_explain", ufunc_explain, METH_O, NULL},
    {"explain", (PyCFunction)(void (*)(void))surface_explain, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__reduce__", ufunc_reduce, METH_NOARGS, NULL},
    {"_add", ufunc_add, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef ufunc_getset[] = {
    {"py_func", get_py_func, NULL, "The Python function.", NULL},
    {"__wrapped__", get_py_func, NULL, NULL, NULL},
    {"__module__", get_of_function, NULL, NULL, "__module__"},
    {"__qualname__", get_of_function, NULL, NULL, "__qualname__"},
    {"__doc__", get_of_function, NULL, NULL, "__doc__"},
    {"ufunc", get_self, NULL, NULL, NULL},
    {"_frozen", get_is_frozen, set_is_frozen, "Numba's name for it: are no more loops made?", NULL},
    {"is_dynamic", get_is_dynamic, NULL, "Are loops made for the types of calls?", NULL},
    {"stats", get_stats, NULL, "Hits and misses of the disk cache, and reasons.", NULL},
    {"ntypes", get_ntypes, NULL, "Number of compiled loops.", NULL},
    {"types", get_types, NULL, "Compiled loops, as NumPy writes them.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int py_ufunc_init(ModState *state) {
    PyTypeObject *type = PyMem_Calloc(1, sizeof *type);
    if (!type) return PyErr_NoMemory(), -1;
    Py_SET_REFCNT((PyObject *)type, 1);
    type->tp_name = "quern.ufunc";
    type->tp_base = &PyUFunc_Type;
    type->tp_basicsize = PyUFunc_Type.tp_basicsize;
    type->tp_flags = Py_TPFLAGS_DEFAULT;
    type->tp_methods = ufunc_methods;
    type->tp_getset = ufunc_getset;
    if (PyType_Ready(type) < 0) return -1;
    state->ufunc_type = type;
    return 0;
}

PyObject *py_function_of_ufunc(PyObject *ufunc) {
    return data_of(ufunc)->core.py_func;
}

PyObject *py_frozen_of_ufunc(PyObject *ufunc) {
    return data_of(ufunc)->core.frozen;
}

const CompileOptions *py_options_of_ufunc(PyObject *ufunc) {
    return &data_of(ufunc)->core.options;
}

PyObject *py_locals_of_ufunc(PyObject *ufunc) {
    return data_of(ufunc)->core.locals;
}

PyObject *py_data_of_ufunc(PyObject *ufunc) {
    return (PyObject *)data_of(ufunc);
}
