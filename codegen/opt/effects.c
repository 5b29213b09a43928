/* effects.c - see effects.h. */
#include "codegen/opt/effects.h"

enum { MOST_CHANGES = 32 };

EffectsOf effects_new(Arena *arena, const Func *func, const Cfg *cfg) {
    EffectsOf f = {.func = func, .arena = arena, .cfg = cfg};
    map_init(&f.effects, arena);
    map_init(&f.fresh, arena);
    map_init(&f.frames, arena);
    return f;
}

/* -- which objects may be the same ------------------------------------------------------------------------ */

/* What leads to itself may. */
static bool may_hold_frame(EffectsOf *f, const Type *type) {
    if (!type || !type->counted) return false;
    MapValue *known = map_find(&f->frames, map_key(type));
    if (known) return known->num == 2;
    map_put(&f->frames, map_key(type))->num = 2;
    bool may = type->kind == TY_CLOSURE || type->kind == TY_ITER || type_holds_frame(type);
    may = may || may_hold_frame(f, type->element);
    for (int32_t i = 0; i < type->nitems && type->items && !may; i++)
        may = may_hold_frame(f, type->items[i]);
    for (int32_t i = 0; i < type->nparams && !may; i++)
        may = may_hold_frame(f, type->params[i]);
    if (!may) map_put(&f->frames, map_key(type))->num = 1;
    return may;
}

static bool same_parameter(const Type *a, const Type *b) {
    return a == b || !type_is_scalar(a) || !type_is_scalar(b);
}

bool effects_types_meet(const Type *a, const Type *b) {
    if (a->bits != b->bits) return false;
    if (type_is_instance(a)) return a == b;
    for (int32_t i = 0; i < a->nparams && i < b->nparams; i++)
        if (!same_parameter(a->params[i], b->params[i])) return false;
    return true;
}

static bool is_fresh(EffectsOf *f, const Func *func, Ref ref);

static bool returns_fresh(EffectsOf *f, const Func *callee) {
    MapValue *known = map_find(&f->fresh, map_key(callee));
    if (known) return known->num == 2;
    map_put(&f->fresh, map_key(callee))->num = 1;
    for (Ref ref = 1; ref < callee->insts.len; ref++)
        if (ir_inst(callee, ref)->op == OP_return && !is_fresh(f, callee, ir_arg(callee, ref, 0)))
            return false;
    map_put(&f->fresh, map_key(callee))->num = 2;
    return true;
}

/* Made where it stands. */
static bool is_fresh(EffectsOf *f, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_new || (inst->op == OP_call && returns_fresh(f, inst->u.func));
}

/* `object` comes from outside the loop, so that it is none that the loop makes. */
static bool may_be(EffectsOf *f, Ref object, const Change *change) {
    const Func *func = f->func;
    if (!effects_types_meet(ir_type(func, object), change->object)) return false;
    if (!change->base || change->base == object) return true;
    const Inst *base = ir_inst(func, change->base);
    bool fresh = is_fresh(f, func, change->base);
    if (fresh && opt_in_loop(f->cfg, f->loop, base->block)) return false;
    if (is_fresh(f, func, object)) return !fresh && base->op != OP_param;
    return !(fresh && ir_inst(func, object)->op == OP_param);
}

/* -- what changes them ------------------------------------------------------------------------------------ */

static void add_change(EffectsOf *f, Effects *out, Change change) {
    for (int32_t i = 0; i < out->changes.len; i++) {
        const Change *c = &out->changes.items[i];
        if (c->object == change.object && c->field == change.field && c->base == change.base)
            return;
    }
    if (out->changes.len == MOST_CHANGES)
        out->all = true;
    else
        vec_push(f->arena, &out->changes, change);
}

