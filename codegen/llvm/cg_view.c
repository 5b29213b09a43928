/* cg_view.c - views: the same memory and owner, another start, shape and strides.
 *
 * The letters of a view's name say what each item does: `i` an index, which drops its axis; `s` start, step
 * and length (normalised before); `f` the full axis; `n` a new axis of length one. */
#include "codegen/llvm/cg.h"

/* Where code goes on after a failed check: a view at an index outside its axis is empty. */
static void empty_outside(Cg *cg, ArrayLeaves *to, Value inside) {
    if (!inside) return;
    for (int i = 0; i < to->type->ndim; i++)
        to->shape[i] = LLVMBuildSelect(cg->b, inside, to->shape[i], cg_int(cg->i64, 0), "");
    if (to->type->ndim == 0)
        to->data = LLVMBuildSelect(cg->b, inside, to->data,
                                   cg_nowhere(cg, to->data, type_size(to->type->element)), "");
}

static Value both(Cg *cg, Value a, Value b) {
    return a ? LLVMBuildAnd(cg->b, a, b, "") : b;
}

static void move(Cg *cg, ArrayLeaves *to, Value index, Value stride) {
    Value offset = LLVMBuildMul(cg->b, index, stride, "");
    /* not `inbounds`: an empty slice may start anywhere */
    to->data = LLVMBuildGEP2(cg->b, cg->i8, to->data, &offset, 1, "");
}

/* The array that is looked at, and the view: the same memory so far, without a shape. */
static ArrayLeaves begin(Cg *cg, Ref ref, ArrayLeaves *from) {
    Ref of = ir_arg(cg->f->ir, ref, 0);
    cg_array_open(cg, cg_type(cg, of), cg_leaves(cg, of), from);
    return (ArrayLeaves){.type = cg_type(cg, ref), .data = from->data, .owner = from->owner};
}

static void finish(Cg *cg, Ref ref, const ArrayLeaves *to) {
    Value *leaves = cg_new_leaves(cg, to->type);
    cg_array_close(cg, to, leaves);
    cg_set(cg, ref, leaves);
}

void cg_lower_view(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    ArrayLeaves from, to = begin(cg, ref, &from);
    int32_t operand = 1, axis = 0, out = 0;
    Value inside = NULL;
    for (int32_t k = 0; k < inst->u.name->len; k++) {
        char letter = inst->u.name->bytes[k];
        if (letter == 'n') {
            to.shape[out] = cg_int(cg->i64, 1);
            to.strides[out++] = cg_int(cg->i64, 0);
            continue;
        }
        Value stride = letter == 'f' && inst->type->layout != LAYOUT_A
                           ? NULL
                           : cg_array_stride(cg, &from, axis);
        if (letter == 'i') {
            Value index = cg_leaf(cg, ir_arg(ir, ref, operand++));
            move(cg, &to, index, stride);
            if (cg_goes_on(cg))
                inside =
                    both(cg, inside, LLVMBuildICmp(cg->b, LLVMIntULT, index, from.shape[axis], ""));
        } else if (letter == 's') {
            move(cg, &to, cg_leaf(cg, ir_arg(ir, ref, operand)), stride);
            Value step = cg_leaf(cg, ir_arg(ir, ref, operand + 1));
            to.shape[out] = cg_leaf(cg, ir_arg(ir, ref, operand + 2));
            to.strides[out++] = LLVMBuildMul(cg->b, stride, step, "");
            operand += 3;
        } else {
            to.shape[out] = from.shape[axis];
            to.strides[out++] = stride;
        }
        axis++;
    }
    empty_outside(cg, &to, inside);
    finish(cg, ref, &to);
}

/* Elements side by side stay so: only the shape is another. */
void cg_lower_reshape(Cg *cg, Ref ref) {
    ArrayLeaves from, to = begin(cg, ref, &from);
    for (int i = 0; i < to.type->ndim; i++)
        to.shape[i] = cg_leaf(cg, ir_arg(cg->f->ir, ref, i + 1));
    finish(cg, ref, &to);
}

void cg_lower_restride(Cg *cg, Ref ref) {
    ArrayLeaves from, to = begin(cg, ref, &from);
    int n = to.type->ndim;
    for (int i = 0; i < n; i++) {
        to.shape[i] = cg_leaf(cg, ir_arg(cg->f->ir, ref, i + 1));
        to.strides[i] = cg_leaf(cg, ir_arg(cg->f->ir, ref, i + 1 + n));
    }
    if (ir_inst(cg->f->ir, ref)->nargs == 2 + 2 * n) {
        Value start = cg_leaf(cg, ir_arg(cg->f->ir, ref, 1 + 2 * n));
        to.data = LLVMBuildGEP2(cg->b, cg->i8, to.data, &start, 1, "");
    }
    finish(cg, ref, &to);
}

void cg_lower_transpose(Cg *cg, Ref ref) {
    ArrayLeaves from, to = begin(cg, ref, &from);
    cg_array_strides(cg, &from);
    int n = from.type->ndim;
    for (int i = 0; i < n; i++) {
        to.shape[i] = from.shape[n - 1 - i];
        to.strides[i] = from.strides[n - 1 - i];
    }
    finish(cg, ref, &to);
}
