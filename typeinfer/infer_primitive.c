/* infer_primitive.c - what quern/library is made of: rows "primitive.*", which typeinfer knows by name.
 *
 * They trust their caller where a row says so (a shape of the same size, strides inside of the memory), and take
 * arguments by position only. quern/library/primitives.py has one name for each. */
#include "typeinfer/infer_variant.h"

enum { MAX_AXES = 32 };

typedef bool (*Handler)(Infer *in, const Val *args, int32_t n, Val *out);

static bool misfit(Infer *in, const char *name, const Val *args, int32_t n) {
    return ti_fail(in, in->at, E0401, name, ti_arg_texts(in, args, n));
}

/* -- map, reduce ------------------------------------------------------------------------------------- */

/* The function of n numbers that an argument names; NULL: it is none. */
static const Binding *function_argument(Infer *in, const Val *v, int32_t n) {
    const Binding *b = fact_object(&v->f);
    if (!b) return NULL;
    if (b->kind == BIND_FUNCTION) return b;
    return b->kind == BIND_LIBRARY ? row_function(in, b->name, n) : NULL;
}

static bool primitive_map(Infer *in, const Val *args, int32_t n, Val *out) {
    const Binding *f = n > 1 ? function_argument(in, &args[0], n - 1) : NULL;
    if (!f) return misfit(in, "primitive.map", args, n);
    if (v_any_array(args + 1, n - 1)) return v_map(in, f, NULL, args + 1, n - 1, out);
    Val *scalars = arena_array(in->arena, Val, n);
    for (int32_t i = 1; i < n; i++)
        scalars[i - 1] = v_scalar(in, args[i]);
    CallArgs call = {scalars, n - 1, 0, NULL};
    return call_function(in, f, &call, true, out);
}

static bool primitive_map_into(Infer *in, const Val *args, int32_t n, Val *out) {
    const Binding *f = n > 2 ? function_argument(in, &args[1], n - 2) : NULL;
    if (!f || !is_kind(&args[0], TY_ARRAY)) return misfit(in, "primitive.map_into", args, n);
    *out = args[0];
    return v_map_into(in, args[0], f, true, args + 2, n - 2);
}

static bool primitive_convert(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *to;
    if (n != 2) return misfit(in, "primitive.convert", args, n);
    if (!v_element_type(in, &args[1], &to)) return false;
    if (!v_any_array(args, 1)) return v_cast(in, args[0], to, false, out);
    const Type *from = args[0].f.type->element;
    if (type_is_complex(from) && !type_is_complex(to))
        return misfit(in, "primitive.convert", args, n);
    bool time = from->kind == TY_TIME || to->kind == TY_TIME;
    if (time && from != to) return v_map(in, time_conversion(in, to), NULL, args, 1, out);
    return v_map(in, row_function(in, STR(""), 1), to, args, 1, out);
}

/* The same of a number, for an element that it is assigned to. */
static bool primitive_fitting(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *to;
    if (n != 2 || !v_element_type(in, &args[1], &to))
        return misfit(in, "primitive.fitting", args, n);
    const Type *from = args[0].f.type;
    if (type_is_number(from) && type_class(from) == CLASS_CPX && type_class(to) != CLASS_CPX) {
        *out = args[0]; /* what it is assigned to refuses it, and says so */
        return true;
    }
    if (!v_fits(in, &args[0], to)) return false;
    return v_cast(in, args[0], to, false, out);
}

/* A set of axes from None (all) or a tuple of constants. */
static bool axes_argument(const Val *v, int32_t ndim, uint32_t *axes) {
    *axes = 0;
    if (fact_none(&v->f)) return *axes = ndim < 32 ? (1u << ndim) - 1 : UINT32_MAX, true;
    if (!is_kind(v, TY_TUPLE) || !fact_is_const(&v->f)) return false;
    for (int32_t i = 0; i < v->f.type->nitems; i++) {
        int64_t axis;
        if (!fact_int_value(&v->f.items[i], &axis) || axis < 0 || axis >= ndim) return false;
        *axes |= 1u << axis;
    }
    return true;
}

