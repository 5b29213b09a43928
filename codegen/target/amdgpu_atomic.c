/* amdgpu_atomic.c - atomic operations and fences with a scope.
 *
 * LLVM's C interface knows two scopes, the thread and the system. Kernels mean the device ("agent") or the block
 * ("workgroup"): the system's scope costs cache flushes, and compare-and-swap loops where the chip has an instruction.
 * So each such operation is a small function, parsed from text, that is inlined always. */
#include "codegen/target/amdgpu.h"
#include <llvm-c/Linker.h>
#include <stdio.h>

/* The function `name` of the module, made from `text` when it is not there yet. NULL: after a diagnostic. */
static Value snippet(Cg *cg, const char *name, const char *text) {
    Value known = LLVMGetNamedFunction(cg->mod, name);
    if (known) return known;
    LLVMModuleRef module = cg_parse(cg, text);
    if (!module) return NULL;
    LLVMSetTarget(module, LLVMGetTarget(cg->mod));
    LLVMSetModuleDataLayout(module, cg->layout);
    if (LLVMLinkModules2(cg->mod, module)) {
        cg_error(cg, "a snippet cannot be linked");
        return NULL;
    }
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    return fn;
}

Value amdgpu_snippet(Cg *cg, const char *name, const char *text, Value *args, unsigned nargs) {
    Value fn = snippet(cg, name, text);
    if (!fn) return nargs ? args[nargs - 1] : NULL;
    return LLVMBuildCall2(cg->b, LLVMGlobalGetValueType(fn), fn, args, nargs, "");
}

static const char *rmw_name(int op) {
    switch (op) {
    case LLVMAtomicRMWBinOpXchg: return "xchg";
    case LLVMAtomicRMWBinOpAdd: return "add";
    case LLVMAtomicRMWBinOpSub: return "sub";
    case LLVMAtomicRMWBinOpAnd: return "and";
    case LLVMAtomicRMWBinOpOr: return "or";
    case LLVMAtomicRMWBinOpXor: return "xor";
    case LLVMAtomicRMWBinOpMax: return "max";
    case LLVMAtomicRMWBinOpMin: return "min";
    case LLVMAtomicRMWBinOpUMax: return "umax";
    case LLVMAtomicRMWBinOpUMin: return "umin";
    case LLVMAtomicRMWBinOpFAdd: return "fadd";
    case LLVMAtomicRMWBinOpUIncWrap: return "uinc_wrap";
    case LLVMAtomicRMWBinOpUDecWrap: return "udec_wrap";
    default: return NULL;
    }
}

/* "ptr addrspace(1)" and "i32" of an address and a value. */
static const char *llvm_type(Cg *cg, Value value) {
    return cg_copy_text(cg, LLVMPrintTypeToString(LLVMTypeOf(value))).bytes;
}

TgValue amdgpu_rmw(Cg *cg, int op, TgValue address, TgValue operand, unsigned align) {
    const char *name = rmw_name(op), *type = llvm_type(cg, operand), *at = llvm_type(cg, address);
    if (!name) {
        cg_error(cg, "this atomic operation on AMD GPUs");
        return operand;
    }
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(address));
    const char *label = str_printf(cg->arena, "quern.%s.%s.%u", name, type, space).bytes;
    const char *text = str_printf(cg->arena,
                                  "define %s @\"%s\"(%s %%p, %s %%v) alwaysinline nounwind {\n"
                                  "  %%old = atomicrmw %s %s %%p, %s %%v syncscope(\"agent\") "
                                  "monotonic, align %u\n  ret %s %%old\n}\n",
                                  type, label, at, type, name, at, type, align, type)
                           .bytes;
    return amdgpu_snippet(cg, label, text, (Value[]){address, operand}, 2);
}

/* {old value, was it the expected one}, as LLVM's instruction. */
TgValue amdgpu_cmpxchg(Cg *cg, TgValue address, TgValue expected, TgValue desired, unsigned align) {
    const char *type = llvm_type(cg, expected), *at = llvm_type(cg, address);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(address));
    const char *label = str_printf(cg->arena, "quern.cmpxchg.%s.%u", type, space).bytes;
    const char *text =
        str_printf(cg->arena,
                   "define {%s, i1} @\"%s\"(%s %%p, %s %%e, %s %%d) alwaysinline nounwind {\n"
                   "  %%pair = cmpxchg %s %%p, %s %%e, %s %%d syncscope(\"agent\") monotonic "
                   "monotonic, align %u\n  ret {%s, i1} %%pair\n}\n",
                   type, label, at, type, type, at, type, type, align, type)
            .bytes;
    return amdgpu_snippet(cg, label, text, (Value[]){address, expected, desired}, 3);
}

void amdgpu_fence(Cg *cg, const char *scope, const char *ordering) {
    const char *label = str_printf(cg->arena, "quern.fence.%s.%s", scope, ordering).bytes;
    const char *in = scope[0] ? str_printf(cg->arena, "syncscope(\"%s\") ", scope).bytes : "";
    const char *text = str_printf(cg->arena,
                                  "define void @\"%s\"() alwaysinline nounwind {\n"
                                  "  fence %s%s\n  ret void\n}\n",
                                  label, in, ordering)
                           .bytes;
    amdgpu_snippet(cg, label, text, NULL, 0);
}
