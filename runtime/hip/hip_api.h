/* hip_api.h - our own declarations of the little of AMD's HIP runtime that is used: no ROCm needed to build.
 *
 * HIP has no contexts: a thread has a current device, by number. Handles are pointers, results ints. */
#ifndef QUERN_RUNTIME_HIP_API_H
#define QUERN_RUNTIME_HIP_API_H

#include "runtime/driver/driver.h"

typedef struct HipApi {
    DrvApi shared;
#define SHARED(required, call, name, since)
#define SYM(required, name, since, result, args) result(*name) args;
#include "runtime/hip/hip_syms.def"
#undef SHARED
#undef SYM
} HipApi;

/* -- the loaded library (hip_load.c) ----------------------------------------------------------- */

/* The library's names of the shared functions. */
extern const char *const hip_names[DRV_CALLS];
/* Loads the library and calls hipInit, once; NULL: `err` says what was looked for and what was answered, the same
 * each time. Called under the registry's lock. */
const DrvApi *hip_open(RtError *err);
/* The functions after a successful hip_open. */
extern HipApi hip_functions;
static inline const HipApi *hip_api(void) {
    return &hip_functions;
}
void hip_shutdown(void);
int32_t hip_version(void); /* 6030 is ROCm 6.3 */

/* -- code objects (hip_image.c) ---------------------------------------------------------------- */

/* Is this an ELF file that the device can run? HIP itself has been seen to crash on one for another chip. */
bool hip_check_image(const RtDevice *device, const RtKernel *kernel, RtError *err);

#endif
