/* ufunc_loop.c - the loops of ufuncs: in strips with a look at signals after each, on several cores where the elements allow it. */
#include "pymodule/ufunc.h"
#include "runtime/runtime.h"
#include <fenv.h>
#include <stdalign.h>

enum { PARALLEL_FROM = 4096 };
/* Elements between two looks at the clock; a call of a loop, which NumPy may make for few, counts as some, too. */
enum { STRIP = 1 << 15, CALL_WEIGHT = 64 };

/* NumPy may or may not hold the GIL here, and does not tell. */
static int32_t poll_in_loop(CallContext *ctx) {
    UfuncData *u = ctx->user;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    uint64_t next = atomic_load_explicit(&u->next_check, memory_order_relaxed);
    if (now < next) return 0;
    atomic_store_explicit(&u->next_check, now + 50000000u, memory_order_relaxed);
    if (now > next + 1000000000u) return 0; /* the first look of an operation */
    if (PyGILState_Check()) { /* NumPy holds it: other threads get a turn, as from the interpreter */
        PyThreadState *thread = PyEval_SaveThread();
        PyEval_RestoreThread(thread);
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    int interrupted = PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    return interrupted;
}

/* What one call of a loop computes. */
typedef struct Work {
    const UfuncLoop *loop;
    char **args;
    int64_t n;
    const int64_t *steps; /* as UfuncEntry takes them */
    int64_t strip;        /* elements between two looks */
    _Atomic int flags;    /* FE_*: those of a worker's thread are not seen by NumPy */
} Work;

/* Compiled is a vector loop for elements that stand side by side, and one for any steps, in order. A number beside such arrays is
 * repeated in memory, for a piece of the arrays at a time. */
enum { REPEATED_BYTES = 8192, REPEATED_MOST = 2, REPEATED_FROM = 32 };

/* Is an operand of so many bytes apart from the results? */
static bool is_apart(const char *operand, int64_t bytes, const char *results, int64_t written) {
    return operand + bytes <= results || operand >= results + written;
}

/* May the vector loop run: do elements stand side by side, but for numbers (bit k of *numbers: operand k is one), and is what is
 * written for one read for no other? An operand may be the result itself; accumulations read the one before. */
static bool is_dense(const Work *w, char **args, int64_t n, uint32_t *numbers) {
    const UfuncLoop *loop = w->loop;
    int nin = loop->owner->nin, found = 0;
    int64_t size = loop->size[nin];
    *numbers = 0;
    if (loop->owner->generalized || w->steps[nin] != size) return false;
    for (int k = 0; k < nin; k++) {
        bool number = w->steps[k] != loop->size[k];
        bool same = !number && args[k] == args[nin] && loop->size[k] == size;
        int64_t bytes = number ? loop->size[k] : n * loop->size[k];
        if (!same && !is_apart(args[k], bytes, args[nin], n * size)) return false;
        if (!number) continue;
        if (w->steps[k] != 0 || n < REPEATED_FROM || found++ == REPEATED_MOST) return false;
        *numbers |= UINT32_C(1) << k;
    }
    return true;
}

static void repeat(char *into, const char *value, int64_t size, int64_t bytes) {
    memcpy(into, value, (size_t)size);
    for (int64_t done = size; done < bytes; done *= 2)
        memcpy(into + done, into, (size_t)QN_MIN(done, bytes - done));
}

__attribute__((noinline)) static int run_with_numbers(CallContext *ctx, const Work *w, char **args,
                                                      int64_t n, uint32_t numbers) {
    const UfuncLoop *loop = w->loop;
    alignas(64) char room[REPEATED_MOST][REPEATED_BYTES];
    char *at[MAX_UFUNC_ARGS];
    int64_t piece = INT64_MAX;
    int nargs = loop->owner->nargs, used = 0;
    for (int k = 0; k < nargs; k++)
        if (numbers >> k & 1) piece = QN_MIN(piece, REPEATED_BYTES / loop->size[k]);
    for (int k = 0; k < nargs; k++) {
        bool number = numbers >> k & 1;
        int64_t size = loop->size[k];
        at[k] = number ? room[used++] : args[k];
        if (number) repeat(at[k], args[k], size, QN_MIN(n, piece) * size);
    }
    for (int64_t done = 0; done < n; done += piece) {
        int status =
            ((UfuncEntry)loop->spec->artifact->entry)(ctx, at, QN_MIN(n - done, piece), NULL);
        if (status != CALL_OK) return status;
        for (int k = 0; k < nargs; k++)
            if (!(numbers >> k & 1)) at[k] += piece * loop->size[k];
    }
    return CALL_OK;
}

/* The loop in strips, with a poll after each. */
static int run_strips(CallContext *ctx, const Work *w, char **args, int64_t n) {
    char *at[MAX_UFUNC_ARGS];
    int nargs = w->loop->owner->nargs;
    UfuncEntry entry = (UfuncEntry)w->loop->spec->artifact->entry;
    memcpy(at, args, sizeof *at * (size_t)nargs);
    uint32_t numbers;
    const int64_t *steps = is_dense(w, args, n, &numbers) ? NULL : w->steps;
    for (int64_t done = 0; done < n; done += w->strip) {
        int64_t count = QN_MIN(n - done, w->strip);
        int status = numbers && !steps ? run_with_numbers(ctx, w, at, count, numbers)
                                       : entry(ctx, at, count, steps);
        if (status != CALL_OK) return status;
        if (n - done <= w->strip) break;
        if (ctx->poll(ctx)) return CALL_PENDING;
        for (int i = 0; i < nargs; i++)
            at[i] += w->strip * w->steps[i];
    }
    return CALL_OK;
}

static int run_range(CallContext *ctx, int64_t first, int64_t last, void *user) {
    Work *w = user;
    char *args[MAX_UFUNC_ARGS];
    for (int i = 0; i < w->loop->owner->nargs; i++)
        args[i] = w->args[i] + first * w->steps[i];
    feclearexcept(FE_ALL_EXCEPT);
    int status = run_strips(ctx, w, args, last - first);
    atomic_fetch_or_explicit(&w->flags, fetestexcept(FE_ALL_EXCEPT), memory_order_relaxed);
    return status;
}

/* Bytes of an operand, from the place of its first element: of one element, and of all. */
typedef struct Reach {
    int64_t low, high;
} Reach;

static Reach over(Reach one, int64_t step, int64_t n) {
    int64_t last = step * (n - 1);
    return (Reach){one.low + QN_MIN(last, 0), one.high + QN_MAX(last, 0)};
}

/* Elements may be computed in any order: what is written for one is read and written for no other. Reductions
 * and accumulations fail this, since their output is also an input. */
static bool independent(const Work *w, uint32_t written, const Reach *one) {
    int nargs = w->loop->owner->nargs;
    for (int o = 0; o < nargs; o++) {
        if (!(written >> o & 1)) continue;
        int64_t step = w->steps[o];
        if (llabs(step) < one[o].high - one[o].low) return false;
        Reach all = over(one[o], step, w->n);
        for (int i = 0; i < nargs; i++) {
            if (i == o || (w->args[i] == w->args[o] && w->steps[i] == step &&
                           one[i].low >= one[o].low && one[i].high <= one[o].high))
                continue;
            Reach other = over(one[i], w->steps[i], w->n);
            if (w->args[i] + other.low < w->args[o] + all.high &&
                w->args[o] + all.low < w->args[i] + other.high)
                return false;
        }
    }
    return true;
}

static void raise_in_loop(UfuncData *u, const Spec *spec, const CallContext *ctx, int status) {
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!PyErr_Occurred()) /* the first one stays */
        py_raise_call(u->core.state, spec->artifact, ctx, status,
                      PyFunction_GetGlobals(u->core.py_func));
    PyGILState_Release(gil);
}

