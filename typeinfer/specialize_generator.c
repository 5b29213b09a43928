/* specialize_generator.c - splits the typed function of a generator at its yields.
 *
 *   make(parameters):  frame = alloc, with state START and the parameters     resume(frame):  values = what the frame has
 *                      return frame                                                            start, or behind the yield of the state
 *                                                                              yield v:        frame = values that live on, with a new state
 *                                                                                              return (true, v)
 *                                                                              return:         return (false, nothing)
 *
 * The frame is an array of one tuple: the state, then a place for each value that lives across a yield. Going on takes what is counted out
 * of it, and writes the state DONE: so a generator that has raised, or returned, has ended and holds nothing, and what is dropped in between
 * gives its values back as any array of tuples does. Where generators of the module have handlers, which must run then, a frame
 * is marked as one that is closed before it goes (OP_closing), and behind its state stands how it shall go on (HowOn); so a
 * generator that holds another one closes it, too. A value that lives on gets a new definition behind each yield; where these meet the first
 * one, phis are made for all blocks in which it is live and paths meet. Memory of the function itself, with the frame of a generator that it goes
 * over, is gone when it returns: what lies there is put into the frame, and comes back when it goes on. */
#include "typeinfer/infer.h"
#include "frontend/base/bits.h"

enum { MOST_HERE = 1024 }; /* bytes of a frame on the stack */

typedef struct Yield {
    Ref ref;
    int32_t block, rest; /* where it is, and what comes behind it */
} Yield;

typedef struct Blocks {
    Vec(int32_t) list;
} Blocks;

/* A value that lives across a yield, or what lies in memory that does (`is_memory`). */
typedef struct Kept {
    Ref ref, place; /* the value, and what the frame has in its place */
    const Type *type;
    bool is_memory;
    int32_t home; /* the block that makes it */
    Bits live;    /* at the start of which blocks */
} Kept;

typedef struct Split {
    Emit *e;
    Func *f;
    Instance *inst;
    const Type *item;
    const Type *sent; /* NULL: its yields give None */
    bool closes;
    int32_t sent_place;
    int32_t first;  /* place of the first value that is kept */
    Ref how, given; /* HowOn; what yields give, a placeholder until the frame is open */
    Ref taken;      /* what was sent */
    int32_t nparams;
    Vec(Yield) yields;
    Vec(Kept) kept; /* parameters first */
    const Type *tuple;
    Ref frame, view, at;
    int32_t item_place;    /* in the tuple, of the type of an item; 0: none is needed */
    const Type *returned;  /* NULL: None */
    int32_t result_place;  /* of that type, as item_place */
    int32_t nothing_place; /* of an array that is never there; 0: none is needed */
} Split;

static const Type *i64_of(const Split *s) {
    return type_scalar(s->e->types, TY_i64);
}

/* -- blocks --------------------------------------------------------------------------------------- */

static void rename_preds(Func *f, int32_t successor, int32_t from, int32_t to) {
    Block *block = &f->blocks.items[successor];
    for (int32_t i = 0; i < block->preds.len; i++)
        if (block->preds.items[i] == from) block->preds.items[i] = to;
}

/* Instructions from position `at` on go to a new block; there is no edge to it yet. */
static int32_t cut(Func *f, int32_t block, int32_t at) {
    int32_t succ[3], n = ir_successors(f, block, succ), rest = ir_block_new(f);
    Block *old = &f->blocks.items[block], *fresh = &f->blocks.items[rest];
    for (int32_t i = at; i < old->insts.len; i++) {
        vec_push(f->module->arena, &fresh->insts, old->insts.items[i]);
        ir_inst(f, old->insts.items[i])->block = rest;
    }
    old->insts.len = at;
    for (int32_t i = 0; i < n; i++)
        rename_preds(f, succ[i], block, rest);
    return rest;
}

