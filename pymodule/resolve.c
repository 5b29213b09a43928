/* resolve.c - the compiler's questions about Python, answered from live objects (frontend/resolver.h).
 *
 * Runs with the GIL. What an object is decides who it is, not what it is called: `range` shadowed by a
 * user's global is the user's. A library function is known by its own module and name, confirmed by
 * identity where the module can be asked. Every answer is logged with a digest of its meaning. */
#include "pymodule/state.h"
#include "pymodule/dispatch.h"

void py_resolver_close(PyResolver *r) {
    Py_CLEAR(r->keep);
    Py_CLEAR(r->held);
    Py_CLEAR(r->links);
}

/* -- making bindings ---------------------------------------------------------------------------- */

bool py_bind_name(PyResolver *r, Binding *b, BindKind kind, const char *name) {
    b->kind = kind;
    b->name = str_copy(r->arena, name, strlen(name));
    b->digest = py_digest_text(kind, b->name);
    return true;
}

static bool bind_const(PyResolver *r, Binding *b, PyObject *object) {
    b->kind = BIND_CONST;
    if (!(b->value = py_const(r->arena, object, r->keep))) return false;
    Hasher h;
    hash_init(&h);
    hash_u64(&h, BIND_CONST);
    py_hash_const(&h, b->value);
    b->digest = hash_final(&h);
    return true;
}

/* A NumPy scalar: strong, its value as a constant. */
static bool bind_numpy_scalar(PyResolver *r, Binding *b, PyObject *object, int kind) {
    PyObject *plain = PyObject_CallMethod(object, "item", NULL);
    if (!plain) return false;
    bool ok = bind_const(r, b, plain);
    Py_DECREF(plain);
    b->kind = BIND_NUMPY;
    b->type = type_scalar(r->types, (TypeKind)kind);
    b->digest.lo ^= hash_mix((uint64_t)kind + 1);
    return ok;
}

static bool bind_type(PyResolver *r, Binding *b, const Type *type) {
    b->kind = BIND_TYPE;
    b->type = type;
    b->name = type_text(r->arena, type);
    b->digest = py_digest_text(BIND_TYPE, py_type_text(r, type));
    return true;
}

/* A quern.types object: its name is a type expression, or None where values of it cannot be compiled. */
static bool is_type(const PyResolver *r, PyObject *object) {
    PyTypeObject *types = (PyTypeObject *)r->state->type_class;
    return types && PyObject_TypeCheck(object, types);
}

static bool bind_quern_type(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *name = PyObject_GetAttr(object, r->state->str_quern_name);
    if (!name) return false;
    if (name == Py_None) {
        Py_DECREF(name);
        PyObject *instances; /* of the type of a class: T.instance_type */
        if (py_get_optional(object, "instance_type", &instances) < 0) return false;
        Py_XDECREF(instances);
        if (instances) return py_bind_name(r, b, BIND_MODULE, Py_TYPE(object)->tp_name);
        PyObject *shown = PyUnicode_FromFormat("the type %S", object);
        const char *label = shown ? PyUnicode_AsUTF8(shown) : NULL;
        bool ok = label && py_bind_name(r, b, BIND_UNBUILT, label);
        Py_XDECREF(shown);
        return ok;
    }
    const char *text = PyUnicode_AsUTF8(name);
    const Type *type =
        text ? ti_parse_type(r->types, r->arena, text, cg_diags(r->compilation)) : NULL;
    Py_DECREF(name);
    bool record = type && type->kind == TY_RECORD; /* as a dtype */
    if (type) type = py_written_type(r->state, r->types, r->arena, type);
    return type && bind_type(r, b, record ? type->element : type);
}

static bool all_const(PyObject *tuple, int depth) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *o = PyTuple_GET_ITEM(tuple, i);
        if (PyTuple_CheckExact(o)
                ? depth > MAX_NESTING || !all_const(o, depth + 1)
                : o != Py_None && o != Py_Ellipsis && !PyLong_CheckExact(o) && !PyBool_Check(o) &&
                      !PyFloat_CheckExact(o) && !PyComplex_CheckExact(o) &&
                      !PyUnicode_CheckExact(o) && !PyBytes_CheckExact(o))
            return false;
    }
    return true;
}

static Str path_of(PyResolver *r, const Binding *b) {
    MapValue *known = map_find(&r->paths, map_key(b));
    return known ? *(const Str *)known->ptr : STR("?");
}

/* The shape of a class made by collections.namedtuple or typing.NamedTuple: its fields, all of type
 * none, since the items decide. 1 yes, 0 no (or it makes its instances in its own way), -1 exception. */
static int named_type(PyResolver *r, PyObject *cls, const Type **out) {
    PyObject *fields = NULL, *maker = NULL, *home = NULL;
    int status = -1;
    if (!PyType_IsSubtype((PyTypeObject *)cls, &PyTuple_Type) ||
        ((PyTypeObject *)cls)->tp_init != PyTuple_Type.tp_init)
        return 0;
    if (py_get_optional(cls, "_fields", &fields) < 0 ||
        py_get_optional(cls, "__new__", &maker) < 0 ||
        (maker && py_get_optional(maker, "__module__", &home) < 0))
        goto done;
    const char *module = home && PyUnicode_Check(home) ? PyUnicode_AsUTF8(home) : "";
    if (!module) goto done;
    status = fields && PyTuple_Check(fields) && !strncmp(module, "namedtuple_", 11);
    Py_ssize_t n = status ? PyTuple_GET_SIZE(fields) : 0;
    Str *names = arena_array(r->arena, Str, n);
    const Type **items = arena_array(r->arena, const Type *, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        items[i] = type_scalar(r->types, TY_none);
        if (!py_str(r->arena, PyTuple_GET_ITEM(fields, i), &names[i])) status = -1;
    }
    if (status > 0) *out = type_named_tuple(r->types, items, (int32_t)n, names, cls);
done:
    Py_XDECREF(fields);
    Py_XDECREF(maker);
    Py_XDECREF(home);
    return status;
}

