/* shared.c - typed.List, typed.Dict and typed.Set, and instances of classes with @jitclass: Python objects that hold a reference to an
 * object of compiled code.
 *
 * Nothing is copied on the way: an argument is the pointer, and what one side changes the other side sees. While compiled code runs
 * that was given one, no other thread gets a turn (jitfunc.c), so that nobody changes it meanwhile. What Python does with them is
 * done by compiled functions (quern/typed.py), but for the fields of instances, which are read and written here. */
#include "pymodule/shared.h"
#include "codegen/support.h"
#include "pymodule/objects.h"

/* -- types and keys ------------------------------------------------------------------------------------ */

ClassId py_shared_class(const ModState *state, PyObject *cls) {
    for (int id = 0; cls && id < countof(state->shared_classes); id++)
        if (state->shared_classes[id] == cls) return (ClassId)id;
    return CLS_COUNT;
}

/* Of a type in the words of a signature. NULL: exception. */
static const Type *type_of_text(ModState *state, TypeTable *types, Arena *arena, const char *text) {
    DiagList diags;
    diag_init(&diags, arena);
    const Type *type = ti_parse_type(types, arena, text, &diags);
    if (!type) return py_raise_diags(state, &diags), NULL;
    return py_written_type(state, types, arena, type);
}

/* What quern/experimental/_jitclass.py says: names and types of the fields, as text. NULL: exception. */
static PyObject *fields_of(PyObject *cls) {
    PyObject *module = PyImport_ImportModule("quern.experimental._jitclass");
    PyObject *fields = module ? PyObject_CallMethod(module, "fields_of", "O", cls) : NULL;
    Py_XDECREF(module);
    if (fields && !PyTuple_Check(fields)) {
        PyErr_SetString(PyExc_TypeError, "the fields of a @jitclass are no tuple");
        Py_CLEAR(fields);
    }
    return fields;
}

const Type *py_instance_type(ModState *state, TypeTable *types, Arena *arena, PyObject *cls) {
    const char *shown = ((PyTypeObject *)cls)->tp_name;
    const Type *type = type_instance(types, cls, str_copy(arena, shown, strlen(shown)));
    if (type_instance_is_known(type)) return type;
    PyObject *fields = fields_of(cls);
    if (!fields) return NULL;
    int32_t n = (int32_t)PyTuple_GET_SIZE(fields);
    const Type **items = arena_array(arena, const Type *, n + 1);
    Str *names = arena_array(arena, Str, n + 1);
    type_instance_fields(types, type, items, names, 0); /* for types that name it */
    bool ok = true;
    for (int32_t i = 0; ok && i < n; i++) {
        const char *name, *text;
        ok = PyArg_ParseTuple(PyTuple_GET_ITEM(fields, i), "ss", &name, &text);
        if (!ok) break;
        names[i] = str_copy(arena, name, strlen(name));
        items[i] = type_of_text(state, types, arena, text);
        ok = items[i] != NULL;
    }
    Py_DECREF(fields);
    if (ok) type_instance_fields(types, type, items, names, n);
    return ok ? type : NULL;
}

PyObject *py_class_of_shared(ModState *state, ClassId id) {
    if (!state->shared_classes[id]) /* the module tells */
        Py_XDECREF(PyImport_ImportModule("quern.typed"));
    return state->shared_classes[id];
}

/* The class that stands in the key of an object's type. NULL: exception. */
static PyObject *key_class(ModState *state, const ValueLayout *layout) {
    if (layout->element == CLS_instance) return layout->cls;
    if (layout->shared) return py_class_of_shared(state, layout->element);
    PyTypeObject *const plain[] = {[CLS_list] = &PyList_Type,   [CLS_str] = &PyUnicode_Type,
                                   [CLS_bytes] = &PyBytes_Type, [CLS_bytearray] = &PyByteArray_Type,
                                   [CLS_dict] = &PyDict_Type,   [CLS_set] = &PySet_Type};
    return (PyObject *)plain[layout->element];
}

