/* nvptx_wide.c - addresses of elements at indices of 32 bits, as ptxas likes them.
 *
 * ptxas puts a mul.wide and the addition of a base into one instruction (IMAD.WIDE), wherever both stand. LLVM selects a mul.wide only
 * where the extension of the index stands in the block of its use; otherwise an extension and a shift, which are two instructions for
 * each base that they are added to, and two registers for the extended index. Its passes would bring an extension that is made
 * again back to the first one: here the product is written as PTX.
 *
 * Numbers are taken out of indices before: a[i] and a[i + 1] have one product, and in a loop that was unrolled (2 * t + 1) << k and
 * (2 * t + 2) << k are numbers away from 2 * t << k, which the instructions that read and write can add. */
#include "codegen/target/nvptx_wide.h"

#include <stdio.h>

/* The operand that a number is added to without wrapping, in the sense of the extension; NULL: it is no such sum. What is unsigned and
 * above 2^31 is no number below zero. */
static Value added_to(Value sum, bool is_signed, int64_t *number) {
    bool added = LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMAdd &&
                 (is_signed ? LLVMGetNSW(sum) : LLVMGetNUW(sum));
    bool apart = LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMOr &&
                 LLVMGetIsDisjoint(sum);
    if ((!added && !apart) || !LLVMIsAConstantInt(LLVMGetOperand(sum, 1))) return NULL;
    *number = LLVMConstIntGetSExtValue(LLVMGetOperand(sum, 1));
    return (apart || !is_signed) && *number < 0 ? NULL : LLVMGetOperand(sum, 0);
}

/* -- what cannot be negative ------------------------------------------------------------------------ */

enum { VALUE_DEPTH = 4 };

/* The least that an unsigned int can be, by the numbers in it. */
static uint64_t least_of(Value v, int depth) {
    if (LLVMIsAConstantInt(v)) return LLVMConstIntGetZExtValue(v);
    if (depth == 0) return 0;
    if (LLVMIsAZExtInst(v)) return least_of(LLVMGetOperand(v, 0), depth - 1);
    int64_t number;
    Value x = added_to(v, false, &number);
    if (x) return least_of(x, depth - 1) + (uint64_t)number;
    if (!LLVMIsABinaryOperator(v) || !LLVMIsAConstantInt(LLVMGetOperand(v, 1))) return 0;
    uint64_t by = LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1));
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if ((op != LLVMShl && op != LLVMMul) || !LLVMGetNUW(v) || by > UINT32_MAX) return 0;
    uint64_t least = least_of(LLVMGetOperand(v, 0), depth - 1);
    return least > UINT32_MAX ? 0 : op == LLVMMul ? least * by : by < 32 ? least << by : 0;
}

/* A product by two or more that wraps in neither sense is below 2^31, and what it multiplies is not negative. */
static bool is_natural(Value v) {
    if (!LLVMIsABinaryOperator(v) || !LLVMIsAConstantInt(LLVMGetOperand(v, 1))) return false;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    uint64_t by = LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1));
    bool more = (op == LLVMShl && by >= 1) || (op == LLVMMul && by >= 2 && by <= INT32_MAX);
    return more && LLVMGetNUW(v) && LLVMGetNSW(v);
}

/* v is x - less, and x is known to be as much at least, and below 2^31. */
static Value taken_from(Value v, uint64_t *less) {
    if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAdd ||
        !LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
        return NULL;
    int64_t number = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
    Value x = LLVMGetOperand(v, 0);
    if (number >= 0 || !is_natural(x)) return NULL;
    *less = (uint64_t)-number;
    return least_of(x, VALUE_DEPTH) >= *less ? x : NULL;
}

static bool is_least(Value v) {
    return cg_calls(v, "llvm.umin.i32");
}

/* min(x + n, x - less) of unsigned ints is an index that might count from the end; where x is not below `less`, it does not. */
static bool counts_from_start(Cg *cg, Value min, Value *index) {
    if (!is_least(min) || LLVMTypeOf(min) != cg->i32) return false;
    for (unsigned k = 0; k < 2; k++) {
        uint64_t less;
        Value other = LLVMGetOperand(min, !k), x = taken_from(LLVMGetOperand(min, k), &less);
        if (!x || !LLVMIsABinaryOperator(other) || LLVMGetInstructionOpcode(other) != LLVMAdd ||
            LLVMGetOperand(other, 0) != x || !LLVMIsAConstantInt(LLVMGetOperand(other, 1)) ||
            LLVMConstIntGetSExtValue(LLVMGetOperand(other, 1)) < 0)
            continue;
        *index = LLVMGetOperand(min, k);
        return true;
    }
    return false;
}

