/* array_obj.c - DeviceNDArray: arrays in a device's memory.
 *
 * Indexing, reshaping and transposing are NumPy's own: they are done on a *shadow*, an ndarray that has
 * the device address as its data pointer and is never read, and the shape, strides and pointer of the
 * result are taken over. Only operations that NumPy does without touching elements are let through. */
#include "pymodule/device.h"

/* -- making one ------------------------------------------------------------------------------------------ */

/* Contiguous in this order? As in NumPy: axes of length 1 have any stride, an array without elements has both orders. */
static bool in_order(bool fortran, int ndim, int64_t item, const int64_t *shape,
                     const int64_t *strides) {
    bool packed = true;
    int64_t step = item;
    for (int k = 0; k < ndim; k++) {
        int i = fortran ? k : ndim - 1 - k;
        if (shape[i] == 0) return true;
        packed &= shape[i] == 1 || strides[i] == step;
        step *= shape[i];
    }
    return packed;
}

static Layout layout_of(int ndim, int64_t item, const int64_t *shape, const int64_t *strides) {
    if (in_order(false, ndim, item, shape, strides)) return LAYOUT_C;
    return in_order(true, ndim, item, shape, strides) ? LAYOUT_F : LAYOUT_A;
}

static int64_t item_size(const DeviceArray *a) {
    return PyDataType_ELSIZE(a->state->descrs[a->kind]);
}

static bool is_packed(const DeviceArray *a, bool fortran) {
    int ndim = array_ndim(a);
    return in_order(fortran, ndim, item_size(a), a->dims, a->dims + ndim);
}

static int64_t array_size(const DeviceArray *a) {
    int64_t n = 1;
    for (int i = 0; i < array_ndim(a); i++)
        n *= a->dims[i];
    return n;
}

DeviceArray *py_array_new(ModState *state, RtDevice *device, RtBuffer *buffer, uint64_t address,
                          int kind, int ndim, const int64_t *shape, const int64_t *strides,
                          bool readonly) {
    PyTypeObject *type = state->device_array_type;
    DeviceArray *a = (DeviceArray *)type->tp_alloc(type, 2 * ndim);
    if (!a) {
        rt_buffer_release(buffer);
        return NULL;
    }
    a->state = state;
    a->device = device;
    a->buffer = buffer;
    a->address = address;
    a->kind = (uint16_t)kind;
    a->readonly = readonly;
    for (int i = 0; i < ndim; i++) {
        a->dims[i] = shape[i];
        a->dims[ndim + i] = strides[i];
    }
    a->layout = (uint8_t)layout_of(ndim, item_size(a), shape, strides);
    a->key = key_array(kind, ndim, (Layout)a->layout, readonly ? KEY_READONLY : 0);
    RtSpan span = rt_span(address, ndim, item_size(a), shape, strides, false);
    a->lo = span.lo, a->hi = span.hi;
    return a;
}

DeviceArray *py_array_on(DeviceArray *a, RtStream *stream) {
    if (a && stream) a->stream = rt_stream_retain(stream);
    return a;
}

static void array_dealloc(PyObject *self) {
    DeviceArray *a = (DeviceArray *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (a->weakrefs) PyObject_ClearWeakRefs(self);
    RtBuffer *buffer = a->buffer;
    if (buffer) {
        Py_BEGIN_ALLOW_THREADS;
        rt_buffer_release(buffer);
        rt_stream_release(a->stream);
        Py_END_ALLOW_THREADS;
    }
    type->tp_free(self);
    Py_DECREF(type);
}

/* -- shadows ------------------------------------------------------------------------------------------------ */

enum { NOWHERE = 4096 }; /* stands for the address of an empty array */

static PyArrayObject *shadow(const DeviceArray *a) {
    npy_intp dims[2 * MAX_DIMS];
    int ndim = array_ndim(a);
    for (int i = 0; i < 2 * ndim; i++)
        dims[i] = a->dims[i];
    PyArray_Descr *descr = a->state->descrs[a->kind];
    Py_INCREF(descr);
    void *data = (void *)(uintptr_t)(a->address ? a->address : NOWHERE); /* never read */
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, ndim, dims, dims + ndim,
                                                 data, a->readonly ? 0 : NPY_ARRAY_WRITEABLE, NULL);
}

/* The device array that a view of a shadow describes. Takes over the reference to the view. */
static PyObject *of_shadow(const DeviceArray *a, PyObject *view) {
    if (!view) return NULL;
    PyArrayObject *s = (PyArrayObject *)view;
    int kind = PyArray_CheckExact(view) ? py_kind_of_descr(a->state, PyArray_DESCR(s)) : -1;
    DeviceArray *made = NULL;
    if (kind < 0) {
        PyErr_SetString(PyExc_TypeError, "device arrays cannot have this type");
    } else {
        int64_t dims[2 * MAX_DIMS];
        int ndim = PyArray_NDIM(s);
        for (int i = 0; i < ndim; i++) {
            dims[i] = PyArray_DIM(s, i);
            dims[ndim + i] = PyArray_STRIDE(s, i);
        }
        uint64_t address = a->address ? (uint64_t)(uintptr_t)PyArray_DATA(s) : 0;
        made = py_array_new(a->state, a->device, rt_buffer_retain(a->buffer), address, kind, ndim,
                            dims, dims + ndim, a->readonly);
        py_array_on(made, a->stream);
    }
    Py_DECREF(view);
    return (PyObject *)made;
}

