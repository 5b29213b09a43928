/* specialize.c - typed functions: appending instructions, constants, conversions, and the walk over
 * the blocks of an instance whose facts are final.
 *
 * An untyped block becomes a chain of typed blocks: an instruction may need a loop, and one that
 * raises with an error successor ends its block. `origin` tells for each typed block the untyped one,
 * so that phis, which are completed last, find their operands by predecessor. Constants and frozen
 * arrays stand once at the head of the entry (`pool`). */
#include "typeinfer/infer.h"

/* -- lowered types ------------------------------------------------------------------------------- */

static const Type *make_lowered(Ti *ti, const Type *type) {
    TypeTable *types = ti->types;
    const Type *i64 = type_scalar(types, TY_i64);
    switch (type->kind) {
    case TY_TUPLE: {
        const Type **items = arena_array(ti->arena, const Type *, type->nitems);
        for (int32_t i = 0; i < type->nitems; i++)
            items[i] = lower_type(ti, type->items[i]);
        return type_tuple(types, items, type->nitems);
    }
    case TY_ARRAY: return type;
    case TY_RANGE: {
        const Type *element = lower_type(ti, type->element);
        return type_tuple(types, (const Type *[]){element, element, i64}, 3);
    }
    case TY_SLICE: return type_tuple(types, (const Type *[]){i64, i64, i64}, 3);
    case TY_ITER: return lower_type(ti, type->element);
    case TY_OPTIONAL: {
        const Type *items[2] = {type_scalar(types, TY_bool), lower_type(ti, type->element)};
        return type_tuple(types, items, 2);
    }
    case TY_OBJECT:
    case TY_UNKNOWN: return type_scalar(types, TY_none);
    default: return type_strong(types, type);
    }
}

const Type *lower_type(Ti *ti, const Type *type) {
    if (type->id < ti->lowered.len && ti->lowered.items[type->id])
        return ti->lowered.items[type->id];
    const Type *lowered = make_lowered(ti, type);
    if (type->id >= ti->lowered.len) vec_resize(ti->arena, &ti->lowered, type->id + 16);
    return ti->lowered.items[type->id] = lowered;
}

/* -- appending ------------------------------------------------------------------------------------- */

int32_t emit_block(Infer *in) {
    int32_t block = ir_block_new(in->out);
    vec_resize(in->arena, &in->origin, block + 1);
    in->origin.items[block] = in->block >= 0 ? in->origin.items[in->block] : 0;
    return block;
}

void emit_jump(Infer *in, int32_t to) {
    Ref ref = ir_append(in->out, in->block, OP_jump, NULL, 0);
    ir_inst(in->out, ref)->target[0] = to;
    ir_inst(in->out, ref)->span = in->span;
    ir_edge_add(in->out, in->block, to);
}

void emit_branch(Infer *in, Ref condition, int32_t yes, int32_t no) {
    Ref ref = ir_append(in->out, in->block, OP_branch, &condition, 1);
    Inst *inst = ir_inst(in->out, ref);
    inst->target[0] = yes;
    inst->target[1] = no;
    inst->span = in->span;
    ir_edge_add(in->out, in->block, yes);
    ir_edge_add(in->out, in->block, no);
}

Ref emit(Infer *in, Op op, const Type *type, const Ref *args, int32_t n) {
    Ref ref = in->insert_at < 0 ? ir_append(in->out, in->block, op, args, n)
                                : ir_insert(in->out, in->block, in->insert_at++, op, args, n);
    Inst *inst = ir_inst(in->out, ref);
    inst->type = type;
    inst->span = in->span;
    if (in->error == NO_BLOCK || !(ir_op_info[op].flags & OPF_RAISES)) return ref;
    inst->error = in->error;
    ir_edge_add(in->out, in->block, in->error);
    if (ir_op_info[op].flags & OPF_TERM) return ref;
    int32_t next = emit_block(in);
    emit_jump(in, next);
    in->block = next;
    return ref;
}

