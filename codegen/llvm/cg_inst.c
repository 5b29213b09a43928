/* cg_inst.c - one case for each op of typed IR. The cases only pick; the work is in the files named after
 * its topic. */
#include "codegen/llvm/cg.h"
#include "codegen/opt/pass.h"
#include <llvm-c/DebugInfo.h>

/* -- constants -------------------------------------------------------------------------------- */

static Value const_scalar(Cg *cg, TypeKind kind, const ConstVal *value, bool imaginary) {
    LType type = cg_scalar_type(cg, kind);
    bool is_float = LLVMGetTypeKind(type) != LLVMIntegerTypeKind;
    switch (value->kind) {
    case CONST_BOOL:
    case CONST_INT:
        if (imaginary) return cg_real(type, 0.0);
        if (is_float)
            return cg_real(type,
                           value->is_unsigned ? (double)(uint64_t)value->i : (double)value->i);
        if (kind == TY_bool) return cg_bool(cg, value->i != 0);
        return LLVMConstInt(type, (uint64_t)value->i, !value->is_unsigned);
    case CONST_FLOAT:
    case CONST_COMPLEX: {
        double x = imaginary ? (value->kind == CONST_COMPLEX ? value->im : 0.0) : value->re;
        if (is_float) return cg_real(type, x);
        break;
    }
    default: break;
    }
    cg_error(cg, "a constant does not fit the type %s", type_name_of_kind(kind));
    return LLVMGetPoison(type);
}

static Value *cg_const(Cg *cg, const Type *type, const ConstVal *value) {
    Value *out = cg_new_leaves(cg, type), *next = out;
    if (type->kind == TY_none) return out;
    if (type->kind == TY_TUPLE) {
        if (value->kind != CONST_TUPLE || value->nitems != type->nitems) {
            cg_error(cg, "a constant does not fit its tuple type");
            return out;
        }
        for (int32_t i = 0; i < type->nitems; i++) {
            int32_t n = cg_leaf_count(cg, type->items[i]);
            if (n)
                memcpy(next, cg_const(cg, type->items[i], value->items[i]),
                       sizeof(Value) * (size_t)n);
            next += n;
        }
        return out;
    }
    if (type->kind == TY_CLASS) {
        out[0] = cg_literal(cg, value->str);
        return out;
    }
    TypeKind kind = type_strong_kind(type->kind);
    out[0] = const_scalar(cg, kind, value, false);
    if (type_is_complex(type)) out[1] = const_scalar(cg, kind, value, true);
    return out;
}

/* -- arithmetic ------------------------------------------------------------------------------- */

typedef struct Operands {
    const Type *type;
    const Value *a, *b;
    bool is_float, is_complex, is_signed;
    Ref exponent; /* of a power that is made of products: the int */
    bool natural; /* it is not negative */
} Operands;

static Operands operands(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    Operands o = {0};
    o.type = cg_type(cg, ir_arg(ir, ref, 0));
    o.a = cg_leaves(cg, ir_arg(ir, ref, 0));
    if (ir_inst(ir, ref)->nargs > 1) o.b = cg_leaves(cg, ir_arg(ir, ref, 1));
    o.is_complex = type_is_complex(o.type);
    o.is_float = o.is_complex || type_is_float(o.type);
    o.is_signed = type_class(o.type) == CLASS_SINT;
    if (ir_inst(ir, ref)->op == OP_pow && (ir_inst(ir, ref)->sub & FLAG_SQUARED)) {
        Ref cast = ir_arg(ir, ref, 1);
        if (ir_inst(ir, cast)->op == OP_cast) o.exponent = ir_arg(ir, cast, 0);
        o.natural = ir_inst(ir, ref)->sub & FLAG_NATURAL;
    }
    return o;
}

typedef Value (*Build)(LLVMBuilderRef, Value, Value, const char *);

static void each_leaf(Cg *cg, const Operands *o, Build ints, Build floats, Value *out) {
    Build build = o->is_float ? floats : ints;
    for (int k = 0; k < 1 + o->is_complex; k++)
        out[k] = cg_fast(cg, build(cg->b, o->a[k], o->b[k], ""));
}

/* A pass may have proven that a signed operation does not overflow: only then LLVM may know. */
static bool no_wrap(const Inst *inst, const Operands *o) {
    return inst->sub == FLAG_NOWRAP && o->is_signed;
}

static Value power(Cg *cg, const Operands *o) {
    Value a = o->a[0], b = o->b[0];
    if (!o->is_float) return cg_int_pow(cg, o->is_signed, a, b);
    if (!o->exponent) return cg_float_pow(cg, a, b);
    bool is_signed = type_class(cg_type(cg, o->exponent)) == CLASS_SINT;
    return cg_float_pow_int(cg, a, b, cg_leaves(cg, o->exponent)[0], is_signed, o->natural);
}