/* Does each round of the poll's loop give an item? Then whoever asks for the next one asks for interruption, too, or is Python. */
static bool gives_each_round(const Split *s, const Cfg *cfg, int32_t poll) {
    int32_t loop = cfg->loop_of[poll];
    if (loop < 0) return false;
    const Loop *info = &cfg->loops.items[loop];
    for (int32_t i = 0; i < info->blocks.len; i++) {
        int32_t block = info->blocks.items[i];
        const Block *b = &s->f->blocks.items[block];
        for (int32_t k = 0; k < b->insts.len; k++)
            if (ir_inst(s->f, b->insts.items[k])->op == OP_yield && cfg_dominates(cfg, block, poll))
                return true;
    }
    return false;
}

static void drop_polls(Split *s) {
    Cfg cfg;
    cfg_compute(&cfg, s->e->arena, s->f);
    for (Ref ref = 1; ref < s->f->insts.len; ref++) {
        const Inst *inst = ir_inst(s->f, ref);
        if (inst->op == OP_poll && inst->error == NO_BLOCK && inst->block < cfg.n &&
            cfg.rpo_number[inst->block] >= 0 && gives_each_round(s, &cfg, inst->block))
            ir_remove(s->f, ref);
    }
}

static void cut_at_yields(Split *s) {
    for (int32_t b = 0; b < s->f->blocks.len; b++) {
        for (int32_t i = 0; !s->f->blocks.items[b].removed && i < s->f->blocks.items[b].insts.len;
             i++) {
            Ref ref = s->f->blocks.items[b].insts.items[i];
            if (ir_inst(s->f, ref)->op != OP_yield) continue;
            Yield yield = {ref, b, cut(s->f, b, i + 1)};
            vec_push(s->e->arena, &s->yields, yield);
            break;
        }
    }
}

/* -- what lives across a yield --------------------------------------------------------------------- */

static bool is_memory_of(const Func *f, Ref ref, Ref array) {
    const Inst *inst = ir_inst(f, ref);
    return inst->op == OP_restride && ir_arg(f, ref, 0) == array &&
           ir_inst(f, array)->op == OP_static_array;
}

/* Constants are made anew each time, and so is the address of memory of the function. */
static bool stays(const Func *f, Ref ref) {
    const Inst *inst = ir_inst(f, ref);
    if (inst->op == OP_restride) return is_memory_of(f, ref, ir_arg(f, ref, 0));
    return inst->op == OP_const || inst->op == OP_undef || inst->op == OP_frozen ||
           inst->op == OP_static_array || inst->op == OP_removed || !inst->type ||
           inst->type->kind == TY_none;
}

static void live_into(Split *s, Kept *kept, Blocks *todo, int32_t block) {
    if (block == kept->home || bits_get(&kept->live, block)) return;
    bits_set(&kept->live, block);
    vec_push(s->e->arena, &todo->list, block);
}

/* Control comes to what is behind a yield from the yield. */
static void spread(Split *s, Kept *kept, Blocks *todo) {
    while (todo->list.len) {
        int32_t block = vec_pop(&todo->list);
        const Block *b = &s->f->blocks.items[block];
        for (int32_t p = 0; p < b->preds.len; p++)
            live_into(s, kept, todo, b->preds.items[p]);
        for (int32_t k = 0; k < s->yields.len; k++)
            if (s->yields.items[k].rest == block)
                live_into(s, kept, todo, s->yields.items[k].block);
    }
}

typedef struct Use {
    Ref of, block;
} Use;
typedef struct Uses {
    Vec(Use) list;
} Uses;

/* Where each value must be there: a phi wants it at the end of the block before. */
static Uses *find_uses(Split *s) {
    Func *f = s->f;
    Uses *uses = arena_array(s->e->arena, Uses, f->insts.len);
    for (Ref ref = 1; ref < f->insts.len; ref++) {
        const Inst *inst = ir_inst(f, ref);
        if (inst->op == OP_removed) continue;
        for (int32_t k = 0; k < inst->nargs; k++) {
            bool phi = inst->op == OP_phi;
            Use use = {ref, phi ? f->blocks.items[inst->block].preds.items[k] : inst->block};
            vec_push(s->e->arena, &uses[ir_arg(f, ref, k)].list, use);
        }
    }
    return uses;
}

