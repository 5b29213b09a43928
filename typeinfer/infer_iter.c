/* infer_iter.c - tuples, ranges and iteration.
 *
 * Here an iteration is by counter: length and item are functions of an immutable description. infer_next.c has those
 * that remember where they are. In typed code a range is the tuple (start, stop, step), enumerate is (what, first), zip the tuple of what it
 * zips, and reversed is what it reverses. Where the parts were made in the same function, `emit_item`
 * looks through the tuple, so a range over n leaves nothing but a comparison with n. */
#include "typeinfer/infer.h"

/* Items of a tuple that is indexed at run time: of so few one is selected, more go to memory. */
enum { FEW_ITEMS = 16 };

/* -- tuples --------------------------------------------------------------------------------------- */

Val v_tuple(Infer *in, const Val *items, int32_t n) {
    const Type **types = arena_array(in->arena, const Type *, n);
    Fact *facts = arena_array(in->arena, Fact, n);
    Ref *refs = arena_array(in->arena, Ref, n);
    for (int32_t i = 0; i < n; i++) {
        types[i] = items[i].f.type;
        facts[i] = items[i].f;
        facts[i].unbound = false;
    }
    Val out = val_of(fact_of(type_tuple(in->types, types, n)));
    out.f.items = facts;
    if (!in->emit || fact_is_const(&out.f)) return out;
    for (int32_t i = 0; i < n; i++)
        refs[i] = v_as(in, items[i], types[i]);
    out.ref = emit(in->emit, OP_tuple, lower_type(in->ti, out.f.type), refs, n);
    return out;
}

static Fact item_fact(Infer *in, const Fact *f, int32_t k) {
    if (f->items && f->type->kind != TY_ITER) return f->items[k];
    switch (f->type->kind) {
    case TY_CLOSURE:
    case TY_TUPLE: return fact_of(f->type->items[k]);
    case TY_SLICE:
        return fact_of(f->type->bits >> k & 1 ? ti_wint(in) : type_scalar(in->types, TY_none));
    case TY_RANGE: return fact_of(k == 2 ? i64_type(in->types) : f->type->element);
    default: return fact_of(f->type->element);
    }
}

Val v_item(Infer *in, Val whole, int32_t k) {
    Val item = {.f = item_fact(in, &whole.f, k)};
    if (in->emit && !fact_is_const(&item.f)) item.ref = emit_item(in->emit, v_ref(in, whole), k);
    return item;
}

/* All items as one type, or NULL. */
static const Type *common_type(Infer *in, const Type *tuple) {
    const Type *type = tuple->nitems ? tuple->items[0] : NULL;
    for (int32_t i = 1; i < tuple->nitems && type; i++) {
        Fact a = fact_of(type), b = fact_of(tuple->items[i]), both;
        type = fact_join(in, &a, &b, &both) ? both.type : NULL;
    }
    if (type && ti_has_objects(in)) type = ti_stored(in->types, type);
    return type && type->kind != TY_OBJECT ? type : NULL;
}

/* The same function, class or module again and again: whichever it is, it is known. */
static bool is_one_object(const Type *tuple) {
    for (int32_t i = 1; i < tuple->nitems; i++)
        if (tuple->items[i] != tuple->items[0]) return false;
    return tuple->nitems && tuple->items[0]->kind == TY_OBJECT;
}

bool tuple_is_mixed(Infer *in, const Type *type) {
    return type->kind == TY_TUPLE && !type_is_value(type) && type->nitems &&
           !common_type(in, type) && !is_one_object(type);
}

/* A number that is known, as one of that kind lies in memory. */
static bool put_number(const ConstVal *value, TypeKind kind, char *to) {
    bool is_int = value->kind == CONST_INT || value->kind == CONST_BOOL;
    double real = !is_int              ? value->re
                  : value->is_unsigned ? (double)(uint64_t)value->i
                                       : (double)value->i;
    double parts[2] = {real, is_int ? 0 : value->im};
    float narrow = (float)real;
    switch (kind) {
    case TY_bool:
    case TY_i8:
    case TY_u8: memcpy(to, &value->i, 1); return is_int;
    case TY_i16:
    case TY_u16: memcpy(to, &value->i, 2); return is_int;
    case TY_i32:
    case TY_u32: memcpy(to, &value->i, 4); return is_int;
    case TY_i64:
    case TY_u64: memcpy(to, &value->i, 8); return is_int;
    case TY_f32: memcpy(to, &narrow, sizeof narrow); return true;
    case TY_f64: memcpy(to, parts, sizeof real); return true;
    case TY_c128: memcpy(to, parts, sizeof parts); return true;
    default: return false;
    }
}

