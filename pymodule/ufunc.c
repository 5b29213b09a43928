/* ufunc.c - @vectorize on the CPU: a real numpy.ufunc whose loops are compiled when first needed.
 *
 * The route that works from NumPy 1.25 to 2.x: PyUFunc_FromFuncAndData with loop tables that have room to
 * grow, and a type_resolver that compiles a loop for the types at hand, appends it and raises ntypes.
 * NumPy asks the resolver only when there is at least one loop, hence the seed: long double, which
 * refuses. Object and tables belong to a UfuncData, which the ufunc keeps in its `obj` field.
 *
 * Our ufuncs are of a subtype of numpy.ufunc that adds attributes and no memory. NumPy does not let heap
 * types derive from ufunc, so it is a static type in all but storage: its basic size is read from NumPy
 * when the module starts, and it is never freed. */
#include "pymodule/dispatch.h"
#include "runtime/runtime.h"
#include <fenv.h>

enum { MAX_LOOPS = 256, MAX_UFUNC_ARGS = 32, PARALLEL_FROM = 4096 };
/* Elements between two looks at the clock; a call of a loop, which NumPy may make for few, counts as some, too. */
enum { STRIP = 1 << 15, CALL_WEIGHT = 64 };

typedef struct UfuncLoop {
    struct UfuncData *owner; /* borrowed: the tables are its */
    Spec *spec;
} UfuncLoop;

typedef struct UfuncData {
    PyObject_HEAD JitCore core;
    PyObject *weakrefs;
    int nin;
    bool parallel, seeded, dynamic;
    /* Signals, shared by all threads, so that races only move a look at the clock. */
    _Atomic uint64_t next_check; /* ns of the monotonic clock */
    _Atomic int64_t budget;      /* elements before the next look */
    _Atomic bool raised;         /* a loop has, at some time */
    atomic_int nloops;           /* with the seed; raised when the loop's row is complete */
    char *name, *doc;
    char *types; /* MAX_LOOPS * (nin + 1) */
    PyUFuncGenericFunction functions[MAX_LOOPS];
    void *data[MAX_LOOPS];
    UfuncLoop loops[MAX_LOOPS];
} UfuncData;

static UfuncData *data_of(PyObject *ufunc) {
    return (UfuncData *)((PyUFuncObject *)ufunc)->obj;
}

/* -- loops ---------------------------------------------------------------------------------------------- */

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
    PyGILState_STATE gil = PyGILState_Ensure();
    int interrupted = PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    return interrupted;
}

/* The loop in strips, with a poll after each. */
static int run_strips(CallContext *ctx, UfuncEntry entry, char **args, int nargs, int64_t n,
                      const int64_t *steps) {
    char *at[MAX_UFUNC_ARGS];
    memcpy(at, args, sizeof *at * (size_t)nargs);
    for (int64_t done = 0; done < n; done += STRIP) {
        int status = entry(ctx, at, QN_MIN(n - done, STRIP), steps);
        if (status != CALL_OK) return status;
        if (n - done <= STRIP) break;
        if (ctx->poll(ctx)) return CALL_PENDING;
        for (int i = 0; i < nargs; i++)
            at[i] += STRIP * steps[i];
    }
    return CALL_OK;
}

typedef struct Range { /* of a parallel loop */
    _Atomic int flags; /* FE_*: those of a worker's thread are not seen by NumPy */
    UfuncEntry entry;
    char **args;
    const int64_t *steps;
    int nargs;
} Range;

static int run_range(CallContext *ctx, int64_t first, int64_t last, void *user) {
    Range *r = user;
    char *args[MAX_UFUNC_ARGS];
    for (int i = 0; i < r->nargs; i++)
        args[i] = r->args[i] + first * r->steps[i];
    feclearexcept(FE_ALL_EXCEPT);
    int status = run_strips(ctx, r->entry, args, r->nargs, last - first, r->steps);
    atomic_fetch_or_explicit(&r->flags, fetestexcept(FE_ALL_EXCEPT), memory_order_relaxed);
    return status;
}

