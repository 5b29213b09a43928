/* divisors.h - for the pass `loops`: zero divisors, and floats that are no int64, are looked for a strip ahead of the division or of int(x). */
#ifndef QUERN_DIVISORS_H
#define QUERN_DIVISORS_H

#include "codegen/opt/pass.h"

/* Rounds that are tested at once: their divisors stay in the first cache. */
enum { DIVISOR_STRIP = 1024 };

/* An innermost counted loop that `loops` has strip-mined. */
typedef struct Strip {
    int32_t block;   /* in front of the header: jumps there */
    Ref start, stop; /* values of `block`: of the counter in this strip */
} Strip;

typedef struct Divisors Divisors;
/* Before the loop is strip-mined; NULL: it has none of these to look for, or they cannot be found ahead. The
 * answer borrows all arguments. */
Divisors *opt_divisors(PassContext *ctx, Func *func, const Cfg *cfg, int32_t loop,
                       const CountedLoop *counted);
/* Is each round looked at, or only what stands still? */
bool opt_tests_rounds(const Divisors *divisors);
/* Afterwards: puts the test into the strip, and makes the guarded copy of the loop. */
void opt_test_ahead(Divisors *divisors, const Strip *strip);

#endif
