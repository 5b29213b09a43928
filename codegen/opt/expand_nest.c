/* expand_nest.c - the shape that a whole-array op walks over, and the nest of loops. */
#include "codegen/opt/expand.h"

enum { MOST_COMPARED = 16 };

/* -- messages -------------------------------------------------------------------------------------- */

static const Str *message_name(Emit *e, int from, int to, const char *between) {
    StrBuf out;
    buf_init(&out, e->func->module->arena);
    for (int side = 0, at = 0; side < 2; side++) {
        int n = side ? to : from;
        if (side) buf_str(&out, between);
        buf_char(&out, '(');
        for (int k = 0; k < n; k++, at++)
            buf_printf(&out, "%s{%d}", k ? "," : "", at);
        buf_str(&out, n == 1 ? ",)" : ")");
    }
    Str *name = arena_new(e->func->module->arena, Str);
    *name = buf_take(&out);
    return name;
}

/* Raises with both shapes. */
static void refuse(Emit *e, const WholeOp *w, Ref bad, const Ref *from, int nfrom, const Ref *to,
                   int nto) {
    Ref args[MAX_MESSAGE_ARGS + 1] = {bad};
    bool into = w->op == OP_map_into;
    for (int k = 0; k < nfrom; k++)
        args[1 + k] = from[k];
    for (int k = 0; k < nto; k++)
        args[1 + nfrom + k] = to[k];
    Ref guard = b_inst(&e->b, OP_guard, NULL, args, 1 + nfrom + nto);
    Inst *inst = ir_inst(e->func, guard);
    inst->sub = into ? GUARD_broadcast_into : GUARD_broadcast_shapes;
    inst->u.name = message_name(e, nfrom, nto, into ? " into shape " : " ");
    b_continue(&e->b);
}

/* Where they are too long for a message. */
static void refuse_lengths(Emit *e, Ref bad, Ref n, Ref m) {
    Ref guard = b_inst(&e->b, OP_guard, NULL, (Ref[]){bad, n, m}, 3);
    ir_inst(e->func, guard)->sub = GUARD_broadcast_lengths;
    b_continue(&e->b);
}

/* -- shapes ---------------------------------------------------------------------------------------- */

/* `array` joins the shape in dims, whose last `*known` axes are known. A target does not stretch. */
static void join_shape(Emit *e, const WholeOp *w, Ref array, Ref *dims, int *known) {
    int n = ir_type(e->func, array)->ndim, from = w->ndim - *known, skip = w->ndim - n;
    bool into = w->op == OP_map_into, said = n + *known <= MAX_MESSAGE_ARGS;
    Ref lengths[MAX_AXES], joined[MAX_AXES], bad = NO_REF, one = em_int(e, 1);
    for (int a = 0; a < n; a++) {
        lengths[a] = em_length(e, array, a);
        joined[a] = lengths[a];
        if (skip + a < from) continue;
        Ref dim = dims[skip + a];
        Ref wrong = em_and(e, em_op2(e, OP_ne, lengths[a], dim), em_op2(e, OP_ne, lengths[a], one));
        if (!into) wrong = em_and(e, wrong, em_op2(e, OP_ne, dim, one));
        if (!said) refuse_lengths(e, wrong, lengths[a], dim);
        bad = em_or(e, bad, wrong);
        Ref stretched = em_op2(e, OP_eq, dim, one);
        joined[a] = into ? dim : b_op3(&e->b, OP_select, e->i64, stretched, lengths[a], dim);
    }
    if (bad && said && into) refuse(e, w, bad, lengths, n, dims + from, *known);
    if (bad && said && !into) refuse(e, w, bad, dims + from, *known, lengths, n);
    for (int a = 0; a < n; a++)
        dims[skip + a] = joined[a];
    *known = QN_MAX(*known, n);
}

static bool is_repeated(const WholeOp *w, int32_t k) {
    for (int32_t j = 0; j < k; j++)
        if (w->operands[j] == w->operands[k]) return true;
    return w->operands[k] == w->target;
}

