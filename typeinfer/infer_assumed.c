/* infer_assumed.c - containers of which nothing says what they hold, until something is put in by a way that nobody can follow back.
 *
 * When all else is known, an element type that nobody has named is taken for a Python int. As long as that may be wrong, it is an
 * int with a number (type_assumed): list(int#3). It goes wherever the container goes, through calls, generators, comprehensions and
 * tuples, and where something else is put into a container of int#3, or two containers meet that must be of one type, that says what
 * #3 is. Then all of inference begins again, and the place that made the container begins with what was learned; what has learned
 * nothing is an int. What is computed of it, an int as well, says nothing in this round. Code is made by a round without such types. No
 * value of an assumed type exists: nothing was ever put in. */
#include "typeinfer/infer_made.h"
#include "frontend/base/hash.h"

/* More are ints at once, so that what makes ever more types comes to its end. */
enum { MOST_ASSUMED = 400, ROUNDS_OF_ASSUMING = 20 };

/* In later rounds what is computed of them says that it is an int: of a chain of lists, each computed of the one before, each would take a round. */
enum { ROUNDS_OF_FOLLOWING = 6 };

/* A parameter of the containers of one web, in one instance of its function. */
struct Assumed {
    const void *code; /* the handle of its function: the same each time that inference begins */
    const Slot *slots;
    int32_t nslots;
    AssumedAt at;
    int32_t same;        /* another one that it must be, or itself */
    const Type *learned; /* by the round that runs; NULL: nothing */
    const Type *settled; /* by an earlier one; what is unknown in it is assumed in turn */
    const Type *python_int;
    bool shared; /* by all calls of its function */
    bool asked;  /* in the round that runs */
    bool resolving;
};

/* The same in another round, in which instances, and with them the types of generators, are others. */
static bool same_type(const Type *a, const Type *b) {
    if (a == b || !a || !b) return a == b;
    if (a->kind != b->kind || a->bits != b->bits || a->nitems != b->nitems ||
        a->nparams != b->nparams || type_is_instance(a))
        return false;
    if (type_is_generator(a)) {
        const Instance *x = generator_instance(a), *y = generator_instance(b);
        bool same = x->info->code->handle == y->info->code->handle && x->nslots == y->nslots;
        for (int32_t i = 0; same && i < x->nslots; i++)
            same = same_type(x->slots[i].fact.type, y->slots[i].fact.type);
        return same;
    }
    bool any = a->element != NULL;
    if (any && !same_type(a->element, b->element)) return false;
    for (int32_t k = 0; k < a->nparams; k++, any = true)
        if (!same_type(a->params[k], b->params[k])) return false;
    for (int32_t k = 0; a->kind != TY_CLASS && k < a->nitems; k++, any = true)
        if (!same_type(a->items[k], b->items[k])) return false;
    return any && a->binding == b->binding;
}

static bool same_place(const Assumed *a, const Instance *inst, const AssumedAt *at) {
    if (a->code != inst->info->code->handle || a->at.web != at->web || a->at.param != at->param ||
        a->at.path != at->path || a->nslots != inst->nslots)
        return false;
    for (int32_t i = 0; i < inst->nslots; i++)
        if (!fact_equal(&a->slots[i].fact, &inst->slots[i].fact) &&
            !same_type(a->slots[i].fact.type, inst->slots[i].fact.type))
            return false;
    return true;
}

static const Type *assume(Infer *in, const AssumedAt *at) {
    AssumedPlaces *all = in->ti->assumed;
    const Type *python_int = ti_wint(in);
    int32_t k = 0;
    while (k < all->len && !same_place(all->items[k], in->inst, at))
        k++;
    if (k >= MOST_ASSUMED || (k == all->len && in->ti->rounds > ROUNDS_OF_ASSUMING))
        return python_int;
    if (k == all->len) {
        Assumed *a = arena_new(in->arena, Assumed);
        *a = (Assumed){.code = in->inst->info->code->handle,
                       .slots = in->inst->slots,
                       .nslots = in->inst->nslots,
                       .at = *at,
                       .same = k,
                       .python_int = python_int};
        vec_push(in->arena, all, a);
    }
    Assumed *a = all->items[k];
    if (a->settled) return a->settled;
    a->shared |= in->inst->depth > 1 || in->inst->recursive;
    a->asked = true;
    return type_assumed(in->types, python_int->kind, k + 1);
}

