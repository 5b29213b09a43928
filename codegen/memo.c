/* memo.c - the table of memo.h, and which functions of a module are looked up in it. */
#include "codegen/memo.h"
#include "codegen/opt/pass.h"
#include "codegen/target.h"
#include "frontend/base/environment.h"
#include "frontend/base/hash.h"
#include "frontend/ir/ir_text.h"
#include <pthread.h>

enum { MOST_BYTES = 16 << 20 };

/* Guarded by the lock; what the table leads to never changes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Arena store;
static Map table; /* by name_of */

/* In the child of a fork that came while another thread held the lock. Memory that was being filled is lost. */
static void after_fork(void) {
    pthread_mutex_init(&lock, NULL);
}

static void begin(void) {
    arena_init(&store, NULL);
    map_init(&table, &store);
    pthread_atfork(NULL, NULL, after_fork);
}

typedef struct Name {
    uint64_t kept;
    Hash128 options;
} Name;

static Str name_of(const Name *name) {
    return (Str){(const char *)name, sizeof *name};
}

const Memo *memo_find(uint64_t kept, Hash128 options) {
    Name name = {kept, options};
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
    const MapValue *found = map_find_str(&table, name_of(&name));
    const Memo *memo = found ? found->ptr : NULL;
    pthread_mutex_unlock(&lock);
    return memo;
}

static Str keep_str(Str text) {
    return text.bytes ? str_copy(&store, text.bytes, (size_t)text.len) : text;
}

typedef struct Keeping {
    const Memo *from;
    Memo *copy;
    Name name;
} Keeping;

static void copy_memo(void *user) {
    Keeping *k = user;
    const Memo *from = k->from;
    Memo *to = arena_copy(&store, from, sizeof *from);
    CodeSite *sites = arena_copy(&store, from->sites, sizeof *from->sites * (size_t)from->nsites);
    for (int32_t i = 0; i < from->nsites; i++) {
        sites[i].file = keep_str(sites[i].file);
        sites[i].function = keep_str(sites[i].function);
        sites[i].name = keep_str(sites[i].name);
    }
    RaiseInfo *raises =
        arena_copy(&store, from->raise_infos, sizeof *from->raise_infos * (size_t)from->nraises);
    for (int32_t i = 0; i < from->nraises; i++) {
        raises[i].class_handle = NULL; /* builtin classes are found by their names */
        raises[i].class_name = keep_str(raises[i].class_name);
        raises[i].message = keep_str(raises[i].message);
    }
    to->sites = sites;
    to->raise_infos = raises;
    to->needs = arena_copy(&store, from->needs, sizeof *from->needs * (size_t)from->nneeds);
    k->copy = to;
}

const Memo *memo_keep(const Memo *memo) {
    Keeping k = {.from = memo};
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
    ArenaMark mark = arena_mark(&store);
    bool kept = arena_size(&store) < MOST_BYTES && arena_guard(&store, copy_memo, &k);
    if (!kept) arena_release(&store, mark);
    pthread_mutex_unlock(&lock);
    return kept ? k.copy : NULL;
}

static void name_memo(void *user) {
    Keeping *k = user;
    if (map_find_str(&table, name_of(&k->name))) return;
    Name *name = arena_copy(&store, &k->name, sizeof k->name);
    map_put_str(&table, name_of(name))->ptr = (void *)k->from;
}

void memo_add(uint64_t kept, Hash128 options, const Memo *memo) {
    Keeping k = {.from = memo, .name = {kept, options}};
    pthread_mutex_lock(&lock);
    arena_guard(&store, name_memo, &k);
    pthread_mutex_unlock(&lock);
}

/* -- a module's use of it ----------------------------------------------------------------------- */

/* The function that an instruction names; NULL: none. */
static Func *named(const Inst *inst) {
    return ir_op_text[inst->op].u == U_FUNC ? inst->u.func : NULL;
}

static bool has_op(const Module *module, Op op) {
    for (int32_t f = 0; f < module->funcs.len; f++)
        for (Ref ref = 1; ref < module->funcs.items[f]->insts.len; ref++)
            if (ir_inst(module->funcs.items[f], ref)->op == op) return true;
    return false;
}

static void hash_text(Hasher *h, const char *text) {
    size_t n = text ? strlen(text) + 1 : 0;
    hash_u64(h, n);
    hash_update(h, text ? text : "", n);
}

/* All but the function itself that the passes and LLVM look at. The last: see name_accesses (llvm/cg.c). */
static Hash128 key_of(const Module *module, const CompileOptions *o) {
    const InferOptions *i = &o->infer;
    const uint64_t words[] = {i->target,
                              i->debug,
                              i->no_boundscheck,
                              i->error_numpy,
                              i->fast_division,
                              i->strong_numbers,
                              i->parallel,
                              o->entry,
                              (uint64_t)o->opt_level,
                              o->fastmath,
                              o->no_fma,
                              o->no_vector_math,
                              has_op(module, OP_field)};
    Hasher h;
    hash_init(&h);
    hash_update(&h, words, sizeof words);
    hash_text(&h, o->arch);
    hash_text(&h, o->cpu_features);
    hash_text(&h, env_value(ENV_INSTANCES));
    return hash_final(&h);
}

