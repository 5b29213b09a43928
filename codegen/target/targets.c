/* targets.c - the targets of this build. */
#include "codegen/target/targets.h"

const Target *tg_target(TargetKind kind) {
    static const Target *const all[TARGET_COUNT] = {
        [TARGET_CPU] = &target_cpu,
        [TARGET_NVPTX] = &target_nvptx,
        [TARGET_AMDGPU] = &target_amdgpu,
    };
    return (int)kind >= 0 && kind < TARGET_COUNT ? all[kind] : NULL;
}
