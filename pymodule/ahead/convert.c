/* convert.c - arguments and results of functions compiled ahead of time: see ahead.h. Without NumPy's C interface: extensions need none
 * of its versions. */
#include "pymodule/ahead/ahead.h"
#include "codegen/support.h"
#include <stdarg.h>

/* -- from Python ------------------------------------------------------------------------------------------- */

typedef struct {
    float real, imag;
} Complex64;
typedef struct {
    double real, imag;
} Complex128;

int quern_get_int(PyObject *o, void *out, size_t size) {
    PyObject *index = PyNumber_Index(o);
    long long value = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (value == -1 && PyErr_Occurred()) return 0;
    int shift = 64 - 8 * (int)size;
    if ((long long)((unsigned long long)value << shift) >> shift != value) {
        PyErr_Format(PyExc_OverflowError, "Python integer %lld out of bounds for int%d", value,
                     8 * (int)size);
        return 0;
    }
    memcpy(out, &value, size);
    return 1;
}

int quern_get_uint(PyObject *o, void *out, size_t size) {
    PyObject *index = PyNumber_Index(o);
    unsigned long long value = index ? PyLong_AsUnsignedLongLong(index) : (unsigned long long)-1;
    Py_XDECREF(index);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) return 0;
    int shift = 64 - 8 * (int)size;
    if (value << shift >> shift != value) {
        PyErr_Format(PyExc_OverflowError, "Python integer %llu out of bounds for uint%d", value,
                     8 * (int)size);
        return 0;
    }
    memcpy(out, &value, size);
    return 1;
}

int quern_get_bool(PyObject *o, void *out, size_t size) {
    (void)size;
    int truth = PyObject_IsTrue(o);
    *(uint8_t *)out = truth > 0;
    return truth >= 0;
}

int quern_get_float(PyObject *o, void *out, size_t size) {
    double value = PyFloat_AsDouble(o);
    if (value == -1 && PyErr_Occurred()) return 0;
    if (size == 8)
        *(double *)out = value;
    else
        *(float *)out = (float)value;
    return 1;
}

int quern_get_complex(PyObject *o, void *out, size_t size) {
    Py_complex value = PyComplex_AsCComplex(o);
    if (value.real == -1 && PyErr_Occurred()) return 0;
    if (size == 16)
        *(Complex128 *)out = (Complex128){value.real, value.imag};
    else
        *(Complex64 *)out = (Complex64){(float)value.real, (float)value.imag};
    return 1;
}

static int is_format(const char *format, const char *letters) {
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (letters[0] == 'Z') return !strcmp(format, letters);
    return format[0] && !format[1] && strchr(letters, format[0]);
}

int quern_get_array(PyObject *o, Py_buffer *b, Owner *owner, ArrayValue *out, const char *letters,
                    size_t size, int ndim, char order, int written, int number) {
    if (PyObject_GetBuffer(o, b, PyBUF_STRIDES | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0)) <
        0) {
        b->obj = NULL;
        return 0;
    }
    int fits = b->format && is_format(b->format, letters) && (size_t)b->itemsize == size &&
               b->ndim == ndim;
    if (fits && order != 'A') fits = PyBuffer_IsContiguous(b, order);
    size_t align = letters[0] == 'Z' ? size / 2 : size;
    if (fits && b->len) {
        fits = (uintptr_t)b->buf % align == 0;
        for (int i = 0; i < ndim; i++)
            fits &= b->shape[i] < 2 || b->strides[i] % (Py_ssize_t)align == 0;
    }
    if (!fits) {
        PyErr_Format(
            PyExc_TypeError,
            "argument %d must be an aligned array of %d axes with elements of %zu bytes ('%s')%s",
            number, ndim, size, letters,
            order == 'C'   ? ", C-contiguous"
            : order == 'F' ? ", Fortran-contiguous"
                           : "");
        return 0;
    }
    *owner = (Owner){OWNER_BORROWED, NULL, o};
    out->data = b->buf;
    out->owner = owner;
    for (int i = 0; i < ndim; i++)
        out->dims[i] = b->shape[i], out->dims[ndim + i] = b->strides[i];
    return 1;
}

