/* apart.c - on GPUs, fast variant: the one round of a loop whose counter equals a value that stands still is done apart.
 *
 *   for j in range(n):                    around: stop = i if start <= i and i < n else n
 *       if j != i: s += a[i, j] * x[j]  =>        for j in range(start, stop): s += a[i, j] * x[j]
 *                                                 if stop < n: (the round of j == i); start = i + 1; go to around
 *
 * All others but this point, but the diagonal: each round of such a loop has a test and a branch, which also keep LLVM and ptxas from
 * writing rounds side by side. nvcc makes three pieces of it, the rounds before, that one and the rounds behind; here the loop stands
 * once, inside of one that has two rounds at most, and the copy of its body is the one round alone.
 *
 * Lanes of a warp wait for each other behind the inner loop. So a warp has as many rounds more as the values of its lanes lie apart:
 * 31 where they are numbers of threads, and as many as there are where they come from data, which is why these loops are left alone.
 * Nor does it happen where work-items meet in the loop, since they would be in different rounds. */
#include "codegen/opt/gpu_ints.h"

enum { MOST_APART = 80, NEAR_DEPTH = 10, FEW_ROUNDS = 64 };

typedef struct Apart {
    PassContext *ctx;
    Func *func;
    GpuInts *ints;
    Cfg cfg;
    int32_t loop;
    CountedLoop counted;
    Ref test, value; /* counter == value, or != */
} Apart;

/* -- what is looked for ------------------------------------------------------------------------------ */

static bool is_near(const Func *func, Ref ref, bool lanes, int depth);

/* start + as much in each round, for all lanes alike */
static bool is_near_phi(const Func *func, Ref phi, bool lanes, int depth) {
    bool any = false;
    for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++) {
        Ref arg = ir_arg(func, phi, k);
        bool counts = ir_inst(func, arg)->op == OP_add && ir_arg(func, arg, 0) == phi;
        if (!is_near(func, counts ? ir_arg(func, arg, 1) : arg, lanes && !counts, depth))
            return false;
        any |= counts;
    }
    return any;
}

/* Is it one value for all lanes, or (`lanes`) one that the lanes have near to each other? Numbers of the launch, parameters, lengths and what
 * loops count up from them. */
static bool is_near(const Func *func, Ref ref, bool lanes, int depth) {
    const Inst *inst = ir_inst(func, ref);
    if (depth == 0) return false;
    switch ((int)inst->op) {
    case OP_const:
    case OP_param:
    case OP_shape: return true;
    case OP_lib:
        switch ((int)gpu_generator(inst)) {
        case GEN_thread_x:
        case GEN_thread_y:
        case GEN_thread_z:
        case GEN_lane: return lanes;
        case GEN_blockdim_x:
        case GEN_blockdim_y:
        case GEN_blockdim_z:
        case GEN_block_x:
        case GEN_block_y:
        case GEN_block_z:
        case GEN_griddim_x:
        case GEN_griddim_y:
        case GEN_griddim_z:
        case GEN_warpsize: return true;
        default: return false;
        }
    case OP_add:
    case OP_sub:
        return is_near(func, ir_arg(func, ref, 0), lanes, depth - 1) &&
               is_near(func, ir_arg(func, ref, 1), lanes, depth - 1);
    case OP_mul:
        return is_near(func, ir_arg(func, ref, 0), false, depth - 1) &&
               is_near(func, ir_arg(func, ref, 1), false, depth - 1);
    case OP_cast: return is_near(func, ir_arg(func, ref, 0), lanes, depth - 1);
    case OP_phi: return is_near_phi(func, ref, lanes, depth - 1);
    default: return false;
    }
}

static bool stands_still(const Apart *s, Ref ref) {
    const Inst *inst = ir_inst(s->func, ref);
    return inst->op == OP_const || inst->op == OP_param ||
           !opt_in_loop(&s->cfg, s->loop, inst->block);
}

