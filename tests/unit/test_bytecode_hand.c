/* test_bytecode_hand.c - the bytecode frontend against code objects written by hand: very large ones on
 * a small stack, and malformed ones, each with the diagnostic it must give. */
#include "tests/unit/bytecode_test.h"

#include <pthread.h>

/* -- an assembler by instruction name ----------------------------------------------------------- */

typedef struct Asm {
    Arena *arena;
    int32_t version;
    Vec(uint8_t) bytes;
    CodeUnit code;
    const ConstVal *consts[4];
    Str names[1];
    Str *local_names;
    uint8_t *local_kinds;
} Asm;

static int opcode(const Asm *a, const char *name) {
    for (int k = 0; k < 256; k++) {
        const char *known = bc_opcode_name(a->version, k);
        if (known && strcmp(known, name) == 0) return k;
    }
    return -1;
}

static int32_t here(const Asm *a) {
    return a->bytes.len / 2;
}

static void unit(Asm *a, int op, int operand) {
    vec_push(a->arena, &a->bytes, (uint8_t)op);
    vec_push(a->arena, &a->bytes, (uint8_t)operand);
}

/* Always with three EXTENDED_ARG, so that jumps can be patched. Returns the first unit. */
static int32_t wide(Asm *a, const char *name, int32_t operand) {
    int32_t start = here(a);
    int extended = bc_opcode_extended_arg(a->version), op = opcode(a, name);
    unit(a, extended, operand >> 24 & 255);
    unit(a, extended, operand >> 16 & 255);
    unit(a, extended, operand >> 8 & 255);
    unit(a, op, operand & 255);
    for (int k = bc_opcode_caches(a->version, op); k > 0; k--)
        unit(a, 0, 0);
    return start;
}

static int32_t emit(Asm *a, const char *name, int operand) {
    int32_t start = here(a);
    int op = opcode(a, name);
    unit(a, op, operand);
    for (int k = bc_opcode_caches(a->version, op); k > 0; k--)
        unit(a, 0, 0);
    return start;
}

/* Makes the wide jump at `at` lead to `target`. */
static void patch(Asm *a, int32_t at, int32_t target) {
    int32_t end = at + 4 + bc_opcode_caches(a->version, a->bytes.items[2 * (at + 3)]);
    int32_t distance = target >= end ? target - end : end - target;
    for (int k = 0; k < 4; k++)
        a->bytes.items[2 * (at + k) + 1] = (uint8_t)(distance >> (24 - 8 * k));
}

static const char *if_false(const Asm *a) {
    return a->version == 311 ? "POP_JUMP_FORWARD_IF_FALSE" : "POP_JUMP_IF_FALSE";
}

static void asm_open(Asm *a, Arena *arena, int32_t version, int32_t nlocals) {
    *a = (Asm){.arena = arena, .version = version};
    a->consts[0] = const_none(arena);
    a->consts[1] = const_int(arena, 1);
    a->consts[2] = const_tuple(arena, NULL, 0);
    a->consts[3] = const_str(arena, STR("text"));
    a->names[0] = STR("range");
    a->local_names = arena_array(arena, Str, nlocals);
    a->local_kinds = arena_array(arena, uint8_t, nlocals);
    for (int32_t k = 0; k < nlocals; k++) {
        a->local_names[k] = str_printf(arena, "v%d", (int)k);
        a->local_kinds[k] = LOCAL_PLAIN;
    }
    a->code = (CodeUnit){.version = version,
                         .name = STR("f"),
                         .qualname = STR("f"),
                         .first_line = 1,
                         .file = STR("hand.py"),
                         .nargs = 1,
                         .stacksize = 8,
                         .nconsts = 4,
                         .consts = a->consts,
                         .nnames = 1,
                         .names = a->names,
                         .nlocals = nlocals,
                         .local_names = a->local_names,
                         .local_kinds = a->local_kinds};
}

static void asm_build(Asm *a, Session *s) {
    a->code.bytes = a->bytes.items;
    a->code.nbytes = a->bytes.len;
    s->func = bc_build(s->module, &a->code);
}

