/* fuse.c - a map whose result one other whole-array op reads, and nothing else, is computed inside that op.
 *
 *   t = map @f (a, b); c = map @g (t, x)   =>   c = map @g∘f (a, b, x)
 *
 * The composed function is one of the module. What must hold:
 *   - between the two nothing writes memory, since the operands are read later than before;
 *   - no failure comes before one that came first: what raises between them, and how the two functions raise, is looked at;
 *   - the consumer has as many axes: a producer that is repeated along an axis would be computed again and again.
 * Where something else may raise between them, or the shape of the result is asked for, the shapes are tested where the map stood.
 * A reduction from the first element gets it as its start.
 *
 * In kernels, which have no heap (unmade.c), whatever fits is taken in. What would read elements that were written before is told,
 * since there is no room for a copy. */
#include "codegen/opt/expand.h"
#include "frontend/base/bits.h"

typedef struct Fuse {
    PassContext *ctx;
    Func *func;
    Ref *user; /* of a value: the one whole-array op that reads it, apart from `shape`; NO_REF */
    bool test_in_front;     /* the shapes of the producer at hand are tested where it stands */
    Vec(const Func *) made; /* functions that belong to one op, and go when that gets another */
} Fuse;

static const Inst *inst_of(const Fuse *f, Ref ref) {
    return ir_inst(f->func, ref);
}

static bool is_whole(int op) {
    return op == OP_map || op == OP_map_into || op == OP_reduce;
}

/* -- what functions do -------------------------------------------------------------------------------- */

enum { DEEPEST = 8 };
typedef struct Effects {
    bool writes, raises;
} Effects;

static void look(const Func *func, Effects *all, int depth);

static void look_at(const Inst *inst, Effects *all, int depth) {
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    uint16_t flags = ir_op_info[inst->op].flags;
    switch ((int)inst->op) {
    case OP_alloc: return; /* out of memory: may come sooner or later */
    case OP_lib:
        if (row && (row->flags & LIB_PURE)) return;
        all->raises = true;
        all->writes |= !row || (row->flags & LIB_WRITES) || !(row->flags & LIB_READS);
        return;
    case OP_call: look(inst->u.func, all, depth + 1); return;
    default: break;
    }
    all->raises |= (flags & OPF_RAISES) != 0;
    all->writes |= (flags & OPF_WRITE) != 0;
}

static void look(const Func *func, Effects *all, int depth) {
    if (depth > DEEPEST) {
        *all = (Effects){true, true};
        return;
    }
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op != OP_removed) look_at(ir_inst(func, ref), all, depth);
}

static Effects effects_of(const Func *func) {
    Effects all = {false, false};
    look(func, &all, 0);
    return all;
}

/* Of an instruction between the two. Shapes that do not fit are no matter of order: any of them is told first. */
static Effects effects_between(const Inst *inst) {
    Effects all = {false, false};
    if (inst->op == OP_map || inst->op == OP_reduce)
        look(inst->u.func, &all, 0);
    else
        look_at(inst, &all, 0);
    return all;
}

/* -- may it move? ---------------------------------------------------------------------------------------- */

static bool may_misfit(const Fuse *f, Ref map) {
    Ref first = NO_REF;
    for (int32_t k = 0; k < inst_of(f, map)->nargs; k++) {
        Ref arg = ir_arg(f->func, map, k);
        if (ir_type(f->func, arg)->kind != TY_ARRAY || arg == first) continue;
        if (first) return true;
        first = arg;
    }
    return false;
}

/* Does the block only raise? */
static bool fails(const Fuse *f, int32_t block) {
    const Block *b = &f->func->blocks.items[block];
    Ref last = ir_terminator(f->func, block);
    if (!last || inst_of(f, last)->op != OP_raise) return false;
    for (int32_t i = 0; i < b->insts.len; i++)
        if (effects_between(inst_of(f, b->insts.items[i])).writes) return false;
    return true;
}

/* Where a block leads that does nothing. */
static int32_t only_jumps(const Fuse *f, int32_t block) {
    const Block *b = &f->func->blocks.items[block];
    if (b->insts.len != 1 || b->preds.len != 1) return NO_BLOCK;
    const Inst *last = inst_of(f, b->insts.items[0]);
    return last->op == OP_jump ? last->target[0] : NO_BLOCK;
}

