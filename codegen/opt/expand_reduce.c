/* expand_reduce.c - reductions in their nest.
 *
 * Where the innermost axis is reduced: for each index of the axes that stay, one accumulator goes over the others, run
 * by run of the innermost axis. Where it stays: all accumulators of a row of the result take a row of the operands at
 * a time. */
#include "codegen/opt/expand.h"

typedef struct Reduction {
    Emit *e;
    Nest *nest;
    const WholeOp *w;
    Row *rows;
    Ref *values;  /* of the function: the accumulator, then an element of each part */
    int32_t done; /* where a loop that needs no further element leads; NO_BLOCK */
    Ref stopped;  /* phi there */
    bool extremum, pairwise;
} Reduction;

/* -- an early end ------------------------------------------------------------------------------------ */

/* Leaves the loops when nothing changes any more. */
static void test_stop(Reduction *r, Ref acc) {
    Emit *e = r->e;
    if (r->done == NO_BLOCK) return;
    Ref stop = acc;
    if (ir_type(e->func, acc)->kind == TY_TUPLE) {
        stop = b_op1(&e->b, OP_item, e->boolean, acc);
        ir_inst(e->func, stop)->imm = 0;
    }
    int32_t go_on = em_block(e);
    if (!r->stopped) {
        Builder b = {.func = e->func, .block = r->done, .at = -1, .error = NO_BLOCK};
        r->stopped = b_phi(&b, ir_type(e->func, acc));
    }
    b_branch(&e->b, stop, r->done, go_on);
    ir_add_arg(e->func, r->stopped, acc);
    e->b.block = go_on;
}

/* -- one accumulator ---------------------------------------------------------------------------------- */

/* Is the accumulator the minimum or maximum of itself and a float? Those may be taken in any order and of an element twice,
 * nan wins wherever it stands: LLVM vectorises them when nobody asks which of two zeros it is. */
static bool is_extremum(const Func *element) {
    Ref last = ir_terminator(element, 0);
    if (!last || ir_inst(element, last)->op != OP_return) return false;
    Ref result = ir_arg(element, last, 0);
    const Inst *inst = ir_inst(element, result);
    if (inst->op != OP_lib || inst->nargs != 2 || !type_is_float(inst->type)) return false;
    int of_acc = 0;
    for (int k = 0; k < 2; k++) {
        const Inst *arg = ir_inst(element, ir_arg(element, result, k));
        of_acc += arg->op == OP_param && arg->imm == 0;
    }
    return of_acc == 1 &&
           (str_is(*inst->u.name, "numpy.maximum") || str_is(*inst->u.name, "numpy.minimum"));
}

static Ref step(Reduction *r, Ref acc, Ref at) {
    r->values[0] = acc;
    em_elements(r->e, r->rows, r->nest->nparts, at, r->values + 1);
    Ref result = em_apply(r->e, r->w->element, r->values, r->nest->nparts + 1);
    Inst *inst = ir_inst(r->e->func, result);
    if (r->extremum && inst->op == OP_lib) inst->sub = FLAG_ANY_ZERO;
    return result;
}

/* The first element of all is in the start, or is it: the loop over the last reduced axis begins at 1 where the others
 * are at 0. NO_REF: it begins at 0. */
static Ref skip_at(Reduction *r, int last) {
    Emit *e = r->e;
    Ref zero = em_int(e, 0), at_start = NO_REF;
    if (!(r->w->flags & (REDUCE_FIRST | REDUCE_REST)) || r->extremum) return NO_REF;
    for (int i = 0; i < last; i++)
        if (r->nest->reduced[i])
            at_start = em_and(e, at_start, em_op2(e, OP_eq, r->nest->index[i], zero));
    if (!at_start) return em_int(e, 1);
    return b_op3(&e->b, OP_select, e->i64, at_start, em_int(e, 1), zero);
}

/* A loop over axis i from `skip` on; its index is set. */
static void open_axis(Reduction *r, int i, Ref skip, EmitLoop *loop, Ref carried) {
    Emit *e = r->e;
    Ref limit = r->nest->dims[i];
    if (skip) limit = em_op2(e, OP_sub, limit, skip);
    em_loop(e, loop, limit, carried);
    r->nest->index[i] = skip ? em_add_nowrap(e, loop->counter, skip) : loop->counter;
}

static Ref pairwise_run(Reduction *r, Ref acc, Ref skip, Ref n) {
    Emit *e = r->e;
    if (skip) n = em_op2(e, OP_sub, n, skip);
    Ref from = skip ? skip : em_int(e, 0);
    Ref sum = em_pairwise(e, r->w, r->rows, r->nest->nparts, from, n);
    return b_op2(&e->b, OP_add, ir_type(e->func, acc), acc, sum);
}

