/* machine.c - target machines outlive compilations.
 *
 * A target machine and the subtarget it makes on first use cost as much as optimising a small loop, and
 * depend on nothing but the key. Only the code-generation worker comes here. A compilation owns what it
 * takes until it gives it back, so a machine that a fatal error caught half way is never used again. */
#include "codegen/llvm/cg.h"
#include <stdlib.h>

enum { KEPT = 4 };

typedef struct Kept {
    char *key;
    LLVMTargetMachineRef machine;
} Kept;

static Kept kept[KEPT];

LLVMTargetMachineRef cg_machine_take(Cg *cg, const char *key) {
    cg->machine_key = key;
    for (int i = 0; i < KEPT; i++) {
        if (!kept[i].machine || strcmp(kept[i].key, key) != 0) continue;
        LLVMTargetMachineRef machine = kept[i].machine;
        kept[i].machine = NULL;
        return machine;
    }
    return NULL;
}

/* Into an empty place, or in the place of the one given back longest ago. */
void cg_machine_give(Cg *cg) {
    size_t size = cg->machine_key ? strlen(cg->machine_key) + 1 : 0;
    char *key = size && !cg->failed ? malloc(size) : NULL;
    if (!key) {
        LLVMDisposeTargetMachine(cg->machine);
        return;
    }
    memcpy(key, cg->machine_key, size);
    int at = 0;
    while (at < KEPT - 1 && kept[at].machine)
        at++;
    if (kept[at].machine) LLVMDisposeTargetMachine(kept[at].machine);
    free(kept[at].key);
    memmove(kept + 1, kept, sizeof *kept * (size_t)at);
    kept[0] = (Kept){key, cg->machine};
}
