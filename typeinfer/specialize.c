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
    case TY_CLOSURE:
    case TY_TUPLE: {
        const Type **items = arena_array(ti->arena, const Type *, type->nitems);
        for (int32_t i = 0; i < type->nitems; i++)
            items[i] = lower_type(ti, type->items[i]);
        return type_tuple(types, items, type->nitems);
    }
    case TY_ARRAY: {
        Type key = *type;
        key.element = lower_type(ti, type->element);
        if (key.element == type->element) return type;
        return type_array_like(types, &key, type->ndim, (Layout)type->layout);
    }
    case TY_CLASS: {
        const Type **params = arena_array(ti->arena, const Type *, type->nparams);
        for (int32_t i = 0; i < type->nparams; i++)
            params[i] = lower_type(ti, type->params[i]);
        if (type->bits == CLS_exception) params[0] = type_scalar(types, TY_none);
        const Type *cls = type_class_like(types, type, params);
        return type_variant(types, cls, VARIANT_none, MAKER_none, NULL);
    }
    case TY_CELL: {
        const Type *element = lower_type(ti, type->element);
        if (element->kind == TY_none) element = type_scalar(types, TY_bool); /* nothing to hold */
        return type_class_of(types, CLS_cell, &element);
    }
    case TY_RANGE: {
        const Type *element = lower_type(ti, type->element);
        return type_tuple(types, (const Type *[]){element, element, i64}, 3);
    }
    case TY_SLICE: return type_tuple(types, (const Type *[]){i64, i64, i64}, 3);
    case TY_ITER:
        return type_is_generator(type) ? generator_frame(types) : lower_type(ti, type->element);
    case TY_OPTIONAL: {
        const Type *items[2] = {type_scalar(types, TY_bool), lower_type(ti, type->element)};
        return type_tuple(types, items, 2);
    }
    case TY_MEMBER:
    case TY_TIME:
    case TY_CAUGHT: return i64;
    case TY_CHOICE: return choice_lowered(ti, type);
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

int32_t emit_block(Emit *e) {
    int32_t block = ir_block_new(e->out);
    vec_resize(e->arena, &e->origin, block + 1);
    e->origin.items[block] = e->block >= 0 ? e->origin.items[e->block] : 0;
    return block;
}

void emit_jump(Emit *e, int32_t to) {
    Ref ref = ir_append(e->out, e->block, OP_jump, NULL, 0);
    ir_inst(e->out, ref)->target[0] = to;
    ir_inst(e->out, ref)->span = e->span;
    ir_edge_add(e->out, e->block, to);
}

void emit_branch(Emit *e, Ref condition, int32_t yes, int32_t no) {
    Ref ref = ir_append(e->out, e->block, OP_branch, &condition, 1);
    Inst *inst = ir_inst(e->out, ref);
    inst->target[0] = yes;
    inst->target[1] = no;
    inst->span = e->span;
    ir_edge_add(e->out, e->block, yes);
    ir_edge_add(e->out, e->block, no);
}

Ref emit(Emit *e, Op op, const Type *type, const Ref *args, int32_t n) {
    Ref ref = e->insert_at < 0 ? ir_append(e->out, e->block, op, args, n)
                               : ir_insert(e->out, e->block, e->insert_at++, op, args, n);
    Inst *inst = ir_inst(e->out, ref);
    inst->type = type ? lower_type(e->ti, type) : NULL;
    inst->span = e->span;
    if (e->error == NO_BLOCK || !(ir_op_info[op].flags & OPF_RAISES)) return ref;
    inst->error = e->error;
    ir_edge_add(e->out, e->block, e->error);
    if (ir_op_info[op].flags & OPF_TERM) return ref;
    int32_t next = emit_block(e);
    emit_jump(e, next);
    e->block = next;
    return ref;
}

Ref emit1(Emit *e, Op op, const Type *type, Ref a) {
    return emit(e, op, type, &a, 1);
}

