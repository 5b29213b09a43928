/* infer_caught.c - what a handler reads of the exception that it caught: str(e), repr(e), e.args, isinstance(e, ...), type(e), e.code.
 *
 * Text is Python's, asked for when it is needed. The arguments have the types that they have at the raise statements which may lead
 * here: those of the statements that the handler protects, and of all that these call. Where there is none, it is the message of a
 * failed operation. What comes with other arguments is an exception of its own. */
#include "typeinfer/known.h"

/* -- what is raised where ------------------------------------------------------------------------- */

void infer_note_raise(Infer *in, Ref at, const Binding *cls, const Type *args) {
    Instance *inst = in->inst;
    for (int32_t k = 0; k < inst->raises.len; k++) {
        RaisedAt *known = &inst->raises.items[k];
        if (known->at != at) continue;
        if (known->args != args) ++in->clock;
        known->args = args;
        return;
    }
    vec_push(in->ti->arena, &inst->raises, ((RaisedAt){at, cls, args, ti_span(in, at)}));
    ++in->clock; /* handlers look again */
}

void infer_note_call(Infer *in, Instance *callee) {
    Instance *inst = in->inst;
    for (int32_t k = inst->calls.len; k-- > 0;)
        if (inst->calls.items[k].at == in->at && inst->calls.items[k].callee == callee) return;
    vec_push(in->ti->arena, &inst->calls, ((CalledAt){in->at, callee}));
}

typedef struct Gathered {
    Infer *in;
    Bits seen; /* instances, by number */
    Vec(const RaisedAt *) found;
    bool unknown; /* and others */
} Gathered;

/* What an object may be, as its type says. */
static void gather_type(Gathered *g, const Type *exception, Span place) {
    const Type *what = exception->params[0];
    g->unknown |= what->kind != TY_TUPLE;
    for (int32_t k = 0; what->kind == TY_TUPLE && k < what->nitems; k++) {
        RaisedAt *raised = arena_new(g->in->arena, RaisedAt);
        const Type *const *pair = what->items[k]->items;
        *raised = (RaisedAt){.cls = pair[0]->binding, .args = pair[1], .place = place};
        vec_push(g->in->arena, &g->found, raised);
    }
}

static void gather_raise(Gathered *g, const RaisedAt *raised) {
    if (raised->cls)
        vec_push(g->in->arena, &g->found, raised);
    else
        gather_type(g, raised->args, raised->place);
}

static void gather_instance(Gathered *g, const Instance *inst) {
    if (bits_get(&g->seen, inst->serial)) return;
    bits_set(&g->seen, inst->serial);
    if (inst->known) known_give_up(g->in->ti);
    for (int32_t k = 0; k < inst->raises.len; k++)
        gather_raise(g, &inst->raises.items[k]);
    for (int32_t k = 0; k < inst->calls.len; k++)
        gather_instance(g, inst->calls.items[k].callee);
}

static void gather_handler(Gathered *g, Ref caught, int depth);

/* What the instruction raises; of one that raises again, what its handler had caught. */
static void gather_at(Gathered *g, Ref ref, int depth) {
    const Instance *inst = g->in->inst;
    const Inst *at = ir_inst(g->in->f, ref);
    bool again = at->op == OP_raise_py || at->op == OP_reraise;
    Ref raised = again && at->nargs ? ir_arg(g->in->f, ref, 0) : NO_REF;
    const Type *type = raised ? g->in->facts[raised].type : NULL;
    bool caught = raised && ir_inst(g->in->f, raised)->op == OP_caught;
    if (type && type->kind == TY_CAUGHT) raised = (Ref)type->bits, caught = true;
    if (caught && depth) gather_handler(g, raised, depth - 1);
    for (int32_t k = 0; k < inst->raises.len && !caught; k++)
        if (inst->raises.items[k].at == ref) gather_raise(g, &inst->raises.items[k]);
    const RaisedAt *thrown;
    for (int32_t k = 0; at->op == OP_yield && (thrown = thrown_into(g->in->ti, inst, k)); k++)
        vec_push(g->in->arena, &g->found, thrown);
    for (int32_t k = 0; k < inst->calls.len; k++)
        if (inst->calls.items[k].at == ref) gather_instance(g, inst->calls.items[k].callee);
}

