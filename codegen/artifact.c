/* artifact.c - the life of an artifact: counted, then gone with its machine code and its arena. */
#include "codegen/artifact.h"
#include <stdlib.h>

typedef struct NewArtifact {
    Arena arena;
    Artifact *artifact;
} NewArtifact;

static void allocate_artifact(void *user) {
    NewArtifact *made = user;
    made->artifact = arena_new(&made->arena, Artifact);
}

Artifact *artifact_new(const Allocator *allocator) {
    NewArtifact made = {.artifact = NULL};
    arena_init(&made.arena, allocator);
    if (!arena_guard(&made.arena, allocate_artifact, &made)) {
        arena_free(&made.arena);
        return NULL;
    }
    made.artifact->arena = made.arena;
    atomic_init(&made.artifact->refs, 1);
    return made.artifact;
}

void artifact_retain(Artifact *artifact) {
    atomic_fetch_add_explicit(&artifact->refs, 1, memory_order_relaxed);
}

void artifact_release(Artifact *artifact) {
    if (!artifact || atomic_fetch_sub_explicit(&artifact->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (artifact->host_code) artifact->drop(artifact->host_code);
    Arena arena = artifact->arena; /* the artifact lies in it */
    arena_free(&arena);
}

static void name_exceptions(ValueLayout *layout, Artifact *artifact) {
    if (layout->kind == TY_CLASS && layout->element == CLS_exception) layout->artifact = artifact;
    for (int32_t i = 0; i < layout->nitems; i++)
        name_exceptions((ValueLayout *)&layout->items[i], artifact);
}

void artifact_name_exceptions(Artifact *artifact) {
    name_exceptions(&artifact->result, artifact);
    if (artifact->resumes) name_exceptions(&artifact->resumed, artifact);
}
