/* objects.h - lists, dicts and sets between Python and compiled code: what lists.c and tables.c share. */
#ifndef QUERN_PY_OBJECTS_H
#define QUERN_PY_OBJECTS_H

#include "codegen/objects.h"
#include "pymodule/dispatch.h"

/* Boxes a value read out of an object, of which that keeps its own references. */
PyObject *py_box_kept(ModState *state, const ValueLayout *layout, const char *value);
/* Boxes a value that a generator gives, and which it may give once more: then it is a new one for Python. */
PyObject *py_box_item(ModState *state, const ValueLayout *layout, const char *value);
void py_forget_objects(const ValueLayout *layout, const char *value);
void py_forget_entries(const ValueLayout *layout,
                       const TableObject *table); /* of a dict or a set */
/* Is the value of a plan, in memory that its offsets count from, still what the Python object is? An object is the one of that Python object,
 * whatever is in it. */
bool py_is_unchanged(ModState *state, const Plan *plan, const char *frame, PyObject *python);

/* Of dicts and sets: a new Python one; the Python one that an object stands for becomes what the object is. */
PyObject *py_new_table(ModState *state, const ValueLayout *layout, TableObject *table);
bool py_write_table(ModState *state, const Plan *plan, TableObject *table);

/* variants.c: one of Python's, to be filled with entries, and then made what it is. NULL: exception. */
PyObject *py_new_variant(ModState *state, const ValueLayout *layout);
PyObject *py_finished_variant(const ValueLayout *layout, PyObject *filled); /* takes it over */

/* Of deques the same. */
PyObject *py_new_deque(ModState *state, const ValueLayout *layout, void *object);
bool py_write_deque(ModState *state, const Plan *plan, void *object);
void py_forget_deque(const ValueLayout *layout, const char *value);

#endif
