/* cg_array.c - array values as leaves, element addresses, loads and stores, frozen arrays.
 *
 * Addresses may be computed with no-wrap flags: typed IR promises that indices are in bounds, and an
 * array in memory is smaller than 2^63 bytes. */
#include "codegen/llvm/cg.h"
#include "codegen/objects.h"
#include "codegen/sanitize.h"
#include "codegen/strings.h"
#include <stdio.h>

void cg_array_open(Cg *cg, const Type *type, Value *leaves, ArrayLeaves *out) {
    int32_t k = 0;
    memset(out, 0, sizeof *out);
    out->type = type;
    out->data = leaves[k++];
    if (cg->target->has_owner) out->owner = leaves[k++];
    for (int i = 0; i < type->ndim; i++)
        out->shape[i] = leaves[k++];
    for (int i = 0; i < type->ndim && type->layout == LAYOUT_A; i++)
        out->strides[i] = leaves[k++];
}

void cg_array_close(Cg *cg, const ArrayLeaves *array, Value *leaves) {
    const Type *type = array->type;
    int32_t k = 0;
    leaves[k++] = array->data;
    if (cg->target->has_owner) leaves[k++] = array->owner;
    for (int i = 0; i < type->ndim; i++)
        leaves[k++] = array->shape[i];
    for (int i = 0; i < type->ndim && type->layout == LAYOUT_A; i++)
        leaves[k++] = array->strides[i];
}

/* The axes inside `axis`, which its stride is the product of. */
Value cg_array_stride(Cg *cg, const ArrayLeaves *array, int axis) {
    if (array->strides[axis]) return array->strides[axis];
    const Type *type = array->type;
    Value stride = cg_int(cg->i64, type_size(type->element));
    if (type->layout == LAYOUT_F) {
        for (int i = 0; i < axis; i++)
            stride = LLVMBuildMul(cg->b, stride, array->shape[i], "");
    } else {
        for (int i = type->ndim - 1; i > axis; i--)
            stride = LLVMBuildMul(cg->b, stride, array->shape[i], "");
    }
    return stride;
}

void cg_array_strides(Cg *cg, ArrayLeaves *array) {
    for (int i = 0; i < array->type->ndim; i++)
        array->strides[i] = cg_array_stride(cg, array, i);
}

/* 32-bit index arithmetic where the launch has checked that it suffices and something is multiplied: the
 * index of a contiguous line is a 64-bit counter already, and pointers step along it. */
static bool is_narrow(const Cg *cg) {
    return !cg->target->is_host && !cg->options->general_variant &&
           cg->options->entry == ENTRY_KERNEL;
}

static LType index_type(Cg *cg, const Type *array) {
    return is_narrow(cg) && (array->ndim > 1 || array->layout == LAYOUT_A) ? cg->i32 : cg->i64;
}

static Value to_index(Cg *cg, LType type, Value v) {
    return LLVMTypeOf(v) == type ? v : LLVMBuildTrunc(cg->b, v, type, "");
}

/* A whole element is a C struct of its components; its size is the unit of C and F addresses. */
static LType element_type(Cg *cg, const Type *element) {
    if (!type_is_scalar(element)) return LLVMArrayType2(cg->i8, (uint64_t)type_size(element));
    LType t = cg_memory_type(cg, element->kind);
    return type_is_complex(element) ? LLVMArrayType2(t, 2) : t;
}

/* -- accesses that go on ---------------------------------------------------------------------- */

static Value cg_array_inside(Cg *cg, const ArrayLeaves *array, const Value *indices) {
    Value inside = NULL;
    if (!cg_goes_on(cg)) return NULL;
    for (int i = 0; i < array->type->ndim; i++) {
        Value fits = LLVMBuildICmp(cg->b, LLVMIntULT, indices[i], array->shape[i], "");
        inside = inside ? LLVMBuildAnd(cg->b, inside, fits, "") : fits;
    }
    return inside;
}

