/* fields.c - fields of objects that a loop does not change are read in front of it.
 *
 *   preheader:                                    preheader: n = field xs at 0; items = field xs at 1
 *   header: if i < field xs at 0: body        =>  header: if i < n: body
 *   body: k = check_index(i, field xs at 0)       body: k = check_index(i, n)
 *         load (field xs at 1), k                       load items, k
 *
 * The passes behind this one then find what they know of arrays: a loop that is counted, lengths that stand still. A read more than the
 * program has is harmless where the object is surely there; what a `field` gives may be empty, and a guard in the loop may be what asks. */
#include "codegen/opt/effects.h"

typedef struct Hoisted {
    Ref object, value;
    int64_t field;
} Hoisted;

typedef struct Fields {
    Func *func;
    Arena *arena;
    Cfg cfg;
    EffectsOf of;
    int32_t loop, preheader;
    Effects inside; /* of the loop */
    Vec(Hoisted) hoisted;
} Fields;

static bool is_inside(const Fields *f, Ref ref) {
    return opt_in_loop(&f->cfg, f->loop, ir_inst(f->func, ref)->block);
}

/* Does the loop read it before anything else can happen? */
static bool is_read_first(const Fields *f, Ref ref) {
    const Block *header = &f->func->blocks.items[f->cfg.loops.items[f->loop].header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Ref other = header->insts.items[i];
        if (other == ref) return true;
        if (!ir_op_is(f->func, other, OPF_PURE | OPF_READ)) return false;
    }
    return false;
}

/* The same field, read before, with nothing behind that may change it: in the preheader or in what leads to it alone. */
static Ref read_before(Fields *f, Ref object, int64_t field) {
    enum { BLOCKS = 4, INSTS = 100 };
    int32_t block = f->preheader, left = INSTS;
    for (int n = 0; n < BLOCKS; n++) {
        const Block *b = &f->func->blocks.items[block];
        for (int32_t i = b->insts.len - 1; i >= 0; i--) {
            Ref ref = b->insts.items[i];
            const Inst *inst = ir_inst(f->func, ref);
            if (inst->op == OP_field && inst->imm == field && ir_arg(f->func, ref, 0) == object)
                return ref;
            Effects effects = {0};
            effects_add(&f->of, f->func, ref, &effects);
            if (left-- == 0 || ref == object || effects_change(&f->of, &effects, object, field))
                return NO_REF;
        }
        if (b->preds.len != 1) return NO_REF;
        block = b->preds.items[0];
    }
    return NO_REF;
}

static Ref hoist(Fields *f, Ref ref, Ref object) {
    Func *func = f->func;
    int64_t field = ir_inst(func, ref)->imm;
    for (int32_t i = 0; i < f->hoisted.len; i++) {
        const Hoisted *h = &f->hoisted.items[i];
        if (h->object == object && h->field == field) return h->value;
    }
    Ref value = read_before(f, object, field);
    if (!value) {
        int32_t at = func->blocks.items[f->preheader].insts.len - 1;
        value = ir_insert(func, f->preheader, at, OP_field, &object, 1);
        ir_inst(func, value)->type = ir_type(func, ref);
        ir_inst(func, value)->imm = field;
        ir_inst(func, value)->span = ir_inst(func, ref)->span;
    }
    Hoisted h = {object, value, field};
    vec_push(f->arena, &f->hoisted, h);
    return value;
}

/* Where references are dropped, a buffer that is held over the loop would need one of its own: it is read anew. */
static bool may_hoist(Fields *f, Ref ref, Ref object) {
    const Inst *inst = ir_inst(f->func, ref);
    if (is_inside(f, object) || ir_type(f->func, object)->kind != TY_CLASS) return false;
    if (inst->type->counted && f->inside.drops) return false;
    if (!effects_object_is_there(f->func, object) && !is_read_first(f, ref)) return false;
    return !effects_change(&f->of, &f->inside, object, inst->imm);
}

static bool has_fields(const Func *func, const Loop *loop) {
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        const Block *block = &func->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (ir_inst(func, block->insts.items[k])->op == OP_field) return true;
    }
    return false;
}

/* The reads of the loop that may stand in front of it. */
static void find_reads(Fields *f, const Loop *loop, RefList *out) {
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        const Block *block = &f->func->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            if (ir_inst(f->func, ref)->op == OP_field && may_hoist(f, ref, ir_arg(f->func, ref, 0)))
                vec_push(f->arena, out, ref);
        }
    }
}

static int32_t preheader_of(Fields *f) {
    Func *func = f->func;
    int32_t header = f->cfg.loops.items[f->loop].header, entry = NO_BLOCK;
    const Block *head = &func->blocks.items[header];
    for (int32_t i = 0; i < head->preds.len; i++) {
        if (opt_in_loop(&f->cfg, f->loop, head->preds.items[i])) continue;
        if (entry != NO_BLOCK) return NO_BLOCK;
        entry = head->preds.items[i];
    }
    return entry == NO_BLOCK ? NO_BLOCK : ir_edge_split(func, entry, header);
}

/* Returns whether blocks have been added. */
static bool hoist_from(Fields *f) {
    RefList reads = {0};
    const Loop *loop = &f->cfg.loops.items[f->loop];
    if (!has_fields(f->func, loop)) return false;
    f->of.loop = f->loop;
    effects_of_loop(&f->of, NULL, &f->inside);
    if (!f->inside.all) find_reads(f, loop, &reads);
    f->preheader = reads.len ? preheader_of(f) : NO_BLOCK;
    if (f->preheader == NO_BLOCK) return false;
    f->hoisted.len = 0;
    Ref *map = arena_array(f->arena, Ref, f->func->insts.len + reads.len);
    for (int32_t i = 0; i < reads.len; i++)
        map[reads.items[i]] = hoist(f, reads.items[i], ir_arg(f->func, reads.items[i], 0));
    ir_replace_many(f->func, map);
    for (int32_t i = 0; i < reads.len; i++)
        ir_remove(f->func, reads.items[i]);
    return true;
}

static bool has_objects(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_field) return true;
    return false;
}

/* Outer loops first: what stands still in them stands still in those inside. */
void opt_fields(PassContext *ctx, Func *func) {
    Fields f = {.func = func, .arena = ctx->arena};
    if (!has_objects(func)) return;
    cfg_compute(&f.cfg, ctx->arena, func);
    Vec(int32_t) headers = {0};
    for (int32_t l = 0; l < f.cfg.loops.len; l++)
        vec_push(ctx->arena, &headers, f.cfg.loops.items[l].header);
    f.of = effects_new(ctx->arena, func, &f.cfg);
    for (int32_t i = 0; i < headers.len; i++) {
        f.loop = opt_loop_of_header(&f.cfg, headers.items[i]);
        if (f.loop >= 0 && hoist_from(&f)) cfg_compute(&f.cfg, ctx->arena, func);
    }
}
