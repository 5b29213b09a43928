/* effects.h - what a loop may do to objects that come from outside of it.
 *
 * A field is changed by set_field and grow, here or in what is called, of an object that may be the same: two that were made at different
 * places are not, and none that was made here is an argument. Elements never lie where fields do.
 *
 * Handlers of generators may run wherever one goes, so that what has a value that may lead to one may do anything. Handlers of signals change no
 * object that compiled code has (pymodule/shared.c). */
#ifndef QUERN_EFFECTS_H
#define QUERN_EFFECTS_H

#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

/* A field that something may change. */
typedef struct Change {
    const Type *object;
    int32_t field;
    Ref base; /* whose; of what a callee does: its parameter of that number + 1, NO_REF: of any */
} Change;

typedef struct Effects {
    bool all;   /* it may do anything to any object */
    bool drops; /* it may give back references that lie in memory */
    Vec(Change) changes;
} Effects;

typedef struct EffectsOf {
    const Func *func;
    Arena *arena;
    const Cfg *cfg;
    int32_t loop;
    Map effects; /* Func -> Effects */
    Map fresh;   /* Func -> does it return an object that it has made? 1 no, 2 yes */
    Map frames;  /* Type -> may it lead to the frame of a generator? 1 no, 2 yes */
} EffectsOf;

EffectsOf effects_new(Arena *arena, const Func *func, const Cfg *cfg);
/* Of one instruction of any function. */
void effects_add(EffectsOf *f, const Func *func, Ref ref, Effects *out);
/* Of the loop, without the instructions in `except` (may be NULL). */
void effects_of_loop(EffectsOf *f, const Bits *except, Effects *out);
/* May they change the field of an object that comes from outside the loop? */
bool effects_change(EffectsOf *f, const Effects *effects, Ref object, int64_t field);
/* May objects of these types be one? */
bool effects_types_meet(const Type *a, const Type *b);
/* Is the value an object for certain, and not an empty place of one? Then it can be read where nothing has asked. */
bool effects_object_is_there(const Func *func, Ref object);

#endif
