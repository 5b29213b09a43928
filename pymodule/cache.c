/* cache.c - the disk cache: what an entry depends on, and finding it again.
 *
 * The key of a file is a hash of everything that is known before anything is asked: the function's code, the types, the
 * options, the processor, the versions. Functions whose closures or globals differ share a key: an entry repeats the
 * compiler's questions about Python (the dependency log) with digests of the answers, and is used if all are answered
 * alike today. So nothing is inferred, and no answer is forgotten. Answers about quern/library are left out: the key has
 * its files.
 *
 *     magic, checksum of the rest | what the entry says of itself | log | result type | artifact (codegen/store.h) */
#include "pymodule/cache.h"
#include "frontend/base/environment.h"
#include "codegen/instance_files.h"
#include "codegen/store.h"
#include "frontend/base/dump.h"
#include "frontend/base/folder.h"
#include "frontend/base/os.h"
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MAGIC "QUERN 3\n"
enum { VARIANTS = 16, NAME_SIZE = 128, SHRINK_EVERY = 16, MOST_CLOSURES = 8 };
#define DEFAULT_SIZE (UINT64_C(512) << 20)

/* -- where ----------------------------------------------------------------------------------------- */

/* QUERN_CACHE_DIR, for programs written for Numba NUMBA_CACHE_DIR, or a folder of the user's. */
static bool folder_path(char path[PATH_MAX]) {
    const char *given = env_value(ENV_CACHE_DIR), *home = getenv("HOME");
    const char *shared = env_value(ENV_XDG_CACHE_HOME), *numba = env_value(ENV_NUMBA_CACHE_DIR);
    if (given) return snprintf(path, PATH_MAX, "%s", given) < PATH_MAX;
    if (numba) return snprintf(path, PATH_MAX, "%s/quern", numba) < PATH_MAX;
    if (shared) return snprintf(path, PATH_MAX, "%s/quern", shared) < PATH_MAX;
    return home && *home && snprintf(path, PATH_MAX, "%s/.cache/quern", home) < PATH_MAX;
}

/* QUERN_CACHE_SIZE: bytes, or with K, M, G. */
static uint64_t size_limit(void) {
    const char *text = env_value(ENV_CACHE_SIZE);
    char *end;
    unsigned long long n = text ? strtoull(text, &end, 10) : 0;
    if (!text || end == text) return DEFAULT_SIZE;
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return n > UINT64_MAX >> shift ? UINT64_MAX : (uint64_t)n << shift;
}

PyObject *py_cache_folder(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    char path[PATH_MAX];
    bool known = folder_path(path);
    PyObject *text = known ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
    return text ? Py_BuildValue("(NK)", text, (unsigned long long)size_limit()) : NULL;
}

/* -- what happened ---------------------------------------------------------------------------------- */

static void remember(JitCore *core, const char *table, PyObject *signature, PyObject *value) {
    PyObject *log = core->cache_log;
    if (!log && !(log = core->cache_log = PyDict_New())) goto done;
    PyObject *name = PyUnicode_FromString(table);
    PyObject *of = name ? PyDict_SetDefault(log, name, Py_None) : NULL; /* borrowed */
    if (of == Py_None) {
        PyObject *made = PyDict_New();
        if (made && PyDict_SetItem(log, name, made) == 0) of = made;
        Py_XDECREF(made);
    }
    Py_XDECREF(name);
    if (of && of != Py_None && value) PyDict_SetItem(of, signature, value);
done:
    py_forget_error();
}

static void count(JitCore *core, const char *table, PyObject *signature) {
    PyObject *of = core->cache_log ? PyDict_GetItemString(core->cache_log, table) : NULL;
    PyObject *known = of ? PyDict_GetItem(of, signature) : NULL;
    PyObject *n = PyLong_FromLong(known ? PyLong_AsLong(known) + 1 : 1);
    remember(core, table, signature, n);
    Py_XDECREF(n);
}

static void tell(JitCore *core, const char *what, const char *name, const char *why) {
    if (core->state->dump & DUMP_cache) py_dump_cache(core->name, what, name, why);
}

/* -- the key ---------------------------------------------------------------------------------------- */

static void hash_text(Hasher *h, const char *text) {
    py_hash_str(h, text ? str_from(text) : (Str){0});
}

static void hash_stat(Hasher *h, const struct stat *s) {
    hash_u64(h, (uint64_t)s->st_size);
    hash_u64(h, (uint64_t)s->st_mtim.tv_sec);
    hash_u64(h, (uint64_t)s->st_mtim.tv_nsec);
}

