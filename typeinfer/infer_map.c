/* infer_map.c - functions of numbers over whole arrays (OP_map, OP_map_into, OP_reduce).
 *
 * What is applied to the elements is a function of the module. For a row of the library it is made here:
 * an untyped function `f(a, b): return row(a, b)`, whose instances are inferred and specialised as those of
 * Python functions are, with the rules of the row (a Python number stays weak beside an element). */
#include "typeinfer/infer_local.h"

enum { MAX_OPERANDS = 16, MAX_AXES = 32 };

/* -- rows as functions -------------------------------------------------------------------------- */

typedef struct RowFunction {
    Binding binding; /* first: a Binding without a handle is one of these */
    FunctionInfo info;
    CodeUnit code;
} RowFunction;

static const Str parameter_names[MAX_OPERANDS] = {
    {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}, {"g", 1}, {"h", 1},
    {"i", 1}, {"j", 1}, {"k", 1}, {"l", 1}, {"m", 1}, {"n", 1}, {"o", 1}, {"p", 1}};

const Binding *row_function(Infer *in, Str name, int32_t n) {
    Ti *ti = in->ti;
    const FunctionInfo *user = in->inst->serial ? in->inst->info : &(FunctionInfo){0};
    Str key = str_printf(ti->arena, "row:" STR_FMT "/%d%d%d%d:%u", STR_ARG(name), (int)n,
                         in->strong, in->error_numpy, user->own_math, (unsigned)user->fastmath);
    MapValue *slot = map_put_str(&ti->objects, key);
    if (slot->ptr) return slot->ptr;
    RowFunction *row = arena_new(ti->arena, RowFunction);
    row->binding = (Binding){.kind = BIND_FUNCTION, .name = name};
    row->code = (CodeUnit){.name = name, .qualname = name, .nargs = n, .nposonly = n, .nlocals = n};
    row->code.local_names = parameter_names;
    row->info = (FunctionInfo){.code = &row->code,
                               .weak_numbers = !in->strong,
                               .boundscheck = true,
                               .error_numpy = in->error_numpy,
                               .own_math = user->own_math,
                               .fastmath = user->fastmath};
    slot->ptr = &row->binding;
    return &row->binding;
}

const FunctionInfo *row_function_info(const Binding *function) {
    return function->handle ? NULL : &((const RowFunction *)function)->info;
}

Func *row_function_source(Ti *ti, const Binding *function) {
    const CodeUnit *code = &((const RowFunction *)function)->code;
    Func *f = ir_func_new(&ti->source, code->name, false);
    f->user_name = code->name;
    f->nparams = code->nargs;
    f->param_names = code->local_names;
    Builder b = {.func = f, .block = ir_block_new(f), .at = -1, .error = NO_BLOCK};
    Ref refs[1 + MAX_OPERANDS];
    for (int32_t i = 0; i < f->nparams; i++) {
        refs[i + 1] = b_inst(&b, OP_param, NULL, NULL, 0);
        ir_inst(f, refs[i + 1])->imm = i;
    }
    Ref result = refs[1];
    if (code->name.len) { /* without a name: the argument itself */
        Str *name = arena_new(ti->arena, Str);
        *name = code->name;
        refs[0] = b_inst(&b, OP_builtin, NULL, NULL, 0);
        ir_inst(f, refs[0])->u.name = name;
        result = b_inst(&b, OP_call_py, NULL, refs, f->nparams + 1);
    }
    b_inst(&b, OP_return, NULL, &result, 1);
    return f;
}

/* -- operands ------------------------------------------------------------------------------------ */

typedef struct Operands {
    Val whole[MAX_OPERANDS];   /* as given, arrays without axes as their elements */
    Val element[MAX_OPERANDS]; /* what the function gets */
    int32_t n, ndim;
    bool column_major; /* all arrays of that many axes lie in F order */
} Operands;

static bool is_whole(const Val *v) {
    return is_kind(v, TY_ARRAY) && v->f.type->ndim > 0;
}

bool v_any_array(const Val *args, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (is_whole(&args[i])) return true;
    return false;
}

