/* cg.h - the state of one lowering from typed IR to an LLVM module, and what its files share.
 *
 * How values look: every IR value is a short list of LLVM values, its *leaves* (cg.c): a scalar has one,
 * a complex two, a tuple those of its items, an array {data, owner, shape..., strides...}. Strides are
 * leaves of layout 'A' only: those of 'C' and 'F' are products of the shape, which LLVM can see through.
 * Phis, parameters and results are flattened in the same way.
 *
 * How functions look: internal; `{i32 status, leaves...} f(ctx, work-item coordinates..., leaves...)`,
 * each part only where the function needs it (CgSig, made by cg_plan.c). One LLVM element stands for
 * itself, none for void. LLVM's interprocedural passes then see plain SSA values. */
#ifndef QUERN_CG_H
#define QUERN_CG_H

#include "codegen/abi.h"
#include "codegen/host_code.h"
#include "codegen/instances.h"
#include "codegen/llvm_start.h"
#include "codegen/memo.h"
#include "codegen/target.h"
#include "frontend/base/os.h"
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

typedef LLVMValueRef Value;
typedef LLVMTypeRef LType;
typedef LLVMBasicBlockRef BB;

enum { CG_MAX_SPACES = 6, CG_MAX_DIMS = 32, CG_SLOTS = 3 };
enum { CONTEXT_BUDGET = 14 }; /* field of CallContext */
/* Hidden parameters of functions that use the coordinates of a work-item (CPU): the coordinates, then
 * the shared memory of the block, the size of its dynamic part, and the WorkItem of a kernel that waits. */
enum { ITEM_SHARED = GRID_VALUES * 3, ITEM_DYNAMIC, ITEM_SELF, ITEM_COUNT };

typedef Vec(struct CgSig *) CgSigs;

/* How an IR function looks in LLVM. */
typedef struct CgSig {
    const Func *ir;
    Value fn;
    LType type;
    int32_t nresult; /* leaves of the result */
    LType memory;    /* many: the struct of them, written through a last parameter; else NULL */
    int32_t nargs;   /* leaves of the parameters */
    LType given;     /* many: the struct of them, which a parameter points to; else NULL */
    bool large;      /* many of them are instructions of their own */
    bool reachable;  /* from the entry */
    bool raises;     /* takes ctx, gives a status */
    bool polls;      /* takes the budget of polls: see cg_count_down */
    bool item;       /* takes the coordinates of the work-item */
    bool recursive;  /* is in a cycle of the call graph */
    bool suspends;   /* contains a barrier or an operation of the warp (CPU kernels) */
    bool block;      /* calls another for each work-item of a block: opt/workitem.c */
    bool keeps;      /* has slots of work-items */
    bool lazy;       /* compiled when first called */
    bool parallel;   /* it, or what it calls, runs a parallel loop */
    bool body;       /* of a parallel loop */
    bool mutual;     /* in a cycle with another function */
    /* In the module that is being lowered: reachable without a call of a lazy function or of an instance; from a lazy
     * function; lazy, and called by what is hot, through a slot of the module. */
    bool hot, cold, stub;
    int32_t slot;
    int32_t
        size; /* instructions of ours, with those that belong to the same module; 0: not counted yet */
    bool asked_for;       /* a function of the user calls it, */
    bool in_loop;         /* in a loop */
    bool has_units;       /* what belongs to its module calls an instance */
    bool unit;            /* the root of a module of its own: cg_unit.c */
    Instance *instance;   /* then, once that is made: the cg holds it */
    int32_t first[2];     /* the first numbers of its module, by NumberKind, */
    int32_t count[2];     /* and how many there are */
    CgSigs needs;         /* the instances that its module calls, by number */
    Value record;         /* in the main module */
    const MadeFunc *made; /* it was compiled before: there is no more than the call */
    const Memo *memo;     /* of its module; NULL: not made yet, or there is none */
} CgSig;

/* An array that a function makes: cg_apart.c. */
typedef struct Made {
    Ref array;
    LLVMMetadataRef scope;
} Made;

