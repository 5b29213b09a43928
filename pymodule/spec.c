/* spec.c - specialisations: their life, and the table that calls read without a lock (see dispatch.h). */
#include "pymodule/dispatch.h"

/* -- one ------------------------------------------------------------------------------------------ */

static TypeKey *copy_keys(const TypeKey *keys, int32_t n) {
    TypeKey *copy = PyMem_Malloc(sizeof *copy * (size_t)QN_MAX(n, 1));
    if (copy && n) memcpy(copy, keys, sizeof *copy * (size_t)n);
    if (!copy) PyErr_NoMemory();
    return copy;
}

Spec *py_spec_new(const TypeKey *keys, const TypeKey *declared, int32_t n) {
    Spec *spec = PyMem_Calloc(1, sizeof *spec);
    if (!spec) return (Spec *)PyErr_NoMemory();
    spec->refs = 1;
    spec->nargs = n;
    spec->keys = copy_keys(keys, n);
    spec->declared_keys = copy_keys(declared, n);
    if (spec->keys && spec->declared_keys) return spec;
    py_spec_free(spec);
    return NULL;
}

void py_spec_free(Spec *spec) {
    if (!spec) return;
    if (spec->drop_extra) spec->drop_extra(spec->extra);
    py_plan_free(spec->plans, spec->nargs);
    if (spec->artifact) artifact_release(spec->artifact);
    Py_XDECREF(spec->keep);
    Py_XDECREF(spec->nothing);
    Py_XDECREF(spec->tuple);
    Py_XDECREF(spec->signature);
    Py_XDECREF(spec->declared_text);
    PyMem_Free(spec->keys);
    PyMem_Free(spec->declared_keys);
    PyMem_Free(spec);
}

void py_spec_drop(Spec *spec) {
    PyObject *raised = PyErr_GetRaisedException(); /* freeing may run code of others */
    py_spec_free(spec);
    PyErr_SetRaisedException(raised);
}

/* -- the table --------------------------------------------------------------------------------------- */

Spec *py_core_find(JitCore *core, const TypeKey *keys, int32_t n) {
    const SpecTable *table = atomic_load_explicit(&core->table, memory_order_acquire);
    for (int32_t i = 0; table && i < table->n; i++) {
        Spec *spec = table->items[i];
        if (spec->nargs != n || memcmp(spec->keys, keys, sizeof *keys * (size_t)n)) continue;
        bool converts = !spec->declared &&
                        memcmp(spec->keys, spec->declared_keys, sizeof *keys * (size_t)n) != 0;
        if (!converts || !core->can_compile) return spec; /* else: made while compiling was off */
    }
    return NULL;
}

static bool py_core_has(JitCore *core, const Spec *spec) {
    const SpecTable *table = atomic_load_explicit(&core->table, memory_order_acquire);
    for (int32_t i = 0; table && i < table->n; i++)
        if (table->items[i] == spec) return true;
    return false;
}

static SpecTable *table_new(int32_t room) {
    SpecTable *table = PyMem_Malloc(sizeof *table + sizeof(Spec *) * (size_t)room);
    if (table) *table = (SpecTable){NULL, 0};
    return table;
}

/* `table` takes the place of another, which is the answer: `forget` frees it. The references of tables to their items
 * are not touched. */
static SpecTable *publish(JitCore *core, SpecTable *table) {
    SpecTable *old = atomic_load_explicit(&core->table, memory_order_relaxed);
#ifdef Py_GIL_DISABLED
    table->older = old;
#endif
    atomic_store_explicit(&core->table, table, memory_order_release);
    return old;
}

static void forget(SpecTable *table) {
#ifdef Py_GIL_DISABLED
    (void)table; /* a call may be reading it */
#else
    PyMem_Free(table);
#endif
}

void py_core_add(JitCore *core, Spec *spec) {
    QN_LOCK(&core->state->lock);
    const SpecTable *old = atomic_load_explicit(&core->table, memory_order_relaxed);
    int32_t n = old ? old->n : 0;
    SpecTable *table = table_new(n + 1);
    if (!table) /* nothing can be remembered: the specialisation must live as long as the core */
        Py_FatalError("quern: out of memory while entering a specialisation");
    if (n) memcpy(table->items, old->items, sizeof(Spec *) * (size_t)n);
    table->items[n] = spec;
    table->n = n + 1;
    SpecTable *before = publish(core, table);
    atomic_store_explicit(&core->last, spec, memory_order_release);
    QN_UNLOCK(&core->state->lock);
    forget(before);
}

SpecTable *py_core_snapshot(JitCore *core) {
    const SpecTable *now = atomic_load_explicit(&core->table, memory_order_acquire);
    int32_t n = now ? now->n : 0;
    SpecTable *copy = table_new(n);
    if (!copy) return (SpecTable *)PyErr_NoMemory();
    for (copy->n = 0; copy->n < n; copy->n++)
        py_spec_hold(copy->items[copy->n] = now->items[copy->n]);
    return copy;
}