Ref emit1(Infer *in, Op op, const Type *type, Ref a) {
    return emit(in, op, type, &a, 1);
}

Ref emit2(Infer *in, Op op, const Type *type, Ref a, Ref b) {
    return emit(in, op, type, (Ref[]){a, b}, 2);
}

Ref emit3(Infer *in, Op op, const Type *type, Ref a, Ref b, Ref c) {
    return emit(in, op, type, (Ref[]){a, b, c}, 3);
}

void emit_guard(Infer *in, Guard guard, Ref condition, const Ref *args, int32_t n) {
    bool local = guard == GUARD_unbound_local;
    emit_named_guard(in, guard, condition, args, n, local ? ir_inst(in->f, in->at)->u.name : NULL);
}

void emit_named_guard(Infer *in, Guard guard, Ref condition, const Ref *args, int32_t n,
                      const Str *name) {
    Ref refs[8] = {condition};
    if (!in->guards) return;
    const Inst *c = ir_inst(in->out, condition);
    if (c->op == OP_const && c->u.value->i == 0) return;
    for (int32_t k = 0; k < n; k++)
        refs[k + 1] = args[k];
    int32_t error = in->error;
    in->error = NO_BLOCK;
    Ref ref = emit(in, OP_guard, NULL, refs, n + 1);
    in->error = error;
    ir_inst(in->out, ref)->sub = (uint16_t)guard;
    ir_inst(in->out, ref)->u.name = name;
    if (error == NO_BLOCK) return;
    ir_inst(in->out, ref)->error = error;
    ir_edge_add(in->out, in->block, error);
    int32_t next = emit_block(in);
    emit_jump(in, next);
    in->block = next;
}

/* -- the pool: constants, undefined values, frozen arrays ----------------------------------------- */

static Ref pool_add(Infer *in, Op op, const Type *type) {
    Ref ref = ir_insert(in->out, 0, in->pool_at++, op, NULL, 0);
    if (in->block == 0 && in->insert_at >= 0) in->insert_at++;
    ir_inst(in->out, ref)->type = type;
    vec_push(in->arena, &in->pool, ref);
    return ref;
}

static bool same_const(const ConstVal *a, const ConstVal *b) {
    if (a->kind != b->kind || a->i != b->i || a->is_unsigned != b->is_unsigned) return false;
    return memcmp(&a->re, &b->re, sizeof a->re) == 0 && memcmp(&a->im, &b->im, sizeof a->im) == 0;
}

static uint64_t const_key(const Type *type, const ConstVal *value) {
    uint64_t re, im;
    memcpy(&re, &value->re, sizeof re);
    memcpy(&im, &value->im, sizeof im);
    uint64_t h = hash_mix((uint64_t)type->id << 8 | (uint64_t)value->kind);
    return hash_mix(hash_mix(hash_mix(h ^ (uint64_t)value->i) + re) + im);
}

Ref emit_const(Infer *in, const Type *type, const ConstVal *value) {
    uint64_t key = const_key(type, value);
    for (const MapValue *found; (found = map_find(&in->constants, key)); key++) {
        const Inst *inst = ir_inst(in->out, (Ref)found->num);
        if (inst->type == type && same_const(inst->u.value, value)) return (Ref)found->num;
    }
    Ref ref = pool_add(in, OP_const, type);
    ir_inst(in->out, ref)->u.value = value;
    map_put(&in->constants, key)->num = ref;
    return ref;
}

Ref emit_undef(Infer *in, const Type *type) {
    if (type->kind == TY_none) return emit_none(in);
    for (int32_t i = 0; i < in->pool.len; i++) {
        const Inst *inst = ir_inst(in->out, in->pool.items[i]);
        if (inst->op == OP_undef && inst->type == type) return in->pool.items[i];
    }
    return pool_add(in, OP_undef, type);
}

