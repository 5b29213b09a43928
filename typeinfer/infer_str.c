/* infer_str.c - text: constants of the program, which inference knows, become values of the class str where something is done with
 * them at run time. Their methods and operators are functions of quern/library/strings.py, found as those of lists are. */
#include "typeinfer/infer.h"

bool ti_has_objects(const Infer *in) {
    return !in->kernel && target_is_host(in->ti->options.target);
}

bool is_str(const Val *v) {
    return is_kind(v, TY_CLASS) && v->f.type->bits == CLS_str;
}

bool type_is_octets(const Type *type) {
    return type_is_of(type, CLS_bytes) || type_is_of(type, CLS_bytearray);
}

bool type_is_fixed(const Type *type) {
    return type_is_of(type, CLS_str) || type_is_of(type, CLS_bytes);
}

bool v_text(Infer *in, Val *v) {
    const Type *type = v->f.type, *stored = type ? ti_stored(in->types, type) : NULL;
    if (stored == type) return true;
    if (!ti_may_allocate(in, "text")) return false;
    Val out = {.f = fact_of(stored), .src = v->src};
    if (in->emit) out.ref = v_as(in, *v, stored);
    return *v = out, true;
}

/* Methods, and the functions of Python that read text: what else is given a constant takes it for a name. */
static bool reads_text(Str name) {
    static const char *const names[] = {
        "builtins.ascii",  "builtins.chr",  "builtins.enumerate", "builtins.filter",
        "builtins.format", "builtins.hash", "builtins.iter",      "builtins.list",
        "builtins.map",    "builtins.max",  "builtins.min",       "builtins.ord",
        "builtins.repr",   "builtins.str",  "builtins.reversed",  "builtins.print",
        "builtins.sorted", "builtins.zip",  "builtins.int",
    };
    for (int i = 0; i < countof(names); i++)
        if (str_is(name, names[i])) return true;
    return str_starts(name, "heapq.") || str_starts(name, "bisect.") || str_starts(name, "str.") ||
           str_starts(name, "list.") || str_starts(name, "dict.") || str_starts(name, "set.") ||
           str_starts(name, "deque.") || str_starts(name, "collections.") ||
           str_starts(name, "Counter.") || str_starts(name, "OrderedDict.") ||
           str_starts(name, "defaultdict.") || str_is(name, "builtins.frozenset");
}

bool makes_text(Str name) {
    static const char *const names[] = {"builtins.ascii", "builtins.bin",    "builtins.chr",
                                        "builtins.hex",   "builtins.format", "builtins.oct",
                                        "builtins.print", "builtins.repr",   "builtins.str"};
    for (int i = 0; i < countof(names); i++)
        if (str_is(name, names[i])) return true;
    return false;
}

/* Is there text (or bytes) in it? */
static bool holds(const Type *type, bool bytes) {
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (holds(type->items[i], bytes)) return true;
    if (type_is_list(type) && !type->open) return holds(type->params[0], bytes);
    return bytes ? type_is_octets(type) : type_is_text(type);
}

/* Methods of text take no bytes, and the other way round, but for names of encodings. */
static bool is_mixed(Str name, const CallArgs *args) {
    static const char *const any[] = {"__eq__", "__ne__", "decode", "hex"};
    bool text = str_starts(name, "str.");
    int32_t at = text                             ? 4
                 : str_starts(name, "bytes.")     ? 6
                 : str_starts(name, "bytearray.") ? 10
                                                  : 0;
    Str method = {name.bytes + at, name.len - at};
    for (int i = 0; i < countof(any); i++)
        if (at == 0 || str_is(method, any[i])) return false;
    for (int32_t i = 1; i < args->nargs; i++)
        if (holds(args->args[i].f.type, text)) return true;
    return false;
}

bool v_text_arguments(Infer *in, Str name, CallArgs *args) {
    bool any = false;
    if (is_mixed(name, args))
        return v_refuse(in, REFUSE_CALL, ti_c_text(in, name), args->args, args->nargs);
    if (makes_text(name) && !ti_may_allocate(in, "text")) return false;
    for (int32_t i = 0; i < args->nargs; i++)
        any |= ti_stored(in->types, args->args[i].f.type) != args->args[i].f.type;
    if (!any || !reads_text(name)) return true;
    Val *values = arena_array(in->arena, Val, args->nargs);
    for (int32_t i = 0; i < args->nargs; i++) {
        values[i] = args->args[i];
        if (!v_text(in, &values[i])) return false;
    }
    args->args = values;
    return true;
}

/* An optional string, where None has no meaning. */
static Val present_text(Infer *in, Val v) {
    return is_kind(&v, TY_OPTIONAL) && type_is_text(v.f.type->element) ? v_present(in, v) : v;
}

