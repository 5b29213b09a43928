/* infer_call.c - operators, rows of the library, casts and calls.
 *
 * Arithmetic goes through the rows "operator.*": the row says what the operands are converted to,
 * which IR op it is and what is tested before (a zero divisor, a negative count). Comparisons and
 * identity are done here, because they do not convert. */
#include "typeinfer/infer.h"
#include <math.h>

static const char *const operator_names[OPR_COUNT] = {
#define OPERATOR(name, symbol, verb, method) [OPR_##name] = "operator." #name,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
};
static const char *const operator_verbs[OPR_COUNT] = {
#define OPERATOR(name, symbol, verb, method) [OPR_##name] = verb,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
};
typedef enum Method { UNARY, ARITH, BIT, COMPARE, IDENTITY, MEMBER } Method;
static const uint8_t operator_methods[OPR_COUNT] = {
#define OPERATOR(name, symbol, verb, method) [OPR_##name] = method,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
};

/* -- optionals ------------------------------------------------------------------------------------ */

Val v_unwrap(Infer *in, Val a) {
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

/* -- truth ---------------------------------------------------------------------------------------- */

static bool truth_of_optional(Infer *in, Val a, Val *out) {
    Emit *e = in->emit;
    Val inner = {.f = fact_of(a.f.type->element)}, truth;
    Ref present = 0;
    if (e) {
        present = emit_item(e, v_ref(in, a), 0);
        inner.ref = emit_item(e, v_ref(in, a), 1);
    }
    if (!v_truth(in, inner, &truth)) return false;
    *out = val_of(fact_of(bool_type(in->types)));
    if (e) out->ref = emit2(e, OP_and, bool_type(in->types), present, v_ref(in, truth));
    return true;
}

static bool truth_of_number(Infer *in, Val a, Val *out) {
    Emit *e = in->emit;
    int64_t value;
    if (fact_int_value(&a.f, &value)) return *out = val_of(fact_bool(in, value != 0)), true;
    if (a.f.type->kind == TY_bool) return *out = a, true;
    *out = val_of(fact_of(bool_type(in->types)));
    if (!e) return true;
    Ref v = v_ref(in, a);
    const Type *type = ir_type(e->out, v);
    Ref zero = type_is_int(type) ? emit_int(e, type, 0) : emit_float(e, type, 0);
    out->ref = emit2(e, OP_ne, bool_type(in->types), v, zero);
    return true;
}

bool v_truth(Infer *in, Val a, Val *out) {
    const Type *t = a.f.type;
    switch (t->kind) {
    case TY_none: return *out = val_of(fact_bool(in, false)), true;
    case TY_TUPLE: return *out = val_of(fact_bool(in, t->nitems != 0)), true;
    case TY_OPTIONAL: return truth_of_optional(in, a, out);
    case TY_OBJECT: {
        const Str *s = fact_str(&a.f);
        return *out = val_of(fact_bool(in, !s || s->len != 0)), true;
    }
    case TY_RANGE: {
        Val n;
        return v_iter_len(in, a, &n) && truth_of_number(in, n, out);
    }
    default: break;
    }
    a = v_scalar(in, a);
    if (type_is_number(a.f.type)) return truth_of_number(in, a, out);
    ti_fail(in, in->at, E0206, "take the truth of", ti_text(in, t));
    if (t->kind == TY_ARRAY)
        ti_advise(in, "an array has no truth of its own: test its size, or one of its elements");
    return false;
}

/* -- rows ------------------------------------------------------------------------------------------ */

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
    if (row->flags & LIB_COUNT) {
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

/* NaN and infinities have no int: tested before a conversion that Python would refuse. */
static void emit_finite(Emit *e, Ref v) {
    const Type *type = ir_type(e->out, v), *b = bool_type(e->types);
    if (!e->guards || !type_is_float(type) || ir_inst(e->out, v)->op == OP_const) return;
    emit_guard(e, GUARD_nan_to_int, emit2(e, OP_ne, b, v, v), NULL, 0);
    Ref up = emit2(e, OP_eq, b, v, emit_float(e, type, HUGE_VAL));
    Ref down = emit2(e, OP_eq, b, v, emit_float(e, type, -HUGE_VAL));
    emit_guard(e, GUARD_inf_to_int, emit2(e, OP_or, b, up, down), NULL, 0);
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

static Ref emit_row(Infer *in, const LibMatch *m, const LibRow *row, const Lowering *how,
                    const Val *args, int32_t n) {
    Emit *e = in->emit;
    Ref refs[LIB_MAX_ARGS];
    for (int32_t i = 0; i < n; i++)
        refs[i] = v_as(in, args[i], m->params[i]);
    if (in->guards && n > 0)
        emit_tests(in, row, how->kind == LOWER_OP ? how->id : 0, args, refs, n);
    if ((row->flags & LIB_FINITE) && n > 0) emit_finite(e, refs[0]);
    return emit_lowered(e, m, row, how, refs, n);
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

static bool call_library_function(Infer *in, Str name, const CallArgs *args, bool *found,
                                  Val *out) {
    Resolver *r = in->ti->resolver;
    *found = false;
    const Binding *b = r->library ? r->library(r->user, name) : NULL;
    if (r->library && !b) return in->stop = STOP_ABORT, false;
    if (!b || b->kind != BIND_FUNCTION) return false;
    *found = true;
    int32_t before = in->diags->items.len;
    if (call_function(in, b, args, true, out)) return true;
    if (in->stop == STOP_ERROR && in->report && in->diags->items.len > before)
        blame_call(in, name, args, before);
    return false;
}

static Val converted(Infer *in, Val v, const Type *to) {
    if (!to || v.f.type == to) return v;
    Val out = val_of(fact_of(to));
    if (in->emit) out.ref = v_as(in, v, to);
    return out;
}

/* A row whose lowering is Python: its signature says what the function gets, and what is made of its result. */
static bool call_row(Infer *in, const LibMatch *m, const Lowering *how, const Val *args, int32_t n,
                     Val *out) {
    Val given[LIB_MAX_ARGS];
    CallArgs call = {given, n, 0, NULL};
    bool found;
    for (int32_t i = 0; i < n; i++)
        given[i] = converted(in, args[i], m->params[i]);
    if (call_library_function(in, str_from(how->symbol), &call, &found, out)) {
        *out = converted(in, *out, m->result);
        return true;
    }
    TargetKind target = in->ti->options.target;
    if (found || in->stop == STOP_ABORT) return false;
    return ti_fail(in, in->at, E0404, lib_row(m->row)->name, target_text(target));
}

static bool negative_literal(const Val *v);

static bool is_unsigned(const Val *v) {
    return type_class(v->f.type) == CLASS_UINT;
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
        if (m->params[0]->kind == TY_u64 && negative_literal(&args[i])) return false;
    return true;
}

/* A Python int as the int type of a NumPy function: it must fit. Constants are looked at now, others when they come. */
static bool check_fits(Infer *in, const Val *a, const Type *to) {
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
            if (!check_fits(in, &args[i], m.params[i])) return false;
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

/* Why an operator has no meaning for these operands. */
static void note_operands(Infer *in, const Val *a, const Val *b) {
    if (!in->report) return;
    if (is_kind(a, TY_ARRAY) || is_kind(b, TY_ARRAY))
        diag_note(in->diags, NULL,
                  "operators do not work on whole arrays yet: write a loop over the elements");
    if (fact_none(&a->f) || fact_none(&b->f))
        ti_advise(in, "one side is None: does the function it comes from return a value?");
    if ((type_is_complex(a->f.type) && type_is_number(b->f.type)) ||
        (type_is_complex(b->f.type) && type_is_number(a->f.type)))
        ti_advise(in,
                  "complex numbers have no order and no remainder: use z.real, z.imag or abs(z)");
    if (fact_str(&a->f) || fact_str(&b->f))
        diag_note(in->diags, NULL,
                  "text is a constant of the program: it can be compared for equality, no more");
}

/* -- unary operators -------------------------------------------------------------------------------- */

bool v_unary(Infer *in, Operator op, Val a, Val *out) {
    int64_t value;
    if (op == OPR_not) {
        Val truth;
        if (!v_truth(in, a, &truth)) return false;
        if (truth.f.value) return *out = val_of(fact_bool(in, !truth.f.value->i)), true;
        *out = val_of(fact_of(bool_type(in->types)));
        if (in->emit) out->ref = emit1(in->emit, OP_not, bool_type(in->types), v_ref(in, truth));
        return true;
    }
    a = v_unwrap(in, a);
    bool handled, done = v_zero_dim(in, op, false, &a, 1, &handled, out);
    if (done || handled) return done;
    bool folds = a.f.type->kind == ti_wint(in)->kind && fact_int_value(&a.f, &value);
    if (folds && op == OPR_neg && value != INT64_MIN)
        return *out = val_of(fact_int(in, -value)), true;
    if (folds && op == OPR_invert) return *out = val_of(fact_int(in, ~value)), true;
    bool matched;
    if (v_row(in, str_from(operator_names[op]), &a, 1, &matched, out)) {
        /* Numba's ~ and - compute in the type of an unsigned int, and give a uint64 */
        if (in->strong && is_unsigned(out))
            *out = converted(in, *out, type_scalar(in->types, TY_u64));
        return true;
    }
    if (matched || in->stop) return false;
    CallArgs args = {&a, 1, 0, NULL};
    if (call_library_function(in, str_from(operator_names[op]), &args, &matched, out)) return true;
    if (matched || in->stop) return false;
    ti_fail(in, in->at, E0206, operator_verbs[op], ti_text(in, a.f.type));
    ti_note_value(in, &a);
    note_operands(in, &a, &a);
    return false;
}

/* -- identity ---------------------------------------------------------------------------------------- */

static bool negate(Infer *in, bool is_not, Val *out) {
    if (!is_not) return true;
    if (out->f.value) return out->f = fact_bool(in, !out->f.value->i), true;
    if (in->emit) out->ref = emit1(in->emit, OP_not, bool_type(in->types), out->ref);
    return true;
}

static bool compare_numbers(Infer *in, Operator op, Val a, Val b, Val *out);

static bool v_is(Infer *in, bool is_not, Val a, Val b, Val *out) {
    Emit *e = in->emit;
    bool none_a = fact_none(&a.f), none_b = fact_none(&b.f);
    const Type *s = a.f.type, *t = b.f.type;
    *out = val_of(fact_of(bool_type(in->types)));
    if (none_a || none_b) {
        const Val *other = none_a ? &b : &a;
        if (!is_kind(other, TY_OPTIONAL)) {
            out->f = fact_bool(in, none_a && none_b);
            return negate(in, is_not, out);
        }
        if (e)
            out->ref = emit1(e, OP_not, bool_type(in->types), emit_item(e, v_ref(in, *other), 0));
        return negate(in, is_not, out);
    }
    if (s->kind == TY_ARRAY && t->kind == TY_ARRAY && s->element == t->element &&
        s->ndim == t->ndim) {
        if (e) out->ref = emit2(e, OP_same_array, bool_type(in->types), v_ref(in, a), v_ref(in, b));
        return negate(in, is_not, out);
    }
    if (type_is_scalar(s) && type_is_scalar(t) && (s->kind == TY_bool) == (t->kind == TY_bool))
        return compare_numbers(in, is_not ? OPR_ne : OPR_eq, a, b, out);
    out->f = fact_bool(in, s->kind == TY_OBJECT && s == t);
    return negate(in, is_not, out);
}

/* -- comparisons ---------------------------------------------------------------------------------- */

/* A weak number meets a strong float: it is compared as that float (float32(0.1) == 0.1). Ints of
 * different types are compared exactly, whatever their signs. */
static const Type *compared_as(Infer *in, const Type *self, const Type *other) {
    if (type_is_weak(self) && !type_is_weak(other) && type_class(other) >= CLASS_FLT &&
        type_class(other) >= type_class(self))
        return other;
    return type_strong(in->types, self);
}

static bool compare_numbers(Infer *in, Operator op, Val a, Val b, Val *out) {
    static const uint16_t ops[OPR_COUNT] = {[OPR_eq] = OP_eq, [OPR_ne] = OP_ne, [OPR_lt] = OP_lt,
                                            [OPR_le] = OP_le, [OPR_gt] = OP_lt, [OPR_ge] = OP_le};
    bool result, swap = op == OPR_gt || op == OPR_ge;
    bool ordered = op != OPR_eq && op != OPR_ne;
    if (ordered && (type_is_complex(a.f.type) || type_is_complex(b.f.type))) {
        return ti_fail(in, in->at, E0207, operator_verbs[op], ti_text(in, a.f.type),
                       ti_text(in, b.f.type));
    }
    if (fold_compare(op, &a.f, &b.f, &result)) return *out = val_of(fact_bool(in, result)), true;
    *out = val_of(fact_of(bool_type(in->types)));
    if (!in->emit) return true;
    Ref x = v_as(in, a, compared_as(in, a.f.type, b.f.type));
    Ref y = v_as(in, b, compared_as(in, b.f.type, a.f.type));
    out->ref = emit2(in->emit, (Op)ops[op], bool_type(in->types), swap ? y : x, swap ? x : y);
    return true;
}

static bool compare_tuples(Infer *in, Operator op, Val a, Val b, Val *out) {
    int32_t n = a.f.type->nitems;
    if (n != b.f.type->nitems) return *out = val_of(fact_bool(in, op == OPR_ne)), true;
    Val all = val_of(fact_bool(in, true));
    for (int32_t i = 0; i < n; i++) {
        Val one;
        if (!v_binary(in, OPR_eq, false, v_item(in, a, i), v_item(in, b, i), &one)) return false;
        if (!v_truth(in, one, &one)) return false;
        bool known = one.f.value != NULL;
        if (known && !one.f.value->i) return *out = val_of(fact_bool(in, op == OPR_ne)), true;
        if (known) continue;
        if (all.f.value)
            all = one;
        else if (in->emit)
            all.ref = emit2(in->emit, OP_and, bool_type(in->types), all.ref, one.ref);
    }
    *out = all;
    return negate(in, op == OPR_ne, out);
}

/* Lexicographic order: from the last item to the first, r = a < b or (a == b and r). */
static bool order_tuples(Infer *in, Operator op, Val a, Val b, Val *out) {
    Emit *e = in->emit;
    int32_t n = QN_MIN(a.f.type->nitems, b.f.type->nitems);
    int32_t extra = a.f.type->nitems - b.f.type->nitems;
    bool strict = op == OPR_lt || op == OPR_gt, less = op == OPR_lt || op == OPR_le;
    bool at_end = extra ? (less ? extra < 0 : extra > 0) : !strict;
    const Type *t = bool_type(in->types);
    *out = val_of(n ? fact_of(t) : fact_bool(in, at_end));
    Ref result = e ? emit_int(e, t, at_end) : 0;
    for (int32_t i = n; i-- > 0;) {
        Val x = v_item(in, a, i), y = v_item(in, b, i), before, same;
        if (!v_binary(in, less ? OPR_lt : OPR_gt, false, x, y, &before) ||
            !v_binary(in, OPR_eq, false, x, y, &same))
            return false;
        if (!e) continue;
        Ref rest = emit2(e, OP_and, t, v_as(in, same, t), result);
        result = emit2(e, OP_or, t, v_as(in, before, t), rest);
    }
    out->ref = n ? result : 0;
    return true;
}

/* a.dtype == np.float64: the dtype made here meets what NumPy would convert to a dtype. */
static bool compare_dtypes(const Fact *a, const Fact *b, bool equal, Infer *in, Val *out) {
    const Binding *x = fact_object(a), *y = fact_object(b);
    bool dtype =
        (x && x->kind == BIND_TYPE && !x->handle) || (y && y->kind == BIND_TYPE && !y->handle);
    const Type *s, *t;
    if (!dtype || !fact_dtype(in, a, &s) || !fact_dtype(in, b, &t)) return false;
    return *out = val_of(fact_bool(in, (s == t) == equal)), true;
}

static bool is_member(const Fact *f) {
    const Binding *b = fact_object(f);
    return b && b->kind == BIND_MEMBER;
}

static bool v_compare(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out) {
    const Type *s = a.f.type, *t = b.f.type;
    bool result;
    *handled = true;
    if (op == OPR_eq || op == OPR_ne) {
        if (fact_none(&a.f) || fact_none(&b.f)) return v_is(in, op == OPR_ne, a, b, out);
        if (fold_compare(op, &a.f, &b.f, &result))
            return *out = val_of(fact_bool(in, result)), true;
        if (compare_dtypes(&a.f, &b.f, op == OPR_eq, in, out)) return true;
        if (is_member(&a.f) || is_member(&b.f)) /* of an enumeration: equals nothing else */
            return *out = val_of(fact_bool(in, (s == t) == (op == OPR_eq))), true;
        if (s->kind == TY_OBJECT && t->kind == TY_OBJECT)
            return *out = val_of(fact_bool(in, (s == t) == (op == OPR_eq))), true;
    }
    a = v_unwrap(in, a);
    b = v_unwrap(in, b);
    if (type_is_number(a.f.type) && type_is_number(b.f.type))
        return compare_numbers(in, op, a, b, out);
    return *handled = false;
}

/* -- membership ------------------------------------------------------------------------------------- */

static bool in_tuple(Infer *in, Val item, Val tuple, Val *out) {
    Val any = val_of(fact_bool(in, false));
    for (int32_t i = 0; i < tuple.f.type->nitems; i++) {
        Val one;
        if (!v_binary(in, OPR_eq, false, item, v_item(in, tuple, i), &one)) return false;
        if (!v_truth(in, one, &one)) return false;
        if (one.f.value && one.f.value->i) return *out = one, true;
        if (one.f.value) continue;
        if (any.f.value)
            any = one;
        else if (in->emit)
            any.ref = emit2(in->emit, OP_or, bool_type(in->types), any.ref, one.ref);
    }
    return *out = any, true;
}

/* Between the ends, in the direction of the step, and a multiple of it from the start. */
static Ref emit_in_range(Emit *e, Ref range, Ref x) {
    const Type *b = bool_type(e->types), *i64 = i64_type(e->types);
    const Type *u64 = type_scalar(e->types, TY_u64);
    Ref start = emit_item(e, range, 0), stop = emit_item(e, range, 1),
        step = emit_item(e, range, 2);
    Ref up = emit2(e, OP_lt, b, emit_int(e, i64, 0), step);
    Ref rising = emit2(e, OP_and, b, emit2(e, OP_le, b, start, x), emit2(e, OP_lt, b, x, stop));
    Ref falling = emit2(e, OP_and, b, emit2(e, OP_lt, b, stop, x), emit2(e, OP_le, b, x, start));
    Ref low = emit3(e, OP_select, i64, up, start, x), high = emit3(e, OP_select, i64, up, x, start);
    Ref size = emit3(e, OP_select, i64, up, step, emit1(e, OP_neg, i64, step));
    Ref way =
        emit2(e, OP_sub, u64, emit_convert(e, high, i64, u64), emit_convert(e, low, i64, u64));
    Ref rest = emit2(e, OP_mod, u64, way, emit_convert(e, size, i64, u64));
    Ref hit = emit2(e, OP_eq, b, rest, emit_int(e, u64, 0));
    return emit2(e, OP_and, b, emit3(e, OP_select, b, up, rising, falling), hit);
}

static bool in_range(Infer *in, Val item, Val range, Val *out) {
    *out = val_of(fact_of(bool_type(in->types)));
    if (!in->emit) return true;
    const Type *i64 = i64_type(in->types);
    out->ref = emit_in_range(in->emit, v_ref(in, range), v_as(in, item, i64));
    return true;
}

static bool v_contains(Infer *in, bool not_in, Val item, Val container, Val *out) {
    item = v_scalar(in, item);
    const Type *t = container.f.type;
    if (t->kind == TY_TUPLE) return in_tuple(in, item, container, out) && negate(in, not_in, out);
    if (t->kind == TY_RANGE && t->element->kind != TY_u64 && type_is_int(item.f.type) &&
        item.f.type->kind != TY_u64)
        return in_range(in, item, container, out) && negate(in, not_in, out);
    Val args[2] = {container, item};
    bool found;
    CallArgs call = {args, 2, 0, NULL};
    if (t->kind == TY_ARRAY) {
        bool done = call_library_function(in, STR("operator.contains"), &call, &found, out);
        return done && negate(in, not_in, out);
    }
    const char *what =
        str_printf(in->arena, "%s in %s", ti_text(in, item.f.type), ti_text(in, t)).bytes;
    return ti_fail(in, in->at, E0206, "look for", what);
}

/* -- arithmetic --------------------------------------------------------------------------------------- */

static bool tuple_arithmetic(Infer *in, Operator op, Val a, Val b, bool *handled, Val *out) {
    int64_t times;
    *handled = true;
    if (op == OPR_mul && is_kind(&b, TY_TUPLE)) {
        Val swap = a;
        a = b, b = swap;
    }
    int32_t n = is_kind(&a, TY_TUPLE) ? a.f.type->nitems : 0;
    if (op == OPR_add && is_kind(&a, TY_TUPLE) && is_kind(&b, TY_TUPLE)) {
        int32_t m = b.f.type->nitems;
        Val *items = arena_array(in->arena, Val, n + m);
        for (int32_t i = 0; i < n + m; i++)
            items[i] = i < n ? v_item(in, a, i) : v_item(in, b, i - n);
        return *out = v_tuple(in, items, n + m), true;
    }
    if (op == OPR_mul && is_kind(&a, TY_TUPLE) && type_is_int(b.f.type)) {
        if (!fact_int_value(&b.f, &times))
            return ti_fail(in, in->at, E0209, "the number of repetitions of a tuple");
        if (times > 0 && n > 1000 / times)
            return ti_fail(in, in->at, E0105, "a tuple of more than 1000 items");
        times = QN_MAX(times, 0);
        Val *items = arena_array(in->arena, Val, n * (int32_t)times);
        for (int32_t i = 0; i < n * (int32_t)times; i++)
            items[i] = v_item(in, a, i % n);
        return *out = v_tuple(in, items, n * (int32_t)times), true;
    }
    return *handled = false;
}

/* A Python int literal below zero, which no unsigned type can hold. */
static bool negative_literal(const Val *v) {
    int64_t value;
    return v->f.type->kind == TY_wint && fact_int_value(&v->f, &value) && value < 0;
}

static bool binary_error(Infer *in, Operator op, Val *a, Val *b) {
    if (op == OPR_mod && fact_str(&a->f)) { /* "%d" % n */
        ti_fail(in, in->at, E0101, "formatting text");
        ti_advise(in, bc_advice("an f-string"));
        return false;
    }
    ti_fail(in, in->at, E0207, operator_verbs[op], ti_text(in, a->f.type), ti_text(in, b->f.type));
    ti_note_value(in, a);
    ti_note_value(in, b);
    note_operands(in, a, b);
    return false;
}

static void warn_mixed(Infer *in, const Val *a, const Val *b, const Val *out) {
    const Type *s = a->f.type, *t = b->f.type;
    if (!in->emit || out->f.type->kind != TY_f64 || type_is_weak(s) || type_is_weak(t)) return;
    if (!type_is_int(s) || !type_is_int(t) || is_unsigned(a) == is_unsigned(b)) return;
    diag_add(in->diags, W0901, ti_spanp(in, in->at), ti_text(in, s), ti_text(in, t));
    diag_note(in->diags, NULL,
              "convert one side where integers are meant, for example np.int64(x)");
}

/* int ** negative literal is a float, as in Python. */
static bool literal_power(Infer *in, Val *a, Val *b) {
    int64_t exponent;
    bool ints = type_is_int(a->f.type) || a->f.type->kind == TY_bool;
    if (in->strong || !ints || !type_is_int(b->f.type) || !fact_int_value(&b->f, &exponent) ||
        exponent >= 0)
        return false;
    bool weak = type_is_weak(a->f.type) || a->f.type->kind == TY_bool;
    const Type *to = weak ? ti_wflt(in) : type_scalar(in->types, TY_f64);
    Val base = val_of(fact_of(to));
    if (in->emit) base.ref = v_as(in, *a, to);
    *a = base;
    *b = val_of((Fact){.type = ti_wflt(in), .value = const_float(in->arena, (double)exponent)});
    return true;
}

/* Two int constants: the row is asked for the type only. */
static bool folded(Infer *in, Operator op, const Val args[2], Val *out) {
    int64_t x, y;
    bool matched;
    Emit *emitting = in->emit;
    if (!fact_int_value(&args[0].f, &x) || !fact_int_value(&args[1].f, &y)) return false;
    in->emit = NULL;
    bool ok = v_row(in, str_from(operator_names[op]), args, 2, &matched, out) && out->f.type &&
              fold_binary(in, op, &args[0].f, &args[1].f, out->f.type, &out->f);
    in->emit = emitting;
    return ok;
}

static bool v_arithmetic(Infer *in, Operator op, bool in_place, Val a, Val b, Val *out) {
    bool handled, matched;
    if (op == OPR_pow) literal_power(in, &a, &b);
    /* Numba's float32 ** int is a float32, whatever the int is */
    if (op == OPR_pow && in->strong && is_kind(&a, TY_f32) && type_is_int(b.f.type))
        b = converted(in, b, a.f.type);
    bool converts = op != OPR_lshift && op != OPR_rshift && op != OPR_pow && op != OPR_truediv;
    if (converts && ((negative_literal(&a) && is_kind(&b, TY_u64)) ||
                     (negative_literal(&b) && is_kind(&a, TY_u64)))) {
        binary_error(in, op, &a, &b);
        if (in->report)
            diag_note(in->diags, NULL,
                      "a negative Python int has no unsigned value; convert one "
                      "side, for example np.int64(x)");
        return false;
    }
    if (tuple_arithmetic(in, op, a, b, &handled, out) || handled) return handled && !in->stop;
    Val args[2] = {a, b};
    CallArgs call = {args, 2, 0, NULL};
    if (is_kind(&a, TY_ARRAY) || is_kind(&b, TY_ARRAY)) {
        const char *name = operator_names[op];
        if (in_place && is_kind(&a, TY_ARRAY))
            name = str_printf(in->arena, "operator.i%s", name + strlen("operator.")).bytes;
        if (call_library_function(in, str_from(name), &call, &matched, out)) return true;
        return matched || in->stop ? false : binary_error(in, op, &a, &b);
    }
    if (folded(in, op, args, out)) return true;
    if (v_row(in, str_from(operator_names[op]), args, 2, &matched, out)) {
        if (op != OPR_truediv) warn_mixed(in, &a, &b, out); /* that is float64 anyway */
        return true;
    }
    return matched || in->stop ? false : binary_error(in, op, &a, &b);
}

const char *typed_operator_name(int32_t index) {
    static const Operator typed[] = {OPR_not, OPR_is, OPR_is_not, OPR_not_contains};
    return index < countof(typed) ? operator_names[typed[index]] : NULL;
}

/* Not inlined: comparisons of tuples recurse through v_binary, whose frame is to be small. */
__attribute__((noinline)) static bool binary_of_others(Infer *in, Operator op, bool in_place, Val a,
                                                       Val b, Val *out) {
    bool handled, done = v_zero_dim(in, op, in_place, (Val[]){a, b}, 2, &handled, out);
    if (done || handled) return done;
    switch (operator_methods[op]) {
    case IDENTITY: return v_is(in, op == OPR_is_not, a, b, out);
    case MEMBER: return v_contains(in, op == OPR_not_contains, a, b, out);
    case COMPARE:
        if (v_compare(in, op, a, b, &handled, out)) return true;
        if (handled) return false;
        break;
    default: break;
    }
    return v_arithmetic(in, op, in_place, v_unwrap(in, a), v_unwrap(in, b), out);
}

bool v_binary(Infer *in, Operator op, bool in_place, Val a, Val b, Val *out) {
    bool tuples = is_kind(&a, TY_TUPLE) && is_kind(&b, TY_TUPLE), result;
    if (!tuples || operator_methods[op] != COMPARE)
        return binary_of_others(in, op, in_place, a, b, out);
    if (!ti_has_stack(in, "tuples")) return false;
    if (op != OPR_eq && op != OPR_ne) return order_tuples(in, op, a, b, out);
    if (fold_compare(op, &a.f, &b.f, &result)) return *out = val_of(fact_bool(in, result)), true;
    return compare_tuples(in, op, a, b, out);
}

/* -- casts ------------------------------------------------------------------------------------------ */

/* A constant survives a cast to a type that holds it. */
const ConstVal *fact_cast_int(const Fact *f, const Type *to) {
    int64_t v;
    if (!fact_int_value(f, &v) || f->value->kind != CONST_INT || !type_is_int(to)) return NULL;
    int bits = type_bits(to);
    bool is_signed = type_class(to) == CLASS_SINT;
    if (bits == 64) return is_signed || v >= 0 ? f->value : NULL;
    int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    return v >= low && v <= high ? f->value : NULL;
}

bool v_cast(Infer *in, Val a, const Type *to, bool checked, Val *out) {
    Emit *e = in->emit;
    a = v_scalar(in, a);
    if (in->strong) to = type_strong(in->types, to);
    if (to->kind == TY_bool) return v_truth(in, a, out);
    if (!type_is_number(a.f.type) || (type_is_complex(a.f.type) && !type_is_complex(to))) {
        ti_fail(in, in->at, E0208, ti_text(in, a.f.type), ti_text(in, to));
        ti_note_value(in, &a);
        return false;
    }
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
    int32_t positional = args->nargs - args->nkeywords, n = to->nitems;
    Val *items = arena_array(in->arena, Val, n);
    bool fits = positional <= n;
    for (int32_t i = 0; i < positional && fits; i++)
        items[i] = args->args[i];
    for (int32_t k = 0; k < args->nkeywords && fits; k++) {
        int32_t i = 0;
        while (i < n && !str_equal(to->fields[i], args->names[k]))
            i++;
        fits = i < n && !items[i].f.type;
        if (fits) items[i] = args->args[positional + k];
    }
    for (int32_t i = 0; i < n && fits; i++) {
        if (items[i].f.type) continue;
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
        return ti_fail(in, in->at, E0401, cls, ti_arg_texts(in, args->args, args->nargs));
    }
    *out = v_tuple(in, items, n);
    out->f.type = type_named_tuple(in->types, out->f.type->items, n, to->fields, to->cls);
    return true;
}

static bool call_type(Infer *in, const Binding *b, const CallArgs *args, Val *out) {
    const Type *to = b->type;
    if (to->kind == TY_TUPLE && to->fields) return make_named(in, b, args, out);
    if (args->nkeywords || args->nargs > 1 || to->kind >= TY_SCALARS)
        return ti_fail(in, in->at, E0401, ti_text(in, type_object(in->types, b)),
                       ti_arg_texts(in, args->args, args->nargs));
    if (args->nargs == 0) {
        Val zero = val_of(fact_int(in, 0));
        return v_cast(in, zero, to, true, out);
    }
    return v_cast(in, args->args[0], to, true, out);
}

/* -- calls ------------------------------------------------------------------------------------------ */

static bool call_error(Infer *in, const char *what, const CallArgs *args) {
    ti_fail(in, in->at, E0401, what, ti_arg_texts(in, args->args, args->nargs));
    for (int32_t i = 0; i < args->nargs; i++)
        ti_note_value(in, &args->args[i]);
    return false;
}

/* A function of numbers is called with an array. */
static void note_arrays(Infer *in, Str name, const CallArgs *args) {
    bool arrays = false;
    for (int32_t i = 0; i < args->nargs; i++)
        arrays |= is_kind(&args->args[i], TY_ARRAY);
    if (arrays && str_starts(name, "builtins."))
        ti_advise(in, "a number is needed: take an element, a[i]");
    else if (arrays && in->report && !array_builtin_knows(name))
        diag_note(
            in->diags, NULL,
            "functions of whole arrays are not supported yet: write a loop over the elements");
}

/* How many arguments a row takes: -1 when that varies. */
static int32_t row_arity(const LibRow *row) {
    int32_t n = row->signature[1] != ')', depth = 0;
    for (const char *c = row->signature; *c && !(*c == ')' && depth == 1); c++) {
        if (*c == '*' || *c == '?') return -1;
        depth += (*c == '(') - (*c == ')');
        n += *c == ',' && depth == 1;
    }
    return n;
}

/* Another number of arguments than any row of that name takes. */
static void note_count(Infer *in, Str name, const char *text, int32_t given) {
    int32_t least = INT32_MAX, most = 0;
    for (int32_t row = lib_find(name); row >= 0; row = lib_next(row)) {
        int32_t n = row_arity(lib_row(row));
        if (n == given || n < 0) return;
        least = QN_MIN(least, n), most = QN_MAX(most, n);
    }
    if (!in->report || least > most || typed_knows(name)) return;
    if (least == most)
        diag_note(in->diags, NULL, "%s takes %d argument%s", text, least, least == 1 ? "" : "s");
    else
        diag_note(in->diags, NULL, "%s takes %d to %d arguments", text, least, most);
}

/* GPU-only rows say where they can be used; others simply do not fit. */
static bool library_error(Infer *in, Str name, const CallArgs *args) {
    int32_t row = lib_find(name);
    const char *text = library_text(in, name);
    TargetKind target = in->ti->options.target;
    if (!library_has(in, name)) {
        ti_fail(in, in->at, E0405, str_printf(in->arena, "the function %s", text).bytes);
        ti_advise_name(in, name);
        return false;
    }
    bool anywhere = row < 0;
    for (; row >= 0; row = lib_next(row))
        anywhere |= lib_lowering(lib_row(row), target)->kind != LOWER_NONE;
    if (!anywhere) return ti_fail(in, in->at, E0404, text, target_text(target));
    call_error(in, text, args);
    note_arrays(in, name, args);
    note_count(in, name, text, args->nargs);
    return false;
}

/* "operator.and_", "operator.iadd": the operator of a function of the module operator; OPR_COUNT: none. */
static Operator operator_of(Str name) {
    Str text = {name.bytes + strlen("operator."), name.len - (int32_t)strlen("operator.")};
    if (text.len > 1 && text.bytes[text.len - 1] == '_') text.len--;
    for (int op = 0; op < OPR_COUNT; op++) {
        Str own = str_from(operator_names[op] + strlen("operator."));
        if (op == OPR_not_contains) continue; /* Python has no function for it */
        if (str_equal(own, text)) return (Operator)op;
        bool in_place = operator_methods[op] == ARITH || operator_methods[op] == BIT;
        Str rest = {text.bytes + 1, text.len - 1};
        if (in_place && text.bytes[0] == 'i' && str_equal(own, rest)) return (Operator)op;
    }
    return OPR_COUNT;
}

/* Functions of the module operator mean what the operators mean. */
static bool call_operator(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    const Val *a = args->args;
    *known = false;
    if (!str_starts(name, "operator.") || args->nkeywords) return false;
    *known = true;
    if (str_equal(name, STR("operator.getitem")) && args->nargs == 2)
        return v_getitem(in, a[0], a[1], out);
    Operator op = operator_of(name);
    bool unary = op < OPR_COUNT && operator_methods[op] == UNARY;
    if (op < OPR_COUNT && args->nargs == (unary ? 1 : 2)) {
        if (unary) return v_unary(in, op, a[0], out);
        bool in_place = !str_equal(name, str_from(operator_names[op]));
        if (op == OPR_contains) return v_binary(in, op, false, a[1], a[0], out);
        return v_binary(in, op, in_place, a[0], a[1], out);
    }
    *known = false;
    return false;
}

static bool call_library(Infer *in, Str name, const CallArgs *args, Val *out) {
    bool known;
    if (call_operator(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (v_typed(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    if (args->nkeywords == 0) {
        if (v_row(in, name, args->args, args->nargs, &known, out)) return true;
        if (known || in->stop) return false;
    }
    if (call_library_function(in, name, args, &known, out)) return true;
    if (known || in->stop) return false;
    return library_error(in, name, args);
}

bool v_library(Infer *in, const char *name, const CallArgs *args, Val *out) {
    return call_library(in, str_from(name), args, out);
}

/* a.sum(...): the object the attribute was taken of is the first argument. */
static bool call_method(Infer *in, const Binding *b, Ref attr, const CallArgs *args, Val *out) {
    Val *all = arena_array(in->arena, Val, args->nargs + 1);
    all[0] = v_unwrap(in, infer_val(in, ir_arg(in->f, attr, 0)));
    for (int32_t i = 0; i < args->nargs; i++)
        all[i + 1] = args->args[i];
    CallArgs call = {all, args->nargs + 1, args->nkeywords, args->names};
    return call_library(in, b->name, &call, out);
}

static bool is_method(Infer *in, const Binding *b, Ref src) {
    if (b->handle || !src || ir_inst(in->f, src)->op != OP_attr) return false;
    return str_starts(b->name, "ndarray.") || str_starts(b->name, "number.");
}

bool v_call(Infer *in, Val callee, const CallArgs *args, Val *out) {
    const Binding *b = fact_object(&callee.f);
    Ref at = in->at;
    if (!b) return ti_fail(in, at, E0402, ti_text(in, callee.f.type));
    switch (b->kind) {
    case BIND_FUNCTION: return call_function(in, b, args, false, out);
    case BIND_LIBRARY:
        if (is_method(in, b, callee.src)) return call_method(in, b, callee.src, args, out);
        return call_library(in, b->name, args, out);
    case BIND_TYPE: return call_type(in, b, args, out);
    case BIND_EXCEPTION: return out->f = callee.f, true; /* its arguments are read by `raise` */
    default: return ti_fail(in, at, E0402, ti_text(in, callee.f.type));
    }
}
