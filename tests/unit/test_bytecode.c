/* test_bytecode.c - the golden fixtures of the bytecode frontend as raw material: random mutations of
 * them (hostile code objects), allocators that fail, and the gate that every opcode of every version is
 * exercised by some fixture.
 *
 *     test_bytecode [MUTANTS]     random mutants for each fixture (default 25) */
#include "tests/unit/bytecode_test.h"

#include <dirent.h>

static int mutants_each = 25;

/* -- fixtures ------------------------------------------------------------------------------------ */

enum { MAX_FIXTURES = 400 };
typedef struct Fixture {
    char name[64];
    char *text;
} Fixture;

static Str section(Arena *arena, Str text, const char *from, const char *to) {
    const char *start = strstr(text.bytes, from), *end = start ? strstr(start, to) : NULL;
    if (!end) return STR("");
    start += strlen(from);
    return str_copy(arena, start, (size_t)(end - start));
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const Fixture *)a)->name, ((const Fixture *)b)->name);
}

/* The code sections of a version's golden files, in the order of their names. */
static int load_fixtures(Arena *arena, int32_t version, Fixture *out) {
    Str folder = str_printf(arena, "tests/golden/bytecode/%d", (int)version);
    DIR *dir = opendir(folder.bytes);
    int n = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir)) && n < MAX_FIXTURES;) {
        const char *dot = strrchr(entry->d_name, '.');
        char error[256];
        Str text;
        if (!dot || strcmp(dot, ".golden") != 0) continue;
        Str path = str_printf(arena, "%s/%s", folder.bytes, entry->d_name);
        if (!os_read_file(arena, path.bytes, &text, error, sizeof error)) continue;
        snprintf(out[n].name, sizeof out[n].name, "%.*s", (int)(dot - entry->d_name),
                 entry->d_name);
        out[n++].text = (char *)section(arena, text, "--CODE--\n", "--EXPECT--\n").bytes;
    }
    if (dir) closedir(dir);
    qsort(out, (size_t)n, sizeof *out, by_name);
    CHECK(n > 50, "only %d fixtures in %s", n, folder.bytes);
    return n;
}

/* -- the coverage gate (BYT-08) ------------------------------------------------------------------- */

typedef struct Excuse {
    const char *name, *reason;
} Excuse;

/* Instructions that no fixture can reach, and why. Anything else must be exercised. */
static const Excuse excuses[] = {
    {"CACHE", "the inline cache of another instruction; never executed itself"},
    {"PUSH_EXC_INFO", "only in exception handlers, which no live code enters"},
    {"CHECK_EXC_MATCH", "only in exception handlers"},
    {"CHECK_EG_MATCH", "only in exception handlers"},
    {"PREP_RERAISE_STAR", "only in exception handlers"},
    {"POP_EXCEPT", "only in exception handlers"},
    {"RERAISE", "only in exception handlers"},
    {"WITH_EXCEPT_START", "only in exception handlers"},
    {"CALL_INTRINSIC_2", "only in exception handlers and generic classes"},
    {"CLEANUP_THROW", "a generator is refused by its flags"},
    {"GET_ANEXT", "an async function is refused by its flags"},
    {"END_ASYNC_FOR", "an async function is refused by its flags"},
    {"IMPORT_STAR", "only in modules"},
    {"BUILD_TEMPLATE", "behind BUILD_INTERPOLATION, which is refused"},
    {"LOAD_NAME", "only in class bodies and modules"},
    {"STORE_NAME", "only in class bodies and modules"},
    {"DELETE_NAME", "only in class bodies and modules"},
    {"LOAD_LOCALS", "only in class bodies"},
    {"LOAD_CLASSDEREF", "only in class bodies"},
    {"LOAD_FROM_DICT_OR_GLOBALS", "only in class bodies"},
    {"LOAD_FROM_DICT_OR_DEREF", "only in class bodies"},
    {"SETUP_ANNOTATIONS", "only in class bodies and modules"},
};

/* Mapped instructions whose handler refuses every use that CPython makes of them. */
static const char *const refused_by_use[] = {"LOAD_CLOSURE", "DICT_MERGE",
                                             "SET_FUNCTION_ATTRIBUTE"};

