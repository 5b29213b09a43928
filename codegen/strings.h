/* strings.h - objects of the class str, for those that make and read them outside of compiled code. */
#ifndef QUERN_STRINGS_H
#define QUERN_STRINGS_H

#include "codegen/artifact.h"

/* As ir_classes.def lays it out. */
typedef struct StrObject {
    ObjectHeader header;
    int64_t length, kind, hash;
    char *data;
    Owner *owner;
    int64_t nbytes, stride;
} StrObject;

/* With room for so many code points of `kind` bytes, which are the caller's to write; `cells`: of the class. NULL: no memory. */
StrObject *string_new(const CellLayout *cells, int64_t length, int64_t kind);
/* The object of a constant, given as UTF-8 (with lone surrogates as if they were characters). There is one for each text, and it
 * is never freed: other objects refer to it when the code is long gone. NULL: no memory. */
const StrObject *string_literal(Str text);

#endif
