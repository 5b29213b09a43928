/* test_rows.c - one instruction at a time, on waves of 32 and of 64 lanes: LLVM assembles it, the interpreter runs it, and each lane
 * must hold what rows_vector.def works out in C for operands that are random or awkward; lanes that are not active must not
 * change. rows_text.def and rows_scalar.def have single instructions with numbers worked out by hand. */
#include "../interp/gcn_wave.h"
#include "assemble.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 40, TEXT = 400, CODE = 2048, CODE_AT = 0x1000 };

typedef struct Bench {
    const Chip *chip;
    GcnWave *w;
    GcnGroup group;
    GcnRunning run;
    GcnLaunch launch;
    uint8_t lds[1024];
    char message[512];
    uint64_t random;
    int failures, checks;
} Bench;

/* -- Running ----------------------------------------------------------------------------------- */

static bool nowhere(void *driver, uint64_t address, GcnRange *range) {
    (void)driver, (void)address, (void)range;
    return false;
}

static void reset(Bench *b, uint64_t exec) {
    GcnWave *w = b->w;
    memset(w, 0, sizeof *w);
    b->run = (GcnRunning){.launch = &b->launch};
    b->launch = (GcnLaunch){.name = "row",
                            .lds = sizeof b->lds,
                            .wave = b->chip->wave,
                            .find = nowhere,
                            .message = b->message,
                            .room = sizeof b->message};
    b->message[0] = 0;
    w->run = &b->run;
    w->group = &b->group;
    b->group.lds = b->lds;
    w->lanes = (int)b->chip->wave;
    w->all = w->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    w->mode = 0xf0;
    gcn_set_exec(w, exec & w->all);
}

static bool step(Bench *b, GcnCode *code) {
    char why[300] = "";
    b->w->pc = CODE_AT;
    for (;;) {
        const GcnInst *i = gcn_code_at(code, b->w->pc, why, sizeof why);
        b->w->at = i;
        GcnStep s = i ? i->run(b->w, i) : STEP_FAULT;
        if (!i) snprintf(b->message, sizeof b->message, "%s", why);
        if (s == STEP_FAULT || b->w->status == W_fault) return false;
        if (s == STEP_END) return true;
        if (s != STEP_JUMP) b->w->pc += i->size;
    }
}

static uint64_t draw(Bench *b) {
    b->random ^= b->random << 13, b->random ^= b->random >> 7, b->random ^= b->random << 17;
    return b->random * UINT64_C(0x2545f4914f6cdd1d);
}

/* -- Numbers of a type ------------------------------------------------------------------------- */

typedef enum Kind {
    Y_NO,
    Y_MASK,
    Y_NOCHECK,
    Y_U16,
    Y_I16,
    Y_F16,
    Y_U32,
    Y_I32,
    Y_F32,
    Y_SMALL,
    Y_U64,
    Y_I64,
    Y_F64
} Kind;

#define NUMBER(name, type, bits_type)                                                              \
    typedef type name##_v;                                                                         \
    static name##_v get_##name(uint64_t bits) {                                                    \
        bits_type narrow = (bits_type)bits;                                                        \
        name##_v x;                                                                                \
        memcpy(&x, &narrow, sizeof x);                                                             \
        return x;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static uint64_t put_##name(name##_v x) {                               \
        bits_type narrow;                                                                          \
        memcpy(&narrow, &x, sizeof narrow);                                                        \
        return narrow;                                                                             \
    }
