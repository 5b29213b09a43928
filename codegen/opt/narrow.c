/* narrow.c - in the fast variant of GPU kernels: int64 arithmetic that stays in int32 is done in int32.
 *
 * A GPU has no 64-bit integer unit: an addition takes two instructions, a product four to six, a division a hundred.
 * Python's ints are int64, but nearly all of them in a kernel are numbers of threads, lengths and sums of these.
 * The launch promises FAST_LIMIT for the sizes of arrays and of the grid, and for the int parameters that are marked
 * small here, before it takes the fast variant; from there an interval for each value follows its definition. A phi
 * gets one when its loop adds to it up to a limit tested in the header, subtracts from it down to one, or divides it.
 * Values that fit int32, as all their operands do, become i32; casts stand where the two worlds meet, most of which
 * cost nothing (the low half of a register, a sign extension inside an address). */
#include "codegen/opt/pass.h"
#include "codegen/target.h"

typedef struct Range {
    bool known;
    int64_t lo, hi;
    uint64_t params; /* it was computed from the promised limits of these parameters */
} Range;

typedef struct Narrow {
    Func *func;
    Cfg cfg;
    const Type *i32, *i64;
    enum { NEW, OPEN, DONE } * state; /* of each value */
    Range *ranges;
    uint64_t params; /* asked for by the computations that are open */
    /* of what a latch gives to a phi: narrower than its operands tell, after the test */
    Range *rounds;
    Bits small; /* values that become i32 */
    Ref *as32, *as64;
    int depth; /* of the chain of definitions that is being followed */
} Narrow;

enum { MAX_DEPTH = 64 };

static Range range_of(Narrow *s, Ref ref);

/* -- intervals ------------------------------------------------------------------------------------- */

static Range unknown(void) {
    return (Range){0};
}

static Range between(int64_t lo, int64_t hi) {
    return (Range){lo <= hi, lo, hi, 0};
}

static bool fits(Range r) {
    return r.known && r.lo >= INT32_MIN && r.hi <= INT32_MAX;
}

static Range either(Range a, Range b) {
    if (!a.known || !b.known) return unknown();
    return between(QN_MIN(a.lo, b.lo), QN_MAX(a.hi, b.hi));
}

static Range sum(Range a, Range b) {
    Range r = {.known = true};
    if (!a.known || !b.known || __builtin_add_overflow(a.lo, b.lo, &r.lo) ||
        __builtin_add_overflow(a.hi, b.hi, &r.hi))
        return unknown();
    return r;
}

static Range negative(Range r) {
    return r.known && r.lo > INT64_MIN ? between(-r.hi, -r.lo) : unknown();
}

static Range product(Range a, Range b) {
    int64_t ends[4];
    if (!a.known || !b.known || __builtin_mul_overflow(a.lo, b.lo, &ends[0]) ||
        __builtin_mul_overflow(a.lo, b.hi, &ends[1]) ||
        __builtin_mul_overflow(a.hi, b.lo, &ends[2]) ||
        __builtin_mul_overflow(a.hi, b.hi, &ends[3]))
        return unknown();
    return between(QN_MIN(QN_MIN(ends[0], ends[1]), QN_MIN(ends[2], ends[3])),
                   QN_MAX(QN_MAX(ends[0], ends[1]), QN_MAX(ends[2], ends[3])));
}

/* Rounded down; 0 for a divisor of 0. */
static Range quotient(Range a, Range b) {
    if (!a.known || !b.known) return unknown();
    int64_t low = QN_MIN(a.lo, 0), high = QN_MAX(a.hi, 0);
    if (b.lo >= 0) return between(low, high / QN_MAX(b.lo, 1));
    return between(QN_MIN(low, -high), QN_MAX(high, -QN_MAX(low, -INT64_MAX)));
}

