/* infer.c - type inference: the walk over untyped SSA, and ti_run.
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
#include "typeinfer/infer.h"
#include "frontend/base/os.h"

enum { LOW_UPDATES = 12, HIGH_UPDATES = 40, MAX_ROUNDS = 1000, STACK_RESERVE = 48 << 10 };

/* -- edges and blocks -------------------------------------------------------------------------- */

static int32_t error_target(const Infer *in, int32_t block) {
    const Block *b = &in->f->blocks.items[block];
    for (int32_t i = b->insts.len; i-- > 0;) {
        const Inst *inst = ir_inst(in->f, b->insts.items[i]);
        if (inst->op != OP_removed && inst->error != NO_BLOCK) return inst->error;
    }
    return NO_BLOCK;
}

bool infer_edge_taken(const Infer *in, int32_t from, int32_t to) {
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

/* An operand as a value. A phi of types that have no join is an error here, at its use. */
static bool operand(Infer *in, Ref at, int32_t k, Val *out);

/* -- phis --------------------------------------------------------------------------------------- */

static bool visit_phi(Infer *in, Ref ref, Val *out) {
    const Inst *phi = ir_inst(in->f, ref);
    const Block *block = &in->f->blocks.items[phi->block];
    Fact all = {0};
    for (int32_t k = 0; k < phi->nargs; k++) {
        if (!infer_edge_taken(in, block->preds.items[k], phi->block)) continue;
        Fact f = in->facts[ir_arg(in->f, ref, k)];
        Fact joined;
        if (!all.type && !all.unbound && !all.conflict && !all.reported)
            all = f;
        else
            fact_join(in, &all, &f, &joined), all = joined;
    }
    /* a constant that may also be unassigned is kept: its use is guarded first */
    out->f = all;
    return true;
}

/* "variable 'x'", or what has no name: a conditional expression. */
static const char *what_differs(Infer *in, Ref ref) {
    if (ref < in->f->var_names.len && in->f->var_names.items[ref].len)
        return str_printf(in->arena, "variable '" STR_FMT "'", STR_ARG(in->f->var_names.items[ref]))
            .bytes;
    return "the value of an expression";
}

static bool has_name(const Infer *in, Ref ref) {
    return ref < in->f->var_names.len && in->f->var_names.items[ref].len;
}

/* Where a value with such a type comes from, which may not be what the message points at. */
static void note_origin(Infer *in, Ref ref, const char *where) {
    const Inst *inst = ir_inst(in->f, ref);
    const char *type = ti_text(in, in->facts[ref].type);
    if (inst->op == OP_param && inst->imm < in->f->nparams)
        diag_note(in->diags, NULL, "'" STR_FMT "' is an argument of type %s",
                  STR_ARG(in->f->param_names[inst->imm]), type);
    else if (inst->span && in->facts[ref].type->kind == TY_OBJECT)
        diag_note(in->diags, ti_spanp(in, ref), "this is the %s", type);
    else if (inst->span)
        diag_note(in->diags, ti_spanp(in, ref), "%s type %s", where, type);
}

/* The first instruction below phis that gives `want`, for the place of an assignment. */
static Ref defining(Infer *in, Ref ref, const Type *want, int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op != OP_phi) return in->facts[ref].type == want ? ref : NO_REF;
    if (depth == 0) return NO_REF;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(in->f, ref, k);
        if (arg == ref) continue;
        Ref found = defining(in, arg, want, depth - 1);
        if (found) return found;
    }
    return NO_REF;
}

/* Two assignments that do not meet in a conflicting phi. */
static void collect(Infer *in, Ref ref, const Fact *facts[2], int depth) {
    const Inst *inst = ir_inst(in->f, ref);
    const Fact *f = &in->facts[ref];
    Fact both;
    if (inst->op == OP_phi && f->conflict && depth > 0) {
        for (int32_t k = 0; k < inst->nargs && !facts[1]; k++)
            if (ir_arg(in->f, ref, k) != ref) collect(in, ir_arg(in->f, ref, k), facts, depth - 1);
    } else if (!facts[0] && f->type && !f->conflict) {
        facts[0] = f;
    } else if (f->type && !f->conflict && !fact_join(in, facts[0], f, &both)) {
        facts[1] = f;
    }
}

static void note_negative(Infer *in, const Fact *f, const Fact *other) {
    int64_t value;
    if (other->type->kind != TY_u64) return;
    if (fact_int_value(f, &value) && value < 0)
        diag_note(in->diags, NULL,
                  "uint64 does not hold %lld; convert one side, for example np.int64(x)",
                  (long long)value);
    else if (f->python & MET_NEGATIVE)
        ti_advise(in, "a negative int is among the ints that meet there, and uint64 does not hold "
                      "it; convert one side, for example np.int64(x)");
}

