/* dispatch.c - the table of specialisations, one compilation per signature, binding of arguments. */
#include "pymodule/cache.h"
#include "frontend/base/arguments.h"
#include "frontend/base/dump.h"

enum { LOOK_US = 50000 }; /* between two looks at signals */

/* -- the lock ---------------------------------------------------------------------------------------- */

static bool lock_renew(JitCore *core) {
    CoreLock *l = &core->lock;
    uint32_t now = cg_generation();
    QN_LOCK(&core->state->lock);
    if (!l->lock || l->generation != now) {
        /* made before a fork: whoever held it does not exist here */
        l->lock = PyThread_allocate_lock();
        l->owner = 0;
        l->generation = now;
    }
    bool made = l->lock != NULL;
    QN_UNLOCK(&core->state->lock);
    if (!made) PyErr_NoMemory();
    return made;
}

/* 1: the lock is ours; 0: not yet; -1: exception, Ctrl-C ends the wait. */
static int try_lock(JitCore *core) {
    if (!lock_renew(core)) return -1;
    PyThread_type_lock lock = core->lock.lock;
    if (PyThread_acquire_lock(lock, NOWAIT_LOCK)) return 1;
    PyLockStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = PyThread_acquire_lock_timed(lock, LOOK_US, 1);
    Py_END_ALLOW_THREADS;
    if (status == PY_LOCK_ACQUIRED) return 1;
    return PyErr_CheckSignals() < 0 ? -1 : 0;
}

bool py_core_lock(JitCore *core) {
    unsigned long me = PyThread_get_thread_ident();
    int locked = 0;
    while (locked == 0) {
        if (core->lock.owner == me && core->lock.generation == cg_generation()) {
            PyErr_Format(PyExc_RuntimeError,
                         "'%U' is called while it is being compiled: an attribute or global that "
                         "the compiler reads runs the function itself",
                         core->name);
            return false;
        }
        locked = try_lock(core);
    }
    if (locked > 0) core->lock.owner = me;
    return locked > 0;
}

void py_core_unlock(JitCore *core) {
    core->lock.owner = 0;
    PyThread_release_lock(core->lock.lock);
}

/* -- specialisations ----------------------------------------------------------------------------------- */

static bool is_of_numbers(const ValueLayout *result) {
    bool numbers = result->kind == TY_TUPLE && !result->fields;
    for (int32_t i = 0; numbers && i < result->nitems; i++) {
        int kind = result->items[i].kind;
        numbers = kind == TY_i64 || kind == TY_wint || kind == TY_f64 || kind == TY_wflt;
    }
    return numbers;
}

/* As box_plain in jitfunc.c has it. */
static bool is_plain(const ValueLayout *result) {
    return result->kind == TY_i64 || result->kind == TY_f64 || result->kind == TY_bool ||
           result->kind == TY_none;
}

/* Plans for calling the artifact with arguments of the spec's keys. */
bool py_spec_plan(JitCore *core, Spec *spec) {
    Artifact *artifact = spec->artifact;
    if (artifact->nparams != spec->nargs) {
        PyErr_Format(PyExc_SystemError, "compiled code takes %d parameters, not %d",
                     (int)artifact->nparams, (int)spec->nargs);
        return false;
    }
    /* Numba hands the arguments of a kernel over as C does; here that is an error, unless its meaning is asked for. */
    spec->wraps = core->options.infer.kernel && core->options.infer.strong_numbers;
    if (!py_plan_args(core->state, spec, artifact->params)) return false;
    spec->entry = artifact->entry_kind == ENTRY_HOST ? (HostEntry)artifact->entry : NULL;
    spec->direct = spec->entry && !core->varargs && !core->nkwonly;
    spec->placed =
        spec->entry && spec->frame_size <= FRAME_STACK && !spec->objects && !spec->random;
    spec->on_stack = spec->direct && spec->placed;
    spec->numbers = is_of_numbers(&artifact->result);
    spec->alone = spec->placed && artifact->alone && (spec->numbers || is_plain(&artifact->result));
    spec->getter = spec->alone && spec->direct && spec->nargs == 1 &&
                   spec->plans[0].op == UB_SHARED && artifact->result.size <= GETTER_RESULT;
    /* What changes nothing and allocates nothing drops nothing of Python's either. */
    spec->reader = spec->getter && !spec->changes && artifact->result.kind == TY_f64;
    return true;
}

/* -- the core -------------------------------------------------------------------------------------------- */

