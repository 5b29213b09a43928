/* artifact.h - what a compilation leaves behind, and how values lie in memory at its boundary.
 *
 * No LLVM, no driver, no Python: codegen writes artifacts, runtime and pymodule read them. An artifact is
 * immutable once published and shared by reference count. */
#ifndef QUERN_ARTIFACT_H
#define QUERN_ARTIFACT_H

#include "frontend/frontend.h"
#include <stdatomic.h>
#include <stdlib.h>

/* -- values in memory ------------------------------------------------------------------------- */

/* Who keeps an array's memory alive. Generated code only counts; `destroy` runs at zero. The owner of an
 * argument lives on the caller's stack, with OWNER_BORROWED for refs, so it is neither counted nor destroyed:
 * a result whose owner has refs >= OWNER_BORROWED / 2 is (a view of) an argument. */
typedef struct Owner {
    _Atomic int64_t refs;
    void (*destroy)(struct Owner *owner);
    void *object; /* pymodule: the PyObject of an argument (borrowed); owned arrays: free to use */
} Owner;
#define OWNER_BORROWED (INT64_C(1) << 62)

/* In front of the fields of an object, and of the elements of a buffer of what is counted. */
typedef struct CellLayout CellLayout; /* objects.h */
typedef struct ObjectHeader {
    Owner owner; /* object: the block of memory */
    const CellLayout *cells;
    int64_t ncells;
    void *
        python; /* of an object that stands for a Python object during a call: that (borrowed), else NULL */
} ObjectHeader;

/* An array at a boundary: data, owner, then shape[ndim] and strides[ndim] (in bytes). */
typedef struct ArrayValue {
    void *data;
    Owner *owner;
    int64_t dims[]; /* shape, then strides */
} ArrayValue;
#define ARRAY_VALUE_SIZE(ndim) (16 + 16 * (int64_t)(ndim))

/* How one value lies in memory: scalars in natural size (bool: one byte; complex: two components), tuples
 * as C structs of their items, arrays as ArrayValue, none with size 0. */
typedef struct ValueLayout {
    uint8_t
        kind; /* TypeKind: a strong scalar, TY_TUPLE, TY_ARRAY, TY_CLASS; TY_OPTIONAL: bool + item 0; TY_TIME: an int64; TY_OBJECT: nothing, `cls` it is; TY_CHOICE: an int64, the number of an item, and what it takes along; TY_CLOSURE: a tuple of what a function takes along, `fields` are the names and `cls` is one of its code, NULL for functools.partial; TY_SLICE: three, and which of them are there in `element` */
    uint8_t
        element; /* TypeKind of an array's elements; ClassId of an object, whose items are its parameters; of a tuple 1: it is a numpy.random.Generator */
    uint8_t ndim, layout;
    int32_t item_size; /* of an array: bytes of an element */
    bool readonly, aligned;
    uint8_t usage;  /* of an array in a parameter: ARG_READ | ARG_WRITTEN | ARG_KEPT */
    bool weak;      /* the Python side is a Python number (results: box as int, float, complex) */
    int32_t offset; /* in the enclosing tuple */
    int32_t size, align;
    int32_t nitems;
    const struct ValueLayout *items;
    const Str *fields; /* named tuple; without `cls` a dict of these keys */
    void *
        cls; /* handle of its class, of the dtype of an array of records, or the enumeration of TY_MEMBER, an int64; a function */
    /* of an object, to make one: of itself, and of its buffers by parameter, NULL where no element is counted */
    const CellLayout *cells, *buffer_cells[2];
    uint8_t variant,
        maker; /* of a dict or a set: Variant and ValueMaker; that of MAKER_function stands behind the items */
    bool changed;  /* an object in a parameter: the code may change one of its type */
    bool shared;   /* an object that Python holds, too; one of the user's class has that as `cls` */
    uint32_t time; /* of a time, TY_TIME, or an array of such: Type.bits */
    uint32_t key;  /* pymodule's */
    const struct Artifact *artifact; /* of an exception: artifact_name_exceptions */
} ValueLayout;

