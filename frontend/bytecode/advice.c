/* advice.c - refusals with what to do instead. */
#include "frontend/bytecode/bc.h"

static const struct {
    const char *what, *text;
} rows[] = {
#define ADVICE(what, text) {what, text},
#include "frontend/bytecode/advice.def"
#undef ADVICE
};

const char *bc_advice(const char *what) {
    for (int k = 0; k < countof(rows); k++)
        if (strcmp(rows[k].what, what) == 0) return rows[k].text;
    return NULL;
}

bool bc_refuse(DiagList *diags, const Span *span, const char *what) {
    const char *advice = bc_advice(what);
    diag_add(diags, E0101, span, what);
    if (advice) diag_note(diags, NULL, "%s", advice);
    return false;
}
