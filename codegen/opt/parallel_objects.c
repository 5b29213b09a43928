/* parallel_objects.c - objects in bodies of parallel loops: an iteration may read what is there, change what it has made
 * itself, and assign its own element of a list (`a[i] = x`), if all that the loop does with lists of that type is to look at elements that
 * are an iteration's own, and at lengths. Anything else that changes an object is refused: nobody would wait for the other threads. */
#include "codegen/opt/parallel.h"

/* Functions that call each other are looked at in rounds, until one finds nothing new: each begins with what the one before knew. */
typedef struct Objects {
    Arena *arena;
    Map fresh;   /* Func -> Freshness */
    Map changes; /* Func -> Changes */
    int round;
    bool more; /* this round has found something */
} Objects;

/* Does it return an object that it has made? Yes, until something says otherwise. */
typedef struct Freshness {
    int round;
    bool no;
} Freshness;

static bool is_fresh(Objects *o, const Func *func, Ref ref, Bits *seen);

static bool returns_fresh(Objects *o, const Func *callee) {
    MapValue *slot = map_put(&o->fresh, map_key(callee));
    if (!slot->ptr) slot->ptr = arena_new(o->arena, Freshness);
    Freshness *fresh = slot->ptr;
    if (fresh->round == o->round || fresh->no) return !fresh->no;
    fresh->round = o->round;
    for (Ref ref = 1; ref < callee->insts.len && !fresh->no; ref++) {
        if (ir_inst(callee, ref)->op != OP_return) continue;
        Bits seen = bits_new(o->arena, callee->insts.len);
        fresh->no = !is_fresh(o, callee, ir_arg(callee, ref, 0), &seen);
    }
    o->more |= fresh->no;
    return !fresh->no;
}

/* Was it made in this function, by `new`, as a buffer, or by a call that does so, or is it a tuple of such? The frame of a generator is bytes
 * of such a buffer. */
static bool is_fresh(Objects *o, const Func *func, Ref ref, Bits *seen) {
    const Inst *inst = ir_inst(func, ref);
    if (bits_get(seen, ref)) return true;
    bits_set(seen, ref);
    if (inst->op == OP_call) return returns_fresh(o, inst->u.func);
    if (inst->op == OP_restride) return is_fresh(o, func, ir_arg(func, ref, 0), seen);
    if (inst->op != OP_phi && inst->op != OP_tuple)
        return inst->op == OP_new || inst->op == OP_alloc || inst->op == OP_static_array;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(func, ref, k);
        bool counted = inst->op == OP_phi || ir_type(func, arg)->counted;
        if (counted && !is_fresh(o, func, arg, seen)) return false;
    }
    return true;
}

/* The frame of a generator, which is seen as one tuple where the generator goes on; NO_REF: the buffer is none. */
static Ref frame_of(const Func *func, Ref buffer) {
    const Inst *inst = ir_inst(func, buffer);
    if (inst->op != OP_restride || inst->type->element->kind != TY_TUPLE) return NO_REF;
    Ref frame = ir_arg(func, buffer, 0);
    return type_holds_frame(ir_type(func, frame)) ? frame : NO_REF;
}

/* Is the buffer that the instruction writes one of an object? That object; NO_REF: it is an array. */
static Ref changed_object(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op == OP_set_field || inst->op == OP_grow) return ir_arg(func, ref, 0);
    if (inst->op != OP_store && inst->op != OP_take && inst->op != OP_move) return NO_REF;
    Ref buffer = ir_arg(func, ref, 0);
    if (ir_inst(func, buffer)->op == OP_field) return ir_arg(func, buffer, 0);
    if (frame_of(func, buffer)) return frame_of(func, buffer);
    return inst->op != OP_store && ir_inst(func, buffer)->op == OP_param ? buffer : NO_REF;
}

/* -- what changes objects ---------------------------------------------------------------------- */

/* How far a change of a value may go. */
typedef enum Reach { REACH_NONE, REACH_ITSELF, REACH_INSIDE /* or what it leads to */ } Reach;

/* What a function may do to its parameters. */
typedef struct Changes {
    int round;
    Reach *of_param;
    bool keeps; /* it puts objects that it has not made into others */
} Changes;

static const Changes *changes_of(Objects *o, const Func *callee);