/* -- large functions, on a small stack (CF-06) --------------------------------------------------- */

static int count_ops(const Func *func, Op op) {
    int n = 0;
    for (Ref ref = 1; ref < func->insts.len; ref++)
        n += ir_inst(func, ref)->op == op;
    return n;
}

/* if v0: if v0: ... v1 = 1   and then return v1, which may be unassigned. */
static void test_CF_06_nested_ifs(int32_t version, int32_t depth) {
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, version, 2);
    int32_t *jumps = arena_array(&s.arena, int32_t, depth);
    for (int32_t k = 0; k < depth; k++) {
        emit(&a, "LOAD_FAST", 0);
        jumps[k] = wide(&a, if_false(&a), 0);
    }
    emit(&a, "LOAD_CONST", 1);
    emit(&a, "STORE_FAST", 1);
    for (int32_t k = 0; k < depth; k++)
        patch(&a, jumps[k], here(&a));
    emit(&a, "LOAD_FAST", 1);
    emit(&a, "RETURN_VALUE", 0);
    asm_build(&a, &s);
    CHECK(sound(&s), "%d: %s", version, first_message(&s));
    CHECK(s.func && count_ops(s.func, OP_branch) == depth, "%d", version);
    CHECK(s.func && count_ops(s.func, OP_check_bound) == 1, "%d", version);
    CHECK(s.func && count_ops(s.func, OP_phi) == 1, "%d: one phi of %d values", version, depth + 1);
    session_close(&s);
}

/* Ifs whose ends are all different: if v0: if v0: ... v1 = 2 ; v1 = 2 */
static void test_CF_06_nested_ends(int32_t version, int32_t depth) {
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, version, 2);
    int32_t *jumps = arena_array(&s.arena, int32_t, depth);
    for (int32_t k = 0; k < depth; k++) {
        emit(&a, "LOAD_FAST", 0);
        jumps[k] = wide(&a, if_false(&a), 0);
    }
    for (int32_t k = depth - 1; k >= 0; k--) {
        patch(&a, jumps[k], here(&a));
        emit(&a, "LOAD_CONST", 1);
        emit(&a, "STORE_FAST", 1);
    }
    emit(&a, "LOAD_FAST", 1);
    emit(&a, "RETURN_VALUE", 0);
    asm_build(&a, &s);
    CHECK(sound(&s), "%d: %s", version, first_message(&s));
    CHECK(s.func && count_ops(s.func, OP_check_bound) == 0, "%d", version);
    session_close(&s);
}

/* Many ifs in a row, each assigning one of 64 locals, all added up at the end: 10,000 blocks. The jump
 * back over all of them needs more than 16 bits (BYT-04). */
static void test_CF_06_long_function(int32_t version, int32_t count) {
    enum { VARS = 64 };
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, version, 1 + VARS);
    for (int32_t k = 1; k <= VARS; k++) {
        emit(&a, "LOAD_CONST", 1);
        emit(&a, "STORE_FAST", k);
    }
    int32_t top = here(&a);
    emit(&a, "LOAD_FAST", 0);
    int32_t leave = wide(&a, if_false(&a), 0);
    for (int32_t k = 0; k < count; k++) {
        emit(&a, "LOAD_FAST", 0);
        int32_t jump = wide(&a, if_false(&a), 0);
        emit(&a, "LOAD_FAST", 1 + (k + 7) % VARS);
        emit(&a, "STORE_FAST", 1 + k % VARS);
        patch(&a, jump, here(&a));
    }
    int32_t back = wide(&a, "JUMP_BACKWARD", 0);
    patch(&a, back, top);
    patch(&a, leave, here(&a));
    for (int32_t k = 1; k <= VARS; k++) {
        emit(&a, "LOAD_FAST", k);
        if (k > 1) emit(&a, "BINARY_OP", 0);
    }
    emit(&a, "RETURN_VALUE", 0);
    int64_t start = os_now_ns();
    asm_build(&a, &s);
    int64_t took = os_now_ns() - start;
    CHECK(here(&a) - top > 65535 || count < 9000, "%d: no long jump", version);
    CHECK(sound(&s), "%d: %s", version, first_message(&s));
    CHECK(s.func && s.func->blocks.len > 2 * count, "%d", version);
    CHECK(s.func && count_ops(s.func, OP_poll) == 1, "%d", version);
    CHECK(took < INT64_C(10000000000), "%d: %d blocks took %d ms", version, 2 * count,
          (int)(took / 1000000));
    session_close(&s);
}