NUMBER(NO, uint32_t, uint32_t)
NUMBER(MASK, uint32_t, uint32_t)
NUMBER(SMALL, uint32_t, uint32_t)
NUMBER(U32, uint32_t, uint32_t)
NUMBER(I32, int32_t, uint32_t)
NUMBER(F32, float, uint32_t)
NUMBER(U64, uint64_t, uint64_t)
NUMBER(I64, int64_t, uint64_t)
NUMBER(F64, double, uint64_t)
#undef NUMBER
typedef uint32_t U16_v;
typedef int32_t I16_v;
typedef double F16_v;
static uint32_t get_U16(uint64_t bits) {
    return bits & 0xffff;
}
static int32_t get_I16(uint64_t bits) {
    return (int16_t)bits;
}
static double get_F16(uint64_t bits) {
    uint16_t half = (uint16_t)bits;
    _Float16 x;
    memcpy(&x, &half, sizeof x);
    return (double)x;
}
static uint64_t put_U16(uint32_t x) {
    return x & 0xffff;
}
static uint64_t put_I16(int32_t x) {
    return (uint16_t)x;
}
static uint64_t put_F16(double x) {
    _Float16 half = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static const uint64_t awkward_integers[] = {
    0,          1,          2,          31,          32,        33,
    63,         64,         0x7f,       0x80,        0xff,      0x7fff,
    0x8000,     0xffff,     0x10000,    0x7fffff,    0x800000,  0x7fffffff,
    0x80000000, 0xfffffffe, 0xffffffff, 0x100000000, INT64_MAX, (uint64_t)1 << 63,
    UINT64_MAX};
static const double awkward_floats[] = {0.0,
                                        -0.0,
                                        1,
                                        -1,
                                        0.5,
                                        -0.5,
                                        1.5,
                                        2.5,
                                        -2.5,
                                        0.1,
                                        3e9,
                                        -3e9,
                                        65504,
                                        65520,
                                        1e-5,
                                        1e-7,
                                        0x1p-126,
                                        -0x1p-130,
                                        0x1p-149,
                                        0x1.fffffep127,
                                        0x1p-1022,
                                        0x1p-1074,
                                        -0x1.8p-1030,
                                        0x1.fffffffffffffp1023,
                                        1e300,
                                        -1e-300,
                                        2147483647.5,
                                        -2147483648.0,
                                        4294967295.0,
                                        INFINITY,
                                        -INFINITY,
                                        NAN};

/* What signaling NaN give is in rows_text.def. */
static uint64_t quiet(Kind kind, uint64_t bits) {
    if (kind == Y_F32 && isnan(get_F32(bits))) return bits | 0x400000;
    if (kind == Y_F64 && isnan(get_F64(bits))) return bits | (uint64_t)1 << 51;
    if (kind == Y_F16 && isnan(get_F16(bits))) return bits | 0x200;
    return bits;
}

static uint64_t operand(Bench *b, Kind kind) {
    uint64_t r = draw(b), n = sizeof awkward_floats / sizeof *awkward_floats;
    bool awkward = draw(b) & 1;
    if (kind == Y_SMALL) return r % 5;
    if (kind == Y_MASK) return r & 1;
    if (awkward && kind == Y_F32) return put_F32((float)awkward_floats[r % n]);
    if (awkward && kind == Y_F64) return put_F64(awkward_floats[r % n]);
    if (awkward && kind == Y_F16) return put_F16(awkward_floats[r % n]);
    if (awkward) return awkward_integers[r % (sizeof awkward_integers / sizeof *awkward_integers)];
    if (kind == Y_F64 && r & 1) return put_F64((double)(int64_t)draw(b) * 0x1p-40);
    if (kind == Y_F32 && r & 1) return put_F32((float)(int32_t)draw(b) * 0x1p-10f);
    return quiet(kind, r);
}

static bool wide(Kind kind) {
    return kind >= Y_U64;
}

/* -- What rows_vector.def says ----------------------------------------------------------------- */

static uint32_t bits_in(uint64_t x) {
    uint32_t n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}
static uint32_t zeros_above(uint32_t x) {
    if (!x) return UINT32_MAX;
    uint32_t n = 0;
    while (!(x >> (31 - n) & 1))
        n++;
    return n;
}
static uint32_t reversed(uint32_t x) {
    x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
    x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
    x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(x);
}
static int32_t field_i32(int32_t x, uint32_t offset, uint32_t width) {
    if (!width) return 0;
    int64_t moved = (int64_t)x >> offset, size = INT64_C(1) << width;
    int64_t part = ((moved % size) + size) % size;
    return (int32_t)(part >= size / 2 ? part - size : part);
}
static uint32_t permuted(uint32_t high, uint32_t low, uint32_t selector) {
    uint8_t bytes[8], out[4];
    uint32_t result;
    memcpy(bytes, &low, 4), memcpy(bytes + 4, &high, 4);
    for (int i = 0; i < 4; i++) {
        uint32_t s = selector >> (8 * i) & 255;
        out[i] = s < 8     ? bytes[s]
                 : s < 12  ? (bytes[2 * (s - 8) + 1] >= 128 ? 255 : 0)
                 : s == 12 ? 0
                           : 255;
    }
    memcpy(&result, out, 4);
    return result;
}
static int64_t signed24(uint32_t x) {
    int64_t low = x % 16777216;
    return low >= 8388608 ? low - 16777216 : low;
}
static int64_t sorted(int64_t a, int64_t b, int64_t c, int which) {
    int64_t x[3] = {a, b, c};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (x[k] > x[k + 1]) {
                int64_t kept = x[k];
                x[k] = x[k + 1], x[k + 1] = kept;
            }
    return x[which];
}
static uint32_t differences(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (uint32_t)abs((int)(a >> (8 * i) & 255) - (int)(b >> (8 * i) & 255));
    return sum;
}
/* Of zeros the negative one is the lesser; NaN is ignored beside a number. */
static double lesser(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    return a != b ? (a < b ? a : b) : signbit(a) ? a : b;
}
static double greater(double a, double b) {
    return -lesser(-a, -b);
}
static float middle(float a, float b, float c) {
    double x = (double)a, y = (double)b, z = (double)c;
    if (isnan(a) || isnan(b) || isnan(c)) return (float)lesser(lesser(x, y), z);
    return (float)greater(lesser(x, y), lesser(greater(x, y), z));
}
static float below_one(double x) {
    float narrow = (float)x;
    return narrow >= 1 ? nextafterf(1, 0) : narrow;
}
static float no_denormal(float x) {
    return x != 0 && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}
static float mantissa(double x) {
    int exponent;
    return (float)frexp(x, &exponent);
}
static double limited(double x, double low, double high) {
    if (isnan(x)) return 0;
    return trunc(x < low ? low : x > high ? high : x);
}
static int exponent_of(double x, int bias) {
    if (!isfinite(x)) return 2 * bias + 1;
    return x == 0 || ilogb(x) + bias < 1 ? 0 : ilogb(x) + bias;
}
/* q: as computed; the quotient of c by b. */
static double quotient(double q, double b, double c, int least, int bias) {
    double exact = c / b;
    if (isnan(exact) || isinf(exact) || exact == 0) {
        if (isnan(exact)) return NAN;
        if (b == 0 || isinf(c) || c == 0 || isinf(b)) return exact;
    }
    double sign = signbit(b) != signbit(c) ? -1 : 1;
    if (exponent_of(c, bias) - exponent_of(b, bias) < -least) return (sign * 0.0);
    return isnan(q) ? (sign * INFINITY) : copysign(q, sign);
}
static uint32_t in_class(double x, uint32_t mask, bool tiny) {
    int n = isnan(x)   ? 1
            : isinf(x) ? (x < 0 ? 2 : 9)
            : x == 0   ? (signbit(x) ? 5 : 6)
            : tiny     ? (x < 0 ? 4 : 7)
            : x < 0    ? 3
                       : 8;
    return mask >> n & 1;
}

/* The sum of the products of the parts of a and b that are as wide as the types. */
#define PRODUCTS(A, B)                                                                             \
    __extension__({                                                                                \
        uint32_t sum = 0;                                                                          \
        for (unsigned at = 0; at < 32; at += 8 * sizeof(A))                                        \
            sum += (uint32_t)(int32_t)(A)(a >> at) * (uint32_t)(int32_t)(B)(b >> at);              \
        sum;                                                                                       \
    })
static uint32_t nibbles(uint32_t a, uint32_t b, bool sign_a, bool sign_b) {
    int sum = 0;
    for (int i = 0; i < 8; i++, a /= 16, b /= 16) {
        int x = (int)(a % 16), y = (int)(b % 16);
        sum += (sign_a && x > 7 ? x - 16 : x) * (sign_b && y > 7 ? y - 16 : y);
    }
    return (uint32_t)sum;
}

/* The expression of x, y and z for both halves of a, b and c. */
#define HALVES(type, expression)                                                                   \
    __extension__({                                                                                \
        uint32_t both = 0;                                                                         \
        for (int half = 0; half < 32; half += 16) {                                                \
            type x = (type)(a >> half), y = (type)(b >> half), z = (type)(c >> half);              \
            (void)z;                                                                               \
            both |= (uint32_t)(uint16_t)(expression) << half;                                      \
        }                                                                                          \
        both;                                                                                      \
    })

typedef struct Row {
    const char *names;
    Kind d, e, in[3];
} Row;

static const Row rows[] = {
#define ROW(names, D, E, A, B, C, want, more) {names, Y_##D, Y_##E, {Y_##A, Y_##B, Y_##C}},
#include "rows_vector.def"
#undef ROW
};
enum { NROWS = sizeof rows / sizeof *rows };

static void expected(unsigned row, const uint64_t *in, int l, uint64_t *d, uint64_t *e) {
    unsigned n = 0;
#define ROW(names, D, E, A, B, C, want, more)                                                      \
    if (row == n++) {                                                                              \
        A##_v a = get_##A(in[0]);                                                                  \
        B##_v b = get_##B(in[1]);                                                                  \
        C##_v c = get_##C(in[2]);                                                                  \
        (void)a, (void)b, (void)c, (void)l;                                                        \
        *d = put_##D((D##_v)(want));                                                               \
        *e = (uint64_t)(more);                                                                     \
        return;                                                                                    \
    }
#include "rows_vector.def"
#undef ROW
#undef COMPARED
#undef COMPARED_NOT
#undef UNORDERED
}

/* -- One row ----------------------------------------------------------------------------------- */

enum { A_AT = 2, D_AT = 10, E_AT = 20, C_AT = 22, M_AT = 24, S_AT = 4 };

static void put_register(char *text, const char *file, int at, bool pair) {
    char part[32];
    if (pair)
        snprintf(part, sizeof part, "%s%s[%d:%d]", *text ? ", " : " ", file, at, at + 1);
    else
        snprintf(part, sizeof part, "%s%s%d", *text ? ", " : " ", file, at);
    strcat(text, part);
}

/* "v_add_co_u32 v10, s20, v2, v4"; scalar: the first operand is in a scalar register. */
static void write_row(const Bench *b, const Row *row, const char *name, bool scalar, char *text) {
    char operands[256] = "";
    bool masks64 = b->chip->wave == 64, tied = !strncmp(name, "v_fmac", 6);
    if (row->d == Y_MASK)
        put_register(operands, "s", M_AT, masks64);
    else
        put_register(operands, "v", D_AT, wide(row->d));
    if (row->e == Y_MASK || row->e == Y_NOCHECK) put_register(operands, "s", E_AT, masks64);
    for (int k = 0; k < 3; k++)
        if (row->in[k] == Y_MASK)
            put_register(operands, "s", C_AT, masks64);
        else if (row->in[k] != Y_NO && !(k == 2 && tied))
            put_register(operands, k == 0 && scalar ? "s" : "v",
                         k == 0 && scalar ? S_AT : A_AT + 2 * k, wide(row->in[k]));
    snprintf(text, TEXT, "%s%s\n", name, operands);
}

static bool same(Kind kind, uint64_t got, uint64_t want) {
    if (kind == Y_F32)
        return isnan(get_F32(want)) ? isnan(get_F32(got)) : (uint32_t)got == (uint32_t)want;
    if (kind == Y_F64) return isnan(get_F64(want)) ? isnan(get_F64(got)) : got == want;
    if (kind == Y_F16)
        return isnan(get_F16(want)) ? isnan(get_F16(got)) : (uint16_t)got == (uint16_t)want;
    if (kind == Y_U16 || kind == Y_I16) return (uint16_t)got == (uint16_t)want;
    return wide(kind) ? got == want : (uint32_t)got == (uint32_t)want;
}

static void put_vector(GcnWave *w, int reg, int l, uint64_t bits) {
    w->v[reg][l] = (uint32_t)bits;
    w->v[reg + 1][l] = (uint32_t)(bits >> 32);
}

static void complain(Bench *b, const char *text, int l, const uint64_t *in, uint64_t got,
                     uint64_t want) {
    if (b->failures++ > 40) return;
    printf("%s wave%u, lane %d: %.*s: %llx %llx %llx gave %llx, not %llx\n", b->chip->name,
           b->chip->wave, l, (int)strcspn(text, "\n"), text, (unsigned long long)in[0],
           (unsigned long long)in[1], (unsigned long long)in[2], (unsigned long long)got,
           (unsigned long long)want);
}

static void check_lanes(Bench *b, unsigned row, const char *text, uint64_t in[3][LANES],
                        uint64_t exec) {
    GcnWave *w = b->w;
    const Row *r = &rows[row];
    for (int l = 0; l < w->lanes; l++) {
        uint64_t of[3] = {in[0][l], in[1][l], in[2][l]}, d = 0, e = 0,
                 got = gcn_pair(w, M_AT) >> l & 1;
        bool active = exec >> l & 1;
        expected(row, of, l, &d, &e);
        if (r->d != Y_MASK) got = w->v[D_AT][l] | (uint64_t)w->v[D_AT + 1][l] << 32;
        if (!active)
            d = r->d == Y_MASK                ? 0
                : !strncmp(text, "v_fmac", 6) ? in[2][l] & 0xffffffff
                                              : 0x5555aaaa5555aaaa;
        b->checks++;
        bool right = active || r->d == Y_MASK ? same(r->d, got, d) : (uint32_t)got == (uint32_t)d;
        if (!right) complain(b, text, l, of, got, d);
        if (r->e == Y_MASK && (gcn_pair(w, E_AT) >> l & 1) != (active && e))
            complain(b, text, l, of, gcn_pair(w, E_AT) >> l & 1, active && e);
    }
}

static void run_rounds(Bench *b, unsigned row, const char *text, bool scalar, GcnCode *code) {
    const Row *r = &rows[row];
    bool tied = !strncmp(text, "v_fmac", 6);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t in[3][LANES], mask = 0, exec = round % 4 ? draw(b) : UINT64_MAX;
        reset(b, exec);
        exec &= b->w->all;
        for (int l = 0; l < b->w->lanes; l++)
            for (int k = 0; k < 3; k++) {
                in[k][l] = k == 0 && scalar && l ? in[0][0] : operand(b, r->in[k]);
                put_vector(b->w, A_AT + 2 * k, l, in[k][l]);
                if (r->in[k] == Y_MASK) mask |= in[k][l] << l;
            }
        for (int l = 0; l < b->w->lanes; l++)
            put_vector(b->w, D_AT, l, tied ? in[2][l] : 0x5555aaaa5555aaaa);
        b->w->s[S_AT] = (uint32_t)in[0][0], b->w->s[S_AT + 1] = (uint32_t)(in[0][0] >> 32);
        b->w->s[C_AT] = (uint32_t)mask, b->w->s[C_AT + 1] = (uint32_t)(mask >> 32);
        if (!step(b, code)) {
            printf("%s: %s: %s\n", b->chip->name, text, b->message);
            b->failures++;
            return;
        }
        check_lanes(b, row, text, in, exec);
    }
}

