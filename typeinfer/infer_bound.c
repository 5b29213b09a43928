/* infer_bound.c - locals that may be unassigned: tested at run time by a bool that goes along with them. */
#include "typeinfer/infer.h"

/* Typed bool: is the local assigned? Phis get a parallel web of bool phis, completed at the end. */
static Ref emit_bound(Infer *in, Ref ref) {
    Emit *e = in->emit;
    if (e->bound[ref]) return e->bound[ref];
    const Inst *inst = ir_inst(in->f, ref);
    const Type *boolean = bool_type(in->types);
    if (inst->op != OP_phi || !in->facts[ref].unbound)
        return e->bound[ref] = emit_int(e, boolean, inst->op != OP_unbound);
    int32_t first = e->first[inst->block];
    Ref phi = ir_insert(e->out, first, 0, OP_phi, NULL, 0);
    ir_inst(e->out, phi)->type = boolean;
    if (e->insert_at >= 0 && e->block == first) e->insert_at++;
    if (first == 0) e->pool_at++;
    e->bound[ref] = phi;
    vec_push(in->arena, &e->bound_phis, ref);
    return phi;
}

/* One operand for each typed predecessor, in order. */
void infer_finish_bound(Infer *in) {
    Emit *e = in->emit;
    for (int32_t i = 0; i < e->bound_phis.len; i++) {
        Ref ref = e->bound_phis.items[i];
        const Inst *phi = ir_inst(in->f, ref);
        const Block *from = &in->f->blocks.items[phi->block];
        int32_t first = e->first[phi->block];
        for (int32_t p = 0; p < e->out->blocks.items[first].preds.len; p++) {
            int32_t source = e->origin.items[e->out->blocks.items[first].preds.items[p]];
            for (int32_t k = 0; k < from->preds.len; k++) {
                if (from->preds.items[k] != source) continue;
                ir_add_arg(e->out, e->bound[ref], emit_bound(in, ir_arg(in->f, ref, k)));
                break;
            }
        }
    }
}

/* Only what has no zero, or no value at all, is still unbound here: fact_join. */
static bool unbound_error(Infer *in, Ref ref, const Fact *f) {
    const Str *name = ir_inst(in->f, ref)->u.name;
    if (!ti_stop(in)) return false;
    ti_fail(in, ref, E0212, ti_c_text(in, *name));
    if (!f->type) return false;
    diag_note(in->diags, NULL,
              "a kernel does not test that when it runs, except with debug=True: a number without "
              "value is then 0, but there is no such %s: give it a value before the branch or loop "
              "that may be left out",
              ti_text(in, f->type));
    return false;
}

bool infer_check_bound(Infer *in, Ref ref, Val *out) {
    Emit *e = in->emit;
    Ref arg = ir_arg(in->f, ref, 0);
    *out = infer_val(in, arg);
    if (out->f.reported) return in->stop = STOP_REPORTED, false;
    if (out->f.conflict) return true; /* an error at its use */
    if (!out->f.unbound) return out->f.type || ((in->stop = STOP_UNKNOWN), false);
    if (!in->guards) return unbound_error(in, ref, &out->f);
    if (e) {
        const Type *boolean = bool_type(in->types);
        Ref missing =
            out->f.type ? emit1(e, OP_not, boolean, emit_bound(in, arg)) : emit_int(e, boolean, 1);
        emit_named_guard(e, GUARD_unbound_local, missing, NULL, 0, ir_inst(in->f, ref)->u.name);
    }
    out->f.unbound = false;
    return out->f.type || ((in->stop = STOP_UNBOUND), false);
}
