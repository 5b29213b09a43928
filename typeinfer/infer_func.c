/* infer_func.c - instances: a Python function with the types of its arguments, made once each.
 *
 * Defaults become constants of the instance, so that `None` and shapes given as defaults steer it.
 * Arguments that are passed are only typed, except to functions of our own library, which are small
 * and choose by constants (axis=0, dtype names): those see the constants too, to a certain depth. */
#include "typeinfer/infer_made.h"
#include "typeinfer/known.h"

enum { CONSTANT_DEPTH = 64, MAX_DEPTH = 200, MAX_CHAIN = 8, MAX_INSTANCES = 20000 };

/* -- keys ----------------------------------------------------------------------------------------- */

static uint64_t key_hash(const Binding *function, const Slot *slots, int32_t n) {
    uint64_t h = hash_mix(map_key(function));
    for (int32_t i = 0; i < n; i++) {
        const Type *type = slots[i].fact.type; /* NULL: reported */
        h = hash_mix(h * 31 + (type ? (uint64_t)type->id : 0));
        int64_t value;
        if (fact_int_value(&slots[i].fact, &value)) h = hash_mix(h + (uint64_t)value);
    }
    return h;
}

static bool same_key(const Instance *a, const Binding *function, const Signature *declared,
                     const Slot *slots, int32_t n) {
    if (a->function != function || a->declared != declared || a->nslots != n) return false;
    for (int32_t i = 0; i < n; i++)
        if (a->slots[i].count != slots[i].count || !fact_equal(&a->slots[i].fact, &slots[i].fact))
            return false;
    return true;
}

/* The instance with these slots; `slots` is kept when it is new. */
static Instance *instance_find(Ti *ti, const Binding *function, const FunctionInfo *info,
                               const Signature *declared, Slot *slots, int32_t n) {
    uint64_t hash = key_hash(function, slots, n);
    MapValue *newest = map_put(&ti->by_key, hash);
    for (int32_t i = (int32_t)newest->num; i > 0; i = ti->key_next.items[i - 1])
        if (same_key(ti->instances.items[i - 1], function, declared, slots, n))
            return ti->instances.items[i - 1];
    Instance *inst = arena_new(ti->arena, Instance);
    *inst = (Instance){
        .function = function, .info = info, .declared = declared, .slots = slots, .nslots = n};
    inst->serial = ti->instances.len;
    diag_init(&inst->diags, ti->arena);
    for (int32_t i = 0; i < n; i++) {
        slots[i].first = inst->ntyped;
        inst->ntyped += slots[i].count;
    }
    vec_push(ti->arena, &ti->instances, inst);
    vec_push(ti->arena, &ti->key_next, (int32_t)newest->num);
    map_put(&ti->by_key, hash)->num = ti->instances.len;
    return inst;
}

const FunctionInfo *ti_function_info(Ti *ti, const Binding *function) {
    if (!function->handle) return row_function_info(function);
    return ti->resolver->code(ti->resolver->user, function);
}

/* -- binding arguments to parameters --------------------------------------------------------------- */

int32_t instance_nslots(const CodeUnit *code) {
    return code->nargs + code->nkwonly + ((code->flags & CODE_VARARGS) != 0);
}

/* What the instance may know of an argument that is passed. */
static Fact passed_fact(Infer *in, const Fact *f, bool constants) {
    if (f->reported) return fact_reported();
    if (constants && fact_is_const(f) && !f->array) return *f;
    Fact typed = fact_of(f->type);
    /* the library hands tuples of arguments on, of which some are known */
    if (constants && in->inst->library && f->type && f->type->kind == TY_TUPLE && f->items) {
        Fact *items = arena_array(in->arena, Fact, f->type->nitems);
        for (int32_t k = 0; k < f->type->nitems; k++) {
            items[k] = passed_fact(in, &f->items[k], true);
            if (fact_is_const(&items[k]) || items[k].items) typed.items = items;
        }
    }
    /* compile-time parts have no run-time form: keep them */
    if (fact_is_const(f) && (f->type->kind == TY_SLICE)) typed.items = f->items;
    /* arrays that a kernel makes have constant shapes, of which others are made */
    if (f->type && f->type->kind == TY_ARRAY) typed.items = f->items;
    return typed;
}