/* "-" * (x < 0): a bool counts as an int. */
static bool as_count(Infer *in, Val *v) {
    Val count;
    if (!is_kind(v, TY_bool)) return true;
    if (!v_cast(in, *v, i64_type(in->types), false, &count)) return false;
    return *v = count, true;
}

bool v_text_operands(Infer *in, Operator op, Val *a, Val *b) {
    bool identity = op == OPR_eq || op == OPR_ne || op == OPR_is || op == OPR_is_not;
    bool member = op == OPR_contains || op == OPR_not_contains;
    if (!identity) *b = present_text(in, *b);
    if (!identity && (!member || type_is_text(b->f.type))) *a = present_text(in, *a);
    bool x = type_is_text(a->f.type), y = type_is_text(b->f.type);
    bool constants = !is_str(a) && !is_str(b);
    switch (op) {
    case OPR_eq:
    case OPR_ne:
    case OPR_lt:
    case OPR_le:
    case OPR_gt:
    case OPR_ge:
        if (op == OPR_eq || op == OPR_ne ? !x || !y || constants : !x && !y) return true;
        if (!x || !y) return v_refuse(in, REFUSE_BINARY, operator_verbs[op], (Val[]){*a, *b}, 2);
        break;
    case OPR_add:
        if (!x && !y) return true;
        if (!x || !y) return v_refuse(in, REFUSE_BINARY, operator_verbs[op], (Val[]){*a, *b}, 2);
        break;
    case OPR_contains:
    case OPR_not_contains:
        if (!y) return true;
        if (!x) return v_refuse(in, REFUSE_BINARY, "look for", (Val[]){*a, *b}, 2);
        break;
    case OPR_mod: /* "%d of %s" % values */
        if (!x || in->kernel) return true;
        break;
    case OPR_mul:
        if (!x && !y) return true;
        if (!as_count(in, x ? b : a)) return false;
        if (!type_is_int((x ? b : a)->f.type)) return true;
        break;
    default: return true;
    }
    return v_text(in, a) && v_text(in, b);
}

/* -- primitives ------------------------------------------------------------------------------------ */

static bool misfit(Infer *in, const char *name, const Val *args, int32_t n) {
    return ti_fail(in, in->at, E0401, name, ti_arg_texts(in, args, n));
}

bool primitive_new(Infer *in, const Val *args, int32_t n, Val *out) {
    const Str *name = n ? fact_str(&args[0].f) : NULL;
    ClassId id = name ? type_class_named(*name) : CLS_COUNT;
    if (id == CLS_COUNT || type_class_nparams(id)) return misfit(in, "primitive.new", args, n);
    const Type *cls = type_class_of(in->types, id, NULL);
    bool fits = n == 1 + cls->nitems;
    for (int32_t i = 0; fits && i < cls->nitems; i++)
        fits = can_convert(args[1 + i].f.type, cls->items[i]);
    if (!fits) return misfit(in, "primitive.new", args, n);
    if (!ti_may_allocate(in, "text")) return false;
    *out = val_of(fact_of(cls));
    if (!in->emit) return true;
    Ref *refs = arena_array(in->arena, Ref, n);
    for (int32_t i = 0; i < cls->nitems; i++)
        refs[i] = v_as(in, args[1 + i], cls->items[i]);
    out->ref = emit(in->emit, OP_new, cls, refs, cls->nitems);
    return true;
}

/* The object of a code point below 256: there is one. */
bool primitive_character(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !can_convert(args[0].f.type, i64_type(in->types)))
        return misfit(in, "primitive.character", args, n);
    if (!ti_may_allocate(in, "text")) return false;
    *out = val_of(fact_of(type_class_of(in->types, CLS_str, NULL)));
    if (in->emit)
        out->ref =
            emit1(in->emit, OP_character, out->f.type, v_as(in, args[0], i64_type(in->types)));
    return true;
}

/* An array of one axis for the fields of an object; what is in it is for its caller to say. */
bool primitive_buffer(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *element;
    if (n != 2 || !type_is_int(args[1].f.type)) return misfit(in, "primitive.buffer", args, n);
    if (!v_element_type(in, &args[0], &element)) return false;
    if (!ti_may_allocate(in, "text")) return false;
    *out = val_of(fact_of(type_array(in->types, element, 1, LAYOUT_C)));
    Emit *e = in->emit;
    if (!e) return true;
    const Type *i64 = i64_type(in->types);
    Ref size = v_as(in, args[1], i64);
    Ref most = emit_int(e, i64, INT64_MAX / 2 / type_size(element));
    emit_guard(e, GUARD_memory, emit2(e, OP_lt, bool_type(in->types), most, size), &size, 1);
    out->ref = emit1(e, OP_alloc, out->f.type, size);
    return true;
}