bool py_core_init(JitCore *core, ModState *state, PyObject *py_func,
                  const CompileOptions *options) {
    if (!PyFunction_Check(py_func)) {
        PyErr_Format(PyExc_TypeError,
                     "a Python function is expected, not an object of type '%.100s'",
                     Py_TYPE(py_func)->tp_name);
        return false;
    }
    PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(py_func);
    core->state = state;
    core->at = &state->cores;
    QN_LOCK(&state->lock);
    if ((core->next = state->cores)) core->next->at = &core->next;
    state->cores = core;
    QN_UNLOCK(&state->lock);
    core->py_func = Py_NewRef(py_func);
    core->name = Py_NewRef(((PyFunctionObject *)py_func)->func_name);
    core->options = *options;
    core->npositional = code->co_argcount;
    core->nposonly = code->co_posonlyargcount;
    core->nkwonly = code->co_kwonlyargcount;
    core->varargs = code->co_flags & CO_VARARGS;
    core->unsupported_kwargs = code->co_flags & CO_VARKEYWORDS;
    core->nparams = core->npositional + core->nkwonly + core->varargs;
    core->can_compile = true;
    if (core->nparams > MAX_ARGS) {
        PyErr_Format(PyExc_ValueError,
                     "'%U' has %d parameters; compiled functions have at most %d: pass an array",
                     core->name, (int)core->nparams, MAX_ARGS);
        return false;
    }
    PyObject *names = PyCode_GetVarnames(code);
    core->param_names = names ? PyTuple_GetSlice(names, 0, core->nparams) : NULL;
    Py_XDECREF(names);
    return core->param_names != NULL;
}

void py_core_clear(JitCore *core) {
    Py_CLEAR(core->py_func);
    Py_CLEAR(core->frozen);
    Py_CLEAR(core->name);
    Py_CLEAR(core->param_names);
    Py_CLEAR(core->locals);
    Py_CLEAR(core->patterns);
    Py_CLEAR(core->linked);
    Py_CLEAR(core->cache_log);
    py_core_free_specs(core);
    if (core->at) {
        QN_LOCK(&core->state->lock);
        *core->at = core->next;
        if (core->next) core->next->at = core->at;
        QN_UNLOCK(&core->state->lock);
        core->at = NULL;
    }
    if (core->lock.lock) PyThread_free_lock(core->lock.lock);
    core->lock.lock = NULL;
}

int py_core_traverse(JitCore *core, visitproc visit, void *arg) {
    Py_VISIT(core->py_func);
    Py_VISIT(core->frozen);
    const SpecTable *table = atomic_load(&core->table);
    for (int32_t i = 0; table && i < table->n; i++) {
        Py_VISIT(table->items[i]->keep);
        Py_VISIT(table->items[i]->nothing);
    }
    return 0;
}

bool py_core_keys(JitCore *core, PyObject *const *args, int32_t n, TypeKey *keys) {
    const char *name = PyUnicode_AsUTF8(core->name);
    for (int32_t i = 0; i < n; i++) {
        keys[i] = i < 64 && core->literals >> i & 1 ? py_literal_key(core->state, args[i]) : 0;
        if (keys[i]) continue;
        if (PyErr_Occurred()) return false;
        if (!(keys[i] = py_arg_key(core->state, args[i], name ? name : "?", i))) return false;
    }
    return true;
}

/* -- compiling ---------------------------------------------------------------------------------------------- */

static const Type *argument_type(PyResolver *r, TypeKey key) {
    return py_key_type(r->state, r, r->types, r->arena, key, r->options.strong_numbers);
}

static const Type **types_of_keys(PyResolver *r, const CompileRequest *q) {
    const Type **types = arena_array(r->arena, const Type *, QN_MAX(q->nkeys, 1));
    for (int32_t i = 0; i < q->nkeys; i++) {
        if (!q->keys[i] || (types[i] = argument_type(r, q->keys[i]))) continue;
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "an argument has no type here");
        return NULL;
    }
    return types;
}

/* Does a named tuple stand in a type? `left` bounds the search: a type is a graph, and may have very many items. */
static bool has_class(const Type *type, int *left) {
    if (type->kind != TY_TUPLE || --*left < 0) return false;
    bool found = type->cls != NULL;
    for (int32_t i = 0; i < type->nitems; i++)
        found |= has_class(type->items[i], left);
    return found && *left >= 0;
}

/* A type for quern.types.of_answer: its text. Text cannot say of which class named tuples are: these, and
 * tuples that hold them, are (a weak reference to the class or None, items). */
static PyObject *type_answer(ModState *state, Arena *arena, const Type *type) {
    int left = MAX_TUPLE;
    if (!has_class(type, &left)) return py_exact_text(state, arena, type);
    PyObject *items = PyTuple_New(type->nitems);
    for (int32_t i = 0; items && i < type->nitems; i++) {
        PyObject *item = type_answer(state, arena, type->items[i]);
        if (!item)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, i, item);
    }
    PyObject *cls = type->cls ? PyWeakref_NewRef(type->cls, NULL) : Py_NewRef(Py_None);
    if (!cls) Py_CLEAR(items);
    return items ? Py_BuildValue("(NN)", cls, items) : (Py_XDECREF(cls), NULL);
}

