/* cg_entry.c - values in memory, the packed entry and ufunc loops.
 *
 * The packed entry is the only stable ABI: one pointer for each parameter, results through a pointer.
 * It loads the leaves, calls the lowered function (which LLVM inlines, being its only caller) and stores
 * the leaves of the result. */
#include "codegen/llvm/cg.h"
#include <stdatomic.h>
#include <stdio.h>

/* -- values in memory ------------------------------------------------------------------------- */

static Value at_offset(Cg *cg, Value address, int64_t offset) {
    if (offset == 0) return address;
    Value index = cg_int(cg->i64, offset);
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, address, &index, 1, "");
}

/* Byte offset of leaf k of an array in its ArrayValue: data, owner, shape, strides. */
static int64_t array_leaf_offset(const Cg *cg, int32_t k) {
    return k == 0 || cg->target->has_owner ? 8 * k : 8 * (k + 1);
}

void cg_load_value(Cg *cg, const Type *type, Value address, Value *out) {
    if (type->kind == TY_none) return;
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++) {
            cg_load_value(cg, type->items[i], at_offset(cg, address, type_offset(type, i)), out);
            out += cg_leaf_count(cg, type->items[i]);
        }
        return;
    }
    if (type->kind == TY_CLASS || type->kind == TY_RECORD) {
        LType whole = type->kind == TY_CLASS ? cg->ptr[0] : cg_record_type(cg, type);
        out[0] = LLVMBuildLoad2(cg->b, whole, address, "");
        LLVMSetAlignment(out[0], (unsigned)type_align(type));
        cg_accesses(cg, out[0]);
        return;
    }
    if (type->kind != TY_ARRAY) {
        cg_load_scalar(cg, type_strong_kind(type->kind), address, (unsigned)type_align(type), out);
        return;
    }
    LType types[2 + 2 * CG_MAX_DIMS];
    int32_t n = cg_leaf_types(cg, type, types);
    for (int32_t k = 0; k < n; k++) {
        Value from = at_offset(cg, address, array_leaf_offset(cg, k));
        out[k] = LLVMBuildLoad2(cg->b, types[k], from, "");
        LLVMSetAlignment(out[k], 8);
        cg_accesses(cg, out[k]);
        if (cg->target->is_host && k > 1 && k <= 1 + type->ndim) cg_not_negative(cg, out[k]);
    }
}

void cg_store_value(Cg *cg, const Type *type, Value address, const Value *leaves) {
    if (type->kind == TY_none) return;
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++) {
            cg_store_value(cg, type->items[i], at_offset(cg, address, type_offset(type, i)),
                           leaves);
            leaves += cg_leaf_count(cg, type->items[i]);
        }
        return;
    }
    if (type->kind == TY_CLASS || type->kind == TY_RECORD) {
        Value store = LLVMBuildStore(cg->b, leaves[0], address);
        LLVMSetAlignment(store, (unsigned)type_align(type));
        cg_accesses(cg, store);
        return;
    }
    if (type->kind != TY_ARRAY) {
        cg_store_scalar(cg, type_strong_kind(type->kind), address, (unsigned)type_align(type),
                        leaves);
        return;
    }
    ArrayLeaves array;
    cg_array_open(cg, type, (Value *)leaves, &array);
    cg_array_strides(cg, &array);
    cg_accesses(cg, LLVMBuildStore(cg->b, array.data, address));
    cg_accesses(cg, LLVMBuildStore(cg->b, array.owner, at_offset(cg, address, 8)));
    for (int i = 0; i < type->ndim; i++) {
        Value shape = at_offset(cg, address, 16 + 8 * i);
        Value stride = at_offset(cg, address, 16 + 8 * (type->ndim + i));
        cg_accesses(cg, LLVMBuildStore(cg->b, array.shape[i], shape));
        cg_accesses(cg, LLVMBuildStore(cg->b, array.strides[i], stride));
    }
}

/* -- entries ---------------------------------------------------------------------------------- */

const char *cg_entry_name(Cg *cg) {
    static atomic_uint_fast64_t serial; /* names of host code are unique in the process */
    if (cg->root)
        return str_printf(cg->arena, "quern.root." STR_FMT, STR_ARG(cg->root->ir->user_name)).bytes;
    if (!cg->entry_name && cg->options->closed && cg->options->name)
        cg->entry_name = str_copy(cg->arena, cg->options->name, strlen(cg->options->name)).bytes;
    if (!cg->entry_name) {
        unsigned long long n = atomic_fetch_add(&serial, 1);
        cg->entry_name = str_printf(cg->arena, "quern_entry_%llu", n).bytes;
    }
    return cg->entry_name;
}

