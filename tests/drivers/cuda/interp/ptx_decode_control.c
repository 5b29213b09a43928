/* Decoders of branches, calls, barriers and the operations of warps. */
#include "ptx_parse.h"

#include <string.h>

/* -- Branches --------------------------------------------------------------------------------- */

static bool dec_bra(Dec *d) {
    ptx_take(d, "uni");
    if (d->nops != 1 || !d->ops[0].name) return ptx_dec_fail(d, "Label expected");
    ptx_fixup(d->p,
              (Fixup){.label = ptx_label(d->p, d->ops[0].name, d->line), .ins = d->p->fn->ncode});
    ptx_dec_emit(d, OP_bra, 0, 0, 0, 0);
    return true;
}

static bool dec_brx(Dec *d) {
    ptx_take(d, "uni");
    const Operand *table = &d->ops[1];
    if (!ptx_take(d, "idx") || d->nops != 2 || !table->has_sym || table->sym.kind != SYM_table)
        return ptx_dec_fail(d, "Wrong operands");
    ptx_dec_emit(d, OP_brx, 0, ptx_src(d, 0, PT_u32), 0, 0)->imm = table->sym.at;
    return true;
}

static bool bare(Dec *d, PtxOp op) {
    ptx_dec_emit(d, op, 0, 0, 0, 0);
    return d->nops == 0 || ptx_dec_fail(d, "No operand expected");
}

static bool dec_ret(Dec *d) {
    ptx_take(d, "uni");
    return bare(d, d->p->fn->entry ? OP_exit : OP_ret);
}

static bool dec_exit(Dec *d) {
    return bare(d, OP_exit);
}
static bool dec_trap(Dec *d) {
    return bare(d, OP_trap);
}
static bool dec_brkpt(Dec *d) {
    return bare(d, OP_nop);
}

/* nanosleep and pmevent: nothing to do, but another thread may run. */
static bool dec_nanosleep(Dec *d) {
    ptx_dec_emit(d, OP_nop, 0, 0, 0, 0);
    return true;
}

static bool dec_setmaxnreg(Dec *d) {
    static const char *const words[] = {"inc", "dec", "sync", "aligned", NULL};
    ptx_take_rest(d, words);
    return true;
}

/* -- Calls ------------------------------------------------------------------------------------ */

static char *word(Dec *d) {
    Parser *p = d->p;
    if (p->lex.token.kind != TK_word) {
        ptx_dec_fail(d, "Name expected");
        return NULL;
    }
    char *name = ptx_copy(p, &p->lex.token);
    ptx_lex_next(&p->lex);
    return name;
}

static bool call_param(Dec *d, PtxParam *out) {
    char *name = word(d);
    const Sym *sym = name ? ptx_find(d->p, name) : NULL;
    if (!name) return false;
    if (!sym || sym->kind != SYM_call)
        return ptx_fail(d->p, d->line, "'%s' is not a call parameter", name);
    *out = (PtxParam){.name = name, .size = sym->size, .align = sym->align, .offset = sym->at};
    return true;
}

static bool call_target(Dec *d, PtxCallSite *site) {
    char *name = word(d);
    const Sym *sym = name ? ptx_find(d->p, name) : NULL;
    if (sym && sym->kind == SYM_func) {
        site->callee = sym->func;
        return true;
    }
    if (!sym || sym->kind != SYM_reg)
        return ptx_fail(d->p, d->line, "Unknown function '%s'", name ? name : "");
    site->target = sym->at;
    return true;
}

static bool call_args(Dec *d, PtxCallSite *site) {
    PtxParam args[64];
    while (!ptx_lex_punct(&d->p->lex, ')')) {
        if (site->nargs == 64) return ptx_dec_fail(d, "Too many arguments");
        if (!call_param(d, &args[site->nargs++])) return false;
        if (!ptx_accept(d->p, ',')) break;
    }
    site->args = ptx_alloc(&d->p->module->arena, sizeof *args * (site->nargs + 1));
    memcpy(site->args, args, sizeof *args * site->nargs);
    return ptx_expect(d->p, ')');
}

static bool call_agrees(Dec *d, const PtxCallSite *site) {
    const PtxFunc *fn = site->callee;
    if (!fn) return true;
    bool ok = fn->nparams == site->nargs &&
              (!site->has_ret || (fn->has_ret && fn->ret.size == site->ret.size));
    for (uint32_t i = 0; ok && i < site->nargs; i++)
        ok = fn->params[i].size == site->args[i].size;
    return ok ||
           ptx_fail(d->p, d->line, "Call of '%s' does not agree with its declaration", fn->name);
}