static bool fill_default(Infer *in, const FunctionInfo *info, const Binding *function, int32_t i,
                         Slot *slot) {
    const Binding *value = info->defaults ? info->defaults[i] : NULL;
    Str name = info->code->local_names[i];
    if (!value) return v_missing_argument(in, function->name, name);
    return fact_of_binding(in, value, name, &slot->fact);
}

/* What is called; `closure`: with the values that it has taken along. */
typedef struct Callee {
    const Binding *function;
    const Val *closure;
} Callee;

/* Defaults for parameters that get no argument, and all values behind the parameters. */
static void take_along(Infer *in, const Val *closure, int32_t nparams, Bound *out) {
    const NestedFunction *nested = closure->f.type->cls;
    for (int32_t k = 0; k < closure->f.type->nitems; k++) {
        int32_t param = k < nested->ndefaults ? nested->default_params[k] : nparams;
        out->values[nparams + k] = v_item(in, *closure, k);
        out->given[nparams + k] = true;
        if (param >= nparams || out->given[param]) continue;
        out->values[param] = out->values[nparams + k];
        out->given[param] = true;
    }
}

/* Which value each parameter gets. */
static bool bind_args(Infer *in, const FunctionInfo *info, const Callee *callee,
                      const CallArgs *args, bool constants, Bound *out) {
    const CodeUnit *code = info->code;
    const Binding *function = callee->function;
    int32_t n = instance_nslots(code), positional = args->nargs - args->nkeywords;
    int32_t more = callee->closure ? callee->closure->f.type->nitems : 0;
    bool varargs = code->flags & CODE_VARARGS;
    if (code->flags & CODE_VARKEYWORDS)
        return ti_fail(in, in->at, E0101, "a function with a **keywords parameter");
    *out = (Bound){arena_array(in->arena, Slot, n + more), arena_array(in->arena, Val, n + more),
                   arena_array(in->arena, bool, n + more), n + more};
    bool *given = out->given;
    Params params = {code->nargs, code->nposonly, code->nkwonly, varargs};
    int32_t *source = arena_array(in->arena, int32_t, n + 1);
    if (!v_bind(in, function->name, &params, code->local_names, args, source)) return false;
    for (int32_t i = 0; i < code->nargs + code->nkwonly; i++) {
        given[i] = source[i] >= 0;
        if (given[i]) out->values[i] = args->args[source[i]];
    }
    if (varargs) {
        int32_t extra = QN_MAX(positional - code->nargs, 0);
        bool known = true;
        for (int32_t i = 0; i < extra; i++)
            known = known && !args->args[code->nargs + i].f.reported;
        out->values[n - 1] =
            known ? v_tuple(in, args->args + code->nargs, extra) : val_of(fact_reported());
        given[n - 1] = true;
    }
    if (callee->closure) take_along(in, callee->closure, n, out);
    for (int32_t i = 0; i < out->n; i++) {
        Slot *slot = &out->slots[i];
        if (!given[i] && !fill_default(in, info, function, i, slot)) return false;
        if (given[i]) slot->fact = passed_fact(in, &out->values[i].f, constants);
        slot->count = fact_is_const(&slot->fact) ? 0 : 1;
        if (!given[i] && slot->count) /* a default array: a frozen constant of the callee */
            slot->count = 0;
    }
    return true;
}

/* -- declared signatures ------------------------------------------------------------------------------ */

/* What the callee may not write stays that, and what is written without a type has one where it is passed. */
static Conversion argument_conversion(TypeTable *types, const Type *from, const Type *to) {
    from = ti_stored(types, from);
    if (from->kind == TY_ARRAY && to->kind == TY_ARRAY)
        from = type_array_readonly(types, from, false);
    if (from->kind == TY_OPTIONAL && to->kind != TY_OPTIONAL) { /* asked at the call */
        Conversion inner = argument_conversion(types, from->element, to);
        return QN_MAX(inner, CONV_UNSAFE);
    }
    Conversion known = ti_conversion(from, to);
    bool containers = known == CONV_NONE && from->kind == TY_CLASS && can_convert(from, to);
    return containers ? CONV_PROMOTE : known;
}