/* More than 255 locals and constants: every operand needs EXTENDED_ARG. */
static void test_BYT_04_many_locals(int32_t version) {
    enum { VARS = 600 };
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, version, VARS);
    for (int32_t k = 1; k < VARS; k++) {
        wide(&a, "LOAD_FAST", k - 1);
        wide(&a, "STORE_FAST", k);
    }
    wide(&a, "LOAD_FAST", VARS - 1);
    emit(&a, "RETURN_VALUE", 0);
    asm_build(&a, &s);
    CHECK(sound(&s) && s.func, "%d: %s", version, first_message(&s));
    CHECK(s.func && s.func->insts.len == 3, "%d: a parameter and its return", version);
    session_close(&s);
}

static void *large_functions(void *user) {
    (void)user;
    for (int32_t version = VERSION_FIRST; version <= VERSION_LAST; version++) {
        test_CF_06_nested_ifs(version, 5000);
        test_CF_06_nested_ends(version, 5000);
        test_CF_06_long_function(version, 10000);
        test_BYT_04_many_locals(version);
    }
    return NULL;
}

static void test_CF_06_bounded_stack(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    bool started = pthread_create(&thread, &attributes, large_functions, NULL) == 0;
    CHECK(started, "no thread");
    if (started) pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

/* -- hand-made code (CF-08, BYT-07) -------------------------------------------------------------- */

typedef void (*AsmBody)(Asm *a);

static void check_hand(int32_t version, const char *what, AsmBody body, DiagCode expected,
                       bool builds) {
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, version, 3);
    body(&a);
    asm_build(&a, &s);
    CHECK(sound(&s), "%d %s: %s", version, what, first_message(&s));
    if (builds)
        CHECK(s.func != NULL, "%d %s: %s", version, what, first_message(&s));
    else
        CHECK(refused_with(&s, expected), "%d %s: %s", version, what, first_message(&s));
    session_close(&s);
}

static void leave(Asm *a) {
    emit(a, "LOAD_CONST", 0);
    emit(a, "RETURN_VALUE", 0);
}

static void body_irreducible(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    int32_t into = wide(a, if_false(a), 0);
    int32_t first = here(a);
    emit(a, "LOAD_FAST", 0);
    emit(a, "STORE_FAST", 1);
    int32_t second = here(a);
    emit(a, "LOAD_FAST", 0);
    emit(a, "STORE_FAST", 2);
    emit(a, "LOAD_FAST", 0);
    int32_t out = wide(a, if_false(a), 0);
    patch(a, wide(a, "JUMP_BACKWARD", 0), first);
    patch(a, into, second);
    patch(a, out, here(a));
    emit(a, "LOAD_FAST", 1);
    emit(a, "RETURN_VALUE", 0);
}

static void body_jump_to_self(Asm *a) {
    emit(a, "RESUME", 0);
    int32_t at = wide(a, "JUMP_BACKWARD", 0);
    patch(a, at, at);
}

static void body_loop_to_start(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    emit(a, "STORE_FAST", 0);
    patch(a, wide(a, "JUMP_BACKWARD", 0), 0);
}

static void body_dead_garbage(Asm *a) {
    leave(a);
    for (int k = 0; k < 20; k++)
        unit(a, 255 - k, 0);
    wide(a, "JUMP_FORWARD", 1 << 20);
    emit(a, "POP_TOP", 0);
}

static void body_no_return(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    emit(a, "POP_TOP", 0);
}

static void body_jump_far(Asm *a) {
    wide(a, "JUMP_FORWARD", 1000);
    leave(a);
}

static void body_jump_before_start(Asm *a) {
    wide(a, "JUMP_BACKWARD", 1000);
    leave(a);
}

