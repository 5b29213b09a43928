/* bounds.c - versions each loop nest once, outside its outermost loop, so that the copy that runs in practice
 * has no index checks, no wraparound and no exits, and LLVM can vectorise it.
 *
 * For every check in the nest whose index is built from loop counters, constants and values that do not change
 * in the nest, an interval [low, high] over all iterations is computed *in the preheader*, by interval
 * arithmetic on the index expression. If all intervals lie inside their axes the fast copy runs, otherwise the
 * checked one, with full messages. Interval arithmetic must not wrap, so every invariant leaf is tested to be
 * small first (2^57, or 2^27 below a product of two variables; at most 16 leaves an index): larger numbers
 * simply take the checked copy. Checks that the intervals cannot describe (a gather) stay in both copies. */
#include "codegen/opt/pass.h"

enum {
    MAX_NEST = 600,
    MAX_CHECKS = 64,
    MAX_LEAVES = 16,
    MAX_DEPTH = 12,
    SUM_BITS = 57,
    PRODUCT_BITS = 27
};

typedef struct Interval {
    bool ok;
    Ref low, high; /* i64 values in the preheader */
} Interval;

typedef struct Bounds {
    Func *func;
    Arena *arena;
    Cfg *cfg;
    int32_t loop; /* the outermost */
    Builder b;    /* at the end of the preheader */
    Ref condition;
    const Type *i64, *boolean;
    int leaves;
    Map small; /* leaf and bits -> already tested */
} Bounds;

static bool invariant(const Bounds *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    return inst->op == OP_const || inst->op == OP_param ||
           !opt_in_loop(s->cfg, s->loop, inst->block);
}

static void require(Bounds *s, Ref condition) {
    s->condition =
        s->condition ? b_op2(&s->b, OP_and, s->boolean, s->condition, condition) : condition;
}

/* -bound <= v <= bound, once for each leaf and width. */
static void require_small(Bounds *s, Ref ref, int bits) {
    int64_t value;
    if (opt_const_int(s->func, ref, &value) && value > -(INT64_C(1) << bits) &&
        value < (INT64_C(1) << bits))
        return;
    MapValue *seen = map_put(&s->small, (uint64_t)ref * 64 + (uint64_t)bits);
    if (seen->num) return;
    seen->num = 1;
    require(
        s, b_op2(&s->b, OP_lt, s->boolean, ref, ir_const_int(s->func, s->i64, INT64_C(1) << bits)));
    if (!opt_nonnegative(s->func, ref))
        require(s, b_op2(&s->b, OP_lt, s->boolean,
                         ir_const_int(s->func, s->i64, -(INT64_C(1) << bits)), ref));
}

static Interval none(void) {
    return (Interval){false, NO_REF, NO_REF};
}

static Interval leaf(Bounds *s, Ref ref, int bits) {
    if (++s->leaves > MAX_LEAVES || ir_type(s->func, ref) != s->i64) return none();
    require_small(s, ref, bits);
    return (Interval){true, ref, ref};
}

static Ref lesser(Bounds *s, Ref a, Ref c) {
    return a == c ? a
                  : b_op3(&s->b, OP_select, s->i64, b_op2(&s->b, OP_lt, s->boolean, a, c), a, c);
}

static Ref greater(Bounds *s, Ref a, Ref c) {
    return a == c ? a
                  : b_op3(&s->b, OP_select, s->i64, b_op2(&s->b, OP_lt, s->boolean, a, c), c, a);
}

static Interval interval(Bounds *s, Ref ref, int bits, int depth);

/* A counter of a loop of this nest: [0, largest limit - 1]. */
static Interval of_counter(Bounds *s, Ref phi, int bits, int depth) {
    int32_t header = ir_inst(s->func, phi)->block;
    for (int32_t l = s->cfg->loop_of[header]; l >= 0; l = s->cfg->loops.items[l].parent) {
        CountedLoop loop;
        if (s->cfg->loops.items[l].header != header) continue;
        if (!opt_counted_loop(s->func, s->cfg, l, &loop) || loop.counter != phi) return none();
        Interval limit = interval(s, loop.limit, bits, depth + 1);
        if (!limit.ok) return none();
        Ref last = b_op2(&s->b, OP_sub, s->i64, limit.high, ir_const_int(s->func, s->i64, 1));
        return (Interval){true, ir_const_int(s->func, s->i64, 0), last};
    }
    return none();
}

