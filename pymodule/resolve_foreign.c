/* resolve_foreign.c - functions of C, of ctypes and cffi: what quern/_foreign.py tells of them; and those declared for kernels: quern/_link.py. */
#include "pymodule/dispatch.h"
#include "pymodule/state.h"

/* Of a function of C: "none", "pointer", "array" or a number. */
static const Type *foreign_type(PyResolver *r, PyObject *word) {
    const char *text = PyUnicode_AsUTF8(word);
    if (!text) return NULL;
    if (!strcmp(text, "none")) return type_scalar(r->types, TY_none);
    if (strcmp(text, "pointer") != 0 && strcmp(text, "array") != 0)
        return ti_parse_type(r->types, r->arena, text, cg_diags(r->compilation));
    return type_array(r->types, type_scalar(r->types, TY_u8), 1, LAYOUT_C);
}

/* What _foreign.py has told: (address, words), or a text. */
static bool bind_described(PyResolver *r, Binding *b, PyObject *object, PyObject *told) {
    int by_pointer = 0, together = 0;
    PyObject *words, *name = PyObject_GetAttrString(object, "__name__");
    bool named = name && PyUnicode_Check(name) && py_str(r->arena, name, &b->name);
    Py_XDECREF(name);
    PyErr_Clear();
    if (!named) b->name = STR("a function of C");
    if (PyUnicode_Check(told)) return py_bind_name(r, b, BIND_UNBUILT, PyUnicode_AsUTF8(told));
    unsigned long long address;
    if (!PyArg_ParseTuple(told, "KO!|pp", &address, &PyList_Type, &words, &by_pointer, &together))
        return false;
    b->by_pointer = by_pointer != 0;
    b->together = together != 0;
    b->in_kernels = PyTuple_GET_SIZE(told) > 2;
    Py_ssize_t n = PyList_GET_SIZE(words) - 1;
    Signature *s = arena_new(r->arena, Signature);
    s->params = arena_array(r->arena, const Type *, n + 1);
    s->nparams = (int32_t)n;
    s->result = foreign_type(r, PyList_GET_ITEM(words, 0));
    for (Py_ssize_t i = 0; s->result && i < n; i++)
        if (!(s->params[i] = foreign_type(r, PyList_GET_ITEM(words, i + 1)))) return false;
    b->kind = BIND_FOREIGN;
    b->number = (int64_t)address;
    b->declared = s;
    b->ndeclared = 1;
    PyObject *shown = PyObject_Str(words);
    Str text = {0};
    bool known = shown && py_str(r->arena, shown, &text);
    Py_XDECREF(shown);
    b->digest = py_digest_text(
        BIND_FOREIGN, text); /* its address is of this process, and code does not have it */
    if (b->in_kernels)
        py_log_dependency(r, DEP_GLOBAL,
                          str_printf(r->arena, "the code of " STR_FMT, STR_ARG(b->name)), b);
    return known && s->result != NULL;
}

/* What it is linked with belongs to the code, too. */
static PyObject *describe_declared(PyResolver *r, PyObject *module, PyObject *object) {
    PyObject *links = PyObject_GetAttrString(object, "link");
    PyObject *told = links ? PyObject_CallMethod(module, "describe", "OOi", object, r->links,
                                                 !target_is_host(r->options.target))
                           : NULL;
    for (Py_ssize_t i = 0; told && i < PyList_GET_SIZE(links); i++)
        if (PyList_Append(r->links, PyList_GET_ITEM(links, i)) < 0) Py_CLEAR(told);
    Py_XDECREF(links);
    return told;
}

/* A function of cuda.declare_device. 1 bound, 0 another object, -1 exception. */
int py_bind_declared(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *mark;
    int found = py_get_optional(object, "_quern_declared", &mark);
    if (found <= 0) return found;
    Py_DECREF(mark);
    r->calls_declared = true;
    PyObject *module = PyImport_ImportModule("quern._link");
    PyObject *told = module ? describe_declared(r, module, object) : NULL;
    found = told && bind_described(r, b, object, told) ? 1 : -1;
    Py_XDECREF(module);
    Py_XDECREF(told);
    return found;
}

