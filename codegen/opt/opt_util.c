/* opt_util.c - small questions and edits that several passes share. */
#include "codegen/opt/pass.h"

int32_t opt_position(const Func *func, Ref ref) {
    const Block *block = &func->blocks.items[ir_inst(func, ref)->block];
    for (int32_t i = 0; i < block->insts.len; i++)
        if (block->insts.items[i] == ref) return i;
    qn_unreachable("an instruction is in its block");
    return -1;
}

/* The edges out of `from` now leave `to`: predecessors are renamed in place, so phi operands stay. */
static void rename_preds(Func *func, int32_t successor, int32_t from, int32_t to) {
    Block *block = &func->blocks.items[successor];
    for (int32_t i = 0; i < block->preds.len; i++)
        if (block->preds.items[i] == from) block->preds.items[i] = to;
}

int32_t opt_split_block(Func *func, int32_t block, int32_t at) {
    int32_t succ[3];
    int n = ir_successors(func, block, succ);
    int32_t rest = ir_block_new(func);
    Block *old = &func->blocks.items[block], *fresh = &func->blocks.items[rest];
    for (int32_t i = at; i < old->insts.len; i++) {
        vec_push(func->module->arena, &fresh->insts, old->insts.items[i]);
        ir_inst(func, old->insts.items[i])->block = rest;
    }
    old->insts.len = at;
    for (int i = 0; i < n; i++)
        rename_preds(func, succ[i], block, rest);
    Builder b = {.func = func, .block = block, .at = -1, .error = NO_BLOCK};
    b_jump(&b, rest);
    return rest;
}

void opt_jump_on(Builder *b, int32_t to) {
    Ref jump = b_inst(b, OP_jump, NULL, NULL, 0);
    ir_inst(b->func, jump)->target[0] = to;
}

bool opt_is_innermost(const Cfg *cfg, int32_t loop) {
    for (int32_t l = 0; l < cfg->loops.len; l++)
        if (cfg->loops.items[l].parent == loop) return false;
    return true;
}

int32_t opt_entry_of(const Func *func, const Cfg *cfg, int32_t loop) {
    const Block *header = &func->blocks.items[cfg->loops.items[loop].header];
    int32_t entry = NO_BLOCK;
    for (int32_t i = 0; i < header->preds.len; i++) {
        if (opt_in_loop(cfg, loop, header->preds.items[i])) continue;
        if (entry != NO_BLOCK) return NO_BLOCK;
        entry = header->preds.items[i];
    }
    return entry;
}

bool opt_is_header_phi(const Func *func, const Cfg *cfg, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int32_t loop = inst->op == OP_phi && inst->block < cfg->n ? cfg->loop_of[inst->block] : -1;
    return loop >= 0 && cfg->loops.items[loop].header == inst->block;
}

bool opt_is_narrow(const Func *func, Ref ref) {
    const Type *type = ir_type(func, ref);
    return type && type_is_int(type) && type_bits(type) < 64;
}

Ref opt_uncast(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    bool widens = inst->op == OP_cast && inst->type->kind == TY_i64 &&
                  opt_is_narrow(func, ir_arg(func, ref, 0));
    return widens ? ir_arg(func, ref, 0) : ref;
}

bool opt_const_int(const Func *func, Ref ref, int64_t *value) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_const || inst->u.value->kind != CONST_INT) return false;
    if (inst->u.value->is_unsigned && inst->u.value->i < 0) return false; /* above int64 */
    *value = inst->u.value->i;
    return true;
}

/* -- signs ---------------------------------------------------------------------------------------- */

static bool nonnegative(const Func *func, Ref ref, bool index, int depth);

/* A phi whose every operand is non-negative, or itself plus something non-negative that cannot wrap. */
static bool phi_nonnegative(const Func *func, Ref phi, bool index, int depth) {
    const Inst *inst = ir_inst(func, phi);
    for (int32_t i = 0; i < inst->nargs; i++) {
        Ref arg = ir_arg(func, phi, i);
        const Inst *from = ir_inst(func, arg);
        if (arg == phi) continue;
        if (from->op == OP_add && from->sub == FLAG_NOWRAP && ir_arg(func, arg, 0) == phi &&
            nonnegative(func, ir_arg(func, arg, 1), index, depth + 1))
            continue;
        if (!nonnegative(func, arg, index, depth + 1)) return false;
    }
    return inst->nargs > 0;
}

