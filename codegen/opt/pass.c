/* pass.c - runs the list in passes.def. */
#include "codegen/opt/pass.h"

const PassInfo opt_passes[] = {
#define PASS(name, function, level, needs, breaks, what)                                           \
    {#name, function, level, needs, breaks, what},
#include "codegen/opt/passes.def"
#undef PASS
    {NULL, NULL, 0, 0, 0, NULL}};

const PassInfo *opt_find(const char *name) {
    for (const PassInfo *pass = opt_passes; pass->name; pass++)
        if (!strcmp(pass->name, name)) return pass;
    return NULL;
}

static bool verified(const Func *func, const PassInfo *pass) {
#ifdef NDEBUG
    (void)func, (void)pass;
    return true;
#else
    return ir_verify_func(func, pass->name, func->module->diags);
#endif
}

void opt_tell_loops(Module *module, const CompileOptions *options) {
    PassContext ctx = {module, module->arena, options, true};
    for (int32_t i = 0, n = module->funcs.len; i < n; i++) {
        opt_frames(&ctx, module->funcs.items[i]);
        opt_parallel(&ctx, module->funcs.items[i]);
    }
}

bool opt_run_one(Module *module, const CompileOptions *options, const PassInfo *pass) {
    PassContext ctx = {module, module->arena, options, false};
    for (int32_t i = 0; i < module->funcs.len; i++) {
        if (module->funcs.items[i]->skipped) continue;
        pass->run(&ctx, module->funcs.items[i]);
        if (!verified(module->funcs.items[i], pass)) return false;
    }
    return true;
}

bool opt_run(Module *module, const CompileOptions *options, PassObserver after, void *user) {
    unsigned broken = 0;
    for (const PassInfo *pass = opt_passes; pass->name; pass++) {
        if (options->opt_level < pass->level) continue;
        if (pass->needs & broken)
            return diag_add(module->diags, E0004, NULL, pass->name,
                            "a pass before it broke what it needs (passes.def)");
        broken |= pass->breaks;
        if (!opt_run_one(module, options, pass)) return false;
        for (int32_t i = 0; after && i < module->funcs.len; i++)
            after(user, pass, module->funcs.items[i]);
    }
    return true;
}
