/* bounds.c - versions each loop nest once, outside its outermost loop, so that the copy that runs in practice
 * has no index checks, no wraparound and no exits, and LLVM can vectorise it.
 *
 * For every check in the nest (and, where checks are off, every wraparound) whose index is built from loop counters,
 * other variables that only grow or only shrink, constants and values that do not change in the nest, an interval
 * [low, high] over all iterations is computed *in the preheader*, by interval arithmetic on the index expression. If
 * all intervals lie inside their axes the fast copy runs, otherwise the checked one, with full messages. Interval
 * arithmetic must not wrap, so every invariant leaf is tested to be small first (2^57, or 2^27 below a product of two
 * variables; at most 16 leaves an index), and so is a product that is a factor of another: larger numbers simply take
 * the checked copy. Guards against zero divisors that do not change in the nest are asked in front of it as well, and
 * divisions by such ints take the fast copy where the divisor is above zero. Checks that the intervals cannot describe (a gather), or would never let pass (an index that
 * starts at -1), stay in both copies. */
#include "codegen/opt/bounds.h"
#include "codegen/opt/merged.h"

enum { MAX_NEST = 600, MAX_CHECKS = 64 };

/* -- checks ------------------------------------------------------------------------------------------ */

/* A value that does not change, or an axis length, as a value of the preheader. */
static Ref axis_length(Bounds *s, Ref n) {
    if (bounds_invariant(s, n)) return n;
    const Inst *inst = ir_inst(s->func, n);
    if (inst->op != OP_shape || !bounds_invariant(s, ir_arg(s->func, n, 0))) return NO_REF;
    return bounds_shape_of(s, ir_arg(s->func, n, 0), inst->imm);
}

/* Of an index that is always negative: it counts from the end, and must not reach over the start. */
static bool describe_from_end(Bounds *s, Ref ref, Ref index, Ref length) {
    int32_t block = ir_inst(s->func, ref)->block;
    if (ir_inst(s->func, ref)->op == OP_check_index) {
        Ref n = axis_length(s, length);
        Interval all = n ? bounds_interval(s, index, (Place){SUM_BITS, 0, block}) : (Interval){0};
        if (!all.ok || !bounds_require_nonnegative(s, bounds_compute(s, OP_add, all.low, n)))
            return false;
    }
    vec_push(s->arena, &s->from_end, ref);
    return true;
}

typedef struct Sides {
    bool low, high;
} Sides;

/* Index = *base + *by, where the base is an item of a range whose ends do not change, or does not change itself. Where guards are closer
 * than its ends on a side that is asked for, its interval says more. */
static bool is_plain(Bounds *s, Ref index, int32_t block, Sides asked, RangeItem *ends, Ref *base,
                     int64_t *by) {
    enum { FURTHEST = 1 << 20 };
    int64_t k;
    *by = 0;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        const Inst *inst = ir_inst(s->func, index);
        bool sum = inst->op == OP_add || inst->op == OP_sub;
        if (!bounds_invariant(s, index) && ((asked.low && bounds_guarded(s, index, false, block)) ||
                                            (asked.high && bounds_guarded(s, index, true, block))))
            return false;
        if (inst->op == OP_check_index) {
            index = ir_arg(s->func, index, 0);
        } else if (sum && opt_const_int(s->func, ir_arg(s->func, index, 1), &k) && k > -FURTHEST &&
                   k < FURTHEST) {
            *by += inst->op == OP_add ? k : -k;
            index = ir_arg(s->func, index, 0);
        } else {
            break;
        }
    }
    *base = index;
    if (ir_type(s->func, index) != s->i64 || bounds_invariant(s, index))
        return ir_type(s->func, index) == s->i64 && ir_inst(s->func, index)->op != OP_const;
    if (!opt_range_item(s->func, s->cfg, index, block, ends)) return false;
    if (*by > 0 && bounds_step(s, index) != 1) return false; /* its interval is closer */
    bool starts = ends->start != NO_REF;
    ends->stop = axis_length(s, ends->stop);
    if (starts) ends->start = axis_length(s, ends->start);
    return ends->stop && (!starts || ends->start);
}

