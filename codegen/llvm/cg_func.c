/* cg_func.c - functions, blocks, phis, calls and returns.
 *
 * Blocks are lowered in reverse postorder, so that definitions come before uses; phis are filled when
 * every block is there. An IR block may become several LLVM blocks: `edges` remembers, for every
 * successor of every IR block, which LLVM block makes the jump. */
#include "codegen/llvm/cg.h"
#include "codegen/opt/pass.h"
#include <stdio.h>

/* -- calls ------------------------------------------------------------------------------------ */

/* The budget's address for a callee. A function of the lazy module gets that of a copy: it is called from cold blocks of loops,
 * and the budget itself stays a register there. */
static Value lent_budget(Cg *cg, const CgSig *sig, Value budget) {
    if (!sig->stub || cg->in_lazy) return budget;
    Value copy = cg_alloca_first(cg, cg->i64);
    LLVMBuildStore(cg->b, LLVMBuildLoad2(cg->b, cg->i64, budget, ""), copy);
    return copy;
}

static void take_back_budget(Cg *cg, Value budget, Value lent) {
    if (lent != budget) LLVMBuildStore(cg->b, LLVMBuildLoad2(cg->b, cg->i64, lent, ""), budget);
}

bool cg_lies_dense(Cg *cg, const Type *type) {
    int32_t n = cg_leaf_count(cg, type);
    LType *types = arena_array(cg->arena, LType, n + 1);
    cg_leaf_types(cg, type, types);
    for (int32_t i = 1; i < n; i++)
        if (types[i] != types[0]) return false;
    return n && types[0] != cg->i1 && types[0] != cg->ptr[0] &&
           type_size(type) == n * (int64_t)(LLVMABISizeOfType(cg->layout, types[0]));
}

/* Many arguments lie in memory. */
static Value lay_down(Cg *cg, const CgSig *sig, const Value *args) {
    Value memory = cg_alloca_first(cg, sig->given);
    for (unsigned i = 0; i < (unsigned)sig->nargs; i++)
        LLVMBuildStore(cg->b, args[i], LLVMBuildStructGEP2(cg->b, sig->given, memory, i, ""));
    return memory;
}

/* Of a tuple that is only indexed at run time nobody wants the items as values. */
static bool *find_wanted(Cg *cg, const Func *func) {
    bool *wanted = arena_array(cg->arena, bool, func->nparams + 1);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            const Inst *arg = ir_arg(func, ref, k) ? ir_inst(func, ir_arg(func, ref, k)) : NULL;
            bool stored = inst->op == OP_item_at && k == 0;
            if (arg && arg->op == OP_param && !stored) wanted[arg->imm] = true;
        }
    }
    return wanted;
}

static Value *pick_up(Cg *cg, const CgSig *sig, Value memory) {
    Value *args = arena_array(cg->arena, Value, sig->nargs);
    const bool *wanted = find_wanted(cg, sig->ir);
    unsigned at = 0;
    for (int32_t i = 0; i < sig->ir->nparams; i++) {
        const Type *type = sig->ir->param_types[i];
        bool loads = wanted[i] || !cg_lies_dense(cg, type);
        for (int32_t n = cg_leaf_count(cg, type), k = 0; k < n; k++, at++) {
            LType leaf = LLVMStructGetTypeAtIndex(sig->given, at);
            args[at] =
                loads ? LLVMBuildLoad2(cg->b, leaf,
                                       LLVMBuildStructGEP2(cg->b, sig->given, memory, at, ""), "")
                      : LLVMGetPoison(leaf);
        }
    }
    return args;
}

Value cg_given_place(Cg *cg, const CgSig *sig, Value memory, int32_t param) {
    unsigned first = 0;
    for (int32_t i = 0; i < param; i++)
        first += (unsigned)cg_leaf_count(cg, sig->ir->param_types[i]);
    return LLVMBuildStructGEP2(cg->b, sig->given, memory, first, "");
}

