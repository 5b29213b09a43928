/* handlers_flow.c - jumps, loops, calls, return and raise.
 *
 * A handler that ends a block also tells its successors their stack (bc_flow). */
#include "frontend/bytecode/bc.h"

/* -- jumps ------------------------------------------------------------------------------------ */

static int32_t target_block(const SsaBuild *b, int32_t inst) {
    return b->cfg->block_of_inst[inst];
}

static int32_t ir_block_of(const SsaBuild *b, int32_t block) {
    return b->cfg->blocks[block].ir_block;
}

bool bc_h_jump(SsaBuild *b, int32_t arg) {
    int32_t to = target_block(b, arg);
    bc_end_display(b, to);
    b_jump(&b->ir, ir_block_of(b, to));
    return bc_flow(b, to);
}

bool bc_h_jump_back(SsaBuild *b, int32_t arg) {
    bc_emit(b, OP_poll, NULL, 0);
    return bc_h_jump(b, arg);
}

/* Branches to instruction `target` when `cond` is `when`, otherwise to the next one. */
static bool branch(SsaBuild *b, Ref cond, bool when, int32_t target) {
    int32_t jump = target_block(b, target), next = target_block(b, b->inst + 1);
    int32_t yes = when ? jump : next, no = when ? next : jump;
    bc_end_display(b, jump); /* {**d, "b": 0} or e */
    b_branch(&b->ir, cond, ir_block_of(b, yes), ir_block_of(b, no));
    return bc_flow(b, next) && bc_flow(b, jump);
}

static bool branch_on_truth(SsaBuild *b, bool when, int32_t target) {
    Ref value;
    if (!bc_pop(b, &value)) return false;
    return branch(b, bc_emit_truth(b, value), when, target);
}

bool bc_h_jump_if_false(SsaBuild *b, int32_t arg) {
    return branch_on_truth(b, false, arg);
}

bool bc_h_jump_if_true(SsaBuild *b, int32_t arg) {
    return branch_on_truth(b, true, arg);
}

static bool branch_on_none(SsaBuild *b, bool when, int32_t target) {
    Ref value;
    if (!bc_pop(b, &value)) return false;
    Ref none = bc_emit_const(b, const_none(b->arena));
    Ref test = bc_emit(b, OP_binary, (Ref[]){value, none}, 2);
    ir_inst(b->func, test)->sub = OPR_is;
    return branch(b, bc_emit_truth(b, test), when, target);
}

bool bc_h_jump_if_none(SsaBuild *b, int32_t arg) {
    return branch_on_none(b, true, arg);
}

bool bc_h_jump_if_not_none(SsaBuild *b, int32_t arg) {
    return branch_on_none(b, false, arg);
}

/* -- loops ------------------------------------------------------------------------------------ */

bool bc_h_get_iter(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref value;
    if (b->stack[b->depth - 1].kind == SLOT_ITER) return true; /* iter(iterator) is itself */
    if (!bc_pop(b, &value)) return false;
    Ref iter = bc_emit(b, OP_iter, &value, 1);
    Ref zero = bc_emit_const(b, const_int(b->arena, 0));
    int32_t var = slot_var(b, b->depth);
    bc_write(b, var + VAR_VALUE, iter);
    bc_write(b, var + VAR_COUNTER, zero);
    bc_push_kind(b, SLOT_ITER);
    return true;
}

static bool check_iter(SsaBuild *b) {
    if (b->depth < 1) return bc_malformed(b, "the stack is too short");
    if (b->stack[b->depth - 1].kind == SLOT_ITER) return true;
    return bc_unsupported(b, "a loop over an iterator from elsewhere");
}

/* What lies on the stack where a loop is exhausted: that depends on the version. */
typedef enum LoopEnd { END_MARKER, END_NOTHING, END_RESULT, END_RESULT_ONLY } LoopEnd;

