/* targets.h - one constant for each target; targets.c collects them. */
#ifndef QUERN_TARGETS_H
#define QUERN_TARGETS_H

#include "codegen/target.h"

extern const Target target_cpu;
extern const Target target_nvptx;
extern const Target target_amdgpu;

#endif
