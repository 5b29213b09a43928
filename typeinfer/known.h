/* known.h - functions of quern/library that were inferred before in this process: private to typeinfer.
 *
 * A program's second caller of `np.sort` gets the typed functions that the first one's compilation has made of it. The key has all
 * that inference asks for: which function, the types of its arguments and the constants among them, the options, and how many
 * implementations libraries have registered (quern.extending). What the library itself is made of never changes in a process. */
#ifndef QUERN_KNOWN_H
#define QUERN_KNOWN_H

#include "frontend/ir/ir_keep.h"
#include "typeinfer/infer.h"

typedef struct Known Known;

/* Looks for a new instance among those that are known, and settles it if it is there. Otherwise notes what it is to be kept as. */
bool known_settle(Infer *in, Instance *callee);
/* The typed functions of an instance that was settled so. */
Func *known_typed(Ti *ti, Instance *inst);
/* When all is typed: keeps what was noted. */
void known_keep_all(Ti *ti);
/* What such an instance raises is not told: where a handler asks, all is inferred again without them. */
void known_give_up(Ti *ti);

#endif
