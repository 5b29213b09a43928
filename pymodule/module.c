/* module.c - quern._quern: multi-phase initialisation and the module state. */
#define QUERN_IMPORTS_NUMPY
#include "pymodule/cache.h"
#include "codegen/support.h"
#include "frontend/base/folder.h"
#include "runtime/runtime.h"

ModState *py_state(PyObject *module) {
    return PyModule_GetState(module);
}

ModState *py_state_of_type(PyTypeObject *type) {
    PyObject *module = PyType_GetModuleByDef(type, &py_module_def);
    return module ? py_state(module) : NULL;
}

/* -- functions of the module ---------------------------------------------------------------------- */

/* register(name, class): the Python package tells us its classes. */
static PyObject *module_register(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    const char *name;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
    PyObject **slot = !strcmp(name, "Type")        ? &state->type_class
                      : !strcmp(name, "Intrinsic") ? &state->intrinsic_class
                      : !strcmp(name, "Namespace") ? &state->namespace_class
                      : !strcmp(name, "overloads") ? &state->overloads
                                                   : NULL;
    if (!strcmp(name, "Instance")) slot = &state->instance_class;
    if (!strcmp(name, "List")) slot = &state->shared_classes[CLS_list];
    if (!strcmp(name, "Dict")) slot = &state->shared_classes[CLS_dict];
    if (!strcmp(name, "Set")) slot = &state->shared_classes[CLS_set];
    if (!slot) return PyErr_Format(PyExc_ValueError, "unknown class %s", name);
    Py_XSETREF(*slot, Py_NewRef(object));
    Py_RETURN_NONE;
}

static PyObject *module_typeof(PyObject *module, PyObject *value) {
    TypeKey key = py_arg_key(py_state(module), value, "typeof", -1);
    if (key == KEY_SCALAR(TY_wint)) { /* what no type holds */
        int overflow = 0;
        long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (small == -1 && !overflow && PyErr_Occurred()) return NULL;
        if (overflow)
            return PyErr_SetString(
                       PyExc_OverflowError,
                       "Python int too large for compiled code, whose ints have 64 bits"),
                   NULL;
    }
    return key ? py_key_text(py_state(module), key, true) : NULL;
}

/* A type or signature in our own words; ValueError when it is none. */
static PyObject *module_describe(PyObject *module, PyObject *text) {
    const char *bytes = PyUnicode_AsUTF8(text);
    if (!bytes) return NULL;
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    DiagList diags;
    diag_init(&diags, &arena);
    Signature signature;
    TypeTable *types = type_table_new(&arena);
    PyObject *result = NULL;
    if (ti_parse_signature(types, &arena, bytes, &signature, &diags)) {
        PyObject *params = PyList_New(0);
        for (int32_t i = 0; params && i < signature.nparams; i++) {
            Str name = type_text(&arena, signature.params[i]);
            PyObject *item = PyUnicode_FromStringAndSize(name.bytes, name.len);
            if (!item || PyList_Append(params, item) < 0) Py_CLEAR(params);
            Py_XDECREF(item);
        }
        Str name = signature.result ? type_text(&arena, signature.result) : STR("");
        if (params) result = Py_BuildValue("(Ns#)", params, name.bytes, (Py_ssize_t)name.len);
    } else {
        py_raise_diags(py_state(module), &diags);
    }
    arena_free(&arena);
    return result;
}

/* set_search_prefixes(list of folders): where pip may have put NVIDIA's libdevice. */
static PyObject *module_set_search_prefixes(PyObject *module, PyObject *list) {
    (void)module;
    const char *prefixes[64];
    int n = 0;
    if (!PyList_Check(list)) return PyErr_SetString(PyExc_TypeError, "a list is expected"), NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list) && n < countof(prefixes); i++)
        if (!(prefixes[n++] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i)))) return NULL;
    cg_set_search_prefixes(prefixes, n);
    Py_RETURN_NONE;
}

