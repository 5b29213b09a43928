/* specialize_copy.c - assignment to all elements of an array, as loops.
 *
 * An array statement reads everything before it writes. If the memory of source and destination may
 * overlap, which a test of their ends decides at run time, the source is copied first. Where all
 * lengths agree the loops are plain; otherwise an axis of length 1 is repeated by a factor 0. */
#include "typeinfer/infer.h"

enum { MAX_AXES = 32 };

static const Type *i64_type(Infer *in) {
    return type_scalar(in->types, TY_i64);
}

static const Type *bool_type(Infer *in) {
    return type_scalar(in->types, TY_bool);
}

Ref emit_length(Infer *in, Ref array, int32_t axis) {
    Ref n = emit1(in, OP_shape, i64_type(in), array);
    ir_inst(in->out, n)->imm = axis;
    return n;
}

/* -- loops ------------------------------------------------------------------------------------------ */

static void open_loops(Infer *in, Ref array, EmitLoop *loops) {
    for (int32_t k = 0; k < ir_type(in->out, array)->ndim; k++)
        emit_loop_begin(in, emit_length(in, array, k), &loops[k]);
}

static void close_loops(Infer *in, Ref array, EmitLoop *loops) {
    for (int32_t k = ir_type(in->out, array)->ndim; k-- > 0;)
        emit_loop_end(in, &loops[k]);
}

void emit_fill(Infer *in, Ref dst, Ref value) {
    EmitLoop loops[MAX_AXES];
    Ref args[MAX_AXES + 2] = {dst};
    int32_t n = ir_type(in->out, dst)->ndim;
    open_loops(in, dst, loops);
    for (int32_t k = 0; k < n; k++)
        args[k + 1] = loops[k].counter;
    args[n + 1] = value;
    emit(in, OP_store, NULL, args, n + 2);
    close_loops(in, dst, loops);
}

/* factors: by axis of src 0 or 1, or NULL when src has the shape of dst. */
static void copy_loops(Infer *in, Ref dst, Ref src, const Ref *factors) {
    const Type *to = ir_type(in->out, dst), *from = ir_type(in->out, src);
    EmitLoop loops[MAX_AXES];
    Ref store[MAX_AXES + 2] = {dst}, load[MAX_AXES + 1] = {src};
    int32_t skip = to->ndim - from->ndim;
    open_loops(in, dst, loops);
    for (int32_t k = 0; k < to->ndim; k++) {
        store[k + 1] = loops[k].counter;
        if (k < skip) continue;
        Ref at = loops[k].counter;
        if (factors) {
            at = emit2(in, OP_mul, i64_type(in), at, factors[k - skip]);
            ir_inst(in->out, at)->sub = FLAG_NOWRAP;
        }
        load[k - skip + 1] = at;
    }
    Ref value = emit(in, OP_load, from->element, load, from->ndim + 1);
    store[to->ndim + 1] = emit_convert(in, value, from->element, to->element);
    emit(in, OP_store, NULL, store, to->ndim + 2);
    close_loops(in, dst, loops);
}

/* -- shapes ------------------------------------------------------------------------------------------ */

/* Raises where the shapes do not fit; gives `any axis is repeated`, and the factors. */
static Ref check_shapes(Infer *in, Ref dst, Ref src, Ref *factors) {
    const Type *to = ir_type(in->out, dst), *from = ir_type(in->out, src);
    const Type *b = bool_type(in), *i64 = i64_type(in);
    Ref one = emit_int(in, i64, 1), zero = emit_int(in, i64, 0), repeated = NO_REF;
    Guard guard = to->ndim == 1 && from->ndim == 1 ? GUARD_broadcast : GUARD_broadcast_axis;
    for (int32_t k = 0; k < from->ndim; k++) {
        Ref n = emit_length(in, src, k), m = emit_length(in, dst, to->ndim - from->ndim + k);
        Ref differs = emit2(in, OP_ne, b, n, m), args[2] = {n, m};
        Ref several = emit2(in, OP_ne, b, n, one);
        emit_guard(in, guard, emit2(in, OP_and, b, differs, several), args, 2);
        factors[k] = emit3(in, OP_select, i64, several, one, zero);
        repeated = repeated ? emit2(in, OP_or, b, repeated, differs) : differs;
    }
    return repeated;
}