Value cg_entry_function(Cg *cg, LType type) {
    cg->entry_fn = LLVMAddFunction(cg->mod, cg_entry_name(cg), type);
    cg_attribute(cg, cg->entry_fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_at(cg, LLVMAppendBasicBlockInContext(cg->context, cg->entry_fn, "entry"));
    const CgSig *resume = cg->ir->resume ? cg_sig(cg, cg->ir->resume) : NULL;
    if (cg->sigs[0].polls || (resume && resume->polls)) cg->entry_budget = cg_new_budget(cg);
    return cg->entry_fn;
}

static Value pointer_at(Cg *cg, Value base, int64_t index) {
    return LLVMBuildLoad2(cg->b, cg->ptr[0], at_offset(cg, base, 8 * index), "");
}

/* Numbers and addresses that the caller has written. LLVM combines tests of what it knows to be defined: 0 <= i < n is one. */
static void never_undefined(Cg *cg, const Value *leaves, int32_t n) {
    Value nothing = LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, NULL, 0));
    unsigned kind = LLVMGetMDKindIDInContext(cg->context, "noundef", 7);
    for (int32_t k = 0; k < n; k++) {
        LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(leaves[k]));
        if (LLVMIsALoadInst(leaves[k]) && type != LLVMStructTypeKind && type != LLVMArrayTypeKind)
            LLVMSetMetadata(leaves[k], kind, nothing);
    }
}

Value *cg_entry_arguments(Cg *cg, Value args) {
    const Func *func = cg->ir->funcs.items[0];
    int32_t n = 0;
    for (int32_t i = 0; i < func->nparams; i++)
        n += cg_leaf_count(cg, func->param_types[i]);
    Value *leaves = arena_array(cg->arena, Value, n + 1);
    n = 0;
    for (int32_t i = 0; i < func->nparams; i++) {
        const Type *type = func->param_types[i];
        if (!cg_leaf_count(cg, type)) continue;
        cg_load_value(cg, type, pointer_at(cg, args, i), leaves + n);
        if (cg->target->is_host) never_undefined(cg, leaves + n, cg_leaf_count(cg, type));
        n += cg_leaf_count(cg, type);
    }
    return leaves;
}

/* Returns from an entry when `status` (NULL: it cannot fail) says so. */
static void return_failure(Cg *cg, Value status) {
    if (!status) return;
    BB bad = cg_block(cg, "failed"), good = cg_block(cg, "fine");
    Value failed = LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, failed, bad, good));
    cg_at(cg, bad);
    LLVMBuildRet(cg->b, status);
    cg_at(cg, good);
}

/* Without arguments, the memory for the result begins with a generator, and behind it goes what it gives. */
static void resume_or_make(Cg *cg, Value fn) {
    const CgSig *sig = cg_sig(cg, cg->ir->resume);
    BB next = cg_block(cg, "resume"), make = cg_block(cg, "make");
    Value memory = LLVMGetParam(fn, 2), none = LLVMBuildIsNull(cg->b, LLVMGetParam(fn, 1), "");
    LLVMBuildCondBr(cg->b, none, next, make);
    cg_at(cg, next);
    Value *frame = cg_new_leaves(cg, sig->ir->param_types[0]);
    Value *results = cg_new_leaves(cg, sig->ir->result);
    cg_load_value(cg, sig->ir->param_types[0], memory, frame);
    return_failure(cg, cg_call_sig(cg, sig, LLVMGetParam(fn, 0), NULL, frame, results));
    cg_store_value(cg, sig->ir->result, at_offset(cg, memory, GENERATOR_BYTES), results);
    LLVMBuildRet(cg->b, cg_int(cg->i32, CALL_OK));
    cg_at(cg, make);
}

/* Of many arguments those that lie dense are copied as they are: an instruction for each item of a large tuple costs more than the call. */
static Value give_arguments(Cg *cg, const CgSig *sig, Value args) {
    Value memory = cg_alloca_first(cg, sig->given);
    unsigned at = 0;
    for (int32_t i = 0; i < sig->ir->nparams; i++) {
        const Type *type = sig->ir->param_types[i];
        int32_t n = cg_leaf_count(cg, type);
        Value *leaves = cg_new_leaves(cg, type), from = n ? pointer_at(cg, args, i) : NULL;
        bool dense = n > 1 && cg_lies_dense(cg, type);
        if (dense)
            LLVMBuildMemCpy(cg->b, cg_given_place(cg, sig, memory, i), (unsigned)type_align(type),
                            from, (unsigned)type_align(type), cg_int(cg->i64, type_size(type)));
        else if (n)
            cg_load_value(cg, type, from, leaves);
        for (int32_t k = 0; k < n && !dense; k++)
            LLVMBuildStore(cg->b, leaves[k],
                           LLVMBuildStructGEP2(cg->b, sig->given, memory, at + (unsigned)k, ""));
        at += (unsigned)n;
    }
    return memory;
}

