/* workitem_build.c - writes what workitem.c has planned: a function for each region, and the kernel as a function of the
 * block that calls them.
 *
 *     f.items1(inputs ...):                        the kernel:
 *       values of other regions, out of slots        values of the block
 *       the region's blocks                          call items @f.items1 (inputs ...)
 *       values that others need, into slots          the branch or jump that led out of the region */
#include "codegen/opt/workitem.h"

typedef struct Build {
    ItemPlan *p;
    const ItemRegion *region;
    int32_t number;
    Func *from, *to;
    Ref *refs;       /* from's -> to's */
    int32_t *blocks; /* likewise, of the region */
    int32_t end;     /* of `to` */
    Vec(Ref) inputs; /* of `from` */
} Build;

static bool inside(const Build *b, int32_t block) {
    return b->p->region[block] == b->number;
}

/* Does an edge to `to` stay in the region? The leader of a chain is entered anew. */
static bool stays(const Build *b, int32_t to) {
    return inside(b, to) && !(to == b->region->leader && item_in_chain(b->p, to));
}

/* -- operands ------------------------------------------------------------------------------------ */

static Ref add_param(Build *b, Ref ref) {
    int32_t at = b->inputs.len;
    Ref param = ir_insert(b->to, 0, at, OP_param, NULL, 0);
    ir_inst(b->to, param)->imm = at;
    ir_inst(b->to, param)->type = ir_type(b->from, ref);
    vec_push(b->p->ctx->module->arena, &b->inputs, ref);
    return param;
}

static bool is_kept_array(const Build *b, Ref ref) {
    return ir_inst(b->from, ref)->op == OP_static_array && b->p->slot[ref];
}

static Ref add_kept(Build *b, Ref ref) {
    bool array = is_kept_array(b, ref);
    Ref kept = ir_append(b->to, 0, array ? OP_kept_array : OP_kept, NULL, 0);
    if (array) {
        ir_inst(b->to, kept)->u = ir_inst(b->from, ref)->u;
        ir_inst(b->to, kept)->sub = ir_inst(b->from, ref)->sub;
    }
    ir_inst(b->to, kept)->imm = b->p->slot[ref] - 1;
    ir_inst(b->to, kept)->type = ir_type(b->from, ref);
    return kept;
}

/* The value in the region: its own, or made in the entry. */
static Ref use(Build *b, Ref ref) {
    if (b->refs[ref]) return b->refs[ref];
    const Inst *inst = ir_inst(b->from, ref);
    Ref made;
    if (inst->op == OP_const) {
        made = opt_copy_inst(b->to, 0, b->from, ref);
    } else if (b->p->kind[ref] == ITEM_BLOCK) {
        made = add_param(b, ref);
    } else if (b->p->kind[ref] == ITEM_AGAIN) {
        Ref *args = arena_array(b->p->ctx->arena, Ref, inst->nargs + 1);
        int32_t n = inst->nargs;
        for (int32_t k = 0; k < n; k++)
            args[k] = use(b, ir_arg(b->from, ref, k));
        made = opt_copy_inst(b->to, 0, b->from, ref);
        ir_set_args(b->to, made, args, n);
    } else {
        made = add_kept(b, ref);
    }
    return b->refs[ref] = made;
}

/* -- the region's blocks --------------------------------------------------------------------------- */

static bool is_barrier(const Build *b, Ref ref) {
    for (int32_t i = 0; i < b->p->barriers.len; i++)
        if (b->p->barriers.items[i] == ref) return true;
    return false;
}

static bool is_copied(const Build *b, Ref ref) {
    return b->p->kind[ref] == ITEM_LOCAL && !is_barrier(b, ref) && !is_kept_array(b, ref) &&
           !item_is_leader_phi(b->p, ref) && !item_is_vote(b->from, ref);
}

static void copy_edges(Build *b, int32_t block) {
    const Block *old = &b->from->blocks.items[block];
    if (block == b->region->leader && item_in_chain(b->p, block)) {
        ir_edge_add(b->to, 0, b->blocks[block]);
        return;
    }
    for (int32_t k = 0; k < old->preds.len; k++) {
        int32_t pred = old->preds.items[k];
        ir_edge_add(b->to, inside(b, pred) ? b->blocks[pred] : 0, b->blocks[block]);
    }
}

