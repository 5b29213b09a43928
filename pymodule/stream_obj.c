/* stream_obj.c - Stream and Event. */
#include "pymodule/device.h"

static PyObject *stream_object(ModState *state, RtStream *stream) { /* takes the reference over */
    if (!stream) return NULL;
    StreamObject *o = (StreamObject *)state->stream_type->tp_alloc(state->stream_type, 0);
    if (!o) return rt_stream_release(stream), NULL;
    o->state = state;
    o->stream = stream;
    return (PyObject *)o;
}

PyObject *py_stream_object(ModState *state, RtStream *stream) {
    return stream_object(state, rt_stream_retain(stream));
}

static void stream_dealloc(PyObject *self) {
    StreamObject *o = (StreamObject *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (o->weakrefs) PyObject_ClearWeakRefs(self);
    RtStream *stream = o->stream;
    if (stream) {
        Py_BEGIN_ALLOW_THREADS;
        rt_stream_release(stream);
        Py_END_ALLOW_THREADS;
    }
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *external(ModState *state, RtDevice *device, uint64_t handle) {
    RtError err;
    RtStream *stream = NULL;
    PY_UNLOCKED(state, &err, stream = rt_stream_external(device, handle, &err));
    return stream_object(state, stream);
}

bool py_stream_of(ModState *state, PyObject *object, RtDevice *device, RtStream **out,
                  PyObject **keep) {
    *out = NULL;
    *keep = NULL;
    if (!object || object == Py_None) return true;
    if (Py_TYPE(object) == state->stream_type) {
        *out = ((StreamObject *)object)->stream;
        *keep = Py_NewRef(object);
        return true;
    }
    PyObject *handle = NULL, *protocol = NULL;
    if (PyLong_Check(object)) {
        handle = Py_NewRef(object);
    } else if (py_get_optional(object, "__cuda_stream__", &protocol) < 0) {
        return false;
    } else if (protocol) { /* () -> (version, handle) */
        PyObject *pair =
            PyCallable_Check(protocol) ? PyObject_CallNoArgs(protocol) : Py_NewRef(protocol);
        Py_DECREF(protocol);
        if (pair) handle = PySequence_GetItem(pair, 1);
        Py_XDECREF(pair);
        if (!handle) return false;
    }
    if (!handle) {
        PyErr_Format(PyExc_TypeError, "a stream is expected, not an object of type '%.100s'",
                     Py_TYPE(object)->tp_name);
        return false;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(handle);
    Py_DECREF(handle);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return false;
    if (number == 0) return true;
    PyObject *made = external(state, device, number);
    if (!made) return false;
    *out = ((StreamObject *)made)->stream;
    *keep = made;
    return true;
}

/* -- Stream ---------------------------------------------------------------------------------------------- */

static PyObject *stream_synchronize(PyObject *self, PyObject *unused) {
    (void)unused;
    StreamObject *o = (StreamObject *)self;
    CallContext ctx;
    CallFrame frame;
    RtError err;
    rt_error_init(&err);
    py_release(&ctx, &frame);
    rt_stream_synchronize(o->stream, &ctx, &err);
    py_resume(&frame);
    if (rt_failed(&err)) return py_raise_runtime(o->state, &err), NULL;
    Py_RETURN_NONE;
}

static PyObject *stream_query(PyObject *self, PyObject *unused) {
    (void)unused;
    StreamObject *o = (StreamObject *)self;
    RtError err;
    bool done = false;
    PY_UNLOCKED(o->state, &err, rt_stream_done(o->stream, &done, &err));
    return PyErr_Occurred() ? NULL : PyBool_FromLong(done);
}

typedef struct Callback {
    PyObject *stream, *function, *arg;
} Callback;

/* On a driver's thread, without the GIL. */
static void run_callback(void *user) {
    Callback *c = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *done = PyObject_CallFunction(c->function, "OiO", c->stream, 0, c->arg);
    if (!done) PyErr_WriteUnraisable(c->function);
    Py_XDECREF(done);
    Py_DECREF(c->stream);
    Py_DECREF(c->function);
    Py_DECREF(c->arg);
    PyMem_Free(c);
    PyGILState_Release(gil);
}

static PyObject *stream_add_callback(PyObject *self, PyObject *args) {
    StreamObject *o = (StreamObject *)self;
    PyObject *function, *arg = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &function, &arg)) return NULL;
    Callback *c = PyMem_Malloc(sizeof *c);
    if (!c) return PyErr_NoMemory();
    *c = (Callback){Py_NewRef(self), Py_NewRef(function), Py_NewRef(arg)};
    RtError err;
    bool ok = false;
    PY_UNLOCKED(o->state, &err, ok = rt_stream_callback(o->stream, run_callback, c, &err));
    if (ok) Py_RETURN_NONE;
    Py_DECREF(self);
    Py_DECREF(function);
    Py_DECREF(arg);
    PyMem_Free(c);
    return NULL;
}

static PyObject *stream_handle(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(rt_stream_handle(((StreamObject *)self)->stream));
}

static PyObject *stream_external(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(rt_stream_is_external(((StreamObject *)self)->stream));
}

static PyObject *stream_capturing(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(rt_capturing(((StreamObject *)self)->stream));
}

static PyObject *stream_cuda_stream(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_BuildValue("(iK)", 0,
                         (unsigned long long)rt_stream_handle(((StreamObject *)self)->stream));
}

static PyObject *stream_int(PyObject *self) {
    return stream_handle(self, NULL);
}

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS, "Waits for everything issued on this stream."},
    {"query", stream_query, METH_NOARGS, "Has everything issued on this stream been done?"},
    {"add_callback", stream_add_callback, METH_VARARGS,
     "callback(stream, status, arg) after the work so far."},
    {"begin_capture", py_stream_begin_capture, METH_NOARGS,
     "From here on launches on this stream become nodes of a graph instead of running."},
    {"end_capture", py_stream_end_capture, METH_NOARGS, "The graph of the launches since then."},
    {"__cuda_stream__", stream_cuda_stream, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef stream_getset[] = {
    {"handle", stream_handle, NULL, "The driver's handle, as an int.", NULL},
    {"capturing", stream_capturing, NULL, "Is it being captured?", NULL},
    {"external", stream_external, NULL, "Does it belong to somebody else?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef stream_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(StreamObject, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
/* Objects of one stream are equal. */
static PyObject *stream_compare(PyObject *a, PyObject *b, int op) {
    if (Py_TYPE(a) != Py_TYPE(b) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool same = ((StreamObject *)a)->stream == ((StreamObject *)b)->stream;
    return PyBool_FromLong(same == (op == Py_EQ));
}
static Py_hash_t stream_hash(PyObject *self) {
    return (Py_hash_t)((uintptr_t)((StreamObject *)self)->stream >> 4);
}

static PyType_Slot stream_slots[] = {
    {Py_tp_dealloc, stream_dealloc}, {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_getset},   {Py_tp_members, stream_members},
    {Py_nb_int, stream_int},         {Py_tp_richcompare, stream_compare},
    {Py_tp_hash, stream_hash},       {0, NULL},
};
PyType_Spec py_stream_spec = {
    .name = "quern._quern.Stream",
    .basicsize = sizeof(StreamObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = stream_slots,
};

/* -- Event --------------------------------------------------------------------------------------------------- */

typedef struct EventObject {
    PyObject_HEAD ModState *state;
    RtDevice *device;
    RtEvent *event;
} EventObject;

static void event_dealloc(PyObject *self) {
    EventObject *o = (EventObject *)self;
    PyTypeObject *type = Py_TYPE(self);
    RtEvent *event = o->event;
    if (event) {
        Py_BEGIN_ALLOW_THREADS;
        rt_event_release(event);
        Py_END_ALLOW_THREADS;
    }
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *event_on_stream(PyObject *self, PyObject *args, PyObject *kwargs, bool record) {
    static char *names[] = {"stream", NULL};
    EventObject *o = (EventObject *)self;
    PyObject *object = NULL, *keep;
    RtStream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &object) ||
        !py_stream_of(o->state, object, o->device, &stream, &keep))
        return NULL;
    if (!stream) stream = rt_stream_default(o->device);
    RtError err;
    PY_UNLOCKED(o->state, &err,
                record ? rt_event_record(o->event, stream, &err)
                       : rt_stream_wait(stream, o->event, &err));
    Py_XDECREF(keep);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *event_record(PyObject *self, PyObject *args, PyObject *kwargs) {
    return event_on_stream(self, args, kwargs, true);
}
static PyObject *event_wait(PyObject *self, PyObject *args, PyObject *kwargs) {
    return event_on_stream(self, args, kwargs, false);
}

static PyObject *event_query(PyObject *self, PyObject *unused) {
    (void)unused;
    EventObject *o = (EventObject *)self;
    RtError err;
    bool done = false;
    PY_UNLOCKED(o->state, &err, rt_event_done(o->event, &done, &err));
    return PyErr_Occurred() ? NULL : PyBool_FromLong(done);
}

static PyObject *event_synchronize(PyObject *self, PyObject *unused) {
    (void)unused;
    EventObject *o = (EventObject *)self;
    CallContext ctx;
    CallFrame frame;
    RtError err;
    rt_error_init(&err);
    py_release(&ctx, &frame);
    rt_event_synchronize(o->event, &ctx, &err);
    py_resume(&frame);
    if (rt_failed(&err)) return py_raise_runtime(o->state, &err), NULL;
    Py_RETURN_NONE;
}

static PyObject *event_elapsed_time(PyObject *self, PyObject *other) {
    EventObject *o = (EventObject *)self;
    if (Py_TYPE(other) != Py_TYPE(self))
        return PyErr_SetString(PyExc_TypeError, "an event is expected"), NULL;
    RtError err;
    float ms = 0;
    PY_UNLOCKED(o->state, &err,
                rt_event_elapsed(o->event, ((EventObject *)other)->event, &ms, &err));
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble((double)ms);
}

#define KEYWORDS(f) (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS
static PyMethodDef event_methods[] = {
    {"record", KEYWORDS(event_record), "Marks the work issued on a stream so far."},
    {"wait", KEYWORDS(event_wait), "Makes a stream wait for this event."},
    {"query", event_query, METH_NOARGS, "Has the marked work been done?"},
    {"synchronize", event_synchronize, METH_NOARGS, "Waits for the marked work."},
    {"elapsed_time", event_elapsed_time, METH_O, "Milliseconds from this event to another one."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot event_slots[] = {
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_methods, event_methods},
    {0, NULL},
};
PyType_Spec py_event_spec = {
    .name = "quern._quern.Event",
    .basicsize = sizeof(EventObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = event_slots,
};

/* -- functions of a kind of device ---------------------------------------------------------------------------------- */

PyObject *py_api_stream(PyObject *self, PyObject *unused) {
    (void)unused;
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    RtDevice *device = py_current_device(state, api->wanted);
    if (!device) return NULL;
    RtError err;
    RtStream *stream = NULL;
    PY_UNLOCKED(state, &err, stream = rt_stream_new(device, &err));
    return stream_object(state, stream);
}

PyObject *py_api_default_stream(PyObject *self, PyObject *unused) {
    (void)unused;
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    RtDevice *device = py_current_device(state, api->wanted);
    return device ? stream_object(state, rt_stream_retain(rt_stream_default(device))) : NULL;
}

PyObject *py_api_external_stream(PyObject *self, PyObject *handle) {
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    unsigned long long number = PyLong_AsUnsignedLongLong(handle);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
    RtDevice *device = py_current_device(state, api->wanted);
    return device ? external(state, device, number) : NULL;
}

PyObject *py_api_event(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"timing", NULL};
    DeviceApi *api = (DeviceApi *)self;
    ModState *state = api->state;
    int timing = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", names, &timing)) return NULL;
    RtDevice *device = py_current_device(state, api->wanted);
    EventObject *o =
        device ? (EventObject *)state->event_type->tp_alloc(state->event_type, 0) : NULL;
    if (!o) return NULL;
    o->state = state;
    o->device = device;
    RtError err;
    PY_UNLOCKED(state, &err, o->event = rt_event_new(device, timing, &err));
    if (!o->event) Py_CLEAR(o);
    return (PyObject *)o;
}
