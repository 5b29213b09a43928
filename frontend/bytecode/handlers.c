/* handlers.c - what each abstract operation means: stack, variables, operators, displays.
 *
 * A handler is called with its argument in range, enough values on the stack and room for what it
 * pushes (ssa.c checks by the row in pyop.def). It must leave the stack as the row says. */
#include "frontend/bytecode/bc.h"
#include <stdio.h>

const PyHandlerFn bc_handlers[PY_COUNT] = {
#define PYOP(name, pops, pops_each, pushes, pushes_each, argument, ends) bc_h_##name,
#include "frontend/bytecode/pyop.def"
#undef PYOP
};

/* -- emitting --------------------------------------------------------------------------------- */

Ref bc_emit(SsaBuild *b, Op op, const Ref *args, int32_t nargs) {
    Ref ref = b_inst(&b->ir, op, NULL, args, nargs);
    if (b->handler && (ir_op_info[op].flags & OPF_RAISES)) bc_may_raise(b, ref);
    return ref;
}

Ref bc_emit_const(SsaBuild *b, const ConstVal *value) {
    return b_const(&b->ir, NULL, value);
}

/* Versions differ in where they convert a test to bool, so converting twice is no operation. */
Ref bc_emit_truth(SsaBuild *b, Ref value) {
    const Inst *inst = ir_inst(b->func, value);
    if (inst->op == OP_truth || (inst->op == OP_unary && inst->sub == OPR_not)) return value;
    return bc_emit(b, OP_truth, &value, 1);
}

const Str *bc_intern(SsaBuild *b, Str name) {
    Str *out = arena_new(b->arena, Str);
    *out = str_intern(b->module->strings, name.bytes, (size_t)name.len);
    return out;
}

static Inst *emitted(SsaBuild *b, Ref ref) {
    return ir_inst(b->func, ref);
}

/* Pops n values, applies `op` and pushes the result. */
static bool apply(SsaBuild *b, Op op, uint16_t sub, int64_t imm, int32_t n) {
    Ref args[3];
    if (!bc_pop_many(b, args, n)) return false;
    Ref ref = bc_emit(b, op, args, n);
    emitted(b, ref)->sub = sub;
    emitted(b, ref)->imm = imm;
    bc_push(b, ref);
    return true;
}

/* The same for any number of values. */
static bool apply_many(SsaBuild *b, Op op, int32_t n) {
    Ref *args = arena_array(b->arena, Ref, n);
    if (!bc_pop_many(b, args, n)) return false;
    bc_push(b, bc_emit(b, op, args, n));
    return true;
}

/* -- the stack -------------------------------------------------------------------------------- */

/* Is it the way out of a loop that has come to its end? There the marker of that lay on top, or this is part of an instruction for
 * that, behind a `yield from`. */
static bool pops_ended_loop(const SsaBuild *b) {
    const PyInst *pop = &b->decoded->insts.items[b->inst], *before = pop - 1;
    if (b->inst == 0) return false;
    if (before->op == PY_swap && before->unit == pop->unit) return true;
    return before->op == PY_pop && b->stack[b->depth].kind == SLOT_NULL;
}

/* A loop that is left early lets go of what it goes over here. */
bool bc_h_pop(SsaBuild *b, int32_t arg) {
    (void)arg;
    if (b->stack[b->depth - 1].kind == SLOT_ITER && !pops_ended_loop(b)) {
        Ref iter = bc_read(b, slot_var(b, b->depth - 1) + VAR_VALUE);
        bc_emit(b, OP_hold, &iter, 1);
    }
    b->depth--;
    return true;
}

static int32_t variables_of(const Slot *slot) {
    return slot->kind == SLOT_ITER ? STACK_VARS : slot->kind != SLOT_NULL;
}

/* Copies what is in stack place `from` to place `to`. */
static void copy_slot(SsaBuild *b, int32_t from, int32_t to) {
    int32_t nvars = variables_of(&b->stack[from]);
    for (int32_t k = 0; k < nvars; k++)
        bc_write(b, slot_var(b, to) + k, bc_read(b, slot_var(b, from) + k));
    b->stack[to] = b->stack[from];
}

bool bc_h_copy(SsaBuild *b, int32_t arg) {
    b->stack[b->depth - arg].tail = NO_REF; /* two have it now */
    copy_slot(b, b->depth - arg, b->depth);
    b->depth++;
    return true;
}

/* Values of a place, kept while another is written there. */
typedef struct Held {
    Slot slot;
    Ref vars[STACK_VARS];
    int32_t nvars;
} Held;

static Held hold(SsaBuild *b, int32_t place) {
    Held held = {.slot = b->stack[place]};
    held.nvars = variables_of(&held.slot);
    for (int32_t k = 0; k < held.nvars; k++)
        held.vars[k] = bc_read(b, slot_var(b, place) + k);
    return held;
}

static void put_held(SsaBuild *b, int32_t place, const Held *held) {
    b->stack[place] = held->slot;
    for (int32_t k = 0; k < held->nvars; k++)
        bc_write(b, slot_var(b, place) + k, held->vars[k]);
}

