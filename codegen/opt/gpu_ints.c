/* gpu_ints.c - what values the ints of a GPU kernel can have, in its fast variant.
 *
 * The launch promises FAST_LIMIT for the sizes of arrays and of the grid, and for the int parameters that are marked
 * small (narrow.c), before it takes the fast variant; from there an interval for each value follows its definition. A phi
 * gets one when its loop adds to it up to a limit tested in the header or on the way back, subtracts from it down to one, divides it,
 * or adds to it in each of a limited number of rounds. An int made of a float is limited where min and max limit the float, and where it
 * is an index at once. */
#include "codegen/opt/gpu_ints.h"
#include "codegen/target.h"

#include <math.h>

struct GpuInts {
    Func *func;
    Cfg cfg;
    enum { NEW, OPEN, DONE } * state; /* of each value */
    IntRange *ranges;
    ParamSigns signs;
    uint64_t params; /* asked for by the computations that are open */
    /* of what a latch gives to a phi: narrower than its operands tell, after the test */
    IntRange *rounds;
    int depth;    /* of the chain of definitions that is being followed */
    int tries;    /* left of assumptions about phis */
    bool loose;   /* floats are added in any order */
    bool endless; /* some arrays are addresses alone, without a length */
    int32_t n;
    Arena *arena;
};

enum { MAX_DEPTH = 64, MAX_TRIES = 100 };

static IntRange range_of(GpuInts *s, Ref ref);

/* -- intervals ------------------------------------------------------------------------------------- */

static IntRange unknown(void) {
    return (IntRange){0};
}

static IntRange between(int64_t lo, int64_t hi) {
    return (IntRange){lo <= hi, lo, hi, 0};
}

bool gpu_int_fits(IntRange r) {
    return r.known && r.lo >= INT32_MIN && r.hi <= INT32_MAX;
}

static IntRange either(IntRange a, IntRange b) {
    if (!a.known || !b.known) return unknown();
    return between(QN_MIN(a.lo, b.lo), QN_MAX(a.hi, b.hi));
}

static IntRange sum(IntRange a, IntRange b) {
    IntRange r = {.known = true};
    if (!a.known || !b.known || __builtin_add_overflow(a.lo, b.lo, &r.lo) ||
        __builtin_add_overflow(a.hi, b.hi, &r.hi))
        return unknown();
    return r;
}

/* Half of it may be known: min(x, 9) of any x. */
static IntRange all_ints(void) {
    return between(INT64_MIN, INT64_MAX);
}

static bool is_half_known(IntRange r) {
    return r.known && (r.lo == INT64_MIN || r.hi == INT64_MAX);
}

static IntRange negative(IntRange r) {
    return r.known && r.lo > INT64_MIN ? between(-r.hi, -r.lo) : unknown();
}

