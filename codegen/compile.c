/* compile.c - the driver of the back half: passes on typed IR, then LLVM on a worker.
 *
 * The front half is front.c, so that tools and tests of code generation need no inference. */
#include "codegen/codegen.h"
#include "codegen/compile_impl.h"
#include "codegen/abi.h"
#include "codegen/lower.h"
#include "codegen/memo.h"
#include "codegen/opt/pass.h"
#include "codegen/sanitize.h"
#include "codegen/support.h"
#include "codegen/target.h"
#include "codegen/worker.h"
#include "frontend/base/os.h"
#include <stdlib.h>

/* -- a compilation ---------------------------------------------------------------------------- */

static void begin(void *user) {
    Compilation *c = user;
    diag_init(&c->diags, &c->arena);
    c->module = ir_module_new(&c->arena, &c->diags);
    c->types = c->module->types;
    const TargetFacts *facts = tg_facts(c->options.infer.target);
    if (facts && facts->wide_masks(c->options.arch)) type_use_wide_masks(c->types);
}

Compilation *cg_begin(const CompileOptions *options, Resolver *resolver) {
    Compilation *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    atomic_init(&c->refs, 1);
    arena_init(&c->arena, options->allocator);
    c->options = *options;
    c->resolver = resolver;
    if (arena_guard(&c->arena, begin, c)) return c;
    cg_end(c);
    return NULL;
}

void cg_on_wait(Compilation *c, bool (*look)(void *user), void *user) {
    c->look = look;
    c->look_user = user;
}

bool cg_was_left(const Compilation *c) {
    return c->left;
}

void cg_use_files(Compilation *c, const InstanceFiles *files) {
    InstanceFiles *copy = arena_copy(&c->arena, files, sizeof *files);
    copy->folder = str_copy(&c->arena, files->folder, strlen(files->folder)).bytes;
    c->files = copy;
}

void cg_use_resolver(Compilation *c, Resolver *resolver) {
    c->resolver = resolver;
}

Arena *cg_arena(Compilation *c) {
    return &c->arena;
}
TypeTable *cg_types(Compilation *c) {
    return c->types;
}
DiagList *cg_diags(Compilation *c) {
    return &c->diags;
}
Module *cg_module(Compilation *c) {
    return c->module;
}

static void tell_loops(void *user) {
    Compilation *c = user;
    opt_tell_loops(c->module, &c->options);
}

bool cg_diagnose_loops(Compilation *c) {
    if (!arena_guard(&c->arena, tell_loops, c)) return diag_out_of_memory(&c->diags);
    return !c->diags.failed;
}

bool cg_front_module(Compilation *c, Module *typed) {
    c->module = typed;
    c->types = typed->types;
    if (typed->funcs.len == 0 || !typed->funcs.items[0]->typed)
        return diag_add(&c->diags, E0501, NULL, "the module has no typed entry");
    return true;
}

void cg_end(Compilation *c) {
    if (!c || atomic_fetch_sub(&c->refs, 1) > 1) return;
    memo_end(&c->memo);
    arena_free(&c->arena);
    free(c);
}

/* -- the artifact ----------------------------------------------------------------------------- */

Str lower_keep(Artifact *artifact, Str text) {
    return text.bytes ? str_copy(&artifact->arena, text.bytes, (size_t)text.len) : STR("");
}

static void describe(Compilation *c, Artifact *artifact) {
    Arena *arena = &artifact->arena;
    const Func *entry = c->module->funcs.items[0];
    artifact->target = c->options.infer.target;
    artifact->watch = c->options.sanitize ? &sanitizer_watch : NULL;
    artifact->print = quern_kernel_print;
    artifact->name = lower_keep(artifact, entry->user_name.bytes ? entry->user_name : entry->name);
    artifact->nparams = entry->nparams;
    ValueLayout *params = arena_array(arena, ValueLayout, entry->nparams + 1);
    for (int32_t i = 0; i < entry->nparams; i++)
        params[i] = abi_layout(arena, entry->param_types[i], i < c->nargs ? c->arg_types[i] : NULL);
    artifact->params = params;
    artifact->result = abi_layout(arena, entry->result, c->weak_result);
    const Func *resume = c->module->resume;
    artifact->resumes = resume != NULL;
    if (resume) artifact->resumed = abi_layout(arena, resume->result, resume->weak_result);
    artifact_name_exceptions(artifact);
    uint8_t *usage = arena_array(arena, uint8_t, entry->nparams + 1);
    c->lower.array_usage = abi_usage(&c->arena, c->module, params, usage);
    artifact->usage = usage;
    artifact->max_threads = c->options.max_threads;
    artifact->fast_variant = !target_is_host(artifact->target) && !c->options.general_variant;
}

