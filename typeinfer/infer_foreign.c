/* infer_foreign.c - calls of functions of C that the program has as objects: of ctypes and cffi. Their addresses are known when the
 * program is compiled, and so are the types of their parameters. A pointer is taken from an array, from an int, or from None. */
#include "typeinfer/infer.h"

enum { MOST_FOREIGN_ARGS = 14 };

static bool is_pointer(const Type *param) {
    return param->kind == TY_ARRAY;
}

/* a.ctypes: its field data is the address. */
static Val address_in(Infer *in, Val v) {
    bool fields = is_kind(&v, TY_TUPLE) && v.f.type->fields && v.f.type->nitems;
    return fields && str_is(v.f.type->fields[0], "data") ? v_item(in, v, 0) : v;
}

/* *out without a type: it cannot be passed. */
static void foreign_argument(Infer *in, const Type *param, Val v, Val *out) {
    *out = (Val){0};
    v = v_number(in, v_unwrap(in, v));
    if (!is_pointer(param)) {
        if (type_is_number(v.f.type) && can_convert(v.f.type, param))
            *out = v_converted(in, v, param);
        return;
    }
    v = address_in(in, v);
    if (is_kind(&v, TY_ARRAY)) *out = v;
    if (fact_none(&v.f)) *out = v_converted(in, val_of(fact_int(in, 0)), i64_type(in->types));
    if (type_is_int(v.f.type)) *out = v_converted(in, v, i64_type(in->types));
}

static bool misfit(Infer *in, const Binding *b, const CallArgs *args) {
    const Signature *s = b->declared;
    if (!ti_stop(in)) return false;
    v_refuse(in, REFUSE_CALL, ti_c_text(in, b->name), args->args, args->nargs);
    Val *params = arena_array(in->arena, Val, s->nparams + 1);
    for (int32_t i = 0; i < s->nparams; i++)
        params[i] = val_of(fact_of(s->params[i]));
    diag_note(in->diags, NULL, "declared: (%s), arrays for pointers",
              ti_arg_texts(in, params, s->nparams));
    return false;
}

static Ref emit_foreign(Infer *in, const Binding *b, const Val *args, int32_t n) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *result = b->declared->result;
    bool real = type_is_float(result);
    Ref refs[2 + MOST_FOREIGN_ARGS] = {emit_int(e, i64, b->number), emit_int(e, i64, result->kind)};
    for (int32_t i = 0; i < n; i++)
        refs[2 + i] = v_ref(in, args[i]);
    Str *name = arena_new(e->arena, Str);
    *name = real ? STR("primitive.foreign_float") : STR("primitive.foreign_int");
    Ref ref = emit(e, OP_lib, real ? type_scalar(in->types, TY_f64) : i64, refs, 2 + n);
    ir_inst(e->out, ref)->u.name = name;
    ir_inst(e->out, ref)->imm = lib_find(*name);
    return ref;
}

bool v_call_foreign(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Signature *s = b->declared;
    Val given[MOST_FOREIGN_ARGS];
    if (in->kernel || !target_is_host(in->ti->options.target))
        return ti_fail(in, in->at, E0404, ti_c_text(in, b->name), "in a kernel");
    if (args->nkeywords || args->nargs != s->nparams || s->nparams > MOST_FOREIGN_ARGS)
        return misfit(in, b, args);
    for (int32_t i = 0; i < args->nargs; i++) {
        foreign_argument(in, s->params[i], args->args[i], &given[i]);
        if (!given[i].f.type) return misfit(in, b, args);
    }
    const Type *i64 = i64_type(in->types);
    const Type *result = is_pointer(s->result) ? i64 : s->result;
    bool none = result->kind == TY_none;
    const Type *raw = type_is_float(result) ? type_scalar(in->types, TY_f64) : i64;
    Val got = val_of(fact_of(raw));
    if (in->emit) got.ref = emit_foreign(in, b, given, args->nargs);
    *out = none ? val_of(fact_of(result)) : v_converted(in, got, result);
    return true;
}
