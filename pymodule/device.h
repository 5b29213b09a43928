/* device.h - what the objects of device programming share: devices, streams, arrays, kernels. */
#ifndef QUERN_PY_DEVICE_H
#define QUERN_PY_DEVICE_H

#include "pymodule/dispatch.h"
#include "runtime/runtime.h"

enum { MAX_DEVICES = 16 };
enum LaunchWarnings { WARN_COPIES = 1, WARN_OCCUPANCY = 2 }; /* bits of ModState.warnings */

/* An array in a device's memory: a view of a buffer. */
typedef struct DeviceArray {
    PyObject_VAR_HEAD /* ob_size: 2 * ndim */
        PyObject *weakrefs;
    ModState *state;
    RtDevice *device;
    RtBuffer *buffer;
    RtStream *stream; /* the user's, on which it was made; views have it, too. NULL: none */
    uint64_t address; /* of the first element */
    uint64_t lo, hi;  /* the bytes it spans */
    TypeKey key;
    uint16_t kind;  /* of the elements: TypeKind, or the number of a structured dtype */
    uint8_t layout; /* Layout, from shape and strides */
    bool readonly;
    int64_t dims[]; /* shape, then strides */
} DeviceArray;
static inline int array_ndim(const DeviceArray *a) {
    return (int)(Py_SIZE(a) / 2);
}

typedef struct StreamObject {
    PyObject_HEAD PyObject *weakrefs;
    ModState *state;
    RtStream *stream;
} StreamObject;

/* Where the arrays of one launch are (see RtLaunch); filled while unboxing. */
typedef struct KernelArrays {
    ModState *state;
    uint32_t *host; /* room for one mask per parameter */
    bool any_host;
    int param, next; /* the argument and array at hand */
    int ndevice;
    const DeviceArray **device; /* these two have room for all arrays of the specialisation */
    RtSpan *spans;              /* of the device arrays */
} KernelArrays;
int py_unbox_kernel(const Spec *spec, PyObject *const *args, char *frame, bool loose,
                    KernelArrays *k);

/* dump.c: a launch that is about to start, on sys.stderr. */
void py_dump_launch(PyObject *name, const Artifact *artifact, const RtLaunch *launch,
                    RtDevice *device);

/* -- device_obj.c -- */
/* The device that kernels of this kind run on now (cuda.jit: RT_CUDA). Warns once when the cpu device
 * takes the place of a missing one. NULL: exception. */
RtDevice *py_current_device(ModState *state, RtDeviceKind wanted);
/* What its kernels are compiled for. [kernel_obj.c] */
TargetKind py_target_of(RtDeviceKind kind);
/* Prepares a context for calls that may wait: poll and stack limit. The GIL is released until py_resume. */
void py_release(CallContext *ctx, CallFrame *frame);
void py_resume(CallFrame *frame);
/* Runs `call` without the GIL; raises when err is set afterwards. */
#define PY_UNLOCKED(state, err, call)                                                              \
    do {                                                                                           \
        rt_error_init(err);                                                                        \
        Py_BEGIN_ALLOW_THREADS;                                                                    \
        call;                                                                                      \
        Py_END_ALLOW_THREADS;                                                                      \
        if (rt_failed(err)) py_raise_runtime(state, err);                                          \
    } while (0)
/* -- graph_obj.c -- */
PyObject *py_stream_begin_capture(PyObject *self, PyObject *unused);
PyObject *py_stream_end_capture(PyObject *self, PyObject *unused);
/* The graph that is being captured keeps the kernel and the arrays of a launch. false: no memory. */
bool py_capture_keep(RtStream *stream, PyObject *kernel, const KernelArrays *arrays);
extern PyType_Spec py_graph_spec;

extern PyType_Spec py_device_spec;
extern PyMethodDef py_device_functions[];
/* The functions of one kind of device, which quern.cuda and quern.hip show: _quern.cuda, _quern.hip. */
typedef struct DeviceApi {
    PyObject_HEAD ModState *state;
    RtDeviceKind wanted;
} DeviceApi;
PyObject *py_api_device_array(PyObject *self, PyObject *args, PyObject *kwargs); /* array_obj.c */
PyObject *py_api_to_device(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *py_api_as_device_array(PyObject *self, PyObject *args);
PyObject *py_api_from_interface(PyObject *self, PyObject *args);
PyObject *py_api_pinned_array(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *py_api_stream(PyObject *self, PyObject *unused); /* stream_obj.c */
/* Of a stream that others hold, too. */
PyObject *py_stream_object(ModState *state, RtStream *stream);
PyObject *py_api_default_stream(PyObject *self, PyObject *unused);
PyObject *py_api_external_stream(PyObject *self, PyObject *handle);
PyObject *py_api_event(PyObject *self, PyObject *args, PyObject *kwargs);

/* -- array_obj.c -- */
extern PyType_Spec py_device_array_spec;
/* The array, which the stream belongs to from now on (NULL: none). */
DeviceArray *py_array_on(DeviceArray *a, RtStream *stream);
/* -- array_foreign.c -- */
bool py_read_dims(PyObject *tuple, int64_t *out, int *n);
/* The kind of "<f4" and the like; -1 with an exception. */
int py_kind_of_dtype(ModState *state, PyObject *dtype);
void py_c_strides(int ndim, int64_t item, const int64_t *shape, int64_t *strides);
/* -- array_obj.c -- */
DeviceArray *
py_array_new(ModState *state, RtDevice *device, RtBuffer *buffer, uint64_t address, int kind,
             int ndim, const int64_t *shape, const int64_t *strides,
             bool readonly); /* takes over a reference to the buffer, also on failure */
/* The object as a device array: itself, or a wrapper of its memory on `device`, by __cuda_array_interface__ or
 * DLPack. NULL without an exception: it is neither. A new reference. */
DeviceArray *py_as_device_array(ModState *state, RtDevice *device, PyObject *object);

/* -- dlpack.c -- */
/* The memory of an object with DLPack, on `device` or another of its kind. NULL without an exception: it has none, or
 * lies on the host. */
DeviceArray *py_from_dlpack(ModState *state, RtDevice *device, PyObject *object);
/* It has DLPack, and lies in memory of the host. */
bool py_dlpack_of_host(PyObject *object);
PyObject *py_to_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *py_dlpack_device(PyObject *self, PyObject *unused);

/* -- stream_obj.c -- */
extern PyType_Spec py_stream_spec, py_event_spec;
/* 0 and None: the default stream (*out NULL). Else a Stream, a driver's handle, or an object with
 * __cuda_stream__. *keep is a new reference to what keeps the stream alive, or NULL. */
bool py_stream_of(ModState *state, PyObject *object, RtDevice *device, RtStream **out,
                  PyObject **keep);

/* -- kernel_obj.c -- */
extern PyType_Spec py_kernel_spec, py_launch_spec;

#endif
