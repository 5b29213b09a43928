/* expand_reduce.c - reductions become loops. */
#include "codegen/opt/expand.h"

typedef struct Reduction {
    Emit *e;
    const WholeOp *w;
    Ref dims[MAX_AXES], index[MAX_AXES];
    Ref *factors;
    Ref skip;     /* 1 where the innermost loop begins behind the first element; or NO_REF */
    int32_t done; /* where a loop that needs no further element leads; NO_BLOCK */
    Ref stopped;  /* phi there */
} Reduction;

static bool is_reduced(const WholeOp *w, int axis) {
    return w->axes >> axis & 1;
}

/* Leaves the loops when nothing changes any more. */
static void test_stop(Reduction *r, Ref acc) {
    Emit *e = r->e;
    if (!(r->w->flags & REDUCE_EARLY)) return;
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

static Ref step(Reduction *r, Ref acc) {
    Ref *args = arena_array(r->e->ctx->arena, Ref, r->w->n + 1);
    args[0] = acc;
    em_elements(r->e, r->w, r->factors, r->index, args + 1);
    acc = em_apply(r->e, r->w->element, args, r->w->n + 1);
    test_stop(r, acc);
    return acc;
}

static int last_reduced(const WholeOp *w) {
    int last = w->ndim - 1;
    while (!is_reduced(w, last))
        last--;
    return last;
}

/* The first element of all is with the start: the innermost loop that contains it begins at 1. */
static Ref skip_of(Reduction *r, int last) {
    Emit *e = r->e;
    Ref zero = em_int(e, 0), at_start = NO_REF;
    if (!(r->w->flags & (REDUCE_FIRST | REDUCE_REST))) return NO_REF;
    for (int a = 0; a < last; a++)
        if (is_reduced(r->w, a))
            at_start = em_and(e, at_start, em_op2(e, OP_eq, r->index[a], zero));
    if (!at_start) return em_int(e, 1);
    return b_op3(&e->b, OP_select, e->i64, at_start, em_int(e, 1), zero);
}

/* Over the reduced axes; the others have an index. */
static Ref accumulate(Reduction *r, Ref acc) {
    Emit *e = r->e;
    EmitLoop loops[MAX_AXES];
    int axes[MAX_AXES], n = 0, last = last_reduced(r->w);
    for (int a = 0; a < r->w->ndim; a++) {
        if (!is_reduced(r->w, a)) continue;
        Ref limit = r->dims[a], skip = a == last ? skip_of(r, last) : NO_REF;
        if (skip) limit = em_op2(e, OP_sub, limit, skip);
        em_loop(e, &loops[n], limit, acc);
        r->index[a] = loops[n].counter;
        if (skip) {
            r->index[a] = em_op2(e, OP_add, loops[n].counter, skip);
            ir_inst(e->func, r->index[a])->sub = FLAG_NOWRAP;
        }
        acc = loops[n].carried;
        axes[n++] = a;
    }
    acc = step(r, acc);
    for (; n > 0; n--) {
        em_loop_end(e, &loops[n - 1], acc);
        acc = loops[n - 1].carried;
    }
    (void)axes;
    return acc;
}

static Ref start_of(Reduction *r) {
    if (r->w->start) return r->w->start;
    for (int a = 0; a < r->w->ndim; a++)
        if (is_reduced(r->w, a)) r->index[a] = em_int(r->e, 0);
    return em_operand(r->e, r->w, r->factors, 0, r->index);
}

/* One accumulator, at the current index of the axes that stay. */
static Ref reduce_one(Reduction *r) {
    Emit *e = r->e;
    bool early = r->w->flags & REDUCE_EARLY;
    r->done = early ? em_block(e) : NO_BLOCK;
    r->stopped = NO_REF;
    Ref acc = accumulate(r, start_of(r));
    if (!early) return acc;
    b_jump(&e->b, r->done);
    ir_add_arg(e->func, r->stopped, acc);
    e->b.block = r->done;
    return r->stopped;
}

Ref expand_reduce(Emit *e, const WholeOp *w) {
    Reduction r = {.e = e, .w = w};
    EmitLoop loops[MAX_AXES];
    Ref kept[MAX_AXES], store[MAX_AXES + 2];
    int n = 0;
    em_broadcast(e, w, r.dims);
    r.factors = em_factors(e, w);
    for (int a = 0; a < w->ndim; a++)
        if (!is_reduced(w, a)) kept[n++] = r.dims[a];
    if (n == 0) return reduce_one(&r);
    Ref to = em_raising(e, OP_alloc, w->type, kept, n);
    store[0] = to;
    n = 0;
    for (int a = 0; a < w->ndim; a++) {
        if (is_reduced(w, a)) continue;
        em_loop(e, &loops[n], r.dims[a], NO_REF);
        r.index[a] = loops[n++].counter;
        store[n] = r.index[a];
    }
    store[n + 1] = reduce_one(&r);
    b_inst(&e->b, OP_store, NULL, store, n + 2);
    for (; n > 0; n--)
        em_loop_end(e, &loops[n - 1], NO_REF);
    return to;
}
