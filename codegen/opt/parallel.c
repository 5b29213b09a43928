/* parallel.c - loops over prange become calls of their bodies on several threads.
 *
 *     n = prange length                    c = chunks n; partials = alloc c
 *     for counter < n: ... s = add s, x    parallel @f.parallel1 (n, c, inputs ..., partials)
 *                                          for k < c: s = k == 0 ? partials[k] : add s, partials[k]
 *
 * The iterations are cut into chunks, and each chunk ends with values of its own for the variables that the
 * iterations share (carried.c). These are put together in the order of the chunks, so that the result depends on
 * their number and not on which thread was faster. Loops inside of a body run one iteration after the other: the body is
 * not a parallel function. A loop that is left early (break, return) stays as it is.
 *
 * The pass comes first: all others see the bodies as functions like any others. */
#include "codegen/opt/parallel.h"

static bool find_loop(Region *r, int32_t l) {
    if (!opt_counted_loop(r->func, r->cfg, l, &r->loop)) return false;
    r->marker = r->loop.limit;
    return ir_inst(r->func, r->marker)->op == OP_prange;
}

/* -- the call ----------------------------------------------------------------------------------- */

/* Where the loop has a handler, that is raised to: through the landing, which has no phis. */
static Ref may_raise(Builder *b, Ref inst) {
    b_continue(b);
    return inst;
}

static Ref alloc_partials(Region *r, Builder *b, const Type *element, Ref chunks) {
    const Type *type = type_array(r->ctx->module->types, element, 1, LAYOUT_C);
    return may_raise(b, b_op1(b, OP_alloc, type, chunks));
}

static Ref alloc_parts(Region *r, Builder *b, Ref array, Ref chunks) {
    const Type *type = ir_type(r->func, array), *i64 = type_scalar(r->ctx->module->types, TY_i64);
    Ref *lengths = arena_array(r->ctx->arena, Ref, type->ndim + 1);
    int chunk_axis = type->layout == LAYOUT_F ? type->ndim : 0;
    lengths[chunk_axis] = chunks;
    for (int k = 0; k < type->ndim; k++) {
        Ref length = b_op1(b, OP_shape, i64, array);
        ir_inst(r->func, length)->imm = k;
        lengths[k + (chunk_axis == 0)] = length;
    }
    const Type *parts = shared_parts_type(r->ctx->module->types, type);
    return may_raise(b, b_inst(b, OP_alloc, parts, lengths, type->ndim + 1));
}

static void call_body(Region *r, Builder *b, Ref chunks) {
    Vec(Ref) args = {0};
    Arena *arena = r->ctx->arena;
    vec_push(arena, &args, r->marker);
    vec_push(arena, &args, chunks);
    for (int32_t i = 0; i < r->inputs.len; i++)
        vec_push(arena, &args, r->inputs.items[i]);
    for (int32_t i = 0; i < r->carried.len; i++) {
        Carried *v = &r->carried.items[i];
        if (!carried_has_result(v)) continue;
        v->partials = alloc_partials(r, b, ir_type(r->func, v->phi), chunks);
        vec_push(arena, &args, v->partials);
        if (v->kind != CARRIED_LAST) continue;
        const Type *boolean = type_scalar(r->ctx->module->types, TY_bool);
        v->flags = alloc_partials(r, b, boolean, chunks);
        vec_push(arena, &args, v->flags);
    }
    for (int32_t i = 0; i < r->arrays.len; i++) {
        r->arrays.items[i].parts = alloc_parts(r, b, r->arrays.items[i].array, chunks);
        vec_push(arena, &args, r->arrays.items[i].parts);
    }
    Ref call = b_inst(b, OP_parallel, NULL, args.items, args.len);
    ir_inst(r->func, call)->u.func = r->body;
    may_raise(b, call);
}

/* -- putting together --------------------------------------------------------------------------- */

/* Does the part of a chunk take the place of what those before it came to? */
static Ref is_better(Region *r, Builder *b, const Carried *v, Ref so_far, Ref index) {
    Ref part = b_op2(b, OP_load, ir_type(r->func, v->phi), v->partials, index);
    Ref less = v->kind == CARRIED_LESS ? part : so_far, more = less == part ? so_far : part;
    return b_op2(b, OP_lt, type_scalar(r->ctx->module->types, TY_bool), less, more);
}

