/* jitfunc.c - the decorated function: a heap type with vectorcall.
 *
 * The fast path: as many arguments as parameters, no keywords, the types of the last call. Then the
 * plan unboxes into a frame on the stack, one indirect call runs the code, and the result is boxed: no
 * lock, no allocation but the result. Everything else goes through call_slow. */
#include "codegen/objects.h"
#include "codegen/support.h"
#include "frontend/base/os.h"
#include "pymodule/dispatch.h"
#include "pymodule/shared.h"
#include "runtime/runtime.h"
#include <time.h>
#include <unistd.h>

typedef struct Dispatcher {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *dict, *weakrefs;
    JitCore core;
    PyObject *numbers; /* the options, as the compiler takes them: a dict, or NULL */
    PyObject *given;   /* the options that recompile() asks for: a dict, or NULL */
    PyObject *failure; /* why a declared signature was not compiled; raised by calls, or NULL */
    bool nogil;
    bool fallback; /* @jit: run the Python function where the compiler refuses */
    atomic_bool warned;
} Dispatcher;

/* -- what compiled code needs of its caller ------------------------------------------------------------ */

static uint64_t coarse_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Atomic unsigned long leaver; /* the thread that ends the interpreter */

static bool py_thread_must_end(void) {
    return rt_leaving() && PyThread_get_thread_ident() != atomic_load(&leaver);
}

/* Looks at the clock, and every 50 ms at Python's signals: these run on the main thread only. */
int32_t py_poll(CallContext *ctx) {
    CallFrame *frame = ctx->user;
    uint64_t now = coarse_ns();
    if (now < frame->next_check) return 0;
    bool first = frame->next_check == 0;
    frame->next_check = now + 50000000u;
    if (first) return 0;
    if (frame->runs) {
        py_spec_hold(frame->runs);
        frame->runs = NULL;
    }
    /* The interpreter ends: other threads shall not come back to it from the midst of compiled code. */
    if (frame->saved && py_thread_must_end()) return 1;
    if (frame->exclusive) return PyErr_CheckSignals() < 0;
    /* a call that holds the GIL gives other threads a turn, as the interpreter would */
    PyThreadState *held = frame->saved ? frame->saved : PyEval_SaveThread();
    PyEval_RestoreThread(held);
    if (!frame->saved) return py_thread_must_end() || PyErr_CheckSignals() < 0;
    int interrupted = PyErr_CheckSignals() < 0;
    frame->saved = PyEval_SaveThread();
    return interrupted;
}

void py_set_interrupted(void) {
    PyErr_SetNone(py_thread_must_end() ? PyExc_SystemExit : PyExc_KeyboardInterrupt);
}

/* At exit: what other threads run on the CPU ends at its next poll, and nothing is given back to drivers any more,
 * which would wait for their kernels. Threads that wait for the GIL get it once more. */
