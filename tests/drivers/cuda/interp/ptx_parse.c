/* Modules: directives, variables, functions, symbols. Instructions are ptx_decode.c's. */
#include "ptx_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Arena ------------------------------------------------------------------------------------ */

struct PtxArena {
    PtxArena *next;
    size_t used, size;
    max_align_t data[];
};

void *ptx_alloc(PtxArena **arena, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (!*arena || (*arena)->size - (*arena)->used < size) {
        size_t room = size > 65536 ? size : 65536;
        PtxArena *chunk = calloc(1, sizeof *chunk + room);
        if (!chunk) abort();
        *chunk = (PtxArena){.next = *arena, .size = room};
        *arena = chunk;
    }
    void *result = (char *)(*arena)->data + (*arena)->used;
    (*arena)->used += size;
    return result;
}

void *ptx_grow(PtxArena **arena, void *items, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap) return items;
    *cap = *cap ? *cap * 2 : 8;
    void *bigger = ptx_alloc(arena, *cap * size);
    if (count) memcpy(bigger, items, count * size);
    return bigger;
}

void ptx_arena_free(PtxArena *arena) {
    while (arena) {
        PtxArena *next = arena->next;
        free(arena);
        arena = next;
    }
}

/* -- Types ------------------------------------------------------------------------------------ */

typedef struct TypeRow {
    const char *name;
    uint8_t size;
    bool is_float, is_signed;
} TypeRow;

static const TypeRow type_rows[] = {
    [PT_none] = {"none", 0, false, false},    [PT_pred] = {"pred", 1, false, false},
    [PT_b8] = {"b8", 1, false, false},        [PT_b16] = {"b16", 2, false, false},
    [PT_b32] = {"b32", 4, false, false},      [PT_b64] = {"b64", 8, false, false},
    [PT_b128] = {"b128", 16, false, false},   [PT_u8] = {"u8", 1, false, false},
    [PT_u16] = {"u16", 2, false, false},      [PT_u32] = {"u32", 4, false, false},
    [PT_u64] = {"u64", 8, false, false},      [PT_s8] = {"s8", 1, false, true},
    [PT_s16] = {"s16", 2, false, true},       [PT_s32] = {"s32", 4, false, true},
    [PT_s64] = {"s64", 8, false, true},       [PT_f16] = {"f16", 2, true, false},
    [PT_bf16] = {"bf16", 2, true, false},     [PT_f16x2] = {"f16x2", 4, true, false},
    [PT_bf16x2] = {"bf16x2", 4, true, false}, [PT_f32] = {"f32", 4, true, false},
    [PT_f64] = {"f64", 8, true, false},
};

unsigned ptx_type_size(PtxType type) {
    return type_rows[type].size;
}
bool ptx_type_float(PtxType type) {
    return type_rows[type].is_float;
}
bool ptx_type_signed(PtxType type) {
    return type_rows[type].is_signed;
}
const char *ptx_type_name(PtxType type) {
    return type_rows[type].name;
}

PtxType ptx_type_find(const char *name) {
    for (unsigned i = PT_pred; i < sizeof type_rows / sizeof *type_rows; i++)
        if (strcmp(type_rows[i].name, name) == 0) return (PtxType)i;
    return PT_none;
}

/* -- Errors and small helpers ----------------------------------------------------------------- */

/* The text of the line, without its indentation, for the message. */
static int line_text(const Parser *p, uint32_t line, const char **text) {
    const char *at = p->text;
    for (uint32_t i = 1; i < line && at < p->lex.end; at++)
        if (*at == '\n') i++;
    while (at < p->lex.end && (*at == ' ' || *at == '\t'))
        at++;
    *text = at;
    int length = 0;
    while (at + length < p->lex.end && at[length] != '\n' && length < 160)
        length++;
    return length;
}

