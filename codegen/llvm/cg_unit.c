/* cg_unit.c - instances: functions that are modules of their own, compiled once in a process (instances.h).
 *
 * Whoever calls such a function lowers it, which takes little time, and hashes the module that LLVM would get, with all
 * else that reaches its machine code: that is the key. Only where no instance has it does LLVM begin to work. So nothing has
 * to be known of what a function depends on.
 *
 * A module of this kind has the function, the root, with what it calls and is no instance itself, and its own lazy
 * functions. It has no numbers of the artifact (cg_numbered), and nothing of the user's by address: a function with
 * such a thing is lowered with its caller after all (is_private). */
#include "codegen/instance_files.h"
#include "codegen/llvm/cg.h"
#include "frontend/base/environment.h"
#include "codegen/objects.h"
#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>

/* -- which -------------------------------------------------------------------------------------- */

/* Instructions of ours, from which on a function is an instance: its own where it has a loop, else with all that belongs
 * to its module. Smaller functions are left to LLVM, which may write them into their callers: in functions of the user
 * more hangs on the loops round the call, what the library calls inside is seldom called from elsewhere. What a program
 * asks the library for is compiled with each caller only where it is little more than the call, or where a loop calls it and it
 * has none itself: the call may take as long as the work then. Steps on containers stand
 * in the program's loops (a call more doubles the time that a set takes for a number), but not what such a step seldom
 * comes to: tables that grow, sorting. */
static const struct Least {
    int32_t loop, all;
} least_of_library = {20, 40}, least_in_loops = {20, 200}, least_inside = {150, 200},
  least_of_containers = {200, 600}, least_inside_containers = {60, 200}, least_of_user = {100, 250};

enum { MOST_SIZE = 1 << 20 };

static bool has_loop(Cg *cg, const Func *func) {
    Cfg cfg;
    cfg_compute(&cfg, cg->arena, func);
    for (int32_t b = 0; b < func->blocks.len; b++) {
        int32_t next[3], n = cfg.rpo_number[b] < 0 ? 0 : ir_successors(func, b, next);
        for (int32_t k = 0; k < n; k++)
            if (cfg.rpo_number[next[k]] <= cfg.rpo_number[b]) return true;
    }
    return false;
}

static int32_t size_of(const Func *func) {
    int32_t size = 0;
    for (int32_t b = 0; b < func->blocks.len; b++)
        size += func->blocks.items[b].removed ? 0 : func->blocks.items[b].insts.len;
    return size;
}

/* Parallel loops, and generators that are closed: their bodies are called by the runtime, from functions that have no parameter for
 * the bases. */
static bool runs_parallel(Cg *cg, CgSig *sig) {
    bool found = sig->parallel;
    for (Ref r = 1; r < sig->ir->insts.len; r++) {
        const Inst *inst = ir_inst(sig->ir, r);
        bool loop = inst->op == OP_parallel || inst->op == OP_closing;
        CgSig *callee = loop || inst->op == OP_call ? cg_sig(cg, inst->u.func) : NULL;
        if (callee && loop) callee->body = true;
        found |= loop || (callee && callee->parallel);
    }
    bool changed = found != sig->parallel;
    sig->parallel = found;
    return changed;
}

static void find_parallel(Cg *cg) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < cg->ir->funcs.len; i++)
            changed |= runs_parallel(cg, &cg->sigs[i]);
    }
}

/* What the option asks for: "all", every function that can be; "none"; else those that are worth it. A hidden one, for tests. */
static const char *asked_for(void) {
    const char *asked = env_value(ENV_INSTANCES);
    return asked ? asked : "";
}

static bool can_be(const Cg *cg, const CgSig *sig) {
    return sig != cg->sigs && sig->ir != cg->ir->resume && !sig->lazy && !sig->parallel &&
           !sig->body && !sig->mutual && !sig->ir->part;
}

static bool is_of_library(const Func *func) {
    return func->file.bytes && strstr(func->file.bytes, "/quern/library/");
}

