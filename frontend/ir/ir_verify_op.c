/* ir_verify_op.c - the rules of IR.md about single ops: what the op table says (state, number of operands,
 * kind of result), then a case for each op whose types or attributes obey more than that.
 *
 * long-function: check_typed, check_untyped (switches over the ops) */
#include "frontend/ir/ir_verify.h"

#include <inttypes.h>

static bool bad(Verifier *v, Ref ref, const char *why) {
    return verify_fail(v, ir_inst(v->func, ref)->block, ref, "%s", why);
}

/* Two types in the message, in IR form (or one, where they are the same). */
static bool bad_types(Verifier *v, Ref ref, const char *what, const Type *a, const Type *b) {
    ArenaMark mark = arena_mark(v->arena);
    StrBuf out;
    buf_init(&out, v->arena);
    for (int i = 0; i < (a == b ? 1 : 2); i++) {
        const Type *type = i ? b : a;
        if (i) buf_str(&out, " and ");
        if (type) type_print(&out, type);
        if (!type) buf_str(&out, "no type");
    }
    Str text = buf_take(&out);
    verify_fail(v, ir_inst(v->func, ref)->block, ref, "%s: " STR_FMT, what, STR_ARG(text));
    arena_release(v->arena, mark);
    return false;
}

static const Type *arg_type(const Verifier *v, Ref ref, int32_t k) {
    return ir_type(v->func, ir_arg(v->func, ref, k));
}

/* -- types admitted in typed IR -------------------------------------------------------------- */

static bool admitted(const Type *type) {
    if (type->kind < TY_SCALARS) return !type_is_weak(type);
    if (type->kind == TY_ARRAY) return type_size(type->element) > 0 && admitted(type->element);
    if (type->kind == TY_RECORD) return true;
    if (type->kind != TY_TUPLE && type->kind != TY_CLASS) return false;
    if (type_is_instance(type)) return type_instance_is_known(type); /* its fields may name it */
    if (type->open) return false; /* parameters that a field does not show */
    for (int32_t i = 0; i < type->nitems; i++)
        if (!admitted(type->items[i])) return false;
    return true;
}

static bool int_fits(const ConstVal *value, const Type *type) {
    int bits = type_bits(type);
    bool negative = value->i < 0 && !value->is_unsigned;
    if (type_class(type) == CLASS_UINT)
        return !negative && (bits == 64 || (uint64_t)value->i >> bits == 0);
    if (value->is_unsigned && value->i < 0) return false;
    return bits == 64 ||
           (value->i >= -(INT64_C(1) << (bits - 1)) && value->i < INT64_C(1) << (bits - 1));
}

static bool const_fits(const ConstVal *value, const Type *type) {
    if (!value) return false;
    switch (value->kind) {
    case CONST_NONE: return type->kind == TY_none;
    case CONST_BOOL: return type->kind == TY_bool;
    case CONST_INT: return type_is_int(type) && int_fits(value, type);
    case CONST_FLOAT: return type_is_float(type);
    case CONST_COMPLEX: return type_is_complex(type);
    case CONST_TUPLE:
        if (type->kind != TY_TUPLE || type->nitems != value->nitems) return false;
        for (int32_t i = 0; i < type->nitems; i++)
            if (!const_fits(value->items[i], type->items[i])) return false;
        return true;
    case CONST_STR: return type->kind == TY_CLASS && type->bits == CLS_str;
    case CONST_BYTES: return type->kind == TY_CLASS && type->bits == CLS_bytes;
    default: return false;
    }
}

/* -- pieces of rules ------------------------------------------------------------------------- */

enum { BOOLS = 1, INTS = 2, FLOATS = 4, COMPLEXES = 8 };

static bool in_classes(const Type *type, int classes) {
    switch (type_class(type)) {
    case CLASS_BOOL: return classes & BOOLS;
    case CLASS_SINT:
    case CLASS_UINT: return classes & INTS;
    case CLASS_FLT: return classes & FLOATS;
    case CLASS_CPX: return classes & COMPLEXES;
    default: return false;
    }
}

/* All operands of one type, of these classes. */
static bool check_arith(Verifier *v, Ref ref, int classes) {
    const Type *type = arg_type(v, ref, 0);
    if (!in_classes(type, classes)) return bad_types(v, ref, "not for this type", type, type);
    for (int32_t k = 1; k < ir_inst(v->func, ref)->nargs; k++)
        if (arg_type(v, ref, k) != type)
            return bad_types(v, ref, "operands differ", type, arg_type(v, ref, k));
    return true;
}

static bool check_compare(Verifier *v, Ref ref, int classes) {
    for (int32_t k = 0; k < 2; k++)
        if (!in_classes(arg_type(v, ref, k), classes))
            return bad_types(v, ref, "not for these types", arg_type(v, ref, 0),
                             arg_type(v, ref, 1));
    return true;
}

