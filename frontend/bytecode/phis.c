/* phis.c - joins the translated blocks into SSA form.
 *
 * After Cytron et al.: for each variable that some block reads before assigning it, phis go to the
 * iterated dominance frontier of the blocks that assign it, but only where it is live (pruned form).
 * Each variable is done alone, over its own live blocks, so that large functions with many short-lived
 * variables cost little. Then phis that choose between one value and themselves are dropped, dead pure
 * instructions are removed, and what is left is numbered in the order of the text.
 *
 * Nothing here recurses: dominators, frontiers and use chains are walked with explicit lists. */
#include "frontend/bytecode/bc.h"

typedef struct Join {
    SsaBuild *b;
    Func *func;
    Arena *arena;
    Cfg cfg;
    int32_t nblocks;
    int32_t *frontier_start; /* dominance frontier of block k: frontier[start[k] .. start[k + 1]) */
    int32_t *frontier;
    /* of the variable being done; an entry is valid when the stamp beside it is var + 1 */
    int32_t *live, *phi_in, *defined, *entered; /* stamps */
    Ref *phi_of, *def_of, *entry_of;
    int32_t *todo;
    int32_t *path;
    Ref *map; /* what to put in a value's place */
} Join;

/* -- dominance frontiers ---------------------------------------------------------------------- */

/* Calls for each (block, member of its frontier): first to count, then to store. Pred lists of one
 * join climb towards its dominator, and stop where another pred of the same join has passed. */
static int64_t walk_frontiers(Join *j, int32_t *last, int32_t *count, bool store) {
    int64_t total = 0;
    for (int32_t k = 0; k < j->nblocks; k++)
        last[k] = NO_BLOCK;
    for (int32_t to = 0; to < j->nblocks; to++) {
        const Block *block = &j->func->blocks.items[to];
        if (block->preds.len < 2) continue;
        for (int32_t p = 0; p < block->preds.len; p++) {
            int32_t at = block->preds.items[p];
            while (at != j->cfg.idom[to] && at != NO_BLOCK && last[at] != to) {
                last[at] = to;
                if (store) j->frontier[j->frontier_start[at] + count[at]] = to;
                count[at]++;
                total++;
                at = j->cfg.idom[at];
            }
        }
    }
    return total;
}

enum { MAX_FRONTIER = 1 << 26 };

static bool find_frontiers(Join *j) {
    int32_t *last = arena_array(j->arena, int32_t, j->nblocks);
    int32_t *count = arena_array(j->arena, int32_t, j->nblocks);
    int64_t total = walk_frontiers(j, last, count, false);
    if (total > MAX_FRONTIER) {
        Span span = bc_span(j->b->code, -1);
        return diag_add(j->b->module->diags, E0105, &span, "its control flow is too tangled");
    }
    j->frontier_start = arena_array(j->arena, int32_t, j->nblocks + 1);
    j->frontier = arena_array(j->arena, int32_t, total);
    for (int32_t k = 0; k < j->nblocks; k++) {
        j->frontier_start[k + 1] = j->frontier_start[k] + count[k];
        count[k] = 0;
    }
    walk_frontiers(j, last, count, true);
    return true;
}

/* -- one variable ----------------------------------------------------------------------------- */

/* Blocks into which the variable's value must come. */
static void find_live(Join *j, int32_t stamp, const Access *reads, int32_t nreads) {
    int32_t ntodo = 0;
    for (int32_t k = 0; k < nreads; k++) {
        if (j->live[reads[k].block] == stamp) continue;
        j->live[reads[k].block] = stamp;
        j->todo[ntodo++] = reads[k].block;
    }
    while (ntodo > 0) {
        const Block *block = &j->func->blocks.items[j->todo[--ntodo]];
        for (int32_t p = 0; p < block->preds.len; p++) {
            int32_t pred = block->preds.items[p];
            if (j->defined[pred] == stamp || j->live[pred] == stamp) continue;
            j->live[pred] = stamp;
            j->todo[ntodo++] = pred;
        }
    }
}

/* A phi in no block yet: dropped ones never enter a list. */
static Ref new_phi(Join *j, int32_t block, int32_t nargs) {
    Inst inst = {.op = OP_phi, .block = block, .error = NO_BLOCK, .nargs = nargs};
    inst.target[0] = inst.target[1] = NO_BLOCK;
    inst.args = j->func->operands.len;
    vec_resize(j->arena, &j->func->operands, inst.args + nargs);
    vec_push(j->arena, &j->func->insts, inst);
    vec_push(j->arena, &j->b->phis, j->func->insts.len - 1);
    return j->func->insts.len - 1;
}

