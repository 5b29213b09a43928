/* sig_user.c - signatures and types as users write them, in Numba's spelling.
 *
 *   signature := [type] '(' [types] ')' | type ',' types     types := type {',' type} [',']
 *   type      := scalar | tuple | type '[' axes ']' | Array(type, ndim, 'C' [, readonly] [, unaligned])
 *              | List(type) | Set(type) | ListType[type] | DictType[type, type] | SetType[type] | unicode_type | string
 *              | Optional(type) | Record(size {, 'name': field at offset}) | namedtuple[number](types)
 *   field     := type | nestedarray(type, (lengths))
 *   tuple     := '(' types ')' | Tuple((types)) | Tuple([types]) | UniTuple(type, n)
 *   axes      := ':' or '::1' for each axis; '::1' is the contiguous one: the last (C) or the first (F)
 * ListType and its like take parentheses, too: as their texts are, or as they are called.
 * A parenthesis at the start is a tuple if another one follows it, otherwise the parameters. */
#include "typeinfer/typeinfer.h"

enum { MAX_DEPTH = 32, MAX_ITEMS = 4096, MAX_AXES = 32 };

typedef struct Reader {
    TypeTable *types;
    Arena *arena;
    DiagList *diags;
    const char *text, *p;
    const char *void_at; /* the last `void`, or NULL */
    int depth;
} Reader;

typedef Vec(const Type *) TypeVec;

static const Type *fail(Reader *r, const char *at, const char *what) {
    Str where = str_printf(r->arena, "%s at position %d", what, (int)(at - r->text) + 1);
    Str text = str_printf(r->arena, "'%s'", r->text);
    diag_add(r->diags, E0002, NULL, text.bytes, where.bytes);
    return NULL;
}

/* -- tokens ------------------------------------------------------------------------------------ */

static void skip(Reader *r) {
    while (*r->p == ' ' || *r->p == '\t' || *r->p == '\n')
        r->p++;
}

static bool accept(Reader *r, char c) {
    skip(r);
    if (*r->p != c) return false;
    r->p++;
    return true;
}

