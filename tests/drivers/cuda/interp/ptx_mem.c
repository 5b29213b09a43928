/* Memory of a launch: the checks behind a fast path that missed, and the accesses that are rare. */
#include "ptx_num.h"
#include "ptx_run.h"

#include <inttypes.h>

static const char *space_name(PtxSpace space) {
    static const char *const names[] = {"register", "generic", "global", "const",
                                        "shared",   "local",   "param"};
    return names[space];
}

static void *bad_address(Block *b, Thread *t, PtxSpace space, uint64_t address, unsigned size,
                         bool write) {
    ptx_fault(b, t, FAULT_address, "invalid %s %s of %u bytes at 0x%" PRIx64, space_name(space),
              write ? "store" : "load", size, address);
    return NULL;
}

static void *find_global(Block *b, Thread *t, PtxSpace space, uint64_t address, unsigned size,
                         bool write) {
    Run *run = b->run;
    PtxRange *c = &run->cache[(uintptr_t)t->pc / sizeof(PtxIns) % CACHE];
    PtxRange found;
    if (!run->launch->find(run->launch->user, address, &found) ||
        !mem_in(address, found.lo, found.hi - found.lo, size) || (write && !found.writable))
        return bad_address(b, t, space, address, size, write);
    *c = found;
    return (void *)(uintptr_t)(address + found.delta);
}

/* Parameters of the kernel may be read through pointers (cvta.param), those of functions live in the
 * thread's own stack. */
static void *find_param(Block *b, Thread *t, uint64_t address, unsigned size, bool write) {
    const PtxLaunch *l = b->run->launch;
    if (mem_in(address, (uintptr_t)t->local, b->run->local_size, size) ||
        (!write && mem_in(address, (uintptr_t)l->params, l->entry->param_size, size)))
        return (void *)(uintptr_t)address;
    return NULL;
}

void *ptx_mem_slow(Block *b, Thread *t, PtxSpace space, uint64_t address, unsigned size,
                   bool write) {
    if (address & (size - 1)) {
        ptx_fault(b, t, FAULT_misaligned, "misaligned %s %s of %u bytes at 0x%" PRIx64,
                  space_name(space), write ? "store" : "load", size, address);
        return NULL;
    }
    if (space == PS_shared || space == PS_local)
        return bad_address(b, t, space, address, size, write);
    if (space != PS_global) {
        void *param = find_param(b, t, address, size, write);
        if (param) return param;
    }
    if (space == PS_param) return bad_address(b, t, space, address, size, write);
    return find_global(b, t, space, address, size, write);
}

bool ptx_isspacep(const Block *b, const Thread *t, PtxSpace space, uint64_t address) {
    const PtxLaunch *l = b->run->launch;
    bool shared = mem_in(address, (uintptr_t)b->shared, b->run->shared_size, 1);
    bool local = mem_in(address, (uintptr_t)t->local, b->run->local_size, 1);
    bool param = mem_in(address, (uintptr_t)l->params, l->entry->param_size, 1);
    switch (space) {
    case PS_shared: return shared;
    case PS_local: return local;
    case PS_param: return param;
    default: return !shared && !local && !param;
    }
}

static void *access(Block *b, Thread *t, PtxSpace space, uint64_t address, unsigned size,
                    bool write) {
    switch (space) {
    case PS_shared: return mem_shared(b, t, address, size, write);
    case PS_local: return mem_local(b, t, address, size, write);
    case PS_generic: return mem_generic(b, t, address, size, write);
    default: return mem_global(b, t, address, size, write);
    }
}

/* One thread runs at a time, so load, compute and store are one step. */
uint64_t ptx_atom(Block *b, Thread *t, const PtxIns *in) {
    PtxType type = PTX_ATOM_TYPE(in->aux);
    unsigned size = ptx_type_size(type);
    uint64_t address = t->R[in->s[0]] + (uint64_t)in->imm, old = 0;
    void *host = access(b, t, PTX_ATOM_SPACE(in->aux), address, size, true);
    if (!host) return 0;
    memcpy(&old, host, size);
    uint64_t value = ptx_atomic(PTX_ATOM_OP(in->aux), type, old, t->R[in->s[1]], t->R[in->s[2]]);
    memcpy(host, &value, size);
    return old;
}

/* cp.async: imm bytes, of which s2 are copied and the others are zero. */
bool ptx_copy_async(Block *b, Thread *t, const PtxIns *in) {
    unsigned size = (unsigned)in->imm;
    uint32_t filled = (uint32_t)t->R[in->s[2]];
    uint8_t *to = mem_shared(b, t, t->R[in->s[0]], size, true);
    if (!to) return false;
    memset(to, 0, size);
    if (filled == 0) return true;
    const void *from = mem_global(b, t, t->R[in->s[1]], size, false);
    if (!from) return false;
    memcpy(to, from, filled < size ? filled : size);
    return true;
}
