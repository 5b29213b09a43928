/* device.h - what a kind of device must supply: about twenty small primitives.
 *
 * Pooling, staging, ordering of reuse, checks, transfers, error sentences and tracing are written
 * once, above this table. Only files of runtime/ include it. To add a device: fill a DeviceOps, add
 * a row in device.c.
 *
 * Rules for every member unless it says otherwise:
 *  - called by any thread, several at once on one device; no lock of ours is held, except where
 * noted;
 *  - arguments are checked: sizes > 0, ordinals in range, objects of this device, the process not
 * forked, the context not dead;
 *  - false means `err` is set by it and nothing changed; members without an error cannot fail
 * visibly. */
#ifndef QUERN_RUNTIME_DEVICE_H
#define QUERN_RUNTIME_DEVICE_H

#include "frontend/base/os.h"
#include "runtime/runtime.h"
#include <pthread.h>

typedef struct RtPool RtPool;     /* memory.c */
typedef struct RtModule RtModule; /* the device's own; opaque */

/* A launch after all checks and transfers. */
typedef struct DeviceLaunch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    void **args;      /* packed values with device addresses */
    CallContext *ctx; /* may be NULL */
    bool together;    /* all blocks run at the same time; tested: the device can, and they fit */
} DeviceLaunch;

typedef struct DeviceOps {
    const char *name;

    /* -- the driver; called under the registry's lock -------------------------------------------
     */

    /* Number of devices, loading the driver if need be; -1 when there is none. */
    int32_t (*count)(RtError *err);
    /* Fills device->info and device->state. Opened once for each ordinal. */
    bool (*open)(RtDevice *device, RtError *err);
    /* Everything else of the device is gone already. Not called in a child after fork(). */
    void (*close)(RtDevice *device);
    /* Forgets the driver, so that the next count looks for it anew; may be NULL. */
    void (*shutdown)(void);

    /* -- memory -----------------------------------------------------------------------------------
     */

    /* Raw allocation, aligned to 256 bytes (cpu: 64). RT_MEMORY_ERROR when it is out: the pool then
     * trims and asks again. *host is set for pinned and managed memory. Called under the pool's
     * lock. */
    bool (*alloc)(RtDevice *device, RtMemory memory, int64_t size, uint64_t *address, void **host,
                  RtError *err);
    /* Nothing uses the memory any more. Also called on dead contexts: must not make it worse. */
    void (*free)(RtDevice *device, RtMemory memory, uint64_t address, void *host);
    bool (*memory_info)(RtDevice *device, int64_t *free, int64_t *total, RtError *err);

    /* Stream-ordered; pageable host memory may be read before or after the return, see runtime.h.
     */
    bool (*to_device)(RtDevice *device, RtStream *s, uint64_t to, const void *from, int64_t size,
                      RtError *err);
    bool (*to_host)(RtDevice *device, RtStream *s, void *to, uint64_t from, int64_t size,
                    RtError *err);
    bool (*on_device)(RtDevice *device, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                      RtError *err);
    bool (*set_bytes)(RtDevice *device, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                      RtError *err);
    /* Direct copy between two devices of this kind; NULL: always through the host. */
    bool (*peer_copy)(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                      int64_t size, RtError *err);
    bool (*can_peer)(RtDevice *device, RtDevice *peer, bool *can, RtError *err); /* NULL: never */

    /* -- kernels
     * ------------------------------------------------------------------------------------ */

    /* Loads the module and finds the kernel; fills kernel->module, function, info. Called under
     * device->load_lock. */
    bool (*load)(RtDevice *device, RtKernel *kernel, RtError *err);
    void (*unload)(RtDevice *device, RtKernel *kernel);
    /* Sizes and limits are checked. Returns when the work is queued (cpu: done). The hot path: no
     * allocation, no lock. */
    bool (*launch)(RtKernel *kernel, RtStream *stream, const DeviceLaunch *launch, RtError *err);
    bool (*occupancy)(RtKernel *kernel, int32_t block, int32_t dynamic_shared, int32_t *blocks,
                      RtError *err);
    bool (*global)(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                   RtError *err);

    /* -- streams and events
     * -------------------------------------------------------------------------- */

    bool (*stream_create)(RtStream *stream, RtError *err);
    void (*stream_destroy)(RtStream *stream);
    /* stream NULL: the whole device. */
    bool (*sync)(RtDevice *device, RtStream *stream, RtError *err);
    bool (*stream_query)(RtStream *stream, bool *done, RtError *err);
    bool (*stream_wait)(RtStream *stream, RtEvent *event, RtError *err);
    bool (*stream_callback)(RtStream *stream, void (*fn)(void *), void *user, RtError *err);
    bool (*event_create)(RtEvent *event, RtError *err);
    void (*event_destroy)(RtEvent *event);
    bool (*event_record)(RtEvent *event, RtStream *stream, RtError *err);
    bool (*event_query)(RtEvent *event, bool *done, RtError *err);
    bool (*event_sync)(RtEvent *event, RtError *err);
    bool (*event_elapsed)(RtEvent *start, RtEvent *stop, float *ms, RtError *err);

    /* -- what the driver says by number, and its profiler; NULL: there is no such thing ------------ */

    bool (*attribute)(RtDevice *device, int32_t number, int32_t *value, RtError *err);
    bool (*profile)(RtDevice *device, bool on, RtError *err);

    /* -- memory of other processes; NULL: there is no such thing --------------------------------- */

    /* A handle of 64 bytes of the allocation that the address lies in, and how far in. */
    bool (*ipc_export)(RtDevice *device, uint64_t address, char *handle, uint64_t *offset,
                       RtError *err);
    bool (*ipc_open)(RtDevice *device, const char *handle, uint64_t *address, RtError *err);
    bool (*ipc_close)(RtDevice *device, uint64_t address, RtError *err);

    /* -- graphs (graph.c); NULL: their nodes are launched one by one ------------------------------- */

    /* Makes graph->state of the nodes. false without an error: launch them one by one. */
    bool (*graph_make)(RtGraph *graph, RtError *err);
    /* The nodes have other arguments and shapes; their kernels are the same. */
    bool (*graph_update)(RtGraph *graph, RtError *err);
    bool (*graph_launch)(RtGraph *graph, RtStream *stream, RtError *err);
    void (*graph_free)(RtGraph *graph);

    bool host_memory; /* device addresses are host addresses: no transfers for host arrays */
} DeviceOps;

