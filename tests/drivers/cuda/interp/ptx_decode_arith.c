/* Decoders of arithmetic, comparisons, conversions and moves. */
#include "ptx_num.h"
#include "ptx_parse.h"

#include <stdio.h>
#include <string.h>

/* -- Helpers ---------------------------------------------------------------------------------- */

static PtxType only_type(Dec *d) {
    return d->ntypes ? d->types[d->ntypes - 1] : PT_none;
}

/* Operands 1, 2, 3 as sources of one type into operand 0. */
static PtxIns *plain(Dec *d, PtxOp op, PtxType type, unsigned nsrc) {
    uint32_t s[3] = {0};
    if (d->nops != nsrc + 1) {
        ptx_dec_fail(d, "Wrong number of operands");
        return NULL;
    }
    for (unsigned i = 0; i < nsrc && i < 3; i++)
        s[i] = ptx_src(d, i + 1, type);
    return ptx_dec_emit(d, op, ptx_dst(d, 0), s[0], s[1], s[2]);
}

static int round_format(PtxType type) {
    switch (type) {
    case PT_f32: return 0;
    case PT_f64: return 1;
    case PT_f16:
    case PT_f16x2: return 2;
    case PT_bf16:
    case PT_bf16x2: return 3;
    default: return -1;
    }
}

/* One operation on both halves of packed sources: low, high, and the two put together again. */
static bool packed(Dec *d, uint16_t aux, PtxOp op, unsigned nsrc) {
    uint32_t low = ptx_temp(d), high = ptx_temp(d), s[3] = {0}, h[3] = {0};
    if (d->nops != nsrc + 1) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t sixteen = ptx_const(d->p, 16);
    for (unsigned i = 0; i < nsrc; i++)
        s[i] = ptx_src(d, i + 1, PT_b32);
    ptx_dec_emit(d, op, low, s[0], s[1], s[2])->aux = aux;
    for (unsigned i = 0; i < nsrc; i++) {
        h[i] = ptx_temp(d);
        ptx_dec_emit(d, OP_shrz_u32, h[i], s[i], sixteen, 0);
    }
    ptx_dec_emit(d, op, high, h[0], h[1], h[2])->aux = aux;
    ptx_dec_emit(d, OP_pack, ptx_dst(d, 0), low, high, 0)->imm = 16;
    return true;
}

/* -- Float arithmetic ------------------------------------------------------------------------- */

static uint16_t round_flags(Dec *d, PtxType type) {
    uint16_t flags = 0;
    if (ptx_take(d, "ftz") && type != PT_f64) flags |= ROUND_FTZ;
    if (ptx_take(d, "sat")) flags |= ROUND_SAT;
    if (ptx_take(d, "relu")) flags |= ROUND_RELU;
    return flags;
}

/* fast: the row for round-to-nearest without flags, or NULL. */
static bool float_op(Dec *d, PtxRoundKind kind, unsigned nsrc, const char *fast) {
    PtxType type = only_type(d);
    bool integral;
    PtxRnd rnd = ptx_take_rnd(d, &integral);
    uint16_t flags = round_flags(d, type);
    if (integral) return ptx_dec_fail(d, "Illegal rounding");
    if ((kind == RK_min || kind == RK_max) && ptx_take(d, "NaN"))
        kind = kind == RK_min ? RK_min_nan : RK_max_nan, fast = NULL;
    static const char *const approximate[] = {"approx", "full", NULL};
    ptx_take_rest(d, approximate);
    int format = round_format(type);
    if (format < 0) return ptx_dec_fail(d, "Unexpected instruction types");
    uint16_t aux = (uint16_t)(PTX_ROUND(kind, rnd, format) | flags);
    if (type == PT_f16x2 || type == PT_bf16x2) return packed(d, aux, OP_round, nsrc);
    if (fast && flags == 0 && rnd <= RND_n && format < 2)
        return plain(d, ptx_variant(d, fast, type), type, nsrc);
    PtxIns *ins = plain(d, OP_round, type, nsrc);
    if (ins) ins->aux = aux;
    return ins;
}

