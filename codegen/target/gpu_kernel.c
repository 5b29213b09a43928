/* gpu_kernel.c - what kernels of all GPUs have in common: one parameter for each leaf that the code uses, placed in
 * one buffer as the driver copies it; shared memory; the mailbox of exceptions. */
#include "codegen/target/gpu_kernel.h"

/* -- exceptions ------------------------------------------------------------------------------- */

bool gpu_raises(const CompileOptions *options) {
    return options->infer.debug || !options->infer.no_boundscheck;
}

Value gpu_zeroed_global(Cg *cg, const char *name, LType type, unsigned align) {
    Value global = LLVMGetNamedGlobal(cg->mod, name);
    if (global) return global;
    global = LLVMAddGlobalInAddressSpace(cg->mod, type, name, cg_space(cg, SPACE_GLOBAL));
    LLVMSetInitializer(global, LLVMConstNull(type));
    LLVMSetAlignment(global, align);
    LLVMSetVisibility(global, LLVMProtectedVisibility); /* the kernel finds it without a table */
    return global;
}

static Value mailbox(Cg *cg) {
    return gpu_zeroed_global(cg, KERNEL_MAILBOX_NAME, LLVMArrayType2(cg->i8, sizeof(KernelMailbox)),
                             8);
}

static void fill(Cg *cg, size_t offset, Value value) {
    Value index = cg_int(cg->i64, (int64_t)offset);
    LLVMBuildStore(cg->b, value, LLVMBuildInBoundsGEP2(cg->b, cg->i8, mailbox(cg), &index, 1, ""));
}

/* Into the mailbox, by the first thread that fails. Every thread goes on: see cg_raise.c. */
void gpu_record(Cg *cg, int32_t exception, int32_t site, const TgValue *args, int nargs) {
    BB first = cg_block(cg, "first"), told = cg_block(cg, "told");
    Value old = LLVMBuildAtomicRMW(cg->b, LLVMAtomicRMWBinOpXchg, mailbox(cg), cg_int(cg->i32, 1),
                                   LLVMAtomicOrderingMonotonic, false);
    Value mine = LLVMBuildICmp(cg->b, LLVMIntEQ, old, cg_int(cg->i32, 0), "");
    LLVMBuildCondBr(cg->b, mine, first, told);
    cg_at(cg, first);
    fill(cg, offsetof(KernelMailbox, exception), cg_int(cg->i32, exception));
    fill(cg, offsetof(KernelMailbox, site), cg_int(cg->i32, site));
    for (int axis = 0; axis < 3; axis++) {
        fill(cg, offsetof(KernelMailbox, block) + 4 * (size_t)axis,
             cg->target->grid(cg, GRID_BLOCK, axis));
        fill(cg, offsetof(KernelMailbox, thread) + 4 * (size_t)axis,
             cg->target->grid(cg, GRID_THREAD, axis));
    }
    for (int i = 0; i < nargs; i++)
        fill(cg, offsetof(KernelMailbox, args) + 8 * (size_t)i, args[i]);
    LLVMBuildBr(cg->b, told);
    cg_at(cg, told);
}

/* -- the grid --------------------------------------------------------------------------------- */

static Value any_axis(Cg *cg, GridValue which) {
    Value id = cg->target->grid(cg, which, 0);
    for (int axis = 1; axis < 3; axis++)
        id = LLVMBuildOr(cg->b, id, cg->target->grid(cg, which, axis), "");
    return id;
}

static Value blocks_of_grid(Cg *cg) {
    Value n = cg->target->grid(cg, GRID_GRID_DIM, 0);
    for (int axis = 1; axis < 3; axis++)
        n = LLVMBuildMul(cg->b, n, cg->target->grid(cg, GRID_GRID_DIM, axis), "");
    return n;
}