#define TOO_DEEP "tuple, nested too deeply"

static bool bind_items(PyResolver *r, Binding *b, PyObject *tuple, Str path) {
    if (r->nesting > TYPE_MAX_DEPTH) return py_bind_name(r, b, BIND_OPAQUE, TOO_DEEP);
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    const Binding **items = arena_array(r->arena, const Binding *, n);
    Hasher h;
    hash_init(&h);
    hash_u64(&h, BIND_INSTANCE);
    r->nesting++;
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        items[i] = py_bind(r, PyTuple_GET_ITEM(tuple, i),
                           str_printf(r->arena, STR_FMT "[%zd]", STR_ARG(path), i));
        ok = items[i] != NULL;
        if (!ok) continue;
        hash_update(&h, &items[i]->digest, sizeof items[i]->digest);
        py_log_alias(r, str_printf(r->arena, STR_FMT "[%zd]", STR_ARG(path), i), items[i]);
    }
    r->nesting--;
    b->kind = BIND_INSTANCE;
    b->nitems = (int32_t)n;
    b->items = items;
    if (ok && !PyTuple_CheckExact(tuple) && named_type(r, (PyObject *)Py_TYPE(tuple), &b->type) < 0)
        return false;
    b->name = str_from(Py_TYPE(tuple)->tp_name);
    b->name = str_copy(r->arena, b->name.bytes, (size_t)b->name.len);
    b->digest = hash_final(&h);
    return ok;
}

/* -- functions ------------------------------------------------------------------------------------ */

/* The signatures that a device function is declared with. */
bool py_read_declared(PyResolver *r, Binding *b, PyObject *texts) {
    Py_ssize_t n = PyList_GET_SIZE(texts);
    Signature *declared = arena_array(r->arena, Signature, n + 1);
    Hasher h;
    hash_init(&h);
    hash_update(&h, &b->digest, sizeof b->digest);
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, i), &length);
        if (!text ||
            !ti_parse_signature(r->types, r->arena, text, &declared[i], cg_diags(r->compilation)) ||
            !py_written_signature(r->state, r->types, r->arena, &declared[i]))
            return false;
        hash_update(&h, text, (size_t)length + 1);
    }
    b->declared = declared;
    b->ndeclared = (int32_t)n;
    b->digest = hash_final(&h);
    return true;
}

bool py_bind_function(PyResolver *r, Binding *b, PyObject *function) {
    b->kind = BIND_FUNCTION;
    PyObject *name = PyCode_Check(function) ? ((PyCodeObject *)function)->co_name
                                            : ((PyFunctionObject *)function)->func_name;
    return py_str(r->arena, name, &b->name) && py_digest_function(r, function, &b->digest) &&
           py_digest_options(r, function, &b->digest);
}

/* -- library objects --------------------------------------------------------------------------------- */

static bool bind_intrinsic(PyResolver *r, Binding *b, PyObject *object, BindKind kind) {
    PyObject *name = PyObject_GetAttr(object, r->state->str_quern_name);
    if (!name) return false;
    const char *text = PyUnicode_AsUTF8(name);
    bool ok = text && py_bind_name(r, b, kind, text);
    Py_DECREF(name);
    return ok;
}

/* A class or an object of the package that stands for a library name, built or not.
 * 1 bound, 0 another object, -1 exception. */
static int bind_named_object(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *name;
    if (PyObject_GetOptionalAttr(object, r->state->str_quern_name, &name) < 0) return -1;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (text) py_bind_name(r, b, ti_is_known(str_from(text)) ? BIND_LIBRARY : BIND_UNBUILT, text);
    Py_XDECREF(name);
    return text ? 1 : PyErr_Occurred() ? -1 : 0;
}

static bool bind_module(PyResolver *r, Binding *b, PyObject *module) {
    const char *name = PyModule_GetName(module);
    if (!name) return false;
    return py_bind_name(r, b, BIND_MODULE, !strncmp(name, "quern.", 6) ? name + 6 : name);
}

/* -- classes --------------------------------------------------------------------------------------- */

/* Point, of `Point(x, y)`: the type has the fields, `items` the default of each, or NULL. */
static bool bind_fields(PyResolver *r, Binding *b, PyObject *defaults, const Type *type, Str path) {
    bool ok = bind_type(r, b, type);
    const Binding **items = arena_array(r->arena, const Binding *, type->nitems);
    Hasher h;
    hash_init(&h);
    hash_update(&h, &b->digest, sizeof b->digest);
    for (int32_t i = 0; ok && i < type->nitems; i++) {
        Str field = type->fields[i];
        PyObject *key = PyUnicode_FromStringAndSize(field.bytes, field.len);
        PyObject *value = key ? PyDict_GetItemWithError(defaults, key) : NULL;
        Py_XDECREF(key);
        if (!value) {
            ok = !PyErr_Occurred();
            continue;
        }
        items[i] = py_bind(
            r, value, str_printf(r->arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(field)));
        ok = items[i] != NULL;
        if (ok) hash_update(&h, &items[i]->digest, sizeof items[i]->digest);
    }
    b->nitems = type->nitems;
    b->items = items;
    b->digest = hash_final(&h);
    return ok;
}

static bool bind_named(PyResolver *r, Binding *b, PyObject *cls, const Type *type, Str path) {
    PyObject *defaults = PyObject_GetAttrString(cls, "_field_defaults");
    bool ok = defaults && PyDict_Check(defaults) && bind_fields(r, b, defaults, type, path);
    Py_XDECREF(defaults);
    return ok;
}

