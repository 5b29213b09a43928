/* ufunc_call.c - calls of generalised ufuncs, before NumPy gets them.
 *
 * NumPy finds a loop by the types of the inputs alone, once for each combination. Without declared signatures the types of
 * the outputs choose the loop, too: they are named to NumPy, as signature= does. And NumPy does not know of inputs that the
 * function writes to without saying so (writable_args), which must not be read-only memory. */
#include "pymodule/ufunc.h"

typedef struct CoreCall {
    UfuncData *u;
    PyObject *const *args;
    Py_ssize_t nargs, nkw;
    PyObject *kwnames, *out;
    bool typed; /* signature= or dtype= is given */
} CoreCall;

static CoreCall read_call(UfuncData *u, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    CoreCall c = {u, args, nargs, kwnames ? PyTuple_GET_SIZE(kwnames) : 0, kwnames, NULL, false};
    for (Py_ssize_t i = 0; i < c.nkw; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "out") == 0)
            c.out = args[nargs + i];
        else if (PyUnicode_CompareWithASCIIString(name, "signature") == 0 ||
                 PyUnicode_CompareWithASCIIString(name, "sig") == 0 ||
                 PyUnicode_CompareWithASCIIString(name, "dtype") == 0)
            c.typed = true;
    }
    return c;
}

/* The array for output k, borrowed; NULL: none is given. */
static PyObject *output(const CoreCall *c, int k) {
    PyObject *out = NULL;
    if (c->u->nin + k < c->nargs)
        out = c->args[c->u->nin + k];
    else if (c->out && PyTuple_Check(c->out))
        out = k < PyTuple_GET_SIZE(c->out) ? PyTuple_GET_ITEM(c->out, k) : NULL;
    else if (c->out && k == 0)
        out = c->out;
    return out && PyArray_Check(out) ? out : NULL;
}

/* Does another class decide about the call? */
static bool overridden(const CoreCall *c) {
    for (Py_ssize_t i = 0; i < c->nargs; i++) {
        PyObject *arg = c->args[i];
        if (PyArray_CheckExact(arg) || PyArray_CheckAnyScalarExact(arg)) continue;
        if (PyObject_HasAttrString((PyObject *)Py_TYPE(arg), "__array_ufunc__")) return true;
    }
    return false;
}

/* (None, ..., dtype of each output) for signature=; *missing: an output is not given. NULL: that, or an exception. */
static PyObject *output_types(const CoreCall *c, bool *missing) {
    const UfuncData *u = c->u;
    PyObject *types = PyTuple_New(u->nargs);
    for (int i = 0; types && i < u->nargs; i++) {
        PyObject *out = i < u->nin ? NULL : output(c, i - u->nin), *item = Py_NewRef(Py_None);
        if (i >= u->nin && !out) {
            *missing = true;
            Py_CLEAR(types);
            Py_DECREF(item);
            break;
        }
        if (out)
            Py_SETREF(item, (PyObject *)PyArray_DescrFromType(PyArray_TYPE((PyArrayObject *)out)));
        if (item)
            PyTuple_SET_ITEM(types, i, item);
        else
            Py_CLEAR(types);
    }
    return types;
}

static PyObject *too_few(const UfuncData *u) {
    PyErr_Format(PyExc_TypeError,
                 "Too few arguments for function '%s': it has no declared signatures, so that the "
                 "types of its outputs are those of the arrays that a call passes for them, behind "
                 "the %d input%s",
                 u->name, u->nin, u->nin == 1 ? "" : "s");
    return NULL;
}

/* The call with one more keyword argument. */
static PyObject *call_with_signature(const CoreCall *c, PyObject *ufunc, PyObject *types) {
    PyObject *all[2 * MAX_UFUNC_ARGS + 1], *names = PyTuple_New(c->nkw + 1), *result = NULL;
    Py_ssize_t n = c->nargs + c->nkw;
    PyObject *word = PyUnicode_InternFromString("signature");
    if (names && word && n < countof(all)) {
        memcpy(all, c->args, sizeof *all * (size_t)n);
        all[n] = types;
        for (Py_ssize_t i = 0; i < c->nkw; i++)
            PyTuple_SET_ITEM(names, i, Py_NewRef(PyTuple_GET_ITEM(c->kwnames, i)));
        PyTuple_SET_ITEM(names, c->nkw, Py_NewRef(word));
        result = c->u->numpy_call(ufunc, all, (size_t)c->nargs, names);
    } else if (names && word) {
        PyErr_Format(PyExc_TypeError, "too many arguments for '%s'", c->u->name);
    }
    Py_XDECREF(word);
    Py_XDECREF(names);
    return result;
}

static PyObject *call_typed(const CoreCall *c, PyObject *ufunc) {
    if (!c->u->dynamic || c->typed || c->nargs < c->u->nin || c->nargs > c->u->nargs)
        return c->u->numpy_call(ufunc, c->args, (size_t)c->nargs, c->kwnames);
    bool missing = false;
    PyObject *types = output_types(c, &missing);
    if (!types && missing && overridden(c))
        return c->u->numpy_call(ufunc, c->args, (size_t)c->nargs, c->kwnames);
    if (!types) return missing ? too_few(c->u) : NULL;
    PyObject *result = call_with_signature(c, ufunc, types);
    Py_DECREF(types);
    return result;
}

/* Inputs that the function writes to, as arrays that may be written. Others than arrays are made ones here. */
static bool guard_inputs(const CoreCall *c, PyObject **args) {
    for (int i = 0; i < c->u->nin && i < c->nargs; i++) {
        if (!(c->u->guarded >> i & 1)) continue;
        PyObject *array = PyArray_FROM_O(args[i]);
        if (!array) return false;
        Py_SETREF(args[i], array);
        if (PyArray_ISWRITEABLE((PyArrayObject *)array)) continue;
        PyErr_Format(PyExc_ValueError,
                     "input %d of '%s' is written to by the function, and is read-only", i + 1,
                     c->u->name);
        return false;
    }
    return true;
}

static PyObject *call_guarded(CoreCall *c, PyObject *ufunc) {
    PyObject *args[2 * MAX_UFUNC_ARGS], *result = NULL;
    Py_ssize_t n = c->nargs + c->nkw;
    if (n > countof(args) || overridden(c)) return call_typed(c, ufunc);
    for (Py_ssize_t i = 0; i < n; i++)
        args[i] = Py_NewRef(c->args[i]);
    if (guard_inputs(c, args)) {
        c->args = args;
        result = call_typed(c, ufunc);
    }
    for (Py_ssize_t i = 0; i < n; i++)
        Py_DECREF(args[i]);
    return result;
}

PyObject *py_call_core(PyObject *ufunc, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    UfuncData *u = data_of(ufunc);
    if (!u->dynamic && !u->guarded) return u->numpy_call(ufunc, args, nargsf, kwnames);
    CoreCall c = read_call(u, args, PyVectorcall_NARGS(nargsf), kwnames);
    return u->guarded ? call_guarded(&c, ufunc) : call_typed(&c, ufunc);
}
