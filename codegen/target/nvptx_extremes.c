/* nvptx_extremes.c - minima and maxima of float32 in one instruction on NVIDIA GPUs.
 *
 *     best = min(best, d)         if d < best: best = d         x = min(x, 255.0)
 *
 * Python's min and max give the first of numbers that are neither less nor greater: of zeros of both signs, and the NaN where the first is
 * one. That is a comparison and a choice (FSETP, FSEL). The hardware's (FMNMX) give the number where one is NaN, or a NaN
 * where one is (from sm_80 on), and take -0.0 for less than 0.0. So they stand for the choice where it is known that the operand which
 * a comparison with NaN chooses is none, or that the other is none, and that zeros of both signs do not meet, or the one that is chosen of
 * them is the one that the hardware takes. Which NaN a NaN is, is not kept, as arithmetic does not keep it. */
#include "codegen/target/nvptx_extremes.h"

#include <math.h>

enum { MOST_STEPS = 8, MOST_VALUES = 64 };

/* Zeros that a value can be. */
enum { ZERO_NONE, ZERO_PLUS = 1, ZERO_MINUS = 2, ZERO_ANY = 3 };

/* The definitions that are being followed. A phi met again is what its other operands are: nothing here makes a NaN or a sign of values
 * without one, so that the first round in which it had one does not exist. */
typedef struct Chain {
    Value value;
    const struct Chain *above;
    int steps;
    int *left; /* of the values that a question may look at */
} Chain;

/* The chain with v; false: it is too long, or was asked too much. */
static bool goes_on(Chain *chain, const Chain *above, Value v) {
    *chain = (Chain){v, above, above->steps + 1, above->left};
    return chain->steps <= MOST_STEPS && --*chain->left >= 0;
}

static bool is_met(const Chain *chain, Value v) {
    for (; chain; chain = chain->above)
        if (chain->value == v) return true; /* the first of a chain has no value */
    return false;
}

/* `all` of its operands. */
static bool all_of(const Chain *chain, bool (*is)(const Chain *, Value)) {
    Value v = chain->value;
    if (LLVMIsASelectInst(v))
        return is(chain, LLVMGetOperand(v, 1)) && is(chain, LLVMGetOperand(v, 2));
    if (!LLVMIsAPHINode(v)) return false;
    for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
        if (!is(chain, LLVMGetIncomingValue(v, i))) return false;
    return true;
}

static bool is_float_constant(Value v, double *number) {
    LLVMBool loses;
    if (!LLVMIsAConstantFP(v)) return false;
    *number = LLVMConstRealGetDouble(v, &loses);
    return true;
}

static bool is_from_int(Value v) {
    return LLVMIsASIToFPInst(v) || LLVMIsAUIToFPInst(v);
}

/* One of two numbers, whatever the other is: minnum and maxnum, which this file makes. */
static bool is_number_of(Value v) {
    return cg_calls(v, "llvm.minnum.") || cg_calls(v, "llvm.maxnum.");
}

/* a < b ? a : b and the like. */
typedef struct Choice {
    Value unordered, other; /* what is chosen where one is NaN */
    Value equal, passed;    /* where neither is less */
    bool least;
} Choice;

static bool choice_of(Value v, Choice *choice) {
    if (!LLVMIsASelectInst(v)) return false;
    Value test = LLVMGetOperand(v, 0), yes = LLVMGetOperand(v, 1), no = LLVMGetOperand(v, 2);
    if (!LLVMIsAFCmpInst(test)) return false;
    Value a = LLVMGetOperand(test, 0), b = LLVMGetOperand(test, 1);
    if (!(yes == a && no == b) && !(yes == b && no == a)) return false;
    bool less, strict, ordered;
    switch (LLVMGetFCmpPredicate(test)) {
    case LLVMRealOLT: less = true, strict = true, ordered = true; break;
    case LLVMRealOLE: less = true, strict = false, ordered = true; break;
    case LLVMRealOGT: less = false, strict = true, ordered = true; break;
    case LLVMRealOGE: less = false, strict = false, ordered = true; break;
    case LLVMRealULT: less = true, strict = true, ordered = false; break;
    case LLVMRealULE: less = true, strict = false, ordered = false; break;
    case LLVMRealUGT: less = false, strict = true, ordered = false; break;
    case LLVMRealUGE: less = false, strict = false, ordered = false; break;
    default: return false;
    }
    choice->unordered = ordered ? no : yes;
    choice->other = ordered ? yes : no;
    choice->equal = strict ? no : yes;
    choice->passed = strict ? yes : no;
    choice->least = less == (yes == a);
    return true;
}

