/* support.h - plain C functions that compiled host code calls: array memory and the few numeric functions
 * neither LLVM nor libm has. No LLVM here. Names of the outside world that compiled code may use are the
 * rows of support_functions; nothing else is looked up first. */
#ifndef QUERN_SUPPORT_H
#define QUERN_SUPPORT_H

#include "codegen/artifact.h"

/* An allocated array is one block: the Owner at a 64-byte boundary, its data 64 bytes behind. Small ones lie where malloc puts them:
 * a list of lists has many. */
enum {
    SUPPORT_ARRAY_HEADER = 64,
    SUPPORT_ARRAY_ALIGN = 64,
    SUPPORT_ARRAY_SLACK = SUPPORT_ARRAY_HEADER + SUPPORT_ARRAY_ALIGN,
    SUPPORT_SMALL_ALIGN = 16,
    SUPPORT_SMALL_ARRAY = 256 /* bytes, at most */
};

typedef struct SupportFunction {
    const char *name;
    void (*address)(void);
} SupportFunction;

/* NULL-terminated. */
extern const SupportFunction support_functions[];
const SupportFunction *support_find(const char *name); /* NULL when absent */
/* A symbol of glibc's vector math library, NULL where the library or the symbol is not there. */
void *support_vector_symbol(const char *name);

/* Called by generated code. NULL: no memory. nbytes was checked to leave room for the slack. */
Owner *quern_alloc_array(int64_t nbytes, int32_t zeroed);
/* A block for a header and that many bytes, with room for what aligns it: where the header goes. `block`: what to free. */
void *support_alloc_block(int64_t nbytes, bool zeroed, void **block);
/* Has quern_alloc_array made it? */
bool support_is_array(const Owner *owner);
/* Gives one reference back: was it the last? Nobody can take another one from whoever has the only one. */
static inline bool support_let_go(Owner *owner) {
    int64_t refs = atomic_load_explicit(&owner->refs, memory_order_acquire);
    return refs == 1 || (refs < OWNER_BORROWED &&
                         atomic_fetch_sub_explicit(&owner->refs, 1, memory_order_acq_rel) == 1);
}
void quern_retain(Owner *owner);  /* NULL is allowed */
void quern_release(Owner *owner); /* destroys at zero */
/* Test aid: allocation number n from now on fails; 0: none does. */
void support_fail_allocation(int64_t n);
/* Asked before each. */
bool support_allocates(void);
/* Arrays that were allocated and not yet destroyed, in the whole process: leak tests. */
int64_t support_live_arrays(void);

/* Ufuncs: an int was divided by zero. Raises the flag that a float division would. */
void quern_zero_divisor(void);
/* round(x, n) as CPython: correctly rounded through decimal text. */
double quern_round_digits(double x, int64_t digits);
float quern_round_digitsf(float x, int64_t digits);

/* Parallel loops, by the context's runner: how many chunks, and running them. A status, as of any call. */
int64_t quern_chunks(CallContext *ctx, int64_t n, int32_t few);
int32_t quern_parallel(CallContext *ctx, int64_t n, int64_t chunks, ParallelBody body, void *env);

/* Handlers. The exception of the context, or where `status` says so the one that is pending with the caller, moves to
 * `held`; it came while `handled` was being handled (NULL: nothing was). 0: it cannot be caught. */
int32_t quern_caught(CallContext *ctx, Raised *held, const Raised *handled, int32_t status);
/* `from`: what the next raise statement raises (`of` NULL), or `of`, has that cause; NULL: none, and shows no context. */
void quern_cause(CallContext *ctx, Raised *of, const Raised *cause);
/* Is an exception that was pending of that class? */
int32_t quern_matches_taken(CallContext *ctx, int64_t taken, const void *class_handle);

/* An exception as a value, with a reference: one that was caught, or what a constructor has left in the context, which nothing has
 * raised. There always is one: without memory it is a MemoryError. */
Owner *quern_exception_object(CallContext *ctx, const Raised *raised);
Owner *quern_exception_made(CallContext *ctx);
/* It becomes the exception of the context, which takes over a reference. `site`: of a raise statement, else -1. */
void quern_raise_object(CallContext *ctx, Owner *exception, int32_t site);
int32_t quern_same_exception(const Raised *a, const Raised *b);
/* The address of its cause, else of its context, where the context of the call has it still; 0: there is none. */
int64_t quern_exception_earlier(CallContext *ctx, const Raised *raised, int64_t cause);

/* One more call that the exception comes through. */
void quern_note_call(CallContext *ctx, int32_t site);
/* Asks the caller's poll function where there is one. */
int32_t quern_poll(CallContext *ctx);
/* A string that an exception carries lives as long as the call. Its bits for Raised.args; 0: no memory. */
int64_t quern_text_kept(CallContext *ctx, Owner *text);
/* A context for a call from C. */
void quern_begin(CallContext *ctx);
/* Code of ENTRY_C: opens its context, tells its owner of an exception, ends the context. */
void quern_c_begin(const CodeOwner *owner, CallContext *ctx);
void quern_c_failed(const CodeOwner *owner, CallContext *ctx, int32_t status);
void quern_c_end(CallContext *ctx);
/* What a handler reads of the exception that it holds: ExceptionPart. CALL_EXCEPTION: the caller cannot say. The text is the
 * context's until it is copied. */
int32_t quern_exception_int(CallContext *ctx, const Raised *held, int64_t place, int64_t count,
                            int64_t unused, int64_t *out);
int32_t quern_exception_float(CallContext *ctx, const Raised *held, int64_t place, int64_t count,
                              int64_t imaginary, double *out);
int32_t quern_exception_text(CallContext *ctx, const Raised *held, int64_t place, int64_t count,
                             int64_t *out);
int64_t quern_exception_size(const ExceptionText *text, int64_t of_code_points);
int64_t quern_exception_copy(CallContext *ctx, ExceptionText *text, char *out);

/* str() of an array, repr() where `how` is 1: NumPy's, with its options. `bytes` at `data` in C order, `dtype` a string that Python
 * reads as what np.dtype() takes. CALL_EXCEPTION: the caller cannot say. The text is the context's until it is copied. */
int32_t quern_array_text(CallContext *ctx, const char *data, int64_t bytes, const int64_t *shape,
                         int64_t ndim, const void *dtype, int64_t how, int64_t *out);
/* A string for print(); `how`: bits of PrintHow. A status; without a caller that prints it goes to the standard output (or that
 * of errors) of the process, as UTF-8. */
int32_t quern_text_print(CallContext *ctx, const void *text, int64_t how);
/* What the op `print` of IR.md says, for kernels of the cpu device, in one piece: operands of 8 bytes, for %s a pointer to text. The
 * number of bytes, -1: there was no memory, and nothing is printed. */
int32_t quern_kernel_print(const char *format, const void *operands);

int64_t quern_threads(CallContext *ctx, int32_t question, int64_t value);

/* Where products are computed: a path, or "none" with the reason. */
const char *blas_name(void);

#endif
