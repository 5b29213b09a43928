/* test_memory.c - every row of the tables of loads, stores and atomic operations, one at a time, on memory and on LDS, against what is
 * computed here, in other words. Half of the lanes are inactive and must change nothing. Each lane has an area of its own: bytes 0 to 31
 * are worked on, 64 to 79 are its operands (a; b from 72), 96 to 111 what its registers hold at the end. */
#include "../interp/gcn.h"
#include "assemble.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CODE_AT = 0x10000,
    OUT_AT = 0x200000,
    AREA = 128,
    LANES = 64,
    TEXT_ROOM = 4096,
    LDS_PART = 512
};
enum { DATA = 8, OPERANDS = 64, SECOND = 72, RESULT = 96 };

#define ACTIVE                                                                                     \
    0x54415105u /* even lanes alone: 16 bytes of a lane reach into the next one's part of LDS */

typedef struct Area {
    uint8_t bytes[LANES][AREA];
} Area;

static Area area, model;
static uint8_t lds[3 * LDS_PART + 64];
static Chip chip;
static int failures, runs;

static bool is_newer(void) {
    return !strncmp(chip.name, "gfx11", 5) || !strncmp(chip.name, "gfx12", 5);
}
static const char *wait(void) {
    return strncmp(chip.name, "gfx12", 5) ? "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                          : "s_wait_loadcnt 0\ns_wait_storecnt 0\ns_wait_dscnt 0\n"
                                            "s_wait_kmcnt 0\n";
}

/* -- a program ---------------------------------------------------------------------------------- */

static char text[TEXT_ROOM];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - n, format, args);
    va_end(args);
}

static const char *move(bool lds_, bool store, int bytes) {
    static char name[32];
    const char *verb = is_newer() || !lds_ ? (store ? "store" : "load") : store ? "write" : "read";
    if (is_newer() || lds_)
        snprintf(name, sizeof name, "%s_%s_b%d", lds_ ? "ds" : "global", verb, bytes * 8);
    else
        snprintf(name, sizeof name, "global_%s_dwordx%d", verb, bytes / 4);
    return name;
}

/* v2: the lane's area behind s[6:7]; v3: its part of LDS; v[4:7]: its operands. */
static void begin(void) {
    text[0] = 0;
    say("%s s[6:7], s[0:1], 0x0\n", is_newer() ? "s_load_b64" : "s_load_dwordx2");
    say("v_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v2, 7, v1\nv_lshlrev_b32 v3, 3, v1\n%s", wait());
    for (int k = 0; k < 3; k++) {
        say("%s v[8:9], v2, s[6:7] offset:%d\n%s", move(false, false, 8), 8 * k, wait());
        say("%s v3, v[8:9] offset:%d\n", move(true, true, 8), LDS_PART * k);
    }
    say("%s v[4:7], v2, s[6:7] offset:%d\n%s", move(false, false, 16), OPERANDS, wait());
    say("s_mov_b32 exec_lo, 0x%x\n", ACTIVE);
    if (chip.wave == 64) say("s_mov_b32 exec_hi, 0x%x\n", ACTIVE << 4);
}

static void end(bool with_lds) {
    say("%s", wait());
    say("s_mov_b32 exec_lo, -1\n");
    if (chip.wave == 64) say("s_mov_b32 exec_hi, -1\n");
    say("%s v2, v[4:7], s[6:7] offset:%d\n", move(false, true, 16), RESULT);
    for (int k = 0; k < 3 && with_lds; k++) {
        say("%s v[8:9], v3 offset:%d\n%s", move(true, false, 8), LDS_PART * k, wait());
        say("%s v2, v[8:9], s[6:7] offset:%d\n", move(false, true, 8), 8 * k);
    }
}

static bool find(void *driver, uint64_t address, GcnRange *range) {
    (void)driver;
    if (address - OUT_AT >= sizeof area) return false;
    *range = (GcnRange){OUT_AT, sizeof area, (char *)&area, true};
    return true;
}

static bool is_active(int lane) {
    return (lane < 32 ? ACTIVE >> lane : (ACTIVE << 4) >> (lane - 32)) & 1;
}

/* Numbers of all sizes, close ones, NaN and infinity among them. */
static uint32_t word(void) {
    static const uint32_t special[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                                       0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x00000001,
                                       0xbff00000, 0x40000000, 0x80000001, 0x7ff00000, 0x7ff80000};
    uint32_t drawn = (uint32_t)rand() << 16 ^ (uint32_t)rand();
    return rand() % 3 ? special[(unsigned)rand() % 15] : drawn >> rand() % 32;
}

