/* infer_variant.c - defaultdict, Counter, OrderedDict and frozenset: dicts and sets, to objects and typed code, with some methods of their own
 * (ir_variants.def). Which it is stands in the type, and so does what makes the missing values of a defaultdict. */
#include "typeinfer/infer_variant.h"

bool type_is_frozen(const Type *type) {
    return type_is_of(type, CLS_set) && type->variant == VARIANT_frozenset;
}

bool type_is_variant(const Type *type, Variant variant) {
    return type && type->kind == TY_CLASS && type->variant == variant;
}

const Type *type_variant_like(Infer *in, const Type *type, const Type *like) {
    return type_variant(in->types, type, (Variant)like->variant, (ValueMaker)like->maker,
                        like->function);
}

/* -- methods ---------------------------------------------------------------------------------------- */

/* Of its own, or of the class of its objects. */
Str variant_method(Infer *in, const Type *cls, Str name) {
    if (cls->variant) {
        Str own = str_printf(in->arena, "%s." STR_FMT, type_variant_name((Variant)cls->variant),
                             STR_ARG(name));
        if (library_has(in, own)) return own;
    }
    return str_printf(in->arena, "%s." STR_FMT, type_class_name((ClassId)cls->bits), STR_ARG(name));
}

/* What changes a set is no method of a frozenset; the library makes one that way. */
bool variant_hides(Infer *in, const Type *cls, Str method) {
    int32_t row = lib_find(method);
    return type_is_frozen(cls) && !in->inst->library && row >= 0 &&
           (lib_row(row)->flags & LIB_WRITES);
}

/* -- missing values ----------------------------------------------------------------------------------- */

static const Type *unknown_of(Infer *in, ClassId cls) {
    const Type *params[] = {type_unknown(in->types), type_unknown(in->types)};
    return type_class_of(in->types, cls, params);
}

static const Type *variant_of(Infer *in, Variant variant, ValueMaker maker, const Type *function) {
    return type_variant(in->types, unknown_of(in, type_variant_class(variant)), variant, maker,
                        function);
}

static const Type *counter_type(Infer *in) {
    const Type *params[] = {type_unknown(in->types), ti_wint(in)};
    return type_variant(in->types, type_class_of(in->types, CLS_dict, params), VARIANT_Counter,
                        MAKER_none, NULL);
}

/* What a class makes without arguments. */
static const Type *made_by(Infer *in, ValueMaker maker) {
    switch (maker) {
    case MAKER_bool: return bool_type(in->types);
    case MAKER_int: return ti_wint(in);
    case MAKER_float: return ti_wflt(in);
    case MAKER_complex: return type_scalar(in->types, TY_wcpx);
    case MAKER_str: return type_class_of(in->types, CLS_str, NULL);
    case MAKER_list: return unknown_of(in, CLS_list);
    case MAKER_dict: return unknown_of(in, CLS_dict);
    case MAKER_set: return unknown_of(in, CLS_set);
    case MAKER_deque: return unknown_of(in, CLS_deque);
    case MAKER_Counter: return counter_type(in);
    default: return NULL;
    }
}

/* No display in the code has items. */
static bool displays_nothing(Infer *in, const Binding *function) {
    MapValue *slot = map_find(&in->ti->sources, map_key(function));
    const Func *f = slot ? slot->ptr : NULL;
    for (Ref ref = 1; f && ref < (Ref)f->insts.len; ref++) {
        const Inst *inst = ir_inst(f, ref);
        bool display =
            inst->op == OP_build_list || inst->op == OP_build_dict || inst->op == OP_build_set;
        if (display && inst->nargs) return false;
    }
    return f != NULL;
}

/* The name is not one that the program has given to something of its own. */
static bool is_of_python(Infer *in, const Binding *function, Str name) {
    const Resolver *r = in->ti->resolver;
    const Binding *b = r->global(r->user, function->handle, name);
    if (!b) in->stop = STOP_ABORT;
    return b && (b->kind == BIND_MISSING || b->kind == BIND_LIBRARY || b->kind == BIND_MODULE ||
                 b->kind == BIND_TYPE);
}

/* lambda: defaultdict(int), and what else does nothing but make an empty container: of what, is only known where it is put. Known by what
 * stands in its code. */
static bool makes_empty(Infer *in, const Type *function, const Type *value) {
    static const char *const names[] = {"collections", "defaultdict", "Counter", "OrderedDict",
                                        "deque",       "list",        "dict",    "set",
                                        "int",         "float",       "bool",    "str"};
    const Binding *b = function->binding;
    if (value->kind != TY_CLASS || !value->nparams || !b || b->kind != BIND_FUNCTION) return false;
    const FunctionInfo *info = ti_function_info(in->ti, b);
    bool empty = info && info->code->nlocals == 0;
    for (int32_t i = 0; empty && i < info->code->nconsts; i++)
        empty =
            info->code->consts[i]->kind == CONST_NONE || info->code->consts[i]->kind == CONST_CODE;
    for (int32_t i = 0; empty && i < info->code->nnames; i++) {
        int k = 0;
        while (k < countof(names) && !str_is(info->code->names[i], names[k]))
            k++;
        empty = k < countof(names) && is_of_python(in, b, info->code->names[i]);
    }
    return empty && displays_nothing(in, b);
}

static bool call_maker(Infer *in, const Type *function, Val *out) {
    Val callee = val_of(fact_of(function));
    CallArgs none = {NULL, 0, 0, NULL};
    return v_call(in, callee, &none, out);
}