void cg_entry_host(Cg *cg) {
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->ptr[0]};
    Value fn = cg_entry_function(cg, LLVMFunctionType(cg->i32, params, 3, false));
    cg_attribute(cg, fn, 1, "noalias", 0);
    if (cg->ir->resume) resume_or_make(cg, fn);
    const CgSig *sig = &cg->sigs[0];
    Value ctx = LLVMGetParam(fn, 0), args = LLVMGetParam(fn, 1);
    Value *results = cg_new_leaves(cg, sig->ir->result);
    Value given = sig->given ? give_arguments(cg, sig, args) : NULL;
    Value *leaves = given ? NULL : cg_entry_arguments(cg, args);
    return_failure(cg, given ? cg_call_given(cg, sig, ctx, given, results)
                             : cg_call_sig(cg, sig, ctx, NULL, leaves, results));
    cg_store_value(cg, sig->ir->result, LLVMGetParam(fn, 2), results);
    LLVMBuildRet(cg->b, cg_int(cg->i32, CALL_OK));
    if (cg->options->opt_level > 0) cg_merge_entry(cg, fn);
}

/* -- ufunc loops ------------------------------------------------------------------------------ */

/* What each element is computed from: numbers at base + i * step, or for a generalised ufunc arrays that begin
 * there. A ufunc's last operand is its result. */
enum { UFUNC_MAX = 32 };
typedef struct Loop1 {
    Value ctx, count;
    Value base[UFUNC_MAX], step[UFUNC_MAX]; /* inputs, then outputs */
    Value *leaves; /* of all parameters; of arrays all but the data stays */
    int n;
} Loop1;

static const Type *operand_type(const Func *func, int k) {
    return k < func->nparams ? func->param_types[k] : func->result;
}

/* The leaves of the parameters of element i, and where the operands are. */
static void operands_at(Cg *cg, const Loop1 *loop, Value i, Value *at, Value *leaves) {
    const Func *func = cg->sigs[0].ir;
    for (int k = 0, n = 0; k < loop->n; k++) {
        Value offset = LLVMBuildNSWMul(cg->b, i, loop->step[k], "");
        at[k] = LLVMBuildInBoundsGEP2(cg->b, cg->i8, loop->base[k], &offset, 1, "");
        if (k == func->nparams) break;
        const Type *type = func->param_types[k];
        int32_t count = cg_leaf_count(cg, type);
        if (type->kind == TY_ARRAY) {
            memcpy(leaves + n, loop->leaves + n, sizeof *leaves * (size_t)count);
            leaves[n] = at[k];
        } else {
            cg_load_value(cg, type, at[k], leaves + n);
        }
        n += count;
    }
}

static int32_t count_leaves(Cg *cg, const Func *func) {
    int32_t n = 0;
    for (int32_t i = 0; i < func->nparams; i++)
        n += cg_leaf_count(cg, func->param_types[i]);
    return n;
}

/* One loop over all elements, which ends the function. A dense one becomes a vector loop, whose last elements are not worth more code;
 * of others LLVM would gather elements. */
static void ufunc_loop(Cg *cg, const Loop1 *loop, bool dense) {
    const CgSig *sig = &cg->sigs[0];
    BB before = LLVMGetInsertBlock(cg->b);
    BB head = cg_block(cg, "head"), body = cg_block(cg, "body"), done = cg_block(cg, "done");
    LLVMBuildBr(cg->b, head);
    cg_at(cg, head);
    Value i = LLVMBuildPhi(cg->b, cg->i64, "i");
    LLVMBuildCondBr(cg->b, LLVMBuildICmp(cg->b, LLVMIntSLT, i, loop->count, ""), body, done);
    cg_at(cg, body);
    Value at[UFUNC_MAX], results[2], group = dense ? cg_access_group(cg) : NULL;
    Value *leaves = arena_array(cg->arena, Value, count_leaves(cg, sig->ir) + 1);
    operands_at(cg, loop, i, at, leaves);
    cg_group_accesses(cg, group, NULL);
    return_failure(cg, cg_call_sig(cg, sig, loop->ctx, NULL, leaves, results));
    Value next = LLVMBuildNSWAdd(cg->b, i, cg_int(cg->i64, 1), "");
    if (loop->n > sig->ir->nparams)
        cg_store_value(cg, sig->ir->result, at[sig->ir->nparams], results);
    cg_group_accesses(cg, group, next);
    BB latch = LLVMGetInsertBlock(cg->b);
    Value back = LLVMBuildBr(cg->b, head);
    cg_mark_loop(
        cg, back,
        (LoopHints){.rolled = !dense, .scalar = !dense, .rest_rolled = dense, .parallel = group});
    LLVMAddIncoming(i, (Value[]){cg_int(cg->i64, 0), next}, (BB[]){before, latch}, 2);
    cg_at(cg, done);
    LLVMBuildRet(cg->b, cg_int(cg->i32, CALL_OK));
}