static Ref emit_frozen(Infer *in, const FrozenArray *array) {
    for (int32_t i = 0; i < in->pool.len; i++) {
        const Inst *inst = ir_inst(in->out, in->pool.items[i]);
        if (inst->op == OP_frozen && inst->u.frozen == array) return in->pool.items[i];
    }
    Ref ref = pool_add(in, OP_frozen, array->type);
    ir_inst(in->out, ref)->u.frozen = array;
    return ref;
}

Ref emit_static(Infer *in, Op op, const Type *type) {
    return pool_add(in, op, type);
}

Ref emit_none(Infer *in) {
    return emit_const(in, type_scalar(in->types, TY_none), const_none(in->arena));
}

Ref emit_int(Infer *in, const Type *type, int64_t value) {
    if (type->kind == TY_bool) return emit_const(in, type, const_bool(in->arena, value != 0));
    ConstVal *c = arena_new(in->arena, ConstVal);
    *c = (ConstVal){.kind = CONST_INT, .i = value};
    c->is_unsigned = type->kind == TY_u64 && value < 0;
    return emit_const(in, type, c);
}

Ref emit_float(Infer *in, const Type *type, double value) {
    if (!type_is_complex(type)) return emit_const(in, type, const_float(in->arena, value));
    ConstVal *c = arena_new(in->arena, ConstVal);
    *c = (ConstVal){.kind = CONST_COMPLEX, .re = value};
    return emit_const(in, type, c);
}

bool emitted_int(Infer *in, Ref ref, int64_t *value) {
    const Inst *inst = ir_inst(in->out, ref);
    if (inst->op != OP_const || inst->u.value->kind != CONST_INT || inst->u.value->is_unsigned)
        return false;
    return *value = inst->u.value->i, true;
}

bool emitted_nonzero(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->out, ref);
    if (inst->op != OP_const) return false;
    const ConstVal *c = inst->u.value;
    return c->kind == CONST_INT ? c->i != 0 : c->kind == CONST_FLOAT && c->re != 0;
}

Ref emit_item(Infer *in, Ref tuple, int32_t k) {
    const Inst *inst = ir_inst(in->out, tuple);
    if (inst->op == OP_tuple) return ir_arg(in->out, tuple, k);
    Ref ref = emit1(in, OP_item, inst->type->items[k], tuple);
    ir_inst(in->out, ref)->imm = k;
    return ref;
}

/* -- loops ------------------------------------------------------------------------------------------- */

void emit_loop_begin(Infer *in, Ref n, EmitLoop *loop) {
    const Type *i64 = type_scalar(in->types, TY_i64);
    Ref zero = emit_int(in, i64, 0);
    loop->header = emit_block(in);
    loop->exit = emit_block(in);
    int32_t body = emit_block(in);
    emit_jump(in, loop->header);
    in->block = loop->header;
    loop->counter = emit(in, OP_phi, i64, NULL, 0);
    ir_add_arg(in->out, loop->counter, zero);
    emitted_nonnegative(in, loop->counter);
    Ref more = emit2(in, OP_lt, type_scalar(in->types, TY_bool), loop->counter, n);
    emit_branch(in, more, body, loop->exit);
    in->block = body;
}

void emit_loop_end(Infer *in, EmitLoop *loop) {
    const Type *i64 = type_scalar(in->types, TY_i64);
    Ref next = emit2(in, OP_add, i64, loop->counter, emit_int(in, i64, 1));
    ir_inst(in->out, next)->sub = FLAG_NOWRAP;
    emit(in, OP_poll, NULL, NULL, 0);
    emit_jump(in, loop->header);
    ir_add_arg(in->out, loop->counter, next);
    in->block = loop->exit;
}

/* -- conversions ---------------------------------------------------------------------------------------- */

