/* infer_cell.c - variables that functions share while they are assigned: nonlocal, and closures that are kept.
 *
 * A cell is an object with the value and whether there is one. Where it is made is a *site*: the instruction, in one instance of its
 * function. What the variable is of is joined from all that is assigned to it, wherever that stands; the type of the cell names
 * both, so that functions which have the cell are inferred anew when more is known. An assignment that widens the variable when
 * its function is done already begins all of inference again, with what is known by then: Ti.again. */
#include "typeinfer/infer.h"

struct CellSite {
    const void *code;  /* the handle of its function: the same each time that inference begins */
    const Slot *slots; /* of the instance: types alone count */
    int32_t nslots;
    Str name; /* of the variable; several cells of one name have numbers */
    int32_t number;
    Ref at;              /* in the function of this round */
    const Type *content; /* NULL: nothing has been assigned */
    Instance *owner;     /* of this round of inference */
};

enum { CELL_VALUE, CELL_BOUND };

/* -- sites ------------------------------------------------------------------------------------------ */

/* How many cells of that name are made before this one. */
static int32_t number_of(const Infer *in, Ref at) {
    int32_t n = 0;
    for (Ref ref = 1; ref < at; ref++)
        n += ir_inst(in->f, ref)->op == OP_make_cell &&
             str_equal(*ir_inst(in->f, ref)->u.name, *ir_inst(in->f, at)->u.name);
    return n;
}

static bool same_site(const CellSite *site, const Instance *inst, Str name, int32_t number) {
    if (site->code != inst->info->code->handle || site->number != number ||
        !str_equal(site->name, name) || site->nslots != inst->nslots)
        return false;
    for (int32_t i = 0; i < inst->nslots; i++)
        if (!fact_equal(&site->slots[i].fact, &inst->slots[i].fact)) return false;
    return true;
}

static CellSite *site_of(Infer *in, Ref at) {
    Ti *ti = in->ti;
    CellSite *site = NULL;
    Str name = *ir_inst(in->f, at)->u.name;
    int32_t number = number_of(in, at);
    for (int32_t i = 0; i < ti->cells->len && !site; i++)
        if (same_site(ti->cells->items[i], in->inst, name, number)) site = ti->cells->items[i];
    if (!site) {
        site = arena_new(in->arena, CellSite);
        *site = (CellSite){.code = in->inst->info->code->handle, .name = name, .number = number};
        site->slots = in->inst->slots, site->nslots = in->inst->nslots;
        vec_push(in->arena, ti->cells, site);
    }
    site->owner = in->inst;
    site->at = at;
    return site;
}

static const Type *cell_type(Infer *in, CellSite *site) {
    const Type *content = site->content ? site->content : type_unknown(in->types);
    return type_cell(in->types, content, site);
}

/* -- what is assigned --------------------------------------------------------------------------------- */

static bool holds_site(const Type *type, const CellSite *site) {
    if (type->kind == TY_CELL && type->cls == site) return true;
    if (type->element && holds_site(type->element, site)) return true;
    if (type_is_instance(type)) return false; /* its fields may name itself */
    for (int32_t i = 0; i < type->nparams; i++)
        if (holds_site(type->params[i], site)) return true;
    for (int32_t i = 0; type->kind != TY_CLASS && i < type->nitems; i++)
        if (holds_site(type->items[i], site)) return true;
    return false;
}

static void tell_owner(Infer *in, const CellSite *site) {
    Instance *owner = site->owner;
    if (owner->state == INST_ACTIVE && owner->facts) {
        owner->facts->visited[site->at] = -1;
        owner->facts->clock++;
    } else {
        in->ti->again = true;
    }
    in->ti->changes++;
}

static bool widen(Infer *in, CellSite *site, const Type *type) {
    const Type *both = container_join(in, site->content, type);
    if (!both)
        return ti_fail(in, in->at, E0205, ti_text(in, site->content), ti_text(in, type)),
               ti_advise(in, "a variable that functions share is of one type"), false;
    if (type_is_too_large(both)) return infer_too_large(in, in->at, both);
    if (both == site->content) return true;
    site->content = both;
    tell_owner(in, site);
    return site->owner != in->inst || (in->stop = STOP_UNKNOWN, false);
}

bool cell_teach(Infer *in, Ref value, const Type *type) {
    const Inst *inst = ir_inst(in->f, value);
    const Type *cell = NULL;
    if (inst->op == OP_cell_get) cell = in->facts[ir_arg(in->f, value, 0)].type;
    if (inst->op == OP_freevar) cell = cell_of_freevar(in, value);
    if (!cell || cell->kind != TY_CELL || in->emit) return true;
    return widen(in, cell->cls, type);
}

static bool assign(Infer *in, CellSite *site, Val *v) {
    const Type *type = v->f.type;
    if (!v_text(in, v) || !v_refuse_fresh(in, v->f.type)) return false;
    type = ti_stored(in->types, v->f.type);
    if (type->kind == TY_CAUGHT) return infer_keep_caught(in, in->at);
    if (holds_site(type, site)) {
        ti_fail(in, in->at, E0101, "a function that is kept in a variable of its own");
        return ti_advise(in, "define it once, in a def that nothing else assigns"), false;
    }
    if (in->emit) return true;
    return widen(in, site, type) && (!site->content || container_learns(in, site->content, v->src));
}

