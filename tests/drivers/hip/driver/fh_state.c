/* The runtime's state: configuration from the environment, the beginning and end of every call, planned failures, and
 * what tests can ask through fakehip_*. */
#include "fh.h"

#include "../interp/gcn.h"

#include <stdarg.h>
#include <stdlib.h>

static FhRuntime runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local int current_device;
static _Thread_local HipResult last_error;

FhRuntime *fh_runtime(void) {
    return &runtime;
}
int fh_current(void) {
    return current_device;
}
void fh_set_current(int device) {
    current_device = device;
}
FhDevice *fh_device(void) {
    return &runtime.devices[current_device];
}
bool fh_newer(void) {
    return runtime.version >= 60000000;
}

/* -- Configuration ---------------------------------------------------------------------------- */

static const char *const names[SYM_COUNT] = {
#define SYM(name, since, fails) #name,
#include "syms.def"
#undef SYM
};
static const bool fails[SYM_COUNT] = {
#define SYM(name, since, fails) fails,
#include "syms.def"
#undef SYM
};

static long long number(const char *name, long long fallback) {
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 0) : fallback;
}

static bool parse_rule(const char *text, size_t length) {
    char copy[128], *save = NULL, *end;
    FhRule *rule = &runtime.rules[runtime.nrules];
    if (length == 0) return true;
    if (length >= sizeof copy || runtime.nrules == FH_MAX_RULES) return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *name = strtok_r(copy, ":", &save), *nth = strtok_r(NULL, ":", &save),
         *code = strtok_r(NULL, ":", &save);
    if (!name || !nth || !code) return false;
    *rule = (FhRule){.n = strtoull(nth, &end, 10), .code = atoi(code)};
    rule->onwards = *end == '+';
    bool known = false;
    for (int i = 0; i < SYM_COUNT; i++) {
        rule->matches[i] = fails[i] && (!strcmp(name, "any") || !strcmp(name, names[i]));
        known |= rule->matches[i];
    }
    runtime.nrules += known;
    return known;
}

static bool parse_rules(const char *text) {
    bool ok = true;
    runtime.nrules = 0;
    while (text && *text) {
        size_t length = strcspn(text, ",;");
        ok &= parse_rule(text, length);
        text += length + (text[length] != 0);
    }
    return ok;
}

/* "gfx1100,gfx90a:xnack-": the last one serves all further devices. */
static void read_archs(void) {
    const char *text = getenv("FAKEHIP_ARCH");
    if (!text || !*text) text = "gfx1100";
    for (int i = 0; i < FH_MAX_DEVICES; i++) {
        size_t length = strcspn(text, ",");
        snprintf(runtime.devices[i].arch, sizeof runtime.devices[i].arch, "%.*s", (int)length,
                 text);
        if (text[length]) text += length + 1;
    }
}

static void forget_in_child(void) {
    runtime.forked = true;
}

static void configure(void) {
    if (runtime.configured) return;
    runtime.configured = true;
    runtime.ndevices = (int)number("FAKEHIP_DEVICES", 1);
    if (runtime.ndevices > FH_MAX_DEVICES) runtime.ndevices = FH_MAX_DEVICES;
    runtime.version = (int)number("FAKEHIP_VERSION", FAKEHIP_DEFAULT_VERSION);
    runtime.memory = (uint64_t)number("FAKEHIP_MEMORY", 4ll << 30);
    runtime.noexec = number("FAKEHIP_NOEXEC", 0) != 0;
    runtime.unset = number("FAKEHIP_UNSET", 0) != 0;
    runtime.timeout = (uint64_t)number("FAKEHIP_TIMEOUT", 120);
    const char *order = getenv("FAKEHIP_ORDER");
    runtime.late = (uint64_t)number("FAKEHIP_LATE", 0);
    fh_late_begin(runtime.late);
    runtime.seed = order && !strcmp(order, "reverse") ? 1 : (uint64_t)number("FAKEHIP_ORDER", 0);
    read_archs();
    const char *path = getenv("FAKEHIP_LOG"), *fail = getenv("FAKEHIP_FAIL"),
               *fault = getenv("FAKEHIP_FAULT");
    if (path && *path) runtime.log = fopen(path, "ae");
    if (!parse_rules(fail)) fprintf(stderr, "fakehip: cannot read FAKEHIP_FAIL=%s\n", fail);
    if (fault) {
        char *end;
        runtime.fault_launch = strtoull(fault, &end, 10);
        runtime.fault_code = *end == ':' ? atoi(end + 1) : HIP_IllegalAddress;
    }
    if (!runtime.fork_hook) runtime.fork_hook = pthread_atfork(NULL, NULL, forget_in_child) == 0;
}

/* -- Calls ------------------------------------------------------------------------------------ */