/* The loop's counter with a value of the launch that an int32 holds, so that what it then counts to is one, too. */
static bool is_wanted(Apart *s, Ref test) {
    const Inst *inst = ir_inst(s->func, test);
    if (inst->op != OP_eq && inst->op != OP_ne) return false;
    Ref a = ir_arg(s->func, test, 0), b = ir_arg(s->func, test, 1);
    if (b == s->counted.counter) b = a, a = s->counted.counter;
    if (a != s->counted.counter || b == a || ir_type(s->func, b)->kind != TY_i64) return false;
    if (ir_inst(s->func, b)->op == OP_const || !stands_still(s, b)) return false;
    s->test = test, s->value = b;
    return is_near(s->func, b, true, NEAR_DEPTH) && gpu_int_fits(gpu_int_range(s->ints, b));
}

/* The first such test; NO_REF: there is none, or the loop cannot be copied. */
static bool find_test(Apart *s) {
    const Loop *info = &s->cfg.loops.items[s->loop];
    int32_t size = 0;
    Ref found = NO_REF, value = NO_REF;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &s->func->blocks.items[info->blocks.items[i]];
        size += block->insts.len;
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *inst = ir_inst(s->func, block->insts.items[k]);
            if (inst->op == OP_static_array || inst->error != NO_BLOCK) return false;
            if (!found && is_wanted(s, block->insts.items[k])) found = s->test, value = s->value;
        }
    }
    s->test = found, s->value = value;
    return found && size <= MOST_APART;
}

static bool is_candidate(Apart *s, int32_t header) {
    int64_t rounds;
    s->loop = opt_loop_of_header(&s->cfg, header);
    if (s->loop < 0 || header == 0 || s->func->blocks.items[header].cold ||
        !opt_is_innermost(&s->cfg, s->loop))
        return false;
    const Loop *info = &s->cfg.loops.items[s->loop];
    if (info->latch == NO_BLOCK || s->func->blocks.items[header].preds.len != 2) return false;
    if (!opt_loop_of_items(s->func, &s->cfg, s->loop, &s->counted)) return false;
    if (opt_const_int(s->func, s->counted.limit, &rounds) && rounds <= FEW_ROUNDS) return false;
    return find_test(s) && !opt_work_items_meet(s->func, info);
}

/* -- the change --------------------------------------------------------------------------------------- */

static Ref op_at(Apart *s, int32_t block, Op op, const Ref *args, int32_t n) {
    Func *func = s->func;
    Ref ref = ir_insert(func, block, opt_position(func, ir_terminator(func, block)), op, args, n);
    bool compares = ir_op_info[op].result == RES_BOOL;
    ir_inst(func, ref)->type = type_scalar(func->module->types, compares ? TY_bool : TY_i64);
    ir_inst(func, ref)->span = ir_inst(func, s->counted.test)->span;
    return ref;
}

static void retarget(Func *func, int32_t from, int32_t old, int32_t to) {
    Inst *last = ir_inst(func, ir_terminator(func, from));
    last->target[last->target[0] != old] = to;
    ir_edge_add(func, from, to);
}

/* What the inner loop counts to: the value where it is ahead, else the limit. */
static Ref next_stop(Apart *s, int32_t around, Ref start) {
    Ref limit = s->counted.limit;
    Ref ahead = op_at(s, around, OP_le, (Ref[]){start, s->value}, 2);
    Ref within = op_at(s, around, OP_lt, (Ref[]){s->value, limit}, 2);
    Ref stop = op_at(s, around, OP_select, (Ref[]){within, s->value, limit}, 3);
    return op_at(s, around, OP_select, (Ref[]){ahead, stop, limit}, 3);
}

/* A variable of the loop around for each of the loop's: what that starts with, and what the round apart leaves. */
static Ref vary_around(Apart *s, int32_t around, Ref phi, int at, Ref start, Ref left) {
    Func *func = s->func;
    Ref outer = ir_insert(func, around, at, OP_phi, (Ref[]){start, left}, 2);
    ir_inst(func, outer)->type = ir_type(func, phi);
    ir_inst(func, outer)->span = ir_inst(func, phi)->span;
    return outer;
}

