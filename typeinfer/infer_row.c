/* infer_row.c - rows of the library: what is tested and converted before, and what they are lowered to; functions of
 * our own library. */
#include "typeinfer/infer.h"
#include <math.h>

/* With Numba's numbers a shift by a negative count is what the processor makes of it: it looks at the last bits alone. */
static bool wraps_count(const Infer *in, int op) {
    return in->ti->options.strong_numbers && (op == OP_shl || op == OP_shr);
}

static Ref emit_wrapped_count(Infer *in, Ref count) {
    Emit *e = in->emit;
    const Type *t = ir_type(e->out, count);
    int64_t value;
    bool is_signed = type_class(t) == CLASS_SINT;
    if ((!is_signed && t->kind != TY_u64) || (emitted_int(e, count, &value) && value >= 0))
        return count;
    Ref bound = emit_int(e, t, is_signed ? 0 : INT64_MAX); /* as uint64 a negative count is above */
    Ref negative = is_signed ? emit2(e, OP_lt, bool_type(in->types), count, bound)
                             : emit2(e, OP_lt, bool_type(in->types), bound, count);
    Ref wrapped = emit2(e, OP_and, t, count, emit_int(e, t, type_bits(t) - 1));
    return emit3(e, OP_select, t, negative, wrapped, count);
}

/* Tests before the operation; `args` are the operands as written. */
static void emit_tests(Infer *in, const LibRow *row, int op, const Val *args, const Ref *refs,
                       int32_t n) {
    Emit *e = in->emit;
    const Type *b = bool_type(in->types);
    Ref last = refs[n - 1];
    const Type *type = ir_type(e->out, last);
    int64_t value;
    bool may_divide_by_zero = in->error_numpy || (op == OP_div && in->ti->options.fast_division);
    if ((row->flags & LIB_NONZERO) && !may_divide_by_zero && !emitted_nonzero(e, last)) {
        Ref zero = type_is_int(type) ? emit_int(e, type, 0) : emit_float(e, type, 0);
        bool modulo = op == OP_mod && type_is_int(type);
        emit_guard(e, modulo ? GUARD_zero_modulo : GUARD_zero_division,
                   emit2(e, OP_eq, b, last, zero), NULL, 0);
    }
    if ((row->flags & LIB_COUNT) && !wraps_count(in, op)) {
        Ref count = v_ref(in, args[n - 1]);
        const Type *from = ir_type(e->out, count);
        bool negative = !emitted_int(e, count, &value) || value < 0;
        if (type_class(from) == CLASS_SINT && negative)
            emit_guard(e, op == OP_pow ? GUARD_negative_power : GUARD_negative_shift,
                       emit2(e, OP_lt, b, count, emit_int(e, from, 0)), NULL, 0);
    }
    if ((row->flags & LIB_POWER) && !in->error_numpy && type_is_float(type)) {
        const Inst *exponent = ir_inst(e->out, last);
        bool known = exponent->op == OP_const && exponent->u.value->kind == CONST_FLOAT;
        if (known && !(exponent->u.value->re < 0 && exponent->u.value->re > -HUGE_VAL)) return;
        Ref zero = emit_float(e, type, 0), bad = emit2(e, OP_eq, b, refs[0], zero);
        if (!known) { /* 0.0 ** -inf is inf */
            Ref least = emit_float(e, type, -HUGE_VAL);
            bad = emit2(e, OP_and, b, bad, emit2(e, OP_lt, b, last, zero));
            bad = emit2(e, OP_and, b, bad, emit2(e, OP_lt, b, least, last));
        }
        emit_guard(e, GUARD_zero_to_negative_power, bad, NULL, 0);
    }
}

static Ref emit_lowered(Emit *e, const LibMatch *m, const LibRow *row, const Lowering *how,
                        const Ref *refs, int32_t n) {
    const Type *type = lower_type(e->ti, m->result);
    if (how->kind == LOWER_OP) {
        if (how->id == OP_cast) return emit_convert(e, refs[0], ir_type(e->out, refs[0]), type);
        if (row->flags & LIB_SWAP) return emit2(e, (Op)how->id, type, refs[1], refs[0]);
        return emit(e, (Op)how->id, type, refs, n);
    }
    Str *name = arena_new(e->arena, Str);
    *name = str_from(row->name);
    int32_t error = e->error;
    if (row->flags & LIB_PURE) e->error = NO_BLOCK;
    Ref ref = emit(e, OP_lib, type, refs, n);
    e->error = error;
    ir_inst(e->out, ref)->u.name = name;
    ir_inst(e->out, ref)->imm = m->row;
    return ref;
}