bool bc_h_swap(SsaBuild *b, int32_t arg) {
    Held top = hold(b, b->depth - 1), other = hold(b, b->depth - arg);
    put_held(b, b->depth - 1, &other);
    put_held(b, b->depth - arg, &top);
    return true;
}

bool bc_h_push_null(SsaBuild *b, int32_t arg) {
    (void)arg;
    bc_push_kind(b, SLOT_NULL);
    return true;
}

/* -- variables -------------------------------------------------------------------------------- */

/* The local's value; where it may be unassigned, only after a check, which then holds from here on. */
static Ref read_local(SsaBuild *b, int32_t var) {
    Ref value = bc_read(b, var);
    if (!bits_get(&b->unbound, var)) return value;
    Ref checked = bc_emit(b, OP_check_bound, &value, 1);
    emitted(b, checked)->u.name = bc_intern(b, b->code->local_names[var]);
    bits_clear(&b->unbound, var);
    bc_name_value(b, checked, var);
    bc_write(b, var, checked);
    return checked;
}

/* -- cells: variables that functions share while they are assigned ------------------------------ */

bool bc_want_cell(SsaBuild *b, int32_t local) {
    if (!b->cells[local]) b->cells[local] = b->decoded->insts.items[b->inst].unit + 1;
    b->again = true;
    return false;
}

static Ref emit_named(SsaBuild *b, Op op, const Ref *args, int32_t nargs, int32_t local) {
    Ref ref = bc_emit(b, op, args, nargs);
    emitted(b, ref)->u.name = bc_intern(b, b->code->local_names[local]);
    return ref;
}

bool bc_h_make_cell(SsaBuild *b, int32_t arg) {
    if (!b->cells[arg]) return true; /* nobody sees it change: a plain variable */
    bool assigned = !bits_get(&b->unbound, arg);
    Ref value = assigned ? bc_read(b, arg) : NO_REF;
    int32_t span = b->ir.span;
    b->ir.span = bc_span_of(b, b->cells[arg] - 1); /* of the function that wants it */
    Ref cell = emit_named(b, OP_make_cell, &value, assigned, arg);
    b->ir.span = span;
    bc_write(b, arg, cell);
    bits_clear(&b->unbound, arg);
    return true;
}

/* The cell of a variable of this function, or what it has of one of a function around it. */
static bool shared_variable(SsaBuild *b, int32_t local, Ref *cell) {
    bool outer = b->code->local_kinds[local] & LOCAL_FREE;
    if (!outer && !b->cells[local]) return false;
    *cell = outer ? bc_shared(b, local) : bc_read(b, local);
    return true;
}

static void name_free(SsaBuild *b, Ref ref, int32_t local, bool shared) {
    emitted(b, ref)->imm = local - (b->code->nlocals - b->nfree);
    emitted(b, ref)->sub = shared ? FLAG_SHARED : 0;
    emitted(b, ref)->u.name = bc_intern(b, b->code->local_names[local]);
}

/* It is there: no exception, which would end the block between a function and its parts on the stack. */
Ref bc_shared(SsaBuild *b, int32_t local) {
    int32_t error = b->ir.error;
    b->ir.error = NO_BLOCK;
    Ref ref = b_inst(&b->ir, OP_freevar, NULL, NULL, 0);
    b->ir.error = error;
    name_free(b, ref, local, true);
    return ref;
}

bool bc_h_load(SsaBuild *b, int32_t arg) {
    if (b->code->local_kinds[arg] & LOCAL_FREE) return bc_h_load_deref(b, arg);
    bc_push(b, read_local(b, arg));
    /* what a comprehension goes over: its caller has made the iterator */
    return !str_is(b->code->local_names[arg], ".0") || bc_h_get_iter(b, 0);
}

Ref bc_declared(SsaBuild *b, Ref value, int32_t var) {
    if (!b->code->local_typed || !b->code->local_typed[var]) return value;
    Ref converted = bc_emit(b, OP_convert, &value, 1);
    emitted(b, converted)->u.name = bc_intern(b, b->code->local_names[var]);
    emitted(b, converted)->imm = var;
    return converted;
}

/* Is a comprehension on the stack, which has read its variables? */
static bool was_read(const SsaBuild *b) {
    for (int32_t k = 0; k < b->depth; k++)
        if (b->stack[k].function) return true;
    return false;
}

bool bc_h_store(SsaBuild *b, int32_t arg) {
    Ref value;
    if (b->code->local_kinds[arg] & LOCAL_FREE) return bc_h_store_deref(b, arg);
    bool cell = b->cells[arg];
    if (!cell && b->code->local_kinds[arg] & LOCAL_CELL && was_read(b)) return bc_want_cell(b, arg);
    bool unbound = b->depth && b->stack[b->depth - 1].unbound;
    if (!bc_pop(b, &value)) return false;
    if (!unbound && !cell) value = bc_declared(b, value, arg);
    if (!cell) bc_name_value(b, value, arg);
    bc_write(b, arg, value);
    if (unbound)
        bits_set(&b->unbound, arg);
    else
        bits_clear(&b->unbound, arg);
    return true;
}

