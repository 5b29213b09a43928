/* literals.c - arguments whose values are parts of types: those that literally() is asked of. */
#include "pymodule/state.h"

/* The key of an equal value. */
static PyObject *literal_like(ModState *state, PyObject *value) {
    const CompoundTable *table = atomic_load(&state->compounds);
    PyObject *found = value;
    QN_LOCK(&state->lock);
    table = atomic_load(&state->compounds);
    for (int32_t i = 0; table && i < table->n && found == value; i++) {
        const Compound *c =
            table->items[i]; /* exact ints and text: comparing runs no code of others */
        if (c && c->nitems == KEY_LITERAL && Py_TYPE(c->cls) == Py_TYPE(value) &&
            PyObject_RichCompareBool(c->cls, value, Py_EQ) > 0)
            found = c->cls;
    }
    QN_UNLOCK(&state->lock);
    return found;
}

TypeKey py_literal_key(ModState *state, PyObject *value) {
    int overflow = 0;
    bool integer = PyLong_CheckExact(value) || PyArray_IsScalar(value, Integer);
    bool other = PyBool_Check(value) || PyUnicode_CheckExact(value);
    PyObject *plain = integer ? PyNumber_Index(value) : other ? Py_NewRef(value) : NULL;
    if (plain && integer) (void)PyLong_AsLongLongAndOverflow(plain, &overflow);
    bool fits = plain && !overflow;
    TypeKey key = fits ? py_compound_key(state, literal_like(state, plain), NULL, KEY_LITERAL) : 0;
    Py_XDECREF(plain); /* a table has it, or one like it */
    return key;
}

/* For messages, without a resolver, it is the type of such values. */
const Type *py_literal_type(ModState *state, PyResolver *r, TypeTable *types, Arena *arena,
                            const Compound *c) {
    const Binding *b = r ? py_bind_argument(r, c->cls) : NULL;
    if (r) return b ? type_object(types, b) : NULL;
    TypeKey plain = py_arg_key(state, c->cls, "?", 0);
    return plain ? py_key_type(state, r, types, arena, plain, false) : NULL;
}
