/* crossing.c - arrays that iterations of a parallel loop share.
 *
 *   total += a[i]           map_into @add (total, total, x)     a reduction: each chunk adds to an array of its own
 *   total[0] = f(i)         each iteration writes one element: refused
 *   a[i] = a[i - 1] + 1     what one iteration reads, another one writes: refused
 *
 * Only what is certain is refused: in blocks that every iteration runs through, of one and the same array. Updates with an index
 * that comes from somewhere else are made atomic (updates.c); what different arrays share is the user's business. */
#include "codegen/opt/parallel.h"

enum { FAR = 8 }; /* iterations so near to each other are taken to be in the range */

typedef struct Access {
    Ref inst, array; /* array: defined outside of the loop */
    bool writes;
} Access;

typedef struct Crossing {
    Region *r;
    Vec(Access) accesses;
} Crossing;

/* -- values ------------------------------------------------------------------------------------- */

static bool outside(const Region *r, Ref ref) {
    return !r->inside[ir_inst(r->func, ref)->block];
}

/* Made of values from outside alone. */
static bool stands(const Region *r, Ref ref, int depth) {
    const Inst *inst = ir_inst(r->func, ref);
    if (outside(r, ref)) return true;
    if (depth == 0 || inst->op == OP_phi || !(ir_op_info[inst->op].flags & OPF_PURE)) {
        if (inst->op != OP_check_index) return false;
    }
    for (int32_t k = 0; k < inst->nargs; k++)
        if (!stands(r, ir_arg(r->func, ref, k), depth - 1)) return false;
    return true;
}

Ref region_original(const Region *r, Ref ref) {
    for (int steps = 0; steps < 8 && !outside(r, ref); steps++) {
        const Inst *inst = ir_inst(r->func, ref);
        Ref only = NO_REF;
        for (int32_t i = 0; i < r->carried.len; i++) {
            const Carried *c = &r->carried.items[i];
            if (c->kind == CARRIED_SAME && bits_get(&c->web, ref)) only = c->start;
        }
        if (!only && inst->op == OP_view) { /* a[:] */
            Str items = *inst->u.name;
            bool whole = true;
            for (int32_t i = 0; i < items.len; i++)
                whole = whole && items.bytes[i] == 'f';
            if (whole) only = ir_arg(r->func, ref, 0);
        }
        if (!only) return ref;
        ref = only;
    }
    return ref;
}

Ref region_unchecked(const Func *func, Ref index) {
    while (ir_inst(func, index)->op == OP_check_index || ir_inst(func, index)->op == OP_wrap_index)
        index = ir_arg(func, index, 0);
    return index;
}

/* base + *by */
static Ref base_of(const Func *func, Ref index, int64_t *by) {
    int64_t c;
    *by = 0;
    index = region_unchecked(func, index);
    for (;;) {
        const Inst *inst = ir_inst(func, index);
        if (inst->op != OP_add && inst->op != OP_sub) return index;
        if (!opt_const_int(func, ir_arg(func, index, 1), &c) || c < -FAR || c > FAR) return index;
        *by += inst->op == OP_add ? c : -c;
        index = ir_arg(func, index, 0);
    }
}

/* The counter, up or down from a start: neighbours in the range are neighbours in the array. */
static bool counts_by_one(const Region *r, Ref base) {
    const Inst *inst = ir_inst(r->func, base);
    int64_t step;
    if (base == r->loop.counter) return true;
    if (inst->op == OP_range_item)
        return ir_arg(r->func, base, 3) == r->loop.counter &&
               opt_const_int(r->func, ir_arg(r->func, base, 2), &step) && (step == 1 || step == -1);
    if (inst->op != OP_add && inst->op != OP_sub) return false;
    return ir_arg(r->func, base, 1) == r->loop.counter && stands(r, ir_arg(r->func, base, 0), 4);
}

/* Every iteration comes here; inner loops are taken to run. */
static bool always(const Region *r, int32_t block) {
    const Cfg *cfg = r->cfg;
    for (int32_t l = cfg->loop_of[block]; l >= 0; l = cfg->loops.items[l].parent) {
        const Loop *loop = &cfg->loops.items[l];
        const Block *header = &r->func->blocks.items[loop->header];
        for (int32_t k = 0; k < header->preds.len; k++)
            if (opt_in_loop(cfg, l, header->preds.items[k]) &&
                !cfg_dominates(cfg, block, header->preds.items[k]))
                return false;
        if (loop->header == r->loop.header) return true;
        block = loop->header;
    }
    return false;
}

/* -- what is wrong ------------------------------------------------------------------------------ */

static bool refuse_same(const Region *r, Ref at) {
    DiagList *diags = r->ctx->module->diags;
    Span here = ir_span_of(r->func, at), loop = ir_span_of(r->func, r->marker);
    diag_add(diags, E0702, &here);
    if (loop.line) diag_note(diags, &loop, "the loop");
    diag_note(
        diags, NULL,
        "sum into a variable, or into an array with `+=` as a whole: each thread then has its own");
    return false;
}

static bool refuse_neighbours(const Region *r, Ref reader, Ref writer) {
    DiagList *diags = r->ctx->module->diags;
    Span here = ir_span_of(r->func, reader), there = ir_span_of(r->func, writer);
    diag_add(diags, E0703, &here);
    if (there.line) diag_note(diags, &there, "written here");
    diag_note(diags, NULL, "use range() where the order matters, or write into another array");
    return false;
}

