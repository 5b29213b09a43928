/* ssa.c - the driver of bc_build, and the state that the handlers work on.
 *
 * Each block is translated once, alone. A variable that it reads before assigning it gets a placeholder
 * (an instruction in no block), and the block's last assignments are written down. When all blocks are
 * there, phis.c joins them. So no handler sees a phi, and no loop header waits for its latch.
 *
 * The kinds of the stack's places (value, NULL, iteration) are static: a block is translated only when a
 * predecessor has told its stack, and every other predecessor must agree. Blocks are taken in the order
 * of the bytecode as far as possible, so that the first diagnostic is the first in the source. */
#include "frontend/bytecode/bc.h"

/* -- places and diagnostics ------------------------------------------------------------------- */

enum { FLAGS_OF_ASYNC = CODE_COROUTINE | CODE_ASYNC_GENERATOR };

Span bc_span(const CodeUnit *code, int32_t unit) {
    Span span = {code->file, code->first_line, code->first_line, -1, -1};
    if (unit < 0 || unit >= code->nbytes / 2 || !code->spans) return span;
    const IrSpan *s = &code->spans[unit];
    if (s->line <= 0) return span;
    return (Span){code->file, s->line, s->end_line, s->column, s->end_column};
}

static int32_t current_unit(const SsaBuild *b) {
    return b->decoded->insts.items[b->inst].unit;
}

bool bc_malformed(SsaBuild *b, const char *why) {
    Span span = bc_span(b->code, current_unit(b));
    b->malformed = true;
    return diag_add(b->module->diags, E0103, &span, why);
}

static bool unsupported_at(SsaBuild *b, int32_t unit, const char *what) {
    Span span = bc_span(b->code, unit);
    if (b->decoded->all) {
        bool told = (b->code->flags & FLAGS_OF_ASYNC) && /* by check_flags */
                    !strcmp(what, "async");
        if (told || bc_told_here(b, &span)) return false;
    }
    return bc_refuse(b->module->diags, &span, what);
}

bool bc_unsupported(SsaBuild *b, const char *what) {
    return unsupported_at(b, current_unit(b), what);
}

int32_t bc_span_of(SsaBuild *b, int32_t unit) {
    const IrSpan *s = b->code->spans ? &b->code->spans[unit] : NULL;
    return s && s->line > 0 ? ir_span_add(b->func, *s) : 0;
}

/* The builder's span becomes that of the instruction being translated. */
static void set_span(SsaBuild *b) {
    int32_t unit = current_unit(b);
    if (unit == b->span_unit) return;
    b->span_unit = unit;
    b->ir.span = bc_span_of(b, unit);
}

/* -- variables -------------------------------------------------------------------------------- */

/* An instruction that is in no block: phis.c puts what reaches it in its place. */
static Ref placeholder(SsaBuild *b) {
    Inst inst = {.op = OP_removed, .block = NO_BLOCK, .error = NO_BLOCK};
    vec_push(b->arena, &b->func->insts, inst);
    return b->func->insts.len - 1;
}

Ref bc_read(SsaBuild *b, int32_t var) {
    int32_t here = b->ir.block + 1;
    if (b->current_in[var] == here) return b->current[var];
    Access access = {var, b->ir.block, placeholder(b)};
    vec_push(b->arena, &b->reads, access);
    b->current_in[var] = here;
    b->current[var] = access.ref;
    return access.ref;
}

void bc_write(SsaBuild *b, int32_t var, Ref value) {
    int32_t here = b->ir.block + 1;
    b->current_in[var] = here;
    b->current[var] = value;
    if (b->written_in[var] == here) return;
    b->written_in[var] = here;
    vec_push(b->arena, &b->written, var);
}

void bc_name_value(SsaBuild *b, Ref value, int32_t var) {
    if (value >= b->func->var_names.len)
        vec_resize(b->arena, &b->func->var_names, QN_MAX(value + 1, b->func->insts.len));
    Str *name = &b->func->var_names.items[value];
    if (!name->bytes) *name = b->code->local_names[var];
}

