/* orc.c - machine code in this process, through ORC.
 *
 * One LLJIT for the process, made on the code-generation worker. Its main dylib starts with our own table
 * of absolute symbols (support.h), which therefore win over whatever the process exports. Every object
 * gets a resource tracker of its own: dropping an artifact removes exactly its code. ORC maps code
 * writable, then executable, never both. */
#include "codegen/gdb.h"
#include "codegen/llvm/host_load.h"
#include "codegen/support.h"
#include "frontend/base/os.h"
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <stdio.h>
#include <stdlib.h>

/* The process's linker, guarded by the lock. After a fatal error inside ORC, or a fork while it worked, it
 * is abandoned with its memory: its locks may be held for ever. Code made before keeps running. */
typedef struct Jit {
    LLVMOrcLLJITRef lljit;
    LLVMOrcJITDylibRef dylib;
    int generation; /* counts abandoned linkers */
    bool busy;      /* the lock is held by `thread` */
    bool held;      /* by a thread that forks */
    pthread_t thread;
    char error[512]; /* what ORC reported last */
} Jit;

/* Artifact.host_code */
typedef struct HostCode {
    LLVMOrcResourceTrackerRef tracker;
    int generation;
    LazyCode *lazy; /* or NULL */
    GdbCode *gdb;   /* or NULL */
} HostCode;

static pthread_mutex_t jit_lock = PTHREAD_MUTEX_INITIALIZER;
static Jit jit;

static void jit_enter(void) {
    pthread_mutex_lock(&jit_lock);
    jit.thread = pthread_self();
    jit.busy = true;
}

static void jit_leave(void) {
    jit.busy = false;
    pthread_mutex_unlock(&jit_lock);
}

static void abandon(void) {
    jit.lljit = NULL;
    jit.generation++;
    jit.busy = false;
}

void host_code_fatal(void) {
    if (!jit.busy || !pthread_equal(jit.thread, pthread_self())) return;
    abandon();
    pthread_mutex_unlock(&jit_lock);
}

void host_code_before_fork(bool quiet) {
    if (quiet)
        jit.held = pthread_mutex_lock(&jit_lock) == 0;
    else
        jit.held = pthread_mutex_trylock(&jit_lock) == 0;
}

void host_code_after_fork(bool parent, bool midway) {
    if (jit.held && parent) pthread_mutex_unlock(&jit_lock);
    if (parent) return;
    pthread_mutex_init(&jit_lock, NULL);
    if (midway || !jit.held) abandon();
}

static void keep_error(LLVMErrorRef error, char *text, size_t size) {
    char *message = LLVMGetErrorMessage(error);
    snprintf(text, size, "%s", message);
    LLVMDisposeErrorMessage(message);
}

/* Called by ORC where it would otherwise print. The lock is held by whoever asked for the symbol. */
static void report(void *user, LLVMErrorRef error) {
    Jit *j = user;
    if (j->error[0])
        LLVMConsumeError(error);
    else
        keep_error(error, j->error, sizeof j->error);
}

/* -- the table of absolute symbols ------------------------------------------------------------ */

static LLVMOrcCSymbolMapPair absolute(const char *name, void *address) {
    return (LLVMOrcCSymbolMapPair){
        LLVMOrcLLJITMangleAndIntern(jit.lljit, name),
        {(LLVMOrcExecutorAddress)(uintptr_t)address,
         {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}};
}

static LLVMErrorRef define_table(void) {
    int n = 0;
    while (support_functions[n].name)
        n++;
    LLVMOrcCSymbolMapPair *pairs = malloc(sizeof *pairs * (size_t)n);
    if (!pairs) return LLVMCreateStringError("out of memory");
    for (int i = 0; i < n; i++) {
        void *address;
        memcpy(&address, &support_functions[i].address, sizeof address);
        pairs[i] = absolute(support_functions[i].name, address);
    }
    LLVMErrorRef error = LLVMOrcJITDylibDefine(jit.dylib, LLVMOrcAbsoluteSymbols(pairs, (size_t)n));
    free(pairs);
    return error;
}

/* A name that is an address: memory that modules refer to in place. NULL: another name. */
static void *named_address(const char *name) {
    size_t n = strlen(HOST_ADDRESS_PREFIX);
    if (strncmp(name, HOST_ADDRESS_PREFIX, n) != 0) return NULL;
    return (void *)(uintptr_t)strtoull(name + n, NULL, 16);
}

/* What is defined when it is first used: functions of libmvec, which most programs never load, and memory of the host. */
static LLVMErrorRef find_external(LLVMOrcDefinitionGeneratorRef generator, void *user,
                                  LLVMOrcLookupStateRef *state, LLVMOrcLookupKind kind,
                                  LLVMOrcJITDylibRef dylib, LLVMOrcJITDylibLookupFlags flags,
                                  LLVMOrcCLookupSet set, size_t n) {
    (void)generator, (void)user, (void)state, (void)kind, (void)flags;
    for (size_t i = 0; i < n; i++) {
        const char *name = LLVMOrcSymbolStringPoolEntryStr(set[i].Name);
        void *address =
            strncmp(name, "_ZGV", 4) == 0 ? support_vector_symbol(name) : named_address(name);
        if (!address) continue;
        LLVMOrcCSymbolMapPair pair = absolute(name, address);
        LLVMErrorRef error = LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(&pair, 1));
        if (error) return error;
    }
    return LLVMErrorSuccess;
}

