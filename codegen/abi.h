/* abi.h - where everything lies at the boundary of compiled code: layouts of values, fields of the call
 * context, and what a kernel does with its array arguments. */
#ifndef QUERN_ABI_H
#define QUERN_ABI_H

#include "codegen/codegen.h"

/* Generated code addresses these fields by position. */
_Static_assert(offsetof(CallContext, exception) == 0, "context field 0");
_Static_assert(offsetof(CallContext, site) == 4, "context field 1");
_Static_assert(offsetof(CallContext, args) == 8, "context field 2");
_Static_assert(offsetof(CallContext, stack_limit) == 8 + 8 * CALL_MAX_ARGS, "context field 3");
_Static_assert(offsetof(CallContext, poll) == 16 + 8 * CALL_MAX_ARGS, "context field 4");
_Static_assert(offsetof(CallContext, user) == 24 + 8 * CALL_MAX_ARGS, "context field 5");
_Static_assert(offsetof(CallContext, budget) == 32 + 8 * CALL_MAX_ARGS, "context field 6");
_Static_assert(offsetof(CallContext, ncallers) == 40 + 8 * CALL_MAX_ARGS, "context field 7");
_Static_assert(offsetof(CallContext, callers) == 44 + 8 * CALL_MAX_ARGS, "context field 8");
_Static_assert(offsetof(CallContext, exception_class) ==
                   44 + 8 * CALL_MAX_ARGS + 4 * CALL_MAX_CALLERS,
               "context field 9");
_Static_assert(offsetof(CallContext, thread) == offsetof(CallContext, block) + 12,
               "written by target_cpu.c");
_Static_assert(offsetof(ArrayValue, owner) == 8 && offsetof(ArrayValue, dims) == 16, "array value");
_Static_assert(offsetof(KernelGrid, block) == 12 && offsetof(KernelGrid, first) == 24 &&
                   offsetof(KernelGrid, shared) == 40 && offsetof(KernelGrid, dynamic_shared) == 48,
               "kernel grid");

/* Layout of `type`; items, fields and class in `arena`. `weak` (same shape, may be NULL) is the type
 * before specialisation: it tells which parts are Python numbers. */
ValueLayout abi_layout(Arena *arena, const Type *type, const Type *weak);

/* ARG_READ | ARG_WRITTEN of every array among the entry's parameters, in order, those of tuples too: elements that
 * loads, stores and atomics reach through views, phis, tuples and calls. Conservative. Goes into the layouts of the
 * arrays as well, and together into `usage`, one for each parameter (with ARG_SMALL). */
uint8_t *abi_usage(Arena *arena, const Module *module, ValueLayout *params, uint8_t *usage);

#endif
