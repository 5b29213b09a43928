/* raised.h - what compiled code has raised, in words: for whoever makes exceptions of it, in Python or in C. */
#ifndef QUERN_RAISED_H
#define QUERN_RAISED_H

#include "codegen/artifact.h"

/* What the numbers in a Raised mean. */
typedef struct RaiseTables {
    int32_t nraises, nsites;
    const RaiseInfo *raises;
    const CodeSite *sites;
} RaiseTables;

static inline RaiseTables raise_tables(const Artifact *artifact) {
    return (RaiseTables){artifact->nraises, artifact->nsites, artifact->raises, artifact->sites};
}

/* The statement that raised it; NULL: a guard did. */
const RaiseInfo *raised_by(const RaiseTables *tables, const Raised *raised);
/* The name of the class of what a guard raised, and its text, cut off where there is no more room. */
const char *raised_guard(const RaiseTables *tables, const Raised *raised, char *text, size_t size);

/* Arguments of a raise statement, one behind the other: where they are read, and the next of their bits. */
typedef struct RaisedArgs {
    const uint8_t *kinds, *end;
    const int64_t *bits, *last;
} RaisedArgs;
RaisedArgs raised_args(const RaiseInfo *by, const Raised *raised);
/* TY_TUPLE: `n` arguments of its own follow. TY_none: there is none left, too. */
TypeKind raised_next(RaisedArgs *args, int64_t bits[2], int32_t *n);
double raised_double(TypeKind kind, int64_t bits);
int64_t raised_int(TypeKind kind, int64_t bits); /* u64: the bits */

/* For programs in C: a context whose handlers read exceptions by these tables, which outlive the call. */
void quern_begin_for_c(CallContext *ctx, const RaiseTables *tables);
/* "ValueError: why". */
void quern_say_raised(const RaiseTables *tables, const Raised *raised, char *text, size_t size);
/* What PendingHandler.read gives of it. false: it is of another kind or number, an attribute, or there is no memory. */
bool raised_read(const RaiseTables *tables, const Raised *raised, const ExceptionPart *part,
                 void *out);

#endif
