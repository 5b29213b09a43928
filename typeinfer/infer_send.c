/* infer_send.c - the methods of generators in compiled code: send(), throw(), close().
 *
 * What is sent to a generator decides the type of its yields, and is known only where it is sent, behind the function of the generator. So a
 * yield whose value is used gives nothing in the first round of inference; what send() is given is joined for each instance of the function, and all
 * begins again (Ti.again) with what is known by then. Since next() sends None, the value is an optional one; where nothing but None is sent, it is None.
 *
 * In typed code the frame has a place for it behind its first words, which the sender fills. An exception that is thrown in lies in memory of whoever throws it,
 * as a caught one does: the frame is told its address (HowOn), and the yield raises what is there. */
#include "typeinfer/infer.h"

struct SentSite {
    const void *code;  /* the handle of the function: the same each time that inference begins */
    const Slot *slots; /* of the instance */
    int32_t nslots;
    const Type *content; /* NULL: nothing is sent, or None alone */
    bool asked;          /* the value of a yield is used */
    bool looked_at;      /* the arguments of what is thrown in are */
    bool settled;        /* nobody sends anything, or throws */
    Vec(const RaisedAt *) thrown;
};

static bool same_site(const SentSite *site, const Instance *inst) {
    if (site->code != inst->info->code->handle || site->nslots != inst->nslots) return false;
    for (int32_t i = 0; i < inst->nslots; i++)
        if (!fact_equal(&site->slots[i].fact, &inst->slots[i].fact)) return false;
    return true;
}

static SentSite *site_of(Ti *ti, const Instance *inst) {
    for (int32_t i = 0; i < ti->sent->len; i++)
        if (same_site(ti->sent->items[i], inst)) return ti->sent->items[i];
    SentSite *site = arena_new(ti->arena, SentSite);
    *site =
        (SentSite){.code = inst->info->code->handle, .slots = inst->slots, .nslots = inst->nslots};
    vec_push(ti->arena, ti->sent, site);
    return site;
}

bool sent_settle(Ti *ti) {
    bool any = false;
    for (int32_t i = 0; i < ti->sent->len; i++) {
        SentSite *site = ti->sent->items[i];
        bool waits = (site->asked && !site->content) || (site->looked_at && !site->thrown.len);
        if (!waits || site->settled) continue;
        any = site->settled = true;
    }
    return any;
}

const Type *sent_type(Ti *ti, const Instance *inst) {
    const SentSite *site = site_of(ti, inst);
    return site->asked && site->content ? type_optional(ti->types, site->content) : NULL;
}

/* -- what yields give --------------------------------------------------------------------------------- */

static bool is_used(const Infer *in, Ref value) {
    for (Ref ref = 1; ref < in->f->insts.len; ref++)
        for (int32_t k = 0; k < ir_inst(in->f, ref)->nargs; k++)
            if (ir_inst(in->f, ref)->op != OP_removed && ir_arg(in->f, ref, k) == value)
                return true;
    return false;
}

static bool widen(Infer *in, const Instance *inst, const Type *type) {
    SentSite *site = site_of(in->ti, inst);
    if (type->kind == TY_OPTIONAL) type = type->element;
    if (type->kind == TY_none) return true;
    const Type *both = site->content ? container_join(in, site->content, type) : type;
    if (!both) {
        ti_fail(in, in->at, E0205, ti_text(in, site->content), ti_text(in, type));
        return ti_advise(in, "what is sent to a generator is of one type"), false;
    }
    if (type_is_too_large(both)) return infer_too_large(in, in->at, both);
    in->ti->again |= both != site->content && site->asked;
    site->content = both;
    return true;
}

bool sent_at_yield(Infer *in, Ref yield, const Val *from, Val *out) {
    Instance *inst = in->inst;
    bool passes = from && type_is_generator(from->f.type);
    if (passes && site_of(in->ti, generator_instance(from->f.type))->asked)
        site_of(in->ti, inst)->asked = true;
    bool used = inst->serial && is_used(in, yield);
    if (used) site_of(in->ti, inst)->asked = true;
    const Type *type = sent_type(in->ti, inst);
    if (passes && type && !in->emit && !widen(in, generator_instance(from->f.type), type))
        return false;
    if (type) return out->f = fact_of(type), true;
    if (!used || site_of(in->ti, inst)->settled) return true;
    inst->waits = true;
    return in->stop = STOP_UNKNOWN, false;
}

