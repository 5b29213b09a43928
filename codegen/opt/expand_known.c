/* expand_known.c - what the code says of an array's axes, whatever the arguments are.
 *
 * `x[:, None]`, `y.reshape(n, 1)` and `np.max(x, axis=1, keepdims=True)` have an axis of length 1, `x[:, 0]` has a stride. The library's
 * functions are Python, so that much of this is seen only by following a value into the functions that return it: numbers
 * are evaluated there as far as constants go. A value in a function is looked at for one call of it (Frame). */
#include "codegen/opt/expand.h"

enum { MOST_STEPS = 400, MOST_PATH = 8, MOST_FRAMES = 24, MOST_EDGES = 4 };

typedef struct Frame {
    const Func *func;
    const struct Frame *caller; /* NULL: parameters are not known */
    Ref call;                   /* in the caller */
    int depth;
    int *steps; /* left: a question that takes long has no answer */
} Frame;

/* -- constants ------------------------------------------------------------------------------------------- */

/* Items of tuples that are taken, innermost tuple last. */
typedef struct Path {
    int n;
    int64_t items[MOST_PATH];
} Path;

static bool evaluate(const Frame *f, Ref ref, Path path, int64_t *value);
static bool known_one(const Frame *f, Ref array, int axis);

static bool known_number(const Frame *f, Ref ref, int64_t *value) {
    return evaluate(f, ref, (Path){0}, value);
}

/* Is the way from one block to another never taken, as far as constants tell? */
static bool is_dead_edge(const Frame *f, int32_t from, int32_t to, int steps) {
    int64_t condition;
    const Block *block = &f->func->blocks.items[from];
    Ref last = ir_terminator(f->func, from);
    const Inst *inst = ir_inst(f->func, last);
    if (inst->op == OP_branch && known_number(f, ir_arg(f->func, last, 0), &condition)) {
        int32_t taken = inst->target[condition ? 0 : 1];
        if (taken != to) return true;
    }
    if (steps == 0 || block->preds.len == 0) return false;
    for (int32_t i = 0; i < block->preds.len; i++)
        if (!is_dead_edge(f, block->preds.items[i], from, steps - 1)) return false;
    return true;
}

/* All values that come here are the same. */
static bool evaluate_phi(const Frame *f, Ref phi, Path path, int64_t *value) {
    const Inst *inst = ir_inst(f->func, phi);
    const Block *block = &f->func->blocks.items[inst->block];
    bool any = false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        int64_t one;
        Ref arg = ir_arg(f->func, phi, k);
        if (arg == phi || is_dead_edge(f, block->preds.items[k], inst->block, MOST_EDGES)) continue;
        if (!evaluate(f, arg, path, &one) || (any && one != *value)) return false;
        *value = one, any = true;
    }
    return any;
}

static bool enter(const Frame *f, Ref call, Frame *inside) {
    const Inst *inst = ir_inst(f->func, call);
    if (inst->op != OP_call || f->depth == MOST_FRAMES) return false;
    *inside = (Frame){inst->u.func, f, call, f->depth + 1, f->steps};
    return true;
}

/* The next value that a function may return, from block *b on; NO_REF: no further. */
static Ref next_result(const Frame *f, int32_t *b) {
    for (; *b < f->func->blocks.len; ++*b) {
        const Block *block = &f->func->blocks.items[*b];
        Ref last = block->removed ? NO_REF : ir_terminator(f->func, *b);
        if (!last || ir_inst(f->func, last)->op != OP_return) continue;
        bool dead = block->preds.len > 0;
        for (int32_t i = 0; i < block->preds.len; i++)
            dead = dead && is_dead_edge(f, block->preds.items[i], *b, MOST_EDGES);
        if (dead) continue;
        ++*b;
        return ir_arg(f->func, last, 0);
    }
    return NO_REF;
}

static bool evaluate_call(const Frame *f, Ref call, Path path, int64_t *value) {
    Frame inside;
    int32_t block = 0;
    bool any = false;
    if (!enter(f, call, &inside)) return false;
    for (Ref result; (result = next_result(&inside, &block));) {
        int64_t one;
        if (!evaluate(&inside, result, path, &one) || (any && one != *value)) return false;
        *value = one, any = true;
    }
    return any;
}

