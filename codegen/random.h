/* random.h - the generators of random numbers of compiled code: MT19937, as NumPy's global one and Python's `random` have. Each
 * thread has its own; none is that of the interpreter. */
#ifndef QUERN_RANDOM_H
#define QUERN_RANDOM_H

#include "frontend/base/base.h"

/* 0: of np.random, 1: of the module random. Each has its own state. */
enum { RANDOM_GENERATORS = 2 };

/* What a thread draws next: words[left - 1], then those before it. None is left at first, and after all have been drawn. */
enum { RANDOM_WORDS = 624 };
typedef struct RandomState {
    int64_t left;
    uint32_t words[RANDOM_WORDS];
} RandomState;

/* Called by generated code. `of` says which. A generator that nobody has seeded is seeded by the system when first asked, and again in
 * the child of a fork. */

/* Of the calling thread; it stays where it is. Generated code draws from it in line, and calls the next two when too few are left. */
RandomState *quern_random_state(int64_t of);
/* 32 random bits. */
int64_t quern_random_word(int64_t of);
/* In [0, 1), a multiple of 2 ** -53. */
double quern_random_double(int64_t of);
/* By `n` words, or, where n is 0, by the first alone in the manner of the generator's authors; n < 0: by the system. 0. */
int64_t quern_random_seed(int64_t of, const uint32_t *words, int64_t room, int64_t n);
/* Of two numbers made at once the second is kept for the next call. nan: none is; it is kept no more. */
double quern_random_kept(int64_t of);
int64_t quern_random_keep(int64_t of, double value);

#endif
