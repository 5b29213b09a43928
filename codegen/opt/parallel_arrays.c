/* parallel_arrays.c - `array += x` in a parallel loop: each chunk has an array of its own, which starts from what
 * changes nothing; afterwards they are combined with the shared one, in the order of the chunks. */
#include "codegen/opt/parallel.h"

const ConstVal *reduction_identity(Arena *arena, CarriedKind kind, const Type *type) {
    double real = kind == CARRIED_ADD ? -0.0 : 1.0; /* x + -0.0 is x for every x */
    bool ones = kind == CARRIED_AND, one = kind == CARRIED_MULTIPLY;
    ConstVal *value = arena_new(arena, ConstVal);
    *value = (ConstVal){.kind = CONST_INT, .i = one ? 1 : ones ? -1 : 0};
    if (ones && type_class(type) == CLASS_UINT && type_bits(type) < 64)
        value->i = (INT64_C(1) << type_bits(type)) - 1;
    value->is_unsigned = type_class(type) == CLASS_UINT && value->i < 0;
    if (type_is_float(type)) *value = (ConstVal){.kind = CONST_FLOAT, .re = real};
    if (type_is_complex(type))
        *value =
            (ConstVal){.kind = CONST_COMPLEX, .re = real, .im = kind == CARRIED_ADD ? -0.0 : 0.0};
    if (type->kind == TY_bool) *value = (ConstVal){.kind = CONST_BOOL, .i = one || ones};
    return value;
}

const Type *shared_parts_type(TypeTable *types, const Type *array) {
    return type_array(types, array->element, array->ndim + 1,
                      array->layout == LAYOUT_F ? LAYOUT_F : LAYOUT_C);
}

Ref shared_part(Builder *b, Ref parts, Ref chunk, const Type *array) {
    char *items = arena_array(b->func->module->arena, char, array->ndim + 1);
    memset(items, 'f', (size_t)array->ndim + 1);
    items[array->layout == LAYOUT_F ? array->ndim : 0] = 'i';
    Str *name = arena_new(b->func->module->arena, Str);
    *name = str_copy(b->func->module->arena, items, (size_t)array->ndim + 1);
    Ref part = b_op2(b, OP_view, array, parts, chunk);
    ir_inst(b->func, part)->u.name = name;
    return part;
}

/* -- functions of numbers ----------------------------------------------------------------------- */

static Func *new_function(Module *module, const char *name, const Type *type, int32_t nparams) {
    Arena *arena = module->arena;
    Str full = str_printf(arena, "%s.%d", name, (int)module->funcs.len);
    Func *func = ir_func_new(module, full, true);
    Str *names = arena_array(arena, Str, nparams);
    func->user_name = full;
    func->nparams = nparams;
    func->param_types = arena_array(arena, const Type *, nparams);
    func->param_names = names;
    func->result = type;
    ir_block_new(func);
    for (int32_t i = 0; i < nparams; i++) {
        Ref param = ir_append(func, 0, OP_param, NULL, 0);
        ir_inst(func, param)->imm = i;
        ir_inst(func, param)->type = func->param_types[i] = type;
        names[i] = str_printf(arena, "x%d", (int)i);
    }
    return func;
}

Func *copy_function(Module *module, const Type *type) {
    Func *func = new_function(module, "copy", type, 1);
    Builder b = {.func = func, .at = -1, .error = NO_BLOCK};
    b_return(&b, func->blocks.items[0].insts.items[0]);
    return func;
}

Func *combining_function(Module *module, CarriedKind kind, const Type *type) {
    static const Op ops[] = {[CARRIED_ADD] = OP_add,
                             [CARRIED_MULTIPLY] = OP_mul,
                             [CARRIED_XOR] = OP_xor,
                             [CARRIED_AND] = OP_and,
                             [CARRIED_OR] = OP_or};
    Func *func = new_function(module, "combine", type, 2);
    const Block *block = &func->blocks.items[0];
    Builder b = {.func = func, .at = -1, .error = NO_BLOCK};
    b_return(&b, b_op2(&b, ops[kind], type, block->insts.items[0], block->insts.items[1]));
    return func;
}