/* Of a callee, with its parameters as bases: nobody outside knows what it makes itself. What calls itself may do anything. */
static const Effects *effects_of(EffectsOf *f, const Func *callee) {
    MapValue *known = map_find(&f->effects, map_key(callee));
    if (known) return known->ptr;
    Effects *all = arena_new(f->arena, Effects), *own = arena_new(f->arena, Effects);
    all->all = all->drops = true;
    map_put(&f->effects, map_key(callee))->ptr = all;
    for (Ref ref = 1; ref < callee->insts.len && !own->all; ref++)
        effects_add(f, callee, ref, own);
    map_put(&f->effects, map_key(callee))->ptr = own;
    for (int32_t i = 0; i < own->changes.len; i++) {
        Change *c = &own->changes.items[i];
        const Inst *base = c->base ? ir_inst(callee, c->base) : NULL;
        c->base = base && base->op == OP_param ? (Ref)base->imm + 1 : NO_REF;
    }
    return own;
}

static void add_callee(EffectsOf *f, const Func *func, Ref ref, Effects *out) {
    const Inst *inst = ir_inst(func, ref);
    const Effects *callee = effects_of(f, inst->u.func);
    out->all |= callee->all, out->drops |= callee->drops;
    for (int32_t i = 0; i < callee->changes.len; i++) {
        Change c = callee->changes.items[i];
        bool given = inst->op == OP_call && c.base;
        c.base = given ? ir_arg(func, ref, c.base - 1) : NO_REF;
        add_change(f, out, c);
    }
}

static bool is_harmless(const Inst *inst) {
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    switch ((int)inst->op) {
    case OP_lib: return row && (row->flags & (LIB_PURE | LIB_READS));
    case OP_store:
    case OP_take:
    case OP_move:
    case OP_alloc:
    case OP_new:
    case OP_own:
    case OP_atomic:
    case OP_static_array:
    case OP_cause:
    case OP_exception:
    case OP_poll: return true;
    default: return !(ir_op_info[inst->op].flags & OPF_WRITE);
    }
}

void effects_add(EffectsOf *f, const Func *func, Ref ref, Effects *out) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op == OP_removed) return;
    for (int32_t k = 0; k < inst->nargs; k++)
        out->all |= may_hold_frame(f, ir_type(func, ir_arg(func, ref, k)));
    out->all |= may_hold_frame(f, inst->type);
    if ((inst->op == OP_call || inst->op == OP_parallel) && inst->u.func)
        return add_callee(f, func, ref, out);
    if (inst->op == OP_set_field || inst->op == OP_grow) {
        Ref base = ir_arg(func, ref, 0);
        Change change = {ir_type(func, base), (int32_t)inst->imm, base};
        if (func == f->func || !is_fresh(f, func, base)) add_change(f, out, change);
    } else if (!is_harmless(inst)) {
        out->all = true;
    }
    if (!(ir_op_info[inst->op].flags & OPF_DROPS)) return;
    const Type *dropped =
        inst->type ? inst->type : ir_type(func, ir_arg(func, ref, inst->nargs - 1));
    out->drops |= inst->op == OP_grow || dropped->counted;
}

bool effects_change(EffectsOf *f, const Effects *effects, Ref object, int64_t field) {
    if (effects->all) return true;
    for (int32_t i = 0; i < effects->changes.len; i++) {
        const Change *c = &effects->changes.items[i];
        if (c->field == field && may_be(f, object, c)) return true;
    }
    return false;
}

void effects_of_loop(EffectsOf *f, const Bits *except, Effects *out) {
    const Loop *loop = &f->cfg->loops.items[f->loop];
    *out = (Effects){0};
    for (int32_t i = 0; i < loop->blocks.len && !out->all; i++) {
        const Block *block = &f->func->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len && !out->all; k++)
            if (!except || !bits_get(except, block->insts.items[k]))
                effects_add(f, f->func, block->insts.items[k], out);
    }
}

bool effects_object_is_there(const Func *func, Ref object) {
    const Inst *inst = ir_inst(func, object);
    if (inst->op == OP_new || inst->op == OP_call) return true;
    if (inst->op == OP_param) return !func->part;
    if (inst->op != OP_load) return false;
    Ref buffer = ir_arg(func, object, 0);
    return ir_inst(func, buffer)->op == OP_field &&
           ir_type(func, ir_arg(func, buffer, 0))->bits == CLS_list;
}
