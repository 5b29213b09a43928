/* test_base.c - frontend/base: arena, vectors, strings, maps, hash, diagnostics, dump words, files, threads. */
#include "frontend/base/arguments.h"
#include "frontend/base/bits.h"
#include "frontend/base/diag.h"
#include "frontend/base/dump.h"
#include "frontend/base/hash.h"
#include "frontend/base/map.h"
#include "frontend/base/os.h"
#include "frontend/base/vec.h"
#include "tests/unit/check.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- arena ----------------------------------------------------------------------------------- */

static void test_arena_alignment_and_zero(void) {
    Arena arena;
    arena_init(&arena, NULL);
    for (size_t n = 0; n < 5000; n += 37) {
        char *p = arena_zalloc(&arena, n);
        CHECK(p != NULL && (uintptr_t)p % 16 == 0);
        bool zero = true;
        for (size_t i = 0; i < n; i++)
            zero &= p[i] == 0;
        CHECK(zero);
        memset(p, 0xff, n);
    }
    arena_free(&arena);
}

static void test_arena_grow(void) {
    Arena arena;
    arena_init(&arena, NULL);
    char *p = arena_alloc(&arena, 10);
    memcpy(p, "abcdefghi", 10);
    CHECK(arena_grow(&arena, p, 10, 16) == p);  /* within the rounding */
    CHECK(arena_grow(&arena, p, 16, 400) == p); /* newest: in place */
    arena_alloc(&arena, 1);
    char *q = arena_grow(&arena, p, 400, 800);
    CHECK(q != p && strcmp(q, "abcdefghi") == 0);
    char *r = arena_grow(&arena, q, 800, 1 << 20); /* larger than the block */
    CHECK(r != q && strcmp(r, "abcdefghi") == 0);
    CHECK(arena_grow(&arena, NULL, 0, 8) != NULL);
    CHECK(arena_grow(&arena, p, 10, 16) == p); /* not the newest, but it fits */
    arena_free(&arena);
}

static void test_arena_marks_give_memory_back(void) {
    CheckAllocator state = {0};
    Allocator allocator = {check_resize, &state};
    Arena arena;
    arena_init(&arena, &allocator);
    ArenaMark empty = arena_mark(&arena);
    char *kept = arena_copy(&arena, "kept", 5);
    long before = state.live;
    ArenaMark mark = arena_mark(&arena);
    for (int i = 0; i < 100; i++)
        arena_alloc(&arena, 10000);
    CHECK(state.live > 1000000);
    arena_release(&arena, mark);
    CHECK_INT(state.live, before);
    CHECK(strcmp(kept, "kept") == 0);
    CHECK((char *)arena_alloc(&arena, 8) == kept + 16);
    arena_release(&arena, empty);
    CHECK_INT(state.live, 0);
    CHECK(arena_alloc(&arena, 8) != NULL);
    arena_free(&arena);
    CHECK_INT(state.live, 0);
    CHECK(!state.mismatch);
}

static void test_arena_huge_sizes_unwind(void) {
    Arena arena;
    jmp_buf out_of_memory;
    volatile int unwound = 0;
    arena_init(&arena, NULL);
    arena.on_failure = &out_of_memory;
    if (setjmp(out_of_memory)) unwound++;
    if (unwound == 0) arena_alloc(&arena, SIZE_MAX);
    if (unwound == 1) arena_alloc(&arena, SIZE_MAX / 2);
    if (unwound == 2) {
        Vec(int64_t) v = {0};
        vec_reserve(&arena, &v, INT32_MAX);
    }
    CHECK_INT(unwound, 3);
    arena_free(&arena);
}

/* -- containers ------------------------------------------------------------------------------ */

static void test_vec(void) {
    Arena arena;
    arena_init(&arena, NULL);
    Vec(int32_t) v = {0};
    Vec(int32_t) w = {0};
    for (int32_t i = 0; i < 10000; i++) {
        vec_push(&arena, &v, i);
        vec_push(&arena, &w, -i);
    }
    bool ok = v.len == 10000;
    for (int32_t i = 0; i < v.len; i++)
        ok &= v.items[i] == i && w.items[i] == -i;
    CHECK(ok);
    CHECK_INT(vec_last(&v), 9999);
    CHECK_INT(vec_pop(&v), 9999);
    CHECK_INT(v.len, 9999);
    vec_resize(&arena, &v, 20000);
    CHECK_INT(v.items[9998], 9998);
    CHECK_INT(v.items[9999], 0);
    CHECK_INT(v.items[19999], 0);
    arena_free(&arena);
}

