/* Instructions in the form that is executed: what gcn_decode.c makes and the others read. */
#ifndef FAKEHIP_GCN_INST_H
#define FAKEHIP_GCN_INST_H

#include "gcn.h"

/* What an operand is to an instruction. In a column of lanes 16 bits and less are widened (F16 to float), MASK is one
 * bit of a scalar mask for each lane, 0 or 1. */
typedef enum GcnType {
    T_NO,
    T_MASK,
    T_U16,
    T_I16,
    T_F16,
    T_U32,
    T_I32,
    T_F32,
    T_U64,
    T_I64,
    T_F64,
    T_VCC, /* a second result that is an operand: the mask in VCC */
    T_S16  /* a constant of 16 bits */
} GcnType;

/* Scalar registers in one file; pairs never overlap with another register. */
enum {
    S_VCC = 106,
    S_TTMP = 108,
    S_NULL = 124,
    S_EXEC = 126,
    S_M0 = 128,
    S_FLAT_SCRATCH = 130,
    S_XNACK = 132,
    S_COUNT = 144,
    V_COUNT = 512, /* 256 vector and 256 accumulation registers */
    LANES = 64
};

typedef enum GcnKind {
    K_none,
    K_vector,
    K_scalar,
    K_const,
    K_scc,
    K_execz,
    K_vccz,
    K_off,
    K_name
} GcnKind;

typedef struct GcnOperand {
    GcnKind kind;
    bool neg, abs, sext;
    bool is_float; /* the constant was printed as a float */
    uint16_t reg, words;
    int64_t integer; /* of a constant */
    uint64_t bits;   /* of a constant: as the operand's type wants it */
    double real;
    char name[40]; /* K_name: as printed */
} GcnOperand;

enum { MAX_OPERANDS = 8, MAX_MODIFIERS = 12, MAX_LIST = 8 };

typedef struct GcnModifier {
    char name[24];
    char text[40]; /* behind the colon */
    int64_t list[MAX_LIST];
    int n; /* numbers behind the colon; 0: none */
} GcnModifier;

/* An instruction as printed, taken apart. */
typedef struct GcnText {
    char name[48];
    GcnOperand operands[MAX_OPERANDS];
    GcnModifier modifiers[MAX_MODIFIERS];
    int noperands, nmodifiers;
} GcnText;

typedef enum DppKind {
    DPP_none,
    DPP_quad_perm,
    DPP_row_shl,
    DPP_row_shr,
    DPP_row_ror,
    DPP_wave_shl,
    DPP_wave_rol,
    DPP_wave_shr,
    DPP_wave_ror,
    DPP_row_mirror,
    DPP_row_half_mirror,
    DPP_row_bcast,
    DPP_row_share,
    DPP_row_xmask,
    DPP_eight
} DppKind;

typedef enum SdwaSel {
    SDWA_DWORD,
    SDWA_BYTE_0,
    SDWA_BYTE_1,
    SDWA_BYTE_2,
    SDWA_BYTE_3,
    SDWA_WORD_0,
    SDWA_WORD_1
} SdwaSel;
typedef enum SdwaUnused { SDWA_PAD, SDWA_SEXT, SDWA_PRESERVE } SdwaUnused;

typedef struct GcnInst GcnInst;
typedef struct GcnWave GcnWave;

/* Goes on behind the instruction, unless it says otherwise. */
typedef enum GcnStep {
    STEP_NEXT,
    STEP_JUMP,
    STEP_BARRIER,
    STEP_YIELD,
    STEP_END,
    STEP_FAULT
} GcnStep;
typedef GcnStep (*GcnRun)(GcnWave *w, const GcnInst *i);

/* A row of the vector table: columns of lanes in, columns out. */
typedef void (*GcnColumns)(void *d, void *e, const void *a, const void *b, const void *c, int n);
typedef struct GcnVectorRow {
    const char *name;
    uint8_t types[5]; /* d, e, a, b, c */
    GcnColumns columns;
} GcnVectorRow;

typedef struct GcnScalar {
    uint64_t d, a, b, c; /* d: at first the old value */
    bool scc;
} GcnScalar;
/* A row of the scalar table. */
typedef void (*GcnScalarFn)(GcnScalar *x);
typedef struct GcnScalarRow {
    const char *name;
    uint8_t types[4]; /* d, a, b, c */
    GcnScalarFn run;
} GcnScalarRow;