static void keep_dependencies(Artifact *artifact, const Resolver *resolver) {
    if (!resolver) return;
    Dependency *log = arena_array(&artifact->arena, Dependency, resolver->log.len + 1);
    for (int32_t i = 0; i < resolver->log.len; i++) {
        log[i] = resolver->log.items[i];
        log[i].path = lower_keep(artifact, log[i].path);
    }
    artifact->dependencies = log;
    artifact->ndependencies = resolver->log.len;
}

static atomic_bool provoke_next; /* cg_test_fatal_error */

static void keep_remarks(Compilation *c, Artifact *artifact) {
    StrBuf text;
    buf_init(&text, &c->arena);
    for (int32_t i = 0; i < c->module->remarks.len; i++) {
        const Remark *r = &c->module->remarks.items[i];
        buf_printf(&text, "%d\t%d\t" STR_FMT "\t" STR_FMT "\n", r->level, (int)r->span.line,
                   STR_ARG(r->span.file), STR_ARG(r->text));
    }
    artifact->text_parallel = lower_keep(artifact, buf_take(&text));
    buf_init(&text, &c->arena);
    opt_report(c->module, &text);
    artifact->text_loops = lower_keep(artifact, buf_take(&text));
}

static void optimise(Compilation *c, Artifact *artifact) {
    int64_t start = os_now_ns();
    c->memo = (MemoUse){.module = c->module, .options = &c->options};
    memo_begin(&c->memo);
    if (opt_run(c->module, &c->options, NULL, NULL) && memo_settle(&c->memo) &&
        c->options.keep_text) {
        StrBuf text;
        buf_init(&text, &c->arena);
        ir_print_module(&text, c->module);
        artifact->text_ir = lower_keep(artifact, buf_take(&text));
    }
    if (c->options.keep_text) keep_remarks(c, artifact);
    artifact->ns_opt = os_now_ns() - start;
    artifact->ns_infer = c->ns_infer;
    artifact->text_types = lower_keep(artifact, c->text_types);
}

/* "while compiling saxpy(int64, float32[:]) for cuda:sm_90" */
static void note_compiling(Compilation *c) {
    const Func *entry = c->module->funcs.items[0];
    StrBuf text;
    buf_init(&text, &c->arena);
    for (int32_t i = 0; i < entry->nparams; i++) {
        buf_str(&text, i ? ", " : "");
        type_describe(&text, i < c->nargs ? c->arg_types[i] : entry->param_types[i]);
    }
    const char *device = cg_device_text(c);
    Str name = entry->user_name.bytes ? entry->user_name : entry->name;
    diag_note(&c->diags, NULL, "while compiling " STR_FMT "(%s)%s%s", STR_ARG(name),
              buf_take(&text).bytes, device ? " for " : "", device ? device : "");
}

static Ref first_return(const Func *func) {
    for (int32_t b = 0; b < func->blocks.len; b++)
        for (int32_t i = 0; i < func->blocks.items[b].insts.len; i++)
            if (ir_inst(func, func->blocks.items[b].insts.items[i])->op == OP_return)
                return func->blocks.items[b].insts.items[i];
    return NO_REF;
}

