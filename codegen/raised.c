/* raised.c - see raised.h. */
#include "codegen/raised.h"
#include "codegen/strings.h"
#include <stdio.h>

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
} Said;

static void say(Said *said, const char *text, size_t n) {
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

static void say_text(Said *said, const void *object, bool quoted) {
    char *text = object ? quern_text_utf8(object) : NULL;
    if (quoted) say_word(said, "'");
    if (text) say_word(said, text);
    if (quoted) say_word(said, "'");
    free(text);
}

/* As few digits as are read as the number again. */
static void say_double(Said *said, double x, bool in_complex) {
    char text[40];
    if (x != x) return say_word(said, "nan"); /* whatever its sign */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    say_word(said, text);
    if (!in_complex && !strpbrk(text, ".en")) say_word(said, ".0");
}

static void say_complex(Said *said, double real, double imaginary) {
    if (real != 0) {
        say_word(said, "(");
        say_double(said, real, true);
        if (!(imaginary < 0)) say_word(said, "+");
    }
    say_double(said, imaginary, true);
    say_word(said, real != 0 ? "j)" : "j");
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
    switch (kind) {
    case TY_TUPLE: say_arguments(said, args, n, NULL); break;
    case TY_CLASS:
    case TY_OBJECT: say_text(said, (const void *)(intptr_t)bits[0], quoted); break;
    case TY_f32:
    case TY_f64:
    case TY_wflt: say_double(said, raised_double(kind, bits[0]), false); break;
    case TY_c64:
    case TY_c128:
    case TY_wcpx:
        say_complex(said, raised_double(kind, bits[0]), raised_double(kind, bits[1]));
        break;
    case TY_none: say_word(said, "None"); break;
    default: say_int(said, kind, raised_int(kind, bits[0])); break;
    }
}

/* A tuple; in front of them stands a message, which is the first of its items. */
static void say_arguments(Said *said, RaisedArgs *args, int32_t n, const Str *message) {
    say_word(said, message ? "('" : "(");
    if (message) say(said, message->bytes, (size_t)message->len);
    if (message) say_word(said, "'");
    for (int32_t k = 0; k < n; k++) {
        if (k || message) say_word(said, ", ");
        say_argument(said, args, true);
    }
    say_word(said, n == 1 && !message ? ",)" : ")");
}

static void say_statement(Said *said, const RaiseInfo *by, const Raised *raised) {
    const char *home = memchr(by->class_name.bytes, ':', (size_t)by->class_name.len);
    const char *name = home ? home + 1 : by->class_name.bytes;
    RaisedArgs args = raised_args(by, raised);
    say(said, name, (size_t)(by->class_name.bytes + by->class_name.len - name));
    if (by->has_message + by->nargs == 0) return;
    say_word(said, ": ");
    if (by->has_message && by->nargs)
        say_arguments(said, &args, by->nargs, &by->message);
    else if (by->has_message)
        say(said, by->message.bytes, (size_t)by->message.len);
    else if (by->nargs == 1)
        say_argument(said, &args, false);
    else
        say_arguments(said, &args, by->nargs, NULL);
}

void quern_say_raised(const RaiseTables *tables, const Raised *raised, char *text, size_t size) {
    Said said = {text, 0, size};
    const RaiseInfo *by = raised_by(tables, raised);
    char why[512];
    if (by) {
        say_statement(&said, by, raised);
        return;
    }
    const char *name = raised_guard(tables, raised, why, sizeof why);
    say_word(&said, name);
    if (why[0]) say_word(&said, ": ");
    say_word(&said, why);
}