static bool primitive_reduce(Infer *in, const Val *args, int32_t n, Val *out) {
    const Binding *f = n > 3 ? function_argument(in, &args[0], n - 2) : NULL;
    int32_t ndim = 0;
    uint32_t axes;
    for (int32_t i = 3; i < n; i++)
        if (is_kind(&args[i], TY_ARRAY)) ndim = QN_MAX(ndim, args[i].f.type->ndim);
    if (!f || !axes_argument(&args[2], ndim, &axes)) return misfit(in, "primitive.reduce", args, n);
    return v_reduce(in, f, v_scalar(in, args[1]), axes, args + 3, n - 3, out);
}

/* -- shapes ------------------------------------------------------------------------------------------- */

static bool is_ints(const Val *v, int32_t n) {
    if (!is_kind(v, TY_TUPLE) || (n >= 0 && v->f.type->nitems != n)) return false;
    for (int32_t i = 0; i < v->f.type->nitems; i++)
        if (!type_is_int(v->f.type->items[i])) return false;
    return v->f.type->nitems <= MAX_AXES;
}

static int32_t emit_ints(Infer *in, Val tuple, int32_t first, Ref *refs) {
    const Type *i64 = type_scalar(in->types, TY_i64);
    for (int32_t i = 0; i < tuple.f.type->nitems; i++)
        refs[first++] = v_as(in, v_item(in, tuple, i), i64);
    return first;
}

static const Type *like(Infer *in, const Type *array, int32_t ndim, Layout layout) {
    return type_array_like(in->types, array, ndim, layout);
}

static bool primitive_reshape(Infer *in, const Val *args, int32_t n, Val *out) {
    bool fits = n == 2 && is_kind(&args[0], TY_ARRAY) && is_ints(&args[1], -1);
    if (!fits || args[0].f.type->layout != LAYOUT_C)
        return misfit(in, "primitive.reshape", args, n);
    *out = val_of(fact_of(like(in, args[0].f.type, args[1].f.type->nitems, LAYOUT_C)));
    if (!in->emit) return true;
    Ref refs[1 + MAX_AXES] = {v_ref(in, args[0])};
    int32_t count = emit_ints(in, args[1], 1, refs);
    out->ref = emit(in->emit, OP_reshape, out->f.type, refs, count);
    return true;
}

static bool primitive_restride(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n < 3 || n > 4 || !is_kind(&args[0], TY_ARRAY) || !is_ints(&args[1], -1) ||
        !is_ints(&args[2], args[1].f.type->nitems) || (n == 4 && !type_is_int(args[3].f.type)))
        return misfit(in, "primitive.restride", args, n);
    *out = val_of(fact_of(like(in, args[0].f.type, args[1].f.type->nitems, LAYOUT_A)));
    if (!in->emit) return true;
    Ref refs[2 + 2 * MAX_AXES] = {v_ref(in, args[0])};
    int32_t count = emit_ints(in, args[1], 1, refs);
    count = emit_ints(in, args[2], count, refs);
    if (n == 4) refs[count++] = v_as(in, args[3], type_scalar(in->types, TY_i64));
    out->ref = emit(in->emit, OP_restride, out->f.type, refs, count);
    return true;
}

/* The same lengths and strides over elements of another type, of which `offset` bytes are left out in front. */
static bool primitive_reinterpret(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *element;
    if (n != 3 || !is_kind(&args[0], TY_ARRAY) || !type_is_int(args[2].f.type))
        return misfit(in, "primitive.reinterpret", args, n);
    if (!v_element_type(in, &args[1], &element)) return false;
    const Type *from = args[0].f.type;
    Type key = *from;
    key.element = element;
    key.aligned = from->aligned && type_align(element) <= type_align(from->element);
    *out = val_of(fact_of(type_array_like(in->types, &key, from->ndim, LAYOUT_A)));
    if (!in->emit) return true;
    Ref refs[2 + 2 * MAX_AXES] = {v_ref(in, args[0])};
    for (int32_t k = 0; k < from->ndim; k++) {
        refs[1 + k] = emit_length(in->emit, refs[0], k);
        refs[1 + from->ndim + k] =
            emit1(in->emit, OP_stride, type_scalar(in->types, TY_i64), refs[0]);
        ir_inst(in->emit->out, refs[1 + from->ndim + k])->imm = k;
    }
    int32_t count = 1 + 2 * from->ndim;
    refs[count++] = v_as(in, args[2], type_scalar(in->types, TY_i64));
    out->ref = emit(in->emit, OP_restride, out->f.type, refs, count);
    return true;
}

