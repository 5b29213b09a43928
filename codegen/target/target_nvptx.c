/* target_nvptx.c - NVIDIA GPUs: PTX text for the driver.
 *
 * The PTX version is what LLVM picks for the architecture, so that old drivers accept it; GPUs newer than
 * sm_90 take sm_90 code. Kernel parameters are the leaves of the entry's parameters, each at its natural
 * alignment: what the driver copies from one buffer. */
#include "codegen/llvm/cg.h"
#include "codegen/target/libdevice.h"
#include "codegen/target/targets.h"
#include <stdio.h>
#include <stdlib.h>

enum { SPACE_PTX_GLOBAL = 1, SPACE_PTX_SHARED = 3, SPACE_PTX_CONST = 4, SPACE_PTX_LOCAL = 5 };

static TgMachine machine(Cg *cg) {
    const char *arch = cg->options->arch ? cg->options->arch : "sm_75";
    char *message = NULL;
    LLVMTargetRef target;
    if (strncmp(arch, "sm_", 3) == 0 && atoi(arch + 3) > 90) arch = "sm_90";
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &message)) {
        cg_error(cg, "%s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    LLVMCodeGenOptLevel level =
        cg->options->opt_level ? LLVMCodeGenLevelAggressive : LLVMCodeGenLevelNone;
    return LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", arch, "", level, LLVMRelocDefault,
                                   LLVMCodeModelDefault);
}

/* -- exceptions ------------------------------------------------------------------------------- */

static bool raises(const CompileOptions *options) {
    return options->infer.debug || !options->infer.no_boundscheck;
}

static TgValue grid(Cg *cg, GridValue which, int axis);

static Value mailbox(Cg *cg) {
    Value global = LLVMGetNamedGlobal(cg->mod, KERNEL_MAILBOX_NAME);
    if (global) return global;
    LType type = LLVMArrayType2(cg->i8, sizeof(KernelMailbox));
    global = LLVMAddGlobalInAddressSpace(cg->mod, type, KERNEL_MAILBOX_NAME, SPACE_PTX_GLOBAL);
    LLVMSetInitializer(global, LLVMConstNull(type));
    LLVMSetAlignment(global, 8);
    return global;
}

static void fill(Cg *cg, size_t offset, Value value) {
    Value index = cg_int(cg->i64, (int64_t)offset);
    LLVMBuildStore(cg->b, value, LLVMBuildInBoundsGEP2(cg->b, cg->i8, mailbox(cg), &index, 1, ""));
}

/* Into the mailbox, by the first thread that fails. Every thread goes on: see cg_raise.c. */
static void record(Cg *cg, int32_t exception, int32_t site, const TgValue *args, int nargs) {
    BB first = cg_block(cg, "first"), told = cg_block(cg, "told");
    Value old = LLVMBuildAtomicRMW(cg->b, LLVMAtomicRMWBinOpXchg, mailbox(cg), cg_int(cg->i32, 1),
                                   LLVMAtomicOrderingMonotonic, false);
    Value mine = LLVMBuildICmp(cg->b, LLVMIntEQ, old, cg_int(cg->i32, 0), "");
    LLVMBuildCondBr(cg->b, mine, first, told);
    cg_at(cg, first);
    fill(cg, offsetof(KernelMailbox, exception), cg_int(cg->i32, exception));
    fill(cg, offsetof(KernelMailbox, site), cg_int(cg->i32, site));
    for (int axis = 0; axis < 3; axis++) {
        fill(cg, offsetof(KernelMailbox, block) + 4 * (size_t)axis, grid(cg, GRID_BLOCK, axis));
        fill(cg, offsetof(KernelMailbox, thread) + 4 * (size_t)axis, grid(cg, GRID_THREAD, axis));
    }
    for (int i = 0; i < nargs; i++)
        fill(cg, offsetof(KernelMailbox, args) + 8 * (size_t)i, args[i]);
    LLVMBuildBr(cg->b, told);
    cg_at(cg, told);
}

/* -- the work-item ---------------------------------------------------------------------------- */

