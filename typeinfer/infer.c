/* infer.c - type inference: the walk over untyped SSA to the fixed point.
 *
 * Conditional constant propagation and typing are one fixed point (after Wegman and Zadeck's sparse
 * conditional constants): blocks are visited in reverse postorder as long as anything changes, only
 * edges that can be taken count, and a block's visit ends at the first instruction whose type is not
 * known yet. So a branch that a constant closes is never typed, and a recursive call is typed from
 * the paths that return without it.
 *
 * Facts of phis are recomputed, not accumulated. Joins only go up, but a constant that stops being
 * one may lower a type (x ** -1 is a float, x ** n an int); after LOW_UPDATES changes a fact
 * accumulates, after HIGH_UPDATES it stands. That bounds the walk whatever the operators do. */
#include "typeinfer/infer_local.h"
#include "typeinfer/infer_made.h"

enum { LOW_UPDATES = 12, HIGH_UPDATES = 40, MAX_ROUNDS = 1000 };

/* -- edges and blocks -------------------------------------------------------------------------- */

static int32_t error_target(const Infer *in, int32_t block) {
    const Block *b = &in->f->blocks.items[block];
    for (int32_t i = b->insts.len; i-- > 0;) {
        const Inst *inst = ir_inst(in->f, b->insts.items[i]);
        if (inst->op != OP_removed && inst->error != NO_BLOCK) return inst->error;
    }
    return NO_BLOCK;
}

static bool infer_edge_taken(const Infer *in, int32_t from, int32_t to) {
    uint8_t taken = in->edges[from];
    if (!taken) return false;
    Ref last = ir_terminator(in->f, from);
    if (last) {
        const Inst *t = ir_inst(in->f, last);
        if ((taken & 1) && t->op != OP_return && t->target[0] == to) return true;
        if ((taken & 2) && t->op == OP_branch && t->target[1] == to) return true;
    }
    return (taken & 4) && error_target(in, from) == to;
}

void infer_take_edge(Infer *in, int32_t from, int bit, int32_t to) {
    if (to == NO_BLOCK || (in->edges[from] & bit)) return;
    in->edges[from] |= (uint8_t)bit;
    in->reached[to] = true;
    in->clock++;
    /* the phis of `to` have a new operand */
    const Block *b = &in->f->blocks.items[to];
    for (int32_t i = 0; i < b->insts.len; i++) {
        Ref ref = b->insts.items[i];
        if (ir_inst(in->f, ref)->op != OP_phi) break;
        in->visited[ref] = -1;
    }
}

Val infer_val(Infer *in, Ref ref) {
    return (Val){.f = in->facts[ref], .ref = in->emit ? in->emit->typed[ref] : 0, .src = ref};
}

/* -- phis --------------------------------------------------------------------------------------- */

/* What the handler's tests on the way let through. */
static bool narrowed(Infer *in, Ref caught, Fact *f) {
    return ir_inst(in->f, caught)->op != OP_caught || infer_caught_type(in, caught, &f->type);
}

static bool narrowed_at(Infer *in, Ref caught, int32_t block, Fact *f) {
    Ref at = in->at, last = ir_terminator(in->f, block);
    in->at = last ? last : at;
    bool ok = narrowed(in, caught, f);
    in->at = at;
    return ok;
}

/* A container of nobody knows what yet is no conflict with one that is known, which phis of a loop would tell each other for ever. */
static void meet_open(Infer *in, Fact *a, Fact *b) {
    if (!a->type || !b->type || a->type == b->type || in->emit) return;
    bool open =
        a->type->kind == TY_CLASS && b->type->kind == TY_CLASS && (a->type->open || b->type->open);
    const Type *both = open ? container_join(in, a->type, b->type) : NULL;
    if (both) a->type = b->type = both;
}

static bool visit_phi(Infer *in, Ref ref, Val *out) {
    const Inst *phi = ir_inst(in->f, ref);
    const Block *block = &in->f->blocks.items[phi->block];
    Fact all = {0};
    for (int32_t k = 0; k < phi->nargs; k++) {
        if (!infer_edge_taken(in, block->preds.items[k], phi->block)) continue;
        Fact f = in->facts[ir_arg(in->f, ref, k)];
        Fact joined;
        if (f.type && type_is_exception(f.type) &&
            !narrowed_at(in, ir_arg(in->f, ref, k), block->preds.items[k], &f))
            return false;
        if (in->containers) container_of_today(in, ir_arg(in->f, ref, k), &f);
        meet_open(in, &all, &f);
        if (!all.type && !all.unbound && !all.conflict && !all.reported)
            all = f;
        else
            fact_join(in, &all, &f, &joined), all = joined;
    }
    if (all.type && all.type->kind == TY_CAUGHT)
        all.conflict = true; /* its memory is one instruction's: see OP_caught */
    if (all.type && type_is_fresh(all.type)) all.conflict = true;
    /* a constant that may also be unassigned is kept: its use is guarded first */
    out->f = all;
    return true;
}

/* Is the operand a number to the instruction, whatever else it may be? */
static bool takes_numbers(const Inst *inst) {
    switch ((int)inst->op) {
    case OP_unary: return inst->sub != OPR_not;
    case OP_binary: return inst->sub < OPR_lt;
    case OP_getitem:
    case OP_setitem:
    case OP_build_slice:
    case OP_iter: return true;
    default: return false;
    }
}

