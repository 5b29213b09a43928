/* ir_print.c - the canonical text form: what ir_parse.c reads back to the same function. See IR.md.
 *
 * Instructions and blocks are printed with the numbers they have; nothing depends on addresses or on
 * hashes. ir_op_text says how the attributes of an op are written, for this file and for the parser. */
#include "frontend/ir/ir_text.h"
#include "frontend/base/hash.h"

#include <inttypes.h>

const OpText ir_op_text[OP_COUNT] = {
    [OP_param] = {.sub = SUB_WORDS, .sub_word = "small positive alike index", .imm = IMM_PLAIN},
    [OP_const] = {.u = U_CONST},
    [OP_function] = {.sub = SUB_WORD, .sub_word = "fresh", .u = U_CONST, .parens = true},
    [OP_comprehension] = {.u = U_CONST, .parens = true},
    [OP_check_bound] = {.u = U_NAME},
    [OP_convert] = {.u = U_NAME, .imm = IMM_WORD, .imm_word = "slot"},
    [OP_global] = {.u = U_NAME},
    [OP_import] = {.u = U_KEYWORDS},
    [OP_builtin] = {.u = U_NAME},
    [OP_make_cell] = {.u = U_NAME},
    [OP_cell_get] = {.u = U_NAME},
    [OP_cell_set] = {.u = U_NAME},
    [OP_freevar] =
        {.sub = SUB_WORD, .sub_word = "shared", .u = U_NAME, .imm = IMM_WORD, .imm_word = "index"},
    [OP_attr] = {.u = U_NAME},
    [OP_unary] = {.sub = SUB_OPERATOR},
    [OP_binary] = {.sub = SUB_OPERATOR, .imm = IMM_FLAG, .imm_word = "inplace"},
    [OP_call_py] = {.u = U_KEYWORDS},
    [OP_call_star] = {.u = U_KEYWORDS},
    [OP_setattr] = {.u = U_NAME},
    [OP_jump] = {.sub = SUB_WORD, .sub_word = "rolled"},
    [OP_concat] = {.sub = SUB_WORD, .sub_word = "list"},
    [OP_unpack] = {.sub = SUB_WORD, .sub_word = "starred", .imm = IMM_WORD, .imm_word = "count"},
    [OP_extract] = {.imm = IMM_WORD, .imm_word = "at"},
    [OP_item] = {.imm = IMM_WORD, .imm_word = "at"},
    [OP_add] = {.sub = SUB_WORD, .sub_word = "nowrap"},
    [OP_sub] = {.sub = SUB_WORD, .sub_word = "nowrap"},
    [OP_mul] = {.sub = SUB_WORD, .sub_word = "nowrap"},
    [OP_floordiv] = {.sub = SUB_WORDS, .sub_word = "positive natural"},
    [OP_mod] = {.sub = SUB_WORDS, .sub_word = "positive natural below above seldom"},
    [OP_lib] =
        {.sub = SUB_WORD, .sub_word = "anyzero", .u = U_NAME, .imm = IMM_ROW, .parens = true},
    [OP_call] = {.sub = SUB_WORD, .sub_word = "items", .u = U_FUNC, .parens = true},
    [OP_kept] = {.imm = IMM_WORD, .imm_word = "slot"},
    [OP_kept_count] = {.sub = SUB_WORDS,
                       .sub_word = "all any",
                       .imm = IMM_WORD,
                       .imm_word = "slot"},
    [OP_kept_lane] = {.sub = SUB_WORDS,
                      .sub_word = "up down xor",
                      .imm = IMM_WORD,
                      .imm_word = "slot"},
    [OP_kept_vote] = {.sub = SUB_WORDS,
                      .sub_word = "all any eq",
                      .imm = IMM_WORD,
                      .imm_word = "slot"},
    [OP_kept_array] = {.sub = SUB_WORDS,
                       .sub_word = STATIC_ALIGNS,
                       .u = U_CONST,
                       .imm = IMM_WORD,
                       .imm_word = "slot"},
    [OP_keep] = {.imm = IMM_WORD, .imm_word = "slot"},
    [OP_chunks] = {.sub = SUB_WORD, .sub_word = "few"},
    [OP_closing] = {.u = U_FUNC, .parens = true},
    [OP_yield] = {.sub = SUB_WORD, .sub_word = "guarded"},
    [OP_parallel] = {.u = U_FUNC, .parens = true},
    [OP_range_len] = {.sub = SUB_WORD, .sub_word = "small"},
    [OP_shape] = {.imm = IMM_WORD, .imm_word = "axis"},
    [OP_stride] = {.imm = IMM_WORD, .imm_word = "axis"},
    [OP_check_index] = {.imm = IMM_WORD, .imm_word = "axis"},
    [OP_load] = {.imm = IMM_MAYBE, .imm_word = "row"},
    [OP_view] = {.u = U_NAME},
    [OP_field] = {.imm = IMM_WORD, .imm_word = "at"},
    [OP_set_field] = {.imm = IMM_WORD, .imm_word = "at"},
    [OP_grow] = {.imm = IMM_WORD, .imm_word = "at"},
    [OP_alloc] = {.sub = SUB_WORD, .sub_word = "zeroed"},
    [OP_store] = {.sub = SUB_WORD, .sub_word = "vacant", .imm = IMM_MAYBE, .imm_word = "row"},
    [OP_pow] = {.sub = SUB_WORDS, .sub_word = "squared natural"},
    [OP_poll] = {.sub = SUB_WORDS, .sub_word = "later short"},
    [OP_cast] = {.sub = SUB_WORD, .sub_word = "inside"},
    [OP_map] = {.u = U_FUNC, .parens = true},
    [OP_map_into] = {.u = U_FUNC, .parens = true},
    [OP_reduce] = {.sub = SUB_WORDS,
                   .sub_word = "first rest pairwise early",
                   .u = U_FUNC,
                   .parens = true,
                   .imm = IMM_WORD,
                   .imm_word = "axes"},
    [OP_frozen] = {.u = U_FROZEN},
    [OP_static_array] = {.sub = SUB_WORDS,
                         .sub_word = STATIC_ALIGNS,
                         .u = U_CONST,
                         .imm = IMM_FLAG,
                         .imm_word = "new"},
    [OP_atomic] = {.sub = SUB_ATOMIC},
    [OP_print] = {.u = U_NAME, .parens = true},
    [OP_guard] = {.sub = SUB_GUARD, .u = U_NAME_OPT},
    [OP_raise] = {.u = U_RAISE, .parens = true},
    [OP_exception] = {.u = U_RAISE, .parens = true},
    [OP_reraise] = {.sub = SUB_WORD, .sub_word = "statement"},
    [OP_matches] = {.u = U_CLASSES},
};

