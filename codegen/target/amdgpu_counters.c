/* amdgpu_counters.c - a loop counts nothing twice.
 *
 *   i = phi first, i + 1;  a = phi 4 * first, a + 4;  b = phi 4 * first, b + 4;  ...;  if i + 1 < n
 *
 *   => a = phi 4 * first, a + 4;  ...;  if a + 4 != 4 * n
 *
 * Offsets that begin alike and grow alike are one, and the one that is left says when the loop ends. That is right modulo 2^32: it was
 * tested in front of the loop that there is a round, so the counter reaches n one by one; and each round reads or writes an element at the
 * offset, all of which lie within 2^31 bytes (amdgpu_offsets.c), so that no round but the last one meets the end. What is a number
 * times another value is uniform where that is: no scalar counter becomes a vector. */
#include "codegen/target/amdgpu.h"
#include "codegen/target/gpu_loops.h"

/* A phi of a header, of 32 bits, and what each round adds to it. */
typedef struct Counter {
    Value phi, first, next, step;
} Counter;

typedef struct Counters {
    Cg *cg;
    CodeLoops loops;
    const CodeLoop *loop;
    Vec(Counter) found;
} Counters;

static Value only_user(Value v) {
    LLVMUseRef use = LLVMGetFirstUse(v);
    return use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
}

static bool is_counter(const Counters *s, Value phi, Counter *c) {
    BB latch = s->loops.blocks[s->loop->latch];
    if (LLVMTypeOf(phi) != s->cg->i32 || LLVMCountIncoming(phi) != 2) return false;
    unsigned back = LLVMGetIncomingBlock(phi, 1) == latch;
    Value next = LLVMGetIncomingValue(phi, back);
    if (LLVMGetIncomingBlock(phi, back) != latch || !LLVMIsAInstruction(next) ||
        LLVMGetInstructionOpcode(next) != LLVMAdd)
        return false;
    unsigned at = LLVMGetOperand(next, 1) == phi;
    Value step = LLVMGetOperand(next, !at);
    *c = (Counter){phi, LLVMGetIncomingValue(phi, !back), next, step};
    return LLVMGetOperand(next, at) == phi && !loops_has(&s->loops, s->loop, step);
}

/* A counter that nobody looks at but itself. */
static void erase(const Counter *c) {
    LLVMReplaceAllUsesWith(c->phi, LLVMGetPoison(LLVMTypeOf(c->phi)));
    LLVMInstructionEraseFromParent(c->phi);
    LLVMInstructionEraseFromParent(c->next);
}

/* -- the same twice -------------------------------------------------------------------------------- */

static bool is_free(const Counter *c) {
    return only_user(c->next) == c->phi;
}

/* Of two that count the same one goes, whose sum has no other user. */
static bool join(Counter *a, Counter *b) {
    if (a->first != b->first || a->step != b->step || !(is_free(a) || is_free(b))) return false;
    Counter gone = is_free(b) ? *b : *a;
    if (!is_free(b)) *a = *b;
    LLVMSetNUW(a->next, LLVMGetNUW(a->next) && LLVMGetNUW(gone.next));
    LLVMSetNSW(a->next, LLVMGetNSW(a->next) && LLVMGetNSW(gone.next));
    LLVMReplaceAllUsesWith(gone.phi, a->phi);
    LLVMInstructionEraseFromParent(gone.phi);
    LLVMInstructionEraseFromParent(gone.next);
    return true;
}

static void join_twins(Counters *s) {
    for (int32_t i = 0; i < s->found.len; i++)
        for (int32_t k = i + 1; k < s->found.len;)
            if (join(&s->found.items[i], &s->found.items[k]))
                s->found.items[k] = s->found.items[--s->found.len];
            else
                k++;
}

/* -- the test ---------------------------------------------------------------------------------------- */

/* How ints are compared: LLVM makes unsigned comparisons of those that are not negative. */
typedef struct Order {
    bool is_signed;
    LLVMIntPredicate lt, le, gt, ge;
} Order;

static const Order orders[] = {{true, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE},
                               {false, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE}};

