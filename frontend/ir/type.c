/* type.c - the table of interned types, and the questions asked of a type.
 *
 * A type is made once and found again by a hash of its structure; members are interned before the
 * whole, so the hash and the comparison look one level deep only. */
#include "frontend/ir/type.h"
#include "frontend/base/hash.h"

typedef struct TypeNode TypeNode;
struct TypeNode {
    Type type;
    TypeNode *next; /* same hash */
};

struct TypeTable {
    Arena *arena;
    Map nodes; /* hash -> TypeNode */
    int32_t count;
    const Type *scalars[TY_SCALARS];
    TypeKind mask;
};

typedef struct ScalarInfo {
    const char *name, *numba;
    uint8_t bits, cls;
    TypeKind strong;
} ScalarInfo;

static const ScalarInfo scalars[TY_SCALARS] = {
#define TYPE(name, numba, bits, cls, numpy, strong)                                                \
    [TY_##name] = {#name, numba, bits, CLASS_##cls, TY_##strong},
#include "frontend/ir/ir_types.def"
#undef TYPE
};
typedef enum FieldKind {
    FIELD_COUNT,
    FIELD_WHOLE,
    FIELD_PARAM,
    FIELD_BUFFER,
    FIELD_BYTES,
    FIELD_TABLE,
    FIELD_HASHES
} FieldKind;

typedef struct FieldRow {
    uint8_t cls, kind, parameter;
    Str name;
} FieldRow;

static const struct {
    const char *name;
    int32_t nparams;
} class_rows[CLS_COUNT] = {
#define CLASS(name, parameters) [CLS_##name] = {#name, parameters},
#define FIELD(class, name, kind, parameter)
#include "frontend/ir/ir_classes.def"
#undef CLASS
#undef FIELD
};

static const FieldRow field_rows[] = {
#define CLASS(name, parameters)
#define FIELD(class, name, kind, parameter)                                                        \
    {CLS_##class, FIELD_##kind, parameter, {#name, sizeof #name - 1}},
#include "frontend/ir/ir_classes.def"
#undef CLASS
#undef FIELD
};

static_assert(TY_wint > TY_c128 && TY_wcpx + 1 == (int)TY_SCALARS, "the weak types stand last");

/* -- interning ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x) {
    return hash_mix(h * 31 + x);
}

/* How many offsets or lengths are part of what the type is. */
static int32_t given_numbers(const Type *t) {
    return t->kind == TY_RECORD ? t->nitems : t->kind == TY_BLOCK ? t->ndim : 0;
}

/* The fields of a class follow from its parameters. */
static uint64_t type_hash(const Type *t) {
    int32_t nitems = t->kind == TY_CLASS ? 0 : t->nitems;
    uint64_t h = mix(t->kind, (uint64_t)nitems);
    for (int32_t i = 0; i < nitems; i++) {
        h = mix(h, (uint64_t)t->items[i]->id);
        if (t->fields)
            for (int32_t k = 0; k < t->fields[i].len; k++)
                h = mix(h, (uint8_t)t->fields[i].bytes[k]);
    }
    h = mix(h, (uint64_t)(t->element ? t->element->id + 1 : 0));
    h = mix(h, (uint64_t)t->ndim | (uint64_t)t->layout << 8 | (uint64_t)t->space << 16 |
                   (uint64_t)t->readonly << 24 | (uint64_t)t->aligned << 25);
    h = mix(h, (uint64_t)t->bits << 1 | t->shared);
    h = mix(h, (uint64_t)t->variant | (uint64_t)t->maker << 8);
    for (int32_t i = 0; i < t->nparams; i++)
        h = mix(h, (uint64_t)t->params[i]->id + 1);
    for (int32_t i = 0; i < given_numbers(t); i++)
        h = mix(h, (uint64_t)t->offsets[i]);
    return mix(mix(h, map_key(t->cls)), map_key(t->binding));
}

static bool same_class(const Type *a, const Type *b) {
    if (b->kind != TY_CLASS || a->bits != b->bits || a->nparams != b->nparams ||
        a->shared != b->shared || a->cls != b->cls || a->variant != b->variant ||
        a->maker != b->maker || a->function != b->function)
        return false;
    for (int32_t i = 0; i < a->nparams; i++)
        if (a->params[i] != b->params[i]) return false;
    return true;
}

static bool type_same(const Type *a, const Type *b) {
    if (a->kind == TY_CLASS) return same_class(a, b);
    if (a->kind != b->kind || a->nitems != b->nitems || a->element != b->element ||
        a->ndim != b->ndim || a->layout != b->layout || a->space != b->space ||
        a->readonly != b->readonly || a->aligned != b->aligned || a->bits != b->bits ||
        a->cls != b->cls || a->binding != b->binding || !a->fields != !b->fields ||
        (a->kind == TY_RECORD && a->size != b->size))
        return false;
    for (int32_t i = 0; i < given_numbers(a); i++)
        if (a->offsets[i] != b->offsets[i]) return false;
    for (int32_t i = 0; i < a->nitems; i++) {
        if (a->items[i] != b->items[i]) return false;
        if (a->fields && !str_equal(a->fields[i], b->fields[i])) return false;
    }
    return true;
}

static int64_t align_up(int64_t n, int64_t align) {
    return (n + align - 1) / align * align;
}

static void measure_tuple(Arena *arena, Type *type) {
    int64_t *offsets = type->nitems ? arena_array(arena, int64_t, type->nitems) : NULL;
    int depth = 0;
    type->offsets = offsets;
    for (int32_t i = 0; i < type->nitems; i++) {
        const Type *item = type->items[i];
        offsets[i] = align_up(type->size, item->align);
        type->size = offsets[i] + item->size;
        type->align = QN_MAX(type->align, item->align);
        type->parts = QN_MIN(type->parts + item->parts, TYPE_MAX_PARTS + 1);
        depth = QN_MAX(depth, item->depth + 1);
        type->counted |= item->counted;
        type->open |= item->open;
        type->assumed |= item->assumed;
    }
    type->size = align_up(type->size, type->align);
    type->depth = (uint8_t)QN_MIN(depth, TYPE_MAX_DEPTH + 1);
}

/* An object: its fields behind the header. Its value is a pointer. */
static void measure_class(Arena *arena, Type *type) {
    int64_t *offsets = arena_array(arena, int64_t, type->nitems + 1), at = OBJECT_HEADER;
    int depth = 0;
    for (int32_t i = 0; i < type->nitems; i++) {
        offsets[i] = align_up(at, type->items[i]->align);
        at = offsets[i] + type->items[i]->size;
    }
    for (int32_t i = 0; i < type->nparams; i++) {
        depth = QN_MAX(depth, type->params[i]->depth + 1);
        type->parts = QN_MIN(type->parts + type->params[i]->parts, TYPE_MAX_PARTS + 1);
        type->open |= type->params[i]->open;
        type->assumed |= type->params[i]->assumed;
    }
    type->offsets = offsets;
    type->object_size = align_up(at, 8);
    type->depth = (uint8_t)QN_MIN(depth, TYPE_MAX_DEPTH + 1);
    type->align = type->size = 8;
    type->counted = true;
}

/* As NumPy has laid it out: aligned as far as its size allows that of neighbours. */
static void measure_record(Type *type) {
    int depth = 0;
    type->align = 1;
    for (int32_t i = 0; i < type->nitems; i++) {
        const Type *item = type->items[i];
        type->align = QN_MAX(type->align, item->align);
        type->parts = QN_MIN(type->parts + item->parts, TYPE_MAX_PARTS + 1);
        depth = QN_MAX(depth, item->depth + 1);
    }
    while (type->size % type->align)
        type->align /= 2;
    type->depth = (uint8_t)QN_MIN(depth, TYPE_MAX_DEPTH + 1);
}

static void measure_block(Type *type) {
    type->align = type->element->align;
    type->size = type->element->size;
    for (int i = 0; i < type->ndim; i++)
        type->size *= type->offsets[i];
    type->parts = type->element->parts;
    type->depth = (uint8_t)QN_MIN(type->element->depth + 1, TYPE_MAX_DEPTH + 1);
}

/* A number, and beside it room for what each of the functions has taken along. */
static void measure_choice(Type *type) {
    int depth = 0;
    type->align = type->size = 8;
    for (int32_t i = 0; i < type->nitems; i++) {
        const Type *item = type->items[i];
        if (item->kind != TY_CLOSURE) continue;
        type->size = align_up(align_up(type->size, item->align) + item->size, 8);
        type->parts = QN_MIN(type->parts + item->parts, TYPE_MAX_PARTS + 1);
        type->counted |= item->counted;
        type->open |= item->open;
        type->assumed |= item->assumed;
        depth = QN_MAX(depth, item->depth + 1);
    }
    type->depth = (uint8_t)QN_MIN(depth, TYPE_MAX_DEPTH + 1);
}

/* What a type that is new derives from its parts. */
static void measure(Arena *arena, Type *type) {
    if (type->kind == TY_RECORD || type->kind == TY_BLOCK) {
        type->kind == TY_RECORD ? measure_record(type) : measure_block(type);
        return;
    }
    type->align = 1;
    type->size = 0, type->parts = type->kind != TY_TUPLE && type->kind != TY_CLOSURE;
    if (type->kind < TY_SCALARS) {
        int bytes = scalars[type->kind].bits / 8;
        type->align = QN_MAX(bytes, 1);
        type->size = bytes * (scalars[type->kind].cls == CLASS_CPX ? 2 : 1);
        type->assumed = type_is_assumed(type);
    } else if (type->kind == TY_ARRAY) {
        type->align = 8;
        type->size = 16 + 16 * (int64_t)type->ndim; /* ARRAY_VALUE_SIZE */
        type->depth = type->element->depth;
        type->counted = type->space == SPACE_GLOBAL;
        type->open = type->element->open;
        type->assumed = type->element->assumed;
    } else if (type->kind == TY_CELL) {
        type->align = type->size = 8;
        type->counted = true;
        type->open = type->element->open;
        type->assumed = type->element->assumed;
        type->depth = (uint8_t)QN_MIN(type->element->depth + 1, TYPE_MAX_DEPTH + 1);
        type->parts = QN_MAX(type->element->parts, 1);
    } else if (type->kind == TY_MEMBER || type->kind == TY_TIME) {
        type->align = type->size = 8;
    } else if (type->kind == TY_CHOICE) {
        measure_choice(type);
    } else if (type->kind == TY_TUPLE || type->kind == TY_CLOSURE) {
        measure_tuple(arena, type);
    } else if (type->kind == TY_CLASS) {
        measure_class(arena, type);
    } else if (type->kind == TY_UNKNOWN) {
        type->open = true;
    } else if (type->element) {
        type->counted = type->element->counted;
        type->open = type->element->open;
        type->assumed = type->element->assumed;
        type->depth = (uint8_t)QN_MIN(type->element->depth + 1, TYPE_MAX_DEPTH + 1);
        type->parts = type->element->parts;
        if (type->kind != TY_OPTIONAL) return; /* never in memory */
        type->align = type->element->align;
        type->size = align_up(align_up(1, type->align) + type->element->size, type->align);
    }
}

/* `key` lives on the caller's stack; the items are copied when the type is new. */
static const Type *intern(TypeTable *t, const Type *key) {
    uint64_t hash = type_hash(key);
    MapValue *found = map_find(&t->nodes, hash);
    TypeNode *first = found ? found->ptr : NULL;
    for (TypeNode *node = first; node; node = node->next)
        if (type_same(&node->type, key)) return &node->type;
    TypeNode *node = arena_new(t->arena, TypeNode);
    node->type = *key;
    size_t n = (size_t)key->nitems;
    node->type.items = n ? arena_copy(t->arena, key->items, n * sizeof *key->items) : NULL;
    if (key->fields) node->type.fields = arena_copy(t->arena, key->fields, n * sizeof *key->fields);
    n = (size_t)given_numbers(key);
    if (n) node->type.offsets = arena_copy(t->arena, key->offsets, n * sizeof *key->offsets);
    n = (size_t)key->nparams;
    if (n) node->type.params = arena_copy(t->arena, key->params, n * sizeof *key->params);
    node->next = first;
    map_put(&t->nodes, hash)->ptr = node;
    node->type.id = t->count++;
    measure(t->arena, &node->type);
    return &node->type;
}

TypeTable *type_table_new(Arena *arena) {
    TypeTable *t = arena_new(arena, TypeTable);
    t->arena = arena;
    t->mask = TY_u32;
    map_init(&t->nodes, arena);
    for (int kind = 0; kind < TY_SCALARS; kind++)
        t->scalars[kind] = intern(t, &(Type){.kind = (TypeKind)kind});
    return t;
}

Arena *type_table_arena(const TypeTable *t) {
    return t->arena;
}

void type_use_wide_masks(TypeTable *t) {
    t->mask = TY_u64;
}

const Type *type_mask(TypeTable *t) {
    return type_scalar(t, t->mask);
}

const Type *type_scalar(TypeTable *t, TypeKind kind) {
    assert(kind < TY_SCALARS);
    return t->scalars[kind];
}

const Type *type_tuple(TypeTable *t, const Type *const *items, int32_t n) {
    return type_named_tuple(t, items, n, NULL, NULL);
}

const Type *type_named_tuple(TypeTable *t, const Type *const *items, int32_t n, const Str *fields,
                             void *cls) {
    Type key = {
        .kind = TY_TUPLE, .nitems = n, .items = (const Type **)items, .fields = fields, .cls = cls};
    return intern(t, &key);
}

const Type *type_value(TypeTable *t, const Type *const *items, int32_t n, const Str *fields,
                       void *cls) {
    Type key = {.kind = TY_TUPLE, .nitems = n, .items = (const Type **)items, .bits = 1};
    key.fields = fields;
    key.cls = cls;
    return intern(t, &key);
}

const Type *type_random(TypeTable *t) {
    static const Str fields[] = {{"_bits", 5}};
    const Type *words = type_array(t, type_scalar(t, TY_u64), 1, LAYOUT_C);
    const Type *items[] = {type_array_readonly(t, words, true)};
    Type key = {.kind = TY_TUPLE, .nitems = 1, .items = items, .fields = fields, .bits = 2};
    return intern(t, &key);
}

const Type *type_keyed(TypeTable *t, const Type *const *items, int32_t n, const Str *keys) {
    Type key = {.kind = TY_TUPLE, .nitems = n, .items = (const Type **)items, .bits = 3};
    key.fields = keys;
    return intern(t, &key);
}

const Type *type_tuple_like(TypeTable *t, const Type *like, const Type *const *items) {
    if (type_is_random(like)) return like;
    if (type_is_keyed(like)) return type_keyed(t, items, like->nitems, like->fields);
    if (type_is_value(like)) return type_value(t, items, like->nitems, like->fields, like->cls);
    return type_named_tuple(t, items, like->nitems, like->fields, like->cls);
}

/* One-dimensional F order is C order, and an array without axes is contiguous. */
static Layout canonical_layout(int ndim, Layout layout) {
    return ndim == 0 || (ndim == 1 && layout == LAYOUT_F) ? LAYOUT_C : layout;
}

const Type *type_array(TypeTable *t, const Type *element, int ndim, Layout layout) {
    assert(ndim >= 0 && ndim <= UINT8_MAX);
    Type key = {.kind = TY_ARRAY, .element = element, .ndim = (uint8_t)ndim, .aligned = true};
    key.layout = (uint8_t)canonical_layout(ndim, layout);
    return intern(t, &key);
}

const Type *type_array_readonly(TypeTable *t, const Type *array, bool readonly) {
    Type key = *array;
    key.readonly = readonly;
    return intern(t, &key);
}

const Type *type_array_aligned(TypeTable *t, const Type *array, bool aligned) {
    Type key = *array;
    key.aligned = aligned;
    return intern(t, &key);
}

const Type *type_array_space(TypeTable *t, const Type *array, Space space) {
    Type key = *array;
    key.space = (uint8_t)space;
    return intern(t, &key);
}

const Type *type_array_like(TypeTable *t, const Type *array, int ndim, Layout layout) {
    assert(ndim >= 0 && ndim <= UINT8_MAX);
    Type key = *array;
    key.ndim = (uint8_t)ndim;
    key.layout = (uint8_t)canonical_layout(ndim, layout);
    return intern(t, &key);
}

const Type *type_range(TypeTable *t, const Type *element) {
    return intern(t, &(Type){.kind = TY_RANGE, .element = element});
}

const Type *type_slice(TypeTable *t, uint32_t bits) {
    return intern(t, &(Type){.kind = TY_SLICE, .bits = bits});
}

const Type *type_iter(TypeTable *t, const Type *of, uint32_t bits) {
    return intern(t, &(Type){.kind = TY_ITER, .element = of, .bits = bits});
}

const Type *type_optional(TypeTable *t, const Type *element) {
    return intern(t, &(Type){.kind = TY_OPTIONAL, .element = element});
}

const Type *type_object(TypeTable *t, const struct Binding *binding) {
    return intern(t, &(Type){.kind = TY_OBJECT, .binding = binding});
}

const Type *type_member(TypeTable *t, const struct Binding *enumeration) {
    return intern(t, &(Type){.kind = TY_MEMBER, .binding = enumeration});
}

const Type *type_closure(TypeTable *t, const struct Binding *function, const void *nested,
                         const Type *const *items, int32_t n, bool fresh) {
    return intern(t, &(Type){.kind = TY_CLOSURE,
                             .binding = function,
                             .cls = (void *)nested,
                             .items = (const Type **)items,
                             .nitems = n,
                             .bits = fresh});
}

const Type *type_cell(TypeTable *t, const Type *element, void *site) {
    return intern(t, &(Type){.kind = TY_CELL, .element = element, .cls = site});
}

const Type *type_partial(TypeTable *t, const struct Binding *partial, const Type *const *items,
                         int32_t n, const Str *names) {
    return intern(t, &(Type){.kind = TY_CLOSURE,
                             .binding = partial,
                             .fields = names,
                             .items = (const Type **)items,
                             .nitems = n});
}

const Type *type_choice(TypeTable *t, const Type *const *items, int32_t n) {
    return intern(t, &(Type){.kind = TY_CHOICE, .items = (const Type **)items, .nitems = n});
}

const Type *type_caught(TypeTable *t, int32_t ref) {
    return intern(t, &(Type){.kind = TY_CAUGHT, .bits = (uint32_t)ref});
}

const Type *type_unknown(TypeTable *t) {
    return intern(t, &(Type){.kind = TY_UNKNOWN});
}

const Type *type_assumed(TypeTable *t, TypeKind kind, int32_t number) {
    assert(kind < TY_SCALARS && number > 0);
    return intern(t, &(Type){.kind = kind, .bits = (uint32_t)number});
}

/* -- times ------------------------------------------------------------------------------------ */

static const char *const unit_names[UNIT_COUNT] = {
#define UNIT(name, next) [UNIT_##name] = #name,
#include "frontend/ir/ir_units.def"
#undef UNIT
};

const char *type_unit_name(TimeUnit unit) {
    return unit_names[unit];
}

const Type *type_time(TypeTable *t, bool span, TimeUnit unit, int32_t multiple) {
    uint32_t bits = (uint32_t)span | (uint32_t)unit << 1 | (uint32_t)multiple << 5;
    return intern(t, &(Type){.kind = TY_TIME, .bits = bits});
}

static const Type *time_of_unit(TypeTable *t, bool span, Str text) {
    int32_t multiple = 0, digits = 0;
    while (digits < text.len && text.bytes[digits] >= '0' && text.bytes[digits] <= '9') {
        if (multiple > MAX_TIME_MULTIPLE / 10 - 1) return NULL;
        multiple = multiple * 10 + (text.bytes[digits++] - '0');
    }
    Str word = {text.bytes + digits, text.len - digits};
    if (digits && !multiple) return NULL;
    for (int unit = 0; unit < UNIT_COUNT; unit++)
        if (str_is(word, unit_names[unit]) && (unit < UNIT_generic || !digits))
            return type_time(t, span, (TimeUnit)unit, digits ? multiple : 1);
    return NULL;
}

const Type *type_time_named(TypeTable *t, Str name) {
    static const char *const words[] = {"datetime64", "timedelta64", "M8", "m8"};
    for (int i = 0; i < countof(words); i++) {
        int32_t n = (int32_t)strlen(words[i]);
        if (name.len < n || memcmp(name.bytes, words[i], (size_t)n) != 0) continue;
        if (name.len == n) return type_time(t, i & 1, UNIT_generic, 1);
        Str unit = {name.bytes + n + 1, name.len - n - 2};
        if (unit.len <= 0 || name.bytes[n] != '[' || name.bytes[name.len - 1] != ']') return NULL;
        return time_of_unit(t, i & 1, unit);
    }
    return NULL;
}

/* -- records ---------------------------------------------------------------------------------- */

const Type *type_record(TypeTable *t, const Type *const *items, const Str *fields,
                        const int64_t *offsets, int32_t n, int64_t size, void *dtype) {
    Type key = {.kind = TY_RECORD,
                .nitems = n,
                .items = (const Type **)items,
                .fields = fields,
                .offsets = offsets,
                .size = size,
                .cls = dtype};
    return intern(t, &key);
}

const Type *type_characters(TypeTable *t, bool wide, int64_t count, void *dtype) {
    const Type *points = type_block(t, type_scalar(t, wide ? TY_u32 : TY_u8), 1, &count);
    Str nameless = STR("");
    int64_t start = 0;
    return type_record(t, &points, &nameless, &start, 1, points->size, dtype);
}

bool type_is_characters(const Type *element) {
    return element->kind == TY_RECORD && element->nitems == 1 && element->fields[0].len == 0;
}

const Type *type_block(TypeTable *t, const Type *element, int ndim, const int64_t *lengths) {
    Type key = {.kind = TY_BLOCK, .element = element, .ndim = (uint8_t)ndim, .offsets = lengths};
    return intern(t, &key);
}

const Type *type_bytes(TypeTable *t, int64_t size) {
    Type key = {.kind = TY_BLOCK, .ndim = 1, .offsets = &size, .readonly = true};
    key.element = type_scalar(t, TY_u8);
    return intern(t, &key);
}

bool type_field_aligned(const Type *record, int32_t field) {
    int32_t align = record->items[field]->align;
    return align <= record->align && record->offsets[field] % align == 0;
}

/* -- classes ---------------------------------------------------------------------------------- */

static const Type *field_type(TypeTable *t, const FieldRow *row, const Type *const *params) {
    switch ((FieldKind)row->kind) {
    case FIELD_PARAM: return params[row->parameter];
    case FIELD_BUFFER: return type_array(t, params[row->parameter], 1, LAYOUT_C);
    case FIELD_BYTES: return type_array(t, type_scalar(t, TY_u8), 1, LAYOUT_C);
    case FIELD_TABLE: return type_array(t, type_scalar(t, TY_i32), 1, LAYOUT_C);
    case FIELD_HASHES: return type_array(t, type_scalar(t, TY_i64), 1, LAYOUT_C);
    default: return type_scalar(t, TY_i64);
    }
}

const Type *type_class_of(TypeTable *t, ClassId id, const Type *const *params) {
    enum { MAX_FIELDS = 8 };
    const Type *items[MAX_FIELDS];
    Str fields[MAX_FIELDS];
    Type key = {.kind = TY_CLASS,
                .bits = (uint32_t)id,
                .nparams = class_rows[id].nparams,
                .params = (const Type **)params};
    for (int i = 0; i < countof(field_rows); i++) {
        if (field_rows[i].cls != id) continue;
        assert(key.nitems < MAX_FIELDS);
        items[key.nitems] = field_type(t, &field_rows[i], params);
        fields[key.nitems++] = field_rows[i].name;
    }
    key.items = items;
    key.fields = fields;
    return intern(t, &key);
}

const Type *type_class_like(TypeTable *t, const Type *like, const Type *const *params) {
    if (type_is_instance(like)) return like;
    const Type *made = type_class_of(t, (ClassId)like->bits, params);
    made = type_variant(t, made, (Variant)like->variant, (ValueMaker)like->maker, like->function);
    return like->shared ? type_shared(t, made) : made;
}

const Type *type_shared(TypeTable *t, const Type *cls) {
    if (cls->shared) return cls;
    Type key = *cls;
    key.shared = true;
    key.parts = 0;
    return intern(t, &key);
}

const Type *type_shared_form(TypeTable *t, const Type *type) {
    bool container = type->kind == TY_CLASS && type->nparams;
    if (container && type->bits == CLS_exception && type->params[0]->kind != TY_bool)
        return type_scalar(t, TY_bool); /* it ends with the call: refused */
    if (!container && (type->kind != TY_TUPLE || !type->counted)) return type;
    int32_t n = container ? type->nparams : type->nitems;
    const Type **parts = arena_array(t->arena, const Type *, n + 1);
    for (int32_t i = 0; i < n; i++)
        parts[i] = type_shared_form(t, (container ? type->params : type->items)[i]);
    if (!container) return type_tuple_like(t, type, parts);
    return type_shared(t, type_class_of(t, (ClassId)type->bits, parts));
}

static const struct VariantRow {
    const char *name, *path;
    ClassId cls;
} variant_rows[VARIANT_COUNT] = {
#define VARIANT(name, class, path) [VARIANT_##name] = {#name, path, CLS_##class},
#define MAKER(name, path)
#include "frontend/ir/ir_variants.def"
#undef VARIANT
#undef MAKER
};

static const char *const maker_paths[MAKER_COUNT] = {
#define VARIANT(name, class, path)
#define MAKER(name, path) [MAKER_##name] = path,
#include "frontend/ir/ir_variants.def"
#undef VARIANT
#undef MAKER
};

const Type *type_variant(TypeTable *t, const Type *cls, Variant variant, ValueMaker maker,
                         const Type *function) {
    if (cls->variant == variant && cls->maker == maker && cls->function == function) return cls;
    Type key = *cls;
    key.variant = (uint8_t)variant;
    key.maker = (uint8_t)maker;
    key.function = function;
    key.parts = 0;
    return intern(t, &key);
}

const char *type_variant_name(Variant variant) {
    return variant_rows[variant].name;
}

const char *type_variant_path(Variant variant) {
    return variant_rows[variant].path;
}

ClassId type_variant_class(Variant variant) {
    return variant_rows[variant].cls;
}

const char *type_maker_path(ValueMaker maker) {
    return maker_paths[maker];
}

ValueMaker type_maker_of_path(Str path) {
    for (int maker = 0; maker < MAKER_COUNT; maker++)
        if (maker_paths[maker] && str_is(path, maker_paths[maker])) return (ValueMaker)maker;
    return MAKER_none;
}

const Type *type_instance(TypeTable *t, void *cls, Str name) {
    Type key = {.kind = TY_CLASS, .bits = CLS_instance, .cls = cls, .shared = true, .name = name};
    return intern(t, &key);
}

bool type_instance_is_known(const Type *instance) {
    return instance->fields != NULL;
}

void type_instance_fields(TypeTable *t, const Type *instance, const Type *const *items,
                          const Str *fields, int32_t n) {
    Type *type = (Type *)instance; /* nobody has looked at its fields yet */
    type->nitems = n;
    type->declared = arena_array(t->arena, const Type *, n + 1);
    type->items = arena_array(t->arena, const Type *, n + 1);
    for (int32_t i = 0; i < n; i++) {
        type->declared[i] = items[i];
        type->items[i] = type_stored(t, items[i]);
    }
    Str *names = arena_array(t->arena, Str, n + 1);
    for (int32_t i = 0; i < n; i++)
        names[i] = fields[i];
    type->fields = names;
    measure(t->arena, type);
}

ClassId type_class_named(Str name) {
    int id = 0;
    while (id < CLS_COUNT && !str_is(name, class_rows[id].name))
        id++;
    return (ClassId)id;
}

const char *type_class_name(ClassId id) {
    return class_rows[id].name;
}

int32_t type_class_nparams(ClassId id) {
    return class_rows[id].nparams;
}

int32_t type_field(const Type *cls, Str name) {
    for (int32_t i = 0; i < cls->nitems; i++)
        if (str_equal(cls->fields[i], name)) return i;
    return -1;
}

bool type_field_is_count(const Type *cls, int32_t field) {
    for (int i = 0; i < countof(field_rows); i++)
        if (field_rows[i].cls == cls->bits && str_equal(field_rows[i].name, cls->fields[field]))
            return field_rows[i].kind == FIELD_COUNT;
    return false;
}

int32_t type_owners(const Type *type, int64_t at, int64_t *offsets) {
    int32_t n = 0;
    if (!type->counted) return 0;
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++)
            n += type_owners(type->items[i], at + type->offsets[i], offsets ? offsets + n : NULL);
        return n;
    }
    if (offsets) *offsets = type->kind == TY_ARRAY ? at + 8 : at; /* ArrayValue.owner */
    return 1;
}

