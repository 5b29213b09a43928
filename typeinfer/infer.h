/* infer.h - private to typeinfer: what inference and specialisation share.
 *
 * One walk over the instructions does both jobs. In inference (`in->emit` is NULL) it computes facts
 * until they stop changing; in specialisation it runs once more over the final facts and every
 * helper also appends typed instructions. A helper therefore takes and gives `Val`s, a fact with the typed instruction that holds it, and
 * never asks which of the two it is in. What only appends typed instructions takes the `Emit` alone.
 *
 * A fact is the type of a value and, where known, its constant. "Not known yet" is type == NULL. */
#ifndef QUERN_INFER_H
#define QUERN_INFER_H

#include "frontend/base/arguments.h"
#include "typeinfer/typeinfer.h"

typedef struct Fact Fact;
struct Fact {
    const Type *type;         /* NULL: not known yet */
    const ConstVal *value;    /* a scalar known at compile time */
    const FrozenArray *array; /* a constant array */
    const Fact *items; /* of the items of a tuple, slice or range, lengths of an array; or NULL */
    bool unbound;      /* may also be the value of an unassigned local */
    bool conflict;     /* a phi whose operands have no common type: only an error when used */
    bool reported;     /* ti_diagnose: nothing is known, and why has been told; `type` is NULL */
    uint8_t python;    /* MET_... of ti_meet */
};

typedef struct Val {
    Fact f;
    Ref ref; /* typed value; 0 in inference, for constants and for compile-time objects */
    Ref src; /* untyped instruction it came from, for messages; may be 0 */
} Val;

/* -- instances: a function with the facts of its parameters ------------------------------------- */

typedef enum InstanceState { INST_NEW, INST_ACTIVE, INST_PROVISIONAL, INST_DONE } InstanceState;

/* A parameter of the Python function (*args is one, a tuple). It has `count` typed parameters, number
 * `first`: one as a rule, none when it is known at compile time. */
typedef struct Slot {
    Fact fact;
    int32_t first, count;
} Slot;

typedef struct Infer Infer;
typedef struct ContainerWebs ContainerWebs;
typedef struct CellSite CellSite;
typedef Vec(CellSite *) CellSites;
typedef struct Assumed Assumed;
typedef Vec(Assumed *) AssumedPlaces;
typedef struct SentSite SentSite;
typedef Vec(SentSite *) SentSites;
typedef struct Unrolls Unrolls;

/* ti_diagnose: a call of a function that has errors. */
typedef struct FailedCall {
    struct Instance *callee;
    Span span;
} FailedCall;

/* A raise statement of the function, with the types of its arguments, and a call. */
typedef struct RaisedAt {
    Ref at;
    const Binding *cls; /* NULL: of an object, whose type `args` is */
    const Type *args;   /* a tuple */
    Span place;
} RaisedAt;
typedef struct CalledAt {
    Ref at;
    struct Instance *callee;
} CalledAt;

typedef struct Instance {
    const Binding *function;
    const FunctionInfo *info;
    Slot *slots;
    int32_t nslots, ntyped;
    InstanceState state;
    bool failed;               /* diags say why */
    bool recursive;            /* asked for while active */
    int32_t depth;             /* position on the stack of active instances, from 1 */
    int32_t low;               /* lowest depth among the active instances it depends on */
    const Signature *declared; /* NULL: none; its result NULL: inferred */
    Fact result;               /* join over the returns; type NULL: none seen yet */
    Fact returned;             /* the same, of the inference that runs */
    bool repeats; /* the inference that runs is not its first: `result` stays until it is over */
    const Type *left_open; /* container_left_open(): what it gives is its caller's to say */
    Ref returned_at;       /* untyped return that gave the result its type */
    bool endless;          /* done, and no path of it returns: it raises, or loops for ever */
    bool nested;    /* ti_diagnose: made by a function; its closure variables are not known */
    Vec(Ref) lists; /* empty displays that are objects from the beginning: list_begin */
    bool library;   /* of our own library, or called by it: its errors are the caller's */
    bool gathered;  /* ti_diagnose: its errors are in the list */
    DiagList diags;
    Vec(FailedCall) failed_calls; /* ti_diagnose: instead of the callee's errors in `diags` */
    Infer *facts;                 /* of the last inference */
    Func *typed;                  /* the specialisation, once asked for */
    Fact yielded;          /* of a generator: join over the yields; type NULL: none seen yet */
    bool barren;           /* of a generator: no yield of it is reached */
    const Type *generator; /* the type of its generators, once asked for */
    Func *maker;           /* typed: makes one; `typed` gives its next item */
    const Type *frame;     /* what it has: a tuple; known once it is specialised */
    const int32_t *framed; /* which parameter each item behind the state is, as far as they go */
    int32_t nframed, frame_first; /* how many; where in the tuple they begin */
    bool waits;                   /* for what is sent to it */
    bool begun, specialized;      /* specialize_instance */
    int32_t serial;
    const Type *
        *wants; /* by slot: of what the container is that was given open; NULL: nobody knows */
    Vec(RaisedAt) raises; /* infer_caught.c */
    Vec(CalledAt) calls;
    int32_t level;     /* length of the chain of calls that passed constants */
    uint64_t literals; /* bit k: literally() was asked of slot k, whose value is not known here */
    Str key;           /* known.c: it may be kept under that */
    const struct Known *known; /* it is kept: there are no facts, and `typed` is a copy */
    bool forgone;              /* it cannot be */
} Instance;

/* One ti_run. */
typedef struct Ti {
    Module *module;
    Module source; /* holds the untyped functions: not part of the result */
    Arena *arena;
    TypeTable *types;
    Resolver *resolver;
    InferOptions options;
    const Type *declared; /* result of the entry, or NULL */
    Vec(Instance *) instances;
    Map by_key; /* hash of the key -> index + 1 of the newest instance with it */
    Vec(int32_t) key_next;
    Map sources;    /* Binding -> untyped Func */
    Map objects;    /* text -> Binding of a compile-time object made here */
    Map func_names; /* names given to typed functions */
    Map nested;     /* function -> Map of what it makes: code object -> Binding of its function */
    Map made_by; /* Binding of a function that code makes -> Binding of the function that makes it */
    Map made;    /* Binding of a function that code makes -> NestedFunction */
    Map result_signatures; /* Type -> Signature with that result and no parameters */
    Vec(Instance *) stack;
    Vec(Instance *) provisional;
    Vec(Instance *) to_emit;
    Vec(const Type *) lowered; /* by type id */
    int32_t changes;           /* grows when the result of an instance changes */
    SentSites *sent;           /* infer_send.c; outlives a beginning again */
    AssumedPlaces *assumed;    /* infer_assumed.c; outlives a beginning again */
    CellSites *cells; /* infer_cell.c; outlives a beginning again, as `kept` and `unrolls` do */
    Map *
        caught_kept; /* handle of code -> what its handlers catch are objects: infer_exception.c; outlives a beginning again */
    Map *kept;       /* handle of code -> functions that it makes are kept: bc_build_kept */
    Unrolls *unrolls;            /* infer_unroll.c */
    Map makers;                  /* Binding of a function that code makes -> handle of that code */
    Vec(const ClassSet *) exact; /* of type(e) is ...: no derived classes */
    bool closes;                 /* generators run handlers when they are closed */
    bool throws;                 /* compiled code throws exceptions into generators */
    int32_t rounds;              /* how often inference began again */
    bool again;                  /* something is known now that was not: all from the start */
    bool all;                    /* ti_diagnose: every error is wanted */
    bool without_known;          /* known.c: all of the library is inferred */
    Map taken;                   /* functions that were kept, by address */
    Map refused_sources;         /* the same as `sources`, of bc_build_all: RefusedSource */
    char *stack_limit;           /* below it nothing new is begun: ti_has_stack */
    bool aborted; /* a Python exception is pending, or a diagnostic is already in the module */
} Ti;

