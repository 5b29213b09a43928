/* outline.c - moves a copy of a loop nest into a function of its own.
 *
 *   preheader: branch c, header, checked        checked: r = call @f.checked1 live-ins...
 *   header: ... (the nest, unchanged)                    exit 0: its phis take item 0, 1 ... of r
 *
 * What the nest uses from outside becomes a parameter (constants are made again), what leaves it is the
 * result: the values of the phis at its exits, before them the number of the exit where there are several.
 * The entry block of the new function is cold: code generation compiles such a function when it is first
 * called. The nest must be in loop-closed form and have no error edges: the pass that places reference
 * counts comes later, and does so in both functions. */
#include "codegen/opt/pass.h"

enum { MAX_EXITS = 4 };

typedef struct Outline {
    PassContext *ctx;
    Func *from, *to;
    const Loop *loop;
    Vec(Ref) inputs; /* of `from`: the arguments */
    Vec(int32_t) exits;
    Vec(const Type *) results;
    Ref *refs;       /* from's -> to's */
    int32_t *blocks; /* from's -> to's, for those of the loop */
    int32_t *ends;   /* exit -> block of `to` that returns */
} Outline;

static bool inside(const Outline *o, int32_t block) {
    return o->blocks[block] != NO_BLOCK;
}

/* Memory with a place of its own, and what has an exit nobody sees, stays where it is. */
static bool movable(const Inst *inst) {
    switch ((int)inst->op) {
    case OP_static_array:
    case OP_dynamic_shared:
    case OP_frozen: return false;
    default: return inst->error == NO_BLOCK;
    }
}

/* -- what goes in, what comes out -------------------------------------------------------------- */

static void find_input(Outline *o, Ref ref) {
    const Inst *inst = ir_inst(o->from, ref);
    if (o->refs[ref] || inst->op == OP_const || inside(o, inst->block)) return;
    o->refs[ref] = -1; /* seen */
    vec_push(o->ctx->arena, &o->inputs, ref);
}

static bool find_exits(Outline *o, int32_t block) {
    int32_t to[3];
    int n = ir_successors(o->from, block, to);
    for (int i = 0; i < n; i++) {
        bool known = inside(o, to[i]);
        for (int32_t k = 0; k < o->exits.len; k++)
            known = known || o->exits.items[k] == to[i];
        if (!known) vec_push(o->ctx->arena, &o->exits, to[i]);
    }
    return o->exits.len <= MAX_EXITS;
}

static bool look(Outline *o) {
    for (int32_t i = 0; i < o->loop->blocks.len; i++) {
        int32_t block = o->loop->blocks.items[i];
        const Block *b = &o->from->blocks.items[block];
        if (!find_exits(o, block)) return false;
        for (int32_t k = 0; k < b->insts.len; k++) {
            const Inst *inst = ir_inst(o->from, b->insts.items[k]);
            if (!movable(inst)) return false;
            for (int32_t a = 0; a < inst->nargs; a++)
                find_input(o, ir_arg(o->from, b->insts.items[k], a));
        }
    }
    return o->exits.len > 0;
}

static int32_t phi_count(const Func *func, int32_t block) {
    const Block *b = &func->blocks.items[block];
    int32_t n = 0;
    while (n < b->insts.len && ir_inst(func, b->insts.items[n])->op == OP_phi)
        n++;
    return n;
}

/* All predecessors of an exit must be in the loop. What its phis merge is a result. */
static bool find_results(Outline *o) {
    Arena *arena = o->ctx->module->arena;
    if (o->exits.len > 1) vec_push(arena, &o->results, type_scalar(o->ctx->module->types, TY_i64));
    for (int32_t e = 0; e < o->exits.len; e++) {
        const Block *exit = &o->from->blocks.items[o->exits.items[e]];
        for (int32_t i = 0; i < exit->preds.len; i++)
            if (!inside(o, exit->preds.items[i])) return false;
        for (int32_t i = 0; i < phi_count(o->from, o->exits.items[e]); i++)
            vec_push(arena, &o->results, ir_type(o->from, exit->insts.items[i]));
    }
    return true;
}

/* -- the new function -------------------------------------------------------------------------- */

static void make_function(Outline *o) {
    Module *module = o->ctx->module;
    Arena *arena = module->arena;
    Func *from = o->from;
    o->to = ir_func_part(
        from, str_printf(arena, STR_FMT ".checked%d", STR_ARG(from->name), (int)module->funcs.len));
    Func *to = o->to;
    to->nparams = o->inputs.len;
    Str *names = arena_array(arena, Str, o->inputs.len + 1);
    const Type **types = arena_array(arena, const Type *, o->inputs.len + 1);
    for (int32_t i = 0; i < o->inputs.len; i++) {
        types[i] = ir_type(from, o->inputs.items[i]);
        names[i] = str_printf(arena, "p%d", (int)i);
    }
    to->param_names = names;
    to->param_types = types;
    to->result = o->results.len == 0 ? type_scalar(module->types, TY_none)
                 : o->results.len == 1
                     ? o->results.items[0]
                     : type_tuple(module->types, o->results.items, o->results.len);
    for (int32_t i = 1; i < from->spans.len; i++)
        vec_push(arena, &to->spans, from->spans.items[i]);
    int32_t entry = ir_block_new(to);
    to->blocks.items[entry].cold = true;
    for (int32_t i = 0; i < o->inputs.len; i++) {
        Ref param = ir_append(to, entry, OP_param, NULL, 0);
        ir_inst(to, param)->imm = i;
        ir_inst(to, param)->type = types[i];
        o->refs[o->inputs.items[i]] = param;
    }
}