/* Where a jump leads, or a branch whose other side only raises, or where both sides only meet again: in kernels nothing raises. */
static int32_t goes_on(const Fuse *f, const Inst *last) {
    if (last->op == OP_jump) return last->target[0];
    if (last->op != OP_branch) return NO_BLOCK;
    int32_t met = only_jumps(f, last->target[0]);
    if (met != NO_BLOCK && met == only_jumps(f, last->target[1]) &&
        f->func->blocks.items[met].preds.len == 2)
        return met;
    return fails(f, last->target[1])   ? last->target[0]
           : fails(f, last->target[0]) ? last->target[1]
                                       : NO_BLOCK;
}

/* From the producer on to the consumer, in its block and those that only it leads to. What raises between them comes behind
 * the test of shapes, which then stays where it was. */
static bool path_is_free(Fuse *f, Ref producer, Ref consumer) {
    bool raises = effects_of(inst_of(f, producer)->u.func).raises;
    bool misfits = may_misfit(f, producer);
    f->test_in_front = false;
    int32_t block = inst_of(f, producer)->block, at = opt_position(f->func, producer) + 1;
    for (int32_t steps = 0; steps < f->func->blocks.len; steps++) {
        const Block *b = &f->func->blocks.items[block];
        for (; at < b->insts.len; at++) {
            Ref ref = b->insts.items[at];
            const Inst *inst = inst_of(f, ref);
            if (ref == consumer) return true;
            if (inst->op == OP_jump) break;
            Effects between = effects_between(inst);
            between.raises |= inst->op == OP_branch;
            bool told = is_whole(inst->op) || inst->op == OP_alloc;
            if (between.writes || inst->op == OP_map_into) return false;
            if (raises && (between.raises || (told && inst->op != OP_alloc))) return false;
            f->test_in_front |= misfits && between.raises;
            if (inst->op == OP_branch) break;
        }
        if (at >= b->insts.len) return false;
        const Inst *last = inst_of(f, b->insts.items[at]);
        block = goes_on(f, last);
        bool meets = block != NO_BLOCK && last->op == OP_branch && last->target[0] != block &&
                     last->target[1] != block;
        if (block == NO_BLOCK || f->func->blocks.items[block].preds.len != 1 + meets) return false;
        at = 0;
    }
    return false;
}

/* Both failures lead to the same place with the same values. */
static bool fail_alike(const Fuse *f, Ref producer, Ref consumer) {
    int32_t error = inst_of(f, producer)->error;
    if (error != inst_of(f, consumer)->error) return false;
    if (error == NO_BLOCK) return true;
    const Block *block = &f->func->blocks.items[error];
    int32_t edges[2] = {-1, -1};
    for (int32_t k = 0; k < block->preds.len; k++) {
        if (block->preds.items[k] == inst_of(f, producer)->block) edges[0] = k;
        if (block->preds.items[k] == inst_of(f, consumer)->block) edges[1] = k;
    }
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref phi = block->insts.items[i];
        if (inst_of(f, phi)->op != OP_phi) break;
        if (ir_arg(f->func, phi, edges[0]) != ir_arg(f->func, phi, edges[1])) return false;
    }
    return true;
}

/* -- do they fit? ---------------------------------------------------------------------------------------- */

static int axes_of(const Fuse *f, Ref op) {
    int axes = 0;
    for (int32_t k = 0; k < inst_of(f, op)->nargs; k++) {
        const Type *type = ir_type(f->func, ir_arg(f->func, op, k));
        if (type->kind == TY_ARRAY) axes = QN_MAX(axes, type->ndim);
    }
    return axes;
}

static bool same_size(const Fuse *f, Ref producer, Ref consumer) {
    if (em_without_heap(f->ctx)) return true; /* better again and again than not at all */
    int n = inst_of(f, producer)->type->ndim;
    if (n != axes_of(f, consumer)) return false;
    for (int a = 0; a < n; a++)
        if (em_known_one(f->func, producer, a)) return false;
    return true;
}

