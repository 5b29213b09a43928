/* The stand-in runtime: its one state, and what its files offer one another.
 *
 * Every exported function begins with FH_ENTER, which takes the lock, counts and logs the call, lets FAKEHIP_FAIL have
 * its say and checks that the current device is usable; and it ends with fh_leave, which gives the lock back and
 * keeps the error for hipGetLastError. Streams execute at once, or late (fh_late.c). */
#ifndef FAKEHIP_FH_H
#define FAKEHIP_FH_H

#include "hip_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FH_API __attribute__((visibility("default")))

typedef enum FhSym {
#define SYM(name, since, fails) SYM_##name,
#include "syms.def"
#undef SYM
    SYM_COUNT
} FhSym;

enum { FH_MAX_DEVICES = 16, FH_MAX_RULES = 32, FH_LDS = 65536, FH_PROCESSORS = 8 };

/* -- Code objects (fh_image.c) ------------------------------------------------------------------ */

typedef struct FhArg {
    uint32_t offset, size;
    bool pointer;
} FhArg;

enum { FH_MAX_ARGS = 4096 }; /* as many as fit into the parameters: bytes */

/* What the metadata say about a kernel. */
typedef struct FhKernel {
    char name[512];
    uint32_t kernarg, lds, scratch, wave, vgprs, sgprs, max_threads;
    uint32_t explicit_bytes; /* where the last argument that is not hidden ends */
    uint32_t nargs;
    FhArg args[FH_MAX_ARGS];
} FhKernel;

typedef struct FhImage {
    const char *bytes;
    bool owned;    /* bytes is a copy of ours */
    uint64_t size; /* of the file */
    uint64_t span; /* of the segments in memory */
    FhKernel *kernels;
    uint32_t nkernels;
} FhImage;

/* Checks everything about the file; HIP_Success or an error with words in `why`. version: ROCm's, 6030 for 6.3. */
HipResult fh_image_open(FhImage *image, const void *bytes, const char *arch, int version, char *why,
                        size_t room);
void fh_image_close(FhImage *image);
/* Segments into memory that the device sees at `address`, relocated. */
void fh_image_place(const FhImage *image, char *memory, uint64_t address);
/* The bytes of the code: an offset in the segments and a size. */
bool fh_image_code(const FhImage *image, uint64_t *offset, uint64_t *size);
/* The 64 bytes that describe a kernel, and where in the segments its code begins. */
const char *fh_image_descriptor(const FhImage *image, const char *kernel, uint64_t *entry);
/* A variable's offset in the segments; false: there is none of this name. */
bool fh_image_variable(const FhImage *image, const char *name, uint64_t *offset, uint64_t *size);

/* -- Objects ------------------------------------------------------------------------------------ */

typedef enum FhKind { FH_module = 1, FH_function, FH_stream, FH_event } FhKind;

/* Handles are numbers that no pointer can be; an object's number is never used again. */
typedef struct FhObject {
    FhKind kind;
    bool alive;
    uint32_t index;
    int device;
    struct FhObject *module; /* of a function */
    FhImage image;           /* of a module */
    struct GcnCode *code[2]; /* of a module: decoded for waves of 32 and of 64 lanes */
    uint64_t address;
    const FhKernel *kernel;
    unsigned flags;
    bool recorded;
    uint64_t time;
    uint64_t number; /* of an event: the operation that records it, in fh_late.c */
} FhObject;

FhObject *fh_object_new(FhKind kind, int device);
FhObject *fh_object(const void *handle, FhKind kind);
void *fh_handle(const FhObject *object);
void fh_object_end(FhObject *object);

/* -- Memory (fh_memory.c) ------------------------------------------------------------------------ */

typedef enum FhMemory { FM_device, FM_module, FM_managed, FM_host } FhMemory;

typedef struct FhAlloc {
    uint64_t lo, size;
    char *host; /* where the stand-in itself reads and writes it */
    FhMemory kind;
    int device;
    bool alive;
} FhAlloc;

/* The living allocation that holds the address (or ends there, where `end`). */
FhAlloc *fh_alloc_find(uint64_t address, bool end);
HipResult fh_alloc_device(int device, uint64_t size, FhMemory kind, FhAlloc **out);
void fh_alloc_end(FhAlloc *alloc);
void fh_memory_end(void);

