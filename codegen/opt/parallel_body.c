/* parallel_body.c - the function of a parallel loop's body.
 *
 *     f.parallel1(first, last, chunk, inputs ..., partials ...):
 *       for counter in range(first, last): the body, unchanged
 *       partials[chunk] = what the chunk ends with
 *
 * The loop counts from 0 as the front end's do, and what was the counter is first + counter, so that the proofs of
 * indices see a loop over range(first, last). Constants, and lengths of arrays that come in, are made again. */
#include "codegen/opt/parallel.h"

typedef struct Copy {
    Region *r;
    Func *from, *to;
    Ref *refs;       /* from's -> to's */
    int32_t *blocks; /* from's -> to's, for those of the region */
    int32_t end;     /* of `to`: where the loop ends */
    Ref first, last, chunk, item, limit;
    const Type *i64, *boolean;
} Copy;

/* -- parameters --------------------------------------------------------------------------------- */

static bool made_again(const Inst *inst) {
    return inst->op == OP_const || inst->op == OP_frozen;
}

static void add_input(Copy *c, Ref ref) {
    const Inst *inst = ir_inst(c->from, ref);
    if (c->refs[ref] || made_again(inst) || c->r->inside[inst->block]) return;
    c->refs[ref] = -1; /* seen */
    vec_push(c->r->ctx->arena, &c->r->inputs, ref);
}

static void find_inputs(Copy *c) {
    Region *r = c->r;
    for (int32_t i = 0; i < r->arrays.len; i++)
        c->refs[r->arrays.items[i].array] = -1; /* not itself, but its part */
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &c->from->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            bool header = r->blocks.items[i] == r->loop.header;
            if (ref == r->loop.test || (header && ref == r->loop.counter)) continue;
            for (int32_t a = 0; a < ir_inst(c->from, ref)->nargs; a++)
                add_input(c, ir_arg(c->from, ref, a));
        }
    }
    for (int32_t i = 0; i < r->carried.len; i++)
        if (r->carried.items[i].kind != CARRIED_NOT) add_input(c, r->carried.items[i].start);
}

static Ref add_param(Copy *c, int32_t index, const Type *type, const char *name) {
    Func *to = c->to;
    Ref param = ir_append(to, 0, OP_param, NULL, 0);
    ir_inst(to, param)->imm = index;
    ir_inst(to, param)->type = type;
    to->param_types[index] = type;
    ((Str *)to->param_names)[index] =
        str_printf(c->r->ctx->module->arena, "%s%d", name, (int)index);
    return param;
}

static void make_params(Copy *c) {
    Region *r = c->r;
    Arena *arena = r->ctx->module->arena;
    int32_t n = 3 + r->inputs.len + 2 * r->carried.len + r->arrays.len, at = 0;
    c->to->param_types = arena_array(arena, const Type *, n);
    c->to->param_names = arena_array(arena, Str, n);
    c->first = add_param(c, at++, c->i64, "first");
    c->last = add_param(c, at++, c->i64, "last");
    c->chunk = add_param(c, at++, c->i64, "chunk");
    for (int32_t i = 0; i < r->inputs.len; i++)
        c->refs[r->inputs.items[i]] = add_param(c, at++, ir_type(c->from, r->inputs.items[i]), "p");
    for (int32_t i = 0; i < r->carried.len; i++) {
        Carried *v = &r->carried.items[i];
        if (!carried_has_result(v)) continue;
        const Type *one = ir_type(c->from, v->phi);
        v->partials = add_param(c, at++, type_array(r->ctx->module->types, one, 1, LAYOUT_C), "r");
        if (v->kind == CARRIED_LAST)
            v->flags =
                add_param(c, at++, type_array(r->ctx->module->types, c->boolean, 1, LAYOUT_C), "r");
    }
    for (int32_t i = 0; i < r->arrays.len; i++) {
        SharedArray *shared = &r->arrays.items[i];
        const Type *type =
            shared_parts_type(r->ctx->module->types, ir_type(c->from, shared->array));
        shared->parts = add_param(c, at++, type, "r");
    }
    c->to->nparams = at;
}

/* -- instructions ------------------------------------------------------------------------------- */

static void copy_inst(Copy *c, int32_t block, Ref ref) {
    Ref copy = opt_copy_inst(c->to, block, c->from, ref);
    int32_t error = ir_inst(c->from, ref)->error;
    if (error != NO_BLOCK && error != c->r->landing) ir_inst(c->to, copy)->error = c->blocks[error];
    c->refs[ref] = copy;
    if (ref >= c->from->var_names.len || !c->from->var_names.items[ref].len) return;
    vec_resize(c->r->ctx->module->arena, &c->to->var_names, copy + 1);
    c->to->var_names.items[copy] = c->from->var_names.items[ref];
}

