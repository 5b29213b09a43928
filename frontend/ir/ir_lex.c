/* ir_lex.c - the lexical level of the IR's text form, and its constants. */
#include "frontend/ir/ir_lex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

bool lex_fail(Lexer *x, const char *format, ...) {
    if (x->failed) return false;
    x->failed = true;
    va_list args;
    va_start(args, format);
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return diag_add(x->diags, E0001, NULL, (int)x->line, text);
}

/* Blanks and comments of one line. */
static void skip_blanks(Lexer *x) {
    while (*x->p == ' ' || *x->p == '\t' || *x->p == '\r')
        x->p++;
    if (*x->p == ';') x->p += strcspn(x->p, "\n");
}

void lex_skip_lines(Lexer *x) {
    for (skip_blanks(x); *x->p == '\n'; skip_blanks(x))
        x->p++, x->line++;
}

bool lex_end_line(Lexer *x) {
    skip_blanks(x);
    if (*x->p != '\n' && *x->p != 0) return lex_fail(x, "unexpected text: '%.20s'", x->p);
    return true;
}

bool lex_peek(Lexer *x, char c) {
    skip_blanks(x);
    return *x->p == c;
}

bool lex_accept(Lexer *x, char c) {
    if (!lex_peek(x, c)) return false;
    x->p++;
    return true;
}

