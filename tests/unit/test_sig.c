/* test_sig.c - the two signature languages: rows of the library, and signatures of users. */
#include "tests/unit/ti_test.h"
#include "typeinfer/sig.h"

/* -- rows ---------------------------------------------------------------------------------------- */

/* "params -> result" of a signature for argument types, or "no". */
static const char *matched(const char *signature, uint32_t flags, const char *args_text) {
    const LibRow row = {.name = "test", .signature = signature, .flags = flags};
    const Type *args[64];
    int32_t n = type_list_of(args_text, args);
    LibMatch match;
    Fit fit;
    if (!sig_match(types, &row, args, n, false, &match, &fit)) return "no";
    StrBuf out;
    buf_init(&out, &arena);
    for (int32_t i = 0; i < n; i++) {
        type_print(&out, match.params[i]);
        buf_str(&out, i + 1 < n ? ", " : " ");
    }
    buf_str(&out, "-> ");
    if (match.result)
        type_print(&out, match.result);
    else
        buf_str(&out, "any");
    return buf_take(&out).bytes;
}

static void row_is(const char *signature, uint32_t flags, const char *args, const char *expected) {
    const char *got = matched(signature, flags, args);
    CHECK(strcmp(got, expected) == 0, "%s of (%s) is %s, not %s", signature, args, got, expected);
}

static void test_class_letters(void) {
    row_is("(I,I)->I", 0, "i8, i16", "i16, i16 -> i16");
    row_is("(I,I)->I", LIB_WIDEN, "i8, i16", "i64, i64 -> i64");
    row_is("(I,I)->I", LIB_WIDEN, "u8, u16", "i64, i64 -> i64");
    row_is("(I,I)->I", LIB_WIDEN, "bool, bool", "wint, wint -> wint");
    row_is("(I,I)->I", LIB_WIDEN, "wint, u8", "i64, i64 -> i64");
    row_is("(I,I)->I", LIB_WIDEN, "i64, u64", "no");
    row_is("(Z,Z)->Z", LIB_WIDEN, "i64, u64", "i64, i64 -> i64");
    row_is("(I,I)->I", 0, "i64, f32", "no");
    row_is("(F,F)->F", 0, "i64, f32", "f64, f64 -> f64");
    row_is("(F,F)->F", 0, "wint, f32", "f32, f32 -> f32");
    row_is("(F,F)->F", 0, "wint, wint", "wflt, wflt -> wflt");
    row_is("(F,F)->F", 0, "i8, wint", "f64, f64 -> f64");
    row_is("(F)->F", 0, "bool", "wflt -> wflt");
    row_is("(F)->F", 0, "c64", "no");
    row_is("(C)->C", 0, "f32", "c64 -> c64");
    row_is("(C)->C", 0, "i32", "c128 -> c128");
    row_is("(C)->C", 0, "wint", "wcpx -> wcpx");
    row_is("(C,C)->C", 0, "c64, wflt", "c64, c64 -> c64");
    row_is("(C,C)->C", 0, "c64, f64", "c128, c128 -> c128");
    row_is("(R,R*)->R", 0, "i8, wflt, f32", "f64, f64, f64 -> f64");
    row_is("(R)->R", 0, "c64", "no");
    row_is("(N,N)->N", 0, "i64, c64", "c128, c128 -> c128");
    row_is("(B,B)->bool", 0, "bool, bool", "bool, bool -> bool");
    row_is("(B,B)->bool", 0, "bool, i8", "no");
    row_is("(S,S1)->bool", 0, "u64, i8", "u64, i8 -> bool");
    row_is("(S,S1)->bool", 0, "u64, none", "no");
    row_is("(A)->elem(A)", 0, "array(f32, 2, C)", "array(f32, 2, C) -> f32");
    row_is("(A)->elem(A)", 0, "f32", "no");
    row_is("(X,X)->X", 0, "none, i64", "optional(i64), optional(i64) -> optional(i64)");
}

