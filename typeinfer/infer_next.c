/* infer_next.c - iterators that remember where they are: iter() and next(), zip over them, map, filter.
 *
 * What is only walked over, once, by one loop needs no memory: enumerate, zip and their kin are descriptions, whose items are
 * functions of the loop's counter (infer_iter.c). An iterator is *kept* when the program can see how far it has come: a
 * variable that is used twice, or in a loop that it was made in front of, the argument of next(), and whatever filter()
 * goes over. Then each sequence below it gets a cell, an array of one int64, for the number of its next item:
 *
 *     zip(a, it)     ZIP (KEPT (a, cell), KEPT (b, cell of it))
 *
 * Cells are shared as Python's iterators are: copies of the value have the same array. One that does not leave the function is
 * memory of its frame, which LLVM makes a register.
 *
 * To fetch an item, code jumps to `miss` where there is none: Python's order of steps, with no item computed twice. */
#include "typeinfer/infer.h"

/* -- kinds ---------------------------------------------------------------------------------------- */

static bool is_iter(const Type *type, enum IterKind kind) {
    return type->kind == TY_ITER && type->bits == (uint32_t)kind;
}

/* Numbers of the parts that are gone over: first .. first + n - 1. */
static int32_t parts_of(const Type *type, int32_t *first) {
    *first = is_iter(type, ITER_MAP) || is_iter(type, ITER_FILTER);
    return is_iter(type, ITER_ENUMERATE) ? 1 : type->element->nitems - *first;
}

static bool has_parts(const Type *type) {
    return is_iter(type, ITER_ENUMERATE) || is_iter(type, ITER_ZIP) || is_iter(type, ITER_STRICT) ||
           is_iter(type, ITER_MAP) || is_iter(type, ITER_FILTER);
}

/* Does an item take a call of the user's function? */
static bool calls(const Type *type) {
    if (type->kind != TY_ITER) return false;
    if (is_iter(type, ITER_MAP)) return true;
    int32_t first, n = has_parts(type) ? parts_of(type, &first) : 0;
    for (int32_t k = 0; k < n; k++)
        if (calls(type->element->items[first + k])) return true;
    return false;
}

/* Only the last part may call: where one before it has ended, Python calls no further function. */
bool type_is_counted(const Type *type) {
    if (type->kind != TY_ITER) return true;
    if (type_is_generator(type) || is_iter(type, ITER_KEPT) || is_iter(type, ITER_FILTER) ||
        is_iter(type, ITER_STRICT) || is_iter(type, ITER_BACKWARD))
        return false;
    if (!has_parts(type)) return true;
    int32_t first, n = parts_of(type, &first);
    for (int32_t k = 0; k < n; k++) {
        const Type *part = type->element->items[first + k];
        if (!type_is_counted(part) || (k < n - 1 && calls(part))) return false;
    }
    return true;
}

static bool is_kept(const Type *type) {
    if (is_iter(type, ITER_KEPT) || type_is_generator(type)) return true;
    if (!has_parts(type) || is_iter(type, ITER_ENUMERATE)) return false;
    int32_t first, n = parts_of(type, &first);
    for (int32_t k = 0; k < n; k++)
        if (!is_kept(type->element->items[first + k])) return false;
    return n > 0;
}

static Val inner(Val it) {
    return (Val){.f = fact_of(it.f.type->element), .ref = it.ref};
}

/* -- cells ---------------------------------------------------------------------------------------- */

/* Also as what a function has captured, or a partial is given. */
static bool holds_iterator(const Type *type) {
    if (type->kind == TY_ITER) return true;
    for (int32_t k = 0; k < type->nitems; k++)
        if (holds_iterator(type->items[k])) return true;
    return type->kind == TY_OPTIONAL && holds_iterator(type->element);
}

static bool in_same_loop(const Infer *in, Ref made, Ref use) {
    const Cfg *cfg = &in->cfg;
    int32_t loop = cfg->loop_of[ir_inst(in->f, made)->block];
    int32_t at = cfg->loop_of[ir_inst(in->f, use)->block];
    while (at >= 0 && at != loop)
        at = cfg->loops.items[at].parent;
    return at == loop;
}

/* enumerate(g) and zip(g, h) are tuples with g in them, and hold its references; a generator that is given g, or a function that
 * returns it, does not. */
