"""The C that stands beside functions compiled ahead of time: memory for arrays, exceptions, and the way from and to Python."""
from string import Template

_RUNTIME = Template(r"""#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#define QUERN_INSIDE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { float real, imag; } quern_c64;
typedef struct { double real, imag; } quern_c128;

/* -- memory of arrays -- */
typedef struct quern_owner {
    int64_t refs;
    void (*destroy)(struct quern_owner *owner);
    void *object;
} quern_owner;
typedef struct { void *data; quern_owner *owner; int64_t dims[]; } quern_array;
#define QUERN_BORROWED (INT64_C(1) << 62)
#define SHARED __attribute__((weak, visibility("hidden")))

/* Compiled code calls what follows by name; a program may have several modules. Memory is in the object file that goes with all modules. */
extern void quern_release(quern_owner *owner);
/* Parallel loops are one chunk. */
SHARED int64_t quern_chunks(void *ctx, int64_t n, int32_t few) { return n > 0; }
SHARED int32_t quern_parallel(void *ctx, int64_t n, int64_t chunks,
                              int (*body)(void *, int64_t, int64_t, int64_t, void *), void *env) {
    return n > 0 ? body(ctx, 0, n, 0, env) : 0;
}
SHARED int64_t quern_threads(void *ctx, int32_t question, int64_t value) {
    if (question == $set_count && value != 1) return -1;
    return question == $count || question == $most;
}

/* -- a call -- */
typedef union { char bytes[$size]; double align; int64_t also; } quern_context;
typedef struct { const char *cls, *message, *kinds; } quern_raise;
typedef struct { const char *name; int raises, sites; const quern_raise *rows; const char *const *names; } quern_function;
static const struct { const char *cls, *message; } quern_guards[] = {$guards};

/* An eighth of the stack stays free; where its end is unknown, recursion goes on until it is used up. */
static char *quern_stack_limit(void) {
    static __thread char *low;
    if (low) return low;
    pthread_attr_t attributes;
    void *from = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes)) return NULL;
    if (pthread_attr_getstack(&attributes, &from, &size)) from = NULL;
    pthread_attr_destroy(&attributes);
    return low = from ? (char *)from + size / 8 : NULL;
}

static void quern_begin(quern_context *ctx, int32_t (*poll)(void *ctx)) {
    memset(ctx, 0, sizeof *ctx);
    *(char **)(ctx->bytes + $stack_limit) = quern_stack_limit();
    *(int32_t (**)(void *))(ctx->bytes + $poll) = poll;
}
static const int64_t *quern_args(const quern_context *ctx) { return (const int64_t *)(ctx->bytes + $args); }

static void quern_guard_text(char *out, size_t size, const char *format, const int64_t *args, const char *name) {
    size_t n = 0;
    for (const char *f = format; *f && n + 1 < size; f++) {
        if (f[0] == '{' && f[1] >= '0' && f[1] < '8' && f[2] == '}') {
            n += (size_t)snprintf(out + n, size - n, "%lld", (long long)args[f[1] - '0']);
            f += 2;
        } else if (!strncmp(f, "{name}", 6)) {
            quern_guard_text(out + n, size - n, name, args, "");
            n += strlen(out + n);
            f += 5;
        } else {
            out[n++] = *f;
        }
        if (n >= size) n = size - 1;
    }
    out[n] = 0;
}

/* The class and the text of what was raised; the row of a raise statement, or NULL. */
static const quern_raise *quern_what(const quern_function *f, const quern_context *ctx, const char **cls, char *text, size_t size) {
    int32_t exception = *(const int32_t *)(ctx->bytes + $exception), site = *(const int32_t *)(ctx->bytes + $site);
    text[0] = 0;
    if (exception >= 0 && exception < f->raises) {
        *cls = f->rows[exception].cls;
        if (f->rows[exception].message) snprintf(text, size, "%s", f->rows[exception].message);
        return &f->rows[exception];
    }
    int guard = -1 - exception;
    *cls = "SystemError";
    if (exception >= 0 || guard >= (int)(sizeof quern_guards / sizeof *quern_guards)) return NULL;
    *cls = quern_guards[guard].cls;
    quern_guard_text(text, size, quern_guards[guard].message, quern_args(ctx), site >= 0 && site < f->sites ? f->names[site] : "?");
    return NULL;
}
""")

