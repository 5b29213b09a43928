/* amdgpu_ones.c - halves of 64 bits that are all ones.
 *
 * AMD GPUs do the bits of 64 in two halves, and LLVM 19 finds out late, behind selection, which halves are constants: those of a choice
 * between -6 and -7, of ~x of an x of 32 bits. There it takes x | -1 for x. So unions of 64 bits in which half a value may be a constant
 * are two unions of 32 bits from the start, with all bits that lead to them: selection knows that x | -1 is -1.
 *
 *   a | ~zext(z)  =>  {low half of a | ~z, -1}
 *
 * Sums and differences without carries are unions to LLVM, as well. The halves are put together as a vector: selection would take shifts
 * and masks for a union of 64 bits again. */
#include "codegen/target/amdgpu.h"

enum { DEEPEST = 256 };

/* The bits of an integer that are always 0, and those that are always 1; of those beyond its width both are 0. */
typedef struct KnownBits {
    uint64_t zeros, ones;
} KnownBits;

typedef struct Halves {
    Value part[2]; /* the low one, the high one */
} Halves;

typedef struct Known {
    Cg *cg;
    Map bits, halves; /* KnownBits and Halves by value */
    Map constant; /* 1 of a value one of whose halves is a constant, or that of a value whose bits lead to it; else 0 */
    Vec(Value) gone; /* erased at the end: what is known of values is found by their addresses */
    int depth;
} Known;

static const KnownBits NOTHING;

static uint64_t all_of(unsigned width) {
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* 0: no integer of up to 64 bits. */
static unsigned width_of(Value v) {
    LType type = LLVMTypeOf(v);
    unsigned width = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
    return width <= 64 ? width : 0;
}

static KnownBits of(Known *known, Value v);

static KnownBits of_operand(Known *known, Value inst, unsigned k) {
    return of(known, LLVMGetOperand(inst, k));
}

static KnownBits either(KnownBits a, KnownBits b) {
    return (KnownBits){a.zeros & b.zeros, a.ones & b.ones};
}

static KnownBits union_of(KnownBits a, KnownBits b) {
    return (KnownBits){a.zeros & b.zeros, a.ones | b.ones};
}

static KnownBits difference_of(KnownBits a, KnownBits b) {
    return (KnownBits){(a.zeros & b.zeros) | (a.ones & b.ones),
                       (a.zeros & b.ones) | (a.ones & b.zeros)};
}

/* Has no bit both of them? */
static bool are_disjoint(KnownBits a, KnownBits b, unsigned width) {
    return (a.zeros | b.zeros) == all_of(width);
}

static KnownBits of_shift(Known *known, Value inst, unsigned width) {
    Value by = LLVMGetOperand(inst, 1);
    if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) >= width) return NOTHING;
    unsigned n = (unsigned)LLVMConstIntGetZExtValue(by);
    KnownBits a = of_operand(known, inst, 0);
    uint64_t all = all_of(width), came = ~(all >> n) & all;
    if (LLVMGetInstructionOpcode(inst) == LLVMShl)
        return (KnownBits){(a.zeros << n & all) | all_of(n), a.ones << n & all};
    KnownBits shifted = {a.zeros >> n, a.ones >> n};
    uint64_t sign = UINT64_C(1) << (width - 1);
    bool is_signed = LLVMGetInstructionOpcode(inst) == LLVMAShr;
    if (!is_signed || a.zeros & sign) shifted.zeros |= came;
    if (is_signed && a.ones & sign) shifted.ones |= came;
    return shifted;
}

static KnownBits of_extension(Known *known, Value inst, unsigned width) {
    unsigned from = width_of(LLVMGetOperand(inst, 0));
    if (from == 0) return NOTHING;
    KnownBits a = of_operand(known, inst, 0);
    uint64_t came = all_of(width) & ~all_of(from), sign = UINT64_C(1) << (from - 1);
    bool is_signed = LLVMGetInstructionOpcode(inst) == LLVMSExt;
    if (!is_signed || a.zeros & sign) a.zeros |= came;
    if (is_signed && a.ones & sign) a.ones |= came;
    return a;
}

