/* nvptx_rotate.c - a loop that is left at its start and at its end is tested in front of it and then at its end alone.
 *
 *     header:  k = phi(0, next); k == n ? out : round          if 0 == n: out
 *     round:   ...; next = k + 1; found ? out : header    =>   round: ...; found ? out : again     again: next == n ? out : round
 *     out:     phi(-1 from header, k from round)
 *
 * LLVM turns loops whose last block goes back in any case, and takes a search whose last block has a test of its own for turned. Each of its
 * rounds then sets what it has for both ways out: two moves, where nvcc's code has them behind the loop. Only a test is written twice. */
#include "codegen/target/nvptx_rotate.h"
#include "codegen/target/gpu_loops.h"

enum { MOST_PHIS = 16 };

typedef struct Rotation {
    Cg *cg;
    CodeLoops *loops;
    const CodeLoop *loop;
    BB before, header, latch, again, exit; /* again: the test at the end */
    Value test;
    bool leaves; /* where the test is true */
} Rotation;

static bool is_header_phi(const Rotation *r, Value v) {
    return LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == r->header;
}

static Value from(Value phi, BB block) {
    unsigned i = 0;
    while (LLVMGetIncomingBlock(phi, i) != block)
        i++;
    return LLVMGetIncomingValue(phi, i);
}

/* What v, as the header has it, is where the loop is entered from `block`. */
static Value arriving(const Rotation *r, Value v, BB block) {
    return is_header_phi(r, v) ? from(v, block) : v;
}

/* -- which loops ------------------------------------------------------------------------------------ */

static bool has(const Rotation *r, BB block) {
    return loops_has(r->loops, r->loop, LLVMGetBasicBlockTerminator(block));
}

/* What leaves the loop does so through phis behind the blocks that leave it. */
static bool leaves_by_phis(const Rotation *r, Value v) {
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (loops_has(r->loops, r->loop, user)) continue;
        if (!LLVMIsAPHINode(user)) return false;
        for (unsigned i = 0; i < LLVMCountIncoming(user); i++)
            if (LLVMGetIncomingValue(user, i) == v && !has(r, LLVMGetIncomingBlock(user, i)))
                return false;
    }
    return true;
}

/* Nothing but variables and the test, which nobody else looks at. */
static bool is_plain_header(const Rotation *r) {
    Value inst = LLVMGetFirstInstruction(r->header);
    int n = 0;
    for (; LLVMIsAPHINode(inst); inst = LLVMGetNextInstruction(inst))
        if (++n > MOST_PHIS || !leaves_by_phis(r, inst)) return false;
    return inst == r->test &&
           LLVMGetNextInstruction(inst) == LLVMGetBasicBlockTerminator(r->header) &&
           !LLVMGetNextUse(LLVMGetFirstUse(inst));
}

static bool is_conditional(Value end) {
    return LLVMIsABranchInst(end) && LLVMIsConditional(end);
}

/* A second way back would make a loop around it one of two ends. */
static bool starts_loop(const CodeLoops *loops, BB block) {
    for (int32_t k = 0; k < loops->found.len; k++)
        if (loops->blocks[loops->found.items[k].header] == block) return true;
    return false;
}

static bool can_rotate(Rotation *r) {
    const CodeLoop *loop = r->loop;
    if (!loop->plain || loop->header == loop->latch) return false;
    r->before = r->loops->blocks[loop->outside];
    r->header = r->loops->blocks[loop->header];
    r->latch = r->loops->blocks[loop->latch];
    Value enter = LLVMGetBasicBlockTerminator(r->before),
          end = LLVMGetBasicBlockTerminator(r->header),
          back = LLVMGetBasicBlockTerminator(r->latch);
    if (!LLVMIsABranchInst(enter) || is_conditional(enter) || !is_conditional(end) ||
        !is_conditional(back))
        return false;
    r->test = LLVMGetCondition(end);
    bool in[] = {has(r, LLVMGetSuccessor(end, 0)), has(r, LLVMGetSuccessor(end, 1))};
    if (in[0] == in[1] || !LLVMIsAICmpInst(r->test)) return false;
    r->leaves = !in[0];
    r->exit = LLVMGetSuccessor(end, in[0]);
    return LLVMGetSuccessor(back, 0) != LLVMGetSuccessor(back, 1) &&
           !starts_loop(r->loops, r->exit) && is_plain_header(r);
}