Str py_library_folder(ModState *state) {
    Dl_info self;
    char *folder = state->library_folder;
    size_t room = sizeof state->library_folder;
    if (!*folder && dladdr((void *)(uintptr_t)&py_cache_entry, &self)) {
        const char *slash = strrchr(self.dli_fname, '/');
        int n = snprintf(folder, room, "%.*s/library/", (int)(slash ? slash - self.dli_fname : 0),
                         self.dli_fname);
        if (n < 0 || (size_t)n >= room) *folder = 0;
    }
    return (Str){folder, (int32_t)strlen(folder)};
}

/* Names, sizes and times of the files of quern/library, in any order. */
static void hash_library(Hasher *h, ModState *state) {
    Str path = py_library_folder(state);
    DIR *dir = path.len ? opendir(path.bytes) : NULL;
    uint64_t sum = 0;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct stat s;
        if (d->d_name[0] == '.' || fstatat(dirfd(dir), d->d_name, &s, 0) != 0 ||
            !S_ISREG(s.st_mode))
            continue;
        Hasher one;
        hash_init(&one);
        hash_text(&one, d->d_name);
        hash_stat(&one, &s);
        sum += hash_final(&one).lo;
    }
    if (dir) closedir(dir);
    hash_u64(h, sum);
}

/* This build of Quern, Python, NumPy, and the processor: the same for all entries of a process. */
static Hash128 environment(ModState *state) {
    if (state->cache_known) return state->cache_environment;
    Hasher h;
    Dl_info self = {0};
    struct stat s;
    hash_init(&h);
    hash_text(&h, MAGIC);
    hash_u64(&h, PY_VERSION_HEX);
    hash_u64(&h, PyArray_GetNDArrayCFeatureVersion());
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *version = numpy ? PyObject_GetAttrString(numpy, "__version__") : NULL;
    hash_text(&h, version && PyUnicode_Check(version) ? PyUnicode_AsUTF8(version) : "");
    Py_XDECREF(version);
    Py_XDECREF(numpy);
    py_forget_error();
    if (dladdr((void *)(uintptr_t)&py_cache_entry, &self) && stat(self.dli_fname, &s) == 0) {
        hash_stat(&h, &s);
        hash_library(&h, state);
    }
    char llvm[PATH_MAX];
    if (cg_llvm_library(llvm, sizeof llvm) && stat(llvm, &s) == 0) hash_stat(&h, &s);
    os_hash_cpu(&h);
    state->cache_environment = hash_final(&h);
    state->cache_known = true;
    return state->cache_environment;
}

static void hash_options(Hasher *h, const CompileOptions *o) {
    const InferOptions *i = &o->infer;
    const uint64_t fields[] = {(uint64_t)i->target,
                               i->kernel,
                               i->debug,
                               i->no_boundscheck,
                               i->error_numpy,
                               i->fast_division,
                               i->strong_numbers,
                               i->cpu_numbers,
                               i->parallel,
                               (uint64_t)o->entry,
                               (uint64_t)o->opt_level,
                               o->fastmath,
                               o->no_fma,
                               o->lineinfo,
                               o->no_vector_math,
                               o->general_variant,
                               o->any_sign,
                               o->any_shape,
                               o->all_params,
                               o->status_result,
                               o->pointers,
                               o->keep_text,
                               o->sanitize,
                               (uint64_t)o->max_threads,
                               (uint64_t)o->max_registers};
    for (int k = 0; k < countof(fields); k++)
        hash_u64(h, fields[k]);
    hash_text(h, o->arch);
    hash_text(h, o->cpu_features);
    hash_text(h, o->name);
    const CoreAxes *core = o->core;
    hash_u64(h, core ? (uint64_t)core->total + 1 : 0);
    if (!core) return;
    hash_update(h, core->ndim, sizeof core->ndim);
    hash_update(h, core->length, sizeof core->length[0] * (size_t)core->total);
}

/* Where a library of device functions is looked for, and what is there: which one is read, LLVM has a say in. */
static bool hash_place(void *user, const char *path, bool others) {
    (void)others;
    struct stat s;
    if (stat(path, &s) != 0) memset(&s, 0, sizeof s);
    hash_text(user, path);
    hash_stat(user, &s);
    return false;
}

