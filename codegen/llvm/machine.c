/* machine.c - target machines and what is known of the host outlive compilations.
 *
 * A target machine and the subtarget it makes on first use cost as much as optimising a small loop, and
 * depend on nothing but the key. They lie in the state that the worker has, which no other thread uses meanwhile. A compilation owns what it
 * takes until it gives it back, so a machine that a fatal error caught half way is never used again. */
#include "codegen/llvm/cg.h"
#include <stdlib.h>
#include <string.h>

/* AMD's processors load the elements of a gather one by one, and take twice as long for it as for loads of numbers: LLVM's
 * tables do not say so. */
static char *without_gather(char *features) {
    static const char more[] = ",+prefer-no-gather";
    size_t n = strlen(features);
    char *all = malloc(n + sizeof more);
    if (!all) return features;
    memcpy(all, features, n);
    memcpy(all + n, more, sizeof more);
    LLVMDisposeMessage(features);
    return all;
}

/* Asking costs a tenth of a millisecond where the processor is virtual. */
const HostFacts *cg_host(Cg *cg) {
    HostFacts *host = &cg->llvm->host;
    if (host->triple) return host;
    host->cpu = LLVMGetHostCPUName();
    host->features = LLVMGetHostCPUFeatures();
    if (strncmp(host->cpu, "znver", 5) == 0) host->features = without_gather(host->features);
    host->triple = LLVMGetDefaultTargetTriple();
    return host;
}

LLVMTargetMachineRef cg_machine_take(Cg *cg, const char *key) {
    KeptMachine *kept = cg->llvm->kept;
    cg->machine_key = key;
    for (int i = 0; i < KEPT_MACHINES; i++) {
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
    KeptMachine *kept = cg->llvm->kept;
    int at = 0;
    while (at < KEPT_MACHINES - 1 && kept[at].machine)
        at++;
    if (kept[at].machine) LLVMDisposeTargetMachine(kept[at].machine);
    free(kept[at].key);
    memmove(kept + 1, kept, sizeof *kept * (size_t)at);
    kept[0] = (KeptMachine){key, cg->machine};
}
