/* digest.c - what things mean, as hashes: the answers of the resolver that a later process is asked again. */
#include "pymodule/state.h"

Hash128 py_digest_text(BindKind kind, Str text) {
    Hasher h;
    hash_init(&h);
    hash_u64(&h, kind);
    hash_update(&h, text.bytes, (size_t)text.len);
    return hash_final(&h);
}

void py_hash_str(Hasher *h, Str s) {
    hash_u64(h, (uint64_t)s.len);
    if (s.len) hash_update(h, s.bytes, (size_t)s.len);
}

void py_digest_keywords(Binding *b) {
    Hasher h;
    hash_init(&h);
    hash_update(&h, &b->digest, sizeof b->digest);
    for (int32_t i = 0; i < b->nitems; i++)
        py_hash_str(&h, b->names[i]);
    b->digest = hash_final(&h);
}

void py_hash_const(Hasher *h, const ConstVal *c) {
    hash_u64(h, (uint64_t)c->kind << 1 | c->is_unsigned);
    hash_u64(h, (uint64_t)c->i);
    hash_update(h, &c->re, sizeof c->re);
    hash_update(h, &c->im, sizeof c->im);
    py_hash_str(h, c->str);
    for (int32_t i = 0; i < c->nitems; i++)
        py_hash_const(h, c->items[i]);
}

void py_hash_elements(Hasher *h, PyArrayObject *array, int axis, const char *at) {
    npy_intp n = PyArray_DIM(array, axis), step = PyArray_STRIDE(array, axis);
    npy_intp size = PyArray_ITEMSIZE(array);
    char buffer[4096];
    size_t used = 0;
    for (npy_intp i = 0; i < n; i++, at += step) {
        if (axis < PyArray_NDIM(array) - 1) {
            py_hash_elements(h, array, axis + 1, at);
            continue;
        }
        if (used + (size_t)size > sizeof buffer) {
            hash_update(h, buffer, used);
            used = 0;
        }
        memcpy(buffer + used, at, (size_t)size);
        used += (size_t)size;
    }
    if (used) hash_update(h, buffer, used);
}

PyObject *py_code_of(PyObject *function) {
    return PyCode_Check(function) ? function : PyFunction_GetCode(function);
}

/* -- objects that two paths lead to -------------------------------------------------------------- */

/* What is asked of, or looked at by its identity. Of others the digest says all. */
static bool is_asked(const Binding *b) {
    bool classy =
        b->kind == BIND_TYPE && b->type && (type_is_instance(b->type) || b->type->kind == TY_TUPLE);
    return b->handle &&
           (b->kind == BIND_FUNCTION || b->kind == BIND_PARTIAL || b->kind == BIND_FOREIGN ||
            b->kind == BIND_INSTANCE || b->kind == BIND_OVERLOADED || classy);
}

void py_log_alias(PyResolver *r, Str path, const Binding *b) {
    const MapValue *known = is_asked(b) ? map_find(&r->paths, map_key(b)) : NULL;
    Str first = known ? *(const Str *)known->ptr : path;
    if (str_equal(first, path) || first.len < 2 || first.bytes[1] != ':') return;
    Dependency same = {
        DEP_SAME, str_printf(r->arena, STR_FMT "=" STR_FMT, STR_ARG(path), STR_ARG(first)), {0, 0}};
    vec_push(r->arena, &r->base.log, same);
}

/* -- functions ------------------------------------------------------------------------------------ */

static bool hash_constants(PyResolver *r, Hasher *h, PyObject *constants);

static bool hash_code(PyResolver *r, Hasher *h, PyCodeObject *code) {
    PyObject *bytes = PyCode_GetCode(code);
    if (!bytes) return false;
    hash_u64(h, (uint64_t)code->co_firstlineno);
    hash_u64(h, (uint64_t)code->co_flags);
    PyObject *parts[] = {bytes,
                         code->co_exceptiontable,
                         code->co_linetable,
                         code->co_localspluskinds,
                         code->co_localsplusnames,
                         code->co_names,
                         code->co_filename,
                         code->co_qualname};
    bool ok = true;
    for (int i = 0; i < countof(parts) && ok; i++) {
        const ConstVal *c = NULL;
        if (PyBytes_Check(parts[i])) {
            hash_u64(h, (uint64_t)PyBytes_GET_SIZE(parts[i]));
            hash_update(h, PyBytes_AS_STRING(parts[i]), (size_t)PyBytes_GET_SIZE(parts[i]));
        } else if ((ok = (c = py_const(r->arena, parts[i], r->keep)) != NULL)) {
            py_hash_const(h, c);
        }
    }
    Py_DECREF(bytes);
    return ok && hash_constants(r, h, code->co_consts);
}

