/* cg_items.c - kernels of the cpu device that are functions of the block (opt/workitem.c): loops over its work-items, and
 * what these keep from one loop to the next.
 *
 * A slot is an array for each of its leaves, with a place for each work-item of the block: neighbours along x lie side by
 * side, so that a loop over x reads and writes vectors. The memory is that of the thread which runs the block
 * (quern_run_items), and nothing else lies there (cg->kept). */
#include "codegen/llvm/cg.h"
#include "codegen/workitem.h"

enum { KEPT_BYTES = 8 }; /* of each leaf, so that all are aligned */

CgCounter cg_loop_open(Cg *cg, Value first, Value limit) {
    CgCounter c;
    BB before = LLVMGetInsertBlock(cg->b);
    LType type = LLVMTypeOf(first);
    c.head = cg_block(cg, "head");
    BB body = cg_block(cg, "body");
    c.exit = cg_block(cg, "exit");
    LLVMBuildBr(cg->b, c.head);
    cg_at(cg, c.head);
    c.value = LLVMBuildPhi(cg->b, type, "");
    LLVMAddIncoming(c.value, &first, &before, 1);
    LLVMBuildCondBr(cg->b, LLVMBuildICmp(cg->b, LLVMIntULT, c.value, limit, ""), body, c.exit);
    cg_at(cg, body);
    return c;
}

void cg_loop_close(Cg *cg, const CgCounter *c) {
    Value next = LLVMBuildNUWAdd(cg->b, c->value, cg_int(LLVMTypeOf(c->value), 1), "");
    BB latch = LLVMGetInsertBlock(cg->b);
    LLVMAddIncoming(c->value, &next, &latch, 1);
    LLVMBuildBr(cg->b, c->head);
    cg_at(cg, c->exit);
}

static Value bytes_behind(Cg *cg, Value base, Value offset) {
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, base, &offset, 1, "");
}

void cg_name_item(Cg *cg, Value ctx, Value *values) {
    size_t block = offsetof(CallContext, block), thread = offsetof(CallContext, thread);
    for (size_t axis = 0; axis < 3; axis++) {
        LLVMBuildStore(cg->b, values[GRID_BLOCK * 3 + axis],
                       bytes_behind(cg, ctx, cg_int(cg->i64, (int64_t)(block + 4 * axis))));
        LLVMBuildStore(cg->b, values[GRID_THREAD * 3 + axis],
                       bytes_behind(cg, ctx, cg_int(cg->i64, (int64_t)(thread + 4 * axis))));
    }
    size_t known = offsetof(CallContext, has_item);
    LLVMBuildStore(cg->b, cg_int(cg->i32, 1),
                   bytes_behind(cg, ctx, cg_int(cg->i64, (int64_t)known)));
}

static Value extent(Cg *cg, int axis) {
    return LLVMBuildZExt(cg->b, cg->f->item[GRID_BLOCK_DIM * 3 + axis], cg->i64, "");
}

/* -- the loops ------------------------------------------------------------------------------------ */

/* Loops of the block count by its work-items: theirs may be short and have no poll. */
static void count_items(Cg *cg, const CgSig *callee) {
    enum { ROUND = 64 };
    Value weight = cg_int(cg->i64, 1 + callee->ir->insts.len / ROUND);
    for (int axis = 0; axis < 3; axis++)
        weight = LLVMBuildMul(cg->b, weight, extent(cg, axis), "");
    BB out = cg_count_down(cg, cg->f->ctx, cg->f->budget, weight), here = LLVMGetInsertBlock(cg->b);
    cg_at(cg, out);
    cg_leave(cg, cg_int(cg->i32, CALL_PENDING));
    cg_at(cg, here);
}

