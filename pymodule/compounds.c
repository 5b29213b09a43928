/* compounds.c - keys of types that have parts or stand for an object: a table of them, whose numbers they are. What names an object
 * that dies goes with it. */
#include "pymodule/dispatch.h"
#include "pymodule/ufunc.h"

static void compound_free(Compound *c) {
    if (!c) return;
    PyObject *weak = c->weak, *cls = weak ? NULL : c->cls;
    py_walkable_free(atomic_load(&c->walkable));
    PyMem_Free(c);
    Py_XDECREF(weak);
    Py_XDECREF(cls);
}

static bool holds_dead(const CompoundTable *table, const Compound *c) {
    for (int32_t i = 0; i < c->nitems; i++) {
        const Compound *item =
            key_is_compound(c->items[i]) ? table->items[c->items[i] & ~KEY_COMPOUND] : NULL;
        if (item && item->dead) return true;
    }
    return false;
}

/* Marks the compound of a dead object and all tuples it stands in, and enters their numbers into `found`, which has room for
 * all. With the lock held. They are not free yet: specialisations name them. */
static int32_t find_dead(CompoundTable *table, PyObject *weak, int32_t *found) {
    int32_t n = 0;
    for (int32_t at = 0; at < table->n && n == 0; at++)
        if (table->items[at] && table->items[at]->weak == weak && !table->items[at]->dead)
            found[n++] = at;
    for (int32_t k = 0; k < n; k++) {
        table->items[found[k]]->dead = true;
        for (int32_t at = 0; k == n - 1 && at < table->n; at++) {
            const Compound *c = table->items[at];
            if (c && !c->dead && holds_dead(table, c)) found[n++] = at, at = table->n;
        }
    }
    return n;
}

static void drop_compound(ModState *state, int32_t at) {
    py_cores_drop_key(state, KEY_COMPOUND | (TypeKey)at);
    QN_LOCK(&state->lock);
    CompoundTable *table = atomic_load(&state->compounds);
    Compound *dead = table->items[at];
    table->items[at] = NULL;
    QN_UNLOCK(&state->lock);
    compound_free(dead);
}

/* Called with the weak reference when an object that keys name dies. */
static PyObject *object_died(PyObject *capsule, PyObject *weak) {
    ModState *state = PyCapsule_GetPointer(capsule, "quern.state");
    if (!state) return NULL;
    CompoundTable *table = atomic_load(&state->compounds);
    int32_t *found = table ? PyMem_Malloc(sizeof *found * ((size_t)table->room + 1)) : NULL, n = 0;
    if (table && !found) return PyErr_NoMemory();
    int32_t room = table ? table->room : 0;
    QN_LOCK(&state->lock);
    table = atomic_load(&state->compounds);
    if (table && table->room == room) n = find_dead(table, weak, found);
    QN_UNLOCK(&state->lock);
    for (int32_t k = n; k-- > 0;) /* tuples before what stands in them */
        drop_compound(state, found[k]);
    PyMem_Free(found);
    Py_RETURN_NONE;
}

static PyMethodDef object_died_def = {"object_died", object_died, METH_O, NULL};

int py_compounds_init(ModState *state) {
    PyObject *capsule = PyCapsule_New(state, "quern.state", NULL);
    state->object_died = capsule ? PyCFunction_New(&object_died_def, capsule) : NULL;
    Py_XDECREF(capsule);
    return state->object_died ? 0 : -1;
}

static int32_t find_compound(ModState *state, PyObject *cls, const TypeKey *items, int32_t n) {
    size_t size = n > 0 ? sizeof(TypeKey) * (size_t)n : 0;
    const CompoundTable *table = atomic_load(&state->compounds);
    for (int32_t i = 0; table && i < table->n; i++) {
        const Compound *c = table->items[i];
        if (c && !c->dead && c->nitems == n && c->cls == cls &&
            (size == 0 || !memcmp(c->items, items, size)))
            return i;
    }
    return -1;
}

