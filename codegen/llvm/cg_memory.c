/* cg_memory.c - memory that compiled code makes: allocated arrays and their counts, shared and local
 * arrays of kernels, and atomic operations. */
#include "codegen/llvm/cg.h"
#include "codegen/sanitize.h"
#include "codegen/support.h"
#include <stdio.h>

/* -- allocated arrays ------------------------------------------------------------------------- */

/* Bytes of a new array; fails for negative dimensions and sizes past 63 bits. */
static Value checked_bytes(Cg *cg, const Type *type, const Value *shape) {
    Value bytes = cg_int(cg->i64, type_size(type->element));
    Value negative = cg_bool(cg, false), overflow = cg_bool(cg, false);
    for (int i = 0; i < type->ndim; i++) {
        Value below = LLVMBuildICmp(cg->b, LLVMIntSLT, shape[i], cg_int(cg->i64, 0), "");
        negative = LLVMBuildOr(cg->b, negative, below, "");
        Value product = cg_intrinsic2(cg, "llvm.umul.with.overflow", bytes, shape[i]);
        bytes = LLVMBuildExtractValue(cg->b, product, 0, "");
        overflow = LLVMBuildOr(cg->b, overflow, LLVMBuildExtractValue(cg->b, product, 1, ""), "");
    }
    Value limit = cg_int(cg->i64, INT64_MAX - SUPPORT_ARRAY_SLACK);
    overflow = LLVMBuildOr(cg->b, overflow, LLVMBuildICmp(cg->b, LLVMIntUGT, bytes, limit, ""), "");
    cg_fail_if(cg, negative, GUARD_negative_dimension, NULL, 0);
    cg_fail_if(cg, overflow, GUARD_too_large, NULL, 0);
    return bytes;
}

void cg_lower_alloc(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    if (!cg->target->has_owner) {
        cg_error(cg, "an array cannot be allocated on the target %s", cg->target->name);
        return;
    }
    ArrayLeaves array = {.type = inst->type};
    for (int i = 0; i < inst->type->ndim; i++)
        array.shape[i] = cg_leaf(cg, ir_arg(ir, ref, i));
    Value bytes = checked_bytes(cg, inst->type, array.shape);
    const Type *element = inst->type->element;
    Value args[] = {bytes, cg_int(cg->i32, inst->sub == FLAG_ZEROED)};
    if (element->counted)
        array.owner = cg_new_buffer(cg, element, bytes);
    else
        array.owner = cg_call_extern(cg, "quern_alloc_array", cg->ptr[0], args, 2);
    const char *name = element->counted ? "quern_alloc_buffer" : "quern_alloc_array";
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    cg_attribute(cg, fn, LLVMAttributeReturnIndex, "noalias", 0);
    cg_attribute(cg, fn, LLVMAttributeReturnIndex, "align", SUPPORT_SMALL_ALIGN);
    cg_fail_if(cg, LLVMBuildIsNull(cg->b, array.owner, ""), GUARD_memory, &bytes, 1);
    Value offset = cg_int(cg->i64, SUPPORT_ARRAY_HEADER);
    array.data = LLVMBuildInBoundsGEP2(cg->b, cg->i8, array.owner, &offset, 1, "");
    if (inst->type->layout == LAYOUT_A) {
        cg_error(cg, "a new array has the layout C or F");
        return;
    }
    Value *out = cg_new_leaves(cg, inst->type);
    cg_array_close(cg, &array, out);
    cg_set(cg, ref, out);
}

/* Counting keeps no pointer: an array that only its function knows stays one that nobody else loads from or stores into. */
static void count_owner(Cg *cg, const char *function, Value owner) {
    cg_call_extern(cg, function, cg->void_, &owner, 1);
    Value fn = LLVMGetNamedFunction(cg->mod, function);
    if (fn) cg_attribute(cg, fn, 1, "nocapture", 0);
}

