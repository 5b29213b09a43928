/* Frames: entering functions, calls, returns, the functions of the driver; and faults. */
#include "ptx_num.h"
#include "ptx_run.h"

#include <inttypes.h>
#include <stdio.h>

/* -- Faults ----------------------------------------------------------------------------------- */

bool ptx_fault(Block *b, Thread *t, PtxFault fault, const char *format, ...) {
    Run *run = b->run;
    if (t) t->status = TS_fault;
    if (run->fault) return false;
    run->fault = fault;
    if (!run->message_size) return false;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(run->message, run->message_size, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= run->message_size) return false;
    size_t left = run->message_size - (size_t)n;
    if (t)
        snprintf(run->message + n, left, " (%s, PTX line %u, block %u,%u,%u, thread %u,%u,%u)",
                 t->fn->name, (unsigned)t->pc->line, b->ctaid[0], b->ctaid[1], b->ctaid[2],
                 t->tid[0], t->tid[1], t->tid[2]);
    else
        snprintf(run->message + n, left, " (block %u,%u,%u)", b->ctaid[0], b->ctaid[1],
                 b->ctaid[2]);
    return false;
}

uint64_t ptx_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* -- Frames ----------------------------------------------------------------------------------- */

static uint64_t special(const Block *b, const Thread *t, PtxSpecial which) {
    const PtxLaunch *l = b->run->launch;
    uint32_t bit = UINT32_C(1) << t->lane;
    if (which <= SR_tid_z) return t->tid[which - SR_tid_x];
    if (which <= SR_ntid_z) return l->block[which - SR_ntid_x];
    if (which <= SR_ctaid_z) return b->ctaid[which - SR_ctaid_x];
    if (which <= SR_nctaid_z) return l->grid[which - SR_nctaid_x];
    switch (which) {
    case SR_laneid: return t->lane;
    case SR_warpid: return t->warp;
    case SR_nwarpid: return (b->nthreads + WARP - 1) / WARP;
    case SR_nsmid: return 1;
    case SR_lanemask_eq: return bit;
    case SR_lanemask_le: return bit | (bit - 1);
    case SR_lanemask_lt: return bit - 1;
    case SR_lanemask_ge: return ~(bit - 1);
    case SR_lanemask_gt: return ~(bit | (bit - 1));
    case SR_total_smem: return b->run->shared_size;
    case SR_dynamic_smem: return l->dynamic_shared;
    case SR_warpsize: return WARP;
    case SR_one: return 1;
    case SR_dynamic_base: return b->run->dynamic_base;
    default: return 0;
    }
}

static uint32_t align_frame(uint32_t size) {
    return (size + 63) & ~63u;
}

uint32_t ptx_frame_bytes(const PtxFunc *fn) {
    return align_frame(fn->local_size) + align_frame(fn->entry ? 0 : fn->param_size) +
           align_frame(fn->call_size);
}

/* Makes fn's frame the thread's current one. The caller's slots end where the new ones begin. */
bool ptx_enter(Block *b, Thread *t, const PtxFunc *fn) {
    Run *run = b->run;
    uint64_t *R = t->R ? t->R + t->fn->nslots : t->slots;
    if (R + fn->nslots > t->slots + run->max_slots ||
        t->local_top + ptx_frame_bytes(fn) > run->local_size)
        return ptx_fault(b, t, FAULT_stack, "stack overflow");
    memcpy(R, fn->image, fn->nslots * sizeof *R);
    uint8_t *at = t->local + t->local_top;
    memset(at, 0xcb, fn->local_size); /* nobody may count on zeros */
    R[SLOT_LOCAL] = PTX_LOCAL_BASE + t->local_top;
    at += align_frame(fn->local_size);
    R[SLOT_PARAM] = (uintptr_t)(fn->entry ? run->launch->params : at);
    at += fn->entry ? 0 : align_frame(fn->param_size);
    R[SLOT_CALL] = (uintptr_t)at;
    for (uint32_t i = 0; i < fn->nspecials; i++)
        R[fn->specials[i].slot] = special(b, t, fn->specials[i].which);
    t->local_top += ptx_frame_bytes(fn);
    t->R = R;
    t->fn = fn;
    t->pc = fn->code;
    return true;
}

/* -- The driver's functions ------------------------------------------------------------------- */

static uint64_t arg_u64(const Thread *t, const PtxCallSite *site, uint32_t index) {
    uint64_t value = 0;
    const PtxParam *arg = &site->args[index];
    memcpy(&value, (void *)(uintptr_t)(t->R[SLOT_CALL] + arg->offset),
           arg->size < 8 ? arg->size : 8);
    return value;
}

static bool device_string(Block *b, Thread *t, uint64_t address, char *out, size_t size) {
    for (size_t i = 0; i + 1 < size; i++) {
        const char *c = mem_generic(b, t, address + i, 1, false);
        if (!c) return false;
        out[i] = *c;
        if (!*c) return true;
    }
    out[size - 1] = 0;
    return true;
}

