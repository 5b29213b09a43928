/* specialize_copy.c - assignment to all elements of an array, as loops.
 *
 * An array statement reads everything before it writes. If the memory of source and destination may
 * overlap, which a test of their ends decides at run time, the source is copied first. Where all
 * lengths agree the loops are plain; otherwise an axis of length 1 is repeated by a factor 0. */
#include "typeinfer/infer.h"

enum { MAX_AXES = 32 };

Ref emit_length(Emit *e, Ref array, int32_t axis) {
    Ref n = emit1(e, OP_shape, i64_type(e->types), array);
    ir_inst(e->out, n)->imm = axis;
    return n;
}

/* -- loops ------------------------------------------------------------------------------------------ */

static void open_loops(Emit *e, Ref array, EmitLoop *loops) {
    for (int32_t k = 0; k < ir_type(e->out, array)->ndim; k++)
        emit_loop_begin(e, emit_length(e, array, k), &loops[k]);
}

static void close_loops(Emit *e, Ref array, EmitLoop *loops) {
    for (int32_t k = ir_type(e->out, array)->ndim; k-- > 0;)
        emit_loop_end(e, &loops[k]);
}

void emit_fill(Emit *e, Ref dst, Ref value) {
    EmitLoop loops[MAX_AXES];
    Ref args[MAX_AXES + 2] = {dst};
    int32_t n = ir_type(e->out, dst)->ndim;
    open_loops(e, dst, loops);
    for (int32_t k = 0; k < n; k++)
        args[k + 1] = loops[k].counter;
    args[n + 1] = value;
    emit(e, OP_store, NULL, args, n + 2);
    close_loops(e, dst, loops);
}

/* factors: by axis of src 0 or 1, or NULL when src has the shape of dst. */
static void copy_loops(Emit *e, Ref dst, Ref src, const Ref *factors) {
    const Type *to = ir_type(e->out, dst), *from = ir_type(e->out, src);
    EmitLoop loops[MAX_AXES];
    Ref store[MAX_AXES + 2] = {dst}, load[MAX_AXES + 1] = {src};
    int32_t skip = to->ndim - from->ndim;
    open_loops(e, dst, loops);
    for (int32_t k = 0; k < to->ndim; k++) {
        store[k + 1] = loops[k].counter;
        if (k < skip) continue;
        Ref at = loops[k].counter;
        if (factors) {
            at = emit2(e, OP_mul, i64_type(e->types), at, factors[k - skip]);
            ir_inst(e->out, at)->sub = FLAG_NOWRAP;
        }
        load[k - skip + 1] = at;
    }
    Ref value = emit(e, OP_load, from->element, load, from->ndim + 1);
    store[to->ndim + 1] = emit_convert(e, value, from->element, to->element);
    emit(e, OP_store, NULL, store, to->ndim + 2);
    close_loops(e, dst, loops);
}

/* -- shapes ------------------------------------------------------------------------------------------ */

/* Raises where the shapes do not fit; gives `any axis is repeated`, and the factors. */
static Ref check_shapes(Emit *e, Ref dst, Ref src, Ref *factors) {
    const Type *to = ir_type(e->out, dst), *from = ir_type(e->out, src);
    const Type *b = bool_type(e->types), *i64 = i64_type(e->types);
    Ref one = emit_int(e, i64, 1), zero = emit_int(e, i64, 0), repeated = NO_REF;
    Guard guard = to->ndim == 1 && from->ndim == 1 ? GUARD_broadcast : GUARD_broadcast_axis;
    for (int32_t k = 0; k < from->ndim; k++) {
        Ref n = emit_length(e, src, k), m = emit_length(e, dst, to->ndim - from->ndim + k);
        Ref differs = emit2(e, OP_ne, b, n, m), args[2] = {n, m};
        Ref several = emit2(e, OP_ne, b, n, one);
        emit_guard(e, guard, emit2(e, OP_and, b, differs, several), args, 2);
        factors[k] = emit3(e, OP_select, i64, several, one, zero);
        repeated = repeated ? emit2(e, OP_or, b, repeated, differs) : differs;
    }
    return repeated;
}