static bool check_i64(Verifier *v, Ref ref, int32_t from, int32_t to) {
    for (int32_t k = from; k < to; k++)
        if (arg_type(v, ref, k)->kind != TY_i64)
            return verify_fail(v, ir_inst(v->func, ref)->block, ref, "operand %d must be an i64",
                               (int)k);
    return true;
}

static bool is_exception(const Type *type) {
    return type->kind == TY_CLASS && type->bits == CLS_exception;
}

/* The first `n` operands: exceptions that were caught, or objects. */
static bool check_caught(Verifier *v, Ref ref, int32_t n) {
    for (int32_t k = 0; k < n; k++)
        if (!is_exception(arg_type(v, ref, k)) && !check_i64(v, ref, k, k + 1)) return false;
    return true;
}

static bool check_array(Verifier *v, Ref ref, int32_t k) {
    return arg_type(v, ref, k)->kind == TY_ARRAY || bad(v, ref, "the operand must be an array");
}

/* An array, or a tuple with arrays in it: each of them is counted. */
static bool holds_array(const Type *type) {
    if (!type || type->kind == TY_ARRAY) return type != NULL;
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (holds_array(type->items[i])) return true;
    return false;
}

static bool check_counted(Verifier *v, Ref ref) {
    const Type *type = arg_type(v, ref, 0);
    return type->counted || holds_array(type) ||
           bad(v, ref, "the operand must be an array or an object, or hold one");
}

/* Array, one index for each axis, and `more` operands of the element type. */
static bool check_access(Verifier *v, Ref ref, int32_t more, bool writes) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!check_array(v, ref, 0)) return false;
    const Type *array = arg_type(v, ref, 0);
    if (inst->nargs != 1 + array->ndim + more)
        return verify_fail(v, inst->block, ref, "%d operands for an array of %d axes",
                           (int)inst->nargs, array->ndim);
    if (!check_i64(v, ref, 1, 1 + array->ndim)) return false;
    for (int32_t k = 1 + array->ndim; k < inst->nargs; k++)
        if (arg_type(v, ref, k) != array->element)
            return bad_types(v, ref, "not the element type", arg_type(v, ref, k), array->element);
    if (writes && (array->readonly || array->space == SPACE_CONST))
        return bad(v, ref, "writes into a read-only array");
    return true;
}

/* -- objects and buffers ----------------------------------------------------------------------- */

static bool check_field(Verifier *v, Ref ref, const Type *value) {
    const Inst *inst = ir_inst(v->func, ref);
    const Type *cls = arg_type(v, ref, 0);
    if (cls->kind != TY_CLASS) return bad(v, ref, "the operand must be an object");
    if (inst->imm < 0 || inst->imm >= cls->nitems) return bad(v, ref, "no such field");
    return value == cls->items[inst->imm] ||
           bad_types(v, ref, "not the field's type", value, cls->items[inst->imm]);
}

static bool check_new(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->type->kind != TY_CLASS) return bad(v, ref, "the result must be an object");
    if (inst->nargs != inst->type->nitems) return bad(v, ref, "one operand for each field");
    for (int32_t k = 0; k < inst->nargs; k++)
        if (arg_type(v, ref, k) != inst->type->items[k])
            return bad_types(v, ref, "wrong field", arg_type(v, ref, k), inst->type->items[k]);
    return true;
}

static bool is_buffer(const Type *type) {
    return type->kind == TY_ARRAY && type->ndim == 1 && type->layout == LAYOUT_C &&
           type->space == SPACE_GLOBAL && type->aligned && !type->readonly;
}

static bool check_move(Verifier *v, Ref ref) {
    const Type *to = arg_type(v, ref, 0), *from = arg_type(v, ref, 2);
    if (!is_buffer(to) || to != from) return bad_types(v, ref, "not two buffers", to, from);
    return check_i64(v, ref, 1, 2) && check_i64(v, ref, 3, 5);
}

static bool check_grow(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const Type *cls = arg_type(v, ref, 0);
    if (cls->kind != TY_CLASS) return bad(v, ref, "the operand must be an object");
    if (inst->imm < 0 || inst->imm >= cls->nitems || !is_buffer(cls->items[inst->imm]))
        return bad(v, ref, "no such buffer");
    return check_i64(v, ref, 1, 3);
}

static bool check_axis(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!check_array(v, ref, 0)) return false;
    return (inst->imm >= 0 && inst->imm < arg_type(v, ref, 0)->ndim) || bad(v, ref, "no such axis");
}

/* Views keep memory and the prohibition to write. */
static bool check_same_memory(Verifier *v, Ref ref, int ndim) {
    const Type *from = arg_type(v, ref, 0), *to = ir_type(v->func, ref);
    if (to->kind != TY_ARRAY) return bad(v, ref, "the result must be an array");
    if (to->space != from->space || to->ndim != ndim || (from->readonly && !to->readonly) ||
        (!from->aligned && to->aligned))
        return bad_types(v, ref, "the result does not fit the array", from, to);
    return true;
}