/* Operand k of a call, or the object of a store: the value that is changed; NO_REF behind the last. */
static Ref changed_value(Objects *o, const Func *func, Ref ref, int32_t *k, Reach *reach) {
    const Inst *inst = ir_inst(func, ref);
    *reach = REACH_ITSELF;
    if (inst->op != OP_call) return (*k)++ ? NO_REF : changed_object(func, ref);
    const Changes *changes = changes_of(o, inst->u.func);
    for (; *k < inst->nargs; (*k)++) {
        Ref arg = ir_arg(func, ref, *k);
        if (ir_type(func, arg)->counted && (*reach = changes->of_param[*k])) return (*k)++, arg;
    }
    return NO_REF;
}

/* May a value of the type lead to one of type `to`? */
static bool leads_to(Map *seen, const Type *type, const Type *to) {
    if (type == to) return true;
    if (!type || !type->counted || map_find(seen, map_key(type))) return false;
    map_put(seen, map_key(type))->num = 1;
    if (type->kind == TY_CLOSURE || type->kind == TY_ITER || type_holds_frame(type)) return true;
    if (type->element && leads_to(seen, type->element, to)) return true;
    for (int32_t i = 0; i < type->nitems && type->items; i++)
        if (leads_to(seen, type->items[i], to)) return true;
    for (int32_t i = 0; i < type->nparams; i++)
        if (leads_to(seen, type->params[i], to)) return true;
    return false;
}

/* Arrays of numbers, and text: whoever reaches them may do with them what the loop itself may. */
static bool is_harmless(const Type *type) {
    if (!type->counted) return true;
    if (type->kind == TY_ARRAY) return !type->element->counted && !type_holds_frame(type);
    return type->kind == TY_CLASS && (type->bits == CLS_str || type->bits == CLS_bytes);
}

/* Does the instruction put a value, operand k, into an object? */
static bool is_put(Objects *o, const Inst *inst, int32_t k) {
    switch ((int)inst->op) {
    case OP_call: return changes_of(o, inst->u.func)->keeps;
    case OP_new: return true;
    case OP_set_field:
    case OP_store: return k > 0;
    default: return false;
    }
}

/* Made by the iteration, or, without a region, by the function. */
static bool is_fresh_here(Objects *o, const Region *region, const Func *func, Ref ref);

/* Does the instruction put an object that was not made here into another, to which a value of `type` (NULL: any) may lead? */
static bool puts_others(Objects *o, const Region *region, const Func *func, Ref ref,
                        const Type *type) {
    const Inst *inst = ir_inst(func, ref);
    for (int32_t k = 0; k < inst->nargs; k++) {
        const Type *part = ir_type(func, ir_arg(func, ref, k));
        Map seen;
        map_init(&seen, o->arena);
        if (!part || is_harmless(part) || (type && !leads_to(&seen, type, part))) continue;
        if (is_put(o, inst, k) && !is_fresh_here(o, region, func, ir_arg(func, ref, k)))
            return true;
    }
    return false;
}

/* The same for all of a function. */
static bool func_puts_others(Objects *o, const Func *func, const Type *type) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (puts_others(o, NULL, func, ref, type)) return true;
    return false;
}

/* What is neither fresh nor a parameter may be part of any of them. */
static void add_change(Objects *o, const Func *callee, Ref value, Reach reach, Changes *changes) {
    Bits seen = bits_new(o->arena, callee->insts.len);
    bool fresh = is_fresh(o, callee, value, &seen);
    if (fresh && (reach == REACH_ITSELF || !func_puts_others(o, callee, ir_type(callee, value))))
        return;
    const Inst *inst = ir_inst(callee, value);
    bool param = inst->op == OP_param;
    for (int32_t p = 0; p < callee->nparams; p++)
        if (!param || inst->imm == p)
            changes->of_param[p] = QN_MAX(changes->of_param[p], param ? reach : REACH_INSIDE);
}

