/* infer_choice.c - functions that are chosen when the program runs: `f = g if c else h`, fs[i](x).
 *
 * The type of such a value says which functions it may be, and in typed code it is the number of one of them. A call asks for the
 * number and calls that one, whatever they are: each for the types of the arguments, so that nothing need be declared and all
 * can be inlined. */
#include "typeinfer/infer.h"

static Val choice_item(Infer *in, Val callee, int32_t k) {
    Val out = val_of(fact_of(callee.f.type->items[k]));
    if (out.f.type->kind == TY_CLOSURE) out = (Val){.f = out.f, .src = NO_REF};
    (void)in;
    return out;
}

/* The type of the result, whichever is called: a dry run, also where code is emitted. */
static bool result_of_any(Infer *in, Val callee, const CallArgs *args, Fact *out) {
    Emit *emitting = in->emit;
    *out = (Fact){0};
    in->emit = NULL;
    bool ok = true;
    for (int32_t k = 0; ok && k < callee.f.type->nitems; k++) {
        Val one;
        Fact joined;
        ok = v_call(in, choice_item(in, callee, k), args, &one);
        if (!ok) break;
        Fact f = fact_of(ti_stored(in->types, one.f.type));
        if (!out->type)
            joined = f;
        else if (!fact_join(in, out, &f, &joined) || joined.conflict)
            ok = ti_fail(in, in->at, E0205, ti_text(in, out->type), ti_text(in, f.type));
        if (ok) *out = fact_of(joined.type);
    }
    in->emit = emitting;
    return ok;
}

bool v_call_choice(Infer *in, Val callee, const CallArgs *args, Val *out) {
    Emit *e = in->emit;
    Fact result;
    int32_t n = callee.f.type->nitems;
    if (!result_of_any(in, callee, args, &result)) return false;
    *out = val_of(result);
    if (!e) return true;
    Ref which = v_ref(in, callee), *values = arena_array(in->arena, Ref, n);
    int32_t join = emit_block(e);
    for (int32_t k = 0; k < n; k++) {
        Val one;
        int32_t next = NO_BLOCK;
        if (k + 1 < n) {
            int32_t here = emit_block(e);
            next = emit_block(e);
            Ref is =
                emit2(e, OP_eq, bool_type(in->types), which, emit_int(e, i64_type(in->types), k));
            emit_branch(e, is, here, next);
            e->block = here;
        }
        if (!v_call(in, choice_item(in, callee, k), args, &one)) return false;
        values[k] = v_as(in, one, result.type);
        emit_jump(e, join);
        e->block = next;
    }
    e->block = join;
    if (lower_type(in->ti, result.type)->kind == TY_none) return true;
    out->ref = emit(e, OP_phi, lower_type(in->ti, result.type), NULL, 0);
    for (int32_t k = 0; k < n; k++)
        ir_add_arg(e->out, out->ref, values[k]);
    return true;
}

/* The number of a function in a wider choice; -1: it is not in it. */
static int32_t place_in(const Type *choice, const Type *item) {
    for (int32_t k = 0; k < choice->nitems; k++)
        if (choice->items[k] == item) return k;
    return -1;
}

bool choice_holds(const Type *choice, const Type *from) {
    if (from->kind != TY_CHOICE) return place_in(choice, from) >= 0;
    for (int32_t k = 0; k < from->nitems; k++)
        if (place_in(choice, from->items[k]) < 0) return false;
    return true;
}

Ref emit_choice(Emit *e, Ref ref, const Type *from, const Type *to) {
    const Type *i64 = i64_type(e->types);
    if (from->kind != TY_CHOICE) return emit_int(e, i64, place_in(to, from));
    Ref out = emit_int(e, i64, place_in(to, from->items[0]));
    for (int32_t k = 1; k < from->nitems; k++) {
        Ref is = emit2(e, OP_eq, bool_type(e->types), ref, emit_int(e, i64, k));
        out = emit3(e, OP_select, i64, is, emit_int(e, i64, place_in(to, from->items[k])), out);
    }
    return out;
}
