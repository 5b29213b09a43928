/* infer_time.c - NumPy's datetime64 and timedelta64.
 *
 * A time is an int64, the number of its units; the type says which. What is done with times is a row below: the operands become
 * numbers of one unit, a function of quern/library/times.py computes with these, and its number is a time again. NaT is the
 * smallest int64, and those functions know it. */
#include "typeinfer/infer.h"

/* -- units ------------------------------------------------------------------------------------------ */

static const int32_t next_units[UNIT_COUNT] = {
#define UNIT(name, next) [UNIT_##name] = next,
#include "frontend/ir/ir_units.def"
#undef UNIT
};

typedef struct Fraction { /* in lowest terms */
    int64_t num, den;
} Fraction;

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* false: no int64 holds it. */
static bool scaled(Fraction *f, int64_t num, int64_t den) {
    int64_t a = common_divisor(num, f->den), b = common_divisor(f->num, den);
    if (__builtin_mul_overflow(num / a, f->num / b, &f->num)) return false;
    return !__builtin_mul_overflow(den / b, f->den / a, &f->den);
}

/* How many of `small` are one of `big`, weeks and less. */
static bool between(Fraction *f, TimeUnit big, TimeUnit small) {
    for (TimeUnit unit = big; unit < small; unit++)
        if (!scaled(f, next_units[unit], 1)) return false;
    return true;
}

static bool is_calendar(TimeUnit unit) {
    return unit == UNIT_Y || unit == UNIT_M;
}

/* Of spans of years and months, NumPy's: 400 years are 146097 days. */
static bool factor(TimeUnit big, TimeUnit small, Fraction *f) {
    *f = (Fraction){1, 1};
    if (!is_calendar(big)) return between(f, big, small);
    if (big == UNIT_Y && small >= UNIT_M && !scaled(f, 12, 1)) return false;
    if (is_calendar(small)) return true;
    if (!scaled(f, 146097, 4800)) return false;
    return small == UNIT_W ? scaled(f, 1, 7) : between(f, UNIT_D, small);
}

/* How many of `to` are one of `from`. A number without unit has any. */
static bool conversion(const Type *from, const Type *to, Fraction *out) {
    TimeUnit a = type_unit(from), b = type_unit(to);
    *out = (Fraction){1, 1};
    if (a == UNIT_generic) return true;
    if (b == UNIT_generic) return false;
    if (a <= b && !factor(a, b, out)) return false;
    if (a > b) {
        if (!factor(b, a, out)) return false;
        *out = (Fraction){out->den, out->num};
    }
    return scaled(out, type_multiple(from), type_multiple(to));
}

/* NumPy's unit for both. `exact`: a number of years or months, of which that is asked, is no number of days. NULL: there is none. */
static const Type *common_unit(TypeTable *types, const Type *a, bool exact_a, const Type *b,
                               bool exact_b) {
    Fraction one = {1, 1}, other = {1, 1};
    if (type_unit(a) == UNIT_generic) return type_time(types, true, type_unit(b), type_multiple(b));
    if (type_unit(b) == UNIT_generic) return common_unit(types, b, exact_b, a, exact_a);
    if (type_unit(a) > type_unit(b)) return common_unit(types, b, exact_b, a, exact_a);
    TimeUnit big = type_unit(a), small = type_unit(b);
    bool apart = is_calendar(big) && !is_calendar(small);
    if (apart && exact_a) return NULL;
    /* NumPy takes a month, and a year, for a week here */
    if (apart ? !between(&one, UNIT_W, small) : !factor(big, small, &one)) return NULL;
    if (!scaled(&one, type_multiple(a), 1) || !scaled(&other, type_multiple(b), 1)) return NULL;
    int64_t multiple = common_divisor(one.num, other.num);
    if (multiple > MAX_TIME_MULTIPLE) return NULL;
    return type_time(types, true, small, (int32_t)multiple);
}