/* What was proven of one side is true of the sum as it comes out: base - 2, which may have wrapped to a large number. Where both comparisons
 * are made, of numbers, it has not. */
static bool require_exact(Bounds *s, Ref base, Ref end, int64_t by, int32_t block) {
    int64_t last = by < 0 ? INT64_MIN - by : INT64_MAX - by;
    if (by < 0)
        return opt_at_least(s->func, s->cfg, base, last, block) ||
               bounds_require(s, OP_le, bounds_number(s, last), end);
    return opt_at_most(s->func, s->cfg, base, NO_REF, last, block) ||
           bounds_require(s, OP_le, end, bounds_number(s, last));
}

/* The same in two comparisons, of the ends themselves: rows are short. Nothing is added to what may be large, and where 0 <= base +
 * by and base + by < n hold of numbers, the sum does not wrap. */
static bool describe_plain(Bounds *s, Ref index, Ref n, bool low_known, bool high_known,
                           int32_t block) {
    RangeItem ends;
    Ref base;
    int64_t by;
    if (!is_plain(s, index, block, (Sides){!low_known, !high_known}, &ends, &base, &by))
        return false;
    if (bounds_invariant(s, base)) ends = (RangeItem){base, NO_REF, false};
    Ref low = ends.down ? ends.stop : ends.start ? ends.start : bounds_number(s, 0);
    Ref high = ends.down || !ends.stop ? ends.start : ends.stop;
    if (!low_known && !bounds_require(s, OP_le, bounds_number(s, -by - ends.down), low))
        return false;
    if (low_known && by < 0 && !require_exact(s, base, low, by, block)) return false;
    if (high_known) return by <= 0 || require_exact(s, base, high, by, block);
    Op op = ends.down || !ends.stop ? OP_lt : OP_le;
    if (by == 0) return bounds_require(s, op, high, n);
    return bounds_require(
        s, op, high,
        bounds_compute(s, by < 0 ? OP_add : OP_sub, n, bounds_number(s, by < 0 ? -by : by)));
}

/* An index that begins below zero, as in a[i - 1], must not reach over the start; its wraparound stays (pass `peel`). */
static bool describe_around(Bounds *s, Ref ref, Ref low) {
    Ref wrap = ir_arg(s->func, ref, 0), n = axis_length(s, ir_arg(s->func, ref, 1));
    int64_t k;
    if (!opt_const_int(s->func, low, &k) || k >= 0 || k < -MAX_STEP) return false;
    if (ir_inst(s->func, ref)->op != OP_check_index || ir_inst(s->func, wrap)->op != OP_wrap_index)
        return false;
    return n && ir_arg(s->func, wrap, 1) == ir_arg(s->func, ref, 1) &&
           bounds_require(s, OP_le, bounds_number(s, -k), n);
}

/* Requires that the index of `ref` lies inside its axis; of a wraparound without a check, that it is not negative. */
static bool describe_inside(Bounds *s, Ref ref) {
    bool check = ir_inst(s->func, ref)->op == OP_check_index;
    int32_t block = ir_inst(s->func, ref)->block;
    Ref index = ir_arg(s->func, ref, 0), length = ir_arg(s->func, ref, 1);
    if (check && ir_inst(s->func, index)->op == OP_wrap_index) index = ir_arg(s->func, index, 0);
    bool wraps = ir_inst(s->func, ir_arg(s->func, ref, 0))->op == OP_wrap_index || !check;
    if (wraps && opt_below(s->func, s->cfg, index, bounds_number(s, 0), block))
        return describe_from_end(s, ref, index, length);
    bool high_known = !check || opt_below(s->func, s->cfg, index, length, block);
    bool low_known = opt_at_least(s->func, s->cfg, index, 0, block);
    if (high_known && low_known) return true;
    Ref n = high_known ? length : axis_length(s, length);
    int32_t before = s->conditions.len;
    if (n && describe_plain(s, index, n, low_known, high_known, block)) return true;
    s->conditions.len = before;
    Interval all = n ? bounds_interval(s, index, (Place){SUM_BITS, 0, block}) : (Interval){0};
    if (all.ok && !s->walks) all = bounds_closer(s, index, all, block);
    if (!all.ok) return false;
    bool natural = low_known || bounds_require_nonnegative(s, all.low);
    if (!natural && !describe_around(s, ref, all.low)) return false;
    if (!high_known && !bounds_require(s, OP_lt, all.high, n)) return false;
    if (!natural) vec_push(s->arena, &s->wrapping, ref);
    return true;
}

