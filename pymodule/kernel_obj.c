/* kernel_obj.c - Kernel (cuda.jit) and Launch (kernel[grid, block, stream, shared]).
 *
 * A kernel has one core for each kind of device, made when it first runs there; a specialisation has
 * its loaded kernels, one for each device, and its general variant (arrays that overlap, 64-bit offsets)
 * once a launch needed it. Launch is made once for each subscript and kept; calling it is the fast path. */
#include "pymodule/kernel.h"
#include "frontend/base/dump.h"

typedef struct Launch {
    PyObject_HEAD vectorcallfunc vectorcall;
    Kernel *kernel;
    int64_t grid[3], block[3], shared;
    int64_t forall; /* >= 0: number of elements; grid and block follow from it */
    RtStream *stream;
    PyObject *keep;      /* of the stream */
    PyObject *callbacks; /* a list of what is called before each launch; NULL: nobody has asked */
} Launch;

typedef struct KernelExtra { /* of a specialisation */
    _Atomic(RtKernel *) loaded[MAX_DEVICES];
    _Atomic(Spec *) general; /* without assumptions about the arrays */
    _Atomic(Spec *) uneven;  /* or about their shapes alone */
} KernelExtra;

/* -- specialisations --------------------------------------------------------------------------------------- */

static void drop_extra(void *memory) {
    KernelExtra *extra = memory;
    for (int i = 0; i < MAX_DEVICES; i++) {
        RtKernel *kernel = atomic_load(&extra->loaded[i]);
        if (kernel) rt_kernel_release(kernel);
    }
    py_spec_free(atomic_load(&extra->general));
    py_spec_free(atomic_load(&extra->uneven));
    PyMem_Free(extra);
}

static bool add_extra(Spec *spec) {
    spec->extra = PyMem_Calloc(1, sizeof(KernelExtra));
    if (spec->extra) spec->drop_extra = drop_extra;
    return spec->extra || PyErr_NoMemory();
}

static Spec *with_extra(Spec *spec) {
    if (!spec || add_extra(spec)) return spec;
    py_spec_free(spec);
    return NULL;
}

static bool take_declared(void *user, Spec *spec, bool refused) {
    (void)user, (void)refused;
    return spec != NULL;
}

static bool declare_all(Kernel *k, JitCore *core) {
    PyObject *texts = PySequence_Tuple(k->declared);
    bool ok = texts && py_core_declare(core, &PyTuple_GET_ITEM(texts, 0), PyTuple_GET_SIZE(texts),
                                       take_declared, NULL);
    Py_XDECREF(texts);
    if (ok) core->can_compile = !k->closed;
    return ok;
}

/* The option of that name; borrowed, or NULL. */
static PyObject *option_of(const Kernel *k, const char *name) {
    PyObject *option = k->user_options ? PyDict_GetItemString(k->user_options, name) : NULL;
    return option == Py_None ? NULL : option;
}
static PyObject *locals_of(const Kernel *k) {
    return option_of(k, "locals");
}

static inline int core_index(const RtDeviceInfo *info) {
    return QN_LIKELY(info->model == 0) ? (int)info->kind
                                       : RT_KINDS - 1 + QN_MIN(info->model, MORE_MODELS);
}

TargetKind py_target_of(RtDeviceKind kind) {
    static const TargetKind targets[RT_KINDS] = {[RT_CPU] = TARGET_CPU,
                                                 [RT_CUDA] = TARGET_NVPTX,
                                                 [RT_HIP] = TARGET_AMDGPU,
                                                 [RT_NULL] = TARGET_CPU};
    return targets[kind];
}

static JitCore *make_core(Kernel *k, const RtDeviceInfo *info) {
    int at = core_index(info);
    JitCore *core = &k->cores[at];
    CompileOptions options = k->options;
    options.entry = ENTRY_KERNEL;
    options.infer.kernel = true;
    options.infer.target = py_target_of(info->kind);
    if (!target_is_host(options.infer.target)) options.sanitize = 0;
    if (!k->arch[at][0]) memcpy(k->arch[at], info->arch, sizeof info->arch);
    options.arch = info->arch[0] ? k->arch[at] : NULL;
    QN_LOCK(&k->lock);
    bool made = core->py_func || py_core_init(core, k->state, k->py_func, &options);
    if (made && !core->locals) core->locals = Py_XNewRef(locals_of(k));
    if (made && !core->linked) core->linked = Py_XNewRef(option_of(k, "link"));
    core->prepare = add_extra;
    QN_UNLOCK(&k->lock);
    if (!made || !declare_all(k, core)) return NULL;
    atomic_store_explicit(&k->ready[at], true, memory_order_release);
    return core;
}

/* The core for a device, made on first use. NULL: exception. */
JitCore *py_kernel_core(Kernel *k, RtDevice *device) {
    const RtDeviceInfo *info = rt_info(device);
    int at = core_index(info);
    return QN_LIKELY(atomic_load_explicit(&k->ready[at], memory_order_acquire))
               ? &k->cores[at]
               : make_core(k, info);
}

static _Thread_local PyObject *compiled_for; /* the launch that the thread compiles for; borrowed */

PyObject *py_current_launch(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return Py_NewRef(compiled_for ? compiled_for : Py_None);
}

