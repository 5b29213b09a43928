/* ir_text.h - what printer and parser of the IR share: the attributes of each op, and the lexical
 * rules. Private to frontend/ir; the text form is described in IR.md. */
#ifndef QUERN_IR_TEXT_H
#define QUERN_IR_TEXT_H

#include "frontend/ir/ir.h"

/* Which meaning `sub`, `imm` and `u` have in an op, and so how they are written. */
typedef enum SubForm { SUB_NONE, SUB_OPERATOR, SUB_GUARD, SUB_ATOMIC, SUB_WORD, SUB_WORDS } SubForm;
typedef enum ImmForm { IMM_NONE, IMM_PLAIN, IMM_WORD, IMM_FLAG, IMM_MAYBE, IMM_ROW } ImmForm;
typedef enum UForm {
    U_NONE,
    U_NAME,
    U_NAME_OPT,
    U_KEYWORDS,
    U_CONST,
    U_FUNC,
    U_FROZEN,
    U_RAISE,
    U_CLASSES
} UForm;

typedef struct OpText {
    uint8_t sub, imm, u;
    bool parens;          /* operands stand in parentheses: a name comes before them */
    const char *sub_word; /* SUB_WORD: written when sub is 1; SUB_WORDS: word k when bit k is set */
    const char *
        imm_word; /* IMM_WORD, IMM_MAYBE where it is not 0: stands before the number; IMM_FLAG: written when imm is 1 */
} OpText;
extern const OpText ir_op_text[OP_COUNT];

extern const char *const ir_operator_names[OPR_COUNT];
extern const char *const ir_guard_names[GUARD_COUNT];
extern const char *const ir_atomic_names[ATOMIC_COUNT];

/* Frozen arrays with more bytes than this are printed by size and hash only. */
enum { FROZEN_TEXT_LIMIT = 4096 };
/* Constants and types nested deeper than this are refused by the parser. */
enum { TEXT_DEPTH = 100 };

/* A float as the bits of a narrower format, where that loses nothing (NaN payloads included).
 * `mantissa`: explicit bits of the format, 23 or 10. */
double ir_widen_bits(uint64_t bits, int mantissa);

void ir_print_quoted(StrBuf *out, Str s);

#endif