static PyObject *module_versions(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    PyObject *result = Py_BuildValue("{s:s,s:s,s:s}", "llvm", cg_llvm_version(), "cpu",
                                     cg_host_cpu(&arena), "blas", blas_name());
    arena_free(&arena);
    return result;
}

static PyObject *module_threads(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    int n = 0;
    if (!PyArg_ParseTuple(args, "|i", &n)) return NULL;
    if (n) {
        RtError err;
        rt_error_init(&err);
        if (!rt_threads_set(n, &err)) return py_raise_runtime(state, &err), NULL;
    }
    return Py_BuildValue("(ii)", (int)rt_threads(), (int)rt_threads_max());
}

static PyObject *module_thread_id(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLong(rt_thread_id());
}

static PyObject *module_chunk_size(PyObject *module, PyObject *args) {
    (void)module;
    long long n = -1;
    if (!PyArg_ParseTuple(args, "|L", &n)) return NULL;
    return PyLong_FromLongLong(n < 0 ? rt_chunk_size() : rt_chunk_size_set(n));
}

static PyObject *module_live_allocations(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLongLong(support_live_arrays());
}

static PyObject *module_live_objects(PyObject *module, PyObject *unused) {
    (void)unused;
    return PyLong_FromLongLong(support_live_objects() + py_live_owners(py_state(module)));
}

/* drop_instances(): compiled functions of the library that nothing calls any more go at once */
static PyObject *module_drop_instances(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    cg_drop_instances();
    Py_RETURN_NONE;
}

/* code_instances(): how many were ever made in this process, are called by something now, and came from the disk */
static PyObject *module_code_instances(PyObject *module, PyObject *unused) {
    int64_t made, live, read;
    (void)module, (void)unused;
    cg_count_instances(&made, &live, &read);
    return Py_BuildValue("(LLL)", (long long)made, (long long)live, (long long)read);
}

static PyObject *module_test_fail_allocation(PyObject *module, PyObject *n) {
    (void)module;
    long long number = PyLong_AsLongLong(n);
    if (number == -1 && PyErr_Occurred()) return NULL;
    support_fail_allocation(number);
    Py_RETURN_NONE;
}

static PyObject *module_test_folder(PyObject *module, PyObject *args) {
    (void)module;
    int n, kills;
    if (!PyArg_ParseTuple(args, "ip:test_folder", &n, &kills)) return NULL;
    return PyLong_FromLong(folder_test(n, kills));
}

static PyObject *module_test_fatal_error(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    cg_test_fatal_error();
    Py_RETURN_NONE;
}

/* record(callable or None): from now on called as recorder(owner, *args, **kwargs) */
static PyObject *module_record(PyObject *module, PyObject *recorder) {
    ModState *state = py_state(module);
    Py_XSETREF(state->recorder, recorder == Py_None ? NULL : Py_NewRef(recorder));
    Py_RETURN_NONE;
}

/* The number by which types in text name the instances of a class with @jitclass: instance[3]. */
static PyObject *module_instance_number(PyObject *module, PyObject *cls) {
    if (!PyType_Check(cls)) return PyErr_SetString(PyExc_TypeError, "a class is expected"), NULL;
    TypeKey key = py_instance_key(py_state(module), cls);
    return key ? PyLong_FromUnsignedLong(key & ~KEY_COMPOUND) : NULL;
}

static PyObject *module_instance_class(PyObject *module, PyObject *number) {
    long at = PyLong_AsLong(number);
    if (at == -1 && PyErr_Occurred()) return NULL;
    bool fits = at >= 0 && at < (long)KEY_COMPOUND;
    PyObject *cls = fits ? py_instance_class(py_state(module), (int32_t)at) : NULL;
    return cls ? cls : Py_NewRef(Py_None);
}