static bool layout_argument(const Val *v, Layout *out) {
    const Str *text = fact_str(&v->f);
    if (!text || text->len != 1 || !strchr("CFA", text->bytes[0])) return false;
    *out = text->bytes[0] == 'C' ? LAYOUT_C : text->bytes[0] == 'F' ? LAYOUT_F : LAYOUT_A;
    return true;
}

/* The same array as another type, of which that is true. */
static bool retyped(Infer *in, Val array, const Type *type, Val *out) {
    char full[MAX_AXES];
    *out = val_of(fact_of(type));
    if (!in->emit) return true;
    Ref ref = v_ref(in, array);
    Str *letters = arena_new(in->arena, Str);
    memset(full, 'f', sizeof full);
    *letters = str_copy(in->arena, full, (size_t)type->ndim);
    out->ref = emit1(in->emit, OP_view, type, ref);
    ir_inst(in->emit->out, out->ref)->u.name = letters;
    return true;
}

static bool primitive_read_only(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !is_kind(&args[0], TY_ARRAY)) return misfit(in, "primitive.read_only", args, n);
    Type key = *args[0].f.type;
    key.readonly = true;
    return retyped(in, args[0], type_array_like(in->types, &key, key.ndim, (Layout)key.layout),
                   out);
}

static bool primitive_unaligned(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !is_kind(&args[0], TY_ARRAY)) return misfit(in, "primitive.unaligned", args, n);
    return retyped(in, args[0], type_array_aligned(in->types, args[0].f.type, false), out);
}

/* Its strides are known to be those of the layout. */
static bool primitive_promise(Infer *in, const Val *args, int32_t n, Val *out) {
    Layout layout;
    if (n != 2 || !is_kind(&args[0], TY_ARRAY) || !layout_argument(&args[1], &layout))
        return misfit(in, "primitive.promise", args, n);
    const Type *t = args[0].f.type;
    return retyped(in, args[0], like(in, t, t->ndim, layout), out);
}

static bool primitive_has_memory(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n) return misfit(in, "primitive.has_memory", args, n);
    bool has = !in->kernel && target_is_host(in->ti->options.target);
    return *out = val_of(fact_bool(in, has)), true;
}

static bool primitive_memory_at(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !type_is_int(args[0].f.type)) return misfit(in, "primitive.memory_at", args, n);
    const Type *bytes = type_array(in->types, type_scalar(in->types, TY_u8), 1, LAYOUT_C);
    *out = val_of(fact_of(bytes));
    if (!in->emit) return true;
    Ref address = v_as(in, args[0], type_scalar(in->types, TY_i64));
    out->ref = emit1(in->emit, OP_memory_at, bytes, address);
    return true;
}

static bool primitive_parallel(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n) return misfit(in, "primitive.parallel", args, n);
    return *out = val_of(fact_bool(in, in->parallel)), true;
}

/* That which stands for a member of an enumeration that is no int. */
static bool primitive_member_number(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !is_kind(&args[0], TY_MEMBER))
        return misfit(in, "primitive.member_number", args, n);
    *out = val_of(fact_of(i64_type(in->types)));
    if (in->emit) out->ref = v_ref(in, args[0]);
    return true;
}

/* What no number of axes, no value would change: the types of the arguments. */
static bool primitive_refuse(Infer *in, const Val *args, int32_t n, Val *out) {
    const Str *text = n == 1 ? fact_str(&args[0].f) : NULL;
    (void)out;
    if (!text) return misfit(in, "primitive.refuse", args, n);
    return ti_fail(in, in->at, E0403, ti_c_text(in, *text));
}

