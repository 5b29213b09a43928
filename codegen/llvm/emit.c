/* emit.c - LLVM once per process, the optimisation pipeline, and machine code or text in memory. */
#include "codegen/llvm/cg.h"
#include "codegen/llvm_start.h"
#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"
#include "frontend/base/os.h"
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>

/* Loop strength reduction before instruction selection takes more time than all other passes together when
 * a loop reads many rows, and on contiguous arrays x86 addresses gain nothing by it. Off there; the
 * pipelines below run it as a pass of theirs where it pays: not for PTX, whose assembler forms addresses by itself.
 * LLVM 19 divides ints on AMD GPUs in 24 bits where they do not fit: its own expansion of divisions is off, too. Its code
 * generation for them is set to the level "less", for want of a finer switch (target_amdgpu.c): what that leaves out and code needs
 * is on, and its passes for addresses, which come too late there to be cheap, are off: those that pay are in the target's list.
 * X86DomainReassignment looks for integers that could live in mask registers: half of the time of long straight code,
 * for nothing that our code has. The SLP vectoriser compares each access of a region with all others: 2,000 instructions
 * are more than any loop of ours has. A sum of floats keeps its order also in vectors: what is added may be worth them (lower_jump()).
 * Four ways are four comparisons and no table of addresses: which one is taken is then learned, and often computed.
 * Innermost loops begin at a multiple of 64 bytes (2^6): a short one that lies across two lines of what processors keep of decoded
 * instructions takes up to 1.4 of the time, by chance. */
static void llvm_options(void) {
    static const char *const words[] = {"quern",
                                        "-disable-lsr",
                                        "-amdgpu-codegenprepare-disable-idiv-expansion",
                                        "-amdgpu-scalar-ir-passes=0",
                                        "-amdgpu-load-store-vectorizer=1",
                                        "-amdgpu-sdwa-peephole=1",
                                        "-amdgpu-dpp-combine=1",
                                        "-amdgpu-opt-vgpr-liverange=1",
                                        "-amdgpu-enable-pre-ra-optimizations=1",
                                        "-disable-x86-domain-reassignment",
                                        "-slp-schedule-budget=2000",
                                        "-force-ordered-reductions",
                                        "-min-jump-table-entries=8",
                                        "-x86-experimental-pref-innermost-loop-alignment=6"};
    LLVMParseCommandLineOptions(countof(words), words, "");
}

static LlvmState *llvm_fresh(void) {
    return calloc(1, sizeof(LlvmState));
}

static LlvmState *llvm_start(void (*fatal)(const char *reason)) {
    LlvmState *llvm = llvm_fresh();
    if (!llvm) return NULL;
    llvm_options();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInstallFatalErrorHandler(fatal);
    return llvm;
}

const WorkerHooks llvm_hooks = {.start = llvm_start, .fresh = llvm_fresh};

/* The host pipeline of levels 2 and 3: LLVM's default one without the passes that look for what C++ programs
 * contain. It takes about half as long; measured on loops over arrays, the code is as fast. */
#define CLEAN_UP "sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>"
#define HOST_INTERPROCEDURAL                                                                       \
    "ipsccp,deadargelim,function(" CLEAN_UP "),cgscc(inline,function-attrs,argpromotion),"         \
    "globaldce,"
/* %s: see host_pipeline. Addresses become sums before loops are unrolled: afterwards there are four times as many, and it takes four
 * times as long. */
#define HOST_FUNCTION                                                                              \
    "function(" CLEAN_UP                                                                           \
    ",%scorrelated-propagation,jump-threading,simplifycfg,tailcallelim,reassociate,"               \
    "constraint-elimination,"                                                                      \
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm,simple-loop-unswitch<"     \
    "nontrivial>),"                                                                                \
    "simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-idiom,indvars,loop-deletion,loop-"      \
    "unroll-full),"                                                                                \
    "sroa,gvn,sccp,bdce,dse,loop-mssa(licm),adce,simplifycfg,"                                     \
    "loop(loop-rotate),inject-tli-mappings,loop-vectorize,infer-alignment,%s"                      \
    "instcombine<no-verify-fixpoint>,simplifycfg,%s%s"                                             \
    "loop-unroll,instcombine<no-verify-fixpoint>,"                                                 \
    "loop-mssa(licm),alignment-from-assumptions,loop-sink,%ssimplifycfg)"