Ref bc_unbound(SsaBuild *b) {
    if (b->unbound_ref == NO_REF) {
        Inst inst = {.op = OP_unbound, .block = 0, .error = NO_BLOCK};
        inst.target[0] = inst.target[1] = NO_BLOCK;
        vec_push(b->arena, &b->func->insts, inst);
        b->unbound_ref = b->func->insts.len - 1;
    }
    return b->unbound_ref;
}

/* -- the stack -------------------------------------------------------------------------------- */

void bc_push_kind(SsaBuild *b, SlotKind kind) {
    b->stack[b->depth++] = (Slot){.kind = kind, .origin = current_unit(b)};
}

void bc_push(SsaBuild *b, Ref value) {
    bc_write(b, slot_var(b, b->depth) + VAR_VALUE, value);
    bc_push_kind(b, SLOT_VALUE);
}

bool bc_pop(SsaBuild *b, Ref *value) {
    const Slot *slot = &b->stack[--b->depth];
    switch ((SlotKind)slot->kind) {
    case SLOT_VALUE:
        *value = slot->reported ? bc_reported(b) : bc_read(b, slot_var(b, b->depth) + VAR_VALUE);
        return true;
    case SLOT_NULL: return bc_malformed(b, "NULL is used as a value");
    case SLOT_ITER: bc_unsupported(b, "an iterator used as a value"); break;
    case SLOT_DICT:
        if (!slot->grown || !b->displays_unsure) return *value = bc_dict_value(b, b->depth), true;
        unsupported_at(b, slot->origin, "a display that is built on several paths");
        break;
    }
    if (b->decoded->all) *value = bc_reported(b);
    return b->decoded->all;
}

bool bc_pop_many(SsaBuild *b, Ref *values, int32_t n) {
    for (int32_t k = n - 1; k >= 0; k--)
        if (!bc_pop(b, &values[k])) return false;
    return true;
}

/* `None if c else {1: 2}`: a display of a dict where another path has some value. Its variable has the dict. */
static bool merge_dict(SsaBuild *b, Slot *there, const Slot *here, bool translated) {
    bool dict = there->kind == SLOT_DICT;
    const Slot *value = dict ? here : there;
    if ((dict ? here : there)->kind != SLOT_VALUE || (dict ? there : here)->kind != SLOT_DICT)
        return bc_malformed(b, "paths with different stacks meet");
    if (there->grown || here->grown || (dict && translated && b->displays_used)) {
        bc_unsupported(b, "a display that is built on several paths");
        if (!b->decoded->all) return false;
    }
    b->displays_unsure |= translated;
    *there = (Slot){.kind = SLOT_VALUE, .unbound = value->unbound};
    return true;
}

/* A second path to a block: what is known of a place on one path only is not known. A block that was translated
 * with such knowledge does no harm while nobody has relied on it; and nobody does from then on. */
static bool merge_slot(SsaBuild *b, Slot *there, const Slot *here, bool translated) {
    if (there->kind != here->kind) return merge_dict(b, there, here, translated);
    there->reported &= here->reported;
    there->unbound |= here->unbound;
    there->function |= here->function;
    bool same = there->constant == here->constant && there->list == here->list &&
                there->named == here->named && there->items == here->items;
    if (same) return true;
    if (translated && b->displays_used) {
        bc_unsupported(b, "a display that is built on several paths");
        if (!b->decoded->all) return false;
    }
    b->displays_unsure |= translated;
    there->constant = NULL;
    there->list = NO_REF;
    if (there->items != here->items && (there->grown || here->grown)) {
        bc_unsupported(b, "a display that is built on several paths");
        if (!b->decoded->all) return false;
    }
    there->merged |= there->items != here->items;
    there->grown = false;
    there->items = NULL;
    there->named = false;
    return true;
}

/* (... if c else {**d, "b": 0}): where another path may bring something else, the display that ends here is a dict. */
void bc_end_display(SsaBuild *b, int32_t to) {
    Slot *top = b->depth ? &b->stack[b->depth - 1] : NULL;
    if (b->cfg->blocks[to].npreds < 2 || !top || top->kind != SLOT_DICT || !top->grown ||
        b->displays_unsure)
        return;
    bc_write(b, slot_var(b, b->depth - 1) + VAR_VALUE, bc_dict_value(b, b->depth - 1));
    top->grown = false;
}