/* In the code of the program itself a float to an int is a product: `squared` of IR.md. Whole arrays have pow, as NumPy does. */
static void mark_power(Infer *in, const LibRow *row, Ref power) {
    Func *out = in->emit->out;
    if (!(row->flags & LIB_POWER) || !in->inst->function->handle) return;
    if (ir_inst(out, power)->op != OP_pow || !type_is_float(ir_type(out, power))) return;
    Ref exponent = ir_arg(out, power, 1);
    if (ir_inst(out, exponent)->op != OP_cast) return;
    const Type *from = ir_type(out, ir_arg(out, exponent, 0));
    if (type_is_int(from) && from->kind != TY_u64) ir_inst(out, power)->sub = FLAG_SQUARED;
}

/* The whole number that math.floor and its like make an int of, as a float; NO_REF: such an int is made by a function of its own. */
static Ref emit_whole(Infer *in, const LibRow *row, const Lowering *how, Ref v) {
    static const struct {
        int generator;
        Str name;
    } rows[] = {{GEN_floor_to_int, {"numpy.floor", 11}},
                {GEN_ceil_to_int, {"numpy.ceil", 10}},
                {GEN_round_to_int, {"numpy.rint", 10}}};
    const Type *type = ir_type(in->emit->out, v);
    bool apart = in->emit->guards && (row->flags & LIB_FINITE) && how->kind == LOWER_GEN;
    if (!apart || ir_inst(in->emit->out, v)->op == OP_const) return NO_REF;
    if (!type_is_float(type) || type_bits(type) < 32) return NO_REF;
    for (int i = 0; i < countof(rows); i++) {
        LibMatch m;
        if (rows[i].generator != how->id) continue;
        if (!lib_match(in->types, rows[i].name, &type, 1, in->ti->options.target, true, &m) ||
            m.result != type)
            return NO_REF;
        const LibRow *whole = lib_row(m.row);
        return emit_lowered(in->emit, &m, whole, lib_lowering(whole, in->ti->options.target), &v,
                            1);
    }
    return NO_REF;
}

static Ref emit_row(Infer *in, const LibMatch *m, const LibRow *row, const Lowering *how,
                    const Val *args, int32_t n) {
    Emit *e = in->emit;
    Ref refs[LIB_MAX_ARGS];
    for (int32_t i = 0; i < n; i++)
        refs[i] = v_as(in, args[i], m->params[i]);
    if (in->guards && n > 0)
        emit_tests(in, row, how->kind == LOWER_OP ? how->id : 0, args, refs, n);
    if (in->guards && how->kind == LOWER_OP && wraps_count(in, how->id))
        refs[n - 1] = emit_wrapped_count(in, refs[n - 1]);
    if ((row->flags & LIB_FINITE) && how->kind == LOWER_OP && how->id == OP_cast && n > 0)
        return emit_float_to_int(e, refs[0], lower_type(e->ti, m->result));
    Ref whole = n == 1 ? emit_whole(in, row, how, refs[0]) : NO_REF;
    if (whole) return emit_float_to_int(e, whole, lower_type(e->ti, m->result));
    if ((row->flags & LIB_FINITE) && n > 0) emit_finite(e, refs[0]);
    Ref result = emit_lowered(e, m, row, how, refs, n);
    mark_power(in, row, result);
    return result;
}

const char *library_text(Infer *in, Str name) {
    int32_t skip = str_starts(name, "builtins.") ? (int32_t)strlen("builtins.") : 0;
    return str_copy(in->arena, name.bytes + skip, (size_t)(name.len - skip)).bytes;
}

/* What is wrong inside a function of our library is wrong with the user's arguments. */
static void blame_call(Infer *in, Str name, const CallArgs *args, int32_t before) {
    Str inner = in->diags->items.items[before].text;
    in->diags->items.len = before;
    diag_add(in->diags, E0401, ti_spanp(in, in->at), library_text(in, name),
             ti_arg_texts(in, args->args, args->nargs));
    diag_note(in->diags, NULL, "in its definition: " STR_FMT, STR_ARG(inner));
}

static bool has_items(const Val *v) {
    switch (v->f.type->kind) {
    case TY_ARRAY: return v->f.type->ndim > 0;
    case TY_TUPLE:
    case TY_CLASS:
    case TY_RANGE:
    case TY_ITER: return true;
    default: return false;
    }
}

