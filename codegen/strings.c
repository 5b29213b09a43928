/* strings.c - see strings.h. */
#include "codegen/strings.h"
#include "codegen/objects.h"
#include "codegen/support.h"
#include "frontend/base/hash.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(offsetof(StrObject, length) == OBJECT_HEADER, "the fields follow the header");

StrObject *string_new(const CellLayout *cells, int64_t length, int64_t kind) {
    StrObject *s = cells ? (StrObject *)quern_new_object(cells) : NULL;
    if (!s) return NULL;
    s->length = length;
    s->kind = kind;
    s->hash = -1;
    s->nbytes = length * kind;
    s->stride = 1;
    s->owner = quern_alloc_array(s->nbytes, 0);
    s->data = s->owner ? (char *)s->owner + SUPPORT_ARRAY_HEADER : NULL;
    if (s->owner) return s;
    quern_release(&s->header.owner);
    return NULL;
}

const CellLayout *string_cells(void) {
    static const struct {
        CellLayout layout;
        int64_t offset;
    } cells = {{.size = sizeof(StrObject), .n = 1}, offsetof(StrObject, owner)};
    _Static_assert(offsetof(CellLayout, offsets) == sizeof(CellLayout), "the offset follows");
    return &cells.layout;
}

/* -- constants of programs ---------------------------------------------------------------------- */

typedef struct Literal Literal;
struct Literal {
    StrObject object;
    Literal *next; /* in its bucket */
    Str text;
};

/* Process-wide on purpose; only ever longer. */
static _Atomic(Literal *) buckets[256];

static void never_destroyed(Owner *owner) {
    (void)owner;
}

static int64_t width_of(Str text) {
    int64_t width = 1;
    for (int32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c >= 0xF0) return 4;
        if (c >= 0xC4) width = 2; /* C2 and C3 begin U+0080 to U+00FF */
    }
    return width;
}

static void write_code_points(Str text, int64_t width, char *data) {
    for (int32_t at = 0; at < text.len;) {
        uint32_t c = str_code_point(text, &at);
        if (width == 1) *data = (char)c;
        if (width == 2) memcpy(data, &(uint16_t){(uint16_t)c}, 2);
        if (width == 4) memcpy(data, &c, 4);
        data += width;
    }
}

static Literal *make_literal(Str text) {
    int64_t length = str_code_points(text), width = width_of(text);
    size_t bytes = (size_t)text.len + (size_t)(length * width) + 4;
    Literal *made = calloc(1, sizeof *made + bytes);
    if (!made) return NULL;
    char *data = (char *)(made + 1), *copy = data + length * width;
    if (text.len) memcpy(copy, text.bytes, (size_t)text.len);
    made->text = (Str){copy, text.len};
    write_code_points(text, width, data);
    StrObject *s = &made->object;
    atomic_init(&s->header.owner.refs, OWNER_BORROWED);
    s->header.owner.destroy = never_destroyed;
    s->length = length;
    s->kind = width;
    s->hash = -1;
    s->data = data;
    s->nbytes = length * width;
    s->stride = 1;
    return made;
}

/* -- characters ---------------------------------------------------------------------------------- */

/* Process-wide on purpose, as CPython's: walking over text makes no objects. Nobody counts them (OWNER_BORROWED). */
static StrObject characters[256];
static uint8_t character_bytes[256];
static pthread_once_t characters_once = PTHREAD_ONCE_INIT;
static atomic_bool characters_made; /* a call less for each character */

static void make_characters(void) {
    for (int code = 0; code < 256; code++) {
        StrObject *s = &characters[code];
        character_bytes[code] = (uint8_t)code;
        atomic_init(&s->header.owner.refs, OWNER_BORROWED);
        s->header.owner.destroy = never_destroyed;
        s->length = s->kind = s->nbytes = s->stride = 1;
        s->hash = -1;
        s->data = (char *)&character_bytes[code];
    }
    atomic_store_explicit(&characters_made, true, memory_order_release);
}

StrObject *quern_character(int64_t code) {
    if (QN_UNLIKELY(!atomic_load_explicit(&characters_made, memory_order_acquire)))
        pthread_once(&characters_once, make_characters);
    return &characters[code & 255];
}