/* `given`: many arguments in memory; NULL: `args`. */
static Value call_sig(Cg *cg, const CgSig *sig, Value ctx, Value *item, const Value *args,
                      Value given, Value *results) {
    Value budget = cg->f ? cg->f->budget : cg->entry_budget, lent = budget;
    int32_t nparams = (int32_t)LLVMCountParamTypes(sig->type), n = 0;
    Value *all = arena_array(cg->arena, Value, nparams + 1);
    if (sig->raises) all[n++] = ctx;
    if (sig->polls) all[n++] = lent = lent_budget(cg, sig, budget);
    if (cg->nunits && sig->raises) all[n++] = cg_bases(cg, sig);
    for (int i = 0; sig->item && i < ITEM_COUNT; i++)
        all[n++] = item[i];
    if (given)
        all[n++] = given;
    else if (sig->nargs)
        memcpy(all + n, args, sizeof *all * (size_t)sig->nargs), n += sig->nargs;
    Value memory = sig->memory ? cg_alloca_first(cg, sig->memory) : NULL;
    if (memory) all[n++] = memory;
    Value call = LLVMBuildCall2(cg->b, sig->type, cg_callee(cg, sig), all, (unsigned)n, "");
    if (cg->writes_in) {
        unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(cg->context, kind, 0));
    }
    take_back_budget(cg, budget, lent);
    for (unsigned i = 0; memory && i < (unsigned)sig->nresult; i++)
        results[i] = LLVMBuildLoad2(cg->b, LLVMStructGetTypeAtIndex(sig->memory, i),
                                    LLVMBuildStructGEP2(cg->b, sig->memory, memory, i, ""), "");
    if (memory) return sig->raises ? call : NULL;
    int32_t parts = sig->raises + sig->nresult;
    if (parts == 1 && sig->raises) return call;
    if (parts == 1) results[0] = call;
    if (parts <= 1) return NULL;
    for (int32_t i = 0; i < sig->nresult; i++)
        results[i] = LLVMBuildExtractValue(cg->b, call, (unsigned)(i + sig->raises), "");
    return sig->raises ? LLVMBuildExtractValue(cg->b, call, 0, "status") : NULL;
}

Value cg_call_given(Cg *cg, const CgSig *sig, Value ctx, Value given, Value *results) {
    return call_sig(cg, sig, ctx, NULL, NULL, given, results);
}

Value cg_call_sig(Cg *cg, const CgSig *sig, Value ctx, Value *item, Value *args, Value *results) {
    Value given = sig->given ? lay_down(cg, sig, args) : NULL;
    return call_sig(cg, sig, ctx, item, args, given, results);
}

/* Instructions that run where nothing fails. A check is a comparison, a wraparound and a way out. */
static int32_t hot_size(const Func *func) {
    enum { CHECK = 3 };
    int32_t size = 0;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; i < block->insts.len && !block->removed && !block->cold; i++) {
            Op op = (Op)ir_inst(func, block->insts.items[i])->op;
            size += op == OP_check_index ? CHECK : op != OP_const && op != OP_param;
        }
    }
    return size;
}

static int32_t calls_of(const Cg *cg, const Func *callee) {
    int32_t n = 0;
    for (int32_t f = 0; f < cg->ir->funcs.len; f++) {
        const Func *func = cg->ir->funcs.items[f];
        for (Ref ref = 1; ref < func->insts.len && !opt_is_outlined(func); ref++)
            n += ir_inst(func, ref)->op == OP_call && ir_inst(func, ref)->u.func == callee;
    }
    return n;
}

/* A small helper that a loop calls is written into it, where all its calls together are not much code. LLVM's inliner counts what records an
 * exception, too, five stores for each index that may be out of range, and would leave a helper of five indices a call, which
 * C's of the same text is not. */
static bool is_helper_of_loop(Cg *cg, const CgSig *callee, Ref call) {
    enum { MOST = 80, MOST_OF_ALL = 160 };
    const CgFunc *f = cg->f;
    int32_t block = ir_inst(f->ir, call)->block;
    if (!cg->target->is_host || cg->options->opt_level < 2 || opt_is_outlined(f->ir)) return false;
    if (f->ir->blocks.items[block].cold || block >= f->cfg.n || f->cfg.loop_of[block] < 0)
        return false;
    if (callee->recursive || callee->suspends || callee->lazy || callee->unit || callee->block ||
        callee->parallel || opt_is_outlined(callee->ir))
        return false;
    int32_t size = hot_size(callee->ir);
    return size <= MOST && size * calls_of(cg, callee->ir) <= MOST_OF_ALL;
}

