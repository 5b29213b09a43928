/* declared.c - calls of functions that are compiled for declared signatures only: which one fits the arguments best, and signatures
 * with functions among their parameters, which are compiled for each function that is passed. */
#include "pymodule/dispatch.h"

/* -- declared signatures -------------------------------------------------------------------------------------- */

/* Floats become ints as by int(), and numbers bools, but not in launches. */
static bool fit_scalar(JitCore *core, TypeKey from, TypeKey to, Fit *fit) {
    TypeKind a = type_strong_kind(key_scalar_kind(from)), b = type_strong_kind(key_scalar_kind(to));
    if (!py_may_convert(a, b)) return false;
    if (!py_loses_kind(a, b)) return true;
    fit->lossy++;
    return !core->options.infer.kernel;
}

static bool fit_one(JitCore *core, TypeTable *types, Arena *arena, TypeKey from, TypeKey to,
                    Fit *fit);

/* Are values of both the same in memory? Elements of containers are not converted. */
static bool is_stored_alike(ModState *state, TypeKey from, TypeKey to) {
    if (from == to) return true;
    if (key_is_scalar(from) && key_is_scalar(to))
        return type_strong_kind(key_scalar_kind(from)) == type_strong_kind(key_scalar_kind(to));
    const Compound *a = key_is_compound(from) ? py_compound(state, from) : NULL;
    const Compound *b = key_is_compound(to) ? py_compound(state, to) : NULL;
    if (!a || !b || a->cls != b->cls || a->nitems != b->nitems || a->nitems < 1) return false;
    for (int32_t i = 0; i < a->nitems; i++)
        if (!is_stored_alike(state, a->items[i], b->items[i])) return false;
    return true;
}

/* Tuples: item by item. */
static bool fit_items(JitCore *core, TypeTable *types, Arena *arena, TypeKey from, TypeKey to,
                      Fit *fit) {
    const Compound *a = py_compound(core->state, from), *b = py_compound(core->state, to);
    if (!a || !b || a->nitems != b->nitems || a->nitems < 0 || (b->cls && a->cls != b->cls))
        return false;
    if (py_shared_class(core->state, b->cls) != CLS_COUNT)
        return false; /* they stay what they are */
    if (py_container_class(b->cls) != CLS_COUNT)
        return a->cls == b->cls && is_stored_alike(core->state, a->items[0], b->items[0]);
    for (int32_t i = 0; i < a->nitems; i++)
        if (!fit_one(core, types, arena, a->items[i], b->items[i], fit)) return false;
    fit->promote++;
    return true;
}

static bool fit_one(JitCore *core, TypeTable *types, Arena *arena, TypeKey from, TypeKey to,
                    Fit *fit) {
    ModState *state = core->state;
    if (from == to) return true;
    if (py_key_is_int_member(state, from)) from = KEY_SCALAR(TY_wint);
    if (key_is_compound(from) && key_is_compound(to))
        return fit_items(core, types, arena, from, to, fit);
    if (key_is_scalar(from) && key_is_scalar(to) && !fit_scalar(core, from, to, fit)) return false;
    const Type *a = py_key_type(state, NULL, types, arena, from, false);
    const Type *b = py_key_type(state, NULL, types, arena, to, true); /* int stands for int64 */
    if (!a || !b) return py_forget_error(), false;
    Conversion conversion = ti_conversion(a, b);
    if (conversion == CONV_UNSAFE && !key_is_scalar(from)) return false;
    return ti_fit_add(fit, conversion);
}

/* Held. NULL without an exception: none fits. */
static Spec *best_fit(JitCore *core, const TypeKey *keys, int32_t n) {
    SpecTable *specs = py_core_snapshot(core);
    if (!specs) return NULL;
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    TypeTable *types = type_table_new(&arena);
    Spec *best = NULL;
    Fit best_so_far = FIT_NONE;
    for (int32_t i = 0; i < specs->n; i++) {
        Spec *spec = specs->items[i];
        if (spec->nargs != n || !spec->artifact) continue;
        Fit fit = {0};
        bool fits = true;
        for (int32_t k = 0; fits && k < n; k++)
            fits = fit_one(core, types, &arena, keys[k], spec->declared_keys[k], &fit);
        if (fits && ti_fit_better(&fit, &best_so_far)) best = spec, best_so_far = fit;
    }
    arena_free(&arena);
    if (best) py_spec_hold(best);
    py_snapshot_free(specs);
    return best;
}

