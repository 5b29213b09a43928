/* cg_gen.c - the generators of tables/generators.def: rows of the library that are neither an intrinsic
 * nor a function of a library.
 *
 * The table at the end is made from generators.def, so a row without a function here does not compile.
 * What only makes sense in a kernel is asked of the target. */
#include "codegen/llvm/cg.h"
#include "codegen/product.h"
#include <stdio.h>

static LType result_type(Cg *cg, const LibCall *call) {
    return cg_scalar_type(cg, call->inst->type->kind);
}

/* -- order ------------------------------------------------------------------------------------ */

static Value pick(Cg *cg, const LibCall *call, bool larger) {
    const Type *type = call->types[0];
    Value best = call->args[0][0];
    for (int i = 1; i < call->nargs; i++) {
        Value v = call->args[i][0];
        Value wins = larger ? cg_compare(cg, OP_lt, type, &best, type, &v)
                            : cg_compare(cg, OP_lt, type, &v, type, &best);
        best = LLVMBuildSelect(cg->b, wins, v, best, "");
    }
    return best;
}

static void gen_min(Cg *cg, LibCall *call) {
    call->out[0] = pick(cg, call, false);
}
static void gen_max(Cg *cg, LibCall *call) {
    call->out[0] = pick(cg, call, true);
}

static Value propagating(Cg *cg, const LibCall *call, LLVMRealPredicate first_wins) {
    Value a = call->args[0][0], b = call->args[1][0];
    Value wins = LLVMBuildFCmp(cg->b, first_wins, a, b, "");
    wins = LLVMBuildOr(cg->b, wins, cg_float_class(cg, a, "nan"), "");
    return LLVMBuildSelect(cg->b, wins, a, b, "");
}

/* In a reduction: LLVM knows this form of it, and vectorises the loop. */
static bool in_any_order(Cg *cg, LibCall *call, const char *intrinsic) {
    if (call->inst->sub != FLAG_ANY_ZERO) return false;
    Value v = cg_intrinsic2(cg, intrinsic, call->args[0][0], call->args[1][0]);
    LLVMSetFastMathFlags(v, LLVMGetFastMathFlags(v) | LLVMFastMathNoSignedZeros);
    call->out[0] = v;
    return true;
}

static void gen_maximum(Cg *cg, LibCall *call) {
    if (in_any_order(cg, call, "llvm.maximum")) return;
    call->out[0] = propagating(cg, call, LLVMRealOGE);
}
static void gen_minimum(Cg *cg, LibCall *call) {
    if (in_any_order(cg, call, "llvm.minimum")) return;
    call->out[0] = propagating(cg, call, LLVMRealOLE);
}

static void gen_sign(Cg *cg, LibCall *call) {
    Value x = call->args[0][0];
    LType type = LLVMTypeOf(x);
    if (type_is_float(call->types[0])) {
        Value zero = cg_real(type, 0.0), one = cg_real(type, 1.0), minus = cg_real(type, -1.0);
        Value r =
            LLVMBuildSelect(cg->b, LLVMBuildFCmp(cg->b, LLVMRealOEQ, x, zero, ""), zero, x, "");
        r = LLVMBuildSelect(cg->b, LLVMBuildFCmp(cg->b, LLVMRealOLT, x, zero, ""), minus, r, "");
        call->out[0] =
            LLVMBuildSelect(cg->b, LLVMBuildFCmp(cg->b, LLVMRealOGT, x, zero, ""), one, r, "");
        return;
    }
    Value zero = cg_int(type, 0);
    bool is_signed = type_class(call->types[0]) == CLASS_SINT;
    Value above = LLVMBuildICmp(cg->b, is_signed ? LLVMIntSGT : LLVMIntNE, x, zero, "");
    Value r = LLVMBuildZExt(cg->b, above, type, "");
    if (is_signed)
        r = LLVMBuildSelect(cg->b, LLVMBuildICmp(cg->b, LLVMIntSLT, x, zero, ""), cg_int(type, -1),
                            r, "");
    call->out[0] = r;
}

/* -- parts of numbers ------------------------------------------------------------------------- */