#define PAIRS "slp-vectorizer,vector-combine,"

/* Nothing here takes time that grows with the square of the number of blocks. */
#define LARGE_PIPELINE                                                                             \
    "always-inline,function(sroa,early-cse<memssa>,instsimplify,"                                  \
    "loop-mssa(loop-rotate,licm),early-cse<memssa>,dce)"

/* For a function that does little but call instances: it has no loop, and what the others find is not worth their time. */
#define CALLS_PIPELINE "always-inline,function(" CLEAN_UP ",adce,simplifycfg)"

#define REDUCE ",function(loop(loop-reduce))"

#define HOST_INLINE "always-inline,cgscc(inline),globaldce,"

/* Kernels that wait: the passes above with their suspend points as calls, then these. */
#define SPLIT "coro-early,cgscc(coro-split),coro-cleanup,globaldce"
static const char *const coroutines[] = {
    SPLIT, SPLIT ",function(" CLEAN_UP ",gvn,dse,simplifycfg,instcombine<no-verify-fixpoint>)"};

/* Several passes take time that grows with the square of a block's instructions (two-address form, scheduling), or with the
 * square of the blocks of a function (conditions that dominate, joins of many edges). What no function of ours that is written
 * by hand comes near gets passes that do not. */
enum { LARGE_BLOCK = 1000, MANY_BLOCKS = 2000, MANY_RESULTS = 1000 };