bool ptx_fail(Parser *p, uint32_t line, const char *format, ...) {
    PtxModule *m = p->module;
    if (m->failed) return false;
    m->failed = true;
    if (p->status == PTX_LOADED) p->status = PTX_BAD_TEXT;
    int n = snprintf(m->message, sizeof m->message,
                     "ptxas application ptx input, line %u; error   : ", (unsigned)line);
    va_list args;
    va_start(args, format);
    n += vsnprintf(m->message + n, sizeof m->message - (size_t)n, format, args);
    va_end(args);
    const char *text;
    int length = line_text(p, line, &text);
    if (n >= 0 && (size_t)n < sizeof m->message)
        snprintf(m->message + n, sizeof m->message - (size_t)n, "\n    %.*s", length, text);
    return false;
}

bool ptx_accept(Parser *p, char c) {
    if (!ptx_lex_punct(&p->lex, c)) return false;
    ptx_lex_next(&p->lex);
    return true;
}

static bool syntax_error(Parser *p) {
    const Token *t = &p->lex.token;
    int length = t->length < 60 ? (int)t->length : 60;
    return ptx_fail(p, t->line, "Parsing error near '%.*s': syntax error", length, t->text);
}

bool ptx_expect(Parser *p, char c) {
    return ptx_accept(p, c) || syntax_error(p);
}

char *ptx_copy(Parser *p, const Token *token) {
    char *copy = ptx_alloc(&p->module->arena, token->length + 1);
    memcpy(copy, token->text, token->length);
    copy[token->length] = 0;
    return copy;
}

bool ptx_int(Parser *p, int64_t *out) {
    bool minus = ptx_accept(p, '-');
    if (p->lex.token.kind != TK_int) return syntax_error(p);
    *out = (int64_t)(minus ? 0 - p->lex.token.value : p->lex.token.value);
    ptx_lex_next(&p->lex);
    return true;
}

static char *take_name(Parser *p) {
    if (p->lex.token.kind != TK_word) {
        syntax_error(p);
        return NULL;
    }
    char *name = ptx_copy(p, &p->lex.token);
    ptx_lex_next(&p->lex);
    return name;
}

/* -- Symbols ---------------------------------------------------------------------------------- */

static bool in_range(const Sym *range, const char *name, uint32_t *index) {
    size_t prefix = strlen(range->name);
    if (strncmp(name, range->name, prefix) != 0 || !name[prefix]) return false;
    char *end;
    unsigned long number = strtoul(name + prefix, &end, 10);
    if (*end || name[prefix] < '0' || name[prefix] > '9' || number >= range->size) return false;
    *index = (uint32_t)number;
    return true;
}

/* The innermost symbol of that name. A register of a range has no entry of its own: it is answered
 * in p->found, until the next call. */
Sym *ptx_find(Parser *p, const char *name) {
    for (uint32_t i = p->nsyms; i-- > 0;) {
        Sym *sym = &p->syms[i];
        uint32_t index;
        if (sym->kind != SYM_range) {
            if (strcmp(sym->name, name) == 0) return sym;
        } else if (in_range(sym, name, &index)) {
            p->found =
                (Sym){.name = name, .kind = SYM_reg, .type = sym->type, .at = sym->at + index};
            return &p->found;
        }
    }
    return NULL;
}

Sym *ptx_define(Parser *p, Sym sym) {
    p->syms = ptx_grow(&p->module->arena, p->syms, p->nsyms, &p->cap_syms, sizeof *p->syms);
    p->syms[p->nsyms] = sym;
    return &p->syms[p->nsyms++];
}

uint32_t ptx_label(Parser *p, const char *name, uint32_t line) {
    for (uint32_t i = p->nlabels; i-- > 0;)
        if (strcmp(p->labels[i].name, name) == 0) return i;
    p->labels = ptx_grow(&p->module->arena, p->labels, p->nlabels, &p->cap_labels, sizeof(Label));
    p->labels[p->nlabels] = (Label){name, -1, line};
    return p->nlabels++;
}

void ptx_fixup(Parser *p, Fixup fixup) {
    p->fixups = ptx_grow(&p->module->arena, p->fixups, p->nfixups, &p->cap_fixups, sizeof(Fixup));
    p->fixups[p->nfixups++] = fixup;
}

static PtxFunc *find_func(PtxModule *m, const char *name) {
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (strcmp(m->funcs[i]->name, name) == 0) return m->funcs[i];
    return NULL;
}

