/* kernel_inspect.c - what a kernel tells of its specialisations. */
#include "pymodule/kernel.h"

static JitCore *current_core(PyObject *self) {
    Kernel *k = (Kernel *)self;
    RtDevice *device = py_current_device(k->state, k->wanted);
    return device ? py_kernel_core(k, device) : NULL;
}

PyObject *py_kernel_specializations(PyObject *self, PyObject *unused) {
    (void)unused;
    JitCore *core = current_core(self);
    return core ? py_core_specializations(core) : NULL;
}

PyObject *py_kernel_cache_log(PyObject *self, PyObject *unused) {
    (void)unused;
    JitCore *core = current_core(self);
    return core ? py_core_cache_log(core) : NULL;
}

PyObject *py_kernel_texts(PyObject *self, PyObject *index) {
    JitCore *core = current_core(self);
    return core ? py_core_texts(core, index) : NULL;
}

/* declare(list of signature texts): compiled now, and no others later. */
PyObject *py_kernel_declare(PyObject *self, PyObject *list) {
    Kernel *k = (Kernel *)self;
    if (!PyList_Check(list)) return PyErr_SetString(PyExc_TypeError, "a list is expected"), NULL;
    if (py_records(k->state)) { /* told now; a launch shows what it is called with */
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
            PyObject *text = PyList_GET_ITEM(list, i);
            if (!py_record_call(k->state, self, &text, 1, NULL)) return NULL;
        }
        Py_RETURN_NONE;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (PyList_Append(k->declared, PyList_GET_ITEM(list, i)) < 0) return NULL;
    k->closed = true;
    if (k->device_function) Py_RETURN_NONE;
    for (int i = 0; i < CORES; i++)
        atomic_store(&k->ready[i], false);
    if (!current_core(self)) return NULL;
    Py_RETURN_NONE;
}

/* info(index): registers, shared memory and the like, from the device. */
PyObject *py_kernel_info(PyObject *self, PyObject *index) {
    JitCore *core = current_core(self);
    Spec *spec = core ? py_core_shown(core, index) : NULL;
    if (!spec) return NULL;
    RtDevice *device = py_current_device(core->state, ((Kernel *)self)->wanted);
    RtKernel *kernel = device ? py_kernel_loaded(core, spec, device) : NULL;
    if (!kernel) return py_spec_release(spec), NULL;
    RtKernelInfo told = *rt_kernel_info(kernel), *info = &told;
    if (rt_info(device)->kind == RT_CPU) { /* nobody but the code knows */
        told.shared_bytes = spec->artifact->static_shared;
        told.local_bytes = spec->artifact->local_bytes;
        told.const_bytes = spec->artifact->const_bytes;
    }
    PyObject *facts = Py_BuildValue(
        "{s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "max_threads", (int)info->max_threads, "registers",
        (int)info->registers, "shared_bytes", (int)info->shared_bytes, "local_bytes",
        (int)info->local_bytes, "const_bytes", (int)info->const_bytes, "ptx_version",
        (int)info->ptx_version, "binary_version", (int)info->binary_version);
    py_spec_release(spec);
    return facts;
}

/* The answer for (index, block_size, dynamic_shared) of a specialisation. */
static PyObject *of_block(PyObject *self, PyObject *args, bool grid) {
    PyObject *index;
    int block, shared = 0;
    int32_t each = 0;
    int64_t blocks = 0;
    if (!PyArg_ParseTuple(args, "Oi|i", &index, &block, &shared)) return NULL;
    JitCore *core = current_core(self);
    Spec *spec = core ? py_core_shown(core, index) : NULL;
    RtDevice *device = spec ? py_current_device(core->state, ((Kernel *)self)->wanted) : NULL;
    RtKernel *kernel = device ? py_kernel_loaded(core, spec, device) : NULL;
    RtError err;
    if (kernel && grid)
        PY_UNLOCKED(core->state, &err, rt_most_blocks(kernel, block, shared, &blocks, &err));
    if (kernel && !grid)
        PY_UNLOCKED(core->state, &err, rt_occupancy(kernel, block, shared, &each, &err));
    py_spec_release(spec);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(grid ? blocks : each);
}
PyObject *py_kernel_most_blocks(PyObject *self, PyObject *args) {
    return of_block(self, args, true);
}
PyObject *py_kernel_occupancy(PyObject *self, PyObject *args) {
    return of_block(self, args, false);
}

/* result_dtype(*arguments): what a device function returns for scalars of these values' types. */
PyObject *py_kernel_result_dtype(PyObject *self, PyObject *args) {
    JitCore *core = current_core(self);
    TypeKey few[FEW_ARGS];
    if (!core) return NULL;
    if (PyTuple_GET_SIZE(args) != core->nparams)
        return PyErr_SetString(PyExc_TypeError, "one value for each parameter is expected"), NULL;
    TypeKey *keys = py_keys_room(few, core->nparams);
    int32_t known = 0;
    while (keys && known < core->nparams &&
           (keys[known] = py_arg_key(core->state, PyTuple_GET_ITEM(args, known), "?", known)))
        known++;
    int kind = keys && known == core->nparams ? py_core_result_kind(core, keys, known) : -1;
    py_keys_free(few, keys);
    if (kind < 0) return NULL;
    if ((kind < TY_bool || kind > TY_c128) && !py_is_time(core->state->descrs[kind]))
        return PyErr_Format(PyExc_TypeError, "'%U' does not return a number", core->name);
    return Py_XNewRef((PyObject *)py_descr_of_kind(core->state, kind));
}

static TypeKey key_on(RtDeviceKind wanted, ModState *state, PyObject *arg, const char *function,
                      int position) {
    RtDevice *device = PyArray_Check(arg) ? NULL : py_current_device(state, wanted);
    DeviceArray *wrapped = device ? py_as_device_array(state, device, arg) : NULL;
    if (!wrapped && PyErr_Occurred()) return 0;
    TypeKey key = py_kernel_arg_key(state, wrapped ? (PyObject *)wrapped : arg, function, position);
    Py_XDECREF(wrapped);
    return key;
}

static TypeKey cuda_key(ModState *state, PyObject *arg, const char *function, int position) {
    return key_on(RT_CUDA, state, arg, function, position);
}
static TypeKey hip_key(ModState *state, PyObject *arg, const char *function, int position) {
    return key_on(RT_HIP, state, arg, function, position);
}

PyObject *py_kernel_explain(PyObject *self, PyObject *what) {
    Kernel *k = (Kernel *)self;
    JitCore *core = current_core(self);
    if (!core) return NULL;
    CompileOptions options = core->options;
    if (k->device_function) options.infer.kernel = false; /* it may return something */
    return py_core_explain(core, &options, k->device_function, what,
                           k->wanted == RT_HIP ? hip_key : cuda_key);
}