const char *const ir_operator_names[OPR_COUNT] = {
#define OPERATOR(name, symbol, verb, method) #name,
#include "frontend/ir/ir_operators.def"
#undef OPERATOR
};
const char *const ir_guard_names[GUARD_COUNT] = {
#define GUARD(name, exception, message, nargs) #name,
#include "frontend/ir/ir_guards.def"
#undef GUARD
};
const char *const ir_guard_exceptions[GUARD_COUNT] = {
#define GUARD(name, exception, message, nargs) #exception,
#include "frontend/ir/ir_guards.def"
#undef GUARD
};
const char *ir_guard_exception(int32_t guard) {
    return ir_guard_exceptions[guard];
}
const char *const ir_atomic_names[ATOMIC_COUNT] = {
#define ATOMIC(name, operands, classes) #name,
#include "frontend/ir/ir_atomics.def"
#undef ATOMIC
};

/* -- words and strings ----------------------------------------------------------------------- */

static bool ir_is_word(Str s) {
    for (int32_t i = 0; i < s.len; i++) {
        char c = s.bytes[i];
        bool letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return s.len > 0;
}

void ir_print_quoted(StrBuf *out, Str s) {
    buf_char(out, '"');
    for (int32_t i = 0; i < s.len; i++) {
        uint8_t c = (uint8_t)s.bytes[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_str(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_char(out, (char)c);
    }
    buf_char(out, '"');
}

static void ir_print_word(StrBuf *out, Str s) {
    if (ir_is_word(s))
        buf_bytes(out, s.bytes, (size_t)s.len);
    else
        ir_print_quoted(out, s);
}

/* -- floats as bits -------------------------------------------------------------------------- */

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exponent bias of the format with so many explicit mantissa bits. */
static int bias_of(int mantissa) {
    return mantissa == 23 ? 127 : 15;
}

static bool ir_narrow_bits(double value, int mantissa, uint64_t *out) {
    uint64_t bits = bits_of(value), fraction = bits & ((UINT64_C(1) << 52) - 1);
    int drop = 52 - mantissa, bias = bias_of(mantissa), exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t sign = bits >> 63 << (mantissa + (mantissa == 23 ? 8 : 5));
    uint64_t inf = (uint64_t)(2 * bias + 1) << mantissa, kept = fraction >> drop;
    bool exact = (fraction & ((UINT64_C(1) << drop) - 1)) == 0;
    int e = exponent - 1023 + bias;
    if (exponent == 0x7ff) return *out = sign | inf | kept, exact;
    if (exponent == 0) return *out = sign, fraction == 0;
    if (e > 2 * bias) return false;
    if (e > 0) return *out = sign | (uint64_t)e << mantissa | kept, exact;
    int shift = drop + 1 - e; /* a subnormal of the narrow format */
    uint64_t whole = fraction | UINT64_C(1) << 52;
    if (shift > 52 || (whole & ((UINT64_C(1) << shift) - 1))) return false;
    return *out = sign | whole >> shift, true;
}

double ir_widen_bits(uint64_t bits, int mantissa) {
    int ebits = mantissa == 23 ? 8 : 5, bias = bias_of(mantissa);
    uint64_t fraction = bits & ((UINT64_C(1) << mantissa) - 1);
    int exponent = (int)(bits >> mantissa & ((UINT64_C(1) << ebits) - 1));
    uint64_t wide = bits >> (mantissa + ebits) << 63;
    if (exponent == 2 * bias + 1) {
        wide |= UINT64_C(0x7ff) << 52 | fraction << (52 - mantissa);
    } else if (exponent || fraction) {
        if (exponent == 0)
            for (exponent = 1; !(fraction >> mantissa & 1); exponent--)
                fraction <<= 1;
        fraction &= (UINT64_C(1) << mantissa) - 1;
        wide |= (uint64_t)(exponent - bias + 1023) << 52 | fraction << (52 - mantissa);
    }
    double value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* 0f with 8 digits where the type is f32, 0h with 4 for f16, 0d with 16 otherwise and wherever the
 * narrow form would lose something. */
static void print_float(StrBuf *out, double value, const Type *type) {
    uint64_t bits;
    TypeKind kind = type ? type->kind : TY_f64;
    if ((kind == TY_f32 || kind == TY_c64) && ir_narrow_bits(value, 23, &bits))
        buf_printf(out, "0f%08" PRIX64, bits);
    else if (kind == TY_f16 && ir_narrow_bits(value, 10, &bits))
        buf_printf(out, "0h%04" PRIX64, bits);
    else
        buf_printf(out, "0d%016" PRIX64, bits_of(value));
}

/* -- constants ------------------------------------------------------------------------------- */

static void ir_print_const(StrBuf *out, const ConstVal *value, const Type *type);

static void print_items(StrBuf *out, const char *word, const ConstVal *value, const Type *type) {
    buf_printf(out, "%s(", word);
    for (int32_t i = 0; i < value->nitems; i++) {
        if (i) buf_str(out, ", ");
        bool typed = type && type->kind == TY_TUPLE && i < type->nitems;
        ir_print_const(out, value->items[i], typed ? type->items[i] : NULL);
    }
    buf_char(out, ')');
}

static void ir_print_const(StrBuf *out, const ConstVal *value, const Type *type) {
    switch (value->kind) {
    case CONST_NONE: buf_str(out, "none"); return;
    case CONST_BOOL: buf_str(out, value->i ? "true" : "false"); return;
    case CONST_INT:
        if (value->is_unsigned)
            buf_printf(out, "%" PRIu64 "u", (uint64_t)value->i);
        else
            buf_printf(out, "%" PRId64, value->i);
        return;
    case CONST_FLOAT: print_float(out, value->re, type); return;
    case CONST_COMPLEX:
        buf_str(out, "complex(");
        print_float(out, value->re, type);
        buf_str(out, ", ");
        print_float(out, value->im, type);
        buf_char(out, ')');
        return;
    case CONST_TUPLE: print_items(out, "tuple", value, type); return;
    case CONST_SLICE: print_items(out, "slice", value, NULL); return;
    case CONST_ELLIPSIS: buf_str(out, "ellipsis"); return;
    case CONST_STR: break;
    case CONST_BYTES: buf_str(out, "bytes "); break;
    case CONST_BIGINT: buf_str(out, "big "); break;
    case CONST_CODE: buf_str(out, "code "); break;
    case CONST_OTHER: buf_str(out, "other "); break;
    }
    ir_print_quoted(out, value->str);
}

static void print_frozen(StrBuf *out, const FrozenArray *frozen) {
    ir_print_quoted(out, frozen->name);
    buf_str(out, " shape(");
    for (int i = 0; i < frozen->type->ndim; i++)
        buf_printf(out, "%s%" PRId64, i ? ", " : "", frozen->shape[i]);
    const uint8_t *bytes = frozen->bytes;
    if (frozen->nbytes > FROZEN_TEXT_LIMIT) {
        Hash128 h = hash_bytes(bytes, (size_t)frozen->nbytes);
        buf_printf(out, ") elided %" PRId64 " %016" PRIx64 "%016" PRIx64, frozen->nbytes, h.hi,
                   h.lo);
        return;
    }
    buf_str(out, ") bytes ");
    buf_char(out, '"');
    for (int64_t i = 0; i < frozen->nbytes; i++)
        buf_printf(out, "%02x", bytes[i]);
    buf_char(out, '"');
}

/* -- instructions ---------------------------------------------------------------------------- */

static void print_ref(StrBuf *out, Ref ref) {
    buf_printf(out, "%%%d", (int)ref);
}

static void print_operands(StrBuf *out, const Func *func, const Inst *inst, int32_t from) {
    for (int32_t k = from; k < inst->nargs; k++) {
        if (k > from) buf_str(out, ", ");
        print_ref(out, func->operands.items[inst->args + k]);
    }
}

static void print_words(StrBuf *out, unsigned set, const char *words) {
    for (; set && *words; set >>= 1) {
        size_t n = strcspn(words, " ");
        if (set & 1) {
            buf_char(out, ' ');
            buf_bytes(out, words, n);
        }
        words += n + (words[n] == ' ');
    }
}

static void print_sub(StrBuf *out, const Inst *inst, const OpText *text) {
    const char *name = NULL;
    switch ((SubForm)text->sub) {
    case SUB_OPERATOR: name = inst->sub < OPR_COUNT ? ir_operator_names[inst->sub] : "?"; break;
    case SUB_GUARD: name = inst->sub < GUARD_COUNT ? ir_guard_names[inst->sub] : "?"; break;
    case SUB_ATOMIC: name = inst->sub < ATOMIC_COUNT ? ir_atomic_names[inst->sub] : "?"; break;
    case SUB_WORD:
        if (inst->sub) buf_printf(out, " %s", text->sub_word);
        return;
    case SUB_WORDS: print_words(out, inst->sub, text->sub_word); return;
    case SUB_NONE: return;
    }
    buf_printf(out, ".%s", name);
}

/* What stands between the op and its operands. */
static void print_object(StrBuf *out, const Inst *inst, const OpText *text) {
    if (text->u == U_NONE || text->u == U_KEYWORDS) return;
    if (!inst->u.ptr) {
        if (text->u != U_NAME_OPT) buf_str(out, " ?"); /* broken: the verifier says so */
        return;
    }
    buf_char(out, ' ');
    switch ((UForm)text->u) {
    case U_NAME:
    case U_NAME_OPT: ir_print_quoted(out, *inst->u.name); return;
    case U_CONST: ir_print_const(out, inst->u.value, inst->type); return;
    case U_FUNC:
        buf_char(out, '@');
        ir_print_word(out, inst->u.func->name);
        return;
    case U_FROZEN: print_frozen(out, inst->u.frozen); return;
    case U_RAISE:
        ir_print_quoted(out, inst->u.exception->class_name);
        if (!inst->u.exception->has_message) return;
        buf_char(out, ' ');
        ir_print_quoted(out, inst->u.exception->message);
        return;
    case U_CLASSES:
        for (int32_t k = 0; k < inst->u.classes->n; k++) {
            if (k) buf_str(out, " | ");
            ir_print_quoted(out, inst->u.classes->classes[k].name);
        }
        return;
    default: return;
    }
}

static void print_phi(StrBuf *out, const Func *func, const Inst *inst) {
    const Block *block = &func->blocks.items[inst->block];
    for (int32_t k = 0; k < inst->nargs; k++) {
        buf_str(out, k ? ", [" : " [");
        print_ref(out, func->operands.items[inst->args + k]);
        if (k < block->preds.len) buf_printf(out, ", b%d", (int)block->preds.items[k]);
        buf_char(out, ']');
    }
}

static void print_keywords(StrBuf *out, const Inst *inst) {
    if (inst->imm <= 0 || !inst->u.names) return;
    buf_str(out, " names(");
    for (int64_t i = 0; i < inst->imm; i++) {
        if (i) buf_str(out, ", ");
        ir_print_quoted(out, inst->u.names[i]);
    }
    buf_char(out, ')');
}

static void print_call_py(StrBuf *out, const Func *func, const Inst *inst) {
    buf_char(out, ' ');
    if (inst->nargs) print_ref(out, func->operands.items[inst->args]);
    buf_str(out, " (");
    print_operands(out, func, inst, 1);
    buf_char(out, ')');
}

static void print_body(StrBuf *out, const Func *func, const Inst *inst) {
    const OpText *text = &ir_op_text[inst->op];
    buf_str(out, ir_op_info[inst->op].name);
    print_sub(out, inst, text);
    if (text->imm == IMM_FLAG && inst->imm) buf_printf(out, " %s", text->imm_word);
    print_object(out, inst, text);
    if (inst->op == OP_phi) {
        print_phi(out, func, inst);
    } else if (inst->op == OP_call_py) {
        print_call_py(out, func, inst);
    } else if (text->parens) {
        buf_str(out, " (");
        print_operands(out, func, inst, 0);
        buf_char(out, ')');
    } else if (inst->nargs) {
        buf_char(out, ' ');
        print_operands(out, func, inst, 0);
    }
    if (text->u == U_KEYWORDS) print_keywords(out, inst);
    if (text->imm == IMM_PLAIN) buf_printf(out, " %" PRId64, inst->imm);
    if (text->imm == IMM_WORD || (text->imm == IMM_MAYBE && inst->imm))
        buf_printf(out, " %s %" PRId64, text->imm_word, inst->imm);
    if (inst->op == OP_jump) buf_printf(out, " b%d", (int)inst->target[0]);
    if (inst->op == OP_branch)
        buf_printf(out, ", b%d, b%d", (int)inst->target[0], (int)inst->target[1]);
}

static void print_inst(StrBuf *out, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    buf_str(out, "  ");
    if (inst->type || ir_op_info[inst->op].result != RES_VOID) {
        print_ref(out, ref);
        if (inst->type) {
            buf_str(out, ": ");
            type_print(out, inst->type);
        }
        buf_str(out, " = ");
    }
    print_body(out, func, inst);
    if (inst->error != NO_BLOCK) buf_printf(out, " !b%d", (int)inst->error);
    if (inst->span > 0 && inst->span < func->spans.len) {
        const IrSpan *s = &func->spans.items[inst->span];
        buf_printf(out, " @%d:%d-%d:%d", (int)s->line, (int)s->column, (int)s->end_line,
                   (int)s->end_column);
    }
    if (ref < func->var_names.len && func->var_names.items[ref].len) {
        buf_str(out, " as ");
        ir_print_quoted(out, func->var_names.items[ref]);
    }
    buf_char(out, '\n');
}

/* -- functions ------------------------------------------------------------------------------- */

static void print_block(StrBuf *out, const Func *func, int32_t number) {
    const Block *block = &func->blocks.items[number];
    buf_printf(out, "b%d:", (int)number);
    if (number != 0 || block->preds.len) {
        buf_str(out, " preds(");
        for (int32_t k = 0; k < block->preds.len; k++)
            buf_printf(out, "%sb%d", k ? ", " : "", (int)block->preds.items[k]);
        buf_char(out, ')');
    }
    if (block->cold) buf_str(out, " cold");
    buf_char(out, '\n');
    for (int32_t i = 0; i < block->insts.len; i++)
        if (ir_inst(func, block->insts.items[i])->op != OP_removed)
            print_inst(out, func, block->insts.items[i]);
}

void ir_print_func(StrBuf *out, const Func *func) {
    buf_str(out, "func @");
    ir_print_word(out, func->name);
    buf_char(out, '(');
    for (int32_t i = 0; i < func->nparams; i++) {
        if (i) buf_str(out, ", ");
        ir_print_word(out, func->param_names ? func->param_names[i] : STR(""));
        if (!func->param_types || !func->param_types[i]) continue;
        buf_str(out, ": ");
        type_print(out, func->param_types[i]);
    }
    buf_char(out, ')');
    if (func->result) {
        buf_str(out, " -> ");
        type_print(out, func->result);
    }
    buf_str(out, func->typed ? " typed" : " untyped");
    if (func->part) buf_str(out, " part");
    if (func->parallel) buf_str(out, " parallel");
    if (func->unchecked) buf_str(out, " unchecked");
    if (func->own_math) buf_printf(out, " fastmath %u", (unsigned)func->fastmath);
    if (func->file.len) {
        buf_str(out, " file ");
        ir_print_quoted(out, func->file);
    }
    if (func->user_name.len && !str_equal(func->user_name, func->name)) {
        buf_str(out, " user ");
        ir_print_quoted(out, func->user_name);
    }
    buf_str(out, " {\n");
    for (int32_t block = 0; block < func->blocks.len; block++)
        if (!func->blocks.items[block].removed) print_block(out, func, block);
    buf_str(out, "}\n");
}

void ir_print_module(StrBuf *out, const Module *module) {
    for (int32_t i = 0; i < module->funcs.len; i++) {
        if (i) buf_char(out, '\n');
        ir_print_func(out, module->funcs.items[i]);
    }
}