PyObject *py_leave(PyObject *module, PyObject *unused) {
    enum { PATIENCE_MS = 300 };
    (void)module, (void)unused;
    atomic_store(&leaver, PyThread_get_thread_ident());
    Py_BEGIN_ALLOW_THREADS;
    rt_leave();
    for (int ms = 0; ms < PATIENCE_MS && rt_launches_running() > 0; ms++)
        usleep(1000);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

/* -- exceptions of Python that compiled code catches: of signal handlers, at polls ------------------------------- */

static PyThreadState *hold_gil(CallContext *ctx) {
    CallFrame *frame = ctx->user;
    if (frame->saved) PyEval_RestoreThread(frame->saved);
    return frame->saved;
}

static int64_t take_pending(CallContext *ctx) {
    PyThreadState *saved = hold_gil(ctx);
    int64_t taken = py_take_raised(ctx);
    if (saved) PyEval_SaveThread();
    return taken;
}

/* Compiled code drops it where there may be no GIL: it goes when the call is over. */
static Owner *hold_taken(CallContext *ctx, int64_t taken) {
    CallFrame *frame = ctx->user;
    PyThreadState *saved = hold_gil(ctx);
    Owner *owner = py_own(frame->state, (PyObject *)(intptr_t)taken);
    if (!owner) PyErr_Clear();
    if (saved) PyEval_SaveThread();
    return owner;
}

static bool matches_taken(CallContext *ctx, int64_t taken, const void *class_handle) {
    PyThreadState *saved = hold_gil(ctx);
    bool is = PyErr_GivenExceptionMatches((PyObject *)(intptr_t)taken, (PyObject *)class_handle);
    if (saved) PyEval_SaveThread();
    return is;
}

/* Before Python code of others runs, which may take the specialisation away. */
static PyThreadState *enter_python(CallContext *ctx) {
    CallFrame *frame = ctx->user;
    PyThreadState *saved = hold_gil(ctx);
    if (frame->runs) {
        py_spec_hold(frame->runs);
        frame->runs = NULL;
    }
    return saved;
}

/* str() of an exception may be the user's. */
static bool read_exception(CallContext *ctx, const Raised *raised, const ExceptionPart *part,
                           void *out) {
    PyThreadState *saved = enter_python(ctx);
    RaiseTables tables = raise_tables(((CallFrame *)ctx->user)->spec->artifact);
    bool ok = py_read_raised(&tables, raised, part, out);
    if (saved) PyEval_SaveThread();
    return ok;
}

/* NumPy's options may have functions of the user. */
static bool describe_array(CallContext *ctx, const ArrayInMemory *array, int64_t how,
                           ExceptionText **out) {
    PyThreadState *saved = enter_python(ctx);
    bool ok = py_describe_array(array, how, out);
    if (saved) PyEval_SaveThread();
    return ok;
}

/* Whoever stands behind sys.stdout may run anything. */
static bool write_text(CallContext *ctx, const void *text, int64_t how) {
    PyThreadState *saved = enter_python(ctx);
    bool ok = py_write_text(text, how);
    if (saved) PyEval_SaveThread();
    return ok;
}

static void close_dropped(CallContext *ctx, Owner *generator) {
    CallFrame *frame = ctx->user;
    PyThreadState *saved = enter_python(ctx);
    PyObject *before = PyErr_GetRaisedException();
    if (saved) PyEval_SaveThread();
    int status = quern_close(ctx, generator);
    if (saved) PyEval_RestoreThread(frame->saved);
    if (status) {
        py_raise_call(NULL, frame->spec->artifact, ctx, status, NULL);
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_SetRaisedException(before);
    if (saved) PyEval_SaveThread();
}

static const PendingHandler pending_handler = {take_pending, matches_taken,  write_text,
                                               hold_taken,   read_exception, describe_array,
                                               close_dropped};

char *py_stack_limit(void) {
    return os_stack_limit();
}

/* -- running a specialisation ---------------------------------------------------------------------------- */

static int enter_nogil(Spec *spec, CallContext *ctx, CallFrame *frame, void **args, void *result) {
    py_spec_hold(spec);
    frame->runs = NULL;
    frame->saved = PyEval_SaveThread();
    int status = spec->entry(ctx, args, result);
    PyEval_RestoreThread(frame->saved);
    frame->saved = NULL;
    return status;
}

/* A call with shared objects: nobody else runs until it ends, but what signals and print() run here. false: RuntimeError. */
static bool enter_exclusive(ModState *state, const Spec *spec) {
    if (spec->changes && !py_may_change(state)) return false;
    state->exclusive++;
    return true;
}

/* What may run code of others, which may take the specialisation away. */
static PyObject *box_result(Dispatcher *d, Spec *spec, const CallContext *ctx, const char *result) {
    ModState *state = d->core.state;
    if (spec->artifact->resumes) return py_new_generator(state, (PyObject *)d, spec, result);
    BoxedExceptions boxed = {.ctx = ctx, .thread = PyThreadState_Get(), .next = state->boxed};
    state->boxed = &boxed;
    PyObject *object = py_box(state, &spec->artifact->result, result);
    BoxedExceptions **at = &state->boxed;
    while (*at != &boxed)
        at = &(*at)->next;
    *at = boxed.next;
    Py_XDECREF(boxed.made);
    return object;
}

static PyObject *box_held(Dispatcher *d, Spec *spec, const CallContext *ctx, const char *result) {
    py_spec_hold(spec);
    PyObject *boxed = box_result(d, spec, ctx, result);
    py_spec_release(spec);
    return boxed;
}

/* The items are numbers, so that nothing runs when those of before go. NULL: out of memory. */
__attribute__((always_inline)) static inline PyObject *
fill_with_numbers(PyObject *tuple, const ValueLayout *layout, const char *value) {
    for (int32_t i = 0; tuple && i < layout->nitems; i++) {
        const char *at = value + layout->items[i].offset;
        bool real = layout->items[i].kind == TY_f64 || layout->items[i].kind == TY_wflt;
        PyObject *item =
            real ? PyFloat_FromDouble(*(double *)at) : PyLong_FromLongLong(*(int64_t *)at);
        PyObject *before = PyTuple_GET_ITEM(tuple, i);
        if (item) {
            PyTuple_SET_ITEM(tuple, i, item);
            Py_XDECREF(before);
        } else {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* Making a tuple may start the collector, which runs code of others. */
__attribute__((noinline)) static PyObject *new_tuple_of_numbers(Spec *spec, const char *value) {
    py_spec_hold(spec);
    PyObject *tuple = PyTuple_New(spec->artifact->result.nitems);
    if (tuple && PY_TUPLE_CAN_BE_REFILLED) Py_XSETREF(spec->tuple, Py_NewRef(tuple));
    tuple = fill_with_numbers(tuple, &spec->artifact->result, value);
    py_spec_release(spec);
    return tuple;
}

/* py_box of a tuple of numbers: that of the call before where nobody has it any more, as zip() does it. */
static PyObject *box_numbers(Spec *spec, const char *value) {
    if (!spec->tuple || Py_REFCNT(spec->tuple) != 1) return new_tuple_of_numbers(spec, value);
    return fill_with_numbers(Py_NewRef(spec->tuple), &spec->artifact->result, value);
}

static bool has_dropped(ModState *state) {
    return atomic_load_explicit(&state->dropped, memory_order_relaxed) != NULL;
}

/* Behind a call; NULL: an exception is set, which stays. */
static PyObject *drop_owned(ModState *state, PyObject *result) {
    if (!has_dropped(state)) return result;
    PyObject *raised = result ? NULL : PyErr_GetRaisedException();
    py_drop_owned(state);
    if (raised) PyErr_SetRaisedException(raised);
    return result;
}

/* The end of a call that failed, that has dropped Python objects, or that gave the GIL away and so `held` its specialisation. */
__attribute__((noinline)) static PyObject *finish(Dispatcher *d, Spec *spec, CallContext *ctx,
                                                  int status, const char *result, bool held) {
    PyObject *boxed = NULL;
    bool drops = spec->drops || ctx->taken;
    if (!held) py_spec_hold(spec);
    if (status)
        py_raise_call(d->core.state, spec->artifact, ctx, status,
                      PyFunction_GetGlobals(d->core.py_func));
    else
        boxed = box_result(d, spec, ctx, result);
    Py_XDECREF((PyObject *)ctx->taken);
    context_end(ctx);
    py_spec_release(spec);
    return drops ? drop_owned(d->core.state, boxed) : boxed;
}

/* `frame`: of the same call. */
__attribute__((always_inline)) static inline void open_context(CallContext *ctx, CallFrame *frame) {
    ctx->exception = ctx->site = ctx->suppressed = ctx->ncallers = 0;
    ctx->id = ctx->context = ctx->cause = 0;
    ctx->budget = 0;
    ctx->poll = py_poll;
    ctx->user = frame;
    ctx->parallel = &rt_parallel;
    ctx->pending = &pending_handler;
    ctx->taken = NULL;
    ctx->kept = NULL;
    ctx->texts = NULL;
    ctx->stack_limit = py_stack_limit();
}

int py_run_resumed(PyObject *dispatcher, Spec *spec, char *memory) {
    Dispatcher *d = (Dispatcher *)dispatcher;
    ModState *state = d->core.state;
    CallFrame frame = {.state = state, .spec = spec, .exclusive = spec->shared}; /* it is held */
    CallContext ctx;
    if (spec->shared && !enter_exclusive(state, spec)) return CALL_PENDING;
    open_context(&ctx, &frame);
    int status = spec->entry(&ctx, NULL, memory);
    state->exclusive -= frame.exclusive;
    if (status)
        py_raise_call(state, spec->artifact, &ctx, status, PyFunction_GetGlobals(d->core.py_func));
    Py_XDECREF((PyObject *)ctx.taken);
    context_end(&ctx);
    return status;
}

/* What most calls give, without code of others; *plain: it is of these. */
__attribute__((always_inline)) static inline PyObject *box_plain(Spec *spec, const char *result,
                                                                 bool *plain) {
    *plain = true;
    switch (spec->artifact->result.kind) {
    case TY_i64: return PyLong_FromLongLong(*(const int64_t *)result);
    case TY_f64: return PyFloat_FromDouble(*(const double *)result);
    case TY_bool: return PyBool_FromLong(*(const uint8_t *)result & 1);
    case TY_none: return Py_NewRef(spec->nothing);
    default: break;
    }
    *plain = spec->numbers;
    return spec->numbers ? box_numbers(spec, result) : NULL;
}

/* Code that needs no context does not end early and gives no turn to anybody: no more than the call is left. */
__attribute__((always_inline)) static inline PyObject *
run_alone(Dispatcher *d, Spec *spec, bool shared, void **args, char *result) {
    ModState *state = d->core.state;
    bool plain, drops = spec->drops;
    if (shared && !enter_exclusive(state, spec)) return NULL;
    spec->entry(NULL, args, result);
    state->exclusive -= shared;
    PyObject *boxed = box_plain(spec, result, &plain);
    return drops ? drop_owned(state, boxed) : boxed;
}

__attribute__((always_inline)) static inline PyObject *run(Dispatcher *d, Spec *spec,
                                                           char *memory) {
    if (spec->alone && !d->nogil)
        return run_alone(d, spec, spec->shared, (void **)memory, memory + spec->result_offset);
    ModState *state = d->core.state;
    CallFrame frame = {.state = state, .spec = spec, .runs = spec, .exclusive = spec->shared};
    CallContext ctx;
    if (QN_UNLIKELY(spec->shared) && !enter_exclusive(d->core.state, spec)) return NULL;
    open_context(&ctx, &frame);
    char *result = memory + spec->result_offset;
    int status = d->nogil && !frame.exclusive
                     ? enter_nogil(spec, &ctx, &frame, (void **)memory, result)
                     : spec->entry(&ctx, (void **)memory, result);
    d->core.state->exclusive -= frame.exclusive;
    /* where an exception was taken, a poll came before */
    bool drops = spec->drops;
    if (QN_UNLIKELY(status | (drops && has_dropped(d->core.state)) | (frame.runs != spec) |
                    (ctx.kept != NULL) | (ctx.texts != NULL)))
        return finish(d, spec, &ctx, status, result, frame.runs != spec);
    bool plain;
    PyObject *boxed = box_plain(spec, result, &plain);
    if (QN_LIKELY(plain)) return boxed;
    boxed = box_held(d, spec, &ctx, result);
    return drops ? drop_owned(d->core.state, boxed) : boxed;
}

/* A call with lists among its arguments. *done as py_unbox; NULL without an exception where it is 0. */
__attribute__((noinline)) static PyObject *run_with_objects(Dispatcher *d, Spec *spec,
                                                            PyObject *const *args, char *memory,
                                                            bool loose, int *done) {
    py_spec_hold(spec);
    py_clear_objects(spec, memory);
    *done = loose ? py_unbox_loose(spec, args, memory) : py_unbox(spec, args, memory);
    PyObject *keep = *done > 0 ? py_keep_objects(spec, args) : NULL, *inner = NULL;
    if (*done > 0 && !(keep && py_unify_objects(spec, memory, &inner))) {
        Py_CLEAR(keep);
        *done = -1;
    }
    PyObject *result = keep ? run(d, spec, memory) : NULL;
    PyObject *raised = result ? NULL : PyErr_GetRaisedException();
    if (!py_return_objects(d->core.state, spec, memory, inner, *done > 0)) {
        Py_CLEAR(result);
        Py_CLEAR(raised); /* of the two the last one counts */
    } else if (raised) {
        PyErr_SetRaisedException(raised);
    }
    Py_XDECREF(keep);
    Py_XDECREF(inner);
    py_spec_release(spec);
    return result;
}

/* *done as py_unbox gives it. */
static PyObject *unbox_and_run_locked(Dispatcher *d, Spec *spec, PyObject *const *args,
                                      char *memory, bool loose, int *done) {
    if (spec->objects) return run_with_objects(d, spec, args, memory, loose, done);
    *done = loose ? py_unbox_loose(spec, args, memory) : py_unbox(spec, args, memory);
    return *done > 0 ? run(d, spec, memory) : NULL;
}

static PyObject *unbox_and_run(Dispatcher *d, Spec *spec, PyObject *const *args, char *memory,
                               bool loose, int *done) {
    if (QN_LIKELY(!spec->random)) return unbox_and_run_locked(d, spec, args, memory, loose, done);
    py_spec_hold(spec); /* who waits for a lock gives the GIL away */
    PyObject *locks = py_lock_random(spec, args), *result = NULL;
    *done = -1;
    if (locks) {
        result = unbox_and_run_locked(d, spec, args, memory, loose, done);
        py_unlock_random(locks);
    }
    py_spec_release(spec);
    return result;
}

static PyObject *run_loose(Dispatcher *d, Spec *spec, PyObject *const *args) {
    _Alignas(16) char small[FRAME_STACK];
    char *memory = spec->frame_size <= FRAME_STACK ? small : PyMem_Malloc((size_t)spec->frame_size);
    if (!memory) return PyErr_NoMemory();
    int done;
    PyObject *result = unbox_and_run(d, spec, args, memory, true, &done);
    if (done == 0)
        PyErr_SetString(PyExc_TypeError, "an argument changed its type while it was being read");
    if (memory != small) PyMem_Free(memory);
    return result;
}

/* -- finding or making the specialisation ------------------------------------------------------------------ */

static bool falls_back(const Dispatcher *d) {
    return d->fallback || py_records(d->core.state);
}

/* @jit after a refusal: one warning with the place and the reason. -1 when it became an exception. */
static int warn_fallback(Dispatcher *d) {
    if (py_forget_refusal(d->core.state)) return 0;
    PyObject *refusal = PyErr_GetRaisedException();
    int status = 0;
    if (!atomic_exchange(&d->warned, true)) {
        status = py_warn(
            d->core.state, "NumbaWarning",
            PyUnicode_FromFormat("'%U' could not be compiled and runs as a Python function: %S",
                                 d->core.name, refusal));
    }
    Py_DECREF(refusal);
    return status;
}

/* Is the exception that is set a TypingError? (No attribute may be read while one is set.) */
static bool is_refusal(ModState *state) {
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *typing = py_error_class(state, "TypingError");
    bool matches = typing && PyErr_GivenExceptionMatches(raised, typing);
    Py_XDECREF(typing);
    PyErr_SetRaisedException(raised);
    return matches;
}

/* Instead of the exception that is set. */
static void raise_failure(Dispatcher *d) {
    PyErr_Clear();
    PyException_SetTraceback(d->failure, Py_None); /* of the last time */
    PyErr_SetObject((PyObject *)Py_TYPE(d->failure), d->failure);
}

static Spec *make_spec(Dispatcher *d, const TypeKey *keys, int32_t n) {
    JitCore *core = &d->core;
    if (!core->can_compile) {
        Spec *matched = core->patterns ? py_core_match(core, keys, n) : NULL;
        if (matched || PyErr_Occurred()) return matched;
        Spec *declared = py_core_convert(core, keys, n);
        if (!declared && d->failure) raise_failure(d);
        return declared;
    }
    CompileRequest q = {.keys = keys, .nkeys = n, .options = core->options};
    q.options.infer.literals = true;
    Spec *spec = py_core_compile(core, &q);
    if (q.literals & ~core->literals) { /* call_slow comes again with their values */
        core->literals |= q.literals;
        return NULL;
    }
    if (spec || !q.refused || !falls_back(d)) return spec;
    return warn_fallback(d) < 0 ? NULL : py_core_python_spec(core, keys, n);
}

static Spec *find_or_make(Dispatcher *d, const TypeKey *keys, int32_t n) {
    JitCore *core = &d->core;
    Spec *spec = py_core_find(core, keys, n);
    if (spec) return spec;
    if (!py_core_lock(core)) return NULL;
    spec = py_core_find(core, keys, n); /* made by another thread meanwhile? */
    if (!spec && (spec = make_spec(d, keys, n))) py_core_add(core, spec);
    py_core_unlock(core);
    return spec;
}

static PyObject *call_python(Dispatcher *d, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames) {
    return PyObject_Vectorcall(d->core.py_func, args, nargsf, kwnames);
}

/* A function with a **keywords parameter: the compiler says what it thinks of it. */
static PyObject *call_with_keywords(Dispatcher *d, PyObject *const *args, size_t nargsf,
                                    PyObject *kwnames) {
    if (!falls_back(d) || !d->warned) {
        if (!py_core_lock(&d->core)) return NULL;
        CompileRequest q = {.options = d->core.options};
        Spec *spec = py_core_compile(&d->core, &q);
        py_core_unlock(&d->core);
        py_spec_free(spec); /* always refused */
        if (!PyErr_Occurred() || !falls_back(d) || warn_fallback(d) < 0) return NULL;
    }
    return call_python(d, args, nargsf, kwnames);
}

/* The specialisation for arguments. Where it turns out that their values are to be known, it is asked for once more. */
static Spec *spec_for(Dispatcher *d, PyObject *const *args, TypeKey *keys) {
    uint64_t literals = d->core.literals;
    Spec *spec = find_or_make(d, keys, d->core.nparams);
    if (spec || literals == d->core.literals) return spec;
    PyErr_Clear();
    return py_core_keys(&d->core, args, d->core.nparams, keys) ? spec_for(d, args, keys) : NULL;
}

static PyObject *call_slow(Dispatcher *d, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    JitCore *core = &d->core;
    PyObject *result = NULL;
    Bound bound;
    if (py_records(core->state) &&
        !py_record_call(core->state, (PyObject *)d, args, PyVectorcall_NARGS(nargsf), kwnames))
        return NULL;
    if (core->unsupported_kwargs) return call_with_keywords(d, args, nargsf, kwnames);
    if (!py_core_bind(core, args, PyVectorcall_NARGS(nargsf), kwnames, &bound)) return NULL;
    if (!py_bound_buffers(&bound, core->nparams)) {
        /* memory of what NumPy has no dtype for: its exception */
    } else if (!py_core_keys(core, bound.args, core->nparams, bound.keys)) {
        if (falls_back(d) && is_refusal(d->core.state) && warn_fallback(d) == 0)
            result = call_python(d, args, nargsf, kwnames);
    } else {
        Spec *spec = spec_for(d, bound.args, bound.keys);
        if (spec && spec->entry) {
            atomic_store_explicit(&core->last, spec, memory_order_release);
            result = run_loose(d, spec, bound.args);
        } else if (spec) {
            result = call_python(d, args, nargsf, kwnames);
        }
    }
    py_bound_release(&bound);
    return result;
}

/* The fast path of calls with many arguments. Not inlined: its frame would be every call's. */
__attribute__((noinline)) static PyObject *call_large(Dispatcher *d, Spec *spec,
                                                      PyObject *const *args, size_t nargsf) {
    _Alignas(16) char large[FRAME_LARGE];
    char *memory = spec->frame_size <= FRAME_LARGE ? large : PyMem_Malloc((size_t)spec->frame_size);
    if (!memory) return PyErr_NoMemory();
    int done;
    PyObject *result = unbox_and_run(d, spec, args, memory, false, &done);
    if (memory != large) PyMem_Free(memory);
    return done == 0 ? call_slow(d, args, nargsf, NULL) : result;
}

/* The fast path of calls with keywords, defaults or *args. Not inlined: its frame would be every call's. */
__attribute__((noinline)) static PyObject *
call_placed(Dispatcher *d, Spec *spec, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    enum { MOST = 16 };
    _Alignas(16) char memory[FRAME_STACK];
    JitCore *core = &d->core;
    PyObject *placed[MOST], *defaults = NULL, *result = NULL;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), taken = QN_MIN(n, core->npositional);
    int done = 0;
    if (spec->placed && spec->nargs <= MOST && !core->unsupported_kwargs &&
        py_core_place(core, args, n, kwnames, placed, &defaults))
        done = core->varargs ? py_unbox_with_rest(spec, placed, args + taken, n - taken, memory)
                             : py_unbox(spec, placed, memory);
    if (done > 0) result = run(d, spec, memory);
    Py_XDECREF(defaults);
    if (done == 0 && !PyErr_Occurred()) return call_slow(d, args, nargsf, kwnames);
    return result;
}

static PyObject *dispatcher_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                       PyObject *kwnames) {
    Dispatcher *d = (Dispatcher *)self;
    Spec *spec = atomic_load_explicit(&d->core.last, memory_order_acquire);
    if (QN_LIKELY(spec && !kwnames && spec->on_stack &&
                  PyVectorcall_NARGS(nargsf) == spec->nargs)) {
        _Alignas(16) char memory[FRAME_STACK];
        int done = py_unbox(spec, args, memory);
        if (QN_LIKELY(done > 0)) return run(d, spec, memory);
        if (done < 0) return NULL;
    } else if (spec && !kwnames && spec->direct && PyVectorcall_NARGS(nargsf) == spec->nargs) {
        return call_large(d, spec, args, nargsf);
    } else if (spec) {
        return call_placed(d, spec, args, nargsf, kwnames);
    }
    return call_slow(d, args, nargsf, kwnames);
}

/* Not inlined: its frame would be every getter's. */
__attribute__((noinline)) static PyObject *call_getter(PyObject *self, PyObject *instance) {
    Dispatcher *d = (Dispatcher *)self;
    SharedObject *s = (SharedObject *)instance;
    Spec *spec = atomic_load_explicit(&d->core.last, memory_order_acquire);
    PyObject *args[] = {NULL, instance}, *value;
    Py_INCREF(self); /* the property may let go of it meanwhile */
    if (QN_LIKELY(spec && spec->getter && spec->plans[0].key == s->key && !d->nogil)) {
        _Alignas(16) char result[GETTER_RESULT];
        void *objects[] = {&s->object};
        value = run_alone(d, spec, true, objects, result);
    } else {
        value = dispatcher_vectorcall(self, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    }
    Py_DECREF(self);
    return value;
}

PyObject *py_call_getter(PyObject *self, PyObject *instance) {
    Dispatcher *d = (Dispatcher *)self;
    SharedObject *s = (SharedObject *)instance;
    const Spec *spec = atomic_load_explicit(&d->core.last, memory_order_acquire);
    if (QN_UNLIKELY(!spec || !spec->reader || spec->plans[0].key != s->key || d->nogil))
        return call_getter(self, instance);
    /* Nothing of Python's runs before there is the float, so nobody lets go of the function or the object, nor changes it. */
    double result;
    void *args[] = {&s->object};
    spec->entry(NULL, args, (char *)&result);
    return PyFloat_FromDouble(result);
}

/* -- life ------------------------------------------------------------------------------------------------------ */

static PyObject *dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"py_func", "options", "nogil", "fallback", "given", NULL};
    PyObject *py_func, *dict = NULL, *given = NULL;
    int nogil = 0, fallback = 0;
    CompileOptions options;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O!ppO!", names, &py_func, &PyDict_Type, &dict,
                                     &nogil, &fallback, &PyDict_Type, &given) ||
        !py_options(dict, &options))
        return NULL;
    ModState *state = py_state_of_type(type);
    Dispatcher *d = state ? (Dispatcher *)type->tp_alloc(type, 0) : NULL;
    if (!d) return NULL;
    d->vectorcall = dispatcher_vectorcall;
    d->nogil = nogil;
    d->fallback = fallback;
    options.entry = ENTRY_HOST;
    if (!py_core_init(&d->core, state, py_func, &options)) {
        Py_DECREF(d);
        return NULL;
    }
    d->numbers = Py_XNewRef(dict);
    d->given = given ? Py_NewRef(given) : PyDict_New();
    d->core.locals = dict ? Py_XNewRef(PyDict_GetItemString(dict, "locals")) : NULL;
    return (PyObject *)d;
}

