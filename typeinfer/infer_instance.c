/* infer_instance.c - instances of classes of the user's (@jitclass): fields, methods, properties and operators.
 *
 * An instance is an object whose fields its own type has (type_instance). Everything else of the class is asked of the resolver,
 * one name at a time: methods are functions that get the instance, operators are methods with Python's names. A field that holds an
 * object is empty until it is assigned, and reading it then raises. */
#include "typeinfer/infer.h"

/* -- making one ------------------------------------------------------------------------------------ */

static const Binding *class_member(Infer *in, const Type *cls, Str name, bool setter,
                                   MemberKind *kind) {
    Resolver *r = in->ti->resolver;
    const Binding *b = r->member ? r->member(r->user, cls->cls, name, setter, kind) : NULL;
    if (!b) in->stop = STOP_ABORT;
    return b;
}

/* With fields that are zeros, and objects that were never assigned. */
static bool allocate(Infer *in, const Type *type, const char *what, Val *out) {
    *out = val_of(fact_of(type));
    if (!ti_may_allocate(in, what)) return false;
    if (!in->emit) return true;
    Ref *fields = arena_array(in->arena, Ref, type->nitems + 1);
    for (int32_t i = 0; i < type->nitems; i++)
        fields[i] = emit_zero(in->emit, type->declared[i]);
    out->ref = emit(in->emit, OP_new, type, fields, type->nitems);
    return true;
}

bool v_new_struct(Infer *in, Val type, Val *out) {
    const Binding *b = fact_object(&type.f);
    if (!b || b->kind != BIND_TYPE || !type_is_instance(b->type))
        return v_refuse(in, REFUSE_CALL, "structref.new", &type, 1);
    return allocate(in, b->type, "a structref", out);
}

bool v_new_instance(Infer *in, const Binding *cls, const CallArgs *args, Val *out) {
    const Type *type = cls->type;
    MemberKind kind;
    Val self = {0}, nothing = {0};
    if (!allocate(in, type, "an instance of a class", &self)) return false;
    const Binding *init = class_member(in, type, STR("__init__"), false, &kind);
    if (!init) return false;
    if (init->kind != BIND_FUNCTION)
        return ti_fail(in, in->at, E0101, "a class without a method __init__ of its own");
    Val *all = arena_array(in->arena, Val, args->nargs + 1);
    all[0] = self;
    for (int32_t i = 0; i < args->nargs; i++)
        all[i + 1] = args->args[i];
    CallArgs call = {all, args->nargs + 1, args->nkeywords, args->names};
    if (!call_function(in, init, &call, in->inst->library, &nothing)) return false;
    if (nothing.f.type && nothing.f.type->kind != TY_none)
        return ti_fail(in, in->at, E0206, "make an instance",
                       str_printf(in->arena, "__init__() should return None, not %s",
                                  ti_text(in, nothing.f.type))
                           .bytes);
    return *out = self, true;
}

/* -- fields ---------------------------------------------------------------------------------------- */

/* The object in a value that tells whether the value was assigned. */
static Ref emit_probe(Emit *e, const Type *type, Ref ref) {
    while (type->kind == TY_TUPLE) {
        int32_t k = 0;
        while (k < type->nitems && type->items[k]->kind != TY_CLASS &&
               (type->items[k]->kind != TY_TUPLE || !type->items[k]->counted))
            k++;
        if (k == type->nitems) return NO_REF;
        ref = emit_item(e, ref, k);
        type = type->items[k];
    }
    return type->kind == TY_CLASS ? ref : NO_REF;
}