static void copy_terminator(Build *b, int32_t block, Ref last) {
    bool leaves = block == b->region->exit && b->region->branches;
    Ref copy;
    if (leaves) {
        copy = ir_append(b->to, b->blocks[block], OP_jump, NULL, 0);
        ir_inst(b->to, copy)->span = ir_inst(b->from, last)->span;
        ir_inst(b->to, copy)->target[0] = b->end;
        return;
    }
    copy = opt_copy_inst(b->to, b->blocks[block], b->from, last);
    b->refs[last] = copy;
    int op = ir_inst(b->from, last)->op;
    for (int t = 0; t < (op == OP_branch ? 2 : op == OP_jump); t++) {
        int32_t to = ir_inst(b->from, last)->target[t];
        ir_inst(b->to, copy)->target[t] = stays(b, to) ? b->blocks[to] : b->end;
    }
}

/* A shuffle becomes a look at what another work-item keeps. */
static void look_at_lane(Build *b, Ref ref) {
    static const struct {
        int gen, sub;
    } rows[] = {{GEN_shfl_idx, 0},
                {GEN_shfl_up, KEPT_UP},
                {GEN_shfl_down, KEPT_DOWN},
                {GEN_shfl_xor, KEPT_XOR}};
    const LibRow *row = lib_row_of(ir_inst(b->from, ref));
    Inst *inst = ir_inst(b->to, b->refs[ref]);
    for (int i = 0; i < countof(rows); i++)
        if (rows[i].gen == row->cpu.id) inst->sub = (uint16_t)rows[i].sub;
    inst->op = OP_kept_lane;
    inst->imm = b->p->passed[ref] - 1;
    inst->u.ptr = NULL;
}

static void copy_block(Build *b, int32_t block) {
    const Block *old = &b->from->blocks.items[block];
    copy_edges(b, block);
    for (int32_t k = 0; k < old->insts.len - 1; k++) {
        Ref ref = old->insts.items[k];
        if (!is_copied(b, ref)) continue;
        b->refs[ref] = opt_copy_inst(b->to, b->blocks[block], b->from, ref);
        if (item_is_shuffle(b->from, ref)) look_at_lane(b, ref);
    }
    copy_terminator(b, block, old->insts.items[old->insts.len - 1]);
}

static void set_operands(Build *b, int32_t block) {
    const Block *old = &b->from->blocks.items[block];
    for (int32_t k = 0; k < old->insts.len; k++) {
        Ref ref = old->insts.items[k];
        int32_t n = ir_inst(b->from, ref)->nargs;
        bool last = k == old->insts.len - 1;
        if (last ? !b->refs[ref] : !is_copied(b, ref)) continue;
        bool shuffle = item_is_shuffle(b->from, ref); /* of its operands only the lane is left */
        Ref *args = arena_array(b->p->ctx->arena, Ref, n + 1);
        for (int32_t a = shuffle ? 2 : 0; a < n; a++)
            args[shuffle ? 0 : a] = use(b, ir_arg(b->from, ref, a));
        ir_set_args(b->to, b->refs[ref], args, shuffle ? 1 : n);
    }
}

/* -- what others need ------------------------------------------------------------------------------- */

static void keep(Build *b, int32_t slot, Ref value) {
    Ref kept = ir_append(b->to, b->end, OP_keep, &value, 1);
    ir_inst(b->to, kept)->imm = slot - 1;
}

static void keep_own(Build *b, int32_t block) {
    const Block *old = &b->from->blocks.items[block];
    for (int32_t k = 0; k < old->insts.len; k++) {
        Ref ref = old->insts.items[k];
        if (b->p->slot[ref] && is_copied(b, ref)) keep(b, b->p->slot[ref], b->refs[ref]);
    }
}

