/* abi.c - layouts of values at the boundary, and the usage of array arguments.
 *
 * Usage: a bit set of entry parameters flows with every array value through the module, function by
 * function, until nothing changes; every access adds to what its array may be. */
#include "codegen/abi.h"

/* -- layout ----------------------------------------------------------------------------------- */

ValueLayout abi_layout(Arena *arena, const Type *type, const Type *weak) {
    ValueLayout out = {.kind = (uint8_t)type->kind,
                       .size = (int32_t)type_size(type),
                       .align = (int32_t)type_align(type),
                       .weak = weak && type_is_weak(weak)};
    if (type_is_weak(type)) {
        out.kind = (uint8_t)type_strong_kind(type->kind);
        out.weak = true;
    }
    if (type->kind == TY_ARRAY) {
        out.element = (uint8_t)type->element->kind;
        out.ndim = type->ndim;
        out.layout = type->layout;
        out.readonly = type->readonly;
        out.aligned = type->aligned;
    }
    if (type->kind != TY_TUPLE) return out;
    if (weak && weak->kind == TY_OPTIONAL) { /* (present, value) */
        ValueLayout *value = arena_array(arena, ValueLayout, 1);
        *value = abi_layout(arena, type->items[1], weak->element);
        value->offset = (int32_t)type_offset(type, 1);
        out.kind = TY_OPTIONAL;
        out.nitems = 1;
        out.items = value;
        return out;
    }
    ValueLayout *items = arena_array(arena, ValueLayout, type->nitems + 1);
    bool same = weak && weak->kind == TY_TUPLE && weak->nitems == type->nitems;
    for (int32_t i = 0; i < type->nitems; i++) {
        items[i] = abi_layout(arena, type->items[i], same ? weak->items[i] : NULL);
        items[i].offset = (int32_t)type_offset(type, i);
    }
    out.nitems = type->nitems;
    out.items = items;
    const Type *named = same && weak->fields ? weak : type; /* lowered types have lost the names */
    out.cls = named->cls;
    if (named->fields) {
        Str *fields = arena_array(arena, Str, type->nitems + 1);
        for (int32_t i = 0; i < type->nitems; i++)
            fields[i] = str_copy(arena, named->fields[i].bytes, (size_t)named->fields[i].len);
        out.fields = fields;
    }
    return out;
}

/* -- usage ------------------------------------------------------------------------------------ */

typedef struct Usage {
    const Module *module;
    Map index; /* Func * -> position */
    Bits **
        values; /* by function, by ref: entry parameters whose elements it may be; words NULL: none */
    Bits *results; /* by function */
    uint8_t *out;
    bool changed;
} Usage;

static void flow(Usage *u, Bits *to, const Bits *from) {
    u->changed |= bits_or(to, from);
}

static void access(Usage *u, const Bits *array, uint8_t what) {
    for (int32_t i = 0; i < array->n; i++)
        if (bits_get(array, i) && (u->out[i] & what) != what) {
            u->out[i] |= what;
            u->changed = true;
        }
}

static void visit_call(Usage *u, int32_t f, const Inst *inst, Ref ref) {
    const Func *func = u->module->funcs.items[f];
    MapValue *found = map_find(&u->index, map_key(inst->u.func));
    if (!found) return;
    const Func *callee = inst->u.func;
    Bits *inside = u->values[found->num];
    for (Ref r = 1; r < callee->insts.len; r++) {
        const Inst *param = ir_inst(callee, r);
        if (param->op == OP_param && param->imm < inst->nargs)
            flow(u, &inside[r], &u->values[f][ir_arg(func, ref, (int32_t)param->imm)]);
    }
    flow(u, &u->values[f][ref], &u->results[found->num]);
}

/* What a row of the library does with an array; an unknown row may do anything. */
static uint8_t access_of_row(const Inst *inst) {
    const LibRow *row = lib_row_of(inst);
    if (!row) return ARG_READ | ARG_WRITTEN;
    return (uint8_t)((row->flags & LIB_READS ? ARG_READ : 0) |
                     (row->flags & LIB_WRITES ? ARG_WRITTEN : 0));
}

static void visit(Usage *u, int32_t f, Ref ref) {
    const Func *func = u->module->funcs.items[f];
    const Inst *inst = ir_inst(func, ref);
    Bits *values = u->values[f];
    switch ((int)inst->op) {
    case OP_load: access(u, &values[ir_arg(func, ref, 0)], ARG_READ); return;
    case OP_store: access(u, &values[ir_arg(func, ref, 0)], ARG_WRITTEN); return;
    case OP_atomic: access(u, &values[ir_arg(func, ref, 0)], ARG_READ | ARG_WRITTEN); return;
    case OP_call: visit_call(u, f, inst, ref); return;
    case OP_return:
        if (inst->nargs) flow(u, &u->results[f], &values[ir_arg(func, ref, 0)]);
        return;
    case OP_lib:
        for (int32_t k = 0; k < inst->nargs; k++)
            access(u, &values[ir_arg(func, ref, k)], access_of_row(inst));
        break;
    case OP_shape:
    case OP_stride:
    case OP_same_array:
    case OP_disjoint:
    case OP_param:
    case OP_const: return;
    default: break;
    }
    /* views, items, tuples, phis, selects: the value may be any of its operands */
    for (int32_t k = 0; k < inst->nargs && inst->type; k++)
        if (inst->type->kind == TY_ARRAY || inst->type->kind == TY_TUPLE)
            flow(u, &values[ref], &values[ir_arg(func, ref, k)]);
}

void abi_usage(Arena *arena, const Module *module, uint8_t *usage) {
    int32_t n = module->funcs.len;
    const Func *entry = module->funcs.items[0];
    Usage u = {.module = module, .out = usage};
    map_init(&u.index, arena);
    u.values = arena_array(arena, Bits *, n);
    u.results = arena_array(arena, Bits, n);
    memset(usage, 0, (size_t)entry->nparams);
    for (int32_t f = 0; f < n; f++) {
        const Func *func = module->funcs.items[f];
        map_put(&u.index, map_key(func))->num = f;
        u.values[f] = arena_array(arena, Bits, func->insts.len);
        u.results[f] = bits_new(arena, entry->nparams);
        for (Ref r = 0; r < func->insts.len; r++)
            u.values[f][r] = bits_new(arena, entry->nparams);
    }
    for (Ref r = 1; r < entry->insts.len; r++) {
        const Inst *param = ir_inst(entry, r);
        if (param->op != OP_param || param->imm >= entry->nparams) continue;
        bits_set(&u.values[0][r], (int32_t)param->imm);
        if (param->sub == FLAG_SMALL) usage[param->imm] |= ARG_SMALL;
    }
    do {
        u.changed = false;
        for (int32_t f = 0; f < n; f++)
            for (Ref r = 1; r < module->funcs.items[f]->insts.len; r++)
                visit(&u, f, r);
    } while (u.changed);
    /* returning an argument lets the caller write through the result */
    for (int32_t i = 0; i < entry->nparams; i++)
        if (bits_get(&u.results[0], i)) usage[i] |= ARG_READ | ARG_WRITTEN;
}
