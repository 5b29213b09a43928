/* alike.c - in the fast variant of GPU kernels: arrays that the program sees as one grid have one shape.
 *
 *     after[y, x] = now[y, x] + speed * (now[y, x - 1] + now[y, x + 1] + ...)
 *
 * Each array brings its own lengths, so that y * width + x is computed for each. A programmer of C passes one width. Arrays of one layout
 * that are reached, along each of at least two axes, at one same place are marked; the launch compares their shapes, and takes another
 * variant where they differ. A product of matrices reaches no two of its arrays so. */
#include "codegen/opt/pass.h"

typedef struct Place { /* base + by; no base: a number */
    Ref base;
    int64_t by;
} Place;

enum { MOST_PLACES = 24 };
typedef struct Axis {
    int n;
    Place items[MOST_PLACES];
} Axis;

typedef struct Seen { /* an array parameter */
    Ref param;
    const Type *type;
    Axis *axes;
    int32_t group; /* the first that it is like */
} Seen;

/* Parameter by position; those without axes are no array that counts. */
typedef struct Alike {
    Func *func;
    Seen *seen;
    int32_t n;
} Alike;

static Place place_of(const Func *func, Ref ref) {
    Place p = {.base = ref};
    for (;;) {
        const Inst *inst = ir_inst(func, p.base);
        int64_t by;
        if (inst->op == OP_wrap_index || inst->op == OP_check_index) {
            p.base = ir_arg(func, p.base, 0);
        } else if (opt_const_int(func, p.base, &by)) {
            return (Place){NO_REF, p.by + by};
        } else if ((inst->op == OP_add || inst->op == OP_sub) &&
                   opt_const_int(func, ir_arg(func, p.base, 1), &by) && by > INT32_MIN &&
                   by <= INT32_MAX) {
            p.by += inst->op == OP_add ? by : -by;
            p.base = ir_arg(func, p.base, 0);
        } else {
            return p;
        }
    }
}

static bool is_grid(const Type *type) {
    return type->kind == TY_ARRAY && type->ndim >= 2 && type->layout != LAYOUT_A;
}

static void note(Axis *axis, Place p) {
    if (!p.base || axis->n == MOST_PLACES) return;
    axis->items[axis->n++] = p;
}

static void note_accesses(PassContext *ctx, Alike *a) {
    const Func *f = a->func;
    for (Ref ref = 1; ref < f->insts.len; ref++) {
        const Inst *inst = ir_inst(f, ref);
        if (inst->op != OP_load && inst->op != OP_store && inst->op != OP_atomic) continue;
        const Inst *array = ir_inst(f, ir_arg(f, ref, 0));
        if (array->op != OP_param || !is_grid(array->type)) continue;
        Seen *seen = &a->seen[array->imm];
        seen->param = ir_arg(f, ref, 0);
        seen->type = array->type;
        if (!seen->axes)
            seen->axes = arena_zalloc(ctx->arena, sizeof *seen->axes * (size_t)array->type->ndim);
        for (int k = 0; k < array->type->ndim; k++)
            note(&seen->axes[k], place_of(f, ir_arg(f, ref, 1 + k)));
    }
}

static bool share_a_place(const Axis *a, const Axis *b) {
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            if (a->items[i].base == b->items[k].base && a->items[i].by == b->items[k].by)
                return true;
    return false;
}

static bool are_alike(const Seen *a, const Seen *b) {
    if (!a->axes || !b->axes || a->type->ndim != b->type->ndim ||
        a->type->layout != b->type->layout)
        return false;
    for (int k = 0; k < a->type->ndim; k++)
        if (!share_a_place(&a->axes[k], &b->axes[k])) return false;
    return true;
}

static void join(Alike *a, int32_t from, int32_t to) {
    for (int32_t i = 0; i < a->n; i++)
        if (a->seen[i].group == from) a->seen[i].group = to;
}

static int size_of_group(const Alike *a, int32_t group) {
    int n = 0;
    for (int32_t i = 0; i < a->n; i++)
        n += a->seen[i].group == group;
    return n;
}

/* Of several groups of one layout and number of axes, the largest and first one is marked. */
static bool is_largest(const Alike *a, int32_t group) {
    const Type *type = a->seen[group].type;
    int size = size_of_group(a, group);
    for (int32_t i = 0; i < a->n; i++) {
        const Seen *other = &a->seen[i];
        if (!other->axes || other->group != i || i == group || other->type->ndim != type->ndim ||
            other->type->layout != type->layout)
            continue;
        int n = size_of_group(a, i);
        if (n > size || (n == size && i < group)) return false;
    }
    return size > 1;
}

void opt_alike(PassContext *ctx, Func *func) {
    const CompileOptions *o = ctx->options;
    if (target_is_host(o->infer.target) || o->entry != ENTRY_KERNEL || o->general_variant ||
        o->any_shape || func != ctx->module->funcs.items[0])
        return;
    Alike a = {.func = func, .n = func->nparams};
    a.seen = arena_zalloc(ctx->arena, sizeof *a.seen * (size_t)(a.n + 1));
    for (int32_t i = 0; i < a.n; i++)
        a.seen[i].group = i;
    note_accesses(ctx, &a);
    for (int32_t i = 0; i < a.n; i++)
        for (int32_t k = 0; k < i; k++)
            if (a.seen[i].group != a.seen[k].group && are_alike(&a.seen[k], &a.seen[i]))
                join(&a, QN_MAX(a.seen[i].group, a.seen[k].group),
                     QN_MIN(a.seen[i].group, a.seen[k].group));
    for (int32_t i = 0; i < a.n; i++)
        if (a.seen[i].axes && is_largest(&a, a.seen[i].group))
            ir_inst(func, a.seen[i].param)->sub |= FLAG_ALIKE;
}