/* The first element must be there to be computed in front: all axes, and nothing that leaves the block. */
static bool takes_first(const Fuse *f, Ref consumer) {
    const Inst *inst = inst_of(f, consumer);
    if (inst->op != OP_reduce || !(inst->sub & REDUCE_FIRST)) return true;
    return inst->type->kind != TY_ARRAY && inst->error == NO_BLOCK;
}

static bool asks_shape(const Fuse *f, Ref producer) {
    for (Ref ref = 1; ref < f->func->insts.len; ref++)
        if (inst_of(f, ref)->op == OP_shape && ir_arg(f->func, ref, 0) == producer) return true;
    return false;
}

static bool fits(Fuse *f, Ref producer, Ref consumer) {
    const Inst *inst = inst_of(f, consumer);
    if (inst->op == OP_map_into && ir_arg(f->func, consumer, 0) == producer) return false;
    if (!takes_first(f, consumer) || !same_size(f, producer, consumer)) return false;
    Effects inner = effects_of(inst_of(f, producer)->u.func), outer = effects_of(inst->u.func);
    bool early = inst->op == OP_reduce && (inst->sub & REDUCE_EARLY);
    if (inner.writes || outer.writes) return false;
    if (inner.raises && (outer.raises || early) && !em_without_heap(f->ctx)) return false;
    if (!fail_alike(f, producer, consumer) || !path_is_free(f, producer, consumer)) return false;
    f->test_in_front |= asks_shape(f, producer);
    return !f->test_in_front || inst->error == NO_BLOCK; /* the test has no handler's edge */
}

/* -- the composed function ----------------------------------------------------------------------------------- */

typedef struct Composed {
    Vec(Ref) operands; /* each once */
    Vec(const Type *) types;
    Emit e;
} Composed;

static const Type *scalar_of(const Type *type) {
    return type->kind == TY_ARRAY ? type->element : type;
}

static int32_t parameter(const Composed *c, Ref operand) {
    for (int32_t k = 0; k < c->operands.len; k++)
        if (c->operands.items[k] == operand) return k;
    return -1;
}

static void add_operand(Fuse *f, Composed *c, Ref operand) {
    if (parameter(c, operand) >= 0) return;
    vec_push(f->ctx->arena, &c->operands, operand);
    vec_push(f->ctx->arena, &c->types, scalar_of(ir_type(f->func, operand)));
}

/* The consumer's operands from `skip` on are elements; before them stand `lead` parameters of its function: an
 * accumulator. */
static Func *compose(Fuse *f, Composed *c, Ref producer, Ref consumer, int32_t skip, int32_t lead) {
    Func *inner = inst_of(f, producer)->u.func, *outer = inst_of(f, consumer)->u.func;
    int32_t n = inst_of(f, producer)->nargs, m = inst_of(f, consumer)->nargs - skip;
    Ref *args = arena_array(f->ctx->arena, Ref, n + m + lead + 1);
    if (lead) {
        vec_push(f->ctx->arena, &c->operands, NO_REF);
        vec_push(f->ctx->arena, &c->types, outer->param_types[0]);
    }
    for (int32_t k = 0; k < m; k++) {
        Ref operand = ir_arg(f->func, consumer, skip + k);
        if (operand != producer) add_operand(f, c, operand);
        for (int32_t j = 0; operand == producer && j < n; j++)
            add_operand(f, c, ir_arg(f->func, producer, j));
    }
    Emit from = {.ctx = f->ctx, .func = f->func};
    from.i64 = type_scalar(f->func->module->types, TY_i64);
    from.boolean = type_scalar(f->func->module->types, TY_bool);
    from.b.span = inst_of(f, consumer)->span;
    Func *made = em_function(&c->e, &from, "fused", c->types.items, c->types.len, outer->result);
    for (int32_t j = 0; j < n; j++)
        args[j] = em_param(&c->e, parameter(c, ir_arg(f->func, producer, j)));
    Ref value = em_apply(&c->e, inner, args, n);
    if (lead) args[0] = em_param(&c->e, 0);
    for (int32_t k = 0; k < m; k++) {
        Ref operand = ir_arg(f->func, consumer, skip + k);
        args[lead + k] = operand == producer ? value : em_param(&c->e, parameter(c, operand));
    }
    b_return(&c->e.b, em_apply(&c->e, outer, args, lead + m));
    return made;
}