/* Reads a register whose values lie in [low, end): the limits of every GPU there is. */
static Value special(Cg *cg, const char *name, uint64_t low, uint64_t end) {
    Value read = cg_intrinsic(cg, name, NULL, 0, NULL, 0);
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    LLVMAddCallSiteAttribute(read, LLVMAttributeReturnIndex,
                             LLVMCreateConstantRangeAttribute(cg->context, kind, 32, &low, &end));
    return read;
}

static TgValue grid(Cg *cg, GridValue which, int axis) {
    static const char *const registers[GRID_VALUES] = {"tid", "ctaid", "ntid", "nctaid"};
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.read.ptx.sreg.%s.%c", registers[which], "xyz"[axis]);
    uint64_t most = axis == 2 ? 64 : MAX_BLOCK_THREADS, blocks = axis == 0 ? INT32_MAX : 65535;
    if (cg->options->max_threads) most = QN_MIN(most, (uint64_t)cg->options->max_threads);
    switch (which) {
    case GRID_THREAD: return special(cg, name, 0, most);
    case GRID_BLOCK: return special(cg, name, 0, blocks);
    case GRID_BLOCK_DIM: return special(cg, name, 1, most + 1);
    default: return special(cg, name, 1, blocks + 1);
    }
}

static TgValue shared_static(Cg *cg, int64_t bytes, int64_t align) {
    LType type = LLVMArrayType2(cg->i8, (uint64_t)bytes);
    Value global = LLVMAddGlobalInAddressSpace(cg->mod, type, "shared", SPACE_PTX_SHARED);
    LLVMSetInitializer(global, LLVMGetUndef(type));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, (unsigned)align);
    cg->shared_bytes = (int32_t)((cg->shared_bytes + align - 1) / align * align + bytes);
    return global;
}

static TgValue shared_dynamic(Cg *cg) {
    Value global = LLVMGetNamedGlobal(cg->mod, "quern_dynamic_shared");
    if (!global) {
        global = LLVMAddGlobalInAddressSpace(cg->mod, LLVMArrayType2(cg->i8, 0),
                                             "quern_dynamic_shared", SPACE_PTX_SHARED);
        LLVMSetLinkage(global, LLVMExternalLinkage);
        LLVMSetAlignment(global, 16);
    }
    return global;
}

static Value assembly(Cg *cg, const char *text, const char *constraints, LType result,
                      bool effects) {
    LType type = LLVMFunctionType(result, NULL, 0, false);
    Value code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                  effects, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(cg->b, type, code, NULL, 0, "");
}

static TgValue shared_dynamic_size(Cg *cg) {
    Value bytes = assembly(cg, "mov.u32 $0, %dynamic_smem_size;", "=r", cg->i32, false);
    return LLVMBuildZExt(cg->b, bytes, cg->i64, "");
}

/* -- barriers, votes, shuffles ---------------------------------------------------------------- */

static Value plain(Cg *cg, const char *name, Value *args, int n) {
    return cg_intrinsic(cg, name, NULL, 0, args, n);
}

static Value to_i32(Cg *cg, Value flag) {
    return LLVMBuildZExt(cg->b, flag, cg->i32, "");
}
static Value to_i64(Cg *cg, Value v) {
    return LLVMBuildZExt(cg->b, v, cg->i64, "");
}

/* One leaf, in pieces of 32 bits. */
static Value shuffle(Cg *cg, const char *name, Value mask, Value leaf, Value lane, int clamp) {
    LType type = LLVMTypeOf(leaf);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(cg->layout, type);
    LType image = LLVMIntTypeInContext(cg->context, bits);
    Value v = LLVMBuildBitCast(cg->b, leaf, image, "");
    Value pieces[2];
    int n = bits > 32 ? 2 : 1;
    for (int i = 0; i < n; i++) {
        Value part = i ? LLVMBuildLShr(cg->b, v, cg_int(image, 32), "") : v;
        part = LLVMBuildIntCast2(cg->b, part, cg->i32, false, "");
        pieces[i] = plain(cg, name, (Value[]){mask, part, lane, cg_int(cg->i32, clamp)}, 4);
    }
    Value whole = LLVMBuildIntCast2(cg->b, pieces[0], image, false, "");
    if (n == 2)
        whole = LLVMBuildOr(cg->b, whole,
                            LLVMBuildShl(cg->b, to_i64(cg, pieces[1]), cg_int(image, 32), ""), "");
    return LLVMBuildBitCast(cg->b, whole, type, "");
}

