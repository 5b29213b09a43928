/* infer_print.c - print in kernels: text and numbers become a format and its operands, as C's printf takes them.
 *
 * There is no text in kernels but constants. An f-string that is printed and nothing else is its parts: format(x, "5d") is the tuple
 * (FORMATTED, "5d", x), and "".join of such parts the tuple (JOINED, parts...), which only print takes apart again. */
#include "typeinfer/infer_local.h"

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

/* -- f-strings ------------------------------------------------------------------------------------------------ */

static const Binding formatted = {.kind = BIND_OPAQUE, .name = {"text of a number", 16}};
static const Binding joined = {.kind = BIND_OPAQUE, .name = {"text of several parts", 21}};

/* The parts of Python's mini-language that C's conversions have with the same meaning. */
typedef struct Spec {
    char flags[8], kind; /* kind 0: none is said */
    Str width, precision;
} Spec;

static Str digits_at(Str text, int32_t *at) {
    int32_t start = *at;
    while (*at < text.len && text.bytes[*at] >= '0' && text.bytes[*at] <= '9')
        (*at)++;
    return (Str){text.bytes + start, *at - start};
}

static bool read_spec(Str text, Spec *spec) {
    int32_t at = 0, n = 0;
    *spec = (Spec){0};
#define NEXT (at < text.len ? text.bytes[at] : 0)
    bool left = NEXT == '<', placed = left || NEXT == '>';
    if (left) spec->flags[n++] = '-';
    at += placed;
    if (NEXT == '+' || NEXT == ' ') spec->flags[n++] = NEXT;
    if (NEXT == '+' || NEXT == ' ' || NEXT == '-') at++;
    if (NEXT == '0' && placed) return false; /* zeros behind the number, or before its sign */
    spec->width = digits_at(text, &at);
    if (NEXT == '.') {
        at++;
        spec->precision = digits_at(text, &at);
        if (!spec->precision.len) return false;
    }
    if (at < text.len) spec->kind = text.bytes[at++];
#undef NEXT
    return at == text.len && spec->width.len <= 4 && spec->precision.len <= 3;
}

static void put_conversion(Line *l, const Spec *spec, const char *kind) {
    buf_printf(&l->format, "%%%s" STR_FMT, spec->flags, STR_ARG(spec->width));
    if (spec->precision.len) buf_printf(&l->format, "." STR_FMT, STR_ARG(spec->precision));
    buf_str(&l->format, kind);
}

static bool put_as(Line *l, const Spec *spec, const char *kind, TypeKind type, Val v) {
    put_conversion(l, spec, kind);
    return put_number(l, "", type, v);
}

static bool put_formatted(Line *l, Str text, Val v) {
    Spec spec;
    if (!text.len) return put_value(l, v);
    if (!read_spec(text, &spec)) return false;
    char kind[2] = {spec.kind ? spec.kind : 'f', 0};
    TypeClass class = type_class(v.f.type);
    bool is_int = class == CLASS_SINT || class == CLASS_UINT;
    if (is_int && !spec.precision.len && (!spec.kind || spec.kind == 'd'))
        return class == CLASS_SINT ? put_as(l, &spec, "lld", TY_i64, v)
                                   : put_as(l, &spec, "llu", TY_u64, v);
    if (class == CLASS_UINT && !spec.precision.len && strchr("xXo", kind[0]))
        return put_as(l, &spec, kind[0] == 'x' ? "llx" : kind[0] == 'X' ? "llX" : "llo", TY_u64, v);
    if (class != CLASS_FLT && !is_int) return false;
    if (spec.precision.len && !spec.kind) return false; /* C has no such form */
    return strchr("eEfFgG", kind[0]) && put_as(l, &spec, kind, TY_f64, v);
}

