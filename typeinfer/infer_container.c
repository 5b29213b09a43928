/* infer_container.c - lists, dicts and sets: where they are made, and of what.
 *
 * A place that makes one is a *site*. Sites that meet in phis, or are returned by one function, make up one *web*: all its containers are
 * of one type; where displays of tuples meet, their items do. What their parameters are (elements; keys and values) is joined from the displays and from what is put into them, wherever
 * that stands: facts about them only ever go up. Elements that are containers themselves teach and are taught: after adj = [[]],
 * adj[0].append(1) says what the inner site makes. */
#include "typeinfer/infer_made.h"
#include "typeinfer/infer_variant.h"

enum { MOST_PARAMS = 2 };

/* -- webs ------------------------------------------------------------------------------------------ */

typedef struct Site {
    Ref ref;
    ClassId cls;
} Site;

typedef struct WebFacts {
    const Type *params[MOST_PARAMS]; /* NULL: nothing known yet */
    bool heap;                       /* it makes objects */
    bool shared;                     /* which Python holds, too: typed.List */
    bool fixed;                      /* the program says of what: typed.List.empty_list(int32) */
    const Type *like; /* a variant of the class, of unknown parameters; NULL: itself */
} WebFacts;

struct ContainerWebs {
    Ref *parent;     /* by untyped ref: in the same web */
    Ref *display;    /* by representative: a display of a tuple in the web */
    WebFacts *facts; /* by representative */
    Vec(Site) sites;
};

static Ref representative(ContainerWebs *w, Ref ref) {
    while (w->parent[ref] != ref)
        ref = w->parent[ref] = w->parent[w->parent[ref]];
    return ref;
}

static void unite(const Func *f, ContainerWebs *w, Ref a, Ref b) {
    a = representative(w, a), b = representative(w, b);
    if (a == b) return;
    Ref x = w->display[a], y = w->display[b], both = QN_MIN(a, b);
    w->parent[QN_MAX(a, b)] = both;
    w->display[both] = x ? x : y;
    int32_t n = x && y ? ir_inst(f, x)->nargs : 0;
    for (int32_t k = 0; k < n && n == ir_inst(f, y)->nargs; k++)
        unite(f, w, ir_arg(f, x, k), ir_arg(f, y, k));
}

/* What is read from a display of a tuple is its item: fs = ([], 0), fs[0].append(x). */
static Ref item_of_display(const Func *f, ContainerWebs *w, Ref ref) {
    const Inst *inst = ir_inst(f, ref);
    Ref from = inst->op == OP_getitem || inst->op == OP_extract ? ir_arg(f, ref, 0) : NO_REF;
    int64_t k = inst->imm;
    if (inst->op == OP_extract)
        from = ir_inst(f, from)->op == OP_unpack ? ir_arg(f, from, 0) : NO_REF;
    Ref display = from ? w->display[representative(w, from)] : NO_REF;
    if (!display) return NO_REF;
    int32_t n = ir_inst(f, display)->nargs;
    if (inst->op == OP_getitem) {
        const Inst *index = ir_inst(f, ir_arg(f, ref, 1));
        if (index->op != OP_const || index->u.value->kind != CONST_INT) return NO_REF;
        k = index->u.value->i;
    }
    if (k < 0) k += n;
    return k >= 0 && k < n ? ir_arg(f, display, (int32_t)k) : NO_REF;
}

static ContainerWebs *webs_of(Infer *in) {
    if (in->containers) return in->containers;
    ContainerWebs *w = in->containers = arena_new(in->arena, ContainerWebs);
    int32_t n = in->f->insts.len;
    Ref returned = NO_REF;
    w->parent = arena_array(in->arena, Ref, n);
    w->facts = arena_array(in->arena, WebFacts, n);
    w->display = arena_array(in->arena, Ref, n);
    for (Ref ref = 1; ref < n; ref++) {
        w->parent[ref] = ref;
        w->display[ref] = ir_inst(in->f, ref)->op == OP_build_tuple ? ref : NO_REF;
    }
    for (Ref ref = 1; ref < n; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        bool same = inst->op == OP_phi || inst->op == OP_check_bound || inst->op == OP_convert;
        for (int32_t k = 0; same && k < inst->nargs; k++)
            unite(in->f, w, ref, ir_arg(in->f, ref, k));
        bool cell = inst->op == OP_cell_get || inst->op == OP_make_cell || inst->op == OP_cell_set;
        for (int32_t k = 0; cell && k < inst->nargs; k++)
            unite(in->f, w, inst->op == OP_cell_set ? ir_arg(in->f, ref, 0) : ref,
                  ir_arg(in->f, ref, k));
        if (inst->op == OP_binary && inst->imm)
            unite(in->f, w, ref, ir_arg(in->f, ref, 0)); /* xs += ys */
        if (inst->op != OP_return) continue;
        if (returned) unite(in->f, w, returned, ir_arg(in->f, ref, 0));
        returned = ir_arg(in->f, ref, 0);
    }
    for (Ref ref = 1; ref < n; ref++) {
        Ref item = item_of_display(in->f, w, ref);
        if (item) unite(in->f, w, ref, item);
    }
    return w;
}

static WebFacts *facts_of(Infer *in, Ref ref) {
    return &in->containers->facts[representative(in->containers, ref)];
}

/* The web of a value that a site in this function may have made; NO_REF: it comes from elsewhere. */
static Ref web_with_site(Infer *in, Ref ref) {
    if (!ref || !in->containers) return NO_REF;
    ContainerWebs *w = in->containers;
    Ref web = representative(w, ref);
    for (int32_t i = 0; i < w->sites.len; i++)
        if (representative(w, w->sites.items[i].ref) == web) return web;
    return NO_REF;
}

