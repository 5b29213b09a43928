/* cg_coro.c - kernels whose work-items wait for each other, on the cpu device: each work-item is an LLVM
 * coroutine, driven by the scheduler in codegen/workitem_support.c.
 *
 * A waiting operation writes its request into the WorkItem and calls quern.suspend, which exists only while LLVM
 * inlines and optimises the work-item as one ordinary function. Then cg_coro_finish makes each such call the
 * suspend point of a coroutine, and CoroSplit cuts the function there. Were they suspend points from the
 * beginning, LLVM would sink arithmetic past them, and what one variable holds would be ten in the frame.
 * There is no final suspend point: a work-item that has ended says so in its WorkItem, and frames are plain
 * memory of the scheduler. */
#include "codegen/llvm/cg.h"
#include "codegen/workitem.h"

static const char coroutine_name[] = "quern.item", suspend_name[] = "quern.suspend";

static Value field(Cg *cg, Value base, size_t offset) {
    Value index = cg_int(cg->i64, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, base, &index, 1, "");
}

static Value load_field(Cg *cg, Value base, size_t offset, LType type) {
    return LLVMBuildLoad2(cg->b, type, field(cg, base, offset), "");
}

static void store_field(Cg *cg, Value base, size_t offset, Value value) {
    LLVMBuildStore(cg->b, value, field(cg, base, offset));
}

static Value no_token(Cg *cg) {
    return LLVMConstNull(LLVMTokenTypeInContext(cg->context));
}

/* -- operations that wait --------------------------------------------------------------------- */

static Value self(Cg *cg) {
    return cg->f->item[ITEM_SELF];
}

static void set_value(Cg *cg, int k, Value leaf) {
    LType type = LLVMTypeOf(leaf);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(cg->layout, type);
    Value image = LLVMBuildBitCast(cg->b, leaf, LLVMIntTypeInContext(cg->context, bits), "");
    image = LLVMBuildIntCast2(cg->b, image, cg->i64, false, "");
    store_field(cg, self(cg), offsetof(WorkItem, value) + 8 * (size_t)k, image);
}

static Value get_value(Cg *cg, int k, LType type) {
    Value image = load_field(cg, self(cg), offsetof(WorkItem, value) + 8 * (size_t)k, cg->i64);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(cg->layout, type);
    image = LLVMBuildIntCast2(cg->b, image, LLVMIntTypeInContext(cg->context, bits), false, "");
    return LLVMBuildBitCast(cg->b, image, type, "");
}

static void wait_for(Cg *cg, WorkRequest request) {
    store_field(cg, self(cg), offsetof(WorkItem, request), cg_int(cg->i32, request));
    store_field(cg, self(cg), offsetof(WorkItem, site), cg_int(cg->i32, cg_site(cg)));
    Value dropped = cg_call_extern(cg, suspend_name, cg->i1, NULL, 0);
    if (cg->owns) /* the block is given up: give back what this work-item holds */
        cg_propagate_if(cg, dropped, cg_int(cg->i32, CALL_EXCEPTION));
}

static WorkRequest request_of(int gen) {
    static const uint8_t rows[GEN_COUNT] = {
        [GEN_barrier] = WORK_BARRIER,           [GEN_barrier_count] = WORK_BARRIER_COUNT,
        [GEN_barrier_and] = WORK_BARRIER_AND,   [GEN_barrier_or] = WORK_BARRIER_OR,
        [GEN_grid_barrier] = WORK_BARRIER_GRID, [GEN_syncwarp] = WORK_SYNCWARP,
        [GEN_shfl_idx] = WORK_SHFL_IDX,         [GEN_shfl_up] = WORK_SHFL_UP,
        [GEN_shfl_down] = WORK_SHFL_DOWN,       [GEN_shfl_xor] = WORK_SHFL_XOR,
        [GEN_vote_all] = WORK_VOTE_ALL,         [GEN_vote_any] = WORK_VOTE_ANY,
        [GEN_vote_eq] = WORK_VOTE_EQ,           [GEN_vote_ballot] = WORK_VOTE_BALLOT,
        [GEN_match_any] = WORK_MATCH_ANY,       [GEN_match_all] = WORK_MATCH_ALL,
        [GEN_activemask] = WORK_ACTIVEMASK,
    };
    return (WorkRequest)rows[gen];
}

