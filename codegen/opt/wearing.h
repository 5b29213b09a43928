/* wearing.h - for the pass `loops`: loops that wear a number out. */
#ifndef QUERN_WEARING_H
#define QUERN_WEARING_H

#include "codegen/opt/pass.h"

/* The most rounds of such a loop: a bit is lost in each, and one may be begun with none left. */
enum { WORN_OUT = 65 };

/* Does each round take at least one bit from a number, and does the loop end where none is left? */
bool opt_wears_out(const Func *func, const Cfg *cfg, int32_t loop);

#endif
