/* folder.c - see folder.h. */
#include "frontend/base/folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY ".new-"
enum { STALE_SECONDS = 3600, MOST_NAME = 200 };

static atomic_int steps_left;
static atomic_bool steps_kill;

int folder_test(int n, bool kill) {
    atomic_store(&steps_kill, kill);
    return atomic_exchange(&steps_left, n);
}

/* Goes in front of a call of the system, as its failure would come. */
static bool step(void) {
    if (!atomic_load(&steps_left) || atomic_fetch_sub(&steps_left, 1) != 1) return true;
    if (atomic_load(&steps_kill)) raise(SIGKILL);
    errno = EIO;
    return false;
}

static bool fail(char *error, size_t size, const char *what, const char *name, const char *why) {
    snprintf(error, size, "%s %s: %s", what, name, why);
    return false;
}

/* -- the folder -------------------------------------------------------------------------------- */

/* Folders above are made as the umask says, the last one is the user's alone. */
static void make_folders(const char *path) {
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part) return;
    memcpy(part, path, n + 1);
    for (size_t i = 1; i < n; i++) {
        if (part[i] != '/') continue;
        part[i] = 0;
        mkdir(part, 0777);
        part[i] = '/';
    }
    mkdir(path, 0700);
}

bool folder_open(Folder *folder, const char *path, char *error, size_t error_size) {
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    folder->fd = step() ? open(path, FLAGS) : -1;
    if (folder->fd < 0 && errno == ENOENT) {
        make_folders(path);
        folder->fd = open(path, FLAGS);
    }
    if (folder->fd < 0) {
        const char *why =
            errno == ELOOP || errno == ENOTDIR ? "it is a link, or no folder" : strerror(errno);
        return fail(error, error_size, "cannot open", path, why);
    }
    struct stat s;
    const char *wrong = NULL;
    if (!step() || fstat(folder->fd, &s) != 0)
        wrong = strerror(errno);
    else if (s.st_uid != geteuid())
        wrong = "it belongs to another user";
    else if (s.st_mode & (S_IWGRP | S_IWOTH))
        wrong = "other users may write to it";
    if (!wrong) return true;
    folder_close(folder);
    return fail(error, error_size, "will not use", path, wrong);
}

void folder_close(Folder *folder) {
    if (folder->fd >= 0) close(folder->fd);
    folder->fd = -1;
}

/* -- files ------------------------------------------------------------------------------------- */

static bool read_all(int fd, char *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = step() ? read(fd, bytes + done, size - done) : -1;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const char *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = step() ? write(fd, bytes + done, size - done) : -1;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        done += (size_t)n;
    }
    return true;
}

bool folder_read(const Folder *folder, const char *name, Str *out) {
    enum { FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
    int fd = step() ? openat(folder->fd, name, FLAGS) : -1;
    if (fd < 0) return false;
    struct stat s;
    bool ok = step() && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
              s.st_size >= 0 && s.st_size < INT32_MAX;
    size_t size = ok ? (size_t)s.st_size : 0;
    char *bytes = ok ? malloc(size + 1) : NULL;
    ok = bytes && read_all(fd, bytes, size);
    if (ok) futimens(fd, NULL); /* a folder that cannot be written to: its files do not age */
    close(fd);
    if (!ok) {
        free(bytes);
        return false;
    }
    bytes[size] = 0;
    *out = (Str){bytes, (int32_t)size};
    return true;
}

bool folder_write(const Folder *folder, const char *name, const void *bytes, size_t size,
                  char *error, size_t error_size) {
    char temporary[80];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* no other thread has a variable there */
    snprintf(temporary, sizeof temporary, TEMPORARY "%ld-%ld%09ld-%lx", (long)getpid(),
             (long)now.tv_sec, now.tv_nsec, (unsigned long)(uintptr_t)&now);
    enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC };
    int fd = step() ? openat(folder->fd, temporary, FLAGS, S_IRUSR | S_IWUSR) : -1;
    if (fd < 0) return fail(error, error_size, "cannot write", name, strerror(errno));
    bool ok = write_all(fd, bytes, size / 2) &&
              write_all(fd, (const char *)bytes + size / 2, size - size / 2);
    int why = errno;
    bool closed = step();
    closed = close(fd) == 0 && closed;
    if (!closed && ok) ok = false, why = errno;
    if (ok && (!step() || renameat(folder->fd, temporary, folder->fd, name) != 0))
        ok = false, why = errno;
    if (!ok) unlinkat(folder->fd, temporary, 0);
    return ok || fail(error, error_size, "cannot write", name, strerror(why));
}

/* -- size -------------------------------------------------------------------------------------- */

typedef struct Kept {
    char name[MOST_NAME];
    uint64_t size;
    struct timespec used;
} Kept;

static int older_first(const void *a, const void *b) {
    const struct timespec *x = &((const Kept *)a)->used, *y = &((const Kept *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool folder_remove(const Folder *folder, const char *name) {
    return unlinkat(folder->fd, name, 0) == 0;
}

/* Is it the rest of a writer that was killed? Then it goes. */
static bool clear_stale(const Folder *folder, const char *name, const struct stat *s) {
    if (strncmp(name, TEMPORARY, sizeof TEMPORARY - 1) != 0) return false;
    if (time(NULL) - s->st_mtim.tv_sec > STALE_SECONDS) folder_remove(folder, name);
    return true;
}

/* The plain files, in memory of malloc. */
static Kept *list_files(const Folder *folder, DIR *dir, size_t *count, uint64_t *total) {
    Kept *files = NULL;
    size_t n = 0, room = 0;
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat s;
        if (strlen(d->d_name) >= MOST_NAME ||
            fstatat(folder->fd, d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode) ||
            clear_stale(folder, d->d_name, &s))
            continue;
        if (n == room) {
            Kept *more = realloc(files, sizeof *files * (room = room ? room * 2 : 64));
            if (!more) break;
            files = more;
        }
        strcpy(files[n].name, d->d_name);
        files[n].size = (uint64_t)s.st_size;
        files[n].used = s.st_mtim;
        *total += files[n++].size;
    }
    *count = n;
    return files;
}

void folder_shrink(const Folder *folder, uint64_t most) {
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0) close(fd);
        return;
    }
    size_t n = 0;
    uint64_t total = 0;
    Kept *files = list_files(folder, dir, &n, &total);
    closedir(dir);
    if (total > most) {
        qsort(files, n, sizeof *files, older_first);
        for (size_t i = 0; i < n && total > most / 4 * 3; i++)
            if (folder_remove(folder, files[i].name)) total -= files[i].size;
    }
    free(files);
}
