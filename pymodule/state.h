/* state.h - the one module state, and what the files of pymodule declare for each other.
 *
 * Nothing here is global: every heap type finds the state through its module, every object of ours keeps
 * a pointer to it (the object keeps its type alive, the type keeps the module alive). */
#ifndef QUERN_STATE_H
#define QUERN_STATE_H

#include "pymodule/compat.h"
#include "pymodule/raised.h"
#include "codegen/codegen.h"
#include <limits.h>

/* -- type keys --------------------------------------------------------------------------------
 * An argument's type as a small integer, so that a signature is compared with memcmp.
 *   scalars    KEY_SCALAR(kind)
 *   arrays     KEY_ARRAY | element | ndim << 10 | layout << 16 | flags; element: a TypeKind, or from FIRST_RECORD on the number
 *              of a structured dtype
 *   compounds  KEY_COMPOUND | index into state->compounds (tuples, named tuples, functions) */
typedef uint32_t TypeKey;
#define KEY_ARRAY        (UINT32_C(1) << 30)
#define KEY_COMPOUND     (UINT32_C(1) << 31)
#define KEY_READONLY     (UINT32_C(1) << 24)
#define KEY_UNALIGNED    (UINT32_C(1) << 25)
#define KEY_SCALAR(kind) ((TypeKey)(kind) + 1)
enum { FIRST_RECORD = 64, MOST_ELEMENTS = 1024 };
static inline TypeKey key_array(int element, int ndim, Layout layout, uint32_t flags) {
    return KEY_ARRAY | (TypeKey)element | (TypeKey)ndim << 10 | (TypeKey)layout << 16 | flags;
}
static inline bool key_is_scalar(TypeKey key) {
    return !(key & (KEY_ARRAY | KEY_COMPOUND));
}
static inline bool key_is_array(TypeKey key) {
    return key & KEY_ARRAY;
}
static inline bool key_is_compound(TypeKey key) {
    return key & KEY_COMPOUND;
}
static inline TypeKind key_scalar_kind(TypeKey key) {
    return (TypeKind)(key - 1);
}
static inline int key_element(TypeKey key) {
    return (int)(key & 0x3ff);
}
static inline int key_ndim(TypeKey key) {
    return (int)(key >> 10 & 0x3f);
}
static inline Layout key_layout(TypeKey key) {
    return (Layout)(key >> 16 & 0xff);
}

/* Parameters of a function, and items of a tuple; how many of them have their room on the stack. */
enum { MAX_ARGS = 10000, MAX_TUPLE = 10000, FEW_ARGS = 32, MAX_NESTING = 32, MAX_DIMS = 32 };

/* nitems >= 0: a tuple type (cls: the class of a named tuple, or NULL). KEY_OBJECT: a function, or a member of an
 * enumeration. KEY_MEMBERS: the members of an enumeration. KEY_INSTANCE: instances of a class with @jitclass. KEY_TIME: scalars of
 * a dtype of times, which is `cls`. One item of the class
 * None: an optional, which only fields and elements are. Items of the class of functions: one of these functions, as an element. No class and no object is kept: when it dies, its key, the keys of
 * tuples that it stands in, and their specialisations go. */
enum { KEY_OBJECT = -1, KEY_MEMBERS = -2, KEY_INSTANCE = -3, KEY_TIME = -4, KEY_LITERAL = -5 };
typedef struct Walkable Walkable;
typedef struct Compound {
    int32_t nitems;
    PyObject *cls;
    PyObject *weak; /* a weak reference to cls; NULL for objects that have none: they are kept */
    bool dead;      /* cls is gone, or that of an item: nothing is found under this key */
    _Atomic(Walkable *) walkable; /* walks.c: of a typed dict or set that was walked, or NULL */
    TypeKey items[];
} Compound;

typedef struct CompoundTable {
    struct CompoundTable *older; /* shorter ones, which another thread may be reading */
    int32_t n, room;
    Compound *items[]; /* NULL: a key that is free */
} CompoundTable;

/* What a class with @jitclass has under a name: shared.c. Of a field with a number of `kind` the place, too. */
typedef struct AttributeEntry {
    PyObject *name;
    PyObject *what; /* borrowed: the class of that version holds it */
    unsigned version;
    int kind;
    int64_t offset;
} AttributeEntry;

enum { SMALL_INTS = 257 };