static bool expect(Reader *r, char c) {
    if (accept(r, c)) return true;
    char what[] = "expected '?'";
    what[sizeof what - 3] = c;
    fail(r, r->p, *r->p ? what : "unexpected end");
    return false;
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static Str name(Reader *r) {
    skip(r);
    const char *start = r->p;
    while (is_name(*r->p))
        r->p++;
    Str word = {start, (int32_t)(r->p - start)};
    if (str_is(word, "void")) r->void_at = start;
    return word;
}

/* A count: at least 0, at most `limit`. -1 with a diagnostic. */
static int number(Reader *r, int limit) {
    skip(r);
    const char *start = r->p;
    int value = 0;
    for (; *r->p >= '0' && *r->p <= '9' && value <= limit; r->p++)
        value = value * 10 + (*r->p - '0');
    if (r->p != start && value <= limit) return value;
    fail(r, start, r->p == start ? "expected a number" : "the number is too large");
    return -1;
}

/* -- types ------------------------------------------------------------------------------------- */

static const Type *type(Reader *r);

/* Types up to the closing parenthesis or bracket; the opening one is read. */
static bool types_until(Reader *r, TypeVec *list, char close) {
    while (!accept(r, close)) {
        const Type *t = type(r);
        if (!t) return false;
        vec_push(r->arena, list, t);
        if (list->len > MAX_ITEMS) return fail(r, r->p, "too many types") != NULL;
        if (accept(r, close)) return true;
        if (!expect(r, ',')) return false;
    }
    return true;
}

static bool type_list(Reader *r, TypeVec *list) {
    return types_until(r, list, ')');
}

static const Type *tuple_call(Reader *r) {
    TypeVec items = {0};
    bool list = accept(r, '[');
    if (!list && !accept(r, '(')) return fail(r, r->p, "expected a tuple of types");
    if (!types_until(r, &items, list ? ']' : ')')) return NULL;
    accept(r, ',');
    if (!expect(r, ')')) return NULL;
    return type_tuple(r->types, items.items, items.len);
}

static const Type *uni_tuple(Reader *r) {
    const Type *item = type(r);
    if (!item || !expect(r, ',')) return NULL;
    skip(r);
    if (*r->p == 'c') name(r), expect(r, '='); /* count=3 */
    int n = number(r, MAX_ITEMS);
    if (n < 0 || !expect(r, ')')) return NULL;
    const Type **items = arena_array(r->arena, const Type *, n);
    for (int i = 0; i < n; i++)
        items[i] = item;
    return type_tuple(r->types, items, n);
}

static const Type *optional(Reader *r) {
    const Type *item = type(r);
    if (!item || !expect(r, ')')) return NULL;
    if (item->kind == TY_none || item->kind == TY_OPTIONAL)
        return fail(r, r->p, "an optional of None or of an optional");
    return type_optional(r->types, item);
}

static bool is_element(Reader *r, const Type *element, const char *at) {
    if (type_is_item(element) && !type_is_weak(element)) return true;
    if (element->kind == TY_RECORD) return true;
    fail(r, at, "array elements must be numbers, bools or records");
    return false;
}

/* readonly, readonly=True, aligned=False, unaligned, mutable: any of them. */
static const Type *array_flag(Reader *r, const Type *array) {
    skip(r);
    const char *at = r->p;
    Str word = name(r);
    bool value = true;
    if (accept(r, '=')) {
        skip(r);
        const char *value_at = r->p;
        Str text = name(r);
        value = str_is(text, "True");
        if (!value && !str_is(text, "False")) return fail(r, value_at, "expected True or False");
    } else if (str_is(word, "True") || str_is(word, "False")) { /* positional: readonly */
        return type_array_readonly(r->types, array, str_is(word, "True"));
    }
    if (str_is(word, "readonly")) return type_array_readonly(r->types, array, value);
    if (str_is(word, "mutable")) return type_array_readonly(r->types, array, !value);
    if (str_is(word, "aligned")) return type_array_aligned(r->types, array, value);
    if (str_is(word, "unaligned")) return type_array_aligned(r->types, array, !value);
    return fail(r, at, "expected readonly or aligned");
}

static const Type *array_call(Reader *r) {
    skip(r);
    const char *at = r->p;
    const Type *element = type(r);
    if (!element || !is_element(r, element, at) || !expect(r, ',')) return NULL;
    int ndim = number(r, MAX_AXES);
    if (ndim < 0 || !expect(r, ',')) return NULL;
    skip(r);
    char quote = *r->p;
    if (quote == '\'' || quote == '"') r->p++;
    char layout = *r->p;
    if (layout != 'C' && layout != 'F' && layout != 'A')
        return fail(r, r->p, "expected the layout 'C', 'F' or 'A'");
    r->p++;
    if ((quote == '\'' || quote == '"') && !expect(r, quote)) return NULL;
    const Type *array = type_array(r->types, element, ndim, (Layout)layout);
    while (accept(r, ','))
        if (!(array = array_flag(r, array))) return NULL;
    return expect(r, ')') ? array : NULL;
}

/* Behind '[': the axes of an array. */
static const Type *axes(Reader *r, const Type *element, const char *at) {
    int ndim = 0, contiguous = -1;
    do {
        skip(r);
        const char *axis = r->p;
        if (!expect(r, ':')) return NULL;
        if (accept(r, ':')) {
            int one = number(r, 1);
            if (one < 0) return NULL;
            if (one != 1) return fail(r, axis, "expected : or ::1");
            if (contiguous >= 0) return fail(r, axis, "only one axis can be ::1");
            contiguous = ndim;
        }
        if (++ndim > MAX_AXES) return fail(r, axis, "too many axes");
    } while (accept(r, ','));
    if (!expect(r, ']') || !is_element(r, element, at)) return NULL;
    if (contiguous > 0 && contiguous < ndim - 1)
        return fail(r, at, "::1 must be the first or the last axis");
    Layout layout = contiguous < 0 ? LAYOUT_A : contiguous == ndim - 1 ? LAYOUT_C : LAYOUT_F;
    return type_array(r->types, element, ndim, layout);
}

/* -- records ------------------------------------------------------------------------------------- */

enum { MOST_BYTES = INT32_MAX };

static const Type *nested_array(Reader *r) {
    int64_t lengths[MAX_AXES];
    int n = 0;
    skip(r);
    const char *at = r->p;
    const Type *element = type(r);
    if (!element || !is_element(r, element, at) || !expect(r, ',') || !expect(r, '(')) return NULL;
    while (!accept(r, ')')) {
        if (n == MAX_AXES) return fail(r, r->p, "too many axes");
        int length = number(r, MOST_BYTES - 1);
        if (length < 0) return NULL;
        lengths[n++] = length;
        if (!accept(r, ',') && *r->p != ')') return fail(r, r->p, "expected , or )");
    }
    return expect(r, ')') ? type_block(r->types, element, n, lengths) : NULL;
}

/* 'x': float64 at 8 */
static const Type *record_field(Reader *r, int size, Str *field, int64_t *offset) {
    if (!expect(r, '\'')) return NULL;
    const char *start = r->p, *end = strchr(start, '\'');
    if (!end) return fail(r, start, "the name of a field has no end");
    *field = (Str){start, (int32_t)(end - start)};
    r->p = end + 1;
    if (!expect(r, ':')) return NULL;
    skip(r);
    const char *at = r->p;
    const Type *t = type(r);
    if (!t || (t->kind != TY_BLOCK && !is_element(r, t, at))) return NULL;
    if (!str_is(name(r), "at")) return fail(r, r->p, "expected the place of a field");
    int where = number(r, MOST_BYTES - 1);
    if (where < 0) return NULL;
    if (where + t->size > size) return fail(r, at, "a field lies behind the end of its record");
    return *offset = where, t;
}

static const Type *record(Reader *r) {
    TypeVec items = {0};
    Vec(Str) fields = {0};
    Vec(int64_t) offsets = {0};
    int size = number(r, MOST_BYTES - 1);
    while (size >= 0 && accept(r, ',')) {
        Str field;
        int64_t offset = 0;
        const Type *t = record_field(r, size, &field, &offset);
        if (!t) return NULL;
        vec_push(r->arena, &items, t);
        vec_push(r->arena, &fields, field);
        vec_push(r->arena, &offsets, offset);
    }
    if (size < 0 || !expect(r, ')')) return NULL;
    if (!items.len || !size) return fail(r, r->p, "a record without fields");
    return type_record(r->types, items.items, fields.items, offsets.items, items.len, size, NULL);
}

/* CharSeq(3), UnicodeCharSeq(5) */
static const Type *characters(Reader *r, bool wide) {
    int count = number(r, MOST_BYTES / 4 - 1);
    if (count < 0 || !expect(r, ')')) return NULL;
    if (!count) return fail(r, r->p, "text without characters");
    return type_characters(r->types, wide, count, NULL);
}

static const Type *byte_characters(Reader *r) {
    return characters(r, false);
}
static const Type *wide_characters(Reader *r) {
    return characters(r, true);
}

static const Type *scalar(Reader *r, Str word) {
    static const struct Name {
        const char *text;
        TypeKind kind;
    } names[] = {
#define TYPE(name, numba, bits, cls, numpy, strong) {numba, TY_##strong},
#include "frontend/ir/ir_types.def"
#undef TYPE
#define NAME(text, kind) {text, TY_##kind},
#include "typeinfer/tables/names.def"
#undef NAME
    };
    for (int i = 0; i < countof(names); i++)
        if (str_is(word, names[i].text)) return type_scalar(r->types, names[i].kind);
    return NULL;
}

/* ListType[int64], DictType(unicode_type, float64): what stands behind the word. */
static const Type *shared_class(Reader *r, ClassId id) {
    const Type *params[2] = {0};
    bool called = accept(r, '(');
    if (!called && !expect(r, '[')) return NULL;
    for (int32_t i = 0; i < type_class_nparams(id); i++)
        if ((i && !expect(r, ',')) || !(params[i] = type(r))) return NULL;
    if (!expect(r, called ? ')' : ']')) return NULL;
    return type_shared_form(r->types, type_class_of(r->types, id, params));
}

/* List(int64), List(int64, True), Set(int64): of the interpreter or of compiled code, which is the same here (whether it is reflected,
 * Numba's second parameter, says nothing). */
static const Type *plain_class(Reader *r, ClassId id) {
    const Type *params[2] = {type(r)};
    if (!params[0]) return NULL;
    if (accept(r, ',')) {
        Str word = (skip(r), name(r));
        if (!str_is(word, "True") && !str_is(word, "False"))
            return fail(r, r->p, "expected True or False");
    }
    return expect(r, ')') ? type_class_of(r->types, id, params) : NULL;
}

static const Type *list_call(Reader *r) {
    return plain_class(r, CLS_list);
}

static const Type *set_call(Reader *r) {
    return plain_class(r, CLS_set);
}

/* instance[3]: of the class with that number, which the resolver knows. */
static const Type *instance(Reader *r) {
    if (!expect(r, '[')) return NULL;
    int n = number(r, INT32_MAX - 1);
    if (n < 0 || !expect(r, ']')) return NULL;
    return type_instance(r->types, (void *)(uintptr_t)n, STR("instance"));
}

/* namedtuple[3](int64, float64): of the class with that number. The resolver knows its fields; until it is asked, a tuple
 * without names has a class that is the number, from 1. */
static const Type *named_tuple(Reader *r) {
    TypeVec items = {0};
    if (!expect(r, '[')) return NULL;
    int n = number(r, INT32_MAX - 1);
    if (n < 0 || !expect(r, ']') || !expect(r, '(') || !type_list(r, &items)) return NULL;
    void *cls = (void *)((uintptr_t)n + 1);
    return type_named_tuple(r->types, items.items, items.len, NULL, cls);
}

static const Type *class_named(Reader *r, Str word) {
    static const struct {
        const char *text;
        ClassId id;
    } classes[] = {{"ListType", CLS_list}, {"DictType", CLS_dict}, {"SetType", CLS_set}};
    for (int i = 0; i < countof(classes); i++)
        if (str_is(word, classes[i].text)) return shared_class(r, classes[i].id);
    if (str_is(word, "instance")) return instance(r);
    if (str_is(word, "namedtuple")) return named_tuple(r);
    if (str_is(word, "unicode_type") || str_is(word, "str") || str_is(word, "string"))
        return type_class_of(r->types, CLS_str, NULL);
    if (str_is(word, "bytes")) return type_class_of(r->types, CLS_bytes, NULL);
    return NULL;
}

/* timedelta64, timedelta64[25s]; brackets with axes are an array's. */
static const Type *time_type(Reader *r, Str word) {
    const char *end = *r->p == '[' ? strpbrk(r->p, "]:") : NULL;
    if (!end || *end != ']') return type_time_named(r->types, word);
    Str whole = {word.bytes, (int32_t)(end + 1 - word.bytes)};
    const Type *t = type_time_named(r->types, whole);
    if (!t) return fail(r, r->p, "expected a unit of time");
    r->p = end + 1;
    return t;
}

/* 'us'): what stands behind NPDatetime( */
static const Type *unit_call(Reader *r, const char *word) {
    bool wide = accept(r, '"');
    if (!wide && !expect(r, '\'')) return NULL;
    const char *start = r->p, *end = strchr(start, wide ? '"' : '\'');
    if (!end) return fail(r, start, "expected a unit of time");
    int32_t n = (int32_t)(end - start);
    Str name = n ? str_printf(r->arena, "%s[%.*s]", word, (int)n, start) : str_from(word);
    const Type *t = type_time_named(r->types, name);
    if (!t) return fail(r, start, "expected a unit of time");
    r->p = end + 1;
    return expect(r, ')') ? t : NULL;
}

static const Type *datetime_call(Reader *r) {
    return unit_call(r, "datetime64");
}

static const Type *timedelta_call(Reader *r) {
    return unit_call(r, "timedelta64");
}

static const Type *named(Reader *r, const char *at) {
    Str word = name(r);
    while (*r->p == '.') { /* types.float64, nb.int32 */
        r->p++;
        word = name(r);
    }
    if (word.len == 0) return fail(r, r->p, *r->p ? "expected a type" : "unexpected end");
    static const struct Call {
        const char *text;
        const Type *(*read)(Reader *r);
    } calls[] = {{"Tuple", tuple_call},
                 {"UniTuple", uni_tuple},
                 {"Array", array_call},
                 {"List", list_call},
                 {"Set", set_call},
                 {"Optional", optional},
                 {"Record", record},
                 {"CharSeq", byte_characters},
                 {"UnicodeCharSeq", wide_characters},
                 {"nestedarray", nested_array},
                 {"optional", optional},
                 {"NPDatetime", datetime_call},
                 {"NPTimedelta", timedelta_call}};
    for (int i = 0; i < countof(calls); i++)
        if (str_is(word, calls[i].text)) return expect(r, '(') ? calls[i].read(r) : NULL;
    if (str_is(word, "datetime64") || str_is(word, "timedelta64")) return time_type(r, word);
    const Type *t = scalar(r, word);
    if (!t) t = class_named(r, word);
    if (t || r->diags->failed) return t;
    return fail(r, at, str_printf(r->arena, "unknown type '" STR_FMT "'", STR_ARG(word)).bytes);
}

static const Type *type(Reader *r) {
    skip(r);
    const char *at = r->p;
    if (r->depth == MAX_DEPTH) return fail(r, at, "types are nested too deeply");
    r->depth++;
    const Type *t;
    if (accept(r, '(')) {
        TypeVec items = {0};
        t = type_list(r, &items) ? type_tuple(r->types, items.items, items.len) : NULL;
    } else {
        t = named(r, at);
    }
    while (t && accept(r, '['))
        t = axes(r, t, at);
    r->depth--;
    return t;
}

/* -- public ------------------------------------------------------------------------------------ */

static bool at_end(Reader *r) {
    skip(r);
    if (!*r->p) return true;
    return fail(r, r->p, "unexpected text") != NULL;
}

/* A lone void is an empty list; elsewhere it is a mistake, and none the type of a parameter that None is given for. */
static bool check_params(Reader *r, TypeVec *list, const char *at) {
    if (list->len == 1 && list->items[0]->kind == TY_none) list->len = 0;
    if (list->len && r->void_at && r->void_at >= at)
        return fail(r, at, "void cannot be a parameter") != NULL;
    for (int32_t i = 0; i < list->len; i++)
        if (list->items[i]->kind == TY_BLOCK)
            return fail(r, at, "a nested array is part of a record") != NULL;
    return true;
}

/* "float64[:], float64[:]": what stands behind the first comma, parameters all. */
static bool bare_list(Reader *r, const Type *first, Signature *out) {
    TypeVec list = {0};
    vec_push(r->arena, &list, first);
    do {
        const Type *t = type(r);
        if (!t) return false;
        vec_push(r->arena, &list, t);
        skip(r);
    } while (accept(r, ','));
    if (!at_end(r) || !check_params(r, &list, r->text)) return false;
    *out = (Signature){NULL, list.items, list.len};
    return true;
}

bool ti_parse_signature(TypeTable *types, Arena *arena, const char *text, Signature *out,
                        DiagList *diags) {
    Reader r = {.types = types, .arena = arena, .diags = diags, .text = text, .p = text};
    TypeVec list = {0};
    const Type *result = NULL;
    bool bracket = accept(&r, '(');
    const char *at = r.p;
    if (bracket && !type_list(&r, &list)) return false;
    skip(&r);
    if (!bracket || *r.p == '(' || *r.p == '[') { /* what came was the result */
        r.p = text;
        list = (TypeVec){0};
        if (!(result = type(&r))) return false;
        if (accept(&r, ',')) return bare_list(&r, result, out);
        if (!expect(&r, '(')) return false;
        at = r.p;
        if (!type_list(&r, &list)) return false;
    }
    if (!at_end(&r) || !check_params(&r, &list, at)) return false;
    *out = (Signature){result, list.items, list.len};
    return true;
}

const Type *ti_parse_type(TypeTable *types, Arena *arena, const char *text, DiagList *diags) {
    Reader r = {.types = types, .arena = arena, .diags = diags, .text = text, .p = text};
    const Type *t = type(&r);
    return t && at_end(&r) ? t : NULL;
}