StrObject *quern_text_new(const char *utf8) {
    Str text = {utf8, (int32_t)QN_MIN(strlen(utf8), (size_t)INT32_MAX)};
    int64_t length = str_code_points(text), width = width_of(text);
    StrObject *made = string_new(string_cells(), length, width);
    if (made) write_code_points(text, width, made->data);
    return made;
}

static const Literal *find_literal(const Literal *first, Str text) {
    for (; first; first = first->next)
        if (str_equal(first->text, text)) return first;
    return NULL;
}

const StrObject *string_literal(Str text) {
    _Atomic(Literal *) *bucket = &buckets[hash_bytes(text.bytes, (size_t)text.len).lo % 256];
    Literal *first = atomic_load(bucket), *made = NULL;
    do {
        const Literal *known = find_literal(first, text);
        if (known) {
            free(made);
            return &known->object;
        }
        if (!made && !(made = make_literal(text))) return NULL;
        made->next = first;
    } while (!atomic_compare_exchange_weak(bucket, &first, made));
    return &made->object;
}

/* -- hashes --------------------------------------------------------------------------------------- */

static int64_t own_hash(const void *data, int64_t n) {
    return (int64_t)hash_bytes(data, (size_t)n).lo;
}

/* Process-wide on purpose: there is one interpreter's secret. */
static _Atomic(int64_t (*)(const void *, int64_t)) hash_of = own_hash;

void quern_text_use_hash(int64_t (*hash)(const void *data, int64_t n)) {
    atomic_store(&hash_of, hash);
}

int64_t quern_text_hash(const char *data, int64_t room, int64_t n) {
    (void)room;
    int64_t hash = n ? atomic_load(&hash_of)(data, n) : 0;
    return hash == -1 ? -2 : hash;
}

/* -- numbers --------------------------------------------------------------------------------------
 *
 * The C library converts exactly, and rounds correctly. Its decimal point is the locale's, so that none is ever given to
 * it, and what it writes is looked through for digits. */

double quern_text_number(char *digits, int64_t room, int64_t n, int64_t scale) {
    snprintf(digits + n, (size_t)(room - n), "e%lld", (long long)scale);
    return strtod(digits, NULL);
}