extern const DeviceOps rt_cpu_ops, rt_cuda_ops, rt_hip_ops, rt_null_ops;

/* -- the objects behind the handles ------------------------------------------------------------ */

typedef struct RtCapture RtCapture; /* capture.c */

/* Nodes of a graph, by number. */
typedef struct RtTail {
    int32_t *nodes, n;
} RtTail;

struct RtStream {
    _Atomic int32_t refs;
    RtDevice *device;
    uint64_t handle; /* the driver's; 0 is its default stream */
    bool owned;      /* created by us */
    uint32_t generation;
    /* Order of reuse (memory.c): `issued` grows with every freed block, `completed` follows at
     * synchronisation. */
    _Atomic uint64_t issued, completed;
    /* For asynchronous failures: the last launch and how many since the last synchronisation. Several
     * threads may write parts of it at once: a mixed report names a kernel that did run, and says "likely". */
    RtKernel *_Atomic last_kernel;
    _Atomic uint32_t last_grid[3], last_block[3], last_shared;
    _Atomic uint32_t launches;
    RtCapture *capture; /* launches here become nodes of its graph; NULL: they run */
    RtTail tail;        /* what its next node comes behind */
    RtStream *next_joined;
    RtStream *next; /* all streams of a device, under device->lock */
};

struct RtEvent {
    RtDevice *device;
    uint64_t handle;
    int64_t ns; /* cpu device: when it was recorded */
    bool timing, recorded;
    uint32_t generation;
    RtCapture
        *capture; /* it was recorded in that, behind these nodes; NULL: on a stream that runs */
    RtTail tail;
};

/* Where the bytes of a parameter come from: KernelParam, merged and sorted at load time. */
enum { MOVE_ROUNDS = UINT16_MAX }; /* the size of a double that is passed as float32 */

typedef struct ParamMove {
    uint16_t arg, size;
    uint32_t source, offset;
} ParamMove;

