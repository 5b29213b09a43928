/* ir_lex.h - reading the words, numbers and constants of the IR's text form. Private to frontend/ir.
 *
 * Every function but the peeks and accepts reports E0001 at the first error and returns false. */
#ifndef QUERN_IR_LEX_H
#define QUERN_IR_LEX_H

#include "frontend/ir/ir_text.h"

typedef struct Lexer {
    Module *module;
    DiagList *diags;
    const char *p;
    int32_t line;
    int32_t
        limit; /* largest number of an instruction or block: a short text must not ask for much */
    int depth;
    bool failed;
} Lexer;

bool lex_fail(Lexer *x, const char *format, ...) QN_PRINTF(2, 3); /* false */
void lex_skip_lines(Lexer *x); /* blanks, comments and line ends */
bool lex_end_line(Lexer *x);   /* nothing more may stand on this line */
bool lex_peek(Lexer *x, char c);
bool lex_accept(Lexer *x, char c);
bool lex_expect(Lexer *x, char c);
Str lex_peek_word(Lexer *x); /* letters, digits and _; empty when there is none */
bool lex_accept_word(Lexer *x, const char *word);
bool lex_int(Lexer *x, int64_t *out);
bool lex_number(Lexer *x, int32_t low, int32_t *out); /* low .. limit */
bool lex_string(Lexer *x, Str *out);                  /* "..." , interned */
bool lex_name(Lexer *x, Str *out);                    /* a word with dots, or a string; interned */
bool lex_type(Lexer *x, const Type **out);
bool lex_const(Lexer *x, const ConstVal **out);
bool lex_frozen(Lexer *x, const Type *type, const FrozenArray **out);

#endif
