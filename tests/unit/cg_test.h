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

#endif
