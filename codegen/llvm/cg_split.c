/* cg_split.c - in loops of kernels for NVIDIA GPUs: addresses whose parts that stand still are added first.
 *
 *     for k in range(n): total += a[i + k] * b[k, j]         (a + 4 i) + 4 k,  (b + 4 j) + 4 k n
 *
 * The first sum leaves the loop, the second is one instruction, and when the loop is unrolled, a constant in the access. A sum of
 * int32 would be extended in each round, and hides from LLVM what two rounds have in common. Parts can be extended one by one where
 * the sums are proven not to wrap.
 *
 * Elsewhere neighbours: a[y - 1, x + 1] lies one element behind y * width + x - width, which is computed once for all columns of that
 * row. The number of a place is right modulo 2^32 whatever wraps on the way; that of an element, and of what lies a small number
 * beside it (FAST_SPAN), is an int32. */
#include "codegen/llvm/cg.h"
#include "codegen/opt/pass.h"

enum { MOST_PARTS = 8, MAX_DEPTH = 6 };

typedef struct Parts {
    Cg *cg;
    int32_t loop;
    Value still, moving; /* sums of i64; NULL: none */
    int64_t number;
    int n;
} Parts;

static bool moves(const Parts *p, Ref ref, int depth) {
    const Func *ir = p->cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    if (inst->op == OP_const || inst->op == OP_param ||
        !opt_in_loop(&p->cg->f->cfg, p->loop, inst->block))
        return false;
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    bool pure = inst->op == OP_shape || inst->op == OP_cast || inst->op == OP_add ||
                inst->op == OP_sub || inst->op == OP_mul ||
                (row && row->flags & LIB_PURE && inst->nargs == 0);
    if (!pure || depth == 0) return true;
    for (int32_t k = 0; k < ir_inst(ir, ref)->nargs; k++)
        if (moves(p, ir_arg(ir, ref, k), depth - 1)) return true;
    return false;
}

static Value plus(Cg *cg, Value sum, Value v, bool minus) {
    if (!sum) return minus ? LLVMBuildNeg(cg->b, v, "") : v;
    return minus ? LLVMBuildSub(cg->b, sum, v, "") : LLVMBuildAdd(cg->b, sum, v, "");
}

static void add_part(Parts *p, Ref ref, bool minus) {
    Cg *cg = p->cg;
    bool is_signed = type_class(cg_type(cg, ref)) != CLASS_UINT;
    Value v = LLVMBuildIntCast2(cg->b, cg_leaf(cg, ref), cg->i64, is_signed, "");
    Value *sum = moves(p, ref, MAX_DEPTH) ? &p->moving : &p->still;
    *sum = plus(cg, *sum, v, minus);
    p->n++;
}

static void take_apart(Parts *p, Ref ref, bool minus, int depth) {
    const Func *ir = p->cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    int64_t number;
    if (opt_const_int(ir, ref, &number) && number > INT32_MIN && number <= INT32_MAX) {
        p->number += minus ? -number : number;
        return;
    }
    bool widens = inst->op == OP_cast && inst->type->kind == TY_i64 &&
                  ir_type(ir, ir_arg(ir, ref, 0))->kind == TY_i32;
    bool sums = (inst->op == OP_add || inst->op == OP_sub) && inst->sub == FLAG_NOWRAP &&
                type_class(inst->type) == CLASS_SINT;
    if (depth == 0 || !(widens || sums) || p->n >= MOST_PARTS) {
        add_part(p, ref, minus);
        return;
    }
    take_apart(p, ir_arg(ir, ref, 0), minus, depth - 1);
    if (sums) take_apart(p, ir_arg(ir, ref, 1), minus != (inst->op == OP_sub), depth - 1);
}

/* Of the axes but the last, those that move or those that do not; NULL: there are none of these. */
static Value leading(Parts *p, const ArrayLeaves *array, Ref access, LType type, bool moving) {
    Cg *cg = p->cg;
    Value linear = NULL;
    int n = array->type->ndim;
    bool fortran = array->type->layout == LAYOUT_F;
    for (int k = 0; k < n; k++) { /* outermost axis first */
        int axis = fortran ? n - 1 - k : k;
        Ref index = ir_arg(cg->f->ir, access, 1 + axis);
        if (linear)
            linear = LLVMBuildNSWMul(
                cg->b, linear, LLVMBuildIntCast2(cg->b, array->shape[axis], type, true, ""), "");
        if (k == n - 1 || moves(p, index, MAX_DEPTH) != moving) continue;
        Value i = LLVMBuildIntCast2(cg->b, cg_leaf(cg, index), type, true, "");
        linear = linear ? LLVMBuildNSWAdd(cg->b, linear, i, "") : i;
    }
    return linear ? LLVMBuildIntCast2(cg->b, linear, cg->i64, true, "") : NULL;
}

/* LLVM writes the rounds of such a loop side by side, and finds what their addresses have in common. */
static bool is_short(const Parts *p) {
    enum { SHORT = 32 };
    const Func *ir = p->cg->f->ir;
    const Block *header = &ir->blocks.items[p->cg->f->cfg.loops.items[p->loop].header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Ref test = header->insts.items[i];
        int64_t rounds;
        if (ir_inst(ir, test)->op != OP_lt || !opt_const_int(ir, ir_arg(ir, test, 1), &rounds))
            continue;
        const Inst *counter = ir_inst(ir, ir_arg(ir, test, 0));
        if (counter->op == OP_mul) counter = ir_inst(ir, ir_arg(ir, ir_arg(ir, test, 0), 0));
        if (counter->op == OP_phi && rounds <= SHORT) return true;
    }
    return false;
}

