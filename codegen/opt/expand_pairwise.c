/* expand_pairwise.c - sums of floats and complex numbers in NumPy's order.
 *
 *   sum(from, n) = n < 8:    one after the other
 *                  n <= 128: eight accumulators, every eighth element to each, combined two by two; then the rest
 *                  else:     sum(from, k) + sum(from + k, n - k), k the half of n, a multiple of 8
 *
 * For complex numbers these counts are of their parts: half as many elements. It is a function of its own that calls
 * itself. The accumulators begin as -0.0, to which adding changes nothing, whatever the element. */
#include "codegen/opt/expand.h"

enum { LANES = 8, BLOCK = 128 };

typedef struct Pairwise {
    Emit e; /* in the function */
    Func *func, *element;
    const Type *type;
    Row *rows;
    int32_t nrows;
    Ref from, n;
    int lanes, shift; /* shift: 1 for complex numbers */
} Pairwise;

static Ref nothing(Pairwise *p) {
    if (!type_is_complex(p->type)) return ir_const_float(p->func, p->type, -0.0);
    ConstVal *zero = arena_new(p->func->module->arena, ConstVal);
    *zero = (ConstVal){.kind = CONST_COMPLEX, .re = -0.0, .im = -0.0};
    return b_const(&p->e.b, p->type, zero);
}

static Ref add(Pairwise *p, Ref a, Ref b) {
    return b_op2(&p->e.b, OP_add, p->type, a, b);
}

/* acc and the element at index + lane. */
static Ref add_element(Pairwise *p, Ref acc, Ref index, int lane) {
    Ref *values = arena_array(p->e.ctx->arena, Ref, p->nrows + 1);
    if (lane) index = em_add_nowrap(&p->e, index, em_int(&p->e, lane));
    values[0] = acc;
    em_elements(&p->e, p->rows, p->nrows, index, values + 1);
    return em_apply(&p->e, p->element, values, p->nrows + 1);
}

/* Elements from `at` on, one after the other. */
static Ref one_by_one(Pairwise *p, Ref at, Ref acc) {
    EmitLoop loop;
    em_loop(&p->e, &loop, em_op2(&p->e, OP_sub, p->n, at), acc);
    Ref index = em_add_nowrap(&p->e, em_add_nowrap(&p->e, p->from, at), loop.counter);
    loop.rolled = !em_without_heap(p->e.ctx); /* at most seven rounds */
    em_close(&p->e, &loop, add_element(p, loop.carried, index, 0));
    return loop.carried;
}

/* Whole rounds of all accumulators; gives their sum. */
static Ref in_lanes(Pairwise *p, Ref rounds, Ref zero) {
    Emit *e = &p->e;
    EmitLoop loop;
    Ref lanes[LANES], by = em_int(e, p->lanes);
    em_loop(e, &loop, rounds, NO_REF);
    Builder head = {.func = e->func, .block = loop.header, .at = 0, .error = NO_BLOCK};
    for (int k = 0; k < p->lanes; k++) {
        lanes[k] = b_phi(&head, p->type);
        ir_add_arg(e->func, lanes[k], zero);
    }
    Ref at = em_op2(e, OP_mul, loop.counter, by);
    ir_inst(e->func, at)->sub = FLAG_NOWRAP;
    at = em_add_nowrap(e, p->from, at);
    Ref sums[LANES];
    for (int k = 0; k < p->lanes; k++)
        sums[k] = add_element(p, lanes[k], at, k);
    em_close(e, &loop, NO_REF);
    for (int k = 0; k < p->lanes; k++)
        ir_add_arg(e->func, lanes[k], sums[k]);
    for (int k = 0; k < p->lanes;
         k++) /* otherwise LLVM makes pairs of those that are added, not vectors */
        lanes[k] = b_op1(&e->b, OP_fence, p->type, lanes[k]);
    for (int n = p->lanes; n > 1; n /= 2)
        for (int k = 0; k < n / 2; k++)
            lanes[k] = add(p, lanes[2 * k], lanes[2 * k + 1]);
    return lanes[0];
}

