/* deques.c - collections.deque and those of compiled code. As an argument one is copied for the time of the call, and what the code
 * has changed is written back, as of lists (lists.c). */
#include "codegen/support.h"
#include "pymodule/objects.h"

/* A ring of places: quern/library/deques.py. */
typedef struct DequeObject {
    ObjectHeader header;
    int64_t length, first, limit, changes;
    char *data;
    Owner *owner;
    int64_t capacity, stride;
} DequeObject;

PyObject *py_new_deque(ModState *state, const ValueLayout *layout, void *object) {
    DequeObject *deque = object;
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *out = !collections ? NULL
                    : deque->limit < 0
                        ? PyObject_CallMethod(collections, "deque", NULL)
                        : PyObject_CallMethod(collections, "deque", "()L", (long long)deque->limit);
    Py_XDECREF(collections);
    deque->header.python = out; /* for the same one further down */
    for (int64_t i = 0; out && i < deque->length; i++) {
        int64_t at = (deque->first + i) & (deque->capacity - 1);
        PyObject *item =
            py_box_kept(state, &layout->items[0], deque->data + at * layout->items[0].size);
        PyObject *done = item ? PyObject_CallMethod(out, "append", "(O)", item) : NULL;
        if (!done) Py_CLEAR(out);
        Py_XDECREF(item);
        Py_XDECREF(done);
    }
    if (!out) deque->header.python = NULL;
    return out;
}

void py_forget_deque(const ValueLayout *layout, const char *value) {
    const DequeObject *deque = *(DequeObject *const *)value;
    for (int64_t i = 0; i < deque->length; i++) {
        int64_t at = (deque->first + i) & (deque->capacity - 1);
        py_forget_objects(&layout->items[0], deque->data + at * layout->items[0].size);
    }
}

/* -- arguments ------------------------------------------------------------------------------------- */

bool py_is_deque_type(PyTypeObject *type) {
    return !strcmp(type->tp_name, "collections.deque");
}

bool py_is_deque(PyObject *object) {
    return py_is_deque_type(Py_TYPE(object));
}

enum { LEAST_PLACES = 8 };

/* Without elements, with places for n. NULL with MemoryError. */
static DequeObject *make_deque(const Plan *plan, PyObject *python, Py_ssize_t n) {
    const ValueLayout *layout = plan->object;
    int64_t places = LEAST_PLACES;
    while (places < n)
        places *= 2;
    int64_t bytes = places * layout->items[0].size;
    DequeObject *deque = layout->cells ? (DequeObject *)quern_new_object(layout->cells) : NULL;
    if (!deque) return PyErr_NoMemory(), NULL;
    deque->owner = layout->buffer_cells[0] ? quern_alloc_buffer(bytes, layout->buffer_cells[0])
                                           : quern_alloc_array(bytes, 0);
    deque->length = deque->first = deque->changes = 0;
    deque->limit = -1;
    deque->data = deque->owner ? (char *)deque->owner + SUPPORT_ARRAY_HEADER : NULL;
    deque->capacity = places;
    deque->stride = layout->items[0].size;
    deque->header.python = python;
    if (deque->owner) return deque;
    quern_release(&deque->header.owner);
    return PyErr_NoMemory(), NULL;
}

/* 1, 0, -1 as py_unbox. */
int py_unbox_deque(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (!py_is_deque(o)) return 0;
    PyObject *items = PySequence_List(o), *most = PyObject_GetAttrString(o, "maxlen");
    DequeObject *deque = items && most ? make_deque(plan, o, PyList_GET_SIZE(items)) : NULL;
    int done = deque ? 1 : -1;
    if (deque && most != Py_None) deque->limit = PyLong_AsLongLong(most);
    for (Py_ssize_t i = 0; done > 0 && i < PyList_GET_SIZE(items); i++) {
        char *at = deque->data + i * deque->stride;
        done = py_unbox_value(&plan->items[0], PyList_GET_ITEM(items, i), at, loose);
        if (done > 0) deque->length = i + 1;
    }
    if (done <= 0 && deque) quern_release(&deque->header.owner);
    if (done > 0) *(DequeObject **)out = deque;
    Py_XDECREF(items);
    Py_XDECREF(most);
    return done;
}

static const char *element_at(const Plan *plan, const DequeObject *deque, int64_t i) {
    int64_t size = plan->object->items[0].size;
    return deque->data + ((deque->first + i) & (deque->capacity - 1)) * size;
}

/* Element number i, as the object that it was if it is still that: *changed. */
static PyObject *element_of(ModState *state, const Plan *plan, const DequeObject *deque, int64_t i,
                            PyObject *before, bool *changed) {
    const ValueLayout *layout = &plan->object->items[0];
    const char *at = element_at(plan, deque, i);
    PyObject *old = i < PyList_GET_SIZE(before) ? PyList_GET_ITEM(before, (Py_ssize_t)i) : NULL;
    if (old && py_is_unchanged(state, &plan->items[0], at, old)) return Py_NewRef(old);
    *changed = true;
    return py_box_kept(state, layout, at);
}

/* The Python deque becomes what the object is, in one step. false: exception. */
bool py_write_deque(ModState *state, const Plan *plan, void *object) {
    DequeObject *deque = object;
    PyObject *python = Py_NewRef((PyObject *)deque->header.python);
    PyObject *before = PySequence_List(python), *now = before ? PyList_New(0) : NULL;
    bool ok = now != NULL, changed = ok && deque->length != PyList_GET_SIZE(before);
    for (int64_t i = 0; ok && i < deque->length; i++) {
        PyObject *item = element_of(state, plan, deque, i, before, &changed);
        ok = item && PyList_Append(now, item) == 0;
        Py_XDECREF(item);
    }
    PyObject *cleared = ok && changed ? PyObject_CallMethod(python, "clear", NULL) : NULL;
    PyObject *filled = cleared ? PyObject_CallMethod(python, "extend", "(O)", now) : NULL;
    if (ok && changed) ok = filled != NULL;
    Py_XDECREF(filled);
    Py_XDECREF(cleared);
    Py_XDECREF(now);
    Py_XDECREF(before);
    Py_DECREF(python);
    return ok;
}
