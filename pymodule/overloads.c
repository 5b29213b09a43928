/* overloads.c - what libraries have implemented with quern.extending: the compiler's questions, put to quern/_overloads.py with
 * types as that describes them. */
#include "pymodule/state.h"

/* -- types as Python objects ------------------------------------------------------------------------ */

static PyObject *describe(PyResolver *r, const OverloadArg *arg);

static PyObject *describe_type(PyResolver *r, const Type *type) {
    return describe(r, &(OverloadArg){.type = type});
}

/* (word, types ...) */
static PyObject *describe_all(PyResolver *r, const char *word, PyObject *first,
                              const Type *const *types, const OverloadArg *items, int32_t n) {
    PyObject *all = PyTuple_New(2 + n), *name = PyUnicode_FromString(word);
    for (int32_t i = 0; all && i < n; i++) {
        PyObject *item = items ? describe(r, &items[i]) : describe_type(r, types[i]);
        if (!item) Py_CLEAR(all);
        if (all) PyTuple_SET_ITEM(all, 2 + i, item);
    }
    if (!all || !name) return Py_XDECREF(all), Py_XDECREF(name), NULL;
    PyTuple_SET_ITEM(all, 0, name);
    PyTuple_SET_ITEM(all, 1, Py_NewRef(first ? first : Py_None));
    return all;
}

static PyObject *text_object(PyResolver *r, const Type *type) {
    Str text = type_text(r->arena, type);
    return PyUnicode_FromStringAndSize(text.bytes, text.len);
}

static PyObject *describe_text(PyResolver *r, const char *word, const Type *type) {
    PyObject *text = text_object(r, type);
    PyObject *all = text ? describe_all(r, word, text, NULL, NULL, 0) : NULL;
    Py_XDECREF(text);
    return all;
}

static PyObject *describe_object(PyResolver *r, const Type *type) {
    const Binding *b = type->binding;
    if (b && b->kind == BIND_CONST && b->value && b->value->kind == CONST_STR)
        return describe_all(r, "str", NULL, NULL, NULL, 0);
    if (b && b->kind == BIND_TYPE && b->type) return describe_text(r, "dtype", b->type);
    if (b && b->handle) return describe_all(r, "object", b->handle, NULL, NULL, 0);
    return describe_text(r, "other", type);
}

static PyObject *describe_kind(PyResolver *r, const OverloadArg *arg) {
    const Type *type = arg->type;
    switch (type->kind) {
    case TY_TUPLE:
        if (type_is_random(type)) return describe_text(r, "other", type);
        return describe_all(r, "tuple", type->cls, type->items, arg->items, type->nitems);
    case TY_OPTIONAL: return describe_all(r, "optional", NULL, &type->element, NULL, 1);
    case TY_CLASS:
        if (type_is_instance(type)) return describe_all(r, "instance", type->cls, NULL, NULL, 0);
        return describe_all(r, type->shared ? "shared" : type_class_name((ClassId)type->bits),
                            type->shared ? r->state->shared_classes[type->bits] : NULL,
                            type->params, NULL, type->nparams);
    case TY_SLICE:
        return describe_all(r, type->bits & 4 ? "slice3" : "slice2", NULL, NULL, NULL, 0);
    case TY_RANGE: return describe_all(r, "range", NULL, &type->element, NULL, 1);
    case TY_MEMBER: return describe_all(r, "member", type->binding->handle, NULL, NULL, 0);
    case TY_OBJECT: return describe_object(r, type);
    case TY_ITER:
    case TY_CLOSURE: return describe_text(r, "other", type);
    default: return describe_text(r, "text", type);
    }
}

/* Of a constant. A new reference, or NULL without an exception: no literal type has it. */
static PyObject *literal_of(const OverloadArg *arg) {
    const ConstVal *value = arg->value;
    const Binding *object = arg->type->kind == TY_OBJECT ? arg->type->binding : NULL;
    if (object && object->kind == BIND_CONST) value = object->value;
    if (!value || arg->type->kind == TY_MEMBER) return NULL;
    if (value->kind == CONST_BOOL) return PyBool_FromLong(value->i != 0);
    if (value->kind == CONST_INT && !value->is_unsigned) return PyLong_FromLongLong(value->i);
    if (value->kind == CONST_STR)
        return PyUnicode_FromStringAndSize(value->str.bytes, value->str.len);
    return NULL;
}

static PyObject *describe(PyResolver *r, const OverloadArg *arg) {
    PyObject *plain = describe_kind(r, arg), *value = plain ? literal_of(arg) : NULL, *both = NULL;
    if (plain && !value) return PyErr_Occurred() ? Py_DECREF(plain), NULL : plain;
    if (plain) both = Py_BuildValue("(sOO)", "literal", value, plain);
    Py_XDECREF(plain);
    Py_XDECREF(value);
    return both;
}

/* -- the registry ------------------------------------------------------------------------------------ */

bool py_is_overloaded(PyResolver *r, PyObject *object) {
    PyObject *registry = r->state->overloads;
    if (!registry) return false;
    PyObject *found = py_call_method(registry, "knows", object);
    bool yes = found && PyObject_IsTrue(found) > 0;
    if (!found) py_forget_error();
    Py_XDECREF(found);
    return yes;
}

