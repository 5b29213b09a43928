/* device_obj.c - devices: which one is current, what it is, waiting for it. */
#include "pymodule/kernel.h"

typedef struct DeviceState { /* state->runtime */
    _Atomic(RtDevice *) opened[RT_KINDS][MAX_DEVICES];
    _Atomic int chosen[RT_KINDS]; /* RtDeviceKind + 1, 0: not chosen yet */
    _Atomic int pinned;           /* RtDeviceKind + 1: by pin_device, over everything else */
} DeviceState;

void py_release(CallContext *ctx, CallFrame *frame) {
    memset(ctx, 0, sizeof *ctx);
    ctx->poll = py_poll;
    ctx->user = frame;
    ctx->stack_limit = py_stack_limit();
    *frame = (CallFrame){.next_check = 0};
    frame->saved = PyEval_SaveThread();
}

void py_resume(CallFrame *frame) {
    PyEval_RestoreThread(frame->saved);
    frame->saved = NULL;
}

/* -- choosing ----------------------------------------------------------------------------------------- */

static bool warn_missing(ModState *state, RtDeviceKind kind, const RtError *why) {
    PyObject *text =
        PyUnicode_FromFormat("kernels run on the %s device: %s", rt_kind_name(kind), why->text);
    return py_warn(state, "DeviceWarning", text) == 0;
}

static bool choose_kind(ModState *state, RtDeviceKind wanted, RtDeviceKind *kind) {
    DeviceState *d = state->runtime;
    int known = atomic_load(&d->pinned);
    if (!known) known = atomic_load(&d->chosen[wanted]);
    if (known) return *kind = (RtDeviceKind)(known - 1), true;
    RtError why;
    RtChoice choice;
    rt_error_init(&why);
    Py_BEGIN_ALLOW_THREADS;
    choice = rt_choose(wanted, kind, &why);
    Py_END_ALLOW_THREADS;
    if (choice == RT_CHOICE_MISSING) return py_raise_runtime(state, &why), false;
    int nobody = 0;
    bool first = atomic_compare_exchange_strong(&d->chosen[wanted], &nobody, (int)*kind + 1);
    return !first || choice != RT_CHOICE_FALLBACK || warn_missing(state, *kind, &why);
}

static RtDevice *open_device(ModState *state, RtDeviceKind kind, int ordinal) {
    DeviceState *d = state->runtime;
    bool cached = ordinal >= 0 && ordinal < MAX_DEVICES;
    RtDevice *device = cached ? atomic_load(&d->opened[kind][ordinal]) : NULL;
    if (device) return device;
    RtError err;
    PY_UNLOCKED(state, &err, device = rt_device(kind, ordinal, &err));
    if (device && cached) atomic_store(&d->opened[kind][ordinal], device);
    return device;
}

RtDevice *py_current_device(ModState *state, RtDeviceKind wanted) {
    DeviceState *d = state->runtime;
    int known = atomic_load_explicit(&d->pinned, memory_order_relaxed);
    if (!known) known = atomic_load_explicit(&d->chosen[wanted], memory_order_relaxed);
    if (QN_LIKELY(known)) { /* each launch asks */
        int ordinal = rt_device_selected((RtDeviceKind)(known - 1));
        RtDevice *device =
            ordinal < MAX_DEVICES
                ? atomic_load_explicit(&d->opened[known - 1][ordinal], memory_order_acquire)
                : NULL;
        if (QN_LIKELY(device != NULL)) return device;
    }
    RtDeviceKind kind;
    if (!choose_kind(state, wanted, &kind)) return NULL;
    return open_device(state, kind, rt_device_selected(kind));
}

/* -- Device --------------------------------------------------------------------------------------------- */

typedef struct DeviceObject {
    PyObject_HEAD ModState *state;
    RtDevice *device;
} DeviceObject;