/* Constants are converted here, where nothing is lost by it. */
static Ref convert_const(Infer *in, Ref ref, const Type *to) {
    const ConstVal *c = ir_inst(in->out, ref)->u.value;
    if (c->kind == CONST_FLOAT && type_class(to) == CLASS_CPX) return emit_float(in, to, c->re);
    if (c->kind == CONST_FLOAT && type_class(to) == CLASS_FLT)
        return emit_float(in, to, to->kind == TY_f32 ? (double)(float)c->re : c->re);
    if ((c->kind != CONST_INT && c->kind != CONST_BOOL) || c->is_unsigned) return NO_REF;
    int bits = type_is_number(to) ? type_bits(to) : 0;
    bool small = c->i >= -(INT64_C(1) << 24) && c->i <= INT64_C(1) << 24;
    switch (type_class(to)) {
    case CLASS_SINT:
        if (bits < 64 && (c->i < -(INT64_C(1) << (bits - 1)) || c->i >> (bits - 1) > 0))
            return NO_REF;
        return emit_int(in, to, c->i);
    case CLASS_UINT:
        if (bits < 64 && (c->i < 0 || c->i >> bits != 0)) return NO_REF;
        return emit_int(in, to, c->i);
    case CLASS_FLT:
    case CLASS_CPX: return small && to->kind != TY_f16 ? emit_float(in, to, (double)c->i) : NO_REF;
    default: return NO_REF;
    }
}

static Ref convert_number(Infer *in, Ref ref, const Type *from, const Type *to) {
    if (ir_inst(in->out, ref)->op == OP_const) {
        Ref done = convert_const(in, ref, to);
        if (done) return done;
    }
    if (to->kind != TY_bool) return emit1(in, OP_cast, to, ref);
    Ref zero = type_is_int(from) ? emit_int(in, from, 0) : emit_float(in, from, 0);
    return emit2(in, OP_ne, to, ref, zero);
}

static Ref convert_items(Infer *in, Ref ref, const Type *from, const Type *to) {
    Ref *refs = arena_array(in->arena, Ref, to->nitems);
    for (int32_t k = 0; k < to->nitems; k++)
        refs[k] = emit_convert(in, emit_item(in, ref, k), from->items[k], to->items[k]);
    return emit(in, OP_tuple, lower_type(in->ti, to), refs, to->nitems);
}

static Ref convert_optional(Infer *in, Ref ref, const Type *from, const Type *to) {
    const Type *boolean = type_scalar(in->types, TY_bool),
               *element = lower_type(in->ti, to->element);
    Ref refs[2];
    if (from->kind == TY_OPTIONAL) {
        refs[0] = emit_item(in, ref, 0);
        refs[1] = emit_convert(in, emit_item(in, ref, 1), from->element, to->element);
    } else if (from->kind == TY_none) {
        refs[0] = emit_int(in, boolean, 0);
        refs[1] = emit_undef(in, element);
    } else {
        refs[0] = emit_int(in, boolean, 1);
        refs[1] = emit_convert(in, ref, from, to->element);
    }
    return emit(in, OP_tuple, lower_type(in->ti, to), refs, 2);
}

/* The same memory with a type that promises less: a view of all axes. */
static Ref convert_array(Infer *in, Ref ref, const Type *to) {
    Str *letters = arena_new(in->arena, Str);
    char text[UINT8_MAX];
    memset(text, 'f', sizeof text);
    *letters = str_copy(in->arena, text, to->ndim);
    Ref view = emit1(in, OP_view, to, ref);
    ir_inst(in->out, view)->u.name = letters;
    return view;
}

Ref emit_convert(Infer *in, Ref ref, const Type *from, const Type *to) {
    const Type *target = lower_type(in->ti, to);
    if (to->kind == TY_OPTIONAL && from != to) return convert_optional(in, ref, from, to);
    if (ir_type(in->out, ref) == target) return ref;
    if (type_is_number(from) && type_is_number(to))
        return convert_number(in, ref, lower_type(in->ti, from), target);
    if (from->kind == TY_ARRAY && to->kind == TY_ARRAY) return convert_array(in, ref, to);
    if (from->kind == TY_RANGE && to->kind == TY_RANGE)
        return convert_items(in, ref, ir_type(in->out, ref), target);
    if (from->kind == TY_TUPLE && to->kind == TY_TUPLE) return convert_items(in, ref, from, to);
    return ref; /* the verifier says so if it is wrong */
}

