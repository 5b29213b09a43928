/* device.c - the registry: which devices there are, which one a thread uses, and what fork() does to them.
 *
 * Devices, drivers and the thread pool belong to the process, not to a module or an interpreter, so this is
 * the one place of runtime with process-wide state. It is guarded by one lock, which is never held while
 * anything waits for a device. fork() takes that lock and those of the cpu device first, so the child finds
 * them free; devices with a driver are dead weight in the child: every call says so, releases do nothing. */
#include "runtime/device.h"
#include "frontend/base/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64 };

typedef struct Choice {
    bool made;
    RtChoice choice;
    RtDeviceKind kind;
    RtError why;
} Choice;

static const DeviceOps *const kinds[RT_KINDS] = {[RT_CPU] = &rt_cpu_ops,
                                                 [RT_CUDA] = &rt_cuda_ops,
                                                 [RT_HIP] = &rt_hip_ops,
                                                 [RT_NULL] = &rt_null_ops};
static const char *const kind_names[RT_KINDS] = {"cpu", "cuda", "hip", "null"};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static RtDevice *_Atomic devices[RT_KINDS][MAX_DEVICES];
static Choice *choices[RT_KINDS];
static _Atomic uint32_t generation = 1;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local int32_t selected[RT_KINDS];
static char disabled[RT_KINDS][160]; /* why none of a kind is to be found; under the lock */

/* -- runtime's own memory ---------------------------------------------------------------------- */

static Allocator host_allocator;
static _Atomic int64_t host_bytes;

void rt_set_allocator(const Allocator *allocator) {
    host_allocator = allocator ? *allocator : (Allocator){NULL, NULL};
}

void *rt_alloc(size_t size) {
    void *memory = host_allocator.resize ? host_allocator.resize(host_allocator.user, NULL, 0, size)
                                         : malloc(size);
    if (!memory) return NULL;
    atomic_fetch_add_explicit(&host_bytes, (int64_t)size, memory_order_relaxed);
    return memset(memory, 0, size);
}

void rt_dealloc(void *memory, size_t size) {
    if (!memory) return;
    atomic_fetch_sub_explicit(&host_bytes, (int64_t)size, memory_order_relaxed);
    if (host_allocator.resize)
        host_allocator.resize(host_allocator.user, memory, size, 0);
    else
        free(memory);
}

int64_t rt_host_bytes(void) {
    return atomic_load(&host_bytes);
}

/* -- fork -------------------------------------------------------------------------------------- */

uint32_t rt_generation(void) {
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

/* Lock order: registry, cpu device, cpu memory pool, thread pool. */
static void fork_prepare(void) {
    pthread_mutex_lock(&registry_lock);
    RtDevice *cpu = devices[RT_CPU][0];
    if (cpu) {
        pthread_mutex_lock(&cpu->load_lock);
        pthread_mutex_lock(&cpu->lock);
        rt_pool_fork(cpu->pool, true);
    }
    rt_pool_threads_prepare();
}

static void fork_release(void) {
    RtDevice *cpu = devices[RT_CPU][0];
    if (cpu) {
        rt_pool_fork(cpu->pool, false);
        pthread_mutex_unlock(&cpu->lock);
        pthread_mutex_unlock(&cpu->load_lock);
    }
    pthread_mutex_unlock(&registry_lock);
}

static void fork_parent(void) {
    rt_pool_threads_parent();
    fork_release();
}

static void fork_child(void) {
    atomic_fetch_add(&generation, 1);
    rt_pool_threads_child();
    fork_release();
}

static void install_fork_handlers(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* -- opening ----------------------------------------------------------------------------------- */

const char *rt_kind_name(RtDeviceKind kind) {
    return kind >= 0 && kind < RT_KINDS ? kind_names[kind] : "unknown";
}

static int32_t count_locked(RtDeviceKind kind, RtError *err) {
    if (disabled[kind][0]) {
        rt_fail(err, RT_SUPPORT_ERROR, "%s", disabled[kind]);
        return -1;
    }
    int32_t n = kinds[kind]->count(err);
    return n > MAX_DEVICES ? MAX_DEVICES : n;
}

static bool valid_kind(RtDeviceKind kind, RtError *err) {
    pthread_once(&fork_once, install_fork_handlers);
    if (kind >= 0 && kind < RT_KINDS) return true;
    return rt_fail(err, RT_VALUE_ERROR, "There is no kind of device with number %d.", (int)kind);
}

void rt_device_disable(RtDeviceKind kind, const char *why) {
    pthread_mutex_lock(&registry_lock);
    snprintf(disabled[kind], sizeof disabled[kind], "%s", why ? why : "");
    pthread_mutex_unlock(&registry_lock);
}

int32_t rt_device_count(RtDeviceKind kind, RtError *err) {
    if (!valid_kind(kind, err)) return -1;
    pthread_mutex_lock(&registry_lock);
    int32_t n = count_locked(kind, err);
    pthread_mutex_unlock(&registry_lock);
    return n;
}

static void device_free(RtDevice *device) {
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->load_lock);
    rt_dealloc(device->cause, sizeof *device->cause);
    rt_dealloc(device, sizeof *device);
}

static RtDevice *open_locked(RtDeviceKind kind, int32_t ordinal, RtError *err) {
    RtDevice *device = rt_alloc(sizeof *device);
    RtError *cause = rt_alloc(sizeof *cause);
    if (!device || !cause) {
        rt_fail_memory(err, "a device", sizeof *device);
        rt_dealloc(cause, sizeof *cause);
        rt_dealloc(device, sizeof *device);
        return NULL;
    }
    device->ops = kinds[kind];
    device->cause = cause;
    device->generation = rt_generation();
    device->info.kind = kind;
    device->info.ordinal = ordinal;
    device->default_stream.device = device;
    device->default_stream.generation = device->generation;
    atomic_init(&device->default_stream.refs, 1);
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->load_lock, NULL);
    device->pool = rt_pool_new(device, err);
    if (device->pool && device->ops->open(device, err)) return device;
    if (device->pool) rt_pool_close(device->pool);
    device_free(device);
    return NULL;
}

