/* test_lattice.c - joins, promotion and conversions of types, exhaustively over the scalars.
 *
 * The table of strong numbers is what NumPy 2.5 answers to np.result_type; the table of weak ones is
 * DESIGN 4, written out by hand. */
#include "tests/unit/ti_test.h"
#include <stdlib.h>

static const char *const strong[] = {"bool", "i8",  "i16", "i32", "i64", "u8",  "u16",
                                     "u32",  "u64", "f16", "f32", "f64", "c64", "c128"};
static const char *const numpy[] = {
    "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128",
    "i8 i8 i16 i32 i64 i16 i32 i64 f64 f16 f32 f64 c64 c128",
    "i16 i16 i16 i32 i64 i16 i32 i64 f64 f32 f32 f64 c64 c128",
    "i32 i32 i32 i32 i64 i32 i32 i64 f64 f64 f64 f64 c128 c128",
    "i64 i64 i64 i64 i64 i64 i64 i64 f64 f64 f64 f64 c128 c128",
    "u8 i16 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128",
    "u16 i32 i32 i32 i64 u16 u16 u32 u64 f32 f32 f64 c64 c128",
    "u32 i64 i64 i64 i64 u32 u32 u32 u64 f64 f64 f64 c128 c128",
    "u64 f64 f64 f64 f64 u64 u64 u64 u64 f64 f64 f64 c128 c128",
    "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 f32 f64 c64 c128",
    "f32 f32 f32 f64 f64 f32 f32 f64 f64 f32 f32 f64 c64 c128",
    "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",
    "c64 c64 c64 c128 c128 c64 c64 c128 c128 c64 c64 c128 c64 c128",
    "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
};
static const char *const weak[] = {"wint", "wflt", "wcpx"};
/* weak op strong, and the phi of both in a kernel: one rule */
static const char *const with_weak[] = {
    "wint i64 i64 i64 i64 i64 i64 i64 u64 f16 f32 f64 c64 c128",
    "wflt f64 f64 f64 f64 f64 f64 f64 f64 f16 f32 f64 c64 c128",
    "wcpx c128 c128 c128 c128 c128 c128 c128 c128 c64 c64 c128 c64 c128",
};
static const char *const meets_weak[] = {
    "wint i64 i64 i64 i64 i64 i64 i64 u64 f64 f64 f64 c128 c128",
    "wflt f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",
    "wcpx c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
};

/* Word `k` of a row. */
static const Type *word(const char *row, int k) {
    while (k--)
        row = strchr(row, ' ') + 1;
    return type_parse(types, &row);
}

static const Type *widened(const Type *t) {
    if (t->kind == TY_bool) return T("wint");
    if (type_is_weak(t)) return t;
    return type_is_int(t) && t->kind != TY_u64 ? T("i64") : t;
}

static void promote_is(const Type *a, const Type *b, const Type *expected) {
    const Type *narrow = ti_promote(types, ARITH_PLAIN, a, b);
    const Type *wide = ti_promote(types, ARITH_WIDE, a, b);
    CHECK(narrow == expected, "%s %s: %s", text_of(a), text_of(b), text_of(narrow));
    CHECK(wide == widened(expected), "%s %s: %s", text_of(a), text_of(b), text_of(wide));
    CHECK(ti_promote(types, ARITH_PLAIN, b, a) == narrow, "%s %s", text_of(a), text_of(b));
    CHECK(ti_promote(types, ARITH_WIDE, b, a) == wide, "%s %s", text_of(a), text_of(b));
}

static void test_INT_13_promotion_of_strong_numbers(void) {
    for (int i = 0; i < countof(strong); i++)
        for (int k = 0; k < countof(strong); k++)
            promote_is(T(strong[i]), T(strong[k]), word(numpy[i], k));
}

static void test_FLT_14_promotion_of_weak_numbers(void) {
    for (int i = 0; i < countof(weak); i++) {
        for (int k = 0; k < countof(strong); k++)
            promote_is(T(weak[i]), T(strong[k]), word(with_weak[i], k));
        for (int k = 0; k < countof(weak); k++)
            promote_is(T(weak[i]), T(weak[k]), T(weak[QN_MAX(i, k)]));
    }
}