/* What was returned of a type that is not the container's any more, or was an array of its elements. */
static void forget_result(Infer *in) {
    const Type *type = in->inst->returned.type;
    if (!type || (type->kind != TY_TUPLE && type->kind != TY_CLASS && type->kind != TY_ARRAY))
        return;
    in->inst->returned = (Fact){0};
    if (!in->inst->repeats) in->inst->result = (Fact){0};
    for (Ref ref = 1; ref < in->f->insts.len; ref++)
        if (ir_inst(in->f, ref)->op == OP_return) in->visited[ref] = -1;
}

static void visit_sites_again(Infer *in, Ref web) {
    ContainerWebs *w = in->containers;
    forget_result(in);
    for (int32_t i = 0; i < w->sites.len; i++)
        if (representative(w, w->sites.items[i].ref) == web)
            in->visited[w->sites.items[i].ref] = -1;
    in->clock++;
}

static void add_site(Infer *in, ClassId cls, Ref ref) {
    ContainerWebs *w = webs_of(in);
    facts_of(in, ref)->heap = true;
    for (int32_t i = 0; i < w->sites.len; i++)
        if (w->sites.items[i].ref == ref) return;
    Site site = {ref, cls};
    vec_push(in->arena, &w->sites, site);
}

/* Does anything follow from a display of the web being a tuple? */
static bool was_read(const Infer *in, ContainerWebs *w, Ref web) {
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        bool same = inst->op == OP_phi || inst->op == OP_check_bound || inst->op == OP_convert;
        if (same || !in->facts[ref].type) continue;
        for (int32_t k = 0; k < inst->nargs; k++)
            if (representative(w, ir_arg(in->f, ref, k)) == web) return true;
    }
    return false;
}

bool container_make_lists(Infer *in, Ref ref) {
    ContainerWebs *w = webs_of(in);
    Ref web = representative(w, ref);
    if (w->facts[web].heap) return false;
    bool read = !in->emit && was_read(in, w, web);
    for (Ref site = 1; site < in->f->insts.len; site++)
        if (ir_inst(in->f, site)->op == OP_build_list && representative(w, site) == web) {
            add_site(in, CLS_list, site);
            if (read && !ir_inst(in->f, site)->nargs) list_begins(in, site);
        }
    w->facts[web].heap = true;
    visit_sites_again(in, web);
    return true;
}

void container_begins(Infer *in, Ref site, const Type *list) {
    WebFacts *w = facts_of(in, site);
    if (!w->params[0]) w->params[0] = list->params[0];
}

bool list_is_object(Infer *in, Ref ref) {
    return in->containers && facts_of(in, ref)->heap;
}

/* -- types ----------------------------------------------------------------------------------------- */

bool type_is_of(const Type *type, ClassId cls) {
    return type && type->kind == TY_CLASS && type->bits == (uint32_t)cls;
}

bool type_is_list(const Type *type) {
    return type_is_of(type, CLS_list);
}

static const Type *container_type(Infer *in, ClassId cls, bool shared, const Type *const *params) {
    const Type *known[MOST_PARAMS];
    for (int32_t p = 0; p < type_class_nparams(cls); p++)
        known[p] = params[p] ? params[p] : type_unknown(in->types);
    const Type *type = type_class_of(in->types, cls, known);
    return shared ? type_shared(in->types, type) : type;
}

const Type *container_like(Infer *in, const Type *like, const Type *const *params) {
    const Type *type = container_type(in, (ClassId)like->bits, like->shared, params);
    return type_variant_like(in, type, like);
}

static const Type *web_type(Infer *in, ClassId cls, const WebFacts *w, const Type *const *params) {
    const Type *type = container_type(in, cls, w->shared, params);
    return w->like ? type_variant_like(in, type, w->like) : type;
}

/* A display in a tuple was seen as a tuple of its items before it became a list. */
static const Type *join_displays(Infer *in, const Type *a, const Type *b) {
    if (a->kind == TY_CLASS && b->kind == TY_TUPLE) return join_displays(in, b, a);
    if (a->kind != TY_TUPLE || a->fields) return NULL;
    if (type_is_list(b)) {
        const Type *item = b->params[0];
        for (int32_t i = 0; item && i < a->nitems; i++)
            item = container_join(in, item, a->items[i]);
        return item ? container_like(in, b, &item) : NULL;
    }
    if (b->kind != TY_TUPLE || b->fields || a->nitems != b->nitems) return NULL;
    const Type **items = arena_array(in->arena, const Type *, a->nitems);
    for (int32_t i = 0; i < a->nitems; i++)
        if (!(items[i] = container_join(in, a->items[i], b->items[i]))) return NULL;
    return type_tuple_like(in->types, a, items);
}

const Type *container_join(Infer *in, const Type *a, const Type *b) {
    if (!a || !b) return a ? a : b;
    assumed_meets(in, a, b);
    if (type_is_exception(a) && type_is_exception(b))
        return type_exceptions_joined(in->types, a, b);
    if (a->kind == TY_CLASS && b->kind == TY_CLASS && a->bits == b->bits && a->nparams &&
        a->nparams <= MOST_PARAMS && a->variant == b->variant && a->maker == b->maker &&
        a->function == b->function) {
        const Type *params[MOST_PARAMS] = {0};
        for (int32_t p = 0; p < a->nparams; p++)
            if (!(params[p] = container_join(in, a->params[p], b->params[p]))) return NULL;
        return container_like(in, a->shared ? a : b, params);
    }
    Fact x = fact_of(a), y = fact_of(b), both;
    return fact_join(in, &x, &y, &both) ? both.type : join_displays(in, a, b);
}

/* A place that takes no memory, as one of (), is none. */
static bool takes_memory(const Type *type) {
    return type->kind != TY_TUPLE || type->parts > 0;
}

static bool is_element(const Type *type);

static bool are_elements(const Type *tuple) {
    for (int32_t i = 0; i < tuple->nitems; i++) {
        const Type *item = tuple->items[i];
        if (!(item->kind == TY_TUPLE ? are_elements(item) : is_element(item))) return false;
    }
    return true;
}