/* In block `block`, with the operands of `from` still. */
static void copy_inst(Outline *o, int32_t block, Ref ref) {
    o->refs[ref] = opt_copy_inst(o->to, block, o->from, ref);
}

static void copy_constants(Outline *o) {
    for (int32_t i = 0; i < o->loop->blocks.len; i++) {
        const Block *b = &o->from->blocks.items[o->loop->blocks.items[i]];
        for (int32_t k = 0; k < b->insts.len; k++)
            for (int32_t a = 0; a < ir_inst(o->from, b->insts.items[k])->nargs; a++) {
                Ref arg = ir_arg(o->from, b->insts.items[k], a);
                if (ir_inst(o->from, arg)->op == OP_const && !o->refs[arg]) copy_inst(o, 0, arg);
            }
    }
    for (int32_t e = 0; e < o->exits.len; e++) { /* a phi at an exit may merge constants */
        const Block *exit = &o->from->blocks.items[o->exits.items[e]];
        for (int32_t i = 0; i < phi_count(o->from, o->exits.items[e]); i++)
            for (int32_t a = 0; a < exit->preds.len; a++) {
                Ref arg = ir_arg(o->from, exit->insts.items[i], a);
                if (ir_inst(o->from, arg)->op == OP_const && !o->refs[arg]) copy_inst(o, 0, arg);
            }
    }
}

static void set_operands(Outline *o, Ref ref) {
    Ref *args = arena_array(o->ctx->arena, Ref, ir_inst(o->from, ref)->nargs + 1);
    for (int32_t k = 0; k < ir_inst(o->from, ref)->nargs; k++)
        args[k] = o->refs[ir_arg(o->from, ref, k)];
    ir_set_args(o->to, o->refs[ref], args, ir_inst(o->from, ref)->nargs);
}

/* Where an edge of `from` leads in `to`. */
static int32_t target(const Outline *o, int32_t block) {
    return inside(o, block) ? o->blocks[block] : o->ends[block];
}

static void copy_block(Outline *o, int32_t block) {
    const Block *old = &o->from->blocks.items[block];
    int32_t copy = o->blocks[block];
    for (int32_t k = 0; k < old->preds.len; k++) {
        int32_t pred = old->preds.items[k];
        ir_edge_add(o->to, inside(o, pred) ? o->blocks[pred] : 0, copy);
    }
    for (int32_t k = 0; k < old->insts.len; k++)
        copy_inst(o, copy, old->insts.items[k]);
    Ref last = ir_terminator(o->from, block);
    int n = ir_inst(o->from, last)->op == OP_branch ? 2 : 1;
    for (int t = 0; t < n; t++)
        ir_inst(o->to, ir_terminator(o->to, copy))->target[t] =
            target(o, ir_inst(o->from, last)->target[t]);
}

/* The phis of exit `e`, and the return of all results: those of other exits are not looked at. */
static void make_end(Outline *o, int32_t e) {
    const Block *exit = &o->from->blocks.items[o->exits.items[e]];
    int32_t end = o->ends[o->exits.items[e]], at = 0;
    Ref *results = arena_array(o->ctx->arena, Ref, o->results.len + 1);
    for (int32_t k = 0; k < exit->preds.len; k++)
        ir_edge_add(o->to, o->blocks[exit->preds.items[k]], end);
    for (int32_t i = 0; i < phi_count(o->from, o->exits.items[e]); i++) {
        copy_inst(o, end, exit->insts.items[i]);
        set_operands(o, exit->insts.items[i]);
    }
    Builder b = {.func = o->to, .block = end, .at = -1, .error = NO_BLOCK};
    if (o->exits.len > 1)
        results[at++] = ir_const_int(o->to, type_scalar(o->ctx->module->types, TY_i64), e);
    for (int32_t k = 0; k < o->exits.len; k++) {
        const Block *other = &o->from->blocks.items[o->exits.items[k]];
        for (int32_t i = 0; i < phi_count(o->from, o->exits.items[k]); i++, at++)
            results[at] = k == e ? o->refs[other->insts.items[i]]
                                 : b_inst(&b, OP_undef, o->results.items[at], NULL, 0);
    }
    if (at == 0) {
        Ref none = ir_insert(o->to, 0, o->inputs.len, OP_const, NULL, 0);
        ir_inst(o->to, none)->type = o->to->result;
        ir_inst(o->to, none)->u.value = const_none(o->ctx->module->arena);
        results[0] = none;
    }
    b_return(&b, at > 1 ? b_inst(&b, OP_tuple, o->to->result, results, at) : results[0]);
}

