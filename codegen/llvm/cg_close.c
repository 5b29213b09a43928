/* cg_close.c - frames of generators that must not just be dropped (OP_closing).
 *
 * Such a frame knows a small function
 *
 *     int close(ctx, data, owner): resumes the generator, which raises GeneratorExit where it waits
 *
 * which gives CLOSED where the generator ended by that, or returned, YIELDED where it gave an item instead, and else the
 * status of what it raised. Whoever drops the last reference to a frame calls it before (quern_drop_frame). */
#include "codegen/llvm/cg.h"
#include "codegen/objects.h"

bool cg_finds_closing(Cg *cg) {
    for (int32_t i = 0; i < cg->ir->funcs.len; i++)
        for (Ref r = 1; r < cg->ir->funcs.items[i]->insts.len; r++)
            if (ir_inst(cg->ir->funcs.items[i], r)->op == OP_closing) return true;
    return false;
}

bool cg_drops_frame(Cg *cg, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_release && cg->closes &&
           type_holds_frame(ir_type(func, ir_arg(func, ref, 0)));
}

void cg_drop_frame(Cg *cg, const Type *type, Value owner) {
    if (cg->closes && cg->f && cg->f->ctx && type_holds_frame(type))
        cg_call_extern(cg, "quern_drop_frame", cg->void_, (Value[]){cg->f->ctx, owner}, 2);
}

/* Did it end by the GeneratorExit that was raised in it? */
static Value left_by_exit(Cg *cg, Value ctx, Value status) {
    static const ExceptionClass exit = {.name = {"GeneratorExit", 13}, .builtin = true};
    Value offset = cg_int(cg->i64, offsetof(CallContext, exception_class));
    Value at = LLVMBuildInBoundsGEP2(cg->b, cg->i8, ctx, &offset, 1, "");
    Value cls = LLVMBuildLoad2(cg->b, cg->i32, at, ""), zero = cg_int(cg->i32, 0);
    Value number = LLVMBuildLoad2(cg->b, cg->i32, ctx, "");
    Value ours =
        LLVMBuildICmp(cg->b, LLVMIntEQ, cls, cg_int(cg->i32, cg_class_number(cg, &exit)), "");
    Value stated = LLVMBuildICmp(cg->b, LLVMIntSGE, number, zero, "");
    Value raised = LLVMBuildICmp(cg->b, LLVMIntEQ, status, cg_int(cg->i32, CALL_EXCEPTION), "");
    return LLVMBuildAnd(cg->b, raised, LLVMBuildAnd(cg->b, stated, ours, ""), "");
}

static void write_close(Cg *cg, Value fn, const CgSig *resume) {
    Value ctx = LLVMGetParam(fn, 0), fine = cg_int(cg->i32, CALL_OK);
    Value frame[] = {LLVMGetParam(fn, 1), LLVMGetParam(fn, 2), cg_int(cg->i64, 1),
                     cg_int(cg->i64, 1)};
    Value *results = cg_new_leaves(cg, resume->ir->result);
    Value status = cg_call_sig(cg, resume, ctx, NULL, frame, results);
    BB ended = LLVMAppendBasicBlockInContext(cg->context, fn, "ended");
    BB failed = LLVMAppendBasicBlockInContext(cg->context, fn, "failed");
    BB gave = LLVMAppendBasicBlockInContext(cg->context, fn, "gave");
    BB closed = LLVMAppendBasicBlockInContext(cg->context, fn, "closed");
    if (!status) status = fine;
    LLVMBuildCondBr(cg->b, LLVMBuildICmp(cg->b, LLVMIntEQ, status, fine, ""), ended, failed);
    cg_at(cg, failed);
    LLVMBuildRet(cg->b, LLVMBuildSelect(cg->b, left_by_exit(cg, ctx, status), fine, status, ""));
    cg_at(cg, ended);
    Value more = LLVMBuildIntCast2(cg->b, results[0], cg->i1, false, "");
    LLVMBuildCondBr(cg->b, more, gave, closed);
    cg_at(cg, gave);
    cg_count_owners(cg, resume->ir->result->items[1], results + 1, "quern_release");
    LLVMBuildRet(cg->b, cg_int(cg->i32, CLOSE_YIELDED));
    cg_at(cg, closed);
    if (resume->ir->result->nitems > 2) {
        Value *returned = results + 1 + cg_leaf_count(cg, resume->ir->result->items[1]);
        cg_count_owners(cg, resume->ir->result->items[2], returned, "quern_release");
    }
    LLVMBuildRet(cg->b, fine);
}

/* With a countdown of its own, as what threads run. */
static Value close_function(Cg *cg, const CgSig *resume) {
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->ptr[0]};
    Value fn = LLVMAddFunction(cg->mod, "close", LLVMFunctionType(cg->i32, params, 3, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    BB here = LLVMGetInsertBlock(cg->b);
    CgFunc *caller = cg->f;
    Value budget = cg->entry_budget;
    cg->f = NULL;
    cg_at(cg, LLVMAppendBasicBlockInContext(cg->context, fn, "entry"));
    if (resume->polls) cg->entry_budget = cg_new_budget(cg);
    write_close(cg, fn, resume);
    cg->f = caller;
    cg->entry_budget = budget;
    cg_at(cg, here);
    return fn;
}

void cg_lower_closing(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    const CgSig *resume = cg_sig(cg, inst->u.func);
    if (!resume) {
        cg_error(cg, "the function of a generator is not in the module");
        return;
    }
    ArrayLeaves array;
    Ref of = ir_arg(cg->f->ir, ref, 0);
    cg_array_open(cg, cg_type(cg, of), cg_leaves(cg, of), &array);
    Value args[] = {array.owner, close_function(cg, resume)};
    cg_call_extern(cg, "quern_closing", cg->void_, args, 2);
}
