/* owners.c - Python objects that lie in objects of compiled code.
 *
 * An array that is put into a container outlives the frame of the call that brought it. Its owner lies on the heap and holds
 * the ndarray. Compiled code may drop it where there is no GIL: it is entered into a list then, which is emptied when the call is over. */
#include "codegen/support.h"
#include "pymodule/state.h"

typedef struct PyOwner {
    Owner owner;
    ModState *state;
    struct PyOwner *next; /* of those dropped */
} PyOwner;

static void drop_later(Owner *owner) {
    PyOwner *own = (PyOwner *)owner;
    own->next = atomic_load(&own->state->dropped);
    while (!atomic_compare_exchange_weak(&own->state->dropped, &own->next, own))
        ;
}

Owner *py_own(ModState *state, PyObject *object) {
    PyOwner *own = support_allocates() ? malloc(sizeof *own) : NULL;
    if (!own) return (Owner *)PyErr_NoMemory();
    *own = (PyOwner){.state = state};
    atomic_init(&own->owner.refs, 1);
    own->owner.destroy = drop_later;
    own->owner.object = Py_NewRef(object);
    atomic_fetch_add(&state->owners, 1);
    return &own->owner;
}

bool py_is_owned(const Owner *owner) {
    return owner && owner->destroy == drop_later;
}

void py_drop_owned(ModState *state) {
    PyOwner *own = atomic_exchange(&state->dropped, NULL);
    while (own) {
        PyOwner *next = own->next;
        PyObject *object = own->owner.object;
        free(own);
        atomic_fetch_sub(&state->owners, 1);
        Py_DECREF(object); /* may run anything, other calls among them */
        own = next;
    }
}

int64_t py_live_owners(ModState *state) {
    return atomic_load(&state->owners);
}