/* (answers for the parameter types, for the result type) */
static PyObject *signature_object(ModState *state, Arena *arena, const Type *const *types,
                                  int32_t n, const Type *result) {
    PyObject *params = PyTuple_New(n);
    for (int32_t i = 0; params && i < n; i++) {
        PyObject *item = type_answer(state, arena, types[i]);
        if (!item)
            Py_CLEAR(params);
        else
            PyTuple_SET_ITEM(params, i, item);
    }
    PyObject *shown = !params  ? NULL
                      : result ? type_answer(state, arena, result)
                               : PyUnicode_FromString("none");
    if (shown) return Py_BuildValue("(NN)", params, shown);
    Py_XDECREF(params);
    return NULL;
}

/* Of what the compiler looked at, compiled code names classes (exceptions, named tuples) and arrays. Functions
 * above all are not kept: a function that was passed as an argument, and its code with it, goes when the user's
 * last reference goes. */
static PyObject *kept_by_code(const ModState *state, PyObject *seen) {
    PyObject *kept = PyList_New(0);
    for (Py_ssize_t i = 0; kept && i < PyList_GET_SIZE(seen); i++) {
        PyObject *o = PyList_GET_ITEM(seen, i);
        bool named = PyType_Check(o) || PyArray_Check(o) || Py_TYPE(o) == state->device_array_type;
        if (named && PyList_Append(kept, o) < 0) Py_CLEAR(kept);
    }
    return kept;
}

static bool names_class(ModState *state, TypeKey key, const PyObject *cls) {
    const Compound *c = key_is_compound(key) ? py_compound(state, key) : NULL;
    if (!c) return false;
    bool found = c->cls == cls || (c->nitems == KEY_OBJECT && (PyObject *)Py_TYPE(c->cls) == cls);
    for (int32_t i = 0; i < c->nitems && !found; i++)
        found = names_class(state, c->items[i], cls);
    return found;
}

/* The classes of results, but for those that the arguments name: with these the specialisation goes. */
static bool keep_classes(ModState *state, Spec *spec, const ValueLayout *layout) {
    bool named = !layout->cls;
    for (int32_t i = 0; i < spec->nargs && !named; i++)
        named = names_class(state, spec->keys[i], layout->cls);
    if (!named && PyList_Append(spec->keep, layout->cls) < 0) return false;
    for (int32_t i = 0; i < layout_parts(layout); i++)
        if (!keep_classes(state, spec, &layout->items[i])) return false;
    return true;
}

/* The functions of C that the code calls, but for those that are arguments. */
static bool keep_foreign(ModState *state, Spec *spec, const Artifact *artifact) {
    for (int32_t k = 0; k < artifact->naddresses; k++) {
        const CodeAddress *called = &artifact->addresses[k];
        bool named = called->kind != ADDRESS_FUNCTION || !called->handle;
        for (int32_t i = 0; i < spec->nargs && !named; i++)
            named = names_class(state, spec->keys[i], called->handle);
        if (!named && PyList_Append(spec->keep, called->handle) < 0) return false;
    }
    return true;
}

static Spec *spec_of_types(ModState *state, const CompileRequest *q, const Type *const *types,
                           int32_t n) {
    if (q->keys) return py_spec_new(q->keys, q->keys, n);
    TypeKey few[FEW_ARGS] = {0}, *keys = py_keys_room(few, n);
    bool ok = keys != NULL;
    for (int32_t i = 0; ok && i < n; i++) {
        ok = (keys[i] = py_type_key(state, types[i])) != 0;
        if (!ok && !PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError,
                            "a declared parameter has a type that no argument can have");
    }
    Spec *spec = ok ? py_spec_new(keys, keys, n) : NULL;
    py_keys_free(few, keys);
    return spec;
}

Spec *py_spec_of_artifact(JitCore *core, PyResolver *r, const CompileRequest *q,
                          const Type *const *types, int32_t n, Artifact *artifact,
                          const Type *result) {
    Spec *spec = spec_of_types(core->state, q, types, n);
    if (!spec) return NULL;
    artifact_retain(artifact);
    spec->artifact = artifact;
    spec->declared = !q->keys;
    spec->keep = kept_by_code(core->state, r->keep);
    spec->declared_text = q->signature ? PyUnicode_FromString(q->signature) : NULL;
    spec->nothing = Py_NewRef(Py_None);
    spec->signature = signature_object(r->state, r->arena, types, n, result);
    if (!spec->keep || !keep_classes(core->state, spec, &artifact->result) ||
        !keep_foreign(core->state, spec, artifact) || (q->signature && !spec->declared_text) ||
        !spec->signature || !py_spec_plan(core, spec)) {
        py_spec_free(spec);
        return NULL;
    }
    return spec;
}