/* call.uni (retval0), name, (param0, param1), prototype; every part but the name may be missing. */
static bool dec_call(Dec *d) {
    Parser *p = d->p;
    PtxFunc *fn = p->fn;
    PtxCallSite site = {0};
    ptx_take(d, "uni");
    if (ptx_accept(p, '(')) {
        site.has_ret = true;
        if (!call_param(d, &site.ret) || !ptx_expect(p, ')') || !ptx_expect(p, ',')) return false;
    }
    if (!call_target(d, &site)) return false;
    if (ptx_accept(p, ',')) {
        if (ptx_accept(p, '(')) {
            if (!call_args(d, &site)) return false;
            if (ptx_accept(p, ',') && !word(d)) return false;
        } else if (!word(d)) {
            return false;
        }
    }
    if (!call_agrees(d, &site)) return false;
    fn->calls = ptx_grow(&p->module->arena, fn->calls, fn->ncalls, &fn->cap_calls, sizeof site);
    fn->calls[fn->ncalls] = site;
    ptx_dec_emit(d, OP_call, 0, 0, 0, 0)->imm = fn->ncalls++;
    return ptx_expect(p, ';');
}

/* -- Barriers --------------------------------------------------------------------------------- */

static bool warp_sync(Dec *d) {
    ptx_dec_emit(d, OP_warp_sync, 0, ptx_src(d, 0, PT_b32), 0, 0);
    return true;
}

/* bar.red.op.type d, id{, count}, pred */
static bool barrier_red(Dec *d) {
    static const char *const ops[] = {"popc", "and", "or", NULL};
    int op = ptx_take_one(d, ops);
    if (op < 0 || d->nops < 3) return ptx_dec_fail(d, "Wrong operands");
    uint32_t id = ptx_src(d, 1, PT_u32), count = d->nops == 4 ? ptx_src(d, 2, PT_u32) : 0;
    uint32_t pred = ptx_src(d, d->nops - 1, PT_pred);
    ptx_dec_emit(d, OP_barrier, ptx_dst(d, 0), id, count, pred)->aux = (uint16_t)(BAR_popc + op);
    return true;
}

static bool dec_bar(Dec *d) {
    static const char *const ignored[] = {"cta", "aligned", NULL};
    ptx_take_rest(d, ignored);
    if (ptx_take(d, "warp")) return ptx_take(d, "sync") && warp_sync(d);
    if (ptx_take(d, "red")) return barrier_red(d);
    bool arrive = ptx_take(d, "arrive");
    if (!arrive && !ptx_take(d, "sync")) return ptx_dec_fail(d, "Unknown barrier");
    if (d->nops < (arrive ? 2u : 1u)) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t count = d->nops > 1 ? ptx_src(d, 1, PT_u32) : 0;
    PtxIns *ins = ptx_dec_emit(d, OP_barrier, SLOT_SINK, ptx_src(d, 0, PT_u32), count, 0);
    ins->aux = arrive ? BAR_arrive : BAR_sync;
    return true;
}

/* A cluster here is one block: its barrier is the block's. */
static bool dec_barrier(Dec *d) {
    if (!ptx_take(d, "cluster")) return dec_bar(d);
    static const char *const ignored[] = {"aligned", "release", "acquire", "relaxed", NULL};
    ptx_take_rest(d, ignored);
    bool arrive = ptx_take(d, "arrive");
    if (!arrive && !ptx_take(d, "wait")) return ptx_dec_fail(d, "Unknown barrier");
    if (!arrive) ptx_dec_emit(d, OP_barrier, SLOT_SINK, SLOT_ZERO, 0, 0)->aux = BAR_sync;
    return true;
}

/* -- Warps ------------------------------------------------------------------------------------ */

static PtxIns *with_ext(Dec *d, PtxOp op, uint32_t dst, uint32_t ext0, uint32_t ext1) {
    PtxFunc *fn = d->p->fn;
    fn->ext = ptx_grow(&d->p->module->arena, fn->ext, fn->next, &fn->cap_ext, sizeof *fn->ext);
    fn->ext[fn->next][0] = ext0;
    fn->ext[fn->next][1] = ext1;
    PtxIns *ins = ptx_dec_emit(d, op, dst, 0, 0, 0);
    ins->imm = fn->next++;
    return ins;
}

