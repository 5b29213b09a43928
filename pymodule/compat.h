/* compat.h - what differs between CPython 3.11 and 3.14 and between NumPy 1.25 and 2.x, and nothing else.
 *
 * Every file of pymodule gets Python.h and NumPy's headers from here. We build against NumPy 2 headers
 * and ask for the 1.25 C API, so one binary runs on both. */
#ifndef QUERN_COMPAT_H
#define QUERN_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API  NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION     NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL quern_array_api
#define PY_UFUNC_UNIQUE_SYMBOL quern_ufunc_api
#ifndef QUERN_IMPORTS_NUMPY /* module.c defines it: the one file that owns NumPy's tables */
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* May a tuple that nobody else has be filled again, as zip() does? From 3.14 on it remembers its hash. */
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#define PY_TUPLE_CAN_BE_REFILLED 1
#else
#define PY_TUPLE_CAN_BE_REFILLED 0
#endif

#if PY_VERSION_HEX < 0x030B0000
#error "Quern needs CPython 3.11 or newer"
#endif

/* Marks that NumPy 2 puts on arrays it made of Python numbers; NumPy 1 never sets these bits. */
enum { QN_WAS_INT = 1 << 30, QN_WAS_FLOAT = 1 << 29, QN_WAS_COMPLEX = 1 << 28 };

/* The value of an exact int that fits one digit, without a call. false: use the general way. */
static inline bool py_small_int(PyObject *o, int64_t *out) {
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((PyLongObject *)o)) return false;
    *out = PyUnstable_Long_CompactValue((PyLongObject *)o);
    return true;
#else
    Py_ssize_t size = Py_SIZE(o);
    if (size < -1 || size > 1) return false;
    *out = size == 0 ? 0 : (int64_t)size * ((PyLongObject *)o)->ob_digit[0];
    return true;
#endif
}

#if PY_VERSION_HEX < 0x030C0000
/* The three-argument form of 3.11 in the shape 3.12 gave it. */
static inline PyObject *PyErr_GetRaisedException(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!type) return NULL;
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_DECREF(type);
    Py_XDECREF(traceback);
    return value;
}
static inline void PyErr_SetRaisedException(PyObject *value) {
    if (!value) {
        PyErr_Clear();
        return;
    }
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(value)), value, PyException_GetTraceback(value));
}
#endif

#if PY_VERSION_HEX < 0x030D0000
static inline int PyObject_GetOptionalAttr(PyObject *o, PyObject *name, PyObject **result) {
    *result = PyObject_GetAttr(o, name);
    if (*result) return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}
static inline int PyDict_GetItemRef(PyObject *dict, PyObject *key, PyObject **result) {
    *result = Py_XNewRef(PyDict_GetItemWithError(dict, key));
    return *result ? 1 : PyErr_Occurred() ? -1 : 0;
}
#endif

/* What the GIL guards elsewhere. */
#ifdef Py_GIL_DISABLED
typedef PyMutex PyGuard;
#define QN_LOCK(guard)   PyMutex_Lock(guard)
#define QN_UNLOCK(guard) PyMutex_Unlock(guard)
#else
typedef char PyGuard;
#define QN_LOCK(guard)   ((void)(guard))
#define QN_UNLOCK(guard) ((void)(guard))
#endif

/* Names of attributes are interned: Python's cache of what types have keeps each string that it is asked with. */
static inline PyObject *py_interned(const char *bytes, Py_ssize_t n) {
    PyObject *name = PyUnicode_FromStringAndSize(bytes, n);
    if (name) PyUnicode_InternInPlace(&name);
    return name;
}

/* o.name() or, with an argument, o.name(argument). */
static inline PyObject *py_call_method(PyObject *o, const char *name, PyObject *argument) {
    PyObject *key = PyUnicode_InternFromString(name), *result = NULL;
    if (key && argument) result = PyObject_CallMethodOneArg(o, key, argument);
    if (key && !argument) result = PyObject_CallMethodNoArgs(o, key);
    Py_XDECREF(key);
    return result;
}

static inline int py_get_optional(PyObject *o, const char *name, PyObject **result) {
    PyObject *key = PyUnicode_InternFromString(name);
    if (!key) return *result = NULL, -1;
    int found = PyObject_GetOptionalAttr(o, key, result);
    Py_DECREF(key);
    return found;
}

/* `__module__` of a compiled function is its function's, and that of its class the class's: a descriptor in the class would answer
 * for both, so tp_getattro asks this. */
static inline bool py_names_module(PyObject *attribute) {
    return PyUnicode_CompareWithASCIIString(attribute, "__module__") == 0;
}

/* Has this thread an exception set? Without the GIL: no other thread touches it. */
static inline bool py_thread_raised(void) {
    PyThreadState *thread = PyGILState_GetThisThreadState();
#if PY_VERSION_HEX >= 0x030C0000
    return thread && thread->current_exception;
#else
    return thread && thread->curexc_type;
#endif
}

/* A function's defaults: new references, or NULL, which may be an exception. Another thread may replace them. */
static inline PyObject *py_function_defaults(PyObject *function) {
#ifdef Py_GIL_DISABLED
    PyObject *defaults = PyObject_GetAttrString(function, "__defaults__");
    if (defaults == Py_None) Py_CLEAR(defaults);
    return defaults;
#else
    return Py_XNewRef(PyFunction_GetDefaults(function));
#endif
}
static inline PyObject *py_function_kwdefaults(PyObject *function) {
#ifdef Py_GIL_DISABLED
    PyObject *defaults = PyObject_GetAttrString(function, "__kwdefaults__");
    if (defaults == Py_None) Py_CLEAR(defaults);
    return defaults;
#else
    return Py_XNewRef(PyFunction_GetKwDefaults(function));
#endif
}

#endif