bool can_convert(const Type *from, const Type *to) {
    if (from == to) return true;
    if (type_is_number(from) && type_is_number(to))
        return !type_is_complex(from) || type_is_complex(to);
    if (to->kind == TY_OPTIONAL)
        return from->kind == TY_none ||
               can_convert(from->kind == TY_OPTIONAL ? from->element : from, to->element);
    if (from->kind == TY_TUPLE && to->kind == TY_TUPLE) {
        if (from->nitems != to->nitems) return false;
        for (int32_t k = 0; k < to->nitems; k++)
            if (!can_convert(from->items[k], to->items[k])) return false;
        return true;
    }
    return from->kind == TY_ARRAY && to->kind == TY_ARRAY && ti_conversion(from, to) != CONV_NONE;
}

/* -- values ------------------------------------------------------------------------------------------- */

static Ref tuple_ref(Infer *in, const Val *v) {
    bool slice = v->f.type->kind == TY_SLICE;
    int32_t n = slice ? 3 : v->f.type->nitems;
    const Type *i64 = type_scalar(in->types, TY_i64);
    Ref *refs = arena_array(in->arena, Ref, n);
    for (int32_t k = 0; k < n; k++) {
        Val item = v_item(in, *v, k);
        if (slice)
            refs[k] = fact_none(&item.f) ? emit_int(in, i64, 0) : v_as(in, item, i64);
        else
            refs[k] = v_as(in, item, v->f.type->items[k]);
    }
    return emit(in, OP_tuple, lower_type(in->ti, v->f.type), refs, n);
}

Ref v_ref(Infer *in, Val v) {
    const Type *type = lower_type(in->ti, v.f.type);
    if (v.f.value && !v.f.unbound) {
        const ConstVal *c = v.f.value;
        if (c->kind == CONST_INT && !type_is_int(type)) return emit_float(in, type, (double)c->i);
        if (c->kind == CONST_FLOAT && type_is_complex(type)) return emit_float(in, type, c->re);
        return emit_const(in, type, c);
    }
    if (v.f.array) return emit_frozen(in, v.f.array);
    if (v.ref) return v.ref;
    if (type->kind == TY_none) return emit_none(in);
    if (type->kind == TY_TUPLE && (v.f.type->kind == TY_TUPLE || v.f.type->kind == TY_SLICE))
        return tuple_ref(in, &v);
    return emit_undef(in, type); /* unreachable use */
}

Ref v_as(Infer *in, Val v, const Type *to) {
    return emit_convert(in, v_ref(in, v), v.f.type, to);
}

/* -- the walk --------------------------------------------------------------------------------------------- */

static bool needs_phi(const Fact *f) {
    return f->type && !f->conflict && !fact_is_const(f) && f->type->kind != TY_none &&
           f->type->kind != TY_OBJECT;
}

/* A phi of a constant that may be unassigned needs no value: uses come after the guard. */
static void begin_phi(Infer *in, Ref ref) {
    Fact f = in->facts[ref];
    f.unbound = false;
    if (!needs_phi(&f)) return;
    in->typed[ref] = emit(in, OP_phi, lower_type(in->ti, f.type), NULL, 0);
    for (int32_t k = 0; k < ir_inst(in->f, ref)->nargs; k++)
        if (ir_inst(in->f, ir_arg(in->f, ref, k))->op == OP_counter_next)
            emitted_nonnegative(in, in->typed[ref]);
}

