/* report.c - what is left in each loop when all passes are done, for those who ask (f.inspect_loops()).
 *
 * One line a loop: "file\tline\tdepth\tfunction\twhat=number ...\twhy": how many index checks, wraparounds and tests that raise
 * its own blocks have, whether every round counts for interruption, whether a copy with all checks stands behind it, and what keeps
 * its rounds from being done several at a time. Only what the passes know is said: LLVM may find reasons of its own. */
#include "codegen/opt/pass.h"

typedef struct Left {
    int checks, wraps, guards, polls, calls, exits, divisions;
    int32_t line;
    bool float_sum, counted, innermost, handled;
} Left;

typedef struct Report {
    const Func *func;
    Cfg cfg;
    StrBuf *out;
} Report;

/* By what is no power of two, which would be a shift or a mask. */
static bool is_division(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t by;
    if (!type_is_int(inst->type) || inst->sub & (DIV_BELOW | DIV_ABOVE)) return false;
    return !opt_const_int(func, ir_arg(func, ref, 1), &by) || by <= 0 || (by & (by - 1));
}

static void count(Left *left, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    switch ((int)inst->op) {
    case OP_check_index: left->checks++; break;
    case OP_wrap_index: left->wraps++; break;
    case OP_guard: left->guards++; break;
    case OP_poll: left->polls += inst->sub != FLAG_LATER; break;
    case OP_call: left->calls += !opt_is_outlined(inst->u.func); break;
    case OP_lib: left->calls += !lib_row_of(inst) || !(lib_row_of(inst)->flags & LIB_PURE); break;
    case OP_floordiv:
    case OP_mod: left->divisions += is_division(func, ref); break;
    default: break;
    }
    left->handled |= inst->error != NO_BLOCK;
}

/* A phi of the header that each round adds to, as a float. */
static bool sums_floats(const Func *func, const Cfg *cfg, int32_t loop) {
    const Block *header = &func->blocks.items[cfg->loops.items[loop].header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Ref phi = header->insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        if (!ir_type(func, phi) || !type_is_float(ir_type(func, phi))) continue;
        for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++) {
            Ref arg = ir_arg(func, phi, k);
            if (arg != phi && opt_in_loop(cfg, loop, ir_inst(func, arg)->block)) return true;
        }
    }
    return false;
}

/* Does a comparison with what stands still end the loop? */
static bool is_counted(const Report *r, int32_t loop, int32_t block) {
    const Func *func = r->func;
    const Inst *last = ir_inst(func, ir_terminator(func, block));
    if (last->op != OP_branch) return false;
    Ref test = ir_arg(func, ir_terminator(func, block), 0);
    if (ir_inst(func, test)->op != OP_lt && ir_inst(func, test)->op != OP_le) return false;
    return !opt_in_loop(&r->cfg, loop, ir_inst(func, ir_arg(func, test, 0))->block) ||
           !opt_in_loop(&r->cfg, loop, ir_inst(func, ir_arg(func, test, 1))->block);
}

/* Does a test in front of the loop choose between it and a copy with all checks? */
static bool has_copy(const Func *func, int32_t line) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_call && opt_is_outlined(ir_inst(func, ref)->u.func) &&
            ir_span_of(func, ref).line == line)
            return true;
    return false;
}

/* Work on the header's block of a strip belongs to the loop inside: what it does in between is not done in each round. */
static bool is_own(const Report *r, int32_t loop, int32_t block) {
    return r->cfg.loop_of[block] == loop && !r->func->blocks.items[block].cold;
}

static Left look(const Report *r, int32_t loop) {
    const Func *func = r->func;
    const Loop *info = &r->cfg.loops.items[loop];
    Left left = {.innermost = true};
    for (int32_t l = 0; l < r->cfg.loops.len; l++)
        if (r->cfg.loops.items[l].parent == loop) left.innermost = false;
    left.float_sum = sums_floats(func, &r->cfg, loop);
    left.line = ir_span_of(func, ir_terminator(func, info->header)).line;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        int32_t block = info->blocks.items[i], to[3];
        if (!is_own(r, loop, block)) continue;
        int n = ir_successors(func, block, to);
        for (int k = 0; k < n; k++) {
            bool out = !opt_in_loop(&r->cfg, loop, to[k]) && !func->blocks.items[to[k]].cold;
            left.exits += out;
            left.counted |= out && is_counted(r, loop, block);
        }
        for (int32_t k = 0; k < func->blocks.items[block].insts.len; k++)
            count(&left, func, func->blocks.items[block].insts.items[k]);
    }
    return left;
}

static const char *obstacle(const Left *left) {
    if (left->calls) return "a call";
    if (left->handled) return "what may raise into a handler";
    if (left->checks) return "an index check, which may leave the loop";
    if (left->guards) return "a test that may raise";
    if (left->exits > 1) return "a way out in the middle";
    if (!left->counted) return "the number of rounds is not known before";
    if (left->float_sum) return "floats that are summed or kept in Python's order";
    if (left->divisions) return "division of ints, which processors do one by one";
    return "";
}

static void tell(Report *r, int32_t loop) {
    const Func *func = r->func;
    Left left = look(r, loop);
    int depth = 1;
    for (int32_t l = r->cfg.loops.items[loop].parent; l >= 0; l = r->cfg.loops.items[l].parent)
        depth += !func->blocks.items[r->cfg.loops.items[l].header].strips;
    if (left.line <= 0) return;
    buf_printf(r->out, STR_FMT "\t%d\t%d\t" STR_FMT "\t", STR_ARG(func->file), (int)left.line,
               depth, STR_ARG(func->user_name.len ? func->user_name : func->name));
    buf_printf(r->out, "checks=%d wraps=%d guards=%d polls=%d copy=%d innermost=%d\t%s\n",
               left.checks, left.wraps, left.guards, left.polls, has_copy(func, left.line),
               left.innermost, left.innermost ? obstacle(&left) : "");
}

void opt_report(Module *module, StrBuf *out) {
    for (int32_t i = 0; i < module->funcs.len; i++) {
        Report r = {.func = module->funcs.items[i], .out = out};
        if (opt_is_outlined(r.func) || !r.func->typed) continue;
        cfg_compute(&r.cfg, module->arena, r.func);
        for (int32_t l = 0; l < r.cfg.loops.len; l++) {
            const Block *header = &r.func->blocks.items[r.cfg.loops.items[l].header];
            if (!header->strips && !header->cold) tell(&r, l);
        }
    }
}
