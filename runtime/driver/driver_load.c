/* driver_load.c - opening a vendor's driver library, or saying why there is none.
 *
 * Looked for, in this order: what the variable names (an absolute path; then nothing else), the names as they may
 * already lie in the process (another package has opened one), the names by the loader's rules. */
#include "runtime/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void drv_set_function(void *to, void *from) {
    memcpy(to, &from, sizeof from);
}

static void *open_named(const DrvLoader *l, const char *path, RtError *err) {
    char answer[512];
    if (path[0] != '/') {
        rt_fail(err, RT_SUPPORT_ERROR, "%s must be an absolute path, not '%.400s'.",
                env_name(l->variable), path);
        return NULL;
    }
    void *library = os_lib_open(path, NULL, answer, sizeof answer);
    if (!library)
        rt_fail(err, RT_SUPPORT_ERROR, "The %s driver that %s names could not be opened: %s.",
                l->title, env_name(l->variable), answer);
    return library;
}

/* The loader says of a file that is not there only its name; what it says of one that is there tells more. */
static bool tells_more(const char *answer, const char *place) {
    return strncmp(answer, place, strlen(place)) != 0;
}

static void *open_any(const DrvLoader *l, RtError *err) {
    void *library = NULL;
    char said[512] = "", answer[512];
    for (int i = 0; i < l->nplaces && !library; i++)
        library = os_lib_loaded(l->places[i]);
    for (int i = 0; i < l->nplaces && !library; i++) {
        library = os_lib_open(l->places[i], NULL, answer, sizeof answer);
        if (!library &&
            (i == 0 || (tells_more(answer, l->places[i]) && !tells_more(said, l->places[0]))))
            memcpy(said, answer, sizeof said);
    }
    if (!library)
        rt_fail(err, RT_SUPPORT_ERROR, "No %s driver: %s; the loader answered: %s. %s", l->title,
                l->looked, said, l->advice);
    return library;
}

static void try_once(DrvLibrary *d, const DrvLoader *l) {
    const char *path = env_value(l->variable);
    d->tried = true;
    d->generation = rt_generation();
    rt_error_init(&d->failure);
    d->library = path ? open_named(l, path, &d->failure) : open_any(l, &d->failure);
    d->started = d->library && l->start(d, &d->failure);
}

bool drv_library(DrvLibrary *d, const DrvLoader *l, RtError *err) {
    if (!d->tried) try_once(d, l);
    if (!d->started) {
        if (!rt_failed(err)) *err = d->failure;
        return false;
    }
    if (d->generation == rt_generation()) return true;
    return rt_fail(err, RT_FORK_ERROR,
                   "This process was forked after its parent had started the %s driver, which does "
                   "not survive fork(). Use multiprocessing's start method 'spawn' or "
                   "'forkserver', or touch the device only in the children.",
                   l->title);
}
