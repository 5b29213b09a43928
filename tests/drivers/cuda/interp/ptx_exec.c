/* The interpreter's loop: one switch over decoded instructions. ptx.h describes them. */
#include "ptx_num.h"
#include "ptx_run.h"

#include <math.h>

/* The rows of ptx_ops.def are written once for signed and unsigned types. */
#pragma GCC diagnostic ignored "-Wtype-limits"

/* -- What a row's words mean, per type -------------------------------------------------------- */

#define T_u16  uint32_t
#define T_u32  uint32_t
#define T_u64  uint64_t
#define T_s16  int32_t
#define T_s32  int32_t
#define T_s64  int64_t
#define T_b1   uint32_t
#define T_b16  uint32_t
#define T_b32  uint32_t
#define T_b64  uint64_t
#define T_f32  float
#define T_f64  double
#define T_f16  float
#define T_bf16 float

/* Unsigned, and signed, of the same width; for floats they are not used. */
#define UT_u16  uint32_t
#define UT_u32  uint32_t
#define UT_u64  uint64_t
#define UT_s16  uint32_t
#define UT_s32  uint32_t
#define UT_s64  uint64_t
#define UT_b1   uint32_t
#define UT_b16  uint32_t
#define UT_b32  uint32_t
#define UT_b64  uint64_t
#define UT_f32  uint32_t
#define UT_f64  uint64_t
#define UT_f16  uint32_t
#define UT_bf16 uint32_t

enum {
    BITS_b1 = 1,
    BITS_u16 = 16,
    BITS_s16 = 16,
    BITS_b16 = 16,
    BITS_u32 = 32,
    BITS_s32 = 32,
    BITS_b32 = 32,
    BITS_u64 = 64,
    BITS_s64 = 64,
    BITS_b64 = 64,
    BITS_f32 = 32,
    BITS_f64 = 64,
    BITS_f16 = 16,
    BITS_bf16 = 16
};

#define RAW(i)      (R[in->s[i]])
#define GET_u16(i)  ((uint32_t)(uint16_t)RAW(i))
#define GET_u32(i)  ((uint32_t)RAW(i))
#define GET_u64(i)  (RAW(i))
#define GET_s16(i)  ((int32_t)(int16_t)RAW(i))
#define GET_s32(i)  ((int32_t)RAW(i))
#define GET_s64(i)  ((int64_t)RAW(i))
#define GET_b1(i)   ((uint32_t)RAW(i) & 1)
#define GET_b16(i)  GET_u16(i)
#define GET_b32(i)  GET_u32(i)
#define GET_b64(i)  GET_u64(i)
#define GET_f32(i)  ptx_f32(RAW(i))
#define GET_f64(i)  ptx_f64(RAW(i))
#define GET_f16(i)  ptx_half_to_float((uint16_t)RAW(i))
#define GET_bf16(i) ptx_bf16_to_float((uint16_t)RAW(i))

#define BITS_OF_u16(v) ((uint16_t)(v))
#define BITS_OF_u32(v) ((uint32_t)(v))
#define BITS_OF_u64(v) ((uint64_t)(v))
#define BITS_OF_s16(v) ((uint16_t)(v))
#define BITS_OF_s32(v) ((uint32_t)(v))
#define BITS_OF_s64(v) ((uint64_t)(v))
#define BITS_OF_b1(v)  ((v)&1)
#define BITS_OF_b16(v) ((uint16_t)(v))
#define BITS_OF_b32(v) ((uint32_t)(v))
#define BITS_OF_b64(v) ((uint64_t)(v))
#define BITS_OF_f32(v) ptx_bits32(v)
#define BITS_OF_f64(v) ptx_bits64(v)

#define PUT_T(t, v) R[in->d] = BITS_OF_##t(v)
#define PUT_P(t, v) R[in->d] = (v) ? 1 : 0
#define PUT_W(t, v) R[in->d] = (uint64_t)(v)
#define PUT_U(t, v) R[in->d] = (uint32_t)(v)

#define U(x)         ((UT)(x))
#define IS_SIGNED    ((T)-1 < (T)0)
#define FMA(a, b, c) _Generic((a), float : fmaf, default : fma)(a, b, c)

#define MUL_HI(a, b)                                                                               \
    _Generic((a), uint32_t                                                                         \
             : (uint32_t)((uint64_t)(a) * (uint64_t)(b) >> BITS % 64), int32_t                     \
             : (int32_t)((int64_t)(a) * (int64_t)(b) >> BITS % 64), uint64_t                       \
             : ptx_mul_hi_u64((uint64_t)(a), (uint64_t)(b)), default                               \
             : ptx_mul_hi_s64((int64_t)(a), (int64_t)(b)))
