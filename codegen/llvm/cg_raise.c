/* cg_raise.c - failures: what is written into the call context, and how control leaves.
 *
 * On the CPU a failing instruction stores exception, site and arguments in a cold block and jumps to its
 * error successor or to the function's common exit, which returns the status. `propagate` ends a clean-up:
 * the exception is in the context already and its status in the function's slot.
 *
 * On GPUs it writes them into the mailbox and goes on: see "work-items that go on". */
#include "codegen/llvm/cg.h"

/* -- tables of the artifact ------------------------------------------------------------------- */

/* The span of what is checked at the entry of a function, of its stack, say: that of its first statement. */
static int32_t first_span(const Func *ir) {
    for (int32_t b = 0; b < ir->blocks.len; b++)
        for (int32_t i = 0; i < ir->blocks.items[b].insts.len; i++) {
            int32_t span = ir_inst(ir, ir->blocks.items[b].insts.items[i])->span;
            if (span && ir->spans.items[span].line > 0) return span;
        }
    return 0;
}

static int32_t site_index(Cg *cg, Str name) {
    CgFunc *f = cg->f;
    CodeSite site = {.file = f->ir->file, .function = f->ir->user_name, .column = -1, .name = name};
    int32_t span = f->ref ? ir_inst(f->ir, f->ref)->span : first_span(f->ir);
    if (span) {
        const IrSpan *s = &f->ir->spans.items[span];
        site.line = s->line, site.end_line = s->end_line;
        site.column = s->column, site.end_column = s->end_column;
    }
    uint64_t key = hash_mix(map_key(f->ir) ^ hash_mix((uint64_t)span)) ^
                   hash_mix(map_key(name.bytes)) ^ map_key(cg->root);
    MapValue *known = map_find(&cg->site_index, key);
    if (known) return (int32_t)known->num;
    map_put(&cg->site_index, key)->num = cg->sites.len;
    vec_push(cg->arena, &cg->sites, site);
    return cg->sites.len - 1;
}

int32_t cg_site(Cg *cg) {
    return site_index(cg, (Str){0});
}

/* -- leaving ---------------------------------------------------------------------------------- */

/* Where a failure of the current instruction continues. */
static BB landing(Cg *cg) {
    CgFunc *f = cg->f;
    const Inst *inst = f->ref ? ir_inst(f->ir, f->ref) : NULL;
    if (!inst || inst->error == NO_BLOCK || !f->heads[inst->error]) return cg_fail_exit(cg);
    if (!f->landing) {
        cg_fail_exit(cg); /* makes the status slot */
        BB here = LLVMGetInsertBlock(cg->b);
        f->landing = cg_block(cg, "error");
        cg_at(cg, f->landing);
        LLVMBuildBr(cg->b, f->heads[inst->error]);
        cg_at(cg, here);
        int slot = ir_info(inst->op)->flags & OPF_TERM ? 0 : 2;
        f->edges[f->block * CG_SLOTS + slot] = f->landing;
    }
    return f->landing;
}

void cg_leave(Cg *cg, Value status) {
    BB to = landing(cg);
    LLVMBuildStore(cg->b, status, cg->f->status);
    LLVMBuildBr(cg->b, to);
}

/* Fields of the context, in the order of the type in cg.c. */
enum {
    FIELD_EXCEPTION,
    FIELD_SITE,
    FIELD_NCALLERS = 6,
    FIELD_CALLERS,
    FIELD_CLASS,
    FIELD_TEXTS,
    FIELD_ARGS,
    FIELD_STACK_LIMIT,
    FIELD_POLL
};

_Static_assert((int)CONTEXT_BUDGET == (int)FIELD_POLL + 2,
               "behind the poll and what is the user's");

static Value context_field(Cg *cg, unsigned field) {
    return LLVMBuildStructGEP2(cg->b, cg->context_type, cg->f->ctx, field, "");
}

static Value context_arg(Cg *cg, int k) {
    Value index[] = {cg_int(cg->i32, 0), cg_int(cg->i32, k)};
    LType array = LLVMArrayType2(cg->i64, CALL_MAX_ARGS);
    return LLVMBuildInBoundsGEP2(cg->b, array, context_field(cg, FIELD_ARGS), index, 2, "");
}

