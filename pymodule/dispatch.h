/* dispatch.h - specialisations of one function, and how a call finds its own.
 *
 * A JitCore belongs to a dispatcher, a kernel or a ufunc. Its table of specialisations is an immutable
 * array behind one atomic pointer: calls read it without a lock, a change makes another array. Who keeps a
 * specialisation or a table while Python code may run, or while the GIL is given up, holds it: then a
 * recompilation, or the death of a function that was an argument, may take it out of the table. A call that
 * does neither counts nothing. Without a GIL there is no such moment: there old tables and specialisations
 * are freed with the core. */
#ifndef QUERN_DISPATCH_H
#define QUERN_DISPATCH_H

#include "pymodule/state.h"

/* -- unboxing plans (unbox.c) -------------------------------------------------------------------- */

typedef enum UnboxOp {
    UB_INT,   /* a Python int -> int64 */
    UB_FLOAT, /* a Python float -> double */
    UB_BOOL,
    UB_COMPLEX,
    UB_NONE,
    UB_SCALAR, /* a NumPy scalar: its bytes */
    UB_ARRAY,
    UB_KEPT_ARRAY, /* one that may be put into a container, or lies in one: with an owner on the heap */
    UB_RANDOM,     /* a numpy.random.Generator: its struct bitgen_t, as an array of words */
    UB_KEPT_RANDOM, /* the same with an owner on the heap */
    UB_TUPLE,
    UB_VALUE,     /* an instance of a frozen dataclass, as a tuple of its fields */
    UB_LIST,      /* a list: an object for the time of the call */
    UB_STR,       /* a string: a copy */
    UB_BYTES,     /* the same */
    UB_BYTEARRAY, /* a copy, which is written back */
    UB_TABLE,     /* a dict or a set, likewise */
    UB_DEQUE,     /* a collections.deque, likewise */
    UB_SHARED,    /* typed.List and its kin, an instance of a @jitclass: the object itself */
    UB_EITHER, /* an element of a list with NumPy's numbers of one type: such a one, or Python's */
    UB_NUMBER, /* any number, for a place in a shared object */
    UB_OPTIONAL,   /* None or what items[0] takes, for such a place */
    UB_INT_MEMBER, /* of the enumeration `type` */
    UB_MEMBER,
    UB_SLICE,   /* a slice; which parts are ints is in `from` */
    UB_TIME,    /* datetime64 or timedelta64 of the dtype `descr` */
    UB_CHOICE,  /* a function: its number among those of the key */
    UB_LITERAL, /* equal to `type`, which the code knows */
    UB_FUNCTION /* nothing to pass: the object itself is the type */
} UnboxOp;

typedef struct Plan {
    uint8_t op, from, to; /* TypeKinds: natural value, and what the code wants */
    uint8_t to_size;      /* in bytes */
    bool convert;         /* from != to */
    bool wraps;           /* ints that do not fit are taken modulo, as by C */
    bool optional;        /* a presence byte stands before the value */
    bool present;
    bool
        kept; /* of a shared object or of text: it lies in an object, or stays there when the call is over */
    uint8_t ndim, layout;
    int32_t item_size;
    int32_t offset;   /* of the value in the call's frame */
    int32_t presence; /* of the presence byte */
    int32_t owner;    /* arrays: of their Owner in the frame */
    int32_t nitems;
    struct Plan *items;
    PyObject *names; /* of the fields of UB_VALUE */
    const ValueLayout *
        object; /* of a list, dict or set; items are the plans of its parameters, each in an element */
    PyObject *type; /* the exact type (or function) asked for */
    PyArray_Descr *descr;
    ModState *state;       /* arrays */
    TypeKey key;           /* arrays: of a device array that fits */
    bool written;          /* arrays: by the code, as far as is known */
    bool records, aligned; /* arrays: of records; as their fields want it */
    int flags_mask, flags_want;
    uint16_t value_offset, value_size;
} Plan;

/* Bytes of a frame on the stack: of most calls, and of those with more arguments (32 arrays of 13
 * dimensions); still larger ones come from the heap. */
enum { FRAME_STACK = 1024, FRAME_LARGE = 8192 };
enum { GETTER_RESULT = 128 }; /* bytes of the result of a getter that is called without a frame */

