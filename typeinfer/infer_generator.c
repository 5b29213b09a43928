/* infer_generator.c - generators: functions that yield, as iterators.
 *
 * A call of one makes a generator. Its type is the instance of the function, so what a loop asks for its items is known when the
 * program is compiled. In typed code it is one block of memory, the frame: an array of bytes to whoever holds it, and to the function,
 * which is split into parts (specialize_generator.c), a tuple of what must outlive a yield. */
#include "typeinfer/infer.h"

bool type_is_generator(const Type *type) {
    return type->kind == TY_ITER && type->bits == ITER_GENERATOR;
}

Instance *generator_instance(const Type *generator) {
    return generator->element->binding->handle;
}

bool instance_is_generator(const Instance *inst) {
    return inst->info->code->flags & CODE_GENERATOR;
}

const Type *generator_type(Infer *in, Instance *inst) {
    if (inst->generator) return inst->generator;
    Binding *b = arena_new(in->arena, Binding);
    *b = (Binding){.kind = BIND_FUNCTION, .handle = inst, .name = inst->info->code->name};
    return inst->generator = type_iter(in->types, type_object(in->types, b), ITER_GENERATOR);
}

const Type *generator_frame(TypeTable *types) {
    return type_array(types, type_scalar(types, TY_u8), 1, LAYOUT_A);
}

/* What its function yields; NULL: not known yet. */
const Type *generator_item(const Instance *inst) {
    return inst->yielded.type;
}

static void raise_exit(Infer *in) {
    RaiseSite *site = arena_new(in->arena, RaiseSite);
    *site = (RaiseSite){.class_name = STR("GeneratorExit"), .builtin = true};
    Ref raise = emit(in->emit, OP_raise, NULL, NULL, 0);
    ir_inst(in->emit->out, raise)->u.exception = site;
}

/* `yield from` of a generator passes on how it shall go on; when that has been closed, this one is. */
static void emit_passed_on(Infer *in, Val from, Ref how, int32_t on) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(e->types);
    Func *resume = instance_typed(in->ti, generator_instance(from.f.type));
    Ref frame = v_ref(in, from), size = emit_int(e, i64, 8);
    Ref words = emit3(e, OP_restride, type_array(e->types, i64, 1, LAYOUT_A), frame,
                      emit_int(e, i64, 2), size);
    emit3(e, OP_store, NULL, words, emit_int(e, i64, 1), how);
    int32_t close = emit_block(e);
    Ref closes = emit2(e, OP_eq, bool_type(e->types), how, emit_int(e, i64, ON_CLOSE));
    emit_branch(e, closes, close, on);
    e->block = close;
    Ref call = emit(e, OP_call, resume->result, &frame, 1);
    ir_inst(e->out, call)->u.func = resume;
    emit_guard(e, GUARD_generator_exit, emit_item(e, call, 0), NULL, 0);
    raise_exit(in);
}

/* `how` may be the address of an exception that compiled code throws in. */
void emit_thrown(Emit *e, Ref how) {
    if (!e->ti->throws) return;
    int32_t thrown = emit_block(e), other = emit_block(e);
    Ref there =
        emit2(e, OP_lt, bool_type(e->types), emit_int(e, i64_type(e->types), ON_THROW), how);
    emit_branch(e, there, thrown, other);
    e->block = thrown;
    emit1(e, OP_reraise, NULL, how);
    e->block = other;
}

/* Control is behind a yield that gives `how` (HowOn). Whatever is raised, the handlers around the yield see it. */
static void emit_resumed(Infer *in, Ref how, const Val *from) {
    Emit *e = in->emit;
    const Type *truth = bool_type(e->types), *i64 = i64_type(e->types);
    Ref next = emit2(e, OP_eq, truth, how, emit_int(e, i64, ON_NEXT));
    int32_t on = emit_block(e), off = emit_block(e);
    emit_branch(e, next, on, off);
    e->block = off;
    if (from && type_is_generator(from->f.type)) {
        emit_passed_on(in, *from, how, on);
    } else {
        emit_thrown(e, how);
        emit1(e, OP_pending, NULL, emit2(e, OP_eq, truth, how, emit_int(e, i64, ON_THROW)));
        raise_exit(in);
    }
    e->block = on;
}

