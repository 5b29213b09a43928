/* test_store.c - artifacts as bytes: what comes back is what went in and runs, and damaged bytes are refused or make an
 * artifact that can be dropped again. */
#include "codegen/host_code.h"
#include "codegen/store.h"
#include "codegen/support.h"
#include "tests/unit/cg_test.h"

/* Sites, an exception with a message, arrays, a loop nest whose checked copy is lazy. */
static const char text[] = "func @f(x: array(f64, 1, C), n: i64) -> f64 typed {\n"
                           "b0:\n"
                           "  %1: array(f64, 1, C) = param 0\n"
                           "  %5: i64 = param 1\n"
                           "  %2: i64 = const 0\n"
                           "  %3: i64 = const 1\n"
                           "  %4: f64 = const 0d0000000000000000\n"
                           "  jump b1\n"
                           "b1: preds(b0, b2)\n"
                           "  %6: i64 = phi [%2, b0], [%7, b2]\n"
                           "  %8: f64 = phi [%4, b0], [%9, b2]\n"
                           "  %10: bool = lt %6, %5\n"
                           "  branch %10, b2, b3\n"
                           "b2: preds(b1)\n"
                           "  %7: i64 = add nowrap %6, %3\n"
                           "  %11: i64 = shape %1 axis 0\n"
                           "  %12: i64 = check_index %6, %11 axis 0\n"
                           "  %13: f64 = load %1, %12\n"
                           "  %9: f64 = add %8, %13\n"
                           "  poll\n"
                           "  jump b1\n"
                           "b3: preds(b1)\n"
                           "  return %8\n"
                           "}\n";

static Artifact *compiled(void) {
    CompileOptions options = {.opt_level = 3, .keep_object = true};
    return cg_compile(text, &options);
}

/* A program with three classes, known by paths. */
static char classes[3];
static Str path_of(void *user, void *handle) {
    (void)user;
    return handle == &classes[0]   ? STR("c:m:P")
           : handle == &classes[1] ? STR("c:m:E")
                                   : STR("c:m:E.A");
}
static void *handle_of(void *user, Str path, const void **first) {
    (void)user, (void)path, (void)first;
    return NULL;
}
static void *class_of(void *user, Str path, int32_t n) {
    (void)user;
    const char *const paths[] = {"c:m:P", "c:m:E", "c:m:E.A"};
    const int32_t fields[] = {2, CLASS_MEMBERS, CLASS_ONE_OBJECT};
    for (int i = 0; i < countof(paths); i++)
        if (str_is(path, paths[i]) && n == fields[i]) return &classes[i];
    return NULL;
}
static const StoreNames names = {NULL, path_of, handle_of, class_of, NULL};

/* The result is a named tuple of members now; nobody runs the code. */
static void name_classes(Artifact *a) {
    static const Str fields[] = {{"x", 1}, {"member", 6}};
    static ValueLayout items[] = {{.kind = TY_MEMBER, .size = 8, .cls = &classes[1]},
                                  {.kind = TY_OBJECT, .cls = &classes[2]}};
    a->result = (ValueLayout){.kind = TY_TUPLE,
                              .size = 8,
                              .nitems = 2,
                              .items = items,
                              .fields = fields,
                              .cls = &classes[0]};
}

static Str written(Arena *arena, const Artifact *a) {
    StrBuf out;
    buf_init(&out, arena);
    Codec c = {.out = &out, .arena = arena};
    CHECK(store_prepare(a) && store_write(&c, a, &names));
    return buf_take(&out);
}

static Artifact *read_back(const char *bytes, size_t size, char error[256]) {
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    jmp_buf out_of_memory;
    arena.on_failure = &out_of_memory;
    Artifact *a = NULL;
    if (!setjmp(out_of_memory)) {
        Codec c = {.at = bytes, .end = bytes + size, .arena = &arena};
        a = store_read(&c, &names, &qn_default_allocator, error, 256);
    }
    arena_free(&arena);
    return a;
}

