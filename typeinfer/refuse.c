/* refuse.c - how inference says no: the error, where the values come from, and what to do instead. One function for
 * all operations that have no meaning for their values; what is advised when is a table. */
#include "typeinfer/infer.h"

/* -- advice by name ------------------------------------------------------------------------------ */

void ti_advise(Infer *in, const char *text) {
    if (in->report && text) diag_note(in->diags, NULL, "%s", text);
}

static const struct {
    const char *name, *text;
} by_name[] = {
#define ADVICE(name, text) {name, text},
#include "typeinfer/tables/advice.def"
#undef ADVICE
};

bool ti_advise_name(Infer *in, Str name) {
    for (int k = 0; k < countof(by_name); k++) {
        const char *row = by_name[k].name;
        bool all = row[strlen(row) - 1] == '.';
        if (all ? !str_starts(name, row) : !str_is(name, row)) continue;
        return ti_advise(in, by_name[k].text), true;
    }
    return false;
}

/* -- advice by values ---------------------------------------------------------------------------- */

/* What is refused: the values, and the name that goes with them. */
typedef struct Refused {
    const char *name;
    const Val *values;
    int32_t n;
} Refused;

#define ANY(function, test)                                                                        \
    static bool function(const Refused *r) {                                                       \
        for (int32_t i = 0; i < r->n; i++) {                                                       \
            const Val *v = &r->values[i];                                                          \
            if (test) return true;                                                                 \
        }                                                                                          \
        return false;                                                                              \
    }
ANY(any_array, is_kind(v, TY_ARRAY))
ANY(any_none, fact_none(&v->f))
ANY(any_text, type_is_text(v->f.type))
ANY(any_int, type_is_int(v->f.type))
ANY(any_float, type_is_float(v->f.type))
ANY(any_complex, type_is_complex(v->f.type))
#undef ANY

static bool complex_with_number(const Refused *r) {
    for (int32_t i = 0; i < r->n; i++)
        if (!type_is_number(r->values[i].f.type)) return false;
    return any_complex(r);
}

static bool float_index(const Refused *r) {
    return type_is_float(r->values[1].f.type);
}

static bool field_of_array(const Refused *r) {
    return is_kind(&r->values[0], TY_ARRAY) && fact_str(&r->values[1].f);
}

static bool array_of_indices(const Refused *r) {
    return is_kind(&r->values[0], TY_ARRAY) && is_kind(&r->values[1], TY_ARRAY);
}

static bool array_to_builtin(const Refused *r) {
    return any_array(r) && !strchr(r->name, '.');
}

static bool array_to_function(const Refused *r) {
    return any_array(r) && strchr(r->name, '.');
}

static bool negative_with_unsigned(const Refused *r) {
    return r->n == 2 &&
           ((fact_negative_literal(&r->values[0].f) && is_kind(&r->values[1], TY_u64)) ||
            (fact_negative_literal(&r->values[1].f) && is_kind(&r->values[0], TY_u64)));
}

#define OF(refusal) (1u << (refusal))
#define OPERATORS   (OF(REFUSE_UNARY) | OF(REFUSE_BINARY))
#define INTEGER     "an integer is needed: a // b divides so that one comes out, int(x) cuts off"

static const struct {
    uint32_t of;
    bool (*when)(const Refused *r);
    const char *text;
} advice[] = {
    {OPERATORS, any_none, "one side is None: does the function it comes from return a value?"},
    {OPERATORS, complex_with_number,
     "complex numbers have no order and no remainder: use z.real, z.imag or abs(z)"},
    {OPERATORS, any_text,
     "text goes with text: str(x) makes text of a number, int(s) and float(s) make numbers"},
    {OF(REFUSE_BINARY), negative_with_unsigned,
     "a negative Python int has no unsigned value; convert one side, for example np.int64(x)"},
    {OF(REFUSE_INDEX), float_index, INTEGER},
    {OF(REFUSE_BOUND) | OF(REFUSE_RANGE), any_float, INTEGER},
    {OF(REFUSE_INDEX), field_of_array,
     "an array of numbers has no fields: those of a structured dtype have"},
    {OF(REFUSE_INDEX), array_of_indices,
     "arrays used as indices are of an integer type, or masks of bools"},
    {OF(REFUSE_ELEMENT), any_none, "np.nan stands for a value that is missing"},
    {OF(REFUSE_ELEMENT), any_complex, "take z.real, z.imag or abs(z), or make the array complex"},
    {OF(REFUSE_ITERATION), any_int, "to count, write range(n)"},
    {OF(REFUSE_ROW), array_to_builtin, "a number is needed: take an element, a[i]"},
    {OF(REFUSE_ROW), array_to_function,
     "docs/arrays.md lists the functions of whole arrays; write a loop over the elements for "
     "others"},
    {OF(REFUSE_ATTRIBUTE), any_array,
     "docs/reference.md lists the attributes of arrays, docs/arrays.md their methods; write a "
     "loop over the elements for others"},
};

