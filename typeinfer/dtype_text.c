/* dtype_text.c - dtypes in NumPy's words: their names, and what np.dtype() reads. */
#include "frontend/ir/ir_text.h"
#include "typeinfer/infer.h"

/* dtype.kind */
char ti_dtype_kind(const Type *type) {
    if (type_is_characters(type)) return type->items[0]->element->kind == TY_u8 ? 'S' : 'U';
    if (type->kind == TY_RECORD || type->kind == TY_BLOCK) return 'V';
    if (type->kind == TY_TIME) return type_is_span(type) ? 'm' : 'M';
    if (type->kind == TY_bool) return 'b';
    if (type_is_complex(type)) return 'c';
    if (type_is_float(type)) return 'f';
    return type_class(type) == CLASS_UINT ? 'u' : 'i';
}

/* [25s]; nothing for times without a unit. */
static void write_unit(StrBuf *out, const Type *time) {
    if (type_unit(time) == UNIT_generic) return;
    buf_char(out, '[');
    if (type_multiple(time) != 1) buf_printf(out, "%d", type_multiple(time));
    buf_printf(out, "%s]", type_unit_name(type_unit(time)));
}

/* dtype.str */
static void write_str(StrBuf *out, const Type *type) {
    char kind = ti_dtype_kind(type);
    int64_t size = type_size(type);
    if (kind == 'U') size /= 4;
    bool swaps = kind == 'U' || (kind != 'S' && kind != 'V' && size > 1);
    buf_printf(out, "%c%c%lld", swaps ? '<' : '|', kind, (long long)size);
    if (type->kind == TY_TIME) write_unit(out, type);
}

/* What Python reads as a value that np.dtype() takes. */
static void write_literal(StrBuf *out, const Type *type) {
    if (type->kind == TY_BLOCK && !type_is_bytes(type)) {
        buf_char(out, '(');
        write_literal(out, type->element);
        buf_str(out, ", (");
        for (int i = 0; i < type->ndim; i++)
            buf_printf(out, "%lld,", (long long)type->offsets[i]);
        buf_str(out, "))");
        return;
    }
    if (type->kind != TY_RECORD || type_is_characters(type)) {
        buf_char(out, '\'');
        write_str(out, type);
        buf_char(out, '\'');
        return;
    }
    buf_str(out, "{'names': [");
    for (int32_t i = 0; i < type->nitems; i++) {
        ir_print_quoted(out, type->fields[i]);
        buf_char(out, ',');
    }
    buf_str(out, "], 'formats': [");
    for (int32_t i = 0; i < type->nitems; i++) {
        write_literal(out, type->items[i]);
        buf_char(out, ',');
    }
    buf_str(out, "], 'offsets': [");
    for (int32_t i = 0; i < type->nitems; i++)
        buf_printf(out, "%lld,", (long long)type->offsets[i]);
    buf_printf(out, "], 'itemsize': %lld}", (long long)type_size(type));
}

/* As repr() writes text. */
static void write_name(StrBuf *out, Str name) {
    bool single = false, twice = false;
    for (int32_t i = 0; i < name.len; i++) {
        single |= name.bytes[i] == '\'';
        twice |= name.bytes[i] == '"';
    }
    char quote = single && !twice ? '"' : '\'';
    buf_char(out, quote);
    for (int32_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.bytes[i];
        const char *short_form = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
        if (short_form)
            buf_str(out, short_form);
        else if (c < ' ' || c == 127)
            buf_printf(out, "\\x%02x", c);
        else if (c == '\\' || c == (unsigned char)quote)
            buf_printf(out, "\\%c", c);
        else
            buf_char(out, (char)c);
    }
    buf_char(out, quote);
}

static void write_shape(StrBuf *out, const Type *block) {
    buf_char(out, '(');
    for (int i = 0; i < block->ndim; i++)
        buf_printf(out, i ? ", %lld" : "%lld", (long long)block->offsets[i]);
    buf_str(out, block->ndim == 1 ? ",)" : ")");
}

