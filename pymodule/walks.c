/* walks.c - iterators over typed.Dict and typed.Set, and over what others make of typed containers.
 *
 * Numbers, text and tuples of these are read where they lie, entry by entry: nothing is copied, and no compiled code is called. The
 * iterator asks for the table each time, since what changes the container may have made another one. */
#include "pymodule/dispatch.h"
#include "pymodule/objects.h"
#include "pymodule/shared.h"

/* What is known of all dicts, or sets, of one type. */
struct Walkable {
    Arena arena;
    ValueLayout items[2]; /* of keys and values */
    int32_t nitems;       /* a set has keys alone */
    bool in_place;
};

void py_walkable_free(Walkable *w) {
    if (!w) return;
    arena_free(&w->arena);
    PyMem_Free(w);
}

/* Numbers, text and tuples of them: no class stands in the layout, which might die before it does. */
static bool is_in_place(const ValueLayout *layout) {
    if (layout->kind < TY_SCALARS) return true;
    if (layout->kind == TY_CLASS)
        return !layout->shared && (layout->element == CLS_str || layout->element == CLS_bytes);
    bool plain = layout->kind == TY_TUPLE && !layout->cls && !layout->fields && !layout->element;
    for (int32_t i = 0; plain && i < layout->nitems; i++)
        plain = is_in_place(&layout->items[i]);
    return plain;
}

/* NULL: exception. */
static Walkable *walkable_new(ModState *state, TypeKey key) {
    Walkable *w = PyMem_Calloc(1, sizeof *w);
    if (!w) return (Walkable *)PyErr_NoMemory();
    arena_init(&w->arena, &qn_default_allocator);
    TypeTable *types = type_table_new(&w->arena);
    const Type *type = py_key_type(state, NULL, types, &w->arena, key, true);
    if (!type) return py_walkable_free(w), NULL;
    w->in_place = type->kind == TY_CLASS && (type->bits == CLS_dict || type->bits == CLS_set);
    w->nitems = type->nparams;
    for (int32_t i = 0; w->in_place && i < type->nparams; i++) {
        w->items[i] = cg_layout(&w->arena, types, type->params[i]);
        w->in_place = is_in_place(&w->items[i]);
    }
    return w;
}

static const Walkable *walkable_of(const SharedObject *s) {
    Compound *compound = (Compound *)py_compound(s->state, s->key);
    Walkable *w = atomic_load_explicit(&compound->walkable, memory_order_acquire), *other = NULL;
    if (QN_LIKELY(w)) return w;
    if (!(w = walkable_new(s->state, s->key))) return NULL;
    if (atomic_compare_exchange_strong(&compound->walkable, &other, w)) return w;
    py_walkable_free(w);
    return other;
}

/* -- the iterator -------------------------------------------------------------------------------------- */

typedef enum WalkOver { OVER_KEYS, OVER_VALUES, OVER_ITEMS } WalkOver;

/* RuntimeError when something has come or gone since it began. */
typedef struct Walk {
    PyObject_HEAD SharedObject *container; /* NULL: it has ended */
    const TableObject *table;
    const TableArray *ints; /* of the table: what is gone over are int64; NULL: something else */
    PyObject *const *small; /* Python's small ints */
    int64_t size, at;       /* at: the next entry */
    const Walkable *walkable;
    PyObject *items; /* an iterator, where entries are not read in place; or NULL */
    WalkOver over;
} Walk;

static const TableArray *array_over(const TableObject *table, WalkOver over) {
    return over == OVER_KEYS ? &table->keys : &table->values;
}

/* `copied`: what gives the items where they cannot be read in place; NULL: what the class has for its keys. */
static PyObject *new_walk(PyObject *self, WalkOver over, PyObject *copied) {
    SharedObject *container = (SharedObject *)self;
    const Walkable *w = NULL;
    PyObject *iterator = NULL;
    if (container->object && !(w = walkable_of(container))) return NULL;
    if (w && w->in_place && over != OVER_KEYS && w->nitems < 2)
        return PyErr_SetString(PyExc_TypeError, "a set has no values"), NULL;
    if (w && !w->in_place) {
        PyObject *items = copied ? PyObject_CallOneArg(copied, self)
                                 : PyObject_CallMethod(self, "_copied_keys", "O", self);
        iterator = items ? PyObject_GetIter(items) : NULL;
        Py_XDECREF(items);
        if (!iterator) return NULL;
    }
    Walk *walk = PyObject_GC_New(Walk, container->state->walk_type);
    if (!walk) return Py_XDECREF(iterator), NULL;
    walk->container = w ? (SharedObject *)Py_NewRef(container) : NULL;
    walk->walkable = w;
    walk->items = iterator;
    walk->over = over;
    walk->table = (const TableObject *)container->object;
    bool ints = w && w->in_place && over != OVER_ITEMS && w->items[over].kind == TY_i64;
    walk->ints = ints ? array_over(walk->table, over) : NULL;
    walk->small = container->state->small_ints;
    walk->size = py_size_of(container);
    walk->at = 0;
    PyObject_GC_Track(walk);
    return (PyObject *)walk;
}

