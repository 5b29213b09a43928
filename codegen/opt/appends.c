/* appends.c - room for what a strip of rounds appends is made in front of it.
 *
 *   header: i = phi ...; if i < stop: body               strip:  if room < n + (stop - i0): grow
 *   body:   n = field xs at 0; items = field xs at 1 =>  header: i = phi ...; if i < stop: body
 *           if n == shape items: full                    body:   n = field xs at 0; items = field xs at 1
 *   full:   call grow(xs, n)                                     store items, n, v; set_field xs, n + 1
 *   on:     store items, n, v; set_field xs, n + 1
 *
 * What is left writes elements and a length, as a loop over an array does. An append must happen in each round, so that room is not made
 * for nothing; nothing else in the loop may change a list that could be the same. The lists of a loop may be one: each gets
 * room for all appends to lists of such a type. A round that raises leaves some room unused, at most that of a strip. */
#include "codegen/opt/appends.h"
#include "codegen/opt/effects.h"

enum { LIST_LENGTH, LIST_ITEMS, MOST_SITES = 8 };

/* Where an element is appended: `block` asks whether the list is full, and goes on in `on`. */
typedef struct Site {
    Ref list, grow; /* the call */
    int32_t block, on;
} Site;

struct Appends {
    PassContext *ctx;
    Func *func;
    const Cfg *cfg;
    int32_t loop;
    Vec(Site) sites;
    EffectsOf of;
    Bits known; /* instructions of the sites */
};

static bool is_field(const Func *func, Ref ref, Ref object, int64_t field) {
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_field && inst->imm == field && ir_arg(func, ref, 0) == object;
}

/* Does it test whether the list is full, as the last that it does: n == shape(items)? The length n; NO_REF: no. */
static Ref length_tested(const Func *func, int32_t block, Ref *list) {
    Ref branch = ir_terminator(func, block);
    if (!branch || ir_inst(func, branch)->op != OP_branch) return NO_REF;
    Ref test = ir_arg(func, branch, 0);
    if (ir_inst(func, test)->op != OP_eq || ir_inst(func, test)->block != block) return NO_REF;
    Ref n = ir_arg(func, test, 0), room = ir_arg(func, test, 1);
    const Inst *length = ir_inst(func, n), *shape = ir_inst(func, room);
    if (length->op != OP_field || shape->op != OP_shape || length->block != block) return NO_REF;
    Ref items = ir_arg(func, room, 0);
    *list = ir_arg(func, n, 0);
    bool both = is_field(func, n, *list, LIST_LENGTH) && is_field(func, items, *list, LIST_ITEMS);
    const Type *type = ir_type(func, *list);
    if (!both || type->kind != TY_CLASS || type->bits != CLS_list) return NO_REF;
    const Block *b = &func->blocks.items[block];
    for (int32_t i = opt_position(func, n); i < b->insts.len - 1; i++)
        if (ir_op_is(func, b->insts.items[i], OPF_WRITE | OPF_RAISES)) return NO_REF;
    return ir_inst(func, items)->block == block ? n : NO_REF;
}

/* Does the block do nothing but call what makes room, and go on in `on`? The call. */
static Ref growing_call(Appends *s, int32_t block, int32_t on, Ref list, Ref n) {
    const Func *func = s->func;
    const Block *b = &func->blocks.items[block];
    if (b->preds.len != 1 || b->insts.len != 2) return NO_REF;
    Ref call = b->insts.items[0], jump = b->insts.items[1];
    const Inst *inst = ir_inst(func, call);
    if (inst->op != OP_call || inst->error != NO_BLOCK || inst->nargs != 2 ||
        ir_arg(func, call, 0) != list || ir_arg(func, call, 1) != n ||
        ir_inst(func, jump)->op != OP_jump || ir_inst(func, jump)->target[0] != on)
        return NO_REF;
    Effects effects = {0};
    effects_add(&s->of, func, call, &effects);
    for (int32_t i = 0; i < effects.changes.len; i++)
        if (effects.changes.items[i].field != LIST_ITEMS || effects.changes.items[i].base != list)
            return NO_REF;
    return effects.all || effects.changes.len != 1 ? NO_REF : call;
}

/* Where the list gets the length n + 1. */
static Ref longer(const Func *func, int32_t block, Ref list, Ref n) {
    const Block *b = &func->blocks.items[block];
    int64_t one;
    for (int32_t i = 0; i < b->insts.len; i++) {
        Ref ref = b->insts.items[i];
        const Inst *inst = ir_inst(func, ref);
        if (inst->op != OP_set_field || ir_arg(func, ref, 0) != list || inst->imm != LIST_LENGTH)
            continue;
        Ref sum = ir_arg(func, ref, 1);
        bool next = ir_inst(func, sum)->op == OP_add && ir_arg(func, sum, 0) == n &&
                    opt_const_int(func, ir_arg(func, sum, 1), &one) && one == 1;
        return next ? ref : NO_REF;
    }
    return NO_REF;
}

