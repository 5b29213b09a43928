/* tests.c - what the branches that dominate a block say of a value: for interval arithmetic. */
#include "codegen/opt/pass.h"

enum { MAX_FACTS = 40 };

/* Comparisons are of the numbers, whatever their types. */
static bool is_int(const Func *func, const FactList *out, Ref ref) {
    const Type *type = ir_type(func, ref);
    return type && (type->kind == TY_i64 || (out->narrow && opt_is_narrow(func, ref)));
}

/* Is `sum` the value, or (`sums`) the value and a number, or what is in *more? */
static bool is_value(const Func *func, const FactList *out, Ref sum, int64_t *by, Ref *more) {
    const Inst *inst = ir_inst(func, sum);
    *by = 0;
    *more = NO_REF;
    if (opt_same(func, sum, out->value)) return true;
    if (!out->sums || (inst->op != OP_add && inst->op != OP_sub)) return false;
    Ref a = ir_arg(func, sum, 0), b = ir_arg(func, sum, 1);
    if (inst->op == OP_add && opt_same(func, b, out->value)) {
        *more = a;
        return true;
    }
    if (!opt_same(func, a, out->value)) return false;
    if (!opt_const_int(func, b, by)) *more = b;
    if (inst->op == OP_add) return true;
    if (*more || *by == INT64_MIN) return false;
    *by = -*by;
    return true;
}

/* a <= b + d */
static void fact_of_order(const Func *func, FactList *out, Ref a, Ref b, int64_t d) {
    enum { FURTHEST = 1 << 20 };
    int64_t by;
    Ref more;
    if (!is_int(func, out, a) || !is_int(func, out, b) || out->n == countof(out->items)) return;
    if (!is_value(func, out, out->upper ? a : b, &by, &more)) return;
    if (by < -FURTHEST || by > FURTHEST) return;
    out->items[out->n++] =
        out->upper ? (Fact){b, d - by, NO_BLOCK, more} : (Fact){a, -d - by, NO_BLOCK, more};
}

static void facts_of_condition(const Func *func, FactList *out, Ref condition, bool truth,
                               int depth) {
    const Inst *inst = ir_inst(func, condition);
    if (depth > 3 || inst->nargs == 0) return;
    Ref a = ir_arg(func, condition, 0), b = inst->nargs > 1 ? ir_arg(func, condition, 1) : NO_REF;
    switch ((int)inst->op) {
    case OP_not: facts_of_condition(func, out, a, !truth, depth + 1); break;
    case OP_and:
    case OP_or:
        if (truth != (inst->op == OP_and) || type_class(inst->type) != CLASS_BOOL) break;
        facts_of_condition(func, out, a, truth, depth + 1);
        facts_of_condition(func, out, b, truth, depth + 1);
        break;
    case OP_lt:
        truth ? fact_of_order(func, out, a, b, -1) : fact_of_order(func, out, b, a, 0);
        break;
    case OP_le:
        truth ? fact_of_order(func, out, a, b, 0) : fact_of_order(func, out, b, a, -1);
        break;
    default: break;
    }
}

static void facts_of_edge(const Func *func, FactList *out, int32_t from, int32_t to) {
    Ref last = ir_terminator(func, from);
    const Inst *branch = ir_inst(func, last);
    int before = out->n;
    if (branch->op == OP_branch && branch->target[0] != branch->target[1])
        facts_of_condition(func, out, ir_arg(func, last, 0), branch->target[0] == to, 0);
    for (int i = before; i < out->n; i++)
        out->items[i].block = from;
}

void opt_facts(const Func *func, const Cfg *cfg, int32_t block, int32_t to, FactList *out) {
    out->n = 0;
    if (to != NO_BLOCK) facts_of_edge(func, out, block, to);
    for (int n = 0; n < MAX_FACTS && cfg->idom[block] != NO_BLOCK; n++) {
        if (func->blocks.items[block].preds.len == 1)
            facts_of_edge(func, out, cfg->idom[block], block);
        block = cfg->idom[block];
    }
}
