/* front.c - the front half of a compilation: bytecode, SSA and inference, through the resolver. */
#include "codegen/compile_impl.h"
#include "codegen/target.h"
#include "frontend/base/os.h"

typedef struct FrontJob {
    Compilation *c;
    InferRequest request;
    bool ok;
} FrontJob;

const char *cg_device_text(Compilation *c) {
    if (!c->options.infer.kernel) return NULL;
    const char *arch = c->options.arch, *device = tg_facts(c->options.infer.target)->device;
    return str_printf(&c->arena, "%s%s%s", device, arch ? ":" : "", arch ? arch : "").bytes;
}

static void diagnose(void *user) {
    FrontJob *job = user;
    job->ok = ti_diagnose(job->c->module, job->c->resolver, &job->request);
}

static void front(void *user) {
    FrontJob *job = user;
    Compilation *c = job->c;
    job->request.device = cg_device_text(c);
    StrBuf report;
    const Type **kept = arena_array(&c->arena, const Type *, job->request.nargs + 1);
    for (int32_t i = 0; i < job->request.nargs; i++)
        kept[i] = job->request.arg_types[i];
    c->arg_types = job->request.arg_types = kept;
    c->nargs = job->request.nargs;
    bool keep = c->options.keep_text;
    if (keep) buf_init(&report, &c->arena);
    if (!ti_run(c->module, c->resolver, &job->request, keep ? &report : NULL)) return;
    c->options.general_variant |= c->resolver->captures;
    c->weak_result = c->module->funcs.items[0]->weak_result;
    if (keep) c->text_types = buf_take(&report);
    job->ok = true;
}

bool cg_front(Compilation *c, const Binding *function, const Type *const *arg_types, int32_t nargs,
              const Type *result) {
    int64_t start = os_now_ns();
    FrontJob job = {.c = c,
                    .request = {.function = function,
                                .arg_types = arg_types,
                                .nargs = nargs,
                                .result = result,
                                .options = c->options.infer}};
    if (!arena_guard(&c->arena, front, &job)) return diag_out_of_memory(&c->diags);
    c->ns_infer = os_now_ns() - start;
    return job.ok;
}

bool cg_diagnose(Compilation *c, const Binding *function, const Type *const *arg_types,
                 int32_t nargs, const Type *result) {
    FrontJob job = {.c = c,
                    .request = {.function = function,
                                .arg_types = arg_types,
                                .nargs = nargs,
                                .result = result,
                                .options = c->options.infer}};
    if (!arena_guard(&c->arena, diagnose, &job)) return diag_out_of_memory(&c->diags);
    return job.ok;
}
