/* target_cpu.c - the host: packed entries, ufunc loops, and kernels as loops over blocks and threads.
 *
 * A kernel without barriers is plain loops round the work-item function: its coordinates are SSA
 * parameters, so that LLVM inlines it and may turn the innermost loop, over threadIdx.x, into vectors.
 * Kernels with barriers are functions of the block (opt/workitem.c, llvm/cg_items.c) or coroutines (llvm/cg_coro.c). */
#include "codegen/llvm/cg.h"
#include "codegen/target/targets.h"

static TgMachine machine(Cg *cg) {
    const CompileOptions *o = cg->options;
    char *message = NULL;
    LLVMTargetRef target;
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                 LLVMCodeGenLevelDefault, LLVMCodeGenLevelDefault};
    const HostFacts *host = cg_host(cg);
    int level = QN_MAX(0, QN_MIN(o->opt_level, 3));
    const char *cpu = o->arch ? o->arch : host->cpu;
    const char *used = o->cpu_features ? o->cpu_features : o->arch ? "" : host->features;
    cg->features = str_copy(cg->arena, used, strlen(used)).bytes;
    StrBuf key;
    buf_init(&key, cg->arena);
    buf_printf(&key, "cpu %d %s %s", level, cpu, used);
    LLVMTargetMachineRef result = cg_machine_take(cg, buf_take(&key).bytes);
    if (result) return result;
    if (LLVMGetTargetFromTriple(host->triple, &target, &message)) {
        cg_error(cg, "%s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, host->triple, cpu, used, levels[level], LLVMRelocPIC,
                                   LLVMCodeModelSmall);
}

static bool raises(const CompileOptions *options) {
    (void)options;
    return true;
}

/* -- the work-item ---------------------------------------------------------------------------- */

static Value item(Cg *cg, int index) {
    if (cg->f->sig->item) return cg->f->item[index];
    cg_error(cg, "threads and blocks exist in kernels only");
    return LLVMGetPoison(index == ITEM_SHARED || index == ITEM_SELF ? cg->ptr[0] : cg->i32);
}

static TgValue grid(Cg *cg, GridValue which, int axis) {
    return item(cg, (int)which * 3 + axis);
}

static Value bytes_behind(Cg *cg, Value base, Value offset) {
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, base, &offset, 1, "");
}

static TgValue shared_static(Cg *cg, int64_t bytes, int64_t align) {
    int64_t at = (cg->shared_bytes + align - 1) / align * align;
    cg->shared_bytes = (int32_t)(at + bytes);
    return bytes_behind(cg, item(cg, ITEM_SHARED), cg_int(cg->i64, at));
}

/* The static size is known when every function is lowered: until then it is a constant without value. */
static Value static_size(Cg *cg) {
    Value global = LLVMGetNamedGlobal(cg->mod, "quern.static_shared");
    if (!global) {
        global = LLVMAddGlobal(cg->mod, cg->i64, "quern.static_shared");
        LLVMSetLinkage(global, LLVMInternalLinkage);
        LLVMSetGlobalConstant(global, true);
    }
    return global;
}

static TgValue shared_dynamic(Cg *cg) {
    Value size = LLVMBuildLoad2(cg->b, cg->i64, static_size(cg), "");
    return bytes_behind(cg, item(cg, ITEM_SHARED), size);
}

static TgValue shared_dynamic_size(Cg *cg) {
    return LLVMBuildZExt(cg->b, item(cg, ITEM_DYNAMIC), cg->i64, "");
}

/* Linear number of the thread in its block, modulo 32. */
static Value lane(Cg *cg) {
    Value y = LLVMBuildMul(cg->b, item(cg, GRID_BLOCK_DIM * 3), grid(cg, GRID_THREAD, 1), "");
    Value plane =
        LLVMBuildMul(cg->b, item(cg, GRID_BLOCK_DIM * 3), item(cg, GRID_BLOCK_DIM * 3 + 1), "");
    Value z = LLVMBuildMul(cg->b, plane, grid(cg, GRID_THREAD, 2), "");
    Value linear = LLVMBuildAdd(cg->b, grid(cg, GRID_THREAD, 0), LLVMBuildAdd(cg->b, y, z, ""), "");
    return LLVMBuildAnd(cg->b, linear, cg_int(cg->i32, 31), "");
}

