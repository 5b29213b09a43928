/* refusals.c - bc_build_all: every refusal is told, and what comes behind one is looked at.
 *
 * A refused instruction takes and leaves what its row says (pyop_3xx.inc). What it leaves is `reported`, and an
 * instruction that is refused for such a value says nothing, so that one cause is told once. The handlers of
 * exceptions, which no live code enters otherwise, are entered from the start of each block that they cover, over
 * a block of its own: there the exception, and the locals that the covered block assigns, become `reported`. */
#include "frontend/bytecode/bc.h"

/* -- values ------------------------------------------------------------------------------------- */

Ref bc_reported(SsaBuild *b) {
    return bc_emit(b, OP_reported, NULL, 0);
}

void bc_push_reported(SsaBuild *b) {
    bc_push(b, bc_reported(b));
    b->stack[b->depth - 1].reported = true;
}

static bool contains(const Span *outer, const Span *inner) {
    bool begins =
        outer->line < inner->line || (outer->line == inner->line && outer->column <= inner->column);
    bool ends = outer->end_line > inner->end_line ||
                (outer->end_line == inner->end_line && outer->end_column >= inner->end_column);
    return begins && ends && outer->column >= 0;
}

/* -- refused instructions ------------------------------------------------------------------------- */

bool bc_h_lose(SsaBuild *b, int32_t arg) {
    for (int32_t k = 0; k < arg; k++) {
        const Slot *slot = &b->stack[--b->depth];
        b->lost |= slot->reported;
        if (slot->kind == SLOT_DICT) bc_unsupported_at(b, slot->origin, "a dict display");
    }
    return true;
}

/* Has a part of this place been refused with the same words? Then the whole is the better place. */
static bool is_whole(SsaBuild *b, const char *phrase) {
    const DiagList *diags = b->module->diags;
    Span here = bc_span(b->code, b->decoded->insts.items[b->inst].unit);
    for (int32_t k = b->first_diag; k < diags->items.len; k++)
        if (str_starts(diags->items.items[k].text, phrase) &&
            contains(&here, &diags->items.items[k].span))
            return true;
    return false;
}

bool bc_h_note(SsaBuild *b, int32_t arg) {
    const char *phrase = bc_refused_phrase(b->code->version, arg);
    if (!b->lost || is_whole(b, phrase)) bc_unsupported(b, phrase);
    b->lost = false;
    return true;
}

bool bc_h_gain(SsaBuild *b, int32_t arg) {
    for (int32_t k = 0; k < arg; k++)
        bc_push_reported(b);
    return true;
}

bool bc_h_note_function(SsaBuild *b, int32_t arg) {
    bc_h_make_function(b, 0);
    b->depth -= arg;
    bc_push_reported(b);
    return true;
}

bool bc_leave_reported(SsaBuild *b) {
    b->lost = false;
    bc_emit(b, OP_unreachable, NULL, 0);
    return true;
}

/* -- diagnostics ---------------------------------------------------------------------------------- */

static bool same_place(const Span *a, const Span *b) {
    return a->line == b->line && a->column == b->column && a->end_line == b->end_line &&
           a->end_column == b->end_column;
}

bool bc_told_here(const SsaBuild *b, const Span *span) {
    const DiagList *diags = b->module->diags;
    for (int32_t k = b->first_diag; k < diags->items.len; k++)
        if (same_place(&diags->items.items[k].span, span)) return true;
    return false;
}

enum { MANY = 2000 };

/* The parts of an f-string are f-strings, too: of the same words at places inside each other the outermost stays. */
static void drop_inner(DiagList *diags, int32_t first) {
    int32_t n = diags->items.len, kept = first;
    if (n - first > MANY) return;
    bool *drop = arena_array(diags->arena, bool, n);
    for (int32_t i = first; i < n; i++)
        for (int32_t k = first; k < n && !drop[i]; k++) {
            const DiagItem *inner = &diags->items.items[i], *outer = &diags->items.items[k];
            drop[i] = i != k && !drop[k] && str_equal(inner->text, outer->text) &&
                      contains(&outer->span, &inner->span);
        }
    for (int32_t i = first; i < n; i++)
        if (!drop[i]) diags->items.items[kept++] = diags->items.items[i];
    diags->items.len = kept;
}

/* -- try ------------------------------------------------------------------------------------------ */

static const char *opcode_at(const CodeUnit *code, int32_t unit) {
    const char *name =
        2 * unit < code->nbytes ? bc_opcode_name(code->version, code->bytes[2 * unit]) : NULL;
    return name ? name : "";
}

