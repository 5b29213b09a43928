/* test_machine.c - whole launches: what a wave finds in its registers, barriers, the order of waves, and each check that stops a
 * kernel. The kernels are written in assembly for gfx1100; s[0:1] is the address of the arguments, whose first is `out`. */
#include "../interp/gcn.h"
#include "assemble.h"

#include <stdio.h>
#include <stdlib.h>

enum { CODE_AT = 0x10000, OUT_AT = 0x200000, WORDS = 256, TEXT_ROOM = 4096 };

typedef struct Bench {
    Chip chip;
    uint32_t out[WORDS];
    char message[600];
    int failures;
} Bench;

typedef struct Setup {
    const char *text;
    uint32_t grid[3], block[3]; /* 0 is 1 */
    uint32_t lds, scratch;
    uint64_t seed, deadline;
    bool unset, gone; /* gone: `out` was freed */
} Setup;

static bool find(void *driver, uint64_t address, GcnRange *range) {
    Bench *b = driver;
    if (address - OUT_AT >= sizeof b->out) return false;
    *range = (GcnRange){OUT_AT, sizeof b->out, (char *)b->out, true};
    return true;
}

static bool find_nothing(void *driver, uint64_t address, GcnRange *range) {
    (void)driver, (void)address, (void)range;
    return false;
}

static void put(uint8_t *descriptor, unsigned at, uint32_t value) {
    memcpy(descriptor + at, &value, 4);
}

/* Two user registers for the arguments, then the three numbers of the block; all numbers of the work-item. */
static void describe(uint8_t *d, const Setup *s) {
    memset(d, 0, 64);
    put(d, 0, s->lds), put(d, 4, s->scratch), put(d, 8, 8 + 256);
    put(d, 48, 31 | 15 << 16);
    put(d, 52, 2 << 1 | 7 << 7 | 2 << 11);
    put(d, 56, 8);
}

static GcnResult run(Bench *b, const Setup *s) {
    static uint8_t bytes[TEXT_ROOM];
    uint8_t descriptor[64];
    uint64_t out = OUT_AT;
    size_t size = assemble(&b->chip, s->text, bytes, sizeof bytes);
    GcnCode *code = size ? gcn_code_open(b->chip.name, b->chip.wave, bytes, CODE_AT, size) : NULL;
    describe(descriptor, s);
    b->message[0] = 0;
    if (!code) printf("LLVM does not assemble: %s\n", s->text);
    GcnLaunch launch = {.code = code,
                        .name = "kernel",
                        .descriptor = descriptor,
                        .entry = CODE_AT,
                        .lds = s->lds,
                        .wave = b->chip.wave,
                        .args = &out,
                        .args_bytes = sizeof out,
                        .explicit_bytes = sizeof out,
                        .seed = s->seed,
                        .deadline = s->deadline,
                        .unset = s->unset,
                        .find = s->gone ? find_nothing : find,
                        .driver = b,
                        .message = b->message,
                        .room = sizeof b->message};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = s->grid[i] ? s->grid[i] : 1;
        launch.block[i] = s->block[i] ? s->block[i] : 1;
    }
    GcnResult result = code ? gcn_launch(&launch) : GCN_NO_MEMORY;
    gcn_code_close(code);
    return result;
}

static void expect(Bench *b, const char *what, bool right) {
    if (right) return;
    b->failures++;
    printf("%s: %s; out is %x %x %x %x\n", what, b->message, b->out[0], b->out[1], b->out[2],
           b->out[3]);
}

/* The launch must be stopped for this reason. */
static void stops(Bench *b, const char *what, Setup s, GcnResult result, const char *words) {
    GcnResult got = run(b, &s);
    expect(b, what, got == result && strstr(b->message, words));
}

/* out[number of the work-item in the launch] = s2 | x << 8, in v5. */
#define BASE   "s_load_b64 s[6:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
#define NUMBER "v_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v2, 2, v1\n"