static bool read_operands(Infer *in, const Val *args, int32_t n, Operands *out) {
    *out = (Operands){.n = n};
    if (n > MAX_OPERANDS) return false;
    bool f_order = true;
    for (int32_t i = 0; i < n; i++) {
        Val v = out->whole[i] = out->element[i] = v_scalar(in, args[i]);
        if (!is_whole(&v)) {
            if (type_is_item(v.f.type)) continue;
            return false;
        }
        out->element[i] = (Val){.f = fact_of(v.f.type->element), .src = v.src};
        out->ndim = QN_MAX(out->ndim, v.f.type->ndim);
    }
    for (int32_t i = 0; i < n; i++) {
        const Type *t = out->whole[i].f.type;
        if (t->kind == TY_ARRAY && t->ndim == out->ndim) f_order &= t->layout == LAYOUT_F;
    }
    out->column_major = f_order && out->ndim > 1;
    return true;
}

/* Operands of the instruction: `first` of them stand already in `refs`. Constants that the function knows are left out. */
static int32_t emit_operands(Infer *in, const Instance *f, const Bound *bound, const Operands *o,
                             int32_t first, Ref *refs) {
    int32_t skip = f->nslots - o->n; /* slots in front that are not operands: the accumulator */
    for (int32_t i = 0; i < o->n; i++) {
        const Slot *slot = &f->slots[skip + i];
        if (!slot->count) continue;
        bool whole = is_whole(&o->whole[i]);
        refs[first++] =
            whole ? v_ref(in, o->whole[i]) : v_as(in, bound->values[skip + i], slot->fact.type);
    }
    return first;
}

static bool map_error(Infer *in, const Binding *f, const Val *args, int32_t n) {
    if (in->stop == STOP_ERROR || !in->stop) {
        Str name = f->name.len ? f->name : STR("the conversion");
        ti_fail(in, in->at, E0401, library_text(in, name), ti_arg_texts(in, args, n));
    }
    return false;
}

/* The instance for the elements; what is wrong with it is wrong with the whole arguments. */
static Instance *elements_instance(Infer *in, const Binding *f, const CallArgs *elements,
                                   const Type *result, Bound *bound, const Val *args, int32_t n) {
    int32_t before = in->diags->items.len;
    Instance *callee = call_instance(in, f, elements, result, bound);
    if (callee || f->handle || in->stop != STOP_ERROR || !in->report) return callee;
    in->diags->items.len = QN_MIN(before, in->diags->items.len);
    map_error(in, f, args, n);
    return NULL;
}

static Ref emit_mapped(Infer *in, Op op, const Type *type, const Instance *callee, const Ref *refs,
                       int32_t n) {
    Func *func = instance_typed(in->ti, (Instance *)callee);
    Ref ref = emit(in->emit, op, type, refs, n);
    ir_inst(in->emit->out, ref)->u.func = func;
    return ref;
}

static const Type *whole_type(Infer *in, const Type *element, int32_t ndim) {
    return type_array(in->types, element, ndim, LAYOUT_C);
}

/* -- map ------------------------------------------------------------------------------------------- */

/* The lengths of what operands of constant shapes come to; out of several the one that is not 1. false: not known, or not alike. */
static bool broadcast_lengths(Infer *in, const Operands *o, Val *lengths) {
    for (int32_t axis = 0; axis < o->ndim; axis++) {
        int64_t length = 1, other;
        for (int32_t i = 0; i < o->n; i++) {
            const Fact *f = &o->whole[i].f;
            int32_t at = is_whole(&o->whole[i]) ? axis - (o->ndim - f->type->ndim) : -1;
            if (at < 0) continue;
            if (!f->items || !fact_int_value(&f->items[at], &other)) return false;
            if (length != 1 && other != 1 && other != length) return false;
            if (other != 1) length = other;
        }
        lengths[axis] = val_of(fact_int(in, length));
    }
    return true;
}

/* In kernels, with `lengths` that are known: into an array of the thread. */
static bool map_into_local(Infer *in, const Binding *f, const Operands *o, const Type *element,
                           const Val *args, int32_t n, const Val *lengths, Val *out) {
    const char *name = library_text(in, f->name);
    Layout layout = o->column_major ? LAYOUT_F : LAYOUT_C;
    const Type *type = type_array(in->types, element, o->ndim, layout);
    return v_local_array(in, name, type, lengths, o->ndim, out) &&
           v_map_into(in, *out, f, false, args, n);
}

