/* raise.c - errors as values become Python exceptions.
 *
 * Three sources: diagnostics of the compiler (classes of quern.errors, rendered with the source line),
 * what compiled code left in its CallContext (a guard, or a raise statement of the user), and RtError
 * of the runtime (in runtime_error.c). Exceptions of compiled code get a traceback entry that shows the
 * user's file, line and function. */
#include "codegen/support.h"
#include "pymodule/state.h"
#include <frameobject.h>
#include <math.h>

/* -- quern.errors ------------------------------------------------------------------------------- */

PyObject *py_error_class(ModState *state, const char *name) {
    if (!state->errors && !(state->errors = PyImport_ImportModule("quern.errors"))) return NULL;
    return PyObject_GetAttrString(state->errors, name);
}

void py_raise_typing(ModState *state, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PyObject *cls = py_error_class(state, "TypingError");
    if (cls) PyErr_SetString(cls, text);
    Py_XDECREF(cls);
}

void py_forget_error(void) {
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    PyErr_Clear();
}

/* -- diagnostics ---------------------------------------------------------------------------------- */

typedef struct SourceUser {
    ModState *state;
    Arena *arena;
} SourceUser;

/* A line of a source file through linecache, which also knows notebooks and interactive input. */
static Str source_line(void *user, Str file, int32_t line) {
    SourceUser *u = user;
    Str text = {NULL, 0};
    if (!u->state->linecache && !(u->state->linecache = PyImport_ImportModule("linecache"))) {
        py_forget_error();
        return text;
    }
    PyObject *got = PyObject_CallMethod(u->state->linecache, "getline", "s#i", file.bytes,
                                        (Py_ssize_t)file.len, (int)line);
    Py_ssize_t len;
    const char *bytes = got && PyUnicode_Check(got) ? PyUnicode_AsUTF8AndSize(got, &len) : NULL;
    if (bytes) {
        while (len > 0 && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
            len--;
        text = str_copy(u->arena, bytes, (size_t)len);
    }
    Py_XDECREF(got);
    py_forget_error();
    return text;
}

PyObject *py_diag_text(ModState *state, DiagList *diags, const DiagItem *item) {
    StrBuf buf;
    buf_init(&buf, diags->arena);
    SourceUser user = {state, diags->arena};
    diag_render(&buf, item, source_line, &user);
    Str text = buf_take(&buf);
    while (text.len > 0 && text.bytes[text.len - 1] == '\n')
        text.len--;
    return PyUnicode_DecodeUTF8(text.bytes, text.len, "replace");
}

static PyObject *class_of_diag(ModState *state, DiagClass cls) {
    switch (cls) {
    case DIAG_UNSUPPORTED: return py_error_class(state, "UnsupportedError");
    case DIAG_TYPING: return py_error_class(state, "TypingError");
    case DIAG_VALUE: return py_error_class(state, "LiteralValueError");
    case DIAG_LOWERING: return py_error_class(state, "LoweringError");
    case DIAG_WARNING: return py_error_class(state, "NumbaPerformanceWarning");
    case DIAG_MEMORY: return Py_NewRef(PyExc_MemoryError);
    case DIAG_SYNTAX: break;
    }
    return Py_NewRef(PyExc_ValueError);
}

/* filename, lineno, column and code, for tools. */
static int set_place(PyObject *exception, const DiagItem *item) {
    PyObject *code = PyUnicode_FromString(diag_name(item->code));
    int status = code ? PyObject_SetAttrString(exception, "code", code) : -1;
    Py_XDECREF(code);
    if (status < 0 || !item->has_span) return status;
    PyObject *file = PyUnicode_DecodeUTF8(item->span.file.bytes, item->span.file.len, "replace");
    PyObject *line = PyLong_FromLong(item->span.line);
    PyObject *column = PyLong_FromLong(item->span.column);
    if (!file || !line || !column || PyObject_SetAttrString(exception, "filename", file) < 0 ||
        PyObject_SetAttrString(exception, "lineno", line) < 0 ||
        PyObject_SetAttrString(exception, "column", column) < 0)
        status = -1;
    Py_XDECREF(file);
    Py_XDECREF(line);
    Py_XDECREF(column);
    return status;
}

static void raise_item(ModState *state, DiagList *diags, const DiagItem *item) {
    DiagClass kind = diag_class(item->code);
    PyObject *cls = class_of_diag(state, kind), *text = NULL, *exception = NULL;
    if (cls) text = py_diag_text(state, diags, item);
    if (text) exception = PyObject_CallOneArg(cls, text);
    if (exception && kind != DIAG_MEMORY && kind != DIAG_SYNTAX && set_place(exception, item) < 0)
        Py_CLEAR(exception);
    if (exception) PyErr_SetObject(cls, exception);
    Py_XDECREF(exception);
    Py_XDECREF(text);
    Py_XDECREF(cls);
}

/* PyErr_WarnEx counts frames from the innermost Python one: 1 plus those of our own package. */
static Py_ssize_t stack_level_of_caller(void) {
    Py_ssize_t level = 1;
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame) {
        PyObject *globals = PyFrame_GetGlobals(frame);
        PyObject *name = PyDict_GetItemString(globals, "__name__"); /* borrowed */
        const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        bool ours = text && strncmp(text, "quern", 5) == 0 && (text[5] == '.' || text[5] == 0);
        PyFrameObject *back = ours ? PyFrame_GetBack(frame) : NULL;
        Py_DECREF(globals);
        Py_DECREF(frame);
        frame = back;
        level += ours;
    }
    PyErr_Clear(); /* a name that is not UTF-8 */
    return level;
}