bool type_holds_frame(const Type *type) {
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (type_holds_frame(type->items[i])) return true;
    return type->kind == TY_ARRAY && type->ndim == 1 && type->layout == LAYOUT_A &&
           type->element->kind == TY_u8;
}

/* -- questions ------------------------------------------------------------------------------- */

TypeClass type_class(const Type *type) {
    return type->kind < TY_SCALARS ? (TypeClass)scalars[type->kind].cls : CLASS_NONE;
}

int type_bits(const Type *type) {
    return type->kind < TY_SCALARS ? scalars[type->kind].bits : 0;
}

const char *type_name_of_kind(TypeKind kind) {
    static const char *const rest[] = {
        "tuple",  "array",   "range", "slice", "iterator", "optional", "member", "choice", "caught",
        "object", "closure", "cell",  "class", "record",   "block",    "time",   "unknown"};
    static_assert(TY_SCALARS + countof(rest) == TY_UNKNOWN + 1, "one name for each kind");
    return kind < TY_SCALARS ? scalars[kind].name : rest[kind - TY_SCALARS];
}

TypeKind type_strong_kind(TypeKind kind) {
    return kind < TY_SCALARS ? scalars[kind].strong : kind;
}
bool type_is_scalar(const Type *type) {
    return type_class(type) != CLASS_NONE;
}