/* A function that only the op had, and was made here. */
static void drop_function(Fuse *f, const Func *func) {
    Module *module = f->func->module;
    for (int32_t i = 0; i < f->made.len; i++) {
        if (f->made.items[i] != func) continue;
        f->made.items[i] = vec_pop(&f->made);
        int32_t kept = 0;
        for (int32_t k = 0; k < module->funcs.len; k++)
            if (module->funcs.items[k] != func)
                module->funcs.items[kept++] = module->funcs.items[k];
        module->funcs.len = kept;
        return;
    }
}

/* -- the edit -------------------------------------------------------------------------------------------------- */

/* Code in front of `ref`, which then stands in a block of its own, the one that is returned. */
static int32_t open_before(const Fuse *f, Emit *e, Ref ref) {
    int32_t block = inst_of(f, ref)->block, span = inst_of(f, ref)->span;
    int32_t rest = opt_split_block(f->func, block, opt_position(f->func, ref));
    ir_remove(f->func, ir_terminator(f->func, block));
    ir_edge_remove(f->func, block, rest);
    *e = (Emit){.ctx = f->ctx, .func = f->func};
    e->i64 = type_scalar(f->func->module->types, TY_i64);
    e->boolean = type_scalar(f->func->module->types, TY_bool);
    e->b = (Builder){.func = f->func, .block = block, .at = -1, .span = span, .error = NO_BLOCK};
    return rest;
}

/* The producer's first element, in front of the consumer. */
static Ref first_value(Fuse *f, Ref producer, Ref consumer) {
    Emit e;
    int32_t rest = open_before(f, &e, consumer), n = inst_of(f, producer)->nargs;
    Ref *args = arena_array(f->ctx->arena, Ref, n + 1), index[MAX_AXES + 1];
    for (int32_t k = 0; k < n; k++) {
        args[k] = ir_arg(f->func, producer, k);
        const Type *type = ir_type(f->func, args[k]);
        if (type->kind != TY_ARRAY) continue;
        index[0] = args[k];
        for (int a = 0; a < type->ndim; a++)
            index[a + 1] = em_int(&e, 0);
        args[k] = b_inst(&e.b, OP_load, type->element, index, type->ndim + 1);
    }
    Ref value = em_apply(&e, inst_of(f, producer)->u.func, args, n);
    b_jump(&e.b, rest);
    return value;
}

/* `shape` of the producer becomes that of its operands, tested where the producer stood. */
static void replace_shapes(Fuse *f, Ref producer) {
    Vec(Ref) asked = {0};
    for (Ref ref = 1; ref < f->func->insts.len; ref++)
        if (inst_of(f, ref)->op == OP_shape && ir_arg(f->func, ref, 0) == producer)
            vec_push(f->ctx->arena, &asked, ref);
    Emit e;
    WholeOp w = em_whole_op(f->ctx, f->func, producer);
    Ref dims[MAX_AXES];
    int32_t rest = open_before(f, &e, producer);
    em_broadcast(&e, &w, dims);
    b_jump(&e.b, rest);
    Ref *map = arena_array(f->ctx->arena, Ref, f->func->insts.len);
    for (int32_t i = 0; i < asked.len; i++)
        map[asked.items[i]] = dims[inst_of(f, asked.items[i])->imm];
    ir_replace_many(f->func, map);
    for (int32_t i = 0; i < asked.len; i++)
        ir_remove(f->func, asked.items[i]);
}

static void remove_producer(Fuse *f, Ref producer) {
    int32_t error = inst_of(f, producer)->error;
    if (error != NO_BLOCK) ir_edge_remove(f->func, inst_of(f, producer)->block, error);
    ir_inst(f->func, producer)->error = NO_BLOCK;
    ir_remove(f->func, producer);
}