/* Into the operand's prefix and into a cache: no instruction starts there. */
static void body_jump_into_prefix(Asm *a) {
    emit(a, "JUMP_FORWARD", 2);
    wide(a, "LOAD_CONST", 0);
    emit(a, "RETURN_VALUE", 0);
}

static void body_jump_into_cache(Asm *a) {
    emit(a, "JUMP_FORWARD", 1);
    emit(a, "LOAD_GLOBAL", 0);
    leave(a);
}

static void body_underflow(Asm *a) {
    emit(a, "POP_TOP", 0);
    leave(a);
}

static void body_call_underflow(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    wide(a, "CALL", INT32_MAX);
    leave(a);
}

static void body_tuple_underflow(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    wide(a, "BUILD_TUPLE", INT32_MAX);
    leave(a);
}

static void body_overflow(Asm *a) {
    for (int k = 0; k < 100; k++)
        emit(a, "LOAD_CONST", 0);
    emit(a, "RETURN_VALUE", 0);
}

static void body_unpack_overflow(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    wide(a, "UNPACK_SEQUENCE", INT32_MAX);
    leave(a);
}

static void body_copy_deep(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    emit(a, "COPY", 2);
    leave(a);
}

static void body_swap_zero(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    emit(a, "SWAP", 0);
    leave(a);
}

static void body_bad_const(Asm *a) {
    emit(a, "LOAD_CONST", 200);
    emit(a, "RETURN_VALUE", 0);
}

static void body_bad_local(Asm *a) {
    wide(a, "LOAD_FAST", 1 << 20);
    emit(a, "RETURN_VALUE", 0);
}

static void body_bad_name(Asm *a) {
    wide(a, "LOAD_GLOBAL", 1 << 20);
    emit(a, "RETURN_VALUE", 0);
}

static void body_bad_operator(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    emit(a, "LOAD_FAST", 0);
    emit(a, "BINARY_OP", 250);
    emit(a, "RETURN_VALUE", 0);
}

static void body_unequal_depths(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    int32_t jump = wide(a, if_false(a), 0);
    emit(a, "LOAD_CONST", 0);
    patch(a, jump, here(a));
    leave(a);
}

static void body_unequal_kinds(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    int32_t jump = wide(a, if_false(a), 0);
    emit(a, "LOAD_CONST", 0);
    int32_t join = wide(a, "JUMP_FORWARD", 0);
    patch(a, jump, here(a));
    emit(a, "PUSH_NULL", 0);
    patch(a, join, here(a));
    emit(a, "POP_TOP", 0);
    leave(a);
}

static void body_null_as_value(Asm *a) {
    emit(a, "PUSH_NULL", 0);
    emit(a, "RETURN_VALUE", 0);
}

static void body_prefix_at_end(Asm *a) {
    leave(a);
    unit(a, bc_opcode_extended_arg(a->version), 1);
}

static void body_four_prefixes(Asm *a) {
    for (int k = 0; k < 4; k++)
        unit(a, bc_opcode_extended_arg(a->version), 0);
    leave(a);
}

static void body_negative_operand(Asm *a) {
    wide(a, "LOAD_CONST", (int32_t)0xfffffff0);
    emit(a, "RETURN_VALUE", 0);
}

static void body_cache_cut_off(Asm *a) {
    leave(a);
    unit(a, opcode(a, "LOAD_GLOBAL"), 0);
}

static void body_unknown_opcode(Asm *a) {
    for (int op = 255; op > 0; op--) {
        if (bc_opcode_name(a->version, op)) continue;
        unit(a, op, 0);
        break;
    }
    leave(a);
}

static void body_loop_over_value(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    wide(a, "FOR_ITER", 2);
    emit(a, "POP_TOP", 0);
    leave(a);
}

