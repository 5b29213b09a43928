/* infer_overload.c - functions, methods and attributes that libraries have implemented for types of their choice
 * (quern.extending). The resolver is asked with the types of the arguments, and answers with a Python function, which is called as
 * any other. They come before what the library of ours does. */
#include "typeinfer/infer.h"

/* -- asking --------------------------------------------------------------------------------------- */

static const OverloadArg *overload_args(Infer *in, const Fact *facts, int32_t n) {
    OverloadArg *args = arena_array(in->arena, OverloadArg, n + 1);
    for (int32_t i = 0; i < n; i++) {
        args[i] = (OverloadArg){.type = facts[i].type, .value = facts[i].value};
        if (facts[i].items && facts[i].type->kind == TY_TUPLE)
            args[i].items = overload_args(in, facts[i].items, facts[i].type->nitems);
    }
    return args;
}

static bool registered(const Infer *in, OverloadKind kind, Str name) {
    Resolver *r = in->ti->resolver;
    return r->overloads && r->overload && r->overloads(r->user, kind, name);
}

/* NULL: a Python exception is pending. */
static const Overload *ask(Infer *in, OverloadKind kind, const Binding *callee, Str name,
                           const CallArgs *args) {
    Fact *facts = arena_array(in->arena, Fact, args->nargs + 1);
    for (int32_t i = 0; i < args->nargs; i++)
        facts[i] = args->args[i].f;
    OverloadQuery query = {
        kind,        callee,          name,       overload_args(in, facts, args->nargs),
        args->nargs, args->nkeywords, args->names};
    const Overload *found = in->ti->resolver->overload(in->ti->resolver->user, &query);
    if (!found) in->stop = STOP_ABORT;
    return found;
}

/* Containers of nobody knows what yet cannot be asked about. */
static bool is_known(const CallArgs *args) {
    for (int32_t i = 0; i < args->nargs; i++)
        if (!args->args[i].f.type || args->args[i].f.type->open) return false;
    return true;
}

/* An implementation that calls what it implements, for the same types, means what was there before. */
static bool usable(const Infer *in, const Overload *found) {
    return found->function && found->function != in->inst->function;
}

/* -- calls ---------------------------------------------------------------------------------------- */

bool v_overload(Infer *in, Str name, const CallArgs *args, bool *taken, Val *out) {
    *taken = registered(in, OVERLOAD_CALL, name);
    if (!*taken) return false;
    if (!is_known(args)) return in->stop = STOP_UNKNOWN, false;
    const Overload *found = ask(in, OVERLOAD_CALL, NULL, name, args);
    *taken = !found || usable(in, found);
    return found && *taken && call_function(in, found->function, args, found->literals, out);
}

bool v_overload_operator(Infer *in, const char *name, const Val *args, int32_t n, bool *taken,
                         Val *out) {
    return v_overload(in, str_from(name), &(CallArgs){args, n, 0, NULL}, taken, out);
}

bool v_overload_binary(Infer *in, const char *name, bool in_place, Val a, Val b, bool *taken,
                       Val *out) {
    Val args[2] = {a, b};
    Str word = {name + strlen("operator."), (int32_t)strlen(name + strlen("operator."))};
    bool contains = str_is(word, "contains"); /* `x in xs` is contains(xs, x) */
    if (contains) args[0] = b, args[1] = a;
    CallArgs call = {args, 2, 0, NULL};
    *taken = false;
    Str own = str_printf(in->arena, "operator.i" STR_FMT, STR_ARG(word));
    if (in_place && (v_overload(in, own, &call, taken, out) || *taken)) return !in->stop;
    return v_overload(in, str_from(name), &call, taken, out);
}

bool is_overloaded(const Infer *in, const Binding *callee) {
    return callee->kind == BIND_OVERLOADED ||
           (callee->kind == BIND_LIBRARY && registered(in, OVERLOAD_CALL, callee->name));
}

static void tell_reasons(Infer *in, Str reasons) {
    if (reasons.len) diag_note(in->diags, NULL, STR_FMT, STR_ARG(reasons));
}

void v_overload_reasons(Infer *in, Str name, const CallArgs *args) {
    if (!in->report || !registered(in, OVERLOAD_CALL, name) || !is_known(args)) return;
    const Overload *found = ask(in, OVERLOAD_CALL, NULL, name, args);
    if (found && !found->function) tell_reasons(in, found->reasons);
}

/* The object that a method was taken of comes first. */
static bool method_args(Infer *in, Ref attr, CallArgs *args) {
    Ref object;
    Str name;
    if (!v_attr_parts(in, attr, &object, &name)) return false;
    Val *all = arena_array(in->arena, Val, args->nargs + 1);
    all[0] = v_present(in, infer_val(in, object));
    for (int32_t i = 0; i < args->nargs; i++)
        all[i + 1] = args->args[i];
    args->args = all;
    args->nargs++;
    return true;
}

bool v_call_overloaded(Infer *in, Val callee, const CallArgs *given, Val *out) {
    const Binding *b = fact_object(&callee.f);
    CallArgs args = *given;
    OverloadKind kind = b->handle ? OVERLOAD_CALL : OVERLOAD_METHOD;
    if (!b->handle && !method_args(in, callee.src, &args))
        return v_refuse(in, REFUSE_CALLEE, NULL, &callee, 1);
    if (!is_known(&args)) return in->stop = STOP_UNKNOWN, false;
    const Overload *found = ask(in, kind, b->handle ? b : NULL, b->name, &args);
    if (!found) return false;
    if (found->function) return call_function(in, found->function, &args, found->literals, out);
    v_refuse(in, REFUSE_CALL, ti_c_text(in, b->name), args.args, args.nargs);
    if (in->report) tell_reasons(in, found->reasons);
    return false;
}

/* -- attributes ----------------------------------------------------------------------------------- */

bool v_overload_attr(Infer *in, Val a, Str name, bool *taken, Val *out) {
    CallArgs self = {&a, 1, 0, NULL};
    *taken = false;
    bool attribute = registered(in, OVERLOAD_ATTRIBUTE, name);
    bool method = registered(in, OVERLOAD_METHOD, name);
    if (!(attribute || method) || !is_known(&self)) return false;
    const Overload *found = attribute ? ask(in, OVERLOAD_ATTRIBUTE, NULL, name, &self) : NULL;
    if (attribute && (*taken = !found || usable(in, found)))
        return found && call_function(in, found->function, &self, found->literals, out);
    found = method ? ask(in, OVERLOAD_HAS_METHOD, NULL, name, &self) : NULL;
    *taken = method && (!found || found->found);
    if (!found || !found->found) return false;
    const Binding *b = ti_object(in->ti, BIND_OVERLOADED, name, NULL);
    return *out = (Val){.f = fact_of(type_object(in->types, b)), .src = in->at}, true;
}