static void gather_handler(Gathered *g, Ref caught, int depth) {
    int32_t handler = ir_inst(g->in->f, caught)->block;
    for (Ref ref = 1; ref < g->in->f->insts.len; ref++)
        if (ir_inst(g->in->f, ref)->error == handler) gather_at(g, ref, depth);
}

/* -- which of these the path to an instruction lets through ------------------------------------------ */

enum Way { WAY_UNKNOWN, WAY_YES, WAY_NO };

/* Does an edge lead to where control is now, and nothing else but it? */
static bool leads_here(const Infer *in, int32_t to) {
    return in->f->blocks.items[to].preds.len == 1 &&
           cfg_dominates(&in->cfg, to, ir_inst(in->f, in->at)->block);
}

/* Has the test of an `except` clause been answered with yes or no on the way from there to here? What may raise ends its block. */
static enum Way way_from(const Infer *in, Ref match) {
    int32_t at = ir_inst(in->f, match)->block;
    for (int steps = 0; steps < 4; steps++) {
        const Block *block = &in->f->blocks.items[at];
        const Inst *last = ir_inst(in->f, block->insts.items[block->insts.len - 1]);
        if (last->op != OP_jump && last->op != OP_branch) return WAY_UNKNOWN;
        at = last->target[0];
        if (last->op == OP_jump) continue;
        Ref asked = ir_arg(in->f, block->insts.items[block->insts.len - 1], 0);
        if (ir_inst(in->f, asked)->op == OP_truth) asked = ir_arg(in->f, asked, 0);
        if (asked != match) return WAY_UNKNOWN;
        return leads_here(in, at)                ? WAY_YES
               : leads_here(in, last->target[1]) ? WAY_NO
                                                 : WAY_UNKNOWN;
    }
    return WAY_UNKNOWN;
}

/* 1: it is of one of these classes, 0: it is not, -1: a Python exception is pending. */
static int is_of_classes(Infer *in, const RaisedAt *raised, const ClassSet *set) {
    Resolver *r = in->ti->resolver;
    ExceptionClass cls = {raised->cls->name, raised->cls->handle, raised->cls->builtin};
    int is = 0;
    for (int32_t i = 0; i < set->nasked && !is; i++)
        is = r->subclass(r->user, &cls, &set->asked[i]);
    return is;
}

static bool keep_of_classes(Gathered *g, const ClassSet *set, enum Way way) {
    int32_t kept = 0;
    for (int32_t k = 0; k < g->found.len; k++) {
        int is = is_of_classes(g->in, g->found.items[k], set);
        if (is < 0) return g->in->stop = STOP_ABORT, false;
        if ((is != 0) == (way == WAY_YES)) g->found.items[kept++] = g->found.items[k];
    }
    g->found.len = kept;
    return true;
}

static bool keep_matching(Gathered *g, Ref caught) {
    Infer *in = g->in;
    for (Ref ref = 1; ref < in->f->insts.len; ref++) {
        if (ir_inst(in->f, ref)->op != OP_match_py) continue;
        if (ir_arg(in->f, ref, 0) != caught) continue;
        enum Way way = way_from(in, ref);
        if (way == WAY_UNKNOWN) continue;
        ClassSet set = {0};
        if (!infer_classes(in, &set, infer_val(in, ir_arg(in->f, ref, 1)), false)) return false;
        if (!keep_of_classes(g, &set, way)) return false;
    }
    return true;
}

/* What may be raised where the handler has come to, or what the object may be. */
static bool gather_here(Gathered *g, Infer *in, const Type *caught) {
    *g = (Gathered){.in = in, .seen = bits_new(in->arena, in->ti->instances.len + 1)};
    if (caught->kind != TY_CAUGHT) return gather_type(g, caught, ti_span(in, in->at)), true;
    gather_handler(g, (Ref)caught->bits, 8);
    return keep_matching(g, (Ref)caught->bits);
}