/* NumPy calls the loop many times for arrays of several axes, and goes on when one call has raised. Its calls
 * count together; after an exception they do nothing, which only the thread that raised may ask itself. */
static bool given_up(UfuncData *u, CallContext *ctx, int64_t n) {
    if (QN_UNLIKELY(atomic_load_explicit(&u->raised, memory_order_relaxed)) && py_thread_raised())
        return true;
    int64_t left = atomic_load_explicit(&u->budget, memory_order_relaxed) - n - CALL_WEIGHT;
    atomic_store_explicit(&u->budget, left > 0 ? left : STRIP, memory_order_relaxed);
    return left <= 0 && poll_in_loop(ctx);
}

static void run_work(Work *w, bool parallel) {
    UfuncData *u = w->loop->owner;
    CallContext ctx = {.poll = poll_in_loop, .user = u, .stack_limit = py_stack_limit()};
    int64_t weight = STRIP / w->strip;
    int status;
    if (given_up(u, &ctx, weight == 1 ? w->n : w->n * weight)) {
        atomic_store_explicit(&u->raised, true, memory_order_relaxed);
        return;
    }
    if (parallel) {
        w->flags = fetestexcept(FE_ALL_EXCEPT);
        status = rt_parallel_for(&ctx, w->n, 0, run_range, w);
        feraiseexcept(atomic_load(&w->flags));
    } else {
        status = run_strips(&ctx, w, w->args, w->n);
    }
    if (QN_UNLIKELY(status)) {
        atomic_store_explicit(&u->raised, true, memory_order_relaxed);
        raise_in_loop(u, w->loop->spec, &ctx, status);
    }
    context_end(&ctx);
}