/* The variable of a comprehension, which CPython 3.12 and later write into the function around it: what the name means there is put
 * aside, be it nothing, and stored again behind the loop. */
bool bc_h_load_and_clear(SsaBuild *b, int32_t arg) {
    if (b->code->local_kinds[arg] & LOCAL_FREE)
        return bc_unsupported(b, "a comprehension over a variable of an enclosing function");
    bc_push(b, bc_read(b, arg));
    b->stack[b->depth - 1].unbound = bits_get(&b->unbound, arg);
    bc_write(b, arg, bc_unbound(b));
    bits_set(&b->unbound, arg);
    return true;
}

bool bc_h_delete(SsaBuild *b, int32_t arg) {
    if (b->code->local_kinds[arg] & LOCAL_FREE) return bc_h_delete_deref(b, arg);
    if (bits_get(&b->unbound, arg)) read_local(b, arg);
    bc_write(b, arg, bc_unbound(b));
    bits_set(&b->unbound, arg);
    return true;
}

bool bc_h_load_deref(SsaBuild *b, int32_t arg) {
    if (b->cells[arg]) {
        Ref cell = bc_read(b, arg);
        bc_push(b, emit_named(b, OP_cell_get, &cell, 1, arg));
        return true;
    }
    if (!(b->code->local_kinds[arg] & LOCAL_FREE)) return bc_h_load(b, arg);
    Ref ref = bc_emit(b, OP_freevar, NULL, 0);
    name_free(b, ref, arg, false);
    bc_push(b, ref);
    return true;
}

/* As a part of a tuple of cells, which is not looked at: what takes them reads the variables (closures.c). */
bool bc_h_load_closure(SsaBuild *b, int32_t arg) {
    bc_push(b, b->code->local_kinds[arg] & LOCAL_FREE ? bc_shared(b, arg) : bc_read(b, arg));
    return true;
}

bool bc_h_store_deref(SsaBuild *b, int32_t arg) {
    Ref args[2];
    if (!shared_variable(b, arg, &args[0])) return bc_h_store(b, arg);
    if (!bc_pop(b, &args[1])) return false;
    args[1] = bc_declared(b, args[1], arg);
    emit_named(b, OP_cell_set, args, 2, arg);
    return true;
}

bool bc_h_delete_deref(SsaBuild *b, int32_t arg) {
    Ref cell;
    if (!shared_variable(b, arg, &cell)) return bc_h_delete(b, arg);
    emit_named(b, OP_cell_set, &cell, 1, arg);
    return true;
}

/* A constant slice (3.14 folds them) becomes the same op as a computed one. */
static Ref emit_slice(SsaBuild *b, const ConstVal *value) {
    Ref parts[3];
    for (int k = 0; k < 3; k++)
        parts[k] = bc_emit_const(b, value->items[k]);
    return bc_emit(b, OP_build_slice, parts, 3);
}

Ref bc_emit_value(SsaBuild *b, const ConstVal *value) {
    bool slice = value->kind == CONST_SLICE && value->nitems == 3;
    return slice ? emit_slice(b, value) : bc_emit_const(b, value);
}

bool bc_h_load_const(SsaBuild *b, int32_t arg) {
    const ConstVal *value = b->code->consts[arg];
    bc_push(b, bc_emit_value(b, value));
    if (value->kind == CONST_STR) b->stack[b->depth - 1].constant = value;
    return true;
}

bool bc_h_load_int(SsaBuild *b, int32_t arg) {
    bc_push(b, bc_emit_const(b, const_int(b->arena, arg)));
    return true;
}

static bool push_named(SsaBuild *b, Op op, const Ref *args, int32_t nargs, Str name) {
    Ref ref = bc_emit(b, op, args, nargs);
    emitted(b, ref)->u.name = bc_intern(b, name);
    bc_push(b, ref);
    return true;
}

bool bc_h_load_common(SsaBuild *b, int32_t arg) {
    const char *name = bc_common_name(b->code->version, arg);
    if (!name) return bc_malformed(b, "an operand is out of range");
    return push_named(b, OP_builtin, NULL, 0, str_from(name));
}

bool bc_h_load_global(SsaBuild *b, int32_t arg) {
    return push_named(b, OP_global, NULL, 0, b->code->names[arg]);
}

/* -- modules ------------------------------------------------------------------------------------ */

static const ConstVal *constant_of(const SsaBuild *b, Ref ref) {
    const Inst *inst = ir_inst(b->func, ref);
    return inst->op == OP_const ? inst->u.value : NULL;
}

