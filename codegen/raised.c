/* raised.c - see raised.h. */
#include "codegen/raised.h"
#include "codegen/strings.h"
#include "codegen/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *exception, *message;
} guards[GUARD_COUNT] = {
#define GUARD(name, exception, message, nargs) {#exception, message},
#include "frontend/ir/ir_guards.def"
#undef GUARD
};

const RaiseInfo *raised_by(const RaiseTables *tables, const Raised *raised) {
    bool statement = raised->exception >= 0 && raised->exception < tables->nraises;
    return statement ? &tables->raises[raised->exception] : NULL;
}

/* -- guards ------------------------------------------------------------------------------------------- */

/* "{0}" is replaced by args[0], "{name}" by the name of the site, in which arguments are replaced, too. */
static void guard_text(char *out, size_t size, const char *format, const int64_t *args, Str name) {
    size_t n = 0;
    for (const char *f = format; *f && n + 1 < size; f++) {
        int wrote = 0;
        if (f[0] == '{' && f[1] >= '0' && f[1] < '0' + CALL_MAX_ARGS && f[2] == '}') {
            wrote = snprintf(out + n, size - n, "%lld", (long long)args[f[1] - '0']);
            f += 2;
        } else if (!strncmp(f, "{name}", 6)) {
            char inner[256];
            snprintf(inner, sizeof inner, STR_FMT, STR_ARG(name));
            guard_text(out + n, size - n, inner, args, STR(""));
            wrote = (int)strlen(out + n);
            f += 5;
        } else {
            out[n] = *f;
            wrote = 1;
        }
        n += (size_t)QN_MAX(wrote, 0);
    }
    out[QN_MIN(n, size - 1)] = 0;
}

const char *raised_guard(const RaiseTables *tables, const Raised *raised, char *text, size_t size) {
    int guard = -1 - raised->exception;
    bool placed = raised->site >= 0 && raised->site < tables->nsites;
    if (guard < 0 || guard >= GUARD_COUNT) {
        snprintf(text, size, "compiled code reported an unknown error");
        return "SystemError";
    }
    guard_text(text, size, guards[guard].message, raised->args,
               placed ? tables->sites[raised->site].name : STR("?"));
    return guards[guard].exception;
}

/* -- arguments of raise statements ---------------------------------------------------------------------- */

RaisedArgs raised_args(const RaiseInfo *by, const Raised *raised) {
    return (RaisedArgs){by->kinds, by->kinds + RAISE_MAX_KINDS, raised->args,
                        raised->args + CALL_MAX_ARGS};
}

TypeKind raised_next(RaisedArgs *args, int64_t bits[2], int32_t *n) {
    TypeKind kind = args->kinds < args->end ? (TypeKind)*args->kinds++ : TY_none;
    if (kind == TY_TUPLE) {
        *n = args->kinds < args->end ? *args->kinds++ : 0;
        return kind;
    }
    bool pair = kind == TY_c64 || kind == TY_c128 || kind == TY_wcpx;
    int words = kind == TY_none ? 0 : pair ? 2 : 1;
    if (args->last - args->bits < words) return args->bits = args->last, TY_none;
    for (int k = 0; k < words; k++)
        bits[k] = *args->bits++;
    return kind;
}

double raised_double(TypeKind kind, int64_t bits) {
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &bits, sizeof narrow);
    return kind == TY_f32 || kind == TY_c64 ? (double)narrow : wide;
}

int64_t raised_int(TypeKind kind, int64_t bits) {
    switch (kind) {
    case TY_bool: return bits & 1;
    case TY_u8: return (uint8_t)bits;
    case TY_u16: return (uint16_t)bits;
    case TY_u32: return (uint32_t)bits;
    case TY_i8: return (int8_t)bits;
    case TY_i16: return (int16_t)bits;
    case TY_i32: return (int32_t)bits;
    default: return bits;
    }
}

/* -- the text of an exception, for C ---------------------------------------------------------------------- */

typedef struct Said {
    char *out;
    size_t n, size; /* room for a zero byte is left */
    bool grows;     /* memory of malloc; size 0: there was none */
} Said;

