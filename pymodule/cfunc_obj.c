/* cfunc_obj.c - compiled functions that C code calls: the object that owns the code and is told of its exceptions. */
#include "codegen/support.h"
#include "pymodule/dispatch.h"
#include "runtime/runtime.h"

typedef struct CFunction {
    PyObject_HEAD CodeOwner owner; /* what the code knows */
    JitCore core;
    Spec *spec;
} CFunction;

static CFunction *function_of(const CodeOwner *owner) {
    return (CFunction *)((char *)(uintptr_t)owner - offsetof(CFunction, owner));
}

/* The caller is C: nobody is there to raise to. Any thread. */
static void tell_failure(const CodeOwner *owner, CallContext *ctx, int status) {
    CFunction *f = function_of(owner);
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *before = PyErr_GetRaisedException();
    py_raise_call(f->core.state, f->spec->artifact, ctx, status,
                  PyFunction_GetGlobals(f->core.py_func));
    PyErr_WriteUnraisable(f->core.py_func);
    PyErr_SetRaisedException(before);
    PyGILState_Release(gil);
}

static void cfunction_dealloc(PyObject *self) {
    CFunction *f = (CFunction *)self;
    PyTypeObject *type = Py_TYPE(self);
    py_spec_free(f->spec);
    py_core_clear(&f->core);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *get_address(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((CFunction *)self)->spec->artifact->entry);
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    Str name = ((CFunction *)self)->spec->artifact->entry_name;
    return PyUnicode_FromStringAndSize(name.bytes, name.len);
}

static PyObject *get_llvm(PyObject *self, void *unused) {
    (void)unused;
    Str text = ((CFunction *)self)->spec->artifact->text_llvm;
    return PyUnicode_DecodeUTF8(text.len ? text.bytes : "", text.len, "replace");
}

static PyObject *cache_log(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_core_cache_log(&((CFunction *)self)->core);
}

static PyMethodDef cfunction_methods[] = {
    {"_cache_log", cache_log, METH_NOARGS, "What the disk cache did."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef cfunction_fields[] = {
    {"address", get_address, NULL, "Of the function, as an int.", NULL},
    {"native_name", get_name, NULL, "Its symbol.", NULL},
    {"llvm", get_llvm, NULL, "LLVM's text of the module.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot cfunction_slots[] = {
    {Py_tp_doc, "The code of a function that C calls."},
    {Py_tp_dealloc, cfunction_dealloc},
    {Py_tp_methods, cfunction_methods},
    {Py_tp_getset, cfunction_fields},
    {0, NULL},
};

PyType_Spec py_cfunction_spec = {
    .name = "quern._quern.CFunction",
    .basicsize = sizeof(CFunction),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = cfunction_slots,
};

/* compile_c(function, signature text, options) */
PyObject *py_compile_c(PyObject *module, PyObject *args) {
    PyObject *function, *options;
    const char *signature;
    ModState *state = py_state(module);
    CompileRequest q = {.nkeys = 0};
    if (!PyArg_ParseTuple(args, "OsO", &function, &signature, &options)) return NULL;
    if (!PyDict_Check(options)) return PyErr_SetString(PyExc_TypeError, "a dict is expected"), NULL;
    if (!py_options(options, &q.options)) return NULL;
    CFunction *f = PyObject_New(CFunction, state->cfunction_type);
    if (!f) return NULL;
    memset((char *)f + offsetof(CFunction, owner), 0, sizeof *f - offsetof(CFunction, owner));
    f->owner = (CodeOwner){tell_failure, py_stack_limit, &rt_parallel};
    q.options.entry = ENTRY_C;
    q.options.c_owner = &f->owner;
    q.options.keep_text = q.texts = true;
    q.signature = signature;
    if (py_core_init(&f->core, state, function, &q.options)) {
        f->core.locals = Py_XNewRef(PyDict_GetItemString(options, "locals"));
        f->spec = py_core_compile(&f->core, &q);
    }
    if (f->spec) return (PyObject *)f;
    PyObject *raised = PyErr_GetRaisedException();
    Py_DECREF(f);
    PyErr_SetRaisedException(raised);
    return NULL;
}