static AssumedAt inside(const AssumedAt *at, int32_t k) {
    AssumedAt part = *at;
    part.path = hash_mix(at->path * 31 + (uint64_t)k + 1);
    return part;
}

const Type *assumed_type(Infer *in, const Type *type, const AssumedAt *at) {
    if (!type || type->kind == TY_UNKNOWN) {
        AssumedAt more = inside(at, 0);
        const Type *assumed = assume(in, at);
        return assumed->open ? assumed_type(in, assumed, &more) : assumed;
    }
    bool tuple = type->kind == TY_TUPLE, cls = type->kind == TY_CLASS && type->nparams <= 2;
    if (!type->open || (!tuple && !cls)) return type;
    int32_t n = tuple ? type->nitems : type->nparams;
    const Type **parts = arena_array(in->arena, const Type *, n);
    for (int32_t k = 0; k < n; k++) {
        AssumedAt part = inside(at, k);
        parts[k] = assumed_type(in, tuple ? type->items[k] : type->params[k], &part);
    }
    return tuple ? type_tuple_like(in->types, type, parts) : container_like(in, type, parts);
}

/* -- what is learned ------------------------------------------------------------------------------ */

static int32_t root_of(const AssumedPlaces *all, int32_t k) {
    while (all->items[k]->same != k)
        k = all->items[k]->same;
    return k;
}

static bool holds(const AssumedPlaces *all, const Type *type, int32_t root) {
    if (!type->assumed || type_is_instance(type)) return false;
    if (type_follows_assumed(type)) return false;
    if (type_is_assumed(type)) return root_of(all, (int32_t)type->bits - 1) == root;
    if (type->element && holds(all, type->element, root)) return true;
    for (int32_t k = 0; k < type->nparams; k++)
        if (holds(all, type->params[k], root)) return true;
    for (int32_t k = 0; type->kind != TY_CLASS && k < type->nitems; k++)
        if (holds(all, type->items[k], root)) return true;
    return false;
}

/* Each call of a function may want numbers of its own of what it gives back empty: [0.5] + empty(n) and [n] + empty(n). An int, as
 * if nothing were known, may be added to either; a float would make one of them what it is not. */
static const Type *learned_both(Infer *in, const Assumed *place, const Type *type) {
    const Type *known = place->learned;
    if (!known || known == type) return type;
    return place->shared && type_is_number(known) && type_is_number(type)
               ? place->python_int
               : container_join(in, known, type);
}

static void learn(Infer *in, const Type *assumed, const Type *type) {
    AssumedPlaces *all = in->ti->assumed;
    if (type_follows_assumed(assumed) || type_follows_assumed(type)) return;
    int32_t a = root_of(all, (int32_t)assumed->bits - 1), b;
    if (type_is_assumed(type)) {
        b = root_of(all, (int32_t)type->bits - 1);
        if (a == b) return;
        const Type *other = all->items[b]->learned;
        all->items[b]->same = a;
        if (!other) return;
        type = other;
    }
    if (type->kind == TY_UNKNOWN) return;
    if (holds(all, type, a)) return;
    const Type *both = learned_both(in, all->items[a], type);
    if (both) all->items[a]->learned = both;
}

static bool is_assumed_operand(const Infer *in, Ref arg) {
    const Type *type = in->facts[arg].type;
    return type && type->assumed;
}

/* Functions of the user say themselves what they give; others may give what they were given, as max() does. */
static bool computes(const Infer *in, Ref ref, const Type *out) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_attr || inst->op == OP_unary || inst->op == OP_binary) return true;
    if (inst->op != OP_call_py || type_is_assumed(out)) return false;
    const Type *callee = in->facts[ir_arg(in->f, ref, 0)].type;
    return callee && callee->binding && callee->binding->kind != BIND_FUNCTION;
}

void assumed_follows(Infer *in, Ref ref, Fact *f) {
    const Inst *inst = ir_inst(in->f, ref);
    const Type *type = f->type;
    if (!in->ti->assumed->len || in->ti->rounds > ROUNDS_OF_FOLLOWING || in->inst->library) return;
    if (!type || type->kind != ti_wint(in)->kind || !computes(in, ref, type)) return;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (is_assumed_operand(in, ir_arg(in->f, ref, k))) {
            *f = fact_of(type_assumed(in->types, type->kind, ASSUMED_OF_ASSUMED));
            return;
        }
}