static void make_room(Said *said, size_t n) {
    if (!said->grows || said->n + n < said->size) return;
    size_t size = said->size ? (said->n + n) * 2 : 0;
    char *more = size ? realloc(said->out, size) : NULL;
    if (more)
        said->out = more;
    else if (said->size)
        said->n = 0;
    said->size = more ? size : 0;
}

static void say(Said *said, const char *text, size_t n) {
    make_room(said, n);
    if (!said->size) return;
    size_t room = said->size - 1 - said->n, fits = QN_MIN(n, room);
    while (fits < n && fits && ((unsigned char)text[fits] & 0xC0) == 0x80)
        fits--; /* no half of a character */
    memcpy(said->out + said->n, text, fits);
    said->n += fits;
    said->out[said->n] = 0;
}

static void say_word(Said *said, const char *word) {
    say(said, word, strlen(word));
}

/* One byte of what repr() quotes; those of a character beyond ASCII are as they are in text, and numbers in bytes. */
static void say_escaped(Said *said, unsigned char c, char quote, bool bytes) {
    static const char plain[] = "\t\n\r", letters[] = "tnr";
    const char *known = c ? strchr(plain, c) : NULL;
    char text[8];
    if (c == quote || c == '\\')
        snprintf(text, sizeof text, "\\%c", c);
    else if (known)
        snprintf(text, sizeof text, "\\%c", letters[known - plain]);
    else if (c < 32 || c == 127 || (bytes && c > 127))
        snprintf(text, sizeof text, "\\x%02x", c);
    else
        snprintf(text, sizeof text, "%c", c);
    say_word(said, text);
}

/* As repr() has it, but for characters beyond ASCII that cannot be printed. */
static void say_quoted(Said *said, const char *text, size_t n, bool bytes) {
    bool other = memchr(text, '\'', n) && !memchr(text, '"', n);
    const char quote[] = {other ? '"' : '\'', 0};
    if (bytes) say_word(said, "b");
    say_word(said, quote);
    for (size_t k = 0; k < n; k++) {
        size_t wide = k; /* a character of several bytes in one piece */
        while (!bytes && wide < n && (unsigned char)text[wide] > 127)
            wide++;
        say(said, text + k, wide - k);
        if (wide < n && (k = wide) < n)
            say_escaped(said, (unsigned char)text[k], *quote, bytes);
        else if (wide > k)
            k = wide - 1;
    }
    say_word(said, quote);
}

static void say_text(Said *said, const StrObject *text, bool quoted) {
    char *utf8 = text ? quern_text_utf8(text) : NULL;
    if (utf8 && quoted)
        say_quoted(said, utf8, strlen(utf8), false);
    else if (utf8)
        say_word(said, utf8);
    free(utf8);
}

/* As few digits as are read as the number again, in fixed notation up to 16 of them. */
static void say_double(Said *said, double x, bool single, bool in_complex) {
    char text[40];
    if (x != x) return say_word(said, "nan"); /* whatever its sign */
    for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x) break;
    }
    char *e = strchr(text, 'e');
    long exponent = e ? strtol(e + 1, NULL, 10) : 0;
    if (exponent > 0 && exponent < 16) snprintf(text, sizeof text, "%.0f", strtod(text, NULL));
    say_word(said, text);
    if (!in_complex && !strpbrk(text, ".en")) say_word(said, ".0");
}

static void say_complex(Said *said, const double z[2], bool single) {
    bool both = z[0] != 0 || signbit(z[0]);
    if (both) {
        say_word(said, "(");
        say_double(said, z[0], single, true);
        if (z[1] != z[1] || !signbit(z[1])) say_word(said, "+");
    }
    say_double(said, z[1], single, true);
    say_word(said, both ? "j)" : "j");
}

static void say_int(Said *said, TypeKind kind, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, kind == TY_u64 ? "%llu" : "%lld", (long long)value);
    say_word(said, kind != TY_bool ? text : value ? "True" : "False");
}

static void say_arguments(Said *said, RaisedArgs *args, int32_t n, const Str *message);

