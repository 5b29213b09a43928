/* frozen.c - the function of a declared signature, as it was when it was compiled.
 *
 * A function with declared signatures is compiled once, when it is decorated. Programs that make one of a function after the other
 * assign its globals in between. What compiled code calls must be what a call from Python runs: so callers compile
 * a copy of the function, with the globals and cells of that time. A name that had no value then has that of now (its own, say). */
#include "pymodule/state.h"
#include "pymodule/dispatch.h"

/* Enters what the code reads of `globals`, and the code inside it. */
static bool copy_names(PyCodeObject *code, PyObject *globals, PyObject *copy) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); i++) {
        PyObject *name = PyTuple_GET_ITEM(code->co_names, i), *value;
        int found = PyDict_GetItemRef(globals, name, &value);
        bool ok = found >= 0 && (!found || PyDict_SetItem(copy, name, value) == 0);
        Py_XDECREF(value);
        if (!ok) return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *inner = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(inner) && !copy_names((PyCodeObject *)inner, globals, copy)) return false;
    }
    return true;
}

/* What Python asks of the globals of any function, then the names. A new reference. */
static PyObject *copy_globals(PyCodeObject *code, PyObject *globals) {
    static const char *const always[] = {"__builtins__", "__name__", "__package__", "__spec__"};
    PyObject *copy = PyDict_New();
    bool ok = copy != NULL;
    for (size_t i = 0; ok && i < sizeof always / sizeof *always; i++) {
        PyObject *value = PyDict_GetItemString(globals, always[i]);
        ok = !value || PyDict_SetItemString(copy, always[i], value) == 0;
    }
    if (ok && copy_names(code, globals, copy)) return copy;
    Py_XDECREF(copy);
    return NULL;
}

/* Cells with the values of now; an empty one stays the program's. A new reference. */
static PyObject *copy_cells(PyObject *closure) {
    Py_ssize_t n = PyTuple_GET_SIZE(closure);
    PyObject *copy = PyTuple_New(n);
    for (Py_ssize_t i = 0; copy && i < n; i++) {
        PyObject *cell = PyTuple_GET_ITEM(closure, i), *value = PyCell_Get(cell);
        PyObject *made = value ? PyCell_New(value) : Py_NewRef(cell);
        Py_XDECREF(value);
        if (made)
            PyTuple_SET_ITEM(copy, i, made);
        else
            Py_CLEAR(copy);
    }
    return copy;
}

static bool copy_attribute(PyObject *copy, PyObject *function, const char *name) {
    PyObject *value = PyObject_GetAttrString(function, name);
    bool ok = value && PyObject_SetAttrString(copy, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* A function of that code with these globals and cells (NULL: it has none), and what else `function` has. A new reference. */
static PyObject *copy_function(PyObject *function, PyObject *globals, PyObject *cells) {
    PyObject *copy = PyFunction_New(PyFunction_GetCode(function), globals);
    PyObject *defaults = py_function_defaults(function), *keywords = NULL;
    bool ok = copy && (defaults || !PyErr_Occurred()) &&
              copy_attribute(copy, function, "__name__") &&
              copy_attribute(copy, function, "__qualname__");
    if (ok && cells) ok = PyFunction_SetClosure(copy, cells) == 0;
    if (ok && defaults) ok = PyFunction_SetDefaults(copy, defaults) == 0;
    if (ok) ok = (keywords = py_function_kwdefaults(function)) || !PyErr_Occurred();
    if (ok && keywords) ok = PyFunction_SetKwDefaults(copy, keywords) == 0;
    Py_XDECREF(defaults);
    Py_XDECREF(keywords);
    if (!ok) Py_CLEAR(copy);
    return copy;
}

static PyObject *frozen_copy(PyObject *function) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(function);
    PyObject *globals = copy_globals(code, PyFunction_GetGlobals(function));
    PyObject *closure = PyFunction_GetClosure(function);
    PyObject *cells = globals && closure ? copy_cells(closure) : NULL;
    bool ok = globals && (cells || !closure);
    PyObject *copy = ok ? copy_function(function, globals, cells) : NULL;
    Py_XDECREF(globals);
    Py_XDECREF(cells);
    return copy;
}

PyObject *py_function_twin(PyObject *function) {
    return copy_function(function, PyFunction_GetGlobals(function),
                         PyFunction_GetClosure(function));
}

bool py_core_freeze(JitCore *core) {
    PyObject *frozen = frozen_copy(core->py_func);
    if (frozen) Py_XSETREF(core->frozen, frozen);
    return frozen != NULL;
}

PyObject *py_frozen_of(ModState *state, PyObject *object) {
    if (Py_TYPE(object) == state->dispatcher_type) return py_frozen_of_dispatcher(object);
    return Py_TYPE(object) == state->ufunc_type ? py_frozen_of_ufunc(object) : NULL;
}