static bool is_of_containers(const Func *func) {
    static const char *const files[] = {"/tables.py", "/dicts.py", "/sets.py", "/lists.py"};
    for (int i = 0; func->file.bytes && i < countof(files); i++)
        if (strstr(func->file.bytes, files[i])) return true;
    return false;
}

/* Where a loop of the program calls it. */
static const struct Least *least_in_loop(const CgSig *sig) {
    return is_of_containers(sig->ir) ? &least_of_containers : &least_in_loops;
}

static const struct Least *least_of(const CgSig *sig) {
    if (!is_of_library(sig->ir)) return &least_of_user;
    if (sig->in_loop) return least_in_loop(sig);
    if (sig->asked_for) return &least_of_library;
    return is_of_containers(sig->ir) ? &least_inside_containers : &least_inside;
}

/* What a program asks the library for is one where it calls one, too: the work is done there. */
static bool is_large(Cg *cg, const CgSig *sig) {
    const struct Least *least = least_of(sig);
    return sig->size >= least->all || (least == &least_of_library && sig->has_units) ||
           (size_of(sig->ir) >= least->loop && has_loop(cg, sig->ir));
}

/* What the entry calls may stand in a loop itself. */
static void ask_for(Cg *cg, const Func *func) {
    Cfg cfg = {0};
    for (Ref r = 1; r < func->insts.len; r++) {
        const Inst *inst = ir_inst(func, r);
        CgSig *callee = inst->op == OP_call ? cg_sig(cg, inst->u.func) : NULL;
        if (!callee) continue;
        if (!cfg.loop_of) cfg_compute(&cfg, cg->arena, func);
        callee->asked_for = true;
        callee->in_loop |= func != cg->ir->funcs.items[0] || cfg.loop_of[inst->block] >= 0;
    }
}

/* What functions of the user call. */
static void find_asked_for(Cg *cg) {
    for (int32_t i = 0; i < cg->ir->funcs.len; i++)
        if (!is_of_library(cg->ir->funcs.items[i])) ask_for(cg, cg->ir->funcs.items[i]);
}

/* As is_large has it where a loop calls. */
bool cg_is_small_unit(Cg *cg, const CgSig *sig) {
    const struct Least *least = least_in_loop(sig);
    return sig->size < least->all && !(size_of(sig->ir) >= least->loop && has_loop(cg, sig->ir));
}

/* Callees first: what is an instance counts for nothing in its callers. */
static void choose(Cg *cg, CgSig *sig, bool all) {
    if (sig->size) return;
    if (sig->made) {
        sig->unit = true;
        sig->size = 1;
        cg->nunits++;
        return;
    }
    sig->size = size_of(sig->ir);
    for (Ref r = 1; r < sig->ir->insts.len; r++) {
        const Inst *inst = ir_inst(sig->ir, r);
        bool calls = cg_refers(inst);
        CgSig *callee = calls ? cg_sig(cg, inst->u.func) : NULL;
        if (!callee) continue;
        choose(cg, callee, all);
        sig->has_units |= callee->unit || (callee->has_units && !callee->lazy);
        if (!callee->unit && !callee->lazy) sig->size = QN_MIN(sig->size + callee->size, MOST_SIZE);
    }
    sig->unit = can_be(cg, sig) && (all || is_large(cg, sig));
    cg->nunits += sig->unit;
}

void cg_choose_units(Cg *cg) {
    EntryKind entry = cg->options->entry;
    const char *asked = asked_for();
    if (!cg->target->is_host || entry == ENTRY_KERNEL || entry == ENTRY_DEVICE) return;
    if (cg->options->keep_text || cg->options->closed || strcmp(asked, "none") == 0) return;
    find_parallel(cg);
    find_asked_for(cg);
    for (int32_t i = 0; i < cg->ir->funcs.len; i++)
        if (cg->sigs[i].reachable) choose(cg, &cg->sigs[i], strcmp(asked, "all") == 0);
}

/* -- calls -------------------------------------------------------------------------------------- */

