/* Objects behind handles. */
#include "fc.h"

#include <stdlib.h>

/* Not a canonical address: a program that looks behind a handle is stopped at once. */
#define HANDLE_TAG UINT64_C(0x5ac0000000000000)

FcObject *fc_object_new(FcKind kind, FcObject *context) {
    FcDriver *d = fc_driver();
    if (d->nobjects == d->cap_objects) {
        uint32_t cap = d->cap_objects ? d->cap_objects * 2 : 64;
        FcObject **bigger = realloc(d->objects, cap * sizeof *bigger);
        if (!bigger) return NULL;
        d->objects = bigger;
        d->cap_objects = cap;
    }
    FcObject *object = calloc(1, sizeof *object);
    if (!object) return NULL;
    object->kind = kind;
    object->alive = true;
    object->context = context;
    object->index = d->nobjects;
    d->objects[d->nobjects++] = object;
    return object;
}

void *fc_handle(const FcObject *object) {
    if (!object) return NULL;
    uint64_t number =
        HANDLE_TAG | (uint64_t)object->kind << 40 | (uint64_t)(object->index + 1) << 4;
    return (void *)(uintptr_t)number;
}

FcObject *fc_object(const void *handle, FcKind kind) {
    const FcDriver *d = fc_driver();
    uint64_t number = (uintptr_t)handle, index = (number >> 4 & UINT32_MAX) - 1;
    if ((number & ~UINT64_C(0xfffffffff)) != (HANDLE_TAG | (uint64_t)kind << 40)) return NULL;
    if (index >= d->nobjects || !d->objects[index]->alive) return NULL;
    return d->objects[index];
}

void fc_object_end(FcObject *object) {
    if (!object->alive) return;
    object->alive = false;
    if (object->kind == FK_graph || object->kind == FK_graph_exec) fc_graph_end(object);
    if (object->kind != FK_module) return;
    const FcDriver *d = fc_driver();
    for (uint32_t i = 0; i < d->nobjects; i++)
        if (d->objects[i]->kind == FK_function && d->objects[i]->fn.module == object)
            d->objects[i]->alive = false;
    fc_allocs_end(NULL, object);
    ptx_module_free(object->mod.ptx);
    object->mod.ptx = NULL;
}

/* Ends everything that lives in a context, or simply everything. */
void fc_objects_end(const FcObject *context) {
    const FcDriver *d = fc_driver();
    for (uint32_t i = 0; i < d->nobjects; i++)
        if (!context || d->objects[i]->context == context) fc_object_end(d->objects[i]);
}
