/* cg_merge.c - the body of a function goes into the entry, which is all that calls it.
 *
 * LLVM's inliner would copy each instruction, ask for the frequencies of all blocks, and drop the original: a fortieth of a compilation.
 * The blocks are moved instead:
 *
 *     entry: ... r = call f(a, b); rest           entry: ...; jump first      first, ...: blocks of f with a and b for its parameters
 *                                          ->     after: r = phi of what each return gave; rest
 */
#include "codegen/llvm/cg.h"
#include <llvm-c/DebugInfo.h>

/* The only use of the function, a call in the first block of another one; NULL: it is used otherwise. */
static Value only_call(Value fn, Value entry) {
    LLVMUseRef use = LLVMGetFirstUse(fn);
    if (!use || LLVMGetNextUse(use) || LLVMGetLinkage(fn) != LLVMInternalLinkage) return NULL;
    Value call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != fn) return NULL;
    return LLVMGetInstructionParent(call) == LLVMGetEntryBasicBlock(entry) ? call : NULL;
}

static void move_to(Cg *cg, Value inst) {
    LLVMInstructionRemoveFromParent(inst);
    LLVMInsertIntoBuilder(cg->b, inst);
}

/* What stands behind the call, in a block of its own. */
static BB split_behind(Cg *cg, Value call) {
    cg_at(cg, LLVMGetInstructionParent(call));
    BB after = cg_block(cg, "after");
    cg_at(cg, after);
    for (Value inst = LLVMGetNextInstruction(call); inst; inst = LLVMGetNextInstruction(call))
        move_to(cg, inst);
    return after;
}

/* Variables stand in the first block of a function. */
static void move_variables(Cg *cg, BB from, Value first) {
    for (Value inst = LLVMGetFirstInstruction(from), next; inst; inst = next) {
        next = LLVMGetNextInstruction(inst);
        if (!LLVMIsAAllocaInst(inst)) continue;
        LLVMPositionBuilderBefore(cg->b, first);
        move_to(cg, inst);
    }
}

/* In front of what follows the call: LLVM lays blocks out, and assigns registers, in an order that begins with theirs. */
static void move_blocks(Value fn, Value entry, BB after) {
    for (BB block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetFirstBasicBlock(fn)) {
        LLVMRemoveBasicBlockFromParent(block);
        LLVMAppendExistingBasicBlock(entry, block);
        LLVMMoveBasicBlockBefore(block, after);
    }
}

/* Returns become jumps; what they gave is the value of the call. */
static void lead_returns(Cg *cg, Value call, BB first, BB after) {
    LType type = LLVMTypeOf(call);
    Value result = NULL;
    if (type != cg->void_) {
        LLVMPositionBuilderBefore(cg->b, LLVMGetFirstInstruction(after));
        result = LLVMBuildPhi(cg->b, type, "");
        LLVMReplaceAllUsesWith(call, result);
    }
    for (BB block = first; block != after; block = LLVMGetNextBasicBlock(block)) {
        Value end = LLVMGetBasicBlockTerminator(block);
        if (!LLVMIsAReturnInst(end)) continue;
        Value gives = result ? LLVMGetOperand(end, 0) : NULL;
        if (result) LLVMAddIncoming(result, &gives, &block, 1);
        LLVMInstructionEraseFromParent(end);
        cg_at(cg, block);
        LLVMBuildBr(cg->b, after);
    }
}

void cg_merge_entry(Cg *cg, Value entry) {
    Value fn = cg->sigs[0].fn, call = only_call(fn, entry);
    if (!call || LLVMGetSubprogram(fn)) return;
    BB before = LLVMGetInstructionParent(call), first = LLVMGetEntryBasicBlock(fn);
    BB after = split_behind(cg, call);
    LLVMMoveBasicBlockAfter(after, before);
    for (unsigned i = 0; i < LLVMCountParams(fn); i++)
        LLVMReplaceAllUsesWith(LLVMGetParam(fn, i), LLVMGetOperand(call, i));
    move_variables(cg, first, LLVMGetFirstInstruction(before));
    move_blocks(fn, entry, after);
    lead_returns(cg, call, first, after);
    LLVMInstructionEraseFromParent(call);
    cg_at(cg, before);
    LLVMBuildBr(cg->b, first);
    LLVMDeleteFunction(fn);
    cg->sigs[0].fn = NULL;
}