const Type *time_promote(TypeTable *types, const Type *a, const Type *b) {
    if (a == b) return a;
    if (a->kind != TY_TIME) return time_promote(types, b, a);
    if (b->kind != TY_TIME) return type_is_int(b) || b->kind == TY_bool ? a : NULL;
    const Type *unit = common_unit(types, a, type_is_span(a), b, type_is_span(b));
    bool span = type_is_span(a) && type_is_span(b);
    return unit ? type_time(types, span, type_unit(unit), type_multiple(unit)) : NULL;
}

/* -- numbers of units --------------------------------------------------------------------------------- */

static const Type *like_unit(Infer *in, bool span, const Type *unit) {
    return type_time(in->types, span, type_unit(unit), type_multiple(unit));
}

static Val retyped(Val v, const Type *type) {
    v.f = (Fact){.type = type, .value = v.f.value};
    return v;
}

static bool library_of(Infer *in, const char *name, const Val *args, int32_t n, Val *out) {
    CallArgs call = {args, n, 0, NULL};
    return v_library(in, name, &call, out);
}

static bool scale(Infer *in, Val x, Fraction by, Val *out) {
    if (by.num == by.den) return *out = x, true;
    Val args[3] = {x, val_of(fact_int(in, by.num)), val_of(fact_int(in, by.den))};
    return library_of(in, "time.scale", args, 3, out);
}

/* Months since 1970 are days, or the other way round. */
static bool through_calendar(Infer *in, Val x, const Type *from, const Type *to, Val *out) {
    bool days = is_calendar(type_unit(to));
    const Type *day = type_time(in->types, false, UNIT_D, 1);
    const Type *month = type_time(in->types, false, UNIT_M, 1);
    Fraction before, after;
    if (!conversion(from, days ? day : month, &before) ||
        !conversion(days ? month : day, to, &after))
        return false;
    return scale(in, x, before, &x) &&
           library_of(in, days ? "time.months_of_days" : "time.days_of_months", &x, 1, &x) &&
           scale(in, x, after, out);
}

static bool is_whole_number(const Type *type) {
    return type_is_int(type) || type->kind == TY_bool;
}

/* A time, or an int, as an int64: how many of the unit of `to`. false without an error: it is none. */
static bool ticks_of(Infer *in, Val v, const Type *to, Val *out) {
    const Type *from = v.f.type, *i64 = i64_type(in->types);
    Fraction by;
    if (from->kind != TY_TIME) return v_cast(in, v, i64, false, out);
    Val x = retyped(v, i64);
    bool calendar = !type_is_span(from) && type_unit(from) != UNIT_generic &&
                    is_calendar(type_unit(from)) != is_calendar(type_unit(to));
    if (calendar) return through_calendar(in, x, from, to, out);
    return conversion(from, to, &by) && scale(in, x, by, out);
}

/* -- functions of times ---------------------------------------------------------------------------------- */

typedef enum Units {
    SAME,  /* all operands as numbers of the unit that they have together */
    OWN,   /* the one span as it is, beside a number */
    NONE,  /* the numbers as they are, which no function looks at */
    CHOICE /* a condition, then SAME */
} Units;