static bool is_division(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    return (inst->op == OP_floordiv || inst->op == OP_mod) && inst->type->kind == TY_i64 &&
           !inst->sub && !opt_const_int(func, ir_arg(func, ref, 1), &k);
}

/* The test of a guard against a zero divisor, which is `divisor == 0`. */
static bool is_zero_guard(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_guard || inst->error != NO_BLOCK) return false;
    if (inst->sub != GUARD_zero_division && inst->sub != GUARD_zero_modulo) return false;
    Ref test = ir_arg(func, ref, 0);
    if (ir_inst(func, test)->op != OP_eq) return false;
    const Type *type = ir_type(func, ir_arg(func, test, 0));
    return (type_is_int(type) || type_is_float(type)) &&
           ir_inst(func, ir_arg(func, test, 1))->op == OP_const;
}

/* Requires that the divisor, which does not change, is not zero; of a division of ints, that it is above. */
static bool describe_divisor(Bounds *s, Ref ref) {
    bool guard = ir_inst(s->func, ref)->op == OP_guard;
    Ref test = guard ? ir_arg(s->func, ref, 0) : NO_REF;
    Ref divisor = ir_arg(s->func, guard ? test : ref, guard ? 0 : 1);
    if (!bounds_invariant(s, divisor)) return false;
    if (!guard) {
        if (opt_at_least(s->func, s->cfg, ir_arg(s->func, ref, 0), 0, ir_inst(s->func, ref)->block))
            vec_push(s->arena, &s->natural, ref);
        return bounds_require(s, OP_lt, bounds_number(s, 0), divisor);
    }
    Ref condition = bounds_compare(s, OP_ne, divisor, ir_arg(s->func, test, 1));
    for (int32_t i = 0; i < s->conditions.len; i++)
        if (s->conditions.items[i] == condition) return true;
    vec_push(s->arena, &s->conditions, condition);
    return true;
}

/* Adds the conditions under which `ref` cannot fail in the nest; false when there are none to add. */
static bool describe(Bounds *s, Ref ref) {
    Op op = (Op)ir_inst(s->func, ref)->op;
    if (op != OP_check_index && op != OP_wrap_index) return describe_divisor(s, ref);
    int32_t before = s->conditions.len;
    s->leaves = s->choices = s->guards = s->signs = 0;
    s->walks = false;
    if (describe_inside(s, ref)) return true;
    s->conditions.len = before; /* what was emitted for nothing, dce removes */
    return false;
}

static int32_t nest_size(const Func *func, const Loop *loop) {
    int32_t n = 0;
    for (int32_t i = 0; i < loop->blocks.len; i++)
        n += func->blocks.items[loop->blocks.items[i]].insts.len;
    return n;
}

/* What versioning could remove: checks; wraparounds that stand alone, on GPUs, where both copies are compiled, those of short innermost
 * loops; on hosts what asks for zero divisors, too. */
static void candidates(const PassContext *ctx, const Func *func, const Cfg *cfg, int32_t l,
                       bool host, RefList *out) {
    enum { SHORT = 60 };
    const Loop *loop = &cfg->loops.items[l];
    Bits checked = bits_new(ctx->arena, func->insts.len);
    bool wraps = host || (!target_is_host(ctx->options->infer.target) && opt_is_innermost(cfg, l) &&
                          nest_size(func, loop) <= SHORT);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < loop->blocks.len; i++) {
            const Block *block = &func->blocks.items[loop->blocks.items[i]];
            for (int32_t k = 0; k < block->insts.len && out->len < MAX_CHECKS; k++) {
                Ref ref = block->insts.items[k];
                const Inst *inst = ir_inst(func, ref);
                if (inst->op == OP_check_index && pass == 0)
                    bits_set(&checked, ir_arg(func, ref, 0));
                if (pass == 0) continue;
                if ((host && (is_division(func, ref) || is_zero_guard(func, ref))) ||
                    (inst->op == OP_check_index && (host || inst->error == NO_BLOCK)) ||
                    (inst->op == OP_wrap_index && wraps && !bits_get(&checked, ref)))
                    vec_push(ctx->arena, out, ref);
            }
        }
}

