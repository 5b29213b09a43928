/* Decoders of loads, stores, atomics, address conversions and asynchronous copies. */
#include "ptx_parse.h"

#include <string.h>

/* -- Spaces and modifiers --------------------------------------------------------------------- */

/* What says how, not what: one thread runs at a time here, so every access is strong enough. */
static const char *const ordering[] = {"volatile",
                                       "relaxed",
                                       "acquire",
                                       "release",
                                       "acq_rel",
                                       "weak",
                                       "sc",
                                       "mmio",
                                       "cta",
                                       "cluster",
                                       "gpu",
                                       "sys",
                                       "nc",
                                       "unified",
                                       "ca",
                                       "cg",
                                       "cs",
                                       "lu",
                                       "cv",
                                       "wb",
                                       "wt",
                                       "L1::evict_normal",
                                       "L1::evict_unchanged",
                                       "L1::evict_first",
                                       "L1::evict_last",
                                       "L1::no_allocate",
                                       "L2::64B",
                                       "L2::128B",
                                       "L2::256B",
                                       NULL};

static const struct {
    const char *name;
    PtxSpace space;
} space_rows[] = {
    {"global", PS_global},      {"shared", PS_shared},
    {"shared::cta", PS_shared}, {"shared::cluster", PS_shared},
    {"local", PS_local},        {"const", PS_const},
    {"param", PS_param},        {"param::entry", PS_param},
    {"param::func", PS_param},
};

static PtxSpace take_space(Dec *d) {
    for (unsigned i = 0; i < sizeof space_rows / sizeof *space_rows; i++)
        if (ptx_take(d, space_rows[i].name)) return space_rows[i].space;
    return PS_generic;
}

/* -- Addresses -------------------------------------------------------------------------------- */

typedef struct Place {
    PtxSpace space;
    uint32_t base;
    int64_t offset;
    bool slot; /* a parameter at a known offset: in bounds, checked here */
} Place;

static bool param_place(Dec *d, const Operand *o, unsigned size, Place *out) {
    const Sym *sym = &o->sym;
    out->base = sym->kind == SYM_formal ? SLOT_PARAM : SLOT_CALL;
    out->slot = true;
    if (o->value + size > sym->size || (int64_t)o->value < 0)
        return ptx_fail(d->p, d->line, "Access behind the end of parameter '%s'", sym->name);
    out->offset = (int64_t)(sym->at + o->value);
    return true;
}

static bool var_place(Dec *d, const Operand *o, Place *out) {
    const PtxVar *var = &d->p->module->vars[o->sym.at];
    PtxSpace space = out->space;
    bool fits = var->space == space || space == PS_generic ||
                (var->space == PS_const && space == PS_global) ||
                (var->space == PS_global && space == PS_const);
    if (!fits || (space == PS_generic && var->space == PS_shared))
        return ptx_fail(d->p, d->line, "State space incorrect for instruction '%s'", d->text);
    if (var->space == PS_shared) ptx_use_shared(d->p, o->sym.at);
    if (var->dynamic)
        out->base = ptx_special(d->p, "%dynamic_base");
    else
        out->offset += (int64_t)var->address;
    return true;
}

/* Operand `index` as an address for `size` bytes. */
static bool place(Dec *d, uint32_t index, PtxSpace space, unsigned size, Place *out) {
    const Operand *o = &d->ops[index];
    if (index >= d->nops || o->kind != OK_address) return ptx_dec_fail(d, "Address expected");
    *out = (Place){.space = space, .base = o->slot, .offset = (int64_t)o->value};
    if (!o->has_sym && ptx_type_size(o->type) == 4) { /* a 32-bit shared address */
        out->base = ptx_temp(d);
        ptx_dec_emit(d, OP_zext32, out->base, o->slot, 0, 0);
    }
    if (!o->has_sym) return true;
    out->base = SLOT_ZERO;
    switch (o->sym.kind) {
    case SYM_formal:
    case SYM_call:
        if (space == PS_param) return param_place(d, o, size, out);
        break;
    case SYM_local:
        out->base = SLOT_LOCAL;
        out->offset += o->sym.at;
        if (space == PS_local) return true;
        break;
    case SYM_var: return var_place(d, o, out);
    default: break;
    }
    return ptx_fail(d->p, d->line, "State space incorrect for instruction '%s'", d->text);
}

/* -- Loads and stores ------------------------------------------------------------------------- */

enum { KINDS = 7, STORE_AT = KINDS };

_Static_assert(OP_st_global_u8 - OP_ld_global_u8 == STORE_AT, "a space's stores follow its loads");
_Static_assert(OP_ld_global_u8 - OP_ld_generic_u8 == 2 * KINDS, "the spaces follow one another");
_Static_assert(OP_ld_pslot_s8 - OP_ld_pslot_u8 == 4, "the signed kinds follow the unsigned ones");

