/* infer_list.c - displays of lists: where one is a tuple, and where it is an object.
 *
 * A display that the program only walks over, indexes, measures, searches, or hands to functions of the library, where a list and a
 * tuple mean the same, is a tuple. Anything else makes it a list on the heap (infer_container.c). Kernels have none: there one of which
 * items are assigned is memory of the thread (infer_local.c), and the rest is refused.
 *
 * An empty display that is filled where inference has not been yet is seen as a tuple that holds nothing, of which wrong things follow:
 * then all of the function is inferred again, with the list from the beginning (list_begin). */
#include "typeinfer/infer_local.h"
#include "typeinfer/infer_made.h"

enum { THROUGH_PHIS = 6 };

/* -- displays -------------------------------------------------------------------------------------- */

static bool is_list(const Infer *in, Ref ref, int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_build_list) return true;
    if (inst->op == OP_binary && inst->sub == OPR_mul && !ti_has_heap(in))
        return is_list(in, ir_arg(in->f, ref, 0), 0) || is_list(in, ir_arg(in->f, ref, 1), 0);
    if (inst->op == OP_check_bound) return is_list(in, ir_arg(in->f, ref, 0), depth);
    if (inst->op != OP_phi || depth == 0) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (ir_arg(in->f, ref, k) != ref && is_list(in, ir_arg(in->f, ref, k), depth - 1))
            return true;
    return false;
}