/* buffer: scratch, on chips that reach it through a descriptor; scalar offsets count the bytes of all lanes there */
typedef enum MemSpace { M_global, M_flat, M_scratch, M_buffer, M_lds, M_scalar } MemSpace;
typedef enum MemWork { M_load, M_store, M_atomic, M_pair_load, M_pair_store } MemWork;
/* low, high: 16 bits into half of a register, with the sign of what is narrower; far: offsets of a pair count 64 elements */
typedef enum MemFit {
    FIT_plain,
    FIT_signed,
    FIT_low,
    FIT_high,
    FIT_signed_low,
    FIT_signed_high,
    FIT_far
} MemFit;

typedef struct GcnAtomicRow {
    const char *names[3]; /* of RDNA3, of chips before, of LDS before */
    uint8_t bytes;
    uint64_t (*run)(uint64_t old, uint64_t value, uint64_t compare);
} GcnAtomicRow;

/* The counters that an access of memory goes up, until its answer is there. */
enum { COUNTS_load = 1, COUNTS_lds = 2, COUNTS_scalar = 4 };

struct GcnInst {
    GcnRun run;
    uint32_t size; /* bytes */
    uint64_t pc;   /* its address */
    char *text;    /* as printed, for messages */
    const GcnVectorRow *vector;
    const GcnScalarRow *scalar;
    const GcnAtomicRow *atomic;
    GcnInst *dual; /* the second half of a pair that reads before either writes */
    GcnOperand d, e, a, b, c;
    bool writes_exec; /* v_cmpx */
    bool c_is_d, c_is_vcc, e_is_vcc, d_is_vcc;
    bool clamp, keeps_high; /* 16-bit results leave the other half alone */
    bool offset_enabled;    /* of a buffer access: a register has an offset for each lane */
    bool returns;           /* an atomic operation with its old value */
    int8_t omod;
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi; /* a bit for each source */
    bool packed, mixed;
    DppKind dpp;
    uint8_t dpp_lanes[8], dpp_value, row_mask, bank_mask;
    bool bound_ctrl, fetch_inactive;
    bool sdwa;
    SdwaSel dst_sel, src0_sel, src1_sel;
    SdwaUnused dst_unused;
    MemSpace space;
    MemWork work;
    MemFit fit;
    uint8_t bytes; /* of memory for a lane, or of each of a pair */
    int64_t offset, offset1;
    uint8_t counts;   /* COUNTS_... */
    bool answers;     /* with a result in d, later */
    int limits[3];    /* of s_waitcnt: loads, LDS, scalar; -1: none */
    bool limits_join; /* one counter for LDS and scalar loads */
    uint64_t target;  /* of a branch */
    int64_t number;
};

/* gcn_text.c: false where the text has a shape that is not known. */
bool gcn_text_read(GcnText *text, const char *printed);
const GcnModifier *gcn_modifier(const GcnText *text, const char *name);

/* gcn_decode.c: the instruction at an address; NULL with words in `why`. */
const GcnInst *gcn_code_at(GcnCode *code, uint64_t address, char *why, size_t room);

/* The tables; NULL: no such row. */
const GcnVectorRow *gcn_vector_row(const char *name);
const GcnScalarRow *gcn_scalar_row(const char *name);
const GcnAtomicRow *gcn_atomic_row(const char *name);
/* Instructions that no column of values describes; fills the instruction. */
bool gcn_special(GcnInst *i, const GcnText *text, int chip);
bool gcn_memory(GcnInst *i, const GcnText *text);
bool gcn_control(GcnInst *i, const GcnText *text);
bool gcn_wait(GcnInst *i, const GcnText *text);
GcnStep gcn_run_vector(GcnWave *w, const GcnInst *i);
/* The same with M0 added to some of its registers (INDEXED_..., gcn_wave.h). */
GcnStep gcn_run_indexed(GcnWave *w, const GcnInst *i, uint8_t which);
GcnStep gcn_run_dual(GcnWave *w, const GcnInst *i);
GcnStep gcn_run_scalar(GcnWave *w, const GcnInst *i);
/* gcn_decode.c: what the operand's type makes of its constant. */
void gcn_settle(GcnOperand *o, GcnType type);

#endif