/* How many stand in `items`: with what makes the values of a defaultdict. */
static inline int32_t layout_parts(const ValueLayout *layout) {
    return layout->nitems + (layout->kind == TY_CLASS && layout->maker == MAKER_function);
}

/* -- calls on the host -------------------------------------------------------------------------- */

enum {
    CALL_OK = 0,
    CALL_EXCEPTION = 1,
    CALL_PENDING = 2 /* `poll` left an exception with the caller */
};
enum { CALL_MAX_ARGS = 8, CALL_MAX_CALLERS = 31 };

struct CallContext;
/* A chunk of a parallel loop: iterations [first, last). */
typedef int (*ParallelBody)(struct CallContext *ctx, int64_t first, int64_t last, int64_t chunk,
                            void *env);
/* What compiled code asks and sets of the threads of the calling one. */
enum ThreadQuestion {
    THREAD_ID, /* among those of a parallel loop */
    THREAD_COUNT,
    THREAD_SET_COUNT,
    THREAD_CHUNK,
    THREAD_SET_CHUNK, /* gives the number before */
    THREAD_MOST       /* the largest number that may be set */
};
/* What a caller offers to parallel loops. Without one, or while one of them runs, everything is one chunk. */
typedef struct ParallelRunner {
    /* Into how many chunks to cut n iterations; few: one for each thread at most. 0 for none. */
    int64_t (*chunks)(int64_t n, bool few);
    /* Runs them all; the exception is that of the lowest chunk that had one. */
    int (*run)(struct CallContext *ctx, int64_t n, int64_t chunks, ParallelBody body, void *env);
    /* -1: that is no value for it. */
    int64_t (*threads)(enum ThreadQuestion question, int64_t value);
} ParallelRunner;

typedef enum PartKind { PART_TEXT, PART_INT, PART_REAL, PART_IMAGINARY } PartKind;
/* What is read of an exception. `place`: -1 its text, -2 its repr(), else which argument, from 1 on; of a tuple among them the item, in
 * the next byte of lower value. `count`: how many arguments it must have, -1: any number; beyond PART_COUNTS: the address of a string
 * object, the name of an attribute that is looked at instead of the arguments. */
enum { PART_COUNTS = 4096 };
typedef struct ExceptionPart {
    PartKind kind;
    int64_t place, count;
} ExceptionPart;
struct Raised;
struct ExceptionText;

/* `bytes` in C order; the dtype is a string object. */
typedef struct ArrayInMemory {
    const char *data;
    int64_t bytes, ndim;
    const int64_t *shape;
    const void *dtype;
} ArrayInMemory;

/* Bits of how print() writes: to sys.stderr; flushing behind it. Numbers of quern/library/formatting.py. */
typedef enum PrintHow { PRINT_ERRORS = 1, PRINT_FLUSH = 2 } PrintHow;

/* Handlers of compiled code catch what CALL_PENDING left with the caller, too; and the caller prints. */
typedef struct PendingHandler {
    /* The exception is no longer pending; a number stands for it, until the call ends. 0: it cannot be caught. */
    int64_t (*take)(struct CallContext *ctx);
    /* Is it of that class? One that has no handle is a builtin. */
    bool (*matches)(struct CallContext *ctx, int64_t taken, const void *class_handle);
    /* A string goes to where print() writes (PrintHow). false: an exception is pending. */
    bool (*write)(struct CallContext *ctx, const void *text, int64_t how);
    /* A reference to one that was taken, which outlives the call. NULL: no memory. */
    Owner *(*hold)(struct CallContext *ctx, int64_t taken);
    /* A part of a caught exception, to *out: int64_t, double, or an ExceptionText * that is malloc'ed. false: an exception is
     * pending. */
    bool (*read)(struct CallContext *ctx, const struct Raised *raised,
                 const struct ExceptionPart *part, void *out);
    /* The text of an array, to *out, as of exceptions: quern_array_text. false: an exception is pending. */
    bool (*describe)(struct CallContext *ctx, const ArrayInMemory *array, int64_t how,
                     struct ExceptionText **out);
    /* A generator that nobody asks any more is closed (quern_close). An exception that is pending stays so; what this one raises
     * is told as one that nobody can catch. */
    void (*close)(struct CallContext *ctx, Owner *frame);
} PendingHandler;
/* In Raised.exception: args[0] is the number of an exception that was taken. */
enum { CALL_TAKEN = INT32_MIN };

