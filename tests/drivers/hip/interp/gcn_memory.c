/* Memory: global, flat and scratch addresses, LDS, scalar loads, atomic operations. Every access is checked against the
 * allocation that it lies in, atomic ones for their alignment too. */
#include "gcn_wave.h"

#include <stdio.h>

/* -- Where bytes are --------------------------------------------------------------------------- */

static bool covers(const GcnRange *r, uint64_t address, unsigned bytes) {
    return address - r->lo < r->size && r->size - (address - r->lo) >= bytes;
}

char *gcn_address(GcnWave *w, uint64_t address, unsigned bytes, bool write) {
    GcnRunning *run = w->run;
    GcnRange *r = &run->ranges[(address >> 12) % RANGES];
    if (covers(r, address, bytes) && (r->writable || !write)) return r->host + (address - r->lo);
    GcnRange found;
    if (!run->launch->find(run->launch->driver, address, &found)) {
        uint64_t packet = (uintptr_t)run->packet, kernarg = (uintptr_t)run->kernarg;
        if (address - packet < 64)
            found = (GcnRange){packet, 64, (char *)run->packet, false};
        else if (address - kernarg < run->kernarg_bytes)
            found = (GcnRange){kernarg, run->kernarg_bytes, (char *)run->kernarg, false};
        else {
            gcn_fault(w, GCN_FAULT, "a %s of %u bytes at 0x%llx, where there is no memory",
                      write ? "store" : "load", bytes, (unsigned long long)address);
            return NULL;
        }
    }
    if (!covers(&found, address, bytes)) {
        gcn_fault(w, GCN_FAULT,
                  "a %s of %u bytes at 0x%llx runs over the end of its allocation of %llu",
                  write ? "store" : "load", bytes, (unsigned long long)address,
                  (unsigned long long)found.size);
        return NULL;
    }
    if (write && !found.writable) {
        gcn_fault(w, GCN_FAULT, "a store at 0x%llx into memory that is only read",
                  (unsigned long long)address);
        return NULL;
    }
    *r = found;
    return found.host + (address - found.lo);
}

static char *lds_bytes(GcnWave *w, uint64_t at, unsigned bytes) {
    uint32_t size = w->run->launch->lds;
    if (at < size && size - at >= bytes) return (char *)w->group->lds + at;
    gcn_fault(w, GCN_FAULT, "%u bytes at %llu of LDS, the group has %u", bytes,
              (unsigned long long)at, size);
    return NULL;
}

static char *scratch_bytes(GcnWave *w, uint64_t at, unsigned bytes, int lane) {
    uint32_t size = w->run->scratch;
    if (at < size && size - at >= bytes) return (char *)w->scratch + (size_t)lane * size + at;
    gcn_fault(w, GCN_FAULT, "%u bytes at %lld of scratch, a lane has %u", bytes, (long long)at,
              size);
    return NULL;
}

static char *flat_bytes(GcnWave *w, uint64_t address, unsigned bytes, int lane, bool write) {
    uint32_t high = (uint32_t)(address >> 32);
    if (high == LDS_APERTURE) return lds_bytes(w, (uint32_t)address, bytes);
    if (high == SCRATCH_APERTURE) return scratch_bytes(w, (uint32_t)address, bytes, lane);
    return gcn_address(w, address, bytes, write);
}

/* -- Addresses of a lane ----------------------------------------------------------------------- */

static uint64_t vector_at(const GcnWave *w, const GcnOperand *o, int lane, bool wide) {
    uint64_t low = w->v[o->reg][lane];
    return wide ? low | (uint64_t)w->v[o->reg + 1][lane] << 32 : low;
}

/* a: the address of each lane, b: a scalar base. Either may be off. */
static uint64_t global_address(const GcnWave *w, const GcnInst *i, int lane) {
    uint64_t offset = (uint64_t)i->offset;
    if (i->b.kind == K_scalar && i->b.reg != S_NULL)
        return gcn_pair(w, i->b.reg) + vector_at(w, &i->a, lane, false) + offset;
    return vector_at(w, &i->a, lane, true) + offset;
}

static uint64_t scratch_address(const GcnWave *w, const GcnInst *i, int lane) {
    uint32_t at = (uint32_t)i->offset;
    if (i->a.kind == K_vector) at += w->v[i->a.reg][lane];
    if (i->b.kind == K_scalar && i->b.reg != S_NULL) at += w->s[i->b.reg];
    return at;
}