/* -- what is thrown in -------------------------------------------------------------------------------- */

const RaisedAt *thrown_into(Ti *ti, const Instance *inst, int32_t k) {
    const SentSite *site = site_of(ti, inst);
    return k < site->thrown.len ? site->thrown.items[k] : NULL;
}

bool thrown_awaited(Infer *in) {
    SentSite *site = site_of(in->ti, in->inst);
    if (!in->inst->serial || site->thrown.len || site->settled) return false;
    return site->looked_at = in->inst->waits = true;
}

void note_thrown(Infer *in, const Instance *inst, const Binding *cls, const Type *args) {
    SentSite *site = site_of(in->ti, inst);
    for (int32_t k = 0; k < site->thrown.len; k++)
        if (site->thrown.items[k]->cls == cls && site->thrown.items[k]->args == args) return;
    RaisedAt *raised = arena_new(in->arena, RaisedAt);
    *raised = (RaisedAt){in->at, cls, args, ti_span(in, in->at)};
    vec_push(in->arena, &site->thrown, raised);
    in->ti->again = true; /* its handlers look again */
}

/* -- frames ------------------------------------------------------------------------------------------- */

static Ref words_of(Infer *in, Ref frame) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(e->types);
    return emit3(e, OP_restride, type_array(e->types, i64, 1, LAYOUT_A), frame, emit_int(e, i64, 2),
                 emit_int(e, i64, 8));
}

static Ref state_of(Infer *in, Ref words) {
    const Type *i64 = i64_type(in->types);
    return emit2(in->emit, OP_load, i64, words, emit_int(in->emit, i64, 0));
}

static Ref is_state(Infer *in, Ref words, int64_t state) {
    Emit *e = in->emit;
    return emit2(e, OP_eq, bool_type(e->types), state_of(in, words),
                 emit_int(e, i64_type(e->types), state));
}

void emit_give(Infer *in, Val generator, Ref value) {
    Emit *e = in->emit;
    const Type *sent = sent_type(in->ti, generator_instance(generator.f.type));
    const Type *i64 = i64_type(e->types), *word[3] = {i64, i64, i64};
    if (!sent) return;
    const Type *stored = word[1 + in->ti->closes] = lower_type(in->ti, sent);
    const Type *front = type_tuple(e->types, word, 2 + in->ti->closes);
    Ref parts[4] = {v_ref(in, generator), emit_int(e, i64, 1), emit_int(e, i64, type_size(stored)),
                    emit_int(e, i64, type_offset(front, 1 + in->ti->closes))};
    Ref place = emit(e, OP_restride, type_array(e->types, stored, 1, LAYOUT_A), parts, 4);
    emit3(e, OP_store, NULL, place, emit_int(e, i64, 0), value);
}

static void emit_sent(Infer *in, Val generator, Val value) {
    Emit *e = in->emit;
    Ref unstarted = is_state(in, words_of(in, v_ref(in, generator)), STATE_START);
    if (is_kind(&value, TY_OPTIONAL))
        unstarted =
            emit2(e, OP_and, bool_type(e->types), unstarted, emit_item(e, v_ref(in, value), 0));
    if (!fact_none(&value.f)) emit_guard(e, GUARD_generator_unstarted, unstarted, NULL, 0);
    const Type *sent = sent_type(in->ti, generator_instance(generator.f.type));
    if (sent && !fact_none(&value.f)) emit_give(in, generator, v_as(in, value, sent));
}

/* -- the methods -------------------------------------------------------------------------------------- */

static bool is_generator(Infer *in, const char *name, const Val *v, const CallArgs *args) {
    if (is_kind(v, TY_ITER) && type_is_generator(v->f.type)) return true;
    return v_refuse(in, REFUSE_CALL, name, args->args, args->nargs);
}

static bool next_item(Infer *in, Val generator, const CallArgs *args, Val *out) {
    Val v[2] = {generator};
    return typed_next(in, v, args, out);
}

bool typed_going_on(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    return is_generator(in, "__next__", v, args) && next_item(in, *v, args, out);
}

