/* target_amdgpu.c - AMD GPUs: a code object for HIP.
 *
 * Kernel parameters are the leaves of the entry's parameters, each at its natural alignment: the kernarg segment as
 * LLVM lays it. The sizes of block and grid stand behind them, where the runtime puts the implicit arguments of code
 * object version 5; the size of the shared memory is in the dispatch packet. LLVM notes which of these a kernel uses. */
#include "codegen/target/amdgpu.h"
#include "codegen/target/gpu_walk.h"
#include "codegen/target/amdgpu_link.h"
#include "codegen/target/gpu_kernel.h"
#include "codegen/target/targets.h"
#include <stdio.h>

#define TRIPLE "amdgcn-amd-amdhsa"

enum { KERNEL_CONVENTION = 91 }; /* LLVM's CallingConv::AMDGPU_KERNEL; not in its C interface */
/* Offsets in the implicit arguments, and of the group segment's size in the dispatch packet (HSA). */
enum { IMPLICIT_BLOCK_COUNT = 0, IMPLICIT_GROUP_SIZE = 12, PACKET_GROUP_SEGMENT = 28 };

/* LLVM's default passes without those that look for what C++ programs contain, in an order that costs less: loads are numbered
 * (gvn) before loops are unrolled, since the aliases of n accesses cost n squared. The last one stands for what llvm_options() switches
 * off in code generation. Addresses of loops are counted up behind them (gpu_walk.c). Code is as good as after default<O3>
 * (docs/benchmarks.md). Without div-rem-pairs the backend has no instruction for a quotient and a remainder of 16 bits. */
#define CLEAN_UP "sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>"
#define PASSES                                                                                     \
    "always-inline,function(" CLEAN_UP "),cgscc(inline,function-attrs),globaldce,"                 \
    "function(amdgpu-promote-kernel-arguments,infer-address-spaces,"                               \
    "amdgpu-promote-alloca-to-vector,sroa,early-cse,"                                              \
    "simplifycfg,correlated-propagation,simplifycfg,reassociate,"                                  \
    "loop-mssa(loop-instsimplify,loop-simplifycfg,loop-rotate,licm,"                               \
    "simple-loop-unswitch<nontrivial>),simplifycfg,loop(loop-deletion),gvn,"                       \
    "loop(loop-unroll-full),sroa,early-cse<memssa>,dse,bdce,adce,loop-mssa(licm),"                 \
    "simplifycfg<hoist-common-insts;sink-common-insts>,%sloop-unroll<O3>,infer-alignment,"         \
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),div-rem-pairs,"                               \
    "simplifycfg<speculate-unpredictables>),amdgpu-attributor,globaldce,"                          \
    "function(separate-const-offset-from-gep)"

static uint64_t most_threads(const Cg *cg) {
    return cg->options->max_threads ? (uint64_t)cg->options->max_threads : MAX_BLOCK_THREADS;
}

/* Vector registers beyond 256 are those of matrices. A work-item of a larger block has none of them, and nothing here computes with
 * matrices: LLVM is told that there are none, or else it looks at each of these registers to find out. */
enum { THREADS_WITHOUT_MORE = 256 };
#define NO_MATRICES "-mai-insts"

static TgMachine machine(Cg *cg) {
    char features[CHIP_FEATURES + sizeof NO_MATRICES + 1], *message = NULL;
    const char *arch = cg->options->arch;
    const Chip *chip = arch ? amdgpu_chip(arch, features) : NULL;
    if (!chip) {
        cg->failed = true;
        diag_add(cg->diags, E0503, NULL, arch ? arch : "", amdgpu_chip_names(cg->arena));
        return NULL;
    }
    if (chip->options & CHIP_MATRIX && most_threads(cg) > THREADS_WITHOUT_MORE)
        strcat(features, *features ? "," NO_MATRICES : NO_MATRICES);
    const char *key = str_printf(cg->arena, TRIPLE " %s %s", chip->name, features).bytes;
    TgMachine kept = cg_machine_take(cg, key);
    if (kept) return kept;
    LLVMTargetRef target;
    if (LLVMGetTargetFromTriple(TRIPLE, &target, &message)) {
        cg_error(cg, "%s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    /* The levels above do their own loop invariant code motion and value numbering, which PASSES has done: half of the time of a tiled
     * matrix product. The rest of what they do has switches (llvm_options()). The level below, for opt=False, is wrong in LLVM 19: behind a
     * loop that lanes leave one by one it computes in front of the instruction that lets them all go on. */
    return LLVMCreateTargetMachine(target, TRIPLE, chip->name, features, LLVMCodeGenLevelLess,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
}

/* -- the work-item ---------------------------------------------------------------------------- */

enum { MAX_BLOCKS = INT32_MAX };

/* Reads a register whose values lie in [0, end). */
static Value special(Cg *cg, const char *name, int axis, uint64_t end) {
    char text[64];
    uint64_t low = 0;
    snprintf(text, sizeof text, "llvm.amdgcn.%s.%c", name, "xyz"[axis]);
    Value read = cg_intrinsic(cg, text, NULL, 0, NULL, 0);
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    LLVMAddCallSiteAttribute(read, LLVMAttributeReturnIndex,
                             LLVMCreateConstantRangeAttribute(cg->context, kind, 32, &low, &end));
    return read;
}

static Value metadata(Cg *cg, LLVMMetadataRef *parts, size_t n) {
    return LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, parts, n));
}

/* A number of `type` that the runtime left `offset` bytes behind the pointer that `intrinsic` gives, in [low, end). */
static Value field(Cg *cg, const char *intrinsic, int64_t offset, LType type, int64_t low,
                   int64_t end) {
    Value at = cg_int(cg->i64, offset), base = cg_intrinsic(cg, intrinsic, NULL, 0, NULL, 0);
    Value address = LLVMBuildInBoundsGEP2(cg->b, cg->i8, base, &at, 1, "");
    Value load = LLVMBuildLoad2(cg->b, type, address, "");
    LLVMMetadataRef range[] = {LLVMValueAsMetadata(cg_int(type, low)),
                               LLVMValueAsMetadata(cg_int(type, end))};
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(cg->context, "range", 5),
                    metadata(cg, range, 2));
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(cg->context, "invariant.load", 14),
                    metadata(cg, NULL, 0));
    return type == cg->i32 ? load : LLVMBuildZExt(cg->b, load, cg->i32, "");
}

