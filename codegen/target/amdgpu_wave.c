/* amdgpu_wave.c - what work-items of a block and lanes of a wave do together.
 *
 * The lanes of a wave run in step; the EXEC mask says who takes part. Masks have as many bits as the wave has lanes,
 * and so do ballots. A mask that a program gives restricts what is looked at: lanes that do not run now have no vote. */
#include "codegen/target/amdgpu.h"
#include "codegen/target/gpu_kernel.h"
#include <stdio.h>

static Value plain(Cg *cg, const char *name, Value *args, int n) {
    return cg_intrinsic(cg, name, NULL, 0, args, n);
}

static LType mask_type(const Cg *cg) {
    return amdgpu_chip_of(cg)->wave == 64 ? cg->i64 : cg->i32;
}

static Value ballot(Cg *cg, Value flag) {
    LType type = mask_type(cg);
    return cg_intrinsic(cg, "llvm.amdgcn.ballot", &type, 1, &flag, 1);
}

static Value active(Cg *cg) {
    return ballot(cg, cg_bool(cg, true));
}

/* The number of lanes below this one in `mask`. */
static Value below(Cg *cg, Value mask) {
    Value low = LLVMBuildIntCast2(cg->b, mask, cg->i32, false, "");
    Value n = plain(cg, "llvm.amdgcn.mbcnt.lo", (Value[]){low, cg_int(cg->i32, 0)}, 2);
    if (mask_type(cg) == cg->i32) return n;
    Value high = LLVMBuildLShr(cg->b, mask, cg_int(cg->i64, 32), "");
    high = LLVMBuildTrunc(cg->b, high, cg->i32, "");
    return plain(cg, "llvm.amdgcn.mbcnt.hi", (Value[]){high, n}, 2);
}

static Value lane(Cg *cg) {
    return below(cg, cg_int(mask_type(cg), -1));
}