/* Between 0 and the divisor. */
static Range remainder_of(Range b) {
    return b.known ? between(QN_MIN(b.lo, -1) + 1, QN_MAX(b.hi, 1) - 1) : unknown();
}

static Range bitwise(Op op, Range a, Range b) {
    bool a_ok = a.known && a.lo >= 0, b_ok = b.known && b.lo >= 0;
    if (op == OP_and && a_ok && b_ok) return between(0, QN_MIN(a.hi, b.hi));
    if (op == OP_and && (a_ok || b_ok)) return between(0, a_ok ? a.hi : b.hi);
    if (op == OP_and || !a_ok || !b_ok) return unknown();
    int64_t all = 1;
    while (all <= QN_MAX(a.hi, b.hi) && all < INT64_C(1) << 62)
        all <<= 1;
    return between(0, all - 1);
}

/* By a constant count. */
static Range shifted(const Narrow *s, Ref ref, Range a) {
    int64_t count;
    if (!a.known || !opt_const_int(s->func, ir_arg(s->func, ref, 1), &count) || count < 0 ||
        count > 31)
        return unknown();
    if (ir_inst(s->func, ref)->op == OP_shl)
        return product(a, between(INT64_C(1) << count, INT64_C(1) << count));
    return between(a.lo >> count, a.hi >> count);
}

/* -- leaves ---------------------------------------------------------------------------------------- */

static Range range_of_type(const Type *type) {
    int bits = type_is_int(type) || type->kind == TY_bool ? type_bits(type) : 64;
    if (type->kind == TY_bool) return between(0, 1);
    if (bits >= 64) return unknown();
    int64_t half = INT64_C(1) << (bits - 1);
    return type_class(type) == CLASS_UINT ? between(0, 2 * half - 1) : between(-half, half - 1);
}

/* Which of the numbers of the launch is it? GEN_none: none. */
static GenId launch_number(const Narrow *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    return row && row->nvptx.kind == LOWER_GEN ? (GenId)row->nvptx.id : GEN_none;
}

static Range range_of_launch(GenId which) {
    switch ((int)which) {
    case GEN_thread_x:
    case GEN_thread_y:
    case GEN_thread_z: return between(0, MAX_BLOCK_THREADS - 1);
    case GEN_blockdim_x:
    case GEN_blockdim_y:
    case GEN_blockdim_z: return between(1, MAX_BLOCK_THREADS);
    case GEN_block_x:
    case GEN_block_y:
    case GEN_block_z: return between(0, FAST_BLOCKS - 1);
    case GEN_griddim_x:
    case GEN_griddim_y:
    case GEN_griddim_z: return between(1, FAST_BLOCKS);
    case GEN_lane: return between(0, 63);
    case GEN_warpsize: return between(32, 64);
    default: return unknown();
    }
}

/* The threads of the grid along an axis, or those of the blocks before this one: the launch limits the product, not
 * just its factors. */
static Range range_of_product(Narrow *s, Ref a, Ref b) {
    static const GenId products[][2] = {
        {GEN_block_x, GEN_blockdim_x}, {GEN_griddim_x, GEN_blockdim_x},
        {GEN_block_y, GEN_blockdim_y}, {GEN_griddim_y, GEN_blockdim_y},
        {GEN_block_z, GEN_blockdim_z}, {GEN_griddim_z, GEN_blockdim_z}};
    GenId x = launch_number(s, a), y = launch_number(s, b);
    for (size_t i = 0; i < countof(products); i++) {
        const GenId *p = products[i];
        if ((x == p[0] && y == p[1]) || (y == p[0] && x == p[1]))
            return between(0, i % 2 == 0 ? FAST_LIMIT - 1 : FAST_LIMIT);
    }
    return product(range_of(s, a), range_of(s, b));
}

/* -- phis ------------------------------------------------------------------------------------------ */

