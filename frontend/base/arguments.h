/* arguments.h - which argument each parameter gets: Python's rules, written once for calls from Python, for calls of
 * functions and named tuples inside compiled code, and for callables that the compiler knows by name. */
#ifndef QUERN_ARGUMENTS_H
#define QUERN_ARGUMENTS_H

#include "frontend/base/base.h"

/* Parameters in the order of Python's code objects; *args has no number here. */
typedef struct Params {
    int32_t npositional; /* may be given by position */
    int32_t nposonly;    /* of these: only so */
    int32_t nkwonly;     /* behind them: only by name */
    bool varargs;        /* takes further positional arguments */
} Params;

/* The arguments of a call: positional ones, then those with keywords. */
typedef struct Arguments {
    int32_t npositional, nkeywords;
    /* The first parameter from number `from` on with the name of keyword k; -1: there is none. */
    int32_t (*named)(const void *user, int32_t k, int32_t from);
    const void *user;
} Arguments;

typedef enum ArgumentError {
    ARGUMENTS_FIT,
    ARGUMENTS_TOO_MANY,   /* positional ones */
    ARGUMENTS_UNEXPECTED, /* a keyword that names no parameter */
    ARGUMENTS_TWICE       /* a keyword whose parameter has a value already */
} ArgumentError;

/* source[i] becomes the number of the argument that parameter i gets, or -1 where it is left out: whether it may be is
 * for the caller to know. *keyword is the one that does not fit. */
ArgumentError arguments_bind(const Params *params, const Arguments *args, int32_t *source,
                             int32_t *keyword);
/* What is wrong, to stand behind "f() ". `name`: of the keyword, or NULL. */
void arguments_error(char *text, size_t size, ArgumentError error, const Params *params,
                     const Arguments *args, const char *name);

#endif
