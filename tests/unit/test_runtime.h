/* test_runtime.h - what the tests of runtime/ share: checks that count, and artifacts made by hand. */
#ifndef QUERN_TEST_RUNTIME_H
#define QUERN_TEST_RUNTIME_H

#include "runtime/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic int checks, failures; /* tests check from several threads */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
        }                                                                                          \
    } while (0)

/* The call failed with this class and a text that contains `words`. */
#define CHECK_ERROR(error, class_, words)                                                          \
    do {                                                                                           \
        checks++;                                                                                  \
        if ((error)->cls != (class_) || !strstr((error)->text, words)) {                           \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: error class %d, \"%s\"\n", __FILE__, __LINE__, (error)->cls,   \
                    (error)->text);                                                                \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        rt_error_init(&err);                                                                       \
        checks++;                                                                                  \
        if (!(call) || rt_failed(&err)) {                                                          \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, err.text);               \
        }                                                                                          \
    } while (0)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        int before_ = failures;                                                                    \
        test();                                                                                    \
        printf("%s %s\n", failures == before_ ? "ok  " : "FAIL", #test);                           \
    } while (0)

static inline int finish(void) {
    printf("%d checks, %d failures\n", checks, failures);
    return failures ? 1 : 0;
}

/* A packed array argument of up to three dimensions. */
typedef struct Packed {
    void *data;
    Owner *owner;
    int64_t dims[6];
} Packed;

static inline Packed packed_1d(void *data, int64_t n, int64_t stride) {
    return (Packed){data, NULL, {n, stride}};
}

#define ARRAY_LAYOUT(element_, ndim_) USED_ARRAY(element_, ndim_, ARG_READ | ARG_WRITTEN)
#define USED_ARRAY(element_, ndim_, usage_)                                                        \
    {                                                                                              \
        .kind = TY_ARRAY, .element = TY_##element_, .ndim = (ndim_), .layout = LAYOUT_A,           \
        .aligned = true, .size = (int32_t)ARRAY_VALUE_SIZE(ndim_), .align = 8, .usage = (usage_)   \
    }
#define SCALAR_LAYOUT(kind_, bytes)                                                                \
    { .kind = TY_##kind_, .size = (bytes), .align = (bytes) }

static inline RtLaunch launch_of(RtKernel *kernel, int64_t grid, int64_t block, void **args) {
    RtLaunch l = {.kernel = kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = args};
    return l;
}

#endif