typedef enum StopReason {
    STOP_NONE,
    STOP_ERROR,
    STOP_UNKNOWN,
    STOP_UNBOUND,
    STOP_REPORTED, /* it needs a value that is `reported` */
    STOP_ABORT
} StopReason;

/* Of an untyped `iter`: the length of what it goes over, in front of the loop. Of an `iter_more` that fetches: the item, and
 * the block where there is none. */
typedef struct Iteration {
    Ref of;
    Val value;
    int32_t miss;
} Iteration;

/* Specialisation of one instance: the typed function, and where its next instruction goes. */
typedef struct Emit {
    Ti *ti;
    Arena *arena;
    TypeTable *types;
    bool guards;
    bool allocates; /* code of the host outside kernels */
    Func *out;
    int32_t block;     /* typed block instructions are appended to */
    int32_t insert_at; /* -1: at its end */
    int32_t span;
    int32_t error;         /* typed error successor, or NO_BLOCK */
    Ref *typed;            /* by untyped Ref */
    int32_t *first;        /* by untyped block: its first typed block, or -1 */
    Vec(int32_t) origin;   /* by typed block: the untyped block */
    Vec(Ref) pool, here;   /* in the entry: constants and frozen arrays so far; of emit_here */
    Map constants;         /* hash of type and value -> Ref */
    int32_t pool_at;       /* where the next goes */
    Ref *bound;            /* by untyped Ref: typed bool "is assigned", or 0 */
    Vec(bool) nonnegative; /* by typed Ref */
    Vec(Iteration) iterations;
    Ref *params;         /* typed */
    Vec(Ref) bound_phis; /* untyped phis with an entry in `bound` */
} Emit;

struct Infer {
    Ti *ti;
    Instance *inst;
    Arena *arena;
    TypeTable *types;
    Func *f; /* untyped */
    Cfg cfg;
    Fact *facts; /* by untyped Ref */
    int32_t *changed, *visited, *updates;
    int32_t clock;
    uint8_t *reached; /* by block */
    uint8_t *edges; /* by block: bit 0 and 1 the targets of its terminator, bit 2 the error edge */
    Ref *stopped;   /* by block: where its visit ended early, or 0 */
    StopReason stop;
    bool settled;   /* facts are final: what is in error may say so */
    bool passes;    /* what cannot be typed is passed by: explore */
    bool unsettled; /* an answer depended on an instance that is not done: visit again */
    bool report;    /* errors become diagnostics */
    bool strong, guards, bounds, error_numpy, kernel, parallel;
    bool unrolled; /* counters of loops may be constants: infer_unroll.c */
    JoinRule join;
    DiagList *diags;
    Ref at;     /* the untyped instruction being visited */
    bool *told; /* ti_diagnose: by untyped Ref, is its error told? NULL: the first error ends it */
    Fact recovery;              /* what a failed call gives in spite of its errors */
    Emit *emit;                 /* specialisation; NULL: inference */
    ContainerWebs *containers;  /* infer_container.c; NULL: no container is made so far */
    const Type **changed_lists; /* infer_local.c */
};

/* -- infer.c: the walk ------------------------------------------------------------------------ */

bool infer_visit(Infer *in, Ref ref, Val *out);
Val infer_val(Infer *in, Ref ref);
/* An operand as a value. A phi of types that have no join is an error here, at its use. */
bool infer_operand(Infer *in, Ref at, int32_t k, Val *out);
void infer_fixed_point(Infer *in);
/* Was it given something of nobody knows what yet? */
bool instance_is_open(const Instance *inst);
/* `returned` is the result that others see from now on. */
void instance_result_known(Ti *ti, Instance *inst);
/* Where inference could not go on, in the order of the source; `stops` has room for all blocks. */
int32_t infer_stops(const Infer *in, Ref *stops);
void infer_take_edge(Infer *in, int32_t from, int bit, int32_t to);

/* -- run.c: instances, and ti_run ----------------------------------------------------------------- */

/* Infers and reports; false: inst->failed or ti->aborted. */
bool infer_instance(Ti *ti, Instance *inst);
void ti_init(Ti *ti, Module *module, Resolver *resolver, const InferRequest *request);
/* Is something known behind a round of inference that was not when it began? */
bool ti_wants_again(Ti *ti);
/* The same, with what was found out about cells and functions that are kept. */
void ti_begin_again(Ti *ti, Module *module, Resolver *resolver, const InferRequest *request);

/* -- infer_paths.c: errors where paths meet, false always ------------------------------------------ */

/* The phi has no type: its use at `at` is refused. */
bool infer_conflict(Infer *in, Ref at, Ref phi);
/* The result `f` of the return `ref` has no common type with those before. */
bool infer_return_error(Infer *in, Ref ref, const Fact *f);
bool infer_too_large(Infer *in, Ref ref, const Type *type);

/* -- infer_bound.c: locals that may be unassigned --------------------------------------------------- */

bool infer_check_bound(Infer *in, Ref ref, Val *out);
/* Operands of the bool phis that say which locals are assigned. */
void infer_finish_bound(Infer *in);

#include "typeinfer/infer_raise.h"

/* -- infer_all.c: ti_diagnose, which goes on behind errors --------------------------------------- */

/* The untyped function with all its refusals. */
Func *infer_refused_source(Ti *ti, Instance *inst);
/* Tells every error of a function whose inference has settled; false: there are some. */
bool infer_tell_all(Infer *in);
/* The outcome of an instruction that needs a reported value. */
void infer_reported(Infer *in, Ref ref, Val *out);

/* -- infer_const.c: facts --------------------------------------------------------------------- */

