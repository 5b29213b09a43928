/* infer_typed.c - callables that typeinfer knows by name (rows LOWER_TYPED of tables/): what they
 * give depends on more than a signature. A table of handlers, found by name. */
#include "typeinfer/infer_variant.h"
#include <math.h>
#include <strings.h>

/* `v`: the arguments by parameter; `args`: as they were given. */
typedef bool (*Handler)(Infer *in, const Val *v, const CallArgs *args, Val *out);

static bool misfit(Infer *in, const char *name, const CallArgs *args) {
    return v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
}

/* -- sequences ----------------------------------------------------------------------------------- */

static bool typed_len(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val a = v_unwrap(in, v[0]);
    const Str *text = fact_str(&a.f);
    if (text) return *out = val_of(fact_int(in, str_code_points(*text))), true;
    bool sized = (is_kind(&a, TY_TUPLE) && (!type_is_value(a.f.type) || type_is_keyed(a.f.type))) ||
                 is_kind(&a, TY_RANGE) || (is_kind(&a, TY_ARRAY) && a.f.type->ndim > 0) ||
                 (is_kind(&a, TY_ITER) &&
                  (a.f.type->bits == ITER_CALL || type_is_view(a.f.type))); /* a.flat */
    if (is_object(&a)) return v_object_len(in, a, out);
    if (type_is_records(a.f.type) && a.f.type->ndim == 0 && !v_is_characters(a))
        return *out = val_of(fact_int(in, a.f.type->element->nitems)), true;
    return sized ? v_iter_len(in, a, out) : misfit(in, "len", args);
}

static bool typed_range(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)v;
    return v_range(in, args->args, args->nargs, out);
}

static bool typed_prange(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    if (!typed_range(in, v, args, out)) return false;
    if (in->parallel) *out = v_iter_object(in, ITER_PARALLEL, *out);
    return true;
}

/* Items without a common type: each has its own round of the loop, and so have pairs of it and others. */
static bool is_mixed(Infer *in, const Val *v) {
    return is_kind(v, TY_TUPLE) && tuple_is_mixed(in, v->f.type);
}

static bool enumerate_mixed(Infer *in, Val tuple, Val start, Val *out) {
    int32_t n = tuple.f.type->nitems;
    Val *pairs = arena_array(in->arena, Val, n);
    for (int32_t i = 0; i < n; i++) {
        Val pair[2] = {start, v_item(in, tuple, i)}, step = val_of(fact_int(in, i));
        if (i && !v_binary(in, OPR_add, false, start, step, &pair[0])) return false;
        pairs[i] = v_tuple(in, pair, 2);
    }
    return *out = v_tuple(in, pairs, n), true;
}

static bool typed_enumerate(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val pair[2] = {v_unwrap(in, v[0]), val_of(fact_int(in, 0))};
    if (v[1].f.type) pair[1] = v_unwrap(in, v[1]);
    if (!type_is_int(pair[1].f.type)) return misfit(in, "enumerate", args);
    if (is_mixed(in, &pair[0])) return enumerate_mixed(in, pair[0], pair[1], out);
    if (!v_iterable(in, &pair[0])) return false;
    return *out = v_iter_object(in, ITER_ENUMERATE, v_tuple(in, pair, 2)), true;
}

/* Of tuples, one of which is mixed: how many rounds; 0: it is none of that. */
static int32_t rounds_of_mixed(Infer *in, const Val *items, int32_t n, bool strict) {
    int32_t shortest = INT32_MAX;
    bool mixed = false;
    for (int32_t i = 0; i < n; i++) {
        if (!is_kind(&items[i], TY_TUPLE) || type_is_value(items[i].f.type)) return 0;
        int32_t length = items[i].f.type->nitems;
        if (strict && i && length != shortest) return 0;
        shortest = QN_MIN(shortest, length);
        mixed |= is_mixed(in, &items[i]);
    }
    return mixed ? shortest : 0;
}

