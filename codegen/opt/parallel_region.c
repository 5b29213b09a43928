/* parallel_region.c - the blocks that go with the body of a parallel loop.
 *
 * They are the loop's, and those behind it that only raise. Where the loop stands in a `try` or `with`, its instructions raise
 * to a handler that stays behind: the body's function has none, it raises to its caller, and the op `parallel` raises to
 * the handler. For that the edges are led through a block first, the landing, which does nothing but jump there:
 *
 *     check_index ... !handler              check_index ... !landing           landing: jump handler
 *
 * What the handler's phis take from the loop must be there before it, and the same on all edges. */
#include "codegen/opt/parallel.h"

static void add_block(Region *r, int32_t block) {
    if (r->inside[block]) return;
    r->inside[block] = true;
    vec_push(r->ctx->arena, &r->blocks, block);
}

static void begin(Region *r, int32_t l) {
    const Loop *loop = &r->cfg->loops.items[l];
    r->inside = arena_array(r->ctx->arena, bool, r->func->blocks.len);
    r->blocks.len = 0;
    for (int32_t i = 0; i < loop->blocks.len; i++)
        add_block(r, loop->blocks.items[i]);
}

/* The loop, and all that is reached from it but for its exit and `handler`. false: it can be left in another way. */
static bool collect(Region *r, int32_t l, int32_t handler) {
    begin(r, l);
    for (int32_t i = 0; i < r->blocks.len; i++) {
        int32_t to[3], block = r->blocks.items[i];
        int n = ir_successors(r->func, block, to);
        for (int k = 0; k < n; k++)
            if (to[k] != handler && (block != r->loop.header || to[k] != r->loop.exit))
                add_block(r, to[k]);
        Ref last = ir_terminator(r->func, block);
        if (block == r->loop.exit || ir_inst(r->func, last)->op == OP_return) return false;
    }
    for (int32_t i = 0; i < r->blocks.len; i++) { /* one way in */
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->preds.len && r->blocks.items[i] != r->loop.header; k++)
            if (!r->inside[block->preds.items[k]]) return false;
    }
    return true;
}

static int32_t error_of(const Func *func, int32_t block) {
    for (int32_t i = 0; i < func->blocks.items[block].insts.len; i++) {
        int32_t error = ir_inst(func, func->blocks.items[block].insts.items[i])->error;
        if (error != NO_BLOCK) return error;
    }
    return NO_BLOCK;
}

/* The one block that instructions of the loop raise to and that does not belong to it. */
static int32_t find_handler(Region *r, int32_t l) {
    begin(r, l);
    int32_t handler = NO_BLOCK, n = r->blocks.len;
    for (int32_t i = 0; i < n; i++) {
        int32_t error = error_of(r->func, r->blocks.items[i]);
        if (error == NO_BLOCK || r->inside[error]) continue;
        if (handler != NO_BLOCK && handler != error) return NO_BLOCK;
        handler = error;
    }
    return handler;
}

static bool is_landing(const Region *r, int32_t block) {
    const Block *b = &r->func->blocks.items[block];
    for (int32_t k = 0; k < b->preds.len; k++)
        if (!r->inside[b->preds.items[k]]) return false;
    return b->insts.len == 1 && ir_inst(r->func, b->insts.items[0])->op == OP_jump;
}

/* What the phi takes on all edges from the region, if it is there before the loop. */
static Ref comes_from_before(const Region *r, Ref phi) {
    const Func *func = r->func;
    const Block *handler = &func->blocks.items[ir_inst(func, phi)->block];
    Ref found = NO_REF;
    for (int32_t k = 0; k < handler->preds.len; k++) {
        if (!r->inside[handler->preds.items[k]]) continue;
        Ref value = ir_arg(func, phi, k);
        if (r->inside[ir_inst(func, value)->block] || (found && found != value)) return NO_REF;
        found = value;
    }
    return found;
}

static bool make_landing(Region *r, int32_t handler) {
    Func *func = r->func;
    Vec(Ref) phis = {0}, values = {0};
    for (int32_t i = 0; i < func->blocks.items[handler].insts.len; i++) {
        Ref phi = func->blocks.items[handler].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        vec_push(r->ctx->arena, &phis, phi);
        vec_push(r->ctx->arena, &values, comes_from_before(r, phi));
        if (!vec_last(&values)) return false;
    }
    int32_t landing = ir_block_new(func);
    for (int32_t i = 0; i < r->blocks.len; i++) {
        int32_t block = r->blocks.items[i];
        for (int32_t k = 0; k < func->blocks.items[block].insts.len; k++) {
            Inst *inst = ir_inst(func, func->blocks.items[block].insts.items[k]);
            if (inst->error != handler) continue;
            inst->error = landing;
            ir_edge_remove(func, block, handler);
            ir_edge_add(func, block, landing);
        }
    }
    Builder b = {.func = func, .block = landing, .at = -1, .error = NO_BLOCK};
    b_jump(&b, handler);
    for (int32_t i = 0; i < phis.len; i++)
        ir_add_arg(func, phis.items[i], values.items[i]);
    return true;
}

RegionShape region_find_blocks(Region *r, int32_t l) {
    r->landing = NO_BLOCK;
    if (collect(r, l, NO_BLOCK)) return REGION_FOUND;
    int32_t handler = find_handler(r, l);
    if (handler == NO_BLOCK || !collect(r, l, handler)) return REGION_LEFT_EARLY;
    if (!is_landing(r, handler))
        return make_landing(r, handler) ? REGION_CHANGED : REGION_LEFT_EARLY;
    r->landing = handler;
    return REGION_FOUND;
}
