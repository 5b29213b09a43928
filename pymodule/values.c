/* values.c - what classes of the user's have for their instances; and frozen dataclasses, whose instances are values to compiled code: their fields, as those of a named tuple.
 *
 * What such a class is says quern/_values.py. */
#include "pymodule/state.h"

static PyObject *ask(const char *function, PyObject *cls, PyObject *values) {
    PyObject *module = PyImport_ImportModule("quern._values");
    PyObject *answer =
        module ? PyObject_CallMethod(module, function, values ? "OO" : "O", cls, values) : NULL;
    Py_XDECREF(module);
    return answer;
}

int py_value_fields(PyObject *cls, PyObject **names) {
    *names = NULL;
    PyObject *params;
    if (PyType_IsSubtype((PyTypeObject *)cls, &PyTuple_Type)) return 0;
    if (py_get_optional(cls, "__dataclass_params__", &params) < 0) return -1;
    if (!params) return 0;
    Py_DECREF(params);
    PyObject *answer = ask("fields_of", cls, NULL);
    if (answer && PyTuple_Check(answer)) return *names = answer, 1;
    Py_XDECREF(answer);
    return answer ? 0 : -1;
}

bool py_is_value_class(PyObject *cls) {
    PyObject *names = NULL;
    bool value = PyType_Check(cls) && py_value_fields(cls, &names) > 0;
    Py_XDECREF(names);
    py_forget_error();
    return value;
}

PyObject *py_value_defaults(PyObject *cls) {
    return ask("defaults_of", cls, NULL);
}

PyObject *py_value_keywords(PyObject *cls) {
    return ask("keywords_of", cls, NULL);
}

Str py_why_no_value(Arena *arena, PyObject *cls) {
    PyObject *answer = ask("refused", cls, NULL);
    Str text = {0};
    if (!answer || !py_str(arena, answer, &text)) py_forget_error();
    Py_XDECREF(answer);
    return text;
}

PyObject *py_value_items(PyObject *value, PyObject *names) {
    Py_ssize_t n = PyTuple_GET_SIZE(names);
    PyObject *items = PyTuple_New(n);
    for (Py_ssize_t i = 0; items && i < n; i++) {
        PyObject *item = PyObject_GetAttr(value, PyTuple_GET_ITEM(names, i));
        if (item)
            PyTuple_SET_ITEM(items, i, item);
        else
            Py_CLEAR(items);
    }
    return items;
}

PyObject *py_make_value(PyObject *cls, PyObject *items) {
    return ask("make", cls, items);
}

/* -- classes by name: for the disk cache ------------------------------------------------------------- */

/* The object under a dotted name in a module that is imported. A new reference, or NULL; no exception stays. */
static PyObject *under_name(PyObject *module_name, PyObject *qualname) {
    PyObject *dot = PyUnicode_FromString("."), *names = NULL, *found = NULL;
    if (dot) names = PyUnicode_Split(qualname, dot, -1);
    if (names) found = PyImport_GetModule(module_name);
    for (Py_ssize_t i = 0; found && i < PyList_GET_SIZE(names); i++)
        Py_SETREF(found, PyObject_GetAttr(found, PyList_GET_ITEM(names, i)));
    Py_XDECREF(names);
    Py_XDECREF(dot);
    py_forget_error();
    return found;
}

/* Paths are taken apart at dots: names in them have commas instead. */
static Str without_dots(Arena *arena, PyObject *name) {
    Str text;
    if (!py_str(arena, name, &text) || memchr(text.bytes, ',', (size_t)text.len) ||
        memchr(text.bytes, ':', (size_t)text.len) || memchr(text.bytes, '/', (size_t)text.len) ||
        memchr(text.bytes, '[', (size_t)text.len))
        return py_forget_error(), (Str){0};
    char *bytes = arena_copy(arena, text.bytes, (size_t)text.len + 1);
    for (int32_t i = 0; i < text.len; i++)
        if (bytes[i] == '.') bytes[i] = ',';
    return (Str){bytes, text.len};
}

