/* nvptx_exits.c - what a counter is behind its loop.
 *
 *     while count < limit and a * a + b * b < 4: ...; count += 1
 *     image[y, x] = count
 *
 * LLVM knows that count is limit where the first test fails, and makes a variable of limit on that way and count on the other, which
 * each round sets twice. Here it is count on both, one more than it was at the test. */
#include "codegen/target/nvptx_exits.h"

enum { MOST_EDGES = 8 };

/* K + number is V, whatever K is; false: that is not known. */
static bool is_apart(Value k, Value v, int64_t *number) {
    if (k == v) return *number = 0, true;
    if (LLVMIsAConstantInt(k) && LLVMIsAConstantInt(v)) {
        *number = LLVMConstIntGetSExtValue(v) - LLVMConstIntGetSExtValue(k);
        return true;
    }
    if (!LLVMIsABinaryOperator(k) || LLVMGetInstructionOpcode(k) != LLVMAdd ||
        LLVMGetOperand(k, 0) != v || !LLVMIsAConstantInt(LLVMGetOperand(k, 1)))
        return false;
    *number = -LLVMConstIntGetSExtValue(LLVMGetOperand(k, 1));
    return true;
}

/* What a round makes of the counter, the number added to it; NULL: something else. */
static Value next_of(Value counter, int64_t number) {
    for (unsigned i = 0; i < LLVMCountIncoming(counter); i++) {
        Value next = LLVMGetIncomingValue(counter, i);
        if (LLVMIsABinaryOperator(next) && LLVMGetInstructionOpcode(next) == LLVMAdd &&
            LLVMGetOperand(next, 0) == counter && LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
            LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) == number)
            return next;
    }
    return NULL;
}

/* Of a phi behind the loop: what brings it the counter of the round on another way, and a number that is the same on the way from `header`, where
 * the counter is `limit`. NULL: nothing. */
static Value kept(Value phi, Value counter, Value limit, BB header) {
    Value next = NULL;
    int64_t number;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == header &&
            is_apart(limit, LLVMGetIncomingValue(phi, i), &number))
            next = next_of(counter, number);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (next && LLVMGetIncomingValue(phi, i) == next) return next;
    return NULL;
}

/* It is computed whether or not the loop goes on: it may wrap then. */
static void compute_in(Cg *cg, Value next, BB header) {
    LLVMSetNUW(next, false), LLVMSetNSW(next, false);
    if (LLVMGetInstructionParent(next) == header) return;
    LLVMInstructionRemoveFromParent(next);
    LLVMPositionBuilderBefore(cg->b, LLVMGetBasicBlockTerminator(header));
    LLVMInsertIntoBuilder(cg->b, next);
}

/* A phi like this one, to which `header` brings `next`, in its place. */
static void rebuild(Cg *cg, Value phi, BB header, Value next) {
    Value values[MOST_EDGES];
    BB blocks[MOST_EDGES];
    unsigned n = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < n; i++) {
        blocks[i] = LLVMGetIncomingBlock(phi, i);
        values[i] = blocks[i] == header ? next : LLVMGetIncomingValue(phi, i);
    }
    LLVMPositionBuilderBefore(cg->b, phi);
    Value now = LLVMBuildPhi(cg->b, LLVMTypeOf(phi), "");
    LLVMAddIncoming(now, values, blocks, n);
    LLVMReplaceAllUsesWith(phi, now);
    LLVMInstructionEraseFromParent(phi);
}

static void keep_counter(Cg *cg, Value counter, Value limit, BB header, BB exit) {
    for (Value phi = LLVMGetFirstInstruction(exit), other; LLVMIsAPHINode(phi); phi = other) {
        other = LLVMGetNextInstruction(phi);
        Value next =
            LLVMCountIncoming(phi) <= MOST_EDGES ? kept(phi, counter, limit, header) : NULL;
        if (!next) continue;
        compute_in(cg, next, header);
        rebuild(cg, phi, header, next);
    }
}

/* A block that ends with the test whether a counter of its own is at its limit. */
static void keep_counters(Cg *cg, BB header) {
    Value end = LLVMGetBasicBlockTerminator(header);
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end)) return;
    Value test = LLVMGetCondition(end);
    if (!LLVMIsAICmpInst(test)) return;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(test);
    Value counter = LLVMGetOperand(test, 0);
    if ((predicate != LLVMIntEQ && predicate != LLVMIntNE) || !LLVMIsAPHINode(counter) ||
        LLVMGetInstructionParent(counter) != header)
        return;
    BB exit = LLVMGetSuccessor(end, predicate == LLVMIntNE);
    if (exit == header || exit == LLVMGetSuccessor(end, predicate == LLVMIntEQ)) return;
    keep_counter(cg, counter, LLVMGetOperand(test, 1), header, exit);
}

void nvptx_keep_counters(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            keep_counters(cg, bb);
}