static PyObject *device_object(ModState *state, RtDevice *device) {
    if (!device) return NULL;
    DeviceObject *o = (DeviceObject *)state->device_type->tp_alloc(state->device_type, 0);
    if (!o) return NULL;
    o->state = state;
    o->device = device;
    return (PyObject *)o;
}

static void device_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static const RtDeviceInfo *info_of(PyObject *self) {
    return rt_info(((DeviceObject *)self)->device);
}

static PyObject *device_id(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(info_of(self)->ordinal);
}
static PyObject *device_name(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_DecodeUTF8(info_of(self)->name, (Py_ssize_t)strlen(info_of(self)->name),
                                "replace");
}
static PyObject *device_kind(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(rt_kind_name(info_of(self)->kind));
}
static PyObject *device_arch(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(info_of(self)->arch);
}
static PyObject *device_compute_capability(PyObject *self, void *unused) {
    (void)unused;
    return Py_BuildValue("(ii)", (int)info_of(self)->cc_major, (int)info_of(self)->cc_minor);
}
static PyObject *device_uuid(PyObject *self, void *unused) {
    (void)unused;
    const uint8_t *u = info_of(self)->uuid;
    char text[48];
    snprintf(text, sizeof text,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
             u[15]);
    return PyUnicode_FromString(text);
}

static PyObject *device_float16(PyObject *self, void *unused) {
    (void)unused;
    const RtDeviceInfo *info = info_of(self);
    return PyBool_FromLong(info->kind != RT_CUDA || info->cc_major > 5 ||
                           (info->cc_major == 5 && info->cc_minor >= 3));
}

/* Elsewhere it is done with float32; on GPUs before these, nobody would. */
static PyObject *device_bfloat16(PyObject *self, void *unused) {
    (void)unused;
    const RtDeviceInfo *info = info_of(self);
    return PyBool_FromLong(info->kind != RT_CUDA || info->cc_major >= 8);
}

typedef struct IntField {
    const char *name;
    size_t offset;
    bool wide;
} IntField;

#define FIELD(name, field)                                                                         \
    { name, offsetof(RtDeviceInfo, field), sizeof(((RtDeviceInfo *)0)->field) == 8 }
static const IntField int_fields[] = {
    FIELD("MAX_THREADS_PER_BLOCK", max_threads),
    FIELD("MAX_BLOCK_DIM_X", max_block[0]),
    FIELD("MAX_BLOCK_DIM_Y", max_block[1]),
    FIELD("MAX_BLOCK_DIM_Z", max_block[2]),
    FIELD("MAX_GRID_DIM_X", max_grid[0]),
    FIELD("MAX_GRID_DIM_Y", max_grid[1]),
    FIELD("MAX_GRID_DIM_Z", max_grid[2]),
    FIELD("MAX_SHARED_MEMORY_PER_BLOCK", max_shared),
    FIELD("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", max_shared_optin),
    FIELD("MAX_REGISTERS_PER_BLOCK", max_registers),
    FIELD("MULTIPROCESSOR_COUNT", multiprocessors),
    FIELD("WARP_SIZE", warp_size),
    FIELD("CLOCK_RATE", clock_khz),
    FIELD("PCI_BUS_ID", pci_bus),
    FIELD("PCI_DEVICE_ID", pci_device),
    FIELD("PCI_DOMAIN_ID", pci_domain),
    FIELD("DRIVER_VERSION", driver_version),
    FIELD("TOTAL_MEMORY", memory),
    FIELD("COMPUTE_CAPABILITY_MAJOR", cc_major),
    FIELD("COMPUTE_CAPABILITY_MINOR", cc_minor),
};

/* NVIDIA's devices have many more; only their driver knows these. */
static PyObject *device_attribute(PyObject *self, PyObject *number) {
    DeviceObject *o = (DeviceObject *)self;
    long wanted = PyLong_AsLong(number);
    if (wanted == -1 && PyErr_Occurred()) return NULL;
    int32_t value = 0;
    RtError err;
    bool ok = false;
    PY_UNLOCKED(o->state, &err, ok = rt_device_attribute(o->device, (int32_t)wanted, &value, &err));
    return ok ? PyLong_FromLong(value) : NULL;
}