/* What the test in the header of a loop leaves of `phi` inside: phi <= high, phi >= low. */
static void limits(Narrow *s, Ref phi, int32_t loop, int64_t *low, int64_t *high) {
    Func *f = s->func;
    int32_t header = s->cfg.loops.items[loop].header;
    Ref branch = ir_terminator(f, header);
    *low = INT64_MIN, *high = INT64_MAX;
    if (ir_inst(f, branch)->op != OP_branch ||
        !opt_in_loop(&s->cfg, loop, ir_inst(f, branch)->target[0]) ||
        opt_in_loop(&s->cfg, loop, ir_inst(f, branch)->target[1]))
        return;
    Ref test = ir_arg(f, branch, 0);
    const Inst *inst = ir_inst(f, test);
    if ((inst->op != OP_lt && inst->op != OP_le) || inst->block != header) return;
    int64_t strict = inst->op == OP_lt;
    Ref a = ir_arg(f, test, 0), b = ir_arg(f, test, 1);
    Range other = range_of(s, a == phi ? b : a);
    if (!other.known) return;
    if (a == phi && other.hi > INT64_MIN) *high = other.hi - strict;
    if (b == phi && other.lo < INT64_MAX) *low = other.lo + strict;
}

/* How many rounds a loop has at most whose counter begins with 0 and is tested in the header; -1: not known. */
static int64_t most_rounds(Narrow *s, int32_t loop) {
    Func *f = s->func;
    int32_t header = s->cfg.loops.items[loop].header;
    const Block *block = &f->blocks.items[header];
    Ref branch = ir_terminator(f, header);
    if (ir_inst(f, branch)->op != OP_branch) return -1;
    Ref test = ir_arg(f, branch, 0),
        counter = ir_inst(f, test)->op == OP_lt ? ir_arg(f, test, 0) : NO_REF;
    int64_t low, high, n;
    if (counter == NO_REF || ir_inst(f, counter)->op != OP_phi ||
        ir_inst(f, counter)->block != header)
        return -1;
    for (int32_t i = 0; i < ir_inst(f, counter)->nargs; i++) {
        Ref value = ir_arg(f, counter, i);
        if (!opt_in_loop(&s->cfg, loop, block->preds.items[i])) {
            if (!opt_const_int(f, value, &n) || n < 0) return -1;
        } else if (ir_inst(f, value)->op != OP_add || ir_arg(f, value, 0) != counter ||
                   !opt_const_int(f, ir_arg(f, value, 1), &n) || n < 1)
            return -1;
    }
    limits(s, counter, loop, &low, &high);
    return high < INT64_MAX ? QN_MAX(high + 1, 0) : -1;
}

/* What grows by up to `by` in each round of a loop. */
static Range grown(Narrow *s, Range start, Range by, int32_t loop) {
    int64_t rounds = most_rounds(s, loop);
    return rounds < 0 ? unknown() : sum(start, product(between(0, rounds), by));
}

/* Where the rounds of a loop take a phi. Each range of a round relies on all of them going one way. */
typedef enum Way { STAYS = 0, UP = 1, DOWN = 2, TO_ZERO = 4 } Way;

/* The values that a round of the loop gives to `phi`, which was in `start` before the first; adds its way to *ways. */
static Range next_round(Narrow *s, Ref phi, Ref next, Range start, int32_t loop, unsigned *ways) {
    Func *f = s->func;
    const Inst *inst = ir_inst(f, next);
    int64_t low, high;
    if (next == phi) return start;
    if (inst->nargs != 2) return unknown();
    Ref x = ir_arg(f, next, 0), y = ir_arg(f, next, 1);
    if (inst->op == OP_add && y == phi) y = x, x = phi;
    if (x != phi) return unknown();
    Range by = range_of(s, y);
    if (inst->op == OP_sub) by = negative(by);
    if (!by.known) return unknown();
    limits(s, phi, loop, &low, &high);
    switch (inst->op) {
    case OP_add:
    case OP_sub:
        *ways |= by.lo >= 0 ? UP : DOWN;
        if (by.lo >= 0 && high < INT64_MAX) return sum(between(QN_MIN(start.lo, high), high), by);
        if (by.hi <= 0 && low > INT64_MIN) return sum(between(low, QN_MAX(start.hi, low)), by);
        return by.lo >= 0 ? grown(s, start, by, loop) : unknown();
    case OP_mul:
        *ways |= UP;
        if (start.lo < 0 || by.lo < 1 || high < 0) return unknown();
        return product(between(0, high), by);
    case OP_floordiv:
        *ways |= TO_ZERO;
        return start.lo >= 0 && by.lo >= 1 ? between(0, start.hi) : unknown();
    case OP_shr:
        *ways |= TO_ZERO;
        return start.lo >= 0 && by.lo >= 0 ? between(0, start.hi) : unknown();
    default: return unknown();
    }
}

