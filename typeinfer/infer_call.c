/* infer_call.c - calls: what a callee is, and why it cannot be called. */
#include "typeinfer/infer_local.h"
#include "typeinfer/infer_made.h"
#include "typeinfer/infer_variant.h"

int32_t row_arity(const LibRow *row) {
    int32_t n = row->signature[1] != ')', depth = 0;
    for (const char *c = row->signature; *c && !(*c == ')' && depth == 1); c++) {
        if (*c == '*' || *c == '?') return -1;
        depth += (*c == '(') - (*c == ')');
        n += *c == ',' && depth == 1;
    }
    return n;
}

bool row_takes(const LibRow *row, int32_t n) {
    int32_t most = row->signature[1] != ')', optional = 0, depth = 0;
    for (const char *c = row->signature; *c && !(*c == ')' && depth == 1); c++) {
        if (*c == '*') return true;
        optional += *c == '?';
        depth += (*c == '(') - (*c == ')');
        most += *c == ',' && depth == 1;
    }
    return n >= most - optional && n <= most;
}

/* Another number of arguments than any row of that name takes. */
static void note_count(Infer *in, Str name, const char *text, int32_t given) {
    int32_t least = INT32_MAX, most = 0;
    for (int32_t row = lib_find(name); row >= 0; row = lib_next(row)) {
        int32_t n = row_arity(lib_row(row));
        if (n == given || n < 0) return;
        least = QN_MIN(least, n), most = QN_MAX(most, n);
    }
    if (!in->report || least > most || typed_knows(name)) return;
    if (least == most)
        diag_note(in->diags, NULL, "%s takes %d argument%s", text, least, least == 1 ? "" : "s");
    else
        diag_note(in->diags, NULL, "%s takes %d to %d arguments", text, least, most);
}

/* GPU-only rows say where they can be used; others simply do not fit. */
static bool library_error(Infer *in, Str name, const CallArgs *args) {
    int32_t row = lib_find(name);
    const char *text = library_text(in, name);
    TargetKind target = in->ti->options.target;
    if (!library_has(in, name)) {
        ti_fail(in, in->at, E0405, str_printf(in->arena, "the function %s", text).bytes);
        ti_advise_name(in, name);
        return false;
    }
    bool anywhere = row < 0;
    for (; row >= 0; row = lib_next(row))
        anywhere |= lib_lowering(lib_row(row), target)->kind != LOWER_NONE;
    if (!anywhere) return ti_fail(in, in->at, E0404, text, target_text(target));
    v_refuse(in, REFUSE_ROW, text, args->args, args->nargs);
    note_count(in, name, text, args->nargs);
    return false;
}

static bool is_among(Str name, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (str_is(name, names[i])) return true;
    return false;
}

/* A method of a container of nobody knows what yet. Those that only change it have a known result; what is stored in it may be known
 * to be a container itself. */
static bool call_open(Infer *in, Str name, const CallArgs *args, Val *out) {
    const Type *type = args->args[0].f.type, *stored = type->params[type->nparams - 1];
    bool holds = stored->kind == TY_CLASS || stored->kind == TY_TUPLE;
    bool list = type_is_list(type) || type_is_of(type, CLS_deque);
    switch (container_gives(name)) {
    case GIVES_NONE: return *out = val_of(fact_of(type_scalar(in->types, TY_none))), true;
    case GIVES_ITSELF:
    case GIVES_COPY: return *out = val_of(fact_of(type)), true;
    case GIVES_LIST:
        if (!list || stored->kind == TY_UNKNOWN) break;
        return *out = val_of(fact_of(type_class_of(in->types, CLS_list, &stored))), true;
    case GIVES_PAIR:
        if (!holds || type->params[0]->kind == TY_UNKNOWN) break;
        return *out = val_of(fact_of(type_tuple(in->types, type->params, 2))), true;
    case GIVES_STORED:
        if (!holds) break;
        return *out = val_of(fact_of(stored)), true;
    default: break;
    }
    return in->stop = STOP_UNKNOWN, false;
}

/* NumPy makes arrays of characters as wide as the longest text, which only the run tells. */
static bool refuses_text(Infer *in, Str name, const CallArgs *args) {
    static const char *const names[] = {"numpy.where", "numpy.full", "numpy.full_like"};
    if (!is_among(name, names, countof(names)) || args->nkeywords) return false;
    bool text = false, fills = !str_is(name, "numpy.where");
    if (fills && args->nargs > 2) return false; /* a dtype says how wide */
    for (int32_t i = 1; i < args->nargs && i < 3; i++)
        text |= args->args[i].f.type && type_is_text(args->args[i].f.type);
    if (!text) return false;
    ti_fail(in, in->at, E0101, str_printf(in->arena, "%s of text", library_text(in, name)).bytes);
    return ti_advise(in, "an array of numbers that stand for the texts is made, or a list: "
                         "[\"hi\" if x else \"lo\" for x in a]"),
           true;
}