static bool crosses(const Split *s, const Kept *kept) {
    for (int32_t k = 0; k < s->yields.len; k++)
        if (bits_get(&kept->live, s->yields.items[k].rest)) return true;
    return false;
}

/* Parameters that are None: there is but one value. */
static void fill_in_none(Split *s) {
    for (Ref ref = 1; ref < s->f->insts.len; ref++) {
        Inst *inst = ir_inst(s->f, ref);
        if (inst->op != OP_param || inst->type->kind != TY_none) continue;
        inst->op = OP_const;
        inst->imm = 0;
        inst->u.value = const_none(s->e->arena);
    }
}

/* How a generator goes on is no value of its own at each yield. */
static void join_yields(Split *s) {
    const Type *parts[2] = {i64_of(s), s->sent};
    s->given = ir_insert(s->f, 0, 0, OP_undef, NULL, 0);
    ir_inst(s->f, s->given)->type = s->sent ? type_tuple(s->e->types, parts, 2) : parts[0];
    s->e->pool_at++;
    for (int32_t k = 0; k < s->yields.len; k++)
        ir_replace_uses(s->f, s->yields.items[k].ref, s->given);
}

/* Where `ref` is live. */
static Kept kept_of(Split *s, const Uses *uses, Ref ref) {
    Kept kept = {.ref = ref, .type = ir_type(s->f, ref), .home = ir_inst(s->f, ref)->block};
    Blocks todo = {0};
    kept.live = bits_new(s->e->arena, s->f->blocks.len);
    for (int32_t k = 0; k < uses->list.len; k++)
        live_into(s, &kept, &todo, uses->list.items[k].block);
    spread(s, &kept, &todo);
    return kept;
}

/* Where what lies in `array` is asked for: it is there from the store on that follows its making (emit_here). */
static Kept content_of(Split *s, const Uses *uses, Ref array) {
    Kept kept = {.ref = array, .type = ir_type(s->f, array)->element, .is_memory = true};
    Blocks todo = {0};
    Ref first = NO_REF;
    kept.live = bits_new(s->e->arena, s->f->blocks.len);
    for (int32_t k = 0; k < uses[array].list.len; k++) {
        Ref by = uses[array].list.items[k].of;
        if (ir_inst(s->f, by)->op == OP_store && (!first || by < first)) first = by;
    }
    kept.home = ir_inst(s->f, first)->block;
    for (int32_t k = 0; k < uses[array].list.len; k++) {
        Use use = uses[array].list.items[k];
        live_into(s, &kept, &todo, use.block);
        for (int32_t i = 0; stays(s->f, use.of) && i < uses[use.of].list.len; i++)
            live_into(s, &kept, &todo, uses[use.of].list.items[i].block);
    }
    spread(s, &kept, &todo);
    return kept;
}

static void find_kept(Split *s) {
    const Uses *uses = find_uses(s);
    for (int param = 1; param >= 0; param--) {
        for (Ref ref = 1; ref < s->f->insts.len; ref++) {
            if (stays(s->f, ref) || (ir_inst(s->f, ref)->op == OP_param) != param) continue;
            Kept kept = kept_of(s, &uses[ref], ref);
            if (param || crosses(s, &kept)) vec_push(s->e->arena, &s->kept, kept);
        }
        if (param) s->nparams = s->kept.len;
    }
    for (int32_t k = 0; k < s->e->here.len; k++) {
        Kept kept = content_of(s, uses, s->e->here.items[k]);
        if (crosses(s, &kept)) vec_push(s->e->arena, &s->kept, kept);
    }
}

/* -- the frame ---------------------------------------------------------------------------------------- */