static void test_N14_a_python_int_beside_a_ufunc_s_int(void) {
    for (int k = 0; k < countof(strong); k++) {
        const Type *t = T(strong[k]);
        const Type *expected = type_is_int(t) ? t : word(with_weak[0], k);
        CHECK(ti_promote(types, ARITH_UFUNC, T("wint"), t) == expected, "%s", strong[k]);
        CHECK(ti_promote(types, ARITH_UFUNC, t, T("wint")) == expected, "%s", strong[k]);
    }
}

static void test_N14_an_int_beside_a_float_in_numba_s_ufuncs(void) {
    static const char *const ints[] = {"i8", "u16", "i32", "u32", "i64", "u64"};
    static const char *const floats[] = {"f32", "f64", "c64", "c128"};
    for (int i = 0; i < countof(ints); i++) {
        for (int k = 0; k < countof(floats); k++) {
            const Type *t = T(floats[k]);
            CHECK(ti_promote(types, ARITH_NUMBA_UFUNC, T(ints[i]), t) == t, "%s", floats[k]);
            CHECK(ti_promote(types, ARITH_NUMBA_UFUNC, t, T(ints[i])) == t, "%s", floats[k]);
        }
        CHECK(ti_promote(types, ARITH_NUMBA_UFUNC, T(ints[i]), T("i64")) ==
                  ti_promote(types, ARITH_PLAIN, T(ints[i]), T("i64")),
              "%s", ints[i]);
    }
    CHECK(ti_promote(types, ARITH_NUMBA_UFUNC, T("i64"), T("f16")) == T("f64"), "no loops");
}

static void test_N04_phi_of_weak_numbers(void) {
    for (int i = 0; i < countof(weak); i++)
        for (int k = 0; k < countof(strong); k++) {
            const Type *w = T(weak[i]), *s = T(strong[k]);
            CHECK(ti_join(types, JOIN_CPU, w, s) == word(meets_weak[i], k), "%s %s", weak[i],
                  strong[k]);
            CHECK(ti_join(types, JOIN_KERNEL, w, s) == word(with_weak[i], k), "%s %s", weak[i],
                  strong[k]);
        }
    for (int i = 0; i < countof(strong); i++)
        for (int k = 0; k < countof(strong); k++)
            CHECK(ti_join(types, JOIN_NUMBA, T(strong[i]), T(strong[k])) == word(numpy[i], k),
                  "%s %s", strong[i], strong[k]);
}

/* -- laws ---------------------------------------------------------------------------------------- */

/* Whatever can come of numbers that meet: all scalars, and what the type alone does not tell. */
static Meet numbers[TY_SCALARS + 8];
static int nnumbers;

static bool same(Meet a, Meet b) {
    return a.type == b.type && a.python == b.python;
}

static Meet meet(JoinRule rule, Meet a, Meet b) {
    Meet both;
    ti_meet(types, rule, a, b, &both);
    return both;
}

static bool below(JoinRule rule, Meet a, Meet b) {
    return same(meet(rule, a, b), b);
}

static void check_laws(JoinRule rule, Meet a, Meet b, Meet c) {
    Meet ab = meet(rule, a, b), bc = meet(rule, b, c);
    CHECK(same(meet(rule, ab, c), meet(rule, a, bc)), "%s:%d %s:%d %s:%d", text_of(a.type),
          a.python, text_of(b.type), b.python, text_of(c.type), c.python);
    /* least: whatever lies above both lies above the join; with that, joins are monotone */
    if (below(rule, a, c) && below(rule, b, c))
        CHECK(below(rule, ab, c), "%s %s %s", text_of(a.type), text_of(b.type), text_of(c.type));
    if (below(rule, a, b))
        CHECK(below(rule, meet(rule, a, c), bc), "%s %s %s", text_of(a.type), text_of(b.type),
              text_of(c.type));
}