static bool generate(Cg *cg, int gen, struct LibCall *call) {
    switch (gen) {
    case GEN_lane: call->out[0] = LLVMBuildZExt(cg->b, lane(cg), cg->i64, ""); return true;
    case GEN_warpsize: call->out[0] = cg_int(cg->i64, 32); return true;
    case GEN_lanemask_lt: {
        Value bit = LLVMBuildShl(cg->b, cg_int(cg->i32, 1), lane(cg), "");
        call->out[0] = LLVMBuildSub(cg->b, bit, cg_int(cg->i32, 1), "");
        return true;
    }
    case GEN_fence_block:
    case GEN_fence_device:
    case GEN_fence_system:
        if (cg->options->sanitize && gen != GEN_fence_block)
            cg_call_extern(cg, "quern_sanitize_fence", cg->void_, NULL, 0);
        LLVMBuildFence(cg->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
        return true;
    case GEN_nanosleep: return true;
    default: return cg_coro_generate(cg, gen, call);
    }
}

/* -- kernels ---------------------------------------------------------------------------------- */

static Value grid_field(Cg *cg, Value grid_pointer, size_t offset, LType type) {
    Value at = bytes_behind(cg, grid_pointer, cg_int(cg->i64, (int64_t)offset));
    return LLVMBuildLoad2(cg->b, type, at, "");
}

/* Splits the linear number of a block, x fastest. */
static void block_coordinates(Cg *cg, Value linear, Value *values) {
    Value rest = linear;
    for (int axis = 0; axis < 3; axis++) {
        Value n = LLVMBuildZExt(cg->b, values[GRID_GRID_DIM * 3 + axis], cg->i64, "");
        Value at = axis == 2 ? rest : LLVMBuildURem(cg->b, rest, n, "");
        rest = axis == 2 ? rest : LLVMBuildUDiv(cg->b, rest, n, "");
        values[GRID_BLOCK * 3 + axis] = LLVMBuildTrunc(cg->b, at, cg->i32, "");
    }
}

static void call_item(Cg *cg, Value ctx, Value *values, Value *args) {
    Value *block = values + GRID_BLOCK * 3, *thread = values + GRID_THREAD * 3;
    Value who[] = {block[0], block[1], block[2], thread[0], thread[1], thread[2]};
    if (cg->options->sanitize)
        cg_call_extern(cg, "quern_sanitize_item", cg->void_, who, countof(who));
    Value status = cg_call_sig(cg, &cg->sigs[0], ctx, values, args, NULL);
    if (!status) return;
    BB bad = cg_block(cg, "failed"), good = cg_block(cg, "fine");
    Value failed = LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, failed, bad, good));
    cg_at(cg, bad);
    if (!cg->sigs[0].block) cg_name_item(cg, ctx, values); /* else it is named */
    LLVMBuildRet(cg->b, status);
    cg_at(cg, good);
}

/* Each work-item counts as a round of a loop, long ones as several. */
static void end_if_asked(Cg *cg, Value ctx, Value budget, Value *values) {
    enum { ROUND = 64 };
    Value weight = cg_int(cg->i64, 1 + cg->sigs[0].ir->insts.len / ROUND);
    for (int axis = 0; axis < 3; axis++) {
        Value n = LLVMBuildZExt(cg->b, values[GRID_BLOCK_DIM * 3 + axis], cg->i64, "");
        weight = LLVMBuildMul(cg->b, weight, n, "");
    }
    BB out = cg_count_down(cg, ctx, budget, weight), here = LLVMGetInsertBlock(cg->b);
    cg_at(cg, out);
    LLVMBuildRet(cg->b, cg_int(cg->i32, CALL_PENDING));
    cg_at(cg, here);
}

/* Of a kernel that is a function of the block: memory for what its work-items keep, and then the blocks. */
static Value function_of_blocks(Cg *cg, Value fn) {
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->ptr[0], cg->ptr[0]};
    LType type = LLVMFunctionType(cg->i32, params, 4, false);
    Value blocks = LLVMAddFunction(cg->mod, "blocks", type);
    LLVMSetLinkage(blocks, LLVMInternalLinkage);
    cg_attribute(cg, blocks, LLVMAttributeFunctionIndex, "nounwind", 0);
    Value args[] = {LLVMGetParam(fn, 0), LLVMGetParam(fn, 1), LLVMGetParam(fn, 2),
                    cg_int(cg->i64, cg->kept_bytes), blocks};
    LLVMBuildRet(cg->b, cg_call_extern(cg, "quern_run_items", cg->i32, args, 5));
    cg_at(cg, LLVMAppendBasicBlockInContext(cg->context, blocks, "entry"));
    cg->entry_budget = cg_new_budget(cg);
    return blocks;
}

