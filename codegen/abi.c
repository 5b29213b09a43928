/* abi.c - layouts of values at the boundary, and the usage of array arguments.
 *
 * Usage: with every array value, and every array of a tuple, a bit set of the arrays among the entry's parameters
 * flows through the module, function by function, until nothing changes; every access adds to what its array may be. */
#include "codegen/abi.h"
#include "codegen/objects.h"
#include "frontend/bytecode/code.h"
#include "frontend/resolver.h"

/* -- layout ----------------------------------------------------------------------------------- */

/* A function, which is no value: Python has it, or it is made of its code. */
static void function_layout(const Binding *function, ValueLayout *out) {
    out->kind = function->object ? TY_OBJECT : TY_CLOSURE;
    out->cls = function->object ? function->object : function->handle;
}

static void object_layout(Arena *arena, const Type *type, const Type *weak, ValueLayout *out) {
    bool same = weak && weak->kind == TY_CLASS && weak->nparams == type->nparams;
    ValueLayout *params = arena_array(arena, ValueLayout, type->nparams + 1);
    for (int32_t i = 0; i < type->nparams; i++)
        params[i] = abi_layout(arena, type->params[i], same ? weak->params[i] : NULL);
    out->element = (uint8_t)type->bits;
    out->nitems = type->nparams;
    out->items = params;
    out->variant = same ? weak->variant : VARIANT_none;
    out->maker = same ? weak->maker : MAKER_none;
    if (out->maker == MAKER_function)
        function_layout(weak->function->binding, &params[type->nparams]);
    out->shared = type->shared;
    out->cls = type->cls;
    out->cells = object_cells(type);
    for (int32_t i = 0; i < QN_MIN(type->nparams, countof(out->buffer_cells)); i++)
        if (type->params[i]->counted) out->buffer_cells[i] = buffer_cells(type->params[i]);
}

/* Of a value that a function takes along: the parameter whose default it is, or the variable. */
static Str nested_name(const NestedFunction *nested, int32_t item) {
    if (item < nested->ndefaults) return nested->code->local_names[nested->default_params[item]];
    return nested->variables[item - nested->ndefaults];
}

/* A function with the values that it takes along: a tuple of these in typed code. */
static void closure_layout(Arena *arena, const Type *type, const Type *closure, ValueLayout *out) {
    ValueLayout *items = arena_array(arena, ValueLayout, type->nitems + 1);
    Str *names = arena_array(arena, Str, type->nitems + 1);
    const NestedFunction *nested = closure->fields ? NULL : closure->cls;
    for (int32_t i = 0; i < type->nitems; i++) {
        items[i] = abi_layout(arena, type->items[i], closure->items[i]);
        items[i].offset = (int32_t)type_offset(type, i);
        Str name = nested ? nested_name(nested, i) : closure->fields[i];
        names[i] = str_copy(arena, name.bytes, (size_t)name.len);
    }
    out->kind = TY_CLOSURE;
    out->nitems = type->nitems;
    out->items = items;
    out->fields = names;
    out->cls = nested ? closure->binding->handle : NULL;
}

/* The number of a function, and behind it what those take along that take something (infer_choice.c). */
static void choice_layout(Arena *arena, const Type *type, const Type *choice, ValueLayout *out) {
    ValueLayout *items = arena_array(arena, ValueLayout, choice->nitems);
    int32_t place = 0;
    for (int32_t i = 0; i < choice->nitems; i++) {
        const Type *item = choice->items[i];
        items[i].align = 1;
        if (item->kind == TY_CLOSURE && item->nitems > 0) {
            items[i] = abi_layout(arena, type->items[++place], item);
            items[i].offset = (int32_t)type_offset(type, place);
        } else {
            function_layout(item->binding, &items[i]);
        }
    }
    out->kind = TY_CHOICE;
    out->nitems = choice->nitems;
    out->items = items;
}