/* Do the fields lie one behind the other, and nothing behind the last? */
static bool is_packed(const Type *record) {
    int64_t at = 0;
    for (int32_t i = 0; i < record->nitems; at += type_size(record->items[i]), i++)
        if (record->offsets[i] != at) return false;
    return at == type_size(record);
}

static void write_text(StrBuf *out, const Type *type);

/* ('a', '<i4'), ('b', '<f8', (2,)) */
static void write_pairs(StrBuf *out, const Type *record) {
    for (int32_t i = 0; i < record->nitems; i++) {
        const Type *item = record->items[i];
        bool block = item->kind == TY_BLOCK && !type_is_bytes(item);
        buf_str(out, i ? ", (" : "(");
        write_name(out, record->fields[i]);
        buf_str(out, ", ");
        write_text(out, block ? item->element : item);
        if (block) {
            buf_str(out, ", ");
            write_shape(out, item);
        }
        buf_char(out, ')');
    }
}

static void write_columns(StrBuf *out, const Type *record) {
    buf_str(out, "{'names': [");
    for (int32_t i = 0; i < record->nitems; i++) {
        buf_str(out, i ? ", " : "");
        write_name(out, record->fields[i]);
    }
    buf_str(out, "], 'formats': [");
    for (int32_t i = 0; i < record->nitems; i++) {
        buf_str(out, i ? ", " : "");
        write_text(out, record->items[i]);
    }
    buf_str(out, "], 'offsets': [");
    for (int32_t i = 0; i < record->nitems; i++)
        buf_printf(out, i ? ", %lld" : "%lld", (long long)record->offsets[i]);
    buf_printf(out, "], 'itemsize': %lld}", (long long)type_size(record));
}

/* str() of the dtype of a record, and what it says of its parts. */
static void write_text(StrBuf *out, const Type *type) {
    if (type->kind == TY_RECORD && !type_is_characters(type)) {
        bool packed = is_packed(type);
        if (packed) buf_char(out, '[');
        (packed ? write_pairs : write_columns)(out, type);
        if (packed) buf_char(out, ']');
    } else if (type->kind == TY_BLOCK && !type_is_bytes(type)) {
        buf_char(out, '(');
        write_text(out, type->element);
        buf_str(out, ", ");
        write_shape(out, type);
        buf_char(out, ')');
    } else if (type->kind == TY_bool) {
        buf_str(out, "'?'");
    } else {
        StrBuf word;
        buf_init(&word, out->arena);
        write_str(&word, type);
        Str text = buf_take(&word);
        bool plain = text.bytes[0] == '|';
        buf_printf(out, "'%.*s'", (int)text.len - plain, text.bytes + plain);
    }
}

Str ti_dtype_text(Arena *arena, const Type *record) {
    StrBuf out;
    buf_init(&out, arena);
    write_text(&out, record);
    return buf_take(&out);
}

Str ti_dtype_literal(Arena *arena, const Type *type) {
    StrBuf out;
    buf_init(&out, arena);
    write_literal(&out, type);
    return buf_take(&out);
}

Str ti_dtype_str(Arena *arena, const Type *type) {
    StrBuf out;
    buf_init(&out, arena);
    write_str(&out, type);
    return buf_take(&out);
}

/* dtype.name: bool, int32, str96, datetime64[25s], void128 */
Str ti_dtype_name(Arena *arena, const Type *type) {
    static const struct {
        char kind;
        const char *name;
    } names[] = {{'S', "bytes"},     {'U', "str"},      {'V', "void"},
                 {'m', "timedelta"}, {'M', "datetime"}, {'c', "complex"},
                 {'f', "float"},     {'u', "uint"},     {'i', "int"}};
    StrBuf out;
    buf_init(&out, arena);
    char kind = ti_dtype_kind(type);
    if (kind == 'b') return STR("bool");
    for (int i = 0; i < countof(names); i++)
        if (names[i].kind == kind) buf_str(&out, names[i].name);
    bool empty = (kind == 'S' || kind == 'U') && !type_size(type);
    if (!empty) buf_printf(&out, "%lld", (long long)type_size(type) * 8);
    if (type->kind == TY_TIME) write_unit(&out, type);
    return buf_take(&out);
}
