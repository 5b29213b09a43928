/* infer_print.c - print in kernels: text and numbers become a format and its operands, as C's printf takes them. */
#include "typeinfer/infer.h"

typedef struct Line {
    Infer *in;
    StrBuf format;
    Vec(Ref) refs;
} Line;

static void put_text(Line *l, Str text) {
    for (int32_t i = 0; i < text.len; i++) {
        if (text.bytes[i] == '%') buf_char(&l->format, '%');
        buf_char(&l->format, text.bytes[i]);
    }
}

static bool put_number(Line *l, const char *conversion, TypeKind kind, Val v) {
    Infer *in = l->in;
    buf_str(&l->format, conversion);
    if (in->emit) vec_push(in->arena, &l->refs, v_as(in, v, type_scalar(in->types, kind)));
    return true;
}

static bool put_value(Line *l, Val v);

static bool put_complex(Line *l, Val v) {
    Val re = {0}, im = {0};
    if (!v_attr(l->in, v, STR("real"), &re) || !v_attr(l->in, v, STR("imag"), &im)) return false;
    buf_char(&l->format, '(');
    put_number(l, "%f", TY_f64, re);
    put_number(l, "%+f", TY_f64, im);
    return buf_str(&l->format, "j)"), true;
}

static bool put_tuple(Line *l, Val v) {
    const Type *t = v.f.type;
    buf_char(&l->format, '(');
    for (int32_t i = 0; i < t->nitems; i++) {
        if (i) buf_str(&l->format, ", ");
        if (t->fields) put_text(l, t->fields[i]), buf_char(&l->format, '=');
        if (!put_value(l, v_item(l->in, v, i))) return false;
    }
    if (t->nitems == 1 && !t->fields) buf_char(&l->format, ',');
    buf_char(&l->format, ')');
    return true;
}

/* cuda.threadIdx and its like, as a tuple. */
static bool put_position(Line *l, const Binding *b, Val v) {
    Val axes[3] = {0};
    if (!str_starts(b->name, "cuda.")) return false;
    for (int axis = 0; axis < 3; axis++)
        if (!v_attr(l->in, v, (Str){&"xyz"[axis], 1}, &axes[axis])) return false;
    return put_tuple(l, v_tuple(l->in, axes, 3));
}

static bool put_value(Line *l, Val v) {
    const Str *text = fact_str(&v.f);
    const Binding *object = fact_object(&v.f);
    if (text) return put_text(l, *text), true;
    if (object) return put_position(l, object, v);
    if (is_kind(&v, TY_none)) return buf_str(&l->format, "None"), true;
    if (is_kind(&v, TY_TUPLE)) return put_tuple(l, v);
    switch (type_class(v.f.type)) {
    case CLASS_BOOL: return put_number(l, "%s", TY_bool, v);
    case CLASS_SINT: return put_number(l, "%lld", TY_i64, v);
    case CLASS_UINT: return put_number(l, "%llu", TY_u64, v);
    case CLASS_FLT: return put_number(l, "%f", TY_f64, v);
    case CLASS_CPX: return put_complex(l, v);
    default: return false;
    }
}

/* sep= and end=: constant text, or None. */
static bool keyword(Infer *in, const CallArgs *args, int32_t i, Str *out) {
    const Val *v = &args->args[i];
    Str name = args->names[i - (args->nargs - args->nkeywords)];
    const Str *text = fact_str(&v->f);
    if (!str_is(name, "sep") && !str_is(name, "end"))
        return ti_fail(in, in->at, E0404,
                       str_printf(in->arena, "%s= of print", ti_c_text(in, name)).bytes,
                       "in a kernel");
    if (!text && !is_kind(v, TY_none))
        return ti_fail(in, in->at, E0209, str_printf(in->arena, "%s=", ti_c_text(in, name)).bytes);
    if (text) out[str_is(name, "end")] = *text;
    return true;
}

bool v_kernel_print(Infer *in, const CallArgs *args, Val *out) {
    Line line = {.in = in};
    Str words[2] = {str_from(" "), str_from("\n")};
    int32_t n = args->nargs - args->nkeywords;
    for (int32_t i = n; i < args->nargs; i++)
        if (!keyword(in, args, i, words)) return false;
    buf_init(&line.format, in->arena);
    for (int32_t i = 0; i < n; i++) {
        if (i) put_text(&line, words[0]);
        if (put_value(&line, args->args[i])) continue;
        return in->stop ? false : v_refuse(in, REFUSE_CALL, "print in a kernel", &args->args[i], 1);
    }
    put_text(&line, words[1]);
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!in->emit) return true;
    Str *format = arena_new(in->arena, Str);
    *format = str_copy(in->arena, line.format.bytes, (size_t)line.format.len);
    Ref ref = emit(in->emit, OP_print, NULL, line.refs.items, line.refs.len);
    ir_inst(in->emit->out, ref)->u.name = format;
    return true;
}
