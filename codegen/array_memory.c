/* array_memory.c - memory of arrays: see support.h. */
#include "codegen/support.h"
#include "frontend/base/os.h"
#include <fenv.h>
#include <stdlib.h>

/* Process-wide on purpose: arrays outlive compilations and threads. */
static _Atomic int64_t live_arrays;

int64_t support_live_arrays(void) {
    return atomic_load(&live_arrays);
}

static _Atomic int64_t fails_in;

void support_fail_allocation(int64_t n) {
    atomic_store(&fails_in, n);
}

bool support_allocates(void) {
    if (QN_LIKELY(!atomic_load_explicit(&fails_in, memory_order_relaxed))) return true;
    return atomic_fetch_sub(&fails_in, 1) != 1;
}

static void destroy_array(Owner *owner) {
    free(owner->object);
    atomic_fetch_sub(&live_arrays, 1);
}

bool support_is_array(const Owner *owner) {
    return owner->destroy == destroy_array;
}

enum { LARGE_ARRAY = 1 << 22 }; /* as NumPy */

void *support_alloc_block(int64_t nbytes, bool zeroed, void **block) {
    bool small = nbytes <= SUPPORT_SMALL_ARRAY;
    size_t size = (size_t)nbytes + (small ? SUPPORT_ARRAY_HEADER : SUPPORT_ARRAY_SLACK);
    if (!support_allocates()) return NULL;
    *block = zeroed ? calloc(1, size) : malloc(size); /* large zeroed blocks cost nothing yet */
    if (!*block || small) return *block;
    if (size >= LARGE_ARRAY) os_prefer_large_pages(*block, size);
    uintptr_t align = SUPPORT_ARRAY_ALIGN;
    return (void *)(((uintptr_t)*block + align - 1) & ~(align - 1));
}

Owner *quern_alloc_array(int64_t nbytes, int32_t zeroed) {
    void *block;
    Owner *owner = support_alloc_block(nbytes, zeroed, &block);
    if (!owner) return NULL;
    atomic_init(&owner->refs, 1);
    owner->destroy = destroy_array;
    owner->object = block;
    atomic_fetch_add_explicit(&live_arrays, 1, memory_order_relaxed);
    return owner;
}

void quern_retain(Owner *owner) {
    if (owner && atomic_load_explicit(&owner->refs, memory_order_relaxed) < OWNER_BORROWED)
        atomic_fetch_add_explicit(&owner->refs, 1, memory_order_relaxed);
}

void quern_release(Owner *owner) {
    if (owner && support_let_go(owner)) owner->destroy(owner);
}

void quern_zero_divisor(void) {
    feraiseexcept(FE_DIVBYZERO);
}
