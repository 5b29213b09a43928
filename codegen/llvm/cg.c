/* cg.c - the lowering session: LLVM context, module, types, and the leaves of values.
 *
 * Everything here lives for one compilation and is thrown away as a whole by cg_close. */
#include "codegen/llvm/cg.h"
#include <llvm-c/IRReader.h>
#include <stdarg.h>
#include <stdio.h>

/* -- the session ------------------------------------------------------------------------------ */

static void diagnose(LLVMDiagnosticInfoRef info, void *user) {
    Cg *cg = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    cg_error(cg, "%s", text);
    LLVMDisposeMessage(text);
}

static void make_types(Cg *cg) {
    cg->void_ = LLVMVoidTypeInContext(cg->context);
    cg->i1 = LLVMInt1TypeInContext(cg->context);
    cg->i8 = LLVMInt8TypeInContext(cg->context);
    cg->i16 = LLVMInt16TypeInContext(cg->context);
    cg->i32 = LLVMInt32TypeInContext(cg->context);
    cg->i64 = LLVMInt64TypeInContext(cg->context);
    cg->f16 = LLVMHalfTypeInContext(cg->context);
    cg->bf16 = LLVMBFloatTypeInContext(cg->context);
    cg->f32 = LLVMFloatTypeInContext(cg->context);
    cg->f64 = LLVMDoubleTypeInContext(cg->context);
    for (unsigned s = 0; s < CG_MAX_SPACES; s++)
        cg->ptr[s] = LLVMPointerTypeInContext(cg->context, s);
    LType fields[] = {cg->i32,
                      cg->i32,
                      cg->i64,
                      cg->i64,
                      cg->i64,
                      cg->i32,
                      cg->i32,
                      LLVMArrayType2(cg->i32, CALL_MAX_CALLERS),
                      cg->i32,
                      cg->i64,
                      LLVMArrayType2(cg->i64, CALL_MAX_ARGS),
                      cg->ptr[0],
                      cg->ptr[0],
                      cg->ptr[0],
                      cg->i64};
    cg->context_type = LLVMStructTypeInContext(cg->context, fields, countof(fields), false);
}

static unsigned fast_math_flags(const Cg *cg, uint32_t ours) {
    static const struct {
        unsigned ours, llvm;
    } rows[] = {{FM_NNAN, LLVMFastMathNoNaNs},
                {FM_NINF, LLVMFastMathNoInfs},
                {FM_NSZ, LLVMFastMathNoSignedZeros},
                {FM_ARCP, LLVMFastMathAllowReciprocal},
                {FM_CONTRACT, LLVMFastMathAllowContract},
                {FM_AFN, LLVMFastMathApproxFunc},
                {FM_REASSOC, LLVMFastMathAllowReassoc}};
    unsigned flags = 0;
    for (int i = 0; i < countof(rows); i++)
        flags |= ours & rows[i].ours ? rows[i].llvm : 0;
    bool contracts = cg->target->contracts && !cg->options->no_fma;
    return flags | (contracts ? LLVMFastMathAllowContract : 0);
}

/* Are there objects, whose fields are read? */
static bool has_op(const Module *ir, Op op) {
    for (int32_t f = 0; f < ir->funcs.len; f++)
        for (Ref ref = 1; ref < ir->funcs.items[f]->insts.len; ref++)
            if (ir_inst(ir->funcs.items[f], ref)->op == op) return true;
    return false;
}

static bool has_items(const Module *ir) {
    const Func *entry = ir->funcs.len ? ir->funcs.items[0] : NULL;
    for (Ref ref = 1; entry && ref < entry->insts.len; ref++)
        if (ir_inst(entry, ref)->op == OP_call && ir_inst(entry, ref)->sub == FLAG_ITEMS)
            return true;
    return false;
}

static LLVMMetadataRef name_access(Cg *cg, LLVMMetadataRef root, const char *name) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(cg->context, name, strlen(name)), root,
                               LLVMValueAsMetadata(LLVMConstInt(cg->i64, 0, false))};
    LLVMMetadataRef type = LLVMMDNodeInContext2(cg->context, parts, 3);
    return LLVMMDNodeInContext2(cg->context, (LLVMMetadataRef[]){type, type, parts[2]}, 3);
}