void em_broadcast(Emit *e, const WholeOp *w, Ref *dims) {
    int known = 0;
    if (w->target) join_shape(e, w, w->target, dims, &known);
    for (int32_t k = 0; k < w->n; k++)
        if (em_is_array(e, w->operands[k]) && !is_repeated(w, k))
            join_shape(e, w, w->operands[k], dims, &known);
}

/* -- the order of loops ------------------------------------------------------------------------------ */

/* Does the first axis run fastest? As in the result, or where that says nothing in all operands. */
static bool first_axis_inside(const Emit *e, const WholeOp *w) {
    if (w->target) return ir_type(e->func, w->target)->layout == LAYOUT_F;
    if (w->op == OP_map) return w->type->layout == LAYOUT_F;
    bool any = false;
    for (int32_t k = 0; k < w->n; k++) {
        const Type *type = ir_type(e->func, w->operands[k]);
        if (type->kind != TY_ARRAY || type->ndim < 2) continue;
        if (type->layout != LAYOUT_F) return false;
        any = true;
    }
    return any;
}

int em_innermost(const Emit *e, const WholeOp *w, Ref array) {
    int n = ir_type(e->func, array)->ndim;
    if (!first_axis_inside(e, w)) return n - 1;
    return n == w->ndim ? 0 : -1;
}

static Ref has_unit_stride(Emit *e, const WholeOp *w, Ref array) {
    const Type *type = ir_type(e->func, array);
    int axis = em_innermost(e, w, array);
    if (type->layout != LAYOUT_A || axis < 0 || em_at_most_one(e->func, array, axis) ||
        em_step(e->func, array, axis) != STEP_UNKNOWN)
        return NO_REF;
    Ref stride = b_op1(&e->b, OP_stride, e->i64, array);
    ir_inst(e->func, stride)->imm = axis;
    return em_op2(e, OP_eq, stride, em_int(e, type_size(type->element)));
}

static void must_be(Emit *e, Ref *all, Ref condition) {
    if (condition) *all = em_and(e, *all, condition);
}

/* Axes whose lengths have been compared, for one axis of the shape. */
typedef struct Compared {
    int n;
    Ref arrays[MOST_COMPARED];
    int axes[MOST_COMPARED];
} Compared;

static bool was_compared(const Func *func, Compared *c, Ref array, int axis) {
    for (int i = 0; i < c->n; i++)
        if (em_same_length(func, c->arrays[i], c->axes[i], array, axis)) return true;
    if (c->n == MOST_COMPARED) return false;
    c->arrays[c->n] = array, c->axes[c->n++] = axis;
    return false;
}

Ref em_alike(Emit *e, const WholeOp *w, Ref *dims) {
    Ref all = NO_REF;
    Compared *compared = arena_array(e->ctx->arena, Compared, w->ndim + 1);
    for (int r = 0; r < w->ndim; r++)
        dims[r] = NO_REF;
    for (int32_t k = w->target ? -1 : 0; k < w->n; k++) {
        Ref array = k < 0 ? w->target : w->operands[k];
        if (!em_is_array(e, array) || (k >= 0 && is_repeated(w, k))) continue;
        int n = ir_type(e->func, array)->ndim, skip = w->ndim - n;
        for (int a = 0; a < n; a++) {
            if (k >= 0 && em_known_one(e->func, array, a)) continue;
            bool one = k >= 0 && em_at_most_one(e->func, array, a);
            if (!one && was_compared(e->func, &compared[skip + a], array, a)) continue;
            Ref length = em_length(e, array, a);
            if (one)
                must_be(e, &all, em_op2(e, OP_eq, length, em_int(e, 1)));
            else if (dims[skip + a])
                must_be(e, &all, em_op2(e, OP_eq, length, dims[skip + a]));
            else
                dims[skip + a] = length;
        }
        must_be(e, &all, has_unit_stride(e, w, array));
    }
    for (int r = 0; r < w->ndim; r++)
        if (!dims[r]) dims[r] = em_int(e, 1);
    return all;
}

/* -- the nest ---------------------------------------------------------------------------------------- */

static bool is_reduced(const WholeOp *w, int axis) {
    return w->op == OP_reduce && (w->axes >> axis & 1);
}