static void copy_direct(Infer *in, Ref dst, Ref src, Ref repeated, const Ref *factors) {
    if (!repeated) {
        copy_loops(in, dst, src, NULL);
        return;
    }
    int32_t plain = emit_block(in), general = emit_block(in), after = emit_block(in);
    emit_branch(in, repeated, general, plain);
    in->block = plain;
    copy_loops(in, dst, src, NULL);
    emit_jump(in, after);
    in->block = general;
    copy_loops(in, dst, src, factors);
    emit_jump(in, after);
    in->block = after;
}

/* -- overlap ------------------------------------------------------------------------------------------ */

/* The bytes from `ends[0]` to `ends[1]` hold the array, if it has elements. */
static void memory_of(Infer *in, Ref array, Ref ends[2]) {
    const Type *i64 = i64_type(in), *type = ir_type(in->out, array);
    Str *name = arena_new(in->arena, Str);
    *name = STR("ndarray.address");
    Ref low = emit1(in, OP_lib, i64, array), zero = emit_int(in, i64, 0);
    ir_inst(in->out, low)->u.name = name;
    ir_inst(in->out, low)->imm = lib_find(*name);
    Ref high = emit2(in, OP_add, i64, low, emit_int(in, i64, type_size(type->element)));
    for (int32_t k = 0; k < type->ndim; k++) {
        Ref stride = emit1(in, OP_stride, i64, array);
        ir_inst(in->out, stride)->imm = k;
        Ref last = emit2(in, OP_sub, i64, emit_length(in, array, k), emit_int(in, i64, 1));
        Ref way = emit2(in, OP_mul, i64, last, stride);
        Ref down = emit2(in, OP_lt, bool_type(in), way, zero);
        low = emit2(in, OP_add, i64, low, emit3(in, OP_select, i64, down, way, zero));
        high = emit2(in, OP_add, i64, high, emit3(in, OP_select, i64, down, zero, way));
    }
    ends[0] = low, ends[1] = high;
}

static Ref overlap(Infer *in, Ref a, Ref b) {
    Ref x[2], y[2];
    memory_of(in, a, x);
    memory_of(in, b, y);
    const Type *boolean = bool_type(in);
    return emit2(in, OP_and, boolean, emit2(in, OP_lt, boolean, x[0], y[1]),
                 emit2(in, OP_lt, boolean, y[0], x[1]));
}

static Ref emit_clone(Infer *in, Ref src) {
    const Type *from = ir_type(in->out, src);
    Ref shape[MAX_AXES];
    for (int32_t k = 0; k < from->ndim; k++)
        shape[k] = emit_length(in, src, k);
    const Type *fresh = type_array(in->types, from->element, from->ndim, LAYOUT_C);
    Ref copy = emit(in, OP_alloc, fresh, shape, from->ndim);
    copy_loops(in, copy, src, NULL);
    return copy;
}

/* Kernels cannot allocate; there the copy is direct, and who overlaps writes a loop. */
static bool may_overlap(Infer *in, Ref dst, Ref src) {
    if (in->kernel || !target_is_host(in->ti->options.target)) return false;
    return ir_inst(in->out, src)->op != OP_alloc && ir_inst(in->out, dst)->op != OP_alloc;
}

void emit_copy(Infer *in, Ref dst, Ref src) {
    Ref factors[MAX_AXES];
    Ref repeated = check_shapes(in, dst, src, factors);
    if (!may_overlap(in, dst, src)) {
        copy_direct(in, dst, src, repeated, factors);
        return;
    }
    Ref shared = overlap(in, dst, src);
    int32_t apart = emit_block(in), together = emit_block(in), after = emit_block(in);
    emit_branch(in, shared, together, apart);
    in->block = apart;
    copy_direct(in, dst, src, repeated, factors);
    emit_jump(in, after);
    in->block = together;
    copy_loops(in, dst, emit_clone(in, src), ir_type(in->out, src)->ndim ? factors : NULL);
    emit_jump(in, after);
    in->block = after;
}