static KnownBits of_call(Known *known, Value inst, unsigned width) {
    static const char *const chosen[] = {"llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."};
    if (cg_calls(inst, "llvm.ct")) /* pop, lz, tz: at most 64 */
        return (KnownBits){all_of(width) & ~UINT64_C(127), 0};
    for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++)
        if (cg_calls(inst, chosen[k]))
            return either(of_operand(known, inst, 0), of_operand(known, inst, 1));
    return NOTHING;
}

static KnownBits of_bits(Known *known, Value inst, unsigned width) {
    KnownBits a = of_operand(known, inst, 0), b = of_operand(known, inst, 1);
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAnd: return (KnownBits){a.zeros | b.zeros, a.ones & b.ones};
    case LLVMOr: return union_of(a, b);
    case LLVMXor: return difference_of(a, b);
    default: return are_disjoint(a, b, width) ? union_of(a, b) : NOTHING;
    }
}

static KnownBits of_instruction(Known *known, Value inst, unsigned width) {
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMAdd: return of_bits(known, inst, width);
    case LLVMSelect: return either(of_operand(known, inst, 1), of_operand(known, inst, 2));
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: return of_shift(known, inst, width);
    case LLVMZExt:
    case LLVMSExt: return of_extension(known, inst, width);
    case LLVMTrunc: {
        KnownBits a = of_operand(known, inst, 0);
        return (KnownBits){a.zeros & all_of(width), a.ones & all_of(width)};
    }
    case LLVMFreeze: return of_operand(known, inst, 0);
    case LLVMCall: return of_call(known, inst, width);
    default: return NOTHING;
    }
}

static KnownBits of(Known *known, Value v) {
    unsigned width = width_of(v);
    if (LLVMIsAConstantInt(v) && width) {
        uint64_t bits = LLVMConstIntGetZExtValue(v);
        return (KnownBits){~bits & all_of(width), bits};
    }
    if (!LLVMIsAInstruction(v) || width == 0 || known->depth == DEEPEST) return NOTHING;
    MapValue *before = map_find(&known->bits, map_key(v));
    if (before) return *(KnownBits *)before->ptr;
    known->depth++;
    KnownBits *bits = arena_new(known->cg->arena, KnownBits);
    *bits = of_instruction(known, v, width);
    known->depth--;
    map_put(&known->bits, map_key(v))->ptr = bits;
    return *bits;
}

/* -- the halves ---------------------------------------------------------------------------------------- */

static bool is_known(KnownBits bits, int half) {
    return (uint32_t)((bits.zeros | bits.ones) >> 32 * half) == UINT32_MAX;
}

/* Does LLVM do the bits of the value in two halves? */
static bool is_bits(Known *known, Value v) {
    switch (LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMSelect:
    case LLVMFreeze: return true;
    case LLVMAdd: return are_disjoint(of_operand(known, v, 0), of_operand(known, v, 1), 64);
    default: return false;
    }
}

static bool has_constant(Known *known, Value v) {
    KnownBits bits = of(known, v);
    if (is_known(bits, 0) || is_known(bits, 1)) return true;
    MapValue *before = map_find(&known->constant, map_key(v));
    if (before) return before->num;
    if (known->depth == DEEPEST || !is_bits(known, v)) return false;
    known->depth++;
    bool constant = false;
    for (int k = LLVMGetNumOperands(v); k-- > 0 && !constant;)
        constant = LLVMTypeOf(LLVMGetOperand(v, (unsigned)k)) == known->cg->i64 &&
                   has_constant(known, LLVMGetOperand(v, (unsigned)k));
    known->depth--;
    map_put(&known->constant, map_key(v))->num = constant;
    return constant;
}

static Value known_half(const Cg *cg, KnownBits bits, int half) {
    return is_known(bits, half) ? LLVMConstInt(cg->i32, (uint32_t)(bits.ones >> 32 * half), false)
                                : NULL;
}

static Halves cut(Known *known, Value v) {
    Cg *cg = known->cg;
    KnownBits bits = of(known, v);
    Halves cut = {{known_half(cg, bits, 0), known_half(cg, bits, 1)}};
    if (cut.part[0] && cut.part[1]) return cut;
    if (!LLVMIsAConstant(v)) cg_at_uses(cg, v);
    Value both = LLVMBuildBitCast(cg->b, v, LLVMVectorType(cg->i32, 2), "");
    for (unsigned k = 0; k < 2; k++)
        if (!cut.part[k])
            cut.part[k] = LLVMBuildExtractElement(cg->b, both, LLVMConstInt(cg->i32, k, false), "");
    return cut;
}