/* Along the innermost axis. */
static Ref run(Reduction *r, Ref acc) {
    EmitLoop loop;
    int last = r->nest->n - 1;
    Ref skip = skip_at(r, last);
    em_rows(r->e, r->nest, last, r->rows);
    if (r->pairwise) return pairwise_run(r, acc, skip, r->nest->dims[last]);
    open_axis(r, last, skip, &loop, acc);
    acc = step(r, loop.carried, r->nest->index[last]);
    test_stop(r, acc);
    em_loop_end(r->e, &loop, acc);
    return loop.carried;
}

static Ref first_element(Reduction *r) {
    Nest *nest = r->nest;
    for (int i = 0; i < nest->n; i++)
        if (nest->reduced[i]) nest->index[i] = em_int(r->e, 0);
    Row row = em_row(r->e, nest, &nest->parts[0], nest->n);
    return row.value;
}

/* At the current index of the axes that stay. */
static Ref reduce_one(Reduction *r) {
    Emit *e = r->e;
    EmitLoop loops[MAX_AXES];
    int n = 0;
    bool early = r->w->flags & REDUCE_EARLY;
    r->done = early ? em_block(e) : NO_BLOCK;
    r->stopped = NO_REF;
    Ref acc = r->w->start ? r->w->start : first_element(r);
    for (int i = 0; i < r->nest->n - 1; i++) {
        if (!r->nest->reduced[i]) continue;
        open_axis(r, i, NO_REF, &loops[n], acc);
        acc = loops[n++].carried;
    }
    acc = run(r, acc);
    for (; n > 0; n--) {
        em_loop_end(e, &loops[n - 1], acc);
        acc = loops[n - 1].carried;
    }
    if (!early) return acc;
    b_jump(&e->b, r->done);
    ir_add_arg(e->func, r->stopped, acc);
    e->b.block = r->done;
    return r->stopped;
}

static void reduce_runs(Reduction *r) {
    Emit *e = r->e;
    Nest *nest = r->nest;
    EmitLoop loops[MAX_AXES];
    Ref store[MAX_AXES + 2] = {nest->to.value};
    int n = 0;
    for (int i = 0; i < nest->n; i++) {
        if (nest->reduced[i]) continue;
        open_axis(r, i, NO_REF, &loops[n++], NO_REF);
        store[1 + nest->to.axis[i]] = nest->index[i];
    }
    store[n + 1] = reduce_one(r);
    b_inst(&e->b, OP_store, NULL, store, n + 2);
    for (; n > 0; n--)
        em_loop_end(e, &loops[n - 1], NO_REF);
}

/* -- rows of accumulators ----------------------------------------------------------------------------- */

/* The start, or the first elements, go to all accumulators. */
static void set_starts(Reduction *r) {
    Emit *e = r->e;
    Nest *nest = r->nest;
    EmitLoop loops[MAX_AXES];
    int n = 0, last = nest->n - 1;
    for (int i = 0; i < last; i++) {
        nest->index[i] = em_int(e, 0);
        if (!nest->reduced[i]) open_axis(r, i, NO_REF, &loops[n++], NO_REF);
    }
    Row to = em_row(e, nest, &nest->to, last);
    Row from = {.value = r->w->start};
    if (!r->w->start) from = em_row(e, nest, &nest->parts[0], last);
    open_axis(r, last, NO_REF, &loops[n++], NO_REF);
    em_row_store(e, &to, nest->index[last], em_element(e, &from, nest->index[last]));
    loops[n - 1].rolled = !em_without_heap(e->ctx);
    for (; n > 0; n--)
        em_loop_end(e, &loops[n - 1], NO_REF);
}

static void reduce_rows(Reduction *r) {
    Emit *e = r->e;
    Nest *nest = r->nest;
    EmitLoop loops[MAX_AXES];
    int last = nest->n - 1, last_reduced = last - 1;
    while (!nest->reduced[last_reduced])
        last_reduced--;
    set_starts(r);
    for (int i = 0; i < last; i++)
        open_axis(r, i, i == last_reduced ? skip_at(r, i) : NO_REF, &loops[i], NO_REF);
    em_rows(e, nest, last, r->rows);
    Row to = em_row(e, nest, &nest->to, last);
    open_axis(r, last, NO_REF, &loops[last], NO_REF);
    Ref at = nest->index[last];
    em_row_store(e, &to, at, step(r, em_element(e, &to, at), at));
    for (int i = last; i >= 0; i--)
        em_loop_end(e, &loops[i], NO_REF);
}

Ref em_reduce_nest(Emit *e, Nest *nest, const WholeOp *w) {
    Reduction r = {.e = e, .nest = nest, .w = w, .done = NO_BLOCK};
    r.rows = arena_array(e->ctx->arena, Row, nest->nparts + 1);
    r.values = arena_array(e->ctx->arena, Ref, nest->nparts + 2);
    r.pairwise = (w->flags & REDUCE_PAIRWISE) && !em_without_heap(e->ctx); /* it calls itself */
    r.extremum = target_is_host(e->ctx->options->infer.target) && is_extremum(w->element);
    if (!nest->to.value) return reduce_one(&r);
    if (nest->reduced[nest->n - 1])
        reduce_runs(&r);
    else
        reduce_rows(&r);
    return NO_REF;
}
