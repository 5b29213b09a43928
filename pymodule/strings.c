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
    if (!PyUnicode_CheckExact(o) && !(loose && PyUnicode_Check(o))) return 0;
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

PyObject *py_text_of(const void *object) {
    const StrObject *s = object;
    if (!s) return PyUnicode_FromString(""); /* there was no memory to keep it */
    if (s->header.python) return Py_NewRef(s->header.python);
    return PyUnicode_FromKindAndData((int)s->kind, s->data, (Py_ssize_t)s->length);
}

PyObject *py_box_str(const char *value) {
    StrObject *s = *(StrObject *const *)value;
    PyObject *out = py_text_of(s);
    quern_release(&s->header.owner);
    return out;
}