/* list(), dict() and set() make a container as a display does. */
static bool is_empty_display(Str name, const CallArgs *args, ClassId *cls) {
    bool list = str_is(name, "builtins.list"), dict = str_is(name, "builtins.dict");
    *cls = list ? CLS_list : dict ? CLS_dict : CLS_set;
    return args->nargs == 0 && (list || dict || str_is(name, "builtins.set"));
}

static bool makes_array(Str name) {
    static const char *const names[] = {"numpy.array", "numpy.asarray", "numpy.asanyarray"};
    return is_among(name, names, countof(names));
}

/* Lists that NumPy's functions get are arrays to them; those that make arrays look at the lists themselves, and one changes them. */
static bool lists_as_arrays(Infer *in, Str name, CallArgs *args) {
    bool numpy =
        str_starts(name, "numpy.") || str_starts(name, "ufunc.") || str_starts(name, "ndarray.");
    if (!numpy || makes_array(name) || str_is(name, "numpy.random.shuffle")) return true;
    Val *values = arena_array(in->arena, Val, args->nargs + 1);
    for (int32_t i = 0; i < args->nargs; i++) {
        const Type *t = args->args[i].f.type;
        values[i] = args->args[i];
        while (type_is_list(t))
            t = t->params[0];
        bool row = t && t->kind == TY_TUPLE && t->nitems && type_is_number(t->items[0]);
        bool numbers = t && (row || type_is_number(t) || t->kind == TY_UNKNOWN);
        if (t != values[i].f.type && numbers && !v_as_array(in, NULL, &values[i])) return false;
    }
    args->args = values;
    return true;
}

/* What NumPy calls array_like: the names of these parameters in our library. Tuples that mean something else (a shape, axes,
 * several arrays) have other names, and values to store stay as they are: Python ints are tested against what holds them. */
static bool is_array_like(Str parameter) {
    static const char *const names[] = {"a",
                                        "a1",
                                        "a2",
                                        "a_max",
                                        "a_min",
                                        "append",
                                        "ar",
                                        "ar1",
                                        "ar2",
                                        "arr",
                                        "array",
                                        "ary",
                                        "at_zero",
                                        "b",
                                        "bins",
                                        "c",
                                        "c1",
                                        "c2",
                                        "condition",
                                        "element",
                                        "f",
                                        "filt",
                                        "fp",
                                        "ind",
                                        "indices",
                                        "kth",
                                        "m",
                                        "mask",
                                        "max",
                                        "min",
                                        "obj",
                                        "p",
                                        "prepend",
                                        "repeats",
                                        "to_begin",
                                        "to_end",
                                        "test_elements",
                                        "weights",
                                        "x",
                                        "x1",
                                        "x2",
                                        "xp",
                                        "y",
                                        "z",
                                        "A"};
    return is_among(parameter, names, countof(names));
}

/* Tuples for parameters that take arrays, in the program: our library knows what it passes. */
static bool tuples_as_arrays(Infer *in, Str name, CallArgs *args) {
    Resolver *r = in->ti->resolver;
    bool numpy = str_starts(name, "numpy.") || str_starts(name, "ndarray."), any = false;
    if (!numpy || in->inst->library || makes_array(name)) return true;
    for (int32_t i = 0; i < args->nargs; i++)
        any |= is_kind(&args->args[i], TY_TUPLE);
    const Binding *b = any && r->library ? r->library(r->user, name) : NULL;
    if (any && r->library && !b) return in->stop = STOP_ABORT, false;
    bool function = b && b->kind == BIND_FUNCTION;
    int32_t plain = args->nargs - args->nkeywords;
    if (!any || (!function && !v_has_row(name, plain, in->ti->options.target))) return true;
    const FunctionInfo *info = function ? ti_function_info(in->ti, b) : NULL;
    if (function && !info) return in->stop = STOP_ABORT, false;
    Val *values = arena_array(in->arena, Val, args->nargs + 1);
    for (int32_t i = 0; i < args->nargs; i++) {
        values[i] = args->args[i];
        if (!is_kind(&values[i], TY_TUPLE) || (info && i < plain && i >= info->code->nargs))
            continue;
        Str parameter = i >= plain ? args->names[i - plain]
                        : info     ? info->code->local_names[i]
                                   : STR("x"); /* a row: each operand */
        if (is_array_like(parameter) && !v_as_array(in, NULL, &values[i])) return false;
    }
    args->args = values;
    return true;
}