struct RtKernel {
    _Atomic int32_t refs;
    RtDevice *device;
    const Artifact *artifact;
    RtKernelInfo info;
    RtModule *module; /* the device's */
    void *function;   /* CUfunction, hipFunction_t */
    ParamMove *moves;
    int32_t nmoves, nparams;
    int32_t param_bytes;
    _Atomic int32_t dynamic_allowed; /* dynamic shared memory opted in so far */
    uint64_t mailbox;                /* device address, 0: the kernel cannot raise */
    uint64_t prints;                 /* device address of its KernelPrints, 0: none */
    _Atomic bool mail;               /* launched since these were read */
    _Atomic(RtStream *)
        together_on; /* of a cooperative kernel, the stream of the last launch; never looked into */
    uint32_t generation;
    char name[96];
    RtKernel *next; /* in the device's table, under device->lock */
};

struct RtDevice {
    const DeviceOps *ops;
    RtDeviceInfo info;
    void *state;                 /* the device's own */
    uint32_t generation;         /* of the process that opened it */
    pthread_mutex_t lock;        /* the lists below; never held while the driver is called */
    pthread_mutex_t load_lock;   /* one module is loaded at a time; taken before `lock` */
    RtKernel *kernels, *retired; /* retired: released, to be unloaded when the device is idle */
    _Atomic bool mail;           /* some kernel->mail is set */
    RtStream *streams;           /* without the default stream */
    RtStream default_stream;
    RtPool *pool;
    _Atomic bool dying, dead;
    RtError *cause; /* of death; set once, before `dead` */
};

typedef struct RtNode {
    RtKernel *kernel;    /* with a reference */
    DeviceLaunch launch; /* args point into `values` */
    void *values;
    size_t bytes;
    RtTail before; /* earlier nodes, which it waits for */
} RtNode;

struct RtGraph {
    RtDevice *device;
    RtNode *nodes;
    int32_t n, cap;
    void *state;   /* the device's; NULL: not made */
    bool launched; /* since its work was waited for */
    uint32_t generation;
    void *owner;
    void (*drop)(void *owner);
};

/* -- shared by the files of runtime ------------------------------------------------------------ */

/* Grows in the child of every fork: what was made under another number is the parent's. [device.c]
 */
uint32_t rt_generation(void);
/* Not forked, not dead. The first line of every public function that touches a device. */
bool rt_usable(RtDevice *device, RtError *err);
/* Marks the context dead with a copy of err (first wins) and turns err into RT_DEVICE_ERROR. */
void rt_device_died(RtDevice *device, RtError *err);
/* The likely kernel of an asynchronous failure, as notes and err->launch. stream NULL: any. */
void rt_blame(RtDevice *device, RtStream *stream, RtError *err);

void *rt_alloc(size_t size); /* runtime's own host memory: zeroed; NULL when out */
void rt_dealloc(void *memory, size_t size);
int64_t rt_host_bytes(void); /* live: tests look for leaks */

RtPool *rt_pool_new(RtDevice *device, RtError *err);
void rt_pool_close(RtPool *pool);
void rt_pool_fork(RtPool *pool, bool lock); /* takes or leaves the pool's lock round fork() */
/* At rt_shutdown. */
void rt_kernels_close(RtDevice *device);
void rt_streams_close(RtDevice *device);
/* All work on `stream` (NULL: the device) up to its `issued` of now is over: see RtStream. */
void rt_pool_stream_gone(RtPool *pool, RtStream *stream);

/* Not while the stream is captured: `what` begins the sentence that says so. [capture.c] */
bool rt_not_captured(const RtStream *stream, const char *what, RtError *err);
/* The same of an event that was recorded on such a stream, be it over or not. */
bool rt_event_not_captured(const RtEvent *event, const char *what, RtError *err);
/* The launch, all checked, becomes a node. */
bool rt_capture_launch(RtStream *stream, RtKernel *kernel, const DeviceLaunch *launch,
                       RtError *err);
/* An event on a stream that is captured, and a stream that waits where one of the two is. */
bool rt_capture_record(RtEvent *event, RtStream *stream, RtError *err);
bool rt_capture_wait(RtStream *stream, const RtEvent *event, RtError *err);
/* The stream goes, or the event is recorded anew or goes. */
void rt_capture_drop(RtStream *stream);
void rt_event_forget(RtEvent *event);
void rt_tail_clear(RtTail *tail);
/* A launch after all checks. [launch.c] */
bool rt_submit(RtKernel *kernel, RtStream *stream, const DeviceLaunch *launch, RtError *err);

/* NULL when the last reference is gone already. */
RtStream *rt_stream_try_retain(RtStream *stream);