/* What the program has implemented of the library by quern.extending. */
static void hash_overloads(Hasher *h, ModState *state) {
    PyObject *names =
        state->overloads ? PyObject_CallMethod(state->overloads, "names", NULL) : NULL;
    hash_text(h, names && PyUnicode_Check(names) ? PyUnicode_AsUTF8(names) : "");
    Py_XDECREF(names);
    py_forget_error();
}

#define NO_KEY                                                                                     \
    "an object of a class without a name in its module, or a function of another kind than "       \
    "Python's and C's, is an argument"

/* false: such a signature has no key. */
static bool entry_key(JitCore *core, PyResolver *r, const CompileRequest *q, const Signature *types,
                      const Binding *function, Hash128 *key) {
    Hasher h;
    Hash128 around = environment(core->state);
    hash_init(&h);
    hash_update(&h, &around, sizeof around);
    hash_options(&h, &q->options);
    hash_overloads(&h, core->state);
    cg_find_libraries(q->options.infer.target, &(LibrarySearch){hash_place, &h});
    hash_update(&h, &function->digest, sizeof function->digest);
    hash_u64(&h, q->keys == NULL);
    hash_text(&h, q->finished_by);
    hash_u64(&h, (uint64_t)types->nparams);
    for (int32_t i = 0; i < types->nparams; i++)
        if (!py_cache_hash_type(r, &h, types->params[i])) return false;
    bool ok = py_cache_hash_type(r, &h, types->result);
    PyObject *locals = core->locals ? PyObject_Str(core->locals) : NULL;
    hash_text(&h, locals ? PyUnicode_AsUTF8(locals) : "");
    Py_XDECREF(locals);
    py_forget_error();
    *key = hash_final(&h);
    return ok;
}

/* Closure variables of the function at a path, through functions among them: through each once, since functions that call each other
 * lead to each other on more ways than anybody can walk. */
static void hash_closure(PyResolver *r, Hasher *h, Map *seen, PyObject *function, Str path,
                         int depth) {
    map_put(seen, map_key(function));
    PyObject *cells = PyFunction_Check(function) ? PyFunction_GetClosure(function) : NULL;
    for (Py_ssize_t i = 0; cells && i < PyTuple_GET_SIZE(cells) && !PyErr_Occurred(); i++) {
        PyObject *value = PyCell_Get(PyTuple_GET_ITEM(cells, i)); /* NULL: the cell is empty */
        Str at = str_printf(r->arena, STR_FMT "/f:%d", STR_ARG(path), (int)i);
        const Binding *b = value ? py_bind(r, value, at) : NULL;
        hash_u64(h, b ? (uint64_t)b->kind + 1 : 0);
        if (b) hash_update(h, &b->digest, sizeof b->digest);
        if (b && b->kind == BIND_FUNCTION && b->handle && depth < MOST_CLOSURES &&
            !map_find(seen, map_key(b->handle)))
            hash_closure(r, h, seen, b->handle, at, depth + 1);
        Py_XDECREF(value);
    }
}

/* Where the entries of a key stand: number 0 is anybody's, so that who finds no other is told why it does not fit; the others belong to
 * functions whose closure variables have this hash, so that a hundred functions of one code are a hundred entries, of which each reads
 * its own. What the variables must be, the log says. */
typedef struct Place {
    Str function;
    Hash128 key;
    uint64_t closure; /* 0: it has no closure variables */
} Place;

static Place place_of(PyResolver *r, const JitCore *core, Str function, Hash128 key) {
    Place place = {function, key, 0};
    Hasher h;
    Map seen;
    if (!PyFunction_GetClosure(core->py_func)) return place;
    hash_init(&h);
    map_init(&seen, r->arena);
    hash_closure(r, &h, &seen, core->py_func, STR("e:"), 0);
    place.closure = hash_final(&h).lo | 1;
    return place;
}