static void arithmetic(Cg *cg, Op op, const Inst *inst, const Operands *o, Value *out) {
    Value a = o->a[0], b = o->b[0];
    switch ((int)op) {
    case OP_add:
        each_leaf(cg, o, no_wrap(inst, o) ? LLVMBuildNSWAdd : LLVMBuildAdd, LLVMBuildFAdd, out);
        break;
    case OP_sub:
        each_leaf(cg, o, no_wrap(inst, o) ? LLVMBuildNSWSub : LLVMBuildSub, LLVMBuildFSub, out);
        break;
    case OP_mul:
        if (o->is_complex)
            cg_complex_mul(cg, o->a, o->b, out);
        else
            each_leaf(cg, o, no_wrap(inst, o) ? LLVMBuildNSWMul : LLVMBuildMul, LLVMBuildFMul, out);
        break;
    case OP_div:
        if (o->is_complex)
            cg_complex_div(cg, o->a, o->b, out);
        else
            out[0] = cg_fast(cg, LLVMBuildFDiv(cg->b, a, b, ""));
        break;
    case OP_floordiv:
        out[0] = o->is_float ? cg_float_floordiv(cg, a, b)
                             : cg_int_floordiv(cg, o->is_signed, inst->sub, a, b);
        break;
    case OP_mod:
        out[0] = o->is_float ? cg_float_mod(cg, a, b)
                             : cg_int_mod(cg, o->is_signed, cg_known_of_mod(cg, inst), a, b);
        break;
    case OP_pow: out[0] = power(cg, o); break;
    case OP_and: out[0] = LLVMBuildAnd(cg->b, a, b, ""); break;
    case OP_or: out[0] = LLVMBuildOr(cg->b, a, b, ""); break;
    case OP_xor: out[0] = LLVMBuildXor(cg->b, a, b, ""); break;
    case OP_shl: out[0] = cg_int_shl(cg, a, b); break;
    default: out[0] = cg_int_shr(cg, o->is_signed, a, b); break;
    }
}

static bool operand_types_fit(Cg *cg, Op op, const Operands *o) {
    bool bits = op == OP_and || op == OP_or || op == OP_xor, shift = op == OP_shl || op == OP_shr;
    bool is_bool = o->type->kind == TY_bool;
    bool ok = type_is_number(o->type);
    if (bits || shift)
        ok = ok && !o->is_float && !(shift && is_bool);
    else if (op == OP_div)
        ok = ok && o->is_float;
    else
        ok = ok && !is_bool && !(o->is_complex && (op == OP_floordiv || op == OP_mod));
    return ok || cg_error(cg, "%s of %s", ir_info(op)->name, type_name_of_kind(o->type->kind));
}

static void lower_binary(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Operands o = operands(cg, ref);
    if (!operand_types_fit(cg, (Op)inst->op, &o)) return;
    Value *out = cg_new_leaves(cg, o.type), wide[2];
    bool bfloat = o.type->kind == TY_bf16;
    if (bfloat) {
        wide[0] = cg_widened(cg, o.a[0]), wide[1] = cg_widened(cg, o.b[0]);
        o.a = &wide[0], o.b = &wide[1];
    }
    arithmetic(cg, (Op)inst->op, inst, &o, out);
    if (bfloat) out[0] = cg_to_bfloat(cg, out[0], true);
    cg_set(cg, ref, out);
}

static void lower_unary(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Operands o = operands(cg, ref);
    Value *out = cg_new_leaves(cg, o.type);
    if (inst->op == OP_not) {
        out[0] = LLVMBuildNot(cg->b, o.a[0], "");
    } else if (o.type->kind == TY_bf16) { /* what is rounded by ints needs no fence */
        out[0] = inst->op == OP_fence ? o.a[0] : cg_bfloat_negative(cg, o.a[0]);
    } else if (inst->op == OP_fence) {
        for (int k = 0; k < 1 + o.is_complex; k++)
            out[k] = cg_intrinsic1(cg, "llvm.arithmetic.fence", o.a[k]);
    } else {
        for (int k = 0; k < 1 + o.is_complex; k++)
            out[k] = o.is_float ? cg_fast(cg, LLVMBuildFNeg(cg->b, o.a[k], ""))
                                : LLVMBuildNeg(cg->b, o.a[k], "");
    }
    cg_set(cg, ref, out);
}

/* -- selection, aggregates -------------------------------------------------------------------- */

static void lower_undef(Cg *cg, Ref ref) {
    const Type *type = cg_type(cg, ref);
    int32_t n = cg_leaf_count(cg, type);
    LType *types = arena_array(cg->arena, LType, n + 1);
    Value *out = cg_new_leaves(cg, type);
    cg_leaf_types(cg, type, types);
    for (int32_t i = 0; i < n; i++)
        out[i] = LLVMConstNull(types[i]); /* not poison: an unused copy may still be moved about */
    cg_set(cg, ref, out);
}