void cg_lower_call(Cg *cg, Ref ref) {
    CgFunc *f = cg->f;
    const Inst *inst = ir_inst(f->ir, ref);
    const CgSig *callee = cg_sig(cg, inst->u.func);
    if (!callee || inst->nargs != callee->ir->nparams) {
        cg_error(cg, "call of a function that is not in the module");
        return;
    }
    if (callee->recursive && f->sig->recursive) cg_recursion_poll(cg);
    int32_t n = 0;
    Value *args = arena_array(cg->arena, Value, callee->nargs + 1);
    for (int32_t i = 0; i < inst->nargs; i++) {
        Ref arg = ir_arg(f->ir, ref, i);
        int32_t count = cg_leaf_count(cg, cg_type(cg, arg));
        if (count) memcpy(args + n, cg_leaves(cg, arg), sizeof(Value) * (size_t)count);
        n += count;
    }
    if (inst->sub == FLAG_ITEMS) {
        cg_lower_items(cg, ref, callee, args);
        return;
    }
    Value *results = cg_new_leaves(cg, callee->ir->result);
    cg->writes_in = is_helper_of_loop(cg, callee, ref);
    Value status = cg_call_sig(cg, callee, f->ctx, f->item, args, results);
    cg->writes_in = false;
    if (status && cg_goes_on(cg)) {
        cg_note_status(cg, status);
    } else if (status) {
        cg_propagate_call(cg, status, !callee->ir->part);
    }
    cg_set(cg, ref, results);
}

/* The block in which a function of the host puts together what it returns, with a phi for each part. Where LLVM inlines the function, the
 * parts stay values of their own: it does not look into phis of structs, and would ask for the status again behind the call. */
static void open_leave(Cg *cg, int32_t parts) {
    CgFunc *f = cg->f;
    BB from = LLVMGetInsertBlock(cg->b);
    LType type = LLVMGetReturnType(f->sig->type);
    f->leave = cg_block(cg, "leave");
    f->left = arena_array(cg->arena, Value, parts);
    cg_at(cg, f->leave);
    for (int32_t i = 0; i < parts; i++)
        f->left[i] = LLVMBuildPhi(cg->b, LLVMStructGetTypeAtIndex(type, (unsigned)i), "");
    Value all = LLVMGetPoison(type);
    for (int32_t i = 0; i < parts; i++)
        all = LLVMBuildInsertValue(cg->b, all, f->left[i], (unsigned)i, "");
    LLVMBuildRet(cg->b, all);
    cg_at(cg, from);
}

/* Leaves NULL: an exception, whose function returns nothing. */
static void build_parts(Cg *cg, Value status, const Value *leaves, int32_t parts) {
    const CgSig *sig = cg->f->sig;
    LType type = LLVMGetReturnType(sig->type);
    Value all = LLVMGetPoison(type);
    if (cg->target->is_host && !cg->f->leave) open_leave(cg, parts);
    BB from = LLVMGetInsertBlock(cg->b);
    for (int32_t i = 0; i < parts; i++) {
        Value part = i < sig->raises ? status : leaves ? leaves[i - sig->raises] : NULL;
        if (!cg->f->leave && part) all = LLVMBuildInsertValue(cg->b, all, part, (unsigned)i, "");
        if (!cg->f->leave) continue;
        if (!part) part = LLVMGetPoison(LLVMStructGetTypeAtIndex(type, (unsigned)i));
        LLVMAddIncoming(cg->f->left[i], &part, &from, 1);
    }
    if (cg->f->leave)
        LLVMBuildBr(cg->b, cg->f->leave);
    else
        LLVMBuildRet(cg->b, all);
}

/* {status, leaves...}, or the only element, or nothing. */
static void build_return(Cg *cg, Value status, const Value *leaves) {
    const CgSig *sig = cg->f->sig;
    int32_t parts = sig->raises + (sig->memory ? 0 : sig->nresult);
    for (unsigned i = 0; sig->memory && leaves && i < (unsigned)sig->nresult; i++)
        LLVMBuildStore(cg->b, leaves[i],
                       LLVMBuildStructGEP2(cg->b, sig->memory, cg->f->result, i, ""));
    if (parts == 0)
        LLVMBuildRetVoid(cg->b);
    else if (parts == 1)
        LLVMBuildRet(cg->b, sig->raises ? status : leaves[0]);
    else
        build_parts(cg, status, leaves, parts);
}

void cg_lower_return(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Value *leaves = NULL;
    if (inst->nargs && cg_leaf_count(cg, cg->f->ir->result))
        leaves = cg_leaves(cg, ir_arg(cg->f->ir, ref, 0));
    build_return(cg, cg_return_status(cg), leaves);
}