static bool run_passes(Cg *cg, const char *pipeline, LLVMPassBuilderOptionsRef options) {
    LLVMErrorRef error = LLVMRunPasses(cg->mod, pipeline, cg->machine, options);
    if (!error) return !cg->failed;
    char *message = LLVMGetErrorMessage(error);
    cg_error(cg, "%s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

/* Is it a number that is known here? */
static bool is_known_stride(const Func *func, Ref stride) {
    const Inst *inst = ir_inst(func, stride);
    if (inst->op != OP_stride) return inst->op == OP_const;
    const Type *of = ir_type(func, ir_arg(func, stride, 0));
    return of->ndim == 1 && of->layout == LAYOUT_C;
}

/* Bytes of text that are read as wider numbers, a frame's words: its layout says no more than any other's. */
static bool has_known_strides(const Func *func, Ref array) {
    int32_t ndim = ir_type(func, array)->ndim;
    if (ir_inst(func, array)->op != OP_restride) return false;
    for (int32_t i = 0; i < ndim; i++)
        if (!is_known_stride(func, ir_arg(func, array, 1 + ndim + i))) return false;
    return true;
}

/* Is it the loop's counter, moved by what stands still? */
static bool goes_along(const Func *func, const Cfg *cfg, int32_t loop, Ref ref, int depth) {
    const Inst *inst = ir_inst(func, ref);
    if (cfg->loop_of[inst->block] != loop || depth == 0) return false;
    if (inst->op == OP_phi) return inst->block == cfg->loops.items[loop].header;
    if (inst->op != OP_add && inst->op != OP_sub) return false;
    return goes_along(func, cfg, loop, ir_arg(func, ref, 0), depth - 1) ||
           goes_along(func, cfg, loop, ir_arg(func, ref, 1), depth - 1);
}

/* Does an index go along with the loop around whose steps are not those of the elements? */
static bool steps_far(const Func *func, const Cfg *cfg, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const Type *array = ir_type(func, ir_arg(func, ref, 0));
    int32_t loop = cfg->loop_of[inst->block];
    int near = array->layout == LAYOUT_F ? 0 : array->ndim - 1;
    if (loop < 0 || func->blocks.items[inst->block].cold) return false;
    for (int k = 0; k < array->ndim; k++)
        if (k != near && goes_along(func, cfg, loop, ir_arg(func, ref, 1 + k), 4)) return true;
    return false;
}

static bool is_innermost(const Cfg *cfg, int32_t loop) {
    for (int32_t l = 0; l < cfg->loops.len; l++)
        if (cfg->loops.items[l].parent == loop) return false;
    return true;
}

static int depth_of(const Cfg *cfg, int32_t loop) {
    int depth = 0;
    for (; loop >= 0; loop = cfg->loops.items[loop].parent)
        depth++;
    return depth;
}

/* Are there addresses that go up by what only the program knows, deeper inside than innermost loops that have others alone? Those are
 * slower where such addresses are variables; but each round written side by side multiplies to find one that is none. */
static bool has_steps(const Cg *cg, const Func *func) {
    Cfg cfg;
    cfg_compute(&cfg, cg->arena, func);
    Bits far = bits_new(cg->arena, cfg.loops.len), near = bits_new(cg->arena, cfg.loops.len);
    int deep_far = 0, deep_near = 0;
    for (int32_t i = 1; i < func->insts.len; i++) {
        const Inst *inst = ir_inst(func, i);
        if (inst->op != OP_load && inst->op != OP_store) continue;
        Ref array = ir_arg(func, i, 0);
        if (ir_type(func, array)->layout == LAYOUT_A && !has_known_strides(func, array))
            return true;
        int32_t loop = cfg.loop_of[inst->block];
        if (loop < 0 || func->blocks.items[inst->block].cold || opt_is_outlined(func)) continue;
        bits_set(steps_far(func, &cfg, i) ? &far : &near, loop);
    }
    for (int32_t l = 0; l < cfg.loops.len; l++) {
        if (bits_get(&far, l))
            deep_far = QN_MAX(deep_far, depth_of(&cfg, l));
        else if (bits_get(&near, l) && is_innermost(&cfg, l))
            deep_near = QN_MAX(deep_near, depth_of(&cfg, l));
    }
    return deep_far > deep_near;
}

/* Are ints made narrower? What they were computed from may be narrow, too. */
static bool has_narrowing(const Cg *cg, const Func *func) {
    (void)cg;
    for (int32_t i = 1; i < func->insts.len; i++) {
        const Inst *inst = ir_inst(func, i);
        if (inst->op == OP_cast && type_is_int(inst->type) && type_bits(inst->type) < 32 &&
            type_is_int(ir_type(func, ir_arg(func, i, 0))))
            return true;
    }
    return false;
}

/* A remainder that is written as a product, beside its quotient, is one division. */
static bool has_quotients(const Cg *cg, const Func *func) {
    (void)cg;
    for (int32_t i = 1; i < func->insts.len; i++)
        if (ir_inst(func, i)->op == OP_floordiv && type_is_int(ir_type(func, i))) return true;
    return false;
}

/* Does a block store twice into one object, or a value of several parts? */
static bool stores_side_by_side(const Cg *cg, const Func *func, const Block *block) {
    enum { MOST = 8 };
    Ref into[MOST];
    int n = 0;
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref ref = block->insts.items[i];
        const Inst *inst = ir_inst(func, ref);
        if (inst->op != OP_store && inst->op != OP_set_field) continue;
        Ref value = ir_arg(func, ref, inst->nargs - 1);
        if (n == MOST || cg_leaf_count(cg, ir_type(func, value)) > 1) return true;
        for (int k = 0; k < n; k++)
            if (into[k] == ir_arg(func, ref, 0)) return true;
        into[n++] = ir_arg(func, ref, 0);
    }
    return false;
}

/* Is there a test of a loop so short that LLVM writes its rounds side by side? */
static bool ends_short_loop(const Func *func, const Block *block) {
    enum { SHORT = 64 };
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref ref = block->insts.items[i];
        if (ir_inst(func, ref)->op != OP_lt) continue;
        const Inst *counter = ir_inst(func, ir_arg(func, ref, 0));
        const Inst *rounds = ir_inst(func, ir_arg(func, ref, 1));
        if (counter->op == OP_phi && rounds->op == OP_const && type_is_int(rounds->type) &&
            rounds->u.value->i <= SHORT)
            return true;
    }
    return false;
}