/* The place of a frame is empty each time that a generator goes on, and LLVM knows it there: no call. */
static void release_array(Cg *cg, const Type *type, Value owner) {
    BB behind = type_holds_frame(type) ? cg_block(cg, "released") : NULL;
    if (behind) {
        BB held = cg_block(cg, "held");
        LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, owner, ""), behind, held);
        cg_at(cg, held);
    }
    cg_drop_frame(cg, type, owner);
    count_owner(cg, "quern_release", owner);
    if (!behind) return;
    LLVMBuildBr(cg->b, behind);
    cg_at(cg, behind);
}

void cg_count_owners(Cg *cg, const Type *type, Value *leaves, const char *function) {
    if (type->kind == TY_CLASS) {
        count_owner(cg, function, leaves[0]);
    } else if (type->kind == TY_ARRAY) {
        ArrayLeaves array;
        cg_array_open(cg, type, leaves, &array);
        bool counts = array.owner && !LLVMIsAConstantPointerNull(array.owner);
        if (counts && strcmp(function, "quern_release") == 0)
            release_array(cg, type, array.owner);
        else if (counts)
            count_owner(cg, function, array.owner);
    } else if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++) {
            cg_count_owners(cg, type->items[i], leaves, function);
            leaves += cg_leaf_count(cg, type->items[i]);
        }
    }
}

/* Memory of the function has no owner: what it holds is what lies there (emit_here in typeinfer). */
static bool release_content(Cg *cg, Ref of) {
    const Type *type = cg_type(cg, of);
    if (ir_inst(cg->f->ir, of)->op != OP_static_array || !type->element->counted) return false;
    ArrayLeaves array;
    cg_array_open(cg, type, cg_leaves(cg, of), &array);
    Value *content = cg_new_leaves(cg, type->element);
    cg_load_value(cg, type->element, array.data, content);
    cg_count_owners(cg, type->element, content, "quern_release");
    return true;
}

void cg_lower_count(Cg *cg, Ref ref, const char *function) {
    Ref of = ir_arg(cg->f->ir, ref, 0);
    if (release_content(cg, of)) return;
    cg_count_owners(cg, cg_type(cg, of), cg_leaves(cg, of), function);
}

/* -- what the sanitizer is told ----------------------------------------------------------------- */

void cg_tell_access(Cg *cg, const ArrayLeaves *array, Value address, int access) {
    if (!cg->options->sanitize || array->type->space == SPACE_LOCAL) return;
    Value args[] = {address, cg_int(cg->i32, type_size(array->type->element)),
                    cg_int(cg->i32, access), cg_int(cg->i32, cg_site(cg))};
    cg_call_extern(cg, "quern_sanitize_access", cg->void_, args, 4);
}

/* -- arrays of kernels ------------------------------------------------------------------------ */

static int64_t shape_of(Cg *cg, Ref ref, ArrayLeaves *array) {
    const ConstVal *shape = ir_inst(cg->f->ir, ref)->u.value;
    int64_t count = 1;
    for (int i = 0; i < array->type->ndim; i++) {
        const ConstVal *n = shape->kind == CONST_TUPLE ? shape->items[i] : shape;
        if ((shape->kind == CONST_TUPLE && shape->nitems != array->type->ndim) ||
            n->kind != CONST_INT || n->i < 0 || __builtin_mul_overflow(count, n->i, &count)) {
            cg_error(cg, "a static array of this shape");
            return 0;
        }
        array->shape[i] = cg_int(cg->i64, n->i);
    }
    if (__builtin_mul_overflow(count, type_size(array->type->element), &count) || count > INT32_MAX)
        cg_error(cg, "a static array is larger than 2 GiB");
    return count;
}

/* The first address that is a multiple of `align`. */
static Value round_up(Cg *cg, Value address, int64_t align) {
    Value bits = LLVMBuildPtrToInt(cg->b, address, cg->i64, "");
    Value behind =
        LLVMBuildAnd(cg->b, LLVMBuildNeg(cg->b, bits, ""), cg_int(cg->i64, align - 1), "");
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, address, &behind, 1, "aligned");
}

/* Of numbers where it can be: only then a GPU may keep it in registers. */
static LType local_type(Cg *cg, const Type *element, int64_t bytes) {
    bool numbers = type_is_number(element) && !type_is_complex(element);
    LType type = numbers ? cg_memory_type(cg, element->kind) : cg->i8;
    int64_t size = numbers ? type_size(element) : 1;
    return LLVMArrayType2(type, (uint64_t)((bytes + size - 1) / size));
}

