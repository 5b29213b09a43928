/* stages_opt.c - the stage `pass` of golden.c: typed IR in, the named passes, typed IR out.
 *
 *     --ARGS--
 *     pass=bounds dce
 *
 * The word `cuda` compiles a kernel for that target, `kernel` one for the cpu device. The verifier runs before the first pass and after each. */
#include "codegen/opt/pass.h"
#include "tests/tools/stages.h"

#include <stdio.h>

static bool run_named(StageRun *run, Module *module, const CompileOptions *options, Str name) {
    char text[64];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(name));
    const PassInfo *pass = opt_find(text);
    if (!pass) return diag_add(run->diags, E0001, NULL, 1, "no pass of this name");
    return opt_run_one(module, options, pass) && ir_verify_module(module, text, run->diags);
}

static bool is_option(Str word) {
    return str_is(word, "cuda") || str_is(word, "kernel");
}

static bool run_pass(StageRun *run) {
    Module *module = ir_parse_module(run->arena, run->code, run->diags);
    if (!module || !ir_verify_module(module, "input", run->diags)) return false;
    CompileOptions options = {.opt_level = 3};
    for (int i = 0; i < run->nwords; i++)
        if (is_option(run->words[i])) {
            if (str_is(run->words[i], "cuda")) options.infer.target = TARGET_NVPTX;
            options.entry = ENTRY_KERNEL;
        }
    bool ok = run_named(run, module, &options, run->value);
    for (int i = 0; ok && i < run->nwords; i++)
        ok = is_option(run->words[i]) || run_named(run, module, &options, run->words[i]);
    ir_print_module(run->out, module);
    return ok;
}

const Stage stages_opt[] = {{"pass", run_pass}, {NULL, NULL}};