static void record(Cg *cg, int32_t exception, Str name, const Value *args, int nargs) {
    int32_t site = site_index(cg, name);
    if (cg->target->record) {
        cg->target->record(cg, exception, site, args, QN_MIN(nargs, CALL_MAX_ARGS));
        return;
    }
    Value number =
        exception < 0 ? cg_int(cg->i32, exception) : cg_numbered(cg, NUMBER_RAISE, exception);
    LLVMBuildStore(cg->b, number, context_field(cg, FIELD_EXCEPTION));
    LLVMBuildStore(cg->b, cg_numbered(cg, NUMBER_SITE, site), context_field(cg, FIELD_SITE));
    for (int i = 0; i < nargs && i < CALL_MAX_ARGS; i++)
        LLVMBuildStore(cg->b, args[i], context_arg(cg, i));
}

/* -- work-items that go on -------------------------------------------------------------------- */

/* A GPU thread that fails must still come to the barriers of its block and set what others wait for. So a
 * failed check only writes the exception down. What follows is harmless: arithmetic is defined for every
 * operand, an access outside its array reads zero and writes nothing (cg_array_inside), an array without a
 * value is empty. A missing value can keep a `while` loop from ending, though: a thread that has failed
 * leaves the kernel after PATIENCE more iterations. A `raise` statement leaves it at once, as `return` does;
 * barriers do not wait for threads that have ended.
 *
 * The status of a function then says: all is well; has failed, the result is there; the work-item ends. */
enum { PATIENCE = 1 << 16 };
enum { STATUS_WENT_ON = CALL_EXCEPTION, STATUS_ENDS = CALL_PENDING };

bool cg_goes_on(const Cg *cg) {
    return cg->raises && cg->target->record && cg->sigs[0].raises; /* can anything fail? */
}

/* A number of this function, `first` at its entry; made when it is first asked for. */
static Value counter(Cg *cg, Value *known, const char *name, int64_t first) {
    if (!*known) {
        *known = cg_alloca(cg, cg->i64, name);
        BB here = LLVMGetInsertBlock(cg->b);
        LLVMPositionBuilderBefore(cg->b, LLVMGetBasicBlockTerminator(cg->f->entry));
        LLVMBuildStore(cg->b, cg_int(cg->i64, first), *known);
        cg_at(cg, here);
    }
    return *known;
}

static Value patience(Cg *cg) {
    return counter(cg, &cg->f->patience, "patience", 0);
}

/* From now on this function counts its iterations. */
static void start_patience(Cg *cg) {
    Value slot = patience(cg), left = LLVMBuildLoad2(cg->b, cg->i64, slot, "");
    Value fresh = LLVMBuildICmp(cg->b, LLVMIntEQ, left, cg_int(cg->i64, 0), "");
    left = LLVMBuildSelect(cg->b, fresh, cg_int(cg->i64, PATIENCE), left, "");
    LLVMBuildStore(cg->b, left, slot);
}

Value cg_return_status(Cg *cg) {
    if (!cg_goes_on(cg) || !cg->f->sig->raises) return cg_int(cg->i32, CALL_OK);
    Value left = LLVMBuildLoad2(cg->b, cg->i64, patience(cg), "");
    Value fine = LLVMBuildICmp(cg->b, LLVMIntEQ, left, cg_int(cg->i64, 0), "");
    return LLVMBuildSelect(cg->b, fine, cg_int(cg->i32, CALL_OK), cg_int(cg->i32, STATUS_WENT_ON),
                           "");
}

void cg_end_item(Cg *cg) {
    if (cg->f->sig->raises)
        cg_leave(cg, cg_int(cg->i32, cg_goes_on(cg) ? STATUS_ENDS : CALL_EXCEPTION));
    else
        cg_return_zero(cg);
}

/* Opens the cold block of a failure; the builder continues at *next when the caller is done. */
static void open_cold(Cg *cg, Value cond, BB *next) {
    BB cold = cg_block(cg, "raise");
    *next = cg_block(cg, "ok");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, cond, cold, *next));
    cg_at(cg, cold);
}

void cg_fail_if(Cg *cg, Value cond, Guard guard, const Value *args, int nargs) {
    if (!cg->raises) return;
    BB next;
    open_cold(cg, cond, &next);
    Str name = {0};
    const Inst *inst = cg->f->ref ? ir_inst(cg->f->ir, cg->f->ref) : NULL;
    if (inst && inst->op == OP_guard && inst->u.name) name = *inst->u.name;
    record(cg, -1 - (int32_t)guard, name, args, nargs);
    if (cg_goes_on(cg)) {
        start_patience(cg);
        LLVMBuildBr(cg->b, next);
    } else {
        cg_leave(cg, cg_int(cg->i32, CALL_EXCEPTION));
    }
    cg_at(cg, next);
}