static Val zip_mixed(Infer *in, const Val *items, int32_t n, int32_t rounds) {
    Val *rows = arena_array(in->arena, Val, rounds), *row = arena_array(in->arena, Val, n);
    for (int32_t k = 0; k < rounds; k++) {
        for (int32_t i = 0; i < n; i++)
            row[i] = v_item(in, items[i], k);
        rows[k] = v_tuple(in, row, n);
    }
    return v_tuple(in, rows, rounds);
}

static bool typed_zip(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    int32_t n = args->nargs - args->nkeywords;
    bool strict = v[0].f.value && v[0].f.value->i;
    if (v[0].f.type && !v[0].f.value)
        return misfit(in, "zip", args), ti_advise(in, "strict must be True or False"), false;
    Val *items = arena_array(in->arena, Val, n);
    for (int32_t i = 0; i < n; i++)
        items[i] = v_unwrap(in, args->args[i]);
    int32_t rounds = rounds_of_mixed(in, items, n, strict);
    if (rounds) return *out = zip_mixed(in, items, n, rounds), true;
    for (int32_t i = 0; i < n; i++)
        if (!v_iterable(in, &items[i])) return false;
    *out = v_iter_object(in, strict ? ITER_STRICT : ITER_ZIP, v_tuple(in, items, n));
    return true;
}

static bool typed_reversed(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val a = v_unwrap(in, v[0]);
    if (is_kind(&a, TY_ITER) && !type_is_view(a.f.type)) return misfit(in, "reversed", args);
    if (type_is_of(a.f.type, CLS_set)) return misfit(in, "reversed", args);
    if (is_mixed(in, &a)) {
        int32_t n = a.f.type->nitems;
        Val *items = arena_array(in->arena, Val, n);
        for (int32_t i = 0; i < n; i++)
            items[i] = v_item(in, a, n - 1 - i);
        return *out = v_tuple(in, items, n), true;
    }
    if (!v_iterable(in, &a)) return false;
    if (!is_object(&a)) return *out = v_iter_object(in, ITER_REVERSED, a), true;
    Val parts[2] = {a};
    if (!v_iter_len(in, a, &parts[1])) return false;
    return *out = v_iter_object(in, ITER_BACKWARD, v_tuple(in, parts, 2)), true;
}

static bool typed_deque(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return v_deque(in, v[0], v[1], out);
}

static bool view_of(Infer *in, enum IterKind kind, const Val *dict, Val *out) {
    if (!type_is_of(dict->f.type, CLS_dict)) return v_refuse(in, REFUSE_ITERATION, NULL, dict, 1);
    return *out = v_iter_object(in, kind, *dict), true;
}

static bool typed_keys(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return view_of(in, ITER_KEYS, v, out);
}

static bool typed_values(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return view_of(in, ITER_VALUES, v, out);
}

static bool typed_items(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return view_of(in, ITER_ITEMS, v, out);
}

static bool typed_new_struct(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return v_new_struct(in, v[0], out);
}

/* Its keywords are anything: v_partial sees them (infer_call.c). */
static bool typed_partial(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)v;
    return v_partial(in, args, out);
}

static bool typed_tuple(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    if (!v[0].f.type) return *out = v_tuple(in, NULL, 0), true;
    if (!is_kind(&v[0], TY_TUPLE) || type_is_value(v[0].f.type)) {
        misfit(in, "tuple", args);
        ti_advise(in, "how long a tuple is belongs to its type, and how long this is, nobody knows "
                      "before it runs: keep a list, or write its items out, (xs[0], xs[1])");
        return false;
    }
    int32_t n = v[0].f.type->nitems;
    Val *items = arena_array(in->arena, Val, n);
    for (int32_t i = 0; i < n; i++)
        items[i] = v_item(in, v[0], i);
    return *out = v_tuple(in, items, n), true; /* of a named tuple: a plain one */
}

static bool typed_slice(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val part[3] = {0};
    Fact none = fact_of(type_scalar(in->types, TY_none));
    for (int k = 0; k < 3; k++)
        part[k] = v[k].f.type ? v[k] : val_of(none);
    if (args->nargs == 1) part[1] = part[0], part[0] = val_of(none);
    return v_slice(in, part, out);
}

/* -- numbers -------------------------------------------------------------------------------------- */