/* -- Declarations ----------------------------------------------------------------------------- */

/* What stands before a declared name: `.align 8 .b8`, `.u64 .ptr .global .align 4`, `.v2 .f32`. */
typedef struct Decl {
    PtxType type;
    uint32_t align;
    uint32_t lanes;
    char *name;
    uint64_t count;
    bool array, open; /* open: [] */
    int64_t range;    /* <n>, or 0 */
} Decl;

static bool decl_attribute(Parser *p, Decl *d, const char *word) {
    int64_t number;
    if (strcmp(word, "align") == 0) {
        if (!ptx_int(p, &number)) return false;
        /* An .align behind .ptr speaks of what the pointer points to. */
        if (d->type == PT_none) d->align = (uint32_t)number;
        return true;
    }
    if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0) {
        d->lanes = (uint32_t)(word[1] - '0');
        return true;
    }
    static const char *const ignored[] = {"ptr",   "global", "shared", "const",
                                          "local", "param",  "noalias"};
    for (unsigned i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (strcmp(word, ignored[i]) == 0) return true;
    if (strcmp(word, "attribute") == 0) {
        while (!ptx_accept(p, ')') && p->lex.token.kind != TK_end)
            ptx_lex_next(&p->lex);
        return true;
    }
    d->type = ptx_type_find(word);
    if (d->type == PT_none)
        return ptx_fail(p, p->lex.token.line, "Unknown or unsupported attribute '.%s'", word);
    return true;
}

static bool decl_dimensions(Parser *p, Decl *d) {
    int64_t number;
    if (ptx_accept(p, '<')) return ptx_int(p, &d->range) && ptx_expect(p, '>');
    while (ptx_accept(p, '[')) {
        d->array = true;
        if (ptx_accept(p, ']')) {
            d->open = true;
            continue;
        }
        if (!ptx_int(p, &number) || !ptx_expect(p, ']')) return false;
        d->count *= (uint64_t)number;
    }
    return true;
}

static bool parse_decl(Parser *p, Decl *d) {
    *d = (Decl){.lanes = 1, .count = 1};
    while (p->lex.token.kind == TK_word && *p->lex.token.text == '.') {
        char *word = take_name(p);
        if (!word || !decl_attribute(p, d, word + 1)) return false;
    }
    if (d->type == PT_none) return syntax_error(p);
    d->name = take_name(p);
    if (!d->name || !decl_dimensions(p, d)) return false;
    uint32_t natural = ptx_type_size(d->type) * d->lanes;
    d->count *= d->lanes;
    if (!d->align) d->align = natural;
    if (d->align & (d->align - 1) || !d->align)
        return ptx_fail(p, p->lex.token.line, "Alignment of '%s' is not a power of two", d->name);
    return true;
}

static uint64_t round_up(uint64_t value, uint32_t align) {
    return (value + align - 1) & ~(uint64_t)(align - 1);
}

enum { MAX_REGISTERS = 1 << 20, MAX_FRAME = 1 << 24 };

static bool parse_regs(Parser *p) {
    Decl d;
    if (!parse_decl(p, &d)) return false;
    for (;;) {
        Sym sym = {.name = d.name, .kind = d.range ? SYM_range : SYM_reg, .type = d.type};
        if (d.range < 0 || d.range > MAX_REGISTERS)
            return ptx_fail(p, p->lex.token.line, "Too many registers '%s'", d.name);
        sym.size = d.range ? (uint32_t)d.range : 1;
        sym.at = ptx_slot(p, UINT64_C(0xcbcbcbcbcbcbcbca));
        for (uint32_t i = 1; i < sym.size; i++)
            ptx_slot(p, UINT64_C(0xcbcbcbcbcbcbcbca));
        ptx_define(p, sym);
        if (!ptx_accept(p, ',')) break;
        d.name = take_name(p);
        d.range = 0;
        if (!d.name || !decl_dimensions(p, &d)) return false;
    }
    return ptx_expect(p, ';');
}

