/* The driver's state: configuration from the environment, the beginning and end of every call, planned
 * failures, and what the tests can ask through fakecuda_*. */
#define _GNU_SOURCE
#include "fc.h"

#include <stdlib.h>
#include <unistd.h>

static FcDriver driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

FcDriver *fc_driver(void) {
    return &driver;
}

/* -- Configuration ---------------------------------------------------------------------------- */

static long long number(const char *name, long long fallback) {
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 0) : fallback;
}

static CUresult parse_rule(const char *text, size_t length) {
    char copy[128];
    FcRule *rule = &driver.rules[driver.nrules];
    if (length == 0) return CUDA_SUCCESS;
    if (length >= sizeof copy || driver.nrules == FC_MAX_RULES) return CUDA_ERROR_INVALID_VALUE;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *save = NULL, *name = strtok_r(copy, ":", &save);
    char *nth = strtok_r(NULL, ":", &save), *code = strtok_r(NULL, ":", &save), *end;
    if (!name || !nth || !code) return CUDA_ERROR_INVALID_VALUE;
    *rule = (FcRule){.n = strtoull(nth, &end, 10), .code = atoi(code)};
    rule->onwards = *end == '+';
    bool known = false;
    for (uint32_t i = 0; i < SYM_COUNT; i++) {
        bool match = !strcmp(name, "any") || !strcmp(name, fc_syms[i].name) ||
                     !strcmp(name, fc_syms[i].base);
        known |= rule->matches[i] = match;
    }
    if (!known) return CUDA_ERROR_INVALID_VALUE;
    driver.nrules++;
    return CUDA_SUCCESS;
}

static CUresult parse_rules(const char *text) {
    driver.nrules = 0;
    CUresult result = CUDA_SUCCESS;
    while (text && *text) {
        size_t length = strcspn(text, ",;");
        CUresult one = parse_rule(text, length);
        if (one) result = one;
        text += length + (text[length] != 0);
    }
    return result;
}

static void forget_in_child(void) {
    driver.forked = true;
}

static void read_config(void) {
    FcConfig *c = &driver.config;
    c->devices = (int)number("FAKECUDA_DEVICES", 1);
    c->starts = c->devices != 0;
    if (c->devices < 0) c->devices = 0;
    if (c->devices > FC_MAX_DEVICES) c->devices = FC_MAX_DEVICES;
    c->version = (int)number("FAKECUDA_DRIVER_VERSION", 12040);
    c->cc = (int)number("FAKECUDA_CC", 90);
    c->memory = (uint64_t)number("FAKECUDA_MEMORY", 4ll << 30);
    c->noexec = number("FAKECUDA_NOEXEC", 0) != 0;
    c->blocking = number("CUDA_LAUNCH_BLOCKING", 0) != 0;
    c->slice = (uint32_t)number("FAKECUDA_SLICE", 20000);
    if (c->slice == 0) c->slice = 1;
    c->seconds = (double)number("FAKECUDA_TIMEOUT", 120);
    const char *order = getenv("FAKECUDA_ORDER"), *missing = getenv("FAKECUDA_MISSING");
    c->reverse = order && strcmp(order, "reverse") == 0;
    snprintf(c->missing, sizeof c->missing, ",%s,", missing ? missing : "");
}

void fc_configure(void) {
    if (driver.configured) return;
    driver.configured = true;
    read_config();
    const char *path = getenv("FAKECUDA_LOG"), *fail = getenv("FAKECUDA_FAIL");
    if (path && *path) driver.log = fopen(path, "ae");
    if (parse_rules(fail)) fprintf(stderr, "fakecuda: cannot read FAKECUDA_FAIL=%s\n", fail);
    if (!driver.has_key) driver.has_key = pthread_key_create(&driver.key, free) == 0;
    if (!driver.fork_hook) driver.fork_hook = pthread_atfork(NULL, NULL, forget_in_child) == 0;
}

/* -- Calls ------------------------------------------------------------------------------------ */

FcThread *fc_thread(void) {
    FcThread *thread = pthread_getspecific(driver.key);
    if (thread) return thread;
    thread = calloc(1, sizeof *thread);
    if (!thread) abort();
    pthread_setspecific(driver.key, thread);
    return thread;
}

FcObject *fc_current(void) {
    FcThread *thread = fc_thread();
    return thread->depth ? thread->stack[thread->depth - 1] : NULL;
}

static CUresult planned_failure(FcSym sym) {
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < driver.nrules; i++) {
        FcRule *rule = &driver.rules[i];
        if (!rule->matches[sym]) continue;
        rule->seen++;
        if (!result && (rule->seen == rule->n || (rule->onwards && rule->seen > rule->n)))
            result = rule->code;
    }
    return result;
}