static void keep_phis(Build *b, int32_t target) {
    const Block *to = &b->from->blocks.items[target];
    int32_t edge = 0;
    while (to->preds.items[edge] != b->region->exit)
        edge++;
    Ref count = item_count_of(b->p, target);
    if (count) keep(b, b->p->slot[count], use(b, ir_arg(b->from, count, 0)));
    Ref passing = item_passing_of(b->p, target);
    if (passing) keep(b, b->p->passed[passing], use(b, ir_arg(b->from, passing, 1)));
    for (int32_t k = 0; k < to->insts.len; k++) {
        Ref phi = to->insts.items[k];
        if (b->p->kind[phi] != ITEM_LOCAL || !item_is_leader_phi(b->p, phi)) continue;
        Ref value = ir_arg(b->from, phi, edge);
        if (value != phi) keep(b, b->p->slot[phi], use(b, value));
    }
}

/* The block that the exit leads to, number `t` of one or two. */
static int32_t way_out(const Build *b, int t) {
    const Inst *last = ir_inst(b->from, ir_terminator(b->from, b->region->exit));
    if (b->region->branches) return t < 2 ? last->target[t] : NO_BLOCK;
    int32_t to = last->target[0];
    if (last->op == OP_branch && stays(b, to)) to = last->target[1];
    return t < 1 ? to : NO_BLOCK;
}

static void make_end(Build *b) {
    const ItemRegion *r = b->region;
    for (int32_t i = 0; i < r->chain.len; i++)
        keep_own(b, r->chain.items[i]);
    for (int32_t i = 0; i < r->inner.len; i++)
        keep_own(b, r->inner.items[i]);
    for (int t = 0; way_out(b, t) != NO_BLOCK && t < 2; t++)
        keep_phis(b, way_out(b, t));
    Ref none = ir_insert(b->to, 0, b->inputs.len, OP_const, NULL, 0);
    ir_inst(b->to, none)->type = b->to->result;
    ir_inst(b->to, none)->u.value = const_none(b->p->ctx->module->arena);
    ir_append(b->to, b->end, OP_return, &none, 1);
}

/* -- the function ------------------------------------------------------------------------------------ */

static void new_function(Build *b) {
    Module *module = b->p->ctx->module;
    Func *from = b->from;
    b->to = ir_func_part(from, str_printf(module->arena, STR_FMT ".items%d", STR_ARG(from->name),
                                          (int)module->funcs.len));
    Func *to = b->to;
    to->result = type_scalar(module->types, TY_none);
    for (int32_t i = 1; i < from->spans.len; i++)
        vec_push(module->arena, &to->spans, from->spans.items[i]);
    ir_block_new(to);
}

static void name_params(Build *b) {
    Arena *arena = b->p->ctx->module->arena;
    Str *names = arena_array(arena, Str, b->inputs.len + 1);
    const Type **types = arena_array(arena, const Type *, b->inputs.len + 1);
    for (int32_t i = 0; i < b->inputs.len; i++) {
        names[i] = str_printf(arena, "p%d", (int)i);
        types[i] = ir_type(b->from, b->inputs.items[i]);
    }
    b->to->nparams = b->inputs.len;
    b->to->param_names = names;
    b->to->param_types = types;
}

static void each_block(Build *b, void (*visit)(Build *b, int32_t block)) {
    for (int32_t i = 0; i < b->region->chain.len; i++)
        visit(b, b->region->chain.items[i]);
    for (int32_t i = 0; i < b->region->inner.len; i++)
        visit(b, b->region->inner.items[i]);
}

static void copy_head(Build *b, int32_t block) {
    b->blocks[block] = ir_block_new(b->to);
}

static void make_function(Build *b) {
    new_function(b);
    each_block(b, copy_head);
    b->end = ir_block_new(b->to);
    if (b->region->exit != NO_BLOCK) ir_edge_add(b->to, b->blocks[b->region->exit], b->end);
    each_block(b, copy_block);
    each_block(b, set_operands);
    if (b->region->exit != NO_BLOCK)
        make_end(b);
    else
        b->to->blocks.items[b->end].removed = true;
    Ref jump = ir_append(b->to, 0, OP_jump, NULL, 0);
    ir_inst(b->to, jump)->target[0] = b->blocks[b->region->leader];
    name_params(b);
}