static void make_tuple(Split *s) {
    int32_t n = 1;
    bool counted = s->item->counted || (s->returned && s->returned->counted);
    const Type **items = arena_array(s->e->arena, const Type *, s->kept.len + 6);
    items[0] = i64_of(s);
    if (s->closes) items[n++] = i64_of(s);
    if (s->sent) items[s->sent_place = n++] = s->sent, counted |= s->sent->counted;
    s->first = n;
    for (int32_t k = 0; k < s->kept.len; k++) {
        items[n++] = s->kept.items[k].type;
        counted |= items[n - 1]->counted;
    }
    if (s->item->counted) items[s->item_place = n++] = s->item;
    if (s->returned && s->returned->counted) items[s->result_place = n++] = s->returned;
    if (s->closes && !counted) /* only a block of what is counted can be marked */
        items[s->nothing_place = n++] = generator_frame(s->e->types);
    s->tuple = type_tuple(s->e->types, items, n);
}

static Ref emit_at(Emit *e, Ref tuple, int32_t k) {
    Ref ref = emit1(e, OP_item, ir_type(e->out, tuple)->items[k], tuple);
    ir_inst(e->out, ref)->imm = k;
    return ref;
}

/* What is counted comes out of its place alone, which is empty then: it is given back, or goes into another frame, without the rest. */
static Ref take_out(Emit *e, Ref bytes, const Type *tuple, int32_t k) {
    const Type *i64 = i64_type(e->types), *type = tuple->items[k];
    Ref parts[4] = {bytes, emit_int(e, i64, 1), emit_int(e, i64, type_size(type)),
                    emit_int(e, i64, type_offset(tuple, k))};
    Ref place = emit(e, OP_restride, type_array(e->types, type, 1, LAYOUT_A), parts, 4);
    return emit2(e, OP_take, type, place, emit_int(e, i64, 0));
}

/* Of what is counted, what an empty place has. */
static Ref nothing(Emit *e, Ref bytes, const Type *tuple, int32_t k) {
    const Type *type = tuple->items[k];
    return type->counted ? take_out(e, bytes, tuple, k) : emit_zero(e, type);
}

static Ref nothing_at(Split *s, int32_t place) {
    return nothing(s->e, s->frame, s->tuple, place);
}

/* (more, item [, result]) */
static Ref answer(Split *s, bool more, Ref item, Ref result) {
    Ref parts[3] = {emit_int(s->e, bool_type(s->e->types), more), item, result};
    return emit(s->e, OP_tuple, s->f->result, parts, 2 + (s->returned != NULL));
}

static Ref no_result(Split *s) {
    if (!s->returned) return NO_REF;
    return s->result_place ? nothing_at(s, s->result_place) : emit_zero(s->e, s->returned);
}

/* It has ended before it began, or was asked once more. */
static Ref no_item(Split *s) {
    return s->item_place ? nothing_at(s, s->item_place) : emit_zero(s->e, s->item);
}

static Ref no_answer(Split *s) {
    Ref item = no_item(s);
    return answer(s, false, item, no_result(s));
}

/* Into a place that is empty. */
static Ref put(Emit *e, Ref array, Ref at, Ref value) {
    Ref store = emit3(e, OP_store, NULL, array, at, value);
    ir_inst(e->out, store)->sub = FLAG_VACANT;
    return store;
}

static void end_state(Split *s) {
    Emit *e = s->e;
    const Type *i64 = i64_of(s);
    Ref state[3] = {s->frame, emit_int(e, i64, 1), emit_int(e, i64, type_size(i64))};
    Ref words = emit(e, OP_restride, type_array(e->types, i64, 1, LAYOUT_A), state, 3);
    put(e, words, s->at, emit_int(e, i64, STATE_DONE));
}