/* str.format(text, 3, name=x): (text, how many have no name, ("name",), 3, x), which the library takes. */
static CallArgs with_names(Infer *in, const CallArgs *args) {
    int32_t n = args->nargs, k = args->nkeywords, unnamed = n - k;
    Val *all = arena_array(in->arena, Val, n + 2), *names = arena_array(in->arena, Val, k);
    for (int32_t i = 0; i < k; i++)
        fact_of_const(in, const_str(in->arena, args->names[i]), &names[i].f);
    all[0] = args->args[0];
    all[1] = val_of(fact_int(in, unnamed - 1));
    all[2] = v_tuple(in, names, k);
    for (int32_t i = 1; i < n; i++)
        all[i + 2] = args->args[i];
    return (CallArgs){all, n + 2, 0, NULL};
}

/* ord("0"): a number that is written down as a character, as programs over bytes do. */
static bool is_ord_of_constant(Str name, const CallArgs *args, int64_t *code) {
    const Str *text = args->nargs == 1 && args->nkeywords == 0 ? fact_str(&args->args[0].f) : NULL;
    if (!text || !str_is(name, "builtins.ord") || str_code_points(*text) != 1) return false;
    int32_t at = 0;
    return *code = str_code_point(*text, &at), true;
}

static bool call_library(Infer *in, Str name, const CallArgs *given, Val *out) {
    bool known;
    int64_t code;
    ClassId cls;
    CallArgs values = *given, *args = &values;
    if (v_overload(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (is_ord_of_constant(name, args, &code)) return *out = val_of(fact_int(in, code)), true;
    if (v_keyed_call(in, name, args, &known, out) || known) return !in->stop;
    if (v_fields_call(in, name, args, &known, out) || known) return !in->stop;
    if (args->nkeywords && str_is(name, "str.format")) {
        values = with_names(in, args);
        name = STR("str.format_named");
    }
    if (refuses_text(in, name, args)) return false;
    if (str_is(name, "functools.partial")) return v_partial(in, args, out);
    if (!ti_has_objects(in) && str_is(name, "builtins.print")) return v_kernel_print(in, args, out);
    if (v_kernel_text(in, name, args, &known, out) || known) return !in->stop;
    if (!v_text_arguments(in, name, args) || !lists_as_arrays(in, name, args) ||
        !tuples_as_arrays(in, name, args))
        return false;
    if (!container_taught(in, name, args)) return false;
    if (args->nargs && is_object(&args->args[0]) && args->args[0].f.type->open &&
        !gives_walk(container_gives(name)))
        return call_open(in, name, args, out);
    if (v_instance_builtin(in, name, args, &known, out) || known) return !in->stop;
    if (is_empty_display(name, args, &cls)) return v_container_site(in, cls, in->at, NULL, 0, out);
    if (v_shared_site(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (v_time_call(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (v_operator_call(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (v_typed(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (args->nkeywords == 0) {
        if (v_row(in, name, args->args, args->nargs, &known, out)) return true;
        if (known || in->stop) return false;
    }
    if (args->nkeywords) {
        if (v_row_with_keywords(in, name, args, &known, out)) return true;
        if (known || in->stop) return false;
    }
    if (v_library_function(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    library_error(in, name, args);
    return v_overload_reasons(in, name, args), false;
}

bool v_library(Infer *in, const char *name, const CallArgs *args, Val *out) {
    return call_library(in, str_from(name), args, out);
}

/* a.sum(...), np.add.reduce(...): the object the attribute was taken of is the first argument. */
static bool call_method(Infer *in, const Binding *b, Ref object, const CallArgs *args, Val *out) {
    Val *all = arena_array(in->arena, Val, args->nargs + 1);
    all[0] = v_unwrap(in, infer_val(in, object));
    for (int32_t i = 0; i < args->nargs; i++)
        all[i + 1] = args->args[i];
    CallArgs call = {all, args->nargs + 1, args->nkeywords, args->names};
    bool at =
        str_is(b->name, "ufunc.at") && call.nargs > 2; /* [0, 1] is an index, no pair of them */
    if (at && all[2].src && !list_as_index(in, all[2].src, &all[2])) return false;
    return call_library(in, b->name, &call, out);
}

static bool is_method(Infer *in, const Binding *b, Ref src, Ref *object) {
    Str attribute;
    if (b->handle || str_is(b->name, "str.maketrans") || str_is(b->name, "bytes.maketrans") ||
        str_is(b->name, "dict.fromkeys"))
        return false; /* the text, the dict is no argument */
    if (!v_attr_parts(in, src, object, &attribute)) return false;
    const Type *type = in->facts[*object].type;
    if (type && type->kind == TY_OPTIONAL) type = type->element;
    bool keyed = type && type_is_keyed(type);
    if (type && (type->kind == TY_CLASS || type_is_random(type) || keyed)) return true;
    return str_starts(b->name, "ndarray.") || str_starts(b->name, "number.") ||
           str_starts(b->name, "str.") || str_starts(b->name, "slice.") ||
           str_starts(b->name, "tuple.") || str_starts(b->name, "namedtuple.") ||
           str_starts(b->name, "generator.") || str_starts(b->name, "ufunc.");
}

/* d.get as an argument, as in max(d, key=d.get): the method with the object that it is of. Others stay. */
Val v_bound_method(Infer *in, Val v) {
    const Binding *b = v.f.type && v.src ? fact_object(&v.f) : NULL;
    Ref object;
    if (!b || b->kind != BIND_LIBRARY || !is_method(in, b, v.src, &object)) return v;
    const Type *type = in->facts[object].type;
    if (!type || (type->kind != TY_CLASS && type->kind != TY_ARRAY && !type_is_text(type)))
        return v;
    Val args[2] = {v, infer_val(in, object)}, out = {0};
    if (!v_text(in, &args[1])) return v;
    return v_partial(in, &(CallArgs){args, 2, 0, NULL}, &out) ? out : v;
}

/* p.norm(...), of a function that the class of p has: p is its first argument. */
static bool call_bound(Infer *in, const Binding *b, Ref attr, const CallArgs *args, bool *bound,
                       Val *out) {
    Ref object;
    Str name;
    *bound = v_attr_parts(in, attr, &object, &name);
    if (!*bound) return false;
    Val self = v_present(in, infer_val(in, object));
    *bound = (is_kind(&self, TY_TUPLE) || type_is_instance(self.f.type)) && self.f.type->cls &&
             type_field(self.f.type, name) < 0;
    if (*bound && type_is_instance(self.f.type)) *bound = instance_binds(in, self.f.type, name);
    if (!*bound) return false;
    Val *all = arena_array(in->arena, Val, args->nargs + 1);
    all[0] = self;
    for (int32_t i = 0; i < args->nargs; i++)
        all[i + 1] = args->args[i];
    CallArgs call = {all, args->nargs + 1, args->nkeywords, args->names};
    return call_function(in, b, &call, in->inst->library, out);
}

static bool is_optional_array(const Type *type) {
    return type && type->kind == TY_OPTIONAL && type->element->kind == TY_ARRAY;
}

/* Functions of arrays take what may be None for one: alone, or as the items of a tuple. */
static Val present_arrays(Infer *in, Val v) {
    const Type *t = v.f.type;
    bool any = false;
    if (is_optional_array(t)) return v_present(in, v);
    for (int32_t k = 0; t && t->kind == TY_TUPLE && k < t->nitems; k++)
        any |= is_optional_array(t->items[k]);
    if (!any || type_is_value(t)) return v;
    Val *items = arena_array(in->arena, Val, t->nitems);
    for (int32_t k = 0; k < t->nitems; k++)
        items[k] = present_arrays(in, v_item(in, v, k));
    return v_tuple(in, items, t->nitems);
}

/* Is argument number i, by position, an array and nothing else? By keyword, as out=, None may mean something. */
static bool takes_array(Str name, int32_t i) {
    static const char *const optional[] = {
        "numpy.average",   "numpy.bincount",  "numpy.clip",  "numpy.corrcoef",    "numpy.cov",
        "numpy.histogram", "numpy.trapezoid", "numpy.trapz", "numpy.searchsorted"};
    if (i > 0 && is_among(name, optional, countof(optional))) return false;
    return str_starts(name, "numpy.") || str_is(name, "builtins.max") ||
           str_is(name, "builtins.min");
}

/* Members that are ints are ints to the library, in shapes and in what becomes a list or set, too. */
static CallArgs numbers_of(Infer *in, const Binding *callee, const CallArgs *args) {
    CallArgs out = *args;
    static const char *const of_numbers[] = {"builtins.abs", "builtins.complex", "builtins.float",
                                             "builtins.int", "builtins.round"};
    static const char *const takers[] = {"builtins.list", "builtins.set", "builtins.sorted"};
    bool items_too = str_starts(callee->name, "numpy.") || str_starts(callee->name, "cuda.") ||
                     is_among(callee->name, takers, countof(takers));
    bool present = str_starts(callee->name, "math.") ||
                   is_among(callee->name, of_numbers, countof(of_numbers));
    Val *values = arena_array(in->arena, Val, args->nargs);
    for (int32_t i = 0; i < args->nargs; i++) {
        values[i] = v_number(in, present ? v_present(in, args->args[i]) : args->args[i]);
        v_as_members(in, &values[i]);
        if (i < args->nargs - args->nkeywords && takes_array(callee->name, i))
            values[i] = present_arrays(in, values[i]);
        const Type *t = values[i].f.type;
        bool any = false;
        for (int32_t k = 0; items_too && t->kind == TY_TUPLE && k < t->nitems; k++)
            any |= t->items[k]->kind == TY_MEMBER;
        if (!any) continue;
        Val *items = arena_array(in->arena, Val, t->nitems);
        for (int32_t k = 0; k < t->nitems; k++)
            items[k] = v_number(in, v_item(in, values[i], k));
        values[i] = v_tuple(in, items, t->nitems);
    }
    out.args = values;
    return out;
}

/* point(x): its method __call__ */
static bool call_with_instance(Infer *in, Val self, const CallArgs *args, Val *out) {
    bool found;
    Val *all = arena_array(in->arena, Val, args->nargs + 1);
    all[0] = self;
    for (int32_t i = 0; i < args->nargs; i++)
        all[i + 1] = args->args[i];
    bool done = !args->nkeywords &&
                v_instance_method(in, STR("__call__"), all, args->nargs + 1, &found, out);
    return done || (!in->stop && v_refuse(in, REFUSE_CALLEE, NULL, &self, 1));
}

bool v_call(Infer *in, Val callee, const CallArgs *args, Val *out) {
    if (is_kind(&callee, TY_OPTIONAL)) callee = v_unwrap(in, callee);
    const Binding *b = fact_object(&callee.f);
    CallArgs numbers, given = *args;
    bool bound, done;
    Ref object;
    if (!v_call_with_caught(in, b, &given, &done, out) || done) return !in->stop;
    args = &given;
    if (is_kind(&callee, TY_CHOICE)) return v_call_choice(in, callee, args, out);
    if (is_kind(&callee, TY_CLOSURE) && callee.f.type->fields)
        return v_call_partial(in, callee, args, out);
    if (is_kind(&callee, TY_CLOSURE)) return v_call_closure(in, callee, args, out);
    if (!b && type_is_instance(callee.f.type)) return call_with_instance(in, callee, args, out);
    if (!b) return v_refuse(in, REFUSE_CALLEE, NULL, &callee, 1);
    if ((b->kind == BIND_TYPE && !type_is_instance(b->type)) ||
        (b->kind == BIND_LIBRARY && !str_is(b->name, "builtins.isinstance") &&
         !str_is(b->name, "primitive.match_class")))
        numbers = numbers_of(in, b, args), args = &numbers;
    switch (b->kind) {
    case BIND_FUNCTION:
        if (callee.src && ir_inst(in->f, callee.src)->op == OP_comprehension)
            return call_comprehension(in, b, callee.src, args->args[0], out);
        if (call_bound(in, b, callee.src, args, &bound, out) || bound) return !in->stop;
        if (b->elementwise && v_any_array(args->args, args->nargs))
            return v_ufunc(in, b, args, out);
        return call_function(in, b, args, in->inst->library || b->stand_in, out);
    case BIND_LIBRARY:
        if (is_method(in, b, callee.src, &object)) return call_method(in, b, object, args, out);
        return call_library(in, b->name, args, out);
    case BIND_FOREIGN: return v_call_foreign(in, b, args, out);
    case BIND_OVERLOADED: return v_call_overloaded(in, callee, args, out);
    case BIND_TYPE: return v_type_call(in, b, args, out);
    case BIND_EXCEPTION: /* its arguments are read by `raise` */
        if (args->nkeywords)
            return ti_fail(in, in->at, E0101, "an exception with keyword arguments");
        if (b == fact_object(&in->facts[ir_arg(in->f, in->at, 0)]) &&
            (in->kernel || infer_only_raised(in, in->at)))
            return out->f = callee.f, true;
        return v_make_exception(in, b, args, out);
    default: return v_member_of_value(in, callee, args, out);
    }
}