typedef struct Spec {
    int32_t refs; /* the table's, and those who hold it: under the GIL */
    int32_t nargs;
    bool direct;   /* there is code to call, and arguments are parameters one by one */
    bool drops;    /* a call may drop owners of Python objects, which lie in shared objects */
    bool on_stack; /* direct, and its frame fits FRAME_STACK */
    bool
        placed; /* there is code to call, and its frame fits FRAME_STACK, once arguments are in their places */
    bool numbers; /* the result is a tuple of ints and floats */
    bool alone; /* the code needs no context, and no code of others runs when its result is boxed */
    bool getter;     /* likewise, and its one argument is an object that Python shares */
    bool reader;     /* likewise, which it does not change, and the result is a float */
    PyObject *tuple; /* the last such result, or NULL */
    bool declared;   /* made for a signature the user wrote */
    bool wraps;      /* its plans do */
    HostEntry entry; /* NULL: this signature runs the Python function */
    Plan *plans;
    Artifact *artifact;
    int32_t result_offset, frame_size;
    bool random;     /* are there generators of random numbers among the arguments? */
    int32_t narrays; /* among the arguments, those in tuples too */
    bool objects;    /* are there lists, dicts, sets, text or arrays that are kept among them? */
    bool shared, changes; /* are there shared objects among them, and may the code change some? */
    TypeKey *keys;
    TypeKey *
        declared_keys; /* the types of the code's parameters; == keys unless arguments are converted */
    PyObject *keep;    /* objects that the code needs to live: see kept_by_code */
    PyObject *declared_text; /* of a signature the user wrote, or NULL */
    void *extra;             /* kernel_obj.c: loaded kernels */
    void (*drop_extra)(void *extra);
    PyObject *nothing;   /* the result of code that returns none: None */
    PyObject *signature; /* text of the signature */
    struct Spec *next_retired;
} Spec;

typedef struct SpecTable {
    struct SpecTable *older; /* without a GIL: tables that calls may still read */
    int32_t n;
    Spec *items[];
} SpecTable;

/* false with an exception, when an argument of this key cannot be passed as `layout`. */
bool py_plan_args(ModState *state, Spec *spec, const ValueLayout *params);
void py_plan_free(Plan *plans, int32_t n);
/* Of one value to be put into a shared object, or all of such a container. false with an exception. */
bool py_plan_inside(ModState *state, Plan *plan, TypeKey key, const ValueLayout *layout);
void py_plan_clear(Plan *plan);
/* A new object for a list, dict or set of Python's, by the plan of a shared one. As py_unbox. */
int py_fill_container(const Plan *plan, PyObject *items, char *out);
/* What lies at `at` goes, `fresh` comes. */
void py_exchange_value(ModState *state, const ValueLayout *layout, char *at, const char *fresh);
/* Fills `frame`: pointers to values first, then the values. 1: done; 0: an argument has another type;
 * -1: exception. `loose` also takes subclasses of int, float and complex. */
int py_unbox(const Spec *spec, PyObject *const *args, char *frame);
/* The same, where the last parameter is *args and gets `rest`; `args` are those before. */
int py_unbox_with_rest(const Spec *spec, PyObject *const *args, PyObject *const *rest, Py_ssize_t n,
                       char *frame);
int py_unbox_loose(const Spec *spec, PyObject *const *args, char *frame);
/* The bits of a stored int or bool. false: it is of another kind. */
bool py_read_int(int kind, const char *at, int64_t *value);
/* One value to `at`, by a plan without offset. */
int py_unbox_value(const Plan *plan, PyObject *o, char *at, bool loose);

/* generator_obj.c: the generator that a call has made, which is taken over. NULL: exception. */
PyObject *py_new_generator(ModState *state, PyObject *dispatcher, Spec *spec, const char *frame);
/* jitfunc.c: goes on with the generator in `memory`, see HostEntry. Not 0: exception. */
int py_run_resumed(PyObject *dispatcher, Spec *spec, char *memory);

/* -- random.c: numpy.random.Generator -- */
int py_unbox_random(const Plan *plan, PyObject *o, char *out, char *frame);
/* Takes the locks of the generators among the arguments: what py_unlock_random gives back. NULL: exception. */
PyObject *py_lock_random(const Spec *spec, PyObject *const *args);
void py_unlock_random(PyObject *locks);

