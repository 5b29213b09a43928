/* runtime.h - the public face of runtime: devices, memory, streams, kernels, launches, threads.
 *
 * Rules that hold for every function here:
 *  - No function knows Python. Call them WITHOUT the GIL when they may block or talk to a driver;
 * the ones marked [quick] neither block nor call a driver and may be called with it.
 *  - Any thread may call anything at any time unless said otherwise. No lock is held while user
 * code or a poll callback runs, or while a launch waits.
 *  - `RtError *err` is initialised by the caller (rt_error_init), never NULL. false or NULL: `err`
 * says why. The next call works, unless the class is RT_DEVICE_ERROR (the context is dead).
 *  - Functions that end in _release never fail and take no error: after fork(), on a dead context
 * and during process exit they free host memory only.
 *  - A device address is a uint64_t; on the cpu device it is a host address.
 *  - A NULL RtStream means the device's default stream. */
#ifndef QUERN_RUNTIME_H
#define QUERN_RUNTIME_H

#include "runtime/error.h"

typedef enum RtDeviceKind {
    RT_CPU,  /* native kernels on a thread pool */
    RT_CUDA, /* libcuda.so.1 */
    RT_HIP,  /* libamdhip64.so */
    RT_NULL, /* records calls, for tests */
    RT_KINDS
} RtDeviceKind;

typedef struct RtDevice RtDevice;
typedef struct RtStream RtStream;
typedef struct RtEvent RtEvent;
typedef struct RtKernel RtKernel;

/* Facts about a device, fixed while it is open. */
typedef struct RtDeviceInfo {
    RtDeviceKind kind;
    int32_t ordinal;
    char name[256];
    char arch
        [64]; /* what codegen is asked for: "sm_90", "gfx90a:sramecc+:xnack-"; "" on the cpu device */
    char pci_id[16]; /* "0000:3b:00.0"; "" */
    int32_t pci_domain, pci_bus, pci_device;
    uint8_t uuid[16];
    int32_t model; /* devices of one number run the same code; 0: as the first of its kind */
    int32_t cc_major, cc_minor; /* compute capability */
    int32_t driver_version;     /* 12040 is 12.4; 0 */
    int64_t memory;             /* bytes */
    int32_t multiprocessors, warp_size, clock_khz;
    int32_t max_threads; /* per block */
    int32_t max_block[3], max_grid[3];
    int64_t max_items;        /* grid times block along one axis; 0: no limit but the two */
    int32_t max_shared;       /* static, per block */
    int32_t max_shared_optin; /* dynamic + static, per block, after opting in */
    int32_t max_param_bytes;
    int32_t max_registers; /* per block */
    bool unified_addressing, managed_memory, can_map_host, integrated, async_engines, cooperative;
} RtDeviceInfo;

/* -- devices (device.c) ------------------------------------------------------------------------ */

/* The name users know: "cpu", "cuda", "hip", "null". [quick] */
const char *rt_kind_name(RtDeviceKind kind);

/* From now on no device of the kind is found or chosen, and `why` is the error; NULL: as usual. Devices that are open stay. */
void rt_device_disable(RtDeviceKind kind, const char *why);

/* How many devices of a kind there are; opens the driver on first use. -1: there is no driver,
 * `err` names the library that was looked for and what the loader answered. 0 with RT_OK: a driver
 * without devices. */
int32_t rt_device_count(RtDeviceKind kind, RtError *err);

/* Opens the device on first use (one thread opens, others wait). Borrowed: it lives until
 * rt_shutdown. */
RtDevice *rt_device(RtDeviceKind kind, int32_t ordinal, RtError *err);

/* The calling thread's device of this kind: the one selected, else device 0. */
RtDevice *rt_device_current(RtDeviceKind kind, RtError *err);
bool rt_device_select(RtDeviceKind kind, int32_t ordinal, RtError *err);
int32_t rt_device_selected(RtDeviceKind kind); /* ordinal, without opening anything [quick] */

/* Which kind of device a kernel should use when the user asked for `wanted` (RT_CUDA for cuda.jit,
 * ...):
 *   RT_CHOICE_WANTED    `wanted`, or what QUERN_DEVICE pins; it is there
 *   RT_CHOICE_FALLBACK  no driver: the cpu device takes its place, or for RT_CUDA with QUERN_CUDA_ON_HIP=1 an AMD
 *                       device; `why` tells what is missing, as an error would. Warn once (DeviceWarning)
 *   RT_CHOICE_MISSING   QUERN_DEVICE pins a kind that is missing or unknown: `why` is the error to raise
 * The answer for one `wanted` never changes while the process lives (until
 * rt_shutdown). */
