/* simplify.c - what later passes should not have to look at: wraparound of indices that cannot be negative, guards that cannot fail,
 * casts to the same type, sums with zero, views that only fix indices, blocks that only follow each other. LLVM does the rest. */
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
    opt_merge_blocks(func);
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
