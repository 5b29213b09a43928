/* cg_test.h - typed IR as text -> machine code -> a call through the packed entry, for tests of code
 * generation. Operands are always run-time values. */
#ifndef QUERN_CG_TEST_H
#define QUERN_CG_TEST_H

#include "codegen/codegen.h"
#include "tests/unit/check.h"

/* NULL after printing the diagnostics. */
static inline Artifact *cg_compile(const char *text, const CompileOptions *options) {
    Compilation *c = cg_begin(options, NULL);
    Module *module = ir_parse_module(cg_arena(c), text, cg_diags(c));
    Artifact *artifact = NULL;
    if (module && ir_verify_module(module, "test", cg_diags(c)) && cg_front_module(c, module))
        artifact = cg_back(c);
    for (int32_t i = 0; !artifact && i < cg_diags(c)->items.len; i++) {
        StrBuf out;
        buf_init(&out, cg_arena(c));
        diag_render(&out, &cg_diags(c)->items.items[i], NULL, NULL);
        Str s = buf_take(&out);
        printf(STR_FMT "\n", STR_ARG(s));
    }
    cg_end(c);
    return artifact;
}

static inline Artifact *cg_host(const char *text, int opt_level) {
    CompileOptions options = {.opt_level = opt_level};
    return cg_compile(text, &options);
}

/* Calls a host entry with fresh context; the context is kept for inspection. */
static inline int cg_call(const Artifact *artifact, CallContext *ctx, void **args, void *result) {
    HostEntry entry;
    memcpy(&entry, &artifact->entry, sizeof entry);
    memset(ctx, 0, sizeof *ctx);
    return entry(ctx, args, result);
}

static const char add_text[] = "func @f(a: i64, b: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = add %1, %2\n"
                               "  return %3\n"
                               "}\n";

/* A small function is compiled, called and gives the sum. */
static inline void check_add(int level) {
    Artifact *artifact = cg_host(add_text, level);
    CHECK(artifact != NULL);
    if (!artifact) return;
    int64_t a = 40, b = 2, r = 0;
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
    CHECK_INT(r, 42);
    CHECK_INT(artifact->nparams, 2);
    CHECK_INT(artifact->params[1].kind, TY_i64);
    CHECK_INT(artifact->result.size, 8);
    artifact_release(artifact);
}

#endif