/* Refused by most uses; what it makes for a list comprehension and for a plain lambda is not, nor is a display behind `**`. */
static bool is_made_or_refused(const char *name, uint8_t seen) {
    return (strcmp(name, "MAKE_FUNCTION") == 0 || strcmp(name, "DICT_MERGE") == 0) && seen;
}

/* Until 3.12 in functions of their own, which fixtures do not hold. */
static bool is_in_comprehension(int32_t version, const char *name) {
    return version < 312 && strcmp(name, "SET_ADD") == 0;
}

static bool is_refused_by_use(const char *name) {
    for (int k = 0; k < countof(refused_by_use); k++)
        if (strcmp(refused_by_use[k], name) == 0) return true;
    return false;
}

static const char *excuse_of(const char *name) {
    for (int k = 0; k < countof(excuses); k++)
        if (strcmp(excuses[k].name, name) == 0) return excuses[k].reason;
    return NULL;
}

/* Marks each opcode of live code: 1 where the function builds, 2 where it is refused. What becomes
 * nothing belongs to no block: there its presence counts. */
static void mark_live(const CodeUnit *code, bool builds, uint8_t seen[256], Session *s) {
    Decoded decoded;
    PyCfg cfg;
    if (!bc_decode(&decoded, &s->arena, code, false, &s->diags) ||
        !bc_cfg(&cfg, &s->arena, &decoded, &s->diags))
        return;
    int extended = bc_opcode_extended_arg(code->version);
    for (int32_t k = 0; k < cfg.nblocks; k++) {
        if (!cfg.blocks[k].reachable) continue;
        for (int32_t i = cfg.blocks[k].first; i < cfg.blocks[k].end; i++) {
            int32_t unit = decoded.insts.items[i].unit;
            while (code->bytes[2 * unit] == extended)
                unit++;
            seen[code->bytes[2 * unit]] |= builds ? 1 : 2;
        }
    }
    for (int32_t unit = 0; builds && unit < decoded.nunits;) {
        int op = code->bytes[2 * unit];
        if (bc_opcode_status(code->version, op) == 3) seen[op] |= 1;
        unit += 1 + bc_opcode_caches(code->version, op);
    }
}

static void test_BYT_08_every_opcode_is_exercised(int32_t version) {
    uint8_t seen[256] = {0};
    Fixture *fixtures = calloc(MAX_FIXTURES, sizeof *fixtures);
    Session files;
    session_open(&files);
    int n = load_fixtures(&files.arena, version, fixtures);
    for (int k = 0; k < n; k++) {
        Session s;
        session_open(&s);
        const CodeUnit *code = code_parse(&s.arena, fixtures[k].text, &s.diags);
        CHECK(code != NULL, "%d %s: %s", version, fixtures[k].name, first_message(&s));
        bool builds = code && bc_build(s.module, code);
        Session every;
        session_open(&every);
        every.func = code ? bc_build_all(every.module, code) : NULL;
        CHECK(sound_all(&every, builds), "%d %s, all: %s", version, fixtures[k].name,
              first_message(&every));
        session_close(&every);
        if (code) mark_live(code, builds, seen, &s);
        session_close(&s);
    }
    for (int op = 0; op < 256; op++) {
        const char *name = bc_opcode_name(version, op);
        if (!name) continue;
        bool refused = bc_opcode_status(version, op) == 2 || is_refused_by_use(name);
        bool done = refused ? (seen[op] & 2) != 0 : (seen[op] & 1) != 0;
        if (is_made_or_refused(name, seen[op]) || is_in_comprehension(version, name)) continue;
        if (excuse_of(name))
            CHECK(!done, "%d: %s is exercised; take it off the list", version, name);
        else
            CHECK(done, "%d: no fixture exercises %s", version, name);
        CHECK(!refused || !(seen[op] & 1), "%d: %s is refused, yet a function with it builds",
              version, name);
    }
    session_close(&files);
    free(fixtures);
}

/* -- mutants (BYT-07) ------------------------------------------------------------------------------ */

static uint64_t rng_state;
static uint32_t rng(uint32_t below) {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)((rng_state >> 16) % (below ? below : 1));
}

