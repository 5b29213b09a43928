/* infer_operator.c - operators: truth, signs and arithmetic, and what the functions of the module operator mean.
 *
 * Arithmetic goes through the rows "operator.*": the row says what the operands are converted to,
 * which IR op it is and what is tested before (a zero divisor, a negative count). */
#include "typeinfer/infer_made.h"

static const char *const operator_names[OPR_COUNT] = {
#define OPERATOR(name, symbol, verb, method) [OPR_##name] = "operator." #name,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
};
const char *const operator_verbs[OPR_COUNT] = {
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

/* -- truth ---------------------------------------------------------------------------------------- */

/* What stands where there is nothing is no object: only of a number may it be asked. */
static bool truth_of_optional(Infer *in, Val a, Val *out) {
    Emit *e = in->emit;
    const Type *t = bool_type(in->types);
    Val inner = {.f = fact_of(a.f.type->element)}, truth = {0};
    *out = val_of(fact_of(t));
    if (!e) return v_truth(in, inner, &truth);
    Ref present = emit_item(e, v_ref(in, a), 0);
    inner.ref = emit_item(e, v_ref(in, a), 1);
    if (type_is_number(inner.f.type)) {
        if (!v_truth(in, inner, &truth)) return false;
        return out->ref = emit2(e, OP_and, t, present, v_ref(in, truth)), true;
    }
    int32_t some = emit_block(e), none = emit_block(e), end = emit_block(e);
    emit_branch(e, present, some, none);
    e->block = some;
    if (!v_truth(in, inner, &truth)) return false;
    Ref there = v_ref(in, truth);
    emit_jump(e, end);
    e->block = none;
    Ref absent = emit_int(e, t, 0);
    emit_jump(e, end);
    e->block = end;
    out->ref = emit(e, OP_phi, t, (Ref[]){there, absent}, 2);
    return true;
}

static bool truth_of_number(Infer *in, Val a, Val *out) {
    Emit *e = in->emit;
    int64_t value;
    double real;
    if (fact_int_value(&a.f, &value)) return *out = val_of(fact_bool(in, value != 0)), true;
    if (fact_float_value(&a.f, &real)) return *out = val_of(fact_bool(in, real != 0)), true;
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
    case TY_TUPLE: return *out = val_of(fact_bool(in, t->nitems != 0 || type_is_value(t))), true;
    case TY_OPTIONAL: return truth_of_optional(in, a, out);
    case TY_ITER:
        if (type_is_generator(t)) return *out = val_of(fact_bool(in, true)), true;
        break;
    case TY_CLOSURE:
    case TY_CHOICE: return *out = val_of(fact_bool(in, true)), true;
    case TY_MEMBER:
        if (!t->binding->enumeration->ints) return *out = val_of(fact_bool(in, true)), true;
        break;
    case TY_OBJECT: {
        const Str *s = fact_str(&a.f);
        return *out = val_of(fact_bool(in, !s || s->len != 0)), true;
    }
    case TY_CLASS:
    case TY_RANGE: {
        if (type_is_instance(t)) return v_instance_truth(in, a, out);
        if (type_is_of(t, CLS_exception)) return *out = val_of(fact_bool(in, true)), true;
        Val n = {0};
        return v_iter_len(in, a, &n) && truth_of_number(in, n, out);
    }
    default: break;
    }
    bool known;
    if (v_characters_truth(in, a, &known, out) || known) return !in->stop;
    a = v_scalar(in, a);
    if (is_kind(&a, TY_TIME)) return v_time_truth(in, a, out);
    if (type_is_number(a.f.type)) return truth_of_number(in, a, out);
    if (is_kind(&a, TY_ARRAY))
        return v_library(in, "builtins.truth_of_array", &(CallArgs){&a, 1, 0, NULL}, out);
    return v_refuse(in, REFUSE_TRUTH, "take the truth of", &a, 1);
}

/* -- unary operators -------------------------------------------------------------------------------- */

