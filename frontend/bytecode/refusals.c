/* refusals.c - bc_build_all: every refusal is told, and what comes behind one is looked at.
 *
 * A refused instruction takes and leaves what its row says (pyop_3xx.inc). What it leaves is `reported`, and an
 * instruction that is refused for such a value says nothing, so that one cause is told once. */
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
    if (bc_h_make_function(b, arg)) return true;
    b->depth -= __builtin_popcount((unsigned)arg);
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

/* The parts of a template string are template strings, too: of the same words at places inside each other the outermost stays. */
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

void bc_end_refusals(SsaBuild *b) {
    drop_inner(b->module->diags, b->first_diag);
}