/* A copy in blocks of their exact size, so that a sanitizer sees a read beyond one. */
typedef struct Mutant {
    CodeUnit code;
    uint8_t *bytes, *exceptions, *kinds;
} Mutant;

static void *exact(const void *from, size_t size) {
    void *copy = malloc(size ? size : 1);
    if (copy && size) memcpy(copy, from, size);
    return copy;
}

static int random_opcode(int32_t version) {
    int op;
    do
        op = (int)rng(256);
    while (!bc_opcode_name(version, op) && rng(16));
    return op;
}

static void mutate_byte(Mutant *m) {
    CodeUnit *c = &m->code;
    uint32_t at = rng((uint32_t)c->nbytes / 2);
    switch (rng(6)) {
    case 0: m->bytes[rng((uint32_t)c->nbytes)] = (uint8_t)rng(256); break;
    case 1: m->bytes[rng((uint32_t)c->nbytes)] ^= (uint8_t)(1u << rng(8)); break;
    case 2: m->bytes[2 * at] = (uint8_t)random_opcode(c->version); break;
    case 3: m->bytes[2 * at + 1] = (uint8_t)rng(8); break;
    case 4: {
        uint32_t other = rng((uint32_t)c->nbytes / 2);
        for (int k = 0; k < 2; k++) {
            uint8_t byte = m->bytes[2 * at + k];
            m->bytes[2 * at + k] = m->bytes[2 * other + k];
            m->bytes[2 * other + k] = byte;
        }
        break;
    }
    case 5: m->bytes[2 * at] = (uint8_t)bc_opcode_extended_arg(c->version); break;
    }
}

static void mutate(Mutant *m) {
    CodeUnit *c = &m->code;
    switch (rng(16)) {
    case 0: c->nbytes = (int32_t)rng((uint32_t)c->nbytes + 1); break;
    case 1: c->nconsts = (int32_t)rng((uint32_t)c->nconsts + 1); break;
    case 2: c->nnames = (int32_t)rng((uint32_t)c->nnames + 1); break;
    case 3: c->nlocals = (int32_t)rng((uint32_t)c->nlocals + 1); break;
    case 4: c->stacksize = (int32_t)rng(8); break;
    case 5: c->nargs = (int32_t)rng((uint32_t)c->nlocals + 2); break;
    case 6: c->flags ^= 1 << rng(10); break;
    case 7:
        if (c->nlocals) m->kinds[rng((uint32_t)c->nlocals)] = (uint8_t)(0x20u << rng(3));
        break;
    case 8: c->version = 311 + (int32_t)rng(4); break;
    case 9:
        if (c->nexceptions) m->exceptions[rng((uint32_t)c->nexceptions)] = (uint8_t)rng(256);
        break;
    default: mutate_byte(m); break;
    }
}

static void run_mutant(const CodeUnit *original, const char *name, int number, int counts[2]) {
    Mutant m = {.code = *original};
    CodeUnit *c = &m.code;
    Session s;
    c->bytes = m.bytes = exact(c->bytes, (size_t)c->nbytes);
    c->exceptions = m.exceptions = exact(c->exceptions, (size_t)c->nexceptions);
    c->local_kinds = m.kinds = exact(c->local_kinds, (size_t)c->nlocals);
    for (uint32_t k = 1 + rng(4); k > 0 && c->nbytes >= 2; k--)
        mutate(&m);
    uint8_t *cut = exact(m.bytes, (size_t)c->nbytes);
    c->bytes = cut;
    session_open(&s);
    s.func = bc_build(s.module, c);
    CHECK(sound(&s), "%d %s, mutant %d: %s", original->version, name, number, first_message(&s));
    counts[s.func != NULL]++;
    bool built = s.func != NULL;
    session_close(&s);
    session_open(&s);
    s.func = bc_build_all(s.module, c);
    CHECK(sound_all(&s, built), "%d %s, mutant %d, all: %s", original->version, name, number,
          first_message(&s));
    session_close(&s);
    free(m.bytes);
    free(m.exceptions);
    free(m.kinds);
    free(cut);
}