/* shadow.method(*args), where the method only changes shape and strides. */
static PyObject *shadow_call(DeviceArray *a, const char *method, PyObject *args, PyObject *kwargs) {
    PyArrayObject *s = shadow(a);
    PyObject *bound = s ? PyObject_GetAttrString((PyObject *)s, method) : NULL, *view = NULL;
    if (bound) view = args ? PyObject_Call(bound, args, kwargs) : PyObject_CallNoArgs(bound);
    Py_XDECREF(bound);
    Py_XDECREF(s);
    return of_shadow(a, view);
}

/* -- copies -------------------------------------------------------------------------------------------------- */

static PyObject *host_like(const DeviceArray *a) {
    npy_intp shape[MAX_DIMS];
    for (int i = 0; i < array_ndim(a); i++)
        shape[i] = a->dims[i];
    PyArray_Descr *descr = a->state->descrs[a->kind];
    Py_INCREF(descr);
    return PyArray_Empty(array_ndim(a), shape, descr, a->layout == LAYOUT_F);
}

static bool same_dims(const int64_t *x, const npy_intp *y, int n) {
    for (int i = 0; i < n; i++)
        if (x[i] != y[i]) return false;
    return true;
}

/* Does the host array lie in pinned memory of the device? What frees that memory waits for the device. */
static bool is_pinned(const DeviceArray *a, PyObject *host) {
    while (host && PyArray_Check(host))
        host = PyArray_BASE((PyArrayObject *)host);
    if (!host || !PyCapsule_CheckExact(host)) return false;
    const char *name = PyCapsule_GetName(host);
    if (!name || (strcmp(name, "quern.buffer") && strcmp(name, "quern.mapped"))) return false;
    const RtBuffer *buffer = PyCapsule_GetPointer(host, name);
    return buffer && buffer->device == a->device;
}

/* A packed copy from or to pinned memory on a stream that was asked for: the host does not wait for it. */
static bool goes_on(const DeviceArray *a, PyArrayObject *host, const RtStream *stream,
                    bool packed) {
    return packed && stream && stream != rt_stream_default(a->device) &&
           rt_info(a->device)->kind != RT_CPU && is_pinned(a, (PyObject *)host);
}

/* Both sides have shape and element type in common. */
static bool copy_host(DeviceArray *a, PyArrayObject *host, RtStream *stream, bool to_device) {
    int ndim = array_ndim(a);
    RtError err;
    bool ok = true;
    int64_t size = array_size(a) * item_size(a);
    if (size == 0) return true;
    bool packed = (a->layout == LAYOUT_C && PyArray_IS_C_CONTIGUOUS(host)) ||
                  (a->layout == LAYOUT_F && PyArray_IS_F_CONTIGUOUS(host));
    int64_t strides[MAX_DIMS];
    for (int i = 0; i < ndim; i++)
        strides[i] = PyArray_STRIDE(host, i);
    void *data = PyArray_DATA(host);
    RtStrided strided = {data,    a->address, ndim,          (int32_t)item_size(a),
                         a->dims, strides,    a->dims + ndim};
    bool wait = !goes_on(a, host, stream, packed);
    PY_UNLOCKED(a->state, &err,
                ok = !packed ? rt_copy_strided(a->device, stream, &strided, to_device, &err)
                     : to_device
                         ? rt_copy_to_device(a->device, stream, a->address, data, size, wait, &err)
                         : rt_copy_to_host(a->device, stream, data, a->address, size, wait, &err);
                ok = ok && (wait || rt_buffer_used(a->buffer, stream, &err)));
    return ok;
}

static bool check_host(const DeviceArray *a, PyArrayObject *host, bool written) {
    if (PyArray_NDIM(host) != array_ndim(a) ||
        !same_dims(a->dims, PyArray_DIMS(host), array_ndim(a))) {
        PyErr_SetString(PyExc_ValueError, "the host array has another shape than the device array");
        return false;
    }
    if (py_kind_of_descr(a->state, PyArray_DESCR(host)) != a->kind) {
        PyErr_Format(PyExc_TypeError, "the host array has dtype %S, the device array %S",
                     PyArray_DESCR(host), a->state->descrs[a->kind]);
        return false;
    }
    return !written || PyArray_FailUnlessWriteable(host, "destination array") == 0;
}