/* Of what format and join have made; false: it is another tuple. */
static bool put_parts(Line *l, Val v, bool *ok) {
    Val first = v.f.type->nitems ? v_item(l->in, v, 0) : (Val){0};
    const Binding *mark = first.f.type ? fact_object(&first.f) : NULL;
    if (mark != &formatted && mark != &joined) return false;
    if (mark == &formatted) {
        Val spec = v_item(l->in, v, 1);
        Val number = v_item(l->in, v, 2);
        *ok = put_formatted(l, *fact_str(&spec.f), number);
        if (!*ok && !l->in->stop)
            ti_fail(l->in, l->in->at, E0404,
                    str_printf(l->in->arena, "the format '" STR_FMT "' of %s",
                               STR_ARG(*fact_str(&spec.f)), ti_text(l->in, number.f.type))
                        .bytes,
                    "in a kernel");
        return true;
    }
    *ok = true;
    for (int32_t i = 1; i < v.f.type->nitems && *ok; i++)
        *ok = put_value(l, v_item(l->in, v, i));
    return true;
}

static bool only_printed(const Infer *in, Ref ref, int depth);

/* Print, another formatting of it, or the join of an f-string. */
static bool call_prints(const Infer *in, Ref call, int depth) {
    const Inst *callee = ir_inst(in->f, ir_arg(in->f, call, 0));
    if (callee->op == OP_global) return str_is(*callee->u.name, "print");
    bool text = callee->op == OP_builtin &&
                (str_is(*callee->u.name, "format") || str_is(*callee->u.name, "str"));
    bool join = callee->op == OP_attr && str_is(*callee->u.name, "join") &&
                ir_inst(in->f, ir_arg(in->f, ir_arg(in->f, call, 0), 0))->op == OP_const;
    return (text || join) && only_printed(in, call, depth - 1);
}

static bool only_printed(const Infer *in, Ref ref, int depth) {
    bool any = false;
    if (depth == 0) return false;
    for (Ref user = 1; user < in->f->insts.len; user++) {
        const Inst *inst = ir_inst(in->f, user);
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(in->f, user, k) != ref) continue;
            bool part = inst->op == OP_build_tuple && only_printed(in, user, depth - 1);
            bool call = inst->op == OP_call_py && k > 0 && call_prints(in, user, depth);
            if (!part && !call) return false;
            any = true;
        }
    }
    return any;
}

static Val mark_of(Infer *in, const Binding *mark) {
    return val_of(fact_of(type_object(in->types, mark)));
}

bool v_kernel_text(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    Val items[3], spec = {0};
    bool joins = str_is(name, "str.join");
    *known = false;
    if (ti_has_objects(in) || args->nkeywords || args->nargs < 1 || args->nargs > 2) return false;
    if (!joins && !str_is(name, "builtins.format") && !str_is(name, "builtins.str") &&
        !str_is(name, "builtins.repr"))
        return false;
    if (!only_printed(in, in->at, 8)) return false;
    if (joins) {
        const Str *between = fact_str(&args->args[0].f);
        Val parts = args->nargs == 2 ? args->args[1] : (Val){0};
        if (!between || between->len || !is_kind(&parts, TY_TUPLE)) return false;
        int32_t n = parts.f.type->nitems;
        Val *all = arena_array(in->arena, Val, n + 1);
        all[0] = mark_of(in, &joined);
        for (int32_t i = 0; i < n; i++)
            all[i + 1] = v_item(in, parts, i);
        *known = true;
        return *out = v_tuple(in, all, n + 1), true;
    }
    const Str *text = args->nargs == 2 ? fact_str(&args->args[1].f) : &(Str){"", 0};
    if (!text) return false;
    fact_of_const(in, const_str(in->arena, *text), &spec.f);
    items[0] = mark_of(in, &formatted), items[1] = spec, items[2] = args->args[0];
    *known = true;
    return *out = v_tuple(in, items, 3), true;
}

/* -- the line --------------------------------------------------------------------------------------------------- */

static bool put_tuple(Line *l, Val v) {
    const Type *t = v.f.type;
    bool ok;
    if (put_parts(l, v, &ok)) return ok;
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