static bool has_attribute(PyTypeObject *type, const char *name) {
    PyObject *found;
    int has = py_get_optional((PyObject *)type, name, &found);
    if (has < 0) PyErr_Clear();
    Py_XDECREF(found);
    return has > 0;
}

bool py_is_of_c(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (has_attribute(type, "__wrapper_address__") || has_attribute(type, "_quern_signature"))
        return true;
    for (PyTypeObject *t = type; t; t = t->tp_base)
        if (strstr(t->tp_name, "CFuncPtr")) return true;
    return false;
}

/* What stands for a Python function of its own: cfunc(). 1 bound, 0 another object, -1 exception. */
int py_bind_wrapped(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *function;
    if (py_get_optional(object, "_quern_function", &function) < 0) return -1;
    int found = function && PyFunction_Check(function);
    PyObject *declared = NULL;
    if (found && py_get_optional(object, "_quern_signature", &declared) < 0) found = -1;
    if (found > 0 &&
        (!(b->handle = py_callee_of(r, function)) || !py_bind_function(r, b, b->handle)))
        found = -1;
    if (found > 0 && declared && PyList_Check(declared) && !py_read_declared(r, b, declared))
        found = -1;
    Py_XDECREF(declared);
    Py_XDECREF(function); /* the wrapper, which is kept, keeps it */
    return found;
}

/* An object of cffi: of its methods compiled code knows from_buffer. */
bool py_is_ffi(PyObject *object) {
    return !strcmp(Py_TYPE(object)->tp_name, "FFI") ||
           !strcmp(Py_TYPE(object)->tp_name, "_cffi_backend.FFI");
}

const Binding *py_ffi_attr(PyResolver *r, Str name) {
    Binding *b = arena_new(r->arena, Binding);
    b->kind = BIND_MISSING;
    if (str_is(name, "from_buffer")) py_bind_name(r, b, BIND_LIBRARY, "cuda.ffi.from_buffer");
    return b;
}

static bool may_be_foreign(PyTypeObject *type) {
    for (PyTypeObject *t = type; t; t = t->tp_base)
        if (strstr(t->tp_name, "CFuncPtr") || !strncmp(t->tp_name, "_cffi_backend.", 14))
            return true;
    return false;
}

/* A function of ctypes or cffi. 1 bound, 0 another object, -1 exception. */
int py_bind_of_c(PyResolver *r, Binding *b, PyObject *object) {
    if (!may_be_foreign(Py_TYPE(object)) && !has_attribute(Py_TYPE(object), "__wrapper_address__"))
        return 0;
    PyObject *module = PyImport_ImportModule("quern._foreign");
    PyObject *told = module ? PyObject_CallMethod(module, "describe", "O", object) : NULL;
    int found = !told ? -1 : told == Py_None ? 0 : bind_described(r, b, object, told) ? 1 : -1;
    Py_XDECREF(module);
    Py_XDECREF(told);
    return found;
}

/* The kernel's PTX with the code that it is linked with. false: exception. */
bool py_link(PyResolver *r, Artifact *artifact) {
    if (target_is_host(artifact->target) || !r->calls_declared) return true;
    PyObject *module = PyImport_ImportModule("quern._link");
    PyObject *text = module
                         ? PyObject_CallMethod(module, "join", "sOs", (const char *)artifact->code,
                                               r->links, r->arch ? r->arch : "sm_75")
                         : NULL;
    Py_ssize_t size = 0;
    const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (bytes) {
        artifact->code = arena_copy(&artifact->arena, bytes, (size_t)size + 1);
        artifact->ncode = size + 1;
        if (artifact->text_asm.len) artifact->text_asm = (Str){artifact->code, (int32_t)size};
    }
    Py_XDECREF(text);
    Py_XDECREF(module);
    return bytes != NULL;
}
