/* nvptx_shift.c - the sign of what is shifted down by a number.
 *
 * LLVM 19 takes (x & mask) >> n for a field of bits where the mask leaves off the low ones, and extracts it without its sign (bfe.u64)
 * though the shift brings it down. So what may become such a field to its selection, (x & mask) ^ mask, is shifted by PTX of ours. */
#include "codegen/target/nvptx_shift.h"

#include <stdio.h>

/* Each kind of bits may be an `and` to selection. */
static void keep_sign(Cg *cg, Value shift) {
    LType type = LLVMTypeOf(shift);
    Value x = LLVMGetOperand(shift, 0), by = LLVMGetOperand(shift, 1);
    if ((type != cg->i32 && type != cg->i64) || !LLVMIsAConstantInt(by) || !cg_is_bits(x)) return;
    char text[40];
    snprintf(text, sizeof text, "shr.s%u $0, $1, %u;", LLVMGetIntTypeWidth(type),
             (unsigned)LLVMConstIntGetZExtValue(by));
    LLVMPositionBuilderBefore(cg->b, shift);
    Value kept = cg_assembly(cg, text, type == cg->i64 ? "=l,l" : "=r,r", type, x);
    LLVMReplaceAllUsesWith(shift, kept);
    LLVMInstructionEraseFromParent(shift);
}

void nvptx_keep_signs(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMGetInstructionOpcode(inst) == LLVMAShr) keep_sign(cg, inst);
            }
}
