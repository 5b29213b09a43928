/* test_heap.c - memory for LLVM's small objects: pieces do not overlap, whoever gives them back, and with whatever operator. */
#include "codegen/llvm/cg.h"
#include "codegen/llvm_start.h"
#include "tests/unit/check.h"

#include <pthread.h>

/* C++'s operators new and delete. */
void *_Znwm(size_t size);
void _ZdlPv(void *piece);
void _ZdlPvm(void *piece, size_t size);
void *_ZnwmSt11align_val_t(size_t size, size_t align);
void _ZdlPvSt11align_val_t(void *piece, size_t align);
void _ZdlPvmSt11align_val_t(void *piece, size_t size, size_t align);

enum { PIECES = 3000, STEPS = 200000, MOST = 10000 };

typedef struct Held {
    unsigned char *piece;
    size_t size;
    bool aligned;
} Held;

static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool is_whole(const Held *h, unsigned char mark) {
    for (size_t i = 0; i < h->size; i++)
        if (h->piece[i] != mark) return false;
    return true;
}

static void drop(Held *h, uint64_t how) {
    if (h->aligned && how % 2)
        _ZdlPvSt11align_val_t(h->piece, 16);
    else if (h->aligned)
        _ZdlPvmSt11align_val_t(h->piece, h->size, 16);
    else if (how % 2)
        _ZdlPv(h->piece);
    else
        _ZdlPvm(h->piece, h->size);
    h->piece = NULL;
}

/* Makes and drops pieces of all sizes; each is full of the number of its place until it is dropped. */
static bool churn(Held *held, uint64_t seed) {
    for (int step = 0; step < STEPS; step++) {
        uint64_t k = next(&seed) % PIECES;
        Held *h = &held[k];
        if (h->piece && !is_whole(h, (unsigned char)k)) return false;
        if (h->piece) {
            drop(h, next(&seed));
            continue;
        }
        h->size = next(&seed) % (next(&seed) % 16 ? 200 : MOST);
        h->aligned = next(&seed) % 2;
        h->piece = h->aligned ? _ZnwmSt11align_val_t(h->size, 16) : _Znwm(h->size);
        if ((uintptr_t)h->piece % 16) return false;
        memset(h->piece, (int)(unsigned char)k, h->size);
    }
    return true;
}

static void drop_all(Held *held) {
    for (int k = 0; k < PIECES; k++)
        if (held[k].piece) drop(&held[k], (uint64_t)k);
}

static void test_pieces_do_not_overlap(void) {
    LlvmState *state = llvm_hooks.fresh();
    Held *held = calloc(PIECES, sizeof *held);
    cg_heap_enter(state);
    CHECK(churn(held, 1));
    cg_heap_leave();
    CHECK(churn(held, 2)); /* malloc's beside those that are left */
    cg_heap_enter(state);
    CHECK(churn(held, 3));
    drop_all(held);
    CHECK(churn(held, 4));
    cg_heap_leave();
    drop_all(held); /* forgotten */
    cg_heap_enter(state);
    memset(held, 0, PIECES * sizeof *held);
    CHECK(churn(held, 5));
    drop_all(held);
    cg_heap_leave();
    free(held);
}

static void test_a_piece_that_was_dropped_is_the_next_one(void) {
    LlvmState *state = llvm_hooks.fresh();
    cg_heap_enter(state);
    void *a = _Znwm(40);
    _ZdlPv(a);
    CHECK(_Znwm(48) == a);
    _ZdlPvm(a, 48);
    void *b = _ZnwmSt11align_val_t(33, 8);
    CHECK(b == a);
    _ZdlPvSt11align_val_t(b, 8);
    void *page = _ZnwmSt11align_val_t(100, 4096);
    CHECK((uintptr_t)page % 4096 == 0);
    _ZdlPvSt11align_val_t(page, 4096);
    cg_heap_leave();
}

typedef struct Contestant {
    pthread_t thread;
    Held *held;
    uint64_t seed;
    bool ok;
} Contestant;

static void *contend(void *user) {
    Contestant *c = user;
    cg_heap_enter(llvm_hooks.fresh());
    c->ok = churn(c->held, c->seed);
    cg_heap_leave();
    return NULL;
}

static void test_threads_have_heaps_of_their_own(void) {
    enum { THREADS = 4 };
    Contestant all[THREADS];
    for (int i = 0; i < THREADS; i++) {
        all[i] = (Contestant){.held = calloc(PIECES, sizeof(Held)), .seed = (uint64_t)i};
        pthread_create(&all[i].thread, NULL, contend, &all[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        CHECK(all[i].ok);
    }
    cg_heap_enter(llvm_hooks.fresh()); /* what they left is whole, and may be dropped here */
    for (int i = 0; i < THREADS; i++) {
        CHECK(churn(all[i].held, 7));
        drop_all(all[i].held);
        free(all[i].held);
    }
    cg_heap_leave();
}

int main(void) {
    RUN(test_pieces_do_not_overlap);
    RUN(test_a_piece_that_was_dropped_is_the_next_one);
    RUN(test_threads_have_heaps_of_their_own);
    return check_report();
}