/* The variable of the environment that hides devices from this process, where one is set. */
static const char *hiding_variable(RtDeviceKind kind) {
    static const struct {
        RtDeviceKind kind;
        const char *name;
    } rows[] = {{RT_CUDA, "CUDA_VISIBLE_DEVICES"},
                {RT_HIP, "HIP_VISIBLE_DEVICES"},
                {RT_HIP, "ROCR_VISIBLE_DEVICES"},
                {RT_HIP, "CUDA_VISIBLE_DEVICES"}};
    for (int i = 0; i < countof(rows); i++)
        if (rows[i].kind == kind && getenv(rows[i].name)) return rows[i].name;
    return NULL;
}

static bool ordinal_ok(RtDeviceKind kind, int32_t ordinal, int32_t count, RtError *err) {
    if (count < 0) return false;
    if (ordinal >= 0 && ordinal < count) return true;
    if (count == 0) {
        const char *hides = hiding_variable(kind);
        rt_fail(err, RT_SUPPORT_ERROR, "The %s driver is here but it reports no device.",
                rt_kind_name(kind));
        if (hides) rt_note(err, "(%s is set: it may hide them.)", hides);
        return false;
    }
    return rt_fail(err, RT_VALUE_ERROR,
                   "There is no %s device %d: this process sees %d, numbered from 0.",
                   rt_kind_name(kind), ordinal, count);
}

RtDevice *rt_device(RtDeviceKind kind, int32_t ordinal, RtError *err) {
    if (!valid_kind(kind, err)) return NULL;
    RtDevice *device = NULL;
    if (ordinal >= 0 && ordinal < MAX_DEVICES) device = devices[kind][ordinal];
    if (!device) {
        pthread_mutex_lock(&registry_lock);
        if (ordinal_ok(kind, ordinal, count_locked(kind, err), err)) {
            device = devices[kind][ordinal];
            if (!device) device = devices[kind][ordinal] = open_locked(kind, ordinal, err);
        }
        pthread_mutex_unlock(&registry_lock);
    }
    return device && rt_usable(device, err) ? device : NULL;
}

int32_t rt_device_selected(RtDeviceKind kind) {
    return kind >= 0 && kind < RT_KINDS ? selected[kind] : 0;
}

RtDevice *rt_device_current(RtDeviceKind kind, RtError *err) {
    return rt_device(kind, rt_device_selected(kind), err);
}

bool rt_device_select(RtDeviceKind kind, int32_t ordinal, RtError *err) {
    if (!valid_kind(kind, err)) return false;
    pthread_mutex_lock(&registry_lock);
    bool ok = ordinal_ok(kind, ordinal, count_locked(kind, err), err);
    pthread_mutex_unlock(&registry_lock);
    if (ok) selected[kind] = ordinal;
    return ok;
}

const RtDeviceInfo *rt_info(const RtDevice *device) {
    return &device->info;
}
bool rt_device_dead(const RtDevice *device) {
    return atomic_load(&((RtDevice *)device)->dead);
}

/* -- which device a kernel runs on ------------------------------------------------------------- */

static bool present(RtDeviceKind kind, RtError *why) {
    int32_t n = count_locked(kind, why);
    return n > 0 || ordinal_ok(kind, 0, n, why);
}

/* There is no NVIDIA device. An AMD one runs the same kernels, if the user says so: programs that look at warps may mean
 * 32 lanes. */
