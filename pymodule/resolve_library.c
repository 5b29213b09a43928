/* resolve_library.c - functions of other modules that the tables and the library know. */
#include "pymodule/state.h"

/* The canonical name "home.name". */
static void bind_name(PyResolver *r, Binding *b, const char *home, const char *name) {
    b->kind = BIND_LIBRARY;
    b->name = str_printf(r->arena, "%s.%s", home, name);
    b->digest = py_digest_text(BIND_LIBRARY, b->name);
}

/* "numpy", "math" ... when `module` is one whose functions the tables know; NULL otherwise. */
static const char *library_module(const char *module) {
    static const char *const exact[] = {"math",        "cmath",     "builtins",   "operator",
                                        "time",        "functools", "heapq",      "bisect",
                                        "collections", "itertools", "dataclasses"};
    for (int i = 0; i < countof(exact); i++)
        if (!strcmp(module, exact[i])) return exact[i];
    if (!strcmp(module, "_operator")) return "operator";
    if (!strcmp(module, "_functools")) return "functools";
    if (!strcmp(module, "_heapq")) return "heapq";
    if (!strcmp(module, "_bisect")) return "bisect";
    if (!strcmp(module, "numpy") || !strncmp(module, "numpy.", 6)) return module;
    return NULL;
}

/* Is `object` what `module` exports as `name`? 1 yes, 0 no, -1 exception. */
static int is_exported(const char *module, PyObject *name, PyObject *object) {
    PyObject *imported = PyImport_ImportModule(module), *found = NULL;
    if (!imported) {
        if (!PyErr_ExceptionMatches(PyExc_ImportError)) return -1;
        PyErr_Clear();
        return 0;
    }
    int status = PyObject_GetOptionalAttr(imported, name, &found);
    Py_DECREF(imported);
    Py_XDECREF(found);
    return status < 0 ? -1 : found == object;
}

/* The module that exports it and is nearest to the top: numpy itself for what numpy._core has, numpy.random for numpy.random.mtrand.
 * NULL: none, or an exception. */
static const char *exporter(PyResolver *r, const char *home, PyObject *name, PyObject *object) {
    for (const char *end = home; *end; end++) {
        end += strcspn(end, ".");
        const char *module = str_copy(r->arena, home, (size_t)(end - home)).bytes;
        int found = is_exported(module, name, object);
        if (found) return found > 0 ? module : NULL;
        if (!*end) break;
    }
    return NULL;
}

/* Functions and classes of the modules above. */
static int bind_function(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *module = NULL, *name = NULL;
    int found = -1;
    if (py_get_optional(object, "__module__", &module) < 0 ||
        py_get_optional(object, "__name__", &name) < 0)
        goto done;
    found = 0;
    if (!name || !PyUnicode_Check(name)) goto done;
    if (!module && Py_TYPE(object) == &PyUFunc_Type) module = PyUnicode_FromString("numpy");
    const char *home = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    home = home ? library_module(home) : NULL;
    if (home) home = exporter(r, home, name, object);
    const char *text = PyUnicode_AsUTF8(name);
    found = !text || PyErr_Occurred() ? -1 : home != NULL;
    if (found > 0) bind_name(r, b, home, text);
done:
    Py_XDECREF(module);
    Py_XDECREF(name);
    return found;
}

/* Bound methods of the global generators: random.gauss, and np.random.rand where it is one. Those of other generators are not. */
static int bind_random(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *self = PyMethod_Check(object)      ? PyMethod_GET_SELF(object)
                     : PyCFunction_Check(object) ? PyCFunction_GET_SELF(object)
                                                 : NULL;
    const char *cls = self ? Py_TYPE(self)->tp_name : "";
    const char *home = !strcmp(cls, "Random")                            ? "random"
                       : !strcmp(cls, "numpy.random.mtrand.RandomState") ? "numpy.random"
                                                                         : NULL;
    if (!home) return 0;
    PyObject *name = PyObject_GetAttrString(object, "__name__");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    int found = text ? is_exported(home, name, object) : -1;
    if (found > 0) bind_name(r, b, home, text);
    Py_XDECREF(name);
    return found;
}