int quern_is_tuple(PyObject *o, Py_ssize_t n, int number) {
    if (PyTuple_Check(o) && PyTuple_GET_SIZE(o) == n) return 1;
    PyErr_Format(PyExc_TypeError, "argument %d must be, or hold, a tuple of %zd items", number, n);
    return 0;
}

/* -- to Python --------------------------------------------------------------------------------------------- */

static void copy_elements(char *to, const Py_ssize_t *steps, const char *from, const int64_t *shape,
                          const int64_t *strides, int ndim, size_t size) {
    if (ndim == 0) {
        memcpy(to, from, size);
        return;
    }
    for (int64_t i = 0; i < *shape; i++)
        copy_elements(to + i * *steps, steps + 1, from + i * *strides, shape + 1, strides + 1,
                      ndim - 1, size);
}

PyObject *quern_put_array(ArrayValue *a, int ndim, size_t size, const char *dtype, char order) {
    if (a->owner && a->owner->refs >= OWNER_BORROWED / 2) {
        a->owner = NULL; /* the caller's */
        PyErr_SetString(PyExc_TypeError, "the result is (a view of) an argument: code compiled "
                                         "ahead of time returns arrays of its own; copy it");
        return NULL;
    }
    PyObject *numpy = PyImport_ImportModule("numpy"), *shape = PyTuple_New(ndim), *made = NULL;
    for (int i = 0; shape && i < ndim; i++) {
        PyObject *n = PyLong_FromLongLong(a->dims[i]);
        if (!n) Py_CLEAR(shape);
        if (shape) PyTuple_SET_ITEM(shape, i, n);
    }
    const char order_text[] = {order == 'F' ? 'F' : 'C', 0};
    if (numpy && shape) made = PyObject_CallMethod(numpy, "empty", "Oss", shape, dtype, order_text);
    Py_buffer b;
    if (made && PyObject_GetBuffer(made, &b, PyBUF_STRIDES | PyBUF_WRITABLE) < 0) Py_CLEAR(made);
    if (made) {
        copy_elements(b.buf, b.strides, a->data, a->dims, a->dims + ndim, ndim, size);
        PyBuffer_Release(&b);
    }
    Py_XDECREF(shape);
    Py_XDECREF(numpy);
    quern_release(a->owner);
    return made;
}

PyObject *quern_tuple(int n, ...) {
    va_list items;
    PyObject *tuple = PyTuple_New(n);
    va_start(items, n);
    for (int i = 0; i < n; i++) {
        PyObject *item = va_arg(items, PyObject *);
        if (tuple && item) {
            PyTuple_SET_ITEM(tuple, i, item);
        } else {
            Py_XDECREF(item);
            Py_CLEAR(tuple);
        }
    }
    va_end(items);
    return tuple;
}

/* -- text ------------------------------------------------------------------------------------------------------ */

int quern_get_text(PyObject *o, StrObject **out) {
    if (!PyUnicode_Check(o))
        return PyErr_Format(PyExc_TypeError, "a str is expected, not '%s'", Py_TYPE(o)->tp_name), 0;
    *out = py_copy_text(string_cells(), o, false);
    return *out != NULL;
}

int quern_get_bytes(PyObject *o, StrObject **out) {
    if (!PyBytes_Check(o))
        return PyErr_Format(PyExc_TypeError, "bytes are expected, not '%s'", Py_TYPE(o)->tp_name),
               0;
    *out = py_copy_bytes(string_cells(), o, PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o), false);
    return *out != NULL;
}

PyObject *quern_put_text(StrObject **text) {
    PyObject *made = py_text_of(*text);
    quern_release(&(*text)->header.owner);
    return made;
}

PyObject *quern_put_bytes(StrObject **bytes) {
    PyObject *made = py_bytes_of(*bytes);
    quern_release(&(*bytes)->header.owner);
    return made;
}