/* Items that are known altogether stand in the code. NULL: they are not numbers that it could have. */
static const FrozenArray *freeze_items(Infer *in, Val tuple, const Type *type) {
    int64_t n = tuple.f.type->nitems, size = type_is_number(type) ? type_size(type) : 0;
    if (!fact_is_const(&tuple.f) || !size) return NULL;
    char *bytes = arena_alloc(in->emit->arena, (size_t)(n * size));
    for (int32_t k = 0; k < n; k++) {
        Fact item = item_fact(in, &tuple.f, k);
        if (!item.value || !put_number(item.value, type->kind, bytes + k * size)) return NULL;
    }
    int64_t *shape = arena_copy(in->emit->arena, &n, sizeof n);
    const Type *array = type_array(in->types, type, 1, LAYOUT_C);
    FrozenArray frozen = {.type = type_array_readonly(in->types, array, true),
                          .shape = shape,
                          .bytes = bytes,
                          .nbytes = n * size,
                          .name = STR("tuple")};
    return arena_copy(in->emit->arena, &frozen, sizeof frozen);
}

/* Item at a run-time index that is in range, of many. */
static Ref emit_stored_item(Infer *in, Val tuple, const Type *type, Ref index) {
    Emit *e = in->emit;
    int32_t n = tuple.f.type->nitems;
    const Type *lowered = lower_type(in->ti, type);
    const FrozenArray *frozen = freeze_items(in, tuple, lowered);
    if (frozen) return emit2(e, OP_load, lowered, emit_frozen(e, frozen), index);
    Ref whole = v_ref(in, tuple), *items = arena_array(in->arena, Ref, n);
    bool same = true;
    for (int32_t k = 0; k < n && same; k++)
        same = ir_type(e->out, whole)->items[k] == lowered;
    if (same) return emit2(e, OP_item_at, lowered, whole, index);
    const Type **types = arena_array(in->arena, const Type *, n);
    for (int32_t k = 0; k < n; k++) {
        items[k] = v_as(in, v_item(in, tuple, k), type);
        types[k] = lowered;
    }
    whole = emit(e, OP_tuple, type_tuple(in->types, types, n), items, n);
    return emit2(e, OP_item_at, lowered, whole, index);
}

/* Item at a run-time index that is in range: a chain of selections. */
static Ref emit_select_item(Infer *in, Val tuple, const Type *type, Ref index) {
    Emit *e = in->emit;
    int32_t n = tuple.f.type->nitems;
    Ref result = v_as(in, v_item(in, tuple, n - 1), type);
    const Type *lowered = lower_type(in->ti, type), *boolean = bool_type(in->types);
    for (int32_t i = n - 1; i-- > 0;) {
        Ref here = emit2(e, OP_eq, boolean, index, emit_int(e, i64_type(in->types), i));
        result = emit3(e, OP_select, lowered, here, v_as(in, v_item(in, tuple, i), type), result);
    }
    return result;
}

static bool tuple_at(Infer *in, Val tuple, Val index, Val *out) {
    int64_t known;
    int32_t n = tuple.f.type->nitems;
    if (fact_int_value(&index.f, &known) && known >= 0 && known < n)
        return *out = v_item(in, tuple, (int32_t)known), true;
    if (is_one_object(tuple.f.type)) return *out = v_item(in, tuple, 0), true;
    const Type *type = common_type(in, tuple.f.type);
    if (!type) {
        ti_fail(in, in->at, E0301, ti_text(in, tuple.f.type), "an index that is not a constant");
        if (in->report) diag_note(in->diags, NULL, "its items have no common type");
        return false;
    }
    *out = val_of(fact_of(type));
    if (!in->emit) return true;
    Ref at = v_as(in, index, i64_type(in->types));
    out->ref = n > FEW_ITEMS ? emit_stored_item(in, tuple, type, at)
                             : emit_select_item(in, tuple, type, at);
    return true;
}