static TgValue grid(Cg *cg, GridValue which, int axis) {
    int64_t threads = (int64_t)most_threads(cg);
    switch (which) {
    case GRID_THREAD: return special(cg, "workitem.id", axis, (uint64_t)threads);
    case GRID_BLOCK: return special(cg, "workgroup.id", axis, MAX_BLOCKS);
    case GRID_BLOCK_DIM:
        return field(cg, "llvm.amdgcn.implicitarg.ptr", IMPLICIT_GROUP_SIZE + 2 * axis, cg->i16, 1,
                     threads + 1);
    default:
        return field(cg, "llvm.amdgcn.implicitarg.ptr", IMPLICIT_BLOCK_COUNT + 4 * axis, cg->i32, 1,
                     MAX_BLOCKS);
    }
}

/* The group segment is the static part and then the dynamic one, which begins where its array does. */
static TgValue shared_dynamic_size(Cg *cg) {
    Value all = field(cg, "llvm.amdgcn.dispatch.ptr", PACKET_GROUP_SEGMENT, cg->i32, 0, INT32_MAX);
    Value start = LLVMBuildPtrToInt(cg->b, gpu_shared_dynamic(cg), cg->i32, "");
    return LLVMBuildZExt(cg->b, LLVMBuildSub(cg->b, all, start, ""), cg->i64, "");
}

/* -- kernels ---------------------------------------------------------------------------------- */

static void note(Cg *cg, Value fn, const char *key, const char *value) {
    LLVMAttributeRef text = LLVMCreateStringAttribute(cg->context, key, (unsigned)strlen(key),
                                                      value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, text);
}

static bool entry(Cg *cg) {
    char text[32];
    Value fn = gpu_kernel(cg, KERNEL_CONVENTION);
    if (!fn) return false;
    snprintf(text, sizeof text, "1,%d", (int)most_threads(cg));
    note(cg, fn, "amdgpu-flat-work-group-size", text);
    note(cg, fn, "uniform-work-group-size", "true");
    if (cg->options->max_registers) {
        snprintf(text, sizeof text, "%d", (int)cg->options->max_registers);
        note(cg, fn, "amdgpu-num-vgpr", text);
    }
    int64_t version = amdgpu_chip_of(cg)->options & CHIP_GENERIC ? 600 : 500;
    LLVMAddModuleFlag(cg->mod, LLVMModuleFlagBehaviorError, "amdhsa_code_object_version", 26,
                      LLVMValueAsMetadata(cg_int(cg->i32, version)));
    return true;
}

/* -- the code object -------------------------------------------------------------------------- */

/* Constants that may be merged land in sections of their own, which our linker would have to merge. */
static void keep_constants_apart(Cg *cg) {
    for (Value g = LLVMGetFirstGlobal(cg->mod); g; g = LLVMGetNextGlobal(g))
        LLVMSetUnnamedAddress(g, LLVMNoUnnamedAddr);
}

/* 0.0 - y in float and half: LLVM 19 selects -y where it is an operand, which is -0.0 for 0.0. It leaves a subtraction alone that names
 * its rounding; the instruction is the same. */
