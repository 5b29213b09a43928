/* type_text.c - the IR form of types, printed and parsed. The users' form is in
 * frontend/describe.c. */
#include "frontend/ir/ir_text.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const space_names[] = {"global", "shared", "local", "constant"};

static void print_array(StrBuf *out, const Type *type) {
    buf_str(out, "array(");
    type_print(out, type->element);
    buf_printf(out, ", %d, %c", type->ndim, type->layout);
    if (type->readonly) buf_str(out, ", readonly");
    if (!type->aligned) buf_str(out, ", unaligned");
    if (type->space != SPACE_GLOBAL) buf_printf(out, ", %s", space_names[type->space]);
    buf_char(out, ')');
}

static void print_tuple(StrBuf *out, const Type *type) {
    buf_str(out, "tuple(");
    for (int32_t i = 0; i < type->nitems; i++) {
        if (i) buf_str(out, ", ");
        if (type->fields) {
            ir_print_quoted(out, type->fields[i]);
            buf_str(out, ": ");
        }
        type_print(out, type->items[i]);
    }
    buf_char(out, ')');
}

static void print_record(StrBuf *out, const Type *type) {
    buf_printf(out, "record(%lld", (long long)type->size);
    for (int32_t i = 0; i < type->nitems; i++) {
        buf_str(out, ", ");
        ir_print_quoted(out, type->fields[i]);
        buf_str(out, ": ");
        type_print(out, type->items[i]);
        buf_printf(out, " at %lld", (long long)type->offsets[i]);
    }
    buf_char(out, ')');
}

static void print_block(StrBuf *out, const Type *type) {
    if (type_is_bytes(type)) {
        buf_printf(out, "bytes(%lld)", (long long)type->offsets[0]);
        return;
    }
    buf_str(out, "block(");
    type_print(out, type->element);
    for (int i = 0; i < type->ndim; i++)
        buf_printf(out, ", %lld", (long long)type->offsets[i]);
    buf_char(out, ')');
}

static void print_slice(StrBuf *out, const Type *type) {
    static const char *const parts[] = {"start", "stop", "step"};
    buf_str(out, "slice(");
    bool first = true;
    for (int i = 0; i < 3; i++) {
        if (!(type->bits >> i & 1)) continue;
        buf_printf(out, "%s%s", first ? "" : ", ", parts[i]);
        first = false;
    }
    buf_char(out, ')');
}

static void print_time(StrBuf *out, const Type *type) {
    buf_str(out, type_is_span(type) ? "timedelta64" : "datetime64");
    if (type_unit(type) == UNIT_generic) return;
    buf_char(out, '[');
    if (type_multiple(type) != 1) buf_printf(out, "%d", type_multiple(type));
    buf_printf(out, "%s]", type_unit_name(type_unit(type)));
}

void type_print(StrBuf *out, const Type *type) {
    switch (type->kind) {
    case TY_TUPLE: print_tuple(out, type); return;
    case TY_ARRAY: print_array(out, type); return;
    case TY_RECORD: print_record(out, type); return;
    case TY_BLOCK: print_block(out, type); return;
    case TY_SLICE: print_slice(out, type); return;
    case TY_RANGE:
    case TY_OPTIONAL:
        buf_str(out, type->kind == TY_RANGE ? "range(" : "optional(");
        type_print(out, type->element);
        buf_char(out, ')');
        return;
    case TY_ITER:
        buf_str(out, "iter(");
        type_print(out, type->element);
        buf_printf(out, ", %u)", type->bits);
        return;
    case TY_CLASS:
        if (type_is_instance(type)) {
            buf_str(out, "instance ");
            ir_print_quoted(out, type->name);
            return;
        }
        if (type->shared) buf_str(out, "shared ");
        buf_str(out, type->variant ? type_variant_name((Variant)type->variant)
                                   : type_class_name((ClassId)type->bits));
        if (!type->nparams) return;
        buf_char(out, '(');
        for (int32_t i = 0; i < type->nparams; i++) {
            if (i) buf_str(out, ", ");
            type_print(out, type->params[i]);
        }
        if (type->maker)
            buf_printf(out, ", %s",
                       type->maker == MAKER_function ? "?" : type_maker_path(type->maker));
        buf_char(out, ')');
        return;
    case TY_MEMBER: buf_str(out, "member"); return;
    case TY_TIME: print_time(out, type); return;
    case TY_CHOICE: buf_str(out, "choice"); return;
    case TY_CAUGHT: buf_str(out, "caught"); return;
    case TY_CELL:
        buf_str(out, "shared ");
        type_print(out, type->element);
        return;
    case TY_CLOSURE:
        buf_str(out, "closure ");
        print_tuple(out, type);
        return;
    case TY_OBJECT: buf_str(out, "object"); return;
    case TY_UNKNOWN: buf_str(out, "?"); return;
    default: buf_str(out, type_name_of_kind(type->kind)); return;
    }
}