Value cg_nowhere(Cg *cg, Value like, int64_t size) {
    int64_t bytes = QN_MAX((size + 15) / 16 * 16, 16);
    LType pointer = LLVMTypeOf(like), type = LLVMArrayType2(cg->i8, (uint64_t)bytes);
    unsigned space = LLVMGetPointerAddressSpace(pointer);
    if (space == cg_space(cg, SPACE_LOCAL) && space != cg_space(cg, SPACE_GLOBAL)) {
        Value memory = cg_alloca(cg, type, "nowhere");
        LLVMSetAlignment(memory, 16);
        return LLVMBuildAddrSpaceCast(cg->b, memory, pointer, "");
    }
    char name[64];
    snprintf(name, sizeof name, "quern_nowhere_%u", space);
    if (bytes > 16) snprintf(name, sizeof name, "quern_nowhere_%u_%lld", space, (long long)bytes);
    Value global = LLVMGetNamedGlobal(cg->mod, name);
    if (global) return global;
    if (space == cg_space(cg, SPACE_SHARED) && space != cg_space(cg, SPACE_GLOBAL)) {
        global = cg->target->shared_static(cg, bytes, 16);
        LLVMSetValueName2(global, name, strlen(name));
        return global;
    }
    global = LLVMAddGlobalInAddressSpace(cg->mod, type, name, space);
    LLVMSetInitializer(global, LLVMConstNull(type));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, 16);
    return global;
}

static Value cg_array_address(Cg *cg, const ArrayLeaves *array, const Value *indices);

/* The element's address, or nowhere; *inside as above. */
static Value safe_address(Cg *cg, const ArrayLeaves *array, const Value *indices, Value *inside) {
    Value address = cg_array_address(cg, array, indices);
    *inside = cg_array_inside(cg, array, indices);
    if (!*inside) return address;
    Value nowhere = cg_nowhere(cg, address, type_size(array->type->element));
    return LLVMBuildSelect(cg->b, *inside, address, nowhere, "");
}

Value cg_safe_address(Cg *cg, const ArrayLeaves *array, const Value *indices) {
    Value inside;
    return safe_address(cg, array, indices, &inside);
}

/* -- addresses -------------------------------------------------------------------------------- */

/* Indices times strides: in bytes, or, where strides are known to be multiples of it, in units of the alignment of an element: of a
 * loop along an axis LLVM then makes a copy for a stride of 1. */
static Value strided_address(Cg *cg, const ArrayLeaves *array, const Value *indices) {
    const Type *type = array->type;
    LType it = index_type(cg, type), unit = cg->i8;
    int64_t size = 1;
    if (cg->whole_strides && type->aligned && type_is_number(type->element)) {
        unit = cg_memory_type(cg, type->element->kind);
        size = type_align(type->element);
    }
    Value at = array->data;
    for (int i = 0; i < type->ndim; i++) {
        Value step = to_index(cg, it, array->strides[i]);
        if (size > 1)
            step = LLVMBuildAShr(cg->b, step,
                                 LLVMConstInt(it, (unsigned)__builtin_ctzll((uint64_t)size), false),
                                 "");
        Value offset = LLVMBuildNSWMul(cg->b, to_index(cg, it, indices[i]), step, "");
        at = LLVMBuildInBoundsGEP2(cg->b, unit, at, &offset, 1, "");
    }
    return at;
}

/* Address of an element; every index is in bounds. */
static Value cg_array_address(Cg *cg, const ArrayLeaves *array, const Value *indices) {
    const Type *type = array->type;
    int n = type->ndim;
    LType it = index_type(cg, type);
    Value at = array->data;
    if (type->layout == LAYOUT_A) return strided_address(cg, array, indices);
    if (n == 0) return at;
    Value split =
        is_narrow(cg) ? cg_split_address(cg, array, element_type(cg, type->element), it) : NULL;
    if (!split && is_narrow(cg) && n > 1)
        split = cg_near_address(cg, array, element_type(cg, type->element), it);
    if (split) return split;
    bool fortran = type->layout == LAYOUT_F;
    Value linear = NULL;
    for (int k = 0; k < n; k++) { /* outermost axis first */
        int axis = fortran ? n - 1 - k : k;
        Value i = to_index(cg, it, indices[axis]);
        if (linear)
            linear = LLVMBuildNSWAdd(
                cg->b, LLVMBuildNSWMul(cg->b, linear, to_index(cg, it, array->shape[axis]), ""), i,
                "");
        else
            linear = i;
    }
    return LLVMBuildInBoundsGEP2(cg->b, element_type(cg, type->element), at, &linear, 1, "");
}

static unsigned cg_array_align(const Type *array) {
    return array->aligned ? (unsigned)type_align(array->element) : 1;
}

/* -- elements --------------------------------------------------------------------------------- */