bool infer_caught_type(Infer *in, Ref caught, const Type **out) {
    Gathered g;
    if (!gather_here(&g, in, type_caught(in->types, caught))) return false;
    in->unsettled = true; /* more may be found to be raised */
    *out = g.unknown ? type_any_exception(in->types)
                     : type_exception(in->types, g.found.items, g.found.len);
    return true;
}

/* What its __init__ makes of an attribute, "args" among them; *out NULL: nothing is known of that. */
static bool made_by_init(Infer *in, const RaisedAt *raised, Str name, const Type **out) {
    Resolver *r = in->ti->resolver;
    MemberKind kind;
    *out = NULL;
    if (!raised->cls->handle || raised->cls->builtin || !r->member) return true;
    const Binding *b = r->member(r->user, raised->cls->handle, name, false, &kind);
    if (!b) return in->stop = STOP_ABORT, false;
    if (b->kind != BIND_FUNCTION) return true;
    int32_t n = raised->args->nitems;
    Val *args = arena_array(in->arena, Val, n + 1), made = {0};
    for (int32_t k = 0; k < n; k++)
        args[k] = val_of(fact_of(raised->args->items[k]));
    Emit *emit = in->emit;
    bool report = in->report;
    in->emit = NULL;
    in->report = false; /* Python will say */
    bool known = v_call(in, val_of(fact_of(type_object(in->types, b))),
                        &(CallArgs){.args = args, .nargs = n}, &made);
    in->emit = emit;
    in->report = report;
    if (known) *out = ti_stored(in->types, made.f.type);
    if (!known && in->stop == STOP_ERROR) in->stop = STOP_NONE;
    return in->stop == STOP_NONE;
}

static bool is_readable(const Type *type) {
    for (int32_t k = 0; type->kind == TY_TUPLE && k < type->nitems; k++)
        if (!is_readable(type->items[k])) return false;
    return type_is_number(type) || type_is_text(type) || type->kind == TY_none ||
           (type->kind == TY_TUPLE && !type->fields);
}

/* The types that the exceptions have the attribute with, joined; *out NULL: of one of them that is not known. */
static bool type_by_init(Infer *in, const Gathered *g, Str name, const Type **out) {
    *out = NULL;
    for (int32_t k = 0; k < g->found.len; k++) {
        const Type *type;
        if (!made_by_init(in, g->found.items[k], name, &type)) return false;
        if (type && *out) type = ti_join(in->types, in->join, *out, type);
        *out = type && is_readable(type) ? type : NULL;
        if (!*out) return true;
    }
    return true;
}

/* Arguments are those of the constructor where no __init__ says otherwise. */
static bool found_args(Infer *in, const RaisedAt *raised, const Type **out) {
    if (!made_by_init(in, raised, STR("args"), out)) return false;
    if (!*out || (*out)->kind != TY_TUPLE || !is_readable(*out)) *out = raised->args;
    return true;
}

/* The type of e.args. */
static bool args_type(Infer *in, const Type *caught, const Type **out) {
    Gathered g;
    const Type *text = type_class_of(in->types, CLS_str, NULL);
    if (!gather_here(&g, in, caught)) return false;
    if (g.unknown) {
        ti_fail(in, in->at, E0101, "e.args of an exception of which nothing is known");
        return ti_advise(in, "read them in a handler that names its class"), false;
    }
    if (!g.found.len && caught->kind == TY_CAUGHT && instance_is_generator(in->inst) &&
        thrown_awaited(in))
        return in->stop = STOP_UNKNOWN, false;
    in->unsettled = true; /* more may be found to be raised */
    *out = type_tuple(in->types, &text, 1);
    if (g.found.len && !found_args(in, g.found.items[0], out)) return false;
    for (int32_t k = 1; k < g.found.len; k++) {
        const Type *args;
        if (!found_args(in, g.found.items[k], &args)) return false;
        if (args == *out) continue;
        ti_fail(in, in->at, E0101, "e.args of exceptions whose arguments have different types");
        if (in->report) {
            diag_note(in->diags, &g.found.items[0]->place, "%s here", ti_text(in, *out));
            diag_note(in->diags, &g.found.items[k]->place, "%s here", ti_text(in, args));
            diag_note(in->diags, NULL, "catch them by classes of their own, or ask for str(e)");
        }
        return false;
    }
    return true;
}