/* neg and abs only touch the sign. */
static bool float_sign(Dec *d, PtxRoundKind kind) {
    PtxType type = only_type(d);
    if (ptx_take(d, "ftz") && type == PT_f32) {
        PtxIns *ins = plain(d, OP_round, type, 1);
        if (ins) ins->aux = PTX_ROUND(kind, RND_n, 0) | ROUND_FTZ;
        return ins;
    }
    unsigned bits = 8 * ptx_type_size(type);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    if (type == PT_f16x2 || type == PT_bf16x2) sign |= 1u << 15;
    if (d->nops != 2) return ptx_dec_fail(d, "Wrong number of operands");
    PtxType raw = bits == 64 ? PT_b64 : bits == 32 ? PT_b32 : PT_b16;
    uint32_t mask = ptx_const(d->p, kind == RK_neg ? sign : ~sign);
    PtxOp op = ptx_variant(d, kind == RK_neg ? "xor" : "and", raw);
    ptx_dec_emit(d, op, ptx_dst(d, 0), ptx_src(d, 1, type), mask, 0);
    return true;
}

static bool dec_copysign(Dec *d) {
    PtxType type = only_type(d);
    return plain(d, type == PT_f64 ? OP_copysign_f64 : OP_copysign_f32, type, 2) != NULL;
}

static bool dec_testp(Dec *d) {
    static const char *const tests[] = {"finite", "infinite",  "number", "notanumber",
                                        "normal", "subnormal", NULL};
    int test = ptx_take_one(d, tests);
    PtxType type = only_type(d);
    if (test < 0) return ptx_dec_fail(d, "Unknown test");
    PtxIns *ins = plain(d, OP_testp, type, 1);
    if (!ins) return false;
    ins->aux = (uint16_t)test;
    ins->imm = type == PT_f64 ? 64 : 32;
    return true;
}

/* -- Integer arithmetic with modifiers -------------------------------------------------------- */

/* add, sub, mad with .cc, and addc, subc, madc: a chain through the carry flag. */
static bool carry_op(Dec *d, PtxCarryKind kind, bool reads, unsigned nsrc) {
    PtxType type = only_type(d);
    int64_t how = kind;
    if (ptx_take(d, "cc")) how |= CARRY_WRITES;
    if (reads) how |= CARRY_READS;
    if (ptx_type_size(type) == 8) how |= CARRY_64;
    if (ptx_type_signed(type)) how |= CARRY_SIGNED;
    if (ptx_type_float(type) || ptx_type_size(type) < 4)
        return ptx_dec_fail(d, "Unexpected instruction types");
    PtxIns *ins = plain(d, OP_carry, type, nsrc);
    if (ins) ins->imm = how;
    return ins;
}

static bool has_cc(const Dec *d) {
    for (uint32_t i = 0; i < d->nmods; i++)
        if (strcmp(d->mods[i], "cc") == 0) return true;
    return false;
}

static bool add_or_sub(Dec *d, bool sub) {
    PtxType type = only_type(d);
    if (ptx_type_float(type)) return float_op(d, sub ? RK_sub : RK_add, 2, sub ? "fsub" : "fadd");
    if (has_cc(d)) return carry_op(d, sub ? CARRY_sub : CARRY_add, false, 2);
    if (ptx_take(d, "sat"))
        return plain(d, ptx_variant(d, sub ? "subsat" : "addsat", type), type, 2);
    return plain(d, ptx_variant(d, sub ? "sub" : "add", type), type, 2);
}

static bool dec_add(Dec *d) {
    return add_or_sub(d, false);
}
static bool dec_sub(Dec *d) {
    return add_or_sub(d, true);
}
static bool dec_addc(Dec *d) {
    return carry_op(d, CARRY_add, true, 2);
}
static bool dec_subc(Dec *d) {
    return carry_op(d, CARRY_sub, true, 2);
}

static bool mad_carry(Dec *d, bool reads) {
    bool high = ptx_take(d, "hi");
    if (!high && !ptx_take(d, "lo")) return ptx_dec_fail(d, ".hi or .lo expected");
    return carry_op(d, high ? CARRY_mad_hi : CARRY_mad_lo, reads, 3);
}

static bool dec_madc(Dec *d) {
    return mad_carry(d, true);
}

