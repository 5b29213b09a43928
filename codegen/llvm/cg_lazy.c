/* cg_lazy.c - functions that are compiled when they are first called.
 *
 * The checked copy of a loop nest (opt/outline.c) runs where an index is out of bounds, or where its interval
 * was too coarse to tell: seldom. So it is lowered with the rest, since it shares the tables of sites and
 * exceptions, but into a module of its own that is kept as bitcode. In the function's place stands
 *
 *     stub(args): p = table.slot[k]; if p is null: p = quern_lazy_code(table, k); return p(args)
 *
 * One module holds all such functions of a compilation, with what they call; compiled is the one that is needed, with what it
 * calls, like any other code. */
#include "codegen/llvm/cg.h"
#include "codegen/lower.h"
#include "codegen/opt/pass.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>

/* -- lowering --------------------------------------------------------------------------------- */

bool cg_is_lazy(const Cg *cg, const CgSig *sig) {
    return cg->target->is_host && cg->options->entry != ENTRY_KERNEL && !cg->options->closed &&
           sig->raises && opt_is_outlined(sig->ir);
}

static LType table_type(Cg *cg) {
    LType fields[] = {cg->ptr[0], LLVMArrayType2(cg->ptr[0], (uint64_t)cg->nlazy)};
    return LLVMStructTypeInContext(cg->context, fields, 2, false);
}

static Value table(Cg *cg) {
    char name[80];
    snprintf(name, sizeof name, "%s.lazy", cg_entry_name(cg));
    Value global = LLVMGetNamedGlobal(cg->mod, name);
    if (global) return global;
    global = LLVMAddGlobal(cg->mod, table_type(cg), name);
    LLVMSetInitializer(global, LLVMConstNull(table_type(cg)));
    return global;
}

static Value load_slot(Cg *cg, int32_t slot) {
    Value index[] = {cg_int(cg->i32, 0), cg_int(cg->i32, 1), cg_int(cg->i32, slot)};
    Value at = LLVMBuildInBoundsGEP2(cg->b, table_type(cg), table(cg), index, 3, "");
    Value load = LLVMBuildLoad2(cg->b, cg->ptr[0], at, "");
    LLVMSetOrdering(load, LLVMAtomicOrderingAcquire);
    LLVMSetAlignment(load, sizeof(void *));
    return load;
}

/* The body described above; a failure is recorded as that of any other instruction. It is called once at most that matters: LLVM
 * need not look for anything better, which it does in each of a hundred passes. */
void cg_lazy_stub(Cg *cg, const CgSig *sig) {
    CgFunc f = {.ir = sig->ir, .sig = sig, .ctx = LLVMGetParam(sig->fn, 0)};
    if (cg->nunits) f.bases = LLVMGetParam(sig->fn, sig->polls ? 2 : 1);
    cg->f = &f;
    cg_attribute(cg, sig->fn, LLVMAttributeFunctionIndex, "noinline", 0);
    cg_attribute(cg, sig->fn, LLVMAttributeFunctionIndex, "cold", 0);
    cg_attribute(cg, sig->fn, LLVMAttributeFunctionIndex, "optnone", 0);
    f.entry = LLVMAppendBasicBlockInContext(cg->context, sig->fn, "entry");
    BB look = LLVMAppendBasicBlockInContext(cg->context, sig->fn, "look");
    cg_at(cg, f.entry);
    LLVMBuildBr(cg->b, look);
    cg_at(cg, look);
    Value there = load_slot(cg, sig->slot);
    BB ask = cg_block(cg, "ask"), go = cg_block(cg, "go");
    LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, there, ""), ask, go);
    cg_at(cg, ask);
    Value args[] = {table(cg), cg_int(cg->i32, sig->slot), f.ctx};
    Value made = cg_call_extern(cg, "quern_lazy_code", cg->ptr[0], args, 3);
    cg_fail_if(cg, LLVMBuildIsNull(cg->b, made, ""), GUARD_not_compiled, NULL, 0);
    BB asked = LLVMGetInsertBlock(cg->b);
    LLVMBuildBr(cg->b, go);
    cg_at(cg, go);
    Value fn = LLVMBuildPhi(cg->b, cg->ptr[0], "");
    LLVMAddIncoming(fn, (Value[]){there, made}, (BB[]){look, asked}, 2);
    unsigned n = LLVMCountParams(sig->fn);
    Value *all = arena_array(cg->arena, Value, n + 1);
    LLVMGetParams(sig->fn, all);
    LLVMBuildRet(cg->b, LLVMBuildCall2(cg->b, sig->type, fn, all, n, ""));
    cg_fail_block(cg);
    cg->f = NULL;
}