Ref emit2(Emit *e, Op op, const Type *type, Ref a, Ref b) {
    return emit(e, op, type, (Ref[]){a, b}, 2);
}

Ref emit3(Emit *e, Op op, const Type *type, Ref a, Ref b, Ref c) {
    return emit(e, op, type, (Ref[]){a, b, c}, 3);
}

void emit_guard(Emit *e, Guard guard, Ref condition, const Ref *args, int32_t n) {
    emit_named_guard(e, guard, condition, args, n, NULL);
}

void emit_named_guard(Emit *e, Guard guard, Ref condition, const Ref *args, int32_t n,
                      const Str *name) {
    Ref refs[8] = {condition};
    if (!e->guards) return;
    const Inst *c = ir_inst(e->out, condition);
    if (c->op == OP_const && c->u.value->i == 0) return;
    for (int32_t k = 0; k < n; k++)
        refs[k + 1] = args[k];
    int32_t error = e->error;
    e->error = NO_BLOCK;
    Ref ref = emit(e, OP_guard, NULL, refs, n + 1);
    e->error = error;
    ir_inst(e->out, ref)->sub = (uint16_t)guard;
    ir_inst(e->out, ref)->u.name = name;
    if (error == NO_BLOCK) return;
    ir_inst(e->out, ref)->error = error;
    ir_edge_add(e->out, e->block, error);
    int32_t next = emit_block(e);
    emit_jump(e, next);
    e->block = next;
}

/* -- the pool: constants, undefined values, frozen arrays ----------------------------------------- */

static Ref pool_add(Emit *e, Op op, const Type *type) {
    Ref ref = ir_insert(e->out, 0, e->pool_at++, op, NULL, 0);
    if (e->block == 0 && e->insert_at >= 0) e->insert_at++;
    ir_inst(e->out, ref)->type = lower_type(e->ti, type);
    vec_push(e->arena, &e->pool, ref);
    return ref;
}

static bool same_const(const ConstVal *a, const ConstVal *b) {
    if (a->kind != b->kind || a->i != b->i || a->is_unsigned != b->is_unsigned) return false;
    if (a->kind == CONST_STR || a->kind == CONST_BYTES) return str_equal(a->str, b->str);
    return memcmp(&a->re, &b->re, sizeof a->re) == 0 && memcmp(&a->im, &b->im, sizeof a->im) == 0;
}

static uint64_t const_key(const Type *type, const ConstVal *value) {
    uint64_t re, im;
    memcpy(&re, &value->re, sizeof re);
    memcpy(&im, &value->im, sizeof im);
    uint64_t h = hash_mix((uint64_t)type->id << 8 | (uint64_t)value->kind);
    if (value->kind == CONST_STR || value->kind == CONST_BYTES)
        return h ^ hash_bytes(value->str.bytes, (size_t)value->str.len).lo;
    return hash_mix(hash_mix(hash_mix(h ^ (uint64_t)value->i) + re) + im);
}

static Ref emit_const(Emit *e, const Type *type, const ConstVal *value) {
    uint64_t key = const_key(type, value);
    for (const MapValue *found; (found = map_find(&e->constants, key)); key++) {
        const Inst *inst = ir_inst(e->out, (Ref)found->num);
        if (inst->type == type && same_const(inst->u.value, value)) return (Ref)found->num;
    }
    Ref ref = pool_add(e, OP_const, type);
    ir_inst(e->out, ref)->u.value = value;
    map_put(&e->constants, key)->num = ref;
    return ref;
}

static Ref emit_none(Emit *e) {
    return emit_const(e, type_scalar(e->types, TY_none), const_none(e->arena));
}

Ref emit_undef(Emit *e, const Type *type) {
    if (type->kind == TY_none) return emit_none(e);
    for (int32_t i = 0; i < e->pool.len; i++) {
        const Inst *inst = ir_inst(e->out, e->pool.items[i]);
        if (inst->op == OP_undef && inst->type == type) return e->pool.items[i];
    }
    return pool_add(e, OP_undef, type);
}

