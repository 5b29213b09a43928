/* cg_entry_c.c - an entry by C's calling convention: what cfunc() gives to libraries that call back.
 *
 * Numbers go by value, arrays come as pointers: of one axis, and as long as memory is. The function has its own context. Exceptions
 * end there: the owner of the code is told, and the caller gets zero. */
#include "codegen/llvm/cg.h"

static LType c_type(Cg *cg, const Type *type) {
    switch (type_strong_kind(type->kind)) {
    case TY_none: return cg->void_;
    case TY_ARRAY: return cg->ptr[0];
    case TY_f32: return cg->f32;
    case TY_f64: return cg->f64;
    case TY_bool: return cg->i8;
    default: return LLVMIntTypeInContext(cg->context, (unsigned)type_bits(type));
    }
}

static bool has_c_type(const Type *type) {
    bool pointer = type->kind == TY_ARRAY && type->ndim == 1 && type->layout == LAYOUT_C;
    bool number = type_is_int(type) || type->kind == TY_bool ||
                  (type_is_float(type) && type_bits(type) >= 32);
    return pointer || number;
}

/* What is narrower than an int is widened by whoever passes it. */
static void extend_attribute(Cg *cg, Value fn, unsigned index, const Type *type) {
    if (!type_is_int(type) && type->kind != TY_bool) return;
    if (type->kind != TY_bool && type_bits(type) >= 32) return;
    cg_attribute(cg, fn, index, type_class(type) == CLASS_SINT ? "signext" : "zeroext", 0);
}

/* The memory of a parameter, as the packed entry has it. */
static Value in_memory(Cg *cg, const Type *type, Value param) {
    Value memory = cg_alloca_first(cg, LLVMArrayType2(cg->i64, 4));
    LLVMSetAlignment(memory, 8);
    LLVMBuildStore(cg->b, param, memory);
    if (type->kind != TY_ARRAY) return memory;
    int64_t size = type_size(type->element);
    int64_t words[] = {0, INT64_MAX / QN_MAX(size, 1), size};
    for (int k = 0; k < 3; k++) {
        Value index = cg_int(cg->i64, 8 * (k + 1));
        Value at = LLVMBuildInBoundsGEP2(cg->b, cg->i8, memory, &index, 1, "");
        LLVMBuildStore(cg->b, cg_int(cg->i64, words[k]), at);
    }
    return memory;
}

static Value make_function(Cg *cg, const Func *func) {
    LType *types = arena_array(cg->arena, LType, func->nparams + 1);
    for (int32_t i = 0; i < func->nparams; i++)
        types[i] = c_type(cg, func->param_types[i]);
    LType type = LLVMFunctionType(c_type(cg, func->result), types, (unsigned)func->nparams, false);
    Value fn = cg_entry_function(cg, type);
    for (int32_t i = 0; i < func->nparams; i++)
        extend_attribute(cg, fn, (unsigned)i + 1, func->param_types[i]);
    if (func->result->kind != TY_none) extend_attribute(cg, fn, 0, func->result);
    return fn;
}

static bool check_types(Cg *cg, const Func *func) {
    for (int32_t i = 0; i < func->nparams; i++)
        if (!has_c_type(func->param_types[i]))
            return cg_error(cg, "parameter %d of a C function is neither a number nor a pointer",
                            (int)i + 1);
    if (func->result->kind == TY_none) return true;
    if (func->result->kind != TY_ARRAY && has_c_type(func->result)) return true;
    return cg_error(cg, "the result of a C function is no number");
}

static void return_leaf(Cg *cg, const Func *func, Value *leaves) {
    if (func->result->kind == TY_none)
        LLVMBuildRetVoid(cg->b);
    else if (!leaves)
        LLVMBuildRet(cg->b, LLVMConstNull(c_type(cg, func->result)));
    else if (func->result->kind == TY_bool)
        LLVMBuildRet(cg->b, LLVMBuildZExt(cg->b, leaves[0], cg->i8, ""));
    else
        LLVMBuildRet(cg->b, leaves[0]);
}

void cg_entry_c(Cg *cg) {
    const CgSig *sig = &cg->sigs[0];
    const Func *func = sig->ir;
    if (!check_types(cg, func)) return;
    Value fn = make_function(cg, func);
    Value ctx = cg_alloca_first(cg, LLVMArrayType2(cg->i64, (sizeof(CallContext) + 7) / 8));
    LLVMSetAlignment(ctx, 16);
    const CodeOwner *who = cg->options->c_owner;
    CodeAddress address = {.kind = ADDRESS_OWNER, .address = who, .handle = (void *)(uintptr_t)who};
    Value owner = cg_host_address(cg, address, cg->i8);
    cg_call_extern(cg, "quern_c_begin", cg->void_, (Value[]){owner, ctx}, 2);
    int32_t n = 0;
    for (int32_t i = 0; i < func->nparams; i++)
        n += cg_leaf_count(cg, func->param_types[i]);
    Value *leaves = arena_array(cg->arena, Value, n + 1);
    n = 0;
    for (int32_t i = 0; i < func->nparams; i++) {
        const Type *type = func->param_types[i];
        cg_load_value(cg, type, in_memory(cg, type, LLVMGetParam(fn, (unsigned)i)), leaves + n);
        n += cg_leaf_count(cg, type);
    }
    Value *results = cg_new_leaves(cg, func->result);
    Value status = cg_call_sig(cg, sig, ctx, NULL, leaves, results);
    BB bad = cg_block(cg, "failed"), good = cg_block(cg, "fine");
    Value none = cg_int(cg->i32, CALL_OK);
    Value failed = LLVMBuildICmp(cg->b, LLVMIntNE, status ? status : none, none, "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, failed, bad, good));
    cg_at(cg, bad);
    cg_call_extern(cg, "quern_c_failed", cg->void_, (Value[]){owner, ctx, status ? status : none},
                   3);
    return_leaf(cg, func, NULL);
    cg_at(cg, good);
    cg_call_extern(cg, "quern_c_end", cg->void_, (Value[]){ctx}, 1);
    return_leaf(cg, func, results);
}
