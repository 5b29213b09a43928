/* infer_raise.c - the statement raise, and handlers of exceptions. */
#include "typeinfer/infer.h"

static bool fail_advised(Infer *in, Ref ref, const char *what, const char *advice) {
    ti_fail(in, ref, E0101, what);
    ti_advise(in, advice);
    return false;
}

static const Binding *exception_of(const Val *v) {
    const Binding *b = fact_object(&v->f);
    return b && b->kind == BIND_EXCEPTION ? b : NULL;
}

/* The arguments of the call that made an exception, those of *args among them, none where it is a class; *n -1: it is not known. */
static Val *call_args(Infer *in, Ref exception, int32_t *n) {
    const Inst *inst = ir_inst(in->f, exception);
    bool star = inst->op == OP_call_star, called = star || inst->op == OP_call_py;
    Val tuple = {0}, callee = {0};
    *n = 0;
    if (called) callee.f = in->facts[ir_arg(in->f, exception, 0)];
    if (!called || !exception_of(&callee)) return NULL;
    *n = -1;
    if (star && (!infer_operand(in, exception, 1, &tuple) || !is_kind(&tuple, TY_TUPLE)))
        return NULL;
    int32_t count = star ? tuple.f.type->nitems : inst->nargs - 1;
    Val *args = arena_array(in->arena, Val, count);
    for (int32_t k = 0; k < count; k++)
        if (star)
            args[k] = v_item(in, tuple, k);
        else if (!infer_operand(in, exception, k + 1, &args[k]))
            return NULL;
    *n = count;
    return args;
}

enum { MOST_NUMBERS = 8 }; /* of an exception: CALL_MAX_ARGS; a complex one is two */

static bool too_many(Infer *in, Ref exception) {
    return ti_fail(in, exception, E0101, "an exception with more than 8 numbers");
}

/* The arguments of an exception that is made, how many numbers they are so far, and their types as values. */
typedef struct RaiseArgs {
    Ref exception;
    int32_t numbers;
} RaiseArgs;

static bool raise_text(Infer *in, RaiseArgs *to, Val *v) {
    bool matched;
    Val text = *v;
    if (!v_text(in, &text)) return false;
    if (++to->numbers > MOST_NUMBERS) return too_many(in, to->exception);
    if (!v_row(in, STR("primitive.text_kept"), &text, 1, &matched, v)) return false;
    return true;
}

/* An argument as the op raise takes it; *type is what a handler finds. */
static bool raise_arg(Infer *in, RaiseArgs *to, Val *v, const Type **type) {
    *v = v_number(in, *v);
    const Type *t = v->f.type;
    *type = ti_stored(in->types, t);
    if (type_is_text(t) || type_is_of(t, CLS_bytes)) return raise_text(in, to, v);
    if (t->kind == TY_TUPLE && !type_is_value(t)) {
        Val *items = arena_array(in->arena, Val, t->nitems);
        const Type **types = arena_array(in->arena, const Type *, t->nitems);
        for (int32_t k = 0; k < t->nitems; k++) {
            items[k] = v_item(in, *v, k);
            if (!raise_arg(in, to, &items[k], &types[k])) return false;
        }
        *type = type_tuple(in->types, types, t->nitems);
        return *v = v_tuple(in, items, t->nitems), true;
    }
    if (t->kind == TY_f16)
        *v = v_converted(in, *v, type_scalar(in->types, TY_f32)); /* of the same value */
    if (!type_is_scalar(t))
        return fail_advised(
            in, to->exception, "an exception argument that is neither a number nor a string",
            "arguments of exceptions are numbers, strings, bytes, and tuples of these");
    to->numbers += type_is_complex(t) ? 2 : 1;
    return to->numbers <= MOST_NUMBERS || too_many(in, to->exception);
}

static bool raise_args(Infer *in, Ref exception, const Val *args, int32_t count, RaiseSite *site,
                       Ref *refs, int32_t *n, const Type **types) {
    RaiseArgs to = {exception, 0};
    const Type **all = arena_array(in->arena, const Type *, count + 1);
    *n = 0;
    for (int32_t k = 0; k < count; k++) {
        const Str *text = fact_str(&args[k].f);
        if (text && k == 0) {
            site->has_message = true, site->message = *text;
            all[k] = ti_stored(in->types, args[k].f.type);
            continue;
        }
        Val arg = args[k];
        if (!raise_arg(in, &to, &arg, &all[k])) return false;
        if (*n == MOST_NUMBERS) return too_many(in, exception);
        if (in->emit) refs[*n] = v_ref(in, arg);
        ++*n;
    }
    if (count >= 0) *types = type_tuple(in->types, all, count);
    return count >= 0;
}

