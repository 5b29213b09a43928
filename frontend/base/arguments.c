/* arguments.c - which argument each parameter gets: see arguments.h. */
#include "frontend/base/arguments.h"
#include <stdio.h>

ArgumentError arguments_bind(const Params *params, const Arguments *args, int32_t *source,
                             int32_t *keyword) {
    int32_t n = params->npositional + params->nkwonly;
    *keyword = -1;
    if (args->npositional > params->npositional && !params->varargs) return ARGUMENTS_TOO_MANY;
    for (int32_t i = 0; i < n; i++)
        source[i] = i < params->npositional && i < args->npositional ? i : -1;
    for (int32_t k = 0; k < args->nkeywords; k++) {
        int32_t i = args->named(args->user, k, params->nposonly);
        *keyword = k;
        if (i < 0) return ARGUMENTS_UNEXPECTED;
        if (source[i] >= 0) return ARGUMENTS_TWICE;
        source[i] = args->npositional + k;
    }
    return ARGUMENTS_FIT;
}

void arguments_error(char *text, size_t size, ArgumentError error, const Params *params,
                     const Arguments *args, const char *name) {
    int32_t takes = params->npositional, given = args->npositional;
    switch (error) {
    case ARGUMENTS_FIT: text[0] = 0; break;
    case ARGUMENTS_TOO_MANY:
        snprintf(text, size, "takes %d positional argument%s but %d %s given", (int)takes,
                 takes == 1 ? "" : "s", (int)given, given == 1 ? "was" : "were");
        break;
    case ARGUMENTS_UNEXPECTED:
        snprintf(text, size, "got an unexpected keyword argument '%s'", name);
        break;
    case ARGUMENTS_TWICE:
        snprintf(text, size, "got multiple values for argument '%s'", name);
        break;
    }
}