/* The first work-item that fails ends them all, and is named. */
void cg_lower_items(Cg *cg, Ref ref, const CgSig *callee, Value *args) {
    CgFunc *f = cg->f;
    Value values[ITEM_COUNT];
    CgCounter threads[3];
    count_items(cg, callee);
    memcpy(values, f->item, sizeof values);
    Value first[3], limit[3];
    for (int axis = 0; axis < 3; axis++) {
        first[axis] = cg_int(cg->i32, 0);
        limit[axis] = values[GRID_BLOCK_DIM * 3 + axis];
    }
    cg_trim_items(cg, callee->ir, args, &first[0], &limit[0]);
    for (int axis = 2; axis >= 0; axis--) {
        threads[axis] = cg_loop_open(cg, first[axis], limit[axis]);
        values[GRID_THREAD * 3 + axis] = threads[axis].value;
    }
    Value status = cg_call_sig(cg, callee, f->ctx, values, args, NULL);
    if (status) {
        BB bad = cg_block(cg, "failed"), good = cg_block(cg, "fine");
        Value failed = LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), "");
        cg_unlikely(cg, LLVMBuildCondBr(cg->b, failed, bad, good));
        cg_at(cg, bad);
        cg_name_item(cg, f->ctx, values);
        cg_leave(cg, status);
        cg_at(cg, good);
    }
    for (int axis = 0; axis < 3; axis++)
        cg_loop_close(cg, &threads[axis]);
    cg->uses_barriers = true;
    cg_set(cg, ref, cg_new_leaves(cg, callee->ir->result));
}

/* -- slots ----------------------------------------------------------------------------------------- */

static int32_t slot_offset(Cg *cg, int64_t slot, int64_t bytes) {
    while (cg->kept_offsets.len <= slot)
        vec_push(cg->arena, &cg->kept_offsets, -1);
    int32_t *offset = &cg->kept_offsets.items[slot];
    if (*offset < 0) {
        *offset = cg->kept_bytes;
        if (bytes > INT32_MAX - cg->kept_bytes)
            cg_error(cg, "the local arrays of a work-item are larger than 2 GiB");
        else
            cg->kept_bytes += (int32_t)bytes;
    }
    return *offset;
}

static Value thread(Cg *cg, int axis) {
    return LLVMBuildZExt(cg->b, cg->f->item[GRID_THREAD * 3 + axis], cg->i64, "");
}

/* Of leaf 0, and how far behind it the next leaf is. */
static Value slot_address(Cg *cg, int64_t slot, int64_t bytes, Value *item, Value *step) {
    Value nx = extent(cg, 0), plane = LLVMBuildNUWMul(cg->b, nx, extent(cg, 1), "");
    Value items = LLVMBuildNUWMul(cg->b, plane, extent(cg, 2), "");
    Value rows = LLVMBuildNUWMul(cg->b, nx, thread(cg, 1), "");
    Value planes = LLVMBuildNUWMul(cg->b, plane, thread(cg, 2), "");
    *item = LLVMBuildNUWAdd(cg->b, thread(cg, 0), LLVMBuildNUWAdd(cg->b, rows, planes, ""), "");
    *step = LLVMBuildNUWMul(cg->b, items, cg_int(cg->i64, KEPT_BYTES), "");
    Value offset = cg_int(cg->i64, slot_offset(cg, slot, bytes));
    return bytes_behind(cg, cg->f->item[ITEM_SELF], LLVMBuildNUWMul(cg->b, items, offset, ""));
}

Value cg_kept_bytes(Cg *cg, int64_t slot, int64_t bytes) {
    Value item, step;
    int32_t before = cg->kept_bytes, asked = (int32_t)bytes;
    bytes = (bytes + KEPT_BYTES - 1) / KEPT_BYTES * KEPT_BYTES;
    Value at = slot_address(cg, slot, bytes, &item, &step);
    if (cg->kept_bytes != before) cg->local_bytes += asked; /* each array once */
    return bytes_behind(cg, at, LLVMBuildNUWMul(cg->b, item, cg_int(cg->i64, bytes), ""));
}

static LType kept_type(Cg *cg, LType leaf) {
    return leaf == cg->i1 ? cg->i8 : leaf;
}

static Value leaf_address(Cg *cg, Value base, LType type, Value item) {
    return LLVMBuildInBoundsGEP2(cg->b, type, base, &item, 1, "");
}

/* Of the work-item `other` of `item`; NULL: of that itself. */
typedef Value (*Other)(Cg *cg, Ref ref, Value item);