/* An exception: what, where, through which calls and after which others. What stands in front of `callers` is
 * cleared by the caller. */
#define RAISED                                                                                                            \
    int32_t exception; /* index into artifact->raises, or -1 - Guard */                                                   \
    int32_t site;      /* index into artifact->sites */                                                                   \
    int64_t id; /* which, among those that handlers of this call have caught; 0: none has yet */                          \
    /* The id of the exception that was being handled, and of the one behind `from`; 0: none */                           \
    int64_t context, cause;                                                                                               \
    int32_t suppressed; /* the context is not shown */                                                                    \
    /* Sites of the calls that it came through, innermost first; of more than there is room for the last place has the */ \
    /* outermost. GPUs do not keep them. */                                                                               \
    int32_t ncallers, callers[CALL_MAX_CALLERS];                                                                          \
    int32_t exception_class; /* of a raise statement: the code's number for its class */                                  \
    int64_t text_args; /* bit k: args[k] is counted, a string or bytes of a raise statement */                            \
    int64_t args[CALL_MAX_ARGS]; /* bits of its arguments: see RaiseInfo.kinds */
typedef struct Raised {
    RAISED
} Raised;

/* An exception as a value, of the class `exception`. Its strings are its own. */
typedef struct ExceptionObject {
    ObjectHeader header;
    Raised raised;
} ExceptionObject;

/* Exceptions that are contexts or causes of others, the latest ones, by id. */
enum { KEPT_EXCEPTIONS = 64 };
typedef struct KeptExceptions {
    int32_t next; /* place */
    Raised kept[KEPT_EXCEPTIONS];
} KeptExceptions;

/* Text that was read of an exception, until it is in a string. */
typedef struct ExceptionText {
    Owner owner; /* the context keeps it */
    int64_t length, kind;
    char data[]; /* code points of `kind` bytes */
} ExceptionText;

/* Strings that exceptions of the call carry, wherever these are copied to: kept until it ends. */
typedef struct KeptText {
    struct KeptText *next;
    Owner *owner;
} KeptText;

/* Where generated code leaves the exception, and what it needs of the caller. One for each call, on the
 * caller's stack. Field order is part of the ABI of generated code (codegen/abi.h asserts the offsets). */
typedef struct CallContext {
    union {
        struct {
            RAISED
        };
        Raised raised;
    };
    char *stack_limit; /* a function whose stack pointer is below raises RecursionError */
    /* Slow path of OP_poll: 0 to go on; otherwise the code returns CALL_PENDING. May be NULL. */
    int32_t (*poll)(struct CallContext *ctx);
    void *user; /* the caller's */
    /* Rounds before the next poll, of recursions and of kernels whose work-items wait. Cleared by the caller. */
    int64_t budget;
    /* Kernels on the cpu device: the work-item that raised. The caller clears has_item. */
    int32_t has_item;
    uint32_t block[3], thread[3];
    const ParallelRunner *parallel; /* NULL: loops run on this thread */
    const PendingHandler *pending;  /* NULL: what `poll` leaves with the caller is not caught */
    void *taken; /* the caller's: what it gave to handlers; it clears and frees it */
    /* The caller clears both, and ends with context_end. NULL: none yet */
    KeptExceptions *kept;
    KeptText *texts;
    /* Of code for C, where nobody is pending: by these handlers read exceptions. NULL: they cannot */
    const struct RaiseTables *tables;
} CallContext;

/* What `from` keeps of an exception goes over to `to`: the exception does, too. */
static inline void context_move_texts(CallContext *from, CallContext *to) {
    KeptText *last = from->texts;
    if (!last) return;
    while (last->next)
        last = last->next;
    last->next = to->texts;
    to->texts = from->texts;
    from->texts = NULL;
}