/* Frames of coroutines and the memory of blocks on the host are aligned to less than a program may ask for: arrays are
 * longer by that there, and begin where they may. */
void cg_lower_static_array(Cg *cg, Ref ref) {
    ArrayLeaves array = {.type = cg_type(cg, ref)};
    int64_t bytes = shape_of(cg, ref, &array), align = ir_inst(cg->f->ir, ref)->sub;
    if (cg->failed) return;
    align = align ? align * STATIC_ALIGN_UNIT : 16;
    bool rounded = align > 16 && cg->target->is_host;
    int64_t asked = align;
    if (rounded) bytes += align, align = 16;
    unsigned space = cg_space(cg, (Space)array.type->space);
    if (array.type->space == SPACE_SHARED) {
        array.data = cg->target->shared_static(cg, bytes, align);
        cg->static_shared += (int32_t)bytes;
    } else if (ir_inst(cg->f->ir, ref)->op == OP_kept_array) {
        array.data = cg_kept_bytes(cg, ir_inst(cg->f->ir, ref)->imm, bytes);
    } else {
        array.data = cg_alloca(cg, local_type(cg, array.type->element, bytes), "local");
        cg->local_bytes += (int32_t)bytes;
        LLVMSetAlignment(array.data, (unsigned)align);
        if (space) array.data = LLVMBuildAddrSpaceCast(cg->b, array.data, cg->ptr[space], "");
    }
    if (rounded) array.data = round_up(cg, array.data, asked);
    if (array.type->element->counted) /* empty */
        LLVMBuildMemSet(cg->b, array.data, cg_int(cg->i8, 0), cg_int(cg->i64, bytes),
                        (unsigned)align);
    if (cg->target->has_owner) array.owner = LLVMConstNull(cg->ptr[0]);
    for (int i = 0; i < array.type->ndim && array.type->layout == LAYOUT_A; i++) {
        Type dense = *array.type;
        dense.layout = LAYOUT_C;
        ArrayLeaves c = array;
        c.type = &dense;
        c.strides[i] = NULL;
        array.strides[i] = cg_array_stride(cg, &c, i);
    }
    Value *out = cg_new_leaves(cg, array.type);
    cg_array_close(cg, &array, out);
    cg_set(cg, ref, out);
}

/* An array that nobody has to give back. */
static void set_unowned(Cg *cg, Ref ref, ArrayLeaves *array) {
    if (cg->target->has_owner) array->owner = LLVMConstNull(cg->ptr[0]);
    Value *out = cg_new_leaves(cg, array->type);
    cg_array_close(cg, array, out);
    cg_set(cg, ref, out);
}

void cg_lower_dynamic_shared(Cg *cg, Ref ref) {
    ArrayLeaves array = {.type = cg_type(cg, ref)};
    if (array.type->ndim != 1) {
        cg_error(cg, "dynamic shared memory is an array of one dimension");
        return;
    }
    cg->uses_dynamic_shared = true;
    int64_t size = type_size(array.type->element);
    array.data = cg->target->shared_dynamic(cg);
    Value bytes = cg->target->shared_dynamic_size(cg);
    array.shape[0] = LLVMBuildUDiv(cg->b, bytes, cg_int(cg->i64, size), "");
    array.strides[0] = cg_int(cg->i64, size);
    set_unowned(cg, ref, &array);
}

void cg_lower_memory_at(Cg *cg, Ref ref) {
    ArrayLeaves array = {.type = cg_type(cg, ref)};
    Value address = cg_leaf(cg, ir_arg(cg->f->ir, ref, 0));
    array.data = LLVMBuildIntToPtr(cg->b, address, cg->ptr[0], "");
    array.shape[0] = cg_int(cg->i64, INT64_MAX);
    array.strides[0] = cg_int(cg->i64, 1);
    set_unowned(cg, ref, &array);
}

/* -- atomics ---------------------------------------------------------------------------------- */