/* The key of what a layout describes: as py_type_key of its type. 0: exception, or there is none. */
static TypeKey layout_key(ModState *state, const ValueLayout *layout) {
    if (layout->kind < TY_SCALARS) return KEY_SCALAR(layout->kind);
    if (layout->kind == TY_ARRAY) {
        int kind = py_kind_of_layout(state, layout);
        uint32_t flags =
            (layout->readonly ? KEY_READONLY : 0) | (layout->aligned ? 0 : KEY_UNALIGNED);
        return kind < 0 ? 0 : key_array(kind, layout->ndim, (Layout)layout->layout, flags);
    }
    if (layout->kind == TY_TIME) {
        int kind = py_kind_of_layout(state, layout);
        return kind < 0 ? 0 : py_time_key(state, kind);
    }
    bool cls = layout->kind == TY_CLASS;
    if (cls && layout->element == CLS_instance) return py_instance_key(state, layout->cls);
    TypeKey few[16], *items = few, key = 1;
    if (layout->nitems > countof(few) &&
        !(items = PyMem_Malloc(sizeof *items * (size_t)layout->nitems)))
        return PyErr_NoMemory(), 0;
    for (int32_t i = 0; i < layout->nitems && key; i++)
        items[i] = key = layout_key(state, &layout->items[i]);
    PyObject *of = cls                           ? key_class(state, layout)
                   : layout->kind == TY_OPTIONAL ? Py_None
                                                 : layout->cls;
    if (key) key = cls && !of ? 0 : py_compound_key(state, of, items, layout->nitems);
    if (items != few) PyMem_Free(items);
    return key;
}

/* -- types as text that is read again ------------------------------------------------------------------ */

enum { MOST_PARTS = 1000, LONGEST_TEXT = 20000 };

/* Does an instance stand in a type? `left` bounds the search: a type is a graph. */
static bool has_instance(const Type *type, int *left) {
    if (--*left < 0 ||
        (type->kind != TY_CLASS && type->kind != TY_TUPLE && type->kind != TY_OPTIONAL))
        return false;
    if (type_is_instance(type)) return true;
    bool tuple = type->kind == TY_TUPLE, optional = type->kind == TY_OPTIONAL, found = false;
    const Type *const *parts = tuple ? type->items : optional ? &type->element : type->params;
    int32_t n = tuple ? type->nitems : optional ? 1 : type->nparams;
    for (int32_t i = 0; i < n; i++)
        found |= has_instance(parts[i], left);
    return found;
}

static void write_exact(ModState *state, StrBuf *out, const Type *type);

static void write_parts(ModState *state, StrBuf *out, const Type *const *types, int32_t n,
                        const char *comma) {
    for (int32_t i = 0; i < n && out->len < LONGEST_TEXT; i++) {
        if (i) buf_str(out, comma);
        write_exact(state, out, types[i]);
    }
}

static void write_exact(ModState *state, StrBuf *out, const Type *type) {
    static const char *const shared[CLS_COUNT] = {
        [CLS_list] = "ListType[", [CLS_dict] = "DictType[", [CLS_set] = "SetType["};
    if (type->kind == TY_OPTIONAL) {
        buf_str(out, "Optional(");
        write_parts(state, out, &type->element, 1, "");
        buf_char(out, ')');
    } else if (type->kind == TY_TUPLE && !type->fields) {
        buf_char(out, '(');
        write_parts(state, out, type->items, type->nitems, ", ");
        buf_str(out, type->nitems == 1 ? ",)" : ")");
    } else if (type_is_instance(type)) {
        TypeKey key = py_instance_key(state, type->cls);
        buf_printf(out, "instance[%u]", (unsigned)(key & ~KEY_COMPOUND));
    } else if (type->kind == TY_CLASS && type->shared) {
        buf_str(out, shared[type->bits]);
        write_parts(state, out, type->params, type->nparams, ",");
        buf_char(out, ']');
    } else {
        Str text = type_text(out->arena, type);
        buf_printf(out, STR_FMT, STR_ARG(text));
    }
}

PyObject *py_exact_text(ModState *state, Arena *arena, const Type *type) {
    int left = MOST_PARTS;
    StrBuf out;
    buf_init(&out, arena);
    if (has_instance(type, &left)) {
        write_exact(state, &out, type);
    } else {
        Str text = type_text(arena, type);
        buf_printf(&out, STR_FMT, STR_ARG(text));
    }
    if (PyErr_Occurred()) return NULL; /* no memory for a number */
    Str text = buf_take(&out);
    return PyUnicode_FromStringAndSize(text.bytes, text.len);
}

/* -- to Python ------------------------------------------------------------------------------------------- */

static PyObject *new_shared(ModState *state, PyTypeObject *cls, TypeKey key, ObjectHeader *object) {
    SharedObject *made = (SharedObject *)cls->tp_alloc(cls, 0);
    if (!made) return NULL;
    made->state = state;
    made->key = key;
    made->object = object;
    if (object) object->python = made;
    return (PyObject *)made;
}

