/* support.c - what compiled host code calls: see support.h.
 *
 * The table holds every libm function that the library tables may name, so that compiled code gets the
 * ones this binary was linked with and not those another package put before them. */
#include "codegen/support.h"
#include "codegen/decompositions.h"
#include "codegen/lazy.h"
#include "codegen/linear_systems.h"
#include "codegen/objects.h"
#include "codegen/product.h"
#include "codegen/random.h"
#include "codegen/sort.h"
#include "codegen/sanitize.h"
#include "codegen/strings.h"
#include "codegen/workitem.h"
#include "frontend/base/os.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* -- the table -------------------------------------------------------------------------------- */

/* Names of compiler-rt that LLVM may call. */
extern void __divti3(void), __udivti3(void), __modti3(void), __umodti3(void), __multi3(void);
extern void __powidf2(void), __powisf2(void);
extern void __truncdfhf2(void), __truncsfhf2(void), __extendhfsf2(void);

/* __truncsfbf2 of compiler-rt, which not every compiler's library has. LLVM keeps a bfloat16 in a register of float32 from block to
 * block; what comes here was one, and its upper half is all of it, but a NaN that would become an
 * infinity. The result lies in the lower half of the register that a float is returned in. */
static float truncated_to_bfloat(float single) {
    uint32_t bits, upper;
    memcpy(&bits, &single, sizeof bits);
    bool nan = (bits & 0x7fffffff) > 0x7f800000;
    upper = (nan ? bits : bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    if (nan && (upper & 0x7f) == 0) upper |= 0x40;
    memcpy(&single, &upper, sizeof single);
    return single;
}

#define ROW(name)                                                                                  \
    { #name, (void (*)(void))name }
#define TWO(a, b)                                                                                  \
    ROW(a)                                                                                         \
    , ROW(b)
#define BOTH(name)                                                                                 \
    ROW(name)                                                                                      \
    , ROW(name##f)

#define BESSEL BOTH(j0), BOTH(j1), BOTH(y0), BOTH(y1)
#define MEMORY                                                                                     \
    ROW(memcpy)                                                                                    \
    , ROW(memmove)                                                                                 \
    , ROW(memset)                                                                                  \
    , ROW(memcmp)

const SupportFunction support_functions[] = {
    TWO(quern_alloc_array, quern_alloc_buffer),
    ROW(quern_grow),
    ROW(quern_move),
    ROW(quern_new_object),
    ROW(quern_closing),
    ROW(quern_drop_frame),
    ROW(quern_retain),
    ROW(quern_release),
    ROW(quern_cholesky),
    TWO(quern_caught, quern_cause),
    TWO(quern_character, quern_chunks),
    ROW(quern_eig),
    ROW(quern_eigh),
    ROW(quern_text_kept),
    ROW(quern_lstsq),
    ROW(quern_lu),
    ROW(quern_q),
    ROW(quern_qr),
    ROW(quern_solve),
    ROW(quern_svd),
    ROW(quern_zero_divisor),
    ROW(quern_item_frame),
    ROW(quern_kernel_print),
    ROW(quern_lazy_code),
    ROW(quern_matches_taken),
    ROW(quern_note_call),
    ROW(quern_parallel),
    ROW(quern_poll),
    ROW(quern_product),
    ROW(quern_random_double),
    ROW(quern_random_keep),
    ROW(quern_random_kept),
    ROW(quern_random_seed),
    ROW(quern_random_state),
    ROW(quern_random_word),
    ROW(quern_run_blocks),
    ROW(quern_run_items),
    ROW(quern_sort_pairs),
    ROW(quern_sort_words),
    ROW(quern_sanitize_access),
    ROW(quern_sanitize_fence),
    ROW(quern_sanitize_item),
    ROW(quern_text_digits),
    ROW(quern_text_hash),
    ROW(quern_text_number),
    ROW(quern_array_text),
    TWO(quern_c_begin, quern_c_end),
    ROW(quern_c_failed),
    TWO(quern_exception_object, quern_exception_made),
    TWO(quern_raise_object, quern_same_exception),
    ROW(quern_exception_earlier),
    ROW(quern_exception_copy),
    TWO(quern_exception_float, quern_exception_int),
    TWO(quern_exception_size, quern_exception_text),
    ROW(quern_text_print),
    ROW(quern_threads),
    BOTH(quern_round_digits),
    BOTH(acos),
    BOTH(acosh),
    BOTH(asin),
    BOTH(asinh),
    BOTH(atan),
    BOTH(atan2),
    BOTH(atanh),
    BOTH(cbrt),
    BOTH(ceil),
    BOTH(copysign),
    BOTH(cos),
    BOTH(cosh),
    BOTH(erf),
    BOTH(erfc),
    BOTH(exp),
    BOTH(exp2),
    BOTH(exp10),
    BOTH(expm1),
    BOTH(fabs),
    BOTH(fdim),
    BOTH(floor),
    BOTH(fma),
    BOTH(fmax),
    BOTH(fmin),
    BOTH(fmod),
    BOTH(frexp),
    BOTH(hypot),
    BESSEL,
    BOTH(ldexp),
    BOTH(lgamma),
    BOTH(log),
    BOTH(log10),
    BOTH(log1p),
    BOTH(log2),
    BOTH(modf),
    BOTH(nearbyint),
    BOTH(nextafter),
    BOTH(pow),
    BOTH(remainder),
    BOTH(rint),
    BOTH(round),
    BOTH(roundeven),
    BOTH(sin),
    BOTH(sincos),
    BOTH(sinh),
    BOTH(sqrt),
    BOTH(tan),
    BOTH(tanh),
    BOTH(tgamma),
    BOTH(trunc),
    MEMORY,
    ROW(__divti3),
    ROW(__udivti3),
    ROW(__modti3),
    ROW(__umodti3),
    ROW(__multi3),
    ROW(__powidf2),
    ROW(__powisf2),
    TWO(__truncdfhf2, __truncsfhf2),
    {"__truncsfbf2", (void (*)(void))truncated_to_bfloat},
    ROW(__extendhfsf2),
    {NULL, NULL},
};

const SupportFunction *support_find(const char *name) {
    for (const SupportFunction *f = support_functions; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

/* -- glibc's vector mathematics --------------------------------------------------------------- */

/* Opened once and kept: code that calls it may live until the end. */
static pthread_once_t vector_once = PTHREAD_ONCE_INIT;
static void *vector_library;

static void open_vector_library(void) {
    char error[128];
    vector_library = os_lib_open("libmvec.so.1", NULL, error, sizeof error);
}

void *support_vector_symbol(const char *name) {
    pthread_once(&vector_once, open_vector_library);
    return vector_library ? os_lib_symbol(vector_library, name) : NULL;
}