/* The function being lowered. */
typedef struct CgFunc {
    const Func *ir;
    const CgSig *sig;
    Value **leaves; /* by Ref */
    Value *tuples;  /* by Ref: see cg_tuple.c */
    Cfg cfg;
    BB entry;     /* allocas and nothing else; ends with a jump to IR block 0 */
    BB *heads;    /* by IR block */
    BB *edges;    /* [block * CG_SLOTS + successor slot]: the LLVM block that makes the jump */
    BB landing;   /* where failures of the current instruction go; made on demand */
    BB fail;      /* leaves the function with the status below; made on demand */
    Value status; /* alloca */
    BB leave;     /* puts together what the function returns; made on demand */
    Value *left;  /* its phis */
    Value ctx;
    Value bases; /* parameter: see cg_numbered */
    Value item[ITEM_COUNT];
    Value given, result;          /* where CgSig.given and CgSig.memory are */
    Value budget;                 /* parameter: see cg_count_down */
    Vec(int32_t) recursion_polls; /* IR blocks in which cg_recursion_poll counted */
    Value
        patience; /* alloca, GPUs: iterations left to a work-item that has failed; 0: it has not */
    int32_t block;
    Ref ref;
    Made *made;
    int nmade;
    Bits wanted; /* remainders of which more is asked than whether they are zero; on demand */
    bool draws;  /* from a bit generator: no functions of vectors, whose last bits differ */
} CgFunc;

/* What jobs of the worker keep from one to the next: machine.c. */
typedef struct KeptMachine {
    char *key;
    LLVMTargetMachineRef machine;
} KeptMachine;
enum { KEPT_MACHINES = 4 };

typedef struct HostFacts {
    char *triple, *cpu, *features; /* NULL until somebody asked */
} HostFacts;

/* Whether this LLVM can read a library: the answer takes as long as a small kernel. */
typedef struct KeptAnswer {
    char *path;
    OsStamp stamp;
    bool readable;
} KeptAnswer;
enum { KEPT_ANSWERS = 8 };

/* The functions of a library that a module asked for, and what they need, as bitcode of their own: opening the whole library takes as
 * long as half of a kernel. */
typedef struct KeptPart {
    char *key;
    char *bitcode;
    size_t size;
} KeptPart;
enum { KEPT_PARTS = 16 };

/* Pieces of memory for LLVM's small objects (heap.c). */
typedef struct Heap Heap;

struct LlvmState {
    Heap *heap; /* NULL: no job was run with it yet */
    HostFacts host;
    KeptMachine kept[KEPT_MACHINES];  /* the newest first */
    KeptAnswer answers[KEPT_ANSWERS]; /* amdgpu_libs.c */
    int nanswers;                     /* ever given */
    KeptPart parts[KEPT_PARTS];       /* devlib.c */
    int nparts;                       /* ever made */
};

/* How a branch goes: to its first successor hardly ever (what is cold), less often, or more often than to the other. */
typedef enum CgExpected { EXPECT_NEVER, EXPECT_NO, EXPECT_YES } CgExpected;

struct Cg {
    LlvmState *llvm;
    Arena *arena;
    DiagList *diags;
    const CompileOptions *options;
    const Target *target;
    Module *ir;
    LLVMContextRef context;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    LLVMTargetMachineRef machine;
    const char *machine_key; /* NULL: the machine is for this compilation only */
    LLVMTargetDataRef layout;
    LType void_, i1, i8, i16, i32, i64, f16, bf16, f32, f64;
    LType ptr[CG_MAX_SPACES];   /* by LLVM address space */
    LType context_type;         /* struct CallContext */
    LLVMMetadataRef weights[3]; /* by CgExpected */
    LLVMDIBuilderRef lines;     /* cg_lines.c: NULL where nobody asks for lines */
    LLVMMetadataRef scope, kernel_scope;
    /* What loads and stores reach, in modules with objects: fields of these never lie where elements of arrays do. NULL: anything */
    LLVMMetadataRef fields, elements, access;
    Ref accessed; /* the array whose element a load or store reaches; NO_REF: it is no element */
    LLVMMetadataRef shared, kept; /* kernels of blocks: shared arrays, slots of work-items */
    bool
        whole_strides; /* strides of aligned arrays are multiples of the alignment: NumPy has seen to it */
    unsigned fast_math; /* LLVM's flags for the options, which functions without their own follow */
    bool raises;        /* does the target let this code raise? */
    bool closes;        /* are there frames of generators that are closed? */
    bool owns;          /* is there an array whose references are counted? */
    CgSig *sigs;        /* parallel to ir->funcs */
    Map sig_index;      /* Func * -> index */
    CgFunc *f;
    int32_t nunits; /* functions that were chosen to be instances */
    CgSig *root;    /* the one whose module is being lowered; NULL: the main module */
    bool in_lazy; /* what is being lowered is its module of lazy functions: it calls no instances */
    bool is_private;              /* it depends on something that other code cannot have */
    CgSigs needs;                 /* instances that the module being lowered calls */
    Vec(int32_t) walk, cold_walk; /* its functions; those of its module of lazy functions */
    Vec(Instance *) held;
    const Hash128 *memo_key;           /* of the job */
    Map memo_records;                  /* Memo * -> as CgSig.record */
    const struct InstanceFiles *files; /* of the job */
    Instance **claim;                  /* what is being made: of the job, which may be lost */
    const uint8_t *usage;              /* of the arrays in the entry's parameters: abi_usage */
    bool writes_in;                    /* the call that is being lowered shall be written in */
    bool inlined; /* nothing in the module is left for LLVM to write into its callers */
    bool failed;
    char error[1024]; /* the first one: cg_error */
    bool error_placed;
    Span error_span;
    /* LLVM's, while they are copied: memory may run out then */
    char *text;
    LLVMMemoryBufferRef code;
    /* for the artifact */
    const char *entry_name;
    Value entry_fn;
    Value entry_budget; /* of the entry being built, where its function polls */
    int32_t nlazy;      /* functions compiled when first called, and their module */
    LLVMMemoryBufferRef lazy_bitcode;
    Vec(CodeAddress) addresses;
    Vec(CodeSite) sites;
    Vec(RaiseInfo) raise_infos;
    Vec(Str) prints;             /* formats, see Artifact */
    Vec(ExceptionClass) classes; /* of raise statements and handlers, by number */
    Map site_index;
    Map frozen;                  /* FrozenArray * -> global */
    const char *features;        /* of the CPU; "" where they do not matter */
    Vec(Value) vector_functions; /* declarations the vectoriser may use */
    Vec(KernelParam) kernel_params;
    int32_t param_bytes, shared_bytes;
    int32_t static_shared, local_bytes, const_bytes; /* what the arrays of a kernel come to */
    bool uses_dynamic_shared, uses_barriers, cooperative;
    Vec(int32_t) kept_offsets; /* by slot; bytes before it, of one work-item */
    int32_t kept_bytes;        /* of all */
    bool keeps_arrays;         /* pointers to slots may be kept in slots */
    Str text_llvm, text_asm;
    int64_t ns_llvm, ns_link;
};