static void lower_select(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Type *type = cg_type(cg, ref);
    Value cond = cg_leaf(cg, ir_arg(ir, ref, 0));
    int32_t n = cg_leaf_count(cg, type);
    Value *out = cg_new_leaves(cg, type);
    for (int32_t i = 0; i < n; i++)
        out[i] = LLVMBuildSelect(cg->b, cond, cg_leaves(cg, ir_arg(ir, ref, 1))[i],
                                 cg_leaves(cg, ir_arg(ir, ref, 2))[i], "");
    cg_set(cg, ref, out);
}

/* Leaves of all operands one after the other: tuples, and complex numbers of two components. */
static void lower_join(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Value *out = cg_new_leaves(cg, inst->type);
    int32_t at = 0, total = cg_leaf_count(cg, inst->type);
    for (int32_t i = 0; i < inst->nargs; i++) {
        Ref arg = ir_arg(cg->f->ir, ref, i);
        int32_t n = cg_leaf_count(cg, cg_type(cg, arg));
        if (at + n > total) break;
        if (n) memcpy(out + at, cg_leaves(cg, arg), sizeof(Value) * (size_t)n);
        at += n;
    }
    if (at != total) cg_error(cg, "items do not make up their tuple");
    cg_set(cg, ref, out);
}

static void lower_part(Cg *cg, Ref ref, int64_t item) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Ref whole = ir_arg(cg->f->ir, ref, 0);
    const Type *type = cg_type(cg, whole);
    if (type_is_complex(type) || type->kind != TY_TUPLE) { /* real and imag of any number */
        if (type_is_complex(type) || item == 0)
            cg_set1(cg, ref, cg_leaves(cg, whole)[item]);
        else
            lower_undef(cg, ref); /* zero */
        return;
    }
    if (item < 0 || item >= type->nitems || type->items[item] != inst->type) {
        cg_error(cg, "item %d of a tuple of %d", (int)item, (int)type->nitems);
        return;
    }
    int32_t at = 0;
    for (int64_t i = 0; i < item; i++)
        at += cg_leaf_count(cg, type->items[i]);
    cg_set(cg, ref, cg_leaves(cg, whole) + at);
}

/* -- indices ---------------------------------------------------------------------------------- */

/* Data seldom count from the end, and what they index should not wait for a selection. */
static Value wrap_seldom(Cg *cg, Value negative, Value i, Value n) {
    BB here = LLVMGetInsertBlock(cg->b), wraps = cg_block(cg, "wraps"), next = cg_block(cg, "on");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, negative, wraps, next));
    cg_at(cg, wraps);
    Value sum = LLVMBuildAdd(cg->b, i, n, "");
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
    Value phi = LLVMBuildPhi(cg->b, cg->i64, "");
    LLVMAddIncoming(phi, (Value[]){i, sum}, (BB[]){here, wraps}, 2);
    return phi;
}

static void lower_wrap_index(Cg *cg, Ref ref) {
    Value i = cg_leaf(cg, ir_arg(cg->f->ir, ref, 0)), n = cg_leaf(cg, ir_arg(cg->f->ir, ref, 1));
    Value negative = LLVMBuildICmp(cg->b, LLVMIntSLT, i, cg_int(LLVMTypeOf(i), 0), "");
    if (cg->target->is_host) {
        cg_set1(cg, ref, wrap_seldom(cg, negative, i, n));
        return;
    }
    Value sum = LLVMBuildAdd(cg->b, i, n, "");
    /* As uint32 a negative index is more than what it comes to, the others are less; a sum of length and index does not wrap. GPUs have
     * one instruction for both, or two. */
    bool small = LLVMTypeOf(i) == cg->i32;
    cg_set1(cg, ref,
            small ? cg_intrinsic2(cg, "llvm.umin", sum, i)
                  : LLVMBuildSelect(cg->b, negative, sum, i, ""));
}

/* IndexErrors of lists say less than those of arrays. */
static void fail_outside(Cg *cg, Value outside, int64_t axis, const Value *args) {
    if (axis == CHECK_LIST || axis == CHECK_LIST_ASSIGNMENT)
        cg_fail_if(cg, outside, axis == CHECK_LIST ? GUARD_list_index : GUARD_list_assignment_index,
                   NULL, 0);
    else
        cg_fail_if(cg, outside, GUARD_index_error, args, 3);
}