static bool push_end(SsaBuild *b, LoopEnd end, Ref test) {
    if (end == END_NOTHING || end == END_RESULT_ONLY) b->depth--;
    if (end == END_NOTHING) return true;
    if (b->depth >= b->limit) return bc_malformed(b, "the stack is too deep");
    if (end == END_MARKER) return bc_push_kind(b, SLOT_NULL), true;
    bool known = ir_inst(b->func, test)->op == OP_iter_more;
    bc_push(b,
            known ? bc_emit(b, OP_iter_result, &test, 1) : bc_emit_const(b, const_none(b->arena)));
    return true;
}

/* Into the body while there is another item. */
static bool loop_test(SsaBuild *b, int32_t target, LoopEnd end) {
    bool known = check_iter(b);
    if (!known && (!b->decoded->all || b->malformed)) return false;
    int32_t var = slot_var(b, b->depth - 1);
    Ref test;
    if (known) {
        Ref of[2] = {bc_read(b, var + VAR_VALUE), bc_read(b, var + VAR_COUNTER)};
        bc_write(b, var + VAR_MORE, test = bc_emit(b, OP_iter_more, of, 2));
    } else {
        test = bc_emit_truth(b, bc_reported(b));
    }
    int32_t body = target_block(b, b->inst + 1), exit = target_block(b, target);
    if (end >= END_RESULT) { /* the result is a value of the way out alone */
        int32_t way = ir_block_new(b->func);
        b_branch(&b->ir, test, ir_block_of(b, body), way);
        if (!bc_flow(b, body)) return false;
        bc_end_block(b);
        b->ir.block = way;
        return push_end(b, end, test) && (b_jump(&b->ir, ir_block_of(b, exit)), bc_flow(b, exit));
    }
    b_branch(&b->ir, test, ir_block_of(b, body), ir_block_of(b, exit));
    return bc_flow(b, body) && push_end(b, end, test) && bc_flow(b, exit);
}

bool bc_h_for_test(SsaBuild *b, int32_t arg) {
    return loop_test(b, arg, END_MARKER);
}

bool bc_h_for_test_pop(SsaBuild *b, int32_t arg) {
    return loop_test(b, arg, END_NOTHING);
}

/* -- generators -------------------------------------------------------------------------------- */

bool bc_h_load_none(SsaBuild *b, int32_t arg) {
    (void)arg;
    bc_push(b, bc_emit_const(b, const_none(b->arena)));
    return true;
}

/* Where a generator has handlers, all its yields raise when it is closed: what leads past one shall do so, too. */
bool bc_h_yield(SsaBuild *b, int32_t arg) {
    Ref args[2];
    (void)arg;
    if (!bc_pop(b, &args[0])) return false;
    bool from = b->inst > 0 && b->decoded->insts.items[b->inst - 1].op == PY_for_item;
    if (from) args[1] = bc_read(b, slot_var(b, b->depth - 1) + VAR_VALUE);
    Ref yield = bc_emit(b, OP_yield, args, 1 + from);
    ir_inst(b->func, yield)->sub = b->cfg->has_handlers ? FLAG_GUARDED : 0;
    bc_push(b, yield);
    return true;
}

bool bc_h_send(SsaBuild *b, int32_t arg) {
    Ref sent;
    return bc_pop(b, &sent) && loop_test(b, arg, END_RESULT);
}

bool bc_h_send_pop(SsaBuild *b, int32_t arg) {
    Ref sent;
    return bc_pop(b, &sent) && loop_test(b, arg, END_RESULT_ONLY);
}

bool bc_h_stop_iteration(SsaBuild *b, int32_t arg) {
    (void)b;
    (void)arg;
    return true;
}

/* What came while a `yield from` was waiting goes on: that no StopIteration is thrown in is left to whoever throws. */
bool bc_h_cleanup_throw(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref exception;
    return bc_pop(b, &exception) && bc_raise_again(b, exception);
}