/* -- cg.c: the session, types and leaves ------------------------------------------------------ */

/* session.c: LLVM has no way back from an allocation that fails. Is there room for what it takes to compile so many
 * instructions of ours, beside the jobs at work? To be asked before cg_open; given back behind cg_close. 0: there is none. */
size_t cg_take_room(size_t instructions);
void cg_give_room(size_t room);
/* Makes context, module and types. False: diagnostics. `cg` was zeroed by the caller. */
/* heap.c: between the two, the calling thread takes LLVM's small objects from the state's heap. */
void cg_heap_enter(LlvmState *llvm);
void cg_heap_leave(void);
/* cg_merge.c: writes the body of the module's first function into `entry`, where that alone calls it. */
void cg_merge_entry(Cg *cg, Value entry);
bool cg_open(Cg *cg, LlvmState *llvm, Arena *arena, DiagList *diags, const CompileOptions *options,
             Module *ir);
/* machine.c: the machine kept for `key`, or NULL; and back, when the session closes. */
LLVMTargetMachineRef cg_machine_take(Cg *cg, const char *key);
void cg_machine_give(Cg *cg);
const HostFacts *cg_host(Cg *cg); /* what LLVM finds out about this machine */
void cg_close(Cg *cg);            /* disposes everything LLVM owns; safe on a half-made session */
/* Notes the first error, at the current instruction where there is one. Always false. Allocates nothing: memory that runs out
 * must not jump over frames of LLVM, which calls this through its handlers, nor over a lock. */
bool cg_error(Cg *cg, const char *format, ...) QN_PRINTF(2, 3);
void cg_report(Cg *cg); /* adds it as E0501 */

LType cg_scalar_type(Cg *cg, TypeKind kind); /* of one leaf: bool is i1 */
LType cg_memory_type(Cg *cg, TypeKind kind); /* of one component in memory: bool is i8 */
LType cg_record_type(Cg *cg, const Type *type);
int32_t cg_leaf_count(const Cg *cg, const Type *type);
/* Writes the leaf types and returns how many. */
int32_t cg_leaf_types(Cg *cg, const Type *type, LType *out);
unsigned cg_space(const Cg *cg, Space space);
Value *cg_leaves(Cg *cg, Ref ref); /* of a lowered value */
Value cg_leaf(Cg *cg, Ref ref);    /* its only leaf */
Value *cg_new_leaves(Cg *cg, const Type *type);
void cg_set(Cg *cg, Ref ref, Value *leaves);
void cg_set1(Cg *cg, Ref ref, Value leaf);
const Type *cg_type(const Cg *cg, Ref ref);