static IntRange product(IntRange a, IntRange b) {
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
static IntRange quotient(IntRange a, IntRange b) {
    if (!a.known || !b.known) return unknown();
    int64_t low = QN_MIN(a.lo, 0), high = QN_MAX(a.hi, 0), least = QN_MAX(b.lo, 1);
    if (b.lo >= 0) return between(low / least - (low % least != 0), high / least);
    return between(QN_MIN(low, -high), QN_MAX(high, -QN_MAX(low, -INT64_MAX)));
}

/* Between 0 and the divisor. */
static IntRange remainder_of(IntRange b) {
    return b.known ? between(QN_MIN(b.lo, -1) + 1, QN_MAX(b.hi, 1) - 1) : unknown();
}

/* Of negative numbers as many high bits are equal as the operands have in common: the result has no more bits than the longer one. */
static IntRange bitwise(Op op, IntRange a, IntRange b) {
    bool a_ok = a.known && a.lo >= 0, b_ok = b.known && b.lo >= 0;
    if (op == OP_and && a_ok && b_ok) return between(0, QN_MIN(a.hi, b.hi));
    if (op == OP_and && (a_ok || b_ok)) return between(0, a_ok ? a.hi : b.hi);
    if (!a.known || !b.known) return unknown();
    int64_t all = 1, low = QN_MIN(a.lo, b.lo), high = QN_MAX(a.hi, b.hi);
    while ((all <= high || -all > low) && all < INT64_C(1) << 62)
        all <<= 1;
    if (all <= high || -all > low) return unknown();
    return between(a_ok && b_ok ? 0 : -all, all - 1);
}

/* By a constant count. */
static IntRange shifted(const GpuInts *s, Ref ref, IntRange a) {
    int64_t count;
    if (!a.known || !opt_const_int(s->func, ir_arg(s->func, ref, 1), &count) || count < 0 ||
        count > 31)
        return unknown();
    if (ir_inst(s->func, ref)->op == OP_shl)
        return product(a, between(INT64_C(1) << count, INT64_C(1) << count));
    return between(a.lo >> count, a.hi >> count);
}

/* -- leaves ---------------------------------------------------------------------------------------- */

static IntRange range_of_type(const Type *type) {
    int bits = type_is_int(type) || type->kind == TY_bool ? type_bits(type) : 64;
    if (type->kind == TY_bool) return between(0, 1);
    if (bits >= 64) return unknown();
    int64_t half = INT64_C(1) << (bits - 1);
    return type_class(type) == CLASS_UINT ? between(0, 2 * half - 1) : between(-half, half - 1);
}

GenId gpu_generator(const Inst *inst) {
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    return row && row->nvptx.kind == LOWER_GEN ? (GenId)row->nvptx.id : GEN_none;
}

/* Which of the numbers of the launch is it? GEN_none: none. */
static GenId launch_number(const GpuInts *s, Ref ref) {
    return gpu_generator(ir_inst(s->func, ref));
}

static IntRange range_of_launch(GenId which) {
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
static IntRange range_of_product(GpuInts *s, Ref a, Ref b) {
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

/* The number of the thread along an axis, which the launch limits, too. */
static IntRange range_of_sum(GpuInts *s, Ref a, Ref b) {
    static const GenId threads[][3] = {{GEN_thread_x, GEN_block_x, GEN_blockdim_x},
                                       {GEN_thread_y, GEN_block_y, GEN_blockdim_y},
                                       {GEN_thread_z, GEN_block_z, GEN_blockdim_z}};
    for (int k = 0; k < 2; k++) {
        Ref product = k ? b : a, thread = k ? a : b;
        if (ir_inst(s->func, product)->op != OP_mul) continue;
        GenId t = launch_number(s, thread), x = launch_number(s, ir_arg(s->func, product, 0)),
              y = launch_number(s, ir_arg(s->func, product, 1));
        for (size_t i = 0; i < countof(threads); i++) {
            const GenId *n = threads[i];
            if (t == n[0] && ((x == n[1] && y == n[2]) || (x == n[2] && y == n[1])))
                return between(0, FAST_LIMIT - 1);
        }
    }
    return sum(range_of(s, a), range_of(s, b));
}

/* -- phis ------------------------------------------------------------------------------------------ */

/* phi * times, as a range with a step has it. */
static bool is_multiple(const Func *f, Ref ref, Ref phi, int64_t *times) {
    const Inst *inst = ir_inst(f, ref);
    return inst->op == OP_mul && inst->sub == FLAG_NOWRAP && ir_arg(f, ref, 0) == phi &&
           opt_const_int(f, ir_arg(f, ref, 1), times) && *times > 0;
}

/* What the test in the header of a loop leaves of `phi` inside: phi <= high, phi >= low. */
static void limits(GpuInts *s, Ref phi, int32_t loop, int64_t *low, int64_t *high) {
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
    int64_t times = 1;
    if (is_multiple(f, a, phi, &times)) a = phi;
    if (a != phi && b != phi) return; /* asked for too early, what a round makes is not known */
    IntRange other = range_of(s, a == phi ? b : a);
    if (!other.known) return;
    bool above = a == phi && other.hi > INT64_MIN;
    if (above && other.hi - strict >= 0) *high = (other.hi - strict) / times;
    if (above && times == 1) *high = other.hi - strict;
    if (b == phi && other.lo < INT64_MAX) *low = other.lo + strict;
}

static int64_t with(int64_t a, int64_t b) {
    int64_t r;
    return !__builtin_add_overflow(a, b, &r) ? r : b > 0 ? INT64_MAX : INT64_MIN;
}

/* What the tests on the way to a phi leave of what it gets from there. */
static void limits_of_edge(GpuInts *s, Ref value, int32_t from, int32_t to, int64_t *low,
                           int64_t *high) {
    FactList facts = {.value = value, .upper = true};
    *low = INT64_MIN, *high = INT64_MAX;
    opt_facts(s->func, &s->cfg, from, to, &facts);
    for (int i = 0; i < facts.n; i++) {
        IntRange bound = range_of(s, facts.items[i].bound);
        if (bound.known) *high = QN_MIN(*high, with(bound.hi, facts.items[i].by));
    }
    facts = (FactList){.value = value, .upper = false};
    opt_facts(s->func, &s->cfg, from, to, &facts);
    for (int i = 0; i < facts.n; i++) {
        IntRange bound = range_of(s, facts.items[i].bound);
        if (bound.known) *low = QN_MAX(*low, with(bound.lo, facts.items[i].by));
    }
}

/* What is left of a range behind tests; where nothing is, one of its ends. */
static IntRange limited(IntRange r, int64_t low, int64_t high) {
    if (r.known && r.hi > high) r.hi = QN_MAX(r.lo, high);
    if (r.known && r.lo < low) r.lo = QN_MIN(r.hi, low);
    return r;
}

static IntRange range_on_edge(GpuInts *s, Ref value, int32_t from, int32_t to) {
    int64_t low, high, k;
    IntRange r = range_of(s, value);
    if (opt_const_int(s->func, value, &k) || s->cfg.rpo_number[from] < 0) return r;
    limits_of_edge(s, value, from, to, &low, &high);
    if (!r.known && low == INT64_MIN && high == INT64_MAX) return r;
    return limited(r.known ? r : all_ints(), low, high);
}

enum { MOST_ROOT = 1 << 30 };

static bool is_square(const Func *f, Ref ref, Ref of) {
    const Inst *inst = ir_inst(f, ref);
    return inst->op == OP_mul && inst->type->kind == TY_i64 && ir_arg(f, ref, 0) == of &&
           ir_arg(f, ref, 1) == of;
}

/* The root of what the test on an edge leaves of value * value, as trial divisions have it; INT64_MAX: none, or none that is small. That the
 * square does not wrap is up to the caller. */
static int64_t root_on_edge(GpuInts *s, Ref value, int32_t from, int32_t to) {
    Func *f = s->func;
    const Inst *branch = ir_inst(f, ir_terminator(f, from));
    if (branch->op != OP_branch || branch->target[0] == branch->target[1]) return INT64_MAX;
    Ref test = ir_arg(f, ir_terminator(f, from), 0);
    const Inst *inst = ir_inst(f, test);
    if (inst->op != OP_lt && inst->op != OP_le) return INT64_MAX;
    bool truth = branch->target[0] == to;
    Ref square = ir_arg(f, test, !truth), bound = ir_arg(f, test, truth);
    if (!is_square(f, square, value) || ir_type(f, bound)->kind != TY_i64) return INT64_MAX;
    int64_t strict = (inst->op == OP_lt) == truth;
    IntRange r = range_of(s, bound);
    if (!r.known || r.hi > (INT64_C(1) << 60)) return INT64_MAX;
    int64_t most = QN_MAX(r.hi - strict, 0), root = (int64_t)sqrt((double)most) + 1;
    while (root * root > most)
        root--;
    return root;
}

/* Where the rounds of a loop take a phi. Each range of a round relies on all of them going one way. */
typedef enum Way { STAYS = 0, UP = 1, DOWN = 2, TO_ZERO = 4 } Way;

/* A phi of a header: what it is before the first round, and what the tests leave of it, in the body behind the header and on the ways back. */
typedef struct Rounds {
    Ref phi;
    int32_t loop, header;
    IntRange start;
    int64_t low, high;           /* behind the header */
    int64_t low_back, high_back; /* on all ways back */
    bool roots; /* which holds only as long as squares do not wrap: no step may be large */
} Rounds;

/* The least of the edge and of those that lead to it. */
static int64_t root_on_way(GpuInts *s, Ref value, int32_t from, int32_t to) {
    enum { MOST_EDGES = 8 };
    int64_t least = root_on_edge(s, value, from, to);
    for (int n = 0; n < MOST_EDGES && s->cfg.idom[from] != NO_BLOCK; n++, from = to) {
        to = s->cfg.idom[from];
        if (s->func->blocks.items[from].preds.len == 1)
            least = QN_MIN(least, root_on_edge(s, value, to, from));
    }
    return least;
}

/* Of a value whose square is tested. What starts at 2^30 at most, and grows by as much from there or from a root that is no more, has squares
 * below 2^63. */
static void limit_root(GpuInts *s, Rounds *r, Ref value, int32_t from, int32_t to, int64_t *high) {
    if (r->start.lo < 0 || r->start.hi > MOST_ROOT) return;
    int64_t root = root_on_way(s, value, from, to);
    if (root >= *high || root > MOST_ROOT) return;
    *high = root;
    r->roots = true;
}

/* The block that the header's test leads to inside. */
static int32_t inside(const GpuInts *s, const Rounds *r) {
    const Inst *branch = ir_inst(s->func, ir_terminator(s->func, r->header));
    for (int k = 0; branch->op == OP_branch && k < 2; k++)
        if (opt_in_loop(&s->cfg, r->loop, branch->target[k]) &&
            !opt_in_loop(&s->cfg, r->loop, branch->target[!k]))
            return branch->target[k];
    return NO_BLOCK;
}

static void limits_of_rounds(GpuInts *s, Rounds *r) {
    const Block *block = &s->func->blocks.items[r->header];
    limits(s, r->phi, r->loop, &r->low, &r->high);
    int32_t body = inside(s, r);
    if (body != NO_BLOCK) limit_root(s, r, r->phi, r->header, body, &r->high);
    r->low_back = INT64_MAX, r->high_back = INT64_MIN;
    for (int32_t i = 0; i < ir_inst(s->func, r->phi)->nargs; i++) {
        int32_t latch = block->preds.items[i];
        Ref next = ir_arg(s->func, r->phi, i);
        int64_t low, high;
        if (next == r->phi || !opt_in_loop(&s->cfg, r->loop, latch)) continue;
        limits_of_edge(s, next, latch, r->header, &low, &high);
        limit_root(s, r, next, latch, r->header, &high);
        r->low_back = QN_MIN(r->low_back, low);
        r->high_back = QN_MAX(r->high_back, high);
    }
    r->low_back = QN_MIN(r->low_back, r->start.lo);
    r->high_back = QN_MAX(r->high_back, r->start.hi);
}

/* The values that a round of the loop gives to the phi; adds its way to *ways. */
static IntRange next_round(GpuInts *s, const Rounds *r, Ref next, unsigned *ways) {
    Func *f = s->func;
    const Inst *inst = ir_inst(f, next);
    IntRange start = r->start;
    if (next == r->phi) return start;
    if (inst->op != OP_add && inst->op != OP_sub && inst->op != OP_mul && inst->op != OP_floordiv &&
        inst->op != OP_shr)
        return unknown();
    Ref x = ir_arg(f, next, 0), y = ir_arg(f, next, 1);
    if (inst->op == OP_add && y == r->phi) y = x, x = r->phi;
    if (x != r->phi) return unknown();
    IntRange by = range_of(s, y);
    if (inst->op == OP_sub) by = negative(by);
    if (!by.known) return unknown();
    int64_t high = QN_MIN(r->high, r->high_back), low = QN_MAX(r->low, r->low_back);
    if (r->roots && (inst->op != OP_add || by.lo < 0 || by.hi > MOST_ROOT || high > MOST_ROOT))
        return unknown(); /* a way back without a root may have more to add to */
    switch (inst->op) {
    case OP_add:
    case OP_sub:
        *ways |= by.lo >= 0 ? UP : DOWN;
        if (by.lo >= 0 && high < INT64_MAX) return sum(between(QN_MIN(start.lo, high), high), by);
        if (by.hi <= 0 && low > INT64_MIN) return sum(between(low, QN_MAX(start.hi, low)), by);
        return unknown();
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
static IntRange range_of_rounds(GpuInts *s, Ref phi, IntRange start, int32_t loop) {
    Rounds r = {.phi = phi, .loop = loop, .start = start};
    r.header = s->cfg.loops.items[loop].header;
    const Block *block = &s->func->blocks.items[r.header];
    unsigned ways = STAYS;
    IntRange all = start;
    limits_of_rounds(s, &r);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs && all.known; i++) {
            Ref next = ir_arg(s->func, phi, i);
            if (!opt_in_loop(&s->cfg, loop, block->preds.items[i])) continue;
            IntRange round = next_round(s, &r, next, &ways);
            all = either(all, limited(round, r.low_back, r.high_back));
            if (ways & (ways - 1)) return unknown(); /* there and back */
            round.params = s->params;
            if (pass == 1 && next != phi && ir_inst(s->func, next)->block != r.header)
                s->rounds[next] = round;
        }
    return all;
}

/* -- what grows in each round ------------------------------------------------------------------------- */

enum { DELTA_DEPTH = 6 };

static bool is_header(const GpuInts *s, Ref phi, int32_t *loop) {
    int32_t block = ir_inst(s->func, phi)->block;
    *loop = s->cfg.loop_of[block];
    return *loop >= 0 && s->cfg.loops.items[*loop].header == block;
}

/* What each round adds to the phi at least, or takes from it; 0: nobody knows. */
static int64_t least_step(GpuInts *s, Ref phi, int32_t loop) {
    const Block *block = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    int64_t least = INT64_MAX;
    int way = 0;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        Ref next = ir_arg(s->func, phi, i);
        const Inst *inst = ir_inst(s->func, next);
        if (!opt_in_loop(&s->cfg, loop, block->preds.items[i])) continue;
        if ((inst->op != OP_add && inst->op != OP_sub) || ir_arg(s->func, next, 0) != phi) return 0;
        IntRange by = range_of(s, ir_arg(s->func, next, 1));
        if (inst->op == OP_sub) by = negative(by);
        int this_way = !by.known ? 0 : by.lo >= 1 ? 1 : by.hi <= -1 ? -1 : 0;
        if (!this_way || (way && way != this_way)) return 0;
        way = this_way;
        least = QN_MIN(least, way > 0 ? by.lo : -QN_MAX(by.hi, -INT64_MAX));
    }
    return way ? least : 0;
}

/* What a phi is before the first round. */
static IntRange start_of(GpuInts *s, Ref phi, int32_t loop) {
    const Block *block = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    IntRange start = unknown();
    bool first = true;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        if (opt_in_loop(&s->cfg, loop, block->preds.items[i])) continue;
        IntRange r = range_on_edge(s, ir_arg(s->func, phi, i), block->preds.items[i],
                                   ir_inst(s->func, phi)->block);
        start = first ? r : either(start, r);
        first = false;
    }
    return start;
}

/* 1: each round multiplies the phi by a constant, -1: it divides it by one, 0: neither. *least and *most of these constants: ways back may
 * have several. */
static int way_of_factors(GpuInts *s, Ref phi, int32_t loop, int64_t *least, int64_t *most) {
    const Block *block = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    int way = 0;
    *least = INT64_MAX, *most = 1;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++) {
        Ref next = ir_arg(s->func, phi, i);
        if (!opt_in_loop(&s->cfg, loop, block->preds.items[i])) continue;
        const Inst *inst = ir_inst(s->func, next);
        bool shift = inst->op == OP_shl || inst->op == OP_shr;
        bool up = inst->op == OP_mul || inst->op == OP_shl;
        if (!shift && inst->op != OP_mul && inst->op != OP_floordiv) return 0;
        Ref x = ir_arg(s->func, next, 0), y = ir_arg(s->func, next, 1);
        if (inst->op == OP_mul && y == phi) y = x, x = phi;
        int64_t by;
        if (x != phi || !opt_const_int(s->func, y, &by) || by < 1 || by > 30) return 0;
        if (shift) by = INT64_C(1) << by;
        if (by < 2 || way == (up ? -1 : 1)) return 0;
        way = up ? 1 : -1;
        *least = QN_MIN(*least, by), *most = QN_MAX(*most, by);
    }
    return way;
}

/* How often can 1 grow by the factor until it is above a limit? */
static int64_t logarithm(int64_t limit, int64_t factor) {
    int64_t n = 1;
    for (int64_t v = 1; v <= limit / factor; v *= factor)
        n++;
    return n;
}

/* How often a loop goes back to its header whose phi doubles up to a limit, or halves down to 1; -1: nobody knows. */
static int64_t rounds_of_factors(GpuInts *s, Ref phi, int32_t loop) {
    int64_t least, most;
    int way = way_of_factors(s, phi, loop, &least, &most);
    if (!way) return -1;
    Rounds r = {.phi = phi, .loop = loop, .start = start_of(s, phi, loop)};
    r.header = s->cfg.loops.items[loop].header;
    if (!r.start.known || r.start.lo < 1) return -1;
    limits_of_rounds(s, &r);
    if (way < 0) return QN_MAX(r.low, r.low_back) < 1 ? -1 : logarithm(r.start.hi, least);
    int64_t high = QN_MIN(r.high, r.high_back);
    return r.roots || high > INT32_MAX ? -1 : logarithm(QN_MAX(high, 1), least);
}

/* How often does the loop go back to its header at most? -1: nobody knows. */
static int64_t rounds_of(GpuInts *s, int32_t loop) {
    const Block *block = &s->func->blocks.items[s->cfg.loops.items[loop].header];
    int64_t fewest = -1;
    for (int32_t k = 0; k < block->insts.len; k++) {
        Ref phi = block->insts.items[k];
        if (ir_inst(s->func, phi)->op != OP_phi) break;
        if (ir_type(s->func, phi)->kind != TY_i64) continue;
        int64_t step = least_step(s, phi, loop), rounds;
        IntRange r = step ? range_of(s, phi) : unknown();
        if (r.known && r.hi - (__int128)r.lo <= INT32_MAX)
            rounds = (r.hi - r.lo) / step;
        else if ((rounds = rounds_of_factors(s, phi, loop)) < 0)
            continue;
        fewest = fewest < 0 ? rounds : QN_MIN(fewest, rounds);
    }
    return fewest;
}

static IntRange delta(GpuInts *s, Ref ref, Ref phi, int32_t loop, int depth);

static IntRange delta_of_rounds(GpuInts *s, Ref phi, int32_t loop, int depth) {
    const Block *block = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    IntRange each = between(0, 0);
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++)
        if (opt_in_loop(&s->cfg, loop, block->preds.items[i]))
            each = either(each, delta(s, ir_arg(s->func, phi, i), phi, loop, depth));
    int64_t rounds = each.known ? rounds_of(s, loop) : -1;
    return rounds < 0 ? unknown() : product(each, between(0, rounds));
}

