/* amdgpu_convert.c - floats become ints in few instructions on AMD GPUs.
 *
 * To an int of 32 bits AMD's conversions saturate, and make 0 of NaN, as ours do; LLVM 19 writes six instructions round them all the same.
 * So the plain conversion stands for them, behind the passes that could take it at its word, and frozen. To an int of 64 bits there is
 * none: half of what stands for one is left where the low half alone is read. */
#include "codegen/target/amdgpu.h"

/* -- to 32 bits --------------------------------------------------------------------------------------- */

/* What selection would do to a plain conversion is to look through a conversion from an int in front of it, hence the list. */
static bool is_plain(Value from) {
    if (LLVMIsAArgument(from)) return true;
    switch (LLVMIsAInstruction(from) ? LLVMGetInstructionOpcode(from) : LLVMRet) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFNeg:
    case LLVMCall:
    case LLVMLoad: return true;
    default: return false;
    }
}

static Value plainly(Cg *cg, Value from, bool is_signed) {
    Value plain = is_signed ? LLVMBuildFPToSI(cg->b, from, cg->i32, "")
                            : LLVMBuildFPToUI(cg->b, from, cg->i32, "");
    return LLVMBuildFreeze(cg->b, plain, "");
}

/* -- the low half of 64 bits -------------------------------------------------------------------------- */

static bool is_cut(const Cg *cg, Value inst) {
    for (LLVMUseRef use = LLVMGetFirstUse(inst); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (!LLVMIsATruncInst(user) || LLVMGetIntTypeWidth(LLVMTypeOf(user)) > 32) return false;
    }
    return LLVMGetFirstUse(inst) && LLVMTypeOf(inst) == cg->i64;
}

/* t - trunc(t / 2^32) * 2^32 of the whole number t, which has no more digits than t: nothing is rounded. One of the conversions of it, and of
 * what it is without its sign, is 0. The greatest int has all bits set, the least none, nor has a float32 below it. */
static Value low_half(Cg *cg, Value from) {
    LType type = LLVMTypeOf(from);
    Value t = cg_intrinsic1(cg, "llvm.trunc", from);
    if (type == cg->f64) {
        Value ends[] = {t, cg_real(type, -0x1p63)};
        t = cg_intrinsic(cg, "llvm.maxnum", &type, 1, ends, 2);
    }
    Value parts = LLVMBuildFMul(cg->b, t, cg_real(type, 0x1p-32), "");
    Value args[] = {cg_intrinsic1(cg, "llvm.trunc", parts), cg_real(type, -0x1p32), t};
    Value rest = cg_intrinsic(cg, "llvm.fma", &type, 1, args, 3);
    Value low = LLVMBuildSub(cg->b, plainly(cg, rest, false),
                             plainly(cg, LLVMBuildFNeg(cg->b, rest, ""), false), "");
    Value above = LLVMBuildFCmp(cg->b, LLVMRealOGE, from, cg_real(type, 0x1p63), "");
    return LLVMBuildSelect(cg->b, above, LLVMConstAllOnes(cg->i32), low, "");
}

void amdgpu_convert(Cg *cg, Value inst) {
    bool is_signed = cg_calls(inst, "llvm.fptosi.sat.");
    if (!is_signed && !cg_calls(inst, "llvm.fptoui.sat.")) return;
    Value from = LLVMGetOperand(inst, 0);
    if (LLVMTypeOf(from) != cg->f32 && LLVMTypeOf(from) != cg->f64) return;
    bool half = is_signed && is_cut(cg, inst);
    if (!half && (LLVMTypeOf(inst) != cg->i32 || !is_plain(from))) return;
    LLVMPositionBuilderBefore(cg->b, inst);
    /* selection finds that the high half is read by none */
    Value v =
        half ? LLVMBuildZExt(cg->b, low_half(cg, from), cg->i64, "") : plainly(cg, from, is_signed);
    LLVMReplaceAllUsesWith(inst, v);
    LLVMInstructionEraseFromParent(inst);
}