static bool is_copy(const FrozenArray *a, const FrozenArray *b) {
    return a == b || (!a->in_place && !b->in_place && a->nbytes == b->nbytes &&
                      !memcmp(a->bytes, b->bytes, (size_t)a->nbytes));
}

Ref emit_frozen(Emit *e, const FrozenArray *array) {
    const Type *type = lower_type(e->ti, array->type);
    for (int32_t i = 0; i < e->pool.len; i++) {
        const Inst *inst = ir_inst(e->out, e->pool.items[i]);
        if (inst->op != OP_frozen || inst->type != type) continue;
        if (is_copy(inst->u.frozen, array)) return e->pool.items[i];
        if (type != array->type && inst->u.frozen->bytes == array->bytes) return e->pool.items[i];
    }
    if (type != array->type) { /* of times */
        FrozenArray *lowered = arena_copy(e->arena, array, sizeof *array);
        lowered->type = type;
        array = lowered;
    }
    Ref ref = pool_add(e, OP_frozen, array->type);
    ir_inst(e->out, ref)->u.frozen = array;
    return ref;
}

Ref emit_static(Emit *e, Op op, const Type *type) {
    return pool_add(e, op, type);
}

Ref emit_int(Emit *e, const Type *type, int64_t value) {
    if (type->kind == TY_bool) return emit_const(e, type, const_bool(e->arena, value != 0));
    ConstVal *c = arena_new(e->arena, ConstVal);
    *c = (ConstVal){.kind = CONST_INT, .i = value};
    c->is_unsigned = type->kind == TY_u64 && value < 0;
    return emit_const(e, type, c);
}

Ref emit_float(Emit *e, const Type *type, double value) {
    if (!type_is_complex(type)) return emit_const(e, type, const_float(e->arena, value));
    ConstVal *c = arena_new(e->arena, ConstVal);
    *c = (ConstVal){.kind = CONST_COMPLEX, .re = value};
    return emit_const(e, type, c);
}

bool emitted_int(Emit *e, Ref ref, int64_t *value) {
    const Inst *inst = ir_inst(e->out, ref);
    if (inst->op != OP_const || inst->u.value->kind != CONST_INT || inst->u.value->is_unsigned)
        return false;
    return *value = inst->u.value->i, true;
}

bool emitted_nonzero(Emit *e, Ref ref) {
    const Inst *inst = ir_inst(e->out, ref);
    if (inst->op != OP_const) return false;
    const ConstVal *c = inst->u.value;
    return c->kind == CONST_INT ? c->i != 0 : c->kind == CONST_FLOAT && c->re != 0;
}

Ref emit_item(Emit *e, Ref tuple, int32_t k) {
    const Inst *inst = ir_inst(e->out, tuple);
    if (inst->op == OP_tuple) return ir_arg(e->out, tuple, k);
    Ref ref = emit1(e, OP_item, inst->type->items[k], tuple);
    ir_inst(e->out, ref)->imm = k;
    return ref;
}

/* -- loops ------------------------------------------------------------------------------------------- */

void emit_loop_begin(Emit *e, Ref n, EmitLoop *loop) {
    const Type *i64 = i64_type(e->types);
    Ref zero = emit_int(e, i64, 0);
    loop->header = emit_block(e);
    loop->exit = emit_block(e);
    int32_t body = emit_block(e);
    emit_jump(e, loop->header);
    e->block = loop->header;
    loop->counter = emit(e, OP_phi, i64, NULL, 0);
    ir_add_arg(e->out, loop->counter, zero);
    emitted_nonnegative(e, loop->counter);
    Ref more = emit2(e, OP_lt, bool_type(e->types), loop->counter, n);
    emit_branch(e, more, body, loop->exit);
    e->block = body;
}

