/* Tokens of PTX text. */
#ifndef FAKECUDA_PTX_LEX_H
#define FAKECUDA_PTX_LEX_H

#include "ptx.h"

typedef enum TokKind {
    TK_end,
    TK_word, /* a name, a directive or an instruction, dots included */
    TK_int,
    TK_f32,    /* 0f...: bits in value */
    TK_f64,    /* 0d... or decimal: bits in value */
    TK_string, /* without the quotes */
    TK_punct   /* one character, in text[0] */
} TokKind;

typedef struct Token {
    TokKind kind;
    const char *text;
    size_t length;
    uint64_t value;
    uint32_t line;
} Token;

typedef struct Lexer {
    const char *at, *end;
    uint32_t line;
    Token token; /* the one to look at */
} Lexer;

void ptx_lex_open(Lexer *lex, const char *text, size_t length);
void ptx_lex_next(Lexer *lex);
void ptx_lex_skip_line(Lexer *lex);
bool ptx_lex_is(const Lexer *lex, const char *word);
bool ptx_lex_punct(const Lexer *lex, char c);

#endif
