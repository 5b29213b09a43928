/* dce.c - removes pure values, and reads, that nobody uses. */
#include "codegen/opt/pass.h"

static bool removable(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op == OP_removed || inst->op == OP_param) return false;
    if (inst->op == OP_lib) {
        const LibRow *row = lib_row_of(inst);
        return row && (row->flags & LIB_PURE) && !(row->flags & LIB_CONVERGENT);
    }
    uint16_t flags = ir_op_info[inst->op].flags;
    return (flags & (OPF_PURE | OPF_READ)) && !(flags & (OPF_WRITE | OPF_RAISES | OPF_TERM));
}

/* Marks from what must stay; removes the rest. One walk over the instructions and the live operands. */
void opt_dce(PassContext *ctx, Func *func) {
    ArenaMark mark = arena_mark(ctx->arena);
    Bits live = bits_new(ctx->arena, func->insts.len);
    Vec(Ref) work = {0};
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        if (block->removed) continue;
        for (int32_t i = 0; i < block->insts.len; i++) {
            if (removable(func, block->insts.items[i])) continue;
            bits_set(&live, block->insts.items[i]);
            vec_push(ctx->arena, &work, block->insts.items[i]);
        }
    }
    while (work.len) {
        Ref ref = vec_pop(&work);
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++) {
            Ref arg = ir_arg(func, ref, k);
            if (bits_get(&live, arg)) continue;
            bits_set(&live, arg);
            vec_push(ctx->arena, &work, arg);
        }
    }
    for (int32_t b = 0; b < func->blocks.len; b++) {
        Block *block = &func->blocks.items[b];
        int32_t kept = 0;
        for (int32_t i = 0; i < block->insts.len; i++) {
            Ref ref = block->insts.items[i];
            if (bits_get(&live, ref))
                block->insts.items[kept++] = ref;
            else
                ir_inst(func, ref)->op = OP_removed;
        }
        block->insts.len = kept;
    }
    arena_release(ctx->arena, mark);
}