/* The function of a ufunc maps numbers to a number, that of a generalised one writes into arrays. */
static bool check_ufunc(Compilation *c) {
    const Func *func = c->module->funcs.items[0];
    const Type *wrong = NULL;
    bool core = c->options.core;
    for (int32_t i = 0; i < func->nparams && !wrong; i++) {
        const Type *type = func->param_types[i];
        if (core && type->kind == TY_ARRAY) type = type->element;
        if (!type_is_number(type)) wrong = func->param_types[i];
    }
    const char *what = wrong  ? core ? "takes numbers and arrays of numbers" : "takes numbers"
                       : core ? "writes its results into its last parameters and returns nothing"
                              : "returns one number";
    Ref at = wrong ? NO_REF : first_return(func);
    bool good = core ? func->result->kind == TY_none : type_is_number(func->result);
    if (!wrong && !good) wrong = func->result;
    if (!wrong) return true;
    StrBuf text;
    buf_init(&text, &c->arena);
    type_describe(&text, wrong);
    const char *type = buf_take(&text).bytes;
    Span span = at ? ir_span_of(func, at) : (Span){0};
    diag_add(&c->diags, E0403, at ? &span : NULL,
             str_printf(&c->arena, "a function of %svectorize() %s, not %s", core ? "gu" : "", what,
                        type)
                 .bytes);
    note_compiling(c);
    return false;
}

/* Axes of parameters that have one length by the layout of a generalised ufunc ask the first of them. */
static void share_lengths(Compilation *c) {
    Func *func = c->module->funcs.items[0];
    const CoreAxes *core = c->options.core;
    Ref params[MAX_CORE_OPERANDS] = {NO_REF};
    int16_t first[MAX_CORE_OPERANDS + 1] = {0}, owner[MAX_CORE_AXES];
    for (int32_t k = 0; k < func->nparams; k++) {
        first[k + 1] = (int16_t)(first[k] + core->ndim[k]);
        for (int32_t i = first[k]; i < first[k + 1]; i++)
            owner[i] = (int16_t)k;
    }
    for (Ref r = 1; r < func->insts.len; r++)
        if (ir_inst(func, r)->op == OP_param) params[ir_inst(func, r)->imm] = r;
    for (Ref r = 1; r < func->insts.len; r++) {
        Inst *inst = ir_inst(func, r);
        if (inst->op != OP_shape) continue;
        const Inst *array = ir_inst(func, ir_arg(func, r, 0));
        if (array->op != OP_param || inst->imm >= core->ndim[array->imm]) continue;
        int32_t at = first[array->imm] + (int32_t)inst->imm, same = 0;
        while (core->length[same] != core->length[at] || !params[owner[same]])
            same++;
        ir_set_args(func, r, &params[owner[same]], 1);
        ir_inst(func, r)->imm = same - first[owner[same]];
    }
}

/* What comes before LLVM. */
static void prepare(Compilation *c) {
    Artifact *artifact = c->lower.artifact;
    artifact->entry_kind = c->options.entry;
    if (c->options.entry == ENTRY_UFUNC && !check_ufunc(c)) return;
    if (c->options.core) share_lengths(c);
    optimise(c, artifact);
    if (c->diags.failed) {
        note_compiling(c);
        return;
    }
    describe(c, artifact);
    keep_dependencies(artifact, c->resolver);
    /* the worker may outlast whoever owns the text */
    if (c->options.arch)
        c->options.arch = str_copy(&c->arena, c->options.arch, strlen(c->options.arch)).bytes;
    if (c->options.core) {
        CoreAxes *core = arena_new(&c->arena, CoreAxes);
        *core = *c->options.core;
        c->options.core = core;
    }
    c->lower.memo_key = c->memo.any ? &c->memo.key : NULL;
    c->lower.ok = true;
}

/* -- LLVM, on the worker ------------------------------------------------------------------------ */

static void drop_job(void *user) {
    Compilation *c = user;
    if (c->lower.claim)
        instance_failed(c->lower.claim); /* LLVM gave up when nobody waited any more */
    artifact_release(c->lower.artifact);
    cg_end(c);
}

static void run_job(LlvmState *llvm, void *user) {
    Compilation *c = user;
    const LlvmHalf *half = llvm_half(c->error, sizeof c->error);
    if (half)
        half->run(llvm, &c->lower);
    else
        c->lower.no_memory = !c->error[0];
}

