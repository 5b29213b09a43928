/* The stand-in driver: its one state, and what its files offer one another.
 *
 * Every exported function begins with FC_ENTER, which takes the driver's lock, counts and logs the call,
 * lets FAKECUDA_FAIL have its say and checks that the driver and, where asked, a context are usable;
 * and it ends with fc_leave, which gives the lock back. Streams execute at once, inside the call.
 */
#ifndef FAKECUDA_FC_H
#define FAKECUDA_FC_H

#include "../interp/ptx_interp.h"
#include "cu_abi.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FC_API __attribute__((visibility("default")))

typedef enum FcSym {
#define SYM(name, base, version) SYM_##name,
#include "syms.def"
#undef SYM
    SYM_COUNT
} FcSym;

typedef struct FcSymRow {
    const char *name, *base;
    int version;
    void (*address)(void);
} FcSymRow;
extern const FcSymRow fc_syms[SYM_COUNT];

/* -- Objects ---------------------------------------------------------------------------------- */

/* Handles are numbers that no pointer can be; an object's number is never used again, so a stale
 * handle is always recognised. */
typedef enum FcKind {
    FK_context = 1,
    FK_module,
    FK_function,
    FK_stream,
    FK_event,
    FK_graph,
    FK_graph_exec
} FcKind;

typedef struct FcObject FcObject;
typedef struct FcNode {
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void *params; /* in one buffer */
    size_t size;
    uint32_t *before, nbefore; /* the nodes that it waits for, by number */
} FcNode;
struct FcObject {
    FcKind kind;
    bool alive;
    uint32_t index;
    FcObject *context;
    union {
        struct {
            CUdevice device;
            CUresult sticky; /* the fault that killed it */
            bool primary;
            uint32_t retained;
            unsigned flags;
        } ctx;
        struct {
            PtxModule *ptx;
        } mod;
        struct {
            FcObject *module;
            const PtxFunc *entry;
            unsigned static_shared;
            int max_dynamic_shared; /* cuFuncSetAttribute; 0: the default */
        } fn;
        struct {
            unsigned flags;
            int priority;
        } stream;
        struct {
            unsigned flags;
            bool recorded;
            uint64_t time;
        } event;
        struct {
            FcNode *nodes;
            uint32_t n;
            uint32_t origin; /* exec: the graph that it was made of */
        } graph;
    };
};

/* -- Memory ----------------------------------------------------------------------------------- */

typedef enum FcMemKind {
    FM_device,
    FM_opened, /* of another process */
    FM_module,
    FM_managed,
    FM_host,
    FM_registered
} FcMemKind;

typedef struct FcAlloc {
    uint64_t lo, size;
    char *host; /* where the driver itself reads and writes it */
    FcMemKind kind;
    CUdevice device;
    FcObject *context; /* that it dies with */
    FcObject *module;  /* of FM_module */
    uint64_t id;
} FcAlloc;

/* Device memory is a file mapped twice: at `lo` the program can hold addresses but not touch them, at
 * `alias` the driver works. */
typedef struct FcRegion {
    uint64_t lo, size;
    char *alias;
    int fd;
    uint64_t next; /* where the next allocation is tried, so that addresses are reused late */
} FcRegion;

enum { FC_MAX_DEVICES = 16, FC_MAX_RULES = 32 };

typedef struct FcDevice {
    FcRegion region;
    uint64_t used;
    FcObject *primary;
} FcDevice;

/* -- State ------------------------------------------------------------------------------------ */

typedef struct FcConfig {
    int devices, version, cc;
    uint64_t memory;
    bool starts, noexec, blocking, reverse;
    uint32_t slice;
    double seconds;
    char missing[1024];
} FcConfig;

/* fails the n-th matching call; with `onwards` all later ones too */
typedef struct FcRule {
    bool matches[SYM_COUNT];
    uint64_t n, seen;
    bool onwards;
    CUresult code;
} FcRule;

typedef struct FcDriver {
    pthread_mutex_t lock;
    bool configured, initialized, forked, fork_hook;
    bool has_key;
    pthread_key_t key; /* FcThread of each thread */
    FcConfig config;
    FILE *log;
    char call[512]; /* the line of the call in progress */
    uint64_t counts[SYM_COUNT];
    FcRule rules[FC_MAX_RULES];
    uint32_t nrules;
    FcDevice devices[FC_MAX_DEVICES];
    FcObject **objects;
    uint32_t nobjects, cap_objects;
    FcAlloc *allocs; /* sorted by lo */
    uint32_t nallocs, cap_allocs;
    uint64_t next_id;
    char fault[1024];
} FcDriver;

enum { FC_STACK = 64 };

typedef struct FcThread {
    FcObject *stack[FC_STACK];
    uint32_t depth;
    bool in_callback;
} FcThread;

/* fc_state.c */
typedef enum FcNeeds { FC_NOTHING, FC_INIT, FC_CONTEXT, FC_EVEN_DEAD } FcNeeds;
FcDriver *fc_driver(void);
CUresult fc_enter(FcSym sym, FcNeeds needs, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
CUresult fc_leave(CUresult result);
FcThread *fc_thread(void);
void fc_configure(void);
/* The calling thread's context, or NULL. */
FcObject *fc_current(void);

#define FC_ENTER(sym, needs, ...)                                                                  \
    do {                                                                                           \
        CUresult early = fc_enter(SYM_##sym, needs, __VA_ARGS__);                                  \
        if (early) return fc_leave(early);                                                         \
    } while (0)
#define FC_REQUIRE(condition, error)                                                               \
    do {                                                                                           \
        if (!(condition)) return fc_leave(CUDA_##error);                                           \
    } while (0)

/* fc_object.c */
FcObject *fc_object_new(FcKind kind, FcObject *context);
FcObject *fc_object(const void *handle, FcKind kind);
void *fc_handle(const FcObject *object);
void fc_object_end(FcObject *object);
void fc_objects_end(const FcObject *context);

/* fc_graph.c */
void fc_graph_end(FcObject *graph);

/* fc_launch.c */
CUresult fc_gather(CUfunction function, void **params, void **extra, void **out, size_t *size);
CUresult fc_launch_node(const FcNode *node, CUstream stream);

/* fc_memory.c */
FcAlloc *fc_alloc_add(FcAlloc alloc); /* to the table; NULL: no memory */
FcAlloc *fc_alloc_find(uint64_t address);
CUresult fc_alloc_device(FcObject *context, uint64_t size, FcMemKind kind, FcAlloc **out);
void fc_alloc_end(FcAlloc *alloc);
/* fc_ipc.c */
void fc_ipc_unmap(const FcAlloc *alloc);
void fc_allocs_end(const FcObject *context, const FcObject *module);
void fc_regions_end(void);

/* fc_stream.c: is this a stream of the current context (NULL and the two special ones are) */
bool fc_stream_ok(CUstream stream);

#endif