/* The values of a phi of a loop after its first round; they are noted for the operations that make them, too. */
static Range range_of_rounds(Narrow *s, Ref phi, Range start, int32_t loop) {
    int32_t header = s->cfg.loops.items[loop].header;
    const Block *block = &s->func->blocks.items[header];
    unsigned ways = STAYS;
    Range all = start;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs && all.known; i++) {
            Ref next = ir_arg(s->func, phi, i);
            if (!opt_in_loop(&s->cfg, loop, block->preds.items[i])) continue;
            Range round = next_round(s, phi, next, start, loop, &ways);
            all = either(all, round);
            if (ways & (ways - 1)) return unknown(); /* there and back */
            round.params = s->params;
            if (pass == 1 && next != phi && ir_inst(s->func, next)->block != header)
                s->rounds[next] = round;
        }
    return all;
}

static Range range_of_phi(Narrow *s, Ref phi) {
    const Block *block = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    int32_t here = ir_inst(s->func, phi)->block, loop = s->cfg.loop_of[here];
    bool header = loop >= 0 && s->cfg.loops.items[loop].header == here;
    Range start = unknown();
    bool first = true;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        if (header && opt_in_loop(&s->cfg, loop, block->preds.items[i])) continue;
        Range r = range_of(s, ir_arg(s->func, phi, i));
        start = first ? r : either(start, r);
        first = false;
    }
    return header && start.known ? range_of_rounds(s, phi, start, loop) : start;
}

/* -- values ---------------------------------------------------------------------------------------- */

static Range range_of_wrap(Narrow *s, Ref index, Ref n) {
    Range i = range_of(s, index), length = range_of(s, n);
    if (!i.known || i.lo >= 0 || !length.known) return i;
    return between(i.lo, QN_MAX(i.hi, length.hi - 1));
}

/* The launch is asked to promise for parameters of the kernel what it does for lengths. */
static Range range_of_param(Narrow *s, Ref ref) {
    int64_t i = ir_inst(s->func, ref)->imm;
    if (s->func != s->func->module->funcs.items[0] || i >= 64) return unknown();
    s->params |= UINT64_C(1) << i;
    return between(-FAST_LIMIT, FAST_LIMIT);
}

static Range range_of_lib(Narrow *s, Ref ref) {
    GenId which = launch_number(s, ref);
    if ((which != GEN_min && which != GEN_max) || ir_inst(s->func, ref)->nargs != 2)
        return range_of_launch(which);
    Range a = range_of(s, ir_arg(s->func, ref, 0)), b = range_of(s, ir_arg(s->func, ref, 1));
    if (!a.known || !b.known) return unknown();
    return which == GEN_min ? between(QN_MIN(a.lo, b.lo), QN_MIN(a.hi, b.hi))
                            : between(QN_MAX(a.lo, b.lo), QN_MAX(a.hi, b.hi));
}

