/* infer_generator.c - generators: functions that yield, as iterators.
 *
 * A call of one makes a generator. Its type is the instance of the function, so what a loop asks for its items is known when the
 * program is compiled. In typed code it is one block of memory, the frame: an array of bytes to whoever holds it, and to the function,
 * which is split into parts (specialize_generator.c), a tuple of what must outlive a yield. */
#include "typeinfer/infer.h"

bool type_is_generator(const Type *type) {
    return type->kind == TY_ITER && type->bits == ITER_GENERATOR;
}

static Instance *instance_of(const Type *generator) {
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

bool v_yield(Infer *in, Ref ref, Val *out) {
    Instance *inst = in->inst;
    Val v;
    if (!infer_operand(in, ref, 0, &v)) return false;
    out->f = fact_of(type_scalar(in->types, TY_none));
    if (!target_is_host(in->ti->options.target) || in->kernel)
        return ti_fail(in, ref, E0404, "a generator", "in a kernel");
    if (!v_text(in, &v)) return false;
    if (v.f.type->kind == TY_ITER || v.f.type->kind == TY_SLICE || v.f.type->kind == TY_RANGE ||
        !v_refuse_fresh(in, v.f.type) ||
        (inst->serial == 0 && !is_returnable(ti_stored(in->types, v.f.type))))
        return ti_fail(in, ref, E0215, ti_text(in, v.f.type));
    if (in->emit) {
        emit1(in->emit, OP_yield, out->f.type, v_as(in, v, inst->yielded.type));
        return true;
    }
    Fact here = fact_of(ti_stored(in->types, v.f.type)), joined = here;
    here.python = v.f.python;
    if (inst->yielded.type && !fact_join(in, &inst->yielded, &here, &joined))
        return ti_fail(in, ref, E0205, ti_text(in, inst->yielded.type), ti_text(in, here.type));
    joined.array = NULL, joined.items = NULL, joined.value = NULL;
    if (inst->yielded.type != joined.type) in->ti->changes++;
    inst->yielded = joined;
    return true;
}

/* The result is that of a StopIteration, which nobody sees here. */
bool v_generator_return(Infer *in, Ref ref, const Val *v) {
    if (fact_none(&v->f)) return true;
    return ti_fail(in, ref, E0101, "a return value of a generator");
}

bool v_generator_next(Infer *in, Val it, int32_t miss, Val *out) {
    Emit *e = in->emit;
    Instance *inst = instance_of(it.f.type);
    if (!inst->yielded.type && inst->state == INST_DONE &&
        !instance_is_open(inst)) /* it never yields */
        inst->yielded = fact_of(type_scalar(in->types, TY_none));
    if (inst->state != INST_DONE) in->unsettled = true;
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