static PtxOp access_op(const Place *at, PtxType type, bool store) {
    static const PtxOp first[] = {[PS_generic] = OP_ld_generic_u8, [PS_global] = OP_ld_global_u8,
                                  [PS_const] = OP_ld_global_u8,    [PS_shared] = OP_ld_shared_u8,
                                  [PS_local] = OP_ld_local_u8,     [PS_param] = OP_ld_param_u8};
    unsigned size = ptx_type_size(type);
    int kind = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    if (ptx_type_signed(type) && size < 8 && !store) kind += 4;
    int base = at->slot ? (int)OP_ld_pslot_u8 : (int)first[at->space];
    return (PtxOp)(base + kind + (store ? STORE_AT : 0));
}

static bool access_one(Dec *d, const Place *at, PtxType type, bool store, uint32_t value) {
    PtxIns *ins = ptx_dec_emit(d, access_op(at, type, store), store ? 0 : value, at->base,
                               store ? value : 0, 0);
    ins->imm = at->offset;
    return true;
}

/* The whole vector is checked first, for bounds and alignment; its base is copied, because the first
 * element loaded may overwrite the register it is in. */
static bool access_vector(Dec *d, Place at, PtxType type, bool store, const Operand *lanes) {
    unsigned size = ptx_type_size(type);
    if (!at.slot) {
        uint32_t base = ptx_temp(d);
        PtxIns *ins = ptx_dec_emit(d, OP_vec_address, base, at.base, (uint32_t)at.space, store);
        ins->imm = at.offset;
        ins->aux = (uint16_t)(size * lanes->nlanes);
        at.base = base;
        at.offset = 0;
    }
    for (uint32_t i = 0; i < lanes->nlanes; i++, at.offset += size)
        access_one(d, &at, type, store, lanes->lanes[i]);
    return true;
}

static bool access_any(Dec *d, bool store) {
    static const char *const widths[] = {"v2", "v4", "v8", NULL};
    PtxSpace space = take_space(d);
    int width = ptx_take_one(d, widths);
    ptx_take_rest(d, ordering);
    if (d->ntypes != 1 || d->nops != 2) return ptx_dec_fail(d, "Wrong operands");
    PtxType type = d->types[0];
    uint32_t lanes = width < 0 ? 1 : 2u << width;
    unsigned size = ptx_type_size(type);
    Place at;
    if (size > 8 || type == PT_pred) return ptx_dec_fail(d, "Unexpected instruction types");
    if (!place(d, store ? 0 : 1, space, size * lanes, &at)) return false;
    if (store && space == PS_const) return ptx_dec_fail(d, "Constant memory cannot be written");
    const Operand *value = &d->ops[store ? 1 : 0];
    if (width < 0) {
        PtxType read = size == 1 ? PT_b8 : type;
        return access_one(d, &at, type, store, store ? ptx_src(d, 1, read) : ptx_dst(d, 0));
    }
    if (value->kind != OK_vector || value->nlanes != lanes)
        return ptx_dec_fail(d, "Vector expected");
    return access_vector(d, at, type, store, value);
}

static bool dec_ld(Dec *d) {
    return access_any(d, false);
}
static bool dec_st(Dec *d) {
    return access_any(d, true);
}
static bool dec_ldu(Dec *d) {
    return access_any(d, false);
}

/* -- Atomics ---------------------------------------------------------------------------------- */

static const char *const atom_names[] = {"add",  "min", "max", "and", "or", "xor",
                                         "exch", "cas", "inc", "dec", NULL};

_Static_assert(ATOM_add == 0 && ATOM_dec == 9,
               "atom_names lists the members of PtxAtomOp in order");

static bool atom_type_ok(PtxAtomOp op, PtxType type) {
    unsigned size = ptx_type_size(type);
    bool half = size == 2 || type == PT_f16x2 || type == PT_bf16x2;
    if (ptx_type_float(type)) return op == ATOM_add || (half && (op == ATOM_min || op == ATOM_max));
    if (op == ATOM_inc || op == ATOM_dec) return type == PT_u32;
    if (op == ATOM_cas || op == ATOM_exch)
        return type == PT_b16 || type == PT_b32 || type == PT_b64;
    return size == 4 || size == 8;
}

