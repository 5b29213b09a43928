/* simplify.c - what later passes should not have to look at: wraparound of indices that cannot be negative, guards that cannot fail,
 * casts to the same type, sums with zero, views that only fix indices, casts on the ways to a join, blocks that only follow each other.
 * LLVM does the rest. */
#include "codegen/opt/magnitude.h"
#include "codegen/opt/pass.h"

static bool is_const_bool(const Func *func, Ref ref, bool *value) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_const || inst->u.value->kind != CONST_BOOL) return false;
    *value = inst->u.value->i != 0;
    return true;
}

/* A comparison of an integer with a constant that its sign decides. */
static bool never_true(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    bool value;
    if (is_const_bool(func, ref, &value)) return !value;
    if (inst->op == OP_lt && opt_const_int(func, ir_arg(func, ref, 1), &k) && k <= 0)
        return opt_nonnegative(func, ir_arg(func, ref, 0), false);
    if (inst->op == OP_lt && opt_const_int(func, ir_arg(func, ref, 0), &k)) {
        int64_t other;
        Ref a = ir_arg(func, ref, 0), b = ir_arg(func, ref, 1);
        return type_class(ir_type(func, a)) == CLASS_SINT &&
               type_class(ir_type(func, b)) == CLASS_SINT && opt_const_int(func, b, &other) &&
               k >= other;
    }
    if (inst->op == OP_eq) {
        int64_t a, b;
        return opt_const_int(func, ir_arg(func, ref, 0), &a) &&
               opt_const_int(func, ir_arg(func, ref, 1), &b) && a != b;
    }
    return false;
}

/* The value that can stand for `ref` everywhere, or NO_REF. */
static Ref simpler(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    switch (inst->op) {
    case OP_wrap_index:
        return opt_nonnegative(func, ir_arg(func, ref, 0), true) ? ir_arg(func, ref, 0) : NO_REF;
    case OP_cast:
        return ir_type(func, ir_arg(func, ref, 0)) == inst->type ? ir_arg(func, ref, 0) : NO_REF;
    case OP_add:
        if (!type_is_int(inst->type)) return NO_REF;
        if (opt_const_int(func, ir_arg(func, ref, 1), &k) && k == 0) return ir_arg(func, ref, 0);
        if (opt_const_int(func, ir_arg(func, ref, 0), &k) && k == 0) return ir_arg(func, ref, 1);
        return NO_REF;
    case OP_mul:
        if (!type_is_int(inst->type)) return NO_REF;
        if (opt_const_int(func, ir_arg(func, ref, 1), &k) && k == 1) return ir_arg(func, ref, 0);
        if (opt_const_int(func, ir_arg(func, ref, 0), &k) && k == 1) return ir_arg(func, ref, 1);
        return NO_REF;
    default: return NO_REF;
    }
}

/* -- views --------------------------------------------------------------------------------------- */

/* Axis `axis` of a view: the same one of what it looks at (`*array`, `*from`), or the operand that counts it; false: new. */
static bool axis_of_view(const Func *func, Ref view, int64_t axis, Ref *array, int64_t *from,
                         Ref *count) {
    Str items = *ir_inst(func, view)->u.name;
    int32_t operand = 1;
    int64_t source = 0, k = 0;
    for (int32_t i = 0; i < items.len; i++) {
        char item = items.bytes[i];
        bool here = item != 'i' && k++ == axis;
        if (here && item == 'n') return false;
        *array = ir_arg(func, view, 0), *from = source;
        *count = item == 's' ? ir_arg(func, view, operand + 2) : NO_REF;
        if (here) return true;
        operand += item == 'i' ? 1 : item == 's' ? 3 : 0;
        source += item != 'n';
    }
    return false;
}