/* Operands: M a point in time, m a span, i an int or a bool, n an int, f a float. Result: M and m of that unit, or x: as the function gives. */
enum { MOST_OPERANDS = 3 };
static const struct TimeRow {
    const char *name, *operands;
    Units units;
    char result;
    const char *function;
} rows[] = {
    {"builtins.abs", "m", SAME, 'm', "time.absolute"},
    {"numpy.abs", "m", SAME, 'm', "time.absolute"},
    {"numpy.absolute", "m", SAME, 'm', "time.absolute"},
    {"numpy.add", "Mi", SAME, 'M', "time.add"},
    {"numpy.add", "Mm", SAME, 'M', "time.add"},
    {"numpy.add", "iM", SAME, 'M', "time.add"},
    {"numpy.add", "im", SAME, 'm', "time.add"},
    {"numpy.add", "mM", SAME, 'M', "time.add"},
    {"numpy.add", "mi", SAME, 'm', "time.add"},
    {"numpy.add", "mm", SAME, 'm', "time.add"},
    {"numpy.divide", "mf", OWN, 'm', "time.divide_float"},
    {"numpy.divide", "mn", OWN, 'm', "time.divide_int"},
    {"numpy.divide", "mm", SAME, 'x', "time.ratio"},
    {"numpy.equal", "Mf", NONE, 'x', "time.never"},
    {"numpy.equal", "Mi", NONE, 'x', "time.never"},
    {"numpy.equal", "Mm", NONE, 'x', "time.never"},
    {"numpy.equal", "fM", NONE, 'x', "time.never"},
    {"numpy.equal", "fm", NONE, 'x', "time.never"},
    {"numpy.equal", "iM", NONE, 'x', "time.never"},
    {"numpy.equal", "mM", NONE, 'x', "time.never"},
    {"numpy.equal", "mf", NONE, 'x', "time.never"},
    {"numpy.equal", "MM", SAME, 'x', "time.equal"},
    {"numpy.equal", "im", SAME, 'x', "time.equal"},
    {"numpy.equal", "mi", SAME, 'x', "time.equal"},
    {"numpy.equal", "mm", SAME, 'x', "time.equal"},
    {"numpy.floor_divide", "mf", OWN, 'm', "time.divide_float"},
    {"numpy.floor_divide", "mn", OWN, 'm', "time.divide_int"},
    {"numpy.floor_divide", "mm", SAME, 'x', "time.floor_ratio"},
    {"numpy.fmax", "MM", SAME, 'M', "time.fmax"},
    {"numpy.fmax", "mm", SAME, 'm', "time.fmax"},
    {"numpy.fmin", "MM", SAME, 'M', "time.fmin"},
    {"numpy.fmin", "mm", SAME, 'm', "time.fmin"},
    {"numpy.greater", "MM", SAME, 'x', "time.greater"},
    {"numpy.greater", "im", SAME, 'x', "time.greater"},
    {"numpy.greater", "mi", SAME, 'x', "time.greater"},
    {"numpy.greater", "mm", SAME, 'x', "time.greater"},
    {"numpy.greater_equal", "MM", SAME, 'x', "time.greater_equal"},
    {"numpy.greater_equal", "im", SAME, 'x', "time.greater_equal"},
    {"numpy.greater_equal", "mi", SAME, 'x', "time.greater_equal"},
    {"numpy.greater_equal", "mm", SAME, 'x', "time.greater_equal"},
    {"numpy.isfinite", "M", SAME, 'x', "time.isfinite"},
    {"numpy.isfinite", "m", SAME, 'x', "time.isfinite"},
    {"numpy.isinf", "M", SAME, 'x', "time.isinf"},
    {"numpy.isinf", "m", SAME, 'x', "time.isinf"},
    {"numpy.isnan", "M", SAME, 'x', "time.isnat"},
    {"numpy.isnan", "m", SAME, 'x', "time.isnat"},
    {"numpy.isnat", "M", SAME, 'x', "time.isnat"},
    {"numpy.isnat", "m", SAME, 'x', "time.isnat"},
    {"numpy.less", "MM", SAME, 'x', "time.less"},
    {"numpy.less", "im", SAME, 'x', "time.less"},
    {"numpy.less", "mi", SAME, 'x', "time.less"},
    {"numpy.less", "mm", SAME, 'x', "time.less"},
    {"numpy.less_equal", "MM", SAME, 'x', "time.less_equal"},
    {"numpy.less_equal", "im", SAME, 'x', "time.less_equal"},
    {"numpy.less_equal", "mi", SAME, 'x', "time.less_equal"},
    {"numpy.less_equal", "mm", SAME, 'x', "time.less_equal"},
    {"numpy.maximum", "MM", SAME, 'M', "time.maximum"},
    {"numpy.maximum", "mm", SAME, 'm', "time.maximum"},
    {"numpy.minimum", "MM", SAME, 'M', "time.minimum"},
    {"numpy.minimum", "mm", SAME, 'm', "time.minimum"},
    {"numpy.mod", "mm", SAME, 'm', "time.remainder"},
    {"numpy.multiply", "fm", OWN, 'm', "time.times_float"},
    {"numpy.multiply", "im", OWN, 'm', "time.times_int"},
    {"numpy.multiply", "mf", OWN, 'm', "time.times_float"},
    {"numpy.multiply", "mi", OWN, 'm', "time.times_int"},
    {"numpy.negative", "m", SAME, 'm', "time.negative"},
    {"numpy.not_equal", "Mf", NONE, 'x', "time.always"},
    {"numpy.not_equal", "Mi", NONE, 'x', "time.always"},
    {"numpy.not_equal", "Mm", NONE, 'x', "time.always"},
    {"numpy.not_equal", "fM", NONE, 'x', "time.always"},
    {"numpy.not_equal", "fm", NONE, 'x', "time.always"},
    {"numpy.not_equal", "iM", NONE, 'x', "time.always"},
    {"numpy.not_equal", "mM", NONE, 'x', "time.always"},
    {"numpy.not_equal", "mf", NONE, 'x', "time.always"},
    {"numpy.not_equal", "MM", SAME, 'x', "time.not_equal"},
    {"numpy.not_equal", "im", SAME, 'x', "time.not_equal"},
    {"numpy.not_equal", "mi", SAME, 'x', "time.not_equal"},
    {"numpy.not_equal", "mm", SAME, 'x', "time.not_equal"},
    {"numpy.positive", "m", SAME, 'm', "time.same"},
    {"numpy.remainder", "mm", SAME, 'm', "time.remainder"},
    {"numpy.subtract", "MM", SAME, 'm', "time.subtract"},
    {"numpy.subtract", "Mi", SAME, 'M', "time.subtract"},
    {"numpy.subtract", "Mm", SAME, 'M', "time.subtract"},
    {"numpy.subtract", "im", SAME, 'm', "time.subtract"},
    {"numpy.subtract", "mi", SAME, 'm', "time.subtract"},
    {"numpy.subtract", "mm", SAME, 'm', "time.subtract"},
    {"numpy.true_divide", "mf", OWN, 'm', "time.divide_float"},
    {"numpy.true_divide", "mn", OWN, 'm', "time.divide_int"},
    {"numpy.true_divide", "mm", SAME, 'x', "time.ratio"},
    {"numpy.where", "iMM", CHOICE, 'M', "time.choose"},
    {"numpy.where", "imm", CHOICE, 'm', "time.choose"},
};