PyObject *py_box_shared(ModState *state, const ValueLayout *layout, const char *value) {
    ObjectHeader *object = *(ObjectHeader *const *)value;
    if (!object) return PyErr_SetString(PyExc_AttributeError, "it was never assigned"), NULL;
    PyObject *out = Py_XNewRef((PyObject *)object->python);
    if (out) {
        quern_release(&object->owner);
        return out;
    }
    PyObject *cls = key_class(state, layout);
    TypeKey key = layout->key ? layout->key : layout_key(state, layout);
    ((ValueLayout *)layout)->key = key; /* what is asked of this process is written under the GIL */
    if (cls && key) out = new_shared(state, (PyTypeObject *)cls, key, object);
    if (!out) quern_release(&object->owner);
    if (!out && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "Python has no type for the result");
    return out;
}

/* -- life ------------------------------------------------------------------------------------------------- */

static PyObject *shared_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    ModState *state = py_state_of_type(type);
    return state ? new_shared(state, type, 0, NULL) : NULL;
}

static void let_go(SharedObject *self) {
    ObjectHeader *object = self->object;
    self->object = NULL;
    if (!object) return;
    object->python = NULL;
    quern_release(&object->owner);
    if (atomic_load(&self->state->dropped)) py_drop_owned(self->state);
}

static void shared_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    if (((SharedObject *)self)->weakrefs) PyObject_ClearWeakRefs(self);
    let_go((SharedObject *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef shared_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(SharedObject, weakrefs), READONLY, NULL},
    {NULL},
};

static PyObject *get_type_text(PyObject *self, void *unused) {
    (void)unused;
    SharedObject *s = (SharedObject *)self;
    return s->key ? py_key_text(s->state, s->key, true) : Py_NewRef(Py_None);
}

static PyObject *get_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(py_size_of((const SharedObject *)self));
}

static PyGetSetDef shared_getset[] = {
    {"_size", get_size, NULL, "How many items there are in a container.", NULL},
    {"_type_text", get_type_text, NULL, "The type, in the compiler's words; None: not known yet.",
     NULL},
    {NULL},
};

/* -- while compiled code runs ------------------------------------------------------------------------------ */

bool py_may_change(const ModState *state) {
    if (!state->exclusive) return true;
    PyErr_SetString(PyExc_RuntimeError, "a typed container or an instance of a @jitclass cannot be "
                                        "changed while compiled code that has one runs");
    return false;
}

/* -- made by Python ---------------------------------------------------------------------------------------- */

/* What is made of Python objects by the layout of a type. */
typedef struct Maker {
    Arena arena;
    ValueLayout layout;
    Plan plan;
    TypeKey key;
} Maker;

static void maker_free(Maker *m) {
    py_plan_clear(&m->plan);
    arena_free(&m->arena);
}

/* A container of the class that `self` is of, which holds what these examples are. NULL: exception. */
static const Type *type_of_examples(ModState *state, TypeTable *types, Arena *arena, PyObject *self,
                                    PyObject *examples) {
    const Type *params[2] = {0};
    int id = 0;
    while (id < CLS_COUNT &&
           !(state->shared_classes[id] && PyObject_IsInstance(self, state->shared_classes[id])))
        id++;
    if (id == CLS_COUNT || type_class_nparams((ClassId)id) != PyTuple_GET_SIZE(examples))
        return PyErr_SetString(PyExc_TypeError, "that is no typed container"), NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(examples); i++) {
        TypeKey key = py_arg_key(state, PyTuple_GET_ITEM(examples, i), "typed", -1);
        params[i] = key ? py_key_type(state, NULL, types, arena, key, true) : NULL;
        if (!params[i]) return NULL;
    }
    return type_shared(types, type_class_of(types, (ClassId)id, params));
}