Fact fact_of(const Type *type);
bool fact_equal(const Fact *a, const Fact *b);
bool fact_is_const(const Fact *f); /* known altogether: no run-time part */
/* The join for a phi; false: the types have none. */
bool fact_join(Infer *in, const Fact *a, const Fact *b, Fact *out);
bool fact_of_const(Infer *in, const ConstVal *value, Fact *out);
/* What a global, closure variable or attribute is. `name` is for messages. */
bool fact_of_binding(Infer *in, const Binding *binding, Str name, Fact *out);
Fact fact_int(Infer *in, int64_t value); /* a Python int */
Fact fact_bool(Infer *in, bool value);
const Type *ti_wint(Infer *in); /* the type of a Python int: weak, or int64 */
const Type *ti_wflt(Infer *in);
bool fact_int_value(const Fact *f, int64_t *value); /* of an int or bool constant that fits int64 */
bool fact_float_value(const Fact *f, double *value); /* of a constant of the widest float type */
bool fact_none(const Fact *f);
const Str *fact_str(const Fact *f);        /* of a string constant, or NULL */
const Binding *fact_object(const Fact *f); /* of a compile-time object, or NULL */
bool fact_ellipsis(const Fact *f);
/* A Python int literal below zero, which no unsigned type can hold. */
bool fact_negative_literal(const Fact *f);
/* The constant after a conversion to an int type that holds it, or NULL. */
const ConstVal *fact_cast_int(const Fact *f, const Type *to);
/* A compile-time object made by the compiler: interned by kind and name. */
const Binding *ti_object(Ti *ti, BindKind kind, Str name, const Type *type);
/* Folds an operator on constants; false: not foldable. `result` is the type it has. */
bool fold_binary(Infer *in, Operator op, const Fact *a, const Fact *b, const Type *result,
                 Fact *out);
bool fold_compare(Operator op, const Fact *a, const Fact *b, bool *out);

/* -- explain.c: words -------------------------------------------------------------------------- */

const char *ti_text(Infer *in, const Type *type);
const char *ti_c_text(Infer *in, Str text); /* ends in a zero byte */
Span ti_span(const Infer *in, Ref ref);
const char *ti_arg_texts(Infer *in, const Val *args, int32_t n);
/* Asked by what recurses over the program or over types: is there stack left? Otherwise false, and an error: `what` ("calls")
 * are nested too deeply. */
bool ti_has_stack(Infer *in, const char *what);
bool ti_stop(Infer *in); /* records an error; true when it is to be reported */
/* false always: so that one can `return ti_fail(...)`. */
#define ti_fail(in, ref, code, ...)                                                                \
    ti_false(ti_stop(in) && diag_add((in)->diags, code, ti_spanp(in, ref), __VA_ARGS__))
static inline bool ti_false(bool ignored) {
    (void)ignored;
    return false;
}
const Span *ti_spanp(Infer *in, Ref ref);
void ti_explain(Infer *in, StrBuf *out);

/* -- refuse.c: saying no --------------------------------------------------------------------------- */

typedef enum Refusal {               /* the name that goes with it */
                       REFUSE_TRUTH, /* the verb */
                       REFUSE_UNARY,
                       REFUSE_BINARY,
                       REFUSE_ORDER,
                       REFUSE_CAST,    /* the type asked for */
                       REFUSE_BOUND,   /* of a slice: in words */
                       REFUSE_INDEX,   /* none: of the first value by the second */
                       REFUSE_ELEMENT, /* the type of the array */
                       REFUSE_CALL, /* of what has rules of its own, a row, range(): the callee */
                       REFUSE_ROW,
                       REFUSE_RANGE,
                       REFUSE_CALLEE,    /* none */
                       REFUSE_ITERATION, /* none */
                       REFUSE_ATTRIBUTE, /* the attribute */
                       REFUSE_FORM       /* the whole, in words */
} Refusal;
/* An operation has no meaning for these values: the error, where they come from, and advice. false always. */
bool v_refuse(Infer *in, Refusal what, const char *name, const Val *values, int32_t n);
/* A note to the error just told: what to do. NULL: none. */
void ti_advise(Infer *in, const char *text);
/* What to do instead of the function of that canonical name, where tables/advice.def knows. */
bool ti_advise_name(Infer *in, Str name);

/* -- infer_func.c: instances ------------------------------------------------------------------ */

typedef struct CallArgs {
    const Val *args; /* positional, then keywords */
    int32_t nargs;   /* all */
    int32_t nkeywords;
    const Str *names;
} CallArgs;

/* -- infer_bind.c: which argument each parameter gets ---------------------------------------------- */

/* source[i]: the number of the argument of parameter i, -1: it is left out. The first gives no error. */
bool v_binds(const Params *params, const Str *names, const CallArgs *args, int32_t *source);
bool v_bind(Infer *in, Str function, const Params *params, const Str *names, const CallArgs *args,
            int32_t *source);
bool v_missing_argument(Infer *in, Str function, Str name); /* an error: false always */
enum { MAX_TYPED_PARAMS = 8 };
/* Of what is known by name. `params` as in Python: "a, /, b, c=, *, d=", with `=` behind those that may be left out, whose
 * out[i] has no type then. "*args" takes any further arguments, which are read from `args`. */
bool v_bind_typed(Infer *in, const char *function, const char *params, const CallArgs *args,
                  Val *out);

/* -- infer_func.c: calls -- */

/* The value of a parameter is to be known: whoever calls is told. false: it is no parameter. */
bool note_literal(Infer *in, Ref src);
bool call_function(Infer *in, const Binding *function, const CallArgs *args, bool constants,
                   Val *out);

/* What a function makes, see Ti.nested. Of two with one code, as one function decorated twice, each makes its own: with its globals and options. */
Map *ti_made_inside(Ti *ti, const Binding *outer);
/* The function that an instruction `comprehension` makes; it is called with one argument, and gets the closure variables. */
/* The function that a nested code object is; `what` it is to users. */
bool fact_of_code(Infer *in, const ConstVal *code, const char *what, Fact *out);
bool v_comprehension(Infer *in, Ref made, Val *out);
bool call_comprehension(Infer *in, const Binding *function, Ref made, Val iterator, Val *out);

/* Which value each parameter of a call gets. */
typedef struct Bound {
    Slot *slots;
    Val *values; /* by slot; unused where the slot is a constant */
    bool *given; /* by slot; the others have their default */
    int32_t n;
} Bound;
/* The instance that a call with these arguments, and their constants, would call, inferred; its result converted to
 * `result`, unless that is NULL or the function has declared signatures. NULL: not known yet, or in error. */
Instance *call_instance(Infer *in, const Binding *function, const CallArgs *args,
                        const Type *result, Bound *bound);