/* As str() does, or `quoted` as repr(). */
static void say_argument(Said *said, RaisedArgs *args, bool quoted) {
    int64_t bits[2];
    int32_t n;
    TypeKind kind = raised_next(args, bits, &n);
    bool single = kind == TY_f32 || kind == TY_c64;
    double z[2] = {raised_double(kind, bits[0]), raised_double(kind, bits[1])};
    const StrObject *text = (const void *)(intptr_t)bits[0];
    switch (kind) {
    case TY_TUPLE: say_arguments(said, args, n, NULL); break;
    case TY_CLASS: say_text(said, text, quoted); break;
    case TY_OBJECT:
        say_quoted(said, text ? text->data : "", text ? (size_t)text->length : 0, true);
        break;
    case TY_f32:
    case TY_f64:
    case TY_wflt: say_double(said, z[0], single, false); break;
    case TY_c64:
    case TY_c128:
    case TY_wcpx: say_complex(said, z, single); break;
    case TY_none: say_word(said, "None"); break;
    default: say_int(said, kind, raised_int(kind, bits[0])); break;
    }
}

/* A tuple; in front of them stands a message, which is the first of its items. */
static void say_arguments(Said *said, RaisedArgs *args, int32_t n, const Str *message) {
    say_word(said, "(");
    if (message) say_quoted(said, message->bytes, (size_t)message->len, false);
    for (int32_t k = 0; k < n; k++) {
        if (k || message) say_word(said, ", ");
        say_argument(said, args, true);
    }
    say_word(said, n + (message != NULL) == 1 ? ",)" : ")");
}

static Str class_of(const RaiseInfo *by) {
    const char *home = memchr(by->class_name.bytes, ':', (size_t)by->class_name.len);
    const char *name = home ? home + 1 : by->class_name.bytes;
    return (Str){name, (int32_t)(by->class_name.bytes + by->class_name.len - name)};
}

/* str() of what a statement raised: its one argument, or the tuple of them; of a key its repr(). */
static void say_str(Said *said, const RaiseInfo *by, const Raised *raised) {
    RaisedArgs args = raised_args(by, raised);
    bool key = str_is(class_of(by), "KeyError");
    if (by->has_message + by->nargs > 1)
        say_arguments(said, &args, by->nargs, by->has_message ? &by->message : NULL);
    else if (by->has_message && key)
        say_quoted(said, by->message.bytes, (size_t)by->message.len, false);
    else if (by->has_message)
        say(said, by->message.bytes, (size_t)by->message.len);
    else if (by->nargs)
        say_argument(said, &args, key);
}

void quern_say_raised(const RaiseTables *tables, const Raised *raised, char *text, size_t size) {
    Said said = {text, 0, size, false};
    const RaiseInfo *by = raised_by(tables, raised);
    char why[512];
    *text = 0;
    Str name = by ? class_of(by) : str_from(raised_guard(tables, raised, why, sizeof why));
    say(&said, name.bytes, (size_t)name.len);
    bool more = by ? by->has_message + by->nargs > 0 : why[0] != 0;
    if (more) say_word(&said, ": ");
    if (by)
        say_str(&said, by, raised);
    else
        say_word(&said, why);
}

/* -- what handlers read of it, in C -------------------------------------------------------------------------- */

void quern_begin_for_c(CallContext *ctx, const RaiseTables *tables) {
    quern_begin(ctx);
    ctx->tables = tables;
}

static bool give_text(const StrObject *text, ExceptionText **out) {
    size_t bytes = text ? (size_t)(text->length * text->kind) : 0;
    ExceptionText *made = text ? malloc(sizeof *made + bytes + 1) : NULL;
    if (!made) return false;
    made->length = text->length;
    made->kind = text->kind;
    memcpy(made->data, text->data, bytes);
    return *out = made, true;
}

static bool give_said(const char *utf8, ExceptionText **out) {
    StrObject *text = quern_text_new(utf8);
    bool ok = give_text(text, out);
    if (text) quern_release(&text->header.owner);
    return ok;
}