static const Type *element_type(const Val *v) {
    return is_kind(v, TY_ARRAY) ? v->f.type->element : v->f.type;
}

static bool any_time(const Val *args, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (element_type(&args[i])->kind == TY_TIME) return true;
    return false;
}

static char letter_of(const Type *type) {
    if (type->kind == TY_TIME) return type_is_span(type) ? 'm' : 'M';
    if (type->kind == TY_bool) return 'b';
    return type_is_int(type) ? 'n' : type_is_float(type) ? 'f' : '?';
}

static bool takes(char wanted, char letter) {
    return wanted == letter || (wanted == 'i' && (letter == 'n' || letter == 'b'));
}

static bool takes_all(const char *operands, const char *letters) {
    while (*operands && takes(*operands, *letters))
        operands++, letters++;
    return !*operands && !*letters;
}

static const struct TimeRow *row_for(Str name, const Val *args, int32_t n) {
    char letters[MOST_OPERANDS + 1] = {0};
    for (int32_t i = 0; i < n && n <= MOST_OPERANDS; i++)
        letters[i] = letter_of(element_type(&args[i]));
    for (int i = 0; i < countof(rows); i++)
        if (str_is(name, rows[i].name) && takes_all(rows[i].operands, letters)) return &rows[i];
    return NULL;
}

bool time_has_row(Str name, int32_t n) {
    for (int i = 0; i < countof(rows); i++)
        if (str_is(name, rows[i].name) && (int32_t)strlen(rows[i].operands) == n) return true;
    return false;
}