/* `what`: a type as text, a tuple of examples, or a container of the same type. false: exception, and nothing is left. */
static bool maker_init(Maker *m, ModState *state, PyObject *self, PyObject *what) {
    *m = (Maker){0};
    arena_init(&m->arena, &qn_default_allocator);
    TypeTable *types = type_table_new(&m->arena);
    const char *text = PyUnicode_Check(what) ? PyUnicode_AsUTF8(what) : NULL;
    TypeKey like = py_is_shared(state, what) ? ((SharedObject *)what)->key : 0;
    const Type *type = text   ? type_of_text(state, types, &m->arena, text)
                       : like ? py_key_type(state, NULL, types, &m->arena, like, true)
                              : type_of_examples(state, types, &m->arena, self, what);
    if (type) m->layout = cg_layout(&m->arena, types, type);
    if (type && !(m->key = py_type_key(state, type)) && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError,
                        "typed containers hold numbers, arrays, text, instances of "
                        "a @jitclass, typed containers, and tuples of these");
    m->plan.kept = true; /* the container itself */
    if (m->key && py_plan_inside(state, &m->plan, m->key, &m->layout)) return true;
    maker_free(m);
    return false;
}

/* self._become(what, items): of that type, with these items: a list, dict or set. */
static PyObject *shared_become(PyObject *self, PyObject *args) {
    SharedObject *s = (SharedObject *)self;
    PyObject *what, *items;
    Maker maker;
    void *object = NULL;
    if (!PyArg_ParseTuple(args, "OO", &what, &items)) return NULL;
    if (s->object) return PyErr_SetString(PyExc_TypeError, "its type is known already"), NULL;
    PyTypeObject *instances = (PyTypeObject *)s->state->instance_class;
    if (instances && PyObject_TypeCheck(self, instances))
        return PyErr_SetString(PyExc_TypeError, "it is no typed container"), NULL;
    if (!PyTuple_Check(what) && !PyUnicode_Check(what) && !py_is_shared(s->state, what))
        return PyErr_SetString(PyExc_TypeError, "a type or examples are expected"), NULL;
    if (!maker_init(&maker, s->state, self, what)) return NULL;
    int done = py_fill_container(&maker.plan, items, (char *)&object);
    if (done > 0) {
        s->object = object;
        s->object->python = self;
        s->key = maker.key;
    } else if (done == 0) {
        PyErr_SetString(PyExc_TypeError, "the items are not all of one type");
    }
    maker_free(&maker);
    if (done <= 0) return NULL;
    Py_RETURN_NONE;
}

/* -- fields -------------------------------------------------------------------------------------------------- */

/* An attribute of a class with @jitclass. What it is like is asked when it is first used. */
typedef struct Field {
    PyObject_HEAD PyObject *name;
    PyTypeObject *
        of; /* the class of the instance that it was first asked for (borrowed: it holds the field) */
    bool known;
    Maker maker; /* of its value */
    int64_t offset;
} Field;

static PyObject *field_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *name;
    if (kwargs || !PyArg_ParseTuple(args, "U", &name)) return NULL;
    Field *field = (Field *)type->tp_alloc(type, 0);
    if (field) field->name = Py_NewRef(name);
    return (PyObject *)field;
}

static void field_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Field *field = (Field *)self;
    if (field->known) maker_free(&field->maker);
    Py_XDECREF(field->name);
    type->tp_free(self);
    Py_DECREF(type);
}

static bool look_at(Field *field, const SharedObject *of) {
    ModState *state = of->state;
    Maker *m = &field->maker;
    *m = (Maker){0};
    arena_init(&m->arena, &qn_default_allocator);
    TypeTable *types = type_table_new(&m->arena);
    const Type *cls = py_key_type(state, NULL, types, &m->arena, of->key, true);
    Str name;
    int32_t at = cls && py_str(&m->arena, field->name, &name) ? type_field(cls, name) : -1;
    if (at >= 0) {
        m->layout = cg_layout(&m->arena, types, cls->declared[at]);
        m->key = py_type_key(state, cls->declared[at]);
        field->offset = cls->offsets[at];
    }
    if (at >= 0 && !m->key && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "Python has no type for the field '%U'", field->name);
    field->known = m->key && py_plan_inside(state, &m->plan, m->key, &m->layout);
    if (field->known) field->of = Py_TYPE(of);
    if (!field->known) maker_free(m);
    if (!field->known && !PyErr_Occurred())
        PyErr_Format(PyExc_AttributeError, "there is no field '%U'", field->name);
    return field->known;
}

