/* raise.c - errors as values become Python exceptions.
 *
 * Three sources: diagnostics of the compiler (classes of quern.errors, rendered with the source line),
 * what compiled code left in its CallContext (a guard, or a raise statement of the user: raised.c makes it), and RtError
 * of the runtime (in runtime_error.c). */
#include "codegen/support.h"
#include "pymodule/state.h"
#include <frameobject.h>

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
        RaiseTables tables = raise_tables(artifact);
        exception = py_make_raised(&tables, boxed ? boxed->ctx : NULL, raised);
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
        RaiseTables tables = raise_tables(artifact);
        py_raise_left(&tables, ctx, globals);
    } else if (!PyErr_Occurred()) { /* left by a poll */
        py_set_interrupted();
    }
}