void emit_loop_end(Emit *e, EmitLoop *loop) {
    const Type *i64 = i64_type(e->types);
    Ref next = emit2(e, OP_add, i64, loop->counter, emit_int(e, i64, 1));
    ir_inst(e->out, next)->sub = FLAG_NOWRAP;
    emit(e, OP_poll, NULL, NULL, 0);
    emit_jump(e, loop->header);
    ir_add_arg(e->out, loop->counter, next);
    e->block = loop->exit;
}

/* -- conversions ---------------------------------------------------------------------------------------- */

/* Constants are converted here, where nothing is lost by it. */
static Ref convert_const(Emit *e, Ref ref, const Type *to) {
    const ConstVal *c = ir_inst(e->out, ref)->u.value;
    if (c->kind == CONST_FLOAT && type_class(to) == CLASS_CPX) return emit_float(e, to, c->re);
    if (c->kind == CONST_FLOAT && type_class(to) == CLASS_FLT)
        return emit_float(e, to, to->kind == TY_f32 ? (double)(float)c->re : c->re);
    if ((c->kind != CONST_INT && c->kind != CONST_BOOL) || c->is_unsigned) return NO_REF;
    int bits = type_is_number(to) ? type_bits(to) : 0;
    bool small = c->i >= -(INT64_C(1) << 24) && c->i <= INT64_C(1) << 24;
    switch (type_class(to)) {
    case CLASS_SINT:
        if (bits < 64 && (c->i < -(INT64_C(1) << (bits - 1)) || c->i >> (bits - 1) > 0))
            return NO_REF;
        return emit_int(e, to, c->i);
    case CLASS_UINT:
        if (bits < 64 && (c->i < 0 || c->i >> bits != 0)) return NO_REF;
        return emit_int(e, to, c->i);
    case CLASS_FLT:
    case CLASS_CPX: return small && type_bits(to) > 16 ? emit_float(e, to, (double)c->i) : NO_REF;
    default: return NO_REF;
    }
}

static Ref convert_number(Emit *e, Ref ref, const Type *from, const Type *to) {
    if (ir_inst(e->out, ref)->op == OP_const) {
        Ref done = convert_const(e, ref, to);
        if (done) return done;
    }
    if (to->kind != TY_bool) return emit1(e, OP_cast, to, ref);
    Ref zero = type_is_int(from) ? emit_int(e, from, 0) : emit_float(e, from, 0);
    return emit2(e, OP_ne, to, ref, zero);
}

static Ref convert_items(Emit *e, Ref ref, const Type *from, const Type *to) {
    Ref *refs = arena_array(e->arena, Ref, to->nitems);
    for (int32_t k = 0; k < to->nitems; k++)
        refs[k] = emit_convert(e, emit_item(e, ref, k), from->items[k], to->items[k]);
    return emit(e, OP_tuple, lower_type(e->ti, to), refs, to->nitems);
}

static Ref convert_optional(Emit *e, Ref ref, const Type *from, const Type *to) {
    const Type *boolean = bool_type(e->types), *element = lower_type(e->ti, to->element);
    Ref refs[2];
    if (from->kind == TY_OPTIONAL) {
        refs[0] = emit_item(e, ref, 0);
        refs[1] = emit_convert(e, emit_item(e, ref, 1), from->element, to->element);
    } else if (from->kind == TY_none) {
        refs[0] = emit_int(e, boolean, 0);
        refs[1] = emit_undef(e, element);
    } else {
        refs[0] = emit_int(e, boolean, 1);
        refs[1] = emit_convert(e, ref, from, to->element);
    }
    return emit(e, OP_tuple, lower_type(e->ti, to), refs, 2);
}

/* The same memory with a type that promises less: a view of all axes. */
static Ref convert_array(Emit *e, Ref ref, const Type *to) {
    Str *letters = arena_new(e->arena, Str);
    char text[UINT8_MAX];
    memset(text, 'f', sizeof text);
    *letters = str_copy(e->arena, text, to->ndim);
    Ref view = emit1(e, OP_view, to, ref);
    ir_inst(e->out, view)->u.name = letters;
    return view;
}

