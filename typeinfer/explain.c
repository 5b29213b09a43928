/* explain.c - inference in words: types and places for messages, and the listing of inspect_types. */
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

const char *ti_c_text(Infer *in, Str text) {
    return str_copy(in->arena, text.bytes, (size_t)text.len).bytes;
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