/* What is counted is taken out, the rest is read, and the state is DONE: the frame holds nothing. Returns the rest. */
static Ref empty_frame(Split *s) {
    Emit *e = s->e;
    for (int32_t k = 0; k < s->kept.len; k++)
        if (s->kept.items[k].type->counted)
            s->kept.items[k].place = take_out(e, s->frame, s->tuple, k + s->first);
    if (s->sent && s->sent->counted) s->taken = take_out(e, s->frame, s->tuple, s->sent_place);
    Ref values = emit2(e, OP_load, s->tuple, s->view, s->at);
    if (s->sent && !s->taken) s->taken = emit_at(e, values, s->sent_place);
    for (int32_t k = 0; k < s->kept.len; k++)
        if (!s->kept.items[k].place) s->kept.items[k].place = emit_at(e, values, k + s->first);
    return values;
}

/* Memory of the function is empty when it begins. */
static void fill_memory(Split *s) {
    for (int32_t k = 0; k < s->kept.len; k++)
        if (s->kept.items[k].is_memory)
            put(s->e, s->kept.items[k].ref, s->at, s->kept.items[k].place);
}

/* A generator that has not begun has no handlers to run. */
static void emit_start(Split *s, int32_t start) {
    Emit *e = s->e;
    const Type *truth = bool_type(e->types), *i64 = i64_of(s);
    int32_t off = emit_block(e);
    emit_branch(e, emit2(e, OP_eq, truth, s->how, emit_int(e, i64, ON_NEXT)), start, off);
    e->block = off;
    emit_thrown(e, s->how);
    emit1(e, OP_pending, NULL, emit2(e, OP_eq, truth, s->how, emit_int(e, i64, ON_THROW)));
    emit1(e, OP_return, NULL, no_answer(s));
}

static void fill_in_given(Split *s) {
    Emit *e = s->e;
    Ref given = s->how;
    if (s->sent) {
        Ref parts[2] = {s->how ? s->how : emit_int(e, i64_of(s), ON_NEXT), s->taken};
        given = emit2(e, OP_tuple, ir_type(s->f, s->given), parts[0], parts[1]);
    }
    if (given) ir_replace_uses(s->f, s->given, given);
    ir_remove(s->f, s->given);
}

/* Control is in the block where a generator that is done has nothing to give. */
static void open_frame(Split *s, int32_t start) {
    Emit *e = s->e;
    const Type *i64 = i64_of(s);
    Ref param = s->frame = ir_insert(s->f, 0, 0, OP_param, NULL, 0);
    ir_inst(s->f, param)->type = generator_frame(e->types);
    e->pool_at++;
    Ref sizes[2] = {emit_int(e, i64, 1), emit_int(e, i64, type_size(s->tuple))};
    const Type *view = type_array(e->types, s->tuple, 1, LAYOUT_A);
    s->at = emit_int(e, i64, 0);
    s->view = emit3(e, OP_restride, view, param, sizes[0], sizes[1]);
    Ref values = empty_frame(s);
    Ref state = emit_at(e, values, 0);
    s->how = s->closes ? emit_at(e, values, 1) : NO_REF;
    fill_in_given(s);
    end_state(s);
    fill_memory(s);
    for (int32_t k = 0; k < s->yields.len; k++) {
        int32_t next = emit_block(e);
        Ref here = emit2(e, OP_eq, bool_type(e->types), state, emit_int(e, i64, STATE_FIRST + k));
        emit_branch(e, here, s->yields.items[k].rest, next);
        e->block = next;
    }
    Ref started = emit2(e, OP_eq, bool_type(e->types), state, emit_int(e, i64, STATE_START));
    int32_t done = emit_block(e), begin = s->closes ? emit_block(e) : start;
    emit_branch(e, started, begin, done);
    e->block = begin;
    if (s->closes) emit_start(s, start);
    e->block = done;
    emit1(e, OP_return, NULL, no_answer(s));
}