/* -- reading ---------------------------------------------------------------------------------------- */

/* PATH_CLASS: the name of its class. */
enum { PATH_STR = -1, PATH_REPR = -2, PATH_CLASS = -3, ANY_COUNT = -1, PATH_BITS = 8 };

/* The exception, where in its arguments to look, and how many there must be. */
typedef struct Place {
    Val exception;
    int64_t path, count;
    Val name; /* of the attribute, instead of the count */
} Place;

static void place_args(Infer *in, const Place *p, Val args[3]) {
    args[0] = (Val){.f = fact_of(i64_type(in->types)), .ref = p->exception.ref};
    args[1] = val_of(fact_int(in, p->path));
    args[2] = p->name.f.type ? p->name : val_of(fact_int(in, p->count));
}

static bool read_text(Infer *in, const Place *p, Val *out) {
    Val args[3] = {0};
    place_args(in, p, args);
    return v_library(in, "exception.text", &(CallArgs){args, 3, 0, NULL}, out);
}

static bool read_number(Infer *in, const Place *p, const char *row, int64_t imaginary, Val *out) {
    Val args[4] = {0};
    bool matched;
    place_args(in, p, args);
    args[3] = val_of(fact_int(in, imaginary));
    return v_row(in, str_from(row), args, 4, &matched, out);
}

static bool read_complex(Infer *in, const Place *p, const Type *type, Val *out) {
    Val part[2] = {0};
    for (int k = 0; k < 2; k++)
        if (!read_number(in, p, "primitive.exception_float", k, &part[k])) return false;
    *out = val_of(fact_of(type_scalar(in->types, TY_c128)));
    if (in->emit)
        out->ref = emit2(in->emit, OP_complex, out->f.type, v_ref(in, part[0]), v_ref(in, part[1]));
    *out = v_converted(in, *out, type);
    return true;
}

static bool read_value(Infer *in, const Place *p, const Type *type, Val *out) {
    if (type_is_text(type)) return read_text(in, p, out);
    if (type_is_of(type, CLS_bytes)) return ti_fail(in, in->at, E0101, "e.args with bytes in them");
    if (type_is_complex(type)) return read_complex(in, p, type, out);
    if (fact_none(&(Fact){.type = type})) return *out = val_of(fact_of(type)), true;
    if (type->kind != TY_TUPLE) {
        bool real = type_is_float(type);
        const char *row = real ? "primitive.exception_float" : "primitive.exception_int";
        if (!read_number(in, p, row, 0, out)) return false;
        return *out = v_converted(in, *out, type), true;
    }
    Val *items = arena_array(in->arena, Val, type->nitems);
    for (int32_t k = 0; k < type->nitems; k++) {
        Place item = {p->exception, (p->path << PATH_BITS) | (k + 1), p->count, p->name};
        if (!read_value(in, &item, type->items[k], &items[k])) return false;
    }
    return *out = v_tuple(in, items, type->nitems), true;
}

static Val with_ref(Infer *in, Val caught) {
    if (in->emit) caught.ref = v_exception_memory(in, caught);
    return caught;
}

static bool read_args(Infer *in, Val caught, Val *out) {
    const Type *type;
    if (!args_type(in, caught.f.type, &type)) return false;
    Place all = {.exception = with_ref(in, caught), .count = type->nitems};
    if (!read_value(in, &all, type, out)) return false;
    return v_exception_held(in, caught), true;
}

/* Attributes of builtin classes that are arguments: of so many arguments at least that one, else None; -1: all, if there are several. */
static const struct {
    const char *cls, *name;
    int32_t least, item;
} argument_attrs[] = {
    {"OSError", "errno", 2, 0},
    {"OSError", "strerror", 2, 1},
    {"StopIteration", "value", 1, 0},
    {"SystemExit", "code", 1, -1},
};