/* An iterator made, moved and used in a loop: its shadow variables move with it. */
static void body_iterator_moved(Asm *a) {
    emit(a, "LOAD_FAST", 0);
    emit(a, "GET_ITER", 0);
    emit(a, "LOAD_CONST", 1);
    emit(a, "SWAP", 2);
    emit(a, "COPY", 1);
    emit(a, "POP_TOP", 0);
    int32_t top = here(a);
    int32_t loop = wide(a, "FOR_ITER", 0);
    emit(a, "STORE_FAST", 1);
    patch(a, wide(a, "JUMP_BACKWARD", 0), top);
    patch(a, loop, here(a));
    if (a->version > 311) emit(a, "END_FOR", 0);
    if (a->version > 312) emit(a, "POP_TOP", 0);
    emit(a, "RETURN_VALUE", 0);
}

static void body_empty(Asm *a) {
    vec_reserve(a->arena, &a->bytes, 1);
}

static void body_odd(Asm *a) {
    leave(a);
    vec_push(a->arena, &a->bytes, 0);
}

typedef struct HandTest {
    const char *name;
    AsmBody body;
    DiagCode expected;
    bool builds;
} HandTest;

static const HandTest hand_tests[] = {
    {"CF_08_irreducible", body_irreducible, 0, true},
    {"CF_08_jump_to_self", body_jump_to_self, 0, true},
    {"CF_08_loop_to_start", body_loop_to_start, 0, true},
    {"CF_08_dead_garbage", body_dead_garbage, 0, true},
    {"CF_03_iterator_moved", body_iterator_moved, 0, true},
    {"BYT_07_no_return", body_no_return, E0103, false},
    {"BYT_07_jump_far", body_jump_far, E0103, false},
    {"BYT_07_jump_before_start", body_jump_before_start, E0103, false},
    {"BYT_07_jump_into_prefix", body_jump_into_prefix, E0103, false},
    {"BYT_07_jump_into_cache", body_jump_into_cache, E0103, false},
    {"BYT_07_underflow", body_underflow, E0103, false},
    {"BYT_07_call_underflow", body_call_underflow, E0103, false},
    {"BYT_07_tuple_underflow", body_tuple_underflow, E0103, false},
    {"BYT_07_overflow", body_overflow, E0103, false},
    {"BYT_07_unpack_overflow", body_unpack_overflow, E0103, false},
    {"BYT_07_copy_deep", body_copy_deep, E0103, false},
    {"BYT_07_swap_zero", body_swap_zero, E0103, false},
    {"BYT_07_bad_const", body_bad_const, E0103, false},
    {"BYT_07_bad_local", body_bad_local, E0103, false},
    {"BYT_07_bad_name", body_bad_name, E0103, false},
    {"BYT_07_bad_operator", body_bad_operator, E0103, false},
    {"BYT_07_unequal_depths", body_unequal_depths, E0103, false},
    {"BYT_07_unequal_kinds", body_unequal_kinds, E0103, false},
    {"BYT_07_null_as_value", body_null_as_value, E0103, false},
    {"BYT_07_prefix_at_end", body_prefix_at_end, E0103, false},
    {"BYT_07_four_prefixes", body_four_prefixes, E0103, false},
    {"BYT_07_negative_operand", body_negative_operand, E0103, false},
    {"BYT_07_cache_cut_off", body_cache_cut_off, E0103, false},
    {"BYT_07_unknown_opcode", body_unknown_opcode, E0102, false},
    {"BYT_07_loop_over_value", body_loop_over_value, E0101, false},
    {"BYT_07_empty", body_empty, E0103, false},
    {"BYT_07_odd", body_odd, E0103, false},
};

static void test_BYT_07_hand_made(void) {
    for (int32_t version = VERSION_FIRST; version <= VERSION_LAST; version++)
        for (int k = 0; k < countof(hand_tests); k++)
            check_hand(version, hand_tests[k].name, hand_tests[k].body, hand_tests[k].expected,
                       hand_tests[k].builds);
}

static void check_table(const char *what, const uint8_t *bytes, int32_t n, DiagCode expected,
                        bool builds) {
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, 313, 2);
    leave(&a);
    leave(&a); /* units 2 and 3 are dead */
    a.code.exceptions = arena_copy(&s.arena, bytes, (size_t)n);
    a.code.nexceptions = n;
    asm_build(&a, &s);
    if (builds)
        CHECK(s.func != NULL, "%s: %s", what, first_message(&s));
    else
        CHECK(refused_with(&s, expected), "%s: %s", what, first_message(&s));
    session_close(&s);
}

