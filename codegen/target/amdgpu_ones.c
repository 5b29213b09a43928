/* amdgpu_ones.c - unions of 64 bits are two of 32.
 *
 * AMD GPUs do the bits of 64 in two halves, and LLVM 19 finds out late, behind selection, which halves are constants: those of a choice
 * between -6 and -7, of ~x of an x of 32 bits. There it takes x | -1 for x. So each union is two from the start, with all bits that lead to
 * it, and LLVM's passes look once more: what they know of a half that is all ones they know of the union, too.
 *
 *   a | ~zext(z)  =>  {low half of a | ~z, -1}
 *
 * Those make unions of 64 bits of some again, where neither half is a constant, so it is done once more behind them. The halves are put together
 * as a vector: selection would take shifts and masks for a union of 64 bits. */
#include "codegen/target/amdgpu.h"

enum { DEEPEST = 256 };

typedef struct Halves {
    Value part[2]; /* the low one, the high one */
} Halves;

typedef struct Splitting {
    Cg *cg;
    Map halves;      /* Halves by value */
    Vec(Value) gone; /* erased at the end: halves are found by the addresses of values */
    int depth;
} Splitting;

static Halves cut(Cg *cg, Value v) {
    if (!LLVMIsAConstant(v)) cg_at_uses(cg, v);
    Value high = LLVMBuildLShr(cg->b, v, LLVMConstInt(cg->i64, 32, false), "");
    Value low = LLVMBuildTrunc(cg->b, v, cg->i32, "");
    high = LLVMBuildTrunc(cg->b, high, cg->i32, "");
    return (Halves){{low, high}};
}

static Value joined(Cg *cg, Halves halves) {
    Value both = LLVMGetPoison(LLVMVectorType(cg->i32, 2));
    for (unsigned k = 0; k < 2; k++)
        both = LLVMBuildInsertElement(cg->b, both, halves.part[k], LLVMConstInt(cg->i32, k, false),
                                      "");
    return LLVMBuildBitCast(cg->b, both, cg->i64, "");
}

static void keep(Splitting *s, Value v, Halves halves) {
    Halves *kept = arena_new(s->cg->arena, Halves);
    *kept = halves;
    map_put(&s->halves, map_key(v))->ptr = kept;
}

/* Whoever used the value uses its halves from here on: nothing is reckoned twice. */
static void replace(Splitting *s, Value inst, Halves by) {
    Value whole = joined(s->cg, by);
    keep(s, whole, by);
    keep(s, inst, by);
    LLVMReplaceAllUsesWith(inst, whole);
    vec_push(s->cg->arena, &s->gone, inst);
}

static Halves halves_of(Splitting *s, Value v);

static Halves split(Splitting *s, Value inst) {
    Cg *cg = s->cg;
    Halves made;
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    unsigned n = (unsigned)LLVMGetNumOperands(inst);
    Halves b = halves_of(s, LLVMGetOperand(inst, n - 1));
    Halves a = n > 1 ? halves_of(s, LLVMGetOperand(inst, n - 2)) : b;
    MapValue *before = map_find(&s->halves, map_key(inst));
    if (before) return *(Halves *)before->ptr; /* by way of a loop */
    LLVMPositionBuilderBefore(cg->b, inst);
    for (int k = 0; k < 2; k++) {
        if (op == LLVMFreeze)
            made.part[k] = LLVMBuildFreeze(cg->b, a.part[k], "");
        else if (op == LLVMSelect)
            made.part[k] =
                LLVMBuildSelect(cg->b, LLVMGetOperand(inst, 0), a.part[k], b.part[k], "");
        else
            made.part[k] = LLVMBuildBinOp(cg->b, op, a.part[k], b.part[k], "");
    }
    replace(s, inst, made);
    return made;
}

/* A variable that bits are put into on some way. */
static bool is_of_bits(Value phi) {
    if (!LLVMIsAPHINode(phi)) return false;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (cg_is_bits(LLVMGetIncomingValue(phi, k))) return true;
    return false;
}

static Halves split_phi(Splitting *s, Value phi) {
    Cg *cg = s->cg;
    Halves made;
    LLVMPositionBuilderBefore(cg->b, phi);
    for (int k = 0; k < 2; k++)
        made.part[k] = LLVMBuildPhi(cg->b, cg->i32, "");
    cg_at_uses(cg, phi);
    replace(s, phi, made);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        BB from = LLVMGetIncomingBlock(phi, i);
        Halves given = halves_of(s, LLVMGetIncomingValue(phi, i));
        for (int k = 0; k < 2; k++)
            LLVMAddIncoming(made.part[k], &given.part[k], &from, 1);
    }
    return made;
}

static Halves halves_of(Splitting *s, Value v) {
    MapValue *before = map_find(&s->halves, map_key(v));
    if (before) return *(Halves *)before->ptr;
    Halves halves;
    bool deep = ++s->depth >= DEEPEST;
    if (!deep && cg_is_bits(v))
        halves = split(s, v);
    else if (!deep && is_of_bits(v))
        halves = split_phi(s, v);
    else
        keep(s, v, halves = cut(s->cg, v));
    s->depth--;
    return halves;
}

/* Are there any? */
static bool split_unions(Cg *cg) {
    Splitting s = {.cg = cg};
    map_init(&s.halves, cg->arena);
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb); inst;
                 inst = LLVMGetNextInstruction(inst))
                if (LLVMGetInstructionOpcode(inst) == LLVMOr && LLVMTypeOf(inst) == cg->i64)
                    halves_of(&s, inst);
    for (int32_t k = 0; k < s.gone.len; k++) /* they use each other */
        LLVMReplaceAllUsesWith(s.gone.items[k], LLVMGetPoison(cg->i64));
    for (int32_t k = 0; k < s.gone.len; k++)
        LLVMInstructionEraseFromParent(s.gone.items[k]);
    return s.gone.len > 0;
}

/* Constants cross from one block to another where selection, which looks at one at a time, finds them: LLVM's passes find them before, by bits
 * and by intervals. */
bool amdgpu_split_unions(Cg *cg) {
    if (!split_unions(cg)) return true;
    if (!cg_optimise_with(cg, "function(sccp,instcombine<no-verify-fixpoint>,"
                              "separate-const-offset-from-gep)"))
        return false;
    /* A function that only calls which are gone now used is no function of a kernel: LLVM makes no code for it, and crashes on it. */
    return cg_optimise_with(cg,
                            split_unions(cg) ? "function(instsimplify),globaldce" : "globaldce");
}