/* Of an empty container, which alone says nothing of what it holds. */
static const Type *opened(Infer *in, const Type *type) {
    const Type *params[2] = {type_unknown(in->types), type_unknown(in->types)};
    if (type->variant == VARIANT_Counter) return counter_type(in);
    if (type->maker == MAKER_function && makes_empty(in, type->function, type->params[1]))
        params[1] = opened(in, type->params[1]);
    else if (type->maker)
        params[1] = type->maker == MAKER_function ? type->params[1] : made_by(in, type->maker);
    return type_class_like(in->types, type, params);
}

/* The type of what a function makes. */
static bool type_made(Infer *in, const Type *function, const Type **out) {
    Val made = {0};
    if (!call_maker(in, function, &made)) {
        if (in->stop != STOP_UNBOUND) return false;
        in->stop = STOP_NONE; /* it never returns */
        made = val_of(fact_of(type_scalar(in->types, TY_none)));
    }
    if (made.f.type->kind == TY_none || made.f.type->kind == TY_OPTIONAL) {
        v_refuse(in, REFUSE_CALL, "collections.defaultdict", &made, 1);
        return ti_advise(in, "what makes the values gives one each time, and no None"), false;
    }
    *out = ti_stored(in->types, made.f.type);
    if (makes_empty(in, function, *out)) *out = opened(in, *out);
    return !in->stop;
}

/* The value of a key that is not there; None: there is nothing that makes one. */
bool primitive_missing(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *t = n == 1 ? args[0].f.type : NULL, *value = t ? t->params[1] : NULL;
    if (!type_is_variant(t, VARIANT_defaultdict))
        return ti_fail(in, in->at, E0401, "primitive.missing", ti_arg_texts(in, args, n));
    if (t->maker == MAKER_none)
        return *out = val_of(fact_of(type_scalar(in->types, TY_none))), true;
    if (value->open) return in->stop = STOP_UNKNOWN, false;
    *out = val_of(fact_of(value));
    if (t->maker != MAKER_function || makes_empty(in, t->function, value))
        return v_empty(in, value, out);
    Val made = {0};
    if (in->stop || !call_maker(in, t->function, &made) || !container_learns(in, value, made.src))
        return false;
    if (in->emit) out->ref = v_as(in, made, value);
    return true;
}

/* -- making them ---------------------------------------------------------------------------------------- */

static bool nothing(const Val *v) {
    return !v->f.type || fact_none(&v->f) || (is_kind(v, TY_TUPLE) && v->f.type->nitems == 0);
}

/* Of `like`, with values of the type `made` where that is known, and filled by the method. What the items are is told first. */
static bool make(Infer *in, const Type *like, const Type *made, Val from, const char *method,
                 Val *out) {
    Val args[2] = {*out, from}, ignored;
    CallArgs call = {args, 2, 0, NULL};
    if (!v_variant_site(in, like, made, out)) return false;
    if (nothing(&from)) return true;
    args[0] = *out;
    if (!container_taught(in, str_from(method), &call)) return false;
    if (!in->emit && !v_variant_site(in, like, made, out)) return false;
    args[0] = *out;
    return v_library(in, method, &call, &ignored);
}

static bool refuse_maker(Infer *in, const Val *v) {
    v_refuse(in, REFUSE_CALL, "collections.defaultdict", v, 1);
    return ti_advise(in, "what makes the values is a class such as int or list, or a function that "
                         "takes no variables of the one around it along: elsewhere write "
                         "d.setdefault(key, value)"),
           false;
}

bool typed_defaultdict(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    const Binding *b = v[0].f.type ? fact_object(&v[0].f) : NULL;
    const Type *function = NULL, *made;
    ValueMaker maker = MAKER_none;
    if (b && b->kind == BIND_LIBRARY) maker = type_maker_of_path(b->name);
    bool closure = is_kind(&v[0], TY_CLOSURE) && v[0].f.type->nitems == 0;
    if (!maker && v[0].f.type && !fact_none(&v[0].f)) {
        if (!b && !closure) return refuse_maker(in, &v[0]);
        maker = MAKER_function;
        function = v[0].f.type;
    }
    made = made_by(in, maker);
    if (function && !in->emit && !type_made(in, function, &made)) return false;
    return make(in, variant_of(in, VARIANT_defaultdict, maker, function), made, v[1], "dict.update",
                out);
}

bool typed_counter(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return make(in, variant_of(in, VARIANT_Counter, MAKER_none, NULL), ti_wint(in), v[0],
                "Counter.update", out);
}

bool typed_ordered(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return make(in, variant_of(in, VARIANT_OrderedDict, MAKER_none, NULL), NULL, v[0],
                "dict.update", out);
}

bool typed_frozenset(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    (void)args;
    return make(in, variant_of(in, VARIANT_frozenset, MAKER_none, NULL), NULL, v[0], "set.update",
                out);
}

/* -- for their text ------------------------------------------------------------------------------------- */

/* "<class 'int'>"; of a function nothing that is the same each time. */
bool primitive_maker_text(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *t = n == 1 ? args[0].f.type : NULL;
    if (!type_is_variant(t, VARIANT_defaultdict) || t->maker == MAKER_function) {
        ti_fail(in, in->at, E0401, "primitive.maker_text", ti_arg_texts(in, args, n));
        return ti_advise(in,
                         "the text of a defaultdict with a function has the function's address: "
                         "take dict(d)"),
               false;
    }
    const char *path = type_maker_path((ValueMaker)t->maker);
    if (path && !strncmp(path, "builtins.", 9)) path += 9;
    Str text = path ? str_printf(in->arena, "<class '%s'>", path) : STR("None");
    fact_of_const(in, const_str(in->arena, text), &out->f);
    return true;
}