static bool product(Dec *d, const char *stem, unsigned nsrc) {
    static const char *const parts[] = {"lo", "hi", "wide", NULL};
    PtxType type = only_type(d);
    char row[24];
    int part = ptx_take_one(d, parts);
    if (part < 0) return ptx_dec_fail(d, ".lo, .hi or .wide expected");
    snprintf(row, sizeof row, "%s_%s", stem, parts[part]);
    PtxOp op = ptx_variant(d, row, type);
    if (part != 2) return plain(d, op, type, nsrc);
    PtxType wide = type == PT_u16   ? PT_u32
                   : type == PT_s16 ? PT_s32
                   : type == PT_s32 ? PT_s64
                                    : PT_u64;
    if (d->nops != nsrc + 1 || ptx_type_size(type) == 8) return ptx_dec_fail(d, "Wrong operands");
    uint32_t a = ptx_src(d, 1, type), b = ptx_src(d, 2, type);
    ptx_dec_emit(d, op, ptx_dst(d, 0), a, b, nsrc == 3 ? ptx_src(d, 3, wide) : 0);
    return true;
}

static bool dec_mul(Dec *d) {
    if (ptx_type_float(only_type(d))) return float_op(d, RK_mul, 2, "fmul");
    return product(d, "mul", 2);
}

static bool dec_mad(Dec *d) {
    if (ptx_type_float(only_type(d))) return float_op(d, RK_fma, 3, "ffma");
    return has_cc(d) ? mad_carry(d, false) : product(d, "mad", 3);
}

static bool dec_mul24(Dec *d) {
    return product(d, "mul24", 2);
}
static bool dec_mad24(Dec *d) {
    return product(d, "mad24", 3);
}
static bool dec_fma(Dec *d) {
    return float_op(d, RK_fma, 3, "ffma");
}

/* -- Operations that are one row -------------------------------------------------------------- */

static bool simple(Dec *d, const char *row, unsigned nsrc) {
    PtxType type = only_type(d);
    return plain(d, ptx_variant(d, row, type), type, nsrc) != NULL;
}

static bool dec_div(Dec *d) {
    return ptx_type_float(only_type(d)) ? float_op(d, RK_div, 2, "fdiv") : simple(d, "div", 2);
}

static bool min_or_max(Dec *d, PtxRoundKind kind) {
    const char *row = kind == RK_min ? "min" : "max";
    if (ptx_type_float(only_type(d))) return float_op(d, kind, 2, kind == RK_min ? "fmin" : "fmax");
    return simple(d, row, 2);
}

static bool dec_min(Dec *d) {
    return min_or_max(d, RK_min);
}
static bool dec_max(Dec *d) {
    return min_or_max(d, RK_max);
}

static bool dec_abs(Dec *d) {
    return ptx_type_float(only_type(d)) ? float_sign(d, RK_abs) : simple(d, "abs", 1);
}

static bool dec_neg(Dec *d) {
    return ptx_type_float(only_type(d)) ? float_sign(d, RK_neg) : simple(d, "neg", 1);
}