/* None, text and types are constants, too. */
static bool primitive_known(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1) return misfit(in, "primitive.known", args, n);
    return *out = val_of(fact_bool(in, fact_is_const(&args[0].f))), true;
}

static bool primitive_layout(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !is_kind(&args[0], TY_ARRAY)) return misfit(in, "primitive.layout", args, n);
    Layout layout = (Layout)args[0].f.type->layout;
    Str text = layout == LAYOUT_C ? STR("C") : layout == LAYOUT_F ? STR("F") : STR("A");
    return fact_of_const(in, const_str(in->arena, text), &out->f);
}

/* Of the elements of an array. */
static bool primitive_dtype_text(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1 || !is_kind(&args[0], TY_ARRAY)) return misfit(in, "primitive.dtype_text", args, n);
    Str text = ti_dtype_literal(in->arena, args[0].f.type->element);
    return fact_of_const(in, const_str(in->arena, text), &out->f);
}

/* The code points of a constant text. */
static bool primitive_characters(Infer *in, const Val *args, int32_t n, Val *out) {
    const Str *text = n == 1 ? fact_str(&args[0].f) : NULL;
    if (!text) return misfit(in, "primitive.characters", args, n);
    Val *items = arena_array(in->arena, Val, text->len + 1);
    int32_t count = 0;
    for (int32_t at = 0; at < text->len; count++)
        items[count] = val_of(fact_int(in, str_code_point(*text, &at)));
    return *out = v_tuple(in, items, count), true;
}

static bool primitive_iterate(Infer *in, const Val *args, int32_t n, Val *out) {
    bool fits = n == 3 && (type_is_int(args[0].f.type) || fact_object(&args[0].f)) &&
                fact_object(&args[1].f);
    if (!fits) return misfit(in, "primitive.iterate", args, n);
    return *out = v_iter_object(in, ITER_CALL, v_tuple(in, args, 3)), true;
}

/* -- products of matrices ------------------------------------------------------------------------------ */

/* What is computed on the host by code outside of the module; GPUs have no such code, and cpu kernels do as GPUs. */
static bool outside_call(Infer *in, const char *name, const char *what, int32_t count, int32_t ndim,
                         const Val *args, int32_t n, Val *out) {
    bool matched, fits = n == count;
    for (int32_t i = 0; fits && i < n; i++)
        fits = is_kind(&args[i], TY_ARRAY) && args[i].f.type->ndim == ndim &&
               args[i].f.type->element == args[0].f.type->element;
    if (!fits) return misfit(in, name, args, n);
    if (!ti_may_allocate(in, what)) return false;
    return v_row(in, str_from(name), args, n, &matched, out);
}

static bool primitive_dot(Infer *in, const Val *args, int32_t n, Val *out) {
    return outside_call(in, "primitive.dot", "a product of arrays", 2, 1, args, n, out);
}

static bool primitive_product(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n && is_kind(&args[0], TY_ARRAY) && args[0].f.type->readonly)
        return ti_fail(in, in->at, E0303,
                       str_printf(in->arena, "array %s", ti_text(in, args[0].f.type)).bytes);
    return outside_call(in, "primitive.product", "a product of matrices", 3, 2, args, n, out);
}

/* -- memory ------------------------------------------------------------------------------------------- */

/* A position that may count from the end, as one from the start: IndexError with NumPy's sentence where there is none. */
static bool primitive_check_index(Infer *in, const Val *args, int32_t n, Val *out) {
    Emit *e = in->emit;
    int64_t axis;
    bool is_index = n == 3 && (type_is_int(args[0].f.type) || is_kind(&args[0], TY_bool));
    if (!is_index || !type_is_int(args[1].f.type) || !fact_int_value(&args[2].f, &axis) ||
        axis < 0 || (axis >= MAX_AXES && axis != CHECK_LIST && axis != CHECK_LIST_ASSIGNMENT))
        return misfit(in, "primitive.check_index", args, n);
    *out = val_of(fact_of(ti_wint(in)));
    if (!e) return true;
    const Type *i64 = i64_type(in->types);
    Ref i = v_as(in, args[0], i64), length = v_as(in, args[1], i64);
    if (!is_unsigned(&args[0])) i = emit2(e, OP_wrap_index, i64, i, length);
    out->ref = emit2(e, OP_check_index, i64, i, length);
    ir_inst(e->out, out->ref)->imm = axis;
    return true;
}