/* Both operands are constants in all that CPython writes. */
bool bc_h_import_name(SsaBuild *b, int32_t arg) {
    Ref args[2];
    if (!bc_pop_many(b, args, 2)) return false;
    const ConstVal *level = constant_of(b, args[0]), *from = constant_of(b, args[1]);
    if (!level || level->kind != CONST_INT || level->i < 0 || !from)
        return bc_malformed(b, "an import that is not constant");
    StrBuf name;
    buf_init(&name, b->arena);
    for (int64_t i = 0; i < level->i; i++)
        buf_char(&name, '.');
    buf_printf(&name, STR_FMT, STR_ARG(b->code->names[arg]));
    int32_t taken = from->kind == CONST_TUPLE ? from->nitems : 0;
    Str *names = arena_array(b->arena, Str, 1 + taken);
    names[0] = *bc_intern(b, buf_take(&name));
    for (int32_t i = 0; i < taken; i++) {
        if (from->items[i]->kind != CONST_STR)
            return bc_malformed(b, "an import that is not constant");
        names[1 + i] = *bc_intern(b, from->items[i]->str);
    }
    Ref ref = bc_emit(b, OP_import, NULL, 0);
    emitted(b, ref)->u.names = names;
    emitted(b, ref)->imm = 1 + taken;
    bc_push(b, ref);
    return true;
}

bool bc_h_import_from(SsaBuild *b, int32_t arg) {
    Ref module;
    if (!bc_pop(b, &module)) return false;
    bc_push(b, module);
    return push_named(b, OP_attr, &module, 1, b->code->names[arg]);
}

/* -- attributes and items --------------------------------------------------------------------- */

bool bc_h_load_attr(SsaBuild *b, int32_t arg) {
    Ref object;
    return bc_pop(b, &object) && push_named(b, OP_attr, &object, 1, b->code->names[arg]);
}

bool bc_h_store_attr(SsaBuild *b, int32_t arg) {
    Ref args[2];
    if (!bc_pop_many(b, args, 2)) return false;
    Ref ref = bc_emit(b, OP_setattr, (Ref[]){args[1], args[0]}, 2);
    emitted(b, ref)->u.name = bc_intern(b, b->code->names[arg]);
    return true;
}

bool bc_h_getitem(SsaBuild *b, int32_t arg) {
    (void)arg;
    return apply(b, OP_getitem, 0, 0, 2);
}

bool bc_h_setitem(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref args[3];
    if (!bc_pop_many(b, args, 3)) return false;
    bc_emit(b, OP_setitem, (Ref[]){args[1], args[2], args[0]}, 3);
    return true;
}

bool bc_h_delitem(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref args[2];
    if (!bc_pop_many(b, args, 2)) return false;
    bc_emit(b, OP_delitem, args, 2);
    return true;
}

bool bc_h_build_slice(SsaBuild *b, int32_t arg) {
    Ref args[3];
    if (arg != 2 && arg != 3) return bc_malformed(b, "a slice of neither two nor three parts");
    if (!bc_pop_many(b, args, arg)) return false;
    if (arg == 2) args[2] = bc_emit_const(b, const_none(b->arena));
    bc_push(b, bc_emit(b, OP_build_slice, args, 3));
    return true;
}

/* -- operators -------------------------------------------------------------------------------- */

bool bc_h_positive(SsaBuild *b, int32_t arg) {
    (void)arg;
    return apply(b, OP_unary, OPR_pos, 0, 1);
}

bool bc_h_negative(SsaBuild *b, int32_t arg) {
    (void)arg;
    return apply(b, OP_unary, OPR_neg, 0, 1);
}

bool bc_h_invert(SsaBuild *b, int32_t arg) {
    (void)arg;
    return apply(b, OP_unary, OPR_invert, 0, 1);
}

bool bc_h_to_bool(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref value;
    if (!bc_pop(b, &value)) return false;
    bc_push(b, bc_emit_truth(b, value));
    return true;
}

bool bc_h_not(SsaBuild *b, int32_t arg) {
    return bc_h_to_bool(b, arg) && apply(b, OP_unary, OPR_not, 0, 1);
}

bool bc_h_binary(SsaBuild *b, int32_t arg) {
    return apply(b, OP_binary, (uint16_t)(arg & (IN_PLACE - 1)), (arg & IN_PLACE) != 0, 2);
}

bool bc_h_compare(SsaBuild *b, int32_t arg) {
    return apply(b, OP_binary, (uint16_t)arg, 0, 2);
}

bool bc_h_is(SsaBuild *b, int32_t arg) {
    return apply(b, OP_binary, arg ? OPR_is_not : OPR_is, 0, 2);
}

bool bc_h_contains(SsaBuild *b, int32_t arg) {
    return apply(b, OP_binary, arg ? OPR_not_contains : OPR_contains, 0, 2);
}

/* -- displays --------------------------------------------------------------------------------- */

bool bc_h_build_tuple(SsaBuild *b, int32_t arg) {
    return apply_many(b, OP_build_tuple, arg);
}

bool bc_h_build_list(SsaBuild *b, int32_t arg) {
    if (!apply_many(b, OP_build_list, arg)) return false;
    Slot *slot = &b->stack[b->depth - 1];
    slot->list = bc_read(b, slot_var(b, b->depth - 1) + VAR_VALUE);
    return true;
}

/* A list on the stack that grows: [*a, b] and f(*a, b). CPython mutates it; here the place gets a new
 * value. FLAG_LIST marks a concat that is still a list: list_to_tuple clears it, and phis.c marks those whose
 * parts it is made of. */

/* Behind a branch among the items a read of the place would be a phi; the slot knows better. */
static Ref known_list(SsaBuild *b, int32_t place) {
    Ref list = b->displays_unsure ? NO_REF : b->stack[place].list;
    b->displays_used |= list != NO_REF;
    return list != NO_REF ? list : bc_read(b, slot_var(b, place) + VAR_VALUE);
}