static void test_bits(void) {
    Arena arena;
    arena_init(&arena, NULL);
    Bits a = bits_new(&arena, 130), b = bits_new(&arena, 130);
    bits_set(&a, 0), bits_set(&b, 129), bits_set(&b, 64);
    CHECK(bits_or(&a, &b));
    CHECK(!bits_or(&a, &b));
    CHECK(bits_get(&a, 0) && bits_get(&a, 64) && bits_get(&a, 129) && !bits_get(&a, 63));
    bits_clear(&a, 64);
    CHECK(!bits_get(&a, 64) && bits_get(&a, 129));
    arena_free(&arena);
}

static void test_map_order_and_lookup(void) {
    Arena arena;
    Map map;
    arena_init(&arena, NULL);
    map_init(&map, &arena);
    CHECK(map_find(&map, 5) == NULL);
    for (int64_t i = 0; i < 5000; i++)
        map_put(&map, (uint64_t)i * 4096)->num = i;
    bool ok = map.len == 5000;
    for (int64_t i = 0; i < 5000; i++) {
        const MapValue *v = map_find(&map, (uint64_t)i * 4096);
        ok &= v && v->num == i && map.entries[i].key == (uint64_t)i * 4096;
    }
    CHECK(ok);
    CHECK(map_find(&map, 1) == NULL);
    map_put(&map, 4096)->num = 77; /* not a second entry */
    CHECK_INT(map.len, 5000);
    CHECK_INT(map_find(&map, 4096)->num, 77);
    arena_free(&arena);
}

static void test_map_of_strings(void) {
    Arena arena;
    Map map;
    arena_init(&arena, NULL);
    map_init(&map, &arena);
    CHECK_INT(map_put_str(&map, STR("x"))->num, 0);
    map_put_str(&map, STR("x"))->num = 1;
    map_put_str(&map, STR(""))->num = 2;
    map_put_str(&map, STR("x\0y"))->num = 3;
    CHECK_INT(map_find_str(&map, STR("x"))->num, 1);
    CHECK_INT(map_find_str(&map, (Str){0})->num, 2);
    CHECK_INT(map_find_str(&map, STR("x\0y"))->num, 3);
    CHECK(map_find_str(&map, STR("x\0z")) == NULL);
    CHECK_INT(map.len, 3);
    for (int i = 0; i < 3000; i++)
        map_put_str(&map, str_printf(&arena, "key%d", i))->num = i;
    bool ok = true;
    for (int i = 0; i < 3000; i++)
        ok &= map_find_str(&map, str_printf(&arena, "key%d", i))->num == i;
    CHECK(ok);
    arena_free(&arena);
}

static void test_strings(void) {
    Arena arena;
    arena_init(&arena, NULL);
    StrTable *table = str_table_new(&arena);
    Str a = str_intern(table, "saxpy", 5), b = str_intern(table, "saxpyz", 5);
    CHECK(a.bytes == b.bytes && a.bytes[5] == 0);
    CHECK(str_intern(table, "saxpyz", 6).bytes != a.bytes);
    CHECK(str_intern(table, "", 0).bytes == str_intern(table, "x", 0).bytes);
    CHECK(str_is(a, "saxpy") && !str_is(a, "saxp") && !str_is(a, "saxpyz"));
    CHECK(str_starts(a, "sax") && str_starts(a, "") && !str_starts(a, "saxpyz"));
    CHECK(str_equal((Str){0}, STR("")));
    StrBuf buf;
    buf_init(&buf, &arena);
    CHECK_STR(buf_take(&buf), "");
    for (int i = 0; i < 100; i++)
        buf_printf(&buf, "%d,", i);
    buf_str(&buf, "end"), buf_char(&buf, '!'), buf_printf(&buf, "%s", "");
    Str text = buf_take(&buf);
    CHECK_INT(text.len, 10 * 2 + 90 * 3 + 4);
    CHECK(text.bytes[text.len] == 0 && str_starts(text, "0,1,2,"));
    buf_str(&buf, "more");
    CHECK_INT(text.bytes[text.len], 0); /* the taken text is not written over */
    arena_free(&arena);
}

/* -- hash ------------------------------------------------------------------------------------ */

