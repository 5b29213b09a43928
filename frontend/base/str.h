/* str.h - interned strings (compare by pointer) and a buffer for building text. */
#ifndef QUERN_STR_H
#define QUERN_STR_H

#include "frontend/base/arena.h"
#include <stdarg.h>

/* UTF-8, NUL-terminated for convenience; `len` counts bytes without the NUL and may contain NULs. */
typedef struct Str {
    const char *bytes;
    int32_t len;
} Str;

#define STR(literal) ((Str){(literal), (int32_t)sizeof(literal) - 1})
#define STR_FMT      "%.*s"
#define STR_ARG(s)   (int)(s).len, (s).bytes

Str str_from(const char *bytes); /* borrows */
Str str_copy(Arena *arena, const char *bytes, size_t len);
Str str_printf(Arena *arena, const char *format, ...) QN_PRINTF(2, 3);
bool str_equal(Str a, Str b);
bool str_is(Str a, const char *literal);
bool str_starts(Str a, const char *prefix);
bool str_ends(Str a, const char *suffix);
/* The code point that starts at byte *at, which moves on. What is no UTF-8 is some code point, and ends with the text. */
uint32_t str_code_point(Str s, int32_t *at);
int64_t str_code_points(Str s); /* how many */

/* -- interning ------------------------------------------------------------------------------- */

/* Equal strings interned in one table have equal `bytes` pointers. */
typedef struct StrTable StrTable;
StrTable *str_table_new(Arena *arena);
Str str_intern(StrTable *table, const char *bytes, size_t len);

/* -- building text --------------------------------------------------------------------------- */

typedef struct StrBuf {
    Arena *arena;
    char *bytes;
    int32_t len, cap;
} StrBuf;

void buf_init(StrBuf *buf, Arena *arena);
void buf_char(StrBuf *buf, char c);
void buf_str(StrBuf *buf, const char *text);
void buf_bytes(StrBuf *buf, const char *bytes, size_t len);
void buf_printf(StrBuf *buf, const char *format, ...) QN_PRINTF(2, 3);
void buf_vprintf(StrBuf *buf, const char *format, va_list args);
/* The text so far, NUL-terminated, owned by the arena. */
Str buf_take(StrBuf *buf);

#endif