static void find_site(Appends *s, int32_t block) {
    const Func *func = s->func;
    Ref list, n = length_tested(func, block, &list);
    if (!n || s->cfg->loop_of[block] != s->loop || !opt_every_round(func, s->cfg, s->loop, block) ||
        opt_in_loop(s->cfg, s->loop, ir_inst(func, list)->block) ||
        !effects_object_is_there(func, list))
        return;
    const Inst *branch = ir_inst(func, ir_terminator(func, block));
    int32_t full = branch->target[0], on = branch->target[1];
    Ref call = full == on ? NO_REF : growing_call(s, full, on, list, n);
    Ref set = call ? longer(func, on, list, n) : NO_REF;
    if (!set || ir_inst(func, func->blocks.items[on].insts.items[0])->op == OP_phi) return;
    bits_set(&s->known, call), bits_set(&s->known, set);
    Site site = {list, call, block, on};
    vec_push(s->ctx->arena, &s->sites, site);
}

/* Does nothing else in the loop change the lists? */
static bool all_is_known(Appends *s) {
    Effects others;
    effects_of_loop(&s->of, &s->known, &others);
    for (int32_t i = 0; i < s->sites.len; i++)
        for (int64_t field = LIST_LENGTH; field <= LIST_ITEMS; field++)
            if (effects_change(&s->of, &others, s->sites.items[i].list, field)) return false;
    return true;
}

Appends *opt_appends(PassContext *ctx, Func *func, const Cfg *cfg, int32_t loop) {
    Appends *s = arena_new(ctx->arena, Appends);
    const Loop *info = &cfg->loops.items[loop];
    *s = (Appends){.ctx = ctx, .func = func, .cfg = cfg, .loop = loop};
    s->of = effects_new(ctx->arena, func, cfg);
    s->of.loop = loop;
    s->known = bits_new(ctx->arena, func->insts.len);
    for (int32_t i = 0; i < info->blocks.len; i++)
        find_site(s, info->blocks.items[i]);
    return s->sites.len && s->sites.len <= MOST_SITES && all_is_known(s) ? s : NULL;
}

/* Of lists that may be the one of this site. */
static int64_t appends_to(const Appends *s, const Site *site) {
    int64_t n = 0;
    for (int32_t i = 0; i < s->sites.len; i++)
        n += effects_types_meet(ir_type(s->func, site->list),
                                ir_type(s->func, s->sites.items[i].list));
    return n;
}

/* room < n + rounds: then at least twice as much, as ever. */
static void make_room(Appends *s, Builder *b, const Site *site, Ref rounds) {
    Func *func = s->func;
    const Type *list = ir_type(func, site->list), *i64 = ir_type(func, rounds);
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    Ref n = b_op1(b, OP_field, i64, site->list);
    Ref items = b_op1(b, OP_field, list->items[LIST_ITEMS], site->list);
    ir_inst(func, items)->imm = LIST_ITEMS;
    Ref room = b_op1(b, OP_shape, i64, items);
    Ref more = b_op2(b, OP_mul, i64, rounds, ir_const_int(func, i64, appends_to(s, site)));
    Ref needed = b_op2(b, OP_add, i64, n, more);
    int32_t full = ir_block_new(func), on = ir_block_new(func);
    b_branch(b, b_op2(b, OP_lt, boolean, room, needed), full, on);
    b->block = full;
    Ref twice = b_op2(b, OP_mul, i64, n, ir_const_int(func, i64, 2));
    Ref most = b_op2(b, OP_lt, boolean, needed, twice);
    Ref args[] = {site->list, n, b_op3(b, OP_select, i64, most, twice, needed)};
    Ref grow = b_inst(b, OP_grow, NULL, args, 3);
    ir_inst(func, grow)->imm = LIST_ITEMS;
    b_jump(b, on);
    b->block = on;
}

static void drop_test(Func *func, const Site *site) {
    int32_t full = ir_inst(func, site->grow)->block;
    ir_edge_remove(func, site->block, full);
    ir_edge_remove(func, full, site->on);
    ir_edge_remove(func, site->block, site->on);
    ir_remove(func, ir_terminator(func, site->block));
    Builder b = {.func = func, .block = site->block, .at = -1, .error = NO_BLOCK};
    b_jump(&b, site->on);
    Block *gone = &func->blocks.items[full];
    while (gone->insts.len)
        ir_remove(func, gone->insts.items[gone->insts.len - 1]);
    gone->removed = true;
}

void opt_make_room(Appends *s, const Strip *strip) {
    Func *func = s->func;
    Ref enter = ir_terminator(func, strip->block);
    int32_t header = ir_inst(func, enter)->target[0];
    Builder b = {.func = func, .block = strip->block, .at = -1, .error = NO_BLOCK};
    b.span = ir_inst(func, s->sites.items[0].grow)->span;
    ir_remove(func, enter);
    Ref rounds = b_op2(&b, OP_sub, ir_type(func, strip->stop), strip->stop, strip->start);
    for (int32_t i = 0; i < s->sites.len; i++) {
        b.span = ir_inst(func, s->sites.items[i].grow)->span;
        make_room(s, &b, &s->sites.items[i], rounds);
        drop_test(func, &s->sites.items[i]);
    }
    opt_jump_on(&b, header);
    Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++)
        if (head->preds.items[i] == strip->block) head->preds.items[i] = b.block;
}
