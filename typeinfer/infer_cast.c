/* infer_cast.c - conversions: optionals, casts as the user writes them, and calls of types. */
#include "typeinfer/infer.h"
#include <math.h>

Val v_number(Infer *in, Val a) {
    if (!is_kind(&a, TY_MEMBER) || !a.f.type->binding->enumeration->ints) return a;
    a.f.type = ti_wint(in);
    return a;
}

Val v_unwrap(Infer *in, Val a) {
    return v_number(in, v_present(in, a));
}

Val v_present(Infer *in, Val a) {
    Emit *e = in->emit;
    if (!is_kind(&a, TY_OPTIONAL)) return a;
    Val inner = {.f = fact_of(a.f.type->element), .src = a.src};
    if (!e) return inner;
    Ref whole = v_ref(in, a);
    if (in->guards) {
        Ref absent = emit1(e, OP_not, bool_type(in->types), emit_item(e, whole, 0));
        emit_guard(e, GUARD_none_value, absent, NULL, 0);
    }
    inner.ref = emit_item(e, whole, 1);
    return inner;
}

Val v_converted(Infer *in, Val v, const Type *to) {
    if (!to || v.f.type == to) return v;
    Val out = val_of(fact_of(to));
    if (in->emit) out.ref = v_as(in, v, to);
    return out;
}

void emit_finite(Emit *e, Ref v) {
    const Type *type = ir_type(e->out, v), *b = bool_type(e->types);
    if (!e->guards || !type_is_float(type) || ir_inst(e->out, v)->op == OP_const) return;
    emit_guard(e, GUARD_nan_to_int, emit2(e, OP_ne, b, v, v), NULL, 0);
    Ref up = emit2(e, OP_eq, b, v, emit_float(e, type, HUGE_VAL));
    Ref down = emit2(e, OP_eq, b, v, emit_float(e, type, -HUGE_VAL));
    emit_guard(e, GUARD_inf_to_int, emit2(e, OP_or, b, up, down), NULL, 0);
}

static Ref emit_magnitude(Emit *e, Ref v) {
    static const Str name = STR("builtins.abs");
    const Type *type = ir_type(e->out, v);
    LibMatch m;
    bool found = lib_match(e->types, name, &type, 1, e->ti->options.target, true, &m);
    assert(found), (void)found;
    int32_t error = e->error;
    e->error = NO_BLOCK; /* it does not raise: no edge to a handler around */
    Ref ref = emit1(e, OP_lib, type, v);
    e->error = error;
    ir_inst(e->out, ref)->u.name = &name;
    ir_inst(e->out, ref)->imm = m.row;
    return ref;
}

Ref emit_float_to_int(Emit *e, Ref v, const Type *to) {
    const Type *type = ir_type(e->out, v), *b = bool_type(e->types);
    bool plain = ir_inst(e->out, v)->op == OP_const || !type_is_float(type) || type_bits(type) < 32;
    if (!e->guards || e->insert_at >= 0 || plain || to->kind != TY_i64) {
        emit_finite(e, v);
        return emit_convert(e, v, type, to);
    }
    int32_t odd = emit_block(e), fits = emit_block(e), both = emit_block(e);
    Ref inside = emit2(e, OP_lt, b, emit_magnitude(e, v), emit_float(e, type, 0x1p63));
    Ref outside = emit1(e, OP_not, b, inside);
    e->out->blocks.items[odd].cold = true;
    emit_branch(e, outside, odd, fits);
    e->block = odd;
    emit_finite(e, v);
    Ref args[2] = {emit_convert(e, v, type, to)};
    emit_jump(e, both);
    e->block = fits;
    args[1] = emit1(e, OP_cast, to, v);
    ir_inst(e->out, args[1])->sub = FLAG_INSIDE;
    emit_jump(e, both);
    e->block = both;
    return emit(e, OP_phi, to, args, 2);
}

bool v_cast(Infer *in, Val a, const Type *to, bool checked, Val *out) {
    Emit *e = in->emit;
    a = v_scalar(in, a);
    if (in->strong) to = type_strong(in->types, to);
    if (to->kind == TY_bool) return v_truth(in, a, out);
    bool time;
    if (v_time_cast(in, a, to, &time, out) || time) return !in->stop;
    if (!type_is_number(a.f.type) || (type_is_complex(a.f.type) && !type_is_complex(to)))
        return v_refuse(in, REFUSE_CAST, ti_text(in, to), &a, 1);
    *out = val_of((Fact){.type = to, .value = fact_cast_int(&a.f, to)});
    if (!e || out->f.value) return true;
    Ref v = v_ref(in, a);
    const Type *lowered = lower_type(in->ti, to);
    out->ref = checked && type_is_int(to) ? emit_float_to_int(e, v, lowered)
                                          : emit_convert(e, v, ir_type(e->out, v), lowered);
    return true;
}

/* Point(x, y=2): arguments by position or field name, then the defaults of the class. */
static bool make_named(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Type *to = b->type;
    int32_t n = to->nitems, *source = arena_array(in->arena, int32_t, n + 1);
    Val *items = arena_array(in->arena, Val, n);
    int32_t nkwonly = b->names ? (int32_t)b->number : 0,
            *given = arena_array(in->arena, int32_t, n + 1);
    Params params = {.npositional = n - nkwonly, .nkwonly = nkwonly};
    bool fits = v_binds(&params, b->names ? b->names : to->fields, args, given);
    for (int32_t i = 0; i < n && fits; i++)
        source[b->names ? type_field(to, b->names[i]) : i] = given[i];
    for (int32_t i = 0; i < n && fits; i++) {
        if (source[i] >= 0) {
            items[i] = args->args[source[i]];
            continue;
        }
        fits = b->items && b->items[i];
        if (fits && !fact_of_binding(in, b->items[i], to->fields[i], &items[i].f)) return false;
    }
    if (!fits) {
        StrBuf fields;
        buf_init(&fields, in->arena);
        for (int32_t i = 0; i < n; i++)
            buf_printf(&fields, "%s" STR_FMT, i ? ", " : "", STR_ARG(to->fields[i]));
        const char *cls =
            str_printf(in->arena, "the %s of %s", type_is_value(to) ? "dataclass" : "named tuple",
                       buf_take(&fields).bytes)
                .bytes;
        return v_refuse(in, REFUSE_CALL, cls, args->args, args->nargs);
    }
    *out = v_tuple(in, items, n);
    out->f.type = type_tuple_like(in->types, to, out->f.type->items);
    return v_value_made(in, *out);
}

bool v_type_call(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Type *to = b->type;
    if (to->kind == TY_TUPLE && to->fields) return make_named(in, b, args, out);
    if (type_is_instance(to)) return v_new_instance(in, b, args, out);
    bool scalar = to->kind < TY_SCALARS || (to->kind == TY_TIME && args->nargs == 1);
    if (args->nkeywords || args->nargs > 1 || !scalar)
        return v_refuse(in, REFUSE_CALL, ti_text(in, type_object(in->types, b)), args->args,
                        args->nargs);
    if (args->nargs == 0) {
        Val zero = val_of(fact_int(in, 0));
        return v_cast(in, zero, to, true, out);
    }
    return v_cast(in, args->args[0], to, true, out);
}