void cg_note_status(Cg *cg, Value status) {
    BB next, ends = cg_block(cg, "ends"), on = cg_block(cg, "on");
    open_cold(cg, LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), ""), &next);
    Value over = LLVMBuildICmp(cg->b, LLVMIntEQ, status, cg_int(cg->i32, STATUS_ENDS), "");
    LLVMBuildCondBr(cg->b, over, ends, on);
    cg_at(cg, ends);
    cg_end_item(cg);
    cg_at(cg, on);
    start_patience(cg);
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
}

/* A function of the module that is seldom called and stays out of line; the builder stands at its entry. */
static Value cold_function(Cg *cg, const char *name, LType type) {
    Value fn = LLVMAddFunction(cg->mod, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "noinline", 0);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "cold", 0);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_at(cg, LLVMAppendBasicBlockInContext(cg->context, fn, ""));
    return fn;
}

void cg_propagate_if(Cg *cg, Value cond, Value status) {
    BB next;
    open_cold(cg, cond, &next);
    cg_leave(cg, status);
    cg_at(cg, next);
}

/* Is it at hand as a function of ours (calls.c)? To compile one takes half the time of a small function. */
static bool is_at_hand(const Cg *cg) {
    return cg->target->is_host;
}

/* Declared as LLVM would find it, did it see the body. */
static Value declare_note(Cg *cg, LType type) {
    Value fn = LLVMGetNamedFunction(cg->mod, "quern_note_call");
    if (fn) return fn;
    static const char *const facts[] = {"cold", "nounwind", "nofree", "nosync", "willreturn"};
    fn = LLVMAddFunction(cg->mod, "quern_note_call", type);
    for (int i = 0; i < countof(facts); i++)
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, facts[i], 0);
    enum { ARGUMENTS_ONLY = 3 }; /* "memory": they are read and written, nothing else is */
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "memory", ARGUMENTS_ONLY);
    cg_attribute(cg, fn, 1, "nocapture", 0);
    return fn;
}

/* void note(ctx, site): one more call that the exception comes through. */
static Value note_function(Cg *cg, LType *type) {
    LType params[] = {cg->ptr[0], cg->i32};
    *type = LLVMFunctionType(cg->void_, params, 2, false);
    if (is_at_hand(cg)) return declare_note(cg, *type);
    Value fn = LLVMGetNamedFunction(cg->mod, "quern.note_call");
    if (fn) return fn;
    BB here = LLVMGetInsertBlock(cg->b);
    fn = cold_function(cg, "quern.note_call", *type);
    Value ctx = LLVMGetParam(fn, 0), last = cg_int(cg->i32, CALL_MAX_CALLERS - 1);
    Value count = LLVMBuildStructGEP2(cg->b, cg->context_type, ctx, FIELD_NCALLERS, "");
    Value at[] = {cg_int(cg->i32, 0), LLVMBuildLoad2(cg->b, cg->i32, count, "")};
    LLVMBuildStore(cg->b, LLVMBuildAdd(cg->b, at[1], cg_int(cg->i32, 1), ""), count);
    at[1] = cg_intrinsic2(cg, "llvm.umin", at[1], last);
    LType list = LLVMArrayType2(cg->i32, CALL_MAX_CALLERS);
    Value callers = LLVMBuildStructGEP2(cg->b, cg->context_type, ctx, FIELD_CALLERS, "");
    LLVMBuildStore(cg->b, LLVMGetParam(fn, 1),
                   LLVMBuildInBoundsGEP2(cg->b, list, callers, at, 2, ""));
    LLVMBuildRetVoid(cg->b);
    cg_at(cg, here);
    return fn;
}

void cg_note_call(Cg *cg) {
    LType type;
    Value args[] = {cg->f->ctx, cg_numbered(cg, NUMBER_SITE, cg_site(cg))};
    Value note = note_function(cg, &type);
    LLVMBuildCall2(cg->b, type, note, args, 2, "");
}

