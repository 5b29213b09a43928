/* infer_gpu.c - kernels: positions in the grid, shared and local arrays, atomic operations. */
#include "typeinfer/infer_local.h"

static bool misfit(Infer *in, Str name, const CallArgs *args) {
    return v_refuse(in, REFUSE_CALL, ti_c_text(in, name), args->args, args->nargs);
}

/* -- the grid ------------------------------------------------------------------------------------- */

static bool position(Infer *in, const char *what, int axis, Val *out) {
    bool matched;
    Str name = str_printf(in->arena, "cuda.%s.%c", what, "xyz"[axis]);
    if (v_row(in, name, NULL, 0, &matched, out)) return true;
    if (!matched && !in->stop) ti_fail(in, in->at, E0404, name.bytes, "outside a kernel");
    return false;
}

/* Products of sizes and numbers of a launch fit 64 bits: proven not to wrap. */
static Ref exact(Emit *e, Op op, Ref a, Ref b) {
    Ref ref = emit2(e, op, i64_type(e->types), a, b);
    ir_inst(e->out, ref)->sub = FLAG_NOWRAP;
    return ref;
}

static bool grid_axis(Infer *in, bool size, int axis, Val *out) {
    Emit *e = in->emit;
    Val a = {0}, b = {0}, c = {0};
    if (!position(in, size ? "gridDim" : "blockIdx", axis, &a) ||
        !position(in, "blockDim", axis, &b) || (!size && !position(in, "threadIdx", axis, &c)))
        return false;
    *out = val_of(fact_of(ti_wint(in)));
    if (!e) return true;
    const Type *i64 = i64_type(in->types);
    out->ref = exact(e, OP_mul, v_as(in, a, i64), v_as(in, b, i64));
    if (!size) out->ref = exact(e, OP_add, out->ref, v_as(in, c, i64));
    return true;
}

static bool gpu_grid(Infer *in, Str name, const Val *v, const CallArgs *args, Val *out) {
    int64_t n;
    Val axes[3] = {0};
    (void)args;
    if (!fact_int_value(&v[0].f, &n))
        return ti_fail(in, in->at, E0209, "the number of axes of the grid");
    if (n < 1 || n > 3) return ti_fail(in, in->at, E0403, "a grid has 1, 2 or 3 axes");
    for (int axis = 0; axis < n; axis++)
        if (!grid_axis(in, str_is(name, "cuda.gridsize"), axis, &axes[axis])) return false;
    *out = n == 1 ? axes[0] : v_tuple(in, axes, (int32_t)n);
    return true;
}

/* -- arrays of the kernel --------------------------------------------------------------------------- */

static bool static_shape(Infer *in, const Fact *f, const ConstVal **out) {
    const ConstVal *items[32];
    int64_t n;
    if (fact_int_value(f, &n)) {
        items[0] = const_int(in->arena, n);
        return n >= 0 && (*out = const_tuple(in->arena, items, 1));
    }
    if (!f->type || f->type->kind != TY_TUPLE || !f->items || f->type->nitems > 32) return false;
    for (int32_t k = 0; k < f->type->nitems; k++) {
        if (!fact_int_value(&f->items[k], &n) || n < 0) return false;
        items[k] = const_int(in->arena, n);
    }
    *out = const_tuple(in->arena, items, f->type->nitems);
    return true;
}

/* What `alignment` asks for, as the instruction says it: in units of 32 bytes, 0 for up to 16, which all arrays have. */
static bool static_alignment(Infer *in, const Val *v, uint16_t *out) {
    int64_t n = 0;
    *out = 0;
    if (!v->f.type || v->f.type->kind == TY_none) return true;
    if (v->f.type->kind == TY_bool || !fact_int_value(&v->f, &n))
        return ti_fail(in, in->at, E0209, "alignment must be a constant integer: it");
    if (n < 1 || n > MAX_STATIC_ALIGN || (n & (n - 1)))
        return ti_fail(in, in->at, E0605, MAX_STATIC_ALIGN, (long long)n);
    *out = (uint16_t)(n / STATIC_ALIGN_UNIT);
    return true;
}

static bool gpu_array(Infer *in, Str name, const Val *v, const CallArgs *args, Val *out) {
    Emit *e = in->emit;
    const Type *element;
    const ConstVal *sizes;
    Space space = str_is(name, "cuda.shared.array") ? SPACE_SHARED : SPACE_LOCAL;
    (void)args;
    if (!v_element_type(in, &v[1], &element)) return false;
    if (!static_shape(in, &v[0].f, &sizes)) {
        ti_fail(in, in->at, E0602, "");
        return false;
    }
    uint16_t align;
    if (!static_alignment(in, &v[2], &align)) return false;
    bool dynamic = space == SPACE_SHARED && sizes->nitems == 1 && sizes->items[0]->i == 0;
    const Type *type = type_array(in->types, element, sizes->nitems, LAYOUT_C);
    *out = val_of(fact_of(type_array_space(in->types, type, space)));
    if (!dynamic) out->f.items = local_lengths(in, sizes);
    if (!e) return true;
    out->ref = emit_static(e, dynamic ? OP_dynamic_shared : OP_static_array, out->f.type);
    if (dynamic) return true;
    ir_inst(e->out, out->ref)->u.value = sizes;
    ir_inst(e->out, out->ref)->sub = align;
    return true;
}

