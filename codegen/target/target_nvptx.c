/* target_nvptx.c - NVIDIA GPUs: PTX text for the driver.
 *
 * The PTX version is what LLVM picks for the architecture, so that old drivers accept it; GPUs newer than
 * sm_90 take sm_90 code. Kernel parameters are the leaves of the entry's parameters, each at its natural
 * alignment: what the driver copies from one buffer. */
#include "codegen/target/gpu_walk.h"
#include "codegen/target/gpu_kernel.h"
#include "codegen/target/libdevice.h"
#include "codegen/target/nvptx_convert.h"
#include "codegen/target/nvptx_exits.h"
#include "codegen/target/nvptx_extremes.h"
#include "codegen/target/nvptx_layout.h"
#include "codegen/target/nvptx_rotate.h"
#include "codegen/target/nvptx_short.h"
#include "codegen/target/nvptx_shift.h"
#include "codegen/target/nvptx_sink.h"
#include "codegen/target/nvptx_wide.h"
#include "codegen/target/targets.h"
#include <stdio.h>
#include <stdlib.h>

enum { SPACE_PTX_GLOBAL = 1, SPACE_PTX_SHARED = 3, SPACE_PTX_CONST = 4, SPACE_PTX_LOCAL = 5 };

static const char *chip_of(const Cg *cg) {
    return cg->options->arch ? cg->options->arch : "sm_75";
}

/* The number of its architecture. */
static int chip_number(const Cg *cg) {
    const char *arch = chip_of(cg);
    return strncmp(arch, "sm_", 3) == 0 ? atoi(arch + 3) : 0;
}

static TgMachine machine(Cg *cg) {
    const char *arch = chip_of(cg);
    char *message = NULL;
    LLVMTargetRef target;
    if (chip_number(cg) > 90) arch = "sm_90";
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
    case GEN_grid_barrier: return gpu_grid_barrier(cg, call);
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

static void annotate(Cg *cg, Value fn, const char *key, int64_t value) {
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(fn),
                               LLVMMDStringInContext2(cg->context, key, strlen(key)),
                               LLVMValueAsMetadata(cg_int(cg->i32, value))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(cg->context, parts, 3);
    LLVMAddNamedMetadataOperand(cg->mod, "nvvm.annotations",
                                LLVMMetadataAsValue(cg->context, node));
}

static bool entry(Cg *cg) {
    if (cg->options->entry == ENTRY_DEVICE) return gpu_device_function(cg) != NULL;
    Value fn = gpu_kernel(cg, LLVMPTXKernelCallConv);
    if (!fn) return false;
    annotate(cg, fn, "kernel", 1);
    if (cg->options->max_threads) annotate(cg, fn, "maxntidx", cg->options->max_threads);
    if (cg->options->max_registers) annotate(cg, fn, "maxnreg", cg->options->max_registers);
    return true;
}

enum { STATIC_SHARED_BYTES = 49152 }; /* of every chip; what is more has to be dynamic */

/* Instructions of a loop, four rounds side by side where it is unrolled: ptxas unrolls these further, and finds what addresses of
 * several rounds have in common where a pointer is counted up. From an index it makes each address in one instruction, which is
 * the least in longer loops. */
enum { WALKED = 80 };

static bool emit(Cg *cg, Artifact *artifact) {
    if (!gpu_shared_fits(cg, STATIC_SHARED_BYTES,
                         "blocks get more by the launch alone: cuda.shared.array(0, dtype), and "
                         "kernel[grid, block, stream, bytes]"))
        return false;
    if (cg->options->entry == ENTRY_KERNEL) gpu_drop_unused_params(cg);
    libdevice_finish(cg);
    if (cg->options->opt_level >= 1) {
        nvptx_convert(cg);
        nvptx_extremes(cg, chip_number(cg) >= 80);
    }
    if (cg->options->opt_level >= 2) {
        nvptx_widen_short_ints(cg);
        gpu_walk_addresses(cg, WALKED);
        nvptx_sink(cg);
        nvptx_simplify_addresses(cg);
        nvptx_keep_counters(cg);
        nvptx_rotate(cg);
        nvptx_lay_out(cg);
    }
    if (cg->failed) return false;
    nvptx_convert_bits(cg);
    nvptx_keep_signs(cg);
    gpu_keep_zeros(cg);
    if (cg->options->keep_text) cg->text_llvm = cg_print(cg);
    Str kept = cg_emit_copy(cg, &artifact->arena, LLVMAssemblyFile);
    if (cg->failed) return false;
    artifact->code = kept.bytes;
    artifact->ncode = kept.len + 1;
    if (cg->options->keep_text) cg->text_asm = kept;
    return true;
}

const Target target_nvptx = {
    .kind = TARGET_NVPTX,
    .atomic_inc = "llvm.nvvm.atomic.load.inc.32",
    .atomic_dec = "llvm.nvvm.atomic.load.dec.32",
    .name = "nvptx",
    .spaces = {SPACE_PTX_GLOBAL, SPACE_PTX_SHARED, SPACE_PTX_LOCAL, SPACE_PTX_CONST},
    .has_owner = false,
    .lines = true,
    .contracts = true,
    .splits_addresses = true,
    .passes = "default<O3>,function(loop-simplify)",
    .rounds_bfloat = true,
    .print = "vprintf",
    .move = {{"mov.b32 $0, $1;", "=r,r", "=r,r"}, {"mov.b64 $0, $1;", "=l,l", "=l,l"}},
    .lib_prefix = "__nv_",
    .lib_suffixes = {"", "f"},
    .machine = machine,
    .raises = gpu_raises,
    .record = gpu_record,
    .grid = grid,
    .shared_static = gpu_shared_static,
    .shared_dynamic = gpu_shared_dynamic,
    .shared_dynamic_size = shared_dynamic_size,
    .generate = generate,
    .entry = entry,
    .link = libdevice_link,
    .emit = emit,
};