static PyObject *array_copy_to_host(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    DeviceArray *a = (DeviceArray *)self;
    PyObject *host = Py_None, *stream_object = NULL, *keep;
    RtStream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &host, &stream_object) ||
        !py_stream_of(a->state, stream_object, a->device, &stream, &keep))
        return NULL;
    PyObject *result = NULL;
    if (host == Py_None)
        result = host_like(a);
    else if (!PyArray_Check(host))
        PyErr_SetString(PyExc_TypeError, "copy_to_host: an ndarray is expected");
    else if (check_host(a, (PyArrayObject *)host, true))
        result = Py_NewRef(host);
    if (result && !copy_host(a, (PyArrayObject *)result, stream, false)) Py_CLEAR(result);
    Py_XDECREF(keep);
    return result;
}

static bool copy_from_device(DeviceArray *a, DeviceArray *from) {
    int n = array_ndim(a);
    if (n != array_ndim(from) || a->kind != from->kind ||
        memcmp(a->dims, from->dims, sizeof(int64_t) * (size_t)n)) {
        PyErr_SetString(PyExc_ValueError, "the arrays differ in shape or dtype");
        return false;
    }
    int64_t size = array_size(a) * item_size(a);
    if (a->layout != from->layout || a->layout == LAYOUT_A) { /* through the host */
        PyObject *host = host_like(from);
        bool ok = host && copy_host(from, (PyArrayObject *)host, NULL, false) &&
                  copy_host(a, (PyArrayObject *)host, NULL, true);
        Py_XDECREF(host);
        return ok;
    }
    RtError err;
    bool ok = true;
    if (size)
        PY_UNLOCKED(
            a->state, &err,
            ok = a->device == from->device
                     ? rt_copy_on_device(a->device, NULL, a->address, from->address, size, &err)
                     : rt_copy_between(a->device, a->address, from->device, from->address, size,
                                       &err));
    return ok;
}

static bool writable(const DeviceArray *a) {
    if (!a->readonly) return true;
    PyErr_SetString(PyExc_ValueError, "the device array is read-only");
    return false;
}

static PyObject *array_copy_to_device(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    DeviceArray *a = (DeviceArray *)self;
    PyObject *source, *stream_object = NULL, *keep;
    RtStream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &source, &stream_object) ||
        !writable(a) || !py_stream_of(a->state, stream_object, a->device, &stream, &keep))
        return NULL;
    bool ok = false;
    DeviceArray *from = py_as_device_array(a->state, a->device, source);
    if (from) {
        ok = copy_from_device(a, from);
    } else if (!PyErr_Occurred()) {
        PyObject *host = PyArray_FROM_OF(source, NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED);
        ok = host && check_host(a, (PyArrayObject *)host, false) &&
             copy_host(a, (PyArrayObject *)host, stream, true);
        Py_XDECREF(host);
    }
    Py_XDECREF(from);
    Py_XDECREF(keep);
    if (!ok) return NULL;
    Py_RETURN_NONE;
}

static PyObject *array_as_numpy(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &dtype, &copy)) return NULL;
    if (copy == Py_False)
        return PyErr_SetString(
                   PyExc_ValueError,
                   "`copy=False` is not possible: a device array becomes an ndarray by a copy"),
               NULL;
    DeviceArray *a = (DeviceArray *)self;
    PyObject *host = host_like(a);
    if (host && !copy_host(a, (PyArrayObject *)host, NULL, false)) Py_CLEAR(host);
    if (!host || dtype == Py_None) return host;
    PyObject *cast = PyObject_CallMethod(host, "astype", "O", dtype);
    Py_DECREF(host);
    return cast;
}

/* -- indexing -------------------------------------------------------------------------------------------------- */

static bool plain_index(PyObject *item) {
    return item == Py_Ellipsis || item == Py_None || PySlice_Check(item) ||
           (PyIndex_Check(item) && !PyBool_Check(item) && !PyArray_Check(item));
}

/* key as a tuple that ends in Ellipsis, so that NumPy answers with a view even when it names one element.
 * *element: it does. */
static PyObject *view_key(const DeviceArray *a, PyObject *key, bool *element) {
    PyObject *items = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    if (!items) return NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(items), integers = 0;
    bool ellipsis = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        if (!plain_index(item)) {
            PyErr_Format(PyExc_TypeError,
                         "device arrays can be indexed with integers, slices, ... and None, "
                         "not with '%.100s'",
                         Py_TYPE(item)->tp_name);
            Py_DECREF(items);
            return NULL;
        }
        ellipsis |= item == Py_Ellipsis;
        integers += PyIndex_Check(item);
    }
    *element = integers == array_ndim(a) && n == integers;
    if (ellipsis) return items;
    PyObject *more = PyTuple_New(n + 1);
    for (Py_ssize_t i = 0; more && i < n; i++)
        PyTuple_SET_ITEM(more, i, Py_NewRef(PyTuple_GET_ITEM(items, i)));
    if (more) PyTuple_SET_ITEM(more, n, Py_NewRef(Py_Ellipsis));
    Py_DECREF(items);
    return more;
}