static bool conflict_error(Infer *in, Ref at, Ref phi) {
    const Fact *facts[2] = {0};
    if (!ti_stop(in)) return false;
    collect(in, phi, facts, 8);
    if (!facts[0]) facts[0] = &in->facts[phi];
    if (!facts[1]) facts[1] = facts[0];
    diag_add(in->diags, E0204, ti_spanp(in, at), what_differs(in, phi), ti_text(in, facts[0]->type),
             ti_text(in, facts[1]->type));
    for (int i = 0; i < 2; i++) {
        Ref def = defining(in, phi, facts[i]->type, 8);
        if (def) note_origin(in, def, has_name(in, phi) ? "assigned here with" : "this has the");
    }
    for (int i = 0; i < 2; i++)
        note_negative(in, facts[i], facts[1 - i]);
    return false;
}

static bool operand(Infer *in, Ref at, int32_t k, Val *out) {
    Ref ref = ir_arg(in->f, at, k);
    *out = infer_val(in, ref);
    if (out->f.reported) return in->stop = STOP_REPORTED, false;
    if (out->f.conflict && (in->settled || !out->f.python)) return conflict_error(in, at, ref);
    out->f.conflict = false;
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
    } else {
        b = r->builtin(r->user, *inst->u.name);
    }
    return binding_result(in, b, *inst->u.name, out);
}

static bool visit_freevar(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Resolver *r = in->ti->resolver;
    const Binding *b = r->freevar(r->user, in->inst->function->handle, (int32_t)inst->imm);
    Str name = inst->u.name ? *inst->u.name : STR("a closure variable");
    return binding_result(in, b, name, out);
}

/* -- locals that may be unassigned --------------------------------------------------------------- */

/* Typed bool: is the local assigned? Phis get a parallel web of bool phis, completed at the end. */
static Ref emit_bound(Infer *in, Ref ref) {
    Emit *e = in->emit;
    if (e->bound[ref]) return e->bound[ref];
    const Inst *inst = ir_inst(in->f, ref);
    const Type *boolean = bool_type(in->types);
    if (inst->op != OP_phi || !in->facts[ref].unbound)
        return e->bound[ref] = emit_int(e, boolean, inst->op != OP_unbound);
    int32_t first = e->first[inst->block];
    Ref phi = ir_insert(e->out, first, 0, OP_phi, NULL, 0);
    ir_inst(e->out, phi)->type = boolean;
    if (e->insert_at >= 0 && e->block == first) e->insert_at++;
    if (first == 0) e->pool_at++;
    e->bound[ref] = phi;
    vec_push(in->arena, &e->bound_phis, ref);
    return phi;
}

/* One operand for each typed predecessor, in order. */
void infer_finish_bound(Infer *in) {
    Emit *e = in->emit;
    for (int32_t i = 0; i < e->bound_phis.len; i++) {
        Ref ref = e->bound_phis.items[i];
        const Inst *phi = ir_inst(in->f, ref);
        const Block *from = &in->f->blocks.items[phi->block];
        int32_t first = e->first[phi->block];
        for (int32_t p = 0; p < e->out->blocks.items[first].preds.len; p++) {
            int32_t source = e->origin.items[e->out->blocks.items[first].preds.items[p]];
            for (int32_t k = 0; k < from->preds.len; k++) {
                if (from->preds.items[k] != source) continue;
                ir_add_arg(e->out, e->bound[ref], emit_bound(in, ir_arg(in->f, ref, k)));
                break;
            }
        }
    }
}

/* Only what has no zero, or no value at all, is still unbound here: fact_join. */
static bool unbound_error(Infer *in, Ref ref, const Fact *f) {
    const Str *name = ir_inst(in->f, ref)->u.name;
    if (!ti_stop(in)) return false;
    ti_fail(in, ref, E0212, str_copy(in->arena, name->bytes, (size_t)name->len).bytes);
    if (!f->type) return false;
    diag_note(in->diags, NULL,
              "a kernel does not test that when it runs, except with debug=True: a number without "
              "value is then 0, but there is no such %s: give it a value before the branch or loop "
              "that may be left out",
              ti_text(in, f->type));
    return false;
}

