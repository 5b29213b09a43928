/* cg_plan.c - what each function takes and gives, decided before any of them is lowered.
 *
 * A function that cannot raise has no context parameter and no status, one that does not ask for its
 * coordinates has no coordinates: both facts flow up the call graph until nothing changes. */
#include "codegen/llvm/cg.h"

CgSig *cg_sig(Cg *cg, const Func *func) {
    MapValue *index = map_find(&cg->sig_index, map_key(func));
    return index ? &cg->sigs[index->num] : NULL;
}

/* Does a work-item wait here for others, as a coroutine? */
static bool suspends(Cg *cg, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (!cg->target->is_host || cg->options->entry != ENTRY_KERNEL) return false;
    if (inst->op == OP_call) {
        const CgSig *callee = cg_sig(cg, inst->u.func);
        return callee && callee->suspends;
    }
    const LibRow *row = inst->op == OP_lib ? cg_lib_row(func, ref) : NULL;
    return row && row->flags & LIB_SHARED_CALL;
}

static bool calls_items(const Inst *inst) {
    return inst->op == OP_call && inst->sub == FLAG_ITEMS;
}

bool cg_inst_raises(Cg *cg, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (!cg->raises) return false;
    switch ((int)inst->op) {
    case OP_call: {
        const CgSig *callee = cg_sig(cg, inst->u.func);
        return calls_items(inst) || (callee && callee->raises);
    }
    case OP_poll: return cg->target->is_host;
    case OP_release: return cg_drops_frame(cg, func, ref); /* what that closes needs the context */
    case OP_pending:
    case OP_chunks: /* asks the context */
    case OP_parallel:
    case OP_check_index:
    case OP_alloc:
    case OP_new:
    case OP_grow:
    case OP_own:
    case OP_guard:
    case OP_raise:
    case OP_exception:
    case OP_caught: /* takes it out of the context */
    case OP_cause:
    case OP_reraise:
    case OP_propagate: return true;
    case OP_lib: {
        const LibRow *row = cg_lib_row(func, ref);
        if (row && (row->flags & LIB_CONTEXT)) return true;
        return cg->owns && suspends(cg, func, ref); /* when its block is given up */
    }
    default: return false;
    }
}

static bool keeps(const Inst *inst) {
    return inst->op == OP_kept || inst->op == OP_keep || inst->op == OP_kept_array ||
           inst->op == OP_kept_count || inst->op == OP_kept_lane || inst->op == OP_kept_vote;
}

/* Does the instruction itself need the coordinates of the work-item or the block's memory? */
static bool wants_item(Cg *cg, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op == OP_call) {
        const CgSig *callee = cg_sig(cg, inst->u.func);
        return inst->sub == FLAG_ITEMS || (callee && callee->item);
    }
    if (keeps(inst)) return true;
    if (inst->op == OP_dynamic_shared) return true;
    if (inst->op == OP_static_array) return inst->type->space == SPACE_SHARED;
    if (inst->op != OP_lib) return false;
    const LibRow *row = cg_lib_row(func, ref);
    return row && row->flags & LIB_GPU_ONLY;
}

static bool counts_down(Cg *cg, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op == OP_poll || calls_items(inst)) return cg_inst_raises(cg, func, ref);
    const CgSig *callee = inst->op == OP_call ? cg_sig(cg, inst->u.func) : NULL;
    return callee && callee->polls;
}

static bool scan(Cg *cg, CgSig *sig) {
    const Func *func = sig->ir;
    bool raises = sig->raises, item = sig->item, waits = sig->suspends, polls = sig->polls;
    bool items_passed = cg->target->is_host && cg->options->entry == ENTRY_KERNEL;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t k = 0; !block->removed && k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            raises = raises || cg_inst_raises(cg, func, ref);
            polls = polls || counts_down(cg, func, ref);
            item = item || (items_passed && wants_item(cg, func, ref));
            waits = waits || suspends(cg, func, ref);
            sig->block = sig->block || calls_items(ir_inst(func, ref));
            sig->keeps = sig->keeps || keeps(ir_inst(func, ref));
        }
    }
    bool changed =
        raises != sig->raises || item != sig->item || waits != sig->suspends || polls != sig->polls;
    sig->raises = raises;
    sig->polls = polls;
    sig->item = item;
    sig->suspends = waits;
    return changed;
}