static void emit_cause(Emit *e, Ref cause, Ref of) {
    Ref refs[2] = {cause ? cause : emit_int(e, i64_type(e->types), 0), of};
    emit(e, OP_cause, NULL, refs, of ? 2 : 1);
}

/* A value that may be None. */
static void emit_optional_cause(Infer *in, Val cause, Ref of) {
    Emit *e = in->emit;
    Ref whole = v_ref(in, cause);
    int32_t some = emit_block(e), none = emit_block(e), end = emit_block(e);
    emit_branch(e, emit_item(e, whole, 0), some, none);
    e->block = some;
    emit_cause(e, emit_item(e, whole, 1), of);
    emit_jump(e, end);
    e->block = none;
    emit_cause(e, NO_REF, of);
    emit_jump(e, end);
    e->block = end;
}

/* `raise ... from`: None, or an exception. */
static bool infer_cause(Infer *in, Ref ref, Ref of) {
    Val cause = {0};
    if (ir_inst(in->f, ref)->nargs < 2) return true;
    if (!infer_operand(in, ref, 1, &cause)) return false;
    const Binding *cls = exception_of(&cause);
    if (cls && !v_make_exception(in, cls, &(CallArgs){0}, &cause)) return false;
    bool optional = is_kind(&cause, TY_OPTIONAL) && type_is_exception(cause.f.type->element);
    bool some = is_kind(&cause, TY_CAUGHT) || type_is_exception(cause.f.type);
    if (!some && !optional && !fact_none(&cause.f))
        return fail_advised(in, ref, "an exception raised from something that is none",
                            "raise it from an exception, or from None");
    if (!in->emit || in->kernel || !target_is_host(in->ti->options.target)) return true;
    if (optional)
        emit_optional_cause(in, cause, of);
    else
        emit_cause(in->emit, some ? v_ref(in, cause) : NO_REF, of);
    return true;
}

/* `raise e` of a caught exception, and what handlers end with. */
static bool raise_caught(Infer *in, Ref ref, Val v, bool statement) {
    if (type_is_caught_class(v.f.type)) return infer_refuse_class(in, ref);
    if (statement && !infer_cause(in, ref, in->emit ? v_ref(in, v) : NO_REF)) return false;
    if (!in->emit) {
        int32_t error = ir_inst(in->f, ref)->error;
        if (type_is_exception(v.f.type)) infer_note_raise(in, ref, NULL, v.f.type);
        if (error != NO_BLOCK) infer_take_edge(in, ir_inst(in->f, ref)->block, 4, error);
        return true;
    }
    Ref raise = emit1(in->emit, OP_reraise, NULL, v_ref(in, v));
    ir_inst(in->emit->out, raise)->sub = statement ? FLAG_STATEMENT : 0;
    return true;
}

/* An exception that is raised: its class, and its arguments as the op takes them. */
typedef struct Raising {
    const Binding *cls;
    RaiseSite *site;
    Ref refs[MOST_NUMBERS];
    int32_t n;
    const Type *types;
} Raising;

static bool raising_of(Infer *in, Ref ref, Val v, Raising *r) {
    const Binding *b = r->cls = exception_of(&v);
    if (!b) return ti_fail(in, ref, E0101, "raising a value that is not an exception");
    r->site = arena_new(in->arena, RaiseSite);
    *r->site = (RaiseSite){.class_name = b->name, .class_handle = b->handle, .builtin = b->builtin};
    int32_t count;
    Val *args = call_args(in, v.src, &count);
    return raise_args(in, v.src, args, count, r->site, r->refs, &r->n, &r->types);
}