typedef struct ModState {
    PyObject *module; /* borrowed */
    PyTypeObject *dispatcher_type, *ufunc_data_type, *kernel_type, *launch_type;
    PyTypeObject *shared_type, *field_type, *walk_type, *generator_type, *cfunction_type;
    PyTypeObject *instance_type;         /* the base of the next one */
    PyObject *instance_class;            /* the base of classes with @jitclass */
    AttributeEntry attributes[256];      /* under the GIL */
    PyObject *shared_classes[CLS_COUNT]; /* typed.List and its kin, told by register(); else NULL */
    int exclusive; /* calls that run and were given shared objects; under the GIL */
    PyTypeObject *device_array_type, *stream_type, *event_type, *graph_type, *device_type,
        *api_type;
    PyTypeObject *ufunc_type;  /* made at run time: see ufunc.c; lives for ever */
    PyObject *np;              /* the numpy module */
    PyTypeObject *memmap_type; /* numpy.memmap: an array like any other whose memory is a file */
    PyTypeObject *random_type; /* numpy.random.Generator, once it was seen; else NULL */
    bool takes_subclasses;     /* --as-numba: arrays of subclasses of ndarray lose what these add */
    PyTypeObject *recarray_type; /* numpy.recarray: one whose fields are attributes, too */
    PyObject *errors;            /* quern.errors, imported when first needed */
    PyObject *linecache;
    PyObject *
        recorder; /* a callable, while `python -m quern explain` runs a program: see explain_obj.c */
    /* classes of the Python package, told to us by register() */
    PyObject *type_class, *intrinsic_class, *namespace_class;
    PyObject *overloads; /* quern/_overloads.py's registry, once something is registered; or NULL */
    PyObject *str_quern_name;
    PyObject *small_ints[SMALL_INTS]; /* 0 to 256, of which Python has one each */
    PyArray_Descr *descrs
        [MOST_ELEMENTS]; /* NULL for weak numbers and none; structured ones from FIRST_RECORD on */
    PyTypeObject *scalar_types[TY_SCALARS]; /* NumPy's scalar types, borrowed from NumPy */
    PyGuard lock; /* of what follows; and of the tables of cores (spec.c) */
    _Atomic(CompoundTable *) compounds;
    struct JitCore *cores;
    PyObject *object_died; /* the callback of weak references */
    uint32_t dump;         /* DumpBits of the newest compilation */
    uint32_t warnings;     /* LaunchWarnings that are asked for */
    /* cache.c: what all entries of a process depend on, once it was looked at; entries stored */
    char library_folder[PATH_MAX]; /* once it was asked for */
    Hash128 cache_environment;
    bool cache_known;
    uint32_t cache_stored;
    void *runtime;                     /* kernel_obj.c's */
    struct BoxedExceptions *boxed;     /* of the results that threads are making */
    _Atomic(struct PyOwner *) dropped; /* owners.c: those without references */
    _Atomic int64_t owners;            /* how many there are */
} ModState;

/* Of a key whose objects are alive. */
static inline const Compound *py_compound(ModState *state, TypeKey key) {
    return atomic_load_explicit(&state->compounds, memory_order_acquire)
        ->items[key & ~KEY_COMPOUND];
}

ModState *py_state(PyObject *module);
ModState *py_state_of_type(PyTypeObject *type);
extern PyModuleDef py_module_def;

/* -- argtype.c: from Python objects to keys to types -- */

/* Is it a member of an enumeration? 1, 0, -1 exception. */
int py_is_enum_member(PyObject *object);

/* -- random.c: numpy.random.Generator -- */
bool py_is_random(ModState *state, PyObject *object);
/* Or an instance of a class that is derived from it? */
bool py_is_random_subclass(PyObject *object);
/* Has its bit generator what compiled code calls? */
bool py_has_bits(PyObject *random);
/* The class, borrowed. NULL: exception. */
PyObject *py_random_class(ModState *state);
PyObject *py_box_random(const char *value);

