/* abi.h - where everything lies at the boundary of compiled code: layouts of values, fields of the call
 * context, and what a kernel does with its array arguments. */
#ifndef QUERN_ABI_H
#define QUERN_ABI_H

#include "codegen/codegen.h"

/* Generated code addresses these fields by position. */
_Static_assert(offsetof(CallContext, site) == 4 && offsetof(CallContext, id) == 8 &&
                   offsetof(CallContext, cause) == 24 && offsetof(CallContext, suppressed) == 32 &&
                   offsetof(CallContext, ncallers) == 36 && offsetof(CallContext, callers) == 40 &&
                   offsetof(CallContext, exception_class) == 40 + 4 * CALL_MAX_CALLERS &&
                   offsetof(CallContext, text_args) % 8 == 0 &&
                   offsetof(CallContext, text_args) - offsetof(CallContext, exception_class) <= 8 &&
                   offsetof(CallContext, args) == offsetof(CallContext, text_args) + 8,
               "the exception of the context");
_Static_assert(offsetof(CallContext, stack_limit) == sizeof(Raised) &&
                   offsetof(CallContext, poll) == sizeof(Raised) + 8 &&
                   offsetof(CallContext, user) == sizeof(Raised) + 16 &&
                   offsetof(CallContext, budget) == sizeof(Raised) + 24,
               "the context behind it");
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