/* Values that are compared as wholes: numbers, tuples, text. */
static bool all_compared(const Val *args, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        const Type *type = args[i].f.type;
        if (type->kind == TY_ARRAY || type->kind == TY_ITER || type->kind == TY_RANGE) return false;
        if (type->kind == TY_OBJECT && !type_is_text(type)) return false;
    }
    return true;
}

/* Numbers that the rows do not take have no type together. */
static bool all_numbers(const Val *args, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (!type_is_number(args[i].f.type)) return false;
    return true;
}

/* min, max and sum of what has no items: said before their definitions say it in their words. */
static bool check_items(Infer *in, Str name, const CallArgs *args) {
    bool choice = str_is(name, "builtins.min") || str_is(name, "builtins.max");
    const char *text = library_text(in, name);
    int32_t n = args->nargs - args->nkeywords;
    if (!choice && !str_is(name, "builtins.sum")) return true;
    if (choice && n > 1 && all_compared(args->args, n))
        if (args->nkeywords || !all_numbers(args->args, n)) return true;
    if (n == 1 && has_items(&args->args[0])) {
        const Type *type = args->args[0].f.type;
        if (!choice || args->nkeywords || type->kind != TY_TUPLE || type->nitems) return true;
        return ti_fail(in, in->at, E0403,
                       str_printf(in->arena, "%s() of an empty tuple has no result", text).bytes);
    }
    if (!choice && args->nargs) return true; /* sum(items, start) */
    ti_fail(in, in->at, E0401, text, ti_arg_texts(in, args->args, args->nargs));
    ti_advise(in, choice ? str_printf(in->arena,
                                      "%s takes an array, a tuple or a range, whose items it "
                                      "compares, or two numbers and more",
                                      text)
                               .bytes
                         : "sum takes an array, a tuple or a range");
    return false;
}

/* What a method of a generator of random numbers cannot be given, in Numba's words; NULL: it fits. */
static const char *unfit(Str param, const Type *type) {
    bool size = str_is(param, "size"), tuple = type->kind == TY_TUPLE;
    bool sequence = str_is(param, "x") || str_is(param, "a") || str_is(param, "p");
    for (int32_t i = 0; size && tuple && i < type->nitems; i++)
        if (!type_is_int(type->items[i])) return "None, an int, a tuple of ints";
    if (type_is_text(type) && !str_is(param, "method"))
        return size ? "None, an int, a tuple of ints" : "a number, an array of numbers";
    return tuple && !size && !sequence ? "a number, an array of numbers" : NULL;
}

static bool check_random(Infer *in, const Binding *method, const CallArgs *args) {
    Resolver *r = in->ti->resolver;
    const FunctionInfo *info = r->code(r->user, method);
    int32_t placed = args->nargs - args->nkeywords;
    for (int32_t i = 1; info && i < args->nargs; i++) {
        Str param = i >= placed             ? args->names[i - placed]
                    : i < info->code->nargs ? info->code->local_names[i]
                                            : STR("");
        const char *expected = unfit(param, args->args[i].f.type);
        if (expected)
            return ti_fail(in, in->at, E0403,
                           str_printf(in->arena,
                                      "Argument " STR_FMT " is not one of the expected type(s): %s",
                                      STR_ARG(param), expected)
                               .bytes);
    }
    return true;
}

bool v_library_function(Infer *in, Str name, const CallArgs *args, bool *found, Val *out) {
    Resolver *r = in->ti->resolver;
    *found = true;
    if (!check_items(in, name, args)) return false;
    *found = false;
    const Binding *b = r->library ? r->library(r->user, name) : NULL;
    if (r->library && !b) return in->stop = STOP_ABORT, false;
    if (!b || b->kind != BIND_FUNCTION) return false;
    *found = true;
    if (str_starts(name, "Generator.") && !check_random(in, b, args)) return false;
    int32_t before = in->diags->items.len;
    if (call_function(in, b, args, true, out)) return true;
    if (in->stop == STOP_ERROR && in->report && in->diags->items.len > before)
        blame_call(in, name, args, before);
    return false;
}

/* A row whose lowering is Python: its signature says what the function gets, and what is made of its result. */
static bool call_row(Infer *in, const LibMatch *m, const Lowering *how, const Val *args, int32_t n,
                     Val *out) {
    Val given[LIB_MAX_ARGS];
    CallArgs call = {given, n, 0, NULL};
    bool found;
    for (int32_t i = 0; i < n; i++)
        given[i] = v_converted(in, args[i], m->params[i]);
    if (v_library_function(in, str_from(how->symbol), &call, &found, out)) {
        *out = v_converted(in, *out, m->result);
        return true;
    }
    TargetKind target = in->ti->options.target;
    if (found || in->stop == STOP_ABORT) return false;
    return ti_fail(in, in->at, E0404, lib_row(m->row)->name, target_text(target));
}

