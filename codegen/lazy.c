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

typedef struct LoadedCode { /* all functions of a module; threads that came at once have one each */
    HostCode *code;
    struct LoadedCode *next;
} LoadedCode;

struct LazyCode {
    LazyModule module; /* its texts and bytes are ours */
    bool from_file;    /* there is machine code of all, and no bitcode */
    _Atomic(LoadedCode *) loaded;
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
    code->from_file = !m->bitcode;
    m->options.keep_text = false;
    m->options.core = NULL;
    bool ok = copy_text(&m->options.arch);
    ok &= copy_text(&m->options.cpu_features);
    ok &= copy_text(&m->pipeline);
    ok &= copy_text(&m->symbol);
    ok &= copy_text(&m->table);
    ok &= copy_bytes(&m->bitcode, m->size);
    ok &= copy_bytes(&m->object, m->object_size);
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
        m->options.arch, m->options.cpu_features,   m->pipeline, m->symbol, m->table, m->bitcode,
        m->object,       (const char *)m->addresses};
    for (size_t i = 0; i < countof(owned); i++)
        free((char *)owned[i]);
    for (int32_t i = 0; code->slots && i < m->nslots; i++)
        host_code_drop(code->slots[i].code);
    for (LoadedCode *l = atomic_load(&code->loaded), *next; l; l = next) {
        next = l->next;
        host_code_drop(l->code);
        free(l);
    }
    free(code->slots);
    free(code);
}

const LazyModule *lazy_module(const LazyCode *code) {
    return code->module.bitcode || code->module.object ? &code->module : NULL;
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

static void object_job(LlvmState *llvm, void *user) {
    LazyCode *code = user;
    char error[8];
    const LlvmHalf *half = llvm_half(error, sizeof error);
    LazyJob job = {.module = &code->module, .slot = -1};
    if (code->module.object || !code->module.bitcode || !half) return;
    half->run_lazy(llvm, &job);
    code->module.object = job.object;
    code->module.object_size = job.object_size;
}

bool lazy_make_object(LazyCode *code) {
    char error[256];
    WorkerWait wait = {.alone = code};
    if (code->from_file) return true;
    WorkerOutcome outcome =
        worker_run(&llvm_half_hooks, object_job, code, &wait, error, sizeof error);
    return outcome == WORKER_DONE && code->module.object;
}

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

/* The machine code of what was read from a file. Two threads that come at once load it twice: either's is good. */
static void *load_slot(LazyCode *code, LazyTable *table, int32_t slot) {
    const LazyModule *m = &code->module;
    HostObject object = {.object = m->object,
                         .size = m->object_size,
                         .symbol = m->symbol,
                         .naddresses = m->naddresses,
                         .addresses = m->addresses};
    char error[256];
    void *first;
    LoadedCode *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return NULL;
    loaded->code = host_code_load(&object, &first, error, sizeof error);
    if (!loaded->code ||
        !host_code_contains(loaded->code, first, sizeof first * (size_t)m->nslots)) {
        host_code_drop(loaded->code);
        free(loaded);
        return NULL;
    }
    loaded->next = atomic_load(&code->loaded);
    while (!atomic_compare_exchange_weak(&code->loaded, &loaded->next, loaded))
        ;
    void *const *functions = first;
    for (int32_t i = 0; i < m->nslots; i++)
        atomic_store_explicit(&table->slots[i], functions[i], memory_order_release);
    return functions[slot];
}

/* The table and what is kept for it belong to code that is being called: a job that runs is waited for. */
void *quern_lazy_code(LazyTable *at, int32_t slot, CallContext *ctx) {
    char error[256];
    void *there = atomic_load_explicit(&at->slots[slot], memory_order_acquire);
    if (there || !at->code) return there;
    if (at->code->from_file) return load_slot(at->code, at, slot);
    Patience patience = {ctx, false};
    WorkerWait wait = {.look = look, .user = &patience, .alone = at->code};
    Wanted wanted = {at->code, slot};
    if (worker_run(&llvm_half_hooks, compile_job, &wanted, &wait, error, sizeof error) ==
        WORKER_DONE)
        there = atomic_load_explicit(&at->slots[slot], memory_order_acquire);
    return patience.over ? NULL : there;
}