/* The arrays of a generalised ufunc lie as its callers' do. */
static void forget_layouts(PyResolver *r, Signature *s) {
    for (int32_t i = 0; i < s->nparams; i++)
        if (s->params[i]->kind == TY_ARRAY)
            s->params[i] = type_array_like(r->types, s->params[i], s->params[i]->ndim, LAYOUT_A);
}

bool py_request_types(JitCore *core, PyResolver *r, const CompileRequest *q, Signature *out) {
    if (!q->signature) {
        out->params = types_of_keys(r, q);
        out->nparams = q->nkeys;
        if (q->result)
            out->result = ti_parse_type(r->types, r->arena, q->result, cg_diags(r->compilation));
        return out->params != NULL && (!q->result || out->result);
    }
    if (!ti_parse_signature(r->types, r->arena, q->signature, out, cg_diags(r->compilation)) ||
        !py_written_signature(core->state, r->types, r->arena, out))
        return false;
    if (q->options.core) forget_layouts(r, out);
    int last = core->nparams - 1;
    if (out->nparams == core->nparams && core->varargs && out->params[last]->kind != TY_TUPLE) {
        PyErr_Format(
            PyExc_TypeError,
            "the last parameter of '%U' is all further arguments: a tuple in the signature, "
            "not %s",
            core->name, q->signature);
        return false;
    }
    if (out->nparams == core->nparams) return true;
    PyErr_Format(PyExc_TypeError, "the signature %s has %d parameter%s, '%U' has %d", q->signature,
                 (int)out->nparams, out->nparams == 1 ? "" : "s", core->name, (int)core->nparams);
    return false;
}

/* Asked while the worker is waited for, without the GIL. */
static bool interrupted(void *user) {
    PyThreadState **thread = user;
    PyEval_RestoreThread(*thread);
    bool stop = PyErr_CheckSignals() < 0;
    *thread = PyEval_SaveThread();
    return stop;
}

/* As it is shown: a member of an enumeration is one, and no number. */
static const Type *result_type(Compilation *c) {
    const Func *entry = cg_module(c)->funcs.items[0];
    const Type *weak = entry->weak_result;
    return weak && weak->kind == TY_MEMBER ? weak : entry->result;
}

/* One compilation, in two steps. Between them LLVM may be at work for it, and those of other requests. */
typedef struct Attempt {
    JitCore *core;
    CompileRequest *q;
    PyResolver resolver;
    Compilation *c; /* NULL: it did not begin, and an exception is set */
    Signature types;
    uint32_t dump;
    Spec *kept;  /* from the disk cache */
    bool lowers; /* cg_back_begin was called */
} Attempt;

/* The front half, with the GIL. */
static bool front(Attempt *a) {
    JitCore *core = a->core;
    CompileRequest *q = a->q;
    PyResolver *r = &a->resolver;
    if (!py_resolver_attach(r, a->c)) return false;
    if (py_cache_wanted(q)) {
        a->kept = py_cache_find(core, q);
        if (a->kept || PyErr_Occurred()) return false;
        py_cache_use_files(core->state, a->c);
    }
    const Binding *function = py_bind(r, core->py_func, STR("e:"));
    if (!function || !py_request_types(core, r, q, &a->types)) return false;
    if (q->options.entry == ENTRY_HOST && a->types.result && a->types.result->kind == TY_UNKNOWN)
        a->types.result = NULL;
    return cg_front(a->c, function, a->types.params, a->types.nparams, a->types.result);
}

static void attempt_front(Attempt *a) {
    CompileRequest *q = a->q;
    py_resolver_init(&a->resolver, a->core->state, a->core->py_func, &q->options);
    a->resolver.locals = a->core->locals;
    a->resolver.linked = a->core->linked;
    a->resolver.arch = q->options.arch;
    a->resolver.closed = q->options.closed;
    a->c = cg_begin(&q->options, &a->resolver.base);
    if (a->c)
        a->lowers = front(a);
    else
        PyErr_NoMemory();
}

/* literally() asks callers for values first, of which functions on the way may know the constants. */
static bool only_caller_knows(const Attempt *a) {
    return a->c && !a->lowers && !a->kept && !PyErr_Occurred() && cg_module(a->c)->literals;
}

static void attempt_begin(Attempt *a, JitCore *core, CompileRequest *q) {
    *a = (Attempt){.core = core, .q = q};
    q->refused = false;
    q->literals = 0;
    if (!py_dump_asked(core->state, &a->dump)) return;
    if (py_dump_needs_text(a->dump)) {
        q->options.keep_text = true;
        q->texts = false;
    }
    bool by_value = q->options.infer.literals;
    q->options.infer.literals = true;
    attempt_front(a);
    if (!by_value && only_caller_knows(a)) {
        cg_end(a->c);
        py_resolver_close(&a->resolver);
        q->options.infer.literals = false;
        attempt_front(a);
    }
    q->options.infer.literals = by_value;
    if (!a->c) return;
    PyThreadState *thread = a->lowers && !q->keep_gil ? PyEval_SaveThread() : NULL;
    if (a->lowers) cg_back_begin(a->c);
    if (thread) PyEval_RestoreThread(thread);
}

