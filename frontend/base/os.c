/* os.c - POSIX and Linux behind os.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "frontend/base/os.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <dlfcn.h>
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

static bool fail(char *error, size_t size, const char *what, const char *path, const char *why) {
    if (error && size) snprintf(error, size, "%s %s: %s", what, path, why);
    return false;
}

/* -- dynamic libraries ----------------------------------------------------------------------- */

void *os_lib_loaded(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library) dlerror(); /* "not loaded yet" is no news */
    return library;
}

void *os_lib_open(const char *name, bool *shared, char *error, size_t error_size) {
    void *library = os_lib_loaded(name);
    if (shared) *shared = library != NULL;
    if (!library) {
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library && error && error_size) {
        const char *why = dlerror();
        snprintf(error, error_size, "%s", why ? why : "the loader gave no reason");
    }
    return library;
}

void *os_lib_symbol(void *library, const char *name) {
    return dlsym(library, name);
}

typedef struct Look {
    void (*look)(const char *path, void *user);
    void *user;
} Look;

static int look_at_library(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    const Look *l = data;
    if (info->dlpi_name && *info->dlpi_name) l->look(info->dlpi_name, l->user);
    return 0;
}

void os_libs_loaded(void (*look)(const char *path, void *user), void *user) {
    Look l = {look, user};
    dl_iterate_phdr(look_at_library, &l);
}

/* -- time ------------------------------------------------------------------------------------- */

int64_t os_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t os_coarse_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

void os_sleep_ns(int64_t ns) {
    struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    while (ns > 0 && nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

/* -- files ------------------------------------------------------------------------------------ */

static bool read_all(int fd, StrBuf *into) {
    char chunk[16384];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n == 0) return true;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        buf_bytes(into, chunk, (size_t)n);
    }
}

bool os_read_file(Arena *arena, const char *path, Str *out, char *error, size_t error_size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(error, error_size, "cannot open", path, strerror(errno));
    /* Out of memory unwinds: stop it here for a moment, or the descriptor leaks. */
    jmp_buf *outer = arena->on_failure;
    jmp_buf here;
    arena->on_failure = &here;
    if (setjmp(here)) {
        close(fd);
        arena->on_failure = outer;
        arena_oom(arena);
    }
    StrBuf text;
    buf_init(&text, arena);
    bool ok = read_all(fd, &text);
    int why = errno;
    if (ok) *out = buf_take(&text);
    arena->on_failure = outer;
    close(fd);
    return ok || fail(error, error_size, "cannot read", path, strerror(why));
}

static bool write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n, size -= (size_t)n;
    }
    return true;
}

bool os_write_file(const char *path, const void *bytes, size_t size, char *error,
                   size_t error_size) {
    char temporary[PATH_MAX];
    int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return fail(error, error_size, "cannot write", path, strerror(ENAMETOOLONG));
    int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) return fail(error, error_size, "cannot create", temporary, strerror(errno));
    bool ok = write_all(fd, bytes, size);
    int why = errno;
    if (close(fd) != 0 && ok) ok = false, why = errno;
    if (ok && rename(temporary, path) != 0) ok = false, why = errno;
    if (!ok) unlink(temporary);
    return ok || fail(error, error_size, "cannot write", path, strerror(why));
}

bool os_exists(const char *path) {
    return access(path, F_OK) == 0;
}

bool os_stamp(const char *path, OsStamp *out) {
    struct stat st;
    if (stat(path, &st)) return false;
    *out = (OsStamp){
        .device = (int64_t)st.st_dev,
        .number = (int64_t)st.st_ino,
        .size = (int64_t)st.st_size,
        .changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
    return true;
}

/* -- threads ---------------------------------------------------------------------------------- */

static _Thread_local char *my_stack_low;

char *os_stack_low(void) {
    if (my_stack_low) return my_stack_low;
    pthread_attr_t attr;
    void *base = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &base, &size);
        pthread_attr_destroy(&attr);
    }
    /* An unlimited main stack is said to begin far away; 8 MiB below here is what we vouch for then. */
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)base;
    if (!base || low > here || here - low > ((uintptr_t)1 << 30)) low = here - (8 << 20);
    return my_stack_low = (char *)low;
}

enum { STACK_MARGIN = 192 << 10 };

char *os_stack_limit(void) {
    static _Thread_local char *limit;
    if (limit) return limit;
    uintptr_t top = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)os_stack_low();
    return limit = (char *)(low + QN_MIN((uintptr_t)STACK_MARGIN, (top - low) / 4));
}

bool os_thread_start(OsThread *thread, void *(*run)(void *), void *arg, size_t stack_size) {
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) return false;
    if (stack_size) pthread_attr_setstacksize(&attr, QN_MAX(stack_size, (size_t)PTHREAD_STACK_MIN));
    bool ok = pthread_create(thread, &attr, run, arg) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

void os_thread_detach(OsThread thread) {
    pthread_detach(thread);
}

int os_cpu_count(void) {
    /* The kernel refuses a mask smaller than its own: machines with many CPUs need a larger one. */
    for (int cpus = 1024; cpus <= 1 << 17; cpus *= 2) {
        size_t size = CPU_ALLOC_SIZE(cpus);
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set) break;
        bool ok = sched_getaffinity(0, size, set) == 0;
        int n = ok ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (ok && n > 0) return n;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

void os_prefer_large_pages(void *at, size_t bytes) {
    enum { PAGE = 4096 };
    uintptr_t first = ((uintptr_t)at + PAGE - 1) / PAGE * PAGE, end = (uintptr_t)at + bytes;
    if (end > first) madvise((void *)first, end - first, MADV_HUGEPAGE); /* advice: may fail */
}

bool os_has_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    munmap(memory, bytes);
    return true;
}

/* Vendor, family and model, and the feature words; bits of leaf 1 that say which core this is are left out. */
void os_hash_cpu(Hasher *h) {
    static const struct {
        unsigned leaf, sub, keep_ebx;
    } leaves[] = {{0, 0, ~0u},        {1, 0, 0},           {7, 0, ~0u},    {7, 1, ~0u},
                  {0xd, 1, 0},        {0x14, 0, ~0u},      {0x19, 0, ~0u}, {0x24, 0, ~0u},
                  {0x80000001, 0, 0}, {0x80000008, 0, ~0u}};
    for (size_t i = 0; i < countof(leaves); i++) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid_count(leaves[i].leaf, leaves[i].sub, &a, &b, &c, &d)) a = b = c = d = 0;
        hash_u64(h, (uint64_t)a << 32 | (b & leaves[i].keep_ebx));
        hash_u64(h, (uint64_t)c << 32 | d);
    }
    unsigned low = 0, high = 0, a, b, c = 0, d;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) /* registers that the system saves */
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    hash_u64(h, (uint64_t)high << 32 | low);
}