int py_warn(ModState *state, const char *class_name, PyObject *text) {
    PyObject *cls = text ? py_error_class(state, class_name) : NULL;
    const char *bytes = cls ? PyUnicode_AsUTF8(text) : NULL;
    int status = bytes ? PyErr_WarnEx(cls, bytes, stack_level_of_caller()) : -1;
    Py_XDECREF(cls);
    Py_XDECREF(text);
    return status;
}

int py_warn_diags(ModState *state, DiagList *diags) {
    for (int32_t i = 0; i < diags->items.len; i++) {
        const DiagItem *item = &diags->items.items[i];
        if (diag_severity(item->code) != SEV_WARNING) continue;
        if (py_warn(state, "NumbaPerformanceWarning", py_diag_text(state, diags, item)) < 0)
            return -1;
    }
    return 0;
}

void py_raise_diags(ModState *state, DiagList *diags) {
    if (PyErr_Occurred()) return; /* the resolver's answer was an exception */
    for (int32_t i = 0; i < diags->items.len; i++) {
        const DiagItem *item = &diags->items.items[i];
        if (diag_severity(item->code) == SEV_ERROR) {
            raise_item(state, diags, item);
            return;
        }
    }
    PyObject *cls = py_error_class(state, "LoweringError");
    if (cls) PyErr_SetString(cls, "the compiler failed without saying why");
    Py_XDECREF(cls);
}

/* -- exceptions of compiled code --------------------------------------------------------------------- */

static const struct {
    const char *exception, *message;
    int nargs;
} guards[GUARD_COUNT] = {
#define GUARD(name, exception, message, nargs) {#exception, message, nargs},
#include "frontend/ir/ir_guards.def"
#undef GUARD
};

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

/* "{0}" is replaced by args[0], "{name}" by the name of the site, in which arguments are replaced, too. */
static void guard_text(char *out, size_t size, const char *format, const int64_t *args, Str name) {
    size_t n = 0;
    for (const char *f = format; *f && n + 1 < size; f++) {
        int wrote = 0;
        if (f[0] == '{' && f[1] >= '0' && f[1] < '0' + CALL_MAX_ARGS && f[2] == '}') {
            wrote = snprintf(out + n, size - n, "%lld", (long long)args[f[1] - '0']);
            f += 2;
        } else if (!strncmp(f, "{name}", 6)) {
            char inner[256];
            snprintf(inner, sizeof inner, STR_FMT, STR_ARG(name));
            guard_text(out + n, size - n, inner, args, STR(""));
            wrote = (int)strlen(out + n);
            f += 5;
        } else {
            out[n] = *f;
            wrote = 1;
        }
        n += (size_t)QN_MAX(wrote, 0);
    }
    out[QN_MIN(n, size - 1)] = 0;
}

static void raise_guard(const Artifact *artifact, const Raised *raised) {
    int guard = -1 - raised->exception;
    bool placed = raised->site >= 0 && raised->site < artifact->nsites;
    if (guard < 0 || guard >= GUARD_COUNT) {
        PyErr_SetString(PyExc_SystemError, "compiled code reported an unknown error");
        return;
    }
    PyObject *cls = py_builtin_exception(guards[guard].exception);
    if (!cls) return;
    char text[512];
    guard_text(text, sizeof text, guards[guard].message, raised->args,
               placed ? artifact->sites[raised->site].name : STR("?"));
    if (text[0])
        PyErr_SetString(cls, text);
    else
        PyErr_SetNone(cls);
    Py_DECREF(cls);
}

