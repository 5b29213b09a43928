/* blas.c - finds the BLAS of the process: see blas.h. */
#include "codegen/blas.h"
#include "frontend/base/environment.h"
#include "codegen/support.h"
#include "frontend/base/os.h"
#include <stdio.h>
#include <stdlib.h>

/* How builds of BLAS spell the name of a routine, and whether their ints have 64 bits. */
static const struct {
    const char *prefix, *suffix;
    bool wide;
} spellings[] = {
    {"scipy_", "_64_", true}, /* wheels of NumPy and SciPy */
    {"", "_64_", true},
    {"scipy_", "_", false},
    {"", "_", false},
};

static const char letters[BLAS_KINDS] = {'s', 'd', 'c', 'z'};

/* What is found stays for the life of the process: code that calls it may run until the end. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Blas found;
static bool available;

static void *routine(void *library, int spelling, char letter, const char *name) {
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%c%s%s", spellings[spelling].prefix, letter, name,
             spellings[spelling].suffix);
    return os_lib_symbol(library, symbol);
}

/* One routine for each type of numbers; false: one is not there. */
static bool read_routine(void *library, int spelling, const char *name, void *into) {
    void *addresses[BLAS_KINDS];
    for (int kind = 0; kind < BLAS_KINDS; kind++)
        if (!(addresses[kind] = routine(library, spelling, letters[kind], name))) return false;
    memcpy(into, addresses, sizeof addresses);
    return true;
}

static bool read_decompositions(void *library, int spelling, Blas *blas) {
    static const char *const names[LAPACK_COUNT][2] = {
#define ROW(id, real, complex) {real, complex},
        LAPACK_ROUTINES(ROW)
#undef ROW
    };
    for (int i = 0; i < LAPACK_COUNT; i++)
        for (int kind = 0; kind < BLAS_KINDS; kind++) {
            const char *name = names[i][kind >= BLAS_C64];
            void *address = routine(library, spelling, letters[kind], name);
            if (!address) return false;
            memcpy(&blas->decompose[i][kind], &address, sizeof address);
        }
    return true;
}

/* All routines of BLAS of one spelling, or none. */
static bool read_symbols(void *library, int spelling, Blas *blas) {
    if (!read_routine(library, spelling, "gemm", blas->gemm) ||
        !read_routine(library, spelling, "gemv", blas->gemv))
        return false;
    void *single = routine(library, spelling, 's', "dot");
    void *twice = routine(library, spelling, 'd', "dot");
    if (!single || !twice) return false;
    memcpy(&blas->dot_f32, &single, sizeof single);
    memcpy(&blas->dot_f64, &twice, sizeof twice);
    blas->has_lapack = read_routine(library, spelling, "gesv", blas->gesv) &&
                       read_routine(library, spelling, "getrf", blas->getrf) &&
                       read_routine(library, spelling, "potrf", blas->potrf);
    blas->has_decompositions = read_decompositions(library, spelling, blas);
    blas->wide = spellings[spelling].wide;
    return true;
}

static bool take(void *library, const char *path) {
    for (int i = 0; library && i < countof(spellings); i++) {
        if (!read_symbols(library, i, &found)) continue;
        snprintf(found.name, sizeof found.name, "%s", path);
        return available = true;
    }
    return false;
}

/* Places of better libraries first: that of NumPy, so that both round alike. */
static const char *const places[] = {"/numpy", "/scipy", "openblas", "mkl_rt", "blis", "blas"};
enum { MAX_CANDIDATES = 8 };

typedef struct Candidates {
    char paths[MAX_CANDIDATES][sizeof found.name];
    int ranks[MAX_CANDIDATES], n;
} Candidates;

static void look(const char *path, void *user) {
    Candidates *c = user;
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    bool is_blas = strstr(file, "blas") || strstr(file, "mkl_rt") || strstr(file, "libblis");
    if (!is_blas || c->n == MAX_CANDIDATES || strlen(path) >= sizeof c->paths[0]) return;
    int rank = 0;
    while (rank < countof(places) && !strstr(path, places[rank]))
        rank++;
    strcpy(c->paths[c->n], path);
    c->ranks[c->n++] = rank;
}

static void search(void) {
    const char *wanted = env_value(ENV_BLAS);
    char error[256];
    if (wanted) {
        void *library = NULL;
        bool none = strcmp(wanted, "none") == 0;
        if (!none) library = os_lib_open(wanted, NULL, error, sizeof error);
        if (!take(library, wanted))
            snprintf(found.name, sizeof found.name, "none (%s)",
                     none      ? "QUERN_BLAS"
                     : library ? "the library of QUERN_BLAS has no BLAS"
                               : error);
        return;
    }
    Candidates *c = calloc(1, sizeof *c);
    if (c) os_libs_loaded(look, c);
    for (int rank = 0; c && rank <= countof(places) && !available; rank++)
        for (int i = 0; i < c->n && !available; i++)
            if (c->ranks[i] == rank) take(os_lib_loaded(c->paths[i]), c->paths[i]);
    free(c);
    if (!available) snprintf(found.name, sizeof found.name, "none (no BLAS is loaded)");
}

const Blas *blas_get(void) {
    pthread_once(&once, search);
    return available ? &found : NULL;
}

const char *blas_name(void) {
    pthread_once(&once, search);
    return found.name;
}

bool blas_fits(const Blas *blas, int64_t n) {
    return blas->wide || n <= INT32_MAX;
}
