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
/* weak op strong without widening, and the phi of both: one rule */
static const char *const with_weak[] = {
    "wint i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128",
    "wflt f64 f64 f64 f64 f64 f64 f64 f64 f16 f32 f64 c64 c128",
    "wcpx c128 c128 c128 c128 c128 c128 c128 c128 c64 c64 c128 c64 c128",
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
    if (type_class(t) == CLASS_SINT) return T("i64");
    return type_class(t) == CLASS_UINT ? T("u64") : t;
}

static void promote_is(const Type *a, const Type *b, const Type *expected) {
    const Type *narrow = ti_promote(types, a, b, false), *wide = ti_promote(types, a, b, true);
    CHECK(narrow == expected, "%s %s: %s", text_of(a), text_of(b), text_of(narrow));
    CHECK(wide == widened(expected), "%s %s: %s", text_of(a), text_of(b), text_of(wide));
    CHECK(ti_promote(types, b, a, false) == narrow, "%s %s", text_of(a), text_of(b));
    CHECK(ti_promote(types, b, a, true) == wide, "%s %s", text_of(a), text_of(b));
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

static void test_phi_of_weak_numbers(void) {
    for (int i = 0; i < countof(weak); i++)
        for (int k = 0; k < countof(strong); k++) {
            const Type *t = ti_join(types, T(weak[i]), T(strong[k]));
            CHECK(t == word(with_weak[i], k), "%s %s: %s", weak[i], strong[k], text_of(t));
        }
}

/* -- laws ---------------------------------------------------------------------------------------- */

static const Type *scalars[TY_SCALARS];
static int nscalars;

static bool below(const Type *a, const Type *b) {
    return ti_join(types, a, b) == b;
}

static void check_laws(const Type *a, const Type *b, const Type *c) {
    const Type *ab = ti_join(types, a, b), *bc = ti_join(types, b, c);
    CHECK(ti_join(types, ab, c) == ti_join(types, a, bc), "%s %s %s", text_of(a), text_of(b),
          text_of(c));
    /* least: whatever lies above both lies above the join */
    if (below(a, c) && below(b, c))
        CHECK(below(ab, c), "%s %s %s", text_of(a), text_of(b), text_of(c));
    /* An operand that rises while inference runs does not make the result fall, with two exceptions that
     * NumPy's rules force: a narrow unsigned int that meets a signed one (u64 before, i64 then), and
     * a narrow int beside what becomes float32 (int64 before, float32 then). */
    bool narrow_int = type_is_int(c) && type_bits(c) < 32;
    if (!below(a, b) || narrow_int) return;
    const Type *x = ti_promote(types, a, c, true), *y = ti_promote(types, b, c, true);
    if (x->kind == TY_u64 && y->kind == TY_i64) return;
    CHECK(below(x, y), "%s to %s with %s: %s to %s", text_of(a), text_of(b), text_of(c), text_of(x),
          text_of(y));
}

static void test_join_is_a_semilattice(void) {
    for (int k = TY_bool; k < TY_SCALARS; k++)
        scalars[nscalars++] = type_scalar(types, (TypeKind)k);
    CHECK(nscalars == 17, "%d", nscalars);
    for (int i = 0; i < nscalars; i++) {
        CHECK(ti_join(types, scalars[i], scalars[i]) == scalars[i], "%d", i);
        for (int k = 0; k < nscalars; k++) {
            const Type *ab = ti_join(types, scalars[i], scalars[k]);
            CHECK(ab && ab == ti_join(types, scalars[k], scalars[i]), "%d %d", i, k);
            CHECK(ab && below(scalars[i], ab) && below(scalars[k], ab), "%d %d", i, k);
            for (int m = 0; m < nscalars; m++)
                check_laws(scalars[i], scalars[k], scalars[m]);
        }
    }
}

/* -- compound types ------------------------------------------------------------------------------ */

static void join_is(const char *a, const char *b, const char *expected) {
    const Type *x = T(a), *y = T(b), *e = expected ? T(expected) : NULL;
    CHECK(ti_join(types, x, y) == e, "%s %s: %s", a, b, text_of(ti_join(types, x, y)));
    CHECK(ti_join(types, y, x) == e, "%s %s: %s", b, a, text_of(ti_join(types, y, x)));
}

static void test_join_of_compound_types(void) {
    join_is("i8", "f32", "f64"); /* not float32: int8 with a weak float is float64 too */
    join_is("i64", "u64", "f64");
    join_is("i64", "none", "optional(i64)");
    join_is("optional(wint)", "f32", "optional(f32)");
    join_is("optional(i8)", "optional(u8)", "optional(i16)");
    join_is("none", "none", "none");
    join_is("none", "optional(f32)", "optional(f32)");
    join_is("tuple(wint, f32)", "tuple(i32, wflt)", "tuple(i32, f32)");
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
    CHECK(ti_join(types, unknown, T("f32")) == T("f32"), "bottom");
    CHECK(ti_join(types, T("array(f32, 2, C)"), unknown) == T("array(f32, 2, C)"), "bottom");
    CHECK(!ti_promote(types, T("none"), T("i64"), true), "none is no number");
    CHECK(!ti_promote(types, T("tuple(i64)"), T("i64"), true), "a tuple is no number");
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
    test_phi_of_weak_numbers();
    test_join_is_a_semilattice();
    test_join_of_compound_types();
    test_conversions();
    return test_end("test_lattice");
}