static bool stretches(const Func *func, bool alike, Ref array, int axis) {
    return alike ? em_at_most_one(func, array, axis) : em_known_one(func, array, axis);
}

/* Axes of an operand, or of a target, are those of the shape from the last on. */
static void place_part(Emit *e, const WholeOp *w, const int *order, bool alike, bool is_target,
                       Part *part) {
    part->type = ir_type(e->func, part->value);
    int n = part->type->kind == TY_ARRAY ? part->type->ndim : 0;
    int innermost = n ? em_innermost(e, w, part->value) : -1;
    Ref one = em_int(e, 1), zero = em_int(e, 0);
    Ref known = is_target && w->like ? w->like : part->value;
    part->unit = alike && innermost >= 0 && em_step(e->func, known, innermost) != STEP_STRIDED;
    for (int i = 0; i < w->ndim; i++) {
        int own = order[i] - (w->ndim - n);
        bool moves = own >= 0 && (is_target || !stretches(e->func, alike, part->value, own));
        bool inner = i == w->ndim - 1 && w->one_still && !is_target;
        if (inner && part->value == w->still) moves = false;
        part->axis[i] = (int8_t)(moves ? own : -1);
        if (!moves || alike || is_target || inner) continue;
        Ref several = em_op2(e, OP_ne, em_length(e, part->value, own), one);
        part->factors[own] = b_op3(&e->b, OP_select, e->i64, several, one, zero);
    }
}

/* The result of a reduction has those that are left. */
static void place_result(Emit *e, const WholeOp *w, const int *order, Part *to) {
    to->type = ir_type(e->func, to->value);
    for (int i = 0; i < w->ndim; i++) {
        int own = 0;
        for (int r = 0; r < order[i]; r++)
            own += !is_reduced(w, r);
        to->axis[i] = (int8_t)(is_reduced(w, order[i]) ? -1 : own);
    }
}

/* -- axes that become one ---------------------------------------------------------------------------- */

static bool is_dense(const Nest *nest, const Part *part, bool first_inside) {
    const Type *type = part->type;
    if (type->kind != TY_ARRAY) return true;
    int want = type->ndim < 2 ? LAYOUT_C : first_inside ? LAYOUT_F : LAYOUT_C;
    if (type->layout != want) return false;
    for (int i = 0; i < nest->n; i++)
        if (part->axis[i] < 0 && !(part == &nest->to && nest->reduced[i])) return false;
    return true;
}

/* Groups of axes, side by side, of which all are reduced or none is. */
static void flatten_part(Emit *e, const Nest *nest, const int *group, int groups, Part *part,
                         const Ref *lengths) {
    TypeTable *types = e->func->module->types;
    if (part->type->kind != TY_ARRAY) return;
    Ref args[MAX_AXES + 1] = {part->value};
    bool own[MAX_AXES] = {false};
    int n = 0;
    for (int i = 0; i < nest->n; i++)
        own[group[i]] = part->axis[i] >= 0;
    if (part->type->layout == LAYOUT_F)
        args[0] = b_op1(&e->b, OP_transpose,
                        type_array_like(types, part->type, part->type->ndim, LAYOUT_C), args[0]);
    for (int g = 0; g < groups; g++) {
        part->axis[g] = (int8_t)(own[g] ? n : -1);
        if (own[g]) args[++n] = lengths[g];
    }
    part->type = type_array_like(types, part->type, n, LAYOUT_C);
    part->value = b_inst(&e->b, OP_reshape, part->type, args, n + 1);
}