bool lex_expect(Lexer *x, char c) {
    return lex_accept(x, c) || lex_fail(x, "'%c' expected", c);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

Str lex_peek_word(Lexer *x) {
    skip_blanks(x);
    const char *end = x->p;
    while (is_letter(*end) || (end > x->p && *end >= '0' && *end <= '9'))
        end++;
    return (Str){x->p, (int32_t)(end - x->p)};
}

bool lex_accept_word(Lexer *x, const char *word) {
    Str next = lex_peek_word(x);
    if (!str_is(next, word)) return false;
    x->p += next.len;
    return true;
}

bool lex_int(Lexer *x, int64_t *out) {
    skip_blanks(x);
    char *end;
    errno = 0;
    if (*x->p != '-' && (*x->p < '0' || *x->p > '9')) return lex_fail(x, "number expected");
    long long value = strtoll(x->p, &end, 10);
    if (errno || end == x->p) return lex_fail(x, "bad number");
    x->p = end;
    *out = value;
    return true;
}

bool lex_number(Lexer *x, int32_t low, int32_t *out) {
    int64_t value = 0;
    if (!lex_int(x, &value)) return false;
    if (value < low || value > x->limit)
        return lex_fail(x, "%lld is out of range", (long long)value);
    *out = (int32_t)value;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One character after a backslash. */
static bool unescape(Lexer *x, StrBuf *into) {
    char c = *x->p++;
    if (c == 'x') {
        int high = hex_digit(x->p[0]), low = high < 0 ? -1 : hex_digit(x->p[1]);
        if (low < 0) return lex_fail(x, "\\x needs two digits");
        buf_char(into, (char)(high << 4 | low));
        x->p += 2;
        return true;
    }
    if (c != 'n' && c != '"' && c != '\\') return lex_fail(x, "unknown escape in a string");
    buf_char(into, c == 'n' ? '\n' : c);
    return true;
}

bool lex_string(Lexer *x, Str *out) {
    if (!lex_accept(x, '"')) return lex_fail(x, "a string is expected");
    StrBuf text;
    buf_init(&text, x->module->arena);
    while (*x->p != '"') {
        size_t plain = strcspn(x->p, "\"\\\n");
        buf_bytes(&text, x->p, plain);
        x->p += plain;
        if (*x->p == 0 || *x->p == '\n') return lex_fail(x, "unterminated string");
        if (*x->p == '\\' && (x->p++, !unescape(x, &text))) return false;
    }
    x->p++;
    *out = str_intern(x->module->strings, text.bytes ? text.bytes : "", (size_t)text.len);
    return true;
}

bool lex_name(Lexer *x, Str *out) {
    if (lex_peek(x, '"')) return lex_string(x, out);
    const char *end = x->p;
    while (is_letter(*end) || *end == '.' || (end > x->p && *end >= '0' && *end <= '9'))
        end++;
    if (end == x->p) return lex_fail(x, "a name is expected");
    *out = str_intern(x->module->strings, x->p, (size_t)(end - x->p));
    x->p = end;
    return true;
}

bool lex_type(Lexer *x, const Type **out) {
    *out = type_parse(x->module->types, &x->p);
    return *out != NULL || lex_fail(x, "a type is expected");
}

/* -- constants ------------------------------------------------------------------------------- */

static bool float_bits(Lexer *x, double *out) {
    char kind = x->p[1];
    int digits = kind == 'd' ? 16 : kind == 'f' ? 8 : 4;
    uint64_t bits = 0;
    x->p += 2;
    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(*x->p);
        if (digit < 0) return lex_fail(x, "0%c needs %d hexadecimal digits", kind, digits);
        bits = bits << 4 | (uint64_t)digit;
        x->p++;
    }
    if (kind == 'd')
        memcpy(out, &bits, sizeof bits);
    else
        *out = ir_widen_bits(bits, kind == 'f' ? 23 : 10);
    return true;
}

static bool is_float_bits(Lexer *x) {
    skip_blanks(x);
    return x->p[0] == '0' && x->p[1] && strchr("dfh", x->p[1]);
}

static bool read_float(Lexer *x, double *out) {
    if (is_float_bits(x)) return float_bits(x, out);
    char *end;
    *out = strtod(x->p, &end);
    if (end == x->p) return lex_fail(x, "a float is expected");
    x->p = end;
    return true;
}

static bool number(Lexer *x, ConstVal *value) {
    skip_blanks(x);
    size_t n = strspn(x->p, "+-0123456789");
    if (is_float_bits(x) || (x->p[n] && strchr(".eE", x->p[n])) || n == 0) {
        value->kind = CONST_FLOAT;
        return read_float(x, &value->re);
    }
    value->kind = CONST_INT;
    char *end;
    errno = 0;
    if (x->p[n] == 'u') {
        value->is_unsigned = true;
        value->i = (int64_t)strtoull(x->p, &end, 10);
        if (errno || end != x->p + n || *x->p == '-') return lex_fail(x, "bad number");
        x->p = end + 1;
        return true;
    }
    return lex_int(x, &value->i);
}

static bool items(Lexer *x, ConstVal *value) {
    Vec(const ConstVal *) list = {0};
    if (!lex_expect(x, '(')) return false;
    while (!lex_accept(x, ')')) {
        const ConstVal *item = NULL;
        if (list.len && !lex_expect(x, ',')) return false;
        if (!lex_const(x, &item)) return false;
        vec_push(x->module->arena, &list, item);
    }
    value->items = list.items;
    value->nitems = list.len;
    if (value->kind == CONST_SLICE && list.len != 3) return lex_fail(x, "a slice has three items");
    return true;
}

static bool complex_number(Lexer *x, ConstVal *value) {
    return lex_expect(x, '(') && read_float(x, &value->re) && lex_expect(x, ',') &&
           read_float(x, &value->im) && lex_expect(x, ')');
}

static bool word_const(Lexer *x, Str word, ConstVal *value) {
    static const struct {
        const char *word;
        ConstKind kind;
    } table[] = {{"none", CONST_NONE},         {"true", CONST_BOOL},   {"false", CONST_BOOL},
                 {"ellipsis", CONST_ELLIPSIS}, {"tuple", CONST_TUPLE}, {"slice", CONST_SLICE},
                 {"complex", CONST_COMPLEX},   {"big", CONST_BIGINT},  {"code", CONST_CODE},
                 {"bytes", CONST_BYTES},       {"other", CONST_OTHER}};
    int i = 0;
    while (i < countof(table) && !str_is(word, table[i].word))
        i++;
    if (i == countof(table)) return number(x, value); /* inf and nan are words, too */
    x->p += word.len;
    value->kind = table[i].kind;
    value->i = str_is(word, "true");
    switch (value->kind) {
    case CONST_TUPLE:
    case CONST_SLICE: return items(x, value);
    case CONST_COMPLEX: return complex_number(x, value);
    case CONST_BIGINT:
    case CONST_CODE:
    case CONST_BYTES:
    case CONST_OTHER: return lex_string(x, &value->str);
    default: return true;
    }
}

bool lex_const(Lexer *x, const ConstVal **out) {
    if (x->depth++ > TEXT_DEPTH) return lex_fail(x, "the constant is nested too deeply");
    ConstVal *value = arena_new(x->module->arena, ConstVal);
    *out = value;
    Str word = lex_peek_word(x);
    bool ok;
    if (lex_peek(x, '"'))
        value->kind = CONST_STR, ok = lex_string(x, &value->str);
    else if (word.len)
        ok = word_const(x, word, value);
    else
        ok = number(x, value);
    x->depth--;
    return ok;
}

/* "name" shape(2, 3) bytes "00ff..." */
bool lex_frozen(Lexer *x, const Type *type, const FrozenArray **out) {
    Arena *arena = x->module->arena;
    if (!type || type->kind != TY_ARRAY) return lex_fail(x, "frozen needs an array type");
    FrozenArray *frozen = arena_new(arena, FrozenArray);
    int64_t *shape = arena_array(arena, int64_t, type->ndim);
    *out = frozen;
    frozen->type = type;
    frozen->shape = shape;
    if (!lex_string(x, &frozen->name)) return false;
    if (!lex_accept_word(x, "shape") || !lex_expect(x, '(')) return lex_fail(x, "shape expected");
    for (int i = 0; i < type->ndim; i++)
        if ((i && !lex_expect(x, ',')) || !lex_int(x, &shape[i])) return false;
    if (!lex_expect(x, ')')) return false;
    if (lex_accept_word(x, "elided"))
        return lex_fail(x, "the bytes of this array are not in the text");
    Str text = {0};
    if (!lex_accept_word(x, "bytes") || !lex_string(x, &text)) return lex_fail(x, "bytes expected");
    uint8_t *bytes = arena_alloc(arena, (size_t)text.len / 2);
    for (int32_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.bytes[i]);
        if (digit < 0 || text.len % 2) return lex_fail(x, "bytes are pairs of hexadecimal digits");
        bytes[i / 2] = (uint8_t)(i % 2 ? bytes[i / 2] | digit : digit << 4);
    }
    frozen->bytes = bytes;
    frozen->nbytes = text.len / 2;
    return true;
}