/* A frozen dataclass: its fields, all of type none. 1 yes, 0 no, -1 exception. */
static int value_type(PyResolver *r, PyObject *cls, const Type **out) {
    PyObject *fields;
    int status = py_value_fields(cls, &fields);
    if (status <= 0) return status;
    Py_ssize_t n = PyTuple_GET_SIZE(fields);
    Str *names = arena_array(r->arena, Str, n);
    const Type **items = arena_array(r->arena, const Type *, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        items[i] = type_scalar(r->types, TY_none);
        if (!py_str(r->arena, PyTuple_GET_ITEM(fields, i), &names[i])) status = -1;
    }
    Py_DECREF(fields);
    if (status > 0) *out = type_value(r->types, items, (int32_t)n, names, cls);
    return status;
}

/* An instance of one. 1 bound, 0 something else, -1 exception. */
static int bind_value(PyResolver *r, Binding *b, PyObject *object, Str path) {
    PyObject *fields;
    int status = py_value_fields((PyObject *)Py_TYPE(object), &fields);
    if (status <= 0) return status;
    PyObject *items = py_value_items(object, fields);
    bool ok = items && PyList_Append(r->keep, items) == 0 && bind_items(r, b, items, path);
    Py_XDECREF(items);
    Py_DECREF(fields);
    return ok ? value_type(r, (PyObject *)Py_TYPE(object), &b->type) : -1;
}

/* "class Model, a dataclass that is not frozen" */
static bool bind_opaque_class(PyResolver *r, Binding *b, PyObject *cls) {
    Str why = py_why_no_value(r->arena, cls);
    Str label =
        str_printf(r->arena, "class %s" STR_FMT, ((PyTypeObject *)cls)->tp_name, STR_ARG(why));
    return py_bind_name(r, b, BIND_OPAQUE, label.bytes);
}

/* A class of the program's that does nothing but hold what stands in it: Outer.Inner, Constants.N. */
static bool is_namespace(PyObject *cls) {
    PyTypeObject *type = (PyTypeObject *)cls;
    return Py_TYPE(cls) == &PyType_Type && type->tp_flags & Py_TPFLAGS_HEAPTYPE &&
           type->tp_base == &PyBaseObject_Type &&
           !PyObject_HasAttrString(cls, "__dataclass_params__");
}

/* The parameters of its __init__: the fields, behind which stand those that are given by name alone. */
static bool bind_parameters(PyResolver *r, Binding *b, PyObject *cls) {
    PyObject *keywords = py_value_keywords(cls);
    if (!keywords) return false;
    Py_ssize_t n = PyTuple_GET_SIZE(keywords), at = b->type->nitems - n;
    Str *names = arena_array(r->arena, Str, b->type->nitems);
    bool ok = true;
    for (Py_ssize_t k = 0; ok && k < n; k++)
        ok = py_str(r->arena, PyTuple_GET_ITEM(keywords, k), &names[at + k]);
    for (int32_t i = 0, to = 0; ok && i < b->type->nitems; i++) {
        Py_ssize_t k = 0;
        while (k < n && !str_equal(names[at + k], b->type->fields[i]))
            k++;
        if (k == n) names[to++] = b->type->fields[i];
    }
    Py_DECREF(keywords);
    if (!n || !ok) return ok;
    Hasher h;
    hash_init(&h);
    hash_update(&h, &b->digest, sizeof b->digest);
    for (Py_ssize_t k = 0; k < n; k++)
        hash_u64(&h, (uint64_t)type_field(b->type, names[at + k]));
    b->digest = hash_final(&h);
    b->names = names;
    b->number = n;
    return true;
}

/* The class as a callable, or as nothing but a name where it makes its instances in its own way. */
static bool bind_value_class(PyResolver *r, Binding *b, PyObject *cls, const Type *type, Str path) {
    PyObject *defaults = py_value_defaults(cls);
    bool made = defaults && defaults != Py_None;
    bool ok = made       ? bind_fields(r, b, defaults, type, path) && bind_parameters(r, b, cls)
              : defaults ? bind_opaque_class(r, b, cls)
                         : false;
    Py_XDECREF(defaults);
    return ok;
}

/* A class with @jitclass: its fields are what it means, its methods are asked for one by one. */
static bool bind_instance_class(PyResolver *r, Binding *b, PyObject *cls) {
    const Type *type = py_instance_type(r->state, r->types, r->arena, cls);
    if (!type) return false;
    bool ok = bind_type(r, b, type);
    if (ok) py_digest_instances(r, b);
    return ok;
}

static bool bind_class(PyResolver *r, Binding *b, PyObject *cls, Str path) {
    ModState *state = r->state;
    int kind = py_kind_of_scalar_type(state, (PyTypeObject *)cls);
    if (kind >= 0) return bind_type(r, b, type_scalar(r->types, (TypeKind)kind));
    if (PyExceptionClass_Check(cls)) {
        PyObject *name = PyObject_GetAttrString(cls, "__name__");
        bool ok = name && py_str(r->arena, name, &b->name);
        Py_XDECREF(name);
        b->kind = BIND_EXCEPTION;
        return ok && py_digest_exception(cls, b);
    }
    const Type *named = NULL;
    int found = named_type(r, cls, &named);
    if (found) return found > 0 && bind_named(r, b, cls, named, path);
    if ((found = value_type(r, cls, &named)))
        return found > 0 && bind_value_class(r, b, cls, named, path);
    if (state->instance_class &&
        PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)state->instance_class))
        return bind_instance_class(r, b, cls);
    if ((found = py_bind_library(r, b, cls))) return found > 0;
    if ((found = bind_named_object(r, b, cls))) return found > 0; /* prange */
    PyObject *members; /* an enumeration is a namespace */
    if (py_get_optional(cls, "_member_map_", &members) < 0) return false;
    if (!members && !is_namespace(cls)) return bind_opaque_class(r, b, cls);
    if (members && PyDict_Check(members))
        b->enumeration = py_enum_class(r->arena, (PyTypeObject *)cls);
    bool failed = members && PyDict_Check(members) && !b->enumeration;
    Py_XDECREF(members);
    if (failed) return false;
    const char *name = ((PyTypeObject *)cls)->tp_name;
    py_bind_name(r, b, BIND_MODULE, members ? name : str_printf(r->arena, "class %s", name).bytes);
    if (b->enumeration) py_hash_enumeration(b->enumeration, &b->digest);
    return true;
}

