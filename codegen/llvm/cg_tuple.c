/* cg_tuple.c - tuples that are indexed at run time. Their items go to memory where the tuple is made, once for as many indices as there
 * are: of an argument at the entry of the function, of others behind the instruction that makes them. */
#include "codegen/llvm/cg.h"

/* An argument that lies in memory already, as items do. */
static bool is_given(Cg *cg, Ref tuple) {
    bool param = ir_inst(cg->f->ir, tuple)->op == OP_param;
    return param && cg->f->given && cg_lies_dense(cg, cg_type(cg, tuple));
}

static void note_tuple(Cg *cg, Ref tuple) {
    CgFunc *f = cg->f;
    if (!f->tuples) f->tuples = arena_array(cg->arena, Value, f->ir->insts.len);
    if (f->tuples[tuple]) return;
    const Type *type = cg_type(cg, tuple);
    if (is_given(cg, tuple)) {
        int32_t param = (int32_t)ir_inst(f->ir, tuple)->imm;
        f->tuples[tuple] = cg_given_place(cg, f->sig, f->given, param);
        return;
    }
    LType bytes = LLVMArrayType2(cg->i8, (uint64_t)(type->nitems * type_size(type->items[0])));
    f->tuples[tuple] = cg_alloca(cg, bytes, "items");
    LLVMSetAlignment(f->tuples[tuple], 16);
}

void cg_tuples_begin(Cg *cg) {
    const Func *ir = cg->f->ir;
    for (Ref ref = 1; ref < ir->insts.len; ref++)
        if (ir_inst(ir, ref)->op == OP_item_at) note_tuple(cg, ir_arg(ir, ref, 0));
}

static Value place_of(Cg *cg, Value memory, Value offset) {
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, memory, &offset, 1, "");
}

void cg_tuple_made(Cg *cg, Ref ref) {
    Value memory = cg->f->tuples ? cg->f->tuples[ref] : NULL;
    if (!memory || is_given(cg, ref)) return;
    const Type *type = cg_type(cg, ref), *item = type->items[0];
    int32_t count = cg_leaf_count(cg, item);
    for (int32_t k = 0; k < type->nitems; k++) {
        Value offset = cg_int(cg->i64, k * type_size(item));
        cg_store_value(cg, item, place_of(cg, memory, offset), cg_leaves(cg, ref) + k * count);
    }
}

void cg_lower_item_at(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    Ref tuple = ir_arg(ir, ref, 0);
    const Type *item = cg_type(cg, tuple)->items[0];
    Value *out = cg_new_leaves(cg, item), size = cg_int(cg->i64, type_size(item));
    Value offset = LLVMBuildNSWMul(cg->b, cg_leaf(cg, ir_arg(ir, ref, 1)), size, "");
    cg_load_value(cg, item, place_of(cg, cg->f->tuples[tuple], offset), out);
    cg_set(cg, ref, out);
}