/* A variable in the function's own memory: .local, or a .param of a call. */
static bool parse_frame_var(Parser *p, SymKind kind) {
    Decl d;
    if (!parse_decl(p, &d)) return false;
    uint32_t *top = kind == SYM_local ? &p->fn->local_size : &p->fn->call_size;
    if (d.count * ptx_type_size(d.type) > MAX_FRAME || d.align > 4096)
        return ptx_fail(p, p->lex.token.line, "Variable '%s' is too large", d.name);
    Sym sym = {.name = d.name, .kind = kind, .type = d.type, .align = d.align};
    sym.size = (uint32_t)(d.count * ptx_type_size(d.type));
    sym.at = (uint32_t)round_up(*top, d.align);
    *top = sym.at + sym.size;
    ptx_define(p, sym);
    return ptx_expect(p, ';');
}

/* -- Variables of the module ------------------------------------------------------------------ */

static bool symbol_value(Parser *p, uint64_t *value) {
    char *name = take_name(p);
    if (!name) return false;
    Sym *sym = ptx_find(p, name);
    if (sym && sym->kind == SYM_func)
        *value = PTX_FUNC_TAG + sym->func->id;
    else if (sym && sym->kind == SYM_var)
        *value = p->module->vars[sym->at].address;
    else
        return ptx_fail(p, p->lex.token.line, "Unknown symbol '%s'", name);
    return true;
}

/* One item of an initialiser: a number, sym, generic(sym), generic(sym)+4, 0xff00(sym). */
static bool init_item(Parser *p, uint64_t *value) {
    const Token *t = &p->lex.token;
    if (t->kind == TK_f32 || t->kind == TK_f64 || t->kind == TK_int ||
        ptx_lex_punct(&p->lex, '-')) {
        int64_t number = (int64_t)t->value;
        bool literal = t->kind == TK_f32 || t->kind == TK_f64;
        if (literal)
            ptx_lex_next(&p->lex);
        else if (!ptx_int(p, &number))
            return false;
        *value = (uint64_t)number;
        if (!ptx_accept(p, '(')) return true;
        uint64_t mask = *value;
        if (!init_item(p, value) || !ptx_expect(p, ')')) return false;
        *value &= mask;
        while (mask && !(mask & 1))
            mask >>= 1, *value >>= 1;
        return true;
    }
    if (ptx_lex_is(&p->lex, "generic")) {
        ptx_lex_next(&p->lex);
        if (!ptx_expect(p, '(') || !symbol_value(p, value) || !ptx_expect(p, ')')) return false;
    } else if (!symbol_value(p, value)) {
        return false;
    }
    int64_t offset = 0;
    if (ptx_accept(p, '+')) {
        if (!ptx_int(p, &offset)) return false;
    } else if (ptx_lex_punct(&p->lex, '-') && !ptx_int(p, &offset)) {
        return false;
    }
    *value += (uint64_t)offset;
    return true;
}

/* Nested braces only group; the items lie one after the other. */
static bool init_list(Parser *p, uint8_t **at, uint8_t *end, unsigned size) {
    if (!ptx_accept(p, '{')) {
        uint64_t value;
        uint32_t line = p->lex.token.line;
        if (!init_item(p, &value)) return false;
        if (*at + size > end) return ptx_fail(p, line, "Too many initializers");
        memcpy(*at, &value, size);
        *at += size;
        return true;
    }
    do {
        if (ptx_lex_punct(&p->lex, '}')) break;
        if (!init_list(p, at, end, size)) return false;
    } while (ptx_accept(p, ','));
    return ptx_expect(p, '}');
}

static bool place_shared(Parser *p, PtxVar *var, const Decl *d) {
    PtxModule *m = p->module;
    if (d->open || var->size == 0) {
        var->dynamic = true;
        return true;
    }
    var->address = round_up(m->shared_top, d->align);
    if (var->address + var->size > (1u << 24))
        return ptx_fail(p, p->lex.token.line, "Shared variable '%s' is too large", var->name);
    m->shared_top = (uint32_t)(var->address + var->size);
    return true;
}

