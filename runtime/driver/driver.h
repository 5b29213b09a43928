/* driver.h - devices behind a vendor's driver library: what runtime/cuda and runtime/hip have in common.
 *
 * HIP was made after CUDA, so most of the two libraries is the same but for the names. The primitives of device.h are
 * written here once (driver_device.c), over functions found in the library (driver_load.c). A vendor adds a `Driver`:
 * its functions, its errors, and the few things that differ. */
#ifndef QUERN_RUNTIME_DRIVER_H
#define QUERN_RUNTIME_DRIVER_H

#include "runtime/device.h"
#include "frontend/base/environment.h"

/* -- the functions ----------------------------------------------------------------------------- */

typedef struct DrvApi {
#define CALL(name, args) int(*name) args;
#include "runtime/driver/driver_calls.def"
#undef CALL
} DrvApi;

typedef enum DrvCall {
#define CALL(name, args) DRV_##name,
#include "runtime/driver/driver_calls.def"
#undef CALL
    DRV_CALLS
} DrvCall;

/* Numbers that are the same in both libraries. */
enum {
    DRV_SUCCESS = 0,
    DRV_OUT_OF_MEMORY = 2,
    DRV_NO_DEVICE = 100,
    DRV_NOT_FOUND = 500,
    DRV_NOT_READY = 600
};

/* -- a vendor ---------------------------------------------------------------------------------- */

/* What a user should know about an error, beside the driver's own words. sticky: the driver answers every later call
 * with it, so the device is dead. */
typedef struct DrvHint {
    int code;
    bool sticky;
    const char *text;
} DrvHint;

typedef struct Driver Driver;

typedef struct DrvState { /* RtDevice.state */
    const Driver *driver;
    int device;    /* the driver's number */
    void *context; /* CUcontext; NULL in HIP, which has a current device instead */
} DrvState;

typedef struct DrvCurrent { /* what `leave` must restore */
    bool changed;
    int before;
} DrvCurrent;

struct Driver {
    const char *title;        /* "CUDA": in sentences */
    const DrvApi *api;        /* filled by `open` */
    const char *const *names; /* of the functions, by DrvCall */
    const DrvHint *hints;
    int nhints;
    void *launch_end; /* ends the list of a launch's options */

    /* The library, opened on first use. NULL: `err` says what was looked for and what was answered. */
    const DrvApi *(*open)(RtError *err);
    void (*version)(int *major, int *minor);
    /* Name and text of an error; they may stay NULL. Called at once after the call that failed. */
    void (*describe)(int code, const char **name, const char **text);
    /* A call that failed is of no interest: takes away what the library remembers of it. May be NULL. */
    void (*forget)(void);
    /* Fills device->info and the state; detach is the end of both. */
    bool (*attach)(RtDevice *device, DrvState *state, RtError *err);
    void (*detach)(DrvState *state);
    /* Makes the device the calling thread's, and gives the thread back what it had. */
    bool (*enter)(RtDevice *device, DrvCurrent *current, RtError *err);
    void (*leave)(const DrvCurrent *current);
    /* The device has been entered. */
    bool (*load_image)(RtDevice *device, RtKernel *kernel, void **module, RtError *err);
    /* Dynamic shared memory beyond what every launch may have; NULL: there is no more. */
    bool (*allow_shared)(RtKernel *kernel, uint32_t bytes, RtError *err);
    /* The device of `to` has been entered; *call is the function's name. NULL where the driver lacks it. */
    int (*peer_copy)(const DrvState *to_state, uint64_t to, const DrvState *from_state,
                     uint64_t from, size_t size, const char **call);
};

/* Tags of a launch's options. */
#define LAUNCH_BUFFER      ((void *)1)
#define LAUNCH_BUFFER_SIZE ((void *)2)

static inline DrvState *drv_state(const RtDevice *device) {
    return device->state;
}

/* [driver_device.c] The error of a driver's call into err. device and stream may be NULL. Returns false. */
bool drv_fail(const Driver *driver, RtDevice *device, RtStream *stream, int code, const char *call,
              RtError *err);
/* The driver is too old for this: RT_SUPPORT_ERROR. Returns false. */
bool drv_lacks(const Driver *driver, const char *function, RtError *err);
int32_t drv_count(const Driver *driver, RtError *err);
bool drv_open(const Driver *driver, RtDevice *device, RtError *err);

