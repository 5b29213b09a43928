/* nvptx_convert.c - floats become ints in one instruction on NVIDIA GPUs.
 *
 * Theirs saturates, as ours does, and rounds in any direction. LLVM 19 writes comparisons and choices round it all the same. NaN makes 0 where
 * neither side has 64 bits, as ours does; elsewhere it makes the least int, so that one choice is left. What becomes of constants and
 * intervals LLVM has found before, by its own form. */
#include "codegen/target/nvptx_convert.h"

#include <stdio.h>
#include <string.h>

static const char *intrinsic_of(Value call) {
    if (!LLVMIsACallInst(call)) return "";
    Value fn = LLVMGetCalledValue(call);
    return LLVMIsAFunction(fn) && LLVMGetIntrinsicID(fn) ? LLVMGetValueName(fn) : "";
}

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The direction of what only rounds, whose operand is then asked instead. */
static const char *direction(Value *from) {
    static const char *const rows[][2] = {{"llvm.floor.", "rm"}, {"llvm.ceil.", "rp"},
                                          {"llvm.trunc.", "rz"}, {"llvm.roundeven.", "rn"},
                                          {"llvm.rint.", "rn"},  {"llvm.nearbyint.", "rn"}};
    const char *name = intrinsic_of(*from);
    for (size_t i = 0; i < countof(rows); i++) {
        if (!starts(name, rows[i][0])) continue;
        *from = LLVMGetOperand(*from, 0);
        return rows[i][1];
    }
    return "rz";
}

static void convert(Cg *cg, Value inst, bool is_signed) {
    Value from = LLVMGetOperand(inst, 0);
    bool wide = LLVMTypeOf(inst) == cg->i64, dbl = LLVMTypeOf(from) == cg->f64;
    char name[40];
    const char *way = direction(&from);
    snprintf(name, sizeof name, "llvm.nvvm.%c2%s%s.%s", dbl ? 'd' : 'f', is_signed ? "" : "u",
             wide ? "ll" : "i", way);
    LLVMPositionBuilderBefore(cg->b, inst);
    Value v = cg_intrinsic(cg, name, NULL, 0, &from, 1);
    if (wide || dbl)
        v = LLVMBuildSelect(cg->b, LLVMBuildFCmp(cg->b, LLVMRealUNO, from, from, ""),
                            LLVMConstNull(LLVMTypeOf(inst)), v, "");
    LLVMReplaceAllUsesWith(inst, v);
    LLVMInstructionEraseFromParent(inst);
}

void nvptx_convert(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                const char *name = intrinsic_of(inst);
                bool is_signed = starts(name, "llvm.fptosi.sat.");
                if (!is_signed && !starts(name, "llvm.fptoui.sat.")) continue;
                LType to = LLVMTypeOf(inst), from = LLVMTypeOf(LLVMGetOperand(inst, 0));
                if ((to == cg->i32 || to == cg->i64) && (from == cg->f32 || from == cg->f64))
                    convert(cg, inst, is_signed);
            }
}