/* The loop for operands whose elements stand side by side, where there are no steps; what follows is for others. */
static void dense_loop(Cg *cg, const Loop1 *loop, Value table) {
    Loop1 own = *loop;
    for (int k = 0; k < loop->n; k++)
        own.step[k] = cg_int(cg->i64, type_size(operand_type(cg->sigs[0].ir, k)));
    BB dense = cg_block(cg, "dense"), other = cg_block(cg, "other");
    LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, table, ""), dense, other);
    cg_at(cg, dense);
    ufunc_loop(cg, &own, true);
    cg_at(cg, other);
}

/* Behind the steps stand the shape and the strides of each array. Strides are products, so that LLVM makes a copy of a loop for
 * those of arrays without gaps. */
static void load_core(Cg *cg, Loop1 *loop, Value table) {
    const Func *func = cg->sigs[0].ir;
    loop->leaves = arena_array(cg->arena, Value, count_leaves(cg, func) + 1);
    int64_t from = loop->n;
    for (int32_t k = 0, n = 0; k < func->nparams; k++) {
        const Type *type = func->param_types[k];
        int32_t count = cg_leaf_count(cg, type);
        if (type->kind == TY_ARRAY) {
            loop->leaves[n + 1] =
                LLVMConstNull(cg->ptr[0]); /* nothing to count: it outlives the loop */
            Value unit = cg_int(cg->i64, type_align(type->element));
            for (int32_t j = 2; j < count; j++, from++) {
                Value word = LLVMBuildLoad2(cg->b, cg->i64, at_offset(cg, table, 8 * from), "");
                bool is_stride = j >= 2 + type->ndim;
                loop->leaves[n + j] = is_stride ? LLVMBuildNSWMul(cg->b, word, unit, "") : word;
            }
            if (cg->options->core->ndim[k] == 0) { /* one element, which stands for a number */
                loop->leaves[n + 2] = cg_int(cg->i64, 1);
                loop->leaves[n + 3] = unit;
            }
        }
        n += count;
    }
}

static bool ufunc_operand(Cg *cg, const Type *type) {
    if (!cg->options->core || type->kind != TY_ARRAY) return type_is_number(type);
    return type->layout == LAYOUT_A && type->ndim > 0;
}

void cg_entry_ufunc(Cg *cg) {
    const Func *func = cg->sigs[0].ir;
    bool core = cg->options->core;
    Loop1 loop = {.n = func->nparams + !core};
    bool fits = loop.n <= UFUNC_MAX && (core || type_is_number(func->result));
    for (int32_t i = 0; i < func->nparams && fits; i++)
        fits = ufunc_operand(cg, func->param_types[i]);
    if (!fits) {
        cg_error(cg, "a ufunc takes numbers and returns one number");
        return;
    }
    LType params[] = {cg->ptr[0], cg->ptr[0], cg->i64, cg->ptr[0]};
    Value fn = cg_entry_function(cg, LLVMFunctionType(cg->i32, params, 4, false));
    loop.ctx = LLVMGetParam(fn, 0);
    loop.count = LLVMGetParam(fn, 2);
    Value table = LLVMGetParam(fn, 3);
    for (int k = 0; k < loop.n; k++)
        loop.base[k] = pointer_at(cg, LLVMGetParam(fn, 1), k);
    if (!core) dense_loop(cg, &loop, table);
    for (int k = 0; k < loop.n; k++)
        loop.step[k] = LLVMBuildLoad2(cg->b, cg->i64, at_offset(cg, table, 8 * k), "");
    load_core(cg, &loop, table);
    ufunc_loop(cg, &loop, false);
}
