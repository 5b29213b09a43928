/* vec.h - growable arrays in an arena: Vec(T) is a struct { T *items; int len, cap; }. */
#ifndef QUERN_VEC_H
#define QUERN_VEC_H

#include "frontend/base/arena.h"

#define Vec(T)                                                                                     \
    struct {                                                                                       \
        T *items;                                                                                  \
        int32_t len, cap;                                                                          \
    }

#define vec_push(arena, v, value)                                                                  \
    do {                                                                                           \
        vec_reserve(arena, v, (v)->len + 1);                                                       \
        (v)->items[(v)->len++] = (value);                                                          \
    } while (0)

#define vec_reserve(arena, v, n)                                                                   \
    ((n) > (v)->cap                                                                                \
         ? (void)((v)->items = vec_grow_((arena), (v)->items, &(v)->cap, (n), sizeof *(v)->items)) \
         : (void)0)

/* Set the length; new items are zero. */
#define vec_resize(arena, v, n)                                                                    \
    do {                                                                                           \
        int32_t vec_n_ = (n);                                                                      \
        vec_reserve(arena, v, vec_n_);                                                             \
        if (vec_n_ > (v)->len)                                                                     \
            memset((v)->items + (v)->len, 0, sizeof *(v)->items * (size_t)(vec_n_ - (v)->len));    \
        (v)->len = vec_n_;                                                                         \
    } while (0)

#define vec_last(v) ((v)->items[(v)->len - 1])
#define vec_pop(v)  ((v)->items[--(v)->len])

void *vec_grow_(Arena *arena, void *items, int32_t *cap, int32_t need, size_t item_size);

#endif