/* false: this chip has no such row. */
static bool run_row(Bench *b, unsigned row) {
    bool any = false;
    for (const char *at = rows[row].names; *at;) {
        size_t length = strcspn(at, "|");
        char name[64], text[TEXT];
        uint8_t bytes[CODE];
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == '|');
        for (int scalar = 0; scalar < 2; scalar++) {
            write_row(b, &rows[row], name, scalar, text);
            size_t size = assemble(b->chip, text, bytes, sizeof bytes);
            if (!size) continue;
            any = true;
            GcnCode *code = gcn_code_open(b->chip->name, b->chip->wave, bytes, CODE_AT, size);
            run_rounds(b, row, text, scalar, code);
            gcn_code_close(code);
        }
    }
    return any;
}

/* -- Single instructions ----------------------------------------------------------------------- */

typedef struct Want {
    int lane; /* -1: the end */
    uint32_t value;
} Want;

/* Before: v1 holds 0x100 + lane, v2 `a`, v3 `b`, v0 0xdead, s[4:5] `c`, EXEC `exec`, LDS 0, 1, 2 ... in words. After: v0. */
typedef struct Line {
    const char *chip, *text;
    uint64_t a, b, c, exec;
    Want want[5];
} Line;

#define ALL UINT64_MAX
static const Line lines[] = {
#include "rows_text.def"
};