static void write_block(Pairwise *p, Ref zero) {
    Emit *e = &p->e;
    Ref rounds = em_op2(e, OP_shr, p->n, em_int(e, p->shift ? 2 : 3));
    Ref sum = in_lanes(p, rounds, zero);
    Ref done = em_op2(e, OP_mul, rounds, em_int(e, p->lanes));
    ir_inst(e->func, done)->sub = FLAG_NOWRAP;
    b_return(&e->b, one_by_one(p, done, sum));
}

static Ref call_part(Pairwise *p, Ref from, Ref n) {
    int32_t count = p->func->nparams;
    Ref *args = arena_array(p->e.ctx->arena, Ref, count);
    for (int32_t k = 0; k < count - 2; k++)
        args[k] = em_param(&p->e, k);
    args[count - 2] = from, args[count - 1] = n;
    return em_call(&p->e, p->func, args, count);
}

static void write_halves(Pairwise *p) {
    Emit *e = &p->e;
    Ref half = p->n, one = em_int(e, 1);
    if (!p->shift) half = em_op2(e, OP_shr, half, one);
    half = em_op2(e, OP_and, half, em_int(e, -LANES));
    if (p->shift) half = em_op2(e, OP_shr, half, one);
    Ref left = call_part(p, p->from, half);
    Ref right = call_part(p, em_add_nowrap(e, p->from, half), em_op2(e, OP_sub, p->n, half));
    b_return(&e->b, add(p, left, right));
}

static void write_function(Pairwise *p) {
    Emit *e = &p->e;
    Ref zero = nothing(p);
    int32_t few = em_block(e), more = em_block(e), block = em_block(e), halves = em_block(e);
    b_branch(&e->b, em_op2(e, OP_lt, p->n, em_int(e, p->lanes)), few, more);
    e->b.block = few;
    b_return(&e->b, one_by_one(p, em_int(e, 0), zero));
    e->b.block = more;
    b_branch(&e->b, em_op2(e, OP_le, p->n, em_int(e, BLOCK >> p->shift)), block, halves);
    e->b.block = block;
    write_block(p, zero);
    e->b.block = halves;
    write_halves(p);
}

/* Its parameters: the value of each row, then the factors that there are, then from and n. */
static Func *make_function(Emit *e, const WholeOp *w, const Row *rows, int32_t nrows, Pairwise *p,
                           Ref *args) {
    int32_t n = 0;
    const Type **types = arena_array(e->ctx->arena, const Type *, 2 * nrows + 2);
    p->rows = arena_copy(e->ctx->arena, rows, sizeof *rows * (size_t)nrows);
    for (int32_t k = 0; k < nrows; k++) {
        p->rows[k].value = em_param(e, n);
        types[n] = ir_type(e->func, rows[k].value);
        args[n++] = rows[k].value;
    }
    for (int32_t k = 0; k < nrows; k++) {
        if (!rows[k].factor) continue;
        p->rows[k].factor = em_param(e, n);
        types[n] = e->i64;
        args[n++] = rows[k].factor;
    }
    p->from = em_param(e, n), types[n++] = e->i64;
    p->n = em_param(e, n), types[n++] = e->i64;
    p->func = em_function(&p->e, e, "pairwise", types, n, w->element->result);
    return p->func;
}

Ref em_pairwise(Emit *e, const WholeOp *w, const Row *rows, int32_t nrows, Ref from, Ref n) {
    Pairwise p = {.element = w->element, .type = w->element->result, .nrows = nrows};
    p.shift = type_is_complex(p.type);
    p.lanes = LANES >> p.shift;
    Ref *args = arena_array(e->ctx->arena, Ref, 2 * nrows + 2);
    Func *func = make_function(e, w, rows, nrows, &p, args);
    write_function(&p);
    args[func->nparams - 2] = from, args[func->nparams - 1] = n;
    return em_call(e, func, args, func->nparams);
}