/* "saxpy-0123...cdef.3", "saxpy-0123...cdef.0123456789abcdef.3": the name is for people. */
static void file_name(char name[NAME_SIZE], const Place *place, int variant) {
    char shown[48], closure[20] = "";
    int n = 0;
    for (int32_t i = 0; i < place->function.len && n < (int)sizeof shown - 1; i++) {
        char c = place->function.bytes[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        shown[n++] = plain || c == '_' ? c : '-';
    }
    shown[n] = 0;
    if (place->closure && variant)
        snprintf(closure, sizeof closure, ".%016llx", (unsigned long long)place->closure);
    snprintf(name, NAME_SIZE, "%s-%016llx%016llx%s.%d", shown, (unsigned long long)place->key.hi,
             (unsigned long long)place->key.lo, closure, variant);
}

/* -- an entry ---------------------------------------------------------------------------------------- */

/* What stands in front of the artifact. */
typedef struct Entry {
    Hash128 key;
    Str function, file, signature;
    int32_t nlog;
    Dependency *log;
    Str result; /* its type, see cache_types.c */
} Entry;

static void code_entry(Codec *c, Entry *e) {
    code_hash(c, &e->key);
    code_str(c, &e->function);
    code_str(c, &e->file);
    code_str(c, &e->signature);
    e->log = code_items(c, e->log, &e->nlog, sizeof *e->log);
    for (int32_t i = 0; i < e->nlog; i++) {
        uint8_t kind = (uint8_t)e->log[i].kind;
        code_u8(c, &kind);
        e->log[i].kind = (DependencyKind)kind;
        code_str(c, &e->log[i].path);
        code_hash(c, &e->log[i].digest);
    }
    code_str(c, &e->result);
}

/* -- asking again ------------------------------------------------------------------------------------ */

typedef struct Replay {
    PyResolver *r;
    const Binding *entry;
    int depth;
    Map overloads; /* path -> Binding or NULL */
} Replay;

enum { MOST_STEPS = 200 };

static const Binding *step(Replay *p, const Binding *base, Str path, int32_t cut);
static const Binding *at_path(Replay *p, Str path);

/* "c:module:Name", and no step from there. */
static bool is_class_path(Str path) {
    return str_starts(path, "c:") && !memchr(path.bytes, '.', (size_t)path.len) &&
           !memchr(path.bytes, '[', (size_t)path.len) && !memchr(path.bytes, '/', (size_t)path.len);
}

/* NumPy's LinAlgError goes by its name alone, as those of builtins do (builtin_path). */
static const Binding *builtin_at(Replay *p, Str path, Str name) {
    Resolver *resolver = &p->r->base;
    const Binding *b = resolver->builtin(resolver->user, name);
    if ((b && b->kind != BIND_MISSING) || PyErr_Occurred()) return b;
    PyObject *cls = py_named_exception(name, false);
    if (cls)
        b = py_bind(p->r, cls, path);
    else
        py_forget_error();
    Py_XDECREF(cls);
    return b;
}

static int32_t number_at(Str path, int32_t from) {
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)QN_MIN(path.len - from, 15), path.bytes + from);
    return (int32_t)strtol(text, NULL, 10);
}

/* "a:1": the types of the arguments have bound it. */
static const Binding *argument_at(const Replay *p, Str path) {
    int32_t i = number_at(path, 2);
    return i >= 0 && i < p->r->arguments.len ? p->r->arguments.items[i] : NULL;
}

static PyObject *object_at(void *user, Str path) {
    const Binding *b = at_path(user, path);
    return b ? b->handle : NULL;
}

/* Implementations of libraries are asked for once. */
static const Binding *overload_at(Replay *p, Str path) {
    MapValue *known = map_find_str(&p->overloads, path);
    if (known) return known->ptr;
    const Binding *b = ++p->depth > MOST_STEPS ? NULL : py_overload_at(p->r, path, object_at, p);
    map_put_str(&p->overloads, path)->ptr = (void *)b;
    return b;
}

/* A path of one step. */
static const Binding *root_at(Replay *p, Str path, Str name) {
    if (str_starts(path, "a:")) return argument_at(p, path);
    if (str_starts(path, "b:")) return builtin_at(p, path, name);
    return str_starts(path, "o:") ? overload_at(p, path) : NULL;
}

/* What stands at a path of the log. NULL: an exception, or no such thing. */
static const Binding *at_path(Replay *p, Str path) {
    Resolver *resolver = &p->r->base;
    if (str_is(path, "e:")) return p->entry;
    if (is_class_path(path)) return py_class_at(p->r, path);
    int32_t cut = path.len - 1;
    while (cut > 0 && path.bytes[cut] != '/' && path.bytes[cut] != '.' && path.bytes[cut] != '[')
        cut--;
    bool library = str_starts(path, "l:") && !memchr(path.bytes, '/', (size_t)path.len);
    Str name = {path.bytes + 2, path.len - 2};
    if (library) return resolver->library(resolver->user, name);
    if (cut <= 0) return root_at(p, path, name);
    if (++p->depth > MOST_STEPS) return NULL;
    const Binding *base = at_path(p, (Str){path.bytes, cut});
    const Binding *found = base ? step(p, base, path, cut) : NULL;
    p->depth--;
    return found;
}

