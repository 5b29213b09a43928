/* type.h - interned types: two types are equal exactly when their pointers are.
 *
 * In untyped IR an instruction has no type. Inference uses every kind below. Typed IR, and so
 * codegen, meets only strong scalars, TY_TUPLE, TY_ARRAY, TY_CLASS and TY_RECORD: specialize turns ranges, slices,
 * iterators and closures into tuples, optionals into (bool, T), and compile-time objects into nothing. A record is to the program
 * what it is to NumPy, a look at memory: an array without axes. By value it is only loaded and stored, as a whole. */
#ifndef QUERN_TYPE_H
#define QUERN_TYPE_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"

typedef enum TypeKind {
#define TYPE(name, numba, bits, cls, numpy, strong) TY_##name,
#include "frontend/ir/ir_types.def"
#undef TYPE
    TY_SCALARS, /* number of scalar types */
    TY_TUPLE = TY_SCALARS,
    TY_ARRAY,
    TY_RANGE,    /* element: wint, i64, u64, i32 ... */
    TY_SLICE,    /* of weak ints; which of start/stop/step are None is part of the type */
    TY_ITER,     /* iteration over `element`: see ops iter, iter_more, iter_get */
    TY_OPTIONAL, /* element or None */
    TY_MEMBER,   /* a member of the enumeration `binding`: an int64, see there */
    TY_CHOICE, /* one of some functions, whose types are `items`: its number, an int64, and what each has taken along */
    TY_CAUGHT, /* the exception that the instruction `bits` caught: an int64, see OP_caught */
    TY_OBJECT, /* a compile-time object: module, function, type, exception class, string ... */
    TY_CLOSURE, /* a function that compiled code has made: of `binding`, with values of types `items` */
    TY_CELL, /* a variable of type `element` that functions share; `cls` is where it was made (typeinfer) */
    TY_CLASS,  /* an object on the heap: a class of ir_classes.def with its parameters */
    TY_RECORD, /* an element of a structured array: fields at fixed places */
    TY_BLOCK,  /* a field of one that is an array itself: `element`, `ndim` axes of fixed lengths */
    TY_TIME,   /* NumPy's datetime64 and timedelta64: an int64 that counts units, see type_time */
    TY_UNKNOWN /* lattice bottom: not inferred yet */
} TypeKind;

/* What is counted and has fields. More classes are rows of ir_classes.def. */
typedef enum ClassId {
#define CLASS(name, parameters) CLS_##name,
#define FIELD(class, name, kind, parameter)
#include "frontend/ir/ir_classes.def"
#undef CLASS
#undef FIELD
    CLS_COUNT
} ClassId;

/* Which class of Python an object of a class is of: rows of ir_variants.def. */
typedef enum Variant {
    VARIANT_none, /* the class itself */
#define VARIANT(name, class, path) VARIANT_##name,
#define MAKER(name, path)
#include "frontend/ir/ir_variants.def"
#undef VARIANT
#undef MAKER
    VARIANT_COUNT
} Variant;

/* What makes the values of keys that a defaultdict does not have. */
typedef enum ValueMaker {
    MAKER_none,
    MAKER_function, /* one of the user's, which takes nothing along */
#define VARIANT(name, class, path)
#define MAKER(name, path) MAKER_##name,
#include "frontend/ir/ir_variants.def"
#undef VARIANT
#undef MAKER
    MAKER_COUNT
} ValueMaker;

/* Bytes in front of the fields of an object: ObjectHeader (codegen/artifact.h). */
enum { OBJECT_HEADER = 48 };

typedef enum TypeClass {
    CLASS_NONE,
    CLASS_BOOL,
    CLASS_SINT,
    CLASS_UINT,
    CLASS_FLT,
    CLASS_CPX
} TypeClass;

typedef enum Layout { LAYOUT_C = 'C', LAYOUT_F = 'F', LAYOUT_A = 'A' } Layout;

/* Where an array's elements are. SPACE_GLOBAL is host memory on the CPU, device memory on a GPU. */
typedef enum Space { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST } Space;

typedef struct Type Type;
struct Binding; /* frontend/resolver.h */

