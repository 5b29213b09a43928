/* arena.h - a bump allocator that owns everything one compilation makes.
 *
 * Passes allocate and forget. When the underlying allocator fails, the arena unwinds to `on_failure`
 * (see below). Callers therefore never test an allocation for NULL. */
#ifndef QUERN_ARENA_H
#define QUERN_ARENA_H

#include "frontend/base/base.h"
#include <setjmp.h>
#include <string.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    Allocator allocator;
    ArenaBlock *blocks; /* newest first */
    char *next, *limit; /* free space of the newest block */
    jmp_buf *on_failure;
} Arena;

/* Out of memory is the one failure that unwinds: whoever starts a compilation writes
 *     jmp_buf out_of_memory;
 *     arena.on_failure = &out_of_memory;
 *     if (setjmp(out_of_memory)) { ... report MemoryError ... }
 * Only arena-owned state may be live across it: no LLVM, Python or driver frame lies between. */
void arena_init(Arena *arena, const Allocator *allocator);
void arena_free(Arena *arena);
/* Unwinds to on_failure. For what is as good as out of memory: a size that does not fit. */
QN_NORETURN void arena_oom(Arena *arena);

/* Runs body(user); when `arena` runs out of memory inside, body is left where it is and the answer is false.
 * Nests: the guard outside is in force again afterwards. Only memory of arenas may be lost with `body`. */
bool arena_guard(Arena *arena, void (*body)(void *user), void *user);

size_t arena_size(const Arena *arena); /* of its blocks */

/* 16-byte aligned, uninitialised. Never NULL. size 0 is allowed. */
void *arena_alloc(Arena *arena, size_t size);
void *arena_zalloc(Arena *arena, size_t size);
void *arena_copy(Arena *arena, const void *bytes, size_t size);
/* Grow in place where `old` is the newest allocation, copy otherwise. */
void *arena_grow(Arena *arena, void *old, size_t old_size, size_t new_size);

#define arena_new(arena, T)      ((T *)arena_zalloc((arena), sizeof(T)))
#define arena_array(arena, T, n) ((T *)arena_zalloc((arena), sizeof(T) * (size_t)(n)))

/* Temporary memory: everything allocated after a mark is dropped by arena_release. */
typedef struct ArenaMark {
    ArenaBlock *block;
    char *next;
} ArenaMark;
ArenaMark arena_mark(Arena *arena);
void arena_release(Arena *arena, ArenaMark mark);

#endif