static void gen_abs(Cg *cg, LibCall *call) {
    Value *x = call->args[0];
    const Type *type = call->types[0];
    if (type_is_complex(type))
        call->out[0] = cg_hypot(cg, x[0], x[1]);
    else if (type_is_float(type))
        call->out[0] = cg_intrinsic1(cg, "llvm.fabs", x[0]);
    else if (type_class(type) == CLASS_SINT)
        call->out[0] = cg_intrinsic(cg, "llvm.abs", (LType[]){LLVMTypeOf(x[0])}, 1,
                                    (Value[]){x[0], cg_bool(cg, false)}, 2);
    else
        call->out[0] = x[0];
}

static void gen_hypot(Cg *cg, LibCall *call) {
    call->out[0] = cg_hypot(cg, call->args[0][0], call->args[1][0]);
}

static void to_int(Cg *cg, LibCall *call, const char *rounding) {
    Value whole = cg_intrinsic1(cg, rounding, call->args[0][0]);
    call->out[0] = cg_cast_scalar(cg, call->types[0]->kind, whole, call->inst->type->kind);
}

static void gen_round_to_int(Cg *cg, LibCall *call) {
    to_int(cg, call, "llvm.roundeven");
}
static void gen_floor_to_int(Cg *cg, LibCall *call) {
    to_int(cg, call, "llvm.floor");
}
static void gen_ceil_to_int(Cg *cg, LibCall *call) {
    to_int(cg, call, "llvm.ceil");
}

/* All parts, or some part, of the class. */
static void classify(Cg *cg, LibCall *call, const char *what, bool all) {
    Value r = cg_float_class(cg, call->args[0][0], what);
    if (type_is_complex(call->types[0])) {
        Value im = cg_float_class(cg, call->args[0][1], what);
        r = all ? LLVMBuildAnd(cg->b, r, im, "") : LLVMBuildOr(cg->b, r, im, "");
    }
    call->out[0] = r;
}

static void gen_isfinite(Cg *cg, LibCall *call) {
    classify(cg, call, "finite", true);
}
static void gen_isinf(Cg *cg, LibCall *call) {
    classify(cg, call, "inf", false);
}
static void gen_isnan(Cg *cg, LibCall *call) {
    classify(cg, call, "nan", false);
}

static Value float_bits(Cg *cg, Value x) {
    LType type = LLVMTypeOf(x);
    return LLVMBuildBitCast(cg->b, x,
                            type == cg->f64   ? cg->i64
                            : type == cg->f32 ? cg->i32
                                              : cg->i16,
                            "");
}

static void gen_bits(Cg *cg, LibCall *call) {
    LType type = cg_scalar_type(cg, call->inst->type->kind);
    call->out[0] = LLVMBuildBitCast(cg->b, call->args[0][0], type, "");
}

static void gen_signbit(Cg *cg, LibCall *call) {
    Value bits = float_bits(cg, call->args[0][0]);
    call->out[0] = LLVMBuildICmp(cg->b, LLVMIntSLT, bits, cg_int(LLVMTypeOf(bits), 0), "");
}

static void gen_conj(Cg *cg, LibCall *call) {
    call->out[0] = call->args[0][0];
    call->out[1] = LLVMBuildFNeg(cg->b, call->args[0][1], "");
}

static void gen_zero(Cg *cg, LibCall *call) {
    LType types[2];
    int32_t n = type_is_scalar(call->inst->type) ? cg_leaf_types(cg, call->inst->type, types) : 0;
    for (int32_t i = 0; i < n; i++)
        call->out[i] = LLVMConstNull(types[i]);
}

static void gen_rem(Cg *cg, LibCall *call) {
    bool is_signed = type_class(call->types[0]) == CLASS_SINT;
    call->out[0] = cg_int_rem(cg, is_signed, call->args[0][0], call->args[1][0]);
}

static void gen_ldexp(Cg *cg, LibCall *call) {
    const Type *type = call->types[1];
    Value n = call->args[1][0], most = cg_int(cg->i64, 100000), least = cg_int(cg->i64, -100000);
    bool is_signed = type_class(type) == CLASS_SINT;
    if (type_bits(type) < 64)
        n = is_signed ? LLVMBuildSExt(cg->b, n, cg->i64, "") : LLVMBuildZExt(cg->b, n, cg->i64, "");
    if (is_signed || type_bits(type) < 64)
        n = cg_intrinsic2(cg, "llvm.smax", cg_intrinsic2(cg, "llvm.smin", n, most), least);
    else
        n = cg_intrinsic2(cg, "llvm.umin", n, most);
    Value args[] = {call->args[0][0], LLVMBuildTrunc(cg->b, n, cg->i32, "")};
    call->out[0] = cg_math(cg, "ldexp", args, 2);
}