static Value component_address(Cg *cg, LType type, Value address, int k) {
    if (k == 0) return address;
    Value one = cg_int(cg->i64, 1);
    return LLVMBuildInBoundsGEP2(cg->b, type, address, &one, 1, "");
}

static int components(TypeKind kind) {
    return kind == TY_c64 || kind == TY_c128 ? 2 : 1;
}

void cg_load_scalar(Cg *cg, TypeKind kind, Value address, unsigned align, Value *out) {
    LType type = cg_memory_type(cg, kind);
    for (int k = 0; k < components(kind); k++) {
        Value v = LLVMBuildLoad2(cg->b, type, component_address(cg, type, address, k), "");
        LLVMSetAlignment(v, align);
        cg_accesses(cg, v);
        /* any byte but 0 is true: views can make such bools */
        out[k] = kind == TY_bool ? LLVMBuildICmp(cg->b, LLVMIntNE, v, cg_int(cg->i8, 0), "") : v;
    }
}

void cg_store_scalar(Cg *cg, TypeKind kind, Value address, unsigned align, const Value *leaves) {
    LType type = cg_memory_type(cg, kind);
    for (int k = 0; k < components(kind); k++) {
        Value v = kind == TY_bool ? LLVMBuildZExt(cg->b, leaves[k], cg->i8, "") : leaves[k];
        Value store = LLVMBuildStore(cg->b, v, component_address(cg, type, address, k));
        LLVMSetAlignment(store, align);
        cg_accesses(cg, store);
    }
}

/* Nothing in shared memory is reached by another array. */
static LLVMMetadataRef elements_of(const Cg *cg, const Type *array) {
    return array->space == SPACE_SHARED ? cg->shared : cg->elements;
}

static void open_operand(Cg *cg, Ref ref, int first, ArrayLeaves *array, Value *indices) {
    const Func *ir = cg->f->ir;
    Ref of = ir_arg(ir, ref, 0);
    cg_array_open(cg, cg_type(cg, of), cg_leaves(cg, of), array);
    for (int i = 0; i < array->type->ndim; i++)
        indices[i] = cg_leaf(cg, ir_arg(ir, ref, first + i));
    Op op = (Op)ir_inst(ir, ref)->op;
    int64_t row = op == OP_load || op == OP_store ? ir_inst(ir, ref)->imm : 0;
    if (row) array->shape[array->type->ndim - 1] = cg_int(cg->i64, row);
}

/* Of a buffer, whose accesses do not go on: on the host only. */
static void load_object(Cg *cg, Ref ref, const ArrayLeaves *array, const Value *indices) {
    const Type *element = array->type->element;
    Value *out = cg_new_leaves(cg, element);
    cg->access = cg->elements;
    cg_load_value(cg, element, cg_array_address(cg, array, indices), out);
    cg->access = NULL;
    cg_set(cg, ref, out);
}

/* Nothing is left behind: the bytes of a place that is empty are zero. */
void cg_lower_take(Cg *cg, Ref ref) {
    ArrayLeaves array;
    Value indices[CG_MAX_DIMS];
    open_operand(cg, ref, 1, &array, indices);
    load_object(cg, ref, &array, indices);
    const Type *element = array.type->element;
    if (element->counted)
        LLVMBuildMemSet(cg->b, cg_array_address(cg, &array, indices), cg_int(cg->i8, 0),
                        cg_int(cg->i64, type_size(element)), (unsigned)type_align(element));
}

/* All its bytes. Behind a failed check it is what lies nowhere. */
static void load_record(Cg *cg, Ref ref, const ArrayLeaves *array, const Value *indices) {
    LType type = cg_record_type(cg, array->type->element);
    Value v = LLVMBuildLoad2(cg->b, type, cg_safe_address(cg, array, indices), "");
    LLVMSetAlignment(v, cg_array_align(array->type));
    cg_set1(cg, ref, v);
}