static bool tuple_slice(Infer *in, Val tuple, Val index, Val *out) {
    int32_t n = tuple.f.type->nitems;
    int64_t part[3] = {0, 0, 1};
    if (!fact_is_const(&index.f))
        return ti_fail(in, in->at, E0209, "the bounds of a slice of a tuple"),
               ti_advise(in, "the type of the result depends on it: use an array"), false;
    for (int k = 0; k < 3; k++)
        fact_int_value(&index.f.items[k], &part[k]);
    if (part[2] == 0) return ti_fail(in, in->at, E0403, "slice step cannot be zero");
    uint32_t bits = index.f.type->bits;
    bool up = part[2] > 0;
    int64_t low = up ? 0 : -1, high = up ? n : n - 1, bound[2];
    for (int k = 0; k < 2; k++) {
        int64_t at = part[k] < 0 ? part[k] + n : part[k];
        bound[k] = QN_MIN(QN_MAX(at, low), high);
        if (!(bits >> k & 1)) bound[k] = (k == 0) == up ? low : high;
    }
    Val *items = arena_array(in->arena, Val, n);
    int32_t count = 0;
    for (int64_t i = bound[0]; up ? i < bound[1] : i > bound[1]; i += part[2]) {
        items[count++] = v_item(in, tuple, (int32_t)i);
        if (part[2] > n || part[2] < -n) break;
    }
    return *out = v_tuple(in, items, count), true;
}

/* A display of a list, which stays a tuple, raises as a list does. */
static Guard outside_of(Infer *in, Val tuple) {
    return is_list_display(in, tuple) ? GUARD_list_index : GUARD_tuple_index;
}

bool v_tuple_get(Infer *in, Val tuple, Val index, Val *out) {
    Emit *e = in->emit;
    const Type *t = tuple.f.type;
    int64_t known;
    if (is_kind(&index, TY_SLICE)) return tuple_slice(in, tuple, index, out);
    if (!type_is_int(index.f.type) && index.f.type->kind != TY_bool)
        return v_refuse(in, REFUSE_INDEX, NULL, (Val[]){tuple, index}, 2);
    bool outside = fact_int_value(&index.f, &known) && (known < -t->nitems || known >= t->nitems);
    bool raises =
        outside ? outside_of(in, tuple) == GUARD_list_index : t->nitems == 0 && !index.f.value;
    if (raises && in->guards) { /* whatever the index is; or as a list does */
        if (e) emit_guard(e, outside_of(in, tuple), emit_int(e, bool_type(in->types), 1), NULL, 0);
        return in->stop = STOP_UNBOUND, false;
    }
    if (fact_int_value(&index.f, &known)) {
        if (outside) return ti_fail(in, in->at, E0304, (int)known, ti_text(in, t));
        return *out = v_item(in, tuple, (int32_t)(known < 0 ? known + t->nitems : known)), true;
    }
    if (e) {
        const Type *boolean = bool_type(in->types);
        Ref n = emit_int(e, i64_type(in->types), t->nitems);
        Ref i = v_as(in, index, i64_type(in->types));
        if (type_class(index.f.type) != CLASS_UINT)
            i = emit2(e, OP_wrap_index, i64_type(in->types), i, n);
        Ref low = emit2(e, OP_lt, boolean, i, emit_int(e, i64_type(in->types), 0));
        Ref high = emit2(e, OP_le, boolean, n, i);
        Ref outside_it = emit2(e, OP_or, boolean, low, high);
        if (in->bounds)
            emit_guard(e, outside_of(in, tuple), outside_it, NULL, 0);
        else if (t->nitems >
                 FEW_ITEMS) /* they lie in memory: the last, as where they are selected */
            i = emit3(e, OP_select, i64_type(in->types), outside_it,
                      emit_int(e, i64_type(in->types), t->nitems - 1), i);
        index = (Val){.f = fact_of(i64_type(in->types)), .ref = i};
    }
    index.f.value = NULL;
    return tuple_at(in, tuple, index, out);
}

