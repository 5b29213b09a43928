/* lists.c - Python lists and those of compiled code; with dicts and sets (tables.c) what is done with all objects of a call.
 *
 * An argument is copied into an object for the time of the call, and where the code may have changed lists of its type,
 * what it holds then is written back into the Python list: elements that are what they were stay the Python objects they
 * are. The object knows its Python list, so that a list that comes back is the list that went in. A result is a new Python
 * list; within one result a list that is in two places is one list. */
#include "pymodule/objects.h"
#include "codegen/support.h"
#include "pymodule/shared.h"

static ListObject *list_at(const char *value) {
    return *(ListObject *const *)value;
}

static void drop(void *object) {
    quern_release(object);
}

static bool is_object_plan(const Plan *plan) {
    return plan->op == UB_LIST || plan->op == UB_TABLE || plan->op == UB_DEQUE ||
           plan->op == UB_BYTEARRAY;
}

/* Of what it holds, the values of a dict. NULL: it holds bytes. */
static const Plan *stored_plan(const Plan *plan) {
    bool holds = plan->op == UB_LIST || plan->op == UB_TABLE || plan->op == UB_DEQUE;
    return holds ? &plan->items[plan->nitems - 1] : NULL;
}

/* It is a copy, and never changes. */
static bool is_fixed_plan(const Plan *plan) {
    return plan->op == UB_STR || plan->op == UB_BYTES;
}

/* The object that stands for a Python list, and the plan that it was made by. */
typedef struct Known {
    ListObject *object;
    const Plan *plan;
} Known;

static Known known_of(PyObject *bytes) {
    Known known;
    memcpy(&known, PyBytes_AS_STRING(bytes), sizeof known);
    return known;
}

/* -- results ------------------------------------------------------------------------------------- */

/* A value read out of an object, of which it keeps its own references. */
static void retain_value(const ValueLayout *layout, const char *value) {
    if (layout->kind == TY_CLASS) quern_retain(*(Owner *const *)value);
    if (layout->kind == TY_ARRAY) quern_retain(((const ArrayValue *)value)->owner);
    for (int32_t i = 0; layout->kind != TY_CLASS && i < layout->nitems; i++)
        retain_value(&layout->items[i], value + layout->items[i].offset);
}

static void release_value(const ValueLayout *layout, const char *value) {
    if (layout->kind == TY_CLASS) quern_release(*(Owner *const *)value);
    if (layout->kind == TY_ARRAY) quern_release(((const ArrayValue *)value)->owner);
    for (int32_t i = 0; layout->kind != TY_CLASS && i < layout->nitems; i++)
        release_value(&layout->items[i], value + layout->items[i].offset);
}

void py_exchange_value(ModState *state, const ValueLayout *layout, char *at, const char *fresh) {
    if (layout->kind < TY_SCALARS) {
        memcpy(at, fresh, (size_t)layout->size);
        return;
    }
    char *old = PyMem_Malloc((size_t)layout->size + 1);
    if (old) memcpy(old, at, (size_t)layout->size);
    memcpy(at, fresh, (size_t)layout->size);
    if (old) release_value(layout, old); /* else it stays for ever */
    PyMem_Free(old);
    if (atomic_load(&state->dropped)) py_drop_owned(state);
}

int py_fill_container(const Plan *plan, PyObject *items, char *out) {
    return plan->op == UB_LIST ? py_unbox_list(plan, items, out, false)
                               : py_unbox_table(plan, items, out, false);
}

PyObject *py_box_kept(ModState *state, const ValueLayout *layout, const char *value) {
    retain_value(layout, value);
    return py_box(state, layout, value);
}

/* -- objects that outlive a call, in a generator ------------------------------------------------- */

/* The Python objects that the value and what it holds stand for may go before they do. What stands for one is walked over once. */
void py_forget_objects(const ValueLayout *layout, const char *value) {
    if (layout->kind == TY_OPTIONAL && !*(const uint8_t *)value) return;
    bool parts = layout->kind == TY_OPTIONAL || layout->kind == TY_TUPLE;
    for (int32_t i = 0; parts && i < layout->nitems; i++)
        py_forget_objects(&layout->items[i], value + layout->items[i].offset);
    if (layout->kind != TY_CLASS || layout->shared) return;
    ObjectHeader *object = *(ObjectHeader *const *)value;
    if (!object || !object->python) return;
    object->python = NULL;
    const ListObject *list = (const ListObject *)object;
    for (int64_t i = 0; layout->element == CLS_list && i < list->length; i++)
        py_forget_objects(&layout->items[0], list->data + i * layout->items[0].size);
    if (layout->element == CLS_deque) py_forget_deque(layout, value);
    if (layout->element == CLS_dict || layout->element == CLS_set)
        py_forget_entries(layout, (const TableObject *)object);
}