static uint64_t buffer_address(GcnWave *w, const GcnInst *i, int lane) {
    uint64_t base = 0;
    if (i->b.kind == K_const)
        base = i->b.bits;
    else if (i->b.kind == K_scalar && i->b.reg != S_NULL)
        base = w->s[i->b.reg];
    uint32_t at = (uint32_t)i->offset + (uint32_t)(base / (unsigned)w->lanes);
    return i->offset_enabled ? at + w->v[i->a.reg][lane] : at;
}

static char *place(GcnWave *w, const GcnInst *i, int lane, int64_t offset, bool write) {
    switch (i->space) {
    case M_global: return gcn_address(w, global_address(w, i, lane), i->bytes, write);
    case M_flat: return flat_bytes(w, global_address(w, i, lane), i->bytes, lane, write);
    case M_scratch: return scratch_bytes(w, scratch_address(w, i, lane), i->bytes, lane);
    case M_buffer: return scratch_bytes(w, buffer_address(w, i, lane), i->bytes, lane);
    default: /* 32 bits: LLVM subtracts in the register what it adds in the offset */
        return lds_bytes(w, w->v[i->a.reg][lane] + (uint32_t)offset, i->bytes);
    }
}

/* -- Loads and stores -------------------------------------------------------------------------- */

static void load_lane(GcnWave *w, const GcnInst *i, int lane, unsigned reg, const char *from) {
    uint32_t *at = &w->v[reg][lane];
    if (i->bytes >= 4) {
        for (unsigned k = 0; k < i->bytes / 4u; k++)
            memcpy(&w->v[reg + k][lane], from + 4 * k, 4);
        return;
    }
    uint16_t x = 0;
    memcpy(&x, from, i->bytes);
    if ((i->fit == FIT_signed_low || i->fit == FIT_signed_high) && i->bytes == 1)
        x = (uint16_t)(int8_t)x;
    if (i->fit == FIT_signed)
        *at = i->bytes == 1 ? (uint32_t)(int8_t)x : (uint32_t)(int16_t)x;
    else if (i->fit == FIT_low || i->fit == FIT_signed_low)
        *at = (*at & 0xffff0000) | x;
    else if (i->fit == FIT_high || i->fit == FIT_signed_high)
        *at = (*at & 0xffff) | (uint32_t)x << 16;
    else
        *at = x;
}

static void store_lane(const GcnWave *w, const GcnInst *i, int lane, unsigned reg, char *to) {
    if (i->bytes >= 4) {
        for (unsigned k = 0; k < i->bytes / 4u; k++)
            memcpy(to + 4 * k, &w->v[reg + k][lane], 4);
        return;
    }
    uint32_t x = w->v[reg][lane] >> (i->fit == FIT_high ? 16 : 0);
    memcpy(to, &x, i->bytes);
}

static unsigned words_of(const GcnInst *i) {
    return i->bytes < 4 ? 1 : i->bytes / 4u;
}

static void mark(GcnWave *w, unsigned reg, unsigned words) {
    for (unsigned k = 0; k < words; k++)
        w->vset[reg + k] |= gcn_exec(w);
}

/* The address may be one of the registers that are loaded: all lanes are independent, and each address is read before. */
static GcnStep run_load(GcnWave *w, const GcnInst *i) {
    if (!gcn_check_vector(w, &i->a, i->a.words)) return STEP_FAULT;
    for (uint64_t left = gcn_exec(w); left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const char *from = place(w, i, lane, i->offset, false);
        if (!from) return STEP_FAULT;
        load_lane(w, i, lane, i->d.reg, from);
    }
    mark(w, i->d.reg, words_of(i));
    return STEP_NEXT;
}

static GcnStep run_store(GcnWave *w, const GcnInst *i) {
    bool spills =
        i->space == M_scratch || i->space == M_buffer; /* saved whole, whatever is in it */
    if (!gcn_check_vector(w, &i->a, i->a.words)) return STEP_FAULT;
    if (!spills && !gcn_check_vector(w, &i->c, words_of(i))) return STEP_FAULT;
    for (uint64_t left = gcn_exec(w); left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        char *to = place(w, i, lane, i->offset, true);
        if (!to) return STEP_FAULT;
        store_lane(w, i, lane, i->c.reg, to);
    }
    return STEP_NEXT;
}

