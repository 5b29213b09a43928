/* nvptx_convert.c - floats become ints in one instruction on NVIDIA GPUs.
 *
 * Theirs saturates, as ours does, and rounds in any direction. LLVM 19 writes comparisons and choices round it all the same. NaN makes 0 where
 * neither side has 64 bits, as ours does; elsewhere it makes the least int, so that one choice is left. What becomes of constants and
 * intervals LLVM has found before, by its own form. */
#include "codegen/target/nvptx_convert.h"

#include <stdio.h>

/* The direction of what only rounds, whose operand is then asked instead. */
static const char *direction(Value *from) {
    static const char *const rows[][2] = {{"llvm.floor.", "rm"}, {"llvm.ceil.", "rp"},
                                          {"llvm.trunc.", "rz"}, {"llvm.roundeven.", "rn"},
                                          {"llvm.rint.", "rn"},  {"llvm.nearbyint.", "rn"}};
    for (size_t i = 0; i < countof(rows); i++) {
        if (!cg_calls(*from, rows[i][0])) continue;
        *from = LLVMGetOperand(*from, 0);
        return rows[i][1];
    }
    return "rz";
}

static Value at_bound(Cg *cg, const char *name, Value v, int64_t bound) {
    Value args[] = {v, LLVMConstInt(LLVMTypeOf(v), (unsigned long long)bound, true)};
    LType type = LLVMTypeOf(v);
    return cg_intrinsic(cg, name, &type, 1, args, 2);
}

/* Of 8 or 16 bits: the int32 between their limits. A NaN that is the least int is 0 in unsigned ones by that, too. */
static Value limited(Cg *cg, Value v, unsigned bits, bool negative, bool is_signed) {
    if (negative) v = at_bound(cg, "llvm.smax", v, is_signed ? -(INT64_C(1) << (bits - 1)) : 0);
    int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    return at_bound(cg, negative ? "llvm.smin" : "llvm.umin", v, most);
}

static void convert(Cg *cg, Value inst, bool is_signed) {
    Value from = LLVMGetOperand(inst, 0);
    LType to = LLVMTypeOf(inst);
    unsigned bits = LLVMGetIntTypeWidth(to);
    bool dbl = LLVMTypeOf(from) == cg->f64, small = bits < 32;
    bool negative = is_signed || (small && dbl);
    char name[40];
    const char *way = direction(&from);
    snprintf(name, sizeof name, "llvm.nvvm.%c2%s%s.%s", dbl ? 'd' : 'f', negative ? "" : "u",
             bits == 64 ? "ll" : "i", way);
    LLVMPositionBuilderBefore(cg->b, inst);
    Value v = cg_intrinsic(cg, name, NULL, 0, &from, 1);
    if (small) v = limited(cg, v, bits, negative, is_signed);
    if (bits == 64 || (dbl && (is_signed || !small)))
        v = LLVMBuildSelect(cg->b, LLVMBuildFCmp(cg->b, LLVMRealUNO, from, from, ""),
                            LLVMConstNull(LLVMTypeOf(v)), v, "");
    if (small) v = LLVMBuildTrunc(cg->b, v, to, "");
    LLVMReplaceAllUsesWith(inst, v);
    LLVMInstructionEraseFromParent(inst);
}

static bool is_converted(const Cg *cg, LType to, LType from) {
    return (to == cg->i8 || to == cg->i16 || to == cg->i32 || to == cg->i64) &&
           (from == cg->f32 || from == cg->f64);
}

void nvptx_convert(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                bool is_signed = cg_calls(inst, "llvm.fptosi.sat.");
                if (!is_signed && !cg_calls(inst, "llvm.fptoui.sat.")) continue;
                if (is_converted(cg, LLVMTypeOf(inst), LLVMTypeOf(LLVMGetOperand(inst, 0))))
                    convert(cg, inst, is_signed);
            }
}

/* A bit as a signed int is 0 or -1, as in `-1 + (a < b)`. LLVM 19 selects 1 for -1 there. */
static void convert_bit(Cg *cg, Value inst) {
    LType type = LLVMTypeOf(inst);
    LLVMPositionBuilderBefore(cg->b, inst);
    Value v = LLVMBuildSelect(cg->b, LLVMGetOperand(inst, 0), LLVMConstReal(type, -1),
                              LLVMConstReal(type, 0), "");
    LLVMReplaceAllUsesWith(inst, v);
    LLVMInstructionEraseFromParent(inst);
}

/* Of one, or of two that stand side by side. */
static bool is_of_bits(const Cg *cg, Value v) {
    LType type = LLVMTypeOf(v);
    return (LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type) ==
           cg->i1;
}

void nvptx_convert_bits(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMIsASIToFPInst(inst) && is_of_bits(cg, LLVMGetOperand(inst, 0)))
                    convert_bit(cg, inst);
            }
}