static void set_operands(Cg *cg, WorkRequest request, const LibCall *call) {
    if (request < WORK_FIRST_WARP) {
        if (call->nargs) set_value(cg, 0, call->args[0][0]);
        return;
    }
    Value mask = call->nargs ? call->args[0][0] : cg_int(cg->i32, -1);
    store_field(cg, self(cg), offsetof(WorkItem, mask), mask);
    int32_t leaves = call->nargs > 1 ? cg_leaf_count(cg, call->types[1]) : 0;
    for (int32_t k = 0; k < leaves; k++)
        set_value(cg, k, call->args[1][k]);
    if (leaves == 1 && (request == WORK_MATCH_ANY || request == WORK_MATCH_ALL))
        set_value(cg, 1, cg_int(cg->i64, 0)); /* both words are compared */
    if (call->nargs > 2) store_field(cg, self(cg), offsetof(WorkItem, arg), call->args[2][0]);
}

bool cg_coro_generate(Cg *cg, int gen, LibCall *call) {
    WorkRequest request = request_of(gen);
    LType types[2];
    if (!request) return false;
    if (!cg->f->sig->suspends) {
        cg_error(cg, "%s exists in kernels only", call->row->name);
        return false;
    }
    set_operands(cg, request, call);
    wait_for(cg, request);
    int32_t n = call->inst->type ? cg_leaf_types(cg, call->inst->type, types) : 0;
    for (int32_t k = 0; k < n; k++)
        call->out[k] = get_value(cg, k, types[k]);
    return true;
}

/* -- the coroutine ---------------------------------------------------------------------------- */

static void coordinates(Cg *cg, Value block, Value item, Value *values) {
    for (size_t axis = 0; axis < 3; axis++) {
        size_t at = sizeof(uint32_t) * axis;
        values[GRID_THREAD * 3 + axis] =
            load_field(cg, item, offsetof(WorkItem, thread) + at, cg->i32);
        values[GRID_BLOCK * 3 + axis] =
            load_field(cg, block, offsetof(WorkBlock, block) + at, cg->i32);
        values[GRID_BLOCK_DIM * 3 + axis] =
            load_field(cg, block, offsetof(WorkBlock, block_dim) + at, cg->i32);
        values[GRID_GRID_DIM * 3 + axis] =
            load_field(cg, block, offsetof(WorkBlock, grid_dim) + at, cg->i32);
    }
    values[ITEM_SHARED] = load_field(cg, block, offsetof(WorkBlock, shared), cg->ptr[0]);
    values[ITEM_DYNAMIC] = load_field(cg, block, offsetof(WorkBlock, dynamic_shared), cg->i32);
    values[ITEM_SELF] = item;
}

/* The frame of the last block's coroutine is used again; the first one is asked for. */
static Value frame_memory(Cg *cg, Value ctx, Value block, Value item, BB no_memory) {
    BB ask = cg_block(cg, "ask"), begin = cg_block(cg, "begin");
    BB before = LLVMGetInsertBlock(cg->b);
    Value old = load_field(cg, item, offsetof(WorkItem, frame), cg->ptr[0]);
    LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, old, ""), ask, begin);
    cg_at(cg, ask);
    Value size = cg_intrinsic(cg, "llvm.coro.size", &cg->i64, 1, NULL, 0);
    Value args[] = {ctx, block, item, size};
    Value fresh = cg_call_extern(cg, "quern_item_frame", cg->ptr[0], args, 4);
    LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, fresh, ""), no_memory, begin);
    cg_at(cg, begin);
    Value memory = LLVMBuildPhi(cg->b, cg->ptr[0], "");
    LLVMAddIncoming(memory, (Value[]){old, fresh}, (BB[]){before, ask}, 2);
    return memory;
}

static void ended(Cg *cg, Value item, Value status) {
    store_field(cg, item, offsetof(WorkItem, status), status);
    store_field(cg, item, offsetof(WorkItem, request), cg_int(cg->i32, WORK_DONE));
    LLVMBuildRetVoid(cg->b);
}

