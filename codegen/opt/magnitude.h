/* magnitude.h - how far from zero a number can be, by what it is computed of. */
#ifndef QUERN_MAGNITUDE_H
#define QUERN_MAGNITUDE_H

#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

/* The name of LLVM's function that a float of a float is; "": it is none. */
const char *opt_intrinsic_of(const Func *func, Ref ref);
bool opt_is_magnitude(const Func *func, Ref ref); /* |x| */
bool opt_is_rounding(const Func *func, Ref ref);  /* floor, ceil, trunc, roundeven */

/* What is asked of the values of one function, or of one loop. */
typedef struct Magnitudes {
    PassContext *ctx;
    Func *func;
    const Cfg *cfg;
    int32_t loop; /* -1: none, and nothing is left to a test */
    const CountedLoop *counted;
    bool
        elements; /* those that change from round to round may be tested ahead: they are below 2^31 then */
    bool divides; /* such elements are divided */
    RefList same; /* loads that stay the same in the loop, and are made in front of it */
    RefList tested;
    int nodes;
    double *most; /* of each value that was looked at; below 0: nobody knows */
    Bits looked, sure;
    /* while the test is made: */
    Builder *b;
    Ref from, to;         /* between what the counter is, both included */
    Ref *values, *loaded; /* by value: its magnitude; by load of `same`: the element */
} Magnitudes;

Magnitudes opt_magnitudes(PassContext *ctx, Func *func, const Cfg *cfg, int32_t loop,
                          const CountedLoop *counted, bool elements);
/* Is the float below 2^62, and no NaN, whatever happens? */
bool opt_is_small(Magnitudes *m, Ref x);
/* Is there a test in front of the loop, which usual values pass, that makes it so? Then `same` and `tested` have got the loads. */
bool opt_may_be_small(Magnitudes *m, Ref x);
/* That test, at b: a bool. */
Ref opt_test_small(Magnitudes *m, Ref x);
/* Is the value of a load of `tested` not below 2^31, or a NaN? */
Ref opt_is_far(Builder *b, Ref value);

#endif
