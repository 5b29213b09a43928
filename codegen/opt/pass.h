/* pass.h - the passes on typed IR, and the list they run in (passes.def).
 *
 * A pass is one function of one typed Func; it may append blocks and instructions freely and leaves
 * verified IR. What it needs to know (dominators, loops) it computes itself: a Cfg of the functions
 * we compile costs microseconds, and a stale one costs days. */
#ifndef QUERN_PASS_H
#define QUERN_PASS_H

#include "codegen/codegen.h"

typedef Vec(Ref) RefList;

typedef struct PassContext {
    Module *module;
    Arena *arena;
    const CompileOptions *options;
    bool tell_all; /* what is refused is only told: the pass goes on to what else there is */
} PassContext;

/* What holds of the functions until a pass breaks it. */
enum PassProperty {
    IR_COUNTED =
        1,       /* loops look as the front end writes them: CountedLoop, one poll at each latch */
    IR_WIDE = 2, /* Python's ints are i64, indices too */
    IR_UNOWNED = 4 /* no retain and no release yet: code may be copied and moved */
};

typedef void (*PassFunction)(PassContext *ctx, Func *func);

typedef struct PassInfo {
    const char *name;
    PassFunction run;
    int level; /* runs at this opt_level and above */
    unsigned needs, breaks;
    const char *what;
} PassInfo;

/* NULL-terminated, in pipeline order. */
extern const PassInfo opt_passes[];

/* Runs the pipeline over every function; in debug builds the verifier after every pass. `after` (may be
 * NULL) is called with the function after each pass: dumps. false: the verifier found something. */
typedef void (*PassObserver)(void *user, const PassInfo *pass, const Func *func);
bool opt_run(Module *module, const CompileOptions *options, PassObserver after, void *user);
/* Tells every parallel loop of the module that is refused, and arrays that no frame can have, for f.explain(); the module is good for nothing else then. */
void opt_tell_loops(Module *module, const CompileOptions *options);
const PassInfo *opt_find(const char *name);
bool opt_run_one(Module *module, const CompileOptions *options, const PassInfo *pass);

/* report.c: what is left in each loop when the pipeline is through, one line a loop (its head says which). */
void opt_report(Module *module, StrBuf *out);

/* One pass per file. */
void opt_parallel(PassContext *ctx, Func *func);
void opt_spread(PassContext *ctx, Func *func);
void opt_inline(PassContext *ctx, Func *func);
void opt_frames(PassContext *ctx, Func *func);
/* Writes the function that is called, which has no handlers and is another one, in place of the call. */
void opt_inline_call(PassContext *ctx, Func *func, Ref call);
bool opt_is_step(const Func *func,
                 Ref call); /* of few instructions on a container, which is inlined */
void opt_fuse(PassContext *ctx, Func *func);
void opt_unmade(PassContext *ctx, Func *func);
void opt_expand(PassContext *ctx, Func *func);
void opt_latches(PassContext *ctx, Func *func);
void opt_fields(PassContext *ctx, Func *func);
void opt_exact(PassContext *ctx, Func *func);
void opt_alike(PassContext *ctx, Func *func);
void opt_simplify(PassContext *ctx, Func *func);
void opt_merge_blocks(Func *func); /* of those that only follow each other one; part of simplify */
void opt_dce(PassContext *ctx, Func *func);
void opt_prove(PassContext *ctx, Func *func);
void opt_steady(PassContext *ctx, Func *func);
void opt_bounds(PassContext *ctx, Func *func);
void opt_ranges(PassContext *ctx, Func *func);
void opt_peel(PassContext *ctx, Func *func);
void opt_apart(PassContext *ctx, Func *func);
void opt_loops(PassContext *ctx, Func *func);
void opt_work(PassContext *ctx, Func *func);
void opt_strides(PassContext *ctx, Func *func);
void opt_words(PassContext *ctx, Func *func);
void opt_narrow(PassContext *ctx, Func *func);
void opt_meet(PassContext *ctx, Func *func);
void opt_sink(PassContext *ctx, Func *func);
void opt_refcount(PassContext *ctx, Func *func);
void opt_workitem(PassContext *ctx, Func *func);

/* -- shared helpers (opt_util.c) --------------------------------------------------------------- */

/* Splits `block` so that the instruction at position `at` and all after it move to a new block, which is
 * returned; `block` ends with a jump there. Successors' edges and phis follow the terminator. */
int32_t opt_split_block(Func *func, int32_t block, int32_t at);
/* Position of an instruction in its block. */
int32_t opt_position(const Func *func, Ref ref);
/* A jump whose edge is there since a split. */
void opt_jump_on(Builder *b, int32_t to);
bool opt_is_innermost(const Cfg *cfg, int32_t loop); /* there is none inside */
/* The one block in front that leads to the loop; NO_BLOCK: there are several, or none. */
int32_t opt_entry_of(const Func *func, const Cfg *cfg, int32_t loop);
/* A variable of a loop. */
bool opt_is_header_phi(const Func *func, const Cfg *cfg, Ref ref);
/* The value of an integer constant. */
bool opt_const_int(const Func *func, Ref ref, int64_t *value);
/* An int that fits in int64 whatever it is. */
bool opt_is_narrow(const Func *func, Ref ref);
/* The int that an int64 was made of: an element of 32 bits that is tested, and is an index behind the test. */
Ref opt_uncast(const Func *func, Ref ref);
/* Is every value of this integer provably >= 0? Conservative; sees through phis of counters.
 * index: it is used as one, so that sums and products that leave int64 do no harm. */