static HipResult planned_failure(FhSym sym) {
    HipResult result = HIP_Success;
    for (uint32_t i = 0; i < runtime.nrules; i++) {
        FhRule *rule = &runtime.rules[i];
        if (!rule->matches[sym]) continue;
        rule->seen++;
        if (!result && (rule->seen == rule->n || (rule->onwards && rule->seen > rule->n)))
            result = rule->code;
    }
    return result;
}

static HipResult check_state(FhNeeds needs) {
    if (needs == FH_NOTHING) return HIP_Success;
    if (runtime.forked) return HIP_NotInitialized; /* a child inherits memory, but no device */
    if (!runtime.started || runtime.ndevices <= 0)
        return fh_newer() ? HIP_NoDevice : HIP_InvalidDevice;
    return needs == FH_DEVICE ? fh_device()->sticky : HIP_Success;
}

HipResult fh_enter(FhSym sym, FhNeeds needs, const char *format, ...) {
    pthread_mutex_lock(&runtime.lock);
    configure();
    runtime.counts[sym]++;
    if (runtime.log) {
        int n = snprintf(runtime.call, sizeof runtime.call, "%d: %s(", current_device, names[sym]);
        va_list args;
        va_start(args, format);
        vsnprintf(runtime.call + n, sizeof runtime.call - (size_t)n, format, args);
        va_end(args);
    }
    if (needs == FH_DEVICE && !runtime.forked) fh_late_progress(8);
    HipResult planned = planned_failure(sym);
    return planned ? planned : check_state(needs);
}

HipResult fh_leave(HipResult result) {
    if (runtime.log) {
        fprintf(runtime.log, "%s) = %d\n", runtime.call, result);
        fflush(runtime.log);
    }
    if (result) last_error = result;
    pthread_mutex_unlock(&runtime.lock);
    return result;
}

HipResult fh_fault(HipResult code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(runtime.fault, sizeof runtime.fault, format, args);
    va_end(args);
    if (runtime.log) fprintf(runtime.log, "fault %d: %s\n", code, runtime.fault);
    return code;
}

/* -- Initialisation and errors ------------------------------------------------------------------ */

FH_API HipResult hipInit(unsigned flags) {
    FH_ENTER(hipInit, FH_NOTHING, "%u", flags);
    FH_REQUIRE(flags == 0, InvalidValue);
    FH_REQUIRE(!runtime.forked, NotInitialized);
    runtime.started = true;
    return fh_leave(check_state(FH_INIT));
}

static HipResult version_call(FhSym sym, int *version) {
    HipResult early = fh_enter(sym, FH_NOTHING, "%p", (void *)version);
    if (!early && version) *version = runtime.version;
    return fh_leave(early ? early : version ? HIP_Success : HIP_InvalidValue);
}
FH_API HipResult hipRuntimeGetVersion(int *version) {
    return version_call(SYM_hipRuntimeGetVersion, version);
}
FH_API HipResult hipDriverGetVersion(int *version) {
    return version_call(SYM_hipDriverGetVersion, version);
}

static const struct {
    HipResult code;
    const char *name, *text;
} error_rows[] = {{HIP_Success, "hipSuccess", "no error"},
#define ERROR_ROW(name, code, text) {code, "hipError" #name, text},
                  HIP_ERRORS(ERROR_ROW)
#undef ERROR_ROW
};

/* ROCm 5 knows no sentences: it gives the name again. */
static const char *error_text(HipResult error, bool name) {
    for (unsigned i = 0; i < sizeof error_rows / sizeof *error_rows; i++)
        if (error_rows[i].code == error)
            return name || !fh_newer() ? error_rows[i].name : error_rows[i].text;
    return error == HIP_Unknown ? NULL : error_text(HIP_Unknown, name);
}

static const char *text_call(FhSym sym, HipResult error, bool name) {
    fh_enter(sym, FH_NOTHING, "%d", error);
    const char *text = error_text(error, name);
    fh_leave(HIP_Success);
    return text;
}
FH_API const char *hipGetErrorName(HipResult error) {
    return text_call(SYM_hipGetErrorName, error, true);
}
FH_API const char *hipGetErrorString(HipResult error) {
    return text_call(SYM_hipGetErrorString, error, false);
}

static HipResult last_call(FhSym sym, bool forget) {
    fh_enter(sym, FH_NOTHING, "%s", "");
    HipResult result = last_error;
    if (forget) last_error = HIP_Success;
    fh_leave(HIP_Success);
    return result;
}
FH_API HipResult hipGetLastError(void) {
    return last_call(SYM_hipGetLastError, true);
}
FH_API HipResult hipPeekAtLastError(void) {
    return last_call(SYM_hipPeekAtLastError, false);
}

/* -- Objects ------------------------------------------------------------------------------------ */

/* Not a canonical address: a program that looks behind a handle is stopped at once. */
#define HANDLE_TAG UINT64_C(0x5a11000000000000)

