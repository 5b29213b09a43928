/* enums.c - members of enumerations and their numbers.
 *
 * A member that is an int (of an IntEnum) is that int in compiled code. Any other is its position in _member_map_, which
 * never changes; aliases of a member have positions of their own, which nothing refers to. */
#include "pymodule/dispatch.h"

/* A new reference, or NULL without an exception where the class has none. */
static PyObject *member_map(PyTypeObject *cls) {
    PyObject *members;
    if (py_get_optional((PyObject *)cls, "_member_map_", &members) < 0) return NULL;
    if (members && !PyDict_Check(members)) Py_CLEAR(members);
    return members;
}

int py_is_enum_member(PyObject *object) {
    PyObject *members = member_map(Py_TYPE(object)), *name = NULL;
    int status = members ? py_get_optional(object, "_name_", &name) : 0;
    if (status > 0 && name != Py_None) status = PyDict_GetItemWithError(members, name) == object;
    if (PyErr_Occurred()) status = -1;
    Py_XDECREF(name);
    Py_XDECREF(members);
    return status;
}

static bool fits(PyObject *number) {
    int overflow;
    PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow;
}

/* Have all members numbers? Only then are the members of a class of ints more than ints. */
static bool all_fit(PyTypeObject *cls) {
    PyObject *members = member_map(cls), *key, *member;
    bool ok = members != NULL;
    for (Py_ssize_t at = 0; ok && PyDict_Next(members, &at, &key, &member);)
        ok = PyLong_Check(member) && fits(member);
    Py_XDECREF(members);
    return ok;
}

bool py_is_int_member(PyObject *object) {
    if (!PyLong_Check(object) || PyLong_CheckExact(object) || PyBool_Check(object)) return false;
    int member = py_is_enum_member(object);
    if (member < 0) PyErr_Clear();
    bool is = member > 0 && all_fit(Py_TYPE(object));
    if (PyErr_Occurred()) PyErr_Clear();
    return is;
}

bool py_key_is_int_member(ModState *state, TypeKey key) {
    const Compound *c = key_is_compound(key) ? py_compound(state, key) : NULL;
    return c && c->nitems == KEY_MEMBERS && !c->dead &&
           PyType_IsSubtype((PyTypeObject *)c->cls, &PyLong_Type);
}

bool py_member_number(bool ints, PyObject *member, int64_t *number) {
    if (ints) {
        *number = PyLong_AsLongLong(member);
        return *number != -1 || !PyErr_Occurred();
    }
    PyObject *members = member_map(Py_TYPE(member)), *key, *value;
    *number = 0;
    for (Py_ssize_t at = 0; members && PyDict_Next(members, &at, &key, &value); ++*number)
        if (value == member) {
            Py_DECREF(members);
            return true;
        }
    Py_XDECREF(members);
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%R is no member of its class", member);
    return false;
}

PyObject *py_member_of_number(PyTypeObject *cls, int64_t number) {
    bool ints = PyType_IsSubtype(cls, &PyLong_Type);
    PyObject *members = member_map(cls), *key, *value, *found = NULL;
    int64_t k = 0;
    for (Py_ssize_t at = 0; members && !found && PyDict_Next(members, &at, &key, &value); k++)
        if (ints ? PyLong_AsLongLong(value) == number : k == number) found = Py_NewRef(value);
    Py_XDECREF(members);
    if (!found && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "%s has no member %lld", cls->tp_name, (long long)number);
    return found;
}

/* The attribute `value` of each is the int that the member is. */
static bool is_plain(PyObject *member) {
    PyObject *value;
    if (py_get_optional(member, "_value_", &value) <= 0) return PyErr_Clear(), false;
    bool plain = PyLong_CheckExact(value) && PyObject_RichCompareBool(value, member, Py_EQ) == 1;
    Py_DECREF(value);
    return plain;
}

