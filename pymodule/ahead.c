/* ahead.c - kernels and device functions compiled for a chip that need not be there, and host code for programs without
 * Quern: what quern.hip.compile, quern.cuda.compile and quern.aot call. */
#include "pymodule/ahead/ahead.h"
#include "pymodule/device.h"
#include "pymodule/dispatch.h"

/* The text of a `Str`, a new reference. */
static PyObject *text(Str s) {
    return PyUnicode_DecodeUTF8(s.len ? s.bytes : "", s.len, "surrogatepass");
}

static PyObject *describe(const Spec *spec) {
    const Artifact *a = spec->artifact;
    PyObject *code = PyBytes_FromStringAndSize(a->code, (Py_ssize_t)a->ncode);
    PyObject *object = PyBytes_FromStringAndSize(a->object.bytes, a->object.len);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:i,s:O}", "code", code, "object", object, "name",
                         text(a->entry_name), "llvm", text(a->text_llvm), "asm", text(a->text_asm),
                         "param_bytes", (int)a->param_bytes, "signature", spec->signature);
}

/* compile_kernel(function, signature text, options, architecture, keep texts, device function?, name of the entry or None,
 * a dict that is told of hits and misses, what makes other code of the code or None, what that is as text): a dict with the code. */
PyObject *py_compile_kernel(PyObject *module, PyObject *args) {
    PyObject *function, *options, *log = NULL, *finish = NULL;
    const char *signature, *arch, *name = NULL;
    int keep_text, device = 0;
    CompileRequest q = {.nkeys = 0};
    JitCore core = {0};
    if (!PyArg_ParseTuple(args, "OsO!sp|pzO!Oz", &function, &signature, &PyDict_Type, &options,
                          &arch, &keep_text, &device, &name, &PyDict_Type, &log, &finish,
                          &q.finished_by))
        return NULL;
    if (!py_options(options, &q.options)) return NULL;
    q.options.sanitize = 0; /* of the cpu device */
    q.options.entry = device ? ENTRY_DEVICE : ENTRY_KERNEL;
    q.options.infer.kernel = !device;
    q.options.name = name;
    q.options.arch = arch;
    q.options.keep_text = q.texts = keep_text;
    q.finish = finish == Py_None ? NULL : finish;
    q.signature = signature;
    PyObject *result = NULL;
    if (py_core_init(&core, py_state(module), function, &q.options)) {
        core.locals = Py_XNewRef(PyDict_GetItemString(options, "locals"));
        core.linked = Py_XNewRef(PyDict_GetItemString(options, "link"));
        core.cache_log = Py_XNewRef(log);
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

/* (what, kind, axes, order, read-only, use, size, offset, (items ...)): "number", "none", "tuple", "array", "text", "bytes", "" for what is
 * none of these. */
static PyObject *shape_of(const ValueLayout *v) {
    bool plain = !v->cls && !v->cells;
    bool array = plain && v->kind == TY_ARRAY && *kind_name(v->element);
    bool tuple = plain && v->kind == TY_TUPLE;
    bool object = v->kind == TY_CLASS && v->nitems == 0;
    const char *what = object && v->element == CLS_str     ? "text"
                       : object && v->element == CLS_bytes ? "bytes"
                       : array                             ? "array"
                       : tuple                             ? "tuple"
                       : v->kind == TY_none                ? "none"
                       : plain && *kind_name(v->kind)      ? "number"
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

/* Where a program without Quern finds the class: the name of a builtin one (py_builtin_exception), or "module:name" of one of the
 * program's. Empty: nowhere. */
static PyObject *class_path(Str class_name, PyObject *cls) {
    char name[256];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(class_name));
    PyObject *module = NULL, *named = NULL, *path = NULL, *found = NULL;
    if (!cls || py_is_builtin_exception(cls, name)) return text(class_name);
    module = PyObject_GetAttrString(cls, "__module__");
    named = PyObject_GetAttrString(cls, "__qualname__");
    if (module && named) path = PyUnicode_FromFormat("%S:%S", module, named);
    const char *bytes = path ? PyUnicode_AsUTF8(path) : NULL;
    if (bytes && strncmp(bytes, "__main__:", 9)) found = py_named_exception(str_from(bytes), false);
    if (found != cls) Py_XSETREF(path, NULL);
    py_forget_error();
    Py_XDECREF(found);
    Py_XDECREF(named);
    Py_XDECREF(module);
    return path ? path : PyUnicode_FromString("");
}

/* (class, name of the class, message or None, how many further arguments, their kinds): RaiseInfo. */
static PyObject *raise_of(const RaiseInfo *r) {
    PyObject *message = r->has_message ? text(r->message) : Py_NewRef(Py_None);
    return Py_BuildValue("(NNNiy#)", class_path(r->class_name, r->class_handle),
                         text(r->class_name), message, (int)r->nargs, r->kinds,
                         (Py_ssize_t)RAISE_MAX_KINDS);
}

/* (file, function, line, name): CodeSite. */
static PyObject *site_of(const CodeSite *site) {
    return Py_BuildValue("(NNiN)", text(site->file), text(site->function), (int)site->line,
                         text(site->name));
}

/* (AddressKind, of a class where it is found). */
static PyObject *address_of(const CodeAddress *address) {
    bool is_class = address->kind == ADDRESS_CLASS;
    PyObject *cls = is_class ? address->handle : NULL;
    const char *name = is_class ? ((PyTypeObject *)cls)->tp_name : "";
    return Py_BuildValue("(iN)", (int)address->kind, class_path(str_from(name), cls));
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
    return site_of(&a->sites[i]);
}
static PyObject *address_at(const Artifact *a, int32_t i) {
    return address_of(&a->addresses[i]);
}

/* Sizes of what the C around it has definitions of its own for, and the number of an exception that it raises. */
static PyObject *describe_sizes(void) {
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i}", "no_memory", -1 - GUARD_memory, "context_size",
                         (int)sizeof(AheadCall), "raise_size", (int)sizeof(RaiseInfo), "site_size",
                         (int)sizeof(CodeSite), "kinds", (int)RAISE_MAX_KINDS);
}

static PyObject *describe_host(const Spec *spec) {
    const Artifact *a = spec->artifact;
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:O}", "object",
                         PyBytes_FromStringAndSize(a->object.bytes, a->object.len), "name",
                         text(a->entry_name), "params", list_of(param_at, a, a->nparams), "result",
                         shape_of(&a->result), "raises", list_of(raise_at, a, a->nraises), "sites",
                         list_of(site_at, a, a->nsites), "addresses",
                         list_of(address_at, a, a->naddresses), "sizes", describe_sizes(),
                         "resumes", a->resumes ? Py_True : Py_False);
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