/* -- the two copies ------------------------------------------------------------------------------------ */

static void choose(Bounds *s, int32_t preheader, int32_t header, int32_t checked) {
    Func *func = s->func;
    Ref all = s->conditions.items[0];
    for (int32_t i = 1; i < s->conditions.len; i++)
        all = b_op2(&s->b, OP_and, s->boolean, all, s->conditions.items[i]);
    ir_edge_add(func, preheader, checked);
    ir_remove(func, ir_terminator(func, preheader));
    Ref branch = ir_append(func, preheader, OP_branch, &all, 1);
    ir_inst(func, branch)->target[0] = header;
    ir_inst(func, branch)->target[1] = checked;
}

/* May the checked copy become a function that is compiled when it is needed? In kernels it would have to
 * find its work-item again. */
static bool outlines(const PassContext *ctx) {
    return target_is_host(ctx->options->infer.target) && ctx->options->entry != ENTRY_KERNEL;
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

/* Index + length of a check or a wraparound, before it. */
static Ref add_length(Func *func, Ref ref) {
    Ref index = ir_arg(func, ref, 0), length = ir_arg(func, ref, 1);
    const Type *type = ir_type(func, ref);
    if (ir_inst(func, ref)->op == OP_check_index) index = ir_arg(func, index, 0);
    int32_t block = ir_inst(func, ref)->block, span = ir_inst(func, ref)->span;
    Ref sum = ir_insert(func, block, opt_position(func, ref), OP_add, (Ref[]){index, length}, 2);
    ir_inst(func, sum)->type = type;
    ir_inst(func, sum)->span = span;
    return sum;
}

/* In the fast copy a described check is its index, and the index needs no wraparound; divisors are above zero. */
static void drop_checks(Func *func, Arena *arena, const RefList *checks, const RefList *from_end,
                        const RefList *wrapping) {
    Ref *map = arena_array(arena, Ref, func->insts.len + from_end->len);
    for (int32_t i = 0; i < checks->len; i++) {
        Ref index = ir_arg(func, checks->items[i], 0);
        if (ir_inst(func, checks->items[i])->op == OP_guard) continue;
        if (is_division(func, checks->items[i])) continue;
        if (ir_inst(func, index)->op == OP_wrap_index) index = ir_arg(func, index, 0);
        map[checks->items[i]] = index;
    }
    for (int32_t i = 0; i < wrapping->len; i++)
        map[wrapping->items[i]] = ir_arg(func, wrapping->items[i], 0);
    for (int32_t i = 0; i < from_end->len; i++)
        map[from_end->items[i]] = add_length(func, from_end->items[i]);
    ir_replace_many(func, map);
    for (int32_t i = 0; i < checks->len; i++) {
        Ref ref = checks->items[i];
        if (is_division(func, ref)) {
            bool seldom = ir_inst(func, ref)->op == OP_mod && opt_seldom_negative(func, ref);
            ir_inst(func, ref)->sub = DIV_POSITIVE | (seldom ? DIV_SELDOM : 0);
            continue;
        }
        int32_t error = ir_inst(func, ref)->error;
        if (error != NO_BLOCK) ir_edge_remove(func, ir_inst(func, ref)->block, error);
        ir_inst(func, ref)->error = NO_BLOCK;
        ir_remove(func, ref);
    }
}

/* Wraparounds whose check is gone have no users: they are nothing to ask for in loops inside. */
static void drop_unused_wraps(Func *func, Arena *arena) {
    Bits used = bits_new(arena, func->insts.len);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        if (ir_inst(func, ref)->op == OP_removed) continue;
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
            bits_set(&used, ir_arg(func, ref, k));
    }
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_wrap_index && !bits_get(&used, ref)) ir_remove(func, ref);
}

