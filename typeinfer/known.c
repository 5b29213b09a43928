/* known.c - the table of what is known.h. Nothing in it is ever changed or dropped; when it is full, nothing is added. */
#include "typeinfer/known.h"
#include "frontend/base/environment.h"
#include <pthread.h>

enum { MOST_BYTES = 64 << 20, MOST_LEVEL = 32 };

struct Known {
    const KeptFuncs *funcs; /* NULL: they cannot be kept, which need not be tried again */
    Str result;
    const ConstVal *value; /* NULL: the result is not known */
    bool endless;
};

/* Guarded by the lock; what the table leads to may be read without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Arena store;
static Map table; /* by key */

/* In the child of a fork that came while another thread held the lock. Memory that was being filled is lost. */
static void after_fork(void) {
    pthread_mutex_init(&lock, NULL);
}

static void begin(void) {
    arena_init(&store, NULL);
    map_init(&table, &store);
    pthread_atfork(NULL, NULL, after_fork);
}

static const Known *find(Str key) {
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
    const MapValue *found = map_find_str(&table, key);
    const Known *known = found ? found->ptr : NULL;
    pthread_mutex_unlock(&lock);
    return known;
}

/* -- keys ------------------------------------------------------------------------------------------- */

static bool is_of_library(const Ti *ti, Str file) {
    Str folder = ti->resolver->library_folder;
    return folder.len && file.len > folder.len &&
           !memcmp(file.bytes, folder.bytes, (size_t)folder.len);
}

static bool put_type(Infer *in, StrBuf *key, const Type *type) {
    Str text = ir_keep_type(in->arena, in->types, type);
    buf_printf(key, STR_FMT ";", STR_ARG(text));
    return text.len > 0;
}

static void put_text(StrBuf *key, char what, Str text) {
    buf_printf(key, "%c%d:" STR_FMT, what, (int)text.len, STR_ARG(text));
}

/* Something known by name. What a handle stands for may change. */
static bool put_object(Infer *in, StrBuf *key, const Binding *b) {
    if (b->kind == BIND_CONST && b->value && b->value->kind == CONST_STR)
        return put_text(key, 's', b->value->str), true;
    if (b->kind == BIND_LIBRARY) return put_text(key, 'l', b->name), true;
    if (b->kind != BIND_TYPE || !b->type) return false;
    put_text(key, 't', b->name);
    return put_type(in, key, b->type);
}

static bool put_value(StrBuf *key, const ConstVal *v) {
    if (v->kind > CONST_COMPLEX) return false;
    uint64_t bits[2];
    memcpy(&bits[0], &v->re, sizeof bits[0]);
    memcpy(&bits[1], &v->im, sizeof bits[1]);
    buf_printf(key, "=%d,%d,%lld,%llx,%llx;", (int)v->kind, v->is_unsigned, (long long)v->i,
               (unsigned long long)bits[0], (unsigned long long)bits[1]);
    if (v->kind == CONST_BIGINT) put_text(key, 'b', v->str);
    return true;
}

static bool put_fact(Infer *in, StrBuf *key, const Fact *f) {
    if (!f->type || f->array || f->unbound || f->conflict || f->reported || f->type->open ||
        f->type->assumed)
        return false;
    const Binding *object = fact_object(f);
    if (object) return put_object(in, key, object);
    if (!put_type(in, key, f->type)) return false;
    buf_printf(key, "%d", f->python);
    if (f->items && f->type->kind != TY_TUPLE) return false;
    for (int32_t i = 0; f->items && i < f->type->nitems; i++)
        if (!put_fact(in, key, &f->items[i])) return false;
    return !f->value || put_value(key, f->value);
}

static void put_options(const Ti *ti, const FunctionInfo *info, StrBuf *key) {
    const InferOptions *o = &ti->options;
    const bool all[] = {
        o->no_boundscheck,  o->error_numpy,    o->fast_division,  o->strong_numbers, o->parallel,
        info->weak_numbers, info->boundscheck, info->error_numpy, info->parallel,    o->debug};
    for (size_t i = 0; i < countof(all); i++)
        buf_printf(key, "%d", all[i]);
    if (info->own_math) buf_printf(key, "m%u", (unsigned)info->fastmath);
    buf_printf(key, ",%lld;", (long long)ti->resolver->noverloads);
}

static bool makes_key(Infer *in, const Instance *callee, StrBuf *key) {
    const CodeUnit *code = callee->info->code;
    if (!callee->function->handle || callee->declared || !is_of_library(in->ti, code->file))
        return false;
    if (instance_is_generator(callee)) return false;
    for (int32_t k = 0; k < code->nlocals; k++)
        if (code->local_kinds[k] & LOCAL_FREE) return false;
    /* code of the library lives as long as the process */
    buf_printf(key, "%p" STR_FMT ":%d" STR_FMT ";", code->handle, STR_ARG(code->file),
               (int)code->first_line, STR_ARG(code->qualname));
    put_options(in->ti, callee->info, key);
    for (int32_t i = 0; i < callee->nslots; i++) {
        buf_printf(key, "%d", (int)callee->slots[i].count);
        if (!put_fact(in, key, &callee->slots[i].fact)) return false;
    }
    return true;
}