void assumed_is(Infer *in, const Type *a, const Type *b) {
    if (!a || !b || a == b || in->emit || !(a->assumed || b->assumed)) return;
    if (type_is_assumed(a)) {
        learn(in, a, b);
    } else if (type_is_assumed(b)) {
        learn(in, b, a);
    } else if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) {
        assumed_is(in, a->kind == TY_OPTIONAL ? a->element : a,
                   b->kind == TY_OPTIONAL ? b->element : b);
    } else if (a->kind == TY_TUPLE && b->kind == TY_TUPLE && a->nitems == b->nitems) {
        for (int32_t k = 0; k < a->nitems; k++)
            assumed_is(in, a->items[k], b->items[k]);
    } else {
        assumed_meets(in, a, b);
    }
}

void assumed_meets(Infer *in, const Type *a, const Type *b) {
    if (!a || !b || a == b || in->emit || !(a->assumed || b->assumed)) return;
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) {
        assumed_meets(in, a->kind == TY_OPTIONAL ? a->element : a,
                      b->kind == TY_OPTIONAL ? b->element : b);
        return;
    }
    if (a->kind != b->kind || type_is_instance(a)) return;
    if (a->kind == TY_CELL) assumed_is(in, a->element, b->element);
    for (int32_t k = 0; a->kind == TY_TUPLE && a->nitems == b->nitems && k < a->nitems; k++)
        assumed_meets(in, a->items[k], b->items[k]);
    bool same = a->kind == TY_CLASS && a->bits == b->bits && a->nparams == b->nparams;
    for (int32_t p = 0; same && p < a->nparams; p++)
        assumed_is(in, a->params[p], b->params[p]);
}

/* -- the next round ------------------------------------------------------------------------------- */

static const Type *resolved(Ti *ti, const Type *type);

/* What was learned; of nobody knows what where that was nothing. */
static const Type *known_of(Ti *ti, int32_t k) {
    Assumed *a = ti->assumed->items[root_of(ti->assumed, k)];
    if (!a->learned || a->learned->kind == TY_none || a->resolving) return type_unknown(ti->types);
    a->resolving = true;
    const Type *type = resolved(ti, a->learned);
    a->resolving = false;
    return type;
}

/* Without assumed types. */
static const Type *resolved(Ti *ti, const Type *type) {
    if (!type->assumed) return type;
    if (type_follows_assumed(type)) return type_unknown(ti->types);
    if (type_is_assumed(type)) return known_of(ti, (int32_t)type->bits - 1);
    if (type->kind == TY_OPTIONAL) return type_optional(ti->types, resolved(ti, type->element));
    bool tuple = type->kind == TY_TUPLE, cls = type->kind == TY_CLASS;
    int32_t n = tuple ? type->nitems : cls ? type->nparams : 0;
    const Type **parts = arena_array(ti->arena, const Type *, n + 1);
    for (int32_t k = 0; k < n; k++)
        parts[k] = resolved(ti, tuple ? type->items[k] : type->params[k]);
    if (tuple) return type_tuple_like(ti->types, type, parts);
    return cls ? type_class_like(ti->types, type, parts) : type_unknown(ti->types);
}

/* None alone says nothing of what else may be there. */
static const Type *int_of(Ti *ti, int32_t k) {
    const Assumed *a = ti->assumed->items[k];
    const Type *learned = ti->assumed->items[root_of(ti->assumed, k)]->learned;
    bool none = learned && learned->kind == TY_none;
    return none ? type_optional(ti->types, a->python_int) : a->python_int;
}

static bool settle(Ti *ti, bool as_ints) {
    bool any = false;
    for (int32_t k = 0; k < ti->assumed->len; k++) {
        Assumed *a = ti->assumed->items[k];
        if (!a->asked || a->settled) continue;
        const Type *known = as_ints ? int_of(ti, k) : known_of(ti, k);
        if (known->kind == TY_UNKNOWN) continue;
        a->settled = known;
        any = true;
    }
    return any;
}

bool assumed_any(const Ti *ti) {
    for (int32_t k = 0; k < ti->assumed->len; k++)
        if (ti->assumed->items[k]->asked && !ti->assumed->items[k]->settled) return true;
    return false;
}

/* As long as something is learned, what is not may be yet. */
bool assumed_settle(Ti *ti) {
    return settle(ti, false) || settle(ti, true);
}

void assumed_begin(Ti *ti) {
    for (int32_t k = 0; k < ti->assumed->len; k++) {
        Assumed *a = ti->assumed->items[k];
        a->asked = false;
        a->learned = NULL;
        a->same = k;
    }
}