/* Machine code of other tools. false: exception. */
static bool finish(const CompileRequest *q, Artifact *artifact) {
    if (!q->finish) return true;
    PyObject *made =
        PyObject_CallFunction(q->finish, "y#", artifact->code, (Py_ssize_t)artifact->ncode);
    if (made && !PyBytes_Check(made)) {
        Py_CLEAR(made);
        PyErr_SetString(PyExc_TypeError, "bytes are expected");
    }
    if (!made) return false;
    artifact->ncode = PyBytes_GET_SIZE(made);
    artifact->code = arena_copy(&artifact->arena, PyBytes_AS_STRING(made), (size_t)artifact->ncode);
    Py_DECREF(made);
    return true;
}

static Spec *back(Attempt *a) {
    Compilation *c = a->c;
    PyThreadState *thread = a->q->keep_gil ? NULL : PyEval_SaveThread();
    cg_on_wait(c, thread ? interrupted : NULL, &thread);
    Artifact *artifact = cg_back_end(c);
    if (thread) PyEval_RestoreThread(thread);
    if (!artifact) return NULL;
    if (!py_link(&a->resolver, artifact) || !finish(a->q, artifact))
        return artifact_release(artifact), NULL;
    Spec *spec = NULL;
    const Signature *types = &a->types;
    const Type *result = result_type(c);
    if (py_warn_diags(a->core->state, cg_diags(c)) == 0)
        spec = py_spec_of_artifact(a->core, &a->resolver, a->q, types->params, types->nparams,
                                   artifact, result);
    if (spec && py_cache_wanted(a->q))
        py_cache_store(a->core, &a->resolver, a->q, types, spec, result);
    artifact_release(artifact);
    return spec;
}

/* NULL with an exception. Nothing may be pending that attempt_begin did not raise. */
static Spec *attempt_end(Attempt *a) {
    if (!a->c) return NULL;
    ModState *state = a->core->state;
    const char *target = py_dump_target(&a->q->options);
    Spec *spec = a->lowers ? back(a) : a->kept;
    if (a->dump & DUMP_ssa && !cg_was_left(a->c)) py_dump_ssa(&a->resolver, target);
    if (spec && a->dump) py_dump_artifact(spec->artifact, target, a->dump);
    if (!spec && !PyErr_Occurred()) {
        a->q->refused = true;
        a->q->literals = cg_module(a->c)->literals;
        py_raise_diags(state, cg_diags(a->c));
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) a->q->refused = false;
    }
    cg_end(a->c);
    py_resolver_close(&a->resolver);
    return spec;
}

Spec *py_core_compile(JitCore *core, CompileRequest *q) {
    Attempt attempt;
    attempt_begin(&attempt, core, q);
    return attempt_end(&attempt);
}

/* -- several at once ------------------------------------------------------------------------------------------ */

static bool never(void *user) {
    (void)user;
    return true;
}

/* What nobody wants any more, because an exception came first, which stays. */
static void abandon(Attempt *a) {
    PyObject *raised = PyErr_GetRaisedException();
    if (a->c) {
        if (a->lowers) {
            PyThreadState *thread = PyEval_SaveThread();
            cg_on_wait(a->c, never, NULL);
            Artifact *artifact = cg_back_end(a->c);
            PyEval_RestoreThread(thread);
            if (artifact) artifact_release(artifact);
        }
        if (a->kept) py_spec_free(a->kept);
        cg_end(a->c);
        py_resolver_close(&a->resolver);
    }
    PyErr_SetRaisedException(raised);
}

/* What stopped the front half of the last attempt waits until those before it are entered. */
bool py_core_compile_all(JitCore *core, CompileRequest *requests, int32_t n, SpecTaker take,
                         void *user) {
    enum { AT_ONCE = 16 };
    Attempt *attempts = PyMem_Calloc(AT_ONCE, sizeof *attempts);
    if (!attempts) return PyErr_NoMemory(), false;
    bool ok = true;
    for (int32_t i = 0, begun = 0; ok && i < n; i += begun) {
        int32_t ended = begun = 0;
        PyObject *raised = NULL;
        while (!raised && begun < AT_ONCE && i + begun < n) {
            attempt_begin(&attempts[begun], core, &requests[i + begun]);
            raised = PyErr_GetRaisedException();
            begun++;
        }
        for (; ok && ended < begun; ended++) {
            if (raised && ended == begun - 1) PyErr_SetRaisedException(raised), raised = NULL;
            Spec *spec = attempt_end(&attempts[ended]);
            ok = take(user, &requests[i + ended], spec);
        }
        Py_XDECREF(raised);
        for (; ended < begun; ended++)
            abandon(&attempts[ended]);
    }
    PyMem_Free(attempts);
    return ok;
}