static void run_line(Bench *b, const Line *line) {
    uint8_t bytes[CODE];
    size_t size = assemble(b->chip, line->text, bytes, sizeof bytes);
    GcnCode *code = size ? gcn_code_open(b->chip->name, b->chip->wave, bytes, CODE_AT, size) : NULL;
    reset(b, line->exec);
    for (uint32_t k = 0; k < sizeof b->lds / 4; k++)
        memcpy(b->lds + 4 * k, &k, 4);
    for (int l = 0; l < LANES; l++) {
        b->w->v[0][l] = 0xdead, b->w->v[1][l] = 0x100u + (uint32_t)l;
        put_vector(b->w, 2, l, line->a), b->w->v[3][l] = (uint32_t)line->b;
    }
    b->w->s[4] = (uint32_t)line->c, b->w->s[5] = (uint32_t)(line->c >> 32);
    bool ran = code && step(b, code);
    for (const Want *want = line->want; want->lane >= 0; want++) {
        b->checks++;
        if (ran && b->w->v[0][want->lane] == want->value) continue;
        printf("%s wave%u: %s: lane %d is %x, not %x %s\n", b->chip->name, b->chip->wave,
               line->text, want->lane, b->w->v[0][want->lane], want->value, b->message);
        b->failures++;
    }
    gcn_code_close(code);
}

