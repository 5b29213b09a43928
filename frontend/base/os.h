/* os.h - the little of the operating system that the layers share: libraries, clock, files,
 * threads.
 *
 * Errors are text in a buffer of the caller's, cut to fit; no function here prints or keeps state.
 */
#ifndef QUERN_OS_H
#define QUERN_OS_H

#include "frontend/base/hash.h"
#include "frontend/base/str.h"
#include <pthread.h>

/* -- dynamic libraries ----------------------------------------------------------------------- */

/* Opens a library: the copy already in the process where there is one (another package may have
 * loaded it from elsewhere), otherwise by the loader's rules, its symbols kept local. NULL: `error`
 * says what the loader answered. `shared`, if not NULL, tells whether it was there already. */
void *os_lib_open(const char *name, bool *shared, char *error, size_t error_size);
/* Only the copy that is in the process already; NULL when there is none. */
void *os_lib_loaded(const char *name);
void *os_lib_symbol(void *library, const char *name); /* NULL when absent */
/* Calls `look` with the path of each library in the process. It must not open or close one. */
void os_libs_loaded(void (*look)(const char *path, void *user), void *user);

/* -- time ------------------------------------------------------------------------------------- */

int64_t os_now_ns(void);    /* monotonic */
int64_t os_coarse_ns(void); /* monotonic, some milliseconds behind, for almost nothing */
void os_sleep_ns(int64_t ns);

/* -- files ------------------------------------------------------------------------------------ */

/* The whole file, NUL-terminated, in the arena. false: `error` says why. */
bool os_read_file(Arena *arena, const char *path, Str *out, char *error, size_t error_size);
/* Writes a temporary file beside `path`, mode 0600, and renames it: readers see the old file or the
 * whole new one. false: `error` says why, and nothing is left behind. */
bool os_write_file(const char *path, const void *bytes, size_t size, char *error,
                   size_t error_size);
bool os_exists(const char *path);

/* What changes when a file is written or replaced. false: there is no such file. */
typedef struct OsStamp {
    int64_t device, number, size, changed_ns;
} OsStamp;
bool os_stamp(const char *path, OsStamp *out);

/* -- threads ---------------------------------------------------------------------------------- */

typedef pthread_t OsThread;

/* The lowest address that the stack of the calling thread may come to. Asked of the system once in each thread. */
char *os_stack_low(void);
/* A function of compiled code whose frame lies below raises RecursionError: there is room for whatever it calls. */
char *os_stack_limit(void);
/* stack_size 0: the system's choice. false: no thread could be made. */
bool os_thread_start(OsThread *thread, void *(*run)(void *), void *arg, size_t stack_size);
void os_thread_detach(OsThread thread);
/* Would the system give the process so many bytes more? (RLIMIT_AS) */
bool os_has_memory(size_t bytes);
/* Asks for large pages where there are any: touching a new array costs half as much. Nothing else changes. */
void os_prefer_large_pages(void *at, size_t bytes);
/* What the processor can do, as far as the system lets programs use it: two machines of one answer run the same code. */
void os_hash_cpu(Hasher *h);
/* How many CPUs this process may run on (its affinity mask), at least 1. */
int os_cpu_count(void);

#endif