/* false: an argument cannot be converted. Parameters behind the declared ones keep their defaults. */
static bool declared_fits(TypeTable *types, const Signature *s, const Bound *bound, Fit *fit) {
    *fit = (Fit){.declared = s->nparams};
    if (s->nparams > bound->n) return false;
    for (int32_t i = 0; i < bound->n; i++) {
        if (i >= s->nparams && bound->given[i]) return false;
        if (i >= s->nparams) continue;
        const Type *from = bound->slots[i].fact.type;
        fit->lossy += ti_loses_kind(from, s->params[i]);
        if (!ti_fit_add(fit, argument_conversion(types, from, s->params[i]))) return false;
    }
    return true;
}

/* A ufunc takes the first of its loops that all arguments can be cast to safely, as NumPy says. */
const Signature *declared_loop(Infer *in, const Binding *ufunc, const Type *const *types,
                               int32_t n) {
    for (int32_t k = 0; k < ufunc->ndeclared; k++) {
        const Signature *s = &ufunc->declared[k];
        bool fits = s->nparams == n;
        for (int32_t i = 0; fits && i < n; i++)
            fits = type_is_number(types[i]) &&
                   ti_promote(in->types, ARITH_UFUNC, types[i], s->params[i]) == s->params[i];
        if (fits) return s;
    }
    return NULL;
}

static bool declared_error(Infer *in, const Binding *function, const Bound *bound) {
    if (!ti_stop(in)) return false;
    Val *args = arena_array(in->arena, Val, bound->n);
    for (int32_t i = 0; i < bound->n; i++)
        args[i] = val_of(bound->slots[i].fact);
    v_refuse(in, REFUSE_CALL, ti_c_text(in, function->name), args, bound->n);
    for (int32_t k = 0; k < function->ndeclared; k++) {
        const Signature *s = &function->declared[k];
        for (int32_t i = 0; i < s->nparams && i < bound->n; i++)
            args[i] = val_of(fact_of(s->params[i]));
        diag_note(in->diags, NULL, "declared: (%s)",
                  ti_arg_texts(in, args, QN_MIN(s->nparams, bound->n)));
    }
    return false;
}

/* Arrays that are laid out as declared, or more strictly, stay what they are: loops over them need not be slower. */
static bool is_at_least(const Type *type, const Type *declared) {
    return type == declared || (type->kind == TY_ARRAY && declared->kind == TY_ARRAY &&
                                type->element == declared->element && type->ndim == declared->ndim);
}

/* Arguments take the declared types; a literal int that is known stays known. */
static void take_declared(Infer *in, const Signature *s, Bound *bound) {
    for (int32_t i = 0; i < s->nparams; i++) {
        Slot *slot = &bound->slots[i];
        const Type *to = s->params[i];
        if (slot->fact.type->kind == TY_OPTIONAL && to->kind != TY_OPTIONAL && bound->given[i]) {
            bound->values[i] = v_present(in, bound->values[i]);
            slot->fact = bound->values[i].f;
            slot->count = 1;
        }
        if (is_at_least(slot->fact.type, to)) continue;
        const ConstVal *value = slot->count == 0 ? fact_cast_int(&slot->fact, to) : NULL;
        if (!bound->given[i])
            bound->values[i] = val_of(slot->fact); /* a default, to be converted */
        slot->fact = (Fact){.type = to, .value = value};
        slot->count = fact_is_const(&slot->fact) ? 0 : 1;
    }
}

static bool choose_declared(Infer *in, const Binding *function, Bound *bound,
                            const Signature **out) {
    Fit best = FIT_NONE, fit;
    const Type **types = arena_array(in->arena, const Type *, bound->n + 1);
    for (int32_t i = 0; i < bound->n; i++)
        types[i] = bound->slots[i].fact.type;
    *out = function->elementwise ? declared_loop(in, function, types, bound->n) : NULL;
    for (int32_t k = 0; k < function->ndeclared && !function->elementwise; k++) {
        if (!declared_fits(in->types, &function->declared[k], bound, &fit)) continue;
        if (!ti_fit_better(&fit, &best)) continue;
        best = fit;
        *out = &function->declared[k];
    }
    if (function->ndeclared && !*out) return declared_error(in, function, bound);
    if (*out) take_declared(in, *out, bound);
    return true;
}

