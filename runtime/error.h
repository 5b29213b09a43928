/* error.h - what went wrong in the runtime, as a value.
 *
 * An RtError lives on the caller's stack, needs no allocation and no clean-up, and can be copied
 * with `=`. The first failure wins: a function that finds the error already set leaves it alone, so
 * clean-up code may pass the same error on. pymodule turns it into a Python exception by `cls`,
 * with the GIL, afterwards. */
#ifndef QUERN_RUNTIME_ERROR_H
#define QUERN_RUNTIME_ERROR_H

#include "codegen/artifact.h"

/* One class of exception each. */
typedef enum RtErrorClass {
    RT_OK,
    RT_VALUE_ERROR,   /* ValueError: the request is wrong (grid of 0, bad device number, ...) */
    RT_TYPE_ERROR,    /* TypeError: read-only array for a parameter that is written, wrong argument
                         count */
    RT_MEMORY_ERROR,  /* MemoryError: device or host memory is out, after trimming and a second try
                       */
    RT_SUPPORT_ERROR, /* CudaSupportError: no driver, no device, too old a driver, missing symbol */
    RT_API_ERROR, /* CudaAPIError(code, text): a driver call failed, the device is still usable */
    RT_DEVICE_ERROR, /* DeviceError: a sticky failure; the context is dead until the process ends */
    RT_FORK_ERROR,   /* RuntimeError: the device was opened before fork() */
    RT_KERNEL_EXCEPTION, /* compiled code raised: see `raised` and `artifact` */
    RT_PENDING           /* the poll callback left an exception with the caller: raise that one */
} RtErrorClass;

typedef struct RtLaunchSite {
    bool known;
    uint32_t grid[3], block[3], dynamic_shared;
    char kernel[96]; /* name of the user's function, shortened with ... */
} RtLaunchSite;

typedef struct RtError {
    RtErrorClass cls;
    int32_t code;        /* the driver's number, 0 when no driver spoke */
    char name[56];       /* the driver's name for it: "CUDA_ERROR_ILLEGAL_ADDRESS"; "" */
    char call[56];       /* the call that failed: "cuMemAlloc"; "" */
    char text[3072];     /* one or more complete sentences for the user; names everything above */
    RtLaunchSite launch; /* the launch that failed, or (asynchronous failures) the likely one */
    /* RT_KERNEL_EXCEPTION: exception, site and args as generated code left them. `artifact` is
     * borrowed from the kernel that was launched. */
    CallContext raised;
    const Artifact *artifact;
    bool has_thread; /* the device told who raised */
    uint32_t block_index[3], thread_index[3];
} RtError;

/* Cheap: clears the class and the texts, not the buffers. Every RtError starts with this. */
void rt_error_init(RtError *err);
static inline bool rt_failed(const RtError *err) {
    return err->cls != RT_OK;
}

/* The rest is for runtime itself. Each returns false, so that a function can end in `return
 * rt_fail(...)`. */
bool rt_fail(RtError *err, RtErrorClass cls, const char *format, ...) QN_PRINTF(3, 4);
bool rt_fail_memory(RtError *err, const char *what, int64_t bytes);
/* Adds a sentence to an error that is set. Nothing happens when there is no room or no error. */
void rt_note(RtError *err, const char *format, ...) QN_PRINTF(2, 3);
void rt_error_driver(RtError *err, int32_t code, const char *name, const char *call);
void rt_error_launch(RtError *err, const RtLaunchSite *launch);

#endif
