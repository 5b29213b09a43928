/* generator_obj.c - generators that compiled functions give to Python: an iterator over a frame of compiled code.
 *
 * The frame is what the code made, and holds what lives across a yield; each item is a call of the same entry, which goes on with it
 * (HostEntry). A generator that has ended, raised or been closed holds nothing. One with handlers is told how to go on (HowOn): its
 * frame has a place for that (quern_closes). It cannot be sent values: the value of a yield is None in compiled code. */
#include "codegen/objects.h"
#include "codegen/support.h"
#include "pymodule/objects.h"

typedef struct Generator {
    PyObject_HEAD PyObject *dispatcher; /* its code */
    ModState *state;
    Spec *spec;        /* held */
    ArrayValue *frame; /* NULL: it is done */
    bool running;
} Generator;

_Static_assert(sizeof(ArrayValue) + 2 * sizeof(int64_t) == GENERATOR_BYTES,
               "the frame of a generator is an array of one axis");

PyObject *py_new_generator(ModState *state, PyObject *dispatcher, Spec *spec, const char *frame) {
    ArrayValue *kept = PyMem_Malloc(GENERATOR_BYTES);
    Generator *g = kept ? PyObject_GC_New(Generator, state->generator_type) : NULL;
    if (!g) {
        quern_release(((const ArrayValue *)(const void *)frame)->owner);
        PyMem_Free(kept);
        return kept ? NULL : PyErr_NoMemory();
    }
    memcpy(kept, frame, GENERATOR_BYTES);
    py_spec_hold(spec);
    g->dispatcher = Py_NewRef(dispatcher);
    g->state = state;
    g->spec = spec;
    g->frame = kept;
    g->running = false;
    PyObject_GC_Track(g);
    return (PyObject *)g;
}

/* What it holds goes: Python objects among it may run anything. */
static void end(Generator *g) {
    ArrayValue *frame = g->frame;
    if (!frame) return;
    g->frame = NULL;
    quern_release(frame->owner);
    PyMem_Free(frame);
    py_drop_owned(g->state);
}

/* What has been dropped goes; an exception that is set stays. */
static void drop_owned(const Generator *g) {
    if (QN_LIKELY(!atomic_load(&g->state->dropped))) return;
    PyObject *raised = PyErr_GetRaisedException();
    py_drop_owned(g->state);
    PyErr_SetRaisedException(raised);
}

/* 1: there is an item in `memory`, behind the frame; 0: it has ended; -1: exception. */
static int go_on(Generator *g, char *memory, HowOn how) {
    const Artifact *artifact = g->spec->artifact;
    if (how != ON_NEXT) ((int64_t *)g->frame->data)[1] = how;
    memcpy(memory, g->frame, GENERATOR_BYTES);
    g->running = true;
    int status = py_run_resumed(g->dispatcher, g->spec, memory);
    g->running = false;
    bool more = status == 0 && (memory[GENERATOR_BYTES + artifact->resumed.items[0].offset] & 1);
    if (!more) end(g);
    drop_owned(g);
    return status ? -1 : more;
}

/* The end of a generator that returns something, which is taken over. */
static void stop_with(PyObject *result) {
    PyObject *stop =
        result && result != Py_None ? PyObject_CallOneArg(PyExc_StopIteration, result) : NULL;
    if (stop) PyErr_SetObject(PyExc_StopIteration, stop);
    Py_XDECREF(stop);
    Py_XDECREF(result);
}

/* The next item; NULL without an exception: it has ended. */
static PyObject *next_item(Generator *g, HowOn how) {
    const ValueLayout *resumed = &g->spec->artifact->resumed, *item = &resumed->items[1];
    _Alignas(16) char small[256];
    size_t size = GENERATOR_BYTES + (size_t)resumed->size;
    char *memory = size <= sizeof small ? small : PyMem_Malloc(size);
    if (!memory) return PyErr_NoMemory();
    PyObject *out = NULL;
    int more = go_on(g, memory, how);
    if (more > 0)
        out = py_box_item(g->state, item, memory + GENERATOR_BYTES + item->offset);
    else if (more == 0 && resumed->nitems > 2)
        stop_with(py_box_item(g->state, &resumed->items[2],
                              memory + GENERATOR_BYTES + resumed->items[2].offset));
    if (memory != small) PyMem_Free(memory);
    return out;
}

static bool is_free(const Generator *g) {
    if (g->running) PyErr_SetString(PyExc_ValueError, "generator already executing");
    return !g->running;
}

static PyObject *generator_next(PyObject *self) {
    Generator *g = (Generator *)self;
    return is_free(g) && g->frame ? next_item(g, ON_NEXT) : NULL;
}

static PyObject *generator_send(PyObject *self, PyObject *value) {
    if (value != Py_None) {
        PyErr_SetString(
            PyExc_TypeError,
            "nothing can be sent to a compiled generator: the value of a yield is None");
        return NULL;
    }
    PyObject *item = generator_next(self);
    if (!item && !PyErr_Occurred()) PyErr_SetNone(PyExc_StopIteration);
    return item;
}

