/* nvptx_short.c - the low bits of ints are computed in 32 bits.
 *
 * table[(crc ^ byte) & 255] looks at 8 bits of each operand, and LLVM makes a sum of 8 bits of it. GPUs have no registers of that size:
 * each operand is cut, and the result extended, by instructions of their own. In 32 bits there is one operation and one mask, which are
 * one instruction (LOP3) where the operation is of bits. */
#include "codegen/target/nvptx_short.h"

static bool is_short(const Cg *cg, Value v) {
    return LLVMTypeOf(v) == cg->i8 || LLVMTypeOf(v) == cg->i16;
}

/* Low bits of the result depend on low bits of the operands alone. */
static bool keeps_low_bits(Value inst) {
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return true;
    default: return false;
    }
}

static bool is_part(const Cg *cg, Value v) {
    if (!LLVMIsATruncInst(v)) return false;
    LType from = LLVMTypeOf(LLVMGetOperand(v, 0));
    return from == cg->i32 || from == cg->i64;
}

static bool only_extended(const Cg *cg, Value inst) {
    for (LLVMUseRef use = LLVMGetFirstUse(inst); use; use = LLVMGetNextUse(use))
        if (!LLVMIsAZExtInst(LLVMGetUser(use)) || is_short(cg, LLVMGetUser(use))) return false;
    return LLVMGetFirstUse(inst) != NULL;
}

/* Its low bits in an int32; the others are any. */
static Value widened(Cg *cg, Value v) {
    Value from = is_part(cg, v) ? LLVMGetOperand(v, 0) : v;
    if (LLVMTypeOf(from) == cg->i64) return LLVMBuildTrunc(cg->b, from, cg->i32, "");
    return LLVMTypeOf(from) == cg->i32 ? from : LLVMBuildZExt(cg->b, from, cg->i32, "");
}

/* What stands for it; NULL: nothing has changed. */
static Value widen(Cg *cg, Value inst) {
    if (!LLVMIsABinaryOperator(inst) || !is_short(cg, inst) || !keeps_low_bits(inst)) return NULL;
    Value a = LLVMGetOperand(inst, 0), b = LLVMGetOperand(inst, 1);
    if (!only_extended(cg, inst) || (!is_part(cg, a) && !is_part(cg, b))) return NULL;
    LLVMPositionBuilderBefore(cg->b, inst);
    a = widened(cg, a), b = widened(cg, b);
    Value wide = LLVMBuildBinOp(cg->b, LLVMGetInstructionOpcode(inst), a, b, "");
    uint64_t mask = LLVMTypeOf(inst) == cg->i8 ? UINT8_MAX : UINT16_MAX;
    wide = LLVMBuildAnd(cg->b, wide, LLVMConstInt(cg->i32, mask, false), "");
    while (LLVMGetFirstUse(inst)) {
        Value extended = LLVMGetUser(LLVMGetFirstUse(inst));
        LLVMReplaceAllUsesWith(extended,
                               LLVMBuildZExtOrBitCast(cg->b, wide, LLVMTypeOf(extended), ""));
        LLVMInstructionEraseFromParent(extended);
    }
    LLVMInstructionEraseFromParent(inst);
    return wide;
}

void nvptx_widen_short_ints(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb); inst;
                 inst = LLVMGetNextInstruction(inst)) {
                Value wide = widen(cg, inst);
                if (wide) inst = wide;
            }
}
