/* Random numbers of compiled code, drawn in line while some are left (codegen/random.h). */
#include "codegen/llvm/cg.h"
#include "codegen/random.h"

static Value state_of(Cg *cg, Value of) {
    Value state = cg_call_extern(cg, "quern_random_state", cg->ptr[0], &of, 1);
    if (!LLVMIsACallInst(state)) return state;
    cg_call_attribute(cg, state, "nounwind", 0);
    cg_call_attribute(cg, state, "willreturn", 0);
    cg_call_attribute(cg, state, "memory", 0); /* none: one address for all calls in a function */
    return state;
}

/* The word `back` places before the end. */
static Value word(Cg *cg, Value state, Value left, int back) {
    Value at = LLVMBuildAdd(cg->b, left, cg_int(cg->i64, -back), "");
    Value indices[] = {cg_int(cg->i64, 0), cg_int(cg->i32, 1), at};
    LType words = LLVMArrayType2(cg->i32, RANDOM_WORDS);
    LType fields[] = {cg->i64, words};
    LType type = LLVMStructTypeInContext(cg->context, fields, countof(fields), false);
    return LLVMBuildLoad2(cg->b, cg->i32, LLVMBuildInBoundsGEP2(cg->b, type, state, indices, 3, ""),
                          "");
}

static Value one_word(Cg *cg, Value state, Value left) {
    return LLVMBuildZExt(cg->b, word(cg, state, left, 1), cg->i64, "");
}

/* 53 bits of two words, in [0, 1). */
static Value two_words(Cg *cg, Value state, Value left) {
    Value high = LLVMBuildLShr(cg->b, word(cg, state, left, 1), cg_int(cg->i32, 5), "");
    Value low = LLVMBuildLShr(cg->b, word(cg, state, left, 2), cg_int(cg->i32, 6), "");
    high = LLVMBuildShl(cg->b, LLVMBuildZExt(cg->b, high, cg->i64, ""), cg_int(cg->i64, 26), "");
    Value bits = LLVMBuildOr(cg->b, high, LLVMBuildZExt(cg->b, low, cg->i64, ""), "");
    Value whole = LLVMBuildSIToFP(cg->b, bits, cg->f64, "");
    return LLVMBuildFMul(cg->b, whole, LLVMConstReal(cg->f64, 0x1p-53), "");
}

void cg_draw(Cg *cg, LibCall *call) {
    bool real = call->inst->type->kind == TY_f64;
    Value of = call->args[0][0], state = state_of(cg, of);
    BB inside = cg_block(cg, "drawn"), few = cg_block(cg, "few"), next = cg_block(cg, "on");
    Value left = LLVMBuildLoad2(cg->b, cg->i64, state, "");
    int64_t needed = real ? 2 : 1;
    Value lacks = LLVMBuildICmp(cg->b, LLVMIntSLT, left, cg_int(cg->i64, needed), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, lacks, few, inside));

    cg_at(cg, inside);
    Value fast = real ? two_words(cg, state, left) : one_word(cg, state, left);
    LLVMBuildStore(cg->b, LLVMBuildAdd(cg->b, left, cg_int(cg->i64, -needed), ""), state);
    LLVMBuildBr(cg->b, next);

    cg_at(cg, few);
    Value slow = real ? cg_call_extern(cg, "quern_random_double", cg->f64, &of, 1)
                      : cg_call_extern(cg, "quern_random_word", cg->i64, &of, 1);
    LLVMBuildBr(cg->b, next);

    cg_at(cg, next);
    Value phi = LLVMBuildPhi(cg->b, real ? cg->f64 : cg->i64, "");
    LLVMAddIncoming(phi, (Value[]){fast, slow}, (BB[]){inside, few}, 2);
    call->out[0] = phi;
}