Ref emit_convert(Emit *e, Ref ref, const Type *from, const Type *to) {
    const Type *target = lower_type(e->ti, to);
    if (from->kind == TY_OBJECT && to->kind == TY_CLASS && type_is_text(from))
        return emit_const(e, target, from->binding->value);
    if (from->kind == TY_OBJECT && type_is_exception(to))
        return emit_raised_class(e, from->binding, to);
    if (to->kind == TY_CHOICE && from != to) return emit_choice(e, ref, from, to);
    if (to->kind == TY_OPTIONAL && from != to) return convert_optional(e, ref, from, to);
    if (ir_type(e->out, ref) == target) return ref;
    if (from->kind == TY_MEMBER) from = i64_type(e->types);
    if (type_is_number(from) && type_is_number(to))
        return convert_number(e, ref, lower_type(e->ti, from), target);
    if (from->kind == TY_ARRAY && to->kind == TY_ARRAY) return convert_array(e, ref, to);
    if (from->kind == TY_RANGE && to->kind == TY_RANGE)
        return convert_items(e, ref, ir_type(e->out, ref), target);
    if (from->kind == to->kind && (to->kind == TY_TUPLE || to->kind == TY_CLOSURE))
        return convert_items(e, ref, from, to);
    return ref; /* the verifier says so if it is wrong */
}

/* Objects are not converted: are they the same at run time? */
static bool same_stored(const Type *a, const Type *b) {
    if (a->kind < TY_SCALARS && b->kind < TY_SCALARS)
        return type_strong_kind(a->kind) == type_strong_kind(b->kind);
    if (a == b || a->kind != b->kind) return a == b;
    if (a->kind == TY_OPTIONAL) return same_stored(a->element, b->element);
    bool cls = a->kind == TY_CLASS;
    if (cls && a->bits == b->bits && a->bits == CLS_exception) return true;
    bool tuple = a->kind == TY_TUPLE || (a->kind == TY_CLOSURE && a->binding == b->binding);
    if (cls && (a->variant != b->variant || a->maker != b->maker || a->function != b->function))
        return false;
    if (cls ? a->bits != b->bits || a->shared != b->shared || type_is_instance(a)
            : !tuple || a->nitems != b->nitems)
        return false;
    for (int32_t k = 0; k < (cls ? a->nparams : a->nitems); k++)
        if (!same_stored(cls ? a->params[k] : a->items[k], cls ? b->params[k] : b->items[k]))
            return false;
    return true;
}

bool can_convert(const Type *from, const Type *to) {
    if (from == to) return true;
    if (to->kind == TY_CHOICE) return choice_holds(to, from);
    if (to->kind == TY_CLASS && to->bits == CLS_str) return type_is_text(from);
    if (from->kind == TY_CLASS && to->kind == TY_CLASS) return same_stored(from, to);
    if (from->kind == TY_MEMBER && type_is_number(to)) return from->binding->enumeration->ints;
    if (type_is_number(from) && type_is_number(to))
        return !type_is_complex(from) || type_is_complex(to);
    if (to->kind == TY_OPTIONAL)
        return from->kind == TY_none ||
               can_convert(from->kind == TY_OPTIONAL ? from->element : from, to->element);
    bool functions = from->kind == TY_CLOSURE && to->kind == TY_CLOSURE;
    if (functions && (from->binding != to->binding || from->bits > to->bits)) return false;
    if (functions || (from->kind == TY_TUPLE && to->kind == TY_TUPLE)) {
        if (from->nitems != to->nitems) return false;
        for (int32_t k = 0; k < to->nitems; k++)
            if (!can_convert(from->items[k], to->items[k])) return false;
        return true;
    }
    return from->kind == TY_ARRAY && to->kind == TY_ARRAY && ti_conversion(from, to) != CONV_NONE;
}

/* -- values ------------------------------------------------------------------------------------------- */