/* infer_all.c: a call with a reported argument, and all that can be said of it. */
bool infer_unknown_call(Infer *in, Val callee, const CallArgs *args, Val *out);
int32_t instance_nslots(const CodeUnit *code); /* parameters, *args as one */
Instance *instance_entry(Ti *ti, const InferRequest *request, DiagList *diags);
bool ti_is_parallel(const Ti *ti, const Instance *inst); /* Func.parallel */
void infer_asked(Infer *in, Instance *callee);
Func *instance_typed(Ti *ti, Instance *inst); /* makes the shell and queues its specialisation */
Str ti_unique_name(Ti *ti, Str name);         /* for a typed function */
const FunctionInfo *ti_function_info(Ti *ti, const Binding *function);

/* -- infer_closure.c: functions that code makes -------------------------------------------------- */

/* Is it known which function that is? */
bool v_callable(const Val *v);
/* Does it hold a function that may only be called and passed on, since a variable of it is assigned again? Then it is refused to
 * keep it: false, an error. */
bool type_is_fresh(const Type *type);
bool is_returnable(const Type *type); /* infer.c: Python can have it */
bool v_refuse_fresh(Infer *in, const Type *type);
bool v_function(Infer *in, Ref made, Val *out);
/* NULL: code did not make it. */
const NestedFunction *ti_nested(Ti *ti, const Binding *function);
/* A closure variable of the function being inferred, `own`. */
bool v_closure_variable(Infer *in, const NestedFunction *own, Str name, Val *out);
/* functools.partial(function, ...); the items of one that the program has, with their keywords. */
bool v_partial(Infer *in, const CallArgs *args, Val *out);
Fact fact_of_partial(Infer *in, const Fact *items, const Str *names);
bool v_call_partial(Infer *in, Val partial, const CallArgs *args, Val *out);
/* infer_func.c */
bool v_call_closure(Infer *in, Val closure, const CallArgs *args, Val *out);

/* -- infer_generator.c: functions that yield ------------------------------------------------------ */

bool instance_is_generator(const Instance *inst);
bool type_is_generator(const Type *type);
const Type *generator_type(Infer *in, Instance *inst);
const Type *generator_frame(TypeTable *types); /* typed code: of every generator */
bool v_yield(Infer *in, Ref ref, Val *out);
/* The end of a loop that was left early: a generator that it went over is held until here. */
bool infer_hold(Infer *in, Ref ref);
/* What a generator has returned; `item`: the value that it was asked for and did not give. Of anything else: None. */
bool v_generator_result(Infer *in, Val it, Ref item, Val *out);
/* Does its function return anything but None? */
bool generator_returns(const Instance *inst);
Instance *generator_instance(const Type *generator);
void emit_thrown(Emit *e, Ref how);
bool v_generator_next(Infer *in, Val it, int32_t miss, Val *out);
/* specialize_generator.c: the typed function becomes the one that gives the next item, and `maker` is filled. */
void specialize_generator(Emit *e, Instance *inst, const Type *item);
/* Memory of the function, of one element, that the caller fills next; the frame of a generator that does not leave it (or NO_REF). */
Ref emit_here(Infer *in, const Type *array);
Ref emit_frame_here(Infer *in, Instance *callee, const Ref *params);

/* An exception that is made is an object. */
bool v_make_exception(Infer *in, const Binding *cls, const CallArgs *args, Val *out);
/* Arguments that are caught exceptions: functions that make text get theirs. *done: that was the whole call. false: an error. */
bool v_call_with_caught(Infer *in, const Binding *callee, CallArgs *args, bool *done, Val *out);

/* -- infer_call.c ------------------------------------------------------------------------------- */

bool v_call(Infer *in, Val callee, const CallArgs *args, Val *out);
Val v_bound_method(Infer *in, Val v);
bool v_library(Infer *in, const char *name, const CallArgs *args, Val *out); /* error when absent */

/* -- infer_choice.c: functions that are chosen at run time -- */

bool v_call_choice(Infer *in, Val callee, const CallArgs *args, Val *out);
bool choice_holds(const Type *choice, const Type *from); /* a function, or a choice of fewer */
const Type *choice_lowered(Ti *ti, const Type *choice);
/* Is it one of these functions? Of those that have taken something along, nobody asks. false: it is no such question. */
bool v_is_choice(Infer *in, Val a, Val b, Val *out);
Ref emit_choice(Emit *e, Ref ref, const Type *from, const Type *to);

/* -- infer_foreign.c: functions of C -- */

bool v_call_foreign(Infer *in, const Binding *b, const CallArgs *args, Val *out);

/* -- infer_overload.c: what libraries have implemented ------------------------------------------- */

/* *taken false: there is no implementation of that library function for these arguments. */
bool v_overload(Infer *in, Str name, const CallArgs *args, bool *taken, Val *out);
/* Of an operator, by its name in the module operator. */
bool v_overload_operator(Infer *in, const char *name, const Val *args, int32_t n, bool *taken,
                         Val *out);
bool v_overload_binary(Infer *in, const char *name, bool in_place, Val a, Val b, bool *taken,
                       Val *out);
/* An attribute, or a method to be called, of `a`. */
bool v_overload_attr(Infer *in, Val a, Str name, bool *taken, Val *out);
/* What is known by its implementations alone. */
bool v_call_overloaded(Infer *in, Val callee, const CallArgs *args, Val *out);
/* Notes to the error just told: why implementations refused. */
void v_overload_reasons(Infer *in, Str name, const CallArgs *args);
/* Is it a library function that has implementations? They take lists as lists. */
bool is_overloaded(const Infer *in, const Binding *callee);

/* -- infer_operator.c ----------------------------------------------------------------------------- */

extern const char *const operator_verbs[OPR_COUNT]; /* "add" */
bool v_unary(Infer *in, Operator op, Val a, Val *out);
bool v_binary(Infer *in, Operator op, bool in_place, Val a, Val b, Val *out);
bool v_truth(Infer *in, Val a, Val *out);
/* A function of the module operator; *known false: it is none, or has other arguments. */
bool v_operator_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);

/* -- infer_compare.c ------------------------------------------------------------------------------ */

bool v_is(Infer *in, bool is_not, Val a, Val b, Val *out);
/* *handled false: they are compared by a row, or not at all. Neither is a tuple, or only one. */
bool v_compare(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out);
/* Two tuples, by == or !=, and by an order. */
bool v_equal_tuples(Infer *in, Operator op, Val a, Val b, Val *out);
/* == and != where one may be None or both may; `plain`: what is compared has no parts on the heap. */
bool v_equal_optionals(Infer *in, Operator op, Val a, Val b, bool plain, Val *out);
bool v_order_tuples(Infer *in, Operator op, Val a, Val b, Val *out);
/* An enumeration as the tuple of its members; false: it is none, or in->stop. */
bool v_as_members(Infer *in, Val *a);
/* Color(1): the member with that value, or a ValueError. */
bool v_member_of_value(Infer *in, Val cls, const CallArgs *args, Val *out);
bool v_contains(Infer *in, bool not_in, Val item, Val container, Val *out);

