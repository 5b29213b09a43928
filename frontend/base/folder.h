/* folder.h - a private folder of files that replace each other whole: the disk cache.
 *
 * It belongs to the user alone and is no link, or it is not used. Files are written under another name and renamed, so
 * that readers see the old one or the new one; what a writer that was killed left behind is cleared later. */
#ifndef QUERN_FOLDER_H
#define QUERN_FOLDER_H

#include "frontend/base/str.h"

typedef struct Folder {
    int fd; /* -1: not open */
} Folder;

/* Makes it, and the folders above it, where it is not there (mode 0700). false: `error` says why, with the path. */
bool folder_open(Folder *folder, const char *path, char *error, size_t error_size);
void folder_close(Folder *folder);

/* The whole file, NUL-terminated, for free(); its time of last use becomes now. false: it is not there, is no plain file
 * of the user's, or cannot be read. */
bool folder_read(const Folder *folder, const char *name, Str *out);
/* false: `error` says why, and the old file stays. */
bool folder_write(const Folder *folder, const char *name, const void *bytes, size_t size,
                  char *error, size_t error_size);
/* Test aid: from now on the n-th step of opening, reading and writing (a call of the system each) fails, or kills the process; 0: none does.
 * How many steps were left of the n before. */
int folder_test(int n, bool kill);
/* Where the files take more than `most` bytes together, the least recently used go until three quarters are left. */
void folder_shrink(const Folder *folder, uint64_t most);

#endif