bool bc_flow_raised(SsaBuild *b, int32_t to) {
    PyBlock *block = &b->cfg->blocks[to];
    if (!block->known) {
        block->known = true;
        block->depth = b->depth;
        block->stack = arena_copy(b->arena, b->stack, sizeof *b->stack * (size_t)b->depth);
        bits_set(&b->ready, to);
        return true;
    }
    if (block->depth != b->depth) return bc_malformed(b, "paths with different stacks meet");
    for (int32_t k = 0; k < b->depth; k++)
        if (!merge_slot(b, &block->stack[k], &b->stack[k], !bits_get(&b->ready, to))) return false;
    return true;
}

bool bc_flow(SsaBuild *b, int32_t to) {
    if (b->cfg->blocks[to].is_handler)
        return bc_malformed(b, "a jump leads into an exception handler");
    return bc_flow_raised(b, to);
}

/* -- one instruction -------------------------------------------------------------------------- */

static bool argument_fits(const SsaBuild *b, const PyInst *inst, int64_t left) {
    const PyOpInfo *info = &bc_op_info[inst->op];
    int32_t arg = inst->arg;
    switch ((PyArg)info->argument) {
    case ARG_LOCAL: return arg >= 0 && arg < b->code->nlocals;
    case ARG_CONST: return arg >= 0 && arg < b->code->nconsts && b->code->consts[arg];
    case ARG_NAME: return arg >= 0 && arg < b->code->nnames;
    case ARG_DEPTH: return arg >= 1 && arg <= left;
    case ARG_FLAG: return arg == 0 || arg == 1;
    case ARG_NONE:
    case ARG_INT:
    case ARG_COUNT:
    case ARG_STARRED:
    case ARG_BITS:
    case ARG_OPERATOR:
    case ARG_TARGET:
    case ARG_OTHER: return arg >= 0;
    }
    return false;
}

/* Behind a refusal of the handler: its results are reported. */
static bool go_on(SsaBuild *b, const PyOpInfo *info, int64_t left, int64_t after) {
    if (!b->decoded->all || b->malformed || info->ends != END_FALLS) return false;
    b->depth = (int32_t)left;
    while (b->depth < after)
        bc_push_reported(b);
    return true;
}

/* Checks the argument and the stack by the op's row, then calls the handler. */
static bool translate_inst(SsaBuild *b) {
    const PyInst *inst = &b->decoded->insts.items[b->inst];
    const PyOpInfo *info = &bc_op_info[inst->op];
    set_span(b);
    int64_t each = bc_values_each(inst);
    int64_t left = b->depth - (info->pops + info->pops_each * each);
    if (left < 0) return bc_malformed(b, "the stack is too short");
    if (!argument_fits(b, inst, left)) return bc_malformed(b, "an operand is out of range");
    int64_t after = left + info->pushes + info->pushes_each * each;
    if (after > b->limit) return bc_malformed(b, "the stack is too deep");
    if (b->kw_names && inst->op != PY_call) return bc_malformed(b, "keyword names without a call");
    if (!bc_handlers[inst->op](b, inst->arg) || b->malformed) return go_on(b, info, left, after);
    assert(info->ends != END_FALLS || b->depth == after);
    return true;
}

/* -- one block -------------------------------------------------------------------------------- */

static void start_block(SsaBuild *b, const PyBlock *block) {
    b->ir.block = block->ir_block;
    b->ir.at = -1;
    b->depth = block->depth;
    if (block->depth) memcpy(b->stack, block->stack, sizeof *b->stack * (size_t)block->depth);
    if (block->unbound.n)
        memcpy(b->unbound.words, block->unbound.words,
               sizeof *b->unbound.words * (size_t)((b->unbound.n + 63) / 64));
    b->handler = block->protected_by;
    b->ir.error = b->handler ? b->cfg->blocks[block->handler].ir_block : NO_BLOCK;
    if (block->is_handler) bc_start_handler(b, block);
}

