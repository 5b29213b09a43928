/* lazy.c - functions that are compiled when they are first called.
 *
 * The checked copy of a loop nest (opt/outline.c) runs where an index is out of bounds, or where its interval
 * was too coarse to tell: seldom. So it is lowered with the rest, since it shares the tables of sites and
 * exceptions, but into a module of its own that is kept as bitcode. In the function's place stands
 *
 *     stub(args): p = table.slot[k]; if p is null: p = quern_lazy_code(table, k); return p(args)
 *
 * One module holds all such functions of a compilation, with what they call; the first that is needed
 * brings all. It is optimised like any other code. */
#include "codegen/lazy.h"
#include "codegen/llvm/cg.h"
#include "codegen/llvm/host_load.h"
#include "codegen/opt/pass.h"
#include "codegen/worker.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>

struct LazyCode {
    LazyTable *table;
    int32_t nslots;
    CompileOptions options; /* with strings of its own */
    const char *pipeline;
    LLVMMemoryBufferRef bitcode;
    char symbol[64];
    void *host_code;   /* when compiled */
    bool done, failed; /* the worker's */
    uint32_t
        process; /* worker_generation() of the try that failed, or that a fork caught half way */
};

/* -- lowering --------------------------------------------------------------------------------- */

bool cg_is_lazy(const Cg *cg, const CgSig *sig) {
    return cg->target->is_host && cg->options->entry != ENTRY_KERNEL && sig->raises &&
           opt_is_outlined(sig->ir);
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

/* The body described above; a failure is recorded as that of any other instruction. */
void cg_lazy_stub(Cg *cg, const CgSig *sig) {
    CgFunc f = {.ir = sig->ir, .sig = sig, .ctx = LLVMGetParam(sig->fn, 0)};
    cg->f = &f;
    cg_attribute(cg, sig->fn, LLVMAttributeFunctionIndex, "noinline", 0);
    cg_attribute(cg, sig->fn, LLVMAttributeFunctionIndex, "cold", 0);
    f.entry = LLVMAppendBasicBlockInContext(cg->context, sig->fn, "entry");
    BB look = LLVMAppendBasicBlockInContext(cg->context, sig->fn, "look");
    cg_at(cg, f.entry);
    LLVMBuildBr(cg->b, look);
    cg_at(cg, look);
    Value there = load_slot(cg, sig->lazy - 1);
    BB ask = cg_block(cg, "ask"), go = cg_block(cg, "go");
    LLVMBuildCondBr(cg->b, LLVMBuildIsNull(cg->b, there, ""), ask, go);
    cg_at(cg, ask);
    Value args[] = {table(cg), cg_int(cg->i32, sig->lazy - 1), f.ctx};
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
        if (cg->sigs[i].lazy) list[cg->sigs[i].lazy - 1] = cg->sigs[i].fn;
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
    return ok;
}

/* -- keeping ---------------------------------------------------------------------------------- */

static bool copy_text(const char **text) {
    size_t size = *text ? strlen(*text) + 1 : 0;
    char *copy = size ? malloc(size) : NULL;
    if (copy) memcpy(copy, *text, size);
    *text = copy;
    return copy || !size;
}

LazyCode *lazy_keep(Cg *cg) {
    LazyCode *code = calloc(1, sizeof *code);
    if (!code) return NULL;
    code->nslots = cg->nlazy;
    code->options = *cg->options;
    code->options.keep_text = false;
    code->pipeline = cg_pipeline(cg);
    snprintf(code->symbol, sizeof code->symbol, "%s.checked", cg_entry_name(cg));
    bool ok = copy_text(&code->options.arch);
    if (!copy_text(&code->options.cpu_features) || !ok) {
        lazy_free(code);
        return NULL;
    }
    code->bitcode = cg->lazy_bitcode;
    cg->lazy_bitcode = NULL;
    return code;
}

void lazy_bind(LazyCode *code, void *at) {
    code->table = at;
    code->table->code = code;
}

void lazy_free(LazyCode *code) {
    if (!code) return;
    if (code->bitcode) LLVMDisposeMemoryBuffer(code->bitcode);
    if (code->host_code) host_code_drop(code->host_code);
    free((char *)code->options.arch);
    free((char *)code->options.cpu_features);
    free(code);
}

/* -- compiling -------------------------------------------------------------------------------- */

static bool load(Cg *cg, LazyCode *code) {
    LLVMModuleRef module;
    if (LLVMParseBitcodeInContext2(cg->context, code->bitcode, &module))
        return cg_error(cg, "bitcode that was written cannot be read");
    LLVMDisposeModule(cg->mod);
    cg->mod = module;
    if (!cg_admit(cg) || !cg_optimise_with(cg, code->pipeline)) return false;
    LLVMMemoryBufferRef object = cg_emit_buffer(cg, LLVMObjectFile);
    void *list;
    if (!object || !orc_load(cg, object, code->symbol, &list, &code->host_code)) return false;
    for (int32_t i = 0; i < code->nslots; i++)
        atomic_store_explicit(&code->table->slots[i], ((void **)list)[i], memory_order_release);
    return true;
}

/* Bytes an instruction takes at least, with its names left out. */
enum { BITCODE_OF_INST = 8 };

static void compile_job(LlvmState *llvm, void *user) {
    LazyCode *code = user;
    if (code->done || (code->failed && code->process == worker_generation())) return;
    if (!cg_has_room(LLVMGetBufferSize(code->bitcode) / BITCODE_OF_INST)) return;
    code->failed = true; /* unless we come to the end */
    code->process = worker_generation();
    Cg *cg = llvm ? calloc(1, sizeof *cg) : NULL;
    if (!cg) return;
    Arena arena;
    DiagList diags;
    jmp_buf out_of_memory;
    arena_init(&arena, code->options.allocator);
    arena.on_failure = &out_of_memory;
    if (!setjmp(out_of_memory)) {
        diag_init(&diags, &arena);
        Module *none = ir_module_new(&arena, &diags);
        code->done = cg_open(cg, llvm, &arena, &diags, &code->options, none) && load(cg, code);
    }
    code->failed = !code->done;
    if (code->done) {
        LLVMDisposeMemoryBuffer(code->bitcode);
        code->bitcode = NULL;
    }
    cg_close(cg);
    free(cg);
    arena_free(&arena);
}

typedef struct Patience { /* of a call that waits for its code */
    CallContext *ctx;
    bool over;
} Patience;

static bool look(void *user) {
    Patience *p = user;
    return p->over = p->ctx->poll && p->ctx->poll(p->ctx) != 0;
}

/* The table and what is kept for it belong to code that is being called: a job that runs is waited for. */
void *quern_lazy_code(LazyTable *at, int32_t slot, CallContext *ctx) {
    char error[256];
    void *there = atomic_load_explicit(&at->slots[slot], memory_order_acquire);
    if (there || !at->code) return there;
    Patience patience = {ctx, false};
    WorkerWait wait = {.look = look, .user = &patience};
    if (worker_run(&llvm_hooks, compile_job, at->code, &wait, error, sizeof error) == WORKER_DONE)
        there = atomic_load_explicit(&at->slots[slot], memory_order_acquire);
    return patience.over ? NULL : there;
}
