/* The stand-in's model of a PTX module: what the parser makes and the interpreter runs.
 *
 *   text ── ptx_lex ──► tokens ── ptx_parse ──► symbols, variables, functions
 *                                  └─ ptx_decode ──► one array of PtxIns per function ── ptx_exec
 *
 * Every operand of a decoded instruction is a slot: an index into the frame of the running function.
 * Registers, constants and special registers all have slots (the constants are filled in from a
 * template when a frame is made), so that the interpreter never asks what kind an operand is.
 */
#ifndef FAKECUDA_PTX_H
#define FAKECUDA_PTX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- Types ------------------------------------------------------------------------------------ */

typedef enum PtxType {
    PT_none,
    PT_pred,
    PT_b8,
    PT_b16,
    PT_b32,
    PT_b64,
    PT_b128,
    PT_u8,
    PT_u16,
    PT_u32,
    PT_u64,
    PT_s8,
    PT_s16,
    PT_s32,
    PT_s64,
    PT_f16,
    PT_bf16,
    PT_f16x2,
    PT_bf16x2,
    PT_f32,
    PT_f64
} PtxType;

unsigned ptx_type_size(PtxType type);
bool ptx_type_float(PtxType type);
bool ptx_type_signed(PtxType type);
const char *ptx_type_name(PtxType type);
PtxType ptx_type_find(const char *name);

typedef enum PtxSpace {
    PS_reg,
    PS_generic,
    PS_global,
    PS_const,
    PS_shared,
    PS_local,
    PS_param
} PtxSpace;

/* -- Opcodes ---------------------------------------------------------------------------------- */

/* What may stand behind an OP_ld_ or OP_st_: how a value lies in memory. */
#define PTX_MEM_KINDS(X, space)                                                                    \
    X(space, u8) X(space, u16) X(space, u32) X(space, u64) X(space, s8) X(space, s16) X(space, s32)
/* pslot is a parameter at a known offset: the parser has checked its bounds. */
#define PTX_MEM_SPACES(Y) Y(generic) Y(global) Y(shared) Y(local) Y(param) Y(pslot)

#define PTX_CLASS_IW(X, ...) X(u16, __VA_ARGS__) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__)
#define PTX_CLASS_IS(X, ...)                                                                       \
    PTX_CLASS_IW(X, __VA_ARGS__) X(s16, __VA_ARGS__) X(s32, __VA_ARGS__) X(s64, __VA_ARGS__)
#define PTX_CLASS_BW(X, ...)                                                                       \
    X(b1, __VA_ARGS__) X(b16, __VA_ARGS__) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define PTX_CLASS_FP(X, ...) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define PTX_CLASS_FA(X, ...) PTX_CLASS_FP(X, __VA_ARGS__) X(f16, __VA_ARGS__) X(bf16, __VA_ARGS__)

typedef enum PtxOp {
    OP_nop,
#define PTX_ENUM(t, n)           OP_##n##_##t,
#define OP(name, cls, res, expr) PTX_CLASS_##cls(PTX_ENUM, name)
#include "ptx_ops.def"
#undef OP
#define PTX_ENUM_LD(space, t) OP_ld_##space##_##t,
#define PTX_ENUM_ST(space, t) OP_st_##space##_##t,
#define PTX_SPACE_ENUM(space) PTX_MEM_KINDS(PTX_ENUM_LD, space) PTX_MEM_KINDS(PTX_ENUM_ST, space)
    PTX_MEM_SPACES(PTX_SPACE_ENUM)
#undef PTX_ENUM
        OP_vec_address, /* d = s0 + imm, checked for a vector access of aux bytes in space s1 */
    OP_round, /* float arithmetic with rounding, .ftz, .sat or .approx: aux is a PtxRound */
    OP_sext8,
    OP_sext16,
    OP_sext32,
    OP_zext8,
    OP_zext16,
    OP_zext32,
    OP_cvt, /* every other conversion: imm is a packed PtxCvt */
    OP_cvt_f32_s32,
    OP_cvt_f64_s32,
    OP_cvt_f32_f64,
    OP_cvt_f64_f32,
    OP_carry, /* add/sub/mad with .cc: imm is a packed PtxCarry */
    OP_copysign_f32,
    OP_copysign_f64,
    OP_testp,       /* aux: the test, s1: nothing, imm: the width in bits */
    OP_pack,        /* d = (the low imm bits of s0) | s1 << imm */
    OP_unpack,      /* d = s0 >> imm, the rest unread */
    OP_isspacep,    /* aux: the space */
    OP_cvta_shared, /* offset -> generic */
    OP_cvta_local,
    OP_cvta_to_shared,
    OP_cvta_to_local,
    OP_clock,
    OP_atom, /* aux: a packed PtxAtom, d may be the sink */
    OP_copy_async,
    OP_fence,
    OP_bra,
    OP_bra_if, /* taken where s0's low bit != aux */
    OP_skip, /* skip imm instructions where s0's low bit == aux: how a guarded instruction reads */
    OP_brx,  /* imm: index of a table */
    OP_call, /* imm: index of a call site */
    OP_ret,
    OP_exit,
    OP_trap,
    /* From here on a thread stops and its warp or block goes on for it (ptx_warp.c). */
    OP_first_blocking,
    OP_barrier = OP_first_blocking, /* aux: a PtxBarrier, s0: id, s1: thread count or 0, s2: pred */
    OP_warp_first,
    OP_warp_sync = OP_warp_first, /* s0: mask */
    OP_shfl,                      /* aux: mode, s0 value, s1 lane, s2 clamp; ext: mask, pred out */
    OP_vote,                      /* aux: mode, s0: predicate, s1: mask */
    OP_match, /* aux: 1 for .all, 2 for 64 bits; s0 value, s1 mask; ext: pred out */
    OP_redux, /* aux: a PtxAtom, s0 value, s1 mask */
    OP_elect, /* s0 mask; ext: pred out */
    OP_active_mask,
    OP_count
} PtxOp;

