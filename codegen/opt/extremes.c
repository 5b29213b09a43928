/* extremes.c - minima and maxima that a parallel loop keeps by a test.
 *
 *     if x < m:               b2: t = lt x, m; branch t, b3, b4
 *         m = x               b3: jump b4
 *         k = i               b4: m1 = phi [m, b2], [x, b3]; k1 = phi [k, b2], [i, b3]
 *
 * m is a reduction: its chunks go on from the value before the loop, and their results are compared as its iterations would
 * have. Nothing but such variables may depend on the test: what is assigned beside m (the place of the least element) goes
 * with it. A test by <= would take the last of equal numbers, and of zeros of both signs; it is for ints alone, without anything beside. */
#include "codegen/opt/parallel.h"

enum { SAME_DEPTH = 6 };

/* -- values ------------------------------------------------------------------------------------- */

static bool is_writing(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    if (row && (row->flags & LIB_PURE)) return false;
    return inst->op != OP_poll && (ir_op_info[inst->op].flags & OPF_WRITE);
}

/* The same computation; where it reads memory, the caller has seen that nothing is written in between. */
static bool same_value(const Func *func, Ref a, Ref b, int depth) {
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    if (a == b) return true;
    if (depth == 0 || x->op != y->op || x->nargs != y->nargs || x->imm != y->imm) return false;
    bool repeats =
        (ir_op_info[x->op].flags & OPF_PURE) || x->op == OP_load || x->op == OP_check_index;
    if (!repeats || x->op == OP_phi || x->op == OP_const || x->op == OP_view || x->nargs == 0 ||
        x->type != y->type || x->sub != y->sub)
        return false;
    for (int32_t k = 0; k < x->nargs; k++)
        if (!same_value(func, ir_arg(func, a, k), ir_arg(func, b, k), depth - 1)) return false;
    return true;
}

/* Does a number keep its value and its order in the other type? */
static bool is_wider(const Type *from, const Type *to) {
    if (type_is_float(from)) return type_is_float(to) && type_bits(to) > type_bits(from);
    if (!type_is_int(from) || !type_is_int(to) || type_bits(to) <= type_bits(from)) return false;
    return type_class(from) == CLASS_UINT || type_class(to) == CLASS_SINT;
}

static bool assigns(const Func *func, Ref assigned, Ref compared) {
    const Inst *inst = ir_inst(func, assigned);
    if (same_value(func, assigned, compared, SAME_DEPTH)) return true;
    return inst->op == OP_cast && is_wider(ir_type(func, ir_arg(func, assigned, 0)), inst->type) &&
           same_value(func, ir_arg(func, assigned, 0), compared, SAME_DEPTH);
}

/* -- the way of control ------------------------------------------------------------------------- */

/* Nothing that is seen elsewhere but by phis. An index is tested a second time there. */
static bool is_quiet(const Func *func, int32_t block) {
    const Block *b = &func->blocks.items[block];
    for (int32_t i = 0; i < b->insts.len - 1; i++) {
        const Inst *inst = ir_inst(func, b->insts.items[i]);
        bool raises = (ir_op_info[inst->op].flags & OPF_RAISES) && inst->op != OP_check_index &&
                      inst->op != OP_poll && inst->op != OP_lib;
        if (raises || inst->error != NO_BLOCK || inst->op == OP_phi ||
            is_writing(func, b->insts.items[i]))
            return false;
    }
    return ir_inst(func, ir_terminator(func, block))->op == OP_jump;
}

/* From the edge from -> block over quiet blocks to the one where other ways come in; *from: the last before it. */
static int32_t follow(const Func *func, int32_t block, int32_t *from) {
    for (int steps = 0; steps < 8; steps++) {
        if (func->blocks.items[block].preds.len != 1 || !is_quiet(func, block)) return block;
        *from = block;
        block = ir_inst(func, ir_terminator(func, block))->target[0];
    }
    return block;
}

/* The one branch on the test, which nothing else looks at. */
static Ref branch_of(const Region *r, Ref test) {
    Ref found = NO_REF;
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            for (int32_t a = 0; a < ir_inst(r->func, ref)->nargs; a++) {
                if (ir_arg(r->func, ref, a) != test) continue;
                if (found || ir_inst(r->func, ref)->op != OP_branch) return NO_REF;
                found = ref;
            }
        }
    }
    return found;
}

/* May memory that the value was read from have been written to when the block ends? */
static bool is_stale(const Func *func, Ref value, int32_t block, int depth) {
    const Inst *inst = ir_inst(func, value);
    const Block *b = &func->blocks.items[block];
    if (inst->op == OP_load) {
        if (inst->block != block) return true;
        for (int32_t i = opt_position(func, value); i < b->insts.len; i++)
            if (is_writing(func, b->insts.items[i])) return true;
    }
    if (depth == 0 || inst->op == OP_phi) return depth == 0;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (is_stale(func, ir_arg(func, value, k), block, depth - 1)) return true;
    return false;
}

static Ref choice_operand(const Func *func, Ref phi, int32_t from) {
    const Block *block = &func->blocks.items[ir_inst(func, phi)->block];
    for (int32_t k = 0; k < block->preds.len; k++)
        if (block->preds.items[k] == from) return ir_arg(func, phi, k);
    return NO_REF;
}