bool is_list_display(const Infer *in, Val tuple) {
    return tuple.src && is_list(in, tuple.src, THROUGH_PHIS);
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
    return callee && callee->kind == BIND_LIBRARY &&
           (str_starts(callee->name, "numpy.") || str_starts(callee->name, "ufunc."));
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

bool is_sequence(const Val *v) {
    bool tuple = is_kind(v, TY_TUPLE) && !type_is_value(v->f.type);
    return tuple || type_is_list(v->f.type);
}

bool v_as_array(Infer *in, const Type *element, Val *v) {
    Val values[2] = {*v};
    CallArgs call = {values, element ? 2 : 1, 0, NULL};
    if (!is_sequence(v)) return true;
    if (v->f.type->open) return in->stop = STOP_UNKNOWN, false;
    if (element) values[1] = v_dtype(in, element);
    return v_library(in, "numpy.array", &call, v);
}

bool list_as_index(Infer *in, Ref index, Val *v) {
    if (type_is_list(v->f.type)) return v_as_array(in, NULL, v);
    if (!is_kind(v, TY_TUPLE) || !is_list(in, index, THROUGH_PHIS)) return true;
    const Type *none_yet = type_scalar(in->types, TY_i64); /* a[[]] */
    return v_as_array(in, v->f.type->nitems ? NULL : none_yet, v);
}

bool v_sequences_as_arrays(Infer *in, Val *a, Val *b) {
    if (is_kind(a, TY_ARRAY) == is_kind(b, TY_ARRAY)) return true;
    return v_as_array(in, NULL, is_kind(a, TY_ARRAY) ? b : a);
}

static bool is_array_ref(const Infer *in, Ref ref) {
    const Type *type = in->facts[ref].type;
    return type && type->kind == TY_ARRAY;
}

/* Functions that give an argument back, or hand it on, as it is: from which one by position on, and which by name; "*": all. */
static const struct {
    const char *function;
    int32_t first, last;
    const char *keyword;
} keepers[] = {
    {"builtins.dict", INT32_MAX, INT32_MAX, "*"},
    {"builtins.getattr", 3, 3, NULL},
    {"builtins.next", 2, 2, NULL},
    {"functools.partial", 2, INT32_MAX, "*"},
    {"functools.reduce", 3, 3, "initial"},
    {"itertools.accumulate", INT32_MAX, INT32_MAX, "initial"},
    {"itertools.repeat", 1, 1, "object"},
    {"itertools.zip_longest", INT32_MAX, INT32_MAX, "fillvalue"},
};

static bool keeps_argument(const Infer *in, Ref call, int32_t k, Str callee) {
    const Inst *inst = ir_inst(in->f, call);
    int32_t positional = inst->nargs - 1 - (int32_t)inst->imm;
    const Str *name = k > positional ? &inst->u.names[k - 1 - positional] : NULL;
    if (str_is(callee, "builtins.max") || str_is(callee, "builtins.min"))
        return name ? str_is(*name, "default") : positional > 1;
    for (int i = 0; i < countof(keepers); i++) {
        if (!str_is(callee, keepers[i].function)) continue;
        if (!name) return k >= keepers[i].first && k <= keepers[i].last;
        const char *keyword = keepers[i].keyword;
        return keyword && (keyword[0] == '*' || str_is(*name, keyword));
    }
    return false;
}

static const char *misuse_in_call(Infer *in, Ref call, int32_t k, bool nested) {
    const Fact *function = &in->facts[ir_arg(in->f, call, 0)];
    const Binding *callee = function->type ? fact_object(function) : NULL;
    bool made = function->type && (function->type->kind == TY_CHOICE ||
                                   (function->type->kind == TY_CLOSURE && !function->type->fields));
    if (k > 0 && made) return "a list as an argument";
    if (k == 0 || !callee) return NULL; /* not callable: said elsewhere */
    if (callee->kind == BIND_FUNCTION && callee->stand_in) return NULL; /* axes=[0, 0, ()] */
    bool walked = str_is(callee->name, "list.extend") || str_is(callee->name, "dict.update") ||
                  str_starts(callee->name, "deque.extend") ||
                  str_is(callee->name, "Counter.update");
    bool method = str_starts(callee->name, "list.") || str_starts(callee->name, "dict.") ||
                  str_starts(callee->name, "deque.") || str_starts(callee->name, "Counter.") ||
                  str_starts(callee->name, "OrderedDict.") || str_is(callee->name, "set.add") ||
                  str_is(callee->name, "generator.send") ||
                  str_starts(callee->name, "bisect.insort") ||
                  (str_starts(callee->name, "heapq.h"));
    if (callee->kind != BIND_LIBRARY || is_overloaded(in, callee) ||
        str_starts(callee->name, "operator.") || makes_text(callee->name) || (method && !walked) ||
        str_is(callee->name, "random.shuffle") || str_is(callee->name, "str.format") ||
        (str_is(callee->name, "builtins.sum") && k == 2) ||
        str_is(callee->name, "numpy.random.shuffle") || str_is(callee->name, "Generator.shuffle"))
        return "a list as an argument";
    if (ti_has_objects(in) && keeps_argument(in, call, k, callee->name))
        return "a list as an argument";
    if (str_is(callee->name, "builtins.isinstance")) return "isinstance() of a list";
    if (str_is(callee->name, "builtins.type")) return "type() of a list";
    if (k == 1 &&
        (str_is(callee->name, "builtins.getattr") || str_is(callee->name, "builtins.hasattr")))
        return "an attribute of a list";
    bool array = str_starts(callee->name, "numpy."); /* sequences of whatever kind become arrays */
    return nested && !array ? "a list of lists outside numpy.array()" : NULL;
}

static bool is_object_ref(const Infer *in, Ref ref) {
    const Type *type = in->facts[ref].type;
    return type && type->kind == TY_CLASS;
}

static bool meets_object(const Infer *in, Ref phi) {
    for (int32_t k = 0; k < ir_inst(in->f, phi)->nargs; k++) {
        const Type *type = in->facts[ir_arg(in->f, phi, k)].type;
        if (type && type->kind == TY_OPTIONAL) type = type->element;
        if (type_is_list(type)) return true;
    }
    return false;
}

/* Of other lengths, wherever in it. */
static bool is_unlike(const Type *a, const Type *b) {
    if (a->kind != TY_TUPLE || b->kind != TY_TUPLE) return false;
    if (a->nitems != b->nitems) return true;
    for (int32_t k = 0; k < a->nitems; k++)
        if (is_unlike(a->items[k], b->items[k])) return true;
    return false;
}

/* None, or a display of another length: only lists on the heap are of one type with it. */
static bool meets_unlike(const Infer *in, Ref phi, Ref list) {
    const Type *own = in->facts[list].type;
    if (!ti_has_heap(in)) return false;
    for (int32_t k = 0; k < ir_inst(in->f, phi)->nargs; k++) {
        const Fact *other = &in->facts[ir_arg(in->f, phi, k)];
        if (!other->type) continue;
        if (fact_none(other) || other->type->kind == TY_OPTIONAL) return true;
        if (is_unlike(own, other->type)) return true;
    }
    return false;
}

static bool is_slice_ref(const Infer *in, Ref ref) {
    const Type *type = in->facts[ref].type;
    return type && type->kind == TY_SLICE;
}

static bool is_dict_ref(const Infer *in, Ref ref) {
    return type_is_of(in->facts[ref].type, CLS_dict);
}

/* A comprehension may change it, as a function may; one of several types can only be read. */
static bool may_change(const Infer *in, Ref list) {
    const Type *type = in->facts[list].type;
    for (int32_t k = 1; k < type->nitems; k++)
        if (type->items[k] != type->items[0]) return false;
    return true;
}

/* What `inst` would do with a list as its operand k, when it may not; NULL: it may. */
static const char *misuse(Infer *in, Ref ref, int32_t k, Ref list) {
    const Inst *inst = ir_inst(in->f, ref);
    bool nested = is_nested(in, list, THROUGH_PHIS);
    const char *walk = nested ? "a list of lists outside numpy.array()" : NULL;
    switch ((Op)inst->op) {
    case OP_getitem:
        if (k == 1 && is_dict_ref(in, ir_arg(in->f, ref, 0))) return "a list as a key";
        if (k == 0 && !in->kernel && is_slice_ref(in, ir_arg(in->f, ref, 1)))
            return "a slice of a list"; /* a list, too */
        return k == 1 ? NULL : walk;
    case OP_phi:
        return meets_object(in, ref) || meets_unlike(in, ref, list) ? "a list beside a tuple"
                                                                    : NULL;
    case OP_build_list: return list_is_object(in, ref) ? "a list in a list" : NULL;
    case OP_build_dict: return "a list in a dict";
    case OP_build_set: return "a list in a set";
    case OP_setitem:
        if (k == 2 && is_object_ref(in, ir_arg(in->f, ref, 0))) return "a list in a list";
        if (k == 2 && is_array_ref(in, ir_arg(in->f, ref, 0))) return NULL;
        if (k == 1 && is_dict_ref(in, ir_arg(in->f, ref, 0))) return "a list as a key";
        return k == 0 ? "assignment to an item of a list" : k == 1 ? NULL : walk;
    case OP_setattr: {
        const Type *of = in->facts[ir_arg(in->f, ref, 0)].type;
        return of && type_is_instance(of) ? "a list in a field" : NULL;
    }
    case OP_delitem: return k == 0 ? "del of an item of a list" : NULL;
    case OP_iter:
    case OP_unpack: return walk;
    case OP_concat: return inst->sub == FLAG_LIST ? walk : NULL; /* [*rows]: its items are kept */
    case OP_call_py: return misuse_in_call(in, ref, k, nested);
    case OP_comprehension:
        return may_change(in, list) ? "a list as a variable of a comprehension" : NULL;
    case OP_make_cell:
    case OP_cell_set:
    case OP_function: return "a list as a variable of a function";
    case OP_build_tuple: return becomes_array(in, ref) ? NULL : "a list inside a tuple";
    case OP_attr:
        return str_printf(in->arena, "the method '" STR_FMT "' of a list", STR_ARG(*inst->u.name))
            .bytes;
    case OP_binary:
        if (is_array_ref(in, ir_arg(in->f, ref, 1 - k)) && inst->sub < OPR_COUNT) return NULL;
        if ((inst->sub == OPR_contains || inst->sub == OPR_not_contains) && k == 1) return walk;
        if (inst->sub == OPR_mul)
            return ti_has_heap(in) || inst->imm ? "the repetition of a list" : NULL;
        return "an operator between lists";
    case OP_return: return "returning a list";
    case OP_yield: return k == 0 ? "a list from a generator" : NULL;
    default: return NULL;
    }
}

/* (*rows,) and f(*rows): the items are kept, as the lists that they are; the display itself is not. */
static bool keeps_items(Infer *in, Ref ref, int32_t k) {
    const Inst *inst = ir_inst(in->f, ref);
    if (!ti_has_heap(in)) return false;
    return (inst->op == OP_concat && inst->sub != FLAG_LIST) ||
           (inst->op == OP_call_star && k > 0 && !calls_numpy(in, ref));
}

static bool make_items_lists(Infer *in, Ref list, int depth) {
    const Inst *inst = ir_inst(in->f, list);
    bool display = inst->op == OP_build_list, made = false;
    if (!display && ((inst->op != OP_phi && inst->op != OP_check_bound) || depth == 0))
        return false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(in->f, list, k);
        if (!display)
            made |= arg != list && make_items_lists(in, arg, depth - 1);
        else if (is_list(in, arg, depth) && !list_is_object(in, arg))
            made |= container_make_lists(in, arg);
    }
    return made;
}