/* Is there what LLVM's SLP vectoriser looks for, statements side by side that could be one of a vector? It costs a twentieth of a
 * compilation, and in a block of thousands of instructions more than all the rest. */
static bool has_pairs(const Cg *cg, const Func *func) {
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        if (block->removed) continue;
        if (ends_short_loop(func, block) || stores_side_by_side(cg, func, block)) return true;
    }
    return false;
}

/* An index without the number that is added to it. */
static Ref index_base(const Func *func, Ref index) {
    for (;;) {
        const Inst *inst = ir_inst(func, index);
        bool moved = (inst->op == OP_add || inst->op == OP_sub) &&
                     ir_inst(func, ir_arg(func, index, 1))->op == OP_const;
        if (!moved && inst->op != OP_wrap_index && inst->op != OP_check_index) return index;
        index = ir_arg(func, index, 0);
    }
}

/* Might the places be those of neighbouring rounds: not the same, and not of different variables? */
static bool are_near(const Func *func, Ref load, Ref store) {
    bool same = true;
    for (int32_t k = 0; k < ir_inst(func, load)->nargs; k++) {
        Ref a = ir_arg(func, load, k), b = ir_arg(func, store, k);
        if (k == 0 && a != b) return true; /* of two views */
        same &= a == b;
        if (k > 0 && index_base(func, a) != index_base(func, b)) return false;
    }
    return !same;
}

/* May the loop load what it has stored a round before? */
static bool loads_stored(const Func *func, const Cfg *cfg, Ref store) {
    const Inst *inst = ir_inst(func, store);
    int32_t loop = cfg->loop_of[inst->block];
    Ref into = cg_memory_of(func, ir_arg(func, store, 0));
    for (Ref r = 1; r < func->insts.len && loop >= 0; r++) {
        if (ir_inst(func, r)->op != OP_load || cfg->loop_of[ir_inst(func, r)->block] != loop)
            continue;
        Ref from = cg_memory_of(func, ir_arg(func, r, 0));
        bool known = from == into || cg_is_known_memory(func, from);
        if (!known || (from == into && are_near(func, r, store))) return true;
    }
    return false;
}

/* Is there a loop that may load what a round before it has stored? What looks for such takes a fiftieth of a compilation. Loops that
 * are written out become others, and so do functions that are written into each other. */
static bool has_carried(const Cg *cg, const Func *func) {
    enum { MOST = 1 << 12 }; /* instructions: each store is compared with each load */
    Cfg cfg;
    if (func->insts.len > MOST) return true;
    for (int32_t b = 0; b < func->blocks.len; b++)
        if (!func->blocks.items[b].removed && ends_short_loop(func, &func->blocks.items[b]))
            return true;
    cfg_compute(&cfg, cg->arena, func);
    for (Ref r = 1; r < func->insts.len; r++) {
        const Inst *inst = ir_inst(func, r);
        bool hidden = inst->op == OP_set_field || inst->op == OP_grow;
        for (int32_t k = 0; inst->op == OP_lib && k < inst->nargs; k++)
            hidden |= !type_is_number(ir_type(func, ir_arg(func, r, k)));
        if (hidden || (inst->op == OP_store && loads_stored(func, &cfg, r))) return true;
    }
    return false;
}

static bool has_large_block(const Cg *cg, const Func *func) {
    (void)cg;
    for (int32_t b = 0; b < func->blocks.len; b++)
        if (!func->blocks.items[b].removed && func->blocks.items[b].insts.len > LARGE_BLOCK)
            return true;
    return false;
}

/* Has the module calls of functions of ours? */
static bool calls(const Cg *cg) {
    int32_t n = 0;
    for (int32_t k = 0; k < cg->walk.len; k++)
        n += !cg->sigs[cg->walk.items[k]].stub;
    return n > 1 || (n && cg->sigs[cg->walk.items[0]].recursive);
}

static bool has_attribute(Value fn, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind) != NULL;
}

/* Is there a function that LLVM has to decide of, whether it is written into its callers? */
static bool may_inline(const Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn) && LLVMGetLinkage(fn) == LLVMInternalLinkage &&
            !has_attribute(fn, "noinline") && !has_attribute(fn, "alwaysinline"))
            return true;
    return false;
}