static bool is_wrapper(const Infer *in, Ref call) {
    const Fact *function = &in->facts[ir_arg(in->f, call, 0)];
    const Binding *callee = function->type ? fact_object(function) : NULL;
    return callee && callee->kind == BIND_LIBRARY &&
           (str_is(callee->name, "builtins.enumerate") || str_is(callee->name, "builtins.zip"));
}

/* May the iterator outlive the execution of the instruction that made it? In a phi it may meet the one of the round before, and behind the loop
 * that made it the one of a copy of the loop. Of a generator another iterator that holds it may lie in the frame, where its address is stale.
 * `counted`: it is memory of the function that has references. */
static bool escapes(const Infer *in, Ref made, bool counted, int depth) {
    if (depth == 0) return true;
    bool lives_on = instance_is_generator(in->inst), strict = counted || lives_on;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        bool uses = false;
        for (int32_t k = 0; k < inst->nargs; k++)
            uses |= ir_arg(in->f, ref, k) == made;
        if (!uses) continue;
        if (!in_same_loop(in, made, ref)) return true;
        if (inst->op == OP_iter_more || inst->op == OP_getitem) continue;
        if (inst->op == OP_iter && !strict) continue;
        if (inst->op != OP_call_py && inst->op != OP_check_bound && inst->op != OP_iter)
            return true;
        const Type *result = in->facts[ref].type;
        if (!result || !holds_iterator(result)) continue;
        if (inst->op == OP_call_py && strict && (lives_on || !is_wrapper(in, ref))) return true;
        if (escapes(in, ref, counted, depth - 1)) return true;
    }
    return false;
}

bool iterator_escapes(const Infer *in, Ref made, bool counted) {
    return escapes(in, made, counted, 8);
}

static const Type *cell_type(Infer *in) {
    const Type *type = type_array(in->types, i64_type(in->types), 1, LAYOUT_C);
    return in->kernel ? type_array_space(in->types, type, SPACE_LOCAL) : type;
}

static Ref emit_cell(Infer *in, bool in_frame) {
    Emit *e = in->emit;
    const Type *type = cell_type(in), *i64 = i64_type(in->types);
    Ref cell, zero = emit_int(e, i64, 0);
    if (in_frame && !instance_is_generator(in->inst)) /* its address would lie in the frame */
        cell = emit_here(in, type);
    else
        cell = emit1(e, OP_alloc, type, emit_int(e, i64, 1));
    emit3(e, OP_store, NULL, cell, zero, zero);
    return cell;
}

static Val keep_sequence(Infer *in, Val of, bool in_frame) {
    Val parts[2] = {of, val_of(fact_of(cell_type(in)))};
    if (in->emit) parts[1].ref = emit_cell(in, in_frame);
    return v_iter_object(in, ITER_KEPT, v_tuple(in, parts, 2));
}

static bool keep(Infer *in, Val of, bool in_frame, Val *out);

/* Over what has no length, enumerate is zip of the numbers and that. */
static bool keep_enumerate(Infer *in, Val of, bool in_frame, Val *out) {
    Val pair = inner(of), parts[2], ends[2] = {v_item(in, pair, 1)}, numbers;
    ends[1] = val_of(fact_int(in, INT64_MAX));
    if (!v_range(in, ends, 2, &numbers)) return false;
    parts[0] = keep_sequence(in, numbers, in_frame);
    if (!keep(in, v_item(in, pair, 0), in_frame, &parts[1])) return false;
    return *out = v_iter_object(in, ITER_ZIP, v_tuple(in, parts, 2)), true;
}

static bool keep(Infer *in, Val of, bool in_frame, Val *out) {
    const Type *type = of.f.type;
    if (!ti_has_stack(in, "iterators")) return false;
    if (is_kept(type)) return *out = of, true;
    if (type_is_counted(type) || is_iter(type, ITER_BACKWARD))
        return *out = keep_sequence(in, of, in_frame), true;
    if (is_iter(type, ITER_ENUMERATE)) return keep_enumerate(in, of, in_frame, out);
    Val whole = inner(of), *parts = arena_array(in->arena, Val, whole.f.type->nitems);
    int32_t first, n = parts_of(type, &first);
    if (first) parts[0] = v_item(in, whole, 0);
    for (int32_t k = first; k < first + n; k++)
        if (!keep(in, v_item(in, whole, k), in_frame, &parts[k])) return false;
    *out = v_iter_object(in, (enum IterKind)type->bits, v_tuple(in, parts, first + n));
    return true;
}