static WorkerWait wait_of(Compilation *c) {
    return (WorkerWait){.look = c->look, .drop = drop_job, .user = c->look_user};
}

/* Not under a guard of this thread: the worker sets its own, and may go on when we do not wait for it. */
static void lower_begin(Compilation *c) {
    WorkerWait wait = wait_of(c);
    c->lower.ok = false;
    atomic_fetch_add(&c->refs, 1); /* the job's, until it comes back */
    c->outcome =
        worker_begin(&llvm_half_hooks, run_job, c, &wait, &c->request, c->error, sizeof c->error);
}

static void lower_end(Compilation *c) {
    WorkerWait wait = wait_of(c);
    if (c->request) c->outcome = worker_end(c->request, &wait, c->error, sizeof c->error);
    c->request = NULL;
    if (c->outcome == WORKER_LEFT) return;
    atomic_fetch_sub(&c->refs, 1);
    c->arena.on_failure = c->lower.artifact->arena.on_failure = NULL;
}

typedef struct Guarded { /* under guards of both arenas: the compilation's round the artifact's */
    Compilation *c;
    void (*body)(Compilation *c);
} Guarded;

static void call_body(void *user) {
    Guarded *g = user;
    g->body(g->c);
}

static void guard_artifact(void *user) {
    Guarded *g = user;
    LowerJob *job = &g->c->lower;
    if (!arena_guard(&job->artifact->arena, call_body, g)) job->no_memory = true;
}

/* false: there is no memory. */
static bool guarded(Compilation *c, void (*body)(Compilation *c)) {
    Guarded g = {c, body};
    return arena_guard(&c->arena, guard_artifact, &g) && !c->lower.no_memory;
}

static void say_failed(Compilation *c) {
    if (c->failure) diag_add(&c->diags, E0501, NULL, c->failure);
    note_compiling(c);
}

void cg_back_begin(Compilation *c) {
    Artifact *artifact = artifact_new(c->options.allocator);
    c->lower = (LowerJob){.arena = &c->arena,
                          .files = c->files,
                          .diags = &c->diags,
                          .options = &c->options,
                          .module = c->module,
                          .artifact = artifact,
                          .provoke = atomic_exchange(&provoke_next, false)};
    c->error[0] = 0;
    c->lower.no_memory = !artifact || !guarded(c, prepare);
    c->lowers = !c->lower.no_memory && c->lower.ok;
    if (c->lowers) lower_begin(c);
}

Artifact *cg_back_end(Compilation *c) {
    Artifact *artifact = c->lower.artifact;
    bool memory = c->lowers || !c->lower.no_memory;
    if (c->lowers) {
        lower_end(c);
        if ((c->left = c->outcome == WORKER_LEFT)) return NULL;
        if (c->lower.claim) instance_failed(c->lower.claim);
        c->failure = c->error[0] ? c->error : NULL; /* of the worker, or LLVM was not found */
        memory = c->outcome != WORKER_NO_MEMORY && !c->lower.no_memory;
        if (memory && c->lower.ok) return artifact;
        if (memory) memory = guarded(c, say_failed);
        c->failure = NULL;
    }
    artifact_release(artifact);
    if (!memory) diag_out_of_memory(&c->diags);
    return NULL;
}

Artifact *cg_back(Compilation *c) {
    cg_back_begin(c);
    return cg_back_end(c);
}

/* -- the process ------------------------------------------------------------------------------ */

const char *cg_host_cpu(Arena *arena) {
    char error[8];
    const LlvmHalf *half = llvm_half(error, sizeof error);
    char *name = half ? half->host_cpu() : NULL;
    Str copy = str_from(name ? name : "unknown");
    copy = str_copy(arena, copy.bytes, (size_t)copy.len);
    if (name) half->free_text(name);
    return copy.bytes;
}

const char *cg_llvm_version(void) {
    char error[8];
    const LlvmHalf *half = llvm_half(error, sizeof error);
    return half ? half->version : "none";
}

uint32_t cg_generation(void) {
    return worker_generation();
}

void cg_test_fatal_error(void) {
    atomic_store(&provoke_next, true);
}