typedef enum RtChoice { RT_CHOICE_WANTED, RT_CHOICE_FALLBACK, RT_CHOICE_MISSING } RtChoice;
RtChoice rt_choose(RtDeviceKind wanted, RtDeviceKind *kind, RtError *why);

const RtDeviceInfo *rt_info(const RtDevice *device); /* [quick] */
/* After a sticky error: no call on this device can succeed any more. [quick] */
bool rt_device_dead(const RtDevice *device);
/* The driver's own handle, for interoperation: CUcontext; NULL on other devices. [quick] */
void *rt_device_context(const RtDevice *device);
/* Waits for everything on the device; reads the mailboxes of kernels that can raise. */
bool rt_device_synchronize(RtDevice *device, CallContext *poll, RtError *err);
/* Another device's memory reachable from this one? */
bool rt_device_peer(RtDevice *device, RtDevice *peer, bool *can, RtError *err);

/* Closes devices, frees pools, stops worker threads. For the end of a process and for tests: the
 * caller guarantees that no other call is in progress and that no handle is used afterwards. */
void rt_shutdown(void);
/* Allocator of runtime's own host memory (tests: one that fails on demand). Before first use;
 * copied. */
void rt_set_allocator(const Allocator *allocator);

/* -- memory (memory.c) ------------------------------------------------------------------------- */

typedef enum RtMemory {
    RT_MEM_DEVICE,  /* pooled, stream-ordered */
    RT_MEM_PINNED,  /* host memory the device can reach: `host` and `address` */
    RT_MEM_MANAGED, /* both sides, one address */
    RT_MEM_MANAGED_HOST, /* likewise; devices that cannot read it while the host does must be told (attached to the host) */
    RT_MEM_FOREIGN /* somebody else's; release calls `drop(owner)` */
} RtMemory;

/* A piece of memory, shared by reference count. The fields are for reading. */
typedef struct RtBuffer {
    _Atomic int32_t refs;
    RtMemory memory;
    RtDevice *device;
    RtStream
        *stream; /* where it was allocated: a use there needs no care. Kept alive by the buffer */
    uint64_t address;      /* on the device; 0 when size is 0 */
    void *host;            /* host address, or NULL */
    int64_t size;          /* asked for */
    struct RtBlock *block; /* memory.c's */
    uint32_t generation;   /* of the process: a child never frees its parent's memory */
    void *owner;
    void (*drop)(void *owner);
} RtBuffer;

/* size >= 0; size 0 gives a buffer with address 0. The memory is not cleared. Device memory is
 * ready for use on `stream` at once, elsewhere after an event or a synchronisation. Full: the pool
 * gives back what it caches, waits for what is freed but in use, and tries again before it reports
 * RT_MEMORY_ERROR. */
RtBuffer *rt_buffer_new(RtDevice *device, RtMemory memory, int64_t size, RtStream *stream,
                        RtError *err);
/* `drop` may be NULL; it runs once, on the thread that releases last. */
RtBuffer *rt_buffer_foreign(RtDevice *device, uint64_t address, int64_t size, void *owner,
                            void (*drop)(void *owner), RtError *err);
RtBuffer *rt_buffer_retain(RtBuffer *buffer); /* [quick] */
/* The last release returns the memory to the pool. It may still be in use on buffer->stream or on
 * streams named to rt_buffer_used: it is given out again only behind that work. NULL is allowed. */
void rt_buffer_release(RtBuffer *buffer);
/* Tell that work just issued on `stream` uses the buffer (needed when stream differs from
 * buffer->stream). */
bool rt_buffer_used(RtBuffer *buffer, RtStream *stream, RtError *err);

typedef struct RtMemoryStats {
    int64_t device_free, device_total;  /* the driver's view */
    int64_t in_use, cached;             /* bytes in buffers, bytes kept for reuse */
    int64_t raw_allocations, raw_frees; /* driver calls so far */
    int64_t reused;                     /* allocations served without one */
} RtMemoryStats;
/* Memory that another process opens: a handle of 64 bytes of the allocation, and how far behind its beginning the address lies. The
 * memory must stay allocated here until the other one has closed it. */
enum { RT_IPC_BYTES = 64 };
bool rt_ipc_export(RtDevice *device, uint64_t address, char *handle, uint64_t *offset,
                   RtError *err);