static bool evaluate_select(const Frame *f, Ref ref, Path path, int64_t *value) {
    int64_t condition, other;
    if (known_number(f, ir_arg(f->func, ref, 0), &condition))
        return evaluate(f, ir_arg(f->func, ref, condition ? 1 : 2), path, value);
    return evaluate(f, ir_arg(f->func, ref, 1), path, value) &&
           evaluate(f, ir_arg(f->func, ref, 2), path, &other) && *value == other;
}

static bool evaluate_pair(const Frame *f, Ref ref, int64_t *value) {
    int64_t a, b;
    if (ir_inst(f->func, ref)->nargs != 2 ||
        ir_type(f->func, ir_arg(f->func, ref, 0))->kind != TY_i64 ||
        !known_number(f, ir_arg(f->func, ref, 0), &a) ||
        !known_number(f, ir_arg(f->func, ref, 1), &b))
        return false;
    switch (ir_inst(f->func, ref)->op) {
    case OP_lt: *value = a < b; return true;
    case OP_le: *value = a <= b; return true;
    case OP_eq: *value = a == b; return true;
    case OP_ne: *value = a != b; return true;
    case OP_add: *value = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case OP_mul: *value = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    default: return false;
    }
}

static bool evaluate_const(const Frame *f, Ref ref, int64_t *value) {
    const ConstVal *v = ir_inst(f->func, ref)->u.value;
    if (v->kind == CONST_BOOL) *value = v->i != 0;
    return v->kind == CONST_BOOL || opt_const_int(f->func, ref, value);
}

/* Of the item of `ref` that the path leads to. */
static bool evaluate(const Frame *f, Ref ref, Path path, int64_t *value) {
    const Inst *inst = ir_inst(f->func, ref);
    if (--*f->steps < 0) return false;
    switch (inst->op) {
    case OP_const: return path.n == 0 && evaluate_const(f, ref, value);
    case OP_param:
        return f->caller &&
               evaluate(f->caller, ir_arg(f->caller->func, f->call, inst->imm), path, value);
    case OP_phi: return evaluate_phi(f, ref, path, value);
    case OP_call: return evaluate_call(f, ref, path, value);
    case OP_select: return evaluate_select(f, ref, path, value);
    case OP_item:
        if (path.n == MOST_PATH) return false;
        path.items[path.n++] = inst->imm;
        return evaluate(f, ir_arg(f->func, ref, 0), path, value);
    case OP_tuple:
        if (path.n == 0) return false;
        return evaluate(f, ir_arg(f->func, ref, (int32_t)path.items[--path.n]), path, value);
    case OP_shape:
        *value = 1;
        return path.n == 0 && known_one(f, ir_arg(f->func, ref, 0), (int)inst->imm);
    default: return path.n == 0 && evaluate_pair(f, ref, value);
    }
}

/* -- where an axis comes from --------------------------------------------------------------------------------- */

/* An axis as an axis of another array (NO_REF where that ends), by which item of a view. */
typedef struct Origin {
    Ref array;
    int axis;
    char letter;      /* f, s or n */
    Ref step, length; /* of a slice */
} Origin;

static Origin view_origin(const Func *func, Ref view, int axis) {
    const Str *letters = ir_inst(func, view)->u.name;
    int32_t operand = 1;
    for (int32_t i = 0, from = 0, to = 0; i < letters->len; i++) {
        char c = letters->bytes[i];
        if (to == axis && c != 'i') {
            Origin o = {ir_arg(func, view, 0), from, c, NO_REF, NO_REF};
            if (c == 's') o.step = ir_arg(func, view, operand + 1);
            if (c == 's') o.length = ir_arg(func, view, operand + 2);
            return o;
        }
        operand += c == 'i' ? 1 : c == 's' ? 3 : 0;
        to += c != 'i', from += c != 'n';
    }
    return (Origin){0};
}