/* Is it known what a walk gives, as containers of nobody knows what? What is done with them may say it. */
static bool gives_known(const Type *type) {
    bool one = type->kind == TY_CLASS && type->nparams;
    return (one ? type->params[0] : type)->kind != TY_UNKNOWN;
}

/* May the operand be a list of nobody knows what yet? */
static bool takes_open(const Inst *inst, int32_t k, const Type *type) {
    switch ((int)inst->op) {
    case OP_iter:
    case OP_iter_more:
    case OP_iter_get: return gives_known(type);
    case OP_attr:
    case OP_function: /* of cells that nothing is assigned to so far */
    case OP_comprehension:
    case OP_make_cell:
    case OP_cell_get:
    case OP_cell_set:
    case OP_check_bound:
    case OP_truth:
    case OP_getitem:
    case OP_build_tuple:
    case OP_unpack:
    case OP_extract:
    case OP_build_list:
    case OP_build_dict:
    case OP_build_set: return true;
    case OP_call_py: return k > 0; /* xs.append(ys), len(xs): the callee waits where it must */
    case OP_setitem: return k != 1;
    case OP_setattr: return k == 1;
    case OP_binary: /* d |= e; x in d */
        return inst->imm || inst->sub == OPR_contains || inst->sub == OPR_not_contains ||
               inst->sub == OPR_add || inst->sub == OPR_mul;
    default: return false;
    }
}

static bool takes_exceptions(const Inst *inst) {
    return inst->op == OP_raise_py || inst->op == OP_reraise || inst->op == OP_match_py ||
           inst->op == OP_caught || inst->op == OP_attr || inst->op == OP_call_py;
}

/* type(e) is compared. */
static bool takes_class(const Inst *inst, const Type *type) {
    return inst->op == OP_binary && type_is_caught_class(type);
}

bool infer_operand(Infer *in, Ref at, int32_t k, Val *out) {
    Ref ref = ir_arg(in->f, at, k);
    *out = infer_val(in, ref);
    if (out->f.type && takes_numbers(ir_inst(in->f, at))) *out = v_number(in, *out);
    if (out->f.reported) return in->stop = STOP_REPORTED, false;
    if (is_kind(out, TY_CAUGHT) && !takes_exceptions(ir_inst(in->f, at)) &&
        !takes_class(ir_inst(in->f, at), out->f.type))
        return type_is_caught_class(out->f.type) ? infer_refuse_class(in, at)
                                                 : infer_keep_caught(in, at);
    if (out->f.conflict && !in->emit && !infer_keeps_caught(in) && infer_phi_of_caught(in, ref))
        return infer_keep_caught(in, at);
    if (out->f.conflict && out->f.type && !v_refuse_fresh(in, out->f.type)) return false;
    if (out->f.conflict && (in->settled || !out->f.python)) return infer_conflict(in, at, ref);
    out->f.conflict = false;
    if (type_is_of(out->f.type, CLS_exception) && !narrowed(in, ref, &out->f)) return false;
    bool called = is_kind(out, TY_CLOSURE) && k == 0 && ir_inst(in->f, at)->op == OP_call_py;
    if (out->f.type && out->f.type->open && !in->emit && !called &&
        !takes_open(ir_inst(in->f, at), k, out->f.type))
        return in->stop = STOP_UNKNOWN, false;
    if (out->f.type) return true;
    in->stop = out->f.unbound ? STOP_UNBOUND : STOP_UNKNOWN;
    return false;
}

/* -- names ---------------------------------------------------------------------------------------- */

static bool binding_result(Infer *in, const Binding *b, Str name, Val *out) {
    if (!b) return in->stop = STOP_ABORT, false;
    return fact_of_binding(in, b, name, &out->f);
}

static bool visit_global(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Resolver *r = in->ti->resolver;
    const Binding *b = NULL;
    if (inst->op == OP_global) {
        b = r->global(r->user, in->inst->function->handle, *inst->u.name);
        if (b && b->kind == BIND_MISSING) b = r->builtin(r->user, *inst->u.name);
    } else if (!in->inst->function->handle || /* row_function */
               str_starts(*inst->u.name, "primitive.")) {
        b = ti_object(in->ti, BIND_LIBRARY, *inst->u.name, NULL);
    } else {
        b = r->builtin(r->user, *inst->u.name);
    }
    return binding_result(in, b, *inst->u.name, out);
}

static bool visit_import(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Resolver *r = in->ti->resolver;
    if (!r->import) return ti_fail(in, ref, E0101, "an import inside a function");
    const Binding *b =
        r->import(r->user, in->inst->function->handle, inst->u.names, (int32_t)inst->imm);
    if (b && b->kind == BIND_MISSING)
        return ti_fail(in, ref, E0218, ti_c_text(in, inst->u.names[0]));
    return binding_result(in, b, inst->u.names[0], out);
}

/* What the function has of the variable: a value or a cell. */
static bool closure_variable(Infer *in, const Inst *inst, Val *out) {
    Resolver *r = in->ti->resolver;
    int32_t captured = instance_nslots(in->inst->info->code) + (int32_t)inst->imm;
    if (!ti_nested(in->ti, in->inst->function) &&
        captured < in->inst->nslots) { /* of a comprehension */
        const Slot *slot = &in->inst->slots[captured];
        out->f = slot->fact;
        if (in->emit && slot->count) out->ref = in->emit->params[slot->first];
        return true;
    }
    Str name = inst->u.name ? *inst->u.name : STR("a closure variable");
    const NestedFunction *own = ti_nested(in->ti, in->inst->function);
    if (own) return v_closure_variable(in, own, name, out);
    const Binding *b = r->freevar(r->user, in->inst->function->handle, (int32_t)inst->imm);
    return binding_result(in, b, name, out);
}