typedef struct Atomic {
    AtomicOp op;
    const Type *element;
    Value address;
    const Value *operand, *desired;
    bool is_float, is_signed;
    unsigned align;
} Atomic;

static Value compare_exchange(Cg *cg, const Atomic *a, Value expected, Value desired) {
    if (cg->target->cmpxchg)
        return cg->target->cmpxchg(cg, a->address, expected, desired, a->align);
    Value pair =
        LLVMBuildAtomicCmpXchg(cg->b, a->address, expected, desired, LLVMAtomicOrderingMonotonic,
                               LLVMAtomicOrderingMonotonic, false);
    LLVMSetAlignment(pair, a->align);
    return pair;
}

static Value cmpxchg(Cg *cg, const Atomic *a, Value expected, Value desired, Value *done) {
    LType bits = a->is_float ? LLVMIntTypeInContext(cg->context, (unsigned)type_bits(a->element))
                             : LLVMTypeOf(expected);
    if (a->is_float) {
        expected = LLVMBuildBitCast(cg->b, expected, bits, "");
        desired = LLVMBuildBitCast(cg->b, desired, bits, "");
    }
    Value pair = compare_exchange(cg, a, expected, desired);
    *done = LLVMBuildExtractValue(cg->b, pair, 1, "");
    Value old = LLVMBuildExtractValue(cg->b, pair, 0, "");
    return a->is_float ? LLVMBuildBitCast(cg->b, old, cg_scalar_type(cg, a->element->kind), "")
                       : old;
}

/* Does a float min or max replace the old element? A NaN operand never does; a NaN element stays,
 * except with nanmin and nanmax. */
static Value replaces(Cg *cg, const Atomic *a, Value old) {
    bool max = a->op == ATOMIC_max || a->op == ATOMIC_nanmax;
    Value better = LLVMBuildFCmp(cg->b, max ? LLVMRealOGT : LLVMRealOLT, a->operand[0], old, "");
    if (a->op == ATOMIC_max || a->op == ATOMIC_min) return better;
    Value number = LLVMBuildNot(cg->b, cg_float_class(cg, a->operand[0], "nan"), "");
    Value was_nan = LLVMBuildAnd(cg->b, cg_float_class(cg, old, "nan"), number, "");
    return LLVMBuildOr(cg->b, better, was_nan, "");
}

static Value float_minmax(Cg *cg, const Atomic *a) {
    LType type = cg_scalar_type(cg, a->element->kind);
    Value first = LLVMBuildLoad2(cg->b, type, a->address, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, a->align);
    BB entry = LLVMGetInsertBlock(cg->b);
    BB head = cg_block(cg, "atomic"), swap = cg_block(cg, "swap"), exit = cg_block(cg, "done");
    LLVMBuildBr(cg->b, head);
    cg_at(cg, head);
    Value old = LLVMBuildPhi(cg->b, type, ""), done;
    LLVMBuildCondBr(cg->b, replaces(cg, a, old), swap, exit);
    cg_at(cg, swap);
    Value seen = cmpxchg(cg, a, old, a->operand[0], &done);
    LLVMBuildCondBr(cg->b, done, exit, head);
    LLVMAddIncoming(old, (Value[]){first, seen}, (BB[]){entry, swap}, 2);
    cg_at(cg, exit);
    return old;
}