static const char *const guard_names[] = {
#define GUARD(name, exception, message, nargs) #name,
#include "frontend/ir/ir_guards.def"
#undef GUARD
};

/* A row of ir_guards.def, by name: raises when the condition is true. */
static bool primitive_guard(Infer *in, const Val *args, int32_t n, Val *out) {
    const Str *name = n > 1 ? fact_str(&args[0].f) : NULL;
    int guard = 0;
    while (name && guard < countof(guard_names) && !str_is(*name, guard_names[guard]))
        guard++;
    if (!name || guard == countof(guard_names) || n > 8)
        return misfit(in, "primitive.guard", args, n);
    for (int32_t i = 2; i < n; i++)
        if (!type_is_int(args[i].f.type)) return misfit(in, "primitive.guard", args, n);
    Val condition = {0};
    if (!v_truth(in, args[1], &condition)) return false;
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!in->emit || !in->guards) return true;
    Ref refs[8];
    for (int32_t i = 2; i < n; i++)
        refs[i - 2] = v_as(in, args[i], i64_type(in->types));
    emit_guard(in->emit, (Guard)guard, v_as(in, condition, bool_type(in->types)), refs, n - 2);
    return true;
}

static bool primitive_disjoint(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 2 || !is_kind(&args[0], TY_ARRAY) || !is_kind(&args[1], TY_ARRAY))
        return misfit(in, "primitive.disjoint", args, n);
    const Type *b = bool_type(in->types);
    *out = val_of(fact_of(b));
    if (in->emit)
        out->ref = emit2(in->emit, OP_disjoint, b, v_ref(in, args[0]), v_ref(in, args[1]));
    return true;
}

/* -- elements ------------------------------------------------------------------------------------------ */

/* An array and one index for each axis, all of which lie inside: neither wrapped nor tested. */
static bool element_indices(Infer *in, const Val *args, int32_t n, Ref *refs) {
    if (n < 1 || !is_kind(&args[0], TY_ARRAY) || args[0].f.type->ndim != n - 1 || n > MAX_AXES)
        return false;
    for (int32_t i = 1; i < n; i++)
        if (!type_is_int(args[i].f.type)) return false;
    if (!in->emit) return true;
    refs[0] = v_ref(in, args[0]);
    for (int32_t i = 1; i < n; i++)
        refs[i] = v_as(in, args[i], type_scalar(in->types, TY_i64));
    return true;
}

static bool primitive_load(Infer *in, const Val *args, int32_t n, Val *out) {
    Ref refs[MAX_AXES + 1];
    if (!element_indices(in, args, n, refs)) return misfit(in, "primitive.load", args, n);
    *out = val_of(fact_of(args[0].f.type->element));
    if (in->emit) out->ref = emit(in->emit, OP_load, lower_type(in->ti, out->f.type), refs, n);
    return true;
}

static bool primitive_store(Infer *in, const Val *args, int32_t n, Val *out) {
    Ref refs[MAX_AXES + 1];
    if (n < 2 || !element_indices(in, args, n - 1, refs) ||
        !can_convert(args[n - 1].f.type, args[0].f.type->element))
        return misfit(in, "primitive.store", args, n);
    if (args[0].f.type->readonly)
        return ti_fail(in, in->at, E0303,
                       str_printf(in->arena, "array %s", ti_text(in, args[0].f.type)).bytes);
    *out = val_of(fact_of(type_scalar(in->types, TY_none)));
    if (!in->emit) return true;
    refs[n - 1] = v_as(in, args[n - 1], args[0].f.type->element);
    emit(in->emit, OP_store, NULL, refs, n);
    return true;
}