/* np.mgrid and its kin: objects that are indexed. */
static int bind_index_trick(PyResolver *r, Binding *b, PyObject *object) {
    static const struct {
        const char *type, *name;
    } tricks[] = {
        {"CClass", "c_"}, {"MGridClass", "mgrid"}, {"OGridClass", "ogrid"}, {"RClass", "r_"}};
    for (int i = 0; i < countof(tricks); i++) {
        if (strcmp(Py_TYPE(object)->tp_name, tricks[i].type) != 0) continue;
        PyObject *name = PyUnicode_FromString(tricks[i].name);
        int found = name ? is_exported("numpy", name, object) : -1;
        Py_XDECREF(name);
        if (found > 0) bind_name(r, b, "numpy", tricks[i].name);
        return found;
    }
    return 0;
}

/* chain.from_iterable, str.maketrans: methods of classes. */
static int bind_class_method(PyResolver *r, Binding *b, PyObject *object) {
    static const struct {
        const PyTypeObject *cls;
        const char *of, *method, *home, *name;
    } methods[] = {
        {NULL, "itertools.chain", "from_iterable", "itertools", "chain.from_iterable"},
        {&PyDict_Type, "dict", "fromkeys", "dict", "fromkeys"},
        {&PyLong_Type, "int", "from_bytes", "int", "from_bytes"},
        {&PyUnicode_Type, "str", "maketrans", "str", "maketrans"},
        {&PyBytes_Type, "bytes", "maketrans", "bytes", "maketrans"},
        {&PyByteArray_Type, "bytearray", "maketrans", "bytes", "maketrans"},
    };
    if (!PyCFunction_Check(object)) return 0;
    PyObject *self = ((PyCFunctionObject *)object)->m_self; /* that of static methods, too */
    if (!self || !PyType_Check(self)) return 0;
    for (int i = 0; i < countof(methods); i++) {
        if (methods[i].cls && methods[i].cls != (PyTypeObject *)self) continue;
        if (strcmp(((PyTypeObject *)self)->tp_name, methods[i].of) != 0 ||
            strcmp(((PyCFunctionObject *)object)->m_ml->ml_name, methods[i].method) != 0)
            continue;
        bind_name(r, b, methods[i].home, methods[i].name);
        return 1;
    }
    return 0;
}

/* set.union, str.upper: a method of a builtin class by itself, which takes the object first. */
static int bind_method_of_class(PyResolver *r, Binding *b, PyObject *object) {
    if (!Py_IS_TYPE(object, &PyMethodDescr_Type)) return 0;
    const PyTypeObject *cls = ((PyMethodDescrObject *)object)->d_common.d_type;
    const PyTypeObject *known[] = {&PySet_Type,      &PyFrozenSet_Type, &PyList_Type,
                                   &PyDict_Type,     &PyUnicode_Type,   &PyBytes_Type,
                                   &PyByteArray_Type};
    PyObject *name = ((PyMethodDescrObject *)object)->d_common.d_name;
    const char *text = PyUnicode_AsUTF8(name);
    int k = 0;
    while (k < countof(known) && known[k] != cls)
        k++;
    if (!text) return -1;
    const char *of =
        k == 1 ? "set" : cls->tp_name; /* the methods of a frozenset are those of a set */
    if (k == countof(known) || lib_find(str_printf(r->arena, "%s.%s", of, text)) < 0) return 0;
    bind_name(r, b, of, text);
    return 1;
}

/* sys.stdout and sys.stderr, whoever stands behind them: print() looks when it writes. */
static int bind_stream(PyResolver *r, Binding *b, PyObject *object) {
    const char *name = object == PySys_GetObject("stdout")   ? "stdout"
                       : object == PySys_GetObject("stderr") ? "stderr"
                                                             : NULL;
    if (name) bind_name(r, b, "sys", name);
    return name != NULL;
}

int py_bind_library(PyResolver *r, Binding *b, PyObject *object) {
    int found = bind_random(r, b, object);
    if (!found) found = bind_stream(r, b, object);
    if (!found) found = bind_class_method(r, b, object);
    if (!found) found = bind_method_of_class(r, b, object);
    if (!found) found = bind_function(r, b, object);
    return found ? found : bind_index_trick(r, b, object);
}
