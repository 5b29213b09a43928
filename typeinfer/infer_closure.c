/* infer_closure.c - functions that compiled code makes, and functions as values.
 *
 * A def or a lambda that takes values along has a type of its own: the function with the types of these. In typed code it is the
 * tuple of them, so it is passed, returned and stored as that. A call of it is a call of an instance that gets
 * them behind its arguments: defaults first, then variables, in the order of NestedFunction. What is called is
 * always known when the program is compiled, and can be inlined; or one of a few (infer_choice.c).
 *
 * Functions of one scope that name each other are not among these values: each makes the others of what it has. */
#include "typeinfer/infer.h"

bool v_callable(const Val *v) {
    return fact_object(&v->f) || is_kind(v, TY_CLOSURE) || is_kind(v, TY_CHOICE);
}

bool type_is_fresh(const Type *type) {
    if (type->kind == TY_CLOSURE && type->bits) return true;
    bool items = type->kind == TY_TUPLE || type->kind == TY_CLOSURE;
    for (int32_t i = 0; items && i < type->nitems; i++)
        if (type_is_fresh(type->items[i])) return true;
    return (type->kind == TY_ITER || type->kind == TY_OPTIONAL) && type_is_fresh(type->element);
}

/* What makes the functions in it is to use cells. */
static void keep(Infer *in, const Type *type) {
    if (type->kind == TY_CLOSURE && type->bits) {
        MapValue *maker = map_find(&in->ti->makers, map_key(type->binding));
        if (maker) map_put(in->ti->kept, map_key(maker->ptr))->num = 1;
        if (maker) unroll_forget(in->ti, maker->ptr);
        in->ti->again |= maker != NULL;
    }
    bool items = type->kind == TY_TUPLE || type->kind == TY_CLOSURE;
    for (int32_t i = 0; items && i < type->nitems; i++)
        keep(in, type->items[i]);
    if (type->kind == TY_ITER || type->kind == TY_OPTIONAL) keep(in, type->element);
}

bool v_refuse_fresh(Infer *in, const Type *type) {
    if (!type_is_fresh(type)) return true;
    if (ti_has_objects(in)) keep(in, type);
    if (in->ti->again) return in->stop = STOP_ABORT, in->ti->aborted = true, false;
    ti_fail(in, in->at, E0101, "keeping a function while a variable of it is assigned again");
    ti_advise(in,
              "give the function the value as a parameter: def f(x, y=y); without that it can be "
              "called and passed on");
    return false;
}

const NestedFunction *ti_nested(Ti *ti, const Binding *function) {
    MapValue *known = map_find(&ti->made, map_key(function));
    return known ? known->ptr : NULL;
}

static Val closure_of(Infer *in, const Binding *function, const NestedFunction *nested,
                      const Val *items, int32_t n, bool fresh) {
    Val out = v_tuple(in, items, n);
    for (int32_t i = 0; i < n; i++)
        fresh |= type_is_fresh(items[i].f.type);
    out.f.type = type_closure(in->types, function, nested, out.f.type->items, n, fresh);
    return out;
}

static bool bind_nested(Infer *in, const ConstVal *code, const Binding **out) {
    Fact fact;
    if (!fact_of_code(in, code, "a nested function", &fact)) return false;
    *out = fact.type->binding;
    map_put(&in->ti->made, map_key(*out))->ptr = code->function;
    return true;
}

bool v_function(Infer *in, Ref made, Val *out) {
    const Inst *inst = ir_inst(in->f, made);
    int32_t n = inst->nargs;
    Val *items = arena_array(in->arena, Val, n);
    const Binding *function;
    if (!bind_nested(in, inst->u.value, &function)) return false;
    map_put(&in->ti->makers, map_key(function))->ptr = in->inst->info->code->handle;
    for (int32_t k = 0; k < n; k++)
        if (!infer_operand(in, made, k, &items[k])) return false;
    *out = closure_of(in, function, inst->u.value->function, items, n, inst->sub == FLAG_FRESH);
    out->src = made;
    return true;
}

/* -- inside of one ---------------------------------------------------------------------------------- */

/* Value number k of what the function being inferred has taken along. */
static Val own_item(Infer *in, int32_t k) {
    const Slot *slot = &in->inst->slots[instance_nslots(in->inst->info->code) + k];
    Val out = val_of(slot->fact);
    if (in->emit && slot->count) out.ref = in->emit->params[slot->first];
    return out;
}