static bool place_global(Parser *p, PtxVar *var, const Decl *d) {
    const PtxLoader *l = p->loader;
    void *host;
    if (!l->alloc(l->user, var->size ? var->size : 1, var->align, &var->address, &host)) {
        p->status = PTX_NO_MEMORY;
        return ptx_fail(p, p->lex.token.line, "Out of memory for '%s'", var->name);
    }
    memset(host, 0, var->size);
    if (!ptx_accept(p, '=')) return true;
    uint8_t *at = host;
    return init_list(p, &at, at + var->size, ptx_type_size(d->type));
}

/* An array whose size only its initialiser knows: counts the items ahead of time. */
static uint64_t count_items(Parser *p) {
    Lexer saved = p->lex;
    uint64_t count = 1;
    for (int depth = 0; p->lex.token.kind != TK_end; ptx_lex_next(&p->lex)) {
        if (ptx_lex_punct(&p->lex, '{')) depth++;
        if (ptx_lex_punct(&p->lex, ',')) count++;
        if (ptx_lex_punct(&p->lex, '}') && --depth == 0) break;
    }
    p->lex = saved;
    return count;
}

static bool parse_module_var(Parser *p, PtxSpace space, bool is_extern) {
    Decl d;
    if (!parse_decl(p, &d)) return false;
    PtxModule *m = p->module;
    if (d.open && ptx_lex_punct(&p->lex, '='))
        d.count *= count_items(p);
    else if (d.open)
        d.count = 0;
    m->vars = ptx_grow(&m->arena, m->vars, m->nvars, &m->cap_vars, sizeof *m->vars);
    PtxVar *var = &m->vars[m->nvars++];
    *var = (PtxVar){.name = d.name, .space = space, .align = d.align};
    var->size = d.count * ptx_type_size(d.type);
    if (is_extern && space != PS_shared)
        return ptx_fail(p, p->lex.token.line, "Unresolved extern variable '%s'", d.name);
    /* Known before its initialiser is read: it may hold its own address. */
    if (space != PS_shared && ptx_lex_punct(&p->lex, '=')) {
        Sym self = {.name = d.name, .kind = SYM_var, .type = d.type, .at = m->nvars - 1};
        ptx_define(p, self);
        return place_global(p, var, &d) && ptx_expect(p, ';');
    }
    if (!(space == PS_shared ? place_shared(p, var, &d) : place_global(p, var, &d))) return false;
    ptx_define(p, (Sym){.name = d.name, .kind = SYM_var, .type = d.type, .at = m->nvars - 1});
    return ptx_expect(p, ';');
}

/* -- Functions -------------------------------------------------------------------------------- */

static bool parse_param(Parser *p, PtxParam *out) {
    if (ptx_lex_is(&p->lex, ".reg"))
        return ptx_fail(p, p->lex.token.line, "Parameters in registers are not supported");
    if (!ptx_lex_is(&p->lex, ".param")) return syntax_error(p);
    ptx_lex_next(&p->lex);
    Decl d;
    if (!parse_decl(p, &d)) return false;
    *out = (PtxParam){.name = d.name, .align = d.align};
    out->size = (uint32_t)(d.count * ptx_type_size(d.type));
    return true;
}

static bool parse_formals(Parser *p, PtxFunc *fn) {
    fn->nparams = 0;
    fn->param_size = 0;
    if (!ptx_accept(p, '(')) return true;
    while (!ptx_lex_punct(&p->lex, ')')) {
        fn->params = ptx_grow(&p->module->arena, fn->params, fn->nparams, &fn->cap_params,
                              sizeof *fn->params);
        PtxParam *param = &fn->params[fn->nparams++];
        if (!parse_param(p, param)) return false;
        param->offset = (uint32_t)round_up(fn->param_size, param->align);
        fn->param_size = param->offset + param->size;
        if (!ptx_accept(p, ',')) break;
    }
    return ptx_expect(p, ')');
}