static bool visit_freevar(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Val cell = *out;
    if (in->inst->nested) return in->stop = STOP_REPORTED, false;
    if (!closure_variable(in, inst, &cell)) return false;
    if (inst->sub == FLAG_SHARED || !is_kind(&cell, TY_CELL)) return *out = cell, true;
    if (!v_cell_get(in, cell, inst->u.name, false, out)) return false;
    out->src = ref;
    return true;
}

const Type *cell_of_freevar(Infer *in, Ref ref) {
    Val v = {0};
    Emit *emitting = in->emit;
    if (in->inst->nested) return NULL;
    in->emit = NULL;
    bool known = closure_variable(in, ir_inst(in->f, ref), &v);
    in->emit = emitting;
    return known ? v.f.type : NULL;
}

/* -- control flow ------------------------------------------------------------------------------ */

static const Iteration *iteration_of(const Infer *in, Ref ref) {
    for (int32_t k = in->emit ? in->emit->iterations.len : 0; k-- > 0;)
        if (in->emit->iterations.items[k].of == ref) return &in->emit->iterations.items[k];
    return NULL;
}

/* Behind an `iter_more` that fetched: control is here where there is an item, in its block `miss` where there is none. */
static void branch_on_item(Emit *e, const Iteration *fetched, bool never, int32_t yes, int32_t no) {
    int32_t here =
        e->origin
            .items[e->block]; /* fetched in the block before where it may raise into a handler */
    if (never)
        emit(e, OP_unreachable, NULL, NULL, 0);
    else
        emit_jump(e, yes);
    e->block = fetched->miss;
    e->origin.items[fetched->miss] = here;
    emit_jump(e, no);
}

static bool visit_branch(Infer *in, Ref ref) {
    Emit *e = in->emit;
    const Inst *inst = ir_inst(in->f, ref);
    Val cond = {0};
    if (!infer_operand(in, ref, 0, &cond) || !v_truth(in, cond, &cond)) return false;
    int taken = 3;
    if (cond.f.value) taken = cond.f.value->i ? 1 : 2;
    if (e) {
        int32_t yes = e->first[inst->target[0]], no = e->first[inst->target[1]];
        const Iteration *fetched = iteration_of(in, ir_arg(in->f, ref, 0));
        if (fetched)
            branch_on_item(e, fetched, taken == 2, yes, no);
        else if (taken == 3)
            emit_branch(e, v_ref(in, cond), yes, no);
        else
            emit_jump(e, taken == 1 ? yes : no);
        return true;
    }
    if (taken & 1) infer_take_edge(in, inst->block, 1, inst->target[0]);
    if (taken & 2) infer_take_edge(in, inst->block, 2, inst->target[1]);
    return true;
}

/* A function that Python has. */
static bool is_known_function(const Type *type) {
    BindKind kind = type->kind == TY_OBJECT && type->binding ? type->binding->kind : BIND_MISSING;
    bool function = kind == BIND_FUNCTION || kind == BIND_LIBRARY || kind == BIND_FOREIGN;
    return function && type->binding->object;
}

/* A function that code makes of nothing but its code. */
static bool is_made_function(const Type *type) {
    const Binding *b = type->kind == TY_OBJECT ? type->binding : NULL;
    return b && b->kind == BIND_FUNCTION && !b->object && b->handle;
}

/* Python makes one of it: of its code, or as functools.partial does. No other function of its scope is called by its name: that has
 * variables of its own. */
static bool is_returnable_closure(const Type *type) {
    const NestedFunction *nested = type->fields ? NULL : type->cls;
    for (int32_t k = 0; nested && k < nested->nfunctions; k++)
        if (nested->functions[k]->function != nested) return false;
    for (int32_t i = 0; i < type->nitems; i++)
        if (!is_returnable(type->items[i])) return false;
    return !type_is_fresh(type);
}

bool is_returnable(const Type *type) {
    switch (type->kind) {
    case TY_CLOSURE: return is_returnable_closure(type);
    case TY_RANGE:
    case TY_ITER:
    case TY_CELL:
    case TY_UNKNOWN: return false;
    case TY_OBJECT: return is_known_function(type) || is_made_function(type);
    case TY_CHOICE:
        for (int32_t i = 0; i < type->nitems; i++)
            if (!is_returnable(type->items[i])) return false;
        return true;
    case TY_CLASS: /* one of the user's says what is in it */
        if (type->bits == CLS_exception) return type_is_exception(type);
        for (int32_t i = 0; i < type->nparams; i++)
            if (!type->params[i]->open && !is_returnable(type->params[i])) return false;
        return true;
    case TY_OPTIONAL: return is_returnable(type->element);
    case TY_TUPLE:
        for (int32_t i = 0; i < type->nitems; i++)
            if (!is_returnable(type->items[i])) return false;
        return true;
    default: return true;
    }
}

static const Type *declared_result(const Infer *in) {
    if (in->inst->serial == 0) return in->ti->declared;
    return in->inst->declared ? in->inst->declared->result : NULL;
}

