/* session.c - one job of the code-generation worker: lower, admit, optimise, emit, and fill in what the
 * artifact needs to know of it. */
#include "codegen/llvm/cg.h"
#include "codegen/lower.h"
#include "frontend/base/os.h"
#include <stdlib.h>

static void keep_sites(Artifact *artifact, const Cg *cg) {
    Arena *arena = &artifact->arena;
    CodeSite *sites = arena_array(arena, CodeSite, cg->sites.len + 1);
    for (int32_t i = 0; i < cg->sites.len; i++) {
        sites[i] = cg->sites.items[i];
        sites[i].file = lower_keep(artifact, sites[i].file);
        sites[i].function = lower_keep(artifact, sites[i].function);
        sites[i].name = lower_keep(artifact, sites[i].name);
    }
    RaiseInfo *raises = arena_array(arena, RaiseInfo, cg->raise_infos.len + 1);
    for (int32_t i = 0; i < cg->raise_infos.len; i++) {
        raises[i] = cg->raise_infos.items[i];
        raises[i].class_name = lower_keep(artifact, raises[i].class_name);
        raises[i].message = lower_keep(artifact, raises[i].message);
    }
    artifact->sites = sites, artifact->nsites = cg->sites.len;
    artifact->raises = raises, artifact->nraises = cg->raise_infos.len;
    Str *prints = arena_array(arena, Str, cg->prints.len + 1);
    for (int32_t i = 0; i < cg->prints.len; i++)
        prints[i] = str_copy(arena, cg->prints.items[i].bytes, (size_t)cg->prints.items[i].len);
    artifact->prints = prints, artifact->nprints = cg->prints.len;
}

static void finish(Artifact *artifact, const Cg *cg, int64_t ns) {
    keep_sites(artifact, cg);
    artifact->entry_name = lower_keep(artifact, str_from(cg->entry_name));
    artifact->nkernel_params = cg->kernel_params.len;
    artifact->kernel_params = arena_copy(&artifact->arena, cg->kernel_params.items,
                                         sizeof(KernelParam) * (size_t)cg->kernel_params.len);
    CodeAddress *addresses = arena_copy(&artifact->arena, cg->addresses.items,
                                        sizeof(CodeAddress) * (size_t)cg->addresses.len);
    for (int32_t i = 0; i < cg->addresses.len; i++)
        addresses[i].text = lower_keep(artifact, addresses[i].text);
    artifact->addresses = addresses;
    artifact->naddresses = cg->addresses.len;
    artifact->param_bytes = cg->param_bytes;
    artifact->shared_bytes = cg->shared_bytes;
    artifact->static_shared = cg->static_shared;
    artifact->local_bytes = cg->local_bytes;
    artifact->const_bytes = cg->const_bytes;
    artifact->sanitize = cg->options->sanitize;
    artifact->uses_dynamic_shared = cg->uses_dynamic_shared;
    artifact->uses_barriers = cg->uses_barriers;
    artifact->cooperative = cg->cooperative;
    artifact->text_llvm = lower_keep(artifact, cg->text_llvm);
    artifact->text_asm = lower_keep(artifact, cg->text_asm);
    artifact->ns_link = cg->ns_link;
    artifact->ns_llvm = ns - cg->ns_link;
}

/* What LLVM has left of the code raises nothing, asks for no turn and calls nobody who may: all of that goes through the context. */
static bool is_alone(const Cg *cg) {
    return cg->options->entry == ENTRY_HOST && cg->entry_fn &&
           !LLVMGetFirstUse(LLVMGetParam(cg->entry_fn, 0));
}

/* The entries of kernels have no room for results. */
static bool check_entry(Cg *cg) {
    if (cg->options->entry == ENTRY_KERNEL && cg->sigs[0].nresult)
        return cg_error(cg, "a kernel that returns a value");
    return true;
}

static bool compile(Cg *cg, LlvmState *llvm, LowerJob *job) {
    if (!cg_open(cg, llvm, job->arena, job->diags, job->options, job->module)) return false;
    cg->usage = job->array_usage;
    cg->claim = &job->claim;
    cg->files = job->files;
    cg->memo_key = job->memo_key;
    const Target *target = cg->target;
    if (!cg_functions(cg) || !check_entry(cg) || !target->entry(cg) || !cg_lazy_module(cg))
        return false;
    cg_lines_finish(cg);
    if (!cg_admit(cg) || !target->link(cg)) return false;
    if (!cg_optimise(cg)) return false;
    if (cg->options->keep_text) cg->text_llvm = cg_print(cg);
    job->artifact->alone = is_alone(cg);
    return target->emit(cg, job->artifact) && !cg->failed;
}

/* LLVM prints "out of memory" and ends the process. The figures are above what large functions were seen to take. */
enum { LEAST_ROOM = 16 << 20, ROOM_FOR_INST = 6 << 10 };

static _Atomic size_t promised; /* to the jobs at work */

size_t cg_take_room(size_t instructions) {
    size_t wanted = LEAST_ROOM + instructions * ROOM_FOR_INST;
    if (os_has_memory(atomic_fetch_add(&promised, wanted) + wanted)) return wanted;
    atomic_fetch_sub(&promised, wanted);
    return 0;
}

void cg_give_room(size_t room) {
    atomic_fetch_sub(&promised, room);
}

static size_t take_room(const Module *module) {
    size_t instructions = 0;
    for (int32_t i = 0; i < module->funcs.len; i++)
        instructions += (size_t)module->funcs.items[i]->insts.len;
    return cg_take_room(instructions);
}

void lower_run(LlvmState *llvm, void *user) {
    LowerJob *job = user;
    int64_t start = os_now_ns();
    jmp_buf out_of_memory;
    /* not on this stack: a fatal error of LLVM leaves this frame for ever, and memory running out jumps
     * back into it */
    size_t room = llvm ? take_room(job->module) : 0;
    Cg *cg = room ? calloc(1, sizeof *cg) : NULL;
    job->no_memory = !cg;
    if (!cg) {
        cg_give_room(room);
        return;
    }
    job->arena->on_failure = job->artifact->arena.on_failure = &out_of_memory;
    if (setjmp(out_of_memory)) {
        job->no_memory = true;
        job->ok = false;
    } else {
        cg_heap_enter(llvm);
        if (job->provoke) llvm_provoke();
        job->ok = compile(cg, llvm, job);
        if (job->ok)
            finish(job->artifact, cg, os_now_ns() - start);
        else
            cg_report(cg);
    }
    if (job->claim) instance_failed(job->claim);
    job->claim = NULL;
    cg_close(cg);
    cg_heap_leave();
    free(cg);
    cg_give_room(room);
}