static Ref tuple_ref(Infer *in, const Val *v) {
    Emit *e = in->emit;
    bool slice = v->f.type->kind == TY_SLICE;
    int32_t n = slice ? 3 : v->f.type->nitems;
    const Type *i64 = i64_type(in->types);
    Ref *refs = arena_array(in->arena, Ref, n);
    for (int32_t k = 0; k < n; k++) {
        Val item = v_item(in, *v, k);
        if (slice)
            refs[k] = fact_none(&item.f) ? emit_int(e, i64, 0) : v_as(in, item, i64);
        else
            refs[k] = v_as(in, item, v->f.type->items[k]);
    }
    return emit(e, OP_tuple, lower_type(in->ti, v->f.type), refs, n);
}

Ref v_ref(Infer *in, Val v) {
    Emit *e = in->emit;
    const Type *type = lower_type(in->ti, v.f.type);
    if (v.f.value && !v.f.unbound) {
        const ConstVal *c = v.f.value;
        if (c->kind == CONST_INT && !type_is_int(type)) return emit_float(e, type, (double)c->i);
        if (c->kind == CONST_FLOAT && type_is_complex(type)) return emit_float(e, type, c->re);
        return emit_const(e, type, c);
    }
    if (v.f.array) return emit_frozen(e, v.f.array);
    if (v.ref) return v.ref;
    if (type->kind == TY_none) return emit_none(e);
    TypeKind kind = v.f.type->kind;
    if (type->kind == TY_TUPLE && (kind == TY_TUPLE || kind == TY_SLICE || kind == TY_CLOSURE))
        return tuple_ref(in, &v);
    return emit_undef(e, type); /* unreachable use */
}

Ref v_as(Infer *in, Val v, const Type *to) {
    return emit_convert(in->emit, v_ref(in, v), v.f.type, to);
}

/* -- the walk --------------------------------------------------------------------------------------------- */

static bool needs_phi(const Fact *f) {
    return f->type && !f->conflict && !fact_is_const(f) && f->type->kind != TY_none &&
           f->type->kind != TY_OBJECT;
}

/* A phi of a constant that may be unassigned needs no value: uses come after the guard. */
static void begin_phi(Infer *in, Ref ref) {
    Emit *e = in->emit;
    Fact f = in->facts[ref];
    f.unbound = false;
    if (!needs_phi(&f)) return;
    e->typed[ref] = emit(e, OP_phi, lower_type(in->ti, f.type), NULL, 0);
    for (int32_t k = 0; k < ir_inst(in->f, ref)->nargs; k++)
        if (ir_inst(in->f, ir_arg(in->f, ref, k))->op == OP_counter_next)
            emitted_nonnegative(e, e->typed[ref]);
}

static void name_value(Infer *in, Ref source, Ref typed) {
    if (!typed || source >= in->f->var_names.len) return;
    Str name = in->f->var_names.items[source];
    Func *out = in->emit->out;
    if (!name.len || ir_inst(out, typed)->op == OP_const) return;
    if (typed >= out->var_names.len) vec_resize(in->arena, &out->var_names, typed + 16);
    if (!out->var_names.items[typed].len) out->var_names.items[typed] = name;
}

static int32_t typed_span(Infer *in, Ref ref) {
    int32_t span = ir_inst(in->f, ref)->span;
    return span ? ir_span_add(in->emit->out, in->f->spans.items[span]) : 0;
}

/* An error that inference has not seen must not become code that is never reached. */
static void tell_late(Infer *in, Ref ref) {
    Val out = {0};
    in->report = true;
    if (!infer_visit(in, ref, &out) && !in->inst->diags.failed) ti_fail(in, ref, E0211, "");
    in->report = false;
}

