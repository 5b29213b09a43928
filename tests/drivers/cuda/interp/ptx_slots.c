/* Slots of the function being parsed: constants, temporaries, special registers; its code. */
#include "ptx_parse.h"

#include <string.h>

uint32_t ptx_slot(Parser *p, uint64_t initial) {
    PtxFunc *fn = p->fn;
    fn->image =
        ptx_grow(&p->module->arena, fn->image, fn->nslots, &fn->cap_slots, sizeof *fn->image);
    fn->image[fn->nslots] = initial;
    return fn->nslots++;
}

/* Looks only at the newest constants: a function with many of them must not cost their square. */
uint32_t ptx_const(Parser *p, uint64_t value) {
    enum { WINDOW = 32 };
    if (value == 0) return SLOT_ZERO;
    if (p->const_fn != p->fn) p->const_fn = p->fn, p->nconsts = 0;
    for (uint32_t i = 0; i < p->nconsts && i < WINDOW; i++)
        if (p->fn->image[p->consts[i]] == value) return p->consts[i];
    uint32_t slot = ptx_slot(p, value);
    p->consts[p->nconsts++ % WINDOW] = slot;
    return slot;
}

/* -- Special registers ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    PtxSpecial which;
} special_rows[] = {
    {"%tid.x", SR_tid_x},
    {"%tid.y", SR_tid_y},
    {"%tid.z", SR_tid_z},
    {"%ntid.x", SR_ntid_x},
    {"%ntid.y", SR_ntid_y},
    {"%ntid.z", SR_ntid_z},
    {"%ctaid.x", SR_ctaid_x},
    {"%ctaid.y", SR_ctaid_y},
    {"%ctaid.z", SR_ctaid_z},
    {"%nctaid.x", SR_nctaid_x},
    {"%nctaid.y", SR_nctaid_y},
    {"%nctaid.z", SR_nctaid_z},
    {"%laneid", SR_laneid},
    {"%warpid", SR_warpid},
    {"%nwarpid", SR_nwarpid},
    {"%smid", SR_smid},
    {"%nsmid", SR_nsmid},
    {"%gridid", SR_gridid},
    {"%lanemask_eq", SR_lanemask_eq},
    {"%lanemask_le", SR_lanemask_le},
    {"%lanemask_lt", SR_lanemask_lt},
    {"%lanemask_ge", SR_lanemask_ge},
    {"%lanemask_gt", SR_lanemask_gt},
    {"%total_smem_size", SR_total_smem},
    {"%dynamic_smem_size", SR_dynamic_smem},
    {"WARP_SZ", SR_warpsize},
    {"%dynamic_base", SR_dynamic_base}, /* ours: no such register in PTX */
    {"%nclusterid.x", SR_nctaid_x},
    {"%nclusterid.y", SR_nctaid_y},
    {"%nclusterid.z", SR_nctaid_z},
    {"%clusterid.x", SR_ctaid_x},
    {"%clusterid.y", SR_ctaid_y},
    {"%clusterid.z", SR_ctaid_z},
    {"%cluster_nctaid.x", SR_one},
    {"%cluster_nctaid.y", SR_one},
    {"%cluster_nctaid.z", SR_one},
    {"%cluster_ctaid.x", SR_zero},
    {"%cluster_ctaid.y", SR_zero},
    {"%cluster_ctaid.z", SR_zero},
    {"%cluster_nctarank", SR_one},
    {"%cluster_ctarank", SR_zero},
};

static uint32_t special_slot(Parser *p, PtxSpecial which) {
    PtxFunc *fn = p->fn;
    for (uint32_t i = 0; i < fn->nspecials; i++)
        if (fn->specials[i].which == which) return fn->specials[i].slot;
    fn->specials = ptx_grow(&p->module->arena, fn->specials, fn->nspecials, &fn->cap_specials,
                            sizeof *fn->specials);
    uint32_t slot = ptx_slot(p, 0);
    fn->specials[fn->nspecials++] = (PtxSpecialUse){slot, which};
    return slot;
}

/* The slot of a special register, or 0 where the name is none. */
uint32_t ptx_special(Parser *p, const char *name) {
    for (unsigned i = 0; i < sizeof special_rows / sizeof *special_rows; i++)
        if (strcmp(special_rows[i].name, name) == 0) return special_slot(p, special_rows[i].which);
    return 0;
}

/* -- Code ------------------------------------------------------------------------------------- */

PtxIns *ptx_emit(Parser *p, PtxOp op, uint32_t d, uint32_t a, uint32_t b, uint32_t c) {
    PtxFunc *fn = p->fn;
    fn->code = ptx_grow(&p->module->arena, fn->code, fn->ncode, &fn->cap_code, sizeof *fn->code);
    PtxIns *ins = &fn->code[fn->ncode++];
    *ins = (PtxIns){.op = (uint16_t)op, .d = d, .s = {a, b, c}};
    return ins;
}

/* Remembers that the function names a shared variable: a kernel's shared memory is what it and its
 * callees name. */
void ptx_use_shared(Parser *p, uint32_t var) {
    PtxFunc *fn = p->fn;
    for (uint32_t i = 0; i < fn->nshared_used; i++)
        if (fn->shared_used[i] == var) return;
    fn->shared_used = ptx_grow(&p->module->arena, fn->shared_used, fn->nshared_used,
                               &fn->cap_shared_used, sizeof *fn->shared_used);
    fn->shared_used[fn->nshared_used++] = var;
}