static bool is_element(const Type *type) {
    if (type->kind == TY_TUPLE) return takes_memory(type) && are_elements(type);
    if (type->kind == TY_OPTIONAL) return is_element(type->element);
    return type_is_item(type) || type->kind == TY_CLASS || type->kind == TY_MEMBER ||
           type->kind == TY_ARRAY || type->kind == TY_CHOICE || type->kind == TY_UNKNOWN;
}

/* Members that are ints turn into them on the way, and are no keys. */
static bool is_plain_member(const Type *type) {
    return type->kind == TY_MEMBER && !type->binding->enumeration->ints;
}

/* What quern/library/tables.py can hash. */
static bool is_key(const Type *type) {
    if (type_is_frozen(type)) return is_key(type->params[0]);
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (!is_key(type->items[i])) return false;
    bool tuple = type->kind == TY_TUPLE && !type_is_random(type) && !type_is_keyed(type);
    return tuple || type_is_item(type) || type_is_fixed(type) || is_plain_member(type) ||
           type->kind == TY_UNKNOWN;
}

/* "a list of", "a dict with keys of" */
static const char *part_text(const Type *container, int32_t p) {
    if (type_is_of(container, CLS_deque)) return "a deque of";
    if (!type_is_of(container, CLS_dict)) return type_is_list(container) ? "a list of" : "a set of";
    return p ? "a dict with values of" : "a dict with keys of";
}

static bool hashes(const Type *container, int32_t p) {
    return p == 0 && !type_is_list(container) && !type_is_of(container, CLS_deque);
}

static bool is_part(const Type *container, int32_t p, const Type *type) {
    if (!hashes(container, p)) return is_element(type);
    return takes_memory(type) && is_key(type);
}

static bool not_an_element(Infer *in, const Type *container, int32_t p, const Type *type) {
    const char *part = part_text(container, p);
    if (!v_refuse_fresh(in, type)) return false;
    ti_fail(in, in->at, E0101, str_printf(in->arena, "%s %s", part, ti_text(in, type)).bytes);
    ti_advise(
        in,
        hashes(container, p)
            ? "keys of dicts and elements of sets are numbers, strings, bytes, and tuples, frozen "
              "dataclasses and frozensets of these"
            : "lists and dicts hold numbers, arrays, strings, lists, dicts, sets, and tuples "
              "of these");
    return false;
}

static bool mixed_elements(Infer *in, const Type *container, int32_t p, const Type *a,
                           const Type *b) {
    const char *part = part_text(container, p);
    ti_fail(in, in->at, E0206, str_printf(in->arena, "put into %s", part).bytes,
            str_printf(in->arena, "%s: %s", ti_text(in, a), ti_text(in, b)).bytes);
    return ti_advise(in, p ? "all values of a dict are of one type"
                         : hashes(container, p)
                             ? "all keys of a dict and all elements of a set are of one type"
                         : type_is_of(container, CLS_deque)
                             ? "all elements of a deque are of one type"
                             : "all elements of a list are of one type: a tuple holds several, "
                               "and so does a dataclass"),
           false;
}

/* -- teaching -------------------------------------------------------------------------------------- */

/* Numbers become elements of typed containers as they become elements of arrays, but no float an int, and nothing a bool. */
static bool becomes_element(const Type *from, const Type *to) {
    if (from->kind == TY_TUPLE && to->kind == TY_TUPLE && from->nitems == to->nitems) {
        for (int32_t i = 0; i < to->nitems; i++)
            if (!becomes_element(from->items[i], to->items[i])) return false;
        return true;
    }
    if (!type_is_number(from) || !type_is_number(to)) return false;
    TypeClass a = type_class(from), b = type_class(to);
    if (b == CLASS_BOOL || a == CLASS_CPX) return a == b;
    return b == CLASS_FLT || b == CLASS_CPX || a != CLASS_FLT;
}

/* The program has said what the elements are. */
static bool fits_fixed(Infer *in, const WebFacts *w, const Type *container,
                       const Type *const *params) {
    for (int32_t p = 0; p < container->nparams; p++)
        if (params[p] && !params[p]->open && !becomes_element(params[p], w->params[p]) &&
            !can_convert(params[p], w->params[p]))
            return mixed_elements(in, container, p, w->params[p], params[p]);
    return true;
}

static bool teach_web(Infer *in, Ref web, const Type *container, const Type *const *params) {
    WebFacts *w = &in->containers->facts[web];
    bool changed = false;
    if (w->fixed) return fits_fixed(in, w, container, params);
    for (int32_t p = 0; p < container->nparams; p++) {
        assumed_is(in, w->params[p], params[p]);
        const Type *both = container_join(in, w->params[p], params[p]);
        if (params[p] && !both) return mixed_elements(in, container, p, w->params[p], params[p]);
        changed |= both != w->params[p];
        w->params[p] = both;
    }
    if (changed) visit_sites_again(in, web);
    return true;
}

/* The number of a function says which it is in one choice alone. */
static bool holds_choice(const Type *type) {
    if (type->kind == TY_CHOICE) return true;
    if (type->kind == TY_OPTIONAL) return holds_choice(type->element);
    const Type *const *parts = type->kind == TY_CLASS ? type->params : type->items;
    int32_t n = type->kind == TY_CLASS ? type->nparams : type->kind == TY_TUPLE ? type->nitems : 0;
    for (int32_t i = 0; i < n; i++)
        if (holds_choice(parts[i])) return true;
    return false;
}

static bool same_at_run_time(Infer *in, const Type *a, const Type *b) {
    return a && b &&
           (a == b || (lower_type(in->ti, a) == lower_type(in->ti, b) && !holds_choice(a)));
}

/* Nothing more can be learned: what is put in is what the container is of. */
static bool fits(Infer *in, const Type *type, const Type *const *params) {
    for (int32_t p = 0; p < type->nparams; p++) {
        if (!params[p] || type->params[p]->open) continue;
        assumed_is(in, type->params[p], params[p]);
        const Type *both = container_join(in, type->params[p], params[p]);
        bool said = both && type->params[p]->assumed; /* and known when all begins again */
        if (!said && !(type->shared && becomes_element(params[p], type->params[p])) &&
            !same_at_run_time(in, both, type->params[p]))
            return mixed_elements(in, type, p, type->params[p], params[p]);
    }
    return true;
}