static LLVMErrorRef open_jit(void) {
    if (jit.lljit) return LLVMErrorSuccess;
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit.lljit, NULL);
    if (error) {
        jit.lljit = NULL;
        return error;
    }
    jit.dylib = LLVMOrcLLJITGetMainJITDylib(jit.lljit);
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit.lljit), report,
                                            &jit);
    LLVMOrcJITDylibAddGenerator(
        jit.dylib, LLVMOrcCreateCustomCAPIDefinitionGenerator(find_external, NULL, NULL));
    return define_table();
}

/* -- objects ---------------------------------------------------------------------------------- */

/* The lazy functions of the session get their code: what makes them, at the table that was linked. */
static LLVMErrorRef bind_lazy(Cg *cg, HostCode *code) {
    LLVMOrcExecutorAddress address = 0;
    char name[80];
    snprintf(name, sizeof name, "%s.lazy", cg->entry_name);
    LLVMErrorRef error = LLVMOrcLLJITLookup(jit.lljit, &address, name);
    if (error) return error;
    code->lazy = lazy_keep(cg);
    if (!code->lazy) return LLVMCreateStringError("out of memory");
    lazy_bind(code->lazy, (void *)(uintptr_t)address);
    return LLVMErrorSuccess;
}

static bool load(Cg *cg, LLVMMemoryBufferRef object, const char *symbol, void **entry,
                 void **handle) {
    LLVMErrorRef error = open_jit();
    LLVMOrcExecutorAddress address = 0;
    char text[512];
    jit.error[0] = 0;
    if (error) {
        LLVMDisposeMemoryBuffer(object);
        keep_error(error, text, sizeof text);
        return cg_error(cg, "%s", text);
    }
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(jit.dylib);
    GdbCode *gdb = gdb_keep(LLVMGetBufferStart(object), LLVMGetBufferSize(object));
    error = LLVMOrcLLJITAddObjectFileWithRT(jit.lljit, tracker, object);
    if (!error) error = LLVMOrcLLJITLookup(jit.lljit, &address, symbol);
    HostCode *code = error ? NULL : malloc(sizeof *code);
    if (code) {
        *code = (HostCode){.tracker = tracker, .generation = jit.generation};
        if (cg->lazy_bitcode) error = bind_lazy(cg, code);
    }
    if (code && !error) {
        code->gdb = gdb_register(gdb, symbol, (void *)(uintptr_t)address);
        *entry = (void *)(uintptr_t)address;
        *handle = code;
        return true;
    }
    gdb_register(gdb, symbol, NULL); /* forgets it */
    free(code);
    if (!error) error = LLVMCreateStringError("out of memory");
    keep_error(error, text, sizeof text);
    LLVMErrorRef removal = LLVMOrcResourceTrackerRemove(tracker);
    if (removal) LLVMConsumeError(removal);
    LLVMOrcReleaseResourceTracker(tracker);
    return cg_error(cg, "%s", jit.error[0] ? jit.error : text);
}

bool orc_load(Cg *cg, LLVMMemoryBufferRef object, const char *symbol, void **entry, void **handle) {
    int64_t start = os_now_ns();
    jit_enter();
    bool ok = load(cg, object, symbol, entry, handle);
    jit_leave();
    cg->ns_link += os_now_ns() - start;
    return ok;
}

void host_code_drop(void *handle) {
    HostCode *code = handle;
    lazy_free(code->lazy);
    jit_enter();
    gdb_unregister(code->gdb);
    if (code->generation == jit.generation) {
        LLVMErrorRef error = LLVMOrcResourceTrackerRemove(code->tracker);
        if (error) LLVMConsumeError(error); /* the code stays; nothing else can be done about it */
        LLVMOrcReleaseResourceTracker(code->tracker);
        LLVMOrcSymbolStringPoolClearDeadEntries(
            LLVMOrcExecutionSessionGetSymbolStringPool(LLVMOrcLLJITGetExecutionSession(jit.lljit)));
    }
    jit_leave();
    free(code);
}
