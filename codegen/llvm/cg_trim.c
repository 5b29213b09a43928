/* cg_trim.c - rounds of the loops over work-items (cg_items.c) that would do nothing are not run.
 *
 *     if t < n: s[t] += s[t + n]          for x in range(min(n, blockDim.x)): ...
 *
 * In a reduction by halves more than half of all rounds are such, and a test in the loop would keep it from vectors. The number
 * that the work-item's own is compared with is the block's: a parameter of the region's function, or a constant. */
#include "codegen/llvm/cg.h"

typedef struct Trim {
    Ref with;   /* what threadIdx.x is compared with; NO_REF: all work-items have something to do */
    bool equal; /* the one with that number has; else those below */
} Trim;

static bool is_thread_x(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    return row && row->cpu.kind == LOWER_GEN && row->cpu.id == GEN_thread_x;
}

static bool is_of_block(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    bool number = inst->op == OP_const ? inst->u.value->kind == CONST_INT : inst->op == OP_param;
    return number && (inst->type->kind == TY_i64 || inst->type->kind == TY_wint);
}

/* But for its last instruction nobody would miss the block. */
static bool does_nothing(const Func *func, int32_t block) {
    const Block *b = &func->blocks.items[block];
    for (int32_t k = 0; k < b->insts.len - 1; k++) {
        const Inst *inst = ir_inst(func, b->insts.items[k]);
        const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
        bool pure = row ? row->flags & LIB_PURE && !(row->flags & LIB_CONVERGENT)
                        : ir_info(inst->op)->flags & OPF_PURE || inst->op == OP_load;
        if (!pure || inst->error != NO_BLOCK) return false;
    }
    return true;
}

/* Does nothing happen from here to the end of the function? */
static bool ends(const Func *func, int32_t block) {
    for (int32_t steps = 0; steps < func->blocks.len && does_nothing(func, block); steps++) {
        const Inst *last = ir_inst(func, ir_terminator(func, block));
        if (last->op == OP_return) return true;
        if (last->op != OP_jump) return false;
        block = last->target[0];
    }
    return false;
}

/* The comparison, as thread < with or thread == with, when it decides for work on the side `when_true` of its branch. */
static Trim compared(const Func *func, Ref cond, bool when_true) {
    const Inst *inst = ir_inst(func, cond);
    int op = inst->op;
    if (op != OP_eq && op != OP_ne && op != OP_lt && op != OP_le) return (Trim){NO_REF, false};
    Ref x = ir_arg(func, cond, 0), y = ir_arg(func, cond, 1);
    bool swapped = is_thread_x(func, y);
    if (swapped) {
        Ref first = x;
        x = y, y = first;
    }
    if (!is_thread_x(func, x) || !is_of_block(func, y)) return (Trim){NO_REF, false};
    if (op == OP_eq || op == OP_ne) return (Trim){(op == OP_eq) == when_true ? y : NO_REF, true};
    bool below = when_true ? op == OP_lt && !swapped : op == OP_le && swapped;
    return (Trim){below ? y : NO_REF, false};
}

static Trim find_trim(const Func *func) {
    int32_t block = 0;
    for (int32_t steps = 0; steps < func->blocks.len && does_nothing(func, block); steps++) {
        Ref last = ir_terminator(func, block);
        const Inst *inst = ir_inst(func, last);
        if (inst->op == OP_branch) {
            bool when_true = ends(func, inst->target[1]);
            if (!when_true && !ends(func, inst->target[0])) break;
            return compared(func, ir_arg(func, last, 0), when_true);
        }
        if (inst->op != OP_jump) break;
        block = inst->target[0];
    }
    return (Trim){NO_REF, false};
}

static Value smaller(Cg *cg, Value a, Value b) {
    return LLVMBuildSelect(cg->b, LLVMBuildICmp(cg->b, LLVMIntULT, a, b, ""), a, b, "");
}

static Value number_of(Cg *cg, const Func *func, Ref with, const Value *args) {
    const Inst *inst = ir_inst(func, with);
    if (inst->op == OP_const) return cg_int(cg->i64, inst->u.value->i);
    int32_t leaf = 0;
    for (int32_t i = 0; i < inst->imm; i++)
        leaf += cg_leaf_count(cg, func->param_types[i]);
    return args[leaf];
}

void cg_trim_items(Cg *cg, const Func *items, const Value *args, Value *first, Value *limit) {
    Trim trim = find_trim(items);
    if (!trim.with) return;
    Value n = LLVMBuildZExt(cg->b, *limit, cg->i64, "");
    Value with = number_of(cg, items, trim.with, args);
    if (trim.equal) { /* none, where that is none of their numbers */
        Value at = smaller(cg, with, n);
        *first = LLVMBuildTrunc(cg->b, at, cg->i32, "");
        *limit = LLVMBuildTrunc(
            cg->b, smaller(cg, LLVMBuildAdd(cg->b, at, cg_int(cg->i64, 1), ""), n), cg->i32, "");
        return;
    }
    Value none = cg_int(cg->i64, 0);
    Value positive = LLVMBuildICmp(cg->b, LLVMIntSGT, with, none, "");
    with = LLVMBuildSelect(cg->b, positive, with, none, "");
    *limit = LLVMBuildTrunc(cg->b, smaller(cg, with, n), cg->i32, "");
}