/* "float64[:], int64". NULL: exception. */
static PyObject *keys_text(ModState *state, const TypeKey *keys, int32_t n) {
    PyObject *texts = PyList_New(0), *comma = PyUnicode_FromString(", ");
    for (int32_t i = 0; texts && i < n; i++) {
        PyObject *text = py_key_text(state, keys[i], false);
        if (!text || PyList_Append(texts, text) < 0) Py_CLEAR(texts);
        Py_XDECREF(text);
    }
    PyObject *joined = texts && comma ? PyUnicode_Join(comma, texts) : NULL;
    Py_XDECREF(texts);
    Py_XDECREF(comma);
    return joined;
}

/* Not one that only converts arguments for another. */
bool py_spec_is_original(const Spec *spec) {
    size_t size = sizeof(TypeKey) * (size_t)spec->nargs;
    return spec->artifact && (spec->declared || !memcmp(spec->keys, spec->declared_keys, size));
}

/* "(float64[:]), (int64[:])": the first eight that can be called. NULL: exception. */
static PyObject *declared_texts(JitCore *core) {
    SpecTable *specs = py_core_snapshot(core);
    PyObject *all = specs ? PyUnicode_FromString("") : NULL;
    for (int32_t i = 0, shown = 0; all && i < specs->n && shown < 8; i++) {
        const Spec *spec = specs->items[i];
        if (!py_spec_is_original(spec)) continue;
        PyObject *one = keys_text(core->state, spec->declared_keys, spec->nargs);
        PyObject *longer =
            one ? PyUnicode_FromFormat("%U%s(%U)", all, shown ? ", " : "", one) : NULL;
        Py_XDECREF(one);
        Py_SETREF(all, longer);
        shown++;
    }
    py_snapshot_free(specs);
    for (Py_ssize_t i = 0; all && core->patterns && i < PyList_GET_SIZE(core->patterns); i++) {
        PyObject *text = PyTuple_GET_ITEM(PyList_GET_ITEM(core->patterns, i), 2);
        const char *comma = PyUnicode_GET_LENGTH(all) ? ", " : "";
        Py_SETREF(all, PyUnicode_FromFormat("%U%s%U", all, comma, text));
    }
    return all;
}

PyObject *py_core_declared(JitCore *core) {
    if (core->can_compile || core->patterns || core->varargs) return NULL;
    SpecTable *specs = py_core_snapshot(core);
    PyObject *texts = specs ? PyList_New(0) : NULL;
    for (int32_t i = 0; texts && i < specs->n; i++) {
        const Spec *spec = specs->items[i];
        if (!py_spec_is_original(spec)) continue;
        /* compiled by a call, before that was turned off: there is nothing that somebody has written */
        if (!spec->declared_text || PyList_Append(texts, spec->declared_text) < 0) Py_CLEAR(texts);
    }
    py_snapshot_free(specs);
    if (texts && PyList_GET_SIZE(texts) == 0) Py_CLEAR(texts);
    return texts;
}

static void raise_no_match(JitCore *core, const TypeKey *keys, int32_t n) {
    PyObject *given = keys_text(core->state, keys, n);
    PyObject *declared = given ? declared_texts(core) : NULL;
    if (declared)
        PyErr_Format(PyExc_TypeError,
                     "No matching definition for argument type(s) %U: '%U' was compiled for fixed "
                     "signatures: %U",
                     given, core->name, declared);
    Py_XDECREF(declared);
    Py_XDECREF(given);
}

/* A specialisation of the same code for arguments that are converted. NULL: exception. */
static Spec *converting(JitCore *core, Spec *declared, const TypeKey *keys, int32_t n) {
    Spec *spec = py_spec_new(keys, declared->declared_keys, n);
    if (!spec) return NULL;
    spec->artifact = declared->artifact;
    artifact_retain(spec->artifact);
    spec->keep = Py_XNewRef(declared->keep);
    spec->nothing = Py_XNewRef(declared->nothing);
    spec->signature = Py_XNewRef(declared->signature);
    if (py_spec_plan(core, spec)) return spec;
    py_spec_free(spec);
    return NULL;
}

Spec *py_core_convert(JitCore *core, const TypeKey *keys, int32_t n) {
    Spec *declared = best_fit(core, keys, n);
    if (!declared) {
        if (!PyErr_Occurred()) raise_no_match(core, keys, n);
        return NULL;
    }
    Spec *spec = converting(core, declared, keys, n);
    py_spec_release(declared);
    return spec;
}