/* -- enums.c: members of enumerations are numbers at run time, see EnumClass (frontend/resolver.h) -- */
/* Is it a member of an enumeration whose members are ints of 64 bits? Never an exception. */
bool py_is_int_member(PyObject *object);
bool py_key_is_int_member(ModState *state, TypeKey key);
/* All about a class with _member_map_; NULL: exception. */
const EnumClass *py_enum_class(Arena *arena, PyTypeObject *cls);
/* ints: its members are ints. false: exception. */
bool py_member_number(bool ints, PyObject *member, int64_t *number);
/* A new reference; NULL: exception. */
PyObject *py_member_of_number(PyTypeObject *cls, int64_t number);
/* The class as a resolver's binding, without keeping it. NULL: exception. */
struct PyResolver;
const Binding *py_enumeration(struct PyResolver *r, PyTypeObject *cls);
/* values.c: "c:module:Outer,Inner" of a class that stands under its name in its module; empty: it does not. And the class again,
 * without an import; NULL: it is not there, or an exception. */
Str py_class_path(struct PyResolver *r, PyObject *cls);
const Binding *py_class_at(struct PyResolver *r, Str path);
/* Is a Python int between 2**63 and 2**64 - 1? 1 yes, 0 no, -1 exception. */
int py_wide_int(PyObject *o, uint64_t *out);
/* The TypeKind of a NumPy type number, or -1. */
int py_kind_of_typenum(int typenum);
int py_typenum_of_kind(TypeKind kind);
/* The kind of a NumPy scalar type object; -1 when it is none we know. */
int py_kind_of_scalar_type(ModState *state, PyTypeObject *type);
/* Where a NumPy scalar of this kind keeps its value. */
size_t py_scalar_value_offset(TypeKind kind);
/* 0 with TypingError set when the argument has no type here. `what` is used in messages: "argument 2 of 'f'". */
TypeKey py_arg_key(ModState *state, PyObject *arg, const char *function, int position);
TypeKey py_kernel_arg_key(ModState *state, PyObject *arg, const char *function, int position);
/* r: NULL for a type that is only shown or compared: then enumerations have bindings of their own. */
const Type *py_key_type(ModState *state, struct PyResolver *r, TypeTable *types, Arena *arena,
                        TypeKey key, bool strong);
/* The key of a declared type; 0 when arguments of this type cannot come from Python. */
TypeKey py_type_key(ModState *state, const Type *type);
/* The class of text that Python objects of a class are. */
PyObject *py_plain_text(PyTypeObject *type);
/* The user's name of a key's type, a new reference. `exact`: as py_exact_text. */
PyObject *py_key_text(ModState *state, TypeKey key, bool exact);
/* Of a type: messages name the classes of instances, text that is read again has their numbers. */
PyObject *py_exact_text(ModState *state, Arena *arena, const Type *type);
/* Is it of a subclass of ndarray that is taken as the ndarray it is made of? Under --as-numba all but masked arrays are. */
bool py_is_taken_subclass(const ModState *state, PyObject *object);
/* An ndarray, or a subclass whose own behaviour compiled code does not lose: numpy.memmap and numpy.recarray. */
static inline bool py_is_array(const ModState *state, PyObject *object) {
    return PyArray_CheckExact(object) || Py_TYPE(object) == state->memmap_type ||
           Py_TYPE(object) == state->recarray_type ||
           (state->takes_subclasses && py_is_taken_subclass(state, object));
}
int py_argtype_init(ModState *state);
void py_argtype_clear(ModState *state);

/* -- compounds.c -- */
/* The key of a compound, see there. 0: exception. */
TypeKey py_compound_key(ModState *state, PyObject *cls, const TypeKey *items, int32_t n);
/* Of the instances of a class with @jitclass. */
TypeKey py_instance_key(ModState *state, PyObject *cls);
/* The class with the number of such a key: a new reference, or NULL (no exception). */
PyObject *py_instance_class(ModState *state, int32_t number);
/* The function that a key stands for: a new reference, or NULL (no exception) when it has died. */
PyObject *py_key_function(ModState *state, TypeKey key);
int py_compounds_init(ModState *state);
void py_compounds_clear(ModState *state);

/* -- literals.c -- */
/* Of an int, a bool or text whose value is a part of the type: literally(). 0: exception, or it is something else. */
TypeKey py_literal_key(ModState *state, PyObject *value);
const Type *py_literal_type(ModState *state, struct PyResolver *r, TypeTable *types, Arena *arena,
                            const Compound *c);

