/* What crosses lanes: DPP, reads and writes of single lanes, permutes through LDS's crossbar. */
#include "gcn_wave.h"

#include <stdio.h>

/* -- DPP --------------------------------------------------------------------------------------- */

static int row_source(const GcnInst *i, int at) {
    int by = i->dpp_value;
    switch (i->dpp) {
    case DPP_row_shl: return at + by < 16 ? at + by : -1;
    case DPP_row_shr: return at - by >= 0 ? at - by : -1;
    case DPP_row_ror: return (at - by) & 15;
    case DPP_row_mirror: return 15 - at;
    case DPP_row_half_mirror: return (at & 8) | (7 - (at & 7));
    case DPP_row_share: return by;
    case DPP_row_xmask: return at ^ by;
    case DPP_quad_perm: return (at & 12) | i->dpp_lanes[at & 3];
    case DPP_eight: return (at & 8) | i->dpp_lanes[at & 7];
    default: return -1;
    }
}

static int wave_source(const GcnWave *w, const GcnInst *i, int l) {
    switch (i->dpp) {
    case DPP_wave_shl: return l + 1 < w->lanes ? l + 1 : -1;
    case DPP_wave_shr: return l - 1;
    case DPP_wave_rol: return (l + 1) & (w->lanes - 1);
    case DPP_wave_ror: return (l - 1) & (w->lanes - 1);
    case DPP_row_bcast: /* 15: the last lane of each row to the next row; 31: lane 31 to the upper half */
        if (i->dpp_value == 31) return l >= 32 ? 31 : -1;
        return l >= 16 ? (l & ~15) - 1 : -1;
    default: return -1;
    }
}

int gcn_dpp_source(const GcnWave *w, const GcnInst *i, int l) {
    bool in_wave = (i->dpp >= DPP_wave_shl && i->dpp <= DPP_wave_ror) || i->dpp == DPP_row_bcast;
    int source = in_wave ? wave_source(w, i, l) : row_source(i, l & 15);
    if (source < 0) return -1;
    if (!in_wave) source |= l & ~15;
    bool active = gcn_exec(w) >> source & 1;
    return active || i->fetch_inactive ? source : -1;
}

/* -- Single lanes ------------------------------------------------------------------------------ */

static bool lane_number(GcnWave *w, const GcnOperand *o, int *lane) {
    uint64_t value;
    if (!gcn_read_scalar(w, o, T_U32, &value)) return false;
    *lane = (int)(value & (uint64_t)(w->lanes - 1));
    return true;
}

static GcnStep read_from(GcnWave *w, const GcnInst *i, int lane) {
    uint64_t value;
    if (i->a.kind == K_vector) {
        value = w->v[i->a.reg][lane];
        if (w->run->launch->unset && !(w->vset[i->a.reg] >> lane & 1))
            return gcn_fault(w, GCN_FAULT, "lane %d is read, and was never written", lane);
    } else if (!gcn_read_scalar(w, &i->a, T_U32, &value)) {
        return STEP_FAULT;
    }
    gcn_write_scalar(w, &i->d, T_U32, value);
    return STEP_NEXT;
}

static GcnStep read_first(GcnWave *w, const GcnInst *i) {
    uint64_t exec = gcn_exec(w);
    return read_from(w, i, exec ? __builtin_ctzll(exec) : 0);
}

static GcnStep read_lane(GcnWave *w, const GcnInst *i) {
    int lane;
    return lane_number(w, &i->b, &lane) ? read_from(w, i, lane) : STEP_FAULT;
}

/* Writes the lane whatever EXEC says. */
static GcnStep write_lane(GcnWave *w, const GcnInst *i) {
    int lane;
    uint64_t value;
    if (!gcn_read_scalar(w, &i->a, T_U32, &value) || !lane_number(w, &i->b, &lane))
        return STEP_FAULT;
    w->v[i->d.reg][lane] = (uint32_t)value;
    w->vset[i->d.reg] |= UINT64_C(1) << lane;
    return STEP_NEXT;
}

/* -- Permutes ---------------------------------------------------------------------------------- */

/* Each lane reads lane (address / 4); one that is not active gives 0. */
static GcnStep backward_permute(GcnWave *w, const GcnInst *i) {
    uint32_t result[LANES] = {0};
    uint64_t exec = gcn_exec(w);
    if (!gcn_check_vector(w, &i->a, 1) || !gcn_check_vector(w, &i->b, 1)) return STEP_FAULT;
    for (int l = 0; l < w->lanes; l++) {
        uint32_t from = (w->v[i->a.reg][l] + (uint32_t)i->offset) / 4 & (uint32_t)(w->lanes - 1);
        result[l] = exec >> from & 1 ? w->v[i->b.reg][from] : 0;
    }
    for (uint64_t left = exec; left; left &= left - 1)
        w->v[i->d.reg][__builtin_ctzll(left)] = result[__builtin_ctzll(left)];
    w->vset[i->d.reg] |= exec;
    return STEP_NEXT;
}