static void write_yield(Split *s, int32_t number) {
    Emit *e = s->e;
    const Yield *yield = &s->yields.items[number];
    Ref item = ir_arg(s->f, yield->ref, 0);
    Ref *parts = arena_array(e->arena, Ref, s->tuple->nitems);
    ir_remove(s->f, yield->ref);
    e->block = yield->block;
    parts[0] = emit_int(e, i64_of(s), STATE_FIRST + number);
    if (s->closes) parts[1] = emit_int(e, i64_of(s), ON_NEXT);
    if (s->sent) parts[s->sent_place] = nothing_at(s, s->sent_place);
    for (int32_t k = 0; k < s->kept.len; k++) {
        const Kept *kept = &s->kept.items[k];
        Op out = kept->type->counted ? OP_take : OP_load;
        bool lives = k < s->nparams || bits_get(&kept->live, yield->rest);
        int32_t place = k + s->first;
        parts[place] = k < s->nparams    ? kept->place
                       : !lives          ? nothing_at(s, place)
                       : kept->is_memory ? emit2(e, out, kept->type, kept->ref, s->at)
                                         : kept->ref;
    }
    if (s->nothing_place) parts[s->nothing_place] = nothing_at(s, s->nothing_place);
    if (s->item_place) parts[s->item_place] = nothing_at(s, s->item_place);
    if (s->result_place) parts[s->result_place] = nothing_at(s, s->result_place);
    put(e, s->view, s->at, emit(e, OP_tuple, s->tuple, parts, s->tuple->nitems));
    emit1(e, OP_return, NULL, answer(s, true, item, no_result(s)));
}

static void write_returns(Split *s, int32_t n) {
    Emit *e = s->e;
    for (int32_t b = 0; b < n; b++) {
        Ref last = s->f->blocks.items[b].removed ? NO_REF : ir_terminator(s->f, b);
        if (!last || ir_inst(s->f, last)->op != OP_return) continue;
        e->block = b;
        e->insert_at = s->f->blocks.items[b].insts.len - 1;
        Ref value = s->returned ? ir_arg(s->f, last, 0) : NO_REF;
        Ref result = answer(s, false, no_item(s), value);
        e->insert_at = -1;
        ir_set_args(s->f, last, &result, 1);
    }
}

/* -- one value, several definitions ------------------------------------------------------------------ */

typedef struct Repair {
    Split *s;
    const Kept *kept;
    Ref *start; /* by block: the value at its start */
    int32_t home;
} Repair;

static Ref at_end(const Repair *r, int32_t block) {
    return block == r->home ? r->kept->ref : r->start[block];
}

static bool is_rest(const Split *s, int32_t block) {
    for (int32_t k = 0; k < s->yields.len; k++)
        if (s->yields.items[k].rest == block) return true;
    return false;
}

static void define_in_blocks(Repair *r, const Cfg *cfg) {
    Func *f = r->s->f;
    Vec(Ref) phis = {0};
    for (int32_t i = 0; i < cfg->nrpo; i++) {
        int32_t block = cfg->rpo[i];
        if (block >= r->kept->live.n || !bits_get(&r->kept->live, block)) continue;
        if (is_rest(r->s, block)) {
            r->start[block] = r->kept->place;
        } else if (f->blocks.items[block].preds.len == 1) {
            r->start[block] = at_end(r, f->blocks.items[block].preds.items[0]);
        } else {
            Ref phi = r->start[block] = ir_insert(f, block, 0, OP_phi, NULL, 0);
            ir_inst(f, phi)->type = ir_type(f, r->kept->ref);
            vec_push(r->s->e->arena, &phis, phi);
        }
    }
    for (int32_t k = 0; k < phis.len; k++) {
        int32_t block = ir_inst(f, phis.items[k])->block;
        for (int32_t p = 0; p < f->blocks.items[block].preds.len; p++)
            ir_add_arg(f, phis.items[k], at_end(r, f->blocks.items[block].preds.items[p]));
    }
}

