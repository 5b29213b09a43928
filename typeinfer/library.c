/* library.c - the rows of tables/ as one array, and the questions the compiler asks of it.
 *
 * Every table is sorted by name, and the tables follow each other in the order of their prefixes, so
 * that the array is sorted and a name is found by bisection (test_library checks the order). */
#include "typeinfer/sig.h"
#include "frontend/base/environment.h"
#include "typeinfer/typeinfer.h"

/* The columns of the tables, in few letters. */
#define NO                                                                                         \
    { LOWER_NONE, NULL, 0 }
#define TYPED                                                                                      \
    { LOWER_TYPED, NULL, 0 }
#define OP(op)                                                                                     \
    { LOWER_OP, NULL, OP_##op }
#define GEN(name)                                                                                  \
    { LOWER_GEN, NULL, GEN_##name }
#define INTR(s)                                                                                    \
    { LOWER_INTR, s, 0 }
#define LIB(s)                                                                                     \
    { LOWER_LIB, s, 0 }
#define PY(s)                                                                                      \
    { LOWER_PY, s, 0 }

enum {
    PURE = LIB_PURE,
    READS = LIB_READS,
    WRITES = LIB_WRITES,
    CONV = LIB_CONVERGENT,
    GPU = LIB_GPU_ONLY,
    WIDEN = LIB_WIDEN,
    NONZERO = LIB_NONZERO,
    FINITE = LIB_FINITE,
    COMM = LIB_COMMUTATIVE,
    BARRIER = LIB_SHARED_CALL,
    NONNEG = LIB_NONNEGATIVE,
    COUNT = LIB_COUNT,
    POWER = LIB_POWER,
    SWAP = LIB_SWAP,
    VALUE = LIB_VALUE,
    CHOICE = LIB_CHOICE,
    WHOLE = LIB_WHOLE,
    CONTEXT = LIB_CONTEXT,
    NO_BOOLS = LIB_NO_BOOLS,
    DOUBLE = LIB_DOUBLE,
    LONG = LIB_LONG
};

static const LibRow rows[] = {
#define FN(name, signature, cpu, nvptx, amdgpu, flags, doc)                                        \
    {name, signature, cpu, nvptx, amdgpu, flags, doc},
/* One lowering for all targets. */
#define ALL(name, signature, lowering, flags, doc)                                                 \
    {name, signature, lowering, lowering, lowering, flags, doc},
#include "typeinfer/tables/counter.def"
#include "typeinfer/tables/ordered_dict.def"
#include "typeinfer/tables/bisect.def"
#include "typeinfer/tables/python.def"
#include "typeinfer/tables/bytearray.def"
#include "typeinfer/tables/bytes.def"
#include "typeinfer/tables/cmath.def"
#include "typeinfer/tables/collections.def"
#include "typeinfer/tables/gpu.def"
#include "typeinfer/tables/dataclasses.def"
#include "typeinfer/tables/deque.def"
#include "typeinfer/tables/dict.def"
#include "typeinfer/tables/functools.def"
#include "typeinfer/tables/generator.def"
#include "typeinfer/tables/heapq.def"
#include "typeinfer/tables/int.def"
#include "typeinfer/tables/itertools.def"
#include "typeinfer/tables/list.def"
#include "typeinfer/tables/math.def"
#include "typeinfer/tables/namedtuple.def"
#include "typeinfer/tables/numpy.def"
#include "typeinfer/tables/operators.def"
#include "typeinfer/tables/primitives.def"
#include "typeinfer/tables/pointers.def"
#include "typeinfer/tables/parallel.def"
#include "typeinfer/tables/set.def"
#include "typeinfer/tables/slice.def"
#include "typeinfer/tables/str.def"
#include "typeinfer/tables/structref.def"
#include "typeinfer/tables/tuple.def"
#include "typeinfer/tables/typed.def"
#undef FN
#undef ALL
};

int32_t lib_count(void) {
    return countof(rows);
}

const LibRow *lib_row(int32_t index) {
    assert(index >= 0 && index < countof(rows));
    return &rows[index];
}

static int compare(Str name, const char *row) {
    int order = strncmp(name.bytes, row, (size_t)name.len);
    return order ? order : row[name.len] ? -1 : 0;
}

int32_t lib_find(Str name) {
    int32_t low = 0, high = countof(rows);
    while (low < high) { /* the first row that is not below `name` */
        int32_t middle = (low + high) / 2;
        if (compare(name, rows[middle].name) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < countof(rows) && compare(name, rows[low].name) == 0 ? low : -1;
}

int32_t lib_next(int32_t index) {
    if (index + 1 >= countof(rows)) return -1;
    return strcmp(rows[index].name, rows[index + 1].name) == 0 ? index + 1 : -1;
}

const Lowering *lib_lowering(const LibRow *row, TargetKind target) {
    switch (target) {
    case TARGET_CPU: return &row->cpu;
    case TARGET_NVPTX: return &row->nvptx;
    default: return &row->amdgpu;
    }
}

bool lib_is_literal(const LibRow *row, int32_t index) {
    return sig_is_literal(row->signature, index);
}

/* -- matching ------------------------------------------------------------------------------------ */

static void make_strong(TypeTable *types, LibMatch *match, int32_t nargs) {
    for (int32_t i = 0; i < nargs; i++)
        match->params[i] = type_strong(types, match->params[i]);
    if (match->result) match->result = type_strong(types, match->result);
}

bool lib_match(TypeTable *types, Str name, const Type *const *args, int32_t nargs, int target,
               bool strong_numbers, LibMatch *out) {
    const Type *strong[LIB_MAX_ARGS];
    if (nargs < 0 || nargs > LIB_MAX_ARGS) return false;
    if (strong_numbers) {
        for (int32_t i = 0; i < nargs; i++)
            strong[i] = type_strong(types, args[i]);
        args = strong;
    }
    Fit best = FIT_NONE;
    bool found = false;
    LibMatch match;
    for (int32_t row = lib_find(name); row >= 0; row = lib_next(row)) {
        Fit fit;
        if (target >= 0 && lib_lowering(&rows[row], target)->kind == LOWER_NONE) continue;
        match.row = row;
        if (!sig_match(types, &rows[row], args, nargs, strong_numbers, &match, &fit)) continue;
        if (!ti_fit_better(&fit, &best)) continue;
        best = fit;
        *out = match;
        found = true;
    }
    if (found && strong_numbers) make_strong(types, out, nargs);
    return found;
}

/* `imm` is the row when typeinfer made the instruction; text knows only the name. */
const LibRow *lib_row_of(const Inst *inst) {
    const Str *name = inst->u.name;
    if (inst->imm >= 0 && inst->imm < countof(rows) && compare(*name, rows[inst->imm].name) == 0)
        return &rows[inst->imm];
    int32_t row = lib_find(*name);
    return row < 0 ? NULL : &rows[row];
}

const LibRow *lib_row_for(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    const Type *args[LIB_MAX_ARGS];
    if (inst->nargs > LIB_MAX_ARGS) return NULL;
    for (int32_t i = 0; i < inst->nargs; i++)
        args[i] = ir_type(func, ir_arg(func, ref, i));
    LibMatch match;
    if (!lib_match(func->module->types, *inst->u.name, args, inst->nargs, -1, true, &match))
        return NULL;
    return &rows[match.row];
}

/* -- the reference page -------------------------------------------------------------------------- */

static const struct Section {
    const char *prefix, *title;
} sections[] = {
    {"Counter.", "Methods of Counters, beside those of dicts"},
    {"OrderedDict.", "Methods of OrderedDicts, beside those of dicts"},
    {"bisect.", "Module bisect"},
    {"builtins.", "Python builtins"},
    {"cmath.", "Module cmath"},
    {"collections.", "Module collections"},
    {"cuda.", "Kernels and device functions (cuda and hip)"},
    {"dataclasses.", "Module dataclasses"},
    {"deque.", "Methods of deques"},
    {"dict.", "Methods of dicts"},
    {"functools.", "Module functools"},
    {"generator.", "Methods of generators"},
    {"heapq.", "Module heapq"},
    {"int.", "Class methods of int"},
    {"itertools.", "Module itertools"},
    {"list.", "Methods of lists"},
    {"math.", "Module math"},
    {"namedtuple.", "Methods of named tuples"},
    {"ndarray.", "Attributes and methods of arrays"},
    {"number.", "Attributes and methods of numbers"},
    {"numpy.", "NumPy functions of scalars"},
    {"operator.", "Operators"},
    {"primitive.", "Primitives of the library itself"},
    {"quern.", "Parallel loops (functions of the package)"},
    {"set.", "Methods of sets"},
    {"str.", "Methods of strings"},
    {"tuple.", "Methods of tuples"},
    {"structref.", "Module experimental.structref"},
    {"typed.", "Typed containers"},
};

static void print_row(StrBuf *out, const LibRow *row) {
    static const char *const columns[] = {"cpu", "cuda", "hip"};
    buf_printf(out, "| `%s` | `%s` | ", row->name, row->signature);
    const char *comma = "";
    for (int target = 0; target < countof(columns); target++) {
        if (lib_lowering(row, target)->kind == LOWER_NONE) continue;
        buf_printf(out, "%s%s", comma, columns[target]);
        comma = ", ";
    }
    buf_printf(out, " | %s |\n", row->doc);
}

void lib_print_reference(StrBuf *out) {
    buf_str(out, "# Supported functions\n\nThis page is printed from the tables in "
                 "`typeinfer/tables`. Signatures are over classes of types: `I` an integer, `F` a "
                 "float (integers are converted), `C` a complex number, `N` any number, `R` an "
                 "integer or a float, `Z` an integer, `B` a bool, `S` a number or bool, `A` an "
                 "array, `U` an unsigned integer. The same letter is one type, the common one of "
                 "its arguments.\n");
    const char *prefix = "?";
    for (int32_t i = 0; i < countof(rows); i++) {
        if (strncmp(rows[i].name, prefix, strlen(prefix)) != 0) {
            for (int s = 0; s < countof(sections); s++)
                if (strncmp(rows[i].name, sections[s].prefix, strlen(sections[s].prefix)) == 0) {
                    prefix = sections[s].prefix;
                    buf_printf(out, "\n## %s\n\n", sections[s].title);
                }
            buf_str(out, "| name | signature | targets | meaning |\n|---|---|---|---|\n");
        }
        print_row(out, &rows[i]);
    }
    env_print_reference(out);
}