PyObject *py_box_item(ModState *state, const ValueLayout *layout, const char *value) {
    PyObject *out = py_box_kept(state, layout, value);
    py_forget_objects(layout, value);
    release_value(layout, value);
    return out;
}

static PyObject *box_element(ModState *state, const ValueLayout *element, const ListObject *list,
                             int64_t i) {
    return py_box_kept(state, element, list->data + i * element->size);
}

static PyObject *new_list(ModState *state, const ValueLayout *layout, ListObject *list) {
    PyObject *out = PyList_New((Py_ssize_t)list->length);
    list->header.python = out; /* for the same list further down, and in arguments */
    for (int64_t i = 0; out && i < list->length; i++) {
        PyObject *item = box_element(state, &layout->items[0], list, i);
        if (item)
            PyList_SET_ITEM(out, (Py_ssize_t)i, item);
        else
            Py_CLEAR(out);
    }
    if (!out) list->header.python = NULL;
    return out;
}

PyObject *py_box_object(ModState *state, const ValueLayout *layout, const char *value) {
    ListObject *object = list_at(value); /* any of them, until its header has been read */
    PyObject *known = object->header.python;
    PyObject *out = known                         ? Py_NewRef(known)
                    : layout->element == CLS_list ? new_list(state, layout, object)
                    : layout->element == CLS_deque
                        ? py_new_deque(state, layout, object)
                        : py_new_table(state, layout, (TableObject *)object);
    drop(object);
    return out;
}

/* -- arguments ------------------------------------------------------------------------------------- */

/* A list with room for n elements, all empty. NULL with MemoryError. */
static ListObject *make_list(const Plan *plan, PyObject *python, Py_ssize_t n) {
    const ValueLayout *layout = plan->object;
    int64_t bytes = (int64_t)n * layout->items[0].size;
    ListObject *list = layout->cells ? (ListObject *)quern_new_object(layout->cells) : NULL;
    if (!list) return PyErr_NoMemory(), NULL;
    list->owner = layout->buffer_cells[0] ? quern_alloc_buffer(bytes, layout->buffer_cells[0])
                                          : quern_alloc_array(bytes, 0);
    list->length = 0;
    list->data = list->owner ? (char *)list->owner + SUPPORT_ARRAY_HEADER : NULL;
    list->capacity = n;
    list->stride = layout->items[0].size;
    list->header.python = python;
    if (list->owner) return list;
    drop(list);
    return PyErr_NoMemory(), NULL;
}

/* One number of NumPy's makes all of them strong. */
static bool has_numpy(PyObject *list, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyArray_CheckScalar(PyList_GET_ITEM(list, i))) return true;
    return false;
}

/* The Python list is read by position: nothing that runs here can change it. 1, 0, -1 as py_unbox. */
int py_unbox_list(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (!PyList_CheckExact(o)) return 0;
    Py_ssize_t n = PyList_GET_SIZE(o);
    const Plan *element = &plan->items[0];
    if (element->op == UB_OPTIONAL) element = &element->items[0];
    if (element->op == UB_EITHER && !loose && !has_numpy(o, n)) return 0;
    ListObject *list = make_list(plan, o, n);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < n && i < PyList_GET_SIZE(o); i++) {
        char *at = list->data + i * list->stride;
        int done = py_unbox_value(&plan->items[0], PyList_GET_ITEM(o, i), at, loose);
        if (done <= 0) {
            drop(list);
            return done;
        }
        list->length = i + 1;
    }
    *(ListObject **)out = list;
    return 1;
}

/* -- after the call -------------------------------------------------------------------------------- */

static bool write_back(ModState *state, const Plan *plan, ListObject *list);

static bool write_object(ModState *state, const Plan *plan, void *object) {
    if (plan->op == UB_BYTEARRAY) return py_write_bytearray(object);
    if (plan->op == UB_DEQUE) return py_write_deque(state, plan, object);
    return plan->op == UB_LIST ? write_back(state, plan, object)
                               : py_write_table(state, plan, object);
}