static void rename_uses(Repair *r, const Uses *uses) {
    Func *f = r->s->f;
    for (int32_t u = 0; u < uses->list.len; u++) {
        Use use = uses->list.items[u];
        const Inst *inst = ir_inst(f, use.of);
        for (int32_t k = 0; inst->op != OP_removed && k < inst->nargs; k++) {
            if (ir_arg(f, use.of, k) != r->kept->ref) continue;
            int32_t from =
                inst->op == OP_phi ? f->blocks.items[inst->block].preds.items[k] : inst->block;
            ir_args(f, use.of)[k] = at_end(r, from);
        }
    }
}

static void repair(Split *s) {
    Cfg cfg;
    cfg_compute(&cfg, s->e->arena, s->f);
    const Uses *uses = find_uses(s);
    for (int32_t k = 0; k < s->kept.len; k++) {
        const Kept *kept = &s->kept.items[k];
        if (k < s->nparams) {
            ir_replace_uses(s->f, kept->ref, kept->place);
            ir_remove(s->f, kept->ref);
        }
        if (k < s->nparams || kept->is_memory) continue;
        Repair r = {s, kept, arena_array(s->e->arena, Ref, s->f->blocks.len), kept->home};
        define_in_blocks(&r, &cfg);
        rename_uses(&r, &uses[kept->ref]);
    }
}

/* -- the function that makes one ---------------------------------------------------------------------- */

static Ref whole_frame(Builder *b, const Split *s, Ref array, const Ref *params) {
    Func *f = b->func;
    Ref at = ir_const_int(f, i64_of(s), 0);
    Ref empty = b_op2(b, OP_take, s->tuple, array, at);
    Ref *parts = arena_array(s->e->arena, Ref, s->tuple->nitems);
    parts[0] = ir_const_int(f, i64_of(s), STATE_START);
    for (int32_t k = 1; k < s->tuple->nitems; k++) {
        bool param = k >= s->first && k < s->first + s->nparams;
        parts[k] = param ? params[k - s->first] : b_op1(b, OP_item, s->tuple->items[k], empty);
        if (!param) ir_inst(f, parts[k])->imm = k;
    }
    Ref tuple = b_inst(b, OP_tuple, s->tuple, parts, s->tuple->nitems);
    ir_inst(f, b_op3(b, OP_store, NULL, array, at, tuple))->sub = FLAG_VACANT;
    return at;
}

static void write_maker(const Split *s, Func *f, const int32_t *positions) {
    Builder b = {.func = f, .block = ir_block_new(f), .at = -1, .error = NO_BLOCK};
    Ref *params = arena_array(s->e->arena, Ref, f->nparams + 1);
    Ref *taken = arena_array(s->e->arena, Ref, s->nparams + 1);
    for (int32_t k = 0; k < f->nparams; k++) {
        params[k] = b_inst(&b, OP_param, f->param_types[k], NULL, 0);
        ir_inst(f, params[k])->imm = k;
    }
    for (int32_t k = 0; k < s->nparams; k++)
        taken[k] = params[positions[k]];
    Ref one = ir_const_int(f, i64_of(s), 1);
    const Type *type = type_array(s->e->types, s->tuple, 1, LAYOUT_C);
    Ref array = b_op1(&b, OP_alloc, type, one);
    ir_inst(f, array)->sub = FLAG_ZEROED;
    whole_frame(&b, s, array, taken);
    if (s->closes) ir_inst(f, b_op1(&b, OP_closing, NULL, array))->u.func = s->f;
    Ref size = ir_const_int(f, i64_of(s), type_size(s->tuple));
    b_return(&b, b_op3(&b, OP_restride, f->result, array, size, one));
}

