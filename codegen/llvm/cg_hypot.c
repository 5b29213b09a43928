/* cg_hypot.c - the length of (x, y) without a call and without a branch, so that loops of complex numbers become vector code.
 *
 * float32: the squares are exact in float64, and their sum does not overflow. float64: both are scaled by a power of two where a square
 * would overflow or lose bits, and the root is corrected by what rounding took (C. F. Borges, "An improved algorithm for
 * hypot(a,b)", 2019). */
#include "codegen/llvm/cg.h"
#include <math.h>

static Value less(Cg *cg, Value a, Value b) {
    return LLVMBuildFCmp(cg->b, LLVMRealOLT, a, b, "");
}
static Value pick(Cg *cg, Value condition, Value yes, Value no) {
    return LLVMBuildSelect(cg->b, condition, yes, no, "");
}
static Value times(Cg *cg, Value a, Value b) {
    return LLVMBuildFMul(cg->b, a, b, "");
}
static Value plus(Cg *cg, Value a, Value b) {
    return LLVMBuildFAdd(cg->b, a, b, "");
}
static Value minus(Cg *cg, Value a, Value b) {
    return LLVMBuildFSub(cg->b, a, b, "");
}

static Value root_of_squares(Cg *cg, Value a, Value b) {
    return cg_intrinsic1(cg, "llvm.sqrt", plus(cg, times(cg, a, a), times(cg, b, b)));
}

/* h - (h * h - a * a - b * b) / (2 * h), the difference without cancellation; a >= b. */
static Value corrected(Cg *cg, Value h, Value a, Value b) {
    Value two = cg_real(cg->f64, 2.0), four = cg_real(cg->f64, 4.0);
    Value near = LLVMBuildFCmp(cg->b, LLVMRealOLE, h, times(cg, two, b), "");
    Value over_b = minus(cg, h, b), over_a = minus(cg, h, a);
    Value first_near = times(cg, a, minus(cg, times(cg, two, over_b), a));
    Value second_near = times(cg, minus(cg, over_b, times(cg, two, minus(cg, a, b))), over_b);
    Value first_far = times(cg, times(cg, two, over_a), minus(cg, a, times(cg, two, b)));
    Value second_far =
        plus(cg, times(cg, minus(cg, times(cg, four, over_a), b), b), times(cg, over_a, over_a));
    Value first = pick(cg, near, first_near, first_far);
    Value second = pick(cg, near, second_near, second_far);
    Value error = LLVMBuildFDiv(cg->b, plus(cg, first, second), times(cg, two, h), "");
    Value zero = LLVMBuildFCmp(cg->b, LLVMRealOEQ, h, cg_real(cg->f64, 0.0), "");
    return pick(cg, zero, h, minus(cg, h, error));
}

static Value length64(Cg *cg, Value x, Value y) {
    Value one = cg_real(cg->f64, 1.0), tiny = cg_real(cg->f64, 0x1p-600),
          huge = cg_real(cg->f64, 0x1p600);
    Value swap = less(cg, x, y);
    Value a = pick(cg, swap, y, x), b = pick(cg, swap, x, y);
    Value large = less(cg, cg_real(cg->f64, 0x1p510), a);
    Value small = less(cg, a, cg_real(cg->f64, 0x1p-450));
    Value scale = pick(cg, large, tiny, pick(cg, small, huge, one));
    Value back = pick(cg, large, huge, pick(cg, small, tiny, one));
    a = times(cg, a, scale), b = times(cg, b, scale);
    return times(cg, corrected(cg, root_of_squares(cg, a, b), a, b), back);
}

Value cg_hypot(Cg *cg, Value x, Value y) {
    LType type = LLVMTypeOf(x);
    bool wide = type == cg->f64;
    if (!cg->target->is_host || (!wide && type != cg->f32))
        return cg_math(cg, "hypot", (Value[]){x, y}, 2);
    x = cg_intrinsic1(cg, "llvm.fabs", x), y = cg_intrinsic1(cg, "llvm.fabs", y);
    Value length = wide ? length64(cg, x, y) : NULL;
    if (!wide) {
        length = root_of_squares(cg, LLVMBuildFPExt(cg->b, x, cg->f64, ""),
                                 LLVMBuildFPExt(cg->b, y, cg->f64, ""));
        length = LLVMBuildFPTrunc(cg->b, length, cg->f32, "");
    }
    /* infinite if a part is, else nan if one is */
    Value infinity = cg_real(type, HUGE_VAL);
    Value infinite = LLVMBuildOr(cg->b, LLVMBuildFCmp(cg->b, LLVMRealOEQ, x, infinity, ""),
                                 LLVMBuildFCmp(cg->b, LLVMRealOEQ, y, infinity, ""), "");
    Value odd = LLVMBuildFCmp(cg->b, LLVMRealUNO, x, y, "");
    length = pick(cg, odd, plus(cg, x, y), length);
    return pick(cg, infinite, infinity, length);
}
