/* infer_list.c - lists: where a display is a tuple, where it is an object, and of what.
 *
 * A display that the program only walks over, indexes, measures, searches, or hands to functions of the library, where a list and a
 * tuple mean the same, is a tuple. Anything else makes it a list on the heap; in kernels, which have none, it is refused.
 *
 * A place that makes a list is a *site*. Sites that meet in phis, or are returned by one function, make up one *web*: all its lists are of
 * one type. What a web's elements are is joined from the displays and from what is put into its lists, wherever that
 * stands: facts about them only ever go up. Elements that are lists themselves teach and are taught: after adj = [[]], adj[0].append(1)
 * says what the inner site makes. */
#include "typeinfer/infer.h"

enum { THROUGH_PHIS = 6 };

/* -- webs ------------------------------------------------------------------------------------------ */

struct ListWebs {
    Ref *parent;          /* by untyped ref: in the same web */
    const Type **element; /* by representative: of its lists; NULL: nothing known yet */
    bool *heap;           /* by representative: it makes objects */
    Vec(Ref) sites;
};

static Ref representative(ListWebs *w, Ref ref) {
    while (w->parent[ref] != ref)
        ref = w->parent[ref] = w->parent[w->parent[ref]];
    return ref;
}

static void unite(ListWebs *w, Ref a, Ref b) {
    a = representative(w, a), b = representative(w, b);
    w->parent[QN_MAX(a, b)] = QN_MIN(a, b);
}

static ListWebs *webs_of(Infer *in) {
    if (in->lists) return in->lists;
    ListWebs *w = in->lists = arena_new(in->arena, ListWebs);
    int32_t n = in->f->insts.len;
    Ref returned = NO_REF;
    w->parent = arena_array(in->arena, Ref, n);
    w->element = arena_array(in->arena, const Type *, n);
    w->heap = arena_array(in->arena, bool, n);
    for (Ref ref = 1; ref < n; ref++)
        w->parent[ref] = ref;
    for (Ref ref = 1; ref < n; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        bool same = inst->op == OP_phi || inst->op == OP_check_bound || inst->op == OP_convert;
        for (int32_t k = 0; same && k < inst->nargs; k++)
            unite(w, ref, ir_arg(in->f, ref, k));
        if (inst->op == OP_binary && inst->imm) unite(w, ref, ir_arg(in->f, ref, 0)); /* xs += ys */
        if (inst->op != OP_return) continue;
        if (returned) unite(w, returned, ir_arg(in->f, ref, 0));
        returned = ir_arg(in->f, ref, 0);
    }
    return w;
}

/* The web of a value that a site in this function may have made; NO_REF: it comes from elsewhere. */
static Ref web_with_site(Infer *in, Ref ref) {
    if (!ref || !in->lists) return NO_REF;
    Ref web = representative(in->lists, ref);
    for (int32_t i = 0; i < in->lists->sites.len; i++)
        if (representative(in->lists, in->lists->sites.items[i]) == web) return web;
    return NO_REF;
}

/* What was returned of a type that is not the list's any more. */
static void forget_result(Infer *in) {
    const Type *type = in->inst->result.type;
    if (!type || (type->kind != TY_TUPLE && type->kind != TY_CLASS)) return;
    in->inst->result = (Fact){0};
    for (Ref ref = 1; ref < in->f->insts.len; ref++)
        if (ir_inst(in->f, ref)->op == OP_return) in->visited[ref] = -1;
}

static void visit_sites_again(Infer *in, Ref web) {
    forget_result(in);
    for (int32_t i = 0; i < in->lists->sites.len; i++)
        if (representative(in->lists, in->lists->sites.items[i]) == web)
            in->visited[in->lists->sites.items[i]] = -1;
    in->clock++;
}

static void add_site(Infer *in, Ref ref) {
    ListWebs *w = webs_of(in);
    for (int32_t i = 0; i < w->sites.len; i++)
        if (w->sites.items[i] == ref) return;
    vec_push(in->arena, &w->sites, ref);
}

static bool make_object(Infer *in, Ref ref) {
    ListWebs *w = webs_of(in);
    Ref web = representative(w, ref);
    if (w->heap[web]) return false;
    w->heap[web] = true;
    for (Ref site = 1; site < in->f->insts.len; site++)
        if (ir_inst(in->f, site)->op == OP_build_list && representative(w, site) == web)
            add_site(in, site);
    visit_sites_again(in, web);
    return true;
}

bool list_is_object(Infer *in, Ref ref) {
    return in->lists && in->lists->heap[representative(in->lists, ref)];
}

/* -- elements -------------------------------------------------------------------------------------- */

static const Type *list_of(Infer *in, const Type *element) {
    return type_class_of(in->types, CLS_list, &element);
}