static PyObject *device_profile(PyObject *self, PyObject *on) {
    DeviceObject *o = (DeviceObject *)self;
    bool ok = false, start = PyObject_IsTrue(on) == 1;
    RtError err;
    PY_UNLOCKED(o->state, &err, ok = rt_device_profile(o->device, start, &err));
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Attributes by CUDA's names, as Numba has them. */
static PyObject *device_getattro(PyObject *self, PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) return NULL;
    const char *info = (const char *)info_of(self);
    for (int i = 0; i < countof(int_fields); i++) {
        if (strcmp(text, int_fields[i].name)) continue;
        const char *field = info + int_fields[i].offset;
        return PyLong_FromLongLong(int_fields[i].wide ? *(const int64_t *)field
                                                      : *(const int32_t *)field);
    }
    if (text[0] < 'A' || text[0] > 'Z') return PyObject_GenericGetAttr(self, name);
    PyObject *args = PyTuple_Pack(1, name);
    PyObject *value = args ? py_surface(self, "device_attribute", args, NULL) : NULL;
    Py_XDECREF(args);
    return value;
}

static PyObject *device_synchronize(PyObject *self, PyObject *unused) {
    (void)unused;
    DeviceObject *o = (DeviceObject *)self;
    CallContext ctx;
    CallFrame frame;
    RtError err;
    rt_error_init(&err);
    py_release(&ctx, &frame);
    rt_device_synchronize(o->device, &ctx, &err);
    py_resume(&frame);
    if (rt_failed(&err)) return py_raise_runtime(o->state, &err), NULL;
    Py_RETURN_NONE;
}

static PyObject *device_memory_info(PyObject *self, PyObject *unused) {
    (void)unused;
    DeviceObject *o = (DeviceObject *)self;
    RtMemoryStats s;
    RtError err;
    bool ok = false;
    PY_UNLOCKED(o->state, &err, ok = rt_memory_stats(o->device, &s, &err));
    if (!ok) return NULL;
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "free", s.device_free, "total",
                         s.device_total, "in_use", s.in_use, "cached", s.cached, "raw_allocations",
                         s.raw_allocations, "raw_frees", s.raw_frees, "reused", s.reused);
}

