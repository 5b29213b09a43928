/* test_ir.c - frontend/ir as a library: types, construction, surgery, large graphs, text, memory. What
 * has a text form is tested in tests/golden/ir. */
#include "frontend/frontend.h"
#include "frontend/ir/ir_keep.h"
#include "tests/unit/check.h"

static Arena arena;
static DiagList diags;

static Str printed(const Module *module) {
    StrBuf out;
    buf_init(&out, module->arena);
    ir_print_module(&out, module);
    return buf_take(&out);
}

static bool verified(const Module *module) {
    bool ok = ir_verify_module(module, "test", &diags);
    if (!ok)
        printf(STR_FMT "\n" STR_FMT, STR_ARG(vec_last(&diags.items).text),
               STR_ARG(printed(module)));
    return ok;
}

/* -- types ----------------------------------------------------------------------------------- */

static void test_types_are_interned(void) {
    TypeTable *t = type_table_new(&arena);
    const Type *f32 = type_scalar(t, TY_f32), *i64 = type_scalar(t, TY_i64);
    const Type *a = type_array(t, f32, 2, LAYOUT_C);
    CHECK(a == type_array(t, f32, 2, LAYOUT_C));
    CHECK(a != type_array(t, f32, 2, LAYOUT_F) && a != type_array(t, f32, 3, LAYOUT_C));
    CHECK(a != type_array_readonly(t, a, true) && a != type_array_aligned(t, a, false));
    CHECK(a != type_array_space(t, a, SPACE_SHARED));
    CHECK(type_array_readonly(t, type_array_readonly(t, a, true), false) == a);
    CHECK(type_array(t, f32, 1, LAYOUT_F) == type_array(t, f32, 1, LAYOUT_C));
    CHECK(type_array(t, f32, 0, LAYOUT_A) == type_array(t, f32, 0, LAYOUT_C));
    CHECK(type_array_like(t, type_array_readonly(t, a, true), 1, LAYOUT_A)->readonly);
    const Type *two[] = {f32, i64}, *swapped[] = {i64, f32};
    CHECK(type_tuple(t, two, 2) == type_tuple(t, two, 2));
    CHECK(type_tuple(t, two, 2) != type_tuple(t, swapped, 2) &&
          type_tuple(t, two, 1) != type_tuple(t, two, 2));
    Str xy[] = {STR("x"), STR("y")}, xz[] = {STR("x"), STR("z")};
    int cls1, cls2;
    const Type *named = type_named_tuple(t, two, 2, xy, &cls1);
    CHECK(named == type_named_tuple(t, two, 2, xy, &cls1));
    CHECK(named != type_named_tuple(t, two, 2, xz, &cls1) &&
          named != type_named_tuple(t, two, 2, xy, &cls2));
    CHECK(named != type_tuple(t, two, 2));
    two[0] = i64; /* the table has its own copy */
    CHECK(named->items[0] == f32);
    CHECK(type_slice(t, 1) != type_slice(t, 2) && type_iter(t, a, 0) != type_iter(t, a, 1));
    CHECK(type_range(t, i64) != type_optional(t, i64));
    Map ids;
    map_init(&ids, &arena);
    for (int i = 0; i < 2000; i++) {
        const Type *deep = type_array(t, f32, i % 200, i / 200 % 2 ? LAYOUT_C : LAYOUT_A);
        map_put(&ids, (uint64_t)deep->id)->num++;
    }
    CHECK_INT(ids.len, 400 - 1); /* without axes C and A are one */
}

static void test_type_questions(void) {
    TypeTable *t = type_table_new(&arena);
    const Type *wint = type_scalar(t, TY_wint), *wcpx = type_scalar(t, TY_wcpx),
               *u8 = type_scalar(t, TY_u8);
    CHECK(type_is_weak(wint) && !type_is_weak(u8) && !type_is_weak(type_scalar(t, TY_none)));
    CHECK(type_strong(t, wint) == type_scalar(t, TY_i64) && type_strong(t, u8) == u8);
    const Type *inner[] = {wcpx, u8};
    const Type *pair = type_tuple(t, inner, 2);
    const Type *outer[] = {pair, wint};
    const Type *strong = type_strong(t, type_tuple(t, outer, 2));
    CHECK_STR(type_text(&arena, strong), "((complex128, uint8), int64)");
    CHECK(type_strong(t, strong) == strong);
    CHECK(type_component(t, type_scalar(t, TY_c64)) == type_scalar(t, TY_f32));
    CHECK(type_component(t, type_scalar(t, TY_c128)) == type_scalar(t, TY_f64));
    CHECK(type_component(t, wcpx) == type_scalar(t, TY_wflt));
    CHECK(type_is_number(type_scalar(t, TY_bool)) && !type_is_number(type_scalar(t, TY_none)));
    CHECK(type_is_int(u8) && !type_is_int(type_scalar(t, TY_bool)) && type_is_complex(wcpx));
    CHECK(type_class(type_array(t, u8, 1, LAYOUT_C)) == CLASS_NONE);
    CHECK_INT(type_bits(type_scalar(t, TY_c64)), 32);
}

