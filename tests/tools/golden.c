/* golden.c - one runner for every golden folder.
 *
 *     golden [--update] [-v] PATH...
 *
 * A path is a *.golden file or a folder of them. A file has headed sections:
 *     --TEST--    one line: what is tested
 *     --ARGS--    the stage to run: NAME or NAME=VALUE, and words for it (see stages.h)
 *     --SOURCE--  optional: the source text that diagnostics quote
 *     --CODE--    the input
 *     --EXPECT--  the output, to the end of the file; diagnostics of the stage stand behind it
 * Prints a line diff of each failure; --update writes what came out into --EXPECT--. Exit status 0: all
 * passed; 1: some failed, or a path holds no test; 2: wrong usage. */
#include "frontend/base/os.h"
#include "tests/tools/stages.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef enum Section { S_TEST, S_ARGS, S_SOURCE, S_CODE, S_EXPECT, S_COUNT } Section;
static const char *const headings[S_COUNT] = {"--TEST--", "--ARGS--", "--SOURCE--", "--CODE--",
                                              "--EXPECT--"};

typedef struct Golden {
    const char *path;
    Str text;
    Str section[S_COUNT];
    bool present[S_COUNT];
} Golden;

typedef struct Totals {
    bool update, verbose;
    int passed, failed, updated;
} Totals;

/* -- reading --------------------------------------------------------------------------------- */

static int heading_at(const char *line, size_t length) {
    for (int i = 0; i < S_COUNT; i++)
        if (strlen(headings[i]) == length && memcmp(headings[i], line, length) == 0) return i;
    return -1;
}

/* Sections as they stand, each with its line ends. */
static bool split_sections(Arena *arena, Golden *g) {
    const char *p = g->text.bytes, *end = p + g->text.len, *from = p;
    int current = -1;
    while (p <= end) {
        size_t length = strcspn(p, "\n");
        int next = p == end ? S_COUNT : heading_at(p, length);
        /* Everything behind the heading of the output is output. */
        if (next >= 0 && !(current == S_EXPECT && next < S_COUNT)) {
            if (current >= 0) g->section[current] = str_copy(arena, from, (size_t)(p - from));
            if (next == S_COUNT) break;
            if (g->present[next] || (current < 0 && next != S_TEST)) return false;
            g->present[next] = true;
            current = next;
            from = p + length + (p[length] == '\n');
        }
        p += length + (p[length] == '\n');
    }
    return g->present[S_TEST] && g->present[S_ARGS] && g->present[S_CODE] && g->present[S_EXPECT];
}

/* -- running --------------------------------------------------------------------------------- */

static const Stage *find_stage(Str name) {
    static const Stage *const tables[] = {
#define STAGES(name) stages_##name,
#include "tests/tools/stages.def"
#undef STAGES
    };
    for (int t = 0; t < countof(tables); t++)
        for (const Stage *stage = tables[t]; stage->name; stage++)
            if (str_is(name, stage->name)) return stage;
    return NULL;
}

/* Line `line` of the section --SOURCE--, whatever the file is called. */
static Str source_line(void *user, Str file, int32_t line) {
    (void)file;
    const char *p = ((const Golden *)user)->section[S_SOURCE].bytes;
    for (; p && *p && line > 1; line--)
        p += strcspn(p, "\n") + (strchr(p, '\n') != NULL);
    return p && *p ? (Str){p, (int32_t)strcspn(p, "\n")} : STR("");
}

static void split_args(Arena *arena, Str args, Str *name, StageRun *run) {
    Vec(Str) words = {0};
    for (const char *p = args.bytes; *(p += strspn(p, " \n"));) {
        size_t n = strcspn(p, " \n");
        vec_push(arena, &words, str_copy(arena, p, n));
        p += n;
    }
    *name = words.len ? words.items[0] : STR("");
    run->nwords = words.len ? words.len - 1 : 0;
    run->words = words.items + (words.len > 0);
    const char *equals = name->len ? strchr(name->bytes, '=') : NULL;
    run->value = equals ? str_from(equals + 1) : STR("");
    if (equals) name->len = (int32_t)(equals - name->bytes);
}

/* The output of the stage with its diagnostics; a last line without an end gets one. */
static Str run_stage(Arena *arena, Golden *g) {
    StrBuf out;
    DiagList diags;
    Str name;
    buf_init(&out, arena);
    diag_init(&diags, arena);
    StageRun run = {.arena = arena, .diags = &diags, .code = g->section[S_CODE].bytes, .out = &out};
    split_args(arena, g->section[S_ARGS], &name, &run);
    const Stage *stage = find_stage(name);
    if (!stage) {
        buf_printf(&out, "golden: no stage '" STR_FMT "'\n", STR_ARG(name));
    } else {
        bool ok = stage->run(&run);
        for (int32_t i = 0; i < diags.items.len; i++)
            diag_render(&out, &diags.items.items[i], source_line, g);
        if (ok && diags.failed) buf_str(&out, "golden: the stage says it succeeded, with errors\n");
        if (!ok && !diags.failed) buf_str(&out, "golden: the stage failed without an error\n");
    }
    if (out.len && out.bytes[out.len - 1] != '\n') buf_char(&out, '\n');
    return buf_take(&out);
}

/* -- showing the difference ------------------------------------------------------------------ */

typedef Vec(Str) Lines;

static Lines lines_of(Arena *arena, Str text) {
    Lines lines = {0};
    for (const char *p = text.bytes, *end = p + text.len; p < end;) {
        size_t n = strcspn(p, "\n");
        Str line = {p, (int32_t)n};
        vec_push(arena, &lines, line);
        p += n + 1;
    }
    return lines;
}

static void print_line(char mark, Str line) {
    printf("  %c " STR_FMT "\n", mark, STR_ARG(line));
}

