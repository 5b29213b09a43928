/* exact.c - in the fast variant of GPU kernels: sums and products that stay in int64 are marked so.
 *
 * The proofs of `prove` speak of mathematical integers, and owe one for each sum that it does not wrap. The launch has limited lengths,
 * the grid and what comes of them (gpu_ints.c). */
#include "codegen/opt/gpu_ints.h"

void opt_exact(PassContext *ctx, Func *func) {
    GpuInts *ints = gpu_ints(ctx, func);
    for (Ref ref = 1; ints && ref < func->insts.len; ref++) {
        Inst *inst = ir_inst(func, ref);
        bool sums = inst->op == OP_add || inst->op == OP_sub || inst->op == OP_mul;
        if (!sums || inst->sub || inst->type->kind != TY_i64) continue;
        IntRange range = gpu_int_range(ints, ref);
        /* of parameters nothing is asked for this: launches would go the general way for no int32 */
        if (range.known && !range.params) inst->sub = FLAG_NOWRAP;
    }
}
