/* objects.c - see objects.h. */
#include "codegen/objects.h"
#include "codegen/support.h"
#include <stdlib.h>

_Static_assert(sizeof(ObjectHeader) == OBJECT_HEADER, "the fields follow");
_Static_assert(sizeof(ObjectHeader) <= SUPPORT_ARRAY_HEADER,
               "a buffer's header fits in front of its data");

/* Process-wide on purpose: objects outlive compilations and threads. */
static _Atomic int64_t live_objects;

void support_count_object(int64_t change) {
    atomic_fetch_add_explicit(&live_objects, change, memory_order_relaxed);
}

int64_t support_live_objects(void) {
    return atomic_load(&live_objects);
}

/* -- life ------------------------------------------------------------------------------------- */

static void destroy_cells(Owner *owner);
static void destroy_frame(Owner *frame);

/* Gives back what the cells hold. Blocks of ours whose last reference that was are put in front of `dying`, linked by
 * `python`, which nobody asks for any more. */
static ObjectHeader *release_cells(ObjectHeader *block, ObjectHeader *dying) {
    const CellLayout *cells = block->cells;
    char *cell = (char *)block + cells->first;
    for (int64_t i = 0; i < block->ncells; i++, cell += cells->size)
        for (int32_t k = 0; k < cells->n; k++) {
            Owner *owner = *(Owner **)(cell + cells->offsets[k]);
            if (!owner || !support_let_go(owner)) continue;
            if (owner->destroy != destroy_cells && owner->destroy != destroy_frame) {
                owner->destroy(owner);
                continue;
            }
            ((ObjectHeader *)owner)->python = dying;
            dying = (ObjectHeader *)owner;
        }
    return dying;
}

static void destroy_cells(Owner *owner) {
    ObjectHeader *dying = (ObjectHeader *)owner;
    dying->python = NULL;
    while (dying) {
        ObjectHeader *block = dying;
        dying = release_cells(block, block->python);
        free(block->owner.object);
        atomic_fetch_sub_explicit(&live_objects, 1, memory_order_relaxed);
    }
}

/* -- frames of generators that are closed before they go ------------------------------------------ */

/* One that is here still waits: only where there was no stack left to close it. */
static void destroy_frame(Owner *frame) {
    destroy_cells(frame);
}

/* `python` of the header is the code: no Python object stands for a frame. */
void quern_closing(Owner *frame, CloseCode close) {
    ((ObjectHeader *)frame)->python = (void *)(uintptr_t)close;
    frame->destroy = destroy_frame;
}

static int64_t *words_of(const Owner *frame) {
    return (int64_t *)((char *)(uintptr_t)frame + SUPPORT_ARRAY_HEADER);
}

bool quern_closes(const Owner *frame) {
    return frame && frame->destroy == destroy_frame && words_of(frame)[0] != STATE_DONE;
}

int32_t quern_close(CallContext *ctx, Owner *frame) {
    if (!quern_closes(frame)) return CALL_OK;
    CloseCode close = (CloseCode)(uintptr_t)((ObjectHeader *)frame)->python;
    words_of(frame)[1] = ON_CLOSE;
    int32_t status = close(ctx, (char *)words_of(frame), frame);
    if (status != CLOSE_YIELDED) return status;
    ctx->exception = -1 - GUARD_generator_exit;
    ctx->site = -1;
    return CALL_EXCEPTION;
}

/* The code runs in a context of its own: an exception may be on its way through that of the caller. */
static void close_aside(CallContext *ctx, Owner *frame) {
    CallContext own = *ctx;
    memset(&own.raised, 0, sizeof own.raised);
    own.kept = NULL;
    own.texts = NULL;
    if (ctx->pending)
        ctx->pending->close(&own, frame);
    else
        quern_close(&own, frame);
    ctx->taken = own.taken;
    ctx->budget = own.budget;
    context_end(&own);
}

/* A generator that gave an item instead of its end goes anyway, and those that it holds end with it. */
static void drop_held(CallContext *ctx, const Owner *frame) {
    const CellLayout *cells = ((const ObjectHeader *)frame)->cells;
    for (int32_t k = 0; k < cells->n; k++) {
        Owner *held = *(Owner **)((char *)words_of(frame) + cells->offsets[k]);
        if (held) quern_drop_frame(ctx, held);
    }
}

void quern_drop_frame(CallContext *ctx, Owner *frame) {
    if (!quern_closes(frame) || atomic_load(&frame->refs) != 1) return;
    close_aside(ctx, frame);
    if (quern_closes(frame)) drop_held(ctx, frame);
}

static Owner *open_block(void *memory, ObjectHeader *header, const CellLayout *cells,
                         int64_t ncells) {
    atomic_init(&header->owner.refs, 1);
    header->owner.destroy = destroy_cells;
    header->owner.object = memory;
    header->cells = cells;
    header->ncells = ncells;
    header->python = NULL;
    atomic_fetch_add_explicit(&live_objects, 1, memory_order_relaxed);
    return &header->owner;
}

Owner *quern_new_object(const CellLayout *cells) {
    ObjectHeader *header = support_allocates() ? malloc((size_t)cells->size) : NULL;
    return header ? open_block(header, header, cells, 1) : NULL;
}

Owner *quern_alloc_buffer(int64_t nbytes, const CellLayout *cells) {
    void *block;
    ObjectHeader *header = support_alloc_block(nbytes, true, &block);
    return header ? open_block(block, header, cells, nbytes / cells->size) : NULL;
}

/* The block moves with its header, which stays as far behind its beginning: a buffer's data need the alignment of malloc alone. */
static Owner *resize(Owner *old, int64_t nbytes) {
    int64_t header = (char *)old - (char *)old->object;
    char *block =
        support_allocates() ? realloc(old->object, (size_t)nbytes + SUPPORT_ARRAY_SLACK) : NULL;
    if (!block) return NULL;
    Owner *owner = (Owner *)(block + header);
    owner->object = block;
    return owner;
}

static Owner *grow_copied(Owner *old, int64_t used, int64_t nbytes, const CellLayout *cells) {
    Owner *more = cells ? quern_alloc_buffer(nbytes, cells) : quern_alloc_array(nbytes, 0);
    if (!more) return NULL;
    quern_move((char *)more + SUPPORT_ARRAY_HEADER, (char *)old + SUPPORT_ARRAY_HEADER, used,
               cells != NULL);
    quern_release(old);
    return more;
}

Owner *quern_grow(Owner *old, int64_t used, int64_t nbytes, const CellLayout *cells) {
    bool ours = cells ? old->destroy == destroy_cells : support_is_array(old);
    if (!ours || atomic_load_explicit(&old->refs, memory_order_acquire) != 1)
        return grow_copied(old, used, nbytes, cells);
    Owner *owner = resize(old, nbytes);
    if (!owner) return NULL;
    if (cells) {
        memset((char *)owner + SUPPORT_ARRAY_HEADER + used, 0, (size_t)(nbytes - used));
        ((ObjectHeader *)owner)->ncells = nbytes / cells->size;
    }
    return owner;
}

void quern_move(char *to, char *from, int64_t nbytes, int32_t counted) {
    memmove(to, from, (size_t)nbytes);
    if (!counted) return;
    if (to + nbytes <= from || from + nbytes <= to)
        memset(from, 0, (size_t)nbytes);
    else if (to > from)
        memset(from, 0, (size_t)(to - from));
    else
        memset(to + nbytes, 0, (size_t)(from - to));
}