/* -- parsing --------------------------------------------------------------------------------- */

typedef struct TypeText {
    TypeTable *table;
    const char *p;
    int depth;
} TypeText;

static void skip_blanks(TypeText *t) {
    while (*t->p == ' ' || *t->p == '\t')
        t->p++;
}

static bool accept(TypeText *t, char c) {
    skip_blanks(t);
    if (*t->p != c) return false;
    t->p++;
    return true;
}

static Str read_word(TypeText *t) {
    skip_blanks(t);
    const char *from = t->p;
    while ((*t->p >= 'a' && *t->p <= 'z') || (*t->p >= 'A' && *t->p <= 'Z') ||
           (*t->p >= '0' && *t->p <= '9') || *t->p == '_')
        t->p++;
    return (Str){from, (int32_t)(t->p - from)};
}

static bool read_number(TypeText *t, long limit, long *out) {
    skip_blanks(t);
    if (*t->p < '0' || *t->p > '9') return false;
    char *end;
    *out = strtol(t->p, &end, 10);
    t->p = end;
    return *out <= limit;
}

static const Type *parse(TypeText *t);

static const Type *parse_array(TypeText *t) {
    long ndim = 0;
    const Type *element = parse(t);
    if (!element || !accept(t, ',') || !read_number(t, UINT8_MAX, &ndim) || !accept(t, ','))
        return NULL;
    Str layout = read_word(t);
    if (layout.len != 1 || !strchr("CFA", layout.bytes[0])) return NULL;
    const Type *type = type_array(t->table, element, (int)ndim, (Layout)layout.bytes[0]);
    while (accept(t, ',')) {
        Str word = read_word(t);
        if (str_is(word, "readonly"))
            type = type_array_readonly(t->table, type, true);
        else if (str_is(word, "unaligned"))
            type = type_array_aligned(t->table, type, false);
        else {
            int space = SPACE_SHARED;
            while (space < countof(space_names) && !str_is(word, space_names[space]))
                space++;
            if (space == countof(space_names)) return NULL;
            type = type_array_space(t->table, type, (Space)space);
        }
    }
    return accept(t, ')') ? type : NULL;
}

/* A field name: "x": */
static bool parse_field(TypeText *t, Arena *arena, Str *out) {
    if (!accept(t, '"')) return false;
    size_t n = strcspn(t->p, "\"\\\n");
    if (t->p[n] != '"') return false;
    *out = str_copy(arena, t->p, n);
    t->p += n + 1;
    return accept(t, ':');
}

static const Type *parse_tuple(TypeText *t, Arena *arena) {
    Vec(const Type *) items = {0};
    Vec(Str) fields = {0};
    skip_blanks(t);
    bool named = *t->p == '"';
    while (!accept(t, ')')) {
        if (items.len && !accept(t, ',')) return NULL;
        Str field = {0};
        if (named && !parse_field(t, arena, &field)) return NULL;
        const Type *item = parse(t);
        if (!item) return NULL;
        vec_push(arena, &items, item);
        vec_push(arena, &fields, field);
    }
    return type_named_tuple(t->table, items.items, items.len, named ? fields.items : NULL, NULL);
}

enum { MOST_BYTES = INT32_MAX };

/* "x": f64 at 8 */
static const Type *parse_place(TypeText *t, Arena *arena, Str *field, long *offset) {
    if (!parse_field(t, arena, field)) return NULL;
    const Type *item = parse(t);
    bool placed = item && str_is(read_word(t), "at") && read_number(t, MOST_BYTES, offset);
    return placed ? item : NULL;
}

static const Type *parse_record(TypeText *t, Arena *arena) {
    Vec(const Type *) items = {0};
    Vec(Str) fields = {0};
    Vec(int64_t) offsets = {0};
    long size = 0;
    if (!read_number(t, MOST_BYTES, &size)) return NULL;
    while (accept(t, ',')) {
        Str field;
        long offset;
        const Type *item = parse_place(t, arena, &field, &offset);
        if (!item || item->size > size - offset) return NULL;
        vec_push(arena, &items, item);
        vec_push(arena, &fields, field);
        vec_push(arena, &offsets, (int64_t)offset);
    }
    if (!accept(t, ')') || !items.len || !size) return NULL;
    return type_record(t->table, items.items, fields.items, offsets.items, items.len, size, NULL);
}

static const Type *parse_block(TypeText *t) {
    int64_t lengths[UINT8_MAX];
    int n = 0;
    long length;
    const Type *element = parse(t);
    while (element && accept(t, ',')) {
        if (n == UINT8_MAX || !read_number(t, MOST_BYTES, &length)) return NULL;
        lengths[n++] = length;
    }
    return element && n && accept(t, ')') ? type_block(t->table, element, n, lengths) : NULL;
}