static void test_registers(Bench *b) {
    Setup s = {
        .text = BASE
        "v_bfe_u32 v3, v0, 10, 10\nv_bfe_u32 v4, v0, 20, 10\nv_and_b32 v1, 0x3ff, v0\n"
        "v_lshl_or_b32 v5, v3, 4, v1\nv_lshl_or_b32 v5, v4, 8, v5\n"
        "s_lshl_b32 s8, s2, 12\ns_lshl_b32 s9, s3, 16\ns_lshl_b32 s10, s4, 20\n"
        "s_or_b32 s8, s8, s9\ns_or_b32 s8, s8, s10\nv_or_b32 v5, s8, v5\n"
        "v_mul_u32_u24 v6, v3, 3\nv_mul_u32_u24 v7, v4, 6\nv_add3_u32 v6, v6, v7, v1\n"
        "s_mul_i32 s11, s3, 2\ns_mul_i32 s12, s4, 4\ns_add_i32 s11, s11, s12\ns_add_i32 s11, s11, "
        "s2\n"
        "s_mul_i32 s11, s11, 12\nv_add_lshl_u32 v6, v6, s11, 2\nglobal_store_b32 v6, v5, s[6:7]",
        .grid = {2, 2, 2},
        .block = {3, 2, 2}};
    bool right = run(b, &s) == GCN_OK;
    for (uint32_t g = 0; g < 8; g++)
        for (uint32_t t = 0; t < 12; t++)
            right &= b->out[g * 12 + t] == ((g & 1) << 12 | (g >> 1 & 1) << 16 | (g >> 2) << 20 |
                                            t % 3 | t / 3 % 2 << 4 | t / 6 << 8);
    expect(b, "numbers of blocks and work-items", right);
    s = (Setup){.text = BASE
                "s_load_b32 s8, s[0:1], 0xc\ns_load_b32 s9, s[0:1], 0x14\ns_load_b32 s10, s[0:1], "
                "0x80\ns_waitcnt lgkmcnt(0)\n"
                "s_and_b32 s9, s9, 0xffff\nv_mov_b32 v1, s8\nv_mov_b32 v2, s9\nv_mov_b32 v3, "
                "s10\nv_mov_b32 v4, 0\n"
                "global_store_b96 v4, v[1:3], s[6:7]",
                .grid = {1, 5, 1},
                .block = {7, 1, 1},
                .lds = 0};
    expect(b, "hidden arguments",
           run(b, &s) == GCN_OK && b->out[0] == 5 && b->out[1] == 7 && b->out[2] == 0);
}

/* Each wave leaves a number in LDS, and takes that of the next one. */
#define EXCHANGE(barrier)                                                                          \
    BASE NUMBER "ds_store_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" barrier                              \
                "v_add_nc_u32 v3, 32, v1\nv_and_b32 v3, 0x7f, v3\nv_lshlrev_b32 v3, 2, v3\n"       \
                "ds_load_b32 v4, v3\ns_waitcnt lgkmcnt(0)\nglobal_store_b32 v2, v4, s[6:7]"

static bool exchanged(Bench *b, const char *text, uint64_t seed) {
    Setup s = {.text = text, .block = {128, 1, 1}, .lds = 512, .seed = seed};
    bool right = run(b, &s) == GCN_OK;
    for (uint32_t t = 0; t < 128; t++)
        right &= b->out[t] == ((t + 32) & 127);
    return right;
}

static void test_barriers(Bench *b) {
    for (uint64_t seed = 0; seed < 6; seed++)
        expect(b, "a barrier", exchanged(b, EXCHANGE("s_barrier\n"), seed));
    expect(b, "a missing barrier is seen in order", !exchanged(b, EXCHANGE(""), 0));
    expect(b, "and reversed", !exchanged(b, EXCHANGE(""), 1));
    Setup s = {.text = BASE NUMBER
               "v_cmpx_gt_u32_e32 32, v1\ns_cbranch_execz end\ns_barrier\nv_mov_b32 v3, 9\n"
               "global_store_b32 v2, v3, s[6:7]\nend:",
               .block = {64, 1, 1}};
    expect(b, "a wave that has ended holds nobody up", run(b, &s) == GCN_OK && b->out[31] == 9);
    stops(b, "two barriers",
          (Setup){.text = NUMBER "v_cmpx_gt_u32_e32 32, v1\ns_cbranch_execz "
                                 "other\ns_barrier\ns_endpgm\nother:\ns_barrier",
                  .block = {64, 1, 1}},
          GCN_FAULT, "waits at another barrier than wave 0");
}