static Interval of_sum(Bounds *s, Ref ref, int bits, int depth) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    Interval a = interval(s, ir_arg(s->func, ref, 0), bits, depth + 1);
    Interval c = a.ok ? interval(s, ir_arg(s->func, ref, 1), bits, depth + 1) : none();
    if (!c.ok) return none();
    bool plus = op == OP_add;
    return (Interval){true, b_op2(&s->b, op, s->i64, a.low, plus ? c.low : c.high),
                      b_op2(&s->b, op, s->i64, a.high, plus ? c.high : c.low)};
}

/* A product by a small constant, or of two values whose signs are known. */
static Interval of_product(Bounds *s, Ref ref, int bits, int depth) {
    Ref x = ir_arg(s->func, ref, 0), y = ir_arg(s->func, ref, 1);
    int64_t k;
    if (opt_const_int(s->func, x, &k)) {
        Ref swap = x;
        x = y, y = swap;
    }
    if (opt_const_int(s->func, y, &k) && k > -1024 && k < 1024) {
        Interval a = interval(s, x, QN_MIN(bits, SUM_BITS - 12), depth + 1);
        if (!a.ok) return none();
        Ref low = b_op2(&s->b, OP_mul, s->i64, a.low, y),
            high = b_op2(&s->b, OP_mul, s->i64, a.high, y);
        return k >= 0 ? (Interval){true, low, high} : (Interval){true, high, low};
    }
    if (!opt_nonnegative(s->func, x) || !opt_nonnegative(s->func, y)) return none();
    Interval a = interval(s, x, PRODUCT_BITS, depth + 1);
    Interval c = a.ok ? interval(s, y, PRODUCT_BITS, depth + 1) : none();
    if (!c.ok) return none();
    /* An empty loop has high = -1: both factors are clamped, so that the product stays an upper bound. */
    Ref zero = ir_const_int(s->func, s->i64, 0);
    Ref high = b_op2(&s->b, OP_mul, s->i64, greater(s, a.high, zero), greater(s, c.high, zero));
    return (Interval){true, zero, high};
}

static Interval of_select(Bounds *s, Ref ref, int bits, int depth) {
    Interval a = interval(s, ir_arg(s->func, ref, 1), bits, depth + 1);
    Interval c = a.ok ? interval(s, ir_arg(s->func, ref, 2), bits, depth + 1) : none();
    if (!c.ok) return none();
    return (Interval){true, lesser(s, a.low, c.low), greater(s, a.high, c.high)};
}

static Interval of_division(Bounds *s, Ref ref, int bits, int depth) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    Ref by = ir_arg(s->func, ref, 1);
    int64_t k;
    if (!opt_const_int(s->func, by, &k) || k <= 0) return none();
    if (op == OP_mod)
        return (Interval){true, ir_const_int(s->func, s->i64, 0),
                          ir_const_int(s->func, s->i64, k - 1)};
    Interval a = interval(s, ir_arg(s->func, ref, 0), bits, depth + 1);
    if (!a.ok) return none();
    return (Interval){true, b_op2(&s->b, OP_floordiv, s->i64, a.low, by),
                      b_op2(&s->b, OP_floordiv, s->i64, a.high, by)};
}