FhObject *fh_object_new(FhKind kind, int device) {
    if (runtime.nobjects == runtime.cap_objects) {
        uint32_t cap = runtime.cap_objects ? runtime.cap_objects * 2 : 64;
        FhObject **bigger = realloc(runtime.objects, cap * sizeof *bigger);
        if (!bigger) return NULL;
        runtime.objects = bigger;
        runtime.cap_objects = cap;
    }
    FhObject *object = calloc(1, sizeof *object);
    if (!object) return NULL;
    object->kind = kind;
    object->alive = true;
    object->device = device;
    object->index = runtime.nobjects;
    runtime.objects[runtime.nobjects++] = object;
    return object;
}

void *fh_handle(const FhObject *object) {
    uint64_t number =
        HANDLE_TAG | (uint64_t)object->kind << 40 | (uint64_t)(object->index + 1) << 4;
    return (void *)(uintptr_t)number;
}

FhObject *fh_object(const void *handle, FhKind kind) {
    uint64_t number = (uintptr_t)handle, index = (number >> 4 & UINT32_MAX) - 1;
    if ((number & ~UINT64_C(0xfffffffff)) != (HANDLE_TAG | (uint64_t)kind << 40)) return NULL;
    if (index >= runtime.nobjects || !runtime.objects[index]->alive) return NULL;
    return runtime.objects[index];
}

void fh_object_end(FhObject *object) {
    if (!object->alive) return;
    object->alive = false;
    if (object->kind != FH_module) return;
    for (uint32_t i = 0; i < runtime.nobjects; i++)
        if (runtime.objects[i]->module == object) runtime.objects[i]->alive = false;
    FhAlloc *alloc = fh_alloc_find(object->address, false);
    if (alloc) fh_alloc_end(alloc);
    for (int i = 0; i < 2; i++) {
        gcn_code_close(object->code[i]);
        object->code[i] = NULL;
    }
    fh_image_close(&object->image);
}

/* -- For the tests ---------------------------------------------------------------------------- */

/* Calls of a function since the last reset; "any": of all that can be told to fail. */
FH_API long fakehip_call_count(const char *name) {
    uint64_t total = 0;
    pthread_mutex_lock(&runtime.lock);
    for (int i = 0; i < SYM_COUNT; i++)
        if (strcmp(name, "any") ? !strcmp(name, names[i]) : fails[i]) total += runtime.counts[i];
    pthread_mutex_unlock(&runtime.lock);
    return (long)total;
}

/* As if the library had just been loaded: nothing is alive, the environment is read again. */
FH_API void fakehip_reset(void) {
    pthread_mutex_lock(&runtime.lock);
    fh_late_end();
    for (uint32_t i = 0; i < runtime.nobjects; i++)
        fh_object_end(runtime.objects[i]);
    fh_memory_end();
    if (runtime.log) fclose(runtime.log);
    runtime.log = NULL;
    memset(runtime.counts, 0, sizeof runtime.counts);
    memset(runtime.devices, 0, sizeof runtime.devices);
    runtime.configured = runtime.started = runtime.forked = false;
    runtime.nrules = 0;
    runtime.launches = runtime.fault_launch = 0;
    runtime.fault[0] = 0;
    current_device = 0;
    last_error = HIP_Success;
    pthread_mutex_unlock(&runtime.lock);
}

/* Lane-instructions since the library was loaded. */
FH_API uint64_t fakehip_executed(void) {
    return runtime.executed;
}

/* What is still alive of: module stream event memory pinned. -1: unknown word. */
FH_API long fakehip_live(const char *what) {
    static const struct {
        const char *name;
        FhKind kind;
    } rows[] = {{"module", FH_module}, {"stream", FH_stream}, {"event", FH_event}};
    long count = -1;
    pthread_mutex_lock(&runtime.lock);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, what) != 0) continue;
        count = 0;
        for (uint32_t k = 0; k < runtime.nobjects; k++)
            count += runtime.objects[k]->alive && runtime.objects[k]->kind == rows[i].kind;
    }
    bool pinned = !strcmp(what, "pinned");
    if (pinned || !strcmp(what, "memory")) {
        count = 0;
        for (uint32_t i = 0; i < runtime.nallocs; i++) {
            const FhAlloc *a = runtime.allocs[i];
            count += a->alive &&
                     (pinned ? a->kind == FM_host : a->kind == FM_device || a->kind == FM_managed);
        }
    }
    pthread_mutex_unlock(&runtime.lock);
    return count;
}

FH_API long fakehip_live_handles(void) {
    static const char *const kinds[] = {"memory", "pinned", "module", "stream", "event"};
    long total = 0;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        total += fakehip_live(kinds[i]);
    return total;
}

FH_API int fakehip_set_fail(const char *spec) {
    pthread_mutex_lock(&runtime.lock);
    configure();
    bool ok = parse_rules(spec);
    pthread_mutex_unlock(&runtime.lock);
    return ok ? 0 : HIP_InvalidValue;
}

/* What the last refused call or faulting launch did wrong. */
FH_API const char *fakehip_last_fault(void) {
    return runtime.fault;
}