/* -- lists.c: around a call with objects among its arguments -- */
static inline bool py_keeps_owner(const Plan *plan) {
    return plan->op == UB_KEPT_ARRAY || plan->op == UB_KEPT_RANDOM;
}
/* Its items lie in the frame one by one. */
static inline bool py_has_items(const Plan *plan) {
    return plan->op == UB_TUPLE || plan->op == UB_VALUE;
}
int py_unbox_str(const Plan *plan, PyObject *o, char *out, bool loose);
int py_unbox_bytes(const Plan *plan, PyObject *o, char *out, bool loose);
int py_unbox_bytearray(const Plan *plan, PyObject *o, char *out, bool loose);
/* What the object of a bytearray holds now goes into it. false: exception. */
bool py_write_bytearray(const void *object);
bool py_is_deque(PyObject *object);
bool py_is_deque_type(PyTypeObject *type); /* but of no class derived from it */
int py_unbox_deque(const Plan *plan, PyObject *o, char *out, bool loose);
int py_unbox_list(const Plan *plan, PyObject *o, char *out, bool loose);
int py_unbox_table(const Plan *plan, PyObject *o, char *out, bool loose);
void py_clear_objects(const Spec *spec, char *frame); /* before the frame is filled */
/* After it was filled: what must not go away before the objects. NULL: exception. */
PyObject *py_keep_objects(const Spec *spec, PyObject *const *args);
/* A Python list in several places is one object. *inner, a new reference, or NULL where there is but one: all of them. false: exception. */
bool py_unify_objects(const Spec *spec, char *frame, PyObject **inner);
/* Afterwards: gives them back. write: what the code has changed goes into the Python lists. false: exception. */
bool py_return_objects(ModState *state, const Spec *spec, char *frame, PyObject *inner, bool write);

/* May a scalar of kind `from` be passed where `to` is declared? */
bool py_may_convert(TypeKind from, TypeKind to);
/* Does it then keep less than its number: a float as an int, anything as a bool? */
bool py_loses_kind(TypeKind from, TypeKind to);

/* -- the core ------------------------------------------------------------------------------------- */

typedef struct CoreLock {
    PyThread_type_lock lock;
    _Atomic(unsigned long) owner; /* thread that holds it; 0: nobody */
    uint32_t generation;          /* cg_generation() when it was made */
} CoreLock;

typedef struct JitCore {
    ModState *state;
    PyObject *py_func;
    PyObject *
        frozen; /* what compiled code that calls it is compiled from (frozen.c), or NULL: py_func */
    PyObject *name; /* text for messages */
    CompileOptions options;
    _Atomic(Spec *) last;
    _Atomic(SpecTable *) table;
    Spec *retired;              /* without a GIL: they may still run */
    struct JitCore *next, **at; /* in the list of all cores, ModState.cores */
    CoreLock lock;
    int32_t nparams; /* all: positional, keyword-only, *args */
    int32_t npositional, nkwonly, nposonly;
    bool varargs;
    atomic_bool can_compile;
    bool (*prepare)(
        Spec *
            spec); /* of a declared signature, before calls see it; NULL: nothing to do. false: exception */
    bool unsupported_kwargs; /* the function has **kwargs */
    uint64_t literals;     /* bit k: the value of argument k is a part of the types (literally()) */
    PyObject *param_names; /* tuple */
    PyObject *locals, *linked; /* the options locals and link, or NULL: see PyResolver */
    PyObject *
        patterns; /* declared signatures with functions: a list of (text of the result or None, a tuple of texts, or None for functions, all as it is shown), or NULL */
    PyObject
        *cache_log; /* what the disk cache did, for stats: {table: {signature: ...}}, or NULL */
} JitCore;

/* false with an exception. py_func must be a Python function. */
bool py_core_init(JitCore *core, ModState *state, PyObject *py_func, const CompileOptions *options);
/* From now on, compiled code that calls this compiles the function with its globals and cells as they are: frozen.c. */
bool py_core_freeze(JitCore *core);
/* The signatures that calls from compiled code convert their arguments to: a new list of texts. NULL without an exception: none bind. */
PyObject *py_core_declared(JitCore *core);
/* Another function object with the same code, globals, cells and defaults: a new reference, or an exception. */
PyObject *py_function_twin(PyObject *function);
void py_core_clear(JitCore *core);
int py_core_traverse(JitCore *core, visitproc visit, void *arg);

/* Takes the lock with the GIL given up while waiting. false with an exception when this thread holds it. */
bool py_core_lock(JitCore *core);
void py_core_unlock(JitCore *core);

/* -- spec.c: specialisations and their table -- */

/* Not in a table yet: py_spec_free frees it. NULL with an exception. */
Spec *py_spec_new(const TypeKey *keys, const TypeKey *declared, int32_t n);
void py_spec_free(Spec *spec);
/* Between these two a specialisation may leave its table and stay usable. */
static inline void py_spec_hold(const Spec *spec) {
#ifndef Py_GIL_DISABLED
    ((Spec *)spec)->refs++;
#else
    (void)spec;
#endif
}
void py_spec_drop(Spec *spec); /* the last reference */
static inline void py_spec_release(const Spec *spec) {
#ifndef Py_GIL_DISABLED
    if (spec && --((Spec *)spec)->refs == 0) py_spec_drop((Spec *)spec);
#else
    (void)spec;
#endif
}