/* take_subclasses(yes): may arrays be of any subclass of ndarray? */
static PyObject *module_take_subclasses(PyObject *module, PyObject *yes) {
    int truth = PyObject_IsTrue(yes);
    if (truth < 0) return NULL;
    py_state(module)->takes_subclasses = truth;
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"instance_class", module_instance_class, METH_O,
     "The class with a number that instance_number gave; None: there is none, or no more."},
    {"instance_number", module_instance_number, METH_O,
     "Of a class with @jitclass, for types in text."},
    {"register", module_register, METH_VARARGS, NULL},
    {"typeof", module_typeof, METH_O, "The type of a value, as text."},
    {"describe", module_describe, METH_O, "(parameter types, result type) of a signature's text."},
    {"set_search_prefixes", module_set_search_prefixes, METH_O, NULL},
    {"versions", module_versions, METH_NOARGS, NULL},
    {"_leave", py_leave, METH_NOARGS, NULL},
    {"threads", module_threads, METH_VARARGS,
     "(threads of this thread's calls, the most); sets when n > 0."},
    {"thread_id", module_thread_id, METH_NOARGS, "Of this thread, among those of a parallel loop."},
    {"chunk_size", module_chunk_size, METH_VARARGS,
     "Iterations of a chunk of this thread's parallel loops, 0: chosen. With n >= 0 it is set; the "
     "result is what it "
     "was."},
    {"live_allocations", module_live_allocations, METH_NOARGS,
     "Arrays of compiled code that are alive."},
    {"test_fail_allocation", module_test_fail_allocation, METH_O,
     "The allocation of that number by compiled code fails; 0: none does."},
    {"test_folder", module_test_folder, METH_VARARGS,
     "The step of that number in folders of the disk cache fails, or kills the process; 0: none "
     "does. Answers how many were left."},
    {"live_objects", module_live_objects, METH_NOARGS,
     "Objects of compiled code, buffers of counted elements, and owners of Python objects in them, "
     "that are alive."},
    {"take_subclasses", module_take_subclasses, METH_O, NULL},
    {"record", module_record, METH_O,
     "While a program is explained: who is told of calls that no specialisation is made for yet."},
    {"code_instances", module_code_instances, METH_NOARGS, NULL},
    {"drop_instances", module_drop_instances, METH_NOARGS, NULL},
    {"test_fatal_error", module_test_fatal_error, METH_NOARGS, NULL},
    {"cache_entry", py_cache_entry, METH_O,
     "What an entry of the disk cache (bytes) says of itself: a dict; or a text that says what is "
     "wrong with it."},
    {"cache_folder", py_cache_folder, METH_NOARGS,
     "The folder of the disk cache (None: there is none) and its size limit in bytes."},
    {"compile_kernel", py_compile_kernel, METH_VARARGS,
     "(function, signature, options, architecture, keep texts ...): a kernel for a chip, as a "
     "dict."},
    {"compile_host", py_compile_host, METH_VARARGS,
     "(function, signature, options, processor, name): an object file for programs without Quern, "
     "as a dict."},
    {"compile_c", py_compile_c, METH_VARARGS, "(function, signature, options): a CFunction."},
    {"make_gufunc", py_make_gufunc, METH_VARARGS, NULL},
    {"make_ufunc", (PyCFunction)(void (*)(void))py_make_ufunc, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

/* -- life ------------------------------------------------------------------------------------------- */

static int add_type(PyObject *module, PyTypeObject **slot, PyType_Spec *spec) {
    *slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *slot ? PyModule_AddType(module, *slot) : -1;
}

static int add_instance_type(PyObject *module, ModState *state) {
    PyObject *made =
        PyType_FromModuleAndSpec(module, &py_instance_spec, (PyObject *)state->shared_type);
    state->instance_type = (PyTypeObject *)made;
    return made ? PyModule_AddType(module, state->instance_type) : -1;
}

static int import_numpy(ModState *state) {
    if (PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0) return -1;
    return (state->np = PyImport_ImportModule("numpy")) ? 0 : -1;
}

static int module_exec(PyObject *module) {
    ModState *state = py_state(module);
    state->module = module;
    if (import_numpy(state) < 0 || py_argtype_init(state) < 0) return -1;
    py_use_hash();
    if (!(state->str_quern_name = PyUnicode_InternFromString("_quern_name"))) return -1;
    for (int k = 0; k < SMALL_INTS; k++)
        if (!(state->small_ints[k] = PyLong_FromLong(k))) return -1;
    if (add_type(module, &state->dispatcher_type, &py_dispatcher_spec) < 0 ||
        add_type(module, &state->ufunc_data_type, &py_ufunc_data_spec) < 0 ||
        add_type(module, &state->shared_type, &py_shared_spec) < 0 ||
        add_instance_type(module, state) < 0 ||
        add_type(module, &state->field_type, &py_field_spec) < 0 ||
        add_type(module, &state->walk_type, &py_walk_spec) < 0 ||
        add_type(module, &state->generator_type, &py_generator_spec) < 0 ||
        add_type(module, &state->cfunction_type, &py_cfunction_spec) < 0)
        return -1;
    if (py_ufunc_init(state) < 0 || py_device_init(state, module) < 0) return -1;
    /* For good: when the interpreter ends, the garbage collector frees a module and the last objects
       of its types in any order, and all of these use the state. */
    Py_INCREF(module);
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    ModState *state = py_state(module);
    Py_VISIT(state->dispatcher_type);
    Py_VISIT(state->ufunc_data_type);
    Py_VISIT(state->shared_type);
    Py_VISIT(state->field_type);
    Py_VISIT(state->walk_type);
    Py_VISIT(state->instance_type);
    Py_VISIT(state->instance_class);
    for (int i = 0; i < CLS_COUNT; i++)
        Py_VISIT(state->shared_classes[i]);
    Py_VISIT(state->generator_type);
    Py_VISIT(state->random_type);
    Py_VISIT(state->cfunction_type);
    Py_VISIT(state->np);
    Py_VISIT(state->errors);
    Py_VISIT(state->linecache);
    Py_VISIT(state->recorder);
    Py_VISIT(state->type_class);
    Py_VISIT(state->intrinsic_class);
    Py_VISIT(state->namespace_class);
    Py_VISIT(state->overloads);
    return py_device_traverse(state, visit, arg);
}

static int module_clear(PyObject *module) {
    ModState *state = py_state(module);
    Py_CLEAR(state->dispatcher_type);
    Py_CLEAR(state->ufunc_data_type);
    Py_CLEAR(state->field_type);
    Py_CLEAR(state->walk_type);
    for (int i = 0; i < countof(state->attributes); i++)
        Py_CLEAR(state->attributes[i].name);
    Py_CLEAR(state->instance_type);
    Py_CLEAR(state->instance_class);
    for (int i = 0; i < CLS_COUNT; i++)
        Py_CLEAR(state->shared_classes[i]);
    Py_CLEAR(state->generator_type);
    Py_CLEAR(state->random_type);
    Py_CLEAR(state->cfunction_type);
    Py_CLEAR(state->np);
    Py_CLEAR(state->errors);
    Py_CLEAR(state->linecache);
    Py_CLEAR(state->recorder);
    Py_CLEAR(state->type_class);
    Py_CLEAR(state->intrinsic_class);
    Py_CLEAR(state->namespace_class);
    Py_CLEAR(state->overloads);
    py_device_clear(state);
    return 0;
}

static void module_free(void *module) {
    ModState *state = py_state(module);
    if (!state) return;
    module_clear(module);
    Py_CLEAR(state->str_quern_name);
    for (int k = 0; k < SMALL_INTS; k++)
        Py_CLEAR(state->small_ints[k]);
    Py_CLEAR(state->shared_type);
    py_argtype_clear(state);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000 /* NumPy and the code generator are one for the process */
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_GIL_DISABLED /* tests/py/test_threads.py runs there */
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

PyModuleDef py_module_def = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "quern._quern",
    .m_doc = "The compiler and the runtime behind quern.",
    .m_size = sizeof(ModState),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__quern(void) {
    return PyModuleDef_Init(&py_module_def);
}