struct Type {
    TypeKind kind;
    int32_t id; /* dense, in order of creation; use it to index side tables */
    /* TY_TUPLE: items, with field names for a named tuple (else NULL) and the handle of its class; TY_RECORD: the fields, and the
     * handle of the dtype */
    int32_t nitems;
    const Type **items;
    const Str *fields;
    void *cls;
    /* TY_ARRAY: dtype, dimensions, layout; TY_RANGE, TY_ITER, TY_OPTIONAL: element */
    const Type *element;
    uint8_t ndim, layout, space;
    bool readonly, aligned;
    /* TY_TUPLE: 1 of type_value, 2 of type_random, 3 of type_keyed; TY_SLICE: bit 0 has start, bit 1 has stop, bit 2 has step; TY_ITER: IterKind of typeinfer; TY_CAUGHT: the Ref */
    uint32_t bits;
    /* TY_OBJECT, TY_MEMBER, TY_CLOSURE (whose `cls` is its NestedFunction, and `bits` 1 where it is fresh) */
    const struct Binding *binding;
    /* TY_CLASS: which (ClassId in `bits`), its parameters; `items` and `fields` are its fields, `offsets` where they lie in the
     * object, and `object_size` is what the object takes */
    int32_t nparams;
    const Type **params;
    int64_t object_size;
    /* TY_CLASS: Python may hold such objects, too: they are never copied on the way (typed.List, instances of a @jitclass). Of an
     * instance `cls` is the handle of its class, and `name` what that is called */
    bool shared;
    Str name;
    /* TY_CLASS: a Variant, and of a defaultdict its ValueMaker; of MAKER_function the type of that */
    uint8_t variant, maker;
    const Type *function;
    /* Of an instance: its fields as the program sees them, optionals among them; `items` is how they are stored */
    const Type **declared;
    /* Derived when the type is made. How deep tuples, optionals and iterators are nested (0: none of these), and how many
     * scalars and arrays there are in it; both stop at the limits below. What walks over a type recurses. */
    uint8_t depth;
    int32_t parts;
    bool
        counted; /* holds an array in global memory or an object: has references that are counted */
    bool open;   /* holds a type that is not known yet */
    bool assumed; /* holds a type that is taken for an int: type_assumed */
    /* size, alignment and the offsets of a tuple's items in memory: type_size, type_align, type_offset; of a record they are
     * given. TY_BLOCK: `offsets` are the lengths of its axes */
    int32_t align;
    int64_t size;
    const int64_t *offsets;
};
enum { TYPE_MAX_DEPTH = 64, TYPE_MAX_PARTS = 10000 };

/* Units of time, the largest first: rows of ir_units.def. */
typedef enum TimeUnit {
#define UNIT(name, next) UNIT_##name,
#include "frontend/ir/ir_units.def"
#undef UNIT
    UNIT_COUNT
} TimeUnit;

typedef struct TypeTable TypeTable;

TypeTable *type_table_new(Arena *arena);
Arena *type_table_arena(const TypeTable *t);
/* Masks of lanes: u32, or u64 once the target is said to have waves of 64 lanes. */
void type_use_wide_masks(TypeTable *t);
const Type *type_mask(TypeTable *t);
const Type *type_scalar(TypeTable *t, TypeKind kind);
const Type *type_tuple(TypeTable *t, const Type *const *items, int32_t n);
/* `fields` are borrowed from the same arena; `cls` is compared by address. */
const Type *type_named_tuple(TypeTable *t, const Type *const *items, int32_t n, const Str *fields,
                             void *cls);
/* Of a class that is no tuple: its items are attributes, and nothing else of a tuple's is. */
const Type *type_value(TypeTable *t, const Type *const *items, int32_t n, const Str *fields,
                       void *cls);
/* numpy.random.Generator: a value with one item, its bit generator, which is NumPy's struct bitgen_t as words: the state, then the
 * functions next_uint64, next_uint32, next_double and next_raw. */
const Type *type_random(TypeTable *t);
/* A dict of constant keys, whose values have types of their own: it does not change, and its keys are the fields. */
const Type *type_keyed(TypeTable *t, const Type *const *items, int32_t n, const Str *keys);
/* With other items than `like`, a tuple of any of these kinds. */
const Type *type_tuple_like(TypeTable *t, const Type *like, const Type *const *items);
/* A writable, aligned array in SPACE_GLOBAL; the setters below derive the others. */
const Type *type_array(TypeTable *t, const Type *element, int ndim, Layout layout);
const Type *type_array_readonly(TypeTable *t, const Type *array, bool readonly);
const Type *type_array_aligned(TypeTable *t, const Type *array, bool aligned);
const Type *type_array_space(TypeTable *t, const Type *array, Space space);
const Type *type_array_like(TypeTable *t, const Type *array, int ndim, Layout layout);
const Type *type_range(TypeTable *t, const Type *element);
const Type *type_slice(TypeTable *t, uint32_t bits);
const Type *type_iter(TypeTable *t, const Type *of, uint32_t bits);
const Type *type_optional(TypeTable *t, const Type *element);
const Type *type_object(TypeTable *t, const struct Binding *binding);
const Type *type_closure(TypeTable *t, const struct Binding *function, const void *nested,
                         const Type *const *items, int32_t n, bool fresh);