/* Of an index that may count from the end: whether it is inside as it is, and only then, out of the way, whether it is from the end. */
static Value check_either_end(Cg *cg, Value written, Value n, int64_t axis, const Value *args) {
    BB here = LLVMGetInsertBlock(cg->b), wraps = cg_block(cg, "wraps"),
       next = cg_block(cg, "inside");
    Value outside = LLVMBuildICmp(cg->b, LLVMIntUGE, written, n, "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, outside, wraps, next));
    cg_at(cg, wraps);
    Value i = LLVMBuildAdd(cg->b, written, n, "");
    fail_outside(cg, LLVMBuildICmp(cg->b, LLVMIntUGE, i, n, ""), axis, args);
    BB from[] = {here, LLVMGetInsertBlock(cg->b)};
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
    Value phi = LLVMBuildPhi(cg->b, cg->i64, "");
    LLVMAddIncoming(phi, (Value[]){written, i}, from, 2);
    return phi;
}

/* The message shows the index as the user wrote it: from before the wraparound. */
static void lower_check_index(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    Ref index = ir_arg(ir, ref, 0), written = index;
    Value n = cg_leaf(cg, ir_arg(ir, ref, 1));
    if (ir_inst(ir, index)->op == OP_wrap_index && ir_arg(ir, index, 1) == ir_arg(ir, ref, 1))
        written = ir_arg(ir, index, 0);
    int64_t axis = ir_inst(ir, ref)->imm;
    Value args[] = {cg_leaf(cg, written), cg_int(cg->i64, axis), n};
    if (written != index && cg->raises && cg->target->is_host && !cg_goes_on(cg)) {
        cg_set1(cg, ref, check_either_end(cg, args[0], n, axis, args));
        return;
    }
    Value i = cg_leaf(cg, index);
    fail_outside(cg, LLVMBuildICmp(cg->b, LLVMIntUGE, i, n, ""), axis, args);
    cg_set1(cg, ref, i);
}

static void lower_extent(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Ref of = ir_arg(cg->f->ir, ref, 0);
    ArrayLeaves array;
    cg_array_open(cg, cg_type(cg, of), cg_leaves(cg, of), &array);
    cg_set1(cg, ref,
            inst->op == OP_shape ? array.shape[inst->imm]
                                 : cg_array_stride(cg, &array, (int)inst->imm));
}

/* -- control ---------------------------------------------------------------------------------- */

static LLVMMetadataRef loop_hint(Cg *cg, const char *name) {
    LLVMMetadataRef text = LLVMMDStringInContext2(cg->context, name, strlen(name));
    LLVMMetadataRef no = LLVMValueAsMetadata(cg_bool(cg, false));
    if (strstr(name, ".disable")) return LLVMMDNodeInContext2(cg->context, &text, 1);
    return LLVMMDNodeInContext2(cg->context, (LLVMMetadataRef[]){text, no}, 2);
}

/* For what remains of a loop that was made into vectors: the last elements, and all where the arrays turn out to have strides. */
static LLVMMetadataRef rest_hint(Cg *cg, const char *name) {
    static const char followup[] = "llvm.loop.vectorize.followup_epilogue",
                      vectors[] = "llvm.loop.isvectorized";
    LLVMMetadataRef once[] = {LLVMMDStringInContext2(cg->context, vectors, sizeof vectors - 1),
                              LLVMValueAsMetadata(cg_int(cg->i32, 1))};
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(cg->context, followup, sizeof followup - 1),
                               loop_hint(cg, name), LLVMMDNodeInContext2(cg->context, once, 2)};
    return LLVMMDNodeInContext2(cg->context, parts, countof(parts));
}

static LLVMMetadataRef text_node(Cg *cg, const char *name, LLVMMetadataRef value) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(cg->context, name, strlen(name)), value};
    return LLVMMDNodeInContext2(cg->context, parts, 2);
}

/* What is said of the loop that comes of it keeps LLVM from saying that nobody may unroll it further, as ptxas does; but not the remainder. */
static size_t unroll_hints(Cg *cg, int count, LLVMMetadataRef *parts) {
    LLVMMetadataRef scalar = loop_hint(cg, "llvm.loop.vectorize.enable"),
                    rolled = loop_hint(cg, "llvm.loop.unroll.disable");
    parts[0] = text_node(cg, "llvm.loop.unroll.count", LLVMValueAsMetadata(cg_int(cg->i32, count)));
    parts[1] = text_node(cg, "llvm.loop.unroll.followup_unrolled", scalar);
    parts[2] = text_node(cg, "llvm.loop.unroll.followup_remainder", rolled);
    return 3;
}

/* A loop's metadata names itself first, so that no two loops share it. */
void cg_mark_loop(Cg *cg, Value branch, LoopHints hints) {
    LLVMMetadataRef parts[8];
    size_t n = 1;
    if (hints.rolled) parts[n++] = loop_hint(cg, "llvm.loop.unroll.disable");
    if (hints.scalar) parts[n++] = loop_hint(cg, "llvm.loop.vectorize.enable");
    if (hints.whole) parts[n++] = loop_hint(cg, "llvm.loop.distribute.enable");
    if (hints.rest_rolled) parts[n++] = rest_hint(cg, "llvm.loop.unroll.disable");
    if (hints.parallel)
        parts[n++] =
            text_node(cg, "llvm.loop.parallel_accesses", LLVMValueAsMetadata(hints.parallel));
    if (hints.unroll) n += unroll_hints(cg, hints.unroll, parts + n);
    if (n == 1) return;
    LLVMMetadataRef self = parts[0] = LLVMTemporaryMDNode(cg->context, NULL, 0);
    LLVMMetadataRef node = LLVMMDNodeInContext2(cg->context, parts, n);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9),
                    LLVMMetadataAsValue(cg->context, node));
}

