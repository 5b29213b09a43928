/* infer_exception.c - exceptions as values: what a handler has caught and something else keeps, and what is made without being
 * raised.
 *
 * As a rule a handler has what it caught in memory of its function (TY_CAUGHT), and a constructor stands in a raise statement. Where
 * an exception goes anywhere else (err = e, errors.append(e), a yield that it waits over, cls(x) as an argument), it is an object of
 * the class `exception`. A function whose handlers' exceptions are used so is told by the first such use, and all of inference begins
 * again (Ti.again): its handlers catch objects then.
 *
 * The type of the object says which exceptions it may be, as far as that is known: a tuple of pairs (class, types of the arguments),
 * none where there are too many. */
#include "typeinfer/infer.h"

enum { MOST_EXCEPTIONS = 24 };

/* -- types -------------------------------------------------------------------------------------------- */

bool type_is_exception(const Type *type) {
    return type_is_of(type, CLS_exception) && type->params[0]->kind != TY_bool;
}

bool type_is_exception_class(const Type *type) {
    return type_is_of(type, CLS_exception) && type->params[0]->kind == TY_bool;
}

/* Pairs in the order of their numbers, each once. -1: too many. */
static int32_t add_pair(const Type **pairs, int32_t n, const Type *pair) {
    int32_t at = 0;
    while (at < n && pairs[at]->id < pair->id)
        at++;
    if (at < n && pairs[at] == pair) return n;
    if (n == MOST_EXCEPTIONS) return -1;
    memmove(&pairs[at + 1], &pairs[at], sizeof *pairs * (size_t)(n - at));
    pairs[at] = pair;
    return n + 1;
}

static const Type *type_of_pairs(TypeTable *types, const Type **pairs, int32_t n) {
    const Type *what = n < 0 ? type_scalar(types, TY_none) : type_tuple(types, pairs, n);
    return type_class_of(types, CLS_exception, &what);
}

const Type *type_exceptions_joined(TypeTable *types, const Type *a, const Type *b) {
    const Type *pairs[MOST_EXCEPTIONS + 1];
    int32_t n = 0;
    for (int side = 0; side < 2; side++) {
        const Type *what = (side ? b : a)->params[0];
        if (what->kind != TY_TUPLE) n = -1;
        for (int32_t k = 0; n >= 0 && k < what->nitems; k++)
            n = add_pair(pairs, n, what->items[k]);
    }
    return type_of_pairs(types, pairs, n);
}

const Type *type_exception(TypeTable *types, const RaisedAt *const *found, int32_t count) {
    const Type *pairs[MOST_EXCEPTIONS + 1];
    int32_t n = 0;
    for (int32_t k = 0; n >= 0 && k < count; k++) {
        const Type *pair[2] = {type_object(types, found[k]->cls), found[k]->args};
        n = found[k]->cls ? add_pair(pairs, n, type_tuple(types, pair, 2)) : -1;
    }
    return type_of_pairs(types, pairs, n);
}

const Type *type_any_exception(TypeTable *types) {
    return type_of_pairs(types, NULL, -1);
}

const Type *type_raised_class(TypeTable *types, const Type *cls, const Type *other) {
    const Binding *b = cls->kind == TY_OBJECT ? cls->binding : NULL;
    if (!b || b->kind != BIND_EXCEPTION || !type_is_exception(other)) return cls;
    const RaisedAt made = {.cls = b, .args = type_tuple(types, NULL, 0)}, *only = &made;
    return type_exception(types, &only, 1);
}

Ref emit_raised_class(Emit *e, const Binding *cls, const Type *exception) {
    RaiseSite *site = arena_new(e->arena, RaiseSite);
    *site =
        (RaiseSite){.class_name = cls->name, .class_handle = cls->handle, .builtin = cls->builtin};
    Ref made = emit(e, OP_exception, lower_type(e->ti, exception), NULL, 0);
    ir_inst(e->out, made)->u.exception = site;
    return made;
}

/* -- handlers whose exceptions are objects ----------------------------------------------------------------- */