/* The specialisations of now, each held. NULL with an exception. */
SpecTable *py_core_snapshot(JitCore *core);
void py_snapshot_free(SpecTable *snapshot);
bool py_spec_is_original(const Spec *spec); /* not one that only converts arguments for another */
/* Under the core's lock: all specialisations are made again by `again` (NULL: an exception, or none to skip this one),
 * and take the place of the old ones together. false with an exception: the old ones stay. */
bool py_core_remake(JitCore *core, Spec *(*again)(void *user, Spec *old), void *user);
/* No argument of this key will come again: its specialisations go, in all cores. */
void py_cores_drop_key(ModState *state, TypeKey key);
void py_core_free_specs(JitCore *core);

/* -- dispatch.c -- */

Spec *py_core_find(JitCore *core, const TypeKey *keys, int32_t n);
/* Declared signatures only: the best conversion, as a new specialisation. NULL: exception. */
Spec *py_core_convert(JitCore *core, const TypeKey *keys, int32_t n);
/* The same for signatures with functions. NULL without an exception: none fits. */
Spec *py_core_match(JitCore *core, const TypeKey *keys, int32_t n);
bool py_spec_plan(JitCore *core, Spec *spec); /* false: exception */
void py_core_add(JitCore *core, Spec *spec);  /* under the lock */

typedef struct CompileRequest {
    const TypeKey *keys; /* or a signature text */
    int32_t nkeys;
    const char *signature;
    const char *result; /* beside keys: the declared type of the result, or NULL */
    CompileOptions options;
    bool keep_gil; /* do not let other Python threads run meanwhile */
    bool texts;    /* keep_text: the texts are asked for, and the disk cache keeps them, too */
    PyObject
        *finish; /* called with the code, as bytes: what it returns is the code, instead; or NULL */
    const char *finished_by; /* what that is, for the key of the disk cache; or NULL */
    bool refused;            /* out: the compiler said no (and not Python) */
    uint64_t
        literals; /* out, where it is refused: bit k: argument k has to be a part of the types */
    char stale
        [256]; /* out: why the last entry of the disk cache under this key was of no use; empty: there was none */
} CompileRequest;

/* A specialisation of code that was compiled for these types; `result`: its type. NULL: exception. */
Spec *py_spec_of_artifact(JitCore *core, PyResolver *r, const CompileRequest *q,
                          const Type *const *types, int32_t n, Artifact *artifact,
                          const Type *result);
/* Compiles without entering it into the table. NULL with an exception. Releases the GIL in between. */
Spec *py_core_compile(JitCore *core, CompileRequest *request);
/* Several, whose code is made at the same time. `take` gets each in its order, or NULL with an exception; false: it wants
 * no more of them, and an exception is set. */
typedef bool (*SpecTaker)(void *user, CompileRequest *request, Spec *spec);
bool py_core_compile_all(JitCore *core, CompileRequest *requests, int32_t n, SpecTaker take,
                         void *user);
/* The parameter and result types asked for; NULL for a key of 0. false: diagnostics or an exception. */
bool py_request_types(JitCore *core, PyResolver *r, const CompileRequest *q, Signature *out);
/* A signature that runs the Python function (after a refusal, for @jit). */
Spec *py_core_python_spec(JitCore *core, const TypeKey *keys, int32_t n);

/* Keys of all arguments. false with an exception. */
bool py_core_keys(JitCore *core, PyObject *const *args, int32_t n, TypeKey *keys);

/* Positional and keyword arguments and defaults, in the order of parameters. What the caller passed is
 * borrowed: it keeps that alive. The rest is held, because the call may give the GIL away, and another
 * thread may then replace __defaults__ or change __kwdefaults__. */
typedef struct Bound {
    PyObject **args;
    PyObject **held; /* keyword defaults, the tuple of defaults, *args, arrays of buffers */
    TypeKey *keys;   /* room for the key of each argument */
    int32_t nheld;
    PyObject **large; /* these three, of more than FEW_ARGS parameters */
    PyObject *few_args[FEW_ARGS], *few_held[2 * FEW_ARGS + 2];
    TypeKey few_keys[FEW_ARGS];
} Bound;

/* Room for n keys: `few`, which has FEW_ARGS, or from the heap. NULL: exception. Afterwards: py_keys_free. */
TypeKey *py_keys_room(TypeKey *few, Py_ssize_t n);
static inline void py_keys_free(const TypeKey *few, TypeKey *keys) {
    if (keys != few) PyMem_Free(keys);
}

