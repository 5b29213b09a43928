/* updates.c - elements that several iterations of a parallel loop may change.
 *
 *   h[bins[i]] += 1      load, add, store  ->  atomic @add: no count is lost
 *   h[i] += 1            an element of each iteration's own: stays
 *
 * Of + and - and of bits, with an index that does not go by the counter: not i, i + c, i * n + j, but what comes out of
 * memory, of a division, of another variable. Sums of floats are then made in the order in which the threads come by. */
#include "codegen/opt/parallel.h"

enum { DEEP = 12 };

/* Does it go by the counter, so that different iterations have different ones, as far as anybody can see? */
static bool by_counter(const Region *r, Ref ref, int depth) {
    const Inst *inst = ir_inst(r->func, ref);
    if (ref == r->loop.counter) return true;
    if (depth == 0 || !r->inside[inst->block]) return false;
    switch (inst->op) {
    case OP_range_item: return by_counter(r, ir_arg(r->func, ref, 3), depth - 1);
    case OP_check_index:
    case OP_wrap_index:
    case OP_cast:
    case OP_neg: return by_counter(r, ir_arg(r->func, ref, 0), depth - 1);
    case OP_add:
    case OP_sub:
    case OP_mul:
        return by_counter(r, ir_arg(r->func, ref, 0), depth - 1) ||
               by_counter(r, ir_arg(r->func, ref, 1), depth - 1);
    default: return false;
    }
}

static bool same_element(const Func *func, Ref load, Ref store) {
    int32_t axes = ir_inst(func, store)->nargs - 2;
    if (!opt_same(func, ir_arg(func, load, 0), ir_arg(func, store, 0))) return false;
    for (int32_t k = 1; k <= axes; k++)
        if (!opt_same(func, region_unchecked(func, ir_arg(func, load, k)),
                      region_unchecked(func, ir_arg(func, store, k))))
            return false;
    return true;
}

static bool is_integer(const Type *type) {
    TypeClass class = type_class(type);
    return class == CLASS_SINT || class == CLASS_UINT;
}

/* The value under casts between integers that keep all bits of an element. */
static Ref under_casts(const Func *func, Ref ref, int bits) {
    while (ir_inst(func, ref)->op == OP_cast) {
        const Type *type = ir_type(func, ref), *from = ir_type(func, ir_arg(func, ref, 0));
        if (!is_integer(type) || !is_integer(from)) break;
        if (type_bits(type) < bits || type_bits(from) < bits) break;
        ref = ir_arg(func, ref, 0);
    }
    return ref;
}

/* Does nothing else write between the two, which stand in one block? */
static bool side_by_side(const Func *func, Ref load, Ref store) {
    const Block *block = &func->blocks.items[ir_inst(func, store)->block];
    if (ir_inst(func, load)->block != ir_inst(func, store)->block) return false;
    for (int32_t k = opt_position(func, load); block->insts.items[k] != store; k++) {
        uint16_t flags = ir_op_info[ir_inst(func, block->insts.items[k])->op].flags;
        if (flags & (OPF_WRITE | OPF_DROPS)) return false;
        if (k + 1 == block->insts.len) return false;
    }
    return true;
}

static bool is_old_value(const Func *func, Ref ref, Ref store, int bits) {
    ref = under_casts(func, ref, bits);
    return ir_inst(func, ref)->op == OP_load && same_element(func, ref, store) &&
           side_by_side(func, ref, store);
}

/* The operation of `element = element op operand`; false: it is something else. */
static bool update_of(const Func *func, Ref store, AtomicOp *kind, Ref *operand) {
    int bits = type_bits(ir_type(func, ir_arg(func, store, 0))->element);
    Ref value = under_casts(func, ir_arg(func, store, ir_inst(func, store)->nargs - 1), bits);
    switch (ir_inst(func, value)->op) {
    case OP_add: *kind = ATOMIC_add; break;
    case OP_sub: *kind = ATOMIC_sub; break;
    case OP_and: *kind = ATOMIC_and; break;
    case OP_or: *kind = ATOMIC_or; break;
    case OP_xor: *kind = ATOMIC_xor; break;
    default: return false;
    }
    Ref left = ir_arg(func, value, 0), right = ir_arg(func, value, 1);
    *operand = right;
    if (is_old_value(func, left, store, bits)) return true;
    *operand = left;
    return *kind != ATOMIC_sub && is_old_value(func, right, store, bits);
}

/* Element types that have the operation; floats in the element's own precision. */
static bool admits(const Type *array, AtomicOp kind, const Type *operand) {
    const Type *element = array->element;
    if (!array->aligned) return false;
    if (is_integer(element)) return is_integer(operand);
    return (element->kind == TY_f32 || element->kind == TY_f64) && operand == element &&
           (kind == ATOMIC_add || kind == ATOMIC_sub);
}

static bool may_meet(const Region *r, Ref store) {
    const Inst *inst = ir_inst(r->func, store);
    if (r->inside[ir_inst(r->func, region_original(r, ir_arg(r->func, store, 0)))->block])
        return false;
    for (int32_t k = 1; k < inst->nargs - 1; k++)
        if (by_counter(r, ir_arg(r->func, store, k), DEEP)) return false;
    return true;
}

static bool make_atomic(Region *r, Ref store) {
    Func *func = r->func;
    AtomicOp kind;
    Ref operand;
    const Type *array = ir_type(func, ir_arg(func, store, 0));
    if (!type_is_scalar(array->element) || !may_meet(r, store) ||
        !update_of(func, store, &kind, &operand))
        return false;
    if (!admits(array, kind, ir_type(func, operand))) return false;
    if (ir_type(func, operand) != array->element) {
        int32_t block = ir_inst(func, store)->block, span = ir_inst(func, store)->span;
        operand = ir_insert(func, block, opt_position(func, store), OP_cast, &operand, 1);
        ir_inst(func, operand)->type = array->element;
        ir_inst(func, operand)->span = span;
    }
    Inst *inst = ir_inst(func, store);
    ir_args(func, store)[inst->nargs - 1] = operand;
    inst->op = OP_atomic;
    inst->sub = (uint16_t)kind;
    inst->type = array->element;
    return true;
}

void region_make_updates_atomic(Region *r) {
    for (int32_t i = 0; i < r->blocks.len; i++)
        for (int32_t k = 0; k < r->func->blocks.items[r->blocks.items[i]].insts.len; k++) {
            Ref ref = r->func->blocks.items[r->blocks.items[i]].insts.items[k];
            if (ir_inst(r->func, ref)->op == OP_store && make_atomic(r, ref)) r->updates++;
        }
}
