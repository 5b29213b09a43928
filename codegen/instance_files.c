/* instance_files.c - see instance_files.h.
 *
 *     magic, checksum of the rest | key, environment | the instance (store.h)
 *
 * A file that is damaged, or not what its name says, is none: the instance is compiled, and the file written again. */
#include "codegen/instance_files.h"
#include "codegen/store.h"
#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 64 };

/* Programs of several builds share a folder. */
static Hash128 name_of(const InstanceFiles *files, Hash128 key) {
    Hasher h;
    hash_init(&h);
    hash_update(&h, &files->environment, sizeof files->environment);
    hash_update(&h, &key, sizeof key);
    return hash_final(&h);
}

static void file_name(char name[NAME_SIZE], const InstanceFiles *files, Hash128 key) {
    Hash128 hash = name_of(files, key);
    snprintf(name, NAME_SIZE, "shared-%016llx%016llx", (unsigned long long)hash.hi,
             (unsigned long long)hash.lo);
}

static void code_identity(Codec *c, const InstanceFiles *files, Hash128 key) {
    Hash128 found = key, around = files->environment;
    code_hash(c, &found);
    code_hash(c, &around);
    if (!hash_equal(found, key) || !hash_equal(around, files->environment))
        code_fail(c, "it is another instance");
}

/* For free(), and `c` stands behind its identity. false: there is none that is whole. */
static bool open_file(Codec *c, const InstanceFiles *files, const Folder *folder, Hash128 key,
                      Str *file) {
    char name[NAME_SIZE];
    file_name(name, files, key);
    if (!folder_read(folder, name, file)) return false;
    if (store_open(c, *file, INSTANCE_MAGIC)) code_identity(c, files, key);
    if (!c->why) return true;
    free((char *)file->bytes);
    return false;
}

typedef struct Finding {
    Codec codec;
    Instance *claimed, *const *needs;
    int32_t nneeds;
    bool made;
} Finding;

static void find(void *user) {
    Finding *f = user;
    f->made = store_read_instance(&f->codec, f->claimed, f->needs, f->nneeds);
}

bool instance_files_find(const InstanceFiles *files, Arena *arena, Instance *claimed,
                         Instance *const *needs, int32_t nneeds) {
    char error[256];
    Folder folder;
    Str file;
    Finding f = {{.arena = arena}, claimed, needs, nneeds, false};
    if (!folder_open(&folder, files->folder, error, sizeof error)) return false;
    if (open_file(&f.codec, files, &folder, instance_key(claimed), &file)) {
        arena_guard(arena, find, &f);
        free((char *)file.bytes);
    }
    folder_close(&folder);
    return f.made;
}

static void keep(const InstanceFiles *files, const Folder *folder, Arena *arena,
                 Instance *instance) {
    char name[NAME_SIZE], error[256];
    Hash128 key = instance_key(instance);
    Codec old = {.arena = arena};
    Str file;
    if (open_file(&old, files, folder, key, &file)) {
        free((char *)file.bytes);
        return;
    }
    StrBuf out;
    buf_init(&out, arena);
    Codec c = {.out = &out, .arena = arena};
    store_begin(&out, INSTANCE_MAGIC);
    code_identity(&c, files, key);
    if (!store_write_instance(&c, instance)) return;
    store_seal(&out);
    file_name(name, files, key);
    folder_write(folder, name, out.bytes, (size_t)out.len, error, sizeof error);
}

void instance_files_keep(const InstanceFiles *files, const Folder *folder, Arena *arena,
                         const Artifact *artifact) {
    int32_t n;
    Instance **all = store_instances(artifact, &n);
    for (int32_t i = 0; i < n; i++)
        keep(files, folder, arena, all[i]);
    free(all);
}

Str instance_files_look(Codec *c) {
    Hash128 hash;
    Str symbol = {0};
    int32_t nneeds;
    code_hash(c, &hash);
    code_hash(c, &hash);
    code_i32(c, &nneeds);
    bool some = false;
    code_bool(c, &some);
    if (some) code_str(c, &symbol);
    const char *name = symbol.len ? strrchr(symbol.bytes, '.') : NULL; /* "quern.root.f" */
    return name ? str_from(name + 1) : symbol;
}