Value cg_int(LType type, int64_t value);
Value cg_bool(Cg *cg, bool value);
Value cg_real(LType type, double value);
Value cg_alloca(Cg *cg, LType type, const char *name); /* in the entry block */
Value cg_alloca_first(Cg *cg, LType type);             /* the same in any function, entries too */
BB cg_block(Cg *cg, const char *name);
void cg_at(Cg *cg, BB block);
/* The first instruction from `inst` on that is no phi. */
Value cg_behind_phis(Value inst);
/* Behind the definition of an instruction or an argument: all uses can see what is built. */
void cg_at_uses(Cg *cg, Value value);
/* A call of an overloaded intrinsic; `overloads` are its type parameters. */
Value cg_intrinsic(Cg *cg, const char *name, LType *overloads, int noverloads, Value *args,
                   int nargs);
Value cg_intrinsic1(Cg *cg, const char *name, Value a);
/* Is it made of the bits of other values, each from those that stand at its place? */
bool cg_is_bits(Value v);
/* Is it a call of an intrinsic function whose name begins so? */
bool cg_calls(Value inst, const char *intrinsic);
Value cg_intrinsic2(Cg *cg, const char *name, Value a, Value b);
/* Ints narrower than 32 bits are refused: the upper bits of their registers are nobody's. */
Value cg_call_extern(Cg *cg, const char *name, LType result, Value *args, int nargs);
void cg_attribute(Cg *cg, Value fn, unsigned index, const char *name, uint64_t value);
void cg_call_attribute(Cg *cg, Value call, const char *name, uint64_t value);
/* fast-math flags of the options on what takes them; returns its argument. */
Value cg_fast(Cg *cg, Value value);
void cg_not_negative(Cg *cg, Value load); /* of an i64 */
/* The operand through assembly without effects. */
Value cg_assembly(Cg *cg, const char *text, const char *constraints, LType result, Value operand);
/* The load or store reaches what cg->access says. */
void cg_accesses(Cg *cg, Value inst);
/* Finds the arrays that the function makes. */
void cg_apart_begin(Cg *cg);
/* A load or store of an element of `array`, from a block of the function, lies apart from those of others. */
void cg_apart_access(Cg *cg, Value access, Ref array);
/* What memory an array is made of: two that differ are of no use to each other, whether they overlap or not. */
Ref cg_memory_of(const Func *func, Ref array);
/* Is it given to the function, or made there, or a constant: nothing that may be one of several? */
bool cg_is_known_memory(const Func *func, Ref memory);
/* A name for accesses of one loop, and the loads and stores of the block where code is built that come behind `from` (NULL: all) get it. */
Value cg_access_group(Cg *cg);
void cg_group_accesses(Cg *cg, Value group, Value from);
/* A module of this context from text, which the caller disposes of or links; NULL: after a diagnostic. */
LLVMModuleRef cg_parse(Cg *cg, const char *text);
void cg_expect(Cg *cg, Value branch, CgExpected expected);
void cg_unlikely(Cg *cg, Value branch); /* its first successor is the cold one */

/* -- cg_plan.c: what each function takes and gives ------------------------------------------- */

void cg_plan(Cg *cg);
CgSig *cg_sig(Cg *cg, const Func *func);
bool cg_inst_raises(Cg *cg, const Func *func, Ref ref);

/* -- cg_lines.c: lines of the program in PTX; nothing where the option is not set ------------------ */

void cg_lines_open(Cg *cg);
/* The function is lowered now; until cg_lines_leave. */
void cg_lines_function(Cg *cg, const CgSig *sig);
void cg_lines_at(Cg *cg, Ref ref);
void cg_lines_leave(Cg *cg);
/* The module is complete, and nothing is optimised yet. */
void cg_lines_finish(Cg *cg);
void cg_lines_close(Cg *cg);

/* -- cg_func.c: functions, blocks, phis, calls ------------------------------------------------ */

bool cg_functions(Cg *cg);
/* The attributes that a function has by its signature. */
void cg_declared(Cg *cg, const CgSig *sig,
                 Value fn); /* declares and lowers all; stubs for lazy ones */