/* reach[i]: functions that i may call, directly or not. false: there is none. */
static bool mark_calls(Cg *cg, int32_t i, Bits *direct) {
    const Func *func = cg->ir->funcs.items[i];
    bool any = false;
    for (int32_t r = 1; !func->skipped && r < func->insts.len; r++) {
        const Inst *inst = &func->insts.items[r];
        if (!cg_refers(inst)) continue;
        MapValue *callee = map_find(&cg->sig_index, map_key(inst->u.func));
        if (callee) bits_set(direct, (int32_t)callee->num), any = true;
    }
    return any;
}

/* The other function that the entry calls; 0: there is none but the first. */
static int32_t resume_index(Cg *cg) {
    return cg->ir->resume ? (int32_t)map_find(&cg->sig_index, map_key(cg->ir->resume))->num : 0;
}

static void close_calls(Cg *cg) {
    int32_t n = cg->ir->funcs.len;
    Bits *reach = arena_array(cg->arena, Bits, n);
    int32_t *calling = arena_array(cg->arena, int32_t, n + 1),
            ncalling = 0; /* most of a library call nobody */
    for (int32_t i = 0; i < n; i++) {
        reach[i] = bits_new(cg->arena, n);
        if (mark_calls(cg, i, &reach[i])) calling[ncalling++] = i;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t a = 0; a < ncalling; a++)
            for (int32_t b = 0; b < ncalling; b++)
                if (bits_get(&reach[calling[a]], calling[b]))
                    changed |= bits_or(&reach[calling[a]], &reach[calling[b]]);
    }
    int32_t resume = resume_index(cg);
    for (int32_t i = 0; i < n; i++) {
        cg->sigs[i].reachable =
            i == 0 || i == resume || bits_get(&reach[0], i) || bits_get(&reach[resume], i);
        cg->sigs[i].recursive = bits_get(&reach[i], i);
        for (int32_t k = 0, j; k < ncalling && !cg->sigs[i].mutual; k++)
            cg->sigs[i].mutual =
                (j = calling[k]) != i && bits_get(&reach[i], j) && bits_get(&reach[j], i);
        /* the stack check of a recursive function raises */
        if (cg->sigs[i].recursive && cg->raises && cg->target->is_host) cg->sigs[i].raises = true;
    }
}

/* LLVM's time for a call grows with the square of its arguments, and of the parts of its result. Many arguments in memory make a
 * large function (emit.c), which is optimised less, but for tuples whose items lie there as they did before: each is given whole. */
enum { MOST_RESULTS = 64, MOST_GIVEN = 1000, MOST_ITEMS = 32 };

/* The leaves of the parameters behind the n that are there: how many there are then. */
static int32_t given_types(Cg *cg, CgSig *sig, LType *params, int32_t n) {
    const Func *func = sig->ir;
    int32_t first = n, dense = 0;
    for (int32_t i = 0; i < func->nparams; i++) {
        int32_t leaves = cg_leaf_types(cg, func->param_types[i], params + n);
        if (leaves > MOST_ITEMS && cg_lies_dense(cg, func->param_types[i])) dense += leaves;
        n += leaves;
    }
    sig->nargs = n - first;
    sig->large = sig->nargs - dense > MOST_GIVEN;
    /* What the entry alone calls is a part of it, unless the function is large for other reasons. */
    bool called = sig != &cg->sigs[0] || sig->recursive || sig->nresult > MOST_GIVEN;
    if (!dense && !(sig->large && called)) return n;
    if (!cg->target->is_host) return n;
    sig->given = LLVMStructTypeInContext(cg->context, params + first, (unsigned)sig->nargs, false);
    params[first] = cg->ptr[0];
    return first + 1;
}

static void make_type(Cg *cg, CgSig *sig) {
    const Func *func = sig->ir;
    int32_t n = ITEM_COUNT + 3, nresult = cg_leaf_count(cg, func->result);
    for (int32_t i = 0; i < func->nparams; i++)
        n += cg_leaf_count(cg, func->param_types[i]);
    LType *params = arena_array(cg->arena, LType, n);
    LType *results = arena_array(cg->arena, LType, nresult + 1);
    n = 0;
    sig->nresult = nresult;
    if (sig->raises) params[n++] = cg->ptr[0];
    if (sig->polls) params[n++] = cg->ptr[0];
    if (cg->nunits && sig->raises) params[n++] = cg->ptr[0];
    for (int i = 0; sig->item && i < ITEM_COUNT; i++)
        params[n++] = i == ITEM_SHARED || i == ITEM_SELF ? cg->ptr[0] : cg->i32;
    n = given_types(cg, sig, params, n);
    int32_t parts = 0;
    if (sig->raises) results[parts++] = cg->i32;
    bool memory = nresult > MOST_RESULTS && cg->target->is_host;
    cg_leaf_types(cg, func->result, results + parts);
    if (memory) {
        sig->memory =
            LLVMStructTypeInContext(cg->context, results + parts, (unsigned)nresult, false);
        params[n++] = cg->ptr[0];
    } else {
        parts += nresult;
    }
    LType result = parts == 0 ? cg->void_
                   : parts == 1
                       ? results[0]
                       : LLVMStructTypeInContext(cg->context, results, (unsigned)parts, false);
    sig->type = LLVMFunctionType(result, params, (unsigned)n, false);
}