static void name_value(Infer *in, Ref source, Ref typed) {
    if (!typed || source >= in->f->var_names.len) return;
    Str name = in->f->var_names.items[source];
    Func *out = in->out;
    if (!name.len || ir_inst(out, typed)->op == OP_const) return;
    if (typed >= out->var_names.len) vec_resize(in->arena, &out->var_names, typed + 16);
    if (!out->var_names.items[typed].len) out->var_names.items[typed] = name;
}

static int32_t typed_span(Infer *in, Ref ref) {
    int32_t span = ir_inst(in->f, ref)->span;
    return span ? ir_span_add(in->out, in->f->spans.items[span]) : 0;
}

/* false: the block ends here. */
static bool specialize_inst(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_removed || inst->op == OP_phi) return true;
    Val out;
    in->stop = STOP_NONE;
    in->span = typed_span(in, ref);
    in->error = inst->error == NO_BLOCK ? NO_BLOCK : in->first[inst->error];
    bool ok = infer_visit(in, ref, &out);
    in->error = NO_BLOCK;
    if (!ok) return false;
    if (ir_op_info[inst->op].result == RES_VOID) return true;
    if (!in->typed[ref]) in->typed[ref] = out.ref;
    name_value(in, ref, out.ref);
    return true;
}

static void specialize_block(Infer *in, int32_t block) {
    const Block *b = &in->f->blocks.items[block];
    in->block = in->first[block];
    in->insert_at = -1;
    for (int32_t i = 0; i < b->insts.len; i++)
        if (ir_inst(in->f, b->insts.items[i])->op == OP_phi) {
            in->span = typed_span(in, b->insts.items[i]);
            begin_phi(in, b->insts.items[i]);
            name_value(in, b->insts.items[i], in->typed[b->insts.items[i]]);
        }
    for (int32_t i = 0; i < b->insts.len; i++) {
        if (specialize_inst(in, b->insts.items[i])) continue;
        emit(in, OP_unreachable, NULL, NULL, 0); /* after something that always raises */
        return;
    }
}

/* What a variable of a kernel holds that was not assigned. */
static Ref emit_zero(Infer *in, const Type *type) {
    const Type *lowered = lower_type(in->ti, type);
    if (type_is_int(lowered) || lowered->kind == TY_bool) return emit_int(in, lowered, 0);
    if (type_is_number(lowered)) return emit_float(in, lowered, 0);
    if (type->kind == TY_OPTIONAL)
        return emit_convert(in, emit_none(in), type_scalar(in->types, TY_none), type);
    if (type->kind != TY_TUPLE) return emit_undef(in, lowered);
    Ref *refs = arena_array(in->arena, Ref, type->nitems);
    for (int32_t k = 0; k < type->nitems; k++)
        refs[k] = emit_zero(in, type->items[k]);
    return emit(in, OP_tuple, lowered, refs, type->nitems);
}

/* Converts an operand at the end of its predecessor: before the terminator, and before an
 * instruction that raises into the block of the phi. */
static Ref phi_operand(Infer *in, int32_t pred, int32_t to, Ref arg, const Type *type) {
    Val v = infer_val(in, arg);
    if (!v.f.type && in->guards) return emit_undef(in, lower_type(in->ti, type));
    v.f.unbound = false;
    const Block *p = &in->out->blocks.items[pred];
    in->block = pred;
    in->insert_at = p->insts.len - 1;
    in->span = 0;
    if (p->insts.len > 1) {
        const Inst *before = ir_inst(in->out, p->insts.items[p->insts.len - 2]);
        if (before->error == to && to != NO_BLOCK) in->insert_at--;
    }
    Ref ref = v.f.type ? v_as(in, v, type) : emit_zero(in, type);
    in->insert_at = -1;
    return ref;
}

