/* infer_foreign.c - calls of functions of C that the program has as objects: of ctypes and cffi. Their addresses are known when the
 * program is compiled, and so are the types of their parameters. A pointer is taken from an array, from an int, or from None. Kernels call
 * those that are declared for them (cuda.declare_device): on GPUs by their names. */
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

/* The function: its number among those of the module, or where its name is. */
static Ref emit_callee(Infer *in, const Binding *b) {
    Module *module = in->ti->module;
    int64_t number = module->foreigns.len;
    if (target_is_host(in->ti->options.target))
        vec_push(module->arena, &module->foreigns, ((ForeignFunction){b->number, b->handle}));
    else
        number = (int64_t)(intptr_t)str_printf(in->emit->arena, STR_FMT, STR_ARG(b->name)).bytes;
    return emit_int(in->emit, i64_type(in->types), number);
}

static Ref emit_foreign(Infer *in, const Binding *b, const Type *result, const Ref *args,
                        int32_t n) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    bool real = type_is_float(result);
    Ref refs[3 + MOST_FOREIGN_ARGS] = {emit_callee(in, b), emit_int(e, i64, result->kind)};
    memcpy(refs + 2, args, sizeof *args * (size_t)n);
    Str *name = arena_new(e->arena, Str);
    *name = real ? STR("primitive.foreign_float") : STR("primitive.foreign_int");
    Ref ref = emit(e, OP_lib, real ? type_scalar(in->types, TY_f64) : i64, refs, 2 + n);
    ir_inst(e->out, ref)->u.name = name;
    ir_inst(e->out, ref)->imm = lib_find(*name);
    return ref;
}

/* Kernels and other functions have functions of C of their own. */
static bool is_available(Infer *in, const Binding *b) {
    bool kernel = in->kernel || !target_is_host(in->ti->options.target);
    const LibRow *row = lib_row(lib_find(STR("primitive.foreign_int")));
    if (lib_lowering(row, in->ti->options.target)->kind == LOWER_NONE)
        return ti_fail(in, in->at, E0404, ti_c_text(in, b->name),
                       "on AMD GPUs: code of others is linked with PTX alone (write it in Python)");
    if (kernel == b->in_kernels) return true;
    return ti_fail(in, in->at, E0404, ti_c_text(in, b->name),
                   kernel ? "in a kernel" : "outside a kernel");
}

static void emit_together(Infer *in) {
    static const Str row = STR("cuda.cg.together");
    Ref ref = emit(in->emit, OP_lib, type_scalar(in->types, TY_none), NULL, 0);
    ir_inst(in->emit->out, ref)->u.name = &row;
    ir_inst(in->emit->out, ref)->imm = lib_find(row);
}

/* Numba's convention: int f(result *, arguments ...), whose result says whether it failed, which nobody asks. */
static Ref emit_by_pointer(Infer *in, const Binding *b, const Type *result, Ref *args, int32_t n) {
    Emit *e = in->emit;
    const Type *element = result->kind == TY_none ? i64_type(in->types) : result;
    const ConstVal *one = const_int(in->arena, 1);
    const Type *type = type_array(in->types, element, 1, LAYOUT_C);
    Ref room = emit_static(e, OP_static_array, type_array_space(in->types, type, SPACE_LOCAL));
    ir_inst(e->out, room)->u.value = const_tuple(in->arena, &one, 1);
    memmove(args + 1, args, sizeof *args * (size_t)n);
    args[0] = room;
    emit_foreign(in, b, type_scalar(in->types, TY_i32), args, n + 1);
    return emit2(e, OP_load, element, room, emit_int(e, i64_type(in->types), 0));
}

bool v_call_foreign(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Signature *s = b->declared;
    Val given[MOST_FOREIGN_ARGS];
    Ref refs[MOST_FOREIGN_ARGS + 1] = {0};
    if (!is_available(in, b)) return false;
    if (args->nkeywords || args->nargs != s->nparams || s->nparams > MOST_FOREIGN_ARGS)
        return misfit(in, b, args);
    for (int32_t i = 0; i < args->nargs; i++) {
        foreign_argument(in, s->params[i], args->args[i], &given[i]);
        if (!given[i].f.type) return misfit(in, b, args);
        if (in->emit) refs[i] = v_ref(in, given[i]);
    }
    const Type *i64 = i64_type(in->types);
    const Type *result = is_pointer(s->result) ? i64 : s->result;
    bool none = result->kind == TY_none;
    if (in->emit && b->together) emit_together(in);
    const Type *raw = b->by_pointer           ? (none ? i64 : result)
                      : type_is_float(result) ? type_scalar(in->types, TY_f64)
                                              : i64;
    Val got = val_of(fact_of(raw));
    if (in->emit)
        got.ref = b->by_pointer ? emit_by_pointer(in, b, result, refs, args->nargs)
                                : emit_foreign(in, b, s->result, refs, args->nargs);
    *out = none ? val_of(fact_of(result)) : v_converted(in, got, result);
    return true;
}