void cg_propagate_call(Cg *cg, Value status, bool noted) {
    BB next;
    open_cold(cg, LLVMBuildICmp(cg->b, LLVMIntNE, status, cg_int(cg->i32, CALL_OK), ""), &next);
    if (noted) cg_note_call(cg);
    cg_leave(cg, status);
    cg_at(cg, next);
}

/* -- ops -------------------------------------------------------------------------------------- */

/* The bits of one leaf in a slot of the context. */
static Value to_slot(Cg *cg, const Type *type, Value leaf) {
    LType t = LLVMTypeOf(leaf);
    if (t == cg->f64) return LLVMBuildBitCast(cg->b, leaf, cg->i64, "");
    if (t == cg->f32)
        return LLVMBuildZExt(cg->b, LLVMBuildBitCast(cg->b, leaf, cg->i32, ""), cg->i64, "");
    if (t == cg->f16 || t == cg->bf16)
        return LLVMBuildZExt(cg->b, LLVMBuildBitCast(cg->b, leaf, cg->i16, ""), cg->i64, "");
    if (t == cg->i64) return leaf;
    return type_class(type) == CLASS_SINT ? LLVMBuildSExt(cg->b, leaf, cg->i64, "")
                                          : LLVMBuildZExt(cg->b, leaf, cg->i64, "");
}

void cg_lower_guard(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    if (!cg->raises) return;
    Value args[CALL_MAX_ARGS];
    int n = 0;
    for (int32_t i = 1; i < inst->nargs && n < CALL_MAX_ARGS; i++, n++)
        args[n] = to_slot(cg, cg_type(cg, ir_arg(ir, ref, i)), cg_leaf(cg, ir_arg(ir, ref, i)));
    cg_fail_if(cg, cg_leaf(cg, ir_arg(ir, ref, 0)), (Guard)inst->sub, args, n);
}

/* The arguments of a raise, as bits, and what these are: RaiseInfo.kinds. */
typedef struct RaiseArgs {
    Value slots[CALL_MAX_ARGS];
    uint8_t kinds[RAISE_MAX_KINDS];
    int nslots, nkinds;
} RaiseArgs;

static int32_t raise_info(Cg *cg, const Inst *inst, const RaiseArgs *args) {
    const RaiseSite *site = inst->u.exception;
    RaiseInfo info = {.class_name = site->class_name,
                      .class_handle = site->class_handle,
                      .has_message = site->has_message,
                      .message = site->message,
                      .nargs = inst->nargs};
    memcpy(info.kinds, args->kinds, (size_t)args->nkinds);
    vec_push(cg->arena, &cg->raise_infos, info);
    return cg->raise_infos.len - 1;
}

/* Of the bits of a string, or of bytes, that the context keeps: as RaiseInfo.kinds says. */
static uint8_t kind_of_bits(const Func *ir, Ref ref) {
    const Inst *inst = ir_inst(ir, ref);
    if (inst->op != OP_lib || !str_is(*inst->u.name, "primitive.text_kept"))
        return (uint8_t)ir_type(ir, ref)->kind;
    return ir_type(ir, ir_arg(ir, ref, 0))->bits == CLS_str ? TY_CLASS : TY_OBJECT;
}

/* A tuple is made where it is raised, so that the strings in it are known. */
static bool raise_arg(Cg *cg, Ref ref, RaiseArgs *to) {
    const Func *ir = cg->f->ir;
    const Type *type = cg_type(cg, ref);
    bool tuple = type->kind == TY_TUPLE && ir_inst(ir, ref)->op == OP_tuple;
    if (to->nkinds + 2 > RAISE_MAX_KINDS) return false;
    if (tuple) {
        to->kinds[to->nkinds++] = TY_TUPLE;
        to->kinds[to->nkinds++] = (uint8_t)type->nitems;
    }
    for (int32_t k = 0; tuple && k < type->nitems; k++)
        if (!raise_arg(cg, ir_arg(ir, ref, k), to)) return false;
    int32_t n = tuple ? 0 : cg_leaf_count(cg, type);
    if (!tuple && (!type_is_number(type) || to->nslots + n > CALL_MAX_ARGS)) return false;
    for (int32_t k = 0; k < n; k++)
        to->slots[to->nslots++] = to_slot(cg, type, cg_leaves(cg, ref)[k]);
    if (!tuple) to->kinds[to->nkinds++] = kind_of_bits(ir, ref);
    return true;
}