/* -- calling --------------------------------------------------------------------------------------- */

static bool callee_error(Infer *in, Instance *callee) {
    in->recovery = callee->result;
    if (!ti_stop(in)) return false;
    if (in->told && !callee->library) { /* ti_diagnose walks from call to call */
        vec_push(in->arena, &in->inst->failed_calls, ((FailedCall){callee, ti_span(in, in->at)}));
        return false;
    }
    for (int32_t i = 0; i < callee->diags.items.len; i++)
        vec_push(in->arena, &in->diags->items, callee->diags.items.items[i]);
    in->diags->failed = true;
    int32_t told = in->diags->items.len ? vec_last(&in->diags->items).notes.len : 0;
    if (told > MAX_CHAIN) return false;
    if (told == MAX_CHAIN) {
        diag_note(in->diags, NULL, "further calls on the way here are left out");
        return false;
    }
    Str name = callee->info->code->name;
    const Span *span = ti_spanp(in, in->at);
    StrBuf types;
    buf_init(&types, in->arena);
    bool made = ti_nested(in->ti, callee->function) != NULL;
    int32_t n = made ? instance_nslots(callee->info->code) : callee->nslots;
    for (int32_t i = 0; i < n; i++)
        buf_printf(&types, "%s%s", i ? ", " : "", ti_text(in, callee->slots[i].fact.type));
    diag_note(in->diags, span, "while compiling " STR_FMT "(" STR_FMT "), called here",
              STR_ARG(name), STR_ARG(buf_take(&types)));
    return false;
}

/* What recursion without an end, or with one that is too far away, runs into. */
static bool callee_allowed(Infer *in) {
    Ti *ti = in->ti;
    if (ti->stack.len >= MAX_DEPTH)
        return ti_fail(in, in->at, E0105, "calls are nested too deeply");
    if (ti->instances.len > MAX_INSTANCES)
        return ti_fail(in, in->at, E0105, "its functions are called with too many different types");
    return ti_has_stack(in, "calls");
}

/* What it is told of the callee may not be all: it is part of the same cycle then. */
void infer_asked(Infer *in, Instance *callee) {
    Ti *ti = in->ti;
    if (callee->state == INST_DONE) return;
    int32_t low = callee->state == INST_ACTIVE ? callee->depth : callee->low;
    in->inst->low = QN_MIN(in->inst->low, low);
    callee->recursive = true;
    for (int32_t d = 0; callee->state == INST_PROVISIONAL && d < ti->stack.len; d++)
        if (ti->stack.items[d]->depth == low) ti->stack.items[d]->recursive = true;
    in->unsettled = true;
}

/* Infers the callee if need be; false: that cannot be done. */
static bool infer_callee(Infer *in, Instance *callee) {
    Ti *ti = in->ti;
    infer_note_call(in, callee);
    if (callee->state == INST_NEW && !known_settle(in, callee)) {
        if (!callee_allowed(in)) return false;
        infer_instance(ti, callee);
        if (ti->aborted) return in->stop = STOP_ABORT, false;
    }
    infer_asked(in, callee);
    return true;
}

/* false: not known yet, or in error. */
static bool callee_ready(Infer *in, Instance *callee) {
    if (callee->failed) return callee_error(in, callee);
    if (callee->result.reported) return in->stop = STOP_REPORTED, false;
    if (!callee->result.type) return in->stop = STOP_UNKNOWN, false;
    return true;
}

static Ref emit_call(Infer *in, Instance *callee, const Bound *bound) {
    Emit *e = in->emit;
    Func *func = instance_typed(in->ti, callee);
    if (callee->maker) func = callee->maker;
    Ref *refs = arena_array(in->arena, Ref, callee->ntyped);
    for (int32_t i = 0; i < callee->nslots; i++)
        if (callee->slots[i].count)
            refs[callee->slots[i].first] = v_as(in, bound->values[i], callee->slots[i].fact.type);
    Ref here = callee->maker ? emit_frame_here(in, callee, refs) : NO_REF;
    if (here) return here;
    Ref call = emit(e, OP_call, func->result, refs, callee->ntyped);
    /* emit may have moved on to the block after the call */
    ir_inst(e->out, call)->u.func = func;
    return call;
}