bool v_make_exception(Infer *in, const Binding *cls, const CallArgs *args, Val *out) {
    Raising r = {.cls = cls, .site = arena_new(in->arena, RaiseSite)};
    *r.site =
        (RaiseSite){.class_name = cls->name, .class_handle = cls->handle, .builtin = cls->builtin};
    if (!ti_has_objects(in))
        return ti_fail(in, in->at, E0101, "an exception as a value, in a kernel");
    if (!raise_args(in, in->at, args->args, args->nargs, r.site, r.refs, &r.n, &r.types))
        return false;
    const RaisedAt made = {.cls = cls, .args = r.types}, *only = &made;
    *out = val_of(fact_of(type_exception(in->types, &only, 1)));
    if (!in->emit) return true;
    out->ref = emit(in->emit, OP_exception, lower_type(in->ti, out->f.type), r.refs, r.n);
    ir_inst(in->emit->out, out->ref)->u.exception = r.site;
    return true;
}

static void emit_raising(Emit *e, const Raising *r) {
    Ref raise = emit(e, OP_raise, NULL, r->refs, r->n);
    ir_inst(e->out, raise)->u.exception = r->site;
}

bool v_throw(Infer *in, const Instance *generator, Val exception) {
    Raising r;
    if (!raising_of(in, in->at, exception, &r)) return false;
    if (in->emit) return emit_raising(in->emit, &r), true;
    infer_note_raise(in, in->at, r.cls, r.types);
    note_thrown(in, generator, r.cls, r.types);
    return true;
}

bool infer_raise(Infer *in, Ref ref) {
    Emit *e = in->emit;
    Val v = {0};
    Raising r;
    if (!infer_operand(in, ref, 0, &v)) return false;
    if (is_kind(&v, TY_CHOICE) && !v_call_choice(in, v, &(CallArgs){0}, &v)) return false;
    v = v_present(in, v);
    if (is_kind(&v, TY_CAUGHT) || type_is_of(v.f.type, CLS_exception))
        return raise_caught(in, ref, v, true);
    if (!raising_of(in, ref, v, &r) || !infer_cause(in, ref, NO_REF)) return false;
    int32_t error = ir_inst(in->f, ref)->error;
    if (!e) {
        infer_note_raise(in, ref, r.cls, r.types);
        if (error != NO_BLOCK) infer_take_edge(in, ir_inst(in->f, ref)->block, 4, error);
        return true;
    }
    if (!in->guards) { /* kernels outside debug: the work-item ends */
        emit1(e, OP_return, NULL, emit_zero(e, in->inst->result.type));
        return true;
    }
    emit_raising(e, &r);
    return true;
}

/* -- handlers ---------------------------------------------------------------------------------------- */

bool infer_caught(Infer *in, Ref ref, Val *out) {
    if (in->kernel || !target_is_host(in->ti->options.target))
        return fail_advised(in, ref, "a try statement in a kernel",
                            "test before for what would raise, or launch with debug=True and catch "
                            "the exception in Python");
    const Type *type = type_caught(in->types, ref);
    bool object = infer_keeps_caught(in) || infer_yields_in_handler(in);
    if (object && !infer_caught_type(in, ref, &type)) return false;
    out->f = fact_of(type);
    if (!in->emit) return true;
    Val handled = infer_val(in, ir_arg(in->f, ref, 0));
    bool any = is_kind(&handled, TY_CAUGHT) || type_is_exception(handled.f.type);
    any = any && !handled.f.conflict;
    Ref refs[1] = {any ? v_ref(in, handled) : NO_REF};
    out->ref = emit(in->emit, OP_caught, lower_type(in->ti, type), refs, any);
    return true;
}

static bool add_class(Infer *in, ClassSet *set, Val v, bool others) {
    const Binding *b = exception_of(&v);
    if (!b && others && fact_object(&v.f)) return true;
    if (!b)
        return fail_advised(in, in->at,
                            "an except clause with something that is not a class of exceptions",
                            "name classes of exceptions, or a tuple of them");
    ExceptionClass *all = arena_array(in->arena, ExceptionClass, set->nasked + 1);
    if (set->nasked) memcpy(all, set->asked, sizeof *all * (size_t)set->nasked);
    all[set->nasked++] = (ExceptionClass){b->name, b->handle, b->builtin};
    set->asked = all;
    return true;
}