PyObject *py_walk(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    long over = nargs == 2 && PyLong_Check(args[0]) ? PyLong_AsLong(args[0]) : -1;
    if (over < OVER_KEYS || over > OVER_ITEMS)
        return PyErr_SetString(PyExc_TypeError, "what to go over is expected, and a function"),
               NULL;
    return new_walk(self, (WalkOver)over, args[1]);
}

PyObject *py_walk_keys(PyObject *self, PyObject *unused) {
    (void)unused;
    return new_walk(self, OVER_KEYS, NULL);
}

static int walk_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Walk *)self)->container);
    Py_VISIT(((Walk *)self)->items);
    return 0;
}

static int walk_clear(PyObject *self) {
    ((Walk *)self)->ints = NULL;
    Py_CLEAR(((Walk *)self)->items);
    Py_CLEAR(((Walk *)self)->container);
    return 0;
}

static void walk_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    walk_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* CPython's "dict changed size during iteration", with the name of the class. */
static PyObject *changed_size(const SharedObject *container) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(container), "__name__");
    PyObject *lower = name ? PyObject_CallMethod(name, "lower", NULL) : NULL;
    if (lower) PyErr_Format(PyExc_RuntimeError, "%U changed size during iteration", lower);
    Py_XDECREF(name);
    Py_XDECREF(lower);
    return NULL;
}

__attribute__((always_inline)) static inline PyObject *
box_at(ModState *state, const ValueLayout *layout, const TableArray *array, int64_t at) {
    const char *value = array->data + at * array->stride;
    if (layout->kind == TY_i64) return PyLong_FromLongLong(*(const int64_t *)value);
    if (layout->kind == TY_f64) return PyFloat_FromDouble(*(const double *)value);
    return py_box_kept(state, layout, value);
}

static PyObject *box_pair(const Walk *walk, const TableObject *table, int64_t at) {
    ModState *state = walk->container->state;
    PyObject *pair = PyTuple_New(2);
    for (int k = 0; pair && k < 2; k++) {
        const TableArray *array = k ? &table->values : &table->keys;
        PyObject *item = box_at(state, &walk->walkable->items[k], array, at);
        if (item)
            PyTuple_SET_ITEM(pair, k, item);
        else
            Py_CLEAR(pair);
    }
    return pair;
}

static PyObject *size_changed(Walk *walk) {
    walk->size = -1; /* for ever */
    return changed_size(walk->container);
}

/* Apart: walk_next() saves no registers for it. */
__attribute__((noinline)) static PyObject *next_of_any(Walk *walk) {
    if (!walk->container) return NULL;
    const TableObject *table = walk->table;
    int64_t at = walk->at, used = table->used;
    if (QN_UNLIKELY(table->length != walk->size)) return size_changed(walk);
    if (QN_UNLIKELY(walk->items != NULL)) return Py_TYPE(walk->items)->tp_iternext(walk->items);
    if (QN_UNLIKELY(used != walk->size)) { /* some are gone */
        const int64_t *hashes = (const int64_t *)(const void *)table->hashes.data;
        while (at < used && hashes[at] == -1)
            at++;
    }
    if (QN_UNLIKELY(at >= used)) return walk_clear((PyObject *)walk), NULL;
    walk->at = at + 1;
    if (walk->over == OVER_ITEMS) return box_pair(walk, table, at);
    return box_at(walk->container->state, &walk->walkable->items[walk->over],
                  array_over(table, walk->over), at);
}

static PyObject *walk_next(PyObject *self) {
    Walk *walk = (Walk *)self;
    const TableArray *ints = walk->ints;
    int64_t at = walk->at, size = walk->size;
    if (!ints || at >= size || walk->table->length != size || walk->table->used != size)
        return next_of_any(walk);
    walk->at = at + 1;
    int64_t value = *(const int64_t *)(const void *)(ints->data + at * ints->stride);
    if ((uint64_t)value < SMALL_INTS) return Py_NewRef(walk->small[value]);
    return PyLong_FromLongLong(value);
}

static PyType_Slot walk_slots[] = {
    {Py_tp_doc, "An iterator over a typed.Dict or a typed.Set."},
    {Py_tp_dealloc, walk_dealloc},
    {Py_tp_traverse, walk_traverse},
    {Py_tp_clear, walk_clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, walk_next},
    {0, NULL},
};

PyType_Spec py_walk_spec = {
    .name = "quern._quern.Walk",
    .basicsize = sizeof(Walk),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = walk_slots,
};
