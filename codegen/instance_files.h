/* instance_files.h - instances on disk, a file each: what functions with cache=True call is not compiled again for the next program.
 *
 * An instance is found by its key, which whoever lowers the function knows before LLVM is at work. So a function of the library that any
 * cached function has called costs inference and lowering alone. */
#ifndef QUERN_INSTANCE_FILES_H
#define QUERN_INSTANCE_FILES_H

#include "codegen/store.h"
#include "frontend/base/folder.h"

#define INSTANCE_MAGIC "QUERN i2"

typedef struct InstanceFiles {
    const char *folder; /* its path */
    Hash128
        environment; /* all that machine code depends on beside the key: this build, the processor */
} InstanceFiles;

/* Makes an instance that the caller has claimed. `needs`: what it calls. `arena`: for what is needed in between. false: there is no file that
 * fits, and the instance is claimed as before. */
bool instance_files_find(const InstanceFiles *files, Arena *arena, Instance *claimed,
                         Instance *const *needs, int32_t nneeds);
/* Writes those that an artifact calls and that are not there; store_prepare was called on it (store.h). What cannot be written is left out. */
void instance_files_keep(const InstanceFiles *files, const Folder *folder, Arena *arena,
                         const Artifact *artifact);
/* What a file holds, behind a head that store_open has read: the name of the function. Empty: c->why. */
Str instance_files_look(Codec *c);

#endif