static bool check_returned(Infer *in, Ref ref, const Val *v) {
    bool entry = in->inst->serial == 0;
    if (entry && in->ti->options.kernel && !fact_none(&v->f)) return ti_fail(in, ref, E0601, "");
    bool generator = v->f.type->kind == TY_ITER && type_is_generator(v->f.type);
    if (entry && !generator && !is_returnable(ti_stored(in->types, v->f.type))) {
        /* CPython 3.14 has the place of a folded constant only at the constant. */
        Ref value = ir_arg(in->f, ref, 0);
        bool placed = ir_inst(in->f, value)->op == OP_const && ir_inst(in->f, value)->span;
        return ti_fail(in, placed ? value : ref, E0215, ti_text(in, v->f.type));
    }
    if (!v_refuse_fresh(in, v->f.type)) return false;
    const Type *declared = declared_result(in);
    if (declared && !can_convert(v->f.type, declared))
        return ti_fail(in, ref, E0208, ti_text(in, v->f.type), ti_text(in, declared)),
               ti_advise(in, "the signature declares that type of result"), false;
    return true;
}

/* What may be None, where a type is declared that has no None: TypeError where it is. */
static bool must_be_there(const Val *v, const Type *declared) {
    return declared && v->f.type->kind == TY_OPTIONAL && declared->kind != TY_OPTIONAL &&
           declared->kind != TY_none && can_convert(v->f.type->element, declared);
}

static bool visit_return(Infer *in, Ref ref) {
    Val v = {0};
    const Type *wanted = declared_result(in) ? declared_result(in) : in->inst->returned.type;
    if (!container_returned(in, ir_arg(in->f, ref, 0), wanted) || !infer_operand(in, ref, 0, &v))
        return false;
    if (must_be_there(&v, declared_result(in))) v = v_present(in, v);
    if (!check_returned(in, ref, &v)) return false;
    Instance *inst = in->inst;
    if (inst->serial == 0 && ti_has_objects(in) && !v_text(in, &v)) return false;
    if (in->emit) {
        Ref value = v_as(in, v, inst->result.type);
        emit1(in->emit, OP_return, NULL, value);
        return true;
    }
    if (inst->returned.reported) return true;
    if (declared_result(in)) v.f = fact_of(declared_result(in));
    if (!is_returnable(v.f.type)) v.f.items = NULL;
    Fact joined = v.f;
    if (inst->returned.type && !fact_join(in, &inst->returned, &v.f, &joined))
        return infer_return_error(in, ref, &v.f);
    bool generator = joined.type->kind == TY_OPTIONAL && type_is_generator(joined.type->element);
    if (generator && inst->serial == 0) return ti_fail(in, ref, E0215, ti_text(in, joined.type));
    if (type_is_too_large(joined.type)) return infer_too_large(in, ref, joined.type);
    joined.array = NULL;
    if (inst->returned.type != joined.type) inst->returned_at = ref, in->clock++;
    inst->returned = joined;
    if (!inst->repeats) instance_result_known(in->ti, inst);
    return true;
}

/* -- the operations ------------------------------------------------------------------------------ */

static bool visit_call(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Val callee = {0};
    int32_t n = inst->nargs - 1;
    int32_t keywords = (int32_t)inst->imm;
    Val *args = arena_array(in->arena, Val, n + 1);
    bool known = true;
    if (!infer_operand(in, ref, 0, &callee)) return false;
    for (int32_t k = 0; k < n; k++) {
        if (infer_operand(in, ref, k + 1, &args[k])) {
            args[k] = v_bound_method(in, args[k]);
            continue;
        }
        if (in->stop != STOP_REPORTED) return false;
        known = false;
    }
    CallArgs call = {args, n, keywords, inst->u.names};
    return known ? v_call(in, callee, &call, out) : infer_unknown_call(in, callee, &call, out);
}

static bool visit_call_star(Infer *in, Ref ref, Val *out) {
    Val callee = {0}, tuple = {0};
    if (!infer_operand(in, ref, 0, &callee) || !infer_operand(in, ref, 1, &tuple)) return false;
    if (!is_kind(&tuple, TY_TUPLE)) {
        ti_fail(in, ref, E0101, "passing by * how many arguments only the run tells");
        return ti_advise(in, "a tuple has a length that is known; columns of a list of lists are "
                             "[[row[j] for row in rows] for j in range(len(rows[0]))]"),
               false;
    }
    const Inst *inst = ir_inst(in->f, ref);
    int32_t n = tuple.f.type->nitems, keywords = (int32_t)inst->imm;
    const Str *names = inst->u.names;
    Val *args = arena_array(in->arena, Val, n + keywords);
    for (int32_t k = 0; k < n; k++)
        args[k] = v_item(in, tuple, k);
    for (int32_t k = 0; k < keywords; k++)
        if (!infer_operand(in, ref, k + 2, &args[n + k])) return false;
    return v_call(in, callee, &(CallArgs){args, n + keywords, keywords, names}, out);
}

static bool visit_build(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    int32_t n = inst->nargs;
    Val *items = arena_array(in->arena, Val, n);
    for (int32_t k = 0; k < n; k++)
        if (!infer_operand(in, ref, k, &items[k])) return false;
    if (inst->op == OP_build_list && list_is_object(in, ref))
        return v_container_site(in, CLS_list, ref, items, n, out);
    if (inst->op == OP_build_dict) return v_dict_display(in, items, n, out);
    if (inst->op == OP_build_set) return v_container_site(in, CLS_set, ref, items, n, out);
    *out = v_tuple(in, items, n);
    return v_local_list(in, ref, out);
}