/* Extensions and overloads may ask which launch they are compiled for. */
static Spec *compile_for(JitCore *core, CompileRequest *q, PyObject *launch) {
    PyObject *before = compiled_for, *dict = ((Launch *)launch)->kernel->dict;
    PyObject *record = dict ? PyDict_GetItemString(dict, "_capture") : NULL; /* launchconfig.py */
    if (record && PyDict_Check(record) && PyDict_SetItemString(record, "config", launch) < 0)
        return NULL;
    compiled_for = launch;
    Spec *spec = py_core_compile(core, q);
    compiled_for = before;
    return spec;
}

static Spec *find_or_make(JitCore *core, const TypeKey *keys, int32_t n, PyObject *launch) {
    Spec *spec = py_core_find(core, keys, n);
    if (spec) return spec;
    if (!py_core_lock(core)) return NULL;
    spec = py_core_find(core, keys, n); /* made by another thread meanwhile? */
    if (!spec) {
        CompileRequest q = {.keys = keys, .nkeys = n, .options = core->options};
        spec = core->can_compile ? compile_for(core, &q, launch) : py_core_convert(core, keys, n);
        if ((spec = with_extra(spec))) py_core_add(core, spec);
    }
    py_core_unlock(core);
    return spec;
}

/* The variant of a specialisation that is kept at `place`, made on first use. NULL: exception. */
static Spec *variant_of(JitCore *core, Spec *spec, _Atomic(Spec *) *place, bool general) {
    Spec *variant = atomic_load(place);
    if (variant) return variant;
    if (!py_core_lock(core)) return NULL;
    if (!(variant = atomic_load(place))) {
        CompileRequest q = {
            .keys = spec->declared_keys, .nkeys = spec->nargs, .options = core->options};
        q.options.general_variant = general;
        q.options.any_shape = true;
        if ((variant = with_extra(py_core_compile(core, &q)))) atomic_store(place, variant);
    }
    py_core_unlock(core);
    return variant;
}

static Spec *general_of(JitCore *core, Spec *spec) {
    return variant_of(core, spec, &((KernelExtra *)spec->extra)->general, true);
}

static RtKernel *load(JitCore *core, Spec *spec, RtDevice *device) {
    KernelExtra *extra = spec->extra;
    int ordinal = rt_info(device)->ordinal;
    if (ordinal >= MAX_DEVICES)
        return PyErr_SetString(PyExc_ValueError, "kernels run on the first 16 devices only"), NULL;
    RtKernel *kernel = NULL, *nobody = NULL;
    RtError err;
    PY_UNLOCKED(core->state, &err, kernel = rt_kernel(device, spec->artifact, &err));
    if (kernel && !atomic_compare_exchange_strong(&extra->loaded[ordinal], &nobody, kernel)) {
        rt_kernel_release(kernel); /* another thread was first */
        kernel = nobody;
    }
    return kernel;
}

RtKernel *py_kernel_loaded(JitCore *core, Spec *spec, RtDevice *device) {
    KernelExtra *extra = spec->extra;
    int ordinal = rt_info(device)->ordinal;
    RtKernel *kernel = ordinal < MAX_DEVICES
                           ? atomic_load_explicit(&extra->loaded[ordinal], memory_order_acquire)
                           : NULL;
    return QN_LIKELY(kernel != NULL) ? kernel : load(core, spec, device);
}

enum { FEW_ARRAYS = 16, MANY_ARRAYS = 32 }; /* of one launch, that are noted on the stack */

/* -- launching ------------------------------------------------------------------------------------------------ */

/* For forall. false: exception. */
static bool choose_grid(const Launch *l, RtLaunch *launch) {
    int32_t block = (int32_t)l->block[0];
    bool ok = true;
    RtError err;
    if (block == 0)
        PY_UNLOCKED(l->kernel->state, &err,
                    ok = rt_suggest_block(launch->kernel, (int32_t)l->shared, &block, &err));
    if (!ok) return false;
    launch->block[0] = block;
    launch->grid[0] = (l->forall + block - 1) / block;
    return true;
}

/* Memory of device arrays is given out again only behind this launch. */
static void note_use(const KernelArrays *k, RtDevice *device, RtStream *stream, RtError *err) {
    RtStream *used = stream ? stream : rt_stream_default(device);
    for (int i = 0; i < k->ndevice && !rt_failed(err); i++)
        if (k->device[i]->buffer && k->device[i]->buffer->stream != used)
            rt_buffer_used(k->device[i]->buffer, used, err);
}

static bool same_device(const KernelArrays *k, RtDevice *device) {
    for (int i = 0; i < k->ndevice; i++) {
        if (k->device[i]->device == device) continue;
        const RtDeviceInfo *has = rt_info(k->device[i]->device), *wants = rt_info(device);
        PyErr_Format(PyExc_ValueError,
                     "an argument lies on %s device %d, the kernel runs on %s device %d",
                     rt_kind_name(has->kind), (int)has->ordinal, rt_kind_name(wants->kind),
                     (int)wants->ordinal);
        return false;
    }
    return true;
}

static bool wants_general(const Spec *spec, char *frame, const KernelArrays *arrays) {
    if (rt_params_want_general(spec->artifact, (void *const *)frame)) return true;
    if (arrays->any_host) return rt_launch_wants_general(spec->artifact, (void *const *)frame);
    return rt_spans_want_general(arrays->spans, arrays->ndevice);
}

/* The variant for these arguments. NULL: exception. */
static Spec *for_arguments(JitCore *core, Spec *spec, char *frame, const KernelArrays *arrays) {
    if (!spec->artifact->fast_variant) return spec;
    if (wants_general(spec, frame, arrays)) return general_of(core, spec);
    if (QN_LIKELY(!rt_shapes_differ(spec->artifact, (void *const *)frame))) return spec;
    return variant_of(core, spec, &((KernelExtra *)spec->extra)->uneven, false);
}