/* Two elements of LDS, at two offsets that count elements. */
static GcnStep run_pair(GcnWave *w, const GcnInst *i) {
    int64_t unit = i->bytes * (i->fit == FIT_far ? 64 : 1);
    unsigned words = words_of(i);
    bool store = i->work == M_pair_store;
    if (!gcn_check_vector(w, &i->a, 1)) return STEP_FAULT;
    for (uint64_t left = gcn_exec(w); left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        char *first = place(w, i, lane, i->offset * unit, store),
             *second = first ? place(w, i, lane, i->offset1 * unit, store) : NULL;
        if (!second) return STEP_FAULT;
        if (store) {
            store_lane(w, i, lane, i->b.reg, first);
            store_lane(w, i, lane, i->c.reg, second);
            continue;
        }
        load_lane(w, i, lane, i->d.reg, first);
        load_lane(w, i, lane, i->d.reg + words, second);
    }
    if (!store) mark(w, i->d.reg, 2 * words);
    return STEP_NEXT;
}

/* -- Atomic operations ------------------------------------------------------------------------- */

typedef uint32_t u32_t, b32_t;
typedef int32_t i32_t;
typedef float f32_t;
typedef uint64_t u64_t, b64_t;
typedef int64_t i64_t;
typedef double f64_t;

#define CONVERT(T, bytes)                                                                          \
    static T##_t value_##T(uint64_t bits) {                                                        \
        T##_t x;                                                                                   \
        memcpy(&x, &bits, bytes);                                                                  \
        return x;                                                                                  \
    }                                                                                              \
    static uint64_t bits_##T(T##_t x) {                                                            \
        uint64_t bits = 0;                                                                         \
        memcpy(&bits, &x, bytes);                                                                  \
        return bits;                                                                               \
    }
CONVERT(u32, 4)
CONVERT(b32, 4)
CONVERT(i32, 4)
CONVERT(f32, 4)
CONVERT(u64, 8)
CONVERT(b64, 8)
CONVERT(i64, 8)
CONVERT(f64, 8)
#undef CONVERT

#define ATOMIC(name, old, lds, T, ...)                                                             \
    static uint64_t atomic_##name(uint64_t memory, uint64_t value, uint64_t compare) {             \
        const T##_t m = value_##T(memory), a = value_##T(value), b = value_##T(compare);           \
        T##_t d;                                                                                   \
        (void)b, (void)m;                                                                          \
        __VA_ARGS__;                                                                               \
        return bits_##T(d);                                                                        \
    }
#include "gcn_atomic.def"
#undef ATOMIC

static const GcnAtomicRow atomics[] = {
#define ATOMIC(name, old, lds, T, ...) {{#name, old, lds}, sizeof(T##_t), atomic_##name},
#include "gcn_atomic.def"
#undef ATOMIC
};

const GcnAtomicRow *gcn_atomic_row(const char *name) {
    for (unsigned i = 0; i < sizeof atomics / sizeof *atomics; i++)
        for (int k = 0; k < 3; k++)
            if (!strcmp(atomics[i].names[k], name)) return &atomics[i];
    return NULL;
}

/* c is the operand, behind which a compare-and-swap on memory has what it expects; in LDS that is e. */
static GcnStep run_atomic(GcnWave *w, const GcnInst *i) {
    bool wide = i->bytes == 8;
    if (!gcn_check_vector(w, &i->a, i->a.words) || !gcn_check_vector(w, &i->c, i->c.words) ||
        (i->e.kind == K_vector && !gcn_check_vector(w, &i->e, i->e.words)))
        return STEP_FAULT;
    for (uint64_t left = gcn_exec(w); left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        char *at = place(w, i, lane, i->offset, true);
        if (!at) return STEP_FAULT;
        if ((uintptr_t)at % i->bytes)
            return gcn_fault(
                w, GCN_FAULT,
                "an atomic operation of %u bytes at an address that is no multiple of it",
                i->bytes);
        uint64_t old = 0, value = vector_at(w, &i->c, lane, wide), compare = 0;
        memcpy(&old, at, i->bytes);
        if (i->e.kind == K_vector) compare = vector_at(w, &i->e, lane, wide);
        uint64_t result = i->atomic->run(old, value, compare);
        memcpy(at, &result, i->bytes);
        if (!i->returns) continue;
        w->v[i->d.reg][lane] = (uint32_t)old;
        if (wide) w->v[i->d.reg + 1][lane] = (uint32_t)(old >> 32);
    }
    if (i->returns) mark(w, i->d.reg, wide ? 2 : 1);
    return STEP_NEXT;
}