/* -- offsets as products --------------------------------------------------------------------------- */

/* The product of an index and a size, as 64 bits. One serves all; where it pays, ptxas makes it again. */
static Value wide_product(Cg *cg, Value index, bool is_signed, unsigned size) {
    char text[64];
    int n = snprintf(text, sizeof text, "mul.wide.%c32 $0, $1, %u;", is_signed ? 's' : 'u', size);
    static const char constraints[] = "=l,r";
    LType type = LLVMFunctionType(cg->i64, &cg->i32, 1, false);
    Value code = LLVMGetInlineAsm(type, text, (size_t)n, constraints, sizeof constraints - 1, false,
                                  false, LLVMInlineAsmDialectATT, false);
    for (LLVMUseRef use = LLVMGetFirstUse(index); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == code) return user;
    }
    cg_at_uses(cg, index);
    Value product = LLVMBuildCall2(cg->b, type, code, &index, 1, "");
    cg_call_attribute(cg, product, "nounwind", 0);
    cg_call_attribute(cg, product, "willreturn", 0);
    cg_call_attribute(cg, product, "memory", 0);
    return product;
}

/* The size of elements, where the instruction is the address in global memory of the one at this index; 0 elsewhere. Shared memory has
 * addresses of 32 bits. */
static unsigned element_size(const Cg *cg, Value user, Value index) {
    if (!LLVMIsAGetElementPtrInst(user) || LLVMGetNumOperands(user) != 2 ||
        LLVMGetOperand(user, 1) != index ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(user)) != cg_space(cg, SPACE_GLOBAL))
        return 0;
    LType type = LLVMGetGEPSourceElementType(user);
    switch (LLVMGetTypeKind(type)) {
    case LLVMFloatTypeKind: return 4;
    case LLVMDoubleTypeKind: return 8;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) / 8;
    default: return 0;
    }
}

static Value bytes_behind(Cg *cg, Value address, Value offset) {
    return LLVMBuildGEP2(cg->b, cg->i8, address, &offset, 1, "");
}

static void widen(Cg *cg, Value extended) {
    bool is_signed = LLVMIsASExtInst(extended);
    Value index = LLVMGetOperand(extended, 0);
    if (LLVMTypeOf(extended) != cg->i64 || LLVMTypeOf(index) != cg->i32) return;
    int64_t number = 0, more;
    for (Value base; (base = added_to(index, is_signed, &more)) && !LLVMIsAConstant(base);) {
        index = base;
        number += more;
    }
    if (LLVMIsAConstant(index)) return;
    for (LLVMUseRef use = LLVMGetFirstUse(extended), next; use; use = next) {
        Value user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        unsigned size = element_size(cg, user, extended);
        if (size < 2 || LLVMGetInstructionParent(user) == LLVMGetInstructionParent(extended))
            continue;
        Value product = wide_product(cg, index, is_signed, size);
        LLVMPositionBuilderBefore(cg->b, user);
        Value address = bytes_behind(cg, LLVMGetOperand(user, 0), product);
        if (number) address = bytes_behind(cg, address, cg_int(cg->i64, number * (int64_t)size));
        LLVMReplaceAllUsesWith(user, address);
        LLVMInstructionEraseFromParent(user);
    }
}

/* -- numbers in products ----------------------------------------------------------------------------- */

enum { ADDRESS_DEPTH = 3 };

/* Is a value an index of elements, and nothing else? */
static bool only_addresses(Value value, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        int64_t number;
        bool passes = LLVMIsAZExtInst(user) || LLVMIsASExtInst(user) ||
                      added_to(user, false, &number) || added_to(user, true, &number);
        if (!LLVMIsAGetElementPtrInst(user) &&
            (!passes || depth == 0 || !only_addresses(user, depth - 1)))
            return false;
    }
    return LLVMGetFirstUse(value) != NULL;
}

