/* strings.c - Python strings and those of compiled code.
 *
 * An argument is copied, code points of one width as CPython has them. The object knows its Python string, which its caller holds
 * for the time of the call: where it comes back, it is that one. */
#include "codegen/strings.h"
#include "codegen/support.h"
#include "pymodule/dispatch.h"

void py_use_hash(void) {
    quern_text_use_hash(PyHash_GetFuncDef()->hash);
}

int py_unbox_str(const Plan *plan, PyObject *o, char *out, bool loose) {
    bool plain = py_plain_text(Py_TYPE(o)) == (PyObject *)&PyUnicode_Type;
    if (!plain && !(loose && PyUnicode_Check(o))) return 0;
    StrObject *s = py_copy_text(plan->object->cells, o, plan->kept);
    *(StrObject **)out = s;
    return s ? 1 : -1;
}

/* An object of n bytes, the caller's for the time of the call. */
static int unbox_bytes(const Plan *plan, PyObject *o, const char *bytes, Py_ssize_t n, char *out) {
    StrObject *s = py_copy_bytes(plan->object->cells, o, bytes, n, plan->kept);
    *(StrObject **)out = s;
    return s ? 1 : -1;
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

PyObject *py_box_str(const char *value) {
    StrObject *s = *(StrObject *const *)value;
    PyObject *out = py_text_of(s);
    quern_release(&s->header.owner);
    return out;
}
