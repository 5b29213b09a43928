/* infer_local.c - what a kernel makes: arrays of constant shapes, and lists of constant lengths.
 *
 * Kernels have no heap. np.zeros((2, 3)) is memory of the thread there, as cuda.local.array is, and its shape must be known when the
 * kernel is compiled. Other than that of cuda.local.array, which is one as long as the kernel runs, it is another array whenever its place
 * is reached: the pass `frames` sees to that.
 *
 * A display of a list is a tuple as long as it is only read (infer_list.c). One of which an item is assigned, `acc = [0.0] * 4`, then
 * `acc[j] += x[i]`, is such an array of one axis. Its elements have the one type that its items and all that is assigned have together, by
 * the rule of variables, so that a list of Python floats which meets float32 is one of float32. What would tell it from a list, a slice,
 * a sum or a comparison of lists, is refused. */
#include "typeinfer/infer_local.h"

enum { THROUGH_PHIS = 6 };

bool ti_has_heap(const Infer *in) {
    return target_is_host(in->ti->options.target) && !in->kernel;
}

/* -- arrays ------------------------------------------------------------------------------------------ */

const Fact *local_lengths(Infer *in, const ConstVal *sizes) {
    Fact *items = arena_array(in->arena, Fact, sizes->nitems + 1);
    for (int32_t k = 0; k < sizes->nitems; k++)
        items[k] = fact_int(in, sizes->items[k]->i);
    return items;
}

bool v_local_array(Infer *in, const char *name, const Type *type, const Val *shape, int32_t n,
                   Val *out) {
    const ConstVal *items[32];
    int64_t bytes = type_size(type->element), length;
    for (int32_t k = 0; k < n; k++) {
        if (!fact_int_value(&shape[k].f, &length)) {
            ti_fail(in, in->at, E0606, name);
            return ti_advise(in, "write numbers or global constants; or make the array before the "
                                 "launch and pass it as an argument"),
                   false;
        }
        if (length < 0) return ti_fail(in, in->at, E0607, name, (long long)length);
        items[k] = const_int(in->arena, length);
        if (__builtin_mul_overflow(bytes, length, &bytes)) bytes = INT64_MAX;
    }
    if (bytes > MAX_LOCAL_BYTES)
        return ti_fail(in, in->at, E0608, name, (long long)bytes, MAX_LOCAL_BYTES);
    const ConstVal *sizes = const_tuple(in->arena, items, n);
    *out = val_of(fact_of(type_array_space(in->types, type, SPACE_LOCAL)));
    out->f.items = local_lengths(in, sizes);
    if (!in->emit) return true;
    out->ref = emit(in->emit, OP_static_array, out->f.type, NULL, 0);
    ir_inst(in->emit->out, out->ref)->u.value = sizes;
    ir_inst(in->emit->out, out->ref)->imm = STATIC_NEW;
    return true;
}

/* -- lists ------------------------------------------------------------------------------------------- */

/* The lists that a value may be: the first of them whose number is not below `from`; NO_REF: none is left. */
static Ref list_of(const Infer *in, Ref ref, Ref from, int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    Ref first = ref >= from && in->changed_lists[ref] ? ref : NO_REF;
    if ((inst->op != OP_phi && inst->op != OP_check_bound) || depth == 0) return first;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(in->f, ref, k);
        Ref found = arg == ref ? NO_REF : list_of(in, arg, from, depth - 1);
        if (found && (!first || found < first)) first = found;
    }
    return first;
}

static Ref next_list(const Infer *in, Ref ref, Ref from) {
    return in->changed_lists ? list_of(in, ref, from, THROUGH_PHIS) : NO_REF;
}

bool local_list_changes(Infer *in, Ref ref, int32_t k, Ref list) {
    const Inst *inst = ir_inst(in->f, ref);
    while (ir_inst(in->f, list)->op == OP_check_bound)
        list = ir_arg(in->f, list, 0);
    const Type *tuple = in->facts[list].type;
    bool made = ir_inst(in->f, list)->op == OP_build_list || ir_inst(in->f, list)->op == OP_binary;
    if (ti_has_heap(in) || inst->op != OP_setitem || k != 0 || !made || !tuple->nitems)
        return false;
    const Type *common = tuple->items[0];
    for (int32_t i = 0; i < tuple->nitems && common; i++)
        common = type_is_number(tuple->items[i])
                     ? ti_join(in->types, in->join, common, tuple->items[i])
                     : NULL;
    if (!common || !type_is_number(common)) return false;
    if (!in->changed_lists)
        in->changed_lists = arena_array(in->arena, const Type *, in->f->insts.len);
    in->changed_lists[list] = common;
    in->visited[list] = -1;
    in->clock++;
    in->stop = STOP_UNKNOWN;
    return true;
}