static Origin origin_of(const Func *func, Ref array, int axis) {
    const Inst *inst = ir_inst(func, array);
    if (inst->op == OP_view) return view_origin(func, array, axis);
    if (inst->op != OP_transpose) return (Origin){0};
    return (Origin){ir_arg(func, array, 0), inst->type->ndim - 1 - axis, 'f', NO_REF, NO_REF};
}

/* -- length 1 --------------------------------------------------------------------------------------------------- */

/* Along the axis of all operands that have it. */
static bool all_one(const Frame *f, Ref map, int axis) {
    int ndim = ir_type(f->func, map)->ndim;
    for (int32_t k = 0; k < ir_inst(f->func, map)->nargs; k++) {
        Ref operand = ir_arg(f->func, map, k);
        const Type *type = ir_type(f->func, operand);
        int own = type->kind == TY_ARRAY ? axis - (ndim - type->ndim) : -1;
        if (own >= 0 && !known_one(f, operand, own)) return false;
    }
    return true;
}

static bool all_results_one(const Frame *f, Ref call, int axis) {
    Frame inside;
    int32_t block = 0;
    bool any = false;
    if (!enter(f, call, &inside)) return false;
    for (Ref result; (result = next_result(&inside, &block)); any = true)
        if (!known_one(&inside, result, axis)) return false;
    return any;
}

static bool known_one(const Frame *f, Ref array, int axis) {
    int64_t length;
    const Inst *inst = ir_inst(f->func, array);
    if (--*f->steps < 0) return false;
    switch (inst->op) {
    case OP_alloc: return known_number(f, ir_arg(f->func, array, axis), &length) && length == 1;
    case OP_reshape:
        return known_number(f, ir_arg(f->func, array, axis + 1), &length) && length == 1;
    case OP_map: return all_one(f, array, axis);
    case OP_call: return all_results_one(f, array, axis);
    case OP_param:
        return f->caller && known_one(f->caller, ir_arg(f->caller->func, f->call, inst->imm), axis);
    default: break;
    }
    Origin o = origin_of(f->func, array, axis);
    if (!o.array) return false;
    if (o.letter == 'f') return known_one(f, o.array, o.axis);
    return o.letter == 'n' || (known_number(f, o.length, &length) && length == 1);
}

bool em_known_one(const Func *func, Ref array, int axis) {
    int steps = MOST_STEPS;
    return known_one(&(Frame){.func = func, .steps = &steps}, array, axis);
}

/* The length that the front end gives to `k : k + 1`: 1, or 0 beyond the end. */
static bool is_one_or_none(const Func *func, Ref length) {
    int64_t one, zero;
    return ir_inst(func, length)->op == OP_select &&
           opt_const_int(func, ir_arg(func, length, 1), &one) && one == 1 &&
           opt_const_int(func, ir_arg(func, length, 2), &zero) && zero == 0;
}

bool em_at_most_one(const Func *func, Ref array, int axis) {
    if (em_known_one(func, array, axis)) return true;
    Origin o = origin_of(func, array, axis);
    if (!o.array || o.letter == 'n') return false;
    if (o.letter == 's' && is_one_or_none(func, o.length)) return true;
    return o.letter == 'f' && em_at_most_one(func, o.array, o.axis);
}

/* -- strides ----------------------------------------------------------------------------------------------------- */

static Step step_of(const Frame *f, Ref array, int axis);

/* `z.real`: the steps of the whole elements. */
static Step restrided(const Frame *f, Ref array, int axis) {
    Ref stride = ir_arg(f->func, array, 1 + ir_type(f->func, array)->ndim + axis);
    const Inst *inst = ir_inst(f->func, stride);
    if (inst->op != OP_stride) return STEP_UNKNOWN;
    Ref of = ir_arg(f->func, stride, 0);
    int64_t from = type_size(ir_type(f->func, of)->element);
    bool larger = from > type_size(ir_type(f->func, array)->element);
    return larger || step_of(f, of, (int)inst->imm) == STEP_STRIDED ? STEP_STRIDED : STEP_UNKNOWN;
}