static Range compute(Narrow *s, Ref ref) {
    Func *f = s->func;
    const Inst *inst = ir_inst(f, ref);
    Ref a = inst->nargs > 0 ? ir_arg(f, ref, 0) : NO_REF,
        b = inst->nargs > 1 ? ir_arg(f, ref, 1) : NO_REF;
    int64_t value;
    switch (inst->op) {
    case OP_const: return opt_const_int(f, ref, &value) ? between(value, value) : unknown();
    case OP_shape: return between(0, FAST_LIMIT);
    case OP_param: return range_of_param(s, ref);
    case OP_lib: return range_of_lib(s, ref);
    case OP_phi: return range_of_phi(s, ref);
    case OP_add: return sum(range_of(s, a), range_of(s, b));
    case OP_sub: return sum(range_of(s, a), negative(range_of(s, b)));
    case OP_mul: return range_of_product(s, a, b);
    case OP_floordiv: return quotient(range_of(s, a), range_of(s, b));
    case OP_mod: return remainder_of(range_of(s, b));
    case OP_and:
    case OP_or:
    case OP_xor: return bitwise((Op)inst->op, range_of(s, a), range_of(s, b));
    case OP_shl:
    case OP_shr: return shifted(s, ref, range_of(s, a));
    case OP_select: return either(range_of(s, b), range_of(s, ir_arg(f, ref, 2)));
    case OP_cast:
    case OP_check_index: return range_of(s, a); /* work-items go on behind a check that failed */
    case OP_wrap_index: return range_of_wrap(s, a, b);
    default: return unknown();
    }
}

static Range range_of(Narrow *s, Ref ref) {
    const Type *type = ir_type(s->func, ref);
    if (!type || !(type_is_int(type) || type->kind == TY_bool)) return unknown();
    if (type->kind != TY_i64) return range_of_type(type);
    if (s->state[ref] == OPEN) return unknown(); /* a cycle that no rule for phis describes */
    if (s->state[ref] == NEW) {
        if (s->depth == MAX_DEPTH) return unknown();
        s->depth++;
        uint64_t outer = s->params;
        s->params = 0;
        s->state[ref] = OPEN;
        Range range = compute(s, ref);
        range.params = s->params;
        s->ranges[ref] = s->rounds[ref].known ? s->rounds[ref] : range;
        s->state[ref] = DONE;
        s->params = outer;
        s->depth--;
    }
    s->params |= s->ranges[ref].params;
    return s->ranges[ref];
}

/* -- choosing -------------------------------------------------------------------------------------- */

static bool operands_fit(Narrow *s, Ref ref, int from) {
    for (int32_t k = from; k < ir_inst(s->func, ref)->nargs; k++)
        if (!fits(range_of(s, ir_arg(s->func, ref, k)))) return false;
    return true;
}

static bool becomes_small(Narrow *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    if (inst->type != s->i64) return false;
    switch (inst->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_floordiv:
    case OP_mod:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_shl:
    case OP_shr:
    case OP_phi: return fits(range_of(s, ref)) && operands_fit(s, ref, 0);
    case OP_select: return fits(range_of(s, ref)) && operands_fit(s, ref, 1);
    case OP_cast:
        return ir_type(s->func, ir_arg(s->func, ref, 0)) != s->i64 && fits(range_of(s, ref));
    default: return false;
    }
}

/* Comparisons of what fits are done in 32 bits, whether their operands are small or only lengths and the like. */
static bool compares_small(Narrow *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    if (inst->op != OP_lt && inst->op != OP_le && inst->op != OP_eq && inst->op != OP_ne)
        return false;
    const Type *a = ir_type(s->func, ir_arg(s->func, ref, 0)),
               *b = ir_type(s->func, ir_arg(s->func, ref, 1));
    return (a == s->i64 || b == s->i64) && operands_fit(s, ref, 0);
}

/* -- rewriting ------------------------------------------------------------------------------------- */

