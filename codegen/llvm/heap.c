/* heap.c - memory for LLVM's small objects.
 *
 * A compilation of a loop makes 23,000 objects of C++ and drops most of them at once: a thirteenth of its instructions were malloc's,
 * which looks for neighbours to join, and whose cache for a size holds seven. Here each size has a list of free pieces:
 *
 *     new:    the first piece of the list, or the next bytes of the size's run
 *     delete: the run that the address lies in knows the size; the piece becomes the first of its list
 *
 * Runs are cut from one range of addresses that is never given back. What does not fit, and what threads make that run no job, is
 * malloc's as before. The linker leads the operators of C++ here (--wrap in CMakeLists.txt). A heap belongs to a LlvmState, which
 * one job uses at a time; whoever drops a piece of another heap keeps it. */
#include "codegen/llvm/cg.h"
#include "frontend/base/os.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

void *__real__Znwm(size_t size);
void __real__ZdlPv(void *piece);
void *__real__ZnwmSt11align_val_t(size_t size, size_t align);
void __real__ZdlPvSt11align_val_t(void *piece, size_t align);
void *__wrap__Znwm(size_t size);
void __wrap__ZdlPv(void *piece);
void __wrap__ZdlPvm(void *piece, size_t size);
void *__wrap__ZnwmSt11align_val_t(size_t size, size_t align);
void __wrap__ZdlPvSt11align_val_t(void *piece, size_t align);
void __wrap__ZdlPvmSt11align_val_t(void *piece, size_t size, size_t align);

/* Classes of sizes: every 16 bytes up to 512, then four for each doubling. */
enum { GRAIN = 16, FINE = 512, LARGEST = 8192, CLASSES = 33 + 4 * 4, RUN = 1 << 16, RUNS = 1 << 9 };

typedef struct Piece {
    struct Piece *next;
} Piece;

struct Heap {
    Piece *free[CLASSES];
    char *at[CLASSES], *end[CLASSES]; /* what is left of the newest run */
};

/* The thread that runs a job with a heap: found by its thread pointer, since variables of threads would cost a call. */
typedef struct Seat {
    _Atomic(void *) thread;
    Heap *heap;
} Seat;

enum { SEATS = 64 };

static Seat seats[SEATS];
static char *_Atomic range; /* RUNS * RUN bytes, or NULL */
static _Atomic int32_t nruns;
static uint8_t class_of_run[RUNS];

static inline Seat *seat_of(const void *thread) {
    return &seats[((uintptr_t)thread * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
}

static inline Heap *my_heap(void) {
    void *thread = __builtin_thread_pointer();
    Seat *seat = seat_of(thread);
    return atomic_load_explicit(&seat->thread, memory_order_relaxed) == thread ? seat->heap : NULL;
}

static inline int class_of(size_t size) {
    if (size <= FINE) return (int)((size + GRAIN - 1) / GRAIN);
    int top = 63 - __builtin_clzll(size - 1); /* 9 for 513 to 1024 */
    return 33 + 4 * (top - 9) + (int)((size - 1) >> (top - 2) & 3);
}

static inline size_t size_of_class(int class) {
    if (class <= FINE / GRAIN) return (size_t)QN_MAX(class, 1) * GRAIN;
    int k = class - 33;
    return (size_t)(4 + k % 4 + 1) << (7 + k / 4);
}

/* Another run for the size; false: the range is used up. */
static bool refill(Heap *heap, int class) {
    int32_t run = atomic_load(&nruns);
    do
        if (run == RUNS) return false;
    while (!atomic_compare_exchange_weak(&nruns, &run, run + 1));
    class_of_run[run] = (uint8_t) class;
    heap->at[class] = atomic_load(&range) + (size_t)run * RUN;
    heap->end[class] = heap->at[class] + RUN;
    return true;
}

static inline void *take(Heap *heap, size_t size) {
    int class = class_of(size);
    Piece *piece = heap->free[class];
    if (piece) {
        heap->free[class] = piece->next;
        return piece;
    }
    size_t room = size_of_class(class);
    if ((size_t)(heap->end[class] - heap->at[class]) < room && !refill(heap, class)) return NULL;
    char *fresh = heap->at[class];
    heap->at[class] = fresh + room;
    return fresh;
}

/* false: it is malloc's. */
static inline bool give(void *piece) {
    char *base = atomic_load_explicit(&range, memory_order_relaxed);
    size_t offset = (size_t)((char *)piece - base);
    if (!base || offset >= (size_t)RUNS * RUN) return false;
    Heap *heap = my_heap();
    if (!heap) return true; /* of a thread without a heap: forgotten */
    int class = class_of_run[offset / RUN];
    ((Piece *)piece)->next = heap->free[class];
    heap->free[class] = piece;
    return true;
}

void *__wrap__Znwm(size_t size) {
    Heap *heap = size <= LARGEST ? my_heap() : NULL;
    void *piece = heap ? take(heap, size) : NULL;
    return piece ? piece : __real__Znwm(size);
}

void __wrap__ZdlPv(void *piece) {
    if (!give(piece)) __real__ZdlPv(piece);
}

void __wrap__ZdlPvm(void *piece, size_t size) {
    (void)size;
    if (!give(piece)) __real__ZdlPv(piece);
}

void *__wrap__ZnwmSt11align_val_t(size_t size, size_t align) {
    Heap *heap = size <= LARGEST && align <= GRAIN ? my_heap() : NULL;
    void *piece = heap ? take(heap, size) : NULL;
    return piece ? piece : __real__ZnwmSt11align_val_t(size, align);
}

void __wrap__ZdlPvSt11align_val_t(void *piece, size_t align) {
    if (!give(piece)) __real__ZdlPvSt11align_val_t(piece, align);
}

void __wrap__ZdlPvmSt11align_val_t(void *piece, size_t size, size_t align) {
    (void)size;
    if (!give(piece)) __real__ZdlPvSt11align_val_t(piece, align);
}

/* The range is made for the first job that finds memory for more than it. */
static bool has_range(void) {
    enum { SIZE = RUNS * RUN };
    if (atomic_load(&range)) return true;
    if (!os_has_memory((size_t)2 * SIZE)) return false;
    char *made = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
         *none = NULL;
    if (made == MAP_FAILED) return false;
    if (!atomic_compare_exchange_strong(&range, &none, made)) munmap(made, SIZE);
    return true;
}

/* Another thread may have the seat: then this job does without. One of this address that a fork took away has left it. */
void cg_heap_enter(LlvmState *llvm) {
    void *self = __builtin_thread_pointer(), *before = NULL;
    Seat *seat = seat_of(self);
    if (!llvm->heap) llvm->heap = calloc(1, sizeof *llvm->heap);
    if (!llvm->heap || !has_range()) return;
    if (!atomic_compare_exchange_strong(&seat->thread, &before, self) && before != self) return;
    seat->heap = llvm->heap;
}

void cg_heap_leave(void) {
    void *self = __builtin_thread_pointer();
    Seat *seat = seat_of(self);
    if (atomic_load(&seat->thread) == self) atomic_store(&seat->thread, NULL);
}
