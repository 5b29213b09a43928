/* infer_keyed.c - dicts whose keys are constant text and whose values have several types: {"rate": 0.5, "points": array}. What a key
 * stands for is known at compile time, so such a dict is a tuple whose items are called by its keys. It does not change. */
#include "typeinfer/infer_local.h"

static int32_t find_key(const Type *t, Str key) {
    for (int32_t k = 0; k < t->nitems; k++)
        if (str_equal(t->fields[k], key)) return k;
    return -1;
}

bool v_advise_keyed(Infer *in) {
    ti_advise(in, "a dict whose values have several types does not change, and its keys are "
                  "constants: give the values one type, or make another dict");
    return false;
}

Val v_keys(Infer *in, const Type *t) {
    Val *keys = arena_array(in->arena, Val, t->nitems);
    for (int32_t k = 0; k < t->nitems; k++)
        fact_of_const(in, const_str(in->arena, t->fields[k]), &keys[k].f);
    return v_tuple(in, keys, t->nitems);
}

static Val values_of(Infer *in, Val dict) {
    Val *values = arena_array(in->arena, Val, dict.f.type->nitems);
    for (int32_t k = 0; k < dict.f.type->nitems; k++)
        values[k] = v_item(in, dict, k);
    return v_tuple(in, values, dict.f.type->nitems);
}

static Val items_of(Infer *in, Val dict) {
    int32_t n = dict.f.type->nitems;
    Val keys = v_keys(in, dict.f.type), *pairs = arena_array(in->arena, Val, n);
    for (int32_t k = 0; k < n; k++)
        pairs[k] = v_tuple(in, (Val[]){v_item(in, keys, k), v_item(in, dict, k)}, 2);
    return v_tuple(in, pairs, n);
}

/* -- displays ------------------------------------------------------------------------------------------ */

/* Have the values no type in common? The keys are distinct constants then. `step`: of the keys and values in `items`. */
static bool are_of_several_types(Infer *in, const Val *values, int32_t n, int32_t step) {
    const Type *common = NULL;
    for (int32_t k = 0; k < n; k++) {
        const Type *type = ti_stored(in->types, values[k * step].f.type);
        if (type->kind == TY_none || type->kind == TY_UNKNOWN) continue;
        if (!(common = container_join(in, common, type))) return true;
    }
    return false;
}

static bool are_distinct(const Str *keys, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (str_equal(keys[i], keys[k])) return false;
    return true;
}

static Val make_keyed(Infer *in, const Str *keys, const Val *values, int32_t n) {
    Val out = v_tuple(in, values, n);
    out.f.type = type_keyed(in->types, out.f.type->items, n, keys);
    return out;
}

/* Of a display: keys and values in turn. false: it is a dict like others. */
static bool keyed_display(Infer *in, const Val *items, int32_t n, Val *out) {
    bool heap = ti_has_heap(in); /* without one there is no other dict */
    if (n < 2 || (heap && (n < 4 || !are_of_several_types(in, items + 1, n / 2, 2)))) return false;
    Str *keys = arena_array(in->arena, Str, n / 2);
    Val *values = arena_array(in->arena, Val, n / 2);
    for (int32_t k = 0; k < n / 2; k++) {
        const Str *key = fact_str(&items[2 * k].f);
        if (!key) return false;
        keys[k] = *key;
        values[k] = items[2 * k + 1];
    }
    if (!are_distinct(keys, n / 2)) return false;
    return *out = make_keyed(in, keys, values, n / 2), true;
}

bool v_dict_display(Infer *in, const Val *items, int32_t n, Val *out) {
    return keyed_display(in, items, n, out) ||
           v_container_site(in, CLS_dict, in->at, items, n, out);
}

/* -- what is done with them --------------------------------------------------------------------------- */

bool v_keyed_getitem(Infer *in, Val dict, Val index, Val *out) {
    const Str *key = fact_str(&index.f);
    int32_t k = key ? find_key(dict.f.type, *key) : -1;
    if (k >= 0) return *out = v_item(in, dict, k), true;
    v_refuse(in, REFUSE_INDEX, NULL, (Val[]){dict, index}, 2);
    if (key && in->report) diag_note(in->diags, NULL, "it has no key '%s'", ti_c_text(in, *key));
    return v_advise_keyed(in);
}

static bool get_or(Infer *in, const CallArgs *args, Val *out) {
    const Str *key = args->nargs == 2 || args->nargs == 3 ? fact_str(&args->args[1].f) : NULL;
    if (!key) {
        v_refuse(in, REFUSE_CALL, "dict.get", args->args, args->nargs);
        return v_advise_keyed(in);
    }
    int32_t k = find_key(args->args[0].f.type, *key);
    if (k >= 0)
        *out = v_item(in, args->args[0], k);
    else
        *out = args->nargs == 3 ? args->args[2] : val_of(fact_of(type_scalar(in->types, TY_none)));
    return true;
}

/* dict(rate=0.5, points=array): as a display. */
static bool dict_of_keywords(Infer *in, const CallArgs *args, bool *known, Val *out) {
    int32_t n = args->nargs;
    *known = n && n == args->nkeywords;
    if (!*known) return false;
    if (!ti_has_heap(in) || (n > 1 && are_of_several_types(in, args->args, n, 1))) {
        *out = make_keyed(in, args->names, args->args, n);
        return true;
    }
    Val *items = arena_array(in->arena, Val, 2 * n);
    for (int32_t k = 0; k < n; k++) {
        fact_of_const(in, const_str(in->arena, args->names[k]), &items[2 * k].f);
        items[2 * k + 1] = args->args[k];
    }
    return v_container_site(in, CLS_dict, in->at, items, 2 * n, out);
}

/* Methods, which are those of dicts, and dict() of keywords. *known false: it is about neither. */
bool v_keyed_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    *known = false;
    if (str_is(name, "builtins.dict")) return dict_of_keywords(in, args, known, out);
    *known = args->nargs && is_kind(&args->args[0], TY_TUPLE) && str_starts(name, "dict.") &&
             type_is_keyed(args->args[0].f.type);
    if (!*known) return false;
    Val self = args->args[0];
    if (str_is(name, "dict.get") && !args->nkeywords) return get_or(in, args, out);
    bool alone = args->nargs == 1;
    if (alone && str_is(name, "dict.keys")) return *out = v_keys(in, self.f.type), true;
    if (alone && str_is(name, "dict.values")) return *out = values_of(in, self), true;
    if (alone && str_is(name, "dict.items")) return *out = items_of(in, self), true;
    if (alone && str_is(name, "dict.copy")) return *out = self, true;
    v_refuse(in, REFUSE_CALL, ti_c_text(in, name), args->args, args->nargs);
    return v_advise_keyed(in);
}