static void test_type_functions(void) {
    row_is("(C)->comp(C)", 0, "c64", "c64 -> f32");
    row_is("(C)->comp(C)", 0, "wcpx", "wcpx -> wflt");
    row_is("(I)->wide(I)", 0, "u16", "u16 -> i64");
    row_is("(F)->strong(F)", 0, "wint", "wflt -> f64");
    row_is("(F)->int(F)", 0, "f32", "f32 -> wint");
    row_is("(F)->int(F)", 0, "wflt", "wflt -> wint");
    row_is("(I)->int(I)", 0, "u8", "u8 -> wint");
    row_is("(I)->float(I)", 0, "wint", "wint -> wflt");
    row_is("(F,F)->cpx(F)", 0, "f32, wflt", "f32, f32 -> c64");
    row_is("(F)->tuple(F,int(F))", 0, "wflt", "wflt -> tuple(wflt, wint)");
    row_is("(F)->arr(F,2)", 0, "wint", "wflt -> array(f64, 2, C)");
    row_is("(A)->arr(A,1)", 0, "array(f32, 2, F)", "array(f32, 2, F) -> array(f32, 1, C)");
    row_is("(I,like(I))->I", LIB_WIDEN, "u8, i64", "i64, i64 -> i64");
    row_is("(I,like(I))->I", LIB_WIDEN, "wint, i64", "no");
    row_is("(I,like(I))->I", LIB_WIDEN, "i64, f32", "no");
    row_is("(weak(I),I)->I", LIB_WIDEN, "wint, u8", "i64, i64 -> i64");
    row_is("(weak(I),I)->I", LIB_WIDEN, "i64, u8", "no");
    row_is("(any,any)->any", 0, "none, f32", "none, f32 -> any");
    row_is("(A,any)->elem(A)", 0, "array(i8, 1, A), tuple(i64)",
           "array(i8, 1, A), tuple(i64) -> i8");
}

static void test_words_and_counts(void) {
    row_is("(u32,N,i32)->N", 0, "wint, f32, wint", "u32, f32, i32 -> f32");
    row_is("(F,i32)->F", 0, "f32, i64", "f32, i32 -> f32");
    row_is("(F,i32)->F", 0, "f32, f32", "no");
    row_is("(bool)->wint", 0, "f64", "bool -> wint");
    row_is("(f64)->f64", 0, "i64", "f64 -> f64");
    row_is("(wint)->wint", 0, "i64", "no");
    row_is("()->i32", 0, "", "-> i32");
    row_is("()->i32", 0, "i32", "no");
    row_is("(I,I?)->I", 0, "i32", "i32 -> i32");
    row_is("(I,I?)->I", 0, "i32, i64", "i64, i64 -> i64");
    row_is("(I,I?)->I", 0, "", "no");
    row_is("(I,I?)->I", 0, "i32, i32, i32", "no");
    row_is("(R,R*)->R", 0, "i32", "no");
    row_is("(any*)->none", 0, "i32, none, f32", "i32, none, f32 -> none");
    const Type *many[LIB_MAX_ARGS + 1];
    for (int i = 0; i <= LIB_MAX_ARGS; i++)
        many[i] = T("i64");
    LibRow row = {.name = "test", .signature = "(R,R*)->R"};
    LibMatch match;
    Fit fit;
    CHECK(sig_match(types, &row, many, LIB_MAX_ARGS, false, &match, &fit), "sixteen");
    CHECK(!sig_match(types, &row, many, LIB_MAX_ARGS + 1, false, &match, &fit), "seventeen");
    CHECK(sig_is_literal("(I,lit I?)->I", 1) && !sig_is_literal("(I,lit I?)->I", 0), "lit");
}

static void test_costs_rank_rows(void) {
    static const char *const rows[] = {"(i64)->none", "(i32)->none", "(f64)->none", "(i8)->none"};
    static const Fit fits[] = {{.promote = 1}, {0}, {.safe = 1}, {.unsafe = 1}};
    const Type *arg = T("i32");
    for (int i = 0; i < countof(rows); i++) {
        LibRow row = {.name = "test", .signature = rows[i]};
        LibMatch match;
        Fit fit;
        CHECK(sig_match(types, &row, &arg, 1, false, &match, &fit) &&
                  memcmp(&fit, &fits[i], sizeof fit) == 0,
              "%s: %d unsafe, %d safe, %d promoted", rows[i], fit.unsafe, fit.safe, fit.promote);
    }
}