/* Is it a sum so far? Not so a value of the round before, which is no obstacle to vectors. */
static bool is_sum(const Func *ir, Ref phi) {
    for (int32_t k = 0; k < ir_inst(ir, phi)->nargs; k++) {
        Ref next = ir_arg(ir, phi, k);
        Op op = ir_inst(ir, next)->op;
        if (op == OP_select || (op == OP_phi && next != phi))
            return true; /* added where a condition holds */
        if (op != OP_add && op != OP_sub) continue;
        for (int32_t i = 0; i < 2; i++)
            if (ir_inst(ir, ir_arg(ir, next, i))->op == OP_phi ||
                ir_inst(ir, ir_arg(ir, next, i))->op == OP_add)
                return true;
    }
    return false;
}

/* Does the loop add floats in their order, and do little else? LLVM may make vectors of what is added (emit.c): that pays for
 * divisions and functions; for what is only loaded and multiplied it takes longer, above all where elements are far apart.
 * And of one element a round, each addition waits longer for the one before than a round takes: unrolling gains nothing. But on GPUs,
 * where other threads do not wait for it. */
typedef enum Sum { SUM_NONE, SUM_CHEAP, SUM_OF_ELEMENTS } Sum;

static bool is_strided(const Func *ir, const Block *block) {
    for (int32_t k = 0; k < block->insts.len; k++) {
        Ref ref = block->insts.items[k];
        Op op = ir_inst(ir, ref)->op;
        if ((op == OP_load || op == OP_store) &&
            ir_type(ir, ir_arg(ir, ref, 0))->layout == LAYOUT_A)
            return true;
    }
    return false;
}

static bool has_strides(const Func *ir, const Loop *loop) {
    for (int32_t i = 0; i < loop->blocks.len; i++)
        if (is_strided(ir, &ir->blocks.items[loop->blocks.items[i]])) return true;
    return false;
}

static Sum sum_of(const CgFunc *f, const Loop *loop) {
    const Func *ir = f->ir;
    bool adds = false;
    int32_t loads = 0;
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        const Block *block = &ir->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *inst = ir_inst(ir, block->insts.items[k]);
            bool is_float =
                inst->type && (type_is_float(inst->type) || type_is_complex(inst->type));
            bool is_dear = is_float && (inst->op == OP_div || inst->op == OP_pow ||
                                        inst->op == OP_floordiv || inst->op == OP_mod);
            if (is_dear || inst->op == OP_lib || inst->op == OP_call) return SUM_NONE;
            loads += inst->op == OP_load;
            adds |= is_float && inst->op == OP_phi && inst->block == loop->header &&
                    is_sum(ir, block->insts.items[k]);
        }
    }
    if (!adds) return SUM_NONE;
    return loads <= 1 ? SUM_OF_ELEMENTS : SUM_CHEAP;
}

/* Of a sum inside of another loop: may two indices of a round count from the end? Each is then a choice between what was read and what
 * it comes to. Of eight rounds LLVM reads all indices before it adds anything, and has no registers for twice as many; rows are
 * often too short for eight rounds, too. */
static bool is_gathered_row(const CgFunc *f, int32_t loop) {
    const Loop *info = &f->cfg.loops.items[loop];
    int32_t wraps = 0;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &f->ir->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            wraps += ir_inst(f->ir, block->insts.items[k])->op == OP_wrap_index;
    }
    if (info->parent < 0 || wraps < 2) return false;
    int32_t around = f->cfg.loops.items[info->parent].header;
    return !f->ir->blocks.items[around].strips; /* those are no rows */
}

/* Rows that are parts of an array begin where the program says. They are short, and what stands in front of four rounds at a time is not. */
static bool is_part(const CgFunc *f, int32_t loop) {
    int32_t header = f->cfg.loops.items[loop].header;
    Ref last = ir_terminator(f->ir, header);
    if (ir_inst(f->ir, last)->op != OP_branch) return false;
    Ref test = ir_arg(f->ir, last, 0);
    if (ir_inst(f->ir, test)->op != OP_lt) return false;
    Ref counter = ir_arg(f->ir, test, 0);
    const Inst *phi = ir_inst(f->ir, counter);
    if (phi->op != OP_phi || phi->block != header) return false;
    for (int32_t i = 0; i < phi->nargs; i++)
        if (ir_inst(f->ir, ir_arg(f->ir, counter, i))->op == OP_const) return false;
    return true;
}

static bool is_innermost(const Cfg *cfg, int32_t loop) {
    for (int32_t i = loop + 1; i < cfg->loops.len; i++)
        if (cfg->loops.items[i].parent == loop) return false;
    return true;
}