/* By bits: the exponent field becomes that of [0.5, 1); subnormals are scaled up first. */
static void gen_frexp(Cg *cg, LibCall *call) {
    Value x = call->args[0][0];
    bool half = LLVMTypeOf(x) == cg->f16;
    if (half) x = LLVMBuildFPExt(cg->b, x, cg->f32, "");
    LType type = LLVMTypeOf(x);
    bool wide = type == cg->f64;
    LType bt = wide ? cg->i64 : cg->i32;
    int fraction = wide ? 52 : 23, bias = wide ? 1022 : 126, scale = wide ? 54 : 25;
    uint64_t field = wide ? 0x7ff : 0xff;
    Value tiny = LLVMBuildFCmp(cg->b, LLVMRealOLT, cg_intrinsic1(cg, "llvm.fabs", x),
                               cg_real(type, wide ? 0x1p-1022 : 0x1p-126), "");
    Value scaled = LLVMBuildFMul(cg->b, x, cg_real(type, wide ? 0x1p54 : 0x1p25), "");
    Value y = LLVMBuildSelect(cg->b, tiny, scaled, x, "");
    Value bits = float_bits(cg, y), mask = LLVMConstInt(bt, field << fraction, false);
    Value e = LLVMBuildLShr(cg->b, LLVMBuildAnd(cg->b, bits, mask, ""), cg_int(bt, fraction), "");
    e = LLVMBuildSub(
        cg->b, e, LLVMBuildSelect(cg->b, tiny, cg_int(bt, bias + scale), cg_int(bt, bias), ""), "");
    Value cleared = LLVMBuildAnd(cg->b, bits, LLVMBuildNot(cg->b, mask, ""), "");
    Value image =
        LLVMBuildOr(cg->b, cleared, LLVMConstInt(bt, (uint64_t)bias << fraction, false), "");
    Value m = LLVMBuildBitCast(cg->b, image, type, "");
    Value zero = LLVMBuildFCmp(cg->b, LLVMRealOEQ, x, cg_real(type, 0.0), "");
    Value finite = cg_float_class(cg, x, "finite");
    Value plain = LLVMBuildOr(cg->b, zero, LLVMBuildNot(cg->b, finite, ""), "");
    m = LLVMBuildSelect(cg->b, plain, x, m, "");
    LType types[2];
    cg_leaf_types(cg, call->inst->type, types);
    e = LLVMBuildSelect(cg->b, plain, cg_int(bt, 0), e, "");
    call->out[0] = half ? LLVMBuildFPTrunc(cg->b, m, cg->f16, "") : m;
    call->out[1] = LLVMBuildIntCast2(cg->b, e, types[1], true, "");
}

/* -- bits ------------------------------------------------------------------------------------- */

static Value resize(Cg *cg, const LibCall *call, Value n) {
    return LLVMBuildIntCast2(cg->b, n, result_type(cg, call), false, "");
}

static Value count_zeros(Cg *cg, const char *name, Value x) {
    LType type = LLVMTypeOf(x);
    return cg_intrinsic(cg, name, &type, 1, (Value[]){x, cg_bool(cg, false)}, 2);
}

static void gen_popc(Cg *cg, LibCall *call) {
    call->out[0] = resize(cg, call, cg_intrinsic1(cg, "llvm.ctpop", call->args[0][0]));
}
static void gen_clz(Cg *cg, LibCall *call) {
    call->out[0] = resize(cg, call, count_zeros(cg, "llvm.ctlz", call->args[0][0]));
}
static void gen_ffs(Cg *cg, LibCall *call) {
    Value x = call->args[0][0],
          none = LLVMBuildICmp(cg->b, LLVMIntEQ, x, cg_int(LLVMTypeOf(x), 0), "");
    Value n = LLVMBuildAdd(cg->b, count_zeros(cg, "llvm.cttz", x), cg_int(LLVMTypeOf(x), 1), "");
    call->out[0] = resize(cg, call, LLVMBuildSelect(cg->b, none, cg_int(LLVMTypeOf(x), 0), n, ""));
}

