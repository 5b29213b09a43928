/* libdevice.h - NVIDIA's library of mathematical functions as LLVM bitcode. */
#ifndef QUERN_LIBDEVICE_H
#define QUERN_LIBDEVICE_H

#include "codegen/llvm/cg.h"

/* Links what the module calls of it. When the library is needed and cannot be found: E0502, which names
 * every place tried. */
bool libdevice_link(Cg *cg);
/* Behind the passes: what fastmath allows and LLVM does not do by itself. */
void libdevice_finish(Cg *cg);

#endif
