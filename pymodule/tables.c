/* tables.c - Python dicts and sets, and those of compiled code.
 *
 * They come and go as lists do (lists.c). The objects are hash tables with entries in order; quern/library/tables.py, which has the same
 * probing, says how they lie. Hashes are CPython's own, which hashing.py computes, too, but for ints: they are what they are. */
#include "pymodule/objects.h"
#include "codegen/support.h"

enum { FIRST_TABLE = 8, FIRST_ROOM = 5, PERTURB = 5 };

static bool is_dict(const ValueLayout *layout) {
    return layout->element == CLS_dict;
}

/* -- making one --------------------------------------------------------------------------------------- */

static bool make_array(TableArray *out, int64_t n, const ValueLayout *element,
                       const CellLayout *cells, int32_t size) {
    int64_t stride = element ? element->size : size;
    out->owner = cells ? quern_alloc_buffer(n * stride, cells)
                       : quern_alloc_array(n * stride, element == NULL);
    out->data = out->owner ? (char *)out->owner + SUPPORT_ARRAY_HEADER : NULL;
    out->length = n;
    out->stride = stride;
    return out->owner != NULL;
}

/* Room for n entries. NULL with MemoryError. */
static TableObject *make_table(const ValueLayout *layout, PyObject *python, int64_t n) {
    TableObject *t = layout->cells ? (TableObject *)quern_new_object(layout->cells) : NULL;
    int64_t size = FIRST_TABLE, room = FIRST_ROOM;
    if (!t) return PyErr_NoMemory(), NULL;
    for (; room < n; room = size / 2)
        size *= 2;
    memset(&t->length, 0,
           sizeof *t - offsetof(TableObject, length) - (is_dict(layout) ? 0 : sizeof t->values));
    t->header.python = python;
    t->free = room;
    bool ok = make_array(&t->table, size, NULL, NULL, sizeof(int32_t)) &&
              make_array(&t->hashes, room, NULL, NULL, sizeof(int64_t)) &&
              make_array(&t->keys, room, &layout->items[0], layout->buffer_cells[0], 0) &&
              (!is_dict(layout) ||
               make_array(&t->values, room, &layout->items[1], layout->buffer_cells[1], 0));
    if (ok) return t;
    quern_release(&t->header.owner);
    return PyErr_NoMemory(), NULL;
}

static char *key_at(const TableObject *t, int64_t entry) {
    return t->keys.data + entry * t->keys.stride;
}

static char *value_at(const TableObject *t, int64_t entry) {
    return t->values.data + entry * t->values.stride;
}

static bool is_live(const TableObject *t, int64_t entry) {
    return ((const int64_t *)t->hashes.data)[entry] != -1;
}

/* The entry behind the last one, whose key is there, gets its number. */
static void enter(TableObject *t, int64_t hash) {
    int32_t *table = (int32_t *)t->table.data;
    uint64_t mask = (uint64_t)t->table.length - 1, rest = (uint64_t)hash & INT64_MAX,
             i = rest & mask;
    while (table[i]) {
        rest >>= PERTURB;
        i = (i * 5 + rest + 1) & mask;
    }
    table[i] = (int32_t)t->used + 1;
    ((int64_t *)t->hashes.data)[t->used] = hash;
    t->used++;
    t->length++;
    t->free--;
}

/* The items of a tuple or the fields of a frozen dataclass, as a tuple. 1: it is one, 0, -1 as exception. */
static int parts_of(PyObject *key, PyObject **parts) {
    *parts = NULL;
    if (PyUnicode_CheckExact(key)) return 0;
    if (PyTuple_Check(key)) return *parts = Py_NewRef(key), 1;
    PyObject *names;
    int value = py_value_fields((PyObject *)Py_TYPE(key), &names);
    if (value > 0) *parts = py_value_items(key, names);
    Py_XDECREF(names);
    return value > 0 && !*parts ? -1 : value;
}

/* A time, or a member of an enumeration whose members are no ints? 1, 0, -1 as exception; in tuples, too. */
static int stands_for_number(PyObject *key) {
    PyObject *parts;
    int compound = parts_of(key, &parts), found = QN_MIN(compound, 0);
    for (Py_ssize_t i = 0; parts && found == 0 && i < PyTuple_GET_SIZE(parts); i++)
        found = stands_for_number(PyTuple_GET_ITEM(parts, i));
    Py_XDECREF(parts);
    if (found || compound || PyUnicode_CheckExact(key)) return found;
    return py_is_time_scalar(key) ? 1 : py_is_enum_member(key);
}

static PyObject *in_numbers(PyObject *key);

