/* expand_emit.c - pieces of code that the expansion of whole-array ops is made of. */
#include "codegen/opt/expand.h"

Ref em_int(Emit *e, int64_t value) {
    return ir_const_int(e->func, e->i64, value);
}

Ref em_length(Emit *e, Ref array, int axis) {
    Ref length = b_op1(&e->b, OP_shape, e->i64, array);
    ir_inst(e->func, length)->imm = axis;
    return length;
}

Ref em_op2(Emit *e, Op op, Ref a, Ref b) {
    bool compares = ir_op_info[op].result == RES_BOOL;
    return b_op2(&e->b, op, compares ? e->boolean : e->i64, a, b);
}

Ref em_add_nowrap(Emit *e, Ref a, Ref b) {
    Ref sum = em_op2(e, OP_add, a, b);
    ir_inst(e->func, sum)->sub = FLAG_NOWRAP;
    return sum;
}

Ref em_and(Emit *e, Ref a, Ref b) {
    return a ? b_op2(&e->b, OP_and, e->boolean, a, b) : b;
}

Ref em_or(Emit *e, Ref a, Ref b) {
    return a ? b_op2(&e->b, OP_or, e->boolean, a, b) : b;
}

Ref em_raising(Emit *e, Op op, const Type *type, const Ref *args, int32_t nargs) {
    Ref ref = b_inst(&e->b, op, type, args, nargs);
    b_continue(&e->b);
    return ref;
}

Ref em_call(Emit *e, Func *func, const Ref *args, int32_t nargs) {
    Ref call = b_inst(&e->b, OP_call, func->result, args, nargs);
    ir_inst(e->func, call)->u.func = func;
    b_continue(&e->b);
    return call;
}

bool em_is_array(const Emit *e, Ref ref) {
    return ir_type(e->func, ref)->kind == TY_ARRAY;
}

bool em_without_heap(const PassContext *ctx) {
    return ctx->options->entry == ENTRY_KERNEL || !target_is_host(ctx->options->infer.target);
}

int32_t em_block(Emit *e) {
    return ir_block_new(e->func);
}

/* -- loops --------------------------------------------------------------------------------------- */

void em_loop(Emit *e, EmitLoop *loop, Ref limit, Ref carried) {
    int32_t body = em_block(e);
    loop->rolled = false;
    loop->header = em_block(e);
    loop->exit = em_block(e);
    b_jump(&e->b, loop->header);
    e->b.block = loop->header;
    loop->counter = b_phi(&e->b, e->i64);
    ir_add_arg(e->func, loop->counter, em_int(e, 0));
    loop->carried = NO_REF;
    if (carried) {
        loop->carried = b_phi(&e->b, ir_type(e->func, carried));
        ir_add_arg(e->func, loop->carried, carried);
    }
    b_branch(&e->b, em_op2(e, OP_lt, loop->counter, limit), body, loop->exit);
    e->b.block = body;
}

void em_loop_end(Emit *e, EmitLoop *loop, Ref carried) {
    em_raising(e, OP_poll, NULL, NULL, 0);
    em_close(e, loop, carried);
}

void em_close(Emit *e, EmitLoop *loop, Ref carried) {
    Ref next = em_add_nowrap(e, loop->counter, em_int(e, 1));
    int32_t latch = e->b.block;
    b_jump(&e->b, loop->header);
    if (loop->rolled) ir_inst(e->func, ir_terminator(e->func, latch))->sub = FLAG_ROLLED;
    ir_add_arg(e->func, loop->counter, next);
    if (loop->carried) ir_add_arg(e->func, loop->carried, carried);
    e->b.block = loop->exit;
}

/* -- the function of an element ------------------------------------------------------------------- */

static bool is_one_block(const Func *func) {
    int32_t blocks = 0;
    for (int32_t b = 0; b < func->blocks.len; b++)
        blocks += !func->blocks.items[b].removed;
    return blocks == 1;
}

