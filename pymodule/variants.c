/* variants.c - defaultdict, Counter, OrderedDict and frozenset of Python, whose objects in compiled code are dicts and sets (tables.c). */
#include "pymodule/objects.h"

/* What stands under "collections.Counter" in a module that is imported. A borrowed reference or NULL; no exception stays. */
static PyObject *at_path(const char *path) {
    const char *dot = strchr(path, '.');
    PyObject *name = PyUnicode_FromStringAndSize(path, dot - path);
    PyObject *module = name ? PyImport_GetModule(name) : NULL, *found = NULL;
    if (module && py_get_optional(module, dot + 1, &found) < 0) found = NULL;
    Py_XDECREF(found); /* the module holds it */
    Py_XDECREF(module);
    Py_XDECREF(name);
    py_forget_error();
    return found;
}

Variant py_variant_of(PyObject *cls) {
    if (!cls || !PyType_Check(cls) || cls == (PyObject *)&PyDict_Type) return VARIANT_none;
    bool dict = PyType_IsSubtype((PyTypeObject *)cls, &PyDict_Type);
    for (int variant = 1; variant < VARIANT_COUNT; variant++) {
        bool is_dict = type_variant_class((Variant)variant) == CLS_dict;
        if (is_dict ? dict && cls == at_path(type_variant_path((Variant)variant))
                    : cls == (PyObject *)&PyFrozenSet_Type)
            return (Variant)variant;
    }
    return VARIANT_none;
}

ValueMaker py_maker_of(PyObject *factory) {
    for (int maker = 0; maker < MAKER_COUNT; maker++) {
        const char *path = type_maker_path((ValueMaker)maker);
        if (path && at_path(path) == factory) return (ValueMaker)maker;
    }
    return MAKER_none;
}

/* A new one with nothing in it. NULL: exception. */
static PyObject *new_empty(ModState *state, const ValueLayout *layout) {
    PyObject *cls = at_path(type_variant_path((Variant)layout->variant)), *factory = NULL, *out;
    if (!cls) {
        PyObject *collections = PyImport_ImportModule("collections");
        cls = collections ? at_path(type_variant_path((Variant)layout->variant)) : NULL;
        Py_XDECREF(collections);
    }
    if (!cls) return NULL;
    if (layout->variant != VARIANT_defaultdict) return PyObject_CallNoArgs(cls);
    if (layout->maker == MAKER_none)
        factory = Py_NewRef(Py_None);
    else if (layout->maker == MAKER_function)
        factory = py_box(state, &layout->items[layout->nitems], "");
    else
        factory = Py_XNewRef(at_path(type_maker_path((ValueMaker)layout->maker)));
    out = factory ? PyObject_CallOneArg(cls, factory) : NULL;
    Py_XDECREF(factory);
    return out;
}

/* Sets are filled before they are frozen. */
PyObject *py_new_variant(ModState *state, const ValueLayout *layout) {
    return layout->variant == VARIANT_frozenset ? PySet_New(NULL) : new_empty(state, layout);
}

PyObject *py_finished_variant(const ValueLayout *layout, PyObject *filled) {
    if (layout->variant != VARIANT_frozenset) return filled;
    PyObject *out = PyFrozenSet_New(filled);
    Py_DECREF(filled);
    return out;
}
