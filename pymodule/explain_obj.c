/* explain_obj.c - f.explain(): everything that keeps a function from being compiled, as Python values.
 *
 * The compiler's list first (ti_diagnose), then that of its parallel loops. Where these are empty and all types are known, the
 * function is compiled, as a call would: only then is it true that nothing stops it. How the answer is shown is quern/_explain.py. */
#include "pymodule/dispatch.h"

/* What is asked: a signature; or arguments, of which a key of 0 is not known. */
typedef struct Question {
    const char *signature;
    TypeKey *keys, few_keys[FEW_ARGS];
    int32_t nkeys;
    bool unknown; /* some type is not known */
    bool device;  /* the function is one for kernels */
    PyObject *items;
} Question;

static PyObject *text_or_none(Str s) {
    if (!s.bytes) return Py_NewRef(Py_None);
    return PyUnicode_DecodeUTF8(s.bytes, s.len, "replace");
}

/* (code, is it an error?, file, line, column, message, all of the text) */
static int add_item(ModState *state, PyObject *items, DiagList *diags, const DiagItem *item) {
    PyObject *all = py_diag_text(state, diags, item);
    bool placed = item->has_span && item->span.line > 0;
    PyObject *row =
        all ? Py_BuildValue("(sONiiNN)", diag_name(item->code),
                            diag_severity(item->code) == SEV_ERROR ? Py_True : Py_False,
                            placed ? text_or_none(item->span.file) : Py_NewRef(Py_None),
                            placed ? (int)item->span.line : 0, placed ? (int)item->span.column : -1,
                            text_or_none(item->text), all)
            : NULL;
    int status = row ? PyList_Append(items, row) : -1;
    Py_XDECREF(row);
    return status;
}

static int add_diags(ModState *state, PyObject *items, DiagList *diags) {
    for (int32_t i = 0; i < diags->items.len; i++)
        if (add_item(state, items, diags, &diags->items.items[i]) < 0) return -1;
    return 0;
}

/* The exception that is set, a refusal, becomes an item as it is. Others stay set. */
static int add_raised(ModState *state, PyObject *items) {
    PyObject *raised = PyErr_GetRaisedException(), *refusal = py_error_class(state, "NumbaError");
    int status = -1;
    if (refusal && PyErr_GivenExceptionMatches(raised, refusal))
        status = PyList_Append(items, raised);
    else if (refusal)
        PyErr_SetRaisedException(Py_NewRef(raised));
    Py_XDECREF(refusal);
    Py_DECREF(raised);
    return status;
}

/* "int, float64[:], ?" */
static PyObject *type_texts(const Type *const *types, int32_t n, Arena *arena) {
    StrBuf text;
    buf_init(&text, arena);
    for (int32_t i = 0; i < n; i++) {
        buf_str(&text, i ? ", " : "");
        if (types[i])
            type_describe(&text, types[i]);
        else
            buf_str(&text, "?");
    }
    return text_or_none(buf_take(&text));
}

static void drop_warnings(DiagList *diags) {
    int32_t kept = 0;
    for (int32_t i = 0; i < diags->items.len; i++)
        if (diag_severity(diags->items.items[i].code) == SEV_ERROR)
            diags->items.items[kept++] = diags->items.items[i];
    diags->items.len = kept;
}

/* Runs the compiler's front half. The text of the parameter types, or NULL with an exception. *result: that of a
 * function of kernels, which is not compiled alone. */
static PyObject *diagnose(JitCore *core, const CompileOptions *options, Question *q,
                          PyObject **result) {
    PyResolver r;
    CompileRequest request = {
        .keys = q->signature ? NULL : q->keys, .nkeys = q->nkeys, .signature = q->signature};
    request.options = *options;
    py_resolver_init(&r, core->state, core->py_func, &request.options);
    r.locals = core->locals;
    r.linked = core->linked;
    Compilation *c = cg_begin(&request.options, &r.base);
    if (!c) return PyErr_NoMemory();
    PyObject *types = NULL;
    if (py_resolver_attach(&r, c)) {
        Signature signature = {NULL, NULL, 0};
        const Binding *function = py_bind(&r, core->py_func, STR("e:"));
        if (function && py_request_types(core, &r, &request, &signature)) {
            const Type *declared = signature.result;
            if (declared && declared->kind == TY_UNKNOWN) declared = NULL;
            bool clean = cg_diagnose(c, function, signature.params, signature.nparams, declared);
            bool front = clean && !q->unknown && (q->device || request.options.infer.parallel) &&
                         cg_front(c, function, signature.params, signature.nparams, declared);
            if (front && q->device)
                *result =
                    text_or_none(type_text(cg_arena(c), cg_module(c)->funcs.items[0]->result));
            else if (front)
                cg_diagnose_loops(c);
            if (front) drop_warnings(cg_diags(c)); /* a call tells them */
            if (!PyErr_Occurred() && add_diags(core->state, q->items, cg_diags(c)) == 0)
                types = type_texts(signature.params, signature.nparams, cg_arena(c));
        } else if (!PyErr_Occurred()) {
            py_raise_diags(core->state, cg_diags(c)); /* of the signature */
        }
    }
    cg_end(c);
    py_resolver_close(&r);
    return types;
}