static void entry_kernel(Cg *cg) {
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->ptr[0]};
    Value fn = cg_entry_function(cg, LLVMFunctionType(cg->i32, params, 3, false));
    bool block = cg->sigs[0].block;
    if (cg->kept_bytes) fn = function_of_blocks(cg, fn);
    Value ctx = LLVMGetParam(fn, 0), from = LLVMGetParam(fn, 2), values[ITEM_COUNT];
    for (int axis = 0; axis < 3; axis++) {
        size_t offset = sizeof(uint32_t) * (size_t)axis;
        values[GRID_GRID_DIM * 3 + axis] =
            grid_field(cg, from, offsetof(KernelGrid, grid) + offset, cg->i32);
        values[GRID_BLOCK_DIM * 3 + axis] =
            grid_field(cg, from, offsetof(KernelGrid, block) + offset, cg->i32);
    }
    values[ITEM_SHARED] = grid_field(cg, from, offsetof(KernelGrid, shared), cg->ptr[0]);
    values[ITEM_DYNAMIC] = grid_field(cg, from, offsetof(KernelGrid, dynamic_shared), cg->i32);
    values[ITEM_SELF] = cg->kept_bytes ? LLVMGetParam(fn, 3) : LLVMConstNull(cg->ptr[0]);
    Value first = grid_field(cg, from, offsetof(KernelGrid, first), cg->i64);
    Value last = grid_field(cg, from, offsetof(KernelGrid, last), cg->i64);
    Value budget = cg->entry_budget ? cg->entry_budget : cg_new_budget(cg);
    Value *args = cg_entry_arguments(cg, LLVMGetParam(fn, 1));
    CgCounter blocks = cg_loop_open(cg, first, last), threads[3];
    block_coordinates(cg, blocks.value, values);
    end_if_asked(cg, ctx, budget, values);
    for (int axis = 2; axis >= 0; axis--) {
        Value limit = block ? cg_int(cg->i32, 0) : values[GRID_BLOCK_DIM * 3 + axis];
        if (!block) threads[axis] = cg_loop_open(cg, cg_int(cg->i32, 0), limit);
        values[GRID_THREAD * 3 + axis] = block ? limit : threads[axis].value;
    }
    call_item(cg, ctx, values, args);
    for (int axis = 0; !block && axis < 3; axis++)
        cg_loop_close(cg, &threads[axis]);
    cg_loop_close(cg, &blocks);
    LLVMBuildRet(cg->b, cg_int(cg->i32, CALL_OK));
}

/* -- hooks ------------------------------------------------------------------------------------ */

static bool entry(Cg *cg) {
    Value size = LLVMGetNamedGlobal(cg->mod, "quern.static_shared");
    cg->shared_bytes = (cg->shared_bytes + 63) / 64 * 64;
    if (size) LLVMSetInitializer(size, cg_int(cg->i64, cg->shared_bytes));
    switch (cg->options->entry) {
    case ENTRY_HOST: cg_entry_host(cg); break;
    case ENTRY_UFUNC: cg_entry_ufunc(cg); break;
    case ENTRY_C: cg_entry_c(cg); break;
    case ENTRY_KERNEL: cg->sigs[0].suspends ? cg_coro_entry(cg) : entry_kernel(cg); break;
    default: cg_error(cg, "this kind of entry on the CPU"); break;
    }
    cg_keep_variants(cg);
    return !cg->failed;
}

static bool link_nothing(Cg *cg) {
    (void)cg;
    return true;
}

/* Assembly for inspection, from a copy: emission changes a module. */
static void keep_assembly(Cg *cg) {
    LLVMModuleRef module = cg->mod;
    cg->mod = LLVMCloneModule(module);
    cg->text_asm = cg_emit_copy(cg, cg->arena, LLVMAssemblyFile);
    LLVMDisposeModule(cg->mod);
    cg->mod = module;
}

/* For another program, and another processor maybe: nothing is loaded here. */
static bool emit_closed(Cg *cg, Artifact *artifact) {
    artifact->object = cg_emit_copy(cg, &artifact->arena, LLVMObjectFile);
    return artifact->object.bytes != NULL;
}

static bool emit(Cg *cg, Artifact *artifact) {
    if (cg->options->keep_text) keep_assembly(cg);
    if (cg->options->closed) return emit_closed(cg, artifact);
    LazyCode *lazy = cg->lazy_bitcode ? cg_lazy_code(cg) : NULL;
    if (cg->lazy_bitcode && !lazy) return cg_error(cg, "out of memory");
    artifact->drop = host_code_drop;
    HostObject object = {.symbol = cg->entry_name,
                         .naddresses = cg->addresses.len,
                         .addresses = cg->addresses.items,
                         .lazy = lazy,
                         .ninstances = cg->needs.len,
                         .instances = cg_instances(cg)};
    artifact->host_code =
        cg_load_host(cg, object, &artifact->entry, cg->options->keep_object ? artifact : NULL);
    return artifact->host_code != NULL;
}

const Target target_cpu = {
    .kind = TARGET_CPU,
    .is_host = true,
    .print = "quern_kernel_print",
    .name = "cpu",
    .spaces = {0, 0, 0, 0},
    .has_owner = true,
    .move = {{"", "=r,0", "=r,0"}, {"", "=r,0", "=r,0"}},
    .lib_prefix = "",
    .lib_suffixes = {"", "f"},
    .machine = machine,
    .raises = raises,
    .grid = grid,
    .shared_static = shared_static,
    .shared_dynamic = shared_dynamic,
    .shared_dynamic_size = shared_dynamic_size,
    .generate = generate,
    .entry = entry,
    .link = link_nothing,
    .emit = emit,
};