void cg_lower_load(Cg *cg, Ref ref) {
    ArrayLeaves array;
    Value indices[CG_MAX_DIMS];
    open_operand(cg, ref, 1, &array, indices);
    if (array.type->element->kind == TY_RECORD) {
        load_record(cg, ref, &array, indices);
        return;
    }
    if (!type_is_scalar(array.type->element)) {
        load_object(cg, ref, &array, indices);
        return;
    }
    Value *out = cg_new_leaves(cg, array.type->element);
    Value inside, address = safe_address(cg, &array, indices, &inside);
    cg_tell_access(cg, &array, address, ACCESS_READ);
    cg->access = elements_of(cg, array.type);
    cg->accessed = ir_arg(cg->f->ir, ref, 0);
    cg_load_scalar(cg, array.type->element->kind, address, cg_array_align(array.type), out);
    cg->access = NULL;
    cg->accessed = NO_REF;
    for (int32_t k = 0; inside && k < cg_leaf_count(cg, array.type->element); k++)
        out[k] = LLVMBuildSelect(cg->b, inside, out[k], LLVMConstNull(LLVMTypeOf(out[k])), "");
    cg_set(cg, ref, out);
}

void cg_lower_store(Cg *cg, Ref ref) {
    ArrayLeaves array;
    Value indices[CG_MAX_DIMS];
    open_operand(cg, ref, 1, &array, indices);
    const Inst *inst = ir_inst(cg->f->ir, ref);
    Ref value = ir_arg(cg->f->ir, ref, inst->nargs - 1);
    if (cg_type(cg, value) != array.type->element) {
        cg_error(cg, "a store of another type than the array's elements");
        return;
    }
    Value address = cg_safe_address(cg, &array, indices);
    cg_tell_access(cg, &array, address, ACCESS_WRITE);
    if (array.type->element->kind == TY_RECORD) {
        Value stored = LLVMBuildStore(cg->b, cg_leaf(cg, value), address);
        LLVMSetAlignment(stored, cg_array_align(array.type));
        return;
    }
    cg->access = elements_of(cg, array.type);
    if (!type_is_scalar(array.type->element)) {
        if (inst->sub == FLAG_VACANT)
            cg_store_value(cg, array.type->element, address, cg_leaves(cg, value));
        else
            cg_replace_value(cg, array.type->element, address, cg_leaves(cg, value));
    } else {
        cg->accessed = ir_arg(cg->f->ir, ref, 0);
        cg_store_scalar(cg, array.type->element->kind, address, cg_array_align(array.type),
                        cg_leaves(cg, value));
    }
    cg->access = NULL;
    cg->accessed = NO_REF;
}

/* -- identity --------------------------------------------------------------------------------- */

/* Owners do not count: each argument has one of its own, also where one array is passed twice. */
void cg_lower_same_array(Cg *cg, Ref ref) {
    ArrayLeaves x, y;
    Ref a = ir_arg(cg->f->ir, ref, 0), b = ir_arg(cg->f->ir, ref, 1);
    if (cg_type(cg, a)->kind == TY_CLASS) {
        cg_set1(cg, ref, LLVMBuildICmp(cg->b, LLVMIntEQ, cg_leaf(cg, a), cg_leaf(cg, b), ""));
        return;
    }
    cg_array_open(cg, cg_type(cg, a), cg_leaves(cg, a), &x);
    cg_array_open(cg, cg_type(cg, b), cg_leaves(cg, b), &y);
    if (x.type->ndim != y.type->ndim || x.type->element != y.type->element) {
        cg_set1(cg, ref, cg_bool(cg, false));
        return;
    }
    cg_array_strides(cg, &x);
    cg_array_strides(cg, &y);
    Value same = LLVMBuildICmp(cg->b, LLVMIntEQ, x.data, y.data, "");
    for (int i = 0; i < x.type->ndim; i++) {
        Value shape = LLVMBuildICmp(cg->b, LLVMIntEQ, x.shape[i], y.shape[i], "");
        Value stride = LLVMBuildICmp(cg->b, LLVMIntEQ, x.strides[i], y.strides[i], "");
        same = LLVMBuildAnd(cg->b, same, LLVMBuildAnd(cg->b, shape, stride, ""), "");
    }
    cg_set1(cg, ref, same);
}

/* -- overlap ---------------------------------------------------------------------------------- */

typedef struct Bytes {
    Value low, high; /* addresses as i64: of the first byte, and behind the last */
    Value empty;
} Bytes;

/* Addresses of different spaces compare as generic ones. */
static Value address_of(Cg *cg, Value data) {
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(data)))
        data = LLVMBuildAddrSpaceCast(cg->b, data, cg->ptr[0], "");
    return LLVMBuildPtrToInt(cg->b, data, cg->i64, "");
}

