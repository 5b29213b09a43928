/* lazy.c - keeps the functions that are compiled when they are first called, and has them compiled. */
#include "codegen/lazy.h"
#include "codegen/host_code.h"
#include "codegen/lower.h"
#include "codegen/worker.h"
#include <stdlib.h>

typedef struct LazySlot {
    HostCode *code; /* when compiled */
    bool failed;
    uint32_t
        process; /* worker_generation() of the try that failed, or that a fork caught half way */
} LazySlot;

struct LazyCode {
    LazyModule module; /* its texts and bytes are ours */
    LazyTable *table;
    LazySlot *
        slots; /* and nmissing: the worker's that has a job for this code, of which one runs at a time */
    int32_t nmissing;
};

/* -- keeping ----------------------------------------------------------------------------------- */

static bool copy_bytes(const char **bytes, size_t size) {
    char *copy = *bytes ? malloc(size) : NULL;
    if (copy) memcpy(copy, *bytes, size);
    bool ok = copy || !*bytes;
    *bytes = copy;
    return ok;
}

static bool copy_text(const char **text) {
    return copy_bytes(text, *text ? strlen(*text) + 1 : 0);
}

LazyCode *lazy_new(const LazyModule *module) {
    LazyCode *code = calloc(1, sizeof *code);
    if (!code) return NULL;
    LazyModule *m = &code->module;
    *m = *module;
    m->options.keep_text = false;
    m->options.core = NULL;
    bool ok = copy_text(&m->options.arch);
    ok &= copy_text(&m->options.cpu_features);
    ok &= copy_text(&m->pipeline);
    ok &= copy_text(&m->symbol);
    ok &= copy_text(&m->table);
    ok &= copy_bytes(&m->bitcode, m->size);
    const char *addresses = (const char *)m->addresses;
    ok &= copy_bytes(&addresses, sizeof *m->addresses * (size_t)m->naddresses);
    m->addresses = (const CodeAddress *)addresses;
    code->slots = calloc((size_t)m->nslots + 1, sizeof *code->slots);
    code->nmissing = m->nslots;
    if (ok && code->slots) return code;
    lazy_free(code);
    return NULL;
}

void lazy_free(LazyCode *code) {
    if (!code) return;
    LazyModule *m = &code->module;
    const char *const owned[] = {
        m->options.arch, m->options.cpu_features,   m->pipeline, m->symbol, m->table,
        m->bitcode,      (const char *)m->addresses};
    for (size_t i = 0; i < countof(owned); i++)
        free((char *)owned[i]);
    for (int32_t i = 0; code->slots && i < m->nslots; i++)
        host_code_drop(code->slots[i].code);
    free(code->slots);
    free(code);
}

const LazyModule *lazy_module(const LazyCode *code) {
    return code->module.bitcode ? &code->module : NULL;
}

const char *lazy_table_name(const LazyCode *code) {
    return code->module.table;
}

size_t lazy_table_size(const LazyCode *code) {
    return sizeof(LazyTable) + sizeof(void *) * (size_t)code->module.nslots;
}

void lazy_bind(LazyCode *code, void *table) {
    code->table = table;
    code->table->code = code;
}

/* -- compiling --------------------------------------------------------------------------------- */

typedef struct Wanted {
    LazyCode *code;
    int32_t slot;
} Wanted;

static void compile_job(LlvmState *llvm, void *user) {
    const Wanted *wanted = user;
    LazyCode *code = wanted->code;
    LazySlot *slot = &code->slots[wanted->slot];
    if (slot->code || (slot->failed && slot->process == worker_generation())) return;
    slot->failed = true; /* unless we come to the end */
    slot->process = worker_generation();
    LazyJob job = {.module = &code->module, .slot = wanted->slot};
    char error[8];
    const LlvmHalf *half = llvm_half(error, sizeof error);
    if (half) half->run_lazy(llvm, &job);
    if (!job.code) return;
    slot->code = job.code;
    slot->failed = false;
    atomic_store_explicit(&code->table->slots[wanted->slot], job.address, memory_order_release);
    if (--code->nmissing || code->module.keep) return;
    free((char *)code->module.bitcode);
    code->module.bitcode = NULL;
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
    WorkerWait wait = {.look = look, .user = &patience, .alone = at->code};
    Wanted wanted = {at->code, slot};
    if (worker_run(&llvm_half_hooks, compile_job, &wanted, &wait, error, sizeof error) ==
        WORKER_DONE)
        there = atomic_load_explicit(&at->slots[slot], memory_order_acquire);
    return patience.over ? NULL : there;
}