Spec *py_core_python_spec(JitCore *core, const TypeKey *keys, int32_t n) {
    (void)core;
    return py_spec_new(keys, keys, n);
}

/* The specialisation takes its place in the table, or gives it to the one that is there: no lazily made one hides a
 * declaration. NULL: exception. */
static Spec *enter_declared(JitCore *core, Spec *spec) {
    Spec *known = py_core_find(core, spec->keys, spec->nargs);
    if (known && known->declared) {
        py_spec_free(spec);
        return known;
    }
    if (!core->prepare || core->prepare(spec)) {
        py_core_add(core, spec);
        return spec;
    }
    py_spec_free(spec);
    return NULL;
}

typedef struct Declared {
    JitCore *core;
    DeclaredTaker take;
    void *user;
} Declared;

static bool take_declared(void *user, CompileRequest *q, Spec *spec) {
    const Declared *d = user;
    if (spec) spec = enter_declared(d->core, spec);
    return d->take(d->user, spec, q->refused);
}

bool py_core_declare(JitCore *core, PyObject *const *texts, Py_ssize_t n, DeclaredTaker take,
                     void *user) {
    CompileRequest *requests = PyMem_Calloc((size_t)n + 1, sizeof *requests);
    if (!requests) return PyErr_NoMemory(), false;
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        requests[i].options = core->options;
        if (PyUnicode_Check(texts[i]))
            requests[i].signature = PyUnicode_AsUTF8(texts[i]);
        else
            PyErr_SetString(PyExc_TypeError, "a signature as text is expected");
        ok = requests[i].signature != NULL;
    }
    if (ok && (ok = py_core_lock(core))) {
        Declared declared = {core, take, user};
        ok = py_core_compile_all(core, requests, (int32_t)n, take_declared, &declared);
        py_core_unlock(core);
    }
    PyMem_Free(requests);
    return ok;
}

static int kind_of_result(ModState *state, const Func *func) {
    const Type *time = func->weak_result; /* as it was before times became ints */
    if (time && time->kind == TY_TIME) return py_kind_of_time(state, time);
    return (int)type_strong_kind(func->result->kind);
}

int py_core_result_kind(JitCore *core, const TypeKey *keys, int32_t n) {
    CompileRequest q = {.keys = keys, .nkeys = n, .options = core->options};
    q.options.infer.kernel = false;
    q.options.entry = ENTRY_UFUNC;
    PyResolver r;
    py_resolver_init(&r, core->state, core->py_func, &q.options);
    r.locals = core->locals;
    r.linked = core->linked;
    Compilation *c = cg_begin(&q.options, &r.base);
    if (!c) return PyErr_NoMemory(), -1;
    int kind = -1;
    if (py_resolver_attach(&r, c)) {
        const Binding *function = py_bind(&r, core->py_func, STR("e:"));
        const Type **types = function ? types_of_keys(&r, &q) : NULL;
        if (types && cg_front(c, function, types, n, NULL))
            kind = kind_of_result(core->state, cg_module(c)->funcs.items[0]);
        else
            py_raise_diags(core->state, cg_diags(c));
    }
    cg_end(c);
    py_resolver_close(&r);
    return kind;
}

/* -- binding arguments ------------------------------------------------------------------------------------------ */

TypeKey *py_keys_room(TypeKey *few, Py_ssize_t n) {
    TypeKey *keys = n <= FEW_ARGS ? few : PyMem_Malloc(sizeof *keys * (size_t)n);
    if (!keys) PyErr_NoMemory();
    return keys;
}

typedef struct Keywords {
    const JitCore *core;
    PyObject *names;
    int32_t positional; /* arguments before them */
} Keywords;

/* Most names are interned, the same object as the parameter's, and come in the order of the parameters. */
static int32_t named_param(const void *user, int32_t k, int32_t from) {
    const Keywords *keywords = user;
    const JitCore *core = keywords->core;
    PyObject *name = PyTuple_GET_ITEM(keywords->names, k);
    int32_t n = core->npositional + core->nkwonly, likely = keywords->positional + k;
    if (likely >= from && likely < n && PyTuple_GET_ITEM(core->param_names, likely) == name)
        return likely;
    for (int32_t i = from; i < n; i++)
        if (PyTuple_GET_ITEM(core->param_names, i) == name) return i;
    for (int32_t i = from; i < n; i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(core->param_names, i), name) == 0) return i;
    return -1;
}

