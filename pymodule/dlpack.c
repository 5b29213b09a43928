/* dlpack.c - device arrays given to and taken from other libraries by DLPack, without copies.
 *
 * The structs are those of the protocol: the unversioned one that every library reads, and the one of version 1, which
 * can say that memory is only for reading. */
#include "pymodule/device.h"

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements, NULL: packed */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManaged {
    DLTensor tensor;
    void *manager;
    void (*deleter)(struct DLManaged *self);
} DLManaged;

typedef struct DLVersioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct DLVersioned *self);
    uint64_t flags;
    DLTensor tensor;
} DLVersioned;

enum { DL_READ_ONLY = 1 };
enum { DL_CPU = 1, DL_CUDA = 2, DL_ROCM = 10, DL_CUDA_MANAGED = 13 };           /* DLDeviceType */
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 }; /* DLDataTypeCode */

static const char plain_name[] = "dltensor", versioned_name[] = "dltensor_versioned";

/* What DLPack calls a kind of device; 0: nothing. */
static int dl_device(RtDeviceKind kind) {
    static const int types[RT_KINDS] = {[RT_CPU] = DL_CPU, [RT_CUDA] = DL_CUDA, [RT_HIP] = DL_ROCM};
    return types[kind];
}

static int dl_code(PyArray_Descr *descr) {
    if (PyTypeNum_ISUSERDEF(descr->type_num)) return DL_BFLOAT;
    switch (descr->kind) {
    case 'i': return DL_INT;
    case 'u': return DL_UINT;
    case 'f': return DL_FLOAT;
    case 'c': return DL_COMPLEX;
    default: return DL_BOOL;
    }
}

/* -- giving ------------------------------------------------------------------------------------ */

typedef struct Given { /* one allocation: both forms, then shape and strides */
    union {
        DLManaged plain;
        DLVersioned versioned;
    };
    PyObject *array;
    int64_t dims[];
} Given;

static void given_delete(void *manager) {
    Given *given = manager;
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        Py_DECREF(given->array);
        PyGILState_Release(gil);
    }
    PyMem_RawFree(given);
}
static void plain_delete(DLManaged *self) {
    given_delete(self->manager);
}
static void versioned_delete(DLVersioned *self) {
    given_delete(self->manager);
}

/* A capsule that nobody took owns its array still. */
static void drop_plain(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, plain_name)) return;
    DLManaged *m = PyCapsule_GetPointer(capsule, plain_name);
    m->deleter(m);
}
static void drop_versioned(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, versioned_name)) return;
    DLVersioned *m = PyCapsule_GetPointer(capsule, versioned_name);
    m->deleter(m);
}

static void fill(DLTensor *t, const DeviceArray *a, int64_t *dims) {
    int ndim = array_ndim(a);
    PyArray_Descr *descr = a->state->descrs[a->kind];
    int64_t item = PyDataType_ELSIZE(descr);
    const RtDeviceInfo *info = rt_info(a->device);
    memset(t, 0, sizeof *t);
    t->data = (void *)(uintptr_t)a->address;
    t->device.type = dl_device(info->kind);
    t->device.id = info->kind == RT_CPU ? 0 : info->ordinal;
    t->ndim = ndim;
    t->dtype.code = (uint8_t)dl_code(descr);
    t->dtype.bits = (uint8_t)(item * 8);
    t->dtype.lanes = 1;
    t->shape = dims;
    t->strides = dims + ndim;
    for (int i = 0; i < ndim; i++) {
        dims[i] = a->dims[i];
        dims[ndim + i] = a->dims[ndim + i] / item;
    }
}

static PyObject *give(DeviceArray *a, bool versioned) {
    int ndim = array_ndim(a);
    Given *g = PyMem_RawMalloc(sizeof *g + sizeof(int64_t) * 2 * (size_t)(ndim + 1));
    if (!g) return PyErr_NoMemory();
    PyObject *capsule;
    if (versioned) {
        g->versioned = (DLVersioned){.major = 1,
                                     .manager = g,
                                     .deleter = versioned_delete,
                                     .flags = a->readonly ? DL_READ_ONLY : 0};
        fill(&g->versioned.tensor, a, g->dims);
        capsule = PyCapsule_New(&g->versioned, versioned_name, drop_versioned);
    } else {
        g->plain.manager = g;
        g->plain.deleter = plain_delete;
        fill(&g->plain.tensor, a, g->dims);
        capsule = PyCapsule_New(&g->plain, plain_name, drop_plain);
    }
    if (!capsule) return PyMem_RawFree(g), NULL;
    g->array = Py_NewRef((PyObject *)a);
    return capsule;
}

static bool whole_elements(const DeviceArray *a) {
    int64_t item = PyDataType_ELSIZE(a->state->descrs[a->kind]);
    for (int i = array_ndim(a); i < 2 * array_ndim(a); i++)
        if (a->dims[i] % item) return false;
    return true;
}

