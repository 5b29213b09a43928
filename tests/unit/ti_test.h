/* ti_test.h - what the unit tests of typeinfer share: types from text, and checks that count. */
#ifndef QUERN_TI_TEST_H
#define QUERN_TI_TEST_H

#include "typeinfer/typeinfer.h"
#include <stdio.h>
#include <stdlib.h>

static Arena arena;
static TypeTable *types;
static int checks, failures;

#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(cond)) {                                                                             \
            failures++;                                                                            \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #cond);                                      \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

static inline void test_begin(void) {
    arena_init(&arena, &qn_default_allocator);
    types = type_table_new(&arena);
}

static inline int test_end(const char *name) {
    printf("%s: %d checks, %d failures\n", name, checks, failures);
    arena_free(&arena);
    return failures != 0;
}

/* A type in the IR's form; a mistake in a test ends it. */
static inline const Type *T(const char *text) {
    const char *p = text;
    const Type *t = type_parse(types, &p);
    if (!t || *p) {
        printf("bad type in a test: %s\n", text);
        _Exit(2);
    }
    return t;
}

static inline const char *text_of(const Type *type) {
    if (!type) return "none at all";
    StrBuf out;
    buf_init(&out, &arena);
    type_print(&out, type);
    return buf_take(&out).bytes;
}

/* "(i64, f32)" or "" as a list of types. */
static inline int32_t type_list_of(const char *text, const Type **out) {
    int32_t n = 0;
    while (*text) {
        while (*text == ' ' || *text == ',')
            text++;
        if (!*text) break;
        const char *before = text;
        out[n] = type_parse(types, &text);
        if (!out[n++]) {
            printf("bad type in a test: %s\n", before);
            _Exit(2);
        }
    }
    return n;
}

#endif
