/* infer_origin.c - where a container comes from that is not made in sight.
 *
 * What is put into a container says what it holds, and so says what holds the container: after `for k, row in enumerate(rows)`,
 * row.append(True) makes `rows` a list of lists of bools. The way goes back from a value to what it was taken out of (an index, a tuple,
 * a walk, a view of a dict, a copy) until there is a place that makes containers in this function, or a parameter: then callers are told. */
#include "typeinfer/infer_made.h"

static const struct {
    const char *name;
    Gives gives;
} calls[] = {
    {"Counter.subtract", GIVES_NONE},
    {"Counter.update", GIVES_NONE},
    {"bisect.insort_left", GIVES_NONE},
    {"bisect.insort_right", GIVES_NONE},
    {"deque.__limit__", GIVES_NONE},
    {"deque.__setitem__", GIVES_NONE},
    {"deque.append", GIVES_NONE},
    {"deque.appendleft", GIVES_NONE},
    {"deque.clear", GIVES_NONE},
    {"deque.extend", GIVES_NONE},
    {"deque.extendleft", GIVES_NONE},
    {"deque.insert", GIVES_NONE},
    {"dict.__setitem__", GIVES_NONE},
    {"dict.clear", GIVES_NONE},
    {"dict.update", GIVES_NONE},
    {"heapq.heapify", GIVES_NONE},
    {"heapq.heappush", GIVES_NONE},
    {"list.__setitem__", GIVES_NONE},
    {"list.append", GIVES_NONE},
    {"list.clear", GIVES_NONE},
    {"list.extend", GIVES_NONE},
    {"list.insert", GIVES_NONE},
    {"list.reverse", GIVES_NONE},
    {"list.sort", GIVES_NONE},
    {"set.add", GIVES_NONE},
    {"set.clear", GIVES_NONE},
    {"set.discard", GIVES_NONE},
    {"set.remove", GIVES_NONE},
    {"set.update", GIVES_NONE},
    {"deque.__iadd__", GIVES_ITSELF},
    {"dict.__ior__", GIVES_ITSELF},
    {"list.__iadd__", GIVES_ITSELF},
    {"list.__imul__", GIVES_ITSELF},
    {"set.__iand__", GIVES_ITSELF},
    {"set.__ior__", GIVES_ITSELF},
    {"set.__isub__", GIVES_ITSELF},
    {"set.__ixor__", GIVES_ITSELF},
    {"deque.copy", GIVES_COPY},
    {"dict.copy", GIVES_COPY},
    {"list.copy", GIVES_COPY},
    {"builtins.list", GIVES_LIST},
    {"builtins.sorted", GIVES_LIST},
    {"deque.pop", GIVES_STORED},
    {"deque.popleft", GIVES_STORED},
    {"dict.pop", GIVES_STORED},
    {"dict.setdefault", GIVES_STORED},
    {"list.pop", GIVES_STORED},
    {"dict.get", GIVES_STORED_OR},
    {"OrderedDict.popitem", GIVES_PAIR},
    {"dict.popitem", GIVES_PAIR},
    {"builtins.next", GIVES_NEXT},
    {"builtins.iter", GIVES_WALK},
    {"builtins.reversed", GIVES_WALK},
    {"dict.keys", GIVES_KEYS},
    {"dict.values", GIVES_VALUES},
    {"dict.items", GIVES_PAIRS},
    {"builtins.enumerate", GIVES_NUMBERED},
    {"builtins.zip", GIVES_EACH},
    {"builtins.len", GIVES_LENGTH},
};

Gives container_gives(Str name) {
    for (int i = 0; i < countof(calls); i++)
        if (str_is(name, calls[i].name)) return calls[i].gives;
    return GIVES_OTHER;
}

/* What `call` gives of the container *from, that it is a method of or is given. */
static Gives call_gives(Infer *in, Ref call, Ref *from) {
    const Inst *inst = ir_inst(in->f, call);
    const Binding *b =
        inst->op == OP_call_py ? fact_object(&in->facts[ir_arg(in->f, call, 0)]) : NULL;
    Str method;
    if (!b || b->kind != BIND_LIBRARY) return GIVES_OTHER;
    if (v_attr_parts(in, ir_arg(in->f, call, 0), from, &method)) return container_gives(b->name);
    *from = inst->nargs > 1 ? ir_arg(in->f, call, 1) : NO_REF;
    return *from ? container_gives(b->name) : GIVES_OTHER;
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
    bool tuple = w->type->kind == TY_TUPLE, pair = tuple && w->type->nitems == 2;
    Way second = way_of(w, pair ? w->type->items[1] : NULL), way = way_of(w, w->type);
    Ref from = NO_REF;
    if (w->steps <= 0) return true;
    switch (call_gives(in, over, &from)) {
    case GIVES_VALUES: return stored_in(in, from, w);
    case GIVES_PAIRS: return !pair || stored_in(in, from, &second);
    case GIVES_WALK: return given_by(in, from, &way);
    case GIVES_NUMBERED: return !pair || given_by(in, from, &second);
    case GIVES_EACH: return !tuple || given_by_each(in, over, w);
    default: break;
    }
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
    Ref from = NO_REF;
    bool tuple = w->type->kind == TY_TUPLE, list = type_is_list(w->type);
    int32_t n = tuple ? w->type->nitems : 0;
    Way value = way_of(w, tuple && n ? w->type->items[n - 1] : NULL);
    Way item = way_of(w, list ? w->type->params[0] : NULL);
    switch (call_gives(in, ref, &from)) {
    case GIVES_STORED:
    case GIVES_STORED_OR: return stored_in(in, from, w);
    case GIVES_COPY: return arrive(in, from, w);
    case GIVES_PAIR: return !n || stored_in(in, from, &value);
    case GIVES_NEXT: return given_by(in, from, w);
    case GIVES_LIST: return !list || given_by(in, from, &item);
    default: return true;
    }
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