/* Takes over the parts. */
static PyObject *parts_in_numbers(PyObject *parts) {
    PyObject *items = PyTuple_New(PyTuple_GET_SIZE(parts));
    for (Py_ssize_t i = 0; items && i < PyTuple_GET_SIZE(parts); i++) {
        PyObject *item = in_numbers(PyTuple_GET_ITEM(parts, i));
        PyTuple_SET_ITEM(items, i, item);
        if (!item) Py_CLEAR(items);
    }
    Py_DECREF(parts);
    return items;
}

/* With the numbers that compiled code hashes instead. A new reference, or NULL with an exception. */
static PyObject *in_numbers(PyObject *key) {
    PyObject *parts;
    int64_t number;
    int found = stands_for_number(key);
    if (found <= 0) return found < 0 ? NULL : Py_NewRef(key);
    if (py_is_time_scalar(key)) return PyLong_FromLongLong(py_time_number(key));
    int compound = parts_of(key, &parts);
    if (compound) return compound < 0 ? NULL : parts_in_numbers(parts);
    bool known = py_member_number(PyLong_Check(key), key, &number);
    return known ? PyLong_FromLongLong(number) : NULL;
}

/* That of the number itself, whatever class of the user's it is of. -1 with an exception. */
static Py_hash_t hash_of(PyObject *key) {
    if (PyLong_Check(key)) return PyLong_Type.tp_hash(key);
    if (PyFloat_Check(key)) return PyFloat_Type.tp_hash(key);
    if (PyComplex_Check(key)) return PyComplex_Type.tp_hash(key);
    PyObject *hashed = in_numbers(key);
    Py_hash_t hash = hashed ? PyObject_Hash(hashed) : -1;
    Py_XDECREF(hashed);
    return hash;
}

static int enter_item(const Plan *plan, TableObject *t, PyObject *key, PyObject *value,
                      bool loose) {
    if (t->used == t->keys.length) return 0; /* it has grown meanwhile */
    int done = py_unbox_value(&plan->items[0], key, key_at(t, t->used), loose);
    if (done > 0 && value)
        done = py_unbox_value(&plan->items[1], value, value_at(t, t->used), loose);
    if (done <= 0) return done;
    const ValueLayout *layout = plan->object->items;
    int64_t hash;
    if (py_read_int(layout->kind, key_at(t, t->used), &hash))
        hash &= INT64_MAX; /* place_hash() of hashing.py */
    else
        hash = hash_of(key);
    if (hash == -1) return -1;
    enter(t, hash);
    return 1;
}

/* In the order of its links, which is not that of the dict that it is, too. */
static int fill_ordered(const Plan *plan, TableObject *t, PyObject *dict, bool loose) {
    PyObject *items = PyMapping_Items(dict);
    int done = items ? 1 : -1;
    for (Py_ssize_t i = 0; done > 0 && i < PyList_GET_SIZE(items); i++) {
        PyObject *pair = PyList_GET_ITEM(items, i);
        done = enter_item(plan, t, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1), loose);
    }
    Py_XDECREF(items);
    return done;
}

static int fill_dict(const Plan *plan, TableObject *t, PyObject *dict, bool loose) {
    if (plan->object->variant == VARIANT_OrderedDict) return fill_ordered(plan, t, dict, loose);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    int done = 1;
    while (done > 0 && PyDict_Next(dict, &at, &key, &value)) {
        Py_INCREF(key), Py_INCREF(value);
        done = enter_item(plan, t, key, value, loose);
        Py_DECREF(key), Py_DECREF(value);
    }
    return done;
}

static int fill_set(const Plan *plan, TableObject *t, PyObject *set, bool loose) {
    PyObject *iterator = PyObject_GetIter(set), *key;
    int done = iterator ? 1 : -1;
    while (done > 0 && (key = PyIter_Next(iterator))) {
        done = enter_item(plan, t, key, NULL, loose);
        Py_DECREF(key);
    }
    Py_XDECREF(iterator);
    return done > 0 && PyErr_Occurred() ? -1 : done;
}

/* 1, 0, -1 as py_unbox. */
int py_unbox_table(const Plan *plan, PyObject *o, char *out, bool loose) {
    bool dict = is_dict(plan->object);
    PyObject *cls = (PyObject *)(dict ? &PyDict_Type : &PySet_Type);
    if ((PyObject *)Py_TYPE(o) != (plan->object->variant ? plan->type : cls)) return 0;
    TableObject *t = make_table(plan->object, o, dict ? PyDict_GET_SIZE(o) : PySet_GET_SIZE(o));
    if (!t) return -1;
    int done = dict ? fill_dict(plan, t, o, loose) : fill_set(plan, t, o, loose);
    if (done <= 0)
        quern_release(&t->header.owner);
    else
        *(TableObject **)out = t;
    return done;
}

/* -- results ----------------------------------------------------------------------------------------------- */

/* An OrderedDict has links beside the dict that it is. */
static bool set_item(const ValueLayout *layout, PyObject *dict, PyObject *key, PyObject *value) {
    if (layout->variant == VARIANT_OrderedDict) return PyObject_SetItem(dict, key, value) == 0;
    return PyDict_SetItem(dict, key, value) == 0;
}