static bool get_field(Infer *in, Val self, int32_t field, Val *out) {
    const Type *cls = self.f.type, *type = cls->declared[field];
    Emit *e = in->emit;
    *out = val_of(fact_of(type));
    if (!e) return true;
    out->ref = emit1(e, OP_field, cls->items[field], v_ref(in, self));
    ir_inst(e->out, out->ref)->imm = field;
    Ref probe = type->counted ? emit_probe(e, type, out->ref) : NO_REF;
    if (!probe) return true;
    Ref none = emit_zero(e, ir_type(e->out, probe));
    Ref unset = emit2(e, OP_same_array, bool_type(in->types), probe, none);
    emit_guard(e, GUARD_unset_field, unset, NULL, 0);
    return true;
}

/* Who else knows the value? */
static bool is_used_once(const Infer *in, Ref ref) {
    int32_t uses = 0;
    for (Ref user = 1; user < in->f->insts.len; user++)
        for (int32_t k = 0; k < ir_inst(in->f, user)->nargs; k++)
            uses += ir_arg(in->f, user, k) == ref;
    return uses == 1;
}

/* list(xs), [f(x) for x in xs] and their like, assigned to a field that holds a shared list: nobody else has it, so that a copy is as good. */
static bool as_shared(Infer *in, const Type *type, Val *value) {
    static const char *const fillers[CLS_COUNT] = {
        [CLS_list] = "list.extend", [CLS_dict] = "dict.update", [CLS_set] = "set.update"};
    const Type *from = value->f.type;
    if (type->kind != TY_CLASS || !type->shared || from->kind != TY_CLASS || from->shared ||
        from->bits != type->bits || from->variant || from->open || !fillers[from->bits] ||
        !value->src || !is_used_once(in, value->src))
        return true;
    Val args[2] = {{.ref = NO_REF}, *value}, ignored;
    CallArgs call = {args, 2, 0, NULL};
    if (!v_empty(in, type, &args[0])) return false;
    if (!v_library(in, fillers[from->bits], &call, &ignored)) return false;
    *value = args[0];
    return true;
}

static bool store_field(Infer *in, Val self, int32_t field, Val value) {
    const Type *cls = self.f.type, *type = cls->declared[field];
    if (!in->emit && container_becomes(in, type, &value)) return true;
    if (!can_convert(value.f.type, type) && !as_shared(in, type, &value)) return false;
    if (!can_convert(value.f.type, type)) {
        if (value.f.type->open) return in->stop = STOP_UNKNOWN, false;
        const char *what = str_printf(in->arena, "the field '" STR_FMT "' of %s",
                                      STR_ARG(cls->fields[field]), ti_text(in, type))
                               .bytes;
        ti_fail(in, in->at, E0208, ti_text(in, value.f.type), what);
        if (type->kind == TY_CLASS && type->shared && value.f.type->kind == TY_CLASS)
            ti_advise(in, "what is in a field is shared with Python: make a typed.List, typed.Dict "
                          "or typed.Set of it");
        return false;
    }
    if (!in->emit) return true;
    Ref ref = emit2(in->emit, OP_set_field, NULL, v_ref(in, self), v_as(in, value, type));
    ir_inst(in->emit->out, ref)->imm = field;
    return true;
}

bool v_instance_attr(Infer *in, Val self, Str name, bool *found, Val *out) {
    int32_t field = type_field(self.f.type, name);
    MemberKind kind;
    *found = true;
    if (field >= 0) return get_field(in, self, field, out);
    const Binding *b = class_member(in, self.f.type, name, false, &kind);
    if (!b) return false;
    *found = b->kind != BIND_MISSING;
    if (!*found) return false;
    CallArgs call = {&self, 1, 0, NULL};
    if (b->kind == BIND_FUNCTION && kind == MEMBER_PROPERTY)
        return call_function(in, b, &call, in->inst->library, out);
    *out = (Val){.src = kind == MEMBER_METHOD ? in->at : NO_REF};
    return fact_of_binding(in, b, name, &out->f);
}