static bool is_one_more(const Order *o, Value more, Value less) {
    if (!LLVMIsAConstantInt(more) || !LLVMIsAConstantInt(less)) return false;
    if (o->is_signed) return LLVMConstIntGetSExtValue(more) == LLVMConstIntGetSExtValue(less) + 1;
    return LLVMConstIntGetZExtValue(more) == LLVMConstIntGetZExtValue(less) + 1;
}

/* Is a < b where `test` came out as `holds`? */
static bool says_less(const Order *o, Value test, bool holds, Value a, Value b, int depth) {
    if (holds && LLVMIsASelectInst(test) && depth) {
        Value other = LLVMGetOperand(test, 2);
        return LLVMIsAConstantInt(other) && LLVMIsNull(other) &&
               (says_less(o, LLVMGetOperand(test, 0), true, a, b, depth - 1) ||
                says_less(o, LLVMGetOperand(test, 1), true, a, b, depth - 1));
    }
    if (!LLVMIsAICmpInst(test)) return false;
    LLVMIntPredicate p = LLVMGetICmpPredicate(test);
    Value x = LLVMGetOperand(test, 0), y = LLVMGetOperand(test, 1);
    return (p == (holds ? o->lt : o->ge) && x == a && y == b) ||
           (p == (holds ? o->gt : o->le) && x == b && y == a) ||
           (p == (holds ? o->le : o->gt) && x == a && is_one_more(o, b, y)) ||
           (p == (holds ? o->ge : o->lt) && x == b && is_one_more(o, y, a));
}

/* The one block from which the code comes to `block`; NULL: there are several, or none. */
static BB only_way(BB block) {
    Value end = only_user(LLVMBasicBlockAsValue(block));
    return end && LLVMIsAInstruction(end) ? LLVMGetInstructionParent(end) : NULL;
}

enum { MOST_TESTS = 4 };

/* Was a < b tested on the way into the loop? */
static bool is_tested(const Counters *s, const Order *o, Value a, Value b) {
    BB to = s->loops.blocks[s->loop->header], from = s->loops.blocks[s->loop->outside];
    for (int n = 0; from && n < MOST_TESTS; n++, to = from, from = only_way(from)) {
        Value end = LLVMGetBasicBlockTerminator(from);
        if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end)) continue;
        bool holds = LLVMGetSuccessor(end, 0) == to;
        if (holds != (LLVMGetSuccessor(end, 1) == to) &&
            says_less(o, LLVMGetCondition(end), holds, a, b, MOST_TESTS))
            return true;
    }
    return false;
}

enum { ADDRESS_DEPTH = 3 };

/* Is an element read or written there in each round? The loop is one block. */
static bool is_address(Value v, const CodeLoops *loops, const CodeLoop *loop, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (!loops_has(loops, loop, user)) continue;
        if (LLVMIsALoadInst(user) || (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == v))
            return true;
        bool on = LLVMIsAZExtInst(user) ||
                  (LLVMIsAGetElementPtrInst(user) && LLVMGetNumOperands(user) == 2);
        if (on && depth && is_address(user, loops, loop, depth - 1)) return true;
    }
    return false;
}

/* The test at the end of a round, next < limit. */
typedef struct LastTest {
    Value branch, compare, limit;
    const Order *order;
    bool goes_on; /* where it holds */
} LastTest;

static bool find_test(const Counters *s, const Counter *c, LastTest *t) {
    BB latch = s->loops.blocks[s->loop->latch];
    t->branch = LLVMGetBasicBlockTerminator(latch);
    if (!LLVMIsABranchInst(t->branch) || !LLVMIsConditional(t->branch)) return false;
    t->compare = LLVMGetCondition(t->branch);
    if (!LLVMIsAICmpInst(t->compare) || only_user(t->compare) != t->branch) return false;
    t->goes_on = LLVMGetSuccessor(t->branch, 0) == s->loops.blocks[s->loop->header];
    bool left = LLVMGetOperand(t->compare, 0) == c->next;
    t->limit = LLVMGetOperand(t->compare, left);
    for (int k = 0; k < countof(orders); k++) {
        t->order = &orders[k];
        if (says_less(t->order, t->compare, t->goes_on, c->next, t->limit, 0))
            return !loops_has(&s->loops, s->loop, t->limit);
    }
    return false;
}

