/* Scalar instructions: the rows of gcn_scalar.def. */
#include "gcn_wave.h"

typedef uint32_t U32_t, U16_t, NO_t;
typedef int32_t I32_t;
typedef int16_t S16_t;
typedef uint64_t U64_t;
typedef int64_t I64_t;
typedef float F32_t;
typedef double F16_t;

/* A value of 64 bits as one of the type, and back. */
#define NUMBERS(T)                                                                                 \
    static T##_t from_##T(uint64_t bits) {                                                         \
        return (T##_t)bits;                                                                        \
    }                                                                                              \
    __attribute__((unused)) static uint64_t to_##T(T##_t value) {                                  \
        return (uint64_t)value;                                                                    \
    }
NUMBERS(U32)
NUMBERS(I32)
NUMBERS(U64)
NUMBERS(I64)
NUMBERS(S16)
NUMBERS(U16)
NUMBERS(NO)
#undef NUMBERS
static float from_F32(uint64_t bits) {
    return f32_of_bits((uint32_t)bits);
}
static uint64_t to_F32(float value) {
    return bits_of_f32(value);
}
static double from_F16(uint64_t bits) {
    return (double)gcn_f16_to_f32((uint16_t)bits);
}
static uint64_t to_F16(double value) {
    return gcn_f64_to_f16(value);
}

#define SOP(name, D, A, B, C, ...)                                                                 \
    static void run_##name(GcnScalar *x) {                                                         \
        D##_t d = from_##D(x->d);                                                                  \
        const A##_t a = from_##A(x->a);                                                            \
        const B##_t b = from_##B(x->b);                                                            \
        const C##_t c = from_##C(x->c);                                                            \
        bool scc = x->scc;                                                                         \
        (void)a, (void)b, (void)c;                                                                 \
        __VA_ARGS__;                                                                               \
        x->d = to_##D(d);                                                                          \
        x->scc = scc;                                                                              \
    }
#include "gcn_scalar.def"
#undef SOP

static const GcnScalarRow rows[] = {
#define SOP(name, D, A, B, C, ...) {#name, {T_##D, T_##A, T_##B, T_##C}, run_##name},
#include "gcn_scalar.def"
#undef SOP
};

const GcnScalarRow *gcn_scalar_row(const char *name) {
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

GcnStep gcn_run_scalar(GcnWave *w, const GcnInst *i) {
    const uint8_t *t = i->scalar->types;
    GcnScalar x = {.scc = w->scc};
    if (t[1] != T_NO && !gcn_read_scalar(w, &i->a, t[1], &x.a)) return STEP_FAULT;
    if (t[2] != T_NO && !gcn_read_scalar(w, &i->b, t[2], &x.b)) return STEP_FAULT;
    if (t[3] != T_NO && !gcn_read_scalar(w, &i->c, t[3], &x.c)) return STEP_FAULT;
    if (t[0] != T_NO) x.d = t[0] == T_U64 || t[0] == T_I64 ? gcn_pair(w, i->d.reg) : w->s[i->d.reg];
    i->scalar->run(&x);
    if (t[0] != T_NO) gcn_write_scalar(w, &i->d, t[0], x.d);
    w->scc = x.scc;
    return STEP_NEXT;
}