/* The end of whoever made a context: what was kept for exceptions goes. */
static inline void context_end(CallContext *ctx) {
    while (ctx->texts) {
        KeptText *text = ctx->texts;
        ctx->texts = text->next;
        if (atomic_fetch_sub_explicit(&text->owner->refs, 1, memory_order_acq_rel) == 1)
            text->owner->destroy(text->owner);
        free(text);
    }
    free(ctx->kept);
    ctx->kept = NULL;
}

/* Who owns code of ENTRY_C: it is told of exceptions, on any thread, and knows what a context needs. */
typedef struct CodeOwner {
    void (*failed)(const struct CodeOwner *owner, CallContext *ctx, int status);
    char *(*stack_limit)(void);
    const ParallelRunner *parallel;
} CodeOwner;

/* Of a function that makes a generator (Artifact.resumes): with args NULL `result` begins with the generator, an ArrayValue of one axis,
 * and at GENERATOR_BYTES it gets Artifact.resumed, (more, item). */
typedef int (*HostEntry)(CallContext *ctx, void **args, void *result);
enum { GENERATOR_BYTES = 32 };
/* A ufunc loop: n elements, pointers and byte steps for inputs then outputs. Of a generalised ufunc: behind the steps stand
 * for each array its shape and its strides, which are those of all elements, in units of the alignment of an element. Not of
 * those: without steps the elements of each operand stand side by side, and what is written for one is read for no other. */
typedef int (*UfuncEntry)(CallContext *ctx, char **args, int64_t n, const int64_t *steps);

/* A kernel on the cpu device runs blocks [first, last) of a launch, in order of their linear number
 * (x fastest). `shared` has shared_bytes of static memory and then the dynamic part; it is private to the
 * worker and is not cleared between blocks. cooperative: these are all blocks of the launch, and they run at the same
 * time; each has shared memory of its own, `shared_stride` bytes behind that of the one before. */
typedef struct KernelGrid {
    uint32_t grid[3], block[3];
    uint64_t first, last;
    char *shared;
    uint32_t dynamic_shared;
    bool cooperative;
    int64_t shared_stride;
    /* memory for suspended work-items: frames grow from a stack owned by the worker */
    void *(*frame_alloc)(struct KernelGrid *grid, int64_t size);
    void (*frame_free)(struct KernelGrid *grid, void *frame);
    void *user;
} KernelGrid;
typedef int (*KernelEntry)(CallContext *ctx, void **args, KernelGrid *grid);

/* Who watches the accesses of a launch on the cpu device (codegen/sanitize.h). */
struct Artifact;
typedef struct LaunchWatch {
    void *(*open)(uint32_t bits); /* for one launch; NULL: no memory */
    void (*close)(void *watcher);
    /* This thread runs blocks of the launch, with shared memory at grid->shared, from here to `leave`. false: no memory. */
    bool (*enter)(void *watcher, const KernelGrid *grid, int64_t shared_bytes);
    void (*leave)(void);
    /* Was something found? Then *raised says what, as an exception of the kernel. */
    bool (*found)(const void *watcher, const struct Artifact *artifact, CallContext *raised);
} LaunchWatch;

/* A GPU kernel that can raise (debug, boundscheck) has a zeroed global `quern_mailbox` of this layout in its
 * device module. The first thread to raise claims `state` by an atomic exchange 0 -> 1 and fills in the rest;
 * the next synchronisation reads it and clears it. There is no trap and no exit before a barrier: a thread
 * whose check fails goes on, and its accesses outside arrays read zero and write nothing. */
typedef struct KernelMailbox {
    int32_t state, exception, site, unused; /* exception and site as in CallContext */
    uint32_t block[3], thread[3];
    int64_t args[CALL_MAX_ARGS];
} KernelMailbox;
#define KERNEL_MAILBOX_NAME "quern_mailbox"
/* A GPU kernel that prints where no driver does it has a zeroed global `quern_prints` of this layout: a ring of lines, each a head and
 * its operands. Work-items take room by moving `head`, and write a line's head last: (number of the line's format, operands,
 * where it stands + 1), by which the reader knows a whole line from one that is not there yet or from an earlier round. The
 * next synchronisation prints them and moves `tail`. What finds no room is counted as lost. */