/* -- infer_row.c: rows of the library ------------------------------------------------------------- */

/* How many arguments a row takes: -1 when that varies. And: may it be n? */
int32_t row_arity(const LibRow *row);
bool row_takes(const LibRow *row, int32_t n);
/* A row of the library. false without a diagnostic when none fits (*matched false). */
bool v_row(Infer *in, Str name, const Val *args, int32_t n, bool *matched, Val *out);
/* A Python function of our library; *found false: there is none of that name. */
bool v_library_function(Infer *in, Str name, const CallArgs *args, bool *found, Val *out);
bool library_has(Infer *in, Str name);
/* A name of the library as users write it: without "builtins.". */
const char *library_text(Infer *in, Str name);

/* -- infer_cast.c: conversions -------------------------------------------------------------------- */

/* An argument that may be None, used as a value: guarded at run time. */
Val v_present(Infer *in, Val a);
/* A member of an enumeration of ints as the int that it is. */
Val v_number(Infer *in, Val a);
/* Both. */
Val v_unwrap(Infer *in, Val a);
Val v_converted(Infer *in, Val v, const Type *to); /* to a type that takes it; NULL: as it is */
/* to(a), as the user writes it */
bool v_cast(Infer *in, Val a, const Type *to, bool checked, Val *out);
bool v_type_call(Infer *in, const Binding *b, const CallArgs *args, Val *out);
/* NaN and infinities have no int: tested before a conversion that Python would refuse. */
void emit_finite(Emit *e, Ref v);
/* A number as an int type, where NaN and infinities raise. What fits into i64 passes one test; -2**63 and the rest
 * are told apart out of the way:
 *     branch not |v| < 2**63, odd, fits
 *     odd (cold): guards, a = cast v        fits: b = cast inside v        then phi(a, b) */
Ref emit_float_to_int(Emit *e, Ref v, const Type *to);

/* -- infer_zerod.c: arrays without axes ---------------------------------------------------------- */

/* v_unwrap, and the element of an array without axes. */
Val v_scalar(Infer *in, Val a);
/* Is one of them an array without axes? Then `out` gets their elements instead. */
bool v_scalars(Infer *in, const Val *args, int32_t n, Val *out);
/* An operator with such an operand; *handled false: it is none, or has no meaning for them. */
/* The ufunc that an operator stands for ("numpy.add"), or NULL. */
const char *operator_ufunc(Operator op);
bool v_zero_dim(Infer *in, Operator op, bool in_place, const Val *args, int32_t n, bool *handled,
                Val *out);

/* -- infer_map.c: whole arrays -------------------------------------------------------------------- */

/* The row of the library as a function of n numbers; "": the function that returns its argument. */
const Binding *row_function(Infer *in, Str name, int32_t n);
const FunctionInfo *row_function_info(const Binding *function);
Func *row_function_source(Ti *ti, const Binding *function); /* untyped */
bool v_any_array(const Val *args, int32_t n);               /* with axes */
/* f of the elements, as a new array; of type `result`, unless that is NULL. */
bool v_map(Infer *in, const Binding *f, const Type *result, const Val *args, int32_t n, Val *out);
/* The same, converted, into the elements of `target`; `same_kind`: floats do not become ints and so on. */
bool v_map_into(Infer *in, Val target, const Binding *f, bool same_kind, const Val *args,
                int32_t n);
/* infer_ufunc.c: converts the operands of a row, of which one is an array, to the types of the loop that NumPy takes. false
 * without an error: NumPy has none. */
bool v_loop_operands(Infer *in, Str name, Val *args, int32_t n);
/* NumPy's casting "same_kind". */
bool type_same_kind(const Type *from, const Type *to);
/* Is there a row of numbers with that name that takes n arguments? */
bool v_has_row(Str name, int32_t n, TargetKind target);
/* A row of NumPy's functions of numbers, on arrays; *matched false: there is none of that name and number of operands. */
bool v_row_of_arrays(Infer *in, Str name, const Val *args, int32_t n, bool *matched, Val *out);
/* nin, identity, reduce ... of a ufunc, NumPy's or the user's; false: it is no ufunc, or has no such attribute. */
bool v_ufunc_attr(Infer *in, const Binding *ufunc, Str name, Val *out);
/* The loop of a ufunc with declared signatures for arguments of these types; NULL: none. */
const Signature *declared_loop(Infer *in, const Binding *ufunc, const Type *const *types,
                               int32_t n);