static bool int_fits(const Type *t, int64_t value) {
    bool sign = type_class(t) == CLASS_SINT;
    if (type_bits(t) == 64) return sign || value >= 0;
    int64_t above = (int64_t)1 << (type_bits(t) - sign);
    return value < above && value >= (sign ? -above : 0);
}

/* min(uint64, -1): refused, as the operators do. */
static bool hold_weak_ints(const Val *args, int32_t n, const LibMatch *m) {
    for (int32_t i = 0; i < n; i++)
        if (m->params[0]->kind == TY_u64 && fact_negative_literal(&args[i].f)) return false;
    return true;
}

bool v_fits(Infer *in, const Val *a, const Type *to) {
    Emit *e = in->emit;
    int64_t value;
    if (a->f.type->kind != TY_wint || !type_is_int(to) || to->kind == TY_i64 || type_is_weak(to))
        return true;
    Str *name = arena_new(in->arena, Str);
    *name = str_from(ti_text(in, to));
    if (fact_int_value(&a->f, &value)) {
        if (int_fits(to, value)) return true;
        return ti_fail(in, in->at, E0217, (long long)value, name->bytes);
    }
    if (!e || !in->guards) return true;
    const Type *i64 = i64_type(in->types), *b = bool_type(in->types);
    bool sign = type_class(to) == CLASS_SINT;
    int bits = type_bits(to) - sign;
    Ref v = v_as(in, *a, i64);
    Ref low = emit_int(e, i64, sign ? -(INT64_C(1) << bits) : 0);
    Ref bad = emit2(e, OP_lt, b, v, low);
    if (bits < 63) {
        Ref high = emit_int(e, i64, (INT64_C(1) << bits) - 1);
        bad = emit2(e, OP_or, b, bad, emit2(e, OP_lt, b, high, v));
    }
    emit_named_guard(e, GUARD_int_range, bad, &v, 1, name);
    return true;
}

bool v_row(Infer *in, Str name, const Val *args, int32_t n, bool *matched, Val *out) {
    const Type *types[LIB_MAX_ARGS];
    LibMatch m;
    *matched = false;
    if (n > LIB_MAX_ARGS) return false;
    for (int32_t i = 0; i < n; i++)
        types[i] = args[i].f.type;
    if (!lib_match(in->types, name, types, n, in->ti->options.target, in->strong, &m)) {
        if (v_any_array(args, n)) return v_row_of_arrays(in, name, args, n, matched, out);
        Val scalars[LIB_MAX_ARGS]; /* functions of numbers take arrays without axes */
        return v_scalars(in, args, n, scalars) && v_row(in, name, scalars, n, matched, out);
    }
    const LibRow *row = lib_row(m.row);
    const Lowering *how = lib_lowering(row, in->ti->options.target);
    if (how->kind == LOWER_TYPED) return false; /* known by name, or not at all */
    if ((row->flags & LIB_CHOICE) && !hold_weak_ints(args, n, &m)) return false;
    *matched = true;
    TargetKind target = in->ti->options.target;
    if ((row->flags & LIB_GPU_ONLY) && target_is_host(target) && !in->kernel)
        return ti_fail(in, in->at, E0404, row->name, "outside a kernel");
    for (int32_t i = 0; i < n; i++)
        if (lib_is_literal(row, i) && !fact_is_const(&args[i].f))
            return ti_fail(in, in->at, E0209,
                           str_printf(in->arena, "argument %d of %s", i + 1, row->name).bytes);
    if (str_starts(name, "numpy."))
        for (int32_t i = 0; i < n; i++)
            if (!v_fits(in, &args[i], m.params[i])) return false;
    if (how->kind == LOWER_PY) return call_row(in, &m, how, args, n, out);
    *out = val_of(fact_of(m.result));
    if (in->emit) out->ref = emit_row(in, &m, row, how, args, n);
    return true;
}

bool library_has(Infer *in, Str name) {
    if (typed_knows(name) || lib_find(name) >= 0) return true;
    Resolver *r = in->ti->resolver;
    const Binding *b = r->library ? r->library(r->user, name) : NULL;
    return b && b->kind == BIND_FUNCTION;
}