PyObject *py_function_of(ModState *state, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == state->dispatcher_type) return py_function_of_dispatcher(object);
    if (type == state->ufunc_type) return py_function_of_ufunc(object);
    if (type == state->kernel_type) return py_function_of_kernel(object);
    return NULL;
}

/* Signatures that bind calls from compiled code: a list of texts, or NULL. */
static PyObject *declared_of(PyResolver *r, PyObject *object) {
    ModState *state = r->state;
    PyTypeObject *type = Py_TYPE(object);
    if (type == state->dispatcher_type) /* what is being compiled may have more to come */
        return py_function_of(state, object) == r->entry ? NULL : py_declared_of_dispatcher(object);
    if (type == state->ufunc_type) return py_declared_of_ufunc(object);
    return type == state->kernel_type ? Py_XNewRef(py_declared_of_kernel(object)) : NULL;
}

/* -- any object ------------------------------------------------------------------------------------- */

/* The class of members or of values. It is not kept with the code: they keep it. */
const Binding *py_enumeration(PyResolver *r, PyTypeObject *cls) {
    MapValue *known = map_find(&r->bindings, map_key(cls));
    if (known) return known->ptr;
    if (PyList_Append(r->held, (PyObject *)cls) < 0) return NULL;
    Binding *b = arena_new(r->arena, Binding);
    b->handle = cls;
    Str *where = arena_new(r->arena, Str);
    *where = py_class_path(r, (PyObject *)cls);
    if (!where->len) *where = STR("?");
    if (!bind_class(r, b, (PyObject *)cls, *where)) return NULL;
    map_put(&r->bindings, map_key(cls))->ptr = b;
    map_put(&r->paths, map_key(b))->ptr = where;
    return b;
}

/* A member is known by its class and its name. */
static bool bind_member(PyResolver *r, Binding *b, PyObject *member) {
    PyObject *text = PyObject_Str(member);
    bool ok = text && py_str(r->arena, text, &b->name);
    Py_XDECREF(text);
    b->kind = BIND_MEMBER;
    b->cls = ok ? py_enumeration(r, Py_TYPE(member)) : NULL;
    ok = b->cls && py_member_number(b->cls->enumeration->ints, member, &b->number);
    if (ok) b->digest = py_digest_text(BIND_MEMBER, b->name);
    b->digest.hi ^= hash_mix((uint64_t)b->number + 1);
    return ok;
}

static bool is_enum_number(PyObject *object) {
    return PyLong_Check(object) || PyFloat_Check(object);
}

/* A function of an extension module that the tables do not know: "the function io.open". */
static bool bind_foreign(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *module = NULL, *name = NULL;
    bool ok = py_get_optional(object, "__module__", &module) >= 0 &&
              py_get_optional(object, "__qualname__", &name) >= 0;
    bool known = ok && name && PyUnicode_Check(name);
    const char *text = known ? PyUnicode_AsUTF8(name) : NULL;
    const char *home = known && module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : "";
    if (ok && text && home) {
        home += home[0] == '_';
        Str label = str_printf(r->arena, "the function %s%s%s", home, home[0] ? "." : "", text);
        ok = py_bind_name(r, b, BIND_OPAQUE, label.bytes);
    } else if (ok && !PyErr_Occurred()) {
        ok = py_bind_name(r, b, BIND_OPAQUE, Py_TYPE(object)->tp_name);
    } else {
        ok = false;
    }
    Py_XDECREF(module);
    Py_XDECREF(name);
    return ok;
}

static bool read_ufunc(Binding *b, PyObject *object) {
    PyObject *value = PyObject_GetAttrString(object, "identity");
    if (!value) return false;
    bool any = ((PyUFuncObject *)object)->identity == PyUFunc_ReorderableNone;
    bool number = PyLong_Check(value), one = number && PyObject_IsTrue(value) > 0;
    Py_DECREF(value);
    b->elementwise = true;
    b->identity = number ? one ? IDENTITY_ONE : IDENTITY_ZERO
                  : any  ? IDENTITY_ANY_ORDER
                         : IDENTITY_NONE;
    Hasher h;
    hash_init(&h);
    hash_update(&h, &b->digest, sizeof b->digest);
    hash_u64(&h, b->identity);
    b->digest = hash_final(&h);
    return true;
}

bool py_is_partial(PyObject *object) {
    return !strcmp(Py_TYPE(object)->tp_name, "functools.partial");
}

/* Point.origin, a class method: its function with the class as first argument. */
static bool is_class_method(PyObject *object) {
    return PyMethod_Check(object) && PyType_Check(PyMethod_GET_SELF(object)) &&
           PyFunction_Check(PyMethod_GET_FUNCTION(object));
}

/* functools.partial(f, 1, scale=2), or a class method: the function, then its arguments; `names` of each, empty where there is none. */
static bool bind_partial(PyResolver *r, Binding *b, PyObject *object, Str path) {
    PyObject *parts[3] = {NULL, NULL, NULL}, *all = NULL, *key, *value;
    Py_ssize_t at = 0;
    static const char *const names[] = {"func", "args", "keywords"};
    bool ok = true, method = is_class_method(object);
    if (method) {
        parts[0] = Py_NewRef(PyMethod_GET_FUNCTION(object));
        parts[1] = PyTuple_Pack(1, PyMethod_GET_SELF(object));
        parts[2] = PyDict_New();
        ok = parts[1] && parts[2];
    }
    for (int k = 0; k < 3 && !method; k++) {
        parts[k] = ok ? PyObject_GetAttrString(object, names[k]) : NULL;
        ok = ok && parts[k];
    }
    ok = ok && PyTuple_Check(parts[1]) && PyDict_Check(parts[2]);
    Py_ssize_t n = ok ? 1 + PyTuple_GET_SIZE(parts[1]) : 0, given = n;
    Str *keywords = arena_array(r->arena, Str, n + (ok ? PyDict_GET_SIZE(parts[2]) : 0));
    all = ok ? PyTuple_New(n + PyDict_GET_SIZE(parts[2])) : NULL;
    for (Py_ssize_t k = 0; all && k < given; k++)
        PyTuple_SET_ITEM(all, k, Py_NewRef(k ? PyTuple_GET_ITEM(parts[1], k - 1) : parts[0]));
    while (all && ok && PyDict_Next(parts[2], &at, &key, &value)) {
        PyTuple_SET_ITEM(all, n, Py_NewRef(value));
        ok = py_str(r->arena, key, &keywords[n++]);
    }
    ok = ok && all && bind_items(r, b, all, path);
    b->kind = BIND_PARTIAL;
    b->names = keywords;
    if (ok) py_digest_keywords(b);
    Py_XDECREF(all);
    for (int k = 0; k < 3; k++)
        Py_XDECREF(parts[k]);
    return ok;
}

