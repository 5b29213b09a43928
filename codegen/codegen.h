/* codegen.h - the public face of codegen: from a function and argument types to an Artifact. */
#ifndef QUERN_CODEGEN_H
#define QUERN_CODEGEN_H

#include "codegen/artifact.h"
#include "typeinfer/typeinfer.h"

enum FastMath { /* LLVM's flags, Numba's names */
                FM_NNAN = 1,
                FM_NINF = 2,
                FM_NSZ = 4,
                FM_ARCP = 8,
                FM_CONTRACT = 16,
                FM_AFN = 32,
                FM_REASSOC = 64,
                FM_DEFAULT = FM_NSZ | FM_ARCP | FM_CONTRACT | FM_AFN | FM_REASSOC
};

/* The arrays of a generalised ufunc: the axes that its layout gives to each operand, and which of these have one length. */
enum { MAX_CORE_OPERANDS = 32, MAX_CORE_AXES = 128 };
typedef struct CoreAxes {
    int16_t total;                   /* of all operands */
    int16_t ndim[MAX_CORE_OPERANDS]; /* 0: a number, or an array of one element */
    int16_t length[MAX_CORE_AXES];   /* operand after operand: equal numbers are equal lengths */
} CoreAxes;

/* Options that a decorator names: where compiled code calls the function, its own count, and else those of the entry. */
enum OwnOption { OWN_ERROR_MODEL = 1, OWN_FASTMATH = 2, OWN_BOUNDSCHECK = 4 };

typedef struct CompileOptions {
    InferOptions
        infer; /* meaning: typeinfer/typeinfer.h (target, boundscheck, error model, debug ...) */
    EntryKind entry;
    const CoreAxes *
        core; /* ENTRY_UFUNC: of guvectorize, the function writes its results into arrays; or NULL */
    const struct CodeOwner *c_owner; /* ENTRY_C: outlives the code */
    int opt_level;                   /* 0..3; default 3 */
    uint32_t fastmath;               /* FastMath bits */
    uint32_t own;         /* OwnOption bits; nothing to the code of the function as an entry */
    bool no_fma;          /* GPUs: do not contract */
    bool lineinfo;        /* PTX: say which line of the program an instruction is of */
    bool no_vector_math;  /* CPU: scalar libm only */
    bool general_variant; /* kernels: for launches beyond FAST_LIMIT (artifact.h) */
    /* kernels: nobody tests at the launch that ints that something is divided by are above zero, and those that are indices not below it */
    bool any_sign;
    bool any_shape;   /* kernels: nor that arrays seen as one have one shape (opt/alike.c) */
    bool keep_text;   /* fill text_llvm, text_asm ... */
    bool keep_object; /* host code: fill object */
    bool
        closed; /* host code for a program without Quern: one object under `name`, no lazy part, no instance; fills object */
    bool
        all_params; /* GPUs: parameters that nobody looks at stay, so that the layout is known without asking */
    bool
        status_result; /* ENTRY_DEVICE: Numba's convention, int f(result *, args ...); else C's, result f(args ...) */
    uint64_t
        pointers; /* GPUs: parameters (bits) of which the address alone is passed: arrays of one axis without an end */
    const char *
        name; /* GPUs, and what is `closed`: of the entry, an identifier; NULL: made of the function's. Outlives the compilation */
    uint32_t sanitize; /* kernels of the cpu device: SanitizeBits */
    int32_t max_threads, max_registers;
    const char *arch;         /* NVPTX: "sm_90"; CPU: NULL for the host */
    const char *cpu_features; /* NULL: the host's */
    const Allocator
        *allocator; /* of the compilation and the artifact; NULL: malloc. Outlives both */
} CompileOptions;

/* FastMath bits that float operations of a function follow. */
static inline uint32_t cg_fastmath(const CompileOptions *options, const Func *func) {
    return func->own_math ? func->fastmath : options->fastmath;
}

typedef struct Compilation Compilation;
struct InstanceFiles; /* instance_files.h */