static PyObject *launch_frame(Launch *l, JitCore *core, RtDevice *device, Spec *spec, char *frame,
                              const KernelArrays *arrays) {
    if (!same_device(arrays, device)) return NULL;
    if (l->forall == 0) Py_RETURN_NONE;
    Spec *first = spec;
    if (!(spec = for_arguments(core, first, frame, arrays))) return NULL;
    RtLaunch launch = {.kernel = py_kernel_loaded(core, spec, device),
                       .stream = l->stream,
                       .dynamic_shared = l->shared,
                       .args = (void **)frame};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    if (!launch.kernel || (l->forall > 0 && !choose_grid(l, &launch))) return NULL;
    if (spec->artifact->fast_variant &&
        QN_UNLIKELY(rt_grid_wants_general(launch.grid, launch.block)) &&
        (!(spec = general_of(core, first)) ||
         !(launch.kernel = py_kernel_loaded(core, spec, device))))
        return NULL;
    if (QN_UNLIKELY(core->state->dump & DUMP_launch))
        py_dump_launch(l->kernel->name, spec->artifact, &launch, device);
    CallContext ctx;
    CallFrame call;
    RtError err;
    rt_error_init(&err);
    if (arrays->any_host || rt_info(device)->kind == RT_CPU) { /* it may wait */
        launch.host = arrays->any_host ? arrays->host : NULL;
        launch.ctx = &ctx;
        py_release(&ctx, &call);
    } else {
        call.saved = PyEval_SaveThread();
    }
    bool captured = rt_capturing(l->stream);
    if (rt_launch(&launch, &err) && arrays->ndevice && !captured)
        note_use(arrays, device, l->stream, &err);
    py_resume(&call);
    if (QN_UNLIKELY(rt_failed(&err))) return py_raise_runtime(core->state, &err), NULL;
    if (QN_UNLIKELY(captured) && !py_capture_keep(l->stream, (PyObject *)l->kernel, arrays))
        return NULL;
    Py_RETURN_NONE;
}

/* Memory of pinned_array is copied like any other; that of mapped_array is there for both sides. */
static bool is_mapped(PyObject *array) {
    while (array && PyArray_Check(array))
        array = PyArray_BASE((PyArrayObject *)array);
    return array && PyCapsule_IsValid(array, "quern.mapped");
}

/* config.CUDA_WARN_ON_IMPLICIT_COPY. false: the warning is an exception. */
static bool warn_copies(const Spec *spec, ModState *state, PyObject *const *args) {
    for (int32_t i = 0; i < spec->nargs; i++) {
        if (!PyArray_Check(args[i]) || is_mapped(args[i])) continue;
        PyObject *text = PyUnicode_FromString(
            "Host array used in CUDA kernel will incur copy overhead to and from the device");
        return py_warn(state, "NumbaPerformanceWarning", text) == 0;
    }
    return true;
}

/* 0 from `unbox` means another type than the plan's: *mismatch. `frame`, and the lists of `arrays`, have room;
 * NULL as `host`: the frame is a small one. */
static inline PyObject *launch_in(Launch *l, JitCore *core, RtDevice *device, Spec *spec,
                                  PyObject *const *args, bool loose, bool *mismatch, char *frame,
                                  KernelArrays *arrays) {
    uint32_t few[FRAME_STACK / sizeof(void *)]; /* the frame has a pointer for each argument */
    arrays->state = core->state;
    if (!arrays->host) arrays->host = few;
    py_spec_hold(spec);
    int done = py_unbox_kernel(spec, args, frame, loose, arrays);
    *mismatch = done == 0;
    if (QN_UNLIKELY(core->state->warnings & WARN_COPIES) && done > 0 && arrays->any_host &&
        !warn_copies(spec, core->state, args))
        done = -1;
    PyObject *result = done > 0 ? launch_frame(l, core, device, spec, frame, arrays) : NULL;
    py_spec_release(spec);
    return result;
}

/* Frames of their own, so that small launches do not pay for the stack of large ones. */
__attribute__((noinline)) static PyObject *launch_large(Launch *l, JitCore *core, RtDevice *device,
                                                        Spec *spec, PyObject *const *args,
                                                        bool loose, bool *mismatch) {
    _Alignas(16) char large[FRAME_LARGE];
    const DeviceArray *many[MANY_ARRAYS];
    RtSpan spans[MANY_ARRAYS];
    uint32_t host[sizeof large / sizeof(void *)];
    KernelArrays arrays = {.device = many, .spans = spans, .host = host};
    return launch_in(l, core, device, spec, args, loose, mismatch, large, &arrays);
}

__attribute__((noinline)) static PyObject *launch_allocated(Launch *l, JitCore *core,
                                                            RtDevice *device, Spec *spec,
                                                            PyObject *const *args, bool loose,
                                                            bool *mismatch) {
    KernelArrays arrays = {.device = NULL};
    size_t size = ((size_t)spec->frame_size + 15) & ~(size_t)15,
           each = sizeof *arrays.spans + sizeof *arrays.device;
    char *heap = PyMem_Malloc(size + each * (size_t)spec->narrays +
                              sizeof *arrays.host * (size_t)spec->nargs);
    if (!heap) return PyErr_NoMemory();
    arrays.spans = (RtSpan *)(heap + size);
    arrays.device = (const DeviceArray **)(arrays.spans + spec->narrays);
    arrays.host = (uint32_t *)(arrays.device + spec->narrays);
    PyObject *result = launch_in(l, core, device, spec, args, loose, mismatch, heap, &arrays);
    PyMem_Free(heap);
    return result;
}

