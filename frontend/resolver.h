/* resolver.h - what the compiler asks about Python, as one table of functions.
 *
 * Implemented by pymodule (under the GIL; a pending Python exception is an answer too) and by the
 * command-line tool jitc (from text). Arguments and answers are plain C; handles are opaque and owned
 * by the compilation: the implementation keeps them alive until resolver_close. Every answer is logged
 * with a digest, which makes the artifact's list of dependencies (DESIGN 9). */
#ifndef QUERN_RESOLVER_H
#define QUERN_RESOLVER_H

#include "frontend/base/hash.h"
#include "frontend/bytecode/code.h"

typedef void *Handle; /* a Python object, to the compiler only a name */

typedef enum BindKind {
    BIND_MISSING,  /* no such name or attribute */
    BIND_UNBUILT,  /* a name or a type that the package has and the compiler has not yet: `name` */
    BIND_CONST,    /* None, bool, int, float, complex, str, Ellipsis, tuple of these: `value` */
    BIND_NUMPY,    /* a NumPy scalar: strong. `value` and `type` */
    BIND_ARRAY,    /* an ndarray, frozen: `array` */
    BIND_LIBRARY,  /* something the tables know: `name` is its canonical name, "math.sin" */
    BIND_MODULE,   /* a module or namespace whose attributes are looked up: `name` */
    BIND_FUNCTION, /* a Python function, jitted or plain, or a device function: resolver->code */
    BIND_TYPE, /* a Quern type or NumPy dtype or scalar type object: `type`; callable as a cast */
    BIND_EXCEPTION, /* an exception class: `name` */
    BIND_MEMBER,    /* a member of an enumeration: `cls`, `number`; has attributes */
    BIND_INSTANCE,  /* a tuple or named tuple whose items are bindings */
    BIND_FOREIGN, /* a function of C: its address is `number`, `declared` has one signature, in which arrays are pointers */
    BIND_OVERLOADED, /* what libraries have implemented (quern.extending): `name`; without a handle a method of that name */
    BIND_PARTIAL, /* functools.partial: a function and arguments as `items`, their keywords or nothing as `names` */
    BIND_OPAQUE /* anything else: `name` is its type's name, for messages */
} BindKind;

/* A signature that a user has written. */
typedef struct Signature {
    const Type *result; /* type none for void; NULL: as inferred */
    const Type **params;
    int32_t nparams;
} Signature;

/* What a reduction by a ufunc starts with. */
typedef enum UfuncIdentity {
    IDENTITY_NONE,      /* the first element; axes are reduced one by one only */
    IDENTITY_ANY_ORDER, /* the first element */
    IDENTITY_ZERO,
    IDENTITY_ONE
} UfuncIdentity;

typedef struct Binding {
    BindKind kind;
    Handle handle;
    Handle object; /* what the program has, a decorated function, say; NULL: nothing of Python's */
    Str name;
    const ConstVal *value;
    const Type *type;
    const FrozenArray *array;
    int32_t nitems; /* BIND_INSTANCE */
    const struct Binding *const *items;
    const Str *names; /* BIND_PARTIAL; of a dataclass with fields that are given by name alone, the
                       * parameters of its __init__: the last `number` are these */
    /* BIND_FUNCTION: with declared signatures, calls convert their arguments to one of them, and the
     * result; there are no others. Those of a ufunc are NumPy's loops: the first that is reached by safe casts. */
    const Signature *declared;
    int32_t ndeclared;
    /* BIND_FOREIGN, of cuda.declare_device: for kernels alone; on GPUs `number` is 0 and `name` its symbol. by_pointer: its first
     * parameter is where the result goes. together: it waits for the grid. */
    bool in_kernels, by_pointer, together;
    bool builtin;           /* BIND_EXCEPTION: Python's own class of that name */
    bool elementwise;       /* BIND_FUNCTION: of a ufunc; on arrays it is called for each element */
    UfuncIdentity identity; /* of a ufunc */
    bool
        stand_in; /* BIND_FUNCTION: of quern/library, for a generalised ufunc; it gets constants as they are */
    const struct EnumClass *enumeration; /* BIND_MODULE: is it one? */
    const struct Binding *cls;           /* BIND_MEMBER */
    int64_t number;
    Hash128 digest;
} Binding;

/* An enumeration: a namespace (BIND_MODULE). At run time its members are numbers: where they are ints (IntEnum) these,
 * and else their positions in the class. */
typedef struct EnumClass {
    bool ints;
    bool plain; /* ints, and the attribute `value` of each is that int */
    int32_t n;
    const Str *names; /* one for each number; aliases, too */
    const int64_t *numbers;
    int32_t norder; /* members that an iteration gives: which names, in its order */
    const int32_t *order;
    int32_t nbases; /* the class and all that it is derived from */
    Handle *bases;
    bool
        by_value; /* Color(1) is the member with that value, or a ValueError; else the class has a _missing_ of its own, as flags have */
    Str qualified; /* __qualname__, of which that speaks */
} EnumClass;