/* By how much `ref`, in the loop, is more than the phi of its header. */
static IntRange delta(GpuInts *s, Ref ref, Ref phi, int32_t loop, int depth) {
    Func *f = s->func;
    const Inst *inst = ir_inst(f, ref);
    int32_t inner;
    if (ref == phi) return between(0, 0);
    if (depth == 0 || inst->type->kind != TY_i64 || !opt_in_loop(&s->cfg, loop, inst->block))
        return unknown();
    if (inst->op == OP_add || inst->op == OP_sub)
        for (int k = 0; k < (inst->op == OP_add ? 2 : 1); k++) {
            IntRange d = delta(s, ir_arg(f, ref, k), phi, loop, depth - 1);
            IntRange by = d.known ? range_of(s, ir_arg(f, ref, 1 - k)) : d;
            if (d.known) return sum(d, inst->op == OP_add ? by : negative(by));
        }
    if (inst->op != OP_phi && inst->op != OP_select) return unknown();
    bool header = inst->op == OP_phi && is_header(s, ref, &inner), first = true;
    IntRange all = unknown();
    for (int32_t i = inst->op == OP_select; i < ir_inst(f, ref)->nargs; i++) {
        if (header && opt_in_loop(&s->cfg, inner, f->blocks.items[inst->block].preds.items[i]))
            continue;
        IntRange d = delta(s, ir_arg(f, ref, i), phi, loop, depth - 1);
        all = first ? d : either(all, d);
        first = false;
    }
    return header && all.known ? sum(all, delta_of_rounds(s, ref, inner, depth - 1)) : all;
}