static void run(const Artifact *a) {
    double values[4] = {1, 2, 3, 4}, result = 0;
    struct {
        void *data;
        Owner *owner;
        int64_t dims[2];
    } array = {values, NULL, {4, 8}};
    CallContext ctx;
    for (int64_t n = 0; n <= 4; n++) {
        CHECK_INT(cg_call(a, &ctx, (void *[]){&array, &n}, &result), CALL_OK);
        CHECK(result == (double)(n * (n + 1)) / 2);
    }
    int64_t n = 5; /* in the lazy copy */
    CHECK_INT(cg_call(a, &ctx, (void *[]){&array, &n}, &result), CALL_EXCEPTION);
    CHECK(ctx.site >= 0 && ctx.site < a->nsites);
}

static void test_there_and_back(void) {
    Artifact *a = compiled(), *b = NULL;
    if (!a) return;
    Arena arena;
    char error[256] = "";
    arena_init(&arena, &qn_default_allocator);
    Str bytes = written(&arena, a);
    b = read_back(bytes.bytes, (size_t)bytes.len, error);
    CHECK(b);
    if (!b) printf("%s\n", error);
    artifact_release(a); /* the copy needs nothing of it */
    if (b) {
        CHECK_INT(b->nparams, 2);
        CHECK_INT(b->params[0].kind, TY_ARRAY);
        run(b);
        artifact_release(b);
    }
    arena_free(&arena);
}

static void test_classes_by_their_paths(void) {
    Artifact *a = compiled();
    if (!a) return;
    Arena arena;
    char error[256] = "";
    arena_init(&arena, &qn_default_allocator);
    name_classes(a);
    Str bytes = written(&arena, a);
    Artifact *b = read_back(bytes.bytes, (size_t)bytes.len, error);
    CHECK(b && b->result.cls == &classes[0] && b->result.nitems == 2);
    CHECK(b && str_is(b->result.fields[1], "member"));
    CHECK(b && b->result.items[0].cls == &classes[1] && b->result.items[1].cls == &classes[2]);
    if (b) artifact_release(b);
    char *copy = malloc((size_t)bytes.len), *at;
    memcpy(copy, bytes.bytes, (size_t)bytes.len);
    for (at = copy; memcmp(at, "c:m:P", 5) != 0;)
        at++;
    at[4] = 'Q'; /* another class */
    CHECK(!read_back(copy, (size_t)bytes.len, error) && strstr(error, "not what it was"));
    free(copy);
    StrBuf out;
    buf_init(&out, &arena);
    Codec c = {.out = &out, .arena = &arena};
    CHECK(!store_write(&c, a, &store_no_names) && strstr(c.why, "cannot be found again"));
    arena_free(&arena);
    artifact_release(a);
}

static void test_without_the_object(void) {
    Artifact *a = cg_host(text, 3);
    Arena arena;
    StrBuf out;
    arena_init(&arena, &qn_default_allocator);
    buf_init(&out, &arena);
    Codec c = {.out = &out, .arena = &arena};
    CHECK(a && !store_write(&c, a, &store_no_names));
    CHECK(c.why && strstr(c.why, "not kept"));
    artifact_release(a);
    arena_free(&arena);
}

/* Of damage: `test_store SEED ROUNDS` does other damage, and more of it (make fuzz-cache). */
static uint32_t first_seed = 11;
static int rounds = 20000;

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static size_t damage(char *copy, Str bytes, int round, uint32_t *seed) {
    size_t size = (size_t)bytes.len;
    memcpy(copy, bytes.bytes, size);
    size_t kept = round % 4 ? size : next_random(seed) % size;
    for (uint32_t k = next_random(seed) % 3 + 1; k > 0 && kept; k--) {
        size_t at = next_random(seed) % kept;
        if (next_random(seed) % 4) at = next_random(seed) % QN_MIN(kept, 600);
        copy[at] = (char)next_random(seed);
    }
    return kept;
}

