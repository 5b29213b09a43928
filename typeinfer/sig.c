/* sig.c - the signatures of library rows: parsed on the stack, each time they are matched.
 *
 * A match has two phases. First each argument whose parameter is a class letter is bound: arguments of
 * one letter are promoted together, then forced into the class (an int becomes a float for F). Then
 * every parameter and the result are evaluated as type expressions over the bound letters. There is no
 * tree: a signature is some 20 characters, and scanning it twice costs less than looking up a cache. */
#include "typeinfer/sig.h"
#include "typeinfer/typeinfer.h"
#include <stdlib.h>

/* Class letters, and what a number must become to be in the class. */
static const char class_letters[] = "IZUFCRNBSAX";

enum { MAX_VARS = 8, MAX_TUPLE = 8 };

typedef struct Var {
    char letter, digit;
    const Type *type; /* NULL: no argument seen yet */
} Var;

typedef struct Sig {
    TypeTable *types;
    bool wide;
    Arithmetic rule; /* for the arguments of one letter */
    int nvars;
    Var vars[MAX_VARS];
    int nparams, nrequired;
    bool variadic;                    /* the last parameter repeats */
    const char *params[LIB_MAX_ARGS]; /* text of each */
    const char *result;
    const char *wrong; /* sig_check: the first mistake */
} Sig;

/* -- scanning ---------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return c >= 'A' && c <= 'Z';
}
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *skip_space(const char *p) {
    while (*p == ' ')
        p++;
    return p;
}

/* Behind one parameter: the next ',' or ')' outside of brackets. */
static const char *skip_param(const char *p) {
    for (int depth = 0; *p; p++) {
        if (depth == 0 && (*p == ',' || *p == ')')) break;
        depth += (*p == '(') - (*p == ')');
    }
    return p;
}

/* Finds the parameters. false: not a signature. */
static bool scan(Sig *sig, const char *text) {
    const char *p = skip_space(text);
    if (*p++ != '(') return false;
    for (p = skip_space(p); *p != ')';) {
        if (sig->nparams == LIB_MAX_ARGS || sig->variadic) return false;
        sig->params[sig->nparams++] = p;
        p = skip_param(p);
        if (p[-1] == '*') sig->variadic = true;
        if (p[-1] != '?') sig->nrequired = sig->nparams;
        if (*p == ',')
            p = skip_space(p + 1);
        else if (*p != ')')
            return false;
    }
    p = skip_space(p + 1);
    if (p[0] != '-' || p[1] != '>') return false;
    sig->result = skip_space(p + 2);
    return true;
}

static bool starts_word(const char *p, const char *word) {
    size_t n = strlen(word);
    return strncmp(p, word, n) == 0 && !is_word(p[n]);
}

static const char *param_type(const char *p) {
    return starts_word(p, "lit") ? skip_space(p + 3) : p;
}

/* The variable written at *p, made when new; *p moves on. NULL: unknown letter, or too many. */
static Var *variable(Sig *sig, const char **p) {
    char letter = *(*p)++, digit = 0;
    if (!strchr(class_letters, letter)) return NULL;
    if (**p >= '0' && **p <= '9') digit = *(*p)++;
    for (int i = 0; i < sig->nvars; i++)
        if (sig->vars[i].letter == letter && sig->vars[i].digit == digit) return &sig->vars[i];
    if (sig->nvars == MAX_VARS) return NULL;
    Var *var = &sig->vars[sig->nvars++];
    *var = (Var){letter, digit, NULL};
    return var;
}

/* -- types of numbers -------------------------------------------------------------------------- */

/* bool 0, int 1, float 2, complex 3; -1 for what is not a number. */
static int number_kind(const Type *type) {
    switch (type_class(type)) {
    case CLASS_BOOL: return 0;
    case CLASS_SINT:
    case CLASS_UINT: return 1;
    case CLASS_FLT: return 2;
    case CLASS_CPX: return 3;
    default: return -1;
    }
}

static const Type *pick(const Sig *sig, const Type *like, TypeKind weak, TypeKind strong) {
    bool is_weak = type_is_weak(like) || like->kind == TY_bool;
    return type_scalar(sig->types, is_weak ? weak : strong);
}

/* A number as the int, float or complex that CPython's int(), float(), complex() would give: a Python int, but uint64
 * keeps its value. */