/* The block before the one edge into the loop. */
static int32_t entry_block(Func *func, const Cfg *cfg, int32_t loop) {
    int32_t header = cfg->loops.items[loop].header, entry = NO_BLOCK;
    const Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++) {
        if (opt_in_loop(cfg, loop, head->preds.items[i])) continue;
        if (entry != NO_BLOCK) return NO_BLOCK;
        entry = head->preds.items[i];
    }
    return entry;
}

/* Makes the preheader a block of its own: constants go to the head of the entry block, which must not be it. */
static int32_t make_preheader(PassContext *ctx, Func *func, Cfg *cfg, int32_t *loop) {
    int32_t header = cfg->loops.items[*loop].header, entry = entry_block(func, cfg, *loop);
    if (entry == NO_BLOCK) return NO_BLOCK;
    int32_t preheader = ir_edge_split(func, entry, header);
    cfg_compute(cfg, ctx->arena, func);
    *loop = opt_loop_of_header(cfg, header);
    return preheader;
}

/* Loops whose rounds were not asked for run in strips. */
static void make_copies(PassContext *ctx, Bounds *s, int32_t preheader) {
    Func *func = s->func;
    const Loop *info = &s->cfg->loops.items[s->loop];
    bool outside = outlines(ctx) && !opt_is_outlined(func);
    int32_t without = s->conditions.len;
    if (outside) bounds_describe_rounds(s), bounds_describe_rows(s);
    ir_make_loop_closed(func, s->cfg, s->loop);
    int32_t call = outside ? opt_outline_nest(ctx, func, info) : NO_BLOCK;
    if (call == NO_BLOCK) {
        s->conditions.len = without;
        make_checked_copy(s, preheader);
        return;
    }
    if (s->conditions.len > without)
        ctx->module->funcs.items[ctx->module->funcs.len - 1]->again = true;
    choose(s, preheader, info->header, call);
    bounds_mark_rows(s);
    for (int32_t i = 0; i < s->few.len; i++)
        ir_inst(func, s->few.items[i])->sub = FLAG_SHORT;
}

static Bounds bounds_of(PassContext *ctx, Func *func, Cfg *cfg, int32_t loop, int32_t preheader) {
    Bounds s = {.func = func,
                .arena = ctx->arena,
                .cfg = cfg,
                .loop = loop,
                .i64 = type_scalar(ctx->module->types, TY_i64),
                .boolean = type_scalar(ctx->module->types, TY_bool)};
    s.b = (Builder){.func = func, .block = preheader, .error = NO_BLOCK};
    s.b.at = func->blocks.items[preheader].insts.len - 1;
    return s;
}

/* In a kernel: then all of them have to run the same copy, and the test in front need not come out the same. */
static bool has_to_stay_one(const PassContext *ctx, const Func *func, const Loop *loop) {
    return !outlines(ctx) && opt_work_items_meet(func, loop);
}

/* `whole`: only where nothing is left to be asked in it. */
static bool version_nest(PassContext *ctx, Func *func, Cfg *cfg, int32_t loop, bool whole) {
    RefList all = {0}, checks = {0};
    if (nest_size(func, &cfg->loops.items[loop]) > MAX_NEST ||
        has_to_stay_one(ctx, func, &cfg->loops.items[loop]))
        return false;
    candidates(ctx, func, cfg, loop, outlines(ctx), &all);
    int32_t preheader = all.len ? make_preheader(ctx, func, cfg, &loop) : NO_BLOCK;
    if (preheader == NO_BLOCK) return false;
    Bounds s = bounds_of(ctx, func, cfg, loop, preheader);
    for (int32_t i = 0; i < all.len; i++)
        if (describe(&s, all.items[i])) vec_push(ctx->arena, &checks, all.items[i]);
    if (whole && checks.len < all.len) return false;
    bool copies = checks.len && s.conditions.len;
    if (copies) make_copies(ctx, &s, preheader);
    if (checks.len) {
        drop_checks(func, ctx->arena, &checks, &s.from_end, &s.wrapping);
        drop_unused_wraps(func, ctx->arena);
    }
    for (int32_t i = 0; i < s.natural.len; i++)
        if (ir_inst(func, s.natural.items[i])->sub)
            ir_inst(func, s.natural.items[i])->sub = DIV_POSITIVE | DIV_NATURAL;
    return copies;
}