/* The unit that the operands are numbers of. NULL: there is none. */
static const Type *row_unit(Infer *in, const struct TimeRow *row, const Val *args, int32_t n) {
    const Type *a = args[row->units == CHOICE].f.type, *b = args[n - 1].f.type;
    if (a->kind != TY_TIME) return b;
    if (b->kind != TY_TIME || n == 1 || row->units == OWN || row->units == NONE) return a;
    bool exact = type_is_span(a) || type_is_span(b);
    return common_unit(in->types, a, exact && type_is_span(a), b, exact && type_is_span(b));
}

static bool compute(Infer *in, const struct TimeRow *row, const Val *args, int32_t n, Val *out) {
    Val ticks[MOST_OPERANDS];
    const Type *unit = row_unit(in, row, args, n);
    for (int32_t i = 0; i < n; i++) {
        bool real = row->operands[i] == 'f';
        bool done =
            unit && (real ? v_cast(in, args[i], type_scalar(in->types, TY_f64), false, &ticks[i])
                          : ticks_of(in, args[i], unit, &ticks[i]));
        if (!done)
            return in->stop
                       ? false
                       : v_refuse(in, REFUSE_CALL, library_text(in, str_from(row->name)), args, n);
    }
    if (!library_of(in, row->function, ticks, n, out)) return false;
    if (row->result != 'x') *out = retyped(*out, like_unit(in, row->result == 'm', unit));
    return true;
}

bool v_time_operator(Infer *in, Operator op, const Val *args, int32_t n, bool *handled, Val *out) {
    const char *name = operator_ufunc(op);
    *handled = false;
    for (int32_t i = 0; i < n; i++)
        if (is_kind(&args[i], TY_ARRAY)) return false;
    const struct TimeRow *row = name && any_time(args, n) ? row_for(str_from(name), args, n) : NULL;
    *handled = row != NULL;
    return row && compute(in, row, args, n, out);
}

/* -- conversions -------------------------------------------------------------------------------------------- */

bool can_be_time(const Type *from, const Type *to) {
    if (to->kind != TY_TIME) return false;
    if (from->kind != TY_TIME) return is_whole_number(from);
    Fraction by;
    return type_is_span(from) == type_is_span(to) && conversion(from, to, &by);
}

/* An int becomes so many units, a time is converted to another unit, or is the number of its units. */
bool v_time_cast(Infer *in, Val a, const Type *to, bool *known, Val *out) {
    bool from_time = is_kind(&a, TY_TIME), to_time = to->kind == TY_TIME;
    *known = from_time || to_time;
    if (!*known || a.f.type == to) return *out = a, *known;
    if (from_time && !to_time) {
        if (!type_is_number(to) || to->kind == TY_bool) return *known = false;
        return v_cast(in, retyped(a, i64_type(in->types)), to, false, out);
    }
    if (!can_be_time(a.f.type, to)) return v_refuse(in, REFUSE_CAST, ti_text(in, to), &a, 1);
    if (!ticks_of(in, a, to, out))
        return in->stop ? false : v_refuse(in, REFUSE_CAST, ti_text(in, to), &a, 1);
    return *out = retyped(*out, to), true;
}

/* The name of a function that converts an element, with the type. */
#define CONVERSION "time.to "

const Binding *time_conversion(Infer *in, const Type *to) {
    StrBuf name;
    buf_init(&name, in->arena);
    buf_str(&name, CONVERSION);
    type_print(&name, to);
    return row_function(in, buf_take(&name), 1);
}

bool v_time_truth(Infer *in, Val a, Val *out) {
    return v_truth(in, retyped(a, i64_type(in->types)), out);
}

/* -- calls ------------------------------------------------------------------------------------------------- */

/* Has int(x) a meaning? NumPy makes Python objects of the others. */
static bool is_counted(const Type *time) {
    TimeUnit unit = type_unit(time);
    return unit >= UNIT_ns && (unit != UNIT_generic || type_is_span(time))
               ? true
               : type_is_span(time) && is_calendar(unit);
}

static Val constant(Infer *in, const Type *type, int64_t ticks) {
    ConstVal *value = arena_new(in->arena, ConstVal);
    *value = (ConstVal){.kind = CONST_INT, .i = ticks};
    return val_of((Fact){.type = type, .value = value});
}

