/* wearing.c - loops that wear a number out: x >>= k, x //= k, x &= x - 1, x -= x & -x, or x of w, x = x, w % x, until x is zero.
 *
 * Such a loop has as many rounds as x has bits, at most. The digits of a number, its bits, powers by squaring, Fenwick trees and binary
 * searches by powers of two are of this kind. Euclid's has more: neighbours in Fibonacci's series take the longest, of which 94 are
 * ints of 64 bits. x is a phi of the header that gets the smaller number on each way
 * back, and a test that every round passes leaves the loop when x (or what it becomes) is zero. A negative number that is
 * shifted or divided never becomes zero: the test ends the loop for it, too, or it is proven not to be negative. */
#include "codegen/opt/wearing.h"

typedef struct Wearing {
    const Func *func;
    const Cfg *cfg;
    int32_t loop;
    Ref number, next; /* phi of the header, and what it gets on the way back */
    bool by_bits;     /* nearer to zero, whatever the sign; else halved at least */
} Wearing;

static bool is_arg(const Func *func, Ref ref, Op op, Ref a, Ref *other) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != op) return false;
    for (int k = 0; k < 2; k++)
        if (ir_arg(func, ref, k) == a) return *other = ir_arg(func, ref, 1 - k), true;
    return false;
}

static bool is_const(const Func *func, Ref ref, int64_t value) {
    int64_t k;
    return opt_const_int(func, ref, &k) && k == value;
}

/* x & (x - 1), x - (x & -x), x ^ (x & -x) */
static bool clears_a_bit(const Func *func, Ref next, Ref x) {
    Ref other, minus;
    if (is_arg(func, next, OP_and, x, &other)) {
        const Inst *less = ir_inst(func, other);
        return (less->op == OP_sub || less->op == OP_add) && ir_arg(func, other, 0) == x &&
               is_const(func, ir_arg(func, other, 1), less->op == OP_sub ? 1 : -1);
    }
    if (!is_arg(func, next, OP_sub, x, &other) && !is_arg(func, next, OP_xor, x, &other))
        return false;
    return ir_arg(func, next, 0) == x && is_arg(func, other, OP_and, x, &minus) &&
           ir_inst(func, minus)->op == OP_neg && ir_arg(func, minus, 0) == x;
}

/* x >> k, x // k */
static bool halves(const Func *func, Ref next, Ref x) {
    const Inst *inst = ir_inst(func, next);
    int64_t k;
    if (inst->op != OP_shr && inst->op != OP_floordiv) return false;
    return ir_arg(func, next, 0) == x && opt_const_int(func, ir_arg(func, next, 1), &k) &&
           k >= (inst->op == OP_shr ? 1 : 2);
}

/* A number that wears out: the same smaller one on all ways back. */
static bool find_next(Wearing *w) {
    const Block *header = &w->func->blocks.items[ir_inst(w->func, w->number)->block];
    w->next = NO_REF;
    for (int32_t i = 0; i < header->preds.len; i++) {
        if (!opt_in_loop(w->cfg, w->loop, header->preds.items[i])) continue;
        Ref arg = ir_arg(w->func, w->number, i);
        if (w->next && w->next != arg) return false;
        w->next = arg;
    }
    bool euclid = opt_is_euclid(w->func, w->next) && ir_arg(w->func, w->next, 1) == w->number;
    w->by_bits = euclid || clears_a_bit(w->func, w->next, w->number);
    return w->by_bits || halves(w->func, w->next, w->number);
}

/* Where the loop goes on while `test` is `truth`: does it end when x is zero? *all: when it is negative, too. */
static bool ends_at_zero(const Wearing *w, Ref test, bool truth, bool *all) {
    const Inst *inst = ir_inst(w->func, test);
    int64_t k;
    if (inst->nargs != 2) return false;
    Ref a = ir_arg(w->func, test, 0), b = ir_arg(w->func, test, 1);
    bool left = a == w->number || a == w->next, right = b == w->number || b == w->next;
    if (left == right || !opt_const_int(w->func, left ? b : a, &k)) return false;
    *all = false;
    if (inst->op == OP_ne || inst->op == OP_eq) return k == 0 && truth == (inst->op == OP_ne);
    if (inst->op != OP_lt && inst->op != OP_le) return false;
    bool upward = right == truth; /* it goes on while x is large */
    bool strict = (inst->op == OP_lt) == truth;
    return *all = upward && (strict ? k >= 0 : k >= 1);
}

static bool ends(const Wearing *w, int32_t block) {
    Ref last = ir_terminator(w->func, block);
    const Inst *branch = ir_inst(w->func, last);
    bool all;
    if (branch->op != OP_branch || !opt_every_round(w->func, w->cfg, w->loop, block)) return false;
    bool stays = opt_in_loop(w->cfg, w->loop, branch->target[0]);
    if (stays == opt_in_loop(w->cfg, w->loop, branch->target[1])) return false;
    if (!ends_at_zero(w, ir_arg(w->func, last, 0), stays, &all)) return false;
    if (all || w->by_bits || type_class(ir_type(w->func, w->number)) == CLASS_UINT) return true;
    int32_t header = ir_inst(w->func, w->number)->block;
    return opt_at_least(w->func, w->cfg, w->number, 0, header);
}

bool opt_wears_out(const Func *func, const Cfg *cfg, int32_t loop) {
    const Loop *info = &cfg->loops.items[loop];
    const Block *header = &func->blocks.items[info->header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Wearing w = {.func = func, .cfg = cfg, .loop = loop, .number = header->insts.items[i]};
        if (ir_inst(func, w.number)->op != OP_phi) return false;
        if (!type_is_int(ir_type(func, w.number)) || !find_next(&w)) continue;
        for (int32_t k = 0; k < info->blocks.len; k++)
            if (ends(&w, info->blocks.items[k])) return true;
    }
    return false;
}