/* Waits until the top bit is not that of `old` any more. */
static void wait_for_flip(Cg *cg, Value counter, Value old) {
    BB again = cg_block(cg, "again"), all = cg_block(cg, "all");
    LLVMBuildBr(cg->b, again);
    cg_at(cg, again);
    Value now = LLVMBuildLoad2(cg->b, cg->i32, counter, "");
    LLVMSetOrdering(now, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(now, 4);
    Value same =
        LLVMBuildICmp(cg->b, LLVMIntSGE, LLVMBuildXor(cg->b, now, old, ""), cg_int(cg->i32, 0), "");
    LLVMBuildCondBr(cg->b, same, again, all);
    cg_at(cg, all);
}

/* One thread of each block counts it, the first block with what is missing to 2^31: the top bit flips when all
 * have come, and the number below it is what it was. */
bool gpu_grid_barrier(Cg *cg, struct LibCall *call) {
    BB count = cg_block(cg, "count"), wait = cg_block(cg, "counted");
    Value counter = gpu_zeroed_global(cg, KERNEL_GRID_NAME, cg->i32, 4), none = cg_int(cg->i32, 0);
    cg->target->generate(cg, GEN_barrier, call);
    Value one = LLVMBuildICmp(cg->b, LLVMIntEQ, any_axis(cg, GRID_THREAD), none, "");
    LLVMBuildCondBr(cg->b, one, count, wait);
    cg_at(cg, count);
    cg->target->generate(cg, GEN_fence_device, call);
    Value first = LLVMBuildICmp(cg->b, LLVMIntEQ, any_axis(cg, GRID_BLOCK), none, "");
    Value rest =
        LLVMBuildSub(cg->b, cg_int(cg->i32, (int64_t)1 + INT32_MIN), blocks_of_grid(cg), "");
    Value step = LLVMBuildSelect(cg->b, first, rest, cg_int(cg->i32, 1), "");
    Value old = LLVMBuildAtomicRMW(cg->b, LLVMAtomicRMWBinOpAdd, counter, step,
                                   LLVMAtomicOrderingMonotonic, false);
    wait_for_flip(cg, counter, old);
    cg->target->generate(cg, GEN_fence_device, call);
    LLVMBuildBr(cg->b, wait);
    cg_at(cg, wait);
    cg->target->generate(cg, GEN_barrier, call);
    return true;
}

/* -- shared memory ---------------------------------------------------------------------------- */

/* Whole words: where a chip has no atomic operation on 8 or 16 bits, a loop exchanges the word that they lie in. */
TgValue gpu_shared_static(Cg *cg, int64_t bytes, int64_t align) {
    enum { WORD = 4 };
    bytes = (bytes + WORD - 1) / WORD * WORD;
    align = QN_MAX(align, WORD);
    LType type = LLVMArrayType2(cg->i8, (uint64_t)bytes);
    Value global = LLVMAddGlobalInAddressSpace(cg->mod, type, "shared", cg_space(cg, SPACE_SHARED));
    LLVMSetInitializer(global, LLVMGetUndef(type));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, (unsigned)align);
    cg->shared_bytes = (int32_t)((cg->shared_bytes + align - 1) / align * align + bytes);
    return global;
}

bool gpu_shared_fits(Cg *cg, int32_t most, const char *remedy) {
    if (cg->shared_bytes <= most) return true;
    diag_add(cg->diags, E0604, NULL, (int)cg->shared_bytes, cg->options->arch, (int)most);
    diag_note(cg->diags, NULL, "%s", remedy);
    cg->failed = true;
    return false;
}

TgValue gpu_shared_dynamic(Cg *cg) {
    Value global = LLVMGetNamedGlobal(cg->mod, "quern_dynamic_shared");
    if (!global) {
        global = LLVMAddGlobalInAddressSpace(cg->mod, LLVMArrayType2(cg->i8, 0),
                                             "quern_dynamic_shared", cg_space(cg, SPACE_SHARED));
        LLVMSetLinkage(global, LLVMExternalLinkage);
        LLVMSetAlignment(global, 16);
    }
    return global;
}

/* -- kernels ---------------------------------------------------------------------------------- */

typedef struct Params {
    Cg *cg;
    Vec(LType) types;
    Vec(int32_t) in_order; /* arrays whose elements are */
} Params;

/* What every GPU and driver takes: 32,764 bytes need PTX 8.1, and HIP takes no more. */
enum { MAX_PARAM_BYTES = 4096 };

static void add_param(Params *p, int32_t arg, int64_t source, LType type, bool pointer) {
    Cg *cg = p->cg;
    int64_t size = (int64_t)LLVMABISizeOfType(cg->layout, type);
    int64_t offset = (cg->param_bytes + size - 1) / size * size;
    KernelParam param = {.arg = (uint16_t)arg,
                         .size = (uint16_t)size,
                         .source = (uint32_t)source,
                         .offset = (uint32_t)offset,
                         .pointer = pointer};
    vec_push(cg->arena, &cg->kernel_params, param);
    cg->param_bytes = (int32_t)(offset + size);
    vec_push(cg->arena, &p->types, type);
}

/* Is the address of this argument all that is passed of it? */
static bool is_pointer(const Cg *cg, int32_t arg) {
    return arg < 64 && cg->options->pointers >> arg & 1;
}