static int dispatcher_traverse(PyObject *self, visitproc visit, void *arg) {
    Dispatcher *d = (Dispatcher *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(d->dict);
    Py_VISIT(d->numbers);
    Py_VISIT(d->given);
    Py_VISIT(d->failure);
    return py_core_traverse(&d->core, visit, arg);
}

/* Breaks cycles through the dictionary only: the core stays usable until the memory goes. */
static int dispatcher_clear(PyObject *self) {
    Dispatcher *d = (Dispatcher *)self;
    Py_CLEAR(d->dict);
    Py_CLEAR(d->failure);
    return 0;
}

static void dispatcher_dealloc(PyObject *self) {
    Dispatcher *d = (Dispatcher *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (d->weakrefs) PyObject_ClearWeakRefs(self);
    Py_CLEAR(d->dict);
    Py_CLEAR(d->numbers);
    Py_CLEAR(d->given);
    Py_CLEAR(d->failure);
    py_core_clear(&d->core);
    type->tp_free(self);
    Py_DECREF(type);
}

/* -- attributes ------------------------------------------------------------------------------------------------- */

static PyObject *get_py_func(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((Dispatcher *)self)->core.py_func);
}

/* __name__, __doc__ and the like are the function's, until they are set. */
static PyObject *get_of_function(PyObject *self, void *name) {
    Dispatcher *d = (Dispatcher *)self;
    PyObject *set = d->dict ? PyDict_GetItemString(d->dict, name) : NULL;
    return set ? Py_NewRef(set) : PyObject_GetAttrString(d->core.py_func, name);
}

static int set_own(PyObject *self, PyObject *value, void *name) {
    if (!value)
        return PyErr_Format(PyExc_TypeError, "%s cannot be deleted", (const char *)name), -1;
    PyObject *dict = PyObject_GenericGetDict(self, NULL);
    int status = dict ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(dict);
    return status;
}

static PyObject *get_options(PyObject *self, void *unused) {
    (void)unused;
    Dispatcher *d = (Dispatcher *)self;
    return d->given ? Py_NewRef(d->given) : PyDict_New();
}

static PyObject *dispatcher_cache_log(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_core_cache_log(&((Dispatcher *)self)->core);
}

static PyObject *dispatcher_enable_cache(PyObject *self, PyObject *unused) {
    (void)unused;
    ((Dispatcher *)self)->core.options.keep_object = true;
    Py_RETURN_NONE;
}

static PyObject *dispatcher_specializations(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_core_specializations(&((Dispatcher *)self)->core);
}

typedef struct
    Outcomes { /* of declared signatures: True; False, it was refused and calls run Python; or an exception */
    Dispatcher *d;
    PyObject *list;
} Outcomes;

static bool take_outcome(void *user, Spec *spec, bool refused) {
    const Outcomes *o = user;
    bool python = !spec && refused && falls_back(o->d) && warn_fallback(o->d) == 0;
    PyObject *what = spec     ? Py_NewRef(Py_True)
                     : python ? Py_NewRef(Py_False)
                              : PyErr_GetRaisedException();
    bool ok =
        PyList_Append(o->list, what) == 0 &&
        (!PyExceptionInstance_Check(what) || PyErr_GivenExceptionMatches(what, PyExc_Exception));
    if (!ok && !PyErr_Occurred()) PyErr_SetRaisedException(Py_NewRef(what)); /* Ctrl-C, say */
    Py_DECREF(what);
    return ok;
}

/* _compile(texts): all at the same time; a list of what became of each. */
static PyObject *dispatcher_compile(PyObject *self, PyObject *given) {
    Dispatcher *d = (Dispatcher *)self;
    PyObject *texts = PySequence_Tuple(given);
    Py_ssize_t n = texts ? PyTuple_GET_SIZE(texts) : 0;
    Outcomes outcomes = {d, texts ? PyList_New(0) : NULL};
    bool ok = outcomes.list && py_core_freeze(&d->core);
    if (py_records(d->core.state))
        for (Py_ssize_t i = 0; ok && i < n; i++)
            ok = py_record_call(d->core.state, self, &PyTuple_GET_ITEM(texts, i), 1, NULL);
    ok = ok && py_core_declare(&d->core, &PyTuple_GET_ITEM(texts, 0), n, take_outcome, &outcomes);
    Py_XDECREF(texts);
    if (!ok) Py_CLEAR(outcomes.list);
    return outcomes.list;
}

static PyObject *dispatcher_explain(PyObject *self, PyObject *what) {
    JitCore *core = &((Dispatcher *)self)->core;
    return py_core_explain(core, &core->options, false, what, py_arg_key);
}

/* _declare_functions(result, parameters, text): a declared signature with functions, as py_core_match has it. */
static PyObject *dispatcher_declare_functions(PyObject *self, PyObject *pattern) {
    JitCore *core = &((Dispatcher *)self)->core;
    PyObject *result, *params, *text;
    if (!PyArg_ParseTuple(pattern, "OO!U", &result, &PyTuple_Type, &params, &text)) return NULL;
    if (!core->patterns && !(core->patterns = PyList_New(0))) return NULL;
    if (PyList_Append(core->patterns, pattern) < 0) return NULL;
    Py_RETURN_NONE;
}

/* A declared signature could not be compiled: calls that find no other one raise this. */
static PyObject *dispatcher_fail_later(PyObject *self, PyObject *exception) {
    if (!PyExceptionInstance_Check(exception))
        return PyErr_SetString(PyExc_TypeError, "an exception is expected"), NULL;
    Dispatcher *d = (Dispatcher *)self;
    Py_XSETREF(d->failure, Py_NewRef(exception));
    d->core.can_compile = false;
    Py_RETURN_NONE;
}

static PyObject *dispatcher_texts(PyObject *self, PyObject *index) {
    return py_core_texts(&((Dispatcher *)self)->core, index);
}

static PyObject *dispatcher_disable_compile(PyObject *self, PyObject *args) {
    int value = 1;
    if (!PyArg_ParseTuple(args, "|p", &value)) return NULL;
    ((Dispatcher *)self)->core.can_compile = !value;
    atomic_store_explicit(&((Dispatcher *)self)->core.last, NULL, memory_order_release);
    Py_RETURN_NONE;
}

/* (the options as the compiler takes them, nogil, fallback, may compile): how it was made */
static PyObject *dispatcher_manners(PyObject *self, PyObject *unused) {
    (void)unused;
    const Dispatcher *d = (const Dispatcher *)self;
    return Py_BuildValue("(NNNN)", d->numbers ? PyDict_Copy(d->numbers) : PyDict_New(),
                         PyBool_FromLong(d->nogil), PyBool_FromLong(d->fallback),
                         PyBool_FromLong(d->core.can_compile));
}

static Spec *make_again(void *user, Spec *old) {
    Dispatcher *d = user;
    JitCore *core = &d->core;
    if (old->artifact && !py_spec_is_original(old)) return NULL; /* made when it is needed */
    CompileRequest q = {.keys = old->keys, .nkeys = old->nargs, .options = core->options};
    if (old->declared_text) q = (CompileRequest){.options = core->options};
    if (old->declared_text && !(q.signature = PyUnicode_AsUTF8(old->declared_text))) return NULL;
    Spec *spec = py_core_compile(core, &q);
    if (spec || !q.refused || !d->fallback || warn_fallback(d) < 0) return spec;
    return old->declared_text ? NULL : py_core_python_spec(core, old->keys, old->nargs);
}

static void take_options(Dispatcher *d, PyObject *numbers, const CompileOptions *options) {
    bool kept = d->core.options.keep_object;
    d->core.options = *options;
    d->core.options.entry = ENTRY_HOST;
    d->core.options.keep_object |= kept;
    Py_XSETREF(d->core.locals, Py_XNewRef(PyDict_GetItemString(numbers, "locals")));
    Py_XSETREF(d->numbers, Py_NewRef(numbers));
}

/* _recompile(options): every signature, with the globals of now. Calls that run keep the old code until they are over. */
static PyObject *dispatcher_recompile(PyObject *self, PyObject *numbers) {
    Dispatcher *d = (Dispatcher *)self;
    CompileOptions options;
    if (!PyDict_Check(numbers)) return PyErr_SetString(PyExc_TypeError, "options are a dict"), NULL;
    if (!py_options(numbers, &options) || !py_core_lock(&d->core)) return NULL;
    take_options(d, numbers, &options);
    bool ok =
        (!d->core.frozen || py_core_freeze(&d->core)) && py_core_remake(&d->core, make_again, d);
    py_core_unlock(&d->core);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Inspection is written in Python: see py_surface. */
#define surface py_surface

static PyObject *get_surface(PyObject *self, void *name) {
    return surface(self, name, NULL, NULL);
}

#define SURFACE(name)                                                                              \
    static PyObject *surface_##name(PyObject *self, PyObject *args, PyObject *kwargs) {            \
        return surface(self, #name, args, kwargs);                                                 \
    }
SURFACE(compile)
SURFACE(compile_to_ptx)
SURFACE(recompile)
SURFACE(get_metadata)
SURFACE(get_overload)
SURFACE(explain)
SURFACE(inspect_types)
SURFACE(inspect_llvm)
SURFACE(inspect_asm)
SURFACE(inspect_loops)
SURFACE(inspect_cfg)
SURFACE(inspect_disasm_cfg)
SURFACE(parallel_diagnostics)
SURFACE(enable_caching)
#undef SURFACE

static PyObject *dispatcher_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return surface(self, "reduce", NULL, NULL);
}

static PyObject *dispatcher_get(PyObject *self, PyObject *instance, PyObject *owner) {
    (void)owner;
    if (!instance || instance == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, instance);
}

static PyObject *dispatcher_repr(PyObject *self) {
    PyObject *name = PyObject_GetAttrString(((Dispatcher *)self)->core.py_func, "__qualname__");
    PyObject *text = name ? PyUnicode_FromFormat("<compiled function %U>", name) : NULL;
    Py_XDECREF(name);
    return text;
}

#define METHOD(name)                                                                               \
    { #name, (PyCFunction)(void (*)(void))surface_##name, METH_VARARGS | METH_KEYWORDS, NULL }
static PyMethodDef dispatcher_methods[] = {
    {"_specializations", dispatcher_specializations, METH_NOARGS, NULL},
    {"_cache_log", dispatcher_cache_log, METH_NOARGS, NULL},
    {"_enable_cache", dispatcher_enable_cache, METH_NOARGS, NULL},
    {"_compile", dispatcher_compile, METH_O, NULL},
    {"_declare_functions", dispatcher_declare_functions, METH_VARARGS, NULL},
    {"_fail_later", dispatcher_fail_later, METH_O, NULL},
    {"_texts", dispatcher_texts, METH_O, NULL},
    {"_manners", dispatcher_manners, METH_NOARGS, NULL},
    {"_explain", dispatcher_explain, METH_O, NULL},
    {"_recompile", dispatcher_recompile, METH_O, NULL},
    {"disable_compile", dispatcher_disable_compile, METH_VARARGS,
     "Refuse argument types that are not compiled yet."},
    METHOD(compile),
    METHOD(compile_to_ptx),
    METHOD(recompile),
    METHOD(get_metadata),
    METHOD(get_overload),
    METHOD(explain),
    METHOD(inspect_types),
    METHOD(inspect_llvm),
    METHOD(inspect_asm),
    METHOD(inspect_loops),
    METHOD(inspect_cfg),
    METHOD(inspect_disasm_cfg),
    METHOD(parallel_diagnostics),
    METHOD(enable_caching),
    {"__reduce__", dispatcher_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
#undef METHOD

static PyGetSetDef dispatcher_getset[] = {
    {"py_func", get_py_func, NULL, "The Python function.", NULL},
    {"__wrapped__", get_py_func, NULL, NULL, NULL},
    {"__name__", get_of_function, set_own, NULL, "__name__"},
    {"__qualname__", get_of_function, set_own, NULL, "__qualname__"},
    {"__doc__", get_of_function, set_own, NULL, "__doc__"},
    {"__defaults__", get_of_function, NULL, NULL, "__defaults__"},
    {"__kwdefaults__", get_of_function, NULL, NULL, "__kwdefaults__"},
    {"__annotations__", get_of_function, NULL, NULL, "__annotations__"},
    {"__annotate__", get_of_function, NULL, NULL, "__annotate__"}, /* 3.14: makes them when asked */
    {"__type_params__", get_of_function, NULL, NULL, "__type_params__"},
    {"__code__", get_of_function, NULL, NULL, "__code__"},
    {"targetoptions", get_options, NULL,
     "The options of the decorator, which recompile() reads again.", NULL},
    {"signatures", get_surface, NULL, "Argument types compiled so far.", "signatures"},
    {"nopython_signatures", get_surface, NULL, NULL, "nopython_signatures"},
    {"overloads", get_surface, NULL, NULL, "overloads"},
    {"stats", get_surface, NULL, NULL, "stats"},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *dispatcher_getattro(PyObject *self, PyObject *name) {
    return py_names_module(name) ? get_of_function(self, "__module__")
                                 : PyObject_GenericGetAttr(self, name);
}

static PyMemberDef dispatcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Dispatcher, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Dispatcher, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Dispatcher, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot dispatcher_slots[] = {
    {Py_tp_new, dispatcher_new},           {Py_tp_dealloc, dispatcher_dealloc},
    {Py_tp_traverse, dispatcher_traverse}, {Py_tp_clear, dispatcher_clear},
    {Py_tp_call, PyVectorcall_Call},       {Py_tp_descr_get, dispatcher_get},
    {Py_tp_repr, dispatcher_repr},         {Py_tp_getattro, dispatcher_getattro},
    {Py_tp_methods, dispatcher_methods},   {Py_tp_getset, dispatcher_getset},
    {Py_tp_members, dispatcher_members},   {0, NULL},
};

PyType_Spec py_dispatcher_spec = {
    .name = "quern._quern.Dispatcher",
    .basicsize = sizeof(Dispatcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = dispatcher_slots,
};

PyObject *py_function_of_dispatcher(PyObject *dispatcher) {
    return ((Dispatcher *)dispatcher)->core.py_func;
}

PyObject *py_frozen_of_dispatcher(PyObject *dispatcher) {
    const JitCore *core = &((Dispatcher *)dispatcher)->core;
    return core->can_compile ? NULL : core->frozen;
}

const CompileOptions *py_options_of_dispatcher(PyObject *dispatcher) {
    return &((Dispatcher *)dispatcher)->core.options;
}

PyObject *py_declared_of_dispatcher(PyObject *dispatcher) {
    return py_core_declared(&((Dispatcher *)dispatcher)->core);
}

PyObject *py_locals_of_dispatcher(PyObject *dispatcher) {
    return ((Dispatcher *)dispatcher)->core.locals;
}
