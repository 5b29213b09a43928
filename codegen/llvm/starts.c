/* starts.c - what LLVM must not know of variables that keep a value of the round before.
 *
 *     last = 0
 *     for i in range(-5, n):
 *         if i >= 0:
 *             s += a[last]
 *         last = i
 *
 * To LLVM 19's ScalarEvolution (isImpliedViaMerge; mended in LLVM 20) `last` is 0 or i, and i is not negative where it is read: so
 * `last` is not, it says, and an index that is -1 there reads outside of the array. It has to prove this of the first value, too, and
 * nothing is known of one that comes out of assembly. That stands in front of the loop, and has no instruction. */
#include "codegen/llvm/cg.h"
#include "codegen/target.h"

enum { DEPTH = 6, MOST_STEPS = 512 };

/* The loop that begins with `header`, and whose variable it is about: does it have a value of the round before? Who has asked for too
 * long takes it to be so. */
typedef struct Question {
    BB header;
    Value phi;
    int steps;
} Question;

/* An operation of LLVM's, or a function whose body passes may write here: it may give what it was given. */
static bool is_operation(Value v) {
    Value callee = LLVMIsACallInst(v) ? LLVMIsAFunction(LLVMGetCalledValue(v)) : NULL;
    return callee && (LLVMGetIntrinsicID(callee) != 0 || !LLVMIsDeclaration(callee));
}

/* Sums, and what may become one. */
static bool is_sum(Value v) {
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMExtractValue:
    case LLVMPHI: return true;
    default: return is_operation(v);
    }
}

/* What ScalarEvolution sees through. */
static bool is_transparent(Value v) {
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMXor: return true;
    default: return is_sum(v);
    }
}

static bool is_variable(Question *q, Value v) {
    return LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == q->header;
}

static unsigned count_operands(Value v) {
    return LLVMIsAPHINode(v) ? LLVMCountIncoming(v) : (unsigned)LLVMGetNumOperands(v);
}

static bool counts(Question *q, Value variable, int depth);

/* May it be a sum of that variable, or of others that count, and of what stands still? */
static bool is_counted(Question *q, Value v, Value variable, int depth) {
    if (!LLVMIsAInstruction(v) || v == variable || depth == 0 || q->steps++ > MOST_STEPS)
        return true;
    if (is_variable(q, v)) return counts(q, v, depth - 1);
    if (is_sum(v)) {
        for (unsigned k = 0; k < count_operands(v); k++)
            if (!is_counted(q, LLVMGetOperand(v, k), variable, depth - 1)) return false;
        return true;
    }
    for (unsigned k = 0; is_transparent(v) && k < count_operands(v); k++)
        if (LLVMIsAInstruction(LLVMGetOperand(v, k))) return false;
    return true;
}

/* May each of its values be the one before and what stands still, or what others have that count? */
static bool counts(Question *q, Value variable, int depth) {
    for (unsigned k = 0; k < LLVMCountIncoming(variable); k++)
        if (!is_counted(q, LLVMGetIncomingValue(variable, k), variable, depth)) return false;
    return true;
}

/* Which variables is it computed from: none, only such that count, or others? Of the last ScalarEvolution knows that they are of the
 * round before. */
typedef enum Origin { FROM_NONE, FROM_COUNTERS, FROM_OTHERS } Origin;

static Origin origin_of(Question *q, Value v, int depth) {
    if (!LLVMIsAInstruction(v)) return FROM_NONE;
    if (v == q->phi) return FROM_OTHERS;
    if (is_variable(q, v)) return counts(q, v, DEPTH) ? FROM_COUNTERS : FROM_OTHERS;
    if (!is_transparent(v)) return FROM_NONE;
    if (depth == 0 || q->steps++ > MOST_STEPS) return FROM_COUNTERS;
    Origin all = FROM_NONE;
    for (unsigned k = 0; k < count_operands(v); k++)
        all = QN_MAX(all, origin_of(q, LLVMGetOperand(v, k), depth - 1));
    return all;
}

/* Is it compared, divided or chosen by, or what is computed from it? Most are only read behind the loop: what a `for` counted. */
static bool is_asked(Question *q, Value v, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(v); use && depth; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (q->steps++ > MOST_STEPS) return true;
        switch (LLVMGetInstructionOpcode(user)) {
        case LLVMICmp:
        case LLVMSDiv:
        case LLVMUDiv:
        case LLVMSRem:
        case LLVMURem:
        case LLVMAShr:
        case LLVMSExt: return true;
        default:
            if (is_operation(user) || (is_transparent(user) && is_asked(q, user, depth - 1)))
                return true;
        }
    }
    return false;
}

static Value hidden(Cg *cg, Value v, BB at) {
    LType type = LLVMTypeOf(v);
    unsigned bits = LLVMGetIntTypeWidth(type);
    const MoveText *move = &cg->target->move[bits > 32];
    LLVMPositionBuilderBefore(cg->b, LLVMGetBasicBlockTerminator(at));
    if (bits < 32) v = LLVMBuildZExt(cg->b, v, cg->i32, "");
    const char *constraints = LLVMIsConstant(v) ? move->constant : move->constraints;
    v = cg_assembly(cg, move->text, constraints, LLVMTypeOf(v), v);
    return bits < 32 ? LLVMBuildTrunc(cg->b, v, type, "") : v;
}

static bool is_hidden(Value v) {
    if (LLVMIsATruncInst(v)) v = LLVMGetOperand(v, 0);
    return LLVMIsACallInst(v) && LLVMIsAInlineAsm(LLVMGetCalledValue(v));
}

/* One of the values that it gets from outside is enough, since all have to be proven. A block may lead here twice. */
static void hide_start(Cg *cg, Value phi) {
    Question q = {LLVMGetInstructionParent(phi), phi, 0};
    unsigned n = LLVMCountIncoming(phi), first = n;
    bool before = false;
    for (unsigned k = 0; k < n; k++) {
        Value v = LLVMGetIncomingValue(phi, k);
        Origin from = origin_of(&q, v, DEPTH);
        before = before || from == FROM_COUNTERS;
        if (from == FROM_NONE && first == n) first = k;
    }
    if (!before || first == n || !is_asked(&q, phi, DEPTH)) return;
    Value start = LLVMGetIncomingValue(phi, first);
    BB at = LLVMGetIncomingBlock(phi, first);
    if (LLVMIsUndef(start) || is_hidden(start)) return;
    Value now = hidden(cg, start, at);
    for (unsigned k = 0; k < n; k++)
        if (LLVMGetIncomingBlock(phi, k) == at) LLVMSetOperand(phi, k, now);
}

void cg_hide_starts(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (Value phi = LLVMGetFirstInstruction(bb); phi && LLVMIsAPHINode(phi);
                 phi = LLVMGetNextInstruction(phi)) {
                LType type = LLVMTypeOf(phi);
                bool number = LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
                if (number && LLVMGetIntTypeWidth(type) > 1 && LLVMGetIntTypeWidth(type) <= 64)
                    hide_start(cg, phi);
            }
}