/* All values `ref` takes in the nest. */
static Interval interval(Bounds *s, Ref ref, int bits, int depth) {
    const Inst *inst = ir_inst(s->func, ref);
    if (depth > MAX_DEPTH || inst->type != s->i64) return none();
    if (invariant(s, ref)) return leaf(s, ref, bits);
    switch (inst->op) {
    case OP_phi: return of_counter(s, ref, bits, depth);
    case OP_add:
    case OP_sub: return of_sum(s, ref, bits, depth);
    case OP_mul: return of_product(s, ref, bits, depth);
    case OP_select: return of_select(s, ref, bits, depth);
    case OP_floordiv:
    case OP_mod: return of_division(s, ref, bits, depth);
    case OP_check_index: return interval(s, ir_arg(s->func, ref, 0), bits, depth + 1);
    case OP_wrap_index: /* only where it turns out to do nothing */
    {
        Interval a = interval(s, ir_arg(s->func, ref, 0), bits, depth + 1);
        if (a.ok && !opt_nonnegative(s->func, ir_arg(s->func, ref, 0)))
            require(s, b_op2(&s->b, OP_le, s->boolean, ir_const_int(s->func, s->i64, 0), a.low));
        return a;
    }
    case OP_shape: {
        Ref array = ir_arg(s->func, ref, 0);
        if (!invariant(s, array)) return none();
        Ref copy = b_op1(&s->b, OP_shape, s->i64, array);
        ir_inst(s->func, copy)->imm = ir_inst(s->func, ref)->imm;
        return leaf(s, copy, bits);
    }
    default: return none();
    }
}

/* The axis length a check compares with, as a value of the preheader. */
static Ref axis_length(Bounds *s, Ref n) {
    if (invariant(s, n)) return n;
    const Inst *inst = ir_inst(s->func, n);
    if (inst->op != OP_shape || !invariant(s, ir_arg(s->func, n, 0))) return NO_REF;
    int64_t axis = inst->imm;
    Ref copy = b_op1(&s->b, OP_shape, s->i64, ir_arg(s->func, n, 0));
    ir_inst(s->func, copy)->imm = axis;
    return copy;
}

/* Adds the conditions under which `check` cannot fail in the nest; false when there are none to add. */
static bool describe(Bounds *s, Ref check) {
    Ref before = s->condition;
    s->leaves = 0;
    Ref n = axis_length(s, ir_arg(s->func, check, 1));
    Interval index = n ? interval(s, ir_arg(s->func, check, 0), SUM_BITS, 0) : none();
    if (!index.ok) {
        s->condition = before; /* what was emitted for nothing, dce removes */
        s->small.len = 0;
        map_init(&s->small, s->arena);
        return false;
    }
    int64_t low;
    if (!opt_const_int(s->func, index.low, &low) || low < 0)
        require(s, b_op2(&s->b, OP_le, s->boolean, ir_const_int(s->func, s->i64, 0), index.low));
    require(s, b_op2(&s->b, OP_lt, s->boolean, index.high, n));
    return true;
}

/* -- the two copies ------------------------------------------------------------------------------------ */

static void choose(Bounds *s, int32_t preheader, int32_t header, int32_t checked) {
    Func *func = s->func;
    ir_edge_add(func, preheader, checked);
    ir_remove(func, ir_terminator(func, preheader));
    Ref branch = ir_append(func, preheader, OP_branch, &s->condition, 1);
    ir_inst(func, branch)->target[0] = header;
    ir_inst(func, branch)->target[1] = checked;
}

/* May the checked copy become a function that is compiled when it is needed? In kernels it would have to
 * find its work-item again. */
static bool outlines(const PassContext *ctx) {
    return ctx->options->infer.target == TARGET_CPU && ctx->options->entry != ENTRY_KERNEL;
}

/* The checked copy: all blocks of the nest again, entered from the preheader when the condition fails. */
static void make_checked_copy(Bounds *s, int32_t preheader) {
    Func *func = s->func;
    const Loop *loop = &s->cfg->loops.items[s->loop];
    int32_t header = loop->header, entry_at = -1;
    Ref *ref_map = arena_array(s->arena, Ref, func->insts.len);
    int32_t *block_map = arena_array(s->arena, int32_t, func->blocks.len);
    const Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++)
        if (head->preds.items[i] == preheader) entry_at = i;
    ir_clone_blocks(func, loop->blocks.items, loop->blocks.len, ref_map, block_map);
    int32_t copy = block_map[header];
    for (int32_t i = 0; i < loop->blocks.len; i++)
        func->blocks.items[block_map[loop->blocks.items[i]]].cold = true;
    for (int32_t i = 0; i < func->blocks.items[header].insts.len; i++) {
        Ref phi = func->blocks.items[header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        ir_add_arg(func, ref_map[phi], ir_arg(func, phi, entry_at));
    }
    choose(s, preheader, header, copy);
}