/* The import that the resolver wrote as a step: "numpy,linalg>norm". */
static const Binding *import_again(Replay *p, const Binding *function, Str text) {
    Resolver *resolver = &p->r->base;
    Vec(Str) names = {0};
    for (int32_t from = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && text.bytes[i] != '>') continue;
        char *name = arena_copy(p->r->arena, text.bytes + from, (size_t)(i - from));
        for (int32_t k = 0; k < i - from; k++)
            if (name[k] == ',') name[k] = '.';
        vec_push(p->r->arena, &names, ((Str){name, i - from}));
        from = i + 1;
    }
    return resolver->import(resolver->user, function->handle, names.items, names.len);
}

/* The last step of a path, behind `cut`. */
static const Binding *step(Replay *p, const Binding *base, Str path, int32_t cut) {
    Resolver *resolver = &p->r->base;
    Str rest = {path.bytes + cut + 1, path.len - cut - 1};
    if (path.bytes[cut] == '.') return resolver->attr(resolver->user, base, rest);
    if (path.bytes[cut] == '[') {
        int32_t i = number_at(path, cut + 1);
        bool items = base->kind == BIND_INSTANCE || base->kind == BIND_PARTIAL;
        return items && i >= 0 && i < base->nitems ? base->items[i] : NULL;
    }
    if (str_is(rest, "n")) /* a function inside it: it sees the same globals */
        return base->kind == BIND_FUNCTION ? base : NULL;
    Str name = {rest.bytes + 2, rest.len - 2};
    if (rest.len < 3 || rest.bytes[1] != ':') return NULL;
    MemberKind kind;
    if (rest.bytes[0] == 'm' || rest.bytes[0] == 's')
        return base->handle && PyType_Check((PyObject *)base->handle)
                   ? resolver->member(resolver->user, base->handle, name, rest.bytes[0] == 's',
                                      &kind)
                   : NULL;
    if (base->kind != BIND_FUNCTION) return NULL;
    switch (rest.bytes[0]) {
    case 'g': return resolver->global(resolver->user, base->handle, name);
    case 'i': return import_again(p, base, name);
    case 'f': return resolver->freevar(resolver->user, base->handle, number_at(path, cut + 3));
    case 'd': {
        const FunctionInfo *info = resolver->code(resolver->user, base);
        int32_t k = number_at(path, cut + 3);
        return info && info->defaults && k >= 0 && k < info->code->nargs + info->code->nkwonly
                   ? info->defaults[k]
                   : NULL;
    }
    default: return NULL;
    }
}

static bool is_inner(Str path) {
    return path.len > 2 && memcmp(path.bytes + path.len - 2, "/n", 2) == 0;
}

/* "path=path": do both lead to one object? */
static bool is_alias(Replay *p, Str paths) {
    const char *equal = memchr(paths.bytes, '=', (size_t)paths.len);
    if (!equal) return false;
    Str one = {paths.bytes, (int32_t)(equal - paths.bytes)},
        other = {equal + 1, paths.len - one.len - 1};
    p->depth = 0;
    const Binding *b = at_path(p, one);
    p->depth = 0;
    return b && at_path(p, other) == b;
}

/* NULL: all is as it was; otherwise the path of the first answer that is another, or "" with an exception. */
static const char *first_change(Replay *p, const Entry *e) {
    for (int32_t i = 0; i < e->nlog; i++) {
        const Dependency *d = &e->log[i];
        if (str_starts(d->path, "l:")) continue;
        if (d->kind == DEP_CODE && is_inner(d->path)) continue; /* a part of the code around it */
        if (d->kind == DEP_SAME) {
            if (is_alias(p, d->path)) continue;
            return PyErr_Occurred() ? "" : d->path.bytes;
        }
        p->depth = 0;
        const Binding *b = at_path(p, d->path);
        if (PyErr_Occurred()) return "";
        if (!b || !hash_equal(b->digest, d->digest)) return d->path.bytes;
    }
    return NULL;
}

/* -- handles and paths -------------------------------------------------------------------------------- */

/* "b:ValueError", wherever it was found: asking for that imports nothing. Empty: it is no builtin class. */
static Str builtin_path(PyResolver *r, PyObject *object) {
    const char *name = PyExceptionClass_Check(object) ? ((PyTypeObject *)object)->tp_name : NULL;
    PyObject *known = name && !strchr(name, '.') ? py_builtin_exception(name) : NULL;
    bool same = known == object;
    Py_XDECREF(known);
    py_forget_error();
    return same ? str_printf(r->arena, "b:%s", name) : (Str){0};
}