bool v_set_instance_attr(Infer *in, Val self, Str name, Val value) {
    int32_t field = type_field(self.f.type, name);
    MemberKind kind;
    if (field >= 0) return store_field(in, self, field, value);
    const Binding *b = class_member(in, self.f.type, name, true, &kind);
    if (!b) return false;
    Val args[2] = {self, value}, nothing;
    CallArgs call = {args, 2, 0, NULL};
    if (b->kind == BIND_FUNCTION) return call_function(in, b, &call, in->inst->library, &nothing);
    ti_fail(in, in->at, E0203, ti_text(in, self.f.type), ti_c_text(in, name));
    ti_advise(in, "the fields of a @jitclass are those of its specification and its annotations");
    return false;
}

/* -- methods --------------------------------------------------------------------------------------- */

/* Of a class of the user's: an instance of a @jitclass, a dataclass or a named tuple. */
static bool is_of_user(const Type *type) {
    if (!type || !type->cls) return false;
    return type_is_instance(type) || (type->kind == TY_TUPLE && !type_is_random(type));
}

/* What dataclass and namedtuple write looks at the class: compiled code has that of its own. */
static bool is_written_by_python(Infer *in, const Binding *method) {
    const FunctionInfo *info = ti_function_info(in->ti, method);
    static const char *const files[] = {"collections/__init__.py", "dataclasses.py", "reprlib.py"};
    bool written = !info || str_is(info->code->file, "<string>");
    for (int i = 0; !written && i < countof(files); i++)
        written = str_ends(info->code->file, files[i]);
    return written;
}

bool v_instance_method(Infer *in, Str name, const Val *args, int32_t n, bool *found, Val *out) {
    MemberKind kind;
    const Binding *b = class_member(in, args[0].f.type, name, false, &kind);
    *found = b && b->kind == BIND_FUNCTION && kind == MEMBER_METHOD;
    if (*found && !type_is_instance(args[0].f.type)) *found = !is_written_by_python(in, b);
    CallArgs call = {(Val *)args, n, 0, NULL};
    return *found && call_function(in, b, &call, in->inst->library, out);
}

bool v_value_made(Infer *in, Val made) {
    bool found = false;
    Val ignored;
    if (!type_is_value(made.f.type) || type_is_keyed(made.f.type) || !made.f.type->cls) return true;
    return v_instance_method(in, STR("__post_init__"), &made, 1, &found, &ignored) ||
           (!found && !in->stop);
}

bool instance_binds(Infer *in, const Type *cls, Str name) {
    MemberKind kind;
    const Binding *b = class_member(in, cls, name, false, &kind);
    return b && b->kind == BIND_FUNCTION && kind == MEMBER_METHOD;
}

static bool named(Infer *in, const char *before, const char *name, const char *after,
                  const Val *args, int32_t n, bool *found, Val *out) {
    Str method = str_printf(in->arena, "__%s%s%s", before, name, after);
    return v_instance_method(in, method, args, n, found, out);
}

static const char *operator_word(Operator op) {
    static const char *const words[OPR_COUNT] = {
#define OPERATOR(name, symbol, verb, method) [OPR_##name] = #name,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
    };
    return words[op];
}

/* Comparisons ask the right operand by the operator that is turned round. */
static Operator turned(Operator op) {
    switch (op) {
    case OPR_lt: return OPR_gt;
    case OPR_gt: return OPR_lt;
    case OPR_le: return OPR_ge;
    case OPR_ge: return OPR_le;
    default: return op;
    }
}

bool v_instance_unary(Infer *in, Operator op, Val a, bool *found, Val *out) {
    *found = false;
    if (!is_of_user(a.f.type) || op == OPR_not) return false;
    return named(in, "", operator_word(op), "__", &a, 1, found, out);
}

/* a != b of what has a method for == alone; not of named tuples, to which tuple gives one. */
static bool not_equal(Infer *in, Val a, Val b, bool *found, Val *out) {
    Val truth = {0};
    *found = false;
    if (!type_is_instance(a.f.type) && !type_is_value(a.f.type)) return false;
    bool done = named(in, "", "eq", "__", (Val[]){a, b}, 2, found, out);
    return *found && done && v_truth(in, *out, &truth) && v_unary(in, OPR_not, truth, out);
}

