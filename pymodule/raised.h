/* raised.h - exceptions and text of compiled code as Python's: what the extension shares with functions that were compiled ahead of
 * time. */
#ifndef QUERN_PY_RAISED_H
#define QUERN_PY_RAISED_H

#include "pymodule/compat.h"
#include "codegen/raised.h"
#include "codegen/strings.h"

/* What went wrong beside the matter at hand is forgotten; but a Ctrl-C that Python code saw there comes again. No
 * exception need be set. */
void py_forget_error(void);
PyObject *py_builtin_exception(const char *name); /* a new reference */
/* Is the class of exceptions Python's own of that name? It lives as long as Python does. */
bool py_is_builtin_exception(PyObject *cls, const char *name);
/* The class of that name, or behind "module:" that of a program, whose module is imported where `import` says so: a new reference. NULL:
 * there is none, with or without an exception. */
PyObject *py_named_exception(Str name, bool import);

/* Sets the exception that compiled code left, with its traceback and what came before it. */
void py_raise_left(const RaiseTables *tables, const CallContext *ctx, PyObject *globals);
/* The exception of a record; `ctx` has what came before it, NULL: nobody has. A new reference; NULL: exception. */
PyObject *py_make_raised(const RaiseTables *tables, const CallContext *ctx, const Raised *raised);
/* PendingHandler.read, with the GIL. */
bool py_read_raised(const RaiseTables *tables, const Raised *raised, const ExceptionPart *part,
                    void *out);

/* -- text.c -- */
/* A string, or bytes, of compiled code, whose references stay as they are. */
PyObject *py_text_of(const void *object);
PyObject *py_bytes_of(const void *object);
/* An object with a copy; without `kept` it knows its Python object, which lives as long as it does. NULL with MemoryError. */
StrObject *py_copy_text(const CellLayout *cells, PyObject *text, bool kept);
StrObject *py_copy_bytes(const CellLayout *cells, PyObject *o, const char *bytes, Py_ssize_t n,
                         bool kept);
/* PendingHandler.write, with the GIL. */
bool py_write_text(const void *text, int64_t how);
/* PendingHandler.describe, with the GIL. */
bool py_describe_array(const ArrayInMemory *array, int64_t how, ExceptionText **out);
/* A string, for compiled code. false: MemoryError. */
bool py_keep_text(PyObject *text, ExceptionText **out);

/* Takes the exception that Python has set, for handlers of compiled code. ctx->taken is a list of them, so that they live as long as the
 * call. 0: there is none, or no memory, and it stays set. With the GIL. */
int64_t py_take_raised(CallContext *ctx);

#endif