static bool visit_slice(Infer *in, Ref ref, Val *out) {
    Val parts[3] = {0};
    for (int32_t k = 0; k < 3; k++)
        if (!infer_operand(in, ref, k, &parts[k])) return false;
    return v_slice(in, parts, out);
}

static bool visit_concat(Infer *in, Ref ref, Val *out) {
    Val a = {0}, b = {0};
    if (!infer_operand(in, ref, 0, &a) || !infer_operand(in, ref, 1, &b)) return false;
    if (ir_inst(in->f, ref)->sub == FLAG_LIST) {
        Val parts[2] = {a, b};
        if (fact_str(&b.f) && !v_text(in, &parts[1])) return false;
        return v_library(in, "operator.extended", &(CallArgs){parts, 2, 0, NULL}, out);
    }
    if (!is_kind(&a, TY_TUPLE) || !is_kind(&b, TY_TUPLE))
        return ti_fail(in, ref, E0101, "unpacking of a value whose length is not known");
    int32_t n = a.f.type->nitems, m = b.f.type->nitems;
    Val *items = arena_array(in->arena, Val, n + m);
    for (int32_t k = 0; k < n + m; k++)
        items[k] = k < n ? v_item(in, a, k) : v_item(in, b, k - n);
    *out = v_tuple(in, items, n + m);
    return true;
}

/* On GPUs the length of a range with a step costs a division: there the item is compared. */
static Ref more_of_range(Infer *in, Val it, Ref counter) {
    if (!in->kernel && target_is_host(in->ti->options.target)) return NO_REF;
    if (!is_kind(&it, TY_RANGE)) return NO_REF;
    return emit_range_more(in->emit, v_ref(in, it), counter);
}

static bool visit_counter_next(Infer *in, Ref ref, Val *out) {
    Emit *e = in->emit;
    Val counter = {0};
    const Type *i64 = i64_type(in->types);
    if (!infer_operand(in, ref, 0, &counter)) return false;
    int64_t known;
    out->f = fact_of(ti_wint(in));
    if (in->unrolled && fact_int_value(&counter.f, &known))
        return out->f = fact_int(in, known + 1), true;
    if (!e) return true;
    out->ref = emit2(e, OP_add, i64, v_as(in, counter, i64), emit_int(e, i64, 1));
    ir_inst(e->out, out->ref)->sub = FLAG_NOWRAP; /* below the length: no wrap */
    return true;
}

/* Does each round of a loop over it need code of its own: by the types of its items, or because the program says so? */
static bool wants_rounds(Infer *in, Ref iter, const Val *of) {
    if (!is_kind(of, TY_TUPLE) || type_is_value(of->f.type) || !of->f.type->nitems) return false;
    const Inst *made = ir_inst(in->f, ir_arg(in->f, iter, 0));
    const Fact *callee =
        made->op == OP_call_py ? &in->facts[ir_arg(in->f, ir_arg(in->f, iter, 0), 0)] : NULL;
    const Binding *b = callee && callee->type ? fact_object(callee) : NULL;
    return (b && str_is(b->name, "quern.literal_unroll")) || tuple_is_mixed(in, of->f.type);
}

/* What a loop goes over, with its length where that stands still: read once, in front of the loop. That of a list is read
 * again each time. */
static bool visit_iter(Infer *in, Ref ref, Val *out) {
    Val of = {0}, length = {0};
    if (!infer_operand(in, ref, 0, &of)) return false;
    of = v_unwrap(in, of);
    if (fact_str(&of.f) && !v_text(in, &of)) return false;
    bool apart = wants_rounds(in, ref, &of);
    if (apart && !unroll_knows(in, ref, of.f.type->nitems)) {
        if (unroll_ask(in, ref, of.f.type->nitems)) return false;
        apart = false; /* too many */
    }
    if ((!apart && !v_iterable(in, &of)) || !v_begin(in, of, out)) return false;
    if (!in->emit || !type_is_counted(out->f.type) || iterates_objects(out->f.type)) return true;
    if (!v_iter_len(in, *out, &length)) return false;
    vec_push(in->arena, &in->emit->iterations, ((Iteration){ref, length, NO_BLOCK}));
    return true;
}

/* Of a generator that is being inferred, what calls itself before it yields anything: as if it gave nothing, until that is known. */
static bool nothing_yet(Infer *in, Val *out) {
    if (in->emit || in->stop != STOP_UNKNOWN || !in->unsettled) return false;
    in->stop = STOP_NONE;
    return out->f = fact_bool(in, false), true;
}

static bool fetch(Infer *in, Ref ref, Val it, Val *out) {
    Val item = {0};
    int32_t miss = in->emit ? emit_block(in->emit) : NO_BLOCK;
    if (!v_next(in, it, miss, &item)) return nothing_yet(in, out);
    out->f = fact_of(bool_type(in->types));
    if (type_is_generator(it.f.type) && generator_instance(it.f.type)->barren)
        out->f = fact_bool(in, false); /* it runs, and the body of the loop never does */
    if (in->emit) vec_push(in->arena, &in->emit->iterations, ((Iteration){ref, item, miss}));
    return true;
}