static Step step_of_results(const Frame *f, Ref call, int axis) {
    Frame inside;
    int32_t block = 0;
    Step all = STEP_UNKNOWN;
    if (!enter(f, call, &inside)) return STEP_UNKNOWN;
    for (Ref result; (result = next_result(&inside, &block));) {
        Step one = step_of(&inside, result, axis);
        if (one == STEP_UNKNOWN || (all && one != all)) return STEP_UNKNOWN;
        all = one;
    }
    return all;
}

static Step step_of(const Frame *f, Ref array, int axis) {
    int64_t step;
    const Inst *inst = ir_inst(f->func, array);
    int inner = inst->type->layout == LAYOUT_F ? 0 : inst->type->ndim - 1;
    if (inst->type->layout != LAYOUT_A) return axis == inner ? STEP_UNIT : STEP_STRIDED;
    if (--*f->steps < 0) return STEP_UNKNOWN;
    if (inst->op == OP_restride) return restrided(f, array, axis);
    if (inst->op == OP_call) return step_of_results(f, array, axis);
    if (inst->op == OP_param)
        return f->caller ? step_of(f->caller, ir_arg(f->caller->func, f->call, inst->imm), axis)
                         : STEP_UNKNOWN;
    Origin o = origin_of(f->func, array, axis);
    if (!o.array || o.letter == 'n') return STEP_UNKNOWN;
    if (o.letter == 's' && !(opt_const_int(f->func, o.step, &step) && step == 1))
        return STEP_STRIDED;
    return step_of(f, o.array, o.axis);
}

Step em_step(const Func *func, Ref array, int axis) {
    int steps = MOST_STEPS;
    return step_of(&(Frame){.func = func, .steps = &steps}, array, axis);
}

/* -- shared memory ------------------------------------------------------------------------------------------------ */

enum { MOST_DEPTH = 12 };

static bool is_same(const Func *func, Ref a, Ref b, int depth) {
    if (a == b) return true;
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    if (depth == 0 || x->op != y->op || x->type != y->type || x->nargs != y->nargs ||
        x->imm != y->imm || x->sub != y->sub)
        return false;
    if (x->op == OP_const) {
        int64_t m, n;
        return opt_const_int(func, a, &m) && opt_const_int(func, b, &n) && m == n;
    }
    bool pure = (ir_op_info[x->op].flags & OPF_PURE) && !(ir_op_info[x->op].flags & OPF_PINNED);
    if (!pure || x->op == OP_phi || x->op == OP_lib || x->op == OP_call || x->nargs == 0)
        return false;
    if (x->op == OP_view && !str_equal(*x->u.name, *y->u.name)) return false;
    if (x->op != OP_view && x->u.name != y->u.name) return false;
    for (int32_t k = 0; k < x->nargs; k++)
        if (!is_same(func, ir_arg(func, a, k), ir_arg(func, b, k), depth - 1)) return false;
    return true;
}

bool em_is_same(const Func *func, Ref a, Ref b) {
    return is_same(func, a, b, MOST_DEPTH);
}

/* -- lengths ------------------------------------------------------------------------------------------------------ */

/* The value that is the length of an axis, or the axis it comes from. */
static Origin length_of(const Func *func, Ref array, int axis) {
    for (;;) {
        const Inst *inst = ir_inst(func, array);
        Origin o = origin_of(func, array, axis);
        if (inst->op == OP_alloc) return (Origin){.length = ir_arg(func, array, axis)};
        if (inst->op == OP_reshape) return (Origin){.length = ir_arg(func, array, axis + 1)};
        if (!o.array || o.letter == 'n') return (Origin){.array = array, .axis = axis};
        if (o.letter == 's') return (Origin){.length = o.length};
        array = o.array, axis = o.axis;
    }
}

bool em_same_length(const Func *func, Ref a, int axis_a, Ref b, int axis_b) {
    Origin x = length_of(func, a, axis_a), y = length_of(func, b, axis_b);
    if (x.length && y.length) return em_is_same(func, x.length, y.length);
    if (!x.length && !y.length) return x.axis == y.axis && em_is_same(func, x.array, y.array);
    if (x.length) return em_same_length(func, b, axis_b, a, axis_a);
    const Inst *shape = ir_inst(func, y.length);
    return shape->op == OP_shape && shape->imm == x.axis &&
           em_is_same(func, ir_arg(func, y.length, 0), x.array);
}