static void test_objects_are_described(void) {
    TypeTable *t = type_table_new(&arena);
    const Binding math = {.kind = BIND_MODULE, .name = STR("math")};
    const Binding f = {.kind = BIND_FUNCTION, .name = STR("saxpy")};
    const Binding label = {.kind = BIND_CONST, .value = const_str(&arena, STR("x"))};
    const Binding cast = {.kind = BIND_TYPE, .type = type_scalar(t, TY_f32)};
    const Binding error = {.kind = BIND_EXCEPTION, .name = STR("ValueError")};
    const Binding opaque = {.kind = BIND_OPAQUE, .name = STR("DataFrame")};
    CHECK_STR(type_text(&arena, type_object(t, &math)), "module math");
    CHECK_STR(type_text(&arena, type_object(t, &f)), "function saxpy");
    CHECK_STR(type_text(&arena, type_object(t, &label)), "str");
    CHECK_STR(type_text(&arena, type_object(t, &cast)), "type float32");
    CHECK_STR(type_text(&arena, type_object(t, &error)), "exception ValueError");
    CHECK_STR(type_text(&arena, type_object(t, &opaque)), "DataFrame");
    CHECK(type_object(t, &math) == type_object(t, &math) &&
          type_object(t, &math) != type_object(t, &f));
}

/* -- construction ---------------------------------------------------------------------------- */

/* sum of range(n), with a guard in the body whose failure goes to a handler. */
static Module *build_sum(Arena *where, DiagList *list) {
    Module *module = ir_module_new(where, list);
    Func *func = ir_func_new(module, STR("sum"), true);
    const Type *i64 = type_scalar(module->types, TY_i64),
               *bools = type_scalar(module->types, TY_bool);
    func->nparams = 1;
    func->param_names = arena_copy(where, &STR("n"), sizeof(Str));
    func->param_types = arena_copy(where, &i64, sizeof i64);
    func->result = i64;
    func->file = STR("k.py");
    int32_t entry = ir_block_new(func), header = ir_block_new(func), body = ir_block_new(func);
    int32_t exit = ir_block_new(func), handler = ir_block_new(func);
    Builder b = {.func = func, .block = entry, .at = -1, .error = NO_BLOCK};
    b.span = ir_span_add(func, (IrSpan){3, 3, 4, 9});
    Ref n = b_inst(&b, OP_param, i64, NULL, 0);
    Ref zero = b_const(&b, i64, const_int(where, 0));
    b_jump(&b, header);
    b.block = header;
    Ref counter = b_phi(&b, i64), total = b_phi(&b, i64);
    b_branch(&b, b_op2(&b, OP_lt, bools, counter, n), body, exit);
    b.block = body;
    b.error = handler;
    Ref negative = b_op2(&b, OP_lt, bools, total, zero);
    Ref guard = b_inst(&b, OP_guard, NULL, &negative, 1);
    ir_inst(func, guard)->sub = GUARD_too_large;
    b_continue(&b);
    b.error = NO_BLOCK;
    Ref sum = b_op2(&b, OP_add, i64, total, counter);
    Ref one = ir_const_int(func, i64, 1);
    Ref next = b_op2(&b, OP_add, i64, counter, one);
    b_inst(&b, OP_poll, NULL, NULL, 0);
    b_jump(&b, header);
    ir_add_arg(func, counter, zero), ir_add_arg(func, total, zero);
    ir_add_arg(func, counter, next), ir_add_arg(func, total, sum);
    b.block = exit;
    b_return(&b, total);
    b.block = handler;
    b_inst(&b, OP_propagate, NULL, NULL, 0);
    return module;
}

static void test_builder(void) {
    Module *module = build_sum(&arena, &diags);
    CHECK(verified(module));
    CHECK_STR(printed(module), "func @sum(n: i64) -> i64 typed file \"k.py\" {\n"
                               "b0:\n"
                               "  %1: i64 = param 0 @3:4-3:9\n"
                               "  %2: i64 = const 0 @3:4-3:9\n"
                               "  %12: i64 = const 1\n"
                               "  jump b1 @3:4-3:9\n"
                               "b1: preds(b0, b5)\n"
                               "  %4: i64 = phi [%2, b0], [%13, b5] @3:4-3:9\n"
                               "  %5: i64 = phi [%2, b0], [%11, b5] @3:4-3:9\n"
                               "  %6: bool = lt %4, %1 @3:4-3:9\n"
                               "  branch %6, b2, b3 @3:4-3:9\n"
                               "b2: preds(b1)\n"
                               "  %8: bool = lt %5, %2 @3:4-3:9\n"
                               "  guard.too_large %8 !b4 @3:4-3:9\n"
                               "  jump b5 @3:4-3:9\n"
                               "b3: preds(b1)\n"
                               "  return %5 @3:4-3:9\n"
                               "b4: preds(b2)\n"
                               "  propagate @3:4-3:9\n"
                               "b5: preds(b2)\n"
                               "  %11: i64 = add %5, %4 @3:4-3:9\n"
                               "  %13: i64 = add %4, %12 @3:4-3:9\n"
                               "  poll @3:4-3:9\n"
                               "  jump b1 @3:4-3:9\n"
                               "}\n");
    const Func *func = module->funcs.items[0];
    Span span = ir_span_of(func, 6);
    CHECK(span.line == 3 && span.column == 4 && span.end_column == 9);
    CHECK_STR(span.file, "k.py");
    int32_t out[3];
    CHECK_INT(ir_successors(func, 2, out), 2);
    CHECK(out[0] == 5 && out[1] == 4);
    CHECK_INT(ir_successors(func, 3, out), 0);
}

