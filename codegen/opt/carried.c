/* carried.c - what one iteration of a parallel loop takes from another.
 *
 *   header: s = phi [s0], [s2]         the web of s: s, s1, s2
 *     ...   s1 = add s, x
 *     ...   s2 = phi [s1], [s]
 *
 * The web of a variable is its phi in the header and all that is made of it by phis and by the operations of one
 * kind of reduction. If nothing outside of the web looks at a member, the order of the iterations does not matter, and each
 * chunk can compute its own part. What else enters the web's phis is an assignment: without operations the last
 * one counts. Minima and maxima that a test keeps are extremes.c's. A bool that is only ever assigned True, or only where it is False already, is an `or`; likewise `and`. */
#include "codegen/opt/parallel.h"

typedef struct Web {
    Region *r;
    Carried *c;
    Vec(Ref) members;
    Ref operation;      /* the first that makes it a reduction */
    Ref assigned;       /* a phi of the web with an operand from elsewhere */
    Ref misuse;         /* who looks at a member, and must not */
    bool last_of_other; /* the last value of what is no number is read behind the loop */
    bool conflict;      /* `misuse` is an operation of another kind */
    bool tests_true,
        tests_false; /* branches on members: the web's phi is reached where the test fails, holds */
    bool gets_true, gets_false, gets_any; /* bools that are assigned */
} Web;

/* -- operations ------------------------------------------------------------------------------- */

static bool is_choice(const Inst *inst) {
    static const char *const names[] = {"builtins.min",  "builtins.max", "numpy.minimum",
                                        "numpy.maximum", "numpy.fmin",   "numpy.fmax"};
    for (int i = 0; inst->op == OP_lib && i < countof(names); i++)
        if (str_is(*inst->u.name, names[i])) return true;
    return false;
}

/* The kind of reduction whose operation takes the accumulator as operand `at`, and for a choice the row. */
static CarriedKind kind_of(const Inst *inst, int32_t at, const Inst **row) {
    *row = inst;
    switch ((int)inst->op) {
    case OP_reduce: /* goes on from the accumulator */
        return at == 0 && !(inst->sub & (REDUCE_FIRST | REDUCE_REST))
                   ? reduction_of(inst->u.func, row)
                   : CARRIED_NOT;
    case OP_add: return CARRIED_ADD;
    case OP_sub: return at == 0 ? CARRIED_ADD : CARRIED_NOT;
    case OP_mul: return CARRIED_MULTIPLY;
    case OP_div: return at == 0 ? CARRIED_MULTIPLY : CARRIED_NOT;
    case OP_and: return CARRIED_AND;
    case OP_or: return CARRIED_OR;
    case OP_xor: return CARRIED_XOR;
    default: return is_choice(inst) ? CARRIED_CHOICE : CARRIED_NOT;
    }
}

static bool depends(const Func *func, Ref ref, Ref on, int depth) {
    if (ref == on || depth == 0) return true;
    for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
        if (depends(func, ir_arg(func, ref, k), on, depth - 1)) return true;
    return false;
}

/* The result is a chain of operations of one kind, from the accumulator on, which nothing else uses. */
CarriedKind reduction_of(const Func *func, const Inst **row) {
    Ref acc = NO_REF, value = NO_REF;
    CarriedKind kind = CARRIED_NOT;
    for (int32_t b = 0; b < func->blocks.len; b++)
        for (int32_t i = 0; i < func->blocks.items[b].insts.len; i++) {
            Ref ref = func->blocks.items[b].insts.items[i];
            const Inst *inst = ir_inst(func, ref);
            if (inst->op == OP_param && inst->imm == 0) acc = ref;
            if (inst->op != OP_return) continue;
            if (value) return CARRIED_NOT;
            value = ir_arg(func, ref, 0);
        }
    while (acc && value && value != acc) {
        const Inst *inst = ir_inst(func, value);
        int32_t at = -1;
        for (int32_t k = 0; k < inst->nargs; k++)
            if (depends(func, ir_arg(func, value, k), acc, 30)) at = at < 0 ? k : inst->nargs;
        if (at < 0 || at >= inst->nargs || inst->type != ir_type(func, acc)) return CARRIED_NOT;
        const Inst *called;
        CarriedKind one = kind_of(inst, at, &called);
        if (one == CARRIED_NOT || (kind != CARRIED_NOT && (one != kind || kind == CARRIED_CHOICE)))
            return CARRIED_NOT;
        kind = one;
        if (row) *row = called;
        value = ir_arg(func, value, at);
    }
    return acc && value ? kind : CARRIED_NOT;
}

static bool in_web(const Web *w, Ref ref) {
    return bits_get(&w->c->web, ref);
}