/* The sizes of numbers are that of the largest: a little more than there is does no harm. */
static bool numbers_independent(const Work *w) {
    Reach one[MAX_UFUNC_ARGS];
    const UfuncData *u = w->loop->owner;
    for (int i = 0; i < u->nargs; i++)
        one[i] = (Reach){0, i < u->nin ? 16 : w->loop->spec->artifact->result.size};
    return independent(w, UINT32_C(1) << u->nin, one);
}

void py_run_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    const UfuncLoop *loop = data;
    Work w = {loop, args, dimensions[0], (const int64_t *)steps, STRIP, 0};
    run_work(&w, loop->owner->parallel && w.n >= PARALLEL_FROM && numbers_independent(&w));
}

/* -- generalised ufuncs ------------------------------------------------------------------------------------- */

/* What the code wants to know about the arrays, behind the steps of the operands; the reach of each operand. Returns the
 * elements of the largest array. NumPy has made copies of arrays that are not aligned; a stride that is no multiple of the
 * alignment is that of an axis of one element. */
static int64_t read_core(const UfuncLoop *loop, const npy_intp *dimensions, const npy_intp *steps,
                         int64_t *table, Reach *one) {
    const UfuncData *u = loop->owner;
    const CoreAxes *axes = &u->axes;
    const npy_intp *strides = steps + u->nargs;
    const int16_t *length = axes->length;
    int64_t most = 1;
    int64_t *at = table + u->nargs;
    for (int k = 0; k < u->nargs; k++) {
        int ndim = axes->ndim[k];
        int64_t size = loop->size[k], elements = 1;
        one[k] = (Reach){0, size};
        table[k] = steps[k];
        for (int d = 0; d < ndim; d++) {
            at[d] = dimensions[1 + length[d]];
            at[ndim + d] = strides[d] / loop->align[k];
            one[k] = over(one[k], strides[d], at[d]);
            elements *= at[d];
        }
        if (!ndim && loop->arrays >> k & 1) at[0] = at[1] = 1, at += 2;
        at += 2 * ndim;
        strides += ndim;
        length += ndim;
        most = QN_MAX(most, elements);
    }
    return most;
}

void py_run_core_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    const UfuncLoop *loop = data;
    const UfuncData *u = loop->owner;
    int64_t table[3 * MAX_UFUNC_ARGS + 2 * MAX_CORE_AXES];
    Reach one[MAX_UFUNC_ARGS];
    int64_t elements = read_core(loop, dimensions, steps, table, one);
    Work w = {loop, args, dimensions[0], table, QN_MAX(STRIP / elements, 1), 0};
    uint32_t written = u->written;
    for (int i = 0; i < u->nin; i++)
        if (loop->spec->artifact->usage[i] & ARG_WRITTEN) written |= UINT32_C(1) << i;
    bool worth = u->parallel && w.n > 1 && w.n >= PARALLEL_FROM / QN_MIN(elements, PARALLEL_FROM);
    run_work(&w, worth && independent(&w, written, one));
}

/* -- loops without code -------------------------------------------------------------------------------------- */

void py_run_refusal(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    (void)args, (void)steps;
    const UfuncLoop *loop = data;
    if (dimensions[0] == 0) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_Format(PyExc_TypeError, "ufunc '%s' cannot be compiled for long double arguments",
                 loop->owner->name);
    PyGILState_Release(gil);
}

/* Objects in; the result is converted to the type of the loop. */
void py_run_python(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    const UfuncLoop *loop = data;
    UfuncData *u = loop->owner;
    PyArray_Descr *descr = PyArray_DescrFromType(loop_types(u, (int)(loop - u->loops))[u->nin]);
    for (npy_intp k = 0; descr && k < dimensions[0] && !PyErr_Occurred(); k++) {
        PyObject *values[MAX_UFUNC_ARGS];
        for (int i = 0; i < u->nin; i++) {
            PyObject *value = *(PyObject **)(args[i] + k * steps[i]);
            values[i] = value ? value : Py_None;
        }
        PyObject *result = PyObject_Vectorcall(u->core.py_func, values, (size_t)u->nin, NULL);
        if (result)
            PyDataType_GetArrFuncs(descr)->setitem(result, args[u->nin] + k * steps[u->nin], NULL);
        Py_XDECREF(result);
    }
    Py_XDECREF(descr);
}