/* One conversion of a format, from the '%' on: prints it and answers where it ends. The arguments lie
 * in the buffer as C would pass them, each at its natural alignment. */
static const char *print_one(Block *b, Thread *t, const char *at, uint64_t *args) {
    char spec[32], text[1024];
    size_t n = 1 + strspn(at + 1, "-+ #0123456789.lhzjt");
    char kind = at[n];
    if (!kind || n > sizeof spec - 4) return NULL;
    memcpy(spec, at, n);
    spec[n] = kind, spec[n + 1] = 0;
    if (kind == '%') {
        putchar('%');
        return at + n + 1;
    }
    bool wide = strchr("eEfFgGaAsp", kind) || memchr(at, 'l', n) || memchr(at, 'z', n) ||
                memchr(at, 'j', n);
    unsigned size = wide ? 8 : 4;
    *args = (*args + size - 1) & ~(uint64_t)(size - 1);
    const void *from = mem_generic(b, t, *args, size, false);
    if (!from) return NULL;
    uint64_t value = 0;
    memcpy(&value, from, size);
    *args += size;
    _Pragma("GCC diagnostic push")
            _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"") if (kind == 's')
                device_string(b, t, value, text, sizeof text)
        ? printf(spec, text)
        : 0;
    else if (strchr("eEfFgGaA", kind)) printf(spec, ptx_f64(value));
    else if (wide) printf(spec, value);
    else printf(spec, (uint32_t)value);
    _Pragma("GCC diagnostic pop") return at + n + 1;
}

static bool builtin_printf(Block *b, Thread *t, const PtxCallSite *site) {
    char format[4096];
    uint64_t args = arg_u64(t, site, 1);
    if (!device_string(b, t, arg_u64(t, site, 0), format, sizeof format)) return false;
    for (const char *at = format; at && *at;) {
        if (*at == '%')
            at = print_one(b, t, at, &args);
        else
            putchar(*at++);
    }
    uint32_t one = 1;
    if (site->has_ret) memcpy((void *)(uintptr_t)(t->R[SLOT_CALL] + site->ret.offset), &one, 4);
    return !b->run->fault;
}

static bool builtin_assert(Block *b, Thread *t, const PtxCallSite *site) {
    char what[256], file[256];
    if (site->nargs < 3 || !device_string(b, t, arg_u64(t, site, 0), what, sizeof what) ||
        !device_string(b, t, arg_u64(t, site, 1), file, sizeof file))
        return false;
    return ptx_fault(b, t, FAULT_assert, "%s:%u: Assertion `%s` failed", file,
                     (unsigned)arg_u64(t, site, 2), what);
}

/* -- Calls ------------------------------------------------------------------------------------ */

static const PtxFunc *call_target(Block *b, Thread *t, const PtxCallSite *site) {
    if (site->callee) return site->callee;
    uint64_t id = t->R[site->target] - PTX_FUNC_TAG;
    const PtxModule *m = b->run->launch->module;
    if (id < m->nfuncs && (m->funcs[id]->defined || m->funcs[id]->builtin) &&
        m->funcs[id]->nparams == site->nargs)
        return m->funcs[id];
    ptx_fault(b, t, FAULT_instruction, "call through a pointer that is no function");
    return NULL;
}

bool ptx_call(Block *b, Thread *t, const PtxIns *in) {
    const PtxCallSite *site = &t->fn->calls[in->imm];
    const PtxFunc *fn = call_target(b, t, site);
    t->pc = in;
    if (!fn) return false;
    if (fn->builtin && !fn->defined) {
        bool ok = fn->builtin == BUILTIN_vprintf ? builtin_printf(b, t, site)
                                                 : builtin_assert(b, t, site);
        t->pc = in + 1;
        return ok;
    }
    if (t->depth == b->run->max_depth) return ptx_fault(b, t, FAULT_stack, "stack overflow");
    uint64_t caller = t->R[SLOT_CALL];
    t->frames[t->depth++] = (Frame){t->fn, in, t->R};
    if (!ptx_enter(b, t, fn)) return false;
    for (uint32_t i = 0; i < site->nargs; i++)
        memcpy((void *)(uintptr_t)(t->R[SLOT_PARAM] + fn->params[i].offset),
               (void *)(uintptr_t)(caller + site->args[i].offset), fn->params[i].size);
    return true;
}

void ptx_return(Thread *t) {
    const PtxFunc *fn = t->fn;
    uint64_t result = t->R[SLOT_PARAM] + fn->ret.offset;
    const Frame *frame = &t->frames[--t->depth];
    t->local_top -= ptx_frame_bytes(fn);
    t->fn = frame->fn;
    t->R = frame->R;
    t->pc = frame->resume + 1;
    const PtxCallSite *site = &t->fn->calls[frame->resume->imm];
    if (site->has_ret)
        memcpy((void *)(uintptr_t)(t->R[SLOT_CALL] + site->ret.offset), (void *)(uintptr_t)result,
               site->ret.size);
}
