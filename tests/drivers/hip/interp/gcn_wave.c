/* One wave: its scalar registers, and the instructions that steer it. */
#define _POSIX_C_SOURCE 200809L
#include "gcn_wave.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* -- Faults ------------------------------------------------------------------------------------ */

/* The first fault of a launch is the one that is told. */
GcnStep gcn_fault(GcnWave *w, GcnResult result, const char *format, ...) {
    GcnRunning *run = w->run;
    w->status = W_fault;
    if (run->result) return STEP_FAULT;
    run->result = result;
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const GcnLaunch *l = run->launch;
    snprintf(l->message, l->room, "%s, block %u,%u,%u, wave %u, at +0x%llx (%s): %s", l->name,
             w->group->id[0], w->group->id[1], w->group->id[2], w->number,
             (unsigned long long)(w->pc - l->entry), w->at ? w->at->text : "?", what);
    return STEP_FAULT;
}

/* -- Scalar operands --------------------------------------------------------------------------- */

static bool is_wide(GcnType type) {
    return type == T_U64 || type == T_I64 || type == T_F64;
}

/* LLVM begins masks of lanes with whatever is in the register, and puts in what counts before it looks. */
static bool makes_masks(const GcnInst *i) {
    return i->scalar &&
           (!strncmp(i->scalar->name, "s_or_", 5) || !strncmp(i->scalar->name, "s_and_", 6));
}

static bool check_scalar(GcnWave *w, unsigned reg, unsigned words) {
    for (unsigned k = 0; k < words; k++)
        if (w->run->launch->unset && !w->sset[reg + k] && reg + k < S_TTMP && !makes_masks(w->at)) {
            gcn_fault(w, GCN_FAULT, "scalar register %u is read, and was never written", reg + k);
            return false;
        }
    return true;
}

static bool named_value(GcnWave *w, const GcnOperand *o, GcnType type, uint64_t *value) {
    uint64_t base = !strcmp(o->name, "src_shared_base")    ? LDS_APERTURE
                    : !strcmp(o->name, "src_private_base") ? SCRATCH_APERTURE
                                                           : 0;
    *value = base << 32;
    if (base && is_wide(type)) return true; /* a read of 32 bits does not get the upper half */
    gcn_fault(w, GCN_ILLEGAL, "the operand %s is not known here", o->name);
    return false;
}

bool gcn_read_scalar(GcnWave *w, const GcnOperand *o, GcnType type, uint64_t *value) {
    *value = 0;
    switch (o->kind) {
    case K_scalar:
        if (o->reg == S_NULL) return true;
        *value = is_wide(type) ? gcn_pair(w, o->reg) : w->s[o->reg];
        return check_scalar(w, o->reg, is_wide(type) ? 2 : 1);
    case K_const: *value = o->bits; return true;
    case K_scc: *value = w->scc; return true;
    case K_execz: *value = gcn_exec(w) == 0; return true;
    case K_vccz: *value = (gcn_pair(w, S_VCC) & w->all) == 0; return true;
    case K_name: return named_value(w, o, type, value);
    default: gcn_fault(w, GCN_ILLEGAL, "an operand has no scalar value"); return false;
    }
}

void gcn_write_scalar(GcnWave *w, const GcnOperand *o, GcnType type, uint64_t value) {
    if (o->reg == S_NULL) return;
    w->s[o->reg] = (uint32_t)value;
    w->sset[o->reg] = true;
    if (!is_wide(type)) return;
    w->s[o->reg + 1] = (uint32_t)(value >> 32);
    w->sset[o->reg + 1] = true;
}

uint64_t gcn_mask(GcnWave *w, const GcnOperand *o) {
    uint64_t value = 0;
    GcnType type = w->lanes == 64 ? T_U64 : T_U32;
    if (o->kind == K_const) return o->bits & w->all;
    gcn_read_scalar(w, o, type, &value);
    return value & w->all;
}

void gcn_write_mask(GcnWave *w, const GcnOperand *o, uint64_t mask) {
    gcn_write_scalar(w, o, w->lanes == 64 ? T_U64 : T_U32, mask);
}