/* Elements side by side: the outermost axis times its stride. */
static Bytes dense_bytes(Cg *cg, ArrayLeaves *array) {
    const Type *type = array->type;
    Value size = cg_int(cg->i64, type_size(type->element)), low = address_of(cg, array->data);
    int outer = type->layout == LAYOUT_F ? type->ndim - 1 : 0;
    if (type->ndim)
        size = LLVMBuildMul(cg->b, array->shape[outer], cg_array_stride(cg, array, outer), "");
    return (Bytes){low, LLVMBuildAdd(cg->b, low, size, ""),
                   LLVMBuildICmp(cg->b, LLVMIntEQ, size, cg_int(cg->i64, 0), "")};
}

/* Negative strides reach down from the data, the others up. */
static Bytes strided_bytes(Cg *cg, ArrayLeaves *array) {
    Value zero = cg_int(cg->i64, 0), size = cg_int(cg->i64, type_size(array->type->element));
    Value low = address_of(cg, array->data), high = LLVMBuildAdd(cg->b, low, size, "");
    Bytes bytes = {low, high, cg_bool(cg, false)};
    for (int i = 0; i < array->type->ndim; i++) {
        Value last = LLVMBuildSub(cg->b, array->shape[i], cg_int(cg->i64, 1), "");
        Value reach = LLVMBuildMul(cg->b, last, array->strides[i], "");
        Value none = LLVMBuildICmp(cg->b, LLVMIntEQ, array->shape[i], zero, "");
        Value up = LLVMBuildICmp(cg->b, LLVMIntSGT, reach, zero, "");
        bytes.empty = LLVMBuildOr(cg->b, bytes.empty, none, "");
        Value down = LLVMBuildSelect(cg->b, up, zero, reach, "");
        up = LLVMBuildSelect(cg->b, up, reach, zero, "");
        bytes.low = LLVMBuildAdd(cg->b, bytes.low, down, "");
        bytes.high = LLVMBuildAdd(cg->b, bytes.high, up, "");
    }
    return bytes;
}

static Bytes bytes_of(Cg *cg, Ref ref) {
    ArrayLeaves array;
    cg_array_open(cg, cg_type(cg, ref), cg_leaves(cg, ref), &array);
    return array.type->layout == LAYOUT_A ? strided_bytes(cg, &array) : dense_bytes(cg, &array);
}

/* Two columns of one array: with one stride, elements of each lie between those of the other. */
static Value are_interleaved(Cg *cg, const ArrayLeaves *x, const ArrayLeaves *y) {
    Value zero = cg_int(cg->i64, 0), one = cg_int(cg->i64, 1), step = x->strides[0];
    Value same = LLVMBuildICmp(cg->b, LLVMIntEQ, step, y->strides[0], "");
    Value down = LLVMBuildICmp(cg->b, LLVMIntSLT, step, zero, "");
    step = LLVMBuildSelect(cg->b, down, LLVMBuildNeg(cg->b, step, ""), step, "");
    Value none = LLVMBuildICmp(cg->b, LLVMIntEQ, step, zero, "");
    step = LLVMBuildSelect(cg->b, none, one, step, "");
    Value from = address_of(cg, x->data), to = address_of(cg, y->data);
    Value rest = LLVMBuildSRem(cg->b, LLVMBuildSub(cg->b, to, from, ""), step, "");
    Value below = LLVMBuildICmp(cg->b, LLVMIntSLT, rest, zero, "");
    rest = LLVMBuildSelect(cg->b, below, LLVMBuildAdd(cg->b, rest, step, ""), rest, "");
    Value behind = cg_int(cg->i64, type_size(x->type->element));
    Value end = LLVMBuildAdd(cg->b, rest, cg_int(cg->i64, type_size(y->type->element)), "");
    Value fits = LLVMBuildAnd(cg->b, LLVMBuildICmp(cg->b, LLVMIntSGE, rest, behind, ""),
                              LLVMBuildICmp(cg->b, LLVMIntSLE, end, step, ""), "");
    return LLVMBuildAnd(cg->b, same, fits, "");
}

