/* stages_bytecode.c - stages of golden.c for frontend/bytecode: code objects to untyped SSA. */
#include "tests/tools/stages.h"

static Str printed(StageRun *run, const CodeUnit *code) {
    StrBuf text;
    buf_init(&text, run->arena);
    code_print(&text, code);
    return buf_take(&text);
}

/* The text form must lose nothing: what is printed reads back to the same text. */
static bool reads_back(StageRun *run, const CodeUnit *code) {
    Str first = printed(run, code);
    const CodeUnit *again = code_parse(run->arena, first.bytes, run->diags);
    if (again && str_equal(first, printed(run, again))) return true;
    buf_str(run->out, "the code does not print the same again\n");
    return false;
}

/* bytecode: CodeUnit text -> untyped SSA, verified. */
static bool run_bytecode(StageRun *run) {
    const CodeUnit *code = code_parse(run->arena, run->code, run->diags);
    if (!code || !reads_back(run, code)) return false;
    Module *module = ir_module_new(run->arena, run->diags);
    const Func *func = bc_build(module, code);
    if (!func) return false;
    ir_print_func(run->out, func);
    return ir_verify_func(func, "bytecode", run->diags);
}

const Stage stages_bytecode[] = {
    {"bytecode", run_bytecode},
    {NULL, NULL},
};