/* Are calls from `in` looked up at all? The library's own are part of what its callers keep. */
static bool is_asked(const Infer *in) {
    const Ti *ti = in->ti;
    const char *instances = env_value(ENV_INSTANCES);
    return !ti->without_known && !ti->all && target_is_host(ti->options.target) &&
           !ti->options.kernel && !is_of_library(ti, in->inst->info->code->file) &&
           !(instances && !strcmp(instances, "none"));
}

bool known_settle(Infer *in, Instance *callee) {
    StrBuf text;
    if (callee->key.len || !is_asked(in)) return false;
    buf_init(&text, in->arena);
    if (!makes_key(in, callee, &text)) return false;
    callee->key = buf_take(&text);
    const Known *known = find(callee->key);
    if (!known || !known->funcs) return callee->forgone = known != NULL, false;
    const char *at = known->result.bytes;
    callee->result = fact_of(type_parse(in->types, &at));
    callee->result.value = known->value;
    callee->endless = known->endless;
    callee->known = known;
    callee->state = INST_DONE;
    return true;
}

/* -- typed functions ---------------------------------------------------------------------------------- */

static Str new_name(void *user, Str name) {
    return ti_unique_name(user, name);
}

Func *known_typed(Ti *ti, Instance *inst) {
    int32_t first = ti->module->funcs.len;
    inst->typed = ir_take_kept(ti->module, inst->known->funcs, new_name, ti);
    for (int32_t i = first; i < ti->module->funcs.len; i++)
        map_put(&ti->taken, map_key(ti->module->funcs.items[i]))->num = 1;
    return inst->typed;
}

void known_give_up(Ti *ti) {
    ti->again |= !ti->without_known;
    ti->without_known = true;
}

/* -- keeping ------------------------------------------------------------------------------------------ */

typedef struct Keeping {
    Ti *ti;
    Map instances; /* by typed function */
    const Instance *inst;
    Known made;
} Keeping;

/* Of the library, and without anything that its first caller alone was told of. */
static bool may_keep(void *user, const Func *func) {
    Keeping *k = user;
    if (map_find(&k->ti->taken, map_key(func))) return true;
    MapValue *found = map_find(&k->instances, map_key(func));
    const Instance *inst = found ? found->ptr : NULL;
    if (!inst || inst->failed || inst->maker || inst->diags.items.len || inst->level > MOST_LEVEL)
        return false;
    return !inst->function->handle || is_of_library(k->ti, inst->info->code->file);
}

/* Of an item: does its type say all? */
static bool is_plain(const Fact *f, const Type *type) {
    bool more = f->value || f->array || f->unbound || f->conflict || f->reported || f->python;
    if (more || f->type != type || fact_object(f)) return false;
    for (int32_t i = 0; f->items && i < type->nitems; i++)
        if (!is_plain(&f->items[i], type->items[i])) return false;
    return !f->items || type->kind == TY_TUPLE;
}

static bool keep_result(Keeping *k) {
    const Fact *f = &k->inst->result;
    if (!f->type || f->array || f->unbound || f->conflict || f->reported || f->python) return false;
    if (f->items && !is_plain(f, f->type)) return false;
    k->made.result = ir_keep_type(&store, k->ti->types, f->type);
    if (f->value) k->made.value = ir_keep_const(&store, f->value);
    k->made.endless = k->inst->endless;
    return k->made.result.len > 0 && (!f->value || k->made.value);
}

static void keep_body(void *user) {
    Keeping *k = user;
    ArenaMark mark = arena_mark(&store);
    k->made.funcs = keep_result(k) ? ir_keep(&store, k->inst->typed, may_keep, k) : NULL;
    if (!k->made.funcs) arena_release(&store, mark);
    if (!k->made.funcs) k->made.result = (Str){0}, k->made.value = NULL;
    Known *known = arena_new(&store, Known);
    *known = k->made;
    Str key = str_copy(&store, k->inst->key.bytes, (size_t)k->inst->key.len);
    map_put_str(&table, key)->ptr = known;
}

/* Under the lock: memory of the module that runs out meanwhile would leave it locked, so that ends here, too. */
static void keep_guarded(void *user) {
    arena_guard(&store, keep_body, user);
}

static void keep(Keeping *k, const Instance *inst) {
    if (find(inst->key)) return;
    k->inst = inst;
    k->made = (Known){0};
    pthread_mutex_lock(&lock);
    if (arena_size(&store) < MOST_BYTES) arena_guard(k->ti->arena, keep_guarded, k);
    pthread_mutex_unlock(&lock);
}

void known_keep_all(Ti *ti) {
    Keeping k = {.ti = ti};
    bool any = false;
    for (int32_t i = 0; i < ti->instances.len; i++) {
        const Instance *inst = ti->instances.items[i];
        any |= inst->key.len && !inst->known && !inst->forgone && inst->typed;
    }
    if (!any || ti->closes || ti->throws || ti->exact.len) return;
    map_init(&k.instances, ti->arena);
    for (int32_t i = 0; i < ti->instances.len; i++)
        if (ti->instances.items[i]->typed)
            map_put(&k.instances, map_key(ti->instances.items[i]->typed))->ptr =
                ti->instances.items[i];
    for (int32_t i = 0; i < ti->instances.len; i++) {
        const Instance *inst = ti->instances.items[i];
        if (inst->key.len && !inst->known && !inst->forgone && inst->typed) keep(&k, inst);
    }
}