static bool classify(PyResolver *r, Binding *b, PyObject *object, Str path) {
    ModState *state = r->state;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *function = PyFunction_Check(object) ? NULL : py_callee_of(r, object);
    if (!function && PyErr_Occurred()) return false;
    if (function) {
        b->handle = function; /* whatever wraps it */
        PyObject *declared = declared_of(r, object);
        bool bound = !PyErr_Occurred() && py_bind_function(r, b, function) &&
                     (!declared || py_read_declared(r, b, declared));
        Py_XDECREF(declared);
        return bound && (type != state->ufunc_type || read_ufunc(b, object));
    }
    if (PyModule_Check(object)) return bind_module(r, b, object);
    if (state->intrinsic_class && (PyObject *)type == state->intrinsic_class)
        return bind_intrinsic(r, b, object, BIND_LIBRARY);
    if (state->namespace_class && (PyObject *)type == state->namespace_class)
        return bind_intrinsic(r, b, object, BIND_MODULE);
    if (is_type(r, object)) return bind_quern_type(r, b, object);
    if (PyType_Check(object)) return bind_class(r, b, object, path);
    int kind = py_kind_of_scalar_type(state, type);
    if (kind >= 0) return bind_numpy_scalar(r, b, object, kind);
    if (py_is_time_scalar(object)) return py_bind_time(r, b, object);
    if (PyArray_CheckExact(object) || type == state->recarray_type)
        return py_bind_array(r, b, object);
    if (py_is_record(object)) return py_bind_record(r, b, object);
    if (PyArray_DescrCheck(object)) {
        PyArray_Descr *descr = (PyArray_Descr *)object;
        kind = py_kind_of_descr(state, descr);
        const Type *element = kind < 0 ? NULL : py_element_type(state, r->types, r->arena, kind);
        if (kind >= 0) return element && bind_type(r, b, element);
    }
    if (py_is_partial(object) || is_class_method(object)) return bind_partial(r, b, object, path);
    if (PyTuple_Check(object) && !(PyTuple_CheckExact(object) && all_const(object, 0)))
        return bind_items(r, b, object, path);
    if (object == Py_None || object == Py_Ellipsis || PyTuple_CheckExact(object) ||
        PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PySlice_Check(object) ||
        PyComplex_CheckExact(object) || (is_enum_number(object) && !py_is_int_member(object)))
        return bind_const(r, b, object);
    int value = bind_value(r, b, object, path);
    if (value) return value > 0;
    int member = py_is_enum_member(object);
    if (member) return member > 0 && bind_member(r, b, object);
    int found = py_bind_library(r, b, object);
    if (found) return found > 0;
    if (PyFunction_Check(object) && (found = bind_named_object(r, b, object))) return found > 0;
    if (PyFunction_Check(object))
        return (b->handle = py_callee_of(r, object)) && py_bind_function(r, b, object);
    if (PyCFunction_Check(object)) return bind_foreign(r, b, object);
    if ((found = bind_named_object(r, b, object))) return found > 0;
    if ((found = py_bind_of_c(r, b, object))) return found > 0;
    if (py_is_ffi(object)) return py_bind_name(r, b, BIND_MODULE, "cffi.FFI");
    if ((found = py_bind_declared(r, b, object))) return found > 0;
    if ((found = py_bind_wrapped(r, b, object))) return found > 0;
    if ((found = py_bind_device_array(r, b, object, path))) return found > 0;
    return py_bind_name(r, b, BIND_OPAQUE, type->tp_name);
}

/* Functions that the library of ours knows stay what they are: it asks for overloads by their names. */
static bool known_by_overloads(PyResolver *r, Binding *b, PyObject *object) {
    bool other = b->kind == BIND_FUNCTION || b->kind == BIND_OPAQUE || b->kind == BIND_UNBUILT;
    if (!other || !py_is_overloaded(r, object)) return true;
    PyObject *name = NULL;
    b->kind = BIND_OVERLOADED;
    bool ok = py_get_optional(object, "__name__", &name) >= 0 &&
              (!name || !PyUnicode_Check(name) || py_str(r->arena, name, &b->name));
    Py_XDECREF(name);
    return ok;
}

const Binding *py_bind(PyResolver *r, PyObject *object, Str path) {
    PyObject *given = object, *ufunc = Py_TYPE(object) == r->state->ufunc_type ? object : NULL;
    if (ufunc && !(object = py_ufunc_stand_in(ufunc))) return NULL;
    MapValue *known = map_find(&r->bindings, map_key(object));
    if (known) return known->ptr;
    if (PyList_Append(r->keep, object) < 0) return NULL;
    Binding *b = arena_new(r->arena, Binding);
    b->handle = object;
    b->object = given;
    if (!classify(r, b, object, path) || !known_by_overloads(r, b, object)) return NULL;
    b->stand_in = ufunc && ufunc != object;
    map_put(&r->bindings, map_key(object))->ptr = b;
    Str *where = arena_new(r->arena, Str);
    *where = path;
    map_put(&r->paths, map_key(b))->ptr = where;
    return b;
}

