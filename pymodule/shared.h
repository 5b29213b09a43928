/* shared.h - Python objects that stand for objects of compiled code and share them: shared.c. */
#ifndef QUERN_PY_SHARED_H
#define QUERN_PY_SHARED_H

#include "codegen/objects.h"
#include "pymodule/state.h"

/* typed.List, typed.Dict, typed.Set and instances of classes with @jitclass: subclasses of one type. The object knows the Python
 * object as `python`, which holds a reference to it: there is one Python object for each at most. */
typedef struct SharedObject {
    PyObject_HEAD ModState *state;
    ObjectHeader *object; /* NULL: a container of nobody knows what yet */
    TypeKey key;
    PyObject *weakrefs;
} SharedObject;

static inline bool py_is_shared(const ModState *state, PyObject *o) {
    return PyObject_TypeCheck(o, state->shared_type);
}

/* Of a container: its first field. */
static inline int64_t py_size_of(const SharedObject *s) {
    return s->object ? ((const ListObject *)s->object)->length : 0;
}

#endif