/* The same for one module: hot functions with stubs, or lazy ones with what they call. */
bool cg_lower_bodies(Cg *cg, bool lazy);
/* Are its leaves, of one type, as close together in memory as an array's elements? */
bool cg_lies_dense(Cg *cg, const Type *type);
/* Where a parameter is in the memory of many; the same call as below, with that. */
Value cg_given_place(Cg *cg, const CgSig *sig, Value memory, int32_t param);
Value cg_call_given(Cg *cg, const CgSig *sig, Value ctx, Value given, Value *results);
/* Calls a lowered function from an entry: fills `results`, gives the status or NULL. */
Value cg_call_sig(Cg *cg, const CgSig *sig, Value ctx, Value *item, Value *args, Value *results);
void cg_lower_call(Cg *cg, Ref ref);
void cg_lower_chunks(Cg *cg, Ref ref); /* cg_parallel.c */
void cg_lower_parallel(Cg *cg, Ref ref);
/* Does the code of another function go into what this becomes: is it called, by whomever? */
static inline bool cg_refers(const Inst *inst) {
    return inst->op == OP_call || inst->op == OP_parallel || inst->op == OP_closing;
}
/* -- cg_close.c: generators whose handlers run when they go ------------------------------------- */
void cg_lower_closing(Cg *cg, Ref ref);
bool cg_finds_closing(Cg *cg);
/* Is it a release of what may be such a frame? */
bool cg_drops_frame(Cg *cg, const Func *func, Ref ref);
/* In front of the release of a value of that type. */
void cg_drop_frame(Cg *cg, const Type *type, Value owner);

void cg_lower_return(Cg *cg, Ref ref);
void cg_return_zero(Cg *cg); /* where code that cannot raise would */

/* -- cg_bfloat.c ------------------------------------------------------------------------------- */

Value cg_widened(Cg *cg, Value a); /* a bfloat16 as float32; any other value as it is */
Value cg_to_bfloat(Cg *cg, Value a, bool is_signed); /* of a float or an int, rounded once */
Value cg_bfloat_negative(Cg *cg, Value a);

/* -- cg_raise.c: failures, polling, the stack check ------------------------------------------ */

/* Leaves to the current instruction's error successor (or the function) with status `status`. */
void cg_fail_if(Cg *cg, Value cond, Guard guard, const Value *args, int nargs);
void cg_propagate_if(Cg *cg, Value cond, Value status);
/* Behind a call of compiled code, which failed unless `status` is CALL_OK; `noted`: where it stands is for the traceback. */
void cg_propagate_call(Cg *cg, Value status, bool noted);
/* Does code of this target go on after a failure (GPUs)? See "work-items that go on" in cg_raise.c. */
bool cg_goes_on(const Cg *cg);
/* Such a call has returned: what its status asks of the caller. */
void cg_note_status(Cg *cg, Value status);
Value cg_return_status(Cg *cg); /* of a return statement */
void cg_end_item(Cg *cg);       /* ends the LLVM block: nothing sensible can follow */
int32_t cg_site(Cg *cg);        /* index of the current instruction's place in the artifact */
void cg_fail_block(Cg *cg);     /* builds the common exit when it was asked for */
BB cg_fail_exit(Cg *cg);
void cg_lower_guard(Cg *cg, Ref ref);
void cg_lower_raise(Cg *cg, Ref ref);
void cg_record_exception(Cg *cg, Ref ref); /* class and arguments go into the context */
void cg_lower_caught(Cg *cg, Ref ref);
void cg_lower_exception(Cg *cg, Ref ref);
/* Where the object has what a handler has in memory of its own: the value of a `caught` that is no object. */
Value cg_exception_address(Cg *cg, Value object);
void cg_lower_cause(Cg *cg, Ref ref);
void cg_lower_matches(Cg *cg, Ref ref);
void cg_lower_reraise(Cg *cg, Ref ref);
/* One more frame that the recorded exception comes through: the current instruction. */
void cg_note_call(Cg *cg);
/* The code's number for a class of exceptions. */
int32_t cg_class_number(Cg *cg, const ExceptionClass *cls);
void cg_leave(Cg *cg,
              Value status); /* what fails leaves: to the error successor, or the function */
void cg_lower_poll(Cg *cg, Ref ref);
void cg_lower_pending(Cg *cg, Ref ref);
void cg_stack_check(Cg *cg);
/* The budget of polls: rounds of loops (and calls of recursive functions) that are left before the next look at
 * the clock. One int64 of the entry, passed by address to all functions that poll, so that many short loops
 * count as one long one. */
Value cg_new_budget(Cg *cg);
/* Takes `weight` off; at zero the caller's poll is asked. Gives the block in which the answer was to stop: the
 * caller ends it. */
BB cg_count_down(Cg *cg, Value ctx, Value budget, Value weight);
/* Before a call inside a recursion: the first on the way there counts as a round. That budget stands in the context,
 * where it costs no register. */
void cg_recursion_poll(Cg *cg);

/* -- cg_inst.c: one case for each op ---------------------------------------------------------- */