/* Most keep the element type too. */
static bool check_derived(Verifier *v, Ref ref, int ndim) {
    const Type *from = arg_type(v, ref, 0), *to = ir_type(v->func, ref);
    if (!check_same_memory(v, ref, ndim)) return false;
    return to->element == from->element ||
           bad_types(v, ref, "the result does not fit the array", from, to);
}

static bool check_view(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!check_array(v, ref, 0)) return false;
    if (!inst->u.name) return bad(v, ref, "the items are missing");
    int32_t operands = 1, axes = 0, ndim = 0;
    for (int32_t i = 0; i < inst->u.name->len; i++) {
        char c = inst->u.name->bytes[i];
        if (!strchr("isfn", c) || !c) return bad(v, ref, "items are i, s, f and n");
        operands += c == 'i' ? 1 : c == 's' ? 3 : 0;
        axes += c != 'n';
        ndim += c != 'i';
    }
    if (axes != arg_type(v, ref, 0)->ndim) return bad(v, ref, "one item for each axis");
    if (operands != inst->nargs) return bad(v, ref, "the operands do not fit the items");
    return check_i64(v, ref, 1, inst->nargs) && check_derived(v, ref, ndim);
}

static bool check_transpose(Verifier *v, Ref ref) {
    if (!check_array(v, ref, 0)) return false;
    const Type *from = arg_type(v, ref, 0), *to = ir_type(v->func, ref);
    if (!check_derived(v, ref, from->ndim)) return false;
    int want = from->ndim < 2             ? from->layout
               : from->layout == LAYOUT_C ? LAYOUT_F
               : from->layout == LAYOUT_F ? LAYOUT_C
                                          : LAYOUT_A;
    return to->layout == want || to->layout == LAYOUT_A ||
           bad_types(v, ref, "wrong layout", from, to);
}

static bool check_tuple(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->type->kind != TY_TUPLE || inst->type->nitems != inst->nargs)
        return bad(v, ref, "the result is no tuple of that many items");
    for (int32_t k = 0; k < inst->nargs; k++)
        if (arg_type(v, ref, k) != inst->type->items[k])
            return bad_types(v, ref, "wrong item", arg_type(v, ref, k), inst->type->items[k]);
    return true;
}

static bool check_item(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const Type *tuple = arg_type(v, ref, 0);
    if (tuple->kind != TY_TUPLE || inst->imm < 0 || inst->imm >= tuple->nitems)
        return bad(v, ref, "no such item");
    return inst->type == tuple->items[inst->imm] ||
           bad_types(v, ref, "wrong result", inst->type, tuple->items[inst->imm]);
}

static bool check_item_at(Verifier *v, Ref ref) {
    const Type *tuple = arg_type(v, ref, 0), *type = ir_type(v->func, ref);
    if (tuple->kind != TY_TUPLE || tuple->nitems == 0) return bad(v, ref, "no such item");
    for (int32_t k = 0; k < tuple->nitems; k++)
        if (tuple->items[k] != type)
            return bad_types(v, ref, "wrong result", type, tuple->items[k]);
    return check_i64(v, ref, 1, 2);
}

static bool check_complex(Verifier *v, Ref ref, const Type *whole, const Type *part) {
    TypeKind want = whole->kind == TY_c64 ? TY_f32 : TY_f64;
    return (type_is_complex(whole) && part->kind == want) ||
           bad_types(v, ref, "do not fit", whole, part);
}

static bool check_cast(Verifier *v, Ref ref) {
    const Type *from = arg_type(v, ref, 0), *to = ir_type(v->func, ref);
    bool ok = type_is_number(from) && type_is_number(to);
    if (type_is_complex(from)) ok &= type_is_complex(to) || to->kind == TY_bool;
    return ok || bad_types(v, ref, "no such cast", from, to);
}

static bool check_callee(Verifier *v, Ref ref) {
    const Func *callee = ir_inst(v->func, ref)->u.func;
    if (!callee) return bad(v, ref, "the callee is missing");
    bool known = false;
    for (int32_t i = 0; i < v->func->module->funcs.len; i++)
        known |= v->func->module->funcs.items[i] == callee;
    if (!known) return bad(v, ref, "the callee is not in this module");
    return (callee->typed && callee->param_types && callee->result) ||
           bad(v, ref, "the callee has no types");
}

static bool check_call(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const Func *callee = inst->u.func;
    if (!check_callee(v, ref)) return false;
    if (inst->nargs != callee->nparams) return bad(v, ref, "wrong number of arguments");
    for (int32_t k = 0; k < inst->nargs; k++)
        if (arg_type(v, ref, k) != callee->param_types[k])
            return bad_types(v, ref, "wrong argument", arg_type(v, ref, k), callee->param_types[k]);
    return inst->type == callee->result ||
           bad_types(v, ref, "wrong result", inst->type, callee->result);
}

/* The callee takes the first and the last iteration of a chunk and its number before the arguments. */
static bool check_closing(Verifier *v, Ref ref) {
    const Func *resume = ir_inst(v->func, ref)->u.func;
    if (!check_callee(v, ref) || !check_array(v, ref, 0)) return false;
    if (!arg_type(v, ref, 0)->element->counted) return bad(v, ref, "a frame that holds nothing");
    return resume->nparams == 1 || bad(v, ref, "the function does not resume a generator");
}

