/* calls.c - what compiled code asks of its call, and how code that C calls begins and ends: see support.h. Of the caller it needs the
 * context alone, so that functions compiled ahead of time take it along. */
#include "codegen/support.h"
#include "frontend/base/os.h"

/* -- parallel loops --------------------------------------------------------------------------- */

int64_t quern_chunks(CallContext *ctx, int64_t n, int32_t few) {
    return ctx->parallel ? ctx->parallel->chunks(n, few != 0) : n > 0;
}

int32_t quern_parallel(CallContext *ctx, int64_t n, int64_t chunks, ParallelBody body, void *env) {
    if (n <= 0) return CALL_OK;
    if (!ctx->parallel) return body(ctx, 0, n, 0, env);
    if (chunks > 1) return ctx->parallel->run(ctx, n, chunks, body, env);
    int64_t size = ctx->parallel->threads(THREAD_SET_CHUNK, 0); /* as in its threads */
    int32_t status = body(ctx, 0, n, 0, env);
    ctx->parallel->threads(THREAD_SET_CHUNK, size);
    return status;
}

int64_t quern_threads(CallContext *ctx, int32_t question, int64_t value) {
    if (ctx->parallel) return ctx->parallel->threads((enum ThreadQuestion)question, value);
    if (question == THREAD_SET_COUNT && value != 1) return -1;
    return question == THREAD_COUNT || question == THREAD_MOST;
}

/* -- functions compiled ahead of time -------------------------------------------------------- */

void quern_begin(CallContext *ctx) {
    memset(ctx, 0, sizeof *ctx);
    ctx->stack_limit = os_stack_limit();
}

/* -- functions that C calls ------------------------------------------------------------------- */

void quern_c_begin(const CodeOwner *owner, CallContext *ctx) {
    memset(ctx, 0, sizeof *ctx);
    ctx->stack_limit = owner->stack_limit();
    ctx->parallel = owner->parallel;
}

void quern_c_failed(const CodeOwner *owner, CallContext *ctx, int32_t status) {
    owner->failed(owner, ctx, status);
    context_end(ctx);
}

void quern_c_end(CallContext *ctx) {
    context_end(ctx);
}

/* -- what seldom happens in a call ------------------------------------------------------------- */

void quern_note_call(CallContext *ctx, int32_t site) {
    int32_t place = QN_MIN(ctx->ncallers, CALL_MAX_CALLERS - 1);
    ctx->ncallers++;
    ctx->callers[place] = site;
}

int32_t quern_poll(CallContext *ctx) {
    return ctx->poll ? ctx->poll(ctx) : 0;
}
