/* kernel.h - what kernel_obj.c and kernel_inspect.c share: the object that cuda.jit makes. */
#ifndef QUERN_PY_KERNEL_H
#define QUERN_PY_KERNEL_H

#include "pymodule/device.h"

/* One for each kind of device, and some for AMD devices of other chips than the first. */
enum { MORE_MODELS = 3, CORES = RT_KINDS + MORE_MODELS };

typedef struct Kernel {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *dict, *weakrefs;
    ModState *state;
    PyObject *py_func, *name;
    PyObject *configs;    /* subscript -> Launch */
    PyObject *extensions; /* a list: they make of arguments what kernels take */
    PyObject *user_options;
    CompileOptions options;
    RtDeviceKind wanted;
    bool device_function;
    bool closed;        /* only the declared signatures */
    PyObject *declared; /* their texts, compiled again on each kind of device */
    char arch[CORES][sizeof(((RtDeviceInfo *)0)->arch)];
    atomic_bool ready[CORES];
    PyGuard lock; /* of making these */
    JitCore cores[CORES];
} Kernel;

/* The core for a device, made on first use. NULL: exception. */
JitCore *py_kernel_core(Kernel *k, RtDevice *device);
/* On that device. NULL: exception. */
RtKernel *py_kernel_loaded(JitCore *core, Spec *spec, RtDevice *device);

/* current_launch(): the launch that this thread compiles a kernel for, or None. */
PyObject *py_current_launch(PyObject *module, PyObject *unused);

/* -- kernel_inspect.c: methods -- */
PyObject *py_kernel_specializations(PyObject *self, PyObject *arg);
PyObject *py_kernel_cache_log(PyObject *self, PyObject *arg);
PyObject *py_kernel_texts(PyObject *self, PyObject *arg);
PyObject *py_kernel_declare(PyObject *self, PyObject *arg);
PyObject *py_kernel_info(PyObject *self, PyObject *arg);
PyObject *py_kernel_most_blocks(PyObject *self, PyObject *arg);
PyObject *py_kernel_occupancy(PyObject *self, PyObject *arg);
PyObject *py_kernel_result_dtype(PyObject *self, PyObject *arg);
PyObject *py_kernel_explain(PyObject *self, PyObject *arg);

#endif
