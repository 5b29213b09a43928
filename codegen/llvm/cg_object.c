/* cg_object.c - objects on the heap and their fields, and buffers of what is counted. The value of an object is one leaf, a
 * pointer to its header. */
#include "codegen/llvm/cg.h"
#include "codegen/objects.h"
#include "codegen/strings.h"
#include "codegen/support.h"

static Value layout_global(Cg *cg, const CellLayout *cells) {
    if (!cells) cg_error(cg, "there is no memory for the layout of an object");
    return cg_host_address(cg, (CodeAddress){.kind = ADDRESS_CELLS, .address = cells}, cg->i8);
}

static bool has_objects(Cg *cg) {
    return cg->target->has_owner ||
           cg_error(cg, "there are no objects on the target %s", cg->target->name);
}

Value cg_literal(Cg *cg, Str text) {
    const StrObject *object = has_objects(cg) ? string_literal(text) : NULL;
    if (object) {
        CodeAddress address = {.kind = ADDRESS_TEXT, .address = object, .text = text};
        Value global = cg_host_address(cg, address, cg->i8);
        LLVMSetGlobalConstant(global, false); /* it is counted, and keeps its hash */
        return global;
    }
    cg_error(cg, "there is no memory for a constant");
    return LLVMConstNull(cg->ptr[0]);
}

static Value field_address(Cg *cg, const Type *cls, Value object, int64_t field) {
    Value offset = cg_int(cg->i64, type_offset(cls, (int32_t)field));
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, object, &offset, 1, "");
}

void cg_lower_character(Cg *cg, Ref ref) {
    Value code = cg_leaf(cg, ir_arg(cg->f->ir, ref, 0));
    if (has_objects(cg))
        cg_set1(cg, ref, cg_call_extern(cg, "quern_character", cg->ptr[0], &code, 1));
}

void cg_lower_new(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Type *cls = cg_type(cg, ref);
    if (!has_objects(cg)) return;
    Value cells = layout_global(cg, object_cells(cls));
    Value object = cg_call_extern(cg, "quern_new_object", cg->ptr[0], &cells, 1);
    Value fn = LLVMGetNamedFunction(cg->mod, "quern_new_object");
    cg_attribute(cg, fn, LLVMAttributeReturnIndex, "noalias", 0);
    Value size = cg_int(cg->i64, cls->object_size);
    cg_fail_if(cg, LLVMBuildIsNull(cg->b, object, ""), GUARD_memory, &size, 1);
    for (int32_t k = 0; k < cls->nitems; k++)
        cg_store_value(cg, cls->items[k], field_address(cg, cls, object, k),
                       cg_leaves(cg, ir_arg(ir, ref, k)));
    cg_set1(cg, ref, object);
}

void cg_lower_field(Cg *cg, Ref ref) {
    Ref of = ir_arg(cg->f->ir, ref, 0);
    const Type *type = cg_type(cg, ref);
    Value *out = cg_new_leaves(cg, type);
    Value at = field_address(cg, cg_type(cg, of), cg_leaf(cg, of), ir_inst(cg->f->ir, ref)->imm);
    cg->access = cg->fields;
    cg_load_value(cg, type, at, out);
    cg->access = NULL;
    cg_set(cg, ref, out);
}

/* The new value is there before the old one goes: that may run through many objects. */
void cg_replace_value(Cg *cg, const Type *type, Value address, const Value *leaves) {
    Value *old = type->counted ? cg_new_leaves(cg, type) : NULL;
    if (old) cg_load_value(cg, type, address, old);
    cg_store_value(cg, type, address, leaves);
    if (old) cg_count_owners(cg, type, old, "quern_release");
}

void cg_lower_set_field(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    Ref of = ir_arg(ir, ref, 0), value = ir_arg(ir, ref, 1);
    Value at = field_address(cg, cg_type(cg, of), cg_leaf(cg, of), ir_inst(ir, ref)->imm);
    cg->access = cg->fields;
    cg_replace_value(cg, cg_type(cg, value), at, cg_leaves(cg, value));
    cg->access = NULL;
}

/* The memory of a new array with elements of that type; NULL: no room. */
Value cg_new_buffer(Cg *cg, const Type *element, Value bytes) {
    Value args[] = {bytes, layout_global(cg, buffer_cells(element))};
    return cg_call_extern(cg, "quern_alloc_buffer", cg->ptr[0], args, 2);
}

static Value element_address(Cg *cg, Ref array, Ref index) {
    const Type *type = cg_type(cg, array);
    Value at = cg_leaf(cg, index), size = cg_int(cg->i64, type_size(type->element));
    at = LLVMBuildNSWMul(cg->b, at, size, "");
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, cg_leaves(cg, array)[0], &at, 1, "");
}

void cg_lower_move(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Type *element = cg_type(cg, ir_arg(ir, ref, 0))->element;
    Value count = cg_leaf(cg, ir_arg(ir, ref, 4));
    Value args[] = {element_address(cg, ir_arg(ir, ref, 0), ir_arg(ir, ref, 1)),
                    element_address(cg, ir_arg(ir, ref, 2), ir_arg(ir, ref, 3)),
                    LLVMBuildNSWMul(cg->b, count, cg_int(cg->i64, type_size(element)), ""),
                    cg_int(cg->i32, element->counted)};
    cg_call_extern(cg, "quern_move", cg->void_, args, 4);
}

/* Nothing is written before the new buffer is there. */
void cg_lower_grow(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    Ref of = ir_arg(ir, ref, 0);
    int64_t field = ir_inst(ir, ref)->imm;
    const Type *type = cg_type(cg, of)->items[field], *element = type->element;
    Value at = field_address(cg, cg_type(cg, of), cg_leaf(cg, of), field);
    Value *leaves = cg_new_leaves(cg, type);
    ArrayLeaves array;
    cg->access = cg->fields;
    cg_load_value(cg, type, at, leaves);
    cg_array_open(cg, type, leaves, &array);
    Value size = cg_int(cg->i64, type_size(element));
    Value bytes = LLVMBuildNSWMul(cg->b, cg_leaf(cg, ir_arg(ir, ref, 2)), size, "");
    Value args[] = {
        array.owner, LLVMBuildNSWMul(cg->b, cg_leaf(cg, ir_arg(ir, ref, 1)), size, ""), bytes,
        element->counted ? layout_global(cg, buffer_cells(element)) : LLVMConstNull(cg->ptr[0])};
    array.owner = cg_call_extern(cg, "quern_grow", cg->ptr[0], args, 4);
    cg_fail_if(cg, LLVMBuildIsNull(cg->b, array.owner, ""), GUARD_memory, &bytes, 1);
    Value offset = cg_int(cg->i64, SUPPORT_ARRAY_HEADER);
    array.data = LLVMBuildInBoundsGEP2(cg->b, cg->i8, array.owner, &offset, 1, "");
    array.shape[0] = cg_leaf(cg, ir_arg(ir, ref, 2));
    cg_array_close(cg, &array, leaves);
    cg_store_value(cg, type, at, leaves);
    cg->access = NULL;
}
