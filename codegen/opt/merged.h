/* merged.h - for the pass `loops`: polls that are part of a loop's own test. */
#ifndef QUERN_MERGED_H
#define QUERN_MERGED_H

#include "codegen/opt/pass.h"

/* Rounds between two looks at the budget. */
enum { MERGED_ROUNDS = 128 };

/* A test that each round passes on its way back: the loop goes on while the variable has not reached the limit. */
typedef struct MergedPoll {
    int32_t loop;
    int32_t block;    /* which ends with the test */
    int32_t inside;   /* where it leads while the loop goes on */
    int32_t entry_at; /* position of the outside edge in the header */
    Ref variable, step, limit;
    bool plus; /* the step is added in each round, else taken off */
    int at;    /* which operand of the test is the limit */
    bool up;   /* the limit is an upper one */
} MergedPoll;

/* How many rounds a `while` loop runs at most, whatever else ends it: `while k < 4 and ...: k += 1` from 1. 0: nobody knows. */
int64_t opt_most_rounds(const Func *func, const Cfg *cfg, int32_t loop);
bool opt_find_merged(const Func *func, const Cfg *cfg, int32_t loop, MergedPoll *out);
/* The loop's own poll is to be gone; `rounds`: what MERGED_ROUNDS rounds count. */
void opt_merge_poll(Func *func, const Cfg *cfg, const MergedPoll *m, int64_t rounds, int32_t span);

#endif