static bool own_variable(Infer *in, const NestedFunction *own, Str name, Val *out) {
    for (int32_t k = 0; k < own->nvariables; k++)
        if (str_equal(own->variables[k], name))
            return *out = own_item(in, own->ndefaults + k), true;
    return false;
}

/* A function of the same scope, or this one itself: its computed defaults are known to itself alone. */
static bool sibling_default(Infer *in, const NestedFunction *own, const NestedFunction *other,
                            int32_t k, Str name, Val *out) {
    if (own == other) return *out = own_item(in, k), true;
    *out = (Val){0};
    if (other->defaults[k]) return fact_of_const(in, other->defaults[k], &out->f);
    Str what = str_printf(in->arena,
                          "a default of " STR_FMT ", which is computed, in a function beside it",
                          STR_ARG(name));
    return ti_fail(in, in->at, E0101, what.bytes);
}

static bool sibling(Infer *in, const NestedFunction *own, const ConstVal *code, Str name,
                    Val *out) {
    const NestedFunction *other = code->function;
    const Binding *function;
    int32_t n = other->ndefaults + other->nvariables;
    Val *items = arena_array(in->arena, Val, n);
    if (!bind_nested(in, code, &function)) return false;
    for (int32_t k = 0; k < other->ndefaults; k++)
        if (!sibling_default(in, own, other, k, name, &items[k])) return false;
    for (int32_t k = 0; k < other->nvariables; k++)
        if (!own_variable(in, own, other->variables[k], &items[other->ndefaults + k]))
            return ti_fail(in, in->at, E0101, "a nested function");
    return *out = closure_of(in, function, other, items, n, false), true;
}

bool v_closure_variable(Infer *in, const NestedFunction *own, Str name, Val *out) {
    if (own_variable(in, own, name, out)) return true;
    for (int32_t k = 0; k < own->nfunctions; k++)
        if (str_equal(own->function_names[k], name))
            return sibling(in, own, own->functions[k], name, out);
    return ti_fail(in, in->at, E0201, ti_c_text(in, name));
}

/* -- functools.partial --------------------------------------------------------------------------------- */

Fact fact_of_partial(Infer *in, const Fact *items, const Str *names) {
    const Binding *partial = ti_object(in->ti, BIND_LIBRARY, STR("functools.partial"), NULL);
    Fact out = *items;
    out.type = type_partial(in->types, partial, items->type->items, items->type->nitems, names);
    return out;
}

bool v_partial(Infer *in, const CallArgs *args, Val *out) {
    int32_t named = args->nargs - args->nkeywords;
    if (named < 1 || !v_callable(&args->args[0]))
        return v_refuse(in, REFUSE_CALL, "functools.partial", args->args, args->nargs),
               ti_advise(in, "its function must be known when the program is compiled"), false;
    Str *names = arena_array(in->arena, Str, args->nargs);
    for (int32_t k = 0; k < args->nkeywords; k++)
        names[named + k] = args->names[k];
    *out = v_tuple(in, args->args, args->nargs);
    out->f = fact_of_partial(in, &out->f, names);
    return true;
}

static bool is_among(const Str *names, int32_t n, Str name) {
    for (int32_t k = 0; k < n; k++)
        if (str_equal(names[k], name)) return true;
    return false;
}

/* A keyword of the call goes before the same one of partial(). */
bool v_call_partial(Infer *in, Val partial, const CallArgs *args, Val *out) {
    const Type *type = partial.f.type;
    int32_t n = 0, named = 0, positional = args->nargs - args->nkeywords;
    Val *all = arena_array(in->arena, Val, type->nitems + args->nargs);
    Str *names = arena_array(in->arena, Str, type->nitems + args->nkeywords);
    for (int32_t k = 1; k < type->nitems; k++)
        if (!type->fields[k].len) all[n++] = v_item(in, partial, k);
    for (int32_t k = 0; k < positional; k++)
        all[n++] = args->args[k];
    for (int32_t k = 1; k < type->nitems; k++) {
        if (!type->fields[k].len || is_among(args->names, args->nkeywords, type->fields[k]))
            continue;
        names[named++] = type->fields[k];
        all[n++] = v_item(in, partial, k);
    }
    for (int32_t k = 0; k < args->nkeywords; k++) {
        names[named++] = args->names[k];
        all[n++] = args->args[positional + k];
    }
    Val function = v_item(in, partial, 0);
    return v_call(in, function, &(CallArgs){all, n, named, names}, out);
}