static void finish_phi(Infer *in, Ref ref) {
    const Inst *phi = ir_inst(in->f, ref);
    const Block *from = &in->f->blocks.items[phi->block];
    int32_t first = in->first[phi->block];
    for (int32_t p = 0; p < in->out->blocks.items[first].preds.len; p++) {
        int32_t pred = in->out->blocks.items[first].preds.items[p];
        int32_t source = in->origin.items[pred];
        for (int32_t k = 0; k < from->preds.len; k++) {
            if (from->preds.items[k] != source) continue;
            Ref arg = ir_arg(in->f, ref, k);
            Ref value = phi_operand(in, pred, first, arg, in->facts[ref].type);
            ir_add_arg(in->out, in->typed[ref], value);
            break;
        }
    }
}

static void finish_phis(Infer *in) {
    for (int32_t i = 0; i < in->cfg.nrpo; i++) {
        int32_t block = in->cfg.rpo[i];
        if (!in->reached[block]) continue;
        const Block *b = &in->f->blocks.items[block];
        for (int32_t k = 0; k < b->insts.len; k++) {
            Ref ref = b->insts.items[k];
            if (ir_inst(in->f, ref)->op == OP_phi && in->typed[ref]) finish_phi(in, ref);
        }
    }
}

/* The typed parameters, and from them the untyped ones. */
static void emit_params(Infer *in) {
    Instance *inst = in->inst;
    Ref *params = arena_array(in->arena, Ref, inst->ntyped);
    for (int32_t i = 0; i < inst->ntyped; i++) {
        params[i] = emit(in, OP_param, in->out->param_types[i], NULL, 0);
        ir_inst(in->out, params[i])->imm = i;
    }
    in->pool_at = inst->ntyped;
    const Block *entry = &in->f->blocks.items[0];
    for (int32_t i = 0; i < entry->insts.len; i++) {
        const Inst *p = ir_inst(in->f, entry->insts.items[i]);
        if (p->op != OP_param) continue;
        const Slot *slot = &inst->slots[p->imm];
        if (slot->count == 0) continue;
        in->typed[entry->insts.items[i]] = params[slot->first];
        name_value(in, entry->insts.items[i], params[slot->first]);
    }
}

static void begin_function(Infer *in) {
    in->emit = true;
    map_init(&in->constants, in->arena);
    in->out = in->inst->typed;
    in->block = -1;
    in->typed = arena_array(in->arena, Ref, in->f->insts.len);
    in->bound = arena_array(in->arena, Ref, in->f->insts.len);
    in->first = arena_array(in->arena, int32_t, in->f->blocks.len);
    int32_t prologue = in->f->blocks.items[0].preds.len ? emit_block(in) : -1;
    for (int32_t i = 0; i < in->cfg.nrpo; i++) {
        int32_t block = in->cfg.rpo[i];
        if (!in->reached[block]) continue;
        in->block = -1;
        in->first[block] = emit_block(in);
        in->origin.items[in->first[block]] = block;
    }
    in->block = 0;
    emit_params(in);
    if (prologue >= 0) emit_jump(in, in->first[0]);
}

/* Constants that were only steps to others. */
static void drop_unused(Infer *in) {
    Func *f = in->out;
    bool *used = arena_array(in->arena, bool, f->insts.len);
    for (Ref ref = 1; ref < f->insts.len; ref++)
        for (int32_t k = 0; k < ir_inst(f, ref)->nargs; k++)
            used[ir_arg(f, ref, k)] = true;
    for (int32_t i = 0; i < in->pool.len; i++)
        if (!used[in->pool.items[i]]) ir_remove(f, in->pool.items[i]);
}

bool specialize_instance(Ti *ti, Instance *inst) {
    Infer *in = inst->facts;
    begin_function(in);
    for (int32_t i = 0; i < in->cfg.nrpo && !ti->aborted; i++)
        if (in->reached[in->cfg.rpo[i]]) specialize_block(in, in->cfg.rpo[i]);
    if (ti->aborted || inst->diags.failed) return false;
    finish_phis(in);
    infer_finish_bound(in);
    cfg_remove_unreachable(in->out);
    drop_unused(in);
    return ir_verify_func(in->out, "specialize", &inst->diags);
}
