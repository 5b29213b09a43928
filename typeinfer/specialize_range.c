/* specialize_range.c - ranges in typed code: their length, items and ends, and a little knowledge of
 * signs that lets indices go without wraparound.
 *
 * A range is the tuple (start, stop, step). Its length and items are the ops range_len and range_item, which codegen/opt
 * writes as arithmetic; what is constant, and the items of range(n), which are the counter, are known at once. */
#include "typeinfer/infer.h"

/* -- signs ---------------------------------------------------------------------------------------- */

/* Lengths of axes: memory is smaller than 2**62 elements. Numbers of threads: 2**31 blocks of 2**10. */
enum { SHAPE_BITS = 62, COUNT_BITS = 31, MAX_STEPS = 12 };

void emitted_nonnegative(Emit *e, Ref ref) {
    if (ref >= e->nonnegative.len) vec_resize(e->arena, &e->nonnegative, ref + 16);
    e->nonnegative.items[ref] = true;
}

static int bits_of_type(const Type *type) {
    if (type->kind == TY_bool) return 1;
    return type_class(type) == CLASS_UINT && type_bits(type) < 64 ? type_bits(type) : -1;
}

static int bits_of(Emit *e, Ref ref, int steps);

static int bits_of_both(Emit *e, Ref ref, int32_t first, bool sum, int steps) {
    int a = bits_of(e, ir_arg(e->out, ref, first), steps);
    int b = bits_of(e, ir_arg(e->out, ref, first + 1), steps);
    if (a < 0 || b < 0) return -1;
    return sum ? a + b : QN_MAX(a, b);
}

static int bits_of_lib(const Inst *inst) {
    const LibRow *row = lib_row_of(inst);
    return row && (row->flags & LIB_NONNEGATIVE) ? COUNT_BITS : -1;
}

/* Items lie between the ends, whichever way. */
static int bits_of_item(Emit *e, Ref ref, int steps) {
    Ref start = ir_arg(e->out, ref, 0), stop = ir_arg(e->out, ref, 1),
        step = ir_arg(e->out, ref, 2);
    int64_t by, end;
    bool down = emitted_int(e, step, &by) && by < 0;
    if (down && !(emitted_int(e, stop, &end) && end == -1) && bits_of(e, stop, steps) < 0)
        return -1;
    if (down) return bits_of(e, start, steps) < 0 ? 63 : bits_of(e, start, steps);
    if (bits_of(e, start, steps) < 0 || bits_of(e, step, steps) < 0) return -1;
    return bits_of(e, stop, steps) < 0 ? 63 : bits_of(e, stop, steps);
}

static int bits_of(Emit *e, Ref ref, int steps) {
    const Inst *inst = ir_inst(e->out, ref);
    int64_t value;
    int bits;
    if (ref < e->nonnegative.len && e->nonnegative.items[ref]) return 63;
    if (steps == 0) return -1;
    switch ((Op)inst->op) {
    case OP_const:
        if (!emitted_int(e, ref, &value) || value < 0) return -1;
        return value ? 64 - __builtin_clzll((unsigned long long)value) : 0;
    case OP_shape: return SHAPE_BITS;
    case OP_range_len: return 63;
    case OP_range_item: return bits_of_item(e, ref, steps - 1);
    case OP_check_index: return SHAPE_BITS;
    case OP_lib: return bits_of_lib(inst);
    case OP_select: return bits_of_both(e, ref, 1, false, steps - 1);
    case OP_add:
        bits = bits_of_both(e, ref, 0, false, steps - 1);
        if (bits < 0 || (bits == 63 && inst->sub != FLAG_NOWRAP)) return -1;
        return QN_MIN(bits + 1, 63);
    case OP_mul:
        bits = bits_of_both(e, ref, 0, true, steps - 1);
        if (bits < 0 || (bits > 63 && inst->sub != FLAG_NOWRAP)) return -1;
        return QN_MIN(bits, 63);
    case OP_cast:
        bits = bits_of(e, ir_arg(e->out, ref, 0), steps - 1);
        return type_is_int(inst->type) && bits >= 0 && bits < type_bits(inst->type) ? bits : -1;
    default: return bits_of_type(inst->type);
    }
}

int emitted_bits(Emit *e, Ref ref) {
    return bits_of(e, ref, MAX_STEPS);
}

static bool is_size_of_launch(const Inst *inst) {
    return str_starts(*inst->u.name, "cuda.blockDim.") ||
           str_starts(*inst->u.name, "cuda.gridDim.") || str_is(*inst->u.name, "cuda.warpsize");
}

/* Above zero: sizes of a launch and their products. Where zero steps raise, what is not negative. */
static bool is_positive(Emit *e, Ref ref, int steps) {
    const Inst *inst = ir_inst(e->out, ref);
    int64_t value;
    if (emitted_int(e, ref, &value)) return value > 0;
    if (inst->op == OP_lib) return is_size_of_launch(inst);
    if (inst->op != OP_mul || steps == 0 || emitted_bits(e, ref) < 0) return false;
    return is_positive(e, ir_arg(e->out, ref, 0), steps - 1) &&
           is_positive(e, ir_arg(e->out, ref, 1), steps - 1);
}