enum { PRINT_WORDS = 1 << 17, PRINT_MAX_OPERANDS = 4095 };
typedef struct KernelPrints {
    uint64_t head, tail, lost, unused;
    uint64_t words[PRINT_WORDS];
} KernelPrints;
#define KERNEL_PRINTS_NAME        "quern_prints"
#define PRINT_HEAD_FORMAT(head)   ((uint32_t)((head) >> 44))
#define PRINT_HEAD_OPERANDS(head) ((uint32_t)((head) >> 32) & PRINT_MAX_OPERANDS)
/* A GPU kernel whose grid is synchronised counts its blocks in this zeroed global of 32 bits. It serves one launch at a time. */
#define KERNEL_GRID_NAME "quern_grid_barrier"

/* -- the artifact ------------------------------------------------------------------------------- */

typedef enum EntryKind {
    ENTRY_HOST, /* HostEntry: @jit */
    ENTRY_UFUNC, /* UfuncEntry: @vectorize on the CPU, the function maps scalars to a scalar; @guvectorize, it takes
                     scalars and arrays with axes, of layout A, and returns none */
    ENTRY_C,      /* by C's calling convention: numbers, and arrays of one axis as pointers */
    ENTRY_KERNEL, /* KernelEntry on the CPU; a kernel of a device module on GPUs */
    ENTRY_DEVICE /* NVIDIA: a function for device code of others, see CompileOptions.status_result */
} EntryKind;

/* One parameter of a device kernel: `size` bytes at `source` of host argument `arg` go to `offset` of the
 * parameter buffer. pointer: the bytes are an array's data pointer, to be replaced by the device's. rounds: a double
 * lies at `source`, the float32 nearest to it is passed. */
typedef struct KernelParam {
    uint16_t arg, size;
    uint32_t source, offset;
    bool pointer, rounds;
} KernelParam;

/* The fast variant of a kernel is made for launches whose arrays overlap nowhere that is written, span FAST_SPAN bytes
 * at most, and have at most FAST_LIMIT elements along an axis; whose grid has at most FAST_LIMIT threads and FAST_BLOCKS
 * blocks along an axis. */
/* Two lengths and a little more are an int32: (x + dx + width) % width. */
enum { FAST_LIMIT = (1 << 30) - 1024, FAST_SPAN = INT32_MAX - 1024, FAST_BLOCKS = 1 << 21 };

/* What the code does with the elements of an array, an argument or one in a tuple; an int64 argument that the fast variant takes to lie between
 * -FAST_LIMIT and FAST_LIMIT, or (ARG_POSITIVE) 1 and FAST_LIMIT, or (ARG_INDEX) 0 and FAST_LIMIT; an array that may be put into a container, whose owner must not lie on the stack of the caller;
 * an array that the fast variant takes to have the shape of the others with this bit, of its layout and number of axes. */
enum {
    ARG_READ = 1,
    ARG_WRITTEN = 2,
    ARG_SMALL = 4,
    ARG_KEPT = 8,
    ARG_POSITIVE = 16,
    ARG_ALIKE = 32,
    ARG_INDEX = 64
};

typedef struct CodeSite {
    Str file, function;
    int32_t line, end_line, column, end_column;
    Str name; /* the variable of GUARD_unbound_local */
} CodeSite;

enum { RAISE_MAX_KINDS = 32 };
typedef struct RaiseInfo {
    Str class_name;
    void *class_handle;
    bool has_message;
    Str message;
    int32_t nargs; /* further arguments, in ctx->args: two slots for a complex */
    /* TypeKinds of these, TY_CLASS for a string, TY_OBJECT for bytes; TY_TUPLE is followed by the number of its items and by the items */
    uint8_t kinds[RAISE_MAX_KINDS];
} RaiseInfo;