static bool items_are_unchanged(ModState *state, const Plan *plan, const char *frame,
                                PyObject *python) {
    PyObject *items = plan->op == UB_VALUE && (PyObject *)Py_TYPE(python) == plan->type
                          ? py_value_items(python, plan->names)
                          : Py_NewRef(python);
    bool same = items && PyTuple_Check(items) && PyTuple_GET_SIZE(items) == plan->nitems &&
                (PyObject *)Py_TYPE(python) == plan->type;
    for (int32_t i = 0; same && i < plan->nitems; i++)
        same = py_is_unchanged(state, &plan->items[i], frame, PyTuple_GET_ITEM(items, i));
    if (!items) PyErr_Clear();
    Py_XDECREF(items);
    return same;
}

/* Numbers are compared with what the Python number is; lists are the same list, whatever is in it. */
bool py_is_unchanged(ModState *state, const Plan *plan, const char *frame, PyObject *python) {
    _Alignas(16) char before[16] = {0}, now[16] = {0};
    const char *value = frame + plan->offset;
    if (is_fixed_plan(plan) || is_object_plan(plan))
        return (*(ObjectHeader *const *)value)->python == python;
    if (plan->op == UB_SHARED)
        return py_is_shared(state, python) &&
               ((SharedObject *)python)->object == *(ObjectHeader *const *)value;
    if (plan->op == UB_KEPT_ARRAY)
        return py_is_array_of(python, (const ArrayValue *)value, plan->ndim);
    if (plan->op == UB_OPTIONAL) /* (is it there?, value) */
        return !*value || python == Py_None
                   ? !*value && python == Py_None
                   : py_is_unchanged(state, &plan->items[0], frame, python);
    if (py_has_items(plan)) return items_are_unchanged(state, plan, frame, python);
    if (plan->optional) return false;
    Plan scalar = *plan;
    scalar.offset = 0;
    int done = py_unbox_value(&scalar, python, before, true);
    if (done < 0) PyErr_Clear();
    memcpy(now, value, (size_t)plan->to_size);
    return done > 0 && !memcmp(before, now, sizeof now);
}

static bool write_element(ModState *state, const Plan *plan, ListObject *list, int64_t i,
                          PyObject *python) {
    const char *value = list->data + i * plan->object->items[0].size;
    if (i < PyList_GET_SIZE(python) &&
        py_is_unchanged(state, &plan->items[0], value, PyList_GET_ITEM(python, (Py_ssize_t)i)))
        return true;
    PyObject *item = box_element(state, &plan->object->items[0], list, i);
    if (!item) return false;
    if (i < PyList_GET_SIZE(python)) return PyList_SetItem(python, (Py_ssize_t)i, item) == 0;
    bool ok = PyList_Append(python, item) == 0;
    Py_DECREF(item);
    return ok;
}

static bool write_back(ModState *state, const Plan *plan, ListObject *list) {
    PyObject *python = Py_NewRef((PyObject *)list->header.python);
    bool ok = true;
    for (int64_t i = 0; ok && i < list->length; i++)
        ok = write_element(state, plan, list, i, python);
    Py_ssize_t n = (Py_ssize_t)list->length, size = PyList_GET_SIZE(python);
    if (ok && n < size) ok = PyList_SetSlice(python, n, size, NULL) == 0;
    Py_DECREF(python);
    return ok;
}

static bool write_changes(ModState *state, const Plan *plan, char *frame) {
    for (int32_t i = 0; py_has_items(plan) && i < plan->nitems; i++)
        if (!write_changes(state, &plan->items[i], frame)) return false;
    ListObject *const *at = (ListObject *const *)(frame + plan->offset);
    bool changed = is_object_plan(plan) && *at && plan->object->changed;
    return !changed || write_object(state, plan, *at);
}

static void return_value(const Plan *plan, char *frame) {
    for (int32_t i = 0; py_has_items(plan) && i < plan->nitems; i++)
        return_value(&plan->items[i], frame);
    if (py_keeps_owner(plan)) {
        ArrayValue *value = (ArrayValue *)(frame + plan->offset);
        if (value->owner) quern_release(value->owner);
        value->owner = NULL;
    }
    if (!is_object_plan(plan) && !is_fixed_plan(plan)) return;
    ListObject **at = (ListObject **)(frame + plan->offset);
    if (*at) drop(*at);
    *at = NULL;
}