/* The one branch that leaves the loop; NO_REF: there are none, or several. */
static Ref only_exit(const CgFunc *f, int32_t l) {
    const Loop *loop = &f->cfg.loops.items[l];
    Ref exit = NO_REF;
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        Ref last = ir_terminator(f->ir, loop->blocks.items[i]);
        const Inst *inst = ir_inst(f->ir, last);
        if (inst->op == OP_jump) continue;
        if (inst->op != OP_branch) return NO_REF;
        if (opt_in_loop(&f->cfg, l, inst->target[0]) && opt_in_loop(&f->cfg, l, inst->target[1]))
            continue;
        if (exit) return NO_REF;
        exit = last;
    }
    return exit;
}

static bool stands_still(const CgFunc *f, int32_t l, Ref ref, int depth) {
    const Inst *inst = ir_inst(f->ir, ref);
    if (inst->op == OP_const || inst->op == OP_param || !opt_in_loop(&f->cfg, l, inst->block))
        return true;
    if (depth == 0 ||
        (inst->op != OP_shape && inst->op != OP_cast && inst->op != OP_add && inst->op != OP_sub))
        return false;
    for (int32_t k = 0; k < ir_inst(f->ir, ref)->nargs; k++)
        if (!stands_still(f, l, ir_arg(f->ir, ref, k), depth - 1)) return false;
    return true;
}

static Ref without_casts(const Func *ir, Ref ref) {
    while (ir_inst(ir, ref)->op == OP_cast)
        ref = ir_arg(ir, ref, 0);
    return ref;
}

/* A phi of the header, or what a round makes of it by adding a number. */
static bool is_counter(const Func *ir, const Loop *loop, Ref ref) {
    int64_t step;
    const Inst *inst = ir_inst(ir, ref);
    if (inst->op == OP_add && opt_const_int(ir, ir_arg(ir, ref, 1), &step))
        inst = ir_inst(ir, ref = ir_arg(ir, ref, 0));
    if (inst->op != OP_phi || inst->block != loop->header) return false;
    for (int32_t k = 0; k < ir_inst(ir, ref)->nargs; k++) {
        Ref next = ir_arg(ir, ref, k);
        if (ir_inst(ir, next)->op == OP_add && ir_arg(ir, next, 0) == ref &&
            opt_const_int(ir, ir_arg(ir, next, 1), &step))
            return true;
    }
    return false;
}

/* On NVIDIA GPUs, rounds of a short innermost loop that counts up to what only the program knows: LLVM thinks some
 * numbers of rounds too dear to compute, and some loops too long. */
static int unroll_of(const Cg *cg, const CgFunc *f, int32_t l) {
    enum { MOST = 40, ROUNDS = 4, STILL_DEPTH = 4 };
    const Func *ir = f->ir;
    const Loop *loop = &f->cfg.loops.items[l];
    int64_t number;
    int n = 0;
    if (!cg->target->splits_addresses || cg->options->opt_level < 2) return 0;
    Ref exit = only_exit(f, l), test = exit ? ir_arg(ir, exit, 0) : NO_REF;
    if (!test || (ir_inst(ir, test)->op != OP_lt && ir_inst(ir, test)->op != OP_le)) return 0;
    if (opt_const_int(ir, ir_arg(ir, test, 1), &number) ||
        !stands_still(f, l, ir_arg(ir, test, 1), STILL_DEPTH) ||
        !is_counter(ir, loop, without_casts(ir, ir_arg(ir, test, 0))))
        return 0;
    for (int32_t i = 0; i < loop->blocks.len; i++)
        n += ir->blocks.items[loop->blocks.items[i]].insts.len;
    return n <= MOST ? ROUNDS : 0;
}

/* The checked copy of a loop is neither vectorised nor unrolled: that would be compile time for code that
 * is about to raise. Loops over elements are vectorised; what cannot be is not unrolled either, nor are the loops around them
 * and what remains of the elements. */
static void lower_jump(Cg *cg, Ref ref) {
    CgFunc *f = cg->f;
    const Inst *inst = ir_inst(f->ir, ref);
    int32_t to = inst->target[0], loop = f->cfg.loop_of[to];
    f->edges[f->block * CG_SLOTS] = LLVMGetInsertBlock(cg->b);
    Value branch = LLVMBuildBr(cg->b, f->heads[to]);
    if (!cfg_dominates(&f->cfg, to, f->block)) return;
    bool cold = f->ir->blocks.items[to].cold;
    bool innermost = loop >= 0 && is_innermost(&f->cfg, loop);
    Sum sum = SUM_NONE;
    if (innermost && !(cg_fastmath(cg->options, f->ir) & FM_REASSOC))
        sum = sum_of(f, &f->cfg.loops.items[loop]);
    bool waits = sum == SUM_OF_ELEMENTS ||
                 (innermost && (sum || is_part(f, loop)) && is_gathered_row(f, loop));
    cg_mark_loop(
        cg, branch,
        (LoopHints){.rolled = cold || (waits && cg->target->is_host) || inst->sub == FLAG_ROLLED,
                    .scalar = cold || sum,
                    .whole = cold,
                    .unroll = innermost && !cold ? unroll_of(cg, f, loop) : 0,
                    .rest_rolled = innermost && !cold && cg->target->is_host &&
                                   has_strides(f->ir, &f->cfg.loops.items[loop])});
}