static void keep_subtraction(Cg *cg, Value inst) {
    LType type = LLVMTypeOf(inst);
    static const char *const words[] = {"round.tonearest", "fpexcept.ignore"};
    Value args[] = {LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1), NULL, NULL};
    for (int k = 0; k < 2; k++)
        args[2 + k] = LLVMMetadataAsValue(
            cg->context, LLVMMDStringInContext2(cg->context, words[k], strlen(words[k])));
    LLVMPositionBuilderBefore(cg->b, inst);
    Value kept = cg_intrinsic(cg, "llvm.experimental.constrained.fsub", &type, 1, args, 4);
    unsigned kind = LLVMGetEnumAttributeKindForName("strictfp", 8);
    LLVMAddCallSiteAttribute(kept, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(cg->context, kind, 0));
    LLVMReplaceAllUsesWith(inst, kept);
    LLVMInstructionEraseFromParent(inst);
}

static bool is_lost(Value inst) {
    if (LLVMGetInstructionOpcode(inst) != LLVMFSub || !LLVMIsNull(LLVMGetOperand(inst, 0)))
        return false;
    LType type = LLVMTypeOf(inst);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) type = LLVMGetElementType(type);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return (kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind) &&
           !(LLVMGetFastMathFlags(inst) & LLVMFastMathNoSignedZeros);
}

/* What LLVM 19 selects wrongly or badly. */
static void prepare_selection(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (is_lost(inst))
                    keep_subtraction(cg, inst);
                else if (cg->options->opt_level > 0)
                    amdgpu_convert(cg, inst);
            }
}

/* Code generation changes the module: the text is made from a copy. */
static bool keep_text(Cg *cg) {
    cg->text_llvm = cg_print(cg);
    LLVMModuleRef whole = cg->mod;
    cg->mod = LLVMCloneModule(whole);
    cg->text_asm = cg_emit_copy(cg, cg->arena, LLVMAssemblyFile);
    LLVMDisposeModule(cg->mod);
    cg->mod = whole;
    return !cg->failed;
}

/* Nobody looks at the module after the last passes: the backend crashes, or takes wrong values, where it is not valid. */
static bool is_valid(Cg *cg) {
#ifdef NDEBUG
    return !cg->failed;
#else
    return !cg->failed && cg_verify(cg);
#endif
}

enum { LDS_BYTES = 65536 };

static bool emit(Cg *cg, Artifact *artifact) {
    const char *why = NULL;
    if (!gpu_shared_fits(cg, LDS_BYTES,
                         "make them smaller, or keep a part in registers or global memory"))
        return false;
    gpu_drop_unused_params(cg);
    if (!amdgpu_split_unions(cg)) return false;
    keep_constants_apart(cg);
    prepare_selection(cg);
    gpu_keep_zeros(cg);
    amdgpu_join_addresses(cg);
    if (cg->options->opt_level > 1) gpu_walk_addresses(cg, 0);
    if (cg->options->opt_level > 1) amdgpu_use_offsets(cg);
    if (cg->options->opt_level > 1) amdgpu_count_once(cg);
    if (!is_valid(cg) || (cg->options->keep_text && !keep_text(cg))) return false;
    Str kept = cg_emit_copy(cg, cg->arena, LLVMObjectFile);
    if (cg->failed) return false;
    Str linked = amdgpu_link(cg->arena, kept.bytes, (size_t)kept.len, &why);
    if (!linked.bytes) return cg_error(cg, "the code object cannot be linked: %s", why);
    artifact->code = str_copy(&artifact->arena, linked.bytes, (size_t)linked.len).bytes;
    artifact->ncode = linked.len;
    if (cg->options->keep_text)
        artifact->object = str_copy(&artifact->arena, kept.bytes, (size_t)kept.len);
    return true;
}

const Target target_amdgpu = {
    .kind = TARGET_AMDGPU,
    .name = "amdgpu",
    .spaces = {SPACE_AMD_GLOBAL, SPACE_AMD_SHARED, SPACE_AMD_LOCAL, SPACE_AMD_CONST},
    .has_owner = false,
    .contracts = true,
    .passes = PASSES,
    .move = {{"", "=v,0", "=s,0"}, {"", "=v,0", "=s,0"}},
    .lib_prefix = "__ocml_",
    .lib_suffixes = {"_f64", "_f32"},
    .machine = machine,
    .raises = gpu_raises,
    .record = gpu_record,
    .grid = grid,
    .shared_static = gpu_shared_static,
    .shared_dynamic = gpu_shared_dynamic,
    .shared_dynamic_size = shared_dynamic_size,
    .generate = amdgpu_generate,
    .rmw = amdgpu_rmw,
    .cmpxchg = amdgpu_cmpxchg,
    .print_line = amdgpu_print_line,
    .entry = entry,
    .mend = amdgpu_mend,
    .link = amdgpu_link_libs,
    .emit = emit,
};