/* -- signatures with functions ----------------------------------------------------------------------------------------- */

/* Functions, each a type of its own, and tuples of them. */
static bool is_function_key(ModState *state, TypeKey key) {
    const Compound *c = key_is_compound(key) ? py_compound(state, key) : NULL;
    if (!c || c->nitems == 0) return false;
    if (c->nitems == KEY_OBJECT) return py_is_function(state, c->cls);
    if (c->nitems < 0 || (c->cls && c->cls != (PyObject *)&PyFunction_Type)) return false;
    for (int32_t i = 0; i < c->nitems; i++)
        if (!is_function_key(state, c->items[i])) return false;
    return true;
}

/* The key of a declared parameter. 0: exception. */
static TypeKey parameter_key(ModState *state, TypeTable *types, Arena *arena, PyObject *text) {
    DiagList diags;
    diag_init(&diags, arena);
    const char *words = PyUnicode_AsUTF8(text);
    const Type *type = words ? ti_parse_type(types, arena, words, &diags) : NULL;
    if (words && !type) py_raise_diags(state, &diags);
    if (type) type = py_written_type(state, types, arena, type);
    TypeKey key = type ? py_type_key(state, type) : 0;
    if (type && !key && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError,
                        "a declared parameter has a type that no argument can have");
    return key;
}

/* Do the arguments fit (result, parameters, text), where None is a function? *out: the types to compile for. -1: exception. */
static int pattern_fits(JitCore *core, PyObject *pattern, const TypeKey *keys, int32_t n, Fit *fit,
                        TypeKey *out) {
    PyObject *params = PyTuple_GET_ITEM(pattern, 1);
    if (PyTuple_GET_SIZE(params) != n) return 0;
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    TypeTable *types = type_table_new(&arena);
    int fits = 1;
    for (int32_t i = 0; fits > 0 && i < n; i++) {
        PyObject *param = PyTuple_GET_ITEM(params, i);
        out[i] = param == Py_None ? keys[i] : parameter_key(core->state, types, &arena, param);
        fits = !out[i]            ? -1
               : param == Py_None ? is_function_key(core->state, keys[i])
                                  : fit_one(core, types, &arena, keys[i], out[i], fit);
    }
    arena_free(&arena);
    return fits;
}

/* *result: the declared result of the pattern that fits best, NULL where none does; `best`: the types to compile for, `here`:
 * as much room. false: exception. */
static bool best_pattern(JitCore *core, const TypeKey *keys, int32_t n, TypeKey *best,
                         TypeKey *here, PyObject **result) {
    Fit best_so_far = FIT_NONE;
    *result = NULL;
    for (Py_ssize_t i = 0; core->patterns && i < PyList_GET_SIZE(core->patterns); i++) {
        PyObject *pattern = PyList_GET_ITEM(core->patterns, i);
        Fit fit = {0};
        int fits = pattern_fits(core, pattern, keys, n, &fit, here);
        if (fits < 0) return false;
        if (!fits || !ti_fit_better(&fit, &best_so_far)) continue;
        memcpy(best, here, sizeof *best * (size_t)n);
        best_so_far = fit;
        *result = PyTuple_GET_ITEM(pattern, 0);
    }
    return true;
}

static Spec *match_with(JitCore *core, const TypeKey *keys, int32_t n, TypeKey *best,
                        TypeKey *here) {
    PyObject *result;
    if (!best_pattern(core, keys, n, best, here, &result) || !result) return NULL;
    Spec *spec = py_core_find(core, best, n);
    if (spec) return converting(core, spec, keys, n);
    CompileRequest q = {.keys = best, .nkeys = n, .options = core->options};
    if (result != Py_None && !(q.result = PyUnicode_AsUTF8(result))) return NULL;
    if ((spec = py_core_compile(core, &q))) spec->declared = true;
    if (!spec || !memcmp(keys, best, sizeof *best * (size_t)n)) return spec;
    py_core_add(core, spec);
    return converting(core, spec, keys, n);
}

Spec *py_core_match(JitCore *core, const TypeKey *keys, int32_t n) {
    TypeKey few[FEW_ARGS], more[FEW_ARGS], *best = py_keys_room(few, n);
    TypeKey *here = best ? py_keys_room(more, n) : NULL;
    Spec *spec = here ? match_with(core, keys, n, best, here) : NULL;
    py_keys_free(more, here);
    py_keys_free(few, best);
    return spec;
}
