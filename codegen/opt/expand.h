/* expand.h - what map, map_into and reduce share when they become loops.
 *
 *   expand.c         the pass: which versions of an op there are, and where they stand
 *   expand_nest.c    the nest of loops over the shape, and how each operand takes part in it
 *   expand_known.c   what the code says of lengths and strides
 *   expand_reduce.c  what a reduction does in the nest
 *   expand_pairwise.c  sums of floats
 *   expand_emit.c    pieces of code */
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
    Func *element;  /* NULL: the only operand itself */
    int64_t axes;
    const Type *type; /* of the result; NULL: map_into */
    Ref target;       /* map_into */
    Ref like;         /* the op's own target, where `target` may be a new array in its place */
    bool fits;        /* all operands have the shape and strides of that */
    Ref start;        /* reduce; NO_REF: the first element */
    int32_t n;
    const Ref *operands;
    int ndim; /* of what is walked over: of the target, or the most of an operand */
    /* What is known of operands along the innermost axis, where they may stretch: */
    bool one_still; /* none has length 1 there but `still` */
    Ref still;      /* or NO_REF */
} WholeOp;

/* -- expand_emit.c: pieces of code ---------------------------------------------------------------- */

Ref em_int(Emit *e, int64_t value);
/* A copy of a constant of some function. */
Ref em_constant(Emit *e, const Inst *inst);
Ref em_length(Emit *e, Ref array, int axis);
Ref em_op2(Emit *e, Op op, Ref a, Ref b); /* integer arithmetic and comparisons of i64 */
Ref em_add_nowrap(Emit *e, Ref a, Ref b);
Ref em_and(Emit *e, Ref a, Ref b); /* a may be NO_REF */
Ref em_or(Emit *e, Ref a, Ref b);
/* Of an op that may raise; goes on in a fresh block where it has an error successor. */
Ref em_raising(Emit *e, Op op, const Type *type, const Ref *args, int32_t nargs);
Ref em_call(Emit *e, Func *func, const Ref *args, int32_t nargs);
bool em_without_heap(const PassContext *ctx); /* of kernels, where nothing calls itself either */
int32_t em_block(Emit *e);
bool em_is_array(const Emit *e, Ref ref);
/* The function's value: its instructions where it is one block, otherwise a call. */
Ref em_apply(Emit *e, Func *element, const Ref *args, int32_t nargs);

/* A counted loop, as the front end writes them, that may carry one value round. */
typedef struct EmitLoop {
    int32_t header, exit;
    Ref counter;
    Ref carried; /* phi, or NO_REF */
    bool rolled; /* it is not worth unrolling; false, until the caller says so before the end */
} EmitLoop;
void em_loop(Emit *e, EmitLoop *loop, Ref limit, Ref carried); /* now in the body */
void em_loop_end(Emit *e, EmitLoop *loop, Ref carried);        /* now behind the loop */
void em_close(Emit *e, EmitLoop *loop, Ref carried); /* the same for a short one, without a poll */

/* A function of the module to write, with parameters of these types. Its first block is open. */
Func *em_function(Emit *e, const Emit *from, const char *what, const Type *const *types, int32_t n,
                  const Type *result);
Ref em_param(Emit *e, int32_t k);
Ref em_none(Emit *e);

/* -- expand.c ------------------------------------------------------------------------------------- */

WholeOp em_whole_op(PassContext *ctx, const Func *func, Ref ref);

/* -- expand_known.c ------------------------------------------------------------------------------- */

/* Is the axis known to have length 1, whatever the arguments are? `x[:, None]`, and sums that keep their axes. */
bool em_known_one(const Func *func, Ref array, int axis);
/* The same, where it may be 0, too: `x[:, k:k + 1]`. */
bool em_at_most_one(const Func *func, Ref array, int axis);
/* Do elements lie side by side along the axis? `x[:, 0]` and `x[::2]` have a stride. */
typedef enum Step { STEP_UNKNOWN, STEP_UNIT, STEP_STRIDED } Step;
Step em_step(const Func *func, Ref array, int axis);
/* Are two values the same because they are computed alike? */
bool em_is_same(const Func *func, Ref a, Ref b);
bool em_same_length(const Func *func, Ref a, int axis_a, Ref b, int axis_b);
/* The array whose part, transposed or not, it is. */
Ref em_root(const Func *func, Ref array);
/* Do they belong to different arrays, of which one at least is new? */
bool em_known_apart(const Func *func, Ref a, Ref b);
/* Of a map_into: do the target and an operand share memory, as far as their slices tell? */
typedef enum Sharing { APART, SHARED, EITHER } Sharing;
Sharing em_sharing(const Func *func, const WholeOp *w);

/* -- expand_nest.c -------------------------------------------------------------------------------- */

/* An operand or a result in the nest. */
typedef struct Part {
    Ref value; /* a scalar or an array */
    const Type *type;
    int8_t axis[MAX_AXES]; /* its own, for each axis of the nest; -1: it does not move with it */
    Ref factors[MAX_AXES]; /* of its own axes: 0 or 1 times the index; NO_REF: 1 */
    bool unit; /* an array with strides that has elements side by side along the innermost axis */
} Part;

/* Axes in the order of the loops, outermost first. */
typedef struct Nest {
    int n;
    Ref dims[MAX_AXES];
    bool reduced[MAX_AXES];
    Ref index[MAX_AXES]; /* while loops are open */
    Part *parts;
    int32_t nparts;
    Part to; /* value NO_REF: reduce to a scalar */
} Nest;

/* The array's own axis that is innermost in the nest, or -1. */
int em_innermost(const Emit *e, const WholeOp *w, Ref array);
/* The shape that all operands broadcast to, by array axis; raises where they do not. */
void em_broadcast(Emit *e, const WholeOp *w, Ref *dims);
/* The same where no axis is repeated but those that are known to have length 1, or at most 1; what has to be true for that, and
 * for arrays with strides to have unit stride innermost where they may, or NO_REF. */
Ref em_alike(Emit *e, const WholeOp *w, Ref *dims);
/* The nest for a shape from either. `to`: the result or target. */
void em_nest(Emit *e, const WholeOp *w, const Ref *dims, bool alike, Ref to, Nest *nest);

/* A part along the innermost axis: a scalar, or an array of one axis. */
typedef struct Row {
    Ref value;
    bool moves;
    Ref factor; /* NO_REF: 1 */
} Row;
/* At the indices of the other axes. n: the axes of the nest that have an index; all but the last, or all. */
Row em_row(Emit *e, const Nest *nest, const Part *part, int n);
void em_rows(Emit *e, const Nest *nest, int n, Row *rows);
void em_elements(Emit *e, const Row *rows, int32_t n, Ref at, Ref *out);
Ref em_element(Emit *e, const Row *row, Ref at);
void em_row_store(Emit *e, const Row *row, Ref at, Ref value);
/* to[...] = element(parts...) */
void em_map_nest(Emit *e, Nest *nest, Func *element);

/* -- expand_reduce.c ------------------------------------------------------------------------------- */

/* The accumulator, or nothing where the nest has a result array. */
Ref em_reduce_nest(Emit *e, Nest *nest, const WholeOp *w);

/* -- expand_pairwise.c ----------------------------------------------------------------------------- */

/* The sum of n elements from `from` on of what the function adds. */
Ref em_pairwise(Emit *e, const WholeOp *w, const Row *rows, int32_t nrows, Ref from, Ref n);

#endif