static PyObject *refuse(const char *why) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: %s", why);
    return NULL;
}

/* __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None). Waits for the stream of the array, so the
 * consumer's stream need not be told of ours; -1 says that it knows what it does. */
PyObject *py_to_dlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    DeviceArray *a = (DeviceArray *)self;
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO", names, &stream, &version, &device,
                                     &copy))
        return NULL;
    const RtDeviceInfo *info = rt_info(a->device);
    int type = dl_device(info->kind), want_type = type, want_id = info->ordinal, major = 0, minor;
    if (device != Py_None && !PyArg_ParseTuple(device, "ii", &want_type, &want_id)) return NULL;
    if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor)) return NULL;
    if (!type || want_type != type || want_id != info->ordinal)
        return refuse("the array is not on that device; copy_to_host() gives it to others");
    if (copy != Py_None && PyObject_IsTrue(copy)) return refuse("no copy is made");
    if (a->readonly && major < 1) return refuse("the array is only for reading");
    if (!whole_elements(a)) return refuse("the strides are no multiples of the element's size");
    long number = stream == Py_None ? 0 : PyLong_AsLong(stream);
    if (number == -1 && PyErr_Occurred()) return NULL;
    if (number != -1) {
        RtError err;
        PY_UNLOCKED(a->state, &err,
                    rt_stream_synchronize(a->stream ? a->stream : rt_stream_default(a->device),
                                          NULL, &err));
        if (PyErr_Occurred()) return NULL;
    }
    return give(a, major >= 1);
}

PyObject *py_dlpack_device(PyObject *self, PyObject *unused) {
    (void)unused;
    const RtDeviceInfo *info = rt_info(((DeviceArray *)self)->device);
    int type = dl_device(info->kind);
    if (!type) return refuse("this kind of device has no number there");
    return Py_BuildValue("(ii)", type, info->kind == RT_CPU ? 0 : (int)info->ordinal);
}

/* -- taking ------------------------------------------------------------------------------------ */

typedef struct Taken {
    DLManaged *plain; /* one of the two */
    DLVersioned *versioned;
} Taken;

static void taken_drop(void *owner) {
    Taken *taken = owner;
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        if (taken->plain && taken->plain->deleter) taken->plain->deleter(taken->plain);
        if (taken->versioned && taken->versioned->deleter)
            taken->versioned->deleter(taken->versioned);
        PyGILState_Release(gil);
    }
    PyMem_RawFree(taken);
}

/* The TypeKind of an element, or -1 with an exception. */
static int kind_of(ModState *state, const DLTensor *t) {
    if (t->dtype.code == DL_BFLOAT && t->dtype.bits == 16 && t->dtype.lanes == 1)
        return py_descr_of_kind(state, TY_bf16) ? TY_bf16 : -1;
    for (int kind = 0; kind < TY_SCALARS && t->dtype.lanes == 1; kind++) {
        PyArray_Descr *descr = state->descrs[kind];
        if (descr && PyDataType_ELSIZE(descr) * 8 == t->dtype.bits &&
            dl_code(descr) == t->dtype.code)
            return kind;
    }
    PyErr_Format(PyExc_TypeError,
                 "DLPack: elements of code %d with %d bits and %d lanes cannot lie on a device",
                 (int)t->dtype.code, (int)t->dtype.bits, (int)t->dtype.lanes);
    return -1;
}

/* Shape and strides in bytes into dims. */
static bool read_tensor(const DLTensor *t, int64_t item, int64_t *shape, int64_t *strides) {
    if (t->ndim < 0 || t->ndim > MAX_DIMS)
        return PyErr_SetString(PyExc_ValueError, "DLPack: the array has too many axes"), false;
    uint64_t next = (uint64_t)item; /* sizes wrap, rt_extent refuses what is too large */
    for (int i = t->ndim - 1; i >= 0; i--) {
        shape[i] = t->shape[i];
        strides[i] = (int64_t)(t->strides ? (uint64_t)t->strides[i] * (uint64_t)item : next);
        next *= (uint64_t)shape[i];
    }
    return true;
}

/* *used: the buffer owns `taken` now, whatever else goes wrong. */
static DeviceArray *wrap(ModState *state, RtDevice *device, const DLTensor *t, bool readonly,
                         Taken *taken, bool *used) {
    int64_t shape[MAX_DIMS], strides[MAX_DIMS], lo, hi;
    int kind = kind_of(state, t);
    int64_t item = kind < 0 ? 0 : PyDataType_ELSIZE(state->descrs[kind]);
    if (kind < 0 || !read_tensor(t, item, shape, strides)) return NULL;
    if (!rt_extent(t->ndim, item, shape, strides, &lo, &hi))
        return PyErr_SetString(PyExc_ValueError, "the array is too large"), NULL;
    uint64_t address = (uint64_t)(uintptr_t)t->data + t->byte_offset;
    RtError err;
    RtBuffer *buffer = NULL;
    PY_UNLOCKED(state, &err,
                buffer = rt_buffer_foreign(device, address + (uint64_t)lo, hi - lo, taken,
                                           taken_drop, &err));
    if (!buffer) return NULL;
    *used = true;
    return py_array_new(state, device, buffer, address, kind, t->ndim, shape, strides, readonly);
}