/* A signature that says nothing but the type of the result: one for each type. */
static const Signature *result_signature(Ti *ti, const Type *result) {
    MapValue *slot = map_put(&ti->result_signatures, map_key(result));
    if (slot->ptr) return slot->ptr;
    Signature *signature = arena_new(ti->arena, Signature);
    *signature = (Signature){.result = result};
    return slot->ptr = signature;
}

/* The instance for these arguments, inferred; NULL: there is none, or inference is given up. With `result` what it
 * returns is converted to that type. */
static Instance *callee_of(Infer *in, const Callee *called, const CallArgs *args, bool constants,
                           bool library, const Type *result, Bound *bound) {
    const Binding *function = called->function;
    const FunctionInfo *info = ti_function_info(in->ti, function);
    const Signature *declared;
    if (!info) return in->stop = STOP_ABORT, NULL;
    constants = constants && in->inst->level < CONSTANT_DEPTH;
    if (!bind_args(in, info, called, args, constants, bound) ||
        !choose_declared(in, function, bound, &declared))
        return NULL;
    if (result && !declared) declared = result_signature(in->ti, result);
    Instance *callee = instance_find(in->ti, function, info, declared, bound->slots, bound->n);
    if (callee->level == 0 && constants) callee->level = in->inst->level + 1;
    if (callee->state == INST_NEW) callee->library = library || in->inst->library;
    if (in->emit) return callee;
    return infer_callee(in, callee) && container_wanted(in, callee, bound->values, called->closure)
               ? callee
               : NULL;
}

/* Its caller says of what the container is that it gives. */
static bool leaves_open(const Instance *callee) {
    return callee->left_open && !callee->failed && !callee->recursive && !callee->endless;
}

/* Is it the call that is looked at, and none that comes with it, as that of what makes the values of a defaultdict? */
static bool is_called_at(const Infer *in, const Callee *called) {
    if (ir_inst(in->f, in->at)->op != OP_call_py) return false;
    const Fact *f = &in->facts[ir_arg(in->f, in->at, 0)];
    const Binding *b = called->closure && f->type ? f->type->binding : fact_object(f);
    return b == called->function;
}

/* Of a container that the callee leaves to its caller. NULL: it is one of nobody knows what, which *out then is, or (no type) inference stops.
 * Not in `call`, whose frame is there for each level of calls. */
__attribute__((noinline)) static Instance *callee_by_caller(Infer *in, const Callee *called,
                                                            const CallArgs *args, bool constants,
                                                            const Instance *callee, Bound *bound,
                                                            Val *out) {
    const Type *type;
    *out = (Val){0};
    if (!container_of_call(in, callee->left_open, callee->result.type, &type)) return NULL;
    if (type->open) return *out = (Val){.f = fact_of(type), .src = in->at}, NULL;
    return callee_of(in, called, args, constants, constants, type, bound);
}

/* A function that cannot be compiled for the types of its arguments alone (the shape of an array must be known)
 * is tried with their values, as Numba does with literals. */
static bool call(Infer *in, const Callee *called, const CallArgs *args, bool constants, Val *out) {
    Bound bound;
    Instance *callee = callee_of(in, called, args, constants, constants, NULL, &bound);
    if (callee && callee->failed && !constants)
        callee = callee_of(in, called, args, true, false, NULL, &bound);
    if (!callee) return false;
    if (leaves_open(callee) && is_called_at(in, called)) {
        callee = callee_by_caller(in, called, args, constants, callee, &bound, out);
        if (!callee) return out->f.type != NULL;
    }
    for (int32_t i = 0; callee->failed && i < callee->nslots && i < 64; i++)
        if (callee->literals >> i & 1) note_literal(in, bound.values[i].src);
    if (instance_is_generator(callee)) {
        if (!in->emit && callee->failed) return callee_error(in, callee);
        out->f = fact_of(generator_type(in, callee));
        if (in->emit) out->ref = emit_call(in, callee, &bound);
        return true;
    }
    if (!in->emit && !callee_ready(in, callee)) return false;
    out->f = callee->result;
    out->f.unbound = out->f.conflict = false;
    out->f.python = 0;
    if (in->emit) out->ref = emit_call(in, callee, &bound);
    /* What follows is not reached. In a kernel a raise may let the thread go on. */
    if (callee->endless && !in->kernel) return in->stop = STOP_UNBOUND, false;
    return true;
}

