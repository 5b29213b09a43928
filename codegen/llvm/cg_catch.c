/* cg_catch.c - handlers of exceptions, on the host.
 *
 * A handler moves the exception out of the context into memory of its own, one place for each `caught`, so that what
 * runs in the handler may raise and catch others; raising it again moves it back. The value is the address of that place.
 * Which exceptions a handler matches is known when it is compiled: those of guards by number, those of statements by the
 * number of their class. Only an exception that Python made (CALL_TAKEN) is asked for its class when it comes. */
#include "codegen/llvm/cg.h"
#include <stddef.h>

/* Parts of the context that make an exception: what, where and with which arguments; through which calls, of which class. */
typedef struct Part {
    size_t from, size;
} Part;
static const Part parts[] = {{offsetof(CallContext, exception), offsetof(CallContext, stack_limit)},
                             {offsetof(CallContext, ncallers),
                              offsetof(CallContext, has_item) - offsetof(CallContext, ncallers)}};
enum {
    HELD = offsetof(CallContext, stack_limit) + offsetof(CallContext, has_item) -
           offsetof(CallContext, ncallers)
};

static Value byte_at(Cg *cg, Value base, size_t offset) {
    Value index = cg_int(cg->i64, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, base, &index, 1, "");
}

static void move(Cg *cg, Value held, bool out) {
    size_t at = 0;
    for (int k = 0; k < countof(parts); at += parts[k++].size) {
        Value there = byte_at(cg, cg->f->ctx, parts[k].from), here = byte_at(cg, held, at);
        LLVMBuildMemCpy(cg->b, out ? here : there, 8, out ? there : here, 8,
                        cg_int(cg->i64, (int64_t)parts[k].size));
    }
}

int32_t cg_class_number(Cg *cg, Str name, const void *handle) {
    for (int32_t k = 0; k < cg->classes.len; k++)
        if (cg->classes.items[k].handle == handle && str_equal(cg->classes.items[k].name, name))
            return k;
    vec_push(cg->arena, &cg->classes, ((ExceptionClass){name, (void *)handle}));
    return cg->classes.len - 1;
}

/* What is pending with the caller is taken; what cannot be is raised on. */
static void take_pending(Cg *cg) {
    BB take = cg_block(cg, "take"), stays = cg_block(cg, "stays"), here = cg_block(cg, "here");
    Value status = LLVMBuildLoad2(cg->b, cg->i32, cg->f->status, "");
    Value pending = LLVMBuildICmp(cg->b, LLVMIntEQ, status, cg_int(cg->i32, CALL_PENDING), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, pending, take, here));
    cg_at(cg, take);
    Value taken = cg_call_extern(cg, "quern_take_pending", cg->i32, &cg->f->ctx, 1);
    Value done = LLVMBuildICmp(cg->b, LLVMIntNE, taken, cg_int(cg->i32, 0), "");
    LLVMBuildCondBr(cg->b, done, here, stays);
    cg_at(cg, stays);
    LLVMBuildBr(cg->b, cg_fail_exit(cg));
    cg_at(cg, here);
}

void cg_lower_caught(Cg *cg, Ref ref) {
    cg_fail_exit(cg); /* makes the slot of the status */
    take_pending(cg);
    Value held = cg_alloca(cg, LLVMArrayType2(cg->i64, (HELD + 7) / 8), "caught");
    move(cg, held, true);
    Value calls = byte_at(cg, cg->f->ctx, offsetof(CallContext, ncallers));
    LLVMBuildStore(cg->b, cg_int(cg->i32, 0), calls);
    cg_set1(cg, ref, LLVMBuildPtrToInt(cg->b, held, cg->i64, ""));
}

void cg_lower_reraise(Cg *cg, Ref ref) {
    Value held = LLVMBuildIntToPtr(cg->b, cg_leaf(cg, ir_arg(cg->f->ir, ref, 0)), cg->ptr[0], "");
    move(cg, held, false);
    if (ir_inst(cg->f->ir, ref)->sub == FLAG_STATEMENT) cg_note_call(cg);
    cg_leave(cg, cg_int(cg->i32, CALL_EXCEPTION));
}

/* -- which ---------------------------------------------------------------------------------------- */