/* What a generator has taken along outlives the call. */
static void forget_value(const Plan *plan, const char *frame) {
    for (int32_t i = 0; py_has_items(plan) && i < plan->nitems; i++)
        forget_value(&plan->items[i], frame);
    const char *value = frame + plan->offset;
    if ((is_object_plan(plan) || is_fixed_plan(plan)) && *(void *const *)value)
        py_forget_objects(plan->object, value);
}

/* All that `inner` has, wherever the code has put them: what has been taken out of a list of the caller's is still a list of its. */
static bool write_inner(ModState *state, PyObject *inner) {
    PyObject *key, *found;
    Py_ssize_t at = 0;
    bool ok = true;
    while (ok && PyDict_Next(inner, &at, &key, &found)) {
        Known known = known_of(found);
        ok = !known.plan->object->changed || write_object(state, known.plan, known.object);
    }
    return ok;
}

/* They may outlive the call, in what it returns or in an object of the program's: they stand for nothing then. */
static void forget_inner(PyObject *inner) {
    PyObject *key, *found;
    Py_ssize_t at = 0;
    while (PyDict_Next(inner, &at, &key, &found)) {
        ListObject *object = known_of(found).object;
        object->header.python = NULL;
        drop(object);
    }
}

bool py_return_objects(ModState *state, const Spec *spec, char *frame, PyObject *inner,
                       bool write) {
    bool ok = true;
    if (write && inner) ok = write_inner(state, inner);
    for (int32_t i = 0; write && !inner && ok && i < spec->nargs; i++)
        ok = write_changes(state, &spec->plans[i], frame);
    if (inner) forget_inner(inner);
    for (int32_t i = 0; spec->artifact->resumes && i < spec->nargs; i++)
        forget_value(&spec->plans[i], frame);
    for (int32_t i = 0; i < spec->nargs; i++)
        return_value(&spec->plans[i], frame);
    py_drop_owned(state);
    return ok;
}

/* Objects know their Python lists by address: those that stand in other lists are kept until the call is over, whoever changes
 * these meanwhile. Numbers are not asked for. */
static bool keep_inner(const Plan *plan, PyObject *o, PyObject *keep);

static bool keep_fields(const Plan *plan, PyObject *o, PyObject *keep) {
    PyObject *items = py_value_items(o, plan->names);
    bool ok = items != NULL;
    for (int32_t i = 0; ok && i < plan->nitems; i++)
        ok = keep_inner(&plan->items[i], PyTuple_GET_ITEM(items, i), keep);
    Py_XDECREF(items);
    return ok;
}

/* Text is known by its Python string, too, and may be taken from the keys of a dict into a list: the dict gets its keys anew before the list
 * its items. */
static bool keep_keys(const Plan *plan, PyObject *o, PyObject *keep) {
    if (plan->op != UB_TABLE || !PyDict_Check(o) || plan->object->items[0].kind < TY_SCALARS)
        return true;
    PyObject *keys = PyDict_Keys(o);
    bool ok = keys && PyList_Append(keep, keys) == 0;
    Py_XDECREF(keys);
    return ok;
}

static bool keep_inner(const Plan *plan, PyObject *o, PyObject *keep) {
    if (!keep_keys(plan, o, keep)) return false;
    if (plan->op == UB_VALUE) return keep_fields(plan, o, keep);
    if (plan->op == UB_TUPLE) {
        for (int32_t i = 0; i < plan->nitems; i++)
            if (!keep_inner(&plan->items[i], PyTuple_GET_ITEM(o, i), keep)) return false;
        return true;
    }
    const Plan *stored = stored_plan(plan);
    if (!stored || plan->object->items[plan->nitems - 1].kind < TY_SCALARS) return true;
    PyObject *items = PyDict_Check(o) ? PyDict_Values(o) : PySequence_List(o);
    bool ok = items && PyList_Append(keep, items) == 0;
    for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(items); i++)
        ok = keep_inner(stored, PyList_GET_ITEM(items, i), keep);
    Py_XDECREF(items);
    return ok;
}