/* -- slices --------------------------------------------------------------------------------------- */

bool v_slice(Infer *in, const Val given[3], Val *out) {
    Emit *e = in->emit;
    Val parts[3] = {0};
    uint32_t bits = 0;
    Fact *items = arena_array(in->arena, Fact, 3);
    for (int32_t k = 0; k < 3; k++) {
        parts[k] = v_scalar(in, given[k]);
        bool none = fact_none(&parts[k].f);
        if (!none && !type_is_int(parts[k].f.type) && parts[k].f.type->kind != TY_bool)
            return v_refuse(in, REFUSE_BOUND, "a bound of a slice", &parts[k], 1);
        if (!none) bits |= 1u << k;
        items[k] = parts[k].f;
    }
    *out = val_of((Fact){.type = type_slice(in->types, bits), .items = items});
    if (!e || fact_is_const(&out->f)) return true;
    const Type *i64 = i64_type(in->types);
    Ref refs[3];
    for (int k = 0; k < 3; k++)
        refs[k] = bits >> k & 1 ? v_as(in, parts[k], i64) : emit_int(e, i64, 0);
    out->ref = emit(e, OP_tuple, lower_type(in->ti, out->f.type), refs, 3);
    return true;
}

/* -- ranges --------------------------------------------------------------------------------------- */

/* Items are Python ints, whatever the ends are. Numba's are uint64 where all arguments are. */
static const Type *range_element(Infer *in, const Val *args, int32_t n) {
    if (!in->strong) return ti_wint(in);
    for (int32_t i = 0; i < n; i++)
        if (args[i].f.type->kind != TY_u64) return ti_wint(in);
    return type_scalar(in->types, TY_u64);
}

/* An end as int64; a uint64 above that raises. */
static Ref range_end(Infer *in, Val end, const Type *element) {
    Emit *e = in->emit;
    Ref v = v_as(in, end, element);
    if (end.f.type->kind != TY_u64 || element->kind == TY_u64) return v;
    const Type *boolean = bool_type(in->types);
    Ref zero = emit_int(e, i64_type(in->types), 0);
    emit_guard(e, GUARD_range_end, emit2(e, OP_lt, boolean, v, zero), NULL, 0);
    return v;
}

static Ref range_step(Infer *in, Val step) {
    Emit *e = in->emit;
    if (step.f.type->kind != TY_u64) return v_as(in, step, i64_type(in->types));
    /* a step above 2**63 leaves any range after its first item, as 2**63 - 1 does */
    const Type *u64 = step.f.type;
    Ref v = v_ref(in, step), limit = emit_int(e, u64, INT64_MAX);
    Ref small = emit2(e, OP_lt, bool_type(in->types), v, limit);
    v = emit3(e, OP_select, u64, small, v, limit);
    return emit_convert(e, v, u64, i64_type(in->types));
}

static void check_step(Emit *e, Ref step) {
    int64_t known;
    if (emitted_int(e, step, &known) && known != 0) return;
    Ref zero = emit2(e, OP_eq, bool_type(e->types), step, emit_int(e, i64_type(e->types), 0));
    emit_guard(e, GUARD_zero_step, zero, NULL, 0);
}

bool v_range(Infer *in, const Val *args, int32_t n, Val *out) {
    Emit *e = in->emit;
    Val part[3] = {0};
    if (n < 1 || n > 3) return v_refuse(in, REFUSE_CALL, "range", args, n);
    for (int32_t i = 0; i < n; i++) {
        part[i] = v_scalar(in, args[i]);
        if (in->strong && type_is_float(part[i].f.type)) /* as Numba, which cuts them off */
            part[i] = v_converted(in, part[i], i64_type(in->types));
        if (!type_is_int(part[i].f.type) && part[i].f.type->kind != TY_bool)
            return v_refuse(in, REFUSE_RANGE, "range", args, n);
    }
    const Type *element = range_element(in, part, n);
    if (n == 1) part[1] = part[0], part[0] = val_of(fact_int(in, 0));
    if (n < 3) part[2] = val_of(fact_int(in, 1));
    *out = val_of(fact_of(type_range(in->types, element)));
    if (!e) return true;
    Ref refs[3] = {range_end(in, part[0], element), range_end(in, part[1], element),
                   range_step(in, part[2])};
    check_step(e, refs[2]);
    out->ref = emit(e, OP_tuple, lower_type(in->ti, out->f.type), refs, 3);
    return true;
}