static const Changes *changes_of(Objects *o, const Func *callee) {
    MapValue *slot = map_put(&o->changes, map_key(callee));
    size_t size = sizeof(Reach) * (size_t)(callee->nparams + 1);
    Changes *changes = slot->ptr;
    if (!changes) {
        changes = slot->ptr = arena_new(o->arena, Changes);
        changes->of_param = arena_array(o->arena, Reach, callee->nparams + 1);
    }
    if (changes->round == o->round) return changes;
    changes->round = o->round;
    Changes before = *changes;
    before.of_param = arena_copy(o->arena, changes->of_param, size);
    changes->keeps |= func_puts_others(o, callee, NULL);
    for (Ref ref = 1; ref < callee->insts.len; ref++) {
        Ref value;
        Reach reach;
        for (int32_t k = 0; (value = changed_value(o, callee, ref, &k, &reach));)
            add_change(o, callee, value, reach, changes);
    }
    o->more |= changes->keeps != before.keeps || memcmp(changes->of_param, before.of_param, size);
    return changes;
}

static bool refuse(const Region *r, Ref at, Ref changed) {
    const Type *type = ir_type(r->func, changed);
    const char *what = (type->kind == TY_CLASS && type->bits == CLS_list) ? "a list"
                       : type_holds_frame(type)                           ? "a generator"
                                                                          : "an object";
    DiagList *diags = r->ctx->module->diags;
    Span here = ir_span_of(r->func, at), loop = ir_span_of(r->func, r->marker);
    diag_add(diags, E0704, &here, what);
    if (loop.line) diag_note(diags, &loop, "the loop");
    diag_note(diags, NULL,
              "write into an array, to the element a[i] of a list of which the loop uses nothing "
              "else, or "
              "into a list that the iteration makes; or use range()");
    return false;
}

/* Made by the iteration: in the loop, and not carried on by it. */
static bool is_own(Objects *o, const Region *r, Ref value) {
    Bits seen = bits_new(o->arena, r->func->insts.len);
    if (!is_fresh(o, r->func, value, &seen)) return false;
    for (Ref ref = 1; ref < r->func->insts.len; ref++)
        if (bits_get(&seen, ref) && !r->inside[ir_inst(r->func, ref)->block]) return false;
    return true;
}

static bool is_fresh_here(Objects *o, const Region *region, const Func *func, Ref ref) {
    if (region) return is_own(o, region, ref);
    Bits seen = bits_new(o->arena, func->insts.len);
    return is_fresh(o, func, ref, &seen);
}

/* An iteration may change what it has made, and what that leads to, where it has made all of it. */
static bool is_safe(Objects *o, const Region *r, Ref value, Reach reach) {
    if (!is_own(o, r, value)) return false;
    for (int32_t i = 0; i < r->blocks.len && reach == REACH_INSIDE; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (puts_others(o, r, r->func, block->insts.items[k], ir_type(r->func, value)))
                return false;
    }
    return true;
}

/* -- elements of lists that are an iteration's own -------------------------------------------- */

enum { LIST_LENGTH = 0 }; /* the field */

/* Is it param 1, perhaps tested and counted from the end? */
static bool is_given_index(const Func *callee, Ref index) {
    const Inst *inst = ir_inst(callee, region_unchecked(callee, index));
    return inst->op == OP_param && inst->imm == 1;
}

/* Does the function do nothing with its param 0, a list, but load or store the element that param 1 says? */
static bool is_element_access(const Func *callee) {
    for (int32_t b = 0; b < callee->blocks.len; b++) {
        const Block *block = &callee->blocks.items[b];
        for (int32_t i = 0; i < block->insts.len; i++) {
            Ref ref = block->insts.items[i];
            const Inst *inst = ir_inst(callee, ref);
            if (inst->op == OP_call) return false;
            for (int32_t k = 0; k < inst->nargs; k++) {
                const Inst *arg = ir_inst(callee, ir_arg(callee, ref, k));
                bool list = arg->op == OP_param && arg->imm == 0;
                bool buffer = arg->op == OP_field && arg->type->kind == TY_ARRAY;
                if (list && inst->op != OP_field) return false;
                if (!buffer) continue;
                bool element = (inst->op == OP_load || inst->op == OP_store) && k == 0;
                if (!element || !is_given_index(callee, ir_arg(callee, ref, 1))) return false;
            }
        }
    }
    return true;
}