/* float("nan"), float("-inf"): what programs write for values that have no literal. */
static bool float_of_text(Infer *in, const Val *text, Val *out) {
    static const struct {
        const char *text;
        double value;
    } words[] = {{"nan", NAN}, {"inf", HUGE_VAL}, {"infinity", HUGE_VAL}};
    const Str *s = fact_str(&text->f);
    if (!s || s->len == 0) return false;
    bool minus = s->bytes[0] == '-', sign = minus || s->bytes[0] == '+';
    for (int i = 0; i < countof(words); i++) {
        size_t n = strlen(words[i].text);
        if ((size_t)s->len != n + sign || strncasecmp(s->bytes + sign, words[i].text, n)) continue;
        double value = minus ? -words[i].value : words[i].value;
        *out = val_of((Fact){.type = ti_wflt(in), .value = const_float(in->arena, value)});
        return true;
    }
    return false;
}

/* int(), float() and complex() without an argument; with one they are rows. */
static bool typed_number(Infer *in, const CallArgs *args, TypeKind kind, bool *known, Val *out) {
    bool one = args->nargs == 1 && args->nkeywords == 0;
    if (kind == TY_wflt && one && float_of_text(in, &args->args[0], out)) return true;
    bool read =
        args->nargs && (type_is_text(args->args[0].f.type) || type_is_octets(args->args[0].f.type));
    if (read) {
        if (kind == TY_wint) return v_library(in, "str.__int__", args, out);
        if (kind == TY_wflt && one) return v_library(in, "str.__float__", args, out);
    }
    if (args->nargs) return *known = false;
    const Type *type = type_scalar(in->types, kind);
    if (in->strong) type = type_strong(in->types, type);
    return v_cast(in, val_of(fact_int(in, 0)), type, false, out);
}

/* The value itself, with all that is known of it. */
static bool typed_same(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)in, (void)args;
    return *out = v[0], true;
}

/* Where the value is not known, whoever calls is asked to compile the function for each value. Where nobody can do that, as where the
 * value is an argument of a declared signature, it stays unknown. */
static bool typed_literally(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    const Type *t = v[0].f.type;
    bool integer = type_is_int(t) && t->kind != TY_u64;
    bool may = in->ti->options.literals && (integer || t->kind == TY_bool || type_is_text(t));
    (void)args;
    if (!may || fact_is_const(&v[0].f) || !note_literal(in, v[0].src)) return *out = v[0], true;
    return ti_fail(in, in->at, E0209, "the argument of literally()");
}

static bool typed_bool(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    if (!v[0].f.type) return *out = val_of(fact_bool(in, false)), true;
    return v_truth(in, v[0], out);
}

/* -- isinstance ------------------------------------------------------------------------------------ */

/* A dtype, and no class such as np.float64. */
static bool is_dtype(const Type *type) {
    return type->kind == TY_OBJECT && type->binding->kind == BIND_TYPE && type->binding->type &&
           !type->binding->name.len;
}

/* Of NumPy's abstract classes of scalars, which a Python number is of none of? */
static bool is_scalar_class(const Type *type, Str cls) {
    bool number = type_is_number(type) && !type_is_weak(type) && type->kind != TY_bool;
    bool integer = number && type_is_int(type), real = number && type_is_float(type);
    if (str_is(cls, "numpy.number")) return number;
    if (str_is(cls, "numpy.integer")) return integer;
    if (str_is(cls, "numpy.signedinteger")) return integer && type_class(type) == CLASS_SINT;
    if (str_is(cls, "numpy.unsignedinteger")) return integer && type_class(type) == CLASS_UINT;
    if (str_is(cls, "numpy.inexact")) return number && !integer;
    if (str_is(cls, "numpy.floating")) return real;
    return str_is(cls, "numpy.complexfloating") && number && type_is_complex(type);
}

/* Python's own int, which an int64 stands for; the scalars of NumPy are none. */
static bool is_python_int(const Type *type) {
    return type->kind == TY_bool || type->kind == TY_i64 ||
           (type_is_int(type) && type_is_weak(type));
}