/* A length of a view is one of the array that it looks at; what counts an axis, or NO_REF. */
static Ref length_behind(Func *func, Ref shape) {
    for (;;) {
        Ref array = ir_arg(func, shape, 0), count = NO_REF;
        int64_t axis = ir_inst(func, shape)->imm;
        if (ir_inst(func, array)->op == OP_transpose) {
            axis = ir_type(func, array)->ndim - 1 - axis;
            array = ir_arg(func, array, 0);
        } else if (ir_inst(func, array)->op != OP_view ||
                   !axis_of_view(func, array, axis, &array, &axis, &count)) {
            return NO_REF;
        }
        if (count) return count;
        ir_args(func, shape)[0] = array;
        ir_inst(func, shape)->imm = axis;
    }
}

/* An element of a view that fixes indices, as A[i][j] does, is one of the array: A[i, j]. */
static bool element_behind(Func *func, Arena *arena, Ref ref) {
    bool store = ir_inst(func, ref)->op == OP_store;
    Ref view = ir_arg(func, ref, 0);
    if (ir_inst(func, view)->op != OP_view) return false;
    Str items = *ir_inst(func, view)->u.name;
    Ref *args = arena_array(arena, Ref, items.len + 2);
    int32_t n = 0, operand = 1, index = 1;
    args[n++] = ir_arg(func, view, 0);
    for (int32_t i = 0; i < items.len; i++) {
        if (items.bytes[i] == 's') return false;
        if (items.bytes[i] == 'i') args[n++] = ir_arg(func, view, operand++);
        if (items.bytes[i] == 'f') args[n++] = ir_arg(func, ref, index);
        index += items.bytes[i] != 'i';
    }
    if (store) args[n++] = ir_arg(func, ref, index);
    ir_set_args(func, ref, args, n);
    return true;
}

static void look_through_views(Func *func, Arena *arena, Ref *map) {
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++) {
            Ref ref = block->insts.items[i];
            Op op = (Op)ir_inst(func, ref)->op;
            if (op == OP_shape) map[ref] = length_behind(func, ref);
            while ((op == OP_load || op == OP_store) && element_behind(func, arena, ref)) {
            }
        }
    }
}

/* -- returns --------------------------------------------------------------------------------------- */

/* Item k of what `block` returns: of a tuple made for that, or the value itself. NO_REF: neither. */
static Ref returned_item(const Func *func, int32_t block, int32_t k) {
    Ref value = ir_arg(func, ir_terminator(func, block), 0);
    if (func->result->kind != TY_TUPLE) return value;
    return ir_inst(func, value)->op == OP_tuple ? ir_arg(func, value, k) : NO_REF;
}

/* Numbers, one of them a float that here is a cast, and elsewhere a constant? */
static bool wants_one_return(const Func *func, const int32_t *blocks, int32_t n) {
    bool tuple = func->result->kind == TY_TUPLE, wanted = false;
    int32_t items = tuple ? func->result->nitems : 1;
    for (int32_t k = 0; k < items; k++) {
        const Type *type = tuple ? func->result->items[k] : func->result;
        bool cast = false, constant = false;
        if (type->kind >= TY_SCALARS) return false;
        for (int32_t i = 0; i < n; i++) {
            Ref item = returned_item(func, blocks[i], k);
            if (!item) return false;
            cast |= ir_inst(func, item)->op == OP_cast;
            constant |= ir_inst(func, item)->op == OP_const;
        }
        wanted |= type_is_machine_float(type) && cast && constant;
    }
    return wanted;
}