/* The list in place `place`, as a tuple to append to. */
static bool list_as_tuple(SsaBuild *b, int32_t place, Ref *out) {
    if (b->stack[place].kind != SLOT_VALUE) return bc_malformed(b, "a list is expected");
    Ref list = known_list(b, place);
    const Inst *inst = ir_inst(b->func, list);
    if (inst->op == OP_concat && inst->sub == FLAG_LIST) {
        *out = list;
    } else if (inst->op == OP_build_list) {
        Ref *items =
            arena_copy(b->arena, ir_args(b->func, list), sizeof *items * (size_t)inst->nargs);
        *out = bc_emit(b, OP_build_tuple, items, inst->nargs);
    } else {
        Ref empty = bc_emit(b, OP_build_tuple, NULL, 0);
        *out = bc_emit(b, OP_concat, (Ref[]){empty, list}, 2);
    }
    return true;
}

static void join_list(SsaBuild *b, int32_t place, Ref tuple, Ref more) {
    Ref ref = bc_emit(b, OP_concat, (Ref[]){tuple, more}, 2);
    emitted(b, ref)->sub = FLAG_LIST;
    bc_write(b, slot_var(b, place) + VAR_VALUE, ref);
    b->stack[place].list = ref;
    b->stack[place].tail = NO_REF;
    b->stack[place].pieces = 0;
}

static bool grow_list(SsaBuild *b, int32_t place, Ref more) {
    Ref tuple;
    if (!list_as_tuple(b, place, &tuple)) return false;
    emitted(b, tuple)->sub = 0;
    join_list(b, place, tuple, more);
    return true;
}

/* [1, 2, 3] is an empty list extended by a constant tuple: it stays a plain list. */
static bool extend_by_constants(SsaBuild *b, int32_t place, Ref more) {
    const Inst *tail = ir_inst(b->func, more);
    if (b->stack[place].kind != SLOT_VALUE || tail->op != OP_const ||
        tail->u.value->kind != CONST_TUPLE)
        return false;
    Ref list = bc_read(b, slot_var(b, place) + VAR_VALUE);
    const Inst *head = ir_inst(b->func, list);
    if (head->op != OP_build_list) return false;
    const ConstVal *items = ir_inst(b->func, more)->u.value;
    int32_t n = head->nargs;
    Ref *all = arena_array(b->arena, Ref, n + items->nitems);
    if (n) memcpy(all, ir_args(b->func, list), sizeof *all * (size_t)n);
    for (int32_t k = 0; k < items->nitems; k++)
        all[n + k] = bc_emit_value(b, items->items[k]);
    Ref whole = bc_emit(b, OP_build_list, all, n + items->nitems);
    bc_write(b, slot_var(b, place) + VAR_VALUE, whole);
    b->stack[place].list = whole;
    b->stack[place].tail = NO_REF;
    return true;
}

bool bc_h_list_extend(SsaBuild *b, int32_t arg) {
    Ref more;
    if (!bc_pop(b, &more)) return false;
    int32_t place = b->depth - arg;
    return extend_by_constants(b, place, more) || grow_list(b, place, more);
}

/* No display: what a comprehension fills. xs.append(item) and the like. */
static bool put_into(SsaBuild *b, int32_t place, const char *method_name, Ref item) {
    int32_t kind = b->stack[place].kind;
    if (kind != SLOT_VALUE && kind != SLOT_DICT) return bc_malformed(b, "a container is expected");
    Ref container = bc_read(b, slot_var(b, place) + VAR_VALUE);
    Ref method = bc_emit(b, OP_attr, &container, 1);
    emitted(b, method)->u.name = bc_intern(b, str_from(method_name));
    bc_emit(b, OP_call_py, (Ref[]){method, item}, 2);
    return true;
}

enum { PIECE = 64 };

/* base + a + b is base + (a, b), where nobody else has these. */
static Ref join_last(SsaBuild *b, int32_t place, Ref list) {
    Ref before = ir_arg(b->func, list, 0),
        tails[] = {ir_arg(b->func, before, 1), ir_arg(b->func, list, 1)};
    Ref base = ir_arg(b->func, before, 0);
    int32_t n = ir_inst(b->func, tails[0])->nargs, more = ir_inst(b->func, tails[1])->nargs;
    Ref *items = arena_array(b->arena, Ref, n + more);
    memcpy(items, ir_args(b->func, tails[0]), sizeof *items * (size_t)n);
    memcpy(items + n, ir_args(b->func, tails[1]), sizeof *items * (size_t)more);
    ir_remove(b->func, list);
    ir_remove(b->func, before);
    ir_remove(b->func, tails[0]);
    ir_remove(b->func, tails[1]);
    join_list(b, place, base, bc_emit(b, OP_build_tuple, items, n + more));
    return b->stack[place].list;
}

/* The last piece is full. Pieces become one with their like as the ones of a counter carry, so that no more than a few concatenations are
 * left, each twice as long as the one before. */