/* The place of the value in the object. NULL: exception. */
static char *place_of(Field *field, PyObject *object) {
    SharedObject *s = (SharedObject *)object;
    if (QN_LIKELY(Py_TYPE(object) == field->of && s->object))
        return (char *)s->object + field->offset;
    ModState *state = py_state_of_type(Py_TYPE(field));
    if (!state) return NULL;
    if (py_is_shared(state, object) && !s->object)
        return PyErr_SetString(PyExc_TypeError,
                               "the instance has no fields yet: its __init__ has not run"),
               NULL;
    if (!py_is_shared(state, object))
        return PyErr_SetString(PyExc_TypeError, "an instance of a @jitclass is expected"), NULL;
    if (QN_UNLIKELY(!field->known) && !look_at(field, s)) return NULL;
    return (char *)s->object + field->offset;
}

/* Objects that were never assigned, also in tuples; optionals are what they are. */
static bool is_unset(const ValueLayout *layout, const char *at) {
    if (layout->kind == TY_CLASS) return !*(void *const *)at;
    for (int32_t i = 0; layout->kind == TY_TUPLE && i < layout->nitems; i++)
        if (is_unset(&layout->items[i], at + layout->items[i].offset)) return true;
    return false;
}

static PyObject *field_get(PyObject *self, PyObject *object, PyObject *type) {
    (void)type;
    if (!object || object == Py_None) return Py_NewRef(self);
    Field *field = (Field *)self;
    const char *at = place_of(field, object);
    if (!at) return NULL;
    const ValueLayout *layout = &field->maker.layout;
    if (layout->kind == TY_f64) return PyFloat_FromDouble(*(const double *)at);
    if (layout->kind == TY_i64) return PyLong_FromLongLong(*(const int64_t *)at);
    if (layout->kind >= TY_SCALARS && is_unset(layout, at))
        return PyErr_Format(PyExc_AttributeError, "the field '%U' has no value yet", field->name);
    return py_box_kept(((SharedObject *)object)->state, layout, at);
}

static int field_set(PyObject *self, PyObject *object, PyObject *value) {
    enum { FEW = 128 };
    _Alignas(16) char few[FEW] = {0};
    Field *field = (Field *)self;
    char *at = place_of(field, object), *fresh = few;
    if (!at) return -1;
    const ValueLayout *layout = &field->maker.layout;
    ModState *state = ((SharedObject *)object)->state;
    if (!value) return PyErr_SetString(PyExc_AttributeError, "fields cannot be deleted"), -1;
    if (!py_may_change(state)) return -1;
    if (layout->size > FEW && !(fresh = PyMem_Calloc(1, (size_t)layout->size)))
        return PyErr_NoMemory(), -1;
    int done = py_unbox_value(&field->maker.plan, value, fresh, true);
    if (done == 0) {
        PyObject *wanted = py_key_text(state, field->maker.key, false);
        PyErr_Format(PyExc_TypeError, "the field '%U' is of type %V, which '%s' is not",
                     field->name, wanted, "?", Py_TYPE(value)->tp_name);
        Py_XDECREF(wanted);
    }
    if (done > 0) py_exchange_value(state, layout, at, fresh);
    if (fresh != few) PyMem_Free(fresh);
    return done > 0 ? 0 : -1;
}

static PyObject *field_name(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((Field *)self)->name);
}

static PyGetSetDef field_getset[] = {
    {"__name__", field_name, NULL, NULL, NULL},
    {NULL},
};

static PyType_Slot field_slots[] = {
    {Py_tp_doc, "Field(name): a field of a class with @jitclass, as an attribute."},
    {Py_tp_new, field_new},
    {Py_tp_dealloc, field_dealloc},
    {Py_tp_descr_get, field_get},
    {Py_tp_descr_set, field_set},
    {Py_tp_getset, field_getset},
    {0, NULL},
};

PyType_Spec py_field_spec = {
    .name = "quern._quern.Field",
    .basicsize = sizeof(Field),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = field_slots,
};

/* -- attributes of instances ----------------------------------------------------------------------------------- */

/* CPython looks an attribute up in the class, asks what it finds whether it is a data descriptor, and calls that: twice the time that a
 * field needs. So what was found is kept, under the version of the class, which no other class ever has and which changes with it. Not in
 * a free-threaded CPython, where nobody may read what another thread writes here. */
#ifndef Py_GIL_DISABLED
static AttributeEntry *entry_of(ModState *state, const PyTypeObject *type, PyObject *name) {
    uintptr_t hash = ((uintptr_t)name >> 4) ^ type->tp_version_tag;
    return &state->attributes[hash % countof(state->attributes)];
}

