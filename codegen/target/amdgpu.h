/* amdgpu.h - private to target/: the parts of the target AMDGPU. */
#ifndef QUERN_AMDGPU_H
#define QUERN_AMDGPU_H

#include "codegen/llvm/cg.h"

enum { SPACE_AMD_GLOBAL = 1, SPACE_AMD_SHARED = 3, SPACE_AMD_CONST = 4, SPACE_AMD_LOCAL = 5 };

/* -- amdgpu_chips.c -- */

enum { CHIP_XNACK = 1, CHIP_SRAMECC = 2, CHIP_GENERIC = 4, CHIP_MATRIX = 8 };
typedef struct Chip {
    const char *name;
    uint32_t machine;
    int wave; /* lanes */
    uint32_t options;
} Chip;

/* The chip of an architecture as HIP writes it ("gfx90a:sramecc+:xnack-"). NULL: not known. `features` (NULL: not
 * asked for) gets what LLVM wants to hear of the options, NUL-terminated; "" where they are not set. NULL, too, for an
 * option that the chip does not have. */
enum { CHIP_FEATURES = 64 };
const Chip *amdgpu_chip(const char *arch, char features[CHIP_FEATURES]);
/* Of the compilation; its architecture was looked up before. */
const Chip *amdgpu_chip_of(const Cg *cg);
/* All names, separated by commas: for messages. */
const char *amdgpu_chip_names(Arena *arena);

/* -- amdgpu_wave.c: barriers, fences, votes, shuffles -- */

bool amdgpu_generate(Cg *cg, int gen, struct LibCall *call);

/* -- amdgpu_atomic.c: what LLVM's C interface cannot say: the scope of atomic operations -- */

TgValue amdgpu_rmw(Cg *cg, int op, TgValue address, TgValue operand, unsigned align);
TgValue amdgpu_cmpxchg(Cg *cg, TgValue address, TgValue expected, TgValue desired, unsigned align);
/* `ordering` as LLVM's text has it; scope "": the whole system. */
void amdgpu_fence(Cg *cg, const char *scope, const char *ordering);

/* Calls the function `name`, made from LLVM's text when it is not there yet and inlined always. After a diagnostic: the last
 * argument. */
TgValue amdgpu_snippet(Cg *cg, const char *name, const char *text, TgValue *args, unsigned nargs);

/* -- amdgpu_local.c: addresses of a work-item's arrays, so that LLVM keeps small ones in registers -- */

void amdgpu_join_addresses(Cg *cg);

/* -- amdgpu_convert.c: ints of floats. Erases the instruction where others stand for it. -- */

void amdgpu_convert(Cg *cg, TgValue inst);

/* -- amdgpu_ones.c: halves of 64 bits that LLVM would lose. Behind its passes. False after a diagnostic. -- */

bool amdgpu_split_unions(Cg *cg);

/* -- amdgpu_offsets.c: addresses of elements as the instructions add them -- */

void amdgpu_use_offsets(Cg *cg);

/* -- amdgpu_counters.c: what loops count -- */

void amdgpu_count_once(Cg *cg);

/* -- amdgpu_print.c -- */

void amdgpu_print_line(Cg *cg, int32_t format, TgValue *operands, int32_t n);

/* -- amdgpu_libs.c: ocml and ockl -- */

bool amdgpu_link_libs(Cg *cg);
TgValue amdgpu_mend(Cg *cg, const char *symbol, const TgValue *args, TgValue result);

#endif
