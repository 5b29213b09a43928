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

bool v_cast(Infer *in, Val a, const Type *to, bool checked, Val *out) {
    Emit *e = in->emit;
    a = v_scalar(in, a);
    if (in->strong) to = type_strong(in->types, to);
    if (to->kind == TY_bool) return v_truth(in, a, out);
    if (!type_is_number(a.f.type) || (type_is_complex(a.f.type) && !type_is_complex(to)))
        return v_refuse(in, REFUSE_CAST, ti_text(in, to), &a, 1);
    *out = val_of((Fact){.type = to, .value = fact_cast_int(&a.f, to)});
    if (!e || out->f.value) return true;
    Ref v = v_ref(in, a);
    if (checked && type_is_int(to)) emit_finite(e, v);
    out->ref = emit_convert(e, v, ir_type(e->out, v), lower_type(in->ti, to));
    return true;
}

/* Point(x, y=2): arguments by position or field name, then the defaults of the class. */
static bool make_named(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Type *to = b->type;
    int32_t n = to->nitems, *source = arena_array(in->arena, int32_t, n + 1);
    Val *items = arena_array(in->arena, Val, n);
    Params params = {.npositional = n};
    bool fits = v_binds(&params, to->fields, args, source);
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
            str_printf(in->arena, "the named tuple of %s", buf_take(&fields).bytes).bytes;
        return v_refuse(in, REFUSE_CALL, cls, args->args, args->nargs);
    }
    *out = v_tuple(in, items, n);
    out->f.type = type_named_tuple(in->types, out->f.type->items, n, to->fields, to->cls);
    return true;
}

bool v_type_call(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Type *to = b->type;
    if (to->kind == TY_TUPLE && to->fields) return make_named(in, b, args, out);
    if (args->nkeywords || args->nargs > 1 || to->kind >= TY_SCALARS)
        return v_refuse(in, REFUSE_CALL, ti_text(in, type_object(in->types, b)), args->args,
                        args->nargs);
    if (args->nargs == 0) {
        Val zero = val_of(fact_int(in, 0));
        return v_cast(in, zero, to, true, out);
    }
    return v_cast(in, args->args[0], to, true, out);
}