/* Where a property keeps its getter: `__init__` may change that, unseen by the version of the class. 0: nobody knows. */
static int64_t place_of_getter(void) {
    const PyMemberDef *member = PyProperty_Type.tp_members;
    for (; member && member->name; member++)
        if (!strcmp(member->name, "fget")) return (int64_t)member->offset;
    return 0;
}

enum { ENTRY_PROPERTY = -1 };

static void remember_attribute(ModState *state, PyTypeObject *type, PyObject *name) {
    PyObject *what = _PyType_Lookup(type, name);
    if (!what || !type->tp_version_tag || type->tp_dictoffset || !Py_TYPE(what)->tp_descr_get)
        return;
    AttributeEntry *entry = entry_of(state, type, name);
    Field *field = Py_IS_TYPE(what, state->field_type) ? (Field *)what : NULL;
    int kind = field && field->of == type ? field->maker.layout.kind : 0;
    Py_XSETREF(entry->name, Py_NewRef(name));
    entry->version = type->tp_version_tag;
    entry->what = what;
    entry->kind = kind == TY_f64 || kind == TY_i64 ? kind : 0;
    entry->offset = field ? field->offset : 0;
    if (!Py_IS_TYPE(what, &PyProperty_Type)) return;
    entry->offset = place_of_getter();
    entry->kind = entry->offset ? ENTRY_PROPERTY : 0;
}

/* What CPython would call. */
__attribute__((noinline)) static PyObject *described(const AttributeEntry *entry, PyObject *self) {
    PyObject *what = Py_NewRef(entry->what); /* the class may let go of it meanwhile */
    PyObject *value = Py_TYPE(what)->tp_descr_get(what, self, (PyObject *)Py_TYPE(self));
    Py_DECREF(what);
    return value;
}

__attribute__((noinline)) static PyObject *searched(PyObject *self, PyObject *name) {
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value && PyUnicode_CHECK_INTERNED(name))
        remember_attribute(((SharedObject *)self)->state, Py_TYPE(self), name);
    return value;
}

/* The value of a property whose getter is compiled, without what CPython does around a call of any callable. */
static PyObject *of_property(const AttributeEntry *entry, PyObject *self) {
    PyObject *getter = *(PyObject **)((char *)entry->what + entry->offset);
    const ModState *state = ((SharedObject *)self)->state;
    bool compiled = getter && Py_IS_TYPE(getter, state->dispatcher_type);
    return compiled ? py_call_getter(getter, self) : described(entry, self);
}

/* What is common ends in calls of others' functions: it has no frame. */
static PyObject *instance_getattro(PyObject *self, PyObject *name) {
    const PyTypeObject *type = Py_TYPE(self);
    const SharedObject *s = (const SharedObject *)self;
    const AttributeEntry *entry = entry_of(s->state, type, name);
    if (QN_UNLIKELY(entry->name != name || entry->version != type->tp_version_tag))
        return searched(self, name);
    const char *at = (const char *)s->object + entry->offset;
    if (entry->kind == TY_f64 && s->object) return PyFloat_FromDouble(*(const double *)at);
    if (entry->kind == ENTRY_PROPERTY) return of_property(entry, self);
    if (entry->kind == TY_i64 && s->object) return PyLong_FromLongLong(*(const int64_t *)at);
    return described(entry, self);
}
#endif

static PyType_Slot instance_slots[] = {
    {Py_tp_doc, "What instances of classes with @jitclass are."},
#ifndef Py_GIL_DISABLED
    {Py_tp_getattro, instance_getattro},
#endif
    {0, NULL},
};

PyType_Spec py_instance_spec = {
    .name = "quern._quern.SharedInstance",
    .basicsize = sizeof(SharedObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = instance_slots,
};

/* -- the base ------------------------------------------------------------------------------------------------ */

static PyMethodDef shared_methods[] = {
    {"_become", shared_become, METH_VARARGS, NULL},
    {"_walk", (PyCFunction)(void (*)(void))py_walk, METH_FASTCALL, NULL},
    {"_walk_keys", py_walk_keys, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot shared_slots[] = {
    {Py_tp_doc, "An object that Python and compiled code share."},
    {Py_tp_new, shared_new},
    {Py_tp_dealloc, shared_dealloc},
    {Py_tp_members, shared_members},
    {Py_tp_getset, shared_getset},
    {Py_tp_methods, shared_methods},
    {0, NULL},
};

PyType_Spec py_shared_spec = {
    .name = "quern._quern.Shared",
    .basicsize = sizeof(SharedObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = shared_slots,
};