/* Constants stand in the entry, which every use is behind. */
Ref em_constant(Emit *e, const Inst *inst) {
    const ConstVal *value = inst->u.value;
    if (value->kind == CONST_FLOAT) return ir_const_float(e->func, inst->type, value->re);
    if (value->kind == CONST_BOOL || (value->kind == CONST_INT && !value->is_unsigned))
        return ir_const_int(e->func, inst->type, value->i);
    const Block *entry = &e->func->blocks.items[0];
    int32_t at = 0;
    while (at < entry->insts.len && ir_inst(e->func, entry->insts.items[at])->op == OP_param)
        at++;
    Ref ref = ir_insert(e->func, 0, at, OP_const, NULL, 0);
    ir_inst(e->func, ref)->type = inst->type;
    ir_inst(e->func, ref)->u.value = value;
    return ref;
}

static bool may_raise(const Inst *inst) {
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    return (ir_op_info[inst->op].flags & OPF_RAISES) && !(row && (row->flags & LIB_PURE));
}

static Ref copy_inst(Emit *e, const Func *from, Ref old, const Ref *map) {
    Inst inst = *ir_inst(from, old);
    Ref *args = arena_array(e->ctx->arena, Ref, inst.nargs + 1);
    for (int32_t k = 0; k < inst.nargs; k++)
        args[k] = map[ir_arg(from, old, k)];
    Ref ref = b_inst(&e->b, (Op)inst.op, inst.type, args, inst.nargs);
    Inst *fresh = ir_inst(e->func, ref);
    fresh->sub = inst.sub, fresh->imm = inst.imm, fresh->u = inst.u;
    if (!may_raise(&inst)) fresh->error = NO_BLOCK;
    b_continue(&e->b);
    return ref;
}

static Ref inlined(Emit *e, const Func *element, const Ref *args) {
    Ref *map = arena_array(e->ctx->arena, Ref, element->insts.len);
    const Block *block = &element->blocks.items[0];
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref ref = block->insts.items[i];
        const Inst *inst = ir_inst(element, ref);
        if (inst->op == OP_return) return map[ir_arg(element, ref, 0)];
        if (inst->op == OP_param)
            map[ref] = args[inst->imm];
        else if (inst->op == OP_const)
            map[ref] = em_constant(e, inst);
        else
            map[ref] = copy_inst(e, element, ref, map);
    }
    return NO_REF;
}

Ref em_apply(Emit *e, Func *element, const Ref *args, int32_t nargs) {
    if (!element) return args[0];
    Ref last = ir_terminator(element, 0);
    if (is_one_block(element) && last && ir_inst(element, last)->op == OP_return)
        return inlined(e, element, args);
    return em_call(e, element, args, nargs);
}

/* -- functions -------------------------------------------------------------------------------------- */

static bool is_taken(const Module *module, Str name) {
    for (int32_t i = 0; i < module->funcs.len; i++)
        if (str_equal(module->funcs.items[i]->name, name)) return true;
    return false;
}

static Str free_name(const Module *module, const Func *of, const char *what) {
    Str name;
    int n = module->funcs.len;
    do
        name = str_printf(module->arena, STR_FMT ".%s%d", STR_ARG(of->name), what, n++);
    while (is_taken(module, name));
    return name;
}

Func *em_function(Emit *e, const Emit *from, const char *what, const Type *const *types, int32_t n,
                  const Type *result) {
    Module *module = from->func->module;
    Arena *arena = module->arena;
    const Func *old = from->func;
    *e = *from;
    e->func = ir_func_part(old, free_name(module, old, what));
    Func *func = e->func;
    func->nparams = n;
    func->result = result;
    func->param_types = arena_copy(arena, types, sizeof *types * (size_t)n);
    Str *names = arena_array(arena, Str, n + 1);
    for (int32_t k = 0; k < n; k++)
        names[k] = str_printf(arena, "p%d", (int)k);
    func->param_names = names;
    e->b = (Builder){.func = func, .block = ir_block_new(func), .at = -1, .error = NO_BLOCK};
    if (from->b.span) e->b.span = ir_span_add(func, old->spans.items[from->b.span]);
    for (int32_t k = 0; k < n; k++) {
        Ref param = ir_append(func, 0, OP_param, NULL, 0);
        ir_inst(func, param)->imm = k;
        ir_inst(func, param)->type = types[k];
    }
    return func;
}

/* They are the first instructions. */
Ref em_param(Emit *e, int32_t k) {
    (void)e;
    return 1 + k;
}

Ref em_none(Emit *e) {
    Module *module = e->func->module;
    return b_const(&e->b, type_scalar(module->types, TY_none), const_none(module->arena));
}