/* -- iteration ------------------------------------------------------------------------------------ */

Val v_iter_object(Infer *in, enum IterKind kind, Val of) {
    Val out = val_of(fact_of(type_iter(in->types, of.f.type, kind)));
    if (in->emit) out.ref = v_ref(in, of);
    return out;
}

/* What an iteration goes over. */
static Val iter_inner(Val it) {
    return (Val){.f = fact_of(it.f.type->element), .ref = it.ref};
}

static bool not_iterable(Infer *in, const Val *v, const char *note) {
    v_refuse(in, REFUSE_ITERATION, NULL, v, 1);
    return ti_advise(in, note), false;
}

bool iterates_objects(const Type *type) {
    if (type->kind == TY_ITER) return iterates_objects(type->element);
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (iterates_objects(type->items[i])) return true;
    return type->kind == TY_CLASS && !type_is_fixed(type);
}

bool type_is_view(const Type *type) {
    return type->kind == TY_ITER && type->bits >= ITER_KEYS && type->bits <= ITER_ITEMS;
}

Val v_dict_of_view(Val view) {
    return iter_inner(view);
}

/* The element at a position of a list that is below the length. */
static bool object_item(Infer *in, Val list, Val counter, Val *out) {
    Emit *e = in->emit;
    bool found;
    if (is_str(&list) || type_is_octets(list.f.type))
        return v_method(in, "__item__", (Val[]){list, counter}, 2, &found, out);
    const Type *buffer = list.f.type->items[1];
    *out = val_of(fact_of(buffer->element));
    if (buffer->element->kind == TY_UNKNOWN) return in->stop = STOP_UNKNOWN, false;
    if (!e) return true;
    const Type *lowered = lower_type(in->ti, buffer);
    Ref items = emit1(e, OP_field, lowered, v_ref(in, list));
    ir_inst(e->out, items)->imm = 1;
    out->ref = emit2(e, OP_load, lowered->element, items, v_as(in, counter, i64_type(in->types)));
    return true;
}

/* What a walk over a dict gives of which not all is known. Nothing is typed of it: a list of the same says enough. */
static bool begin_open(Infer *in, const Type *dict, enum IterKind view, Val *a) {
    const Type *const *params = dict->params, *item = params[view == ITER_VALUES];
    bool table = type_is_of(dict, CLS_dict) && dict->nparams == 2;
    bool known = table && params[0]->kind != TY_UNKNOWN && params[1]->kind != TY_UNKNOWN;
    if (!known || in->emit) return in->stop = STOP_UNKNOWN, false;
    if (view == ITER_ITEMS) item = type_tuple(in->types, params, 2);
    return *a = val_of(fact_of(type_class_of(in->types, CLS_list, &item))), true;
}

/* Dicts and sets are gone over by functions of the library, which watch for changes from here on. */
static bool begin_table(Infer *in, Val *a) {
    const Type *t = a->f.type;
    const char *name = "__iter__";
    enum IterKind view = ITER_KEYS;
    Val table = *a;
    bool found;
    if (type_is_view(t)) {
        view = (enum IterKind)t->bits;
        name = t->bits == ITER_KEYS ? name : t->bits == ITER_VALUES ? "__values__" : "__items__";
        table = iter_inner(*a);
    }
    if (table.f.type->open) return begin_open(in, table.f.type, view, a);
    return v_method(in, name, &table, 1, &found, a) || found || not_iterable(in, a, NULL);
}