bool infer_classes(Infer *in, ClassSet *set, Val v, bool others) {
    if (!is_kind(&v, TY_TUPLE)) return add_class(in, set, v, others);
    for (int32_t k = 0; k < v.f.type->nitems; k++)
        if (!infer_classes(in, set, v_item(in, v, k), others)) return false;
    return true;
}

bool infer_match(Infer *in, Ref ref, Val *out) {
    Val exception = {0}, classes = {0};
    if (!infer_operand(in, ref, 0, &exception) || !infer_operand(in, ref, 1, &classes))
        return false;
    ClassSet *set = arena_new(in->arena, ClassSet);
    if (!infer_classes(in, set, classes, false)) return false;
    out->f = fact_of(bool_type(in->types));
    if (!in->emit) return true;
    out->ref = emit1(in->emit, OP_matches, bool_type(in->types), v_ref(in, exception));
    ir_inst(in->emit->out, out->ref)->u.classes = set;
    return true;
}

bool infer_reraise(Infer *in, Ref ref) {
    Val v = {0};
    if (!infer_operand(in, ref, 0, &v)) return false;
    v = v_present(in, v);
    if (!is_kind(&v, TY_CAUGHT) && !type_is_exception(v.f.type))
        return fail_advised(in, ref, "a raise statement without an exception",
                            "name the exception: raise ValueError('why')");
    return raise_caught(in, ref, v, false);
}

/* -- which exceptions handlers match ------------------------------------------------------------------- */

typedef Vec(ExceptionClass) ClassList;

static void add_raised(Ti *ti, ClassList *list, ExceptionClass cls) {
    for (int32_t k = 0; k < list->len; k++)
        if (str_equal(list->items[k].name, cls.name) && list->items[k].handle == cls.handle) return;
    vec_push(ti->arena, list, cls);
}

/* All that code of the module can raise: by guards, whichever there are, and by statements. */
static ClassList classes_raised(Ti *ti) {
    ClassList list = {0};
    for (int32_t k = 0; k < GUARD_COUNT; k++) {
        const char *name = ir_guard_exceptions[k];
        add_raised(ti, &list,
                   (ExceptionClass){.name = {name, (int32_t)strlen(name)}, .builtin = true});
    }
    for (int32_t k = 0; k < ti->module->funcs.len; k++) {
        const Func *f = ti->module->funcs.items[k];
        for (Ref ref = 1; ref < f->insts.len; ref++)
            if ((ir_inst(f, ref)->op == OP_raise || ir_inst(f, ref)->op == OP_exception) &&
                ir_inst(f, ref)->u.exception) {
                const RaiseSite *site = ir_inst(f, ref)->u.exception;
                add_raised(ti, &list,
                           (ExceptionClass){site->class_name, site->class_handle, site->builtin});
            }
    }
    return list;
}

static int is_derived(Resolver *r, const ExceptionClass *a, const ExceptionClass *b, bool exact) {
    int is = r->subclass(r->user, a, b);
    return is > 0 && exact ? r->subclass(r->user, b, a) : is;
}

/* type(e) is one of them itself. */
static bool is_exact(const Ti *ti, const ClassSet *set) {
    for (int32_t k = 0; k < ti->exact.len; k++)
        if (ti->exact.items[k] == set) return true;
    return false;
}

static bool settle_handler(Ti *ti, ClassSet *set, const ClassList *raised) {
    Resolver *r = ti->resolver;
    set->classes = arena_array(ti->arena, ExceptionClass, raised->len);
    for (int32_t k = 0; k < raised->len; k++) {
        int is = 0;
        for (int32_t i = 0; i < set->nasked && !is; i++)
            is = is_derived(r, &raised->items[k], &set->asked[i], is_exact(ti, set));
        if (is < 0) return false;
        if (is) set->classes[set->n++] = raised->items[k];
    }
    return true;
}

bool infer_settle_handlers(Ti *ti) {
    ClassList raised = {0};
    for (int32_t k = 0; k < ti->module->funcs.len; k++) {
        const Func *f = ti->module->funcs.items[k];
        for (Ref ref = 1; ref < f->insts.len; ref++) {
            if (ir_inst(f, ref)->op != OP_matches) continue;
            if (!raised.len) raised = classes_raised(ti);
            if (!settle_handler(ti, ir_inst(f, ref)->u.classes, &raised)) return false;
        }
    }
    return true;
}