static void test_N04_what_meets_is_a_semilattice(JoinRule rule) {
    nnumbers = 0;
    for (int k = TY_bool; k < TY_SCALARS; k++)
        numbers[nnumbers++] = (Meet){type_scalar(types, (TypeKind)k), 0};
    numbers[nnumbers++] = (Meet){T("wint"), MET_NEGATIVE};
    numbers[nnumbers++] = (Meet){T("i64"), MET_UNSIGNED};
    numbers[nnumbers++] = (Meet){T("i64"), MET_UNSIGNED | MET_NEGATIVE};
    numbers[nnumbers++] = (Meet){T("u64"), MET_NEGATIVE}; /* an error, unless a float comes */
    for (int i = 0; i < nnumbers; i++) {
        CHECK(same(meet(rule, numbers[i], numbers[i]), numbers[i]), "%d", i);
        for (int k = 0; k < nnumbers; k++) {
            Meet ab = meet(rule, numbers[i], numbers[k]);
            CHECK(same(ab, meet(rule, numbers[k], numbers[i])), "%d %d", i, k);
            bool known = false;
            for (int m = 0; m < nnumbers; m++) {
                known |= same(ab, numbers[m]);
                check_laws(rule, numbers[i], numbers[k], numbers[m]);
            }
            CHECK(known, "%d %d: %s:%d", i, k, text_of(ab.type), ab.python);
        }
    }
}

/* Sequences of numbers in any order give one type; one more never makes it fall. */
static void test_N04_the_order_of_meetings_does_not_matter(JoinRule rule) {
    unsigned seed = 12345;
    for (int round = 0; round < 20000; round++) {
        Meet items[6], forward, backward;
        for (int i = 0; i < 6; i++) {
            seed = seed * 1103515245u + 12345u;
            items[i] = numbers[(seed >> 16) % (unsigned)nnumbers];
        }
        forward = items[0], backward = items[5];
        for (int i = 1; i < 6; i++) {
            Meet before = forward;
            forward = meet(rule, forward, items[i]);
            CHECK(below(rule, before, forward), "%s to %s", text_of(before.type),
                  text_of(forward.type));
            backward = meet(rule, items[5 - i], backward);
        }
        CHECK(same(forward, backward), "%s %s", text_of(forward.type), text_of(backward.type));
    }
}

/* -- compound types ------------------------------------------------------------------------------ */

static void join_is(const char *a, const char *b, const char *expected) {
    const Type *x = T(a), *y = T(b), *e = expected ? T(expected) : NULL;
    const Type *both = ti_join(types, JOIN_CPU, x, y);
    CHECK(both == e, "%s %s: %s", a, b, text_of(both));
    CHECK(ti_join(types, JOIN_CPU, y, x) == e, "%s %s", b, a);
}

static void test_join_of_compound_types(void) {
    join_is("i8", "f32", "f64"); /* not float32: int8 with a weak float is float64 too */
    join_is("i64", "u64", "f64");
    join_is("i64", "none", "optional(i64)");
    join_is("optional(wint)", "f32", "optional(f64)");
    join_is("optional(i8)", "optional(u8)", "optional(i16)");
    join_is("none", "none", "none");
    join_is("none", "optional(f32)", "optional(f32)");
    join_is("tuple(wint, f32)", "tuple(i32, wflt)", "tuple(i64, f64)");
    join_is("tuple(i64)", "tuple(i64, i64)", NULL);
    join_is("tuple(i64)", "i64", NULL);
    join_is("array(f32, 2, C)", "array(f32, 2, F)", "array(f32, 2, A)");
    join_is("array(f32, 2, C)", "array(f32, 2, C, readonly)", "array(f32, 2, C, readonly)");
    join_is("array(f32, 2, C, unaligned)", "array(f32, 2, C)", "array(f32, 2, C, unaligned)");
    join_is("array(f32, 2, C)", "array(f64, 2, C)", NULL);
    join_is("array(f32, 2, C)", "array(f32, 1, C)", NULL);
    join_is("array(f32, 1, C)", "array(f32, 1, C, shared)", NULL);
    join_is("array(f32, 1, C, shared)", "array(f32, 1, A, shared)", "array(f32, 1, A, shared)");
    join_is("range(wint)", "range(i64)", "range(i64)");
    const Type *unknown = type_unknown(types);
    CHECK(ti_join(types, JOIN_CPU, unknown, T("f32")) == T("f32"), "bottom");
    const Type *array = T("array(f32, 2, C)");
    CHECK(ti_join(types, JOIN_CPU, array, unknown) == array, "bottom");
    CHECK(!ti_promote(types, ARITH_WIDE, T("none"), T("i64")), "none is no number");
    CHECK(!ti_promote(types, ARITH_WIDE, T("tuple(i64)"), T("i64")), "a tuple is no number");
}

