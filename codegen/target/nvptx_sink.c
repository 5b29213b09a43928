/* nvptx_sink.c - what only one side of a branch needs is computed there.
 *
 * ptxas keeps a loop's stride, bounds and addresses in uniform registers where they are computed right in front of the loop,
 * and not where they stand before the test whether the loop has any rounds, as LLVM leaves them. Its own pass `sink`
 * moves loads, too: registers are short then. */
#include "codegen/target/nvptx_sink.h"

enum { MOST_BLOCKS = 256 };

typedef struct Sinking {
    Cg *cg;
    BB blocks[MOST_BLOCKS];
    int n;
    bool seen[MOST_BLOCKS];
} Sinking;

static int number_of(const Sinking *s, BB block) {
    for (int i = 0; i < s->n; i++)
        if (s->blocks[i] == block) return i;
    return -1;
}

/* Marks what can be reached from the block without `closed`. */
static void reach(Sinking *s, BB block, BB closed) {
    int at = number_of(s, block);
    if (block == closed || at < 0 || s->seen[at]) return;
    s->seen[at] = true;
    Value end = LLVMGetBasicBlockTerminator(block);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
        reach(s, LLVMGetSuccessor(end, k), closed);
}

/* Where a value is wanted: a phi wants it at the end of the block that it comes from. */
static bool used_beyond(Sinking *s, Value value) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (!LLVMIsAPHINode(user)) {
            if (s->seen[number_of(s, LLVMGetInstructionParent(user))]) return true;
            continue;
        }
        for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
            if (LLVMGetIncomingValue(user, k) == value &&
                s->seen[number_of(s, LLVMGetIncomingBlock(user, k))])
                return true;
    }
    return false;
}

static bool reads_register(Value inst) {
    size_t n;
    if (!LLVMIsACallInst(inst)) return false;
    Value callee = LLVMIsAFunction(LLVMGetCalledValue(inst));
    static const char prefix[] = "llvm.nvvm.read.ptx.sreg.";
    return callee && strncmp(LLVMGetValueName2(callee, &n), prefix, sizeof prefix - 1) == 0;
}

static bool may_move(Value inst) {
    return LLVMGetFirstUse(inst) && (LLVMIsABinaryOperator(inst) || LLVMIsACastInst(inst) ||
                                     LLVMIsAGetElementPtrInst(inst) || reads_register(inst));
}

static bool has_one_way_in(const Sinking *s, BB block) {
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        Value end = LLVMGetBasicBlockTerminator(s->blocks[i]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
            n += LLVMGetSuccessor(end, k) == block;
    }
    return n == 1;
}

static void sink_to(Sinking *s, BB from, BB to) {
    if (!has_one_way_in(s, to)) return;
    memset(s->seen, 0, sizeof s->seen);
    reach(s, s->blocks[0], to);
    for (Value inst = LLVMGetBasicBlockTerminator(from), above; inst; inst = above) {
        above = LLVMGetPreviousInstruction(inst);
        if (!may_move(inst) || used_beyond(s, inst)) continue;
        LLVMInstructionRemoveFromParent(inst);
        LLVMPositionBuilderBefore(s->cg->b, cg_behind_phis(LLVMGetFirstInstruction(to)));
        LLVMInsertIntoBuilder(s->cg->b, inst);
    }
}

static void sink_function(Cg *cg, Value fn) {
    Sinking *s = arena_zalloc(cg->arena, sizeof *s);
    s->cg = cg;
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        if (s->n == MOST_BLOCKS) return;
        s->blocks[s->n++] = bb;
    }
    for (int i = 0; i < s->n; i++) {
        Value end = LLVMGetBasicBlockTerminator(s->blocks[i]);
        for (unsigned k = 0; LLVMGetNumSuccessors(end) == 2 && k < 2; k++)
            sink_to(s, s->blocks[i], LLVMGetSuccessor(end, k));
    }
}

void nvptx_sink(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (LLVMGetFirstBasicBlock(fn)) sink_function(cg, fn);
}
