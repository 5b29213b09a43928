/* strides.c - on GPUs: start + k * step of a loop's counter k becomes a variable that grows by step.
 *
 *   header: k = phi(0, k+1)                     header: k = phi(0, k+1); i = phi(start, next)
 *           i = start + k * step          =>            i; latch: next = i + step
 *
 * That is how a grid-stride loop is written, and how every `for` over a range with a step arrives here. LLVM
 * would take the products of thread and block numbers apart and multiply 64-bit integers in each round. On the
 * CPU it finds the variable itself. */
#include "codegen/opt/pass.h"

typedef struct Variable {
    Ref counter, start, step;
    Ref phi;
} Variable;

typedef struct Strides {
    Func *func;
    Cfg cfg;
    int32_t loop, header, entry_at;
    Vec(Variable) found;
} Strides;

static bool invariant(const Strides *s, Ref ref) {
    return !opt_in_loop(&s->cfg, s->loop, ir_inst(s->func, ref)->block);
}

/* A phi of the header that starts at 0 and grows by 1. */
static bool is_counter(const Strides *s, Ref ref) {
    const Inst *phi = ir_inst(s->func, ref);
    int64_t n;
    if (phi->op != OP_phi || phi->block != s->header) return false;
    if (!opt_const_int(s->func, ir_arg(s->func, ref, s->entry_at), &n) || n != 0) return false;
    for (int32_t i = 0; i < phi->nargs; i++) {
        Ref next = ir_arg(s->func, ref, i);
        if (i == s->entry_at) continue;
        if (ir_inst(s->func, next)->op != OP_add || ir_arg(s->func, next, 0) != ref ||
            !opt_const_int(s->func, ir_arg(s->func, next, 1), &n) || n != 1)
            return false;
    }
    return true;
}

/* Is `ref` start + counter * step? Either order of both. */
static bool match(const Strides *s, Ref ref, Variable *out) {
    const Func *f = s->func;
    if (ir_inst(f, ref)->op != OP_add) return false;
    for (int k = 0; k < 2; k++) {
        Ref product = ir_arg(f, ref, k), start = ir_arg(f, ref, 1 - k);
        if (ir_inst(f, product)->op != OP_mul || invariant(s, product) || !invariant(s, start))
            continue;
        for (int j = 0; j < 2; j++) {
            *out = (Variable){ir_arg(f, product, j), start, ir_arg(f, product, 1 - j), NO_REF};
            if (invariant(s, out->step) && is_counter(s, out->counter)) return true;
        }
    }
    return false;
}

/* The value at every round is what the sum was, so the increment wraps where the sum did. It stands at the latches. */
static void make_phi(Strides *s, Variable *v) {
    Func *f = s->func;
    const Type *type = ir_type(f, v->counter);
    int32_t n = f->blocks.items[s->header].preds.len;
    v->phi = ir_insert(f, s->header, 0, OP_phi, NULL, 0);
    ir_inst(f, v->phi)->type = type;
    for (int32_t i = 0; i < n; i++) {
        Ref value = v->start;
        if (i != s->entry_at) {
            int32_t latch = f->blocks.items[s->header].preds.items[i];
            int32_t last = f->blocks.items[latch].insts.len - 1;
            value = ir_insert(f, latch, last, OP_add, (Ref[]){v->phi, v->step}, 2);
            ir_inst(f, value)->type = type;
        }
        ir_add_arg(f, v->phi, value);
    }
}

static Ref variable(PassContext *ctx, Strides *s, const Variable *wanted) {
    for (int32_t i = 0; i < s->found.len; i++) {
        const Variable *v = &s->found.items[i];
        if (v->counter == wanted->counter && v->start == wanted->start && v->step == wanted->step)
            return v->phi;
    }
    vec_push(ctx->arena, &s->found, *wanted);
    make_phi(s, &vec_last(&s->found));
    return vec_last(&s->found).phi;
}

static void visit(PassContext *ctx, Strides *s) {
    const Loop *loop = &s->cfg.loops.items[s->loop];
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        int32_t block = loop->blocks.items[i];
        for (int32_t k = 0; k < s->func->blocks.items[block].insts.len; k++) {
            Ref ref = s->func->blocks.items[block].insts.items[k];
            int32_t before = s->func->blocks.items[s->header].insts.len;
            Variable v;
            if (!match(s, ref, &v)) continue;
            ir_replace_uses(s->func, ref, variable(ctx, s, &v));
            if (block == s->header) /* it grew in front of us */
                k += s->func->blocks.items[block].insts.len - before;
        }
    }
}

void opt_strides(PassContext *ctx, Func *func) {
    if (target_is_host(ctx->options->infer.target)) return;
    Strides s = {.func = func};
    cfg_compute(&s.cfg, ctx->arena, func);
    for (s.loop = 0; s.loop < s.cfg.loops.len; s.loop++) {
        s.header = s.cfg.loops.items[s.loop].header;
        const Block *header = &func->blocks.items[s.header];
        s.entry_at = -1;
        int32_t outside = 0;
        for (int32_t i = 0; i < header->preds.len; i++) {
            if (opt_in_loop(&s.cfg, s.loop, header->preds.items[i])) continue;
            s.entry_at = i;
            outside++;
        }
        if (outside != 1) continue;
        s.found.len = 0;
        visit(ctx, &s);
    }
}