/* -- elements ----------------------------------------------------------------------------------- */

/* A store of something that changes, into an element that does not. */
static bool check_store(const Region *r, Ref ref) {
    const Inst *inst = ir_inst(r->func, ref);
    for (int32_t k = 1; k < inst->nargs - 1; k++)
        if (!stands(r, ir_arg(r->func, ref, k), 6)) return true;
    if (stands(r, ir_arg(r->func, ref, inst->nargs - 1), 6) || !always(r, inst->block)) return true;
    return refuse_same(r, ref);
}

/* Do both go by the counter, some iterations apart, along one axis, and alike along the others? */
static bool neighbours(const Region *r, Ref a, Ref b, int32_t axes) {
    bool apart = false;
    for (int32_t k = 1; k <= axes; k++) {
        int64_t x, y;
        Ref i = base_of(r->func, ir_arg(r->func, a, k), &x),
            j = base_of(r->func, ir_arg(r->func, b, k), &y);
        if (i != j) return false;
        if (x == y) continue;
        if (apart || !counts_by_one(r, i) || x - y > FAR || y - x > FAR) return false;
        int64_t trips;
        Ref length = ir_arg(r->func, r->marker, 0);
        if (opt_const_int(r->func, length, &trips) && (x > y ? x - y : y - x) >= trips)
            return false;
        apart = true;
    }
    return apart;
}

static bool check_pairs(const Crossing *c) {
    const Region *r = c->r;
    for (int32_t i = 0; i < c->accesses.len; i++)
        for (int32_t k = 0; k < c->accesses.len; k++) {
            const Access *write = &c->accesses.items[i], *other = &c->accesses.items[k];
            if (!write->writes || i == k || write->array != other->array) continue;
            int32_t axes = ir_type(r->func, write->array)->ndim;
            if (!neighbours(r, write->inst, other->inst, axes)) continue;
            if (!always(r, ir_inst(r->func, write->inst)->block) ||
                !always(r, ir_inst(r->func, other->inst)->block))
                continue;
            if (!other->writes) return refuse_neighbours(r, other->inst, write->inst);
        }
    return true;
}

/* -- whole arrays ------------------------------------------------------------------------------- */

/* `array += x`, and nothing else is done with the array in the loop. */
static bool is_reduction(const Region *r, Ref ref, Ref array, CarriedKind *kind) {
    const Inst *inst = ir_inst(r->func, ref);
    if (inst->op != OP_map_into || inst->nargs < 2) return false;
    if (region_original(r, ir_arg(r->func, ref, 0)) != array ||
        region_original(r, ir_arg(r->func, ref, 1)) != array)
        return false;
    for (int32_t k = 2; k < inst->nargs; k++)
        if (region_original(r, ir_arg(r->func, ref, k)) == array) return false;
    *kind = reduction_of(inst->u.func, NULL);
    return *kind != CARRIED_NOT && *kind != CARRIED_CHOICE;
}

static bool is_shape_of(const Inst *inst) {
    return inst->op == OP_shape || inst->op == OP_stride || inst->op == OP_phi;
}

/* All that the loop does with an array into which it adds: of one kind. */
static bool add_array(Region *r, Ref first, Ref array, CarriedKind kind) {
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            const Inst *inst = ir_inst(r->func, ref);
            CarriedKind other;
            bool uses = false;
            for (int32_t a = 0; a < inst->nargs; a++)
                uses = uses || region_original(r, ir_arg(r->func, ref, a)) == array;
            if (!uses || is_shape_of(inst) || region_original(r, ref) == array) continue;
            if (!is_reduction(r, ref, array, &other) || other != kind)
                return refuse_neighbours(r, ref, first);
        }
    }
    SharedArray shared = {.kind = kind, .array = array};
    vec_push(r->ctx->arena, &r->arrays, shared);
    return true;
}

static bool check_whole(Region *r, Ref ref) {
    Ref array = region_original(r, ir_arg(r->func, ref, 0));
    CarriedKind kind;
    if (!outside(r, array)) return true;
    for (int32_t i = 0; i < r->arrays.len; i++)
        if (r->arrays.items[i].array == array) return true;
    if (is_reduction(r, ref, array, &kind)) return add_array(r, ref, array, kind);
    bool changes = false;
    for (int32_t k = 1; k < ir_inst(r->func, ref)->nargs; k++)
        changes = changes || !stands(r, ir_arg(r->func, ref, k), 6);
    return !changes || !always(r, ir_inst(r->func, ref)->block) || refuse_same(r, ref);
}

bool region_find_crossings(Region *r) {
    Crossing c = {.r = r};
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        if (r->blocks.items[i] >= r->cfg->n || r->cfg->loop_of[r->blocks.items[i]] < 0) continue;
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            int op = ir_inst(r->func, ref)->op;
            if (op == OP_map_into && !check_whole(r, ref)) return false;
            if (op != OP_load && op != OP_store) continue;
            Access access = {ref, region_original(r, ir_arg(r->func, ref, 0)), op == OP_store};
            if (!outside(r, access.array)) continue;
            if (access.writes && !check_store(r, ref)) return false;
            vec_push(r->ctx->arena, &c.accesses, access);
        }
    }
    return c.accesses.len > 200 || check_pairs(&c);
}
