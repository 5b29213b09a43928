/* cg_call.c - OP_lib: a row of the library becomes an intrinsic, a call of a library symbol, or the work
 * of a generator. */
#include "codegen/llvm/cg.h"
#include "codegen/support.h"
#include <stdio.h>

static void open_call(Cg *cg, Ref ref, const LibRow *row, LibCall *call) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    call->inst = inst;
    call->row = row;
    call->nargs = QN_MIN(inst->nargs, 16);
    for (int i = 0; i < call->nargs; i++) {
        Ref arg = ir_arg(cg->f->ir, ref, i);
        call->types[i] = cg_type(cg, arg);
        call->args[i] = cg_leaves(cg, arg);
    }
    call->out = cg_new_leaves(cg, inst->type);
}

/* Numbers of bfloat16 go through the library as float32. `inst`: room for the instruction as one of these. */
static void widen_bfloats(Cg *cg, LibCall *call, Inst *inst) {
    const Type *single = type_scalar(cg->f->ir->module->types, TY_f32);
    for (int i = 0; i < call->nargs; i++) {
        if (call->types[i]->kind != TY_bf16) continue;
        Value *wide = arena_array(cg->arena, Value, 1);
        *wide = cg_widened(cg, call->args[i][0]);
        call->args[i] = wide;
        call->types[i] = single;
    }
    if (call->inst->type->kind != TY_bf16) return;
    *inst = *call->inst;
    inst->type = single;
    call->inst = inst;
}

/* Back to bfloat16, also in a tuple: what is of that type in the result. */
static void round_bfloats(Cg *cg, const Type *type, Value *out) {
    LType types[16];
    if (cg->failed || cg_leaf_count(cg, type) > countof(types)) return;
    int32_t n = cg_leaf_types(cg, type, types);
    for (int32_t k = 0; k < n; k++)
        if (types[k] == cg->bf16) out[k] = cg_to_bfloat(cg, out[k], true);
}

static int flatten(Cg *cg, const LibCall *call, Value *flat, int max) {
    int n = 0;
    for (int i = 0; i < call->nargs; i++)
        for (int32_t k = 0; k < cg_leaf_count(cg, call->types[i]) && n < max; k++)
            flat[n++] = call->args[i][k];
    return n;
}

/* Intrinsics with a constant flag behind their operands: poison for zero, or for the minimum: never. */
static bool takes_flag(const char *name) {
    return strcmp(name, "llvm.ctlz") == 0 || strcmp(name, "llvm.cttz") == 0 ||
           strcmp(name, "llvm.abs") == 0;
}

static void lower_intrinsic(Cg *cg, const char *name, LibCall *call) {
    Value flat[17];
    LType type;
    int n = flatten(cg, call, flat, 16);
    if (cg_leaf_count(cg, call->inst->type) > 1) {
        cg_error(cg, "intrinsic %s gives a tuple", name);
        return;
    }
    if (!cg_leaf_types(cg, call->inst->type, &type)) type = n ? LLVMTypeOf(flat[0]) : cg->i32;
    if (takes_flag(name)) flat[n++] = cg_bool(cg, false);
    call->out[0] = cg_intrinsic(cg, name, &type, 1, flat, n);
}

/* Which float type decides the suffix: that of the first float argument, else of the result. */
static bool is_single(const LibCall *call) {
    for (int i = 0; i < call->nargs; i++)
        if (type_is_float(call->types[i])) return type_bits(call->types[i]) <= 32;
    return type_is_float(call->inst->type) && type_bits(call->inst->type) == 32;
}

/* Ints reach functions of the outside world as int64: the calling convention says nothing of the upper
 * bits of narrow ones. A uint64 above the range becomes its end. */
static void widen_ints(Cg *cg, LibCall *call) {
    for (int i = 0; i < call->nargs; i++) {
        TypeClass cls = type_class(call->types[i]);
        bool is_signed = cls == CLASS_SINT;
        if (!is_signed && cls != CLASS_UINT && cls != CLASS_BOOL) continue;
        Value *wide = arena_array(cg->arena, Value, 1), n = call->args[i][0];
        if (type_bits(call->types[i]) < 64)
            *wide = LLVMBuildIntCast2(cg->b, n, cg->i64, is_signed, "");
        else
            *wide = is_signed ? n : cg_intrinsic2(cg, "llvm.umin", n, cg_int(cg->i64, INT64_MAX));
        call->args[i] = wide;
    }
}

static void lower_symbol(Cg *cg, const char *name, uint32_t flags, LibCall *call) {
    Value flat[16];
    LType result = cg->void_;
    bool half = false;
    widen_ints(cg, call);
    int n = flatten(cg, call, flat, 16);
    for (int i = 0; i < n; i++) { /* no library has float16 functions: through float32 */
        if (LLVMTypeOf(flat[i]) != cg->f16) continue;
        half = true;
        flat[i] = LLVMBuildFPExt(cg->b, flat[i], cg->f32, "");
    }
    if (cg_leaf_count(cg, call->inst->type) > 1) {
        cg_error(cg, "function %s gives a tuple", name);
        return;
    }
    cg_leaf_types(cg, call->inst->type, &result);
    bool half_result = result == cg->f16;
    bool single = is_single(call) || half;
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s%s", name, cg->target->lib_suffixes[single]);
    if (cg->target->is_host && !support_find(symbol)) {
        cg_error(cg, "function %s is not known", symbol);
        return;
    }
    Value value = cg_call_extern(cg, symbol, half_result ? cg->f32 : result, flat, n);
    if (cg->failed) return;
    if (flags & LIB_PURE) {
        cg_call_attribute(cg, value, "nounwind", 0);
        cg_call_attribute(cg, value, "willreturn", 0);
        cg_call_attribute(cg, value, "memory", 0);
        cg_vector_variants(cg, value, symbol, n, single);
    }
    if (cg->target->mend) value = cg->target->mend(cg, symbol, flat, value);
    call->out[0] = half_result ? LLVMBuildFPTrunc(cg->b, value, cg->f16, "") : value;
}

const LibRow *cg_lib_row(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    bool numbered = inst->imm >= 0 && inst->imm < lib_count() &&
                    str_is(*inst->u.name, lib_row((int32_t)inst->imm)->name);
    const LibRow *row = numbered ? lib_row((int32_t)inst->imm) : lib_row_for(func, ref);
    return row ? row : lib_row_of(inst);
}

void cg_lower_lib(Cg *cg, Ref ref) {
    const LibRow *row = cg_lib_row(cg->f->ir, ref);
    LibCall call;
    Inst single;
    if (!row) {
        cg_error(cg, "a library function that is in no table");
        return;
    }
    open_call(cg, ref, row, &call);
    const Lowering *how = lib_lowering(row, cg->target->kind);
    if (how->kind != LOWER_GEN || how->id != GEN_bits) widen_bfloats(cg, &call, &single);
    switch (how->kind) {
    case LOWER_INTR: lower_intrinsic(cg, how->symbol, &call); break;
    case LOWER_LIB: lower_symbol(cg, how->symbol, row->flags, &call); break;
    case LOWER_GEN: cg_generate(cg, how->id, &call); break;
    default:
        cg_error(cg, "%s is not available on the target %s", row->name, cg->target->name);
        break;
    }
    round_bfloats(cg, ir_inst(cg->f->ir, ref)->type, call.out);
    if (row->flags & LIB_SHARED_CALL) /* syncthreads and its kin */
        cg->uses_barriers = true;
    cg_set(cg, ref, call.out);
}