static void name_accesses(Cg *cg) {
    LLVMMetadataRef name = LLVMMDStringInContext2(cg->context, "quern", 5);
    LLVMMetadataRef root = LLVMMDNodeInContext2(cg->context, &name, 1);
    cg->fields = name_access(cg, root, "fields of objects");
    cg->elements = name_access(cg, root, "elements of arrays");
    cg->shared = name_access(cg, root, "elements of shared arrays");
    cg->kept = name_access(cg, root, "slots of work-items");
}

static void make_weights(Cg *cg) {
    static const uint32_t weights[][2] = {
        [EXPECT_NEVER] = {1, 1 << 20}, [EXPECT_NO] = {1, 2}, [EXPECT_YES] = {2, 1}};
    for (int i = 0; i < countof(weights); i++) {
        LLVMMetadataRef parts[] = {
            LLVMMDStringInContext2(cg->context, "branch_weights", 14),
            LLVMValueAsMetadata(LLVMConstInt(cg->i32, weights[i][0], false)),
            LLVMValueAsMetadata(LLVMConstInt(cg->i32, weights[i][1], false))};
        cg->weights[i] = LLVMMDNodeInContext2(cg->context, parts, 3);
    }
}

bool cg_open(Cg *cg, LlvmState *llvm, Arena *arena, DiagList *diags, const CompileOptions *options,
             Module *ir) {
    cg->llvm = llvm;
    cg->arena = arena;
    cg->diags = diags;
    cg->options = options;
    cg->target = tg_target(options->infer.target);
    cg->ir = ir;
    if (!cg->target) return cg_error(cg, "no code generator for this target");
    map_init(&cg->sig_index, arena);
    map_init(&cg->site_index, arena);
    map_init(&cg->frozen, arena);
    map_init(&cg->memo_records, arena);
    cg->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(cg->context, diagnose, cg);
    /* X86's code generator makes this kind of metadata, and bitcode lists all kinds of the context: keys of instances
     * (cg_unit.c) must not depend on what was compiled before */
    LLVMGetMDKindIDInContext(cg->context, "heapallocsite", 13);
    cg->mod = LLVMModuleCreateWithNameInContext("quern", cg->context);
    cg->b = LLVMCreateBuilderInContext(cg->context);
    make_types(cg);
    cg->fast_math = fast_math_flags(cg, options->fastmath);
    cg->raises = cg->target->raises(options);
    cg->features = "";
    make_weights(cg);
    cg->keeps_arrays = has_op(ir, OP_kept_array);
    if (has_op(ir, OP_field) || has_items(ir)) name_accesses(cg);
    cg->whole_strides = options->core && cg->target->is_host && !has_op(ir, OP_restride);
    cg_lines_open(cg);
    cg->machine = cg->target->machine(cg);
    if (!cg->machine) return cg_error(cg, "no target machine");
    cg->layout = LLVMCreateTargetDataLayout(cg->machine);
    LLVMSetModuleDataLayout(cg->mod, cg->layout);
    char *triple = LLVMGetTargetMachineTriple(cg->machine);
    LLVMSetTarget(cg->mod, triple);
    LLVMDisposeMessage(triple);
    return true;
}

void cg_close(Cg *cg) {
    for (int32_t i = 0; i < cg->held.len; i++)
        instance_release(cg->held.items[i]);
    cg->held.len = 0;
    cg_lines_close(cg);
    if (cg->b) LLVMDisposeBuilder(cg->b);
    if (cg->text) LLVMDisposeMessage(cg->text);
    if (cg->code) LLVMDisposeMemoryBuffer(cg->code);
    if (cg->lazy_bitcode) LLVMDisposeMemoryBuffer(cg->lazy_bitcode);
    if (cg->mod) LLVMDisposeModule(cg->mod);
    if (cg->layout) LLVMDisposeTargetData(cg->layout);
    if (cg->machine) cg_machine_give(cg);
    if (cg->context) LLVMContextDispose(cg->context);
    cg->text = NULL, cg->code = NULL, cg->b = NULL, cg->mod = NULL, cg->lazy_bitcode = NULL,
    cg->layout = NULL, cg->machine = NULL, cg->context = NULL;
}

bool cg_error(Cg *cg, const char *format, ...) {
    if (cg->failed) return false;
    cg->failed = true;
    va_list args;
    va_start(args, format);
    vsnprintf(cg->error, sizeof cg->error, format, args);
    va_end(args);
    cg->error_placed = cg->f && cg->f->ref != NO_REF;
    if (cg->error_placed) cg->error_span = ir_span_of(cg->f->ir, cg->f->ref);
    return false;
}

