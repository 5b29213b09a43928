/* specialize_copy.c - one value into all elements of an array, as loops. */
#include "typeinfer/infer.h"

enum { MAX_AXES = 32 };

Ref emit_length(Emit *e, Ref array, int32_t axis) {
    if (ir_inst(e->out, array)->op == OP_restride) return ir_arg(e->out, array, 1 + axis);
    Ref n = emit1(e, OP_shape, i64_type(e->types), array);
    ir_inst(e->out, n)->imm = axis;
    return n;
}

/* -- loops ------------------------------------------------------------------------------------------ */

static void open_loops(Emit *e, Ref array, EmitLoop *loops) {
    for (int32_t k = 0; k < ir_type(e->out, array)->ndim; k++)
        emit_loop_begin(e, emit_length(e, array, k), &loops[k]);
}

static void close_loops(Emit *e, Ref array, EmitLoop *loops) {
    for (int32_t k = ir_type(e->out, array)->ndim; k-- > 0;)
        emit_loop_end(e, &loops[k]);
}

void emit_fill(Emit *e, Ref dst, Ref value) {
    EmitLoop loops[MAX_AXES];
    Ref args[MAX_AXES + 2] = {dst};
    int32_t n = ir_type(e->out, dst)->ndim;
    open_loops(e, dst, loops);
    for (int32_t k = 0; k < n; k++)
        args[k + 1] = loops[k].counter;
    args[n + 1] = value;
    emit(e, OP_store, NULL, args, n + 2);
    close_loops(e, dst, loops);
}
