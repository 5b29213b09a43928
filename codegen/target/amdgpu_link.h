/* amdgpu_link.h - from the relocatable ELF that LLVM writes to the shared object that HIP loads.
 *
 * Our modules are closed: one object, no undefined symbols, a handful of relocation kinds. The layout is the
 * one of `ld.lld -shared`, so that every loader that reads lld's output reads ours; a test compares both. */
#ifndef QUERN_AMDGPU_LINK_H
#define QUERN_AMDGPU_LINK_H

#include "frontend/base/arena.h"
#include "frontend/base/str.h"

/* `object` needs no alignment and is only read. The answer lies in `arena`. NULL bytes: *why says what the object
 * has that this linker does not know; also in `arena`. Runs out of memory as arena_alloc does. */
Str amdgpu_link(Arena *arena, const void *object, size_t size, const char **why);

#endif