/* false: the block ends here. */
static bool specialize_inst(Infer *in, Ref ref) {
    Emit *e = in->emit;
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op == OP_removed || inst->op == OP_phi) return true;
    Val out = {0};
    in->stop = STOP_NONE;
    e->span = typed_span(in, ref);
    e->error = inst->error == NO_BLOCK ? NO_BLOCK : e->first[inst->error];
    bool stops = stop_may_leave(in, ref);
    if (stops) e->error = emit_block(e);
    int32_t handler = e->error;
    bool ok = infer_visit(in, ref, &out);
    if (!ok && in->stop == STOP_ERROR) tell_late(in, ref);
    e->error = NO_BLOCK;
    if (stops) emit_stop_leaves(in, handler);
    if (!ok) return false;
    if (ir_op_info[inst->op].result == RES_VOID) return true;
    e->typed[ref] = out.ref;
    name_value(in, ref, out.ref);
    return true;
}

static void specialize_block(Infer *in, int32_t block) {
    Emit *e = in->emit;
    const Block *b = &in->f->blocks.items[block];
    e->block = e->first[block];
    e->insert_at = -1;
    for (int32_t i = 0; i < b->insts.len; i++)
        if (ir_inst(in->f, b->insts.items[i])->op == OP_phi) {
            e->span = typed_span(in, b->insts.items[i]);
            begin_phi(in, b->insts.items[i]);
            name_value(in, b->insts.items[i], e->typed[b->insts.items[i]]);
        }
    for (int32_t i = 0; i < b->insts.len; i++) {
        if (specialize_inst(in, b->insts.items[i])) continue;
        emit(e, OP_unreachable, NULL, NULL, 0); /* after something that always raises */
        return;
    }
}

Ref emit_zero(Emit *e, const Type *type) {
    const Type *lowered = lower_type(e->ti, type);
    if (type_is_int(lowered) || lowered->kind == TY_bool) return emit_int(e, lowered, 0);
    if (type_is_number(lowered)) return emit_float(e, lowered, 0);
    if (type->kind == TY_OPTIONAL)
        return emit_convert(e, emit_none(e), type_scalar(e->types, TY_none), type);
    if (type->kind != TY_TUPLE) return emit_undef(e, lowered);
    Ref *refs = arena_array(e->arena, Ref, type->nitems);
    for (int32_t k = 0; k < type->nitems; k++)
        refs[k] = emit_zero(e, type->items[k]);
    return emit(e, OP_tuple, lowered, refs, type->nitems);
}

Ref emit_nothing(Emit *e, const Type *type) {
    return type_is_number(type) ? emit_zero(e, type) : emit_undef(e, type);
}

/* Converts an operand at the end of its predecessor: before the terminator, and before an
 * instruction that raises into the block of the phi. */
static Ref phi_operand(Infer *in, int32_t pred, int32_t to, Ref arg, const Type *type) {
    Emit *e = in->emit;
    Val v = infer_val(in, arg);
    if (!v.f.type && in->guards) return emit_undef(e, lower_type(in->ti, type));
    v.f.unbound = false;
    const Block *p = &e->out->blocks.items[pred];
    e->block = pred;
    e->insert_at = p->insts.len - 1;
    e->span = 0;
    if (p->insts.len > 1) {
        const Inst *before = ir_inst(e->out, p->insts.items[p->insts.len - 2]);
        if (before->error == to && to != NO_BLOCK) e->insert_at--;
    }
    Ref ref = v.f.type ? v_as(in, v, type) : emit_zero(e, type);
    e->insert_at = -1;
    return ref;
}

static void finish_phi(Infer *in, Ref ref) {
    Emit *e = in->emit;
    const Inst *phi = ir_inst(in->f, ref);
    const Block *from = &in->f->blocks.items[phi->block];
    int32_t first = e->first[phi->block];
    for (int32_t p = 0; p < e->out->blocks.items[first].preds.len; p++) {
        int32_t pred = e->out->blocks.items[first].preds.items[p];
        int32_t source = e->origin.items[pred];
        for (int32_t k = 0; k < from->preds.len; k++) {
            if (from->preds.items[k] != source) continue;
            Ref arg = ir_arg(in->f, ref, k);
            Ref value = phi_operand(in, pred, first, arg, in->facts[ref].type);
            ir_add_arg(e->out, e->typed[ref], value);
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
            if (ir_inst(in->f, ref)->op == OP_phi && in->emit->typed[ref]) finish_phi(in, ref);
        }
    }
}