/* A field of an array of records is a view of all of them. */
static bool names_field(const DeviceArray *a, PyObject *key) {
    return PyUnicode_Check(key) && PyDataType_HASFIELDS(a->state->descrs[a->kind]);
}

static PyObject *indexed(DeviceArray *a, PyObject *key, bool *element) {
    *element = false;
    PyObject *full = names_field(a, key) ? Py_NewRef(key) : view_key(a, key, element);
    PyArrayObject *s = full ? shadow(a) : NULL;
    PyObject *view = s ? PyObject_GetItem((PyObject *)s, full) : NULL;
    Py_XDECREF(s);
    Py_XDECREF(full);
    return of_shadow(a, view);
}

static PyObject *array_getitem(PyObject *self, PyObject *key) {
    DeviceArray *a = (DeviceArray *)self;
    bool element;
    PyObject *view = indexed(a, key, &element);
    if (!view || !element) return view;
    if (PyDataType_HASFIELDS(((DeviceArray *)view)->state->descrs[((DeviceArray *)view)->kind])) {
        PyObject *record = py_surface(view, "device_record", NULL, NULL);
        Py_DECREF(view);
        return record;
    }
    PyObject *host = host_like((DeviceArray *)view), *scalar = NULL;
    if (host && copy_host((DeviceArray *)view, (PyArrayObject *)host, NULL, false))
        scalar = PyArray_Scalar(PyArray_DATA((PyArrayObject *)host),
                                PyArray_DESCR((PyArrayObject *)host), host);
    Py_XDECREF(host);
    Py_DECREF(view);
    return scalar;
}

static int array_setitem(PyObject *self, PyObject *key, PyObject *value) {
    DeviceArray *a = (DeviceArray *)self, *from;
    bool element, ok = false;
    if (!value) return PyErr_SetString(PyExc_TypeError, "elements cannot be deleted"), -1;
    if (!writable(a)) return -1;
    DeviceArray *view = (DeviceArray *)indexed(a, key, &element);
    if (!view) return -1;
    from = py_as_device_array(a->state, a->device, value);
    if (from && array_ndim(from) == array_ndim(view)) {
        ok = copy_from_device(view, from);
    } else if (!PyErr_Occurred()) { /* NumPy broadcasts and converts into a host copy */
        PyObject *host = host_like(view);
        PyObject *source =
            from ? PyObject_CallMethod((PyObject *)from, "copy_to_host", NULL) : Py_NewRef(value);
        ok = host && source && PyArray_CopyObject((PyArrayObject *)host, source) == 0 &&
             copy_host(view, (PyArrayObject *)host, NULL, true);
        Py_XDECREF(host);
        Py_XDECREF(source);
    }
    Py_XDECREF(from);
    Py_DECREF(view);
    return ok ? 0 : -1;
}

static Py_ssize_t array_length(PyObject *self) {
    DeviceArray *a = (DeviceArray *)self;
    if (array_ndim(a)) return (Py_ssize_t)a->dims[0];
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
}

/* -- shape methods --------------------------------------------------------------------------------------------- */

static PyObject *array_transpose(PyObject *self, PyObject *args) {
    return shadow_call((DeviceArray *)self, "transpose", args, NULL);
}

static bool contiguous(const DeviceArray *a, const char *what) {
    if (a->layout != LAYOUT_A) return true;
    PyErr_Format(PyExc_NotImplementedError, "%s of an array that is not contiguous", what);
    return false;
}

/* Of contiguous arrays only, in an order they have: then NumPy makes a view. */
static PyObject *array_reshape(PyObject *self, PyObject *args, PyObject *kwargs) {
    DeviceArray *a = (DeviceArray *)self;
    if (!contiguous(a, "reshape")) return NULL;
    PyObject *order = kwargs ? PyDict_GetItemString(kwargs, "order") : NULL;
    const char *text = order && PyUnicode_Check(order) ? PyUnicode_AsUTF8(order) : "C";
    if (!text) return NULL;
    if (text[0] != 'A' && !is_packed(a, text[0] == 'F'))
        return PyErr_SetString(PyExc_NotImplementedError, "reshape would have to copy the array"),
               NULL;
    return shadow_call(a, "reshape", args, kwargs);
}

/* In an order that the array has: then it is a view. */
static PyObject *array_ravel(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"order", "stream", NULL};
    DeviceArray *a = (DeviceArray *)self;
    const char *order = NULL;
    PyObject *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|sO", names, &order, &stream) ||
        !contiguous(a, "ravel"))
        return NULL;
    if (!order || order[0] == 'A' || order[0] == 'K') order = a->layout == LAYOUT_F ? "F" : "C";
    PyObject *how = Py_BuildValue("((i){s:s})", -1, "order", order);
    PyObject *view =
        how ? array_reshape(self, PyTuple_GET_ITEM(how, 0), PyTuple_GET_ITEM(how, 1)) : NULL;
    Py_XDECREF(how);
    return view;
}

static PyObject *array_view(PyObject *self, PyObject *args) {
    return shadow_call((DeviceArray *)self, "view", args, NULL);
}