/* -- where values come from ---------------------------------------------------------------------- */

static bool is_usable(const Type *type) {
    return type_is_number(type) || type->kind == TY_ARRAY || type->kind == TY_TUPLE;
}

static void note_value(Infer *in, const Val *v) {
    if (!v->src || !v->f.type || is_usable(v->f.type)) return;
    const Inst *inst = ir_inst(in->f, v->src);
    const char *type = ti_text(in, v->f.type);
    bool text = type_is_text(v->f.type);
    const char *usable = text ? "" : "; only numbers and arrays can be used here";
    Str name = {0};
    if (v->src < in->f->var_names.len) name = in->f->var_names.items[v->src];
    switch ((Op)inst->op) {
    case OP_global:
        diag_note(in->diags, NULL, "'" STR_FMT "' is a global of type %s%s", STR_ARG(*inst->u.name),
                  type, usable);
        return;
    case OP_freevar:
        if (!inst->u.name) return;
        diag_note(in->diags, NULL,
                  "'" STR_FMT "' is a variable of an enclosing function, of type %s%s",
                  STR_ARG(*inst->u.name), type, usable);
        return;
    case OP_param:
        if (inst->imm < in->f->nparams) name = in->f->param_names[inst->imm];
        diag_note(in->diags, NULL, "'" STR_FMT "' is an argument of type %s%s", STR_ARG(name), type,
                  usable);
        return;
    default:
        if (name.len)
            diag_note(in->diags, ti_spanp(in, v->src), "'" STR_FMT "' is of type %s%s",
                      STR_ARG(name), type, usable);
    }
}

/* -- the error ----------------------------------------------------------------------------------- */

/* Texts of the message in order: n the name, 0 and 1 the types of these values, * the types of all. `origins`: it is
 * noted where values come from that are neither numbers nor arrays. */
static const struct {
    DiagCode code;
    const char *texts;
    bool origins;
} refusals[] = {
    [REFUSE_TRUTH] = {E0206, "n0", false},   [REFUSE_UNARY] = {E0206, "n0", true},
    [REFUSE_BINARY] = {E0207, "n01", true},  [REFUSE_ORDER] = {E0207, "n01", false},
    [REFUSE_CAST] = {E0208, "0n", true},     [REFUSE_BOUND] = {E0208, "0n", true},
    [REFUSE_INDEX] = {E0301, "01", true},    [REFUSE_ELEMENT] = {E0305, "0n", true},
    [REFUSE_CALL] = {E0401, "n*", true},     [REFUSE_ROW] = {E0401, "n*", true},
    [REFUSE_RANGE] = {E0401, "n*", true},    [REFUSE_CALLEE] = {E0402, "0", false},
    [REFUSE_ITERATION] = {E0214, "0", true}, [REFUSE_ATTRIBUTE] = {E0203, "0n", false},
    [REFUSE_FORM] = {E0101, "n", true},
};

bool v_refuse(Infer *in, Refusal what, const char *name, const Val *values, int32_t n) {
    const char *texts[3] = {"", "", ""};
    if (!ti_stop(in)) return false;
    for (int k = 0; refusals[what].texts[k]; k++) {
        char c = refusals[what].texts[k];
        texts[k] = c == 'n'   ? name
                   : c == '*' ? ti_arg_texts(in, values, n)
                              : ti_text(in, values[c - '0'].f.type);
    }
    diag_add(in->diags, refusals[what].code, ti_spanp(in, in->at), texts[0], texts[1], texts[2]);
    for (int32_t i = 0; i < n && refusals[what].origins; i++)
        note_value(in, &values[i]);
    Refused refused = {name, values, n};
    for (int k = 0; k < countof(advice); k++)
        if ((advice[k].of & OF(what)) && advice[k].when(&refused)) ti_advise(in, advice[k].text);
    return false;
}