bool note_literal(Infer *in, Ref src) {
    const Inst *inst = src ? ir_inst(in->f, src) : NULL;
    while (inst && inst->op == OP_check_bound) {
        src = ir_arg(in->f, src, 0);
        inst = ir_inst(in->f, src);
    }
    if (!inst || inst->op != OP_param || inst->imm >= 64) return false;
    in->inst->literals |= UINT64_C(1) << inst->imm;
    return true;
}

bool call_function(Infer *in, const Binding *function, const CallArgs *args, bool constants,
                   Val *out) {
    return call(in, &(Callee){function, NULL}, args, constants, out);
}

bool v_call_closure(Infer *in, Val closure, const CallArgs *args, Val *out) {
    Callee callee = {closure.f.type->binding, &closure};
    return call(in, &callee, args, in->inst->library, out);
}

/* -- comprehensions ---------------------------------------------------------------------------------- */

Map *ti_made_inside(Ti *ti, const Binding *outer) {
    MapValue *slot = map_put(&ti->nested, map_key(outer));
    if (!slot->ptr) {
        slot->ptr = arena_new(ti->arena, Map);
        map_init(slot->ptr, ti->arena);
    }
    return slot->ptr;
}

/* What the function, or one around it, has made of that code: functions that call themselves, or each other, know it by their cells. */
static const Binding *made_of_code(Ti *ti, const Binding *function, Handle code) {
    while (function) {
        MapValue *known = map_find(ti_made_inside(ti, function), map_key(code));
        if (known) return known->ptr;
        MapValue *maker = map_find(&ti->made_by, map_key(function));
        function = maker ? maker->ptr : NULL;
    }
    return NULL;
}

bool fact_of_code(Infer *in, const ConstVal *code, const char *what, Fact *out) {
    Resolver *r = in->ti->resolver;
    if (!r->nested || !code->handle) return ti_fail(in, in->at, E0101, what);
    const Binding *outer = in->inst->function, *b = made_of_code(in->ti, outer, code->handle);
    if (!b) {
        if (!(b = r->nested(r->user, outer, code->handle))) return in->stop = STOP_ABORT, false;
        map_put(ti_made_inside(in->ti, outer), map_key(code->handle))->ptr = (void *)b;
        map_put(&in->ti->made_by, map_key(b))->ptr = (void *)outer;
    }
    return *out = fact_of(type_object(in->types, b)), true;
}

bool v_comprehension(Infer *in, Ref made, Val *out) {
    out->src = made;
    return fact_of_code(in, ir_inst(in->f, made)->u.value, "a comprehension", &out->f);
}

/* NULL: not known yet, or an error. */
static Instance *comprehension_of(Infer *in, const Binding *function, const FunctionInfo *info,
                                  const Bound *bound, const Signature *result) {
    Slot *slots = arena_copy(in->arena, bound->slots, sizeof *slots * (size_t)bound->n);
    Instance *callee = instance_find(in->ti, function, info, result, slots, bound->n);
    if (callee->state == INST_NEW) callee->library = in->inst->library;
    bool known =
        in->emit || (infer_callee(in, callee) && container_wanted(in, callee, bound->values, NULL));
    return known ? callee : NULL;
}