/* Equal are two instances without a method for it when they are one. */
static bool same_instance(Infer *in, Operator op, Val a, Val b, bool *found, Val *out) {
    *found = op == OPR_eq || op == OPR_ne;
    return *found && v_is(in, op == OPR_ne, a, b, out);
}

bool v_instance_operator(Infer *in, Operator op, bool in_place, Val a, Val b, bool *found,
                         Val *out) {
    bool left = is_of_user(a.f.type), right = is_of_user(b.f.type);
    bool compares = op >= OPR_lt && op <= OPR_ge, done;
    *found = false;
    if ((!left && !right) || op == OPR_is || op == OPR_is_not || op >= OPR_contains) return false;
    Val args[2] = {a, b}, turned_args[2] = {b, a};
    if (left && in_place) {
        done = named(in, "i", operator_word(op), "__", args, 2, found, out);
        if (*found || in->stop) return done;
    }
    if (left) {
        done = named(in, "", operator_word(op), "__", args, 2, found, out);
        if (*found || in->stop) return done;
    }
    if (right) {
        done = named(in, compares ? "" : "r", operator_word(turned(op)), "__", turned_args, 2,
                     found, out);
        if (*found || in->stop) return done;
    }
    if (left && op == OPR_ne && (not_equal(in, a, b, found, out) || *found || in->stop))
        return !in->stop;
    if (!type_is_instance(a.f.type) && !type_is_instance(b.f.type)) return false;
    return same_instance(in, op, a, b, found, out);
}

/* abs(x), int(x), hash(x), str(x): the method of that name, if there is one. */
/* complex(x), float(x) and int(x) make do with other methods, as in Python. */
static bool in_place_of(Infer *in, Str name, const char *word, const CallArgs *args, bool *found,
                        Val *out) {
    static const char *const numbers[] = {"complex", "float", "int"};
    static const char *const methods[] = {"float", "index"};
    Val number = {0};
    bool any = false;
    for (int k = 0; k < countof(numbers); k++)
        any |= !strcmp(word, numbers[k]);
    for (int k = strcmp(word, "complex") ? 1 : 0; any && k < countof(methods); k++) {
        bool done = named(in, "", methods[k], "__", args->args, args->nargs, found, &number);
        if (!done && (*found || in->stop)) return false;
        if (!done) continue;
        CallArgs given = {&number, 1, 0, NULL};
        return v_library(in, ti_c_text(in, name), &given, out);
    }
    return false;
}

bool v_instance_builtin(Infer *in, Str name, const CallArgs *args, bool *found, Val *out) {
    static const char *const modules[] = {"builtins.", "operator.", "math."};
    static const char *const others[] = {"isinstance", "bool", "getattr", "hasattr", "type"};
    *found = false;
    if (!args->nargs || args->nkeywords || !is_of_user(args->args[0].f.type)) return false;
    for (int i = 0; i < countof(modules); i++) {
        if (!str_starts(name, modules[i])) continue;
        const char *word = ti_c_text(in, name) + strlen(modules[i]);
        for (int k = 0; k < countof(others); k++)
            if (!strcmp(word, others[k])) return false;
        if (named(in, "", word, "__", args->args, args->nargs, found, out)) return true;
        if (!type_is_instance(args->args[0].f.type)) return false;
        return !*found && !in->stop && in_place_of(in, name, word, args, found, out);
    }
    return false;
}

bool v_instance_truth(Infer *in, Val a, Val *out) {
    static const char *const names[] = {"__bool__", "__len__"};
    bool found;
    Val answer = {0};
    for (int i = 0; i < countof(names); i++) {
        bool done = v_instance_method(in, str_from(names[i]), &a, 1, &found, &answer);
        if (found || in->stop) return done && v_truth(in, answer, out);
    }
    return *out = val_of(fact_bool(in, true)), true;
}
