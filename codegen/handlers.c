/* handlers.c - what compiled handlers of exceptions call: catching, and which exception came after which. */
#include "codegen/support.h"
#include <stdlib.h>

static bool take_pending(CallContext *ctx) {
    int64_t taken = ctx->pending ? ctx->pending->take(ctx) : 0;
    if (!taken) return false;
    ctx->exception = CALL_TAKEN;
    ctx->site = -1;
    ctx->args[0] = taken;
    return true;
}

int32_t quern_matches_taken(CallContext *ctx, int64_t taken, const void *class_handle) {
    return ctx->pending->matches(ctx, taken, class_handle);
}

/* -- contexts and causes -------------------------------------------------------------------------- */

static Raised *find_kept(const CallContext *ctx, int64_t id) {
    for (int k = 0; ctx->kept && id && k < KEPT_EXCEPTIONS; k++)
        if (ctx->kept->kept[k].id == id) return &ctx->kept->kept[k];
    return NULL;
}

/* Handlers may catch without end, so only the latest exceptions are kept: a chain ends where one is missing. 0: no memory. */
static int64_t keep(CallContext *ctx, const Raised *raised) {
    if (find_kept(ctx, raised->id)) return raised->id;
    if (!ctx->kept && !(ctx->kept = calloc(1, sizeof *ctx->kept))) return 0;
    ctx->kept->kept[ctx->kept->next] = *raised;
    ctx->kept->next = (ctx->kept->next + 1) % KEPT_EXCEPTIONS;
    return raised->id;
}

/* As CPython does when an exception is raised: what is being handled becomes the last context of its chain. */
static void add_context(CallContext *ctx, Raised *raised, const Raised *handled) {
    Raised *last = raised;
    for (int k = 0; k < KEPT_EXCEPTIONS; k++) {
        if (last->id == handled->id) return;
        Raised *next = find_kept(ctx, last->context);
        if (!next) break;
        last = next;
    }
    int64_t context = keep(ctx, handled);
    if (last->id != handled->id)
        last->context = context; /* its place may have been taken just now */
}

int32_t quern_caught(CallContext *ctx, Raised *held, const Raised *handled, int32_t status) {
    if (status == CALL_PENDING && !take_pending(ctx)) return 0;
    *held = ctx->raised;
    if (!held->id) held->id = ++ctx->last_id;
    ctx->id = ctx->context = ctx->cause = 0;
    ctx->suppressed = ctx->ncallers = 0;
    if (handled) add_context(ctx, held, handled);
    return 1;
}

void quern_cause(CallContext *ctx, Raised *of, const Raised *cause) {
    if (!of) of = &ctx->raised;
    of->suppressed = true;
    of->cause = cause ? keep(ctx, cause) : 0;
}

/* -- strings that exceptions carry ------------------------------------------------------------------ */

int64_t quern_text_kept(CallContext *ctx, Owner *text) {
    KeptText *kept = malloc(sizeof *kept);
    if (!kept) return 0;
    quern_retain(text);
    *kept = (KeptText){ctx->texts, text};
    ctx->texts = kept;
    return (int64_t)(intptr_t)text;
}