/* false with an exception, and nothing is held. After success: py_bound_release. */
bool py_core_bind(JitCore *core, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                  Bound *bound);
/* Places the arguments of a call as the parameters before *args want them; *defaults, which may hold some, is the caller's. false, and
 * no exception: py_core_bind knows what to do, or what is wrong. */
bool py_core_place(JitCore *core, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                   PyObject **out, PyObject **defaults);
void py_bound_release(Bound *bound);
/* Instead of a memoryview or an array.array its memory as an ndarray, held. false: exception; the binding stays as it is. */
bool py_bound_buffers(Bound *bound, int32_t n);

/* The options a decorator passed, from a dict of plain values. false with an exception. */
bool py_options(PyObject *dict, CompileOptions *out);

/* Compiles signatures that the user wrote and enters them. `take` is told of each, or NULL with an exception; `refused`: by the
 * compiler. false, with an exception: it, or something else, has ended the work. */
typedef bool (*DeclaredTaker)(void *user, Spec *spec, bool refused);
bool py_core_declare(JitCore *core, PyObject *const *texts, Py_ssize_t n, DeclaredTaker take,
                     void *user);
/* The type of the result for arguments of these keys, by inference alone: a TypeKind, of a time the number of its dtype in
 * state->descrs. -1: exception. */
int py_core_result_kind(JitCore *core, const TypeKey *keys, int32_t n);

/* explain_obj.c: (items, texts of the parameter types, text of the result type or None, is a type not known?) for `what`:
 * None, a signature as text, or (arguments, keywords), whose keys `key_of` gives. `device`: a function for kernels.
 * NULL: exception. */
typedef TypeKey (*ArgKey)(ModState *state, PyObject *arg, const char *function, int position);
PyObject *py_core_explain(JitCore *core, const CompileOptions *options, bool device, PyObject *what,
                          ArgKey key_of);

/* While `python -m quern explain` runs a program, its recorder is told of calls that no specialisation is made for yet,
 * and refusals are forgotten: functions run in Python, launches do nothing. */
static inline bool py_records(const ModState *state) {
    return QN_UNLIKELY(state->recorder != NULL);
}
bool py_record_call(ModState *state, PyObject *owner, PyObject *const *args, Py_ssize_t n,
                    PyObject *kwnames); /* false: exception */
/* Forgets the exception that is set, if it is a refusal and calls are recorded. */
bool py_forget_refusal(ModState *state);

/* inspect_obj.c */
PyObject *py_core_specializations(JitCore *core);
PyObject *py_core_cache_log(JitCore *core);          /* NULL is allowed: an empty one */
Spec *py_core_shown(JitCore *core, PyObject *index); /* by its number in the list above; held */
PyObject *py_core_texts(JitCore *core, PyObject *index);
PyObject *py_surface(PyObject *self, const char *name, PyObject *args, PyObject *kwargs);

/* The Python function inside each kind of object of ours (borrowed). */
PyObject *py_function_of_dispatcher(PyObject *dispatcher);
PyObject *py_function_of_ufunc(PyObject *ufunc);
PyObject *py_function_of_kernel(PyObject *kernel);
/* The same for compiled code that calls it, where its signatures are declared, or NULL (frozen.c). */
PyObject *py_frozen_of(ModState *state, PyObject *object);
PyObject *py_frozen_of_dispatcher(PyObject *dispatcher);
PyObject *py_frozen_of_ufunc(PyObject *ufunc);
/* What compiled code sees of a ufunc: itself, of a generalised one a function of quern/library, which it keeps. Borrowed; NULL:
 * exception. */
PyObject *py_ufunc_stand_in(PyObject *ufunc);
PyObject *
py_data_of_ufunc(PyObject *ufunc); /* it dies with the ufunc, and can be referred to weakly */
const CompileOptions *py_options_of_dispatcher(PyObject *dispatcher);
bool py_link(PyResolver *r, Artifact *artifact); /* resolve_foreign.c */
/* What the option locals of each says (borrowed), or NULL. */
PyObject *py_locals_of_dispatcher(PyObject *dispatcher);
PyObject *py_declared_of_dispatcher(PyObject *dispatcher); /* py_core_declared */
PyObject *py_locals_of_ufunc(PyObject *ufunc);
const CompileOptions *py_options_of_ufunc(PyObject *ufunc);
PyObject *py_locals_of_kernel(PyObject *kernel);
/* The list of signatures that a device function is declared with, borrowed; NULL: none of either. */
PyObject *py_declared_of_kernel(PyObject *kernel);
/* The same of a ufunc, a new reference. NULL: none, or an exception. */
PyObject *py_declared_of_ufunc(PyObject *ufunc);

#endif