void cg_report(Cg *cg) {
    if (cg->error[0])
        diag_add(cg->diags, E0501, cg->error_placed ? &cg->error_span : NULL, cg->error);
}

/* -- types and leaves ------------------------------------------------------------------------- */

LType cg_scalar_type(Cg *cg, TypeKind kind) {
    switch (type_strong_kind(kind)) {
    case TY_bool: return cg->i1;
    case TY_i8:
    case TY_u8: return cg->i8;
    case TY_i16:
    case TY_u16: return cg->i16;
    case TY_i32:
    case TY_u32: return cg->i32;
    case TY_i64:
    case TY_u64: return cg->i64;
    case TY_f16: return cg->f16;
    case TY_bf16: return cg->bf16;
    case TY_f32:
    case TY_c64: return cg->f32;
    case TY_f64:
    case TY_c128: return cg->f64;
    default: break;
    }
    cg_error(cg, "type %s reached code generation", type_name_of_kind(kind));
    return cg->i64;
}

LType cg_memory_type(Cg *cg, TypeKind kind) {
    return kind == TY_bool ? cg->i8 : cg_scalar_type(cg, kind);
}

unsigned cg_space(const Cg *cg, Space space) {
    return cg->target->spaces[space];
}

/* Its bytes, in the largest units that they are made of. */
LType cg_record_type(Cg *cg, const Type *type) {
    LType units[] = {cg->i64, cg->i32, cg->i16, cg->i8};
    int64_t size = type_size(type), k = 0;
    while (size % (8 >> k))
        k++;
    return LLVMArrayType2(units[k], (uint64_t)(size / (8 >> k)));
}

int32_t cg_leaf_count(const Cg *cg, const Type *type) {
    int32_t n = 0;
    switch ((int)type->kind) {
    case TY_none: return 0;
    case TY_c64:
    case TY_c128:
    case TY_wcpx: return 2;
    case TY_TUPLE:
        for (int32_t i = 0; i < type->nitems; i++)
            n += cg_leaf_count(cg, type->items[i]);
        return n;
    case TY_ARRAY:
        return 1 + cg->target->has_owner + type->ndim * (type->layout == LAYOUT_A ? 2 : 1);
    default: return 1;
    }
}

int32_t cg_leaf_types(Cg *cg, const Type *type, LType *out) {
    int32_t n = 0;
    if (type->kind == TY_none) return 0;
    if (type->kind == TY_TUPLE) {
        for (int32_t i = 0; i < type->nitems; i++)
            n += cg_leaf_types(cg, type->items[i], out + n);
        return n;
    }
    if (type->kind == TY_ARRAY) {
        int32_t total = cg_leaf_count(cg, type);
        out[n++] = cg->ptr[cg_space(cg, type->space)];
        if (cg->target->has_owner) out[n++] = cg->ptr[0];
        while (n < total)
            out[n++] = cg->i64;
        return n;
    }
    if (type->kind == TY_CLASS) return out[0] = cg->ptr[0], 1;
    if (type->kind == TY_RECORD) return out[0] = cg_record_type(cg, type), 1;
    out[0] = cg_scalar_type(cg, type->kind);
    if (!type_is_complex(type)) return 1;
    out[1] = out[0];
    return 2;
}

const Type *cg_type(const Cg *cg, Ref ref) {
    return ir_type(cg->f->ir, ref);
}

Value *cg_new_leaves(Cg *cg, const Type *type) {
    return arena_array(cg->arena, Value, cg_leaf_count(cg, type) + 1);
}

Value *cg_leaves(Cg *cg, Ref ref) {
    Value *leaves = cg->f->leaves[ref];
    if (leaves) return leaves;
    /* Only after an error: keep going with something of the right type, the caller stops soon. */
    cg_error(cg, "value %%%d is used before it is made", (int)ref);
    const Type *type = cg_type(cg, ref);
    int32_t n = cg_leaf_count(cg, type);
    LType *types = arena_array(cg->arena, LType, n + 1);
    leaves = cg_new_leaves(cg, type);
    cg_leaf_types(cg, type, types);
    for (int32_t i = 0; i < n; i++)
        leaves[i] = LLVMGetPoison(types[i]);
    return cg->f->leaves[ref] = leaves;
}

Value cg_leaf(Cg *cg, Ref ref) {
    return cg_leaves(cg, ref)[0];
}

void cg_set(Cg *cg, Ref ref, Value *leaves) {
    cg->f->leaves[ref] = leaves;
}

