/* ahead.c - kernels and device functions compiled for a chip that need not be there: what quern.hip.compile and
 * quern.cuda.compile call. */
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
