/* cg_print.c - print in kernels: the target's function gets the format and a row of operands in memory. */
#include "codegen/llvm/cg.h"

/* Text that ends with a zero byte, as a generic pointer. */
static Value constant_text(Cg *cg, Str text) {
    unsigned space = cg_space(cg, SPACE_GLOBAL);
    Value bytes = LLVMConstStringInContext2(cg->context, text.bytes, (size_t)text.len, false);
    Value global = LLVMAddGlobalInAddressSpace(cg->mod, LLVMTypeOf(bytes), "text", space);
    LLVMSetInitializer(global, bytes);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetGlobalConstant(global, true);
    return space ? LLVMConstAddrSpaceCast(global, cg->ptr[0]) : global;
}

/* The target keeps the formats, and its runtime knows which operand is text: it gets truths as numbers. */
static int32_t format_number(Cg *cg, Str format) {
    for (int32_t i = 0; i < cg->prints.len; i++)
        if (str_equal(cg->prints.items[i], format)) return i;
    vec_push(cg->arena, &cg->prints, format);
    return cg->prints.len - 1;
}

static void print_line(Cg *cg, const Func *ir, const Inst *inst, Ref ref) {
    if (inst->nargs > PRINT_MAX_OPERANDS) {
        cg_error(cg, "more operands than a line of print has room for");
        return;
    }
    Value *operands = arena_array(cg->arena, Value, QN_MAX(inst->nargs, 1));
    for (int32_t k = 0; k < inst->nargs; k++) {
        Value x = cg_leaf(cg, ir_arg(ir, ref, k));
        bool number = LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind;
        operands[k] =
            number ? LLVMBuildZExt(cg->b, x, cg->i64, "") : LLVMBuildBitCast(cg->b, x, cg->i64, "");
    }
    cg->target->print_line(cg, format_number(cg, *inst->u.name), operands, inst->nargs);
}

void cg_lower_print(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    if (cg->target->print_line) {
        print_line(cg, ir, inst, ref);
        return;
    }
    LType row = LLVMArrayType2(cg->i64, (uint64_t)QN_MAX(inst->nargs, 1));
    Value operands = cg_alloca(cg, row, "operands");
    for (int32_t k = 0; k < inst->nargs; k++) {
        Value at = cg_int(cg->i64, k), x = cg_leaf(cg, ir_arg(ir, ref, k));
        if (cg_type(cg, ir_arg(ir, ref, k))->kind == TY_bool)
            x = LLVMBuildSelect(cg->b, x, constant_text(cg, STR("True")),
                                constant_text(cg, STR("False")), "");
        LLVMBuildStore(cg->b, x, LLVMBuildInBoundsGEP2(cg->b, cg->i64, operands, &at, 1, ""));
    }
    Value args[] = {constant_text(cg, *inst->u.name), operands};
    cg_call_extern(cg, cg->target->print, cg->i32, args, 2);
}