/* Compiles as a call would, and gives the result's type as text; NULL: an exception, or an item says why not. */
static PyObject *compiled_result(JitCore *core, const CompileOptions *options, Question *q) {
    CompileRequest request = {
        .keys = q->signature ? NULL : q->keys, .nkeys = q->nkeys, .signature = q->signature};
    request.options = *options;
    Spec *spec = py_core_compile(core, &request);
    if (!spec) {
        if (request.refused) add_raised(core->state, q->items);
        return NULL;
    }
    PyObject *result = Py_NewRef(PyTuple_GET_ITEM(spec->signature, 1));
    py_spec_free(spec);
    return result;
}

static bool read_arguments(JitCore *core, PyObject *args, PyObject *kwargs, ArgKey key_of,
                           Question *q) {
    Bound bound;
    PyObject *flat = NULL, *names = NULL;
    Py_ssize_t nkw = kwargs ? PyDict_GET_SIZE(kwargs) : 0, n = PyTuple_GET_SIZE(args);
    bool ok = (flat = PyTuple_New(n + nkw)) && (names = PyTuple_New(nkw));
    for (Py_ssize_t i = 0; ok && i < n; i++)
        PyTuple_SET_ITEM(flat, i, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    PyObject *name, *value;
    for (Py_ssize_t i = 0, at = 0; ok && nkw && PyDict_Next(kwargs, &at, &name, &value); i++) {
        PyTuple_SET_ITEM(names, i, Py_NewRef(name));
        PyTuple_SET_ITEM(flat, n + i, Py_NewRef(value));
    }
    bool is_bound =
        ok && py_core_bind(core, &PyTuple_GET_ITEM(flat, 0), n, nkw ? names : NULL, &bound);
    ok = is_bound;
    const char *function = ok ? PyUnicode_AsUTF8(core->name) : NULL;
    for (int32_t i = 0; ok && i < core->nparams; i++) {
        q->keys[i] = key_of(core->state, bound.args[i], function ? function : "?", i);
        if (q->keys[i]) continue;
        q->unknown = true; /* said now; the analysis goes on without it */
        ok = add_raised(core->state, q->items) == 0;
    }
    if (is_bound) py_bound_release(&bound);
    Py_XDECREF(flat);
    Py_XDECREF(names);
    return ok;
}

/* `what`: None, a signature as text, or (arguments, keywords). */
static bool read_question(JitCore *core, PyObject *what, ArgKey key_of, Question *q) {
    q->nkeys = core->nparams;
    if (PyUnicode_Check(what)) return (q->signature = PyUnicode_AsUTF8(what)) != NULL;
    if (what == Py_None) return q->unknown = core->nparams > 0 || core->unsupported_kwargs, true;
    PyObject *args, *kwargs;
    if (!PyArg_ParseTuple(what, "O!O!", &PyTuple_Type, &args, &PyDict_Type, &kwargs)) return false;
    if (core->unsupported_kwargs) return q->unknown = true;
    return read_arguments(core, args, kwargs, key_of, q);
}

PyObject *py_core_explain(JitCore *core, const CompileOptions *options, bool device, PyObject *what,
                          ArgKey key_of) {
    Question *q = PyMem_Calloc(1, sizeof *q);
    if (!q) return PyErr_NoMemory();
    PyObject *types = NULL, *result = NULL, *answer = NULL;
    q->device = device;
    q->items = PyList_New(0);
    q->keys = py_keys_room(q->few_keys, core->nparams);
    if (q->keys) memset(q->keys, 0, sizeof *q->keys * (size_t)core->nparams);
    if (q->items && q->keys && read_question(core, what, key_of, q))
        types = diagnose(core, options, q, &result);
    bool clean = types && PyList_GET_SIZE(q->items) == 0 && !q->unknown;
    if (clean && !device) result = compiled_result(core, options, q);
    if (types && !PyErr_Occurred())
        answer = Py_BuildValue("(OOOO)", q->items, types, result ? result : Py_None,
                               q->unknown ? Py_True : Py_False);
    Py_XDECREF(types);
    Py_XDECREF(result);
    Py_XDECREF(q->items);
    py_keys_free(q->few_keys, q->keys);
    PyMem_Free(q);
    return answer;
}

/* -- recording -------------------------------------------------------------------------------- */

bool py_record_call(ModState *state, PyObject *owner, PyObject *const *args, Py_ssize_t n,
                    PyObject *kwnames) {
    Py_ssize_t all = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    PyObject *recorder = Py_NewRef(state->recorder);
    PyObject **given = PyMem_Malloc(sizeof *given * (size_t)(all + 1));
    if (!given) return Py_DECREF(recorder), PyErr_NoMemory(), false;
    given[0] = owner;
    if (all) memcpy(given + 1, args, sizeof *given * (size_t)all);
    PyObject *done = PyObject_Vectorcall(recorder, given, (size_t)n + 1, kwnames);
    PyMem_Free(given);
    Py_DECREF(recorder);
    Py_XDECREF(done);
    return done != NULL;
}

bool py_forget_refusal(ModState *state) {
    if (!py_records(state) || !PyErr_Occurred()) return false;
    PyObject *raised = PyErr_GetRaisedException(), *refusal = py_error_class(state, "NumbaError");
    bool forget = refusal && PyErr_GivenExceptionMatches(raised, refusal);
    Py_XDECREF(refusal);
    if (forget)
        Py_DECREF(raised);
    else
        PyErr_SetRaisedException(raised);
    return forget;
}