/* In the fast copy a described check is its index, and the index needs no wraparound. */
static void drop_checks(Func *func, Arena *arena, const Ref *checks, int32_t n) {
    Ref *map = arena_array(arena, Ref, func->insts.len);
    for (int32_t i = 0; i < n; i++) {
        Ref index = ir_arg(func, checks[i], 0);
        if (ir_inst(func, index)->op == OP_wrap_index) index = ir_arg(func, index, 0);
        map[checks[i]] = index;
    }
    ir_replace_many(func, map);
    for (int32_t i = 0; i < n; i++)
        ir_remove(func, checks[i]);
}

static int32_t nest_size(const Func *func, const Loop *loop) {
    int32_t n = 0;
    for (int32_t i = 0; i < loop->blocks.len; i++)
        n += func->blocks.items[loop->blocks.items[i]].insts.len;
    return n;
}

/* The one way into the loop, as a block that ends with a plain jump. */
static int32_t entry_block(Func *func, const Cfg *cfg, int32_t loop) {
    int32_t header = cfg->loops.items[loop].header, entry = NO_BLOCK;
    const Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++) {
        if (opt_in_loop(cfg, loop, head->preds.items[i])) continue;
        if (entry != NO_BLOCK) return NO_BLOCK;
        entry = head->preds.items[i];
    }
    if (entry == NO_BLOCK) return NO_BLOCK;
    Ref last = ir_terminator(func, entry);
    return ir_inst(func, last)->op == OP_jump ? entry : NO_BLOCK;
}

static bool version_nest(PassContext *ctx, Func *func, Cfg *cfg, int32_t loop) {
    const Loop *info = &cfg->loops.items[loop];
    int32_t entry = entry_block(func, cfg, loop);
    if (entry == NO_BLOCK || nest_size(func, info) > MAX_NEST) return false;
    /* A block of its own: constants go to the head of the entry block, which must not be this one. */
    int32_t preheader = ir_edge_split(func, entry, info->header);
    Bounds s = {.func = func,
                .arena = ctx->arena,
                .cfg = cfg,
                .loop = loop,
                .i64 = type_scalar(ctx->module->types, TY_i64),
                .boolean = type_scalar(ctx->module->types, TY_bool)};
    s.b = (Builder){.func = func, .block = preheader, .error = NO_BLOCK};
    s.b.at = func->blocks.items[preheader].insts.len - 1;
    map_init(&s.small, ctx->arena);
    Ref checks[MAX_CHECKS];
    int32_t n = 0;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len && n < MAX_CHECKS; k++) {
            Ref ref = block->insts.items[k];
            Inst *inst = ir_inst(func, ref);
            if (inst->op != OP_check_index || inst->error != NO_BLOCK) continue;
            if (describe(&s, ref)) checks[n++] = ref;
        }
    }
    if (!n || !s.condition) return false;
    ir_make_loop_closed(func, cfg, loop);
    int32_t call = outlines(ctx) ? opt_outline_nest(ctx, func, info) : NO_BLOCK;
    if (call == NO_BLOCK)
        make_checked_copy(&s, preheader);
    else
        choose(&s, preheader, info->header, call);
    drop_checks(func, ctx->arena, checks, n);
    return true;
}

/* Outermost loops first; where one cannot be versioned as a whole, the loops inside are tried. */
void opt_bounds(PassContext *ctx, Func *func) {
    if (opt_is_outlined(func)) return;
    Bits done = bits_new(ctx->arena, func->blocks.len);
    for (bool again = true; again;) {
        Cfg cfg;
        cfg_compute(&cfg, ctx->arena, func);
        again = false;
        for (int32_t l = 0; l < cfg.loops.len && !again; l++) {
            int32_t header = cfg.loops.items[l].header, parent = cfg.loops.items[l].parent;
            bool inside_versioned = false;
            for (int32_t p = parent; p >= 0; p = cfg.loops.items[p].parent)
                inside_versioned |= cfg.loops.items[p].header >= done.n ||
                                    bits_get(&done, cfg.loops.items[p].header);
            if (inside_versioned || header >= done.n || bits_get(&done, header)) continue;
            again = version_nest(ctx, func, &cfg, l);
            if (again) bits_set(&done, header);
        }
    }
}