static bool is_list_type(const Type *type) {
    return type && type->kind == TY_CLASS && type->bits == CLS_list;
}

/* The common type of two elements; lists of them are lists of the common type of theirs. NULL: none. */
static const Type *join_elements(Infer *in, const Type *a, const Type *b) {
    if (!a || !b) return a ? a : b;
    if (is_list_type(a) && is_list_type(b)) {
        const Type *of = join_elements(in, a->params[0], b->params[0]);
        return of ? list_of(in, of) : NULL;
    }
    Fact x = fact_of(a), y = fact_of(b), both;
    return fact_join(in, &x, &y, &both) ? both.type : NULL;
}

static bool is_element(const Type *type) {
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++)
            if (!is_element(type->items[i])) return false;
        return type->nitems > 0;
    }
    if (type->kind == TY_OPTIONAL) return is_element(type->element);
    return type_is_number(type) || type->kind == TY_CLASS || type->kind == TY_MEMBER ||
           type->kind == TY_UNKNOWN;
}

static bool not_an_element(Infer *in, const Type *type) {
    ti_fail(in, in->at, E0101, str_printf(in->arena, "a list of %s", ti_text(in, type)).bytes);
    ti_advise(in, "lists hold numbers, strings, lists, and tuples of these");
    return false;
}

static bool mixed_elements(Infer *in, const Type *a, const Type *b) {
    ti_fail(in, in->at, E0206, "put into a list of",
            str_printf(in->arena, "%s: %s", ti_text(in, a), ti_text(in, b)).bytes);
    return ti_advise(in, "all elements of a list are of one type"), false;
}

static bool teach_web(Infer *in, Ref web, const Type *element) {
    const Type *known = in->lists->element[web], *both = join_elements(in, known, element);
    if (!both) return mixed_elements(in, known, element);
    if (both == known) return true;
    in->lists->element[web] = both;
    visit_sites_again(in, web);
    return true;
}

/* What a list whose site is not in sight was got from: xs in xs[i] and in `for x in xs`. */
static Ref container_of(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_getitem) { /* a slice is no element */
        const Type *index = in->facts[ir_arg(in->f, ref, 1)].type;
        return index && index->kind != TY_SLICE ? ir_arg(in->f, ref, 0) : NO_REF;
    }
    if (inst->op != OP_iter_get) return NO_REF;
    Ref iter = ir_arg(in->f, ir_arg(in->f, ref, 0), 0);
    return ir_inst(in->f, iter)->op == OP_iter ? ir_arg(in->f, iter, 0) : NO_REF;
}

static bool same_at_run_time(Infer *in, const Type *a, const Type *b) {
    return a && b && lower_type(in->ti, a) == lower_type(in->ti, b);
}

/* Elements of that type are put into the list. */
static bool teach(Infer *in, Ref list, const Type *type, const Type *element, int depth) {
    Ref web = web_with_site(in, list), from;
    if (web) return teach_web(in, web, element);
    if (list && depth && (from = container_of(in, list)) && is_list_type(in->facts[from].type) &&
        !in->emit)
        return teach(in, from, in->facts[from].type, list_of(in, element), depth - 1);
    if (!type->open &&
        !same_at_run_time(in, join_elements(in, type->params[0], element), type->params[0]))
        return mixed_elements(in, type->params[0], element);
    return true;
}

static bool put_element(Infer *in, Val list, Val item) {
    if (in->emit) return true;
    item.f = (Fact){.type = ti_stored(in->types, item.f.type)};
    if (!is_element(item.f.type)) return not_an_element(in, item.f.type);
    if (!teach(in, list.src, list.f.type, item.f.type, THROUGH_PHIS)) return false;
    Ref web = web_with_site(in, list.src), inner = web_with_site(in, item.src);
    const Type *element = web ? in->lists->element[web] : list.f.type->params[0];
    if (inner && is_list_type(element) && element->params[0]->kind != TY_UNKNOWN)
        return teach_web(in, inner, element->params[0]);
    return true;
}

/* -- sites ------------------------------------------------------------------------------------------ */

/* What a web is about whose lists nothing is ever put into: any type will do. */
bool list_close_webs(Infer *in) {
    for (int32_t i = 0; in->lists && i < in->lists->sites.len; i++) {
        Ref web = representative(in->lists, in->lists->sites.items[i]);
        const Type *known = in->lists->element[web];
        if (known && !known->open) continue;
        const Type *element = ti_wint(in);
        for (; known && is_list_type(known); known = known->params[0])
            element = list_of(in, element);
        in->lists->element[web] = element;
        visit_sites_again(in, web);
        return true;
    }
    return false;
}

