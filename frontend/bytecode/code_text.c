/* code_text.c - the text form of a CodeUnit: one fact a line, nothing lost.
 *
 *     code 313
 *     name "f"                        qualname, file: the same; each at most once
 *     line 12                         flags, args, posonly, kwonly, stack: the same
 *     local "x"                       localsplus in slot order; then: cell, free, arg-less words
 *     const (1, "a", None)            see parse_value
 *     global "range"                  co_names in order
 *     exceptions 8a0b12               co_exceptiontable
 *     op 5b01 0000 @ 7:12-7:17 ; LOAD_GLOBAL 1
 *
 * `op` gives 2-byte units in hexadecimal, an instruction and its caches, and the span they share (`@ -`
 * when there is none). Text after `;` is for the reader. Lines that start with `#` are comments.
 * Floats are bit patterns: 0d3FF0000000000000. tests/tools/dump_code.py writes this form. */
#include "frontend/bytecode/bc.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* -- reading ---------------------------------------------------------------------------------- */

typedef struct Parser {
    Arena *arena;
    DiagList *diags;
    const char *at;
    int line;
    bool failed;
    CodeUnit *code;
    Vec(uint8_t) bytes;
    Vec(uint8_t) exceptions;
    Vec(IrSpan) spans;
    Vec(const ConstVal *) consts;
    Vec(Str) names;
    Vec(Str) locals;
    Vec(uint8_t) kinds;
} Parser;

static bool fail(Parser *p, const char *why) {
    if (!p->failed) diag_add(p->diags, E0001, NULL, p->line, why);
    p->failed = true;
    return false;
}

static void skip_blanks(Parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
        p->at++;
}

static bool at_end_of_line(Parser *p) {
    skip_blanks(p);
    return *p->at == '\n' || *p->at == 0 || *p->at == ';';
}