/* false: an exception that its handlers raised, or it gave one more item. */
static bool close_frame(Generator *g) {
    if (!g->frame || !quern_closes(g->frame->owner)) return end(g), true;
    PyObject *item = next_item(g, ON_CLOSE);
    if (item) {
        Py_DECREF(item);
        PyErr_SetString(PyExc_RuntimeError, "generator ignored GeneratorExit");
        return false;
    }
    if (!PyErr_Occurred()) return true;
    if (!PyErr_ExceptionMatches(PyExc_GeneratorExit) &&
        !PyErr_ExceptionMatches(PyExc_StopIteration))
        return false;
    PyErr_Clear();
    return true;
}

static PyObject *generator_close(PyObject *self, PyObject *unused) {
    Generator *g = (Generator *)self;
    (void)unused;
    return is_free(g) && close_frame(g) ? Py_NewRef(Py_None) : NULL;
}

/* What throw() means by its arguments: a new reference; NULL: exception. */
static PyObject *thrown_by(PyObject *what, PyObject *value, PyObject *traceback) {
    PyObject *exception = NULL;
    bool has_value = value && value != Py_None;
    if (PyExceptionInstance_Check(what) && has_value)
        PyErr_SetString(PyExc_TypeError, "instance exception may not have a separate value");
    else if (PyExceptionInstance_Check(what))
        exception = Py_NewRef(what);
    else if (!PyExceptionClass_Check(what))
        PyErr_Format(PyExc_TypeError,
                     "exceptions must be classes or instances deriving from BaseException, not %s",
                     Py_TYPE(what)->tp_name);
    else if (has_value && PyObject_IsInstance(value, what) > 0)
        exception = Py_NewRef(value);
    else if (!PyErr_Occurred() && has_value && PyTuple_Check(value))
        exception = PyObject_CallObject(what, value);
    else if (!PyErr_Occurred())
        exception = has_value ? PyObject_CallOneArg(what, value) : PyObject_CallNoArgs(what);
    bool placed = exception && traceback && traceback != Py_None;
    if (placed && PyException_SetTraceback(exception, traceback) < 0) Py_CLEAR(exception);
    return exception;
}

static PyObject *generator_throw(PyObject *self, PyObject *args) {
    Generator *g = (Generator *)self;
    PyObject *what, *value = NULL, *traceback = NULL;
    if (!PyArg_UnpackTuple(args, "throw", 1, 3, &what, &value, &traceback) || !is_free(g))
        return NULL;
    PyObject *exception = thrown_by(what, value, traceback);
    if (!exception) return NULL;
    bool waits = g->frame && quern_closes(g->frame->owner);
    if (!waits) end(g);
    PyErr_SetRaisedException(exception);
    PyObject *item = waits ? next_item(g, ON_THROW) : NULL;
    if (!item && !PyErr_Occurred()) PyErr_SetNone(PyExc_StopIteration);
    return item;
}

static PyObject *generator_self(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *generator_leave(PyObject *self, PyObject *args) {
    (void)args;
    return generator_close(self, NULL);
}

static PyObject *generator_repr(PyObject *self) {
    Generator *g = (Generator *)self;
    PyObject *name = PyObject_GetAttrString(g->dispatcher, "__qualname__");
    PyObject *out = name ? PyUnicode_FromFormat("<compiled generator %S%s>", name,
                                                g->frame ? "" : ", at its end")
                         : NULL;
    Py_XDECREF(name);
    return out;
}

static void generator_dealloc(PyObject *self) {
    Generator *g = (Generator *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    PyObject *raised = PyErr_GetRaisedException();
    if (!close_frame(g)) PyErr_WriteUnraisable(g->dispatcher);
    end(g);
    PyErr_SetRaisedException(raised);
    py_spec_release(g->spec);
    Py_XDECREF(g->dispatcher);
    type->tp_free(self);
    Py_DECREF(type);
}

static int generator_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Generator *)self)->dispatcher);
    return 0;
}

static PyMethodDef generator_methods[] = {
    {"send", generator_send, METH_O, "send(None): the next item."},
    {"throw", generator_throw, METH_VARARGS, "Raises an exception where it waits: the next item."},
    {"close", generator_close, METH_NOARGS,
     "Ends it: its handlers run, and what it holds is given back."},
    {"__enter__", generator_self, METH_NOARGS, NULL},
    {"__exit__", generator_leave, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot generator_slots[] = {
    {Py_tp_doc, "What a compiled generator function gives to Python: an iterator."},
    {Py_tp_dealloc, generator_dealloc},
    {Py_tp_traverse, generator_traverse},
    {Py_tp_repr, generator_repr},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, generator_next},
    {Py_tp_methods, generator_methods},
    {0, NULL},
};

PyType_Spec py_generator_spec = {
    .name = "quern.Generator",
    .basicsize = sizeof(Generator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = generator_slots,
};