static Value joined(Cg *cg, Halves halves) {
    Value both = LLVMGetPoison(LLVMVectorType(cg->i32, 2));
    for (unsigned k = 0; k < 2; k++)
        both = LLVMBuildInsertElement(cg->b, both, halves.part[k], LLVMConstInt(cg->i32, k, false),
                                      "");
    return LLVMBuildBitCast(cg->b, both, cg->i64, "");
}

static Halves halves_of(Known *known, Value v);

static Value half_made(Cg *cg, Value inst, Halves a, Halves b, int k) {
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    if (op == LLVMFreeze) return LLVMBuildFreeze(cg->b, a.part[k], "");
    if (op == LLVMSelect)
        return LLVMBuildSelect(cg->b, LLVMGetOperand(inst, 0), a.part[k], b.part[k], "");
    return LLVMBuildBinOp(cg->b, op == LLVMAdd ? LLVMOr : op, a.part[k], b.part[k], "");
}

/* Whoever used the value uses its halves from here on: nothing is reckoned twice. */
static Halves made(Known *known, Value inst) {
    Cg *cg = known->cg;
    KnownBits bits = of(known, inst);
    unsigned n = (unsigned)LLVMGetNumOperands(inst);
    Halves b = halves_of(known, LLVMGetOperand(inst, n - 1));
    Halves a = n > 1 ? halves_of(known, LLVMGetOperand(inst, n - 2)) : b;
    LLVMPositionBuilderBefore(cg->b, inst);
    Halves made = {{known_half(cg, bits, 0), known_half(cg, bits, 1)}};
    for (int k = 0; k < 2; k++)
        if (!made.part[k]) made.part[k] = half_made(cg, inst, a, b, k);
    return made;
}

static void replace(Known *known, Value inst, Halves by) {
    Value whole = joined(known->cg, by);
    KnownBits *bits = arena_new(known->cg->arena, KnownBits);
    Halves *halves = arena_new(known->cg->arena, Halves);
    *bits = of(known, inst), *halves = by;
    map_put(&known->bits, map_key(whole))->ptr = bits;
    map_put(&known->halves, map_key(whole))->ptr = halves;
    map_put(&known->constant, map_key(whole))->num = has_constant(known, inst);
    LLVMReplaceAllUsesWith(inst, whole);
    vec_push(known->cg->arena, &known->gone, inst);
}

static Halves halves_of(Known *known, Value v) {
    MapValue *before = map_find(&known->halves, map_key(v));
    if (before) return *(Halves *)before->ptr;
    bool is_made = is_bits(known, v) && known->depth < DEEPEST;
    known->depth++;
    Halves *halves = arena_new(known->cg->arena, Halves);
    *halves = is_made ? made(known, v) : cut(known, v);
    known->depth--;
    map_put(&known->halves, map_key(v))->ptr = halves;
    if (is_made) replace(known, v, *halves);
    return *halves;
}

/* May the value become a union one half of which is all ones? */
static bool may_lose(Known *known, Value inst) {
    if (LLVMTypeOf(inst) != known->cg->i64 || map_find(&known->halves, map_key(inst))) return false;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMOr: return has_constant(known, inst);
    case LLVMXor:
    case LLVMAdd: {
        KnownBits bits = of(known, inst);
        return (uint32_t)bits.ones == UINT32_MAX || bits.ones >> 32 == UINT32_MAX;
    }
    default: return false;
    }
}

/* What the halves are together is found here (x | ~x), and not by selection, which looks at one block at a time: it would leave a constant
 * to another. */
bool amdgpu_keep_ones(Cg *cg) {
    Known known = {.cg = cg};
    map_init(&known.bits, cg->arena);
    map_init(&known.halves, cg->arena);
    map_init(&known.constant, cg->arena);
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb); inst;
                 inst = LLVMGetNextInstruction(inst))
                if (may_lose(&known, inst)) halves_of(&known, inst);
    for (int32_t k = known.gone.len; k-- > 0;)
        LLVMInstructionEraseFromParent(known.gone.items[k]);
    return known.gone.len == 0 || cg_optimise_with(cg, "function(instsimplify)");
}
