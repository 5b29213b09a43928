/* loops.h - what seen.c and unseen.c share. An array is passed as its address and its lengths, an int as int64_t. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t Int;
typedef double Real;
typedef uint8_t Byte;

/* Python's remainder, for m > 0. */
static inline Int floor_mod(Int a, Int m) {
    Int r = a % m;
    return r < 0 ? r + m : r;
}

static inline Int lesser(Int a, Int b) {
    return a < b ? a : b;
}
