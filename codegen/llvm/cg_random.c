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

/* A word of NumPy's struct bitgen_t, which no one changes while it lives. */
static Value bitgen_word(Cg *cg, Value bits, int64_t i) {
    Value index = cg_int(cg->i64, i);
    Value at = LLVMBuildInBoundsGEP2(cg->b, cg->i64, bits, &index, 1, "");
    Value word = LLVMBuildLoad2(cg->b, cg->ptr[0], at, "");
    unsigned kind = LLVMGetMDKindIDInContext(cg->context, "invariant.load", 14);
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(cg->context, NULL, 0);
    LLVMSetMetadata(word, kind, LLVMMetadataAsValue(cg->context, nothing));
    return word;
}

void cg_next_bits(Cg *cg, LibCall *call) {
    TypeKind kind = call->inst->type->kind;
    int64_t place = kind == TY_u64 ? 1 : kind == TY_u32 ? 2 : 3;
    LType result = kind == TY_u64 ? cg->i64 : kind == TY_u32 ? cg->i32 : cg->f64;
    LType function = LLVMFunctionType(result, &cg->ptr[0], 1, false);
    ArrayLeaves bits;
    cg_array_open(cg, call->types[0], call->args[0], &bits);
    Value state = bitgen_word(cg, bits.data, 0), next = bitgen_word(cg, bits.data, place);
    call->out[0] = LLVMBuildCall2(cg->b, function, next, &state, 1, "");
    cg_call_attribute(cg, call->out[0], "nounwind", 0);
}