/* Instances are made, and nothing of the whole module but what is part of the key changes how functions are lowered. */
static bool is_wanted(const Module *module, const CompileOptions *o) {
    const char *asked = env_value(ENV_INSTANCES);
    bool host = target_is_host(o->infer.target) && !o->infer.kernel &&
                (o->entry == ENTRY_HOST || o->entry == ENTRY_UFUNC || o->entry == ENTRY_C);
    return host && !o->core && !o->keep_text && !o->closed && !has_op(module, OP_closing) &&
           !(asked && !strcmp(asked, "none"));
}

/* For tests: everything is compiled again, and memos must say what comes out (llvm/cg_memo.c). */
static bool is_checking(void) {
    const char *asked = env_value(ENV_INSTANCES);
    return asked && !strcmp(asked, "check");
}

static void look_up(MemoUse *use, Func *func) {
    const Memo *memo = func->kept ? memo_find(func->kept, use->key) : NULL;
    if (!memo) return;
    vec_push(use->module->arena, &use->held, NULL); /* memory may run out here alone */
    MadeFunc *made = arena_new(use->module->arena, MadeFunc);
    *made = (MadeFunc){memo, instance_find(memo->key)};
    vec_last(&use->held) = made->instance;
    if (made->instance) func->made = made;
}

/* Everything that `func` names, directly or not, is marked; `through`: also behind what is compiled already. */
static void mark_named(Map *seen, Func *func, bool through) {
    if (map_find(seen, map_key(func))) return;
    map_put(seen, map_key(func))->ptr = func;
    if (func->made && !through) return;
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        Func *other = named(ir_inst(func, ref));
        if (other) mark_named(seen, other, through);
    }
}

static Map compiled_here(const MemoUse *use) {
    Map seen;
    map_init(&seen, use->module->arena);
    mark_named(&seen, use->module->funcs.items[0], false);
    if (use->module->resume) mark_named(&seen, use->module->resume, false);
    return seen;
}

/* May the pass `inline` want the body? Of arrays those arguments count that may turn out to be the result of a map. */
static bool may_inline(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_call || opt_is_step(func, ref)) return true;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(func, ref, k);
        const Inst *from = ir_inst(func, arg);
        if (from->type->kind != TY_ARRAY) continue;
        bool call = from->op == OP_call && !from->u.func->made;
        if (call || from->op == OP_map || (from->op == OP_param && func->kept)) return true;
    }
    return false;
}

/* A small function that a loop of the user calls: as cg_choose_units has it. */
static bool is_in_loop(const MemoUse *use, const Func *func, Ref ref, Cfg *cfg) {
    const MadeFunc *made = ir_inst(func, ref)->u.func->made;
    if (func->kept || !made->memo->small) return false;
    if (func != use->module->funcs.items[0]) return true;
    if (!cfg->loop_of) cfg_compute(cfg, use->module->arena, func);
    return cfg->loop_of[ir_inst(func, ref)->block] >= 0;
}

/* One that is to be compiled here after all is found; NULL: there is none. */
static Func *find_wanted(const MemoUse *use, const Map *here) {
    for (int32_t i = 0; i < here->len; i++) {
        const Func *func = here->entries[i].value.ptr;
        Cfg cfg = {0};
        for (Ref ref = 1; !func->made && ref < func->insts.len; ref++) {
            Func *other = named(ir_inst(func, ref));
            if (!other || !other->made) continue;
            if (may_inline(func, ref) || is_in_loop(use, func, ref, &cfg)) return other;
        }
    }
    return NULL;
}

void memo_begin(MemoUse *use) {
    Module *module = use->module;
    use->any = is_wanted(module, use->options);
    if (!use->any) return;
    use->key = key_of(module, use->options);
    if (is_checking()) return;
    for (int32_t i = 1; i < module->funcs.len; i++)
        if (module->funcs.items[i] != module->resume) look_up(use, module->funcs.items[i]);
    if (!use->held.len) return;
    Map here = compiled_here(use);
    for (Func *wanted; (wanted = find_wanted(use, &here)); here = compiled_here(use))
        wanted->made = NULL;
    for (int32_t i = 0; i < module->funcs.len; i++) {
        Func *func = module->funcs.items[i];
        bool is_here = map_find(&here, map_key(func)) != NULL;
        func->skipped = func->made || !is_here;
        if (!is_here) func->made = NULL;
    }
}

bool memo_settle(MemoUse *use) {
    Module *module = use->module;
    Map cold;
    map_init(&cold, module->arena);
    for (int32_t i = 0; use->held.len && i < module->funcs.len; i++)
        if (opt_is_outlined(module->funcs.items[i]))
            mark_named(&cold, module->funcs.items[i], true);
    bool *before = arena_array(module->arena, bool, module->funcs.len), any = false;
    for (int32_t i = 0; i < module->funcs.len; i++) {
        Func *func = module->funcs.items[i];
        bool again = func->skipped && map_find(&cold, map_key(func));
        before[i] = func->skipped && !again;
        func->skipped = !again;
        if (again) func->made = NULL;
        any |= again;
    }
    int32_t n = module->funcs.len;
    bool ok = !any || opt_run(module, use->options, NULL, NULL);
    for (int32_t i = 0; i < n; i++)
        module->funcs.items[i]->skipped = before[i];
    return ok;
}

void memo_end(MemoUse *use) {
    for (int32_t i = 0; i < use->held.len; i++)
        if (use->held.items[i]) instance_release(use->held.items[i]);
    use->held.len = 0;
}
