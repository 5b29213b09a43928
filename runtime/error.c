/* error.c - filling an RtError: the first failure wins, later ones change nothing. */
#include "runtime/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rt_error_init(RtError *err) {
    err->cls = RT_OK;
    err->code = 0;
    err->name[0] = err->call[0] = err->text[0] = '\0';
    err->launch.known = err->has_thread = false;
    err->artifact = NULL;
}

bool rt_fail(RtError *err, RtErrorClass cls, const char *format, ...) {
    if (rt_failed(err)) return false;
    err->cls = cls;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool rt_fail_memory(RtError *err, const char *what, int64_t bytes) {
    return rt_fail(err, RT_MEMORY_ERROR, "out of host memory: %lld bytes for %s", (long long)bytes,
                   what);
}

void rt_note(RtError *err, const char *format, ...) {
    size_t used = strlen(err->text);
    if (!rt_failed(err) || used + 2 >= sizeof err->text) return;
    if (used && err->text[used - 1] != '\n') err->text[used++] = ' ';
    va_list args;
    va_start(args, format);
    vsnprintf(err->text + used, sizeof err->text - used, format, args);
    va_end(args);
}

void rt_error_driver(RtError *err, int32_t code, const char *name, const char *call) {
    err->code = code;
    snprintf(err->name, sizeof err->name, "%s", name);
    snprintf(err->call, sizeof err->call, "%s", call);
}

void rt_error_launch(RtError *err, const RtLaunchSite *launch) {
    if (rt_failed(err) && !err->launch.known) err->launch = *launch;
}