/* Is there anything for a work-item to do? */
static bool has_work(const ItemPlan *p, int32_t number) {
    const ItemRegion *r = &p->regions.items[number];
    Build b = {.p = (ItemPlan *)p, .from = p->func, .region = r, .number = number};
    if (r->inner.len) return true;
    for (int32_t i = 0; i < r->chain.len; i++) {
        const Block *block = &p->func->blocks.items[r->chain.items[i]];
        for (int32_t k = 0; k < block->insts.len - 1; k++)
            if (is_copied(&b, block->insts.items[k])) return true;
    }
    if (r->exit == NO_BLOCK) return false;
    const Inst *last = ir_inst(p->func, ir_terminator(p->func, r->exit));
    for (int t = 0; t < (last->op == OP_branch ? 2 : 1); t++) {
        const Block *to = &p->func->blocks.items[last->target[t]];
        if (item_count_of(p, last->target[t]) || item_passing_of(p, last->target[t])) return true;
        for (int32_t k = 0; k < to->insts.len; k++)
            if (p->kind[to->insts.items[k]] == ITEM_LOCAL &&
                item_is_leader_phi(p, to->insts.items[k]))
                return true;
    }
    return false;
}

/* -- the kernel ------------------------------------------------------------------------------------- */

static void remove_block(Func *func, int32_t block) {
    func->blocks.items[block].preds.len = 0;
    func->blocks.items[block].removed = true;
}

static void rename_pred(Func *func, int32_t block, int32_t from, int32_t to) {
    Block *b = &func->blocks.items[block];
    for (int32_t i = 0; i < b->preds.len; i++)
        if (b->preds.items[i] == from) b->preds.items[i] = to;
}

/* Takes out of the block what stays in the kernel; the rest goes. */
static void take_out(Build *b, int32_t block, RefList *kept) {
    Func *func = b->from;
    RefList mine = {0};
    for (int32_t k = 0; k < func->blocks.items[block].insts.len; k++) {
        Ref ref = func->blocks.items[block].insts.items[k];
        bool of_block =
            b->p->kind[ref] == ITEM_BLOCK && !(ir_info(ir_inst(func, ref)->op)->flags & OPF_TERM);
        if (of_block || ir_inst(func, ref)->op == OP_kept_vote)
            vec_push(b->p->ctx->arena, kept, ref);
        else
            vec_push(b->p->ctx->arena, &mine, ref);
    }
    for (int32_t k = 0; k < mine.len; k++)
        ir_remove(func, mine.items[k]);
    func->blocks.items[block].insts.len = 0;
}

/* What the region's leader has in the kernel: values of the block, those of the whole chain. */
static void gather(Build *b) {
    Func *func = b->from;
    RefList kept = {0};
    for (int32_t i = 0; i < b->region->chain.len; i++)
        take_out(b, b->region->chain.items[i], &kept);
    for (int32_t i = 0; i < b->region->inner.len; i++)
        take_out(b, b->region->inner.items[i], &kept); /* constants */
    Block *leader = &func->blocks.items[b->region->leader];
    for (int32_t i = 0; i < kept.len; i++) {
        vec_push(b->p->ctx->module->arena, &leader->insts, kept.items[i]);
        ir_inst(func, kept.items[i])->block = b->region->leader;
    }
}

static void call_region(Build *b, int32_t span) {
    Ref call = ir_append(b->from, b->region->leader, OP_call, b->inputs.items, b->inputs.len);
    Inst *inst = ir_inst(b->from, call);
    inst->type = b->to->result;
    inst->u.func = b->to;
    inst->sub = FLAG_ITEMS;
    inst->span = span;
}

typedef struct End { /* how the kernel goes on behind a region */
    int32_t exit, span, target[2];
    Ref cond, none;
} End;

static Ref find_none(const Func *func) {
    for (int32_t i = 0; i < func->blocks.len; i++) {
        Ref last = func->blocks.items[i].removed ? NO_REF : ir_terminator(func, i);
        if (last && ir_inst(func, last)->op == OP_return) return ir_arg(func, last, 0);
    }
    return NO_REF;
}

static void finish(Build *b, const End *end) {
    Func *func = b->from;
    int32_t leader = b->region->leader;
    Builder at = {.func = func, .block = leader, .at = -1, .span = end->span, .error = NO_BLOCK};
    if (end->exit == NO_BLOCK) {
        b_return(&at, end->none);
        return;
    }
    Ref last = ir_append(func, leader, end->cond ? OP_branch : OP_jump, &end->cond, end->cond != 0);
    ir_inst(func, last)->span = end->span;
    for (int t = 0; t < 1 + (end->cond != 0); t++) {
        ir_inst(func, last)->target[t] = end->target[t];
        rename_pred(func, end->target[t], end->exit, leader);
    }
}