static void copy_direct(Emit *e, Ref dst, Ref src, Ref repeated, const Ref *factors) {
    if (!repeated) {
        copy_loops(e, dst, src, NULL);
        return;
    }
    int32_t plain = emit_block(e), general = emit_block(e), after = emit_block(e);
    emit_branch(e, repeated, general, plain);
    e->block = plain;
    copy_loops(e, dst, src, NULL);
    emit_jump(e, after);
    e->block = general;
    copy_loops(e, dst, src, factors);
    emit_jump(e, after);
    e->block = after;
}

/* -- overlap ------------------------------------------------------------------------------------------ */

/* The bytes from `ends[0]` to `ends[1]` hold the array, if it has elements. */
static void memory_of(Emit *e, Ref array, Ref ends[2]) {
    const Type *i64 = i64_type(e->types), *type = ir_type(e->out, array);
    Str *name = arena_new(e->arena, Str);
    *name = STR("ndarray.address");
    Ref low = emit1(e, OP_lib, i64, array), zero = emit_int(e, i64, 0);
    ir_inst(e->out, low)->u.name = name;
    ir_inst(e->out, low)->imm = lib_find(*name);
    Ref high = emit2(e, OP_add, i64, low, emit_int(e, i64, type_size(type->element)));
    for (int32_t k = 0; k < type->ndim; k++) {
        Ref stride = emit1(e, OP_stride, i64, array);
        ir_inst(e->out, stride)->imm = k;
        Ref last = emit2(e, OP_sub, i64, emit_length(e, array, k), emit_int(e, i64, 1));
        Ref way = emit2(e, OP_mul, i64, last, stride);
        Ref down = emit2(e, OP_lt, bool_type(e->types), way, zero);
        low = emit2(e, OP_add, i64, low, emit3(e, OP_select, i64, down, way, zero));
        high = emit2(e, OP_add, i64, high, emit3(e, OP_select, i64, down, zero, way));
    }
    ends[0] = low, ends[1] = high;
}

static Ref overlap(Emit *e, Ref a, Ref b) {
    Ref x[2], y[2];
    memory_of(e, a, x);
    memory_of(e, b, y);
    const Type *boolean = bool_type(e->types);
    return emit2(e, OP_and, boolean, emit2(e, OP_lt, boolean, x[0], y[1]),
                 emit2(e, OP_lt, boolean, y[0], x[1]));
}

static Ref emit_clone(Emit *e, Ref src) {
    const Type *from = ir_type(e->out, src);
    Ref shape[MAX_AXES];
    for (int32_t k = 0; k < from->ndim; k++)
        shape[k] = emit_length(e, src, k);
    const Type *fresh = type_array(e->types, from->element, from->ndim, LAYOUT_C);
    Ref copy = emit(e, OP_alloc, fresh, shape, from->ndim);
    copy_loops(e, copy, src, NULL);
    return copy;
}

/* Kernels cannot allocate; there the copy is direct, and who overlaps writes a loop. */
static bool may_overlap(Emit *e, Ref dst, Ref src) {
    if (!e->allocates) return false;
    return ir_inst(e->out, src)->op != OP_alloc && ir_inst(e->out, dst)->op != OP_alloc;
}

void emit_copy(Emit *e, Ref dst, Ref src) {
    Ref factors[MAX_AXES];
    Ref repeated = check_shapes(e, dst, src, factors);
    if (!may_overlap(e, dst, src)) {
        copy_direct(e, dst, src, repeated, factors);
        return;
    }
    Ref shared = overlap(e, dst, src);
    int32_t apart = emit_block(e), together = emit_block(e), after = emit_block(e);
    emit_branch(e, shared, together, apart);
    e->block = apart;
    copy_direct(e, dst, src, repeated, factors);
    emit_jump(e, after);
    e->block = together;
    copy_loops(e, dst, emit_clone(e, src), ir_type(e->out, src)->ndim ? factors : NULL);
    emit_jump(e, after);
    e->block = after;
}