/* functools.partial: a function and its arguments as items; `names` of those that are given by name, else empty. */
const Type *type_partial(TypeTable *t, const struct Binding *partial, const Type *const *items,
                         int32_t n, const Str *names);
/* A variable that functions share: of the type `element`, made at `site`, which is compared by address. */
const Type *type_cell(TypeTable *t, const Type *element, void *site);
const Type *type_member(TypeTable *t, const struct Binding *enumeration);
/* `items` in the order of their ids, each once. */
const Type *type_choice(TypeTable *t, const Type *const *items, int32_t n);
const Type *type_caught(TypeTable *t, int32_t ref);
const Type *type_unknown(TypeTable *t);
/* Of inference: a Python int of that kind, unless what has this number, from 1, turns out to be something else. */
const Type *type_assumed(TypeTable *t, TypeKind kind, int32_t number);
static inline bool type_is_assumed(const Type *type) {
    return type->kind < TY_SCALARS && type->bits;
}
/* The same, computed from what is taken for an int: when that is known, this may be something else, too. */
enum { ASSUMED_OF_ASSUMED = INT32_MAX };
static inline bool type_follows_assumed(const Type *type) {
    return type_is_assumed(type) && type->bits == ASSUMED_OF_ASSUMED;
}
/* Fields of scalars, records and blocks. `fields` are borrowed from the same arena; `dtype` is compared by address, and may be NULL. */
const Type *type_record(TypeTable *t, const Type *const *items, const Str *fields,
                        const int64_t *offsets, int32_t n, int64_t size, void *dtype);
/* An element of an array of characters (NumPy's U and S): a record of one field without a name, which is a block of its code points:
 * u32 where `wide`, else u8. */
const Type *type_characters(TypeTable *t, bool wide, int64_t count, void *dtype);
bool type_is_characters(const Type *element);
const Type *type_block(TypeTable *t, const Type *element, int ndim, const int64_t *lengths);
/* A field that is nothing but bytes, such as text: it is copied with its record, and never looked at. */
const Type *type_bytes(TypeTable *t, int64_t size);
static inline bool type_is_bytes(const Type *type) {
    return type->kind == TY_BLOCK && type->readonly;
}
/* NumPy's datetime64 (a point in time) or timedelta64 (`span`), which counts `multiple` of a unit: 1 but for units like 25s. An
 * int64 in memory and in typed code, whose smallest value is NaT. Bit 0 of `bits`: span, 1 to 4: unit, above: multiple. */
const Type *type_time(TypeTable *t, bool span, TimeUnit unit, int32_t multiple);
enum { MAX_TIME_MULTIPLE = INT32_MAX >> 5 };
static inline bool type_is_span(const Type *type) {
    return type->bits & 1;
}
static inline TimeUnit type_unit(const Type *type) {
    return (TimeUnit)(type->bits >> 1 & 15);
}
static inline int32_t type_multiple(const Type *type) {
    return (int32_t)(type->bits >> 5);
}
const char *type_unit_name(TimeUnit unit); /* "ms"; "generic" */
/* "M8[25s]" and the like, without the letter of the byte order; NULL: it is none. */
const Type *type_time_named(TypeTable *t, Str name);
/* May a field be read as its type wants it, in a record that lies where its own type wants it? */
bool type_field_aligned(const Type *record, int32_t field);
/* With as many parameters as its row says. Fields of weak numbers are of the strong type only in the type that it is lowered to. */
const Type *type_class_of(TypeTable *t, ClassId id, const Type *const *params);
/* Of the class that `like` is of, and shared if that is. */
const Type *type_class_like(TypeTable *t, const Type *like, const Type *const *params);
const Type *type_shared(TypeTable *t, const Type *cls);
/* What is shared holds only what is: containers in it, too, whatever they are called. */
const Type *type_shared_form(TypeTable *t, const Type *type);
/* The same class as another one of Python's; VARIANT_none: as itself. `function` of MAKER_function alone, else NULL. */
const Type *type_variant(TypeTable *t, const Type *cls, Variant variant, ValueMaker maker,
                         const Type *function);
