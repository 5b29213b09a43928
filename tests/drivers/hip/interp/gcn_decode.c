/* Machine code to instructions: LLVM's disassembler prints one, the text is taken apart once, and what it says is looked up in
 * the tables. An address is decoded when a wave first comes to it. */
#include "gcn_inst.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PRINTED = 512, WORD = 4 };

struct GcnCode {
    LLVMDisasmContextRef disasm;
    const uint8_t *bytes;
    uint64_t address, size;
    GcnInst **at; /* for each 4 bytes: the instruction that begins there */
    int chip;
};

/* -- Names ------------------------------------------------------------------------------------- */

typedef struct NameRow {
    const char *printed, *row;
} NameRow;

static const NameRow names[] = {
#define NAME(printed, row) {#printed, #row},
#include "gcn_names.def"
#undef NAME
};

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

static void drop_suffix(char *name, const char *suffix) {
    size_t n = strlen(name), k = strlen(suffix);
    if (n > k && !strcmp(name + n - k, suffix)) name[n - k] = 0;
}

/* The name of the row: without what says how it is encoded, v_cmpx as v_cmp. */
static void plain_name(GcnInst *i, char *name) {
    static const char *const suffixes[] = {"_dpp8", "_dpp", "_sdwa", "_e64", "_e32"};
    for (unsigned k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
        drop_suffix(name, suffixes[k]);
    if (starts(name, "v_dual_")) memmove(name + 2, name + 7, strlen(name + 7) + 1);
    if (starts(name, "v_cmpx_")) {
        memmove(name + 5, name + 6, strlen(name + 6) + 1);
        i->writes_exec = true;
    }
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(name, names[k].printed)) {
            strcpy(name, names[k].row);
            return;
        }
}

/* -- Constants --------------------------------------------------------------------------------- */