static void flatten(Emit *e, Nest *nest, bool first_inside) {
    int group[MAX_AXES] = {0}, groups = 1;
    Ref lengths[MAX_AXES];
    for (int32_t k = 0; k < nest->nparts; k++)
        if (!is_dense(nest, &nest->parts[k], first_inside)) return;
    if (nest->to.value && !is_dense(nest, &nest->to, first_inside)) return;
    for (int i = 1; i < nest->n; i++)
        group[i] = groups - 1 + (nest->reduced[i] != nest->reduced[i - 1]), groups = group[i] + 1;
    if (nest->n < 2 || groups == nest->n) return;
    for (int i = 0; i < nest->n; i++) {
        bool first = i == 0 || group[i] != group[i - 1];
        lengths[group[i]] =
            first ? nest->dims[i] : em_op2(e, OP_mul, lengths[group[i]], nest->dims[i]);
    }
    Part *old = arena_copy(e->ctx->arena, nest->parts, sizeof *old * (size_t)(nest->nparts + 1));
    old[nest->nparts] = nest->to;
    for (int32_t k = 0; k <= nest->nparts;
         k++) { /* the result is the last; one array twice stays one */
        Part *part = k < nest->nparts ? &nest->parts[k] : &nest->to;
        int32_t j = 0;
        while (old[j].value != old[k].value)
            j++;
        if (j < k)
            *part = nest->parts[j];
        else if (part->value)
            flatten_part(e, nest, group, groups, part, lengths);
    }
    for (int i = 0; i < nest->n; i++) {
        nest->reduced[group[i]] = nest->reduced[i];
        nest->dims[group[i]] = lengths[group[i]];
    }
    nest->n = groups;
}

void em_nest(Emit *e, const WholeOp *w, const Ref *dims, bool alike, Ref to, Nest *nest) {
    int order[MAX_AXES];
    bool first_inside = first_axis_inside(e, w);
    *nest = (Nest){.n = w->ndim, .nparts = w->n};
    nest->parts = arena_array(e->ctx->arena, Part, w->n + 1); /* one more: flatten */
    for (int i = 0; i < w->ndim; i++) {
        order[i] = first_inside ? w->ndim - 1 - i : i;
        nest->dims[i] = dims[order[i]];
        nest->reduced[i] = is_reduced(w, order[i]);
    }
    for (int32_t k = 0; k < w->n; k++) {
        bool is_target = w->fits || w->operands[k] == w->like || w->operands[k] == to;
        nest->parts[k].value = w->operands[k];
        place_part(e, w, order, alike, is_target, &nest->parts[k]);
    }
    nest->to.value = to;
    if (to && w->op == OP_reduce) place_result(e, w, order, &nest->to);
    if (to && w->op != OP_reduce) place_part(e, w, order, alike, true, &nest->to);
    if (alike) flatten(e, nest, first_inside);
}

/* -- rows -------------------------------------------------------------------------------------------- */

static bool is_unit(const Part *part, int own) {
    if (part->type->layout == LAYOUT_A) return part->unit;
    return own == (part->type->layout == LAYOUT_F ? 0 : part->type->ndim - 1);
}

Row em_row(Emit *e, const Nest *nest, const Part *part, int n) {
    const Type *type = part->type;
    if (type->kind != TY_ARRAY) return (Row){.value = part->value};
    int inner = n < nest->n ? part->axis[n] : -1;
    Ref factor = inner >= 0 ? part->factors[inner] : NO_REF;
    if (inner >= 0 && type->ndim == 1 && (type->layout == LAYOUT_C || !part->unit))
        return (Row){part->value, true, factor};
    Ref args[MAX_AXES + 1] = {part->value};
    char letters[MAX_AXES + 1] = {0};
    int32_t nargs = 1;
    for (int a = 0; a < type->ndim; a++) {
        letters[a] = a == inner ? 'f' : 'i';
        Ref at = em_int(e, 0);
        for (int i = 0; i < n; i++)
            if (part->axis[i] == a) at = nest->index[i];
        if (a == inner) continue;
        if (part->factors[a]) {
            at = em_op2(e, OP_mul, at, part->factors[a]);
            ir_inst(e->func, at)->sub = FLAG_NOWRAP;
        }
        args[nargs++] = at;
    }
    if (inner < 0) return (Row){.value = b_inst(&e->b, OP_load, type->element, args, nargs)};
    Layout layout = is_unit(part, inner) ? LAYOUT_C : LAYOUT_A;
    const Type *row = type_array_like(e->func->module->types, type, 1, layout);
    Str *name = arena_new(e->func->module->arena, Str);
    *name = str_copy(e->func->module->arena, letters, (size_t)type->ndim);
    Ref view = b_inst(&e->b, OP_view, row, args, nargs);
    ir_inst(e->func, view)->u.name = name;
    return (Row){view, true, factor};
}