/* np.datetime64('2020-05-07'): of the unit that it is written in, unless another is asked for. */
static void written_time(Infer *in, Str text, const Str *unit, Val *a, const Type **to) {
    TimeUnit own;
    int64_t ticks;
    if (!time_of_text(text, &own, &ticks)) return;
    *a = constant(in, type_time(in->types, false, own, 1), ticks);
    if (!unit) *to = a->f.type;
}

/* str(x): the number, the unit, and whether it is a span. */
static bool text_of_time(Infer *in, Val a, Val *out) {
    const Type *type = a.f.type,
               *one = type_time(in->types, type_is_span(type), type_unit(type), 1);
    Val args[3] = {a, val_of(fact_int(in, type_unit(type))),
                   val_of(fact_bool(in, type_is_span(type)))};
    return ticks_of(in, a, one, &args[0]) && library_of(in, "time.text", args, 3, out);
}

/* np.timedelta64(x, 's') */
static bool make_time(Infer *in, bool span, const CallArgs *args, Val *out) {
    const Str *unit = args->nargs == 2 ? fact_str(&args->args[1].f) : NULL, *text;
    const char *word = span ? "timedelta64" : "datetime64";
    const Type *to = NULL;
    if (args->nargs < 1 || args->nargs > 2 || args->nkeywords || (args->nargs == 2 && !unit))
        return v_refuse(in, REFUSE_CALL, word, args->args, args->nargs);
    Val a = v_scalar(in, args->args[0]);
    if (unit)
        to = type_time_named(in->types,
                             str_printf(in->arena, "%s[" STR_FMT "]", word, STR_ARG(*unit)));
    else if (is_kind(&a, TY_TIME))
        to = a.f.type;
    else
        to = type_time(in->types, span, UNIT_generic, 1);
    text = fact_str(&a.f);
    if (text && str_is(*text, "NaT"))
        a = constant(in, i64_type(in->types), INT64_MIN);
    else if (text && !span)
        written_time(in, *text, unit, &a, &to);
    if (!to || !can_be_time(a.f.type, to) || (!span && !unit && !is_kind(&a, TY_TIME) && !text))
        return v_refuse(in, REFUSE_CALL, word, args->args, args->nargs);
    bool known;
    return v_time_cast(in, a, to, &known, out);
}

const char *time_name(int32_t index) {
    static const char *const names[] = {"numpy.datetime64", "numpy.isnat", "numpy.timedelta64"};
    return index < countof(names) ? names[index] : NULL;
}

bool v_time_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    bool span = str_is(name, "numpy.timedelta64");
    *known = true;
    if (span || str_is(name, "numpy.datetime64")) return make_time(in, span, args, out);
    const char *type = str_starts(name, CONVERSION) ? name.bytes + strlen(CONVERSION) : NULL;
    const Type *to = type ? type_parse(in->types, &type) : NULL;
    if (to) return v_cast(in, args->args[0], to, false, out);
    *known = !args->nkeywords && args->nargs && any_time(args->args, args->nargs);
    if (!*known) return false;
    bool counted = is_kind(&args->args[0], TY_TIME) && is_counted(args->args[0].f.type);
    bool hash = str_is(name, "builtins.hash"); /* NumPy's differs from process to process */
    if (str_is(name, "builtins.str") && args->nargs == 1 && !is_kind(&args->args[0], TY_ARRAY))
        return text_of_time(in, args->args[0], out);
    if (args->nargs == 1 && (hash || (str_is(name, "builtins.int") && counted)))
        return *out = retyped(args->args[0], i64_type(in->types)), true;
    if (v_any_array(args->args, args->nargs))
        return v_row_of_arrays(in, name, args->args, args->nargs, known, out);
    Val scalars[MOST_OPERANDS];
    for (int32_t i = 0; i < args->nargs && args->nargs <= MOST_OPERANDS; i++)
        scalars[i] = v_scalar(in, args->args[i]);
    const struct TimeRow *row = row_for(name, scalars, args->nargs);
    *known = row != NULL;
    return row && compute(in, row, scalars, args->nargs, out);
}