/* -- Scalar loads ------------------------------------------------------------------------------ */

static GcnStep run_scalar_load(GcnWave *w, const GcnInst *i) {
    uint64_t offset = 0;
    if (i->b.kind != K_none && i->b.reg != S_NULL && !gcn_read_scalar(w, &i->b, T_U32, &offset))
        return STEP_FAULT;
    uint64_t address = gcn_pair(w, i->a.reg) + (uint64_t)i->offset + offset;
    unsigned bytes = i->bytes;
    if (bytes >= 4 && address % 4)
        return gcn_fault(w, GCN_FAULT, "a scalar load at 0x%llx, which is no multiple of 4",
                         (unsigned long long)address);
    const char *from = gcn_address(w, address, bytes, false);
    if (!from) return STEP_FAULT;
    uint32_t words[16] = {0};
    memcpy(words, from, bytes);
    if (i->fit == FIT_signed)
        words[0] = bytes == 1 ? (uint32_t)(int8_t)words[0] : (uint32_t)(int16_t)words[0];
    for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
        w->s[i->d.reg + k] = words[k];
        w->sset[i->d.reg + k] = true;
    }
    return STEP_NEXT;
}

/* -- Decoding ---------------------------------------------------------------------------------- */

typedef struct MemRow {
    const char *name, *old;
    MemWork work;
    uint8_t bytes;
    MemFit fit;
} MemRow;

static const MemRow rows[] = {
#define MEM(name, old, work, bytes, fit) {name, old, M_##work, bytes, FIT_##fit},
#include "gcn_memory.def"
#undef MEM
};

static const struct {
    const char *name;
    uint8_t bytes;
    MemFit fit;
} scalar_rows[] = {{"s_load_b32", 4, FIT_plain},   {"s_load_b64", 8, FIT_plain},
                   {"s_load_b96", 12, FIT_plain},  {"s_load_b128", 16, FIT_plain},
                   {"s_load_b256", 32, FIT_plain}, {"s_load_b512", 64, FIT_plain},
                   {"s_load_u8", 1, FIT_plain},    {"s_load_i8", 1, FIT_signed},
                   {"s_load_u16", 2, FIT_plain},   {"s_load_i16", 2, FIT_signed}};

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

static bool scalar_load(GcnInst *i, const GcnText *text) {
    for (unsigned k = 0; k < sizeof scalar_rows / sizeof *scalar_rows; k++) {
        if (strcmp(text->name, scalar_rows[k].name) != 0) continue;
        if (text->noperands != 3) return false;
        i->run = run_scalar_load;
        i->counts = COUNTS_scalar, i->answers = true;
        i->space = M_scalar;
        i->bytes = scalar_rows[k].bytes;
        i->fit = scalar_rows[k].fit;
        i->d = text->operands[0], i->a = text->operands[1];
        const GcnModifier *offset = gcn_modifier(text, "offset");
        if (offset) i->offset = offset->list[0];
        if (text->operands[2].kind == K_const)
            i->offset += text->operands[2].integer;
        else
            i->b = text->operands[2];
        return true;
    }
    return false;
}

/* Caches and orders of memory mean nothing here: every access is done at once. */
static bool modifiers(GcnInst *i, const GcnText *text, bool atomic) {
    static const char *const known[] = {"glc", "slc", "dlc", "sc0", "sc1", "nt", "scope", "offen"};
    for (int k = 0; k < text->nmodifiers; k++) {
        const GcnModifier *m = &text->modifiers[k];
        bool fine = false;
        for (unsigned j = 0; j < sizeof known / sizeof *known; j++)
            fine |= !strcmp(m->name, known[j]);
        if (!strcmp(m->name, "offset") || !strcmp(m->name, "offset0"))
            i->offset = m->list[0];
        else if (!strcmp(m->name, "offset1"))
            i->offset1 = m->list[0];
        else if (!strcmp(m->name, "th"))
            i->returns |= atomic && strstr(m->text, "RETURN") != NULL;
        else if (!fine)
            return false;
        i->offset_enabled |= !strcmp(m->name, "offen");
        if (!strcmp(m->name, "glc") || !strcmp(m->name, "sc0")) i->returns |= atomic;
    }
    return true;
}