static void add_member(Web *w, Ref ref) {
    if (in_web(w, ref)) return;
    bits_set(&w->c->web, ref);
    vec_push(w->r->ctx->arena, &w->members, ref);
}

static void misused(Web *w, Ref by, bool conflict) {
    if (w->misuse) return;
    w->misuse = by;
    w->conflict = conflict;
}

static void operate(Web *w, Ref by, CarriedKind kind, const Inst *row) {
    bool same = !w->operation || w->c->kind == kind;
    if (w->operation && same && kind == CARRIED_CHOICE)
        same = str_equal(*row->u.name, *w->c->choice);
    if (!same) {
        misused(w, by, true);
        return;
    }
    if (!w->operation) w->operation = by, w->c->kind = kind;
    if (kind == CARRIED_CHOICE) w->c->choice = row->u.name, w->c->row = row->imm;
    add_member(w, by);
}

/* -- tests of a bool that is carried ---------------------------------------------------------- */

/* The one phi of the block, a member: where the test need not look further. */
static bool lone_member(const Web *w, int32_t block) {
    const Func *func = w->r->func;
    int phis = 0;
    for (int32_t i = 0; i < func->blocks.items[block].insts.len; i++) {
        Ref ref = func->blocks.items[block].insts.items[i];
        if (ir_inst(func, ref)->op != OP_phi) break;
        if (!in_web(w, ref)) return false;
        phis++;
    }
    return phis == 1 && w->r->inside[block];
}

/* `branch member`: on one side the member stays what it is, the other may assign. */
static void test(Web *w, Ref branch) {
    const Inst *inst = ir_inst(w->r->func, branch);
    if (inst->target[0] == inst->target[1]) return;
    if (lone_member(w, inst->target[1]))
        w->tests_true = true;
    else if (lone_member(w, inst->target[0]))
        w->tests_false = true;
    else
        misused(w, branch, false);
}

/* What a bool that enters a phi on the edge from -> to is known to be. */
static void assign_bool(Web *w, Ref value, int32_t from, int32_t to) {
    const Func *func = w->r->func;
    const Inst *inst = ir_inst(func, value);
    if (inst->op == OP_const) {
        *(inst->u.value->i ? &w->gets_true : &w->gets_false) = true;
        return;
    }
    Ref last = ir_terminator(func, from);
    if (ir_inst(func, last)->op == OP_branch && ir_arg(func, last, 0) == value) {
        *(ir_inst(func, last)->target[0] == to ? &w->gets_true : &w->gets_false) = true;
        return;
    }
    for (int32_t b = from; w->r->inside[b];
         b = w->r->cfg->idom[b]) { /* where the member is known */
        int32_t above = w->r->cfg->idom[b];
        if (above == NO_BLOCK) break;
        Ref branch = ir_terminator(func, above);
        if (ir_inst(func, branch)->op != OP_branch || !in_web(w, ir_arg(func, branch, 0))) continue;
        if (func->blocks.items[b].preds.len != 1) continue;
        *(ir_inst(func, branch)->target[0] == b ? &w->gets_false : &w->gets_true) = true;
        return; /* True and x, False or x */
    }
    w->gets_any = true;
}

/* -- the web ---------------------------------------------------------------------------------- */

/* The test of a minimum or maximum that is kept by it. */
static bool use_in_test(Web *w, Ref by) {
    Choice choice;
    for (int32_t i = 0; i < w->c->choices.len; i++)
        if (w->c->choices.items[i].test == by) return true;
    CarriedKind kind = region_choice(w->r, &w->c->web, by, &choice);
    if (kind == CARRIED_NOT) return false;
    if (w->operation && w->c->kind != kind) return misused(w, by, true), true;
    w->operation = by, w->c->kind = kind;
    vec_push(w->r->ctx->arena, &w->c->choices, choice);
    return true;
}

static void use(Web *w, Ref member, Ref by) {
    const Func *func = w->r->func;
    const Inst *inst = ir_inst(func, by);
    if (inst->op == OP_phi) {
        if (w->r->inside[inst->block]) add_member(w, by);
        return; /* at the exit: the value after the loop */
    }
    if (inst->op == OP_branch && ir_type(func, w->c->phi)->kind == TY_bool) return;
    int32_t at = -1, times = 0;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (in_web(w, ir_arg(func, by, k))) at = k, times++;
    const Inst *row;
    if ((inst->op == OP_lt || inst->op == OP_le) && use_in_test(w, by)) return;
    CarriedKind kind = kind_of(inst, at, &row);
    if (kind == CARRIED_NOT || times != 1 || inst->type != ir_type(func, member))
        misused(w, by, false);
    else
        operate(w, by, kind, row);
}