bool v_list_site(Infer *in, Ref site, const Val *items, int32_t n, Val *out) {
    Emit *e = in->emit;
    if (!ti_may_allocate(in, "a list")) return false;
    add_site(in, site);
    in->lists->heap[representative(in->lists, site)] = true;
    *out = (Val){.f = fact_of(list_of(in, type_unknown(in->types))), .src = site};
    for (int32_t k = 0; k < n; k++)
        if (!put_element(in, *out, items[k])) return false;
    const Type *element = in->lists->element[representative(in->lists, site)];
    if (!element) return true;
    out->f = fact_of(list_of(in, element));
    if (!e && in->facts[site].type != out->f.type) forget_result(in);
    if (!e) return true;
    const Type *i64 = i64_type(in->types), *lowered = lower_type(in->ti, out->f.type);
    Ref count = emit_int(e, i64, n), fields[2] = {count};
    fields[1] = emit1(e, OP_alloc, lowered->items[1], count);
    ir_inst(e->out, fields[1])->sub = lowered->items[1]->element->counted ? FLAG_ZEROED : 0;
    for (int32_t k = 0; k < n; k++)
        emit3(e, OP_store, NULL, fields[1], emit_int(e, i64, k), v_as(in, items[k], element));
    out->ref = emit(e, OP_new, lowered, fields, 2);
    return true;
}

/* Methods that put something in, as argument number `position`: an element, or the items of something. */
static const struct {
    const char *name;
    uint8_t position;
    bool items;
} teachers[] = {
    {"list.__iadd__", 1, true}, {"list.__setitem__", 2, false}, {"list.__setslice__", 4, true},
    {"list.append", 1, false},  {"list.extend", 1, true},       {"list.insert", 2, false},
};

/* false: an error, or not known yet. */
bool list_taught(Infer *in, Str name, const CallArgs *args) {
    if (in->emit) return true;
    for (int i = 0; i < countof(teachers); i++) {
        int k = teachers[i].position;
        if (!str_is(name, teachers[i].name) || args->nkeywords || args->nargs <= k) continue;
        Val item = args->args[k];
        if (teachers[i].items) {
            Val of = v_unwrap(in, item), it, counter = val_of(fact_of(ti_wint(in)));
            if (!v_iterable(in, of) || !v_begin(in, of, &it)) return false;
            bool known = type_is_counted(it.f.type) ? v_iter_get(in, it, counter, &item)
                                                    : v_next(in, it, NO_BLOCK, &item);
            if (!known) return false;
            item.src = NO_REF;
        }
        return put_element(in, args->args[0], item);
    }
    return true;
}

/* -- displays -------------------------------------------------------------------------------------- */

static bool is_list(const Infer *in, Ref ref, int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_build_list) return true;
    if (inst->op == OP_check_bound) return is_list(in, ir_arg(in->f, ref, 0), depth);
    if (inst->op != OP_phi || depth == 0) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (ir_arg(in->f, ref, k) != ref && is_list(in, ir_arg(in->f, ref, k), depth - 1))
            return true;
    return false;
}

/* [[1, 2], [3, 4]]: its items would come out as tuples. */
static bool is_nested(const Infer *in, Ref ref, int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    bool display = inst->op == OP_build_list;
    if (!display && ((inst->op != OP_phi && inst->op != OP_check_bound) || depth == 0))
        return false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(in->f, ref, k);
        if (arg != ref && (display ? is_list(in, arg, depth) : is_nested(in, arg, depth - 1)))
            return true;
    }
    return false;
}

static bool calls_numpy(Infer *in, Ref call) {
    const Fact *function = &in->facts[ir_arg(in->f, call, 0)];
    const Binding *callee = function->type ? fact_object(function) : NULL;
    return callee && callee->kind == BIND_LIBRARY && str_starts(callee->name, "numpy.");
}

/* a[[0, 2], :], np.stack((a, [0, 2])): is the tuple used for nothing but indexing, and by NumPy's functions? */
static bool becomes_array(Infer *in, Ref tuple) {
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        bool index = inst->op == OP_getitem || inst->op == OP_setitem;
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(in->f, ref, k) != tuple || (index && k == 1)) continue;
            if (inst->op != OP_call_py || !calls_numpy(in, ref)) return false;
        }
    }
    return true;
}

bool list_as_index(Infer *in, Ref index, Val *v) {
    if (!is_kind(v, TY_TUPLE) || !is_list(in, index, THROUGH_PHIS)) return true;
    Val list = *v;
    CallArgs call = {&list, 1, 0, NULL};
    return v_library(in, "numpy.array", &call, v);
}

