/* object_layouts.c - where objects and buffers hold what is counted, each layout once in the process: see objects.h. */
#include "codegen/objects.h"
#include "codegen/support.h"
#include <stdlib.h>

/* Process-wide on purpose: objects outlive compilations. */
static _Atomic(CellLayout *) layouts; /* only ever longer: no lock that a fork could leave locked */

static const CellLayout *find_layout(const CellLayout *first, const CellLayout *wanted) {
    for (const CellLayout *l = first; l; l = l->next)
        if (l->first == wanted->first && l->size == wanted->size && l->n == wanted->n &&
            !memcmp(l->offsets, wanted->offsets, sizeof *l->offsets * (size_t)l->n))
            return l;
    return NULL;
}

/* Takes over `made`. */
static const CellLayout *enter_layout(CellLayout *made) {
    CellLayout *first = atomic_load(&layouts);
    do {
        const CellLayout *known = find_layout(first, made);
        if (known) {
            free(made);
            return known;
        }
        made->next = first;
    } while (!atomic_compare_exchange_weak(&layouts, &first, made));
    return made;
}

static CellLayout *new_layout(int64_t first, int64_t size, int32_t n) {
    CellLayout *made = malloc(sizeof *made + sizeof *made->offsets * (size_t)n);
    if (made) *made = (CellLayout){.first = first, .size = size, .n = n};
    return made;
}

const CellLayout *object_cells(const Type *cls) {
    int32_t n = 0;
    for (int32_t i = 0; i < cls->nitems; i++)
        n += type_owners(cls->items[i], 0, NULL);
    CellLayout *made = new_layout(0, cls->object_size, n);
    if (!made) return NULL;
    n = 0;
    for (int32_t i = 0; i < cls->nitems; i++)
        n += type_owners(cls->items[i], cls->offsets[i], made->offsets + n);
    return enter_layout(made);
}

const CellLayout *buffer_cells(const Type *element) {
    CellLayout *made =
        new_layout(SUPPORT_ARRAY_HEADER, type_size(element), type_owners(element, 0, NULL));
    if (!made) return NULL;
    type_owners(element, 0, made->offsets);
    return enter_layout(made);
}

const CellLayout *known_cells(const CellLayout *shape, const int64_t *offsets) {
    CellLayout *made = new_layout(shape->first, shape->size, shape->n);
    if (!made) return NULL;
    memcpy(made->offsets, offsets, sizeof *offsets * (size_t)shape->n);
    return enter_layout(made);
}
