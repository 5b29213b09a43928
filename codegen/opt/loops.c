/* loops.c - strip-mines the poll out of innermost counted loops.
 *
 *   header: i = phi(0, i+1)               strip: i0 = phi(0, i at the end of a strip)
 *           if i < n: body (poll) ...  =>        stop = i0 + min(n - i0, 65536)
 *                                         header: i = phi(i0, i+1); if i < stop: body ...
 *                                         done:  poll (i - i0); if i < n: strip else exit
 *
 * The inner loop has no call and no exit of ours left, so LLVM vectorises it. A loop whose trip count is a
 * small constant loses its poll altogether; the loop around it counts. */
#include "codegen/opt/pass.h"

enum { STRIP = 65536, SHORT_LOOP = 1024 };

static bool has_inner(const Cfg *cfg, int32_t loop) {
    for (int32_t i = 0; i < cfg->loops.len; i++)
        if (cfg->loops.items[i].parent == loop) return true;
    return false;
}

/* Removes the polls of the loop's own latches; the span of one of them, or 0 when there was none. */
static bool remove_polls(Func *func, const Cfg *cfg, int32_t loop, int32_t *span) {
    const Loop *info = &cfg->loops.items[loop];
    bool any = false;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = block->insts.len - 1; k >= 0; k--) {
            Ref ref = block->insts.items[k];
            if (ir_inst(func, ref)->op != OP_poll || ir_inst(func, ref)->error != NO_BLOCK)
                continue;
            *span = ir_inst(func, ref)->span;
            ir_remove(func, ref);
            any = true;
        }
    }
    return any;
}

/* A phi of `strip` for each phi of the header: from outside, and (later) from the end of a strip. */
static Ref strip_phi(Func *func, Builder *b, Ref phi, int32_t entry_at) {
    Ref outside = ir_arg(func, phi, entry_at);
    Ref copy = b_phi(b, ir_type(func, phi));
    ir_add_arg(func, copy, outside);
    ir_add_arg(func, copy, phi);
    ir_args(func, phi)[entry_at] = copy;
    return copy;
}

static void strip_mine(Func *func, const CountedLoop *loop, int32_t span) {
    Module *module = func->module;
    const Type *i64 = type_scalar(module->types, TY_i64),
               *boolean = type_scalar(module->types, TY_bool);
    int32_t strip = ir_block_new(func), done = ir_block_new(func);
    Block *header = &func->blocks.items[loop->header];
    int32_t entry_at = -1;
    for (int32_t i = 0; i < header->preds.len; i++)
        if (header->preds.items[i] == loop->entry_pred) entry_at = i;
    /* outside -> strip -> header */
    Ref enter = ir_terminator(func, loop->entry_pred);
    for (int k = 0; k < 2; k++)
        if (ir_inst(func, enter)->target[k] == loop->header)
            ir_inst(func, enter)->target[k] = strip;
    header->preds.items[entry_at] = strip;
    ir_edge_add(func, loop->entry_pred, strip);
    ir_edge_add(func, done, strip);
    Builder b = {.func = func, .block = strip, .at = -1, .span = span, .error = NO_BLOCK};
    Ref start = NO_REF;
    for (int32_t i = 0; i < func->blocks.items[loop->header].insts.len; i++) {
        Ref phi = func->blocks.items[loop->header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        Ref copy = strip_phi(func, &b, phi, entry_at);
        if (phi == loop->counter) start = copy;
    }
    Ref chunk = ir_const_int(func, i64, STRIP);
    Ref left = b_op2(&b, OP_sub, i64, loop->limit, start);
    Ref more = b_op2(&b, OP_lt, boolean, chunk, left);
    Ref count = b_op3(&b, OP_select, i64, more, chunk, left);
    Ref stop = b_op2(&b, OP_add, i64, start, count);
    Ref jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(func, jump)->target[0] = loop->header; /* its predecessor entry was renamed above */
    /* header: up to `stop`, then to `done` */
    ir_args(func, loop->test)[1] = stop;
    Ref branch = ir_terminator(func, loop->header);
    ir_inst(func, branch)->target[1] = done;
    Block *exit = &func->blocks.items[loop->exit];
    for (int32_t i = 0; i < exit->preds.len; i++)
        if (exit->preds.items[i] == loop->header) {
            exit->preds.items[i] = done;
            break;
        }
    ir_edge_add(func, loop->header, done);
    b = (Builder){.func = func, .block = done, .at = -1, .span = span, .error = NO_BLOCK};
    Ref ran = b_op2(&b, OP_sub, i64, loop->counter, start);
    b_op1(&b, OP_poll, NULL, ran);
    Ref again = b_op2(&b, OP_lt, boolean, loop->counter, loop->limit);
    Ref back = b_inst(&b, OP_branch, NULL, &again, 1);
    ir_inst(func, back)->target[0] =
        strip; /* both edges are already in the lists of predecessors */
    ir_inst(func, back)->target[1] = loop->exit;
}

void opt_loops(PassContext *ctx, Func *func) {
    if (ctx->options->entry == ENTRY_KERNEL && ctx->options->infer.target != TARGET_CPU) return;
    Cfg cfg;
    cfg_compute(&cfg, ctx->arena, func);
    for (int32_t l = cfg.loops.len - 1; l >= 0; l--) {
        CountedLoop loop;
        int32_t span = 0;
        int64_t trips;
        if (func->blocks.items[cfg.loops.items[l].header].cold || has_inner(&cfg, l) ||
            !opt_counted_loop(func, &cfg, l, &loop))
            continue;
        if (!remove_polls(func, &cfg, l, &span)) continue;
        if (opt_const_int(func, loop.limit, &trips) && trips <= SHORT_LOOP) continue;
        strip_mine(func, &loop, span);
    }
}