/* Is it a display without items, or one where some meet? */
static bool may_be_empty(const Infer *in, Ref ref, int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_build_list) return inst->nargs == 0;
    if (inst->op == OP_check_bound) return may_be_empty(in, ir_arg(in->f, ref, 0), depth);
    for (int32_t k = 0; inst->op == OP_phi && depth && k < inst->nargs; k++)
        if (ir_arg(in->f, ref, k) != ref && may_be_empty(in, ir_arg(in->f, ref, k), depth - 1))
            return true;
    return false;
}

/* How many operands the instruction has, from the first, that are objects if they are lists, whatever they hold. */
static int32_t operands_of_objects(const Inst *inst) {
    switch ((int)inst->op) {
    case OP_attr:
    case OP_setitem:
    case OP_delitem:
    case OP_return:
    case OP_yield: return QN_MIN(inst->nargs, 1);
    case OP_binary: return inst->imm != 0; /* in place */
    case OP_build_dict:
    case OP_build_set:
    case OP_make_cell:
    case OP_cell_set:
    case OP_function: return inst->nargs;
    default: return 0;
    }
}

void list_begins(Infer *in, Ref site) {
    for (int32_t i = 0; i < in->inst->lists.len; i++)
        if (in->inst->lists.items[i] == site) return;
    vec_push(in->arena, &in->inst->lists, site);
}

