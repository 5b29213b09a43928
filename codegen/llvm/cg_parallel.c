/* cg_parallel.c - OP_parallel: the arguments of the body go into a struct on the stack, and a small function
 *
 *     int range(ctx, first, last, chunk, env): return body(ctx, first, last, chunk, env->...)
 *
 * is what the caller's threads run (ParallelRunner, codegen/artifact.h). */
#include "codegen/llvm/cg.h"
#include <stdio.h>

void cg_lower_chunks(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Value args[] = {cg->f->ctx, cg_leaf(cg, ir_arg(cg->f->ir, ref, 0)),
                    cg_int(cg->i32, inst->sub == FLAG_FEW)};
    cg_set1(cg, ref, cg_call_extern(cg, "quern_chunks", cg->i64, args, 3));
}

static LType env_type(Cg *cg, const Func *body, int32_t *count) {
    int32_t n = 0;
    for (int32_t i = 3; i < body->nparams; i++)
        n += cg_leaf_count(cg, body->param_types[i]);
    LType *types = arena_array(cg->arena, LType, n + 1);
    *count = n;
    n = 0;
    for (int32_t i = 3; i < body->nparams; i++)
        n += cg_leaf_types(cg, body->param_types[i], types + n);
    return LLVMStructTypeInContext(cg->context, types, (unsigned)n, false);
}

/* With a countdown of its own: that of the caller may be in use on another thread. */
static Value range_function(Cg *cg, const CgSig *sig, LType env, int32_t count) {
    LType params[] = {cg->ptr[0], cg->i64, cg->i64, cg->i64, cg->ptr[0]};
    LType type = LLVMFunctionType(cg->i32, params, 5, false);
    Value fn = LLVMAddFunction(cg->mod, "range", type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_attribute(cg, fn, 1, "noalias", 0);
    cg_attribute(cg, fn, 5, "noalias", 0);
    BB here = LLVMGetInsertBlock(cg->b);
    CgFunc *caller = cg->f;
    Value budget = cg->entry_budget;
    cg->f = NULL;
    cg_at(cg, LLVMAppendBasicBlockInContext(cg->context, fn, "entry"));
    if (sig->polls) cg->entry_budget = cg_new_budget(cg);
    Value *args = arena_array(cg->arena, Value, count + 4);
    for (unsigned i = 0; i < 3; i++)
        args[i] = LLVMGetParam(fn, i + 1);
    for (int32_t i = 0; i < count; i++) {
        Value at = LLVMBuildStructGEP2(cg->b, env, LLVMGetParam(fn, 4), (unsigned)i, "");
        args[i + 3] = LLVMBuildLoad2(cg->b, LLVMStructGetTypeAtIndex(env, (unsigned)i), at, "");
    }
    Value status = cg_call_sig(cg, sig, LLVMGetParam(fn, 0), NULL, args, NULL);
    LLVMBuildRet(cg->b, status ? status : cg_int(cg->i32, CALL_OK));
    cg->f = caller;
    cg->entry_budget = budget;
    cg_at(cg, here);
    return fn;
}

void cg_lower_parallel(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    const CgSig *body = cg_sig(cg, inst->u.func);
    if (!body) {
        cg_error(cg, "the body of a parallel loop is not in the module");
        return;
    }
    int32_t count, n = 0;
    LType type = env_type(cg, body->ir, &count);
    Value env = cg_alloca_first(cg, type);
    for (int32_t k = 2; k < inst->nargs; k++) {
        Ref arg = ir_arg(ir, ref, k);
        for (int32_t i = 0; i < cg_leaf_count(cg, cg_type(cg, arg)); i++, n++)
            LLVMBuildStore(cg->b, cg_leaves(cg, arg)[i],
                           LLVMBuildStructGEP2(cg->b, type, env, (unsigned)n, ""));
    }
    Value args[] = {cg->f->ctx, cg_leaf(cg, ir_arg(ir, ref, 0)), cg_leaf(cg, ir_arg(ir, ref, 1)),
                    range_function(cg, body, type, count), env};
    Value status = cg_call_extern(cg, "quern_parallel", cg->i32, args, 5);
    cg_propagate_if(cg, LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), ""),
                    status);
}

/* -- what compiled code asks of threads ------------------------------------------------------- */

static const struct {
    const char *row;
    enum ThreadQuestion question;
    Guard guard; /* where the answer is -1 */
} questions[] = {
    {"quern.get_thread_id", THREAD_ID, GUARD_COUNT},
    {"quern.get_num_threads", THREAD_COUNT, GUARD_COUNT},
    {"quern.set_num_threads", THREAD_SET_COUNT, GUARD_thread_count},
    {"quern.get_parallel_chunksize", THREAD_CHUNK, GUARD_COUNT},
    {"quern.set_parallel_chunksize", THREAD_SET_CHUNK, GUARD_chunk_size},
};

static Value ask(Cg *cg, enum ThreadQuestion question, Value value) {
    Value args[] = {cg->f->ctx, cg_int(cg->i32, question), value};
    return cg_call_extern(cg, "quern_threads", cg->i64, args, 3);
}

void cg_ask_threads(Cg *cg, LibCall *call) {
    for (int i = 0; i < countof(questions); i++) {
        if (strcmp(call->row->name, questions[i].row) != 0) continue;
        if (!cg->f->ctx) { /* a kernel: nothing of it is parallel */
            call->out[0] = cg_int(cg->i64, questions[i].question == THREAD_COUNT);
            return;
        }
        Value value = cg_int(cg->i64, 0);
        if (call->nargs) value = LLVMBuildIntCast2(cg->b, call->args[0][0], cg->i64, true, "");
        Value answer = ask(cg, questions[i].question, value);
        if (questions[i].guard != GUARD_COUNT) {
            Value args[] = {ask(cg, THREAD_MOST, value), value};
            Value wrong = LLVMBuildICmp(cg->b, LLVMIntEQ, answer, cg_int(cg->i64, -1), "");
            cg_fail_if(cg, wrong, questions[i].guard, args, 2);
        }
        if (cg_leaf_count(cg, call->inst->type)) call->out[0] = answer;
        return;
    }
    cg_error(cg, "%s asks nothing of threads", call->row->name);
}