static void place_phis(Join *j, int32_t stamp, const Access *writes, int32_t nwrites) {
    int32_t ntodo = 0;
    for (int32_t k = 0; k < nwrites; k++)
        j->todo[ntodo++] = writes[k].block;
    while (ntodo > 0) {
        int32_t from = j->todo[--ntodo];
        for (int32_t k = j->frontier_start[from]; k < j->frontier_start[from + 1]; k++) {
            int32_t to = j->frontier[k];
            if (j->live[to] != stamp || j->phi_in[to] == stamp) continue;
            j->phi_in[to] = stamp;
            j->phi_of[to] = new_phi(j, to, j->func->blocks.items[to].preds.len);
            if (stamp - 1 < j->b->code->nlocals) bc_name_value(j->b, j->phi_of[to], stamp - 1);
            if (j->defined[to] != stamp) j->todo[ntodo++] = to;
        }
    }
}

static Ref entry_value(Join *j, int32_t stamp, int32_t block);

static Ref end_value(Join *j, int32_t stamp, int32_t block) {
    return j->defined[block] == stamp ? j->def_of[block] : entry_value(j, stamp, block);
}

/* The variable's value at the start of a block: its phi, or what reaches the end of its dominator. */
static Ref entry_value(Join *j, int32_t stamp, int32_t block) {
    int32_t length = 0;
    Ref value;
    for (;;) {
        if (j->phi_in[block] == stamp) {
            value = j->phi_of[block];
            break;
        }
        if (j->entered[block] == stamp) {
            value = j->entry_of[block];
            break;
        }
        j->path[length++] = block;
        block = j->cfg.idom[block];
        if (block == NO_BLOCK) {
            value = bc_unbound(j->b);
            break;
        }
        if (j->defined[block] == stamp) {
            value = j->def_of[block];
            break;
        }
    }
    while (length > 0) {
        int32_t passed = j->path[--length];
        j->entered[passed] = stamp;
        j->entry_of[passed] = value;
    }
    return value;
}

/* Only phis from number `first` on belong to this variable. */
static void fill_phis(Join *j, int32_t stamp, int32_t first) {
    for (int32_t k = first; k < j->b->phis.len; k++) {
        Ref phi = j->b->phis.items[k];
        const Block *block = &j->func->blocks.items[ir_inst(j->func, phi)->block];
        for (int32_t p = 0; p < block->preds.len; p++) {
            Ref value = end_value(j, stamp, block->preds.items[p]);
            ir_args(j->func, phi)[p] = value;
        }
    }
}

static void join_variable(Join *j, int32_t var, const Access *reads, int32_t nreads,
                          const Access *writes, int32_t nwrites) {
    int32_t stamp = var + 1;
    for (int32_t k = 0; k < nwrites; k++) {
        j->defined[writes[k].block] = stamp;
        j->def_of[writes[k].block] = writes[k].ref;
    }
    int32_t first = j->b->phis.len;
    find_live(j, stamp, reads, nreads);
    place_phis(j, stamp, writes, nwrites);
    fill_phis(j, stamp, first);
    for (int32_t k = 0; k < nreads; k++)
        j->map[reads[k].ref] = entry_value(j, stamp, reads[k].block);
}

/* Sorted by variable, stable: start[var] .. start[var + 1]. */
static Access *by_variable(Join *j, const AccessList *list, int32_t **start_out) {
    int32_t nvars = j->b->nvars;
    int32_t *start = arena_array(j->arena, int32_t, nvars + 2);
    Access *sorted = arena_array(j->arena, Access, list->len);
    for (int32_t k = 0; k < list->len; k++)
        start[list->items[k].var + 2]++;
    for (int32_t var = 0; var < nvars; var++)
        start[var + 2] += start[var + 1];
    for (int32_t k = 0; k < list->len; k++)
        sorted[start[list->items[k].var + 1]++] = list->items[k];
    *start_out = start;
    return sorted;
}

/* j->map has a place for every placeholder: all were made before the first phi. */
static void join_all(Join *j) {
    int32_t n = j->nblocks, *reads_at, *writes_at;
    j->live = arena_array(j->arena, int32_t, n);
    j->phi_in = arena_array(j->arena, int32_t, n);
    j->defined = arena_array(j->arena, int32_t, n);
    j->entered = arena_array(j->arena, int32_t, n);
    j->phi_of = arena_array(j->arena, Ref, n);
    j->def_of = arena_array(j->arena, Ref, n);
    j->entry_of = arena_array(j->arena, Ref, n);
    j->todo = arena_array(j->arena, int32_t, 2 * n);
    j->path = arena_array(j->arena, int32_t, n);
    const Access *reads = by_variable(j, &j->b->reads, &reads_at);
    const Access *writes = by_variable(j, &j->b->writes, &writes_at);
    for (int32_t var = 0; var < j->b->nvars; var++) {
        if (reads_at[var] == reads_at[var + 1]) continue;
        join_variable(j, var, reads + reads_at[var], reads_at[var + 1] - reads_at[var],
                      writes + writes_at[var], writes_at[var + 1] - writes_at[var]);
    }
}