static bool append_piece(SsaBuild *b, int32_t place, Ref list, Ref item) {
    int32_t pieces = b->stack[place].pieces + 1;
    for (int32_t k = pieces; k % 2 == 0; k /= 2)
        list = join_last(b, place, list);
    Ref tail = bc_emit(b, OP_build_tuple, &item, 1);
    emitted(b, list)->sub = 0;
    join_list(b, place, list, tail);
    b->stack[place].tail = tail;
    b->stack[place].pieces = pieces;
    return true;
}

/* A long display is appended to item by item: a concatenation for each would make its types n * n / 2. What the last append made
 * gives way to one with an item more, as long as it is short and in this block. */
static bool append_with_last(SsaBuild *b, int32_t place, Ref item) {
    Slot *slot = &b->stack[place];
    Ref list = slot->kind == SLOT_VALUE && slot->tail ? known_list(b, place) : NO_REF, items[PIECE];
    const Inst *whole = ir_inst(b->func, list), *tail = ir_inst(b->func, slot->tail);
    if (!list || whole->op != OP_concat || ir_arg(b->func, list, 1) != slot->tail) return false;
    int32_t n = tail->nargs;
    if (whole->block != b->ir.block || tail->block != b->ir.block) return false;
    int32_t pieces = slot->pieces;
    if (n >= PIECE) return append_piece(b, place, list, item);
    memcpy(items, ir_args(b->func, slot->tail), sizeof *items * (size_t)n);
    items[n] = item;
    Ref base = ir_arg(b->func, list, 0), more = bc_emit(b, OP_build_tuple, items, n + 1);
    ir_remove(b->func, list);
    ir_remove(b->func, slot->tail);
    join_list(b, place, base, more);
    slot->tail = more;
    slot->pieces = pieces;
    return true;
}

bool bc_h_list_append(SsaBuild *b, int32_t arg) {
    Ref item;
    if (!bc_pop(b, &item)) return false;
    if (arg > 1) return put_into(b, b->depth - arg, "append", item);
    int32_t place = b->depth - arg;
    if (append_with_last(b, place, item)) return true;
    Ref tail = bc_emit(b, OP_build_tuple, &item, 1);
    if (!grow_list(b, place, tail)) return false;
    b->stack[place].tail = tail;
    return true;
}

bool bc_h_list_to_tuple(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref tuple;
    if (!list_as_tuple(b, b->depth - 1, &tuple)) return false;
    b->depth--;
    emitted(b, tuple)->sub = 0;
    bc_push(b, tuple);
    return true;
}

bool bc_h_build_set(SsaBuild *b, int32_t arg) {
    return apply_many(b, OP_build_set, arg);
}

bool bc_h_set_add(SsaBuild *b, int32_t arg) {
    Ref item;
    return bc_pop(b, &item) && put_into(b, b->depth - arg, "add", item);
}

bool bc_h_set_update(SsaBuild *b, int32_t arg) {
    Ref items;
    return bc_pop(b, &items) && put_into(b, b->depth - arg, "update", items);
}

/* A dict display. A call with many keywords, or with *arguments and keywords, makes one of their names and values, and takes it
 * apart again, so its place keeps the items, too; the dict itself goes where nobody takes it as a value. */

/* `name` NULL: it is not known. */
static void add_item(SsaBuild *b, Slot *dict, const ConstVal *name, Ref key, Ref value) {
    dict->named = dict->named && name && name->kind == CONST_STR;
    DictItem *item = arena_new(b->arena, DictItem);
    *item = (DictItem){dict->items, dict->items ? dict->items->n + 1 : 1, {0}, key, value};
    if (dict->named) item->name = name->str;
    dict->items = item;
}

static void push_dict(SsaBuild *b, const ConstVal *const *names, const Ref *pairs, int32_t n) {
    bc_write(b, slot_var(b, b->depth) + VAR_VALUE, bc_emit(b, OP_build_dict, pairs, 2 * n));
    bc_push_kind(b, SLOT_DICT);
    Slot *dict = &b->stack[b->depth - 1];
    dict->named = true;
    for (int32_t k = 0; k < n; k++)
        add_item(b, dict, names[k], pairs[2 * k], pairs[2 * k + 1]);
}

Ref bc_dict_value(SsaBuild *b, int32_t place) {
    const DictItem *item = b->stack[place].items;
    if (!b->stack[place].grown) return bc_read(b, slot_var(b, place) + VAR_VALUE);
    b->displays_used = true;
    int32_t n = item->n;
    Ref *pairs = arena_array(b->arena, Ref, 2 * n);
    for (; item; item = item->before) {
        pairs[2 * item->n - 2] = item->key;
        pairs[2 * item->n - 1] = item->value;
    }
    return bc_emit(b, OP_build_dict, pairs, 2 * n);
}

bool bc_h_build_dict(SsaBuild *b, int32_t arg) {
    Ref *pairs = arena_array(b->arena, Ref, 2 * arg);
    const ConstVal **keys = arena_array(b->arena, const ConstVal *, arg);
    for (int32_t k = 0; k < arg; k++)
        keys[k] = b->stack[b->depth - 2 * (arg - k)].constant;
    if (!bc_pop_many(b, pairs, 2 * arg)) return false;
    push_dict(b, keys, pairs, arg);
    return true;
}