static void return_once(PassContext *ctx, Func *func, const int32_t *blocks, int32_t n) {
    bool tuple = func->result->kind == TY_TUPLE;
    int32_t items = tuple ? func->result->nitems : 1, join = ir_block_new(func);
    Ref *args = arena_array(ctx->arena, Ref, n), *joined = arena_array(ctx->arena, Ref, items + 1);
    int32_t span = ir_inst(func, ir_terminator(func, blocks[0]))->span;
    for (int32_t k = 0; k < items; k++) {
        for (int32_t i = 0; i < n; i++)
            args[i] = returned_item(func, blocks[i], k);
        joined[k] = ir_append(func, join, OP_phi, args, n);
        ir_inst(func, joined[k])->type = ir_type(func, args[0]);
    }
    for (int32_t i = 0; i < n; i++) {
        ir_remove(func, ir_terminator(func, blocks[i]));
        Builder b = {func, blocks[i], -1, span, NO_BLOCK};
        b_jump(&b, join);
    }
    Builder b = {func, join, -1, span, NO_BLOCK};
    Ref value = tuple ? b_inst(&b, OP_tuple, func->result, joined, items) : joined[0];
    b_return(&b, value);
}

/* Returns are joins, too: LLVM makes one of `if x < 0.0: return 0.0` and `return x`. */
static void join_returns(PassContext *ctx, Func *func) {
    int32_t n = 0, *blocks = arena_array(ctx->arena, int32_t, func->blocks.len);
    if (!func->result) return;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        Ref end = func->blocks.items[b].removed ? NO_REF : ir_terminator(func, b);
        if (!end || ir_inst(func, end)->op != OP_return) continue;
        if (!ir_inst(func, end)->nargs || func->blocks.items[b].cold) return;
        blocks[n++] = b;
    }
    if (n > 1 && wants_one_return(func, blocks, n)) return_once(ctx, func, blocks, n);
}

/* -- joins --------------------------------------------------------------------------------------- */

enum { MOST_MOVES = 2 }; /* of casts behind one join */

typedef struct Joins {
    Func *func;
    Arena *arena;
    Cfg cfg;
    const Type *f32, *f64;
    Ref *map; /* phis of one of the two -> casts of phis of the other */
} Joins;

/* What an operand of a join is in `type`, the other of the two, without a loss; or NO_REF. */
static Ref in_other_type(const Joins *j, Ref ref, const Type *type) {
    if (j->map[ref]) ref = j->map[ref];
    const Inst *inst = ir_inst(j->func, ref);
    if (inst->op == OP_cast) {
        Ref from = ir_arg(j->func, ref, 0);
        return ir_type(j->func, from) == type ? from : NO_REF;
    }
    if (inst->op != OP_const || inst->u.value->kind != CONST_FLOAT) return NO_REF;
    double value = inst->u.value->re;
    return (double)(float)value == value ? ir_const_float(j->func, type, value) : NO_REF;
}

/* Is it a join of floats that a cast reaches? */
static bool has_cast(const Joins *j, Ref phi) {
    const Inst *inst = ir_inst(j->func, phi);
    if (inst->op != OP_phi || (inst->type != j->f64 && inst->type != j->f32)) return false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(j->func, phi, k);
        if ((j->map && j->map[arg]) || ir_inst(j->func, arg)->op == OP_cast) return true;
    }
    return false;
}

/* Does a comparison of `ref` decide which way leads to `block`? */
static bool decides(const Joins *j, Ref ref, int32_t block) {
    Ref branch = ir_terminator(j->func, j->cfg.idom[block]);
    if (ir_inst(j->func, branch)->op != OP_branch) return false;
    Ref test = ir_arg(j->func, branch, 0);
    while (ir_inst(j->func, test)->op == OP_not)
        test = ir_arg(j->func, test, 0);
    for (int32_t k = 0; k < ir_inst(j->func, test)->nargs; k++)
        if (ir_arg(j->func, test, k) == ref) return true;
    return false;
}

static bool is_phi(const Func *func, int32_t block, int32_t at) {
    return ir_inst(func, func->blocks.items[block].insts.items[at])->op == OP_phi;
}

/* Where a float is a constant or the cast of one of the other width whichever way it came, the cast stands behind the join:
 * `0.0 if x < 0.0 else x`. One conversion instead of several; and LLVM 19 takes a choice between a constant and a cast for a minimum
 * or maximum, which it moves before the cast with the order of `<=` instead of `<`: -0.0 became 0.0 (FLT-03). Joins of float32
 * stay as they are where that cannot happen: float64 takes twice the room. */
