/* store.c - see store.h. Numbers are written in groups of seven bits, the lowest first. */
#include "codegen/store.h"
#include "codegen/host_code.h"
#include "codegen/objects.h"
#include "codegen/sanitize.h"
#include "codegen/strings.h"
#include "codegen/support.h"
#include <stdio.h>
#include <stdlib.h>

/* -- values ------------------------------------------------------------------------------------ */

void code_fail(Codec *c, const char *why) {
    if (!c->why) c->why = why;
    c->at = c->end;
}

static void put_u64(StrBuf *out, uint64_t n) {
    for (; n >= 0x80; n >>= 7)
        buf_char(out, (char)(n | 0x80));
    buf_char(out, (char)n);
}

static uint64_t take_u64(Codec *c) {
    uint64_t n = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end) break;
        uint8_t byte = (uint8_t)*c->at++;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return n;
    }
    code_fail(c, "it ends too early");
    return 0;
}

static void code_u64(Codec *c, uint64_t *value) {
    if (c->out)
        put_u64(c->out, *value);
    else
        *value = take_u64(c);
}

/* Small numbers of either sign take one byte. */
static void code_i64(Codec *c, int64_t *value) {
    uint64_t folded = (uint64_t)*value << 1 ^ (uint64_t)(*value >> 63);
    code_u64(c, &folded);
    if (!c->out) *value = (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
}

#define NARROW(NAME, TYPE, LOW, HIGH)                                                              \
    void NAME(Codec *c, TYPE *value) {                                                             \
        int64_t wide = (int64_t)*value;                                                            \
        code_i64(c, &wide);                                                                        \
        if (c->out) return;                                                                        \
        if (wide < (int64_t)(LOW) || wide > (int64_t)(HIGH))                                       \
            code_fail(c, "a number is too large");                                                 \
        *value = c->why ? 0 : (TYPE)wide;                                                          \
    }
NARROW(code_i32, int32_t, INT32_MIN, INT32_MAX)
NARROW(code_u32, uint32_t, 0, UINT32_MAX)
NARROW(code_u16, uint16_t, 0, UINT16_MAX)
NARROW(code_u8, uint8_t, 0, UINT8_MAX)
NARROW(code_bool, bool, 0, 1)

void code_str(Codec *c, Str *text) {
    int32_t n = c->out && text->bytes ? text->len : 0;
    code_i32(c, &n);
    if (c->out) {
        if (n) buf_bytes(c->out, text->bytes, (size_t)n);
        return;
    }
    if (n < 0 || n > c->end - c->at) code_fail(c, "a text is longer than the file");
    if (c->why) n = 0;
    *text = str_copy(c->arena, c->at, (size_t)n);
    c->at += n;
}

void code_hash(Codec *c, Hash128 *hash) {
    code_u64(c, &hash->lo);
    code_u64(c, &hash->hi);
}

void *code_items(Codec *c, const void *items, int32_t *n, size_t size) {
    code_i32(c, n);
    if (c->out) return (void *)items;
    if (*n < 0 || *n > c->end - c->at) code_fail(c, "a list is longer than the file");
    if (c->why) *n = 0;
    return arena_zalloc(c->arena, size * (size_t)(*n + 1));
}

/* -- files ------------------------------------------------------------------------------------- */

enum { HEAD = STORE_MAGIC + sizeof(Hash128) };

static Hash128 checksum(const char *bytes, int32_t size) {
    return hash_bytes(bytes + HEAD, (size_t)(size - HEAD));
}

void store_begin(StrBuf *out, const char *magic) {
    buf_bytes(out, magic, STORE_MAGIC);
    buf_bytes(out, (const char[sizeof(Hash128)]){0}, sizeof(Hash128));
}

void store_seal(StrBuf *out) {
    Hash128 sum = checksum(out->bytes, out->len);
    memcpy(out->bytes + STORE_MAGIC, &sum, sizeof sum);
}

bool store_open(Codec *c, Str file, const char *magic) {
    Hash128 sum;
    if (file.len < HEAD || memcmp(file.bytes, magic, STORE_MAGIC) != 0) {
        code_fail(c, "it is no entry of this version");
        return false;
    }
    memcpy(&sum, file.bytes + STORE_MAGIC, sizeof sum);
    c->at = file.bytes + HEAD;
    c->end = file.bytes + file.len;
    if (!hash_equal(sum, checksum(file.bytes, file.len))) code_fail(c, "it is damaged");
    return !c->why;
}

/* -- names ------------------------------------------------------------------------------------- */

static void code_handle(Codec *c, const StoreNames *names, void **handle, const void **first) {
    bool some = *handle;
    code_bool(c, &some);
    if (!c->out) *handle = NULL;
    if (!some) return;
    Str path = c->out ? names->path(names->user, *handle) : (Str){0};
    if (c->out && !path.len) code_fail(c, "a class or an array in it cannot be found by a path");
    code_str(c, &path);
    if (c->out || c->why) return;
    *handle = names->handle(names->user, path, first);
    if (!*handle) code_fail(c, "a class or an array of it is not there any more");
}

static void code_cells(Codec *c, const CellLayout **cells) {
    bool some = *cells;
    code_bool(c, &some);
    CellLayout shape = {0};
    if (c->out && some) shape = (CellLayout){NULL, (*cells)->first, (*cells)->size, (*cells)->n};
    if (!c->out) *cells = NULL;
    if (!some) return;
    code_i64(c, &shape.first);
    code_i64(c, &shape.size);
    int64_t *offsets = code_items(c, c->out ? (*cells)->offsets : NULL, &shape.n, sizeof *offsets);
    for (int32_t i = 0; i < shape.n; i++)
        code_i64(c, &offsets[i]);
    if (c->out || c->why) return;
    *cells = known_cells(&shape, offsets);
    if (!*cells) code_fail(c, "out of memory");
}

/* -- layouts of values ------------------------------------------------------------------------- */

enum { MOST_NESTED = 64 };

/* Named tuples and their like have a class and the names of their items, members of enumerations a class: it goes by its path. */
static void code_class(Codec *c, const StoreNames *names, ValueLayout *v) {
    bool keyed = v->fields && !v->element && !v->cls; /* a random generator has a name, too */
    bool records = v->kind == TY_ARRAY && v->element == TY_RECORD;
    bool tuple = v->cls && v->kind == TY_TUPLE && v->fields;
    bool member = v->cls && (v->kind == TY_MEMBER || v->kind == TY_OBJECT);
    bool instance = v->kind == TY_CLASS && v->element == CLS_instance;
    if (records || instance) return code_handle(c, names, &v->cls, NULL);
    if (keyed || (v->cls && !tuple && !member))
        code_fail(c, "a closure or a dict of several types is an argument or a result");
    bool named = tuple || member;
    code_bool(c, &named);
    if (!named || c->why) return;
    Str path = c->out ? names->path(names->user, v->cls) : (Str){0};
    if (c->out && !path.len) code_fail(c, "a class cannot be found again by its name");
    code_str(c, &path);
    int32_t n = c->out && tuple ? v->nitems : 0;
    Str *fields = code_items(c, v->fields, &n, sizeof *fields);
    for (int32_t i = 0; i < n; i++)
        code_str(c, &fields[i]);
    if (c->out || c->why) return;
    tuple = v->kind == TY_TUPLE;
    v->fields = tuple ? fields : NULL;
    bool fits = tuple ? n == v->nitems : (v->kind == TY_MEMBER || v->kind == TY_OBJECT) && n == 0;
    int32_t what = tuple ? n : v->kind == TY_MEMBER ? CLASS_MEMBERS : CLASS_ONE_OBJECT;
    v->cls = fits ? names->class_of(names->user, path, what) : NULL;
    if (!v->cls) code_fail(c, "a class is not what it was");
}

static void code_layout(Codec *c, const StoreNames *names, ValueLayout *v, int depth) {
    if (depth > MOST_NESTED) code_fail(c, "a type is nested too deeply");
    code_u8(c, &v->kind);
    code_u8(c, &v->element);
    code_u8(c, &v->ndim);
    code_u8(c, &v->layout);
    code_u8(c, &v->variant);
    code_u8(c, &v->maker);
    if (v->maker == MAKER_function)
        code_fail(c, "a defaultdict with a function is an argument or a result");
    code_i32(c, &v->item_size);
    code_bool(c, &v->readonly);
    code_bool(c, &v->aligned);
    code_u8(c, &v->usage);
    code_bool(c, &v->weak);
    code_bool(c, &v->changed);
    code_bool(c, &v->shared);
    code_u32(c, &v->time);
    code_i32(c, &v->offset);
    code_i32(c, &v->size);
    code_i32(c, &v->align);
    code_cells(c, &v->cells);
    for (int i = 0; i < countof(v->buffer_cells); i++)
        code_cells(c, &v->buffer_cells[i]);
    ValueLayout *items = code_items(c, v->items, &v->nitems, sizeof *items);
    for (int32_t i = 0; i < v->nitems && !c->why; i++)
        code_layout(c, names, &items[i], depth + 1);
    v->items = items;
    code_class(c, names, v);
}

/* -- places and exceptions --------------------------------------------------------------------- */

static void code_site(Codec *c, CodeSite *s) {
    code_str(c, &s->file);
    code_str(c, &s->function);
    code_i32(c, &s->line);
    code_i32(c, &s->end_line);
    code_i32(c, &s->column);
    code_i32(c, &s->end_column);
    code_str(c, &s->name);
}

static void code_raise(Codec *c, const StoreNames *names, RaiseInfo *r) {
    code_str(c, &r->class_name);
    code_handle(c, names, &r->class_handle, NULL);
    code_bool(c, &r->has_message);
    code_str(c, &r->message);
    code_i32(c, &r->nargs);
    if (r->nargs < 0 || r->nargs > CALL_MAX_ARGS)
        code_fail(c, "an exception has too many arguments");
    for (int i = 0; i < RAISE_MAX_KINDS; i++)
        code_u8(c, &r->kinds[i]);
}

static void code_kernel_param(Codec *c, KernelParam *p) {
    code_u16(c, &p->arg);
    code_u16(c, &p->size);
    code_u32(c, &p->source);
    code_u32(c, &p->offset);
    code_bool(c, &p->pointer);
    code_bool(c, &p->rounds);
}

static void code_address(Codec *c, const StoreNames *names, CodeAddress *a) {
    uint8_t kind = (uint8_t)a->kind;
    code_u8(c, &kind);
    a->kind = (AddressKind)kind;
    code_i64(c, &a->offset);
    if (kind == ADDRESS_CELLS) {
        const CellLayout *cells = a->address;
        code_cells(c, &cells);
        a->address = cells;
        return;
    }
    if (kind == ADDRESS_TEXT) {
        code_str(c, &a->text);
        if (!c->out && !c->why) a->address = string_literal(a->text);
        if (!a->address) code_fail(c, "out of memory");
        return;
    }
    if (kind == ADDRESS_OWNER) {
        if (!c->out && !names->owner) code_fail(c, "it is code for C");
        if (!c->out) a->address = a->handle = (void *)(uintptr_t)names->owner;
        return;
    }
    const void *first = NULL;
    code_handle(c, names, &a->handle, &first);
    if (c->out || c->why) return;
    bool in_place = kind == ADDRESS_ARRAY || kind == ADDRESS_FUNCTION;
    if (in_place && !first) code_fail(c, "an array or a function of C is none any more");
    a->address = in_place ? (const char *)first + a->offset : a->handle;
}

/* -- an artifact ------------------------------------------------------------------------------- */

static void code_tables(Codec *c, Artifact *a, const StoreNames *names) {
    ValueLayout *params = code_items(c, a->params, &a->nparams, sizeof *params);
    for (int32_t i = 0; i < a->nparams && !c->why; i++)
        code_layout(c, names, &params[i], 0);
    a->params = params;
    code_layout(c, names, &a->result, 0);
    code_bool(c, &a->resumes);
    code_bool(c, &a->alone);
    if (a->resumes) code_layout(c, names, &a->resumed, 0);
    if (!c->out && !c->why) artifact_name_exceptions(a);
    int32_t nusage = a->usage ? a->nparams : 0;
    uint8_t *usage = code_items(c, a->usage, &nusage, sizeof *usage);
    for (int32_t i = 0; i < nusage; i++)
        code_u8(c, &usage[i]);
    if (nusage && nusage != a->nparams) code_fail(c, "its parameters do not agree");
    a->usage = nusage || !a->nparams ? usage : NULL;
    CodeSite *sites = code_items(c, a->sites, &a->nsites, sizeof *sites);
    for (int32_t i = 0; i < a->nsites; i++)
        code_site(c, &sites[i]);
    a->sites = sites;
    RaiseInfo *raises = code_items(c, a->raises, &a->nraises, sizeof *raises);
    for (int32_t i = 0; i < a->nraises; i++)
        code_raise(c, names, &raises[i]);
    a->raises = raises;
    KernelParam *kernel_params =
        code_items(c, a->kernel_params, &a->nkernel_params, sizeof *kernel_params);
    for (int32_t i = 0; i < a->nkernel_params; i++)
        code_kernel_param(c, &kernel_params[i]);
    a->kernel_params = kernel_params;
    CodeAddress *addresses = code_items(c, a->addresses, &a->naddresses, sizeof *addresses);
    for (int32_t i = 0; i < a->naddresses; i++)
        code_address(c, names, &addresses[i]);
    a->addresses = addresses;
    Str *prints = code_items(c, a->prints, &a->nprints, sizeof *prints);
    for (int32_t i = 0; i < a->nprints; i++)
        code_str(c, &prints[i]);
    a->prints = prints;
    a->print = quern_kernel_print;
}

/* What was kept to look at, and of a code object the file before linking. */
static void code_texts(Codec *c, Artifact *a) {
    bool some = a->text_llvm.len != 0;
    code_bool(c, &some);
    if (!some) return;
    code_str(c, &a->text_llvm);
    code_str(c, &a->text_asm);
    code_str(c, &a->text_ir);
    code_str(c, &a->text_types);
    code_str(c, &a->text_parallel);
    code_str(c, &a->text_loops);
    if (!target_is_host(a->target)) code_str(c, &a->object);
}

static void code_facts(Codec *c, Artifact *a) {
    uint8_t target = (uint8_t)a->target, entry = (uint8_t)a->entry_kind;
    code_u8(c, &target);
    code_u8(c, &entry);
    a->target = (TargetKind)target;
    a->entry_kind = (EntryKind)entry;
    code_str(c, &a->name);
    code_str(c, &a->entry_name);
    code_i32(c, &a->param_bytes);
    code_i32(c, &a->shared_bytes);
    code_i32(c, &a->static_shared);
    code_i32(c, &a->local_bytes);
    code_i32(c, &a->const_bytes);
    code_i32(c, (int32_t *)&a->sanitize);
    a->watch = a->sanitize ? &sanitizer_watch : NULL;
    code_bool(c, &a->uses_dynamic_shared);
    code_bool(c, &a->uses_barriers);
    code_bool(c, &a->cooperative);
    code_bool(c, &a->fast_variant);
    code_i32(c, &a->max_threads);
}

static void code_text(Codec *c, const char **text) {
    bool some = *text;
    Str s = some ? str_from(*text) : (Str){0};
    code_bool(c, &some);
    if (!some) return;
    code_str(c, &s);
    if (!c->out) *text = s.bytes;
}

/* With the object file of its functions; nslots 0: there is none. */
static void code_lazy(Codec *c, LazyModule *m) {
    code_i32(c, &m->nslots);
    if (!m->nslots) return;
    if (c->out && !m->object) code_fail(c, "its lazy functions were not compiled");
    code_text(c, &m->symbol);
    code_text(c, &m->table);
    Str object = {m->object, (int32_t)m->object_size};
    code_str(c, &object);
    m->object = object.bytes;
    m->object_size = (size_t)object.len;
    if (!m->symbol || !m->table) code_fail(c, "its lazy functions have no names");
}

/* -- instances --------------------------------------------------------------------------------- */

enum { MOST_INSTANCES = 1 << 16 };

typedef struct Instances { /* callees first */
    int32_t n, cap;
    Instance **items;
} Instances;

/* Where it stands in the list; -1: nowhere. */
static int32_t number_of(const Instances *list, const Instance *instance) {
    for (int32_t i = 0; i < list->n; i++)
        if (list->items[i] == instance) return i;
    return -1;
}

static bool add_instance(Instances *list, Instance *instance) {
    if (list->n == list->cap) {
        int32_t cap = QN_MAX(16, list->cap * 2);
        Instance **items = realloc(list->items, sizeof *items * (size_t)cap);
        if (!items) return false;
        list->items = items;
        list->cap = cap;
    }
    list->items[list->n++] = instance;
    return true;
}

static bool collect(Instances *list, Instance *const *needs, int32_t n) {
    bool ok = n <= MOST_INSTANCES;
    for (int32_t i = 0; ok && i < n; i++) {
        const InstanceParts *parts = instance_parts(needs[i]);
        if (number_of(list, needs[i]) >= 0) continue;
        ok = collect(list, parts->needs, parts->nneeds) && add_instance(list, needs[i]);
    }
    return ok;
}

/* Which of the list are called: numbers. Read into the arena, as instances. */
static void code_needs(Codec *c, const Instances *list, Instance *const **needs, int32_t *n) {
    Instance **made = code_items(c, *needs, n, sizeof *made);
    for (int32_t i = 0; i < *n && !c->why; i++) {
        int32_t number = c->out ? number_of(list, (*needs)[i]) : 0;
        code_i32(c, &number);
        if (c->out) continue;
        if (number < 0 || number >= list->n)
            code_fail(c, "it calls an instance that is not there");
        else
            made[i] = list->items[number];
    }
    if (c->why && !c->out) *n = 0;
    *needs = made;
}

static void code_facts_of(Codec *c, InstanceParts *p) {
    code_i32(c, &p->nfacts);
    if (p->nfacts < 0 || p->nfacts > INSTANCE_FACTS) code_fail(c, "an instance has too many facts");
    for (int32_t i = 0; i < p->nfacts && !c->why; i++) {
        code_u32(c, &p->facts[i].attribute);
        code_u64(c, &p->facts[i].value);
        if (p->facts[i].attribute >= INSTANCE_FACTS) code_fail(c, "an instance has a wrong fact");
    }
}

/* Its parts, but for the key and for what it calls. */
static void code_parts(Codec *c, const StoreNames *names, InstanceParts *p, LazyModule *lazy) {
    code_text(c, &p->symbol);
    CodeAddress *addresses = code_items(c, p->addresses, &p->naddresses, sizeof *addresses);
    for (int32_t i = 0; i < p->naddresses && !c->why; i++)
        code_address(c, names, &addresses[i]);
    p->addresses = addresses;
    code_facts_of(c, p);
    code_lazy(c, lazy);
    Str object = {p->object, (int32_t)p->size};
    code_str(c, &object);
    p->object = object.bytes;
    p->size = (size_t)object.len;
    if (!p->symbol) code_fail(c, "an instance has no name");
}

/* The lazy functions of code; nslots 0: it has none. */
static LazyModule lazy_of(const struct HostCode *code) {
    LazyCode *lazy = host_code_lazy(code);
    const LazyModule *module = lazy ? lazy_module(lazy) : NULL;
    return module ? *module : (LazyModule){0};
}

static bool make_object(const struct HostCode *code) {
    LazyCode *lazy = host_code_lazy(code);
    return !lazy || lazy_make_object(lazy);
}

bool store_prepare(const Artifact *artifact) {
    if (!target_is_host(artifact->target)) return true;
    Instances list = {0};
    Instance *const *needs;
    int32_t n = host_code_instances(artifact->host_code, &needs);
    bool ok = collect(&list, needs, n) && make_object(artifact->host_code);
    for (int32_t i = 0; ok && i < list.n; i++)
        ok = make_object(instance_code(list.items[i]));
    free(list.items);
    return ok;
}

static void write_instances(Codec *c, const Artifact *artifact, const StoreNames *names) {
    Instances list = {0};
    Instance *const *needs;
    int32_t n = host_code_instances(artifact->host_code, &needs);
    if (!collect(&list, needs, n)) code_fail(c, "out of memory");
    code_i32(c, &list.n);
    for (int32_t i = 0; i < list.n && !c->why; i++) {
        InstanceParts parts = *instance_parts(list.items[i]);
        LazyModule module = lazy_of(instance_code(list.items[i]));
        Hash128 key = instance_key(list.items[i]);
        code_hash(c, &key);
        code_needs(c, &list, &parts.needs, &parts.nneeds);
        code_parts(c, names, &parts, &module);
    }
    code_needs(c, &list, &needs, &n);
    free(list.items);
}

/* The code of an instance that this process has not; it is claimed, and stays so where that fails. Nothing here allocates from an arena. */
static bool make_instance(Codec *c, Instance *instance, const InstanceParts *parts,
                          LazyModule *lazy) {
    lazy->addresses = parts->addresses;
    lazy->naddresses = parts->naddresses;
    lazy->keep = true;
    LazyCode *functions = lazy->nslots > 0 ? lazy_new(lazy) : NULL;
    HostObject object = {.object = parts->object,
                         .size = parts->size,
                         .symbol = parts->symbol,
                         .naddresses = parts->naddresses,
                         .addresses = parts->addresses,
                         .lazy = functions,
                         .ninstances = parts->nneeds,
                         .instances = parts->needs};
    char error[256];
    void *address;
    HostCode *code = lazy->nslots > 0 && !functions
                         ? NULL
                         : host_code_load(&object, &address, error, sizeof error);
    if (code && instance_made(instance, code, address, parts)) return true;
    host_code_drop(code);
    code_fail(c, "an instance cannot be loaded");
    return false;
}

/* Whatever is in the list is held. */
static void read_instances(Codec *c, const StoreNames *names, Instances *list) {
    int32_t n = 0;
    code_i32(c, &n);
    if (n < 0 || n > MOST_INSTANCES) code_fail(c, "it calls too many instances");
    for (int32_t i = 0; i < n && !c->why; i++) {
        InstanceParts parts = {0};
        LazyModule lazy = {0};
        Hash128 key = {0};
        bool make = false;
        code_hash(c, &key);
        code_needs(c, list, &parts.needs, &parts.nneeds);
        code_parts(c, names, &parts, &lazy);
        parts.read = true;
        Instance *instance = c->why ? NULL : instance_get(key, &make);
        if (!instance) code_fail(c, "out of memory");
        if (!instance) return;
        if (make && !make_instance(c, instance, &parts, &lazy)) {
            instance_failed(instance);
            return;
        }
        if (add_instance(list, instance)) continue;
        instance_release(instance);
        code_fail(c, "out of memory");
    }
}

Instance **store_instances(const Artifact *artifact, int32_t *n) {
    Instances list = {0};
    Instance *const *needs;
    bool host = target_is_host(artifact->target);
    int32_t direct = host ? host_code_instances(artifact->host_code, &needs) : 0;
    if (direct && !collect(&list, needs, direct)) list.n = 0;
    *n = list.n;
    return list.items;
}

/* Whatever is named by a path belongs to a program, and to no instance. */
static Str no_path(void *user, void *handle) {
    (void)user, (void)handle;
    return (Str){0};
}
static void *no_handle(void *user, Str path, const void **first) {
    (void)user, (void)path, (void)first;
    return NULL;
}
static void *no_class(void *user, Str path, int32_t n) {
    (void)user, (void)path, (void)n;
    return NULL;
}

const StoreNames store_no_names = {NULL, no_path, no_handle, no_class, NULL};

bool store_write_instance(Codec *c, Instance *instance) {
    InstanceParts parts = *instance_parts(instance);
    LazyModule module = lazy_of(instance_code(instance));
    code_i32(c, &parts.nneeds);
    code_parts(c, &store_no_names, &parts, &module);
    return !c->why;
}

bool store_read_instance(Codec *c, Instance *claimed, Instance *const *needs, int32_t nneeds) {
    InstanceParts parts = {0};
    LazyModule lazy = {0};
    code_i32(c, &parts.nneeds);
    code_parts(c, &store_no_names, &parts, &lazy);
    if (c->at != c->end) code_fail(c, "it goes on behind its end");
    if (parts.nneeds != nneeds) code_fail(c, "it calls something else");
    parts.needs = needs;
    parts.read = true;
    return !c->why && make_instance(c, claimed, &parts, &lazy);
}

bool store_write(Codec *c, const Artifact *artifact, const StoreNames *names) {
    Artifact copy;
    memcpy(&copy, artifact, sizeof copy); /* nothing is changed */
    bool host = target_is_host(copy.target);
    if (host && !copy.object.len) code_fail(c, "its code was not kept");
    code_facts(c, &copy);
    code_tables(c, &copy, names);
    code_texts(c, &copy);
    LazyModule module = host ? lazy_of(copy.host_code) : (LazyModule){0};
    code_lazy(c, &module);
    if (host) write_instances(c, &copy, names);
    Str code = host ? copy.object : (Str){copy.code, (int32_t)copy.ncode};
    code_str(c, &code);
    return !c->why;
}

static void load(Codec *c, Artifact *a, LazyModule *lazy, Str code, Instance *const *needs,
                 int32_t nneeds) {
    if (!target_is_host(a->target)) {
        a->code = code.bytes;
        a->ncode = code.len;
        return;
    }
    lazy->addresses = a->addresses;
    lazy->naddresses = a->naddresses;
    LazyCode *made = lazy->nslots > 0 ? lazy_new(lazy) : NULL;
    if (lazy->nslots && !made) code_fail(c, "out of memory");
    if (c->why) return;
    char error[256];
    HostObject object = {.object = code.bytes,
                         .size = (size_t)code.len,
                         .symbol = a->entry_name.bytes,
                         .naddresses = a->naddresses,
                         .addresses = a->addresses,
                         .lazy = made,
                         .ninstances = nneeds,
                         .instances = needs};
    a->drop = host_code_drop;
    a->host_code = host_code_load(&object, &a->entry, error, sizeof error);
    if (!a->host_code) code_fail(c, str_copy(c->arena, error, strlen(error)).bytes);
}

typedef struct Reading {
    Codec *codec;
    Artifact *artifact;
    const StoreNames *names;
    Arena *arena;
    Str code;
    LazyModule lazy;
    Instances instances; /* held until the artifact's code holds what it calls */
    Instance *const *needs;
    int32_t nneeds;
} Reading;

static void read_artifact(void *user) {
    Reading *r = user;
    Codec *c = r->codec;
    c->arena = &r->artifact->arena;
    code_facts(c, r->artifact);
    code_tables(c, r->artifact, r->names);
    code_texts(c, r->artifact);
    bool host = target_is_host(r->artifact->target);
    if (!host) {
        code_lazy(c, &r->lazy);
        code_str(c, &r->code);
    }
    c->arena = r->arena; /* what loading copies */
    if (host) {
        code_lazy(c, &r->lazy);
        read_instances(c, r->names, &r->instances);
        code_needs(c, &r->instances, &r->needs, &r->nneeds);
        code_str(c, &r->code);
    }
    if (c->at != c->end) code_fail(c, "it goes on behind its end");
    if (!c->why) load(c, r->artifact, &r->lazy, r->code, r->needs, r->nneeds);
}

Artifact *store_read(Codec *c, const StoreNames *names, const Allocator *allocator, char *error,
                     size_t error_size) {
    Artifact *artifact = artifact_new(allocator);
    Reading r = {.codec = c, .artifact = artifact, .names = names, .arena = c->arena};
    if (!artifact || !arena_guard(&artifact->arena, read_artifact, &r))
        code_fail(c, "out of memory");
    c->arena = r.arena;
    for (int32_t i = 0; i < r.instances.n; i++)
        instance_release(r.instances.items[i]);
    free(r.instances.items);
    if (!c->why) return artifact;
    snprintf(error, error_size, "%s", c->why);
    artifact_release(artifact);
    return NULL;
}