/* Each lane sends to lane (address / 4); of two the higher lane wins. */
static GcnStep forward_permute(GcnWave *w, const GcnInst *i) {
    uint32_t result[LANES] = {0};
    uint64_t exec = gcn_exec(w);
    for (int l = 0; l < w->lanes; l++)
        if (exec >> l & 1) {
            uint32_t to = (w->v[i->a.reg][l] + (uint32_t)i->offset) / 4 & (uint32_t)(w->lanes - 1);
            result[to] = w->v[i->b.reg][l];
        }
    for (uint64_t left = exec; left; left &= left - 1)
        w->v[i->d.reg][__builtin_ctzll(left)] = result[__builtin_ctzll(left)];
    w->vset[i->d.reg] |= exec;
    return STEP_NEXT;
}

/* Lane n of a row reads the lane that nibble n of the selector names; x: of the other row of each pair. */
static GcnStep permute_rows(GcnWave *w, const GcnInst *i) {
    uint64_t low, high, exec = gcn_exec(w);
    uint32_t result[LANES];
    if (!gcn_read_scalar(w, &i->b, T_U32, &low) || !gcn_read_scalar(w, &i->c, T_U32, &high))
        return STEP_FAULT;
    uint64_t selector = high << 32 | (low & UINT32_MAX), take = 0;
    for (int l = 0; l < w->lanes; l++) {
        int from = (int)(selector >> (4 * (l & 15)) & 15) | ((l & ~15) ^ (i->number ? 16 : 0));
        bool there = exec >> from & 1 || (i->op_sel & 1);
        result[l] = there ? w->v[i->a.reg][from] : 0;
        if (there || (i->op_sel & 2)) take |= UINT64_C(1) << l;
    }
    for (uint64_t left = exec & take; left; left &= left - 1)
        w->v[i->d.reg][__builtin_ctzll(left)] = result[__builtin_ctzll(left)];
    w->vset[i->d.reg] |= exec & take;
    return STEP_NEXT;
}

/* The two halves of a wave of 64 change places. */
static GcnStep permute_halves(GcnWave *w, const GcnInst *i) {
    uint32_t result[LANES];
    for (int l = 0; l < w->lanes; l++)
        result[l] = w->v[i->a.reg][w->lanes == 64 ? l ^ 32 : l];
    for (uint64_t left = gcn_exec(w); left; left &= left - 1)
        w->v[i->d.reg][__builtin_ctzll(left)] = result[__builtin_ctzll(left)];
    w->vset[i->d.reg] |= gcn_exec(w);
    return STEP_NEXT;
}

static GcnStep swap(GcnWave *w, const GcnInst *i) {
    for (uint64_t left = gcn_exec(w); left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        uint32_t kept = w->v[i->d.reg][l];
        w->v[i->d.reg][l] = w->v[i->a.reg][l];
        w->v[i->a.reg][l] = kept;
    }
    return STEP_NEXT;
}

/* -- Registers by number ----------------------------------------------------------------------- */

static GcnStep move_from(GcnWave *w, const GcnInst *i) {
    return gcn_run_indexed(w, i, INDEXED_A);
}
static GcnStep move_to(GcnWave *w, const GcnInst *i) {
    return gcn_run_indexed(w, i, INDEXED_D);
}

/* -- The table --------------------------------------------------------------------------------- */

typedef struct Row {
    const char *name;
    GcnRun run;
    int operands, number;
} Row;

static const Row special[] = {
    {"v_readfirstlane_b32", read_first, 2, 0},
    {"v_readlane_b32", read_lane, 3, 0},
    {"v_writelane_b32", write_lane, 3, 0},
    {"ds_bpermute_b32", backward_permute, 3, 0},
    {"ds_permute_b32", forward_permute, 3, 0},
    {"v_permlane16_b32", permute_rows, 4, 0},
    {"v_permlanex16_b32", permute_rows, 4, 1},
    {"v_permlane64_b32", permute_halves, 2, 0},
    {"v_swap_b32", swap, 2, 0},
    {"v_movrels_b32", move_from, 2, 0},
    {"v_movreld_b32", move_to, 2, 0},
};

bool gcn_special(GcnInst *i, const GcnText *text, int chip) {
    (void)chip;
    for (unsigned k = 0; k < sizeof special / sizeof *special; k++) {
        if (strcmp(text->name, special[k].name) != 0) continue;
        if (text->noperands != special[k].operands) return false;
        GcnOperand *to[] = {&i->d, &i->a, &i->b, &i->c};
        for (int n = 0; n < text->noperands; n++) {
            *to[n] = text->operands[n];
            gcn_settle(to[n], T_U32);
        }
        const GcnModifier *offset = gcn_modifier(text, "offset"),
                          *sel = gcn_modifier(text, "op_sel");
        if (text->nmodifiers != (offset != NULL) + (sel != NULL)) return false;
        if (offset) i->offset = offset->list[0];
        for (int n = 0; sel && n < sel->n; n++)
            i->op_sel |= (uint8_t)((sel->list[n] != 0) << n);
        i->number = special[k].number;
        i->run = special[k].run;
        if (!strncmp(text->name, "v_movrel", 8)) i->vector = gcn_vector_row("v_mov_b32");
        if (!strncmp(text->name, "ds_", 3)) i->counts = COUNTS_lds, i->answers = true;
        return true;
    }
    return false;
}