/* Two ints of which neither is a number of the program are rarely equal: what is done then stands aside. */
static void expect_unequal(Cg *cg, Value branch, Ref test) {
    const Inst *inst = ir_inst(cg->f->ir, test);
    if (inst->op != OP_eq && inst->op != OP_ne) return;
    for (int k = 0; k < 2; k++) {
        Ref side = ir_arg(cg->f->ir, test, k);
        if (!type_is_int(ir_type(cg->f->ir, side)) || ir_inst(cg->f->ir, side)->op == OP_const)
            return;
    }
    cg_expect(cg, branch, inst->op == OP_eq ? EXPECT_NO : EXPECT_YES);
}

static void lower_branch(Cg *cg, Ref ref) {
    CgFunc *f = cg->f;
    const Inst *inst = ir_inst(f->ir, ref);
    Value cond = cg_leaf(cg, ir_arg(f->ir, ref, 0));
    BB yes = f->heads[inst->target[0]], no = f->heads[inst->target[1]];
    const Block *blocks = f->ir->blocks.items;
    bool cold =
        blocks[inst->target[0]].cold && !blocks[inst->target[1]].cold && !blocks[inst->block].cold;
    BB here = LLVMGetInsertBlock(cg->b);
    f->edges[f->block * CG_SLOTS] = f->edges[f->block * CG_SLOTS + 1] = here;
    if (yes == no) { /* parallel edges: phis there may tell them apart */
        BB stub = cg_block(cg, "no");
        f->edges[f->block * CG_SLOTS + 1] = stub;
        cg_at(cg, stub);
        LLVMBuildBr(cg->b, no);
        cg_at(cg, here);
        no = stub;
    }
    Value branch = LLVMBuildCondBr(cg->b, cond, yes, no);
    if (cold)
        cg_unlikely(cg, branch);
    else
        expect_unequal(cg, branch, ir_arg(f->ir, ref, 0));
}

/* The clean-up is done: the exception is in the context, its status in the slot. */
static void lower_propagate(Cg *cg) {
    if (cg->f->sig->raises)
        LLVMBuildBr(cg->b, cg_fail_exit(cg));
    else
        cg_return_zero(cg);
}

/* Behind a check that always fails: control does come here where nothing is checked or work-items go on. */
static void lower_unreachable(Cg *cg) {
    if (cg->raises && !cg_goes_on(cg))
        LLVMBuildUnreachable(cg->b);
    else
        cg_end_item(cg);
}

static bool is_inside(const Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    return inst->op == OP_cast && inst->sub == FLAG_INSIDE;
}

/* The float of an int that a float is known to have become: that float without its fraction; and -0.0 becomes 0.0, as it does by way
 * of the int. */
static bool lower_float_of_int(Cg *cg, Ref ref) {
    Ref whole = ir_arg(cg->f->ir, ref, 0);
    const Type *type = cg_type(cg, ref);
    if (!type_is_machine_float(type) || cg_type(cg, whole)->kind != TY_i64 || !is_inside(cg, whole))
        return false;
    Ref from = ir_arg(cg->f->ir, whole, 0);
    if (!type_is_machine_float(cg_type(cg, from))) return false;
    Value cut = cg_intrinsic1(cg, "llvm.trunc", cg_leaf(cg, from));
    Value positive = LLVMBuildFAdd(cg->b, cut, cg_real(LLVMTypeOf(cut), 0.0), "");
    cg_set1(cg, ref, cg_cast_scalar(cg, cg_type(cg, from)->kind, positive, type->kind));
    return true;
}

static void lower_cast(Cg *cg, Ref ref) {
    Ref from = ir_arg(cg->f->ir, ref, 0);
    const Type *type = cg_type(cg, ref);
    if (lower_float_of_int(cg, ref)) return;
    if (is_inside(cg, ref) && type->kind == TY_i64) { /* narrow.c */
        cg_set1(cg, ref, LLVMBuildFPToSI(cg->b, cg_leaf(cg, from), cg->i64, ""));
        return;
    }
    Value *out = cg_new_leaves(cg, type);
    cg_cast(cg, cg_type(cg, from), cg_leaves(cg, from), type, out);
    cg_set(cg, ref, out);
}

static void lower_compare(Cg *cg, Ref ref) {
    if (cg_compare_length(cg, ref)) return;
    Ref a = ir_arg(cg->f->ir, ref, 0), b = ir_arg(cg->f->ir, ref, 1);
    cg_set1(cg, ref,
            cg_compare(cg, (Op)ir_inst(cg->f->ir, ref)->op, cg_type(cg, a), cg_leaves(cg, a),
                       cg_type(cg, b), cg_leaves(cg, b)));
}