static bool shuffles(Cg *cg, int gen, struct LibCall *call) {
    const char *name = gen == GEN_shfl_idx    ? "llvm.nvvm.shfl.sync.idx.i32"
                       : gen == GEN_shfl_up   ? "llvm.nvvm.shfl.sync.up.i32"
                       : gen == GEN_shfl_down ? "llvm.nvvm.shfl.sync.down.i32"
                                              : "llvm.nvvm.shfl.sync.bfly.i32";
    for (int32_t k = 0; k < cg_leaf_count(cg, call->types[1]); k++)
        call->out[k] = shuffle(cg, name, call->args[0][0], call->args[1][k], call->args[2][0],
                               gen == GEN_shfl_up ? 0 : 31);
    return true;
}

static bool votes(Cg *cg, int gen, struct LibCall *call) {
    const char *name = gen == GEN_vote_all   ? "llvm.nvvm.vote.all.sync"
                       : gen == GEN_vote_any ? "llvm.nvvm.vote.any.sync"
                       : gen == GEN_vote_eq  ? "llvm.nvvm.vote.uni.sync"
                                             : "llvm.nvvm.vote.ballot.sync";
    call->out[0] = plain(cg, name, (Value[]){call->args[0][0], call->args[1][0]}, 2);
    return true;
}

/* Values of at most 64 bits; the two parts of a complex64 make one. */
static Value image_of(Cg *cg, struct LibCall *call) {
    Value v = call->args[1][0];
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(v));
    v = LLVMBuildBitCast(cg->b, v, LLVMIntTypeInContext(cg->context, bits), "");
    if (cg_leaf_count(cg, call->types[1]) == 1) return bits < 32 ? to_i32(cg, v) : v;
    if (bits > 32) {
        cg_error(cg, "a complex128 cannot be matched");
        return v;
    }
    Value im = to_i64(cg, LLVMBuildBitCast(cg->b, call->args[1][1], cg->i32, ""));
    return LLVMBuildOr(cg->b, to_i64(cg, v), LLVMBuildShl(cg->b, im, cg_int(cg->i64, 32), ""), "");
}

static bool matches(Cg *cg, int gen, struct LibCall *call) {
    Value v = image_of(cg, call), mask = call->args[0][0];
    bool wide = LLVMTypeOf(v) == cg->i64;
    if (gen == GEN_match_any) {
        const char *name = wide ? "llvm.nvvm.match.any.sync.i64" : "llvm.nvvm.match.any.sync.i32";
        call->out[0] = plain(cg, name, (Value[]){mask, v}, 2);
        return true;
    }
    const char *name = wide ? "llvm.nvvm.match.all.sync.i64p" : "llvm.nvvm.match.all.sync.i32p";
    Value pair = plain(cg, name, (Value[]){mask, v}, 2);
    call->out[0] = LLVMBuildExtractValue(cg->b, pair, 0, "");
    call->out[1] = LLVMBuildExtractValue(cg->b, pair, 1, "");
    return true;
}

static bool counted_barrier(Cg *cg, const char *name, struct LibCall *call) {
    Value flag = to_i32(cg, call->args[0][0]);
    Value r = plain(cg, name, &flag, 1);
    if (strstr(name, "popc") == NULL) /* any non-zero value stands for true */
        r = to_i32(cg, LLVMBuildICmp(cg->b, LLVMIntNE, r, cg_int(cg->i32, 0), ""));
    call->out[0] = to_i64(cg, r);
    return true;
}

static bool fence(Cg *cg, const char *name) {
    plain(cg, name, NULL, 0);
    return true;
}