/* A ufunc of the user on arrays: the last positional argument, or out=, may be the array for the results. */
bool v_ufunc(Infer *in, const Binding *f, const CallArgs *args, Val *out);
/* The same with NumPy's keywords out, where and dtype; *known false: they are not these, or there is no row. */
bool v_row_with_keywords(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
/* An operator with an array among its operands, as the ufunc that it stands for. */
bool v_operator_of_arrays(Infer *in, Operator op, bool in_place, const Val *args, int32_t n,
                          bool *matched, Val *out);
/* start = f(start, elements...) over the axes of the set; start None: from the first element. */
bool v_reduce(Infer *in, const Binding *f, Val start, uint32_t axes, const Val *args, int32_t n,
              Val *out);

/* -- infer_primitive.c: what quern/library is written with ---------------------------------------- */

bool v_primitive(Infer *in, Str name, const CallArgs *args, Val *out);
bool primitive_knows(Str name);
const char *primitive_name(int32_t index);

/* -- infer_typed.c: what typeinfer knows by name (rows LOWER_TYPED) ------------------------------ */

bool v_typed(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
bool typed_knows(Str name);
bool v_isinstance(Infer *in, Val object, Val classes, Val *out);
bool v_has_attr(Infer *in, Val object,
                Str name); /* false: or it is not known yet, which is a stop */
/* Names of the handlers in each file, NULL behind the last (ti_typed_name). */
const char *array_builtin_name(int32_t index);
const char *array_attr_name(int32_t index);
const char *
typed_operator_name(int32_t index); /* those that v_unary and v_binary decide themselves */
const char *gpu_name(Arena *arena, int32_t index);

/* -- infer_list.c: may the instruction have the list displays among its operands? -------------- */

bool list_checked(Infer *in, Ref ref);
/* Is the tuple one that the program has written as a list? */
bool is_list_display(const Infer *in, Val tuple);
/* Does the display make a list on the heap? */
bool list_is_object(Infer *in, Ref display);
/* A list as the whole index of an array is an array of positions, a tuple is not. */
bool list_as_index(Infer *in, Ref index, Val *v);
/* A tuple, or a list that is an object? */
bool is_sequence(const Val *v);
/* A sequence becomes an array, of these elements or of the type that its own have together (NULL); others stay. */
bool v_as_array(Infer *in, const Type *element, Val *v);
/* Operands: a sequence beside an array becomes one. */
bool v_sequences_as_arrays(Infer *in, Val *a, Val *b);
Val v_dtype(Infer *in, const Type *element);

/* -- infer_container.c: lists, dicts and sets, and what is known of their elements ------------------- */

bool type_is_of(const Type *type, ClassId cls);
bool type_is_list(const Type *type);
/* A new one at the instruction `site`, of these items; a dict: of key, value, key, value ... */
/* A container that was made here gets the type of the field that it is put into; false: it has what it can get of it. */
bool container_becomes(Infer *in, const Type *type, const Val *made);
/* -- infer_instance.c: instances of classes of the user's; *found false: there is no such thing -- */
bool v_new_struct(Infer *in, Val type, Val *out); /* structref.new(type) */
bool v_new_instance(Infer *in, const Binding *cls, const CallArgs *args, Val *out);
bool v_instance_attr(Infer *in, Val self, Str name, bool *found, Val *out);
bool v_set_instance_attr(Infer *in, Val self, Str name, Val value);
bool v_instance_method(Infer *in, Str name, const Val *args, int32_t n, bool *found, Val *out);
bool v_value_made(Infer *in, Val made); /* a dataclass: its __post_init__ looks at the fields */
bool instance_binds(Infer *in, const Type *cls, Str name); /* is it a method, no static one? */
bool v_instance_unary(Infer *in, Operator op, Val a, bool *found, Val *out);
bool v_instance_operator(Infer *in, Operator op, bool in_place, Val a, Val b, bool *found,
                         Val *out);
bool v_instance_builtin(Infer *in, Str name, const CallArgs *args, bool *found, Val *out);
bool v_instance_truth(Infer *in, Val a, Val *out);
const char *shared_maker_name(int32_t index); /* of those that get types; NULL behind the last */
bool v_shared_site(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
/* Of a variant of a class, at the instruction; `made`: its values are known to be of that type. */
bool v_variant_site(Infer *in, const Type *like, const Type *made, Val *out);
bool v_empty(Infer *in, const Type *type, Val *out);         /* 0, "", a new container of nothing */
bool v_deque(Infer *in, Val iterable, Val maxlen, Val *out); /* neither: no type */
bool v_container_site(Infer *in, ClassId cls, Ref site, const Val *items, int32_t n, Val *out);
/* Dicts of constant keys and values of several types (infer_keyed.c). */
bool v_keyed_getitem(Infer *in, Val dict, Val index, Val *out);
bool v_keyed_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
bool v_dict_display(Infer *in, const Val *items, int32_t n, Val *out); /* of either kind */
Val v_keys(Infer *in, const Type *keyed);                              /* a tuple */
bool v_advise_keyed(Infer *in);                                        /* false */
/* The displays in the web of `ref` become objects; false: they are already. */
bool container_make_lists(Infer *in, Ref ref);
/* Does the method of that name put something into a container, whose elements hold that, too, then? false: an error, or unknown. */
bool container_taught(Infer *in, Str name, const CallArgs *args);
/* Containers from elsewhere that meet those of a web, in a phi or as results, say what these hold (xs if n else []), and
 * whether Python holds them, too; in tuples as well. */
bool container_taught_where_paths_meet(Infer *in, Ref ref);

/* The common type of two that go into one place; containers are of the common types of their parameters. NULL: none, or neither. */
const Type *container_join(Infer *in, const Type *a, const Type *b);
/* A container that was made here goes to a place of that type. */
bool container_learns(Infer *in, const Type *type, Ref item);

/* -- infer_unroll.c: loops over tuples whose items have types of their own ---------------------------- */

Unrolls *unrolls_new(Arena *arena);
/* Are that many rounds of the loop in front of it? */
bool unroll_knows(const Infer *in, Ref iter, int32_t rounds);
/* They shall be: inference begins again. false: they cannot. */
bool unroll_ask(Infer *in, Ref iter, int32_t rounds);
/* The function with that code will have other instructions. */
void unroll_forget(Ti *ti, const void *code);
bool unroll_any(const Ti *ti, const Instance *inst);
void unroll_apply(Ti *ti, const Instance *inst, Func *f); /* to its untyped function */

/* -- infer_send.c: the methods of generators ----------------------------------------------------------- */

/* When nothing more is found out: what nothing is sent to gives None. true: all begins again with that. */
bool sent_settle(Ti *ti);
/* The type of what its yields give; NULL: None. */
const Type *sent_type(Ti *ti, const Instance *inst);
/* The value of a yield; `from`: what a `yield from` takes its items from. */
bool sent_at_yield(Infer *in, Ref yield, const Val *from, Val *out);
/* The generator finds the value, of type sent_type(), when it goes on. */
void emit_give(Infer *in, Val generator, Ref value);
/* The kth of the exceptions that are thrown into generators of `inst`, or NULL. */
const RaisedAt *thrown_into(Ti *ti, const Instance *inst, int32_t k);
/* Nothing is known of what is thrown in: another round of inference may say. */
bool thrown_awaited(Infer *in);
void note_thrown(Infer *in, const Instance *inst, const Binding *cls, const Type *args);
bool v_throw(Infer *in, const Instance *generator, Val exception); /* infer_raise.c */
bool typed_close(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_going_on(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_send(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_throw(Infer *in, const Val *v, const CallArgs *args, Val *out);

/* -- infer_cell.c: variables that functions share ---------------------------------------------------- */

bool v_make_cell(Infer *in, Ref ref, Val *out);
/* `own`: in the function whose variable it is, which says so in its error. */
bool v_cell_get(Infer *in, Val cell, const Str *name, bool own, Val *out);
bool infer_cell_get(Infer *in, Ref ref, Val *out);
bool infer_cell_set(Infer *in, Ref ref);
/* Where the value was read from a cell: it is of that type, too. */
bool cell_teach(Infer *in, Ref value, const Type *type);
/* The cell that a closure variable is, or NULL. */
const Type *cell_of_freevar(Infer *in, Ref ref);
bool cell_close(Infer *in);

/* -- infer_object.c: objects of classes ---------------------------------------------------------- */

bool is_object(const Val *v);
/* The method of args[0]'s class; *found false: it has none of that name. */
bool v_method(Infer *in, const char *name, const Val *args, int32_t n, bool *found, Val *out);
bool v_object_len(Infer *in, Val object, Val *out);
bool v_object_getitem(Infer *in, Val object, Val index, Val *out);
bool v_object_setitem(Infer *in, Val object, Val index, Val value);
bool v_object_delitem(Infer *in, Val object, Val index);
bool v_object_unary(Infer *in, Operator op, Val a, bool *handled, Val *out);
bool v_object_operator(Infer *in, Operator op, bool in_place, Val a, Val b, bool *handled,
                       Val *out);
bool primitive_field(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_set_field(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_new_like(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_buffer_like(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_grow(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_take(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_move(Infer *in, const Val *args, int32_t n, Val *out);

/* -- infer_record.c: structured arrays ------------------------------------------------------------- */

/* Arrays of characters (type_characters). The text of one without axes: */
bool v_is_characters(Val v);
/* Is there any character in an element? *known false: it is none. */
bool v_characters_truth(Infer *in, Val a, bool *known, Val *out);
bool v_text_of(Infer *in, Val element, Val *out);
bool v_compare_characters(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out);
bool type_is_records(const Type *type); /* an array of them, or without axes a record */
void v_advise_fields(Infer *in, const Type *records); /* a note: which there are */
/* A field by its name or, of one record, by its number; *found false: `a` is no record, or the name means something else. */
bool v_record_attr(Infer *in, Val a, Str name, bool *found, Val *out);
bool v_record_getitem(Infer *in, Val a, Val index, bool *found, Val *out);
bool v_record_set(Infer *in, Val a, Val index, Val value, bool *found);
bool v_equal_records(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out);
/* A record or a tuple into all records of an array. */
bool v_record_fill(Infer *in, Val records, Val value, bool *known);

/* -- infer_time.c: datetime64 and timedelta64 --------------------------------------------------------- */

const char *time_name(int32_t index);   /* functions of times alone; NULL behind the last */
bool time_has_row(Str name, int32_t n); /* a function of NumPy's of n times? */
/* *handled false: none of them is a time, or the operator has no meaning for them. */
bool v_time_operator(Infer *in, Operator op, const Val *args, int32_t n, bool *handled, Val *out);
bool v_time_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
bool v_time_truth(Infer *in, Val a, Val *out);
/* As an element of an array: a time of the same kind, or an int. */
bool can_be_time(const Type *from, const Type *to);
/* To a time or of one; *known false: neither. */
bool v_time_cast(Infer *in, Val a, const Type *to, bool *known, Val *out);
/* NumPy's type for both, of which one is a time at least; NULL: there is none. */
const Type *time_promote(TypeTable *types, const Type *a, const Type *b);
/* dtype_text.c: dtypes in NumPy's words: dtype.kind, dtype.str, dtype.name, and Python's text of what np.dtype() takes. */
char ti_dtype_kind(const Type *type);
Str ti_dtype_str(Arena *arena, const Type *type);
Str ti_dtype_name(Arena *arena, const Type *type);
Str ti_dtype_literal(Arena *arena, const Type *type);
/* str() of the dtype of a record. */
Str ti_dtype_text(Arena *arena, const Type *record);
/* time_text.c: a point in time that is written so; false: NumPy would not read it. */
bool time_of_text(Str text, TimeUnit *unit, int64_t *ticks);
/* The function that converts an element. */
const Binding *time_conversion(Infer *in, const Type *to);

/* -- infer_str.c: text ---------------------------------------------------------------------------- */

/* Has the code objects? Kernels and GPUs have not. */
bool ti_has_objects(const Infer *in);
/* A function that makes text of whatever it is given. */
bool makes_text(Str name);
bool is_str(const Val *v);             /* of the class str: not a constant */
bool type_is_octets(const Type *type); /* bytes, bytearray */
bool type_is_fixed(const Type *type);  /* str, bytes: they keep their length */
/* A constant string as a value of the class str; anything else stays. false: an error, in kernels. */
bool v_text(Infer *in, Val *v);
/* What takes strings as values, not as words of its own, gets them so. */
bool v_text_arguments(Infer *in, Str name, CallArgs *args);
/* Operands of an operator; two constants that are compared for equality stay. */
bool v_text_operands(Infer *in, Operator op, Val *a, Val *b);
bool primitive_new(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_character(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_buffer(Infer *in, const Val *args, int32_t n, Val *out);

/* -- infer_iter.c: ranges, iteration, tuples ------------------------------------------------------ */

bool v_range(Infer *in, const Val *args, int32_t n, Val *out);
/* Can it be gone over? Dicts, sets and views become iterations over what they hold now. */
bool v_iterable(Infer *in, Val *a);
bool type_is_view(const Type *type);
Val v_dict_of_view(Val view);
/* Does something that may change while it is walked over stand in it? */
bool iterates_objects(const Type *type);
bool v_iter_len(Infer *in, Val it, Val *out);
bool v_iter_get(Infer *in, Val it, Val counter, Val *out);
Val v_tuple(Infer *in, const Val *items, int32_t n);
Val v_item(Infer *in, Val tuple, int32_t k); /* of a tuple, slice, range or iteration */
bool v_tuple_get(Infer *in, Val tuple, Val index, Val *out);
/* Have the items no type that one variable could have? */
bool tuple_is_mixed(Infer *in, const Type *type);
/* What `element` is. */
enum IterKind {
    ITER_ENUMERATE, /* (what, first number) */
    ITER_ZIP,       /* a tuple of what is gone over side by side */
    ITER_REVERSED,  /* the sequence, whose length stands still */
    ITER_BACKWARD,  /* (list, its length when reversed() was called) */
    /* (n, function, state): the items function(state, 0) ... function(state, n - 1); n may be a function of the state, asked each time */
    ITER_CALL,
    ITER_PARALLEL, /* a range, whose items may be gone through in any order */
    ITER_OVER,     /* the sequence: iter(sequence) */
    ITER_MAP,      /* (function, what ...) */
    ITER_FILTER,   /* (function or None, what) */
    ITER_STRICT,   /* as ITER_ZIP: all must be of one length */
    ITER_KEYS, /* d.keys(): goes over what the dict holds when a loop begins; so do the next two */
    ITER_VALUES,
    ITER_ITEMS,
    ITER_GENERATOR, /* `element` is an object whose handle is the Instance */
    ITER_KEPT /* (what, cell): the cell, an array of one int64, has the number of the next item */
};
/* A slice of three parts, each an int or None. */
bool v_slice(Infer *in, const Val parts[3], Val *out);
Val v_iter_object(Infer *in, enum IterKind kind, Val of);

/* -- infer_next.c: iterators that remember where they are ------------------------------------------ */

/* Are length and items functions of a counter? Then v_iter_len and v_iter_get are for it, otherwise v_begin and v_next. */
bool type_is_counted(const Type *type);
/* What an iterator goes over, to be indexed: from then on it begins again, as NumPy's a.flat does. */
Val v_indexed_iterator(Infer *in, Val it);
/* What a loop over `of` asks for items. */
bool v_begin(Infer *in, Val of, Val *out);
/* The next item of what v_begin gave; where there is none, control goes to `miss`. */
bool v_next(Infer *in, Val it, int32_t miss, Val *out);
/* `ref` makes the iterator *out: it keeps its place, unless that can be seen nowhere. */
bool v_keep_made(Infer *in, Ref ref, Val *out);
/* May the iterator that `made` makes outlive the execution of that instruction? */
bool iterator_escapes(const Infer *in, Ref made, bool counted);
bool typed_iter(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_next(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_map(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_filter(Infer *in, const Val *v, const CallArgs *args, Val *out);

/* -- infer_array.c ------------------------------------------------------------------------------ */

bool v_attr(Infer *in, Val object, Str name, Val *out);
bool v_attr_parts(Infer *in, Ref ref, Ref *object, Str *name);
bool v_getitem(Infer *in, Val a, Val index, Val *out);
bool v_setitem(Infer *in, Val a, Val index, Val value);
bool v_setattr(Infer *in, Val a, Str name, Val value);
/* A Python int as an int of a NumPy function or of a whole array must fit. Constants are looked at now, others when they come. */
bool v_fits(Infer *in, const Val *a, const Type *to);
bool v_unpack(Infer *in, Val a, int32_t count, Val *out);
/* With a starred name among them: `names` is the argument of unpack_starred. */
bool v_unpack_starred(Infer *in, Val a, int64_t names, Val *out);
/* -- infer_attr.c -- */

bool v_array_builtin(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
bool array_builtin_knows(Str name);
Val v_shape(Infer *in, Val array, int32_t axis); /* a Python int */
/* An element or sub-array at an index known to be in bounds. */
bool v_element(Infer *in, Val array, Val index, Val *out);
/* Element reference: bounds-checked indices for load, store, atomic. */
bool v_element_indices(Infer *in, Val array, Val index, Ref *out);
/* array[...] = value, as an assignment to all of it. */
bool v_fill(Infer *in, Val array, Val value);
/* May code here make arrays? Otherwise an error: in kernels and on GPUs `name` cannot be used. */
bool ti_may_allocate(Infer *in, const char *name);
/* A dtype argument: a type, a dtype, a string or None (float64). */
bool fact_dtype(Infer *in, const Fact *f, const Type **out);
bool v_element_type(Infer *in, const Val *dtype, const Type **out); /* the same, or an error */

/* -- infer_gpu.c --------------------------------------------------------------------------------- */

bool v_gpu(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
bool gpu_knows(Str name);

/* -- infer_print.c ------------------------------------------------------------------------------ */

bool v_kernel_print(Infer *in, const CallArgs *args, Val *out);

/* -- specialize.c: typed instructions ------------------------------------------------------------ */

bool specialize_instance(Ti *ti, Instance *inst);
const Type *lower_type(Ti *ti, const Type *type);
Ref emit(Emit *e, Op op, const Type *type, const Ref *args, int32_t n);
Ref emit1(Emit *e, Op op, const Type *type, Ref a);
Ref emit2(Emit *e, Op op, const Type *type, Ref a, Ref b);
Ref emit3(Emit *e, Op op, const Type *type, Ref a, Ref b, Ref c);
Ref emit_int(Emit *e, const Type *type, int64_t value);
Ref emit_float(Emit *e, const Type *type, double value);
/* An array of the kernel: stands at the head of the entry, also when it is made in a loop. */
Ref emit_static(Emit *e, Op op, const Type *type);
Ref emit_frozen(Emit *e, const FrozenArray *array);
/* What a variable of a kernel holds that was not assigned, and what a work-item gives back that has raised. */
Ref emit_undef(Emit *e, const Type *type);
Ref emit_zero(Emit *e, const Type *type);
/* Of a type of typed code: a value that holds no reference. */
Ref emit_nothing(Emit *e, const Type *type);
Ref emit_item(Emit *e, Ref tuple, int32_t k);
void emit_guard(Emit *e, Guard guard, Ref condition, const Ref *args, int32_t n);
/* `name` stands for {name} in the message; NULL: there is none. */
void emit_named_guard(Emit *e, Guard guard, Ref condition, const Ref *args, int32_t n,
                      const Str *name);
int32_t emit_block(Emit *e);
void emit_jump(Emit *e, int32_t to);
void emit_branch(Emit *e, Ref condition, int32_t yes, int32_t no);
bool emitted_nonzero(Emit *e, Ref ref);             /* a number constant that is not zero? */
bool emitted_int(Emit *e, Ref ref, int64_t *value); /* is it an int constant? */
Ref v_ref(Infer *in, Val v);                        /* the typed value, made on demand */
Ref v_as(Infer *in, Val v, const Type *to);         /* converted to (the lowered form of) `to` */
Ref emit_convert(Emit *e, Ref ref, const Type *from, const Type *to);
bool can_convert(const Type *from, const Type *to); /* by emit_convert */

/* -- specialize_range.c: ranges in typed code, and what is known of the sign of values ---------- */

/* b with 0 <= value < 2**b, at most 63; -1: it may be negative, or nothing is known. */
int emitted_bits(Emit *e, Ref ref);
void emitted_nonnegative(Emit *e, Ref ref); /* from now on emitted_bits knows so */
Ref emit_range_len(Emit *e, Ref range);
Ref emit_range_item(Emit *e, Ref range, Ref counter); /* there is one */
Ref emit_range_at(Emit *e, Ref range, Ref counter);   /* there may be none */
/* Length between two bounds that lie in an array: no difference overflows. */
Ref emit_slice_len(Emit *e, Ref start, Ref stop, Ref step);
/* Instead of `counter < length`: is the item itself before the stop? NO_REF where that is not proven to be the same. */
Ref emit_range_more(Emit *e, Ref range, Ref counter);

/* -- specialize_copy.c: assignment to all elements of an array ----------------------------------- */

void emit_fill(Emit *e, Ref dst, Ref value);
Ref emit_length(Emit *e, Ref array, int32_t axis);

/* -- specialize.c: loops -- */

/* A counted loop in typed code: begin .. end repeats with *counter from 0 to n. */
typedef struct EmitLoop {
    int32_t header, exit;
    Ref counter;
} EmitLoop;
void emit_loop_begin(Emit *e, Ref n, EmitLoop *loop);
void emit_loop_end(Emit *e, EmitLoop *loop);

static inline const Type *i64_type(TypeTable *types) {
    return type_scalar(types, TY_i64);
}
static inline const Type *bool_type(TypeTable *types) {
    return type_scalar(types, TY_bool);
}
static inline bool is_unsigned(const Val *v) {
    return type_class(v->f.type) == CLASS_UINT;
}
static inline Fact fact_reported(void) {
    return (Fact){.reported = true};
}
static inline Val val_of(Fact fact) {
    return (Val){.f = fact};
}
static inline bool is_kind(const Val *v, TypeKind kind) {
    return v->f.type && v->f.type->kind == kind;
}

#endif
