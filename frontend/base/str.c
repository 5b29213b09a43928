/* str.c - strings, the table of interned strings, and text buffers. */
#include "frontend/base/str.h"
#include "frontend/base/map.h"

#include <stdio.h>

enum { STR_LIMIT = INT32_MAX - 1 };

Str str_from(const char *bytes) {
    return (Str){bytes, (int32_t)strlen(bytes)};
}

Str str_copy(Arena *arena, const char *bytes, size_t len) {
    if (len > STR_LIMIT) arena_oom(arena);
    char *copy = arena_alloc(arena, len + 1);
    if (len) memcpy(copy, bytes, len);
    copy[len] = 0;
    return (Str){copy, (int32_t)len};
}

Str str_printf(Arena *arena, const char *format, ...) {
    StrBuf buf;
    buf_init(&buf, arena);
    va_list args;
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    return buf_take(&buf);
}

bool str_equal(Str a, Str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, (size_t)a.len) == 0);
}

bool str_is(Str a, const char *literal) {
    return str_equal(a, str_from(literal));
}

bool str_starts(Str a, const char *prefix) {
    size_t n = strlen(prefix);
    return (size_t)a.len >= n && (n == 0 || memcmp(a.bytes, prefix, n) == 0);
}

bool str_ends(Str a, const char *suffix) {
    int32_t n = (int32_t)strlen(suffix);
    return a.len >= n && memcmp(a.bytes + a.len - n, suffix, (size_t)n) == 0;
}

uint32_t str_code_point(Str s, int32_t *at) {
    uint32_t c = (unsigned char)s.bytes[(*at)++];
    int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
    if (more) c &= 0x3Fu >> more;
    for (; more && *at < s.len; more--)
        c = c << 6 | ((unsigned char)s.bytes[(*at)++] & 0x3Fu);
    return c;
}

int64_t str_code_points(Str s) {
    int64_t n = 0;
    for (int32_t at = 0; at < s.len; n++)
        str_code_point(s, &at);
    return n;
}

/* -- interning ------------------------------------------------------------------------------- */

struct StrTable {
    Map map; /* the entry's name is the interned string */
};

StrTable *str_table_new(Arena *arena) {
    StrTable *table = arena_new(arena, StrTable);
    map_init(&table->map, arena);
    return table;
}

Str str_intern(StrTable *table, const char *bytes, size_t len) {
    if (len > STR_LIMIT) arena_oom(table->map.arena);
    Str key = {bytes, (int32_t)len};
    MapValue *found = map_find_str(&table->map, key);
    if (!found) {
        Str copy = str_copy(table->map.arena, bytes, len);
        found = map_put_str(&table->map, copy);
        found->ptr = (void *)copy.bytes;
    }
    return (Str){found->ptr, (int32_t)len};
}

/* -- building text --------------------------------------------------------------------------- */

void buf_init(StrBuf *buf, Arena *arena) {
    *buf = (StrBuf){.arena = arena};
}

/* Room for `more` bytes and a NUL. */
static char *buf_room(StrBuf *buf, size_t more) {
    if (more > (size_t)(STR_LIMIT - buf->len)) arena_oom(buf->arena);
    int32_t need = buf->len + (int32_t)more + 1;
    if (need > buf->cap) {
        int64_t cap = QN_MAX((int64_t)buf->cap * 2, (int64_t)need);
        cap = QN_MIN(QN_MAX(cap, 64), INT32_MAX);
        buf->bytes = arena_grow(buf->arena, buf->bytes, (size_t)buf->cap, (size_t)cap);
        buf->cap = (int32_t)cap;
    }
    return buf->bytes + buf->len;
}

void buf_bytes(StrBuf *buf, const char *bytes, size_t len) {
    char *to = buf_room(buf, len);
    if (len) memcpy(to, bytes, len);
    buf->len += (int32_t)len;
}

void buf_char(StrBuf *buf, char c) {
    buf_bytes(buf, &c, 1);
}

void buf_str(StrBuf *buf, const char *text) {
    buf_bytes(buf, text, strlen(text));
}

void buf_vprintf(StrBuf *buf, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        char *to = buf_room(buf, (size_t)n);
        vsnprintf(to, (size_t)n + 1, format, again);
        buf->len += n;
    }
    va_end(again);
}

void buf_printf(StrBuf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

/* A copy: the caller may go on writing into the buffer. */
Str buf_take(StrBuf *buf) {
    return str_copy(buf->arena, buf->bytes, (size_t)buf->len);
}