static bool check_parallel(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const Func *callee = inst->u.func;
    if (!check_callee(v, ref) || !check_i64(v, ref, 0, 2)) return false;
    if (inst->nargs + 1 != callee->nparams) return bad(v, ref, "wrong number of arguments");
    if (callee->result->kind != TY_none) return bad(v, ref, "the body returns a value");
    for (int32_t k = 0; k < callee->nparams; k++) {
        const Type *have = arg_type(v, ref, k < 3 ? 0 : k - 1), *want = callee->param_types[k];
        if (have != want) return bad_types(v, ref, "wrong argument", have, want);
    }
    return true;
}

/* -- whole arrays ------------------------------------------------------------------------------ */

/* Operands from `first` on are what the function takes from parameter `param` on, element by element. The largest
 * number of axes is the answer; -1: wrong. */
static int check_elements(Verifier *v, Ref ref, int32_t first, int32_t param) {
    const Inst *inst = ir_inst(v->func, ref);
    const Func *callee = inst->u.func;
    int axes = 0;
    if (inst->nargs - first != callee->nparams - param)
        return bad(v, ref, "wrong number of operands"), -1;
    for (int32_t k = first; k < inst->nargs; k++) {
        const Type *type = arg_type(v, ref, k), *want = callee->param_types[param + k - first];
        const Type *element = type->kind == TY_ARRAY ? type->element : type;
        bool whole = type_is_scalar(element) || element->kind == TY_RECORD;
        if (!whole || element != want) return bad_types(v, ref, "wrong operand", type, want), -1;
        if (type->kind == TY_ARRAY) axes = QN_MAX(axes, type->ndim);
    }
    return axes;
}

/* As the result of alloc. */
static bool check_fresh(Verifier *v, Ref ref, int ndim) {
    const Type *type = ir_type(v->func, ref);
    if (type->kind != TY_ARRAY || type->ndim != ndim)
        return verify_fail(v, ir_inst(v->func, ref)->block, ref,
                           "the result must be an array of %d axes", ndim);
    if (type->layout == LAYOUT_A || type->space != SPACE_GLOBAL || !type->aligned || type->readonly)
        return bad(v, ref, "a new array is contiguous and in global memory");
    const Type *result = ir_inst(v->func, ref)->u.func->result;
    return type->element == result || bad_types(v, ref, "wrong result", type, result);
}

static bool check_map(Verifier *v, Ref ref) {
    if (!check_callee(v, ref)) return false;
    int axes = check_elements(v, ref, 0, 0);
    if (axes == 0) return bad(v, ref, "one operand at least must be an array with axes");
    return axes > 0 && check_fresh(v, ref, axes);
}

static bool check_map_into(Verifier *v, Ref ref) {
    if (!check_callee(v, ref) || !check_array(v, ref, 0)) return false;
    const Type *target = arg_type(v, ref, 0), *result = ir_inst(v->func, ref)->u.func->result;
    if (target->readonly || target->space == SPACE_CONST)
        return bad(v, ref, "writes into a read-only array");
    if (target->element != result)
        return bad_types(v, ref, "not the element type", result, target->element);
    int axes = check_elements(v, ref, 1, 0);
    if (axes > target->ndim) return bad(v, ref, "an operand has more axes than the target");
    return axes >= 0;
}

static bool scalars_only(const Type *type) {
    if (type->kind != TY_TUPLE) return type_is_scalar(type);
    for (int32_t i = 0; i < type->nitems; i++)
        if (!type_is_scalar(type->items[i])) return false;
    return type->nitems > 0;
}

static bool check_reduce_flags(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const Type *acc = inst->u.func->result;
    const Type *stop = acc->kind == TY_TUPLE ? acc->items[0] : acc;
    if (inst->sub >= 2 * REDUCE_EARLY) return bad(v, ref, "unknown kind");
    if ((inst->sub & REDUCE_FIRST) && (inst->sub & REDUCE_REST))
        return bad(v, ref, "first and rest exclude each other");
    if ((inst->sub & REDUCE_PAIRWISE) && !type_is_float(acc) && !type_is_complex(acc))
        return bad_types(v, ref, "not pairwise", acc, acc);
    if ((inst->sub & REDUCE_EARLY) && stop->kind != TY_bool)
        return bad_types(v, ref, "early needs a bool", acc, acc);
    if (!(inst->sub & REDUCE_FIRST)) return true;
    if (inst->nargs != 1) return bad(v, ref, "with first there is one operand");
    return ir_type(v->func, ir_arg(v->func, ref, 0))->element == acc ||
           bad_types(v, ref, "the first element is no accumulator", arg_type(v, ref, 0), acc);
}