static bool read_members(Arena *arena, PyObject *members, EnumClass *out) {
    Py_ssize_t n = PyDict_GET_SIZE(members), at = 0;
    Str *names = arena_array(arena, Str, n);
    int64_t *numbers = arena_array(arena, int64_t, n);
    PyObject *key, *member;
    out->plain = out->ints;
    for (int32_t k = 0; PyDict_Next(members, &at, &key, &member) && k < n; k++) {
        if (!py_str(arena, key, &names[k])) return false;
        numbers[k] = k;
        if (out->ints && !py_member_number(true, member, &numbers[k])) return false;
        out->plain = out->plain && is_plain(member);
    }
    out->n = (int32_t)n;
    out->names = names;
    out->numbers = numbers;
    return true;
}

/* What list(cls) gives: no aliases, and of flags those of one bit. */
static bool read_order(Arena *arena, PyTypeObject *cls, PyObject *members, EnumClass *out) {
    PyObject *order =
        PySequence_Fast((PyObject *)cls, "an enumeration that cannot be iterated over");
    if (!order) return PyErr_ExceptionMatches(PyExc_TypeError) && (PyErr_Clear(), true);
    Py_ssize_t n = PySequence_Fast_GET_SIZE(order);
    int32_t *found = arena_array(arena, int32_t, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *key, *member, *wanted = PySequence_Fast_GET_ITEM(order, i);
        Py_ssize_t at = 0;
        for (int32_t k = 0; PyDict_Next(members, &at, &key, &member); k++) {
            if (member != wanted) continue;
            found[out->norder++] = k;
            break;
        }
    }
    out->order = found;
    Py_DECREF(order);
    return true;
}

/* Is what a call of the class gives decided by the values of its members alone? */
static bool read_call(Arena *arena, PyTypeObject *cls, EnumClass *out) {
    PyObject *module = PyImport_ImportModule("enum"), *own = NULL, *usual = NULL, *name = NULL;
    PyObject *base = module ? PyObject_GetAttrString(module, "Enum") : NULL;
    if (base) own = PyObject_GetAttrString((PyObject *)cls, "_missing_");
    if (own) usual = PyObject_GetAttrString(base, "_missing_");
    if (usual) name = PyObject_GetAttrString((PyObject *)cls, "__qualname__");
    PyObject *call = name ? PyObject_GetAttrString((PyObject *)Py_TYPE(cls), "__call__") : NULL;
    PyObject *plain = call ? PyObject_GetAttrString((PyObject *)Py_TYPE(base), "__call__") : NULL;
    out->by_value = plain == call && plain && PyMethod_Check(own) && PyMethod_Check(usual) &&
                    PyMethod_GET_FUNCTION(own) == PyMethod_GET_FUNCTION(usual);
    bool ok = plain && py_str(arena, name, &out->qualified);
    Py_XDECREF(plain);
    Py_XDECREF(call);
    Py_XDECREF(name);
    Py_XDECREF(usual);
    Py_XDECREF(own);
    Py_XDECREF(base);
    Py_XDECREF(module);
    return ok;
}

const EnumClass *py_enum_class(Arena *arena, PyTypeObject *cls) {
    EnumClass *out = arena_new(arena, EnumClass);
    PyObject *members = member_map(cls);
    if (!members) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "not an enumeration");
        return NULL;
    }
    out->ints = PyType_IsSubtype(cls, &PyLong_Type) && all_fit(cls);
    bool ok = read_members(arena, members, out) && read_order(arena, cls, members, out) &&
              read_call(arena, cls, out);
    Py_DECREF(members);
    out->nbases = (int32_t)PyTuple_GET_SIZE(cls->tp_mro);
    out->bases = arena_array(arena, Handle, out->nbases);
    for (int32_t i = 0; i < out->nbases; i++)
        out->bases[i] = PyTuple_GET_ITEM(cls->tp_mro, i);
    return ok ? out : NULL;
}
