/* infer_match.c - patterns of classes in match statements: is it an instance, and what are the attributes that the pattern names? A tuple of
 * them, or None: which of both is known at compile time, but for a value that may be None. */
#include "typeinfer/infer_variant.h"

/* Classes whose only positional pattern is the whole value. */
static bool matches_itself(const Binding *cls) {
    static const char *const names[] = {"builtins.bool", "builtins.bytearray", "builtins.bytes",
                                        "builtins.dict", "builtins.float",     "builtins.frozenset",
                                        "builtins.int",  "builtins.list",      "builtins.set",
                                        "builtins.str",  "builtins.tuple"};
    for (int i = 0; i < countof(names); i++)
        if (cls->kind == BIND_LIBRARY && str_is(cls->name, names[i])) return true;
    return false;
}

static bool too_many(Infer *in, int32_t count, int32_t most) {
    const char *what =
        str_printf(in->arena, "a pattern of a class with %d values by position", (int)count).bytes;
    const char *advice =
        str_printf(in->arena, "it takes %d: name the others, as in Class(attribute=pattern)",
                   (int)most)
            .bytes;
    ti_fail(in, in->at, E0101, what);
    return ti_advise(in, advice), false;
}

/* The names of the attributes that stand in a pattern by position: __match_args__. */
static bool positional_names(Infer *in, const Val *cls, int64_t count, const Str **names) {
    Val args = {0};
    int32_t n = 0;
    if (!count) return true;
    if (v_has_attr(in, *cls, STR("__match_args__")) &&
        v_attr(in, *cls, STR("__match_args__"), &args) && is_kind(&args, TY_TUPLE)) {
        Str *found = arena_array(in->arena, Str, args.f.type->nitems + 1);
        for (; n < args.f.type->nitems; n++) {
            Val item = v_item(in, args, n);
            const Str *text = fact_str(&item.f);
            if (!text) break;
            found[n] = *text;
        }
        *names = found;
    }
    return n >= count || (!in->stop && too_many(in, (int32_t)count, n));
}

/* Is a name one of those by position? Python raises a TypeError when it gets there. */
static bool names_twice(Infer *in, const Str *by_position, int32_t n, Str name) {
    for (int32_t k = 0; k < n; k++)
        if (str_equal(by_position[k], name))
            return ti_fail(in, in->at, E0101,
                           str_printf(in->arena,
                                      "a pattern with two sub-patterns for the attribute '" STR_FMT
                                      "'",
                                      STR_ARG(name))
                               .bytes),
                   true;
    return false;
}

/* The attributes, of a value that is an instance; *matched false: it has not all of them. */
static bool attributes(Infer *in, Val content, const Val *cls, int64_t count, Val names,
                       bool *matched, Val *out) {
    const Str *by_position = NULL;
    int32_t n = (int32_t)count, named = names.f.type->nitems;
    Val *items = arena_array(in->arena, Val, n + named + 1);
    bool itself = fact_object(&cls->f) && matches_itself(fact_object(&cls->f));
    *matched = true;
    if (itself && n > 1) return too_many(in, n, 1);
    if (itself && n) items[0] = content;
    if (!itself && !positional_names(in, cls, count, &by_position)) return false;
    for (int32_t k = itself ? n : 0; k < n + named && *matched; k++) {
        Val text = k < n ? (Val){0} : v_item(in, names, k - n);
        const Str *name = k < n ? &by_position[k] : fact_str(&text.f);
        if (!name) return ti_fail(in, in->at, E0209, "the name of the attribute");
        if (k >= n && names_twice(in, by_position, by_position ? n : 0, *name)) return false;
        *matched = v_has_attr(in, content, *name);
        if (in->stop) return false;
        if (*matched && !v_attr(in, content, *name, &items[k])) return false;
    }
    *out =
        *matched ? v_tuple(in, items, n + named) : val_of(fact_of(type_scalar(in->types, TY_none)));
    return true;
}

/* Of a value that may be None: where it is there, its attributes are read. */
static bool where_present(Infer *in, const Val *v, Ref here, int64_t count, bool *matched,
                          Val *out) {
    Emit *e = in->emit;
    Val content = {.f = fact_of(v[0].f.type->element), .src = v[0].src}, parts;
    if (!e) {
        if (!attributes(in, content, &v[1], count, v[3], matched, &parts)) return false;
        if (!*matched) return *out = parts, true;
        out->f = fact_of(type_optional(in->types, ti_stored(in->types, parts.f.type)));
        return true;
    }
    int32_t there = emit_block(e), absent = emit_block(e), joined = emit_block(e);
    emit_branch(e, here, there, absent);
    e->block = there;
    content.ref = emit_item(e, v_ref(in, v[0]), 1);
    if (!attributes(in, content, &v[1], count, v[3], matched, &parts)) return false;
    const Type *type =
        *matched ? type_optional(in->types, ti_stored(in->types, parts.f.type)) : parts.f.type;
    Ref yes = v_as(in, parts, type);
    emit_jump(e, joined);
    e->block = absent;
    Ref no = v_as(in, val_of(fact_of(type_scalar(in->types, TY_none))), type);
    emit_jump(e, joined);
    e->block = joined;
    *out = val_of(fact_of(type));
    if (*matched) out->ref = emit(e, OP_phi, type, (Ref[]){yes, no}, 2);
    return true;
}

/* match_class(subject, class, how many by position, names of the others) */
bool typed_match_class(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val truth = {0};
    int64_t count;
    bool matched;
    (void)args;
    if (!v_isinstance(in, v[0], v[1], &truth)) return false;
    if (!fact_int_value(&v[2].f, &count) || !is_kind(&v[3], TY_TUPLE))
        return v_refuse(in, REFUSE_CALL, "primitive.match_class", v, 4);
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (truth.f.value && !truth.f.value->i) return true;
    if (truth.f.value) return attributes(in, v[0], &v[1], count, v[3], &matched, out);
    return where_present(in, v, in->emit ? v_ref(in, truth) : NO_REF, count, &matched, out);
}