/* Elements may be computed in any order: the output is no input of another element. Reductions and
 * accumulations fail this, since their output is also an input. */
static bool independent(char *const *args, const int64_t *steps, int nin, int64_t n) {
    const char *out = args[nin];
    int64_t span = steps[nin] * (n - 1);
    if (steps[nin] == 0) return false;
    const char *low = QN_MIN(out, out + span), *high = QN_MAX(out, out + span) + 16;
    for (int i = 0; i < nin; i++) {
        if (args[i] == out && steps[i] == steps[nin]) continue;
        int64_t reach = steps[i] * (n - 1);
        const char *from = QN_MIN(args[i], args[i] + reach),
                   *to = QN_MAX(args[i], args[i] + reach) + 16;
        if (from < high && low < to) return false;
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

static void run_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    const UfuncLoop *loop = data;
    UfuncData *u = loop->owner;
    CallContext ctx = {.poll = poll_in_loop, .user = u, .stack_limit = py_stack_limit()};
    UfuncEntry entry = (UfuncEntry)loop->spec->artifact->entry;
    const int64_t *wide_steps = (const int64_t *)steps;
    int64_t n = dimensions[0];
    int status;
    if (given_up(u, &ctx, n)) {
        atomic_store_explicit(&u->raised, true, memory_order_relaxed);
        return;
    }
    if (u->parallel && n >= PARALLEL_FROM && independent(args, wide_steps, u->nin, n)) {
        Range range = {fetestexcept(FE_ALL_EXCEPT), entry, args, wide_steps, u->nin + 1};
        status = rt_parallel_for(&ctx, n, 0, run_range, &range);
        feraiseexcept(atomic_load(&range.flags));
    } else {
        status = run_strips(&ctx, entry, args, u->nin + 1, n, wide_steps);
    }
    if (QN_LIKELY(!status)) return;
    atomic_store_explicit(&u->raised, true, memory_order_relaxed);
    raise_in_loop(u, loop->spec, &ctx, status);
}

static void run_seed(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    (void)args, (void)steps;
    const UfuncLoop *loop = data;
    if (dimensions[0] == 0) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_Format(PyExc_TypeError, "ufunc '%s' cannot be compiled for long double arguments",
                 loop->owner->name);
    PyGILState_Release(gil);
}

/* Enters a loop; `spec` now belongs to the core. Under the core's lock. */
static int append_loop(UfuncData *u, PyUFuncObject *ufunc, Spec *spec, bool known) {
    TypeKind result = (TypeKind)spec->artifact->result.kind;
    if (u->nloops == MAX_LOOPS || result < TY_bool || result > TY_c128) {
        PyErr_Format(PyExc_TypeError,
                     u->nloops == MAX_LOOPS ? "ufunc '%s' has too many type combinations"
                                            : "ufunc '%s' does not return a number",
                     u->name);
        if (!known) py_spec_free(spec);
        return -1;
    }
    int at = u->nloops;
    char *types = u->types + at * (u->nin + 1);
    for (int i = 0; i < u->nin; i++)
        types[i] = (char)py_typenum_of_kind(type_strong_kind(key_scalar_kind(spec->keys[i])));
    types[u->nin] = (char)py_typenum_of_kind(result);
    u->loops[at] = (UfuncLoop){u, spec};
    u->data[at] = &u->loops[at];
    u->functions[at] = run_loop;
    u->nloops = at + 1;
    if (!known) py_core_add(&u->core, spec);
    if (ufunc) ufunc->ntypes = at + 1;
    return at;
}

/* -- choosing a loop ---------------------------------------------------------------------------------------- */

typedef struct Input {
    PyArray_Descr *descr; /* borrowed */
    TypeClass weak;       /* class of a Python number; CLASS_NONE: strong */
    bool asked;           /* by dtype= or signature= */
} Input;

static Input read_input(PyArrayObject *operand, PyObject *asked) {
    if (asked && PyArray_DescrCheck(asked))
        return (Input){(PyArray_Descr *)asked, CLASS_NONE, true};
    Input in = {PyArray_DESCR(operand), CLASS_NONE, false};
    int flags = PyArray_FLAGS(operand);
    if (flags & QN_WAS_INT)
        in.weak = CLASS_SINT;
    else if (flags & QN_WAS_FLOAT)
        in.weak = CLASS_FLT;
    else if (flags & QN_WAS_COMPLEX)
        in.weak = CLASS_CPX;
    return in;
}

static int kind_rank(int typenum) {
    if (PyTypeNum_ISCOMPLEX(typenum)) return CLASS_CPX;
    if (PyTypeNum_ISFLOAT(typenum)) return CLASS_FLT;
    return PyTypeNum_ISINTEGER(typenum) ? CLASS_SINT : CLASS_BOOL;
}

static bool input_fits(Input in, int typenum, NPY_CASTING casting) {
    if (in.weak != CLASS_NONE) return kind_rank(typenum) >= (int)in.weak;
    PyArray_Descr *to = PyArray_DescrFromType(typenum);
    bool fits = to && PyArray_CanCastTypeTo(in.descr, to, casting);
    Py_XDECREF(to);
    return fits;
}

/* The first declared loop whose inputs can be cast safely, or with dtype= within their kind; -1: none. */
static int find_safe(UfuncData *u, const Input *inputs, int out_typenum) {
    NPY_CASTING casting = out_typenum < 0 ? NPY_SAFE_CASTING : NPY_SAME_KIND_CASTING;
    for (int l = u->seeded; l < u->nloops; l++) {
        const char *types = u->types + l * (u->nin + 1);
        bool fits = out_typenum < 0 || types[u->nin] == out_typenum;
        for (int i = 0; fits && i < u->nin; i++)
            fits = input_fits(inputs[i], types[i], casting);
        if (fits) return l;
    }
    return -1;
}

/* The common type of the strong inputs: a new reference, *common is NULL when all are weak. false: exception. */
static bool promote_strong(const Input *inputs, int n, PyArray_Descr **common) {
    *common = NULL;
    for (int i = 0; i < n; i++) {
        if (inputs[i].weak != CLASS_NONE) continue;
        PyArray_Descr *next = *common ? PyArray_PromoteTypes(*common, inputs[i].descr)
                                      : (PyArray_Descr *)Py_NewRef((PyObject *)inputs[i].descr);
        Py_XDECREF(*common);
        if (!(*common = next)) return false;
    }
    return true;
}

/* Weak numbers take the type of the strongest strong operand of at least their kind (DESIGN 4). */
static bool exact_keys(UfuncData *u, const Input *inputs, TypeKey *keys) {
    PyArray_Descr *common;
    if (!promote_strong(inputs, u->nin, &common)) return false;
    int strong = common ? py_kind_of_typenum(common->type_num) : -1;
    int rank = common ? kind_rank(common->type_num) : 0;
    Py_XDECREF(common);
    for (int i = 0; i < u->nin; i++) {
        int kind = py_kind_of_typenum(inputs[i].descr->type_num);
        if (inputs[i].weak != CLASS_NONE && strong >= 0 && rank >= (int)inputs[i].weak)
            kind = strong;
        else if (inputs[i].weak == CLASS_CPX && (strong == TY_f32 || strong == TY_f16))
            kind = TY_c64;
        if (kind < 0) {
            PyErr_Format(PyExc_TypeError, "ufunc '%s' cannot be compiled for arguments of dtype %S",
                         u->name, inputs[i].descr);
            return false;
        }
        keys[i] = KEY_SCALAR(kind);
    }
    return true;
}

static int find_exact(const UfuncData *u, const TypeKey *keys) {
    for (int l = u->seeded; l < u->nloops; l++)
        if (u->loops[l].spec &&
            !memcmp(u->loops[l].spec->keys, keys, sizeof *keys * (size_t)u->nin))
            return l;
    return -1;
}

static int find_or_compile(UfuncData *u, PyUFuncObject *ufunc, const Input *inputs) {
    TypeKey keys[MAX_UFUNC_ARGS];
    if (!exact_keys(u, inputs, keys)) return -1;
    int at = find_exact(u, keys);
    if (at >= 0) return at;
    if (!py_core_lock(&u->core)) return -1;
    at = find_exact(u, keys); /* made by another thread meanwhile? */
    if (at < 0) {
        CompileRequest q = {.keys = keys, .nkeys = u->nin, .options = u->core.options};
        /* NumPy 1 fails when two threads enter one combination of types into its cache */
        q.keep_gil = PyArray_GetNDArrayCFeatureVersion() < NPY_2_0_API_VERSION;
        Spec *spec = py_core_compile(&u->core, &q);
        if (spec) at = append_loop(u, ufunc, spec, false);
    }
    py_core_unlock(&u->core);
    return at;
}

/* -- while a program is explained: what is refused runs in Python ------------------------------------------- */

/* Objects in; the result is converted to the type of the loop. */
static void run_python(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    const UfuncLoop *loop = data;
    UfuncData *u = loop->owner;
    PyArray_Descr *descr =
        PyArray_DescrFromType(u->types[(loop - u->loops) * (u->nin + 1) + u->nin]);
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

/* The number of the dtype of what the function gives for the first elements; -1: exception. */
static int python_result(const UfuncData *u, PyArrayObject **operands) {
    PyObject *module = PyImport_ImportModule("quern._explain"), *list = PyTuple_New(u->nin);
    for (int i = 0; list && i < u->nin; i++)
        PyTuple_SET_ITEM(list, i, Py_NewRef((PyObject *)operands[i]));
    PyObject *number = module && list
                           ? PyObject_CallMethod(module, "result_type", "OO", u->core.py_func, list)
                           : NULL;
    long result = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    Py_XDECREF(list);
    Py_XDECREF(module);
    return (int)result;
}

static int python_loop(UfuncData *u, PyUFuncObject *ufunc, PyArrayObject **operands) {
    int result = python_result(u, operands), at = -1;
    if (result < 0 || !py_core_lock(&u->core)) return -1;
    for (int l = 0; l < u->nloops && at < 0; l++)
        if (u->functions[l] == run_python && u->types[l * (u->nin + 1) + u->nin] == result) at = l;
    if (at < 0 && u->nloops < MAX_LOOPS) {
        at = u->nloops;
        char *types = u->types + at * (u->nin + 1);
        memset(types, NPY_OBJECT, (size_t)u->nin);
        types[u->nin] = (char)result;
        u->loops[at] = (UfuncLoop){u, NULL};
        u->data[at] = &u->loops[at];
        u->functions[at] = run_python;
        u->nloops = at + 1;
        ufunc->ntypes = at + 1;
    }
    py_core_unlock(&u->core);
    if (at < 0) PyErr_SetString(PyExc_TypeError, "the ufunc has too many type combinations");
    return at;
}

static void raise_no_loop(const UfuncData *u, const Input *inputs) {
    PyObject *list = PyList_New(0), *comma = PyUnicode_FromString(", ");
    for (int i = 0; list && i < u->nin; i++) {
        PyObject *text = PyObject_Str((PyObject *)inputs[i].descr);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    PyObject *joined = list && comma ? PyUnicode_Join(comma, list) : NULL;
    if (joined)
        PyErr_Format(
            PyExc_TypeError,
            "ufunc '%s' has no loop for arguments of types (%U): it was compiled for fixed "
            "signatures, and none can be reached by safe casts",
            u->name, joined);
    Py_XDECREF(joined);
    Py_XDECREF(list);
    Py_XDECREF(comma);
}

/* The loop of a lazy ufunc. `out`: dtype= or signature= fixes the type of the result; then the loop for the inputs
 * as they are, or else for inputs of that type. */
static int find_dynamic(UfuncData *u, PyUFuncObject *ufunc, Input *inputs, PyArray_Descr *out) {
    int at = find_or_compile(u, ufunc, inputs);
    if (at < 0 || !out || u->types[at * (u->nin + 1) + u->nin] == out->type_num) return at;
    for (int i = 0; i < u->nin; i++)
        if (!inputs[i].asked) inputs[i] = (Input){out, CLASS_NONE, true};
    at = find_or_compile(u, ufunc, inputs);
    if (at < 0 || u->types[at * (u->nin + 1) + u->nin] == out->type_num) return at;
    PyErr_Format(PyExc_TypeError, "ufunc '%s' returns no %S, not of arguments of that type either",
                 u->name, out);
    return -1;
}

/* NumPy 1 does not tell Python numbers apart. Its own rule takes their place: beside arrays, a 0-d operand whose value
 * fits does not decide about the type. */
static bool weaken_scalars(const UfuncData *u, PyArrayObject **operands, Input *inputs) {
    if (PyArray_GetNDArrayCFeatureVersion() >= NPY_2_0_API_VERSION) return true;
    Input arrays[MAX_UFUNC_ARGS];
    int n = 0;
    for (int i = 0; i < u->nin; i++)
        if (inputs[i].asked || !operands[i] || PyArray_NDIM(operands[i]) > 0)
            arrays[n++] = inputs[i];
    PyArray_Descr *common;
    if (n == u->nin || !promote_strong(arrays, n, &common)) return n == u->nin;
    for (int i = 0; common && i < u->nin; i++) {
        Input *in = &inputs[i];
        if (in->asked || !operands[i] || PyArray_NDIM(operands[i]) > 0 ||
            !PyTypeNum_ISNUMBER(in->descr->type_num))
            continue;
        /* Not PyArray_CanCastArrayTo: NumPy asks twice, and the second time that does not look at values. */
        PyArray_Descr *smallest = PyArray_MinScalarType(operands[i]);
        if (smallest && PyArray_CanCastTypeTo(smallest, common, NPY_SAFE_CASTING))
            in->weak = (TypeClass)kind_rank(in->descr->type_num);
        Py_XDECREF(smallest);
    }
    Py_XDECREF(common);
    return true;
}

/* A Python number of a higher kind than all typed operands, or among its like, is an int64, float64 or complex128:
 * an int16 array and 1.5 make float64. Beside floats a complex number stays weak: float32 and 1j make complex64. */
static void settle_weak(Input *inputs, int n) {
    int rank = 0;
    for (int i = 0; i < n; i++)
        if (inputs[i].weak == CLASS_NONE) rank = QN_MAX(rank, kind_rank(inputs[i].descr->type_num));
    if (rank == CLASS_FLT) rank = CLASS_CPX;
    for (int i = 0; i < n; i++)
        if ((int)inputs[i].weak > rank) inputs[i].weak = CLASS_NONE;
}

static bool read_inputs(UfuncData *u, PyArrayObject **operands, PyObject *const *asked,
                        Input *inputs) {
    for (int i = 0; i < u->nin; i++)
        inputs[i] = read_input(operands[i] ? operands[i] : operands[0], asked[i]);
    settle_weak(inputs, u->nin);
    /* Only the first type is fixed: NumPy asks for a reduction whose result has that type. An accumulation
     * needs it for the other operand, too. */
    if (u->nin == 2 && inputs[0].asked && !inputs[1].asked && inputs[1].weak == CLASS_NONE &&
        PyArray_CanCastTypeTo(inputs[1].descr, inputs[0].descr, NPY_SAFE_CASTING))
        inputs[1] = inputs[0];
    return weaken_scalars(u, operands, inputs);
}

static int resolve_types(PyUFuncObject *ufunc, NPY_CASTING casting, PyArrayObject **operands,
                         PyObject *type_tup, PyArray_Descr **out) {
    UfuncData *u = data_of((PyObject *)ufunc);
    Input inputs[MAX_UFUNC_ARGS];
    PyObject *asked[MAX_UFUNC_ARGS] = {NULL};
    Py_ssize_t given = type_tup && PyTuple_Check(type_tup) ? PyTuple_GET_SIZE(type_tup) : 0;
    for (int i = 0; i <= u->nin && given == u->nin + 1; i++)
        asked[i] = PyTuple_GET_ITEM(type_tup, i);
    if (given == 1) asked[u->nin] = PyTuple_GET_ITEM(type_tup, 0); /* dtype= in NumPy 1.25 */
    bool fixed = asked[u->nin] && PyArray_DescrCheck(asked[u->nin]);
    PyArray_Descr *result = fixed ? (PyArray_Descr *)asked[u->nin] : NULL;
    if (!read_inputs(u, operands, asked, inputs)) return -1;
    bool all = true;
    for (int i = 0; i < u->nin; i++)
        all = all && operands[i];
    if (py_records(u->core.state) && all &&
        !py_record_call(u->core.state, (PyObject *)ufunc, (PyObject **)operands, u->nin, NULL))
        return -1;
    int at = u->dynamic ? find_dynamic(u, ufunc, inputs, result)
                        : find_safe(u, inputs, result ? result->type_num : -1);
    if (at < 0 && all && py_forget_refusal(u->core.state)) at = python_loop(u, ufunc, operands);
    if (at < 0) {
        if (!PyErr_Occurred()) raise_no_loop(u, inputs);
        return -1;
    }
    const char *types = u->types + at * (u->nin + 1);
    for (int i = 0; i <= u->nin; i++)
        out[i] = PyArray_DescrFromType(types[i]);
    if (PyUFunc_ValidateCasting(ufunc, casting, operands, out) == 0) return 0;
    for (int i = 0; i <= u->nin; i++)
        Py_CLEAR(out[i]);
    return -1;
}

/* -- UfuncData ------------------------------------------------------------------------------------------------ */

static int data_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    return py_core_traverse(&((UfuncData *)self)->core, visit, arg);
}

static void data_dealloc(PyObject *self) {
    UfuncData *u = (UfuncData *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (u->weakrefs) PyObject_ClearWeakRefs(self);
    py_core_clear(&u->core);
    PyMem_Free(u->types);
    PyMem_Free(u->name);
    PyMem_Free(u->doc);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef data_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(UfuncData, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot data_slots[] = {
    {Py_tp_members, data_members},
    {Py_tp_dealloc, data_dealloc},
    {Py_tp_traverse, data_traverse},
    {0, NULL},
};

PyType_Spec py_ufunc_data_spec = {
    .name = "quern._quern.UfuncData",
    .basicsize = sizeof(UfuncData),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = data_slots,
};

/* -- making one ------------------------------------------------------------------------------------------------- */

static char *copy_text(PyObject *text) {
    Py_ssize_t len;
    const char *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    if (!bytes) bytes = "", len = 0;
    char *copy = PyMem_Malloc((size_t)len + 1);
    if (copy)
        memcpy(copy, bytes, (size_t)len + 1);
    else
        PyErr_NoMemory();
    return copy;
}

static UfuncData *data_new(ModState *state, PyObject *py_func, CompileOptions *options,
                           bool parallel) {
    UfuncData *u = (UfuncData *)state->ufunc_data_type->tp_alloc(state->ufunc_data_type, 0);
    if (!u) return NULL;
    options->entry = ENTRY_UFUNC;
    u->parallel = parallel;
    PyErr_Clear();
    if (!py_core_init(&u->core, state, py_func, options)) goto fail;
    u->nin = u->core.nparams;
    if (u->nin < 1 || u->nin >= MAX_UFUNC_ARGS || u->core.varargs || u->core.nkwonly) {
        PyErr_Format(PyExc_TypeError,
                     "'%U' cannot become a ufunc: it must take 1 to %d positional "
                     "arguments",
                     u->core.name, MAX_UFUNC_ARGS - 1);
        goto fail;
    }
    u->name = copy_text(u->core.name);
    u->doc = copy_text(((PyFunctionObject *)py_func)->func_doc);
    u->types = PyMem_Calloc(MAX_LOOPS, (size_t)u->nin + 1);
    if (!u->name || !u->doc) goto fail;
    if (u->types) return u;
    PyErr_NoMemory();
fail:
    Py_DECREF(u);
    return NULL;
}

static int compile_declared(UfuncData *u, PyObject *signatures) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(signatures); i++) {
        CompileRequest q = {.signature = PyUnicode_AsUTF8(PyList_GET_ITEM(signatures, i)),
                            .options = u->core.options};
        if (!q.signature || !py_core_lock(&u->core)) return -1;
        Spec *spec = py_core_compile(&u->core, &q);
        int at = -1;
        bool scalars = true;
        for (int k = 0; spec && k < u->nin; k++)
            scalars &= key_is_scalar(spec->keys[k]);
        if (spec && !scalars) {
            PyErr_Format(PyExc_TypeError, "the arguments of a ufunc are scalars: %s", q.signature);
            py_spec_free(spec);
        } else if (spec) {
            at = find_exact(u, spec->keys);
            if (at >= 0)
                py_spec_free(spec); /* declared twice */
            else
                at = append_loop(u, NULL, spec, false);
        }
        py_core_unlock(&u->core);
        if (at < 0) return -1;
    }
    return 0;
}

static void seed(UfuncData *u) {
    memset(u->types, NPY_LONGDOUBLE, (size_t)u->nin + 1);
    u->loops[0] = (UfuncLoop){u, NULL};
    u->data[0] = &u->loops[0];
    u->functions[0] = run_seed;
    u->nloops = 1;
    u->seeded = true;
}

static PyObject *wrap(ModState *state, UfuncData *u, PyObject *identity) {
    int code = PyUFunc_IdentityValue;
    if (identity == Py_None)
        code = PyUFunc_None;
    else if (PyUnicode_Check(identity))
        code = PyUFunc_ReorderableNone;
    PyObject *ufunc = PyUFunc_FromFuncAndDataAndSignatureAndIdentity(
        u->functions, u->data, u->types, u->nloops, u->nin, 1, code, u->name, u->doc, 0, NULL,
        code == PyUFunc_IdentityValue ? identity : NULL);
    if (!ufunc) return NULL;
    PyUFuncObject *object = (PyUFuncObject *)ufunc;
    object->obj = Py_NewRef((PyObject *)u);
    object->type_resolver = resolve_types;
    Py_SET_TYPE(ufunc, state->ufunc_type);
    /* NumPy does that with its own `obj` only, and a ufunc is reachable from the globals of its function */
    if (PyObject_IS_GC(ufunc) && !PyObject_GC_IsTracked(ufunc)) PyObject_GC_Track(ufunc);
    return ufunc;
}

/* make_ufunc(py_func, options, signatures, identity, parallel) */
PyObject *py_make_ufunc(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"py_func", "options", "signatures", "identity", "parallel", NULL};
    PyObject *py_func, *dict, *signatures, *identity = Py_None;
    int parallel = 0;
    CompileOptions options;
    ModState *state = py_state(module);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!|Op", names, &py_func, &PyDict_Type, &dict,
                                     &PyList_Type, &signatures, &identity, &parallel) ||
        !py_options(dict, &options))
        return NULL;
    UfuncData *u = data_new(state, py_func, &options, parallel);
    if (!u) return NULL;
    PyObject *ufunc = NULL;
    u->core.locals = Py_XNewRef(PyDict_GetItemString(dict, "locals"));
    u->dynamic = PyList_GET_SIZE(signatures) == 0;
    if (u->dynamic) seed(u);
    if (compile_declared(u, signatures) == 0) ufunc = wrap(state, u, identity);
    Py_DECREF(u);
    return ufunc;
}

