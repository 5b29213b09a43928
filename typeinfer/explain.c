/* explain.c - inference in words: types and places for diagnostics, and the listing of inspect_types. */
#include "typeinfer/infer.h"

/* -- places ------------------------------------------------------------------------------------- */

Span ti_span(const Infer *in, Ref ref) {
    return ir_span_of(in->f, ref);
}

const Span *ti_spanp(Infer *in, Ref ref) {
    if (!ref || !ir_inst(in->f, ref)->span) return NULL;
    Span *span = arena_new(in->arena, Span);
    *span = ti_span(in, ref);
    return span;
}

bool ti_stop(Infer *in) {
    in->stop = STOP_ERROR;
    return in->report;
}

/* -- types ---------------------------------------------------------------------------------------- */

const char *ti_text(Infer *in, const Type *type) {
    if (!type) return "unknown";
    StrBuf text;
    buf_init(&text, in->arena);
    type_describe(&text, type);
    return buf_take(&text).bytes;
}

const char *ti_arg_texts(Infer *in, const Val *args, int32_t n) {
    StrBuf text;
    buf_init(&text, in->arena);
    for (int32_t i = 0; i < n; i++) {
        if (i) buf_str(&text, ", ");
        type_describe(&text, args[i].f.type);
    }
    return buf_take(&text).bytes;
}

void ti_advise(Infer *in, const char *text) {
    if (in->report) diag_note(in->diags, NULL, "%s", text);
}

static const struct {
    const char *name, *text;
} advice[] = {
#define ADVICE(name, text) {name, text},
#include "typeinfer/tables/advice.def"
#undef ADVICE
};

void ti_advise_name(Infer *in, Str name) {
    for (int k = 0; k < countof(advice); k++) {
        const char *row = advice[k].name;
        bool all = row[strlen(row) - 1] == '.';
        if (all ? !str_starts(name, row) : !str_is(name, row)) continue;
        ti_advise(in, advice[k].text);
        return;
    }
}

/* -- values ----------------------------------------------------------------------------------------- */

static bool is_usable(const Type *type) {
    return type_is_number(type) || type->kind == TY_ARRAY || type->kind == TY_TUPLE;
}

void ti_note_value(Infer *in, const Val *v) {
    if (!in->report || !v->src || !v->f.type || is_usable(v->f.type)) return;
    const Inst *inst = ir_inst(in->f, v->src);
    const char *type = ti_text(in, v->f.type);
    const char *advice = "only numbers and arrays can be used here";
    Str name = {0};
    if (v->src < in->f->var_names.len) name = in->f->var_names.items[v->src];
    switch ((Op)inst->op) {
    case OP_global:
        diag_note(in->diags, NULL, "'" STR_FMT "' is a global of type %s; %s",
                  STR_ARG(*inst->u.name), type, advice);
        return;
    case OP_freevar:
        if (!inst->u.name) return;
        diag_note(in->diags, NULL,
                  "'" STR_FMT "' is a variable of an enclosing function, of type %s; %s",
                  STR_ARG(*inst->u.name), type, advice);
        return;
    case OP_param:
        if (inst->imm < in->f->nparams) name = in->f->param_names[inst->imm];
        diag_note(in->diags, NULL, "'" STR_FMT "' is an argument of type %s; %s", STR_ARG(name),
                  type, advice);
        return;
    default:
        if (name.len)
            diag_note(in->diags, ti_spanp(in, v->src), "'" STR_FMT "' is of type %s; %s",
                      STR_ARG(name), type, advice);
    }
}

/* -- inspect_types ------------------------------------------------------------------------------- */

typedef struct Row {
    int32_t line;
    Str text;
} Row;

typedef Vec(Row) Rows;

/* A phi stands on the line of the first instruction of its block that has a place. */
static int32_t line_of(const Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_param) return in->inst->info->code->first_line;
    if (inst->span) return ti_span(in, ref).line;
    const Block *b = &in->f->blocks.items[inst->block];
    for (int32_t k = 0; k < b->insts.len; k++)
        if (ir_inst(in->f, b->insts.items[k])->span) return ti_span(in, b->insts.items[k]).line;
    return 0;
}

static void add_row(Infer *in, Rows *rows, Ref ref) {
    const Fact *f = &in->facts[ref];
    if (ref >= in->f->var_names.len || !in->f->var_names.items[ref].len || !f->type) return;
    StrBuf out;
    buf_init(&out, in->arena);
    buf_printf(&out, STR_FMT ": %s", STR_ARG(in->f->var_names.items[ref]), ti_text(in, f->type));
    int64_t value;
    if (type_is_weak(f->type)) buf_str(&out, " (weak)");
    if (fact_int_value(f, &value)) buf_printf(&out, " = %lld", (long long)value);
    if (f->unbound) buf_str(&out, ", may be unassigned");
    if (f->conflict) buf_str(&out, ", no common type: unused");
    Row row = {line_of(in, ref), buf_take(&out)};
    for (int32_t k = 0; k < rows->len; k++)
        if (rows->items[k].line == row.line && str_equal(rows->items[k].text, row.text)) return;
    vec_push(in->arena, rows, row);
    for (int32_t k = rows->len - 1; k > 0 && rows->items[k - 1].line > row.line; k--) {
        rows->items[k] = rows->items[k - 1];
        rows->items[k - 1] = row;
    }
}

/* Every variable with its types, by the lines of the program. */
void ti_explain(Infer *in, StrBuf *out) {
    buf_printf(out, STR_FMT "(", STR_ARG(in->inst->info->code->name));
    for (int32_t i = 0; i < in->inst->nslots; i++) {
        Str name = i < in->f->nparams ? in->f->param_names[i] : STR("?");
        buf_printf(out, "%s" STR_FMT ": %s", i ? ", " : "", STR_ARG(name),
                   ti_text(in, in->inst->slots[i].fact.type));
    }
    buf_printf(out, ") -> %s\n", ti_text(in, in->inst->result.type));
    Rows rows = {0};
    for (int32_t i = 0; i < in->cfg.nrpo; i++) {
        if (!in->reached[in->cfg.rpo[i]]) continue;
        const Block *b = &in->f->blocks.items[in->cfg.rpo[i]];
        for (int32_t k = 0; k < b->insts.len; k++)
            add_row(in, &rows, b->insts.items[k]);
    }
    for (int32_t k = 0; k < rows.len; k++)
        buf_printf(out, "%5d | " STR_FMT "\n", (int)rows.items[k].line,
                   STR_ARG(rows.items[k].text));
}