static void test_hash_does_not_depend_on_splitting(void) {
    uint8_t bytes[300];
    for (int i = 0; i < 300; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    for (size_t n = 0; n < 300; n += 13) {
        Hash128 whole = hash_bytes(bytes, n);
        for (size_t cut = 0; cut <= n; cut++) {
            Hasher h;
            hash_init(&h);
            hash_update(&h, bytes, cut);
            hash_update(&h, bytes + cut, n - cut);
            CHECK(hash_equal(hash_final(&h), whole));
        }
        Hasher single;
        hash_init(&single);
        for (size_t i = 0; i < n; i++)
            hash_update(&single, bytes + i, 1);
        CHECK(hash_equal(hash_final(&single), whole));
    }
}

static void test_hash_tells_inputs_apart(void) {
    uint8_t zeros[200] = {0};
    Arena arena;
    Map seen;
    arena_init(&arena, NULL);
    map_init(&seen, &arena);
    for (size_t n = 0; n <= 200; n++)
        map_put(&seen, hash_bytes(zeros, n).lo);
    CHECK_INT(seen.len, 201); /* length alone */
    for (uint64_t i = 1; i <= 20000; i++) {
        Hasher h;
        hash_init(&h);
        hash_u64(&h, i);
        map_put(&seen, hash_final(&h).lo);
    }
    CHECK_INT(seen.len, 20201);
    Hasher h; /* little-endian, as documented */
    hash_init(&h);
    hash_u64(&h, UINT64_C(0x0807060504030201));
    CHECK(hash_equal(hash_final(&h), hash_bytes("\1\2\3\4\5\6\7\10", 8)));
    arena_free(&arena);
}

/* Each input bit flips each output bit in about half of the cases. */
static void test_hash_avalanche(void) {
    enum { BYTES = 48, ROUNDS = 60 };
    static int flips[BYTES * 8][128];
    memset(flips, 0, sizeof flips);
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t input[BYTES];
        for (int i = 0; i < BYTES; i++)
            input[i] = (uint8_t)((seed = hash_mix(seed + 1)) >> 17);
        Hash128 base = hash_bytes(input, BYTES);
        for (int bit = 0; bit < BYTES * 8; bit++) {
            input[bit / 8] ^= (uint8_t)(1 << bit % 8);
            Hash128 other = hash_bytes(input, BYTES);
            input[bit / 8] ^= (uint8_t)(1 << bit % 8);
            for (int k = 0; k < 64; k++) {
                flips[bit][k] += (int)((base.lo ^ other.lo) >> k & 1);
                flips[bit][64 + k] += (int)((base.hi ^ other.hi) >> k & 1);
            }
        }
    }
    int least = ROUNDS, most = 0;
    for (int bit = 0; bit < BYTES * 8; bit++)
        for (int k = 0; k < 128; k++) {
            least = QN_MIN(least, flips[bit][k]);
            most = QN_MAX(most, flips[bit][k]);
        }
    /* 49,152 binomial samples of 60: beyond 5.5 standard deviations means a pattern. */
    CHECK(least > 30 - 22 && most < 30 + 22);
}

/* -- diagnostics ----------------------------------------------------------------------------- */

static const char *const source_lines[] = {
    "        y[i] = a * x[i] + label",
    "\tif x == \xc2\xb5t\xc3\xa9 \xe2\x80\xae:   \n",
    "total = sum(a,",
};

static Str source_line(void *user, Str file, int32_t line) {
    (void)user;
    CHECK_STR(file, "kernels.py");
    return line >= 14 && line <= 16 ? str_from(source_lines[line - 14]) : STR("");
}

static Str rendered(Arena *arena, const DiagItem *item, bool source) {
    StrBuf out;
    buf_init(&out, arena);
    diag_render(&out, item, source ? source_line : NULL, NULL);
    return buf_take(&out);
}

static void test_diag_render_as_documented(void) {
    Arena arena;
    DiagList list;
    arena_init(&arena, NULL);
    diag_init(&list, &arena);
    Span span = {STR("kernels.py"), 14, 14, 15, 31};
    CHECK(!diag_add(&list, E0207, &span, "add", "float64[:]", "str"));
    diag_note(&list, NULL, "'%s' is a global of type str; only numbers and arrays can be used here",
              "label");
    diag_note(&list, NULL, "while compiling %s for %s",
              "saxpy(int64, float32, float32[:], float32[:])", "cuda:sm_90");
    CHECK(list.failed && list.items.len == 1);
    CHECK_STR(
        rendered(&arena, &list.items.items[0], true),
        "kernels.py:14:16: error: cannot add float64[:] and str                       [E0207]\n"
        "   14 |         y[i] = a * x[i] + label\n"
        "      |                ^^^^^^^^^^^^^^^^\n"
        "note: 'label' is a global of type str; only numbers and arrays can be used here\n"
        "note: while compiling saxpy(int64, float32, float32[:], float32[:]) for cuda:sm_90\n");
    arena_free(&arena);
}