/* Elements of those types are put into the container. */
static bool teach(Infer *in, Ref ref, const Type *type, const Type *const *params, int steps) {
    Ref web = web_with_site(in, ref);
    if (web) return teach_web(in, web, type, params);
    if (ref && steps > 0 && !in->emit) {
        bool found = false;
        const Type *known = container_like(in, type, params);
        if (!origin_told(in, ref, known, steps, &found)) return false;
        if (found) return true;
    }
    if (ref && type->open && !in->emit) {
        const Type *known = container_like(in, type, params);
        origin_wants(in, ref, known);
        if (!cell_teach(in, ref, known)) return false;
    }
    return fits(in, type, params);
}

/* What is known of the parameters of a container; NULL for the others. */
static void known_params(const Type *type, const Type **params) {
    for (int32_t p = 0; p < type->nparams; p++)
        params[p] = type->params[p]->kind == TY_UNKNOWN ? NULL : type->params[p];
}

/* The display of a tuple that the value is, or NO_REF. */
static Ref display_of(Infer *in, Ref ref, const Type *type) {
    ContainerWebs *w = in->containers;
    Ref display = ref && w && type->kind == TY_TUPLE ? w->display[representative(w, ref)] : NO_REF;
    return display && ir_inst(in->f, display)->nargs == type->nitems ? display : NO_REF;
}

bool container_told(Infer *in, Ref ref, const Type *type, int steps, bool *found) {
    const Type *now = in->facts[ref].type, *params[MOST_PARAMS] = {0};
    if (!now || steps <= 0 || now->kind != type->kind) return true;
    if (now->kind == TY_CLASS) {
        if (now->bits != type->bits || !now->nparams || now->nparams > MOST_PARAMS) return true;
        known_params(type, params);
        *found = true;
        return now == type || teach(in, ref, now, params, steps);
    }
    if (now->kind != TY_TUPLE || now->nitems != type->nitems) return true;
    Ref display = display_of(in, ref, type);
    for (int32_t k = 0; display && k < type->nitems; k++)
        if (!container_told(in, ir_arg(in->f, display, k), type->items[k], steps - 1, found))
            return false;
    if (display) return true;
    if (!origin_told(in, ref, type, steps, found)) return false;
    if (*found || !now->open) return true;
    *found = true;
    return origin_wants(in, ref, type), true;
}

static void share_web(Infer *in, Ref web) {
    if (in->containers->facts[web].shared) return;
    in->containers->facts[web].shared = true;
    visit_sites_again(in, web);
}

/* Lists that are put into a list of floats hold floats, also in tuples. */
bool container_learns(Infer *in, const Type *element, Ref item) {
    Ref inner = web_with_site(in, item), display;
    const Type *params[MOST_PARAMS] = {0};
    bool any = false;
    for (int32_t k = 0; element && (display = display_of(in, item, element)) && k < element->nitems;
         k++)
        if (!container_learns(in, element->items[k], ir_arg(in->f, display, k))) return false;
    if (!element || element->kind != TY_CLASS || element->nparams > MOST_PARAMS) return true;
    if (!inner) {
        const Type *now = item ? in->facts[item].type : NULL;
        bool found = false, open = now && now->open && element->nparams;
        return !open || container_told(in, item, element, ORIGIN_STEPS, &found);
    }
    if (element->shared) share_web(in, inner);
    for (int32_t p = 0; p < element->nparams; p++)
        if (element->params[p]->kind != TY_UNKNOWN) params[p] = element->params[p], any = true;
    return !any || teach_web(in, inner, element, params);
}

/* -- results --------------------------------------------------------------------------------------- */

bool container_is_made(const Type *type) {
    return type && type->kind == TY_CLASS && type->nparams && type->nparams <= MOST_PARAMS &&
           !type->variant;
}

static bool is_open_container(const Type *type) {
    return container_is_made(type) && type->open;
}

const Type *container_left_open(Infer *in) {
    const Type *made = NULL;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        if (inst->op != OP_return || !in->reached[inst->block]) continue;
        const Type *type = in->facts[ir_arg(in->f, ref, 0)].type;
        if (!type) continue; /* it waits for one that is open */
        if (!is_open_container(type) || !(made = container_join(in, made, type))) return NULL;
    }
    return made;
}

/* None says nothing alone: what the maker has put in beside what the caller puts in may be None. */
static bool learns_none(Infer *in, Ref web, const Type *made, const Type *result) {
    const WebFacts *w = &in->containers->facts[web];
    const Type *params[MOST_PARAMS] = {0}, *none = type_scalar(in->types, TY_none);
    for (int32_t p = 0; p < made->nparams; p++)
        if (made->params[p]->kind == TY_UNKNOWN && w->params[p] &&
            result->params[p]->kind == TY_OPTIONAL)
            params[p] = container_join(in, w->params[p], none);
    return teach_web(in, web, made, params);
}

bool container_of_call(Infer *in, const Type *made, const Type *result, const Type **out) {
    const Type *params[MOST_PARAMS] = {0};
    known_params(made, params);
    webs_of(in);
    container_make_lists(in, in->at);
    add_site(in, (ClassId)made->bits, in->at);
    Ref web = representative(in->containers, in->at);
    if (made->shared && !in->emit) share_web(in, web);
    if (!in->emit && (!teach_web(in, web, made, params) || !learns_none(in, web, made, result)))
        return false;
    const WebFacts *w = facts_of(in, in->at);
    *out = web_type(in, (ClassId)made->bits, w, w->params);
    if (!in->emit && in->facts[in->at].type != *out) forget_result(in);
    bool found = false;
    return in->emit || origin_told(in, in->at, *out, ORIGIN_STEPS, &found);
}