/* -- records.c: kinds of elements, TypeKinds or numbers of structured dtypes -- */
/* -1: arrays of it are not supported. */
int py_kind_of_descr(ModState *state, PyArray_Descr *descr);
/* Borrowed. NULL with an exception: it is bfloat16, and there is no package that has it. */
PyArray_Descr *py_descr_of_kind(ModState *state, int kind);
int py_kind_of_element(ModState *state, const Type *element);
/* NULL: exception. */
const Type *py_element_type(ModState *state, TypeTable *types, Arena *arena, int kind);
/* A type in the words of a signature, with the dtypes of its records; a record alone is an array without axes. NULL, false: exception. */
const Type *py_written_type(ModState *state, TypeTable *types, Arena *arena, const Type *type);
bool py_written_signature(ModState *state, TypeTable *types, Arena *arena, Signature *signature);
/* Do records lie so that each field is where its type wants it, if their dtype has it so? */
bool py_is_aligned(PyArray_Descr *record, const void *data, int ndim, const npy_intp *shape,
                   const npy_intp *strides);
/* A record of its own: a[i] of a structured array. */
bool py_is_record(PyObject *object);

/* -- times.c: datetime64 and timedelta64 -- */
bool py_is_time(const PyArray_Descr *descr); /* in this machine's byte order */
const Type *py_time_type(TypeTable *types, const PyArray_Descr *descr);
/* The number of its dtype in keys, which state->descrs has; -1: there is no room. */
int py_kind_of_time(ModState *state, const Type *time);
/* Of the elements of an array, or of a time itself. */
int py_kind_of_layout(ModState *state, const ValueLayout *layout);
bool py_is_time_scalar(PyObject *object);
int64_t py_time_number(PyObject *scalar);                      /* of units */
TypeKey py_time_key(ModState *state, int kind);                /* 0: exception */
TypeKey py_time_scalar_key(ModState *state, PyObject *scalar); /* 0: no room, or exception */
bool py_unbox_time(const PyArray_Descr *descr, PyObject *object, int64_t *out); /* of that dtype? */
PyObject *py_box_time(ModState *state, const ValueLayout *layout, const char *value);

/* -- codeobj.c -- */
/* A NULL answer comes with an exception. */
const CodeUnit *py_code_unit(Arena *arena, PyObject *code, void *handle, PyObject *keep);
const ConstVal *py_const(Arena *arena, PyObject *object, PyObject *keep);
bool py_str(Arena *arena, PyObject *unicode, Str *out);

/* -- digest.c: what things mean, as hashes -- */
PyObject *py_code_of(PyObject *function); /* a function, or a code object; borrowed */
Hash128 py_digest_text(BindKind kind, Str text);
void py_hash_const(Hasher *h, const ConstVal *c);
void py_hash_str(Hasher *h, Str text);
/* The keywords of a BIND_PARTIAL, beside its items. */
void py_digest_keywords(Binding *b);
/* The elements in the order of the indices, from an axis on. */
void py_hash_elements(Hasher *h, PyArrayObject *array, int axis, const char *at);
struct PyResolver;
/* A function's meaning and its places: bytecode, constants, names, lines. What these refer to is logged when asked.
 * false: exception. */
bool py_digest_function(struct PyResolver *r, PyObject *function, Hash128 *out);
/* A class of exceptions, whose name is known: it and those that it is derived from, and whether it is Python's own. */
bool py_digest_exception(PyObject *cls, Binding *b);
void py_hash_enumeration(const EnumClass *enumeration, Hash128 *digest); /* adds to it */

/* Options that a callee follows: of its own decorator, or of the entry's. */
typedef struct CalleeOptions {
    PyObject *
        locals; /* its option locals: {variable: text of its type, or an error}; or NULL. Borrowed */
    bool strong, unchecked, error_numpy, parallel;
    bool inner; /* taken from the function around it, which makes it */
    uint32_t fastmath;
} CalleeOptions;

/* -- resolve.c -- */
typedef struct PyResolver {
    Resolver base;
    ModState *state;
    Compilation *compilation;
    Arena *arena;
    TypeTable *types;
    PyObject *keep; /* a list: every object the compilation knows by handle */
    PyObject *held; /* the same, of what its code does not keep alive */
    Map bindings;   /* object -> Binding */
    Map infos;      /* function -> FunctionInfo */
    Map callees;    /* function -> its CalleeOptions */
    Map frozen; /* function with the globals of its compilation -> the program's own: frozen.c */
    PyObject *locals; /* that of the entry, or NULL; borrowed */
    bool calls_declared;
    const char *arch; /* CompileOptions.arch */
    bool closed;      /* CompileOptions.closed */
    PyObject *linked; /* the option link of the entry, or NULL; borrowed */
    PyObject
        *links; /* a list of it and of what the declared functions that it calls are linked with */
    Map paths;  /* Binding -> path from the entry */
    Vec(const Binding *)
        arguments; /* functions and constants that are arguments, or stand in them: paths "a:0", "a:1" */
    Map codes;            /* code handle -> path of its function */
    InferOptions options; /* of the entry: plain callees inherit them */
    uint32_t fastmath;    /* the same */
    PyObject *entry;      /* borrowed */
    int nesting;          /* of the tuple being bound */
} PyResolver;
/* Of quern/library, with a slash at its end: beside the extension. Empty: it is not known. */
Str py_library_folder(ModState *state);
void py_resolver_init(PyResolver *resolver, ModState *state, PyObject *entry,
                      const CompileOptions *options);