/* repr(): the arguments of one alone have no comma behind it. */
static void say_repr(Said *said, const RaiseInfo *by, const Raised *raised, Str name,
                     const char *why) {
    RaisedArgs args = {NULL, NULL, NULL, NULL};
    if (by) args = raised_args(by, raised);
    say(said, name.bytes, (size_t)name.len);
    say_word(said, "(");
    bool message = by ? by->has_message : *why;
    Str text = by ? by->message : str_from(why);
    if (message) say_quoted(said, text.bytes, (size_t)text.len, false);
    for (int32_t k = 0; by && k < by->nargs; k++) {
        if (k || message) say_word(said, ", ");
        say_argument(said, &args, true);
    }
    say_word(said, ")");
}

static bool read_whole(const RaiseTables *tables, const Raised *raised, int64_t place,
                       ExceptionText **out) {
    enum { FIRST = 256 };
    const RaiseInfo *by = raised_by(tables, raised);
    char why[512] = "";
    Str name = by ? class_of(by) : str_from(raised_guard(tables, raised, why, sizeof why));
    Said said = {malloc(FIRST), 0, FIRST, true};
    if (!said.out) return false;
    *said.out = 0;
    if (place == -2)
        say_repr(&said, by, raised, name, why);
    else if (place == -3)
        say(&said, name.bytes, (size_t)name.len);
    else if (by)
        say_str(&said, by, raised);
    else
        say_word(&said, why);
    bool ok = said.size && give_said(said.out, out);
    free(said.out);
    return ok;
}

static void skip_argument(RaisedArgs *args) {
    int64_t bits[2];
    int32_t n = 0;
    if (raised_next(args, bits, &n) != TY_TUPLE) return;
    for (int32_t k = 0; k < n; k++)
        skip_argument(args);
}

static bool give_number(TypeKind kind, const int64_t bits[2], PartKind part, void *out) {
    bool complex = kind == TY_c64 || kind == TY_c128 || kind == TY_wcpx;
    bool real = kind == TY_f32 || kind == TY_f64 || kind == TY_wflt;
    bool number = kind < TY_SCALARS && kind != TY_none;
    int64_t whole = raised_int(kind, bits[0]);
    if (!number || (part == PART_INT && (complex || real))) return false;
    if (part == PART_INT) return *(int64_t *)out = whole, true;
    double z[2] = {real || complex  ? raised_double(kind, bits[0])
                   : kind == TY_u64 ? (double)(uint64_t)whole
                                    : (double)whole,
                   complex ? raised_double(kind, bits[1]) : 0};
    return *(double *)out = z[part == PART_IMAGINARY], true;
}

/* Number k of n arguments, and then of the tuple that is there: ExceptionPart.place, whose bytes are numbers from 1 on. */
static bool read_argument(const RaiseInfo *by, const Raised *raised, const ExceptionPart *part,
                          void *out) {
    RaisedArgs args = raised_args(by, raised);
    int64_t bits[2] = {0};
    int32_t n = by->has_message + by->nargs, before = by->has_message;
    TypeKind kind = TY_TUPLE;
    int shift = 56;
    while (shift > 0 && !(part->place >> shift & 0xff))
        shift -= 8;
    for (; shift >= 0; shift -= 8, before = 0) {
        int32_t k = (int32_t)(part->place >> shift & 0xff) - 1;
        if (kind != TY_TUPLE || k < 0 || k >= n) return false;
        if (k < before)
            return part->kind == PART_TEXT && !shift && give_said(by->message.bytes, out);
        for (int32_t i = before; i < k; i++)
            skip_argument(&args);
        kind = raised_next(&args, bits, &n);
    }
    if (part->kind != PART_TEXT) return give_number(kind, bits, part->kind, out);
    return kind == TY_CLASS && give_text((const void *)(intptr_t)bits[0], out);
}

bool raised_read(const RaiseTables *tables, const Raised *raised, const ExceptionPart *part,
                 void *out) {
    const RaiseInfo *by = raised_by(tables, raised);
    if (part->place < 0) return read_whole(tables, raised, part->place, out);
    int32_t n = by ? by->has_message + by->nargs : 1;
    if (part->count > PART_COUNTS || (part->count >= 0 && part->count != n)) return false;
    if (by) return part->place > 0 && read_argument(by, raised, part, out);
    char why[512];
    raised_guard(tables, raised, why, sizeof why);
    return part->kind == PART_TEXT && part->place == 1 && give_said(why, out);
}