typedef struct ScalarLine {
    const char *names, *operands; /* result s[0:1], operands s[2:3] and s[4:5] */
    uint64_t a, b;
    bool scc;
    uint64_t want;
    int want_scc; /* -1: as it was */
} ScalarLine;

static const ScalarLine scalars[] = {
#include "rows_scalar.def"
};

static bool run_scalar_line(Bench *b, const ScalarLine *line) {
    bool any = false;
    for (const char *at = line->names; *at;) {
        size_t length = strcspn(at, "|");
        char text[TEXT];
        uint8_t bytes[CODE];
        snprintf(text, sizeof text, "%.*s %s\n", (int)length, at, line->operands);
        at += length + (at[length] == '|');
        size_t size = assemble(b->chip, text, bytes, sizeof bytes);
        if (!size) continue;
        any = true;
        GcnCode *code = gcn_code_open(b->chip->name, b->chip->wave, bytes, CODE_AT, size);
        reset(b, ALL);
        GcnWave *w = b->w;
        w->s[2] = (uint32_t)line->a, w->s[3] = (uint32_t)(line->a >> 32);
        w->s[4] = (uint32_t)line->b, w->s[5] = (uint32_t)(line->b >> 32);
        w->scc = line->scc;
        bool ran = step(b, code), scc = line->want_scc < 0 ? line->scc : line->want_scc;
        b->checks++;
        if (!ran || gcn_pair(w, 0) != line->want || w->scc != scc) {
            printf("%s: %s gave %llx and %d, not %llx and %d %s\n", b->chip->name, text,
                   (unsigned long long)gcn_pair(w, 0), w->scc, (unsigned long long)line->want, scc,
                   b->message);
            b->failures++;
        }
        gcn_code_close(code);
    }
    return any;
}

