/* inspect_obj.c - what a function's specialisations are: signatures, facts, texts.
 *
 * C gives the facts; how they are shown is written in Python (quern/_surface.py). */
#include "pymodule/dispatch.h"

static PyObject *text(Str s) {
    return PyUnicode_DecodeUTF8(s.bytes ? s.bytes : "", s.len, "replace");
}

static int put(PyObject *dict, const char *name, PyObject *value) {
    int status = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

static PyObject *dependencies(const Artifact *artifact) {
    PyObject *list = PyList_New(artifact->ndependencies);
    for (int32_t i = 0; list && i < artifact->ndependencies; i++) {
        PyObject *path = text(artifact->dependencies[i].path);
        if (!path)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, path);
    }
    return list;
}

static PyObject *py_artifact_report(ModState *state, const Artifact *artifact) {
    (void)state;
    static const char *const targets[TARGET_COUNT] = {"cpu", "nvptx", "amdgpu"};
    PyObject *dict = PyDict_New();
    if (!dict) return NULL;
    int64_t total = artifact->ns_infer + artifact->ns_opt + artifact->ns_llvm + artifact->ns_link;
    if (put(dict, "name", text(artifact->name)) < 0 ||
        put(dict, "entry", text(artifact->entry_name)) < 0 ||
        put(dict, "target", PyUnicode_FromString(targets[artifact->target])) < 0 ||
        put(dict, "shared_bytes", PyLong_FromLong(artifact->shared_bytes)) < 0 ||
        put(dict, "param_bytes", PyLong_FromLong(artifact->param_bytes)) < 0 ||
        put(dict, "uses_barriers", PyBool_FromLong(artifact->uses_barriers)) < 0 ||
        put(dict, "cooperative", PyBool_FromLong(artifact->cooperative)) < 0 ||
        put(dict, "fast_variant", PyBool_FromLong(artifact->fast_variant)) < 0 ||
        put(dict, "compile_seconds", PyFloat_FromDouble((double)total * 1e-9)) < 0 ||
        put(dict, "infer_seconds", PyFloat_FromDouble((double)artifact->ns_infer * 1e-9)) < 0 ||
        put(dict, "opt_seconds", PyFloat_FromDouble((double)artifact->ns_opt * 1e-9)) < 0 ||
        put(dict, "llvm_seconds", PyFloat_FromDouble((double)artifact->ns_llvm * 1e-9)) < 0 ||
        put(dict, "dependencies", dependencies(artifact)) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* -- specialisations of a core ------------------------------------------------------------------- */

/* Those a user made or declared: not the ones that only convert arguments. */
static bool is_shown(const JitCore *core, const Spec *spec) {
    return spec->artifact && (core->can_compile || spec->declared);
}

/* In the order of compilation: ((parameter texts, result text), report) */
/* A copy of what the disk cache did. */
PyObject *py_core_cache_log(JitCore *core) {
    return core && core->cache_log ? PyDict_Copy(core->cache_log) : PyDict_New();
}

PyObject *py_core_specializations(JitCore *core) {
    SpecTable *table = py_core_snapshot(core);
    PyObject *list = table ? PyList_New(0) : NULL;
    for (int32_t i = 0; list && i < table->n; i++) {
        const Spec *spec = table->items[i];
        if (!is_shown(core, spec)) continue;
        PyObject *report = py_artifact_report(core->state, spec->artifact);
        PyObject *item = report ? PyTuple_Pack(2, spec->signature, report) : NULL;
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(report);
        Py_XDECREF(item);
    }
    py_snapshot_free(table);
    return list;
}

Spec *py_core_shown(JitCore *core, PyObject *index) {
    Py_ssize_t at = PyLong_AsSsize_t(index);
    if (at == -1 && PyErr_Occurred()) return NULL;
    const SpecTable *table = atomic_load_explicit(&core->table, memory_order_acquire);
    for (int32_t i = 0; table && i < table->n; i++)
        if (is_shown(core, table->items[i]) && at-- == 0) {
            py_spec_hold(table->items[i]);
            return table->items[i];
        }
    PyErr_SetString(PyExc_IndexError, "no such specialisation");
    return NULL;
}

/* The same signature compiled again with its texts kept: (llvm, asm, ir, types, parallel, loops). */
PyObject *py_core_texts(JitCore *core, PyObject *index) {
    const Spec *chosen = py_core_shown(core, index);
    if (!chosen) return NULL;
    CompileRequest q = {
        .keys = chosen->declared_keys, .nkeys = chosen->nargs, .options = core->options};
    q.options.keep_text = q.texts = true;
    Spec *spec = py_core_compile(core, &q);
    py_spec_release(chosen);
    if (!spec) return NULL;
    const Artifact *a = spec->artifact;
    Str assembly = a->text_asm;
    if (assembly.len && !assembly.bytes[assembly.len - 1]) assembly.len--;
    PyObject *texts =
        Py_BuildValue("(NNNNNN)", text(a->text_llvm), text(assembly), text(a->text_ir),
                      text(a->text_types), text(a->text_parallel), text(a->text_loops));
    py_spec_free(spec);
    return texts;
}

/* A call of quern._surface.<name>(self, *args, **kwargs). */
PyObject *py_surface(PyObject *self, const char *name, PyObject *args, PyObject *kwargs) {
    PyObject *module = PyImport_ImportModule("quern._surface");
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    Py_ssize_t n = args ? PyTuple_GET_SIZE(args) : 0;
    PyObject *result = NULL, *all = function ? PyTuple_New(1 + n) : NULL;
    if (all) {
        PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
        for (Py_ssize_t i = 0; i < n; i++)
            PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
        result = PyObject_Call(function, all, kwargs);
    }
    Py_XDECREF(all);
    Py_XDECREF(function);
    return result;
}
