/* amdgpu_local.c - small arrays of a work-item stay in registers.
 *
 * LLVM makes a vector of an array that is indexed at run time (promote-alloca, up to 16 elements) where every address is one step
 * away from it. But a sum of indices has become two steps by then, or a choice between two steps: an index that may count from the
 * end, a[i + 1], a[k - 1]. Offsets have the 32 bits of a private address, so that sums of them wrap as addresses do. */
#include "codegen/target/amdgpu.h"

typedef struct Local {
    Value array;
    LType element;
} Local;

/* Bytes as elements: of a constant, or of a choice between such; NULL: it is neither, or between two elements. */
static Value in_elements(Cg *cg, Value bytes, int64_t size) {
    if (LLVMIsAConstantInt(bytes)) {
        int64_t n = LLVMConstIntGetSExtValue(bytes);
        return n % size ? NULL : cg_int(cg->i32, n / size);
    }
    if (!LLVMIsASelectInst(bytes)) return NULL;
    Value a = in_elements(cg, LLVMGetOperand(bytes, 1), size),
          b = in_elements(cg, LLVMGetOperand(bytes, 2), size);
    return a && b ? LLVMBuildSelect(cg->b, LLVMGetOperand(bytes, 0), a, b, "") : NULL;
}

/* The index of `address` in the array's elements; NULL: it is no step from the array, or between two elements. */
static Value index_of(Cg *cg, const Local *l, Value address) {
    if (address == l->array) return cg_int(cg->i32, 0);
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2) return NULL;
    Value index = LLVMGetOperand(address, 1);
    if (LLVMGetOperand(address, 0) != l->array || LLVMTypeOf(index) != cg->i32) return NULL;
    LType type = LLVMGetGEPSourceElementType(address);
    if (type == l->element) return index;
    if (type != cg->i8) return NULL;
    return in_elements(cg, index, (int64_t)LLVMABISizeOfType(cg->layout, l->element));
}

/* The index that `user` comes to, which goes on from `first`; NULL: it does not, or it is one step already. */
static Value joined_index(Cg *cg, const Local *l, Value first, Value user) {
    LLVMPositionBuilderBefore(cg->b, user);
    if (LLVMIsASelectInst(user)) {
        Value a = index_of(cg, l, LLVMGetOperand(user, 1)),
              b = index_of(cg, l, LLVMGetOperand(user, 2));
        return a && b ? LLVMBuildSelect(cg->b, LLVMGetOperand(user, 0), a, b, "") : NULL;
    }
    Value a = index_of(cg, l, first);
    if (first == l->array || !a || !LLVMIsAGetElementPtrInst(user)) return NULL;
    Local from_there = {first, l->element};
    Value b = index_of(cg, &from_there, user);
    return b ? LLVMBuildAdd(cg->b, a, b, "") : NULL;
}

/* One use of `first`, the array or a step from it. Another step from the array takes the place of what is joined. */
static bool join_use(Cg *cg, const Local *l, Value first, Value user) {
    Value index = joined_index(cg, l, first, user);
    if (!index) return false;
    Value step = LLVMBuildGEP2(cg->b, l->element, l->array, &index, 1, "");
    LLVMReplaceAllUsesWith(user, step);
    LLVMInstructionEraseFromParent(user);
    return true;
}

/* Uses that come and go make a list that is begun anew. */
static bool join_any(Cg *cg, const Local *l, Value first) {
    for (LLVMUseRef use = LLVMGetFirstUse(first); use; use = LLVMGetNextUse(use))
        if (join_use(cg, l, first, LLVMGetUser(use))) return true;
    return false;
}

static bool is_step(Value array, Value inst) {
    return LLVMIsAGetElementPtrInst(inst) && LLVMGetOperand(inst, 0) == array;
}

static bool join_behind(Cg *cg, const Local *l) {
    for (LLVMUseRef use = LLVMGetFirstUse(l->array); use; use = LLVMGetNextUse(use)) {
        Value first = LLVMGetUser(use);
        if (!is_step(l->array, first) || !join_any(cg, l, first)) continue;
        if (!LLVMGetFirstUse(first)) LLVMInstructionEraseFromParent(first);
        return true;
    }
    return false;
}

enum { MOST = 16 }; /* elements of what promote-alloca makes vectors of */

void amdgpu_join_addresses(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        if (LLVMIsDeclaration(fn)) continue;
        BB entry = LLVMGetEntryBasicBlock(fn);
        for (Value inst = LLVMGetFirstInstruction(entry); inst;
             inst = LLVMGetNextInstruction(inst)) {
            if (!LLVMIsAAllocaInst(inst)) continue;
            LType type = LLVMGetAllocatedType(inst);
            if (LLVMGetTypeKind(type) != LLVMArrayTypeKind || LLVMGetArrayLength2(type) > MOST)
                continue;
            Local l = {inst, LLVMGetElementType(type)};
            while (join_any(cg, &l, inst) || join_behind(cg, &l)) {
            }
        }
    }
}
