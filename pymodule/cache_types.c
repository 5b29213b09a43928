/* cache_types.c - types in entries of the disk cache: in their keys, and that of a result.
 *
 * What a type says of the program's classes is said by the path of the class and a digest of what it is: the fields of a named tuple with
 * their defaults, the members of an enumeration with their numbers. Methods, and values of members, are asked for, and so stand in the
 * log. */
#include "pymodule/cache.h"

static bool is_one_member(const Type *t) {
    return t->kind == TY_OBJECT && t->binding->kind == BIND_MEMBER;
}

/* The class of a named tuple, of a frozen dataclass, of an enumeration or of instances of a @jitclass; NULL: of none of these. */
static PyTypeObject *class_of(const Type *t) {
    if (type_is_instance(t)) return t->cls;
    if (t->kind == TY_MEMBER) return t->binding->handle;
    if (is_one_member(t)) return t->binding->cls->handle;
    return t->kind == TY_TUPLE ? t->cls : NULL;
}

/* Elements of structured arrays, and of arrays of text: `cls` is their dtype. */
static bool is_record(const Type *t) {
    return t->kind == TY_RECORD && t->cls;
}

/* A function, or a constant, that is a type of its own: as an argument it is there again (path "a:0"), and its digest part of the key. */
static bool is_argument(const Type *t) {
    if (t->kind != TY_OBJECT || t->cls || t->function || !t->binding) return false;
    switch (t->binding->kind) {
    case BIND_FUNCTION:
    case BIND_CONST:
    case BIND_NUMPY:
    case BIND_LIBRARY:
    case BIND_PARTIAL:
    case BIND_TYPE:
    case BIND_OVERLOADED:
    case BIND_FOREIGN: return true;
    default: return false;
    }
}

/* A type names an object of this process, which no path leads to. The digest of a @jitclass has its fields, which may name itself. */
static bool is_personal(const Type *t) {
    if (is_argument(t) || type_is_instance(t)) return false;
    if (class_of(t)) {
        for (int32_t i = 0; i < t->nitems; i++)
            if (is_personal(t->items[i])) return true;
        return false;
    }
    if ((t->cls && !is_record(t)) || t->binding || t->function) return true;
    bool found = t->element && is_personal(t->element);
    for (int32_t i = 0; i < t->nitems && !found && t->kind != TY_CLASS; i++)
        found = is_personal(t->items[i]);
    for (int32_t i = 0; i < t->nparams && !found; i++)
        found = is_personal(t->params[i]);
    return found;
}

static bool has_class(const Type *t) {
    bool found =
        class_of(t) || is_record(t) || is_argument(t) || (t->element && has_class(t->element));
    for (int32_t i = 0; i < t->nitems && !found && t->kind != TY_CLASS; i++)
        found = has_class(t->items[i]);
    for (int32_t i = 0; i < t->nparams && !found; i++)
        found = has_class(t->params[i]);
    return found;
}

static Str ir_text(Arena *arena, const Type *type) {
    StrBuf text;
    buf_init(&text, arena);
    type_print(&text, type);
    return buf_take(&text);
}

Str py_dtype_path(PyResolver *r, PyObject *dtype) {
    PyObject *shown = PyObject_Repr(dtype);
    Str text = {0};
    if (shown && py_str(r->arena, shown, &text))
        text = str_printf(r->arena, "d:" STR_FMT, STR_ARG(text));
    Py_XDECREF(shown);
    return text;
}

void *py_dtype_at(PyResolver *r, Str path) {
    for (int k = FIRST_RECORD; k < MOST_ELEMENTS && r->state->descrs[k]; k++)
        if (str_equal(py_dtype_path(r, (PyObject *)r->state->descrs[k]), path))
            return r->state->descrs[k];
    return NULL;
}

/* The classes and dtypes in a type, in their order. false: one has no path. */
static bool hash_classes(PyResolver *r, Hasher *h, const Type *t) {
    if (is_record(t)) { /* fields have none but what the dtype says */
        Str path = py_dtype_path(r, t->cls);
        py_hash_str(h, path);
        return path.len ? true : (py_forget_error(), false);
    }
    if (is_argument(t)) {
        hash_u64(h, t->binding->kind);
        hash_update(h, &t->binding->digest, sizeof t->binding->digest);
        MapValue *path =
            map_find(&r->paths, map_key(t->binding)); /* is it an argument in front of this one? */
        if (path) py_hash_str(h, *(const Str *)path->ptr);
        return true;
    }
    PyTypeObject *cls = class_of(t);
    if (cls) {
        Str path = py_class_path(r, (PyObject *)cls);
        const Binding *b = path.len ? py_enumeration(r, cls) : NULL;
        if (!b) return py_forget_error(), false;
        py_hash_str(h, path);
        hash_update(h, &b->digest, sizeof b->digest);
        if (is_one_member(t)) hash_update(h, &t->binding->digest, sizeof t->binding->digest);
        if (type_is_instance(t)) return true;
        for (int32_t i = 0; i < t->nitems && t->fields; i++)
            py_hash_str(h, t->fields[i]);
    }
    bool ok = !t->element || hash_classes(r, h, t->element);
    for (int32_t i = 0; i < t->nitems && ok && t->kind != TY_CLASS; i++)
        ok = hash_classes(r, h, t->items[i]);
    for (int32_t i = 0; i < t->nparams && ok; i++)
        ok = hash_classes(r, h, t->params[i]);
    return ok;
}