void list_begin(Infer *in, const Infer *before) {
    for (int32_t i = 0; i < in->inst->lists.len; i++) {
        Ref site = in->inst->lists.items[i];
        const Type *type = before && before->f == in->f ? before->facts[site].type : NULL;
        container_make_lists(in, site);
        if (type_is_list(type) && !type->open && !type->assumed) container_begins(in, site, type);
    }
}

/* Inference that got stuck may have done so on what an empty tuple has not: the empty displays that are changed, given away or kept where it
 * has not come are objects, too. Are there any? */
bool list_unstick(Infer *in) {
    int32_t known = in->inst->lists.len;
    if (!ti_has_heap(in) || !infer_is_stuck(in)) return false;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        int32_t n = operands_of_objects(ir_inst(in->f, ref));
        for (int32_t k = 0; k < n; k++)
            if (may_be_empty(in, ir_arg(in->f, ref, k), THROUGH_PHIS))
                container_make_lists(in, ir_arg(in->f, ref, k));
    }
    for (Ref ref = 1; ref < in->f->insts.len; ref++)
        if (ir_inst(in->f, ref)->op == OP_build_list && !ir_inst(in->f, ref)->nargs &&
            list_is_object(in, ref))
            list_begins(in, ref);
    return in->inst->lists.len > known;
}

bool list_checked(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if ((inst->op == OP_phi || inst->op == OP_return) &&
        !container_taught_where_paths_meet(in, ref))
        return false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(in->f, ref, k);
        const Type *type = in->facts[arg].type;
        bool ok;
        if (!ti_has_heap(in) && local_list_checked(in, ref, k, &ok)) {
            if (!ok) return false;
            continue;
        }
        if (!type || type->kind != TY_TUPLE || !is_list(in, arg, THROUGH_PHIS)) continue;
        if (list_is_object(in, arg)) continue; /* it was a tuple until now */
        if (keeps_items(in, ref, k) && make_items_lists(in, arg, THROUGH_PHIS))
            return in->stop = STOP_UNKNOWN, false;
        const char *what = misuse(in, ref, k, arg);
        if (!what) continue;
        if (local_list_changes(in, ref, k, arg)) return false;
        if (ti_has_heap(in)) {
            in->stop = STOP_UNKNOWN;
            bool made = container_make_lists(in, arg);
            if (made && inst->op == OP_phi)
                container_taught_where_paths_meet(in, ref); /* typed.List beside it */
            return !made;
        }
        ti_fail(in, ref, E0101, what);
        if (in->report)
            diag_note(in->diags, NULL,
                      "a list in a kernel has the length that it is written with, and numbers: use "
                      "np.zeros(n) with a constant n, a tuple, or an array that is passed as an "
                      "argument");
        return false;
    }
    return true;
}