static void test_bad_rows_are_found(void) {
    static const char *const bad[] = {"",           "(I)",      "(I->I",       "(Q)->Q",
                                      "(i65)->i64", "(I)->F",   "(I)->foo(I)", "(I)->comp(I",
                                      "(I*,I)->I",  "(I)->I x", "(F G)->F",    "(I)->elem(i64)"};
    for (int i = 0; i < countof(bad); i++)
        CHECK(sig_check(bad[i]), "%s", bad[i]);
    CHECK(!sig_check("(lit I, F?, any*)->tuple(I, arr(F, 2))"), "good");
}

/* -- users --------------------------------------------------------------------------------------- */

static const char *signature_of(const char *text) {
    DiagList diags;
    diag_init(&diags, &arena);
    Signature sig;
    if (!ti_parse_signature(types, &arena, text, &sig, &diags))
        return diags.items.len == 1 && diags.items.items[0].code == E0002
                   ? diags.items.items[0].text.bytes
                   : "not one E0002";
    if (diags.items.len) return "a diagnostic of a good signature";
    StrBuf out;
    buf_init(&out, &arena);
    for (int32_t i = 0; i < sig.nparams; i++) {
        if (i) buf_str(&out, ", ");
        type_print(&out, sig.params[i]);
    }
    buf_str(&out, " -> ");
    if (sig.result)
        type_print(&out, sig.result);
    else
        buf_str(&out, "?");
    return buf_take(&out).bytes;
}

static void user_is(const char *text, const char *expected) {
    const char *got = signature_of(text);
    CHECK(strcmp(got, expected) == 0, "'%s' is '%s', not '%s'", text, got, expected);
}

static void test_D03_signatures_of_users(void) {
    user_is("float64(float64[:], int32)", "array(f64, 1, A), i32 -> f64");
    user_is("f8(f8,f8)", "f64, f64 -> f64");
    user_is("(i8, f4[:, ::1])", "i64, array(f32, 2, C) -> ?");
    user_is("void(i1[::1], u8[::1, :], boolean)",
            "array(i8, 1, C), array(u64, 2, F), bool -> none");
    user_is("f8[:], i4, f8[:, ::1]", "array(f64, 1, A), i32, array(f64, 2, C) -> ?");
    user_is("void()", " -> none");
    user_is("()", " -> ?");
    user_is("int64(void)", " -> i64");
    user_is(" int64 ( int64 , int64, ) ", "i64, i64 -> i64");
    user_is("types.c16(types.complex64[:,:,:])", "array(c64, 3, A) -> c128");
    user_is("Array(float64, 2, 'C', readonly)(f8)", "f64 -> array(f64, 2, C, readonly)");
    user_is("void(Array(uint8, 3, \"F\", readonly=True, aligned=False))",
            "array(u8, 3, F, readonly, unaligned) -> none");
    user_is("void(Array(f4, 1, 'A', True))", "array(f32, 1, A, readonly) -> none");
    user_is("void(Array(f4, 0, C))", "array(f32, 0, C) -> none");
    user_is("Tuple((i8, f4))(UniTuple(int32, 2))", "tuple(i32, i32) -> tuple(i64, f32)");
    user_is("UniTuple(f8[:], 2)(i4)", "i32 -> tuple(array(f64, 1, A), array(f64, 1, A))");
    user_is("(int64, float32)(b1)", "bool -> tuple(i64, f32)");
    user_is("void((i8, (f4, f4)))", "tuple(i64, tuple(f32, f32)) -> none");
    user_is("optional(int64)(Optional(f8))", "optional(f64) -> optional(i64)");
    user_is("int_(intp, uintp, long, longlong, size_t, char, byte, double, float_, intc)",
            "i64, u64, i64, i64, u64, i8, u8, f64, f32, i32 -> i64");
    user_is("float(int, complex, bool)", "i64, c128, bool -> f64"); /* declared types are strong */
}