void cg_return_zero(Cg *cg) {
    const Type *type = cg->f->ir->result;
    int32_t n = cg_leaf_count(cg, type);
    LType *types = arena_array(cg->arena, LType, n + 1);
    Value *leaves = cg_new_leaves(cg, type);
    cg_leaf_types(cg, type, types);
    for (int32_t i = 0; i < n; i++)
        leaves[i] = LLVMConstNull(types[i]);
    build_return(cg, cg_int(cg->i32, CALL_OK), leaves);
}

BB cg_fail_exit(Cg *cg) {
    if (!cg->f->fail) {
        cg->f->fail = cg_block(cg, "fail");
        cg->f->status = cg_alloca(cg, cg->i32, "status");
    }
    return cg->f->fail;
}

void cg_fail_block(Cg *cg) {
    if (!cg->f->fail) return;
    cg_at(cg, cg->f->fail);
    Value status = LLVMBuildLoad2(cg->b, cg->i32, cg->f->status, "");
    build_return(cg, status, NULL);
}

/* -- phis ------------------------------------------------------------------------------------- */

static void open_phis(Cg *cg, int32_t b) {
    const Block *block = &cg->f->ir->blocks.items[b];
    for (int32_t k = 0; k < block->insts.len; k++) {
        Ref ref = block->insts.items[k];
        if (ir_inst(cg->f->ir, ref)->op != OP_phi) continue;
        const Type *type = cg_type(cg, ref);
        int32_t n = cg_leaf_count(cg, type);
        LType *types = arena_array(cg->arena, LType, n + 1);
        Value *leaves = cg_new_leaves(cg, type);
        cg_leaf_types(cg, type, types);
        for (int32_t i = 0; i < n; i++)
            leaves[i] = LLVMBuildPhi(cg->b, types[i], "");
        cg_set(cg, ref, leaves);
    }
    for (int32_t k = 0; k < block->insts.len; k++) {
        Ref ref = block->insts.items[k];
        if (ir_inst(cg->f->ir, ref)->op == OP_phi) cg_tuple_made(cg, ref);
    }
}

/* Successor in `slot` of a block: the targets of its terminator, then the error successor. */
static int32_t successor(const CgFunc *f, int32_t b, int slot) {
    const Block *block = &f->ir->blocks.items[b];
    int32_t n = block->insts.len;
    if (n == 0) return NO_BLOCK;
    const Inst *last = ir_inst(f->ir, vec_last(&block->insts));
    if (slot == 2) return n > 1 ? ir_inst(f->ir, block->insts.items[n - 2])->error : NO_BLOCK;
    if (last->op == OP_branch || (last->op == OP_jump && slot == 0)) return last->target[slot];
    return slot == 0 ? last->error : NO_BLOCK; /* a raise is its own terminator */
}

/* The LLVM block that makes the `occurrence`-th jump from `from` to `to`; NULL: there is none. */
static BB edge_block(const CgFunc *f, int32_t from, int32_t to, int occurrence) {
    for (int slot = 0; slot < CG_SLOTS; slot++)
        if (successor(f, from, slot) == to && occurrence-- == 0)
            return f->edges[from * CG_SLOTS + slot];
    return NULL;
}

static void fill_phi(Cg *cg, int32_t b, Ref ref) {
    CgFunc *f = cg->f;
    const Block *block = &f->ir->blocks.items[b];
    int32_t n = cg_leaf_count(cg, cg_type(cg, ref));
    Value *phi = cg_leaves(cg, ref);
    for (int32_t k = 0; k < block->preds.len; k++) {
        int32_t from = block->preds.items[k];
        if (f->cfg.rpo_number[from] < 0) continue;
        int occurrence = 0;
        for (int32_t j = 0; j < k; j++)
            occurrence += block->preds.items[j] == from;
        BB made = edge_block(f, from, b, occurrence);
        if (!made || !n) continue; /* an edge of something that cannot fail here */
        Value *in = cg_leaves(cg, ir_arg(f->ir, ref, k));
        for (int32_t i = 0; i < n; i++)
            LLVMAddIncoming(phi[i], &in[i], &made, 1);
    }
}

