/* callees.c - what compiled code that calls a decorated function compiles, and with which options.
 *
 * Options of a decorator reach a function's meaning: error_model, locals, parallel, boundscheck, fastmath. They count whoever calls it; what
 * a decorator does not name is as the entry has it. The compiler knows functions by their handles, and a program may decorate one several
 * times: the first that a compilation meets has the function itself for a handle; one with other options gets a twin of it, the same code,
 * globals and cells under another handle. */
#include "pymodule/state.h"
#include "pymodule/dispatch.h"

static PyObject *locals_of(ModState *state, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == state->dispatcher_type) return py_locals_of_dispatcher(object);
    if (type == state->ufunc_type) return py_locals_of_ufunc(object);
    return type == state->kernel_type ? py_locals_of_kernel(object) : NULL;
}

static const CompileOptions *options_of(ModState *state, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == state->dispatcher_type) return py_options_of_dispatcher(object);
    return type == state->ufunc_type ? py_options_of_ufunc(object) : NULL;
}

/* Of a function without a decorator, or of `object`, whose decorator may say otherwise. On GPUs the kernel decides what is checked
 * and how floats are computed. */
static CalleeOptions wanted(PyResolver *r, PyObject *object) {
    const InferOptions *entry = &r->options;
    CalleeOptions o = {.strong = entry->strong_numbers,
                       .unchecked = entry->no_boundscheck,
                       .error_numpy = entry->error_numpy,
                       .parallel = entry->parallel,
                       .fastmath = r->fastmath};
    const CompileOptions *own = options_of(r->state, object);
    o.locals = locals_of(r->state, object);
    if (!own) return o;
    o.strong |= own->infer.strong_numbers;
    if (Py_TYPE(object) == r->state->dispatcher_type) o.parallel = own->infer.parallel;
    if (entry->kernel || !target_is_host(entry->target)) {
        o.error_numpy |= own->infer.error_numpy;
        return o;
    }
    if (own->own & OWN_ERROR_MODEL) o.error_numpy = own->infer.error_numpy;
    if (own->own & OWN_BOUNDSCHECK) o.unchecked = own->infer.no_boundscheck;
    if (own->own & OWN_FASTMATH) o.fastmath = own->fastmath;
    return o;
}

/* 1 yes, 0 no, -1 exception. */
static int are_same(const CalleeOptions *a, const CalleeOptions *b) {
    if (a->strong != b->strong || a->unchecked != b->unchecked ||
        a->error_numpy != b->error_numpy || a->parallel != b->parallel ||
        a->fastmath != b->fastmath || !a->locals != !b->locals)
        return 0;
    return a->locals ? PyObject_RichCompareBool(a->locals, b->locals, Py_EQ) : 1;
}

/* What is known of the function as a callee: what the first that was bound wants, or of the entry, which calls itself, its options. */
static CalleeOptions *known_options(PyResolver *r, PyObject *function, const CalleeOptions *first) {
    MapValue *slot = map_put(&r->callees, map_key(function));
    if (slot->ptr) return slot->ptr;
    CalleeOptions *o = slot->ptr = arena_new(r->arena, CalleeOptions);
    *o = function == r->entry ? wanted(r, Py_None) : *first;
    if (function == r->entry) o->locals = r->locals;
    return o;
}

static bool is_inner(PyResolver *r, PyObject *function) {
    const MapValue *known = map_find(&r->callees, map_key(function));
    return known && ((const CalleeOptions *)known->ptr)->inner;
}

void py_callee_inside(PyResolver *r, PyObject *function, PyObject *outer) {
    const MapValue *known = map_find(&r->callees, map_key(outer));
    if (!known) return; /* as the entry */
    CalleeOptions *o = arena_new(r->arena, CalleeOptions);
    *o = *(const CalleeOptions *)known->ptr;
    o->locals = NULL;
    o->inner = true;
    map_put(&r->callees, map_key(function))->ptr = o;
}

PyObject *py_callee_of(PyResolver *r, PyObject *object) {
    bool plain = PyFunction_Check(object);
    if (plain && is_inner(r, object)) return object;
    PyObject *function = plain ? object : py_function_of(r->state, object);
    if (!function) return NULL;
    PyObject *frozen = !plain && function != r->entry ? py_frozen_of(r->state, object) : NULL;
    if (frozen) map_put(&r->frozen, map_key(frozen))->ptr = function;
    if (frozen) function = frozen;
    if (plain && function == r->entry) return function;
    CalleeOptions options = wanted(r, object);
    int same = are_same(&options, known_options(r, function, &options));
    if (same || !PyFunction_Check(function)) return same < 0 ? NULL : function;
    PyObject *twin = py_function_twin(function);
    if (!twin || PyList_Append(r->keep, twin) < 0) return Py_XDECREF(twin), NULL;
    Py_DECREF(twin); /* the list has it */
    if (frozen) map_put(&r->frozen, map_key(twin))->ptr = py_function_of(r->state, object);
    known_options(r, twin, &options);
    return twin;
}

void py_callee_options(PyResolver *r, PyObject *function, FunctionInfo *info) {
    MapValue *known = map_find(&r->callees, map_key(function));
    CalleeOptions plain = wanted(r, Py_None);
    const CalleeOptions *o = known ? known->ptr : &plain;
    info->weak_numbers = !o->strong;
    info->boundscheck = !o->unchecked;
    info->error_numpy = o->error_numpy;
    info->parallel = o->parallel;
    info->own_math = o->fastmath != r->fastmath;
    info->fastmath = info->own_math ? o->fastmath : 0;
}

PyObject *py_callee_locals(PyResolver *r, PyObject *function) {
    MapValue *known = map_find(&r->callees, map_key(function));
    if (known) return ((const CalleeOptions *)known->ptr)->locals;
    return function == r->entry ? r->locals : NULL;
}

bool py_digest_options(PyResolver *r, PyObject *function, Hash128 *digest) {
    MapValue *known = map_find(&r->callees, map_key(function));
    if (!known) return true; /* made by a function, or of our library: as the entry */
    const CalleeOptions *o = known->ptr;
    const uint64_t words[] = {o->strong, o->unchecked, o->error_numpy, o->parallel, o->fastmath};
    Hasher h;
    hash_init(&h);
    hash_update(&h, digest, sizeof *digest);
    hash_update(&h, words, sizeof words);
    PyObject *text = o->locals ? PyObject_Str(o->locals) : NULL;
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    if (bytes) hash_update(&h, bytes, strlen(bytes));
    Py_XDECREF(text);
    if (o->locals && !bytes) return false;
    *digest = hash_final(&h);
    return true;
}
