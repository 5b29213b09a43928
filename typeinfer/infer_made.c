/* infer_made.c - the objects that sites of containers make: their fields, by class. */
#include "typeinfer/infer_made.h"

enum { FIRST_TABLE = 8, FIRST_ROOM = 5 };

static Ref emit_list(Infer *in, const Type *type, const Val *items, int32_t n) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *lowered = lower_type(in->ti, type);
    Ref count = emit_int(e, i64, n), fields[2] = {count};
    fields[1] = emit1(e, OP_alloc, lowered->items[1], count);
    ir_inst(e->out, fields[1])->sub = lowered->items[1]->element->counted ? FLAG_ZEROED : 0;
    for (int32_t k = 0; k < n; k++)
        emit3(e, OP_store, NULL, fields[1], emit_int(e, i64, k),
              v_as(in, items[k], type->params[0]));
    return emit(e, OP_new, lowered, fields, 2);
}

/* Without entries, and with room for a few: length, used, free, table, hashes, keys, values. */
static Ref emit_table(Infer *in, const Type *type) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *lowered = lower_type(in->ti, type);
    Ref zero = emit_int(e, i64, 0), room = emit_int(e, i64, FIRST_ROOM);
    Ref fields[7] = {zero, zero, room};
    for (int32_t k = 3; k < lowered->nitems; k++) {
        bool table = lowered->items[k]->element->kind == TY_i32 && k == 3;
        fields[k] =
            emit1(e, OP_alloc, lowered->items[k], table ? emit_int(e, i64, FIRST_TABLE) : room);
        bool zeroed = table || lowered->items[k]->element->counted;
        ir_inst(e->out, fields[k])->sub = zeroed ? FLAG_ZEROED : 0;
    }
    return emit(e, OP_new, lowered, fields, lowered->nitems);
}

/* Of no elements, of any number: length, first, limit, changes, items. */
static Ref emit_deque(Infer *in, const Type *type) {
    Emit *e = in->emit;
    const Type *i64 = i64_type(in->types), *lowered = lower_type(in->ti, type);
    Ref zero = emit_int(e, i64, 0), fields[5] = {zero, zero, emit_int(e, i64, -1), zero};
    fields[4] = emit1(e, OP_alloc, lowered->items[4], emit_int(e, i64, FIRST_TABLE));
    ir_inst(e->out, fields[4])->sub = lowered->items[4]->element->counted ? FLAG_ZEROED : 0;
    return emit(e, OP_new, lowered, fields, 5);
}

Ref container_emit(Infer *in, const Type *type, const Val *items, int32_t n) {
    if (type_is_list(type)) return emit_list(in, type, items, n);
    return type_is_of(type, CLS_deque) ? emit_deque(in, type) : emit_table(in, type);
}

/* What stands for nothing of its type: 0, "", an empty container. */
bool v_empty(Infer *in, const Type *type, Val *out) {
    *out = val_of(fact_of(type));
    if (!in->emit) return true;
    if (type_is_list(type) || type_is_of(type, CLS_deque) || type_is_of(type, CLS_dict) ||
        type_is_of(type, CLS_set))
        return out->ref = container_emit(in, type, NULL, 0), true;
    Val zero = val_of(fact_int(in, 0));
    if (type_is_text(type)) fact_of_const(in, const_str(in->arena, STR("")), &zero.f);
    return out->ref = v_as(in, zero, type), true;
}