bool container_returned(Infer *in, Ref ref, const Type *declared) {
    const Type *type = in->facts[ref].type;
    if (in->emit || !container_is_made(type) || !declared || type == declared ||
        declared->kind != TY_CLASS || declared->bits != type->bits || declared->open)
        return true;
    if (web_with_site(in, ref)) return container_learns(in, declared, ref);
    return !type->open || teach(in, ref, type, declared->params, ORIGIN_STEPS);
}

/* Numbers are left to what else is put in: xs + [0.5] says little of xs. */
static bool learns_addend(Infer *in, const Val *list, const Type *other) {
    const Type *params[MOST_PARAMS] = {0};
    known_params(other, params);
    bool number = !params[0] || type_is_number(params[0]);
    return !list->f.type->open || number ||
           teach(in, list->src, list->f.type, params, ORIGIN_STEPS);
}

bool container_added(Infer *in, Val a, Val b, Val *out) {
    if (!learns_addend(in, &a, b.f.type) || !learns_addend(in, &b, a.f.type)) return false;
    const Type *both = container_join(in, a.f.type, b.f.type);
    const Type *item = both && both->params[0]->kind != TY_UNKNOWN ? both->params[0] : NULL;
    if (!item || both->open || type_is_number(item)) return in->stop = STOP_UNKNOWN, false;
    return *out = val_of(fact_of(both)), true;
}

bool container_becomes(Infer *in, const Type *type, const Val *made) {
    Ref web = web_with_site(in, made->src);
    if (!web || type->kind != TY_CLASS || !type->nparams ||
        !type_is_of(made->f.type, (ClassId)type->bits) || !container_learns(in, type, made->src))
        return false;
    const WebFacts *w = &in->containers->facts[web];
    return web_type(in, (ClassId)type->bits, w, w->params) != made->f.type;
}

/* Python has none of it that it could share. */
static bool holds_unshared(const Type *type) {
    const Type *const *parts = type->kind == TY_CLASS ? type->params : type->items;
    int32_t n = type->kind == TY_CLASS ? type->nparams : type->kind == TY_TUPLE ? type->nitems : 0;
    for (int32_t i = 0; i < n; i++)
        if (holds_unshared(parts[i])) return true;
    return type_is_of(type, CLS_deque) || (type->kind == TY_CLASS && type->variant);
}

/* Functions in it may be joined by others. */
static const Type *kept_type(Infer *in, const Type *type) {
    if (type->kind != TY_TUPLE) return ti_kept_function(in->types, type);
    const Type **items = arena_array(in->arena, const Type *, type->nitems);
    for (int32_t i = 0; i < type->nitems; i++)
        items[i] = kept_type(in, type->items[i]);
    return type_tuple_like(in->types, type, items);
}

/* None says nothing as long as nothing else is known to be in the container, which may be None from then on. */
static bool says_nothing(Infer *in, Val container, int32_t p, const Type *item) {
    const Type *type = container.f.type;
    if (item->kind != TY_none || hashes(type, p)) return false;
    Ref web = web_with_site(in, container.src);
    const Type *known = web ? in->containers->facts[web].params[p] : type->params[p];
    if (known && type_is_assumed(known)) return assumed_is(in, known, item), true;
    return !known || known->open;
}

/* What was told on the way back to the maker of a container has come back to it: nothing is cut to what it holds. */
static bool has_come_back(Infer *in, const Type *type, const Val *items) {
    const Type *params[MOST_PARAMS] = {0};
    for (int32_t p = 0; p < type->nparams; p++) {
        const Type *item = items[p].f.type;
        if (!item || item->kind == TY_none) continue;
        params[p] = kept_type(in, ti_stored(in->types, item));
        if (type->shared) params[p] = type_shared_form(in->types, params[p]);
        if (type->shared && can_convert(params[p], type->params[p])) params[p] = NULL;
    }
    return fits(in, type, params);
}

/* `items`: what becomes a part of the container, by parameter; a type of NULL: nothing. */
static bool put_items(Infer *in, Val container, const Val *items) {
    const Type *type = container.f.type, *params[MOST_PARAMS] = {0};
    if (in->emit) return has_come_back(in, type, items);
    for (int32_t p = 0; p < type->nparams; p++) {
        params[p] = items[p].f.type ? ti_stored(in->types, items[p].f.type) : NULL;
        if (params[p] && says_nothing(in, container, p, params[p])) params[p] = NULL;
        if (!params[p]) continue;
        params[p] = kept_type(in, params[p]);
        if (type->shared && holds_unshared(params[p]))
            return not_an_element(in, type, p, params[p]);
        if (type->shared) params[p] = type_shared_form(in->types, params[p]);
        if (type->shared && type_is_of(params[p], CLS_bytearray)) /* Python has it by copies */
            return not_an_element(in, type, p, params[p]);
        bool absent = params[p]->kind == TY_none && !hashes(type, p);
        if (!absent && !is_part(type, p, params[p])) return not_an_element(in, type, p, params[p]);
    }
    if (!teach(in, container.src, type, params, ORIGIN_STEPS)) return false;
    Ref web = web_with_site(in, container.src);
    for (int32_t p = 0; p < type->nparams; p++) {
        const Type *element = web ? in->containers->facts[web].params[p] : type->params[p];
        if (params[p] && !container_learns(in, element, items[p].src)) return false;
    }
    return true;
}

/* A value of that type meets those of the web of `ref`: the containers that are made for it are such. Displays of tuples pass
 * it on to their items. */
static bool meets(Infer *in, Ref ref, const Type *type) {
    Ref display = type ? display_of(in, ref, type) : NO_REF, web;
    for (int32_t k = 0; display && k < type->nitems; k++)
        if (!meets(in, ir_arg(in->f, display, k), type->items[k])) return false;
    if (!type || type->kind != TY_CLASS || type->open || type->nparams > MOST_PARAMS ||
        !(web = web_with_site(in, ref)))
        return true;
    if (type->shared && type->nparams) share_web(in, web);
    bool fits = true;
    for (int32_t p = 0; p < type->nparams; p++)
        fits &= container_join(in, in->containers->facts[web].params[p], type->params[p]) != NULL;
    return !fits || teach_web(in, web, type, type->params);
}