static Value build_coroutine(Cg *cg) {
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->ptr[0], cg->ptr[0]};
    Value fn =
        LLVMAddFunction(cg->mod, coroutine_name, LLVMFunctionType(cg->void_, params, 4, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "presplitcoroutine", 0);
    cg_at(cg, LLVMAppendBasicBlockInContext(cg->context, fn, "entry"));
    Value ctx = LLVMGetParam(fn, 0), block = LLVMGetParam(fn, 2), item = LLVMGetParam(fn, 3);
    BB no_memory = cg_block(cg, "no_memory");
    Value null = LLVMConstNull(cg->ptr[0]);
    Value id = cg_intrinsic(cg, "llvm.coro.id", NULL, 0,
                            (Value[]){cg_int(cg->i32, 64), null, null, null}, 4);
    Value memory = frame_memory(cg, ctx, block, item, no_memory);
    Value frame = cg_intrinsic(cg, "llvm.coro.begin", NULL, 0, (Value[]){id, memory}, 2);
    store_field(cg, item, offsetof(WorkItem, frame),
                frame); /* not `memory`: LLVM must see it escape */
    Value values[ITEM_COUNT];
    coordinates(cg, block, item, values);
    Value *args = cg_entry_arguments(cg, LLVMGetParam(fn, 1));
    cg->entry_budget =
        field(cg, ctx, offsetof(CallContext, budget)); /* of all work-items together */
    Value status = cg_call_sig(cg, &cg->sigs[0], ctx, values, args, NULL);
    ended(cg, item, status ? status : cg_int(cg->i32, CALL_OK));
    cg_at(cg, no_memory);
    ended(cg, item, cg_int(cg->i32, CALL_EXCEPTION));
    return fn;
}

/* Errors to come are placed where the function waits. */
static void point_at_wait(Cg *cg, const CgSig *sig, CgFunc *f) {
    *f = (CgFunc){.ir = sig->ir, .sig = sig};
    for (Ref r = 1; r < sig->ir->insts.len && !f->ref; r++) {
        const LibRow *row = ir_inst(sig->ir, r)->op == OP_lib ? cg_lib_row(sig->ir, r) : NULL;
        if (row && row->flags & LIB_SHARED_CALL) f->ref = r;
    }
    cg->f = f;
}

void cg_coro_entry(Cg *cg) {
    for (int32_t i = 0; i < cg->ir->funcs.len; i++) {
        const CgSig *sig = &cg->sigs[i];
        if (!sig->reachable || !sig->suspends) continue;
        if (sig->recursive) {
            CgFunc f;
            point_at_wait(cg, sig, &f);
            cg_error(cg,
                     "the recursive function '" STR_FMT
                     "' contains a barrier or an operation of the warp: write a loop",
                     STR_ARG(sig->ir->user_name));
            cg->f = NULL;
            return;
        }
        cg_attribute(cg, sig->fn, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    }
    Value coroutine = build_coroutine(cg);
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->ptr[0]};
    Value fn = cg_entry_function(cg, LLVMFunctionType(cg->i32, params, 3, false));
    Value args[] = {LLVMGetParam(fn, 0), LLVMGetParam(fn, 1), LLVMGetParam(fn, 2), coroutine};
    LLVMBuildRet(cg->b, cg_call_extern(cg, "quern_run_blocks", cg->i32, args, 4));
}

/* -- from calls to suspend points --------------------------------------------------------------- */

/* Phis of `block` that name `from` as a predecessor name `to` instead. */
static void rename_predecessor(Cg *cg, BB block, BB from, BB to) {
    for (Value phi = LLVMGetFirstInstruction(block), next; phi && LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        unsigned n = LLVMCountIncoming(phi);
        LLVMPositionBuilderBefore(cg->b, phi);
        Value fresh = LLVMBuildPhi(cg->b, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < n; i++) {
            Value value = LLVMGetIncomingValue(phi, i);
            BB pred = LLVMGetIncomingBlock(phi, i);
            if (pred == from) pred = to;
            LLVMAddIncoming(fresh, &value, &pred, 1);
        }
        LLVMReplaceAllUsesWith(phi, fresh);
        LLVMInstructionEraseFromParent(phi);
    }
}

