/* lazy.c - keeps the functions that are compiled when they are first called, and has them compiled. */
#include "codegen/lazy.h"
#include "codegen/host_code.h"
#include "codegen/lower.h"
#include "codegen/worker.h"
#include <stdlib.h>

struct LazyCode {
    LazyModule module; /* its texts and bytes are ours */
    LazyTable *table;
    HostCode *host_code; /* when compiled */
    bool done, failed;   /* the worker's */
    uint32_t
        process; /* worker_generation() of the try that failed, or that a fork caught half way */
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
    if (ok) return code;
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
    host_code_drop(code->host_code);
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

static void compile_job(LlvmState *llvm, void *user) {
    LazyCode *code = user;
    if (code->done || (code->failed && code->process == worker_generation())) return;
    code->failed = true; /* unless we come to the end */
    code->process = worker_generation();
    LazyJob job = {.module = &code->module};
    lower_lazy(llvm, &job);
    if (!job.code) return;
    code->host_code = job.code;
    for (int32_t i = 0; i < code->module.nslots; i++)
        atomic_store_explicit(&code->table->slots[i], job.list[i], memory_order_release);
    free((char *)code->module.bitcode);
    code->module.bitcode = NULL;
    code->done = true;
    code->failed = false;
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
