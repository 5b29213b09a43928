/* s_waitcnt: memory answers later than its instruction, and what an instruction uses before a wait says that it is there is an
 * error. Loads of memory and of LDS answer in order, scalar ones in any. */
#include "gcn_wave.h"

#include <stdio.h>
#include <stdlib.h>

/* -- Queues ------------------------------------------------------------------------------------ */

static void count(GcnWave *w, const GcnAnswer *answer, int by) {
    uint8_t *waits = answer->scalar ? w->swaits : w->vwaits;
    for (unsigned k = 0; k < answer->words; k++)
        waits[answer->reg + k] = (uint8_t)(waits[answer->reg + k] + by);
}

static void arrive(GcnWave *w, GcnQueue *q) {
    count(w, &q->at[q->first], -1);
    q->first = (q->first + 1) % QUEUE;
    q->count--;
}

static void lower(GcnWave *w, GcnQueue *q, unsigned limit) {
    while (q->count > limit)
        arrive(w, q);
}

static void expect(GcnWave *w, GcnQueue *q, GcnAnswer answer) {
    if (q->count == QUEUE) arrive(w, q); /* there the hardware waits, too */
    q->at[(q->first + q->count++) % QUEUE] = answer;
    count(w, &answer, 1);
}

/* -- Instructions ------------------------------------------------------------------------------ */

/* An access of memory has been made: its result comes later. Stores have none, but some chips count them with loads. */
void gcn_wait_begin(GcnWave *w, const GcnInst *i) {
    GcnAnswer answer = {i->d.reg, i->answers ? (uint8_t)i->d.words : 0, i->d.kind == K_scalar};
    bool counted = i->answers || w->run->chip < 10;
    if (i->counts & COUNTS_load && counted) expect(w, &w->queues[0], answer);
    if (i->counts & COUNTS_lds) expect(w, &w->queues[1], answer);
    if (i->counts & COUNTS_scalar) expect(w, &w->queues[2], answer);
}

static bool ready(GcnWave *w, const GcnOperand *o) {
    if (o->kind != K_vector && o->kind != K_scalar) return true;
    const uint8_t *waits = o->kind == K_scalar ? w->swaits : w->vwaits;
    for (unsigned k = 0; k < o->words; k++)
        if (waits[o->reg + k]) {
            gcn_fault(w, GCN_FAULT, "%c%u is used before a wait says that it is there",
                      o->kind == K_scalar ? 's' : 'v', o->reg + k);
            return false;
        }
    return true;
}

/* What a load writes may be waited for: it answers behind the one before. */
bool gcn_wait_check(GcnWave *w, const GcnInst *i) {
    if (!(w->queues[0].count | w->queues[1].count | w->queues[2].count)) return true;
    return (i->answers || ready(w, &i->d)) && ready(w, &i->e) && ready(w, &i->a) &&
           ready(w, &i->b) && ready(w, &i->c) && (!i->dual || gcn_wait_check(w, i->dual));
}

static GcnStep run_wait(GcnWave *w, const GcnInst *i) {
    GcnQueue *loads = &w->queues[0], *lds = &w->queues[1], *scalars = &w->queues[2];
    const int *limit = i->limits;
    if (limit[0] >= 0) lower(w, loads, (unsigned)limit[0]);
    /* A limit for both together says something of single ones only while there are no scalar ones, or at 0. */
    bool scalar_first = i->limits_join && limit[1] > 0 && scalars->count;
    if (limit[1] >= 0 && !scalar_first) lower(w, lds, (unsigned)limit[1]);
    if (limit[2] == 0) lower(w, scalars, 0);
    return STEP_NEXT;
}

/* -- Decoding ---------------------------------------------------------------------------------- */

/* "vmcnt(0)" */
static void read_limit(GcnInst *i, const char *text) {
    const char *open = strchr(text, '(');
    int value = open ? atoi(open + 1) : -1;
    if (!strncmp(text, "vmcnt(", 6)) i->limits[0] = value;
    if (!strncmp(text, "lgkmcnt(", 8)) i->limits[1] = i->limits[2] = value;
}

/* RDNA4 has an instruction for each counter; two in one have a byte for each. */
static bool single(GcnInst *i, const GcnText *text) {
    static const struct {
        const char *name;
        int load, lds, scalar; /* the lowest bit of the limit, -1: none */
    } rows[] = {{"s_wait_loadcnt", 0, -1, -1},
                {"s_wait_dscnt", -1, 0, -1},
                {"s_wait_kmcnt", -1, -1, 0},
                {"s_wait_loadcnt_dscnt", 8, 0, -1},
                {"s_wait_storecnt_dscnt", -1, 0, -1}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (strcmp(text->name, rows[k].name) != 0) continue;
        int64_t value = text->operands[0].integer;
        if (rows[k].load >= 0) i->limits[0] = (int)(value >> rows[k].load & 63);
        if (rows[k].lds >= 0) i->limits[1] = (int)(value >> rows[k].lds & 63);
        if (rows[k].scalar >= 0) i->limits[2] = (int)(value >> rows[k].scalar & 63);
        return true;
    }
    return false;
}

bool gcn_wait(GcnInst *i, const GcnText *text) {
    bool joined = !strcmp(text->name, "s_waitcnt");
    i->limits[0] = i->limits[1] = i->limits[2] = -1;
    if (!joined && !single(i, text)) return false;
    i->run = run_wait;
    i->limits_join = joined;
    if (!joined) return true;
    if (text->noperands != 1 || text->operands[0].kind != K_name) return false;
    read_limit(i, text->operands[0].name);
    for (int k = 0; k < text->nmodifiers; k++)
        read_limit(i, text->modifiers[k].name);
    return true;
}