/* What LLVM is not to do with the loop whose branch back this is: unroll, make vectors, distribute. */
typedef struct LoopHints {
    bool rolled, scalar, whole, rest_rolled;
    LLVMValueRef parallel; /* cg_access_group: what a round writes there no other reads; or NULL */
    int unroll; /* so many rounds side by side, the remainder in a loop; 0: as LLVM likes */
} LoopHints;
void cg_mark_loop(Cg *cg, LLVMValueRef branch, LoopHints hints);
/* starts.c: before each run of LLVM's passes */
void cg_hide_starts(Cg *cg);
void cg_inst(Cg *cg, Ref ref);

/* -- cg_int.c, cg_float.c, cg_compare.c, cg_cast.c: arithmetic over leaves -------------------- */

/* known: DivisionFlag */
Value cg_int_floordiv(Cg *cg, bool is_signed, unsigned known, Value a, Value b);
unsigned cg_known_of_mod(Cg *cg, const Inst *mod); /* DivisionFlag */
Value cg_int_mod(Cg *cg, bool is_signed, unsigned known, Value a, Value b);
Value cg_int_rem(Cg *cg, bool is_signed, Value a, Value b); /* C's; 0 by zero */
Value cg_int_pow(Cg *cg, bool is_signed, Value a, Value b);
Value cg_int_shl(Cg *cg, Value a, Value count);
Value cg_int_shr(Cg *cg, bool is_signed, Value a, Value count);
/* The function `name` of a math library with the type of its operands: sin, sinf, __nv_sin. */
LLVMValueRef cg_hypot(Cg *cg, LLVMValueRef x, LLVMValueRef y); /* cg_hypot.c: f32, f64 */
/* Lowers a comparison of abs() of a complex number with a constant on which a loop ends; false: it is another one. */
bool cg_compare_length(Cg *cg, Ref ref);
Value cg_math(Cg *cg, const char *name, Value *args, int nargs);
Value cg_float_mod(Cg *cg, Value a, Value b);
Value cg_float_floordiv(Cg *cg, Value a, Value b);
Value cg_float_pow(Cg *cg, Value a, Value b);
/* a ** n by squaring; b is n as a float. */
Value cg_float_pow_int(Cg *cg, Value a, Value b, Value n, bool is_signed, bool natural);
Value cg_float_class(Cg *cg, Value a, const char *what); /* "nan" "inf" "finite": by bits */
void cg_complex_mul(Cg *cg, const Value *a, const Value *b, Value *out);
void cg_complex_div(Cg *cg, const Value *a, const Value *b, Value *out);
Value cg_compare(Cg *cg, Op op, const Type *ta, const Value *a, const Type *tb, const Value *b);
Value cg_truth(Cg *cg, const Type *type, const Value *a);
void cg_cast(Cg *cg, const Type *from, const Value *a, const Type *to, Value *out);
/* One scalar leaf to another scalar type. */
Value cg_cast_scalar(Cg *cg, TypeKind from, Value a, TypeKind to);

/* -- cg_tuple.c: tuples that are indexed at run time -- */
void cg_tuples_begin(Cg *cg);
void cg_tuple_made(Cg *cg,
                   Ref ref); /* at the entry for arguments, behind the instruction for others */
void cg_lower_item_at(Cg *cg, Ref ref);

/* -- cg_array.c, cg_view.c, cg_memory.c: arrays ----------------------------------------------- */

typedef struct ArrayLeaves {
    const Type *type;
    Value data, owner; /* owner: NULL on targets without */
    Value shape[CG_MAX_DIMS];
    Value strides[CG_MAX_DIMS]; /* bytes; made on demand by cg_array_strides */
} ArrayLeaves;