static bool is_system_element(const Type *t) {
    return (type_is_float(t) || type_is_complex(t)) && type_bits(t) > 16;
}

/* Matrices that are stored column by column, of the numbers that LAPACK knows. */
static bool linear_system(Infer *in, const char *name, int32_t count, const Val *args, int32_t n,
                          Val *out) {
    for (int32_t i = 0; i < n; i++) {
        const Type *t = args[i].f.type;
        bool fits = t->kind == TY_ARRAY && t->layout == LAYOUT_F && !t->readonly &&
                    is_system_element(t->element);
        if (!fits) return misfit(in, name, args, n);
    }
    return outside_call(in, name, "a linear system", count, 2, args, n, out);
}

static bool primitive_cholesky(Infer *in, const Val *args, int32_t n, Val *out) {
    return linear_system(in, "primitive.cholesky_columns", 1, args, n, out);
}
static bool primitive_lu(Infer *in, const Val *args, int32_t n, Val *out) {
    return linear_system(in, "primitive.lu_columns", 1, args, n, out);
}
static bool primitive_solve(Infer *in, const Val *args, int32_t n, Val *out) {
    return linear_system(in, "primitive.solve_columns", 2, args, n, out);
}

static bool decomposition(Infer *in, const char *name, const Val *args, int32_t n, Val *out) {
    bool matched, fits = n == 5 && type_is_int(args[4].f.type);
    for (int32_t i = 0; fits && i < 4; i++)
        fits = is_kind(&args[i], TY_ARRAY) && args[i].f.type->layout != LAYOUT_A &&
               !args[i].f.type->readonly;
    const Type *t = args[0].f.type;
    if (!fits || t->ndim != 2 || t->layout != LAYOUT_F || !is_system_element(t->element))
        return misfit(in, name, args, n);
    if (!ti_may_allocate(in, "a decomposition of a matrix")) return false;
    return v_row(in, str_from(name), args, n, &matched, out);
}

#define DECOMPOSITION(word)                                                                        \
    static bool primitive_##word(Infer *in, const Val *args, int32_t n, Val *out) {                \
        return decomposition(in, "primitive." #word "_columns", args, n, out);                     \
    }
DECOMPOSITION(eig)
DECOMPOSITION(eigh)
DECOMPOSITION(lstsq)
DECOMPOSITION(q)
DECOMPOSITION(qr)
DECOMPOSITION(svd)
#undef DECOMPOSITION

/* Every primitive but the store into containers of optionals gets what is there. */
static bool primitive_present(Infer *in, const Val *args, int32_t n, Val *out) {
    if (n != 1) return misfit(in, "primitive.present", args, n);
    return *out = args[0], true;
}

/* -- types -------------------------------------------------------------------------------------------- */

static bool primitive_result_type(Infer *in, const Val *args, int32_t n, Val *out) {
    const Type *common = NULL;
    for (int32_t i = 0; i < n; i++) {
        const Type *t = is_kind(&args[i], TY_ARRAY) ? args[i].f.type->element : args[i].f.type;
        if (fact_object(&args[i].f) && !fact_dtype(in, &args[i].f, &t)) t = NULL;
        if (t && common && (t->kind == TY_TIME || common->kind == TY_TIME)) {
            if (!(common = time_promote(in->types, common, t)))
                return misfit(in, "primitive.result_type", args, n);
            continue;
        }
        bool record = t && (t->kind == TY_RECORD || t->kind == TY_TIME) && (!common || common == t);
        if (!t || !(type_is_number(t) || record))
            return misfit(in, "primitive.result_type", args, n);
        common = record ? t : common ? ti_promote(in->types, ARITH_PLAIN, common, t) : t;
        if (!common) return misfit(in, "primitive.result_type", args, n);
    }
    if (!common) return misfit(in, "primitive.result_type", args, n);
    const Type *strong = type_strong(in->types, common);
    const Binding *b = ti_object(in->ti, BIND_TYPE, str_from(ti_text(in, strong)), strong);
    return *out = val_of(fact_of(type_object(in->types, b))), true;
}