static PyObject *array_squeeze(PyObject *self, PyObject *args, PyObject *kwargs) {
    return shadow_call((DeviceArray *)self, "squeeze", args, kwargs);
}

static PyObject *array_split(PyObject *self, PyObject *args) {
    DeviceArray *a = (DeviceArray *)self;
    Py_ssize_t section;
    if (!PyArg_ParseTuple(args, "n|O", &section, &args)) return NULL;
    if (section < 1 || array_ndim(a) != 1)
        return PyErr_SetString(PyExc_ValueError,
                               "split: a one-dimensional array and a section > 0 are expected"),
               NULL;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t at = 0; list && at < a->dims[0]; at += section) {
        PyObject *start = PyLong_FromSsize_t(at), *stop = PyLong_FromSsize_t(at + section);
        PyObject *slice = start && stop ? PySlice_New(start, stop, NULL) : NULL;
        PyObject *part = slice ? array_getitem(self, slice) : NULL;
        if (!part || PyList_Append(list, part) < 0) Py_CLEAR(list);
        Py_XDECREF(part);
        Py_XDECREF(slice);
        Py_XDECREF(start);
        Py_XDECREF(stop);
    }
    return list;
}

static PyObject *is_c_contiguous(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((DeviceArray *)self)->layout == LAYOUT_C);
}
static PyObject *is_f_contiguous(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(is_packed((DeviceArray *)self, true));
}

/* -- attributes --------------------------------------------------------------------------------------------------- */

static PyObject *int_tuple(const int64_t *values, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *item = PyLong_FromLongLong(values[i]);
        if (!item)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return int_tuple(((DeviceArray *)self)->dims, array_ndim((DeviceArray *)self));
}
static PyObject *get_strides(PyObject *self, void *unused) {
    (void)unused;
    DeviceArray *a = (DeviceArray *)self;
    return int_tuple(a->dims + array_ndim(a), array_ndim(a));
}
static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    DeviceArray *a = (DeviceArray *)self;
    return Py_NewRef((PyObject *)a->state->descrs[a->kind]);
}
static PyObject *get_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(array_size((DeviceArray *)self));
}
static PyObject *get_ndim(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(array_ndim((DeviceArray *)self));
}
static PyObject *get_nbytes(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(array_size((DeviceArray *)self) * item_size((DeviceArray *)self));
}
static PyObject *get_alloc_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((DeviceArray *)self)->buffer->size);
}
static PyObject *get_itemsize(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(item_size((DeviceArray *)self));
}
static PyObject *get_address(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(((DeviceArray *)self)->address);
}
static PyObject *get_transposed(PyObject *self, void *unused) {
    (void)unused;
    return shadow_call((DeviceArray *)self, "transpose", NULL, NULL);
}
static PyObject *get_flags(PyObject *self, void *unused) {
    (void)unused;
    DeviceArray *a = (DeviceArray *)self;
    bool c = is_packed(a, false), f = is_packed(a, true);
    return Py_BuildValue("{s:O,s:O,s:O}", "C_CONTIGUOUS", c ? Py_True : Py_False, "F_CONTIGUOUS",
                         f ? Py_True : Py_False, "WRITEABLE", a->readonly ? Py_False : Py_True);
}

/* Another library would take host memory for the GPU's; where there is none, it cannot. */
static bool beside_a_gpu(void) {
    RtError err;
    rt_error_init(&err);
    return rt_device_count(RT_CUDA, &err) > 0 || rt_device_count(RT_HIP, &err) > 0;
}

static PyObject *get_stream(PyObject *self, void *unused) {
    (void)unused;
    DeviceArray *a = (DeviceArray *)self;
    return a->stream ? py_stream_object(a->state, a->stream) : PyLong_FromLong(0);
}

/* The same elements, of which copies and launches of others know another stream. */
static PyObject *array_bind(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    DeviceArray *a = (DeviceArray *)self;
    PyObject *object = NULL, *keep;
    RtStream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &object) ||
        !py_stream_of(a->state, object, a->device, &stream, &keep))
        return NULL;
    DeviceArray *bound = py_array_on(py_array_new(a->state, a->device, rt_buffer_retain(a->buffer),
                                                  a->address, a->kind, array_ndim(a), a->dims,
                                                  a->dims + array_ndim(a), a->readonly),
                                     stream);
    Py_XDECREF(keep);
    return (PyObject *)bound;
}