static Ref combine(Region *r, Builder *b, const Carried *v, const Ref *results, Ref index,
                   Ref is_first) {
    Ref so_far = results[v - r->carried.items];
    const Type *type = ir_type(r->func, v->phi);
    Ref part = b_op2(b, OP_load, type, v->partials, index);
    static const Op ops[] = {[CARRIED_ADD] = OP_add,
                             [CARRIED_MULTIPLY] = OP_mul,
                             [CARRIED_XOR] = OP_xor,
                             [CARRIED_AND] = OP_and,
                             [CARRIED_OR] = OP_or};
    if (v->kind == CARRIED_LAST) {
        Ref flag = b_op2(b, OP_load, type_scalar(r->ctx->module->types, TY_bool), v->flags, index);
        return b_op3(b, OP_select, type, flag, part, so_far);
    }
    if (v->kind == CARRIED_LESS || v->kind == CARRIED_GREATER || v->kind == CARRIED_BESIDE) {
        int32_t leader = v->kind == CARRIED_BESIDE ? v->leader : (int32_t)(v - r->carried.items);
        Ref better = is_better(r, b, &r->carried.items[leader], results[leader], index);
        return b_op3(b, OP_select, type, better, part, so_far);
    }
    if (v->kind == CARRIED_CHOICE) {
        Ref both = b_op2(b, OP_lib, type, so_far, part);
        ir_inst(r->func, both)->u.name = v->choice;
        ir_inst(r->func, both)->imm = v->row;
        return both;
    }
    Ref both = b_op2(b, ops[v->kind], type, so_far, part);
    bool from_identity =
        v->kind == CARRIED_ADD || v->kind == CARRIED_MULTIPLY || v->kind == CARRIED_XOR;
    return from_identity ? b_op3(b, OP_select, type, is_first, part, both) : both;
}

/* A loop over the chunks; the builder goes on behind it. results[i]: the value of carried[i] after all. */
static void put_together(Region *r, Builder *b, Ref chunks, Ref *results) {
    Func *func = r->func;
    const Type *i64 = type_scalar(r->ctx->module->types, TY_i64),
               *boolean = type_scalar(r->ctx->module->types, TY_bool);
    Ref zero = ir_const_int(func, i64, 0), one = ir_const_int(func, i64, 1);
    int32_t header = ir_block_new(func), body = ir_block_new(func), done = ir_block_new(func);
    b_jump(b, header);
    b->block = header;
    Ref index = b_phi(b, i64);
    ir_add_arg(func, index, zero);
    for (int32_t i = 0; i < r->carried.len; i++) {
        const Carried *v = &r->carried.items[i];
        if (!carried_has_result(v)) continue;
        results[i] = b_phi(b, ir_type(func, v->phi));
        ir_add_arg(func, results[i], v->start);
    }
    b_branch(b, b_op2(b, OP_lt, boolean, index, chunks), body, done);
    b->block = body;
    Ref next = b_op2(b, OP_add, i64, index, one);
    ir_inst(func, next)->sub = FLAG_NOWRAP;
    Ref is_first = b_op2(b, OP_eq, boolean, index, zero);
    for (int32_t i = 0; i < r->carried.len; i++) {
        if (!carried_has_result(&r->carried.items[i])) continue;
        Ref value = combine(r, b, &r->carried.items[i], results, index, is_first);
        ir_add_arg(func, results[i], value);
    }
    for (int32_t i = 0; i < r->arrays.len; i++) {
        const SharedArray *shared = &r->arrays.items[i];
        const Type *type = ir_type(func, shared->array);
        Ref part = shared_part(b, shared->parts, index, type);
        Ref into = b_op3(b, OP_map_into, NULL, shared->array, shared->array, part);
        ir_inst(func, into)->u.func =
            combining_function(r->ctx->module, shared->kind, type->element);
        may_raise(b, into);
    }
    ir_add_arg(func, index, next);
    may_raise(b, b_inst(b, OP_poll, NULL, NULL, 0));
    b_jump(b, header);
    b->block = done;
}