static void test_diag_render_places(void) {
    Arena arena;
    DiagList list;
    arena_init(&arena, NULL);
    diag_init(&list, &arena);
    Span accents = {STR("kernels.py"), 15, 15, 9, 14}; /* bytes; three characters */
    diag_add(&list, E0201, &accents, "x\x1b[31m\n\xff");
    Span lines = {STR("kernels.py"), 16, 18, 8, 3};
    diag_note(&list, &lines, "assigned here");
    CHECK_STR(rendered(&arena, &list.items.items[0], true),
              "kernels.py:15:10: error: name 'x\\x1b[31m\\n\\xff' is not defined               "
              "[E0201]\n"
              "   15 | \tif x == \xc2\xb5t\xc3\xa9 \\u202e:\n"
              "      | \t        ^^^\n"
              "kernels.py:16:9: note: assigned here\n"
              "   16 | total = sum(a,\n"
              "      |         ^^^^^^\n");
    Span unknown = {STR("kernels.py"), 14, 14, -1, -1};
    diag_add(&list, W0901, &unknown, "a", "b");
    CHECK_STR(rendered(&arena, &list.items.items[1], true),
              "kernels.py:14: warning: mixing a and b gives float64: values above 2**53 lose "
              "digits   [W0901]\n"
              "   14 |         y[i] = a * x[i] + label\n");
    Span far = {STR("kernels.py"), 14, 14, 500, 600};
    diag_add(&list, E0003, &far);
    CHECK_STR(
        rendered(&arena, &list.items.items[2], false),
        "kernels.py:14:501: error: out of memory while compiling                      [E0003]\n");
    CHECK(strstr(rendered(&arena, &list.items.items[2], true).bytes, "^") == NULL);
    diag_add(&list, E0101, NULL, "yield");
    CHECK_STR(
        rendered(&arena, &list.items.items[3], true),
        "error: yield is not supported in a compiled function                         [E0101]\n");
    arena_free(&arena);
}

static void test_diag_table(void) {
    Arena arena;
    DiagList list;
    arena_init(&arena, NULL);
    diag_init(&list, &arena);
    diag_note(&list, NULL, "without an item it is nothing");
    CHECK_INT(list.items.len, 0);
    CHECK(strcmp(diag_name(E0207), "E0207") == 0);
    CHECK(diag_class(E0003) == DIAG_MEMORY && diag_severity(W0901) == SEV_WARNING);
    diag_add(&list, W0901, NULL, "int64", "uint64");
    CHECK(!list.failed); /* a warning is no failure */
    for (int code = 0; code < DIAG_COUNT; code++) {
        const char *name = diag_name((DiagCode)code);
        CHECK((name[0] == 'W') == (diag_severity((DiagCode)code) == SEV_WARNING));
        CHECK_INT(strlen(name), 5);
    }
    arena_free(&arena);
}

static void test_dump_words(void) {
    uint32_t bits = 1;
    Str unknown = {0};
    CHECK(dump_parse(NULL, &bits, &unknown) && bits == 0);
    CHECK(dump_parse("", &bits, &unknown) && bits == 0);
    CHECK(dump_parse("ssa,llvm", &bits, &unknown) && bits == (DUMP_ssa | DUMP_llvm));
    CHECK(dump_parse(" ptx, launch,,", &bits, &unknown) && bits == (DUMP_ptx | DUMP_launch));
    CHECK(!dump_parse("types,llvmir", &bits, &unknown));
    CHECK_STR(unknown, "llvmir");
    CHECK(!dump_parse("SSA", &bits, &unknown));
    for (int i = 0; i < DUMP_COUNT; i++)
        CHECK(dump_parse(dump_word(i), &bits, &unknown) && bits == 1u << i);
}

/* -- operating system ------------------------------------------------------------------------ */