bool container_taught_where_paths_meet(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    for (int32_t k = 0; in->containers && k < inst->nargs; k++) {
        Ref value = ir_arg(in->f, ref, k);
        if (!meets(in, value, in->facts[value].type)) return false;
    }
    return true;
}

/* A display was a tuple until it became a list, and phis that carry each other on would stay so. */
static void list_of_today(Infer *in, Ref ref, Fact *f) {
    Ref web = web_with_site(in, ref);
    if (!web || !list_is_object(in, ref)) return;
    const WebFacts *w = &in->containers->facts[web];
    const Type *type = w->params[0] ? container_type(in, CLS_list, w->shared, w->params) : NULL;
    *f = type ? fact_of(type) : (Fact){0};
}

/* What a web is taught reaches a value that was visited before only where it is visited again, and behind a phi of two types nothing is. */
void container_of_today(Infer *in, Ref ref, Fact *f) {
    Op op = (Op)ir_inst(in->f, ref)->op;
    bool makes = op == OP_build_list || op == OP_build_dict || op == OP_build_set;
    bool tuple = f->type && f->type->kind == TY_TUPLE;
    if (tuple && (op == OP_phi || op == OP_build_list)) list_of_today(in, ref, f);
    if (tuple && op == OP_binary &&
        (list_is_object(in, ir_arg(in->f, ref, 0)) || list_is_object(in, ir_arg(in->f, ref, 1))))
        *f = (Fact){0}; /* xs + ys, seen before they became lists */
    if (!f->type || f->type->kind != TY_CLASS || (op != OP_phi && op != OP_binary && !makes))
        return;
    Ref web = web_with_site(in, ref);
    const WebFacts *w = web ? &in->containers->facts[web] : NULL;
    if (w && w->params[0] && f->type->nparams <= MOST_PARAMS)
        f->type = web_type(in, (ClassId)f->type->bits, w, w->params);
}

/* -- sites ------------------------------------------------------------------------------------------ */

/* Was it `open` before an int, or something that was learned since, was assumed of what is unknown, or that and None? */
bool container_is_closed(Infer *in, const Type *open, const Type *type) {
    if (open == type) return true;
    if (open->kind == TY_UNKNOWN)
        return type->kind == ti_wint(in)->kind || type->kind == TY_OPTIONAL;
    bool tuple = open->kind == TY_TUPLE, cls = container_is_made(open);
    if (!type || type->kind != open->kind || (!tuple && !cls)) return false;
    if (cls && (!container_is_made(type) || type->bits != open->bits ||
                type->shared != open->shared || type->nparams != open->nparams))
        return false;
    if (tuple && type->nitems != open->nitems) return false;
    for (int32_t k = 0; k < (tuple ? open->nitems : open->nparams); k++)
        if (!container_is_closed(in, tuple ? open->items[k] : open->params[k],
                                 tuple ? type->items[k] : type->params[k]))
            return false;
    return true;
}

/* What a web is about whose containers nothing is ever put into: any type will do. */
bool container_close_webs(Infer *in) {
    for (int32_t i = 0; in->containers && i < in->containers->sites.len; i++) {
        Site site = in->containers->sites.items[i];
        WebFacts *w = facts_of(in, site.ref);
        bool open = false;
        for (int32_t p = 0; p < type_class_nparams(site.cls); p++) {
            AssumedAt at = {representative(in->containers, site.ref), p, 0};
            if (w->params[p] && !w->params[p]->open) continue;
            const Type *known = assumed_type(in, w->params[p], &at);
            open |= known != w->params[p];
            w->params[p] = known;
        }
        if (!open) continue;
        visit_sites_again(in, representative(in->containers, site.ref));
        return true;
    }
    return false;
}

static const char *new_text(ClassId cls) {
    if (cls == CLS_deque) return "a deque";
    return cls == CLS_list ? "a list" : cls == CLS_dict ? "a dict" : "a set";
}

static bool put_all(Infer *in, Val container, const Val *items, int32_t n) {
    int32_t step = type_is_of(container.f.type, CLS_dict) ? 2 : 1;
    for (int32_t k = 0; k + step <= n; k += step)
        if (!put_items(in, container, items + k)) return false;
    /* None in front of the first item that says something has said nothing: it does now. */
    for (int32_t k = 0; k + step <= n; k += step)
        if (fact_none(&items[k + step - 1].f) && !put_items(in, container, items + k)) return false;
    return true;
}

/* By the methods that a program would call. */
static bool fill_table(Infer *in, Val table, const Val *items, int32_t n) {
    bool dict = type_is_of(table.f.type, CLS_dict), found;
    int32_t step = dict ? 2 : 1;
    for (int32_t k = 0; k < n; k += step) {
        Val args[3] = {table, items[k]}, ignored;
        if (dict) args[2] = items[k + 1];
        args[0].src = NO_REF;
        if (!v_method(in, dict ? "__setitem__" : "add", args, 1 + step, &found, &ignored))
            return false;
    }
    return true;
}

static bool two_variants(Infer *in, const WebFacts *w, ClassId cls, const Type *like) {
    if (!w->heap || w->like == like) return false;
    const char *one = w->like ? type_variant_name(w->like->variant) : type_class_name(cls);
    const char *other = like ? type_variant_name(like->variant) : type_class_name(cls);
    const char *both = str_printf(in->arena, "a variable that is a %s and a %s", one, other).bytes;
    ti_fail(in, in->at, E0101, both);
    return ti_advise(in, "make them one of these, or give each a variable of its own"), true;
}

static bool make_site(Infer *in, ClassId cls, Ref site, const Val *items, int32_t n, Val *out);