static bool visit_iter_more(Infer *in, Ref ref, Val *out) {
    Emit *e = in->emit;
    Val it = {0}, counter = {0}, length = {0};
    const Type *i64 = i64_type(in->types);
    int64_t n, at_known;
    if (!infer_operand(in, ref, 0, &it) || !infer_operand(in, ref, 1, &counter)) return false;
    if (!type_is_counted(it.f.type)) return fetch(in, ref, it, out);
    const Iteration *begun = iteration_of(in, it.src);
    if (begun)
        length = begun->value;
    else if (!v_iter_len(in, it, &length))
        return false;
    bool constant = fact_int_value(&length.f, &n);
    if (constant && n <= 0) return out->f = fact_bool(in, false), true;
    if (in->unrolled && constant && fact_int_value(&counter.f, &at_known))
        return out->f = fact_bool(in, at_known < n), true;
    out->f = fact_of(bool_type(in->types));
    if (!e) return true;
    Ref at = v_as(in, counter, i64);
    out->ref = more_of_range(in, it, at);
    if (!out->ref) out->ref = emit2(e, OP_lt, out->f.type, at, v_as(in, length, i64));
    return true;
}

/* The item that was asked for. */
static bool visit_iter_get(Infer *in, Ref ref, Val *out) {
    Val it = {0}, counter = {0};
    Ref more = ir_arg(in->f, ref, 0);
    const Iteration *fetched = iteration_of(in, more);
    if (fetched) return *out = fetched->value, true;
    if (!infer_operand(in, more, 0, &it) || !infer_operand(in, more, 1, &counter)) return false;
    if (!type_is_counted(it.f.type)) return v_next(in, it, NO_BLOCK, out);
    return v_iter_get(in, it, counter, out);
}

/* What has ended was asked last in the block before. */
static bool visit_iter_result(Infer *in, Ref ref, Val *out) {
    Val it = {0};
    Ref more = ir_arg(in->f, ref, 0);
    if (!infer_operand(in, more, 0, &it)) return false;
    const Iteration *fetched = iteration_of(in, more);
    return v_generator_result(in, it, fetched ? fetched->value.ref : NO_REF, out);
}

/* An assignment to a variable of declared type. */
static bool visit_convert(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    const Type *const *locals = in->inst->info->locals;
    Val v = {0};
    if (!infer_operand(in, ref, 0, &v)) return false;
    const Type *to = locals ? locals[inst->imm] : NULL;
    if (!to) return *out = v, true;
    if (must_be_there(&v, to)) v = v_present(in, v);
    if (type_is_number(v.f.type) && to->kind < TY_SCALARS && to->kind != TY_none)
        return v_cast(in, v, to, false, out);
    if (!can_convert(v.f.type, to)) {
        ti_fail(in, ref, E0208, ti_text(in, v.f.type), ti_text(in, to));
        return ti_advise(in, "the option locals declares that type of the variable"), false;
    }
    *out = val_of(fact_of(to));
    if (in->emit) out->ref = v_as(in, v, to);
    return true;
}

static bool visit_poll(Infer *in) {
    if (in->emit) emit(in->emit, OP_poll, NULL, NULL, 0);
    return true;
}

static bool visit_param(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    if (in->told && inst->imm >= in->inst->nslots) return in->stop = STOP_REPORTED, false;
    if (inst->imm < 0 || inst->imm >= in->inst->nslots)
        return ti_fail(in, ref, E0101, "this kind of parameter");
    out->f = in->inst->slots[inst->imm].fact;
    if (out->f.reported) return in->stop = STOP_REPORTED, false;
    if (in->emit) out->ref = in->emit->typed[ref]; /* made with the entry */
    return true;
}

/* One or two operands, then the helper. */
static bool visit_operands(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Val v[3] = {0};
    for (int32_t k = 0; k < inst->nargs; k++)
        if (!infer_operand(in, ref, k, &v[k])) return false;
    bool indexes = inst->op == OP_getitem || inst->op == OP_setitem, taken = false;
    const char *asked = inst->op == OP_getitem   ? "operator.getitem"
                        : inst->op == OP_setitem ? "operator.setitem"
                        : inst->op == OP_delitem ? "operator.delitem"
                                                 : NULL;
    if (asked && (v_overload_operator(in, asked, v, inst->nargs, &taken, out) || taken))
        return !in->stop;
    if (indexes && is_kind(&v[0], TY_ARRAY) && !list_as_index(in, ir_arg(in->f, ref, 1), &v[1]))
        return false;
    switch ((Op)inst->op) {
    case OP_attr: return v_attr(in, v[0], *inst->u.name, out);
    case OP_unary: return v_unary(in, (Operator)inst->sub, v[0], out);
    case OP_binary:
        return v_binary(in, (Operator)inst->sub, inst->imm != 0, v[0], v[1], out) &&
               v_local_list(in, ref, out);
    case OP_truth: return v_truth(in, v[0], out);
    case OP_getitem:
        if (!v_getitem(in, v[0], v[1], out)) return false;
        return v_local_item(in, ref, out), true;
    case OP_setitem: return v_setitem(in, v[0], v[1], v[2]);
    case OP_delitem: return v_object_delitem(in, v[0], v[1]);
    case OP_unpack:
        return inst->sub == FLAG_STARRED ? v_unpack_starred(in, v[0], inst->imm, out)
                                         : v_unpack(in, v[0], (int32_t)inst->imm, out);
    case OP_extract: return *out = v_item(in, v[0], (int32_t)inst->imm), true;
    case OP_setattr: return v_setattr(in, v[0], *inst->u.name, v[1]);
    default: return ti_fail(in, ref, E0101, ir_op_info[inst->op].name);
    }
}

