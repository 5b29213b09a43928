/* raised.c - what compiled code has raised becomes Python's exceptions.
 *
 * A record of a guard or of a raise statement is made into an exception of its class, with its arguments, its traceback (an entry
 * for the user's file, line and function) and what came before it. Of the extension nothing is needed here: functions
 * that were compiled ahead of time take it along. */
#include "pymodule/raised.h"
#include <frameobject.h>

void py_forget_error(void) {
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    PyErr_Clear();
}

/* -- classes ------------------------------------------------------------------------------------------- */

/* NumPy's class of the library's functions counts as one of Python's: everybody has it under that name. */
static bool is_of_numpy(const char *name) {
    return !strcmp(name, "LinAlgError");
}

PyObject *py_builtin_exception(const char *name) {
    PyObject *home = PyImport_ImportModule(is_of_numpy(name) ? "numpy.linalg" : "builtins");
    PyObject *cls = home ? PyObject_GetAttrString(home, name) : NULL;
    Py_XDECREF(home);
    return cls;
}

bool py_is_builtin_exception(PyObject *cls, const char *name) {
    if (!is_of_numpy(name) && ((PyTypeObject *)cls)->tp_flags & Py_TPFLAGS_HEAPTYPE) return false;
    PyObject *known = py_builtin_exception(name);
    if (!known) py_forget_error();
    Py_XDECREF(known);
    return known == cls;
}

PyObject *py_named_exception(Str name, bool import) {
    char path[256], *colon;
    snprintf(path, sizeof path, STR_FMT, STR_ARG(name));
    if (!(colon = strchr(path, ':'))) return py_builtin_exception(path);
    *colon = 0;
    PyObject *module = PyUnicode_FromString(path), *at = NULL;
    if (module) at = import ? PyImport_Import(module) : PyImport_GetModule(module);
    Py_XDECREF(module);
    for (char *part = colon + 1, *rest = NULL; at && (part = strtok_r(part, ".", &rest));
         part = NULL)
        Py_SETREF(at, PyObject_GetAttrString(at, part));
    return at;
}

/* -- what was raised ------------------------------------------------------------------------------------- */

static void raise_guard(const RaiseTables *tables, const Raised *raised) {
    char text[512];
    PyObject *cls = py_builtin_exception(raised_guard(tables, raised, text, sizeof text));
    if (!cls) return;
    if (text[0])
        PyErr_SetString(cls, text);
    else
        PyErr_SetNone(cls);
    Py_DECREF(cls);
}

static PyObject *next_argument(RaisedArgs *from);