/* -- the exchange ------------------------------------------------------------------------------- */

/* What read the phis behind the loop reads the results. */
static void replace_results(Region *r, const Ref *results) {
    Ref *map = arena_array(r->ctx->arena, Ref, r->func->insts.len);
    map[r->loop.counter] = r->marker;
    for (int32_t i = 0; i < r->carried.len; i++) {
        const Carried *v = &r->carried.items[i];
        map[v->phi] = carried_has_result(v) ? results[i] : v->start;
    }
    ir_replace_many(r->func, map);
}

static void remove_loop(Region *r) {
    for (int32_t i = 0; i < r->blocks.len; i++) {
        Block *block = &r->func->blocks.items[r->blocks.items[i]];
        while (block->insts.len)
            ir_remove(r->func, vec_last(&block->insts));
        block->preds.len = 0;
        block->removed = true;
    }
}

static void exchange(Region *r) {
    Func *func = r->func;
    Builder b = {.func = func, .block = ir_block_new(func), .at = -1, .error = r->landing};
    b.span = ir_inst(func, r->marker)->span;
    if (r->landing != NO_BLOCK) func->blocks.items[r->landing].preds.len = 0;
    int32_t call = b.block, results_of = r->arrays.len;
    Ref chunks = b_op1(&b, OP_chunks, type_scalar(r->ctx->module->types, TY_i64), r->marker);
    if (r->arrays.len) ir_inst(func, chunks)->sub = FLAG_FEW;
    call_body(r, &b, chunks);
    Ref *results = arena_array(r->ctx->arena, Ref, r->carried.len + 1);
    for (int32_t i = 0; i < r->carried.len; i++)
        results_of += carried_has_result(&r->carried.items[i]);
    if (results_of) put_together(r, &b, chunks, results);
    Ref jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(func, jump)->target[0] = r->loop.exit;
    Block *exit = &func->blocks.items[r->loop.exit];
    for (int32_t i = 0; i < exit->preds.len; i++)
        if (exit->preds.items[i] == r->loop.header) exit->preds.items[i] = b.block;
    Ref enter = ir_terminator(func, r->loop.entry_pred);
    for (int k = 0; k < 2; k++)
        if (ir_inst(func, enter)->target[k] == r->loop.header)
            ir_inst(func, enter)->target[k] = call;
    ir_edge_add(func, r->loop.entry_pred, call);
    remove_loop(r);
    replace_results(r, results);
}

/* -- remarks ------------------------------------------------------------------------------------ */

void parallel_remark(PassContext *ctx, const Func *func, Ref at, int level, Str text) {
    Remark r = {level, ir_span_of(func, at), text};
    if (ctx->options->keep_text) vec_push(ctx->module->arena, &ctx->module->remarks, r);
}

static const char *how(const Carried *c) {
    switch (c->kind) {
    case CARRIED_LAST: return "its last value is kept";
    case CARRIED_ADD: return "a sum (+, -)";
    case CARRIED_MULTIPLY: return "a product (*, /)";
    case CARRIED_XOR: return "a reduction by ^";
    case CARRIED_AND: return "a reduction by & or and";
    case CARRIED_OR: return "a reduction by | or or";
    case CARRIED_LESS: return "the least value, kept by a test";
    case CARRIED_GREATER: return "the greatest value, kept by a test";
    case CARRIED_BESIDE: return "goes with the least or greatest value";
    default: return NULL;
    }
}

static Str name_of(const Region *r, const Carried *c) {
    for (Ref ref = c->phi; ref < c->web.n && ref < r->func->var_names.len; ref++)
        if (bits_get(&c->web, ref) && r->func->var_names.items[ref].len)
            return r->func->var_names.items[ref];
    return STR("a variable");
}