static Value is_zero(Cg *cg, Value v) {
    return LLVMBuildICmp(cg->b, LLVMIntEQ, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static Value widen(Cg *cg, Value v) {
    return LLVMBuildIntCast2(cg->b, v, cg->i64, false, "");
}

/* -- pieces of 32 bits ------------------------------------------------------------------------ */

typedef Value (*Move)(Cg *cg, Value piece, Value lane);

static Value permute(Cg *cg, Value piece, Value from) {
    Value address = LLVMBuildShl(cg->b, from, cg_int(cg->i32, 2), "");
    return plain(cg, "llvm.amdgcn.ds.bpermute", (Value[]){address, piece}, 2);
}

static Value read_lane(Cg *cg, Value piece, Value from) {
    return cg_intrinsic(cg, "llvm.amdgcn.readlane", &cg->i32, 1, (Value[]){piece, from}, 2);
}

/* A leaf of 8 to 64 bits of another lane. */
static Value moved(Cg *cg, Move move, Value leaf, Value from) {
    LType type = LLVMTypeOf(leaf);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(cg->layout, type);
    LType image = LLVMIntTypeInContext(cg->context, bits);
    Value v = LLVMBuildBitCast(cg->b, leaf, image, "");
    Value low = move(cg, LLVMBuildIntCast2(cg->b, v, cg->i32, false, ""), from);
    if (bits <= 32)
        return LLVMBuildBitCast(cg->b, LLVMBuildIntCast2(cg->b, low, image, false, ""), type, "");
    Value high = LLVMBuildTrunc(cg->b, LLVMBuildLShr(cg->b, v, cg_int(image, 32), ""), cg->i32, "");
    high = LLVMBuildShl(cg->b, widen(cg, move(cg, high, from)), cg_int(cg->i64, 32), "");
    return LLVMBuildBitCast(cg->b, LLVMBuildOr(cg->b, widen(cg, low), high, ""), type, "");
}

/* -- shuffles --------------------------------------------------------------------------------- */

/* The lane to read; the own one where there is no such lane. */
static Value source(Cg *cg, int gen, Value by) {
    Value self = lane(cg), last = cg_int(cg->i32, amdgpu_chip_of(cg)->wave - 1);
    if (gen == GEN_shfl_idx) return LLVMBuildAnd(cg->b, by, last, "");
    if (gen == GEN_shfl_xor)
        return LLVMBuildAnd(cg->b, LLVMBuildXor(cg->b, self, by, ""), last, "");
    bool up = gen == GEN_shfl_up;
    Value room = up ? self : LLVMBuildSub(cg->b, last, self, "");
    Value there = LLVMBuildICmp(cg->b, LLVMIntULE, by, room, "");
    Value other = up ? LLVMBuildSub(cg->b, self, by, "") : LLVMBuildAdd(cg->b, self, by, "");
    return LLVMBuildSelect(cg->b, there, other, self, "");
}

static bool shuffles(Cg *cg, int gen, struct LibCall *call) {
    Value from = source(cg, gen, call->args[2][0]);
    for (int32_t k = 0; k < cg_leaf_count(cg, call->types[1]); k++)
        call->out[k] = moved(cg, permute, call->args[1][k], from);
    return true;
}

/* -- votes ------------------------------------------------------------------------------------ */

static bool votes(Cg *cg, int gen, struct LibCall *call) {
    Value mask = call->args[0][0], flag = call->args[1][0];
    Value yes = LLVMBuildAnd(cg->b, ballot(cg, flag), mask, "");
    Value no = LLVMBuildAnd(cg->b, ballot(cg, LLVMBuildNot(cg->b, flag, "")), mask, "");
    switch (gen) {
    case GEN_vote_ballot: call->out[0] = yes; return true;
    case GEN_vote_any: call->out[0] = LLVMBuildNot(cg->b, is_zero(cg, yes), ""); return true;
    case GEN_vote_all: call->out[0] = is_zero(cg, no); return true;
    default: call->out[0] = LLVMBuildOr(cg->b, is_zero(cg, yes), is_zero(cg, no), ""); return true;
    }
}

/* -- matches ---------------------------------------------------------------------------------- */

static Value lowest_lane(Cg *cg, Value mask) {
    Value args[] = {mask, cg_bool(cg, true)};
    LType type = LLVMTypeOf(mask);
    Value n = cg_intrinsic(cg, "llvm.cttz", &type, 1, args, 2);
    return LLVMBuildIntCast2(cg->b, n, cg->i32, false, "");
}

/* Does this lane hold the value of lane `first`? All leaves, by their bits. */
static Value equals(Cg *cg, struct LibCall *call, Value first) {
    Value same = cg_bool(cg, true);
    for (int32_t k = 0; k < cg_leaf_count(cg, call->types[1]); k++) {
        Value v = call->args[1][k];
        unsigned bits = (unsigned)LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(v));
        v = LLVMBuildBitCast(cg->b, v, LLVMIntTypeInContext(cg->context, bits), "");
        Value one = LLVMBuildICmp(cg->b, LLVMIntEQ, v, moved(cg, read_lane, v, first), "");
        same = LLVMBuildAnd(cg->b, same, one, "");
    }
    return same;
}

/* The mask that a program gives is the same in all lanes of it; here it must not differ between lanes. */
static Value asked(Cg *cg, struct LibCall *call) {
    Value mask = call->args[0][0];
    Value first = lowest_lane(cg, active(cg));
    return LLVMBuildAnd(cg->b, moved(cg, read_lane, mask, first), active(cg), "");
}

/* One round for each different value; every lane takes part in every round. */
static void match_any(Cg *cg, struct LibCall *call) {
    LType type = mask_type(cg);
    Value all = asked(cg, call);
    BB entry = LLVMGetInsertBlock(cg->b), head = cg_block(cg, "match"),
       exit = cg_block(cg, "matched");
    LLVMBuildCondBr(cg->b, is_zero(cg, all), exit, head);
    cg_at(cg, head);
    Value left = LLVMBuildPhi(cg->b, type, ""), found = LLVMBuildPhi(cg->b, type, "");
    Value same = equals(cg, call, lowest_lane(cg, left));
    Value members = LLVMBuildAnd(cg->b, ballot(cg, same), all, "");
    Value next = LLVMBuildSelect(cg->b, same, members, found, "");
    Value rest = LLVMBuildAnd(cg->b, left, LLVMBuildNot(cg->b, members, ""), "");
    LLVMBuildCondBr(cg->b, is_zero(cg, rest), exit, head);
    BB latch = LLVMGetInsertBlock(cg->b);
    LLVMAddIncoming(left, (Value[]){all, rest}, (BB[]){entry, latch}, 2);
    LLVMAddIncoming(found, (Value[]){LLVMConstNull(type), next}, (BB[]){entry, latch}, 2);
    cg_at(cg, exit);
    call->out[0] = LLVMBuildPhi(cg->b, type, "");
    LLVMAddIncoming(call->out[0], (Value[]){LLVMConstNull(type), next}, (BB[]){entry, latch}, 2);
}

static void match_all(Cg *cg, struct LibCall *call) {
    Value all = asked(cg, call);
    Value same = equals(cg, call, lowest_lane(cg, active(cg)));
    Value differ = LLVMBuildAnd(cg->b, ballot(cg, LLVMBuildNot(cg->b, same, "")), all, "");
    Value yes = is_zero(cg, differ);
    call->out[0] = LLVMBuildSelect(cg->b, yes, all, LLVMConstNull(mask_type(cg)), "");
    call->out[1] = yes;
}

/* -- barriers --------------------------------------------------------------------------------- */

static void barrier(Cg *cg) {
    amdgpu_fence(cg, "workgroup", "release");
    plain(cg, "llvm.amdgcn.s.barrier", NULL, 0);
    amdgpu_fence(cg, "workgroup", "acquire");
}

/* Runs what the caller builds next only where `cond` is true; *next is where it ends. */
static void only_if(Cg *cg, Value cond, BB *next) {
    BB yes = cg_block(cg, "one");
    *next = cg_block(cg, "all");
    LLVMBuildCondBr(cg->b, cond, yes, *next);
    cg_at(cg, yes);
}

static void join(Cg *cg, BB next) {
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
}

/* The number of work-items of the block whose flag is true: each wave adds its lanes to a number in shared memory.
 * The barrier in front keeps it until everybody has read the sum before. */
static Value block_count(Cg *cg, Value flag) {
    Value sum = cg->target->shared_static(cg, 4, 4);
    BB next;
    barrier(cg);
    Value id = cg->target->grid(cg, GRID_THREAD, 0);
    for (int axis = 1; axis < 3; axis++)
        id = LLVMBuildOr(cg->b, id, cg->target->grid(cg, GRID_THREAD, axis), "");
    only_if(cg, is_zero(cg, id), &next);
    LLVMBuildStore(cg->b, cg_int(cg->i32, 0), sum);
    join(cg, next);
    barrier(cg);
    Value members = ballot(cg, flag);
    Value count = cg_intrinsic1(cg, "llvm.ctpop", members);
    count = LLVMBuildIntCast2(cg->b, count, cg->i32, false, "");
    only_if(cg, is_zero(cg, below(cg, active(cg))), &next);
    amdgpu_rmw(cg, LLVMAtomicRMWBinOpAdd, sum, count, 4);
    join(cg, next);
    barrier(cg);
    return LLVMBuildLoad2(cg->b, cg->i32, sum, "");
}

static bool counted_barrier(Cg *cg, int gen, struct LibCall *call) {
    Value flag = call->args[0][0];
    if (gen == GEN_barrier_and) flag = LLVMBuildNot(cg->b, flag, "");
    Value n = block_count(cg, flag);
    if (gen == GEN_barrier_count) {
        call->out[0] = widen(cg, n);
        return true;
    }
    Value none = is_zero(cg, n);
    Value answer = gen == GEN_barrier_and ? none : LLVMBuildNot(cg->b, none, "");
    call->out[0] = widen(cg, answer);
    return true;
}

/* s_sleep waits for 64 cycles, about 32 ns; its operand is a constant. */
static void nanosleep_(Cg *cg, Value ns) {
    BB entry = LLVMGetInsertBlock(cg->b), head = cg_block(cg, "sleep"),
       exit = cg_block(cg, "awake");
    Value rounds = LLVMBuildLShr(cg->b, ns, cg_int(cg->i32, 5), "");
    LLVMBuildBr(cg->b, head);
    cg_at(cg, head);
    Value left = LLVMBuildPhi(cg->b, cg->i32, ""), one = cg_int(cg->i32, 1);
    plain(cg, "llvm.amdgcn.s.sleep", &one, 1);
    Value next = LLVMBuildSub(cg->b, left, one, "");
    LLVMBuildCondBr(cg->b, LLVMBuildICmp(cg->b, LLVMIntSGT, next, cg_int(cg->i32, 0), ""), head,
                    exit);
    LLVMAddIncoming(left, (Value[]){rounds, next}, (BB[]){entry, head}, 2);
    cg_at(cg, exit);
}

bool amdgpu_generate(Cg *cg, int gen, struct LibCall *call) {
    switch (gen) {
    case GEN_lane: call->out[0] = widen(cg, lane(cg)); return true;
    case GEN_warpsize: call->out[0] = cg_int(cg->i64, amdgpu_chip_of(cg)->wave); return true;
    case GEN_lanemask_lt: {
        Value one = cg_int(mask_type(cg), 1);
        Value at = LLVMBuildIntCast2(cg->b, lane(cg), mask_type(cg), false, "");
        call->out[0] = LLVMBuildSub(cg->b, LLVMBuildShl(cg->b, one, at, ""), one, "");
        return true;
    }
    case GEN_activemask: call->out[0] = active(cg); return true;
    case GEN_barrier: barrier(cg); return true;
    case GEN_grid_barrier: return gpu_grid_barrier(cg, call);
    case GEN_barrier_count:
    case GEN_barrier_and:
    case GEN_barrier_or: return counted_barrier(cg, gen, call);
    case GEN_syncwarp: /* lanes run in step: only memory is to be ordered */
        amdgpu_fence(cg, "wavefront", "acq_rel");
        plain(cg, "llvm.amdgcn.wave.barrier", NULL, 0);
        return true;
    case GEN_fence_block: amdgpu_fence(cg, "workgroup", "seq_cst"); return true;
    case GEN_fence_device: amdgpu_fence(cg, "agent", "seq_cst"); return true;
    case GEN_fence_system: amdgpu_fence(cg, "", "seq_cst"); return true;
    case GEN_shfl_idx:
    case GEN_shfl_up:
    case GEN_shfl_down:
    case GEN_shfl_xor: return shuffles(cg, gen, call);
    case GEN_vote_all:
    case GEN_vote_any:
    case GEN_vote_eq:
    case GEN_vote_ballot: return votes(cg, gen, call);
    case GEN_match_any: match_any(cg, call); return true;
    case GEN_match_all: match_all(cg, call); return true;
    case GEN_nanosleep: nanosleep_(cg, call->args[0][0]); return true;
    default: return false;
    }
}
