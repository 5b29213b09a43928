/* appends.h - for the pass `loops`: lists that a loop appends to get room for a strip of rounds at once. */
#ifndef QUERN_APPENDS_H
#define QUERN_APPENDS_H

#include "codegen/opt/divisors.h"

typedef struct Appends Appends;
/* Before the loop is strip-mined; NULL: it appends nothing, or not in each round, or does something else to those lists. The answer
 * borrows func and cfg. */
Appends *opt_appends(PassContext *ctx, Func *func, const Cfg *cfg, int32_t loop);
/* Afterwards: makes room in the strip, and takes out the tests. */
void opt_make_room(Appends *appends, const Strip *strip);

#endif