static void cast_behind_join(Joins *j, Ref phi) {
    Func *func = j->func;
    const Type *type = ir_type(func, phi), *other = type == j->f64 ? j->f32 : j->f64;
    int32_t n = ir_inst(func, phi)->nargs, block = ir_inst(func, phi)->block;
    int32_t span = ir_inst(func, phi)->span;
    bool wanted = type == j->f64;
    if (!has_cast(j, phi)) return;
    Ref *args = arena_array(j->arena, Ref, n);
    for (int32_t k = 0; k < n; k++) {
        args[k] = in_other_type(j, ir_arg(func, phi, k), other);
        if (!args[k]) return;
        wanted = wanted || decides(j, args[k], block);
    }
    if (!wanted) return;
    int32_t at = opt_position(func, phi);
    Ref join = ir_insert(func, block, at, OP_phi, args, n);
    ir_inst(func, join)->type = other;
    ir_remove(func, phi);
    while (is_phi(func, block, at))
        at++;
    Ref cast = ir_insert(func, block, at, OP_cast, &join, 1);
    ir_inst(func, cast)->type = type;
    ir_inst(func, cast)->span = span;
    j->map[phi] = cast;
}

/* Instructions there will be at most; 0: there are no joins to move casts behind. */
static int32_t room_for_joins(const Joins *j) {
    int32_t n = j->func->insts.len, room = n;
    bool any = false;
    for (Ref ref = 1; ref < n; ref++) {
        const Inst *inst = ir_inst(j->func, ref);
        if (inst->op != OP_phi || !type_is_float(inst->type)) continue;
        any = any || has_cast(j, ref);
        room += MOST_MOVES * (2 + inst->nargs); /* a phi, a cast, constants */
    }
    return any ? room : 0;
}

static void cast_behind_joins(PassContext *ctx, Func *func) {
    Joins j = {.func = func,
               .arena = ctx->arena,
               .f32 = type_scalar(ctx->module->types, TY_f32),
               .f64 = type_scalar(ctx->module->types, TY_f64)};
    int32_t room = room_for_joins(&j);
    if (!room) return;
    cfg_compute(&j.cfg, ctx->arena, func);
    j.map = arena_array(ctx->arena, Ref, room);
    for (int32_t k = 0; k < j.cfg.nrpo; k++) {
        int32_t b = j.cfg.rpo[k], loop = j.cfg.loop_of[b];
        /* headers of loops have nothing but phis and a test */
        if (loop >= 0 && j.cfg.loops.items[loop].header == b) continue;
        for (int32_t i = 0; is_phi(func, b, i); i++)
            for (int32_t times = 0; times < MOST_MOVES; times++) /* casts of casts */
                cast_behind_join(&j, func->blocks.items[b].insts.items[i]);
    }
    ir_replace_many(func, j.map);
}

/* -- floats that become ints and floats again ------------------------------------------------------- */

/* Is it what int(x), round(x) or math.floor(x) gives, on the way where x fits and on the other? */
static bool is_int_of_float(const Func *func, Ref phi) {
    const Inst *inst = ir_inst(func, phi);
    bool fits = false;
    if (inst->op != OP_phi || inst->type->kind != TY_i64) return false;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(func, phi, k);
        const Inst *cast = ir_inst(func, arg);
        if (cast->op != OP_cast || !type_is_machine_float(ir_type(func, ir_arg(func, arg, 0))))
            return false;
        fits |= cast->sub == FLAG_INSIDE;
    }
    return fits;
}