bool call_comprehension(Infer *in, const Binding *function, Ref made, Val iterator, Val *out) {
    int32_t n = 1 + ir_inst(in->f, made)->nargs;
    const FunctionInfo *info = ti_function_info(in->ti, function);
    if (!info) return in->stop = STOP_ABORT, false;
    Bound bound = {arena_array(in->arena, Slot, n), arena_array(in->arena, Val, n), NULL, n};
    bound.values[0] = iterator;
    for (int32_t i = 1; i < n; i++)
        if (!infer_operand(in, made, i - 1, &bound.values[i])) return false;
    for (int32_t i = 0; i < n; i++) {
        Slot *slot = &bound.slots[i];
        slot->fact = passed_fact(in, &bound.values[i].f, in->inst->library);
        slot->count = fact_is_const(&slot->fact) ? 0 : 1;
    }
    Instance *callee = comprehension_of(in, function, info, &bound, NULL);
    const Type *result = callee && !callee->failed ? callee->result.type : NULL, *type;
    if (container_is_made(result)) { /* CPython 3.12 has it in the function itself */
        const Type *made = leaves_open(callee) ? callee->left_open : result;
        if (!container_of_call(in, made, result, &type)) return false;
        if (type->open) return *out = (Val){.f = fact_of(type), .src = in->at}, true;
        if (type != result)
            callee = comprehension_of(in, function, info, &bound, result_signature(in->ti, type));
    }
    if (!callee || (!in->emit && !callee_ready(in, callee))) return false;
    out->f = callee->result;
    out->f.unbound = out->f.conflict = false;
    if (in->emit) out->ref = emit_call(in, callee, &bound);
    return true;
}

Instance *call_instance(Infer *in, const Binding *function, const CallArgs *args,
                        const Type *result, Bound *bound) {
    Callee called = {function, NULL};
    Instance *callee = callee_of(in, &called, args, true, !function->handle, result, bound);
    if (!callee || (!in->emit && !callee_ready(in, callee))) return NULL;
    return callee;
}

/* -- the entry ------------------------------------------------------------------------------------- */

static bool entry_slots(Infer *in, const FunctionInfo *info, const InferRequest *r, Slot *slots) {
    const CodeUnit *code = info->code;
    int32_t n = instance_nslots(code), plain = code->nargs + code->nkwonly;
    for (int32_t i = 0; i < n; i++) {
        Slot *slot = &slots[i];
        if (i >= plain && i >= r->nargs) { /* *args: none */
            slot->fact = fact_of(type_tuple(in->types, NULL, 0));
        } else if (i < r->nargs) {
            const Type *type = r->arg_types[i];
            slot->fact = type ? fact_of(type) : fact_reported();
            const Binding *object = type ? fact_object(&slot->fact) : NULL;
            bool read = object && (object->kind == BIND_MEMBER || object->kind == BIND_PARTIAL ||
                                   (object->kind == BIND_CONST && !fact_str(&slot->fact)));
            if (read && !fact_of_binding(in, object, object->name, &slot->fact)) return false;
            slot->count = 1;
        } else if (!fill_default(in, info, r->function, i, slot)) {
            return false;
        }
    }
    return true;
}

Instance *instance_entry(Ti *ti, const InferRequest *r, DiagList *diags) {
    const FunctionInfo *info = ti_function_info(ti, r->function);
    if (!info) return ti->aborted = true, NULL;
    const CodeUnit *code = info->code;
    /* a context for messages before there is an instance */
    Infer in = {.ti = ti, .arena = ti->arena, .types = ti->types, .diags = diags, .report = true};
    in.strong = ti->options.strong_numbers;
    int32_t n = instance_nslots(code);
    if ((code->flags & CODE_VARKEYWORDS) && !ti->all) {
        Span span = {code->file, code->first_line, code->first_line, -1, -1};
        return bc_refuse(diags, &span, "a **keywords parameter"), NULL;
    }
    if (r->nargs > n) {
        Params params = {.npositional = n};
        CallArgs given = {.nargs = r->nargs};
        return v_bind(&in, r->function->name, &params, NULL, &given, NULL), NULL;
    }
    Slot *slots = arena_array(ti->arena, Slot, n);
    if (!entry_slots(&in, info, r, slots)) return NULL;
    return instance_find(ti, r->function, info, NULL, slots, n);
}

/* -- typed functions --------------------------------------------------------------------------------- */