/* Has a function of the module it? */
static bool any(const Cg *cg, bool (*has)(const Cg *, const Func *)) {
    int32_t n = cg->nunits ? cg->walk.len : cg->ir->funcs.len;
    for (int32_t f = 0; f < n; f++)
        if (has(cg, cg->ir->funcs.items[cg->nunits ? cg->walk.items[f] : f])) return true;
    return false;
}

/* Two operations of one kind on floats in a block, or a function of mathematics, which has such: GPUs with packed arithmetic do two at
 * once. */
static bool has_like_floats(const Cg *cg, const Func *func) {
    (void)cg;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        int32_t seen[OP_COUNT] = {0};
        for (int32_t i = 0; i < block->insts.len && !block->removed; i++) {
            const Inst *inst = ir_inst(func, block->insts.items[i]);
            if (!inst->type || type_class(inst->type) != CLASS_FLT || inst->op == OP_load) continue;
            if (inst->op == OP_lib || inst->op == OP_call || seen[inst->op]++) return true;
        }
    }
    return false;
}

/* Does a round of a loop wait for two floats of the round before it, or may it for one that was stored? Shuffled into vectors and out of
 * them again, these take longer. */
static bool hands_on(const Cg *cg, const Func *func) {
    Cfg cfg;
    cfg_compute(&cfg, cg->arena, func);
    for (int32_t l = 0; l < cfg.loops.len; l++) {
        const Block *header = &func->blocks.items[cfg.loops.items[l].header];
        int n = 0;
        for (int32_t i = 0; i < header->insts.len; i++) {
            const Inst *inst = ir_inst(func, header->insts.items[i]);
            n += inst->op == OP_phi && inst->type && type_class(inst->type) == CLASS_FLT;
        }
        if (n > 1) return true;
    }
    return has_carried(cg, func);
}

/* Has it floats that are computed side by side, and no round that waits for them? */
static bool has_floats_apart(const Cg *cg, const Func *func) {
    return has_like_floats(cg, func) && !hands_on(cg, func);
}

static const char *host_pipeline(const Cg *cg) {
    bool pairs = (any(cg, has_pairs) || any(cg, has_floats_apart)) && !any(cg, has_large_block);
    return str_printf(cg->arena, "%s" HOST_FUNCTION,
                      calls(cg)      ? HOST_INLINE HOST_INTERPROCEDURAL
                      : !cg->inlined ? HOST_INLINE
                                     : "always-inline,globaldce,",
                      any(cg, has_narrowing) ? "aggressive-instcombine," : "",
                      calls(cg) || any(cg, has_carried) ? "loop-load-elim," : "",
                      pairs ? PAIRS : "", any(cg, has_steps) ? "loop(loop-reduce)," : "",
                      any(cg, has_quotients) ? "div-rem-pairs," : "")
        .bytes;
}

/* The target's own passes, with those for pairs where there may be some. */
static const char *target_pipeline(const Cg *cg) {
    bool pairs = any(cg, has_pairs) || any(cg, has_like_floats);
    return str_printf(cg->arena, cg->target->passes, pairs ? PAIRS : "").bytes;
}

const char *cg_pipeline(const Cg *cg) {
    static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                            "default<O3>"};
    int level = QN_MAX(0, QN_MIN(cg->options->opt_level, 3));
    bool host = cg->target->is_host, waits = host && cg->sigs[0].suspends;
    if (host && level >= (waits ? 1 : 2)) return host_pipeline(cg);
    if (host && level == 1) return "default<O1>" REDUCE;
    if (cg->target->passes && level >= 2) return target_pipeline(cg);
    /* A library's function that a dead branch named: the backend for AMD crashes on code that nobody can reach. */
    if (!host && level == 0) return "default<O0>,globaldce";
    return waits ? "always-inline" : pipelines[level];
}

/* -- large functions ------------------------------------------------------------------------------- */

typedef struct Extent {
    int32_t blocks, largest; /* instructions of the largest block; counting ends at the limits */
} Extent;