PyObject *py_keep_objects(const Spec *spec, PyObject *const *args) {
    PyObject *keep = PyList_New(0);
    for (int32_t i = 0; keep && i < spec->nargs; i++)
        if (!keep_inner(&spec->plans[i], args[i], keep)) Py_CLEAR(keep);
    return keep;
}

/* -- one list in several places ----------------------------------------------------------------- */

static bool same_type(const ValueLayout *a, const ValueLayout *b) {
    bool same = a->kind == b->kind && a->nitems == b->nitems && a->cells == b->cells &&
                a->element == b->element && a->variant == b->variant && a->maker == b->maker;
    for (int32_t i = 0; same && i < a->nitems; i++)
        same = same_type(&a->items[i], &b->items[i]);
    return same;
}

static bool unify(const Plan *plan, char *base, PyObject *seen);

/* Items that are lists, or tuples: of every element. */
static bool unify_elements(const Plan *plan, const ListObject *list, PyObject *seen) {
    if (plan->op == UB_DEQUE) return true; /* no lists are in it */
    const Plan *element = stored_plan(plan);
    const TableObject *table = (const TableObject *)list;
    bool dict = plan->op == UB_TABLE;
    if (!element || (!is_object_plan(element) && !py_has_items(element)) ||
        (dict && plan->nitems < 2))
        return true;
    char *at = dict ? table->values.data : list->data;
    int64_t n = dict ? table->used : list->length;
    int64_t stride = dict ? table->values.stride : list->stride;
    for (int64_t i = 0; i < n; i++)
        if (!unify(element, at + i * stride, seen)) return false;
    return true;
}

/* The object made for a Python list takes the place of another one made for it. `seen`: addresses of lists -> Known, of which each
 * holds its object. */
static bool unify(const Plan *plan, char *base, PyObject *seen) {
    for (int32_t i = 0; py_has_items(plan) && i < plan->nitems; i++)
        if (!unify(&plan->items[i], base, seen)) return false;
    if (!is_object_plan(plan)) return true;
    ListObject **at = (ListObject **)(base + plan->offset), *first;
    PyObject *key = PyLong_FromVoidPtr((*at)->header.python);
    PyObject *found = key ? PyDict_GetItemWithError(seen, key) : NULL;
    Known known = {*at, plan};
    bool ok = key && (found || !PyErr_Occurred());
    if (found) known = known_of(found);
    if (found && same_type(known.plan->object, plan->object)) {
        first = known.object;
        quern_retain(&first->header.owner);
        drop(*at);
        *at = first;
    } else if (ok) {
        if (found) Py_SETREF(key, PyLong_FromVoidPtr(*at)); /* as another type: on its own */
        known = (Known){*at, plan};
        found = PyBytes_FromStringAndSize((const char *)&known, sizeof known);
        ok = found && key && PyDict_SetItem(seen, key, found) == 0;
        if (ok) quern_retain(&(*at)->header.owner);
        Py_XDECREF(found);
        if (ok) ok = unify_elements(plan, *at, seen);
    }
    Py_XDECREF(key);
    return ok;
}

static bool holds_lists(const Plan *plan) {
    const Plan *stored = stored_plan(plan);
    return stored && (is_object_plan(stored) || py_has_items(stored));
}

bool py_unify_objects(const Spec *spec, char *frame, PyObject **inner) {
    int32_t lists = 0;
    for (int32_t i = 0; i < spec->nargs; i++) {
        const Plan *plan = &spec->plans[i];
        lists += py_has_items(plan) || holds_lists(plan) ? 2 : is_object_plan(plan);
    }
    if (lists < 2) return true;
    PyObject *seen = *inner = PyDict_New();
    bool ok = seen != NULL;
    for (int32_t i = 0; ok && i < spec->nargs; i++)
        ok = unify(&spec->plans[i], frame, seen);
    return ok;
}

static void clear_value(const Plan *plan, char *frame) {
    for (int32_t i = 0; py_has_items(plan) && i < plan->nitems; i++)
        clear_value(&plan->items[i], frame);
    if (is_object_plan(plan) || is_fixed_plan(plan)) *(void **)(frame + plan->offset) = NULL;
    if (py_keeps_owner(plan)) ((ArrayValue *)(frame + plan->offset))->owner = NULL;
}

void py_clear_objects(const Spec *spec, char *frame) {
    for (int32_t i = 0; i < spec->nargs; i++)
        clear_value(&spec->plans[i], frame);
}
