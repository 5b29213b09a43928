/* ahead.c - kernels and device functions compiled for a chip that need not be there, and host code for programs without
 * Quern: what quern.hip.compile, quern.cuda.compile and quern.aot call. */
#include "pymodule/device.h"
#include "pymodule/dispatch.h"

/* The text of a `Str`, a new reference. */
static PyObject *text(Str s) {
    return PyUnicode_DecodeUTF8(s.len ? s.bytes : "", s.len, "replace");
}

static PyObject *describe(const Spec *spec) {
    const Artifact *a = spec->artifact;
    PyObject *code = PyBytes_FromStringAndSize(a->code, (Py_ssize_t)a->ncode);
    PyObject *object = PyBytes_FromStringAndSize(a->object.bytes, a->object.len);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:i,s:O}", "code", code, "object", object, "name",
                         text(a->entry_name), "llvm", text(a->text_llvm), "asm", text(a->text_asm),
                         "param_bytes", (int)a->param_bytes, "signature", spec->signature);
}

/* compile_kernel(function, signature text, options, architecture, keep texts, device function?, name of the entry or
 * None): a dict with the code. */
PyObject *py_compile_kernel(PyObject *module, PyObject *args) {
    PyObject *function, *options;
    const char *signature, *arch, *name = NULL;
    int keep_text, device = 0;
    CompileRequest q = {.nkeys = 0};
    JitCore core = {0};
    if (!PyArg_ParseTuple(args, "OsOsp|pz", &function, &signature, &options, &arch, &keep_text,
                          &device, &name))
        return NULL;
    if (!PyDict_Check(options)) return PyErr_SetString(PyExc_TypeError, "a dict is expected"), NULL;
    if (!py_options(options, &q.options)) return NULL;
    q.options.sanitize = 0; /* of the cpu device */
    q.options.entry = device ? ENTRY_DEVICE : ENTRY_KERNEL;
    q.options.infer.kernel = !device;
    q.options.name = name;
    q.options.arch = arch;
    q.options.keep_text = keep_text;
    q.signature = signature;
    PyObject *result = NULL;
    if (py_core_init(&core, py_state(module), function, &q.options)) {
        core.locals = Py_XNewRef(PyDict_GetItemString(options, "locals"));
        Spec *spec = py_core_compile(&core, &q);
        result = spec ? describe(spec) : NULL;
        py_spec_free(spec);
    }
    py_core_clear(&core);
    return result;
}

/* -- host code ------------------------------------------------------------------------------------------ */

static const char *kind_name(uint8_t kind) {
    return kind < TY_SCALARS ? type_name_of_kind(type_strong_kind((TypeKind)kind)) : "";
}

/* (what, kind, axes, order, read-only, use, size, offset, (items ...)): "number", "none", "tuple", "array", "" for what is none
 * of these. */
static PyObject *shape_of(const ValueLayout *v) {
    bool plain = !v->cls && !v->cells;
    bool array = plain && v->kind == TY_ARRAY && *kind_name(v->element);
    bool tuple = plain && v->kind == TY_TUPLE;
    const char *what = array                          ? "array"
                       : tuple                        ? "tuple"
                       : v->kind == TY_none           ? "none"
                       : plain && *kind_name(v->kind) ? "number"
                                                      : "";
    PyObject *items = PyTuple_New(tuple ? v->nitems : 0);
    for (int32_t i = 0; items && tuple && i < v->nitems; i++) {
        PyObject *item = shape_of(&v->items[i]);
        if (!item) Py_CLEAR(items);
        if (item) PyTuple_SET_ITEM(items, i, item);
    }
    if (!items) return NULL;
    const char order[] = {array ? (char)v->layout : 'C', 0};
    return Py_BuildValue("(ssisOiiiN)", what, kind_name(array ? v->element : v->kind), (int)v->ndim,
                         order, v->readonly ? Py_True : Py_False, (int)v->usage, (int)v->size,
                         (int)v->offset, items);
}

/* The class as every Python finds it: a builtin name, or one behind that of NumPy's module. Empty: it is the program's. */
static Str class_path(const RaiseInfo *r) {
    char name[128];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(r->class_name));
    PyObject *cls = py_builtin_exception(name);
    py_forget_error();
    bool same = cls && (!r->class_handle || cls == r->class_handle);
    bool of_numpy = same && ((PyTypeObject *)cls)->tp_flags & Py_TPFLAGS_HEAPTYPE;
    Py_XDECREF(cls);
    return of_numpy ? STR("numpy.linalg.LinAlgError") : same ? r->class_name : STR("");
}