static void fill(void) {
    for (int lane = 0; lane < LANES; lane++)
        for (int k = 0; k < AREA; k += 4)
            memcpy(area.bytes[lane] + k, &(uint32_t){word()}, 4);
    for (int lane = 0; lane < LANES; lane++)
        if (rand() % 4 == 0) /* what a compare-and-swap expects is there */
            memcpy(area.bytes[lane] + SECOND, area.bytes[lane] + DATA, 8);
    model = area;
    for (int lane = 0; lane < (int)chip.wave; lane++)
        for (int k = 0; k < 3; k++)
            memcpy(lds + LDS_PART * k + 8 * lane, area.bytes[lane] + 8 * k, 8);
}

/* Runs the text; false: the chip has no such instruction. */
static bool launch(void) {
    uint8_t bytes[TEXT_ROOM], d[64] = {0};
    uint64_t out = OUT_AT;
    uint32_t words[][2] = {
        {0, sizeof lds}, {8, 8 + 256}, {48, 31 | 15 << 16}, {52, 2 << 1}, {56, 8}};
    char message[600] = "";
    for (int k = 0; k < 5; k++)
        memcpy(d + words[k][0], &words[k][1], 4);
    if (chip.wave == 64) d[57] = 0;
    size_t size = assemble(&chip, text, bytes, sizeof bytes);
    if (!size) return false;
    GcnCode *code = gcn_code_open(chip.name, chip.wave, bytes, CODE_AT, size);
    GcnLaunch l = {.code = code,
                   .name = "kernel",
                   .descriptor = d,
                   .entry = CODE_AT,
                   .lds = sizeof lds,
                   .wave = chip.wave,
                   .args = &out,
                   .args_bytes = sizeof out,
                   .explicit_bytes = sizeof out,
                   .grid = {1, 1, 1},
                   .block = {chip.wave, 1, 1},
                   .find = find,
                   .packed_ids = chip.wave == 64,
                   .message = message,
                   .room = sizeof message};
    runs++;
    if (gcn_launch(&l) != GCN_OK) {
        printf("%s: %s\n%s", chip.name, message, text);
        failures++;
        area = model;
    }
    gcn_code_close(code);
    return true;
}

static void compare(const char *name, bool with_lds) {
    int bad = 0;
    for (int lane = 0; lane < (int)chip.wave && !bad; lane++) {
        if (with_lds)
            for (int k = 0; k < 3; k++)
                memcpy(model.bytes[lane] + 8 * k, lds + LDS_PART * k + 8 * lane, 8);
        for (int k = 0; k < AREA && !bad; k++)
            if (area.bytes[lane][k] != model.bytes[lane][k]) {
                printf("%s: %s, lane %d, byte %d: %02x, not %02x\n", chip.name, name, lane, k,
                       area.bytes[lane][k], model.bytes[lane][k]);
                bad = 1;
            }
    }
    failures += bad;
}

/* -- atomic operations -------------------------------------------------------------------------- */

static int64_t extended(uint64_t x, int bits) {
    return bits == 32 ? (int32_t)(uint32_t)x : (int64_t)x;
}

static uint64_t of_floats(const char *op, int bits, uint64_t m, uint64_t a) {
    float f[2];
    double d[2];
    uint32_t low[2] = {(uint32_t)m, (uint32_t)a};
    uint64_t whole[2] = {m, a};
    memcpy(f, low, 8), memcpy(d, whole, 16);
    if (bits == 32) d[0] = f[0], d[1] = f[1];
    bool least = !strncmp(op, "min", 3);
    double r = d[0] + d[1];
    if (strcmp(op, "add")) {
        r = least ? fmin(d[0], d[1]) : fmax(d[0], d[1]);
        if (d[0] == d[1]) r = signbit(d[0]) == least ? d[0] : d[1]; /* -0.0 is less than 0.0 */
    }
    float narrow = bits == 32 && !strcmp(op, "add") ? f[0] + f[1] : (float)r;
    uint32_t out32;
    uint64_t out64;
    memcpy(&out32, &narrow, 4), memcpy(&out64, &r, 8);
    return bits == 32 ? out32 : out64;
}

/* What memory holds then. `op` is "add", `type` 'u'. */
static uint64_t then(const char *op, char type, int bits, uint64_t m, uint64_t a, uint64_t b) {
    if (type == 'f') return of_floats(op, bits, m, a);
    bool above = type == 'i' ? extended(a, bits) > extended(m, bits) : a > m;
    if (!strcmp(op, "add")) return m + a;
    if (!strcmp(op, "sub")) return m + ~a + 1;
    if (!strcmp(op, "and")) return ~(~m | ~a);
    if (!strcmp(op, "or")) return ~(~m & ~a);
    if (!strcmp(op, "xor")) return (m | a) - (m & a);
    if (!strcmp(op, "min")) return above ? m : a;
    if (!strcmp(op, "max")) return above ? a : m;
    if (!strcmp(op, "inc")) return above ? m + 1 : 0;
    if (!strcmp(op, "dec")) return m && (above || m == a) ? m - 1 : a;
    if (!strncmp(op, "cmp", 3)) return m == b ? a : m;
    return a; /* swap */
}