/* -- the table --------------------------------------------------------------------------------------- */

static const Binding *missing(PyResolver *r) {
    Binding *b = arena_new(r->arena, Binding);
    b->kind = BIND_MISSING;
    return b;
}

static const Binding *logged(PyResolver *r, DependencyKind kind, Str path, const Binding *b) {
    if (!b) return NULL;
    Dependency d = {kind, path, b->digest};
    vec_push(r->arena, &r->base.log, d);
    if (kind != DEP_CODE) py_log_alias(r, path, b);
    return b;
}

void py_log_dependency(PyResolver *r, DependencyKind kind, Str path, const Binding *b) {
    logged(r, kind, path, b);
}

static Str function_path(PyResolver *r, Handle function) {
    MapValue *known = map_find(&r->codes, map_key(function));
    return known ? *(const Str *)known->ptr : STR("");
}

static Str path_under(PyResolver *r, Handle function, const char *kind, Str name) {
    Str base = function_path(r, function);
    return str_printf(r->arena, STR_FMT "%s%s" STR_FMT, STR_ARG(base), base.len ? "/" : "", kind,
                      STR_ARG(name));
}

static PyObject *globals_of(PyResolver *r, Handle function) {
    PyObject *object = function && PyFunction_Check((PyObject *)function) ? function : r->entry;
    return PyFunction_GetGlobals(object);
}

/* What `dict` has of that name, or else `rest`, where it is not NULL. */
static const Binding *lookup(PyResolver *r, PyObject *dict, PyObject *rest, DependencyKind kind,
                             Str path, Str name) {
    PyObject *key = PyUnicode_FromStringAndSize(name.bytes, name.len), *value = NULL;
    if (!key) return NULL;
    int found = PyDict_GetItemRef(dict, key, &value);
    if (!found && rest) found = PyDict_GetItemRef(rest, key, &value);
    Py_DECREF(key);
    if (found < 0) return NULL;
    const Binding *b = found ? py_bind(r, value, path) : missing(r);
    Py_XDECREF(value);
    return logged(r, kind, path, b);
}

/* A function that calls itself and is compiled while it is decorated: its name is not bound yet. */
static bool names_entry(const PyResolver *r, Str name) {
    Py_ssize_t len;
    if (!PyFunction_Check(r->entry)) return false;
    const char *own = PyUnicode_AsUTF8AndSize(((PyFunctionObject *)r->entry)->func_name, &len);
    if (!own) PyErr_Clear();
    return own && len == name.len && !memcmp(own, name.bytes, (size_t)len);
}

static const Binding *resolve_global(void *user, Handle function, Str name) {
    PyResolver *r = user;
    Str path = path_under(r, function, "g:", name);
    MapValue *frozen = map_find(&r->frozen, map_key(function));
    PyObject *rest = frozen ? globals_of(r, frozen->ptr) : NULL;
    const Binding *b = lookup(r, globals_of(r, function), rest, DEP_GLOBAL, path, name);
    return b && b->kind == BIND_MISSING && names_entry(r, name) ? py_bind(r, r->entry, path) : b;
}

/* The names in a tuple. */
static PyObject *texts_of(const Str *names, int32_t n) {
    PyObject *all = PyTuple_New(n);
    for (int32_t i = 0; all && i < n; i++) {
        PyObject *text = PyUnicode_FromStringAndSize(names[i].bytes, names[i].len);
        if (!text) Py_CLEAR(all);
        if (all) PyTuple_SET_ITEM(all, i, text);
    }
    return all;
}

static PyObject *imported(PyResolver *r, Handle function, const Str *names, int32_t n) {
    int level = 0;
    while (level < names[0].len && names[0].bytes[level] == '.')
        level++;
    PyObject *name = PyUnicode_FromStringAndSize(names[0].bytes + level, names[0].len - level);
    PyObject *from = texts_of(names + 1, n - 1), *module = NULL;
    if (name && from)
        module = PyImport_ImportModuleLevelObject(name, globals_of(r, function), NULL, from, level);
    Py_XDECREF(name);
    Py_XDECREF(from);
    return module;
}

/* In paths commas stand for dots, which are steps there. */
static const Binding *resolve_import(void *user, Handle function, const Str *names, int32_t n) {
    PyResolver *r = user;
    PyObject *module = imported(r, function, names, n);
    if (!module && !PyErr_ExceptionMatches(PyExc_ImportError)) return NULL;
    PyErr_Clear();
    StrBuf text;
    buf_init(&text, r->arena);
    for (int32_t i = 0; i < n; i++) {
        if (i) buf_char(&text, '>');
        for (int32_t k = 0; k < names[i].len; k++)
            buf_char(&text, names[i].bytes[k] == '.' ? ',' : names[i].bytes[k]);
    }
    Str path = path_under(r, function, "i:", buf_take(&text));
    const Binding *b = module ? py_bind(r, module, path) : missing(r);
    Py_XDECREF(module);
    return logged(r, DEP_GLOBAL, path, b);
}

static const Binding *resolve_builtin(void *user, Str name) {
    PyResolver *r = user;
    PyObject *builtins = PyImport_ImportModule("builtins");
    if (!builtins) return NULL;
    Str path = str_printf(r->arena, "b:" STR_FMT, STR_ARG(name));
    const Binding *b = lookup(r, PyModule_GetDict(builtins), NULL, DEP_GLOBAL, path, name);
    Py_DECREF(builtins);
    return b;
}

static bool cell_names_entry(const PyResolver *r, PyObject *function, int32_t index) {
    PyObject *names = PyCode_GetFreevars((PyCodeObject *)PyFunction_GetCode(function));
    PyObject *name =
        names && index < PyTuple_GET_SIZE(names) ? PyTuple_GET_ITEM(names, index) : NULL;
    Str text = {0};
    bool is = name && py_str(r->arena, name, &text) && names_entry(r, text);
    Py_XDECREF(names);
    if (PyErr_Occurred()) PyErr_Clear();
    return is;
}