static CUresult check_state(FcNeeds needs) {
    if (needs == FC_NOTHING) return CUDA_SUCCESS;
    /* A child of fork inherits the memory of a driver, but no device. */
    if (driver.forked || !driver.initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (fc_thread()->in_callback) return CUDA_ERROR_NOT_PERMITTED;
    if (needs == FC_INIT) return CUDA_SUCCESS;
    const FcObject *context = fc_current();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return needs == FC_EVEN_DEAD ? CUDA_SUCCESS : context->ctx.sticky;
}

CUresult fc_enter(FcSym sym, FcNeeds needs, const char *format, ...) {
    pthread_mutex_lock(&driver.lock);
    fc_configure();
    driver.counts[sym]++;
    if (driver.log) {
        int n = snprintf(driver.call, sizeof driver.call, "%s(", fc_syms[sym].name);
        va_list args;
        va_start(args, format);
        vsnprintf(driver.call + n, sizeof driver.call - (size_t)n, format, args);
        va_end(args);
    }
    CUresult planned = planned_failure(sym);
    return planned ? planned : check_state(needs);
}

CUresult fc_leave(CUresult result) {
    if (driver.log) {
        fprintf(driver.log, "%s) = %d\n", driver.call, result);
        fflush(driver.log);
    }
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* -- Initialisation --------------------------------------------------------------------------- */

FC_API CUresult cuInit(unsigned flags) {
    FC_ENTER(cuInit, FC_NOTHING, "%u", flags);
    FC_REQUIRE(flags == 0, ERROR_INVALID_VALUE);
    FC_REQUIRE(!driver.forked, ERROR_NOT_INITIALIZED);
    FC_REQUIRE(driver.config.starts, ERROR_NO_DEVICE);
    driver.initialized = true;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDriverGetVersion(int *version) {
    FC_ENTER(cuDriverGetVersion, FC_NOTHING, "%p", (void *)version);
    FC_REQUIRE(version, ERROR_INVALID_VALUE);
    *version = driver.config.version;
    return fc_leave(CUDA_SUCCESS);
}

static const struct {
    CUresult code;
    const char *name, *text;
} error_rows[] = {
#define ERROR_ROW(name, code, text) {code, "CUDA_" #name, text},
    CU_ERRORS(ERROR_ROW)
#undef ERROR_ROW
};

static CUresult error_text(CUresult error, const char **out, bool name) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (unsigned i = 0; i < sizeof error_rows / sizeof *error_rows; i++)
        if (error_rows[i].code == error) *out = name ? error_rows[i].name : error_rows[i].text;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FC_API CUresult cuGetErrorName(CUresult error, const char **text) {
    FC_ENTER(cuGetErrorName, FC_NOTHING, "%d, %p", error, (void *)text);
    return fc_leave(error_text(error, text, true));
}

FC_API CUresult cuGetErrorString(CUresult error, const char **text) {
    FC_ENTER(cuGetErrorString, FC_NOTHING, "%d, %p", error, (void *)text);
    return fc_leave(error_text(error, text, false));
}

/* -- For the tests ---------------------------------------------------------------------------- */

/* Calls of a function since the last reset, by its exported or its base name; "any": of all. */
FC_API long fakecuda_call_count(const char *name) {
    uint64_t total = 0;
    pthread_mutex_lock(&driver.lock);
    for (uint32_t i = 0; i < SYM_COUNT; i++)
        if (!strcmp(name, "any") || !strcmp(name, fc_syms[i].name) ||
            !strcmp(name, fc_syms[i].base))
            total += driver.counts[i];
    pthread_mutex_unlock(&driver.lock);
    return (long)total;
}

/* As if the library had just been loaded: nothing is alive, the environment is read again. */
FC_API void fakecuda_reset(void) {
    pthread_mutex_lock(&driver.lock);
    fc_objects_end(NULL);
    fc_allocs_end(NULL, NULL);
    fc_regions_end();
    if (driver.log) fclose(driver.log);
    driver.log = NULL;
    for (uint32_t i = 0; i < FC_MAX_DEVICES; i++)
        driver.devices[i] = (FcDevice){0};
    memset(driver.counts, 0, sizeof driver.counts);
    if (driver.has_key) fc_thread()->depth = 0;
    driver.configured = driver.initialized = driver.forked = false;
    driver.nrules = 0;
    driver.fault[0] = 0;
    pthread_mutex_unlock(&driver.lock);
}

static long live_objects(FcKind kind) {
    long count = 0;
    for (uint32_t i = 0; i < driver.nobjects; i++)
        count += driver.objects[i]->alive && driver.objects[i]->kind == kind;
    return count;
}

static long live_allocs(bool pinned) {
    long count = 0;
    for (uint32_t i = 0; i < driver.nallocs; i++) {
        FcMemKind kind = driver.allocs[i].kind;
        count += pinned ? kind >= FM_host : kind == FM_device || kind == FM_managed;
    }
    return count;
}

/* What is still alive of: context module stream event memory pinned. -1: unknown word. */
FC_API long fakecuda_live(const char *what) {
    static const struct {
        const char *name;
        FcKind kind;
    } rows[] = {{"context", FK_context}, {"module", FK_module}, {"stream", FK_stream},
                {"event", FK_event},     {"graph", FK_graph},   {"graph", FK_graph_exec}};
    long count = -1;
    pthread_mutex_lock(&driver.lock);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, what) == 0)
            count = (count < 0 ? 0 : count) + live_objects(rows[i].kind);
    if (strcmp(what, "memory") == 0) count = live_allocs(false);
    if (strcmp(what, "pinned") == 0) count = live_allocs(true);
    pthread_mutex_unlock(&driver.lock);
    return count;
}

/* Allocations, pinned memory, modules, streams, events and graphs: what a program should have given back. */
FC_API long fakecuda_live_handles(void) {
    static const char *const kinds[] = {"memory", "pinned", "module", "stream", "event", "graph"};
    long total = 0;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        total += fakecuda_live(kinds[i]);
    return total;
}

FC_API int fakecuda_set_fail(const char *spec) {
    pthread_mutex_lock(&driver.lock);
    fc_configure();
    CUresult result = parse_rules(spec);
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* What the last faulting kernel did wrong, for the message of a failing test. */
FC_API const char *fakecuda_last_fault(void) {
    return driver.fault;
}