static Str path_of_handle(void *user, void *handle) {
    PyResolver *r = user;
    MapValue *binding = map_find(&r->bindings, map_key(handle));
    MapValue *path = binding ? map_find(&r->paths, map_key(binding->ptr)) : NULL;
    bool argument = path && str_starts(*(const Str *)path->ptr, "a:");
    if (!argument && PyArray_DescrCheck((PyObject *)handle)) return py_dtype_path(r, handle);
    Str builtin = builtin_path(r, handle);
    if (builtin.len) return builtin;
    return path ? *(const Str *)path->ptr : (Str){0};
}

static void *handle_of_path(void *user, Str path, const void **first) {
    Replay *p = user;
    p->depth = 0;
    if (str_starts(path, "d:")) return py_dtype_at(p->r, path);
    const Binding *b = at_path(p, path);
    if (!b) return NULL;
    if (first && b->array) *first = b->array->in_place ? b->array->bytes : NULL;
    if (first && b->kind == BIND_FOREIGN) *first = (const void *)(intptr_t)b->number;
    return b->handle;
}

static void *class_of_path(void *user, Str path, int32_t n) {
    Replay *p = user;
    p->depth = 0;
    const Binding *b = at_path(p, path);
    const Type *type = b ? b->type : NULL;
    bool values = type && type->kind == TY_TUPLE && type->cls == b->handle && type->fields;
    bool object =
        b && (b->kind == BIND_MEMBER || b->kind == BIND_FUNCTION || b->kind == BIND_LIBRARY ||
              b->kind == BIND_TYPE || b->kind == BIND_FOREIGN || str_starts(path, "a:"));
    bool fits = b && (n == CLASS_MEMBERS      ? b->enumeration != NULL
                      : n == CLASS_ONE_OBJECT ? object
                                              : values && type->nitems == n);
    return !fits ? NULL : object && b->object ? b->object : b->handle;
}

/* -- finding -------------------------------------------------------------------------------------------- */

typedef struct Finding {
    JitCore *core;
    CompileRequest *q;
    PyResolver *r;
    Folder *folder;
    Spec *spec;
    char why[256]; /* of the last entry that did not fit */
    char name[NAME_SIZE];
} Finding;

static Spec *read_entry(Finding *f, const Signature *types, const Binding *function, Hash128 key,
                        Str file) {
    Entry e = {0};
    Codec c = {.arena = f->r->arena};
    Replay replay = {.r = f->r, .entry = function};
    map_init(&replay.overloads, f->r->arena);
    StoreNames names = {&replay, path_of_handle, handle_of_path, class_of_path,
                        f->q->options.c_owner};
    if (store_open(&c, file, MAGIC)) code_entry(&c, &e);
    if (!c.why && !hash_equal(e.key, key)) c.why = "it is of another key";
    const char *change = c.why ? NULL : first_change(&replay, &e);
    if (PyErr_Occurred()) return NULL;
    if (change) c.why = str_printf(f->r->arena, "%s is not what it was", change).bytes;
    const Type *result = py_cache_read_type(&c, f->r, &names, e.result);
    if (PyErr_Occurred()) return NULL;
    Artifact *artifact = NULL;
    if (!c.why)
        artifact = store_read(&c, &names, f->q->options.allocator, f->why, sizeof f->why);
    else
        snprintf(f->why, sizeof f->why, "%s", c.why);
    if (!artifact) return NULL;
    Spec *spec =
        py_spec_of_artifact(f->core, f->r, f->q, types->params, types->nparams, artifact, result);
    artifact_release(artifact);
    return spec;
}

/* What was raised while an entry was looked for: an interrupt and the end of memory are the caller's. */
static void forget_refusals(void) {
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) ||
        PyErr_ExceptionMatches(PyExc_MemoryError))
        return;
    PyErr_Clear();
}

static void find_entry(void *user) {
    Finding *f = user;
    PyResolver *r = f->r;
    Signature types = {NULL, NULL, 0};
    Hash128 key;
    const Binding *function = py_bind(r, f->core->py_func, STR("e:"));
    if (!function || !py_request_types(f->core, r, f->q, &types)) return;
    if (!r->base.code(r->base.user, function)) return;
    if (!entry_key(f->core, r, f->q, &types, function, &key)) {
        snprintf(f->why, sizeof f->why, "%s", NO_KEY);
        return;
    }
    Place place = place_of(r, f->core, function->name, key);
    forget_refusals();
    for (int k = 0; k < VARIANTS && !f->spec && !PyErr_Occurred(); k++) {
        Str file;
        file_name(f->name, &place, k);
        if (!folder_read(f->folder, f->name, &file)) break;
        f->spec = read_entry(f, &types, function, key, file);
        free((char *)file.bytes);
    }
}