/* "in chunks on several threads; s: a sum (+, -); m: a reduction by min" */
static void tell_moved(const Region *r) {
    if (ir_inst(r->func, r->marker)->imm == PRANGE_OF_ARRAYS) return; /* spread.c tells */
    StrBuf text;
    Arena *arena = r->ctx->module->arena;
    buf_init(&text, arena);
    buf_str(&text, "runs on several threads");
    for (int32_t i = 0; i < r->carried.len; i++) {
        const Carried *c = &r->carried.items[i];
        if (!carried_has_result(c)) continue;
        Str name = name_of(r, c);
        buf_printf(&text, "; " STR_FMT ": ", STR_ARG(name));
        if (c->kind == CARRIED_CHOICE)
            buf_printf(&text, "a reduction by " STR_FMT, STR_ARG(*c->choice));
        else
            buf_str(&text, how(c));
    }
    for (int32_t i = 0; i < r->arrays.len; i++) {
        Carried same = {.kind = r->arrays.items[i].kind};
        buf_printf(&text, "; an array of each thread's own, combined behind the loop: %s",
                   how(&same));
    }
    if (r->updates)
        buf_str(
            &text,
            "; elements whose index does not go by the counter are changed by atomic operations");
    parallel_remark(r->ctx, r->func, r->marker, 1, buf_take(&text));
}

/* -- the pass ----------------------------------------------------------------------------------- */

/* The loop, and those over prange in it, are not looked at again. */
static void set_aside(Region *r) {
    ir_inst(r->func, r->marker)->imm = PRANGE_REFUSED;
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &r->func->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (ir_inst(r->func, block->insts.items[k])->op == OP_prange)
                ir_inst(r->func, block->insts.items[k])->imm = PRANGE_REFUSED;
    }
}

/* The loop is one over range; those in it are looked at. */
static void stay(PassContext *ctx, Func *func, Ref marker, Str why) {
    if (!ir_inst(func, marker)->imm) parallel_remark(ctx, func, marker, 1, why);
    ir_inst(func, marker)->imm = PRANGE_TOLD;
}

/* The next loop over prange that can be moved, outer ones first. */
static bool move_one(PassContext *ctx, Func *func) {
    Cfg cfg;
    cfg_compute(&cfg, ctx->arena, func);
    for (int32_t l = 0; l < cfg.loops.len; l++) {
        Region r = {.ctx = ctx, .func = func, .cfg = &cfg};
        if (!find_loop(&r, l) || ir_inst(func, r.marker)->imm == PRANGE_REFUSED) continue;
        RegionShape shape = region_find_blocks(&r, l);
        if (shape == REGION_CHANGED) return true;
        if (shape == REGION_LEFT_EARLY) {
            stay(ctx, func, r.marker,
                 STR("runs on one thread: it can be left before its end (break, return, a handler "
                     "that sees what it assigns)"));
            continue;
        }
        if (region_draws(&r)) {
            stay(ctx, func, r.marker,
                 STR("runs on one thread: it draws from a numpy.random.Generator, whose numbers "
                     "come one "
                     "after the other"));
            continue;
        }
        region_make_private(&r);
        if (!region_objects_are_safe(&r) || !region_find_carried(&r) || !region_find_crossings(&r))
            return set_aside(&r), ctx->tell_all;
        region_make_updates_atomic(&r);
        tell_moved(&r);
        region_make_body(&r);
        exchange(&r);
        return true;
    }
    return false;
}

/* Loops that stay are loops over range. */
static void drop_markers(PassContext *ctx, Func *func) {
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    bool any = false;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = block->insts.len; i-- > 0;) {
            Ref ref = block->insts.items[i];
            if (ir_inst(func, ref)->op != OP_prange) continue;
            map[ref] = ir_arg(func, ref, 0);
            if (!func->parallel && !ir_inst(func, ref)->imm)
                parallel_remark(ctx, func, ref, 1,
                                STR("runs on one thread: it lies in another parallel loop"));
            any = true;
        }
    }
    if (!any) return;
    ir_replace_many(func, map);
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (map[ref]) ir_remove(func, ref);
}

void opt_parallel(PassContext *ctx, Func *func) {
    if (func->parallel) opt_merge_blocks(func);
    while (func->parallel && (!ctx->module->diags->failed || ctx->tell_all) && move_one(ctx, func))
        ;
    drop_markers(ctx, func);
}