/* -- phis that choose nothing ----------------------------------------------------------------- */

static Ref resolve(Ref *map, Ref ref) {
    Ref root = ref;
    while (map[root] != NO_REF)
        root = map[root];
    while (map[ref] != NO_REF) {
        Ref next = map[ref];
        map[ref] = root;
        ref = next;
    }
    return root;
}

/* The only value other than itself that a phi can have; NO_REF when there are several. */
static Ref only_value(const Func *func, Ref *map, Ref phi) {
    Ref only = NO_REF;
    for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++) {
        Ref value = resolve(map, ir_arg(func, phi, k));
        if (value == phi || value == only) continue;
        if (only != NO_REF) return NO_REF;
        only = value;
    }
    return only;
}

/* The phis that have a value as an operand, as a list that can be joined to another in one step. */
typedef struct Users {
    int32_t first, last; /* nodes, 0: none */
} Users;
typedef struct UserNode {
    Ref phi;
    int32_t next;
} UserNode;

typedef struct Trivial {
    Join *j;
    Users *users; /* by value */
    Vec(UserNode) nodes;
    Vec(Ref) todo;
    Bits queued;
} Trivial;

static void add_user(Trivial *t, Ref value, Ref phi) {
    UserNode node = {phi, t->users[value].first};
    vec_push(t->j->arena, &t->nodes, node);
    t->users[value].first = t->nodes.len - 1;
    if (!t->users[value].last) t->users[value].last = t->nodes.len - 1;
}

/* `phi` has become `value`: who used it is looked at again, and uses `value` from now on. */
static void move_users(Trivial *t, Ref phi, Ref value) {
    Users *from = &t->users[phi], *to = &t->users[value];
    for (int32_t k = from->first; k; k = t->nodes.items[k].next) {
        Ref user = t->nodes.items[k].phi;
        if (t->j->map[user] != NO_REF || bits_get(&t->queued, user)) continue;
        bits_set(&t->queued, user);
        vec_push(t->j->arena, &t->todo, user);
    }
    if (!from->first) return;
    t->nodes.items[from->last].next = to->first;
    if (!to->first) to->last = from->last;
    to->first = from->first;
}

static void drop_trivial_phis(Join *j) {
    const Func *func = j->func;
    Trivial t = {.j = j, .users = arena_array(j->arena, Users, func->insts.len)};
    t.queued = bits_new(j->arena, func->insts.len);
    vec_push(j->arena, &t.nodes, (UserNode){0}); /* node 0 is "none" */
    for (int32_t k = j->b->phis.len - 1; k >= 0; k--) {
        Ref phi = j->b->phis.items[k];
        for (int32_t a = 0; a < ir_inst(func, phi)->nargs; a++)
            add_user(&t, resolve(j->map, ir_arg(func, phi, a)), phi);
        bits_set(&t.queued, phi);
        vec_push(j->arena, &t.todo, phi);
    }
    while (t.todo.len > 0) {
        Ref phi = vec_pop(&t.todo);
        bits_clear(&t.queued, phi);
        Ref value = only_value(func, j->map, phi);
        if (value == NO_REF) continue;
        j->map[phi] = value;
        move_users(&t, phi, value);
    }
}

/* -- the final form --------------------------------------------------------------------------- */

/* Operands are what they stand for; a dropped value's name goes to what replaced it. */
static void apply_map(Join *j) {
    Func *func = j->func;
    vec_resize(j->arena, &func->var_names, func->insts.len);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        if (j->map[ref] != NO_REF) {
            Str *name = &func->var_names.items[resolve(j->map, ref)];
            if (!name->bytes) *name = func->var_names.items[ref];
            continue;
        }
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
            ir_args(func, ref)[k] = resolve(j->map, ir_arg(func, ref, k));
    }
}

/* Phis and the unbound value enter their blocks, in front. */
static void enter_phis(Join *j) {
    Func *func = j->func;
    Vec(Ref) *lists = arena_zalloc(j->arena, sizeof *lists * (size_t)j->nblocks);
    for (int32_t k = 0; k < j->b->phis.len; k++) {
        Ref phi = j->b->phis.items[k];
        if (j->map[phi] == NO_REF) vec_push(j->arena, &lists[ir_inst(func, phi)->block], phi);
    }
    if (j->b->unbound_ref != NO_REF) vec_push(j->arena, &lists[0], j->b->unbound_ref);
    for (int32_t k = 0; k < j->nblocks; k++) {
        Block *block = &func->blocks.items[k];
        int32_t more = lists[k].len, at = k == 0 ? func->nparams : 0;
        if (more == 0) continue;
        vec_resize(j->arena, &block->insts, block->insts.len + more);
        memmove(block->insts.items + at + more, block->insts.items + at,
                sizeof(Ref) * (size_t)(block->insts.len - more - at));
        memcpy(block->insts.items + at, lists[k].items, sizeof(Ref) * (size_t)more);
    }
}

