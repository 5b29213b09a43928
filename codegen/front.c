/* front.c - the front half of a compilation: bytecode, SSA and inference, through the resolver. */
#include "codegen/compile_impl.h"
#include "frontend/base/os.h"

static bool run(Compilation *c, const Binding *function, const Type *const *arg_types,
                int32_t nargs, const Type *result) {
    StrBuf report;
    buf_init(&report, &c->arena);
    InferRequest request = {.function = function,
                            .arg_types = arg_types,
                            .nargs = nargs,
                            .result = result,
                            .options = c->options.infer};
    bool keep = c->options.keep_text;
    if (!ti_run(c->module, c->resolver, &request, keep ? &report : NULL)) return false;
    c->weak_result = c->module->funcs.items[0]->weak_result;
    if (keep) c->text_types = buf_take(&report);
    return true;
}

bool cg_front(Compilation *c, const Binding *function, const Type *const *arg_types, int32_t nargs,
              const Type *result) {
    jmp_buf out_of_memory;
    int64_t start = os_now_ns();
    c->arena.on_failure = &out_of_memory;
    if (setjmp(out_of_memory)) {
        c->arena.on_failure = NULL;
        return diag_add(&c->diags, E0003, NULL);
    }
    const Type **kept = arena_array(&c->arena, const Type *, nargs + 1);
    for (int32_t i = 0; i < nargs; i++)
        kept[i] = arg_types[i];
    c->arg_types = kept;
    c->nargs = nargs;
    bool ok = run(c, function, arg_types, nargs, result);
    c->ns_infer = os_now_ns() - start;
    c->arena.on_failure = NULL;
    return ok;
}