bool v_variant_site(Infer *in, const Type *like, const Type *made, Val *out) {
    ClassId cls = (ClassId)like->bits;
    const Type *params[MOST_PARAMS] = {NULL, made};
    if (!ti_may_allocate(in, new_text(cls))) return false;
    ContainerWebs *w = webs_of(in);
    Ref web = representative(w, in->at);
    if (two_variants(in, &w->facts[web], cls, like)) return false;
    w->facts[web].like = like;
    add_site(in, cls, in->at);
    if (made && !in->emit && !teach_web(in, web, like, params)) return false;
    return make_site(in, cls, in->at, NULL, 0, out);
}

bool v_container_site(Infer *in, ClassId cls, Ref site, const Val *items, int32_t n, Val *out) {
    ContainerWebs *w = webs_of(in);
    return !two_variants(in, &w->facts[representative(w, site)], cls, NULL) &&
           make_site(in, cls, site, items, n, out);
}

static bool make_site(Infer *in, ClassId cls, Ref site, const Val *items, int32_t n, Val *out) {
    const Type *unknown[MOST_PARAMS] = {0};
    if (!ti_may_allocate(in, new_text(cls))) return false;
    add_site(in, cls, site);
    const WebFacts *w = facts_of(in, site);
    *out = (Val){.f = fact_of(web_type(in, cls, w, unknown)), .src = site};
    if (!put_all(in, *out, items, n)) return false;
    out->f = fact_of(web_type(in, cls, w, w->params));
    if (!in->emit && in->facts[site].type != out->f.type) forget_result(in);
    bool filled = cls == CLS_list || cls == CLS_deque;
    if (in->emit && n && out->f.type->open && fact_none(&items[n - 1].f)) /* of nothing but None */
        return not_an_element(in, out->f.type, out->f.type->nparams - 1, items[n - 1].f.type);
    if (!in->emit) return out->f.type->open || filled || fill_table(in, *out, items, n);
    out->ref = container_emit(in, out->f.type, items, n);
    return filled || fill_table(in, *out, items, n);
}

/* typed.List.empty_list(item): the types of what will be in it. */
static bool given_types(const CallArgs *args, const Type **params) {
    int32_t n = 0;
    for (int32_t i = 0; i < args->nargs && n < MOST_PARAMS; i++) {
        const Binding *b = fact_object(&args->args[i].f);
        const Type *like = args->args[i].f.type; /* empty_list(Dict.empty(int32, int32)) */
        if (b && b->kind == BIND_TYPE && b->type) params[n++] = b->type;
        if (like->kind == TY_CLASS && like->shared) params[n++] = like;
    }
    return n > 0;
}

static const struct {
    const char *name;
    ClassId cls;
    bool types; /* are its arguments: else it is a row of quern/library, unless there are none */
} makers[] = {
    {"typed.Dict.empty", CLS_dict, true}, {"typed.List.empty_list", CLS_list, true},
    {"typed.Set.empty", CLS_set, true},   {"typed.Dict", CLS_dict, false},
    {"typed.List", CLS_list, false},      {"typed.Set", CLS_set, false},
};

const char *shared_maker_name(int32_t index) {
    return index < countof(makers) && makers[index].types ? makers[index].name : NULL;
}

/* typed.List(), typed.Dict.empty(key, value) and their kin. *known false: it is another name. */
bool v_shared_site(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    int i = 0;
    while (i < countof(makers) && !str_is(name, makers[i].name))
        i++;
    *known = i < countof(makers) && (makers[i].types || args->nargs == 0);
    if (!*known) return false;
    const Type *params[MOST_PARAMS] = {0};
    Ref site = in->at;
    ClassId cls = makers[i].cls;
    if (makers[i].types && !given_types(args, params))
        return v_refuse(in, REFUSE_CALL, ti_c_text(in, name), args->args, args->nargs);
    if (!ti_may_allocate(in, new_text(cls))) return false;
    add_site(in, cls, site);
    share_web(in, representative(in->containers, site));
    const Type *type = container_type(in, cls, true, params);
    for (int32_t p = 0; p < type->nparams; p++)
        if (params[p] && !is_part(type, p, params[p]))
            return not_an_element(in, type, p, params[p]);
    if (!in->emit && makers[i].types) {
        if (!teach_web(in, representative(in->containers, site), type, params)) return false;
        facts_of(in, site)->fixed = !type->open;
    }
    return v_container_site(in, cls, site, NULL, 0, out);
}

/* -- methods ------------------------------------------------------------------------------------------ */

/* Methods that put something in: by parameter the number of the argument, 0 for none. `items`: it is what the argument number
 * params[0] goes over, or the items of a container of the same class. `hint`: only where nothing is known. */
static const struct {
    const char *name;
    uint8_t params[MOST_PARAMS];
    bool items, hint;
} teachers[] = {
    {"Counter.subtract", {1, 0}, true, false},
    {"Counter.update", {1, 0}, true, false},
    {"bisect.insort_left", {1, 0}, false, false},
    {"bisect.insort_right", {1, 0}, false, false},
    {"defaultdict.__getitem__", {1, 0}, false, false},
    {"deque.__iadd__", {1, 0}, true, false},
    {"deque.__setitem__", {2, 0}, false, false},
    {"deque.append", {1, 0}, false, false},
    {"deque.appendleft", {1, 0}, false, false},
    {"deque.extend", {1, 0}, true, false},
    {"deque.extendleft", {1, 0}, true, false},
    {"deque.insert", {2, 0}, false, false},
    {"dict.__ior__", {1, 0}, true, false},
    {"dict.__setitem__", {1, 2}, false, false},
    {"dict.get", {1, 2}, false, true},
    {"dict.pop", {1, 2}, false, true},
    {"dict.setdefault", {1, 2}, false, false},
    {"dict.update", {1, 0}, true, false},
    {"heapq.heappush", {1, 0}, false, false},
    {"heapq.heappushpop", {1, 0}, false, false},
    {"heapq.heapreplace", {1, 0}, false, false},
    {"list.__iadd__", {1, 0}, true, false},
    {"list.__setitem__", {2, 0}, false, false},
    {"list.__setslice__", {4, 0}, true, false},
    {"list.append", {1, 0}, false, false},
    {"list.extend", {1, 0}, true, false},
    {"list.insert", {2, 0}, false, false},
    {"set.__ior__", {1, 0}, true, false},
    {"set.__ixor__", {1, 0}, true, false},
    {"set.add", {1, 0}, false, false},
    {"set.symmetric_difference_update", {1, 0}, true, false},
    {"set.update", {1, 0}, true, false},
};