/* -- kernels ---------------------------------------------------------------------------------- */

static void coordinate(Cg *cg, LibCall *call, GridValue which, int axis) {
    call->out[0] = resize(cg, call, cg->target->grid(cg, which, axis));
}

#define COORDINATE(name, which)                                                                    \
    static void gen_##name##_x(Cg *cg, LibCall *call) {                                            \
        coordinate(cg, call, which, 0);                                                            \
    }                                                                                              \
    static void gen_##name##_y(Cg *cg, LibCall *call) {                                            \
        coordinate(cg, call, which, 1);                                                            \
    }                                                                                              \
    static void gen_##name##_z(Cg *cg, LibCall *call) {                                            \
        coordinate(cg, call, which, 2);                                                            \
    }
COORDINATE(thread, GRID_THREAD)
COORDINATE(block, GRID_BLOCK)
COORDINATE(blockdim, GRID_BLOCK_DIM)
COORDINATE(griddim, GRID_GRID_DIM)
#undef COORDINATE

static void of_target(Cg *cg, LibCall *call, int gen) {
    if (!cg->target->generate(cg, gen, call) && !cg->failed)
        cg_error(cg, "%s is not available here on the target %s", call->row->name,
                 cg->target->name);
}

#define OF_TARGET(name)                                                                            \
    static void gen_##name(Cg *cg, LibCall *call) {                                                \
        of_target(cg, call, GEN_##name);                                                           \
    }
OF_TARGET(lane)
OF_TARGET(warpsize)
OF_TARGET(barrier)
OF_TARGET(barrier_count)
OF_TARGET(barrier_and)
OF_TARGET(barrier_or)
OF_TARGET(syncwarp)
OF_TARGET(fence_device)
OF_TARGET(fence_block)
OF_TARGET(fence_system)
OF_TARGET(shfl_idx)
OF_TARGET(shfl_up)
OF_TARGET(shfl_down)
OF_TARGET(shfl_xor)
OF_TARGET(vote_all)
OF_TARGET(vote_any)
OF_TARGET(vote_eq)
OF_TARGET(vote_ballot)
OF_TARGET(match_any)
OF_TARGET(match_all)
OF_TARGET(activemask)
OF_TARGET(lanemask_lt)
OF_TARGET(nanosleep)
#undef OF_TARGET

static void gen_grid_barrier(Cg *cg, LibCall *call) {
    cg->cooperative = true;
    of_target(cg, call, GEN_grid_barrier);
}

static void gen_together(Cg *cg, LibCall *call) {
    (void)call;
    cg->cooperative = true;
}

/* -- matrices --------------------------------------------------------------------------------- */

static ProductKind product_kind(const Type *element) {
    static const ProductKind ints[] = {
        [1] = PRODUCT_U8, [2] = PRODUCT_U16, [4] = PRODUCT_U32, [8] = PRODUCT_U64};
    int32_t size = type_size(element);
    if (element->kind == TY_bool) return PRODUCT_BOOL;
    if (type_is_complex(element)) return size == 8 ? PRODUCT_C64 : PRODUCT_C128;
    if (type_is_float(element))
        return size == 4 ? PRODUCT_F32 : size == 8 ? PRODUCT_F64 : PRODUCT_KINDS;
    return ints[size];
}

/* Address, step from row to row, step from column to column. */
static void matrix_arguments(Cg *cg, ArrayLeaves *array, bool column, Value *out) {
    bool matrix = array->type->ndim > 1;
    Value step = cg_array_stride(cg, array, 0),
          none = cg_int(cg->i64, type_size(array->type->element));
    out[0] = array->data;
    out[1] = matrix || column ? step : none;
    out[2] = matrix ? cg_array_stride(cg, array, 1) : column ? none : step;
}

/* quern_product for matrices of these shapes. */
static Value call_product(Cg *cg, const Type *element, const Value *sizes, const Value *matrices) {
    Value args[13] = {cg_int(cg->i64, product_kind(element))};
    if (product_kind(element) == PRODUCT_KINDS)
        cg_error(cg, "no product of %s", type_name_of_kind((TypeKind)element->kind));
    memcpy(args + 1, sizes, 3 * sizeof *sizes);
    memcpy(args + 4, matrices, 9 * sizeof *matrices);
    return cg_call_extern(cg, "quern_product", cg->i64, args, 13);
}