static const Type *as_int(const Sig *sig, const Type *t) {
    return t->kind == TY_u64 ? t : type_scalar(sig->types, TY_wint);
}
static const Type *as_float(const Sig *sig, const Type *t) {
    if (type_is_float(t)) return t;
    if (type_is_complex(t)) return type_component(sig->types, t);
    return pick(sig, t, TY_wflt, TY_f64);
}
static const Type *as_complex(const Sig *sig, const Type *t) {
    if (type_is_complex(t)) return t;
    t = as_float(sig, t);
    if (t->kind == TY_f32 || t->kind == TY_f16 || t->kind == TY_bf16)
        return type_scalar(sig->types, TY_c64);
    return pick(sig, t, TY_wcpx, TY_c128);
}
static const Type *as_component(const Sig *sig, const Type *t) {
    if (t->kind == TY_wcpx) return type_scalar(sig->types, TY_wflt);
    return type_is_complex(t) ? type_component(sig->types, t) : t;
}
static const Type *as_wide(const Sig *sig, const Type *t) {
    Arithmetic rule = sig->rule == ARITH_NUMBA ? ARITH_NUMBA : ARITH_WIDE;
    bool widens = type_is_int(t) || t->kind == TY_bool;
    return widens ? ti_promote(sig->types, rule, t, t) : t;
}

/* -- binding ----------------------------------------------------------------------------------- */

static bool all_ints(const Type *a, const Type *b) {
    return type_is_int(a) && type_is_int(b);
}

/* One more argument of a letter. */
static bool bind(const Sig *sig, Var *var, const Type *arg) {
    if (!var->type) {
        var->type = arg;
        return true;
    }
    const Type *both;
    if (var->letter == 'A' || var->letter == 'X')
        both = ti_join(sig->types, JOIN_CPU, var->type, arg);
    else
        both = ti_promote(sig->types, sig->rule, var->type, arg);
    if (both && var->letter == 'Z' && !type_is_int(both) && all_ints(var->type, arg))
        both = type_scalar(sig->types, TY_i64);
    var->type = both;
    return both != NULL;
}

/* All arguments are bound: put the type into the letter's class. */
static bool settle(const Sig *sig, Var *var) {
    const Type *t = var->type;
    if (!t) return true; /* an optional parameter that is absent */
    int kind = number_kind(t);
    switch (var->letter) {
    case 'A': return t->kind == TY_ARRAY;
    case 'X': return true;
    case 'B': return kind == 0;
    case 'S': return kind >= 0;
    case 'U': return type_class(t) == CLASS_UINT;
    case 'I':
    case 'Z':
        if (kind == 0)
            t = type_scalar(sig->types, sig->rule == ARITH_NUMBA ? TY_i64 : TY_wint);
        else if (kind != 1)
            return false;
        break;
    case 'R':
    case 'N':
        if (kind < 0 || (kind == 3 && var->letter == 'R')) return false;
        if (kind == 0) t = type_scalar(sig->types, TY_wint);
        break;
    case 'F':
        if (kind < 0 || kind == 3) return false;
        t = as_float(sig, t);
        break;
    default: /* C */
        if (kind < 0) return false;
        t = as_complex(sig, t);
        break;
    }
    var->type = sig->wide ? as_wide(sig, t) : t;
    return true;
}

/* -- type expressions -------------------------------------------------------------------------- */

typedef enum Form { FORM_TYPE, FORM_LIKE, FORM_WEAK } Form;

static const Type *evaluate(Sig *sig, const char **p, Form *form);

static const Type *wrong(Sig *sig, const char *why) {
    if (!sig->wrong) sig->wrong = why;
    return NULL;
}

static const Type *array_of(Sig *sig, const Type *element, const char **p) {
    int ndim = 1;
    if (**p == ',') ndim = (int)strtol(skip_space(*p + 1), (char **)p, 10);
    if (element->kind == TY_ARRAY) return type_array_like(sig->types, element, ndim, LAYOUT_C);
    return type_array(sig->types, type_strong(sig->types, element), ndim, LAYOUT_C);
}