bool rt_ipc_open(RtDevice *device, const char *handle, uint64_t *address, RtError *err);
bool rt_ipc_close(RtDevice *device, uint64_t address, RtError *err);

bool rt_memory_stats(RtDevice *device, RtMemoryStats *stats, RtError *err);
/* Gives cached memory back to the driver (waits for the device first). */
bool rt_memory_trim(RtDevice *device, RtError *err);

/* An attribute by the number that CUDA's driver has for it. */
bool rt_device_attribute(RtDevice *device, int32_t number, int32_t *value, RtError *err);
/* Begins or ends the range that profilers look at; nothing where there is no profiler. */
bool rt_device_profile(RtDevice *device, bool on, RtError *err);

/* -- transfer (transfer.c) --------------------------------------------------------------------- */

/* Copies are ordered on `stream`. `wait`: return when the data has arrived. Without it the caller
 * keeps host memory and buffers alive (and, for to_host, unread) until the stream is synchronised.
 * size 0 does nothing. */
bool rt_copy_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                       bool wait, RtError *err);
bool rt_copy_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size, bool wait,
                     RtError *err);
bool rt_copy_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                       RtError *err);
/* Between two devices (of any kinds): direct where the driver can, through host memory otherwise.
 * Waits. */
bool rt_copy_between(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                     int64_t size, RtError *err);
bool rt_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size, RtError *err);

/* Elements of any strides (bytes, any sign, 0 allowed on the source) to elements of any strides,
 * one side on the host and one on the device. Bytes between elements are neither read by the user
 * nor written. Waits. */
typedef struct RtStrided {
    void *host;      /* first element */
    uint64_t device; /* first element */
    int32_t ndim, item;
    const int64_t *shape, *host_strides, *device_strides;
} RtStrided;
bool rt_copy_strided(RtDevice *d, RtStream *s, const RtStrided *copy, bool to_device, RtError *err);

/* Byte extent [lo, hi) of an array relative to its data pointer; empty: lo == hi == 0. false: it
 * does not fit into 63 bits. [quick] */
bool rt_extent(int32_t ndim, int64_t item, const int64_t *shape, const int64_t *strides,
               int64_t *lo, int64_t *hi);

/* -- streams and events (stream.c) ------------------------------------------------------------- */

/* The cpu device runs a launch before rt_launch returns; its streams only keep the API whole. */
RtStream *rt_stream_new(RtDevice *device, RtError *err);
/* A stream that belongs to somebody else (handle: CUstream; 0, 1, 2 are the driver's default,
 * legacy and per-thread streams). Never destroyed by us. */
RtStream *rt_stream_external(RtDevice *device, uint64_t handle, RtError *err);
RtStream *rt_stream_default(RtDevice *device);      /* borrowed [quick] */
RtDevice *rt_stream_device(const RtStream *stream); /* [quick] */
RtStream *rt_stream_retain(RtStream *stream);       /* [quick] */
void rt_stream_release(RtStream *stream);           /* pending work still completes */
uint64_t rt_stream_handle(const RtStream *stream);  /* [quick] */
bool rt_stream_is_external(const RtStream *stream); /* [quick] */
/* Waits. `poll` may be NULL; otherwise poll->poll is called about every 50 ms on this thread, and a
 * wait that it interrupts fails with RT_PENDING while the work goes on. Reports failures and
 * exceptions of kernels. */
bool rt_stream_synchronize(RtStream *stream, CallContext *poll, RtError *err);
bool rt_stream_done(RtStream *stream, bool *done, RtError *err);
bool rt_stream_wait(RtStream *stream, RtEvent *event, RtError *err);
/* fn runs on a driver's thread after the work issued so far: it may not call runtime, nor wait for
 * a lock that is held round a runtime call (the GIL is fine when it was released as the rules above
 * say). */
bool rt_stream_callback(RtStream *stream, void (*fn)(void *user), void *user, RtError *err);

RtEvent *rt_event_new(RtDevice *device, bool timing, RtError *err);
void rt_event_release(RtEvent *event); /* one owner */
bool rt_event_record(RtEvent *event, RtStream *stream, RtError *err);
bool rt_event_done(RtEvent *event, bool *done, RtError *err);
bool rt_event_synchronize(RtEvent *event, CallContext *poll, RtError *err);
/* Both recorded, with timing; milliseconds. */
bool rt_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err);

/* -- kernels (kernel.c) ------------------------------------------------------------------------ */