static inline PyObject *launch_spec(Launch *l, JitCore *core, RtDevice *device, Spec *spec,
                                    PyObject *const *args, bool loose, bool *mismatch) {
    if (QN_UNLIKELY(spec->frame_size > FRAME_LARGE || spec->narrays > MANY_ARRAYS))
        return launch_allocated(l, core, device, spec, args, loose, mismatch);
    if (QN_UNLIKELY(spec->frame_size > FRAME_STACK || spec->narrays > FEW_ARRAYS))
        return launch_large(l, core, device, spec, args, loose, mismatch);
    _Alignas(16) char small[FRAME_STACK];
    const DeviceArray *few[FEW_ARRAYS];
    RtSpan spans[FEW_ARRAYS];
    KernelArrays arrays;
    arrays.device = few;
    arrays.spans = spans;
    arrays.host = NULL;
    return launch_in(l, core, device, spec, args, loose, mismatch, small, &arrays);
}

/* Foreign device arrays become ours; `held` keeps them. false: exception. */
static bool wrap_foreign(ModState *state, RtDevice *device, PyObject **args, int32_t n,
                         PyObject **held) {
    for (int32_t i = 0; i < n; i++) {
        PyTypeObject *type = Py_TYPE(args[i]);
        if (type == &PyArray_Type || type == state->device_array_type || type == &PyLong_Type ||
            type == &PyFloat_Type || type == &PyTuple_Type)
            continue;
        DeviceArray *wrapped = py_as_device_array(state, device, args[i]);
        if (!wrapped && PyErr_Occurred()) return false;
        if (!wrapped) continue;
        if (!*held && !(*held = PyList_New(0))) return Py_DECREF(wrapped), false;
        int status = PyList_Append(*held, (PyObject *)wrapped);
        Py_DECREF(wrapped);
        if (status < 0) return false;
        args[i] = (PyObject *)wrapped;
    }
    return true;
}

static bool kernel_keys(JitCore *core, PyObject *const *args, TypeKey *keys) {
    const char *name = PyUnicode_AsUTF8(core->name);
    for (int32_t i = 0; i < core->nparams; i++)
        if (!(keys[i] = py_kernel_arg_key(core->state, args[i], name ? name : "?", i)))
            return false;
    return true;
}

static PyObject *launch_slow(Launch *l, JitCore *core, RtDevice *device, PyObject *const *args,
                             size_t nargsf, PyObject *kwnames) {
    PyObject *held = NULL, *result = NULL;
    Bound bound;
    if (py_records(core->state) && !py_record_call(core->state, (PyObject *)l->kernel, args,
                                                   PyVectorcall_NARGS(nargsf), kwnames))
        return NULL;
    if (!py_core_bind(core, args, PyVectorcall_NARGS(nargsf), kwnames, &bound)) return NULL;
    if (wrap_foreign(core->state, device, bound.args, core->nparams, &held) &&
        kernel_keys(core, bound.args, bound.keys)) {
        Spec *spec = find_or_make(core, bound.keys, core->nparams, (PyObject *)l);
        bool mismatch = false;
        if (spec) {
            atomic_store_explicit(&core->last, spec, memory_order_release);
            result = launch_spec(l, core, device, spec, bound.args, true, &mismatch);
        }
        if (mismatch)
            PyErr_SetString(PyExc_TypeError,
                            "an argument changed its type while it was being read, or a "
                            "tuple has more than 32 arrays");
    }
    py_bound_release(&bound);
    Py_XDECREF(held);
    if (!result && py_forget_refusal(core->state)) Py_RETURN_NONE;
    return result;
}

static PyObject *keywords_of(PyObject *const *values, PyObject *names) {
    PyObject *all = PyDict_New();
    for (Py_ssize_t i = 0; all && names && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(all, PyTuple_GET_ITEM(names, i), values[i]) < 0) Py_CLEAR(all);
    return all;
}

/* Others are asked before the launch: callbacks of the launch, and extensions of the kernel about its arguments. */
static PyObject *launch_asking(Launch *l, JitCore *core, RtDevice *device, PyObject *const *args,
                               size_t nargsf, PyObject *kwnames) {
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    PyObject *given = PyTuple_New(n + 1), *keywords = keywords_of(args + n, kwnames);
    PyObject *told = NULL, *result = NULL, *done = NULL;
    for (Py_ssize_t i = 0; given && i < n; i++)
        PyTuple_SET_ITEM(given, i + 1, Py_NewRef(args[i]));
    if (given) PyTuple_SET_ITEM(given, 0, Py_NewRef((PyObject *)l));
    if (given && keywords)
        told = py_surface((PyObject *)l->kernel, "prepare_args", given, keywords);
    /* the arguments, what is called when the kernel is launched, and the names of the last arguments */
    PyObject *made, *behind, *names;
    if (told && PyArg_ParseTuple(told, "O!O!O!", &PyTuple_Type, &made, &PyList_Type, &behind,
                                 &PyTuple_Type, &names))
        result = launch_slow(l, core, device, &PyTuple_GET_ITEM(made, 0),
                             (size_t)(PyTuple_GET_SIZE(made) - PyTuple_GET_SIZE(names)),
                             PyTuple_GET_SIZE(names) ? names : NULL);
    for (Py_ssize_t i = 0; result && i < PyList_GET_SIZE(behind); i++) {
        done = PyObject_CallNoArgs(PyList_GET_ITEM(behind, i));
        if (!done) Py_CLEAR(result);
        Py_XDECREF(done);
    }
    Py_XDECREF(told);
    Py_XDECREF(given);
    Py_XDECREF(keywords);
    return result;
}

