/* strings.c - Python strings and those of compiled code.
 *
 * An argument is copied, code points of one width as CPython has them. The object knows its Python string, which its caller holds
 * for the time of the call: where it comes back, it is that one. */
#include "codegen/strings.h"
#include "codegen/support.h"
#include "pymodule/dispatch.h"

void py_use_hash(void) {
    string_use_hash(PyHash_GetFuncDef()->hash);
}

int py_unbox_str(const Plan *plan, PyObject *o, char *out, bool loose) {
    bool plain = py_plain_text(Py_TYPE(o)) == (PyObject *)&PyUnicode_Type;
    if (!plain && !(loose && PyUnicode_Check(o))) return 0;
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(o) < 0) return -1;
#endif
    Py_ssize_t length = PyUnicode_GET_LENGTH(o);
    int64_t kind = (int64_t)PyUnicode_KIND(o);
    StrObject *s = string_new(plan->object->cells, (int64_t)length, kind);
    if (!s) return PyErr_NoMemory(), -1;
    memcpy(s->data, PyUnicode_DATA(o), (size_t)(length * kind));
    s->hash = PyUnicode_CheckExact(o) ? ((PyASCIIObject *)o)->hash : -1;
    s->header.python = plan->kept ? NULL : o; /* it would outlive the Python string */
    *(StrObject **)out = s;
    return 1;
}

/* An object of n bytes, the caller's for the time of the call. */
static int unbox_bytes(const Plan *plan, PyObject *o, const char *bytes, Py_ssize_t n, char *out) {
    StrObject *s = string_new(plan->object->cells, (int64_t)n, 1);
    if (!s) return PyErr_NoMemory(), -1;
    memcpy(s->data, bytes, (size_t)n);
    s->header.python = plan->kept ? NULL : o;
    *(StrObject **)out = s;
    return 1;
}

int py_unbox_bytes(const Plan *plan, PyObject *o, char *out, bool loose) {
    bool plain = py_plain_text(Py_TYPE(o)) == (PyObject *)&PyBytes_Type;
    if (!plain && !(loose && PyBytes_Check(o))) return 0;
    return unbox_bytes(plan, o, PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o), out);
}

int py_unbox_bytearray(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (!PyByteArray_CheckExact(o) && !(loose && PyByteArray_Check(o))) return 0;
    return unbox_bytes(plan, o, PyByteArray_AS_STRING(o), PyByteArray_GET_SIZE(o), out);
}

bool py_write_bytearray(const void *object) {
    const StrObject *s = object;
    PyObject *o = s->header.python;
    size_t n = (size_t)s->length;
    bool same = PyByteArray_GET_SIZE(o) == (Py_ssize_t)n;
    if (same && !memcmp(PyByteArray_AS_STRING(o), s->data, n)) return true;
    if (!same && PyByteArray_Resize(o, (Py_ssize_t)n) < 0) return false; /* somebody looks at it */
    memcpy(PyByteArray_AS_STRING(o), s->data, n);
    return true;
}

PyObject *py_bytes_of(const void *object) {
    const StrObject *s = object;
    if (!s) return PyBytes_FromStringAndSize(NULL, 0); /* there was no memory to keep it */
    if (s->header.python) return Py_NewRef(s->header.python);
    return PyBytes_FromStringAndSize(s->data, (Py_ssize_t)s->length);
}

PyObject *py_box_bytes(const char *value) {
    StrObject *s = *(StrObject *const *)value;
    PyObject *out = py_bytes_of(s);
    quern_release(&s->header.owner);
    return out;
}

/* A new one does not become the object's: that may live longer, in a generator. */
PyObject *py_box_bytearray(const char *value) {
    StrObject *s = *(StrObject *const *)value;
    PyObject *out = s->header.python
                        ? Py_NewRef(s->header.python)
                        : PyByteArray_FromStringAndSize(s->data, (Py_ssize_t)s->length);
    quern_release(&s->header.owner);
    return out;
}

PyObject *py_text_of(const void *object) {
    const StrObject *s = object;
    if (!s) return PyUnicode_FromString(""); /* there was no memory to keep it */
    if (s->header.python) return Py_NewRef(s->header.python);
    return PyUnicode_FromKindAndData((int)s->kind, s->data, (Py_ssize_t)s->length);
}

bool py_describe_array(const ArrayInMemory *array, int64_t how, ExceptionText **out) {
    PyObject *module = PyImport_ImportModule("quern._text"), *shape = PyTuple_New(array->ndim);
    PyObject *dtype = py_text_of(array->dtype), *text = NULL;
    PyObject *memory = /* a copy: what writes the text may keep the array */
        PyBytes_FromStringAndSize((const char *)(uintptr_t)array->data, array->bytes);
    bool ok = module && shape && dtype && memory;
    for (int64_t i = 0; ok && i < array->ndim; i++) {
        PyObject *length = PyLong_FromLongLong(array->shape[i]);
        ok = length != NULL;
        if (ok) PyTuple_SET_ITEM(shape, i, length);
    }
    if (ok)
        text =
            PyObject_CallMethod(module, "of_array", "OOOL", memory, shape, dtype, (long long)how);
    ok = text && PyUnicode_Check(text) && py_keep_text(text, out);
    Py_XDECREF(module);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_XDECREF(memory);
    Py_XDECREF(text);
    return ok;
}

PyObject *py_box_str(const char *value) {
    StrObject *s = *(StrObject *const *)value;
    PyObject *out = py_text_of(s);
    quern_release(&s->header.owner);
    return out;
}