static bool visit_check_bound(Infer *in, Ref ref, Val *out) {
    Emit *e = in->emit;
    Ref arg = ir_arg(in->f, ref, 0);
    *out = infer_val(in, arg);
    if (out->f.reported) return in->stop = STOP_REPORTED, false;
    if (out->f.conflict) return true; /* an error at its use */
    if (!out->f.unbound) return out->f.type || ((in->stop = STOP_UNKNOWN), false);
    if (!in->guards) return unbound_error(in, ref, &out->f);
    if (e) {
        const Type *boolean = bool_type(in->types);
        Ref missing =
            out->f.type ? emit1(e, OP_not, boolean, emit_bound(in, arg)) : emit_int(e, boolean, 1);
        emit_named_guard(e, GUARD_unbound_local, missing, NULL, 0, ir_inst(in->f, ref)->u.name);
    }
    out->f.unbound = false;
    return out->f.type || ((in->stop = STOP_UNBOUND), false);
}

/* -- control flow ------------------------------------------------------------------------------ */

static bool visit_branch(Infer *in, Ref ref) {
    Emit *e = in->emit;
    const Inst *inst = ir_inst(in->f, ref);
    Val cond;
    if (!operand(in, ref, 0, &cond) || !v_truth(in, cond, &cond)) return false;
    int taken = 3;
    if (cond.f.value) taken = cond.f.value->i ? 1 : 2;
    if (e) {
        int32_t yes = e->first[inst->target[0]], no = e->first[inst->target[1]];
        if (taken == 3)
            emit_branch(e, v_ref(in, cond), yes, no);
        else
            emit_jump(e, taken == 1 ? yes : no);
        return true;
    }
    if (taken & 1) infer_take_edge(in, inst->block, 1, inst->target[0]);
    if (taken & 2) infer_take_edge(in, inst->block, 2, inst->target[1]);
    return true;
}

static bool same_place(const Infer *in, Ref a, Ref b) {
    Span s = ti_span(in, a), t = ti_span(in, b);
    return s.line == t.line && s.column == t.column;
}

/* Both places, in the order of the source. */
static bool return_error(Infer *in, Ref ref, const Fact *f) {
    Ref other = in->inst->returned_at;
    if (!ti_stop(in)) return false;
    const char *here = ti_text(in, f->type), *there = ti_text(in, in->inst->result.type);
    bool first = other && ti_span(in, ref).line < ti_span(in, other).line;
    ti_fail(in, first ? other : ref, E0205, first ? here : there, first ? there : here);
    if (other && same_place(in, ref, other)) { /* CPython made two of one statement */
        note_origin(in, ir_arg(in->f, other, 0), "this has the");
        note_origin(in, ir_arg(in->f, ref, 0), "this has the");
    } else if (other) {
        diag_note(in->diags, ti_spanp(in, first ? ref : other), "returned here: %s",
                  first ? here : there);
    }
    return false;
}