static PyObject *next_tuple(RaisedArgs *from, int32_t n) {
    PyObject *tuple = PyTuple_New(n);
    for (int32_t i = 0; tuple && i < n; i++) {
        PyObject *item = next_argument(from);
        if (!item) Py_CLEAR(tuple);
        if (tuple) PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

static PyObject *next_argument(RaisedArgs *from) {
    int64_t bits[2];
    int32_t n;
    TypeKind kind = raised_next(from, bits, &n);
    switch (kind) {
    case TY_none: return Py_NewRef(Py_None);
    case TY_TUPLE: return next_tuple(from, n);
    case TY_CLASS: return py_text_of((const void *)(intptr_t)bits[0]);
    case TY_OBJECT: return py_bytes_of((const void *)(intptr_t)bits[0]);
    case TY_bool: return PyBool_FromLong((long)raised_int(kind, bits[0]));
    case TY_u64: return PyLong_FromUnsignedLongLong((uint64_t)bits[0]);
    case TY_f32:
    case TY_f64:
    case TY_wflt: return PyFloat_FromDouble(raised_double(kind, bits[0]));
    case TY_c64:
    case TY_c128:
    case TY_wcpx:
        return PyComplex_FromDoubles(raised_double(kind, bits[0]), raised_double(kind, bits[1]));
    default: return PyLong_FromLongLong(raised_int(kind, bits[0]));
    }
}

static PyObject *arguments_of(const RaiseInfo *by, const Raised *raised) {
    int extra = by->has_message;
    RaisedArgs from = raised_args(by, raised);
    PyObject *args = PyTuple_New(extra + by->nargs);
    for (int i = 0; args && i < extra + by->nargs; i++) {
        PyObject *arg =
            i < extra ? PyUnicode_DecodeUTF8(by->message.bytes, by->message.len, "surrogatepass")
                      : next_argument(&from);
        if (!arg) Py_CLEAR(args);
        if (args) PyTuple_SET_ITEM(args, i, arg);
    }
    return args;
}

static void raise_statement(const RaiseInfo *by, const Raised *raised) {
    PyObject *cls = by->class_handle ? Py_NewRef((PyObject *)by->class_handle)
                                     : py_named_exception(by->class_name, true);
    PyObject *args = cls ? arguments_of(by, raised) : NULL;
    PyObject *exception = args ? PyObject_Call(cls, args, NULL) : NULL;
    if (exception && PyExceptionInstance_Check(exception))
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    else if (exception)
        PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
    Py_XDECREF(exception);
    Py_XDECREF(args);
    Py_XDECREF(cls);
}

/* An entry for the user's line, as if the interpreter had run it. Failing to add one loses the entry,
 * not the exception. */
static void add_traceback(const CodeSite *site, PyObject *globals) {
    PyObject *raised = PyErr_GetRaisedException();
    char function[256], file[4096];
    snprintf(function, sizeof function, STR_FMT, STR_ARG(site->function));
    snprintf(file, sizeof file, STR_FMT, STR_ARG(site->file));
    PyCodeObject *code = PyCode_NewEmpty(file, function, site->line);
    PyObject *own = globals ? Py_NewRef(globals) : PyDict_New();
    PyFrameObject *frame = code && own ? PyFrame_New(PyThreadState_Get(), code, own, NULL) : NULL;
    if (!frame) py_forget_error();
    PyErr_SetRaisedException(raised);
    if (frame) PyTraceBack_Here(frame);
    Py_XDECREF(frame);
    Py_XDECREF(own);
    Py_XDECREF(code);
}

static void add_place(const RaiseTables *tables, int32_t site, PyObject *globals) {
    bool placed = site >= 0 && site < tables->nsites && tables->sites[site].file.len;
    if (placed) add_traceback(&tables->sites[site], globals);
}

/* The exception becomes the one that is set, without its traceback and what came before it. The text of a guard names what is at its site. */
static void raise_untraced(const RaiseTables *tables, const Raised *raised) {
    const RaiseInfo *by = raised_by(tables, raised);
    if (raised->exception == CALL_TAKEN)
        PyErr_SetRaisedException(Py_NewRef((PyObject *)(intptr_t)raised->args[0]));
    else if (by)
        raise_statement(by, raised);
    else
        raise_guard(tables, raised);
}

/* The same with its traceback. */
static void raise_alone(const RaiseTables *tables, const Raised *raised, PyObject *globals) {
    raise_untraced(tables, raised);
    add_place(tables, raised->site, globals);
    for (int32_t i = 0; i < QN_MIN(raised->ncallers, CALL_MAX_CALLERS); i++)
        add_place(tables, raised->callers[i], globals);
}

/* -- what handlers read of exceptions ------------------------------------------------------------------- */

/* The exception, without traceback: a new reference; NULL: exception. */
static PyObject *raised_object(const RaiseTables *tables, const Raised *raised) {
    raise_untraced(tables, raised);
    return PyErr_GetRaisedException();
}

static bool other_arguments(PyObject *args) {
    PyErr_Format(PyExc_TypeError,
                 "the caught exception carries other arguments (%R) than those that its handler "
                 "was compiled for",
                 args);
    return false;
}

/* Of the arguments, or of an attribute, what is at ExceptionPart.place, borrowed; NULL: there is nothing. */
static PyObject *argument_at(PyObject *args, const ExceptionPart *part) {
    if (!args || !part->place) return args;
    bool named = part->count > PART_COUNTS;
    if (!PyTuple_Check(args) || (!named && PyTuple_GET_SIZE(args) != part->count)) return NULL;
    int shift = 56;
    while (shift > 0 && !(part->place >> shift & 0xff))
        shift -= 8;
    for (; args && shift >= 0; shift -= 8) {
        Py_ssize_t k = (Py_ssize_t)(part->place >> shift & 0xff) - 1;
        bool fits = PyTuple_Check(args) && k >= 0 && k < PyTuple_GET_SIZE(args);
        args = fits ? PyTuple_GET_ITEM(args, k) : NULL;
    }
    return args;
}

/* The arguments, or the attribute that it is about. */
static PyObject *looked_at(PyObject *exception, const ExceptionPart *part) {
    if (part->count <= PART_COUNTS) return PyObject_GetAttrString(exception, "args");
    PyObject *name = py_text_of((const void *)(intptr_t)part->count);
    PyObject *value = name ? PyObject_GetAttr(exception, name) : NULL;
    Py_XDECREF(name);
    return value;
}

/* An int of 64 bits, with or without a sign. */
static bool read_bits(PyObject *number, void *out) {
    int over;
    long long bits = PyLong_AsLongLongAndOverflow(number, &over);
    if (over > 0) bits = (long long)PyLong_AsUnsignedLongLong(number);
    if (over < 0) PyErr_SetString(PyExc_OverflowError, "Python int too small to convert to C long");
    *(int64_t *)out = bits;
    return !PyErr_Occurred();
}

/* It has no __index__. NumPy may not be there: the name says it. */
static bool is_numpy_bool(PyObject *value) {
    const char *name = Py_TYPE(value)->tp_name;
    return !strcmp(name, "numpy.bool") || !strcmp(name, "numpy.bool_");
}

static bool read_number(PyObject *value, const ExceptionPart *part, PyObject *args, void *out) {
    if (part->kind == PART_INT) {
        PyObject *number = is_numpy_bool(value)   ? PyNumber_Long(value)
                           : PyIndex_Check(value) ? PyNumber_Index(value)
                                                  : NULL;
        if (!number) return !PyErr_Occurred() && other_arguments(args);
        bool fits = read_bits(number, out);
        Py_DECREF(number);
        return fits;
    }
    Py_complex z = PyComplex_AsCComplex(value);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    if (PyErr_Occurred()) return PyErr_Clear(), other_arguments(args);
    *(double *)out = part->kind == PART_REAL ? z.real : z.imag;
    return true;
}

bool py_read_raised(const RaiseTables *tables, const Raised *raised, const ExceptionPart *part,
                    void *out) {
    PyObject *exception = raised_object(tables, raised), *text = NULL;
    if (!exception) return false;
    bool whole = part->place < 0, ok = false;
    PyObject *args = whole ? NULL : looked_at(exception, part);
    PyObject *value = whole ? NULL : argument_at(args, part);
    if (part->place == -1) text = PyObject_Str(exception);
    if (part->place == -2) text = PyObject_Repr(exception);
    if (part->place == -3) text = PyType_GetName(Py_TYPE(exception));
    if (!whole && args && (!value || (part->kind == PART_TEXT && !PyUnicode_Check(value))))
        other_arguments(args);
    else if (part->kind == PART_TEXT)
        ok = (text || value) && py_keep_text(text ? text : value, out);
    else if (value)
        ok = read_number(value, part, args, out);
    Py_XDECREF(text);
    Py_XDECREF(args);
    Py_DECREF(exception);
    return ok;
}

/* What came before: exceptions made from those that the context keeps, by their place there. */
typedef struct Earlier {
    const RaiseTables *tables;
    const CallContext *ctx;
    PyObject *globals;
    PyObject *made[KEPT_EXCEPTIONS];
} Earlier;

static PyObject *earlier(Earlier *e, int64_t id);

static void link_earlier(Earlier *e, PyObject *exception, const Raised *raised) {
    PyObject *context = earlier(e, raised->context), *cause = earlier(e, raised->cause);
    if (context) PyException_SetContext(exception, context);
    if (cause) PyException_SetCause(exception, cause);
    if (raised->suppressed &&
        PyObject_SetAttrString(exception, "__suppress_context__", Py_True) < 0)
        py_forget_error();
}

/* A new reference, NULL: none. Each is made once, so that circles end. */
static PyObject *earlier(Earlier *e, int64_t id) {
    for (int k = 0; id && e->ctx->kept && k < KEPT_EXCEPTIONS; k++) {
        const Raised *raised = &e->ctx->kept->kept[k];
        if (raised->id != id) continue;
        if (!e->made[k]) {
            raise_alone(e->tables, raised, e->globals);
            e->made[k] = PyErr_GetRaisedException();
            if (e->made[k]) link_earlier(e, e->made[k], raised);
        }
        return Py_XNewRef(e->made[k]);
    }
    return NULL;
}

static void add_earlier(const RaiseTables *tables, const CallContext *ctx, PyObject *globals,
                        PyObject *exception, const Raised *raised) {
    if (!raised->context && !raised->cause && !raised->suppressed) return;
    Earlier e = {tables, ctx, globals, {NULL}};
    link_earlier(&e, exception, raised);
    for (int k = 0; k < KEPT_EXCEPTIONS; k++)
        Py_XDECREF(e.made[k]);
}

void py_raise_left(const RaiseTables *tables, const CallContext *ctx, PyObject *globals) {
    raise_alone(tables, &ctx->raised, globals);
    PyObject *exception = PyErr_GetRaisedException();
    if (exception) add_earlier(tables, ctx, globals, exception, &ctx->raised);
    PyErr_SetRaisedException(exception);
}

PyObject *py_make_raised(const RaiseTables *tables, const CallContext *ctx, const Raised *raised) {
    raise_alone(tables, raised, NULL);
    PyObject *exception = PyErr_GetRaisedException();
    if (exception && ctx && raised->exception != CALL_TAKEN)
        add_earlier(tables, ctx, NULL, exception, raised);
    return exception;
}

int64_t py_take_raised(CallContext *ctx) {
    PyObject *raised = PyErr_GetRaisedException();
    if (raised && !ctx->taken) ctx->taken = PyList_New(0);
    if (raised && (!ctx->taken || PyList_Append(ctx->taken, raised) < 0)) {
        PyErr_SetRaisedException(raised); /* no memory: it stays pending */
        raised = NULL;
    }
    Py_XDECREF(raised);
    return (int64_t)(intptr_t)raised;
}