static bool gpu_const_array(Infer *in, Str name, const Val *v, const CallArgs *args, Val *out) {
    if (!v[0].f.array) return misfit(in, name, args);
    return *out = v[0], true;
}

/* -- atomics ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    AtomicOp op;
    int values;
    bool indexed;
} atomics[] = {
    {"add", ATOMIC_add, 1, true},       {"sub", ATOMIC_sub, 1, true},
    {"and_", ATOMIC_and, 1, true},      {"or_", ATOMIC_or, 1, true},
    {"xor", ATOMIC_xor, 1, true},       {"exch", ATOMIC_exch, 1, true},
    {"max", ATOMIC_max, 1, true},       {"min", ATOMIC_min, 1, true},
    {"nanmax", ATOMIC_nanmax, 1, true}, {"nanmin", ATOMIC_nanmin, 1, true},
    {"inc", ATOMIC_inc, 1, true},       {"dec", ATOMIC_dec, 1, true},
    {"cas", ATOMIC_cas, 2, true},       {"compare_and_swap", ATOMIC_cas, 2, false},
};

static bool atomic_fits(AtomicOp op, const Type *element) {
    static const char *const classes[ATOMIC_COUNT] = {
#define ATOMIC(name, operands, classes) [ATOMIC_##name] = classes,
#include "frontend/ir/ir_atomics.def"
#undef ATOMIC
    };
    static const char letters[] = {0, 0, 'i', 'u', 'f', 'c'}; /* by TypeClass */
    char letter = letters[type_class(element)];
    return letter && strchr(classes[op], letter);
}

static bool gpu_atomic(Infer *in, Str name, int row, const CallArgs *args, Val *out) {
    Emit *e = in->emit;
    int values = atomics[row].values, skip = atomics[row].indexed ? 2 : 1;
    static const char *const params[2][2] = {{NULL, "ary, old, val, /"},
                                             {"ary, idx, val, /", "ary, idx, old, val, /"}};
    Val given[MAX_TYPED_PARAMS];
    if (!v_bind_typed(in, ti_c_text(in, name), params[skip - 1][values - 1], args, given))
        return false;
    if (!is_kind(&given[0], TY_ARRAY)) return misfit(in, name, args);
    Val array = given[0], index = skip == 2 ? given[1] : val_of(fact_int(in, 0));
    const Type *t = array.f.type;
    if (t->readonly) return ti_fail(in, in->at, E0303, ti_text(in, t));
    if (!atomic_fits(atomics[row].op, t->element)) return misfit(in, name, args);
    Ref refs[40] = {0};
    if (!v_element_indices(in, array, index, &refs[1])) return false;
    for (int k = 0; k < values; k++) {
        const Val *v = &given[skip + k];
        if (!type_is_number(v->f.type) ||
            (type_is_complex(v->f.type) && !type_is_complex(t->element)))
            return v_refuse(in, REFUSE_ELEMENT, ti_text(in, t), v, 1);
        if (e) refs[1 + t->ndim + k] = v_as(in, *v, t->element);
    }
    *out = val_of(fact_of(t->element));
    if (!e) return true;
    refs[0] = v_ref(in, array);
    out->ref = emit(e, OP_atomic, t->element, refs, 1 + t->ndim + values);
    ir_inst(e->out, out->ref)->sub = atomics[row].op;
    return true;
}

static int atomic_row(Str name) {
    if (!str_starts(name, "cuda.atomic.")) return -1;
    for (int i = 0; i < countof(atomics); i++)
        if (str_is((Str){name.bytes + 12, name.len - 12}, atomics[i].name)) return i;
    return -1;
}

/* -- by name ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *params;
    bool (*handler)(Infer *in, Str name, const Val *v, const CallArgs *args, Val *out);
} handlers[] = {
    {"cuda.grid", "ndim, /", gpu_grid},
    {"cuda.gridsize", "ndim, /", gpu_grid},
    {"cuda.shared.array", "shape, dtype, alignment=", gpu_array},
    {"cuda.local.array", "shape, dtype, alignment=", gpu_array},
    {"cuda.const.array_like", "ndarray, /", gpu_const_array},
};

const char *gpu_name(Arena *arena, int32_t index) {
    if (index < countof(handlers)) return handlers[index].name;
    index -= countof(handlers);
    return index < countof(atomics) ? str_printf(arena, "cuda.atomic.%s", atomics[index].name).bytes
                                    : NULL;
}

bool gpu_knows(Str name) {
    for (int i = 0; i < countof(handlers); i++)
        if (str_is(name, handlers[i].name)) return true;
    return atomic_row(name) >= 0;
}

bool v_gpu(Infer *in, Str name, const CallArgs *args, bool *known, Val *out) {
    *known = true;
    int row = atomic_row(name);
    bool here = in->kernel || !target_is_host(in->ti->options.target);
    const char *text = ti_c_text(in, name);
    if (!here) return ti_fail(in, in->at, E0404, text, "outside a kernel");
    if (row >= 0) return gpu_atomic(in, name, row, args, out);
    for (int i = 0; i < countof(handlers); i++) {
        Val v[MAX_TYPED_PARAMS];
        if (!str_is(name, handlers[i].name)) continue;
        return v_bind_typed(in, text, handlers[i].params, args, v) &&
               handlers[i].handler(in, name, v, args, out);
    }
    return *known = false;
}