/* After cg_begin: the resolver's memory is the compilation's. false: exception. */
bool py_resolver_attach(PyResolver *resolver, Compilation *compilation);
void py_resolver_close(PyResolver *resolver);
const Binding *py_bind(PyResolver *resolver, PyObject *object, Str path);
/* One that is an argument. */
const Binding *py_bind_argument(PyResolver *resolver, PyObject *object);
bool py_is_partial(PyObject *object); /* functools.partial(...) */
/* The binding is of that kind, and called by that name. */
bool py_bind_name(PyResolver *r, Binding *b, BindKind kind, const char *name);
/* Another path leads to an object that has one: what is asked of it is asked at the first one alone. */
void py_log_alias(PyResolver *r, Str path, const Binding *b);
/* An answer that the code depends on. */
void py_log_dependency(PyResolver *r, DependencyKind kind, Str path, const Binding *b);
/* overloads.c: is the object known by implementations of libraries? */
bool py_is_overloaded(PyResolver *r, PyObject *object);
void py_overloads_init(PyResolver *r);
/* What stands at a path; borrowed, held by the resolver. NULL: nothing, or an exception. */
typedef PyObject *ObjectAt(void *user, Str path);
/* The implementation that the question of a path is answered with. NULL: an exception, or there is none any more. */
const Binding *py_overload_at(PyResolver *r, Str path, ObjectAt *object, void *user);
/* questions.c: what the registry of implementations is asked, as a path ("o:..."). Empty: it names something that has no path. */
Str py_question_path(PyResolver *r, PyObject *question, bool literals);
/* The question of a path, a new reference. NULL, perhaps with an exception: it makes no sense, or not any more. */
PyObject *py_question_at(PyResolver *r, Str path, ObjectAt *object, void *user, bool *literals);
/* resolve_foreign.c: a function of ctypes or cffi. 1 bound, 0 another object, -1 exception. */
bool py_bind_function(PyResolver *r, Binding *b, PyObject *function);
int py_bind_wrapped(PyResolver *r, Binding *b, PyObject *object);
bool py_read_declared(PyResolver *r, Binding *b,
                      PyObject *texts); /* of the signatures of a function */
/* Called in compiled code: a Python function in some dress, or a function of C (of ctypes, cfunc(), with an address of its own). */
bool py_is_function(ModState *state, PyObject *object);
bool py_is_of_c(PyObject *object);
bool py_is_ffi(PyObject *object);
const Binding *py_ffi_attr(PyResolver *r, Str name);
int py_bind_declared(PyResolver *r, Binding *b, PyObject *object);
int py_bind_of_c(PyResolver *r, Binding *b, PyObject *object);
/* resolve_arrays.c. false: exception. */
/* A device's, or another library's: 1 bound, 0 another object, -1 exception. */
int py_bind_device_array(PyResolver *r, Binding *b, PyObject *object, Str path);
bool py_bind_array(PyResolver *r, Binding *b, PyObject *array);
bool py_bind_record(PyResolver *r, Binding *b, PyObject *record);
bool py_bind_time(PyResolver *r, Binding *b, PyObject *scalar); /* times.c */
/* resolve_library.c. Functions and classes of NumPy, math, random ...: 1 bound, 0 not one of them, -1 exception. */
int py_bind_library(PyResolver *r, Binding *b, PyObject *object);
/* Of a BIND_TYPE of instances of a @jitclass: with the fields, and those of the classes that they name. */
void py_digest_instances(PyResolver *r, Binding *b);
/* All of a type: what the user is told leaves out where the fields of records lie. */
Str py_type_text(PyResolver *r, const Type *type);
/* The Python function inside a dispatcher, kernel or ufunc of ours; NULL (no exception) for others. Borrowed. */
PyObject *py_function_of(ModState *state, PyObject *object);
/* -- callees.c -- */
/* The function that a call of `object`, a function or what a decorator made of one, is compiled from: borrowed. NULL: it is none of ours, or
 * an exception. */
