/* ir_verify.c - the rules of IR.md about shape: blocks, edges, phis, error successors, dominance. The
 * rules about single ops are in ir_verify_op.c.
 *
 * It must survive any garbage a wrong pass leaves behind: nothing is followed before it was checked. */
#include "frontend/ir/ir_verify.h"

#include <stdio.h>

bool verify_fail(Verifier *v, int32_t block, Ref ref, const char *format, ...) {
    char *out = v->message;
    int left = (int)sizeof v->message;
    int n = snprintf(out, (size_t)left, "@" STR_FMT, STR_ARG(v->func->name));
    n = QN_MIN(n, left / 2);
    if (block >= 0) n += snprintf(out + n, (size_t)(left - n), ", b%d", (int)block);
    if (ref > 0) {
        int op = ir_inst(v->func, ref)->op;
        n += snprintf(out + n, (size_t)(left - n), ", %%%d %s", (int)ref,
                      op < OP_COUNT ? ir_op_info[op].name : "?");
    }
    n += snprintf(out + n, (size_t)(left - n), ": ");
    va_list args;
    va_start(args, format);
    vsnprintf(out + n, (size_t)(left - n), format, args);
    va_end(args);
    return false;
}

/* -- blocks ---------------------------------------------------------------------------------- */

static bool block_exists(const Verifier *v, int32_t block) {
    return block >= 0 && block < v->func->blocks.len && !v->func->blocks.items[block].removed;
}

static bool check_targets(Verifier *v, int32_t block, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    int n = inst->op == OP_jump ? 1 : inst->op == OP_branch ? 2 : 0;
    for (int i = 0; i < 2; i++) {
        if (i < n && !block_exists(v, inst->target[i]))
            return verify_fail(v, block, ref, "target b%d does not exist", (int)inst->target[i]);
        if (i >= n && inst->target[i] != NO_BLOCK)
            return verify_fail(v, block, ref, "has a target it cannot have");
    }
    return true;
}

/* An instruction with an error successor is the terminator, or followed only by a jump elsewhere. */
static bool check_error(Verifier *v, int32_t block, int32_t at) {
    const Block *b = &v->func->blocks.items[block];
    Ref ref = b->insts.items[at];
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->error == NO_BLOCK) return true;
    if (!ir_op_is(v->func, ref, OPF_RAISES))
        return verify_fail(v, block, ref, "cannot raise, but has an error successor");
    if (!block_exists(v, inst->error))
        return verify_fail(v, block, ref, "error successor b%d does not exist", (int)inst->error);
    if (ir_op_is(v->func, ref, OPF_TERM)) return true;
    const Inst *next = at + 1 < b->insts.len ? ir_inst(v->func, b->insts.items[at + 1]) : NULL;
    if (!next || next->op != OP_jump)
        return verify_fail(v, block, ref, "has an error successor and is not followed by a jump");
    if (next->target[0] == inst->error)
        return verify_fail(v, block, ref, "the error successor is also where the jump leads");
    return true;
}

static bool check_placed(Verifier *v, int32_t block, int32_t at) {
    const Block *b = &v->func->blocks.items[block];
    Ref ref = b->insts.items[at];
    if (ref <= 0 || ref >= v->func->insts.len)
        return verify_fail(v, block, NO_REF, "instruction %d does not exist", (int)ref);
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->op == OP_removed || inst->op >= OP_COUNT)
        return verify_fail(v, block, ref, "a removed instruction is listed");
    if (v->position[ref]) return verify_fail(v, block, ref, "stands in two places");
    if (inst->block != block)
        return verify_fail(v, block, ref, "says that it is in b%d", (int)inst->block);
    v->position[ref] = at + 1;
    bool last = at == b->insts.len - 1;
    if (ir_op_is(v->func, ref, OPF_TERM) != last)
        return verify_fail(v, block, ref,
                           last ? "the block does not end in a terminator"
                                : "a terminator in the middle of the block");
    if (inst->op == OP_phi && at && ir_inst(v->func, b->insts.items[at - 1])->op != OP_phi)
        return verify_fail(v, block, ref, "a phi behind other instructions");
    if (inst->args < 0 || inst->nargs < 0 || inst->args > v->func->operands.len - inst->nargs)
        return verify_fail(v, block, ref, "operands outside the operand array");
    if (inst->span < 0 || inst->span >= v->func->spans.len)
        return verify_fail(v, block, ref, "the span does not exist");
    return true;
}

static bool check_block(Verifier *v, int32_t block) {
    const Block *b = &v->func->blocks.items[block];
    if (b->removed) return true;
    if (b->insts.len == 0) return verify_fail(v, block, NO_REF, "the block is empty");
    for (int32_t at = 0; at < b->insts.len; at++)
        if (!check_placed(v, block, at)) return false;
    for (int32_t at = 0; at < b->insts.len; at++)
        if (!check_targets(v, block, b->insts.items[at]) || !check_error(v, block, at))
            return false;
    for (int32_t k = 0; k < b->preds.len; k++)
        if (!block_exists(v, b->preds.items[k]))
            return verify_fail(v, block, NO_REF, "predecessor b%d does not exist",
                               (int)b->preds.items[k]);
    return true;
}

static int edges_between(const Func *func, int32_t from, int32_t to) {
    int32_t out[3];
    int n = ir_successors(func, from, out), count = 0;
    for (int i = 0; i < n; i++)
        count += out[i] == to;
    return count;
}