bool v_map(Infer *in, const Binding *f, const Type *result, const Val *args, int32_t n, Val *out) {
    Operands o;
    Bound bound;
    if (!read_operands(in, args, n, &o)) return map_error(in, f, args, n);
    CallArgs elements = {o.element, n, 0, NULL};
    Instance *callee = elements_instance(in, f, &elements, result, &bound, args, n);
    if (!callee) return false;
    const Type *element = type_strong(in->types, callee->result.type);
    if (!type_is_item(element) && element->kind != TY_RECORD) return map_error(in, f, args, n);
    Val lengths[MAX_AXES];
    /* of other lengths it has to be computed in what reads it: see the pass `fuse` */
    if (!ti_has_heap(in) && broadcast_lengths(in, &o, lengths))
        return map_into_local(in, f, &o, element, args, n, lengths, out);
    Layout layout = o.column_major ? LAYOUT_F : LAYOUT_C;
    *out = val_of(fact_of(type_array(in->types, element, o.ndim, layout)));
    if (!in->emit) return true;
    Ref refs[MAX_OPERANDS];
    int32_t count = emit_operands(in, callee, &bound, &o, 0, refs);
    out->ref = emit_mapped(in, OP_map, out->f.type, callee, refs, count);
    return true;
}

/* NumPy's order of kinds: an assignment of the casting "same_kind" never goes down. */
static int kind_rank(const Type *t) {
    switch (type_class(t)) {
    case CLASS_BOOL: return 0;
    case CLASS_UINT: return 1;
    case CLASS_SINT: return 2;
    case CLASS_FLT: return 3;
    default: return 4;
    }
}

bool type_same_kind(const Type *from, const Type *to) {
    return kind_rank(from) <= kind_rank(to);
}

static bool can_store(const Type *from, const Type *to, bool same_kind) {
    if (to->kind == TY_RECORD || to->kind == TY_TIME) return from == to;
    if (!type_is_number(from) || (type_is_complex(from) && !type_is_complex(to))) return false;
    return !same_kind || type_same_kind(from, to);
}

bool v_map_into(Infer *in, Val target, const Binding *f, bool same_kind, const Val *args,
                int32_t n) {
    const Type *to = target.f.type->element;
    if (target.f.type->readonly)
        return ti_fail(in, in->at, E0303,
                       str_printf(in->arena, "array %s", ti_text(in, target.f.type)).bytes);
    Operands o;
    Bound bound;
    if (!read_operands(in, args, n, &o)) return map_error(in, f, args, n);
    CallArgs elements = {o.element, n, 0, NULL};
    Instance *callee = elements_instance(in, f, &elements, NULL, &bound, args, n);
    if (!callee) return false;
    const Type *from = type_strong(in->types, callee->result.type);
    if (o.ndim > target.f.type->ndim || !can_store(from, to, same_kind))
        return ti_fail(in, in->at, E0305, ti_text(in, o.ndim ? whole_type(in, from, o.ndim) : from),
                       ti_text(in, target.f.type));
    if (from != to) callee = elements_instance(in, f, &elements, to, &bound, args, n);
    if (!callee) return false;
    if (!in->emit) return true;
    Ref refs[1 + MAX_OPERANDS] = {v_ref(in, target)};
    int32_t count = emit_operands(in, callee, &bound, &o, 1, refs);
    emit_mapped(in, OP_map_into, NULL, callee, refs, count);
    return true;
}

/* -- rows and operators on arrays -------------------------------------------------------------------- */

/* One number: others (np.modf) are functions of quern/library, which map each part. */
static bool gives_number(const LibRow *row) {
    const char *result = strrchr(row->signature, '>') + 1;
    return strcmp(result, "any") != 0 && strncmp(result, "tuple", strlen("tuple")) != 0;
}

bool v_has_row(Str name, int32_t n, TargetKind target) {
    for (int32_t row = lib_find(name); row >= 0; row = lib_next(row)) {
        const LibRow *r = lib_row(row);
        LowerKind how = lib_lowering(r, target)->kind;
        if (how == LOWER_TYPED || how == LOWER_NONE || (r->flags & LIB_VALUE)) continue;
        if (!gives_number(r)) continue;
        if (row_takes(r, n)) return true;
    }
    return time_has_row(name, n);
}

bool v_row_of_arrays(Infer *in, Str name, const Val *args, int32_t n, bool *matched, Val *out) {
    TargetKind target = in->ti->options.target;
    *matched = false;
    int32_t first = lib_find(name);
    if (!str_starts(name, "numpy.") || (first >= 0 && lib_row(first)->flags & LIB_WHOLE))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (args[i].f.type->kind != TY_ARRAY && !type_is_item(args[i].f.type)) return false;
    bool into = !v_has_row(name, n, target); /* np.add(a, b, out) */
    if (into && (n < 2 || !is_whole(&args[n - 1]) || !v_has_row(name, n - 1, target))) return false;
    *matched = true;
    n -= into;
    Val operands[MAX_OPERANDS];
    memcpy(operands, args, sizeof *args * (size_t)QN_MIN(n, MAX_OPERANDS));
    const Binding *f = row_function(in, name, n);
    if (n > MAX_OPERANDS || !v_loop_operands(in, name, operands, n))
        return in->stop ? false : map_error(in, f, args, n);
    if (!into) return v_map(in, f, NULL, operands, n, out);
    *out = args[n];
    return v_map_into(in, *out, f, true, operands, n);
}

