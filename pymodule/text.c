/* text.c - strings and bytes of compiled code as Python's, and Python's as those: without anything of the extension's, so that functions
 * compiled ahead of time take it along. */
#include "codegen/strings.h"
#include "pymodule/raised.h"

PyObject *py_text_of(const void *object) {
    const StrObject *s = object;
    if (!s) return PyUnicode_FromString(""); /* there was no memory to keep it */
    if (s->header.python) return Py_NewRef(s->header.python);
    return PyUnicode_FromKindAndData((int)s->kind, s->data, (Py_ssize_t)s->length);
}

PyObject *py_bytes_of(const void *object) {
    const StrObject *s = object;
    if (!s) return PyBytes_FromStringAndSize(NULL, 0); /* there was no memory to keep it */
    if (s->header.python) return Py_NewRef(s->header.python);
    return PyBytes_FromStringAndSize(s->data, (Py_ssize_t)s->length);
}

bool py_keep_text(PyObject *text, ExceptionText **out) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    int64_t kind = (int64_t)PyUnicode_KIND(text);
    ExceptionText *made = malloc(sizeof *made + (size_t)(length * kind) + 1);
    if (!made) return PyErr_NoMemory(), false;
    made->length = length;
    made->kind = kind;
    memcpy(made->data, PyUnicode_DATA(text), (size_t)(length * kind));
    return *out = made, true;
}

StrObject *py_copy_text(const CellLayout *cells, PyObject *text, bool kept) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text) < 0) return NULL;
#endif
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    int64_t kind = (int64_t)PyUnicode_KIND(text);
    StrObject *s = string_new(cells, (int64_t)length, kind);
    if (!s) return PyErr_NoMemory(), NULL;
    memcpy(s->data, PyUnicode_DATA(text), (size_t)(length * kind));
    s->hash = PyUnicode_CheckExact(text) ? ((PyASCIIObject *)text)->hash : -1;
    s->header.python = kept ? NULL : text;
    return s;
}

StrObject *py_copy_bytes(const CellLayout *cells, PyObject *o, const char *bytes, Py_ssize_t n,
                         bool kept) {
    StrObject *s = string_new(cells, (int64_t)n, 1);
    if (!s) return PyErr_NoMemory(), NULL;
    memcpy(s->data, bytes, (size_t)n);
    s->header.python = kept ? NULL : o;
    return s;
}

bool py_write_text(const void *text, int64_t how) {
    const char *name = how & PRINT_ERRORS ? "stderr" : "stdout";
    PyObject *out = Py_XNewRef(PySys_GetObject(name)), *shown = py_text_of(text), *flushed = NULL;
    bool silent = !out || out == Py_None;
    bool ok = shown && (silent || PyFile_WriteObject(shown, out, Py_PRINT_RAW) == 0);
    if (ok && !silent && how & PRINT_FLUSH)
        ok = (flushed = PyObject_CallMethod(out, "flush", NULL)) != NULL;
    Py_XDECREF(flushed);
    Py_XDECREF(shown);
    Py_XDECREF(out);
    return ok;
}

/* -- the text of arrays: NumPy makes it, with the options that the program has set ------------------------------ */

static PyObject *shape_of(const ArrayInMemory *array) {
    PyObject *shape = PyTuple_New(array->ndim);
    for (int64_t i = 0; shape && i < array->ndim; i++) {
        PyObject *length = PyLong_FromLongLong(array->shape[i]);
        if (!length) Py_CLEAR(shape);
        if (shape) PyTuple_SET_ITEM(shape, i, length);
    }
    return shape;
}

static PyObject *dtype_of(PyObject *numpy, const ArrayInMemory *array) {
    PyObject *text = py_text_of(array->dtype), *ast = PyImport_ImportModule("ast"), *dtype = NULL;
    PyObject *described = text && ast ? PyObject_CallMethod(ast, "literal_eval", "O", text) : NULL;
    if (described) dtype = PyObject_CallMethod(numpy, "dtype", "O", described);
    Py_XDECREF(described);
    Py_XDECREF(ast);
    Py_XDECREF(text);
    return dtype;
}

/* An array in memory of its own: what writes the text may keep it. A record has no axes. */
static PyObject *copy_of(PyObject *numpy, const ArrayInMemory *array) {
    PyObject *shape = shape_of(array), *dtype = shape ? dtype_of(numpy, array) : NULL, *copy = NULL;
    PyObject *memory =
        PyBytes_FromStringAndSize((const char *)(uintptr_t)array->data, array->bytes);
    PyObject *names = dtype ? PyObject_GetAttrString(dtype, "names") : NULL;
    if (memory && names) copy = PyObject_CallMethod(numpy, "ndarray", "OOO", shape, dtype, memory);
    if (copy && !array->ndim && names != Py_None) Py_SETREF(copy, PyObject_GetItem(copy, shape));
    Py_XDECREF(names);
    Py_XDECREF(memory);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return copy;
}

bool py_describe_array(const ArrayInMemory *array, int64_t how, ExceptionText **out) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *copy = numpy ? copy_of(numpy, array) : NULL, *text = NULL;
    if (copy) text = how ? PyObject_Repr(copy) : PyObject_Str(copy);
    bool ok = text && py_keep_text(text, out);
    Py_XDECREF(text);
    Py_XDECREF(copy);
    Py_XDECREF(numpy);
    return ok;
}