static const Type *tuple_of(Sig *sig, const Type *first, const char **p) {
    const Type *items[MAX_TUPLE] = {first};
    int n = 1;
    while (**p == ',') {
        *p = skip_space(*p + 1);
        if (n == MAX_TUPLE) return wrong(sig, "tuple of too many items");
        if (!(items[n++] = evaluate(sig, p, NULL))) return NULL;
    }
    return type_tuple(sig->types, items, n);
}

/* `name(t...)`; *p is behind the opening bracket. */
static const Type *function(Sig *sig, const char *name, const char **p, Form *form) {
    const Type *t = evaluate(sig, p, NULL);
    if (!t) return NULL;
    if (starts_word(name, "elem"))
        t = t->kind == TY_ARRAY ? t->element : NULL;
    else if (starts_word(name, "comp"))
        t = as_component(sig, t);
    else if (starts_word(name, "wide"))
        t = as_wide(sig, t);
    else if (starts_word(name, "strong"))
        t = type_strong(sig->types, t);
    else if (starts_word(name, "int"))
        t = as_int(sig, t);
    else if (starts_word(name, "float"))
        t = as_float(sig, t);
    else if (starts_word(name, "cpx"))
        t = as_complex(sig, t);
    else if (starts_word(name, "arr"))
        t = array_of(sig, t, p);
    else if (starts_word(name, "tuple"))
        t = tuple_of(sig, t, p);
    else if (starts_word(name, "like") && form)
        *form = FORM_LIKE;
    else if (starts_word(name, "weak") && form)
        *form = FORM_WEAK;
    else
        return wrong(sig, "unknown function of types");
    if (**p != ')') return wrong(sig, "missing ')'");
    ++*p;
    return t;
}

/* The type at *p. NULL: it does not exist for these arguments, or (`wrong`) the text is bad. */
static const Type *evaluate(Sig *sig, const char **p, Form *form) {
    const char *start = *p;
    if (is_letter(**p)) {
        Var *var = variable(sig, p);
        if (!var) return wrong(sig, "unknown class letter");
        return var->type ? var->type : wrong(sig, "a letter that no parameter binds");
    }
    while (is_word(**p))
        ++*p;
    if (**p == '(') {
        ++*p;
        return function(sig, start, p, form);
    }
    if (starts_word(start, "mask")) return type_mask(sig->types);
    for (int kind = 0; kind < TY_SCALARS; kind++)
        if (starts_word(start, type_name_of_kind((TypeKind)kind)))
            return type_scalar(sig->types, (TypeKind)kind);
    return wrong(sig, "unknown type");
}

/* -- matching ---------------------------------------------------------------------------------- */

/* An argument that turned into a letter's type: inside a class it costs little, and a weak number
 * takes any form. false: impossible. */
static bool fit_letter(Fit *fit, const Type *from, const Type *to) {
    if (from == to) return true;
    int a = number_kind(from), b = number_kind(to);
    if (a < 0 || b < 0) return ti_fit_add(fit, CONV_SAFE); /* joined arrays and other objects */
    if (a > b) return false;
    if (a == b || a == 0) return ti_fit_add(fit, CONV_PROMOTE);
    fit->safe += b - a;
    return true;
}

/* A float for an int is an error, anything has a truth. */
static bool fit_word(Fit *fit, const Type *from, const Type *to) {
    Conversion conversion = ti_conversion(from, to);
    bool down = number_kind(from) > number_kind(to) && to->kind != TY_bool;
    return (conversion != CONV_UNSAFE || !down) && ti_fit_add(fit, conversion);
}

static bool fit_param(Fit *fit, Arithmetic rule, const Type *from, const Type *to, bool letter,
                      Form form) {
    if (form == FORM_TYPE) return letter ? fit_letter(fit, from, to) : fit_word(fit, from, to);
    if (!type_is_number(from)) return false; /* like(I) says nothing of what it converts */
    bool weak = type_is_weak(from) || (from->kind == TY_bool && rule != ARITH_NUMBA);
    if (form == FORM_WEAK && !weak) return false;
    if (type_is_weak(to) && !type_is_weak(from) && from->kind != TY_bool) return false;
    return fit_letter(fit, from, to);
}

static const char *param_of(const Sig *sig, int32_t arg) {
    return param_type(sig->params[QN_MIN(arg, sig->nparams - 1)]);
}