/* The fast variant is launched for lengths that fit (FAST_LIMIT): the low half of each is passed, or else LLVM has to prove again and
 * again what an int64 that is cut and extended comes to. */
static bool lengths_are_short(const Cg *cg) {
    return cg->options->entry == ENTRY_KERNEL && !cg->options->general_variant &&
           !cg->options->all_params;
}

/* One kernel parameter for each leaf of a value that lies `source` bytes into host argument `arg`. */
static void add_value(Params *p, int32_t arg, int64_t source, const Type *type) {
    Cg *cg = p->cg;
    if (type->kind == TY_none) return;
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++)
            add_value(p, arg, source + type_offset(type, i), type->items[i]);
    } else if (type->kind == TY_ARRAY) {
        int n = is_pointer(cg, arg) ? 0 : type->ndim * (type->layout == LAYOUT_A ? 2 : 1);
        if (type->layout != LAYOUT_A && !is_pointer(cg, arg))
            vec_push(cg->arena, &p->in_order, p->types.len);
        add_param(p, arg, source, cg->ptr[cg_space(cg, (Space)type->space)], true);
        for (int k = 0; k < n; k++)
            add_param(p, arg, source + 16 + 8 * k,
                      k < type->ndim && lengths_are_short(cg) ? cg->i32 : cg->i64, false);
    } else {
        LType t = cg_memory_type(cg, type_strong_kind(type->kind));
        add_param(p, arg, source, t, false);
        if (type_is_complex(type)) add_param(p, arg, source + type_size(type) / 2, t, false);
    }
}