Spec *py_cache_find(JitCore *core, CompileRequest *q) {
    char path[PATH_MAX], error[PATH_MAX + 100] = "there is no folder: set QUERN_CACHE_DIR";
    Folder folder;
    if (!folder_path(path) || !folder_open(&folder, path, error, sizeof error)) {
        tell(core, "miss", "", error);
        return NULL;
    }
    PyResolver r;
    py_resolver_init(&r, core->state, core->py_func, &q->options);
    r.locals = core->locals;
    r.linked = core->linked;
    Compilation *c = cg_begin(&q->options, &r.base);
    Finding f = {.core = core, .q = q, .r = &r, .folder = &folder};
    if (c && py_resolver_attach(&r, c) && !arena_guard(cg_arena(c), find_entry, &f))
        PyErr_NoMemory();
    forget_refusals();
    if (f.spec) count(core, "hits", f.spec->signature);
    tell(core, f.spec ? "hit" : "miss", f.name, f.spec ? "" : f.why[0] ? f.why : "there is none");
    snprintf(q->stale, sizeof q->stale, "%s", f.spec ? "" : f.why);
    if (c) cg_end(c);
    py_resolver_close(&r);
    folder_close(&folder);
    return f.spec;
}

void py_cache_use_files(ModState *state, Compilation *c) {
    char path[PATH_MAX];
    if (folder_path(path)) cg_use_files(c, &(InstanceFiles){path, environment(state)});
}

/* -- storing ----------------------------------------------------------------------------------------------- */

typedef struct Storing {
    JitCore *core;
    PyResolver *r;
    const CompileRequest *q;
    const Signature *types;
    const Spec *spec;
    const Type *result;
    const char *path;
    Folder *folder;
    bool prepared;
    char why[PATH_MAX + 100]; /* empty: it was stored */
    char name[NAME_SIZE];
} Storing;

/* Questions about what has no path cannot be asked again. */
static const char *unrepeatable(const Artifact *a) {
    for (int32_t i = 0; i < a->ndependencies; i++) {
        Str path = a->dependencies[i].path;
        bool known = path.len > 1 && path.bytes[1] == ':' && memchr("abcelo", path.bytes[0], 6);
        if (!known || memchr(path.bytes, '?', (size_t)path.len)) return path.bytes;
    }
    return NULL;
}

static bool write_entry(Storing *s, Hash128 key, StrBuf *out) {
    const Artifact *a = s->spec->artifact;
    const char *again = unrepeatable(a);
    if (again) {
        snprintf(s->why, sizeof s->why, "%s cannot be asked for again", again);
        return false;
    }
    PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(s->core->py_func);
    PyObject *shown = PyObject_Str(s->spec->signature);
    Entry e = {.key = key,
               .function = a->name,
               .nlog = a->ndependencies,
               .log = (Dependency *)a->dependencies};
    bool ok = shown && py_str(s->r->arena, shown, &e.signature) &&
              py_str(s->r->arena, code->co_filename, &e.file);
    Py_XDECREF(shown);
    Codec c = {.out = out, .arena = s->r->arena};
    StoreNames names = {s->r, path_of_handle, NULL, NULL, NULL};
    if (!s->prepared) code_fail(&c, "its checked functions cannot be compiled");
    store_begin(out, MAGIC);
    ok = ok && py_cache_write_type(&c, s->r, &names, s->result, &e.result);
    if (ok) code_entry(&c, &e);
    if (!ok) code_fail(&c, "its names are no text");
    if (!store_write(&c, a, &names)) {
        snprintf(s->why, sizeof s->why, "%s", c.why);
        return false;
    }
    store_seal(out);
    return true;
}

/* The place of the entry: the first that is free, or one that this entry throws out. */
static void choose_name(Storing *s, const Place *place, const StrBuf *out) {
    for (int k = 0; k < VARIANTS; k++) {
        Str there;
        file_name(s->name, place, k);
        if (!folder_read(s->folder, s->name, &there)) return;
        Codec c = {0};
        bool good = store_open(&c, there, MAGIC);
        free((char *)there.bytes);
        if (!good) return; /* damaged */
    }
    file_name(s->name, place, (int)(hash_bytes(out->bytes, (size_t)out->len).lo % VARIANTS));
}