void cg_set1(Cg *cg, Ref ref, Value leaf) {
    Value *leaves = arena_array(cg->arena, Value, 1);
    leaves[0] = leaf;
    cg_set(cg, ref, leaves);
}

/* -- small things LLVM makes long ------------------------------------------------------------- */

Value cg_int(LType type, int64_t value) {
    return LLVMConstInt(type, (uint64_t)value, true);
}

Value cg_bool(Cg *cg, bool value) {
    return LLVMConstInt(cg->i1, value, false);
}

Value cg_real(LType type, double value) {
    return LLVMConstReal(type, value);
}

Value cg_alloca(Cg *cg, LType type, const char *name) {
    BB here = LLVMGetInsertBlock(cg->b);
    Value last = LLVMGetBasicBlockTerminator(cg->f->entry);
    if (last)
        LLVMPositionBuilderBefore(cg->b, last);
    else
        LLVMPositionBuilderAtEnd(cg->b, cg->f->entry);
    Value slot = LLVMBuildAlloca(cg->b, type, name);
    LLVMPositionBuilderAtEnd(cg->b, here);
    return slot;
}

Value cg_alloca_first(Cg *cg, LType type) {
    BB here = LLVMGetInsertBlock(cg->b),
       entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here));
    Value first = LLVMGetFirstInstruction(entry);
    if (first) LLVMPositionBuilderBefore(cg->b, first);
    Value slot = LLVMBuildAlloca(cg->b, type, "");
    LLVMPositionBuilderAtEnd(cg->b, here);
    return slot;
}

BB cg_block(Cg *cg, const char *name) {
    Value fn = LLVMGetBasicBlockParent(LLVMGetInsertBlock(cg->b));
    return LLVMAppendBasicBlockInContext(cg->context, fn, name);
}

void cg_at(Cg *cg, BB block) {
    LLVMPositionBuilderAtEnd(cg->b, block);
}

Value cg_behind_phis(Value inst) {
    while (LLVMIsAPHINode(inst))
        inst = LLVMGetNextInstruction(inst);
    return inst;
}

void cg_at_uses(Cg *cg, Value value) {
    Value at = LLVMIsAInstruction(value)
                   ? LLVMGetNextInstruction(value)
                   : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetParamParent(value)));
    LLVMPositionBuilderBefore(cg->b, cg_behind_phis(at));
}

Value cg_intrinsic(Cg *cg, const char *name, LType *overloads, int noverloads, Value *args,
                   int nargs) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) {
        cg_error(cg, "LLVM has no intrinsic %s", name);
        return LLVMGetPoison(noverloads ? overloads[0] : cg->i64);
    }
    if (!LLVMIntrinsicIsOverloaded(id)) noverloads = 0;
    Value fn = LLVMGetIntrinsicDeclaration(cg->mod, id, overloads, (size_t)noverloads);
    LType type = LLVMIntrinsicGetType(cg->context, id, overloads, (size_t)noverloads);
    return cg_fast(cg, LLVMBuildCall2(cg->b, type, fn, args, (unsigned)nargs, ""));
}

bool cg_is_bits(Value v) {
    switch (LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMSelect:
    case LLVMFreeze: return true;
    default: return false;
    }
}

bool cg_calls(Value inst, const char *intrinsic) {
    if (!LLVMIsACallInst(inst)) return false;
    Value fn = LLVMGetCalledValue(inst);
    return LLVMIsAFunction(fn) && LLVMGetIntrinsicID(fn) &&
           strncmp(LLVMGetValueName(fn), intrinsic, strlen(intrinsic)) == 0;
}

Value cg_intrinsic1(Cg *cg, const char *name, Value a) {
    LType type = LLVMTypeOf(a);
    return cg_intrinsic(cg, name, &type, 1, &a, 1);
}

Value cg_intrinsic2(Cg *cg, const char *name, Value a, Value b) {
    LType type = LLVMTypeOf(a);
    return cg_intrinsic(cg, name, &type, 1, (Value[]){a, b}, 2);
}

/* A function of the outside world, declared on first use. */
static Value cg_extern(Cg *cg, const char *name, LType result, LType *params, int nparams,
                       LType *type) {
    *type = LLVMFunctionType(result, params, (unsigned)nparams, false);
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    if (!fn) {
        fn = LLVMAddFunction(cg->mod, name, *type);
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    } else if (LLVMGlobalGetValueType(fn) != *type) {
        cg_error(cg, "function %s is used with two types", name);
    }
    return fn;
}