/* `plain`: typed.List is no list, as to users; in quern/library it is one. */
static bool is_instance_of(const Type *type, const Binding *cls, bool plain) {
    bool shared = type->kind == TY_CLASS && type->shared;
    if (cls->kind == BIND_LIBRARY) {
        if (str_is(cls->name, "builtins.int"))
            return plain ? is_python_int(type) : type_is_int(type) || type->kind == TY_bool;
        if (str_is(cls->name, "builtins.float"))
            return type_is_float(type) && type_bits(type) == 64;
        if (str_is(cls->name, "builtins.complex")) return type_is_complex(type);
        if (str_is(cls->name, "builtins.bool")) return type->kind == TY_bool;
        if (str_is(cls->name, "builtins.tuple"))
            return type->kind == TY_TUPLE && !type_is_value(type);
        if (str_is(cls->name, "builtins.bytes")) return type_is_of(type, CLS_bytes);
        if (str_is(cls->name, "builtins.bytearray")) return type_is_of(type, CLS_bytearray);
        if (str_is(cls->name, "builtins.range")) return type->kind == TY_RANGE;
        if (str_is(cls->name, "builtins.slice")) return type->kind == TY_SLICE;
        bool builtin = !(plain && shared);
        if (str_is(cls->name, "builtins.list")) return type_is_list(type) && builtin;
        if (str_is(cls->name, "builtins.dict"))
            return (type_is_of(type, CLS_dict) && builtin) || type_is_keyed(type);
        if (str_is(cls->name, "builtins.set"))
            return type_is_of(type, CLS_set) && builtin && !(plain && type->variant);
        for (int variant = 1; variant < VARIANT_COUNT; variant++)
            if (str_is(cls->name, type_variant_path((Variant)variant)))
                return type_is_variant(type, (Variant)variant);
        if (str_is(cls->name, "collections.deque")) return type_is_of(type, CLS_deque);
        if (str_is(cls->name, "typed.List")) return shared && type_is_list(type);
        if (str_is(cls->name, "typed.Dict")) return shared && type_is_of(type, CLS_dict);
        if (str_is(cls->name, "typed.Set")) return shared && type_is_of(type, CLS_set);
        if (str_is(cls->name, "numpy.ndarray")) return type->kind == TY_ARRAY;
        if (str_is(cls->name, "numpy.dtype")) return is_dtype(type);
        if (is_scalar_class(type, cls->name)) return true;
        if (str_is(cls->name, "numpy.datetime64") || str_is(cls->name, "numpy.timedelta64"))
            return type->kind == TY_TIME &&
                   type_is_span(type) == str_is(cls->name, "numpy.timedelta64");
        return false;
    }
    if (cls->type && cls->type->cls && type->kind == TY_TUPLE) return cls->type->cls == type->cls;
    return cls->type == type || (cls->type && type_is_weak(cls->type) &&
                                 type_strong_kind(cls->type->kind) == type->kind);
}

/* A named tuple or a frozen dataclass of a class that is derived from this one? */
static bool is_derived_instance(Infer *in, const Type *type, const Binding *cls) {
    const Type *base = cls->type;
    if (type->kind != TY_TUPLE || !type->cls || !base || !base->cls || base->cls == type->cls)
        return false;
    const Resolver *r = in->ti->resolver;
    const ExceptionClass own = {.handle = (void *)type->cls}, of = {.handle = (void *)base->cls};
    int is = r->subclass(r->user, &own, &of); /* of any classes */
    if (is < 0) in->stop = STOP_ABORT;
    return is > 0;
}