/* xs += [] of a list of text, xs += [[]] of one of lists of text: nothing of text, too. */
static bool nothing_learns(Infer *in, const Type *container, const Val *of) {
    const Type *type = of->f.type;
    bool known = container->nparams == 1 && !container->open;
    bool open = known && type->kind == TY_CLASS && type->nparams == 1 && type->open;
    Ref web = open ? web_with_site(in, of->src) : NO_REF;
    return !web || teach_web(in, web, type, container->params);
}

static bool holds_unknown(const Type *type) {
    return type->kind == TY_CLASS && type->nparams == 1 && type->params[0]->kind == TY_UNKNOWN;
}

/* What the items of something are, by parameter of the container that they go into. */
static bool items_of(Infer *in, const Type *container, Val from, Val *items) {
    Val of = v_unwrap(in, from), it, item, counter = val_of(fact_of(ti_wint(in)));
    bool dict = type_is_of(container, CLS_dict);
    bool counts = type_is_variant(container, VARIANT_Counter); /* what it goes over */
    if (dict && type_is_of(of.f.type, CLS_dict)) {
        for (int32_t p = 0; p < 2; p++)
            if (of.f.type->params[p]->kind != TY_UNKNOWN)
                items[p] = val_of(fact_of(of.f.type->params[p]));
        return true;
    }
    if (is_kind(&of, TY_TUPLE) && !of.f.type->nitems) return true; /* [] and () say nothing */
    if (!nothing_learns(in, container, &of)) return false;
    if (holds_unknown(of.f.type)) return true;
    if (!v_iterable(in, &of) || !v_begin(in, of, &it)) return false;
    bool known = type_is_counted(it.f.type) ? v_iter_get(in, it, counter, &item)
                                            : v_next(in, it, NO_BLOCK, &item);
    if (!known) return false;
    item.src = NO_REF;
    items[0] = item;
    if (!dict || counts) return true;
    if (!is_kind(&item, TY_TUPLE) || item.f.type->nitems != 2)
        return v_refuse(in, REFUSE_CALL, "dict", &from, 1);
    for (int32_t p = 0; p < 2; p++)
        items[p] = v_item(in, item, p);
    return true;
}

/* sum(lists, []): what is begun with is of the type of the items. */
static bool start_taught(Infer *in, const CallArgs *args) {
    const Type *start = args->nargs == 2 ? args->args[1].f.type : NULL;
    Val items[MOST_PARAMS] = {0};
    if (!start || start->kind != TY_CLASS || !start->open) return true;
    return items_of(in, start, args->args[0], items) &&
           container_learns(in, items[0].f.type, args->args[1].src);
}

/* As items_of; no code is made for it. */
static bool types_of_items(Infer *in, const Type *container, Val from, Val *items) {
    Emit *emitting = in->emit;
    in->emit = NULL;
    bool known = items_of(in, container, from, items);
    in->emit = emitting;
    return known;
}

/* false: an error, or not known yet. */
bool container_taught(Infer *in, Str name, const CallArgs *args) {
    if (str_is(name, "builtins.sum")) return in->emit || start_taught(in, args);
    for (int i = 0; i < countof(teachers); i++) {
        if (!str_is(name, teachers[i].name) || args->nkeywords) continue;
        Val items[MOST_PARAMS] = {0};
        const uint8_t *params = teachers[i].params;
        if (args->nargs <= params[0]) return true;
        const Type *container = args->args[0].f.type;
        if (!is_object(&args->args[0])) return true; /* of heapq: told by its definition */
        if (in->emit && teachers[i].hint) return true;
        if (teachers[i].items && !types_of_items(in, container, args->args[params[0]], items))
            return false;
        for (int32_t p = 0; !teachers[i].items && p < MOST_PARAMS; p++)
            if (params[p] && params[p] < args->nargs) items[p] = args->args[params[p]];
        for (int32_t p = 0; teachers[i].hint && p < container->nparams; p++) {
            if (container->params[p]->open && !fact_none(&items[p].f)) continue;
            if (items[p].src && !container_learns(in, container->params[p], items[p].src))
                return false; /* d.get(key, []) */
            items[p] = (Val){0};
        }
        return put_items(in, args->args[0], items);
    }
    return true;
}

/* deque(iterable, maxlen). What the items are is told first: the deque is of these from here on. */
bool v_deque(Infer *in, Val iterable, Val maxlen, Val *out) {
    Val args[2] = {0}, ignored = {0};
    bool items = iterable.f.type && (!is_kind(&iterable, TY_TUPLE) || iterable.f.type->nitems);
    bool limited = maxlen.f.type && !fact_none(&maxlen.f);
    if (items && !in->emit) {
        if (!v_container_site(in, CLS_deque, in->at, NULL, 0, &args[0])) return false;
        args[1] = iterable;
        if (!container_taught(in, STR("deque.extend"), &(CallArgs){args, 2, 0, NULL})) return false;
    }
    if (!v_container_site(in, CLS_deque, in->at, NULL, 0, out)) return false;
    args[0] = *out;
    args[1] = maxlen;
    if (limited && !v_library(in, "deque.__limit__", &(CallArgs){args, 2, 0, NULL}, &ignored))
        return false;
    args[1] = iterable;
    return !items || v_library(in, "deque.extend", &(CallArgs){args, 2, 0, NULL}, &ignored);
}