bool v_iterable(Infer *in, Val *a) {
    const Type *t = a->f.type;
    switch (t->kind) {
    case TY_CLASS: return type_is_list(t) || is_str(a) || type_is_octets(t) || begin_table(in, a);
    case TY_RANGE: return true;
    case TY_ARRAY: return t->ndim > 0 || not_iterable(in, a, "it has no axes");
    case TY_TUPLE:
        if (type_is_keyed(t)) return *a = v_keys(in, t), v_iterable(in, a);
        if (type_is_value(t)) return not_iterable(in, a, NULL);
        return t->nitems == 0 || common_type(in, t) || is_one_object(t) ||
               not_iterable(in, a, "its items have no common type");
    case TY_ITER: return !type_is_view(t) || begin_table(in, a); /* else asked when it was made */
    default: return v_as_members(in, a) ? v_iterable(in, a) : not_iterable(in, a, NULL);
    }
}

/* The least length of the items from number `first` on. */
static bool zip_length(Infer *in, Val tuple, int32_t first, Val *out) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types);
    *out = val_of(fact_int(in, 0));
    for (int32_t i = first; i < tuple.f.type->nitems; i++) {
        Val n = {0};
        if (!v_iter_len(in, v_item(in, tuple, i), &n)) return false;
        if (i == first) {
            *out = n;
            continue;
        }
        Ref x = 0, y = 0;
        if (e) x = v_as(in, *out, i64), y = v_as(in, n, i64);
        *out = val_of(fact_of(ti_wint(in)));
        if (!e) continue;
        Ref less = emit2(e, OP_lt, bool_type(in->types), y, x);
        out->ref = emit3(e, OP_select, i64, less, y, x);
    }
    return true;
}

/* The loop that counts up to this length is the parallel one (codegen/opt/parallel.c). */
static bool parallel_length(Infer *in, Val range, Val *out) {
    if (!v_iter_len(in, range, out)) return false;
    out->f.value = NULL;
    if (in->emit) out->ref = emit1(in->emit, OP_prange, i64_type(in->types), out->ref);
    return true;
}

/* Of what is no TY_ITER. Apart, as plain_item is, because what recurses over nested iterators needs the stack. */
__attribute__((noinline)) static bool plain_len(Infer *in, Val of, Val *out) {
    switch (of.f.type->kind) {
    case TY_TUPLE: return *out = val_of(fact_int(in, of.f.type->nitems)), true;
    case TY_ARRAY: return *out = v_shape(in, of, 0), true;
    case TY_CLASS: return v_object_len(in, of, out);
    case TY_RANGE:
        *out = val_of(fact_of(ti_wint(in)));
        if (in->emit) out->ref = emit_range_len(in->emit, v_ref(in, of));
        return true;
    default: return not_iterable(in, &of, NULL);
    }
}

static bool called_length(Infer *in, Val parts, Val *out) {
    Val length = v_item(in, parts, 0), state = v_item(in, parts, 2);
    if (!fact_object(&length.f)) return *out = length, true;
    return v_call(in, length, &(CallArgs){&state, 1, 0, NULL}, out);
}

bool v_iter_len(Infer *in, Val it, Val *out) {
    if (!ti_has_stack(in, "iterators")) return false;
    if (!is_kind(&it, TY_ITER)) return plain_len(in, it, out);
    Val inner = iter_inner(it);
    switch ((enum IterKind)it.f.type->bits) {
    case ITER_ZIP: return zip_length(in, inner, 0, out);
    case ITER_MAP: return zip_length(in, inner, 1, out);
    case ITER_CALL: return called_length(in, inner, out);
    case ITER_KEYS:
    case ITER_VALUES:
    case ITER_ITEMS: return v_object_len(in, inner, out);
    case ITER_BACKWARD: return *out = v_item(in, inner, 1), true;
    case ITER_PARALLEL: return parallel_length(in, inner, out);
    case ITER_OVER:
    case ITER_REVERSED: break;
    default: inner = v_item(in, inner, 0); break;
    }
    return v_iter_len(in, inner, out);
}

/* The number of a round, which is no constant of the program even where it is known. */
static Val as_variable(Infer *in, Val counter) {
    if (in->emit) counter.ref = v_ref(in, counter);
    counter.f.value = NULL;
    return counter;
}

