/* base.h - the floor: integer names, assertions and the allocator value everything above is built on.
 *
 * Nothing here knows of compilers. Every header of this folder may be included by every layer. */
#ifndef QUERN_BASE_H
#define QUERN_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define countof(a)   ((int)(sizeof(a) / sizeof((a)[0])))
#define QN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define QN_MAX(a, b) ((a) > (b) ? (a) : (b))

#if defined(__GNUC__)
#define QN_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define QN_NORETURN           __attribute__((noreturn))
#define QN_LIKELY(x)          __builtin_expect(!!(x), 1)
#define QN_UNLIKELY(x)        __builtin_expect(!!(x), 0)
#else
#define QN_PRINTF(fmt, first)
#define QN_NORETURN
#define QN_LIKELY(x)   (x)
#define QN_UNLIKELY(x) (x)
#endif

/* An impossible state. In debug builds it stops with the message; in release builds it is a promise
 * to the C compiler, so use it only where a verifier guarantees it. */
#ifdef NDEBUG
#define qn_unreachable(why) __builtin_unreachable()
#else
#define qn_unreachable(why) assert(!(why))
#endif

/* An allocator as a value: tests pass one that fails on demand. `resize` with old == NULL allocates,
 * with new_size == 0 frees and returns NULL. It returns NULL when memory is out. */
typedef struct Allocator {
    void *(*resize)(void *user, void *old, size_t old_size, size_t new_size);
    void *user;
} Allocator;

/* malloc/realloc/free of the C library. */
extern const Allocator qn_default_allocator;

#endif
