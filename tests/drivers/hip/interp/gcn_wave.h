/* A launch while it runs: waves, their group, and what the files of the interpreter offer one another. */
#ifndef FAKEHIP_GCN_WAVE_H
#define FAKEHIP_GCN_WAVE_H

#include "gcn_inst.h"
#include "gcn_num.h"

typedef struct GcnGroup GcnGroup;
typedef struct GcnRunning GcnRunning;

/* High halves of flat addresses that mean LDS and scratch. */
enum { LDS_APERTURE = 0x00010000, SCRATCH_APERTURE = 0x00020000 };
enum { RANGES = 32, SLICE = 20000 };
/* As s_set_gpr_idx_on has them. */
enum { INDEXED_A = 1, INDEXED_B = 2, INDEXED_C = 4, INDEXED_D = 8 };

/* Registers that a load will fill. */
enum { QUEUE = 64 };
typedef struct GcnAnswer {
    uint16_t reg;
    uint8_t words;
    bool scalar;
} GcnAnswer;
typedef struct GcnQueue {
    GcnAnswer at[QUEUE];
    unsigned first, count;
} GcnQueue;

typedef enum WaveStatus { W_ready, W_barrier, W_ended, W_fault } WaveStatus;

struct GcnWave {
    uint32_t v[V_COUNT][LANES];
    uint32_t s[S_COUNT];
    uint64_t vset[V_COUNT]; /* lanes that were written */
    bool sset[S_COUNT];
    bool scc;
    int lanes;
    uint32_t number; /* in the group */
    uint64_t pc;
    uint64_t all; /* one bit for each lane */
    WaveStatus status;
    bool signalled;     /* RDNA4: arrived at the barrier, does not wait yet */
    uint32_t mode;      /* rounding and denormals, as s_setreg sees them */
    uint8_t indexed;    /* INDEXED_...: M0 is added to these registers of vector instructions */
    GcnQueue queues[3]; /* loads, LDS, scalar loads */
    uint8_t vwaits[V_COUNT], swaits[S_COUNT]; /* how many answers each register waits for */
    uint8_t *scratch;
    GcnGroup *group;
    GcnRunning *run;
    const GcnInst *at; /* the instruction that runs */
};

struct GcnGroup {
    uint32_t id[3];
    uint32_t nwaves, arrived, epoch;
    uint8_t *lds;
    GcnWave **waves;
    bool busy;
};

struct GcnRunning {
    const GcnLaunch *launch;
    int chip;         /* generation: 9, 10, 11, 12 */
    uint32_t scratch; /* bytes for a lane */
    uint32_t nwaves;  /* of a group */
    uint8_t *packet;  /* the dispatch packet, */
    uint8_t *kernarg; /* and the arguments with the hidden ones */
    uint32_t kernarg_bytes;
    GcnRange ranges[RANGES]; /* used last */
    unsigned next_range;
    GcnResult result;
    uint64_t clock, executed, random;
    struct timespec *deadline;
};

static inline uint64_t gcn_pair(const GcnWave *w, unsigned reg) {
    return w->s[reg] | (uint64_t)w->s[reg + 1] << 32;
}
static inline uint64_t gcn_exec(const GcnWave *w) {
    return gcn_pair(w, S_EXEC) & w->all;
}

/* gcn_wave.c */
GcnStep gcn_fault(GcnWave *w, GcnResult result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A scalar operand as 64 bits; a mask as wide as the wave. False: a fault. */
bool gcn_read_scalar(GcnWave *w, const GcnOperand *o, GcnType type, uint64_t *value);
void gcn_write_scalar(GcnWave *w, const GcnOperand *o, GcnType type, uint64_t value);
uint64_t gcn_mask(GcnWave *w, const GcnOperand *o);
void gcn_write_mask(GcnWave *w, const GcnOperand *o, uint64_t mask);
void gcn_set_exec(GcnWave *w, uint64_t mask);
GcnStep gcn_wave_run(GcnWave *w);

/* gcn_lanes.c: the lane that lane l reads (-1: none), by the DPP control of the instruction. */
int gcn_dpp_source(const GcnWave *w, const GcnInst *i, int l);
/* gcn_vector.c: has every active lane of these registers been written? */
bool gcn_check_vector(GcnWave *w, const GcnOperand *o, unsigned words);

/* gcn_wait.c */
bool gcn_wait_check(GcnWave *w, const GcnInst *i);
void gcn_wait_begin(GcnWave *w, const GcnInst *i);

/* gcn_memory.c: where the device's bytes are; NULL: nowhere, after a fault. */
char *gcn_address(GcnWave *w, uint64_t address, unsigned bytes, bool write);

#endif