/* The one type of floats that all users of each such int make of it: `wanted`. NULL: there is another use, or none. */
static void find_wanted(const Func *func, Arena *arena, const Bits *ints, const Type **wanted) {
    Bits other = bits_new(arena, func->insts.len);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            Ref arg = ir_arg(func, ref, k);
            if (!bits_get(ints, arg) || bits_get(&other, arg)) continue;
            bool again = inst->op == OP_cast && type_is_machine_float(inst->type);
            if (again && (!wanted[arg] || wanted[arg] == inst->type)) {
                wanted[arg] = inst->type;
            } else {
                wanted[arg] = NULL;
                bits_set(&other, arg);
            }
        }
    }
}

/* `x - n * round(x / n)`: nobody wants the int, and where it fits it need not be made: its float is then what was rounded
 * (lower_cast). So each way to the join makes its own float. */
static void floats_of_ints(PassContext *ctx, Func *func) {
    int32_t n = func->insts.len;
    Ref first = 1;
    while (first < n && !is_int_of_float(func, first))
        first++;
    if (first == n) return;
    Bits ints = bits_new(ctx->arena, n);
    for (Ref ref = first; ref < n; ref++)
        if (is_int_of_float(func, ref)) bits_set(&ints, ref);
    const Type **wanted = arena_array(ctx->arena, const Type *, n);
    find_wanted(func, ctx->arena, &ints, wanted);
    Ref *joined = arena_array(ctx->arena, Ref, n);
    for (Ref phi = 1; phi < n; phi++) {
        if (!wanted[phi]) continue;
        int32_t nargs = ir_inst(func, phi)->nargs;
        Ref *args = arena_array(ctx->arena, Ref, nargs);
        for (int32_t k = 0; k < nargs; k++) {
            Ref arg = ir_arg(func, phi, k);
            args[k] = ir_insert(func, ir_inst(func, arg)->block, opt_position(func, arg) + 1,
                                OP_cast, &arg, 1);
            ir_inst(func, args[k])->type = wanted[phi];
            ir_inst(func, args[k])->span = ir_inst(func, arg)->span;
        }
        joined[phi] = ir_insert(func, ir_inst(func, phi)->block, opt_position(func, phi), OP_phi,
                                args, nargs);
        ir_inst(func, joined[phi])->type = wanted[phi];
    }
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    for (Ref ref = 1; ref < n; ref++)
        if (ir_inst(func, ref)->op == OP_cast) map[ref] = joined[ir_arg(func, ref, 0)];
    ir_replace_many(func, map);
}

/* Does the branch ask whether a float is no int64, which it always is? As inference writes int(x). */
static bool always_fits(PassContext *ctx, Func *func, const Cfg *cfg, Ref branch) {
    const Inst *inst = ir_inst(func, branch);
    if (inst->op != OP_branch || !func->blocks.items[inst->target[0]].cold) return false;
    Ref outside = ir_arg(func, branch, 0);
    Ref inside = ir_inst(func, outside)->op == OP_not ? ir_arg(func, outside, 0) : NO_REF;
    if (!inside || ir_inst(func, inside)->op != OP_lt) return false;
    Ref size = ir_arg(func, inside, 0), limit = ir_arg(func, inside, 1);
    if (!opt_is_magnitude(func, size) || ir_inst(func, limit)->op != OP_const ||
        ir_inst(func, limit)->u.value->re != 0x1p63)
        return false;
    Magnitudes m = opt_magnitudes(ctx, func, cfg, -1, NULL, false);
    return opt_is_small(&m, ir_arg(func, size, 0));
}