/* .maxntid 128, 1, 1 and its kin; only the number of threads means something here. */
static bool parse_bounds(Parser *p, PtxFunc *fn) {
    while (!ptx_lex_punct(&p->lex, '{') && !ptx_lex_punct(&p->lex, ';')) {
        if (p->lex.token.kind != TK_word) return syntax_error(p);
        bool bound = ptx_lex_is(&p->lex, ".maxntid") || ptx_lex_is(&p->lex, ".reqntid");
        bool pragma = ptx_lex_is(&p->lex, ".pragma");
        uint64_t product = 1;
        ptx_lex_next(&p->lex);
        while (p->lex.token.kind == TK_int || p->lex.token.kind == TK_string) {
            product *= p->lex.token.value;
            ptx_lex_next(&p->lex);
            if (!ptx_accept(p, ',')) break;
        }
        if (ptx_accept(p, '('))
            while (!ptx_accept(p, ')') && p->lex.token.kind != TK_end)
                ptx_lex_next(&p->lex);
        if (bound) fn->max_threads = (uint32_t)product;
        if (pragma && !ptx_expect(p, ';')) return false;
    }
    return true;
}

static PtxFunc *open_func(Parser *p, char *name, bool entry) {
    PtxModule *m = p->module;
    PtxFunc *fn = find_func(m, name);
    if (fn) return fn;
    fn = ptx_alloc(&m->arena, sizeof *fn);
    m->funcs = ptx_grow(&m->arena, m->funcs, m->nfuncs, &m->cap_funcs, sizeof *m->funcs);
    *fn = (PtxFunc){.name = name, .id = m->nfuncs, .entry = entry};
    if (strcmp(name, "vprintf") == 0) fn->builtin = BUILTIN_vprintf;
    if (strcmp(name, "__assertfail") == 0) fn->builtin = BUILTIN_assertfail;
    m->funcs[m->nfuncs++] = fn;
    ptx_define(p, (Sym){.name = name, .kind = SYM_func, .func = fn});
    return fn;
}

static bool resolve_labels(Parser *p) {
    for (uint32_t i = 0; i < p->nfixups; i++) {
        const Fixup *fix = &p->fixups[i];
        const Label *label = &p->labels[fix->label];
        if (label->at < 0)
            return ptx_fail(p, label->line, "Label '%s' is not defined", label->name);
        if (fix->table)
            *fix->table = label->at;
        else
            p->fn->code[fix->ins].imm = label->at;
    }
    return true;
}

static void open_body(Parser *p, PtxFunc *fn) {
    p->fn = fn;
    p->nlabels = p->nfixups = 0;
    fn->defined = true;
    for (uint32_t i = 0; i < SLOT_FIRST; i++)
        ptx_slot(p, 0);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const PtxParam *param = &fn->params[i];
        ptx_define(p, (Sym){.name = param->name,
                            .kind = SYM_formal,
                            .at = param->offset,
                            .size = param->size,
                            .align = param->align});
    }
    if (!fn->has_ret) return;
    fn->ret.offset = (uint32_t)round_up(fn->param_size, fn->ret.align);
    fn->param_size = fn->ret.offset + fn->ret.size;
    ptx_define(p, (Sym){.name = fn->ret.name,
                        .kind = SYM_formal,
                        .at = fn->ret.offset,
                        .size = fn->ret.size,
                        .align = fn->ret.align});
}

static bool parse_body_directive(Parser *p) {
    Lexer *lex = &p->lex;
    static const struct {
        const char *word;
        int action;
    } rows[] = {{".reg", 0},   {".local", 1}, {".param", 2}, {".shared", 3}, {".global", 4},
                {".const", 5}, {".loc", 6},   {".file", 6},  {".pragma", 7}, {".section", 6}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!ptx_lex_is(lex, rows[i].word)) continue;
        if (rows[i].action == 6) {
            ptx_lex_skip_line(lex);
            return true;
        }
        ptx_lex_next(lex);
        switch (rows[i].action) {
        case 0: return parse_regs(p);
        case 1: return parse_frame_var(p, SYM_local);
        case 2: return parse_frame_var(p, SYM_call);
        case 3: return parse_module_var(p, PS_shared, false);
        case 4: return parse_module_var(p, PS_global, false);
        case 5: return parse_module_var(p, PS_const, false);
        default: ptx_lex_next(lex); return ptx_expect(p, ';');
        }
    }
    return syntax_error(p);
}