const char *type_variant_name(Variant variant);
const char *type_variant_path(Variant variant);
ClassId type_variant_class(Variant variant);
const char *type_maker_path(ValueMaker maker); /* NULL: none, or a function */
ValueMaker type_maker_of_path(Str path);       /* MAKER_none: it is none */
/* Of a class of the user's. One for each; without fields until they are given, which may be of types that name it. */
const Type *type_instance(TypeTable *t, void *cls, Str name);
bool type_instance_is_known(const Type *instance); /* does it have its fields? */
void type_instance_fields(TypeTable *t, const Type *instance, const Type *const *items,
                          const Str *fields, int32_t n);
static inline bool type_is_instance(const Type *type) {
    return type->kind == TY_CLASS && type->bits == CLS_instance;
}
/* Of the class with that name; CLS_COUNT: there is none. */
ClassId type_class_named(Str name);
const char *type_class_name(ClassId id);
int32_t type_class_nparams(ClassId id);
/* The field of that name of an object or a record, or -1; is it a Python int to the program? */
int32_t type_field(const Type *cls, Str name);
bool type_field_is_count(const Type *cls, int32_t field);

/* -- questions (no table needed) ------------------------------------------------------------- */

TypeClass type_class(const Type *type); /* CLASS_NONE for what is not a scalar */
int type_bits(const Type *type);        /* of a scalar: the component's size in bits */
const char *type_name_of_kind(TypeKind kind);
TypeKind type_strong_kind(TypeKind kind);
static inline bool type_is_value(const Type *type) {
    return type->kind == TY_TUPLE && type->bits;
}
static inline bool type_is_random(const Type *type) {
    return type->kind == TY_TUPLE && type->bits == 2;
}
static inline bool type_is_keyed(const Type *type) {
    return type->kind == TY_TUPLE && type->bits == 3;
}
bool type_is_scalar(const Type *type); /* bool, numbers; not none */
bool type_is_weak(const Type *type);
bool type_is_int(const Type *type); /* SINT or UINT */
bool type_is_float(const Type *type);
static inline bool type_is_machine_float(const Type *type) { /* that every target computes with */
    return type->kind == TY_f32 || type->kind == TY_f64;
}
bool type_is_complex(const Type *type);
bool type_is_number(const Type *type);    /* int, float, complex or bool */
bool type_is_item(const Type *type);      /* what arrays compute with: a number or a time */
bool type_is_too_large(const Type *type); /* beyond one of the two limits */
const Type *type_strong(TypeTable *t, const Type *type); /* also inside tuples */
/* How it is stored: an optional as (is it there?, value). */
const Type *type_stored(TypeTable *t, const Type *type);
const Type *type_component(TypeTable *t, const Type *complex_type); /* f32 for c64, f64 for c128 */
/* How a value lies in memory, as array element, packed argument or result: scalars in their natural size (bool: one
 * byte), tuples as C structs of their items, arrays as ArrayValue (codegen/artifact.h), an optional as (bool, value), an object
 * as a pointer to it, none in no byte. */
static inline int64_t type_size(const Type *type) {
    return type->size;
}
static inline int64_t type_align(const Type *type) {
    return type->align;
}
/* Of item `index` of a tuple, of field `index` in an object. */
static inline int64_t type_offset(const Type *tuple, int32_t index) {
    return tuple->offsets[index];
}
/* Where the counted pointers of a value lie that starts at `at`: into `offsets`, which has room for them, or nowhere when it is
 * NULL. How many there are. */
int32_t type_owners(const Type *type, int64_t at, int64_t *offsets);

/* May it be, or hold, the frame of a generator? That is an array of bytes with any stride: others may be meant, too. */
bool type_holds_frame(const Type *type);

/* -- text ------------------------------------------------------------------------------------ */

/* IR form: i64  wflt  tuple(i64, f32)  array(f32, 2, C)  array(f32, 1, A, readonly, shared)  list(i64). */
void type_print(StrBuf *out, const Type *type);
/* The user's form: int64, float32[:, ::1], Array(float32, 2, 'A', readonly), (int64, float64). */
void type_describe(StrBuf *out, const Type *type);
Str type_text(Arena *arena, const Type *type); /* type_describe into the arena */
/* Reads the IR form at *text and moves it on; NULL when it is not one. */
const Type *type_parse(TypeTable *t, const char **text);

#endif