/* Waits by asking `query` with growing pauses so that poll runs; used by stream.c. */
bool rt_wait(RtDevice *device, CallContext *poll,
             bool (*query)(void *what, bool *done, RtError *err), void *what, RtError *err);

/* [trace.c] 0: not tracing; otherwise when the call began. */
int64_t rt_trace_begin(void);
void rt_trace_end(int64_t start, const RtDevice *device, RtTraceKind kind, int64_t bytes,
                  const RtLaunchSite *launch, bool ok);

/* The kernel's parameter buffer (param_bytes) from packed arguments. [kernel.c] */
void rt_pack_params(const RtKernel *kernel, void *const *args, char *buffer);
/* Exceptions that kernels left on the device: the first becomes RT_KERNEL_EXCEPTION. [kernel.c] */
bool rt_read_mailboxes(RtDevice *device, RtError *err);
/* Prints what the kernel left in its KernelPrints. [prints.c] */
bool rt_print_lines(RtKernel *kernel, RtError *err);
/* The device is idle: unloads the modules of released kernels. [kernel.c] */
void rt_kernels_retire(RtDevice *device);

/* -- host arrays of one launch (args.c) -------------------------------------------------------- */

typedef struct ArgRange ArgRange;

/* One array among the arguments. */
typedef struct ArgArray {
    ArrayValue *value; /* in the caller's packed argument */
    const ValueLayout *layout;
    uintptr_t lo, hi;     /* the bytes it spans; equal: none */
    char *data;           /* value->data as the caller gave it */
    int32_t param, range; /* range: -1 when it does not travel */
    bool written, host, readonly;
} ArgArray;

enum { ARGS_INLINE = 32 }; /* as many as a launch has on its stack in pymodule */
typedef struct RtArgs {
    int32_t narrays, nranges;
    ArgArray *arrays, inline_arrays[ARGS_INLINE];
    ArgRange *ranges;
    int32_t cap;
    bool any_host;
} RtArgs;

/* Collects the arrays among the arguments. host: RtLaunch's masks, may be NULL. */
bool rt_args_collect(RtArgs *args, const Artifact *artifact, void *const *values,
                     const uint32_t *host, RtError *err);
/* A written array that is read-only? */
bool rt_args_check(const RtArgs *args, const Artifact *artifact, RtError *err);
/* Host arrays to the device; the packed arguments then hold device addresses until rt_args_free. */
bool rt_args_begin(RtArgs *args, RtDevice *device, RtStream *stream, RtError *err);
/* After the work is over without failure: elements of written host arrays back. */
bool rt_args_end(RtArgs *args, RtDevice *device, RtStream *stream, RtError *err);
void rt_args_free(RtArgs *args);
enum { RT_MAX_DIMS = 64 };
/* [transfer.c] No gaps and no overlaps between elements, in any order of dimensions. */
bool rt_dense(int32_t ndim, int64_t item, const int64_t *shape, const int64_t *strides);
/* [transfer.c] Elements of any strides to elements of any strides, on the host. */
void rt_copy_elements(char *to, const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, int32_t ndim, int64_t item,
                      const int64_t *shape);

void rt_pool_threads_stop(void);  /* cpu/pool.c: at rt_shutdown */
void rt_pool_threads_child(void); /* cpu/pool.c: in the child of a fork */
void rt_pool_threads_prepare(void);
void rt_pool_threads_parent(void);

/* -- null device, for tests -------------------------------------------------------------------- */

/* It counts calls by the name of the member and fails the n-th call (1-based; 0: none) of `call`; call NULL:
 * the n-th call of any name. RT_DEVICE_ERROR makes the device die. */
void rt_null_reset(void);
int32_t rt_null_calls(const char *call); /* how many so far; NULL: all */
void rt_null_fail(const char *call, int32_t nth, RtErrorClass cls);
void rt_null_capacity(int64_t bytes);    /* memory of the devices together */
int64_t rt_null_used(void);              /* bytes allocated */
int64_t rt_null_handles(void);           /* blocks, modules, streams, events alive */
void *rt_null_pointer(uint64_t address); /* the host memory behind a device address */
/* Plays the kernel: gets the packed parameters; false: set no error, the launch "fails". NULL: nothing. */
void rt_null_kernel(bool (*kernel)(const RtKernel *kernel, const DeviceLaunch *launch,
                                   const char *params));

#endif