static const Binding *resolve_freevar(void *user, Handle function, int32_t index) {
    PyResolver *r = user;
    Str path = path_under(r, function, "f:", str_printf(r->arena, "%d", index));
    PyObject *closure = function && PyFunction_Check((PyObject *)function)
                            ? PyFunction_GetClosure((PyObject *)function)
                            : NULL;
    if (!closure || index < 0 || index >= PyTuple_GET_SIZE(closure))
        return logged(r, DEP_FREEVAR, path, missing(r));
    PyObject *value = PyCell_Get(PyTuple_GET_ITEM(closure, index)); /* NULL: the cell is empty */
    if (!value && PyErr_Occurred()) return NULL;
    const Binding *b = value ? py_bind(r, value, path) : missing(r);
    Py_XDECREF(value);
    b = logged(r, DEP_FREEVAR, path, b);
    return b && !value && cell_names_entry(r, function, index) ? py_bind(r, r->entry, path) : b;
}

/* Attributes are read only where reading is free of effects: modules, namespaces, classes, enums, named
 * tuples. Anything else has none that compiled code may see. */
static const Binding *resolve_attr(void *user, const Binding *object, Str name) {
    PyResolver *r = user;
    PyObject *o = object->handle;
    Str base = path_of(r, object);
    Str path = str_printf(r->arena, STR_FMT "." STR_FMT, STR_ARG(base), STR_ARG(name));
    bool readable = o && (PyModule_Check(o) || PyType_Check(o) || PyTuple_Check(o) ||
                          (PyObject *)Py_TYPE(o) == r->state->namespace_class || is_type(r, o) ||
                          PyArray_DescrCheck(o) || PyObject_HasAttrString(o, "_value_"));
    if (o && py_is_ffi(o)) return logged(r, DEP_ATTR, path, py_ffi_attr(r, name));
    if (!readable) return logged(r, DEP_ATTR, path, missing(r));
    PyObject *key = py_interned(name.bytes, name.len), *value;
    if (!key) return NULL;
    int found = PyObject_GetOptionalAttr(o, key, &value);
    Py_DECREF(key);
    if (found < 0) return NULL;
    const Binding *b = found ? py_bind(r, value, path) : missing(r);
    Py_XDECREF(value);
    return logged(r, DEP_ATTR, path, b);
}

static const Binding *resolve_member(void *user, Handle cls, Str name, bool setter,
                                     MemberKind *kind) {
    PyResolver *r = user;
    const Binding *owner = py_enumeration(r, cls);
    PyObject *key = owner ? PyUnicode_FromStringAndSize(name.bytes, name.len) : NULL;
    if (!key) return NULL;
    Str base = path_of(r, owner);
    Str path = str_printf(r->arena, STR_FMT "/%c:" STR_FMT, STR_ARG(base), setter ? 's' : 'm',
                          STR_ARG(name));
    PyObject *found = py_member_of(r->state, cls, key, setter, kind);
    Py_DECREF(key);
    const Binding *b = found ? py_bind(r, found, path) : PyErr_Occurred() ? NULL : missing(r);
    /* what is made of a class of exceptions has no path: code with it stays out of the disk cache */
    bool made = found && PyExceptionClass_Check((PyObject *)cls);
    Py_XDECREF(found);
    return made ? logged(r, DEP_GLOBAL, STR("attributes of exceptions"), b)
                : logged(r, DEP_ATTR, path, b);
}

/* -- code -------------------------------------------------------------------------------------------- */

static bool bind_defaults(PyResolver *r, PyObject *positional, PyObject *keywords,
                          FunctionInfo *info, Str path) {
    const CodeUnit *code = info->code;
    int32_t n = code->nargs + code->nkwonly;
    const Binding **defaults = arena_array(r->arena, const Binding *, n);
    Py_ssize_t npositional = positional ? PyTuple_GET_SIZE(positional) : 0;
    for (int32_t i = 0; i < n; i++) {
        Str where = str_printf(r->arena, STR_FMT "/d:%d", STR_ARG(path), i);
        PyObject *value = NULL;
        Py_ssize_t at = i - (code->nargs - npositional);
        if (i < code->nargs && at >= 0) {
            value = Py_NewRef(PyTuple_GET_ITEM(positional, at));
        } else if (i >= code->nargs && keywords) {
            Str name = code->local_names[i];
            PyObject *key = PyUnicode_FromStringAndSize(name.bytes, name.len);
            if (!key || PyDict_GetItemRef(keywords, key, &value) < 0) return Py_XDECREF(key), false;
            Py_DECREF(key);
        }
        if (!value) continue;
        defaults[i] = logged(r, DEP_DEFAULT, where, py_bind(r, value, where));
        Py_DECREF(value);
        if (!defaults[i]) return false;
    }
    info->defaults = defaults;
    return true;
}