/* The typed parameters, and from them the untyped ones. */
static void emit_params(Infer *in) {
    Emit *e = in->emit;
    Instance *inst = in->inst;
    Ref *params = arena_array(in->arena, Ref, inst->ntyped);
    for (int32_t i = 0; i < inst->ntyped; i++) {
        const Func *given = inst->maker ? inst->maker : e->out;
        params[i] = emit(e, OP_param, given->param_types[i], NULL, 0);
        ir_inst(e->out, params[i])->imm = i;
    }
    e->params = params;
    e->pool_at = inst->ntyped;
    const Block *entry = &in->f->blocks.items[0];
    for (int32_t i = 0; i < entry->insts.len; i++) {
        const Inst *p = ir_inst(in->f, entry->insts.items[i]);
        if (p->op != OP_param) continue;
        const Slot *slot = &inst->slots[p->imm];
        if (slot->count == 0) continue;
        e->typed[entry->insts.items[i]] = params[slot->first];
        name_value(in, entry->insts.items[i], params[slot->first]);
    }
}

static Emit *emit_new(const Infer *in) {
    Emit *e = arena_new(in->arena, Emit);
    *e = (Emit){.ti = in->ti, .arena = in->arena, .types = in->types, .guards = in->guards};
    e->allocates = !in->kernel && target_is_host(in->ti->options.target);
    e->out = in->inst->typed;
    e->block = e->insert_at = -1;
    e->error = NO_BLOCK;
    map_init(&e->constants, in->arena);
    return e;
}

static void begin_function(Infer *in) {
    Emit *e = in->emit = emit_new(in);
    e->typed = arena_array(in->arena, Ref, in->f->insts.len);
    e->bound = arena_array(in->arena, Ref, in->f->insts.len);
    e->first = arena_array(in->arena, int32_t, in->f->blocks.len);
    int32_t prologue = in->f->blocks.items[0].preds.len ? emit_block(e) : -1;
    for (int32_t i = 0; i < in->cfg.nrpo; i++) {
        int32_t block = in->cfg.rpo[i];
        if (!in->reached[block]) continue;
        e->block = -1;
        e->first[block] = emit_block(e);
        e->origin.items[e->first[block]] = block;
    }
    e->block = 0;
    emit_params(in);
    if (prologue >= 0) emit_jump(e, e->first[0]);
}

/* Constants that were only steps to others. */
static void drop_unused(Emit *e) {
    Func *f = e->out;
    bool *used = arena_array(e->arena, bool, f->insts.len);
    for (Ref ref = 1; ref < f->insts.len; ref++)
        for (int32_t k = 0; k < ir_inst(f, ref)->nargs; k++)
            used[ir_arg(f, ref, k)] = true;
    for (int32_t i = 0; i < e->pool.len; i++)
        if (!used[e->pool.items[i]]) ir_remove(f, e->pool.items[i]);
}

bool specialize_instance(Ti *ti, Instance *inst) {
    Infer *in = inst->facts;
    if (inst->begun) return !inst->diags.failed;
    inst->begun = true;
    begin_function(in);
    for (int32_t i = 0; i < in->cfg.nrpo && !ti->aborted; i++)
        if (in->reached[in->cfg.rpo[i]]) specialize_block(in, in->cfg.rpo[i]);
    if (ti->aborted || inst->diags.failed) return false;
    finish_phis(in);
    infer_finish_bound(in);
    cfg_remove_unreachable(in->emit->out);
    if (inst->maker) specialize_generator(in->emit, inst, lower_type(ti, inst->yielded.type));
    drop_unused(in->emit);
    inst->specialized = true;
    return ir_verify_func(in->emit->out, "specialize", &inst->diags);
}
