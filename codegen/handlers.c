/* handlers.c - what compiled handlers of exceptions call: catching, which exception came after which, and exceptions as values. */
#include "codegen/objects.h"
#include "codegen/raised.h"
#include "codegen/support.h"
#include <stdlib.h>
#include <string.h>

/* Over all calls: an exception that a generator keeps is met by several. */
static _Atomic int64_t last_id;

static bool take_pending(CallContext *ctx) {
    int64_t taken = ctx->pending ? ctx->pending->take(ctx) : 0;
    if (!taken) return false;
    ctx->exception = CALL_TAKEN;
    ctx->site = -1;
    ctx->args[0] = taken;
    ctx->text_args = 0;
    return true;
}

int32_t quern_matches_taken(CallContext *ctx, int64_t taken, const void *class_handle) {
    return ctx->pending->matches(ctx, taken, class_handle);
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

/* Where it has its strings: string number k, NULL where that argument is none. */
static Owner *text_of(const Raised *raised, int k) {
    bool has = raised->exception >= 0 || raised->exception == CALL_TAKEN;
    bool text = has && raised->text_args >> k & 1;
    return text ? (Owner *)(intptr_t)raised->args[k] : NULL;
}

/* A copy of an exception may outlive the object that it is from: the context keeps its strings, too. */
static bool keep_texts(CallContext *ctx, const Raised *raised) {
    bool ok = true;
    for (int k = 0; k < CALL_MAX_ARGS && ok; k++) {
        Owner *text = text_of(raised, k);
        ok = !text || quern_text_kept(ctx, text);
    }
    return ok;
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
    if (!keep_texts(ctx, raised)) return 0;
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
    if (!held->id) held->id = atomic_fetch_add(&last_id, 1) + 1;
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

/* -- exceptions as values ---------------------------------------------------------------------------- */

static void destroy_exception(Owner *owner) {
    ExceptionObject *object = (ExceptionObject *)owner;
    for (int k = 0; k < CALL_MAX_ARGS; k++) {
        Owner *text = text_of(&object->raised, k);
        if (text) quern_release(text);
    }
    free(object);
    support_count_object(-1);
}

/* Stands for every exception that there was no memory for, and is never counted down to nothing. */
static ExceptionObject no_memory = {.header.owner.refs = OWNER_BORROWED,
                                    .raised = {.exception = -1 - GUARD_memory, .site = -1}};

/* One that Python made lives as long as the call: the object holds it in place of a string. */
static bool hold_taken(CallContext *ctx, Raised *raised) {
    if (raised->exception != CALL_TAKEN || raised->text_args) return true;
    Owner *held = ctx->pending->hold(ctx, raised->args[0]);
    raised->args[1] = (int64_t)(intptr_t)held;
    raised->text_args = held ? 2 : 0;
    return held != NULL;
}

Owner *quern_exception_object(CallContext *ctx, const Raised *raised) {
    ExceptionObject *object = support_allocates() ? malloc(sizeof *object) : NULL;
    if (!object) return &no_memory.header.owner;
    memset(&object->header, 0, sizeof object->header);
    object->header.owner.destroy = destroy_exception;
    atomic_init(&object->header.owner.refs, 1);
    object->raised = *raised;
    for (int k = 0; k < CALL_MAX_ARGS; k++) {
        Owner *text = text_of(raised, k);
        if (text) quern_retain(text);
    }
    if (!hold_taken(ctx, &object->raised)) {
        free(object);
        return &no_memory.header.owner;
    }
    support_count_object(1);
    return &object->header.owner;
}

Owner *quern_exception_made(CallContext *ctx) {
    Raised *made = &ctx->raised;
    made->id = atomic_fetch_add(&last_id, 1) + 1;
    made->site = -1;
    made->context = made->cause = 0;
    made->suppressed = made->ncallers = 0;
    Owner *object = quern_exception_object(ctx, made);
    made->id = 0;
    return object;
}

void quern_raise_object(CallContext *ctx, Owner *owner, int32_t site) {
    ExceptionObject *object = (ExceptionObject *)owner;
    ctx->raised = object->raised;
    if (ctx->site < 0 && ctx->exception != CALL_TAKEN)
        ctx->site = site;
    else if (site >= 0)
        ctx->callers[QN_MIN(ctx->ncallers++, CALL_MAX_CALLERS - 1)] = site;
    if (!keep_texts(ctx, &object->raised)) ctx->exception = -1 - GUARD_memory;
    quern_release(owner);
}

int32_t quern_same_exception(const Raised *a, const Raised *b) {
    return a == b || (a->id == b->id && a->id);
}

int64_t quern_exception_earlier(CallContext *ctx, const Raised *raised, int64_t cause) {
    return (int64_t)(intptr_t)find_kept(ctx, cause ? raised->cause : raised->context);
}

/* -- what handlers read of exceptions --------------------------------------------------------------- */

static int32_t read_part(CallContext *ctx, const Raised *held, ExceptionPart part, void *out) {
    bool c = !ctx->pending && ctx->tables;
    if (c) return raised_read(ctx->tables, held, &part, out) ? CALL_OK : CALL_EXCEPTION;
    if (!ctx->pending) return CALL_EXCEPTION;
    return ctx->pending->read(ctx, held, &part, out) ? CALL_OK : CALL_PENDING;
}

int32_t quern_exception_int(CallContext *ctx, const Raised *held, int64_t place, int64_t count,
                            int64_t unused, int64_t *out) {
    (void)unused;
    return read_part(ctx, held, (ExceptionPart){PART_INT, place, count}, out);
}

int32_t quern_exception_float(CallContext *ctx, const Raised *held, int64_t place, int64_t count,
                              int64_t imaginary, double *out) {
    ExceptionPart part = {imaginary ? PART_IMAGINARY : PART_REAL, place, count};
    return read_part(ctx, held, part, out);
}

static void free_text(Owner *owner) {
    free(owner);
}

static int64_t keep_text(CallContext *ctx, ExceptionText *text) {
    atomic_init(&text->owner.refs, 1);
    text->owner.destroy = free_text;
    if (quern_text_kept(ctx, &text->owner)) quern_release(&text->owner); /* it keeps one itself */
    return (int64_t)(intptr_t)text;
}

int32_t quern_exception_text(CallContext *ctx, const Raised *held, int64_t place, int64_t count,
                             int64_t *out) {
    ExceptionText *text = NULL;
    int32_t status = read_part(ctx, held, (ExceptionPart){PART_TEXT, place, count}, &text);
    if (status == CALL_OK) *out = keep_text(ctx, text);
    return status;
}

int32_t quern_array_text(CallContext *ctx, const char *data, int64_t bytes, const int64_t *shape,
                         int64_t ndim, const void *dtype, int64_t how, int64_t *out) {
    ExceptionText *text = NULL;
    ArrayInMemory array = {data, bytes, ndim, shape, dtype};
    if (!ctx->pending) return CALL_EXCEPTION;
    if (!ctx->pending->describe(ctx, &array, how, &text)) return CALL_PENDING;
    *out = keep_text(ctx, text);
    return CALL_OK;
}

int64_t quern_exception_size(const ExceptionText *text, int64_t of_code_points) {
    return of_code_points ? text->kind : text->length;
}

int64_t quern_exception_copy(CallContext *ctx, ExceptionText *text, char *out) {
    if (text->length) memcpy(out, text->data, (size_t)(text->length * text->kind));
    KeptText *newest = ctx->texts; /* programs may read many */
    if (!newest || newest->owner != &text->owner) return 0;
    ctx->texts = newest->next;
    quern_release(&text->owner);
    free(newest);
    return 0;
}