static void test_os_library(void) {
    char error[200] = "";
    bool shared = true;
    CHECK(os_lib_open("libquern-does-not-exist.so", &shared, error, sizeof error) == NULL);
    CHECK(!shared && strstr(error, "libquern-does-not-exist.so"));
    void *m = os_lib_open("libc.so.6", &shared, error, sizeof error);
    CHECK(m != NULL && shared); /* the test itself has it loaded */
    CHECK(os_lib_symbol(m, "strlen") != NULL && os_lib_symbol(m, "quern_no_such_symbol") == NULL);
}

static void test_os_files(void) {
    char folder[] = "/tmp/quern-test-XXXXXX", path[200], deep[200], error[300] = "";
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a/b/file", folder);
    snprintf(deep, sizeof deep, "%s/a", folder);
    CHECK(mkdir(deep, 0700) == 0);
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    CHECK(mkdir(deep, 0700) == 0);
    Arena arena;
    arena_init(&arena, NULL);
    char *bytes = arena_alloc(&arena, 100000);
    for (int i = 0; i < 100000; i++)
        bytes[i] = (char)(i * 31 >> 3);
    CHECK(os_write_file(path, bytes, 100000, error, sizeof error));
    Str text = {0};
    CHECK(os_read_file(&arena, path, &text, error, sizeof error));
    CHECK(text.len == 100000 && memcmp(text.bytes, bytes, 100000) == 0 && text.bytes[100000] == 0);
    struct stat st;
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(os_write_file(path, "", 0, error, sizeof error));
    CHECK(os_read_file(&arena, path, &text, error, sizeof error) && text.len == 0);
    CHECK(os_exists(path) && !os_exists("/tmp/quern-no-such-file"));
    OsStamp first, second;
    CHECK(os_stamp(path, &first) && os_stamp(path, &second) &&
          !os_stamp("/tmp/quern-no-such-file", &second));
    CHECK(memcmp(&first, &second, sizeof first) == 0);
    CHECK(!os_write_file("/tmp/quern-no-such-folder/x", "y", 1, error, sizeof error) && error[0]);
    CHECK(!os_read_file(&arena, "/tmp/quern-no-such-file", &text, error, sizeof error));
    CHECK(strstr(error, "/tmp/quern-no-such-file") != NULL);
    CHECK(!os_read_file(&arena, folder, &text, error, sizeof error)); /* a folder */
    unlink(path);
    CHECK(mkdir(path, 0700) == 0 &&
          !os_write_file(path, "y", 1, error, sizeof error)); /* a folder is in the way */
    CHECK(rmdir(path) == 0);
    CHECK(rmdir(deep) == 0); /* no temporary file was left */
    deep[strlen(deep) - 2] = 0;
    CHECK(rmdir(deep) == 0 && rmdir(folder) == 0);
    arena_free(&arena);
}

typedef struct Shared {
    _Atomic int count;
    _Atomic bool go;
} Shared;

static void *worker(void *arg) {
    Shared *s = arg;
    char *here = __builtin_frame_address(0), *low = os_stack_low();
    while (!atomic_load(&s->go))
        os_sleep_ns(100000);
    CHECK(low < here && low == os_stack_low());
    atomic_fetch_add(&s->count, here - low <= 256 * 1024 ? 1 : 100);
    return NULL;
}

static void test_os_threads_and_time(void) {
    Shared s = {0};
    OsThread threads[4];
    int64_t before = os_now_ns();
    for (int i = 0; i < 4; i++)
        CHECK(os_thread_start(&threads[i], worker, &s, i ? 256 * 1024 : 0));
    os_sleep_ns(1000000);
    CHECK(os_now_ns() - before >= 1000000);
    CHECK(atomic_load(&s.count) == 0);
    atomic_store(&s.go, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&s.count), 3 + 100); /* the system's choice is larger */
    char *low = os_stack_low();
    CHECK(low && low < (char *)&s && (char *)&s - low <= 1 << 30);
    CHECK(os_cpu_count() >= 1);
}

/* -- memory that runs out -------------------------------------------------------------------- */

static void containers_body(Arena *arena) {
    StrTable *table = str_table_new(arena);
    Map map;
    DiagList list;
    Vec(int64_t) v = {0};
    map_init(&map, arena);
    diag_init(&list, arena);
    for (int i = 0; i < 3000; i++) {
        Str name = str_printf(arena, "name%d", i % 700);
        map_put_str(&map, str_intern(table, name.bytes, (size_t)name.len))->num = i;
        vec_push(arena, &v, i);
    }
    diag_add(&list, E0101, NULL, "this");
    diag_note(&list, NULL, "and that");
    rendered(arena, &list.items.items[0], false);
    CHECK_INT(map.len, 700);
}