Val v_indexed_iterator(Infer *in, Val it) {
    Emit *e = in->emit;
    if (!is_kind(&it, TY_ITER) || it.f.type->bits != ITER_KEPT) return it;
    if (e) {
        Ref zero = emit_int(e, i64_type(in->types), 0);
        emit3(e, OP_store, NULL, v_ref(in, v_item(in, inner(it), 1)), zero, zero);
    }
    return v_item(in, inner(it), 0);
}

bool v_begin(Infer *in, Val of, Val *out) {
    if (type_is_counted(of.f.type)) return *out = of, true;
    return keep(in, of, true, out);
}

/* Is what `ref` makes used up by one instruction, which runs once for each time that it is made? */
static bool used_once(const Infer *in, Ref made) {
    Ref user = NO_REF;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(in->f, ref, k) != made || inst->op == OP_getitem) continue;
            if (user) return false;
            user = ref;
        }
    }
    if (!user) return true;
    const Inst *inst = ir_inst(in->f, user);
    bool once = inst->op == OP_iter || inst->op == OP_call_py || inst->op == OP_return;
    return once && in->cfg.loop_of[inst->block] == in->cfg.loop_of[ir_inst(in->f, made)->block];
}

bool v_keep_made(Infer *in, Ref ref, Val *out) {
    const Type *type = out->f.type;
    if (is_iter(type, ITER_PARALLEL) || type_is_view(type) || is_kept(type) || used_once(in, ref))
        return true;
    Val of = *out;
    if (in->kernel || !target_is_host(in->ti->options.target)) {
        ti_fail(in, in->at, E0404, "an iterator in a variable",
                in->kernel ? "in a kernel" : "on a GPU");
        return ti_advise(in, "there, write it where the loop goes over it"), false;
    }
    return keep(in, of, in->emit && !iterator_escapes(in, ref, false), out);
}

/* -- the next item -------------------------------------------------------------------------------- */

/* Behind the test whether `more` holds: else control goes to `miss`. */
static void go_on_if(Emit *e, Ref more, int32_t miss) {
    int32_t there = emit_block(e);
    emit_branch(e, more, there, miss);
    e->block = there;
}

/* Of a list backwards: does the place that comes next lie in the list still? */
static bool is_there(Infer *in, Val of, Ref counter, Ref *more) {
    Emit *e = in->emit;
    Val length, pair = inner(of);
    const Type *i64 = i64_type(in->types);
    if (!v_iter_len(in, v_item(in, pair, 0), &length)) return false;
    if (!e) return true;
    Ref left = emit2(e, OP_sub, i64, v_as(in, v_item(in, pair, 1), i64), counter);
    Ref there = emit2(e, OP_le, bool_type(in->types), left, v_as(in, length, i64));
    *more = emit2(e, OP_and, bool_type(in->types), *more, there);
    return true;
}

/* Whoever has come to the end of a list stays there, however it grows. */
static int32_t emit_end_of_list(Infer *in, Ref cell, int32_t miss) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    int32_t here = e->block, ended = emit_block(e);
    e->block = ended;
    emit3(e, OP_store, NULL, cell, emit_int(e, i64, 0), emit_int(e, i64, INT64_MAX));
    emit_jump(e, miss);
    e->block = here;
    return ended;
}

static bool next_of_sequence(Infer *in, Val it, int32_t miss, Val *out) {
    Emit *e = in->emit;
    Val pair = inner(it), of = v_item(in, pair, 0), cell = v_item(in, pair, 1), length;
    Val counter = val_of(fact_of(ti_wint(in)));
    Ref more = NO_REF, at = NO_REF, zero = NO_REF;
    const Type *i64 = i64_type(in->types);
    if (!v_iter_len(in, of, &length)) return false;
    if (e) {
        zero = emit_int(e, i64, 0), at = v_ref(in, cell);
        counter.ref = emit2(e, OP_load, i64, at, zero);
        emitted_nonnegative(e, counter.ref);
        more = emit2(e, OP_lt, bool_type(in->types), counter.ref, v_as(in, length, i64));
    }
    if (is_iter(of.f.type, ITER_BACKWARD) && !is_there(in, of, counter.ref, &more)) return false;
    if (e) {
        if (iterates_objects(of.f.type)) miss = emit_end_of_list(in, at, miss);
        go_on_if(e, more, miss);
        Ref next = emit2(e, OP_add, i64, counter.ref, emit_int(e, i64, 1));
        ir_inst(e->out, next)->sub = FLAG_NOWRAP;
        emit3(e, OP_store, NULL, at, zero, next);
    }
    return v_iter_get(in, of, counter, out);
}