/* Arrays as the declared loop of a ufunc takes them. */
static bool take_loop(Infer *in, const Binding *f, const Val *args, int32_t n, Val *out) {
    const Type *types[MAX_OPERANDS];
    for (int32_t i = 0; i < n; i++) {
        const Type *t = args[i].f.type;
        types[i] = t->kind == TY_ARRAY ? t->element : t;
    }
    const Signature *loop = declared_loop(in, f, types, n);
    for (int32_t i = 0; i < n; i++) {
        out[i] = args[i];
        if (!loop || !is_whole(&args[i]) || types[i] == loop->params[i]) continue;
        if (!v_map(in, row_function(in, STR(""), 1), loop->params[i], &args[i], 1, &out[i]))
            return false;
    }
    return true;
}

/* A ufunc with keywords: quern/library says what they mean. `last_is_out`: the last positional argument is. */
static bool with_keywords(Infer *in, const Binding *ufunc, const CallArgs *args, bool last_is_out,
                          bool *known, Val *out) {
    static const char *const keywords[] = {"out", "where", "dtype", "casting", "order", "subok"};
    enum { KEYWORDS = countof(keywords) };
    int32_t operands = args->nargs - args->nkeywords;
    Val values[1 + KEYWORDS + MAX_OPERANDS];
    *known = false;
    bool out_only = args->nkeywords == 1 && !last_is_out && str_is(args->names[0], "out");
    /* as np.add(a, b, out): the result is never an array of its own */
    if (out_only && !ti_has_heap(in)) {
        bool done = v_row_of_arrays(in, ufunc->name, args->args, args->nargs, known, out);
        if (*known) return done;
    }
    values[0] = val_of(fact_of(type_object(in->types, ufunc)));
    for (int32_t k = 0; k < KEYWORDS; k++)
        values[1 + k] = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (last_is_out) values[1] = args->args[operands - 1];
    for (int32_t i = 0; i < args->nkeywords; i++) {
        int32_t k = 0;
        while (k < KEYWORDS && !str_is(args->names[i], keywords[k]))
            k++;
        if (k == KEYWORDS || (k == 0 && last_is_out)) return false;
        values[1 + k] = args->args[operands + i];
    }
    operands -= last_is_out;
    for (int32_t i = 0; i < operands; i++)
        values[1 + KEYWORDS + i] = args->args[i];
    CallArgs call = {values, 1 + KEYWORDS + operands, 0, NULL};
    return v_library_function(in, STR("ufunc.call"), &call, known, out);
}

bool v_ufunc(Infer *in, const Binding *f, const CallArgs *args, Val *out) {
    const FunctionInfo *info = ti_function_info(in->ti, f);
    if (!info) return in->stop = STOP_ABORT, false;
    int32_t n = info->code->nargs, given = args->nargs - args->nkeywords;
    bool out_only = args->nkeywords == 1 && str_is(args->names[0], "out"), known;
    bool into = args->nargs == n + 1 && (out_only || !args->nkeywords);
    Val operands[MAX_OPERANDS], target = into ? v_unwrap(in, args->args[n]) : (Val){0};
    if (n > MAX_OPERANDS || (given != n && given != n + 1))
        return map_error(in, f, args->args, args->nargs);
    if (args->nkeywords && (!out_only || is_kind(&target, TY_TUPLE))) {
        if (with_keywords(in, f, args, given == n + 1, &known, out)) return true;
        return in->stop ? false : map_error(in, f, args->args, args->nargs);
    }
    if (!take_loop(in, f, args->args, n, operands)) return false;
    if (!into || fact_none(&target.f)) return v_map(in, f, NULL, operands, n, out);
    if (!is_kind(&target, TY_ARRAY)) return map_error(in, f, args->args, args->nargs);
    *out = target;
    return v_map_into(in, target, f, true, operands, n);
}