static void gen_product(Cg *cg, LibCall *call) {
    ArrayLeaves arrays[3];
    Value matrices[9];
    for (int i = 0; i < 3; i++) {
        cg_array_open(cg, call->types[i], call->args[i], &arrays[i]);
        matrix_arguments(cg, &arrays[i], false, matrices + 3 * i);
    }
    Value sizes[] = {arrays[0].shape[0], arrays[0].shape[1], arrays[1].shape[1]};
    Value status = call_product(cg, call->types[0]->element, sizes, matrices);
    call->out[0] = LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i64, 0), "");
}

/* A row times a column; needs no memory. */
static void gen_dot(Cg *cg, LibCall *call) {
    const Type *element = call->types[0]->element;
    ArrayLeaves arrays[2];
    Value matrices[9], one = cg_int(cg->i64, 1), size = cg_int(cg->i64, type_size(element));
    for (int i = 0; i < 2; i++) {
        cg_array_open(cg, call->types[i], call->args[i], &arrays[i]);
        matrix_arguments(cg, &arrays[i], i == 1, matrices + 3 * (i + 1));
    }
    Value result = cg_alloca(cg, LLVMArrayType2(cg->f64, 2), "dot");
    matrices[0] = result, matrices[1] = matrices[2] = size;
    call_product(cg, element, (Value[]){one, one, arrays[0].shape[0]}, matrices);
    cg_load_scalar(cg, element->kind, result, (unsigned)QN_MIN(type_size(element), 8), call->out);
}

/* A function of linear_systems.h: kind, number of rows, the columns of a second matrix, and the data of each. */
static void linear_call(Cg *cg, LibCall *call, const char *function) {
    ArrayLeaves arrays[2];
    Value args[5] = {cg_int(cg->i64, product_kind(call->types[0]->element))};
    for (int i = 0; i < call->nargs; i++)
        cg_array_open(cg, call->types[i], call->args[i], &arrays[i]);
    int n = 1;
    args[n++] = arrays[0].shape[0];
    if (call->nargs > 1) args[n++] = arrays[1].shape[1];
    for (int i = 0; i < call->nargs; i++)
        args[n++] = arrays[i].data;
    call->out[0] = cg_call_extern(cg, function, cg->i64, args, n);
}

static void gen_cholesky(Cg *cg, LibCall *call) {
    linear_call(cg, call, "quern_cholesky");
}
static void gen_lu(Cg *cg, LibCall *call) {
    linear_call(cg, call, "quern_lu");
}
static void gen_solve(Cg *cg, LibCall *call) {
    linear_call(cg, call, "quern_solve");
}

/* "primitive.svd_columns" is quern_svd, and so on: decompositions.h. Its arguments are four arrays and an int. */
static void gen_decompose(Cg *cg, LibCall *call) {
    const char *name = strchr(call->row->name, '.') + 1;
    char function[32];
    ArrayLeaves arrays[4];
    Value args[8] = {cg_int(cg->i64, product_kind(call->types[0]->element))};
    snprintf(function, sizeof function, "quern_%.*s", (int)strcspn(name, "_"), name);
    for (int i = 0; i < 4; i++) {
        cg_array_open(cg, call->types[i], call->args[i], &arrays[i]);
        args[4 + i] = arrays[i].data;
    }
    args[1] = arrays[0].shape[0];
    args[2] = arrays[0].shape[1];
    args[3] = call->args[4][0];
    call->out[0] = cg_call_extern(cg, function, cg->i64, args, 8);
}

/* -- the table -------------------------------------------------------------------------------- */

/* A number to compare with others; loads and stores never go through it. */
static void gen_address(Cg *cg, LibCall *call) {
    ArrayLeaves array;
    cg_array_open(cg, call->types[0], call->args[0], &array);
    call->out[0] = LLVMBuildPtrToInt(cg->b, array.data, LLVMInt64TypeInContext(cg->context), "");
}