/* -- State (fh_state.c) -------------------------------------------------------------------------- */

typedef struct FhRule { /* fails the n-th matching call; with `onwards` all later ones too */
    bool matches[SYM_COUNT];
    uint64_t n, seen;
    bool onwards;
    HipResult code;
} FhRule;

typedef struct FhDevice {
    char arch[64];
    uint64_t used;
    HipResult sticky;
    /* Device memory is a file mapped twice: at `lo` the program can hold addresses but not touch them, at `alias`
     * the stand-in works. No address is given out twice. */
    uint64_t lo, next;
    char *alias;
    int fd;
} FhDevice;

typedef struct FhRuntime {
    pthread_mutex_t lock;
    bool configured, started, forked, fork_hook;
    int ndevices, version; /* version as HIP counts: 60300000 is 6.3 */
    uint64_t memory;
    FhDevice devices[FH_MAX_DEVICES];
    FhRule rules[FH_MAX_RULES];
    uint32_t nrules;
    uint64_t counts[SYM_COUNT];
    uint64_t launches, fault_launch; /* the n-th launch leaves its device with fault_code */
    HipResult fault_code;
    bool noexec, unset;
    uint64_t seed, timeout, late, executed; /* lane-instructions */
    FhObject **objects;
    uint32_t nobjects, cap_objects;
    FhAlloc **allocs;
    uint32_t nallocs, cap_allocs;
    FILE *log;
    char call[512], fault[1024];
} FhRuntime;

typedef enum FhNeeds { FH_NOTHING, FH_INIT, FH_DEVICE } FhNeeds;

FhRuntime *fh_runtime(void);
int fh_current(void); /* the thread's device */
void fh_set_current(int device);
FhDevice *fh_device(void);
HipResult fh_enter(FhSym sym, FhNeeds needs, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
HipResult fh_leave(HipResult result);
/* Says what was wrong, for fakehip_last_fault; returns `code`. */
HipResult fh_fault(HipResult code, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool fh_newer(void); /* ROCm 6 and later */

#define FH_ENTER(sym, needs, ...)                                                                  \
    do {                                                                                           \
        HipResult early = fh_enter(SYM_##sym, needs, __VA_ARGS__);                                 \
        if (early) return fh_leave(early);                                                         \
    } while (0)
#define FH_REQUIRE(condition, error)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return fh_leave(fh_fault(HIP_##error, "%s: not %s", __func__, #condition));            \
    } while (0)

/* fh_execute.c: runs the kernel to its end. */
typedef struct FhLaunch {
    unsigned grid[3], block[3], lds;
    bool together; /* all groups are resident from the start */
    const void *args;
    size_t bytes;
} FhLaunch;
HipResult fh_execute(FhObject *function, const FhLaunch *l);

/* -- Operations on streams (fh_late.c) ------------------------------------------------------------ */

typedef struct FhOp {
    HipResult (*act)(struct FhOp *op);
    char *to, *from; /* of copies; of a host function, itself and its argument */
    size_t size;
    unsigned char value;
    FhObject *object; /* a function, an event */
    FhLaunch launch;
    void *args;      /* of the launch; malloc, given away */
    uint64_t after;  /* the number of what has to have ended */
    uint64_t number; /* its own; given by fh_do */
    bool host;       /* calls the program */
    HipResult fault;
} FhOp;

/* Does it, or puts it on the stream; *number (may be NULL): its own, for fh_number_busy, or 0. */
HipResult fh_do(void *stream, FhOp *op, uint64_t *number);
void fh_wait_device(int device);
void fh_wait_stream(void *stream);
void fh_wait_number(uint64_t number);
bool fh_stream_busy(void *stream);
bool fh_number_busy(uint64_t number);
void fh_late_begin(uint64_t seed);
void fh_late_progress(unsigned one_in);
void fh_late_step(void);
void fh_late_end(void);

/* fh_stream.c: NULL and the two special ones, or a stream of the current device. */
bool fh_stream_ok(void *stream);

#endif