static PyObject *get_interface(PyObject *self, void *unused) {
    (void)unused;
    DeviceArray *a = (DeviceArray *)self;
    if (rt_info(a->device)->kind == RT_CPU && beside_a_gpu())
        return PyErr_SetString(PyExc_AttributeError,
                               "__cuda_array_interface__: this array is not on a GPU, though there "
                               "is one that others would look for it on"),
               NULL;
    PyObject *typestr = PyObject_GetAttrString((PyObject *)a->state->descrs[a->kind], "str");
    PyObject *shape = get_shape(self, NULL);
    PyObject *strides = a->layout == LAYOUT_C ? Py_NewRef(Py_None) : get_strides(self, NULL);
    PyObject *stream =
        a->stream ? PyLong_FromUnsignedLongLong(rt_stream_handle(a->stream)) : Py_NewRef(Py_None);
    PyObject *result = NULL;
    if (typestr && shape && strides && stream)
        result = Py_BuildValue("{s:O,s:O,s:O,s:(KO),s:i,s:O}", "shape", shape, "strides", strides,
                               "typestr", typestr, "data",
                               (unsigned long long)(array_size(a) ? a->address : 0),
                               a->readonly ? Py_True : Py_False, "version", 3, "stream", stream);
    Py_XDECREF(stream);
    Py_XDECREF(typestr);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return result;
}

static PyObject *array_repr(PyObject *self) {
    DeviceArray *a = (DeviceArray *)self;
    PyObject *shape = get_shape(self, NULL);
    PyObject *text = shape ? PyUnicode_FromFormat("<DeviceNDArray shape=%R dtype=%S on %s>", shape,
                                                  a->state->descrs[a->kind],
                                                  rt_kind_name(rt_info(a->device)->kind))
                           : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyObject *array_iterate(PyObject *self) {
    if (array_ndim((DeviceArray *)self)) return py_surface(self, "array_rows", NULL, NULL);
    return PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array"), NULL;
}
static PyObject *get_surface(PyObject *self, void *name) {
    return py_surface(self, name, NULL, NULL);
}

static PyObject *array_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    return py_surface((PyObject *)type, "array_new", args, kwargs);
}

#define SURFACE(name)                                                                              \
    static PyObject *surface_##name(PyObject *self, PyObject *args, PyObject *kwargs) {            \
        return py_surface(self, "array_" #name, args, kwargs);                                     \
    }
SURFACE(fill)
SURFACE(get_ipc_handle)
SURFACE(getitem)
SURFACE(setitem)