/* Is it another module that a call of `sig` goes to? */
static bool is_outside(const Cg *cg, const CgSig *sig) {
    return sig->unit && !cg->in_lazy && sig != cg->root;
}

static int32_t number_of(Cg *cg, const CgSig *sig) {
    for (int32_t k = 0; k < cg->needs.len; k++)
        if (cg->needs.items[k] == sig) return k;
    vec_push(cg->arena, &cg->needs, &cg->sigs[sig - cg->sigs]);
    return cg->needs.len - 1;
}

/* LLVM's number of an attribute that is true of a function wherever it is called. */
static unsigned kind_of(uint32_t fact) {
    static const char *const names[INSTANCE_FACTS] = {"memory", "nofree", "nosync", "willreturn",
                                                      "mustprogress"};
    return LLVMGetEnumAttributeKindForName(names[fact], strlen(names[fact]));
}

Value cg_callee(Cg *cg, const CgSig *sig) {
    if (!is_outside(cg, sig)) return sig->fn;
    char name[48];
    snprintf(name, sizeof name, HOST_INSTANCE_PREFIX "%d", (int)number_of(cg, sig));
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    if (fn) return fn;
    fn = LLVMAddFunction(cg->mod, name, sig->type);
    cg_declared(cg, sig, fn);
    const InstanceParts *parts = instance_parts(sig->instance);
    for (int32_t i = 0; i < parts->nfacts; i++) {
        const InstanceFact *fact = &parts->facts[i];
        LLVMAddAttributeAtIndex(
            fn, LLVMAttributeFunctionIndex,
            LLVMCreateEnumAttribute(cg->context, kind_of(fact->attribute), fact->value));
    }
    return fn;
}

/* The constant in the main module; those of the instances that it calls in turn may be shared. */
static Value record(Cg *cg, CgSig *sig) {
    if (sig->made) return cg_memo_record(cg, sig->made->memo);
    if (sig->record) return sig->record;
    int32_t n = sig->needs.len;
    Value *below = arena_array(cg->arena, Value, n + 1);
    for (int32_t k = 0; k < n; k++)
        below[k] = sig->needs.items[k]->raises ? record(cg, sig->needs.items[k])
                                               : LLVMConstNull(cg->ptr[0]);
    return sig->record = cg_bases_record(cg, sig->first, below, n);
}

Value cg_bases_record(Cg *cg, const int32_t first[2], const Value *below, int32_t n) {
    LType *types = arena_array(cg->arena, LType, n + 2);
    Value *values = arena_array(cg->arena, Value, n + 2);
    for (int k = 0; k < 2; k++) {
        types[k] = cg->i32;
        values[k] = cg_int(cg->i32, first[k]);
    }
    for (int32_t k = 0; k < n; k++) {
        types[k + 2] = cg->ptr[0];
        values[k + 2] = below[k];
    }
    LType type = LLVMStructTypeInContext(cg->context, types, (unsigned)n + 2, false);
    Value record = LLVMAddGlobal(cg->mod, type, "quern.bases");
    LLVMSetInitializer(record,
                       LLVMConstStructInContext(cg->context, values, (unsigned)n + 2, false));
    LLVMSetLinkage(record, LLVMInternalLinkage);
    LLVMSetGlobalConstant(record, true);
    return record;
}

/* A field of what the parameter `bases` points to. */
static Value load_base(Cg *cg, LType type, int64_t offset) {
    Value at = cg_int(cg->i64, offset);
    Value address = LLVMBuildInBoundsGEP2(cg->b, cg->i8, cg->f->bases, &at, 1, "");
    return LLVMBuildLoad2(cg->b, type, address, "");
}

Value cg_bases(Cg *cg, const CgSig *sig) {
    if (!is_outside(cg, sig))
        return cg->f && cg->f->bases ? cg->f->bases : LLVMConstNull(cg->ptr[0]);
    if (!cg->root) return record(cg, &cg->sigs[sig - cg->sigs]);
    return load_base(cg, cg->ptr[0], 8 + 8 * (int64_t)number_of(cg, sig));
}