/* The first operation of a body: no jump leads here, only the test before it. */
bool bc_h_for_item(SsaBuild *b, int32_t arg) {
    (void)arg;
    if (!check_iter(b)) return false;
    int32_t var = slot_var(b, b->depth - 1);
    Ref counter = bc_read(b, var + VAR_COUNTER), more = bc_read(b, var + VAR_MORE);
    Ref item = bc_emit(b, OP_iter_get, &more, 1);
    bc_write(b, var + VAR_COUNTER, bc_emit(b, OP_counter_next, &counter, 1));
    bc_push(b, item);
    return true;
}

/* -- calls ------------------------------------------------------------------------------------ */

/* Takes callee and NULL, in either order, or callee and first argument (`*self`, else NO_REF). */
static bool pop_callee(SsaBuild *b, Ref *callee, Ref *self) {
    *self = NO_REF;
    if (b->stack[b->depth - 1].kind == SLOT_NULL) {
        b->depth--;
        return bc_pop(b, callee);
    }
    if (b->stack[b->depth - 2].kind == SLOT_NULL) {
        if (!bc_pop(b, callee)) return false;
        b->depth--;
        return true;
    }
    return bc_pop(b, self) && bc_pop(b, callee);
}

static bool names_are_strings(const ConstVal *names) {
    if (names->kind != CONST_TUPLE) return false;
    for (int32_t k = 0; k < names->nitems; k++)
        if (names->items[k]->kind != CONST_STR) return false;
    return true;
}

static const Str *intern_names(SsaBuild *b, const ConstVal *names) {
    Str *out = arena_array(b->arena, Str, names->nitems);
    for (int32_t k = 0; k < names->nitems; k++)
        out[k] = *bc_intern(b, names->items[k]->str);
    return out;
}

/* A comprehension with the iterator that lies on it: CPython calls it as a method of that. */
static bool call_comprehension(SsaBuild *b) {
    Ref args[2];
    args[1] = bc_read(b, slot_var(b, b->depth - 1) + VAR_VALUE);
    b->depth--;
    if (!bc_pop(b, &args[0])) return false;
    bc_push(b, bc_emit(b, OP_call_py, args, 2));
    return true;
}

/* A call of `n` values on the stack; the last names->nitems of them have names. */
static bool emit_call(SsaBuild *b, int32_t n, const ConstVal *names) {
    Ref *args = arena_array(b->arena, Ref, n + 2);
    Ref callee, self;
    if (n == 0 && !names && b->stack[b->depth - 1].kind == SLOT_ITER) return call_comprehension(b);
    if (!bc_pop_many(b, args + 2, n) || !pop_callee(b, &callee, &self)) return false;
    if (names && names->nitems > n) return bc_malformed(b, "more keyword names than arguments");
    args[1] = self == NO_REF ? callee : self;
    args[0] = callee;
    Ref ref = self == NO_REF ? bc_emit(b, OP_call_py, args + 1, n + 1)
                             : bc_emit(b, OP_call_py, args, n + 2);
    if (names && names->nitems > 0) {
        ir_inst(b->func, ref)->imm = names->nitems;
        ir_inst(b->func, ref)->u.names = intern_names(b, names);
    }
    bc_push(b, ref);
    return true;
}

bool bc_h_kw_names(SsaBuild *b, int32_t arg) {
    if (!names_are_strings(b->code->consts[arg]))
        return bc_malformed(b, "keyword names are not strings");
    b->kw_names = b->code->consts[arg];
    return true;
}

bool bc_h_call(SsaBuild *b, int32_t arg) {
    const ConstVal *names = b->kw_names;
    b->kw_names = NULL;
    return emit_call(b, arg, names);
}