/* A parameter's default value. */
typedef struct FunctionInfo {
    const CodeUnit *code;
    const Binding *const
        *defaults; /* one for each parameter (positional, then keyword-only); NULL: none */
    const Type *const
        *locals; /* for each local its declared type, or NULL (option locals); NULL: none has one */
    /* Options that reach its meaning: those of its own decorator, or of the entry's where it has none. */
    bool weak_numbers, boundscheck, error_numpy, parallel;
    bool
        own_math; /* its decorator says what may be done to float operations: `fastmath`, FastMath bits (codegen.h) */
    uint32_t fastmath;
} FunctionInfo;

typedef enum DependencyKind {
    DEP_GLOBAL,
    DEP_FREEVAR,
    DEP_ATTR,
    DEP_CODE,
    DEP_DEFAULT,
    DEP_SAME /* "path=path": both lead to one object; without a digest */
} DependencyKind;

/* One answer given: replayed by the disk cache without inference. `path` names the object asked from
 * the entry function: "g:helper", "g:np.sqrt", "g:helper/f:0". */
typedef struct Dependency {
    DependencyKind kind;
    Str path;
    Hash128 digest;
} Dependency;
typedef Vec(Dependency) DependencyLog;

/* What implementations that libraries have registered (quern.extending) are asked for: calls of a function, an attribute of
 * values of a type, a method, or whether there is a method of that name. */
typedef enum OverloadKind {
    OVERLOAD_CALL,
    OVERLOAD_ATTRIBUTE,
    OVERLOAD_METHOD,
    OVERLOAD_HAS_METHOD
} OverloadKind;

/* An argument: its type, and its value or those of its items where they are known. */
typedef struct OverloadArg {
    const Type *type;
    const ConstVal *value;
    const struct OverloadArg *items; /* of a tuple; NULL: nothing is known of them */
} OverloadArg;

typedef struct OverloadQuery {
    OverloadKind kind;
    const Binding *callee; /* OVERLOAD_CALL, unless it is known by its canonical name */
    Str name;
    const OverloadArg *args; /* of attributes and methods the object comes first */
    int32_t nargs, nkeywords;
    const Str *names;
} OverloadQuery;

typedef struct Overload {
    const Binding *function; /* the implementation; NULL: none takes these arguments */
    bool found;              /* OVERLOAD_HAS_METHOD */
    bool literals;           /* it was chosen by the values of the arguments */
    Str reasons;             /* what those that refused have said; may be empty */
} Overload;

/* What a class has for its instances. */
typedef enum MemberKind {
    MEMBER_METHOD,   /* a function that gets the instance */
    MEMBER_PROPERTY, /* one that is called when the attribute is read, or set */
    MEMBER_OTHER     /* a static method, a constant of the class */
} MemberKind;

typedef struct Resolver {
    void *user;
    /* All return NULL (or false) only with a diagnostic added or a Python exception pending. A name that
     * does not exist is a Binding of kind BIND_MISSING. Bindings live in the compilation's arena and are
     * interned: the same object gives the same pointer, so they can be compared by address. */
    const Binding *(*global)(void *user, Handle function, Str name);
    const Binding *(*builtin)(void *user, Str name);
    /* What `import` in a function gives: names[0] is the module, with a dot for each level that it lies above the function's, the
     * others are taken from it; without any the outermost package is meant.
     * BIND_MISSING: it cannot be imported. May be NULL. */
    const Binding *(*import)(void *user, Handle function, const Str *names, int32_t n);
    const Binding *(*freevar)(void *user, Handle function, int32_t index);
    const Binding *(*attr)(void *user, const Binding *object, Str name);
    const FunctionInfo *(*code)(void *user, const Binding *function);
    /* A function that `function` makes when it runs: `code` is a constant of its CodeUnit. No closure variable of it has a
     * value. NULL: nobody asks (ti_diagnose does). */
    const Binding *(*nested)(void *user, const Binding *function, Handle code);
    /* What a class of named tuples, of values or of instances has for them; `setter`: for assignment to the attribute, a property.
     * BIND_MISSING: nothing that could be compiled. May be NULL. */
    const Binding *(*member)(void *user, Handle cls, Str name, bool setter, MemberKind *kind);
    /* The Python function of quern/library that implements a canonical name ("builtins.sum"). */
    const Binding *(*library)(void *user, Str name);
    Str library_folder; /* where the files of these functions lie, with a slash at its end; empty: they are not known */
    /* Is one class of exceptions derived from the other, or the same? 1 yes, 0 no, -1 a Python exception is pending. Classes
     * are builtins, by name, unless they have a handle. */
    int (*subclass)(void *user, const ExceptionClass *of, const ExceptionClass *base);
    /* Is there an implementation under that name, for some types? Both may be NULL. */
    bool (*overloads)(void *user, OverloadKind kind, Str name);
    const Overload *(*overload)(void *user, const OverloadQuery *query);
    int64_t noverloads; /* how many implementations are registered, of whatever */
    DependencyLog log;
    bool
        captures; /* an answer was an array on a device: no kernel may take for granted where arrays lie */
} Resolver;

#endif