static bool resolve_overloads(void *user, OverloadKind kind, Str name) {
    static const char *const sets[] = {"functions", "attributes", "methods", "methods"};
    PyResolver *r = user;
    if (!r->state->overloads) return false;
    PyObject *set;
    py_get_optional(r->state->overloads, sets[kind], &set);
    PyObject *key = set ? PyUnicode_FromStringAndSize(name.bytes, name.len) : NULL;
    bool yes = key && PyDict_Check(set) && PyDict_Contains(set, key) > 0;
    if (PyErr_Occurred()) py_forget_error();
    Py_XDECREF(key);
    Py_XDECREF(set);
    return yes;
}

static PyObject *descriptions(PyResolver *r, const OverloadQuery *q, int32_t first, int32_t n) {
    PyObject *all = PyTuple_New(n);
    for (int32_t i = 0; all && i < n; i++) {
        PyObject *item = describe(r, &q->args[first + i]);
        if (!item) Py_CLEAR(all);
        if (all) PyTuple_SET_ITEM(all, i, item);
    }
    return all;
}

static PyObject *keyword_names(const OverloadQuery *q) {
    PyObject *all = PyTuple_New(q->nkeywords);
    for (int32_t i = 0; all && i < q->nkeywords; i++) {
        PyObject *name = PyUnicode_FromStringAndSize(q->names[i].bytes, q->names[i].len);
        if (!name) Py_CLEAR(all);
        if (all) PyTuple_SET_ITEM(all, i, name);
    }
    return all;
}

/* What the registry says: an implementation and how it was chosen, or None and the reasons. */
static const Overload *answer(PyResolver *r, const OverloadQuery *q, PyObject *question,
                              PyObject *told) {
    Overload *out = arena_new(r->arena, Overload);
    PyObject *function, *reasons;
    int literals, asked;
    if (!PyArg_ParseTuple(told, "OpUp", &function, &literals, &reasons, &asked) ||
        !py_str(r->arena, reasons, &out->reasons))
        return NULL;
    out->literals = literals != 0;
    out->found = function == Py_True;
    if (!asked) return out;
    Str path = py_question_path(r, question, out->literals);
    if (!path.len) path = str_printf(r->arena, "overload of " STR_FMT, STR_ARG(q->name));
    const Binding *made = py_bind(r, function, path);
    if (!made) return NULL;
    py_log_dependency(r, DEP_GLOBAL, path, made);
    if (q->kind != OVERLOAD_HAS_METHOD && function != Py_None) out->function = made;
    return out;
}

/* (kind, object or name, descriptions of arguments, keywords, descriptions of theirs, target). */
static PyObject *question_of(PyResolver *r, const OverloadQuery *q) {
    static const char *const kinds[] = {"call", "attribute", "method", "has_method"};
    int32_t positional = q->nargs - q->nkeywords;
    PyObject *args = descriptions(r, q, 0, positional);
    PyObject *more = args ? descriptions(r, q, positional, q->nkeywords) : NULL;
    PyObject *names = more ? keyword_names(q) : NULL;
    PyObject *name = names ? PyUnicode_FromStringAndSize(q->name.bytes, q->name.len) : NULL;
    PyObject *callee = q->callee ? q->callee->handle : name, *question = NULL;
    if (name)
        question = Py_BuildValue("(sOOOOs)", kinds[q->kind], callee, args, names, more,
                                 r->options.kernel ? "cuda" : "cpu");
    Py_XDECREF(args);
    Py_XDECREF(more);
    Py_XDECREF(names);
    Py_XDECREF(name);
    return question;
}

static PyObject *ask(PyResolver *r, PyObject *question) {
    PyObject *registry = r->state->overloads;
    PyObject *method = registry ? PyObject_GetAttrString(registry, "ask") : NULL;
    PyObject *told = method ? PyObject_CallObject(method, question) : NULL;
    Py_XDECREF(method);
    return told;
}

static const Overload *resolve_overload(void *user, const OverloadQuery *q) {
    PyResolver *r = user;
    PyObject *question = question_of(r, q), *told = question ? ask(r, question) : NULL;
    const Overload *out = told ? answer(r, q, question, told) : NULL;
    Py_XDECREF(question);
    Py_XDECREF(told);
    return out;
}

const Binding *py_overload_at(PyResolver *r, Str path, ObjectAt *object, void *user) {
    PyObject *function, *reasons;
    int by_value, asked;
    bool literals;
    PyObject *question = py_question_at(r, path, object, user, &literals);
    PyObject *told = question ? ask(r, question) : NULL;
    bool same = told && PyArg_ParseTuple(told, "OpUp", &function, &by_value, &reasons, &asked) &&
                asked && (by_value != 0) == literals;
    const Binding *b = same ? py_bind(r, function, path) : NULL;
    Py_XDECREF(question);
    Py_XDECREF(told);
    return b;
}

static int64_t count(const ModState *state) {
    PyObject *number = NULL;
    if (state->overloads) py_get_optional(state->overloads, "count", &number);
    int64_t n = number ? PyLong_AsLongLong(number) : 0;
    if (PyErr_Occurred()) py_forget_error();
    Py_XDECREF(number);
    return n;
}

void py_overloads_init(PyResolver *r) {
    r->base.noverloads = count(r->state);
    r->base.overloads = resolve_overloads;
    r->base.overload = resolve_overload;
}