static void lower_kept(Cg *cg, Ref ref, Other other) {
    const Type *type = cg_type(cg, ref);
    int32_t n = cg_leaf_count(cg, type);
    LType *types = arena_array(cg->arena, LType, n + 1);
    Value *out = cg_new_leaves(cg, type), item, step;
    cg_leaf_types(cg, type, types);
    Value at = slot_address(cg, ir_inst(cg->f->ir, ref)->imm, n * KEPT_BYTES, &item, &step);
    if (other) item = other(cg, ref, item);
    cg->access = cg->kept;
    for (int32_t k = 0; k < n; k++) {
        LType in_memory = kept_type(cg, types[k]);
        out[k] = LLVMBuildLoad2(cg->b, in_memory, leaf_address(cg, at, in_memory, item), "");
        cg_accesses(cg, out[k]);
        if (in_memory != types[k]) out[k] = LLVMBuildTrunc(cg->b, out[k], types[k], "");
        at = bytes_behind(cg, at, step);
    }
    cg->access = NULL;
    cg_set(cg, ref, out);
}

void cg_lower_kept(Cg *cg, Ref ref) {
    lower_kept(cg, ref, NULL);
}

/* As the scheduler of coroutines has it (source_lane in workitem_support.c): without such a lane, the work-item itself. */
static Value source_item(Cg *cg, Ref ref, Value item) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Value last = cg_int(cg->i64, WORK_LANES - 1), items = cg_int(cg->i64, 1);
    Value by = LLVMBuildZExt(cg->b, cg_leaf(cg, ir_arg(cg->f->ir, ref, 0)), cg->i64, "");
    by = LLVMBuildAnd(cg->b, by, last, "");
    Value lane = LLVMBuildAnd(cg->b, item, last, ""), from = by;
    if (inst->sub == KEPT_UP) from = LLVMBuildSub(cg->b, lane, by, "");
    if (inst->sub == KEPT_DOWN) from = LLVMBuildAdd(cg->b, lane, by, "");
    if (inst->sub == KEPT_XOR) from = LLVMBuildXor(cg->b, lane, by, "");
    for (int axis = 0; axis < 3; axis++)
        items = LLVMBuildNUWMul(cg->b, items, extent(cg, axis), "");
    Value source = LLVMBuildAdd(cg->b, LLVMBuildSub(cg->b, item, lane, ""), from, "");
    Value is_lane = LLVMBuildICmp(cg->b, LLVMIntULE, from, last, "");
    Value is_there = LLVMBuildICmp(cg->b, LLVMIntULT, source, items, "");
    return LLVMBuildSelect(cg->b, LLVMBuildAnd(cg->b, is_lane, is_there, ""), source, item, "");
}

void cg_lower_kept_lane(Cg *cg, Ref ref) {
    lower_kept(cg, ref, source_item);
}

void cg_lower_keep(Cg *cg, Ref ref) {
    Ref value = ir_arg(cg->f->ir, ref, 0);
    int32_t n = cg_leaf_count(cg, cg_type(cg, value));
    Value item, step, *leaves = cg_leaves(cg, value);
    Value at = slot_address(cg, ir_inst(cg->f->ir, ref)->imm, n * KEPT_BYTES, &item, &step);
    cg->access = cg->kept;
    for (int32_t k = 0; k < n; k++) {
        LType type = kept_type(cg, LLVMTypeOf(leaves[k]));
        Value stored = leaves[k];
        if (type != LLVMTypeOf(stored)) stored = LLVMBuildZExt(cg->b, stored, type, "");
        cg_accesses(cg, LLVMBuildStore(cg->b, stored, leaf_address(cg, at, type, item)));
        at = bytes_behind(cg, at, step);
    }
    cg->access = NULL;
}

/* The kernel itself looks, as work-item (0, 0, 0). */
void cg_lower_kept_count(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Value item, step, count = cg_alloca_first(cg, cg->i64), items = cg_int(cg->i64, 1);
    Value at = slot_address(cg, inst->imm, KEPT_BYTES, &item, &step);
    for (int axis = 0; axis < 3; axis++)
        items = LLVMBuildNUWMul(cg->b, items, extent(cg, axis), "");
    LLVMBuildStore(cg->b, cg_int(cg->i64, 0), count);
    CgCounter c = cg_loop_open(cg, cg_int(cg->i64, 0), items);
    Value says = LLVMBuildLoad2(cg->b, cg->i8, leaf_address(cg, at, cg->i8, c.value), "");
    Value before = LLVMBuildLoad2(cg->b, cg->i64, count, "");
    says = LLVMBuildZExt(cg->b, says, cg->i64, "");
    LLVMBuildStore(cg->b, LLVMBuildAdd(cg->b, before, says, ""), count);
    cg_loop_close(cg, &c);
    Value n = LLVMBuildLoad2(cg->b, cg->i64, count, ""), zero = cg_int(cg->i64, 0);
    if (inst->sub == KEPT_ALL) n = LLVMBuildICmp(cg->b, LLVMIntEQ, n, items, "");
    if (inst->sub == KEPT_ANY) n = LLVMBuildICmp(cg->b, LLVMIntNE, n, zero, "");
    if (inst->sub) n = LLVMBuildZExt(cg->b, n, cg->i64, "");
    cg_set1(cg, ref, n);
}