static bool check_reduce(Verifier *v, Ref ref) {
    if (!check_callee(v, ref)) return false;
    const Inst *inst = ir_inst(v->func, ref);
    const Func *callee = inst->u.func;
    const Type *acc = callee->result;
    int32_t starts = inst->sub & REDUCE_FIRST ? 0 : 1;
    if (callee->nparams < 1 || callee->param_types[0] != acc || !scalars_only(acc))
        return bad(v, ref, "the function must give the accumulator, its first parameter");
    if (starts && arg_type(v, ref, 0) != acc)
        return bad_types(v, ref, "the start is no accumulator", arg_type(v, ref, 0), acc);
    int axes = check_elements(v, ref, starts, 1);
    if (axes == 0) return bad(v, ref, "one operand at least must be an array with axes");
    if (axes < 0 || !check_reduce_flags(v, ref)) return false;
    if (inst->imm <= 0 || (axes < 63 && inst->imm >> axes)) return bad(v, ref, "no such axes");
    int kept = axes - __builtin_popcountll((uint64_t)inst->imm);
    if (kept && (inst->sub & REDUCE_REST)) return bad(v, ref, "rest is for all axes");
    if (kept) return check_fresh(v, ref, kept);
    return inst->type == acc || bad_types(v, ref, "wrong result", inst->type, acc);
}

static bool check_reshape(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!check_array(v, ref, 0)) return false;
    const Type *from = arg_type(v, ref, 0);
    if (!check_derived(v, ref, inst->nargs - 1)) return false;
    if (from->layout != LAYOUT_C || inst->type->layout != LAYOUT_C)
        return bad_types(v, ref, "wrong layout", from, inst->type);
    return check_i64(v, ref, 1, inst->nargs);
}

static bool check_restride(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!check_array(v, ref, 0) || !check_same_memory(v, ref, (inst->nargs - 1) / 2)) return false;
    if (inst->type->layout != LAYOUT_A && inst->type->ndim > 0)
        return bad_types(v, ref, "the layout of given strides is A", arg_type(v, ref, 0),
                         inst->type);
    return check_i64(v, ref, 1, inst->nargs);
}

static bool check_guard(Verifier *v, Ref ref) {
    static const int8_t nargs[GUARD_COUNT] = {
#define GUARD(name, exception, message, nargs) [GUARD_##name] = nargs,
#include "frontend/ir/ir_guards.def"
#undef GUARD
    };
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->sub >= GUARD_COUNT) return bad(v, ref, "unknown kind");
    if (arg_type(v, ref, 0)->kind != TY_bool) return bad(v, ref, "the condition must be a bool");
    bool any = nargs[inst->sub] < 0;
    if (!any && inst->nargs != 1 + nargs[inst->sub])
        return bad(v, ref, "wrong number of message arguments");
    bool named = any || inst->sub == GUARD_unbound_local || inst->sub == GUARD_unbound_free ||
                 inst->sub == GUARD_int_range;
    if (named && !inst->u.name) return bad(v, ref, "the name is missing");
    return check_i64(v, ref, 1, inst->nargs);
}

/* Of the conversion that begins there, with C's flags, width and precision: the type of its operand. TY_none: there is no such one. */
static TypeKind conversion_at(Str format, int32_t *length) {
    static const struct {
        const char *text;
        TypeKind kind;
    } conversions[] = {{"s", TY_bool},  {"lld", TY_i64}, {"llu", TY_u64}, {"llx", TY_u64},
                       {"llX", TY_u64}, {"llo", TY_u64}, {"e", TY_f64},   {"E", TY_f64},
                       {"f", TY_f64},   {"F", TY_f64},   {"g", TY_f64},   {"G", TY_f64}};
    int32_t n = 1;
    while (n < format.len && strchr("-+ 0123456789.", format.bytes[n]))
        n++;
    Str rest = {format.bytes + n, format.len - n};
    for (int which = 0; which < countof(conversions) && n < 24; which++) {
        if (!str_starts(rest, conversions[which].text)) continue;
        *length = n + (int32_t)strlen(conversions[which].text);
        return conversions[which].kind;
    }
    return TY_none;
}

/* One conversion for each operand: a bool as text, ints of 64 bits, doubles. */
static bool check_print(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!inst->u.name) return bad(v, ref, "the format is missing");
    Str rest = *inst->u.name;
    int32_t n = 0, skip;
    for (; rest.len; rest = (Str){rest.bytes + skip, rest.len - skip}) {
        skip = str_starts(rest, "%%") ? 2 : 1;
        if (*rest.bytes != '%' || skip == 2) continue;
        TypeKind kind = conversion_at(rest, &skip);
        if (kind == TY_none) return bad(v, ref, "no such conversion");
        if (n >= inst->nargs || arg_type(v, ref, n)->kind != kind)
            return bad(v, ref, "an operand is not what the format says");
        n++;
    }
    return n == inst->nargs || bad(v, ref, "operands that the format does not name");
}

