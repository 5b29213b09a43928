/* ahead.h - what the C around functions compiled ahead of time calls (quern/_aot_c.py has these declarations as text). The extension
 * has nothing of this folder: it is part of the object file that goes with each such program. All with the GIL. */
#ifndef QUERN_AHEAD_H
#define QUERN_AHEAD_H

#include "pymodule/raised.h"

/* -- call.c -- */
void quern_py_start(void); /* once in a process, before any call */
typedef struct AheadCall {
    CallContext ctx; /* whose `user` it is */
    const RaiseTables *tables;
    int64_t next_check; /* of signals, and when other threads get a turn */
} AheadCall;
void quern_py_begin(AheadCall *call, const RaiseTables *tables);
/* Sets the exception where the status says that there is one. 1: there is none. */
int quern_py_end(AheadCall *call, int status);

/* -- convert.c: 0, NULL: exception -- */
int quern_get_int(PyObject *o, void *out, size_t size);
int quern_get_uint(PyObject *o, void *out, size_t size);
int quern_get_bool(PyObject *o, void *out, size_t size);
int quern_get_float(PyObject *o, void *out, size_t size);
int quern_get_complex(PyObject *o, void *out, size_t size);
/* An array by the buffer protocol: its elements, axes and order must be those of the parameter, which has that number. */
int quern_get_array(PyObject *o, Py_buffer *b, Owner *owner, ArrayValue *out, const char *letters,
                    size_t size, int ndim, char order, int written, int number);
/* A tuple of so many items; its number is that of the parameter which it is, or is a part of. */
int quern_is_tuple(PyObject *o, Py_ssize_t n, int number);
/* The caller releases them. */
int quern_get_text(PyObject *o, StrObject **out);
int quern_get_bytes(PyObject *o, StrObject **out);
/* A new array of NumPy's; what the code made goes, as text does. */
PyObject *quern_put_array(ArrayValue *a, int ndim, size_t size, const char *dtype, char order);
PyObject *quern_put_text(StrObject **text);
PyObject *quern_put_bytes(StrObject **bytes);
/* Takes the items; NULL where one is. */
PyObject *quern_tuple(int n, ...);

#endif