/* Is all that may come here derived from a builtin class? It is not where nothing is known of it. */
static bool all_of_class(Gathered *g, const char *name, bool *all) {
    ExceptionClass cls = {.name = {name, (int32_t)strlen(name)}, .builtin = true};
    const ClassSet set = {.asked = &cls, .nasked = 1};
    *all = g->found.len > 0;
    for (int32_t k = 0; k < g->found.len && *all; k++) {
        int is = is_of_classes(g->in, g->found.items[k], &set);
        if (is < 0) return g->in->stop = STOP_ABORT, false;
        *all = is != 0;
    }
    return true;
}

static bool argument_attr(Infer *in, Val caught, int32_t row, Val *out) {
    Val args = {0};
    if (!read_args(in, caught, &args)) return false;
    int32_t n = args.f.type->nitems, item = argument_attrs[row].item;
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (n < argument_attrs[row].least) return true;
    if (item < 0 && n > 1) return *out = args, true;
    return *out = v_item(in, args, QN_MAX(item, 0)), true;
}

/* What the classes themselves have, if none of them has an __init__ that may assign it anew, and all the same. */
static bool class_attr(Infer *in, const Gathered *g, Str name, const Binding **out) {
    Resolver *r = in->ti->resolver;
    *out = NULL;
    for (int32_t k = 0; k < g->found.len; k++) {
        const Binding *cls = g->found.items[k]->cls;
        const Binding *init = cls->handle ? r->attr(r->user, cls, STR("__init__")) : NULL;
        const Binding *b = init ? r->attr(r->user, cls, name) : NULL;
        if (cls->handle && !b) return in->stop = STOP_ABORT, false;
        bool constant = b && b->kind == BIND_CONST && init->kind != BIND_FUNCTION;
        if (!constant || (*out && *out != b)) return *out = NULL, true;
        *out = b;
    }
    return true;
}

/* e.n, as __init__ has set it: Python's answer, of a type that is known. */
static bool read_attr(Infer *in, Val caught, Str name, const Type *type, Val *out) {
    bool matched;
    ConstVal *text = arena_new(in->arena, ConstVal);
    *text = (ConstVal){.kind = CONST_STR, .str = name};
    Val of = {.f = {.type = type_class_of(in->types, CLS_str, NULL), .value = text}};
    Place place = {.exception = with_ref(in, caught)};
    if (!v_row(in, STR("primitive.text_at"), &of, 1, &matched, &place.name)) return false;
    if (!read_value(in, &place, type, out)) return false;
    return v_exception_held(in, caught), true;
}

/* e.__cause__ and e.__context__: exceptions of which nothing is known, or None. */
static bool read_earlier(Infer *in, Val caught, bool cause, Val *out) {
    Emit *e = in->emit;
    bool matched;
    const Type *any = type_any_exception(in->types), *i64 = i64_type(in->types);
    *out = val_of(fact_of(type_optional(in->types, any)));
    if (!e) return true;
    Val args[2] = {{.f = fact_of(i64), .ref = v_exception_memory(in, caught)},
                   val_of(fact_int(in, cause))},
        at;
    if (!v_row(in, STR("primitive.exception_earlier"), args, 2, &matched, &at)) return false;
    const Type *lowered = lower_type(in->ti, out->f.type), *object = lowered->items[1];
    Ref is = emit2(e, OP_ne, bool_type(in->types), v_ref(in, at), emit_int(e, i64, 0)), parts[2];
    int32_t some = emit_block(e), none = emit_block(e), end = emit_block(e);
    emit_branch(e, is, some, none);
    e->block = some;
    Ref made = emit1(e, OP_exception, object, v_ref(in, at));
    emit_jump(e, end);
    e->block = none;
    Ref nothing = emit_nothing(e, object);
    emit_jump(e, end);
    e->block = end;
    parts[0] = is;
    parts[1] = emit(e, OP_phi, object, NULL, 0);
    ir_add_arg(e->out, parts[1], made);
    ir_add_arg(e->out, parts[1], nothing);
    out->ref = emit(e, OP_tuple, lowered, parts, 2);
    return v_exception_held(in, caught), true;
}