/* A phi where both ways meet that gets the compared value on one and the variable on the other. */
static bool keeps(const Region *r, const Bits *web, Ref compared, int32_t branch_block, Choice *c) {
    const Func *func = r->func;
    const Block *join = &func->blocks.items[c->join];
    for (int32_t i = 0; i < join->insts.len; i++) {
        Ref phi = join->insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) return false;
        Ref taken = choice_operand(func, phi, c->from), left = choice_operand(func, phi, c->other);
        if (!taken || !left || !bits_get(web, left)) continue;
        bool casts = ir_inst(func, taken)->op == OP_cast;
        bool again = (casts ? ir_arg(func, taken, 0) : taken) != compared;
        if (again && is_stale(func, compared, branch_block, SAME_DEPTH)) continue;
        if (assigns(func, taken, compared)) return true;
    }
    return false;
}

/* lt a, b that is true where the value is taken: which of both is it, and is equal not enough? */
static CarriedKind kind_of_test(const Inst *test, bool truth, bool value_first, bool *strict) {
    *strict = (test->op == OP_lt) == truth;
    return value_first == truth ? CARRIED_LESS : CARRIED_GREATER;
}

CarriedKind region_choice(const Region *r, const Bits *web, Ref test, Choice *out) {
    const Func *func = r->func;
    const Inst *inst = ir_inst(func, test);
    bool value_first = !bits_get(web, ir_arg(func, test, 0));
    Ref value = ir_arg(func, test, value_first ? 0 : 1), member = ir_arg(func, test, value_first);
    Ref branch = branch_of(r, test);
    if (!branch || bits_get(web, value) == bits_get(web, member)) return CARRIED_NOT;
    const Inst *b = ir_inst(func, branch);
    bool ints = type_is_int(ir_type(func, value)) && type_is_int(ir_type(func, member));
    for (int taken = 0; taken < 2 && b->target[0] != b->target[1]; taken++) {
        *out = (Choice){.test = test, .from = b->block, .other = b->block};
        out->join = follow(func, b->target[taken], &out->from);
        if (out->join != follow(func, b->target[1 - taken], &out->other)) return CARRIED_NOT;
        if (!r->inside[out->join] || out->from == out->other) return CARRIED_NOT;
        CarriedKind kind = kind_of_test(inst, taken == 0, value_first, &out->strict);
        bool exact = taken == 0 && out->strict; /* of NaN, `not (m <= x)` holds */
        if ((ints || exact) && keeps(r, web, value, b->block, out)) return kind;
    }
    return CARRIED_NOT;
}

/* -- what is assigned beside it ----------------------------------------------------------------- */

bool carried_is_chosen(const Carried *c, int32_t join, int32_t from) {
    for (int32_t i = 0; i < c->choices.len; i++)
        if (c->choices.items[i].join == join && c->choices.items[i].from == from) return true;
    return false;
}

/* Is the variable assigned only where the leader is? */
static bool goes_with(const Region *r, const Carried *leader, const Carried *c) {
    if (c->kind != CARRIED_LAST && c->kind != CARRIED_NOT && c->kind != CARRIED_BESIDE)
        return false;
    for (Ref ref = 1; ref < c->web.n; ref++) {
        const Inst *inst = ir_inst(r->func, ref);
        if (!bits_get(&c->web, ref) || inst->op != OP_phi) continue;
        const Block *block = &r->func->blocks.items[inst->block];
        for (int32_t k = 0; k < inst->nargs; k++) {
            int32_t from = block->preds.items[k];
            if (!r->inside[from] || bits_get(&c->web, ir_arg(r->func, ref, k))) continue;
            if (!carried_is_chosen(leader, inst->block, from)) return false;
        }
    }
    return true;
}

static bool join_ok(Region *r, int32_t leader, const Choice *choice) {
    const Func *func = r->func;
    const Block *join = &func->blocks.items[choice->join];
    for (int32_t i = 0; i < join->insts.len; i++) {
        Ref phi = join->insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        if (choice_operand(func, phi, choice->from) == choice_operand(func, phi, choice->other) ||
            bits_get(&r->carried.items[leader].web, phi))
            continue;
        Carried *other = NULL;
        for (int32_t k = 0; k < r->carried.len; k++)
            if (bits_get(&r->carried.items[k].web, phi)) other = &r->carried.items[k];
        if (!other || !choice->strict || !goes_with(r, &r->carried.items[leader], other))
            return false;
        if (other->kind == CARRIED_NOT) continue; /* nobody reads it */
        other->kind = CARRIED_BESIDE;
        other->leader = leader;
    }
    return true;
}

Ref region_find_beside(Region *r, int32_t *leader) {
    for (*leader = 0; *leader < r->carried.len; ++*leader) {
        const Carried *c = &r->carried.items[*leader];
        for (int32_t k = 0; k < c->choices.len; k++)
            if (!join_ok(r, *leader, &c->choices.items[k])) return c->choices.items[k].test;
    }
    return NO_REF;
}
