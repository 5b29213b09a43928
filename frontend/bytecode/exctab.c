/* exctab.c - CPython's exception table: four variable-length numbers for each range of code units.
 *
 * A number is written in groups of six bits, highest first; 0x40 in a byte means that another
 * follows, 0x80 marks the first byte of an entry. The numbers are start, length, target (code units)
 * and depth * 2 + lasti. The format is the same in 3.11 to 3.14. */
#include "frontend/bytecode/bc.h"

typedef struct Reader {
    const uint8_t *at, *end;
} Reader;

static bool read_number(Reader *r, bool first, int32_t *out) {
    uint32_t value = 0;
    for (int groups = 0; groups < 5; groups++) {
        if (r->at == r->end) return false;
        uint8_t byte = *r->at++;
        if (((byte & 0x80) != 0) != (first && groups == 0)) return false;
        if (value > (INT32_MAX >> 6)) return false;
        value = value << 6 | (byte & 0x3f);
        if (!(byte & 0x40)) {
            *out = (int32_t)value;
            return true;
        }
    }
    return false;
}

static bool read_handler(Reader *r, int32_t nunits, PyHandler *h) {
    int32_t length, depth;
    if (!read_number(r, true, &h->start) || !read_number(r, false, &length) ||
        !read_number(r, false, &h->target) || !read_number(r, false, &depth))
        return false;
    if (h->start > nunits || length > nunits - h->start || h->target >= nunits) return false;
    h->end = h->start + length;
    h->depth = depth >> 1;
    h->lasti = depth & 1;
    return true;
}

/* As bc_handler_of needs them. */
static bool is_usable(const Decoded *decoded, const PyHandler *h) {
    const PyHandler *before = decoded->handlers.len ? &vec_last(&decoded->handlers) : NULL;
    return h->start < h->end && decoded->inst_of_unit[h->target] >= 0 &&
           (!before || h->start >= before->end);
}

bool bc_exception_table(Decoded *decoded, Arena *arena, DiagList *diags) {
    const CodeUnit *code = decoded->code;
    if (code->nexceptions <= 0) return true;
    Reader r = {code->exceptions, code->exceptions + code->nexceptions};
    while (r.at < r.end) {
        PyHandler h;
        if (!read_handler(&r, decoded->nunits, &h) || !is_usable(decoded, &h)) {
            Span span = bc_span(code, 0);
            return diag_add(diags, E0103, &span, "the exception table cannot be read");
        }
        vec_push(arena, &decoded->handlers, h);
    }
    return true;
}

const PyHandler *bc_handler_of(const Decoded *decoded, int32_t unit) {
    int32_t low = 0, high = decoded->handlers.len;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const PyHandler *h = &decoded->handlers.items[middle];
        if (unit < h->start)
            high = middle;
        else if (unit >= h->end)
            low = middle + 1;
        else
            return h;
    }
    return NULL;
}