/* Nobody but itself and the test looks at what it comes to. */
static bool is_for_test(const Counter *c, const LastTest *t) {
    for (LLVMUseRef use = LLVMGetFirstUse(c->next); use; use = LLVMGetNextUse(use))
        if (LLVMGetUser(use) != c->phi && LLVMGetUser(use) != t->compare) return false;
    return only_user(c->phi) == c->next;
}

static bool is_number(Value v, int64_t *n) {
    if (!LLVMIsAConstantInt(v)) return false;
    *n = LLVMConstIntGetSExtValue(v);
    return true;
}

static int log_of(int64_t size) {
    return size > 1 && (size & (size - 1)) == 0 ? __builtin_ctzll((uint64_t)size) : 0;
}

/* Is it first << shift? */
static bool is_times(Value v, Value first, int shift) {
    int64_t n, by;
    if (is_number(first, &n) && is_number(v, &by))
        return (uint32_t)by == (uint32_t)((uint64_t)n << shift);
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMShl &&
           LLVMGetOperand(v, 0) == first && is_number(LLVMGetOperand(v, 1), &by) && by == shift;
}

static void test_offset(Counters *s, const Counter *count, const Counter *offset, const LastTest *t,
                        int shift) {
    Cg *cg = s->cg;
    BB outside = s->loops.blocks[s->loop->outside];
    LLVMPositionBuilderBefore(cg->b, LLVMGetBasicBlockTerminator(outside));
    Value end = LLVMBuildShl(cg->b, t->limit, cg_int(cg->i32, shift), "");
    LLVMPositionBuilderBefore(cg->b, t->branch);
    LLVMIntPredicate p = t->goes_on ? LLVMIntNE : LLVMIntEQ;
    Value sum = LLVMBuildAdd(cg->b, offset->phi, offset->step, "");
    LLVMSetCondition(t->branch, LLVMBuildICmp(cg->b, p, sum, end, ""));
    LLVMReplaceAllUsesWith(offset->next, sum); /* which may stand behind the others */
    LLVMInstructionEraseFromParent(offset->next);
    LLVMInstructionEraseFromParent(t->compare);
    erase(count);
}

static void drop_count(Counters *s) {
    for (int32_t i = 0; i < s->found.len; i++) {
        const Counter *count = &s->found.items[i];
        LastTest t;
        int64_t step;
        if (!is_number(count->step, &step) || step != 1 || !find_test(s, count, &t) ||
            !is_for_test(count, &t) || !is_tested(s, t.order, count->first, t.limit))
            continue;
        for (int32_t k = 0; k < s->found.len; k++) {
            const Counter *offset = &s->found.items[k];
            int shift = is_number(offset->step, &step) ? log_of(step) : 0;
            if (!shift || only_user(offset->next) != offset->phi ||
                !is_times(offset->first, count->first, shift) ||
                !is_address(offset->phi, &s->loops, s->loop, ADDRESS_DEPTH))
                continue;
            test_offset(s, count, offset, &t, shift);
            return;
        }
    }
}

void amdgpu_count_once(Cg *cg) {
    if (cg->options->general_variant || cg->options->entry != ENTRY_KERNEL) return;
    Counters s = {.cg = cg};
    loops_find(&s.loops, cg->arena, cg->entry_fn);
    for (int32_t l = 0; l < s.loops.found.len; l++) {
        s.loop = &s.loops.found.items[l];
        if (!s.loop->plain) continue;
        s.found.len = 0;
        Value i = LLVMGetFirstInstruction(s.loops.blocks[s.loop->header]);
        for (Counter c; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
            if (is_counter(&s, i, &c)) vec_push(cg->arena, &s.found, c);
        join_twins(&s);
        if (s.loop->header == s.loop->latch) drop_count(&s);
    }
}