static Value read_modify_write(Cg *cg, const Atomic *a, Value address, Value operand) {
    LLVMAtomicRMWBinOp op;
    bool f = a->is_float, s = a->is_signed;
    switch ((int)a->op) {
    case ATOMIC_add: op = f ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd; break;
    case ATOMIC_sub: op = f ? LLVMAtomicRMWBinOpFSub : LLVMAtomicRMWBinOpSub; break;
    case ATOMIC_and: op = LLVMAtomicRMWBinOpAnd; break;
    case ATOMIC_or: op = LLVMAtomicRMWBinOpOr; break;
    case ATOMIC_xor: op = LLVMAtomicRMWBinOpXor; break;
    case ATOMIC_exch: op = LLVMAtomicRMWBinOpXchg; break;
    case ATOMIC_max:
    case ATOMIC_nanmax: op = s ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax; break;
    case ATOMIC_min:
    case ATOMIC_nanmin: op = s ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin; break;
    case ATOMIC_inc: op = LLVMAtomicRMWBinOpUIncWrap; break;
    default: op = LLVMAtomicRMWBinOpUDecWrap; break;
    }
    if (f && a->op == ATOMIC_sub) { /* adding the negative is exact, and hardware has it */
        op = LLVMAtomicRMWBinOpFAdd;
        operand = LLVMBuildFNeg(cg->b, operand, "");
    }
    bool wraps = a->op == ATOMIC_inc || a->op == ATOMIC_dec;
    const char *name = a->op == ATOMIC_inc ? cg->target->atomic_inc : cg->target->atomic_dec;
    if (wraps && name && type_bits(a->element) == 32) {
        LType space = LLVMTypeOf(address);
        return cg_intrinsic(cg, name, &space, 1, (Value[]){address, operand}, 2);
    }
    if (cg->target->rmw) return cg->target->rmw(cg, op, address, operand, a->align);
    Value rmw = LLVMBuildAtomicRMW(cg->b, op, address, operand, LLVMAtomicOrderingMonotonic, false);
    LLVMSetAlignment(rmw, a->align);
    return rmw;
}

static bool admitted(Cg *cg, const Atomic *a) {
    static const char *const classes[] = {
#define ATOMIC(name, operands, cls) cls,
#include "frontend/ir/ir_atomics.def"
#undef ATOMIC
    };
    char c = type_is_complex(a->element)            ? 'c'
             : a->is_float                          ? 'f'
             : type_class(a->element) == CLASS_UINT ? 'u'
             : type_class(a->element) == CLASS_SINT ? 'i'
                                                    : '-';
    if (!strchr(classes[a->op], c))
        return cg_error(cg, "this atomic operation on elements of %s",
                        type_name_of_kind(a->element->kind));
    return true;
}

void cg_lower_atomic(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    Ref of = ir_arg(ir, ref, 0);
    ArrayLeaves array;
    Value indices[CG_MAX_DIMS];
    cg_array_open(cg, cg_type(cg, of), cg_leaves(cg, of), &array);
    int n = array.type->ndim;
    for (int i = 0; i < n; i++)
        indices[i] = cg_leaf(cg, ir_arg(ir, ref, 1 + i));
    Atomic a = {.op = (AtomicOp)inst->sub, .element = array.type->element};
    a.operand = cg_leaves(cg, ir_arg(ir, ref, 1 + n));
    if (inst->nargs > 2 + n) a.desired = cg_leaves(cg, ir_arg(ir, ref, 2 + n));
    a.is_float = type_is_float(a.element) || type_is_complex(a.element);
    a.is_signed = type_class(a.element) == CLASS_SINT;
    a.align = (unsigned)type_align(a.element);
    if (!admitted(cg, &a)) return;
    if (!array.type->aligned) {
        cg_error(cg, "an atomic operation needs an aligned array");
        return;
    }
    a.address = cg_safe_address(cg, &array, indices);
    cg_tell_access(cg, &array, a.address, ACCESS_ATOMIC);
    Value *out = cg_new_leaves(cg, a.element), done;
    bool minmax =
        a.op == ATOMIC_max || a.op == ATOMIC_min || a.op == ATOMIC_nanmax || a.op == ATOMIC_nanmin;
    if (a.op == ATOMIC_cas) {
        out[0] = cmpxchg(cg, &a, a.operand[0], a.desired[0], &done);
    } else if (a.is_float && minmax) {
        out[0] = float_minmax(cg, &a);
    } else {
        out[0] = read_modify_write(cg, &a, a.address, a.operand[0]);
        if (type_is_complex(a.element)) { /* each component for itself */
            Value one = cg_int(cg->i64, 1);
            Value im =
                LLVMBuildInBoundsGEP2(cg->b, LLVMTypeOf(a.operand[1]), a.address, &one, 1, "");
            out[1] = read_modify_write(cg, &a, im, a.operand[1]);
        }
    }
    cg_set(cg, ref, out);
}