static bool leading_moves(const Parts *p, const ArrayLeaves *array, Ref access, int last) {
    for (int axis = 0; axis < array->type->ndim; axis++)
        if (axis != last && moves(p, ir_arg(p->cg->f->ir, access, 1 + axis), MAX_DEPTH))
            return true;
    return false;
}

static Value further(Cg *cg, LType element, Value at, Value by) {
    return by ? LLVMBuildGEP2(cg->b, element, at, &by, 1, "") : at;
}

Value cg_split_address(Cg *cg, const ArrayLeaves *array, LType element, LType index_type) {
    const CgFunc *f = cg->f;
    Ref access = f->ref;
    const Inst *inst = ir_inst(f->ir, access);
    int n = array->type->ndim;
    Parts p = {.cg = cg, .loop = f->cfg.loop_of[f->block]};
    if ((inst->op != OP_load && inst->op != OP_store) || n == 0 || p.loop < 0 ||
        array->type->space == SPACE_SHARED || !cg->target->splits_addresses)
        return NULL;
    int last = array->type->layout == LAYOUT_F ? 0 : n - 1;
    if (is_short(&p) && leading_moves(&p, array, access, last)) return NULL;
    take_apart(&p, ir_arg(f->ir, access, 1 + last), false, MAX_DEPTH);
    Value still = leading(&p, array, access, index_type, false),
          moving = leading(&p, array, access, index_type, true);
    if ((!still && !p.still) || (!moving && !p.moving)) return NULL;
    Value at = further(cg, element, array->data, p.still);
    at = further(cg, element, at, still);
    at = further(cg, element, at, moving);
    at = further(cg, element, at, p.moving);
    return p.number ? further(cg, element, at, cg_int(cg->i64, p.number)) : at;
}

/* -- neighbours ------------------------------------------------------------------------------------ */

enum { MOST_NUMBER = 1024, NEAR_DEPTH = 6 };
_Static_assert(FAST_SPAN <= INT32_MAX - MOST_NUMBER, "an element less a number has 32 bits, too");

/* The index is *base + the result. */
static int64_t number_of(const Func *ir, Ref ref, Ref *base) {
    int64_t number = 0;
    for (int depth = 0; depth < NEAR_DEPTH; depth++) {
        const Inst *inst = ir_inst(ir, ref);
        int64_t by = 0;
        bool adds =
            (inst->op == OP_add || inst->op == OP_sub) && type_class(inst->type) == CLASS_SINT &&
            opt_const_int(ir, ir_arg(ir, ref, 1), &by) && by >= -MOST_NUMBER && by <= MOST_NUMBER;
        bool widens = inst->op == OP_cast && inst->type->kind == TY_i64 &&
                      ir_type(ir, ir_arg(ir, ref, 0))->kind == TY_i32;
        int64_t sum = adds ? number + (inst->op == OP_add ? by : -by) : number;
        if ((!adds && !widens) || sum < -MOST_NUMBER || sum > MOST_NUMBER) break;
        number = sum;
        ref = ir_arg(ir, ref, 0);
    }
    *base = ref;
    return number;
}

/* Places and numbers of an access, outermost axis first. */
typedef struct Near {
    int n;
    Ref bases[CG_MAX_DIMS];
    int64_t numbers[CG_MAX_DIMS];
    Value lengths[CG_MAX_DIMS];
} Near;

static bool find_numbers(Cg *cg, const ArrayLeaves *array, Near *near) {
    const Func *ir = cg->f->ir;
    bool fortran = array->type->layout == LAYOUT_F, any = false;
    near->n = array->type->ndim;
    for (int k = 0; k < near->n; k++) {
        int axis = fortran ? near->n - 1 - k : k;
        near->numbers[k] = number_of(ir, ir_arg(ir, cg->f->ref, 1 + axis), &near->bases[k]);
        near->lengths[k] = array->shape[axis];
        any |= near->numbers[k] != 0;
    }
    return any;
}

/* What the numbers of all axes but the last come to; NULL: nothing. */
static Value rows_beside(Cg *cg, const Near *near, LType type) {
    Value beside = NULL;
    for (int k = 0; k < near->n; k++) {
        if (beside)
            beside = LLVMBuildMul(cg->b, beside,
                                  LLVMBuildIntCast2(cg->b, near->lengths[k], type, true, ""), "");
        if (k == near->n - 1 || !near->numbers[k]) continue;
        Value by = LLVMConstInt(type, (uint64_t)near->numbers[k], true);
        beside = beside ? LLVMBuildAdd(cg->b, beside, by, "") : by;
    }
    return beside;
}

Value cg_near_address(Cg *cg, const ArrayLeaves *array, LType element, LType type) {
    const Inst *inst = ir_inst(cg->f->ir, cg->f->ref);
    Near near;
    if ((inst->op != OP_load && inst->op != OP_store) || !cg->target->splits_addresses ||
        !find_numbers(cg, array, &near))
        return NULL;
    Value linear = NULL;
    for (int k = 0; k < near.n; k++) {
        Value length = LLVMBuildIntCast2(cg->b, near.lengths[k], type, true, "");
        Value i = LLVMBuildIntCast2(cg->b, cg_leaf(cg, near.bases[k]), type, true, "");
        linear = linear ? LLVMBuildAdd(cg->b, LLVMBuildMul(cg->b, linear, length, ""), i, "") : i;
    }
    Value beside = rows_beside(cg, &near, type);
    if (beside) linear = LLVMBuildAdd(cg->b, linear, beside, "");
    int64_t number = near.numbers[near.n - 1];
    Value at = further(cg, element, array->data, LLVMBuildSExt(cg->b, linear, cg->i64, ""));
    return number ? further(cg, element, at, cg_int(cg->i64, number)) : at;
}
