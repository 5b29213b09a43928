/* map.h - hash maps in an arena, from 64-bit keys or from strings to pointers or integers.
 *
 * Iteration order is insertion order (dumps must not depend on hash values). */
#ifndef QUERN_MAP_H
#define QUERN_MAP_H

#include "frontend/base/str.h"

typedef union MapValue {
    void *ptr;
    int64_t num;
} MapValue;

typedef struct MapEntry {
    uint64_t key; /* the key, or the hash of `name` */
    Str name;     /* bytes == NULL in integer maps */
    MapValue value;
} MapEntry;

typedef struct Map {
    Arena *arena;
    MapEntry *entries; /* in insertion order, `len` of them */
    int32_t *slots;    /* open addressing, index + 1, 0 = free */
    int32_t len, cap, nslots;
} Map;

void map_init(Map *map, Arena *arena);
/* NULL when absent. Pointers stay valid until the next insertion. */
MapValue *map_find(const Map *map, uint64_t key);
/* Inserts a zero value when absent. */
MapValue *map_put(Map *map, uint64_t key);
MapValue *map_find_str(const Map *map, Str name);
MapValue *map_put_str(Map *map, Str name);

static inline uint64_t map_key(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

#endif