Value cg_call_extern(Cg *cg, const char *name, LType result, Value *args, int nargs) {
    LType params[16], type;
    for (int i = 0; i < nargs; i++) {
        params[i] = LLVMTypeOf(args[i]);
        if (LLVMGetTypeKind(params[i]) == LLVMIntegerTypeKind &&
            LLVMGetIntTypeWidth(params[i]) < 32)
            cg_error(cg, "function %s is called with a narrow int", name);
    }
    Value fn = cg_extern(cg, name, result, params, nargs, &type);
    if (cg->failed) return LLVMGetPoison(result == cg->void_ ? cg->i32 : result);
    return cg_fast(cg, LLVMBuildCall2(cg->b, type, fn, args, (unsigned)nargs, ""));
}

static LLVMAttributeRef attribute(Cg *cg, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMCreateEnumAttribute(cg->context, kind, value);
}

void cg_attribute(Cg *cg, Value fn, unsigned index, const char *name, uint64_t value) {
    LLVMAddAttributeAtIndex(fn, index, attribute(cg, name, value));
}

void cg_call_attribute(Cg *cg, Value call, const char *name, uint64_t value) {
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, attribute(cg, name, value));
}

Value cg_assembly(Cg *cg, const char *text, const char *constraints, LType result, Value operand) {
    LType of = LLVMTypeOf(operand), type = LLVMFunctionType(result, &of, 1, false);
    Value code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), false,
                                  false, LLVMInlineAsmDialectATT, false);
    Value call = LLVMBuildCall2(cg->b, type, code, &operand, 1, "");
    cg_call_attribute(cg, call, "nounwind", 0);
    cg_call_attribute(cg, call, "willreturn", 0);
    cg_call_attribute(cg, call, "memory", 0);
    return call;
}

Value cg_fast(Cg *cg, Value value) {
    bool own = cg->f && cg->f->ir->own_math;
    unsigned flags = own ? fast_math_flags(cg, cg->f->ir->fastmath) : cg->fast_math;
    if (flags && LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value))
        LLVMSetFastMathFlags(value, flags);
    return value;
}

void cg_not_negative(Cg *cg, Value load) {
    LLVMMetadataRef ends[] = {LLVMValueAsMetadata(cg_int(cg->i64, 0)),
                              LLVMValueAsMetadata(cg_int(cg->i64, INT64_MIN))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(cg->context, ends, 2);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(cg->context, "range", 5),
                    LLVMMetadataAsValue(cg->context, node));
}

void cg_accesses(Cg *cg, Value inst) {
    if (cg->accessed) cg_apart_access(cg, inst, cg->accessed);
    if (!cg->access) return;
    LLVMSetMetadata(inst, LLVMGetMDKindIDInContext(cg->context, "tbaa", 4),
                    LLVMMetadataAsValue(cg->context, cg->access));
}

LLVMModuleRef cg_parse(Cg *cg, const char *text) {
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "snippet");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (!LLVMParseIRInContext(cg->context, buffer, &module, &message)) /* takes the buffer */
        return module;
    cg_error(cg, "%s", message ? message : "a snippet cannot be read");
    LLVMDisposeMessage(message);
    return NULL;
}

/* LLVM's C interface makes no node that is distinct and empty, which a group has to be. */
Value cg_access_group(Cg *cg) {
    LLVMModuleRef module = cg_parse(cg, "!group = !{!0}\n!0 = distinct !{}\n");
    if (!module) return NULL;
    Value group;
    LLVMGetNamedMetadataOperands(module, "group", &group);
    LLVMDisposeModule(module); /* the node is the context's */
    return group;
}

void cg_group_accesses(Cg *cg, Value group, Value from) {
    unsigned kind = LLVMGetMDKindIDInContext(cg->context, "llvm.access.group", 17);
    Value at =
        from ? LLVMGetNextInstruction(from) : LLVMGetFirstInstruction(LLVMGetInsertBlock(cg->b));
    for (; at && group; at = LLVMGetNextInstruction(at))
        if (LLVMIsALoadInst(at) || LLVMIsAStoreInst(at)) LLVMSetMetadata(at, kind, group);
}

void cg_expect(Cg *cg, Value branch, CgExpected expected) {
    unsigned kind = LLVMGetMDKindIDInContext(cg->context, "prof", 4);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(cg->context, cg->weights[expected]));
}

void cg_unlikely(Cg *cg, Value branch) {
    cg_expect(cg, branch, EXPECT_NEVER);
}