/* start, length, target, depth * 2 + lasti; 0x80 marks the first byte, 0x40 that another follows. */
static void test_BYT_07_exception_tables(void) {
    check_table("dead code covered", (const uint8_t[]){0x82, 2, 0, 0}, 4, 0, true);
    check_table("live code covered", (const uint8_t[]){0x80, 1, 2, 0}, 4, 0, true);
    check_table("overlapping", (const uint8_t[]){0x80, 2, 2, 0, 0x81, 1, 3, 0}, 8, E0103, false);
    check_table("empty", (const uint8_t[]){0x80, 0, 2, 0}, 4, E0103, false);
    check_table("two groups", (const uint8_t[]){0xc0, 2, 2, 0, 0}, 5, 0, true);
    check_table("cut off", (const uint8_t[]){0x80, 1, 2}, 3, E0103, false);
    check_table("no start mark", (const uint8_t[]){0, 1, 2, 0}, 4, E0103, false);
    check_table("mark inside", (const uint8_t[]){0x80, 0x81, 2, 0}, 4, E0103, false);
    check_table("past the end", (const uint8_t[]){0x82, 3, 0, 0}, 4, E0103, false);
    check_table("bad target", (const uint8_t[]){0x82, 1, 4, 0}, 4, E0103, false);
    check_table("endless number", (const uint8_t[]){0xff, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x3f}, 7,
                E0103, false);
}

static void check_header(const char *what, DiagCode expected, void (*change)(CodeUnit *)) {
    Session s;
    Asm a;
    session_open(&s);
    asm_open(&a, &s.arena, 314, 2);
    leave(&a);
    change(&a.code);
    asm_build(&a, &s);
    CHECK(refused_with(&s, expected), "%s: %s", what, first_message(&s));
    session_close(&s);
}

static void old_version(CodeUnit *c) {
    c->version = 310;
}
static void new_version(CodeUnit *c) {
    c->version = 315;
}
static void many_args(CodeUnit *c) {
    c->nargs = INT32_MAX;
}
static void negative_args(CodeUnit *c) {
    c->nargs = -1;
}
static void negative_consts(CodeUnit *c) {
    c->nconsts = -1;
}
static void negative_stack(CodeUnit *c) {
    c->stacksize = -1;
}
static void huge_stack(CodeUnit *c) {
    c->stacksize = INT32_MAX;
}
static void huge_locals(CodeUnit *c) {
    c->nlocals = INT32_MAX;
}
static void free_parameter(CodeUnit *c) {
    static const uint8_t kinds[] = {LOCAL_FREE, LOCAL_PLAIN};
    c->local_kinds = kinds;
}

static void test_BYT_07_headers(void) {
    check_header("3.10", E0104, old_version);
    check_header("3.15", E0104, new_version);
    check_header("many args", E0103, many_args);
    check_header("negative args", E0103, negative_args);
    check_header("negative consts", E0103, negative_consts);
    check_header("negative stack", E0103, negative_stack);
    check_header("huge stack", E0105, huge_stack);
    check_header("huge locals", E0105, huge_locals);
    check_header("free parameter", E0103, free_parameter);
}

/* def f(): return None */
static void test_BYT_07_no_variables(void) {
    static const int32_t versions[] = {311, 312, 313, 314};
    for (size_t k = 0; k < countof(versions); k++) {
        Session s;
        Asm a;
        session_open(&s);
        asm_open(&a, &s.arena, versions[k], 0);
        a.code.nargs = 0;
        leave(&a);
        asm_build(&a, &s);
        CHECK(s.func != NULL, "%d: %s", (int)versions[k], first_message(&s));
        session_close(&s);
    }
}

int main(void) {
    test_BYT_07_hand_made();
    test_BYT_07_exception_tables();
    test_BYT_07_headers();
    test_BYT_07_no_variables();
    test_CF_06_bounded_stack();
    printf("test_bytecode_hand: %d checks, %d failures\n", checks, failures);
    return failures != 0;
}