void gcn_set_exec(GcnWave *w, uint64_t mask) {
    w->s[S_EXEC] = (uint32_t)mask;
    if (w->lanes == 64) w->s[S_EXEC + 1] = (uint32_t)(mask >> 32);
}

/* -- Branches ---------------------------------------------------------------------------------- */

static GcnStep jump(GcnWave *w, uint64_t to) {
    w->pc = to;
    return STEP_JUMP;
}

static GcnStep branch_if(GcnWave *w, const GcnInst *i, bool taken) {
    return taken ? jump(w, i->target) : STEP_NEXT;
}
static GcnStep run_branch(GcnWave *w, const GcnInst *i) {
    return jump(w, i->target);
}
static GcnStep run_scc0(GcnWave *w, const GcnInst *i) {
    return branch_if(w, i, !w->scc);
}
static GcnStep run_scc1(GcnWave *w, const GcnInst *i) {
    return branch_if(w, i, w->scc);
}
static GcnStep run_execz(GcnWave *w, const GcnInst *i) {
    return branch_if(w, i, gcn_exec(w) == 0);
}
static GcnStep run_execnz(GcnWave *w, const GcnInst *i) {
    return branch_if(w, i, gcn_exec(w) != 0);
}
static GcnStep run_vccz(GcnWave *w, const GcnInst *i) {
    return branch_if(w, i, (gcn_pair(w, S_VCC) & w->all) == 0);
}
static GcnStep run_vccnz(GcnWave *w, const GcnInst *i) {
    return branch_if(w, i, (gcn_pair(w, S_VCC) & w->all) != 0);
}
static GcnStep run_getpc(GcnWave *w, const GcnInst *i) {
    gcn_write_scalar(w, &i->d, T_U64, i->pc + i->size);
    return STEP_NEXT;
}
static GcnStep run_setpc(GcnWave *w, const GcnInst *i) {
    return jump(w, gcn_pair(w, i->d.reg));
}
static GcnStep run_swappc(GcnWave *w, const GcnInst *i) {
    uint64_t to = gcn_pair(w, i->a.reg);
    gcn_write_scalar(w, &i->d, T_U64, i->pc + i->size);
    return jump(w, to);
}
static GcnStep run_call(GcnWave *w, const GcnInst *i) {
    gcn_write_scalar(w, &i->d, T_U64, i->pc + i->size);
    return jump(w, i->target);
}

/* -- EXEC -------------------------------------------------------------------------------------- */

typedef enum ExecWork {
    X_and,
    X_or,
    X_xor,
    X_nand,
    X_nor,
    X_xnor,
    X_and_not1,
    X_or_not1,
    X_and_not0,
    X_or_not0
} ExecWork;

/* a is the operand, x what EXEC was. */
static uint64_t exec_of(ExecWork work, uint64_t a, uint64_t x) {
    switch (work) {
    case X_and: return a & x;
    case X_or: return a | x;
    case X_xor: return a ^ x;
    case X_nand: return ~(a & x);
    case X_nor: return ~(a | x);
    case X_xnor: return ~(a ^ x);
    case X_and_not1: return a & ~x;
    case X_or_not1: return a | ~x;
    case X_and_not0: return ~a & x;
    default: return ~a | x;
    }
}

static GcnStep run_save_exec(GcnWave *w, const GcnInst *i) {
    uint64_t old = gcn_exec(w);
    uint64_t mask = exec_of((ExecWork)i->number, gcn_mask(w, &i->a), old) & w->all;
    gcn_set_exec(w, mask);
    gcn_write_mask(w, &i->d, old);
    w->scc = mask != 0;
    return w->status == W_fault ? STEP_FAULT : STEP_NEXT;
}

static GcnStep run_write_exec(GcnWave *w, const GcnInst *i) {
    uint64_t mask = exec_of((ExecWork)i->number, gcn_mask(w, &i->a), gcn_exec(w)) & w->all;
    gcn_set_exec(w, mask);
    gcn_write_mask(w, &i->d, mask);
    w->scc = mask != 0;
    return w->status == W_fault ? STEP_FAULT : STEP_NEXT;
}

/* -- Hardware registers ------------------------------------------------------------------------ */