/* -- whose memory ---------------------------------------------------------------------------------------------------- */

/* New memory, as far as the function sees that has it. */
static bool is_fresh(const Frame *f, Ref array) {
    Frame inside;
    int32_t block = 0;
    bool any = false;
    if (--*f->steps < 0) return false;
    const Inst *inst = ir_inst(f->func, array);
    if (inst->op == OP_alloc || inst->op == OP_map) return true;
    if (inst->op == OP_view || inst->op == OP_transpose || inst->op == OP_reshape)
        return is_fresh(f, ir_arg(f->func, array, 0));
    if (inst->op == OP_phi &&
        f->caller) { /* each result is made anew in each call, whichever it is */
        for (int32_t k = 0; k < inst->nargs; k++)
            if (!is_fresh(f, ir_arg(f->func, array, k))) return false;
        return true;
    }
    if (!enter(f, array, &inside)) return false;
    for (Ref result; (result = next_result(&inside, &block)); any = true)
        if (!is_fresh(&inside, result)) return false;
    return any;
}

Ref em_root(const Func *func, Ref array) {
    for (;;) {
        const Inst *inst = ir_inst(func, array);
        if (inst->op != OP_view && inst->op != OP_transpose && inst->op != OP_reshape) return array;
        array = ir_arg(func, array, 0);
    }
}

bool em_known_apart(const Func *func, Ref a, Ref b) {
    int steps = MOST_STEPS;
    Frame f = {.func = func, .steps = &steps};
    a = em_root(func, a), b = em_root(func, b);
    if (a == b) return false;
    bool fresh_a = is_fresh(&f, a), fresh_b = is_fresh(&f, b);
    bool given_a = ir_inst(func, a)->op == OP_param, given_b = ir_inst(func, b)->op == OP_param;
    return (fresh_a && (fresh_b || given_b)) || (fresh_b && given_a);
}

/* The array whose part it is; *picks: a row, column or element of it; *far: from a place that is not near its ends. */
static Ref root_of(const Func *func, Ref array, bool *picks, bool *far) {
    for (;;) {
        const Inst *inst = ir_inst(func, array);
        if (inst->op != OP_view && inst->op != OP_transpose && inst->op != OP_reshape) return array;
        int32_t operand = 1;
        for (int32_t i = 0; inst->op == OP_view && i < inst->u.name->len; i++) {
            char c = inst->u.name->bytes[i];
            *picks |= c == 'i';
            Ref start = c == 's' ? ir_arg(func, array, operand) : NO_REF;
            bool clamped = start && ir_inst(func, start)->op == OP_select;
            for (int32_t k = 1; clamped && k < 3; k++) {
                Op op = (Op)ir_inst(func, ir_arg(func, start, k))->op;
                *far |= op != OP_const && op != OP_shape && op != OP_wrap_index;
            }
            *far |= start && !clamped && ir_inst(func, start)->op != OP_const;
            operand += c == 'i' ? 1 : c == 's' ? 3 : 0;
        }
        array = ir_arg(func, array, 0);
    }
}

/* Of one array: `u[1:-1]` and `u[2:]` do, `u[i]` and `u[i - 1]` do not, nobody knows of `u[:n]` and `u[n:]`. */
Sharing em_sharing(const Func *func, const WholeOp *w) {
    bool row = false, far = false, either = false;
    Ref root = root_of(func, w->target, &row, &far);
    for (int32_t k = 0; !row && k < w->n; k++) {
        bool part = false, away = far;
        if (ir_type(func, w->operands[k])->kind != TY_ARRAY ||
            em_is_same(func, w->operands[k], w->target) ||
            root_of(func, w->operands[k], &part, &away) != root)
            continue;
        if (!part && !away) return SHARED;
        either = true;
    }
    return either ? EITHER : APART;
}