static void test_builder_inserts_in_order(void) {
    Module *module = build_sum(&arena, &diags);
    Func *func = module->funcs.items[0];
    const Type *i64 = type_scalar(module->types, TY_i64);
    Builder b = {.func = func, .block = 5, .at = 1, .error = NO_BLOCK};
    Ref first = b_op2(&b, OP_mul, i64, 11, 11);
    Ref second = b_op2(&b, OP_sub, i64, first, 11);
    CHECK_INT(b.at, 3);
    const Block *block = &func->blocks.items[5];
    CHECK(block->insts.items[1] == first && block->insts.items[2] == second);
    CHECK(verified(module));
    b = (Builder){.func = func, .block = 1, .at = 3, .error = NO_BLOCK};
    Ref phi = b_phi(&b, i64); /* behind the other phis, and the place moves along */
    CHECK(func->blocks.items[1].insts.items[2] == phi && b.at == 4);
    ir_add_arg(func, phi, 2), ir_add_arg(func, phi, second);
    CHECK(verified(module));
}

static void test_constants_are_shared(void) {
    Module *module = build_sum(&arena, &diags);
    Func *func = module->funcs.items[0];
    TypeTable *t = module->types;
    Ref a = ir_const_int(func, type_scalar(t, TY_i64), 1);
    CHECK(a == 12 && ir_const_int(func, type_scalar(t, TY_i64), 1) == a);
    CHECK(ir_const_int(func, type_scalar(t, TY_i32), 1) != a);
    CHECK(ir_const_int(func, type_scalar(t, TY_i64), 0) == 2);
    Ref zero = ir_const_float(func, type_scalar(t, TY_f64), 0.0);
    CHECK(ir_const_float(func, type_scalar(t, TY_f64), -0.0) != zero);
    CHECK(ir_const_float(func, type_scalar(t, TY_f64), 0.0) == zero);
    CHECK(ir_const_float(func, type_scalar(t, TY_f32), 0.0) != zero);
    ir_const_int(func, type_scalar(t, TY_u64), -1); /* all bits set */
    ir_const_int(func, type_scalar(t, TY_bool), 1);
    CHECK(verified(module));
    CHECK(strstr(printed(module).bytes, "u64 = const 18446744073709551615u\n") != NULL);
}

static void test_uses_and_operands(void) {
    Module *module = build_sum(&arena, &diags);
    Func *func = module->funcs.items[0];
    ir_replace_uses(func, 12, 1);
    CHECK_INT(ir_arg(func, 13, 1), 1);
    Ref *map = arena_array(&arena, Ref, func->insts.len);
    map[1] = 12, map[12] = 2; /* followed through */
    ir_replace_many(func, map);
    CHECK(ir_arg(func, 13, 1) == 2 && ir_arg(func, 6, 1) == 2);
    ir_set_args(func, 13, (Ref[]){11}, 1);
    CHECK(ir_inst(func, 13)->nargs == 1 && ir_arg(func, 13, 0) == 11);
    ir_set_args(func, 13, (Ref[]){4, 5, 6}, 3);
    CHECK(ir_arg(func, 13, 0) == 4 && ir_arg(func, 13, 2) == 6);
    ir_set_args(func, 13, ir_args(func, 13) + 1, 2); /* its own operands, overlapping */
    CHECK(ir_arg(func, 13, 0) == 5 && ir_arg(func, 13, 1) == 6);
    ir_remove(func, 13);
    CHECK(ir_inst(func, 13)->op == OP_removed);
    CHECK_INT(func->blocks.items[5].insts.len, 3);
    ir_edge_remove(func, 5, 1);
    CHECK(func->blocks.items[1].preds.len == 1 && ir_inst(func, 4)->nargs == 1 &&
          ir_arg(func, 4, 0) == 2);
    ir_edge_remove(func, 5, 1); /* there is none */
    CHECK_INT(func->blocks.items[1].preds.len, 1);
}

static void test_parallel_edges_are_removed_one_by_one(void) {
    Module *module =
        ir_parse_module(&arena,
                        "func @f(c: bool) -> i64 typed {\nb0:\n  %1: bool = param 0\n"
                        "  %2: i64 = const 2\n  %3: i64 = const 3\n  branch %1, b1, b1\n"
                        "b1: preds(b0, b0)\n  %4: i64 = phi [%2, b0], [%3, b0]\n  return %4\n}\n",
                        &diags);
    CHECK(module != NULL);
    Func *func = module->funcs.items[0];
    ir_edge_remove_nth(func, 0, 1, 1);
    CHECK(ir_inst(func, 4)->nargs == 1 && ir_arg(func, 4, 0) == 2);
    CHECK(!ir_verify_func(func, "test", &diags)); /* the branch still has two edges */
    Ref term = ir_terminator(func, 0);
    ir_inst(func, term)->op = OP_jump;
    ir_inst(func, term)->target[1] = NO_BLOCK;
    ir_set_args(func, term, NULL, 0);
    CHECK(verified(module));
}