/* "hwreg(HW_REG_MODE, 4, 4)": offset and width of the field; the whole register without them. */
static bool hardware_register(const GcnOperand *o, char *name, int *offset, int *width) {
    *offset = 0, *width = 32;
    return o->kind == K_name &&
           sscanf(o->name, "hwreg(%31[A-Z0-9_], %d, %d", name, offset, width) >= 1;
}

static GcnStep run_setreg(GcnWave *w, const GcnInst *i) {
    char name[32];
    int offset, width;
    uint64_t value;
    bool known = hardware_register(&i->d, name, &offset, &width);
    if (known && !strncmp(name, "HW_REG_FLAT_SCR_", 16))
        return STEP_NEXT; /* apertures do not move */
    if (!known || strcmp(name, "HW_REG_MODE") != 0)
        return gcn_fault(w, GCN_ILLEGAL, "a write of %s is not known here", i->d.name);
    if (!gcn_read_scalar(w, &i->a, T_U32, &value)) return STEP_FAULT;
    uint32_t field = (width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1) << offset;
    w->mode = (w->mode & ~field) | ((uint32_t)value << offset & field);
    if (w->mode & 15)
        return gcn_fault(w, GCN_ILLEGAL, "only rounding to the nearest is known here");
    return STEP_NEXT;
}

static GcnStep run_getreg(GcnWave *w, const GcnInst *i) {
    char name[32];
    int offset, width;
    if (!hardware_register(&i->a, name, &offset, &width))
        return gcn_fault(w, GCN_ILLEGAL, "%s is not known here", i->a.name);
    uint32_t value = w->mode;
    if (!strncmp(name, "HW_REG_SHADER_CYCLES", 20))
        value = (uint32_t)(w->run->clock >> (strstr(name, "HI") ? 32 : 0));
    else if (strcmp(name, "HW_REG_MODE") != 0)
        return gcn_fault(w, GCN_ILLEGAL, "a read of %s is not known here", name);
    if (width < 32) value = value >> offset & ((UINT32_C(1) << width) - 1);
    gcn_write_scalar(w, &i->d, T_U32, value);
    return STEP_NEXT;
}

static GcnStep run_denorm_mode(GcnWave *w, const GcnInst *i) {
    w->mode = (w->mode & ~0xf0u) | ((uint32_t)i->d.integer & 15) << 4;
    return STEP_NEXT;
}

/* "gpr_idx(SRC0,DST)" */
static GcnStep run_index_on(GcnWave *w, const GcnInst *i) {
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    uint64_t by;
    if (!gcn_read_scalar(w, &i->d, T_U32, &by)) return STEP_FAULT;
    w->indexed = 0;
    for (int k = 0; k < 4; k++)
        if (strstr(i->a.name, names[k])) w->indexed |= (uint8_t)(1 << k);
    w->s[S_M0] = (uint32_t)(by & 255) | (uint32_t)w->indexed << 12;
    w->sset[S_M0] = true;
    return STEP_NEXT;
}
static GcnStep run_index_off(GcnWave *w, const GcnInst *i) {
    (void)i;
    w->indexed = 0;
    return STEP_NEXT;
}

/* Time: one for each instruction of the launch. */
static GcnStep run_time(GcnWave *w, const GcnInst *i) {
    gcn_write_scalar(w, &i->d, T_U64, w->run->clock);
    return STEP_NEXT;
}

static GcnStep run_message(GcnWave *w, const GcnInst *i) {
    if (i->d.kind == K_name && !strcmp(i->d.name, "sendmsg(MSG_DEALLOC_VGPRS)")) return STEP_NEXT;
    return gcn_fault(w, GCN_ILLEGAL, "this message is not known here");
}

static GcnStep run_message_back(GcnWave *w, const GcnInst *i) {
    if (strcmp(i->a.name, "sendmsg(MSG_RTN_GET_REALTIME)") != 0)
        return gcn_fault(w, GCN_ILLEGAL, "this message is not known here");
    return run_time(w, i);
}

/* -- Waiting and ending ------------------------------------------------------------------------ */