bool v_caught_attr(Infer *in, Val caught, Str name, Val *out) {
    Gathered g;
    const Type *type;
    const Binding *b = NULL;
    Place cls = {.path = PATH_CLASS, .count = ANY_COUNT};
    if (type_is_caught_class(caught.f.type)) {
        if (!str_is(name, "__name__") && !str_is(name, "__qualname__"))
            return ti_fail(in, in->at, E0101, "this attribute of the class of an exception");
        cls.exception = with_ref(in, caught);
        if (!read_text(in, &cls, out)) return false;
        return v_exception_held(in, caught), true;
    }
    if (str_is(name, "args")) return read_args(in, caught, out);
    if (str_is(name, "__class__")) return v_caught_class(in, caught, out);
    bool cause = str_is(name, "__cause__");
    if ((cause || str_is(name, "__context__")) && ti_has_objects(in))
        return read_earlier(in, caught, cause, out);
    if (!gather_here(&g, in, caught.f.type)) return false;
    in->unsettled = true;
    for (int32_t k = 0; k < countof(argument_attrs); k++) {
        bool all;
        if (!str_is(name, argument_attrs[k].name)) continue;
        if (!all_of_class(&g, argument_attrs[k].cls, &all)) return false;
        if (all) return argument_attr(in, caught, k, out);
    }
    if (!g.unknown && !type_by_init(in, &g, name, &type)) return false;
    if (!g.unknown && type) return read_attr(in, caught, name, type, out);
    if (!class_attr(in, &g, name, &b)) return false;
    if (b) return fact_of_binding(in, b, name, &out->f);
    ti_fail(in, in->at, E0101, "this attribute of a caught exception");
    ti_advise(in, "its arguments are e.args, its text is str(e), its class is type(e)");
    return false;
}

/* -- its class -------------------------------------------------------------------------------------- */

/* The type has the negative number of the instruction that caught it; of an object it is infer_exception.c's. */
bool type_is_caught_class(const Type *type) {
    return type_is_exception_class(type) || (type->kind == TY_CAUGHT && (Ref)type->bits < 0);
}

bool infer_refuse_class(Infer *in, Ref at) {
    ti_fail(in, at, E0101, "the class of a caught exception as a value");
    return ti_advise(in,
                     "compare it: type(e) is ValueError, or isinstance(e, ValueError); its name is "
                     "type(e).__name__"),
           false;
}

bool v_caught_class(Infer *in, Val caught, Val *out) {
    const Type *mark = bool_type(in->types);
    if (type_is_caught_class(caught.f.type)) return infer_refuse_class(in, in->at);
    *out = caught;
    if (in->emit) out->ref = v_ref(in, caught);
    if (type_is_exception(caught.f.type))
        return out->f = fact_of(type_class_of(in->types, CLS_exception, &mark)), true;
    out->f = fact_of(type_caught(in->types, -(Ref)caught.f.type->bits));
    return true;
}

bool v_compare_caught_class(Infer *in, bool is_not, Val a, Val b, bool *done, Val *out) {
    bool left = type_is_caught_class(a.f.type), right = type_is_caught_class(b.f.type);
    *done = left != right;
    if (!*done) return !left || infer_refuse_class(in, in->at);
    const Binding *cls = fact_object(right ? &a.f : &b.f);
    *out = val_of(fact_bool(in, is_not));
    if (!cls || cls->kind != BIND_EXCEPTION) return true;
    *out = val_of(fact_of(bool_type(in->types)));
    if (!in->emit) return true;
    ClassSet *set = arena_new(in->arena, ClassSet);
    if (!infer_classes(in, set, right ? a : b, false)) return false;
    vec_push(in->ti->arena, &in->ti->exact, set);
    out->ref = emit1(in->emit, OP_matches, out->f.type, v_ref(in, right ? b : a));
    ir_inst(in->emit->out, out->ref)->u.classes = set;
    if (is_not) out->ref = emit1(in->emit, OP_not, out->f.type, out->ref);
    return true;
}

