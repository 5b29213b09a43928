/* strings.c - see strings.h. */
#include "codegen/strings.h"
#include "codegen/objects.h"
#include "codegen/support.h"
#include "frontend/base/hash.h"
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
    s->data = s->owner ? (char *)s->owner + SUPPORT_ARRAY_ALIGN : NULL;
    if (s->owner) return s;
    quern_release(&s->header.owner);
    return NULL;
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