static GcnStep run_nothing(GcnWave *w, const GcnInst *i) {
    (void)w, (void)i;
    return STEP_NEXT;
}
static GcnStep run_sleep(GcnWave *w, const GcnInst *i) {
    (void)w, (void)i;
    return STEP_YIELD;
}
static GcnStep run_end(GcnWave *w, const GcnInst *i) {
    (void)w, (void)i;
    return STEP_END;
}
static GcnStep run_barrier(GcnWave *w, const GcnInst *i) {
    (void)w, (void)i;
    return STEP_BARRIER;
}
static GcnStep run_trap(GcnWave *w, const GcnInst *i) {
    return gcn_fault(w, GCN_TRAP, "trap %lld", (long long)i->d.integer);
}
static GcnStep run_code_end(GcnWave *w, const GcnInst *i) {
    (void)i;
    return gcn_fault(w, GCN_ILLEGAL, "the end of the code is run over");
}
/* RDNA4 has two instructions: arriving, and waiting for the others. */
static GcnStep run_signal(GcnWave *w, const GcnInst *i) {
    if (i->d.integer != -1) return gcn_fault(w, GCN_ILLEGAL, "only barrier -1 is known here");
    w->signalled = true;
    return STEP_NEXT;
}
static GcnStep run_wait(GcnWave *w, const GcnInst *i) {
    if ((int16_t)i->d.integer != -1)
        return gcn_fault(w, GCN_ILLEGAL, "only barrier -1 is known here");
    if (!w->signalled) return gcn_fault(w, GCN_FAULT, "waits at a barrier without having arrived");
    return STEP_BARRIER;
}

/* -- Decoding ---------------------------------------------------------------------------------- */

typedef enum Shape { ANY, JUMPS, ONE, TWO } Shape;

static const struct {
    const char *name;
    GcnRun run;
    Shape shape;
} rows[] = {
    {"s_branch", run_branch, JUMPS},
    {"s_cbranch_scc0", run_scc0, JUMPS},
    {"s_cbranch_scc1", run_scc1, JUMPS},
    {"s_cbranch_execz", run_execz, JUMPS},
    {"s_cbranch_execnz", run_execnz, JUMPS},
    {"s_cbranch_vccz", run_vccz, JUMPS},
    {"s_cbranch_vccnz", run_vccnz, JUMPS},
    {"s_getpc_b64", run_getpc, ONE},
    {"s_setpc_b64", run_setpc, ONE},
    {"s_swappc_b64", run_swappc, TWO},
    {"s_setreg_b32", run_setreg, TWO},
    {"s_setreg_imm32_b32", run_setreg, TWO},
    {"s_getreg_b32", run_getreg, TWO},
    {"s_denorm_mode", run_denorm_mode, ONE},
    {"s_set_gpr_idx_on", run_index_on, TWO},
    {"s_set_gpr_idx_off", run_index_off, ANY},
    {"s_memtime", run_time, ONE},
    {"s_memrealtime", run_time, ONE},
    {"s_sendmsg", run_message, ONE},
    {"s_sendmsg_rtn_b64", run_message_back, TWO},
    {"s_sleep", run_sleep, ONE},
    {"s_endpgm", run_end, ANY},
    {"s_barrier", run_barrier, ANY},
    {"s_barrier_signal", run_signal, ONE},
    {"s_barrier_wait", run_wait, ONE},
    {"s_trap", run_trap, ONE},
    {"s_code_end", run_code_end, ANY},
};