static inline bool asks(const Launch *l) {
    return PyList_GET_SIZE(l->kernel->extensions) > 0 ||
           (l->callbacks && PyList_GET_SIZE(l->callbacks) > 0);
}

static PyObject *launch_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames) {
    Launch *l = (Launch *)self;
    RtDevice *device = py_current_device(l->kernel->state, l->kernel->wanted);
    JitCore *core = device ? py_kernel_core(l->kernel, device) : NULL;
    if (!core) return NULL;
    if (QN_UNLIKELY(asks(l))) return launch_asking(l, core, device, args, nargsf, kwnames);
    Spec *spec = atomic_load_explicit(&core->last, memory_order_acquire);
    if (spec && !kwnames && PyVectorcall_NARGS(nargsf) == spec->nargs && !core->varargs &&
        !core->nkwonly) {
        bool mismatch;
        PyObject *result = launch_spec(l, core, device, spec, args, false, &mismatch);
        if (!mismatch) return result;
    }
    return launch_slow(l, core, device, args, nargsf, kwnames);
}

/* -- Launch ------------------------------------------------------------------------------------------------------- */

static int launch_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Launch *)self)->kernel);
    Py_VISIT(((Launch *)self)->keep);
    Py_VISIT(((Launch *)self)->callbacks);
    return 0;
}

static void launch_dealloc(PyObject *self) {
    Launch *l = (Launch *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(l->kernel);
    Py_CLEAR(l->keep);
    Py_CLEAR(l->callbacks);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *launch_repr(PyObject *self) {
    Launch *l = (Launch *)self;
    return PyUnicode_FromFormat("<launch of %U, grid (%lld, %lld, %lld), block (%lld, %lld, %lld)>",
                                l->kernel->name, (long long)l->grid[0], (long long)l->grid[1],
                                (long long)l->grid[2], (long long)l->block[0],
                                (long long)l->block[1], (long long)l->block[2]);
}

static PyObject *three(const int64_t *dims) {
    return Py_BuildValue("(LLL)", (long long)dims[0], (long long)dims[1], (long long)dims[2]);
}
static PyObject *launch_grid(PyObject *self, void *unused) {
    (void)unused;
    return three(((Launch *)self)->grid);
}
static PyObject *launch_block(PyObject *self, void *unused) {
    (void)unused;
    return three(((Launch *)self)->block);
}
static PyObject *launch_stream(PyObject *self, void *unused) {
    (void)unused;
    PyObject *stream = ((Launch *)self)->keep;
    return stream ? Py_NewRef(stream) : PyLong_FromLong(0);
}
static PyObject *launch_shared(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((Launch *)self)->shared);
}
static PyObject *launch_kernel(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)((Launch *)self)->kernel);
}
static PyObject *launch_callbacks(PyObject *self, void *unused) {
    (void)unused;
    Launch *l = (Launch *)self;
    if (!l->callbacks) l->callbacks = PyList_New(0);
    return Py_XNewRef(l->callbacks);
}
static PyObject *launch_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_surface(self, "reduce_launch", NULL, NULL);
}

static PyMethodDef launch_methods[] = {
    {"__reduce__", launch_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef launch_getset[] = {
    {"griddim", launch_grid, NULL, "Blocks along three axes; of forall() not known yet: 1.", NULL},
    {"blockdim", launch_block, NULL, "Threads of a block along three axes.", NULL},
    {"stream", launch_stream, NULL, "0: the default stream.", NULL},
    {"sharedmem", launch_shared, NULL, "Bytes of dynamic shared memory.", NULL},
    {"dispatcher", launch_kernel, NULL, "The kernel.", NULL},
    {"pre_launch_callbacks", launch_callbacks, NULL,
     "A list of functions (kernel, launch) that are called before each launch.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef launch_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launch, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot launch_slots[] = {
    {Py_tp_dealloc, launch_dealloc}, {Py_tp_traverse, launch_traverse},
    {Py_tp_call, PyVectorcall_Call}, {Py_tp_members, launch_members},
    {Py_tp_repr, launch_repr},       {Py_tp_getset, launch_getset},
    {Py_tp_methods, launch_methods}, {0, NULL},
};
PyType_Spec py_launch_spec = {
    .name = "quern._quern.Launch",
    .basicsize = sizeof(Launch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = launch_slots,
};

static bool is_int(PyObject *object) {
    return PyIndex_Check(object) && !PyBool_Check(object) && !PyArray_IsScalar(object, Bool);
}

static bool one_is_no_int(PyObject *items) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++)
        if (!is_int(PyTuple_GET_ITEM(items, i))) return true;
    return false;
}

static bool read_int(PyObject *object, const char *what, int64_t *out) {
    PyObject *index = is_int(object) ? PyNumber_Index(object) : NULL;
    if (!index) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s must be an int, not '%.100s'", what,
                         Py_TYPE(object)->tp_name);
        return false;
    }
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow) PyErr_Format(PyExc_ValueError, "%s is out of range", what);
    return !overflow;
}

/* Says what was given, in the words that programs for numba.cuda look for. */
static void bad_dims(PyObject *cls, const char *what, const char *wanted, PyObject *items) {
    PyObject *given = PySequence_List(items);
    if (given) PyErr_Format(cls, "%s must be a sequence of %s, got %R", what, wanted, given);
    Py_XDECREF(given);
}