static bool is_returnable(const Type *type) {
    switch (type->kind) {
    case TY_RANGE:
    case TY_SLICE:
    case TY_ITER:
    case TY_OBJECT: return false;
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
    const Binding *object = fact_object(&v->f);
    if (entry && !is_returnable(v->f.type) && !(object && object->kind == BIND_MEMBER)) {
        /* CPython 3.14 has the place of a folded constant only at the constant. */
        Ref value = ir_arg(in->f, ref, 0);
        bool placed = ir_inst(in->f, value)->op == OP_const && ir_inst(in->f, value)->span;
        return ti_fail(in, placed ? value : ref, E0215, ti_text(in, v->f.type));
    }
    const Type *declared = declared_result(in);
    if (declared && !can_convert(v->f.type, declared))
        return ti_fail(in, ref, E0208, ti_text(in, v->f.type), ti_text(in, declared)),
               ti_advise(in, "the signature declares that type of result"), false;
    return true;
}

static bool too_large(Infer *in, Ref ref, const Type *type);

static bool visit_return(Infer *in, Ref ref) {
    Val v;
    if (!operand(in, ref, 0, &v) || !check_returned(in, ref, &v)) return false;
    Instance *inst = in->inst;
    if (in->emit) {
        Ref value = v_as(in, v, inst->result.type);
        emit1(in->emit, OP_return, NULL, value);
        return true;
    }
    if (inst->result.reported) return true;
    if (declared_result(in)) v.f = fact_of(declared_result(in));
    if (!is_returnable(v.f.type)) v.f.items = NULL;
    Fact joined = v.f;
    if (inst->result.type && !fact_join(in, &inst->result, &v.f, &joined))
        return return_error(in, ref, &v.f);
    if (type_is_too_large(joined.type)) return too_large(in, ref, joined.type);
    joined.array = NULL;
    if (!inst->result.type || !fact_equal(&joined, &inst->result)) {
        if (!inst->result.type || inst->result.type != joined.type) inst->returned_at = ref;
        inst->result = joined;
        in->ti->changes++;
    }
    return true;
}

static bool visit_raise(Infer *in, Ref ref);

/* -- the operations ------------------------------------------------------------------------------ */

static bool visit_call(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    Val callee;
    int32_t n = inst->nargs - 1;
    int32_t keywords = (int32_t)inst->imm;
    Val *args = arena_array(in->arena, Val, n + 1);
    bool known = true;
    if (!operand(in, ref, 0, &callee)) return false;
    for (int32_t k = 0; k < n; k++) {
        if (operand(in, ref, k + 1, &args[k])) continue;
        if (in->stop != STOP_REPORTED) return false;
        known = false;
    }
    CallArgs call = {args, n, keywords, inst->u.names};
    return known ? v_call(in, callee, &call, out) : infer_unknown_call(in, callee, &call, out);
}

static bool visit_call_star(Infer *in, Ref ref, Val *out) {
    Val callee, tuple;
    if (!operand(in, ref, 0, &callee) || !operand(in, ref, 1, &tuple)) return false;
    if (!is_kind(&tuple, TY_TUPLE)) return ti_fail(in, ref, E0213, ti_text(in, tuple.f.type), 0);
    const Inst *inst = ir_inst(in->f, ref);
    int32_t n = tuple.f.type->nitems, keywords = (int32_t)inst->imm;
    const Str *names = inst->u.names;
    Val *args = arena_array(in->arena, Val, n + keywords);
    for (int32_t k = 0; k < n; k++)
        args[k] = v_item(in, tuple, k);
    for (int32_t k = 0; k < keywords; k++)
        if (!operand(in, ref, k + 2, &args[n + k])) return false;
    return v_call(in, callee, &(CallArgs){args, n + keywords, keywords, names}, out);
}

static bool visit_build(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    int32_t n = inst->nargs;
    Val *items = arena_array(in->arena, Val, n);
    for (int32_t k = 0; k < n; k++)
        if (!operand(in, ref, k, &items[k])) return false;
    *out = v_tuple(in, items, n);
    return true;
}

static bool visit_slice(Infer *in, Ref ref, Val *out) {
    Val parts[3];
    for (int32_t k = 0; k < 3; k++)
        if (!operand(in, ref, k, &parts[k])) return false;
    return v_slice(in, parts, out);
}

static bool visit_concat(Infer *in, Ref ref, Val *out) {
    Val a, b;
    if (!operand(in, ref, 0, &a) || !operand(in, ref, 1, &b)) return false;
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
static Ref more_of_range(Infer *in, Ref length, Ref counter) {
    if (!in->kernel && target_is_host(in->ti->options.target)) return NO_REF;
    if (ir_inst(in->f, length)->op != OP_iter_len) return NO_REF;
    Val it = infer_val(in, ir_arg(in->f, length, 0));
    if (!is_kind(&it, TY_RANGE)) return NO_REF;
    return emit_range_more(in->emit, v_ref(in, it), counter);
}

static bool visit_counter(Infer *in, Ref ref, Op op, Val *out) {
    Emit *e = in->emit;
    Val a, b;
    const Type *i64 = i64_type(in->types);
    if (!operand(in, ref, 0, &a)) return false;
    if (op == OP_counter_next) {
        out->f = fact_of(ti_wint(in));
        if (!e) return true;
        out->ref = emit2(e, OP_add, i64, v_as(in, a, i64), emit_int(e, i64, 1));
        ir_inst(e->out, out->ref)->sub = FLAG_NOWRAP; /* below the length: no wrap */
        return true;
    }
    if (!operand(in, ref, 1, &b)) return false;
    int64_t n;
    if (fact_int_value(&b.f, &n) && n <= 0) return out->f = fact_bool(in, false), true;
    out->f = fact_of(bool_type(in->types));
    if (!e) return true;
    out->ref = more_of_range(in, ir_arg(in->f, ref, 1), v_as(in, a, i64));
    if (!out->ref) out->ref = emit2(e, OP_lt, out->f.type, v_as(in, a, i64), v_as(in, b, i64));
    return true;
}

/* An assignment to a variable of declared type. */
static bool visit_convert(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    const Type *const *locals = in->inst->info->locals;
    Val v;
    if (!operand(in, ref, 0, &v)) return false;
    const Type *to = locals ? locals[inst->imm] : NULL;
    if (!to) return *out = v, true;
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
    Val v[3];
    for (int32_t k = 0; k < inst->nargs; k++)
        if (!operand(in, ref, k, &v[k])) return false;
    switch ((Op)inst->op) {
    case OP_attr: return v_attr(in, v[0], *inst->u.name, out);
    case OP_unary: return v_unary(in, (Operator)inst->sub, v[0], out);
    case OP_binary: return v_binary(in, (Operator)inst->sub, inst->imm != 0, v[0], v[1], out);
    case OP_truth: return v_truth(in, v[0], out);
    case OP_getitem: return v_getitem(in, v[0], v[1], out);
    case OP_setitem: return v_setitem(in, v[0], v[1], v[2]);
    case OP_unpack: return v_unpack(in, v[0], (int32_t)inst->imm, out);
    case OP_extract: return *out = v_item(in, v[0], (int32_t)inst->imm), true;
    case OP_iter: v[0] = v_unwrap(in, v[0]); return *out = v[0], v_iterable(in, v[0]);
    case OP_iter_len: return v_iter_len(in, v[0], out);
    case OP_iter_get: return v_iter_get(in, v[0], v[1], out);
    case OP_setattr: return ti_fail(in, ref, E0101, "assignment to an attribute");
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
    case OP_check_bound: return visit_check_bound(in, ref, out);
    case OP_convert: return visit_convert(in, ref, out);
    case OP_global:
    case OP_builtin: return visit_global(in, ref, out);
    case OP_freevar: return visit_freevar(in, ref, out);
    case OP_call_py: return visit_call(in, ref, out);
    case OP_call_star: return visit_call_star(in, ref, out);
    case OP_build_tuple:
    case OP_build_list: return visit_build(in, ref, out);
    case OP_build_slice: return visit_slice(in, ref, out);
    case OP_concat: return visit_concat(in, ref, out);
    case OP_counter_less:
    case OP_counter_next: return visit_counter(in, ref, (Op)inst->op, out);
    case OP_poll: return visit_poll(in);
    case OP_jump:
        if (e)
            emit_jump(e, e->first[inst->target[0]]);
        else
            infer_take_edge(in, inst->block, 1, inst->target[0]);
        return true;
    case OP_branch: return visit_branch(in, ref);
    case OP_return: return visit_return(in, ref);
    case OP_raise_py: return visit_raise(in, ref);
    case OP_unreachable:
        if (e) emit(e, OP_unreachable, NULL, NULL, 0);
        return true;
    default: return visit_operands(in, ref, out);
    }
}

/* The result of a recursive function that holds the result of its own call never stops growing. */
static bool too_large(Infer *in, Ref ref, const Type *type) {
    const char *what = type->depth > TYPE_MAX_DEPTH ? "a tuple nested more than %d deep"
                                                    : "a tuple of more than %d numbers and arrays";
    int limit = type->depth > TYPE_MAX_DEPTH ? TYPE_MAX_DEPTH : TYPE_MAX_PARTS;
    if (!ti_stop(in)) return false;
    diag_add(in->diags, E0105, ti_spanp(in, ref), str_printf(in->arena, what, limit).bytes);
    if (in->inst->recursive)
        ti_advise(in, "with each call of a function from itself the type grows: the result of a "
                      "recursive function "
                      "must not be a part of its result");
    return false;
}

bool infer_visit(Infer *in, Ref ref, Val *out) {
    *out = (Val){.src = ref};
    in->at = ref;
    if (!visit(in, ref, out)) return false;
    return !out->f.type || !type_is_too_large(out->f.type) || too_large(in, ref, out->f.type);
}

/* -- raise -------------------------------------------------------------------------------------- */

static const Binding *exception_of(const Val *v) {
    const Binding *b = fact_object(&v->f);
    return b && b->kind == BIND_EXCEPTION ? b : NULL;
}

/* The arguments of the exception: those of the call that made it. */
static bool raise_args(Infer *in, Ref exception, RaiseSite *site, Ref *refs, int32_t *n) {
    const Inst *inst = ir_inst(in->f, exception);
    *n = 0;
    if (inst->op != OP_call_py) return true;
    for (int32_t k = 1; k < inst->nargs; k++) {
        Val v;
        if (!operand(in, exception, k, &v)) return false;
        const Str *text = fact_str(&v.f);
        if (text && k == 1) {
            site->has_message = true, site->message = *text;
        } else if (type_is_scalar(v.f.type) && *n < 8) {
            if (in->emit) refs[*n] = v_ref(in, v);
            ++*n;
        } else {
            return ti_fail(
                in, exception, E0101,
                "an exception argument that is neither a number nor a constant first string");
        }
    }
    return true;
}

/* One of the calls with arguments that may have made `exception`, where paths meet; NO_REF: none has any. */
static Ref made_with_arguments(Infer *in, Ref exception) {
    Bits seen = bits_new(in->arena, in->f->insts.len);
    Vec(Ref) todo = {0};
    vec_push(in->arena, &todo, exception);
    while (todo.len) {
        Ref ref = vec_pop(&todo);
        const Inst *inst = ir_inst(in->f, ref);
        if (inst->op == OP_call_py && inst->nargs > 1) return ref;
        if ((inst->op != OP_phi && inst->op != OP_check_bound) || bits_get(&seen, ref)) continue;
        bits_set(&seen, ref);
        for (int32_t k = 0; k < inst->nargs; k++)
            vec_push(in->arena, &todo, ir_arg(in->f, ref, k));
    }
    return NO_REF;
}

/* Exceptions are no values yet: the arguments of one are known only where a single call made it. */
static bool raise_known(Infer *in, Ref ref, Ref exception) {
    if (ir_inst(in->f, exception)->op == OP_call_py) return true;
    Ref made = made_with_arguments(in, exception);
    if (!made) return true;
    ti_fail(in, ref, E0101, "raising an exception that was made on one of several paths");
    if (in->report) {
        diag_note(in->diags, ti_spanp(in, made), "one is made here");
        diag_note(in->diags, NULL, "raise each where it is made");
    }
    return false;
}

static bool visit_raise(Infer *in, Ref ref) {
    Emit *e = in->emit;
    Val v;
    if (ir_inst(in->f, ref)->nargs == 0) return ti_fail(in, ref, E0101, "a bare raise");
    if (!operand(in, ref, 0, &v)) return false;
    const Binding *b = exception_of(&v);
    if (!b) return ti_fail(in, ref, E0101, "raising a value that is not an exception");
    if (!raise_known(in, ref, v.src)) return false;
    int32_t error = ir_inst(in->f, ref)->error;
    RaiseSite *site = arena_new(in->arena, RaiseSite);
    *site = (RaiseSite){.class_name = b->name, .class_handle = b->handle};
    Ref refs[8];
    int32_t n;
    if (!raise_args(in, v.src, site, refs, &n)) return false;
    if (!e) {
        if (error != NO_BLOCK) infer_take_edge(in, ir_inst(in->f, ref)->block, 4, error);
        return true;
    }
    if (!in->guards) { /* kernels outside debug: the work-item ends */
        const Type *result = in->inst->result.type;
        emit1(e, OP_return, NULL, emit_undef(e, lower_type(in->ti, result)));
        return true;
    }
    Ref raise = emit(e, OP_raise, NULL, refs, n);
    ir_inst(e->out, raise)->u.exception = site;
    return true;
}

/* -- the fixed point ----------------------------------------------------------------------------- */

/* Has nothing changed since the last visit? */
static bool is_current(const Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (in->visited[ref] < 0) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (in->changed[ir_arg(in->f, ref, k)] > in->visited[ref]) return false;
    return true;
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

/* Visits one instruction; false: the visit of the block ends here. */
static bool step(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_removed || is_current(in, ref) || (in->told && in->told[ref])) return true;
    Val out;
    in->stop = STOP_NONE;
    in->unsettled = false;
    int32_t now = in->clock;
    bool ok = infer_visit(in, ref, &out);
    if (!ok && in->stop == STOP_REPORTED) infer_reported(in, ref, &out), ok = true;
    if (inst->error != NO_BLOCK && in->stop != STOP_UNKNOWN)
        infer_take_edge(in, inst->block, 4, inst->error);
    if (!ok) {
        in->visited[ref] = -1;
        return false;
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

/* A negative constant that meets a uint64 is an error only when all is known: it may not stay a constant. */
void infer_fixed_point(Infer *in) {
    in->reached[0] = true;
    in->settled = false;
    walk(in);
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

/* The first instruction that is in error says so; one that waits for a recursive call only if there
 * is no other. */
static bool report(Infer *in) {
    Ref waiting = NO_REF, *stops = arena_array(in->arena, Ref, in->cfg.nrpo + 1);
    int32_t n = infer_stops(in, stops);
    for (int32_t i = 0; i < n; i++) {
        Ref ref = stops[i];
        Val out;
        in->stop = STOP_NONE;
        in->report = true;
        bool ok = infer_visit(in, ref, &out);
        in->report = false;
        if (!ok && in->stop == STOP_ERROR) return false;
        if (!ok && in->stop == STOP_UNKNOWN && !waiting) waiting = ref;
    }
    if (!waiting || in->inst->state == INST_PROVISIONAL || in->inst->result.type) return true;
    in->report = true;
    ti_fail(in, waiting, E0211, "");
    in->report = false;
    return false;
}

static void alloc_state(Infer *in) {
    int32_t n = in->f->insts.len, blocks = in->f->blocks.len;
    in->facts = arena_array(in->arena, Fact, n);
    in->changed = arena_array(in->arena, int32_t, n);
    in->visited = arena_alloc(in->arena, sizeof(int32_t) * (size_t)n);
    memset(in->visited, -1, sizeof(int32_t) * (size_t)n);
    in->updates = arena_array(in->arena, int32_t, n);
    in->reached = arena_array(in->arena, uint8_t, blocks);
    in->edges = arena_array(in->arena, uint8_t, blocks);
    in->stopped = arena_array(in->arena, Ref, blocks);
    in->clock = 1;
}

static Func *source_of(Ti *ti, Instance *inst) {
    if (ti->all && !inst->library) return infer_refused_source(ti, inst);
    MapValue *slot = map_put(&ti->sources, map_key(inst->function));
    if (slot->ptr) return slot->ptr;
    ti->source.diags = &inst->diags;
    Func *f = bc_build(&ti->source, inst->info->code);
    ti->source.diags = ti->module->diags;
    if (f) map_put(&ti->sources, map_key(inst->function))->ptr = f;
    return f;
}

static Infer *infer_new(Ti *ti, Instance *inst) {
    Func *f = source_of(ti, inst);
    if (!f) return NULL;
    const InferOptions *o = &ti->options;
    bool entry = inst->serial == 0;
    Infer *in = arena_new(ti->arena, Infer);
    *in = (Infer){.ti = ti, .inst = inst, .arena = ti->arena, .types = ti->types, .f = f};
    in->strong = o->strong_numbers || (!entry && !inst->info->weak_numbers);
    in->guards = o->debug || (target_is_host(o->target) && !o->kernel);
    in->bounds = !o->no_boundscheck && (entry || inst->info->boundscheck);
    in->error_numpy = o->error_numpy || (!entry && inst->info->error_numpy);
    in->kernel = o->kernel;
    in->join = in->strong ? JOIN_NUMBA : o->kernel && !o->cpu_numbers ? JOIN_KERNEL : JOIN_CPU;
    in->diags = &inst->diags;
    if (ti->all && !inst->library) in->told = arena_array(in->arena, bool, f->insts.len);
    cfg_compute(&in->cfg, in->arena, f);
    alloc_state(in);
    return in;
}

/* One inference of `inst` with what is known of the others; false: failed. */
static bool infer_once(Ti *ti, Instance *inst) {
    inst->failed = false;
    diag_init(&inst->diags, ti->arena);
    inst->failed_calls.len = 0;
    inst->facts = infer_new(ti, inst);
    if (!inst->facts) return inst->failed = true, false;
    infer_fixed_point(inst->facts);
    return !ti->aborted;
}

static void settle(Ti *ti, Instance *inst) {
    while (ti->provisional.len && vec_last(&ti->provisional)->depth > inst->depth)
        vec_pop(&ti->provisional)->state = INST_DONE;
}

static void reopen(Ti *ti, Instance *inst) {
    while (ti->provisional.len && vec_last(&ti->provisional)->depth > inst->depth)
        vec_pop(&ti->provisional)->state = INST_NEW;
}

static void conclude(Ti *ti, Instance *inst) {
    inst->state = inst->low < inst->depth ? INST_PROVISIONAL : INST_DONE;
    if (inst->facts && !(inst->facts->told ? infer_tell_all(inst->facts) : report(inst->facts)))
        inst->failed = true;
    if (ti->aborted) return;
    if (inst->state == INST_PROVISIONAL)
        vec_push(ti->arena, &ti->provisional, inst);
    else
        settle(ti, inst);
    bool known = inst->result.type || inst->result.reported;
    if (!inst->failed && !known && inst->state == INST_DONE)
        inst->result = fact_of(type_scalar(ti->types, TY_none)); /* every path raises */
}

/* Recursion: the lowest function of a cycle repeats until no result in the cycle changes any more;
 * the others are provisional until then. */
bool infer_instance(Ti *ti, Instance *inst) {
    vec_push(ti->arena, &ti->stack, inst);
    inst->depth = ti->stack.len;
    int32_t before;
    do {
        before = ti->changes;
        inst->state = INST_ACTIVE;
        inst->low = inst->depth;
        inst->recursive = false;
        if (!infer_once(ti, inst)) break;
        if (inst->low == inst->depth && inst->recursive && before != ti->changes)
            reopen(ti, inst);
        else
            break;
    } while (true);
    if (!ti->aborted) conclude(ti, inst);
    (void)vec_pop(&ti->stack); /* only now: to report means to look at the calls again */
    return !ti->aborted && !inst->failed;
}

/* -- ti_run ---------------------------------------------------------------------------------------- */

void ti_init(Ti *ti, Module *module, Resolver *resolver, const InferRequest *request) {
    *ti = (Ti){.module = module, .arena = module->arena, .types = module->types};
    ti->source = *module;
    memset(&ti->source.funcs, 0, sizeof ti->source.funcs);
    ti->resolver = resolver;
    ti->options = request->options;
    ti->declared = request->result;
    map_init(&ti->by_key, ti->arena);
    map_init(&ti->sources, ti->arena);
    map_init(&ti->refused_sources, ti->arena);
    map_init(&ti->objects, ti->arena);
    map_init(&ti->func_names, ti->arena);
    /* for one more level, for the resolver's Python code, and for the error */
    char *here = __builtin_frame_address(0), *low = os_stack_low();
    ti->stack_limit = low + QN_MIN((here - low) / 3, STACK_RESERVE);
}

bool ti_has_stack(Infer *in, const char *what) {
    if (QN_LIKELY((char *)__builtin_frame_address(0) >= in->ti->stack_limit)) return true;
    Str why = str_printf(in->arena, "%s are nested too deeply for the stack of this thread", what);
    ti_fail(in, in->at, E0105, why.bytes);
    ti_advise(in,
              "threading.stack_size() gives a larger one to the threads that are started after it");
    return false;
}

static void copy_diags(DiagList *to, const DiagList *from) {
    for (int32_t i = 0; i < from->items.len; i++) {
        vec_push(to->arena, &to->items, from->items.items[i]);
        to->failed |= diag_severity(from->items.items[i].code) == SEV_ERROR;
    }
}

/* "while compiling saxpy(int64, float32, float32[:]) for cuda:sm_90" */
static void note_compiling(Ti *ti, Instance *inst, const char *device) {
    if (!ti->module->diags->items.len) return;
    StrBuf text;
    buf_init(&text, ti->arena);
    for (int32_t i = 0; i < inst->nslots; i++) {
        buf_str(&text, i ? ", " : "");
        type_describe(&text, inst->slots[i].fact.type);
    }
    Str args = buf_take(&text);
    diag_note(ti->module->diags, NULL, "while compiling " STR_FMT "(" STR_FMT ")%s%s",
              STR_ARG(inst->info->code->name), STR_ARG(args), device ? " for " : "",
              device ? device : "");
}

/* What is declared counts also where no path returns. */
static bool check_declared(Ti *ti, Instance *entry) {
    if (!ti->options.kernel || !ti->declared || ti->declared->kind == TY_none) return true;
    const CodeUnit *code = entry->info->code;
    StrBuf text;
    buf_init(&text, ti->arena);
    type_describe(&text, ti->declared);
    diag_add(&entry->diags, E0601, &(Span){code->file, code->first_line, code->first_line, -1, -1});
    diag_note(&entry->diags, NULL, "the signature declares a result of type %s: write void(...)",
              buf_take(&text).bytes);
    return false;
}

bool ti_run(Module *module, Resolver *resolver, const InferRequest *request, StrBuf *report_to) {
    Ti ti;
    ti_init(&ti, module, resolver, request);
    Instance *entry = instance_entry(&ti, request, module->diags);
    if (!entry) return false;
    diag_init(&entry->diags, ti.arena);
    bool ok = check_declared(&ti, entry) && infer_instance(&ti, entry);
    if (ti.aborted) return false;
    if (!ok) {
        copy_diags(module->diags, &entry->diags);
        note_compiling(&ti, entry, request->device);
        return false;
    }
    if (report_to) ti_explain(entry->facts, report_to);
    instance_typed(&ti, entry);
    for (int32_t i = 0; i < ti.to_emit.len; i++) {
        Instance *inst = ti.to_emit.items[i];
        ok = specialize_instance(&ti, inst);
        copy_diags(module->diags, &inst->diags);
        if (!ok) return false;
    }
    return true;
}
