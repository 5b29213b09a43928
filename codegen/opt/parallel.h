/* parallel.h - the pass `parallel` between its files. parallel.c finds the loops over prange and calls their bodies,
 * carried.c says how iterations hang together, parallel_body.c makes a function of a body. */
#ifndef QUERN_OPT_PARALLEL_H
#define QUERN_OPT_PARALLEL_H

#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

/* `imm` of the op prange, for remarks: 0, or */
enum { PRANGE_TOLD = 1, PRANGE_OF_ARRAYS = 2, PRANGE_REFUSED = 3 };
void parallel_remark(PassContext *ctx, const Func *func, Ref at, int level, Str text);

/* How the value of a variable after the loop follows from those that its chunks end with. */
typedef enum CarriedKind {
    CARRIED_NOT,     /* nobody reads it: any value will do */
    CARRIED_SAME,    /* the loop does not change it */
    CARRIED_SETTLED, /* each iteration assigns it before it looks, or none does: chunks start from the value before the loop */
    CARRIED_LAST,    /* the last assignment in the order of the iterations */
    CARRIED_ADD,     /* + and -; chunks but the first start from zero */
    CARRIED_MULTIPLY /* * and /; from one */,
    CARRIED_XOR,
    CARRIED_AND, /* from here on each chunk may start from the value before the loop */
    CARRIED_OR,
    CARRIED_CHOICE, /* a row of the library: min, max and their kin */
    CARRIED_LESS,   /* kept by a test: if x < m: m = x */
    CARRIED_GREATER,
    CARRIED_BESIDE /* assigned where the leader, one of these two, is */
} CarriedKind;

/* A test that keeps a minimum or maximum: where the value is taken, control comes to `join` from `from`, else from `other`. */
typedef struct Choice {
    Ref test;
    int32_t join, from, other;
    bool strict; /* equal numbers do not take each other's place */
} Choice;

/* A phi of the loop's header that is not its counter. */
typedef struct Carried {
    CarriedKind kind;
    Ref phi, start;    /* start: the value before the loop */
    const Str *choice; /* CARRIED_CHOICE: the row of the library, its number behind */
    int64_t row;
    Vec(Choice) choices; /* CARRIED_LESS, CARRIED_GREATER */
    int32_t leader;      /* CARRIED_BESIDE: its number in `carried` */
    Bits web;            /* by ref: the phi and what becomes of it in the loop */
    Ref flag,
        after;    /* in the body: of CARRIED_LAST whether it was assigned; its value at the end */
    Ref partials; /* in the function: array of what the chunks ended with */
    Ref flags;
} Carried;

/* An array from outside into which each iteration combines another one: `array += x`. */
typedef struct SharedArray {
    CarriedKind kind;
    Ref array;
    Ref parts; /* an array with one more axis: one array for each chunk */
    Ref mine;  /* in the body: that of its chunk */
} SharedArray;

/* A loop over prange, with the blocks it may raise in. */
typedef struct Region {
    PassContext *ctx;
    Func *func;
    const Cfg *cfg;
    CountedLoop loop;
    Ref marker; /* the op prange */
    Vec(int32_t) blocks;
    bool *inside;    /* by block */
    int32_t landing; /* the block that it raises to; NO_BLOCK: it leaves the function */
    Vec(Carried) carried;
    Vec(SharedArray) arrays;
    int32_t updates; /* of elements, made atomic */
    Vec(Ref) inputs; /* arguments of the body's function behind the chunk and the partial results */
    Func *body;
} Region;

/* parallel_region.c: fills `blocks`, `inside` and `landing` for the loop. Changed: all about the function must be looked at again. */
typedef enum RegionShape { REGION_FOUND, REGION_CHANGED, REGION_LEFT_EARLY } RegionShape;
RegionShape region_find_blocks(Region *r, int32_t l);
/* private.c: variables without a value before the loop that nobody reads behind it have none when an iteration begins. */
void region_make_private(Region *r);
/* carried.c: fills `carried`. false: the iterations depend on each other, which has been said. */
bool region_find_carried(Region *r);
/* settled.c: does a test that is the same in all iterations decide whether they assign it? */
bool region_is_settled(const Region *r, const Carried *c);
/* The reduction that a function (accumulator, element) makes; CARRIED_NOT: none. CARRIED_CHOICE: *row is the call of
 * the row in it. */
CarriedKind reduction_of(const Func *func, const Inst **row);
/* extremes.c: what the test of a member of the web keeps; CARRIED_NOT: it is used otherwise. */
CarriedKind region_choice(const Region *r, const Bits *web, Ref test, Choice *out);
/* Is the edge from -> join one on which the variable takes a value by a test? */
bool carried_is_chosen(const Carried *c, int32_t join, int32_t from);
/* Finds what goes with the extremes; the test on which something else depends, and whose it is, or NO_REF. */
Ref region_find_beside(Region *r, int32_t *leader);
/* crossing.c: fills `arrays`. false as above: it is certain that iterations write and read the same elements. */
bool region_find_crossings(Region *r);
/* A phi that the loop does not change, or a view of all of an array, is the value before the loop. */
Ref region_original(const Region *r, Ref ref);
/* An index without what tests it. */
Ref region_unchecked(const Func *func, Ref index);
/* updates.c: `h[bins[i]] += x` loses nothing: counts them in `updates`. */
void region_make_updates_atomic(Region *r);
/* parallel_objects.c: false: an iteration changes an object that it has not made, which has been said. */
bool region_objects_are_safe(const Region *r);
/* Does it draw from a numpy.random.Generator, whose state has no room for two threads? */
bool region_draws(const Region *r);
/* parallel_body.c: the function (first, last, chunk, inputs ..., partials ...). */
void region_make_body(Region *r);
/* Of one axis more than a shared array, first or (F order) last. */
const Type *shared_parts_type(TypeTable *types, const Type *array);
/* The part of chunk `chunk`, as an array of the type of the shared one. */
Ref shared_part(Builder *b, Ref parts, Ref chunk, const Type *array);
/* A function (x) -> x of numbers, or (a, b) -> a and b combined. */
Func *copy_function(Module *module, const Type *type);
Func *combining_function(Module *module, CarriedKind kind, const Type *type);
/* What does not change the other operand. */
const ConstVal *reduction_identity(Arena *arena, CarriedKind kind, const Type *type);
static inline bool carried_has_result(const Carried *c) {
    return c->kind > CARRIED_SETTLED;
}

#endif