/* -- All --------------------------------------------------------------------------------------- */

int main(void) {
    Chip chips[] = {{"gfx1100", 32, NULL},
                    {"gfx1100", 64, NULL},
                    {"gfx942", 64, NULL},
                    {"gfx90a", 64, NULL},
                    {"gfx1201", 32, NULL}};
    enum { NSCALARS = sizeof scalars / sizeof *scalars };
    static bool tried[NROWS], tried_scalar[NSCALARS];
    static Bench bench = {.random = 12345};
    Bench *b = &bench;
    assembler_start();
    b->w = malloc(sizeof *b->w);
    for (unsigned c = 0; b->w && c < sizeof chips / sizeof *chips; c++) {
        if (!open_chip(&chips[c])) return 1;
        b->chip = &chips[c];
        for (unsigned row = 0; row < NROWS; row++)
            tried[row] |= run_row(b, row);
        for (unsigned row = 0; row < NSCALARS; row++)
            tried_scalar[row] |= run_scalar_line(b, &scalars[row]);
        for (unsigned line = 0; line < sizeof lines / sizeof *lines; line++)
            if (!strncmp(chips[c].name, lines[line].chip, strlen(lines[line].chip)))
                run_line(b, &lines[line]);
        LLVMDisposeTargetMachine(chips[c].machine);
    }
    for (unsigned row = 0; row < NROWS; row++)
        if (!tried[row]) printf("no chip has %s\n", rows[row].names), b->failures++;
    for (unsigned row = 0; row < NSCALARS; row++)
        if (!tried_scalar[row]) printf("no chip has %s\n", scalars[row].names), b->failures++;
    printf("%d checks, %d failures\n", b->checks, b->failures);
    free(b->w);
    return b->failures != 0;
}
