/* infer_paths.c - what differs where paths meet: errors of variables and results that have two types. */
#include "typeinfer/infer.h"

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

bool infer_conflict(Infer *in, Ref at, Ref phi) {
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
    if (type_is_generator(facts[0]->type) && type_is_generator(facts[1]->type))
        ti_advise(in, "each generator function makes iterators of a type of its own: write one "
                      "that has the branches, each with a yield from, or a loop in each branch");
    return false;
}

static bool same_place(const Infer *in, Ref a, Ref b) {
    Span s = ti_span(in, a), t = ti_span(in, b);
    return s.line == t.line && s.column == t.column;
}

/* Both places, in the order of the source. */
bool infer_return_error(Infer *in, Ref ref, const Fact *f) {
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

/* The result of a recursive function that holds the result of its own call never stops growing. */
bool infer_too_large(Infer *in, Ref ref, const Type *type) {
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