/* (class, message or None, (kinds of further arguments ...)); a class of the user's and an argument that is no number are "". */
static PyObject *raise_of(const RaiseInfo *r) {
    PyObject *kinds = PyList_New(0), *message = Py_NewRef(Py_None);
    for (int32_t i = 0; kinds && i < r->nargs; i++) {
        PyObject *name = PyUnicode_FromString(i < RAISE_MAX_KINDS ? kind_name(r->kinds[i]) : "");
        if (!name || PyList_Append(kinds, name) < 0) Py_CLEAR(kinds);
        Py_XDECREF(name);
    }
    if (r->has_message) Py_SETREF(message, text(r->message));
    return Py_BuildValue("(NNN)", text(class_path(r)), message, kinds);
}

static PyObject *list_of(PyObject *(*one)(const Artifact *a, int32_t i), const Artifact *a,
                         int32_t n) {
    PyObject *list = PyList_New(n);
    for (int32_t i = 0; list && i < n; i++) {
        PyObject *item = one(a, i);
        if (!item) Py_CLEAR(list);
        if (item) PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static PyObject *param_at(const Artifact *a, int32_t i) {
    return shape_of(&a->params[i]);
}
static PyObject *raise_at(const Artifact *a, int32_t i) {
    return raise_of(&a->raises[i]);
}
static PyObject *site_at(const Artifact *a, int32_t i) {
    return text(a->sites[i].name);
}
static PyObject *address_at(const Artifact *a, int32_t i) {
    return PyLong_FromLong(a->addresses[i].kind);
}

static PyObject *guard_rows(void) {
    static const char *const rows[][2] = {
#define GUARD(name, exception, message, nargs) {#exception, message},
#include "frontend/ir/ir_guards.def"
#undef GUARD
    };
    PyObject *list = PyList_New(countof(rows));
    for (int i = 0; list && i < countof(rows); i++) {
        PyObject *row = Py_BuildValue("(ss)", rows[i][0], rows[i][1]);
        if (!row) Py_CLEAR(list);
        if (row) PyList_SET_ITEM(list, i, row);
    }
    return list;
}

#define PLACE(field) #field, (int)offsetof(CallContext, field)

static PyObject *describe_host(const Spec *spec) {
    const Artifact *a = spec->artifact;
    PyObject *context =
        Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "set_count",
                      (int)THREAD_SET_COUNT, "count", (int)THREAD_COUNT, "most", (int)THREAD_MOST,
                      "size", (int)sizeof(CallContext), PLACE(exception), PLACE(site), PLACE(args),
                      PLACE(stack_limit), PLACE(poll), PLACE(parallel));
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:O}", "object",
                         PyBytes_FromStringAndSize(a->object.bytes, a->object.len), "name",
                         text(a->entry_name), "params", list_of(param_at, a, a->nparams), "result",
                         shape_of(&a->result), "raises", list_of(raise_at, a, a->nraises), "sites",
                         list_of(site_at, a, a->nsites), "addresses",
                         list_of(address_at, a, a->naddresses), "guards", guard_rows(), "context",
                         context, "resumes", a->resumes ? Py_True : Py_False);
}

/* compile_host(function, signature text, options, processor, name of the entry): a dict with the object file, and all that its caller
 * must know. */
PyObject *py_compile_host(PyObject *module, PyObject *args) {
    PyObject *function, *options;
    CompileRequest q = {.nkeys = 0};
    JitCore core = {0};
    const char *signature, *arch, *name;
    if (!PyArg_ParseTuple(args, "OsO!ss", &function, &signature, &PyDict_Type, &options, &arch,
                          &name))
        return NULL;
    if (!py_options(options, &q.options)) return NULL;
    q.options.entry = ENTRY_HOST;
    q.options.name = name;
    bool host = strcmp(arch, "host") == 0;
    q.options.arch = host ? NULL : arch;
    q.options.cpu_features = host ? NULL : "";
    q.options.no_vector_math = q.options.closed = true;
    q.options.keep_object = false; /* the disk cache has nothing of it */
    q.signature = signature;
    PyObject *result = NULL;
    if (py_core_init(&core, py_state(module), function, &q.options)) {
        core.locals = Py_XNewRef(PyDict_GetItemString(options, "locals"));
        Spec *spec = py_core_compile(&core, &q);
        result = spec ? describe_host(spec) : NULL;
        py_spec_free(spec);
    }
    py_core_clear(&core);
    return result;
}