/* Orders, caches, priorities, hints: every access of memory is finished when its instruction is. */
static const char *const nothing[] = {"s_nop",
                                      "v_nop",

                                      "s_waitcnt_vscnt",
                                      "s_waitcnt_vmcnt",
                                      "s_waitcnt_expcnt",
                                      "s_waitcnt_lgkmcnt",
                                      "s_waitcnt_depctr",
                                      "s_delay_alu",
                                      "s_clause",
                                      "s_set_inst_prefetch_distance",
                                      "s_inst_prefetch",
                                      "s_setprio",
                                      "s_icache_inv",
                                      "s_dcache_inv",
                                      "s_dcache_wb",
                                      "s_gl1_inv",
                                      "buffer_gl0_inv",
                                      "buffer_gl1_inv",
                                      "buffer_inv",
                                      "buffer_wbl2",
                                      "buffer_wbinvl1",
                                      "buffer_wbinvl1_vol",
                                      "global_inv",
                                      "global_wb",
                                      "global_wbinv",
                                      "s_wait_storecnt",
                                      "s_wait_samplecnt",
                                      "s_wait_bvhcnt",
                                      "s_wait_expcnt",
                                      "s_wait_idle",
                                      "s_wait_alu",
                                      "s_wait_event",
                                      "s_prefetch_inst",
                                      "s_prefetch_inst_pc_rel",
                                      "s_prefetch_data",
                                      "s_setkill"};

static bool exec_work(GcnInst *i, const GcnText *text) {
    static const char *const works[] = {"and",  "or",       "xor",     "nand",     "nor",
                                        "xnor", "and_not1", "or_not1", "and_not0", "or_not0"};
    for (int k = 0; k < 10; k++) {
        char saves[48], writes[48];
        size_t n = (size_t)snprintf(saves, sizeof saves, "s_%s_saveexec_b", works[k]);
        size_t m = (size_t)snprintf(writes, sizeof writes, "s_%s_wrexec_b", works[k]);
        bool save = !strncmp(text->name, saves, n);
        if (!save && strncmp(text->name, writes, m) != 0) continue;
        i->run = save ? run_save_exec : run_write_exec;
        i->number = k;
        i->d = text->operands[0], i->a = text->operands[1];
        gcn_settle(&i->a, T_U64);
        return text->noperands == 2;
    }
    return false;
}

bool gcn_control(GcnInst *i, const GcnText *text) {
    for (unsigned k = 0; k < sizeof nothing / sizeof *nothing; k++)
        if (!strcmp(text->name, nothing[k])) {
            i->run = run_nothing;
            return true;
        }
    if (gcn_wait(i, text) || exec_work(i, text)) return true;
    if (!strcmp(text->name, "s_call_b64") && text->noperands == 2) {
        i->run = run_call;
        i->d = text->operands[0];
        i->target = i->pc + i->size + (uint64_t)((int64_t)(int16_t)text->operands[1].integer * 4);
        return true;
    }
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (strcmp(text->name, rows[k].name) != 0) continue;
        int wants = rows[k].shape == TWO ? 2 : rows[k].shape == ANY ? text->noperands : 1;
        i->run = rows[k].run;
        i->d = text->operands[0], i->a = text->operands[1];
        gcn_settle(&i->d, T_U32), gcn_settle(&i->a, T_U32);
        if (rows[k].shape == JUMPS)
            i->target = i->pc + i->size + (uint64_t)((int64_t)(int16_t)i->d.integer * 4);
        return text->noperands == wants;
    }
    return false;
}

/* -- The loop ---------------------------------------------------------------------------------- */

static bool out_of_time(const GcnRunning *run) {
    struct timespec now;
    if (!run->launch->deadline) return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > run->deadline->tv_sec;
}

/* Runs until the wave waits, ends or fails, or its turn is over. */
GcnStep gcn_wave_run(GcnWave *w) {
    GcnRunning *run = w->run;
    char why[256];
    for (int n = 0; n < SLICE; n++) {
        const GcnInst *i = gcn_code_at(run->launch->code, w->pc, why, sizeof why);
        w->at = i;
        if (!i) return gcn_fault(w, GCN_ILLEGAL, "%s", why);
        run->clock++;
        run->executed += (uint64_t)__builtin_popcountll(gcn_exec(w));
        if (!gcn_wait_check(w, i)) return STEP_FAULT;
        GcnStep step = i->run(w, i);
        if (step == STEP_FAULT || w->status == W_fault) return STEP_FAULT;
        if (i->counts) gcn_wait_begin(w, i);
        if (step == STEP_JUMP) continue;
        w->pc = i->pc + i->size;
        if (step != STEP_NEXT) return step;
    }
    if (out_of_time(run)) return gcn_fault(w, GCN_TIMEOUT, "the kernel runs for too long");
    return STEP_YIELD;
}
