/* cg_cast.c - conversions: number to number, and between arrays and tuples of like shape.
 *
 * None of them fails: narrower integers truncate, floats saturate (NaN gives 0), a complex loses its
 * imaginary part, anything to bool is a test against zero. bool counts as the unsigned 0 or 1 (INT-19). */
#include "codegen/llvm/cg.h"

static bool kind_is_float(TypeKind k) {
    return k == TY_f16 || k == TY_f32 || k == TY_f64;
}

static bool kind_is_signed(TypeKind k) {
    return k == TY_i8 || k == TY_i16 || k == TY_i32 || k == TY_i64;
}

static Value int_to_int(Cg *cg, TypeKind from, Value a, LType to) {
    unsigned n = LLVMGetIntTypeWidth(LLVMTypeOf(a)), m = LLVMGetIntTypeWidth(to);
    if (n == m) return a;
    if (m < n) return LLVMBuildTrunc(cg->b, a, to, "");
    return kind_is_signed(from) ? LLVMBuildSExt(cg->b, a, to, "") : LLVMBuildZExt(cg->b, a, to, "");
}

static Value float_to_float(Cg *cg, Value a, LType to) {
    LType from = LLVMTypeOf(a);
    if (from == to) return a;
    bool narrower = to == cg->f16 || (to == cg->f32 && from == cg->f64);
    return narrower ? LLVMBuildFPTrunc(cg->b, a, to, "") : LLVMBuildFPExt(cg->b, a, to, "");
}

/* The components of complex types count as floats here. */
static TypeKind component(TypeKind k) {
    k = type_strong_kind(k);
    return k == TY_c64 ? TY_f32 : k == TY_c128 ? TY_f64 : k;
}

Value cg_cast_scalar(Cg *cg, TypeKind from, Value a, TypeKind to) {
    from = component(from), to = component(to);
    if (from == to) return a;
    if (to == TY_bf16) return cg_to_bfloat(cg, a, kind_is_signed(from));
    if (from == TY_bf16) return cg_cast_scalar(cg, TY_f32, cg_widened(cg, a), to);
    LType type = cg_scalar_type(cg, to);
    bool float_in = kind_is_float(from), float_out = kind_is_float(to);
    if (to == TY_bool)
        return float_in ? LLVMBuildFCmp(cg->b, LLVMRealUNE, a, cg_real(LLVMTypeOf(a), 0.0), "")
                        : LLVMBuildICmp(cg->b, LLVMIntNE, a, cg_int(LLVMTypeOf(a), 0), "");
    if (float_in && float_out) return float_to_float(cg, a, type);
    if (float_out)
        return kind_is_signed(from) ? LLVMBuildSIToFP(cg->b, a, type, "")
                                    : LLVMBuildUIToFP(cg->b, a, type, "");
    if (float_in) {
        /* x86 with instructions for float16 makes the least int16 of what is no number: LLVM leaves out the test for it. */
        if (from == TY_f16) a = LLVMBuildFPExt(cg->b, a, cg->f32, "");
        LType types[] = {type, LLVMTypeOf(a)};
        return cg_intrinsic(cg, kind_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types,
                            2, &a, 1);
    }
    return int_to_int(cg, from, a, type);
}

static void cast_array(Cg *cg, const Type *from, const Value *a, const Type *to, Value *out) {
    ArrayLeaves array;
    if (from->ndim != to->ndim || from->element != to->element) {
        cg_error(cg, "an array cannot be converted to another element type or dimension");
        return;
    }
    cg_array_open(cg, from, (Value *)a, &array);
    cg_array_strides(cg, &array);
    array.type = to;
    LType data = cg->ptr[cg_space(cg, to->space)];
    if (LLVMTypeOf(array.data) != data)
        array.data = LLVMBuildAddrSpaceCast(cg->b, array.data, data, "");
    cg_array_close(cg, &array, out);
}

void cg_cast(Cg *cg, const Type *from, const Value *a, const Type *to, Value *out) {
    int32_t n = cg_leaf_count(cg, to);
    if (from == to) {
        if (n) memcpy(out, a, sizeof(Value) * (size_t)n);
    } else if (from->kind == TY_ARRAY && to->kind == TY_ARRAY) {
        cast_array(cg, from, a, to, out);
    } else if (from->kind == TY_TUPLE && to->kind == TY_TUPLE && from->nitems == to->nitems) {
        for (int32_t i = 0; i < to->nitems; i++) {
            cg_cast(cg, from->items[i], a, to->items[i], out);
            a += cg_leaf_count(cg, from->items[i]);
            out += cg_leaf_count(cg, to->items[i]);
        }
    } else if (type_is_number(from) && type_is_number(to)) {
        bool complex_in = type_is_complex(from);
        if (to->kind == TY_bool) {
            out[0] = cg_truth(cg, from, a);
            return;
        }
        out[0] = cg_cast_scalar(cg, from->kind, a[0], to->kind);
        if (type_is_complex(to))
            out[1] = complex_in ? cg_cast_scalar(cg, from->kind, a[1], to->kind)
                                : cg_real(cg_scalar_type(cg, to->kind), 0.0);
    } else {
        cg_error(cg, "this conversion cannot be compiled");
    }
}
