/* cg_catch.c - handlers of exceptions, on the host.
 *
 * A handler moves the exception out of the context into memory of its own, one place for each `caught`, so that what
 * runs in the handler may raise and catch others; raising it again moves it back. The value is the address of that place.
 * Which exceptions a handler matches is known when it is compiled: those of guards by number, those of statements by the
 * number of their class. Only an exception that Python made (CALL_TAKEN) is asked for its class when it comes. */
#include "codegen/llvm/cg.h"
#include <stddef.h>

static Value byte_at(Cg *cg, Value base, size_t offset) {
    Value index = cg_int(cg->i64, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(cg->b, cg->i8, base, &index, 1, "");
}

/* The memory that a caught exception stands for: of an object, what it holds. */
static Value memory_of(Cg *cg, Ref caught) {
    if (cg_type(cg, caught)->kind == TY_CLASS)
        return byte_at(cg, cg_leaf(cg, caught), offsetof(ExceptionObject, raised));
    return LLVMBuildIntToPtr(cg->b, cg_leaf(cg, caught), cg->ptr[0], "");
}

/* Their numbers are the same in all code: an instance may raise what its caller catches. NumPy's is one of them to the whole
 * compiler (py_builtin_exception). */
static const char *const builtin_classes[] = {
    "ArithmeticError",   "AssertionError",     "AttributeError",
    "BaseException",     "BufferError",        "EOFError",
    "Exception",         "FloatingPointError", "GeneratorExit",
    "ImportError",       "IndexError",         "KeyError",
    "KeyboardInterrupt", "LinAlgError",        "LookupError",
    "MemoryError",       "NameError",          "NotImplementedError",
    "OSError",           "OverflowError",      "RecursionError",
    "ReferenceError",    "RuntimeError",       "StopIteration",
    "SystemError",       "SystemExit",         "TypeError",
    "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError",      "ValueError",         "Warning",
    "ZeroDivisionError"};

int32_t cg_class_number(Cg *cg, const ExceptionClass *cls) {
    bool builtin = cls->builtin || !cls->handle;
    for (int32_t k = 0; k < countof(builtin_classes) && builtin; k++)
        if (str_is(cls->name, builtin_classes[k])) return k;
    cg->is_private |= cg->root != NULL;
    for (int32_t k = 0; k < cg->classes.len; k++) {
        const ExceptionClass *known = &cg->classes.items[k];
        if (known->handle == cls->handle && str_equal(known->name, cls->name))
            return countof(builtin_classes) + k;
    }
    vec_push(cg->arena, &cg->classes, *cls);
    return countof(builtin_classes) + cg->classes.len - 1;
}

static Value object_of(Cg *cg, Value held) {
    Value args[] = {cg->f->ctx, held};
    return cg_call_extern(cg, "quern_exception_object", cg->ptr[0], args, 2);
}

void cg_lower_caught(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    BB fail = cg_fail_exit(cg), here = cg_block(cg, "here"); /* makes the slot of the status */
    LType words = LLVMArrayType2(cg->i64, sizeof(Raised) / 8);
    Value null = LLVMConstNull(cg->ptr[0]), held = cg_alloca(cg, words, "caught");
    Value handled = ir_inst(ir, ref)->nargs ? memory_of(cg, ir_arg(ir, ref, 0)) : null;
    Value args[] = {cg->f->ctx, held, handled, LLVMBuildLoad2(cg->b, cg->i32, cg->f->status, "")};
    Value caught = cg_call_extern(cg, "quern_caught", cg->i32, args, 4);
    Value is_not = LLVMBuildICmp(cg->b, LLVMIntEQ, caught, cg_int(cg->i32, 0), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, is_not, fail, here));
    cg_at(cg, here);
    if (cg_type(cg, ref)->kind == TY_CLASS)
        cg_set1(cg, ref, object_of(cg, held));
    else
        cg_set1(cg, ref, LLVMBuildPtrToInt(cg->b, held, cg->i64, ""));
}

void cg_lower_exception(Cg *cg, Ref ref) {
    if (!ir_inst(cg->f->ir, ref)->u.exception) {
        Value held = memory_of(cg, ir_arg(cg->f->ir, ref, 0));
        cg_set1(cg, ref, object_of(cg, held));
        return;
    }
    cg_record_exception(cg, ref);
    Value ctx = cg->f->ctx;
    cg_set1(cg, ref, cg_call_extern(cg, "quern_exception_made", cg->ptr[0], &ctx, 1));
}

Value cg_exception_address(Cg *cg, Value object) {
    Value at = byte_at(cg, object, offsetof(ExceptionObject, raised));
    return LLVMBuildPtrToInt(cg->b, at, cg->i64, "");
}