static double bits_double(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double bits_float(int64_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Where the arguments of a raise statement are read: their kinds, and the next of their bits. */
typedef struct RaisedArgs {
    const uint8_t *kinds, *end;
    const int64_t *args;
    int slot;
} RaisedArgs;

static PyObject *raise_arg(RaisedArgs *from);

static PyObject *raise_tuple(RaisedArgs *from) {
    int n = from->kinds < from->end ? *from->kinds++ : 0;
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *item = raise_arg(from);
        if (!item) Py_CLEAR(tuple);
        if (tuple) PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

/* One argument of a raise statement from its bits; moves over what it used. */
static PyObject *raise_arg(RaisedArgs *from) {
    TypeKind kind = from->kinds < from->end ? (TypeKind)*from->kinds++ : TY_none;
    if (kind == TY_TUPLE) return raise_tuple(from);
    int *slot = &from->slot;
    const int64_t *args = from->args;
    if (*slot >= CALL_MAX_ARGS) return Py_NewRef(Py_None);
    int64_t bits = args[*slot];
    ++*slot;
    switch (kind) {
    case TY_none: return Py_NewRef(Py_None);
    case TY_CLASS: return py_text_of((const void *)(intptr_t)bits);
    case TY_OBJECT: return py_bytes_of((const void *)(intptr_t)bits);
    case TY_bool: return PyBool_FromLong((long)(bits & 1));
    case TY_u8: return PyLong_FromUnsignedLongLong((uint8_t)bits);
    case TY_u16: return PyLong_FromUnsignedLongLong((uint16_t)bits);
    case TY_u32: return PyLong_FromUnsignedLongLong((uint32_t)bits);
    case TY_u64: return PyLong_FromUnsignedLongLong((uint64_t)bits);
    case TY_i8: return PyLong_FromLongLong((int8_t)bits);
    case TY_i16: return PyLong_FromLongLong((int16_t)bits);
    case TY_i32: return PyLong_FromLongLong((int32_t)bits);
    case TY_f32: return PyFloat_FromDouble(bits_float(bits));
    case TY_f64:
    case TY_wflt: return PyFloat_FromDouble(bits_double(bits));
    case TY_c64:
    case TY_c128:
    case TY_wcpx: {
        if (*slot >= CALL_MAX_ARGS) break;
        int64_t imaginary = args[*slot];
        ++*slot;
        return kind == TY_c64 ? PyComplex_FromDoubles(bits_float(bits), bits_float(imaginary))
                              : PyComplex_FromDoubles(bits_double(bits), bits_double(imaginary));
    }
    default: break;
    }
    return PyLong_FromLongLong(bits);
}

static void raise_statement(const RaiseInfo *info, const Raised *raised) {
    char name[128];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(info->class_name));
    PyObject *cls =
        info->class_handle ? Py_NewRef((PyObject *)info->class_handle) : py_builtin_exception(name);
    if (!cls) return;
    int extra = info->has_message;
    RaisedArgs from = {info->kinds, info->kinds + RAISE_MAX_KINDS, raised->args, 0};
    PyObject *args = PyTuple_New(extra + info->nargs);
    bool ok = args != NULL;
    if (ok && info->has_message) {
        PyObject *text =
            PyUnicode_DecodeUTF8(info->message.bytes, info->message.len, "surrogatepass");
        ok = text != NULL;
        PyTuple_SET_ITEM(args, 0, text);
    }
    for (int i = 0; ok && i < info->nargs; i++) {
        PyObject *arg = raise_arg(&from);
        ok = arg != NULL;
        PyTuple_SET_ITEM(args, extra + i, arg);
    }
    PyObject *exception = ok ? PyObject_Call(cls, args, NULL) : NULL;
    if (exception && PyExceptionInstance_Check(exception))
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    else if (exception)
        PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
    Py_XDECREF(exception);
    Py_XDECREF(args);
    Py_DECREF(cls);
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

static void add_tracebacks(const Artifact *artifact, const Raised *raised, PyObject *globals) {
    if (raised->site >= 0 && raised->site < artifact->nsites)
        add_traceback(&artifact->sites[raised->site], globals);
    for (int32_t i = 0; i < QN_MIN(raised->ncallers, CALL_MAX_CALLERS); i++)
        if (raised->callers[i] >= 0 && raised->callers[i] < artifact->nsites)
            add_traceback(&artifact->sites[raised->callers[i]], globals);
}

/* The exception becomes the one that is set, with its traceback, without what came before it. */
static void raise_alone(const Artifact *artifact, const Raised *raised, PyObject *globals) {
    if (raised->exception == CALL_TAKEN)
        PyErr_SetRaisedException(Py_NewRef((PyObject *)(intptr_t)raised->args[0]));
    else if (raised->exception >= 0 && raised->exception < artifact->nraises)
        raise_statement(&artifact->raises[raised->exception], raised);
    else
        raise_guard(artifact, raised);
    add_tracebacks(artifact, raised, globals);
}

/* -- what handlers read of exceptions ------------------------------------------------------------------- */

/* The exception, without traceback: a new reference; NULL: exception. */
static PyObject *raised_object(const Artifact *artifact, const Raised *raised) {
    Raised alone = *raised;
    alone.site = -1; /* no traceback */
    alone.ncallers = 0;
    raise_alone(artifact, &alone, NULL);
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

/* An int of 64 bits, with or without a sign. */
static bool read_bits(PyObject *number, void *out) {
    int over;
    long long bits = PyLong_AsLongLongAndOverflow(number, &over);
    if (over > 0) bits = (long long)PyLong_AsUnsignedLongLong(number);
    if (over < 0) PyErr_SetString(PyExc_OverflowError, "Python int too small to convert to C long");
    *(int64_t *)out = bits;
    return !PyErr_Occurred();
}

static bool read_number(PyObject *value, const ExceptionPart *part, PyObject *args, void *out) {
    if (part->kind == PART_INT) {
        PyObject *number = PyArray_IsScalar(value, Bool) ? PyNumber_Long(value)
                           : PyIndex_Check(value)        ? PyNumber_Index(value)
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

bool py_read_raised(const Artifact *artifact, const Raised *raised, const ExceptionPart *part,
                    void *out) {
    PyObject *exception = raised_object(artifact, raised), *text = NULL;
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
    const Artifact *artifact;
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
            raise_alone(e->artifact, raised, e->globals);
            e->made[k] = PyErr_GetRaisedException();
            if (e->made[k]) link_earlier(e, e->made[k], raised);
        }
        return Py_XNewRef(e->made[k]);
    }
    return NULL;
}

static void add_earlier(const Artifact *artifact, const CallContext *ctx, PyObject *globals) {
    if (!ctx->context && !ctx->cause && !ctx->suppressed) return;
    PyObject *exception = PyErr_GetRaisedException();
    Earlier e = {artifact, ctx, globals, {NULL}};
    if (exception) link_earlier(&e, exception, &ctx->raised);
    for (int k = 0; k < KEPT_EXCEPTIONS; k++)
        Py_XDECREF(e.made[k]);
    PyErr_SetRaisedException(exception);
}

/* -- exceptions as results ------------------------------------------------------------------------------ */

/* By what one exception is known that a result holds several times: its number, or else its address. NULL: it is there once. */
static PyObject *identity_of(const Owner *owner, const Raised *raised) {
    if (raised->exception == CALL_TAKEN) return NULL; /* an object of Python's */
    if (raised->id) return PyLong_FromLongLong(-raised->id);
    bool alone = atomic_load_explicit(&((Owner *)owner)->refs, memory_order_relaxed) == 1;
    return alone ? NULL : PyLong_FromVoidPtr((void *)owner);
}

/* Of the result that this thread is making; NULL: what is made is none. */
static BoxedExceptions *boxed_here(ModState *state) {
    BoxedExceptions *at = state->boxed;
    while (at && at->thread != PyThreadState_Get())
        at = at->next;
    return at;
}

static PyObject *make_exception(const Artifact *artifact, const CallContext *ctx,
                                const Raised *raised) {
    raise_alone(artifact, raised, NULL);
    PyObject *exception = PyErr_GetRaisedException();
    if (!exception || !ctx || raised->exception == CALL_TAKEN) return exception;
    Earlier e = {artifact, ctx, NULL, {NULL}};
    link_earlier(&e, exception, raised);
    for (int k = 0; k < KEPT_EXCEPTIONS; k++)
        Py_XDECREF(e.made[k]);
    return exception;
}

/* One exception is one object, with what came before it. Without memory for a table it is several. */
PyObject *py_box_exception(ModState *state, const Artifact *artifact, const char *value) {
    Owner *owner = *(Owner *const *)value;
    const Raised *raised = &((const ExceptionObject *)owner)->raised;
    BoxedExceptions *boxed = boxed_here(state);
    PyObject *failed = PyErr_GetRaisedException(); /* what has gone wrong with the result before */
    PyObject *name = boxed ? identity_of(owner, raised) : NULL, *exception = NULL;
    if (name && !boxed->made) boxed->made = PyDict_New();
    if (name && boxed->made) exception = Py_XNewRef(PyDict_GetItemWithError(boxed->made, name));
    PyErr_Clear();
    if (!exception) {
        exception = make_exception(artifact, boxed ? boxed->ctx : NULL, raised);
        if (exception && name && boxed->made && PyDict_SetItem(boxed->made, name, exception) < 0)
            PyErr_Clear();
    }
    Py_XDECREF(name);
    quern_release(owner);
    if (failed) PyErr_SetRaisedException(failed);
    return exception;
}

void py_raise_call(ModState *state, const Artifact *artifact, const CallContext *ctx, int status,
                   PyObject *globals) {
    (void)state;
    if (status != CALL_PENDING && !PyErr_Occurred()) {
        raise_alone(artifact, &ctx->raised, globals);
        add_earlier(artifact, ctx, globals);
    } else if (!PyErr_Occurred()) { /* left by a poll */
        py_set_interrupted();
    }
}