static Extent extent_of(Value fn) {
    Extent e = {0};
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb && e.blocks <= MANY_BLOCKS;
         bb = LLVMGetNextBasicBlock(bb)) {
        int32_t n = 0;
        for (Value i = LLVMGetFirstInstruction(bb); i && n <= LARGE_BLOCK;
             i = LLVMGetNextInstruction(i))
            n++;
        e.largest = QN_MAX(e.largest, n);
        e.blocks++;
    }
    return e;
}

static bool has_many_blocks(const Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (extent_of(fn).blocks > MANY_BLOCKS) return true;
    return false;
}

/* InstCombine looks at memory of results, and of arguments, once more for each of them. */
static bool has_many_parts(const Cg *cg) {
    for (int32_t i = 0; i < cg->ir->funcs.len; i++) {
        const CgSig *sig = &cg->sigs[i];
        if (sig->reachable && (sig->nresult > MANY_RESULTS || (sig->given && sig->large)))
            return true;
    }
    return false;
}

bool cg_optimise_with(Cg *cg, const char *pipeline) {
    int level = cg->options->opt_level;
    if (level > 0) cg_hide_starts(cg);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, level >= 2 && cg->target->is_host);
    LLVMPassBuilderOptionsSetSLPVectorization(options, level >= 2);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, level >= 2);
    bool ok = run_passes(cg, pipeline, options);
    LLVMDisposePassBuilderOptions(options);
    return ok;
}

/* Is `inst` a call of an instance? */
static bool calls_instance(Value inst) {
    size_t n;
    if (!LLVMIsACallInst(inst)) return false;
    Value callee = LLVMIsAFunction(LLVMGetCalledValue(inst));
    return callee && strncmp(LLVMGetValueName2(callee, &n), HOST_INSTANCE_PREFIX,
                             sizeof HOST_INSTANCE_PREFIX - 1) == 0;
}

enum { MOST_BLOCKS = 64 };

static int number_of(const BB *blocks, BB block) {
    int k = 0;
    while (blocks[k] != block)
        k++;
    return k;
}

/* Of a function of up to MOST_BLOCKS blocks: does a block reach itself? */
static bool has_loop(const BB *blocks, int n) {
    uint64_t reached[MOST_BLOCKS] = {0}, loops = 0;
    for (int i = 0; i < n; i++) {
        Value end = LLVMGetBasicBlockTerminator(blocks[i]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
            reached[i] |= UINT64_C(1) << number_of(blocks, LLVMGetSuccessor(end, k));
    }
    for (int over = 0; over < n; over++)
        for (int i = 0; i < n; i++)
            if (reached[i] >> over & 1) reached[i] |= reached[over];
    for (int i = 0; i < n; i++)
        loops |= reached[i] >> i & 1;
    return loops;
}

/* Does it call instances, and next to nothing else? These are functions of the library beyond some size: the time goes there, and what
 * careful selection gains here is lost in them, while it costs a tenth of a millisecond for each call. */
static bool is_mostly_calls(Value fn) {
    enum { PER_CALL = 32 };
    BB blocks[MOST_BLOCKS];
    int32_t calls = 0, others = 0;
    int n = 0;
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        if (n == MOST_BLOCKS) return false;
        blocks[n++] = bb;
        for (Value i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            *(calls_instance(i) ? &calls : &others) += 1;
    }
    return calls && others <= calls * PER_CALL && !has_loop(blocks, n);
}

/* Is that all that there is? */
static bool has_only_calls(const Cg *cg) {
    if (!cg->inlined || !cg->entry_fn || !is_mostly_calls(cg->entry_fn)) return false;
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn) && fn != cg->entry_fn && !is_mostly_calls(fn)) return false;
    return true;
}

bool cg_optimise(Cg *cg) {
    bool host = cg->target->is_host && cg->options->opt_level > 0;
    cg->inlined = !may_inline(cg);
    const char *pipeline = host && (has_many_blocks(cg) || has_many_parts(cg)) ? LARGE_PIPELINE
                           : host && has_only_calls(cg)                        ? CALLS_PIPELINE
                                                                               : cg_pipeline(cg);
    bool ok = cg_optimise_with(cg, pipeline);
    cg->inlined = false; /* others use the pipeline, too */
    if (!cg->target->is_host || !cg->sigs[0].suspends) return ok;
    return ok && cg_coro_finish(cg) && cg_optimise_with(cg, coroutines[cg->options->opt_level > 0]);
}

