/* sig.h - matching the signatures of library rows (the little language of lowering.h). */
#ifndef QUERN_SIG_H
#define QUERN_SIG_H

#include "typeinfer/lowering.h"
#include "typeinfer/typeinfer.h"

/* Matches argument types with a row's signature. On success fills params and result of `out` (the
 * result is NULL for `any`) and `fit`. `strong_numbers`: operators are typed as Numba's. */
bool sig_match(TypeTable *types, const LibRow *row, const Type *const *args, int32_t nargs,
               bool strong_numbers, LibMatch *out, Fit *fit);
/* NULL, or what is wrong with the text of a signature: for tests of the tables. */
const char *sig_check(const char *signature);
/* Parameter `index` is marked `lit`. */
bool sig_is_literal(const char *signature, int32_t index);

#endif