ValueLayout abi_layout(Arena *arena, const Type *type, const Type *weak) {
    ValueLayout out = {.kind = (uint8_t)type->kind,
                       .size = (int32_t)type_size(type),
                       .align = (int32_t)type_align(type),
                       .weak = weak && type_is_weak(weak)};
    if (type_is_weak(type)) {
        out.kind = (uint8_t)type_strong_kind(type->kind);
        out.weak = true;
    }
    if (weak && weak->kind == TY_MEMBER) {
        out.kind = TY_MEMBER;
        out.cls = weak->binding->handle;
    }
    if (weak && weak->kind == TY_SLICE) {
        out.kind = TY_SLICE;
        out.element = (uint8_t)weak->bits;
        return out;
    }
    if (weak && weak->kind == TY_OBJECT && weak->binding) {
        function_layout(weak->binding, &out);
        return out;
    }
    if (weak && weak->kind == TY_CHOICE && (type->kind == TY_i64 || type->kind == TY_TUPLE)) {
        choice_layout(arena, type, weak, &out);
        return out;
    }
    if (weak && weak->kind == TY_CLOSURE) {
        closure_layout(arena, type, weak, &out);
        return out;
    }
    if (weak && weak->kind == TY_TIME) out.kind = TY_TIME, out.time = weak->bits;
    if (type->kind == TY_ARRAY) {
        bool times = weak && weak->kind == TY_ARRAY && weak->element->kind == TY_TIME;
        out.element = (uint8_t)(times ? weak : type)->element->kind;
        out.time = times ? weak->element->bits : 0;
        out.item_size = (int32_t)type_size(type->element);
        if (type->element->kind == TY_RECORD) out.cls = type->element->cls;
        out.ndim = type->ndim;
        out.layout = type->layout;
        out.readonly = type->readonly;
        out.aligned = type->aligned;
    }
    if (type->kind == TY_CLASS) {
        object_layout(arena, type, weak, &out);
        return out;
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
    out.element = type_is_random(named);
    if (named->fields) {
        Str *fields = arena_array(arena, Str, type->nitems + 1);
        for (int32_t i = 0; i < type->nitems; i++)
            fields[i] = str_copy(arena, named->fields[i].bytes, (size_t)named->fields[i].len);
        out.fields = fields;
    }
    return out;
}

ValueLayout cg_layout(Arena *arena, TypeTable *types, const Type *type) {
    return abi_layout(arena, type_stored(types, type), type);
}

/* -- usage ------------------------------------------------------------------------------------ */

/* A set for each array in a value: which arrays of the entry's parameters it may be. A value with more arrays than
 * MOST_SETS has one set for all of them. */
typedef struct Origin {
    int32_t n;
    bool whole; /* one set for all */
    Bits *sets;
} Origin;

enum { MOST_SETS = 64 };

typedef struct Usage {
    const Module *module;
    Arena *arena;
    Map index;       /* Func * -> position */
    Origin **values; /* by function, by ref */
    Origin *results; /* by function */
    uint8_t *out;    /* by array of the entry's parameters */
    int32_t narrays;
    bool changed;
} Usage;

/* How many arrays there are in a value. */
static int32_t abi_arrays(const Type *type) {
    int32_t n = type->kind == TY_ARRAY;
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        n += abi_arrays(type->items[i]);
    return n;
}

static Origin new_origin(Usage *u, const Type *type) {
    int32_t n = type ? abi_arrays(type) : 0;
    Origin o = {.n = QN_MIN(n, MOST_SETS), .whole = n > MOST_SETS};
    if (o.whole) o.n = 1;
    o.sets = arena_array(u->arena, Bits, o.n);
    for (int32_t i = 0; i < o.n; i++)
        o.sets[i] = bits_new(u->arena, u->narrays);
    return o;
}

/* Every array of `to` may be any of `from`. */
static void mix(Usage *u, Origin *to, const Origin *from) {
    for (int32_t i = 0; i < to->n; i++)
        for (int32_t k = 0; k < from->n; k++)
            u->changed |= bits_or(&to->sets[i], &from->sets[k]);
}

/* `n` arrays of `from`, from its array `first` on, are those of `to` from `at` on. */
static void flow_part(Usage *u, Origin *to, int32_t at, const Origin *from, int32_t first,
                      int32_t n) {
    if (to->whole || from->whole) {
        if (n) mix(u, to, from);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        u->changed |= bits_or(&to->sets[at + i], &from->sets[first + i]);
}

static void flow(Usage *u, Origin *to, const Origin *from) {
    if (to->n == from->n)
        flow_part(u, to, 0, from, 0, to->n);
    else
        mix(u, to, from);
}

static void access(Usage *u, const Origin *value, uint8_t what) {
    for (int32_t k = 0; k < value->n; k++)
        for (int32_t i = 0; i < u->narrays; i++)
            if (bits_get(&value->sets[k], i) && (u->out[i] & what) != what) {
                u->out[i] |= what;
                u->changed = true;
            }
}

static void visit_call(Usage *u, int32_t f, const Inst *inst, Ref ref) {
    const Func *func = u->module->funcs.items[f];
    MapValue *found = map_find(&u->index, map_key(inst->u.func));
    if (!found) return;
    const Func *callee = inst->u.func;
    Origin *inside = u->values[found->num];
    int32_t shift = inst->op == OP_parallel; /* two arguments become three parameters */
    for (Ref r = 1; r < callee->insts.len; r++) {
        const Inst *param = ir_inst(callee, r);
        if (param->op == OP_param && param->imm - shift < inst->nargs && param->imm >= shift)
            flow(u, &inside[r], &u->values[f][ir_arg(func, ref, (int32_t)param->imm - shift)]);
    }
    if (!shift) flow(u, &u->values[f][ref], &u->results[found->num]);
}

/* What a row of the library does with an array; an unknown row may do anything. */
static uint8_t access_of_row(const Inst *inst) {
    const LibRow *row = lib_row_of(inst);
    if (!row) return ARG_READ | ARG_WRITTEN;
    return (uint8_t)((row->flags & LIB_READS ? ARG_READ : 0) |
                     (row->flags & LIB_WRITES ? ARG_WRITTEN : 0));
}

static void visit_tuple(Usage *u, const Func *func, Origin *values, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    for (int32_t k = 0, at = 0; k < inst->nargs; k++) {
        int32_t n = abi_arrays(ir_type(func, ir_arg(func, ref, k)));
        flow_part(u, &values[ref], at, &values[ir_arg(func, ref, k)], 0, n);
        at += n;
    }
}

static void visit_item(Usage *u, const Func *func, Origin *values, Ref ref) {
    Ref tuple = ir_arg(func, ref, 0);
    const Type *type = ir_type(func, tuple);
    int32_t first = 0, item = (int32_t)ir_inst(func, ref)->imm;
    for (int32_t i = 0; i < item; i++)
        first += abi_arrays(type->items[i]);
    flow_part(u, &values[ref], 0, &values[tuple], first, abi_arrays(type->items[item]));
}

/* It may be any of them. */
static void visit_item_at(Usage *u, const Func *func, Origin *values, Ref ref) {
    Ref tuple = ir_arg(func, ref, 0);
    const Type *type = ir_type(func, tuple);
    int32_t n = abi_arrays(type->items[0]);
    for (int32_t k = 0; k < type->nitems && n; k++)
        flow_part(u, &values[ref], 0, &values[tuple], k * n, n);
}

static void visit(Usage *u, int32_t f, Ref ref) {
    const Func *func = u->module->funcs.items[f];
    const Inst *inst = ir_inst(func, ref);
    Origin *values = u->values[f];
    switch ((int)inst->op) {
    case OP_load: access(u, &values[ir_arg(func, ref, 0)], ARG_READ); return;
    case OP_store: access(u, &values[ir_arg(func, ref, 0)], ARG_WRITTEN); return;
    case OP_atomic: access(u, &values[ir_arg(func, ref, 0)], ARG_READ | ARG_WRITTEN); return;
    case OP_parallel:
    case OP_call: visit_call(u, f, inst, ref); return;
    case OP_return:
        if (inst->nargs) flow(u, &u->results[f], &values[ir_arg(func, ref, 0)]);
        return;
    case OP_lib:
        for (int32_t k = 0; k < inst->nargs; k++)
            access(u, &values[ir_arg(func, ref, k)], access_of_row(inst));
        break;
    case OP_map: /* of functions that no pass has seen (memo.h); the result is a new array */
    case OP_reduce:
    case OP_map_into:
        for (int32_t k = 0; k < inst->nargs; k++)
            access(u, &values[ir_arg(func, ref, k)],
                   k == 0 && inst->op == OP_map_into ? ARG_READ | ARG_WRITTEN : ARG_READ);
        return;
    case OP_tuple: visit_tuple(u, func, values, ref); return;
    case OP_item: visit_item(u, func, values, ref); return;
    case OP_item_at: visit_item_at(u, func, values, ref); return;
    case OP_param: return;
    default: break;
    }
    /* views, phis, selects: the value may be any of its operands */
    for (int32_t k = 0; k < inst->nargs && values[ref].n; k++)
        flow(u, &values[ref], &values[ir_arg(func, ref, k)]);
}

static void start_usage(Usage *u) {
    int32_t n = u->module->funcs.len;
    map_init(&u->index, u->arena);
    u->values = arena_array(u->arena, Origin *, n);
    u->results = arena_array(u->arena, Origin, n);
    for (int32_t f = 0; f < n; f++) {
        const Func *func = u->module->funcs.items[f];
        map_put(&u->index, map_key(func))->num = f;
        u->values[f] = arena_array(u->arena, Origin, func->insts.len);
        u->results[f] = new_origin(u, func->result);
        for (Ref r = 1; r < func->insts.len; r++)
            if (ir_inst(func, r)->op != OP_removed)
                u->values[f][r] = new_origin(u, ir_type(func, r));
    }
}

/* The parameters are themselves. */
static void mark_params(Usage *u, const int32_t *first, uint8_t *small) {
    const Func *entry = u->module->funcs.items[0];
    for (Ref r = 1; r < entry->insts.len; r++) {
        const Inst *param = ir_inst(entry, r);
        if (param->op != OP_param || param->imm >= entry->nparams) continue;
        if (param->sub & FLAG_SMALL) small[param->imm] |= ARG_SMALL;
        if (param->sub & FLAG_POSITIVE) small[param->imm] |= ARG_POSITIVE;
        if (param->sub & FLAG_INDEX) small[param->imm] |= ARG_INDEX;
        if (param->sub & FLAG_ALIKE) small[param->imm] |= ARG_ALIKE;
        int32_t at = first[param->imm], n = first[param->imm + 1] - at;
        if (!n) continue;
        const Origin *o = &u->values[0][r];
        for (int32_t i = 0; i < n; i++)
            bits_set(&o->sets[o->whole ? 0 : i], at + i);
    }
}

/* Every array of a layout, in order. */
static const uint8_t *set_usage(ValueLayout *layout, const uint8_t *arrays, uint8_t kept) {
    if (layout->kind == TY_ARRAY) layout->usage = *arrays++ | kept;
    if (layout->kind == TY_CLASS) return arrays;
    for (int32_t i = 0; i < layout->nitems; i++)
        arrays = set_usage((ValueLayout *)&layout->items[i], arrays, kept);
    return arrays;
}

/* Is an array part of the values? */
static bool holds_array(const Type *type) {
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (holds_array(type->items[i])) return true;
    return type->kind == TY_ARRAY;
}

/* A buffer of arrays, or an object of a class of the user's with a field that is one. */
static bool keeps_array(const Type *type) {
    for (int32_t i = 0; type_is_instance(type) && i < type->nitems; i++)
        if (holds_array(type->items[i])) return true;
    return type->kind == TY_ARRAY && holds_array(type->element);
}

/* ARG_KEPT: there are buffers of arrays, and so containers that an argument may be put into. */
static uint8_t keeps_arrays(const Module *module) {
    for (int32_t f = 0; f < module->funcs.len; f++) {
        const Func *func = module->funcs.items[f];
        for (Ref ref = 1; ref < func->insts.len; ref++) {
            const Type *type = ir_type(func, ref);
            if (type && keeps_array(type)) return ARG_KEPT;
        }
    }
    return 0;
}

/* -- changes of objects ----------------------------------------------------------------------- */

/* Is `part` the type itself, or does it stand in it? */
static bool holds_type(const Type *type, const Type *part) {
    if (type == part) return true;
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (holds_type(type->items[i], part)) return true;
    for (int32_t i = 0; i < type->nparams; i++)
        if (holds_type(type->params[i], part)) return true;
    return false;
}

/* The object type that an instruction changes objects of: NULL, or it, or (buffer) the type of a buffer of one. */
static const Type *changed_by(const Func *func, Ref ref, bool *buffer) {
    const Inst *inst = ir_inst(func, ref);
    *buffer = inst->op != OP_set_field && inst->op != OP_grow;
    switch ((int)inst->op) {
    case OP_set_field:
    case OP_grow:
    case OP_take:
    case OP_move: return ir_type(func, ir_arg(func, ref, 0));
    case OP_store: {
        const Inst *array = ir_inst(func, ir_arg(func, ref, 0));
        return array->op == OP_field ? array->type : NULL;
    }
    default: return NULL;
    }
}

static bool may_change(const Type *type, const Type *changed, bool buffer) {
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++)
            if (may_change(type->items[i], changed, buffer)) return true;
        return false;
    }
    if (type->kind != TY_CLASS) return false;
    if (type->shared || type->bits == CLS_bytearray)
        return true; /* whatever is behind it; its buffer tells nothing of whose it is */
    if (!buffer && holds_type(type, changed)) return true;
    for (int32_t i = 0; i < type->nparams; i++)
        if ((buffer && type->params[i] == changed->element) ||
            may_change(type->params[i], changed, buffer))
            return true;
    return false;
}