/* Code of functions inside, too, which a constant alone does not say. */
static bool hash_constants(PyResolver *r, Hasher *h, PyObject *constants) {
    const ConstVal *c = py_const(r->arena, constants, r->keep);
    if (!c) return false;
    py_hash_const(h, c);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++) {
        PyObject *constant = PyTuple_GET_ITEM(constants, i);
        if (PyCode_Check(constant) && !hash_code(r, h, (PyCodeObject *)constant)) return false;
    }
    return true;
}

bool py_digest_function(PyResolver *r, PyObject *function, Hash128 *out) {
    Hasher h;
    hash_init(&h);
    if (!hash_code(r, &h, (PyCodeObject *)py_code_of(function))) return false;
    *out = hash_final(&h);
    return true;
}

/* -- classes --------------------------------------------------------------------------------------- */

static bool hash_attribute(Hasher *h, PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    Py_ssize_t n = 0;
    const char *text = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &n) : NULL;
    hash_u64(h, (uint64_t)n);
    if (text) hash_update(h, text, (size_t)n);
    Py_XDECREF(value);
    if (!text && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s of a class is no text", name);
    return text != NULL;
}

bool py_digest_exception(PyObject *cls, Binding *b) {
    Hasher h;
    hash_init(&h);
    PyObject *bases = ((PyTypeObject *)cls)->tp_mro;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++) {
        PyObject *base = PyTuple_GET_ITEM(bases, i);
        if (!hash_attribute(&h, base, "__module__") || !hash_attribute(&h, base, "__qualname__"))
            return false;
    }
    b->digest = hash_final(&h);
    b->builtin = py_is_builtin_exception(cls, b->name.bytes);
    return true;
}

/* The fields of classes, and of the classes that these name. */
static void hash_fields(PyResolver *r, Hasher *h, const Type *t, Map *seen) {
    if (map_find(seen, map_key(t))) return;
    map_put(seen, map_key(t))->num = 1;
    bool instance = type_is_instance(t);
    for (int32_t i = 0; i < t->nitems && instance; i++) {
        py_hash_str(h, t->fields[i]);
        py_hash_str(h, py_type_text(r, t->declared[i]));
        hash_fields(r, h, t->declared[i], seen);
    }
    if (t->element) hash_fields(r, h, t->element, seen);
    for (int32_t i = 0; i < t->nitems && !instance && t->items; i++)
        hash_fields(r, h, t->items[i], seen);
    for (int32_t i = 0; i < t->nparams; i++)
        hash_fields(r, h, t->params[i], seen);
}

void py_digest_instances(PyResolver *r, Binding *b) {
    Hasher h;
    Map seen;
    map_init(&seen, r->arena);
    hash_init(&h);
    hash_update(&h, &b->digest, sizeof b->digest);
    hash_fields(r, &h, b->type, &seen);
    b->digest = hash_final(&h);
}

void py_hash_enumeration(const EnumClass *enumeration, Hash128 *digest) {
    Hasher h;
    hash_init(&h);
    hash_update(&h, digest, sizeof *digest);
    hash_u64(&h, (uint64_t)enumeration->ints << 1 | enumeration->plain);
    hash_u64(&h, (uint64_t)enumeration->by_value);
    py_hash_str(&h, enumeration->qualified);
    for (int32_t i = 0; i < enumeration->n; i++) {
        hash_u64(&h, (uint64_t)enumeration->numbers[i]);
        py_hash_str(&h, enumeration->names[i]);
    }
    hash_update(&h, enumeration->order, sizeof *enumeration->order * (size_t)enumeration->norder);
    *digest = hash_final(&h);
}