/* Until nothing new comes in: a use that was seen early is looked at again with the whole web. */
static void grow(Web *w) {
    const Func *func = w->r->func;
    for (int32_t before = 0; before != w->members.len;) {
        before = w->members.len;
        for (int32_t i = 0; i < w->r->blocks.len; i++) {
            const Block *block = &func->blocks.items[w->r->blocks.items[i]];
            for (int32_t k = 0; k < block->insts.len; k++) {
                Ref by = block->insts.items[k];
                for (int32_t a = 0; a < ir_inst(func, by)->nargs; a++)
                    if (in_web(w, ir_arg(func, by, a))) use(w, ir_arg(func, by, a), by);
            }
        }
    }
}

/* Nothing but the value before the loop ever comes into the phi, whoever looks at it. */
static bool stays_the_same(Web *w) {
    const Func *func = w->r->func;
    for (int32_t before = 0; before != w->members.len;) {
        before = w->members.len;
        for (int32_t i = 0; i < w->members.len; i++) {
            Ref phi = w->members.items[i];
            for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++) {
                const Block *block = &func->blocks.items[ir_inst(func, phi)->block];
                if (!w->r->inside[block->preds.items[k]]) continue;
                if (ir_inst(func, ir_arg(func, phi, k))->op != OP_phi) return false;
                if (!w->r->inside[ir_inst(func, ir_arg(func, phi, k))->block]) return false;
                add_member(w, ir_arg(func, phi, k));
            }
        }
    }
    for (int32_t i = 0; i < w->members.len; i++) { /* phis of inner loops start from members, too */
        const Inst *inst = ir_inst(func, w->members.items[i]);
        for (int32_t k = 0; k < inst->nargs; k++)
            if (!in_web(w, ir_arg(func, w->members.items[i], k)) &&
                ir_arg(func, w->members.items[i], k) != w->c->start)
                return false;
    }
    return true;
}

static void find_assignments(Web *w) {
    const Func *func = w->r->func;
    for (int32_t i = 0; i < w->members.len; i++) {
        Ref phi = w->members.items[i];
        const Inst *inst = ir_inst(func, phi);
        for (int32_t k = 0; inst->op == OP_phi && k < inst->nargs; k++) {
            int32_t from = func->blocks.items[inst->block].preds.items[k];
            Ref value = ir_arg(func, phi, k);
            if (!w->r->inside[from] || in_web(w, value)) continue;
            if (carried_is_chosen(w->c, inst->block, from)) continue;
            if (!w->assigned) w->assigned = phi;
            if (inst->type->kind == TY_bool) assign_bool(w, value, from, inst->block);
        }
    }
}

static void find_tests(Web *w) {
    const Func *func = w->r->func;
    for (int32_t i = 0; i < w->r->blocks.len && !w->misuse; i++) {
        Ref last = ir_terminator(func, w->r->blocks.items[i]);
        if (last && ir_inst(func, last)->op == OP_branch && in_web(w, ir_arg(func, last, 0)))
            test(w, last);
    }
}

static bool read_after(const Region *r, Ref phi) {
    for (int32_t b = 0; b < r->func->blocks.len; b++) {
        const Block *block = &r->func->blocks.items[b];
        for (int32_t i = 0; !r->inside[b] && i < block->insts.len; i++)
            for (int32_t k = 0; k < ir_inst(r->func, block->insts.items[i])->nargs; k++)
                if (ir_arg(r->func, block->insts.items[i], k) == phi) return true;
    }
    return false;
}

/* A bool that is assigned or tested: which of `and` and `or` it is. */
static CarriedKind kind_of_bool(Web *w) {
    CarriedKind kind = w->operation ? w->c->kind : CARRIED_NOT;
    bool may_and = kind == CARRIED_NOT || kind == CARRIED_AND;
    bool may_or = kind == CARRIED_NOT || kind == CARRIED_OR;
    if (may_and && !w->gets_any && !w->gets_true && !w->tests_false) return CARRIED_AND;
    if (may_or && !w->gets_any && !w->gets_false && !w->tests_true) return CARRIED_OR;
    return CARRIED_NOT;
}

/* -- what is wrong ---------------------------------------------------------------------------- */

static Str name_of(const Func *func, Ref ref) {
    return ref < func->var_names.len ? func->var_names.items[ref] : (Str){0};
}

/* Members are made of the phi: one of them may have kept the name. */
static const char *variable(const Web *w) {
    const Func *func = w->r->func;
    for (int32_t i = 0; i < w->members.len; i++) {
        Str name = name_of(func, w->members.items[i]);
        if (name.len) return str_printf(w->r->ctx->arena, "'" STR_FMT "'", STR_ARG(name)).bytes;
    }
    return "a variable";
}

