/* Vector instructions: columns of lanes are read with their modifiers, a row of gcn_vector.def computes all lanes, and those
 * that EXEC names are written. */
#include "gcn_wave.h"

#include <stdio.h>

/* -- The rows ---------------------------------------------------------------------------------- */

typedef uint32_t NO_t, MASK_t, VCC_t, U16_t, U32_t;
typedef int32_t I16_t, I32_t;
typedef float F32_t;
typedef double F16_t, F64_t;
typedef uint64_t U64_t;
typedef int64_t I64_t;

#define OP(name, D, E, A, B, C, ...)                                                               \
    static void run_##name(void *pd, void *pe, const void *pa, const void *pb, const void *pc,     \
                           int n) {                                                                \
        D##_t *dd = pd;                                                                            \
        E##_t *ee = pe;                                                                            \
        const A##_t *aa = pa;                                                                      \
        const B##_t *bb = pb;                                                                      \
        const C##_t *cc = pc;                                                                      \
        for (int l = 0; l < n; l++) {                                                              \
            D##_t d;                                                                               \
            E##_t e = ee[l];                                                                       \
            const A##_t a = aa[l];                                                                 \
            const B##_t b = bb[l];                                                                 \
            const C##_t c = cc[l];                                                                 \
            (void)a, (void)b, (void)c, (void)e;                                                    \
            __VA_ARGS__;                                                                           \
            dd[l] = d;                                                                             \
            ee[l] = e;                                                                             \
        }                                                                                          \
    }
#include "gcn_vector.def"
#undef OP

static const GcnVectorRow rows[] = {
#define OP(name, D, E, A, B, C, ...) {#name, {T_##D, T_##E, T_##A, T_##B, T_##C}, run_##name},
#include "gcn_vector.def"
#undef OP
};