static bool bind_all(Sig *sig, const Type *const *args, int32_t nargs) {
    for (int32_t i = 0; i < nargs; i++) {
        const char *p = param_of(sig, i);
        if (!is_letter(*p)) continue;
        Var *var = variable(sig, &p);
        if (!var || !bind(sig, var, args[i])) return false;
    }
    for (int i = 0; i < sig->nvars; i++)
        if (!settle(sig, &sig->vars[i])) return false;
    return true;
}

/* Operators mean Python's arithmetic or Numba's, functions of NumPy its own. */
static Arithmetic rule_of(const LibRow *row, bool strong_numbers) {
    if (strncmp(row->name, "numpy.", strlen("numpy.")) == 0) {
        bool chooses = row->cpu.kind == LOWER_OP && row->cpu.id == OP_select; /* is no ufunc */
        return strong_numbers && !chooses ? ARITH_NUMBA_UFUNC : ARITH_UFUNC;
    }
    bool numba = strong_numbers && strncmp(row->name, "operator.", strlen("operator.")) == 0;
    return numba ? ARITH_NUMBA : ARITH_PLAIN;
}

bool sig_match(TypeTable *types, const LibRow *row, const Type *const *args, int32_t nargs,
               bool strong_numbers, LibMatch *out, Fit *fit) {
    Sig sig = {.types = types,
               .wide = (row->flags & LIB_WIDEN) != 0,
               .rule = rule_of(row, strong_numbers)};
    if (!scan(&sig, row->signature)) return false;
    if (nargs < sig.nrequired || nargs > LIB_MAX_ARGS) return false;
    if (nargs > sig.nparams && !sig.variadic) return false;
    if (!bind_all(&sig, args, nargs)) return false;
    *fit = (Fit){0};
    for (int32_t i = 0; i < nargs; i++) {
        const char *p = param_of(&sig, i);
        Form form = FORM_TYPE;
        bool letter = is_letter(*p);
        const Type *t = starts_word(p, "any") ? args[i] : evaluate(&sig, &p, &form);
        if (!t || !fit_param(fit, sig.rule, args[i], t, letter, form)) return false;
        out->params[i] = t;
    }
    const char *p = sig.result;
    out->result = starts_word(p, "any") ? NULL : evaluate(&sig, &p, NULL);
    return out->result || starts_word(sig.result, "any");
}

bool sig_is_literal(const char *signature, int32_t index) {
    Sig sig = {0};
    if (!scan(&sig, signature) || sig.nparams == 0) return false;
    return starts_word(sig.params[QN_MIN(index, sig.nparams - 1)], "lit");
}

/* -- checking the text of a row ---------------------------------------------------------------- */

static const char *after_param(const char *p) {
    if (*p == '?' || *p == '*') p++;
    return skip_space(p);
}

/* Every letter is bound to a plausible type, then every expression must evaluate. */
static const char *check(Sig *sig) {
    for (int i = 0; i < sig->nparams; i++) {
        const char *p = param_type(sig->params[i]);
        if (!is_letter(*p)) continue;
        Var *var = variable(sig, &p);
        if (!var) return "unknown class letter";
        const Type *f64 = type_scalar(sig->types, TY_f64);
        var->type = var->letter == 'A'          ? type_array(sig->types, f64, 1, LAYOUT_C)
                    : strchr("IZ", var->letter) ? type_scalar(sig->types, TY_i64)
                    : var->letter == 'U'        ? type_scalar(sig->types, TY_u64)
                                                : f64;
    }
    for (int i = 0; i < sig->nparams; i++) {
        const char *p = param_type(sig->params[i]);
        Form form;
        if (starts_word(p, "any"))
            p += 3;
        else if (!evaluate(sig, &p, &form))
            return sig->wrong ? sig->wrong : "no such type";
        p = after_param(p);
        if (*p != ',' && *p != ')') return "text behind a parameter";
    }
    const char *p = sig->result;
    if (starts_word(p, "any"))
        p += 3;
    else if (!evaluate(sig, &p, NULL))
        return sig->wrong ? sig->wrong : "no such result type";
    return *p ? "text behind the result" : NULL;
}

const char *sig_check(const char *signature) {
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    Sig sig = {.types = type_table_new(&arena)};
    const char *why = scan(&sig, signature) ? check(&sig) : "not of the form (a, b)->c";
    arena_free(&arena);
    return why;
}