static void test_phi_operands_grow_interleaved(void) {
    Module *module = ir_module_new(&arena, &diags);
    Func *func = ir_func_new(module, STR("f"), false);
    ir_block_new(func);
    Ref a = ir_append(func, 0, OP_phi, NULL, 0), b = ir_append(func, 0, OP_phi, NULL, 0);
    for (int i = 0; i < 100; i++)
        ir_add_arg(func, a, 1000 + i), ir_add_arg(func, b, 2000 + i);
    bool ok = ir_inst(func, a)->nargs == 100 && ir_inst(func, b)->nargs == 100;
    for (int i = 0; i < 100; i++)
        ok &= ir_arg(func, a, i) == 1000 + i && ir_arg(func, b, i) == 2000 + i;
    CHECK(ok);
}

/* -- large graphs ---------------------------------------------------------------------------- */

enum { MANY = 10000 };

static Func *empty_func(int32_t blocks) {
    Module *module = ir_module_new(&arena, &diags);
    Func *func = ir_func_new(module, STR("large"), false);
    for (int32_t i = 0; i < blocks; i++)
        ir_block_new(func);
    return func;
}

static void test_cfg_of_a_long_chain(void) {
    Func *func = empty_func(MANY);
    Builder b = {.func = func, .at = -1, .error = NO_BLOCK};
    for (b.block = 0; b.block < MANY - 1;) {
        int32_t from = b.block;
        b_jump(&b, from + 1);
        b.block = from + 1;
    }
    b_inst(&b, OP_unreachable, NULL, NULL, 0);
    Cfg cfg;
    cfg_compute(&cfg, &arena, func);
    CHECK_INT(cfg.nrpo, MANY);
    CHECK_INT(cfg.idom[MANY - 1], MANY - 2);
    CHECK(cfg_dominates(&cfg, 0, MANY - 1) && !cfg_dominates(&cfg, MANY - 1, 0));
    CHECK(verified(func->module));
    Str text = printed(func->module);
    Module *again = ir_parse_module(&arena, text.bytes, &diags);
    CHECK(again && str_equal(printed(again), text));
}

/* MANY/4 loops, each inside the one before: headers 0.., then their latches outwards. */
static void test_cfg_of_deep_loops(void) {
    enum { DEPTH = 500 };
    Func *func = empty_func(2 * DEPTH + 2);
    Builder b = {.func = func, .at = -1, .error = NO_BLOCK};
    b_jump(&b, 1);
    for (int32_t i = 1; i <= DEPTH; i++)
        b.block = i, b_jump(&b, i + 1);
    b.block = DEPTH + 1;
    Ref cond = ir_append(func, 0, OP_unbound, NULL, 0);
    memmove(func->blocks.items[0].insts.items + 1, func->blocks.items[0].insts.items, sizeof(Ref));
    func->blocks.items[0].insts.items[0] = cond;
    for (int32_t i = 0; i < DEPTH; i++) {
        b.block = DEPTH + 1 + i; /* latch of header DEPTH - i */
        b_branch(&b, cond, DEPTH - i, DEPTH + 2 + i);
    }
    b.block = 2 * DEPTH + 1;
    b_inst(&b, OP_unreachable, NULL, NULL, 0);
    Cfg cfg;
    cfg_compute(&cfg, &arena, func);
    CHECK(verified(func->module));
    CHECK_INT(cfg.loops.len, DEPTH);
    bool ok = true;
    for (int32_t i = 0; i < cfg.loops.len; i++) {
        const Loop *loop = &cfg.loops.items[i];
        ok &= loop->depth == i + 1 && loop->parent == i - 1 && loop->header == i + 1;
        ok &= loop->latch == 2 * DEPTH - i && loop->blocks.len == 2 * (DEPTH - i);
        ok &= loop->preheader == (i == 0 ? 0 : i) && loop->blocks.items[0] == loop->header;
    }
    CHECK(ok && !cfg.irreducible);
    CHECK_INT(cfg.loop_of[DEPTH], DEPTH - 1);
}

/* Dominance against its definition: a dominates b when b cannot be reached without a. */
static bool reaches_without(const Func *func, int32_t target, int32_t without) {
    int32_t n = func->blocks.len, *stack = arena_array(&arena, int32_t, n * 4), depth = 0;
    bool *seen = arena_array(&arena, bool, n);
    if (without != 0) stack[depth++] = 0, seen[0] = true;
    while (depth) {
        int32_t block = stack[--depth], out[3];
        if (block == target) return true;
        for (int k = 0, m = ir_successors(func, block, out); k < m; k++)
            if (out[k] != without && !seen[out[k]]) seen[out[k]] = true, stack[depth++] = out[k];
    }
    return false;
}