/* Of a phi that each of a limited number of rounds multiplies. */
static IntRange range_of_growth(GpuInts *s, Ref phi, IntRange start, int32_t loop) {
    int64_t least, most, high = start.hi;
    if (start.lo < 0 || way_of_factors(s, phi, loop, &least, &most) <= 0) return unknown();
    int64_t rounds = rounds_of(s, loop);
    for (int64_t i = 0; i < rounds && high; i++)
        if (__builtin_mul_overflow(high, most, &high)) return unknown();
    return rounds < 0 ? unknown() : between(start.lo, high);
}

/* -- phis, all of them --------------------------------------------------------------------------------- */

/* -- by assumption ------------------------------------------------------------------------------------- */

static bool covers(IntRange a, IntRange b) {
    return b.known && a.lo <= b.lo && b.hi <= a.hi;
}

/* What was unknown while a phi was open may be known now; `all`: what is being computed, too. */
static void forget_unknown(GpuInts *s, bool all) {
    for (int32_t ref = 1; ref < s->n; ref++)
        if (s->state[ref] == DONE ? !s->ranges[ref].known : all) s->state[ref] = NEW;
}

/* What the rounds make of a phi that is taken to be in `assumed`, and what it starts as. What was computed for that is forgotten:
 * it says nothing of the parameters that the assumption needs. */