/* -- the table -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    Handler handler;
} handlers[] = {
    {"primitive.buffer", primitive_buffer},
    {"primitive.buffer_like", primitive_buffer_like},
    {"primitive.character", primitive_character},
    {"primitive.characters", primitive_characters},
    {"primitive.check_index", primitive_check_index},
    {"primitive.cholesky_columns", primitive_cholesky},
    {"primitive.convert", primitive_convert},
    {"primitive.disjoint", primitive_disjoint},
    {"primitive.dot", primitive_dot},
    {"primitive.dtype_text", primitive_dtype_text},
    {"primitive.eig_columns", primitive_eig},
    {"primitive.eigh_columns", primitive_eigh},
    {"primitive.field", primitive_field},
    {"primitive.fields", primitive_fields},
    {"primitive.fitting", primitive_fitting},
    {"primitive.grow", primitive_grow},
    {"primitive.guard", primitive_guard},
    {"primitive.has_memory", primitive_has_memory},
    {"primitive.iterate", primitive_iterate},
    {"primitive.known", primitive_known},
    {"primitive.layout", primitive_layout},
    {"primitive.load", primitive_load},
    {"primitive.lstsq_columns", primitive_lstsq},
    {"primitive.lu_columns", primitive_lu},
    {"primitive.map", primitive_map},
    {"primitive.map_into", primitive_map_into},
    {"primitive.maker_text", primitive_maker_text},
    {"primitive.member_number", primitive_member_number},
    {"primitive.memory_at", primitive_memory_at},
    {"primitive.missing", primitive_missing},
    {"primitive.move", primitive_move},
    {"primitive.new", primitive_new},
    {"primitive.new_like", primitive_new_like},
    {"primitive.parallel", primitive_parallel},
    {"primitive.present", primitive_present},
    {"primitive.product", primitive_product},
    {"primitive.promise", primitive_promise},
    {"primitive.q_columns", primitive_q},
    {"primitive.qr_columns", primitive_qr},
    {"primitive.read_only", primitive_read_only},
    {"primitive.reduce", primitive_reduce},
    {"primitive.refuse", primitive_refuse},
    {"primitive.reinterpret", primitive_reinterpret},
    {"primitive.reshape", primitive_reshape},
    {"primitive.restride", primitive_restride},
    {"primitive.result_type", primitive_result_type},
    {"primitive.set_field", primitive_set_field},
    {"primitive.solve_columns", primitive_solve},
    {"primitive.store", primitive_store},
    {"primitive.svd_columns", primitive_svd},
    {"primitive.take", primitive_take},
    {"primitive.unaligned", primitive_unaligned},
};

const char *primitive_name(int32_t index) {
    return index < countof(handlers) ? handlers[index].name : NULL;
}

bool primitive_knows(Str name) {
    for (int i = 0; i < countof(handlers); i++)
        if (str_is(name, handlers[i].name)) return true;
    return false;
}

/* Into a container of values that may be absent: the last argument of store. */
static bool may_be_absent(Str name, const CallArgs *args) {
    const Type *array = args->nargs ? args->args[0].f.type : NULL;
    return array && array->kind == TY_ARRAY && array->element->kind == TY_OPTIONAL &&
           str_is(name, "primitive.store");
}

bool v_primitive(Infer *in, Str name, const CallArgs *args, Val *out) {
    Val *values = arena_array(in->arena, Val, args->nargs + 1);
    int32_t present = args->nargs - may_be_absent(name, args);
    for (int32_t i = 0; i < args->nargs; i++)
        values[i] = i < present ? v_unwrap(in, args->args[i]) : v_number(in, args->args[i]);
    for (int i = 0; i < countof(handlers); i++)
        if (str_is(name, handlers[i].name) && !args->nkeywords)
            return handlers[i].handler(in, values, args->nargs, out);
    return misfit(in, "a primitive", args->args, args->nargs);
}
