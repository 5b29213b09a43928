/* cache.h - specialisations on disk (option cache=True). An entry that is missing, damaged or about something else is a miss,
 * never an exception: the function is compiled. */
#ifndef QUERN_CACHE_H
#define QUERN_CACHE_H

#include "codegen/store.h"
#include "pymodule/dispatch.h"

/* Is the option on? What QUERN_DUMP shows is compiled. */
static inline bool py_cache_wanted(const CompileRequest *q) {
    return q->options.keep_object && (!q->options.keep_text || q->texts);
}
/* From disk: the specialisation, or NULL; with an exception only where Python raised one that is no answer (out of memory, an
 * interrupt). */
Spec *py_cache_find(JitCore *core, CompileRequest *q);
/* What is compiled now finds instances on disk that functions with cache=True have left there. */
void py_cache_use_files(ModState *state, Compilation *c);
/* To disk, what was just compiled with this resolver and these types. Never raises. */
void py_cache_store(JitCore *core, PyResolver *r, const CompileRequest *q, const Signature *types,
                    const Spec *spec, const Type *result);
/* -- cache_types.c -- */
/* false: a type, which may be NULL, has no key. */
bool py_cache_hash_type(PyResolver *r, Hasher *h, const Type *type);
/* Where the dtype of records, or of text of a length, stands: "d:" and its repr(). Empty: exception. */
Str py_dtype_path(PyResolver *r, PyObject *dtype);
/* That dtype, of those that this process has met; borrowed. NULL: none. */
void *py_dtype_at(PyResolver *r, Str path);
/* The type of a result as bytes, and again. false, NULL: see c->why. */
bool py_cache_write_type(Codec *c, PyResolver *r, const StoreNames *names, const Type *type,
                         Str *bytes);
const Type *py_cache_read_type(Codec *c, PyResolver *r, const StoreNames *names, Str bytes);

/* A module function: cache_entry(bytes) -> dict of what an entry says of itself, or a text that says what is wrong. */
PyObject *py_cache_entry(PyObject *module, PyObject *bytes);
/* A module function: cache_folder() -> the path in use, and its size limit. */
PyObject *py_cache_folder(PyObject *module, PyObject *unused);

#endif