/* The checksum of an entry stands before this; nothing relies on that. What is read is not run. */
static void test_damaged_bytes(void) {
    Artifact *a = compiled();
    if (!a) return;
    Arena arena;
    name_classes(a);
    char error[256];
    arena_init(&arena, &qn_default_allocator);
    Str bytes = written(&arena, a);
    uint32_t seed = first_seed;
    size_t size = (size_t)bytes.len;
    char *copy = malloc(size);
    int refused = 0;
    for (int round = 0; round < rounds; round++) {
        size_t kept = damage(copy, bytes, round, &seed);
        Artifact *b = read_back(copy, kept, error);
        refused += b == NULL;
        artifact_release(b);
    }
    CHECK(refused > rounds / 4);
    free(copy);
    arena_free(&arena);
    artifact_release(a);
}

/* -- instances alone ----------------------------------------------------------------------------- */

static const char small[] = "func @f(n: i64) -> i64 typed {\n"
                            "b0:\n"
                            "  %1: i64 = param 0\n"
                            "  %2: i64 = const 7\n"
                            "  %3: i64 = mul %1, %2\n"
                            "  return %3\n"
                            "}\n";

/* Of the code of an artifact, which it outlives. */
static Instance *instance_of(const Artifact *a, uint64_t number) {
    bool make;
    char error[256];
    void *address;
    Instance *instance = instance_get((Hash128){number, 9}, &make);
    HostObject object = {.object = a->object.bytes,
                         .size = (size_t)a->object.len,
                         .symbol = a->entry_name.bytes,
                         .naddresses = a->naddresses,
                         .addresses = a->addresses};
    HostCode *code = host_code_load(&object, &address, error, sizeof error);
    InstanceParts parts = {.symbol = object.symbol,
                           .object = object.object,
                           .size = object.size,
                           .naddresses = object.naddresses,
                           .addresses = object.addresses,
                           .nfacts = 1,
                           .facts = {{2, 0}}};
    CHECK(make && code && instance_made(instance, code, address, &parts));
    return instance;
}

/* A claimed instance of these bytes; NULL: they are refused, and the claim was given up. */
static Instance *instance_back(const char *bytes, size_t size, uint64_t number) {
    bool make;
    Arena arena;
    arena_init(&arena, &qn_default_allocator);
    Codec c = {.at = bytes, .end = bytes + size, .arena = &arena};
    Instance *instance = instance_get((Hash128){number, 10}, &make);
    CHECK(make);
    if (!store_read_instance(&c, instance, NULL, 0)) {
        CHECK(c.why);
        instance_failed(instance);
        instance = NULL;
    }
    arena_free(&arena);
    return instance;
}

static void test_instances(void) {
    CompileOptions options = {.opt_level = 3, .keep_object = true};
    Artifact *a = cg_compile(small, &options);
    if (!a) return;
    Arena arena;
    StrBuf out;
    arena_init(&arena, &qn_default_allocator);
    buf_init(&out, &arena);
    Codec c = {.out = &out, .arena = &arena};
    Instance *instance = instance_of(a, 1);
    CHECK(store_write_instance(&c, instance));
    Str bytes = buf_take(&out);
    Instance *back = instance_back(bytes.bytes, (size_t)bytes.len, 0);
    CHECK(back);
    if (back) {
        const InstanceParts *x = instance_parts(instance), *y = instance_parts(back);
        CHECK(y->read && !x->read && x->size == y->size && !strcmp(x->symbol, y->symbol));
        CHECK(!memcmp(x->object, y->object, x->size) && y->nfacts == 1 &&
              y->facts[0].attribute == 2);
        instance_release(back);
    }
    uint32_t seed = first_seed;
    char *copy = malloc((size_t)bytes.len);
    int refused = 0;
    for (int round = 1; round <= rounds; round++) {
        size_t kept = damage(copy, bytes, round, &seed);
        Instance *read = instance_back(copy, kept, (uint64_t)round);
        refused += read == NULL;
        if (read) instance_release(read);
    }
    CHECK(refused > rounds / 4);
    free(copy);
    instance_release(instance);
    cg_drop_instances();
    arena_free(&arena);
    artifact_release(a);
}

int main(int argc, char **argv) {
    if (argc > 1) first_seed = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2) rounds = (int)strtol(argv[2], NULL, 10);
    RUN(test_there_and_back);
    RUN(test_classes_by_their_paths);
    RUN(test_without_the_object);
    RUN(test_damaged_bytes);
    RUN(test_instances);
    return check_report();
}