bool type_is_weak(const Type *type) {
    return type->kind < TY_SCALARS && scalars[type->kind].strong != type->kind;
}

bool type_is_int(const Type *type) {
    TypeClass c = type_class(type);
    return c == CLASS_SINT || c == CLASS_UINT;
}

bool type_is_float(const Type *type) {
    return type_class(type) == CLASS_FLT;
}
bool type_is_complex(const Type *type) {
    return type_class(type) == CLASS_CPX;
}
bool type_is_number(const Type *type) {
    return type_is_scalar(type);
}

bool type_is_item(const Type *type) {
    return type->kind == TY_TIME || type_is_number(type);
}

bool type_is_too_large(const Type *type) {
    return type->depth > TYPE_MAX_DEPTH || type->parts > TYPE_MAX_PARTS;
}

static bool holds_weak(const Type *type) {
    if (type->kind == TY_OPTIONAL || type->kind == TY_ARRAY) return holds_weak(type->element);
    for (int32_t i = 0; i < type->nparams; i++)
        if (holds_weak(type->params[i])) return true;
    for (int32_t i = 0; type->kind != TY_CLASS && i < type->nitems; i++)
        if (holds_weak(type->items[i])) return true;
    return type_is_weak(type);
}

const Type *type_strong(TypeTable *t, const Type *type) {
    if (!holds_weak(type)) return type;
    if (type->kind < TY_SCALARS) return type_scalar(t, scalars[type->kind].strong);
    if (type->kind == TY_OPTIONAL) return type_optional(t, type_strong(t, type->element));
    if (type->kind == TY_ARRAY) {
        Type key = *type;
        key.element = type_strong(t, type->element);
        return type_array_like(t, &key, type->ndim, (Layout)type->layout);
    }
    bool cls = type->kind == TY_CLASS;
    int32_t n = cls ? type->nparams : type->nitems;
    const Type **items = arena_array(t->arena, const Type *, n);
    for (int32_t i = 0; i < n; i++)
        items[i] = type_strong(t, cls ? type->params[i] : type->items[i]);
    if (cls) return type_class_like(t, type, items);
    if (type->kind == TY_CLOSURE && type->fields)
        return type_partial(t, type->binding, items, n, type->fields);
    if (type->kind == TY_CLOSURE)
        return type_closure(t, type->binding, type->cls, items, n, type->bits);
    return type_tuple_like(t, type, items);
}

const Type *type_stored(TypeTable *t, const Type *type) {
    if (type->kind == TY_OPTIONAL) {
        const Type *pair[2] = {type_scalar(t, TY_bool), type_stored(t, type->element)};
        return type_tuple(t, pair, 2);
    }
    bool cls = type->kind == TY_CLASS;
    if (!cls && type->kind != TY_TUPLE) return type;
    int32_t n = cls ? type->nparams : type->nitems;
    const Type **items = arena_array(t->arena, const Type *, n + 1);
    for (int32_t i = 0; i < n; i++)
        items[i] = type_stored(t, cls ? type->params[i] : type->items[i]);
    return cls ? type_class_like(t, type, items) : type_tuple_like(t, type, items);
}

const Type *type_component(TypeTable *t, const Type *complex_type) {
    switch (complex_type->kind) {
    case TY_c64: return type_scalar(t, TY_f32);
    case TY_c128: return type_scalar(t, TY_f64);
    case TY_wcpx: return type_scalar(t, TY_wflt);
    default: return complex_type;
    }
}