/* "primitive.text_hash" is quern_text_hash, and so on: strings.h, random.h, sort.h. */
static void gen_text(Cg *cg, LibCall *call) {
    char function[32];
    Value args[8];
    int n = 0;
    snprintf(function, sizeof function, "quern_%s", strchr(call->row->name, '.') + 1);
    for (int i = 0; i < call->nargs; i++) {
        ArrayLeaves array;
        if (call->types[i]->kind != TY_ARRAY) {
            args[n++] = call->args[i][0];
            continue;
        }
        cg_array_open(cg, call->types[i], call->args[i], &array);
        args[n++] = array.data;
        args[n++] = array.shape[0];
    }
    bool number = call->inst->type->kind == TY_f64;
    call->out[0] = cg_call_extern(cg, function, number ? cg->f64 : cg->i64, args, n);
}

static void gen_text_kept(Cg *cg, LibCall *call) {
    Value args[] = {cg->f->ctx, call->args[0][0]};
    call->out[0] = cg_call_extern(cg, "quern_text_kept", cg->i64, args, 2);
}

/* Ints narrower than C's int are widened. */
static Value foreign_argument(Cg *cg, const Type *type, const Value *leaves) {
    if (type->kind == TY_ARRAY) {
        ArrayLeaves array;
        cg_array_open(cg, type, (Value *)leaves, &array);
        if (LLVMTypeOf(array.data) == cg->ptr[0]) return array.data;
        return LLVMBuildAddrSpaceCast(cg->b, array.data, cg->ptr[0], "");
    }
    if (type->kind == TY_bool) return LLVMBuildZExt(cg->b, leaves[0], cg->i32, "");
    if (!type_is_int(type) || type_bits(type) >= 32) return leaves[0];
    return type_class(type) == CLASS_SINT ? LLVMBuildSExt(cg->b, leaves[0], cg->i32, "")
                                          : LLVMBuildZExt(cg->b, leaves[0], cg->i32, "");
}

static LType foreign_result(Cg *cg, const Type *type) {
    if (type->kind == TY_none) return cg->void_;
    if (type->kind == TY_f32) return cg->f32;
    if (type->kind == TY_f64) return cg->f64;
    return type->kind == TY_bool ? cg->i8
                                 : LLVMIntTypeInContext(cg->context, (unsigned)type_bits(type));
}

/* On GPUs the constant is the address of the name, which the linked code has. Code of the host names the object, which has another
 * address in another process. */
static Value foreign_callee(Cg *cg, Value constant, LType type) {
    int64_t number = LLVMConstIntGetSExtValue(constant);
    if (cg->target->is_host) {
        const ForeignFunction *called = &cg->ir->foreigns.items[number];
        CodeAddress where = {.kind = ADDRESS_FUNCTION,
                             .address = (void *)(intptr_t)called->address,
                             .handle = called->handle};
        return cg_host_function(cg, where, type);
    }
    const char *name = (const char *)(intptr_t)number;
    Value known = LLVMGetNamedFunction(cg->mod, name);
    return known ? known : LLVMAddFunction(cg->mod, name, type);
}

static void gen_foreign(Cg *cg, LibCall *call) {
    LType params[16];
    Value args[16];
    int n = call->nargs - 2;
    TypeKind kind = (TypeKind)LLVMConstIntGetSExtValue(call->args[1][0]);
    bool pointer = kind >= TY_SCALARS;
    const Type *type = type_scalar(cg->ir->types, pointer ? TY_i64 : kind);
    for (int i = 0; i < n; i++) {
        args[i] = foreign_argument(cg, call->types[2 + i], call->args[2 + i]);
        params[i] = LLVMTypeOf(args[i]);
    }
    LType result = foreign_result(cg, type);
    LType function = LLVMFunctionType(result, params, (unsigned)n, false);
    Value callee = foreign_callee(cg, call->args[0][0], function);
    Value got = LLVMBuildCall2(cg->b, function, callee, args, (unsigned)n, "");
    if (type->kind == TY_none)
        call->out[0] = cg_int(cg->i64, 0);
    else if (type_is_float(type))
        call->out[0] = type->kind == TY_f32 ? LLVMBuildFPExt(cg->b, got, cg->f64, "") : got;
    else if (type_class(type) == CLASS_SINT)
        call->out[0] = LLVMBuildSExtOrBitCast(cg->b, got, cg->i64, "");
    else
        call->out[0] = LLVMBuildZExtOrBitCast(cg->b, got, cg->i64, "");
}