/* The type that the option locals gives a variable, as the text or the error that Python made of it. */
static const Type *declared_type(PyResolver *r, PyObject *declared) {
    if (PyExceptionInstance_Check(declared)) {
        PyErr_SetObject((PyObject *)Py_TYPE(declared), declared);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8(declared);
    const Type *type =
        text ? ti_parse_type(r->types, r->arena, text, cg_diags(r->compilation)) : NULL;
    return type ? py_written_type(r->state, r->types, r->arena, type) : NULL;
}

/* Enters what the option locals says of the function's variables. false: an exception or a diagnostic. */
static bool declare_locals(PyResolver *r, PyObject *function, FunctionInfo *info) {
    PyObject *locals = py_callee_locals(r, function);
    if (!locals) return true;
    CodeUnit *code = arena_new(r->arena, CodeUnit);
    *code = *info->code;
    bool *typed = arena_array(r->arena, bool, code->nlocals);
    const Type **types = arena_array(r->arena, const Type *, code->nlocals);
    for (int32_t k = 0; k < code->nlocals; k++) {
        Str name = code->local_names[k];
        PyObject *key = PyUnicode_FromStringAndSize(name.bytes, name.len);
        PyObject *declared = key ? PyDict_GetItemWithError(locals, key) : NULL;
        Py_XDECREF(key);
        if (!declared && PyErr_Occurred()) return false;
        if (declared && !(types[k] = declared_type(r, declared))) return false;
        typed[k] = declared != NULL;
    }
    code->local_typed = typed;
    info->code = code;
    info->locals = types;
    return true;
}

/* Held meanwhile: binding may run code that replaces them. */
static bool read_defaults(PyResolver *r, PyObject *function, FunctionInfo *info, Str path) {
    PyObject *positional = py_function_defaults(function);
    PyObject *keywords = positional || !PyErr_Occurred() ? py_function_kwdefaults(function) : NULL;
    bool ok = !PyErr_Occurred() && bind_defaults(r, positional, keywords, info, path);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return ok;
}

static const FunctionInfo *resolve_code(void *user, const Binding *binding) {
    PyResolver *r = user;
    PyObject *function = binding->handle;
    MapValue *known = map_find(&r->infos, map_key(function));
    if (known) return known->ptr;
    FunctionInfo *info = arena_new(r->arena, FunctionInfo);
    info->code = py_code_unit(r->arena, py_code_of(function), function, r->keep);
    if (!info->code || !declare_locals(r, function, info)) return NULL;
    py_callee_options(r, function, info);
    Str path = path_of(r, binding);
    Str *kept = arena_new(r->arena, Str);
    *kept = path;
    map_put(&r->codes, map_key(function))->ptr = kept;
    logged(r, DEP_CODE, path, binding);
    if (PyFunction_Check(function) && !read_defaults(r, function, info, path)) return NULL;
    map_put(&r->infos, map_key(function))->ptr = info;
    return info;
}

static PyObject *empty_cells(Py_ssize_t n) {
    PyObject *cells = PyTuple_New(n);
    for (Py_ssize_t i = 0; cells && i < n; i++) {
        PyObject *cell = PyCell_New(NULL);
        if (cell)
            PyTuple_SET_ITEM(cells, i, cell);
        else
            Py_CLEAR(cells);
    }
    return cells;
}

/* Never called: what is in its code is looked at. */
static const Binding *resolve_nested(void *user, const Binding *outer, Handle code) {
    PyResolver *r = user;
    PyObject *function = PyFunction_New(code, PyFunction_GetGlobals(outer->handle));
    Py_ssize_t free = function ? PyCode_GetNumFree((PyCodeObject *)code) : 0;
    PyObject *cells = free ? empty_cells(free) : NULL;
    bool ok = function && (!free || (cells && PyFunction_SetClosure(function, cells) == 0));
    if (ok) py_callee_inside(r, function, outer->handle);
    const Binding *b =
        ok ? py_bind(r, function, str_printf(r->arena, STR_FMT "/n", STR_ARG(path_of(r, outer))))
           : NULL;
    if (b) ((Binding *)b)->object = NULL; /* not what the program makes */
    Py_XDECREF(cells);
    Py_XDECREF(function);
    return b;
}

/* quern.library.find(name): the function of our own subset that implements a library name, or None. */
static const Binding *resolve_library(void *user, Str name) {
    PyResolver *r = user;
    PyObject *library = PyImport_ImportModule("quern.library");
    if (!library) return NULL;
    PyObject *function =
        PyObject_CallMethod(library, "find", "s#", name.bytes, (Py_ssize_t)name.len);
    Py_DECREF(library);
    if (!function) return NULL;
    Str path = str_printf(r->arena, "l:" STR_FMT, STR_ARG(name));
    const Binding *b = function == Py_None ? missing(r) : py_bind(r, function, path);
    Py_DECREF(function);
    return logged(r, DEP_GLOBAL, path, b);
}

/* A class of exceptions as the compiler names it; a new reference. */
static PyObject *class_of(const ExceptionClass *cls) {
    if (cls->handle) return Py_NewRef((PyObject *)cls->handle);
    char name[128];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(cls->name));
    return py_builtin_exception(name);
}

static int resolve_subclass(void *user, const ExceptionClass *of, const ExceptionClass *base) {
    (void)user;
    PyObject *a = class_of(of), *b = a ? class_of(base) : NULL;
    int is = b ? PyObject_IsSubclass(a, b) : -1;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return is;
}

void py_resolver_init(PyResolver *r, ModState *state, PyObject *entry,
                      const CompileOptions *options) {
    memset(r, 0, sizeof *r);
    r->base = (Resolver){.user = r,
                         .global = resolve_global,
                         .builtin = resolve_builtin,
                         .import = resolve_import,
                         .freevar = resolve_freevar,
                         .attr = resolve_attr,
                         .member = resolve_member,
                         .code = resolve_code,
                         .nested = resolve_nested,
                         .library = resolve_library,
                         .library_folder = py_library_folder(state),
                         .subclass = resolve_subclass};
    r->state = state;
    py_overloads_init(r);
    r->entry = entry;
    r->options = options->infer;
    r->fastmath = options->fastmath;
}

bool py_resolver_attach(PyResolver *r, Compilation *compilation) {
    r->compilation = compilation;
    r->arena = cg_arena(compilation);
    r->types = cg_types(compilation);
    map_init(&r->bindings, r->arena);
    map_init(&r->infos, r->arena);
    map_init(&r->paths, r->arena);
    map_init(&r->codes, r->arena);
    map_init(&r->callees, r->arena);
    map_init(&r->frozen, r->arena);
    r->keep = PyList_New(0);
    r->held = PyList_New(0);
    r->links = r->linked ? PySequence_List(r->linked) : PyList_New(0);
    return r->keep && r->held && r->links;
}