/* Which of the arguments are strings that are counted: Raised.text_args. */
static int64_t text_bits(const RaiseArgs *args) {
    int64_t texts = 0;
    for (int kind = 0, slot = 0; kind < args->nkinds; kind++) {
        TypeKind is = (TypeKind)args->kinds[kind];
        if (is == TY_TUPLE) {
            kind++;
            continue;
        }
        if (is == TY_CLASS || is == TY_OBJECT) texts |= INT64_C(1) << slot;
        if (is != TY_none) slot += is == TY_c64 || is == TY_c128 ? 2 : 1;
    }
    return texts;
}

void cg_record_exception(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    const Inst *inst = ir_inst(ir, ref);
    RaiseArgs args = {0};
    for (int32_t i = 0; i < inst->nargs; i++) {
        if (raise_arg(cg, ir_arg(ir, ref, i), &args)) continue;
        cg_error(cg, "an exception takes numbers only, at most %d", CALL_MAX_ARGS);
        return;
    }
    record(cg, raise_info(cg, inst, &args), (Str){0}, args.slots, args.nslots);
    if (!cg->target->record) {
        const RaiseSite *site = inst->u.exception;
        ExceptionClass cls = {site->class_name, site->class_handle, site->builtin};
        int32_t number = cg_class_number(cg, &cls);
        LLVMBuildStore(cg->b, cg_int(cg->i32, number), context_field(cg, FIELD_CLASS));
        LLVMBuildStore(cg->b, cg_int(cg->i64, text_bits(&args)), context_field(cg, FIELD_TEXTS));
    }
}

void cg_lower_raise(Cg *cg, Ref ref) {
    if (!cg->raises) { /* a kernel without debug: the work-item ends */
        cg_return_zero(cg);
        return;
    }
    cg_record_exception(cg, ref);
    cg_end_item(cg);
}

/* int poll(ctx): calls the caller's poll function where there is one. */
static Value poll_function(Cg *cg, LType *type) {
    *type = LLVMFunctionType(cg->i32, &cg->ptr[0], 1, false);
    const char *name = is_at_hand(cg) ? "quern_poll" : "quern.poll";
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    if (fn) return fn;
    if (is_at_hand(cg)) {
        fn = LLVMAddFunction(cg->mod, name, *type);
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "cold", 0);
        cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
        return fn;
    }
    BB here = LLVMGetInsertBlock(cg->b);
    fn = cold_function(cg, name, *type);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "optnone", 0); /* as in cg_lazy_stub() */
    Value ctx = LLVMGetParam(fn, 0);
    BB some = cg_block(cg, "some"), none = cg_block(cg, "none");
    Value field = LLVMBuildStructGEP2(cg->b, cg->context_type, ctx, FIELD_POLL, "");
    Value poll = LLVMBuildLoad2(cg->b, cg->ptr[0], field, "");
    LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, poll, ""), none, some);
    cg_at(cg, none);
    LLVMBuildRet(cg->b, cg_int(cg->i32, 0));
    cg_at(cg, some);
    LLVMBuildRet(cg->b, LLVMBuildCall2(cg->b, *type, poll, &ctx, 1, ""));
    cg_at(cg, here);
    return fn;
}

/* A work-item that has failed leaves the kernel when its patience is at an end. */
static void count_patience(Cg *cg, Value weight) {
    Value slot = patience(cg), left = LLVMBuildLoad2(cg->b, cg->i64, slot, "");
    BB next, out = cg_block(cg, "ends"), on = cg_block(cg, "on");
    open_cold(cg, LLVMBuildICmp(cg->b, LLVMIntNE, left, cg_int(cg->i64, 0), ""), &next);
    left = LLVMBuildSub(cg->b, left, weight, "");
    LLVMBuildStore(cg->b, left, slot);
    Value over = LLVMBuildICmp(cg->b, LLVMIntSLE, left, cg_int(cg->i64, 0), "");
    LLVMBuildCondBr(cg->b, over, out, on);
    cg_at(cg, out);
    cg_end_item(cg);
    cg_at(cg, on);
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
}

enum { POLL_PERIOD = (1 << 16) - 1 };

Value cg_new_budget(Cg *cg) {
    Value slot = LLVMBuildAlloca(cg->b, cg->i64, "budget");
    LLVMBuildStore(cg->b, cg_int(cg->i64, POLL_PERIOD), slot);
    return slot;
}