/* An int, or a tuple or list of up to three. */
static bool read_dims(PyObject *object, const char *what, int64_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    bool several = PyTuple_Check(object) || PyList_Check(object);
    PyObject *items = several
                          ? PySequence_Tuple(object) /* of its own: __index__ may change a list */
                          : PyTuple_Pack(1, object);
    if (!items) return false;
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    bool ok = n >= 1 && n <= 3;
    if (!ok) bad_dims(PyExc_ValueError, what, "1, 2 or 3 integers", items);
    for (Py_ssize_t i = 0; i < n && ok; i++)
        ok = read_int(PyTuple_GET_ITEM(items, i), what, &out[i]);
    if (!ok && PyErr_ExceptionMatches(PyExc_TypeError) && one_is_no_int(items))
        PyErr_Clear(), bad_dims(PyExc_TypeError, what, "integers", items);
    Py_DECREF(items);
    return ok;
}

static Launch *launch_new(Kernel *k, PyObject *stream, PyObject *shared, RtDevice *device) {
    Launch *l = (Launch *)k->state->launch_type->tp_alloc(k->state->launch_type, 0);
    if (!l) return NULL;
    l->vectorcall = launch_vectorcall;
    l->kernel = (Kernel *)Py_NewRef((PyObject *)k);
    l->forall = -1;
    if ((!shared || read_int(shared, "the size of shared memory", &l->shared)) &&
        py_stream_of(k->state, stream, device, &l->stream, &l->keep))
        return l;
    Py_DECREF(l);
    return NULL;
}

/* false: the warning is an exception. */
static bool warn_small_grid(const Launch *l, RtDevice *device) {
    int64_t blocks = l->grid[0] * l->grid[1] * l->grid[2];
    int32_t most = rt_info(device)->multiprocessors;
    if (blocks >= 2 * (int64_t)most) return true;
    PyObject *text = PyUnicode_FromFormat("Grid size %lld leaves parts of a device with %d "
                                          "multiprocessors without work: low occupancy",
                                          (long long)blocks, (int)most);
    return py_warn(l->kernel->state, "NumbaPerformanceWarning", text) == 0;
}

static Launch *configure(Kernel *k, PyObject *const *items, Py_ssize_t n) {
    if (k->device_function) {
        PyErr_Format(PyExc_RuntimeError,
                     "Cannot compile a device function as a kernel: '%U' can be called from "
                     "kernels, not launched",
                     k->name);
        return NULL;
    }
    if (n < 2 || n > 4) {
        PyErr_Format(PyExc_ValueError,
                     "kernel[grid, block], kernel[grid, block, stream] or "
                     "kernel[grid, block, stream, sharedmem] is expected for '%U'",
                     k->name);
        return NULL;
    }
    RtDevice *device = py_current_device(k->state, k->wanted);
    Launch *l =
        device ? launch_new(k, n > 2 ? items[2] : NULL, n > 3 ? items[3] : NULL, device) : NULL;
    if (!l) return NULL;
    RtError err;
    rt_error_init(&err);
    if (read_dims(items[0], "griddim", l->grid) && read_dims(items[1], "blockdim", l->block)) {
        if (!rt_check_config(rt_info(device), l->grid, l->block, l->shared, &err))
            py_raise_runtime(k->state, &err);
        else if (!(k->state->warnings & WARN_OCCUPANCY) || warn_small_grid(l, device))
            return l;
    }
    Py_DECREF(l);
    return NULL;
}

/* -- Kernel ---------------------------------------------------------------------------------------------------------- */

/* Configurations are kept by what they are equal to, and 1 == 1.0 == True: only keys of plain ints, NumPy ints and
 * streams are kept, and asking for them runs no code of others. */
static bool plain_key(const Kernel *k, PyObject *o, int depth) {
    if (PyLong_CheckExact(o) || o == Py_None || Py_TYPE(o) == k->state->stream_type) return true;
    if (PyArray_IsScalar(o, Integer)) return true;
    if (!PyTuple_CheckExact(o) || depth == 2) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
        if (!plain_key(k, PyTuple_GET_ITEM(o, i), depth + 1)) return false;
    return true;
}

static PyObject *kernel_subscript(PyObject *self, PyObject *key) {
    Kernel *k = (Kernel *)self;
    PyObject *known = NULL;
    bool plain = plain_key(k, key, 0);
    if (plain && PyDict_GetItemRef(k->configs, key, &known) < 0) return NULL;
    if (known) return known;
    PyObject *one[1] = {key};
    bool tuple = PyTuple_Check(key);
    Launch *l =
        configure(k, tuple ? &PyTuple_GET_ITEM(key, 0) : one, tuple ? PyTuple_GET_SIZE(key) : 1);
    if (!l || !plain) return (PyObject *)l;
    if (PyDict_GET_SIZE(k->configs) >= 128) PyDict_Clear(k->configs);
    if (PyDict_SetItem(k->configs, key, (PyObject *)l) < 0) Py_CLEAR(l);
    return (PyObject *)l;
}

static PyObject *kernel_configure(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"griddim", "blockdim", "stream", "sharedmem", NULL};
    PyObject *items[4] = {NULL, NULL, Py_None, NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:configure", names, &items[0], &items[1],
                                     &items[2], &items[3]))
        return NULL;
    return (PyObject *)configure((Kernel *)self, items, items[3] ? 4 : 3);
}