/* Of each part, in their order. `missed`: where the items of part k end; NULL: at miss. */
static bool next_of_parts(Infer *in, Val it, int32_t miss, const int32_t *missed, Val *items) {
    Val whole = inner(it);
    int32_t first, n = parts_of(it.f.type, &first);
    for (int32_t k = 0; k < n; k++)
        if (!v_next(in, v_item(in, whole, first + k), missed ? missed[k] : miss, &items[k]))
            return false;
    return true;
}

static bool next_of_zip(Infer *in, Val it, int32_t miss, Val *out) {
    int32_t n = it.f.type->element->nitems;
    Val *items = arena_array(in->arena, Val, n);
    if (!next_of_parts(in, it, miss, NULL, items)) return false;
    if (n == 0 && in->emit) go_on_if(in->emit, emit_int(in->emit, bool_type(in->types), 0), miss);
    return *out = v_tuple(in, items, n), true;
}

static void emit_length_error(Infer *in, bool longer, int32_t k) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    Guard guard = longer ? (k == 1 ? GUARD_zip_longer : GUARD_zip_longer_than)
                         : (k == 1 ? GUARD_zip_shorter : GUARD_zip_shorter_than);
    Ref numbers[2] = {emit_int(e, i64, k + 1), emit_int(e, i64, k)};
    emit_guard(e, guard, emit_int(e, bool_type(in->types), 1), numbers, k == 1 ? 0 : 2);
}

/* One has ended: have all? */
static bool check_lengths(Infer *in, Val it, int32_t miss, const int32_t *missed) {
    Emit *e = in->emit;
    Val whole = inner(it), item = {0};
    int32_t n = it.f.type->element->nitems;
    e->block = missed[0];
    for (int32_t k = 1; k < n; k++) {
        int32_t ended = emit_block(e);
        if (!v_next(in, v_item(in, whole, k), ended, &item)) return false;
        emit_length_error(in, true, k);
        emit_jump(e, miss);
        e->block = ended;
    }
    emit_jump(e, miss);
    for (int32_t k = 1; k < n; k++) {
        e->block = missed[k];
        emit_length_error(in, false, k);
        emit_jump(e, miss);
    }
    return true;
}

static bool next_of_strict(Infer *in, Val it, int32_t miss, Val *out) {
    Emit *e = in->emit;
    int32_t n = it.f.type->element->nitems;
    if (n == 0) return next_of_zip(in, it, miss, out);
    Val *items = arena_array(in->arena, Val, n);
    int32_t *missed = arena_array(in->arena, int32_t, n);
    for (int32_t k = 0; e && k < n; k++)
        missed[k] = emit_block(e);
    if (!next_of_parts(in, it, miss, missed, items)) return false;
    if (e) {
        int32_t there = e->block;
        if (!check_lengths(in, it, miss, missed)) return false;
        e->block = there;
    }
    return *out = v_tuple(in, items, n), true;
}

static bool next_of_map(Infer *in, Val it, int32_t miss, Val *out) {
    int32_t n = it.f.type->element->nitems - 1;
    Val *items = arena_array(in->arena, Val, n);
    return next_of_parts(in, it, miss, NULL, items) &&
           v_call(in, v_item(in, inner(it), 0), &(CallArgs){items, n, 0, NULL}, out);
}

static bool next_of_filter(Infer *in, Val it, int32_t miss, Val *out) {
    Emit *e = in->emit;
    Val test = v_item(in, inner(it), 0), passed;
    int32_t head = e ? emit_block(e) : NO_BLOCK;
    if (e) {
        emit_jump(e, head);
        e->block = head;
    }
    if (!next_of_parts(in, it, miss, NULL, out)) return false;
    passed = *out;
    if (!fact_none(&test.f) && !v_call(in, test, &(CallArgs){out, 1, 0, NULL}, &passed))
        return false;
    if (!v_truth(in, passed, &passed)) return false;
    if (!e) return true;
    int32_t again = emit_block(e), there = emit_block(e);
    emit_branch(e, v_ref(in, passed), there, again);
    e->block = again;
    emit(e, OP_poll, NULL, NULL, 0);
    emit_jump(e, head);
    e->block = there;
    return true;
}

