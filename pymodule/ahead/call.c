/* call.c - a call from Python of a function that was compiled ahead of time: its context, and what it asks of its caller. */
#include "pymodule/ahead/ahead.h"
#include "codegen/objects.h"
#include "codegen/support.h"
#include "frontend/base/os.h"

enum { CHECK_NS = 50 * 1000 * 1000 };

static const RaiseTables *tables_of(const CallContext *ctx) {
    return ((const AheadCall *)ctx->user)->tables;
}

/* As the interpreter would: signals are handled, and other threads run. */
static int32_t poll(CallContext *ctx) {
    AheadCall *call = ctx->user;
    int64_t now = os_now_ns();
    bool first = call->next_check == 0, due = now >= call->next_check;
    if (due) call->next_check = now + CHECK_NS;
    if (first || !due) return 0;
    PyEval_RestoreThread(PyEval_SaveThread());
    return PyErr_CheckSignals() < 0;
}

/* The handle is the name of the class. A module that nobody has imported has raised nothing. */
static bool matches_taken(CallContext *ctx, int64_t taken, const void *class_handle) {
    (void)ctx;
    const char *name = class_handle;
    PyObject *cls = py_named_exception((Str){name, (int32_t)strlen(name)}, false);
    if (!cls) PyErr_Clear();
    bool is = cls && PyErr_GivenExceptionMatches((PyObject *)(intptr_t)taken, cls);
    Py_XDECREF(cls);
    return is;
}

static bool write_text(CallContext *ctx, const void *text, int64_t how) {
    (void)ctx;
    return py_write_text(text, how);
}

static void drop_held(Owner *owner) {
    Py_DECREF((PyObject *)owner->object);
    free(owner);
}

static Owner *hold_taken(CallContext *ctx, int64_t taken) {
    (void)ctx;
    Owner *owner = malloc(sizeof *owner);
    if (!owner) return NULL;
    atomic_init(&owner->refs, 1);
    owner->destroy = drop_held;
    owner->object = Py_NewRef((PyObject *)(intptr_t)taken);
    return owner;
}

static bool read_exception(CallContext *ctx, const Raised *raised, const ExceptionPart *part,
                           void *out) {
    return py_read_raised(tables_of(ctx), raised, part, out);
}

static void close_dropped(CallContext *ctx, Owner *generator) {
    PyObject *before = PyErr_GetRaisedException();
    if (quern_close(ctx, generator)) {
        if (!PyErr_Occurred()) py_raise_left(tables_of(ctx), ctx, NULL);
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_SetRaisedException(before);
}

static bool describe_array(CallContext *ctx, const ArrayInMemory *array, int64_t how,
                           ExceptionText **out) {
    (void)ctx;
    return py_describe_array(array, how, out);
}

static const PendingHandler pending_handler = {py_take_raised, matches_taken,  write_text,
                                               hold_taken,     read_exception, describe_array,
                                               close_dropped};

void quern_py_start(void) {
    quern_text_use_hash(PyHash_GetFuncDef()->hash);
}

void quern_py_begin(AheadCall *call, const RaiseTables *tables) {
    quern_begin(&call->ctx);
    call->ctx.poll = poll;
    call->ctx.pending = &pending_handler;
    call->ctx.user = call;
    call->tables = tables;
    call->next_check = 0;
}

int quern_py_end(AheadCall *call, int status) {
    CallContext *ctx = &call->ctx;
    if (status != CALL_OK && !PyErr_Occurred()) py_raise_left(call->tables, ctx, NULL);
    Py_XDECREF((PyObject *)ctx->taken);
    context_end(ctx);
    return status == CALL_OK;
}