static bool visit(Infer *in, Ref ref, Val *out) {
    Emit *e = in->emit;
    const Inst *inst = ir_inst(in->f, ref);
    if (!e && !list_checked(in, ref)) return false;
    switch ((Op)inst->op) {
    case OP_phi: return visit_phi(in, ref, out);
    case OP_param: return visit_param(in, ref, out);
    case OP_const: return fact_of_const(in, inst->u.value, &out->f);
    case OP_unbound: return out->f.unbound = true;
    case OP_reported: return in->stop = STOP_REPORTED, false;
    case OP_check_bound: return infer_check_bound(in, ref, out);
    case OP_convert: return visit_convert(in, ref, out);
    case OP_global:
    case OP_builtin: return visit_global(in, ref, out);
    case OP_import: return visit_import(in, ref, out);
    case OP_freevar: return visit_freevar(in, ref, out);
    case OP_make_cell: return v_make_cell(in, ref, out);
    case OP_cell_get: return infer_cell_get(in, ref, out);
    case OP_cell_set: return infer_cell_set(in, ref);
    case OP_call_py: return visit_call(in, ref, out);
    case OP_yield: return v_yield(in, ref, out);
    case OP_hold: return infer_hold(in, ref);
    case OP_function: return v_function(in, ref, out);
    case OP_comprehension: return v_comprehension(in, ref, out);
    case OP_call_star: return visit_call_star(in, ref, out);
    case OP_build_tuple:
    case OP_build_list:
    case OP_build_dict:
    case OP_build_set: return visit_build(in, ref, out);
    case OP_build_slice: return visit_slice(in, ref, out);
    case OP_concat: return visit_concat(in, ref, out);
    case OP_iter: return visit_iter(in, ref, out);
    case OP_iter_more: return visit_iter_more(in, ref, out);
    case OP_iter_get: return visit_iter_get(in, ref, out);
    case OP_iter_result: return visit_iter_result(in, ref, out);
    case OP_counter_next: return visit_counter_next(in, ref, out);
    case OP_poll: return visit_poll(in);
    case OP_jump:
        if (e)
            emit_jump(e, e->first[inst->target[0]]);
        else
            infer_take_edge(in, inst->block, 1, inst->target[0]);
        return true;
    case OP_branch: return visit_branch(in, ref);
    case OP_return: return visit_return(in, ref);
    case OP_raise_py: return infer_raise(in, ref);
    case OP_caught: return infer_caught(in, ref, out);
    case OP_match_py: return infer_match(in, ref, out);
    case OP_reraise: return infer_reraise(in, ref);
    case OP_unreachable:
        if (e) emit(e, OP_unreachable, NULL, NULL, 0);
        return true;
    default: return visit_operands(in, ref, out);
    }
}

static bool makes_iterator(const Infer *in, Ref ref) {
    Op op = (Op)ir_inst(in->f, ref)->op;
    return op == OP_call_py || op == OP_call_star || op == OP_attr || op == OP_param;
}

bool infer_visit(Infer *in, Ref ref, Val *out) {
    *out = (Val){.src = ref};
    in->at = ref;
    if (!visit(in, ref, out)) return false;
    if (!in->emit) assumed_follows(in, ref, &out->f);
    if (is_kind(out, TY_ITER) && makes_iterator(in, ref) && !v_keep_made(in, ref, out))
        return false;
    return !out->f.type || !type_is_too_large(out->f.type) || infer_too_large(in, ref, out->f.type);
}

/* -- the fixed point ----------------------------------------------------------------------------- */

static bool operands_stand(const Infer *in, Ref ref, int32_t since) {
    const Inst *inst = ir_inst(in->f, ref);
    for (int32_t k = 0; k < inst->nargs; k++)
        if (in->changed[ir_arg(in->f, ref, k)] > since) return false;
    if (inst->op != OP_call_py) return true;
    Ref callee = ir_arg(in->f, ref, 0); /* its object, its closure variables are arguments, too */
    const Inst *made = ir_inst(in->f, callee);
    bool has = made->op == OP_attr || made->op == OP_comprehension || made->op == OP_call_py;
    for (int32_t k = 0; has && k < made->nargs; k++)
        if (in->changed[ir_arg(in->f, callee, k)] > since) return false;
    return true;
}

/* Has nothing changed since the last visit? An item depends on what was asked for it. */
static bool is_current(const Infer *in, Ref ref) {
    int32_t since = in->visited[ref];
    if (since < 0 || !operands_stand(in, ref, since)) return false;
    return ir_inst(in->f, ref)->op != OP_iter_get ||
           operands_stand(in, ir_arg(in->f, ref, 0), since);
}

static void store_fact(Infer *in, Ref ref, Fact f) {
    Fact *old = &in->facts[ref];
    if (fact_equal(old, &f)) return;
    if (++in->updates[ref] > HIGH_UPDATES) return;
    Fact joined;
    if (in->updates[ref] > LOW_UPDATES && fact_join(in, old, &f, &joined)) {
        if (fact_equal(old, &joined)) return;
        f = joined;
    }
    *old = f;
    in->changed[ref] = ++in->clock;
}

/* Whatever it gives is not known, nor which way a branch goes. */
static bool pass_by(Infer *in, const Inst *inst) {
    if (in->stop == STOP_ABORT) return false;
    for (int k = 0; k < 2 && inst->op == OP_branch; k++)
        infer_take_edge(in, inst->block, 1 << k, inst->target[k]);
    return true;
}