void cg_lower_disjoint(Cg *cg, Ref ref) {
    Ref a = ir_arg(cg->f->ir, ref, 0), b = ir_arg(cg->f->ir, ref, 1);
    Bytes p = bytes_of(cg, a), q = bytes_of(cg, b);
    Value apart = LLVMBuildOr(cg->b, LLVMBuildICmp(cg->b, LLVMIntULE, p.high, q.low, ""),
                              LLVMBuildICmp(cg->b, LLVMIntULE, q.high, p.low, ""), "");
    apart = LLVMBuildOr(cg->b, apart, LLVMBuildOr(cg->b, p.empty, q.empty, ""), "");
    ArrayLeaves x, y;
    cg_array_open(cg, cg_type(cg, a), cg_leaves(cg, a), &x);
    cg_array_open(cg, cg_type(cg, b), cg_leaves(cg, b), &y);
    if (x.type->ndim == 1 && y.type->ndim == 1 && x.type->layout == LAYOUT_A &&
        y.type->layout == LAYOUT_A)
        apart = LLVMBuildOr(cg->b, apart, are_interleaved(cg, &x, &y), "");
    cg_set1(cg, ref, apart);
}

/* -- frozen arrays ---------------------------------------------------------------------------- */

/* What is compiled ahead of time has the layout inside, and no list. */
static Value closed_cells(Cg *cg, const CellLayout *cells) {
    Value *offsets = arena_array(cg->arena, Value, cells->n + 1);
    for (int32_t i = 0; i < cells->n; i++)
        offsets[i] = cg_int(cg->i64, cells->offsets[i]);
    Value fields[] = {LLVMConstNull(cg->ptr[0]), cg_int(cg->i64, cells->first),
                      cg_int(cg->i64, cells->size), cg_int(cg->i32, cells->n),
                      LLVMConstArray2(cg->i64, offsets, (uint64_t)cells->n)};
    Value layout = LLVMConstStructInContext(cg->context, fields, countof(fields), false);
    Value global = LLVMAddGlobal(cg->mod, LLVMTypeOf(layout), "quern.cells");
    LLVMSetInitializer(global, layout);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetGlobalConstant(global, true);
    return global;
}

/* Likewise the object of a constant: StrObject (strings.h), which nobody ever frees. */
static Value closed_text(Cg *cg, const StrObject *s) {
    Value zero = cg_int(cg->i64, 0), null = LLVMConstNull(cg->ptr[0]);
    Value bytes = LLVMConstStringInContext2(cg->context, s->data, (size_t)s->nbytes, true);
    Value data = LLVMAddGlobal(cg->mod, LLVMTypeOf(bytes), "quern.code_points");
    LLVMSetInitializer(data, bytes);
    LLVMSetLinkage(data, LLVMInternalLinkage);
    LLVMSetGlobalConstant(data, true);
    LLVMSetAlignment(data, (unsigned)s->kind);
    Value header[] = {cg_int(cg->i64, OWNER_BORROWED), null, null, null, zero, null};
    Value fields[] = {LLVMConstStructInContext(cg->context, header, countof(header), false),
                      cg_int(cg->i64, s->length),
                      cg_int(cg->i64, s->kind),
                      cg_int(cg->i64, s->hash),
                      data,
                      null,
                      cg_int(cg->i64, s->nbytes),
                      cg_int(cg->i64, s->stride)};
    return LLVMConstStructInContext(cg->context, fields, countof(fields), false);
}
_Static_assert(sizeof(StrObject) == OBJECT_HEADER + 7 * 8 && sizeof(ObjectHeader) == 6 * 8,
               "closed_text() writes them all");

static int32_t number_of(Cg *cg, CodeAddress address) {
    for (int32_t k = 0; k < cg->addresses.len; k++) {
        const CodeAddress *known = &cg->addresses.items[k];
        if (known->address == address.address && known->handle == address.handle) return k;
    }
    vec_push(cg->arena, &cg->addresses, address);
    return cg->addresses.len - 1;
}

/* The module of lazy functions shares the list. What belongs to the user is known by where it lies: no other code may have it. What is
 * compiled ahead of time has names that no other function has: whoever links it says where they are. */
static const char *address_name(Cg *cg, CodeAddress address) {
    cg->is_private |= cg->root && address.handle;
    Str prefix = cg->options->closed ? str_printf(cg->arena, "%s.at.", cg_entry_name(cg))
                                     : STR(HOST_ADDRESS_PREFIX);
    return str_printf(cg->arena, STR_FMT "%d", STR_ARG(prefix), (int)number_of(cg, address)).bytes;
}