/* Takes `text` when it comes next. */
static bool take(Parser *p, const char *text) {
    skip_blanks(p);
    size_t len = strlen(text);
    if (strncmp(p->at, text, len) != 0) return false;
    p->at += len;
    return true;
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The same for a whole word. */
static bool take_word(Parser *p, const char *word) {
    skip_blanks(p);
    const char *start = p->at;
    if (!take(p, word)) return false;
    if (!is_word_char(*p->at)) return true;
    p->at = start;
    return false;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* A quoted string: \" \\ \n \xNN, everything else is itself. */
static bool parse_string(Parser *p, Str *out) {
    if (!take(p, "\"")) return fail(p, "a string is expected");
    StrBuf buf;
    buf_init(&buf, p->arena);
    while (*p->at != '"') {
        char c = *p->at++;
        if (c == 0 || c == '\n') return fail(p, "a string does not end");
        if (c == '\\') {
            c = *p->at++;
            if (c == 'n') {
                c = '\n';
            } else if (c == 'x') {
                int hi = hex_digit(p->at[0]), lo = hi < 0 ? -1 : hex_digit(p->at[1]);
                if (lo < 0) return fail(p, "\\x needs two digits");
                c = (char)(hi * 16 + lo);
                p->at += 2;
            } else if (c != '"' && c != '\\') {
                return fail(p, "unknown escape");
            }
        }
        buf_char(&buf, c);
    }
    p->at++;
    *out = buf_take(&buf);
    return true;
}

static bool parse_int(Parser *p, int64_t lowest, int64_t highest, int32_t *out) {
    skip_blanks(p);
    char *end;
    errno = 0;
    long long value = strtoll(p->at, &end, 0);
    if (end == p->at || errno || value < lowest || value > highest)
        return fail(p, "a number in range is expected");
    p->at = end;
    *out = (int32_t)value;
    return true;
}

static bool parse_bits(Parser *p, double *out) {
    uint64_t bits = 0;
    if (!take(p, "0d")) return fail(p, "a float is written 0d and 16 digits");
    for (int k = 0; k < 16; k++) {
        int digit = hex_digit(*p->at);
        if (digit < 0) return fail(p, "a float is written 0d and 16 digits");
        bits = bits << 4 | (unsigned)digit;
        p->at++;
    }
    memcpy(out, &bits, sizeof bits);
    return true;
}

static bool parse_integer(Parser *p, ConstVal *value) {
    const char *start = p->at;
    if (*p->at == '-') p->at++;
    if (*p->at < '0' || *p->at > '9') return fail(p, "a constant is expected");
    while (*p->at >= '0' && *p->at <= '9')
        p->at++;
    Str text = str_copy(p->arena, start, (size_t)(p->at - start));
    value->kind = CONST_INT;
    errno = 0;
    value->i = strtoll(text.bytes, NULL, 10);
    if (!errno) return true;
    errno = 0;
    value->i = (int64_t)strtoull(text.bytes, NULL, 10);
    if (!errno && *start != '-') {
        value->is_unsigned = true;
        return true;
    }
    *value = (ConstVal){.kind = CONST_BIGINT, .str = text};
    return true;
}

static const ConstVal *parse_value(Parser *p, int depth);

/* Items up to the closing parenthesis; a comma after each but the last. */
static bool parse_items(Parser *p, ConstVal *value, int depth) {
    Vec(const ConstVal *) items = {0};
    while (!take(p, ")")) {
        const ConstVal *item = parse_value(p, depth + 1);
        if (!item) return false;
        vec_push(p->arena, &items, item);
        if (!take(p, ",")) {
            if (!take(p, ")")) return fail(p, "a comma or a parenthesis is expected");
            break;
        }
    }
    value->items = items.items;
    value->nitems = items.len;
    return true;
}

static bool parse_complex(Parser *p, ConstVal *value) {
    value->kind = CONST_COMPLEX;
    return parse_bits(p, &value->re) && (take(p, ",") || fail(p, "a comma is expected")) &&
           parse_bits(p, &value->im) && (take(p, ")") || fail(p, "a parenthesis is expected"));
}

/* None True False ... 12 0d3FF0000000000000 complex(0d.., 0d..) "text" (a, b) slice(a, b, c)
 * code "name"  bytes "text"  other "type" */
static bool parse_into(Parser *p, ConstVal *value, int depth) {
    if (take_word(p, "None")) return value->kind = CONST_NONE, true;
    if (take_word(p, "True")) return value->kind = CONST_BOOL, value->i = 1, true;
    if (take_word(p, "False")) return value->kind = CONST_BOOL, true;
    if (take(p, "...")) return value->kind = CONST_ELLIPSIS, true;
    if (take(p, "complex(")) return parse_complex(p, value);
    if (take(p, "(")) return value->kind = CONST_TUPLE, parse_items(p, value, depth);
    if (take(p, "slice(")) {
        value->kind = CONST_SLICE;
        return parse_items(p, value, depth) &&
               (value->nitems == 3 || fail(p, "a slice has 3 parts"));
    }
    if (take_word(p, "code")) return value->kind = CONST_CODE, parse_string(p, &value->str);
    if (take_word(p, "bytes")) return value->kind = CONST_BYTES, parse_string(p, &value->str);
    if (take_word(p, "other")) return value->kind = CONST_OTHER, parse_string(p, &value->str);
    if (*p->at == '"') return value->kind = CONST_STR, parse_string(p, &value->str);
    if (p->at[0] == '0' && p->at[1] == 'd')
        return value->kind = CONST_FLOAT, parse_bits(p, &value->re);
    return parse_integer(p, value);
}

enum { MAX_NESTING = 64 };

static const ConstVal *parse_value(Parser *p, int depth) {
    ConstVal *value = arena_new(p->arena, ConstVal);
    if (depth > MAX_NESTING) return fail(p, "constants are nested too deeply"), NULL;
    skip_blanks(p);
    return parse_into(p, value, depth) ? value : NULL;
}

static bool parse_hex(Parser *p, int *byte) {
    int hi = hex_digit(p->at[0]), lo = hi < 0 ? -1 : hex_digit(p->at[1]);
    if (lo < 0) return false;
    p->at += 2;
    *byte = hi * 16 + lo;
    return true;
}

static bool parse_span(Parser *p, IrSpan *span) {
    *span = (IrSpan){0, 0, -1, -1};
    if (take(p, "-")) return true;
    return parse_int(p, 0, INT32_MAX, &span->line) &&
           (take(p, ":") || fail(p, "a colon is expected")) &&
           parse_int(p, -1, INT32_MAX, &span->column) &&
           (take(p, "-") || fail(p, "a dash is expected")) &&
           parse_int(p, 0, INT32_MAX, &span->end_line) &&
           (take(p, ":") || fail(p, "a colon is expected")) &&
           parse_int(p, -1, INT32_MAX, &span->end_column);
}

static bool parse_op(Parser *p) {
    int32_t before = p->bytes.len;
    for (;;) {
        int byte;
        skip_blanks(p);
        if (!parse_hex(p, &byte)) break;
        vec_push(p->arena, &p->bytes, (uint8_t)byte);
    }
    IrSpan span;
    if (!take(p, "@")) return fail(p, "a span is expected");
    if (!parse_span(p, &span)) return false;
    for (int32_t k = before / 2; k < (p->bytes.len + 1) / 2; k++)
        vec_push(p->arena, &p->spans, span);
    return true;
}

static bool parse_exceptions(Parser *p) {
    int byte;
    skip_blanks(p);
    while (parse_hex(p, &byte))
        vec_push(p->arena, &p->exceptions, (uint8_t)byte);
    return true;
}

static bool parse_local(Parser *p) {
    Str name;
    if (!parse_string(p, &name)) return false;
    uint8_t kind = LOCAL_PLAIN;
    if (take_word(p, "cell")) kind = LOCAL_CELL;
    if (take_word(p, "free")) kind = LOCAL_FREE;
    if (take_word(p, "plain")) kind |= LOCAL_PLAIN;
    vec_push(p->arena, &p->locals, name);
    vec_push(p->arena, &p->kinds, kind);
    return true;
}

static bool parse_line(Parser *p) {
    CodeUnit *code = p->code;
    Str name;
    const ConstVal *value;
    if (take_word(p, "code")) return parse_int(p, 0, INT32_MAX, &code->version);
    if (take_word(p, "name")) return parse_string(p, &code->name);
    if (take_word(p, "qualname")) return parse_string(p, &code->qualname);
    if (take_word(p, "file")) return parse_string(p, &code->file);
    if (take_word(p, "line")) return parse_int(p, 0, INT32_MAX, &code->first_line);
    if (take_word(p, "flags")) return parse_int(p, 0, INT32_MAX, &code->flags);
    if (take_word(p, "args")) return parse_int(p, 0, INT32_MAX, &code->nargs);
    if (take_word(p, "posonly")) return parse_int(p, 0, INT32_MAX, &code->nposonly);
    if (take_word(p, "kwonly")) return parse_int(p, 0, INT32_MAX, &code->nkwonly);
    if (take_word(p, "stack")) return parse_int(p, 0, INT32_MAX, &code->stacksize);
    if (take_word(p, "local")) return parse_local(p);
    if (take_word(p, "exceptions")) return parse_exceptions(p);
    if (take_word(p, "op")) return parse_op(p);
    if (take_word(p, "const")) {
        if (!(value = parse_value(p, 0))) return false;
        vec_push(p->arena, &p->consts, value);
        return true;
    }
    if (take_word(p, "global")) {
        if (!parse_string(p, &name)) return false;
        vec_push(p->arena, &p->names, name);
        return true;
    }
    return fail(p, "unknown word");
}

static void finish(Parser *p) {
    CodeUnit *code = p->code;
    code->bytes = p->bytes.items;
    code->nbytes = p->bytes.len;
    code->exceptions = p->exceptions.items;
    code->nexceptions = p->exceptions.len;
    code->consts = p->consts.items;
    code->nconsts = p->consts.len;
    code->names = p->names.items;
    code->nnames = p->names.len;
    code->local_names = p->locals.items;
    code->local_kinds = p->kinds.items;
    code->nlocals = p->locals.len;
    code->spans = p->spans.items;
}

const CodeUnit *code_parse(Arena *arena, const char *text, DiagList *diags) {
    Parser p = {.arena = arena, .diags = diags, .at = text, .line = 1};
    p.code = arena_new(arena, CodeUnit);
    p.code->name = p.code->qualname = p.code->file = STR("");
    while (*p.at) {
        if (!at_end_of_line(&p) && *p.at != '#') {
            if (!parse_line(&p)) return NULL;
            if (!at_end_of_line(&p)) return fail(&p, "the line does not end here"), NULL;
        }
        while (*p.at && *p.at != '\n')
            p.at++;
        if (*p.at) p.at++, p.line++;
    }
    if (p.code->version == 0) return fail(&p, "no code"), NULL;
    finish(&p);
    return p.code;
}

/* -- writing ---------------------------------------------------------------------------------- */

static void print_string(StrBuf *out, Str text) {
    buf_char(out, '"');
    for (int32_t k = 0; k < text.len; k++) {
        unsigned char c = (unsigned char)text.bytes[k];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_str(out, "\\n");
        else if (c < 32 || c == 127)
            buf_printf(out, "\\x%02x", c);
        else
            buf_char(out, (char)c);
    }
    buf_char(out, '"');
}

static void print_bits(StrBuf *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    buf_printf(out, "0d%016" PRIX64, bits);
}

static void print_value(StrBuf *out, const ConstVal *value);

static void print_items(StrBuf *out, const ConstVal *value) {
    for (int32_t k = 0; k < value->nitems; k++) {
        if (k) buf_str(out, ", ");
        print_value(out, value->items[k]);
    }
    buf_char(out, ')');
}

static void print_value(StrBuf *out, const ConstVal *value) {
    switch (value->kind) {
    case CONST_NONE: buf_str(out, "None"); break;
    case CONST_BOOL: buf_str(out, value->i ? "True" : "False"); break;
    case CONST_INT:
        if (value->is_unsigned)
            buf_printf(out, "%" PRIu64, (uint64_t)value->i);
        else
            buf_printf(out, "%" PRId64, value->i);
        break;
    case CONST_BIGINT: buf_bytes(out, value->str.bytes, (size_t)value->str.len); break;
    case CONST_FLOAT: print_bits(out, value->re); break;
    case CONST_COMPLEX:
        buf_str(out, "complex(");
        print_bits(out, value->re);
        buf_str(out, ", ");
        print_bits(out, value->im);
        buf_char(out, ')');
        break;
    case CONST_STR: print_string(out, value->str); break;
    case CONST_BYTES:
        buf_str(out, "bytes ");
        print_string(out, value->str);
        break;
    case CONST_TUPLE:
        buf_char(out, '(');
        print_items(out, value);
        break;
    case CONST_ELLIPSIS: buf_str(out, "..."); break;
    case CONST_SLICE:
        buf_str(out, "slice(");
        print_items(out, value);
        break;
    case CONST_CODE:
    case CONST_OTHER:
        buf_str(out, value->kind == CONST_CODE ? "code " : "other ");
        print_string(out, value->str);
        break;
    }
}

static void print_named(StrBuf *out, const char *word, Str name) {
    buf_printf(out, "%s ", word);
    print_string(out, name);
    buf_char(out, '\n');
}

static void print_span(StrBuf *out, const IrSpan *span) {
    if (span->line <= 0)
        buf_str(out, " @ -");
    else
        buf_printf(out, " @ %d:%d-%d:%d", (int)span->line, (int)span->column, (int)span->end_line,
                   (int)span->end_column);
}

/* One instruction and its caches a line, as far as they share a span. */
static void print_ops(StrBuf *out, const CodeUnit *code) {
    int32_t nunits = code->nbytes / 2;
    for (int32_t unit = 0; unit < nunits;) {
        int opcode = code->bytes[2 * unit], operand = code->bytes[2 * unit + 1];
        int32_t end = unit + 1 + bc_opcode_caches(code->version, opcode);
        const char *name = bc_opcode_name(code->version, opcode);
        const IrSpan *span = &code->spans[unit];
        buf_str(out, "op");
        do {
            buf_printf(out, " %02x%02x", code->bytes[2 * unit], code->bytes[2 * unit + 1]);
            unit++;
        } while (unit < end && unit < nunits &&
                 memcmp(span, &code->spans[unit], sizeof *span) == 0);
        print_span(out, span);
        buf_printf(out, " ; %s %d\n", name ? name : "?", operand);
    }
    if (code->nbytes % 2) buf_printf(out, "op %02x @ -\n", code->bytes[code->nbytes - 1]);
}

void code_print(StrBuf *out, const CodeUnit *code) {
    buf_printf(out, "code %d\n", (int)code->version);
    print_named(out, "name", code->name);
    print_named(out, "qualname", code->qualname);
    print_named(out, "file", code->file);
    buf_printf(out, "line %d\nflags %d\nargs %d\nposonly %d\nkwonly %d\nstack %d\n",
               (int)code->first_line, (int)code->flags, (int)code->nargs, (int)code->nposonly,
               (int)code->nkwonly, (int)code->stacksize);
    for (int32_t k = 0; k < code->nlocals; k++) {
        uint8_t kind = code->local_kinds[k];
        buf_str(out, "local ");
        print_string(out, code->local_names[k]);
        if (kind & LOCAL_CELL) buf_str(out, " cell");
        if (kind & LOCAL_FREE) buf_str(out, " free");
        if ((kind & LOCAL_PLAIN) && kind != LOCAL_PLAIN) buf_str(out, " plain");
        buf_char(out, '\n');
    }
    for (int32_t k = 0; k < code->nconsts; k++) {
        buf_str(out, "const ");
        print_value(out, code->consts[k]);
        buf_char(out, '\n');
    }
    for (int32_t k = 0; k < code->nnames; k++)
        print_named(out, "global", code->names[k]);
    if (code->nexceptions > 0) {
        buf_str(out, "exceptions ");
        for (int32_t k = 0; k < code->nexceptions; k++)
            buf_printf(out, "%02x", code->exceptions[k]);
        buf_char(out, '\n');
    }
    print_ops(out, code);
}