static bool check_atomic(Verifier *v, Ref ref) {
    static const struct {
        int32_t operands;
        const char *classes;
    } rows[ATOMIC_COUNT] = {
#define ATOMIC(name, operands, classes) [ATOMIC_##name] = {operands, classes},
#include "frontend/ir/ir_atomics.def"
#undef ATOMIC
    };
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->sub >= ATOMIC_COUNT) return bad(v, ref, "unknown kind");
    if (!check_access(v, ref, rows[inst->sub].operands, true)) return false;
    static const char letters[] = {0, 0, 'i', 'u', 'f', 'c'}; /* by TypeClass */
    char letter = letters[type_class(inst->type)];
    return (letter && strchr(rows[inst->sub].classes, letter)) ||
           bad(v, ref, "not for this element type");
}

static bool check_new_array(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const Type *type = inst->type;
    if (type->kind != TY_ARRAY) return bad(v, ref, "the result must be an array");
    switch (inst->op) {
    case OP_alloc:
        if (type->ndim != inst->nargs) return bad(v, ref, "one operand for each axis");
        if (type->layout == LAYOUT_A || type->space != SPACE_GLOBAL || !type->aligned)
            return bad(v, ref, "a new array is contiguous and in global memory");
        return check_i64(v, ref, 0, inst->nargs);
    case OP_memory_at:
        if (type->ndim != 1 || type->layout != LAYOUT_C || type->element->kind != TY_u8)
            return bad(v, ref, "memory at an address is an array of bytes of one axis");
        return check_i64(v, ref, 0, 1);
    case OP_frozen:
        if (!inst->u.frozen || inst->u.frozen->type != type)
            return bad(v, ref, "the array is missing");
        return type->readonly || inst->u.frozen->on_device ||
               bad(v, ref, "a frozen array is readonly");
    case OP_dynamic_shared:
        return (type->ndim == 1 && type->space == SPACE_SHARED) ||
               bad(v, ref, "1-D in shared memory only");
    default: break; /* static_array */
    }
    const ConstVal *shape = inst->u.value;
    if ((inst->sub & (inst->sub - 1)) || inst->sub > MAX_STATIC_ALIGN / STATIC_ALIGN_UNIT)
        return bad(v, ref, "one alignment");
    if (type->space == SPACE_CONST) return bad(v, ref, "must be in memory that can be written to");
    if (!shape || shape->kind != CONST_TUPLE || shape->nitems != type->ndim)
        return bad(v, ref, "the shape does not fit the type");
    for (int32_t i = 0; i < shape->nitems; i++)
        if (shape->items[i]->kind != CONST_INT || shape->items[i]->i < 0)
            return bad(v, ref, "the shape must be of integers");
    return true;
}

static bool check_phi_types(Verifier *v, Ref ref) {
    for (int32_t k = 0; k < ir_inst(v->func, ref)->nargs; k++)
        if (arg_type(v, ref, k) != ir_type(v->func, ref))
            return bad_types(v, ref, "wrong operand", arg_type(v, ref, k), ir_type(v->func, ref));
    return true;
}

static bool check_param(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    if (inst->block != 0) return bad(v, ref, "parameters stand in the entry block");
    if (inst->imm < 0 || inst->imm >= v->func->nparams) return bad(v, ref, "no such parameter");
    if (!v->func->typed) return true;
    const Type *want = v->func->param_types ? v->func->param_types[inst->imm] : NULL;
    return inst->type == want || bad_types(v, ref, "wrong type", inst->type, want);
}

static bool check_lib(Verifier *v, Ref ref) {
    return ir_inst(v->func, ref)->u.name != NULL || bad(v, ref, "the name is missing");
}

/* -- the ops ---------------------------------------------------------------------------------- */

/* Ends of one type, i64 or u64; the step, and the number of an item, are i64. */
static bool check_range(Verifier *v, Ref ref) {
    const Type *start = arg_type(v, ref, 0), *stop = arg_type(v, ref, 1);
    if (start->kind != TY_i64 && start->kind != TY_u64)
        return bad(v, ref, "the ends must be i64 or u64");
    return (start == stop || bad_types(v, ref, "ends of two types", start, stop)) &&
           check_i64(v, ref, 2, ir_inst(v->func, ref)->nargs);
}