#define MUL_WIDE(a, b)                                                                             \
    (IS_SIGNED ? (uint64_t)(int64_t)(a) * (uint64_t)(int64_t)(b) : (uint64_t)(a) * (uint64_t)(b))
#define LOW24(a)                                                                                   \
    (IS_SIGNED ? (uint32_t)((int32_t)((uint32_t)(a) << 8) >> 8) : (uint32_t)(a)&0xffffff)
#define MUL24(a, b) (LOW24(a) * LOW24(b))
#define MUL24_HI(a, b)                                                                             \
    (uint32_t)((IS_SIGNED ? (uint64_t)(int32_t)LOW24(a) * (uint64_t)(int32_t)LOW24(b)              \
                          : (uint64_t)LOW24(a) * LOW24(b)) >>                                      \
               16)
#define INT_DIV(a, b) ((b) == 0 ? ~U(0) : IS_SIGNED && (b) == (T)-1 ? 0 - U(a) : U((a) / (b)))
#define INT_REM(a, b) ((b) == 0 ? ~U(0) : IS_SIGNED && (b) == (T)-1 ? 0 : U((a) % (b)))
#define SAT_ADD(a, b) saturate32((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define SAT_SUB(a, b) saturate32((int64_t)((uint64_t)(a) - (uint64_t)(b)))

static int32_t saturate32(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static PtxCvt unpack_cvt(int64_t imm) {
    PtxCvt how;
    memcpy(&how, &imm, sizeof how);
    return how;
}

static uint64_t copysign_bits(uint64_t sign_of, uint64_t value, unsigned bits) {
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (sign_of & sign) | (value & (sign - 1));
}

static bool vec_address(Block *b, Thread *t, const PtxIns *in, uint64_t address) {
    bool write = in->s[2] != 0;
    switch ((PtxSpace)in->s[1]) {
    case PS_shared: return mem_shared(b, t, address, in->aux, write);
    case PS_local: return mem_local(b, t, address, in->aux, write);
    case PS_generic: return mem_generic(b, t, address, in->aux, write);
    case PS_param: return mem_param(b, t, address, in->aux, write);
    default: return mem_global(b, t, address, in->aux, write);
    }
}

/* -- The loop --------------------------------------------------------------------------------- */

#define CASE(t, name, res, expr)                                                                   \
    case OP_##name##_##t: {                                                                        \
        typedef T_##t T;                                                                           \
        typedef UT_##t UT __attribute__((unused));                                                 \
        enum { BITS = BITS_##t };                                                                  \
        T A = GET_##t(0), B = GET_##t(1), C = GET_##t(2);                                          \
        (void)A, (void)B, (void)C;                                                                 \
        PUT_##res(t, expr);                                                                        \
        break;                                                                                     \
    }

#define M_u8  uint8_t
#define M_u16 uint16_t
#define M_u32 uint32_t
#define M_u64 uint64_t
#define M_s8  int8_t
#define M_s16 int16_t
#define M_s32 int32_t

#define LOAD(space, m)                                                                             \
    case OP_ld_##space##_##m: {                                                                    \
        t->pc = in;                                                                                \
        const void *from = mem_##space(b, t, RAW(0) + (uint64_t)in->imm, sizeof(M_##m), false);    \
        if (!from) return TS_fault;                                                                \
        M_##m value;                                                                               \
        memcpy(&value, from, sizeof value);                                                        \
        R[in->d] = (uint64_t)(int64_t)value;                                                       \
        break;                                                                                     \
    }
#define STORE(space, m)                                                                            \
    case OP_st_##space##_##m: {                                                                    \
        t->pc = in;                                                                                \
        void *to = mem_##space(b, t, RAW(0) + (uint64_t)in->imm, sizeof(M_##m), true);             \
        if (!to) return TS_fault;                                                                  \
        M_##m value = (M_##m)RAW(1);                                                               \
        memcpy(to, &value, sizeof value);                                                          \
        break;                                                                                     \
    }
#define SPACE_CASES(space) PTX_MEM_KINDS(LOAD, space) PTX_MEM_KINDS(STORE, space)

/* A branch that is taken may be the end of the thread's slice. */
#define JUMP(target)                                                                               \
    do {                                                                                           \
        in = code + (target);                                                                      \
        if (--fuel > 0) goto again;                                                                \
        t->pc = in;                                                                                \
        return TS_ready;                                                                           \
    } while (0)