/* int(x) of what is small by what it is computed of: the way that raises goes, and the int is made on one way. */
static void drop_needless_ways(PassContext *ctx, Func *func) {
    Cfg cfg = {0};
    int32_t n = func->blocks.len;
    bool any = false;
    if (cg_fastmath(ctx->options, func)) return;
    for (int32_t b = 0; b < n; b++) {
        if (func->blocks.items[b].removed) continue;
        Ref branch = ir_terminator(func, b);
        if (ir_inst(func, branch)->op != OP_branch) continue;
        int32_t odd = ir_inst(func, branch)->target[0], fits = ir_inst(func, branch)->target[1];
        if (!func->blocks.items[odd].cold || odd == fits) continue;
        if (!cfg.n) cfg_compute(&cfg, ctx->arena, func);
        if (!always_fits(ctx, func, &cfg, branch)) continue;
        ir_edge_remove(func, b, odd);
        ir_remove(func, branch);
        Ref jump = ir_append(func, b, OP_jump, NULL, 0);
        ir_inst(func, jump)->target[0] = fits;
        any = true;
    }
    if (!any) return;
    cfg_remove_unreachable(func);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_phi && ir_inst(func, ref)->nargs == 1 &&
            !opt_is_header_phi(func, &cfg, ref)) {
            map[ref] = ir_arg(func, ref, 0);
            ir_remove(func, ref);
        }
    ir_replace_many(func, map);
}

/* -- blocks --------------------------------------------------------------------------------------- */

/* Does `block` only go on in `next`, which nothing else leads to? What may fail into a handler ends its block. */
static bool goes_on(const Func *func, int32_t block, int32_t *next) {
    const Block *b = &func->blocks.items[block];
    const Inst *last = ir_inst(func, b->insts.items[b->insts.len - 1]);
    if (last->op != OP_jump || last->sub) return false;
    if (b->insts.len > 1 && ir_inst(func, b->insts.items[b->insts.len - 2])->error != NO_BLOCK)
        return false;
    *next = last->target[0];
    const Block *n = &func->blocks.items[*next];
    return *next != block && n->preds.len == 1 && n->cold == b->cold &&
           ir_inst(func, n->insts.items[0])->op != OP_phi;
}

/* Blocks that only follow each other become one: inside of `try` the front end begins one at each instruction of Python's, and loops
 * are known by the form of their header. */
void opt_merge_blocks(Func *func) {
    for (int32_t b = 0; b < func->blocks.len; b++) {
        int32_t next, to[3];
        while (!func->blocks.items[b].removed && goes_on(func, b, &next)) {
            Block *block = &func->blocks.items[b], *gone = &func->blocks.items[next];
            int n = ir_successors(func, next, to);
            ir_remove(func, ir_terminator(func, b));
            for (int32_t i = 0; i < gone->insts.len; i++) {
                vec_push(func->module->arena, &block->insts, gone->insts.items[i]);
                ir_inst(func, gone->insts.items[i])->block = b;
            }
            for (int k = 0; k < n; k++) {
                Block *after = &func->blocks.items[to[k]];
                for (int32_t i = 0; i < after->preds.len; i++)
                    if (after->preds.items[i] == next) after->preds.items[i] = b;
            }
            gone->insts.len = gone->preds.len = 0;
            gone->removed = true;
        }
    }
}

/* On GPUs work-items go on behind an index that is out of bounds: its view has no elements then. */
static bool views_may_be_void(const CompileOptions *options) {
    return !target_is_host(options->infer.target) && !options->infer.no_boundscheck;
}

void opt_simplify(PassContext *ctx, Func *func) {
    cfg_remove_unreachable(func);
    drop_needless_ways(ctx, func);
    opt_merge_blocks(func);
    join_returns(ctx, func);
    cast_behind_joins(ctx, func);
    floats_of_ints(ctx, func);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    if (!views_may_be_void(ctx->options)) look_through_views(func, ctx->arena, map);
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        if (block->removed) continue;
        for (int32_t i = block->insts.len - 1; i >= 0; i--) {
            Ref ref = block->insts.items[i];
            Inst *inst = ir_inst(func, ref);
            if (inst->op == OP_guard && inst->error == NO_BLOCK &&
                never_true(func, ir_arg(func, ref, 0))) {
                ir_remove(func, ref);
                continue;
            }
            if (!map[ref]) map[ref] = simpler(func, ref);
        }
    }
    ir_replace_many(func, map);
}