__attribute__((noinline)) static bool enumerate_item(Infer *in, Val pair, Val counter, Val *out) {
    Val item[2] = {0};
    if (!v_iter_get(in, v_item(in, pair, 0), counter, &item[1])) return false;
    Val first = v_item(in, pair, 1);
    if (!v_binary(in, OPR_add, false, as_variable(in, counter), first, &item[0])) return false;
    return *out = v_tuple(in, item, 2), true;
}

/* Items number `counter` of the parts from number `first` on. */
static bool part_items(Infer *in, Val tuple, int32_t first, Val counter, Val *items) {
    for (int32_t i = first; i < tuple.f.type->nitems; i++)
        if (!v_iter_get(in, v_item(in, tuple, i), counter, &items[i])) return false;
    return true;
}

static bool zip_item(Infer *in, Val tuple, Val counter, Val *out) {
    Val *items = arena_array(in->arena, Val, tuple.f.type->nitems);
    return part_items(in, tuple, 0, counter, items) &&
           (*out = v_tuple(in, items, tuple.f.type->nitems), true);
}

__attribute__((noinline)) static bool mapped_item(Infer *in, Val tuple, Val counter, Val *out) {
    int32_t n = tuple.f.type->nitems;
    Val *items = arena_array(in->arena, Val, n);
    return part_items(in, tuple, 1, counter, items) &&
           v_call(in, v_item(in, tuple, 0), &(CallArgs){items + 1, n - 1, 0, NULL}, out);
}

__attribute__((noinline)) static bool called_item(Infer *in, Val parts, Val counter, Val *out) {
    Val function = v_item(in, parts, 1), args[2] = {v_item(in, parts, 2), counter};
    return v_call(in, function, &(CallArgs){args, 2, 0, NULL}, out);
}

/* Of a sequence with `n` items. */
__attribute__((noinline)) static bool reversed_item(Infer *in, Val inner, Val n, Val counter,
                                                    Val *out) {
    Emit *e = in->emit;
    Val back = val_of(fact_of(ti_wint(in)));
    if (e) {
        const Type *i64 = i64_type(in->types);
        Ref last = emit2(e, OP_sub, i64, v_as(in, n, i64), emit_int(e, i64, 1));
        back.ref = emit2(e, OP_sub, i64, last, v_as(in, counter, i64));
        ir_inst(e->out, back.ref)->sub = FLAG_NOWRAP;
        emitted_nonnegative(e, back.ref); /* the counter is below the length */
    }
    return v_iter_get(in, inner, back, out);
}

__attribute__((noinline)) static bool plain_item(Infer *in, Val of, Val counter, Val *out) {
    switch (of.f.type->kind) {
    case TY_TUPLE: return tuple_at(in, of, counter, out);
    case TY_ARRAY: return v_element(in, of, counter, out);
    case TY_CLASS: return object_item(in, of, counter, out);
    case TY_RANGE:
        *out = val_of(fact_of(of.f.type->element));
        if (in->emit)
            out->ref =
                emit_range_item(in->emit, v_ref(in, of), v_as(in, counter, i64_type(in->types)));
        return true;
    default: return not_iterable(in, &of, NULL);
    }
}

bool v_iter_get(Infer *in, Val it, Val counter, Val *out) {
    Val n = {0};
    if (!in->unrolled) counter = as_variable(in, counter); /* its first value alone is a constant */
    if (!ti_has_stack(in, "iterators")) return false;
    if (!is_kind(&it, TY_ITER)) return plain_item(in, it, counter, out);
    Val inner = iter_inner(it);
    switch ((enum IterKind)it.f.type->bits) {
    case ITER_ENUMERATE: return enumerate_item(in, inner, counter, out);
    case ITER_ZIP: return zip_item(in, inner, counter, out);
    case ITER_MAP: return mapped_item(in, inner, counter, out);
    case ITER_CALL: return called_item(in, inner, counter, out);
    case ITER_OVER:
    case ITER_PARALLEL: return v_iter_get(in, inner, counter, out);
    case ITER_BACKWARD:
        n = v_item(in, inner, 1);
        inner = v_item(in, inner, 0);
        break;
    default:
        if (!v_iter_len(in, inner, &n)) return false;
    }
    return reversed_item(in, inner, n, counter, out);
}