static bool check_typed(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    switch ((Op)inst->op) {
    case OP_phi: return check_phi_types(v, ref);
    case OP_const:
        return const_fits(inst->u.value, inst->type) || bad(v, ref, "the value is not of the type");
    case OP_branch:
        return arg_type(v, ref, 0)->kind == TY_bool || bad(v, ref, "the condition must be a bool");
    case OP_return:
        return arg_type(v, ref, 0) == v->func->result ||
               bad_types(v, ref, "not the result type", arg_type(v, ref, 0), v->func->result);
    case OP_poll:
        if (inst->nargs > 1) return bad(v, ref, "at most one operand");
        return check_i64(v, ref, 0, inst->nargs);
    case OP_cast: return check_cast(v, ref);
    case OP_neg:
    case OP_add:
    case OP_sub:
    case OP_mul: return check_arith(v, ref, INTS | FLOATS | COMPLEXES);
    case OP_fence:
    case OP_div: return check_arith(v, ref, FLOATS | COMPLEXES);
    case OP_floordiv:
    case OP_mod:
    case OP_pow: return check_arith(v, ref, INTS | FLOATS);
    case OP_not:
    case OP_and:
    case OP_or:
    case OP_xor: return check_arith(v, ref, INTS | BOOLS);
    case OP_shl:
    case OP_shr: return check_arith(v, ref, INTS);
    case OP_eq:
    case OP_ne: return check_compare(v, ref, BOOLS | INTS | FLOATS | COMPLEXES);
    case OP_lt:
    case OP_le: return check_compare(v, ref, BOOLS | INTS | FLOATS);
    case OP_select:
        if (arg_type(v, ref, 0)->kind != TY_bool)
            return bad(v, ref, "the condition must be a bool");
        for (int k = 1; k < 3; k++)
            if (arg_type(v, ref, k) != inst->type)
                return bad_types(v, ref, "wrong operand", arg_type(v, ref, k), inst->type);
        return true;
    case OP_complex:
        return check_complex(v, ref, inst->type, arg_type(v, ref, 0)) &&
               check_complex(v, ref, inst->type, arg_type(v, ref, 1));
    case OP_real:
    case OP_imag: return check_complex(v, ref, arg_type(v, ref, 0), inst->type);
    case OP_range_len:
    case OP_range_item: return check_range(v, ref);
    case OP_tuple: return check_tuple(v, ref);
    case OP_item: return check_item(v, ref);
    case OP_item_at: return check_item_at(v, ref);
    case OP_lib: return check_lib(v, ref);
    case OP_call: return check_call(v, ref);
    case OP_kept:
    case OP_kept_count:
    case OP_kept_lane:
    case OP_kept_vote:
    case OP_keep: return inst->imm >= 0 || bad(v, ref, "no such slot");
    case OP_prange:
    case OP_chunks: return check_i64(v, ref, 0, 1);
    case OP_parallel: return check_parallel(v, ref);
    case OP_shape:
    case OP_stride: return check_axis(v, ref);
    case OP_wrap_index:
        if (ir_type(v->func, ref)->kind != TY_i32) return check_i64(v, ref, 0, 2);
        return arg_type(v, ref, 1)->kind == TY_i32 ||
               verify_fail(v, ir_inst(v->func, ref)->block, ref, "operand 1 must be an i32");
    case OP_check_index:
        return inst->imm < 0 ? bad(v, ref, "no such axis") : check_i64(v, ref, 0, 2);
    case OP_load: return check_access(v, ref, 0, false);
    case OP_store: return check_access(v, ref, 1, true);
    case OP_view: return check_view(v, ref);
    case OP_transpose: return check_transpose(v, ref);
    case OP_reshape: return check_reshape(v, ref);
    case OP_restride: return check_restride(v, ref);
    case OP_map: return check_map(v, ref);
    case OP_map_into: return check_map_into(v, ref);
    case OP_reduce: return check_reduce(v, ref);
    case OP_alloc:
    case OP_frozen:
    case OP_static_array:
    case OP_kept_array:
    case OP_memory_at:
    case OP_dynamic_shared: return check_new_array(v, ref);
    case OP_atomic: return check_atomic(v, ref);
    case OP_print: return check_print(v, ref);
    case OP_caught:
        if (inst->type->kind != TY_i64 && !is_exception(inst->type))
            return bad(v, ref, "the result must be an i64 or an exception");
        return check_caught(v, ref, inst->nargs);
    case OP_cause: return check_caught(v, ref, inst->nargs);
    case OP_exception:
        if (!is_exception(inst->type)) return bad(v, ref, "the result must be an exception");
        return inst->u.exception || (inst->nargs == 1 && check_i64(v, ref, 0, 1));
    case OP_same_array:
        if (arg_type(v, ref, 0)->kind == TY_CLASS)
            return arg_type(v, ref, 1) == arg_type(v, ref, 0) || bad(v, ref, "not of one class");
        return check_array(v, ref, 0) && check_array(v, ref, 1);
    case OP_disjoint: return check_array(v, ref, 0) && check_array(v, ref, 1);
    case OP_new: return check_new(v, ref);
    case OP_character:
        return check_i64(v, ref, 0, 1) &&
               ((inst->type->kind == TY_CLASS && inst->type->bits == CLS_str) ||
                bad(v, ref, "the result must be a str"));
    case OP_field: return check_field(v, ref, inst->type);
    case OP_set_field: return check_field(v, ref, arg_type(v, ref, 1));
    case OP_take: return check_access(v, ref, 0, true);
    case OP_grow: return check_grow(v, ref);
    case OP_move: return check_move(v, ref);
    case OP_own:
    case OP_retain:
    case OP_release: return check_counted(v, ref);
    case OP_guard: return check_guard(v, ref);
    case OP_reraise: return check_caught(v, ref, 1);
    case OP_closing: return check_closing(v, ref);
    case OP_matches:
        return inst->u.classes ? check_caught(v, ref, 1) : bad(v, ref, "the classes are missing");
    case OP_raise: return inst->u.exception != NULL || bad(v, ref, "the exception is missing");
    default: return true; /* the table says all there is */
    }
}