bool v_next(Infer *in, Val it, int32_t miss, Val *out) {
    if (!ti_has_stack(in, "iterators")) return false;
    switch ((enum IterKind)it.f.type->bits) {
    case ITER_GENERATOR: return v_generator_next(in, it, miss, out);
    case ITER_KEPT: return next_of_sequence(in, it, miss, out);
    case ITER_STRICT: return next_of_strict(in, it, miss, out);
    case ITER_MAP: return next_of_map(in, it, miss, out);
    case ITER_FILTER: return next_of_filter(in, it, miss, out);
    default: return next_of_zip(in, it, miss, out);
    }
}

/* -- builtins ------------------------------------------------------------------------------------- */

static bool misfit(Infer *in, const char *name, const CallArgs *args, const char *advice) {
    v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    return ti_advise(in, advice), false;
}

bool typed_iter(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val a = v_unwrap(in, v[0]);
    (void)args;
    if (!v_iterable(in, &a)) return false;
    bool already = is_kind(&a, TY_ITER) && a.f.type->bits != ITER_PARALLEL;
    return *out = already ? a : v_iter_object(in, ITER_OVER, a), true;
}

/* Where the items have ended: the default, or StopIteration. */
static void emit_end(Infer *in, const Val *otherwise, const Type *type, int32_t join, Ref phi) {
    Emit *e = in->emit;
    const Type *boolean = bool_type(in->types);
    if (!otherwise->f.type && in->guards) {
        emit_guard(e, GUARD_stop_iteration, emit_int(e, boolean, 1), NULL, 0);
        emit(e, OP_unreachable, NULL, NULL, 0);
        return;
    }
    Ref value = otherwise->f.type ? v_as(in, *otherwise, type) : emit_zero(e, type);
    emit_jump(e, join);
    ir_add_arg(e->out, phi, value);
}

bool typed_next(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Emit *e = in->emit;
    Val it = v_present(in, v[0]), item = {0};
    if (!is_kind(&it, TY_ITER) || it.f.type->bits == ITER_PARALLEL || type_is_view(it.f.type))
        return misfit(in, "next", args, "next() takes an iterator: iter() makes one");
    if (!keep(in, it, true, &it)) return false;
    int32_t miss = e ? emit_block(e) : NO_BLOCK;
    if (!v_next(in, it, miss, &item)) return false;
    Fact fact = fact_of(item.f.type), joined;
    if (v[1].f.type) {
        Fact other = v[1].f;
        other.value = NULL;
        if (!fact_join(in, &fact, &other, &joined) || joined.conflict)
            return misfit(in, "next", args, "the items and the default have no common type");
        fact = fact_of(joined.type);
    }
    if (!e) return *out = val_of(fact), true;
    const Type *lowered = lower_type(in->ti, fact.type);
    Ref value = v_as(in, item, fact.type);
    int32_t join = emit_block(e);
    emit_jump(e, join);
    e->block = join;
    *out = (Val){.f = fact, .ref = emit(e, OP_phi, lowered, NULL, 0)};
    ir_add_arg(e->out, out->ref, value);
    e->block = miss;
    emit_end(in, &v[1], fact.type, join, out->ref);
    e->block = join;
    return true;
}

/* What would be called for an item is said at map() or filter(). */
static bool check_function(Infer *in, Val it) {
    Val kept = {0}, item = {0};
    Emit *emit = in->emit;
    if (emit) return true;
    return keep(in, it, true, &kept) && v_next(in, kept, NO_BLOCK, &item);
}

static bool function_over(Infer *in, enum IterKind kind, const char *name, const CallArgs *args,
                          Val *out) {
    Val *parts = arena_array(in->arena, Val, args->nargs + 1);
    parts[0] = args->args[0];
    bool none = kind == ITER_FILTER && fact_none(&parts[0].f);
    if (!none && !v_callable(&parts[0]))
        return misfit(in, name, args, "its function must be known when the program is compiled");
    if (!v_refuse_fresh(in, parts[0].f.type)) return false;
    for (int32_t k = 1; k < args->nargs; k++) {
        parts[k] = v_unwrap(in, args->args[k]);
        if (!v_iterable(in, &parts[k])) return false;
    }
    *out = v_iter_object(in, kind, v_tuple(in, parts, args->nargs));
    return check_function(in, *out);
}

bool typed_map(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)v;
    if (args->nargs < 2) return misfit(in, "map", args, "map takes a function and its arguments");
    return function_over(in, ITER_MAP, "map", args, out);
}

bool typed_filter(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)v;
    return function_over(in, ITER_FILTER, "filter", args, out);
}
