/* cg_vector.c - vector mathematics on the CPU: calls of libm functions carry the names of their variants
 * in glibc's libmvec, so that LLVM's loop vectoriser may use them (at most 4 ULP off).
 *
 * A variant is named only where the library and the CPU have it: the letter is the instruction set. */
#include "codegen/llvm/cg.h"
#include "codegen/support.h"
#include <stdio.h>

typedef struct VectorIsa {
    char letter;         /* of the vector ABI */
    int bits;            /* of a register */
    const char *feature; /* of the CPU, as LLVM names it */
} VectorIsa;

static const VectorIsa isas[] = {
    {'b', 128, "+sse4.2"}, {'d', 256, "+avx2"}, {'e', 512, "+avx512f"}};

static void declare(Cg *cg, const char *name, Value call, int lanes) {
    LType type = LLVMTypeOf(call), params[4];
    Value fn = LLVMGetCalledValue(call);
    int n = (int)LLVMCountParams(fn);
    if (LLVMGetNamedFunction(cg->mod, name) || n > 4) return;
    LType vector = LLVMVectorType(type, (unsigned)lanes);
    for (int i = 0; i < n; i++)
        params[i] = vector;
    Value variant =
        LLVMAddFunction(cg->mod, name, LLVMFunctionType(vector, params, (unsigned)n, false));
    cg_attribute(cg, variant, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_attribute(cg, variant, LLVMAttributeFunctionIndex, "willreturn", 0);
    vec_push(cg->arena, &cg->vector_functions, variant);
}

/* Keeps declarations alive until the vectoriser has looked at them. */
void cg_keep_variants(Cg *cg) {
    if (cg->vector_functions.len == 0) return;
    Value list =
        LLVMConstArray2(cg->ptr[0], cg->vector_functions.items, (uint64_t)cg->vector_functions.len);
    Value used = LLVMAddGlobal(cg->mod, LLVMTypeOf(list), "llvm.compiler.used");
    LLVMSetInitializer(used, list);
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}

void cg_vector_variants(Cg *cg, Value call, const char *symbol, int nargs, bool single) {
    char text[512], name[64];
    size_t at = 0;
    bool wanted = cg->target->is_host && !cg->options->no_vector_math &&
                  cg->options->opt_level >= 2 && nargs >= 1 && nargs <= 2 && LLVMIsACallInst(call);
    LType scalar = single ? cg->f32 : cg->f64;
    if (!wanted || cg->f->draws || LLVMTypeOf(call) != scalar) return;
    for (int i = 0; i < nargs; i++)
        if (LLVMTypeOf(LLVMGetOperand(call, (unsigned)i)) != scalar) return;
    size_t len;
    const char *callee = LLVMGetValueName2(LLVMGetCalledValue(call), &len);
    for (int i = 0; i < countof(isas); i++) {
        int lanes = isas[i].bits / (single ? 32 : 64);
        const char *params = nargs == 1 ? "v" : "vv";
        if (!strstr(cg->features, isas[i].feature)) continue;
        snprintf(name, sizeof name, "_ZGV%cN%d%s_%s", isas[i].letter, lanes, params, symbol);
        if (!support_vector_symbol(name)) continue;
        declare(cg, name, call, lanes);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s_ZGV_LLVM_N%d%s_%s(%s)",
                               at ? "," : "", lanes, params, callee, name);
    }
    if (at)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                                 LLVMCreateStringAttribute(cg->context,
                                                           "vector-function-abi-variant", 27, text,
                                                           (unsigned)at));
}
