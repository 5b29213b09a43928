/* bounds.h - what versioning a nest of loops consists of.
 *
 *   bounds.c           the pass: which checks a test in front of the nest stands for, and the two copies
 *   bounds_interval.c  between what an index lies
 *   bounds_bits.c      what the bits of an index say
 *   bounds_sum.c       closer bounds of sums of variables
 *   bounds_rounds.c    inner loops that are short enough to do without strips
 *   bounds_rows.c      rows of as many elements as the program names */
#ifndef QUERN_BOUNDS_H
#define QUERN_BOUNDS_H

#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

enum { MAX_DEPTH = 12, SUM_BITS = 57, MAX_STEP = 16 };

typedef struct Interval {
    bool ok;
    Ref low, high; /* i64 values in the preheader */
} Interval;

/* Where an expression is looked at: how exact leaves must be, how deep it is, and the block it is used in. */
typedef struct Place {
    int bits, depth;
    int32_t block;
} Place;

typedef struct RowLength {
    Ref array;
    int64_t length; /* of its last axis */
} RowLength;

typedef struct Bounds {
    Func *func;
    Arena *arena;
    Cfg *cfg;
    int32_t loop; /* the outermost */
    Builder b;    /* at the end of the preheader */
    Vec(Ref) conditions;
    const Type *i64, *boolean;
    int leaves, choices; /* looked at for one index, of which there is an end */
    int guards;          /* that say something of this index */
    int signs;           /* of steps, which were asked for */
    bool walks;          /* what guards say is all that is taken of this index */
    bool in_step;        /* the variable looked at is one beside which another goes */
    RefList natural;     /* divisions whose dividend is not negative */
    RefList from_end;    /* checks of indices that are always negative */
    RefList wrapping; /* checks whose wraparound stays: of indices that begin a little below zero */
    RefList few;      /* polls of inner loops that the conditions make short */
    Vec(RowLength) rows; /* that the conditions make numbers */
} Bounds;

/* -- in the preheader ------------------------------------------------------------------------------ */

bool bounds_invariant(const Bounds *s, Ref ref);
Ref bounds_number(Bounds *s, int64_t value);
Ref bounds_compute(Bounds *s, Op op, Ref a, Ref c);
Ref bounds_compare(Bounds *s, Op op, Ref a, Ref c);
Ref bounds_shape_of(Bounds *s, Ref array, int64_t axis);
/* a < c or a <= c must hold for the fast copy; false: it never does. */
bool bounds_require(Bounds *s, Op op, Ref a, Ref c);
bool bounds_require_nonnegative(Bounds *s, Ref ref);
/* Is that required already, or known? */
bool bounds_has_required_nonnegative(Bounds *s, Ref ref);

/* -- of values in the nest --------------------------------------------------------------------------- */

/* An int64 that does not change, when it is small. */
Interval bounds_leaf(Bounds *s, Ref ref, int bits);
/* All values `ref` takes in the nest, where it is used in `at.block`. */
Interval bounds_interval(Bounds *s, Ref ref, Place at);
/* Do branches on the way to `block` compare the value with what does not change in the nest? */
bool bounds_guarded(const Bounds *s, Ref ref, bool upper, int32_t block);
/* By what the items of a range with that item follow each other; 1: by what is not known, or it is no such item. */
int64_t bounds_step(const Bounds *s, Ref item);
/* A variable to which every round of a counted loop adds the same number: `*rounds` is the loop's counter. */
bool bounds_counts_along(const Bounds *s, Ref phi, int32_t block, Ref *start, int64_t *step,
                         Ref *rounds);
/* What lies in both. */
Interval bounds_within(Bounds *s, Interval a, Interval c);
/* Of a sum of variables what is closer than its interval. */
Interval bounds_closer(Bounds *s, Ref index, Interval all, int32_t block);

/* Of an int by its bits, if they say anything. */
Interval bounds_of_bits(Bounds *s, Ref ref);

/* -- inner loops without strips ------------------------------------------------------------------------ */

/* Adds conditions under which inner loops of the nest have few rounds, and their polls to `few`. */
void bounds_describe_rounds(Bounds *s);

/* -- rows ------------------------------------------------------------------------------------------------ */

/* Are there rows to ask for? Needs nothing of the preheader. */
bool bounds_has_rows(const Bounds *s);
/* Adds conditions under which rows have a length that is a number, and these to `rows`. */
void bounds_describe_rows(Bounds *s);
/* Tells the accesses of the nest, once it is the copy that runs where the conditions hold. */
void bounds_mark_rows(Bounds *s);

#endif