bool py_cache_hash_type(PyResolver *r, Hasher *h, const Type *type) {
    if (type && is_personal(type)) return false;
    py_hash_str(h, type ? ir_text(r->arena, type) : STR(""));
    return !type || !has_class(type) || hash_classes(r, h, type);
}

/* -- of a result -------------------------------------------------------------------------------------- */

enum {
    OF_TEXT,
    OF_TUPLE,
    OF_CLASS,
    OF_MEMBERS,
    OF_ONE_MEMBER,
    OF_OPTIONAL,
    OF_RECORDS,
    OF_ONE_RECORD,
    OF_CONTAINER,
    OF_INSTANCE,
    OF_OTHERS,
    MOST_NESTED = 64
};

typedef struct TypeCode {
    Codec *c;
    PyResolver *r;
    const StoreNames *names;
} TypeCode;

static const Type *code_type(const TypeCode *t, const Type *type, int depth);

static uint8_t form_of(const Type *type) {
    if (!has_class(type)) return OF_TEXT;
    if (type->kind == TY_MEMBER) return OF_MEMBERS;
    if (is_one_member(type)) return OF_ONE_MEMBER;
    if (type->kind == TY_TUPLE) return type->cls ? OF_CLASS : OF_TUPLE;
    if (type->kind == TY_ARRAY) return OF_RECORDS;
    if (is_record(type)) return OF_ONE_RECORD;
    if (type_is_instance(type)) return OF_INSTANCE;
    if (type->kind == TY_CLASS && !type->variant) return OF_CONTAINER;
    return type->kind == TY_OPTIONAL ? OF_OPTIONAL : OF_OTHERS;
}

/* A record: its dtype. */
static const Type *code_record(const TypeCode *t, const Type *type) {
    Str path = t->c->out ? py_dtype_path(t->r, type->cls) : (Str){0};
    code_str(t->c, &path);
    if (t->c->out && !path.len) code_fail(t->c, "the dtype of its result has no text");
    if (t->c->out || t->c->why) return type;
    PyArray_Descr *dtype = py_dtype_at(t->r, path);
    int kind = dtype ? py_kind_of_descr(t->r->state, dtype) : -1;
    type = kind < 0 ? NULL : py_element_type(t->r->state, t->r->types, t->r->arena, kind);
    if (!type) code_fail(t->c, "the dtype of its result is not known");
    return type;
}

/* An array of records. */
static const Type *code_records(const TypeCode *t, const Type *type) {
    Type shape = t->c->out ? *type : (Type){.kind = TY_ARRAY};
    shape.element = code_record(t, shape.element);
    code_u8(t->c, &shape.ndim);
    code_u8(t->c, &shape.layout);
    code_bool(t->c, &shape.readonly);
    code_bool(t->c, &shape.aligned);
    if (shape.ndim > MAX_DIMS) code_fail(t->c, "an array of its result has too many axes");
    if (t->c->out || t->c->why) return type;
    return type_array_like(t->r->types, &shape, shape.ndim, shape.layout);
}

/* A list, a dict ... whose elements no text says. */
static const Type *code_container(const TypeCode *t, const Type *type, int depth) {
    int32_t n = t->c->out ? type->nparams : 0;
    uint32_t id = t->c->out ? type->bits : 0;
    bool shared = t->c->out && type->shared;
    code_u32(t->c, &id);
    code_bool(t->c, &shared);
    const Type **params = code_items(t->c, t->c->out ? type->params : NULL, &n, sizeof *params);
    for (int32_t i = 0; i < n && !t->c->why; i++)
        params[i] = code_type(t, params[i], depth + 1);
    bool known = id < CLS_COUNT && id != CLS_instance && n == type_class_nparams((ClassId)id);
    if (!known) code_fail(t->c, "its result is of an unknown type");
    if (t->c->out || t->c->why) return type;
    type = type_class_of(t->r->types, (ClassId)id, params);
    return shared ? type_shared(t->r->types, type) : type;
}