ThreadStatus ptx_exec(Block *b, Thread *t) {
    const PtxIns *in = t->pc;
    const PtxIns *code = t->fn->code;
    uint64_t *R = t->R;
    int64_t fuel = b->run->launch->slice;
    for (;; in++) {
    again:
        switch ((PtxOp)in->op) {
#define OP(name, cls, res, expr) PTX_CLASS_##cls(CASE, name, res, expr)
#include "ptx_ops.def"
#undef OP
            PTX_MEM_SPACES(SPACE_CASES)
        case OP_nop:
        case OP_fence: break;
        case OP_vec_address:
            t->pc = in;
            R[in->d] = RAW(0) + (uint64_t)in->imm;
            if (!vec_address(b, t, in, R[in->d])) return TS_fault;
            break;
        case OP_round: R[in->d] = ptx_round(in->aux, RAW(0), RAW(1), RAW(2)); break;
        case OP_sext8: R[in->d] = (uint64_t)(int8_t)RAW(0); break;
        case OP_sext16: R[in->d] = (uint64_t)(int16_t)RAW(0); break;
        case OP_sext32: R[in->d] = (uint64_t)(int32_t)RAW(0); break;
        case OP_zext8: R[in->d] = (uint8_t)RAW(0); break;
        case OP_zext16: R[in->d] = (uint16_t)RAW(0); break;
        case OP_zext32: R[in->d] = (uint32_t)RAW(0); break;
        case OP_cvt: R[in->d] = ptx_cvt(unpack_cvt(in->imm), RAW(0)); break;
        case OP_cvt_f32_s32: R[in->d] = ptx_bits32((float)GET_s32(0)); break;
        case OP_cvt_f64_s32: R[in->d] = ptx_bits64((double)GET_s32(0)); break;
        case OP_cvt_f32_f64: R[in->d] = ptx_bits32((float)GET_f64(0)); break;
        case OP_cvt_f64_f32: R[in->d] = ptx_bits64((double)GET_f32(0)); break;
        case OP_carry: R[in->d] = ptx_carry(in->imm, RAW(0), RAW(1), RAW(2), &R[SLOT_CARRY]); break;
        case OP_copysign_f32: R[in->d] = copysign_bits(RAW(0), RAW(1), 32); break;
        case OP_copysign_f64: R[in->d] = copysign_bits(RAW(0), RAW(1), 64); break;
        case OP_testp: R[in->d] = ptx_testp(in->aux, (unsigned)in->imm, RAW(0)); break;
        case OP_pack:
            R[in->d] = (RAW(0) & ((UINT64_C(1) << in->imm) - 1)) | RAW(1) << in->imm;
            break;
        case OP_unpack: R[in->d] = RAW(0) >> in->imm; break;
        case OP_isspacep: R[in->d] = ptx_isspacep(b, t, (PtxSpace)in->aux, RAW(0)); break;
        case OP_cvta_shared: R[in->d] = RAW(0) - PTX_SHARED_BASE + (uintptr_t)b->shared; break;
        case OP_cvta_local: R[in->d] = RAW(0) - PTX_LOCAL_BASE + (uintptr_t)t->local; break;
        case OP_cvta_to_shared: R[in->d] = RAW(0) - (uintptr_t)b->shared + PTX_SHARED_BASE; break;
        case OP_cvta_to_local: R[in->d] = RAW(0) - (uintptr_t)t->local + PTX_LOCAL_BASE; break;
        case OP_clock: R[in->d] = ptx_clock() >> in->imm; break;
        case OP_atom:
            t->pc = in;
            R[in->d] = ptx_atom(b, t, in);
            if (t->status == TS_fault) return TS_fault;
            break;
        case OP_copy_async:
            t->pc = in;
            if (!ptx_copy_async(b, t, in)) return TS_fault;
            break;
        case OP_bra: JUMP(in->imm);
        case OP_bra_if:
            if ((RAW(0) & 1) != in->aux) JUMP(in->imm);
            break;
        case OP_skip:
            if ((RAW(0) & 1) == in->aux) in += in->imm;
            break;
        case OP_brx: {
            const PtxTable *table = &t->fn->tables[in->imm];
            if (GET_u32(0) < table->count) JUMP(table->targets[GET_u32(0)]);
            t->pc = in;
            ptx_fault(b, t, FAULT_instruction, "brx.idx outside its table");
            return TS_fault;
        }
        case OP_call:
            if (!ptx_call(b, t, in)) return TS_fault;
            in = t->pc, R = t->R, code = t->fn->code;
            if (--fuel > 0) goto again;
            return TS_ready;
        case OP_ret:
            ptx_return(t);
            in = t->pc, R = t->R, code = t->fn->code;
            goto again;
        case OP_exit: return TS_exited;
        case OP_trap:
            t->pc = in;
            ptx_fault(b, t, FAULT_trap, "trap");
            return TS_fault;
        case OP_barrier:
            t->pc = in;
            t->barrier = GET_u32(0);
            t->expected = GET_u32(1);
            return TS_barrier;
        case OP_warp_sync:
        case OP_shfl:
        case OP_vote:
        case OP_match:
        case OP_redux:
        case OP_elect:
        case OP_active_mask: t->pc = in; return TS_warp;
        case OP_count: return TS_fault;
        }
    }
}
