/* amdgpu_ones.c - unions of 64 bits are two of 32.
 *
 * AMD GPUs do the bits of 64 in two halves, and LLVM 19 finds out late, behind selection, which halves are constants: those of a choice
 * between -6 and -7, of ~x of an x of 32 bits. There it takes x | -1 for x. So each union is two from the start, with all bits that lead to
 * it, and LLVM's passes look once more: what they know of a half that is all ones they know of the union, too.
 *
 *   a | ~zext(z)  =>  {low half of a | ~z, -1}
 *
 * While they look each half that bits begin with is the argument of a call of nothing: they would make a union of 64 bits of two that were cut.
 * The halves are put together as a vector: selection would take shifts and masks for a union of 64 bits again. */
#include "codegen/target/amdgpu.h"

enum { DEEPEST = 256 };

typedef struct Halves {
    Value part[2]; /* the low one, the high one */
} Halves;

typedef struct Splitting {
    Cg *cg;
    Value half;      /* a function that is called with halves */
    Map halves;      /* Halves by value */
    Vec(Value) gone; /* erased at the end: halves are found by the addresses of values */
    int depth;
} Splitting;

/* Does LLVM do the bits of the value in two halves? */
static bool is_bits(Value v) {
    switch (LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMSelect:
    case LLVMFreeze: return true;
    default: return false;
    }
}

static Value call_half(Splitting *s, Value half) {
    return LLVMBuildCall2(s->cg->b, LLVMGlobalGetValueType(s->half), s->half, &half, 1, "");
}

static Halves cut(Splitting *s, Value v) {
    Cg *cg = s->cg;
    if (!LLVMIsAConstant(v)) cg_at_uses(cg, v);
    Value high = LLVMBuildLShr(cg->b, v, LLVMConstInt(cg->i64, 32, false), "");
    Value low = LLVMBuildTrunc(cg->b, v, cg->i32, "");
    high = LLVMBuildTrunc(cg->b, high, cg->i32, "");
    if (LLVMIsAConstant(low) && LLVMIsAConstant(high)) return (Halves){{low, high}};
    return (Halves){{call_half(s, low), call_half(s, high)}};
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

static Halves halves_of(Splitting *s, Value v);

/* Whoever used the value uses its halves from here on: nothing is reckoned twice. */
static Halves split(Splitting *s, Value inst) {
    Cg *cg = s->cg;
    Halves made;
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    unsigned n = (unsigned)LLVMGetNumOperands(inst);
    Halves b = halves_of(s, LLVMGetOperand(inst, n - 1));
    Halves a = n > 1 ? halves_of(s, LLVMGetOperand(inst, n - 2)) : b;
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
    Value whole = joined(cg, made);
    keep(s, whole, made);
    LLVMReplaceAllUsesWith(inst, whole);
    vec_push(cg->arena, &s->gone, inst);
    return made;
}

static Halves halves_of(Splitting *s, Value v) {
    MapValue *before = map_find(&s->halves, map_key(v));
    if (before) return *(Halves *)before->ptr;
    s->depth++;
    Halves halves = is_bits(v) && s->depth < DEEPEST ? split(s, v) : cut(s, v);
    s->depth--;
    keep(s, v, halves);
    return halves;
}

static void find_unions(Splitting *s, Value fn) {
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (Value inst = LLVMGetFirstInstruction(bb); inst; inst = LLVMGetNextInstruction(inst))
            if (LLVMGetInstructionOpcode(inst) == LLVMOr && LLVMTypeOf(inst) == s->cg->i64)
                halves_of(s, inst);
}

static void drop_calls(Value half) {
    for (LLVMUseRef use; (use = LLVMGetFirstUse(half));) {
        Value call = LLVMGetUser(use);
        LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(half);
}

/* Constants cross from one block to another where selection, which looks at one at a time, finds them: LLVM's passes find them before, by bits
 * and by intervals. */
bool amdgpu_split_unions(Cg *cg) {
    Splitting s = {.cg = cg};
    map_init(&s.halves, cg->arena);
    s.half = LLVMAddFunction(cg->mod, "quern.half", LLVMFunctionType(cg->i32, &cg->i32, 1, false));
    cg_attribute(cg, s.half, LLVMAttributeFunctionIndex, "memory", 0); /* none */
    cg_attribute(cg, s.half, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_attribute(cg, s.half, LLVMAttributeFunctionIndex, "willreturn", 0);
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        find_unions(&s, fn);
    for (int32_t k = s.gone.len; k-- > 0;)
        LLVMInstructionEraseFromParent(s.gone.items[k]);
    bool ok =
        s.gone.len == 0 || cg_optimise_with(cg, "function(sccp,instcombine<no-verify-fixpoint>,"
                                                "separate-const-offset-from-gep)");
    drop_calls(s.half);
    return ok && (s.gone.len == 0 || cg_optimise_with(cg, "function(instsimplify)"));
}