bool v_isinstance(Infer *in, Val object, Val classes, Val *out) {
    const Val v[2] = {object, classes}, *cls = &v[1];
    const CallArgs *args = &(CallArgs){(Val *)v, 2, 0, NULL};
    const Type *type = is_kind(&v[0], TY_OPTIONAL) ? v[0].f.type->element : v[0].f.type;
    int32_t n = is_kind(cls, TY_TUPLE) ? cls->f.type->nitems : 1;
    bool found = false;
    for (int32_t i = 0; i < n; i++) {
        const Type *t = is_kind(cls, TY_TUPLE) ? cls->f.type->items[i] : cls->f.type;
        if (t->kind != TY_OBJECT) return misfit(in, "isinstance", args);
        const Binding *b = t->binding;
        const EnumClass *of = type->kind == TY_MEMBER ? type->binding->enumeration : NULL;
        for (int32_t k = 0; of && k < of->nbases; k++)
            found |= of->bases[k] == b->handle;
        bool text = b->kind == BIND_LIBRARY && str_is(b->name, "builtins.str");
        found |= text ? type_is_text(type) : is_instance_of(type, b, !in->inst->library);
        found = found || is_derived_instance(in, type, b);
        if (in->stop) return false;
    }
    *out = val_of(fact_bool(in, found));
    if (!found || !is_kind(&v[0], TY_OPTIONAL)) return true;
    out->f = fact_of(bool_type(in->types)); /* None is no instance of these */
    if (in->emit) out->ref = emit_item(in->emit, v_ref(in, v[0]), 0);
    return true;
}

static bool typed_isinstance(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return v_isinstance(in, v[0], v[1], out);
}

/* -- attributes by name, classes ----------------------------------------------------------------------- */

/* What Python calls the class of a value; NULL: compiled code does not tell. */
static const char *class_name(const Type *t) {
    static const char *const weak[] = {
        [TY_wint] = "builtins.int", [TY_wflt] = "builtins.float", [TY_wcpx] = "builtins.complex"};
    if (type_is_number(t) && type_is_weak(t)) return weak[t->kind];
    if (t->kind == TY_bool) return "builtins.bool";
    if (type_is_text(t)) return "builtins.str";
    if (type_is_of(t, CLS_bytes)) return "builtins.bytes";
    if (t->kind == TY_CLASS && t->shared) return NULL;
    if (t->kind == TY_CLASS && t->variant) return type_variant_path((Variant)t->variant);
    if (type_is_list(t)) return "builtins.list";
    if (type_is_of(t, CLS_dict)) return "builtins.dict";
    if (type_is_of(t, CLS_set)) return "builtins.set";
    if (t->kind == TY_RANGE) return "builtins.range";
    return t->kind == TY_TUPLE && !t->fields ? "builtins.tuple" : NULL;
}

static bool typed_type(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    bool may_be_none = is_kind(&v[0], TY_OPTIONAL) && type_is_exception(v[0].f.type->element);
    Val x = may_be_none ? v_present(in, v[0]) : v[0];
    const Type *t = x.f.type;
    if (t->kind == TY_CAUGHT || type_is_exception(t)) return v_caught_class(in, x, out);
    const char *name = class_name(t);
    if (!name && type_is_number(t)) return *out = v_dtype(in, t), true;
    if (!name) return misfit(in, "type", args);
    const Binding *b = ti_object(in->ti, BIND_LIBRARY, str_from(name), NULL);
    return *out = val_of(fact_of(type_object(in->types, b))), true;
}

/* Has Python's class of such values the attribute? Compiled code knows less of them. Of arrays a list answers for Python's protocols. */
static bool python_has(Infer *in, const Type *t, Str name, bool *has) {
    const Resolver *r = in->ti->resolver;
    const char *cls = type_is_int(t)        ? "builtins.int"
                      : type_is_float(t)    ? "builtins.float"
                      : type_is_complex(t)  ? "builtins.complex"
                      : t->kind == TY_ARRAY ? str_starts(name, "__") ? "builtins.list" : NULL
                      : t->kind == TY_TUPLE ? "builtins.tuple"
                                            : class_name(t);
    if (!cls) cls = "builtins.object";
    *has = false;
    if (!r->attr || !r->builtin) return true;
    const Binding *b = r->builtin(r->user, str_from(cls + strlen("builtins.")));
    const Binding *member = b && b->handle ? r->attr(r->user, b, name) : b;
    if (!member) return in->stop = STOP_ABORT, false;
    *has = b->handle && member->kind != BIND_MISSING;
    return true;
}