/* One decoded instruction. line is where it stands in the text, for messages. */
typedef struct PtxIns {
    uint16_t op;
    uint16_t aux;
    uint32_t d;
    uint32_t s[3];
    uint32_t line;
    int64_t imm;
} PtxIns;

_Static_assert(sizeof(PtxIns) == 32, "two decoded instructions fill a cache line");

/* Rounding modes, in every place where one is packed. The I forms round to an integer. */
typedef enum PtxRnd { RND_none, RND_n, RND_z, RND_m, RND_p, RND_a } PtxRnd;

/* aux of OP_round: kind | rnd << 6 | type << 9 (0 f32, 1 f64, 2 f16, 3 bf16) | flags */
typedef enum PtxRoundKind {
    RK_add,
    RK_sub,
    RK_mul,
    RK_fma,
    RK_div,
    RK_rcp,
    RK_sqrt,
    RK_rsqrt,
    RK_sin,
    RK_cos,
    RK_lg2,
    RK_ex2,
    RK_tanh,
    RK_min,
    RK_max,
    RK_min_nan,
    RK_max_nan,
    RK_abs,
    RK_neg,
    RK_rcp_gross,
    RK_rsqrt_gross,
    RK_count
} PtxRoundKind;

enum { ROUND_FTZ = 1 << 12, ROUND_SAT = 1 << 13, ROUND_RELU = 1 << 14 };

#define PTX_ROUND(kind, rnd, type) ((uint16_t)((kind) | (rnd) << 6 | (type) << 9))

/* imm of OP_cvt */
typedef struct PtxCvt {
    uint8_t to;
    uint8_t from;
    uint8_t rnd;      /* a PtxRnd */
    uint8_t integral; /* the rounding is to an integer (.rni ...) */
    uint8_t sat;
    uint8_t ftz;
    uint8_t relu;
    uint8_t pad;
} PtxCvt;

/* aux of OP_atom: op | type << 5 | space << 11 */
typedef enum PtxAtomOp {
    ATOM_add,
    ATOM_min,
    ATOM_max,
    ATOM_and,
    ATOM_or,
    ATOM_xor,
    ATOM_exch,
    ATOM_cas,
    ATOM_inc,
    ATOM_dec
} PtxAtomOp;

#define PTX_ATOM(op, type, space) ((uint16_t)((op) | (type) << 5 | (space) << 11))
#define PTX_ATOM_OP(aux)          ((PtxAtomOp)((aux)&31))
#define PTX_ATOM_TYPE(aux)        ((PtxType)((aux) >> 5 & 63))
#define PTX_ATOM_SPACE(aux)       ((PtxSpace)((aux) >> 11))

typedef enum PtxBarrier { BAR_sync, BAR_arrive, BAR_popc, BAR_and, BAR_or } PtxBarrier;
typedef enum PtxShfl { SHFL_up, SHFL_down, SHFL_bfly, SHFL_idx } PtxShfl;
typedef enum PtxVote { VOTE_all, VOTE_any, VOTE_uni, VOTE_ballot } PtxVote;

/* -- Frames ----------------------------------------------------------------------------------- */

/* The first slots of every frame. */
enum {
    SLOT_ZERO,  /* always 0: the base of an absolute address, and an absent source */
    SLOT_LOCAL, /* local-space address of the function's own local variables */
    SLOT_PARAM, /* host address of the formal parameters and the result */
    SLOT_CALL,  /* host address of the parameters of calls made */
    SLOT_CARRY, /* the carry flag */
    SLOT_SINK,  /* what nobody reads */
    SLOT_FIRST
};