static IntRange after_a_round(GpuInts *s, Ref phi, IntRange assumed, IntRange start, int32_t loop) {
    const Block *block = &s->func->blocks.items[ir_inst(s->func, phi)->block];
    size_t n = (size_t)s->n;
    void *state = arena_copy(s->arena, s->state, sizeof *s->state * n);
    void *ranges = arena_copy(s->arena, s->ranges, sizeof *s->ranges * n);
    void *rounds = arena_copy(s->arena, s->rounds, sizeof *s->rounds * n);
    IntRange all = start;
    forget_unknown(s, true);
    s->state[phi] = DONE;
    s->ranges[phi] = assumed;
    s->tries--;
    for (int32_t i = 0; i < ir_inst(s->func, phi)->nargs; i++)
        if (opt_in_loop(&s->cfg, loop, block->preds.items[i]))
            all = either(all, range_on_edge(s, ir_arg(s->func, phi, i), block->preds.items[i],
                                            ir_inst(s->func, phi)->block));
    memcpy(s->state, state, sizeof *s->state * n);
    memcpy(s->ranges, ranges, sizeof *s->ranges * n);
    memcpy(s->rounds, rounds, sizeof *s->rounds * n);
    return all;
}

/* A range that no round leaves: that of the start, what rounds add to it at first, all lengths from there, the words of 32 bits. */
static IntRange range_by_assumption(GpuInts *s, Ref phi, IntRange start, int32_t loop) {
    enum { ROUNDS = 3 };
    IntRange assumed = start, words = between(0, UINT32_MAX);
    if (is_half_known(start)) return unknown();
    for (int i = 0; i < ROUNDS && s->tries > 0; i++) {
        IntRange next = after_a_round(s, phi, assumed, start, loop);
        if (covers(assumed, next)) return assumed;
        if (!next.known) break;
        assumed = either(assumed, next);
        if (i == ROUNDS - 2 && assumed.hi < FAST_LIMIT) assumed.hi = FAST_LIMIT;
    }
    if (s->tries <= 0 || !covers(words, start)) return unknown();
    return covers(words, after_a_round(s, phi, words, start, loop)) ? words : unknown();
}