void bc_end_block(SsaBuild *b) {
    for (int32_t k = 0; k < b->written.len; k++) {
        int32_t var = b->written.items[k];
        Access access = {var, b->ir.block, b->current[var]};
        vec_push(b->arena, &b->writes, access);
    }
    b->written.len = 0;
}

static bool translate_block(SsaBuild *b, int32_t number) {
    const PyBlock *block = &b->cfg->blocks[number];
    b->inst = block->first;
    set_span(b);
    start_block(b, block);
    for (b->inst = block->first; b->inst < block->end; b->inst++)
        if (!translate_inst(b)) return false;
    b->inst = block->end - 1;
    if (bc_op_info[b->decoded->insts.items[b->inst].op].ends == END_FALLS) {
        if (b->kw_names) return bc_malformed(b, "keyword names without a call");
        int32_t to = b->cfg->block_of_inst[block->end];
        bc_end_display(b, to);
        b_jump(&b->ir, b->cfg->blocks[to].ir_block);
        if (!bc_flow(b, to)) return false;
    }
    bc_end_block(b);
    return true;
}

/* The lowest block that is ready, or -1. */
static int32_t next_ready(const SsaBuild *b) {
    for (int32_t word = 0; word < (b->ready.n + 63) / 64; word++) {
        if (!b->ready.words[word]) continue;
        int32_t bit = 0;
        while (!(b->ready.words[word] >> bit & 1))
            bit++;
        return word * 64 + bit;
    }
    return -1;
}

static bool translate(SsaBuild *b) {
    if (!bc_flow(b, 0)) return false;
    for (int32_t number; (number = next_ready(b)) >= 0;) {
        bits_clear(&b->ready, number);
        if (!translate_block(b, number)) return false;
    }
    for (int32_t k = 0; k < b->cfg->nblocks;
         k++) { /* handlers of what does not raise, and what is behind them */
        b->ir.block = b->cfg->blocks[k].ir_block;
        if (b->cfg->blocks[k].reachable && !b->cfg->blocks[k].known)
            bc_emit(b, OP_unreachable, NULL, 0);
    }
    return true;
}

/* -- the function ----------------------------------------------------------------------------- */

static int32_t count_params(const CodeUnit *code) {
    return code->nargs + code->nkwonly + !!(code->flags & CODE_VARARGS) +
           !!(code->flags & CODE_VARKEYWORDS);
}

/* Names are unique in a module: a second function of the same name gets a number. */
static Str unique_name(Module *module, Str name) {
    if (name.len == 0) name = STR("function");
    Str candidate = name;
    for (int n = 1;; n++) {
        bool taken = false;
        for (int32_t k = 0; k < module->funcs.len && !taken; k++)
            taken = str_equal(module->funcs.items[k]->name, candidate);
        if (!taken) return candidate;
        candidate = str_printf(module->arena, STR_FMT ".%d", STR_ARG(name), n);
    }
}

static void make_func(SsaBuild *b) {
    const CodeUnit *code = b->code;
    Func *func = b->func = ir_func_new(b->module, unique_name(b->module, code->qualname), false);
    func->user_name = *bc_intern(b, code->name);
    func->file = code->file;
    func->nparams = count_params(code);
    func->param_names = code->local_names;
    b->ir = (Builder){.func = func, .at = -1, .error = NO_BLOCK};
}

/* The entry block holds the parameters; it is also the first block of the code unless a jump leads
 * there. */
static void make_blocks(SsaBuild *b) {
    PyCfg *cfg = b->cfg;
    b->ir.block = ir_block_new(b->func);
    if (cfg->blocks[0].npreds == 0) cfg->blocks[0].ir_block = b->ir.block;
    for (int32_t k = 0; k < cfg->nblocks; k++)
        if (cfg->blocks[k].reachable && cfg->blocks[k].ir_block == NO_BLOCK)
            cfg->blocks[k].ir_block = ir_block_new(b->func);
    for (int32_t k = 0; k < b->func->nparams; k++) {
        Ref ref = b_inst(&b->ir, OP_param, NULL, NULL, 0);
        ir_inst(b->func, ref)->imm = k;
        bc_name_value(b, ref, k);
        bc_write(b, k, ref);
    }
    for (int32_t k = 0; k < b->func->nparams; k++) /* behind the parameters, which stay together */
        if (b->code->local_typed && b->code->local_typed[k])
            bc_write(b, k, bc_declared(b, bc_read(b, k), k));
    if (b->decoded->handlers.len)
        bc_write(b, b->handled_var, bc_emit_const(b, const_none(b->arena)));
    if (cfg->blocks[0].npreds > 0) {
        bc_end_block(b);
        b_jump(&b->ir, cfg->blocks[0].ir_block);
    }
}