static void test_blocks_that_wait(Bench *b) {
    /* Block 0 waits for what block 1 writes. */
    Setup s = {
        .text = BASE
        "v_mov_b32 v1, 0\nv_mov_b32 v2, 77\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc1 wait\n"
        "global_store_b32 v1, v2, s[6:7]\ns_endpgm\nwait:\ns_sleep 1\n"
        "global_load_b32 v3, v1, s[6:7]\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s8, v3\n"
        "s_cmp_lg_u32 s8, 0x4d\ns_cbranch_scc1 wait\nglobal_store_b32 v1, v2, s[6:7] offset:4",
        .grid = {2, 1, 1},
        .deadline = 20};
    memset(b->out, 0, sizeof b->out);
    expect(b, "a block that waits for the next one", run(b, &s) == GCN_OK && b->out[1] == 77);
    stops(b, "an endless loop", (Setup){.text = "again:\ns_branch again", .deadline = 1},
          GCN_TIMEOUT, "for too long");
}

static void test_memory(Bench *b) {
    stops(b, "behind the end",
          (Setup){.text = BASE "v_mov_b32 v1, 0x400\nglobal_store_b32 v1, v1, s[6:7]"}, GCN_FAULT,
          "a store of 4 bytes at 0x200400, where there is no memory");
    stops(b, "over the end",
          (Setup){.text = BASE "v_mov_b32 v1, 0x3fc\nglobal_load_b64 v[2:3], v1, s[6:7]"},
          GCN_FAULT, "runs over the end of its allocation of 1024");
    stops(b, "after it was freed",
          (Setup){.text = BASE "v_mov_b32 v1, 0\nglobal_load_b32 v2, v1, s[6:7]", .gone = true},
          GCN_FAULT, "where there is no memory");
    stops(b, "arguments are only read",
          (Setup){.text = "v_mov_b32 v1, 0\nglobal_store_b32 v1, v1, s[0:1]"}, GCN_FAULT,
          "only read");
    stops(b, "an atomic operation between words",
          (Setup){.text = BASE "v_mov_b32 v1, 2\nglobal_atomic_add_u32 v1, v1, s[6:7]"}, GCN_FAULT,
          "no multiple");
    Setup below = {.text = BASE
                   "v_mov_b32 v1, -8\nv_mov_b32 v2, 7\nv_mov_b32 v3, 0\nds_store_b32 v1, v2 "
                   "offset:20\nv_mov_b32 v1, 12\nds_load_b32 v4, v1\n"
                   "s_waitcnt lgkmcnt(0)\nglobal_store_b32 v3, v4, s[6:7]",
                   .lds = 16};
    expect(b, "addresses of LDS have 32 bits", run(b, &below) == GCN_OK && b->out[0] == 7);
    stops(b, "LDS", (Setup){.text = "v_mov_b32 v1, 61\nds_load_b32 v2, v1", .lds = 64}, GCN_FAULT,
          "4 bytes at 61 of LDS, the group has 64");
    stops(b, "scratch", (Setup){.text = "scratch_load_b32 v2, off, off offset:16", .scratch = 16},
          GCN_FAULT, "4 bytes at 16 of scratch, a lane has 16");
    Setup line = {.text =
                      BASE "s_load_b128 s[8:11], s[0:1], 0x100\ns_waitcnt lgkmcnt(0)\n"
                           "v_mov_b32 v1, 0\nv_mov_b32 v2, s10\nglobal_store_b32 v1, v2, s[6:7]"};
    expect(b, "behind 264 bytes of arguments the line goes on",
           run(b, &line) == GCN_OK && b->out[0] == 0xCBCBCBCB);
    stops(b, "behind the line of the arguments",
          (Setup){.text = "s_load_b64 s[8:9], s[0:1], 0x13c"}, GCN_FAULT, "a load of 8 bytes");
    stops(b, "a scalar load between words",
          (Setup){.text = "s_add_u32 s0, s0, 2\ns_load_b32 s2, s[0:1], 0x0"}, GCN_FAULT,
          "no multiple of 4");
    stops(
        b, "a block and a place are named",
        (Setup){.text = BASE "v_mov_b32 v1, -4\nglobal_load_b32 v1, v1, s[6:7]", .grid = {1, 1, 1}},
        GCN_FAULT, "kernel, block 0,0,0, wave 0, at +0x");
    Setup s = {.text = BASE
               "v_mov_b32 v1, 5\nscratch_store_b32 off, v1, off offset:4\ns_mov_b64 s[8:9], "
               "src_private_base\n"
               "v_mov_b32 v2, 4\nv_mov_b32 v3, s9\nflat_load_b32 v4, v[2:3]\ns_waitcnt vmcnt(0) "
               "lgkmcnt(0)\n"
               "v_mov_b32 v5, 8\nds_store_b32 v5, v5\ns_mov_b64 s[8:9], src_shared_base\nv_mov_b32 "
               "v6, s9\n"
               "flat_load_b32 v7, v[5:6]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32 v8, "
               "0\nglobal_store_b32 v8, v4, s[6:7]\n"
               "global_store_b32 v8, v7, s[6:7] offset:4",
               .scratch = 16,
               .lds = 16};
    expect(b, "flat addresses of LDS and scratch",
           run(b, &s) == GCN_OK && b->out[0] == 5 && b->out[1] == 8);
}