static void test_errors_say_where(void) {
    user_is("float64(flot64)",
            "invalid signature 'float64(flot64)': unknown type 'flot64' at position 9");
    user_is("f8(f8", "invalid signature 'f8(f8': unexpected end at position 6");
    user_is("f8(f8))", "invalid signature 'f8(f8))': unexpected text at position 7");
    user_is("", "invalid signature '': unexpected end at position 1");
    user_is("f8", "invalid signature 'f8': unexpected end at position 3");
    user_is("f8(f8[::2])",
            "invalid signature 'f8(f8[::2])': the number is too large at position 9");
    user_is("f8(f8[::1,::1])",
            "invalid signature 'f8(f8[::1,::1])': only one axis can be ::1 at position 11");
    user_is("f8(f8[:,::1,:])", "invalid signature 'f8(f8[:,::1,:])': ::1 must be the first or the "
                               "last axis at position 4");
    user_is("f8(f8[3])", "invalid signature 'f8(f8[3])': expected ':' at position 7");
    user_is("f8(f8[:][:])", "invalid signature 'f8(f8[:][:])': array elements must be numbers, "
                            "bools or records at position 4");
    user_is("f8(i8, none)", "i64, none -> f64");
    user_is("void(none, f8)", "none, f64 -> none");
    user_is("f8(i8, void)",
            "invalid signature 'f8(i8, void)': void cannot be a parameter at position 4");
    user_is("f8(Array(f8, 1))",
            "invalid signature 'f8(Array(f8, 1))': expected ',' at position 15");
    user_is("f8(Array(f8, 1, 'X'))", "invalid signature 'f8(Array(f8, 1, 'X'))': expected the "
                                     "layout 'C', 'F' or 'A' at position 18");
    user_is("f8(UniTuple(f8, n))",
            "invalid signature 'f8(UniTuple(f8, n))': expected a number at position 17");
    char deep[256];
    memset(deep, '(', 200);
    memcpy(deep + 200, "i8", 3);
    const char *got = signature_of(deep);
    CHECK(strstr(got, "nested too deeply"), "%s", got);
}

static void test_types_of_users(void) {
    DiagList diags;
    diag_init(&diags, &arena);
    CHECK(ti_parse_type(types, &arena, "float32[:, ::1]", &diags) == T("array(f32, 2, C)"),
          "array");
    CHECK(ti_parse_type(types, &arena, "None", &diags) == T("none"), "none");
    CHECK(!ti_parse_type(types, &arena, "f8(f8)", &diags) && diags.failed,
          "a signature is no type");
    /* every public name, and every form type_describe writes, is read back */
    for (int k = TY_none; k <= TY_c128; k++) {
        const Type *t = type_scalar(types, (TypeKind)k);
        CHECK(ti_parse_type(types, &arena, type_text(&arena, t).bytes, &diags) == t, "%s",
              text_of(t));
    }
    static const char *const forms[] = {"array(f32, 2, C)",
                                        "array(f32, 3, F)",
                                        "array(i8, 1, A)",
                                        "array(i8, 1, C)",
                                        "array(u8, 2, A, readonly)",
                                        "array(u8, 0, C)",
                                        "tuple(i64, f32)",
                                        "tuple(i64)",
                                        "array(c64, 2, C, readonly, unaligned)"};
    for (int i = 0; i < countof(forms); i++) {
        const char *text = type_text(&arena, T(forms[i])).bytes;
        CHECK(ti_parse_type(types, &arena, text, &diags) == T(forms[i]), "%s: %s", forms[i], text);
    }
}

/* Every prefix and every text with one changed character ends in a type or in one diagnostic. */
static void test_mangled_signatures_do_no_harm(void) {
    const char *text = "Tuple((i8, f4))(UniTuple(f8[:, ::1], 2), Array(u1, 2, 'F', readonly=True))";
    static const char replace[] = "(),[]:1'= xTU";
    size_t n = strlen(text);
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k < sizeof replace; k++) { /* the last one cuts the text */
            char *changed = arena_copy(&arena, text, n + 1);
            changed[i] = replace[k];
            const char *got = signature_of(changed);
            CHECK(strncmp(got, "invalid", 7) == 0 || strstr(got, "->"), "%s: %s", changed, got);
        }
}

int main(void) {
    test_begin();
    test_class_letters();
    test_type_functions();
    test_words_and_counts();
    test_costs_rank_rows();
    test_bad_rows_are_found();
    test_D03_signatures_of_users();
    test_errors_say_where();
    test_types_of_users();
    test_mangled_signatures_do_no_harm();
    return test_end("test_sig");
}