static RtDeviceKind instead_of_cuda(RtError *why) {
    const char *asked = env_value(ENV_CUDA_ON_HIP);
    bool wants = asked && strcmp(asked, "0") != 0;
    RtError ignored;
    rt_error_init(&ignored);
    if (!present(RT_HIP, &ignored)) {
        if (wants)
            rt_note(why, "(QUERN_CUDA_ON_HIP asks for an AMD device, but there is none: %.300s)",
                    ignored.text);
        return RT_CPU;
    }
    rt_note(why, wants ? "(QUERN_CUDA_ON_HIP=1: they run on the AMD device.)"
                       : "(There is an AMD device: with QUERN_CUDA_ON_HIP=1 they run there.)");
    return wants ? RT_HIP : RT_CPU;
}

static void choose_locked(RtDeviceKind wanted, Choice *c) {
    const char *pin = env_value(ENV_DEVICE);
    c->kind = wanted;
    c->choice = RT_CHOICE_WANTED;
    if (wanted == RT_CPU) return;
    if (pin) {
        RtDeviceKind kind = RT_KINDS;
        for (int k = 0; k < RT_KINDS; k++)
            if (strcmp(pin, kind_names[k]) == 0) kind = (RtDeviceKind)k;
        c->kind = kind;
        if (kind == RT_KINDS)
            rt_fail(&c->why, RT_VALUE_ERROR, "QUERN_DEVICE is '%s'; it can be cuda, hip or cpu.",
                    pin);
        else if (present(kind, &c->why))
            return;
        else
            rt_note(&c->why, "(QUERN_DEVICE=%s asks for this device.)", pin);
        c->choice = RT_CHOICE_MISSING;
    } else if (!present(wanted, &c->why)) {
        c->kind = wanted == RT_CUDA ? instead_of_cuda(&c->why) : RT_CPU;
        c->choice = RT_CHOICE_FALLBACK;
    }
}

RtChoice rt_choose(RtDeviceKind wanted, RtDeviceKind *kind, RtError *why) {
    if (!valid_kind(wanted, why)) return RT_CHOICE_MISSING;
    pthread_mutex_lock(&registry_lock);
    Choice *c = choices[wanted];
    if (disabled[wanted][0]) {
        count_locked(wanted, why);
        pthread_mutex_unlock(&registry_lock);
        return RT_CHOICE_MISSING;
    }
    if (!c) c = choices[wanted] = rt_alloc(sizeof *c);
    RtChoice choice = RT_CHOICE_MISSING;
    if (c) {
        if (!c->made) choose_locked(wanted, c);
        c->made = true;
        choice = c->choice;
        *kind = c->kind;
        if (rt_failed(&c->why) && !rt_failed(why)) *why = c->why;
    } else {
        rt_fail_memory(why, "the choice of a device", sizeof *c);
    }
    pthread_mutex_unlock(&registry_lock);
    return choice;
}

/* -- life and death ---------------------------------------------------------------------------- */

bool rt_usable(RtDevice *device, RtError *err) {
    if (QN_UNLIKELY(device->generation != rt_generation()) && !device->ops->host_memory)
        return rt_fail(
            err, RT_FORK_ERROR,
            "This process was forked after its parent had opened the %s driver, which does not "
            "survive fork(). Use multiprocessing's start method 'spawn' or 'forkserver', or touch "
            "the device only in the children.",
            rt_kind_name(device->info.kind));
    if (QN_LIKELY(!atomic_load_explicit(&device->dead, memory_order_acquire))) return true;
    if (rt_failed(err)) return false;
    *err = *device->cause;
    snprintf(err->text, sizeof err->text,
             "%s device %d cannot be used any more: an earlier failure destroyed its context. "
             "Restart the process. It was: %.2800s",
             rt_kind_name(device->info.kind), device->info.ordinal, device->cause->text);
    return false;
}

void rt_device_died(RtDevice *device, RtError *err) {
    err->cls = RT_DEVICE_ERROR;
    if (atomic_exchange(&device->dying, true)) return; /* another thread tells the cause */
    *device->cause = *err;
    atomic_store_explicit(&device->dead, true, memory_order_release);
}

/* In a child of fork() the parent's devices are left lying: their lists may name what was released here, and
 * their locks may be held by threads that are not here. */
static void close_device(RtDevice *device) {
    if (!device->ops->host_memory && device->generation != rt_generation()) return;
    rt_kernels_close(device);
    rt_streams_close(device);
    rt_pool_close(device->pool);
    device->ops->close(device);
    device_free(device);
}

void rt_shutdown(void) {
    rt_pool_threads_stop();
    pthread_mutex_lock(&registry_lock);
    for (int k = 0; k < RT_KINDS; k++) {
        for (int i = 0; i < MAX_DEVICES; i++) {
            RtDevice *device = devices[k][i];
            devices[k][i] = NULL;
            if (device) close_device(device);
        }
        rt_dealloc(choices[k], sizeof *choices[k]);
        choices[k] = NULL;
        selected[k] = 0;
        if (kinds[k]->shutdown) kinds[k]->shutdown();
    }
    pthread_mutex_unlock(&registry_lock);
}