void cg_inst(Cg *cg, Ref ref) {
    const Inst *inst = ir_inst(cg->f->ir, ref);
    switch ((int)inst->op) {
    case OP_removed:
    case OP_phi:
    case OP_param: break; /* made before the block was entered */
    case OP_const: cg_set(cg, ref, cg_const(cg, inst->type, inst->u.value)); break;
    case OP_jump: lower_jump(cg, ref); break;
    case OP_branch: lower_branch(cg, ref); break;
    case OP_return: cg_lower_return(cg, ref); break;
    case OP_unreachable: lower_unreachable(cg); break;
    case OP_propagate: lower_propagate(cg); break;
    case OP_poll: cg_lower_poll(cg, ref); break;
    case OP_undef: lower_undef(cg, ref); break;
    case OP_cast: lower_cast(cg, ref); break;
    case OP_neg:
    case OP_not:
    case OP_fence: lower_unary(cg, ref); break;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_div:
    case OP_floordiv:
    case OP_mod:
    case OP_pow:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_shl:
    case OP_shr: lower_binary(cg, ref); break;
    case OP_eq:
    case OP_ne:
    case OP_lt:
    case OP_le: lower_compare(cg, ref); break;
    case OP_select: lower_select(cg, ref); break;
    case OP_complex:
    case OP_tuple: lower_join(cg, ref); break;
    case OP_real: lower_part(cg, ref, 0); break;
    case OP_imag: lower_part(cg, ref, 1); break;
    case OP_item: lower_part(cg, ref, inst->imm); break;
    case OP_item_at: cg_lower_item_at(cg, ref); break;
    case OP_lib: cg_lower_lib(cg, ref); break;
    case OP_call: cg_lower_call(cg, ref); break;
    case OP_kept: cg_lower_kept(cg, ref); break;
    case OP_kept_count: cg_lower_kept_count(cg, ref); break;
    case OP_kept_lane: cg_lower_kept_lane(cg, ref); break;
    case OP_kept_vote: cg_lower_kept_vote(cg, ref); break;
    case OP_keep: cg_lower_keep(cg, ref); break;
    case OP_chunks: cg_lower_chunks(cg, ref); break;
    case OP_parallel: cg_lower_parallel(cg, ref); break;
    case OP_shape:
    case OP_stride: lower_extent(cg, ref); break;
    case OP_wrap_index: lower_wrap_index(cg, ref); break;
    case OP_check_index: lower_check_index(cg, ref); break;
    case OP_load: cg_lower_load(cg, ref); break;
    case OP_store: cg_lower_store(cg, ref); break;
    case OP_view: cg_lower_view(cg, ref); break;
    case OP_reshape: cg_lower_reshape(cg, ref); break;
    case OP_restride: cg_lower_restride(cg, ref); break;
    case OP_transpose: cg_lower_transpose(cg, ref); break;
    case OP_alloc: cg_lower_alloc(cg, ref); break;
    case OP_frozen: cg_lower_frozen(cg, ref); break;
    case OP_character: cg_lower_character(cg, ref); break;
    case OP_new: cg_lower_new(cg, ref); break;
    case OP_field: cg_lower_field(cg, ref); break;
    case OP_set_field: cg_lower_set_field(cg, ref); break;
    case OP_take: cg_lower_take(cg, ref); break;
    case OP_grow: cg_lower_grow(cg, ref); break;
    case OP_move: cg_lower_move(cg, ref); break;
    case OP_kept_array:
    case OP_static_array: cg_lower_static_array(cg, ref); break;
    case OP_memory_at: cg_lower_memory_at(cg, ref); break;
    case OP_dynamic_shared: cg_lower_dynamic_shared(cg, ref); break;
    case OP_atomic: cg_lower_atomic(cg, ref); break;
    case OP_print: cg_lower_print(cg, ref); break;
    case OP_same_array: cg_lower_same_array(cg, ref); break;
    case OP_disjoint: cg_lower_disjoint(cg, ref); break;
    case OP_retain: cg_lower_count(cg, ref, "quern_retain"); break;
    case OP_release: cg_lower_count(cg, ref, "quern_release"); break;
    case OP_closing: cg_lower_closing(cg, ref); break;
    case OP_hold: break;
    case OP_pending: cg_lower_pending(cg, ref); break;
    case OP_guard: cg_lower_guard(cg, ref); break;
    case OP_raise: cg_lower_raise(cg, ref); break;
    case OP_exception: cg_lower_exception(cg, ref); break;
    case OP_caught: cg_lower_caught(cg, ref); break;
    case OP_cause: cg_lower_cause(cg, ref); break;
    case OP_matches: cg_lower_matches(cg, ref); break;
    case OP_reraise: cg_lower_reraise(cg, ref); break;
    default: cg_error(cg, "op %s cannot be compiled", ir_info(inst->op)->name); break;
    }
}