/* `ref` as a value of `type`, by a cast behind it; one for all its users. */
static Ref cast_behind(Narrow *s, Ref ref, const Type *type) {
    Func *f = s->func;
    Ref *known = type == s->i32 ? s->as32 : s->as64;
    int64_t value;
    if (known[ref]) return known[ref];
    if (opt_const_int(f, ref, &value)) return known[ref] = ir_const_int(f, type, value);
    int32_t block = ir_inst(f, ref)->block, at = opt_position(f, ref) + 1;
    const Block *b = &f->blocks.items[block];
    while (at < b->insts.len && (ir_op_info[ir_inst(f, b->insts.items[at])->op].flags & OPF_PINNED))
        at++;
    Ref cast = ir_insert(f, block, at, OP_cast, &ref, 1);
    ir_inst(f, cast)->type = type;
    ir_inst(f, cast)->span = ir_inst(f, ref)->span;
    return known[ref] = cast;
}

static void rewrite_operands(Narrow *s, Ref ref, bool small) {
    Func *f = s->func;
    for (int32_t k = 0; k < ir_inst(f, ref)->nargs; k++) {
        Ref arg = ir_arg(f, ref, k);
        bool is_small = bits_get(&s->small, arg);
        if (small && !is_small && ir_type(f, arg) == s->i64) {
            Ref cast = cast_behind(s, arg, s->i32);
            ir_args(f, ref)[k] = cast;
        } else if (!small && is_small) {
            Ref cast = cast_behind(s, arg, s->i64);
            ir_args(f, ref)[k] = cast;
        }
    }
}

static void rewrite(Narrow *s, const Bits *compares, int32_t n) {
    Func *f = s->func;
    for (Ref ref = 1; ref < n; ref++) {
        if (!bits_get(&s->small, ref)) continue;
        ir_inst(f, ref)->type = s->i32;
        Op op = (Op)ir_inst(f, ref)->op;
        if (op == OP_add || op == OP_sub || op == OP_mul)
            ir_inst(f, ref)->sub = FLAG_NOWRAP; /* proven: no wrap */
    }
    for (Ref ref = 1; ref < n; ref++) {
        Op op = (Op)ir_inst(f, ref)->op;
        if (op == OP_removed || op == OP_const) continue;
        if (op == OP_cast) continue; /* from any number to any number: the value is the same */
        rewrite_operands(s, ref, bits_get(&s->small, ref) || bits_get(compares, ref));
    }
}

void opt_narrow(PassContext *ctx, Func *func) {
    const CompileOptions *options = ctx->options;
    if (target_is_host(options->infer.target) || options->general_variant ||
        options->entry != ENTRY_KERNEL)
        return;
    int32_t n = func->insts.len;
    Narrow s = {.func = func,
                .i32 = type_scalar(ctx->module->types, TY_i32),
                .i64 = type_scalar(ctx->module->types, TY_i64),
                .state = arena_zalloc(ctx->arena, sizeof *s.state * (size_t)n),
                .ranges = arena_array(ctx->arena, Range, n),
                .rounds = arena_array(ctx->arena, Range, n),
                .small = bits_new(ctx->arena, n),
                .as32 = arena_array(ctx->arena, Ref, n),
                .as64 = arena_array(ctx->arena, Ref, n)};
    cfg_compute(&s.cfg, ctx->arena, func);
    Bits compares = bits_new(ctx->arena, n);
    uint64_t promised = 0;
    for (Ref ref = 1; ref < n; ref++) {
        if (ir_inst(func, ref)->op == OP_removed) continue;
        s.params = 0;
        bool small = becomes_small(&s, ref), compare = compares_small(&s, ref);
        if (small) bits_set(&s.small, ref);
        if (compare) bits_set(&compares, ref);
        if (small || compare) promised |= s.params;
    }
    for (Ref ref = 1; ref < n; ref++) {
        Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_param && inst->imm < 64)
            inst->sub = promised >> inst->imm & 1 ? FLAG_SMALL : 0;
    }
    rewrite(&s, &compares, n);
}