/* -- lengths -------------------------------------------------------------------------------------- */

/* Ends and step are constants: so is the length. */
static bool constant_length(Emit *e, Ref start, Ref stop, Ref step, int64_t *n) {
    int64_t low, high, by;
    uint64_t count;
    bool known =
        emitted_int(e, start, &low) && emitted_int(e, stop, &high) && emitted_int(e, step, &by);
    if (!known || by == 0 || ir_type(e->out, start)->kind != TY_i64) return false;
    uint64_t size = by > 0 ? (uint64_t)by : 0 - (uint64_t)by;
    uint64_t span = by > 0 ? (uint64_t)high - (uint64_t)low : (uint64_t)low - (uint64_t)high;
    bool some = by > 0 ? low < high : high < low;
    count = some ? (span - 1) / size + 1 : 0;
    *n = count > INT64_MAX ? INT64_MAX : (int64_t)count;
    return true;
}

static Ref length(Emit *e, Ref start, Ref stop, Ref step, bool small) {
    int64_t n;
    if (constant_length(e, start, stop, step, &n)) return emit_int(e, i64_type(e->types), n);
    Ref ref = emit3(e, OP_range_len, i64_type(e->types), start, stop, step);
    ir_inst(e->out, ref)->sub = small ? FLAG_NO_OVERFLOW : 0;
    return ref;
}

/* max(stop - start, 0), the length of most slices, needs no range to be understood. */
Ref emit_slice_len(Emit *e, Ref start, Ref stop, Ref step) {
    const Type *i64 = i64_type(e->types);
    int64_t by, n;
    if (constant_length(e, start, stop, step, &n)) return emit_int(e, i64, n);
    if (!emitted_int(e, step, &by) || (by != 1 && by != -1))
        return length(e, start, stop, step, true);
    Ref low = by > 0 ? start : stop, high = by > 0 ? stop : start;
    Ref some = emit2(e, OP_lt, bool_type(e->types), low, high), span = high;
    if (!emitted_int(e, low, &n) || n != 0) span = emit2(e, OP_sub, i64, high, low);
    return emit3(e, OP_select, i64, some, span, emit_int(e, i64, 0));
}

Ref emit_range_len(Emit *e, Ref range) {
    return length(e, emit_item(e, range, 0), emit_item(e, range, 1), emit_item(e, range, 2), false);
}

/* -- items ------------------------------------------------------------------------------------------ */

static Ref exact(Emit *e, Op op, Ref a, Ref b, bool proven) {
    Ref ref = emit2(e, op, ir_type(e->out, a), a, b);
    ir_inst(e->out, ref)->sub = proven ? FLAG_NOWRAP : 0;
    return ref;
}

Ref emit_range_item(Emit *e, Ref range, Ref counter) {
    Ref start = emit_item(e, range, 0), stop = emit_item(e, range, 1),
        step = emit_item(e, range, 2);
    const Type *t = ir_type(e->out, start);
    int64_t first, by;
    if (emitted_int(e, start, &first) && first == 0 && emitted_int(e, step, &by) && by == 1)
        return emit_convert(e, counter, i64_type(e->types), t);
    return emit(e, OP_range_item, t, (Ref[]){start, stop, step, counter}, 4);
}

/* start + counter * step, whether there is such an item or not. */
Ref emit_range_at(Emit *e, Ref range, Ref counter) {
    Ref start = emit_item(e, range, 0), step = emit_item(e, range, 2);
    const Type *t = ir_type(e->out, start);
    int64_t known, first;
    bool is_signed = t->kind == TY_i64;
    bool unit = emitted_int(e, step, &known) && (known == 1 || known == -1);
    /* the item lies between start and stop; so does start + counter * step when start >= 0 */
    bool proven =
        is_signed && (unit || (emitted_bits(e, step) >= 0 && emitted_bits(e, start) >= 0));
    if (!unit) counter = exact(e, OP_mul, counter, step, proven);
    counter = emit_convert(e, counter, i64_type(e->types), t);
    if (unit && known == -1) return exact(e, OP_sub, start, counter, proven);
    if (emitted_int(e, start, &first) && first == 0) return counter;
    return exact(e, OP_add, start, counter, proven);
}

/* With a stop and a step below 2**62, no item before the stop is within a step of the largest int. */
Ref emit_range_more(Emit *e, Ref range, Ref counter) {
    Ref stop = emit_item(e, range, 1), step = emit_item(e, range, 2);
    int64_t known;
    if (emitted_int(e, step, &known) && known == 1) return NO_REF;
    if (ir_type(e->out, stop)->kind != TY_i64) return NO_REF;
    int stop_bits = emitted_bits(e, stop), step_bits = emitted_bits(e, step);
    if (stop_bits < 0 || stop_bits > 62 || step_bits < 0 || step_bits > 62) return NO_REF;
    if (!e->guards && !is_positive(e, step, MAX_STEPS)) return NO_REF;
    if (emitted_bits(e, emit_item(e, range, 0)) < 0) return NO_REF;
    return emit2(e, OP_lt, bool_type(e->types), emit_range_at(e, range, counter), stop);
}