static void mark_changed(ValueLayout *layout) {
    layout->changed = layout->kind == TY_CLASS;
    for (int32_t i = 0; i < layout->nitems; i++)
        mark_changed((ValueLayout *)&layout->items[i]);
}

/* By types alone: which objects they are is not followed. */
static void find_changes(const Module *module, ValueLayout *params) {
    const Func *entry = module->funcs.items[0];
    bool counted = false;
    for (int32_t i = 0; i < entry->nparams; i++)
        counted = counted || entry->param_types[i]->counted;
    for (int32_t f = 0; counted && f < module->funcs.len; f++) {
        const Func *func = module->funcs.items[f];
        for (Ref ref = 1; ref < func->insts.len; ref++) {
            bool buffer;
            const Type *changed = changed_by(func, ref, &buffer);
            for (int32_t i = 0; changed && i < entry->nparams; i++)
                if (entry->param_types[i]->counted &&
                    may_change(entry->param_types[i], changed, buffer))
                    mark_changed(&params[i]);
        }
    }
}

static void follow_arrays(Usage *u) {
    do {
        u->changed = false;
        for (int32_t f = 0; f < u->module->funcs.len; f++)
            for (Ref r = 1; r < u->module->funcs.items[f]->insts.len; r++)
                visit(u, f, r);
    } while (u->changed);
    /* returning an argument lets the caller write through the result */
    access(u, &u->results[0], ARG_READ | ARG_WRITTEN);
}

uint8_t *abi_usage(Arena *arena, const Module *module, ValueLayout *params, uint8_t *usage) {
    const Func *entry = module->funcs.items[0];
    int32_t *first = arena_array(arena, int32_t, entry->nparams + 1);
    for (int32_t i = 0; i < entry->nparams; i++)
        first[i + 1] = first[i] + abi_arrays(entry->param_types[i]);
    Usage u = {.module = module, .arena = arena, .narrays = first[entry->nparams]};
    u.out = arena_array(arena, uint8_t, u.narrays + 1);
    memset(usage, 0, (size_t)entry->nparams);
    if (u.narrays) start_usage(&u);
    mark_params(&u, first, usage);
    if (u.narrays) follow_arrays(&u);
    const uint8_t *arrays = u.out;
    uint8_t kept = u.narrays ? keeps_arrays(module) : 0;
    find_changes(module, params);
    for (int32_t i = 0; i < entry->nparams; i++) {
        arrays = set_usage(&params[i], arrays, kept);
        for (int32_t k = first[i]; k < first[i + 1]; k++)
            usage[i] |= u.out[k];
    }
    return u.out;
}
