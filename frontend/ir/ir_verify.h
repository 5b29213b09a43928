/* ir_verify.h - shared by the two halves of the verifier. Private to frontend/ir. */
#ifndef QUERN_IR_VERIFY_H
#define QUERN_IR_VERIFY_H

#include "frontend/ir/ir_text.h"

typedef struct Verifier {
    const Func *func;
    Arena *arena;
    Cfg cfg;
    int32_t *position; /* of an instruction in its block, plus one; 0: in no block */
    char message[512];
} Verifier;

/* Notes what is wrong, with function, block and instruction (NO_REF: none); returns false. */
bool verify_fail(Verifier *v, int32_t block, Ref ref, const char *format, ...) QN_PRINTF(4, 5);
/* ir_verify_op.c: operand count, attributes, types of operands and result of one instruction. */
bool verify_op(Verifier *v, Ref ref);

#endif
