/* prints.c - the lines that kernels leave in KernelPrints, on devices whose driver prints nothing itself. */
#include "runtime/device.h"
#include <stdio.h>

_Static_assert(sizeof(KernelPrints) == 8 * (4 + PRINT_WORDS),
               "a ring of words behind four numbers");

enum { WORD = sizeof(uint64_t), NUMBERS = offsetof(KernelPrints, words) };

/* Of one kernel, while they are read. */
typedef struct Lines {
    RtKernel *kernel;
    KernelPrints box; /* the words from `tail` to `head` alone */
} Lines;

static bool fetch(Lines *l, void *to, uint64_t offset, uint64_t bytes, RtError *err) {
    RtDevice *d = l->kernel->device;
    return !bytes || d->ops->to_host(d, &d->default_stream, to, l->kernel->prints + offset,
                                     (int64_t)bytes, err);
}

/* The words from `tail` to `head`, which may go over the end of the ring. */
static bool fetch_words(Lines *l, RtError *err) {
    RtDevice *d = l->kernel->device;
    uint64_t first = l->box.tail % PRINT_WORDS, n = l->box.head - l->box.tail;
    uint64_t straight = QN_MIN(n, PRINT_WORDS - first);
    return fetch(l, l->box.words + first, NUMBERS + first * WORD, straight * WORD, err) &&
           fetch(l, l->box.words, NUMBERS, (n - straight) * WORD, err) &&
           d->ops->sync(d, &d->default_stream, err);
}

static uint64_t *word(Lines *l, uint64_t at) {
    return &l->box.words[at % PRINT_WORDS];
}

/* Truths are numbers on the device; the format wants their text. */
static void name_truths(const char *format, uint64_t *operands) {
    for (int32_t k = 0; *format; format++) {
        if (*format != '%') continue;
        format += 1 + strspn(format + 1, "-+ #0123456789.l");
        if (*format == '%') continue;
        if (*format == 's') operands[k] = (uint64_t)(uintptr_t)(operands[k] ? "True" : "False");
        k++;
    }
}

/* The line at `tail`; false: it is not whole yet, and nothing behind it is looked at. */
static bool print_next(Lines *l) {
    const Artifact *artifact = l->kernel->artifact;
    uint64_t at = l->box.tail, head = *word(l, at), operands[PRINT_MAX_OPERANDS + 1];
    uint32_t n = PRINT_HEAD_OPERANDS(head), format = PRINT_HEAD_FORMAT(head);
    bool whole = (uint32_t)head == (uint32_t)(at + 1) && format < (uint32_t)artifact->nprints &&
                 l->box.head - at > n;
    if (!whole) return false;
    for (uint32_t k = 0; k < n; k++)
        operands[k] = *word(l, at + 1 + k);
    name_truths(artifact->prints[format].bytes, operands);
    artifact->print(artifact->prints[format].bytes, operands);
    l->box.tail = at + 1 + n;
    return true;
}

static bool give_back(Lines *l, uint64_t lost, RtError *err) {
    RtDevice *d = l->kernel->device;
    uint64_t at = l->kernel->prints, zero = 0;
    bool ok = d->ops->to_device(d, &d->default_stream, at + offsetof(KernelPrints, tail),
                                &l->box.tail, WORD, err);
    if (ok && lost)
        ok = d->ops->to_device(d, &d->default_stream, at + offsetof(KernelPrints, lost), &zero,
                               WORD, err);
    return ok && d->ops->sync(d, &d->default_stream, err);
}

/* No kernel of ours leaves such numbers: one that writes where it should not has written over them. */
static bool forget_all(Lines *l, RtError *err) {
    char text[160];
    snprintf(text, sizeof text, "(kernel %.90s has written over its lines of print)%%s",
             l->kernel->name);
    l->kernel->artifact->print(text, &(uint64_t){(uint64_t)(uintptr_t) "\n"});
    l->box.tail = l->box.head;
    return give_back(l, 1, err);
}

static bool print_all(Lines *l, RtError *err) {
    RtDevice *d = l->kernel->device;
    if (!fetch(l, &l->box, 0, NUMBERS, err) || !d->ops->sync(d, &d->default_stream, err))
        return false;
    uint64_t lost = l->box.lost;
    if (l->box.head - l->box.tail > PRINT_WORDS) return forget_all(l, err);
    if (l->box.head == l->box.tail && !lost) return true;
    if (!fetch_words(l, err)) return false;
    while (l->box.tail != l->box.head && print_next(l)) {
    }
    if (lost) {
        char text[160];
        snprintf(text, sizeof text, "(kernel %.90s: %llu more lines of print found no room)%%s",
                 l->kernel->name, (unsigned long long)lost);
        l->kernel->artifact->print(text, &(uint64_t){(uint64_t)(uintptr_t) "\n"});
    }
    return give_back(l, lost, err);
}

bool rt_print_lines(RtKernel *kernel, RtError *err) {
    Lines *l = rt_alloc(sizeof *l);
    if (!l) return rt_fail_memory(err, "the lines of print", (int64_t)sizeof *l);
    l->kernel = kernel;
    bool ok = print_all(l, err);
    rt_dealloc(l, sizeof *l);
    return ok;
}