static bool is_unary(int operator) {
    return operator== OPR_neg || operator== OPR_pos || operator== OPR_invert || operator== OPR_not;
}

static bool check_untyped(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    switch ((Op)inst->op) {
    case OP_comprehension:
    case OP_function:
    case OP_const: return inst->u.value != NULL || bad(v, ref, "the value is missing");
    case OP_unary: return is_unary(inst->sub) || bad(v, ref, "not a unary operator");
    case OP_binary:
        return (inst->sub < OPR_COUNT && !is_unary(inst->sub)) ||
               bad(v, ref, "not a binary operator");
    case OP_call_py:
    case OP_call_star:
        if (inst->imm < 0 || inst->imm > inst->nargs - (inst->op == OP_call_star ? 2 : 1))
            return bad(v, ref, "more keywords than arguments");
        return inst->imm == 0 || inst->u.names || bad(v, ref, "the keywords are missing");
    case OP_iter_get:
        return ir_inst(v->func, ir_arg(v->func, ref, 0))->op == OP_iter_more ||
               bad(v, ref, "the operand must be an iter_more");
    case OP_unpack:
    case OP_extract: return inst->imm >= 0 || bad(v, ref, "a negative number");
    case OP_convert:
    case OP_freevar:
        if (inst->imm < 0) return bad(v, ref, "a negative number");
        return inst->u.name != NULL || bad(v, ref, "the name is missing");
    case OP_import: return (inst->imm >= 1 && inst->u.names) || bad(v, ref, "the name is missing");
    case OP_make_cell:
    case OP_cell_set:
        if (inst->nargs > (inst->op == OP_make_cell ? 1 : 2))
            return bad(v, ref, "too many operands");
        return inst->u.name != NULL || bad(v, ref, "the name is missing");
    case OP_cell_get:
    case OP_check_bound:
    case OP_global:
    case OP_builtin:
    case OP_attr:
    case OP_setattr: return inst->u.name != NULL || bad(v, ref, "the name is missing");
    case OP_raise_py: return inst->nargs <= 2 || bad(v, ref, "at most two operands");
    case OP_poll: return inst->nargs == 0 || bad(v, ref, "no operand before types are known");
    default: return true;
    }
}

/* The result as the table gives it. */
static bool check_result(Verifier *v, Ref ref, const OpInfo *info) {
    const Inst *inst = ir_inst(v->func, ref);
    if (!v->func->typed)
        return inst->type == NULL || bad(v, ref, "has a type in an untyped function");
    if (info->result == RES_VOID)
        return inst->type == NULL || bad(v, ref, "has a type, but no value");
    if (!inst->type) return bad(v, ref, "has no type");
    if (!admitted(inst->type)) return bad_types(v, ref, "not in typed IR", inst->type, inst->type);
    const Type *first = inst->nargs ? arg_type(v, ref, 0) : NULL;
    switch (info->result) {
    case RES_SAME:
        return inst->type == first || bad_types(v, ref, "wrong result", inst->type, first);
    case RES_BOOL: return inst->type->kind == TY_bool || bad(v, ref, "the result must be a bool");
    case RES_I64: return inst->type->kind == TY_i64 || bad(v, ref, "the result must be an i64");
    case RES_ELEM:
        return (first->kind == TY_ARRAY && inst->type == first->element) ||
               bad(v, ref, "the result must be of the element type");
    default: return true;
    }
}

/* What the text form cannot say: an operand whose type is missing is reported where it stands. */
static bool operands_have_types(Verifier *v, Ref ref) {
    if (!v->func->typed) return true;
    for (int32_t k = 0; k < ir_inst(v->func, ref)->nargs; k++)
        if (!arg_type(v, ref, k))
            return verify_fail(v, ir_inst(v->func, ref)->block, ref, "operand %d has no type",
                               (int)k);
    return true;
}

bool verify_op(Verifier *v, Ref ref) {
    const Inst *inst = ir_inst(v->func, ref);
    const OpInfo *info = &ir_op_info[inst->op];
    if (!(info->state & (v->func->typed ? OPS_TYPED : OPS_UNTYPED)))
        return bad(v, ref,
                   v->func->typed ? "stands in untyped IR only" : "stands in typed IR only");
    int least = info->operands < 0 ? -1 - info->operands : info->operands;
    if (inst->nargs < least || (info->operands >= 0 && inst->nargs > least))
        return verify_fail(v, inst->block, ref, "%d operands instead of %d", (int)inst->nargs,
                           least);
    if (!operands_have_types(v, ref) || !check_result(v, ref, info)) return false;
    if (inst->op == OP_param) return check_param(v, ref);
    return v->func->typed ? check_typed(v, ref) : check_untyped(v, ref);
}