#define KEYWORDS(f) (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS
static PyMethodDef array_methods[] = {
    {"bind", KEYWORDS(array_bind), "bind(stream=0): a view whose stream this is."},
    {"fill", KEYWORDS(surface_fill), "fill(value, stream=0)"},
    {"get_ipc_handle", KEYWORDS(surface_get_ipc_handle),
     "get_ipc_handle(): what another process opens it by."},
    {"getitem", KEYWORDS(surface_getitem), "getitem(index, stream=0)"},
    {"setitem", KEYWORDS(surface_setitem), "setitem(index, value, stream=0)"},
    {"copy_to_host", KEYWORDS(array_copy_to_host), "copy_to_host(ary=None, stream=0)"},
    {"copy_to_device", KEYWORDS(array_copy_to_device), "copy_to_device(ary, stream=0)"},
    {"__array__", KEYWORDS(array_as_numpy), NULL},
    {"transpose", array_transpose, METH_VARARGS, NULL},
    {"reshape", KEYWORDS(array_reshape), NULL},
    {"ravel", KEYWORDS(array_ravel), NULL},
    {"view", array_view, METH_VARARGS, NULL},
    {"squeeze", KEYWORDS(array_squeeze), NULL},
    {"split", array_split, METH_VARARGS, NULL},
    {"__dlpack__", KEYWORDS(py_to_dlpack), NULL},
    {"__dlpack_device__", py_dlpack_device, METH_NOARGS, NULL},
    {"is_c_contiguous", is_c_contiguous, METH_NOARGS, NULL},
    {"is_f_contiguous", is_f_contiguous, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef array_getset[] = {
    {"shape", get_shape, NULL, NULL, NULL},
    {"strides", get_strides, NULL, NULL, NULL},
    {"dtype", get_dtype, NULL, NULL, NULL},
    {"size", get_size, NULL, NULL, NULL},
    {"ndim", get_ndim, NULL, NULL, NULL},
    {"nbytes", get_nbytes, NULL, NULL, NULL},
    {"itemsize", get_itemsize, NULL, NULL, NULL},
    {"alloc_size", get_alloc_size, NULL, NULL, NULL},
    {"device_pointer", get_address, NULL, "Address of the first element.", NULL},
    {"device_ctypes_pointer", get_surface, NULL, "The same as a ctypes.c_void_p.", "array_pointer"},
    {"gpu_data", get_surface, NULL, "Where its memory begins, and how much there is.",
     "array_memory"},
    {"stream", get_stream, NULL, "Of the user's, that it was made on or bound to; else 0.", NULL},
    {"T", get_transposed, NULL, NULL, NULL},
    {"flags", get_flags, NULL, NULL, NULL},
    {"__cuda_array_interface__", get_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef array_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DeviceArray, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot array_slots[] = {
    {Py_tp_new, array_make},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_tp_members, array_members},
    {Py_tp_repr, array_repr},
    {Py_tp_iter, array_iterate},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_getitem},
    {Py_mp_ass_subscript, array_setitem},
    {0, NULL},
};
PyType_Spec py_device_array_spec = {
    .name = "quern._quern.DeviceNDArray",
    .basicsize = offsetof(DeviceArray, dims),
    .itemsize = sizeof(int64_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = array_slots,
};

/* -- functions of a kind of device --------------------------------------------------------------------------------------------- */

/* Of an array that may not exist: sizes wrap, rt_extent refuses what is too large. */
static int64_t wrapping_product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static void f_strides(int ndim, int64_t item, const int64_t *shape, int64_t *strides) {
    for (int i = 0; i < ndim; i++) {
        strides[i] = item;
        item = wrapping_product(item, shape[i]);
    }
}

static RtBuffer *buffer_new(ModState *state, RtDevice *device, RtMemory memory, int64_t size,
                            RtStream *stream) {
    RtError err;
    RtBuffer *buffer = NULL;
    PY_UNLOCKED(state, &err, buffer = rt_buffer_new(device, memory, size, stream, &err));
    return buffer;
}

/* shape: an int or a tuple of ints >= 0 whose product fits. */
static bool read_shape(PyObject *object, int64_t item, int64_t *shape, int *ndim, int64_t *size) {
    PyArray_Dims dims = {NULL, 0};
    if (!PyArray_IntpConverter(object, &dims)) return false;
    bool ok = dims.len <= MAX_DIMS;
    *ndim = dims.len;
    *size = item;
    for (int i = 0; ok && i < dims.len; i++) {
        shape[i] = dims.ptr[i];
        ok = shape[i] >= 0 && !__builtin_mul_overflow(*size, shape[i], size);
    }
    PyDimMem_FREE(dims.ptr);
    if (!ok)
        PyErr_SetString(PyExc_ValueError, "the shape of a device array is negative or too large");
    return ok;
}

static bool read_order(const char *order, bool *fortran) {
    *fortran = order[0] == 'F' && !order[1];
    if (*fortran || (order[0] == 'C' && !order[1])) return true;
    PyErr_Format(PyExc_ValueError, "the order of an array is 'C' or 'F', not '%s'", order);
    return false;
}

/* The layout that is asked for: shape and strides, and *lo to *hi, the bytes that they reach. Gives the kind of elements; -1 with
 * an exception. */
static int read_layout(ModState *state, PyObject *shape_object, PyObject *dtype,
                       PyObject *strides_object, const char *order, int64_t *shape,
                       int64_t *strides, int *ndim, int64_t *lo, int64_t *hi) {
    bool fortran;
    int64_t size;
    int kind = py_kind_of_dtype(state, dtype), nstrides;
    if (kind < 0 || !read_order(order, &fortran)) return -1;
    int64_t item = PyDataType_ELSIZE(state->descrs[kind]);
    if (!read_shape(shape_object, item, shape, ndim, &size)) return -1;
    (fortran ? f_strides : py_c_strides)(*ndim, item, shape, strides);
    if (strides_object != Py_None &&
        (!py_read_dims(strides_object, strides, &nstrides) || nstrides != *ndim)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "shape and strides differ in length");
        return -1;
    }
    if (rt_extent(*ndim, item, shape, strides, lo, hi)) return kind;
    return PyErr_SetString(PyExc_ValueError, "the array is too large"), -1;
}

PyObject *py_api_device_array(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "stream", "memory", NULL};
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    PyObject *shape_object, *dtype = (PyObject *)state->descrs[TY_f64], *strides_object = Py_None;
    PyObject *stream_object = NULL, *keep;
    const char *order = "C";
    int memory = RT_MEM_DEVICE, ndim;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS], lo, hi;
    RtStream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOsOi", names, &shape_object, &dtype,
                                     &strides_object, &order, &stream_object, &memory))
        return NULL;
    int kind = read_layout(state, shape_object, dtype, strides_object, order, shape, strides, &ndim,
                           &lo, &hi);
    if (kind < 0) return NULL;
    RtDevice *device = py_current_device(state, api->wanted);
    if (!device || !py_stream_of(state, stream_object, device, &stream, &keep)) return NULL;
    DeviceArray *a = NULL;
    RtBuffer *buffer = buffer_new(state, device, (RtMemory)memory, hi - lo, stream);
    if (buffer)
        a = py_array_on(py_array_new(state, device, buffer, buffer->address - (uint64_t)lo, kind,
                                     ndim, shape, strides, false),
                        stream);
    Py_XDECREF(keep);
    return (PyObject *)a;
}

/* The array to copy: in its own order when it has one, else a packed copy. */
static PyArrayObject *packed_source(PyObject *object) {
    PyArrayObject *host =
        (PyArrayObject *)PyArray_FROM_OF(object, NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED);
    if (!host || PyArray_IS_C_CONTIGUOUS(host) || PyArray_IS_F_CONTIGUOUS(host)) return host;
    PyArrayObject *packed = (PyArrayObject *)PyArray_NewCopy(host, NPY_CORDER);
    Py_DECREF(host);
    return packed;
}