static bool is_nan(char type, int bits, uint64_t x) {
    uint64_t huge = bits == 32 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
    return type == 'f' && (x & (bits == 32 ? 0x7fffffff : INT64_MAX)) > huge;
}

static const char *registers(int first, int words) {
    static char made[4][32];
    static int next;
    char *out = made[next++ % 4];
    if (words == 1)
        snprintf(out, 32, "v%d", first);
    else
        snprintf(out, 32, "v[%d:%d]", first, first + words - 1);
    return out;
}

static bool atomic_run(const char *instruction, const char *row, bool on_lds, bool returns) {
    char op[24];
    int bits = strstr(row, "64") ? 64 : 32, n = bits / 32;
    const char *kind = strrchr(row, '_');
    snprintf(op, sizeof op, "%.*s", (int)(kind - row), row);
    bool compares = strstr(instruction, "cmp") != NULL;
    bool floats = kind[1] == 'f';
    begin();
    if (n == 1) say("v_mov_b32 v5, v6\n"); /* b behind a */
    const char *a = registers(4, n), *b = registers(4 + n, n), *to = registers(4, n);
    say("%s ", instruction);
    if (returns) say("%s, ", to);
    if (on_lds) {
        bool expected_first = strstr(instruction, "cmpst_") != NULL;
        say("v3, %s", compares && expected_first ? b : a);
        if (compares) say(", %s", expected_first ? a : b);
        say(" offset:%d\n", LDS_PART);
    } else {
        const char *flag = !returns                          ? ""
                           : !strncmp(chip.name, "gfx12", 5) ? " th:TH_ATOMIC_RETURN"
                           : !strncmp(chip.name, "gfx94", 5) ? " sc0"
                                                             : " glc";
        say("v2, %s, s[6:7] offset:%d%s\n", compares ? registers(4, 2 * n) : a, DATA, flag);
    }
    end(on_lds);
    for (int round = 0; round < 4; round++) {
        fill();
        if (!launch()) return false;
        for (int lane = 0; lane < (int)chip.wave; lane++) {
            uint8_t *m = on_lds ? lds + LDS_PART + 8 * lane : model.bytes[lane] + DATA;
            uint64_t held = 0, x = 0, y = 0, out;
            memcpy(&held, m, (size_t)bits / 8);
            memcpy(&x, model.bytes[lane] + OPERANDS, (size_t)bits / 8);
            memcpy(&y, model.bytes[lane] + SECOND, (size_t)bits / 8);
            out = then(op, kind[1], bits, held, x, y);
            uint8_t *r = model.bytes[lane] + RESULT;
            memcpy(r, model.bytes[lane] + OPERANDS, 16);
            if (!is_active(lane)) continue;
            if (n == 1) memcpy(r + 4, r + 8, 4);
            if (floats && is_nan('f', bits, out)) { /* which NaN, nobody promises */
                const uint8_t *got = area.bytes[lane] + (on_lds ? 8 : DATA);
                uint64_t there = 0;
                memcpy(&there, got, (size_t)bits / 8);
                if (is_nan('f', bits, there)) out = there;
            }
            memcpy(m, &out, (size_t)bits / 8);
            if (returns) memcpy(r, &held, (size_t)bits / 8);
        }
        compare(instruction, on_lds);
    }
    return true;
}

static bool atomic_row(const char *row, const char *old, const char *old_lds) {
    char name[64];
    bool seen = false;
    for (int returns = 0; returns < 2; returns++) {
        const char *globals[] = {row, old}, *locals[] = {row, old_lds};
        for (int k = 0; k < 2; k++) {
            if (strcmp(globals[k], "-") && (k == 0 || strcmp(old, row))) {
                snprintf(name, sizeof name, "global_atomic_%s", globals[k]);
                seen |= atomic_run(name, row, false, returns);
            }
            if (locals[k][0] == '-' || (k == 1 && !strcmp(row, old_lds))) continue;
            const char *kind = strrchr(locals[k], '_');
            snprintf(name, sizeof name, "ds_%.*s%s%s", (int)(kind - locals[k]), locals[k],
                     returns ? "_rtn" : "", kind);
            seen |= atomic_run(name, row, true, returns);
        }
    }
    return seen;
}

/* -- loads and stores --------------------------------------------------------------------------- */

typedef enum Work { load, store, pair_load, pair_store } Work;