bool bc_h_call_kw(SsaBuild *b, int32_t arg) {
    Ref top;
    if (!bc_pop(b, &top)) return false;
    const Inst *inst = ir_inst(b->func, top);
    if (inst->op != OP_const || !names_are_strings(inst->u.value))
        return bc_malformed(b, "keyword names are not strings");
    return emit_call(b, arg, inst->u.value);
}

bool bc_h_call_ex(SsaBuild *b, int32_t arg) {
    const Slot *dict = arg ? &b->stack[--b->depth] : NULL;
    const DictItem *item = dict ? dict->items : NULL;
    if (dict && dict->kind != SLOT_NULL && (!dict->named || (item && b->displays_unsure)))
        return bc_unsupported(b, "passing keyword arguments by **");
    b->displays_used |= item != NULL;
    int32_t n = item ? item->n : 0;
    Ref *args = arena_array(b->arena, Ref, n + 2), self;
    Str *names = arena_array(b->arena, Str, n);
    for (int32_t k = n; k-- > 0; item = item->before) {
        args[k + 2] = item->value;
        names[k] = *bc_intern(b, item->name);
    }
    if (!bc_pop(b, &args[1]) || !pop_callee(b, &args[0], &self)) return false;
    if (self != NO_REF) return bc_malformed(b, "NULL is missing in a call with *arguments");
    Ref ref = bc_emit(b, OP_call_star, args, n + 2);
    if (n) {
        ir_inst(b->func, ref)->imm = n;
        ir_inst(b->func, ref)->u.names = names;
    }
    bc_push(b, ref);
    return true;
}

/* -- leaving ---------------------------------------------------------------------------------- */

bool bc_h_return(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref value;
    if (!bc_pop(b, &value)) return false;
    b_return(&b->ir, value);
    return true;
}

bool bc_h_raise(SsaBuild *b, int32_t arg) {
    Ref args[2];
    if (arg == 0) {
        if (b->decoded->handlers.len) return bc_raise_again(b, bc_read(b, b->handled_var));
        bc_unsupported(b, "a raise statement without an exception");
        return b->decoded->all && bc_leave_reported(b);
    }
    if (arg > 2) return bc_malformed(b, "an operand is out of range");
    if (!bc_pop_many(b, args, arg)) return false;
    bc_emit(b, OP_raise_py, args, arg);
    return true;
}

/* -- patterns ----------------------------------------------------------------------------------------- */

bool bc_h_match_sequence(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref args[2],
        sequences[] = {bc_builtin(b, "list"), bc_builtin(b, "tuple"), bc_builtin(b, "range")};
    if (!bc_pop(b, &args[0])) return false;
    bc_push(b, args[0]);
    args[1] = bc_emit(b, OP_build_tuple, sequences, countof(sequences));
    return bc_push(b, bc_call_builtin(b, "isinstance", args, 2)), true;
}

bool bc_h_match_mapping(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref args[2];
    if (!bc_pop(b, &args[0])) return false;
    bc_push(b, args[0]);
    args[1] = bc_builtin(b, "dict");
    return bc_push(b, bc_call_builtin(b, "isinstance", args, 2)), true;
}

bool bc_h_match_keys(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref args[2];
    if (!bc_pop_many(b, args, 2)) return false;
    bc_push(b, args[0]);
    bc_push(b, args[1]);
    return bc_push(b, bc_call_builtin(b, "primitive.match_keys", args, 2)), true;
}

bool bc_h_match_class(SsaBuild *b, int32_t arg) {
    Ref args[3], all[4];
    if (!bc_pop_many(b, args, 3)) return false;
    all[0] = args[0], all[1] = args[1], all[3] = args[2];
    all[2] = bc_emit_const(b, const_int(b->arena, arg));
    return bc_push(b, bc_call_builtin(b, "primitive.match_class", all, 4)), true;
}

bool bc_h_get_len(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref value;
    if (!bc_pop(b, &value)) return false;
    bc_push(b, value);
    return bc_push(b, bc_call_builtin(b, "len", &value, 1)), true;
}