/* Who of the `n` work-items from `first` on says yes. */
static Value votes_of(Cg *cg, Value says, Value first, Value n) {
    Value bits = cg_alloca_first(cg, cg->i32);
    LLVMBuildStore(cg->b, cg_int(cg->i32, 0), bits);
    CgCounter c = cg_loop_open(cg, cg_int(cg->i64, 0), n);
    Value item = LLVMBuildAdd(cg->b, first, c.value, "");
    Value one = LLVMBuildLoad2(cg->b, cg->i8, leaf_address(cg, says, cg->i8, item), "");
    Value lane = LLVMBuildTrunc(cg->b, c.value, cg->i32, "");
    one = LLVMBuildShl(cg->b, LLVMBuildZExt(cg->b, one, cg->i32, ""), lane, "");
    Value before = LLVMBuildLoad2(cg->b, cg->i32, bits, "");
    LLVMBuildStore(cg->b, LLVMBuildOr(cg->b, before, one, ""), bits);
    cg_loop_close(cg, &c);
    return LLVMBuildLoad2(cg->b, cg->i32, bits, "");
}

/* What a warp of `n` answers, as the scheduler of coroutines has it (common_result in workitem_support.c). */
static Value vote_answer(Cg *cg, int question, Value bits, Value n) {
    Value all = LLVMBuildLShr(
        cg->b, cg_int(cg->i32, -1),
        LLVMBuildSub(cg->b, cg_int(cg->i32, WORK_LANES), LLVMBuildTrunc(cg->b, n, cg->i32, ""), ""),
        "");
    Value none = LLVMBuildICmp(cg->b, LLVMIntEQ, bits, cg_int(cg->i32, 0), "");
    Value every = LLVMBuildICmp(cg->b, LLVMIntEQ, bits, all, "");
    if (question == KEPT_ALL) return every;
    if (question == KEPT_ANY) return LLVMBuildNot(cg->b, none, "");
    return question == KEPT_EQ ? LLVMBuildOr(cg->b, none, every, "") : bits;
}

/* The kernel itself asks, as work-item (0, 0, 0), warp after warp. */
void cg_lower_kept_vote(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Value item, step, items = cg_int(cg->i64, 1);
    Value says = slot_address(cg, inst->imm, KEPT_BYTES, &item, &step);
    Value answers = slot_address(cg, inst->imm + 1, KEPT_BYTES, &item, &step);
    LType type = cg_scalar_type(cg, inst->type->kind), in_memory = kept_type(cg, type);
    for (int axis = 0; axis < 3; axis++)
        items = LLVMBuildNUWMul(cg->b, items, extent(cg, axis), "");
    Value lanes = cg_int(cg->i64, WORK_LANES);
    Value warps = LLVMBuildUDiv(
        cg->b, LLVMBuildAdd(cg->b, items, cg_int(cg->i64, WORK_LANES - 1), ""), lanes, "");
    CgCounter w = cg_loop_open(cg, cg_int(cg->i64, 0), warps);
    Value first = LLVMBuildMul(cg->b, w.value, lanes, "");
    Value n = cg_intrinsic2(cg, "llvm.umin", lanes, LLVMBuildSub(cg->b, items, first, ""));
    Value answer = vote_answer(cg, inst->sub, votes_of(cg, says, first, n), n);
    answer = LLVMBuildIntCast2(cg->b, answer, in_memory, false, "");
    CgCounter c = cg_loop_open(cg, cg_int(cg->i64, 0), n);
    LLVMBuildStore(cg->b, answer,
                   leaf_address(cg, answers, in_memory, LLVMBuildAdd(cg->b, first, c.value, "")));
    cg_loop_close(cg, &c);
    cg_loop_close(cg, &w);
    cg_set1(cg, ref, LLVMConstNull(type));
}
