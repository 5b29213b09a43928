/* map.c - open addressing over an array of entries in insertion order. Nothing is ever deleted. */
#include "frontend/base/map.h"
#include "frontend/base/hash.h"

void map_init(Map *map, Arena *arena) {
    *map = (Map){.arena = arena};
}

static uint64_t hash_name(Str name) {
    uint64_t h = UINT64_C(0x9ae16a3b2f90404f) ^ (uint64_t)name.len;
    for (int32_t i = 0; i < name.len; i++)
        h = (h ^ (uint8_t)name.bytes[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return hash_mix(h);
}

/* The slot that holds the entry, or the free slot where it would go. */
static int32_t find_slot(const Map *map, uint64_t key, Str name) {
    uint32_t mask = (uint32_t)map->nslots - 1;
    for (uint32_t i = (uint32_t)hash_mix(key) & mask;; i = (i + 1) & mask) {
        int32_t at = map->slots[i];
        if (at == 0) return (int32_t)i;
        const MapEntry *e = &map->entries[at - 1];
        if (e->key != key || !e->name.bytes != !name.bytes) continue;
        if (!name.bytes || str_equal(e->name, name)) return (int32_t)i;
    }
}

static void rehash(Map *map) {
    int32_t nslots = map->nslots ? map->nslots * 2 : 16;
    map->slots = arena_array(map->arena, int32_t, nslots);
    map->nslots = nslots;
    for (int32_t i = 0; i < map->len; i++)
        map->slots[find_slot(map, map->entries[i].key, map->entries[i].name)] = i + 1;
}

static MapValue *find(const Map *map, uint64_t key, Str name) {
    if (map->len == 0) return NULL;
    int32_t at = map->slots[find_slot(map, key, name)];
    return at ? &map->entries[at - 1].value : NULL;
}

static MapValue *put(Map *map, uint64_t key, Str name) {
    if (map->len >= INT32_MAX / 4) arena_oom(map->arena);
    if (map->len * 4 >= map->nslots * 3) rehash(map);
    int32_t slot = find_slot(map, key, name);
    if (map->slots[slot] == 0) {
        if (map->len == map->cap) {
            int32_t cap = QN_MAX(map->cap * 2, 8);
            map->entries = arena_grow(map->arena, map->entries, sizeof(MapEntry) * (size_t)map->cap,
                                      sizeof(MapEntry) * (size_t)cap);
            map->cap = cap;
        }
        map->entries[map->len++] = (MapEntry){.key = key, .name = name};
        map->slots[slot] = map->len;
    }
    return &map->entries[map->slots[slot] - 1].value;
}

/* An empty name is still a name. */
static Str as_name(Str name) {
    return name.bytes ? name : STR("");
}

MapValue *map_find(const Map *map, uint64_t key) {
    return find(map, key, (Str){0});
}
MapValue *map_put(Map *map, uint64_t key) {
    return put(map, key, (Str){0});
}
MapValue *map_find_str(const Map *map, Str name) {
    return find(map, hash_name(name), as_name(name));
}
MapValue *map_put_str(Map *map, Str name) {
    return put(map, hash_name(name), as_name(name));
}