static void test_code(Bench *b) {
    stops(b, "an instruction without a row", (Setup){.text = "v_lerp_u8 v0, v1, v2, v3"},
          GCN_ILLEGAL, "does not know this instruction:\tv_lerp_u8 v0, v1, v2, v3");
    stops(b, "a jump out of the code", (Setup){.text = "s_mov_b64 s[4:5], 64\ns_setpc_b64 s[4:5]"},
          GCN_ILLEGAL, "no code at 0x40");
    stops(b, "a trap", (Setup){.text = "s_trap 2"}, GCN_TRAP, "trap 2");
    stops(b, "the end of the code", (Setup){.text = "s_branch last\ns_endpgm\nlast:\ns_code_end"},
          GCN_ILLEGAL, "run over");
    stops(b, "rounding", (Setup){.text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3"},
          GCN_ILLEGAL, "rounding to the nearest");
    Setup s = {.text = BASE
               "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 28\ns_addc_u32 s9, s9, 0\nv_mov_b32 v1, 0\n"
               "s_swappc_b64 s[30:31], s[8:9]\nglobal_store_b32 v1, v2, "
               "s[6:7]\ns_endpgm\nf:\nv_mov_b32 v2, 99\ns_setpc_b64 s[30:31]"};
    b->out[0] = 0;
    expect(b, "a call", run(b, &s) == GCN_OK && b->out[0] == 99);
}

static void test_waits(Bench *b) {
    stops(b, "a load is used too early",
          (Setup){.text = BASE "v_mov_b32 v1, 0\nglobal_load_b32 v2, v1, s[6:7]\nv_mov_b32 v3, v2"},
          GCN_FAULT, "v2 is used before a wait says that it is there");
    stops(b, "a scalar load", (Setup){.text = "s_load_b64 s[6:7], s[0:1], 0x0\ns_mov_b32 s8, s7"},
          GCN_FAULT, "s7 is used before");
    stops(
        b, "the address of a load",
        (Setup){
            .text =
                "s_load_b64 s[6:7], s[0:1], 0x0\nv_mov_b32 v1, 0\nglobal_load_b32 v2, v1, s[6:7]"},
        GCN_FAULT, "s6 is used before");
    stops(
        b, "what LDS gives",
        (Setup){.text = "v_mov_b32 v1, 0\nds_load_b32 v2, v1\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
                .lds = 16},
        GCN_FAULT, "v2 is used before");
    stops(b, "what is overwritten",
          (Setup){.text = "v_mov_b32 v1, 0\nds_load_b32 v2, v1\nv_mov_b32 v2, 0", .lds = 16},
          GCN_FAULT, "v2 is used before");
    stops(b, "the second of two",
          (Setup){
              .text =
                  "v_mov_b32 v1, 0\nds_load_b32 v2, v1\nds_load_b32 v3, v1\ns_waitcnt lgkmcnt(1)\n"
                  "v_mov_b32 v4, v2\nv_mov_b32 v4, v3",
              .lds = 16},
          GCN_FAULT, "v3 is used before");
    Setup swap = {.text =
                      BASE "v_mov_b32 v1, 0\nv_mov_b32 v2, 5\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0\n"
                           "v_mov_b32 v5, 0\nglobal_store_b64 v1, v[4:5], s[6:7]\n"
                           "ds_load_b64 v[6:7], v1\n"
                           "global_atomic_cmpswap_b64 v[8:9], v1, v[2:5], s[6:7] glc",
                  .lds = 16};
    expect(b, "behind a compare-and-swap's registers", run(b, &swap) == GCN_OK && b->out[0] == 5);
    stops(b, "what a compare-and-swap expects",
          (Setup){.text = BASE "v_mov_b32 v1, 0\nds_load_b64 v[4:5], v1\n"
                               "global_atomic_cmpswap_b64 v[8:9], v1, v[2:5], s[6:7] glc",
                  .lds = 16},
          GCN_FAULT, "v4 is used before");
    Setup s = {.text = BASE "v_mov_b32 v1, 0\nds_store_b32 v1, v1\nds_load_b32 v2, v1\nds_load_b32 "
                            "v3, v1\ns_waitcnt lgkmcnt(1)\n"
                            "v_add_nc_u32 v4, 7, v2\nglobal_store_b32 v1, v4, s[6:7]",
               .lds = 16};
    expect(b, "the first of two", run(b, &s) == GCN_OK && b->out[0] == 7);
}

static void test_unset(Bench *b) {
    Setup s = {.text = BASE
               "v_mov_b32 v1, 0\nv_add_nc_u32 v2, v3, v1\nglobal_store_b32 v1, v2, s[6:7]"};
    expect(b, "registers start as garbage", run(b, &s) == GCN_OK && b->out[0] == 0xcbcbcbcb);
    s.unset = true;
    stops(b, "a vector register that was never written", s, GCN_FAULT,
          "v3 is read, and was never written in lane 0");
    stops(b, "a scalar one", (Setup){.text = "s_mov_b32 s20, s21", .unset = true}, GCN_FAULT,
          "register 21 is read");
    stops(b, "one lane of it",
          (Setup){.text = "v_cmpx_gt_u32_e32 5, v0\nv_mov_b32 v1, 0\ns_mov_b32 exec_lo, "
                          "0x3f\nv_mov_b32 v2, v1",
                  .block = {32, 1, 1},
                  .unset = true},
          GCN_FAULT, "in lane 5");
}

int main(void) {
    static Bench bench = {.chip = {"gfx1100", 32, NULL}};
    assembler_start();
    if (!open_chip(&bench.chip)) return 1;
    test_registers(&bench);
    test_barriers(&bench);
    test_blocks_that_wait(&bench);
    test_memory(&bench);
    test_code(&bench);
    test_waits(&bench);
    test_unset(&bench);
    LLVMDisposeTargetMachine(bench.chip.machine);
    printf("%d failures\n", bench.failures);
    return bench.failures != 0;
}