Str py_class_path(PyResolver *r, PyObject *cls) {
    PyObject *module = NULL, *qualname = NULL, *found = NULL;
    Str path = {0};
    if (py_get_optional(cls, "__module__", &module) > 0 && PyUnicode_Check(module) &&
        py_get_optional(cls, "__qualname__", &qualname) > 0 && PyUnicode_Check(qualname))
        found = under_name(module, qualname);
    py_forget_error();
    if (found == cls) {
        Str home = without_dots(r->arena, module), name = without_dots(r->arena, qualname);
        if (home.len && name.len)
            path = str_printf(r->arena, "c:" STR_FMT ":" STR_FMT, STR_ARG(home), STR_ARG(name));
    }
    Py_XDECREF(found);
    Py_XDECREF(module);
    Py_XDECREF(qualname);
    return path;
}

static PyObject *with_dots(Arena *arena, const char *from, const char *end) {
    char *bytes = arena_copy(arena, from, (size_t)(end - from) + 1);
    for (char *at = bytes; at < bytes + (end - from); at++)
        if (*at == ',') *at = '.';
    return PyUnicode_FromStringAndSize(bytes, end - from);
}

const Binding *py_class_at(PyResolver *r, Str path) {
    const char *from = path.bytes + 2, *end = path.bytes + path.len,
               *colon = path.len > 2 ? memchr(from, ':', (size_t)(end - from)) : NULL;
    PyObject *module = colon ? with_dots(r->arena, from, colon) : NULL;
    PyObject *name = module ? with_dots(r->arena, colon + 1, end) : NULL;
    PyObject *cls = name ? under_name(module, name) : NULL;
    const Binding *b = cls && PyType_Check(cls) ? py_enumeration(r, (PyTypeObject *)cls) : NULL;
    Py_XDECREF(cls); /* the resolver holds it */
    Py_XDECREF(name);
    Py_XDECREF(module);
    return b;
}

/* What inference knows of an attribute of exceptions by. */
static PyObject *ask_exceptions(PyObject *cls, PyObject *name) {
    PyObject *module = PyImport_ImportModule("quern._exceptions");
    PyObject *answer = module ? PyObject_CallMethod(module, "attribute_of", "OO", cls, name) : NULL;
    Py_XDECREF(module);
    if (answer == Py_None) Py_CLEAR(answer);
    return answer;
}

PyObject *py_member_of(ModState *state, PyObject *cls, PyObject *name, bool setter,
                       MemberKind *kind) {
    *kind = MEMBER_OTHER;
    if (PyExceptionClass_Check(cls)) return ask_exceptions(cls, name);
    if (PyUnicode_CompareWithASCIIString(name, "_not_replaced") == 0)
        return ask("not_replaced", cls, NULL);
    PyObject *found = Py_XNewRef(_PyType_Lookup((PyTypeObject *)cls, name)), *out = NULL;
    bool instance = PyType_IsSubtype((PyTypeObject *)cls, state->shared_type);
    bool compiled = state->instance_class &&
                    PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)state->instance_class);
    *kind = MEMBER_METHOD;
    if (PyUnicode_CompareWithASCIIString(name, "__name__") == 0) {
        *kind = MEMBER_OTHER;
        return Py_XDECREF(found), PyType_GetName((PyTypeObject *)cls);
    }
    if (instance && !compiled) Py_CLEAR(found); /* the members of a structref are Python's */
    if (found && PyObject_TypeCheck(found, &PyProperty_Type)) {
        *kind = MEMBER_PROPERTY;
        out = PyObject_GetAttrString(found, setter ? "fset" : "fget");
        if (out == Py_None) Py_CLEAR(out);
    } else if (found && !setter &&
               (PyFunction_Check(found) || Py_TYPE(found) == state->dispatcher_type)) {
        out = Py_NewRef(found);
    } else if (found && !setter &&
               (instance
                    ? Py_TYPE(found) != state->field_type
                    : !Py_TYPE(found)->tp_descr_get || Py_IS_TYPE(found, &PyClassMethod_Type))) {
        *kind = MEMBER_OTHER;
        out = PyObject_GetAttr(cls, name);
    }
    Py_XDECREF(found);
    return out;
}