Value cg_host_address(Cg *cg, CodeAddress address, LType type) {
    bool closed = cg->options->closed;
    if (closed && address.kind == ADDRESS_CELLS) return closed_cells(cg, address.address);
    const char *name = address_name(cg, address);
    Value global = LLVMGetNamedGlobal(cg->mod, name);
    if (global) return global;
    Value content =
        closed && address.kind == ADDRESS_TEXT ? closed_text(cg, address.address) : NULL;
    global = LLVMAddGlobal(cg->mod, content ? LLVMTypeOf(content) : type, name);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, content ? 8 : 1);
    if (content) {
        LLVMSetInitializer(global, content);
        LLVMSetLinkage(global, LLVMInternalLinkage);
    }
    return global;
}

Value cg_host_function(Cg *cg, CodeAddress address, LType type) {
    const char *name = address_name(cg, address);
    Value function = LLVMGetNamedFunction(cg->mod, name);
    return function ? function : LLVMAddFunction(cg->mod, name, type);
}

/* It begins with the lowest byte, which is not the first element where a stride is negative. */
static Value global_in_place(Cg *cg, const FrozenArray *frozen) {
    int64_t below = 0, above = 0;
    for (int i = 0; i < frozen->type->ndim; i++) {
        int64_t span = (frozen->shape[i] - 1) * frozen->strides[i];
        *(span < 0 ? &below : &above) += span;
    }
    int64_t size = above - below + type_size(frozen->type->element);
    CodeAddress address = {
        ADDRESS_ARRAY, (const char *)frozen->bytes + below, frozen->handle, below, {0}};
    Value global = cg_host_address(cg, address, LLVMArrayType2(cg->i8, (uint64_t)size));
    Value offset = cg_int(cg->i64, -below);
    return below ? LLVMConstInBoundsGEP2(cg->i8, global, &offset, 1) : global;
}

/* The device's address of the first element, as it is. */
static Value captured(Cg *cg, const FrozenArray *frozen) {
    Value address = cg_int(cg->i64, (int64_t)(intptr_t)frozen->bytes);
    return LLVMConstIntToPtr(address, cg->ptr[cg_space(cg, (Space)frozen->type->space)]);
}

static Value frozen_global(Cg *cg, const FrozenArray *frozen) {
    if (frozen->on_device) return captured(cg, frozen);
    if (frozen->in_place) return global_in_place(cg, frozen);
    MapValue *known = map_find(&cg->frozen, map_key(frozen));
    if (known) return known->ptr;
    char name[64];
    snprintf(name, sizeof name, "quern.frozen.%d", (int)cg->frozen.len);
    unsigned space = cg_space(cg, (Space)frozen->type->space);
    Value bytes =
        LLVMConstStringInContext2(cg->context, frozen->bytes, (size_t)frozen->nbytes, true);
    Value global = LLVMAddGlobalInAddressSpace(cg->mod, LLVMTypeOf(bytes), name, space);
    LLVMSetInitializer(global, bytes);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, 64);
    cg->const_bytes += (int32_t)frozen->nbytes;
    map_put(&cg->frozen, map_key(frozen))->ptr = global;
    return global;
}

void cg_lower_frozen(Cg *cg, Ref ref) {
    const FrozenArray *frozen = ir_inst(cg->f->ir, ref)->u.frozen;
    Value global = frozen_global(cg, frozen);
    ArrayLeaves array = {.type = cg_type(cg, ref), .data = global};
    array.owner = LLVMConstNull(cg->ptr[0]); /* lives as long as the code */
    for (int i = 0; i < array.type->ndim; i++)
        array.shape[i] = cg_int(cg->i64, frozen->shape[i]);
    bool strided = array.type->layout == LAYOUT_A && frozen->in_place;
    for (int i = 0; strided && i < array.type->ndim; i++)
        array.strides[i] = cg_int(cg->i64, frozen->strides[i]);
    if (array.type->layout == LAYOUT_A && !frozen->in_place) {
        ArrayLeaves dense = array;
        Type c = *array.type;
        c.layout = LAYOUT_C;
        dense.type = &c;
        for (int i = 0; i < array.type->ndim; i++)
            array.strides[i] = cg_array_stride(cg, &dense, i);
    }
    Value *out = cg_new_leaves(cg, array.type);
    cg_array_close(cg, &array, out);
    cg_set(cg, ref, out);
}