static const Type *parse_bytes(TypeText *t) {
    long size = 0;
    return read_number(t, MOST_BYTES, &size) && accept(t, ')') ? type_bytes(t->table, size) : NULL;
}

static const Type *parse_slice(TypeText *t) {
    uint32_t bits = 0;
    for (bool first = true; !accept(t, ')'); first = false) {
        if (!first && !accept(t, ',')) return NULL;
        Str word = read_word(t);
        if (str_is(word, "start"))
            bits |= 1;
        else if (str_is(word, "stop"))
            bits |= 2;
        else if (str_is(word, "step"))
            bits |= 4;
        else
            return NULL;
    }
    return type_slice(t->table, bits);
}

static const Type *parse_iter(TypeText *t) {
    long bits = 0;
    const Type *of = parse(t);
    if (!of || !accept(t, ',') || !read_number(t, UINT32_MAX, &bits) || !accept(t, ')'))
        return NULL;
    return type_iter(t->table, of, (uint32_t)bits);
}

static const Type *parse_class(TypeText *t, ClassId id, Variant variant) {
    const Type *params[8];
    int32_t n = type_class_nparams(id);
    for (int32_t i = 0; i < n; i++)
        if ((i && !accept(t, ',')) || !(params[i] = parse(t))) return NULL;
    const Type *type = type_class_of(t->table, id, params);
    ValueMaker maker = MAKER_none;
    if (variant == VARIANT_defaultdict && accept(t, ',')) { /* a function is nowhere in the text */
        Str module = read_word(t), name = accept(t, '.') ? read_word(t) : (Str){0};
        Str path = {module.bytes, module.len + 1 + name.len};
        if (!name.len || !(maker = type_maker_of_path(path))) return NULL;
    }
    return accept(t, ')') ? type_variant(t->table, type, variant, maker, NULL) : NULL;
}

static Variant variant_named(Str word) {
    int variant = VARIANT_none + 1;
    while (variant < VARIANT_COUNT && !str_is(word, type_variant_name((Variant)variant)))
        variant++;
    return variant < VARIANT_COUNT ? (Variant)variant : VARIANT_none;
}

/* datetime64[25s] */
static const Type *parse_time(TypeText *t, Str word) {
    size_t n = *t->p == '[' ? strcspn(t->p, "]") : 0;
    bool closed = n && t->p[n] == ']';
    Str name = {word.bytes, word.len + (closed ? (int32_t)n + 1 : 0)};
    if (closed) t->p += n + 1;
    return type_time_named(t->table, name);
}

static const Type *parse_compound(TypeText *t, Str word) {
    ClassId id = type_class_named(word);
    if (str_is(word, "bytes") && accept(t, '('))
        return parse_bytes(t);           /* of a record; else the class */
    if (id == CLS_instance) return NULL; /* its fields are nowhere in the text */
    if (id < CLS_COUNT && !type_class_nparams(id)) return type_class_of(t->table, id, NULL);
    if (str_is(word, "datetime64") || str_is(word, "timedelta64")) return parse_time(t, word);
    if (!accept(t, '(')) return NULL;
    Variant variant = variant_named(word);
    if (variant) return parse_class(t, type_variant_class(variant), variant);
    if (id < CLS_COUNT) return parse_class(t, id, VARIANT_none);
    if (str_is(word, "array")) return parse_array(t);
    if (str_is(word, "tuple")) return parse_tuple(t, type_table_arena(t->table));
    if (str_is(word, "record")) return parse_record(t, type_table_arena(t->table));
    if (str_is(word, "block")) return parse_block(t);
    if (str_is(word, "slice")) return parse_slice(t);
    if (str_is(word, "iter")) return parse_iter(t);
    bool range = str_is(word, "range");
    if (!range && !str_is(word, "optional")) return NULL;
    const Type *of = parse(t);
    if (!of || !accept(t, ')')) return NULL;
    return range ? type_range(t->table, of) : type_optional(t->table, of);
}

static const Type *parse(TypeText *t) {
    if (t->depth++ > TEXT_DEPTH) return NULL;
    const Type *type = NULL;
    if (accept(t, '?')) {
        type = type_unknown(t->table);
    } else {
        Str word = read_word(t);
        for (int kind = 0; kind < TY_SCALARS && !type; kind++)
            if (str_is(word, type_name_of_kind((TypeKind)kind)))
                type = type_scalar(t->table, (TypeKind)kind);
        bool shared = str_is(word, "shared");
        if (shared) word = read_word(t);
        if (!type) type = parse_compound(t, word);
        if (type && shared) type = type->kind == TY_CLASS ? type_shared(t->table, type) : NULL;
    }
    t->depth--;
    return type;
}

const Type *type_parse(TypeTable *table, const char **text) {
    TypeText t = {.table = table, .p = *text};
    const Type *type = parse(&t);
    if (type) *text = t.p;
    return type;
}