bool bc_h_build_const_dict(SsaBuild *b, int32_t arg) {
    Ref *values = arena_array(b->arena, Ref, arg), *pairs = arena_array(b->arena, Ref, 2 * arg),
        names;
    if (!bc_pop(b, &names) || !bc_pop_many(b, values, arg)) return false;
    const Inst *inst = ir_inst(b->func, names);
    const ConstVal *keys = inst->op == OP_const ? inst->u.value : NULL;
    if (!keys || keys->kind != CONST_TUPLE || keys->nitems != arg)
        return bc_malformed(b, "the keys of a dict are no tuple");
    for (int32_t k = 0; k < arg; k++) {
        pairs[2 * k] = bc_emit_value(b, keys->items[k]);
        pairs[2 * k + 1] = values[k];
    }
    push_dict(b, keys->items, pairs, arg);
    return true;
}

/* In a comprehension the dict is there before the loop; a large display grows in its place. */
bool bc_h_dict_add(SsaBuild *b, int32_t arg) {
    Ref pair[2];
    const ConstVal *key = b->stack[b->depth - 2].constant;
    if (!bc_pop_many(b, pair, 2)) return false;
    Slot *dict = &b->stack[b->depth - arg];
    if (dict->kind != SLOT_DICT) return bc_malformed(b, "a dict is expected");
    if (arg == 1 && !dict->merged) {
        add_item(b, dict, key, pair[0], pair[1]);
        dict->grown = true;
        return true;
    }
    if (dict->items) return bc_malformed(b, "a comprehension begins with an empty dict");
    Ref of = bc_read(b, slot_var(b, b->depth - arg) + VAR_VALUE);
    bc_emit(b, OP_setitem, (Ref[]){of, pair[0], pair[1]}, 3);
    return true;
}

static bool has_name(const Slot *dict, Str name) {
    for (const DictItem *item = dict->items; item; item = item->before)
        if (str_equal(item->name, name)) return true;
    return false;
}

/* Does the empty display stay so? That of a comprehension, which is part of the function since CPython 3.12, lies in front of the loop that
 * fills it. */
static bool stays_empty(SsaBuild *b, int32_t place) {
    Ref made = bc_read(b, slot_var(b, place) + VAR_VALUE);
    return ir_inst(b->func, made)->block == b->ir.block;
}

/* f(**{"x": 1}), f(y=2, **{"x": 1}): a display with constant names that the other one has not. Its items follow those that are there. */
static bool merge_display(SsaBuild *b, Slot *dict, const Slot *more) {
    if (more->kind != SLOT_DICT || b->displays_unsure || !dict->named || dict->merged ||
        !more->named || more->merged)
        return false;
    int32_t n = more->items ? more->items->n : 0;
    if (!n && !stays_empty(b, b->depth - 1)) return false;
    const DictItem **items = arena_array(b->arena, const DictItem *, n + 1);
    for (const DictItem *item = more->items; item; item = item->before) {
        if (has_name(dict, item->name)) return false;
        items[item->n - 1] = item;
    }
    for (int32_t k = 0; k < n; k++) {
        ConstVal name = {.kind = CONST_STR, .str = items[k]->name};
        add_item(b, dict, &name, items[k]->key, items[k]->value);
    }
    dict->grown |= n > 0; /* whoever uses it relies on what is known of both */
    b->displays_used |= n == 0;
    b->depth--;
    return true;
}

/* {**a, **b}; as the keywords of a call it is refused by that where the names are not known. */
bool bc_h_dict_merge(SsaBuild *b, int32_t arg) {
    Ref more;
    if (b->stack[b->depth - 1].kind == SLOT_NULL || b->stack[b->depth - 1 - arg].kind != SLOT_DICT)
        return bc_malformed(b, "a dict is expected");
    if (arg == 1 && merge_display(b, &b->stack[b->depth - 2], &b->stack[b->depth - 1])) return true;
    if (!bc_pop(b, &more)) return false;
    int32_t place = b->depth - arg;
    Slot *dict = &b->stack[place];
    bc_write(b, slot_var(b, place) + VAR_VALUE, bc_dict_value(b, place));
    dict->items = NULL;
    dict->named = dict->grown = false;
    dict->merged = true;
    return put_into(b, place, "update", more);
}

/* a, b = 0, 1 and a, b, c, d = ...: the tuple is a constant, or was made just before. */
static bool unpack_display(SsaBuild *b, Ref tuple, int32_t n) {
    const Inst *inst = ir_inst(b->func, tuple);
    const ConstVal *value = inst->op == OP_const ? inst->u.value : NULL;
    bool constant = value && value->kind == CONST_TUPLE && value->nitems == n;
    if (!constant && (inst->op != OP_build_tuple || inst->nargs != n)) return false;
    for (int32_t k = n - 1; k >= 0; k--)
        bc_push(b, constant ? bc_emit_value(b, value->items[k]) : ir_arg(b->func, tuple, k));
    return true;
}