static IntRange range_of_phi(GpuInts *s, Ref phi) {
    int32_t loop;
    bool header = is_header(s, phi, &loop);
    IntRange start = start_of(s, phi, header ? loop : -1); /* no header: all that it is */
    if (!header || !start.known) return start;
    IntRange rounds = range_of_rounds(s, phi, start, loop);
    if (!rounds.known) rounds = sum(start, delta_of_rounds(s, phi, loop, DELTA_DEPTH));
    if (!rounds.known) rounds = range_of_growth(s, phi, start, loop);
    if (rounds.known) return rounds;
    rounds = range_by_assumption(s, phi, start, loop);
    if (rounds.known) forget_unknown(s, false);
    return rounds;
}

/* -- ints made of floats ------------------------------------------------------------------------------ */

/* What a float can be; or (nan) no number. */
typedef struct FloatRange {
    double lo, hi;
    bool nan;
} FloatRange;

enum { FLOAT_DEPTH = 8 };

static FloatRange any_float(void) {
    return (FloatRange){-INFINITY, INFINITY, true};
}

/* Rounded to float32 it may be a little less or more, or infinite. */
static FloatRange rounded(FloatRange r) {
    const double part = 0x1p-20, most = 1e37;
    if (!(r.lo >= -most && r.hi <= most)) r.nan = true;
    r.lo = r.lo >= -most ? r.lo - fabs(r.lo) * part : -INFINITY;
    r.hi = r.hi <= most ? r.hi + fabs(r.hi) * part : INFINITY;
    return r;
}

/* The tests in front of it count, too: x < width means that there is a column. */
static FloatRange float_of_int(GpuInts *s, Ref ref, Ref from) {
    int64_t low, high, k;
    IntRange r = range_of(s, from);
    if (!r.known) return any_float();
    if (!opt_const_int(s->func, from, &k)) {
        limits_of_edge(s, from, ir_inst(s->func, ref)->block, NO_BLOCK, &low, &high);
        r = limited(r, low, high);
    }
    return rounded((FloatRange){(double)r.lo, (double)r.hi, false});
}

/* The result is one of both. Where one is no number it may be the other, or none. */
static FloatRange float_choice(FloatRange a, FloatRange b, bool least) {
    FloatRange r = {.nan = a.nan || b.nan};
    double lo = a.nan ? b.lo : b.nan ? a.lo : QN_MAX(a.lo, b.lo);
    double hi = a.nan ? b.hi : b.nan ? a.hi : QN_MIN(a.hi, b.hi);
    bool both = a.nan && b.nan;
    r.lo = least || both ? QN_MIN(a.lo, b.lo) : lo;
    r.hi = least && !both ? hi : QN_MAX(a.hi, b.hi);
    return r;
}

static bool is_finite(FloatRange r) {
    return isfinite(r.lo) && isfinite(r.hi);
}

static FloatRange float_product(FloatRange a, FloatRange b) {
    if (!is_finite(a) || !is_finite(b)) return any_float();
    double p = a.lo * b.lo, q = a.lo * b.hi, u = a.hi * b.lo, v = a.hi * b.hi;
    return rounded((FloatRange){QN_MIN(QN_MIN(p, q), QN_MIN(u, v)),
                                QN_MAX(QN_MAX(p, q), QN_MAX(u, v)), a.nan || b.nan});
}

static FloatRange float_sum(FloatRange a, FloatRange b) {
    if (!is_finite(a) || !is_finite(b)) return any_float();
    return rounded((FloatRange){a.lo + b.lo, a.hi + b.hi, a.nan || b.nan});
}

static FloatRange float_range(GpuInts *s, Ref ref, int depth) {
    Func *f = s->func;
    const Inst *inst = ir_inst(f, ref);
    if ((inst->type->kind != TY_f32 && inst->type->kind != TY_f64) || depth == 0)
        return any_float();
    Ref a = inst->nargs > 0 ? ir_arg(f, ref, 0) : NO_REF,
        b = inst->nargs > 1 ? ir_arg(f, ref, 1) : NO_REF;
    GenId which = launch_number(s, ref);
    switch (inst->op) {
    case OP_const:
        if (inst->u.value->kind != CONST_FLOAT) return any_float();
        return rounded((FloatRange){inst->u.value->re, inst->u.value->re, false});
    case OP_cast:
        return type_is_int(ir_type(f, a)) ? float_of_int(s, ref, a)
                                          : rounded(float_range(s, a, depth - 1));
    case OP_add: return float_sum(float_range(s, a, depth - 1), float_range(s, b, depth - 1));
    case OP_sub: {
        FloatRange y = float_range(s, b, depth - 1);
        return float_sum(float_range(s, a, depth - 1), (FloatRange){-y.hi, -y.lo, y.nan});
    }
    case OP_mul: return float_product(float_range(s, a, depth - 1), float_range(s, b, depth - 1));
    case OP_lib:
        if ((which != GEN_min && which != GEN_max) || inst->nargs != 2) return any_float();
        return float_choice(float_range(s, a, depth - 1), float_range(s, b, depth - 1),
                            which == GEN_min);
    default: return any_float();
    }
}