static bool generate(Cg *cg, int gen, struct LibCall *call) {
    Value all = cg_int(cg->i32, -1);
    switch (gen) {
    case GEN_lane:
        call->out[0] = to_i64(cg, special(cg, "llvm.nvvm.read.ptx.sreg.laneid", 0, 32));
        return true;
    case GEN_warpsize: call->out[0] = cg_int(cg->i64, 32); return true;
    case GEN_lanemask_lt:
        call->out[0] = plain(cg, "llvm.nvvm.read.ptx.sreg.lanemask.lt", NULL, 0);
        return true;
    case GEN_activemask:
        call->out[0] = assembly(cg, "activemask.b32 $0;", "=r", cg->i32, true);
        cg_call_attribute(cg, call->out[0], "convergent", 0);
        return true;
    case GEN_barrier: plain(cg, "llvm.nvvm.barrier0", NULL, 0); return true;
    case GEN_barrier_count: return counted_barrier(cg, "llvm.nvvm.barrier0.popc", call);
    case GEN_barrier_and: return counted_barrier(cg, "llvm.nvvm.barrier0.and", call);
    case GEN_barrier_or: return counted_barrier(cg, "llvm.nvvm.barrier0.or", call);
    case GEN_syncwarp:
        plain(cg, "llvm.nvvm.bar.warp.sync", call->nargs ? call->args[0] : &all, 1);
        return true;
    case GEN_fence_block: return fence(cg, "llvm.nvvm.membar.cta");
    case GEN_fence_device: return fence(cg, "llvm.nvvm.membar.gl");
    case GEN_fence_system: return fence(cg, "llvm.nvvm.membar.sys");
    case GEN_shfl_idx:
    case GEN_shfl_up:
    case GEN_shfl_down:
    case GEN_shfl_xor: return shuffles(cg, gen, call);
    case GEN_vote_all:
    case GEN_vote_any:
    case GEN_vote_eq:
    case GEN_vote_ballot: return votes(cg, gen, call);
    case GEN_match_any:
    case GEN_match_all: return matches(cg, gen, call);
    case GEN_nanosleep: plain(cg, "llvm.nvvm.nanosleep", call->args[0], 1); return true;
    default: return false;
    }
}

/* -- kernels ---------------------------------------------------------------------------------- */

typedef struct Params {
    Cg *cg;
    Vec(LType) types;
} Params;

/* What every GPU and driver takes: 32,764 bytes need PTX 8.1. */
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

/* One kernel parameter for each leaf of a value that lies `source` bytes into host argument `arg`. */
static void add_value(Params *p, int32_t arg, int64_t source, const Type *type) {
    Cg *cg = p->cg;
    if (type->kind == TY_none) return;
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++)
            add_value(p, arg, source + abi_item_offset(type, i), type->items[i]);
    } else if (type->kind == TY_ARRAY) {
        int n = type->ndim * (type->layout == LAYOUT_A ? 2 : 1);
        add_param(p, arg, source, cg->ptr[cg_space(cg, (Space)type->space)], true);
        for (int k = 0; k < n; k++)
            add_param(p, arg, source + 16 + 8 * k, cg->i64, false);
    } else {
        LType t = cg_memory_type(cg, type_strong_kind(type->kind));
        add_param(p, arg, source, t, false);
        if (type_is_complex(type)) add_param(p, arg, source + type_size(type) / 2, t, false);
    }
}

static void annotate(Cg *cg, Value fn, const char *key, int64_t value) {
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(fn),
                               LLVMMDStringInContext2(cg->context, key, strlen(key)),
                               LLVMValueAsMetadata(cg_int(cg->i32, value))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(cg->context, parts, 3);
    LLVMAddNamedMetadataOperand(cg->mod, "nvvm.annotations",
                                LLVMMetadataAsValue(cg->context, node));
}