/* What is assigned is an item, too. */
static bool teach(Infer *in, Ref ref, Ref list) {
    const Type *known = in->changed_lists[list], *value = in->facts[ir_arg(in->f, ref, 2)].type;
    if (!value) return true;
    const Type *common = type_is_number(value) ? ti_join(in->types, in->join, known, value) : NULL;
    if (!common || !type_is_number(common)) {
        ti_fail(
            in, ref, E0206,
            str_printf(in->arena, "assign %s to an item of a list of", ti_text(in, value)).bytes,
            ti_text(in, known));
        return false;
    }
    if (common == known) return true;
    in->changed_lists[list] = common;
    in->visited[list] = -1;
    in->clock++;
    in->stop = STOP_UNKNOWN;
    return false;
}

static bool is_position(const Infer *in, Ref ref) {
    const Type *type = in->facts[ref].type;
    return !type || type_is_int(type) || type->kind == TY_bool;
}

static bool reads_alone(Infer *in, Ref call) {
    static const char *const names[] = {
        "builtins.all", "builtins.any", "builtins.enumerate", "builtins.len", "builtins.max",
        "builtins.min", "builtins.sum", "builtins.reversed",  "numpy.array",  "numpy.amax",
        "numpy.amin",   "numpy.argmax", "numpy.dot",          "numpy.argmin", "numpy.max",
        "numpy.min",    "numpy.mean",   "numpy.prod",         "numpy.std",    "numpy.sum",
        "numpy.var",    "builtins.zip", "builtins.print"};
    const Fact *function = &in->facts[ir_arg(in->f, call, 0)];
    const Binding *callee = function->type ? fact_object(function) : NULL;
    if (!callee || callee->kind != BIND_LIBRARY) return false;
    bool several = ir_inst(in->f, call)->nargs > 2; /* max(a, b) compares lists */
    if (several && (str_is(callee->name, "builtins.max") || str_is(callee->name, "builtins.min")))
        return false;
    for (int i = 0; i < countof(names); i++)
        if (str_is(callee->name, names[i])) return true;
    return false;
}

/* What a list in a kernel cannot do; NULL: it can. */
static const char *misuse(Infer *in, Ref ref, int32_t k) {
    const Inst *inst = ir_inst(in->f, ref);
    bool item = inst->op == OP_getitem || inst->op == OP_setitem;
    switch ((Op)inst->op) {
    case OP_phi:
    case OP_check_bound:
    case OP_iter:
    case OP_iter_more: return NULL;
    case OP_getitem:
    case OP_setitem:
        if (k == 2 && in->facts[ir_arg(in->f, ref, 0)].type &&
            in->facts[ir_arg(in->f, ref, 0)].type->kind == TY_ARRAY &&
            !next_list(in, ir_arg(in->f, ref, 0), 1))
            return NULL; /* its items are copied */
        return item && k == 0 && is_position(in, ir_arg(in->f, ref, 1)) ? NULL
                                                                        : "a slice of a list";
    case OP_binary:
        if (k == 1 && (inst->sub == OPR_contains || inst->sub == OPR_not_contains)) return NULL;
        return "an operator between lists";
    case OP_call_py: return reads_alone(in, ref) ? NULL : "a list as an argument";
    case OP_attr:
        return str_printf(in->arena, "the method '" STR_FMT "' of a list", STR_ARG(*inst->u.name))
            .bytes;
    case OP_return: return "returning a list";
    default: return "a list that is used as a whole";
    }
}

bool local_list_checked(Infer *in, Ref ref, int32_t k, bool *ok) {
    Ref list = next_list(in, ir_arg(in->f, ref, k), 1);
    *ok = true;
    if (!list) return false;
    const char *what = misuse(in, ref, k);
    if (what) {
        ti_fail(in, ref, E0101, what);
        ti_advise(in,
                  "a list of which an item is assigned is memory of the thread in a kernel: it is "
                  "indexed, walked over and measured; use np.array for more");
        return *ok = false, true;
    }
    for (; list && *ok && k == 0 && ir_inst(in->f, ref)->op == OP_setitem;
         list = next_list(in, ir_arg(in->f, ref, k), list + 1))
        *ok = teach(in, ref, list);
    return true;
}

bool v_local_list(Infer *in, Ref list, Val *v) {
    if (!in->changed_lists || !in->changed_lists[list] || !is_kind(v, TY_TUPLE)) return true;
    return v_as_array(in, type_strong(in->types, in->changed_lists[list]), v);
}

void v_local_item(Infer *in, Ref ref, Val *item) {
    Ref array = ir_arg(in->f, ref, 0), list = next_list(in, array, 1);
    if (!list || !type_is_number(item->f.type)) return;
    for (; list; list = next_list(in, array, list + 1)) {
        const Type *of = in->changed_lists[list];
        if (of == type_strong(in->types, of)) return;
        if (type_strong(in->types, of) == item->f.type) item->f.type = of;
    }
}