/* Thread and block numbers, sizes: rows of the GPU dialect whose results are counts. */
static bool lib_nonnegative(const Func *func, Ref ref) {
    const LibRow *row = lib_row_of(ir_inst(func, ref));
    return row && (row->flags & LIB_NONNEGATIVE);
}

/* Items lie between the ends: from the start upwards, or downwards to what is behind the stop. */
static bool item_nonnegative(const Func *func, Ref ref, bool index, int depth) {
    int64_t step, stop;
    bool known = opt_const_int(func, ir_arg(func, ref, 2), &step);
    if (known && step < 0)
        return (opt_const_int(func, ir_arg(func, ref, 1), &stop) && stop == -1) ||
               nonnegative(func, ir_arg(func, ref, 1), index, depth + 1);
    return nonnegative(func, ir_arg(func, ref, 0), index, depth + 1) &&
           nonnegative(func, ir_arg(func, ref, 2), index, depth + 1);
}

static bool nonnegative(const Func *func, Ref ref, bool index, int depth) {
    const Inst *inst = ir_inst(func, ref);
    int64_t value;
    if (depth > 8) return false;
    switch (inst->op) {
    case OP_const:
        return opt_const_int(func, ref, &value) && (value >= 0 || inst->u.value->is_unsigned);
    case OP_shape:
    case OP_range_len:
    case OP_check_index: return true;
    case OP_range_item: return item_nonnegative(func, ref, index, depth);
    case OP_lib: return lib_nonnegative(func, ref);
    case OP_phi: return phi_nonnegative(func, ref, index, depth);
    case OP_select:
        return nonnegative(func, ir_arg(func, ref, 1), index, depth + 1) &&
               nonnegative(func, ir_arg(func, ref, 2), index, depth + 1);
    case OP_cast: {
        const Type *from = ir_type(func, ir_arg(func, ref, 0));
        if (type_class(from) == CLASS_UINT || type_class(from) == CLASS_BOOL)
            return type_bits(from) < type_bits(inst->type);
        return type_class(from) == CLASS_SINT && type_bits(from) <= type_bits(inst->type) &&
               nonnegative(func, ir_arg(func, ref, 0), index, depth + 1);
    }
    /* Sums and products of non-negative index parts may leave int64. Is the result negative then, the check
     * that follows an index refuses it; where checks are off no such array exists. */
    case OP_add:
    case OP_mul:
        if (!index && inst->sub != 1) return false;
        /* fall through */
    case OP_floordiv:
    case OP_shr:
        return nonnegative(func, ir_arg(func, ref, 0), index, depth + 1) &&
               nonnegative(func, ir_arg(func, ref, 1), index, depth + 1);
    case OP_mod: return nonnegative(func, ir_arg(func, ref, 1), index, depth + 1);
    case OP_and:
        return nonnegative(func, ir_arg(func, ref, 0), index, depth + 1) ||
               nonnegative(func, ir_arg(func, ref, 1), index, depth + 1);
    default: return false;
    }
}

bool opt_nonnegative(const Func *func, Ref ref, bool index) {
    const Type *type = ir_type(func, ref);
    return type && type_class(type) == CLASS_SINT && nonnegative(func, ref, index, 0);
}

/* A product of two is less than 2^63 where moduli are below 2^31, as they are in programs that do not mean to wrap around. */
enum { MODULUS_BITS = 31, MOST_PHIS = 8, TERM_DEPTH = 8 };

typedef struct Terms {
    const Func *func;
    Ref modulus;
    Ref phis[MOST_PHIS]; /* looked at: what they are at most, their other operands say */
    int nphis;
} Terms;

static uint64_t most_of_term(Terms *t, Ref ref, int depth);

static uint64_t most_of_phi(Terms *t, Ref phi, int depth) {
    uint64_t all = 1;
    for (int i = 0; i < t->nphis; i++)
        if (t->phis[i] == phi) return all;
    if (t->nphis == MOST_PHIS) return 0;
    t->phis[t->nphis++] = phi;
    for (int32_t i = 0; i < ir_inst(t->func, phi)->nargs && all; i++) {
        uint64_t most = most_of_term(t, ir_arg(t->func, phi, i), depth - 1);
        all = most ? QN_MAX(all, most) : 0;
    }
    return all;
}