/* -- what is known of values ------------------------------------------------------------------------ */

static bool is_number(const Chain *above, Value v) {
    double number;
    Choice choice;
    Chain chain;
    if (is_float_constant(v, &number)) return number == number;
    if (is_from_int(v) || is_met(above, v)) return true;
    if (!goes_on(&chain, above, v)) return false;
    if (is_number_of(v))
        return is_number(&chain, LLVMGetOperand(v, 0)) || is_number(&chain, LLVMGetOperand(v, 1));
    /* The other was less or greater than something. */
    if (choice_of(v, &choice)) return is_number(&chain, choice.unordered);
    return all_of(&chain, is_number);
}

/* Its sign is +, unless it is NaN. */
static bool is_positive(const Chain *above, Value v) {
    double number;
    Chain chain;
    if (is_float_constant(v, &number)) return !signbit(number);
    if (LLVMIsAUIToFPInst(v) || cg_calls(v, "llvm.fabs.") || is_met(above, v)) return true;
    if (!goes_on(&chain, above, v)) return false;
    if (LLVMIsABinaryOperator(v)) {
        Value a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (op == LLVMFMul && a == b) return true;
        return (op == LLVMFMul || op == LLVMFAdd) && is_positive(&chain, a) &&
               is_positive(&chain, b);
    }
    if (is_number_of(v))
        return is_positive(&chain, LLVMGetOperand(v, 0)) &&
               is_positive(&chain, LLVMGetOperand(v, 1));
    return all_of(&chain, is_positive);
}

static bool is_no_minus_zero(const Chain *above, Value v) {
    double number;
    Chain chain;
    if (is_float_constant(v, &number)) return number != 0 || !signbit(number);
    if (is_from_int(v) || is_met(above, v) || is_positive(&(Chain){.left = above->left}, v))
        return true;
    if (!goes_on(&chain, above, v)) return false;
    if (is_number_of(v))
        return is_no_minus_zero(&chain, LLVMGetOperand(v, 0)) &&
               is_no_minus_zero(&chain, LLVMGetOperand(v, 1));
    return all_of(&chain, is_no_minus_zero);
}

static bool is_known(Value v, bool (*is)(const Chain *, Value)) {
    int left = MOST_VALUES;
    return is(&(Chain){.left = &left}, v);
}

static int zeros_of(Value v) {
    double number;
    if (is_float_constant(v, &number) && number != 0) return ZERO_NONE;
    if (is_float_constant(v, &number) && signbit(number)) return ZERO_MINUS;
    return is_known(v, is_no_minus_zero) ? ZERO_PLUS : ZERO_ANY;
}

/* -- the rule --------------------------------------------------------------------------------------- */

/* Of zeros of both signs the hardware takes the one that is chosen, or they do not meet. */
static bool zeros_agree(Value v, const Choice *choice) {
    if (LLVMGetFastMathFlags(v) & LLVMFastMathNoSignedZeros) return true;
    int wrong = choice->least ? ZERO_PLUS : ZERO_MINUS;
    return !(zeros_of(choice->equal) & wrong) || !(zeros_of(choice->passed) & (ZERO_ANY ^ wrong));
}

static const char *extreme_of(Value v, const Choice *choice, bool nans) {
    if (!zeros_agree(v, choice)) return NULL;
    if (is_known(choice->unordered, is_number))
        return choice->least ? "llvm.minnum" : "llvm.maxnum";
    if (nans && is_known(choice->other, is_number))
        return choice->least ? "llvm.minimum" : "llvm.maximum";
    return NULL;
}

/* A test that others look at, too, stays. */
static void replace(Cg *cg, Value v, bool nans) {
    Choice choice;
    if (LLVMTypeOf(v) != cg->f32 || !choice_of(v, &choice)) return;
    Value test = LLVMGetOperand(v, 0);
    const char *name = extreme_of(v, &choice, nans);
    if (!name || LLVMGetNextUse(LLVMGetFirstUse(test))) return;
    LLVMPositionBuilderBefore(cg->b, v);
    Value args[] = {choice.unordered, choice.other};
    Value extreme = cg_intrinsic(cg, name, &cg->f32, 1, args, 2);
    LLVMReplaceAllUsesWith(v, extreme);
    LLVMInstructionEraseFromParent(v);
    LLVMInstructionEraseFromParent(test);
}

void nvptx_extremes(Cg *cg, bool nans) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value inst = LLVMGetFirstInstruction(bb), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMIsASelectInst(inst)) replace(cg, inst, nans);
            }
}