/* A nest that needs no test for its indices is versioned for the rounds of its inner loops and for the lengths of rows alone. */
static bool version_rest(PassContext *ctx, Func *func, Cfg *cfg, int32_t loop) {
    if (nest_size(func, &cfg->loops.items[loop]) > MAX_NEST) return false;
    Bounds s = {.func = func, .arena = ctx->arena, .cfg = cfg, .loop = loop};
    if (opt_is_innermost(cfg, loop) && !bounds_has_rows(&s)) return false;
    int32_t preheader = make_preheader(ctx, func, cfg, &loop);
    if (preheader == NO_BLOCK) return false;
    s = bounds_of(ctx, func, cfg, loop, preheader);
    bounds_describe_rounds(&s);
    bounds_describe_rows(&s);
    if (s.conditions.len) {
        ir_make_loop_closed(func, cfg, loop);
        int32_t header = cfg->loops.items[loop].header;
        int32_t call = opt_outline_nest(ctx, func, &cfg->loops.items[loop]);
        if (call == NO_BLOCK) return false;
        choose(&s, preheader, header, call);
        bounds_mark_rows(&s);
    }
    for (int32_t i = 0; i < s.few.len; i++)
        ir_inst(func, s.few.items[i])->sub = FLAG_SHORT;
    return s.few.len > 0 || s.rows.len > 0;
}

static bool in_versioned(const Cfg *cfg, const Bits *done, int32_t loop) {
    for (int32_t l = loop; l >= 0; l = cfg->loops.items[l].parent) {
        int32_t header = cfg->loops.items[l].header;
        if (header >= done->n || bits_get(done, header)) return true;
    }
    return false;
}

static bool has_versioned(const Cfg *cfg, const Bits *done, int32_t loop) {
    for (int32_t l = 0; l < cfg->loops.len; l++) {
        int32_t header = cfg->loops.items[l].header;
        if ((header >= done->n || bits_get(done, header)) && opt_in_loop(cfg, loop, header))
            return true;
    }
    return false;
}

/* The test in front of an inner loop of so few rounds takes longer than the checks in it. */
static bool is_too_short(const Func *func, const Cfg *cfg, int32_t loop) {
    enum { FEW = 8 };
    int64_t rounds = opt_most_rounds(func, cfg, loop);
    return rounds && rounds <= FEW;
}

/* Outermost loops first; where one cannot be versioned as a whole, the loops inside are tried. Inside of one that was, only
 * innermost loops are, and nests that then have nothing left: for what changes in the nest but stands still in them, the ends of a row
 * that were read from an array, the lengths of a block that is a part of one. */
void opt_bounds(PassContext *ctx, Func *func) {
    if (opt_is_outlined(func) && !func->again) return;
    Bits done = bits_new(ctx->arena, func->blocks.len);
    Cfg cfg;
    cfg_compute(&cfg, ctx->arena, func);
    Vec(int32_t) headers = {0};
    for (int32_t l = 0; l < cfg.loops.len; l++)
        vec_push(ctx->arena, &headers, cfg.loops.items[l].header);
    for (int32_t i = 0; i < headers.len; i++) {
        int32_t loop = opt_loop_of_header(&cfg, headers.items[i]);
        if (loop < 0 || func->blocks.items[headers.items[i]].cold) continue;
        bool inside = in_versioned(&cfg, &done, loop);
        if (inside && (!outlines(ctx) || is_too_short(func, &cfg, loop))) continue;
        if (!version_nest(ctx, func, &cfg, loop, inside && !opt_is_innermost(&cfg, loop))) continue;
        bits_set(&done, headers.items[i]);
        cfg_compute(&cfg, ctx->arena, func);
    }
    if (!outlines(ctx) || opt_is_outlined(func)) return;
    for (int32_t i = 0; i < headers.len; i++) {
        int32_t loop = opt_loop_of_header(&cfg, headers.items[i]);
        if (loop < 0 || cfg.loops.items[loop].parent >= 0) continue;
        if (func->blocks.items[headers.items[i]].cold || has_versioned(&cfg, &done, loop)) continue;
        if (version_rest(ctx, func, &cfg, loop)) cfg_compute(&cfg, ctx->arena, func);
    }
}