/* Visits one instruction; false: the visit of the block ends here. */
static bool step(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_removed || is_current(in, ref) || (in->told && in->told[ref])) return true;
    Val out = {0};
    in->stop = STOP_NONE;
    in->unsettled = false;
    int32_t now = in->clock;
    bool ok = infer_visit(in, ref, &out);
    if (!ok && in->stop == STOP_REPORTED) infer_reported(in, ref, &out), ok = true;
    if (inst->error != NO_BLOCK && (ok || in->stop != STOP_UNKNOWN))
        infer_take_edge(in, inst->block, 4, inst->error);
    if (!ok) {
        in->visited[ref] = -1;
        return in->passes && pass_by(in, inst);
    }
    in->visited[ref] = in->unsettled ? -1 : now;
    bool value = ir_op_info[inst->op].result != RES_VOID;
    if (value) store_fact(in, ref, out.f);
    return true;
}

static void visit_block(Infer *in, int32_t block) {
    const Block *b = &in->f->blocks.items[block];
    in->stopped[block] = NO_REF;
    for (int32_t i = 0; i < b->insts.len; i++) {
        if (step(in, b->insts.items[i])) continue;
        in->stopped[block] = b->insts.items[i];
        return;
    }
}

static void walk(Infer *in) {
    int32_t before = -1;
    for (int round = 0; before != in->clock && round < MAX_ROUNDS; round++) {
        before = in->clock;
        for (int32_t i = 0; i < in->cfg.nrpo && !in->ti->aborted; i++) {
            if (!in->reached[in->cfg.rpo[i]]) continue;
            visit_block(in, in->cfg.rpo[i]);
            if (in->stop == STOP_ABORT) in->ti->aborted = true;
        }
    }
}

/* What met in phis may be of one type by now, as a display that was a tuple until it became a list; but phis of a loop tell each other of the
 * conflict for ever. true: they are to be looked at again. */
static bool forget_conflicts(Infer *in) {
    bool any = false;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        if (ir_inst(in->f, ref)->op != OP_phi || !in->facts[ref].conflict) continue;
        in->facts[ref] = (Fact){0};
        in->changed[ref] = ++in->clock;
        in->visited[ref] = -1;
        any = true;
    }
    return any;
}

/* Of nobody knows what yet: when its caller does, there is another instance, and nothing need be assumed for this one. */
bool instance_is_open(const Instance *inst) {
    for (int32_t i = 0; i < inst->nslots; i++) {
        const Type *type = inst->slots[i].fact.type;
        if (type && type->open) return true;
    }
    return false;
}

/* Recursion: what it gives is a container of nobody knows what as long as nothing else is known. What is done with it says more. */
static void assume_open_result(Infer *in) {
    Instance *inst = in->inst;
    const Fact open = fact_of(inst->left_open);
    if (inst->repeats || inst->result.type) return;
    inst->result = open;
    in->clock++;
    walk(in);
    if (inst->result.type == open.type) inst->result = (Fact){0};
}

bool infer_is_stuck(const Infer *in) {
    for (int32_t i = 0; i < in->cfg.nrpo; i++)
        if (in->reached[in->cfg.rpo[i]] && in->stopped[in->cfg.rpo[i]]) return true;
    return false;
}

/* An int that was assumed of a container's items does not do for what is done with them, in front of what would say what they are. All of
 * inference begins again after this round: what lies behind is looked at for what it says of them. */
static void explore(Infer *in) {
    if (in->ti->aborted || !infer_is_stuck(in) || !assumed_any(in->ti)) return;
    in->passes = true;
    walk(in);
    in->passes = false;
}

/* A negative constant that meets a uint64 is an error only when all is known: it may not stay a constant. */
void infer_fixed_point(Infer *in) {
    in->reached[0] = true;
    in->settled = false;
    walk(in); /* no further frame for each level of calls */
    if (forget_conflicts(in)) walk(in);
    bool open = instance_is_open(in->inst), said = open || in->inst->declared || in->inst->library;
    in->inst->left_open = said || !in->containers ? NULL : container_left_open(in);
    if (in->inst->left_open && in->inst->recursive) assume_open_result(in);
    while (!in->ti->aborted && !open && (container_close_webs(in) || cell_close(in))) {
        walk(in);
        if (forget_conflicts(in)) walk(in);
    }
    explore(in);
    if (in->inst->left_open &&
        !container_is_closed(in, in->inst->left_open, in->inst->returned.type))
        in->inst->left_open = NULL;
    in->settled = true;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        if (!in->facts[ref].conflict || !in->facts[ref].python) continue;
        in->changed[ref] = ++in->clock;
        walk(in);
    }
}

static bool stands_before(const Infer *in, Ref a, Ref b) {
    Span s = ti_span(in, a), t = ti_span(in, b);
    return s.line < t.line || (s.line == t.line && s.column < t.column);
}

int32_t infer_stops(const Infer *in, Ref *stops) {
    int32_t n = 0;
    for (int32_t i = 0; i < in->cfg.nrpo; i++) {
        int32_t block = in->cfg.rpo[i], at = n;
        if (!in->reached[block] || !in->stopped[block]) continue;
        for (; at > 0 && stands_before(in, in->stopped[block], stops[at - 1]); at--)
            stops[at] = stops[at - 1];
        stops[at] = in->stopped[block];
        n++;
    }
    return n;
}