/* Special registers that are filled in when a frame is made. */
typedef enum PtxSpecial {
    SR_tid_x,
    SR_tid_y,
    SR_tid_z,
    SR_ntid_x,
    SR_ntid_y,
    SR_ntid_z,
    SR_ctaid_x,
    SR_ctaid_y,
    SR_ctaid_z,
    SR_nctaid_x,
    SR_nctaid_y,
    SR_nctaid_z,
    SR_laneid,
    SR_warpid,
    SR_nwarpid,
    SR_smid,
    SR_nsmid,
    SR_gridid,
    SR_lanemask_eq,
    SR_lanemask_le,
    SR_lanemask_lt,
    SR_lanemask_ge,
    SR_lanemask_gt,
    SR_total_smem,
    SR_dynamic_smem,
    SR_warpsize,
    SR_one, /* cluster sizes: this device knows clusters of one block */
    SR_zero,
    SR_dynamic_base, /* where the dynamic shared memory begins */
    SR_count
} PtxSpecial;

typedef struct PtxSpecialUse {
    uint32_t slot;
    PtxSpecial which;
} PtxSpecialUse;

typedef struct PtxParam {
    const char *name;
    uint32_t size;
    uint32_t align;
    uint32_t offset;
} PtxParam;

typedef struct PtxFunc PtxFunc;

typedef struct PtxCallSite {
    PtxFunc *callee; /* NULL: the address is in slot `target` */
    uint32_t target;
    uint32_t nargs;
    PtxParam *args; /* offsets in the caller's call area */
    bool has_ret;
    PtxParam ret;
} PtxCallSite;

typedef struct PtxTable {
    uint32_t count;
    int64_t *targets;
} PtxTable;

/* Functions that the driver itself supplies. */
typedef enum PtxBuiltin { BUILTIN_none, BUILTIN_vprintf, BUILTIN_assertfail } PtxBuiltin;

struct PtxFunc {
    const char *name;
    uint32_t id; /* index in the module; a function pointer is PTX_FUNC_TAG + id */
    uint32_t line;
    bool entry, defined;
    PtxBuiltin builtin;
    PtxParam *params;
    uint32_t nparams, cap_params;
    uint32_t param_size; /* of the formals, and behind them the result */
    bool has_ret;
    PtxParam ret;
    PtxIns *code;
    uint32_t ncode, cap_code;
    uint64_t *image; /* the frame's template, nslots long */
    uint32_t nslots, cap_slots;
    PtxSpecialUse *specials;
    uint32_t nspecials, cap_specials;
    PtxCallSite *calls;
    uint32_t ncalls, cap_calls;
    PtxTable *tables;
    uint32_t ntables, cap_tables;
    uint32_t (*ext)[2]; /* further operands of the warp instructions */
    uint32_t next, cap_ext;
    uint32_t local_size; /* of the local variables */
    uint32_t call_size;  /* of the call area */
    uint32_t max_threads;
    uint32_t shared_static; /* bytes of shared variables that it and its callees name */
    uint32_t visit;         /* scratch of the walk over callees */
    uint32_t *shared_used;  /* indices of the module's shared variables */
    uint32_t nshared_used, cap_shared_used;
};

#define PTX_FUNC_TAG UINT64_C(0x00f0000000000000)

typedef struct PtxVar {
    const char *name;
    PtxSpace space;
    uint64_t address; /* device address; shared: offset in the window */
    uint64_t size;
    uint32_t align;
    bool dynamic; /* .extern .shared x[]: begins where the static ones end */
} PtxVar;

/* -- Modules ---------------------------------------------------------------------------------- */

typedef struct PtxArena PtxArena;
void *ptx_alloc(PtxArena **arena, size_t size);
/* Room for one more item of `size` bytes in a vector that lives in an arena. */
void *ptx_grow(PtxArena **arena, void *items, uint32_t count, uint32_t *cap, size_t size);
void ptx_arena_free(PtxArena *arena);

/* What a module needs of its device. `alloc` gives the device address and where the host may write. */
typedef struct PtxLoader {
    void *user;
    bool (*alloc)(void *user, uint64_t size, uint32_t align, uint64_t *address, void **host);
    unsigned max_isa; /* 84 is PTX ISA 8.4 */
    unsigned max_sm;  /* 90 is sm_90 */
} PtxLoader;

typedef enum PtxLoadStatus {
    PTX_LOADED,
    PTX_BAD_TEXT,
    PTX_BAD_VERSION,
    PTX_BAD_TARGET,
    PTX_NO_MEMORY
} PtxLoadStatus;

typedef struct PtxModule {
    PtxArena *arena;
    unsigned isa, sm;
    PtxFunc **funcs;
    uint32_t nfuncs, cap_funcs;
    PtxVar *vars;
    uint32_t nvars, cap_vars;
    uint32_t shared_top; /* end of the static shared window, from PTX_SHARED_BASE */
    bool failed;
    char message[512];
} PtxModule;

/* Shared addresses begin above 0, as on sm_90: a null pointer is no shared variable. */
#define PTX_SHARED_BASE 1024u
#define PTX_LOCAL_BASE  1024u

PtxLoadStatus ptx_module_load(const char *text, size_t length, const PtxLoader *loader,
                              PtxModule **out, char *log, size_t log_size);
void ptx_module_free(PtxModule *module);
const PtxFunc *ptx_module_entry(const PtxModule *module, const char *name);
const PtxVar *ptx_module_global(const PtxModule *module, const char *name);

#endif