Value cg_numbered(Cg *cg, NumberKind kind, int32_t number) {
    if (!cg->root) return cg_int(cg->i32, number);
    Value first = load_base(cg, cg->i32, 4 * (int64_t)kind);
    return LLVMBuildAdd(cg->b, first, cg_int(cg->i32, number - cg->root->first[kind]), "");
}

Instance **cg_instances(Cg *cg) {
    Instance **all = arena_array(cg->arena, Instance *, cg->needs.len + 1);
    for (int32_t k = 0; k < cg->needs.len; k++)
        all[k] = cg->needs.items[k]->instance;
    return all;
}

/* -- keys --------------------------------------------------------------------------------------- */

static void hash_text(Hasher *h, const char *text) {
    size_t n = text ? strlen(text) : 0;
    hash_u64(h, n);
    hash_update(h, text ? text : "", n);
}

static void hash_buffer(Hasher *h, LLVMMemoryBufferRef buffer) {
    hash_u64(h, buffer ? LLVMGetBufferSize(buffer) : 0);
    if (buffer) hash_update(h, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
}

static void hash_address(Hasher *h, const CodeAddress *address) {
    hash_u64(h, address->kind);
    if (address->kind != ADDRESS_CELLS) {
        hash_u64(h, (uint64_t)address->text.len);
        hash_update(h, address->text.bytes, (size_t)address->text.len);
        return;
    }
    const CellLayout *cells = address->address;
    hash_u64(h, (uint64_t)cells->first);
    hash_u64(h, (uint64_t)cells->size);
    hash_u64(h, (uint64_t)cells->n);
    hash_update(h, cells->offsets, sizeof *cells->offsets * (size_t)cells->n);
}

static Hash128 key_of(Cg *cg) {
    Hasher h;
    hash_init(&h);
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(cg->mod);
    hash_buffer(&h, bitcode);
    LLVMDisposeMemoryBuffer(bitcode);
    hash_buffer(&h, cg->lazy_bitcode);
    hash_text(&h, cg_pipeline(cg));
    hash_text(&h, cg->machine_key);
    hash_u64(&h, (uint64_t)cg->options->opt_level);
    for (int32_t i = 0; i < cg->addresses.len; i++)
        hash_address(&h, &cg->addresses.items[i]);
    for (int32_t i = 0; i < cg->needs.len; i++) {
        Hash128 key = instance_key(cg->needs.items[i]->instance);
        hash_update(&h, &key, sizeof key);
    }
    return hash_final(&h);
}

/* -- making one --------------------------------------------------------------------------------- */

static int32_t find_facts(Value fn, InstanceFact *facts) {
    int32_t n = 0;
    for (uint32_t i = 0; i < INSTANCE_FACTS; i++) {
        LLVMAttributeRef found =
            LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind_of(i));
        if (found) facts[n++] = (InstanceFact){i, LLVMGetEnumAttributeValue(found)};
    }
    return n;
}

static bool compile(Cg *cg, Instance *instance) {
    if (!cg_admit(cg) || !cg_optimise(cg)) return false;
    InstanceParts parts = {.symbol = cg_entry_name(cg),
                           .naddresses = cg->addresses.len,
                           .addresses = cg->addresses.items,
                           .nneeds = cg->needs.len,
                           .needs = cg_instances(cg)};
    parts.nfacts = find_facts(LLVMGetNamedFunction(cg->mod, parts.symbol), parts.facts);
    LazyCode *lazy = cg->lazy_bitcode ? cg_lazy_code(cg) : NULL;
    if (cg->lazy_bitcode && !lazy) return cg_error(cg, "out of memory");
    HostObject object = {.symbol = parts.symbol,
                         .naddresses = parts.naddresses,
                         .addresses = parts.addresses,
                         .lazy = lazy,
                         .ninstances = parts.nneeds,
                         .instances = parts.needs};
    void *address;
    HostCode *code = cg_load_host(cg, object, &address, NULL);
    if (!code) return false;
    parts.object = LLVMGetBufferStart(cg->code);
    parts.size = LLVMGetBufferSize(cg->code);
    if (instance_made(instance, code, address, &parts)) return true;
    host_code_drop(code);
    return cg_error(cg, "out of memory");
}