static bool has_index(const Func *f, Ref access, Ref index) {
    const Inst *inst = ir_inst(f, access);
    if (inst->op != OP_load && inst->op != OP_store && inst->op != OP_atomic) return false;
    for (int32_t k = 1; k <= ir_type(f, ir_arg(f, access, 0))->ndim; k++)
        if (ir_arg(f, access, k) == index) return true;
    return false;
}

/* Is an element read or written by this index, or by what is wrapped of it, in the block that makes it? Then it is one of an array wherever it
 * is made: nothing leaves a block in between, and who reads out of bounds reads what is nobody's. An index that is tested is another value. */
static bool is_index_at_once(const GpuInts *s, Ref ref) {
    const Func *f = s->func;
    const Block *block = &f->blocks.items[ir_inst(f, ref)->block];
    Ref names[4] = {ref};
    int n = 1;
    for (int32_t i = opt_position(f, ref) + 1; i < block->insts.len; i++) {
        Ref at = block->insts.items[i];
        for (int k = 0; k < n; k++)
            if (has_index(f, at, names[k])) return true;
        bool wrapped = ir_inst(f, at)->op == OP_wrap_index && ir_arg(f, at, 0) == ref;
        if (wrapped && n < countof(names)) names[n++] = at;
    }
    return false;
}

/* Of what is no number it makes 0. */
static IntRange range_of_cast(GpuInts *s, Ref ref, Ref from) {
    const double most = 0x1p60;
    if (!type_is_float(ir_type(s->func, from))) return range_of(s, from);
    FloatRange r = float_range(s, from, FLOAT_DEPTH);
    if (s->loose || !(r.lo >= -most && r.hi <= most))
        return !s->endless && is_index_at_once(s, ref) ? between(-FAST_LIMIT, FAST_LIMIT - 1)
                                                       : unknown();
    int64_t lo = (int64_t)r.lo, hi = (int64_t)r.hi;
    return between(r.nan ? QN_MIN(lo, 0) : lo, r.nan ? QN_MAX(hi, 0) : hi);
}

/* -- values ---------------------------------------------------------------------------------------- */

static IntRange range_of_wrap(GpuInts *s, Ref index, Ref n) {
    IntRange i = range_of(s, index), length = range_of(s, n);
    if (!i.known || i.lo >= 0 || !length.known) return i;
    return between(i.lo, QN_MAX(i.hi, length.hi - 1));
}

/* The launch is asked to promise for parameters of the kernel what it does for lengths. One of ours tests signs, too: who divides by one
 * means a number above zero, a width, a period; who reads row k or the next of an array seldom means the last by it. */
static IntRange range_of_param(GpuInts *s, Ref ref) {
    int64_t i = ir_inst(s->func, ref)->imm;
    if (s->func != s->func->module->funcs.items[0] || i >= 64) return unknown();
    s->params |= UINT64_C(1) << i;
    int64_t least = s->signs.positive >> i & 1 ? 1 : s->signs.natural >> i & 1 ? 0 : -FAST_LIMIT;
    return between(least, FAST_LIMIT);
}

/* The bit of an int parameter; 0 of others. */
static uint64_t param_bit(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    bool is = inst->op == OP_param && inst->type->kind == TY_i64 && inst->imm < 64;
    return is ? UINT64_C(1) << inst->imm : 0;
}

/* Of k, k + 1, 1 + k. */
static uint64_t index_bit(const Func *func, Ref ref) {
    int64_t more;
    for (int32_t k = 0; k < 2 && ir_inst(func, ref)->op == OP_add; k++) {
        Ref other = ir_arg(func, ref, !k);
        if (opt_const_int(func, other, &more) && more >= 0)
            return param_bit(func, ir_arg(func, ref, k));
    }
    return param_bit(func, ref);
}

static ParamSigns find_signs(const Func *func) {
    ParamSigns found = {0};
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        Op op = (Op)ir_inst(func, ref)->op;
        if (op == OP_floordiv || op == OP_mod)
            found.positive |= param_bit(func, ir_arg(func, ref, 1));
        if (op == OP_wrap_index) found.natural |= index_bit(func, ir_arg(func, ref, 0));
    }
    found.natural &= ~found.positive;
    return found;
}

ParamSigns gpu_int_signs(const GpuInts *s) {
    return s->signs;
}

static IntRange range_of_lib(GpuInts *s, Ref ref) {
    GenId which = launch_number(s, ref);
    IntRange all = range_of_launch(which);
    if (which != GEN_min && which != GEN_max) return all;
    for (int32_t k = 0; k < ir_inst(s->func, ref)->nargs; k++) {
        IntRange r = range_of(s, ir_arg(s->func, ref, k));
        if (!r.known) r = all_ints();
        if (k == 0)
            all = r;
        else if (which == GEN_min)
            all = between(QN_MIN(all.lo, r.lo), QN_MIN(all.hi, r.hi));
        else
            all = between(QN_MAX(all.lo, r.lo), QN_MAX(all.hi, r.hi));
    }
    return all.lo == INT64_MIN && all.hi == INT64_MAX ? unknown() : all;
}

