/* runtime_error.c - an RtError becomes a Python exception. Called with the GIL. */
#include "pymodule/state.h"
#include "runtime/runtime.h"

static PyObject *class_of(ModState *state, const RtError *err) {
    switch (err->cls) {
    case RT_VALUE_ERROR: return Py_NewRef(PyExc_ValueError);
    case RT_TYPE_ERROR: return Py_NewRef(PyExc_TypeError);
    case RT_MEMORY_ERROR: return Py_NewRef(PyExc_MemoryError);
    case RT_FORK_ERROR: return Py_NewRef(PyExc_RuntimeError);
    case RT_SUPPORT_ERROR: return py_error_class(state, "CudaSupportError");
    case RT_API_ERROR: return py_error_class(state, "CudaAPIError");
    case RT_DEVICE_ERROR: return py_error_class(state, "DeviceError");
    case RT_OK:
    case RT_KERNEL_EXCEPTION:
    case RT_PENDING: break;
    }
    return Py_NewRef(PyExc_SystemError);
}

/* "block (1, 0, 0), thread (5, 0, 0)" as a note of the exception. */
static void add_thread_note(const RtError *err) {
    PyObject *raised = PyErr_GetRaisedException();
    if (!raised) return;
    const uint32_t *b = err->block_index, *t = err->thread_index;
    char name[128]; /* the user's, as long as a line bears */
    snprintf(name, sizeof name, STR_FMT, STR_ARG(err->artifact->name));
    PyObject *done = PyObject_CallMethod(
        raised, "add_note", "N",
        PyUnicode_FromFormat("raised in kernel %s by block (%u, %u, %u), thread (%u, %u, %u)", name,
                             b[0], b[1], b[2], t[0], t[1], t[2]));
    if (!done) py_forget_error();
    Py_XDECREF(done);
    PyErr_SetRaisedException(raised);
}

void py_raise_runtime(ModState *state, const RtError *err) {
    if (err->cls == RT_KERNEL_EXCEPTION && err->artifact) {
        py_raise_call(state, err->artifact, &err->raised, CALL_EXCEPTION, NULL);
        if (err->has_thread) add_thread_note(err);
        return;
    }
    if (err->cls == RT_PENDING) { /* the poll callback left it */
        if (!PyErr_Occurred()) py_set_interrupted();
        return;
    }
    PyObject *cls = class_of(state, err);
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
    if (cls && text && err->cls == RT_API_ERROR) {
        PyObject *exception = PyObject_CallFunction(cls, "iO", (int)err->code, text);
        if (exception) PyErr_SetObject(cls, exception);
        Py_XDECREF(exception);
    } else if (cls && text) {
        PyErr_SetObject(cls, text);
    }
    Py_XDECREF(cls);
    Py_XDECREF(text);
}
