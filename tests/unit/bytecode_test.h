/* bytecode_test.h - what the unit tests of the bytecode frontend share: checks that count, and one
 * compilation with its diagnostics. */
#ifndef QUERN_BYTECODE_TEST_H
#define QUERN_BYTECODE_TEST_H

#include "frontend/base/os.h"
#include "frontend/bytecode/bc.h"

#include <stdio.h>
#include <stdlib.h>

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

/* -- one compilation --------------------------------------------------------------------------- */

typedef struct Session {
    Arena arena;
    DiagList diags;
    Module *module;
    Func *func;
} Session;

static inline void session_open(Session *s) {
    arena_init(&s->arena, &qn_default_allocator);
    diag_init(&s->diags, &s->arena);
    s->module = ir_module_new(&s->arena, &s->diags);
    s->func = NULL;
}

static inline void session_close(Session *s) {
    arena_free(&s->arena);
}

static inline bool refused_with(const Session *s, DiagCode code) {
    return !s->func && s->diags.items.len == 1 && s->diags.items.items[0].code == code &&
           s->diags.items.items[0].has_span;
}

static inline const char *first_message(const Session *s) {
    return s->diags.items.len ? s->diags.items.items[0].text.bytes : "(no message)";
}

/* The same for bc_build_all, which says something exactly where bc_build does, and verifies what it made. */
static inline bool sound_all(Session *s, bool built) {
    int32_t n = s->diags.items.len;
    for (int32_t k = 0; k < n; k++) {
        const DiagItem *item = &s->diags.items.items[k];
        if (!item->has_span || item->code < E0101 || item->code > E0105) return false;
    }
    return (n == 0) == built && (n || s->func) &&
           (!s->func || ir_verify_func(s->func, "bytecode", &s->diags));
}

/* What must hold for every code object: verified IR, or one diagnostic with a place. */
static inline bool sound(Session *s) {
    if (s->func) return s->diags.items.len == 0 && ir_verify_func(s->func, "bytecode", &s->diags);
    if (s->diags.items.len != 1 || !s->diags.items.items[0].has_span) return false;
    DiagCode code = s->diags.items.items[0].code;
    return code >= E0101 && code <= E0105;
}

#endif
