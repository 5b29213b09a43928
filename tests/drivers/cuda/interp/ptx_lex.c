/* Tokens of PTX text. See ptx_lex.h. */
#include "ptx_lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void skip_comment(Lexer *lex) {
    lex->at += 2;
    while (lex->at < lex->end) {
        if (*lex->at == '\n') lex->line++;
        if (lex->at + 1 < lex->end && lex->at[0] == '*' && lex->at[1] == '/') {
            lex->at += 2;
            return;
        }
        lex->at++;
    }
}

static void skip_space(Lexer *lex) {
    while (lex->at < lex->end) {
        char c = *lex->at, d = lex->at + 1 < lex->end ? lex->at[1] : 0;
        if (c == '/' && d == '/') {
            while (lex->at < lex->end && *lex->at != '\n')
                lex->at++;
        } else if (c == '/' && d == '*') {
            skip_comment(lex);
        } else if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            if (c == '\n') lex->line++;
            lex->at++;
        } else {
            return;
        }
    }
}

/* Copies a number's text out, because the module's text need not end in a NUL. */
static uint64_t parse_number(Token *token) {
    char copy[80];
    size_t length = token->length < sizeof copy - 1 ? token->length : sizeof copy - 1;
    memcpy(copy, token->text, length);
    copy[length] = 0;
    char second = copy[0] == '0' ? copy[1] : 0;
    token->kind = TK_int;
    if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
        token->kind = second == 'f' || second == 'F' ? TK_f32 : TK_f64;
        return strtoull(copy + 2, NULL, 16);
    }
    if (second == 'x' || second == 'X') return strtoull(copy + 2, NULL, 16);
    if (second == 'b' || second == 'B') return strtoull(copy + 2, NULL, 2);
    if (strpbrk(copy, ".eE")) {
        double number = strtod(copy, NULL);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        token->kind = TK_f64;
        return bits;
    }
    return strtoull(copy, NULL, second ? 8 : 10);
}

static void lex_word(Lexer *lex) {
    Token *token = &lex->token;
    while (lex->at < lex->end) {
        bool scope = lex->at + 1 < lex->end && lex->at[0] == ':' && lex->at[1] == ':';
        if (!scope && !is_word(*lex->at)) break;
        if (*token->text == '.' && *lex->at == '.' && lex->at > token->text) break; /* .reg.b32 */
        lex->at += scope ? 2 : 1;
    }
    token->length = (size_t)(lex->at - token->text);
    token->kind = TK_word;
    bool exponent = token->length > 1 && strchr("eE", lex->at[-1]) && token->text[1] != 'x';
    if (is_digit(*token->text) && exponent && lex->at < lex->end && strchr("+-", *lex->at)) {
        lex->at++;
        while (lex->at < lex->end && is_digit(*lex->at))
            lex->at++;
        token->length = (size_t)(lex->at - token->text);
    }
    if (is_digit(*token->text)) token->value = parse_number(token);
}

void ptx_lex_next(Lexer *lex) {
    skip_space(lex);
    Token *token = &lex->token;
    *token = (Token){.kind = TK_end, .text = lex->at, .line = lex->line};
    if (lex->at >= lex->end || *lex->at == 0) return;
    if (is_word(*lex->at)) {
        lex_word(lex);
        return;
    }
    token->kind = TK_punct;
    token->length = 1;
    if (*lex->at++ != '"') return;
    token->kind = TK_string;
    token->text = lex->at;
    while (lex->at < lex->end && *lex->at != '"' && *lex->at != '\n')
        lex->at++;
    token->length = (size_t)(lex->at - token->text);
    if (lex->at < lex->end) lex->at++;
}

void ptx_lex_open(Lexer *lex, const char *text, size_t length) {
    *lex = (Lexer){.at = text, .end = text + length, .line = 1};
    ptx_lex_next(lex);
}

/* Drops the rest of the line on which the current token stands. */
void ptx_lex_skip_line(Lexer *lex) {
    uint32_t line = lex->token.line;
    while (lex->token.kind != TK_end && lex->token.line == line)
        ptx_lex_next(lex);
}

bool ptx_lex_is(const Lexer *lex, const char *word) {
    const Token *token = &lex->token;
    return token->kind == TK_word && strlen(word) == token->length &&
           memcmp(token->text, word, token->length) == 0;
}

bool ptx_lex_punct(const Lexer *lex, char c) {
    return lex->token.kind == TK_punct && *lex->token.text == c;
}