static void test_dominators_of_random_graphs(void) {
    uint64_t seed = 7;
    for (int round = 0; round < 60; round++) {
        int32_t n = 2 + (int32_t)((seed = hash_mix(seed + 1)) % 14);
        Func *func = empty_func(n);
        Builder b = {.func = func, .at = -1, .error = NO_BLOCK};
        Ref cond = b_inst(&b, OP_unbound, NULL, NULL, 0);
        for (b.block = 0; b.block < n; b.block++) {
            seed = hash_mix(seed + 1);
            int32_t x = 1 + (int32_t)(seed % (uint64_t)(n - 1)),
                    y = 1 + (int32_t)(seed / 64 % (uint64_t)(n - 1));
            if (seed >> 60 < 3)
                b_inst(&b, OP_unreachable, NULL, NULL, 0);
            else if (seed >> 60 < 8)
                b_jump(&b, x);
            else
                b_branch(&b, cond, x, y);
        }
        Cfg cfg;
        cfg_compute(&cfg, &arena, func);
        bool ok = true;
        for (int32_t x = 0; x < n; x++)
            for (int32_t y = 0; y < n; y++) {
                bool reachable = reaches_without(func, y, -2) && reaches_without(func, x, -2);
                bool expected = reachable && (x == y || !reaches_without(func, y, x));
                ok &= cfg_dominates(&cfg, x, y) == expected;
            }
        CHECK(ok);
        cfg_remove_unreachable(func);
        CHECK(verified(func->module));
    }
}

/* -- cloning against running ----------------------------------------------------------------- */

/* A small interpreter of what the loops below use: an oracle for surgery. */
static int64_t run(const Func *func, const int64_t *params, int fuel) {
    int64_t *value = arena_array(&arena, int64_t, func->insts.len);
    int64_t *fresh = arena_array(&arena, int64_t, func->insts.len);
    for (int32_t block = 0, from = NO_BLOCK; fuel > 0; fuel--) {
        const Block *b = &func->blocks.items[block];
        int32_t next = NO_BLOCK, edge = 0;
        while (from != NO_BLOCK && b->preds.items[edge] != from)
            edge++;
        for (int32_t i = 0; i < b->insts.len; i++)
            if (ir_inst(func, b->insts.items[i])->op == OP_phi)
                fresh[b->insts.items[i]] = value[ir_arg(func, b->insts.items[i], edge)];
        for (int32_t i = 0; i < b->insts.len; i++) {
            Ref ref = b->insts.items[i];
            const Inst *inst = ir_inst(func, ref);
            int64_t x = inst->nargs > 0 ? value[ir_arg(func, ref, 0)] : 0;
            int64_t y = inst->nargs > 1 ? value[ir_arg(func, ref, 1)] : 0;
            switch (inst->op) {
            case OP_phi: value[ref] = fresh[ref]; break;
            case OP_param: value[ref] = params[inst->imm]; break;
            case OP_const: value[ref] = inst->u.value->i; break;
            case OP_add: value[ref] = x + y; break;
            case OP_xor: value[ref] = x ^ y; break;
            case OP_lt: value[ref] = x < y; break;
            case OP_guard:
                if (x) next = inst->error;
                break;
            case OP_jump: next = next == NO_BLOCK ? inst->target[0] : next; break;
            case OP_branch: next = inst->target[x ? 0 : 1]; break;
            case OP_return: return x;
            default: return INT64_MIN;
            }
        }
        from = block;
        block = next;
    }
    return INT64_MIN; /* it does not end, or an op is unknown */
}

static const char two_exits[] =
    "func @f(c: bool, n: i64, k: i64) -> i64 typed {\n"
    "b0:\n"
    "  %1: bool = param 0\n  %2: i64 = param 1\n  %3: i64 = param 2\n  %4: i64 = const 0\n  %5: "
    "i64 = const 1\n"
    "  jump b1\n"
    "b1:\n"
    "  %6: i64 = phi [%4, b0], [%9, b5]\n  %7: i64 = phi [%3, b0], [%10, b5]\n"
    "  %8: bool = lt %6, %2\n  branch %8, b2, b6\n"
    "b2:\n"
    "  %9: i64 = add %6, %5\n  %10: i64 = xor %7, %9\n  %11: bool = lt %10, %6\n  branch %11, b6, "
    "b3\n"
    "b3:\n"
    "  %12: i64 = add %10, %3\n  %13: bool = lt %12, %5\n  guard.too_large %13 !b7\n  jump b5\n"
    "b5:\n  jump b1\n"
    "b6:\n"
    "  %14: i64 = phi [%6, b1], [%10, b2]\n  %15: i64 = add %14, %7\n  %16: i64 = add %15, %6\n  "
    "return %16\n"
    "b7:\n  %17: i64 = add %12, %9\n  return %17\n"
    "}\n";

static void version_loop(Func *func) {
    Cfg cfg;
    cfg_compute(&cfg, &arena, func);
    ir_make_loop_closed(func, &cfg, 0);
    cfg_compute(&cfg, &arena, func);
    const Loop *loop = &cfg.loops.items[0];
    Ref *refs = arena_array(&arena, Ref, func->insts.len);
    int32_t *blocks = arena_array(&arena, int32_t, func->blocks.len);
    ir_clone_blocks(func, loop->blocks.items, loop->blocks.len, refs, blocks);
    int32_t from = loop->preheader, header = blocks[loop->header];
    ir_inst(func, ir_terminator(func, from))->target[0] =
        header; /* the original is not entered any more */
    int32_t k = 0;
    while (func->blocks.items[loop->header].preds.items[k] != from)
        k++;
    ir_edge_add(func, from, header);
    for (int32_t i = 0; i < func->blocks.items[loop->header].insts.len; i++) {
        Ref phi = func->blocks.items[loop->header].insts.items[i];
        if (ir_inst(func, phi)->op == OP_phi) ir_add_arg(func, refs[phi], ir_arg(func, phi, k));
    }
    ir_edge_remove(func, from, loop->header);
    cfg_remove_unreachable(func);
}