static void conversion_is(const char *from, const char *to, Conversion expected) {
    CHECK(ti_conversion(T(from), T(to)) == expected, "%s to %s: %d", from, to,
          ti_conversion(T(from), T(to)));
}

static void test_conversions(void) {
    conversion_is("i32", "i32", CONV_EXACT);
    conversion_is("i32", "i64", CONV_PROMOTE);
    conversion_is("f32", "f64", CONV_PROMOTE);
    conversion_is("i32", "f64", CONV_SAFE);
    conversion_is("u8", "i16", CONV_SAFE);
    conversion_is("bool", "i64", CONV_SAFE);
    conversion_is("i16", "f32", CONV_SAFE);
    conversion_is("i64", "i32", CONV_UNSAFE);
    conversion_is("i32", "f32", CONV_UNSAFE);
    conversion_is("f64", "i64", CONV_UNSAFE);
    conversion_is("i64", "u64", CONV_UNSAFE);
    conversion_is("c128", "f64", CONV_NONE);
    conversion_is("f64", "c128", CONV_SAFE);
    conversion_is("wint", "i64", CONV_PROMOTE);
    conversion_is("wint", "f64", CONV_SAFE);
    conversion_is("wint", "i32", CONV_UNSAFE);
    conversion_is("wflt", "f64", CONV_PROMOTE);
    conversion_is("wflt", "f32", CONV_UNSAFE);
    conversion_is("wcpx", "c128", CONV_PROMOTE);
    conversion_is("wint", "wflt", CONV_PROMOTE);
    conversion_is("i64", "wint", CONV_NONE);
    conversion_is("none", "i64", CONV_NONE);
    conversion_is("none", "optional(i64)", CONV_SAFE);
    conversion_is("i32", "optional(i64)", CONV_SAFE);
    conversion_is("i64", "optional(i32)", CONV_UNSAFE);
    conversion_is("tuple(wint, f32)", "tuple(i64, f64)", CONV_PROMOTE);
    conversion_is("tuple(i64, i64)", "tuple(i64, i32)", CONV_UNSAFE);
    conversion_is("tuple(i64)", "tuple(i64, i64)", CONV_NONE);
    conversion_is("array(f32, 2, C)", "array(f32, 2, A)", CONV_SAFE);
    conversion_is("array(f32, 2, A)", "array(f32, 2, C)", CONV_NONE);
    conversion_is("array(f32, 1, C)", "array(f32, 1, C, readonly)", CONV_PROMOTE);
    conversion_is("array(f32, 1, C, readonly)", "array(f32, 1, C)", CONV_NONE);
    conversion_is("array(f32, 1, C, unaligned)", "array(f32, 1, C)", CONV_NONE);
    conversion_is("array(f32, 1, C)", "array(f64, 1, C)", CONV_NONE);
}

int main(void) {
    test_begin();
    test_INT_13_promotion_of_strong_numbers();
    test_FLT_14_promotion_of_weak_numbers();
    test_N14_a_python_int_beside_a_ufunc_s_int();
    test_N14_an_int_beside_a_float_in_numba_s_ufuncs();
    test_N04_phi_of_weak_numbers();
    for (int rule = JOIN_CPU; rule <= JOIN_KERNEL; rule++) { /* Numba's rule is no semilattice */
        test_N04_what_meets_is_a_semilattice((JoinRule)rule);
        test_N04_the_order_of_meetings_does_not_matter((JoinRule)rule);
    }
    test_join_of_compound_types();
    test_conversions();
    return test_end("test_lattice");
}