PYTHON = r"""
#include <Python.h>

static int32_t quern_poll(void *ctx) { return PyErr_CheckSignals() ? 1 : 0; }

/* One argument of a raise statement. */
static PyObject *quern_argument(const char *kind, size_t n, const int64_t *bits) {
    double d;
    float f, g;
    memcpy(&d, bits, 8);
    memcpy(&f, bits, 4);
    if (!strncmp(kind, "bool", n)) return PyBool_FromLong((long)(*bits & 1));
    if (!strncmp(kind, "f64", n)) return PyFloat_FromDouble(d);
    if (!strncmp(kind, "f32", n)) return PyFloat_FromDouble(f);
    if (!strncmp(kind, "c128", n)) { double i; memcpy(&i, bits + 1, 8); return PyComplex_FromDoubles(d, i); }
    if (!strncmp(kind, "c64", n)) { memcpy(&g, bits + 1, 4); return PyComplex_FromDoubles(f, g); }
    int shift = 64 - atoi(kind + 1);
    if (kind[0] == 'u') return PyLong_FromUnsignedLongLong((uint64_t)*bits << shift >> shift);
    return PyLong_FromLongLong((int64_t)((uint64_t)*bits << shift) >> shift);
}

/* A builtin class, or one behind the name of its module. */
static PyObject *quern_class(const char *name) {
    const char *dot = strrchr(name, '.');
    PyObject *from = dot ? PyUnicode_FromStringAndSize(name, dot - name) : PyUnicode_FromString("builtins");
    PyObject *module = from ? PyImport_Import(from) : NULL, *cls = module ? PyObject_GetAttrString(module, dot ? dot + 1 : name) : NULL;
    Py_XDECREF(from);
    Py_XDECREF(module);
    return cls;
}

static void quern_set_error(const quern_function *f, const quern_context *ctx) {
    char text[512];
    const char *name;
    const quern_raise *row = quern_what(f, ctx, &name, text, sizeof text);
    PyObject *cls = quern_class(name), *list = PyList_New(0);
    int ok = cls && list;
    if (ok && (row ? row->message != NULL : text[0] != 0)) {
        PyObject *message = PyUnicode_DecodeUTF8(row ? row->message : text, (Py_ssize_t)strlen(row ? row->message : text), "surrogatepass");
        ok = message && PyList_Append(list, message) == 0;
        Py_XDECREF(message);
    }
    const int64_t *bits = quern_args(ctx), *end = bits + 8;
    for (const char *k = row ? row->kinds : ""; ok && *k;) {
        size_t n = strcspn(k, " ");
        int wide = k[0] == 'c';
        PyObject *argument = bits + wide < end ? quern_argument(k, n, bits) : Py_NewRef(Py_None);
        ok = argument && PyList_Append(list, argument) == 0;
        Py_XDECREF(argument);
        bits += 1 + wide;
        k += n + (k[n] == ' ');
    }
    PyObject *args = ok ? PyList_AsTuple(list) : NULL, *exception = args ? PyObject_Call(cls, args, NULL) : NULL;
    if (exception) PyErr_SetObject(cls, exception);
    Py_XDECREF(exception);
    Py_XDECREF(args);
    Py_XDECREF(list);
    Py_XDECREF(cls);
}

/* -- from Python -- */
static int quern_get_int(PyObject *o, void *out, size_t size) {
    PyObject *index = PyNumber_Index(o);
    long long value = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (value == -1 && PyErr_Occurred()) return 0;
    int shift = 64 - 8 * (int)size;
    if ((long long)((unsigned long long)value << shift) >> shift != value) {
        PyErr_Format(PyExc_OverflowError, "Python integer %lld out of bounds for int%d", value, 8 * (int)size);
        return 0;
    }
    memcpy(out, &value, size);
    return 1;
}
static int quern_get_uint(PyObject *o, void *out, size_t size) {
    PyObject *index = PyNumber_Index(o);
    unsigned long long value = index ? PyLong_AsUnsignedLongLong(index) : (unsigned long long)-1;
    Py_XDECREF(index);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) return 0;
    int shift = 64 - 8 * (int)size;
    if (value << shift >> shift != value) {
        PyErr_Format(PyExc_OverflowError, "Python integer %llu out of bounds for uint%d", value, 8 * (int)size);
        return 0;
    }
    memcpy(out, &value, size);
    return 1;
}
static int quern_get_bool(PyObject *o, void *out, size_t size) {
    int truth = PyObject_IsTrue(o);
    *(uint8_t *)out = truth > 0;
    return truth >= 0;
}
static int quern_get_float(PyObject *o, void *out, size_t size) {
    double value = PyFloat_AsDouble(o);
    if (value == -1 && PyErr_Occurred()) return 0;
    if (size == 8) *(double *)out = value;
    else *(float *)out = (float)value;
    return 1;
}
static int quern_get_complex(PyObject *o, void *out, size_t size) {
    Py_complex value = PyComplex_AsCComplex(o);
    if (value.real == -1 && PyErr_Occurred()) return 0;
    if (size == 16) *(quern_c128 *)out = (quern_c128){value.real, value.imag};
    else *(quern_c64 *)out = (quern_c64){(float)value.real, (float)value.imag};
    return 1;
}

static int quern_is_format(const char *format, const char *letters) {
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (letters[0] == 'Z') return !strcmp(format, letters);
    return format[0] && !format[1] && strchr(letters, format[0]);
}

/* An array by the buffer protocol: its elements, axes and order must be those of the parameter. */
static int quern_get_array(PyObject *o, Py_buffer *b, quern_owner *owner, quern_array *out, const char *letters, size_t size,
                           int ndim, char order, int written, int number) {
    if (PyObject_GetBuffer(o, b, PyBUF_STRIDES | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0)) < 0) {
        b->obj = NULL;
        return 0;
    }
    int fits = b->format && quern_is_format(b->format, letters) && (size_t)b->itemsize == size && b->ndim == ndim;
    if (fits && order != 'A') fits = PyBuffer_IsContiguous(b, order);
    size_t align = letters[0] == 'Z' ? size / 2 : size;
    if (fits && b->len) {
        fits = (uintptr_t)b->buf % align == 0;
        for (int i = 0; i < ndim; i++) fits &= b->shape[i] < 2 || b->strides[i] % (Py_ssize_t)align == 0;
    }
    if (!fits) {
        PyErr_Format(PyExc_TypeError, "argument %d must be an aligned array of %d axes with elements of %zu bytes ('%s')%s%s", number, ndim,
                     size, letters, order == 'C' ? ", C-contiguous" : order == 'F' ? ", Fortran-contiguous" : "", "");
        return 0;
    }
    *owner = (quern_owner){QUERN_BORROWED, NULL, o};
    out->data = b->buf;
    out->owner = owner;
    for (int i = 0; i < ndim; i++) out->dims[i] = b->shape[i], out->dims[ndim + i] = b->strides[i];
    return 1;
}

/* -- to Python -- */
static void quern_copy(char *to, const Py_ssize_t *steps, const char *from, const int64_t *shape, const int64_t *strides, int ndim, size_t size) {
    if (ndim == 0) {
        memcpy(to, from, size);
        return;
    }
    for (int64_t i = 0; i < *shape; i++)
        quern_copy(to + i * *steps, steps + 1, from + i * *strides, shape + 1, strides + 1, ndim - 1, size);
}

/* A new array of NumPy's; what the code made goes. */
static PyObject *quern_put_array(quern_array *a, int ndim, size_t size, const char *dtype, char order) {
    if (a->owner && a->owner->refs >= QUERN_BORROWED / 2) {
        a->owner = NULL; /* the caller's */
        PyErr_SetString(PyExc_TypeError, "the result is (a view of) an argument: code compiled ahead of time returns arrays of its own; copy it");
        return NULL;
    }
    PyObject *numpy = PyImport_ImportModule("numpy"), *shape = PyTuple_New(ndim), *made = NULL;
    for (int i = 0; shape && i < ndim; i++) {
        PyObject *n = PyLong_FromLongLong(a->dims[i]);
        if (n) PyTuple_SET_ITEM(shape, i, n);
        else Py_CLEAR(shape);
    }
    const char order_text[] = {order == 'F' ? 'F' : 'C', 0};
    if (numpy && shape) made = PyObject_CallMethod(numpy, "empty", "Oss", shape, dtype, order_text);
    Py_buffer b;
    if (made && PyObject_GetBuffer(made, &b, PyBUF_STRIDES | PyBUF_WRITABLE) < 0) Py_CLEAR(made);
    if (made) {
        quern_copy(b.buf, b.strides, a->data, a->dims, a->dims + ndim, ndim, size);
        PyBuffer_Release(&b);
    }
    Py_XDECREF(shape);
    Py_XDECREF(numpy);
    quern_release(a->owner);
    return made;
}

/* Takes the items; NULL where one is. */
static PyObject *quern_tuple(int n, ...) {
    va_list items;
    PyObject *tuple = PyTuple_New(n);
    va_start(items, n);
    for (int i = 0; i < n; i++) {
        PyObject *item = va_arg(items, PyObject *);
        if (tuple && item) PyTuple_SET_ITEM(tuple, i, item);
        else {
            Py_XDECREF(item);
            Py_CLEAR(tuple);
        }
    }
    va_end(items);
    return tuple;
}
"""


