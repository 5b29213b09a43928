/* libdevice.c - finding NVIDIA's libdevice. */
#include "codegen/target/libdevice.h"
#include "codegen/target/devlib.h"
#include <stdio.h>
#include <stdlib.h>

static const char *find(Cg *cg, Str *tried) {
    DevSearch s = {.cg = cg};
    buf_init(&s.tried, cg->arena);
    tg_find_libdevice(&(LibrarySearch){devlib_look, &s});
    *tried = buf_take(&s.tried);
    return s.found;
}

/* -- fastmath ----------------------------------------------------------------------------------- */

static bool is_loose(const Cg *cg) {
    return (cg->options->fastmath & FM_DEFAULT) == FM_DEFAULT;
}

/* Of float32: those with an approximation in hardware, and what is made of one. */
static const char *const approximated[] = {"sin", "cos",  "tan",   "exp", "exp10",
                                           "log", "log2", "log10", "pow"};

/* As nvcc -use_fast_math and Numba's fastmath have it. */
static void approximate(Cg *cg) {
    for (int i = 0; i < countof(approximated); i++) {
        char name[32];
        snprintf(name, sizeof name, "__nv_%sf", approximated[i]);
        Value exact = LLVMGetNamedFunction(cg->mod, name);
        if (!exact) continue;
        snprintf(name, sizeof name, "__nv_fast_%sf", approximated[i]);
        Value fast = LLVMGetNamedFunction(cg->mod, name);
        if (!fast) fast = LLVMAddFunction(cg->mod, name, LLVMGlobalGetValueType(exact));
        LLVMReplaceAllUsesWith(exact, fast);
        LLVMDeleteFunction(exact);
    }
}

/* What libdevice asks for (`__nvvm_reflect`), and the code generator. */
static void flush_denormals(Cg *cg) {
    static const char flag[] = "nvvm-reflect-ftz";
    LLVMAddModuleFlag(cg->mod, LLVMModuleFlagBehaviorOverride, flag, sizeof flag - 1,
                      LLVMValueAsMetadata(cg_int(cg->i32, 1)));
}

static void set(Value fn, const char *key, const char *value) {
    LLVMAddTargetDependentFunctionAttr(fn, key, value);
}

static void loosen(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        if (LLVMIsDeclaration(fn)) continue;
        set(fn, "unsafe-fp-math", "true"); /* div.approx, sqrt.approx, rsqrt.approx */
        set(fn, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    }
}

/* LLVM makes rsqrt.approx of a root that only divides, but sqrt.rn of any other. */
static bool only_divides(Value root) {
    for (LLVMUseRef use = LLVMGetFirstUse(root); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (!LLVMIsABinaryOperator(user) || LLVMGetInstructionOpcode(user) != LLVMFDiv ||
            LLVMGetOperand(user, 1) != root || LLVMGetOperand(user, 0) == root)
            return false;
    }
    return true;
}

static void approximate_roots(Cg *cg, Value fn) {
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
            size_t n;
            next = LLVMGetNextInstruction(inst);
            Value callee = LLVMIsACallInst(inst) ? LLVMIsAFunction(LLVMGetCalledValue(inst)) : NULL;
            if (!callee || strcmp(LLVMGetValueName2(callee, &n), "llvm.sqrt.f32") ||
                only_divides(inst))
                continue;
            LLVMPositionBuilderBefore(cg->b, inst);
            Value x = LLVMGetOperand(inst, 0);
            LLVMReplaceAllUsesWith(inst,
                                   cg_intrinsic(cg, "llvm.nvvm.sqrt.approx.ftz.f", NULL, 0, &x, 1));
            LLVMInstructionEraseFromParent(inst);
        }
}

void libdevice_finish(Cg *cg) {
    if (!is_loose(cg)) return;
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        approximate_roots(cg, fn);
}

static bool link_exactly(Cg *cg) {
    if (!devlib_needed(cg, "__nv_")) return true;
    Str tried;
    const char *path = find(cg, &tried);
    if (!path) {
        cg->failed = true;
        return diag_add(cg->diags, E0502, NULL, "CUDA", tried.bytes);
    }
    return devlib_link(cg, path, "__nv_");
}

bool libdevice_link(Cg *cg) {
    if (!is_loose(cg)) return link_exactly(cg);
    approximate(cg);
    flush_denormals(cg);
    if (!link_exactly(cg)) return false;
    loosen(cg);
    return true;
}