static bool is_arithmetic(Value v) {
    if (!LLVMIsAInstruction(v)) return false;
    LLVMUseRef use = LLVMGetFirstUse(v);
    return use && !LLVMGetNextUse(use) &&
           (LLVMIsABinaryOperator(v) || LLVMIsACastInst(v) || LLVMIsACmpInst(v) ||
            LLVMIsASelectInst(v) || LLVMIsAUnaryOperator(v));
}

/* The parts of a large result are computed one after the other, and then stored one after the other: that many values wait for
 * registers at once, which takes the allocator time by their square. They are computed in front of their stores instead. */
static void compute_late(Cg *cg, Value fn) {
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (Value i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            Value stored = LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 0) : NULL;
            if (!stored || !is_arithmetic(stored) || LLVMGetInstructionParent(stored) != bb)
                continue;
            LLVMInstructionRemoveFromParent(stored);
            LLVMPositionBuilderBefore(cg->b, i);
            LLVMInsertIntoBuilder(cg->b, stored);
        }
}

/* Instructions are selected one by one in large functions and in those that only call others, registers are allocated as everywhere. */
static void select_simply(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        Extent e = extent_of(fn);
        bool large = e.blocks > MANY_BLOCKS || e.largest > LARGE_BLOCK;
        if (!large && !is_mostly_calls(fn)) continue;
        compute_late(cg, fn);
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "optnone", 0);
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "noinline", 0);
    }
}

/* Object or assembly text in memory; NULL after a diagnostic. */
static LLVMMemoryBufferRef emit_buffer(Cg *cg, LLVMCodeGenFileType type) {
    if (cg->target->is_host) select_simply(cg);
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(cg->machine, cg->mod, type, &message, &buffer)) {
        cg_error(cg, "%s", message ? message : "no code was made");
        LLVMDisposeMessage(message);
        return NULL;
    }
    if (cg->failed) { /* an error reported through the context's handler */
        LLVMDisposeMemoryBuffer(buffer);
        return NULL;
    }
    return buffer;
}

HostCode *cg_load_host(Cg *cg, HostObject object, void **entry, Artifact *keep) {
    char error[256];
    cg->code = emit_buffer(cg, LLVMObjectFile);
    if (!cg->code) {
        lazy_free(object.lazy);
        return NULL;
    }
    object.object = LLVMGetBufferStart(cg->code);
    object.size = LLVMGetBufferSize(cg->code);
    int64_t start = os_now_ns();
    HostCode *code = host_code_load(&object, entry, error, sizeof error);
    if (!code) cg_error(cg, "%s", error);
    if (keep && code) keep->object = str_copy(&keep->arena, object.object, object.size);
    cg->ns_link += os_now_ns() - start;
    return code;
}

Str cg_copy_text(Cg *cg, char *text) {
    cg->text = text;
    Str copy = str_copy(cg->arena, text, strlen(text));
    LLVMDisposeMessage(text);
    cg->text = NULL;
    return copy;
}

Str cg_print(Cg *cg) {
    return cg_copy_text(cg, LLVMPrintModuleToString(cg->mod));
}

Str cg_emit_copy(Cg *cg, Arena *arena, LLVMCodeGenFileType type) {
    cg->code = emit_buffer(cg, type);
    if (!cg->code) return (Str){0};
    Str copy = str_copy(arena, LLVMGetBufferStart(cg->code), LLVMGetBufferSize(cg->code));
    LLVMDisposeMemoryBuffer(cg->code);
    cg->code = NULL;
    return copy;
}

/* Data layout text that makes no sense ends in LLVM's report_fatal_error. */
void llvm_provoke(void) {
    LLVMTargetDataRef layout = LLVMCreateTargetData("this is no data layout");
    LLVMDisposeTargetData(layout);
}