static void test_clone_computes_the_same(void) {
    const Module *before = ir_parse_module(&arena, two_exits, &diags);
    CHECK(before && verified(before));
    const Module *after = ir_parse_module(&arena, two_exits, &diags);
    Func *func = after->funcs.items[0];
    version_loop(func);
    CHECK(verified(after));
    CHECK(func->blocks.items[1].removed); /* the loop that runs is the copy */
    bool ok = true;
    int ways[3] = {0};
    for (int64_t n = 0; n < 12; n++)
        for (int64_t k = -20; k < 20; k++) {
            int64_t params[3] = {1, n, k};
            int64_t want = run(before->funcs.items[0], params, 1000), got = run(func, params, 1000);
            ok &= want == got && want != INT64_MIN;
            ways[want > 0 ? 0 : want < 0 ? 1 : 2]++;
        }
    CHECK(ok);
    CHECK(ways[0] > 10 && ways[1] > 10); /* the operands reach different exits */
}

/* Two edges of one branch leave the set for one block: the copy keeps their order. */
static void test_clone_keeps_parallel_edges_apart(void) {
    Module *module =
        ir_parse_module(&arena,
                        "func @f(c: bool, n: i64) -> i64 typed {\nb0:\n  %1: bool = param 0\n"
                        "  %2: i64 = param 1\n  branch %1, b1, b3\n"
                        "b1:\n  %3: i64 = neg %2\n  %4: i64 = add %3, %2\n  branch %1, b2, b2\n"
                        "b2: preds(b1, b1)\n  %5: i64 = phi [%4, b1], [%3, b1]\n  return %5\n"
                        "b3:\n  unreachable\n}\n",
                        &diags);
    CHECK(module && verified(module));
    Func *func = module->funcs.items[0];
    Ref *refs = arena_array(&arena, Ref, func->insts.len);
    int32_t *blocks = arena_array(&arena, int32_t, func->blocks.len), set[] = {1};
    ir_clone_blocks(func, set, 1, refs, blocks);
    CHECK(refs[3] && refs[4] && !refs[5] && blocks[1] == 4 && blocks[2] == NO_BLOCK);
    CHECK_INT(ir_inst(func, 5)->nargs, 4);
    CHECK(ir_arg(func, 5, 0) == 4 && ir_arg(func, 5, 1) == 3);
    CHECK(ir_arg(func, 5, 2) == refs[4] && ir_arg(func, 5, 3) == refs[3]);
    CHECK_INT(ir_arg(func, refs[4], 0), refs[3]);
    CHECK_INT(func->blocks.items[4].preds.len, 0);
    ir_remove(func, ir_terminator(func, 3)); /* enter the copy */
    Builder b = {.func = func, .block = 3, .at = -1, .error = NO_BLOCK};
    b_jump(&b, 4);
    CHECK(verified(module));
}

/* -- text ------------------------------------------------------------------------------------ */

static void test_text_round_trip_keeps_numbers(void) {
    Module *module = build_sum(&arena, &diags);
    ir_edge_split(module->funcs.items[0], 1, 3);
    Str text = printed(module);
    Module *again = ir_parse_module(&arena, text.bytes, &diags);
    CHECK(again && verified(again));
    CHECK(str_equal(printed(again), text));
}

/* -- functions that outlive their module --------------------------------------------------------- */

static const char kept_text[] =
    "func @f(x: array(f64, 1, C), n: i64) -> tuple(f64, i64) typed {\n"
    "b0:\n  %1: array(f64, 1, C) = param 0\n  %2: i64 = param 1\n  %3: f64 = const 2.5\n"
    "  %4: f64 = call @g (%3)\n  %5: bool = lt %2, %2\n  branch %5, b1, b2\n"
    "b1:\n  raise \"ValueError\" \"too small\" (%2)\n"
    "b2:\n  %8: tuple(f64, i64) = tuple %4, %2\n  return %8\n}\n\n"
    "func @g(y: f64) -> f64 typed {\n"
    "b0:\n  %1: f64 = param 0\n  %2: f64 = lib \"math.sin\" (%1)\n  %3: f64 = call @g (%2)\n"
    "  return %3\n}\n\n";

static bool keeps_all(void *user, const Func *func) {
    return !user || !str_equal(func->name, *(const Str *)user);
}

static Str same_name(void *user, Str name) {
    (void)user;
    return name;
}