static void fill_function(Outline *o) {
    copy_constants(o);
    for (int32_t i = 0; i < o->loop->blocks.len; i++)
        o->blocks[o->loop->blocks.items[i]] = ir_block_new(o->to);
    for (int32_t e = 0; e < o->exits.len; e++)
        o->ends[o->exits.items[e]] = ir_block_new(o->to);
    Ref jump = ir_append(o->to, 0, OP_jump, NULL, 0);
    ir_inst(o->to, jump)->target[0] = o->blocks[o->loop->header];
    for (int32_t i = 0; i < o->loop->blocks.len; i++)
        copy_block(o, o->loop->blocks.items[i]);
    for (int32_t i = 0; i < o->loop->blocks.len; i++) {
        const Block *b = &o->from->blocks.items[o->loop->blocks.items[i]];
        for (int32_t k = 0; k < b->insts.len; k++)
            set_operands(o, b->insts.items[k]);
    }
    for (int32_t e = 0; e < o->exits.len; e++)
        make_end(o, e);
}

/* -- the call ---------------------------------------------------------------------------------- */

/* `result` of the call goes to the phis of exit `e`, by an edge from the builder's block. */
static int32_t deliver(Outline *o, Builder *b, int32_t e, Ref result, int32_t at) {
    const Block *exit = &o->from->blocks.items[o->exits.items[e]];
    int32_t n = phi_count(o->from, o->exits.items[e]);
    for (int32_t i = 0; i < n; i++, at++) {
        Ref value = result;
        if (o->results.len > 1) {
            value = b_op1(b, OP_item, o->results.items[at], result);
            ir_inst(o->from, value)->imm = at;
        }
        ir_add_arg(o->from, exit->insts.items[i], value);
    }
    return at;
}

static int32_t make_call(Outline *o) {
    Func *from = o->from;
    Builder b = {.func = from, .block = ir_block_new(from), .at = -1, .error = NO_BLOCK};
    const Type *i64 = type_scalar(o->ctx->module->types, TY_i64);
    const Type *boolean = type_scalar(o->ctx->module->types, TY_bool);
    int32_t first = b.block, at = o->exits.len > 1;
    from->blocks.items[first].cold = true;
    b.span = ir_inst(from, ir_terminator(from, o->loop->header))->span;
    Ref result = b_inst(&b, OP_call, o->to->result, o->inputs.items, o->inputs.len), which = NO_REF;
    ir_inst(from, result)->u.func = o->to;
    if (o->exits.len > 1) /* alone, or item 0 */
        which = o->results.len > 1 ? b_op1(&b, OP_item, i64, result) : result;
    for (int32_t e = 0; e < o->exits.len; e++) {
        int32_t next = NO_BLOCK, here = ir_block_new(from);
        from->blocks.items[here].cold = true;
        if (e < o->exits.len - 1) {
            next = ir_block_new(from);
            from->blocks.items[next].cold = true;
            Ref is = b_op2(&b, OP_eq, boolean, which, ir_const_int(from, i64, e));
            b_branch(&b, is, here, next);
        } else {
            b_jump(&b, here);
        }
        b.block = here;
        at = deliver(o, &b, e, result, at);
        b_jump(&b, o->exits.items[e]);
        b.block = next;
    }
    return first;
}

int32_t opt_outline_nest(PassContext *ctx, Func *func, const Loop *loop) {
    Outline o = {.ctx = ctx, .from = func, .loop = loop};
    o.refs = arena_array(ctx->arena, Ref, func->insts.len);
    o.blocks = arena_array(ctx->arena, int32_t, func->blocks.len);
    o.ends = arena_array(ctx->arena, int32_t, func->blocks.len);
    for (int32_t i = 0; i < func->blocks.len; i++)
        o.blocks[i] = o.ends[i] = NO_BLOCK;
    for (int32_t i = 0; i < loop->blocks.len; i++)
        o.blocks[loop->blocks.items[i]] = 0;
    if (!look(&o) || !find_results(&o)) return NO_BLOCK;
    for (int32_t e = 0; e < o.exits.len; e++) /* what an exit merges may come from outside */
        for (int32_t i = 0; i < phi_count(func, o.exits.items[e]); i++) {
            Ref phi = func->blocks.items[o.exits.items[e]].insts.items[i];
            for (int32_t a = 0; a < ir_inst(func, phi)->nargs; a++)
                find_input(&o, ir_arg(func, phi, a));
        }
    make_function(&o);
    fill_function(&o);
    return make_call(&o);
}

bool opt_is_outlined(const Func *func) {
    return func->blocks.len > 0 && func->blocks.items[0].cold;
}