static uint32_t pair_slot(const Dec *d) {
    return d->ops[0].pair ? d->ops[0].pair - 1 : SLOT_SINK;
}

static bool dec_shfl(Dec *d) {
    static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
    bool sync = ptx_take(d, "sync");
    int mode = ptx_take_one(d, modes);
    if (!sync || mode < 0) return ptx_dec_fail(d, "Only shfl.sync is supported");
    if (d->nops != 5) return ptx_dec_fail(d, "Wrong number of operands");
    uint32_t a = ptx_src(d, 1, PT_b32), b = ptx_src(d, 2, PT_b32), c = ptx_src(d, 3, PT_b32);
    uint32_t mask = ptx_src(d, 4, PT_b32), dst = ptx_dst(d, 0);
    PtxIns *ins = with_ext(d, OP_shfl, dst, mask, pair_slot(d));
    ins->aux = (uint16_t)mode;
    ins->s[0] = a, ins->s[1] = b, ins->s[2] = c;
    return true;
}

static bool dec_vote(Dec *d) {
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    bool sync = ptx_take(d, "sync");
    int mode = ptx_take_one(d, modes);
    if (!sync || mode < 0 || d->nops != 3) return ptx_dec_fail(d, "Only vote.sync is supported");
    uint32_t pred = ptx_src(d, 1, PT_pred), mask = ptx_src(d, 2, PT_b32);
    ptx_dec_emit(d, OP_vote, ptx_dst(d, 0), pred, mask, 0)->aux = (uint16_t)mode;
    return true;
}

static bool dec_match(Dec *d) {
    bool all = ptx_take(d, "all"), sync;
    if (!all) ptx_take(d, "any");
    sync = ptx_take(d, "sync");
    PtxType type = d->types[0];
    if (!sync || d->ntypes != 1 || d->nops != 3) return ptx_dec_fail(d, "Wrong operands");
    uint32_t value = ptx_src(d, 1, type), mask = ptx_src(d, 2, PT_b32), dst = ptx_dst(d, 0);
    PtxIns *ins = with_ext(d, OP_match, dst, mask, pair_slot(d));
    ins->aux = (uint16_t)((all ? 1 : 0) | (ptx_type_size(type) == 8 ? 2 : 0));
    ins->s[0] = value, ins->s[1] = mask;
    return true;
}

static bool dec_redux(Dec *d) {
    static const char *const ops[] = {"add", "min", "max", "and", "or", "xor", NULL};
    bool sync = ptx_take(d, "sync");
    int op = ptx_take_one(d, ops);
    if (!sync || op < 0 || d->ntypes != 1 || d->nops != 3) return ptx_dec_fail(d, "Wrong operands");
    uint32_t value = ptx_src(d, 1, d->types[0]), mask = ptx_src(d, 2, PT_b32);
    ptx_dec_emit(d, OP_redux, ptx_dst(d, 0), value, mask, 0)->aux = PTX_ATOM(op, d->types[0], 0);
    return true;
}

static bool dec_elect(Dec *d) {
    if (!ptx_take(d, "sync") || d->nops != 2) return ptx_dec_fail(d, "Wrong operands");
    uint32_t mask = ptx_src(d, 1, PT_b32);
    with_ext(d, OP_elect, d->ops[0].slot, mask, pair_slot(d))->s[0] = mask;
    return true;
}

static bool dec_activemask(Dec *d) {
    if (d->nops != 1) return ptx_dec_fail(d, "Wrong number of operands");
    ptx_dec_emit(d, OP_active_mask, ptx_dst(d, 0), 0, 0, 0);
    return true;
}

const DecRow ptx_rows_control[] = {
    {"bra", dec_bra},
    {"brx", dec_brx},
    {"ret", dec_ret},
    {"exit", dec_exit},
    {"trap", dec_trap},
    {"brkpt", dec_brkpt},
    {"call", dec_call},
    {"bar", dec_bar},
    {"barrier", dec_barrier},
    {"shfl", dec_shfl},
    {"vote", dec_vote},
    {"match", dec_match},
    {"redux", dec_redux},
    {"elect", dec_elect},
    {"activemask", dec_activemask},
    {"nanosleep", dec_nanosleep},
    {"pmevent", dec_nanosleep},
    {"setmaxnreg", dec_setmaxnreg},
    {NULL, NULL},
};