/* a, *b = 0, 1, 2: `n` names, one of them starred. */
static bool unpack_starred_display(SsaBuild *b, Ref tuple, int32_t before, int32_t n) {
    const Inst *inst = ir_inst(b->func, tuple);
    if (inst->op != OP_build_tuple || inst->nargs < n - 1) return false;
    int32_t over = inst->nargs - (n - 1), count = inst->nargs;
    Ref *items = arena_copy(b->arena, ir_args(b->func, tuple), sizeof *items * (size_t)count);
    Ref list = bc_emit(b, OP_build_list, items + before, over);
    for (int32_t k = count - 1; k >= before + over; k--)
        bc_push(b, items[k]);
    bc_push(b, list);
    for (int32_t k = before - 1; k >= 0; k--)
        bc_push(b, items[k]);
    return true;
}

bool bc_h_unpack(SsaBuild *b, int32_t arg) {
    Ref value;
    if (!bc_pop(b, &value)) return false;
    if (unpack_display(b, value, arg)) return true;
    Ref tuple = bc_emit(b, OP_unpack, &value, 1);
    emitted(b, tuple)->imm = arg;
    for (int32_t k = arg - 1; k >= 0; k--) {
        Ref item = bc_emit(b, OP_extract, &tuple, 1);
        emitted(b, item)->imm = k;
        bc_push(b, item);
    }
    return true;
}

/* a, *b, c = values: between them is a list. */
bool bc_h_unpack_starred(SsaBuild *b, int32_t arg) {
    Ref value;
    if (!bc_pop(b, &value)) return false;
    int32_t before = ir_before_star(arg), n = before + ir_behind_star(arg) + 1;
    if (unpack_starred_display(b, value, before, n)) return true;
    Ref tuple = bc_emit(b, OP_unpack, &value, 1);
    emitted(b, tuple)->imm = arg;
    emitted(b, tuple)->sub = FLAG_STARRED;
    for (int32_t k = n - 1; k >= 0; k--) {
        Ref item = bc_emit(b, OP_extract, &tuple, 1);
        emitted(b, item)->imm = k;
        bc_push(b, item);
    }
    return true;
}

/* -- what has no meaning ---------------------------------------------------------------------- */

bool bc_h_refused(SsaBuild *b, int32_t arg) {
    if (b->decoded->all) return bc_h_note(b, arg) && bc_leave_reported(b);
    return bc_unsupported(b, bc_refused_phrase(b->code->version, arg));
}

static bool is_code_of(const ConstVal *code, const char *name) {
    return code->kind == CONST_CODE && code->str.bytes && strstr(code->str.bytes, name);
}

/* A lambda or a `def` that needs nothing of the function around it is a constant of the program. */
static bool is_plain_function(const ConstVal *code) {
    return code->kind == CONST_CODE && code->handle && code->i == 0 && code->str.len > 0 &&
           (code->str.bytes[0] != '<' || str_is(code->str, "<lambda>"));
}

/* Is it a def or a lambda of which all is known? */
static bool has_body(const ConstVal *code) {
    return code->kind == CONST_CODE && code->function && code->str.len > 0 &&
           (code->str.bytes[0] != '<' || str_is(code->str, "<lambda>") ||
            str_is(code->str, "<genexpr>"));
}

/* CPython compiles more than `def` into functions: their names say what the user wrote. Where it is refused, the code is taken
 * from the stack and what belongs to it is left. */
bool bc_h_make_function(SsaBuild *b, int32_t arg) {
    static const char *const kinds[][2] = {
        {"<lambda>", "a lambda"},
        {"<genexpr>", "a generator expression"},
    };
    Ref code;
    if (!bc_pop(b, &code)) return false;
    const Inst *inst = ir_inst(b->func, code);
    static const char *const comprehensions[] = {"<listcomp>", "<setcomp>", "<dictcomp>"};
    for (int k = 0; inst->op == OP_const && k < countof(comprehensions); k++)
        if (is_code_of(inst->u.value, comprehensions[k]))
            return bc_push_comprehension(b, inst->u.value, arg);
    bool parts = arg || b->decoded->insts.items[b->inst + 1].op == PY_function_attribute;
    if (!parts && inst->op == OP_const && is_plain_function(inst->u.value))
        return bc_push(b, code), true;
    if (inst->op == OP_const && has_body(inst->u.value))
        return bc_push_function(b, inst->u.value, arg);
    for (int k = 0; inst->op == OP_const && k < countof(kinds); k++)
        if (is_code_of(inst->u.value, kinds[k][0])) return bc_unsupported(b, kinds[k][1]);
    return bc_unsupported(b, "a nested function");
}

bool bc_h_invalid(SsaBuild *b, int32_t arg) {
    if (arg > 255) return bc_malformed(b, "an operand is out of range");
    char name[16];
    snprintf(name, sizeof name, "<%d>", (int)arg);
    Span span = bc_span(b->code, b->decoded->insts.items[b->inst].unit);
    return diag_add(b->module->diags, E0102, &span, name);
}

bool bc_h_intrinsic(SsaBuild *b, int32_t arg) {
    (void)arg;
    return bc_malformed(b, "an operand is out of range");
}