static const char *misuse_in_call(Infer *in, Ref call, int32_t k, bool nested) {
    const Fact *function = &in->facts[ir_arg(in->f, call, 0)];
    const Binding *callee = function->type ? fact_object(function) : NULL;
    if (k == 0 || !callee) return NULL; /* not callable: said elsewhere */
    bool walked = str_is(callee->name, "list.extend");
    if (callee->kind != BIND_LIBRARY || str_starts(callee->name, "operator.") ||
        makes_text(callee->name) || (str_starts(callee->name, "list.") && !walked))
        return "a list as an argument";
    if (str_is(callee->name, "builtins.isinstance")) return "isinstance() of a list";
    bool array = str_starts(callee->name, "numpy."); /* sequences of whatever kind become arrays */
    return nested && !array ? "a list of lists outside numpy.array()" : NULL;
}

static bool is_object_ref(const Infer *in, Ref ref) {
    const Type *type = in->facts[ref].type;
    return type && type->kind == TY_CLASS;
}

static bool meets_object(const Infer *in, Ref phi) {
    for (int32_t k = 0; k < ir_inst(in->f, phi)->nargs; k++)
        if (is_list_type(in->facts[ir_arg(in->f, phi, k)].type)) return true;
    return false;
}

/* Lists from elsewhere that meet those of a web say what these hold: xs if n else []. */
static bool taught_by_phi(Infer *in, Ref phi) {
    Ref web = web_with_site(in, phi);
    for (int32_t k = 0; web && k < ir_inst(in->f, phi)->nargs; k++) {
        const Type *type = in->facts[ir_arg(in->f, phi, k)].type;
        if (!is_list_type(type) || type->open) continue;
        if (!join_elements(in, in->lists->element[web], type->params[0])) continue;
        if (!teach_web(in, web, type->params[0])) return false;
    }
    return true;
}

/* What a web is taught reaches a value that was visited before only where it is visited again, and behind a phi of two types nothing is. */
void list_of_today(Infer *in, Ref ref, Fact *f) {
    Op op = (Op)ir_inst(in->f, ref)->op;
    if (!is_list_type(f->type) || (op != OP_phi && op != OP_binary && op != OP_build_list)) return;
    Ref web = web_with_site(in, ref);
    const Type *element = web ? in->lists->element[web] : NULL;
    if (element) f->type = list_of(in, element);
}

/* What `inst` would do with a list as its operand k, when it may not; NULL: it may. */
static const char *misuse(Infer *in, Ref ref, int32_t k, Ref list) {
    const Inst *inst = ir_inst(in->f, ref);
    bool nested = is_nested(in, list, THROUGH_PHIS);
    const char *walk = nested ? "a list of lists outside numpy.array()" : NULL;
    switch ((Op)inst->op) {
    case OP_getitem: return k == 1 ? NULL : walk;
    case OP_phi: return meets_object(in, ref) ? "a list beside a tuple" : NULL;
    case OP_build_list: return list_is_object(in, ref) ? "a list in a list" : NULL;
    case OP_setitem:
        if (k == 2 && is_object_ref(in, ir_arg(in->f, ref, 0))) return "a list in a list";
        return k == 0 ? "assignment to an item of a list" : k == 1 ? NULL : walk;
    case OP_delitem: return k == 0 ? "del of an item of a list" : NULL;
    case OP_iter:
    case OP_unpack: return walk;
    case OP_call_py: return misuse_in_call(in, ref, k, nested);
    case OP_build_tuple: return becomes_array(in, ref) ? NULL : "a list inside a tuple";
    case OP_attr:
        return str_printf(in->arena, "the method '" STR_FMT "' of a list", STR_ARG(*inst->u.name))
            .bytes;
    case OP_binary:
        if ((inst->sub == OPR_contains || inst->sub == OPR_not_contains) && k == 1) return walk;
        return inst->sub == OPR_mul ? "the repetition of a list" : "an operator between lists";
    case OP_return: return "returning a list";
    default: return NULL;
    }
}

bool list_checked(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_phi && !taught_by_phi(in, ref)) return false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(in->f, ref, k);
        const Type *type = in->facts[arg].type;
        if (!type || type->kind != TY_TUPLE || !is_list(in, arg, THROUGH_PHIS)) continue;
        if (list_is_object(in, arg)) continue; /* it was a tuple until now */
        const char *what = misuse(in, ref, k, arg);
        if (!what) continue;
        if (target_is_host(in->ti->options.target) && !in->kernel) {
            in->stop = STOP_UNKNOWN;
            return !make_object(in, arg);
        }
        ti_fail(in, ref, E0101, what);
        if (in->report)
            diag_note(in->diags, NULL,
                      "there are no lists in kernels: use a tuple, or an array that is passed as "
                      "an argument");
        return false;
    }
    return true;
}