static void make_state(SsaBuild *b) {
    const CodeUnit *code = b->code;
    b->limit =
        code->stacksize + 2; /* an operation split in three may need more than CPython's one */
    b->handled_var = code->nlocals + STACK_VARS * b->limit;
    b->nvars = b->handled_var + 1;
    b->stack = arena_array(b->arena, Slot, b->limit);
    b->current = arena_array(b->arena, Ref, b->nvars);
    b->current_in = arena_array(b->arena, int32_t, b->nvars);
    b->written_in = arena_array(b->arena, int32_t, b->nvars);
    b->unbound = bits_new(b->arena, code->nlocals);
    b->ready = bits_new(b->arena, b->cfg->nblocks);
    b->span_unit = -1;
    for (int32_t k = 0; k < code->nlocals; k++)
        b->nfree += (code->local_kinds[k] & LOCAL_FREE) != 0;
}

/* What the flags alone refuse. */
static bool check_flags(const CodeUnit *code, DiagList *diags) {
    Span span = bc_span(code, -1);
    if (code->flags & (CODE_COROUTINE | CODE_ASYNC_GENERATOR))
        return bc_refuse(diags, &span, "an async function");
    if (code->flags & CODE_VARKEYWORDS) return bc_refuse(diags, &span, "a **keywords parameter");
    return true;
}

/* NULL with *again: one more local must be a cell, which is known only now. *cells: made in the first round. */
static Func *build_once(Module *module, const CodeUnit *code, bool all, int32_t **cells, bool kept,
                        bool *again) {
    Arena *arena = module->arena;
    DiagList *diags = module->diags;
    Decoded decoded;
    PyCfg cfg;
    int32_t first_diag = diags->items.len;
    if (!bc_decode(&decoded, arena, code, all, diags) || (!check_flags(code, diags) && !all) ||
        !bc_exception_table(&decoded, arena, diags) || !bc_cfg(&cfg, arena, &decoded, diags))
        return NULL;
    SsaBuild b = {.module = module, .arena = arena, .code = code, .decoded = &decoded, .cfg = &cfg};
    b.first_diag = first_diag;
    b.cells = *cells = *cells ? *cells : arena_array(arena, int32_t, code->nlocals + 1);
    b.kept = kept;
    int32_t nfuncs = module->funcs.len;
    make_func(&b);
    make_state(&b);
    make_blocks(&b);
    bool ok = translate(&b) && bc_join(&b);
    if (all) bc_end_refusals(&b);
    *again = b.again && !b.malformed;
    if (ok && !*again) return b.func;
    module->funcs.len = nfuncs;
    return NULL;
}

static Func *build(Module *module, const CodeUnit *code, bool all, bool kept) {
    DiagList *diags = module->diags, before = *diags;
    int32_t *cells = NULL;
    for (;;) { /* as often as there are locals, at most, and once more */
        bool again = false;
        Func *func = build_once(module, code, all, &cells, kept, &again);
        if (!again && (func || !all)) return func;
        all &= again; /* what is malformed may lie behind a refusal, where only `all` looks */
        diags->items.len = before.items.len;
        diags->failed = before.failed;
    }
}

Func *bc_build(Module *module, const CodeUnit *code) {
    return build(module, code, false, false);
}

Func *bc_build_kept(Module *module, const CodeUnit *code, bool all) {
    return build(module, code, all, true);
}

Func *bc_build_all(Module *module, const CodeUnit *code) {
    return build(module, code, true, false);
}