/* Enters it under a free key. -1 without memory. */
static int32_t enter_compound(ModState *state, Compound *made) {
    CompoundTable *table = atomic_load(&state->compounds);
    int32_t at = 0, n = table ? table->n : 0;
    while (at < n && table->items[at])
        at++;
    if (!table || at == table->room) {
        int32_t room = QN_MAX(16, at * 2);
        CompoundTable *grown = PyMem_Malloc(sizeof *grown + sizeof made * (size_t)room);
        if (!grown) return -1;
        *grown = (CompoundTable){table, n, room};
        if (n) memcpy(grown->items, table->items, sizeof made * (size_t)n);
        table = grown;
    }
    table->items[at] = made;
    table->n = QN_MAX(n, at + 1);
    atomic_store_explicit(&state->compounds, table, memory_order_release);
    return at;
}

/* What dies with the object, and can be watched: NumPy's ufuncs have no weak references, the data of ours does. */
static PyObject *watched(ModState *state, PyObject *object) {
    return Py_TYPE(object) == state->ufunc_type ? py_data_of_ufunc(object) : object;
}

static Compound *compound_new(ModState *state, PyObject *cls, const TypeKey *items, int32_t n) {
    size_t size = n > 0 ? sizeof(TypeKey) * (size_t)n : 0;
    Compound *made = PyMem_Calloc(1, sizeof *made + size);
    if (!made) return (Compound *)PyErr_NoMemory();
    made->nitems = n;
    if (size) memcpy(made->items, items, size);
    if (cls && !(made->weak = PyWeakref_NewRef(watched(state, cls), state->object_died))) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return PyMem_Free(made), NULL;
        PyErr_Clear();
    }
    made->cls = made->weak ? cls : Py_XNewRef(cls);
    return made;
}

TypeKey py_compound_key(ModState *state, PyObject *cls, const TypeKey *items, int32_t n) {
    QN_LOCK(&state->lock);
    int32_t at = find_compound(state, cls, items, n);
    QN_UNLOCK(&state->lock);
    if (at >= 0) return KEY_COMPOUND | (TypeKey)at;
    Compound *made = compound_new(state, cls, items, n); /* may run code of others */
    if (!made) return 0;
    QN_LOCK(&state->lock);
    at = find_compound(state, cls, items, n);
    bool fresh = at < 0;
    if (fresh) at = enter_compound(state, made);
    QN_UNLOCK(&state->lock);
    if (!fresh || at < 0) compound_free(made);
    if (at < 0) return PyErr_NoMemory(), 0;
    return KEY_COMPOUND | (TypeKey)at;
}

/* What a key names: a new reference, or NULL (no exception) when it has died. */
static PyObject *named_by(const Compound *c) {
    if (c->dead) return NULL;
    if (!c->weak) return Py_NewRef(c->cls);
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *alive = NULL;
    if (PyWeakref_GetRef(c->weak, &alive) <= 0) return NULL;
#else
    PyObject *alive = PyWeakref_GET_OBJECT(c->weak);
    if (alive == Py_None) return NULL;
    Py_INCREF(alive);
#endif
    PyObject *object = Py_NewRef(c->cls);
    Py_DECREF(alive);
    return object;
}

PyObject *py_key_function(ModState *state, TypeKey key) {
    const Compound *c = py_compound(state, key);
    return c && c->nitems == KEY_OBJECT ? named_by(c) : NULL;
}

TypeKey py_instance_key(ModState *state, PyObject *cls) {
    return py_compound_key(state, cls, NULL, KEY_INSTANCE);
}

PyObject *py_instance_class(ModState *state, int32_t number) {
    const CompoundTable *table = atomic_load(&state->compounds);
    const Compound *c = table && number < table->n ? table->items[number] : NULL;
    return c && c->nitems == KEY_INSTANCE ? named_by(c) : NULL;
}

void py_compounds_clear(ModState *state) {
    Py_CLEAR(state->object_died);
    CompoundTable *table = atomic_exchange(&state->compounds, NULL);
    for (int32_t i = 0; table && i < table->n; i++)
        compound_free(table->items[i]);
    while (table) {
        CompoundTable *older = table->older;
        PyMem_Free(table);
        table = older;
    }
}