/* (x + number) * by, which does not wrap, becomes x * by + number * by. */
static void distribute(Cg *cg, Value product) {
    bool shift = LLVMGetInstructionOpcode(product) == LLVMShl;
    if (LLVMTypeOf(product) != cg->i32 || (!shift && LLVMGetInstructionOpcode(product) != LLVMMul))
        return;
    Value by = LLVMGetOperand(product, 1), x;
    int64_t number;
    if (!LLVMIsAConstantInt(by) || !LLVMGetNUW(product) ||
        !(x = added_to(LLVMGetOperand(product, 0), false, &number)) ||
        !only_addresses(product, ADDRESS_DEPTH))
        return;
    bool nsw = LLVMGetNSW(product);
    uint64_t times = LLVMConstIntGetZExtValue(by);
    uint64_t moved = shift ? (uint64_t)number << times : (uint64_t)number * times;
    LLVMPositionBuilderBefore(cg->b, product);
    Value rest = shift ? LLVMBuildShl(cg->b, x, by, "") : LLVMBuildMul(cg->b, x, by, "");
    if (LLVMIsAInstruction(rest)) LLVMSetNUW(rest, true), LLVMSetNSW(rest, nsw);
    Value sum = LLVMBuildNUWAdd(cg->b, rest, LLVMConstInt(cg->i32, moved, false), "");
    if (LLVMIsAInstruction(sum)) LLVMSetNSW(sum, nsw);
    LLVMReplaceAllUsesWith(product, sum);
    LLVMInstructionEraseFromParent(product);
}

/* The addresses at x - less are numbers before those at x. Those that stood there are left without users: one may be the next instruction. */
static void take_out(Cg *cg, Value extended) {
    uint64_t less;
    Value x = taken_from(LLVMGetOperand(extended, 0), &less);
    if (!x || LLVMTypeOf(extended) != cg->i64) return;
    for (LLVMUseRef use = LLVMGetFirstUse(extended), next; use; use = next) {
        Value user = LLVMGetUser(use), rest[2];
        next = LLVMGetNextUse(use);
        if (!LLVMIsAGetElementPtrInst(user) || LLVMGetNumOperands(user) != 2) continue;
        LType type = LLVMGetGEPSourceElementType(user);
        LLVMPositionBuilderBefore(cg->b, user);
        rest[0] = LLVMBuildZExt(cg->b, x, cg->i64, "");
        rest[1] = cg_int(cg->i64, -(int64_t)less);
        Value address = LLVMBuildGEP2(cg->b, type, LLVMGetOperand(user, 0), &rest[0], 1, "");
        LLVMReplaceAllUsesWith(user, LLVMBuildGEP2(cg->b, type, address, &rest[1], 1, ""));
    }
}

/* -- over the code ------------------------------------------------------------------------------------ */

typedef void Step(Cg *cg, Value inst);

static void start_index(Cg *cg, Value inst) {
    Value index;
    if (counts_from_start(cg, inst, &index)) LLVMReplaceAllUsesWith(inst, index);
}

static void take_out_number(Cg *cg, Value inst) {
    if (LLVMIsAZExtInst(inst)) take_out(cg, inst);
}

static void drop_unused(Cg *cg, Value inst) {
    (void)cg;
    bool pure = LLVMIsABinaryOperator(inst) || LLVMIsACastInst(inst) ||
                LLVMIsAGetElementPtrInst(inst) || is_least(inst);
    if (pure && !LLVMGetFirstUse(inst)) LLVMInstructionEraseFromParent(inst);
}

static void simplify(Cg *cg, Value inst) {
    if (LLVMIsABinaryOperator(inst))
        distribute(cg, inst); /* it may be gone */
    else if (LLVMIsAZExtInst(inst) || LLVMIsASExtInst(inst))
        widen(cg, inst);
}

/* Over all instructions; backwards, so that what a step erases has no users left. */
static void each(Cg *cg, Step *step, bool back) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        for (BB bb = back ? LLVMGetLastBasicBlock(fn) : LLVMGetFirstBasicBlock(fn); bb;
             bb = back ? LLVMGetPreviousBasicBlock(bb) : LLVMGetNextBasicBlock(bb))
            for (Value inst = back ? LLVMGetLastInstruction(bb) : LLVMGetFirstInstruction(bb), next;
                 inst; inst = next) {
                next = back ? LLVMGetPreviousInstruction(inst) : LLVMGetNextInstruction(inst);
                step(cg, inst);
            }
}

void nvptx_simplify_addresses(Cg *cg) {
    each(cg, start_index, false);
    each(cg, drop_unused, true);
    each(cg, take_out_number, false);
    each(cg, drop_unused, true);
    each(cg, simplify, false);
}