void specialize_generator(Emit *e, Instance *inst, const Type *item) {
    Split s = {.e = e, .f = e->out, .inst = inst, .item = item, .closes = e->ti->closes};
    const Type *sent = sent_type(e->ti, inst);
    if (sent) s.sent = lower_type(e->ti, sent);
    if (generator_returns(inst)) s.returned = s.f->result->items[2];
    drop_polls(&s);
    cut_at_yields(&s);
    join_yields(&s);
    int32_t start = cut(s.f, 0, e->pool_at);
    for (int32_t k = 0; k < s.yields.len; k++)
        if (s.yields.items[k].block == 0) s.yields.items[k].block = start;
    fill_in_none(&s);
    find_kept(&s);
    make_tuple(&s);
    int32_t *positions = arena_array(e->arena, int32_t, s.nparams + 1);
    for (int32_t k = 0; k < s.nparams; k++)
        positions[k] = (int32_t)ir_inst(s.f, s.kept.items[k].ref)->imm;
    e->block = 0;
    e->insert_at = -1;
    int32_t blocks = s.f->blocks.len;
    open_frame(&s, start);
    write_returns(&s, blocks);
    for (int32_t k = 0; k < s.yields.len; k++)
        write_yield(&s, k);
    repair(&s);
    cfg_remove_unreachable(s.f);
    write_maker(&s, inst->maker, positions);
    inst->frame = s.tuple;
    inst->framed = positions;
    inst->nframed = s.nparams;
    inst->frame_first = s.first;
}

/* -- memory of the function itself ----------------------------------------------------------------------- */

/* An array of one element. A generator has it in its entry, and so behind each yield, too. The caller fills it next. */
Ref emit_here(Infer *in, const Type *array) {
    Emit *e = in->emit;
    bool lives_on = instance_is_generator(in->inst);
    const ConstVal **sizes = arena_array(e->arena, const ConstVal *, 1);
    sizes[0] = const_int(e->arena, 1);
    Ref here = lives_on ? emit_static(e, OP_static_array, array)
                        : emit(e, OP_static_array, array, NULL, 0);
    ir_inst(e->out, here)->u.value = const_tuple(e->arena, sizes, 1);
    if (lives_on) vec_push(e->arena, &e->here, here);
    return here;
}

static Ref bytes_of(Infer *in, Ref frame, const Type *tuple) {
    Emit *e = in->emit;
    Ref parts[3] = {frame, emit_int(e, i64_type(e->types), type_size(tuple)),
                    emit_int(e, i64_type(e->types), 1)};
    const Type *bytes = generator_frame(e->types);
    if (!instance_is_generator(in->inst)) return emit(e, OP_restride, bytes, parts, 3);
    Ref ref = emit_static(e, OP_restride, bytes);
    ir_set_args(e->out, ref, parts, 3);
    return ref;
}

/* A frame in the frame of the caller. A copy of the value has the same memory, and each loop begins anew: so it must not be met by the one of the
 * round before. */
Ref emit_frame_here(Infer *in, Instance *callee, const Ref *params) {
    Emit *e = in->emit;
    if (!specialize_instance(in->ti, callee) || !callee->specialized) return NO_REF;
    const Type *tuple = callee->frame;
    if (tuple->counted && (in->ti->closes || in->kernel)) return NO_REF;
    if (type_size(tuple) > MOST_HERE || iterator_escapes(in, in->at, tuple->counted)) return NO_REF;
    Ref frame = emit_here(in, type_array(e->types, tuple, 1, LAYOUT_C));
    Ref bytes = bytes_of(in, frame, tuple);
    Ref *parts = arena_array(in->arena, Ref, tuple->nitems);
    parts[0] = emit_int(e, i64_type(e->types), STATE_START);
    for (int32_t k = 1; k < tuple->nitems; k++) {
        int32_t param = k - callee->frame_first;
        parts[k] = param >= 0 && param < callee->nframed ? params[callee->framed[param]]
                                                         : nothing(e, bytes, tuple, k);
    }
    Ref whole = emit(e, OP_tuple, tuple, parts, tuple->nitems);
    Ref store = emit3(e, OP_store, NULL, frame, emit_int(e, i64_type(e->types), 0), whole);
    if (!instance_is_generator(in->inst)) ir_inst(e->out, store)->sub = FLAG_VACANT;
    return bytes;
}