/* Is `at` one of the numbers in the set? */
static Value in_set(Cg *cg, const Bits *set, Value at) {
    unsigned words = (unsigned)QN_MAX((set->n + 63) / 64, 1);
    LType wide = LLVMIntTypeInContext(cg->context, words * 64);
    Value all = LLVMConstIntOfArbitraryPrecision(wide, words, set->words);
    Value inside = LLVMBuildICmp(cg->b, LLVMIntULT, at, cg_int(cg->i32, set->n), "");
    Value shift = LLVMBuildSelect(cg->b, inside, at, cg_int(cg->i32, 0), "");
    Value bit = LLVMBuildLShr(cg->b, all, LLVMBuildIntCast2(cg->b, shift, wide, false, ""), "");
    return LLVMBuildAnd(cg->b, inside, LLVMBuildTrunc(cg->b, bit, cg->i1, ""), "");
}

/* The guards and the numbers of the classes that the set means. */
static void find_numbers(Cg *cg, const ClassSet *set, Bits *guards, Bits *classes) {
    static const char *const raises[GUARD_COUNT] = {
#define GUARD(name, exception, message, nargs) #exception,
#include "frontend/ir/ir_guards.def"
#undef GUARD
    };
    *guards = bits_new(cg->arena, GUARD_COUNT);
    *classes = bits_new(cg->arena, cg->classes.len + set->n + 1);
    for (int32_t k = 0; k < set->n; k++) {
        const ExceptionClass *cls = &set->classes[k];
        bits_set(classes, cg_class_number(cg, cls->name, cls->handle));
        for (int32_t guard = 0; guard < GUARD_COUNT && !cls->handle; guard++)
            if (str_is(cls->name, raises[guard])) bits_set(guards, guard);
    }
}

/* One that Python made: the builder goes on behind, with `known` for all others. */
static Value ask_for_taken(Cg *cg, const ClassSet *set, Value held, Value id, Value known) {
    BB before = LLVMGetInsertBlock(cg->b), ask = cg_block(cg, "ask"), done = cg_block(cg, "known");
    Value taken = LLVMBuildICmp(cg->b, LLVMIntEQ, id, cg_int(cg->i32, CALL_TAKEN), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, taken, ask, done));
    cg_at(cg, ask);
    Value number =
        LLVMBuildLoad2(cg->b, cg->i64, byte_at(cg, held, offsetof(CallContext, args)), "");
    Value any = cg_int(cg->i32, 0);
    for (int32_t k = 0; k < set->nasked; k++) {
        Value handle =
            LLVMConstIntToPtr(cg_int(cg->i64, (int64_t)(intptr_t)set->asked[k].handle), cg->ptr[0]);
        Value is = cg_call_extern(cg, "quern_matches_taken", cg->i32,
                                  (Value[]){cg->f->ctx, number, handle}, 3);
        any = LLVMBuildOr(cg->b, any, is, "");
    }
    any = LLVMBuildICmp(cg->b, LLVMIntNE, any, cg_int(cg->i32, 0), "");
    LLVMBuildBr(cg->b, done);
    cg_at(cg, done);
    Value phi = LLVMBuildPhi(cg->b, cg->i1, "");
    LLVMAddIncoming(phi, (Value[]){known, any}, (BB[]){before, ask}, 2);
    return phi;
}

void cg_lower_matches(Cg *cg, Ref ref) {
    const ClassSet *set = ir_inst(cg->f->ir, ref)->u.classes;
    Bits guards, classes;
    find_numbers(cg, set, &guards, &classes);
    Value held = LLVMBuildIntToPtr(cg->b, cg_leaf(cg, ir_arg(cg->f->ir, ref, 0)), cg->ptr[0], "");
    size_t class_at = parts[0].size + offsetof(CallContext, exception_class) - parts[1].from;
    Value id = LLVMBuildLoad2(cg->b, cg->i32, held, "");
    Value number = LLVMBuildLoad2(cg->b, cg->i32, byte_at(cg, held, class_at), "");
    Value is_guard = LLVMBuildICmp(cg->b, LLVMIntSLT, id, cg_int(cg->i32, 0), "");
    Value guard = LLVMBuildSub(cg->b, cg_int(cg->i32, -1), id, "");
    Value known = LLVMBuildSelect(cg->b, is_guard, in_set(cg, &guards, guard),
                                  in_set(cg, &classes, number), "");
    cg_set1(cg, ref, ask_for_taken(cg, set, held, id, known));
}
