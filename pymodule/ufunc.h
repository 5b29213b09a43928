/* ufunc.h - what the files of ufuncs share: ufunc.c makes them, ufunc_types.c chooses and compiles their loops, ufunc_loop.c
 * runs these, ufunc_call.c is in front of calls of generalised ones.
 *
 * The route that works from NumPy 1.25 to 2.x: PyUFunc_FromFuncAndData with loop tables that have room to
 * grow, and a type_resolver that compiles a loop for the types at hand, appends it and raises ntypes.
 * NumPy asks the resolver only when there is at least one loop, hence the seed: long double, which
 * refuses. Object and tables belong to a UfuncData, which the ufunc keeps in its `obj` field.
 *
 * A generalised ufunc (@guvectorize) has core axes: its function takes arrays with these axes, or numbers, and
 * writes its results into the last of them. Everything else is as for @vectorize, whose function takes numbers and
 * returns one. */
#ifndef QUERN_UFUNC_H
#define QUERN_UFUNC_H

#include "pymodule/dispatch.h"

enum { MAX_LOOPS = 256, MAX_UFUNC_ARGS = MAX_CORE_OPERANDS };

typedef struct UfuncLoop {
    struct UfuncData *owner; /* borrowed: the tables are its */
    Spec *spec;
    uint32_t
        arrays; /* generalised: bit k: operand k is an array (of one element where it has no core axes) */
    uint8_t size[MAX_UFUNC_ARGS], align[MAX_UFUNC_ARGS]; /* of an element of each operand */
} UfuncLoop;

typedef struct UfuncData {
    PyObject_HEAD JitCore core;
    PyObject *weakrefs;
    int nin, nargs; /* operands: inputs, then outputs */
    int nkeys;      /* parameters of the function: the inputs; of generalised ufuncs all operands */
    bool parallel, seeded, dynamic, generalized;
    /* Signals, shared by all threads, so that races only move a look at the clock. */
    _Atomic uint64_t next_check; /* ns of the monotonic clock */
    _Atomic int64_t budget;      /* elements before the next look */
    _Atomic bool raised;         /* a loop has, at some time */
    atomic_int nloops;           /* with the seed; raised when the loop's row is complete */
    char *name, *doc;
    char *layout; /* generalised: as the user has written it, which NumPy shows and parses */
    char *types;  /* MAX_LOOPS * nargs */
    CoreAxes axes;
    PyObject *make_stand_in, *stand_in; /* generalised: py_ufunc_stand_in */
    uint32_t written; /* generalised: bit k, operand k is an output, or named in writable_args */
    uint32_t
        guarded; /* generalised: inputs that a loop writes to, though they are not in axes.written */
    vectorcallfunc numpy_call; /* generalised: of the ufunc, behind py_call_core */
    PyUFuncGenericFunction functions[MAX_LOOPS];
    void *data[MAX_LOOPS];
    UfuncLoop loops[MAX_LOOPS];
} UfuncData;

static inline UfuncData *data_of(PyObject *ufunc) {
    return (UfuncData *)((PyUFuncObject *)ufunc)->obj;
}

/* NumPy's type numbers of the operands of a loop. */
static inline const char *loop_types(const UfuncData *u, int loop) {
    return u->types + loop * u->nargs;
}

/* -- ufunc_loop.c: what NumPy calls; `data` is a UfuncLoop -- */
void py_run_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);
void py_run_core_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);
/* The seed. */
void py_run_refusal(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);
/* While a program is explained: calls the Python function. */
void py_run_python(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);

/* -- ufunc_call.c: the vectorcall of generalised ufuncs -- */
PyObject *py_call_core(PyObject *ufunc, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* -- ufunc_types.c -- */
/* NumPy's type_resolver. */
int py_resolve_types(PyUFuncObject *ufunc, NPY_CASTING casting, PyArrayObject **operands,
                     PyObject *type_tup, PyArray_Descr **out);
/* Compiles loops for the signatures of a list of texts. -1: exception. */
int py_compile_declared(UfuncData *u, PyObject *signatures);

#endif
