/* random.c - objects of numpy.random.Generator as arguments.
 *
 * Compiled code gets the address of NumPy's struct bitgen_t (type_random) and calls its functions, so that the state of the caller's
 * object goes on. A call holds the locks of its generators, as NumPy's methods do, while it runs. */
#include "codegen/support.h"
#include "pymodule/dispatch.h"

enum { BITGEN_WORDS = 5 };

static bool is_named(PyTypeObject *type) {
    return !strcmp(type->tp_name, "numpy.random._generator.Generator");
}

bool py_is_random(ModState *state, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == state->random_type) return true;
    if (state->random_type || !is_named(type)) return false;
    state->random_type = (PyTypeObject *)Py_NewRef((PyObject *)type);
    return true;
}

bool py_is_random_subclass(PyObject *object) {
    for (PyTypeObject *type = Py_TYPE(object); type; type = type->tp_base)
        if (is_named(type)) return true;
    return false;
}

PyObject *py_random_class(ModState *state) {
    if (state->random_type) return (PyObject *)state->random_type;
    PyObject *module = PyImport_ImportModule("numpy.random");
    PyObject *type = module ? PyObject_GetAttrString(module, "Generator") : NULL;
    Py_XDECREF(module);
    state->random_type = (PyTypeObject *)type;
    return type;
}

/* An attribute of an object of an extension class; NULL without an exception where reading it could run Python code. */
static PyObject *plain_attribute(PyObject *object, const char *name) {
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *found = key ? _PyType_Lookup(Py_TYPE(object), key) : NULL, *out = NULL;
    bool plain =
        found && (Py_TYPE(found) == &PyGetSetDescr_Type || Py_TYPE(found) == &PyMemberDescr_Type);
    if (plain) out = PyObject_GetAttr(object, key);
    Py_XDECREF(key);
    return out;
}

static void *bitgen_of(PyObject *random) {
    PyObject *bits = plain_attribute(random, "bit_generator");
    PyObject *capsule = bits ? plain_attribute(bits, "capsule") : NULL;
    bool usable = capsule && PyCapsule_IsValid(capsule, "BitGenerator");
    void *bitgen = usable ? PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(bits);
    return bitgen;
}

bool py_has_bits(PyObject *random) {
    return bitgen_of(random) != NULL;
}

int py_unbox_random(const Plan *plan, PyObject *o, char *out, char *frame) {
    if (!py_is_random(plan->state, o)) return 0;
    void *bitgen = bitgen_of(o);
    if (!bitgen) return PyErr_Occurred() ? -1 : 0;
    Owner *owner =
        plan->op == UB_KEPT_RANDOM ? py_own(plan->state, o) : (Owner *)(frame + plan->owner);
    if (!owner) return -1;
    if (plan->op == UB_RANDOM) {
        atomic_init(&owner->refs, OWNER_BORROWED);
        owner->destroy = NULL;
        owner->object = o;
    }
    ArrayValue *value = (ArrayValue *)out;
    value->data = bitgen;
    value->owner = owner;
    value->dims[0] = BITGEN_WORDS;
    value->dims[1] = sizeof(uint64_t);
    return 1;
}

PyObject *py_box_random(const char *value) {
    Owner *owner = ((const ArrayValue *)value)->owner;
    PyObject *object = Py_NewRef((PyObject *)owner->object);
    if (py_is_owned(owner)) quern_release(owner);
    return object;
}

/* -- locks ----------------------------------------------------------------------------------------- */

/* The locks of the generators in an argument. Only locks that their own thread may take again: what else compiled code calls
 * (objmode, print) may draw, too. NumPy before 2.4 has others, and there it is the GIL that keeps draws apart. */
static bool find_locks(const Plan *plan, PyObject *o, PyObject *found) {
    if (py_has_items(plan)) {
        if ((PyObject *)Py_TYPE(o) != plan->type)
            return true; /* does not fit: unboxing finds out */
        PyObject *items = plan->op == UB_TUPLE ? Py_NewRef(o) : py_value_items(o, plan->names);
        bool ok = items != NULL;
        for (int32_t i = 0; ok && i < plan->nitems && i < PyTuple_GET_SIZE(items); i++)
            ok = find_locks(&plan->items[i], PyTuple_GET_ITEM(items, i), found);
        Py_XDECREF(items);
        return ok;
    }
    if ((plan->op != UB_RANDOM && plan->op != UB_KEPT_RANDOM) || !py_is_random(plan->state, o))
        return true;
    PyObject *bits = plain_attribute(o, "bit_generator");
    PyObject *lock = bits ? plain_attribute(bits, "lock") : NULL;
    bool again = lock && !strcmp(Py_TYPE(lock)->tp_name, "_thread.RLock");
    bool ok = again ? PyList_Append(found, lock) == 0 : !PyErr_Occurred();
    Py_XDECREF(lock);
    Py_XDECREF(bits);
    return ok;
}

/* All threads take several locks in one order: by address. */
static void sort_locks(PyObject **locks, Py_ssize_t n) {
    for (Py_ssize_t i = 1; i < n; i++)
        for (Py_ssize_t k = i; k > 0 && (uintptr_t)locks[k] < (uintptr_t)locks[k - 1]; k--) {
            PyObject *first = locks[k];
            locks[k] = locks[k - 1];
            locks[k - 1] = first;
        }
}

static bool call_lock(PyObject *lock, const char *method) {
    PyObject *done = PyObject_CallMethod(lock, method, NULL);
    Py_XDECREF(done);
    return done != NULL;
}

static void release(PyObject *locks, Py_ssize_t n) {
    PyObject *raised = PyErr_GetRaisedException();
    while (n-- > 0)
        if (!call_lock(PyList_GET_ITEM(locks, n), "release"))
            PyErr_WriteUnraisable(PyList_GET_ITEM(locks, n));
    PyErr_SetRaisedException(raised);
}

PyObject *py_lock_random(const Spec *spec, PyObject *const *args) {
    PyObject *found = PyList_New(0);
    for (int32_t i = 0; found && i < spec->nargs; i++)
        if (!find_locks(&spec->plans[i], args[i], found)) Py_CLEAR(found);
    if (!found) return NULL;
    Py_ssize_t n = PyList_GET_SIZE(found);
    sort_locks(((PyListObject *)found)->ob_item, n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!call_lock(PyList_GET_ITEM(found, i), "acquire")) {
            release(found, i);
            Py_CLEAR(found);
            break;
        }
    return found;
}

void py_unlock_random(PyObject *locks) {
    release(locks, PyList_GET_SIZE(locks));
    Py_DECREF(locks);
}