/* Of a value that is made of remainders by the modulus, which is above zero, and of small numbers: what it is at most where the modulus
 * has MODULUS_BITS. 0: nobody knows, or it may be more than an int64 holds. */
static uint64_t most_of_term(Terms *t, Ref ref, int depth) {
    const Inst *inst = ir_inst(t->func, ref);
    int64_t k;
    uint64_t a, c, all;
    if (depth == 0 || !inst->type || !type_is_int(inst->type)) return 0;
    if (opt_const_int(t->func, ref, &k)) return k >= 0 ? QN_MAX((uint64_t)k, 1) : 0;
    switch ((int)inst->op) {
    case OP_phi: return most_of_phi(t, ref, depth);
    case OP_mod: return ir_arg(t->func, ref, 1) == t->modulus ? UINT64_C(1) << MODULUS_BITS : 0;
    case OP_cast: {
        const Type *from = ir_type(t->func, ir_arg(t->func, ref, 0));
        bool small = type_class(from) == CLASS_UINT && type_bits(from) < MODULUS_BITS;
        return small ? UINT64_C(1) << type_bits(from) : 0;
    }
    case OP_add:
    case OP_mul:
        a = most_of_term(t, ir_arg(t->func, ref, 0), depth - 1);
        c = a ? most_of_term(t, ir_arg(t->func, ref, 1), depth - 1) : 0;
        if (inst->op == OP_mul ? __builtin_mul_overflow(a, c, &all)
                               : __builtin_add_overflow(a, c, &all))
            return 0;
        return c && all <= INT64_MAX ? all : 0;
    default: return 0;
    }
}

bool opt_seldom_negative(const Func *func, Ref ref) {
    Terms t = {.func = func, .modulus = ir_arg(func, ref, 1)};
    return most_of_term(&t, ir_arg(func, ref, 0), TERM_DEPTH) != 0;
}

bool opt_is_euclid(const Func *func, Ref ref) {
    bool any = false;
    if (ir_inst(func, ref)->op != OP_mod) return false;
    Ref x = ir_arg(func, ref, 0), y = ir_arg(func, ref, 1);
    const Inst *dividend = ir_inst(func, x), *divisor = ir_inst(func, y);
    if (dividend->op != OP_phi || divisor->op != OP_phi || dividend->block != divisor->block)
        return false;
    for (int32_t k = 0; k < divisor->nargs; k++) {
        if (ir_arg(func, y, k) != ref) continue;
        if (ir_arg(func, x, k) != y) return false;
        any = true;
    }
    return any;
}

/* -- counted loops --------------------------------------------------------------------------------- */

bool opt_in_loop(const Cfg *cfg, int32_t loop, int32_t block) {
    for (int32_t l = block < cfg->n ? cfg->loop_of[block] : -1; l >= 0;
         l = cfg->loops.items[l].parent)
        if (l == loop) return true;
    return false;
}

int32_t opt_loop_of_header(const Cfg *cfg, int32_t header) {
    for (int32_t l = 0; l < cfg->loops.len; l++)
        if (cfg->loops.items[l].header == header) return l;
    return -1;
}

bool opt_every_round(const Func *func, const Cfg *cfg, int32_t loop, int32_t block) {
    const Block *header = &func->blocks.items[cfg->loops.items[loop].header];
    for (int32_t i = 0; i < header->preds.len; i++)
        if (opt_in_loop(cfg, loop, header->preds.items[i]) &&
            !cfg_dominates(cfg, block, header->preds.items[i]))
            return false;
    return true;
}

Ref opt_copy_inst(Func *to, int32_t block, const Func *from, Ref ref) {
    Ref copy = ir_append(to, block, (Op)ir_inst(from, ref)->op, NULL, 0);
    const Inst *old = ir_inst(from, ref);
    Inst *fresh = ir_inst(to, copy);
    fresh->sub = old->sub, fresh->imm = old->imm, fresh->type = old->type, fresh->u = old->u;
    fresh->span = old->span;
    return copy;
}

static bool is_next(const Func *func, Ref ref, Ref counter) {
    const Inst *inst = ir_inst(func, ref);
    int64_t one;
    return inst->op == OP_add && inst->sub == FLAG_NOWRAP && ir_arg(func, ref, 0) == counter &&
           opt_const_int(func, ir_arg(func, ref, 1), &one) && one == 1;
}