/* The digits of "1.25e-07" stand at the front then; where the point stands among them. */
static int64_t keep_digits(char *text, int64_t *count) {
    int64_t n = 0;
    char *at = text;
    for (; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') text[n++] = *at;
    int64_t exponent = *at ? strtol(at + 1, NULL, 10) : 0;
    *count = n;
    return exponent + 1;
}

/* n significant ones, correctly rounded. */
static int64_t significant(double x, int64_t n, char *out, int64_t room, int64_t *count) {
    snprintf(out, (size_t)room, "%.*e", (int)(n - 1), x);
    return keep_digits(out, count);
}

static bool reads_as(double x, bool single, const char *digits, int64_t n, int64_t point) {
    char text[64];
    memcpy(text, digits, (size_t)n);
    snprintf(text + n, sizeof text - (size_t)n, "e%lld", (long long)(point - n));
    return single ? (double)strtof(text, NULL) == x : strtod(text, NULL) == x;
}

/* One more in the last place, where that needs no further digit. */
static bool next_up(char *digits, int64_t n) {
    while (n > 0 && digits[n - 1] == '9')
        digits[--n] = '0';
    return n > 0 && digits[n - 1]++;
}

/* The fewest digits that are enough. Among those as many the nearest is the one that is correctly rounded; where the
 * neighbours of a power of two lie nearer below than above, the next one up may be read as the number when that is not. Fewer
 * than 15 are found in the first 15, unless the number has fewer bits than others of its kind. */
static int64_t shortest(double x, bool single, char *out, int64_t room, int64_t *count) {
    bool tiny = x < (single ? 0x1p-126 : 0x1p-1022);
    int64_t last = single ? 9 : 17, point = 0;
    for (int64_t n = tiny ? 1 : single ? 6 : 15; n <= last; n++) {
        point = significant(x, n, out, room, count);
        if (n == last || reads_as(x, single, out, n, point)) break;
        if (next_up(out, n) && reads_as(x, single, out, n, point)) break;
    }
    return point;
}

int64_t quern_text_digits(double x, int64_t mode, int64_t n, char *out, int64_t room) {
    int64_t count = 0, point = 1;
    if (mode == TEXT_BEHIND_POINT) {
        snprintf(out, (size_t)room, "%.*f", (int)n, x);
        point = (int64_t)strspn(out, "0123456789");
        keep_digits(out, &count);
    } else if (x == 0) {
        out[count++] = '0';
    } else {
        bool single = mode == TEXT_SHORTEST_OF_FLOAT32;
        point = single || mode == TEXT_SHORTEST ? shortest(x, single, out, room, &count)
                                                : significant(x, n, out, room, &count);
        while (count > 1 && out[count - 1] == '0')
            count--;
    }
    return count | (point + 100000) << 32;
}

/* -- print ---------------------------------------------------------------------------------------- */

static uint32_t code_point(const StrObject *s, int64_t i) {
    const char *at = s->data + i * s->kind;
    uint32_t c = (unsigned char)*at;
    if (s->kind == 2) c = *(const uint16_t *)(const void *)at;
    if (s->kind == 4) memcpy(&c, at, 4);
    return c;
}

static size_t write_utf8(uint32_t c, char out[4]) {
    if (c < 0x80) return out[0] = (char)c, 1;
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out[0] = (char)((0xF0u << (3 - more)) | c >> 6 * more);
    for (int k = 1; k <= more; k++)
        out[k] = (char)(0x80 | (c >> 6 * (more - k) & 0x3F));
    return (size_t)more + 1;
}

/* How many bytes; *out has room for more, and is NULL where there is no memory. */
static size_t utf8_of(const StrObject *s, char **out) {
    size_t n = 0;
    *out = malloc((size_t)s->length * 4 + 1);
    for (int64_t i = 0; *out && i < s->length; i++)
        n += write_utf8(code_point(s, i), *out + n);
    if (*out) (*out)[n] = 0;
    return n;
}

char *quern_text_utf8(const void *text) {
    char *bytes;
    utf8_of(text, &bytes);
    return bytes;
}

int32_t quern_text_print(CallContext *ctx, const void *text, int64_t how) {
    FILE *to = how & PRINT_ERRORS ? stderr : stdout;
    if (ctx->pending) return ctx->pending->write(ctx, text, how) ? CALL_OK : CALL_PENDING;
    char *bytes;
    size_t n = utf8_of(text, &bytes);
    if (bytes) fwrite(bytes, 1, n, to); /* in one piece: other threads write, too */
    fflush(to);
    free(bytes);
    return CALL_OK;
}

/* One conversion into `out`, unless that is NULL; how many bytes it makes, and where the format goes on. */
static int convert(char *out, size_t room, const char **format, const char **operand) {
    char one[32];
    size_t n = 1 + strspn(*format + 1, "-+ #0123456789.l");
    char kind = (*format)[n];
    uint64_t bits;
    double x;
    memcpy(&bits, *operand, sizeof bits);
    memcpy(&x, &bits, sizeof x);
    memcpy(one, *format,
           QN_MIN(n + 1, sizeof one - 1)); /* put_format of infer_print.c makes none so long */
    one[QN_MIN(n + 1, sizeof one - 1)] = 0;
    *format += n + 1;
    *operand += sizeof bits;
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"");
    int made = kind == 's'              ? snprintf(out, room, one, (const char *)(uintptr_t)bits)
               : strchr("eEfFgG", kind) ? snprintf(out, room, one, x)
                                        : snprintf(out, room, one, (unsigned long long)bits);
    _Pragma("GCC diagnostic pop");
    return made;
}

static size_t print_into(char *out, size_t room, const char *format, const char *operand) {
    size_t n = 0;
    while (*format) {
        size_t left = n < room ? room - n : 0;
        if (*format == '%' && format[1] != '%') {
            n += (size_t)convert(left ? out + n : NULL, left, &format, &operand);
            continue;
        }
        if (left) out[n] = *format;
        n++;
        format += *format == '%' ? 2 : 1;
    }
    return n;
}

int32_t quern_kernel_print(const char *format, const void *operands) {
    char few[512], *bytes = few;
    size_t n = print_into(few, sizeof few, format, operands);
    if (n >= sizeof few) { /* snprintf ends with a zero byte, which takes room */
        bytes = malloc(n + 1);
        if (!bytes) return -1;
        print_into(bytes, n + 1, format, operands);
    }
    fwrite(bytes, 1, n, stdout);
    fflush(stdout);
    if (bytes != few) free(bytes);
    return (int32_t)n;
}