static PyObject *kernel_forall(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ntasks", "tpb", "stream", "sharedmem", NULL};
    Kernel *k = (Kernel *)self;
    PyObject *stream = NULL, *shared = NULL, *tasks;
    int64_t n, tpb = 0;
    PyObject *block = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO", names, &tasks, &block, &stream,
                                     &shared) ||
        !read_int(tasks, "the number of tasks", &n) || (block && !read_int(block, "tpb", &tpb)))
        return NULL;
    if (n < 0 || tpb < 0)
        return PyErr_SetString(
                   PyExc_ValueError,
                   "Can't create ForAll with negative task count: the number of tasks must not be "
                   "negative"),
               NULL;
    RtDevice *device = py_current_device(k->state, k->wanted);
    Launch *l = device ? launch_new(k, stream, shared, device) : NULL;
    if (!l) return NULL;
    l->forall = n;
    l->block[0] = tpb;
    l->grid[0] = l->grid[1] = l->grid[2] = l->block[1] = l->block[2] = 1;
    return (PyObject *)l;
}

static PyObject *kernel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames) {
    (void)args, (void)nargsf, (void)kwnames;
    Kernel *k = (Kernel *)self;
    PyObject *cls = py_error_class(k->state, "LaunchError");
    if (cls && k->device_function)
        PyErr_Format(cls, "'%U' is a device function: call it from a kernel", k->name);
    else if (cls)
        PyErr_Format(cls,
                     "the launch configuration was not specified: write "
                     "%U[blocks_per_grid, threads_per_block](...) to launch the kernel '%U'",
                     k->name, k->name);
    Py_XDECREF(cls);
    return NULL;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"py_func", "options", "device", "kind", NULL};
    PyObject *py_func, *dict = NULL;
    int device = 0;
    const char *kind = "cuda";
    CompileOptions options;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O!ps", names, &py_func, &PyDict_Type, &dict,
                                     &device, &kind) ||
        !py_options(dict, &options))
        return NULL;
    if (!PyFunction_Check(py_func)) {
        PyErr_Format(PyExc_TypeError,
                     "a Python function is expected, not an object of type '%.100s'",
                     Py_TYPE(py_func)->tp_name);
        return NULL;
    }
    ModState *state = py_state_of_type(type);
    Kernel *k = state ? (Kernel *)type->tp_alloc(type, 0) : NULL;
    if (!k) return NULL;
    k->vectorcall = kernel_vectorcall;
    k->state = state;
    k->py_func = Py_NewRef(py_func);
    k->name = Py_NewRef(((PyFunctionObject *)py_func)->func_name);
    k->options = options;
    k->wanted = !strcmp(kind, "cpu") ? RT_CPU : !strcmp(kind, "hip") ? RT_HIP : RT_CUDA;
    k->device_function = device;
    k->user_options = Py_XNewRef(dict);
    k->configs = PyDict_New();
    k->declared = PyList_New(0);
    PyObject *extensions = option_of(k, "extensions");
    k->extensions = extensions ? PySequence_List(extensions) : PyList_New(0);
    if (!k->configs || !k->declared || !k->extensions) Py_CLEAR(k);
    return (PyObject *)k;
}

static int kernel_traverse(PyObject *self, visitproc visit, void *arg) {
    Kernel *k = (Kernel *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(k->dict);
    Py_VISIT(k->py_func);
    Py_VISIT(k->configs);
    Py_VISIT(k->user_options);
    Py_VISIT(k->declared);
    Py_VISIT(k->extensions);
    for (int i = 0; i < CORES; i++) {
        int status = py_core_traverse(&k->cores[i], visit, arg);
        if (status) return status;
    }
    return 0;
}

static int kernel_clear(PyObject *self) {
    Kernel *k = (Kernel *)self;
    Py_CLEAR(k->dict);
    if (k->configs) PyDict_Clear(k->configs);
    if (k->extensions) PyList_SetSlice(k->extensions, 0, PY_SSIZE_T_MAX, NULL);
    return 0;
}

static void kernel_dealloc(PyObject *self) {
    Kernel *k = (Kernel *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (k->weakrefs) PyObject_ClearWeakRefs(self);
    Py_CLEAR(k->dict);
    Py_CLEAR(k->py_func);
    Py_CLEAR(k->name);
    Py_CLEAR(k->configs);
    Py_CLEAR(k->user_options);
    Py_CLEAR(k->declared);
    Py_CLEAR(k->extensions);
    for (int i = 0; i < CORES; i++)
        py_core_clear(&k->cores[i]);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject *py_function_of_kernel(PyObject *kernel) {
    return ((Kernel *)kernel)->py_func;
}
PyObject *py_locals_of_kernel(PyObject *kernel) {
    return locals_of((Kernel *)kernel);
}
PyObject *py_declared_of_kernel(PyObject *kernel) {
    return ((Kernel *)kernel)->device_function ? ((Kernel *)kernel)->declared : NULL;
}

/* -- attributes ---------------------------------------------------------------------------------------------------------- */

static PyObject *get_py_func(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((Kernel *)self)->py_func);
}
static PyObject *get_of_function(PyObject *self, void *name) {
    return PyObject_GetAttrString(((Kernel *)self)->py_func, name);
}
static PyObject *get_options(PyObject *self, void *unused) {
    (void)unused;
    Kernel *k = (Kernel *)self;
    return k->user_options ? PyDict_Copy(k->user_options) : PyDict_New();
}
static PyObject *get_is_device(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((Kernel *)self)->device_function);
}
static PyObject *get_extensions(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((Kernel *)self)->extensions);
}
static PyObject *get_declared(PyObject *self, void *unused) {
    (void)unused;
    return PyList_GetSlice(((Kernel *)self)->declared, 0, PY_SSIZE_T_MAX);
}
static PyObject *get_specialized(PyObject *self, void *unused) {
    (void)unused;
    Kernel *k = (Kernel *)self;
    return PyBool_FromLong(k->closed && PyList_GET_SIZE(k->declared) == 1);
}
static PyObject *get_kind(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(rt_kind_name(((Kernel *)self)->wanted));
}
static PyObject *get_surface(PyObject *self, void *name) {
    return py_surface(self, name, NULL, NULL);
}