static bool parse_body(Parser *p, PtxFunc *fn) {
    uint32_t outer = p->nsyms;
    p->depth = 0;
    open_body(p, fn);
    for (;;) {
        Lexer *lex = &p->lex;
        if (lex->token.kind == TK_end) return syntax_error(p);
        if (ptx_accept(p, '{')) {
            if (p->depth == 32) return syntax_error(p);
            p->scope[p->depth++] = p->nsyms;
        } else if (ptx_accept(p, '}')) {
            if (p->depth == 0) break;
            p->nsyms = p->scope[--p->depth];
        } else if (lex->token.kind == TK_word && *lex->token.text == '.') {
            if (!parse_body_directive(p)) return false;
        } else if (!ptx_statement(p)) {
            return false;
        }
    }
    p->nsyms = outer;
    ptx_emit(p, fn->entry ? OP_exit : OP_ret, 0, 0, 0, 0);
    return resolve_labels(p);
}

static bool parse_func(Parser *p, bool entry) {
    PtxParam ret = {0};
    bool has_ret = false;
    uint32_t line = p->lex.token.line;
    if (ptx_lex_is(&p->lex, ".noreturn")) ptx_lex_next(&p->lex);
    if (!entry && ptx_accept(p, '(')) {
        has_ret = !ptx_lex_punct(&p->lex, ')');
        if (has_ret && !parse_param(p, &ret)) return false;
        if (!ptx_expect(p, ')')) return false;
    }
    char *name = take_name(p);
    if (!name) return false;
    PtxFunc *fn = open_func(p, name, entry);
    fn->ret = ret;
    fn->has_ret = has_ret;
    fn->line = line;
    if (!parse_formals(p, fn) || !parse_bounds(p, fn)) return false;
    if (ptx_accept(p, ';')) return true;
    if (fn->defined) return ptx_fail(p, line, "Duplicate definition of function '%s'", name);
    return ptx_expect(p, '{') && parse_body(p, fn);
}

/* -- The module ------------------------------------------------------------------------------- */

static bool parse_version(Parser *p) {
    const Token *t = &p->lex.token;
    unsigned major = 0, minor = 0;
    char text[16] = {0};
    memcpy(text, t->text, t->length < 15 ? t->length : 15);
    if (sscanf(text, "%u.%u", &major, &minor) != 2) return syntax_error(p);
    p->module->isa = major * 10 + minor;
    if (p->module->isa > p->loader->max_isa) {
        p->status = PTX_BAD_VERSION;
        return ptx_fail(p, t->line, "Unsupported .version %u.%u; current version is '%u.%u'", major,
                        minor, p->loader->max_isa / 10, p->loader->max_isa % 10);
    }
    ptx_lex_next(&p->lex);
    return true;
}

static bool parse_target(Parser *p) {
    const Token *t = &p->lex.token;
    uint32_t line = t->line;
    char text[16] = {0};
    memcpy(text, t->text, t->length < 15 ? t->length : 15);
    if (sscanf(text, "sm_%u", &p->module->sm) != 1) return syntax_error(p);
    bool exact = strpbrk(text + 3, "af") != NULL;
    if (p->module->sm > p->loader->max_sm || (exact && p->module->sm != p->loader->max_sm)) {
        p->status = PTX_BAD_TARGET;
        return ptx_fail(p, line, "SM version specified by .target '%s' does not fit device sm_%u",
                        text, p->loader->max_sm);
    }
    ptx_lex_skip_line(&p->lex);
    return true;
}

/* Debug sections: everything between the braces. */
static bool skip_section(Parser *p) {
    while (p->lex.token.kind != TK_end && !ptx_lex_punct(&p->lex, '{'))
        ptx_lex_next(&p->lex);
    while (p->lex.token.kind != TK_end && !ptx_accept(p, '}'))
        ptx_lex_next(&p->lex);
    return true;
}