PyObject *py_callee_of(PyResolver *r, PyObject *object);
void py_callee_options(PyResolver *r, PyObject *function, FunctionInfo *info);
/* `function` is made by `outer`, whose options it has but for locals. */
void py_callee_inside(PyResolver *r, PyObject *function, PyObject *outer);
PyObject *py_callee_locals(PyResolver *r, PyObject *function); /* borrowed, or NULL */
/* Adds these options to the digest of a function, which is a callee. false: exception. */
bool py_digest_options(PyResolver *r, PyObject *function, Hash128 *digest);

/* -- raise.c -- */
/* With its place, source line and notes. NULL: exception. */
PyObject *py_diag_text(ModState *state, DiagList *diags, const DiagItem *item);
/* Delivers warnings, then sets the exception of the first error (or a general one). */
void py_raise_diags(ModState *state, DiagList *diags);
/* Warnings only; -1 when one of them was turned into an exception. */
int py_warn_diags(ModState *state, DiagList *diags);
/* Gives a warning of class quern.errors.<class_name> the place of the caller outside this package. Takes over `text`; NULL is
 * an exception that is already set. -1 when there is an exception: the user's filter may make one. */
int py_warn(ModState *state, const char *class_name, PyObject *text);
/* The exceptions of one result, so that one that is there several times is one object: a dict, or NULL. `ctx`: of the call. Classes of the
 * program run code of its own, in which other threads and other calls make theirs. */
typedef struct BoxedExceptions {
    const CallContext *ctx;
    PyObject *made;
    PyThreadState *thread;
    struct BoxedExceptions *next;
} BoxedExceptions;
/* An exception that is an object, of code of that artifact; takes over a reference. */
PyObject *py_box_exception(ModState *state, const Artifact *artifact, const char *value);
/* Sets the exception that compiled code left. */
void py_raise_call(ModState *state, const Artifact *artifact, const CallContext *ctx, int status,
                   PyObject *globals);
/* quern.errors.<name>, a new reference. */
PyObject *py_error_class(ModState *state, const char *name);
void py_raise_typing(ModState *state, const char *format, ...) QN_PRINTF(2, 3);

/* runtime_error.c: the exception of an RtError that is set. */
struct RtError;
void py_raise_runtime(ModState *state, const struct RtError *err);

/* -- owners.c: what keeps a Python object alive that lies in an object of compiled code -- */
/* With one reference. NULL with MemoryError. */
Owner *py_own(ModState *state, PyObject *object);
bool py_is_owned(const Owner *owner); /* made by py_own? */
/* Owners that compiled code has dropped give their objects back now: after each call with objects, with the GIL. */
void py_drop_owned(ModState *state);
int64_t py_live_owners(ModState *state); /* for tests */

/* -- values.c: frozen dataclasses -- */
/* 1: it is one, with the names of its fields (a new reference); 0; -1: exception. */
int py_value_fields(PyObject *cls, PyObject **names);
bool py_is_value_class(PyObject *cls); /* no exception */
/* {name: default}, or None where its instances are not made by the decorator's __init__ alone. NULL: exception. */
PyObject *py_value_defaults(PyObject *cls);
/* The names of the fields that are given by name alone, a tuple. NULL: exception. */
PyObject *py_value_keywords(PyObject *cls);
/* ", a dataclass that is not frozen": for messages. Empty: there is nothing to say. */
Str py_why_no_value(Arena *arena, PyObject *cls);
/* The fields of an instance, as a tuple; an instance of them. NULL: exception. */
PyObject *py_value_items(PyObject *value, PyObject *names);
PyObject *py_make_value(PyObject *cls, PyObject *items);

/* What a class has under a name: a function, that of a property, or what a static method stands for; a new reference. NULL without
 * an exception: nothing that could be compiled. */
PyObject *py_member_of(ModState *state, PyObject *cls, PyObject *name, bool setter,
                       MemberKind *kind);