static bool atomic(Dec *d, bool reduction) {
    PtxSpace space = take_space(d);
    int op = ptx_take_one(d, atom_names);
    ptx_take_rest(d, ordering);
    ptx_take(d, "noftz");
    if (op < 0 || d->ntypes != 1) return ptx_dec_fail(d, "Unknown atomic operation");
    PtxType type = d->types[0];
    uint32_t first = reduction ? 0 : 1;
    Place at;
    if (!atom_type_ok((PtxAtomOp)op, type)) return ptx_dec_fail(d, "Unexpected instruction types");
    if (d->nops != first + (op == ATOM_cas ? 3u : 2u))
        return ptx_dec_fail(d, "Wrong number of operands");
    if (!place(d, first, space, ptx_type_size(type), &at)) return false;
    uint32_t b = ptx_src(d, first + 1, type), c = op == ATOM_cas ? ptx_src(d, first + 2, type) : 0;
    PtxIns *ins = ptx_dec_emit(d, OP_atom, reduction ? SLOT_SINK : ptx_dst(d, 0), at.base, b, c);
    ins->aux = PTX_ATOM(op, type, space);
    ins->imm = at.offset;
    return true;
}

static bool dec_atom(Dec *d) {
    return atomic(d, false);
}
static bool dec_red(Dec *d) {
    return atomic(d, true);
}

/* -- Address conversions ---------------------------------------------------------------------- */

static bool dec_cvta(Dec *d) {
    bool to = ptx_take(d, "to");
    PtxSpace space = take_space(d);
    PtxOp op = OP_mov_b64;
    if (space == PS_generic || d->nops != 2) return ptx_dec_fail(d, "Wrong operands");
    if (space == PS_shared) op = to ? OP_cvta_to_shared : OP_cvta_shared;
    if (space == PS_local) op = to ? OP_cvta_to_local : OP_cvta_local;
    ptx_dec_emit(d, op, ptx_dst(d, 0), ptx_src(d, 1, PT_u64), 0, 0);
    return true;
}

static bool dec_isspacep(Dec *d) {
    PtxSpace space = take_space(d);
    if (space == PS_generic || d->nops != 2) return ptx_dec_fail(d, "Wrong operands");
    ptx_dec_emit(d, OP_isspacep, ptx_dst(d, 0), ptx_src(d, 1, PT_u64), 0, 0)->aux = (uint16_t)space;
    return true;
}

/* -- Copies, fences, hints -------------------------------------------------------------------- */

/* cp.async completes at once, which every program that waits for it must allow. */
static bool dec_cp(Dec *d) {
    static const char *const waits[] = {"commit_group", "wait_group", "wait_all", NULL};
    if (!ptx_take(d, "async")) return ptx_dec_fail(d, "Only cp.async is supported");
    if (ptx_take_one(d, waits) >= 0) return true;
    ptx_take_rest(d, ordering);
    bool spaces = ptx_take(d, "shared") || ptx_take(d, "shared::cta");
    spaces &= ptx_take(d, "global");
    Place to, from;
    if (!spaces || d->nops < 3 || d->ops[2].kind != OK_int)
        return ptx_dec_fail(d, "Wrong operands");
    unsigned size = (unsigned)d->ops[2].value;
    if (!place(d, 0, PS_shared, size, &to) || !place(d, 1, PS_global, size, &from)) return false;
    uint32_t a = ptx_temp(d), b = ptx_temp(d);
    uint32_t filled = d->nops > 3 ? ptx_src(d, 3, PT_u32) : ptx_const(d->p, size);
    ptx_dec_emit(d, OP_add_u64, a, to.base, ptx_const(d->p, (uint64_t)to.offset), 0);
    ptx_dec_emit(d, OP_add_u64, b, from.base, ptx_const(d->p, (uint64_t)from.offset), 0);
    ptx_dec_emit(d, OP_copy_async, 0, a, b, filled)->imm = size;
    return true;
}

static bool dec_fence(Dec *d) {
    static const char *const kinds[] = {
        "gl", "proxy", "alias", "async", "mbarrier_init", "sync_restrict", NULL};
    ptx_take_rest(d, ordering);
    ptx_take_rest(d, kinds);
    take_space(d);
    return true;
}

/* A hint is a hint. */
static bool dec_prefetch(Dec *d) {
    static const char *const levels[] = {"L1", "L2", "L2::evict_last", "L2::evict_normal", NULL};
    ptx_take_rest(d, levels);
    take_space(d);
    return true;
}

const DecRow ptx_rows_memory[] = {
    {"ld", dec_ld},
    {"st", dec_st},
    {"ldu", dec_ldu},
    {"atom", dec_atom},
    {"red", dec_red},
    {"cvta", dec_cvta},
    {"isspacep", dec_isspacep},
    {"cp", dec_cp},
    {"fence", dec_fence},
    {"membar", dec_fence},
    {"prefetch", dec_prefetch},
    {"prefetchu", dec_prefetch},
    {NULL, NULL},
};
