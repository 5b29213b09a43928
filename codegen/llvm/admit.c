/* admit.c - the last look before LLVM's passes and code generators, which crash on some things they do
 * not expect: LLVM's own verifier, and a list of the types and intrinsics we have tried. */
#include "codegen/llvm/cg.h"
#include <llvm-c/Analysis.h>

/* Prefixes of intrinsic names that every target of ours lowers. */
static const char *const intrinsics[] = {
    "llvm.abs.",
    "llvm.amdgcn.",
    "llvm.arithmetic.fence.",
    "llvm.bitreverse.",
    "llvm.bswap.",
    "llvm.ceil.",
    "llvm.copysign.",
    "llvm.ctlz.",
    "llvm.ctpop.",
    "llvm.cttz.",
    "llvm.fabs.",
    "llvm.floor.",
    "llvm.fma.",
    "llvm.fptosi.sat.",
    "llvm.fptoui.sat.",
    "llvm.frameaddress.",
    "llvm.fshl.",
    "llvm.fshr.",
    "llvm.maxnum.",
    "llvm.minnum.",
    "llvm.maximum.",
    "llvm.minimum.",
    "llvm.memcpy.",
    "llvm.memmove.",
    "llvm.memset.",
    "llvm.nvvm.",
    "llvm.pow.",
    "llvm.powi.",
    "llvm.readcyclecounter",
    "llvm.rint.",
    "llvm.round.",
    "llvm.roundeven.",
    "llvm.smax.",
    "llvm.smin.",
    "llvm.smul.with.overflow.",
    "llvm.sqrt.",
    "llvm.trunc.",
    "llvm.umax.",
    "llvm.umin.",
    "llvm.umul.with.overflow.",
    "llvm.usub.with.overflow.",
    "llvm.sadd.with.overflow.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.coro.",
    "llvm.lifetime.",
};

static bool known_intrinsic(const char *name) {
    for (int i = 0; i < countof(intrinsics); i++)
        if (strncmp(name, intrinsics[i], strlen(intrinsics[i])) == 0) return true;
    return false;
}

static bool known_type(const Cg *cg, LType type) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind:
    case LLVMLabelTypeKind:
    case LLVMMetadataTypeKind:
    case LLVMTokenTypeKind: return true;
    case LLVMIntegerTypeKind: {
        unsigned bits = LLVMGetIntTypeWidth(type);
        return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
    }
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            if (!known_type(cg, LLVMStructGetTypeAtIndex(type, i))) return false;
        return true;
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind: return known_type(cg, LLVMGetElementType(type));
    default: return false;
    }
}

static bool admit_function(Cg *cg, Value fn) {
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    if (LLVMGetIntrinsicID(fn) && !known_intrinsic(name))
        return cg_error(cg, "intrinsic %s is not on the list of admitted ones", name);
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (Value i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if (!known_type(cg, LLVMTypeOf(i))) {
                char *text = LLVMPrintTypeToString(LLVMTypeOf(i));
                cg_error(cg, "type %s in %s is not on the list of admitted ones", text, name);
                LLVMDisposeMessage(text);
                return false;
            }
    return true;
}

bool cg_verify(Cg *cg) {
    char *message = NULL;
    if (LLVMVerifyModule(cg->mod, LLVMReturnStatusAction, &message)) {
        cg_error(cg, "LLVM's verifier: %s", message);
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMDisposeMessage(message);
    return true;
}

bool cg_admit(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (!admit_function(cg, fn)) return false;
    return cg_verify(cg);
}
