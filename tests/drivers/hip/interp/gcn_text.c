/* An instruction as LLVM prints it, taken apart: name, operands, modifiers.
 *
 *   v_fma_f32 v0, -v1, |v2|, s[2:3] clamp mul:2
 *
 * Operands stand behind the name or a comma, everything else is a modifier. */
#include "gcn_inst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Operands ---------------------------------------------------------------------------------- */

typedef struct Named {
    const char *name;
    uint16_t reg, words;
} Named;

static const Named named[] = {
    {"vcc", S_VCC, 2},
    {"vcc_lo", S_VCC, 1},
    {"vcc_hi", S_VCC + 1, 1},
    {"exec", S_EXEC, 2},
    {"exec_lo", S_EXEC, 1},
    {"exec_hi", S_EXEC + 1, 1},
    {"m0", S_M0, 1},
    {"null", S_NULL, 1},
    {"flat_scratch", S_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", S_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", S_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", S_XNACK, 2},
    {"xnack_mask_lo", S_XNACK, 1},
    {"xnack_mask_hi", S_XNACK + 1, 1},
};

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

/* The apertures of flat addresses lie where gcn_memory.c looks for them. */
static bool special_name(GcnOperand *o, const char *text) {
    for (unsigned i = 0; i < sizeof named / sizeof *named; i++)
        if (!strcmp(text, named[i].name)) {
            o->kind = K_scalar;
            o->reg = named[i].reg;
            o->words = named[i].words;
            return true;
        }
    if (!strcmp(text, "off"))
        o->kind = K_off;
    else if (!strcmp(text, "scc") || !strcmp(text, "src_scc"))
        o->kind = K_scc;
    else if (!strcmp(text, "src_execz"))
        o->kind = K_execz;
    else if (!strcmp(text, "src_vccz"))
        o->kind = K_vccz;
    else
        return false;
    return true;
}

/* v7, a[0:1], s[2:3], ttmp9: `base` is where the file begins. */
static bool indexed(GcnOperand *o, const char *text, const char *prefix, GcnKind kind,
                    unsigned base) {
    if (!starts(text, prefix)) return false;
    const char *at = text + strlen(prefix);
    bool range = *at == '[';
    if (!range && (*at < '0' || *at > '9')) return false;
    char *end;
    unsigned long first = strtoul(at + range, &end, 10), last = first;
    if (range && *end == ':') last = strtoul(end + 1, &end, 10);
    if (range && *end++ != ']') return false;
    if (*end || last < first) return false;
    o->kind = kind;
    o->reg = (uint16_t)(base + first);
    o->words = (uint16_t)(last - first + 1);
    return base + last < (kind == K_vector ? V_COUNT : (unsigned)S_COUNT);
}

static bool constant(GcnOperand *o, const char *text) {
    char *end;
    o->kind = K_const;
    o->is_float = strchr(text, '.') && !strchr(text, 'x');
    if (o->is_float)
        o->real = strtod(text, &end);
    else
        o->integer = text[0] == '-' ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
    return end != text && !*end;
}

static void strip(char *text, const char *open, const char *close, bool *flag) {
    size_t n = strlen(text), a = strlen(open), b = strlen(close);
    if (n < a + b || !starts(text, open) || strcmp(text + n - b, close) != 0) return;
    memmove(text, text + a, n - a - b);
    text[n - a - b] = 0;
    *flag = true;
}

static bool operand(GcnOperand *o, const char *printed) {
    char text[64];
    *o = (GcnOperand){.kind = K_none};
    if (snprintf(text, sizeof text, "%s", printed) >= (int)sizeof text) return false;
    if (special_name(o, text)) return true;
    if ((text[0] == '-' && (text[1] < '0' || text[1] > '9')) || starts(text, "neg(")) o->neg = true;
    if (starts(text, "neg(")) strip(text, "neg(", ")", &o->neg);
    if (o->neg && text[0] == '-') memmove(text, text + 1, strlen(text));
    strip(text, "|", "|", &o->abs);
    strip(text, "abs(", ")", &o->abs);
    strip(text, "sext(", ")", &o->sext);
    if (special_name(o, text)) return true;
    if (indexed(o, text, "v", K_vector, 0) || indexed(o, text, "a", K_vector, 256) ||
        indexed(o, text, "s", K_scalar, 0) || indexed(o, text, "ttmp", K_scalar, S_TTMP))
        return true;
    if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-') return constant(o, text);
    o->kind = K_name;
    snprintf(o->name, sizeof o->name, "%.39s", text);
    return true;
}

/* -- Modifiers --------------------------------------------------------------------------------- */

static bool modifier(GcnModifier *m, const char *text) {
    size_t length = strcspn(text, ":");
    *m = (GcnModifier){.n = 0};
    if (length >= sizeof m->name) return false;
    memcpy(m->name, text, length);
    if (!text[length]) return true;
    const char *at = text + length + 1;
    snprintf(m->text, sizeof m->text, "%.39s", at);
    if (*at == '[') at++;
    while (m->n < MAX_LIST) {
        char *end;
        int64_t value = strtoll(at, &end, 0);
        if (end == at) break;
        m->list[m->n++] = value;
        if (*end != ',') break;
        at = end + 1;
    }
    return true;
}

const GcnModifier *gcn_modifier(const GcnText *text, const char *name) {
    for (int i = 0; i < text->nmodifiers; i++)
        if (!strcmp(text->modifiers[i].name, name)) return &text->modifiers[i];
    return NULL;
}

/* -- Instructions ------------------------------------------------------------------------------ */

/* The next piece, up to a space or comma outside of brackets. */
static const char *piece(const char *at, char *out, size_t room) {
    size_t n = 0;
    int depth = 0;
    for (; *at && (depth > 0 || (*at != ' ' && *at != ',')); at++) {
        depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
        if (n + 1 < room) out[n++] = *at;
    }
    out[n] = 0;
    return at;
}

bool gcn_text_read(GcnText *text, const char *printed) {
    char part[128];
    *text = (GcnText){.noperands = 0};
    while (*printed == ' ' || *printed == '\t')
        printed++;
    const char *at = piece(printed, text->name, sizeof text->name);
    for (char *tab = strchr(text->name, '\t'); tab;) {
        at = printed + (tab - text->name);
        *tab = 0;
        break;
    }
    bool wants = true;
    for (;;) {
        while (*at == ' ' || *at == '\t')
            at++;
        if (!*at) return true;
        if (*at == ',') {
            wants = true;
            at++;
            continue;
        }
        at = piece(at, part, sizeof part);
        if (wants && text->noperands < MAX_OPERANDS) {
            if (!operand(&text->operands[text->noperands++], part)) return false;
        } else if (!wants && text->nmodifiers < MAX_MODIFIERS) {
            if (!modifier(&text->modifiers[text->nmodifiers++], part)) return false;
        } else {
            return false;
        }
        wants = false;
    }
}
