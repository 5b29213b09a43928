/* private.c - variables of an iteration's own.
 *
 *   for i in prange(n):            header: v = phi [undef], [...]    bound = phi [false], [...]
 *       for j in range(m[i]):        ...
 *           v = ...                  guard.unbound_local "v" not bound'
 *       out[i] = v
 *
 * A variable that has no value before the loop, and that nobody reads behind it, is what an earlier iteration left there where an
 * iteration reads before it assigns. In a parallel loop there is no earlier iteration: each begins without a value, and
 * such a read is an UnboundLocalError. What says whether the variable has one (a bool that guards alone look at) begins as
 * false with it; where that cannot be, nothing is done, and carried.c says what is wrong. */
#include "codegen/opt/parallel.h"

static Ref start_of(const Region *r, Ref phi) {
    const Block *header = &r->func->blocks.items[r->loop.header];
    for (int32_t k = 0; k < header->preds.len; k++)
        if (header->preds.items[k] == r->loop.entry_pred) return ir_arg(r->func, phi, k);
    return NO_REF;
}

static bool is_guard(const Inst *inst) {
    return inst->op == OP_guard && inst->sub == GUARD_unbound_local;
}

static bool uses(const Func *func, Ref by, Ref ref) {
    for (int32_t k = 0; k < ir_inst(func, by)->nargs; k++)
        if (ir_arg(func, by, k) == ref) return true;
    return false;
}

typedef struct Users {
    bool outside, guards, others;
} Users;

/* Who looks at the phi or at what phis of the loop make of it: guards (through `not`), or others. */
static Users find_users(const Region *r, Ref phi) {
    const Func *func = r->func;
    Users found = {0};
    Bits web = bits_new(r->ctx->arena, func->insts.len);
    Vec(Ref) members = {0};
    vec_push(r->ctx->arena, &members, phi);
    bits_set(&web, phi);
    for (int32_t i = 0; i < members.len; i++)
        for (Ref by = 1; by < func->insts.len; by++) {
            const Inst *inst = ir_inst(func, by);
            if (inst->op == OP_removed || !uses(func, by, members.items[i])) continue;
            bool joins = inst->op == OP_phi || inst->op == OP_not;
            found.outside |= !r->inside[inst->block];
            found.guards |= is_guard(inst);
            found.others |= !joins && !is_guard(inst);
            if (!joins || !r->inside[inst->block] || bits_get(&web, by)) continue;
            bits_set(&web, by);
            vec_push(r->ctx->arena, &members, by);
        }
    return found;
}

/* Each phi of the header that begins without a value, and each that says so; false: one of them is looked at otherwise. */
static bool find_private(const Region *r, Ref *start) {
    const Func *func = r->func;
    const Block *header = &func->blocks.items[r->loop.header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Ref phi = header->insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        Ref from = start_of(r, phi);
        const Inst *before = from ? ir_inst(func, from) : NULL;
        if (phi == r->loop.counter || !before) continue;
        bool flag = before->op == OP_const && before->type->kind == TY_bool && !before->u.value->i;
        if (before->op != OP_undef && !flag) continue;
        Users users = find_users(r, phi);
        if (flag && (!users.guards || users.others)) { /* a variable of the user's */
            if (users.guards) return false;
            continue;
        }
        if (users.outside) return false;
        start[phi] = from;
    }
    return true;
}

void region_make_private(Region *r) {
    Ref *start = arena_array(r->ctx->arena, Ref, r->func->insts.len);
    if (find_private(r, start)) ir_replace_many(r->func, start);
}
