/* check.h - the unit tests' whole framework: checks that count, and an allocator that fails on demand.
 *
 *     static void test_something(void) { CHECK(1 + 1 == 2); CHECK_STR(text, "two"); }
 *     int main(void) { RUN(test_something); return check_report(); }
 *
 * A failed check prints its place and goes on. */
#ifndef QUERN_CHECK_H
#define QUERN_CHECK_H

#include "frontend/base/str.h"

#include <stdio.h>
#include <stdlib.h>

static int check_count, check_failures;
static const char *check_test = "";

#define RUN(test) (check_test = #test, test())

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(condition)) {                                                                        \
            check_failures++;                                                                      \
            printf("%s:%d: %s: failed: %s\n", __FILE__, __LINE__, check_test, #condition);         \
        }                                                                                          \
    } while (0)

#define CHECK_INT(got, expected)                                                                   \
    do {                                                                                           \
        long long got_ = (long long)(got), expected_ = (long long)(expected);                      \
        check_count++;                                                                             \
        if (got_ != expected_) {                                                                   \
            check_failures++;                                                                      \
            printf("%s:%d: %s: %s is %lld, not %lld\n", __FILE__, __LINE__, check_test, #got,      \
                   got_, expected_);                                                               \
        }                                                                                          \
    } while (0)

/* A Str against a C string. */
#define CHECK_STR(got, expected) check_str(__FILE__, __LINE__, (got), (expected))

static inline void check_str(const char *file, int line, Str got, const char *expected) {
    check_count++;
    if (str_is(got, expected)) return;
    check_failures++;
    printf("%s:%d: %s: got\n" STR_FMT "\nexpected\n%s\n", file, line, check_test, STR_ARG(got),
           expected);
}

static inline int check_report(void) {
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0 || check_count == 0;
}

/* -- an allocator that counts and fails ------------------------------------------------------ */

typedef struct CheckAllocator {
    long live;          /* bytes handed out and not given back */
    long calls;         /* allocations asked for */
    long fail_at;       /* the call that fails, counted from 1; 0: none */
    bool keeps_failing; /* and all after it */
    bool mismatch;      /* a size given back was not the size handed out */
} CheckAllocator;

static inline void *check_resize(void *user, void *old, size_t old_size, size_t new_size) {
    CheckAllocator *a = (CheckAllocator *)user;
    enum { HEAD = 16 };
    if (old && *(size_t *)((char *)old - HEAD) != old_size) a->mismatch = true;
    if (new_size == 0) {
        a->live -= (long)old_size;
        if (old) free((char *)old - HEAD);
        return NULL;
    }
    a->calls++;
    if (a->fail_at && (a->calls == a->fail_at || (a->keeps_failing && a->calls > a->fail_at)))
        return NULL;
    char *memory = (char *)realloc(old ? (char *)old - HEAD : NULL, new_size + HEAD);
    if (!memory) return NULL;
    *(size_t *)memory = new_size;
    a->live += (long)new_size - (long)old_size;
    return memory + HEAD;
}

/* Runs `body` with the k-th allocation failing, for every k, until it runs through; both with the one
 * failure and with all after it failing, too. Each time everything must have been given back. */
typedef void (*CheckBody)(Arena *arena);
static inline void check_out_of_memory(CheckBody body) {
    for (volatile int keeps = 0; keeps < 2; keeps++) {
        for (volatile long k = 1;; k++) {
            CheckAllocator state = {.fail_at = k, .keeps_failing = keeps};
            Allocator allocator = {check_resize, &state};
            Arena arena;
            jmp_buf out_of_memory;
            volatile bool finished = false, unwound = false;
            arena_init(&arena, &allocator);
            arena.on_failure = &out_of_memory;
            if (setjmp(out_of_memory)) {
                unwound = true;
            } else {
                body(&arena);
                finished = true;
            }
            arena_free(&arena);
            CHECK_INT(state.live, 0);
            CHECK(!state.mismatch);
            CHECK(unwound == (state.calls >= k));
            if (finished) break;
        }
    }
}

#endif