void py_snapshot_free(SpecTable *snapshot) {
    for (int32_t i = 0; snapshot && i < snapshot->n; i++)
        py_spec_release(snapshot->items[i]);
    PyMem_Free(snapshot);
}

static bool names_key(const Spec *spec, TypeKey key) {
    for (int32_t i = 0; i < spec->nargs; i++)
        if (spec->keys[i] == key || spec->declared_keys[i] == key) return true;
    return false;
}

/* Takes the specialisations of `key` out of the table and puts them before `gone`. */
static void take_out(JitCore *core, TypeKey key, Spec **gone) {
    SpecTable *old = atomic_load_explicit(&core->table, memory_order_relaxed), *table = old;
    int32_t n = old ? old->n : 0, named = 0, kept = 0;
    for (int32_t i = 0; i < n; i++)
        named += names_key(old->items[i], key);
    if (!named) return;
#ifdef Py_GIL_DISABLED /* else nobody reads it meanwhile */
    if (!(table = table_new(n))) return;
#endif
    for (int32_t i = 0; i < n; i++) {
        Spec *spec = old->items[i];
        if (!names_key(spec, key)) {
            table->items[kept++] = spec;
            continue;
        }
        if (atomic_load_explicit(&core->last, memory_order_relaxed) == spec)
            atomic_store_explicit(&core->last, NULL, memory_order_release);
        spec->next_retired = *gone;
        *gone = spec;
    }
    table->n = kept;
    if (table != old) forget(publish(core, table));
}

void py_cores_drop_key(ModState *state, TypeKey key) {
    Spec *gone = NULL;
    QN_LOCK(&state->lock);
    for (JitCore *core = state->cores; core; core = core->next) {
#ifdef Py_GIL_DISABLED
        take_out(core, key, &core->retired);
#else
        take_out(core, key, &gone);
#endif
    }
    QN_UNLOCK(&state->lock);
    while (gone) { /* only now: freeing may run code that changes the list of cores */
        Spec *next = gone->next_retired;
        py_spec_release(gone);
        gone = next;
    }
}

/* -- all again --------------------------------------------------------------------------------------- */

/* made[i] from old[i]; NULL where that is gone or wants no successor. false: exception. */
static bool make_all(JitCore *core, const SpecTable *old, SpecTable *made,
                     Spec *(*again)(void *user, Spec *old), void *user) {
    for (; made->n < old->n; made->n++) {
        Spec *one = old->items[made->n];
        made->items[made->n] = py_core_has(core, one) ? again(user, one) : NULL;
        if (PyErr_Occurred()) return made->n++, false;
    }
    return true;
}

/* `table` takes up what was made of specialisations that are still there: a function that was an argument may have died
 * meanwhile. The answer is the table before. */
static SpecTable *replace(JitCore *core, const SpecTable *old, SpecTable *made, SpecTable *table) {
    QN_LOCK(&core->state->lock);
    for (int32_t i = 0; i < made->n; i++) {
        if (!made->items[i] || !py_core_has(core, old->items[i])) continue;
        table->items[table->n++] = made->items[i];
        made->items[i] = NULL;
    }
    SpecTable *before = publish(core, table);
    atomic_store_explicit(&core->last, NULL, memory_order_release);
#ifdef Py_GIL_DISABLED
    for (int32_t i = 0; before && i < before->n; i++) {
        before->items[i]->next_retired = core->retired;
        core->retired = before->items[i];
    }
#endif
    QN_UNLOCK(&core->state->lock);
    return before;
}

bool py_core_remake(JitCore *core, Spec *(*again)(void *user, Spec *old), void *user) {
    SpecTable *old = py_core_snapshot(core), *made = old ? table_new(old->n) : NULL,
              *table = made ? table_new(old->n) : NULL;
    if (old && !table) PyErr_NoMemory();
    bool ok = table && make_all(core, old, made, again, user);
    if (ok) {
        SpecTable *before = replace(core, old, made, table);
#ifndef Py_GIL_DISABLED
        for (int32_t i = 0; before && i < before->n; i++)
            py_spec_release(before->items[i]);
#endif
        if (before) forget(before);
    } else {
        PyMem_Free(table);
    }
    for (int32_t i = 0; made && i < made->n; i++)
        py_spec_free(made->items[i]);
    PyMem_Free(made);
    py_snapshot_free(old);
    return ok;
}

/* -- the end --------------------------------------------------------------------------------------------- */

void py_core_free_specs(JitCore *core) {
    SpecTable *table = atomic_exchange(&core->table, NULL);
    atomic_store(&core->last, NULL);
    for (int32_t i = 0; table && i < table->n; i++)
        py_spec_free(table->items[i]);
    while (table) {
        SpecTable *older = table->older;
        PyMem_Free(table);
        table = older;
    }
    while (core->retired) {
        Spec *spec = core->retired;
        core->retired = spec->next_retired;
        py_spec_free(spec);
    }
}