static void each_phi(Cg *cg, void (*act)(Cg *, int32_t, Ref)) {
    for (int32_t i = 0; i < cg->f->cfg.nrpo; i++) {
        int32_t b = cg->f->cfg.rpo[i];
        const Block *block = &cg->f->ir->blocks.items[b];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (ir_inst(cg->f->ir, block->insts.items[k])->op == OP_phi)
                act(cg, b, block->insts.items[k]);
    }
}

/* Phis of blocks that nothing reaches any more. */
static void drop_empty_phi(Cg *cg, int32_t b, Ref ref) {
    (void)b;
    Value *phi = cg_leaves(cg, ref);
    int32_t n = cg_leaf_count(cg, cg_type(cg, ref));
    for (int32_t i = 0; i < n; i++) {
        if (LLVMCountIncoming(phi[i])) continue;
        LLVMReplaceAllUsesWith(phi[i], LLVMGetPoison(LLVMTypeOf(phi[i])));
        LLVMInstructionEraseFromParent(phi[i]);
    }
}

/* -- functions -------------------------------------------------------------------------------- */

static void open_params(Cg *cg) {
    CgFunc *f = cg->f;
    unsigned n = 0;
    if (f->sig->raises) f->ctx = LLVMGetParam(f->sig->fn, n++);
    if (f->sig->polls) f->budget = LLVMGetParam(f->sig->fn, n++);
    if (cg->nunits && f->sig->raises) f->bases = LLVMGetParam(f->sig->fn, n++);
    for (int i = 0; f->sig->item && i < ITEM_COUNT; i++)
        f->item[i] = LLVMGetParam(f->sig->fn, n++);
    f->given = f->sig->given ? LLVMGetParam(f->sig->fn, n++) : NULL;
    Value *given = f->given ? pick_up(cg, f->sig, f->given) : NULL;
    Value **params = arena_array(cg->arena, Value *, f->ir->nparams + 1);
    for (int32_t i = 0; i < f->ir->nparams; i++) {
        int32_t count = cg_leaf_count(cg, f->ir->param_types[i]);
        params[i] = given ? given : arena_array(cg->arena, Value, count + 1);
        if (given) given += count;
        for (int32_t k = 0; k < count && !given; k++)
            params[i][k] = LLVMGetParam(f->sig->fn, n++);
    }
    if (f->sig->memory) f->result = LLVMGetParam(f->sig->fn, n++);
    for (Ref r = 1; r < f->ir->insts.len; r++) {
        const Inst *inst = ir_inst(f->ir, r);
        if (inst->op == OP_param) cg_set(cg, r, params[inst->imm]);
    }
}

static void lower_block(Cg *cg, int32_t b) {
    CgFunc *f = cg->f;
    cg_at(cg, f->heads[b]);
    f->block = b;
    open_phis(cg, b);
    const Block *block = &f->ir->blocks.items[b];
    for (int32_t k = 0; k < block->insts.len && !cg->failed; k++) {
        f->ref = block->insts.items[k];
        f->landing = NULL;
        cg_lines_at(cg, f->ref);
        cg_inst(cg, f->ref);
        if (ir_inst(f->ir, f->ref)->op != OP_phi) cg_tuple_made(cg, f->ref);
    }
    f->ref = NO_REF;
}

static bool draws(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        Str name = inst->op == OP_lib ? *inst->u.name : STR("");
        if (str_equal(name, STR("primitive.next_double")) ||
            str_equal(name, STR("primitive.next_uint64")) ||
            str_equal(name, STR("primitive.next_uint32")))
            return true;
    }
    return false;
}