const GcnVectorRow *gcn_vector_row(const char *name) {
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

/* -- Columns ----------------------------------------------------------------------------------- */

typedef union Column {
    uint32_t u[LANES];
    int32_t i[LANES];
    float f[LANES];
    uint64_t q[LANES];
    double r[LANES];
} Column;

static bool is_wide(GcnType type) {
    return type == T_U64 || type == T_I64 || type == T_F64;
}
static bool is_half(GcnType type) {
    return type == T_U16 || type == T_I16 || type == T_F16;
}
static bool is_real(GcnType type) {
    return type == T_F16 || type == T_F32 || type == T_F64;
}

bool gcn_check_vector(GcnWave *w, const GcnOperand *o, unsigned words) {
    uint64_t exec = gcn_exec(w);
    if (!w->run->launch->unset || o->kind != K_vector) return true;
    for (unsigned k = 0; k < words; k++)
        if (exec & ~w->vset[o->reg + k]) {
            unsigned reg = o->reg + k;
            gcn_fault(w, GCN_FAULT, "%c%u is read, and was never written in lane %d",
                      reg < 256 ? 'v' : 'a', reg & 255,
                      __builtin_ctzll(exec & ~w->vset[o->reg + k]));
            return false;
        }
    return true;
}

/* LLVM multiplies and adds 32 bits with these, too: of what is added the upper half may be anything then. */
static bool low_half_is_enough(const GcnInst *i) {
    return i->vector && !strncmp(i->vector->name, "v_mad_", 6);
}

/* The bits of an operand in all lanes: in u, or in q where the type is wide. `part`: which half of a packed one. */
static bool raw(GcnWave *w, const GcnOperand *o, GcnType type, unsigned part, Column *out) {
    bool wide = is_wide(type);
    if (o->kind == K_vector) {
        bool half = low_half_is_enough(w->at);
        unsigned reg = o->reg + part;
        if (reg + wide >= V_COUNT || !gcn_check_vector(w, o, wide && !half ? 2 : 1)) return false;
        for (int l = 0; l < w->lanes; l++)
            if (wide)
                out->q[l] = w->v[reg][l] | (uint64_t)w->v[reg + 1][l] << 32;
            else
                out->u[l] = w->v[reg][l];
        return true;
    }
    GcnOperand one = *o;
    uint64_t value;
    if (o->kind == K_scalar && part) one.reg = (uint16_t)(one.reg + part);
    if (type == T_MASK || type == T_VCC) {
        uint64_t mask = gcn_mask(w, o);
        for (int l = 0; l < w->lanes; l++)
            out->u[l] = mask >> l & 1;
        return true;
    }
    if (!gcn_read_scalar(w, &one, type, &value)) return false;
    for (int l = 0; l < w->lanes; l++)
        if (wide)
            out->q[l] = value;
        else
            out->u[l] = (uint32_t)value;
    return true;
}

/* Lanes that have no source read 0; whether they are written is dpp_mask's business. */
static void exchange(GcnWave *w, const GcnInst *i, bool wide, Column *c) {
    Column from = *c;
    for (int l = 0; l < w->lanes; l++) {
        int source = gcn_dpp_source(w, i, l);
        if (wide)
            c->q[l] = source < 0 ? 0 : from.q[source];
        else
            c->u[l] = source < 0 ? 0 : from.u[source];
    }
}

static uint32_t select_part(uint32_t x, SdwaSel sel, bool sext) {
    if (sel == SDWA_DWORD) return x;
    if (sel >= SDWA_WORD_0) {
        uint32_t half = sel == SDWA_WORD_0 ? x & 0xffff : x >> 16;
        return sext ? (uint32_t)(int16_t)half : half;
    }
    uint32_t byte = x >> (8 * (sel - SDWA_BYTE_0)) & 255;
    return sext ? (uint32_t)(int8_t)byte : byte;
}

/* 16-bit operands: the half that is asked for, widened. */
static void widen(GcnWave *w, GcnType type, bool high, Column *c) {
    for (int l = w->lanes - 1; l >= 0; l--) {
        uint16_t half = (uint16_t)(c->u[l] >> (high ? 16 : 0));
        if (type == T_F16)
            c->r[l] = (double)gcn_f16_to_f32(half);
        else if (type == T_I16)
            c->i[l] = (int16_t)half;
        else
            c->u[l] = half;
    }
}

static void signs(GcnWave *w, const GcnOperand *o, bool neg, GcnType type, Column *c) {
    for (int l = 0; l < w->lanes; l++)
        if (type == T_F64 || type == T_F16) {
            if (o->abs) c->r[l] = fabs(c->r[l]);
            if (neg) c->r[l] = -c->r[l];
        } else if (is_wide(type)) {
            if (o->abs) c->q[l] &= INT64_MAX;
            if (neg) c->q[l] ^= UINT64_C(1) << 63;
        } else {
            uint32_t sign = type == T_U16 ? 0x8000 : 0x80000000;
            if (o->abs) c->u[l] &= ~sign;
            if (neg) c->u[l] ^= sign;
        }
}

/* MODE: bits 4 and 5 allow denormals of f32, 6 and 7 those of f64 and f16 (as operands, as results). */
static void flush(GcnWave *w, GcnType type, bool result, Column *c) {
    unsigned bit = (type == T_F32 ? 4u : 6u) + result;
    if (!is_real(type) || w->mode >> bit & 1) return;
    for (int l = 0; l < w->lanes; l++)
        if (type == T_F32)
            c->f[l] = gcn_flush(c->f[l]);
        else if (fabs(c->r[l]) < (type == T_F64 ? 0x1p-1022 : 0x1p-14))
            c->r[l] = copysign(0, c->r[l]);
}

/* Operand number `which` (0 to 2), of half `part` where the instruction is packed. NULL: a fault. */
static const void *fetch(GcnWave *w, const GcnInst *i, const GcnOperand *o, int which, int part,
                         Column *c) {
    GcnType type = i->vector->types[2 + which];
    bool plain = o->kind == K_vector && !o->neg && !o->abs && !i->packed && !i->sdwa && !i->mixed;
    if (type == T_NO) return c;
    if (plain && (type == T_U32 || type == T_I32 || (type == T_F32 && w->mode >> 4 & 1)) &&
        !(which == 0 && i->dpp) && !w->run->launch->unset)
        return w->v[o->reg];
    unsigned bit = 1u << which;
    bool pick = part ? i->op_sel_hi & bit : i->op_sel & bit;
    bool pairs = i->packed && !is_half(type); /* two floats in two registers */
    if (!raw(w, o, type, pairs && pick && o->kind != K_const, c)) return NULL;
    if (which == 0 && i->dpp) exchange(w, i, is_wide(type), c);
    if (i->sdwa && which < 2)
        for (int l = 0; l < w->lanes; l++)
            c->u[l] = select_part(c->u[l], which ? i->src1_sel : i->src0_sel, o->sext);
    if (i->mixed && i->op_sel_hi & bit)
        for (int l = 0; l < w->lanes; l++)
            c->f[l] = gcn_f16_to_f32((uint16_t)(c->u[l] >> (i->op_sel & bit ? 16 : 0)));
    if (is_half(type)) widen(w, type, pick && !pairs, c); /* of a constant, too: it has 32 bits */
    bool neg = i->packed ? (part ? i->neg_hi : i->neg_lo) & bit : o->neg;
    if (neg || o->abs) signs(w, o, neg, type, c);
    flush(w, type, false, c);
    return c;
}

/* -- Results ----------------------------------------------------------------------------------- */

static void shape(GcnWave *w, const GcnInst *i, GcnType type, Column *c) {
    flush(w, type, true, c);
    if (!i->clamp && !i->omod) return;
    double factor = i->omod == 1 ? 2 : i->omod == 2 ? 4 : i->omod == 3 ? 0.5 : 1;
    for (int l = 0; l < w->lanes; l++) {
        double x = type == T_F32 ? (double)c->f[l] : c->r[l];
        x *= factor;
        if (i->clamp) x = x > 0 ? (x < 1 ? x : 1) : 0; /* NaN is 0 */
        if (type == T_F32)
            c->f[l] = (float)x;
        else
            c->r[l] = x;
    }
}

/* Lanes that are written: the active ones, but those that DPP leaves alone. */
static uint64_t written(GcnWave *w, const GcnInst *i) {
    uint64_t mask = gcn_exec(w);
    if (!i->dpp) return mask;
    for (int l = 0; l < w->lanes; l++) {
        bool on = i->row_mask >> (l / 16) & 1 && i->bank_mask >> (l % 16 / 4) & 1;
        if (!on || (!i->bound_ctrl && gcn_dpp_source(w, i, l) < 0)) mask &= ~(UINT64_C(1) << l);
    }
    return mask;
}

static uint32_t merged(const GcnInst *i, uint32_t old, uint32_t x) {
    unsigned at = 0, width = 32;
    if (i->dst_sel >= SDWA_WORD_0)
        at = i->dst_sel == SDWA_WORD_1 ? 16 : 0, width = 16;
    else if (i->dst_sel != SDWA_DWORD)
        at = 8u * (unsigned)(i->dst_sel - SDWA_BYTE_0), width = 8;
    if (width == 32) return x;
    uint32_t field = ((UINT32_C(1) << width) - 1) << at, value = x << at & field;
    if (i->dst_unused == SDWA_PRESERVE) return (old & ~field) | value;
    bool sign = i->dst_unused == SDWA_SEXT && x >> (width - 1) & 1;
    uint32_t above = at + width == 32 ? 0 : UINT32_MAX << (at + width);
    return value | (sign ? above : 0);
}

static void put_words(GcnWave *w, const GcnInst *i, GcnType type, int part, uint64_t mask,
                      const Column *c) {
    unsigned reg = i->d.reg;
    bool pairs = i->packed && !is_half(type), high = i->packed ? part : i->op_sel >> 3 & 1;
    if (pairs) reg += (unsigned)part;
    for (uint64_t left = mask; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        uint32_t *at = &w->v[reg][l];
        if (is_wide(type)) {
            w->v[reg][l] = (uint32_t)c->q[l];
            w->v[reg + 1][l] = (uint32_t)(c->q[l] >> 32);
        } else if (is_half(type)) {
            uint32_t half = type == T_F16 ? gcn_f64_to_f16(c->r[l]) : c->u[l] & 0xffff;
            if (i->sdwa)
                *at = merged(i, *at, half);
            else if (high)
                *at = (*at & 0xffff) | half << 16;
            else
                *at = (i->keeps_high || i->packed ? *at & 0xffff0000 : 0) | half;
        } else {
            *at = i->sdwa ? merged(i, *at, c->u[l]) : c->u[l];
        }
    }
    w->vset[reg] |= mask;
    if (is_wide(type)) w->vset[reg + 1] |= mask;
}

static uint64_t collect(GcnWave *w, const Column *c) {
    uint64_t bits = 0;
    int lanes = w->lanes == 32 ? 32 : 64; // compilers see that there are no others
    for (int l = 0; l < lanes; l++)
        bits |= (uint64_t)(c->u[l] & 1) << l;
    return bits & gcn_exec(w);
}

typedef struct Result {
    Column d, e;
} Result;

/* Reads the operands and computes; nothing is written yet. */
static bool compute(GcnWave *w, const GcnInst *i, int part, Result *r) {
    Column a, b, c;
    const void *pa = fetch(w, i, &i->a, 0, part, &a), *pb = fetch(w, i, &i->b, 1, part, &b);
    const void *pc = fetch(w, i, i->c_is_d ? &i->d : &i->c, 2, part, &c);
    if (!pa || !pb || !pc) return false;
    if (i->vector->types[1] == T_VCC) {
        GcnOperand vcc = {.kind = K_scalar, .reg = S_VCC, .words = 2};
        if (!raw(w, &vcc, T_VCC, 0, &r->e)) return false;
    }
    i->vector->columns(&r->d, &r->e, pa, pb, pc, w->lanes);
    return true;
}

static void put(GcnWave *w, const GcnInst *i, int part, Result *r) {
    GcnType type = i->vector->types[0];
    if (i->vector->types[1] == T_MASK) gcn_write_mask(w, &i->e, collect(w, &r->e));
    if (type == T_MASK) {
        uint64_t mask = collect(w, &r->d);
        if (i->d.kind != K_none) gcn_write_mask(w, &i->d, mask);
        if (i->writes_exec) gcn_set_exec(w, mask);
        return;
    }
    shape(w, i, type, &r->d);
    put_words(w, i, type, part, written(w, i), &r->d);
}

/* Half or float `part` of a move takes operand `part`. */
static bool move_pair(GcnWave *w, const GcnInst *i, Result *low, Result *high) {
    return raw(w, &i->a, T_U32, i->op_sel & 1, &low->d) &&
           raw(w, &i->b, T_U32, i->op_sel >> 1 & 1, &high->d);
}

static GcnStep run_packed(GcnWave *w, const GcnInst *i) {
    Result low, high;
    bool moves = !strcmp(i->vector->name, "v_pk_mov_b32");
    bool ok =
        moves ? move_pair(w, i, &low, &high) : compute(w, i, 0, &low) && compute(w, i, 1, &high);
    if (!ok) return STEP_FAULT;
    put(w, i, 0, &low);
    put(w, i, 1, &high);
    return STEP_NEXT;
}

static bool move_by(GcnWave *w, GcnOperand *o, bool moves) {
    uint32_t by = w->s[S_M0] & 255, base = o->reg & 256;
    if (!moves || o->kind != K_vector) return true;
    if ((o->reg & 255) + by + o->words > 256) {
        gcn_fault(w, GCN_ILLEGAL, "v%u with index %u in M0 is no register", o->reg & 255, by);
        return false;
    }
    o->reg = (uint16_t)(base + (o->reg & 255) + by);
    return true;
}

GcnStep gcn_run_indexed(GcnWave *w, const GcnInst *i, uint8_t which) {
    GcnInst moved = *i;
    uint8_t kept = w->indexed;
    if (!move_by(w, &moved.a, which & INDEXED_A) || !move_by(w, &moved.b, which & INDEXED_B) ||
        !move_by(w, &moved.c, which & INDEXED_C) || !move_by(w, &moved.d, which & INDEXED_D) ||
        !gcn_wait_check(w, &moved))
        return STEP_FAULT;
    w->indexed = 0;
    GcnStep step = gcn_run_vector(w, &moved);
    w->indexed = kept;
    return step;
}

GcnStep gcn_run_vector(GcnWave *w, const GcnInst *i) {
    Result r;
    if (w->indexed) return gcn_run_indexed(w, i, w->indexed);
    if (i->packed) return run_packed(w, i);
    if (!compute(w, i, 0, &r)) return STEP_FAULT;
    put(w, i, 0, &r);
    return STEP_NEXT;
}

GcnStep gcn_run_dual(GcnWave *w, const GcnInst *i) {
    Result first, second;
    if (!compute(w, i, 0, &first) || !compute(w, i->dual, 0, &second)) return STEP_FAULT;
    put(w, i, 0, &first);
    put(w, i->dual, 0, &second);
    return STEP_NEXT;
}
