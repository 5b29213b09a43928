/* Executes AMDGPU machine code: what the driver asks of the interpreter.
 *
 * A GcnCode is the text of one code object, decoded instruction by instruction when a wave first reaches it, with LLVM's
 * disassembler. A GcnLaunch says what a dispatch packet and a kernel descriptor would. gcn_launch runs all blocks to
 * their end, or says what a wave did wrong. */
#ifndef FAKEHIP_GCN_H
#define FAKEHIP_GCN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct GcnCode GcnCode;

/* Memory that a launch may touch: [lo, lo + size) of the device lies at `host`. */
typedef struct GcnRange {
    uint64_t lo, size;
    char *host;
    bool writable;
} GcnRange;

typedef struct GcnLaunch {
    GcnCode *code;
    const char *name;          /* of the kernel, for messages */
    const uint8_t *descriptor; /* 64 bytes */
    uint64_t entry;            /* address of the first instruction */
    uint32_t grid[3], block[3];
    uint32_t lds;     /* bytes, the dynamic part included */
    uint32_t wave;    /* lanes: 32 or 64 */
    const void *args; /* the explicit ones */
    size_t args_bytes, explicit_bytes;
    uint64_t seed;     /* order of waves and blocks: 0 in order, 1 reversed, others random */
    uint64_t deadline; /* seconds until a kernel is stopped; 0: never */
    bool
        packed_ids; /* gfx90a and later of its kind: the three numbers of a work-item in one register */
    bool together; /* all groups are resident from the start */
    bool unset;    /* reading a register that was never written is an error */
    /* The living memory that holds `address`, or false. */
    bool (*find)(void *driver, uint64_t address, GcnRange *range);
    void *driver;
    char *message; /* what a wave did wrong */
    size_t room;
    uint64_t *executed; /* counts lane-instructions; may be NULL */
} GcnLaunch;

typedef enum GcnResult {
    GCN_OK,
    GCN_FAULT,
    GCN_ILLEGAL,
    GCN_TRAP,
    GCN_TIMEOUT,
    GCN_NO_MEMORY
} GcnResult;

/* The bytes [address, address + size) at `bytes` must live as long as the code. arch: "gfx90a:xnack-"; wave: lanes that
 * instructions are decoded for. NULL: LLVM does not know the chip. */
GcnCode *gcn_code_open(const char *arch, uint32_t wave, const uint8_t *bytes, uint64_t address,
                       uint64_t size);
void gcn_code_close(GcnCode *code);
int gcn_code_chip(const GcnCode *code); /* 9, 10, 11 or 12 */
GcnResult gcn_launch(const GcnLaunch *launch);

#endif
