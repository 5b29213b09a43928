/* ufunc_kernel.h - ENTRY_DEVICE_UFUNC: the kernel round a scalar function. */
#ifndef QUERN_UFUNC_KERNEL_H
#define QUERN_UFUNC_KERNEL_H

#include "codegen/codegen.h"

/* The module's entry becomes a kernel that takes one array for each parameter of the former entry and one
 * for its result. false: a diagnostic says why not. */
bool cg_make_ufunc_kernel(Module *module);

#endif