/* The second module: bodies, and the list of their addresses under the name of the table. */
bool cg_lazy_module(Cg *cg) {
    if (cg->nlazy == 0) return true;
    LLVMModuleRef hot = cg->mod;
    cg->mod = LLVMModuleCreateWithNameInContext("quern checked", cg->context);
    LLVMSetModuleDataLayout(cg->mod, cg->layout);
    LLVMSetTarget(cg->mod, LLVMGetTarget(hot));
    map_init(&cg->frozen, cg->arena); /* what is known of the first module */
    cg->vector_functions.len = 0;
    Value *list = arena_array(cg->arena, Value, cg->nlazy);
    bool ok = cg_lower_bodies(cg, true);
    for (int32_t i = 0; ok && i < cg->ir->funcs.len; i++)
        if (cg->sigs[i].stub) list[cg->sigs[i].slot] = cg->sigs[i].fn;
    if (ok) {
        Value array = LLVMConstArray2(cg->ptr[0], list, (uint64_t)cg->nlazy);
        char name[80];
        snprintf(name, sizeof name, "%s.checked", cg_entry_name(cg));
        Value global = LLVMAddGlobal(cg->mod, LLVMTypeOf(array), name);
        LLVMSetInitializer(global, array);
        LLVMSetGlobalConstant(global, true);
        cg_keep_variants(cg);
        cg->lazy_bitcode = LLVMWriteBitcodeToMemoryBuffer(cg->mod);
    }
    LLVMDisposeModule(cg->mod);
    cg->mod = hot;
    cg->in_lazy = false;
    return ok;
}

/* -- compiling -------------------------------------------------------------------------------- */

LazyCode *cg_lazy_code(Cg *cg) {
    char symbol[80], table[80];
    snprintf(symbol, sizeof symbol, "%s.checked", cg_entry_name(cg));
    snprintf(table, sizeof table, "%s.lazy", cg_entry_name(cg));
    LazyModule module = {.nslots = cg->nlazy,
                         .options = *cg->options,
                         .pipeline = cg_pipeline(cg),
                         .symbol = symbol,
                         .table = table,
                         .bitcode = LLVMGetBufferStart(cg->lazy_bitcode),
                         .size = LLVMGetBufferSize(cg->lazy_bitcode),
                         .naddresses = cg->addresses.len,
                         .addresses = cg->addresses.items,
                         .keep = cg->root != NULL};
    return lazy_new(&module);
}

static bool read_bitcode(Cg *cg, const LazyModule *module) {
    LLVMModuleRef parsed;
    cg->code = LLVMCreateMemoryBufferWithMemoryRangeCopy(module->bitcode, module->size, "lazy");
    if (LLVMParseBitcodeInContext2(cg->context, cg->code, &parsed))
        return cg_error(cg, "bitcode that was written cannot be read");
    LLVMDisposeMemoryBuffer(cg->code);
    cg->code = NULL;
    LLVMDisposeModule(cg->mod);
    cg->mod = parsed;
    return true;
}

/* The list of addresses keeps the functions of the module alive: of the others it has none any more. */
static bool keep_only(Cg *cg, const LazyModule *module, int32_t slot) {
    Value list = LLVMGetNamedGlobal(cg->mod, module->symbol);
    Value all = LLVMGetInitializer(list);
    Value *kept = arena_array(cg->arena, Value, module->nslots);
    for (int32_t i = 0; i < module->nslots; i++)
        kept[i] = i == slot ? LLVMGetOperand(all, (unsigned)i) : LLVMConstNull(cg->ptr[0]);
    LLVMSetInitializer(list, LLVMConstArray2(cg->ptr[0], kept, (uint64_t)module->nslots));
    return cg_optimise_with(cg, "globaldce");
}

/* Of all functions. */
static void keep_object(Cg *cg, LazyJob *job) {
    Str object = cg_emit_copy(cg, cg->arena, LLVMObjectFile);
    if (!object.len || !(job->object = malloc((size_t)object.len))) return;
    memcpy(job->object, object.bytes, (size_t)object.len);
    job->object_size = (size_t)object.len;
}

static void compile(Cg *cg, LazyJob *job) {
    const LazyModule *module = job->module;
    if (!read_bitcode(cg, module) || (job->slot >= 0 && !keep_only(cg, module, job->slot)) ||
        !cg_admit(cg) || !cg_optimise_with(cg, module->pipeline))
        return;
    if (job->slot < 0) {
        keep_object(cg, job);
        return;
    }
    void *list;
    HostObject object = {
        .symbol = module->symbol, .naddresses = module->naddresses, .addresses = module->addresses};
    job->code = cg_load_host(cg, object, &list, NULL);
    job->address = job->code ? ((void **)list)[job->slot] : NULL;
}

/* Bytes an instruction takes at least, with its names left out. */
enum { BITCODE_OF_INST = 8 };

void lower_lazy(LlvmState *llvm, LazyJob *job) {
    size_t room = llvm ? cg_take_room(job->module->size / BITCODE_OF_INST) : 0;
    Cg *cg = room ? calloc(1, sizeof *cg) : NULL;
    if (!cg) {
        cg_give_room(room);
        return;
    }
    Arena arena;
    DiagList diags;
    jmp_buf out_of_memory;
    arena_init(&arena, job->module->options.allocator);
    arena.on_failure = &out_of_memory;
    cg_heap_enter(llvm);
    if (!setjmp(out_of_memory)) {
        diag_init(&diags, &arena);
        Module *none = ir_module_new(&arena, &diags);
        if (cg_open(cg, llvm, &arena, &diags, &job->module->options, none)) compile(cg, job);
    }
    cg_close(cg);
    cg_heap_leave();
    free(cg);
    arena_free(&arena);
    cg_give_room(room);
}
