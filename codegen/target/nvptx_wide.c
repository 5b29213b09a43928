/* nvptx_wide.c - addresses of elements at indices of 32 bits, as ptxas likes them.
 *
 * ptxas puts a mul.wide and the addition of a base into one instruction (IMAD.WIDE), wherever both stand. LLVM selects a mul.wide only
 * where the extension of the index stands in the block of its use; otherwise an extension and a shift, which are two instructions for
 * each base that they are added to, and two registers for the extended index. Its passes would bring an extension that is made
 * again back to the first one: here the product is written as PTX.
 *
 * Numbers are taken out of indices before: a[i] and a[i + 1] have one product, and in a loop that was unrolled (2 * t + 1) << k and
 * (2 * t + 2) << k are numbers away from 2 * t << k, which the instructions that read and write can add. */
#include "codegen/target/nvptx_wide.h"

#include <stdio.h>
#include <string.h>

/* Behind its definition, where all of its uses can see what is built. */
static void position_behind(Cg *cg, Value fn, Value value) {
    Value at = LLVMIsAInstruction(value) ? LLVMGetNextInstruction(value)
                                         : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    while (LLVMIsAPHINode(at))
        at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(cg->b, at);
}

/* The operand that a number is added to without wrapping, in the sense of the extension; NULL: it is no such sum. */
static Value added_to(Value sum, bool is_signed, int64_t *number) {
    bool added = LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMAdd &&
                 (is_signed ? LLVMGetNSW(sum) : LLVMGetNUW(sum));
    bool apart = LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMOr &&
                 LLVMGetIsDisjoint(sum);
    if ((!added && !apart) || !LLVMIsAConstantInt(LLVMGetOperand(sum, 1))) return NULL;
    *number = LLVMConstIntGetSExtValue(LLVMGetOperand(sum, 1));
    return apart && *number < 0 ? NULL : LLVMGetOperand(sum, 0);
}

/* -- offsets as products --------------------------------------------------------------------------- */

/* The product of an index and a size, as 64 bits. One serves all; where it pays, ptxas makes it again. */
static Value wide_product(Cg *cg, Value fn, Value index, bool is_signed, unsigned size) {
    char text[64];
    int n = snprintf(text, sizeof text, "mul.wide.%c32 $0, $1, %u;", is_signed ? 's' : 'u', size);
    static char constraints[] = "=l,r";
    LType type = LLVMFunctionType(cg->i64, &cg->i32, 1, false);
    Value code = LLVMGetInlineAsm(type, text, (size_t)n, constraints, sizeof constraints - 1, false,
                                  false, LLVMInlineAsmDialectATT, false);
    for (LLVMUseRef use = LLVMGetFirstUse(index); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == code) return user;
    }
    position_behind(cg, fn, index);
    Value product = LLVMBuildCall2(cg->b, type, code, &index, 1, "");
    cg_call_attribute(cg, product, "nounwind", 0);
    cg_call_attribute(cg, product, "willreturn", 0);
    cg_call_attribute(cg, product, "memory", 0);
    return product;
}

/* The size of elements, where the instruction is the address in global memory of the one at this index; 0 elsewhere. Shared memory has
 * addresses of 32 bits. */
static unsigned element_size(const Cg *cg, Value user, Value index) {
    if (!LLVMIsAGetElementPtrInst(user) || LLVMGetNumOperands(user) != 2 ||
        LLVMGetOperand(user, 1) != index ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(user)) != cg_space(cg, SPACE_GLOBAL))
        return 0;
    LType type = LLVMGetGEPSourceElementType(user);
    switch (LLVMGetTypeKind(type)) {
    case LLVMFloatTypeKind: return 4;
    case LLVMDoubleTypeKind: return 8;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) / 8;
    default: return 0;
    }
}

static Value bytes_behind(Cg *cg, Value address, Value offset) {
    return LLVMBuildGEP2(cg->b, cg->i8, address, &offset, 1, "");
}

static void widen(Cg *cg, Value fn, Value extended) {
    bool is_signed = LLVMIsASExtInst(extended);
    Value index = LLVMGetOperand(extended, 0);
    if (LLVMTypeOf(extended) != cg->i64 || LLVMTypeOf(index) != cg->i32) return;
    int64_t number = 0, more;
    for (Value base; (base = added_to(index, is_signed, &more)) && !LLVMIsAConstant(base);) {
        index = base;
        number += more;
    }
    if (LLVMIsAConstant(index)) return;
    for (LLVMUseRef use = LLVMGetFirstUse(extended), next; use; use = next) {
        Value user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        unsigned size = element_size(cg, user, extended);
        if (size < 2 || LLVMGetInstructionParent(user) == LLVMGetInstructionParent(extended))
            continue;
        Value product = wide_product(cg, fn, index, is_signed, size);
        LLVMPositionBuilderBefore(cg->b, user);
        Value address = bytes_behind(cg, LLVMGetOperand(user, 0), product);
        if (number) address = bytes_behind(cg, address, cg_int(cg->i64, number * (int64_t)size));
        LLVMReplaceAllUsesWith(user, address);
        LLVMInstructionEraseFromParent(user);
    }
}

/* -- numbers in products ----------------------------------------------------------------------------- */

enum { ADDRESS_DEPTH = 3 };

/* Is a value an index of elements, and nothing else? */
static bool only_addresses(Value value, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        int64_t number;
        bool passes = LLVMIsAZExtInst(user) || LLVMIsASExtInst(user) ||
                      added_to(user, false, &number) || added_to(user, true, &number);
        if (!LLVMIsAGetElementPtrInst(user) &&
            (!passes || depth == 0 || !only_addresses(user, depth - 1)))
            return false;
    }
    return LLVMGetFirstUse(value) != NULL;
}

/* (x + number) * by, which does not wrap, becomes x * by + number * by. */
static void distribute(Cg *cg, Value product) {
    bool shift = LLVMGetInstructionOpcode(product) == LLVMShl;
    if (LLVMTypeOf(product) != cg->i32 || (!shift && LLVMGetInstructionOpcode(product) != LLVMMul))
        return;
    Value by = LLVMGetOperand(product, 1), x;
    int64_t number;
    if (!LLVMIsAConstantInt(by) || !LLVMGetNUW(product) ||
        !(x = added_to(LLVMGetOperand(product, 0), false, &number)) || number < 0 ||
        !only_addresses(product, ADDRESS_DEPTH))
        return;
    bool nsw = LLVMGetNSW(product);
    uint64_t times = LLVMConstIntGetZExtValue(by);
    uint64_t moved = shift ? (uint64_t)number << times : (uint64_t)number * times;
    LLVMPositionBuilderBefore(cg->b, product);
    Value rest = shift ? LLVMBuildShl(cg->b, x, by, "") : LLVMBuildMul(cg->b, x, by, "");
    if (LLVMIsAInstruction(rest)) LLVMSetNUW(rest, true), LLVMSetNSW(rest, nsw);
    Value sum = LLVMBuildNUWAdd(cg->b, rest, LLVMConstInt(cg->i32, moved, false), "");
    if (LLVMIsAInstruction(sum)) LLVMSetNSW(sum, nsw);
    LLVMReplaceAllUsesWith(product, sum);
    LLVMInstructionEraseFromParent(product);
}

void nvptx_simplify_addresses(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMIsABinaryOperator(inst)) distribute(cg, inst);
                if (LLVMIsAZExtInst(inst) || LLVMIsASExtInst(inst)) widen(cg, fn, inst);
            }
}
