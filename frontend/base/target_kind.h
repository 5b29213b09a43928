/* target_kind.h - what code is compiled for. Facts about targets are asked for, kinds are not compared: codegen/target.h. */
#ifndef QUERN_TARGET_KIND_H
#define QUERN_TARGET_KIND_H

#include "frontend/base/base.h"

typedef enum TargetKind { TARGET_CPU, TARGET_NVPTX, TARGET_AMDGPU, TARGET_COUNT } TargetKind;

/* Is its code called in this process? Kernels of the cpu device are. */
static inline bool target_is_host(TargetKind target) {
    return target == TARGET_CPU;
}

/* Does each lane of its waves count loops for itself, at no price? Where one counter for all of them is cheaper, it should stay one. */
static inline bool target_counts_by_lane(TargetKind target) {
    return target == TARGET_NVPTX;
}

/* In messages. */
static inline const char *target_text(TargetKind target) {
    static const char *const texts[] = {"on the CPU", "on the target cuda", "on the target hip"};
    return texts[target];
}

#endif