/* A compilation owns an arena, types, diagnostics. The resolver must outlive it.
 * `function`: the Binding of the function to compile. */
Compilation *cg_begin(const CompileOptions *options, Resolver *resolver);
/* Instances are looked for on disk before they are compiled (instance_files.h). Copied. */
void cg_use_files(Compilation *c, const struct InstanceFiles *files);
/* A resolver made after cg_begin, from the compilation's own arena (tools). */
void cg_use_resolver(Compilation *c, Resolver *resolver);
Arena *cg_arena(Compilation *c);
TypeTable *cg_types(Compilation *c);
DiagList *cg_diags(Compilation *c);
Module *cg_module(Compilation *c); /* after cg_front */
/* Bytecode, SSA, inference, specialisation: calls the resolver (needs the GIL when that is Python's).
 * `result` may be NULL (inferred). false: see diags, or a Python exception is pending. */
bool cg_front(Compilation *c, const Binding *function, const Type *const *arg_types, int32_t nargs,
              const Type *result);
/* The same from typed IR (tools, tests). */
bool cg_front_module(Compilation *c, Module *typed);
/* Instead of both: everything that stops it (ti_diagnose). Argument types may be NULL. true: nothing does. */
bool cg_diagnose(Compilation *c, const Binding *function, const Type *const *arg_types,
                 int32_t nargs, const Type *result);
/* Behind cg_front, for the same list: the parallel loops that the passes refuse. true: there are none. */
bool cg_diagnose_loops(Compilation *c);
/* Passes, LLVM, linking: no resolver, no GIL; runs LLVM on the code-generation worker. NULL: see diags. */
Artifact *cg_back(Compilation *c);
/* The same in two steps: between them LLVM is at work for it. After cg_back_begin there must be a cg_back_end. */
void cg_back_begin(Compilation *c);
Artifact *cg_back_end(Compilation *c);
/* While cg_back waits for code generation, `look` is called every 50 ms on its thread. True: it waits no longer and
 * returns NULL without a message, and the compilation is good for cg_end only, since its job may still run: see
 * cg_was_left. The job follows no handle of the resolver. */
void cg_on_wait(Compilation *c, bool (*look)(void *user), void *user);
bool cg_was_left(const Compilation *c);
void cg_end(Compilation *c);

/* Features of this build and machine, for reports. */
const char *cg_host_cpu(Arena *arena); /* opens LLVM, as the next does */
const char *cg_llvm_version(void);
/* The path of the library of LLVM, beside the extension that this is part of. false: this is no extension. */
bool cg_llvm_library(char *path, size_t size);
/* Looked for in QUERN_LIBDEVICE, CUDA_HOME, CUDA_PATH, python packages below `prefixes`, usual folders.
 * Called once by pymodule with site-packages folders; copied. */
void cg_set_search_prefixes(const char *const *prefixes, int n);
/* The paths where a library of device functions is looked for, in their order, until `look` answers true. */
typedef struct LibrarySearch {
    bool (*look)(void *user, const char *path, bool others); /* others: it may not fit this LLVM */
    void *user;
} LibrarySearch;
void cg_find_libraries(TargetKind target, const LibrarySearch *search);
/* Forks between the first call of this function and this process. Locks of threads of an older generation are held
 * by nobody. Code generation itself needs no call after a fork. */
uint32_t cg_generation(void);
/* Arrays that compiled host code allocated and nobody destroyed yet, in the whole process (support.c). */
int64_t support_live_arrays(void);
int64_t support_live_objects(void);
/* Functions that were compiled as instances (instances.h): ever in this process, those that something calls, and how many of all came
 * from the disk. */
void cg_count_instances(int64_t *made, int64_t *live, int64_t *read);
/* Those that nothing calls and that are kept for the next one go. */
void cg_drop_instances(void);
/* Test aid: the next compilation runs into LLVM's fatal-error handler. */
void cg_test_fatal_error(void);

/* How a value of that type lies in memory: for whoever makes one outside of a compilation. */
ValueLayout cg_layout(Arena *arena, TypeTable *types, const Type *type);

#endif
