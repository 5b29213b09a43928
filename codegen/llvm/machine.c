/* machine.c - target machines and what is known of the host outlive compilations.
 *
 * A target machine and the subtarget it makes on first use cost as much as optimising a small loop, and
 * depend on nothing but the key. They lie in the state that the worker has, which no other thread uses meanwhile. A compilation owns what it
 * takes until it gives it back, so a machine that a fatal error caught half way is never used again. */
#include "codegen/llvm/cg.h"
#include <stdlib.h>
#include <string.h>

/* `features` and more, in new memory. */
static char *with_features(char *features, const char *more) {
    size_t n = strlen(features), extra = strlen(more) + 1;
    char *all = malloc(n + extra);
    if (!all) return features;
    memcpy(all, features, n);
    memcpy(all + n, more, extra);
    LLVMDisposeMessage(features);
    return all;
}

/* AMD's processors load the elements of a gather one by one, and take twice as long for it as for loads of numbers: LLVM's
 * tables do not say so. Where a processor rounds to bfloat16, LLVM 19 has a bfloat16 that goes from block to block in a register of
 * float32, and the instruction that brings it back makes 0 of what is smaller than normal numbers. */
static char *tuned(const char *cpu, char *features) {
    if (strstr(features, "+avx512bf16") || strstr(features, "+avxneconvert"))
        features = with_features(features, ",-avx512bf16,-avxneconvert");
    return strncmp(cpu, "znver", 5) == 0 ? with_features(features, ",+prefer-no-gather") : features;
}

/* Asking costs a tenth of a millisecond where the processor is virtual. */
const HostFacts *cg_host(Cg *cg) {
    HostFacts *host = &cg->llvm->host;
    if (host->triple) return host;
    host->cpu = LLVMGetHostCPUName();
    host->features = tuned(host->cpu, LLVMGetHostCPUFeatures());
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