static void test_out_of_memory_unwinds(void) {
    check_out_of_memory(containers_body);
}

/* The descriptor must not leak when the arena cannot hold the file. */
static void read_body(Arena *arena) {
    Str text = {0};
    char error[200];
    CHECK(os_read_file(arena, "/proc/self/exe", &text, error, sizeof error));
}

static void test_out_of_memory_closes_files(void) {
    int before = dup(0);
    close(before);
    check_out_of_memory(read_body);
    int after = dup(0);
    close(after);
    CHECK_INT(after, before);
}

/* -- arguments ------------------------------------------------------------------------------------ */

typedef struct NamedCall {
    const char *params, *keywords; /* a letter each */
} NamedCall;

static int32_t letter_param(const void *user, int32_t k, int32_t from) {
    const NamedCall *call = user;
    const char *found = strchr(call->params + from, call->keywords[k]);
    return found ? (int32_t)(found - call->params) : -1;
}

/* "0.2" where parameters get arguments 0, none and 2; otherwise what is wrong. */
static Str bound(Params params, const char *letters, int32_t positional, const char *keywords) {
    static char text[128];
    NamedCall call = {letters, keywords};
    Arguments args = {positional, (int32_t)strlen(keywords), letter_param, &call};
    int32_t source[8], wrong, n = params.npositional + params.nkwonly;
    ArgumentError error = arguments_bind(&params, &args, source, &wrong);
    char name[2] = {wrong < 0 ? 0 : keywords[wrong], 0};
    if (error)
        return arguments_error(text, sizeof text, error, &params, &args, name), str_from(text);
    for (int32_t i = 0; i < n; i++)
        text[i] = source[i] < 0 ? '.' : (char)('0' + source[i]);
    return text[n] = 0, str_from(text);
}

static void test_arguments_are_bound(void) {
    Params plain = {.npositional = 3};
    Params full = {.npositional = 3, .nposonly = 1, .nkwonly = 1};
    Params rest = {.npositional = 1, .nkwonly = 1, .varargs = true};
    CHECK_STR(bound(plain, "abc", 3, ""), "012");
    CHECK_STR(bound(plain, "abc", 1, "c"), "0.1");
    CHECK_STR(bound(plain, "abc", 0, "cba"), "210");
    CHECK_STR(bound(full, "abcd", 1, "dc"), "0.21");
    CHECK_STR(bound(rest, "ab", 4, "b"), "04");
    CHECK_STR(bound(plain, "abc", 4, ""), "takes 3 positional arguments but 4 were given");
    CHECK_STR(bound((Params){0}, "", 1, ""), "takes 0 positional arguments but 1 was given");
    CHECK_STR(bound(plain, "abc", 1, "a"), "got multiple values for argument 'a'");
    CHECK_STR(bound(plain, "abc", 0, "aa"), "got multiple values for argument 'a'");
    CHECK_STR(bound(plain, "abc", 1, "x"), "got an unexpected keyword argument 'x'");
    CHECK_STR(bound(full, "abcd", 0, "a"), "got an unexpected keyword argument 'a'");
    CHECK_STR(bound(full, "abcd", 4, ""), "takes 3 positional arguments but 4 were given");
}

int main(void) {
    RUN(test_arena_alignment_and_zero);
    RUN(test_arena_grow);
    RUN(test_arena_marks_give_memory_back);
    RUN(test_arena_huge_sizes_unwind);
    RUN(test_vec);
    RUN(test_bits);
    RUN(test_map_order_and_lookup);
    RUN(test_map_of_strings);
    RUN(test_strings);
    RUN(test_hash_does_not_depend_on_splitting);
    RUN(test_hash_tells_inputs_apart);
    RUN(test_hash_avalanche);
    RUN(test_diag_render_as_documented);
    RUN(test_diag_render_places);
    RUN(test_diag_table);
    RUN(test_dump_words);
    RUN(test_os_library);
    RUN(test_os_files);
    RUN(test_os_threads_and_time);
    RUN(test_out_of_memory_unwinds);
    RUN(test_out_of_memory_closes_files);
    RUN(test_arguments_are_bound);
    return check_report();
}