static PyObject *device_trim(PyObject *self, PyObject *unused) {
    (void)unused;
    DeviceObject *o = (DeviceObject *)self;
    RtError err;
    PY_UNLOCKED(o->state, &err, rt_memory_trim(o->device, &err));
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *device_repr(PyObject *self) {
    const RtDeviceInfo *info = info_of(self);
    return PyUnicode_FromFormat("<%s device %d '%s'>", rt_kind_name(info->kind), (int)info->ordinal,
                                info->name);
}

static PyObject *device_compare(PyObject *a, PyObject *b, int op) {
    if (Py_TYPE(a) != Py_TYPE(b) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool same = ((DeviceObject *)a)->device == ((DeviceObject *)b)->device;
    return PyBool_FromLong(same == (op == Py_EQ));
}

static Py_hash_t device_hash(PyObject *self) {
    return (Py_hash_t)((uintptr_t)((DeviceObject *)self)->device >> 4);
}

static PyObject *device_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_surface(self, "device_enter", NULL, NULL);
}
static PyObject *device_exit(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_surface(self, "device_exit", NULL, NULL);
}

static PyObject *device_reset(PyObject *self, PyObject *unused) {
    PyObject *done = device_synchronize(self, unused);
    Py_XDECREF(done);
    return done ? device_trim(self, unused) : NULL;
}

static PyMethodDef device_methods[] = {
    {"__enter__", device_enter, METH_NOARGS, "Selects it in this thread for a while."},
    {"__exit__", device_exit, METH_VARARGS, NULL},
    {"synchronize", device_synchronize, METH_NOARGS, "Waits for everything on this device."},
    {"memory_info", device_memory_info, METH_NOARGS, "Bytes free, total, in use and cached."},
    {"attribute", device_attribute, METH_O,
     "An attribute by the number that CUDA's driver has for it."},
    {"profile", device_profile, METH_O, NULL},
    {"reset", device_reset, METH_NOARGS,
     "Waits for everything and gives cached memory back. Arrays stay: contexts belong to the whole "
     "process."},
    {"trim", device_trim, METH_NOARGS, "Gives cached memory back to the driver."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef device_getset[] = {
    {"id", device_id, NULL, "Number of the device among its kind.", NULL},
    {"name", device_name, NULL, NULL, NULL},
    {"kind", device_kind, NULL, "'cuda', 'hip' or 'cpu'.", NULL},
    {"arch", device_arch, NULL, "What kernels are compiled for.", NULL},
    {"compute_capability", device_compute_capability, NULL, NULL, NULL},
    {"uuid", device_uuid, NULL, NULL, NULL},
    {"supports_float16", device_float16, NULL, "Can kernels compute with float16?", NULL},
    {"supports_bfloat16", device_bfloat16, NULL, "Are kernels with bfloat16 worth while?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot device_slots[] = {
    {Py_tp_dealloc, device_dealloc},   {Py_tp_methods, device_methods},
    {Py_tp_getset, device_getset},     {Py_tp_repr, device_repr},
    {Py_tp_getattro, device_getattro}, {Py_tp_richcompare, device_compare},
    {Py_tp_hash, device_hash},         {0, NULL},
};

PyType_Spec py_device_spec = {
    .name = "quern._quern.Device",
    .basicsize = sizeof(DeviceObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = device_slots,
};

/* -- functions of the module ------------------------------------------------------------------------------ */

static bool kind_of_name(const char *name, RtDeviceKind *out) {
    for (int kind = 0; kind < RT_KINDS; kind++)
        if (!strcmp(name, rt_kind_name((RtDeviceKind)kind))) return *out = (RtDeviceKind)kind, true;
    PyErr_Format(PyExc_ValueError, "unknown kind of device: %s", name);
    return false;
}

/* current_device("cuda") */
static PyObject *current_device(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    const char *name;
    RtDeviceKind wanted;
    if (!PyArg_ParseTuple(args, "s", &name) || !kind_of_name(name, &wanted)) return NULL;
    return device_object(state, py_current_device(state, wanted));
}

/* device("cuda", 1): by number, among those that kernels of this kind may run on */
static PyObject *device_by_number(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    const char *name;
    int ordinal;
    RtDeviceKind wanted, kind;
    if (!PyArg_ParseTuple(args, "si", &name, &ordinal) || !kind_of_name(name, &wanted) ||
        !choose_kind(state, wanted, &kind))
        return NULL;
    return device_object(state, open_device(state, kind, ordinal));
}

static PyObject *select_device(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    const char *name;
    int ordinal;
    RtDeviceKind wanted, kind;
    if (!PyArg_ParseTuple(args, "si", &name, &ordinal) || !kind_of_name(name, &wanted) ||
        !choose_kind(state, wanted, &kind))
        return NULL;
    RtError err;
    PY_UNLOCKED(state, &err, rt_device_select(kind, ordinal, &err));
    return PyErr_Occurred() ? NULL : device_object(state, open_device(state, kind, ordinal));
}

/* warn_launches(copies, occupancy): what config says of CUDA_WARN_ON_IMPLICIT_COPY and CUDA_LOW_OCCUPANCY_WARNINGS */
static PyObject *warn_launches(PyObject *module, PyObject *args) {
    int copies, occupancy;
    if (!PyArg_ParseTuple(args, "pp", &copies, &occupancy)) return NULL;
    py_state(module)->warnings = (copies ? WARN_COPIES : 0) | (occupancy ? WARN_OCCUPANCY : 0);
    Py_RETURN_NONE;
}

/* disable_device("cuda", why): none of the kind is opened any more, for that reason; None: as usual */
static PyObject *disable_device(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *why;
    RtDeviceKind kind;
    if (!PyArg_ParseTuple(args, "sz", &name, &why) || !kind_of_name(name, &kind)) return NULL;
    rt_device_disable(kind, why);
    Py_RETURN_NONE;
}

/* ipc_export(device, address) -> (64 bytes, offset): see rt_ipc_export */
static PyObject *ipc_export(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    DeviceObject *o;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "O!K", state->device_type, &o, &address)) return NULL;
    char handle[RT_IPC_BYTES];
    uint64_t offset = 0;
    bool ok = false;
    RtError err;
    PY_UNLOCKED(state, &err, ok = rt_ipc_export(o->device, address, handle, &offset, &err));
    return ok ? Py_BuildValue("(y#K)", handle, (Py_ssize_t)sizeof handle,
                              (unsigned long long)offset)
              : NULL;
}

/* ipc_open(device, bytes) -> address of the allocation here */
static PyObject *ipc_open(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    DeviceObject *o;
    const char *handle;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "O!y#", state->device_type, &o, &handle, &n)) return NULL;
    if (n != RT_IPC_BYTES)
        return PyErr_Format(PyExc_ValueError, "a handle of memory has %d bytes, not %zd",
                            RT_IPC_BYTES, n);
    uint64_t address = 0;
    bool ok = false;
    RtError err;
    PY_UNLOCKED(state, &err, ok = rt_ipc_open(o->device, handle, &address, &err));
    return ok ? PyLong_FromUnsignedLongLong(address) : NULL;
}

/* ipc_close(device, address) */
static PyObject *ipc_close(PyObject *module, PyObject *args) {
    ModState *state = py_state(module);
    DeviceObject *o;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "O!K", state->device_type, &o, &address)) return NULL;
    bool ok = false;
    RtError err;
    PY_UNLOCKED(state, &err, ok = rt_ipc_close(o->device, address, &err));
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* device_count("cuda") -> (count, reason): of this very kind; -1 and the reason when there is no driver */
static PyObject *device_count(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    RtDeviceKind kind;
    if (!PyArg_ParseTuple(args, "s", &name) || !kind_of_name(name, &kind)) return NULL;
    RtError err;
    int32_t n;
    rt_error_init(&err);
    Py_BEGIN_ALLOW_THREADS;
    n = rt_device_count(kind, &err);
    Py_END_ALLOW_THREADS;
    return Py_BuildValue("(is)", (int)n, rt_failed(&err) ? err.text : "");
}

