/* array_foreign.c - memory of other libraries as device arrays: __cuda_array_interface__. */
#include "pymodule/device.h"

static void drop_object(void *object) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(gil);
}

bool py_read_dims(PyObject *tuple, int64_t *out, int *n) {
    if (!tuple || !PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > MAX_DIMS) {
        PyErr_SetString(PyExc_TypeError,
                        "__cuda_array_interface__: a tuple of at most 32 integers is expected");
        return false;
    }
    *n = (int)PyTuple_GET_SIZE(tuple);
    for (int i = 0; i < *n; i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (out[i] == -1 && PyErr_Occurred()) return false;
    }
    return true;
}

/* Of an array that may not exist: sizes wrap, rt_extent refuses what is too large. */
static int64_t wrapping_product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

void py_c_strides(int ndim, int64_t item, const int64_t *shape, int64_t *strides) {
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = item;
        item = wrapping_product(item, shape[i]);
    }
}

/* The kind of "<f4" and the like; -1 with an exception. */
int py_kind_of_dtype(ModState *state, PyObject *dtype) {
    PyArray_Descr *descr = NULL;
    if (!PyArray_DescrConverter(dtype, &descr)) return -1;
    int kind = py_kind_of_descr(state, descr);
    if (kind < 0) PyErr_Format(PyExc_TypeError, "arrays of dtype %S cannot lie on a device", descr);
    Py_DECREF(descr);
    return kind;
}

/* The stream of an interface: what was issued there may still write the array. Waits for it; not for the legacy
 * default stream, which the driver orders with ours. */
static bool await_producer(ModState *state, RtDevice *device, PyObject *dict, bool wait,
                           RtStream **stream, PyObject **keep) {
    PyObject *object = PyDict_GetItemString(dict, "stream");
    *stream = NULL, *keep = NULL;
    if (!object || object == Py_None) return true;
    if (!py_stream_of(state, object, device, stream, keep)) return false;
    if (!*stream)
        return PyErr_SetString(PyExc_ValueError,
                               "__cuda_array_interface__: a stream is not 0, that is ambiguous"),
               false;
    PyObject *done = NULL;
    if (!wait || rt_stream_handle(*stream) == 1 ||
        (done = PyObject_CallMethod(*keep, "synchronize", NULL))) {
        Py_XDECREF(done);
        return true;
    }
    Py_CLEAR(*keep);
    return false;
}

static DeviceArray *wrap_interface(ModState *state, RtDevice *device, PyObject *owner,
                                   PyObject *dict, bool wait) {
    int64_t shape[MAX_DIMS], strides[MAX_DIMS], lo, hi;
    int ndim, nstrides;
    if (!PyDict_Check(dict))
        return PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ is no dict"), NULL;
    PyObject *typestr = PyDict_GetItemString(dict, "typestr"),
             *data = PyDict_GetItemString(dict, "data");
    PyObject *given = PyDict_GetItemString(dict, "strides"),
             *mask = PyDict_GetItemString(dict, "mask");
    if (mask && mask != Py_None)
        return PyErr_SetString(PyExc_NotImplementedError, "Masked arrays are not supported"), NULL;
    if (!typestr || !data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2)
        return PyErr_SetString(PyExc_TypeError,
                               "__cuda_array_interface__: typestr or data is missing"),
               NULL;
    int kind = py_kind_of_dtype(state, typestr);
    if (kind < 0 || !py_read_dims(PyDict_GetItemString(dict, "shape"), shape, &ndim)) return NULL;
    int64_t item = PyDataType_ELSIZE(state->descrs[kind]);
    py_c_strides(ndim, item, shape, strides);
    if (given && given != Py_None &&
        (!py_read_dims(given, strides, &nstrides) || nstrides != ndim)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "shape and strides differ in length");
        return NULL;
    }
    uint64_t address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(data, 0));
    int readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    if (PyErr_Occurred()) return NULL;
    if (!rt_extent(ndim, item, shape, strides, &lo, &hi))
        return PyErr_SetString(PyExc_ValueError, "the array is too large"), NULL;
    RtStream *stream;
    PyObject *keep;
    if (!await_producer(state, device, dict, wait, &stream, &keep)) return NULL;
    RtError err;
    RtBuffer *buffer = NULL;
    DeviceArray *a = NULL;
    Py_INCREF(owner);
    PY_UNLOCKED(state, &err,
                buffer = rt_buffer_foreign(device, address + (uint64_t)lo, hi - lo, owner,
                                           drop_object, &err));
    if (buffer)
        a = py_array_on(
            py_array_new(state, device, buffer, address, kind, ndim, shape, strides, readonly != 0),
            stream);
    else
        Py_DECREF(owner);
    Py_XDECREF(keep);
    return a;
}

static DeviceArray *wrap_foreign(ModState *state, RtDevice *device, PyObject *object, bool wait) {
    if (Py_TYPE(object) == state->device_array_type) return (DeviceArray *)Py_NewRef(object);
    if (py_is_array(state, object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object))
        return NULL;
    PyObject *interface;
    int has = 0;
    if (PyArray_Check(object)) { /* a managed array is one of NumPy as well: _managed.py */
        has = py_get_optional(object, "_device_array", &interface);
        if (has > 0 && Py_TYPE(interface) == state->device_array_type)
            return (DeviceArray *)interface;
        if (has > 0) Py_DECREF(interface);
        if (has < 0) return NULL;
    }
    has = py_get_optional(object, "__cuda_array_interface__", &interface);
    if (has < 0) return NULL;
    if (has == 0) return PyArray_Check(object) ? NULL : py_from_dlpack(state, device, object);
    DeviceArray *a = wrap_interface(state, device, object, interface, wait);
    Py_DECREF(interface);
    return a;
}

DeviceArray *py_as_device_array(ModState *state, RtDevice *device, PyObject *object) {
    return wrap_foreign(state, device, object, true);
}

/* as_device_array(object, sync) */
PyObject *py_api_as_device_array(PyObject *self, PyObject *args) {
    DeviceApi *api = (DeviceApi *)self;
    PyObject *object;
    int sync = true;
    if (!PyArg_ParseTuple(args, "O|p", &object, &sync)) return NULL;
    RtDevice *device = py_current_device(api->state, api->wanted);
    DeviceArray *a = device ? wrap_foreign(api->state, device, object, sync) : NULL;
    if (!a && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "'%.100s' has no __cuda_array_interface__",
                     Py_TYPE(object)->tp_name);
    return (PyObject *)a;
}

/* from_interface(dict, owner, sync): Numba's from_cuda_array_interface. */
PyObject *py_api_from_interface(PyObject *self, PyObject *args) {
    DeviceApi *api = (DeviceApi *)self;
    PyObject *dict, *owner = Py_None;
    int sync = true;
    if (!PyArg_ParseTuple(args, "O|Op", &dict, &owner, &sync)) return NULL;
    RtDevice *device = py_current_device(api->state, api->wanted);
    return device ? (PyObject *)wrap_interface(api->state, device, owner, dict, sync) : NULL;
}