/* Takes the tensor out of the capsule: it is ours now. */
static DeviceArray *take(ModState *state, RtDevice *device, PyObject *capsule) {
    bool versioned = PyCapsule_IsValid(capsule, versioned_name);
    void *pointer = PyCapsule_GetPointer(capsule, versioned ? versioned_name : plain_name);
    Taken *taken = pointer ? PyMem_RawCalloc(1, sizeof *taken) : NULL;
    if (!taken) return PyErr_Occurred() ? NULL : (PyErr_NoMemory(), NULL);
    if (versioned && ((DLVersioned *)pointer)->major != 1) {
        PyMem_RawFree(taken);
        return PyErr_SetString(PyExc_BufferError, "DLPack: a version other than 1"), NULL;
    }
    if (versioned)
        taken->versioned = pointer;
    else
        taken->plain = pointer;
    const DLTensor *t = versioned ? &taken->versioned->tensor : &taken->plain->tensor;
    bool readonly = versioned && taken->versioned->flags & DL_READ_ONLY;
    bool used = false;
    DeviceArray *a = wrap(state, device, t, readonly, taken, &used);
    if (used) { /* without touching an exception of `wrap` */
        PyObject *raised = PyErr_GetRaisedException();
        PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
        PyErr_SetRaisedException(raised);
    } else {
        PyMem_RawFree(taken);
    }
    return a;
}

/* The capsule of an object, on the default stream of this kind of device (DLPack: 1 on CUDA, 0 on ROCm, None on the CPU). */
static PyObject *ask(PyObject *object, RtDeviceKind kind) {
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *capsule = NULL;
    PyObject *none = method ? PyTuple_New(0) : NULL;
    PyObject *stream = none ? PyLong_FromLong(kind == RT_CUDA) : NULL;
    if (stream && kind == RT_CPU) Py_SETREF(stream, Py_NewRef(Py_None));
    PyObject *newer =
        stream ? Py_BuildValue("{s:O,s:(ii)}", "stream", stream, "max_version", 1, 0) : NULL;
    PyObject *older = newer ? Py_BuildValue("{s:O}", "stream", stream) : NULL;
    if (older) capsule = PyObject_Call(method, none, newer);
    if (older && !capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* a producer from before version 1 */
        capsule = PyObject_Call(method, none, older);
    }
    Py_XDECREF(older);
    Py_XDECREF(newer);
    Py_XDECREF(stream);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

/* Where the object lies; 0: it has no DLPack, -1: exception. */
static int place(PyObject *object, int *type, int *id) {
    PyObject *method = NULL;
    int has = py_get_optional(object, "__dlpack_device__", &method);
    if (has <= 0) return has;
    PyObject *pair = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    PyObject *tuple = pair ? PySequence_Tuple(pair) : NULL; /* the type may be an enumeration */
    Py_XDECREF(pair);
    bool two = tuple && PyTuple_GET_SIZE(tuple) == 2;
    *type = two ? (int)PyLong_AsLong(PyTuple_GET_ITEM(tuple, 0)) : 0;
    *id = two ? (int)PyLong_AsLong(PyTuple_GET_ITEM(tuple, 1)) : 0;
    Py_XDECREF(tuple);
    return PyErr_Occurred() ? -1 : two;
}

bool py_dlpack_of_host(PyObject *object) {
    int type, id;
    return place(object, &type, &id) > 0 && type == DL_CPU;
}

/* Tensors of the host are arrays of the cpu device, and nothing that another device could reach. */
DeviceArray *py_from_dlpack(ModState *state, RtDevice *device, PyObject *object) {
    int type, id;
    const RtDeviceInfo *info = rt_info(device);
    if (place(object, &type, &id) <= 0 || (type == DL_CPU && info->kind != RT_CPU)) return NULL;
    if (type == DL_CUDA_MANAGED) type = DL_CUDA;
    if (type != dl_device(info->kind)) {
        if (type != DL_CUDA && type != DL_ROCM) return NULL;
        PyErr_Format(PyExc_ValueError, "an array of %s memory was given to %s device %d",
                     type == DL_CUDA ? "cuda" : "hip", rt_kind_name(info->kind),
                     (int)info->ordinal);
        return NULL;
    }
    if (id != info->ordinal && type != DL_CPU) {
        RtError err;
        PY_UNLOCKED(state, &err, device = rt_device(info->kind, id, &err));
        if (!device) return NULL;
    }
    PyObject *capsule = ask(object, info->kind);
    DeviceArray *a = capsule ? take(state, device, capsule) : NULL;
    Py_XDECREF(capsule);
    return a;
}