/* The copy of the loop's blocks is entered where the loop ends, asks whether there is such a round, and leads to the loop around. */
static void take_apart(Apart *s) {
    Func *func = s->func;
    Arena *arena = s->ctx->arena;
    int32_t around = ir_edge_split(func, s->counted.entry_pred, s->counted.header);
    int32_t header = s->counted.header, exit = s->counted.exit;
    const Loop *info = &s->cfg.loops.items[s->loop];
    Ref *ref_map = arena_array(arena, Ref, func->insts.len);
    int32_t *block_map = arena_array(arena, int32_t, func->blocks.len);
    ir_clone_blocks(func, info->blocks.items, info->blocks.len, ref_map, block_map);
    int32_t copy = block_map[header], back = block_map[info->latch];
    int32_t entry_at = func->blocks.items[header].preds.items[0] != around;
    ir_edge_remove(func, back, copy);
    retarget(func, back, copy, around);
    ir_edge_remove(func, header, exit);
    retarget(func, header, exit, copy);
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    Ref one = ir_const_int(func, i64, 1);
    Ref after = op_at(s, back, OP_add, (Ref[]){s->value, one}, 2);
    ir_inst(func, after)->sub = FLAG_NOWRAP; /* the value is below the limit there */
    Ref start = NO_REF;
    for (int32_t i = 0; ir_inst(func, func->blocks.items[header].insts.items[i])->op == OP_phi;
         i++) {
        Ref phi = func->blocks.items[header].insts.items[i];
        Ref next = ir_arg(func, phi, 1 - entry_at), first = ir_arg(func, phi, entry_at);
        bool counts = phi == s->counted.counter;
        Ref left = counts ? after : ref_map[next] ? ref_map[next] : next;
        Ref outer = vary_around(s, around, phi, i, first, left);
        ir_args(func, phi)[entry_at] = outer;
        ir_add_arg(func, ref_map[phi], phi);
        if (counts) start = outer;
    }
    Ref stop = next_stop(s, around, start);
    ir_args(func, s->counted.test)[1] = stop;
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    bool equal = ir_inst(func, s->test)->op == OP_eq;
    Ref yes = ir_const_int(func, boolean, 1), no = ir_const_int(func, boolean, 0);
    Ref *map = arena_array(arena, Ref, func->insts.len);
    map[s->test] = equal ? no : yes;
    map[ref_map[s->test]] = equal ? yes : no;
    Ref copied = ref_map[s->test];
    ir_replace_many(func, map);
    ir_remove(func, s->test);
    ir_remove(func, copied);
}

static void visit(Apart *s, int32_t header) {
    if (!is_candidate(s, header)) return;
    Ref test = s->test, value = s->value;
    if (ir_make_loop_closed(s->func, &s->cfg, s->loop))
        cfg_compute(&s->cfg, s->ctx->arena, s->func);
    s->loop = opt_loop_of_header(&s->cfg, header);
    if (!opt_loop_of_items(s->func, &s->cfg, s->loop, &s->counted)) return;
    s->test = test, s->value = value;
    take_apart(s);
    cfg_compute(&s->cfg, s->ctx->arena, s->func);
    s->ints = gpu_ints(s->ctx, s->func);
}

void opt_apart(PassContext *ctx, Func *func) {
    if (!target_counts_by_lane(ctx->options->infer.target)) return;
    Apart s = {.ctx = ctx, .func = func, .ints = gpu_ints(ctx, func)};
    if (!s.ints) return;
    cfg_compute(&s.cfg, ctx->arena, func);
    Vec(int32_t) headers = {0};
    for (int32_t l = 0; l < s.cfg.loops.len; l++)
        vec_push(ctx->arena, &headers, s.cfg.loops.items[l].header);
    for (int32_t i = 0; i < headers.len; i++)
        visit(&s, headers.items[i]);
}