/* `source`: room for a number of each parameter. */
static bool bind_given(JitCore *core, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                       int32_t *source, PyObject **out) {
    int32_t wrong;
    Keywords keywords = {core, kwnames, (int32_t)n};
    Params params = {core->npositional, core->nposonly, core->nkwonly, core->varargs};
    Arguments given = {(int32_t)n, kwnames ? (int32_t)PyTuple_GET_SIZE(kwnames) : 0, named_param,
                       &keywords};
    ArgumentError error = arguments_bind(&params, &given, source, &wrong);
    if (error != ARGUMENTS_FIT) {
        const char *name = wrong < 0 ? "" : PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, wrong));
        char why[512];
        if (!name) return false;
        arguments_error(why, sizeof why, error, &params, &given, name);
        PyErr_Format(PyExc_TypeError, "%U() %s", core->name, why);
        return false;
    }
    for (int32_t i = 0; i < core->npositional + core->nkwonly; i++)
        out[i] = source[i] < 0 ? NULL : args[source[i]];
    return true;
}

static PyObject *hold(Bound *bound, PyObject *owned) {
    if (owned) bound->held[bound->nheld++] = owned;
    return owned;
}

void py_bound_release(Bound *bound) {
    while (bound->nheld > 0)
        Py_DECREF(bound->held[--bound->nheld]);
    PyMem_Free(bound->large);
    bound->large = NULL;
}

/* false: exception. */
static bool bound_init(Bound *bound, size_t n) {
    bound->nheld = 0;
    bound->large = NULL;
    bound->args = bound->few_args;
    bound->held = bound->few_held;
    bound->keys = bound->few_keys;
    if (n <= FEW_ARGS) return true;
    size_t each = sizeof(PyObject *), nheld = 2 * n + 2;
    bound->large = PyMem_Malloc((n + nheld) * each + n * sizeof(TypeKey));
    if (!bound->large) return PyErr_NoMemory(), false;
    bound->args = bound->large;
    bound->held = bound->args + n;
    bound->keys = (TypeKey *)(bound->held + nheld);
    return true;
}

static bool missing_argument(const JitCore *core, PyObject *name) {
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%U() missing a required argument: '%U'", core->name, name);
    return false;
}

static bool bind_defaults(JitCore *core, Bound *bound) {
    PyObject **out = bound->args, *defaults = NULL;
    for (Py_ssize_t i = 0; i < core->npositional; i++) {
        if (out[i]) continue;
        if (!defaults) /* the tuple holds its items */
            defaults = hold(bound, py_function_defaults(core->py_func));
        Py_ssize_t first = core->npositional - (defaults ? PyTuple_GET_SIZE(defaults) : 0);
        if (!defaults || i < first)
            return missing_argument(core, PyTuple_GET_ITEM(core->param_names, i));
        out[i] = PyTuple_GET_ITEM(defaults, i - first);
    }
    for (Py_ssize_t i = core->npositional; i < core->npositional + core->nkwonly; i++) {
        PyObject *name = PyTuple_GET_ITEM(core->param_names, i), *value = NULL;
        if (out[i]) continue;
        PyObject *dict = py_function_kwdefaults(core->py_func);
        int found = dict ? PyDict_GetItemRef(dict, name, &value) : 0;
        Py_XDECREF(dict);
        if (found <= 0) return missing_argument(core, name);
        out[i] = hold(bound, value);
    }
    return true;
}

static bool bind_rest(JitCore *core, PyObject *const *rest, Py_ssize_t n, Bound *bound) {
    PyObject *tuple = hold(bound, PyTuple_New(n));
    for (Py_ssize_t i = 0; tuple && i < n; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(rest[i]));
    bound->args[core->nparams - 1] = tuple;
    return tuple != NULL;
}

bool py_core_bind(JitCore *core, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                  Bound *bound) {
    Py_ssize_t taken = QN_MIN(n, core->npositional);
    if (!bound_init(bound, (size_t)core->nparams)) return false;
    if (bind_given(core, args, n, kwnames, (int32_t *)bound->keys, bound->args) &&
        bind_defaults(core, bound) &&
        (!core->varargs || bind_rest(core, args + taken, n - taken, bound)))
        return true;
    py_bound_release(bound);
    return false;
}

/* Other objects with buffers are classes of compiled code, or refused. */
static bool is_buffer(PyObject *object) {
    return PyMemoryView_Check(object) || !strcmp(Py_TYPE(object)->tp_name, "array.array");
}

bool py_bound_buffers(Bound *bound, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if (QN_LIKELY(!is_buffer(bound->args[i]))) continue;
        Py_buffer view; /* NumPy would take what has none for a sequence */
        if (PyObject_GetBuffer(bound->args[i], &view, PyBUF_FULL_RO) < 0) return false;
        PyBuffer_Release(&view);
        PyObject *array = PyArray_FROM_O(bound->args[i]);
        if (!array) return false;
        bound->held[bound->nheld++] = array;
        bool copied = PyArray_CHKFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
        if (!copied) bound->args[i] = array; /* else its elements have no dtype: it is refused */
    }
    return true;
}

