/* retype.h - for the passes `narrow` and `words`: values of a function get a narrower type. */
#ifndef QUERN_RETYPE_H
#define QUERN_RETYPE_H

#include "codegen/opt/pass.h"

typedef struct Retype {
    Func *func;
    const Type *to; /* of 32 bits */
    bool exact;     /* sums and products stay in it; else they are those of int64 modulo 2^32 */
    Bits values;    /* of i64, which become `to` */
    Bits compares;  /* whose operands are compared, or converted, as `to` */
    const Type *i64;
    int32_t n;            /* values there are */
    Ref *narrow, *widest; /* casts that there are */
} Retype;

void opt_retype_init(PassContext *ctx, Retype *r);
/* Casts stand behind the values where the two worlds meet. */
void opt_retype(Retype *r);

#endif
