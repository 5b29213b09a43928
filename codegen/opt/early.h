/* early.h - for the pass `loops`: polls in front of the tests that end a round. */
#ifndef QUERN_EARLY_H
#define QUERN_EARLY_H

#include "codegen/opt/pass.h"

/* Moves the poll of the loop's way back, where the tests in front of it load what the next round may want, too. */
void opt_poll_early(Func *func, const Cfg *cfg, int32_t loop);

#endif