/* Names are the parameters' own objects but in what was made at run time, and mostly come in their order. */
static Py_ssize_t place_of(const JitCore *core, PyObject *name, Py_ssize_t likely) {
    Py_ssize_t n = core->npositional + core->nkwonly;
    if (likely < n && PyTuple_GET_ITEM(core->param_names, likely) == name) return likely;
    for (Py_ssize_t i = core->nposonly; i < n; i++)
        if (PyTuple_GET_ITEM(core->param_names, i) == name) return i;
    return -1;
}

bool py_core_place(JitCore *core, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                   PyObject **out, PyObject **defaults) {
    Py_ssize_t fixed = core->npositional + core->nkwonly, taken = QN_MIN(n, core->npositional);
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0, left = fixed - taken - named;
    if ((n > taken && !core->varargs) || left < 0) return false;
    for (Py_ssize_t i = 0; i < fixed; i++)
        out[i] = i < taken ? args[i] : NULL;
    for (Py_ssize_t k = 0; k < named; k++) {
        Py_ssize_t i = place_of(core, PyTuple_GET_ITEM(kwnames, k), taken + k);
        if (i < core->nposonly || out[i]) return false;
        out[i] = args[n + k];
    }
    if (!left) return true;
    *defaults = py_function_defaults(core->py_func);
    Py_ssize_t first = core->npositional - (*defaults ? PyTuple_GET_SIZE(*defaults) : 0);
    for (Py_ssize_t i = taken; i < fixed; i++) {
        if (out[i]) continue;
        if (i < first || i >= core->npositional) return false;
        out[i] = PyTuple_GET_ITEM(*defaults, i - first);
    }
    return true;
}

/* -- options --------------------------------------------------------------------------------------------------- */

typedef struct OptionRow {
    const char *name;
    size_t offset;
    char kind; /* b bool, i int32 or int, u uint32, w uint64 */
} OptionRow;

#define OPTION(name, field, kind)                                                                  \
    { name, offsetof(CompileOptions, field), kind }
static const OptionRow option_rows[] = {
    OPTION("target", infer.target, 'i'),
    OPTION("kernel", infer.kernel, 'b'),
    OPTION("debug", infer.debug, 'b'),
    OPTION("no_boundscheck", infer.no_boundscheck, 'b'),
    OPTION("error_numpy", infer.error_numpy, 'b'),
    OPTION("fast_division", infer.fast_division, 'b'),
    OPTION("strong_numbers", infer.strong_numbers, 'b'),
    OPTION("cpu_numbers", infer.cpu_numbers, 'b'),
    OPTION("parallel", infer.parallel, 'b'),
    OPTION("cache", keep_object, 'b'),
    OPTION("opt_level", opt_level, 'i'),
    OPTION("fastmath", fastmath, 'u'),
    OPTION("own", own, 'u'),
    OPTION("no_fma", no_fma, 'b'),
    OPTION("lineinfo", lineinfo, 'b'),
    OPTION("all_params", all_params, 'b'),
    OPTION("status_result", status_result, 'b'),
    OPTION("general_variant", general_variant, 'b'),
    OPTION("any_sign", any_sign, 'b'),
    OPTION("any_shape", any_shape, 'b'),
    OPTION("pointers", pointers, 'w'),
    OPTION("no_vector_math", no_vector_math, 'b'),
    OPTION("sanitize", sanitize, 'u'),
    OPTION("max_threads", max_threads, 'i'),
    OPTION("max_registers", max_registers, 'i'),
};

bool py_options(PyObject *dict, CompileOptions *out) {
    memset(out, 0, sizeof *out);
    out->opt_level = 3;
    for (int i = 0; dict && i < countof(option_rows); i++) {
        const OptionRow *row = &option_rows[i];
        PyObject *value = PyDict_GetItemString(dict, row->name);
        if (!value) continue;
        char *field = (char *)out + row->offset;
        long number = row->kind == 'b'   ? PyObject_IsTrue(value)
                      : row->kind == 'w' ? (long)PyLong_AsUnsignedLong(value)
                                         : PyLong_AsLong(value);
        if (number == -1 && PyErr_Occurred()) return false;
        if (row->kind == 'w')
            *(uint64_t *)field = (uint64_t)number;
        else if (row->kind == 'b')
            *(bool *)field = number != 0;
        else if (row->kind == 'u')
            *(uint32_t *)field = (uint32_t)number;
        else
            *(int32_t *)field = (int32_t)number;
    }
    return true;
}
