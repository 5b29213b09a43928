/* Streams that run late (FAKEHIP_LATE): what is put on a stream waits until a call needs it, and runs in any order that streams,
 * events and the default stream allow. A program that reads before it has waited reads what was there before.
 *
 * Without the option an operation is done when it comes. */
#include "fh.h"

#include <stdlib.h>

/* In the order in which they came; the first of a stream is its next. */
typedef struct Waiting {
    FhOp op;
    int device;
    void *stream;
    struct Waiting *next;
} Waiting;

static Waiting *first;
static uint64_t last_number, chosen, depth;

enum { MOST = 4096 }; /* operations that may wait: a device takes no more, either */

static bool is_default(const void *stream) {
    return (uintptr_t)stream <= 1;
}

/* Streams that wait for the default stream, and it for them. */
static bool blocks(const void *stream) {
    const FhObject *object = fh_object(stream, FH_stream);
    return !object || !(object->flags & 1);
}

static uint64_t draw(uint64_t n) {
    chosen ^= chosen << 13, chosen ^= chosen >> 7, chosen ^= chosen << 17;
    return chosen % n;
}

void fh_late_begin(uint64_t seed) {
    chosen = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static bool waits(uint64_t number) {
    for (const Waiting *w = first; w; w = w->next)
        if (w->op.number == number) return true;
    return false;
}

/* Does `b` have to wait for `a`, which came first? */
static bool orders(const Waiting *a, const Waiting *b) {
    if (a->device != b->device) return false;
    if (a->stream == b->stream) return true;
    return (is_default(a->stream) && blocks(b->stream)) ||
           (is_default(b->stream) && blocks(a->stream));
}

static bool ready(const Waiting *w, bool hosts) {
    if ((w->op.after && waits(w->op.after)) || (w->op.host && !hosts)) return false;
    for (const Waiting *a = first; a != w; a = a->next)
        if (orders(a, w)) return false;
    return true;
}

static void run(Waiting *w) {
    int device = fh_current();
    for (Waiting **at = &first; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    fh_set_current(w->device);
    if (!fh_device()->sticky) w->op.act(&w->op);
    fh_set_current(device);
    free(w->op.args);
    free(w);
}

typedef bool Wanted(const Waiting *w, const void *what);

/* Runs one operation that can, often one that is wanted; false: none can. */
static bool step(Wanted *wanted, const void *what, bool hosts) {
    Waiting *can[MOST + 1];
    uint64_t n = 0, preferred = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (Waiting *w = first; w; w = w->next)
            if ((pass == 1) != (wanted && wanted(w, what)) && ready(w, hosts)) can[n++] = w;
        if (pass == 0) preferred = n;
    }
    if (n == 0) return false;
    run(can[preferred && draw(2) ? draw(preferred) : draw(n)]);
    return true;
}

static bool any(const Waiting *w, Wanted *wanted, const void *what) {
    for (; w; w = w->next)
        if (wanted(w, what)) return true;
    return false;
}

static void drain(Wanted *wanted, const void *what) {
    if (depth) return; /* a host function that calls back */
    depth++;
    while (any(first, wanted, what) && step(wanted, what, true))
        continue;
    depth--;
}

static bool on_device(const Waiting *w, const void *what) {
    return w->device == *(const int *)what;
}
static bool numbered(const Waiting *w, const void *what) {
    return w->op.number == *(const uint64_t *)what;
}
typedef struct Where {
    int device;
    void *stream;
} Where;
static bool on_stream(const Waiting *w, const void *what) {
    const Where *where = what;
    return w->device == where->device &&
           (w->stream == where->stream || (is_default(where->stream) && blocks(w->stream)));
}

void fh_wait_device(int device) {
    drain(on_device, &device);
}
void fh_wait_stream(void *stream) {
    drain(on_stream, &(Where){fh_current(), is_default(stream) ? NULL : stream});
}
void fh_wait_number(uint64_t number) {
    drain(numbered, &number);
}
bool fh_stream_busy(void *stream) {
    return any(first, on_stream, &(Where){fh_current(), is_default(stream) ? NULL : stream});
}
bool fh_number_busy(uint64_t number) {
    return number && waits(number);
}

/* What the device may have done meanwhile; nothing with the seed 1. */
void fh_late_progress(unsigned one_in) {
    if (!first || depth || fh_runtime()->late == 1 || draw(one_in)) return;
    step(NULL, NULL, false);
}

/* Somebody asks again and again whether it is done. */
void fh_late_step(void) {
    if (!depth) step(NULL, NULL, true);
}

void fh_late_end(void) {
    while (first) {
        Waiting *w = first;
        first = w->next;
        free(w->op.args);
        free(w);
    }
}

HipResult fh_do(void *stream, FhOp *op, uint64_t *number) {
    if (!fh_runtime()->late || depth) {
        if (number) *number = 0;
        HipResult result = op->act(op);
        free(op->args);
        return result;
    }
    Waiting *w = calloc(1, sizeof *w), **at = &first;
    if (!w) return free(op->args), HIP_OutOfMemory;
    uint64_t length = 0;
    op->number = ++last_number;
    *w = (Waiting){*op, fh_current(), is_default(stream) ? NULL : stream, NULL};
    for (; *at; at = &(*at)->next)
        length++;
    *at = w;
    if (number) *number = w->op.number;
    if (length + 1 >= MOST) fh_wait_device(fh_current());
    return HIP_Success;
}