static void copy_constants(Copy *c) {
    for (int32_t i = 0; i < c->r->blocks.len; i++) {
        const Block *block = &c->from->blocks.items[c->r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            for (int32_t a = 0; a < ir_inst(c->from, block->insts.items[k])->nargs; a++) {
                Ref arg = ir_arg(c->from, block->insts.items[k], a);
                if (made_again(ir_inst(c->from, arg)) && !c->refs[arg] &&
                    !c->r->inside[ir_inst(c->from, arg)->block])
                    copy_inst(c, 0, arg);
            }
    }
    for (int32_t i = 0; i < c->r->carried.len; i++) {
        Ref start = c->r->carried.items[i].start;
        if (!c->refs[start] && made_again(ir_inst(c->from, start))) copy_inst(c, 0, start);
    }
}

static void set_operands(Copy *c, Ref ref) {
    const Region *r = c->r;
    bool counts = ref == r->loop.next || ref == r->loop.test;
    int32_t n = ir_inst(c->from, ref)->nargs;
    Ref *args = arena_array(r->ctx->arena, Ref, n + 1);
    for (int32_t k = 0; k < n; k++) {
        Ref arg = ir_arg(c->from, ref, k);
        args[k] = arg == r->loop.counter && !counts ? c->item : c->refs[arg];
        if (ref == r->loop.test && arg == r->loop.limit) args[k] = c->limit;
    }
    ir_set_args(c->to, c->refs[ref], args, n);
}

static int32_t to_block(const Copy *c, int32_t block) {
    return c->r->inside[block] ? c->blocks[block] : c->end;
}

static void copy_block(Copy *c, int32_t block) {
    const Block *old = &c->from->blocks.items[block];
    int32_t copy = c->blocks[block];
    for (int32_t k = 0; k < old->preds.len; k++)
        ir_edge_add(c->to, c->r->inside[old->preds.items[k]] ? c->blocks[old->preds.items[k]] : 0,
                    copy);
    if (block == c->r->loop.body) { /* only the test leads here: there are no phis */
        c->item = ir_append(c->to, copy, OP_range_item, NULL, 0);
        ir_inst(c->to, c->item)->type = c->i64;
    }
    for (int32_t k = 0; k < old->insts.len; k++)
        copy_inst(c, copy, old->insts.items[k]);
    Ref last = ir_terminator(c->from, block), made = ir_terminator(c->to, copy);
    int n = ir_inst(c->from, last)->op == OP_branch ? 2 : ir_inst(c->from, last)->op == OP_jump;
    for (int t = 0; t < n; t++)
        ir_inst(c->to, made)->target[t] = to_block(c, ir_inst(c->from, last)->target[t]);
}

/* -- what chunks start and end with ------------------------------------------------------------- */

static Ref identity(Copy *c, const Carried *v) {
    const Type *type = ir_type(c->from, v->phi);
    Ref ref = ir_append(c->to, 0, OP_const, NULL, 0);
    ir_inst(c->to, ref)->type = type;
    ir_inst(c->to, ref)->u.value = reduction_identity(c->r->ctx->module->arena, v->kind, type);
    return ref;
}

/* The first chunk goes on from the value before the loop: with one chunk nothing is computed in another order. */
static Ref first_value(Copy *c, Builder *b, const Carried *v) {
    const Type *type = ir_type(c->from, v->phi);
    if (v->kind == CARRIED_NOT) return b_inst(b, OP_undef, type, NULL, 0);
    Ref start = c->refs[v->start];
    if (v->kind != CARRIED_ADD && v->kind != CARRIED_MULTIPLY && v->kind != CARRIED_XOR)
        return start;
    Ref zero = ir_const_int(c->to, c->i64, 0);
    Ref is_first = b_op2(b, OP_eq, c->boolean, c->chunk, zero);
    return b_op3(b, OP_select, type, is_first, start, identity(c, v));
}

static Ref true_or_false(Copy *c, bool value) {
    return ir_const_int(c->to, c->boolean, value);
}

/* For each phi of the web one that tells whether what it holds was assigned in this chunk. */
static void make_flags(Copy *c, Carried *v) {
    Ref *flags = arena_array(c->r->ctx->arena, Ref, v->web.n);
    Ref no = true_or_false(c, false), yes = true_or_false(c, true);
    for (Ref ref = 1; ref < v->web.n; ref++) {
        if (!bits_get(&v->web, ref)) continue;
        flags[ref] = ir_insert(c->to, ir_inst(c->to, c->refs[ref])->block, 0, OP_phi, NULL, 0);
        ir_inst(c->to, flags[ref])->type = c->boolean;
    }
    for (Ref ref = 1; ref < v->web.n; ref++) {
        if (!flags[ref]) continue;
        const Block *block = &c->from->blocks.items[ir_inst(c->from, ref)->block];
        for (int32_t k = 0; k < ir_inst(c->from, ref)->nargs; k++) {
            Ref arg = ir_arg(c->from, ref, k);
            bool inside = c->r->inside[block->preds.items[k]];
            ir_add_arg(c->to, flags[ref], !inside ? no : bits_get(&v->web, arg) ? flags[arg] : yes);
        }
    }
    v->flag = flags[v->phi];
}

static void make_end(Copy *c) {
    Builder b = {.func = c->to, .block = c->end, .at = -1, .error = NO_BLOCK};
    for (int32_t i = 0; i < c->r->carried.len; i++) {
        const Carried *v = &c->r->carried.items[i];
        if (!carried_has_result(v)) continue;
        b_op3(&b, OP_store, NULL, v->partials, c->chunk, c->refs[v->phi]);
        if (v->kind == CARRIED_LAST) b_op3(&b, OP_store, NULL, v->flags, c->chunk, v->flag);
    }
    b_return(&b, b_const(&b, c->to->result, const_none(c->r->ctx->module->arena)));
}

/* -- the function ------------------------------------------------------------------------------- */

/* The chunk's own arrays, filled with what changes nothing. */
static void make_parts(Copy *c) {
    Module *module = c->r->ctx->module;
    Builder b = {.func = c->to, .block = 0, .at = -1, .error = NO_BLOCK};
    for (int32_t i = 0; i < c->r->arrays.len; i++) {
        SharedArray *shared = &c->r->arrays.items[i];
        const Type *array = ir_type(c->from, shared->array);
        shared->mine = shared_part(&b, shared->parts, c->chunk, array);
        c->refs[shared->array] = shared->mine;
        Ref start = b_const(&b, array->element,
                            reduction_identity(module->arena, shared->kind, array->element));
        Ref fill = b_op2(&b, OP_map_into, NULL, shared->mine, start);
        ir_inst(c->to, fill)->u.func = copy_function(module, array->element);
    }
}

/* The length of range(first, last). */
static void make_limit(Copy *c) {
    Builder b = {.func = c->to, .block = 0, .at = -1, .error = NO_BLOCK};
    c->limit = b_op3(&b, OP_range_len, c->i64, c->first, c->last, ir_const_int(c->to, c->i64, 1));
    ir_inst(c->to, c->limit)->sub = FLAG_NO_OVERFLOW;
}

/* Values that enter the header: the counter's 0, and what the chunk starts with. */
static void enter(Copy *c) {
    Builder b = {.func = c->to, .block = 0, .at = -1, .error = NO_BLOCK};
    Ref zero = ir_const_int(c->to, c->i64, 0);
    const Block *header = &c->from->blocks.items[c->r->loop.header];
    int32_t entry = 0;
    while (header->preds.items[entry] != c->r->loop.entry_pred)
        entry++;
    ir_args(c->to, c->refs[c->r->loop.counter])[entry] = zero;
    for (int32_t i = 0; i < c->r->carried.len; i++) {
        const Carried *v = &c->r->carried.items[i];
        Ref value = first_value(c, &b, v);
        ir_args(c->to, c->refs[v->phi])[entry] = value;
    }
    Ref jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(c->to, jump)->target[0] = c->blocks[c->r->loop.header]; /* the edge is there */
}

static Func *new_function(Region *r) {
    Module *module = r->ctx->module;
    Str name = str_printf(module->arena, STR_FMT ".parallel%d", STR_ARG(r->func->name),
                          (int)module->funcs.len);
    Func *to = ir_func_part(r->func, name);
    to->result = type_scalar(module->types, TY_none);
    for (int32_t i = 1; i < r->func->spans.len; i++)
        vec_push(module->arena, &to->spans, r->func->spans.items[i]);
    ir_block_new(to);
    return to;
}

void region_make_body(Region *r) {
    Arena *arena = r->ctx->arena;
    TypeTable *types = r->ctx->module->types;
    Copy c = {.r = r, .from = r->func, .to = new_function(r)};
    c.i64 = type_scalar(types, TY_i64), c.boolean = type_scalar(types, TY_bool);
    c.refs = arena_array(arena, Ref, r->func->insts.len);
    c.blocks = arena_array(arena, int32_t, r->func->blocks.len);
    r->body = c.to;
    find_inputs(&c);
    make_params(&c);
    copy_constants(&c);
    make_limit(&c);
    make_parts(&c);
    for (int32_t i = 0; i < r->blocks.len; i++)
        c.blocks[r->blocks.items[i]] = ir_block_new(c.to);
    c.end = ir_block_new(c.to);
    ir_edge_add(c.to, c.blocks[r->loop.header], c.end);
    for (int32_t i = 0; i < r->blocks.len; i++)
        copy_block(&c, r->blocks.items[i]);
    Ref item[4] = {c.first, c.last, ir_const_int(c.to, c.i64, 1), c.refs[r->loop.counter]};
    ir_set_args(c.to, c.item, item, 4);
    for (int32_t i = 0; i < r->blocks.len; i++) {
        const Block *block = &c.from->blocks.items[r->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            set_operands(&c, block->insts.items[k]);
    }
    enter(&c);
    for (int32_t i = 0; i < r->carried.len; i++)
        if (r->carried.items[i].kind == CARRIED_LAST) make_flags(&c, &r->carried.items[i]);
    make_end(&c);
}