bool opt_nonnegative(const Func *func, Ref ref, bool index);
/* A remainder by what is above zero: are sums and products of such remainders and of small numbers divided, which are below zero only
 * where they have left int64? */
bool opt_seldom_negative(const Func *func, Ref ref);
/* A remainder as Euclid has it: `x, y = y, x % y` on each way that brings it to y. From the second round on both have the sign of the
 * first y, and y comes nearer to zero in each. */
bool opt_is_euclid(const Func *func, Ref ref);
/* A loop of the shape the frontend makes for `for`: the header's only non-phi work is
 * `lt counter, limit; branch`, counter starts at a constant, 0 but where rounds were peeled, and grows by `add` sub=1 of one. */
typedef struct CountedLoop {
    int32_t header, body, exit; /* exit: where the header leads when the count is reached */
    Ref counter;                /* phi */
    Ref next;                   /* counter + 1 */
    Ref limit;                  /* invariant in the loop */
    Ref test;                   /* lt */
    Ref start;                  /* what the counter starts at */
    int64_t first;              /* its value */
    int32_t entry_pred;         /* the only predecessor from outside */
} CountedLoop;
bool opt_counted_loop(const Func *func, const Cfg *cfg, int32_t loop, CountedLoop *out);
/* Likewise where the counter may start at any value, as the items of a range do (ranges.c); `first` is not known. */
bool opt_loop_of_items(const Func *func, const Cfg *cfg, int32_t loop, CountedLoop *out);
/* A variable that grows by 0 or 1 in each round of a counted loop, from a number that is not above the counter's first:
 * it never passes the counter, which never passes its limit, so that no sum on its way wraps.
 *
 *     n = phi(0, n or n + 1)          0 <= n <= i
 */
bool opt_paced(const Func *func, const Cfg *cfg, Ref phi, CountedLoop *loop, int64_t *start);
/* Have the conditions in front of the nest shown that the loop has few rounds (bounds_rounds.c)? */
bool opt_is_brief(const Func *func, const Cfg *cfg, int32_t loop);
/* Do work-items of a kernel meet in the loop, at a barrier or in a shuffle? */
bool opt_work_items_meet(const Func *func, const Loop *loop);
int32_t opt_loop_of_header(const Cfg *cfg, int32_t header); /* -1: it is none */
bool opt_in_loop(const Cfg *cfg, int32_t loop, int32_t block);
/* Does every round of the loop that goes back to its header pass the block? */
bool opt_every_round(const Func *func, const Cfg *cfg, int32_t loop, int32_t block);
/* The instruction in another function, appended to `block`: without operands, error successor and name. */
Ref opt_copy_inst(Func *to, int32_t block, const Func *from, Ref ref);

/* -- proofs (inductive.c; opt_facts: tests.c): at the start of `block`, by induction over loops and from the branches that lead there -- */

bool opt_at_least(const Func *func, const Cfg *cfg, Ref value, int64_t k, int32_t block);
/* value < limit */
bool opt_below(const Func *func, const Cfg *cfg, Ref value, Ref limit, int32_t block);
/* value <= symbol + k; NO_REF: k */
bool opt_at_most(const Func *func, const Cfg *cfg, Ref value, Ref symbol, int64_t k, int32_t block);
/* Are they one value, wherever both are there? Of i64. */
bool opt_same(const Func *func, Ref a, Ref b);
/* An item of a range, or the counter of a loop in its body: start <= item < stop, or (`down`) stop < item <= start.
 * No start: 0. */
typedef struct RangeItem {
    Ref start, stop;
    bool down;
} RangeItem;
bool opt_range_item(const Func *func, const Cfg *cfg, Ref ref, int32_t block, RangeItem *out);
/* What dominating branches say of `value`: value <= bound + by where `upper`, otherwise value >= bound + by.
 * At the start of `block`, or (`to` is a block) on the edge block -> to. With `sums` also what they say of value + more, where it is
 * for the caller to know that this does not wrap. With `narrow` also of ints of other types, all of which int64 holds. */
typedef struct Fact {
    Ref bound;
    int64_t by;
    int32_t block; /* that the branch ends */
    Ref more;      /* or NO_REF */
} Fact;
typedef struct FactList {
    Ref value;
    bool upper, sums, narrow;
    int n;
    Fact items[4];
} FactList;
void opt_facts(const Func *func, const Cfg *cfg, int32_t block, int32_t to, FactList *list);

/* outline.c: copies a loop nest in loop-closed form into a function of its own, and makes a block that
 * calls it and goes on at the nest's exits; nothing leads to that block yet. NO_BLOCK, and nothing done, when
 * the nest cannot be moved. */
int32_t opt_outline_nest(PassContext *ctx, Func *func, const Loop *loop);
/* A function whose entry is cold: made by the above, compiled when first called. */
bool opt_is_outlined(const Func *func);

#endif
