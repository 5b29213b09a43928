/* workitem.h - kernels of the cpu device, cut at barriers: what workitem.c has found out and workitem_build.c writes. */
#ifndef QUERN_OPT_WORKITEM_H
#define QUERN_OPT_WORKITEM_H

#include "codegen/opt/pass.h"

/* Who computes a value. */
typedef enum ItemKind {
    ITEM_LOCAL, /* each work-item; what other regions need of it lies in a slot */
    ITEM_BLOCK, /* the block, once: it is the same for all work-items */
    ITEM_AGAIN /* each region that needs it: cheap, of the number of the work-item and such as the above */
} ItemKind;

/* Blocks that every work-item runs through before any goes on to what follows: the body of one loop over them. */
typedef struct ItemRegion {
    int32_t leader;
    Vec(int32_t) chain; /* those that all run once, in order */
    Vec(int32_t) inner; /* the others: loops and branches inside */
    int32_t exit;       /* the block that leads out, NO_BLOCK: the region returns */
    bool branches;      /* ... by a branch of the block, to two other regions */
} ItemRegion;

typedef struct ItemPlan {
    PassContext *ctx;
    Func *func;
    Cfg cfg;
    int32_t *ipdom;  /* by block; the number of blocks: leaving the function */
    bool *marked;    /* a region has to begin here */
    bool *divided;   /* runs for some of the work-items only */
    bool *joins;     /* phis here depend on which of them came from where */
    int32_t *region; /* by block, -1: none */
    Vec(ItemRegion) regions;
    Vec(int32_t) leaders; /* to be looked at */
    Vec(int32_t) list;    /* what item_reach found */
    Vec(Ref) barriers;
    Vec(Ref) counts;   /* barriers that ask all work-items a question */
    Vec(Ref) shuffles; /* operations that pass a value on to others of the warp */
    Vec(Ref) votes;    /* questions to a warp */
    bool *varying;     /* by Ref: may differ between work-items */
    uint8_t *kind;     /* by Ref: ItemKind */
    int32_t *slot;     /* by Ref: its slot, from 1; 0: none */
    int32_t *passed;   /* by Ref of a shuffle or vote: the slot of what it passes on, from 1 */
    int32_t nslots;
    bool again; /* blocks were added: what is said here of the function is not true any more */
} ItemPlan;

bool item_in_chain(const ItemPlan *p, int32_t block);
/* Is it a phi that a region begins with, of values that other regions left? */
bool item_is_leader_phi(const ItemPlan *p, Ref ref);
/* Does a region begin with a barrier that asks? The answer is the block's; what it asks about lies in the barrier's slot. */
Ref item_count_of(const ItemPlan *p, int32_t leader);
/* Is it an operation of whole warps that passes a value on? */
bool item_is_shuffle(const Func *func, Ref ref);
/* A question to whole warps? The kernel asks, and the answers lie in a slot. */
bool item_is_vote(const Func *func, Ref ref);
/* Does a region begin with one of these, whose operand the regions before it put into a slot? */
Ref item_passing_of(const ItemPlan *p, int32_t leader);
void item_build(ItemPlan *p);

#endif