/* Longest common subsequence; both texts are cut to a size where its table stays small. */
static void print_diff(Arena *arena, Str expected, Str got) {
    enum { MOST = 1500 };
    Lines a = lines_of(arena, expected), b = lines_of(arena, got);
    int32_t na = QN_MIN(a.len, MOST), nb = QN_MIN(b.len, MOST), width = nb + 1;
    int32_t *common = arena_array(arena, int32_t, (na + 1) * width);
    for (int32_t i = na - 1; i >= 0; i--)
        for (int32_t j = nb - 1; j >= 0; j--)
            common[i * width + j] =
                str_equal(a.items[i], b.items[j])
                    ? common[(i + 1) * width + j + 1] + 1
                    : QN_MAX(common[(i + 1) * width + j], common[i * width + j + 1]);
    for (int32_t i = 0, j = 0; i < na || j < nb;) {
        bool same = i < na && j < nb && str_equal(a.items[i], b.items[j]);
        bool drop = !same && i < na &&
                    (j >= nb || common[(i + 1) * width + j] >= common[i * width + j + 1]);
        print_line(same ? ' ' : drop ? '-' : '+', drop || same ? a.items[i] : b.items[j]);
        i += same || drop;
        j += same || !drop;
    }
    if (na < a.len || nb < b.len) printf("  ... (the rest is not compared line by line)\n");
}

static bool write_expectation(const Golden *g, Str got) {
    char error[512];
    const char *heading = strstr(g->text.bytes, "\n--EXPECT--"); /* split_sections found one */
    size_t head = (size_t)(heading - g->text.bytes) + strlen("\n--EXPECT--");
    size_t size = head + 1 + (size_t)got.len;
    char *whole = malloc(size);
    if (!whole) return false;
    memcpy(whole, g->text.bytes, head);
    whole[head] = '\n';
    memcpy(whole + head + 1, got.bytes, (size_t)got.len);
    bool ok = os_write_file(g->path, whole, size, error, sizeof error);
    free(whole);
    if (!ok) printf("golden: %s\n", error);
    return ok;
}

/* -- one file, one folder -------------------------------------------------------------------- */

static void run_test(Arena *arena, const char *path, Totals *totals) {
    char error[512];
    Golden g = {.path = path};
    if (!os_read_file(arena, path, &g.text, error, sizeof error)) {
        printf("FAIL %s\n  %s\n", path, error);
        totals->failed++;
        return;
    }
    if (!split_sections(arena, &g)) {
        printf("FAIL %s\n  wants the sections --TEST-- --ARGS-- [--SOURCE--] --CODE-- --EXPECT--, "
               "each once\n",
               path);
        totals->failed++;
        return;
    }
    Str got = run_stage(arena, &g);
    if (str_equal(got, g.section[S_EXPECT])) {
        totals->passed++;
        if (totals->verbose) printf("ok   %s\n", path);
    } else if (totals->update && write_expectation(&g, got)) {
        totals->updated++;
        printf("updated %s\n", path);
    } else {
        totals->failed++;
        printf("FAIL %s: " STR_FMT, path, STR_ARG(g.section[S_TEST]));
        print_diff(arena, g.section[S_EXPECT], got);
    }
}

/* Each test in an arena of its own. */
static void run_file(const char *path, Totals *totals) {
    Arena arena;
    jmp_buf out_of_memory;
    arena_init(&arena, NULL);
    arena.on_failure = &out_of_memory;
    if (setjmp(out_of_memory)) {
        printf("FAIL %s\n  out of memory\n", path);
        totals->failed++;
    } else {
        run_test(&arena, path, totals);
    }
    arena_free(&arena);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_golden(const char *path) {
    size_t n = strlen(path);
    return n > 7 && strcmp(path + n - 7, ".golden") == 0;
}

typedef Vec(char *) Paths;

static void collect_folder(Arena *arena, const char *path, Paths *found, int depth) {
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        Str child = str_printf(arena, "%s/%s", path, entry->d_name);
        struct stat st;
        if (stat(child.bytes, &st) != 0) continue;
        if (S_ISDIR(st.st_mode) && depth < 8)
            collect_folder(arena, child.bytes, found, depth + 1);
        else if (is_golden(child.bytes))
            vec_push(arena, found, (char *)child.bytes);
    }
    closedir(folder);
}

static bool run_path(const char *path, Totals *totals) {
    struct stat st;
    if (stat(path, &st) != 0) {
        printf("golden: there is no %s\n", path);
        return false;
    }
    if (!S_ISDIR(st.st_mode)) return run_file(path, totals), true;
    Arena arena;
    arena_init(&arena, NULL);
    Paths found = {0};
    collect_folder(&arena, path, &found, 0);
    if (found.len) qsort(found.items, (size_t)found.len, sizeof *found.items, by_name);
    for (int32_t i = 0; i < found.len; i++)
        run_file(found.items[i], totals);
    bool any = found.len > 0;
    if (!any) printf("golden: no *.golden file in %s\n", path);
    arena_free(&arena);
    return any;
}

int main(int argc, char **argv) {
    Totals totals = {0};
    bool ok = true;
    int paths = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--update") == 0)
            totals.update = true;
        else if (strcmp(argv[i], "-v") == 0)
            totals.verbose = true;
        else
            ok &= run_path(argv[i], &totals), paths++;
    }
    if (paths == 0) {
        fprintf(stderr, "usage: golden [--update] [-v] PATH...\n");
        return 2;
    }
    printf("%d passed, %d failed", totals.passed, totals.failed);
    printf(totals.updated ? ", %d updated\n" : "\n", totals.updated);
    return ok && totals.failed == 0 ? 0 : 1;
}
