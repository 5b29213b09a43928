/* ir_build.c - the builder: a place in a block, a source span, and the error successor of what
 * raises. */
#include "frontend/ir/ir.h"

Ref b_inst(Builder *b, Op op, const Type *type, const Ref *args, int32_t nargs) {
    Ref ref = b->at < 0 ? ir_append(b->func, b->block, op, args, nargs)
                        : ir_insert(b->func, b->block, b->at++, op, args, nargs);
    Inst *inst = ir_inst(b->func, ref);
    inst->type = type;
    inst->span = b->span;
    if (ir_op_info[op].flags & OPF_RAISES) inst->error = b->error;
    return ref;
}

Ref b_op1(Builder *b, Op op, const Type *type, Ref a) {
    return b_inst(b, op, type, &a, 1);
}

Ref b_op2(Builder *b, Op op, const Type *type, Ref a, Ref c) {
    return b_inst(b, op, type, (Ref[]){a, c}, 2);
}

Ref b_op3(Builder *b, Op op, const Type *type, Ref a, Ref c, Ref d) {
    return b_inst(b, op, type, (Ref[]){a, c, d}, 3);
}

/* Behind the phis that are there, wherever the builder stands. */
Ref b_phi(Builder *b, const Type *type) {
    const Block *block = &b->func->blocks.items[b->block];
    int32_t at = 0;
    while (at < block->insts.len && ir_inst(b->func, block->insts.items[at])->op == OP_phi)
        at++;
    Ref ref = ir_insert(b->func, b->block, at, OP_phi, NULL, 0);
    if (b->at >= at) b->at++;
    ir_inst(b->func, ref)->type = type;
    ir_inst(b->func, ref)->span = b->span;
    return ref;
}

void b_jump(Builder *b, int32_t to) {
    Ref ref = b_inst(b, OP_jump, NULL, NULL, 0);
    ir_inst(b->func, ref)->target[0] = to;
    ir_edge_add(b->func, b->block, to);
}

void b_branch(Builder *b, Ref cond, int32_t yes, int32_t no) {
    Ref ref = b_op1(b, OP_branch, NULL, cond);
    ir_inst(b->func, ref)->target[0] = yes;
    ir_inst(b->func, ref)->target[1] = no;
    ir_edge_add(b->func, b->block, yes);
    ir_edge_add(b->func, b->block, no);
}

void b_return(Builder *b, Ref value) {
    b_op1(b, OP_return, NULL, value);
}

Ref b_const(Builder *b, const Type *type, const ConstVal *value) {
    Ref ref = b_inst(b, OP_const, type, NULL, 0);
    ir_inst(b->func, ref)->u.value = value;
    return ref;
}

int32_t b_continue(Builder *b) {
    const Block *block = &b->func->blocks.items[b->block];
    if (block->insts.len == 0) return b->block;
    const Inst *last = ir_inst(b->func, vec_last(&block->insts));
    if (last->error == NO_BLOCK || (ir_op_info[last->op].flags & OPF_TERM)) return b->block;
    int32_t next = ir_block_new(b->func);
    ir_edge_add(b->func, b->block, last->error);
    b_jump(b, next);
    b->block = next;
    b->at = -1;
    return next;
}