/* Has a value the attribute to compiled code? Nothing is written and nothing reported. false: it is not known yet. */
static bool compiled_has(Infer *in, Val object, Str name, bool *has) {
    Emit *emit = in->emit;
    bool report = in->report;
    Val attribute = {0};
    in->emit = NULL;
    in->report = false;
    *has = v_attr(in, object, name, &attribute);
    in->emit = emit;
    in->report = report;
    if (*has || in->stop == STOP_NONE || in->stop == STOP_ERROR) in->stop = STOP_NONE;
    return in->stop == STOP_NONE;
}

bool v_has_attr(Infer *in, Val object, Str name) {
    bool has = false;
    return compiled_has(in, object, name, &has) && has;
}

static const Str *attribute_name(Infer *in, const Val *name) {
    const Str *text = fact_str(&name->f);
    if (!text) ti_fail(in, in->at, E0209, "the name of the attribute");
    return text;
}

static bool typed_hasattr(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    const Str *name = attribute_name(in, &v[1]);
    bool has;
    if (!name || !compiled_has(in, v[0], *name, &has)) return false;
    if (!has && !python_has(in, v[0].f.type, *name, &has)) return false;
    return *out = val_of(fact_bool(in, has)), true;
}

/* What can be called at all; compiled code calls fewer. */
static bool typed_callable(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    const Type *t = is_kind(&v[0], TY_OPTIONAL) ? v[0].f.type->element : v[0].f.type;
    const Binding *b = t->kind == TY_OBJECT ? t->binding : NULL;
    Val inner = {.f = fact_of(t)};
    bool function =
        b && (b->kind == BIND_FUNCTION || b->kind == BIND_TYPE || b->kind == BIND_EXCEPTION ||
              b->kind == BIND_FOREIGN || b->kind == BIND_OVERLOADED || b->kind == BIND_PARTIAL ||
              (b->kind == BIND_LIBRARY && !str_starts(b->name, "sys.")));
    bool callable = b ? function : v_callable(&inner);
    if (b && (b->kind == BIND_OPAQUE || b->kind == BIND_UNBUILT))
        return misfit(in, "callable", args);
    if (type_is_instance(t) && !compiled_has(in, inner, STR("__call__"), &callable)) return false;
    *out = val_of(fact_bool(in, callable));
    if (!callable || !is_kind(&v[0], TY_OPTIONAL)) return true;
    out->f = fact_of(bool_type(in->types));
    if (in->emit) out->ref = emit_item(in->emit, v_ref(in, v[0]), 0);
    return true;
}

/* Where only Python knows the attribute, the default would be another value than Python's: v_attr refuses. */
static bool typed_getattr(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    const Str *name = attribute_name(in, &v[1]);
    bool has = true;
    if (!name) return false;
    if (v[2].f.type && !compiled_has(in, v[0], *name, &has)) return false;
    if (!has && !python_has(in, v[0].f.type, *name, &has)) return false;
    if (!has) return *out = v[2], true;
    return v_attr(in, v[0], *name, out);
}

/* `x.name` and `getattr(x, "name")`: what a method that it gives is called on. */
bool v_attr_parts(Infer *in, Ref ref, Ref *object, Str *name) {
    if (!ref) return false;
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_attr) {
        *object = ir_arg(in->f, ref, 0);
        *name = *inst->u.name;
        return true;
    }
    if (inst->op != OP_call_py || inst->nargs < 3) return false;
    const Binding *callee = fact_object(&in->facts[ir_arg(in->f, ref, 0)]);
    const Str *text = fact_str(&in->facts[ir_arg(in->f, ref, 2)]);
    if (!callee || callee->kind != BIND_LIBRARY || !str_is(callee->name, "builtins.getattr") ||
        !text)
        return false;
    *object = ir_arg(in->f, ref, 1);
    *name = *text;
    if (inst->nargs == 3) return true;
    bool has; /* or is it the default? */
    int stop = in->stop;
    bool known = compiled_has(in, infer_val(in, *object), *name, &has);
    in->stop = stop;
    return known && has;
}