static void lower_function(Cg *cg, const CgSig *sig) {
    CgFunc f = {.ir = sig->ir, .sig = sig, .draws = draws(sig->ir)};
    int32_t nblocks = sig->ir->blocks.len;
    cg->f = &f;
    f.leaves = arena_array(cg->arena, Value *, sig->ir->insts.len);
    f.heads = arena_array(cg->arena, BB, nblocks);
    f.edges = arena_array(cg->arena, BB, nblocks * CG_SLOTS);
    cfg_compute(&f.cfg, cg->arena, sig->ir);
    f.entry = LLVMAppendBasicBlockInContext(cg->context, sig->fn, "entry");
    for (int32_t i = 0; i < f.cfg.nrpo; i++) {
        int32_t b = f.cfg.rpo[i];
        char name[24];
        snprintf(name, sizeof name, "b%d", (int)b);
        f.heads[b] = LLVMAppendBasicBlockInContext(cg->context, sig->fn, name);
    }
    cg_lines_function(cg, sig);
    cg_at(cg, f.entry);
    open_params(cg);
    cg_tuples_begin(cg);
    cg_apart_begin(cg);
    BB first = sig->recursive ? cg_block(cg, "stack") : f.heads[0];
    LLVMBuildBr(cg->b, first);
    if (sig->recursive) {
        cg_at(cg, first);
        cg_stack_check(cg);
        LLVMBuildBr(cg->b, f.heads[0]);
    }
    for (int32_t i = 0; i < f.cfg.nrpo && !cg->failed; i++)
        lower_block(cg, f.cfg.rpo[i]);
    if (!cg->failed) {
        each_phi(cg, fill_phi);
        each_phi(cg, drop_empty_phi);
        cg_fail_block(cg);
    }
    cg_lines_leave(cg);
    cg->f = NULL;
}

void cg_declared(Cg *cg, const CgSig *sig, Value fn) {
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    if (!cg->target->is_host) /* may contain a barrier; LLVM takes it back where not */
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "convergent", 0);
    if (sig->raises) {
        cg_attribute(cg, fn, 1, "noalias", 0); /* the context is nobody's array */
        if (!cg->target->record) cg_attribute(cg, fn, 1, "nonnull", 0);
    }
    if (sig->polls) { /* so that loops may keep it in a register */
        cg_attribute(cg, fn, 2, "noalias", 0);
        cg_attribute(cg, fn, 2, "nocapture", 0);
    }
    if (sig->keeps &&
        !cg->keeps_arrays) { /* parameters of the arrays come last, the work-item's before them */
        unsigned self = 1 + (unsigned)sig->raises + (unsigned)sig->polls + ITEM_SELF;
        cg_attribute(cg, fn, self, "noalias", 0);
        cg_attribute(cg, fn, self, "nocapture", 0);
    }
    if (sig->given) {
        bool bases = cg->nunits && sig->raises;
        unsigned at =
            1 + (unsigned)sig->raises + (unsigned)sig->polls + bases + (sig->item ? ITEM_COUNT : 0);
        cg_attribute(cg, fn, at, "noalias", 0);
        cg_attribute(cg, fn, at, "readonly", 0);
        cg_attribute(cg, fn, at, "nocapture", 0);
    }
    if (cg->nunits && sig->raises) {
        unsigned bases = sig->polls ? 3 : 2;
        cg_attribute(cg, fn, bases, "noalias", 0);
        cg_attribute(cg, fn, bases, "readonly", 0);
        cg_attribute(cg, fn, bases, "nocapture", 0);
    }
}

/* An instance has names that do not depend on where it is called. */
static Str name_of(Cg *cg, const CgSig *sig, int32_t position) {
    if (cg->root == sig) return str_from(cg_entry_name(cg));
    if (cg->root) return str_printf(cg->arena, "f.%d", (int)position);
    return str_printf(cg->arena, "f." STR_FMT, STR_ARG(sig->ir->name));
}

static void declare(Cg *cg, CgSig *sig, int32_t position) {
    sig->fn = LLVMAddFunction(cg->mod, name_of(cg, sig, position).bytes, sig->type);
    bool root = cg->root == sig && !cg->in_lazy;
    LLVMSetLinkage(sig->fn, root ? LLVMExternalLinkage : LLVMInternalLinkage);
    if (root) LLVMSetVisibility(sig->fn, LLVMHiddenVisibility);
    cg_declared(cg, sig, sig->fn);
}

bool cg_lower_bodies(Cg *cg, bool lazy) {
    int32_t n = lazy ? cg->cold_walk.len : cg->walk.len;
    const int32_t *walk = lazy ? cg->cold_walk.items : cg->walk.items;
    cg->in_lazy = lazy;
    for (int32_t i = 0; i < n; i++)
        declare(cg, &cg->sigs[walk[i]], i);
    for (int32_t i = 0; i < n && !cg->failed; i++) {
        const CgSig *sig = &cg->sigs[walk[i]];
        if (sig->stub && !lazy)
            cg_lazy_stub(cg, sig);
        else
            lower_function(cg, sig);
    }
    return !cg->failed;
}

bool cg_functions(Cg *cg) {
    cg_plan(cg);
    return cg_units(cg) && cg_lower_bodies(cg, false);
}