/* An instance of a @jitclass: the class is to be what it was. */
static const Type *code_instance(const TypeCode *t, const Type *type) {
    Str path = t->c->out ? py_class_path(t->r, type->cls) : (Str){0};
    code_str(t->c, &path);
    if (t->c->out && !path.len) code_fail(t->c, "its result is of a class without a path");
    const Binding *b = t->c->why   ? NULL
                       : t->c->out ? py_enumeration(t->r, type->cls)
                                   : py_class_at(t->r, path);
    Hash128 digest = b ? b->digest : (Hash128){0}, then = digest;
    code_hash(t->c, &then);
    bool same = b && b->type && type_is_instance(b->type) && hash_equal(then, digest);
    if (!same) code_fail(t->c, "the class of its result is not what it was");
    return t->c->why ? NULL : b->type;
}

static const Type *code_text(const TypeCode *t, const Type *type) {
    Str text = t->c->out ? ir_text(t->r->arena, type) : (Str){0};
    code_str(t->c, &text);
    if (t->c->out || t->c->why) return type;
    const char *at = text.bytes;
    if (!(type = type_parse(t->r->types, &at))) code_fail(t->c, "its result is of an unknown type");
    return type;
}

/* Where a class, or a member, stands. `n`: see StoreNames.class_of. */
static const Binding *code_path(const TypeCode *t, void *object, int32_t n) {
    Str path = t->c->out ? t->names->path(t->names->user, object) : (Str){0};
    if (t->c->out && !path.len) code_fail(t->c, "its result is of a class without a path");
    code_str(t->c, &path);
    if (t->c->out || t->c->why) return NULL;
    void *found = t->names->class_of(t->names->user, path, n);
    MapValue *known = found ? map_find(&t->r->bindings, map_key(found)) : NULL;
    if (!known) code_fail(t->c, "the class of its result is not what it was");
    return known ? known->ptr : NULL;
}

static const Type *code_tuple(const TypeCode *t, const Type *type, bool classy, int depth) {
    int32_t n = t->c->out ? type->nitems : 0;
    const Type **items = code_items(t->c, t->c->out ? type->items : NULL, &n, sizeof *items);
    for (int32_t i = 0; i < n && !t->c->why; i++)
        items[i] = code_type(t, items[i], depth + 1);
    const Binding *b = classy ? code_path(t, t->c->out ? type->cls : NULL, n) : NULL;
    if (t->c->out || t->c->why) return type;
    if (!classy) return type_tuple(t->r->types, items, n);
    const Type *shape = b->type;
    return type_is_value(shape) ? type_value(t->r->types, items, n, shape->fields, b->handle)
                                : type_named_tuple(t->r->types, items, n, shape->fields, b->handle);
}

/* As store.h has it, for both directions. NULL only with c->why. */
static const Type *code_type(const TypeCode *t, const Type *type, int depth) {
    uint8_t form = t->c->out ? form_of(type) : OF_TEXT;
    if (depth > MOST_NESTED) code_fail(t->c, "a type is nested too deeply");
    code_u8(t->c, &form);
    if (t->c->why) return NULL;
    switch (form) {
    case OF_TUPLE:
    case OF_CLASS: return code_tuple(t, type, form == OF_CLASS, depth);
    case OF_MEMBERS: {
        const Binding *b = code_path(t, t->c->out ? class_of(type) : NULL, CLASS_MEMBERS);
        return b ? type_member(t->r->types, b) : type;
    }
    case OF_ONE_MEMBER: {
        const Binding *b = code_path(t, t->c->out ? type->binding->handle : NULL, CLASS_ONE_OBJECT);
        return b ? type_object(t->r->types, b) : type;
    }
    case OF_OPTIONAL: {
        const Type *inner = code_type(t, t->c->out ? type->element : NULL, depth + 1);
        return t->c->out || t->c->why ? type : type_optional(t->r->types, inner);
    }
    case OF_RECORDS: return code_records(t, type);
    case OF_ONE_RECORD: return code_record(t, type);
    case OF_CONTAINER: return code_container(t, type, depth);
    case OF_INSTANCE: return code_instance(t, type);
    case OF_OTHERS:
        code_fail(t->c,
                  "its result holds a function, or a container of another class than Python's own");
        return type;
    default: return code_text(t, type);
    }
}

bool py_cache_write_type(Codec *c, PyResolver *r, const StoreNames *names, const Type *type,
                         Str *bytes) {
    StrBuf out;
    buf_init(&out, r->arena);
    Codec inner = {.out = &out, .arena = r->arena};
    TypeCode t = {&inner, r, names};
    if (is_personal(type)) code_fail(c, "its result is of a class of the program's");
    if (!c->why) code_type(&t, type, 0);
    if (inner.why) code_fail(c, inner.why);
    *bytes = (Str){out.bytes, out.len};
    return !c->why;
}

const Type *py_cache_read_type(Codec *c, PyResolver *r, const StoreNames *names, Str bytes) {
    Codec inner = {.at = bytes.bytes, .end = bytes.bytes + bytes.len, .arena = r->arena};
    TypeCode t = {&inner, r, names};
    const Type *type = c->why ? NULL : code_type(&t, NULL, 0);
    if (inner.why) code_fail(c, inner.why);
    return c->why ? NULL : type;
}