/* Takes `weight` off the budget; the builder goes on where there was not as much, which is rare. */
static void take_off(Cg *cg, Value budget, Value weight, BB *enough) {
    Value args[] = {LLVMBuildLoad2(cg->b, cg->i64, budget, ""), weight};
    Value less = cg_intrinsic(cg, "llvm.usub.with.overflow", &cg->i64, 1, args, 2);
    LLVMBuildStore(cg->b, LLVMBuildExtractValue(cg->b, less, 0, ""), budget);
    open_cold(cg, LLVMBuildExtractValue(cg->b, less, 1, "due"), enough);
}

BB cg_count_down(Cg *cg, Value ctx, Value budget, Value weight) {
    BB next, out = cg_block(cg, "pending");
    take_off(cg, budget, weight, &next);
    LLVMBuildStore(cg->b, cg_int(cg->i64, POLL_PERIOD), budget);
    LType type;
    Value fn = poll_function(cg, &type);
    Value answer = LLVMBuildCall2(cg->b, type, fn, &ctx, 1, "");
    Value stop = LLVMBuildICmp(cg->b, LLVMIntNE, answer, cg_int(cg->i32, 0), "");
    LLVMBuildCondBr(cg->b, stop, out, next);
    cg_at(cg, next);
    return out;
}

/* Leaves it to the next poll to ask. */
static void count_for_later(Cg *cg, Value budget, Value weight) {
    BB next;
    take_off(cg, budget, weight, &next);
    LLVMBuildStore(cg->b, cg_int(cg->i64, 0), budget);
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
}

/* The exit that cg_count_down has left open; the builder stays where it is. */
static void leave_pending(Cg *cg, BB out) {
    BB here = LLVMGetInsertBlock(cg->b);
    cg_at(cg, out);
    cg_leave(cg, cg_int(cg->i32, CALL_PENDING));
    cg_at(cg, here);
}

void cg_recursion_poll(Cg *cg) {
    CgFunc *f = cg->f;
    if (!cg->raises || !cg->target->is_host) return;
    for (int32_t i = 0; i < f->recursion_polls.len; i++)
        if (cfg_dominates(&f->cfg, f->recursion_polls.items[i], f->block)) return;
    vec_push(cg->arena, &f->recursion_polls, f->block);
    Value budget = context_field(cg, CONTEXT_BUDGET);
    leave_pending(cg, cg_count_down(cg, f->ctx, budget, cg_int(cg->i64, 1)));
}

void cg_lower_poll(Cg *cg, Ref ref) {
    CgFunc *f = cg->f;
    const Inst *inst = ir_inst(f->ir, ref);
    bool waits = cg_goes_on(cg) && f->sig->raises;
    if (!waits && !cg_inst_raises(cg, f->ir, ref)) return;
    if (waits) {
        count_patience(cg, inst->nargs ? cg_leaf(cg, ir_arg(f->ir, ref, 0)) : cg_int(cg->i64, 1));
        return;
    }
    Value weight = inst->nargs ? cg_leaf(cg, ir_arg(f->ir, ref, 0)) : cg_int(cg->i64, 1);
    if (inst->sub == FLAG_LATER) {
        count_for_later(cg, f->budget, weight);
        return;
    }
    BB out = cg_count_down(cg, f->ctx, f->budget, weight);
    leave_pending(cg, out);
}

void cg_lower_pending(Cg *cg, Ref ref) {
    BB out = cg_block(cg, "pending"), on = cg_block(cg, "on");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, cg_leaf(cg, ir_arg(cg->f->ir, ref, 0)), out, on));
    cg_at(cg, on);
    leave_pending(cg, out);
}

/* Recursion: the frame's address against the limit of the caller's stack. */
void cg_stack_check(Cg *cg) {
    if (!cg->raises || !cg->target->is_host) return;
    Value level = cg_int(cg->i32, 0);
    Value frame = cg_intrinsic(cg, "llvm.frameaddress", &cg->ptr[0], 1, &level, 1);
    Value limit = LLVMBuildLoad2(cg->b, cg->ptr[0], context_field(cg, FIELD_STACK_LIMIT), "");
    cg_fail_if(cg, LLVMBuildICmp(cg->b, LLVMIntULT, frame, limit, ""), GUARD_recursion, NULL, 0);
}