typedef struct RtKernelInfo {
    int32_t max_threads; /* per block, as compiled */
    int32_t registers, shared_bytes, local_bytes,
        const_bytes; /* per thread or block; 0 on the cpu device */
    int32_t ptx_version, binary_version;
} RtKernelInfo;

/* -- graphs (graph.c): launches that are captured from a stream and replayed --------------------- */

typedef struct RtGraph RtGraph;

/* From here on launches on the stream become nodes of a graph instead of running; one thread at a time. `owner` keeps what
 * their arguments need; when the graph is gone, or the stream before the end, drop(owner) is called. Not the default
 * stream, nor one of somebody else. */
bool rt_capture_begin(RtStream *stream, void *owner, void (*drop)(void *owner), RtError *err);
bool rt_capturing(const RtStream *stream);      /* NULL: no [quick] */
void *rt_capture_owner(const RtStream *stream); /* NULL where nothing is captured [quick] */
RtGraph *rt_capture_end(RtStream *stream, RtError *err);
int32_t rt_graph_size(const RtGraph *graph); /* nodes [quick] */
bool rt_graph_launch(RtGraph *graph, RtStream *stream, CallContext *ctx, RtError *err);
/* Takes the nodes of the other graph with their owner, and gives it its own. Waits for what runs. */
bool rt_graph_update(RtGraph *graph, RtGraph *other, RtError *err);
void rt_graph_release(RtGraph *graph); /* waits for what runs */

/* The artifact's kernel on this device: loaded on first call (other threads wait), shared and
 * counted afterwards. The artifact is borrowed: release the kernel before the artifact. A module
 * that does not load is RT_API_ERROR with the driver's log in the text. */
RtKernel *rt_kernel(RtDevice *device, const Artifact *artifact, RtError *err);
void rt_kernel_release(RtKernel *kernel);
const Artifact *rt_kernel_artifact(const RtKernel *kernel); /* [quick] */
RtDevice *rt_kernel_device(const RtKernel *kernel);         /* [quick] */
const RtKernelInfo *rt_kernel_info(const RtKernel *kernel); /* [quick] */
/* Blocks that fit on one multiprocessor. */
bool rt_occupancy(RtKernel *kernel, int32_t block_size, int32_t dynamic_shared, int32_t *blocks,
                  RtError *err);
/* The largest grid of a kernel whose blocks run at the same time. */
bool rt_most_blocks(RtKernel *kernel, int32_t block_size, int32_t dynamic_shared, int64_t *blocks,
                    RtError *err);
/* A good block size for one-dimensional launches (forall): the largest occupancy, whole warps. */
bool rt_suggest_block(RtKernel *kernel, int32_t dynamic_shared, int32_t *block_size, RtError *err);
/* Address of a global variable of the kernel's module. */
bool rt_kernel_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                      RtError *err);

/* -- launch (launch.c) ------------------------------------------------------------------------- */

/* One launch. The struct and everything it points to stay untouched and alive until rt_launch
 * returns; then nothing of it is needed any more, except device memory. */
typedef struct RtLaunch {
    RtKernel *kernel;
    RtStream *stream;          /* of the kernel's device, or NULL */
    int64_t grid[3], block[3]; /* as the user gave them: checked here (RT_VALUE_ERROR) */
    int64_t dynamic_shared;
    /* One pointer for each artifact parameter to its packed value (ValueLayout). The data pointer
     * of an array is a device address, or a host address where the array's bit in `host` is set. */
    void **args;
    /* NULL: all arrays are on the device. Otherwise one mask for each parameter: bit k belongs to
     * its k-th array, counted depth first through tuples (an array parameter has one: bit 0). On
     * the cpu device the masks are ignored: host memory is device memory. A written array whose
     * ValueLayout is read-only is RT_TYPE_ERROR before anything is launched. */
    const uint32_t *host;
    /* Interruption and the stack limit of the calling thread (cpu device), and the poll of a launch
     * that waits. May be NULL. Its exception fields are not written: see RtError.raised. */
    CallContext *ctx;
} RtLaunch;

/* Checks, moves host arrays, launches. Buffers that live on another stream than the launch's are announced by
 * the caller afterwards (rt_buffer_used). With device arrays only it returns when the launch is
 * queued. Host arrays travel to the device before and, where the kernel writes them, back after the
 * launch, and the call waits for that; arrays that share memory travel as one range and still share
 * it on the device. Only elements of written arrays are stored back, and only when the kernel
 * succeeded. On the cpu device the kernel has run when it returns; RT_KERNEL_EXCEPTION carries what
 * it raised. */