static void test_BYT_07_mutants(int32_t version) {
    Fixture *fixtures = calloc(MAX_FIXTURES, sizeof *fixtures);
    Session files;
    session_open(&files);
    int n = load_fixtures(&files.arena, version, fixtures), counts[2] = {0};
    for (int k = 0; k < n; k++) {
        const CodeUnit *code = code_parse(&files.arena, fixtures[k].text, &files.diags);
        rng_state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(k + 1) + (uint64_t)version;
        for (int number = 0; code && code->nbytes && number < mutants_each; number++)
            run_mutant(code, fixtures[k].name, number, counts);
    }
    CHECK(counts[0] > n && counts[1] > n, "%d: %d refused, %d built", version, counts[0],
          counts[1]);
    session_close(&files);
    free(fixtures);
}

/* -- text ------------------------------------------------------------------------------------------ */

/* Random damage to the text of a fixture: read or refused, never more. */
static void test_BYT_07_damaged_text(int32_t version) {
    Fixture *fixtures = calloc(MAX_FIXTURES, sizeof *fixtures);
    Session files;
    session_open(&files);
    int n = load_fixtures(&files.arena, version, fixtures);
    rng_state = 88172645463325252u;
    for (int k = 0; k < n * mutants_each / 4; k++) {
        size_t length = strlen(fixtures[k % n].text);
        char *text = exact(fixtures[k % n].text, length + 1);
        for (uint32_t times = 1 + rng(3); times > 0; times--)
            text[rng((uint32_t)length)] = "\"\\@:-()x;,\n 09azZ{\xff"[rng(19)];
        if (rng(4) == 0) text[rng((uint32_t)length)] = 0;
        Session s;
        session_open(&s);
        const CodeUnit *code = code_parse(&s.arena, text, &s.diags);
        CHECK((code == NULL) == s.diags.failed, "%d %s", version, fixtures[k % n].name);
        if (code) s.func = bc_build(s.module, code);
        CHECK(!code || sound(&s), "%d %s: %s", version, fixtures[k % n].name, first_message(&s));
        session_close(&s);
        free(text);
    }
    session_close(&files);
    free(fixtures);
}

/* -- memory ---------------------------------------------------------------------------------------- */

typedef struct Limited {
    int64_t left;
} Limited;

static void *limited_resize(void *user, void *old, size_t old_size, size_t new_size) {
    Limited *limited = user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    if (limited->left-- <= 0) return NULL;
    return realloc(old, new_size);
}

/* The n-th allocation fails, for every n until all succeed: the arena unwinds and frees everything. */
static void test_memory_runs_out(void) {
    Session files;
    Fixture *fixtures = calloc(MAX_FIXTURES, sizeof *fixtures);
    session_open(&files);
    int n = load_fixtures(&files.arena, 313, fixtures);
    const char *text = NULL;
    for (int k = 0; k < n; k++)
        if (strcmp(fixtures[k].name, "for_nested") == 0) text = fixtures[k].text;
    CHECK(text != NULL, "for_nested.golden is missing");
    int failed = 0;
    bool done = text == NULL;
    for (int64_t limit = 0; !done && limit < 1000; limit++) {
        Limited limited = {limit};
        Allocator allocator = {limited_resize, &limited};
        Arena arena;
        jmp_buf out_of_memory;
        arena_init(&arena, &allocator);
        arena.on_failure = &out_of_memory;
        if (setjmp(out_of_memory) == 0) {
            DiagList diags;
            diag_init(&diags, &arena);
            Module *module = ir_module_new(&arena, &diags);
            const CodeUnit *code = code_parse(&arena, text, &diags);
            done = code && bc_build(module, code);
        } else {
            failed++;
        }
        arena_free(&arena);
    }
    CHECK(done && failed > 0, "%d allocations failed", failed);
    session_close(&files);
    free(fixtures);
}

int main(int argc, char **argv) {
    if (argc > 1) mutants_each = atoi(argv[1]);
    for (int32_t version = VERSION_FIRST; version <= VERSION_LAST; version++) {
        test_BYT_08_every_opcode_is_exercised(version);
        test_BYT_07_mutants(version);
        test_BYT_07_damaged_text(version);
    }
    test_memory_runs_out();
    printf("test_bytecode: %d checks, %d failures\n", checks, failures);
    return failures != 0;
}