bool typed_send(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val value = v[1];
    if (!is_generator(in, "send", v, args) || !v_text(in, &value) ||
        !v_refuse_fresh(in, value.f.type))
        return false;
    const Type *type = ti_stored(in->types, value.f.type);
    if (!in->emit && type->kind == TY_TUPLE && value.src && list_is_object(in, value.src))
        return in->stop = STOP_UNKNOWN, false; /* it was a tuple until now */
    if (!in->emit && !widen(in, generator_instance(v->f.type), type)) return false;
    if (in->emit) emit_sent(in, *v, value);
    return next_item(in, *v, args, out);
}

static ClassSet *exit_classes(Infer *in) {
    ClassSet *set = arena_new(in->arena, ClassSet);
    ExceptionClass *all = arena_array(in->arena, ExceptionClass, 2);
    all[0] = (ExceptionClass){.name = STR("GeneratorExit"), .builtin = true};
    all[1] = (ExceptionClass){.name = STR("StopIteration"), .builtin = true};
    *set = (ClassSet){.asked = all, .nasked = 2};
    return set;
}

/* What it raises comes out again, but for what says that it has ended. */
static void emit_left(Infer *in, int32_t handler, int32_t end) {
    Emit *e = in->emit;
    int32_t other = emit_block(e);
    e->block = handler;
    Ref caught = emit(e, OP_caught, i64_type(e->types), NULL, 0);
    Ref ended = emit1(e, OP_matches, bool_type(e->types), caught);
    ir_inst(e->out, ended)->u.classes = exit_classes(in);
    emit_branch(e, ended, end, other);
    e->block = other;
    emit1(e, OP_reraise, NULL, caught);
}

static void emit_close(Infer *in, Val generator) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(e->types);
    Func *resume = instance_typed(in->ti, generator_instance(generator.f.type));
    Ref frame = v_ref(in, generator), words = words_of(in, frame);
    int32_t waits = emit_block(e), end = emit_block(e), handler = emit_block(e), error = e->error;
    emit_branch(e, is_state(in, words, STATE_DONE), end, waits);
    e->block = waits;
    emit3(e, OP_store, NULL, words, emit_int(e, i64, 1), emit_int(e, i64, ON_CLOSE));
    e->error = handler;
    Ref call = emit(e, OP_call, resume->result, &frame, 1);
    ir_inst(e->out, call)->u.func = resume;
    e->error = error;
    emit_guard(e, GUARD_generator_exit, emit_item(e, call, 0), NULL, 0);
    emit_jump(e, end);
    emit_left(in, handler, end);
    e->block = end;
}

bool typed_close(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    if (!is_generator(in, "close", v, args)) return false;
    in->ti->closes = true;
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (in->emit) emit_close(in, *v);
    return true;
}

/* A generator that has ended raises it at once. */
static void emit_throw(Infer *in, Val generator, Ref caught) {
    Emit *e = in->emit;
    Ref words = words_of(in, v_ref(in, generator));
    int32_t done = emit_block(e), waits = emit_block(e);
    emit_branch(e, is_state(in, words, STATE_DONE), done, waits);
    e->block = done;
    emit1(e, OP_reraise, NULL, caught);
    e->block = waits;
    emit3(e, OP_store, NULL, words, emit_int(e, i64_type(e->types), 1), caught);
}

bool typed_throw(Infer *in, const Val *v, const CallArgs *args, Val *out) {
    Val exception = v[1];
    if (!is_generator(in, "throw", v, args)) return false;
    in->ti->closes = in->ti->throws = true;
    if (!is_kind(&exception, TY_CAUGHT)) {
        Emit *e = in->emit;
        int32_t handler = e ? emit_block(e) : NO_BLOCK, error = e ? e->error : NO_BLOCK;
        if (e) e->error = handler;
        bool ok = v_throw(in, generator_instance(v->f.type), exception);
        if (e) e->error = error;
        if (!ok) return false;
        if (e) e->block = handler;
        exception.ref = e ? emit(e, OP_caught, i64_type(e->types), NULL, 0) : NO_REF;
    }
    if (in->emit) emit_throw(in, *v, exception.ref ? exception.ref : v_ref(in, exception));
    return next_item(in, *v, args, out);
}