bool rt_launch(const RtLaunch *launch, RtError *err);

/* The bytes [lo, hi) that one array of a launch spans; equal: none. */
typedef struct RtSpan {
    uint64_t lo, hi;
    bool written; /* by the kernel, as far as is known */
} RtSpan;

/* Of an array with this first element. What no fast variant is made for (an axis longer than FAST_LIMIT, an extent
 * beyond 63 bits) spans all memory. [quick] */
RtSpan rt_span(uint64_t address, int32_t ndim, int64_t item, const int64_t *shape,
               const int64_t *strides, bool written);
/* Which variant does this launch need? true: an array that is written shares memory with another
 * array, or an array spans more than FAST_SPAN bytes: only the general variant is right. [quick] */
bool rt_spans_want_general(const RtSpan *spans, int32_t n);
/* The same for the arrays among packed arguments as in RtLaunch, whose spans are computed first. [quick] */
bool rt_launch_wants_general(const Artifact *artifact, void *const *args);
/* The same for int parameters that the fast variant takes to be small. [quick] */
bool rt_params_want_general(const Artifact *artifact, void *const *args);
/* The same for the grid: more than FAST_BLOCKS blocks or FAST_LIMIT threads along an axis. [quick] */
bool rt_grid_wants_general(const int64_t grid[3], const int64_t block[3]);
/* Do arrays that the fast variant takes to have one shape have several? Then the variant that does not is right. [quick] */
bool rt_shapes_differ(const Artifact *artifact, void *const *args);

/* Only the checks of a configuration, for kernel[grid, block] at the time of subscription. [quick]
 */
bool rt_check_config(const RtDeviceInfo *info, const int64_t grid[3], const int64_t block[3],
                     int64_t dynamic_shared, RtError *err);

/* -- trace (trace.c) --------------------------------------------------------------------------- */

typedef enum RtTraceKind { RT_TRACE_LAUNCH, RT_TRACE_TO_DEVICE, RT_TRACE_TO_HOST } RtTraceKind;
typedef struct RtTraceEvent {
    RtTraceKind kind;
    RtDeviceKind device;
    int32_t ordinal;
    int64_t start_ns, host_ns; /* monotonic clock; how long the call took on the host */
    int64_t bytes;             /* copies */
    RtLaunchSite launch;       /* launches */
    bool failed;
} RtTraceEvent;

/* Records launches and copies of the whole process (QUERN_DUMP=launch). Off: one relaxed load a call. The
 * newest 4,096 events are kept. */
void rt_trace(bool on);
/* Takes up to n events out, oldest first. *lost, if not NULL: how many were overwritten since the last call. */
int32_t rt_trace_read(RtTraceEvent *events, int32_t n, int64_t *lost);

/* -- threads (cpu/pool.c) ---------------------------------------------------------------------- */

/* Runs fn over [0, n) in chunks on the pool, the calling thread included; returns when all is done.
 * ctx gets the first exception (CALL_EXCEPTION) and its poll runs on the calling thread only;
 * CALL_PENDING when that interrupted. After either, remaining chunks are skipped; chunks that run
 * end at their next poll. Several threads may call it at once, and fn may call it again. chunk 0:
 * chosen. */
typedef int (*RtRange)(CallContext *ctx, int64_t first, int64_t last, void *user);
int rt_parallel_for(CallContext *ctx, int64_t n, int64_t chunk, RtRange fn, void *user);

/* For loops of compiled code (CallContext.parallel): they ask rt_threads and rt_chunk_size of the calling thread. */
extern const ParallelRunner rt_parallel;
/* Number of this thread among those that work on one range: 0 is the one that called. [quick] */
int32_t rt_thread_id(void);
/* Iterations in a chunk of this thread's parallel loops; 0: chosen. The second returns what it was before. [quick] */
int64_t rt_chunk_size(void);
int64_t rt_chunk_size_set(int64_t n);

int32_t
rt_threads_max(void);     /* QUERN_NUM_THREADS, else the processors this process may use [quick] */
int32_t rt_threads(void); /* for calls of this thread; starts as rt_threads_max [quick] */
bool rt_threads_set(int32_t n, RtError *err); /* 1 .. rt_threads_max, this thread only */
/* The process is about to end: work that runs on the pool stops at its next poll, and memory, streams and modules are
 * not given back to drivers any more, which would wait for kernels that may never end. */
void rt_leave(void);
bool rt_leaving(void);             /* [quick] */
int32_t rt_launches_running(void); /* on the cpu device [quick] */

#endif