static PyObject *kernel_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_surface(self, "reduce", NULL, NULL);
}

static PyObject *kernel_get(PyObject *self, PyObject *instance, PyObject *owner) {
    (void)instance, (void)owner; /* launches name their arguments: a kernel is no method */
    return Py_NewRef(self);
}

static PyObject *kernel_repr(PyObject *self) {
    Kernel *k = (Kernel *)self;
    return PyUnicode_FromFormat(k->device_function ? "<device function %U>" : "<kernel %U>",
                                k->name);
}

#define SURFACE(name)                                                                              \
    static PyObject *surface_##name(PyObject *self, PyObject *args, PyObject *kwargs) {            \
        return py_surface(self, #name, args, kwargs);                                              \
    }
#define KERNEL_SURFACE(X)                                                                          \
    X(specialize)                                                                                  \
    X(compile_device)                                                                              \
    X(compile_to_ptx)                                                                              \
    X(explain)                                                                                     \
    X(inspect_types)                                                                               \
    X(inspect_llvm)                                                                                \
    X(inspect_asm)                                                                                 \
    X(inspect_lto_ptx)                                                                             \
    X(inspect_sass)                                                                                \
    X(inspect_sass_cfg)                                                                            \
    X(inspect_ptx)                                                                                 \
    X(get_regs_per_thread)                                                                         \
    X(get_shared_mem_per_block)                                                                    \
    X(get_const_mem_size) X(get_local_mem_per_thread) X(get_max_threads_per_block) X(compile)
KERNEL_SURFACE(SURFACE)

#define KEYWORDS(f)  (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS
#define METHOD(name) {#name, KEYWORDS(surface_##name), NULL},
static PyMethodDef kernel_methods[] = {
    {"configure", KEYWORDS(kernel_configure),
     "configure(griddim, blockdim, stream=0, sharedmem=0): the same as kernel[...]."},
    {"forall", KEYWORDS(kernel_forall),
     "forall(ntasks, tpb=0, stream=0, sharedmem=0): a one-dimensional launch of at least ntasks "
     "threads."},
    {"_specializations", py_kernel_specializations, METH_NOARGS, NULL},
    {"_cache_log", py_kernel_cache_log, METH_NOARGS, NULL},
    {"_texts", py_kernel_texts, METH_O, NULL},
    {"_declare", py_kernel_declare, METH_O, NULL},
    {"_explain", py_kernel_explain, METH_O, NULL},
    {"_info", py_kernel_info, METH_O, NULL},
    {"_occupancy", py_kernel_occupancy, METH_VARARGS, NULL},
    {"_most_blocks", py_kernel_most_blocks, METH_VARARGS, NULL},
    {"_result_dtype", py_kernel_result_dtype, METH_VARARGS, NULL},
    {"__reduce__", kernel_reduce, METH_NOARGS, NULL},
    KERNEL_SURFACE(METHOD){NULL, NULL, 0, NULL},
};
static PyGetSetDef kernel_getset[] = {
    {"py_func", get_py_func, NULL, "The Python function.", NULL},
    {"__wrapped__", get_py_func, NULL, NULL, NULL},
    {"__name__", get_of_function, NULL, NULL, "__name__"},
    {"__qualname__", get_of_function, NULL, NULL, "__qualname__"},
    {"__doc__", get_of_function, NULL, NULL, "__doc__"},
    {"targetoptions", get_options, NULL, "The options of the decorator.", NULL},
    {"is_device_function", get_is_device, NULL, NULL, NULL},
    {"extensions", get_extensions, NULL, "What is asked about the arguments of each launch.", NULL},
    {"specialized", get_specialized, NULL, "Does it have one signature, and no others?", NULL},
    {"specializations", get_surface, NULL, "{types: kernel}: what specialize() has made.",
     "specializations"},
    {"_declared", get_declared, NULL, "The texts of its signatures.", NULL},
    {"_kind", get_kind, NULL, "The kind of device that it asks for.", NULL},
    {"signatures", get_surface, NULL, NULL, "signatures"},
    {"overloads", get_surface, NULL, NULL, "overloads"},
    {"stats", get_surface, NULL, NULL, "stats"},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyObject *kernel_getattro(PyObject *self, PyObject *name) {
    return py_names_module(name) ? get_of_function(self, "__module__")
                                 : PyObject_GenericGetAttr(self, name);
}

static PyMemberDef kernel_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Kernel, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Kernel, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, kernel_get},
    {Py_tp_repr, kernel_repr},
    {Py_tp_getattro, kernel_getattro},
    {Py_tp_methods, kernel_methods},
    {Py_tp_getset, kernel_getset},
    {Py_tp_members, kernel_members},
    {Py_mp_subscript, kernel_subscript},
    {0, NULL},
};
PyType_Spec py_kernel_spec = {
    .name = "quern._quern.Kernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_slots,
};