bool infer_keeps_caught(const Infer *in) {
    const FunctionInfo *info = in->inst->info;
    return info->code && map_find(in->ti->caught_kept, map_key(info->code->handle)) != NULL;
}

bool infer_keep_caught(Infer *in, Ref at) {
    const FunctionInfo *info = in->inst->info;
    if (!ti_has_objects(in) || !info->code || in->emit || infer_keeps_caught(in)) {
        ti_fail(in, at, E0101, "a caught exception as a value");
        return ti_advise(in, "it can be raised again (raise, raise e), its text is str(e), its "
                             "arguments are e.args"),
               false;
    }
    map_put(in->ti->caught_kept, map_key(info->code->handle))->num = 1;
    in->ti->again = true;
    return in->stop = STOP_ABORT, in->ti->aborted = true, false;
}

/* Does an exception in the memory of a handler come to the phi? */
bool infer_phi_of_caught(const Infer *in, Ref phi) {
    Bits seen = bits_new(in->arena, in->f->insts.len);
    Vec(Ref) todo = {0};
    vec_push(in->arena, &todo, phi);
    while (todo.len) {
        Ref ref = vec_pop(&todo);
        const Inst *inst = ir_inst(in->f, ref);
        if (in->facts[ref].type && in->facts[ref].type->kind == TY_CAUGHT) return true;
        if (inst->op != OP_phi || bits_get(&seen, ref)) continue;
        bits_set(&seen, ref);
        for (int32_t k = 0; k < inst->nargs; k++)
            vec_push(in->arena, &todo, ir_arg(in->f, ref, k));
    }
    return false;
}

/* A generator goes on in another call of its function: what its handlers hold over a yield does not lie in its memory. */
bool infer_yields_in_handler(const Infer *in) {
    if (!instance_is_generator(in->inst)) return false;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        if (ir_inst(in->f, ref)->op != OP_yield) continue;
        int32_t block = ir_inst(in->f, ref)->block;
        for (Ref caught = 1; caught < in->f->insts.len; caught++)
            if (ir_inst(in->f, caught)->op == OP_caught &&
                cfg_dominates(&in->cfg, ir_inst(in->f, caught)->block, block))
                return true;
    }
    return false;
}

/* -- what is made ------------------------------------------------------------------------------------------- */

/* Is the exception that the instruction makes only raised, so that it need not be a value? */
bool infer_only_raised(const Infer *in, Ref made) {
    bool any = false;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        const Inst *inst = ir_inst(in->f, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(in->f, ref, k) != made) continue;
            any = true;
            if (inst->op == OP_raise_py && k == 0) continue;
            const Inst *callee =
                inst->op == OP_call_py ? ir_inst(in->f, ir_arg(in->f, ref, 0)) : NULL;
            if (!callee || k == 0 || callee->op != OP_attr || !str_is(*callee->u.name, "throw"))
                return false;
        }
    }
    return any;
}

/* -- reading ---------------------------------------------------------------------------------------------- */

Ref v_exception_memory(Infer *in, Val exception) {
    Val at = {0};
    bool matched;
    if (!type_is_of(exception.f.type, CLS_exception)) return v_ref(in, exception);
    if (!v_row(in, STR("primitive.exception_at"), &exception, 1, &matched, &at)) return NO_REF;
    return v_ref(in, at);
}

void v_exception_held(Infer *in, Val exception) {
    if (in->emit && type_is_of(exception.f.type, CLS_exception))
        emit1(in->emit, OP_hold, NULL, v_ref(in, exception));
}

bool v_same_exception(Infer *in, Val a, Val b, Val *out) {
    Val at[2] = {{.f = fact_of(i64_type(in->types))}, {.f = fact_of(i64_type(in->types))}};
    bool matched;
    if (in->emit) at[0].ref = v_exception_memory(in, a), at[1].ref = v_exception_memory(in, b);
    if (!v_row(in, STR("primitive.exception_same"), at, 2, &matched, out)) return false;
    v_exception_held(in, a);
    v_exception_held(in, b);
    return true;
}
