/* infer_raise.c - the statement raise. */
#include "typeinfer/infer.h"

static const Binding *exception_of(const Val *v) {
    const Binding *b = fact_object(&v->f);
    return b && b->kind == BIND_EXCEPTION ? b : NULL;
}

/* The arguments of the exception: those of the call that made it. */
static bool raise_args(Infer *in, Ref exception, RaiseSite *site, Ref *refs, int32_t *n) {
    const Inst *inst = ir_inst(in->f, exception);
    *n = 0;
    if (inst->op != OP_call_py) return true;
    for (int32_t k = 1; k < inst->nargs; k++) {
        Val v;
        if (!infer_operand(in, exception, k, &v)) return false;
        const Str *text = fact_str(&v.f);
        if (text && k == 1) {
            site->has_message = true, site->message = *text;
        } else if (type_is_scalar(v.f.type) && *n < 8) {
            if (in->emit) refs[*n] = v_ref(in, v);
            ++*n;
        } else {
            return ti_fail(
                in, exception, E0101,
                "an exception argument that is neither a number nor a constant first string");
        }
    }
    return true;
}

/* One of the calls with arguments that may have made `exception`, where paths meet; NO_REF: none has any. */
static Ref made_with_arguments(Infer *in, Ref exception) {
    Bits seen = bits_new(in->arena, in->f->insts.len);
    Vec(Ref) todo = {0};
    vec_push(in->arena, &todo, exception);
    while (todo.len) {
        Ref ref = vec_pop(&todo);
        const Inst *inst = ir_inst(in->f, ref);
        if (inst->op == OP_call_py && inst->nargs > 1) return ref;
        if ((inst->op != OP_phi && inst->op != OP_check_bound) || bits_get(&seen, ref)) continue;
        bits_set(&seen, ref);
        for (int32_t k = 0; k < inst->nargs; k++)
            vec_push(in->arena, &todo, ir_arg(in->f, ref, k));
    }
    return NO_REF;
}

/* Exceptions are no values yet: the arguments of one are known only where a single call made it. */
static bool raise_known(Infer *in, Ref ref, Ref exception) {
    if (ir_inst(in->f, exception)->op == OP_call_py) return true;
    Ref made = made_with_arguments(in, exception);
    if (!made) return true;
    ti_fail(in, ref, E0101, "raising an exception that was made on one of several paths");
    if (in->report) {
        diag_note(in->diags, ti_spanp(in, made), "one is made here");
        diag_note(in->diags, NULL, "raise each where it is made");
    }
    return false;
}

bool infer_raise(Infer *in, Ref ref) {
    Emit *e = in->emit;
    Val v;
    if (ir_inst(in->f, ref)->nargs == 0) return ti_fail(in, ref, E0101, "a bare raise");
    if (!infer_operand(in, ref, 0, &v)) return false;
    const Binding *b = exception_of(&v);
    if (!b) return ti_fail(in, ref, E0101, "raising a value that is not an exception");
    if (!raise_known(in, ref, v.src)) return false;
    int32_t error = ir_inst(in->f, ref)->error;
    RaiseSite *site = arena_new(in->arena, RaiseSite);
    *site = (RaiseSite){.class_name = b->name, .class_handle = b->handle};
    Ref refs[8];
    int32_t n;
    if (!raise_args(in, v.src, site, refs, &n)) return false;
    if (!e) {
        if (error != NO_BLOCK) infer_take_edge(in, ir_inst(in->f, ref)->block, 4, error);
        return true;
    }
    if (!in->guards) { /* kernels outside debug: the work-item ends */
        const Type *result = in->inst->result.type;
        emit1(e, OP_return, NULL, emit_undef(e, lower_type(in->ti, result)));
        return true;
    }
    Ref raise = emit(e, OP_raise, NULL, refs, n);
    ir_inst(e->out, raise)->u.exception = site;
    return true;
}
