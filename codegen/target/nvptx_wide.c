/* nvptx_wide.c - an index of 32 bits and the size of elements make an offset of 64 bits in one multiplication.
 *
 * ptxas puts a mul.wide and the addition of a base into one instruction (IMAD.WIDE), wherever both stand. LLVM selects a mul.wide only
 * where the extension of the index stands in the block of its use; otherwise an extension and a shift, which are two instructions for
 * each base that they are added to, and two registers for the extended index. Its passes would bring an extension that is made
 * again back to the first one: here the product is written as PTX. */
#include "codegen/target/nvptx_wide.h"

#include <stdio.h>
#include <string.h>

static Value wide_product(Cg *cg, Value index, bool is_signed, unsigned size) {
    char text[64];
    int n = snprintf(text, sizeof text, "mul.wide.%c32 $0, $1, %u;", is_signed ? 's' : 'u', size);
    static char constraints[] = "=l,r";
    LType type = LLVMFunctionType(cg->i64, &cg->i32, 1, false);
    Value code = LLVMGetInlineAsm(type, text, (size_t)n, constraints, sizeof constraints - 1, false,
                                  false, LLVMInlineAsmDialectATT, false);
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

enum { MOST_SIZE = 16 };

/* Behind the extension: ptxas makes it again where it pays. */
static void widen(Cg *cg, Value extended) {
    Value products[MOST_SIZE + 1] = {0}, index = LLVMGetOperand(extended, 0);
    if (LLVMTypeOf(extended) != cg->i64 || LLVMTypeOf(index) != cg->i32) return;
    for (LLVMUseRef use = LLVMGetFirstUse(extended), next; use; use = next) {
        Value user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        unsigned size = element_size(cg, user, extended);
        if (size < 2 || size > MOST_SIZE ||
            LLVMGetInstructionParent(user) == LLVMGetInstructionParent(extended))
            continue;
        LLVMPositionBuilderBefore(cg->b, LLVMGetNextInstruction(extended));
        if (!products[size])
            products[size] = wide_product(cg, index, LLVMIsASExtInst(extended), size);
        LLVMPositionBuilderBefore(cg->b, user);
        Value base = LLVMGetOperand(user, 0);
        LLVMReplaceAllUsesWith(user, LLVMBuildGEP2(cg->b, cg->i8, base, &products[size], 1, ""));
        LLVMInstructionEraseFromParent(user);
    }
}

void nvptx_widen_products(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMIsAZExtInst(inst) || LLVMIsASExtInst(inst)) widen(cg, inst);
            }
}