void em_rows(Emit *e, const Nest *nest, int n, Row *rows) {
    for (int32_t k = 0; k < nest->nparts; k++) {
        int32_t j = 0;
        while (nest->parts[j].value != nest->parts[k].value)
            j++;
        rows[k] = j < k ? rows[j] : em_row(e, nest, &nest->parts[k], n);
    }
}

static Ref row_index(Emit *e, const Row *row, Ref at) {
    if (!row->factor) return at;
    Ref index = em_op2(e, OP_mul, at, row->factor);
    ir_inst(e->func, index)->sub = FLAG_NOWRAP;
    return index;
}

Ref em_element(Emit *e, const Row *row, Ref at) {
    if (!row->moves) return row->value;
    const Type *element = ir_type(e->func, row->value)->element;
    return b_op2(&e->b, OP_load, element, row->value, row_index(e, row, at));
}

void em_elements(Emit *e, const Row *rows, int32_t n, Ref at, Ref *out) {
    for (int32_t k = 0; k < n; k++) {
        int32_t j = 0;
        while (rows[j].value != rows[k].value)
            j++;
        out[k] = j < k ? out[j] : em_element(e, &rows[k], at);
    }
}

void em_row_store(Emit *e, const Row *row, Ref at, Ref value) {
    b_op3(&e->b, OP_store, NULL, row->value, at, value);
}

/* -- map --------------------------------------------------------------------------------------------- */

static void map_one(Emit *e, Nest *nest, Func *element) { /* a target without axes */
    Row *rows = arena_array(e->ctx->arena, Row, nest->nparts + 1);
    Ref *values = arena_array(e->ctx->arena, Ref, nest->nparts + 1);
    em_rows(e, nest, 0, rows);
    em_elements(e, rows, nest->nparts, NO_REF, values);
    b_op2(&e->b, OP_store, NULL, nest->to.value, em_apply(e, element, values, nest->nparts));
}

/* Are the loops of a map such as the processor's vectors take? Then what remains of them is not worth unrolling, nor are the loops
 * around them: that is a quarter of the time that LLVM needs for them. In the function for the rest (strides) and where ints are
 * divided, elements are computed one by one, and unrolling pays. */
static bool takes_vectors(const Emit *e, const Func *element) {
    if (em_without_heap(e->ctx) || e->func->blocks.items[0].cold) return false;
    for (int32_t i = 1; element && i < element->insts.len; i++) {
        const Inst *inst = ir_inst(element, i);
        bool divides = inst->op == OP_floordiv || inst->op == OP_mod;
        if (divides && type_is_int(inst->type)) return false;
    }
    return true;
}

static bool has_stride(const Emit *e, const Row *rows, int32_t n) {
    for (int32_t k = 0; k < n; k++)
        if (rows[k].moves && ir_type(e->func, rows[k].value)->layout == LAYOUT_A) return true;
    return false;
}

void em_map_nest(Emit *e, Nest *nest, Func *element) {
    EmitLoop loops[MAX_AXES];
    Row *rows = arena_array(e->ctx->arena, Row, nest->nparts + 1), to;
    Ref *values = arena_array(e->ctx->arena, Ref, nest->nparts + 1);
    int last = nest->n - 1;
    if (last < 0) {
        map_one(e, nest, element);
        return;
    }
    for (int i = 0; i < last; i++) {
        em_loop(e, &loops[i], nest->dims[i], NO_REF);
        nest->index[i] = loops[i].counter;
    }
    em_rows(e, nest, last, rows);
    to = em_row(e, nest, &nest->to, last);
    em_loop(e, &loops[last], nest->dims[last], NO_REF);
    em_elements(e, rows, nest->nparts, loops[last].counter, values);
    Ref value = em_apply(e, element, values, nest->nparts);
    em_row_store(e, &to, loops[last].counter, value);
    bool rolled =
        takes_vectors(e, element) && !has_stride(e, rows, nest->nparts) && !has_stride(e, &to, 1);
    for (int i = last; i >= 0; i--) {
        loops[i].rolled = rolled;
        em_loop_end(e, &loops[i], NO_REF);
    }
}