/* Where that fails it is still claimed: lower_run gives it up. */
static bool make(Cg *cg, Instance *instance) {
    *cg->claim = instance;
    bool there = cg->files && instance_files_find(cg->files, cg->arena, instance, cg_instances(cg),
                                                  cg->needs.len);
    if (!there && !compile(cg, instance)) return false;
    *cg->claim = NULL;
    return true;
}

static bool find_or_make(Cg *cg, CgSig *sig) {
    bool missing;
    vec_push(cg->arena, &cg->held, NULL);
    Instance *instance = instance_get(key_of(cg), &missing);
    if (!instance) return cg_error(cg, "out of memory");
    if (missing && !make(cg, instance)) return false;
    sig->instance = vec_last(&cg->held) = instance;
    return true;
}

/* What belongs to one module, empty. */
static void open_module(Cg *cg, CgSig *root) {
    cg->root = root;
    cg->is_private = false;
    cg->needs = (CgSigs){0};
    cg->addresses.items = NULL;
    cg->addresses.len = cg->addresses.cap = 0;
    cg->vector_functions.len = 0;
    map_init(&cg->frozen, cg->arena);
    cg_find_sides(cg);
}

static void close_module(Cg *cg, LLVMModuleRef main) {
    if (cg->code) LLVMDisposeMemoryBuffer(cg->code);
    if (cg->lazy_bitcode) LLVMDisposeMemoryBuffer(cg->lazy_bitcode);
    cg->code = cg->lazy_bitcode = NULL;
    LLVMDisposeModule(cg->mod);
    cg->mod = main;
}

static bool unit(Cg *cg, CgSig *sig) {
    LLVMModuleRef main = cg->mod;
    sig->first[NUMBER_SITE] = cg->sites.len;
    sig->first[NUMBER_RAISE] = cg->raise_infos.len;
    open_module(cg, sig);
    cg->mod = LLVMModuleCreateWithNameInContext("quern instance", cg->context);
    LLVMSetModuleDataLayout(cg->mod, cg->layout);
    LLVMSetTarget(cg->mod, LLVMGetTarget(main));
    bool ok = cg_lower_bodies(cg, false);
    if (ok) cg_keep_variants(cg); /* before the next module has its own */
    ok = ok && cg_lazy_module(cg);
    sig->needs = cg->needs;
    sig->count[NUMBER_SITE] = cg->sites.len - sig->first[NUMBER_SITE];
    sig->count[NUMBER_RAISE] = cg->raise_infos.len - sig->first[NUMBER_RAISE];
    if (ok && cg->is_private)
        sig->unit = false;
    else if (ok)
        ok = find_or_make(cg, sig);
    close_module(cg, main);
    return ok;
}

/* Callees first. Lazy functions call no instances. */
static bool units_below(Cg *cg, int32_t i, Bits *seen) {
    CgSig *sig = &cg->sigs[i];
    bool ok = true;
    if (bits_get(seen, i) || sig->lazy || sig->made) return true;
    bits_set(seen, i);
    for (Ref r = 1; ok && r < sig->ir->insts.len; r++) {
        const Inst *inst = ir_inst(sig->ir, r);
        bool calls = cg_refers(inst);
        CgSig *callee = calls ? cg_sig(cg, inst->u.func) : NULL;
        if (callee) ok = units_below(cg, (int32_t)(callee - cg->sigs), seen);
    }
    return ok && (!sig->unit || unit(cg, sig));
}

bool cg_units(Cg *cg) {
    Bits seen = bits_new(cg->arena, cg->ir->funcs.len);
    bool ok = !cg->nunits || units_below(cg, 0, &seen);
    if (ok && cg->nunits && cg->ir->resume)
        ok = units_below(cg, (int32_t)(cg_sig(cg, cg->ir->resume) - cg->sigs), &seen);
    open_module(cg, NULL);
    return ok && cg_remember(cg);
}