void cg_array_open(Cg *cg, const Type *type, Value *leaves, ArrayLeaves *out);
void cg_array_close(Cg *cg, const ArrayLeaves *array, Value *leaves);
void cg_array_strides(Cg *cg, ArrayLeaves *array);
Value cg_array_stride(Cg *cg, const ArrayLeaves *array, int axis);
/* Of the load or store that is lowered, in a loop (cg_split.c); NULL: it has no parts. */
Value cg_split_address(Cg *cg, const ArrayLeaves *array, LType element, LType index_type);
/* The same for an access beside a place, of an array of several axes. NULL: it is at none, or the target does not want it. */
Value cg_near_address(Cg *cg, const ArrayLeaves *array, LType element, LType index_type);
/* The same, or nowhere, where code goes on after a failed check. */
Value cg_safe_address(Cg *cg, const ArrayLeaves *array, const Value *indices);
/* Memory for what an access outside an array does instead, in the space of `like`: 16 bytes, or of that size. */
Value cg_nowhere(Cg *cg, Value like, int64_t size);
void cg_load_scalar(Cg *cg, TypeKind kind, Value address, unsigned align, Value *out);
void cg_store_scalar(Cg *cg, TypeKind kind, Value address, unsigned align, const Value *leaves);
void cg_lower_load(Cg *cg, Ref ref);
void cg_lower_store(Cg *cg, Ref ref);
void cg_lower_same_array(Cg *cg, Ref ref);
void cg_lower_disjoint(Cg *cg, Ref ref);
void cg_lower_frozen(Cg *cg, Ref ref);
void cg_lower_view(Cg *cg, Ref ref);
void cg_lower_reshape(Cg *cg, Ref ref);
void cg_lower_restride(Cg *cg, Ref ref);
void cg_lower_transpose(Cg *cg, Ref ref);
void cg_lower_alloc(Cg *cg, Ref ref);
void cg_lower_take(Cg *cg, Ref ref);
void cg_lower_count(Cg *cg, Ref ref, const char *function);
/* quern_retain or quern_release of every owner in the value. */
void cg_count_owners(Cg *cg, const Type *type, Value *leaves, const char *function);
void cg_lower_static_array(Cg *cg, Ref ref);
/* QUERN_SANITIZE: the current instruction is about to access an element there (SanitizeAccess). */
void cg_tell_access(Cg *cg, const ArrayLeaves *array, Value address, int access);
void cg_lower_memory_at(Cg *cg, Ref ref);
void cg_lower_dynamic_shared(Cg *cg, Ref ref);
void cg_lower_atomic(Cg *cg, Ref ref);
void cg_lower_print(Cg *cg, Ref ref); /* cg_print.c */

/* -- cg_call.c, cg_gen.c: the library --------------------------------------------------------- */

/* A call of a library row: leaves of the arguments one after the other. */
typedef struct LibCall {
    const Inst *inst;
    const LibRow *row;
    int nargs;
    const Type *types[16];
    Value *args[16]; /* leaves of each argument */
    Value *out;      /* leaves of the result, to be filled */
} LibCall;

/* The row of an OP_lib, made by inference or read from text. */
const LibRow *cg_lib_row(const Func *func, Ref ref);
void cg_lower_lib(Cg *cg, Ref ref);
void cg_generate(Cg *cg, int gen, LibCall *call);
void cg_ask_threads(Cg *cg, LibCall *call); /* cg_parallel.c */
void cg_draw(Cg *cg, LibCall *call);        /* the generator `draw` */
void cg_next_bits(Cg *cg, LibCall *call);   /* the generator `next_bits` */
/* cg_vector.c: vector variants of a scalar libm call (CPU). */
void cg_keep_variants(Cg *cg);
void cg_vector_variants(Cg *cg, Value call, const char *symbol, int nargs, bool single);

/* -- cg_items.c: loops over the work-items of a block (CPU) ------------------------------------- */

typedef struct CgCounter { /* for (value = first; value < limit; value++) */
    Value value;
    BB head, exit;
} CgCounter;
CgCounter cg_loop_open(Cg *cg, Value first, Value limit);
void cg_loop_close(Cg *cg, const CgCounter *c);
void cg_name_item(Cg *cg, Value ctx, Value *values); /* who raised: into the call context */
void cg_lower_items(Cg *cg, Ref ref, const CgSig *callee, Value *args);
Value cg_kept_bytes(Cg *cg, int64_t slot, int64_t bytes); /* of this work-item */
void cg_lower_kept(Cg *cg, Ref ref);
void cg_lower_kept_lane(Cg *cg, Ref ref);
void cg_lower_kept_vote(Cg *cg, Ref ref);
void cg_lower_kept_count(Cg *cg, Ref ref);
void cg_lower_keep(Cg *cg, Ref ref);
/* cg_trim.c: work-items along x, first to limit, that have something to do; args: of the call, by leaf. */
void cg_trim_items(Cg *cg, const Func *items, const Value *args, Value *first, Value *limit);

/* -- cg_coro.c: work-items that wait for each other (CPU) ------------------------------------- */

bool cg_coro_generate(Cg *cg, int gen, LibCall *call);
void cg_coro_entry(Cg *cg);  /* the entry of a kernel that suspends */
bool cg_coro_finish(Cg *cg); /* between the two halves of LLVM's passes; false: diagnostics */

/* -- cg_object.c: objects and buffers of what is counted ---------------------------------------- */

void cg_lower_character(Cg *cg, Ref ref);
void cg_lower_new(Cg *cg, Ref ref);
/* The object of the class str that a constant is. */
Value cg_literal(Cg *cg, Str text);
void cg_lower_field(Cg *cg, Ref ref);
void cg_lower_set_field(Cg *cg, Ref ref);
void cg_lower_grow(Cg *cg, Ref ref);
void cg_lower_move(Cg *cg, Ref ref);
/* Stores a value, whose reference goes into the place, and then releases what was there. */
void cg_replace_value(Cg *cg, const Type *type, Value address, const Value *leaves);
Value cg_new_buffer(Cg *cg, const Type *element, Value bytes);