/* Memory of this process that host code refers to in place, by the name HOST_ADDRESS_PREFIX and its number. */
typedef enum AddressKind {
    ADDRESS_CELLS,    /* a CellLayout */
    ADDRESS_TEXT,     /* the object of a constant: string_literal of `text` */
    ADDRESS_CLASS,    /* the handle of a class of exceptions */
    ADDRESS_ARRAY,    /* of a frozen array: `offset` bytes from its first element */
    ADDRESS_FUNCTION, /* of C, that the program has as an object */
    ADDRESS_OWNER     /* the CodeOwner of ENTRY_C */
} AddressKind;
typedef struct CodeAddress {
    AddressKind kind;
    const void *address;
    void *handle; /* the array, the class, the object, the owner; else NULL */
    int64_t offset;
    Str text;
} CodeAddress;
#define HOST_ADDRESS_PREFIX "quern.at."

typedef struct Artifact {
    _Atomic int32_t refs;
    Arena arena; /* owns everything below */
    TargetKind target;
    EntryKind entry_kind;
    Str name;         /* of the user's function */
    Str entry_name;   /* symbol in the device module */
    const void *code; /* PTX text (NUL-terminated), code object; NULL for host code */
    int64_t ncode;
    void *entry;     /* host code: HostEntry, UfuncEntry or KernelEntry */
    void *host_code; /* codegen's: the tracker that owns the machine code; NULL: none */
    void (*drop)(void *host_code);
    int32_t nparams;
    const ValueLayout *params;
    const uint8_t *
        usage; /* ARG_READ | ARG_WRITTEN of its arrays together | ARG_SMALL, one for each parameter; NULL: unknown */
    ValueLayout result;
    bool resumes; /* it makes generators, which give `resumed` */
    bool alone;   /* ENTRY_HOST: nothing in the code asks for its context, which may be NULL */
    ValueLayout resumed;
    int32_t nkernel_params;
    const KernelParam *kernel_params;
    int32_t param_bytes;
    int32_t shared_bytes; /* static shared memory (cpu device) */
    int32_t static_shared, local_bytes,
        const_bytes; /* of arrays that the code declares; a driver may know better */
    bool uses_dynamic_shared, uses_barriers;
    bool cooperative;    /* the blocks of a launch run at the same time: they wait for each other */
    bool fast_variant;   /* made for FAST_LIMIT: the launch must check */
    int32_t max_threads; /* launch bound; 0: none */
    uint32_t sanitize;   /* SanitizeBits that the code has calls for */
    const struct LaunchWatch *watch; /* with these bits; else NULL */
    int32_t nsites, nraises, nprints;
    const CodeSite *sites;
    const RaiseInfo *raises;
    int32_t (*print)(const char *format, const void *operands); /* a line of KernelPrints */
    const Str *
        prints; /* the formats of its lines in KernelPrints, each ends with a zero byte; none: it does not use it */
    int32_t naddresses;
    const CodeAddress *addresses;
    int32_t ndependencies;
    const Dependency *dependencies;
    Str text_llvm, text_asm, text_ir, text_types; /* for inspect_*: kept on request */
    Str text_parallel; /* remarks of the pass `parallel`, "level\tline\tfile\ttext\n" each; likewise */
    Str text_loops;    /* what is left in each loop: opt_report (opt/report.c); likewise */
    Str object; /* the object file that the code was loaded or linked from: kept on request */
    int64_t ns_infer, ns_opt, ns_llvm, ns_link; /* compile times */
} Artifact;

/* An empty one, with one reference: for whoever makes them. NULL: no memory. */
Artifact *artifact_new(const Allocator *allocator);
void artifact_retain(Artifact *artifact);
/* Exceptions in results are made by its tables: their layouts name it. */
void artifact_name_exceptions(Artifact *artifact);
/* At zero: host code is dropped (never while a call is inside: callers hold a reference for the call, or
 * rely on their specialisation table, which is only freed when nothing runs), then the arena. */
void artifact_release(Artifact *artifact);

#endif
