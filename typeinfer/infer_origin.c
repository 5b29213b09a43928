/* infer_origin.c - where a container comes from that is not made in sight.
 *
 * What is put into a container says what it holds, and so says what holds the container: after `for k, row in enumerate(rows)`,
 * row.append(True) makes `rows` a list of lists of bools. The way goes back from a value to what it was taken out of (an index, a tuple,
 * a walk, a view of a dict, a copy) until there is a place that makes containers in this function, or a parameter: then callers are told. */
#include "typeinfer/infer_made.h"

static bool is_one_of(Str name, const char *const *names) {
    for (; *names; names++)
        if (str_is(name, *names)) return true;
    return false;
}

/* The object of a method that `call` calls, and its name; NO_REF: it is no such call. */
static Ref called_on(Infer *in, Ref call, Str *name) {
    Ref object;
    const Inst *inst = ir_inst(in->f, call);
    bool method = inst->op == OP_call_py && v_attr_parts(in, ir_arg(in->f, call, 0), &object, name);
    return method ? object : NO_REF;
}

/* The function of Python's that `call` calls; an empty text: it is no such call. */
static Str called_builtin(const Infer *in, Ref call) {
    const Inst *inst = ir_inst(in->f, call);
    const Binding *b =
        inst->op == OP_call_py ? fact_object(&in->facts[ir_arg(in->f, call, 0)]) : NULL;
    return b && b->kind == BIND_LIBRARY && inst->nargs > 1 ? b->name : (Str){0};
}

/* -- back from a value --------------------------------------------------------------------------- */

/* On the way back: what the value is of, how far it may go, and whether it led anywhere. */
typedef struct Way {
    const Type *type;
    int steps;
    bool *found;
} Way;

static Way way_of(const Way *w, const Type *type) {
    return (Way){type, w->steps - 1, w->found};
}

static bool arrive(Infer *in, Ref ref, const Way *w) {
    return container_told(in, ref, w->type, w->steps - 1, w->found);
}

/* `container` keeps it where it keeps what is asked of it: among its elements, or the values of a dict. */
static bool stored_in(Infer *in, Ref container, const Way *w) {
    const Type *outer = in->facts[container].type, *params[2] = {0};
    bool list = type_is_list(outer) || type_is_of(outer, CLS_deque);
    if (!list && !type_is_of(outer, CLS_dict)) return true;
    params[outer->nparams - 1] = w->type;
    Way way = way_of(w, container_like(in, outer, params));
    return arrive(in, container, &way);
}

/* It is item number k of `whole`. */
static bool item_of(Infer *in, Ref whole, int64_t k, const Way *w) {
    const Type *outer = in->facts[whole].type;
    if (!outer || outer->kind != TY_TUPLE) return stored_in(in, whole, w);
    if (k < 0) k += outer->nitems;
    if (k < 0 || k >= outer->nitems) return true;
    const Type **items = arena_copy(in->arena, outer->items, sizeof *items * (size_t)outer->nitems);
    items[k] = w->type;
    Way way = way_of(w, type_tuple_like(in->types, outer, items));
    return arrive(in, whole, &way);
}

/* It is name number k of those that `whole` is unpacked to; one with a star is a list of what is left. */
static bool unpacked_of(Infer *in, Ref unpack, int64_t k, const Way *w) {
    const Inst *inst = ir_inst(in->f, unpack);
    Ref whole = ir_arg(in->f, unpack, 0);
    const Type *outer = in->facts[whole].type;
    if (inst->sub != FLAG_STARRED) return item_of(in, whole, k, w);
    if (!type_is_list(outer)) return true;
    return k == ir_before_star(inst->imm) ? arrive(in, whole, w) : stored_in(in, whole, w);
}

static bool given_by(Infer *in, Ref over, const Way *w);

/* zip(a, b) gives tuples of what `a` and `b` give. */
static bool given_by_each(Infer *in, Ref zip, const Way *w) {
    for (int32_t k = 0; k < w->type->nitems && k + 1 < ir_inst(in->f, zip)->nargs; k++) {
        Way way = way_of(w, w->type->items[k]);
        if (way.type->kind >= TY_SCALARS && !given_by(in, ir_arg(in->f, zip, 1 + k), &way))
            return false;
    }
    return true;
}

/* Of a tuple, whose items are then all like it. */
static bool given_by_tuple(Infer *in, Ref tuple, const Way *w) {
    const Type *outer = in->facts[tuple].type;
    const Type **items = arena_array(in->arena, const Type *, outer->nitems);
    for (int32_t k = 0; k < outer->nitems; k++) {
        if (outer->items[k]->kind != w->type->kind) return true;
        items[k] = w->type;
    }
    Way way = way_of(w, type_tuple_like(in->types, outer, items));
    return arrive(in, tuple, &way);
}

/* It is what a walk over `over` gives. */
static bool given_by(Infer *in, Ref over, const Way *w) {
    static const char *const same[] = {"builtins.iter", "builtins.reversed", NULL};
    bool tuple = w->type->kind == TY_TUPLE, pair = tuple && w->type->nitems == 2;
    Str method = {0}, builtin = called_builtin(in, over);
    Ref object = called_on(in, over, &method);
    Way second = way_of(w, pair ? w->type->items[1] : NULL), way = way_of(w, w->type);
    if (w->steps <= 0) return true;
    if (object && str_is(method, "values")) return stored_in(in, object, w);
    if (object && str_is(method, "items")) return !pair || stored_in(in, object, &second);
    if (is_one_of(builtin, same)) return given_by(in, ir_arg(in->f, over, 1), &way);
    if (str_is(builtin, "builtins.enumerate"))
        return !pair || given_by(in, ir_arg(in->f, over, 1), &second);
    if (str_is(builtin, "builtins.zip")) return !tuple || given_by_each(in, over, w);
    const Type *outer = in->facts[over].type;
    if (outer && outer->kind == TY_TUPLE) return given_by_tuple(in, over, w);
    return type_is_of(outer, CLS_dict) || stored_in(in, over, w);
}