/* np.add(a, b, out=c, where=mask, dtype=np.float32) */
bool v_row_with_keywords(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    int32_t operands = args->nargs - args->nkeywords;
    TargetKind target = in->ti->options.target;
    *known = false;
    if (!str_starts(name, "numpy.") || operands > MAX_OPERANDS) return false;
    bool last_is_out = !v_has_row(name, operands, target) && v_has_row(name, operands - 1, target);
    if (!last_is_out && !v_has_row(name, operands, target)) return false;
    const Binding *row = ti_object(in->ti, BIND_LIBRARY, name, NULL);
    return with_keywords(in, row, args, last_is_out, known, out);
}

/* a @ b, a @= b: functions of our library. A number on either side is nothing for it. */
static bool matrix_operator(Infer *in, bool in_place, const Val *args, bool *matched, Val *out) {
    CallArgs call = {(Val *)args, 2, 0, NULL};
    if (!is_whole(&args[0]) || !is_whole(&args[1])) return false;
    *matched = true;
    bool found;
    Str name = in_place ? STR("operator.imatmul") : STR("numpy.matmul");
    return v_library_function(in, name, &call, &found, out);
}

bool v_operator_of_arrays(Infer *in, Operator op, bool in_place, const Val *args, int32_t n,
                          bool *matched, Val *out) {
    const char *ufunc = operator_ufunc(op);
    *matched = false;
    if (op == OPR_matmul) return matrix_operator(in, in_place, args, matched, out);
    if (!ufunc || !v_any_array(args, n)) return false;
    for (int32_t i = 0; i < n; i++)
        if (args[i].f.type->kind != TY_ARRAY && !type_is_item(args[i].f.type)) return false;
    Val operands[2] = {0};
    memcpy(operands, args, sizeof *args * (size_t)n);
    if (!v_loop_operands(in, str_from(ufunc), operands, n)) return false;
    *matched = true;
    const Binding *f = row_function(in, str_from(ufunc), n);
    if (!in_place || !is_kind(&args[0], TY_ARRAY)) return v_map(in, f, NULL, operands, n, out);
    *out = args[0];
    return v_map_into(in, args[0], f, true, operands, n);
}

/* -- reduce ---------------------------------------------------------------------------------------- */

/* The type that f(accumulator, elements...) leaves unchanged, from that of the start or of the first element. */
static Instance *reducer(Infer *in, const Binding *f, Val start, const Operands *o, Bound *bound) {
    Val args[1 + MAX_OPERANDS] = {start};
    args[0].f.value = NULL;
    for (int32_t i = 0; i < o->n; i++)
        args[i + 1] = o->element[i];
    CallArgs elements = {args, o->n + 1, 0, NULL};
    return elements_instance(in, f, &elements, start.f.type, bound, args, o->n + 1);
}

static bool is_float_sum(const Binding *f, const Type *type) {
    return str_is(f->name, "numpy.add") && (type_is_float(type) || type_is_complex(type));
}

bool v_reduce(Infer *in, const Binding *f, Val start, uint32_t axes, const Val *args, int32_t n,
              Val *out) {
    Operands o;
    Bound bound;
    if (!read_operands(in, args, n, &o) || o.ndim == 0) return map_error(in, f, args, n);
    bool first = fact_none(&start.f);
    Val accumulator = first ? o.element[0] : start;
    if (!is_kind(&accumulator, TY_TIME))
        accumulator.f = fact_of(lower_type(in->ti, accumulator.f.type));
    Instance *callee = reducer(in, f, accumulator, &o, &bound);
    if (!callee) return false;
    int32_t left = o.ndim - __builtin_popcount(axes);
    const Type *type = callee->result.type;
    if (left > 0) {
        if (!type_is_item(type)) return map_error(in, f, args, n);
        if (!ti_may_allocate(in, library_text(in, f->name))) return false;
        type = type_array(in->types, type, left, o.column_major ? LAYOUT_F : LAYOUT_C);
    }
    *out = val_of(fact_of(type));
    if (!in->emit) return true;
    Ref refs[1 + MAX_OPERANDS];
    int32_t count = 0;
    if (!first) refs[count++] = v_as(in, start, accumulator.f.type);
    count = emit_operands(in, callee, &bound, &o, count, refs);
    out->ref = emit_mapped(in, OP_reduce, lower_type(in->ti, type), callee, refs, count);
    Inst *inst = ir_inst(in->emit->out, out->ref);
    inst->imm = axes;
    inst->sub = (uint8_t)((first ? REDUCE_FIRST : 0) |
                          (is_float_sum(f, callee->result.type) ? REDUCE_PAIRWISE : 0));
    return true;
}