/* Where the variable gets the value that the next iteration takes. */
static Ref last_change(const Web *w) {
    const Func *func = w->r->func;
    Ref phi = w->c->phi;
    for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++) {
        Ref value = ir_arg(func, phi, k);
        int32_t from = func->blocks.items[ir_inst(func, phi)->block].preds.items[k];
        if (w->r->inside[from] && value != phi && ir_inst(func, value)->op != OP_phi) return value;
    }
    if (w->operation) return w->operation;
    for (int32_t i = 0; i < w->members.len; i++) {
        Ref ref = w->members.items[i];
        for (int32_t k = 0; ir_inst(func, ref)->op == OP_phi && k < ir_inst(func, ref)->nargs;
             k++) {
            Ref value = ir_arg(func, ref, k);
            if (w->r->inside[ir_inst(func, value)->block] && ir_inst(func, value)->op != OP_phi)
                return value;
        }
    }
    return w->r->marker;
}

static bool refuse(Web *w, Ref reader) {
    DiagList *diags = w->r->ctx->module->diags;
    const Func *func = w->r->func;
    Ref change = w->c->choices.len ? w->operation : last_change(w);
    Span here = ir_span_of(func, change), there = ir_span_of(func, reader);
    diag_add(diags, E0701, &here, variable(w));
    if (reader == change && w->operation) there = ir_span_of(func, w->operation);
    if ((reader != change || w->operation != change) && there.line)
        diag_note(diags, &there,
                  w->conflict ? "here it is combined in another way"
                              : "here an iteration uses what another one made of it");
    diag_note(
        diags, NULL,
        w->c->choices.len ? "a least or greatest value kept by `if x < m: m = x` may have "
                            "variables assigned beside it there, by < "
                            "and > alone; nothing else may depend on the test"
        : w->last_of_other
            ? "its value after the last iteration is read behind the loop: that is kept of numbers "
              "only"
            : "iterations of prange() may meet in sums (+, -), products (*, /), min, max, &, |, ^, "
              "and, or of "
              "one variable, each used for nothing else; where the order matters, use range()");
    return false;
}

/* -- the loop --------------------------------------------------------------------------------- */

static bool can_be_stored(const Type *type) {
    return type_is_number(type);
}

static bool classify(Region *r, Carried *c) {
    Web w = {.r = r, .c = c};
    c->web = bits_new(r->ctx->arena, r->func->insts.len);
    add_member(&w, c->phi);
    if (stays_the_same(&w)) return c->kind = CARRIED_SAME, true;
    w.members.len = 0;
    c->web = bits_new(r->ctx->arena, r->func->insts.len);
    c->kind = CARRIED_NOT;
    add_member(&w, c->phi);
    grow(&w);
    find_assignments(&w);
    bool is_bool = ir_type(r->func, c->phi)->kind == TY_bool;
    if (!w.misuse && is_bool) find_tests(&w);
    if (w.misuse && region_is_settled(r, c)) {
        c->choices.len = 0;
        return c->kind = CARRIED_SETTLED, true;
    }
    if (w.misuse) return refuse(&w, w.misuse);
    bool tested = w.tests_true || w.tests_false, read = read_after(r, c->phi);
    if (is_bool && (tested || (w.operation && w.assigned))) {
        c->kind = kind_of_bool(&w);
        return c->kind != CARRIED_NOT || refuse(&w, w.operation ? w.operation : c->phi);
    }
    if (w.operation && w.assigned) return w.conflict = true, refuse(&w, w.assigned);
    if (w.operation) return can_be_stored(ir_type(r->func, c->phi)) || refuse(&w, w.operation);
    c->kind = read ? CARRIED_LAST : CARRIED_NOT;
    w.last_of_other = read && !can_be_stored(ir_type(r->func, c->phi));
    return !w.last_of_other || refuse(&w, w.assigned);
}

bool region_find_carried(Region *r) {
    const Block *header = &r->func->blocks.items[r->loop.header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Ref phi = header->insts.items[i];
        if (ir_inst(r->func, phi)->op != OP_phi) break;
        if (phi == r->loop.counter) continue;
        Carried c = {.phi = phi};
        for (int32_t k = 0; k < header->preds.len; k++)
            if (header->preds.items[k] == r->loop.entry_pred) c.start = ir_arg(r->func, phi, k);
        if (!classify(r, &c)) return false;
        vec_push(r->ctx->arena, &r->carried, c);
    }
    int32_t leader;
    Ref test = region_find_beside(r, &leader);
    if (!test) return true;
    Web w = {.r = r, .c = &r->carried.items[leader], .operation = test};
    for (Ref ref = 1; ref < w.c->web.n; ref++)
        if (in_web(&w, ref)) vec_push(r->ctx->arena, &w.members, ref);
    return refuse(&w, test);
}