/* data, off or a register of offsets, s[0:3] (the descriptor of scratch, no other), scalar offset */
static bool buffer_operands(GcnInst *i, const GcnText *text) {
    if (text->noperands != 4 || (i->work != M_load && i->work != M_store)) return false;
    *(i->work == M_load ? &i->d : &i->c) = text->operands[0];
    i->a = text->operands[1], i->b = text->operands[3];
    gcn_settle(&i->b, T_U32);
    const GcnOperand *buffer = &text->operands[2];
    return buffer->kind == K_scalar && buffer->reg == 0 && buffer->words == 4 &&
           i->offset_enabled == (i->a.kind == K_vector);
}

/* The operands in the order in which they are printed. */
static bool operands(GcnInst *i, const GcnText *text) {
    if (i->space == M_buffer) return buffer_operands(i, text);
    bool lds = i->space == M_lds, flat = i->space == M_flat;
    GcnOperand *order[6];
    int n = 0;
    if (i->work == M_load || i->work == M_pair_load || i->returns) order[n++] = &i->d;
    order[n++] = &i->a;
    if (i->work == M_pair_store)
        order[n++] = &i->b, order[n++] = &i->c;
    else if (i->work == M_atomic && lds && strstr(text->name, "cmpst_"))
        order[n++] = &i->e, order[n++] = &i->c;
    else if (i->work == M_atomic && lds && strstr(text->name, "cmpstore"))
        order[n++] = &i->c, order[n++] = &i->e;
    else if (i->work != M_load && i->work != M_pair_load)
        order[n++] = &i->c;
    if (!lds && (!flat || text->noperands > n)) order[n++] = &i->b;
    if (text->noperands != n) return false;
    for (int k = 0; k < n; k++)
        *order[k] = text->operands[k];
    if (i->work == M_atomic && !lds && strstr(text->name, "cmpswap")) {
        i->c.words /= 2; /* the value, and as many behind it what is expected */
        i->e = i->c;
        i->e.reg = (uint16_t)(i->e.reg + i->c.words);
    }
    return i->a.kind == K_vector || (i->space == M_scratch && i->a.kind == K_off);
}

/* The name behind "global_" and the like. */
static const char *space_of(GcnInst *i, const char *name) {
    static const struct {
        const char *prefix;
        MemSpace space;
    } spaces[] = {{"global_", M_global},
                  {"flat_", M_flat},
                  {"scratch_", M_scratch},
                  {"buffer_", M_buffer},
                  {"ds_", M_lds}};
    for (unsigned k = 0; k < sizeof spaces / sizeof *spaces; k++)
        if (starts(name, spaces[k].prefix)) {
            i->space = spaces[k].space;
            return name + strlen(spaces[k].prefix);
        }
    return NULL;
}

static bool atomic(GcnInst *i, const GcnText *text, const char *rest) {
    char name[48];
    const char *rtn = i->space == M_lds ? strstr(rest, "_rtn") : NULL;
    if (i->space != M_lds && !starts(rest, "atomic_")) return false;
    if (i->space != M_lds) rest += strlen("atomic_");
    snprintf(name, sizeof name, "%.*s%s", rtn ? (int)(rtn - rest) : 40, rest, rtn ? rtn + 4 : "");
    i->atomic = gcn_atomic_row(name);
    if (!i->atomic) return false;
    i->run = run_atomic;
    i->work = M_atomic;
    i->bytes = i->atomic->bytes;
    i->returns = rtn != NULL;
    return modifiers(i, text, i->space != M_lds) && operands(i, text);
}

/* Flat ones may be of memory or of LDS: they count as both. */
static bool counted(GcnInst *i, bool fine) {
    i->counts = i->space == M_lds    ? COUNTS_lds
                : i->space == M_flat ? COUNTS_lds | COUNTS_load
                                     : COUNTS_load;
    i->answers = i->returns || i->work == M_load || i->work == M_pair_load;
    return fine;
}

bool gcn_memory(GcnInst *i, const GcnText *text) {
    if (scalar_load(i, text)) return true;
    const char *rest = space_of(i, text->name);
    if (!rest) return false;
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (strcmp(rest, rows[k].name) != 0 && strcmp(rest, rows[k].old) != 0) continue;
        i->work = rows[k].work, i->bytes = rows[k].bytes, i->fit = rows[k].fit;
        i->run = i->work == M_load ? run_load : i->work == M_store ? run_store : run_pair;
        return counted(i, modifiers(i, text, false) && operands(i, text));
    }
    bool fine = atomic(i, text, rest);
    return fine && counted(i, fine);
}