static PyObject *fill_python(ModState *state, const ValueLayout *layout, const TableObject *t,
                             PyObject *out) {
    bool ok = true;
    for (int64_t e = 0; ok && e < t->used; e++) {
        if (!is_live(t, e)) continue;
        PyObject *key = py_box_kept(state, &layout->items[0], key_at(t, e)), *value = NULL;
        if (is_dict(layout) && key) value = py_box_kept(state, &layout->items[1], value_at(t, e));
        if (is_dict(layout))
            ok = value && set_item(layout, out, key, value);
        else
            ok = key && PySet_Add(out, key) == 0;
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return ok ? out : NULL;
}

void py_forget_entries(const ValueLayout *layout, const TableObject *t) {
    for (int64_t e = 0; e < t->used; e++) {
        if (!is_live(t, e)) continue;
        py_forget_objects(&layout->items[0], key_at(t, e));
        if (is_dict(layout)) py_forget_objects(&layout->items[1], value_at(t, e));
    }
}

PyObject *py_new_table(ModState *state, const ValueLayout *layout, TableObject *t) {
    PyObject *out = layout->variant   ? py_new_variant(state, layout)
                    : is_dict(layout) ? PyDict_New()
                                      : PySet_New(NULL);
    t->header.python = out; /* for the same one further down, and in arguments */
    if (out && fill_python(state, layout, t, out))
        return t->header.python = py_finished_variant(layout, out);
    t->header.python = NULL;
    Py_XDECREF(out);
    return NULL;
}

/* -- after the call ---------------------------------------------------------------------------------------- */

/* The dict as it is now; values that are what they were stay the objects they are. */
static PyObject *dict_now(ModState *state, const Plan *plan, const TableObject *t,
                          PyObject *python) {
    const ValueLayout *layout = plan->object;
    PyObject *now = PyDict_New();
    bool ok = now != NULL;
    for (int64_t e = 0; ok && e < t->used; e++) {
        if (!is_live(t, e)) continue;
        PyObject *key = py_box_kept(state, &layout->items[0], key_at(t, e));
        PyObject *value = key ? Py_XNewRef(PyDict_GetItemWithError(python, key)) : NULL;
        if (value && !py_is_unchanged(state, &plan->items[1], value_at(t, e), value))
            Py_CLEAR(value);
        if (ok && key && !value && !PyErr_Occurred())
            value = py_box_kept(state, &layout->items[1], value_at(t, e));
        ok = ok && value && PyDict_SetItem(now, key, value) == 0;
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    if (!ok) Py_CLEAR(now);
    return now;
}

/* 1: the same keys in the same order; -1 with an exception. */
static int same_keys(PyObject *a, PyObject *b) {
    PyObject *x = PyMapping_Keys(a), *y = PyDict_Keys(b);
    int same = x && y ? PyObject_RichCompareBool(x, y, Py_EQ) : -1;
    Py_XDECREF(x);
    Py_XDECREF(y);
    return same;
}

static bool clear_dict(const ValueLayout *layout, PyObject *dict) {
    if (layout->variant != VARIANT_OrderedDict) return PyDict_Clear(dict), true;
    PyObject *cleared = PyObject_CallMethod(dict, "clear", NULL);
    Py_XDECREF(cleared);
    return cleared != NULL;
}

static bool write_dict(ModState *state, const Plan *plan, const TableObject *t, PyObject *python) {
    PyObject *now = dict_now(state, plan, t, python);
    int same = now ? same_keys(python, now) : -1;
    bool ok = same >= 0 && (same || clear_dict(plan->object, python));
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (ok && PyDict_Next(now, &at, &key, &value))
        ok = set_item(plan->object, python, key, value);
    Py_XDECREF(now);
    return ok;
}

static bool write_set(ModState *state, const Plan *plan, const TableObject *t, PyObject *python) {
    PyObject *now = PySet_New(NULL), *kept = NULL, *all = NULL;
    if (now && fill_python(state, plan->object, t, now)) kept = PyNumber_InPlaceAnd(python, now);
    if (kept) all = PyNumber_InPlaceOr(python, now);
    bool ok = all != NULL;
    Py_XDECREF(now);
    Py_XDECREF(kept);
    Py_XDECREF(all);
    return ok;
}

bool py_write_table(ModState *state, const Plan *plan, TableObject *t) {
    if (plan->object->variant == VARIANT_frozenset) return true; /* it has not changed */
    PyObject *python = Py_NewRef((PyObject *)t->header.python);
    bool ok = is_dict(plan->object) ? write_dict(state, plan, t, python)
                                    : write_set(state, plan, t, python);
    Py_DECREF(python);
    return ok;
}
