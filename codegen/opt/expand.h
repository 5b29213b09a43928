/* expand.h - what map, map_into and reduce share when they become loops (expand.c, expand_reduce.c). */
#ifndef QUERN_EXPAND_H
#define QUERN_EXPAND_H

#include "codegen/opt/pass.h"

enum { MAX_AXES = 32, MAX_MESSAGE_ARGS = 8 };

/* Where code is written: the end of a block, and what raising instructions lead to. */
typedef struct Emit {
    PassContext *ctx;
    Func *func;
    Builder b;
    const Type *i64, *boolean;
} Emit;

/* One of the three ops, its operands as values of the function that is written. */
typedef struct WholeOp {
    Op op;
    unsigned flags; /* ReduceFlag */
    Func *element;
    int64_t axes;
    const Type *type; /* of the result; NULL: map_into */
    Ref target;       /* map_into */
    Ref start;        /* reduce; NO_REF: the first element */
    int32_t n;
    const Ref *operands;
    int ndim; /* of what is walked over: of the target, or the most of an operand */
} WholeOp;

/* -- expand_emit.c: pieces of code ---------------------------------------------------------------- */

Ref em_int(Emit *e, int64_t value);
Ref em_length(Emit *e, Ref array, int axis);
Ref em_op2(Emit *e, Op op, Ref a, Ref b); /* integer arithmetic and comparisons of i64 */
Ref em_and(Emit *e, Ref a, Ref b);        /* a may be NO_REF */
Ref em_or(Emit *e, Ref a, Ref b);
/* Of an op that may raise; goes on in a fresh block where it has an error successor. */
Ref em_raising(Emit *e, Op op, const Type *type, const Ref *args, int32_t nargs);
int32_t em_block(Emit *e);
/* The function's value: its instructions where it is one block, otherwise a call. */
Ref em_apply(Emit *e, Func *element, const Ref *args, int32_t nargs);

/* A counted loop, as the front end writes them, that may carry one value round. */
typedef struct EmitLoop {
    int32_t header, exit;
    Ref counter;
    Ref carried; /* phi, or NO_REF */
} EmitLoop;
void em_loop(Emit *e, EmitLoop *loop, Ref limit, Ref carried); /* now in the body */
void em_loop_end(Emit *e, EmitLoop *loop, Ref carried);        /* now behind the loop */

/* -- expand.c ------------------------------------------------------------------------------------- */

/* The shape that all operands broadcast to; raises where they do not. */
void em_broadcast(Emit *e, const WholeOp *w, Ref *dims);
/* By operand k and its axis a, at k * MAX_AXES + a: what its index is multiplied by, 0 or 1. */
Ref *em_factors(Emit *e, const WholeOp *w);
/* Elements at `index`, which has one for each axis that is walked over. factors NULL: all are 1. */
Ref em_operand(Emit *e, const WholeOp *w, const Ref *factors, int32_t k, const Ref *index);
void em_elements(Emit *e, const WholeOp *w, const Ref *factors, const Ref *index, Ref *out);

/* -- expand_reduce.c ------------------------------------------------------------------------------- */

Ref expand_reduce(Emit *e, const WholeOp *w);

#endif