static void fuse(Fuse *f, Ref producer, Ref consumer) {
    const Inst *inst = inst_of(f, consumer);
    bool reduces = inst->op == OP_reduce, first = reduces && (inst->sub & REDUCE_FIRST);
    int32_t skip = inst->op == OP_map_into || (reduces && !first);
    Composed c = {0};
    Ref head = skip ? ir_arg(f->func, consumer, 0) : NO_REF;
    Func *old = inst->u.func, *inner = inst_of(f, producer)->u.func;
    Func *made = compose(f, &c, producer, consumer, skip, reduces);
    if (f->test_in_front) replace_shapes(f, producer);
    if (first) head = first_value(f, producer, consumer);
    Ref *args = arena_array(f->ctx->arena, Ref, c.operands.len + 2);
    int32_t n = 0;
    if (head) args[n++] = head;
    for (int32_t k = reduces; k < c.operands.len; k++)
        args[n++] = c.operands.items[k];
    ir_set_args(f->func, consumer, args, n);
    Inst *fresh = ir_inst(f->func, consumer);
    fresh->u.func = made;
    if (first) fresh->sub = (uint16_t)((fresh->sub & ~REDUCE_FIRST) | REDUCE_REST);
    remove_producer(f, producer);
    drop_function(f, old);
    drop_function(f, inner);
    vec_push(f->ctx->arena, &f->made, made);
}

/* -- kernels ----------------------------------------------------------------------------------------------------- */

static void check_overlap(const Fuse *f, Ref into) {
    WholeOp w = em_whole_op(f->ctx, f->func, into);
    if (em_sharing(f->func, &w) != SHARED) return;
    Span here = ir_span_of(f->func, into);
    diag_add(f->ctx->module->diags, E0612, &here);
    diag_note(f->ctx->module->diags, NULL,
              "write a loop over the elements, or write to another array");
}

/* -- the pass ---------------------------------------------------------------------------------------------------- */

static void find_users(Fuse *f) {
    Bits several = bits_new(f->ctx->arena, f->func->insts.len);
    f->user = arena_array(f->ctx->arena, Ref, f->func->insts.len);
    for (Ref ref = 1; ref < f->func->insts.len; ref++) {
        const Inst *inst = inst_of(f, ref);
        if (inst->op == OP_removed || inst->op == OP_shape) continue;
        for (int32_t k = 0; k < inst->nargs; k++) {
            Ref arg = ir_arg(f->func, ref, k);
            if (!is_whole(inst->op) || (f->user[arg] && f->user[arg] != ref))
                bits_set(&several, arg);
            f->user[arg] = ref;
        }
    }
    for (Ref ref = 1; ref < f->func->insts.len; ref++)
        if (bits_get(&several, ref)) f->user[ref] = NO_REF;
}

/* Producers in the order in which they stand. What becomes possible by a fusion is for the next round. */
static bool one_round(Fuse *f) {
    bool changed = false;
    int32_t known = f->func->insts.len;
    find_users(f);
    for (int32_t b = 0; b < f->func->blocks.len; b++) {
        const Block *block = &f->func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++) {
            Ref ref = block->insts.items[i], user = ref < known ? f->user[ref] : NO_REF;
            if (inst_of(f, ref)->op != OP_map || !user || !fits(f, ref, user)) continue;
            for (int32_t k = 0; k < inst_of(f, ref)->nargs; k++)
                f->user[ir_arg(f->func, ref, k)] = NO_REF;
            fuse(f, ref, user);
            if (em_without_heap(f->ctx) && inst_of(f, user)->op == OP_map_into)
                check_overlap(f, user);
            changed = true;
            block = &f->func->blocks.items[b];
            i = -1; /* the block has changed */
        }
    }
    return changed;
}

void opt_fuse(PassContext *ctx, Func *func) {
    Fuse f = {.ctx = ctx, .func = func};
    bool any = false;
    if (ctx->options->opt_level < 1 && !em_without_heap(ctx)) return;
    for (Ref ref = 1; ref < func->insts.len && !any; ref++)
        any = ir_inst(func, ref)->op == OP_map;
    while (any && one_round(&f))
        ;
}
