/* test_library.c - the tables of the library: well-formed, sorted, complete, and matched as CPython,
 * NumPy and Numba users expect. */
#include "tests/unit/ti_test.h"
#include "typeinfer/sig.h"

/* -- the tables themselves ----------------------------------------------------------------------- */

static bool ends(const char *text, char c) {
    return *text && text[strlen(text) - 1] == c;
}

/* Kernels do not allocate. */
static bool makes_array(const LibRow *row) {
    static const char *const names[] = {"array", "asarray", "empty", "full", "ones", "zeros"};
    for (int i = 0; i < countof(names); i++) {
        size_t n = strlen(names[i]);
        if (strncmp(row->name, "numpy.", 6) != 0 || strncmp(row->name + 6, names[i], n) != 0)
            continue;
        if (!row->name[6 + n] || strcmp(row->name + 6 + n, "_like") == 0) return true;
    }
    return false;
}

static bool makes_container(const LibRow *row) {
    static const char *const names[] = {"builtins.bytearray", "builtins.bytes",  "builtins.dict",
                                        "int.from_bytes",     "number.to_bytes", "builtins.list",
                                        "builtins.frozenset", "builtins.set",    "builtins.sorted",
                                        "operator.itemgetter"};
    static const char *const prefixes[] = {"Counter.",
                                           "OrderedDict.",
                                           "bisect.insort",
                                           "bytearray.",
                                           "bytes.",
                                           "collections.",
                                           "deque.",
                                           "dict.",
                                           "heapq.",
                                           "itertools.",
                                           "list.",
                                           "primitive.text_",
                                           "primitive.exception_",
                                           "set.",
                                           "str.",
                                           "structref.",
                                           "typed."};
    for (int i = 0; i < countof(names); i++)
        if (strcmp(row->name, names[i]) == 0) return true;
    for (int i = 0; i < countof(prefixes); i++)
        if (strncmp(row->name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

/* Generators of random numbers belong to threads of the host, and its processor sorts. */
static bool is_host_code(const LibRow *row) {
    return strncmp(row->name, "primitive.random_", 17) == 0 ||
           strncmp(row->name, "primitive.next_", 15) == 0 ||
           strncmp(row->name, "primitive.sort_", 15) == 0;
}

/* Code of others is linked on NVIDIA's GPUs only. */
static bool is_linked(const LibRow *row, TargetKind target) {
    return target == TARGET_AMDGPU && strncmp(row->name, "primitive.foreign_", 18) == 0;
}

static void check_lowering(const LibRow *row, const Lowering *how, TargetKind target) {
    bool host_only =
        makes_array(row) || makes_container(row) || is_host_code(row) || (row->flags & LIB_CONTEXT);
    bool none = (target != TARGET_CPU && host_only) || is_linked(row, target);
    CHECK((how->kind == LOWER_NONE) == none, "%s: a lowering", row->name);
    switch (how->kind) {
    case LOWER_NONE: break;
    case LOWER_OP:
        CHECK(how->id > OP_removed && how->id < OP_COUNT, "%s", row->name);
        CHECK(ir_op_info[how->id].state & OPS_TYPED, "%s", row->name);
        break;
    case LOWER_GEN: CHECK(how->id > GEN_none && how->id < GEN_COUNT, "%s", row->name); break;
    case LOWER_INTR: CHECK(strncmp(how->symbol, "llvm.", 5) == 0, "%s", row->name); break;
    case LOWER_LIB:
        CHECK(how->symbol && (target == TARGET_CPU || how->symbol[0] == '_'), "%s", row->name);
        break;
    case LOWER_PY: CHECK(strchr(how->symbol, '.'), "%s", row->name); break;
    case LOWER_TYPED: break;
    default: CHECK(false, "%s has an unknown lowering", row->name);
    }
}

static void test_rows_are_well_formed(void) {
    for (int32_t i = 0; i < lib_count(); i++) {
        const LibRow *row = lib_row(i);
        const char *why = sig_check(row->signature);
        CHECK(!why, "%s %s: %s", row->name, row->signature, why);
        CHECK(row->doc && row->doc[0] && !ends(row->doc, '.'), "%s: %s", row->name, row->doc);
        CHECK(!strchr(row->doc, '|'), "%s: a bar would break the reference page", row->name);
        if (i) CHECK(strcmp(lib_row(i - 1)->name, row->name) <= 0, "%s is out of order", row->name);
        for (TargetKind target = TARGET_CPU; target < TARGET_COUNT; target++)
            check_lowering(row, lib_lowering(row, target), target);
        if (row->flags & LIB_SHARED_CALL) CHECK(row->flags & LIB_GPU_ONLY, "%s", row->name);
        if (row->flags & LIB_PURE)
            CHECK(!(row->flags & (LIB_READS | LIB_WRITES | LIB_CONVERGENT)), "%s", row->name);
        if (strncmp(row->name, "cuda.", 5) == 0) CHECK(row->flags & LIB_GPU_ONLY, "%s", row->name);
    }
}

static void test_names_are_found(void) {
    for (int32_t i = 0; i < lib_count(); i++) {
        int32_t first = lib_find(str_from(lib_row(i)->name)), at = first;
        while (at >= 0 && at != i)
            at = lib_next(at);
        CHECK(first >= 0 && at == i, "%s", lib_row(i)->name);
    }
    static const char *const absent[] = {"",    "a",        "math.si", "math.sinn",
                                         "zzz", "builtins", "math."};
    for (int i = 0; i < countof(absent); i++)
        CHECK(lib_find(str_from(absent[i])) < 0, "%s", absent[i]);
    CHECK(lib_find((Str){"math.sinus", 8}) == lib_find(STR("math.sin")),
          "a Str need not end in NUL");
}

/* Every operator of the language has a row. */
static void test_L04_all_operators_are_there(void) {
    static const char *const names[] = {
#define OPERATOR(name, symbol, verb, method) "operator." #name,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
    };
    for (int i = 0; i < countof(names); i++)
        CHECK((lib_find(str_from(names[i])) >= 0) != (strcmp(names[i], "operator.matmul") == 0),
              "%s", names[i]); /* @ is for arrays alone, and refused like their other operators */
}

static bool is_typed(const LibRow *row) {
    return row->cpu.kind == LOWER_TYPED || row->nvptx.kind == LOWER_TYPED ||
           row->amdgpu.kind == LOWER_TYPED;
}

static bool has_handler(const char *name) {
    const char *handled;
    for (int32_t i = 0; (handled = ti_typed_name(&arena, i)) != NULL; i++)
        if (strcmp(handled, name) == 0) return true;
    return false;
}

/* What inference is said to know it knows, and what it knows stands in the tables. */
static void test_R09_typed_rows_and_handlers_are_the_same(void) {
    for (int32_t i = 0; i < lib_count(); i++)
        if (is_typed(lib_row(i)))
            CHECK(has_handler(lib_row(i)->name), "%s: no handler", lib_row(i)->name);
    const char *name;
    for (int32_t i = 0; (name = ti_typed_name(&arena, i)) != NULL; i++) {
        bool found = false;
        for (int32_t row = lib_find(str_from(name)); row >= 0; row = lib_next(row))
            found |= is_typed(lib_row(row));
        CHECK(found, "%s: no row", name);
    }
}

static void all_there(const char *module, const char *names) {
    char name[64];
    while (*names) {
        size_t n = strcspn(names, " ");
        snprintf(name, sizeof name, "%s.%.*s", module, (int)n, names);
        CHECK(lib_find(str_from(name)) >= 0, "%s", name);
        names += n + (names[n] == ' ');
    }
}

static void test_the_documented_functions_are_there(void) {
    all_there("math",
              "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees erf erfc "
              "exp exp2 expm1 fabs floor frexp gamma gcd hypot isfinite isinf isnan ldexp "
              "lgamma log log10 log1p log2 nextafter pow radians sin sinh sqrt tan tanh trunc "
              "fmod modf remainder"); /* B02 */
    all_there("cmath",
              "acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log log10 "
              "phase polar rect sin sinh sqrt tan tanh"); /* B03 */
    all_there("builtins", "abs bool complex divmod enumerate float int len max min pow range "
                          "reversed round slice sum tuple zip"); /* B01, the numeric part */
    all_there(
        "numpy",
        "add subtract multiply divide logaddexp logaddexp2 true_divide floor_divide negative power "
        "float_power remainder mod fmod divmod abs absolute fabs rint sign conj exp exp2 log log2 "
        "log10 expm1 log1p sqrt square cbrt reciprocal conjugate gcd lcm sin cos tan arcsin arccos "
        "arctan arctan2 hypot sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg degrees "
        "radians bitwise_and bitwise_or bitwise_xor bitwise_not invert left_shift right_shift "
        "greater greater_equal less less_equal not_equal equal logical_and logical_or logical_xor "
        "logical_not maximum minimum fmax fmin isfinite isinf isnan signbit copysign nextafter "
        "ldexp floor ceil trunc spacing modf frexp"); /* N15 */
    all_there("cuda",
              "threadIdx.x blockIdx.y blockDim.z gridDim.x laneid warpsize grid gridsize "
              "syncthreads syncthreads_and syncthreads_or syncthreads_count syncwarp "
              "threadfence threadfence_block threadfence_system shared.array local.array "
              "const.array_like atomic.add atomic.sub atomic.and_ atomic.or_ atomic.xor "
              "atomic.inc atomic.dec atomic.exch atomic.max atomic.min atomic.nanmax "
              "atomic.nanmin atomic.compare_and_swap atomic.cas shfl_sync shfl_up_sync "
              "shfl_down_sync shfl_xor_sync all_sync any_sync eq_sync ballot_sync "
              "match_any_sync match_all_sync activemask lanemask_lt popc brev clz ffs fma cbrt "
              "selp nanosleep clock clock64"); /* C20 to C25 */
}

/* -- matching ------------------------------------------------------------------------------------ */

static const char *match_on(const char *name, const char *args_text, int target, bool strong) {
    const Type *args[LIB_MAX_ARGS];
    int32_t n = type_list_of(args_text, args);
    LibMatch match;
    if (!lib_match(types, str_from(name), args, n, target, strong, &match)) return "no";
    StrBuf out;
    buf_init(&out, &arena);
    for (int32_t i = 0; i < n; i++) {
        if (i) buf_char(&out, ' ');
        type_print(&out, match.params[i]);
    }
    buf_str(&out, " -> ");
    if (match.result)
        type_print(&out, match.result);
    else
        buf_str(&out, "any");
    return buf_take(&out).bytes;
}

static void is(const char *name, const char *args, const char *expected) {
    const char *got = match_on(name, args, 0, false);
    CHECK(strcmp(got, expected) == 0, "%s(%s) is %s, not %s", name, args, got, expected);
}

static void test_operators(void) {
    is("operator.add", "i8, i8", "i64 i64 -> i64");
    is("operator.add", "bool, bool", "wint wint -> wint");
    is("operator.add", "u8, i8", "i64 i64 -> i64");
    is("operator.add", "u64, wint", "u64 u64 -> u64");
    is("operator.add", "u64, i64", "f64 f64 -> f64");
    is("operator.mul", "f32, wflt", "f32 f32 -> f32");
    is("operator.mul", "f32, wcpx", "c64 c64 -> c64");
    is("operator.mul", "i16, f32", "f32 f32 -> f32");
    is("operator.mul", "i32, f32", "f64 f64 -> f64");
    is("operator.truediv", "wint, wint", "wflt wflt -> wflt");
    is("operator.truediv", "i32, i32", "f64 f64 -> f64");
    is("operator.truediv", "c64, wint", "c64 c64 -> c64");
    is("operator.floordiv", "u8, u16", "i64 i64 -> i64");
    is("operator.floordiv", "i64, u64", "f64 f64 -> f64");
    is("operator.floordiv", "c64, i64", "no");
    is("operator.mod", "f32, wint", "f32 f32 -> f32");
    is("operator.pow", "f32, wint", "f32 f32 -> f32");
    is("operator.pow", "wint, wflt", "wflt wflt -> wflt");
    is("operator.pow", "i8, wint", "i64 i64 -> i64");
    is("operator.pow", "c64, wint", "c64 c64 -> c64");
    is("operator.lshift", "u8, i64", "i64 i64 -> i64");
    is("operator.lshift", "i8, u64", "i64 i64 -> i64");
    is("operator.lshift", "wint, u8", "i64 i64 -> i64");
    is("operator.lshift", "wint, wint", "wint wint -> wint");
    is("operator.rshift", "bool, wint", "wint wint -> wint");
    is("operator.lshift", "f32, i64", "no");
    is("operator.and", "bool, bool", "bool bool -> bool");
    is("operator.and", "i64, u64", "i64 i64 -> i64");
    is("operator.and", "u64, wint", "u64 u64 -> u64");
    is("operator.xor", "f32, i64", "no");
    is("operator.invert", "bool", "bool -> bool");
    is("operator.invert", "u8", "u8 -> u8");
    is("operator.neg", "bool", "wint -> wint");
    is("operator.neg", "c64", "c64 -> c64");
    is("operator.lt", "u64, i8", "u64 i8 -> bool");
    is("operator.gt", "wint, f32", "wint f32 -> bool");
    is("operator.lt", "c64, c64", "no");
    is("operator.le", "f32, wcpx", "no");
    is("operator.gt", "c64, f32", "no");
    is("operator.ge", "i8, c128", "no");
    is("numpy.greater_equal", "c64, c64", "c64 c64 -> bool");
    is("operator.eq", "c64, u8", "c64 u8 -> bool");
    is("operator.add", "array(f32, 1, C), f32", "no");
    is("operator.add", "none, i64", "no");
}

static void test_functions(void) {
    is("builtins.abs", "i8", "i64 -> i64");
    is("builtins.abs", "f32", "f32 -> f32");
    is("builtins.abs", "c128", "c128 -> f64");
    is("builtins.min", "i8, i8", "i8 i8 -> i8");
    is("builtins.max", "bool, bool", "bool bool -> bool");
    is("builtins.max", "f32, wint, wflt", "f32 f32 f32 -> f32");
    is("builtins.int", "f32", "f32 -> wint");
    is("builtins.int", "wflt", "wflt -> wint");
    is("builtins.int", "u8", "u8 -> wint");
    is("builtins.int", "c64", "no");
    is("builtins.float", "f32", "f32 -> f32");
    is("builtins.float", "i8", "f64 -> f64");
    is("builtins.complex", "f32", "c64 -> c64");
    is("builtins.complex", "f32, wint", "f32 f32 -> c64");
    is("builtins.round", "f32", "f32 -> wint");
    is("builtins.round", "wflt, wint", "wflt wint -> wflt");
    is("builtins.round", "i8, wint", "i8 wint -> i64");
    is("builtins.len", "array(f32, 1, C)", "array(f32, 1, C) -> wint");
    is("math.sin", "i8", "f64 -> f64");
    is("math.sin", "f32", "f32 -> f32");
    is("math.sin", "wint", "wflt -> wflt");
    is("math.sin", "c64", "no");
    is("math.floor", "wflt", "wflt -> wint");
    is("math.floor", "u8", "u8 -> wint");
    is("math.log", "f32, wint", "f32 f32 -> any");
    is("math.frexp", "f32", "f32 -> tuple(f32, wint)");
    is("numpy.sin", "wflt", "wflt -> f64");
    is("numpy.add", "i8, i8", "i8 i8 -> i8");
    is("numpy.add", "u64, i64", "f64 f64 -> f64");
    is("numpy.divide", "i8, i8", "f64 f64 -> f64");
    is("numpy.floor", "i8", "i8 -> i8");
    is("numpy.maximum", "f32, wint", "f32 f32 -> f32");
    is("numpy.maximum", "i8, u8", "i16 i16 -> i16");
    is("numpy.greater", "u64, i64", "u64 i64 -> bool");
    is("number.real", "c64", "c64 -> f32");
    is("number.imag", "f32", "f32 -> f32");
    is("cuda.threadIdx.x", "", " -> wint");
    is("cuda.shfl_down_sync", "wint, f32, wint", "u32 f32 i32 -> f32");
    is("cuda.selp", "wint, f32, wint", "bool f32 f32 -> f32");
    is("cuda.popc", "u64", "u64 -> wint");
    is("no.such", "f32", "no");
}

static void test_strong_numbers(void) {
    static const char *const cases[][3] = {
        {"operator.mul", "f32, wflt", "f64 f64 -> f64"},
        {"operator.add", "wint, i8", "i64 i64 -> i64"},
        {"operator.add", "bool, bool", "i64 i64 -> i64"},
        {"math.sin", "wint", "f64 -> f64"},
        {"math.floor", "wflt", "f64 -> i64"},
        {"cuda.threadIdx.x", "", " -> i64"},
        {"math.frexp", "wflt", "f64 -> tuple(f64, i64)"},
    };
    for (int i = 0; i < countof(cases); i++) {
        const char *got = match_on(cases[i][0], cases[i][1], 0, true);
        CHECK(strcmp(got, cases[i][2]) == 0, "%s(%s): %s", cases[i][0], cases[i][1], got);
    }
}

static void test_rows_differ_by_target(void) {
    const Type *args[] = {T("f32"), T("i64")};
    LibMatch cpu, gpu;
    CHECK(lib_match(types, STR("builtins.round"), args, 2, 0, false, &cpu), "cpu");
    CHECK(lib_match(types, STR("builtins.round"), args, 2, 1, false, &gpu), "gpu");
    CHECK(lib_lowering(lib_row(cpu.row), 0)->kind == LOWER_LIB, "the C library rounds exactly");
    CHECK(lib_lowering(lib_row(gpu.row), 1)->kind == LOWER_PY, "a GPU scales");
    CHECK(lib_is_literal(lib_row(lib_find(STR("cuda.grid"))), 0), "grid(n) asks for a constant");
}

/* An instruction read from text finds its row by name and operand types. */
static void test_row_of_an_instruction(void) {
    DiagList diags;
    diag_init(&diags, &arena);
    Module *module = ir_module_new(&arena, &diags);
    Func *func = ir_func_new(module, STR("f"), true);
    int32_t block = ir_block_new(func);
    static const char *const operands[] = {"f64", "c64", "u8"};
    static const char *const names[] = {"(F)->F", "(C)->comp(C)", "(I)->I"};
    Str abs_name = STR("builtins.abs"), none = STR("no.such");
    for (int i = 0; i < countof(operands); i++) {
        const char *text = operands[i];
        Ref arg = ir_append(func, block, OP_param, NULL, 0);
        ir_inst(func, arg)->type = type_parse(module->types, &text);
        Ref call = ir_append(func, block, OP_lib, &arg, 1);
        ir_inst(func, call)->u.name = &abs_name;
        ir_inst(func, call)->imm = -1;
        const LibRow *row = lib_row_for(func, call);
        CHECK(row && strcmp(row->signature, names[i]) == 0, "%s", operands[i]);
        CHECK(str_is(abs_name, lib_row_of(ir_inst(func, call))->name), "by name");
        ir_inst(func, call)->imm = row - lib_row(0);
        CHECK(lib_row_of(ir_inst(func, call)) == row, "by number");
        ir_inst(func, call)->u.name = &none;
        CHECK(!lib_row_of(ir_inst(func, call)) && !lib_row_for(func, call), "absent");
    }
}

static void test_reference_page(void) {
    StrBuf out;
    buf_init(&out, &arena);
    lib_print_reference(&out);
    const char *page = buf_take(&out).bytes;
    int lines = 0;
    for (const char *p = page; (p = strchr(p, '\n')); p++)
        lines++;
    CHECK(lines > lib_count(), "%d lines", lines);
    CHECK(strstr(page, "| `math.sin` | `(F)->F` | cpu, cuda, hip | sine |"), "math.sin");
    static const char *const titles[] = {"## Operators", "## Module math", "## Python builtins"};
    for (int i = 0; i < countof(titles); i++) {
        const char *first = strstr(page, titles[i]);
        CHECK(first && !strstr(first + 1, titles[i]), "%s stands there once", titles[i]);
    }
}

int main(void) {
    test_begin();
    test_rows_are_well_formed();
    test_names_are_found();
    test_L04_all_operators_are_there();
    test_R09_typed_rows_and_handlers_are_the_same();
    test_the_documented_functions_are_there();
    test_operators();
    test_functions();
    test_strong_numbers();
    test_rows_differ_by_target();
    test_row_of_an_instruction();
    test_reference_page();
    return test_end("test_library");
}
