/* describe.c - types in the words of the user: the public names of Numba, and what Python calls the
 * compile-time objects. It stands here, right of resolver.h, because those are described by what
 * the resolver answered. */
#include "frontend/frontend.h"

static const char *public_name(TypeKind kind) {
    static const char *const names[TY_SCALARS] = {
#define TYPE(name, numba, bits, cls, numpy, strong) [TY_##name] = numba,
#include "frontend/ir/ir_types.def"
#undef TYPE
    };
    return names[kind];
}

/* float32[:, ::1] where brackets can say it, Array(...) otherwise. */
static void describe_array(StrBuf *out, const Type *type) {
    if (type->ndim == 0 && type->element->kind == TY_RECORD) { /* a record */
        type_describe(out, type->element);
        return;
    }
    bool plain = !type->readonly && type->aligned && type->space == SPACE_GLOBAL && type->ndim > 0;
    if (!plain) {
        static const char *const spaces[] = {"", ", shared", ", local", ", constant"};
        buf_str(out, "Array(");
        type_describe(out, type->element);
        buf_printf(out, ", %d, '%c'%s%s%s)", type->ndim, type->layout,
                   type->readonly ? ", readonly" : "", type->aligned ? "" : ", unaligned",
                   spaces[type->space]);
        return;
    }
    type_describe(out, type->element);
    int unit = type->layout == LAYOUT_C ? type->ndim - 1 : type->layout == LAYOUT_F ? 0 : -1;
    for (int i = 0; i < type->ndim; i++)
        buf_printf(out, "%s%s", i ? ", " : "[", i == unit ? "::1" : ":");
    buf_char(out, ']');
}

enum { MESSAGE_LENGTH = 200, TEXT_LENGTH = 20000, NESTING_COSTS = 40 };

/* Past `limit` the rest is left out: a type is a graph, and its text may be exponentially long. Messages
 * are kept short; what programs read is not. */
static void describe(StrBuf *out, const Type *type, int32_t limit);

static void describe_tuple(StrBuf *out, const Type *type, int32_t limit) {
    if (type_is_random(type)) {
        buf_str(out, "numpy.random.Generator");
        return;
    }
    buf_str(out, type_is_keyed(type)   ? "dict("
                 : type_is_value(type) ? "dataclass("
                 : type->fields        ? "namedtuple("
                                       : "(");
    for (int32_t i = 0; i < type->nitems; i++) {
        if (i) buf_str(out, ", ");
        if (out->len > limit) {
            buf_str(out, "...)");
            return;
        }
        if (type->fields) buf_printf(out, STR_FMT ": ", STR_ARG(type->fields[i]));
        describe(out, type->items[i], limit - NESTING_COSTS);
    }
    buf_str(out, type->nitems == 1 && !type->fields ? ",)" : ")");
}

static void describe_const(StrBuf *out, const ConstVal *value) {
    static const char *const words[] = {
        [CONST_NONE] = "none",    [CONST_BOOL] = "bool",   [CONST_INT] = "int",
        [CONST_BIGINT] = "int",   [CONST_FLOAT] = "float", [CONST_COMPLEX] = "complex",
        [CONST_STR] = "str",      [CONST_TUPLE] = "tuple", [CONST_ELLIPSIS] = "ellipsis",
        [CONST_BYTES] = "bytes",  [CONST_SLICE] = "slice", [CONST_CODE] = "code object",
        [CONST_OTHER] = "object",
    };
    if (value && value->kind == CONST_OTHER && value->str.len)
        buf_printf(out, STR_FMT, STR_ARG(value->str));
    else
        buf_str(out, value ? words[value->kind] : "object");
}

static void describe_object(StrBuf *out, const Binding *b) {
    if (!b) {
        buf_str(out, "object");
        return;
    }
    switch (b->kind) {
    case BIND_MODULE:
        buf_printf(out, "%s" STR_FMT, str_starts(b->name, "class ") ? "" : "module ",
                   STR_ARG(b->name));
        return;
    case BIND_LIBRARY:
    case BIND_FOREIGN:
    case BIND_OVERLOADED:
    case BIND_FUNCTION: buf_printf(out, "function " STR_FMT, STR_ARG(b->name)); return;
    case BIND_MEMBER: buf_printf(out, STR_FMT, STR_ARG(b->name)); return;
    case BIND_EXCEPTION: buf_printf(out, "exception " STR_FMT, STR_ARG(b->name)); return;
    case BIND_INSTANCE: buf_str(out, "tuple"); return;
    case BIND_PARTIAL: buf_str(out, "partial function"); return;
    case BIND_MISSING: buf_str(out, "undefined name"); return;
    case BIND_CONST: describe_const(out, b->value); return;
    case BIND_TYPE:
        buf_str(out, "type ");
        if (b->type) break;
        buf_printf(out, STR_FMT, STR_ARG(b->name));
        return;
    case BIND_NUMPY:
    case BIND_ARRAY:
        if (b->type || b->array) break;
        buf_str(out, "array");
        return;
    case BIND_UNBUILT:
    case BIND_OPAQUE: buf_printf(out, STR_FMT, STR_ARG(b->name)); return;
    }
    type_describe(out, b->type ? b->type : b->array->type);
}

