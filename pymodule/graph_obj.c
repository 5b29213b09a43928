/* graph_obj.c - launches that a stream has captured (runtime/graph.c), as Python sees them. */
#include "pymodule/device.h"

/* The graph keeps what its launches were given: kernels and arrays, in a list. */
static void drop_list(void *owner) {
    if (rt_leaving() || !Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(gil);
}

typedef struct GraphObject {
    PyObject_HEAD ModState *state;
    RtGraph *graph;
    RtDevice *device;
} GraphObject;

PyObject *py_stream_begin_capture(PyObject *self, PyObject *unused) {
    (void)unused;
    StreamObject *o = (StreamObject *)self;
    PyObject *list = PyList_New(0);
    if (!list) return NULL;
    RtError err;
    bool ok = false;
    PY_UNLOCKED(o->state, &err, ok = rt_capture_begin(o->stream, list, drop_list, &err));
    if (ok) Py_RETURN_NONE;
    Py_DECREF(list);
    return NULL;
}

PyObject *py_stream_end_capture(PyObject *self, PyObject *unused) {
    (void)unused;
    StreamObject *o = (StreamObject *)self;
    GraphObject *graph = (GraphObject *)o->state->graph_type->tp_alloc(o->state->graph_type, 0);
    if (!graph) return NULL;
    RtError err;
    graph->state = o->state;
    graph->device = rt_stream_device(o->stream);
    PY_UNLOCKED(o->state, &err, graph->graph = rt_capture_end(o->stream, &err));
    if (!graph->graph) Py_CLEAR(graph);
    return (PyObject *)graph;
}

bool py_capture_keep(RtStream *stream, PyObject *kernel, const KernelArrays *arrays) {
    PyObject *list = rt_capture_owner(stream);
    if (!list || PyList_Append(list, kernel) < 0) return !list;
    for (int i = 0; i < arrays->ndevice; i++)
        if (PyList_Append(list, (PyObject *)arrays->device[i]) < 0) return false;
    return true;
}

static void graph_dealloc(PyObject *self) {
    GraphObject *o = (GraphObject *)self;
    PyTypeObject *type = Py_TYPE(self);
    RtGraph *graph = o->graph;
    if (graph) {
        Py_BEGIN_ALLOW_THREADS;
        rt_graph_release(graph);
        Py_END_ALLOW_THREADS;
    }
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *graph_launch(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    GraphObject *o = (GraphObject *)self;
    PyObject *object = NULL, *keep;
    RtStream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &object) ||
        !py_stream_of(o->state, object, o->device, &stream, &keep))
        return NULL;
    CallContext ctx;
    CallFrame frame;
    RtError err;
    rt_error_init(&err);
    Py_INCREF(self);
    py_release(&ctx, &frame);
    rt_graph_launch(o->graph, stream, &ctx, &err);
    py_resume(&frame);
    Py_XDECREF(keep);
    Py_DECREF(self);
    if (rt_failed(&err)) return py_raise_runtime(o->state, &err), NULL;
    Py_RETURN_NONE;
}

static PyObject *graph_update(PyObject *self, PyObject *other) {
    GraphObject *o = (GraphObject *)self;
    if (Py_TYPE(other) != Py_TYPE(self))
        return PyErr_SetString(PyExc_TypeError, "a graph is expected"), NULL;
    RtError err;
    PY_UNLOCKED(o->state, &err, rt_graph_update(o->graph, ((GraphObject *)other)->graph, &err));
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static Py_ssize_t graph_length(PyObject *self) {
    return rt_graph_size(((GraphObject *)self)->graph);
}

static PyMethodDef graph_methods[] = {
    {"launch", (PyCFunction)(void (*)(void))graph_launch, METH_VARARGS | METH_KEYWORDS,
     "Launches everything again, on a stream."},
    {"update", graph_update, METH_O,
     "Takes the launches of another graph, which gets those of this one."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot graph_slots[] = {
    {Py_tp_dealloc, graph_dealloc},
    {Py_tp_methods, graph_methods},
    {Py_sq_length, graph_length},
    {0, NULL},
};
PyType_Spec py_graph_spec = {
    .name = "quern._quern.Graph",
    .basicsize = sizeof(GraphObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = graph_slots,
};
