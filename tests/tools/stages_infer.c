/* stages_infer.c - stages of golden.c for typeinfer: a program as text (text_resolver.h) to typed IR,
 * or to the listing of inspect_types. */
#include "tests/tools/stages.h"
#include "tests/tools/text_resolver.h"

static bool run_program(StageRun *run, Module **module, StrBuf *report) {
    *module = ir_module_new(run->arena, run->diags);
    TextProgram *program = text_program(*module, run->code, run->diags);
    if (!program) return false;
    return ti_run(*module, &program->resolver, &program->request, report);
}

/* infer: typed IR of the entry and all it calls, verified. */
static bool run_infer(StageRun *run) {
    Module *module;
    if (!run_program(run, &module, NULL)) return false;
    ir_print_module(run->out, module);
    return ir_verify_module(module, "infer", run->diags);
}

/* explain: what inspect_types shows. */
static bool run_explain(StageRun *run) {
    Module *module;
    return run_program(run, &module, run->out);
}

const Stage stages_infer[] = {
    {"infer", run_infer},
    {"explain", run_explain},
    {NULL, NULL},
};