static bool parse_linkage(Parser *p, bool *is_extern) {
    static const char *const words[] = {".visible", ".weak", ".common", ".extern"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (!ptx_lex_is(&p->lex, words[i])) continue;
        *is_extern = i == 3;
        ptx_lex_next(&p->lex);
        return true;
    }
    return false;
}

static bool parse_directive(Parser *p) {
    bool is_extern = false;
    while (parse_linkage(p, &is_extern)) {
    }
    char *word = take_name(p);
    if (!word) return false;
    if (strcmp(word, ".version") == 0) return parse_version(p);
    if (strcmp(word, ".target") == 0) return parse_target(p);
    if (strcmp(word, ".address_size") == 0) {
        int64_t bits;
        if (!ptx_int(p, &bits)) return false;
        return bits == 64 || ptx_fail(p, p->lex.token.line, "Only 64-bit addresses are supported");
    }
    if (strcmp(word, ".entry") == 0 || strcmp(word, ".func") == 0)
        return parse_func(p, word[1] == 'e');
    if (strcmp(word, ".global") == 0) return parse_module_var(p, PS_global, is_extern);
    if (strcmp(word, ".const") == 0) return parse_module_var(p, PS_const, is_extern);
    if (strcmp(word, ".shared") == 0) return parse_module_var(p, PS_shared, is_extern);
    if (strcmp(word, ".section") == 0) return skip_section(p);
    if (strcmp(word, ".pragma") == 0) {
        ptx_lex_next(&p->lex);
        return ptx_expect(p, ';');
    }
    if (strcmp(word, ".file") == 0 || strcmp(word, ".loc") == 0) {
        ptx_lex_skip_line(&p->lex);
        return true;
    }
    return ptx_fail(p, p->lex.token.line, "Unknown directive '%s'", word);
}

static bool check_callees(Parser *p) {
    for (uint32_t i = 0; i < p->module->nfuncs; i++) {
        const PtxFunc *fn = p->module->funcs[i];
        for (uint32_t c = 0; c < fn->ncalls; c++) {
            const PtxFunc *callee = fn->calls[c].callee;
            if (callee && !callee->defined && !callee->builtin)
                return ptx_fail(p, callee->line, "Unresolved extern function '%s'", callee->name);
        }
    }
    return true;
}

static bool parse_module(Parser *p) {
    while (p->lex.token.kind != TK_end) {
        if (p->lex.token.kind != TK_word || *p->lex.token.text != '.') return syntax_error(p);
        if (p->module->isa == 0 && !ptx_lex_is(&p->lex, ".version"))
            return ptx_fail(p, p->lex.token.line, "Missing .version directive at start of file");
        if (!parse_directive(p)) return false;
    }
    if (p->module->isa == 0) return ptx_fail(p, p->lex.token.line, "Missing .version directive");
    return check_callees(p);
}

PtxLoadStatus ptx_module_load(const char *text, size_t length, const PtxLoader *loader,
                              PtxModule **out, char *log, size_t log_size) {
    PtxModule *module = calloc(1, sizeof *module);
    if (!module) return PTX_NO_MEMORY;
    module->shared_top = PTX_SHARED_BASE;
    Parser p = {.text = text, .module = module, .loader = loader};
    ptx_lex_open(&p.lex, text, length);
    *out = NULL;
    if (parse_module(&p)) {
        *out = module;
        return PTX_LOADED;
    }
    if (log && log_size) snprintf(log, log_size, "%s", module->message);
    ptx_module_free(module);
    return p.status;
}

void ptx_module_free(PtxModule *module) {
    if (!module) return;
    ptx_arena_free(module->arena);
    free(module);
}

const PtxFunc *ptx_module_entry(const PtxModule *module, const char *name) {
    PtxFunc *fn = find_func((PtxModule *)(uintptr_t)module, name);
    return fn && fn->entry && fn->defined ? fn : NULL;
}

const PtxVar *ptx_module_global(const PtxModule *module, const char *name) {
    for (uint32_t i = 0; i < module->nvars; i++) {
        const PtxVar *var = &module->vars[i];
        if (var->space != PS_shared && strcmp(var->name, name) == 0) return var;
    }
    return NULL;
}
