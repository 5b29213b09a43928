/* infer_fields.c - what is done with all fields of a named tuple or a frozen dataclass at once: another one with some of them replaced, a
 * tuple or a dict of them. */
#include "typeinfer/infer_variant.h"

static bool has_fields(const Val *v) {
    return is_kind(v, TY_TUPLE) && v->f.type->fields && v->f.type->cls &&
           !type_is_random(v->f.type);
}

static bool is_dataclass(const Val *v) {
    return has_fields(v) && type_is_value(v->f.type);
}

/* Python makes the instance anew: what its class does then, compiled code does not. */
static bool is_made_anew(Infer *in, const char *name, const CallArgs *args) {
    Resolver *r = in->ti->resolver;
    MemberKind kind;
    if (!is_dataclass(&args->args[0]) || !r->member) return false;
    const Binding *b =
        r->member(r->user, args->args[0].f.type->cls, STR("_not_replaced"), false, &kind);
    if (!b) return in->stop = STOP_ABORT, true;
    Str why = b->kind == BIND_CONST && b->value->kind == CONST_STR ? b->value->str : (Str){0};
    if (!why.len) return false;
    v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
    diag_note(in->diags, NULL, "it is a dataclass %s, which Python makes anew", ti_c_text(in, why));
    return true;
}

/* With the fields that are given by name. */
static bool replace(Infer *in, const char *name, const CallArgs *args, Val *out) {
    Val self = args->args[0];
    const Type *t = self.f.type;
    Val *items = arena_array(in->arena, Val, t->nitems + 1);
    if (is_made_anew(in, name, args)) return false;
    for (int32_t k = 0; k < t->nitems; k++)
        items[k] = v_item(in, self, k);
    for (int32_t i = 0; i < args->nkeywords; i++) {
        int32_t k = type_field(t, args->names[i]);
        if (k < 0) {
            v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
            diag_note(in->diags, NULL, "it has no field '%s'", ti_c_text(in, args->names[i]));
            return false;
        }
        items[k] = args->args[1 + i];
    }
    *out = v_tuple(in, items, t->nitems);
    out->f.type = type_tuple_like(in->types, t, out->f.type->items);
    return v_value_made(in, *out);
}

static bool as_dict(Infer *in, Val self, Val *out) {
    const Type *t = self.f.type;
    Val *items = arena_array(in->arena, Val, 2 * t->nitems + 1);
    for (int32_t k = 0; k < t->nitems; k++) {
        fact_of_const(in, const_str(in->arena, t->fields[k]), &items[2 * k].f);
        items[2 * k + 1] = v_item(in, self, k);
    }
    return v_dict_display(in, items, 2 * t->nitems, out);
}

static Val as_tuple(Infer *in, Val self) {
    int32_t n = self.f.type->nitems;
    Val *items = arena_array(in->arena, Val, n + 1);
    for (int32_t k = 0; k < n; k++)
        items[k] = v_item(in, self, k);
    return v_tuple(in, items, n);
}

/* Those of dataclasses go down into what the fields hold. */
static bool holds_dataclass(const Type *type) {
    const Type *const *parts = type->kind == TY_CLASS ? type->params : type->items;
    int32_t n = type->kind == TY_CLASS ? type->nparams : type->kind == TY_TUPLE ? type->nitems : 0;
    for (int32_t i = 0; i < n; i++)
        if ((parts[i]->kind == TY_TUPLE && type_is_value(parts[i])) || parts[i]->kind == TY_CLASS ||
            holds_dataclass(parts[i]))
            return true;
    return false;
}

static const char *const names[] = {"dataclasses.asdict", "dataclasses.astuple",
                                    "dataclasses.replace", "namedtuple._asdict",
                                    "namedtuple._replace"};

const char *fields_name(int32_t index) {
    return index < countof(names) ? names[index] : NULL;
}

bool v_fields_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    const char *text = ti_c_text(in, name);
    bool named = str_starts(name, "namedtuple."), changes = str_ends(name, "replace");
    *known = false;
    for (int i = 0; i < countof(names); i++)
        *known |= str_is(name, names[i]);
    if (!*known) return false;
    bool fits = args->nargs > 0 && args->nargs - args->nkeywords == 1 &&
                (named ? has_fields(&args->args[0]) : is_dataclass(&args->args[0]));
    if (!fits || (!changes && args->nkeywords))
        return v_refuse(in, REFUSE_CALL, text, args->args, args->nargs);
    if (changes) return replace(in, text, args, out);
    if (!named && holds_dataclass(args->args[0].f.type)) {
        v_refuse(in, REFUSE_CALL, text, args->args, args->nargs);
        return ti_advise(in, "it copies what the fields hold, too: make the tuple or dict of the "
                             "fields that are wanted"),
               false;
    }
    if (str_ends(name, "asdict")) return as_dict(in, args->args[0], out);
    return *out = as_tuple(in, args->args[0]), true;
}

bool primitive_fields(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1) return ti_fail(in, in->at, E0401, "primitive.fields", ti_arg_texts(in, args, n));
    *out = is_dataclass(&args[0]) ? as_tuple(in, args[0]) : v_tuple(in, NULL, 0);
    return true;
}
