/* infer_stop.c - a StopIteration that leaves a generator becomes a RuntimeError, whose cause it is: PEP 479.
 *
 * What raises in a generator and has no handler there gets one where the exception may be a StopIteration: a raise statement, an exception
 * that is raised again, and calls that may come to one. Everything else leaves the function as it always does, and costs nothing. */
#include "frontend/base/bits.h"
#include "typeinfer/infer.h"

typedef struct Search {
    Ti *ti;
    Bits seen; /* instances, by number */
} Search;

static bool is_stop(Ti *ti, const Binding *cls) {
    if (!cls) return true; /* an object */
    ExceptionClass raised = {cls->name, cls->handle, cls->builtin},
                   stop = {.name = STR("StopIteration")};
    int is = ti->resolver->subclass(ti->resolver->user, &raised, &stop);
    ti->aborted |= is < 0;
    return is != 0;
}

/* next(it), without a default, and what resumes a generator. */
static bool asks_next(const Infer *in, Ref ref) {
    static const char *const names[] = {"builtins.next", "generator.__next__", "generator.send",
                                        "generator.throw"};
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op != OP_call_py && inst->op != OP_call_star) return false;
    const Fact *callee = &in->facts[ir_arg(in->f, ref, 0)];
    const Binding *b = callee->type ? fact_object(callee) : NULL;
    for (int k = 0; b && b->kind == BIND_LIBRARY && k < countof(names); k++)
        if (str_is(b->name, names[k])) return true;
    return false;
}

static bool may_stop(Search *s, const Instance *inst, Ref at);

/* Those that are kept for other compilations call nothing of the user's. */
static bool function_may_stop(Search *s, const Instance *inst) {
    if (!inst->facts || instance_is_generator(inst) || bits_get(&s->seen, inst->serial))
        return false;
    bits_set(&s->seen, inst->serial);
    for (Ref ref = 1; ref < inst->facts->f->insts.len; ref++)
        if (asks_next(inst->facts, ref)) return true;
    return may_stop(s, inst, NO_REF);
}

/* At an instruction; NO_REF: at any. */
static bool may_stop(Search *s, const Instance *inst, Ref at) {
    for (int32_t k = 0; k < inst->raises.len; k++)
        if ((!at || inst->raises.items[k].at == at) && is_stop(s->ti, inst->raises.items[k].cls))
            return true;
    for (int32_t k = 0; k < inst->calls.len; k++)
        if ((!at || inst->calls.items[k].at == at) &&
            function_may_stop(s, inst->calls.items[k].callee))
            return true;
    return false;
}

bool stop_may_leave(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->error != NO_BLOCK || !instance_is_generator(in->inst) || !in->guards || in->kernel ||
        !target_is_host(in->ti->options.target))
        return false;
    if (inst->op == OP_reraise || asks_next(in, ref)) return true;
    if (inst->op == OP_yield && in->ti->throws) return true;
    Search s = {in->ti, bits_new(in->arena, in->ti->instances.len)};
    return may_stop(&s, in->inst, ref);
}

void emit_stop_leaves(Infer *in, int32_t handler) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(e->types);
    int32_t here = e->block, stopped = emit_block(e), other = emit_block(e), raised = emit_block(e);
    ClassSet *set = arena_new(in->arena, ClassSet);
    ExceptionClass *stop = arena_new(in->arena, ExceptionClass);
    *stop = (ExceptionClass){.name = STR("StopIteration"), .builtin = true};
    *set = (ClassSet){.asked = stop, .nasked = 1};
    RaiseSite *site = arena_new(in->arena, RaiseSite);
    *site = (RaiseSite){.class_name = STR("RuntimeError"),
                        .builtin = true,
                        .has_message = true,
                        .message = STR("generator raised StopIteration")};
    e->block = handler, e->error = NO_BLOCK;
    Ref caught = emit(e, OP_caught, i64, NULL, 0);
    Ref stops = emit1(e, OP_matches, bool_type(e->types), caught);
    ir_inst(e->out, stops)->u.classes = set;
    emit_branch(e, stops, stopped, other);
    e->block = other;
    emit1(e, OP_reraise, NULL, caught);
    e->block = stopped, e->error = raised;
    emit1(e, OP_cause, NULL, caught);
    Ref raise = emit(e, OP_raise, NULL, NULL, 0);
    ir_inst(e->out, raise)->u.exception = site;
    e->block = raised, e->error = NO_BLOCK; /* its context */
    emit1(e, OP_reraise, NULL, emit1(e, OP_caught, i64, caught));
    e->block = here;
}