/* Each edge stands in `preds` of its target exactly once, and nothing else does. */
static bool check_edges(Verifier *v) {
    const Func *func = v->func;
    int32_t *incoming = arena_array(v->arena, int32_t, func->blocks.len);
    int32_t *listed = arena_array(v->arena, int32_t, func->blocks.len);
    for (int32_t block = 0; block < func->blocks.len; block++) {
        int32_t out[3];
        int n = func->blocks.items[block].removed ? 0 : ir_successors(func, block, out);
        for (int i = 0; i < n; i++)
            incoming[out[i]]++;
    }
    for (int32_t block = 0; block < func->blocks.len; block++) {
        const Block *b = &func->blocks.items[block];
        if (b->removed) continue;
        for (int32_t k = 0; k < b->preds.len; k++)
            listed[b->preds.items[k]]++;
        for (int32_t k = 0; k < b->preds.len; k++) {
            int32_t pred = b->preds.items[k], count = edges_between(func, pred, block);
            if (listed[pred] && listed[pred] != count)
                return verify_fail(v, block, NO_REF,
                                   "b%d is a predecessor %d times, but has %d edges here",
                                   (int)pred, (int)listed[pred], count);
            listed[pred] = 0;
        }
        if (incoming[block] != b->preds.len)
            return verify_fail(v, block, NO_REF,
                               "%d edges lead here, but %d predecessors are listed",
                               (int)incoming[block], (int)b->preds.len);
    }
    return true;
}

/* -- uses ------------------------------------------------------------------------------------ */

static bool check_operand(Verifier *v, Ref user, int32_t k) {
    const Func *func = v->func;
    const Inst *inst = ir_inst(func, user);
    Ref ref = ir_arg(func, user, k);
    if (ref <= 0 || ref >= func->insts.len || !v->position[ref])
        return verify_fail(v, inst->block, user, "operand %d (%%%d) is not defined", (int)k,
                           (int)ref);
    if (ir_op_info[ir_inst(func, ref)->op].result == RES_VOID)
        return verify_fail(v, inst->block, user, "operand %d (%%%d) has no value", (int)k,
                           (int)ref);
    return true;
}

static bool check_dominance(Verifier *v, Ref user, int32_t k) {
    const Func *func = v->func;
    const Inst *inst = ir_inst(func, user);
    Ref ref = ir_arg(func, user, k);
    if (v->cfg.rpo_number[inst->block] < 0) return true; /* unreachable: anything goes */
    if (inst->op == OP_phi) {
        int32_t pred = func->blocks.items[inst->block].preds.items[k];
        if (v->cfg.rpo_number[pred] < 0 ||
            cfg_available_on_edge(&v->cfg, func, ref, pred, inst->block))
            return true;
        return verify_fail(v, inst->block, user, "%%%d is not available on the edge from b%d",
                           (int)ref, (int)pred);
    }
    bool same = ir_inst(func, ref)->block == inst->block && ir_inst(func, ref)->error == NO_BLOCK;
    if (same ? v->position[ref] < v->position[user]
             : cfg_available(&v->cfg, func, ref, inst->block))
        return true;
    return verify_fail(v, inst->block, user, "%%%d is not available here", (int)ref);
}

static bool check_phi(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    int32_t preds = v->func->blocks.items[inst->block].preds.len;
    if (inst->nargs == preds) return true;
    return verify_fail(v, inst->block, ref, "%d operands for %d predecessors", (int)inst->nargs,
                       (int)preds);
}

static bool check_inst(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->op == OP_phi && !check_phi(v, ref)) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (!check_operand(v, ref, k)) return false;
    if (!verify_op(v, ref)) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (!check_dominance(v, ref, k)) return false;
    return true;
}

/* -- functions ------------------------------------------------------------------------------- */

static bool check_func(Verifier *v) {
    const Func *func = v->func;
    if (func->blocks.len == 0 || func->blocks.items[0].removed)
        return verify_fail(v, NO_BLOCK, NO_REF, "there is no entry block");
    if (func->typed && !func->result)
        return verify_fail(v, NO_BLOCK, NO_REF, "there is no result type");
    v->position = arena_array(v->arena, int32_t, func->insts.len);
    for (int32_t block = 0; block < func->blocks.len; block++)
        if (!check_block(v, block)) return false;
    if (func->blocks.items[0].preds.len)
        return verify_fail(v, 0, NO_REF, "the entry has predecessors");
    if (!check_edges(v)) return false;
    cfg_compute(&v->cfg, v->arena, func);
    for (int32_t block = 0; block < func->blocks.len; block++) {
        const Block *b = &func->blocks.items[block];
        for (int32_t i = 0; i < b->insts.len; i++)
            if (!check_inst(v, b->insts.items[i])) return false;
    }
    return true;
}

bool ir_verify_func(const Func *func, const char *after, DiagList *diags) {
    Verifier v = {.func = func, .arena = func->module->arena};
    ArenaMark mark = arena_mark(v.arena);
    bool ok = check_func(&v);
    arena_release(v.arena, mark);
    return ok || diag_add(diags, E0004, NULL, after, v.message);
}

bool ir_verify_module(const Module *module, const char *after, DiagList *diags) {
    if (module->funcs.len == 0)
        return diag_add(diags, E0004, NULL, after, "a module without functions");
    Map names;
    ArenaMark mark = arena_mark(module->arena);
    map_init(&names, module->arena);
    const Func *twice = NULL;
    for (int32_t i = 0; i < module->funcs.len && !twice; i++) {
        MapValue *seen = map_put_str(&names, module->funcs.items[i]->name);
        if (seen->num++) twice = module->funcs.items[i];
    }
    arena_release(module->arena, mark);
    if (twice) return diag_add(diags, E0004, NULL, after, "two functions with one name");
    for (int32_t i = 0; i < module->funcs.len; i++)
        if (!ir_verify_func(module->funcs.items[i], after, diags)) return false;
    return true;
}