/* pin_device("cpu"): every kernel runs there from now on; pin_device(None): as usual. */
static PyObject *pin_device(PyObject *module, PyObject *name) {
    DeviceState *d = py_state(module)->runtime;
    RtDeviceKind kind;
    if (name == Py_None) {
        atomic_store(&d->pinned, 0);
        Py_RETURN_NONE;
    }
    const char *text = PyUnicode_AsUTF8(name);
    if (!text || !kind_of_name(text, &kind)) return NULL;
    if (!open_device(py_state(module), kind, rt_device_selected(kind))) return NULL;
    atomic_store(&d->pinned, (int)kind + 1);
    Py_RETURN_NONE;
}

PyMethodDef py_device_functions[] = {
    {"current_launch", py_current_launch, METH_NOARGS, NULL},
    {"pin_device", pin_device, METH_O, NULL},
    {"current_device", current_device, METH_VARARGS, NULL},
    {"device", device_by_number, METH_VARARGS, NULL},
    {"select_device", select_device, METH_VARARGS, NULL},
    {"ipc_export", ipc_export, METH_VARARGS, NULL},
    {"ipc_open", ipc_open, METH_VARARGS, NULL},
    {"ipc_close", ipc_close, METH_VARARGS, NULL},
    {"disable_device", disable_device, METH_VARARGS, NULL},
    {"device_count", device_count, METH_VARARGS, NULL},
    {"warn_launches", warn_launches, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* -- the functions of one kind of device -------------------------------------------------------------------- */

#define KEYWORDS(f) (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS
static PyMethodDef api_methods[] = {
    {"device_array", KEYWORDS(py_api_device_array), NULL},
    {"to_device", KEYWORDS(py_api_to_device), NULL},
    {"as_device_array", py_api_as_device_array, METH_VARARGS, NULL},
    {"from_interface", py_api_from_interface, METH_VARARGS, NULL},
    {"pinned_array", KEYWORDS(py_api_pinned_array), NULL},
    {"stream", py_api_stream, METH_NOARGS, NULL},
    {"default_stream", py_api_default_stream, METH_NOARGS, NULL},
    {"external_stream", py_api_external_stream, METH_O, NULL},
    {"event", KEYWORDS(py_api_event), NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot api_slots[] = {
    {Py_tp_dealloc, device_dealloc},
    {Py_tp_methods, api_methods},
    {0, NULL},
};

static PyType_Spec api_spec = {
    .name = "quern._quern.DeviceApi",
    .basicsize = sizeof(DeviceApi),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = api_slots,
};

static int add_api(ModState *state, PyObject *module, RtDeviceKind wanted) {
    DeviceApi *api = (DeviceApi *)state->api_type->tp_alloc(state->api_type, 0);
    if (!api) return -1;
    api->state = state;
    api->wanted = wanted;
    int status = PyModule_AddObjectRef(module, rt_kind_name(wanted), (PyObject *)api);
    Py_DECREF(api);
    return status;
}

/* -- the device part of the module ------------------------------------------------------------------------- */

static int add_type(PyObject *module, PyTypeObject **slot, PyType_Spec *spec) {
    *slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *slot ? PyModule_AddType(module, *slot) : -1;
}

int py_device_init(ModState *state, PyObject *module) {
    if (!(state->runtime = PyMem_Calloc(1, sizeof(DeviceState)))) return PyErr_NoMemory(), -1;
    if (add_type(module, &state->device_type, &py_device_spec) < 0 ||
        add_type(module, &state->api_type, &api_spec) < 0 ||
        add_type(module, &state->device_array_type, &py_device_array_spec) < 0 ||
        add_type(module, &state->stream_type, &py_stream_spec) < 0 ||
        add_type(module, &state->graph_type, &py_graph_spec) < 0 ||
        add_type(module, &state->event_type, &py_event_spec) < 0 ||
        add_type(module, &state->kernel_type, &py_kernel_spec) < 0 ||
        add_type(module, &state->launch_type, &py_launch_spec) < 0)
        return -1;
    if (add_api(state, module, RT_CUDA) < 0 || add_api(state, module, RT_HIP) < 0) return -1;
    return PyModule_AddFunctions(module, py_device_functions);
}

int py_device_traverse(ModState *state, visitproc visit, void *arg) {
    Py_VISIT(state->device_type);
    Py_VISIT(state->api_type);
    Py_VISIT(state->device_array_type);
    Py_VISIT(state->stream_type);
    Py_VISIT(state->graph_type);
    Py_VISIT(state->event_type);
    Py_VISIT(state->kernel_type);
    Py_VISIT(state->launch_type);
    return 0;
}

void py_device_clear(ModState *state) {
    Py_CLEAR(state->device_type);
    Py_CLEAR(state->api_type);
    Py_CLEAR(state->device_array_type);
    Py_CLEAR(state->stream_type);
    Py_CLEAR(state->graph_type);
    Py_CLEAR(state->event_type);
    Py_CLEAR(state->kernel_type);
    Py_CLEAR(state->launch_type);
    PyMem_Free(state->runtime);
    state->runtime = NULL;
}