/* -- the table -------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *params;
    Handler handler;
} handlers[] = {
    {"builtins.bool", "x=, /", typed_bool},
    {"builtins.callable", "obj, /", typed_callable},
    {"builtins.enumerate", "iterable, start=", typed_enumerate},
    {"builtins.filter", "function, iterable, /", typed_filter},
    {"builtins.frozenset", "iterable=, /", typed_frozenset},
    {"builtins.getattr", "object, name, default=, /", typed_getattr},
    {"builtins.hasattr", "obj, name, /", typed_hasattr},
    {"builtins.isinstance", "obj, class_or_tuple, /", typed_isinstance},
    {"builtins.iter", "object, /", typed_iter},
    {"builtins.len", "obj, /", typed_len},
    {"builtins.map", "function, /, *iterables", typed_map},
    {"builtins.next", "iterator, default=, /", typed_next},
    {"builtins.range", "start, stop=, step=, /", typed_range},
    {"builtins.reversed", "sequence, /", typed_reversed},
    {"builtins.slice", "start, stop=, step=, /", typed_slice},
    {"builtins.tuple", "iterable=, /", typed_tuple},
    {"builtins.type", "object, /", typed_type},
    {"builtins.zip", "*iterables, strict=", typed_zip},
    {"collections.Counter", "iterable=, /", typed_counter},
    {"collections.OrderedDict", "items=, /", typed_ordered},
    {"collections.defaultdict", "default_factory=, items=, /", typed_defaultdict},
    {"collections.deque", "iterable=, maxlen=", typed_deque},
    {"dict.items", "self, /", typed_items},
    {"dict.keys", "self, /", typed_keys},
    {"dict.values", "self, /", typed_values},
    {"functools.partial", "func, /, *args", typed_partial},
    {"generator.__next__", "self, /", typed_going_on},
    {"generator.close", "self, /", typed_close},
    {"generator.send", "self, value, /", typed_send},
    {"generator.throw", "self, exception, /", typed_throw},
    {"operator.truth", "a, /", typed_bool},
    {"primitive.match_class", "subject, cls, count, names, /", typed_match_class},
    {"quern.literal_unroll", "container, /", typed_same},
    {"quern.literally", "obj, /", typed_literally},
    {"quern.prange", "start, stop=, step=, /", typed_prange},
    {"structref.new", "struct_type, /", typed_new_struct},
};

static const struct {
    const char *name;
    TypeKind kind;
} numbers[] = {
    {"builtins.complex", TY_wcpx},
    {"builtins.float", TY_wflt},
    {"builtins.int", TY_wint},
};

const char *ti_typed_name(Arena *arena, int32_t index) {
    static const char *(*const tables[])(int32_t) = {
        array_builtin_name, array_attr_name, typed_operator_name, primitive_name,
        shared_maker_name,  time_name,       fields_name};
    if (index < countof(handlers)) return handlers[index].name;
    index -= countof(handlers);
    if (index < countof(numbers)) return numbers[index].name;
    index -= countof(numbers);
    for (int i = 0; i < countof(tables); i++) {
        int32_t n = 0;
        while (tables[i](n))
            n++;
        if (index < n) return tables[i](index);
        index -= n;
    }
    return gpu_name(arena, index);
}

bool typed_knows(Str name) {
    for (int i = 0; i < countof(handlers); i++)
        if (str_is(name, handlers[i].name)) return true;
    return array_builtin_knows(name) || gpu_knows(name) || primitive_knows(name);
}

bool ti_is_known(Str name) {
    return lib_find(name) >= 0 || typed_knows(name);
}

bool v_typed(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    *known = true;
    for (int i = 0; i < countof(handlers); i++) {
        Val v[MAX_TYPED_PARAMS];
        if (!str_is(name, handlers[i].name)) continue;
        return v_bind_typed(in, library_text(in, name), handlers[i].params, args, v) &&
               handlers[i].handler(in, v, args, out);
    }
    for (int i = 0; i < countof(numbers); i++)
        if (str_is(name, numbers[i].name))
            return typed_number(in, args, numbers[i].kind, known, out);
    if (array_builtin_knows(name)) return v_array_builtin(in, name, args, known, out);
    if (primitive_knows(name)) return v_primitive(in, name, args, out);
    if (gpu_knows(name)) return v_gpu(in, name, args, known, out);
    return *known = false;
}