/* int status = quern_...(ctx, arguments ..., &value), of which the caller knows the answer, or `none` does not. Arrays are addresses. */
static void ask_caller(Cg *cg, LibCall *call, LType type, Guard none) {
    char function[40];
    Value args[8] = {cg->f->ctx};
    Value slot = cg_alloca(cg, type, "read"), unknown = cg_int(cg->i32, CALL_EXCEPTION);
    snprintf(function, sizeof function, "quern_%s", strchr(call->row->name, '.') + 1);
    for (int i = 0; i < call->nargs; i++) {
        ArrayLeaves array;
        args[1 + i] = call->args[i][0];
        if (call->types[i]->kind != TY_ARRAY) continue;
        cg_array_open(cg, call->types[i], call->args[i], &array);
        args[1 + i] = array.data;
    }
    args[1 + call->nargs] = slot;
    Value status = cg_call_extern(cg, function, cg->i32, args, 2 + call->nargs);
    cg_fail_if(cg, LLVMBuildICmp(cg->b, LLVMIntEQ, status, unknown, ""), none, NULL, 0);
    Value failed = LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), "");
    cg_propagate_if(cg, failed, status);
    call->out[0] = LLVMBuildLoad2(cg->b, type, slot, "");
}

static void gen_exception(Cg *cg, LibCall *call) {
    LType type = call->inst->type->kind == TY_f64 ? cg->f64 : cg->i64;
    ask_caller(cg, call, type, GUARD_exception_value);
}

static void gen_array_text(Cg *cg, LibCall *call) {
    ask_caller(cg, call, cg->i64, GUARD_array_text);
}

static void gen_exception_at(Cg *cg, LibCall *call) {
    call->out[0] = cg_exception_address(cg, call->args[0][0]);
}

static void gen_exception_earlier(Cg *cg, LibCall *call) {
    Value at = LLVMBuildIntToPtr(cg->b, call->args[0][0], cg->ptr[0], "");
    Value args[] = {cg->f->ctx, at, call->args[1][0]};
    call->out[0] = cg_call_extern(cg, "quern_exception_earlier", cg->i64, args, 3);
}

static void gen_text_at(Cg *cg, LibCall *call) {
    call->out[0] = LLVMBuildPtrToInt(cg->b, call->args[0][0], cg->i64, "");
}

static void gen_exception_same(Cg *cg, LibCall *call) {
    Value args[2];
    for (int k = 0; k < 2; k++)
        args[k] = LLVMBuildIntToPtr(cg->b, call->args[k][0], cg->ptr[0], "");
    Value same = cg_call_extern(cg, "quern_same_exception", cg->i32, args, 2);
    call->out[0] = LLVMBuildICmp(cg->b, LLVMIntNE, same, cg_int(cg->i32, 0), "");
}

static void gen_exception_text(Cg *cg, LibCall *call) {
    ArrayLeaves array;
    cg_array_open(cg, call->types[1], call->args[1], &array);
    Value args[] = {cg->f->ctx, call->args[0][0], array.data};
    call->out[0] = cg_call_extern(cg, "quern_exception_copy", cg->i64, args, 3);
}

static void gen_text_print(Cg *cg, LibCall *call) {
    Value args[] = {cg->f->ctx, call->args[0][0], call->args[1][0]};
    Value status = cg_call_extern(cg, "quern_text_print", cg->i32, args, 3);
    Value failed = LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), "");
    cg_propagate_if(cg, failed, status);
}

static void gen_draw(Cg *cg, LibCall *call) {
    cg_draw(cg, call);
}

static void gen_next_bits(Cg *cg, LibCall *call) {
    cg_next_bits(cg, call);
}

static void gen_threads(Cg *cg, LibCall *call) {
    cg_ask_threads(cg, call);
}

typedef void (*Generator)(Cg *cg, LibCall *call);

static const Generator generators[GEN_COUNT] = {
#define GENERATOR(name, what) [GEN_##name] = gen_##name,
#include "typeinfer/tables/generators.def"
#undef GENERATOR
};

void cg_generate(Cg *cg, int gen, LibCall *call) {
    if (gen <= GEN_none || gen >= GEN_COUNT) {
        cg_error(cg, "there is no generator %d", gen);
        return;
    }
    generators[gen](cg, call);
}