/* CPython protects more than `try` does: `with` (which has been refused), comprehensions, its own clean-ups. */
static bool is_try(const CodeUnit *code, int32_t handler) {
    return !strcmp(opcode_at(code, handler), "PUSH_EXC_INFO") &&
           strcmp(opcode_at(code, handler + 1), "WITH_EXCEPT_START") != 0;
}

enum { FAR = 1 << 16 };

/* The instruction of the word `try`: the nearest before the handler whose statement holds what the handler does. -1:
 * there is none. */
static int32_t find_try(const CodeUnit *code, int32_t handler) {
    int32_t unit = handler; /* CPython's own instructions have no place */
    while (2 * unit + 2 < code->nbytes && unit < handler + FAR && code->spans[unit].line <= 0)
        unit++;
    Span here = bc_span(code, unit);
    for (int32_t k = handler - 1; k >= 0 && k > handler - FAR; k--) {
        Span span = bc_span(code, k);
        if (!strcmp(opcode_at(code, k), "NOP") && span.column >= 0 && span.line < here.line &&
            span.end_line >= here.end_line)
            return k;
    }
    return -1;
}

/* Once for each handler. */
void bc_note_try(SsaBuild *b, int32_t unit) {
    const PyHandler *h = bc_handler_of(b->decoded, unit);
    if (h && bits_get(&b->tried, h->target)) return;
    if (h) bits_set(&b->tried, h->target);
    if (!h || !is_try(b->code, h->target)) {
        b->covered_unit = unit + 1;
        return;
    }
    int32_t nop = b->code->spans ? find_try(b->code, h->target) : -1;
    if (nop < 0 && b->told_try) return;
    Span place = bc_span(b->code, nop < 0 ? unit : nop);
    if (nop >= 0) {
        place.end_line = place.line;
        place.end_column = place.column + (int32_t)strlen("try");
    }
    b->told_try = true;
    if (!bc_told_here(b, &place)) bc_refuse(b->module->diags, &place, "a try statement");
}

void bc_end_refusals(SsaBuild *b) {
    DiagList *diags = b->module->diags;
    drop_inner(diags, b->first_diag);
    if (diags->items.len == b->first_diag && b->covered_unit)
        bc_unsupported_at(b, b->covered_unit - 1, "a try statement");
}

/* -- handlers of exceptions ------------------------------------------------------------------------- */

const PyHandler *bc_handler_of(const Decoded *decoded, int32_t unit) {
    int32_t low = 0, high = decoded->handlers.len;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const PyHandler *h = &decoded->handlers.items[middle];
        if (unit < h->start)
            high = middle;
        else if (unit >= h->end)
            low = middle + 1;
        else
            return h;
    }
    return NULL;
}

/* What the handler finds: its part of the stack, the place of the instruction where it wants that, the exception. */
static void handler_state(SsaBuild *b, const PyBlock *block, const PyHandler *h) {
    for (int32_t k = block->first; k < block->end; k++) {
        const PyInst *inst = &b->decoded->insts.items[k];
        bool store = inst->op == PY_store || inst->op == PY_store_deref;
        if (store && inst->arg >= 0 && inst->arg < b->code->nlocals) {
            Ref value = bc_reported(b);
            bc_write(b, inst->arg, value);
        }
    }
    b->depth = h->depth;
    for (int32_t k = 0; k < b->depth; k++) {
        Slot *slot = &b->stack[k];
        *slot = (Slot){.kind = slot->kind, .origin = slot->origin, .reported = slot->reported};
    }
    for (int32_t k = 0; k < 1 + h->lasti; k++)
        bc_push_reported(b);
}

bool bc_enter_handler(SsaBuild *b, const PyBlock *block) {
    const PyHandler *h = bc_handler_of(b->decoded, b->decoded->insts.items[block->first].unit);
    if (!h || h->depth > block->depth || h->depth + 1 + h->lasti > b->limit)
        return bc_malformed(b, "an exception handler expects another stack");
    int32_t body = ir_block_new(b->func), edge = ir_block_new(b->func);
    b_branch(&b->ir, bc_emit_truth(b, bc_reported(b)), body, edge);
    bc_end_block(b);
    b->ir.block = edge;
    handler_state(b, block, h);
    b_jump(&b->ir, b->cfg->blocks[block->handler].ir_block);
    if (!bc_flow(b, block->handler)) return false;
    bc_end_block(b);
    b->ir.block = body;
    b->depth = block->depth;
    if (block->depth) memcpy(b->stack, block->stack, sizeof *b->stack * (size_t)block->depth);
    return true;
}