/* -- the subtype ---------------------------------------------------------------------------------------------------- */

static PyObject *get_py_func(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(data_of(self)->core.py_func);
}

static PyObject *get_of_function(PyObject *self, void *name) {
    return PyObject_GetAttrString(data_of(self)->core.py_func, name);
}

static PyObject *get_self(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *get_ntypes(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(data_of(self)->nloops - data_of(self)->seeded);
}

static PyObject *get_types(PyObject *self, void *unused) {
    (void)unused;
    const UfuncData *u = data_of(self);
    PyObject *list = PyList_New(0);
    for (int l = u->seeded; list && l < u->nloops; l++) {
        char text[MAX_UFUNC_ARGS + 4];
        int n = 0;
        for (int i = 0; i <= u->nin; i++) {
            PyArray_Descr *descr = PyArray_DescrFromType(u->types[l * (u->nin + 1) + i]);
            if (i == u->nin) n += snprintf(text + n, 3, "->");
            text[n++] = descr ? descr->type : '?';
            Py_XDECREF(descr);
        }
        PyObject *item = PyUnicode_FromStringAndSize(text, n);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *ufunc_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(data_of(self)->core.py_func, "__qualname__");
}

/* add(signature text): one more loop; afterwards no others are made for unseen types. */
static PyObject *ufunc_add(PyObject *self, PyObject *text) {
    UfuncData *u = data_of(self);
    PyObject *list = PyList_New(1);
    if (!list) return NULL;
    PyList_SET_ITEM(list, 0, Py_NewRef(text));
    int status = PyUnicode_Check(text) ? compile_declared(u, list) : -1;
    Py_DECREF(list);
    if (status < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a signature as text is expected");
    if (status < 0) return NULL;
    ((PyUFuncObject *)self)->ntypes = u->nloops;
    Py_RETURN_NONE;
}

static PyObject *ufunc_explain(PyObject *self, PyObject *what) {
    JitCore *core = &data_of(self)->core;
    return py_core_explain(core, &core->options, false, what, py_arg_key);
}

static PyObject *surface_explain(PyObject *self, PyObject *args, PyObject *kwargs) {
    return py_surface(self, "explain", args, kwargs);
}

static PyMethodDef ufunc_methods[] = {
    {"_explain", ufunc_explain, METH_O, NULL},
    {"explain", (PyCFunction)(void (*)(void))surface_explain, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__reduce__", ufunc_reduce, METH_NOARGS, NULL},
    {"_add", ufunc_add, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef ufunc_getset[] = {
    {"py_func", get_py_func, NULL, "The Python function.", NULL},
    {"__wrapped__", get_py_func, NULL, NULL, NULL},
    {"__module__", get_of_function, NULL, NULL, "__module__"},
    {"__qualname__", get_of_function, NULL, NULL, "__qualname__"},
    {"__doc__", get_of_function, NULL, NULL, "__doc__"},
    {"ufunc", get_self, NULL, NULL, NULL},
    {"ntypes", get_ntypes, NULL, "Number of compiled loops.", NULL},
    {"types", get_types, NULL, "Compiled loops, as NumPy writes them.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int py_ufunc_init(ModState *state) {
    PyTypeObject *type = PyMem_Calloc(1, sizeof *type);
    if (!type) return PyErr_NoMemory(), -1;
    Py_SET_REFCNT((PyObject *)type, 1);
    type->tp_name = "quern.ufunc";
    type->tp_base = &PyUFunc_Type;
    type->tp_basicsize = PyUFunc_Type.tp_basicsize;
    type->tp_flags = Py_TPFLAGS_DEFAULT;
    type->tp_methods = ufunc_methods;
    type->tp_getset = ufunc_getset;
    if (PyType_Ready(type) < 0) return -1;
    state->ufunc_type = type;
    return 0;
}

PyObject *py_function_of_ufunc(PyObject *ufunc) {
    return data_of(ufunc)->core.py_func;
}
PyObject *py_locals_of_ufunc(PyObject *ufunc) {
    return data_of(ufunc)->core.locals;
}

PyObject *py_data_of_ufunc(PyObject *ufunc) {
    return (PyObject *)data_of(ufunc);
}