static void store_entry(void *user) {
    Storing *s = user;
    Hash128 key;
    StrBuf out;
    buf_init(&out, s->r->arena);
    const InstanceFiles files = {s->path, environment(s->core->state)};
    if (s->prepared) instance_files_keep(&files, s->folder, s->r->arena, s->spec->artifact);
    const Binding *function = py_bind(s->r, s->core->py_func, STR("e:"));
    if (!function || !entry_key(s->core, s->r, s->q, s->types, function, &key)) {
        snprintf(s->why, sizeof s->why, "%s", NO_KEY);
        return;
    }
    if (!write_entry(s, key, &out)) return;
    Place place = place_of(s->r, s->core, s->spec->artifact->name, key);
    py_forget_error();
    choose_name(s, &place, &out);
    ModState *state = s->core->state;
    bool ok = folder_write(s->folder, s->name, out.bytes, (size_t)out.len, s->why, sizeof s->why);
    if (ok && state->cache_stored++ % SHRINK_EVERY == 0) folder_shrink(s->folder, size_limit());
}

void py_cache_store(JitCore *core, PyResolver *r, const CompileRequest *q, const Signature *types,
                    const Spec *spec, const Type *result) {
    char path[PATH_MAX];
    Folder folder;
    Storing s = {.core = core,
                 .r = r,
                 .q = q,
                 .types = types,
                 .spec = spec,
                 .result = result,
                 .path = path,
                 .folder = &folder,
                 .why = "there is no folder: set QUERN_CACHE_DIR"};
    if (folder_path(path) && folder_open(&folder, path, s.why, sizeof s.why)) {
        s.why[0] = 0;
        PyThreadState *thread = q->keep_gil ? NULL : PyEval_SaveThread();
        s.prepared = store_prepare(spec->artifact);
        if (thread) PyEval_RestoreThread(thread);
        if (!arena_guard(r->arena, store_entry, &s)) snprintf(s.why, sizeof s.why, "out of memory");
        folder_close(&folder);
    }
    py_forget_error();
    count(core, "misses", spec->signature);
    const char *reason = s.why[0] ? s.why : q->stale;
    PyObject *why = *reason ? PyUnicode_DecodeFSDefault(reason) : NULL;
    if (why) remember(core, "reasons", spec->signature, why);
    Py_XDECREF(why);
    tell(core, s.why[0] ? "not stored" : "stored", s.name, s.why);
    py_forget_error();
}

/* -- looking at entries ------------------------------------------------------------------------------------- */

typedef struct Looking {
    Arena *arena;
    Str file;
    Entry entry;
    Str shared; /* the file is of an instance, which is of this name */
    const char *why;
} Looking;

static void look_at(void *user) {
    Looking *l = user;
    Codec c = {.arena = l->arena}, shared = c;
    if (store_open(&shared, l->file, INSTANCE_MAGIC)) {
        l->shared = instance_files_look(&shared);
        l->why = shared.why;
        return;
    }
    if (store_open(&c, l->file, MAGIC)) code_entry(&c, &l->entry);
    l->why = c.why;
}

PyObject *py_cache_entry(PyObject *module, PyObject *bytes) {
    (void)module;
    if (!PyBytes_Check(bytes)) return PyErr_Format(PyExc_TypeError, "bytes are expected");
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    Str file = {PyBytes_AS_STRING(bytes), (int32_t)QN_MIN(PyBytes_GET_SIZE(bytes), INT32_MAX)};
    Looking l = {.arena = &arena, .file = file};
    PyObject *answer = NULL;
    if (!arena_guard(&arena, look_at, &l))
        PyErr_NoMemory();
    else if (l.why)
        answer = PyUnicode_FromString(l.why);
    else if (l.shared.len)
        answer = Py_BuildValue(
            "{s:s#,s:s,s:s,s:i}", "function", l.shared.bytes, (Py_ssize_t)l.shared.len, "file",
            "(compiled once, for all that call it)", "signature", "", "dependencies", 0);
    else
        answer =
            Py_BuildValue("{s:s#,s:s#,s:s#,s:i}", "function", l.entry.function.bytes,
                          (Py_ssize_t)l.entry.function.len, "file", l.entry.file.bytes,
                          (Py_ssize_t)l.entry.file.len, "signature", l.entry.signature.bytes,
                          (Py_ssize_t)l.entry.signature.len, "dependencies", (int)l.entry.nlog);
    arena_free(&arena);
    return answer;
}