/* -- calls ------------------------------------------------------------------------------------------ */

/* A caught exception, an object, or one of these or None. */
static bool is_exception(const Val *v) {
    if (is_kind(v, TY_OPTIONAL)) return type_is_of(v->f.type->element, CLS_exception);
    return is_kind(v, TY_CAUGHT) || type_is_of(v->f.type, CLS_exception);
}

static bool any_caught(const CallArgs *args, bool *in_memory) {
    bool any = *in_memory = false;
    for (int32_t i = 0; i < args->nargs; i++) {
        any |= is_exception(&args->args[i]);
        *in_memory |= is_kind(&args->args[i], TY_CAUGHT);
    }
    return any;
}

/* None is of no class of exceptions. */
static void optional_matches(Infer *in, ClassSet *set, Ref whole, Val *out) {
    Emit *e = in->emit;
    int32_t some = emit_block(e), none = emit_block(e), end = emit_block(e);
    emit_branch(e, emit_item(e, whole, 0), some, none);
    e->block = some;
    Ref is = emit1(e, OP_matches, out->f.type, emit_item(e, whole, 1));
    ir_inst(e->out, is)->u.classes = set;
    emit_jump(e, end);
    e->block = none;
    emit_jump(e, end);
    e->block = end;
    out->ref = emit(e, OP_phi, out->f.type, NULL, 0);
    ir_add_arg(e->out, out->ref, is);
    ir_add_arg(e->out, out->ref, emit_int(e, out->f.type, 0));
}

static bool caught_isinstance(Infer *in, const CallArgs *args, Val *out) {
    ClassSet *set = arena_new(in->arena, ClassSet);
    Val exception = args->args[0];
    if (type_is_caught_class(exception.f.type)) return infer_refuse_class(in, in->at);
    if (args->nargs != 2 || !infer_classes(in, set, args->args[1], true)) return false;
    if (!set->nasked) return out->f = fact_bool(in, false), true;
    *out = val_of(fact_of(bool_type(in->types)));
    if (!in->emit) return true;
    if (is_kind(&exception, TY_OPTIONAL)) {
        optional_matches(in, set, v_ref(in, exception), out);
        return true;
    }
    out->ref = emit1(in->emit, OP_matches, out->f.type, v_ref(in, exception));
    ir_inst(in->emit->out, out->ref)->u.classes = set;
    return true;
}

bool v_call_with_caught(Infer *in, const Binding *callee, CallArgs *args, bool *done, Val *out) {
    bool in_memory;
    *done = false;
    if (!any_caught(args, &in_memory)) return true;
    bool library = callee && callee->kind == BIND_LIBRARY;
    if (library && str_is(callee->name, "builtins.isinstance") && is_exception(&args->args[0]))
        return *done = true, caught_isinstance(in, args, out);
    static const char *const takers[] = {"builtins.type", "generator.throw"};
    for (int k = 0; library && k < countof(takers); k++)
        if (str_is(callee->name, takers[k])) return true;
    if (!library || !makes_text(callee->name)) return !in_memory || infer_keep_caught(in, in->at);
    bool shown = str_is(callee->name, "builtins.repr") || str_is(callee->name, "builtins.ascii");
    Val *values = arena_array(in->arena, Val, args->nargs);
    for (int32_t i = 0; i < args->nargs; i++) {
        values[i] = args->args[i];
        if (!is_exception(&values[i])) continue;
        Val exception = v_present(in, values[i]);
        if (type_is_caught_class(exception.f.type)) return infer_refuse_class(in, in->at);
        Place whole = {.exception = with_ref(in, exception),
                       .path = shown ? PATH_REPR : PATH_STR,
                       .count = ANY_COUNT};
        if (!read_text(in, &whole, &values[i])) return false;
        v_exception_held(in, exception);
    }
    args->args = values;
    if (shown) return *done = true, *out = values[0], true;
    return true;
}