/* -- box.c -- */
/* A new reference, or NULL with an exception. Takes over the reference to an owned array's memory. */
PyObject *py_box(ModState *state, const ValueLayout *layout, const char *value);
/* Is the value, whose owner belongs to an array of Python, all of that array? */
bool py_is_array_of(PyObject *array, const ArrayValue *value, int ndim);
/* Strings of compiled code have the hashes of Python's. */
void py_use_hash(void);
PyObject *py_box_str(const char *value);
PyObject *py_box_bytes(const char *value);
PyObject *py_box_bytearray(const char *value);
/* Of list, dict and set; CLS_COUNT: of any other class. */
ClassId py_container_class(PyObject *cls);
/* variants.c: collections.Counter and its kin; what makes the values of a defaultdict, if it is one of the classes that are known. */
Variant py_variant_of(PyObject *cls);
ValueMaker py_maker_of(PyObject *factory);
PyObject *py_box_object(ModState *state, const ValueLayout *layout, const char *value);

/* -- shared.c: objects that Python and compiled code share -- */
/* Which container's class it is, of typed.List and its kin; CLS_COUNT: another class. */
ClassId py_shared_class(const ModState *state, PyObject *cls);
PyObject *py_class_of_shared(ModState *state, ClassId id); /* borrowed; NULL: exception */
PyObject *py_box_shared(ModState *state, const ValueLayout *layout, const char *value);
/* Of a class with @jitclass, with its fields. NULL: exception. */
const Type *py_instance_type(ModState *state, TypeTable *types, Arena *arena, PyObject *cls);
/* false: RuntimeError, since compiled code runs that was given such objects. */
bool py_may_change(const ModState *state);

/* -- call support: poll and stack limit (jitfunc.c) -- */
struct Spec;
typedef struct CallFrame {
    PyThreadState *saved; /* not NULL: the GIL is released during the call */
    uint64_t next_check;  /* ns of the monotonic clock; 0: the clock was not read yet */
    struct ModState *state;
    struct Spec *spec; /* what is called */
    struct Spec *runs; /* to be held as soon as the GIL is given up; NULL: it is */
    bool exclusive;    /* no other thread gets a turn: the call was given shared objects */
} CallFrame;
int32_t py_poll(CallContext *ctx);
void py_set_interrupted(void); /* the exception of a call that a poll has ended without one */
PyObject *py_leave(PyObject *module, PyObject *unused);
char *py_stack_limit(void);
/* A call of a Dispatcher with one argument. */
PyObject *py_call_getter(PyObject *self, PyObject *instance); /* an instance of a @jitclass */

/* -- walks.c: iterators over typed containers -- */
/* container._walk(over, copied): an iterator over its keys (0), values (1) or pairs (2), or over what copied(container) gives, where they
 * cannot be read in place. */
PyObject *py_walk(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *py_walk_keys(PyObject *self,
                       PyObject *unused); /* the function is `_copied_keys` of the class */
void py_walkable_free(Walkable *walkable);

/* -- dump.c: QUERN_DUMP -- */
/* false: ValueError, an unknown word. */
bool py_dump_asked(ModState *state, uint32_t *bits);
bool py_dump_needs_text(uint32_t bits);
const char *py_dump_target(const CompileOptions *options);
/* These leave an exception that is set as it is. */
void py_dump_ssa(PyResolver *resolver, const char *target);
/* What the disk cache did with an entry. */
void py_dump_cache(PyObject *function, const char *what, const char *entry, const char *why);
void py_dump_artifact(const Artifact *artifact, const char *target, uint32_t bits);

/* -- inspect_obj.c -- */

/* -- types, made by module.c from these specs -- */
extern PyType_Spec py_dispatcher_spec, py_ufunc_data_spec, py_shared_spec, py_field_spec,
    py_walk_spec, py_instance_spec;
extern PyType_Spec py_generator_spec, py_cfunction_spec;
PyObject *py_compile_c(PyObject *module, PyObject *args);      /* cfunc_obj.c */
PyObject *py_compile_kernel(PyObject *module, PyObject *args); /* ahead.c */
PyObject *py_compile_host(PyObject *module, PyObject *args);
PyObject *py_make_ufunc(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *py_make_gufunc(PyObject *module, PyObject *args);
int py_ufunc_init(ModState *state);
int py_device_init(ModState *state, PyObject *module); /* kernels, arrays, streams */
void py_device_clear(ModState *state);
int py_device_traverse(ModState *state, visitproc visit, void *arg);

#endif