/* What is sent to it goes to the generator of a `yield from`. */
static Ref emit_yield(Infer *in, Ref item, const Val *from) {
    Emit *e = in->emit;
    const Type *sent = sent_type(in->ti, in->inst);
    const Type *parts[2] = {i64_type(e->types), sent ? lower_type(in->ti, sent) : NULL};
    int32_t error = e->error;
    e->error = NO_BLOCK;
    Ref yield = emit1(e, OP_yield, sent ? type_tuple(e->types, parts, 2) : parts[0], item);
    e->error = error;
    Ref how = sent ? emit_item(e, yield, 0) : yield, value = sent ? emit_item(e, yield, 1) : NO_REF;
    if (in->ti->closes) emit_resumed(in, how, from);
    const Type *on = from && type_is_generator(from->f.type)
                         ? sent_type(in->ti, generator_instance(from->f.type))
                         : NULL;
    if (sent && on) emit_give(in, *from, v_as(in, (Val){.f = fact_of(sent), .ref = value}, on));
    return value;
}

bool infer_hold(Infer *in, Ref ref) {
    Val v = {0};
    if (!infer_operand(in, ref, 0, &v)) return false;
    if (in->emit && in->ti->closes && type_holds_frame(lower_type(in->ti, v.f.type)))
        emit1(in->emit, OP_hold, NULL, v_ref(in, v));
    return true;
}

bool v_yield(Infer *in, Ref ref, Val *out) {
    Instance *inst = in->inst;
    Val v = {0}, from = {0};
    bool passes = ir_inst(in->f, ref)->nargs > 1;
    if (!infer_operand(in, ref, 0, &v) || (passes && !infer_operand(in, ref, 1, &from)))
        return false;
    out->f = fact_of(type_scalar(in->types, TY_none));
    if (ir_inst(in->f, ref)->sub == FLAG_GUARDED) in->ti->closes = true;
    if (!target_is_host(in->ti->options.target) || in->kernel)
        return ti_fail(in, ref, E0404, "a generator", "in a kernel");
    if (!v_text(in, &v)) return false;
    if (v.f.type->kind == TY_ITER || v.f.type->kind == TY_SLICE || v.f.type->kind == TY_RANGE ||
        !v_refuse_fresh(in, v.f.type) ||
        (inst->serial == 0 && !is_returnable(ti_stored(in->types, v.f.type))))
        return ti_fail(in, ref, E0215, ti_text(in, v.f.type));
    if (in->emit) {
        out->ref = emit_yield(in, v_as(in, v, inst->yielded.type), passes ? &from : NULL);
        return sent_at_yield(in, ref, passes ? &from : NULL, out);
    }
    Fact here = fact_of(ti_stored(in->types, v.f.type)), joined = here;
    here.python = v.f.python;
    if (inst->yielded.type && !fact_join(in, &inst->yielded, &here, &joined))
        return ti_fail(in, ref, E0205, ti_text(in, inst->yielded.type), ti_text(in, here.type));
    joined.array = NULL, joined.items = NULL, joined.value = NULL;
    if (inst->yielded.type != joined.type) in->ti->changes++;
    inst->yielded = joined;
    return sent_at_yield(in, ref, passes ? &from : NULL, out);
}

bool generator_returns(const Instance *inst) {
    return inst->result.type && inst->result.type->kind != TY_none;
}

bool v_generator_result(Infer *in, Val it, Ref item, Val *out) {
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!is_kind(&it, TY_ITER) || !type_is_generator(it.f.type)) return true;
    Instance *inst = generator_instance(it.f.type);
    infer_asked(in, inst);
    if (!inst->result.type && inst->state != INST_DONE) return in->stop = STOP_UNKNOWN, false;
    if (!generator_returns(inst)) return true;
    out->f = inst->result;
    out->f.unbound = out->f.conflict = false;
    out->f.python = 0;
    if (in->emit) out->ref = emit_item(in->emit, ir_arg(in->emit->out, item, 0), 2);
    return true;
}

bool v_generator_next(Infer *in, Val it, int32_t miss, Val *out) {
    Emit *e = in->emit;
    Instance *inst = generator_instance(it.f.type);
    if (!inst->yielded.type && inst->state == INST_DONE && !instance_is_open(inst)) {
        inst->yielded = fact_of(type_scalar(in->types, TY_none));
        inst->barren = true;
    }
    infer_asked(in, inst);
    if (!inst->yielded.type) return in->stop = STOP_UNKNOWN, false;
    *out = val_of(fact_of(inst->yielded.type));
    if (!e) return true;
    Func *resume = instance_typed(in->ti, inst);
    Ref frame = v_ref(in, it), call = emit(e, OP_call, resume->result, &frame, 1);
    ir_inst(e->out, call)->u.func = resume;
    int32_t there = emit_block(e);
    emit_branch(e, emit_item(e, call, 0), there, miss);
    e->block = there;
    out->ref = emit_item(e, call, 1);
    return true;
}