Str ti_unique_name(Ti *ti, Str name) {
    MapValue *used = map_put_str(&ti->func_names, name);
    int64_t n = used->num++;
    if (!n) return name;
    char *text = arena_alloc(ti->arena, (size_t)name.len + 24), digits[20]; /* many: no printf */
    int32_t len = name.len, ndigits = 0;
    memcpy(text, name.bytes, (size_t)len);
    text[len++] = '.';
    for (; n; n /= 10)
        digits[ndigits++] = (char)('0' + n % 10);
    while (ndigits)
        text[len++] = digits[--ndigits];
    text[len] = 0;
    return (Str){text, len};
}

/* Behind the parameters: what a function that was made has taken along. */
static Str slot_name(Ti *ti, const Instance *inst, int32_t i) {
    const NestedFunction *nested = ti_nested(ti, inst->function);
    int32_t more = i - instance_nslots(inst->info->code);
    if (!nested || more < 0) return inst->info->code->local_names[i];
    return more < nested->ndefaults ? STR("default") : nested->variables[more - nested->ndefaults];
}

static void typed_params(Ti *ti, Instance *inst, Func *f) {
    f->nparams = inst->ntyped;
    f->param_types = arena_array(ti->arena, const Type *, inst->ntyped);
    Str *names = arena_array(ti->arena, Str, inst->ntyped);
    for (int32_t i = 0; i < inst->nslots; i++) {
        const Slot *slot = &inst->slots[i];
        if (slot->count == 0) continue;
        f->param_types[slot->first] = lower_type(ti, slot->fact.type);
        names[slot->first] = slot_name(ti, inst, i);
    }
    f->param_names = names;
}

/* Functions of the library do as the entry does. */
bool ti_is_parallel(const Ti *ti, const Instance *inst) {
    const InferOptions *o = &ti->options;
    if (o->kernel || !target_is_host(o->target)) return false;
    return inst->library || inst->serial == 0 ? o->parallel : inst->info->parallel;
}

/* Two functions: one makes the generator, `f` gives the next item as (more, item), or (more, item, result). */
static void make_generator(Ti *ti, Instance *inst, Func *f) {
    static const Str name = {"frame", 5};
    const Type *frame = generator_frame(ti->types);
    if (!inst->yielded.type) inst->yielded = fact_of(type_scalar(ti->types, TY_none));
    int32_t n = 2 + generator_returns(inst);
    const Type *parts[3] = {bool_type(ti->types), lower_type(ti, inst->yielded.type), f->result};
    Func *maker = inst->maker = ir_func_new(
        ti->module,
        ti_unique_name(ti, str_printf(ti->arena, STR_FMT ".make", STR_ARG(f->user_name))), true);
    maker->user_name = f->user_name, maker->file = f->file;
    maker->nparams = f->nparams, maker->param_types = f->param_types;
    maker->param_names = f->param_names;
    maker->result = maker->weak_result = frame;
    f->nparams = 1;
    f->param_types = arena_array(ti->arena, const Type *, 1);
    f->param_types[0] = frame;
    f->param_names = &name;
    f->result = type_tuple(ti->types, parts, n);
    parts[1] = inst->yielded.type;
    parts[2] = f->weak_result;
    f->weak_result = type_tuple(ti->types, parts, n);
    f->parallel = false;
}

/* Options of the callee's decorator that reach its code; the entry's are those of the compilation. */
static void take_options(Func *f, const FunctionInfo *info) {
    f->unchecked = !info->boundscheck;
    f->own_math = info->own_math, f->fastmath = info->fastmath;
}

Func *instance_typed(Ti *ti, Instance *inst) {
    if (inst->typed) return inst->typed;
    if (inst->known) return known_typed(ti, inst);
    const CodeUnit *code = inst->info->code;
    Func *f = ir_func_new(ti->module, ti_unique_name(ti, code->name), true);
    inst->typed = f;
    f->user_name = code->name;
    f->file = code->file;
    f->parallel = ti_is_parallel(ti, inst);
    if (inst->serial != 0) take_options(f, inst->info);
    f->result = lower_type(ti, inst->result.type);
    f->weak_result = inst->result.type;
    typed_params(ti, inst, f);
    if (instance_is_generator(inst)) make_generator(ti, inst, f);
    vec_push(ti->arena, &ti->to_emit, inst);
    return f;
}