bool v_unary(Infer *in, Operator op, Val a, Val *out) {
    int64_t value;
    bool taken;
    if (v_overload_operator(in, operator_names[op], &a, 1, &taken, out) || taken) return !in->stop;
    if (op == OPR_not) {
        Val truth = {0};
        if (!v_truth(in, a, &truth)) return false;
        if (truth.f.value) return *out = val_of(fact_bool(in, !truth.f.value->i)), true;
        *out = val_of(fact_of(bool_type(in->types)));
        if (in->emit) out->ref = emit1(in->emit, OP_not, bool_type(in->types), v_ref(in, truth));
        return true;
    }
    a = v_unwrap(in, a);
    if (v_instance_unary(in, op, a, &taken, out) || taken) return !in->stop;
    if (v_object_unary(in, op, a, &taken, out) || taken) return !in->stop;
    bool handled, done = v_zero_dim(in, op, false, &a, 1, &handled, out);
    if (done || handled) return done;
    if (v_time_operator(in, op, &a, 1, &handled, out) || handled) return !in->stop;
    bool folds = a.f.type->kind == ti_wint(in)->kind && fact_int_value(&a.f, &value);
    if (folds && op == OPR_neg && value != INT64_MIN)
        return *out = val_of(fact_int(in, -value)), true;
    if (folds && op == OPR_invert) return *out = val_of(fact_int(in, ~value)), true;
    bool matched;
    if (v_row(in, str_from(operator_names[op]), &a, 1, &matched, out)) {
        /* Numba's ~ and - compute in the type of an unsigned int, and give a uint64 */
        if (in->strong && is_unsigned(out))
            *out = v_converted(in, *out, type_scalar(in->types, TY_u64));
        return true;
    }
    if (matched || in->stop) return false;
    if (v_operator_of_arrays(in, op, false, &a, 1, &matched, out)) return true;
    if (matched || in->stop) return false;
    return v_refuse(in, REFUSE_UNARY, operator_verbs[op], &a, 1);
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

static bool binary_error(Infer *in, Operator op, const Val args[2]) {
    if (op == OPR_mod && fact_str(&args[0].f)) { /* "%d" % n */
        ti_fail(in, in->at, E0101, "formatting text");
        ti_advise(in, bc_advice("formatting text"));
        return false;
    }
    return v_refuse(in, REFUSE_BINARY, operator_verbs[op], args, 2);
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
        b = v_converted(in, b, a.f.type);
    Val args[2] = {a, b};
    bool converts = op != OPR_lshift && op != OPR_rshift && op != OPR_pow && op != OPR_truediv;
    if (converts && ((fact_negative_literal(&a.f) && is_kind(&b, TY_u64)) ||
                     (fact_negative_literal(&b.f) && is_kind(&a, TY_u64))))
        return binary_error(in, op, args);
    if (tuple_arithmetic(in, op, a, b, &handled, out) || handled) return handled && !in->stop;
    if (is_kind(&a, TY_ARRAY) || is_kind(&b, TY_ARRAY)) {
        if (v_operator_of_arrays(in, op, in_place, args, 2, &matched, out)) return true;
        return matched || in->stop ? false : binary_error(in, op, args);
    }
    if (folded(in, op, args, out)) return true;
    if (v_row(in, str_from(operator_names[op]), args, 2, &matched, out)) {
        if (op != OPR_truediv) warn_mixed(in, &a, &b, out); /* that is float64 anyway */
        return true;
    }
    return matched || in->stop ? false : binary_error(in, op, args);
}

const char *typed_operator_name(int32_t index) {
    static const Operator typed[] = {OPR_not, OPR_is, OPR_is_not, OPR_not_contains};
    return index < countof(typed) ? operator_names[typed[index]] : NULL;
}

/* Or an optional one. */
static bool is_time(const Val *v) {
    return is_kind(v, TY_TIME) || (is_kind(v, TY_OPTIONAL) && v->f.type->element->kind == TY_TIME);
}

/* Values of two of these kinds are never equal in Python. */
typedef enum Family {
    FAMILY_OTHER, /* nobody knows: arrays, instances, times ... */
    FAMILY_NUMBER,
    FAMILY_TEXT,
    FAMILY_OCTETS,
    FAMILY_TUPLE,
    FAMILY_LIST,
    FAMILY_DICT,
    FAMILY_SET,
    FAMILY_RANGE
} Family;

static Family family(const Type *t) {
    if (t->kind == TY_OPTIONAL) t = t->element; /* None is equal to none of them either */
    if (type_is_text(t)) return FAMILY_TEXT;
    if (type_is_number(t)) return FAMILY_NUMBER;
    if (type_is_octets(t)) return FAMILY_OCTETS;
    if (type_is_list(t)) return FAMILY_LIST;
    if (type_is_of(t, CLS_dict)) return FAMILY_DICT;
    if (type_is_of(t, CLS_set)) return FAMILY_SET;
    if (t->kind == TY_TUPLE && !type_is_value(t)) return FAMILY_TUPLE;
    return t->kind == TY_RANGE ? FAMILY_RANGE : FAMILY_OTHER;
}

static bool has_equality(const Type *t) {
    if (t->kind == TY_OPTIONAL) t = t->element;
    return family(t) != FAMILY_OTHER || type_is_value(t);
}

/* One of them may be None, and what they are otherwise is compared to one answer. */
static bool equal_or_none(Operator op, const Val *a, const Val *b) {
    bool optional = is_kind(a, TY_OPTIONAL) || is_kind(b, TY_OPTIONAL);
    return (op == OPR_eq || op == OPR_ne) && optional && !fact_none(&a->f) && !fact_none(&b->f) &&
           has_equality(a->f.type) && has_equality(b->f.type);
}

static bool is_plain(const Val *a) {
    return family(a->f.type) == FAMILY_NUMBER;
}

/* A NumPy number beside a tuple or list is compared with each item: that is not decided here. */
static bool never_equal(const Type *s, const Type *t) {
    Family a = family(s), b = family(t), low = QN_MIN(a, b), high = QN_MAX(a, b);
    if (a == b || low == FAMILY_OTHER) return false;
    const Type *number = a == FAMILY_NUMBER ? s : t;
    bool python = type_is_weak(number) || number->kind == TY_bool;
    return low != FAMILY_NUMBER || python || (high != FAMILY_TUPLE && high != FAMILY_LIST);
}

static bool may_be_none(const Val *v) {
    return is_kind(v, TY_OPTIONAL) || fact_none(&v->f);
}

/* Not inlined: comparisons of tuples recurse through v_binary, whose frame is to be small. */
__attribute__((noinline)) static bool binary_of_others(Infer *in, Operator op, bool in_place, Val a,
                                                       Val b, Val *out) {
    bool handled, done;
    Method method = (Method)operator_methods[op];
    bool extends = in_place && type_is_list(a.f.type); /* xs += array */
    if ((op == OPR_eq || op == OPR_ne) && never_equal(a.f.type, b.f.type))
        return *out = val_of(fact_bool(in, op == OPR_ne)), true;
    if (v_compare_characters(in, op, a, b, &handled, out) || handled || in->stop) return !in->stop;
    if (!v_text_operands(in, op, &a, &b)) return false;
    if ((method == ARITH || method == BIT || method == COMPARE) && !extends &&
        !v_sequences_as_arrays(in, &a, &b))
        return false;
    done = v_object_operator(in, op, in_place, a, b, &handled, out);
    if (done || handled || in->stop) return done;
    done = v_zero_dim(in, op, in_place, (Val[]){a, b}, 2, &handled, out);
    if (done || handled) return done;
    bool none = fact_none(&a.f) || fact_none(&b.f);
    bool asks = method == IDENTITY || method == MEMBER || none; /* whether it is there */
    if ((is_time(&a) || is_time(&b)) && !(asks && (may_be_none(&a) || may_be_none(&b)))) {
        Val both[2] = {v_present(in, a), v_present(in, b)};
        if (v_time_operator(in, op, both, 2, &handled, out) || handled) return !in->stop;
    }
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

/* Instances of a dataclass are equal when their fields are, and to nothing else. */
static bool binary_of_values(Infer *in, Operator op, Val a, Val b, Val *out) {
    bool same = a.f.type->kind == b.f.type->kind && a.f.type->bits == b.f.type->bits &&
                a.f.type->cls == b.f.type->cls && !type_is_keyed(a.f.type);
    if (type_is_keyed(a.f.type) || type_is_keyed(b.f.type))
        return v_refuse(in, REFUSE_BINARY, operator_verbs[op], (Val[]){a, b}, 2);
    if (same && operator_methods[op] == COMPARE && op != OPR_eq && op != OPR_ne &&
        instance_binds(in, a.f.type, STR("__lt__"))) /* @dataclass(order=True) wrote it */
        return v_order_tuples(in, op, a, b, out);
    if (in->stop) return false;
    if (op != OPR_eq && op != OPR_ne)
        return v_refuse(in, operator_methods[op] == COMPARE ? REFUSE_ORDER : REFUSE_BINARY,
                        operator_verbs[op], (Val[]){a, b}, 2);
    if (same) return v_equal_tuples(in, op, a, b, out);
    return *out = val_of(fact_bool(in, op == OPR_ne)), true;
}

static bool v_add_open(Infer *in, Val a, Val b, Val *out) {
    if (type_is_list(a.f.type) && type_is_list(b.f.type)) return container_added(in, a, b, out);
    return in->stop = STOP_UNKNOWN, false;
}

/* [[]] * n, and n * [[]]. */
static bool repeats_open(const Val *list, const Val *times, Val *out) {
    bool repeats = type_is_list(list->f.type) && list->f.type->open && type_is_int(times->f.type);
    if (repeats) *out = val_of(fact_of(list->f.type));
    return repeats;
}

bool v_binary(Infer *in, Operator op, bool in_place, Val a, Val b, Val *out) {
    bool tuples = is_kind(&a, TY_TUPLE) && is_kind(&b, TY_TUPLE), result;
    bool values = type_is_value(a.f.type) || type_is_value(b.f.type);
    bool one = !is_kind(&a, TY_OPTIONAL) && !is_kind(&b, TY_OPTIONAL) && !fact_none(&a.f) &&
               !fact_none(&b.f) && op != OPR_is && op != OPR_is_not && op != OPR_contains &&
               op != OPR_not_contains,
         taken;
    if (op == OPR_add && !in_place && (a.f.type->open || b.f.type->open) && !in->emit)
        return v_add_open(in, a, b, out);
    if (op == OPR_mul && !in_place && !in->emit &&
        (repeats_open(&a, &b, out) || repeats_open(&b, &a, out)))
        return true;
    if (v_overload_binary(in, operator_names[op], in_place, a, b, &taken, out) || taken)
        return !in->stop;
    if (one && (is_kind(&a, TY_TUPLE) || is_kind(&b, TY_TUPLE)) && /* others: v_object_operator */
        (v_instance_operator(in, op, in_place, a, b, &taken, out) || taken))
        return !in->stop;
    if (in->stop) return false;
    if (values && one) return binary_of_values(in, op, a, b, out);
    if (equal_or_none(op, &a, &b))
        return v_equal_optionals(in, op, a, b, is_plain(&a) && is_plain(&b), out);
    if (!tuples || operator_methods[op] != COMPARE)
        return binary_of_others(in, op, in_place, a, b, out);
    if (!ti_has_stack(in, "tuples")) return false;
    if (op != OPR_eq && op != OPR_ne) return v_order_tuples(in, op, a, b, out);
    if (fold_compare(op, &a.f, &b.f, &result)) return *out = val_of(fact_bool(in, result)), true;
    return v_equal_tuples(in, op, a, b, out);
}

/* -- the module operator ------------------------------------------------------------------------------ */

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
bool v_operator_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
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
