/* ir_keep.h - typed functions that outlive their module, and what else is kept with them.
 *
 * A copy names nothing of the module it comes from: types are texts, functions are numbers. What a compilation alone knows of (Python
 * objects, arrays in place, nested classes) cannot be kept. */
#ifndef QUERN_IR_KEEP_H
#define QUERN_IR_KEEP_H

#include "frontend/ir/ir.h"

typedef struct KeptFuncs KeptFuncs;

/* May this function be kept? */
typedef bool (*KeepFilter)(void *user, const Func *func);
/* Copies of `root` and of all that it names, in `arena`, which must have a guard; never changed again. The functions get
 * numbers (Func.kept), which copies have, too. NULL: some of it cannot be kept. */
const KeptFuncs *ir_keep(Arena *arena, Func *root, KeepFilter may, void *user);
/* What a function shall be called that was called so. */
typedef Str (*KeptName)(void *user, Str name);
/* Puts the copies into a module, which borrows from them: they must outlive it. Gives the root. */
Func *ir_take_kept(Module *module, const KeptFuncs *kept, KeptName name, void *user);

/* The type's text, where that is all there is to it; else no bytes. */
Str ir_keep_type(Arena *arena, TypeTable *types, const Type *type);
const ConstVal *ir_keep_const(Arena *arena, const ConstVal *value); /* NULL: it cannot be kept */

#endif
