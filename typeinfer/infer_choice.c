/* infer_choice.c - functions that are chosen when the program runs: `f = g if c else h`, fs[i](x).
 *
 * The type of such a value says which functions it may be, and in typed code it is the number of one of them, followed by what each
 * of those has taken along that has: of all but the chosen one that is undefined. A call asks for the number and calls that one,
 * whatever they are: each for the types of the arguments, so that nothing need be declared and all can be inlined. */
#include "typeinfer/infer.h"

static bool has_values(const Type *function) {
    return function->kind == TY_CLOSURE && function->nitems > 0;
}

/* Where the tuple has what function number k has taken along; 0: that is nothing. */
static int32_t place_of_values(const Type *choice, int32_t k) {
    int32_t place = 1;
    for (int32_t i = 0; i < k; i++)
        place += has_values(choice->items[i]);
    return has_values(choice->items[k]) ? place : 0;
}

const Type *choice_lowered(Ti *ti, const Type *choice) {
    const Type **items = arena_array(ti->arena, const Type *, choice->nitems + 1);
    int32_t n = 1;
    items[0] = type_scalar(ti->types, TY_i64);
    for (int32_t k = 0; k < choice->nitems; k++)
        if (has_values(choice->items[k])) items[n++] = lower_type(ti, choice->items[k]);
    return n == 1 ? items[0] : type_tuple(ti->types, items, n);
}

static Ref emit_number(Emit *e, Ref choice) {
    return ir_type(e->out, choice)->kind == TY_TUPLE ? emit_item(e, choice, 0) : choice;
}

/* Function number k, of the chosen value `whole` where code is emitted. */
static Val choice_item(Infer *in, Val callee, Ref whole, int32_t k) {
    Val out = val_of(fact_of(callee.f.type->items[k]));
    int32_t place = place_of_values(callee.f.type, k);
    if (in->emit && place) out.ref = emit_item(in->emit, whole, place);
    return out;
}

/* The type of the result, whichever is called: a dry run, also where code is emitted. */
static bool result_of_any(Infer *in, Val callee, const CallArgs *args, Fact *out) {
    Emit *emitting = in->emit;
    *out = (Fact){0};
    in->emit = NULL;
    bool ok = true;
    for (int32_t k = 0; ok && k < callee.f.type->nitems; k++) {
        Val one = {0};
        Fact joined;
        ok = v_call(in, choice_item(in, callee, NO_REF, k), args, &one);
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
    Ref whole = v_ref(in, callee), which = emit_number(e, whole);
    Ref *values = arena_array(in->arena, Ref, n);
    int32_t join = emit_block(e);
    for (int32_t k = 0; k < n; k++) {
        Val one = {0};
        int32_t next = NO_BLOCK;
        if (k + 1 < n) {
            int32_t here = emit_block(e);
            next = emit_block(e);
            Ref is =
                emit2(e, OP_eq, bool_type(in->types), which, emit_int(e, i64_type(in->types), k));
            emit_branch(e, is, here, next);
            e->block = here;
        }
        if (!v_call(in, choice_item(in, callee, whole, k), args, &one)) return false;
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

/* The number of a function in a wider choice, maybe with values of wider types; -1: it is not in it. */
static int32_t place_in(const Type *choice, const Type *item) {
    for (int32_t k = 0; k < choice->nitems; k++)
        if (choice->items[k] == item) return k;
    for (int32_t k = 0; item->kind == TY_CLOSURE && k < choice->nitems; k++)
        if (choice->items[k]->kind == TY_CLOSURE && can_convert(item, choice->items[k])) return k;
    return -1;
}

bool choice_holds(const Type *choice, const Type *from) {
    if (from->kind != TY_CHOICE) return place_in(choice, from) >= 0;
    for (int32_t k = 0; k < from->nitems; k++) {
        int32_t place = place_in(choice, from->items[k]);
        if (place < 0) return false;
        for (int32_t j = 0; j < k; j++) /* each has a place of its own */
            if (has_values(from->items[j]) && place_in(choice, from->items[j]) == place)
                return false;
    }
    return true;
}

static Ref converted_number(Emit *e, Ref number, const Type *from, const Type *to) {
    const Type *i64 = i64_type(e->types);
    if (from->kind != TY_CHOICE) return emit_int(e, i64, place_in(to, from));
    Ref out = emit_int(e, i64, place_in(to, from->items[0]));
    for (int32_t k = 1; k < from->nitems; k++) {
        Ref is = emit2(e, OP_eq, bool_type(e->types), number, emit_int(e, i64, k));
        out = emit3(e, OP_select, i64, is, emit_int(e, i64, place_in(to, from->items[k])), out);
    }
    return out;
}

Ref emit_choice(Emit *e, Ref ref, const Type *from, const Type *to) {
    const Type *lowered = lower_type(e->ti, to);
    bool one = from->kind != TY_CHOICE;
    Ref number = converted_number(e, one ? NO_REF : emit_number(e, ref), from, to);
    if (lowered->kind != TY_TUPLE) return number;
    Ref *parts = arena_array(e->arena, Ref, lowered->nitems);
    parts[0] = number;
    for (int32_t k = 0; k < (one ? 1 : from->nitems); k++) {
        const Type *item = one ? from : from->items[k];
        int32_t at = place_in(to, item), place = place_of_values(to, at);
        if (!place) continue;
        Ref values = one ? ref : emit_item(e, ref, place_of_values(from, k));
        parts[place] = emit_convert(e, values, item, to->items[at]);
    }
    for (int32_t k = 1; k < lowered->nitems; k++)
        if (!parts[k]) parts[k] = emit_undef(e, lowered->items[k]);
    return emit(e, OP_tuple, lowered, parts, lowered->nitems);
}

bool v_is_choice(Infer *in, Val a, Val b, Val *out) {
    Val choice = is_kind(&a, TY_CHOICE) ? a : b, other = is_kind(&a, TY_CHOICE) ? b : a;
    const Type *type = choice.f.type;
    if (type->kind != TY_CHOICE || lower_type(in->ti, type)->kind == TY_TUPLE) return false;
    if (is_kind(&other, TY_CHOICE) && lower_type(in->ti, other.f.type)->kind == TY_TUPLE)
        return false;
    const Type *both = ti_join(in->types, in->join, type, other.f.type);
    if (!both || both->kind != TY_CHOICE) return false;
    *out = val_of(fact_of(bool_type(in->types)));
    if (in->emit)
        out->ref =
            emit2(in->emit, OP_eq, out->f.type, v_as(in, choice, both), v_as(in, other, both));
    return true;
}