static bool told_by_index(Infer *in, Ref ref, const Way *w) {
    Ref from = ir_arg(in->f, ref, 0);
    const Fact *index = &in->facts[ir_arg(in->f, ref, 1)];
    const Type *outer = in->facts[from].type;
    if (!index->type || !outer) return true;
    if (index->type->kind == TY_SLICE) return outer != w->type ? arrive(in, from, w) : true;
    if (outer->kind != TY_TUPLE) return stored_in(in, from, w);
    return !index->value || index->value->kind != CONST_INT ||
           item_of(in, from, index->value->i, w);
}

static bool told_by_call(Infer *in, Ref ref, const Way *w) {
    static const char *const gets[] = {"get", "pop", "popleft", "setdefault", NULL};
    static const char *const copies[] = {"builtins.list", "builtins.sorted", NULL};
    Str method = {0}, builtin = called_builtin(in, ref);
    Ref object = called_on(in, ref, &method);
    if (object && is_one_of(method, gets)) return stored_in(in, object, w);
    if (object && str_is(method, "copy")) return arrive(in, object, w);
    if (object && str_is(method, "popitem") && w->type->kind == TY_TUPLE) {
        Way value = way_of(w, w->type->items[w->type->nitems - 1]);
        return stored_in(in, object, &value);
    }
    if (str_is(builtin, "builtins.next")) return given_by(in, ir_arg(in->f, ref, 1), w);
    if (!is_one_of(builtin, copies) || !type_is_list(w->type)) return true;
    Way way = way_of(w, w->type->params[0]);
    return given_by(in, ir_arg(in->f, ref, 1), &way);
}

bool origin_told(Infer *in, Ref ref, const Type *type, int steps, bool *found) {
    const Inst *inst = ir_inst(in->f, ref);
    Ref from = inst->nargs ? ir_arg(in->f, ref, 0) : NO_REF;
    Way way = {type, steps, found}, shorter = {type, steps - 1, found};
    switch ((int)inst->op) {
    case OP_getitem: return told_by_index(in, ref, &way);
    case OP_call_py: return told_by_call(in, ref, &way);
    case OP_extract:
        return ir_inst(in->f, from)->op != OP_unpack || unpacked_of(in, from, inst->imm, &way);
    case OP_iter_get:
        from = ir_arg(in->f, from, 0);
        return ir_inst(in->f, from)->op != OP_iter || given_by(in, ir_arg(in->f, from, 0), &way);
    case OP_binary: /* [[]] * n */
        for (int32_t k = 0; inst->sub == OPR_mul && k < inst->nargs; k++)
            if (type_is_list(in->facts[ir_arg(in->f, ref, k)].type) &&
                !arrive(in, ir_arg(in->f, ref, k), &way))
                return false;
        return true;
    case OP_phi: /* those of loops lead back to themselves */
    case OP_check_bound:
        for (int32_t k = 0; k < inst->nargs; k++)
            if (!arrive(in, ir_arg(in->f, ref, k), &shorter)) return false;
        return true;
    default: return true;
    }
}

/* -- back to a caller ---------------------------------------------------------------------------- */

/* The parameter or closure variable of this function that the value is, or -1. */
static int32_t slot_of(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_param) return inst->imm < in->inst->nslots ? (int32_t)inst->imm : -1;
    const NestedFunction *own = ti_nested(in->ti, in->inst->function);
    if (inst->op != OP_freevar) return -1;
    if (!own) /* of a comprehension, or of a function that Python made, which has no such slot */
        return instance_nslots(in->inst->info->code) + (int32_t)inst->imm;
    for (int32_t k = 0; k < own->nvariables; k++)
        if (str_equal(own->variables[k], *inst->u.name))
            return instance_nslots(in->inst->info->code) + own->ndefaults + k;
    return -1;
}

/* It was given to the function: whoever calls that is told. */
void origin_wants(Infer *in, Ref ref, const Type *type) {
    Instance *inst = in->inst;
    int32_t slot = slot_of(in, ref);
    if (slot < 0 || slot >= inst->nslots || !inst->slots[slot].fact.type ||
        inst->slots[slot].fact.type->kind != type->kind)
        return;
    if (!inst->wants) inst->wants = arena_array(in->arena, const Type *, inst->nslots);
    const Type *both = container_join(in, inst->wants[slot], type);
    if (both) inst->wants[slot] = both;
}

/* Where a variable of a closure that was made here comes from. */
static Ref taken_from(const Infer *in, const Val *closure, int32_t k) {
    const Inst *made = closure && closure->src ? ir_inst(in->f, closure->src) : NULL;
    while (made && made->op == OP_check_bound && made->nargs == 1)
        made = ir_inst(in->f, ir_arg(in->f, closure->src, 0));
    return made && made->op == OP_function && k < made->nargs ? ir_args(in->f, closure->src)[k]
                                                              : NO_REF;
}

bool container_wanted(Infer *in, const Instance *callee, const Val *values, const Val *closure) {
    int32_t more = closure ? callee->nslots - closure->f.type->nitems : callee->nslots;
    for (int32_t i = 0; callee->wants && !in->emit && i < callee->nslots; i++) {
        const Type *type = values[i].f.type, *wanted = callee->wants[i];
        Ref src = i < more ? values[i].src : taken_from(in, closure, i - more);
        bool found = false;
        if (wanted && src && type && type->open &&
            !container_told(in, src, wanted, ORIGIN_STEPS, &found))
            return false;
    }
    return true;
}