/* Moves what stands behind `at` into a new block. The old one is left without a terminator. */
static BB split_behind(Cg *cg, Value at) {
    BB old = LLVMGetInstructionParent(at);
    BB rest = LLVMAppendBasicBlockInContext(cg->context, LLVMGetBasicBlockParent(old), "resumed");
    for (Value i = LLVMGetNextInstruction(at), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMInstructionRemoveFromParent(i);
        cg_at(cg, rest);
        LLVMInsertIntoBuilder(cg->b, i);
    }
    Value last = LLVMGetBasicBlockTerminator(rest);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(last); k++) /* twice does no harm */
        rename_predecessor(cg, LLVMGetSuccessor(last, k), old, rest);
    cg_at(cg, old);
    return rest;
}

static void make_suspend_point(Cg *cg, Value call, BB end) {
    BB rest = split_behind(cg, call);
    bool cleans_up = LLVMGetFirstUse(call) != NULL;
    Value args[] = {no_token(cg), cg_bool(cg, false)};
    Value how = cg_intrinsic(cg, "llvm.coro.suspend", NULL, 0, args, 2);
    Value fork = LLVMBuildSwitch(cg->b, how, end, 2);
    LLVMAddCase(fork, cg_int(cg->i8, 0), rest);
    if (cleans_up) {
        Value first = LLVMGetFirstInstruction(rest);
        LLVMAddCase(fork, cg_int(cg->i8, 1), rest);
        LLVMPositionBuilderBefore(cg->b, first);
        LLVMReplaceAllUsesWith(call, LLVMBuildTrunc(cg->b, how, cg->i1, ""));
    }
    LLVMInstructionEraseFromParent(call);
}

static Value called_in(BB block, Value callee) {
    for (Value i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == callee) return i;
    return NULL;
}

/* CoroSplit recomputes arithmetic behind a suspend point instead of keeping its result: a sum of ten products
 * becomes twenty variables of the frame. It does not look through freeze. */
static bool keep_result(Value i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMMul:
    case LLVMSDiv:
    case LLVMUDiv:
    case LLVMSRem:
    case LLVMURem: break;
    default: return false;
    }
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (LLVMIsAPHINode(user) || LLVMGetInstructionParent(user) != LLVMGetInstructionParent(i))
            return true;
    }
    return false;
}

static void keep_results(Cg *cg, BB block) {
    for (Value i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (!keep_result(i)) continue;
        LLVMPositionBuilderBefore(cg->b, LLVMGetNextInstruction(i));
        Value kept = LLVMBuildFreeze(cg->b, i, "");
        LLVMReplaceAllUsesWith(i, kept);
        LLVMSetOperand(kept, 0, i);
    }
}

/* Every way out of a coroutine goes through its one end. */
static void leave_through(Cg *cg, BB block, BB end) {
    Value last = LLVMGetBasicBlockTerminator(block);
    if (block == end || !LLVMIsAReturnInst(last)) return;
    LLVMInstructionEraseFromParent(last);
    cg_at(cg, block);
    LLVMBuildBr(cg->b, end);
}

bool cg_coro_finish(Cg *cg) {
    Value fn = LLVMGetNamedFunction(cg->mod, coroutine_name);
    Value suspend = LLVMGetNamedFunction(cg->mod, suspend_name), call;
    if (!fn || !suspend) return true;
    BB end = LLVMAppendBasicBlockInContext(cg->context, fn, "suspended");
    cg_at(cg, end);
    Value last[] = {LLVMConstNull(cg->ptr[0]), cg_bool(cg, false), no_token(cg)};
    cg_intrinsic(cg, "llvm.coro.end", NULL, 0, last, 3);
    LLVMBuildRetVoid(cg->b);
    /* the rest of a block is appended, so it is looked at later */
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        leave_through(cg, bb, end);
        if ((call = called_in(bb, suspend))) make_suspend_point(cg, call, end);
    }
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        keep_results(cg, bb);
    if (LLVMGetFirstUse(suspend)) return cg_error(cg, "a function that waits was not inlined");
    LLVMDeleteFunction(suspend);
    return !cg->failed;
}