/* `getitem(list, i)` or `setitem(list, i, x)`, i being the loop's counter, which no other iteration has. */
static bool is_own_element(const Region *r, Ref ref) {
    const Inst *inst = ir_inst(r->func, ref);
    return inst->op == OP_call && inst->nargs >= 2 &&
           ir_type(r->func, ir_arg(r->func, ref, 0))->kind == TY_CLASS &&
           ir_arg(r->func, ref, 1) == r->loop.counter && is_element_access(inst->u.func);
}

/* What only gives a part of the value, which is looked at where it is used. */
static bool is_part(const Inst *inst, bool itself) {
    if (itself) return inst->op == OP_field && inst->imm == LIST_LENGTH;
    return inst->op == OP_field || inst->op == OP_item || inst->op == OP_load;
}

/* Does an instruction do more with the lists of a type than an iteration may? Operand `k` is the first that it must not have. */
static bool misuses(Objects *o, const Region *r, Ref ref, const Type *list) {
    const Inst *inst = ir_inst(r->func, ref);
    bool element = is_own_element(r, ref);
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(r->func, ref, k);
        Map seen;
        map_init(&seen, o->arena);
        const Type *type = ir_type(r->func, arg);
        if ((element && k == 0) || !leads_to(&seen, type, list) || is_part(inst, type == list))
            continue;
        if (!is_own(o, r, arg)) return true;
    }
    return false;
}

/* An element of a list is assigned: is it safe? */
static bool may_assign(Objects *o, const Region *r, Ref ref) {
    if (!is_own_element(r, ref)) return false;
    const Type *list = ir_type(r->func, ir_arg(r->func, ref, 0));
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (misuses(o, r, block->insts.items[k], list)) return false;
    }
    return true;
}

/* Looks at whatever the function calls, itself last. */
static void look_at(Objects *o, Map *seen, const Func *callee) {
    if (map_find(seen, map_key(callee))) return;
    map_put(seen, map_key(callee))->num = 1;
    for (Ref ref = 1; ref < callee->insts.len; ref++)
        if (ir_inst(callee, ref)->op == OP_call) look_at(o, seen, ir_inst(callee, ref)->u.func);
    returns_fresh(o, callee);
    changes_of(o, callee);
}

/* Rounds over all that the region calls. */
static void look_at_callees(Objects *o, const Region *r) {
    for (o->more = true; o->more;) {
        Map seen;
        map_init(&seen, o->arena);
        o->round++, o->more = false;
        for (int32_t i = 0; i < r->blocks.len; i++) {
            const Block *block = &r->func->blocks.items[r->blocks.items[i]];
            for (int32_t k = 0; k < block->insts.len; k++) {
                const Inst *inst = ir_inst(r->func, block->insts.items[k]);
                if (inst->op == OP_call) look_at(o, &seen, inst->u.func);
            }
        }
    }
}

static bool is_safe_instruction(Objects *o, const Region *r, Ref ref) {
    Ref value;
    Reach reach;
    for (int32_t n = 0; (value = changed_value(o, r->func, ref, &n, &reach));)
        if (!is_safe(o, r, value, reach) && !may_assign(o, r, ref)) return refuse(r, ref, value);
    return true;
}

bool region_objects_are_safe(const Region *r) {
    Objects o = {.arena = r->ctx->arena};
    map_init(&o.fresh, o.arena);
    map_init(&o.changes, o.arena);
    look_at_callees(&o, r);
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (!is_safe_instruction(&o, r, block->insts.items[k])) return false;
    }
    return true;
}

static bool func_draws(Map *seen, const Func *func);

static bool inst_draws(Map *seen, const Inst *inst) {
    switch ((int)inst->op) {
    case OP_lib: return str_starts(*inst->u.name, "primitive.next_");
    case OP_call:
    case OP_parallel:
    case OP_map:
    case OP_map_into:
    case OP_reduce: return inst->u.func && func_draws(seen, inst->u.func);
    default: return false;
    }
}

static bool func_draws(Map *seen, const Func *func) {
    if (map_find(seen, map_key(func))) return false;
    map_put(seen, map_key(func))->num = 1;
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (inst_draws(seen, ir_inst(func, ref))) return true;
    return false;
}

bool region_draws(const Region *r) {
    Map seen;
    map_init(&seen, r->ctx->arena);
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (inst_draws(&seen, ir_inst(r->func, block->insts.items[k]))) return true;
    }
    return false;
}