/* The rest of DeviceOps. */
void drv_close(RtDevice *device);
bool drv_alloc(RtDevice *device, RtMemory memory, int64_t size, uint64_t *address, void **host,
               RtError *err);
void drv_free(RtDevice *device, RtMemory memory, uint64_t address, void *host);
bool drv_memory_info(RtDevice *device, int64_t *free, int64_t *total, RtError *err);
bool drv_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                   RtError *err);
bool drv_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size, RtError *err);
bool drv_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                   RtError *err);
bool drv_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                   RtError *err);
bool drv_peer_copy(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                   int64_t size, RtError *err);
bool drv_can_peer(RtDevice *device, RtDevice *peer, bool *can, RtError *err);
bool drv_load(RtDevice *device, RtKernel *kernel, RtError *err);
void drv_unload(RtDevice *device, RtKernel *kernel);
bool drv_launch(RtKernel *kernel, RtStream *stream, const DeviceLaunch *launch, RtError *err);
/* The kernel may have so much dynamic shared memory from now on. */
bool drv_allow_shared(RtKernel *kernel, uint32_t bytes, RtError *err);
bool drv_occupancy(RtKernel *kernel, int32_t block, int32_t dynamic_shared, int32_t *blocks,
                   RtError *err);
bool drv_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size, RtError *err);
bool drv_stream_create(RtStream *stream, RtError *err);
void drv_stream_destroy(RtStream *stream);
bool drv_sync(RtDevice *device, RtStream *stream, RtError *err);
bool drv_stream_query(RtStream *stream, bool *done, RtError *err);
bool drv_stream_wait(RtStream *stream, RtEvent *event, RtError *err);
bool drv_stream_callback(RtStream *stream, void (*fn)(void *), void *user, RtError *err);
bool drv_event_create(RtEvent *event, RtError *err);
void drv_event_destroy(RtEvent *event);
bool drv_event_record(RtEvent *event, RtStream *stream, RtError *err);
bool drv_event_query(RtEvent *event, bool *done, RtError *err);
bool drv_event_sync(RtEvent *event, RtError *err);
bool drv_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err);

/* Everything of a DeviceOps but name, count, open and shutdown. */
#define DRV_OPS                                                                                    \
    .close = drv_close, .alloc = drv_alloc, .free = drv_free, .memory_info = drv_memory_info,      \
    .to_device = drv_to_device, .to_host = drv_to_host, .on_device = drv_on_device,                \
    .set_bytes = drv_set_bytes, .peer_copy = drv_peer_copy, .can_peer = drv_can_peer,              \
    .load = drv_load, .unload = drv_unload, .launch = drv_launch, .occupancy = drv_occupancy,      \
    .global = drv_global, .stream_create = drv_stream_create,                                      \
    .stream_destroy = drv_stream_destroy, .sync = drv_sync, .stream_query = drv_stream_query,      \
    .stream_wait = drv_stream_wait, .stream_callback = drv_stream_callback,                        \
    .event_create = drv_event_create, .event_destroy = drv_event_destroy,                          \
    .event_record = drv_event_record, .event_query = drv_event_query,                              \
    .event_sync = drv_event_sync, .event_elapsed = drv_event_elapsed

/* -- finding the library (driver_load.c) ------------------------------------------------------- */

/* A driver's library belongs to the process; guarded by the registry's lock. It stays open for ever: a driver has
 * threads of its own, and others may use it. */
typedef struct DrvLibrary {
    bool tried, started;
    void *library;
    int version; /* as the driver counts */
    uint32_t generation;
    RtError failure;
} DrvLibrary;

typedef struct DrvLoader {
    const char *title;    /* "CUDA" */
    EnvVariable variable; /* an absolute path, and then nothing else is tried */
    const char *const *places;
    int nplaces;
    const char *looked; /* "libcuda.so.1 was looked for" */
    const char *advice; /* "Is an NVIDIA driver installed?" */
    /* The library is open: finds its functions and starts it. */
    bool (*start)(DrvLibrary *library, RtError *err);
} DrvLoader;

/* Opens and starts the library once; false: the same answer each time. */
bool drv_library(DrvLibrary *library, const DrvLoader *loader, RtError *err);
/* Stores a function's address in a function pointer. */
void drv_set_function(void *to, void *from);

#endif