def quoted(text):
    """A C string literal."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode("utf-8", "surrogatepass")) + '"'


def runtime(context, guards):
    """What both kinds of files begin with."""
    rows = ", ".join(f"{{{quoted(cls)}, {quoted(message)}}}" for cls, message in guards)
    return _RUNTIME.substitute({**context, "guards": rows})


def header(module, functions, axes):
    """The C header of an object file. functions: (comment, prototype); axes: the numbers of axes of its arrays."""
    guard = f"{module.upper()}_H"
    arrays = "".join(f"#ifndef QUERN_ARRAY_{n}D\n#define QUERN_ARRAY_{n}D\n/* Strides are in bytes. */\n"
                     f"typedef struct quern_array_{n}d {{ void *data; int64_t shape[{max(1, n)}], strides[{max(1, n)}]; }} quern_array_{n}d;\n"
                     "#endif\n" for n in sorted(axes))
    numbers = "".join(f"typedef struct {{ {part} real, imag; }} {name};\n" for name, part in (("quern_c64", "float"), ("quern_c128", "double"))
                      if any(name in prototype for _, prototype in functions))
    if numbers:
        numbers = f"#ifndef QUERN_COMPLEX\n#define QUERN_COMPLEX\n{numbers}#endif\n"
    return (f"/* {module}.h - functions of {module}.o, which was compiled from Python. Link with -lm -ldl -lpthread. */\n#ifndef {guard}\n#define {guard}\n"
            "#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + ("#ifndef QUERN_INSIDE\n" + numbers + "#endif\n" if numbers else "")
            + arrays + "\n/* Each function gives 0, or 1 where it raised an exception: then `result` is not written, and this is its text, until the\n"
            f" * next one on this thread. */\nconst char *{module}_error(void);\n\n"
            + "".join(f"{comment}\n{prototype};\n" for comment, prototype in functions)
            + "#ifdef __cplusplus\n}\n#endif\n#endif\n")


def plain_c(module):
    """What the functions for C need."""
    return f"""
static __thread char quern_error_text[768];
const char *{module}_error(void) {{ return quern_error_text; }}
static void quern_say_error(const quern_function *f, const quern_context *ctx) {{
    char text[512];
    const char *cls;
    quern_what(f, ctx, &cls, text, sizeof text);
    snprintf(quern_error_text, sizeof quern_error_text, "%s%s%s", cls, text[0] ? ": " : "", text);
}}
"""