/* A PTX identifier that still shows the user's name. */
static const char *kernel_name(Cg *cg) {
    Str name = cg->ir->funcs.items[0]->user_name;
    if (!name.len) name = cg->ir->funcs.items[0]->name;
    char *text = (char *)str_printf(cg->arena, "quern_" STR_FMT, STR_ARG(name)).bytes;
    for (char *c = text; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')))
            *c = '_';
    return text;
}

/* In the fast variant no written array overlaps another: the launch has tested it. */
static void mark_pointers(Cg *cg, Value fn) {
    for (int32_t i = 0; i < cg->kernel_params.len; i++) {
        const KernelParam *p = &cg->kernel_params.items[i];
        unsigned index = (unsigned)i + 1;
        if (!p->pointer) continue;
        if (!cg->options->general_variant) cg_attribute(cg, fn, index, "noalias", 0);
        if (!(cg->usage[p->arg] & ARG_WRITTEN)) cg_attribute(cg, fn, index, "readonly", 0);
    }
}

static LType function_of(Cg *cg, const Params *p) {
    return LLVMFunctionType(cg->void_, p->types.items, (unsigned)p->types.len, false);
}

static Value kernel_function(Cg *cg, Params *p) {
    const Func *func = cg->ir->funcs.items[0];
    for (int32_t i = 0; i < func->nparams; i++)
        add_value(p, i, 0, func->param_types[i]);
    cg->entry_name = kernel_name(cg);
    Value fn = cg_entry_function(cg, function_of(cg, p));
    LLVMSetFunctionCallConv(fn, LLVMPTXKernelCallConv);
    annotate(cg, fn, "kernel", 1);
    if (cg->options->max_threads) annotate(cg, fn, "maxntidx", cg->options->max_threads);
    if (cg->options->max_registers) annotate(cg, fn, "maxnreg", cg->options->max_registers);
    mark_pointers(cg, fn);
    return fn;
}

/* Leaves of the entry's parameters from the kernel's: bools travel as bytes. */
static Value *kernel_leaves(Cg *cg, Value fn) {
    int32_t n = cg->kernel_params.len;
    LType *wanted = arena_array(cg->arena, LType, n + 1);
    Value *leaves = arena_array(cg->arena, Value, n + 1);
    int32_t at = 0;
    for (int32_t i = 0; i < cg->ir->funcs.items[0]->nparams; i++)
        at += cg_leaf_types(cg, cg->ir->funcs.items[0]->param_types[i], wanted + at);
    for (int32_t i = 0; i < n; i++) {
        leaves[i] = LLVMGetParam(fn, (unsigned)i);
        if (wanted[i] == cg->i1)
            leaves[i] = LLVMBuildICmp(cg->b, LLVMIntNE, leaves[i], cg_int(cg->i8, 0), "");
    }
    return leaves;
}

static void entry_kernel(Cg *cg) {
    Params params = {.cg = cg};
    Value fn = kernel_function(cg, &params), results[1];
    if (cg->failed) return;
    cg_attribute(cg, cg->sigs[0].fn, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    cg_call_sig(cg, &cg->sigs[0], LLVMConstNull(cg->ptr[0]), NULL, kernel_leaves(cg, fn), results);
    LLVMBuildRetVoid(cg->b);
}

static bool entry(Cg *cg) {
    switch (cg->options->entry) {
    case ENTRY_KERNEL: entry_kernel(cg); break;
    default: cg_error(cg, "this kind of entry on a GPU"); break;
    }
    return !cg->failed;
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
static void drop_unused_params(Cg *cg) {
    Value old = cg->entry_fn;
    int32_t total = cg->kernel_params.len;
    int32_t *from = arena_array(cg->arena, int32_t, total + 1);
    Params kept = {.cg = cg};
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

static bool emit(Cg *cg, Artifact *artifact) {
    drop_unused_params(cg);
    if (cg->failed) return false;
    if (cg->options->keep_text) cg->text_llvm = cg_print(cg);
    LLVMMemoryBufferRef text = cg_emit_buffer(cg, LLVMAssemblyFile);
    if (!text) return false;
    Str kept = str_copy(&artifact->arena, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
    LLVMDisposeMemoryBuffer(text);
    artifact->code = kept.bytes;
    artifact->ncode = kept.len + 1;
    if (cg->options->keep_text) cg->text_asm = kept;
    return true;
}

const Target target_nvptx = {
    .kind = TARGET_NVPTX,
    .name = "nvptx",
    .spaces = {SPACE_PTX_GLOBAL, SPACE_PTX_SHARED, SPACE_PTX_LOCAL, SPACE_PTX_CONST},
    .has_owner = false,
    .contracts = true,
    .lib_prefix = "__nv_",
    .machine = machine,
    .raises = raises,
    .record = record,
    .grid = grid,
    .shared_static = shared_static,
    .shared_dynamic = shared_dynamic,
    .shared_dynamic_size = shared_dynamic_size,
    .generate = generate,
    .entry = entry,
    .link = libdevice_link,
    .emit = emit,
};