static void test_kept_functions_are_the_same(void) {
    Module *module = ir_parse_module(&arena, kept_text, &diags);
    CHECK(module && verified(module));
    Arena store, other;
    arena_init(&store, NULL);
    arena_init(&other, NULL);
    Str text = printed(module), g = STR("g");
    CHECK(!ir_keep(&store, module->funcs.items[0], keeps_all,
                   &g)); /* what it calls may not be kept */
    const KeptFuncs *kept = ir_keep(&store, module->funcs.items[0], keeps_all, NULL);
    CHECK(kept);
    DiagList told;
    diag_init(&told, &other);
    for (int k = 0; k < 2; k++) { /* what was taken may be changed: the next one gets the same */
        Module *fresh = ir_module_new(&other, &told);
        Func *root = ir_take_kept(fresh, kept, same_name, NULL);
        CHECK(root == fresh->funcs.items[0] && verified(fresh));
        CHECK(str_equal(printed(fresh), text));
        ir_edge_split(root, 0, 2);
        ir_block_new(root);
        root->param_types[1] = NULL;
    }
    arena_free(&other);
    arena_free(&store);
}

static void test_what_belongs_to_a_compilation_is_not_kept(void) {
    static int handle;
    Module *module = ir_parse_module(&arena, kept_text, &diags);
    Func *func = module->funcs.items[0];
    RaiseSite site = {.class_name = STR("Mine"), .class_handle = &handle};
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_raise) ir_inst(func, ref)->u.exception = &site;
    CHECK(!ir_keep(&arena, func, keeps_all, NULL));
    site.builtin = true; /* it can be found by its name */
    CHECK(ir_keep(&arena, func, keeps_all, NULL));
    const Type *items[] = {func->param_types[1]}, *was = func->param_types[1];
    Str fields[] = {STR("x")};
    func->param_types[1] = type_named_tuple(module->types, items, 1, fields, &handle);
    CHECK(!ir_keep(&arena, func, keeps_all, NULL)); /* its text does not say which class it is */
    func->param_types[1] = was;
    ConstVal code = {.kind = CONST_CODE, .handle = &handle};
    CHECK(!ir_keep_const(&arena, &code));
    ConstVal number = {.kind = CONST_INT, .i = 7}, tuple = {.kind = CONST_TUPLE, .nitems = 2};
    const ConstVal *both[] = {&number, &code};
    tuple.items = both;
    CHECK(!ir_keep_const(&arena, &tuple));
    both[1] = &number;
    CHECK(ir_keep_const(&arena, &tuple)->items[1]->i == 7);
}

static void test_text_does_not_know_library_rows(void) {
    Module *module = ir_parse_module(&arena,
                                     "func @f(x: f64) -> f64 typed {\nb0:\n  %1: f64 = param 0\n"
                                     "  %2: f64 = lib \"math.sin\" (%1)\n  return %2\n}\n",
                                     &diags);
    CHECK(module && ir_inst(module->funcs.items[0], 2)->imm == -1);
    CHECK_STR(*ir_inst(module->funcs.items[0], 2)->u.name, "math.sin");
}

/* Every prefix and every single-byte damage of a text is either refused with a message or read. */
static void test_damaged_text_never_crashes(void) {
    Str text = str_copy(&arena, two_exits, sizeof two_exits - 1);
    static const char damage[] = "%b(){}[]!@\"0-9,:;=?\n x\\\xff";
    int refused = 0, read = 0;
    for (int32_t i = 0; i < text.len; i++) {
        ArenaMark mark = arena_mark(&arena);
        DiagList list;
        diag_init(&list, &arena);
        char *copy = arena_copy(&arena, text.bytes, (size_t)text.len + 1);
        copy[i] = damage[(size_t)i % (sizeof damage - 1)];
        const Module *module = ir_parse_module(&arena, copy, &list);
        if (module)
            ir_verify_module(module, "test", &list), printed(module), read++;
        else
            refused += list.failed;
        copy[i] = 0;
        list.failed = false;
        CHECK(ir_parse_module(&arena, copy, &list) != NULL || list.failed);
        arena_release(&arena, mark);
    }
    CHECK_INT(refused + read, text.len);
    CHECK(refused > 100 && read > 10);
}

/* What the verifier says to the function of build_sum after one change. */
#define CHECK_BROKEN(change, message)                                                              \
    do {                                                                                           \
        Func *func = build_sum(&arena, &diags)->funcs.items[0];                                    \
        Block *body = &func->blocks.items[5];                                                      \
        (void)body;                                                                                \
        change;                                                                                    \
        CHECK(!ir_verify_func(func, "test", &diags));                                              \
        CHECK_STR(vec_last(&diags.items).text,                                                     \
                  "internal error: the test verifier found: " message);                            \
    } while (0)

static void test_verifier_names_what_text_cannot_say(void) {
    CHECK_BROKEN(body->insts.items[2] = 11, "@sum, b5, %11 add: stands in two places");
    CHECK_BROKEN(ir_inst(func, 11)->block = 2, "@sum, b5, %11 add: says that it is in b2");
    CHECK_BROKEN(body->insts.items[0] = 99, "@sum, b5: instruction 99 does not exist");
    CHECK_BROKEN(ir_inst(func, 13)->op = OP_removed,
                 "@sum, b5, %13 removed: a removed instruction is listed");
    CHECK_BROKEN(ir_inst(func, 11)->args = 1 << 20,
                 "@sum, b5, %11 add: operands outside the operand array");
    CHECK_BROKEN(ir_inst(func, 11)->span = 7, "@sum, b5, %11 add: the span does not exist");
    CHECK_BROKEN(ir_args(func, 11)[0] = 77, "@sum, b5, %11 add: operand 0 (%77) is not defined");
    CHECK_BROKEN(ir_inst(func, 3)->target[0] = 9, "@sum, b0, %3 jump: target b9 does not exist");
    CHECK_BROKEN(ir_inst(func, 3)->target[0] = -1, "@sum, b0, %3 jump: target b-1 does not exist");
    CHECK_BROKEN(ir_inst(func, 3)->target[1] = 1, "@sum, b0, %3 jump: has a target it cannot have");
    CHECK_BROKEN(ir_inst(func, 9)->error = 9,
                 "@sum, b2, %9 guard: error successor b9 does not exist");
    CHECK_BROKEN(func->blocks.items[4].removed = true,
                 "@sum, b2, %9 guard: error successor b4 does not exist");
    CHECK_BROKEN(func->blocks.items[1].preds.items[0] = 9,
                 "@sum, b1: predecessor b9 does not exist");
    CHECK_BROKEN(func->blocks.len = 0, "@sum: there is no entry block");
}