void cg_lower_cause(Cg *cg, Ref ref) {
    const Func *ir = cg->f->ir;
    Value null = LLVMConstNull(cg->ptr[0]);
    Value of = ir_inst(ir, ref)->nargs > 1 ? memory_of(cg, ir_arg(ir, ref, 1)) : null;
    Value args[] = {cg->f->ctx, of, memory_of(cg, ir_arg(ir, ref, 0))};
    cg_call_extern(cg, "quern_cause", cg->void_, args, 3);
}

void cg_lower_reraise(Cg *cg, Ref ref) {
    Ref exception = ir_arg(cg->f->ir, ref, 0);
    bool statement = ir_inst(cg->f->ir, ref)->sub == FLAG_STATEMENT;
    if (cg_type(cg, exception)->kind == TY_CLASS) {
        Value site = statement ? cg_numbered(cg, NUMBER_SITE, cg_site(cg)) : cg_int(cg->i32, -1);
        Value args[] = {cg->f->ctx, cg_leaf(cg, exception), site};
        cg_call_extern(cg, "quern_raise_object", cg->void_, args, 3);
    } else {
        Value held = memory_of(cg, exception);
        LLVMBuildMemCpy(cg->b, cg->f->ctx, 8, held, 8, cg_int(cg->i64, sizeof(Raised)));
        if (statement) cg_note_call(cg);
    }
    cg_leave(cg, cg_int(cg->i32, CALL_EXCEPTION));
}

/* -- which ---------------------------------------------------------------------------------------- */

/* Is `at` one of the numbers in the set? Word by word: wider integers are not admitted. */
static Value in_set(Cg *cg, const Bits *set, Value at) {
    Value found = cg_int(cg->i1, 0);
    for (int32_t first = 0; first < set->n; first += 64) {
        Value rest = LLVMBuildSub(cg->b, at, cg_int(cg->i32, first), "");
        Value count = cg_int(cg->i32, QN_MIN(set->n - first, 64)), zero = cg_int(cg->i32, 0);
        Value inside = LLVMBuildICmp(cg->b, LLVMIntULT, rest, count, "");
        Value shift = LLVMBuildSelect(cg->b, inside, rest, zero, "");
        Value word = cg_int(cg->i64, (int64_t)set->words[first / 64]);
        Value wide = LLVMBuildIntCast2(cg->b, shift, cg->i64, false, "");
        Value bit = LLVMBuildTrunc(cg->b, LLVMBuildLShr(cg->b, word, wide, ""), cg->i1, "");
        found = LLVMBuildOr(cg->b, found, LLVMBuildAnd(cg->b, inside, bit, ""), "");
    }
    return found;
}

/* The guards and the numbers of the classes that the set means. */
static void find_numbers(Cg *cg, const ClassSet *set, Bits *guards, Bits *classes) {
    *guards = bits_new(cg->arena, GUARD_COUNT);
    *classes = bits_new(cg->arena, countof(builtin_classes) + cg->classes.len + set->n + 1);
    for (int32_t k = 0; k < set->n; k++) {
        const ExceptionClass *cls = &set->classes[k];
        bits_set(classes, cg_class_number(cg, cls));
        for (int32_t guard = 0; guard < GUARD_COUNT && !cls->handle; guard++)
            if (str_is(cls->name, ir_guard_exception(guard))) bits_set(guards, guard);
    }
}

/* One that Python made: the builder goes on behind, with `known` for all others. */
static Value ask_for_taken(Cg *cg, const ClassSet *set, Value held, Value id, Value known) {
    BB before = LLVMGetInsertBlock(cg->b), ask = cg_block(cg, "ask"), done = cg_block(cg, "known");
    Value taken = LLVMBuildICmp(cg->b, LLVMIntEQ, id, cg_int(cg->i32, CALL_TAKEN), "");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, taken, ask, done));
    cg_at(cg, ask);
    Value number = LLVMBuildLoad2(cg->b, cg->i64, byte_at(cg, held, offsetof(Raised, args)), "");
    Value any = cg_int(cg->i32, 0);
    for (int32_t k = 0; k < set->nasked; k++) {
        void *cls = set->asked[k].handle;
        Value handle =
            cls ? cg_host_address(cg, (CodeAddress){ADDRESS_CLASS, cls, .handle = cls}, cg->i8)
                : LLVMConstNull(cg->ptr[0]);
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
    Value held = memory_of(cg, ir_arg(cg->f->ir, ref, 0));
    Value id = LLVMBuildLoad2(cg->b, cg->i32, held, "");
    Value number =
        LLVMBuildLoad2(cg->b, cg->i32, byte_at(cg, held, offsetof(Raised, exception_class)), "");
    Value is_guard = LLVMBuildICmp(cg->b, LLVMIntSLT, id, cg_int(cg->i32, 0), "");
    Value guard = LLVMBuildSub(cg->b, cg_int(cg->i32, -1), id, "");
    Value known = LLVMBuildSelect(cg->b, is_guard, in_set(cg, &guards, guard),
                                  in_set(cg, &classes, number), "");
    cg_set1(cg, ref, ask_for_taken(cg, set, held, id, known));
}
