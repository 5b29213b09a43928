/* arena.c - blocks of memory, newest first, cut from the front.
 *
 * A block is at least twice as large as the one before, up to a megabyte, so that a small
 * compilation touches little memory and a large one asks rarely. Freed and released memory is
 * overwritten in debug builds: a pointer kept across arena_release shows at once. */
#include "frontend/base/arena.h"

#include <stdlib.h>

struct ArenaBlock {
    ArenaBlock *prev;
    size_t size; /* of the whole block, this header included */
};

enum { ALIGN = 16, HEADER = 16, FIRST_BLOCK = 8 * 1024, LARGEST_BLOCK = 1024 * 1024 };
static_assert(sizeof(ArenaBlock) <= HEADER, "the header of a block keeps its memory aligned");

static void *default_resize(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

const Allocator qn_default_allocator = {default_resize, NULL};

void arena_init(Arena *arena, const Allocator *allocator) {
    *arena = (Arena){.allocator = allocator ? *allocator : qn_default_allocator};
}

static void drop_block(Arena *arena) {
    ArenaBlock *block = arena->blocks;
    arena->blocks = block->prev;
    arena->allocator.resize(arena->allocator.user, block, block->size, 0);
}

void arena_free(Arena *arena) {
    while (arena->blocks)
        drop_block(arena);
    arena->next = arena->limit = NULL;
}

size_t arena_size(const Arena *arena) {
    size_t size = 0;
    for (const ArenaBlock *block = arena->blocks; block; block = block->prev)
        size += block->size;
    return size;
}

void arena_oom(Arena *arena) {
    if (arena->on_failure) longjmp(*arena->on_failure, 1);
    abort(); /* a caller without a guard: a programming error, see arena.h */
}

static size_t round_up(Arena *arena, size_t size) {
    if (size > SIZE_MAX / 4) arena_oom(arena);
    return size == 0 ? ALIGN : (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void new_block(Arena *arena, size_t size) {
    size_t want = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    want = QN_MIN(want, (size_t)LARGEST_BLOCK);
    want = QN_MAX(want, size + HEADER);
    ArenaBlock *block = arena->allocator.resize(arena->allocator.user, NULL, 0, want);
    if (!block) arena_oom(arena);
    *block = (ArenaBlock){arena->blocks, want};
    arena->blocks = block;
    arena->next = (char *)block + HEADER;
    arena->limit = (char *)block + want;
}

void *arena_alloc(Arena *arena, size_t size) {
    size = round_up(arena, size);
    if (!arena->blocks || (size_t)(arena->limit - arena->next) < size) new_block(arena, size);
    void *memory = arena->next;
    arena->next += size;
    return memory;
}

void *arena_zalloc(Arena *arena, size_t size) {
    return memset(arena_alloc(arena, size), 0, size);
}

void *arena_copy(Arena *arena, const void *bytes, size_t size) {
    void *copy = arena_alloc(arena, size);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

void *arena_grow(Arena *arena, void *old, size_t old_size, size_t new_size) {
    if (!old) return arena_alloc(arena, new_size);
    size_t had = round_up(arena, old_size), need = round_up(arena, new_size);
    if (need <= had) return old;
    bool newest = (char *)old + had == arena->next;
    if (newest && (size_t)(arena->limit - arena->next) >= need - had) {
        arena->next += need - had;
        return old;
    }
    void *moved = arena_alloc(arena, new_size);
    memcpy(moved, old, old_size);
    return moved;
}

ArenaMark arena_mark(Arena *arena) {
    return (ArenaMark){arena->blocks, arena->next};
}

void arena_release(Arena *arena, ArenaMark mark) {
    while (arena->blocks != mark.block)
        drop_block(arena);
    arena->next = mark.next;
    arena->limit = mark.block ? (char *)mark.block + mark.block->size : NULL;
#ifndef NDEBUG
    if (mark.block) memset(arena->next, 0xdd, (size_t)(arena->limit - arena->next));
#endif
}

bool arena_guard(Arena *arena, void (*body)(void *user), void *user) {
    jmp_buf here, *outer = arena->on_failure;
    arena->on_failure = &here;
    bool ok = setjmp(here) == 0;
    if (ok) body(user);
    arena->on_failure = outer;
    return ok;
}