static bool dec_rem(Dec *d) {
    return simple(d, "rem", 2);
}
static bool dec_sad(Dec *d) {
    return simple(d, "sad", 3);
}
static bool dec_and(Dec *d) {
    return simple(d, "and", 2);
}
static bool dec_or(Dec *d) {
    return simple(d, "or", 2);
}
static bool dec_xor(Dec *d) {
    return simple(d, "xor", 2);
}
static bool dec_not(Dec *d) {
    return simple(d, "not", 1);
}
static bool dec_cnot(Dec *d) {
    return simple(d, "cnot", 1);
}
static bool dec_popc(Dec *d) {
    return simple(d, "popc", 1);
}
static bool dec_clz(Dec *d) {
    return simple(d, "clz", 1);
}
static bool dec_brev(Dec *d) {
    return simple(d, "brev", 1);
}
static bool dec_sqrt(Dec *d) {
    return float_op(d, RK_sqrt, 1, NULL);
}
static bool dec_sin(Dec *d) {
    return float_op(d, RK_sin, 1, NULL);
}
static bool dec_cos(Dec *d) {
    return float_op(d, RK_cos, 1, NULL);
}
static bool dec_lg2(Dec *d) {
    return float_op(d, RK_lg2, 1, NULL);
}
static bool dec_ex2(Dec *d) {
    return float_op(d, RK_ex2, 1, NULL);
}
static bool dec_tanh(Dec *d) {
    return float_op(d, RK_tanh, 1, NULL);
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the high word only. */
static bool gross_f64(Dec *d, PtxRoundKind kind) {
    ptx_take(d, "approx");
    PtxIns *ins = plain(d, OP_round, PT_f64, 1);
    if (ins) ins->aux = PTX_ROUND(kind, RND_n, 1);
    return ins;
}

static bool dec_rsqrt(Dec *d) {
    if (only_type(d) == PT_f64 && ptx_take(d, "ftz")) return gross_f64(d, RK_rsqrt_gross);
    return float_op(d, RK_rsqrt, 1, NULL);
}

static bool dec_rcp(Dec *d) {
    if (only_type(d) == PT_f64 && ptx_take(d, "ftz")) return gross_f64(d, RK_rcp_gross);
    return float_op(d, RK_rcp, 1, NULL);
}

static bool shift(Dec *d, bool left) {
    PtxType type = only_type(d);
    const char *row = left ? "shl" : ptx_type_signed(type) ? "shr" : "shrz";
    PtxOp op = ptx_variant(d, row, type);
    if (d->nops != 3) return ptx_dec_fail(d, "Wrong number of operands");
    ptx_dec_emit(d, op, ptx_dst(d, 0), ptx_src(d, 1, type), ptx_src(d, 2, PT_u32), 0);
    return true;
}

static bool dec_shl(Dec *d) {
    return shift(d, true);
}
static bool dec_shr(Dec *d) {
    return shift(d, false);
}

/* Rows whose sources are not all of the instruction's type; flag goes into aux. */
static bool mixed(Dec *d, PtxOp op, PtxType a, PtxType b, PtxType c, unsigned flag) {
    unsigned nsrc = c != PT_none ? 3 : 2;
    if (d->nops < nsrc + 1) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t s0 = ptx_src(d, 1, a), s1 = ptx_src(d, 2, b), s2 = nsrc == 3 ? ptx_src(d, 3, c) : 0;
    ptx_dec_emit(d, op, ptx_dst(d, 0), s0, s1, s2)->aux = (uint16_t)flag;
    return true;
}

static bool dec_shf(Dec *d) {
    bool left = ptx_take(d, "l");
    if (!left) ptx_take(d, "r");
    bool wrap = ptx_take(d, "wrap");
    if (!wrap) ptx_take(d, "clamp");
    return mixed(d, left ? OP_shf_l_u32 : OP_shf_r_u32, PT_b32, PT_b32, PT_u32, wrap);
}

static bool dec_prmt(Dec *d) {
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
    return mixed(d, OP_prmt_u32, PT_b32, PT_b32, PT_b32, (unsigned)(ptx_take_one(d, modes) + 1));
}

static bool dec_lop3(Dec *d) {
    if (d->nops != 5 || d->ops[4].kind != OK_int) return ptx_dec_fail(d, "Wrong operands");
    if (!mixed(d, OP_lop3_u32, PT_b32, PT_b32, PT_b32, 0)) return false;
    d->p->fn->code[d->p->fn->ncode - 1].imm = (int64_t)d->ops[4].value;
    return true;
}

static bool dec_bfe(Dec *d) {
    PtxType type = only_type(d);
    return mixed(d, ptx_variant(d, "bfe", type), type, PT_u32, PT_u32, 0);
}

static bool dec_bfi(Dec *d) {
    PtxType type = only_type(d);
    if (d->nops != 5) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t len = ptx_src(d, 4, PT_u32);
    if (!mixed(d, ptx_variant(d, "bfi", type), type, type, PT_u32, 0)) return false;
    d->p->fn->code[d->p->fn->ncode - 1].imm = len;
    return true;
}

static bool dec_bfind(Dec *d) {
    PtxType type = only_type(d);
    bool amount = ptx_take(d, "shiftamt");
    PtxIns *ins = plain(d, ptx_variant(d, "bfind", type), type, 1);
    if (ins) ins->aux = amount;
    return ins;
}

static bool dec_fns(Dec *d) {
    return mixed(d, OP_fns_u32, PT_b32, PT_b32, PT_s32, 0);
}

static bool dec_bmsk(Dec *d) {
    bool wrap = ptx_take(d, "wrap");
    if (!wrap) ptx_take(d, "clamp");
    return mixed(d, OP_bmsk_u32, PT_u32, PT_u32, PT_none, wrap);
}

static bool dec_szext(Dec *d) {
    bool wrap = ptx_take(d, "wrap");
    if (!wrap) ptx_take(d, "clamp");
    return mixed(d, ptx_variant(d, "szext", only_type(d)), PT_u32, PT_u32, PT_none, wrap);
}

static bool dec_dp4a(Dec *d) {
    unsigned signs = (d->types[0] == PT_s32 ? 1u : 0u) | (d->types[1] == PT_s32 ? 2u : 0u);
    return mixed(d, OP_dp4a_u32, PT_b32, PT_b32, PT_b32, signs);
}

/* -- Comparisons ------------------------------------------------------------------------------ */

/* lo ls hi hs are unsigned by name. */
static const char *const int_compares[] = {"eq", "ne", "lt", "le", "gt", "ge",
                                           "lo", "ls", "hi", "hs", NULL};
static const char *const int_rows[] = {"seteq", "setne", "setlt", "setle", "setgt",
                                       "setge", "setlt", "setle", "setgt", "setge"};
static const char *const float_compares[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ", "neu",
                                             "ltu", "leu", "gtu", "geu", "num", "nan", NULL};

static PtxOp compare_op(Dec *d, PtxType type) {
    char row[16];
    bool is_float = ptx_type_float(type);
    int which = ptx_take_one(d, is_float ? float_compares : int_compares);
    if (which < 0) {
        ptx_dec_fail(d, "Unknown comparison");
        return OP_nop;
    }
    if (!is_float) return ptx_variant(d, int_rows[which], type);
    snprintf(row, sizeof row, "fset%s", float_compares[which]);
    PtxType one = type == PT_f16x2 ? PT_f16 : type == PT_bf16x2 ? PT_bf16 : type;
    return ptx_variant(d, row, one);
}

/* A source of a comparison, flushed first where .ftz asks for it. */
static uint32_t compare_src(Dec *d, uint32_t index, PtxType type, bool ftz) {
    uint32_t slot = ptx_src(d, index, type);
    if (!ftz || type != PT_f32) return slot;
    uint32_t flushed = ptx_temp(d);
    PtxIns *ins = ptx_dec_emit(d, OP_round, flushed, slot, ptx_const(d->p, 0x3f800000), 0);
    ins->aux = PTX_ROUND(RK_mul, RND_n, 0) | ROUND_FTZ;
    return flushed;
}

/* The combination of a comparison with a third operand: answers the slot of the result, and for
 * p|q that of its complement. */
static bool combine(Dec *d, int boolean, uint32_t raw, uint32_t out, uint32_t complement) {
    static const PtxOp ops[] = {OP_and_b1, OP_or_b1, OP_xor_b1};
    uint32_t third = boolean < 0 ? 0 : ptx_src(d, 3, PT_pred);
    if (complement) {
        uint32_t inverse = ptx_temp(d), copy = ptx_temp(d);
        ptx_dec_emit(d, OP_mov_b1, copy, third, 0, 0); /* q may be the third operand itself */
        third = copy;
        ptx_dec_emit(d, OP_not_b1, inverse, raw, 0, 0);
        ptx_dec_emit(d, boolean < 0 ? OP_mov_b1 : ops[boolean], complement - 1, inverse, third, 0);
    }
    ptx_dec_emit(d, boolean < 0 ? OP_mov_b1 : ops[boolean], out, raw, third, 0);
    return true;
}

/* setp of packed halves: p compares the low ones, q the high ones. */
static bool compare_packed(Dec *d, PtxOp op, PtxType type) {
    uint32_t a = ptx_src(d, 1, type), b = ptx_src(d, 2, type), sixteen = ptx_const(d->p, 16);
    uint32_t high_a = ptx_temp(d), high_b = ptx_temp(d), low = ptx_temp(d);
    if (!d->ops[0].pair) return ptx_dec_fail(d, "Pair of predicates expected");
    ptx_dec_emit(d, OP_shrz_u32, high_a, a, sixteen, 0);
    ptx_dec_emit(d, OP_shrz_u32, high_b, b, sixteen, 0);
    ptx_dec_emit(d, op, low, a, b, 0);
    ptx_dec_emit(d, op, d->ops[0].pair - 1, high_a, high_b, 0);
    ptx_dec_emit(d, OP_mov_b1, ptx_dst(d, 0), low, 0, 0);
    return true;
}

static const char *const booleans[] = {"and", "or", "xor", NULL};

static bool dec_setp(Dec *d) {
    PtxType type = only_type(d);
    PtxOp op = compare_op(d, type);
    int boolean = ptx_take_one(d, booleans);
    bool ftz = ptx_take(d, "ftz");
    if (d->nops != (boolean < 0 ? 3u : 4u)) return ptx_dec_fail(d, "Wrong number of operands");
    if (type == PT_f16x2 || type == PT_bf16x2) return compare_packed(d, op, type);
    uint32_t a = compare_src(d, 1, type, ftz), b = compare_src(d, 2, type, ftz);
    uint32_t out = ptx_dst(d, 0), complement = d->ops[0].pair;
    if (boolean < 0 && !complement) {
        ptx_dec_emit(d, op, out, a, b, 0);
        return true;
    }
    uint32_t raw = ptx_temp(d);
    ptx_dec_emit(d, op, raw, a, b, 0);
    return combine(d, boolean, raw, out, complement);
}

/* set of packed halves: each half of the result is all ones or 1.0 by itself. */
static bool set_packed(Dec *d, PtxOp op, PtxType to, PtxType type) {
    uint64_t yes = to == PT_f16x2 ? 0x3c00 : to == PT_bf16x2 ? 0x3f80 : 0xffff;
    uint32_t a = ptx_src(d, 1, type), b = ptx_src(d, 2, type), half[2];
    uint32_t shifts[] = {SLOT_ZERO, ptx_const(d->p, 16)}, one = ptx_const(d->p, yes);
    for (int i = 0; i < 2; i++) {
        uint32_t x = ptx_temp(d), y = ptx_temp(d), raw = ptx_temp(d);
        half[i] = ptx_temp(d);
        ptx_dec_emit(d, OP_shrz_u32, x, a, shifts[i], 0);
        ptx_dec_emit(d, OP_shrz_u32, y, b, shifts[i], 0);
        ptx_dec_emit(d, op, raw, x, y, 0);
        ptx_dec_emit(d, OP_selp_b64, half[i], one, SLOT_ZERO, raw);
    }
    ptx_dec_emit(d, OP_pack, ptx_dst(d, 0), half[0], half[1], 0)->imm = 16;
    return true;
}

/* set: like setp, but into all ones or 1.0. */
static bool dec_set(Dec *d) {
    if (d->ntypes != 2) return ptx_dec_fail(d, "Two types expected");
    PtxType to = d->types[0], type = d->types[1];
    PtxOp op = compare_op(d, type);
    int boolean = ptx_take_one(d, booleans);
    bool ftz = ptx_take(d, "ftz");
    if (d->nops != (boolean < 0 ? 3u : 4u)) return ptx_dec_fail(d, "Wrong number of operands");
    if (type == PT_f16x2 || type == PT_bf16x2)
        return boolean < 0 ? set_packed(d, op, to, type)
                           : ptx_dec_fail(d, "Combined packed set is not supported");
    uint32_t a = compare_src(d, 1, type, ftz), b = compare_src(d, 2, type, ftz), raw = ptx_temp(d);
    uint32_t whole = ptx_temp(d);
    ptx_dec_emit(d, op, raw, a, b, 0);
    combine(d, boolean, raw, whole, 0);
    uint64_t yes = to == PT_f32    ? 0x3f800000
                   : to == PT_f16  ? 0x3c00
                   : to == PT_bf16 ? 0x3f80
                                   : UINT64_MAX;
    ptx_dec_emit(d, OP_selp_b64, ptx_dst(d, 0), ptx_const(d->p, yes), SLOT_ZERO, whole);
    return true;
}

static bool dec_selp(Dec *d) {
    PtxType type = only_type(d);
    PtxType raw = ptx_type_size(type) == 8 ? PT_b64 : ptx_type_size(type) == 4 ? PT_b32 : PT_b16;
    if (d->nops != 4) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t a = ptx_src(d, 1, type), b = ptx_src(d, 2, type), c = ptx_src(d, 3, PT_pred);
    ptx_dec_emit(d, ptx_variant(d, "selp", raw), ptx_dst(d, 0), a, b, c);
    return true;
}

static bool dec_slct(Dec *d) {
    ptx_take(d, "ftz");
    if (d->ntypes != 2 || d->nops != 4) return ptx_dec_fail(d, "Wrong operands");
    uint32_t a = ptx_src(d, 1, d->types[0]), b = ptx_src(d, 2, d->types[0]);
    uint32_t c = ptx_src(d, 3, d->types[1]), not_negative = ptx_temp(d);
    PtxOp op = d->types[1] == PT_f32 ? OP_fsetge_f32 : OP_setge_s32;
    ptx_dec_emit(d, op, not_negative, c, SLOT_ZERO, 0);
    ptx_dec_emit(d, OP_selp_b64, ptx_dst(d, 0), a, b, not_negative);
    return true;
}

/* -- Conversions and moves -------------------------------------------------------------------- */

static PtxOp extension(PtxType type) {
    static const PtxOp signed_ops[] = {[1] = OP_sext8, [2] = OP_sext16, [4] = OP_sext32};
    static const PtxOp unsigned_ops[] = {[1] = OP_zext8, [2] = OP_zext16, [4] = OP_zext32};
    unsigned size = ptx_type_size(type);
    if (size == 8) return OP_mov_b64;
    return ptx_type_signed(type) ? signed_ops[size] : unsigned_ops[size];
}

/* The conversions worth an opcode of their own: those that index arithmetic and mixed types need. */
static PtxOp fast_cvt(PtxCvt how) {
    bool to_float = ptx_type_float((PtxType)how.to), from_float = ptx_type_float((PtxType)how.from);
    if (how.sat || how.ftz || how.relu || how.rnd > RND_n || how.integral) return OP_cvt;
    if (!to_float && !from_float) {
        bool widens = ptx_type_size((PtxType)how.to) >= ptx_type_size((PtxType)how.from);
        return extension(widens ? (PtxType)how.from : (PtxType)how.to);
    }
    if (how.from == PT_s32 && how.to == PT_f32) return OP_cvt_f32_s32;
    if (how.from == PT_s32 && how.to == PT_f64) return OP_cvt_f64_s32;
    if (how.from == PT_f64 && how.to == PT_f32) return OP_cvt_f32_f64;
    if (how.from == PT_f32 && how.to == PT_f64) return OP_cvt_f64_f32;
    return OP_cvt;
}

static void emit_cvt(Dec *d, PtxCvt how, uint32_t out, uint32_t in) {
    PtxIns *ins = ptx_dec_emit(d, fast_cvt(how), out, in, 0, 0);
    if (ins->op == OP_cvt) memcpy(&ins->imm, &how, sizeof how);
}

/* cvt.rn.f16x2.f32 d, high, low */
static bool cvt_pair(Dec *d, PtxCvt how) {
    if (d->nops != 3) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t high = ptx_temp(d), low = ptx_temp(d);
    how.to = how.to == PT_f16x2 ? PT_f16 : PT_bf16;
    emit_cvt(d, how, high, ptx_src(d, 1, PT_f32));
    emit_cvt(d, how, low, ptx_src(d, 2, PT_f32));
    ptx_dec_emit(d, OP_pack, ptx_dst(d, 0), low, high, 0)->imm = 16;
    return true;
}

static bool dec_cvt(Dec *d) {
    bool integral;
    if (d->ntypes != 2) return ptx_dec_fail(d, "Two types expected");
    PtxCvt how = {.to = d->types[0], .from = d->types[1]};
    how.rnd = ptx_take_rnd(d, &integral);
    how.integral = integral;
    how.sat = ptx_take(d, "sat");
    how.ftz = ptx_take(d, "ftz");
    how.relu = ptx_take(d, "relu");
    if (how.to == PT_b128 || how.from == PT_b128)
        return ptx_dec_fail(d, "Unexpected instruction types");
    if (how.to == PT_pred || how.from == PT_pred)
        return ptx_dec_fail(d, "Unexpected instruction types");
    if (how.to == PT_f16x2 || how.to == PT_bf16x2) return cvt_pair(d, how);
    if (d->nops != 2) return ptx_dec_fail(d, "Wrong number of operands");
    bool narrows =
        ptx_type_float(d->types[0]) &&
        (!ptx_type_float(d->types[1]) || ptx_type_size(d->types[0]) < ptx_type_size(d->types[1]));
    bool to_int = ptx_type_float(d->types[1]) && !ptx_type_float(d->types[0]);
    if ((narrows || to_int) && how.rnd == RND_none)
        return ptx_dec_fail(d, "Rounding modifier required");
    emit_cvt(d, how, ptx_dst(d, 0), ptx_src(d, 1, d->types[1]));
    return true;
}

/* mov.b64 {%r1, %r2}, %rd3 */
static bool mov_unpack(Dec *d, PtxType type) {
    const Operand *to = &d->ops[0];
    uint32_t source = ptx_temp(d);
    unsigned width = 8 * ptx_type_size(type) / to->nlanes;
    ptx_dec_emit(d, OP_mov_b64, source, ptx_src(d, 1, type), 0, 0);
    for (uint32_t i = 0; i < to->nlanes; i++)
        ptx_dec_emit(d, OP_unpack, to->lanes[i], source, 0, 0)->imm = i * width;
    return true;
}

static bool mov_pack(Dec *d, PtxType type) {
    const Operand *from = &d->ops[1];
    unsigned width = 8 * ptx_type_size(type) / from->nlanes;
    uint32_t all = from->lanes[0];
    for (uint32_t i = 1; i < from->nlanes; i++) {
        uint32_t more = i + 1 == from->nlanes ? ptx_dst(d, 0) : ptx_temp(d);
        ptx_dec_emit(d, OP_pack, more, all, from->lanes[i], 0)->imm = i * width;
        all = more;
    }
    return true;
}

static bool dec_mov(Dec *d) {
    PtxType type = only_type(d);
    static const char *const clocks[] = {
        "%clock",          "%clock64",        "%clock_hi", "%globaltimer",
        "%globaltimer_lo", "%globaltimer_hi", NULL};
    if (d->nops != 2 || type == PT_none) return ptx_dec_fail(d, "Wrong operands");
    if (d->ops[0].kind == OK_vector) return mov_unpack(d, type);
    if (d->ops[1].kind == OK_vector) return mov_pack(d, type);
    const Operand *from = &d->ops[1];
    for (unsigned i = 0; from->kind == OK_symbol && !from->has_sym && clocks[i]; i++) {
        if (strcmp(from->name, clocks[i]) != 0) continue;
        PtxIns *ins = ptx_dec_emit(d, OP_clock, ptx_dst(d, 0), 0, 0, 0);
        ins->imm = strstr(clocks[i], "_hi") ? 32 : 0;
        return true;
    }
    unsigned size = ptx_type_size(type);
    PtxType raw = type == PT_pred ? PT_pred : size == 8 ? PT_b64 : size == 4 ? PT_b32 : PT_b16;
    uint32_t source = ptx_src(d, 1, type);
    ptx_dec_emit(d, ptx_variant(d, "mov", raw), ptx_dst(d, 0), source, 0, 0);
    return true;
}

const DecRow ptx_rows_arith[] = {
    {"add", dec_add},     {"sub", dec_sub},   {"mul", dec_mul},   {"mad", dec_mad},
    {"addc", dec_addc},   {"subc", dec_subc}, {"madc", dec_madc}, {"mul24", dec_mul24},
    {"mad24", dec_mad24}, {"fma", dec_fma},   {"div", dec_div},   {"rem", dec_rem},
    {"min", dec_min},     {"max", dec_max},   {"abs", dec_abs},   {"neg", dec_neg},
    {"sad", dec_sad},     {"and", dec_and},   {"or", dec_or},     {"xor", dec_xor},
    {"not", dec_not},     {"cnot", dec_cnot}, {"popc", dec_popc}, {"clz", dec_clz},
    {"brev", dec_brev},   {"rcp", dec_rcp},   {"sqrt", dec_sqrt}, {"rsqrt", dec_rsqrt},
    {"sin", dec_sin},     {"cos", dec_cos},   {"lg2", dec_lg2},   {"ex2", dec_ex2},
    {"tanh", dec_tanh},   {"shl", dec_shl},   {"shr", dec_shr},   {"shf", dec_shf},
    {"prmt", dec_prmt},   {"lop3", dec_lop3}, {"bfe", dec_bfe},   {"bfi", dec_bfi},
    {"bfind", dec_bfind}, {"fns", dec_fns},   {"bmsk", dec_bmsk}, {"szext", dec_szext},
    {"dp4a", dec_dp4a},   {"setp", dec_setp}, {"set", dec_set},   {"selp", dec_selp},
    {"slct", dec_slct},   {"cvt", dec_cvt},   {"mov", dec_mov},   {"copysign", dec_copysign},
    {"testp", dec_testp}, {NULL, NULL},
};