/* What a load leaves in the registers `r`. */
static void loaded(uint8_t *r, const uint8_t *m, const char *row, int bytes) {
    bool hi = strstr(row, "_hi") != NULL, d16 = strstr(row, "d16") != NULL;
    if (d16) {
        uint8_t sign = strstr(row, "_i8") && m[0] & 0x80 ? 0xff : 0;
        uint8_t half[2] = {m[0], bytes == 2 ? m[1] : sign};
        memcpy(r + (hi ? 2 : 0), half, 2);
        return;
    }
    uint8_t sign = strstr(row, "_i") && m[bytes - 1] & 0x80 ? 0xff : 0;
    memset(r, sign, bytes < 4 ? 4 : (size_t)bytes);
    memcpy(r, m, (size_t)bytes);
}

static bool move_run(const char *instruction, const char *row, Work work, int bytes, bool on_lds) {
    int n = bytes < 4 ? 1 : bytes / 4;
    bool pair = work >= pair_load, far = strstr(row, "stride64") != NULL;
    int at[2] = {bytes, LDS_PART}; /* of the two */
    begin();
    if (pair) {
        int unit = far ? 64 * bytes : bytes;
        at[0] = far ? 2 * LDS_PART : bytes == 8 ? 0 : 4;
        if (work == pair_load)
            say("%s %s, v3", instruction, registers(4, 2 * n));
        else
            say("%s v3, %s, %s", instruction, registers(4, n), registers(4 + n, n));
        say(" offset0:%d offset1:%d\n", at[0] / unit, at[1] / unit);
    } else if (on_lds) {
        const char *data = registers(4, n);
        say("%s %s, %s offset:%d\n", instruction, work == load ? data : "v3",
            work == load ? "v3" : data, LDS_PART);
    } else {
        const char *data = registers(4, n);
        say("%s %s, %s, s[6:7] offset:%d\n", instruction, work == load ? data : "v2",
            work == load ? "v2" : data, DATA);
    }
    end(on_lds);
    for (int round = 0; round < 4; round++) {
        fill();
        if (!launch()) return false;
        for (int lane = 0; lane < (int)chip.wave; lane++) {
            uint8_t *r = model.bytes[lane] + RESULT, *v = model.bytes[lane] + OPERANDS;
            uint8_t *m = on_lds ? lds + LDS_PART + 8 * lane : model.bytes[lane] + DATA;
            memcpy(r, v, 16);
            if (!is_active(lane)) continue;
            if (work == load) loaded(r, m, row, bytes);
            if (work == store) memcpy(m, v + (strstr(row, "_hi") ? 2 : 0), (size_t)bytes);
            for (int k = 0; k < 2 && pair; k++) {
                uint8_t *cell = lds + 8 * lane + at[k];
                if (work == pair_load) memcpy(r + k * bytes, cell, (size_t)bytes);
                if (work == pair_store) memcpy(cell, v + k * bytes, (size_t)bytes);
            }
        }
        compare(instruction, on_lds);
    }
    return true;
}

static bool move_row(const char *row, const char *old, Work work, int bytes) {
    const char *names[] = {row, old};
    char name[64];
    bool seen = false;
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "global_%s", names[k]);
        if (work < pair_load) seen |= move_run(name, row, work, bytes, false);
        snprintf(name, sizeof name, "ds_%s", names[k]);
        seen |= move_run(name, row, work, bytes, true);
    }
    return seen;
}

/* -- all rows ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *old, *lds;
} atomics[] = {
#define ATOMIC(name, old, lds, type, ...) {#name, old, lds},
#include "../interp/gcn_atomic.def"
#undef ATOMIC
};
static const struct {
    const char *name, *old;
    Work work;
    int bytes;
} moves[] = {
#define MEM(name, old, work, bytes, fit) {name, old, work, bytes},
#include "../interp/gcn_memory.def"
#undef MEM
};
enum { ATOMICS = sizeof atomics / sizeof *atomics, MOVES = sizeof moves / sizeof *moves };

int main(void) {
    static Chip chips[] = {
        {"gfx1100", 32, NULL}, {"gfx942", 64, NULL}, {"gfx1030", 32, NULL}, {"gfx1201", 32, NULL}};
    static bool seen[ATOMICS + MOVES];
    assembler_start();
    for (int c = 0; c < 4; c++) {
        chip = chips[c];
        if (!open_chip(&chip)) return 1;
        for (int k = 0; k < ATOMICS; k++)
            seen[k] |= atomic_row(atomics[k].name, atomics[k].old, atomics[k].lds);
        for (int k = 0; k < MOVES; k++)
            seen[ATOMICS + k] |=
                move_row(moves[k].name, moves[k].old, moves[k].work, moves[k].bytes);
        LLVMDisposeTargetMachine(chip.machine);
    }
    for (int k = 0; k < ATOMICS + MOVES; k++)
        if (!seen[k]) {
            failures++;
            printf("no chip has %s\n", k < ATOMICS ? atomics[k].name : moves[k - ATOMICS].name);
        }
    printf("%d rows, %d runs, %d failures\n", ATOMICS + MOVES, runs, failures);
    return failures != 0;
}