static PyObject *copy_in(DeviceApi *api, PyObject *object, PyObject *stream_object,
                         DeviceArray *to) {
    ModState *state = api->state;
    PyArrayObject *host = packed_source(object);
    if (!host) return NULL;
    int kind = py_kind_of_dtype(state, (PyObject *)PyArray_DESCR(host)), ndim = PyArray_NDIM(host);
    RtDevice *device = kind < 0 ? NULL : to ? to->device : py_current_device(state, api->wanted);
    RtStream *stream = NULL;
    PyObject *keep = NULL;
    DeviceArray *a = NULL;
    if (device && py_stream_of(state, stream_object, device, &stream, &keep)) {
        if (to) {
            a = check_host(to, host, false) && writable(to)
                    ? (DeviceArray *)Py_NewRef((PyObject *)to)
                    : NULL;
        } else {
            int64_t dims[2 * MAX_DIMS];
            for (int i = 0; i < ndim; i++)
                dims[i] = PyArray_DIM(host, i);
            (PyArray_IS_C_CONTIGUOUS(host) ? py_c_strides : f_strides)(
                ndim, PyDataType_ELSIZE(PyArray_DESCR(host)), dims, dims + ndim);
            RtBuffer *buffer =
                buffer_new(state, device, RT_MEM_DEVICE, PyArray_NBYTES(host), stream);
            if (buffer)
                a = py_array_on(py_array_new(state, device, buffer, buffer->address, kind, ndim,
                                             dims, dims + ndim, false),
                                stream);
        }
        if (a && !copy_host(a, host, stream, true)) Py_CLEAR(a);
    }
    Py_XDECREF(keep);
    Py_DECREF(host);
    return (PyObject *)a;
}

PyObject *py_api_to_device(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"obj", "stream", "copy", "to", NULL};
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    PyObject *object, *stream = NULL, *to = Py_None;
    int copy = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OpO", names, &object, &stream, &copy, &to))
        return NULL;
    if (to != Py_None && Py_TYPE(to) != state->device_array_type)
        return PyErr_SetString(PyExc_TypeError, "to_device: 'to' must be a device array"), NULL;
    RtDevice *device = py_current_device(state, api->wanted);
    DeviceArray *already = device ? py_as_device_array(state, device, object) : NULL;
    if (!already && PyErr_Occurred()) return NULL;
    PyObject *host = NULL;
    if (already && copy && already != (DeviceArray *)object && py_dlpack_of_host(object)) {
        /* a tensor of the host is copied, as arrays of NumPy are, and stays what it is */
        host = PyObject_CallMethod((PyObject *)already, "copy_to_host", NULL);
        Py_DECREF(already);
        if (!host) return NULL;
    } else if (already) {
        return (PyObject *)already;
    }
    PyObject *made =
        copy_in(api, host ? host : object, stream, to == Py_None ? NULL : (DeviceArray *)to);
    Py_XDECREF(host);
    return made;
}

static void drop_buffer(PyObject *capsule) {
    RtBuffer *buffer = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    Py_BEGIN_ALLOW_THREADS;
    rt_buffer_release(buffer);
    Py_END_ALLOW_THREADS;
}

/* pinned_array(shape, dtype, strides, order, mapped): an ndarray in memory that the device can reach quickly. */
PyObject *py_api_pinned_array(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "mapped", NULL};
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    PyObject *shape_object, *dtype = (PyObject *)state->descrs[TY_f64], *strides_object = Py_None;
    const char *order = "C";
    int64_t shape[MAX_DIMS], strides[MAX_DIMS], lo, hi;
    npy_intp dims[2 * MAX_DIMS];
    int ndim, mapped = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOsp", names, &shape_object, &dtype,
                                     &strides_object, &order, &mapped))
        return NULL;
    int kind = read_layout(state, shape_object, dtype, strides_object, order, shape, strides, &ndim,
                           &lo, &hi);
    RtDevice *device = kind < 0 ? NULL : py_current_device(state, api->wanted);
    RtBuffer *buffer =
        device ? buffer_new(state, device, RT_MEM_PINNED, QN_MAX(hi - lo, 1), NULL) : NULL;
    if (!buffer) return NULL;
    PyObject *capsule =
                 PyCapsule_New(buffer, mapped ? "quern.mapped" : "quern.buffer", drop_buffer),
             *array = NULL;
    if (!capsule) return rt_buffer_release(buffer), NULL;
    for (int i = 0; i < ndim; i++) {
        dims[i] = shape[i];
        dims[MAX_DIMS + i] = strides[i];
    }
    PyArray_Descr *descr = state->descrs[kind];
    Py_INCREF(descr);
    array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, dims, dims + MAX_DIMS,
                                 (char *)buffer->host - lo, NPY_ARRAY_WRITEABLE, NULL);
    if (!array) return Py_DECREF(capsule), NULL;
    if (PyArray_SetBaseObject((PyArrayObject *)array, capsule) < 0) Py_CLEAR(array);
    return array;
}
