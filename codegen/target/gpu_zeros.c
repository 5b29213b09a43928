/* gpu_zeros.c - choices between a value and zero that LLVM 19 takes for a minimum or maximum (FLT-03).
 *
 *     r = 0.0 if not x < 0.0 else x        x = -0.0: r is 0.0
 *
 * Code generation selects such a choice as the hardware's min or max wherever NaN comes out right. Two zeros are equal, so Python's
 * choice between them goes by its order; the hardware takes -0.0 for the smaller one. Where the two differ the choice is made
 * between the bits, which no pattern of LLVM's takes for a minimum. It costs a comparison and a select instead of one instruction, so
 * choices where the two agree, `x if x > 0.0 else 0.0` among them, stay as they are. */
#include "codegen/target/gpu_kernel.h"

static bool is_zero(Value v) {
    LLVMBool inexact;
    return LLVMIsAConstantFP(v) && LLVMConstRealGetDouble(v, &inexact) == 0.0;
}

static bool is_negative_zero(Value v) {
    return is_zero(v) && v == LLVMConstReal(LLVMTypeOf(v), -0.0);
}

static LType bits_of(Cg *cg, LType type) {
    if (type == cg->f64) return cg->i64;
    if (type == cg->f32) return cg->i32;
    return type == cg->f16 ? cg->i16 : NULL;
}

/* A constant zero of a comparison stands for either zero. */
static bool are_same(Value compared, Value chosen) {
    return compared == chosen || (is_zero(compared) && is_zero(chosen));
}

enum { IF_LESS = 1, IF_GREATER = 2, IF_EQUAL = 4 };

static int holds_when(LLVMRealPredicate predicate) {
    switch (predicate) {
    case LLVMRealOLT:
    case LLVMRealULT: return IF_LESS;
    case LLVMRealOLE:
    case LLVMRealULE: return IF_LESS | IF_EQUAL;
    case LLVMRealOGT:
    case LLVMRealUGT: return IF_GREATER;
    case LLVMRealOGE:
    case LLVMRealUGE: return IF_GREATER | IF_EQUAL;
    default: return 0;
    }
}

static bool ignores_zeros(Value v) {
    return LLVMCanValueUseFastMathFlags(v) && LLVMGetFastMathFlags(v) & LLVMFastMathNoSignedZeros;
}

/* Is it a choice between a value and zero whose outcome for the other zero is not the hardware's minimum or maximum? */
static bool differs_at_zero(Cg *cg, Value choice) {
    if (!LLVMIsASelectInst(choice) || !bits_of(cg, LLVMTypeOf(choice))) return false;
    Value test = LLVMIsAFCmpInst(LLVMGetOperand(choice, 0));
    Value then = LLVMGetOperand(choice, 1), otherwise = LLVMGetOperand(choice, 2);
    if (!test || is_zero(then) == is_zero(otherwise) || ignores_zeros(choice)) return false;
    Value left = LLVMGetOperand(test, 0), right = LLVMGetOperand(test, 1);
    int holds = holds_when(LLVMGetFCmpPredicate(test));
    bool direct = are_same(left, then) && are_same(right, otherwise);
    if (!holds || (!direct && !(are_same(left, otherwise) && are_same(right, then)))) return false;
    bool smaller = (holds & IF_LESS) ? direct : !direct;
    Value tie = holds & IF_EQUAL ? then : otherwise; /* what comes out where both are zeros */
    Value zero = is_zero(then) ? then : otherwise;
    bool negative = is_negative_zero(zero) == (tie == zero); /* against the other zero */
    return negative != smaller;
}

static void choose_bits(Cg *cg, Value choice) {
    LType type = LLVMTypeOf(choice), bits = bits_of(cg, type);
    LLVMPositionBuilderBefore(cg->b, choice);
    Value then = LLVMBuildBitCast(cg->b, LLVMGetOperand(choice, 1), bits, "");
    Value otherwise = LLVMBuildBitCast(cg->b, LLVMGetOperand(choice, 2), bits, "");
    Value chosen = LLVMBuildSelect(cg->b, LLVMGetOperand(choice, 0), then, otherwise, "");
    LLVMReplaceAllUsesWith(choice, LLVMBuildBitCast(cg->b, chosen, type, ""));
    LLVMInstructionEraseFromParent(choice);
}

void gpu_keep_zeros(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (differs_at_zero(cg, inst)) choose_bits(cg, inst);
            }
}