static void test_functions_with_one_name(void) {
    Module *module = build_sum(&arena, &diags);
    vec_push(&arena, &module->funcs, module->funcs.items[0]);
    CHECK(!ir_verify_module(module, "test", &diags));
    CHECK_STR(vec_last(&diags.items).text,
              "internal error: the test verifier found: two functions with one name");
}

/* Broken in ways that text cannot express: the verifier reports, and does not crash. */
static void test_verifier_survives_garbage(void) {
    uint64_t seed = 3;
    int found = 0;
    for (int round = 0; round < 3000; round++) {
        ArenaMark mark = arena_mark(&arena);
        DiagList list;
        diag_init(&list, &arena);
        Module *module = build_sum(&arena, &list);
        Func *func = module->funcs.items[0];
        seed = hash_mix(seed + 1);
        Ref ref = 1 + (Ref)(seed % (uint64_t)(func->insts.len - 1));
        int32_t block = (int32_t)(seed / 7 % (uint64_t)func->blocks.len),
                value = (int32_t)(seed >> 40) % 40 - 8;
        Inst *inst = ir_inst(func, ref);
        switch (seed / 1000 % 9) {
        case 0: inst->op = (uint16_t)(value + 8); break;
        case 1: inst->nargs = value; break;
        case 2: inst->args = value; break;
        case 3: inst->target[seed & 1] = value; break;
        case 4: inst->error = value; break;
        case 5: inst->block = value; break;
        case 6: func->operands.items[seed % (uint64_t)func->operands.len] = value; break;
        case 7: func->blocks.items[block].insts.items[0] = value; break;
        default: func->blocks.items[block].removed = true; break;
        }
        found += !ir_verify_module(module, "test", &list);
        arena_release(&arena, mark);
    }
    CHECK(found > 2000);
}

/* -- memory ---------------------------------------------------------------------------------- */

static void module_body(Arena *where) {
    DiagList list;
    diag_init(&list, where);
    Module *module = build_sum(where, &list);
    Str text = printed(module);
    Module *again = ir_parse_module(where, text.bytes, &list);
    CHECK(again && ir_verify_module(again, "test", &list));
    Func *func = again->funcs.items[0];
    Cfg cfg;
    for (int i = 0; i < 40; i++) { /* enough to need many blocks of memory */
        cfg_compute(&cfg, where, func);
        ir_make_loop_closed(func, &cfg, 0);
        cfg_compute(&cfg, where, func);
        const Loop *loop = &cfg.loops.items[0];
        Ref *refs = arena_array(where, Ref, func->insts.len);
        int32_t *blocks = arena_array(where, int32_t, func->blocks.len);
        ir_clone_blocks(func, loop->blocks.items, loop->blocks.len, refs, blocks);
        cfg_remove_unreachable(func);
    }
    CHECK(str_equal(printed(again), printed(again)));
    CHECK(ir_parse_module(where, "func @f(", &list) == NULL && list.failed);
}

static void test_out_of_memory_unwinds(void) {
    check_out_of_memory(module_body);
}

int main(void) {
    arena_init(&arena, NULL);
    diag_init(&diags, &arena);
    RUN(test_types_are_interned);
    RUN(test_type_questions);
    RUN(test_objects_are_described);
    RUN(test_builder);
    RUN(test_builder_inserts_in_order);
    RUN(test_constants_are_shared);
    RUN(test_uses_and_operands);
    RUN(test_parallel_edges_are_removed_one_by_one);
    RUN(test_phi_operands_grow_interleaved);
    RUN(test_cfg_of_a_long_chain);
    RUN(test_cfg_of_deep_loops);
    RUN(test_dominators_of_random_graphs);
    RUN(test_clone_computes_the_same);
    RUN(test_clone_keeps_parallel_edges_apart);
    RUN(test_text_round_trip_keeps_numbers);
    RUN(test_text_does_not_know_library_rows);
    RUN(test_kept_functions_are_the_same);
    RUN(test_what_belongs_to_a_compilation_is_not_kept);
    RUN(test_damaged_text_never_crashes);
    RUN(test_verifier_names_what_text_cannot_say);
    RUN(test_functions_with_one_name);
    RUN(test_verifier_survives_garbage);
    RUN(test_out_of_memory_unwinds);
    arena_free(&arena);
    return check_report();
}
