/* ufunc_kernel.c - a grid-stride kernel round a scalar function, made in typed IR, so that every target and
 * every pass treats it as if the user had written it:
 *
 *     def kernel(x, y, out):
 *         for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
 *             out[i] = f(x[i], y[i])
 *
 * The arrays have one axis and any stride: 0 repeats a scalar. */
#include "codegen/ufunc_kernel.h"

static const Type *i64_type(const Module *m) {
    return type_scalar(m->types, TY_i64);
}

static Ref coordinate(Builder *b, const char *name) {
    Module *m = b->func->module;
    Ref ref = b_inst(b, OP_lib, i64_type(m), NULL, 0);
    Str *kept = arena_new(m->arena, Str);
    *kept = str_copy(m->arena, name, strlen(name));
    ir_inst(b->func, ref)->u.name = kept;
    ir_inst(b->func, ref)->imm = lib_find(*kept);
    return ref;
}

/* funcs[0], ahead of the scalar function. */
static Func *make_function(Module *m, const Func *scalar) {
    Func *kernel = ir_func_new(m, STR("ufunc kernel"), true);
    for (int32_t i = m->funcs.len - 1; i > 0; i--)
        m->funcs.items[i] = m->funcs.items[i - 1];
    m->funcs.items[0] = kernel;
    int32_t n = scalar->nparams + 1;
    const Type **types = arena_array(m->arena, const Type *, n);
    Str *names = arena_array(m->arena, Str, n);
    for (int32_t i = 0; i < n; i++) {
        const Type *element = i < scalar->nparams ? scalar->param_types[i] : scalar->result;
        types[i] = type_array(m->types, element, 1, LAYOUT_A);
        names[i] = i < scalar->nparams ? scalar->param_names[i] : STR("out");
    }
    kernel->nparams = n;
    kernel->param_types = types;
    kernel->param_names = names;
    kernel->result = type_scalar(m->types, TY_none);
    kernel->user_name = scalar->user_name;
    kernel->file = scalar->file;
    return kernel;
}

static void build(Module *m, Func *kernel, Func *scalar) {
    enum { ENTRY, HEAD, BODY, EXIT };
    const Type *i64 = i64_type(m);
    int32_t n = scalar->nparams;
    Ref *arrays = arena_array(m->arena, Ref, n + 1), *args = arena_array(m->arena, Ref, n + 1);
    while (kernel->blocks.len <= EXIT)
        ir_block_new(kernel);
    Builder b = {.func = kernel, .block = ENTRY, .at = -1, .error = NO_BLOCK};
    for (int32_t i = 0; i <= n; i++) {
        arrays[i] = b_inst(&b, OP_param, kernel->param_types[i], NULL, 0);
        ir_inst(kernel, arrays[i])->imm = i;
    }
    Ref width = coordinate(&b, "cuda.blockDim.x");
    Ref first = b_op2(&b, OP_mul, i64, coordinate(&b, "cuda.blockIdx.x"), width);
    first = b_op2(&b, OP_add, i64, first, coordinate(&b, "cuda.threadIdx.x"));
    Ref step = b_op2(&b, OP_mul, i64, coordinate(&b, "cuda.gridDim.x"), width);
    Ref length = b_op1(&b, OP_shape, i64, arrays[n]);
    Ref none = b_const(&b, kernel->result, const_none(m->arena));
    b_jump(&b, HEAD);
    b.block = HEAD;
    Ref i = b_phi(&b, i64);
    b_branch(&b, b_op2(&b, OP_lt, type_scalar(m->types, TY_bool), i, length), BODY, EXIT);
    b.block = BODY;
    for (int32_t k = 0; k < n; k++)
        args[k] = b_op2(&b, OP_load, scalar->param_types[k], arrays[k], i);
    Ref value = b_inst(&b, OP_call, scalar->result, args, n);
    ir_inst(kernel, value)->u.func = scalar;
    b_op3(&b, OP_store, NULL, arrays[n], i, value);
    Ref next = b_op2(&b, OP_add, i64, i, step);
    ir_inst(kernel, next)->sub = FLAG_NOWRAP; /* a length and a grid are far below 2^62 */
    b_jump(&b, HEAD);
    ir_add_arg(kernel, i, first);
    ir_add_arg(kernel, i, next);
    b.block = EXIT;
    b_return(&b, none);
}

bool cg_make_ufunc_kernel(Module *module) {
    Func *scalar = module->funcs.items[0];
    bool fits = type_is_number(scalar->result);
    for (int32_t i = 0; i < scalar->nparams; i++)
        fits = fits && type_is_number(scalar->param_types[i]);
    if (!fits)
        return diag_add(module->diags, E0501, NULL, "a ufunc takes numbers and returns one number");
    build(module, make_function(module, scalar), scalar);
    return true;
}
