/* wearing.h - for the pass `loops`: loops that wear a number out. */
#ifndef QUERN_WEARING_H
#define QUERN_WEARING_H

#include "codegen/opt/pass.h"

/* More rounds than such a loop has: a bit is lost in each, and one may be begun with none left; Euclid's has up to 95. */
enum { WORN_OUT = 96 };

/* Does each round bring a number that much nearer to zero, and does the loop end there? */
bool opt_wears_out(const Func *func, const Cfg *cfg, int32_t loop);

#endif