/* -- cg_entry.c: values in memory, the packed entry, ufunc loops ------------------------------ */

void cg_load_value(Cg *cg, const Type *type, Value address, Value *out);
void cg_store_value(Cg *cg, const Type *type, Value address, const Value *leaves);

/* Makes a function with the given type as the module's exported entry and positions in its first block. */
Value cg_entry_function(Cg *cg, LType type);
const char *
cg_entry_name(Cg *cg); /* of the module being lowered; of the main module unique in the process */
void cg_entry_host(Cg *cg);
void cg_entry_c(Cg *cg); /* cg_entry_c.c */
void cg_entry_ufunc(Cg *cg);
/* Loads all parameters of funcs[0] from `args` (void **); returns the leaves. */
Value *cg_entry_arguments(Cg *cg, Value args);

/* -- cg_lazy.c: functions compiled when they are first called ----------------------------------- */

bool cg_is_lazy(const Cg *cg, const CgSig *sig);
void cg_lazy_stub(Cg *cg, const CgSig *sig);
bool cg_lazy_module(Cg *cg); /* after the entry was made; false: diagnostics */
/* Of the session that has one. NULL: no memory. */
LazyCode *cg_lazy_code(Cg *cg);

/* cg_plan.c: what belongs to the module that is to be lowered (root). */
void cg_find_sides(Cg *cg);

/* -- cg_unit.c: instances, which are modules of their own ---------------------------------------- */

/* Behind cg_plan's facts, before types are made: which functions are instances. */
void cg_choose_units(Cg *cg);
/* Makes or finds all of them, callees first. The main module is empty until then. False: diagnostics. */
bool cg_units(Cg *cg);
/* Is it one only where no loop of the user calls it? Behind cg_choose_units. */
bool cg_is_small_unit(Cg *cg, const CgSig *sig);
/* The function to call for `sig` from the module being lowered, and what it is given for its parameter `bases`. */
Value cg_callee(Cg *cg, const CgSig *sig);
Value cg_bases(Cg *cg, const CgSig *sig);
/* Sites and raise statements have numbers in the tables of the artifact. An instance belongs to many artifacts: it
 * knows how far a number lies behind the first of its own, and is given these by its caller: the parameter `bases` is
 * the address of {first site, first raise, the same for each instance that it calls ...}. */
typedef enum NumberKind { NUMBER_SITE, NUMBER_RAISE } NumberKind;
Value cg_numbered(Cg *cg, NumberKind kind, int32_t number);
/* That constant, in the main module; `below`: the same of what it calls, n. */
Value cg_bases_record(Cg *cg, const int32_t first[2], const Value *below, int32_t n);
/* What the main module calls, for HostObject. */
Instance **cg_instances(Cg *cg);

/* -- cg_memo.c: instances that were made for functions before (memo.h) ------------------------------ */

void cg_use_memo(CgSig *sig);
Value cg_memo_record(Cg *cg, const Memo *memo); /* as cg_bases_record */
/* Remembers what cg_units has made. False: what was remembered is not what came out (QUERN_INSTANCES=check). */
bool cg_remember(Cg *cg);

/* -- admit.c, emit.c -------------------------------------------------------------------------- */

bool cg_verify(Cg *cg); /* what LLVM says of the module */
/* LLVM's verifier, and a list of the types and intrinsics we have tried: others may crash LLVM. */
bool cg_admit(Cg *cg);
bool cg_optimise(Cg *cg);
const char *cg_pipeline(const Cg *cg);
bool cg_optimise_with(Cg *cg, const char *pipeline);
/* Object or assembly text, as large as it says; empty after a diagnostic. */
Str cg_emit_copy(Cg *cg, Arena *arena, LLVMCodeGenFileType type);
Str cg_copy_text(Cg *cg, char *text); /* of LLVM's, which it gives back */
Str cg_print(Cg *cg);                 /* the module as text, in the arena */
/* Memory of the host as an external symbol of the module: what its name means stands in cg->addresses. */
Value cg_host_address(Cg *cg, CodeAddress address, LType type);
/* The same, of a function. */
Value cg_host_function(Cg *cg, CodeAddress address, LType type);
/* Makes machine code of the module and loads it: symbol, addresses and lazy functions of `object` are given (host_code.h).
 * NULL after a diagnostic. `keep`, if not NULL, gets the object file. */
HostCode *cg_load_host(Cg *cg, HostObject object, void **entry, Artifact *keep);

#endif