static bool is_root(const Func *func, Ref ref) {
    return ir_inst(func, ref)->op == OP_param || !ir_op_is(func, ref, OPF_PURE);
}

/* Marks what an effect, a test or a result needs. */
static Bits find_needed(Join *j) {
    const Func *func = j->func;
    Bits needed = bits_new(j->arena, func->insts.len);
    Vec(Ref) todo = {0};
    for (int32_t k = 0; k < j->nblocks; k++) {
        const Block *block = &func->blocks.items[k];
        for (int32_t i = 0; i < block->insts.len; i++) {
            if (!is_root(func, block->insts.items[i])) continue;
            bits_set(&needed, block->insts.items[i]);
            vec_push(j->arena, &todo, block->insts.items[i]);
        }
    }
    while (todo.len > 0) {
        Ref ref = vec_pop(&todo);
        for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++) {
            Ref arg = ir_arg(func, ref, k);
            if (bits_get(&needed, arg)) continue;
            bits_set(&needed, arg);
            vec_push(j->arena, &todo, arg);
        }
    }
    return needed;
}

/* Keeps the needed instructions, numbered in the order of the blocks. */
static void renumber(Join *j, const Bits *needed) {
    Func *old = arena_copy(j->arena, j->func, sizeof *j->func), *func = j->func;
    Ref *number = arena_array(j->arena, Ref, old->insts.len);
    memset(&func->insts, 0, sizeof func->insts);
    memset(&func->operands, 0, sizeof func->operands);
    memset(&func->var_names, 0, sizeof func->var_names);
    vec_resize(j->arena, &func->insts, 1);
    vec_resize(j->arena, &func->var_names, 1);
    vec_reserve(j->arena, &func->operands, old->operands.len + 1);
    for (int32_t k = 0; k < j->nblocks; k++) {
        Block *block = &func->blocks.items[k];
        int32_t kept = 0;
        for (int32_t i = 0; i < block->insts.len; i++) {
            Ref ref = block->insts.items[i];
            if (!bits_get(needed, ref)) continue;
            number[ref] = func->insts.len;
            vec_push(j->arena, &func->insts, *ir_inst(old, ref));
            vec_push(j->arena, &func->var_names, old->var_names.items[ref]);
            block->insts.items[kept++] = number[ref];
        }
        block->insts.len = kept;
    }
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        Inst *inst = ir_inst(func, ref);
        const Ref *args = old->operands.items + inst->args;
        inst->args = func->operands.len;
        for (int32_t k = 0; k < inst->nargs; k++)
            vec_push(j->arena, &func->operands, number[args[k]]);
    }
}

/* Displays that are lists, not the arguments of a call: so are the parts that they grow from. */
static void mark_lists(const Join *j) {
    const Func *func = j->func;
    for (Ref ref = func->insts.len - 1; ref > 0; ref--) {
        if (ir_inst(func, ref)->op != OP_concat || ir_inst(func, ref)->sub != FLAG_LIST) continue;
        Inst *part = ir_inst(func, ir_arg(func, ref, 0));
        if (part->op == OP_concat) part->sub = FLAG_LIST;
    }
}

bool bc_join(SsaBuild *b) {
    Join j = {.b = b, .func = b->func, .arena = b->arena, .nblocks = b->func->blocks.len};
    cfg_compute(&j.cfg, j.arena, j.func);
    if (!find_frontiers(&j)) return false;
    bc_unbound(
        b); /* so that it is numbered before the phis; dropped again where nothing needs it */
    j.map = arena_array(j.arena, Ref, j.func->insts.len);
    int32_t nplaceholders = j.func->insts.len;
    join_all(&j);
    j.map = arena_grow(j.arena, j.map, sizeof(Ref) * (size_t)nplaceholders,
                       sizeof(Ref) * (size_t)j.func->insts.len);
    memset(j.map + nplaceholders, 0, sizeof(Ref) * (size_t)(j.func->insts.len - nplaceholders));
    drop_trivial_phis(&j);
    apply_map(&j);
    enter_phis(&j);
    Bits needed = find_needed(&j);
    renumber(&j, &needed);
    mark_lists(&j);
    return true;
}