static uint64_t float_bits(double x, GcnType type) {
    uint64_t bits = 0;
    float narrow = (float)x;
    if (x == 0.15915494 || x == 0.15915494309189532) { /* 1 / (2 pi), as exact as the type */
        x = 0.15915494309189532;
        narrow = 0.15915494f;
    }
    if (type == T_F64 || type == T_U64 || type == T_I64)
        memcpy(&bits, &x, sizeof x);
    else if (type == T_F16)
        memcpy(&bits, &narrow, sizeof narrow); /* becomes a half in gcn_settle */
    else
        memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

uint16_t gcn_f32_to_f16(float x, bool toward_zero);

/* Small integers are numbers to integers and bits to floats; other constants are the upper half of an f64. */
void gcn_settle(GcnOperand *o, GcnType type) {
    if (o->kind != K_const) return;
    bool inline_integer = o->integer >= -16 && o->integer <= 64;
    if (o->is_float && type == T_F16)
        o->bits = gcn_f32_to_f16((float)o->real, false);
    else if (o->is_float)
        o->bits = float_bits(o->real, type);
    else if (type == T_F64 && !inline_integer && (uint64_t)o->integer <= UINT32_MAX)
        o->bits = (uint64_t)o->integer << 32;
    else if (type == T_I64 && !inline_integer && (uint64_t)o->integer <= UINT32_MAX)
        o->bits = (uint64_t)(int64_t)(int32_t)o->integer;
    else if (type == T_S16)
        o->bits = (uint64_t)(int64_t)(int16_t)o->integer;
    else
        o->bits = (uint64_t)o->integer;
}

/* -- Modifiers of vector instructions ---------------------------------------------------------- */

static uint8_t flags(const GcnModifier *m, uint8_t otherwise) {
    uint8_t bits = 0;
    if (!m) return otherwise;
    for (int k = 0; k < m->n; k++)
        bits |= (uint8_t)((m->list[k] != 0) << k);
    return bits;
}

static const struct {
    const char *name;
    DppKind kind;
} dpp_names[] = {
    {"quad_perm", DPP_quad_perm},
    {"row_shl", DPP_row_shl},
    {"row_shr", DPP_row_shr},
    {"row_ror", DPP_row_ror},
    {"wave_shl", DPP_wave_shl},
    {"wave_rol", DPP_wave_rol},
    {"wave_shr", DPP_wave_shr},
    {"wave_ror", DPP_wave_ror},
    {"row_mirror", DPP_row_mirror},
    {"row_half_mirror", DPP_row_half_mirror},
    {"row_bcast", DPP_row_bcast},
    {"row_newbcast", DPP_row_share},
    {"row_share", DPP_row_share},
    {"row_xmask", DPP_row_xmask},
    {"dpp8", DPP_eight},
};

static bool read_dpp(GcnInst *i, const GcnModifier *m) {
    for (unsigned k = 0; k < sizeof dpp_names / sizeof *dpp_names; k++)
        if (!strcmp(m->name, dpp_names[k].name)) {
            i->dpp = dpp_names[k].kind;
            i->dpp_value = m->n ? (uint8_t)m->list[0] : 0;
            for (int j = 0; j < m->n && j < 8; j++)
                i->dpp_lanes[j] = (uint8_t)m->list[j];
            return true;
        }
    if (!strcmp(m->name, "row_mask"))
        i->row_mask = (uint8_t)m->list[0];
    else if (!strcmp(m->name, "bank_mask"))
        i->bank_mask = (uint8_t)m->list[0];
    else if (!strcmp(m->name, "bound_ctrl"))
        i->bound_ctrl = true;
    else if (!strcmp(m->name, "fi"))
        i->fetch_inactive = m->n && m->list[0];
    else
        return false;
    return true;
}

static bool read_sdwa(GcnInst *i, const GcnModifier *m) {
    static const char *const parts[] = {"DWORD",  "BYTE_0", "BYTE_1", "BYTE_2",
                                        "BYTE_3", "WORD_0", "WORD_1"};
    static const char *const rest[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
    if (!strcmp(m->name, "dst_unused")) {
        for (int k = 0; k < 3; k++)
            if (!strcmp(m->text, rest[k]))
                return i->sdwa = true, i->dst_unused = (SdwaUnused)k, true;
        return false;
    }
    SdwaSel *to = !strcmp(m->name, "dst_sel")    ? &i->dst_sel
                  : !strcmp(m->name, "src0_sel") ? &i->src0_sel
                  : !strcmp(m->name, "src1_sel") ? &i->src1_sel
                                                 : NULL;
    for (int k = 0; to && k < 7; k++)
        if (!strcmp(m->text, parts[k])) return i->sdwa = true, *to = (SdwaSel)k, true;
    return false;
}

static bool read_modifier(GcnInst *i, const GcnModifier *m, int sources) {
    if (!strcmp(m->name, "clamp")) return i->clamp = true;
    if (!strcmp(m->name, "mul")) return i->omod = m->list[0] == 2 ? 1 : 2, m->n == 1;
    if (!strcmp(m->name, "div")) return i->omod = 3, m->n == 1;
    if (!strcmp(m->name, "op_sel")) {
        i->op_sel = flags(m, 0);
        if (!i->packed && !i->mixed && m->n == sources + 1) { /* the last one is the result */
            unsigned result = i->op_sel >> sources & 1;
            i->op_sel = (uint8_t)((i->op_sel & ~(1u << sources)) | result << 3);
        }
        return true;
    }
    if (!strcmp(m->name, "op_sel_hi")) return i->op_sel_hi = flags(m, 0), true;
    if (!strcmp(m->name, "neg_lo")) return i->neg_lo = flags(m, 0), true;
    if (!strcmp(m->name, "neg_hi")) return i->neg_hi = flags(m, 0), true;
    return read_dpp(i, m) || read_sdwa(i, m);
}

/* -- Operands of vector and scalar instructions ------------------------------------------------ */

static GcnOperand vcc(void) {
    return (GcnOperand){.kind = K_scalar, .reg = S_VCC, .words = 2};
}

static bool take(const GcnText *text, int *at, GcnOperand *to) {
    if (*at >= text->noperands) return false;
    *to = text->operands[(*at)++];
    return true;
}

/* A modifier that makes another row of the instruction: integers saturate, parts of them have signs. */
static bool variant(GcnInst *i, const char *what, int number) {
    char name[64], digits[8] = "";
    if (number) snprintf(digits, sizeof digits, "%d", number);
    snprintf(name, sizeof name, "%s_%s%s", i->vector->name, what, digits);
    i->vector = gcn_vector_row(name);
    return i->vector != NULL;
}

static bool vector(GcnInst *i, const GcnText *text, const GcnVectorRow *row, int chip) {
    int at = 0, sources = 0;
    const uint8_t *t = row->types;
    for (int k = 2; k < 5; k++)
        sources += t[k] != T_NO;
    i->run = gcn_run_vector;
    i->vector = row;
    i->packed = starts(row->name, "v_pk_");
    i->mixed = starts(row->name, "v_fma_mix");
    i->op_sel_hi = i->packed ? 7 : 0;
    i->row_mask = i->bank_mask = 15;
    i->keeps_high = chip >= 10 || i->mixed;
    bool shown = !(i->writes_exec && text->noperands == sources);
    if (shown && !take(text, &at, &i->d)) return false;
    if (t[1] == T_MASK && !take(text, &at, &i->e)) return false;
    if (t[2] != T_NO && !take(text, &at, &i->a)) return false;
    if (t[3] != T_NO && !take(text, &at, &i->b)) return false;
    if (t[4] != T_NO && !take(text, &at, &i->c)) {
        i->c_is_d = t[4] != T_MASK;
        i->c = vcc();
    }
    if (at != text->noperands || (t[0] != T_MASK && i->d.kind != K_vector)) return false;
    gcn_settle(&i->a, t[2]), gcn_settle(&i->b, t[3]), gcn_settle(&i->c, t[4]);
    for (int k = 0; k < text->nmodifiers; k++)
        if (!read_modifier(i, &text->modifiers[k], sources)) return false;
    if (!strcmp(row->name, "v_fma_mixhi_f16")) i->op_sel |= 8;
    if (i->neg_lo && !i->packed && !i->mixed) return variant(i, "neg", i->neg_lo) && !i->clamp;
    bool real = t[0] == T_F16 || t[0] == T_F32 || t[0] == T_F64;
    if (real || (!i->clamp && !i->omod)) return true;
    i->clamp = false;
    return variant(i, "clamp", 0) && !i->omod;
}

static bool scalar(GcnInst *i, const GcnText *text, const GcnScalarRow *row) {
    int at = 0;
    const uint8_t *t = row->types;
    i->run = gcn_run_scalar;
    i->scalar = row;
    if (t[0] != T_NO && !take(text, &at, &i->d)) return false;
    if (t[1] != T_NO && !take(text, &at, &i->a)) return false;
    if (t[2] != T_NO && !take(text, &at, &i->b)) return false;
    if (t[3] != T_NO && !take(text, &at, &i->c)) return false;
    gcn_settle(&i->a, t[1]), gcn_settle(&i->b, t[2]), gcn_settle(&i->c, t[3]);
    for (int k = 0; k < text->noperands; k++)
        if (text->operands[k].neg || text->operands[k].abs) return false;
    return at == text->noperands && text->nmodifiers == 0;
}

/* -- One instruction --------------------------------------------------------------------------- */

static bool understand(GcnInst *i, const char *printed, int chip) {
    GcnText text;
    if (!gcn_text_read(&text, printed)) return false;
    plain_name(i, text.name);
    if (gcn_control(i, &text) || gcn_memory(i, &text) || gcn_special(i, &text, chip)) return true;
    const GcnScalarRow *s = gcn_scalar_row(text.name);
    if (s) return scalar(i, &text, s);
    const GcnVectorRow *v = gcn_vector_row(text.name);
    return v && vector(i, &text, v, chip);
}

static void forget(GcnInst *i) {
    if (!i) return;
    forget(i->dual);
    free(i->text);
    free(i);
}

/* Two instructions in one: both read before either writes. */
static bool understand_pair(GcnInst *i, char *printed, char *second, int chip) {
    *second = 0;
    i->dual = calloc(1, sizeof *i);
    if (!i->dual || !understand(i, printed, chip) || !understand(i->dual, second + 2, chip))
        return false;
    if (!i->vector || !i->dual->vector) return false;
    i->run = gcn_run_dual;
    return true;
}

static GcnInst *decode(GcnCode *code, uint64_t offset, char *why, size_t room) {
    char printed[MAX_PRINTED], kept[MAX_PRINTED];
    uint8_t bytes[24] = {0}; /* the longest instruction, behind the end of the code too */
    uint64_t left = code->size - offset, most = left < sizeof bytes ? left : sizeof bytes;
    memcpy(bytes, code->bytes + offset, most);
    size_t size = LLVMDisasmInstruction(code->disasm, bytes, most, code->address + offset, printed,
                                        sizeof printed);
    if (!size) return snprintf(why, room, "these bytes are no instruction"), NULL;
    strcpy(kept, printed);
    GcnInst *i = calloc(1, sizeof *i);
    if (!i) return snprintf(why, room, "out of memory"), NULL;
    i->size = (uint32_t)size;
    i->pc = code->address + offset;
    char *second = strstr(printed, "::");
    bool known = second ? understand_pair(i, printed, second, code->chip)
                        : understand(i, printed, code->chip);
    if (known) {
        i->text = strdup(kept[0] == '\t' ? kept + 1 : kept);
        return i;
    }
    forget(i);
    snprintf(why, room, "the interpreter does not know this instruction:%s", kept);
    return NULL;
}

const GcnInst *gcn_code_at(GcnCode *code, uint64_t address, char *why, size_t room) {
    uint64_t offset = address - code->address;
    if (offset >= code->size || offset % WORD)
        return snprintf(why, room, "there is no code at 0x%llx", (unsigned long long)address), NULL;
    GcnInst **at = &code->at[offset / WORD];
    if (!*at) *at = decode(code, offset, why, room);
    return *at;
}

/* -- Code -------------------------------------------------------------------------------------- */

/* "gfx90a:sramecc+:xnack-" */
static void features_of(const char *arch, uint32_t wave, char *cpu, size_t room, char *features,
                        size_t rest) {
    size_t length = strcspn(arch, ":");
    snprintf(cpu, room, "%.*s", (int)length, arch);
    bool old = starts(cpu, "gfx9");
    snprintf(features, rest, "%s",
             old          ? ""
             : wave == 64 ? "-wavefrontsize32,+wavefrontsize64"
                          : "+wavefrontsize32");
}

static int generation(const char *arch) {
    return arch[3] == '9' ? 9 : (arch[3] - '0') * 10 + (arch[4] - '0');
}

GcnCode *gcn_code_open(const char *arch, uint32_t wave, const uint8_t *bytes, uint64_t address,
                       uint64_t size) {
    char cpu[64], features[64];
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    features_of(arch, wave, cpu, sizeof cpu, features, sizeof features);
    GcnCode *code = calloc(1, sizeof *code);
    if (!code) return NULL;
    *code = (GcnCode){.bytes = bytes, .address = address, .size = size, .chip = generation(arch)};
    code->disasm =
        LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, features, NULL, 0, NULL, NULL);
    code->at = calloc(size / WORD + 1, sizeof *code->at);
    if (code->disasm && code->at) return code;
    gcn_code_close(code);
    return NULL;
}

void gcn_code_close(GcnCode *code) {
    if (!code) return;
    for (uint64_t k = 0; code->at && k < code->size / WORD; k++)
        forget(code->at[k]);
    if (code->disasm) LLVMDisasmDispose(code->disasm);
    free(code->at);
    free(code);
}

int gcn_code_chip(const GcnCode *code) {
    return code->chip;
}