static End end_of(Build *b) {
    const ItemRegion *r = b->region;
    int32_t block = r->exit != NO_BLOCK ? r->exit : r->leader;
    Ref last = ir_terminator(b->from, block);
    End end = {.exit = r->exit, .span = ir_inst(b->from, last)->span};
    if (r->exit != NO_BLOCK)
        for (int t = 0; t < 2; t++)
            end.target[t] = way_out(b, t);
    if (r->branches) end.cond = ir_arg(b->from, last, 0);
    return end;
}

/* Of a region whose function there is, or that needs none. */
static void rewrite(Build *b, Ref none) {
    End end = end_of(b);
    end.none = none;
    gather(b);
    if (b->to) call_region(b, end.span);
    finish(b, &end);
    for (int32_t i = 0; i < b->region->chain.len; i++)
        if (b->region->chain.items[i] != b->region->leader)
            remove_block(b->from, b->region->chain.items[i]);
    for (int32_t i = 0; i < b->region->inner.len; i++)
        if (b->region->inner.items[i] != b->region->leader)
            remove_block(b->from, b->region->inner.items[i]);
}

/* A barrier that asks becomes a look at its slot. */
static void count_slot(ItemPlan *p, Ref ref) {
    static const struct {
        int gen, sub;
    } rows[] = {{GEN_barrier_count, 0}, {GEN_barrier_and, KEPT_ALL}, {GEN_barrier_or, KEPT_ANY}};
    const LibRow *row = lib_row_of(ir_inst(p->func, ref));
    Inst *inst = ir_inst(p->func, ref);
    for (int i = 0; i < countof(rows); i++)
        if (rows[i].gen == row->cpu.id) inst->sub = (uint16_t)rows[i].sub;
    inst->op = OP_kept_count;
    inst->imm = p->slot[ref] - 1;
    inst->u.ptr = NULL;
    ir_set_args(p->func, ref, NULL, 0);
}

/* A vote becomes one of the kernel, about what lies in its slot. */
static void vote_slot(ItemPlan *p, Ref ref) {
    static const struct {
        int gen, sub;
    } rows[] = {{GEN_vote_ballot, 0},
                {GEN_vote_all, KEPT_ALL},
                {GEN_vote_any, KEPT_ANY},
                {GEN_vote_eq, KEPT_EQ}};
    const LibRow *row = lib_row_of(ir_inst(p->func, ref));
    Inst *inst = ir_inst(p->func, ref);
    for (int i = 0; i < countof(rows); i++)
        if (rows[i].gen == row->cpu.id) inst->sub = (uint16_t)rows[i].sub;
    inst->op = OP_kept_vote;
    inst->imm = p->passed[ref] - 1;
    inst->u.ptr = NULL;
    ir_set_args(p->func, ref, NULL, 0);
}

/* All functions first: they are made of the kernel as it was. */
void item_build(ItemPlan *p) {
    Arena *arena = p->ctx->arena;
    Build *all = arena_array(arena, Build, p->regions.len);
    int32_t nblocks = p->func->blocks.len, ninsts = p->func->insts.len;
    for (int32_t i = 0; i < p->regions.len; i++) {
        all[i] = (Build){.p = p, .region = &p->regions.items[i], .number = i, .from = p->func};
        all[i].refs = arena_array(arena, Ref, ninsts);
        all[i].blocks = arena_array(arena, int32_t, nblocks);
        for (int32_t k = 0; k < nblocks; k++)
            all[i].blocks[k] = NO_BLOCK;
        if (has_work(p, i)) make_function(&all[i]);
    }
    for (int32_t i = 0; i < p->counts.len; i++)
        count_slot(p, p->counts.items[i]);
    for (int32_t i = 0; i < p->votes.len; i++)
        vote_slot(p, p->votes.items[i]);
    Ref none = find_none(p->func);
    for (int32_t i = 0; i < p->regions.len; i++)
        rewrite(&all[i], none);
}