/* An identifier that still shows the user's name. */
static const char *kernel_name(Cg *cg) {
    if (cg->options->name) return cg->options->name;
    Str name = cg->ir->funcs.items[0]->user_name;
    if (!name.len) name = cg->ir->funcs.items[0]->name;
    char *text = (char *)str_printf(cg->arena, "quern_" STR_FMT, STR_ARG(name)).bytes;
    for (char *c = text; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')))
            *c = '_';
    return text;
}

/* In the fast variant no written array overlaps another: the launch has tested it. */
static void mark_pointers(Cg *cg, const Params *params, Value fn) {
    LLVMAttributeRef in_order =
        LLVMCreateStringAttribute(cg->context, GPU_IN_ORDER, sizeof GPU_IN_ORDER - 1, "", 0);
    for (int32_t i = 0; i < params->in_order.len; i++)
        LLVMAddAttributeAtIndex(fn, (unsigned)params->in_order.items[i] + 1, in_order);
    for (int32_t i = 0, array = 0; i < cg->kernel_params.len; i++) {
        const KernelParam *p = &cg->kernel_params.items[i];
        unsigned index = (unsigned)i + 1;
        if (!p->pointer) continue;
        if (!cg->options->general_variant) cg_attribute(cg, fn, index, "noalias", 0);
        if (!(cg->usage[array++] & ARG_WRITTEN)) cg_attribute(cg, fn, index, "readonly", 0);
    }
}

static LType function_of(Cg *cg, const Params *p) {
    return LLVMFunctionType(cg->void_, p->types.items, (unsigned)p->types.len, false);
}

static Value kernel_function(Cg *cg, Params *p, unsigned convention) {
    const Func *func = cg->ir->funcs.items[0];
    for (int32_t i = 0; i < func->nparams; i++)
        add_value(p, i, 0, func->param_types[i]);
    cg->entry_name = kernel_name(cg);
    Value fn = cg_entry_function(cg, function_of(cg, p));
    LLVMSetFunctionCallConv(fn, convention);
    mark_pointers(cg, p, fn);
    return fn;
}

/* The length of what a pointer leads to. */
static Value no_end(Cg *cg, const Type *array) {
    return cg_int(cg->i64, INT64_MAX / type_size(array->element));
}

/* The array parameter that `param` has the shape of: the first of those that are marked (FLAG_ALIKE); -1: its own. */
static int32_t shaped_like(const Func *func, int32_t param) {
    const Type *type = func->param_types[param];
    int32_t first = INT32_MAX;
    bool marked = false;
    for (int32_t k = 0; k < func->blocks.items[0].insts.len; k++) {
        const Inst *inst = ir_inst(func, func->blocks.items[0].insts.items[k]);
        if (inst->op != OP_param || !(inst->sub & FLAG_ALIKE) || inst->type->kind != TY_ARRAY ||
            inst->type->ndim != type->ndim || inst->type->layout != type->layout)
            continue;
        marked |= inst->imm == param;
        first = QN_MIN(first, (int32_t)inst->imm);
    }
    return marked && first < param ? first : -1;
}

/* Leaves of the entry's parameters from the kernel's behind the first `skip`: bools travel as bytes. */
static Value *kernel_leaves(Cg *cg, Value fn, int32_t skip) {
    const Func *func = cg->ir->funcs.items[0];
    int32_t n = cg->kernel_params.len, at = 0, param = skip;
    LType *wanted = arena_array(cg->arena, LType, n + func->nparams + 1);
    Value *leaves = arena_array(cg->arena, Value, n + func->nparams + 1);
    int32_t *starts = arena_array(cg->arena, int32_t, func->nparams + 1);
    for (int32_t i = 0; i < func->nparams; i++) {
        const Type *type = func->param_types[i];
        int32_t end = at + cg_leaf_types(cg, type, wanted + at), other = shaped_like(func, i);
        starts[i] = at;
        for (bool first = true; at < end; at++, first = false) {
            leaves[at] = is_pointer(cg, i) && !first ? no_end(cg, type)
                                                     : LLVMGetParam(fn, (unsigned)param++);
            if (wanted[at] == cg->i64 && LLVMTypeOf(leaves[at]) == cg->i32) {
                leaves[at] = LLVMBuildZExt(cg->b, leaves[at], cg->i64, "");
                LLVMSetNNeg(leaves[at], true);
            }
            if (wanted[at] == cg->i1)
                leaves[at] = LLVMBuildICmp(cg->b, LLVMIntNE, leaves[at], cg_int(cg->i8, 0), "");
            if (other >= 0 && !first) leaves[at] = leaves[starts[other] + at - starts[i]];
        }
    }
    return leaves;
}

Value gpu_kernel(Cg *cg, unsigned convention) {
    Params params = {.cg = cg};
    if (cg->options->entry != ENTRY_KERNEL) {
        cg_error(cg, "this kind of entry on a GPU");
        return NULL;
    }
    Value fn = kernel_function(cg, &params, convention);
    if (cg->failed) return NULL;
    cg_attribute(cg, cg->sigs[0].fn, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    cg_call_sig(cg, &cg->sigs[0], LLVMConstNull(cg->ptr[0]), NULL, kernel_leaves(cg, fn, 0), NULL);
    LLVMBuildRetVoid(cg->b);
    return cg->failed ? NULL : fn;
}

/* -- functions for device code of others ---------------------------------------------------------- */

/* Of the leaves of the result, as they lie in memory. */
static LType result_type(Cg *cg, const LType *leaves, int32_t n) {
    LType *parts = arena_array(cg->arena, LType, n + 1);
    for (int32_t i = 0; i < n; i++)
        parts[i] = leaves[i] == cg->i1 ? cg->i8 : leaves[i];
    if (n == 0) return cg->void_;
    return n == 1 ? parts[0] : LLVMStructTypeInContext(cg->context, parts, (unsigned)n, false);
}

static Value result_value(Cg *cg, LType type, const Value *leaves, int32_t n) {
    Value all = n > 1 ? LLVMGetPoison(type) : NULL;
    for (int32_t i = 0; i < n; i++) {
        Value part = leaves[i];
        if (LLVMTypeOf(part) == cg->i1) part = LLVMBuildZExt(cg->b, part, cg->i8, "");
        all = n == 1 ? part : LLVMBuildInsertValue(cg->b, all, part, (unsigned)i, "");
    }
    return all;
}

Value gpu_device_function(Cg *cg) {
    Params params = {.cg = cg};
    const Func *func = cg->ir->funcs.items[0];
    bool status = cg->options->status_result;
    int32_t n = cg->sigs[0].nresult;
    LType *leaves = arena_array(cg->arena, LType, n + 1);
    Value *results = arena_array(cg->arena, Value, n + 1);
    if (n) cg_leaf_types(cg, func->result, leaves);
    LType result = result_type(cg, leaves, n);
    if (status) vec_push(cg->arena, &params.types, cg->ptr[0]);
    for (int32_t i = 0; i < func->nparams; i++)
        add_value(&params, i, 0, func->param_types[i]);
    cg->entry_name = kernel_name(cg);
    LType type = LLVMFunctionType(status ? cg->i32 : result, params.types.items,
                                  (unsigned)params.types.len, false);
    Value fn = cg_entry_function(cg, type);
    cg_attribute(cg, cg->sigs[0].fn, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    cg_call_sig(cg, &cg->sigs[0], LLVMConstNull(cg->ptr[0]), NULL, kernel_leaves(cg, fn, status),
                results);
    Value value = result_value(cg, result, results, n);
    if (status && value) LLVMBuildStore(cg->b, value, LLVMGetParam(fn, 0));
    if (status) value = cg_int(cg->i32, 0);
    if (value)
        LLVMBuildRet(cg->b, value);
    else
        LLVMBuildRetVoid(cg->b);
    return cg->failed ? NULL : fn;
}

/* -- unused parameters ------------------------------------------------------------------------ */

static void copy_attributes(Value from, unsigned at, Value to, unsigned index) {
    LLVMAttributeRef list[32];
    unsigned n = LLVMGetAttributeCountAtIndex(from, at);
    if (n > countof(list)) return;
    LLVMGetAttributesAtIndex(from, at, list);
    for (unsigned i = 0; i < n; i++)
        LLVMAddAttributeAtIndex(to, index, list[i]);
}

/* Python's floats are doubles. Where a kernel looks at the float32 value of one only, that is passed: else each
 * thread would convert it in one of the few double units. */
static bool is_only_rounded(Cg *cg, Value param) {
    if (LLVMTypeOf(param) != cg->f64) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(param); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (!LLVMIsAFPTruncInst(user) || LLVMTypeOf(user) != cg->f32) return false;
    }
    return true;
}

static void take_rounded(Value old, Value param) {
    for (LLVMUseRef use; (use = LLVMGetFirstUse(old));) {
        Value user = LLVMGetUser(use);
        LLVMReplaceAllUsesWith(user, param);
        LLVMInstructionEraseFromParent(user);
    }
}

/* Keeps the parameters that the optimised kernel reads, in order; places them anew. false: all are as before. */
static bool place_used(Cg *cg, Value fn, Params *kept, int32_t *from) {
    int32_t n = 0, total = cg->kernel_params.len;
    bool changed = false;
    KernelParam *params = cg->kernel_params.items;
    cg->kernel_params.len = cg->param_bytes = 0;
    for (int32_t i = 0; i < total; i++) {
        Value param = LLVMGetParam(fn, (unsigned)i);
        KernelParam p = params[i];
        bool used = LLVMGetFirstUse(param), rounds = used && is_only_rounded(cg, param);
        changed |= !used || rounds;
        if (!used) continue;
        from[n++] = i;
        add_param(kept, p.arg, p.source, rounds ? cg->f32 : LLVMTypeOf(param), p.pointer);
        vec_last(&cg->kernel_params).rounds = rounds;
    }
    return changed;
}

/* Shapes and strides that nobody looks at are not passed: the body moves to a function without them. */
void gpu_drop_unused_params(Cg *cg) {
    Value old = cg->entry_fn;
    int32_t total = cg->kernel_params.len;
    int32_t *from = arena_array(cg->arena, int32_t, total + 1);
    Params kept = {.cg = cg};
    if (cg->options->all_params) return;
    bool changed = place_used(cg, old, &kept, from);
    if (cg->param_bytes > MAX_PARAM_BYTES) {
        cg->failed = true;
        diag_add(cg->diags, E0603, NULL, (int)cg->param_bytes, MAX_PARAM_BYTES);
        diag_note(cg->diags, NULL, "pass many numbers as one array");
    }
    if (!changed || cg->failed) return;
    LType type = function_of(cg, &kept);
    Value fn = LLVMAddFunction(cg->mod, "", type);
    LLVMSetFunctionCallConv(fn, LLVMGetFunctionCallConv(old));
    copy_attributes(old, LLVMAttributeFunctionIndex, fn, LLVMAttributeFunctionIndex);
    for (BB bb; (bb = LLVMGetFirstBasicBlock(old));) {
        LLVMRemoveBasicBlockFromParent(bb);
        LLVMAppendExistingBasicBlock(fn, bb);
    }
    for (int32_t i = 0; i < kept.types.len; i++) {
        Value was = LLVMGetParam(old, (unsigned)from[i]), is = LLVMGetParam(fn, (unsigned)i);
        if (cg->kernel_params.items[i].rounds)
            take_rounded(was, is);
        else
            LLVMReplaceAllUsesWith(was, is);
        copy_attributes(old, (unsigned)from[i] + 1, fn, (unsigned)i + 1);
    }
    LLVMReplaceAllUsesWith(old, fn); /* the annotations */
    LLVMDeleteFunction(old);
    LLVMSetValueName2(fn, cg->entry_name, strlen(cg->entry_name));
    cg->entry_fn = fn;
}