/* Of range(start, stop, step). */
static IntRange range_of_length(GpuInts *s, Ref ref) {
    IntRange start = range_of(s, ir_arg(s->func, ref, 0)),
             stop = range_of(s, ir_arg(s->func, ref, 1));
    IntRange step = range_of(s, ir_arg(s->func, ref, 2));
    IntRange way = step.known && step.lo >= 1    ? sum(stop, negative(start))
                   : step.known && step.hi <= -1 ? sum(start, negative(stop))
                                                 : unknown();
    return way.known ? between(0, QN_MAX(way.hi, 0)) : unknown();
}

/* There is one: the range is not empty. */
static IntRange range_of_item(GpuInts *s, Ref ref) {
    IntRange start = range_of(s, ir_arg(s->func, ref, 0)),
             stop = range_of(s, ir_arg(s->func, ref, 1));
    IntRange step = range_of(s, ir_arg(s->func, ref, 2));
    if (!start.known || !stop.known || !step.known) return unknown();
    if (step.lo >= 1 && stop.hi > INT64_MIN) return between(start.lo, stop.hi - 1);
    if (step.hi <= -1 && stop.lo < INT64_MAX) return between(stop.lo + 1, start.hi);
    return unknown();
}

/* A mask asks nothing of what it cuts off. */
static IntRange range_of_and(GpuInts *s, Ref a, Ref b) {
    IntRange y = range_of(s, b);
    uint64_t before = s->params;
    IntRange r = bitwise(OP_and, range_of(s, a), y);
    if (y.known && r.known && y.lo >= 0 && r.hi == y.hi) s->params = before;
    return r;
}

static IntRange compute(GpuInts *s, Ref ref) {
    Func *f = s->func;
    const Inst *inst = ir_inst(f, ref);
    Ref a = inst->nargs > 0 ? ir_arg(f, ref, 0) : NO_REF,
        b = inst->nargs > 1 ? ir_arg(f, ref, 1) : NO_REF;
    int64_t value;
    switch (inst->op) {
    case OP_const: return opt_const_int(f, ref, &value) ? between(value, value) : unknown();
    case OP_shape: return s->endless ? unknown() : between(0, FAST_LIMIT);
    case OP_param: return range_of_param(s, ref);
    case OP_lib: return range_of_lib(s, ref);
    case OP_phi: return range_of_phi(s, ref);
    case OP_range_len: return range_of_length(s, ref);
    case OP_range_item: return range_of_item(s, ref);
    case OP_add: return range_of_sum(s, a, b);
    case OP_sub: return sum(range_of(s, a), negative(range_of(s, b)));
    case OP_mul: return range_of_product(s, a, b);
    case OP_neg: return negative(range_of(s, a));
    case OP_floordiv: return quotient(range_of(s, a), range_of(s, b));
    case OP_mod: return remainder_of(range_of(s, b));
    case OP_and: return range_of_and(s, a, b);
    case OP_or:
    case OP_xor: return bitwise((Op)inst->op, range_of(s, a), range_of(s, b));
    case OP_shl:
    case OP_shr: return shifted(s, ref, range_of(s, a));
    case OP_select: return either(range_of(s, b), range_of(s, ir_arg(f, ref, 2)));
    case OP_cast: return range_of_cast(s, ref, a);
    case OP_check_index: return range_of(s, a); /* work-items go on behind a check that failed */
    case OP_wrap_index: return range_of_wrap(s, a, b);
    default: return unknown();
    }
}

static IntRange range_of(GpuInts *s, Ref ref) {
    const Type *type = ir_type(s->func, ref);
    if (!type || !(type_is_int(type) || type->kind == TY_bool)) return unknown();
    if (type->kind != TY_i64) return range_of_type(type);
    if (ref >= s->n) return unknown();           /* built since */
    if (s->state[ref] == OPEN) return unknown(); /* a cycle that no rule for phis describes */
    if (s->state[ref] == NEW) {
        if (s->depth == MAX_DEPTH) return unknown();
        s->depth++;
        uint64_t outer = s->params;
        s->params = 0;
        s->state[ref] = OPEN;
        IntRange range = compute(s, ref);
        range.params = s->params;
        s->ranges[ref] = s->rounds[ref].known ? s->rounds[ref] : range;
        s->state[ref] = DONE;
        s->params = outer;
        s->depth--;
    }
    s->params |= s->ranges[ref].params;
    return s->ranges[ref];
}

IntRange gpu_int_range(GpuInts *s, Ref ref) {
    s->params = 0;
    IntRange range = range_of(s, ref);
    range.params = s->params;
    return range;
}

IntRange gpu_int_range_at(GpuInts *s, Ref ref, int32_t block, int32_t to) {
    s->params = 0;
    IntRange range = range_on_edge(s, ref, block, to);
    range.params = s->params;
    return range;
}

GpuInts *gpu_ints(PassContext *ctx, Func *func) {
    const CompileOptions *options = ctx->options;
    if (target_is_host(options->infer.target) || options->general_variant ||
        options->entry != ENTRY_KERNEL)
        return NULL;
    int32_t n = func->insts.len;
    GpuInts *s = arena_zalloc(ctx->arena, sizeof *s);
    s->func = func;
    s->state = arena_zalloc(ctx->arena, sizeof *s->state * (size_t)n);
    s->ranges = arena_array(ctx->arena, IntRange, n);
    s->rounds = arena_array(ctx->arena, IntRange, n);
    s->n = n;
    s->arena = ctx->arena;
    s->tries = MAX_TRIES;
    if (!options->any_sign) s->signs = find_signs(func);
    s->endless = options->pointers != 0;
    s->loose = options->fastmath & FM_REASSOC;
    cfg_compute(&s->cfg, ctx->arena, func);
    return s;
}