/* Record(x: float64, spin: nestedarray(int8, (3,))), UnicodeCharSeq(5) */
static void describe_record(StrBuf *out, const Type *type, int32_t limit) {
    if (type_is_characters(type)) {
        const Type *points = type->items[0];
        buf_printf(out, "%s(%lld)", points->element->kind == TY_u8 ? "CharSeq" : "UnicodeCharSeq",
                   (long long)points->offsets[0]);
        return;
    }
    buf_str(out, "Record(");
    for (int32_t i = 0; i < type->nitems; i++) {
        if (i) buf_str(out, ", ");
        if (out->len > limit) {
            buf_str(out, "...");
            break;
        }
        buf_printf(out, STR_FMT ": ", STR_ARG(type->fields[i]));
        describe(out, type->items[i], limit - NESTING_COSTS);
    }
    buf_char(out, ')');
}

static void describe_block(StrBuf *out, const Type *type, int32_t limit) {
    if (type_is_bytes(type)) {
        buf_printf(out, "%lld bytes", (long long)type->offsets[0]);
        return;
    }
    buf_str(out, "nestedarray(");
    describe(out, type->element, limit);
    for (int i = 0; i < type->ndim; i++)
        buf_printf(out, "%s%lld", i ? ", " : ", (", (long long)type->offsets[i]);
    buf_str(out, type->ndim == 1 ? ",))" : "))");
}

/* "exception ValueError or KeyError", as far as it is known (typeinfer/infer_exception.c). */
static void describe_exception(StrBuf *out, const Type *what) {
    const Binding *last = NULL;
    buf_str(out, "exception");
    for (int32_t k = 0; what->kind == TY_TUPLE && k < what->nitems; k++) {
        const Binding *cls = what->items[k]->items[0]->binding;
        if (last == cls) continue;
        buf_printf(out, "%s" STR_FMT, last ? " or " : " ", STR_ARG(cls->name));
        last = cls;
    }
}

/* list(int64); shared: ListType[int64]; of a class of the user's its name */
static void describe_class(StrBuf *out, const Type *type, int32_t limit) {
    static const char *const shared[CLS_COUNT] = {
        [CLS_list] = "ListType", [CLS_dict] = "DictType", [CLS_set] = "SetType"};
    if (type_is_instance(type)) {
        buf_printf(out, STR_FMT, STR_ARG(type->name));
        return;
    }
    if (type->bits == CLS_exception) {
        describe_exception(out, type->params[0]);
        return;
    }
    buf_str(out, type->shared    ? shared[type->bits]
                 : type->variant ? type_variant_name((Variant)type->variant)
                                 : type_class_name((ClassId)type->bits));
    if (!type->nparams) return;
    buf_char(out, type->shared ? '[' : '(');
    for (int32_t i = 0; i < type->nparams; i++) {
        if (i) buf_str(out, type->shared ? "," : ", ");
        describe(out, type->params[i], limit);
    }
    buf_char(out, type->shared ? ']' : ')');
}

static void describe(StrBuf *out, const Type *type, int32_t limit) {
    if (type->kind < TY_SCALARS) {
        buf_str(out, public_name(type->kind));
        return;
    }
    switch (type->kind) {
    case TY_TUPLE: describe_tuple(out, type, limit); return;
    case TY_ARRAY: describe_array(out, type); return;
    case TY_RECORD: describe_record(out, type, limit); return;
    case TY_BLOCK: describe_block(out, type, limit); return;
    case TY_RANGE: buf_str(out, "range"); return;
    case TY_SLICE: buf_str(out, "slice"); return;
    case TY_ITER:
        buf_str(out, "iterator of ");
        describe(out, type->element, limit);
        return;
    case TY_OPTIONAL:
        buf_str(out, "Optional(");
        describe(out, type->element, limit);
        buf_char(out, ')');
        return;
    case TY_TIME: type_print(out, type); return;
    case TY_MEMBER: buf_printf(out, STR_FMT, STR_ARG(type->binding->name)); return;
    case TY_CLASS: describe_class(out, type, limit); return;
    case TY_CAUGHT: buf_str(out, "caught exception"); return;
    case TY_CHOICE:
        for (int32_t i = 0; i < type->nitems; i++) {
            if (i) buf_str(out, " or ");
            describe(out, type->items[i], limit - NESTING_COSTS);
        }
        return;
    case TY_CELL:
        buf_str(out, "variable of type ");
        describe(out, type->element, limit);
        return;
    case TY_CLOSURE:
    case TY_OBJECT: describe_object(out, type->binding); return;
    default: buf_str(out, "unknown"); return;
    }
}

void type_describe(StrBuf *out, const Type *type) {
    describe(out, type, out->len + MESSAGE_LENGTH);
}

Str type_text(Arena *arena, const Type *type) {
    StrBuf out;
    buf_init(&out, arena);
    describe(&out, type, TEXT_LENGTH);
    return buf_take(&out);
}