/* -- the operations ------------------------------------------------------------------------------------ */

static Ref emit_bound(Emit *e, bool bound) {
    return emit_int(e, i64_type(e->types), bound);
}

static const Type *field_type(Infer *in, const Val *cell, int32_t field) {
    return lower_type(in->ti, cell->f.type)->items[field];
}

static Ref emit_value(Infer *in, const Val *cell, const Val *v) {
    const Type *content = cell->f.type->element, *stored = field_type(in, cell, CELL_VALUE);
    bool nothing = lower_type(in->ti, content)->kind == TY_none;
    return nothing || !v ? emit_nothing(in->emit, stored) : v_as(in, *v, content);
}

bool v_make_cell(Infer *in, Ref ref, Val *out) {
    const Inst *inst = ir_inst(in->f, ref);
    CellSite *site = site_of(in, ref);
    Val v = {0};
    if (inst->nargs && !infer_operand(in, ref, 0, &v)) return false;
    if (!ti_has_objects(in)) {
        static const char what[] = "a function with a variable that is assigned later";
        ti_fail(in, ref, E0101, what); /* in kernels functions take along values alone */
        return ti_advise(in, bc_advice(what)), false;
    }
    if (inst->nargs && !assign(in, site, &v)) return false;
    *out = (Val){.f = fact_of(cell_type(in, site)), .src = ref};
    if (!in->emit) return true;
    Ref fields[2] = {emit_value(in, out, inst->nargs ? &v : NULL),
                     emit_bound(in->emit, inst->nargs)};
    out->ref = emit(in->emit, OP_new, lower_type(in->ti, out->f.type), fields, 2);
    return true;
}

static void check_assigned(Infer *in, Val cell, Guard guard, const Str *name) {
    Emit *e = in->emit;
    Ref bound = emit1(e, OP_field, i64_type(in->types), v_ref(in, cell));
    ir_inst(e->out, bound)->imm = CELL_BOUND;
    Ref missing = emit2(e, OP_eq, bool_type(in->types), bound, emit_bound(e, false));
    emit_named_guard(e, guard, missing, NULL, 0, name);
}

bool v_cell_get(Infer *in, Val cell, const Str *name, bool own, Val *out) {
    const Type *content = cell.f.type->element;
    if (content->kind == TY_UNKNOWN) return in->stop = STOP_UNKNOWN, false;
    *out = val_of(fact_of(content));
    if (!in->emit) return true;
    check_assigned(in, cell, own ? GUARD_unbound_local : GUARD_unbound_free, name);
    if (fact_is_const(&out->f)) return true;
    out->ref = emit1(in->emit, OP_field, field_type(in, &cell, CELL_VALUE), v_ref(in, cell));
    ir_inst(in->emit->out, out->ref)->imm = CELL_VALUE;
    return true;
}

bool infer_cell_get(Infer *in, Ref ref, Val *out) {
    Val cell = {0};
    if (!infer_operand(in, ref, 0, &cell)) return false;
    if (!v_cell_get(in, cell, ir_inst(in->f, ref)->u.name, true, out)) return false;
    out->src = ref;
    return true;
}

static void set(Emit *e, Ref cell, int32_t field, Ref value) {
    Ref ref = emit2(e, OP_set_field, NULL, cell, value);
    ir_inst(e->out, ref)->imm = field;
}

bool infer_cell_set(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    Val cell = {0}, v = {0};
    bool del = inst->nargs == 1;
    if (!infer_operand(in, ref, 0, &cell) || (!del && !infer_operand(in, ref, 1, &v))) return false;
    if (!is_kind(&cell, TY_CELL)) { /* of the function that was given to the compiler */
        const char *what = del ? "deleting a variable of an enclosing function"
                               : "an assignment to a variable of an enclosing function";
        ti_fail(in, ref, E0101, what);
        return bc_advice(what) ? ti_advise(in, bc_advice(what)), false : false;
    }
    if (!del && !assign(in, cell.f.type->cls, &v)) return false;
    Emit *e = in->emit;
    if (!e) return true;
    if (del) {
        bool own = ir_inst(in->f, ir_arg(in->f, ref, 0))->op != OP_freevar;
        check_assigned(in, cell, own ? GUARD_unbound_local : GUARD_unbound_free, inst->u.name);
    }
    Ref value = emit_value(in, &cell, del ? NULL : &v), object = v_ref(in, cell);
    set(e, object, CELL_VALUE, value);
    set(e, object, CELL_BOUND, emit_bound(e, !del));
    return true;
}

/* Cells of this function that nothing is ever assigned to: reading them raises, whatever they are of. */
bool cell_close(Infer *in) {
    bool any = false;
    for (int32_t i = 0; i < in->ti->cells->len; i++) {
        CellSite *site = in->ti->cells->items[i];
        if (site->owner != in->inst || site->content) continue;
        site->content = ti_wint(in);
        in->visited[site->at] = -1;
        in->clock++;
        any = true;
    }
    return any;
}