/* -- the change ------------------------------------------------------------------------------------- */

/* The test, with what the variables are from `block` on, at the end of `at`. */
static void test_at(const Rotation *r, BB at, BB block) {
    LLVMBuilderRef b = r->cg->b;
    LLVMPositionBuilderAtEnd(b, at);
    Value test = LLVMBuildICmp(b, LLVMGetICmpPredicate(r->test),
                               arriving(r, LLVMGetOperand(r->test, 0), block),
                               arriving(r, LLVMGetOperand(r->test, 1), block), "");
    LLVMBuildCondBr(b, test, r->leaves ? r->exit : r->header, r->leaves ? r->header : r->exit);
}

/* A phi of the exit, reached from in front of the loop and from its end in place of the header. */
static void rebuild_behind(const Rotation *r, Value phi) {
    LLVMPositionBuilderBefore(r->cg->b, phi);
    Value now = LLVMBuildPhi(r->cg->b, LLVMTypeOf(phi), "");
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        Value v = LLVMGetIncomingValue(phi, i);
        BB block = LLVMGetIncomingBlock(phi, i);
        if (block != r->header) {
            LLVMAddIncoming(now, &v, &block, 1);
            continue;
        }
        Value values[] = {arriving(r, v, r->before), arriving(r, v, r->latch)};
        LLVMAddIncoming(now, values, (BB[]){r->before, r->again}, 2);
    }
    LLVMReplaceAllUsesWith(phi, now);
    LLVMInstructionEraseFromParent(phi);
}

/* A variable of the loop, which comes from the test at its end now. */
static void rebuild_variable(const Rotation *r, Value phi) {
    LLVMPositionBuilderBefore(r->cg->b, phi);
    Value now = LLVMBuildPhi(r->cg->b, LLVMTypeOf(phi), "");
    LLVMReplaceAllUsesWith(phi, now); /* it may be what another one is next */
    Value values[] = {from(phi, r->before), from(phi, r->latch)};
    LLVMAddIncoming(now, values, (BB[]){r->before, r->again}, 2);
    LLVMInstructionEraseFromParent(phi);
}

static void rotate(Rotation *r) {
    Value end = LLVMGetBasicBlockTerminator(r->header),
          back = LLVMGetBasicBlockTerminator(r->latch);
    BB round = LLVMGetSuccessor(end, r->leaves);
    r->again = LLVMInsertBasicBlockInContext(r->cg->context, r->header, "");
    LLVMMoveBasicBlockAfter(r->again, r->latch);
    for (Value phi = LLVMGetFirstInstruction(r->exit), next; LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        rebuild_behind(r, phi);
    }
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(r->before));
    test_at(r, r->before, r->before);
    test_at(r, r->again, r->latch);
    LLVMSetSuccessor(back, LLVMGetSuccessor(back, 1) == r->header, r->again);
    LLVMInstructionEraseFromParent(end);
    LLVMInstructionEraseFromParent(r->test);
    LLVMPositionBuilderAtEnd(r->cg->b, r->header);
    LLVMBuildBr(r->cg->b, round);
    for (Value phi = LLVMGetFirstInstruction(r->header), next; LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        rebuild_variable(r, phi);
    }
}

/* One of them; the loops are looked for anew then. */
static bool rotate_one(Cg *cg, Value fn) {
    CodeLoops loops;
    loops_find(&loops, cg->arena, fn);
    for (int32_t k = 0; k < loops.found.len; k++) {
        Rotation r = {.cg = cg, .loops = &loops, .loop = &loops.found.items[k]};
        if (!can_rotate(&r)) continue;
        rotate(&r);
        return true;
    }
    return false;
}

void nvptx_rotate(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        while (LLVMGetFirstBasicBlock(fn) && rotate_one(cg, fn)) {
        }
}