static bool counts_references(const Cg *cg) {
    for (int32_t i = 0; i < cg->ir->funcs.len; i++)
        for (Ref r = 1; r < cg->ir->funcs.items[i]->insts.len; r++)
            if (ir_inst(cg->ir->funcs.items[i], r)->op == OP_release) return true;
    return false;
}

static void visit(Cg *cg, int32_t i, bool cold) {
    CgSig *sig = &cg->sigs[i];
    if (!cold && sig->unit && sig != cg->root) return; /* not of this module */
    bool *seen = cold ? &sig->cold : sig->lazy ? &sig->stub : &sig->hot;
    if (*seen) return;
    *seen = true;
    vec_push(cg->arena, cold ? &cg->cold_walk : &cg->walk, i);
    if (sig->lazy && !cold) return;
    for (Ref r = 1; r < sig->ir->insts.len; r++) {
        const Inst *inst = ir_inst(sig->ir, r);
        bool calls = cg_refers(inst);
        MapValue *callee = calls ? map_find(&cg->sig_index, map_key(inst->u.func)) : NULL;
        if (callee) visit(cg, (int32_t)callee->num, cold);
    }
}

/* The main module keeps the order of the functions, an instance that in which its root comes to them: it must not depend on
 * where else they are called. */
static void sort_walks(Cg *cg) {
    cg->walk.len = cg->cold_walk.len = 0;
    for (int32_t i = 0; i < cg->ir->funcs.len; i++) {
        if (cg->sigs[i].hot || cg->sigs[i].stub) vec_push(cg->arena, &cg->walk, i);
        if (cg->sigs[i].cold) vec_push(cg->arena, &cg->cold_walk, i);
    }
}

void cg_find_sides(Cg *cg) {
    for (int32_t i = 0; i < cg->ir->funcs.len; i++)
        cg->sigs[i].hot = cg->sigs[i].cold = cg->sigs[i].stub = false;
    cg->nlazy = cg->walk.len = cg->cold_walk.len = 0;
    visit(cg, cg->root ? (int32_t)(cg->root - cg->sigs) : 0, false);
    if (!cg->root) visit(cg, resume_index(cg), false);
    for (int32_t k = 0; k < cg->walk.len; k++)
        if (cg->sigs[cg->walk.items[k]].stub) visit(cg, cg->walk.items[k], true);
    if (!cg->root) sort_walks(cg);
    for (int32_t k = 0; k < cg->walk.len; k++)
        if (cg->sigs[cg->walk.items[k]].stub) cg->sigs[cg->walk.items[k]].slot = cg->nlazy++;
}

void cg_plan(Cg *cg) {
    int32_t n = cg->ir->funcs.len;
    cg->sigs = arena_array(cg->arena, CgSig, n);
    for (int32_t i = 0; i < n; i++) {
        cg->sigs[i].ir = cg->ir->funcs.items[i];
        map_put(&cg->sig_index, map_key(cg->sigs[i].ir))->num = i;
        if (cg->sigs[i].ir->made) cg_use_memo(&cg->sigs[i]);
    }
    close_calls(cg);
    cg->owns = counts_references(cg);
    cg->closes = cg_finds_closing(cg);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < n; i++)
            changed |= !cg->sigs[i].ir->skipped && scan(cg, &cg->sigs[i]);
    }
    for (int32_t i = 0; i < n; i++) {
        CgSig *sig = &cg->sigs[i];
        if (sig->reachable) sig->lazy = cg_is_lazy(cg, sig);
    }
    cg_choose_units(cg);
    for (int32_t i = 0; i < n; i++)
        if (cg->sigs[i].reachable) make_type(cg, &cg->sigs[i]);
}
