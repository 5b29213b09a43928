#include "codegen/random.h"

#include <math.h>
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

/* MT19937 of Matsumoto and Nishimura: its parameters bear the names of their paper. */
enum { N = RANDOM_WORDS, M = 397 };
#define MATRIX_A   0x9908B0DFu
#define UPPER_MASK 0x80000000u
#define LOWER_MASK 0x7FFFFFFFu

typedef struct Twister {
    RandomState drawn;
    uint32_t words[N];
    bool seeded, keeps;
    double kept;
} Twister;

/* State of a thread, not of the module: threads draw without waiting for each other. */
static _Thread_local Twister twisters[RANDOM_GENERATORS];

/* -- seeds ------------------------------------------------------------------------------------------- */

static void seed_by_one(Twister *t, uint32_t seed) {
    t->words[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        t->words[i] = 1812433253u * (t->words[i - 1] ^ t->words[i - 1] >> 30) + i;
}

/* The first word has no one before it: it takes the last. */
static uint32_t stirred(const Twister *t, int32_t i, uint32_t factor) {
    uint32_t before = t->words[i ? i - 1 : N - 1];
    return t->words[i] ^ (before ^ before >> 30) * factor;
}

static void seed_by_words(Twister *t, const uint32_t *words, int64_t n) {
    int32_t i = 1;
    int64_t j = 0;
    seed_by_one(t, 19650218);
    for (int64_t k = n > N ? n : N; k; k--) {
        t->words[i] = stirred(t, i, 1664525) + words[j] + (uint32_t)j;
        if (++j == n) j = 0;
        if (++i < N) continue;
        t->words[0] = t->words[N - 1];
        i = 1;
    }
    for (int32_t k = N - 1; k; k--) {
        t->words[i] = stirred(t, i, 1566083941) - (uint32_t)i;
        if (++i < N) continue;
        t->words[0] = t->words[N - 1];
        i = 1;
    }
    t->words[0] = UPPER_MASK;
}

static void seed_by_system(Twister *t) {
    uint32_t words[16] = {0};
    if (getrandom(words, sizeof words, 0) != (ssize_t)sizeof words) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        words[0] ^= (uint32_t)now.tv_nsec;
        words[1] ^= (uint32_t)now.tv_sec;
        words[2] ^= (uint32_t)(uintptr_t)t;
    }
    seed_by_words(t, words, countof(words));
}

/* A child that drew its parent's numbers would compute its results once more. */
static void forget_in_child(void) {
    for (int i = 0; i < RANDOM_GENERATORS; i++) {
        twisters[i].seeded = twisters[i].keeps = false;
        twisters[i].drawn.left = 0;
    }
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, forget_in_child);
}

static void seeded(Twister *t) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    t->drawn.left = 0;
    t->seeded = true;
    t->keeps = false;
}

int64_t quern_random_seed(int64_t of, const uint32_t *words, int64_t room, int64_t n) {
    Twister *t = &twisters[of];
    if (n > room) n = room;
    if (n > 0)
        seed_by_words(t, words, n);
    else if (n == 0 && room)
        seed_by_one(t, words[0]);
    else
        seed_by_system(t);
    seeded(t);
    return 0;
}

/* -- numbers ------------------------------------------------------------------------------------------ */

static uint32_t twisted(uint32_t high, uint32_t low, uint32_t far) {
    uint32_t y = (high & UPPER_MASK) | (low & LOWER_MASK);
    return far ^ y >> 1 ^ (-(y & 1) & MATRIX_A);
}

static uint32_t tempered(uint32_t y) {
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
}

static void refill(Twister *t) {
    if (!t->seeded) {
        seed_by_system(t);
        seeded(t);
    }
    uint32_t *words = t->words, *drawn = t->drawn.words;
    for (int i = 0; i < N - M; i++)
        words[i] = twisted(words[i], words[i + 1], words[i + M]);
    for (int i = N - M; i < N - 1; i++)
        words[i] = twisted(words[i], words[i + 1], words[i + M - N]);
    words[N - 1] = twisted(words[N - 1], words[0], words[M - 1]);
    for (int i = 0; i < N; i++)
        drawn[N - 1 - i] = tempered(words[i]);
    t->drawn.left = N;
}

static uint32_t next_word(Twister *t) {
    if (!t->drawn.left) refill(t);
    return t->drawn.words[--t->drawn.left];
}

RandomState *quern_random_state(int64_t of) {
    return &twisters[of].drawn;
}

int64_t quern_random_word(int64_t of) {
    return next_word(&twisters[of]);
}

double quern_random_double(int64_t of) {
    Twister *t = &twisters[of];
    uint32_t high = next_word(t) >> 5, low = next_word(t) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

double quern_random_kept(int64_t of) {
    Twister *t = &twisters[of];
    if (!t->keeps || !t->seeded) return NAN;
    t->keeps = false;
    return t->kept;
}

int64_t quern_random_keep(int64_t of, double value) {
    twisters[of].keeps = true;
    twisters[of].kept = value;
    return 0;
}