/* The counter's operands: a start from the one entry (`constant`: a number), counter + 1 from every latch. */
static bool counter_ok(const Func *func, const Cfg *cfg, int32_t loop, bool constant,
                       CountedLoop *out) {
    const Block *header = &func->blocks.items[out->header];
    const Inst *phi = ir_inst(func, out->counter);
    out->entry_pred = NO_BLOCK;
    out->next = NO_REF;
    for (int32_t i = 0; i < phi->nargs; i++) {
        Ref arg = ir_arg(func, out->counter, i);
        if (opt_in_loop(cfg, loop, header->preds.items[i])) {
            if (!is_next(func, arg, out->counter)) return false;
            out->next = arg;
        } else {
            if (out->entry_pred != NO_BLOCK) return false;
            if (constant && (!opt_const_int(func, arg, &out->first) || out->first < 0))
                return false;
            out->entry_pred = header->preds.items[i], out->start = arg;
        }
    }
    return out->entry_pred != NO_BLOCK && out->next != NO_REF;
}

static bool loop_by_counter(const Func *func, const Cfg *cfg, int32_t loop, bool constant,
                            CountedLoop *out) {
    out->header = cfg->loops.items[loop].header;
    const Block *header = &func->blocks.items[out->header];
    Ref branch = ir_terminator(func, out->header);
    if (!branch || ir_inst(func, branch)->op != OP_branch || header->insts.len < 3) return false;
    out->test = ir_arg(func, branch, 0);
    const Inst *test = ir_inst(func, out->test);
    if (test->op != OP_lt || test->block != out->header) return false;
    out->counter = ir_arg(func, out->test, 0);
    out->limit = ir_arg(func, out->test, 1);
    out->body = ir_inst(func, branch)->target[0];
    out->exit = ir_inst(func, branch)->target[1];
    if (!opt_in_loop(cfg, loop, out->body) || opt_in_loop(cfg, loop, out->exit)) return false;
    const Inst *phi = ir_inst(func, out->counter);
    if (phi->op != OP_phi || phi->block != out->header || !phi->type || phi->type->kind != TY_i64)
        return false;
    if (opt_in_loop(cfg, loop, ir_inst(func, out->limit)->block)) return false;
    for (int32_t i = 0; i < header->insts.len; i++) { /* nothing else happens in the header */
        Ref ref = header->insts.items[i];
        if (ref != out->test && ref != branch && ir_inst(func, ref)->op != OP_phi) return false;
    }
    return counter_ok(func, cfg, loop, constant, out);
}

bool opt_counted_loop(const Func *func, const Cfg *cfg, int32_t loop, CountedLoop *out) {
    return loop_by_counter(func, cfg, loop, true, out);
}

bool opt_loop_of_items(const Func *func, const Cfg *cfg, int32_t loop, CountedLoop *out) {
    return loop_by_counter(func, cfg, loop, false, out);
}

bool opt_is_brief(const Func *func, const Cfg *cfg, int32_t loop) {
    const Loop *info = &cfg->loops.items[loop];
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *inst = ir_inst(func, block->insts.items[k]);
            if (inst->op == OP_poll && inst->sub == FLAG_SHORT) return true;
        }
    }
    return false;
}

/* -- where work-items meet ----------------------------------------------------------------------- */

static bool meets_in(const Func *func, const Block *block, int depth);

/* Do work-items meet here, at a barrier or in a shuffle? */
static bool meets(const Inst *inst, int depth) {
    if (inst->op == OP_lib) {
        const LibRow *row = lib_row_of(inst);
        return !row || row->flags & LIB_CONVERGENT;
    }
    if (inst->op != OP_call) return false;
    const Func *callee = inst->u.func;
    for (int32_t b = 0; depth > 0 && b < callee->blocks.len; b++)
        if (meets_in(callee, &callee->blocks.items[b], depth - 1)) return true;
    return depth == 0;
}

static bool meets_in(const Func *func, const Block *block, int depth) {
    for (int32_t k = 0; k < block->insts.len; k++)
        if (meets(ir_inst(func, block->insts.items[k]), depth)) return true;
    return false;
}

bool opt_work_items_meet(const Func *func, const Loop *loop) {
    enum { CALLS = 6 };
    for (int32_t i = 0; i < loop->blocks.len; i++)
        if (meets_in(func, &func->blocks.items[loop->blocks.items[i]], CALLS)) return true;
    return false;
}
