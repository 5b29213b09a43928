/* bounds_rows.c - arrays of points, pixels and small matrices: rows of which the program names every element (bounds.c).
 *
 *   for i in range(n):                                    p.shape[1] == 3, asked in front of the nest:
 *       out[i] = p[i, 0] * p[i, 1] + p[i, 2]              load p, i, 0 row 3
 *
 * Where an element lies is i * p.shape[1] + 0, and what is a number to C's p + 3 * i is only known at run time here. LLVM makes vectors of
 * rows of three where three is a number: it loads them whole and takes them apart. So the fast copy is made for rows
 * that are as long as the program's own indices say, and the accesses tell it (`row`). For other arrays the checked copy runs, which asks for
 * all but this again (Func.again), so that they are as fast as ever. */
#include "codegen/opt/bounds.h"

enum { LEAST = 2, MOST = 4, MOST_ARRAYS = 8 };

typedef struct RowSearch {
    Ref array;
    uint32_t seen; /* bit k: element k of rows */
    bool other;    /* an index is something else */
    bool moves;    /* rows follow each other in an innermost loop */
} RowSearch;

static bool is_access(const Inst *inst) {
    return (inst->op == OP_load || inst->op == OP_store) && !inst->imm;
}

/* Arrays that come from elsewhere: the lengths of those made here are known where they are numbers. */
static bool has_rows(const Bounds *s, Ref array) {
    const Type *type = ir_type(s->func, array);
    Op op = (Op)ir_inst(s->func, array)->op;
    return bounds_invariant(s, array) && type->kind == TY_ARRAY && type->layout == LAYOUT_C &&
           type->ndim >= 2 && type_is_scalar(type->element) && op != OP_alloc && op != OP_frozen &&
           op != OP_static_array;
}

/* The elements of a row that the index names: a number, or the counter of a loop over all of a few. */
static uint32_t named(const Bounds *s, Ref index) {
    CountedLoop counted;
    int64_t k;
    if (ir_inst(s->func, index)->op == OP_check_index) index = ir_arg(s->func, index, 0);
    if (ir_inst(s->func, index)->op == OP_wrap_index) index = ir_arg(s->func, index, 0);
    if (opt_const_int(s->func, index, &k)) return k >= 0 && k < MOST ? 1U << k : 0;
    if (!opt_is_header_phi(s->func, s->cfg, index)) return 0;
    int32_t loop = s->cfg->loop_of[ir_inst(s->func, index)->block];
    if (!opt_counted_loop(s->func, s->cfg, loop, &counted) || counted.counter != index) return 0;
    bool few = opt_const_int(s->func, counted.limit, &k) && k > 0 && k <= MOST;
    return few && counted.first == 0 ? (1U << k) - 1 : 0;
}

/* Does the row change from round to round of an innermost loop? Loops of a few rounds that are numbers are a part of the round. */
static bool moves(const Bounds *s, Ref access) {
    CountedLoop counted;
    int64_t k;
    int32_t loop = s->cfg->loop_of[ir_inst(s->func, access)->block];
    while (loop != s->loop && opt_counted_loop(s->func, s->cfg, loop, &counted) &&
           opt_const_int(s->func, counted.limit, &k))
        loop = s->cfg->loops.items[loop].parent;
    const Type *type = ir_type(s->func, ir_arg(s->func, access, 0));
    Ref row = ir_arg(s->func, access, type->ndim - 1);
    return ir_inst(s->func, row)->op != OP_const &&
           opt_in_loop(s->cfg, loop, ir_inst(s->func, row)->block);
}

static void look(const Bounds *s, Ref access, RowSearch *arrays, int *n) {
    Ref array = ir_arg(s->func, access, 0);
    int i = 0;
    while (i < *n && arrays[i].array != array)
        i++;
    if (i == MOST_ARRAYS || !has_rows(s, array)) return;
    if (i == *n) arrays[(*n)++] = (RowSearch){.array = array};
    uint32_t elements = named(s, ir_arg(s->func, access, ir_type(s->func, array)->ndim));
    arrays[i].seen |= elements;
    arrays[i].other |= !elements;
    arrays[i].moves |= moves(s, access);
}

static int find(const Bounds *s, RowSearch *arrays) {
    const Loop *loop = &s->cfg->loops.items[s->loop];
    int n = 0;
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        const Block *block = &s->func->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (is_access(ir_inst(s->func, block->insts.items[k])))
                look(s, block->insts.items[k], arrays, &n);
    }
    return n;
}

/* 0: nothing is to be made of it. */
static int64_t row_length(const RowSearch *array) {
    int64_t length = 0;
    while (array->seen >> length & 1)
        length++;
    bool all = !array->other && !(array->seen >> length);
    return all && array->moves && length >= LEAST ? length : 0;
}

bool bounds_has_rows(const Bounds *s) {
    RowSearch arrays[MOST_ARRAYS];
    bool any = false;
    for (int i = find(s, arrays) - 1; i >= 0; i--)
        any |= row_length(&arrays[i]) > 0;
    return any;
}

void bounds_describe_rows(Bounds *s) {
    RowSearch arrays[MOST_ARRAYS];
    int n = find(s, arrays);
    for (int i = 0; i < n; i++) {
        int64_t length = row_length(&arrays[i]);
        if (!length) continue;
        Ref axis = bounds_shape_of(s, arrays[i].array, ir_type(s->func, arrays[i].array)->ndim - 1);
        vec_push(s->arena, &s->conditions,
                 bounds_compare(s, OP_eq, axis, bounds_number(s, length)));
        vec_push(s->arena, &s->rows, ((RowLength){arrays[i].array, length}));
    }
}

/* The copy that runs where the conditions hold. */
void bounds_mark_rows(Bounds *s) {
    const Loop *loop = &s->cfg->loops.items[s->loop];
    for (int32_t i = 0; i < loop->blocks.len && s->rows.len; i++) {
        const Block *block = &s->func->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Inst *inst = ir_inst(s->func, block->insts.items[k]);
            for (int32_t r = 0; r < s->rows.len && is_access(inst); r++)
                if (ir_arg(s->func, block->insts.items[k], 0) == s->rows.items[r].array)
                    inst->imm = s->rows.items[r].length;
        }
    }
}
